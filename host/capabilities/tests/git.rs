//! git, run in repositories that try to run programs of their own.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use toolgate_capabilities::LocalGit;
use toolgate_host::CapabilityError;
use toolgate_host::capability::{Change, Git};

/// A repository in a scratch folder.
struct Repository {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl Repository {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let root = folder.path().canonicalize().expect("its real path").join("repo");
        std::fs::create_dir(&root).expect("a folder");
        let repository = Repository { folder, root };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    /// Runs git as anybody would.
    fn git(&self, arguments: &[&str]) -> bool {
        git(&self.root, arguments)
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }

    fn commit(&self) {
        assert!(self.git(&["add", "-A"]) && self.git(&["commit", "-qm", "x"]), "a commit");
    }

    /// A program that leaves a mark with its name.
    fn trap(&self, name: &str) -> String {
        self.program(name, "cat")
    }

    fn program(&self, name: &str, then: &str) -> String {
        let (program, mark) = (self.folder.path().join(format!("trap-{name}")), self.mark(name));
        std::fs::write(&program, format!("#!/bin/sh\ntouch '{}'\n{then}\n", mark.display())).expect("a program");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("its mode");
        program.display().to_string()
    }

    fn mark(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("mark-{name}"))
    }

    /// The traps that have been sprung; each is set again.
    fn sprung(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("a list").filter_map(Result::ok);
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut sprung: Vec<String> = names.filter_map(|name| Some(name.strip_prefix("mark-")?.to_owned())).collect();
        sprung.iter().for_each(|name| std::fs::remove_file(self.mark(name)).expect("set again"));
        sprung.sort();
        sprung
    }

    async fn changed(&self, folder: &str) -> Result<Vec<(String, Change)>, CapabilityError> {
        let folder = self.root.join(folder).display().to_string();
        let found = LocalGit.changed_files(folder).await?;
        let relative = |path: &str| Path::new(path).strip_prefix(&self.root).expect("in it").display().to_string();
        let mut found: Vec<_> = found.into_iter().map(|file| (relative(&file.path), file.change)).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }
}

fn git(folder: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"]).args(arguments);
    command.current_dir(folder).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[tokio::test]
async fn changed_files_are_all_that_differ_from_the_commit_below_a_folder() {
    let repository = Repository::new();
    for path in ["same", "sub/changed", "sub/gone", "moved", "other/changed", "sub/mode"] {
        repository.write(path, "x\n");
    }
    repository.write(".gitignore", "ignored\n");
    repository.commit();
    for path in ["sub/changed", "other/changed"] {
        repository.write(path, "yy\n");
    }
    for path in ["sub/new\nline", "sub/deep/Ünï", "sub/ignored", "sub/-x"] {
        repository.write(path, "n\n");
    }
    repository.write("sub/added", "a\n");
    assert!(repository.git(&["add", "sub/added"]) && repository.git(&["mv", "moved", "sub/renamed"]));
    std::fs::remove_file(repository.root.join("sub/gone")).expect("deleted");
    assert!(git(&repository.root.join("sub"), &["init", "-q", "inner"]));
    repository.write("sub/inner/file", "theirs\n");
    let below = [
        ("sub/-x", Change::Untracked),
        ("sub/added", Change::Added),
        ("sub/changed", Change::Modified),
        ("sub/deep/Ünï", Change::Untracked),
        ("sub/gone", Change::Deleted),
        ("sub/new\nline", Change::Untracked),
        ("sub/renamed", Change::Added),
    ];
    let below: Vec<(String, Change)> = below.iter().map(|(path, change)| ((*path).to_owned(), *change)).collect();
    assert_eq!(repository.changed("sub").await, Ok(below.clone()));
    let all = repository.changed("").await.expect("an answer");
    assert_eq!(all.len(), below.len() + 2, "{all:?}");
    assert_eq!(repository.changed("sub/deep").await.map(|found| found.len()), Ok(1));
    let nowhere = tempfile::tempdir().expect("a scratch folder");
    let found = LocalGit.changed_files(nowhere.path().display().to_string()).await;
    assert!(matches!(found, Err(CapabilityError::Unavailable(_))), "{found:?}");
}

/// What is done to a repository whose last commit has the file `f` with `x` in it, and whether git holds all of it then.
const DONE: &[(&str, bool)] = &[
    ("true", true),
    ("touch f", true),
    ("chmod g+w f", true),
    ("git commit -q --allow-empty -m more", true),
    ("echo x > f && git add f", true),
    ("echo other > g", true),
    ("echo y > f", false),
    ("echo y > f && git add f", false),
    ("echo y > f && git add f && echo x > f", false),
    ("chmod +x f", false),
    ("git rm -q --cached f", false),
    ("git rm -q --cached f && git commit -qm less", false),
    ("git rm -q --cached f && echo f > .gitignore && git add .gitignore && git commit -qm less", false),
    ("echo f > .gitignore && echo y > f", false),
    ("echo f > .git/info/exclude && git rm -q --cached f && git commit -qm less", false),
    ("git update-index --assume-unchanged f", false),
    ("git update-index --assume-unchanged f && echo y > f", false),
    ("git update-index --skip-worktree f && echo y > f", false),
    ("git config core.ignoreStat true && git update-index f && touch f && git update-index f && echo y > f", false),
    (
        "git config core.trustctime false && git config core.checkStat minimal && touch -t 200001010000 f && git add f && echo y > f && touch -t 200001010000 f",
        false,
    ),
    ("git rm -q --cached f && git commit -qm less && git add -N f", false),
    (
        "git checkout -q -b a && echo a > f && git commit -qam a && git checkout -q main && echo b > f && git commit -qam b; git merge -q a",
        false,
    ),
    ("rm f && ln -s g f", false),
    ("rm f && mkfifo f", false),
    ("rm f", false),
    ("rm -r .git", false),
    ("git config core.worktree /tmp", false),
    ("git config core.bare true", false),
    ("rm .git/index", false),
    ("echo broken > .git/index", false),
    ("echo broken > .git/HEAD", false),
    ("rm -r .git/objects/*", false),
    ("rm -f .git/objects/$(git rev-parse HEAD:f | sed 's,..,&/,')", false),
    (
        "echo 'f ident' > .gitattributes && echo '$Id$' > f && git add . && git commit -qm id && echo '$Id: a day of notes $' > f && git add f",
        false,
    ),
    ("git config core.autocrlf input && printf 'x\\r\\n' > f && git add f", false),
    ("git config status.showUntrackedFiles no && git rm -q --cached f && git commit -qm less", false),
];

#[tokio::test]
async fn a_file_is_named_unless_git_holds_it_as_it_is() {
    for (script, held) in DONE {
        let repository = Repository::new();
        repository.write("f", "x\n");
        repository.commit();
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(&repository.root).stderr(Stdio::null()).stdout(Stdio::null());
        shell.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
        for who in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@t");
        }
        let done = shell.status().expect("a shell");
        assert!(done.success() || !held, "{script}");
        let found = LocalGit.changed_files(repository.root.join("f").display().to_string()).await;
        assert_eq!(found == Ok(Vec::new()), *held, "{script}: {found:?}");
    }
}

#[tokio::test]
async fn a_file_is_taken_by_its_name_alone() {
    let repository = Repository::new();
    let names = ["plain", "a*", "sub/deep", ":(top)plain", "-x", "new\nline", "Ünï", " blank "];
    for path in names {
        repository.write(path, "x\n");
    }
    repository.commit();
    for changed in names {
        repository.write(changed, "yy\n");
        for path in names {
            let found = repository.changed(path).await;
            let expected = if path == changed { vec![(path.to_owned(), Change::Modified)] } else { Vec::new() };
            assert_eq!(found, Ok(expected), "{path:?} after {changed:?}");
        }
        repository.write(changed, "x\n");
    }
    // One of a repository in this one is that one's.
    assert!(git(&repository.root.join("sub"), &["init", "-q"]));
    assert_eq!(repository.changed("sub/deep").await, Ok(vec![("sub/deep".to_owned(), Change::Untracked)]));
}

#[tokio::test]
async fn nothing_that_a_repository_names_is_run_for_a_file() {
    let repository = booby_trapped();
    for path in ["a.evil", "b.proc", "c.odd", "d.info", "e.incl", "f.bytes", "plain"] {
        let found = repository.changed(path).await;
        assert_eq!(found, Ok(vec![(path.to_owned(), Change::Modified)]));
    }
    for path in ["module/file", "bare/HEAD", ".git/config", ".git/HEAD"] {
        let found = repository.changed(path).await;
        assert_ne!(found, Ok(Vec::new()), "{path}");
    }
    // What the commit holds, whose content has to be looked at as well.
    repository.write("a.evil", "content\n");
    assert_eq!(repository.changed("a.evil").await, Ok(Vec::new()));
    assert_eq!(repository.sprung(), Vec::<String>::new());
}

/// Plants a program in every place that a repository's own files can name.
fn booby_trapped() -> Repository {
    let repository = Repository::new();
    for path in ["a.evil", "b.proc", "c.odd", "d.info", "plain"] {
        repository.write(path, "content\n");
    }
    // A submodule with traps of its own.
    let inner = repository.folder.path().join("inner");
    std::fs::create_dir(&inner).expect("a folder");
    assert!(git(&inner, &["init", "-q", "-b", "main"]));
    std::fs::write(inner.join("file"), "x\n").expect("a file");
    assert!(git(&inner, &["add", "-A"]) && git(&inner, &["commit", "-qm", "x"]));
    assert!(repository.git(&["submodule", "--quiet", "add", &inner.display().to_string(), "module"]));
    repository.commit();
    let config = |name: &str, value: &str| assert!(repository.git(&["config", name, value]), "{name}");
    let in_module = |name: &str, value: &str| {
        assert!(git(&repository.root.join("module"), &["config", name, value]), "{name}");
    };
    in_module("core.fsmonitor", &repository.trap("module-fsmonitor"));
    in_module("filter.inner.clean", &repository.trap("module-filter"));
    repository.write("module/.gitattributes", "* filter=inner\n");
    repository.write("module/file", "y\n");
    // Filters, by a name that is no ordinary one, too; named by files in the tree and by one that is not.
    repository.write(".gitattributes", "*.evil filter=evil diff=evil\n*.proc filter=proc\n*.odd filter=o.d=d\n");
    repository.write(".git/info/attributes", "*.info filter=info\n");
    config("filter.evil.clean", &repository.trap("clean"));
    config("filter.evil.smudge", &repository.trap("smudge"));
    config("filter.evil.required", "true");
    config("filter.proc.process", &repository.trap("process"));
    config("filter.o.d=d.clean", &repository.trap("odd"));
    config("filter.info.clean", &repository.trap("info"));
    // One whose name is no text.
    let bytes = [b"[filter \"\xff\"]\n\tclean = ".as_slice(), repository.trap("bytes").as_bytes(), b"\n"].concat();
    let mut file = std::fs::OpenOptions::new().append(true).open(repository.root.join(".git/config")).expect("a file");
    file.write_all(&bytes).expect("it is written");
    repository.write("f.bytes", "x\n");
    config("diff.evil.textconv", &repository.trap("textconv"));
    config("diff.evil.command", &repository.trap("diff-command"));
    // A file of configuration that another one includes.
    repository.write(".git/more", &format!("[filter \"included\"]\n\tclean = {}\n", repository.trap("included")));
    repository.write("e.incl", "x\n");
    assert!(repository.git(&["add", "e.incl", "f.bytes"]) && repository.git(&["commit", "-qm", "e"]));
    config("include.path", "more");
    for name in ["fsmonitor", "sshCommand", "pager", "editor", "askPass", "alternateRefsCommand", "gitProxy"] {
        config(&format!("core.{name}"), &repository.trap(name));
    }
    for name in ["diff.external", "credential.helper", "gpg.program", "pager.status", "pager.config", "sequence.editor"]
    {
        config(name, &repository.trap(name));
    }
    config("alias.status", &format!("!{}", repository.trap("alias")));
    config("status.submoduleSummary", "true");
    let hooks = repository.folder.path().join("hooks");
    std::fs::create_dir(&hooks).expect("a folder");
    for hook in ["post-index-change", "fsmonitor-watchman", "pre-auto-gc", "reference-transaction", "post-checkout"] {
        for folder in [&hooks, &repository.root.join(".git/hooks")] {
            std::fs::create_dir_all(folder).expect("a folder");
            std::fs::copy(repository.trap(&format!("hook-{hook}")), folder.join(hook)).expect("a hook");
        }
    }
    config("core.hooksPath", &hooks.display().to_string());
    // A folder that is a bare repository by its looks.
    for (path, content) in [
        ("bare/HEAD", "ref: refs/heads/main\n"),
        (
            "bare/config",
            &format!("[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = {}\n", repository.trap("bare")),
        ),
        ("bare/objects/keep", ""),
        ("bare/refs/keep", ""),
    ] {
        repository.write(path, content);
    }
    // Content of the same length, so that git has to look into the files.
    for path in ["a.evil", "b.proc", "c.odd", "d.info", "e.incl", "f.bytes", "plain"] {
        repository.write(path, if matches!(path, "e.incl" | "f.bytes") { "y\n" } else { "CONTENT\n" });
    }
    let attributes =
        b"*.evil filter=evil diff=evil\n*.proc filter=proc\n*.odd filter=o.d=d\n*.incl filter=included\n*.bytes filter=\xff\n";
    std::fs::write(repository.root.join(".gitattributes"), attributes).expect("a file");
    repository.sprung();
    repository
}

#[tokio::test]
async fn nothing_that_a_repository_names_is_run() {
    let repository = booby_trapped();
    let changed = repository.changed("").await.expect("an answer");
    assert!(changed.iter().any(|(path, _)| path == "plain"), "{changed:?}");
    assert!(changed.iter().any(|(path, change)| path == "a.evil" && *change == Change::Modified), "{changed:?}");
    assert_eq!(repository.sprung(), Vec::<String>::new());
    // From a folder that claims to be a repository: it is not taken for one.
    assert!(matches!(repository.changed("bare").await, Err(CapabilityError::Unavailable(_))));
    let _ = repository.changed("module").await;
    assert_eq!(repository.sprung(), Vec::<String>::new());

    // The traps are good: who just asks git steps into them.
    repository.git(&["status"]);
    repository.git(&["add", "-A"]);
    assert!(
        git(&repository.root.join("bare"), &["config", "--local", "--get", "core.fsmonitor"]),
        "it is one by its looks"
    );
    repository.git(&["diff"]);
    let sprung = repository.sprung();
    let expected = [
        "bytes",
        "clean",
        "diff.external",
        "fsmonitor",
        "hook-post-index-change",
        "included",
        "info",
        "odd",
        "process",
    ];
    for trap in expected {
        assert!(sprung.iter().any(|name| name == trap), "{trap} of {sprung:?}");
    }
}

#[tokio::test]
async fn a_missing_object_is_not_fetched() {
    let repository = Repository::new();
    repository.write("file", "x\n");
    repository.commit();
    let transport = format!("ext::{} %S", repository.program("transport", "exit 1"));
    for (name, value) in [
        ("remote.origin.url", transport.as_str()),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
        ("extensions.partialClone", "origin"),
        ("core.repositoryformatversion", "1"),
        ("protocol.ext.allow", "always"),
    ] {
        assert!(repository.git(&["config", name, value]), "{name}");
    }
    // The tree of the last commit is gone, so that nothing can be compared without it.
    for folder in std::fs::read_dir(repository.root.join(".git/objects")).expect("a list").filter_map(Result::ok) {
        let _ = std::fs::remove_dir_all(folder.path());
    }
    let found = repository.changed("").await;
    assert!(found.is_err(), "{found:?}");
    assert_eq!(repository.sprung(), Vec::<String>::new());
    repository.git(&["status"]);
    assert_eq!(repository.sprung(), ["transport"]);
}

#[tokio::test]
async fn a_git_in_the_project_is_not_the_one_that_runs() {
    let repository = Repository::new();
    std::fs::copy(repository.trap("git"), repository.root.join("git")).expect("a program");
    repository.changed("").await.expect("an answer");
    assert_eq!(repository.sprung(), Vec::<String>::new());
}

#[tokio::test]
async fn branches_are_merged_where_others_hold_all_their_commits() {
    let repository = Repository::new();
    repository.write("a", "x\n");
    repository.commit();
    let git = |arguments: &[&str]| assert!(repository.git(arguments), "{arguments:?}");
    let own = |branch: &str| {
        git(&["checkout", "-q", "-b", branch, "main"]);
        git(&["commit", "-q", "--allow-empty", "-m", branch]);
    };
    git(&["branch", "-m", "main"]);
    git(&["branch", "same"]);
    own("tagged");
    git(&["tag", "v1"]);
    own("fetched");
    git(&["update-ref", "refs/remotes/origin/fetched", "HEAD"]);
    own("alone");
    own("twin/a");
    git(&["branch", "twin/b"]);
    // To a git that believes what it is told of parents, `main` holds these as well.
    own("replaced");
    own("grafted");
    own("named");
    git(&["checkout", "-q", "main"]);
    let commit = |branch: &str| {
        let file = repository.root.join(".git/refs/heads").join(branch);
        std::fs::read_to_string(file).expect("a commit").trim().to_owned()
    };
    std::fs::create_dir_all(repository.root.join(".git/info")).expect("a folder");
    repository.write(".git/info/grafts", &format!("{} {}\n", commit("fetched"), commit("grafted")));
    git(&["replace", "--graft", "tagged", "replaced"]);
    git(&["branch", "case", "same"]);
    git(&["branch", "CASE", "same"]);
    git(&["symbolic-ref", "refs/heads/other-name", "refs/heads/named"]);
    let cases = [
        ("same", Some(true)),
        ("tagged", Some(true)),
        ("fetched", Some(true)),
        ("alone", Some(false)),
        ("twin/a", Some(true)),
        ("replaced", Some(false)),
        ("grafted", Some(false)),
        ("named", Some(false)),
        ("case", Some(false)),
        ("CASE", Some(false)),
        ("main", Some(true)),
        ("nowhere", Some(false)),
        ("v1", Some(false)),
        ("../tags/v1", Some(false)),
        ("t*", None),
        ("--all", Some(false)),
        ("same alone", None),
        ("", None),
    ];
    let held = |folder: &str, branch: &str| LocalGit.changed_files(format!("{folder}/.git/refs/heads/{branch}"));
    let root = repository.root.display().to_string();
    for (branch, expected) in cases {
        let lost = held(&root, branch).await.ok();
        assert_eq!(lost.map(|lost| lost.is_empty()), expected, "{branch}");
    }
    // Wherever it is stored, and from wherever in the worktree it is asked about.
    git(&["pack-refs", "--all"]);
    repository.write("sub/x", "x\n");
    for folder in [root.clone(), format!("{root}/sub")] {
        let lost = held(&folder, "alone").await.expect("an answer");
        assert_eq!(lost.len(), 1, "{folder}");
        assert_eq!(held(&folder, "same").await.expect("an answer").len(), 0, "{folder}");
    }
    assert!(held("/", "same").await.is_err());
}
