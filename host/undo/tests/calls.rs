//! Calls that run between saving and undoing, with real shells and a real git.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use toolgate_undo::calls::{Calls, Saved};
use toolgate_undo::model::{CallRef, Change, ChangeKind, Changes, GitCommand, Unforeseen};
use toolgate_undo::undo::{Request, Undone};
use toolgate_undo::{Limits, UndoError};

const AGENT: &str = "claude";
const SESSION: &str = "a session";

/// A workspace with a repository in it, and a store.
struct Scratch {
    folder: tempfile::TempDir,
    calls: Calls,
    clock: std::cell::Cell<u64>,
}

/// A workspace's files: what they are, their modes and contents; and what git has.
type Tree = BTreeMap<PathBuf, (u32, String)>;

impl Scratch {
    fn new(prepare: &str) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let root = folder.path().canonicalize().expect("its path");
        std::fs::create_dir(root.join("project")).expect("a folder");
        std::fs::create_dir(root.join("home")).expect("a folder");
        let limits = Limits { wait: Duration::from_secs(60), free: 0, ..Limits::DEFAULT };
        let calls = Calls::new(root.join("state/undo"), limits);
        let scratch = Scratch { folder, calls, clock: std::cell::Cell::new(1_800_000_000_000) };
        scratch.run(prepare);
        scratch
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("its path").join("project")
    }

    /// Runs a text in the workspace.
    fn run(&self, text: &str) {
        let home = self.folder.path().join("home");
        let mut shell = Command::new("bash");
        shell.args(["-euc", text]).current_dir(self.root()).env_clear();
        shell.env("PATH", std::env::var_os("PATH").expect("a path")).env("HOME", home);
        for who in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@example.org");
        }
        let output = shell.output().expect("bash");
        assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn now(&self) -> SystemTime {
        self.clock.set(self.clock.get() + 1_000);
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.clock.get())
    }

    /// Saves what these changes say of a call.
    fn save(&self, call: &str, turn: u64, changes: Changes) -> Option<Saved> {
        self.save_withheld(call, turn, changes, &|_| false)
    }

    fn save_withheld(&self, call: &str, turn: u64, changes: Changes, secret: &dyn Fn(&str) -> bool) -> Option<Saved> {
        let workspace = self.root().display().to_string();
        let call = CallRef {
            agent: AGENT.to_owned(),
            session: SESSION.to_owned(),
            turn,
            call: call.to_owned(),
            cwd: workspace.clone(),
            workspace,
            ..CallRef::default()
        };
        let pending = self.calls.look(&[changes], call).expect("looked at")?;
        let withheld: Vec<bool> = pending.paths().iter().map(|path| secret(path)).collect();
        Some(pending.save(Some(&withheld), self.now()).expect("saved"))
    }

    fn finish(&self, call: &str) {
        self.calls.finish(AGENT, SESSION, call).expect("noted");
    }

    /// A call: saved, run and noted. Its id.
    fn call(&self, call: &str, changes: Changes, text: &str) -> String {
        let saved = self.save(call, 0, changes).expect("something to save");
        self.run(text);
        self.finish(call);
        saved.id
    }

    fn undo(&self, ids: &[&str], force: bool) -> (Undone, Vec<String>) {
        self.undo_only(ids, &[], force)
    }

    fn undo_only(&self, ids: &[&str], only: &[&str], force: bool) -> (Undone, Vec<String>) {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let only = only.iter().map(|path| self.root().join(path)).collect();
        let mut plan = self.calls.plan(&Request { ids, only, force }).expect("a plan");
        let all = |paths: &[String]| Some(vec![false; paths.len()]);
        let undone = plan.apply(&self.calls, &self.root(), &all).expect("undone");
        (undone, plan.conflicts.iter().map(ToString::to_string).collect())
    }

    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        let mut folders = vec![self.root()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let found = path.symlink_metadata().expect("its metadata");
                let relative = path.strip_prefix(self.root()).expect("below").to_path_buf();
                if relative == Path::new(".git") {
                    continue;
                }
                let content = if found.is_symlink() {
                    path.read_link().expect("a link").display().to_string()
                } else if found.is_file() {
                    std::fs::read_to_string(&path).expect("its content")
                } else {
                    folders.push(path);
                    String::new()
                };
                tree.insert(relative, (found.mode(), content));
            }
        }
        if self.root().join(".git").exists() {
            for ask in [
                "for-each-ref --format=%(refname)%(objectname) refs/heads refs/tags refs/stash",
                "stash list",
                "rev-parse HEAD",
                "symbolic-ref -q HEAD",
                "ls-files --stage",
            ] {
                let words: Vec<&str> = ask.split(' ').collect();
                let output = Command::new("git").args(&words).current_dir(self.root()).output().expect("git");
                tree.insert(
                    PathBuf::from(format!("git {ask}")),
                    (0, String::from_utf8_lossy(&output.stdout).into_owned()),
                );
            }
        }
        tree
    }

    fn path(&self, path: &str) -> String {
        self.root().join(path).display().to_string()
    }

    fn change(&self, (path, kind): (&str, ChangeKind)) -> Change {
        Change { path: Some(self.path(path)), kind, certain: true, recursive: false }
    }

    fn changes(&self, paths: &[(&str, ChangeKind)]) -> Changes {
        Changes { schema: 1, paths: paths.iter().map(|one| self.change(*one)).collect(), ..Changes::default() }
    }

    fn git(&self, command: &str) -> Changes {
        let folder = Some(self.root().display().to_string());
        Changes { schema: 1, git: vec![GitCommand { folder, command: command.to_owned() }], ..Changes::default() }
    }

    fn unforeseen(&self) -> Changes {
        let folder = Some(self.root().display().to_string());
        Changes {
            schema: 1,
            unforeseen: vec![Unforeseen { folder, program: "a build".to_owned() }],
            ..Changes::default()
        }
    }
}

/// Paths that a call changes, and what happens to them.
type Paths<'a> = &'a [(&'a str, ChangeKind)];

/// Files of a workspace without a repository.
const FILES: &str = "mkdir -p src/deep; echo one > a; echo two > src/b; echo three > src/deep/c; chmod 640 a; ln -s a link; ln -s nowhere dangling";

/// A repository with a commit, a branch, a tag, a stash and changes in no commit.
const REPOSITORY: &str = "
    git init -q -b main .; echo one > a; echo two > b; mkdir src; echo three > src/c; printf 'out\\n' > .gitignore
    git add .; git commit -qm first; echo more >> a; git commit -qam second
    git branch topic; git tag light; git tag -a -m noted full
    git update-ref refs/remotes/origin/main HEAD; git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main
    echo stashed >> b; git stash -q; echo uncommitted >> src/c; echo new > untracked; echo staged >> b; git add b";

use ChangeKind::{Append, Create, Delete, Link, Mode, Move, Write};

#[test]
fn what_a_call_changes_comes_back() {
    let cases: &[(&str, Paths<'_>, &str)] = &[
        ("a file removed", &[("a", Delete)], "rm a"),
        ("a folder removed", &[("src", Delete)], "rm -r src"),
        ("all removed", &[("a", Delete), ("src", Delete), ("link", Delete)], "rm -r a src link"),
        ("overwritten", &[("a", Write)], "echo other > a"),
        ("overwritten through a link", &[("link", Write)], "echo other > link"),
        ("a link that leads nowhere", &[("dangling", Write)], "echo made > dangling"),
        ("added to", &[("src/b", Append)], "echo more >> src/b"),
        ("made", &[("new", Create)], "echo x > new"),
        ("made with its folders", &[("x/y/z", Write)], "mkdir -p x/y; echo 1 > x/y/z"),
        ("moved", &[("a", Move), ("moved", Write)], "mv a moved"),
        ("moved over", &[("a", Move), ("src/b", Write)], "mv a src/b"),
        ("a folder moved", &[("src", Move), ("other", Create)], "mv src other"),
        ("replaced by a link", &[("a", Link)], "ln -sf src/b a"),
        ("replaced by a folder", &[("a", Delete), ("a", Create)], "rm a; mkdir a; echo 1 > a/b"),
        ("a folder replaced by a file", &[("src", Delete), ("src", Write)], "rm -r src; echo 1 > src"),
        ("mode", &[("a", Mode)], "chmod 600 a"),
        ("nothing done", &[("a", Delete)], "true"),
        ("only perhaps", &[("a", Write), ("nothing", Delete), ("src/deep/c", Write)], "echo 4 > src/deep/c"),
    ];
    for (name, paths, text) in cases {
        let scratch = Scratch::new(FILES);
        let before = scratch.tree();
        let changes = scratch.changes(paths);
        let saved = scratch.save("1", 0, changes).expect("something to save");
        assert_eq!(saved.left_out, [], "{name}");
        scratch.run(text);
        scratch.finish("1");
        if *text == "true" {
            assert!(scratch.calls.store().expect("a store").expect("one").ids().expect("ids").is_empty(), "{name}");
            continue;
        }
        assert_ne!(scratch.tree(), before, "{name}");
        let (undone, conflicts) = scratch.undo(&[&saved.id], false);
        assert_eq!((undone.failed, conflicts), (vec![], vec![]), "{name}");
        assert_eq!(scratch.tree(), before, "{name}");
    }
}

#[test]
fn what_git_loses_comes_back() {
    let cases: &[(&str, &str)] = &[
        ("reset", "git reset -q --hard"),
        ("reset", "git reset -q --hard HEAD~1"),
        ("reset", "git reset -q HEAD~1"),
        ("checkout", "git checkout -q -- ."),
        ("checkout", "git checkout -qf topic"),
        ("restore", "git restore --staged --worktree ."),
        ("clean", "git clean -qfd"),
        ("stash", "git stash drop -q"),
        ("stash", "git stash clear"),
        ("stash", "git stash -q -u"),
        ("stash", "git reset -q --hard; git stash pop -q"),
        ("branch", "git branch -q -D topic"),
        ("branch", "git branch -q -f topic HEAD~1"),
        ("tag", "git tag -d light full"),
        ("commit", "git commit -q --amend -m other"),
        ("commit", "git add -A; git commit -qm third"),
        ("rebase", "git stash -q -u; git rebase -q --onto HEAD~1 HEAD; git stash pop -q"),
        ("update-ref", "git update-ref -d refs/heads/topic"),
        ("reflog", "git branch -q -D topic; git reflog expire --expire=now --all; git gc -q --prune=now"),
        ("rm", "git rm -qf b"),
        ("switch", "git stash -q -u; git switch -q -c new"),
    ];
    for (command, text) in cases {
        let scratch = Scratch::new(REPOSITORY);
        let before = scratch.tree();
        let id = scratch.call("1", scratch.git(command), text);
        assert_ne!(scratch.tree(), before, "{text}");
        let (undone, conflicts) = scratch.undo(&[&id], false);
        assert_eq!((undone.failed, conflicts), (vec![], vec![]), "{text}");
        assert_eq!(scratch.tree(), before, "{text}");
        scratch.run("git fsck --strict 2>&1 | grep -v '^dangling\\|^Checking\\|^notice' && exit 1 || true");
        // The undo is a call as well.
        let (undone, conflicts) = scratch.undo(&[&undone.id.expect("an id")], false);
        assert_eq!((undone.failed, conflicts), (vec![], vec![]), "{text}");
        assert_ne!(scratch.tree(), before, "{text}");
    }
}

/// Git removes with all that is in it what stands where it has a file.
#[test]
fn what_stands_in_the_place_of_tracked_files_comes_back() {
    let cases = [
        // What is there before, and the command.
        ("rm a; mkdir a; echo precious > a/x.log", "git restore ."),
        ("rm a; git init -q a; echo precious > a/p", "git reset -q --hard"),
        ("rm -r src; ln -s ../elsewhere src", "git checkout -q -- ."),
        ("rm -r src; echo precious > src", "git reset -q --hard"),
        ("git rm -q --cached a; rm a; mkdir a; echo precious > a/x.log", "git reset -q --hard"),
    ];
    for (prepare, text) in cases {
        let scratch = Scratch::new(REPOSITORY);
        scratch.run("printf 'out\\n*.log\\n/a\\n/src\\n' > .gitignore; git add -f .gitignore; git commit -qm ignore");
        scratch.run(prepare);
        let before = scratch.tree();
        let command = text.split(' ').nth(1).expect("a subcommand");
        let id = scratch.call("1", scratch.git(command), text);
        assert_ne!(scratch.tree(), before, "{prepare}; {text}");
        let (undone, conflicts) = scratch.undo(&[&id], false);
        assert_eq!((undone.failed, conflicts), (vec![], vec![]), "{prepare}; {text}");
        assert_eq!(scratch.tree(), before, "{prepare}; {text}");
    }
}

/// Git writes the index anew if files have other times, which changes nothing.
#[test]
fn an_index_that_was_only_refreshed_is_no_conflict() {
    let scratch = Scratch::new(REPOSITORY);
    let before = scratch.tree();
    let id = scratch.call("1", scratch.git("reset"), "git reset -q --hard");
    scratch.run("touch a b; git status > /dev/null");
    let (undone, conflicts) = scratch.undo(&[&id], false);
    assert_eq!((undone.failed, conflicts), (vec![], vec![]));
    assert_eq!(scratch.tree(), before);
}

/// What only the repository held is gone with it; the rest comes back.
#[test]
fn without_the_repository_the_rest_comes_back() {
    let scratch = Scratch::new(REPOSITORY);
    let id = scratch.call("1", scratch.unforeseen(), "rm -rf .git untracked");
    let (undone, conflicts) = scratch.undo(&[&id], false);
    assert_eq!(undone.failed, Vec::<String>::new());
    assert!(!conflicts.is_empty() || scratch.root().join("untracked").exists());
}

/// What was changed by a name that the calls made comes back under the others.
#[test]
fn what_was_changed_by_another_name_comes_back() {
    let cases = [
        // The command that makes the name, and the one that changes the file.
        ("ln a b", "echo other > b"),
        ("ln a b", "echo other >> b; chmod 600 b"),
    ];
    for (link, change) in cases {
        let scratch = Scratch::new("echo one > a");
        let before = scratch.tree();
        let first = scratch.call("1", scratch.changes(&[("b", Link), ("c", Link)]), link);
        let second = scratch.call("2", scratch.changes(&[("b", Write)]), change);
        assert_ne!(scratch.tree(), before);
        let (undone, conflicts) = scratch.undo(&[&first, &second], false);
        assert_eq!((undone.failed, conflicts), (vec![], vec![]), "{link}; {change}");
        assert_eq!(scratch.tree(), before, "{link}; {change}");
    }
}

/// What is in submodules is theirs. Where git changes them as well, that is said.
#[test]
fn submodules_that_git_changes_are_named() {
    for (setting, named) in [("git config submodule.recurse true", true), ("true", false)] {
        let scratch = Scratch::new(REPOSITORY);
        scratch.run(&format!(
            "git stash -q -u; git init -q ../other; git -C ../other commit -q --allow-empty -m x
            git -c protocol.file.allow=always submodule --quiet add ../other sub; git commit -qm sub
            {setting}"
        ));
        let saved = scratch.save("1", 0, scratch.git("clean")).expect("something to save");
        let left: Vec<String> = saved.left_out.iter().map(ToString::to_string).collect();
        assert_eq!(left.iter().any(|left| left.contains("submodules, which git changes")), named, "{left:?}");
        assert!(left.iter().any(|left| left.contains("sub/: it is a repository of its own")), "{left:?}");
    }
}

/// Where something was not saved, it is not certain that a call changed nothing.
#[test]
fn a_call_that_may_have_changed_what_was_not_saved_is_kept() {
    let scratch = Scratch::new(REPOSITORY);
    scratch.run("echo ignored > out");
    let id = scratch.call("1", scratch.unforeseen(), "rm out");
    let store = scratch.calls.store().expect("a store").expect("one");
    assert_eq!(store.ids().expect("ids"), [id]);
}

/// What is written to all that is in a folder goes through the links in it.
#[test]
fn what_links_in_a_folder_lead_to_comes_back() {
    let scratch = Scratch::new(
        "mkdir src other; echo precious > real; echo 1 > other/x; ln -s ../real src/c; ln -s ../other src/lk; ln -s nowhere src/n",
    );
    let before = scratch.tree();
    let mut changes = scratch.changes(&[("src", Write)]);
    changes.paths[0].recursive = true;
    let saved = scratch.save("1", 0, changes).expect("something to save");
    let left: Vec<String> = saved.left_out.iter().map(ToString::to_string).collect();
    assert_eq!(left, [format!("{}: the content of folders behind 1 link in it", scratch.path("src"))]);
    scratch.run("echo lost > src/c; echo made > src/n");
    scratch.finish("1");
    let (undone, conflicts) = scratch.undo(&[&saved.id], false);
    assert_eq!((undone.failed, conflicts), (vec![], vec![]));
    assert_eq!(scratch.tree(), before);
}

/// What somebody has committed since stays in the next commit, too.
#[test]
fn work_that_was_committed_since_is_not_taken_back() {
    let cases = [
        // The command of git, the call, what its user does then, and what the next commit may not lose.
        ("add", "git add src/c", "git commit -qm user", "uncommitted"),
        ("commit", "git commit -qam agent", "git commit -q --amend -m user", "uncommitted"),
        ("commit", "git commit -qam agent", "git commit -q --allow-empty -m user", "uncommitted"),
        ("switch", "git switch -q -c feat", "git commit -qam user", "uncommitted"),
    ];
    for (command, text, user, expected) in cases {
        let scratch = Scratch::new(REPOSITORY);
        let id = scratch.call("1", scratch.git(command), text);
        scratch.run(user);
        let head = |scratch: &Scratch| scratch.tree()[Path::new("git symbolic-ref -q HEAD")].clone();
        let there = head(&scratch);
        let (_, conflicts) = scratch.undo(&[&id], false);
        assert!(!conflicts.is_empty(), "{text}; {user}");
        assert_eq!(head(&scratch), there, "{text}; {user}");
        scratch.run(&format!("git commit -q --allow-empty -m next; git show HEAD:src/c | grep -q {expected}"));
    }
}

/// A rebase that a call began ends with its undo: to abort it later would take the user's work along.
#[test]
fn sequences_that_a_call_began_end_with_it() {
    const DIVERGED: &str = "git stash -q -u; git switch -q topic; echo theirs > a; git commit -qam theirs; echo more > b; git commit -qam more; git switch -q main";
    let cases = [
        ("rebase", "git rebase -q topic", "rebase-merge"),
        ("cherry-pick", "git cherry-pick topic~1 topic", "sequencer"),
        ("am", "git format-patch -q --stdout main..topic | git am -q -3", "rebase-apply"),
        ("bisect", "git bisect start main topic", "BISECT_LOG"),
    ];
    for (command, text, made) in cases {
        let scratch = Scratch::new(REPOSITORY);
        scratch.run(DIVERGED);
        scratch.run("echo mine > a; git commit -qam mine");
        let before = scratch.tree();
        let id = scratch.call("1", scratch.git(command), &format!("({text}) > /dev/null 2>&1 || true"));
        assert!(scratch.root().join(".git").join(made).exists(), "{text}");
        let (undone, conflicts) = scratch.undo(&[&id], false);
        assert_eq!((undone.failed, conflicts), (vec![], vec![]), "{text}");
        assert_eq!(scratch.tree(), before, "{text}");
        assert!(!scratch.root().join(".git").join(made).exists(), "{text}");
        scratch.run("git status | grep -q 'in progress\\|bisecting' && exit 1 || true");
    }
}

/// Many commands of git set something for a branch.
#[test]
fn settings_that_commands_make_go_again() {
    for (command, text) in [
        ("switch", "git switch -q -c t --track topic"),
        ("sparse-checkout", "git sparse-checkout set src"),
        ("push", "git init -q --bare ../remote; git push -q -u ../remote main 2> /dev/null"),
    ] {
        let scratch = Scratch::new(REPOSITORY);
        scratch.run("git stash -q -u");
        let config = || {
            let read = |name: &str| std::fs::read_to_string(scratch.root().join(".git").join(name)).unwrap_or_default();
            (read("config"), read("config.worktree"))
        };
        let before = config();
        let id = scratch.call("1", scratch.git(command), text);
        assert_ne!(config(), before, "{text}");
        let (undone, _) = scratch.undo(&[&id], false);
        assert_eq!((undone.failed, config()), (vec![], before), "{text}");
    }
}

/// An undo of an undo of an undo: each time the calls are open that are done.
#[test]
fn undoes_of_undoes_are_told_apart() {
    let scratch = Scratch::new("echo one > a");
    let first = scratch.call("1", scratch.changes(&[("a", Write)]), "echo two > a");
    let mut ids = vec![first];
    for _ in 0..4 {
        let last = ids.last().expect("an id").clone();
        ids.push(scratch.undo(&[&last], false).0.id.expect("an undo"));
        let store = scratch.calls.store().expect("a store").expect("one");
        let undone: Vec<bool> = ids.iter().map(|id| store.undone(id).expect("readable").is_some()).collect();
        // Every second one from the end is undone.
        let expected: Vec<bool> = (0..ids.len()).rev().map(|back| back % 2 == 1).collect();
        assert_eq!(undone, expected, "{ids:?}");
    }
}

/// The settings of a branch are in the repository that a linked worktree shares.
#[test]
fn settings_of_a_branch_come_back() {
    for folder in [".", "linked"] {
        let scratch = Scratch::new(REPOSITORY);
        scratch.run("git config branch.topic.description what-for; git worktree add -q --detach linked");
        let config = || std::fs::read_to_string(scratch.root().join(".git/config")).expect("settings");
        let before = config();
        let folder = scratch.root().join(folder).to_str().expect("text").to_owned();
        let git = vec![GitCommand { folder: Some(folder.clone()), command: "branch".to_owned() }];
        let changes = Changes { schema: 1, git, ..Changes::default() };
        let id = scratch.call("1", changes, &format!("git -C {folder} branch -q -D topic"));
        assert_ne!(config(), before, "{folder}");
        let (undone, conflicts) = scratch.undo(&[&id], false);
        assert_eq!((undone.failed, conflicts), (vec![], vec![]), "{folder}");
        assert_eq!(config(), before, "{folder}");
    }
}

/// What git knows of a linked worktree is in the repository that it shares.
#[test]
fn linked_worktrees_come_back() {
    const LINKED: &str =
        "git worktree add -q -b side linked; echo dirty >> linked/a; echo staged > linked/s; git -C linked add s";
    let cases = [
        // What is there before, what happens to the folder, and the command.
        (LINKED, Delete, "git worktree remove --force linked"),
        (LINKED, Delete, "rm -rf linked; git worktree prune"),
        (LINKED, Move, "git worktree move linked other"),
        ("true", Create, "git worktree add -q -b side linked"),
        ("git worktree add -q --detach third", Create, "git worktree add -q -b side linked"),
    ];
    for (prepare, kind, text) in cases {
        let scratch = Scratch::new(REPOSITORY);
        scratch.run(prepare);
        scratch.run("git worktree list > ../listed; git -C linked status --short > ../status || true");
        let before = scratch.tree();
        let paths = scratch.changes(&[("linked", kind), ("other", Create)]);
        let changes = Changes { paths: paths.paths, ..scratch.git("worktree") };
        let id = scratch.call("1", changes, text);
        assert_ne!(scratch.tree(), before, "{text}");
        let (undone, conflicts) = scratch.undo(&[&id], false);
        assert_eq!((undone.failed, conflicts), (vec![], vec![]), "{text}");
        assert_eq!(scratch.tree(), before, "{text}");
        scratch.run(
            "git worktree list | diff - ../listed; git -C linked status --short | diff - ../status || test ! -e linked",
        );
        scratch.run("git fsck --strict 2>&1 | grep -v '^dangling\\|^Checking\\|^notice' && exit 1 || true");
    }
}

/// A worktree in which somebody has worked since the call that made it stays as it is.
#[test]
fn a_worktree_with_work_in_it_stays_whole() {
    for work in ["echo mine >> linked/a", "echo mine >> linked/a; git -C linked add a", "echo mine > linked/new"] {
        let scratch = Scratch::new(REPOSITORY);
        let paths = scratch.changes(&[("linked", Create)]).paths;
        let changes = Changes { paths, ..scratch.git("worktree") };
        let id = scratch.call("1", changes, "git worktree add -q -b side linked");
        scratch.run(work);
        scratch.run("git -C linked status --short > ../status");
        let (_, conflicts) = scratch.undo(&[&id], false);
        assert!(!conflicts.is_empty(), "{work}");
        scratch.run("git -C linked status --short | diff - ../status; git rev-parse -q --verify side > /dev/null");
    }
}

#[test]
fn what_nobody_foresaw_comes_back() {
    for (prepare, ignored) in [(REPOSITORY, true), (FILES, false)] {
        let scratch = Scratch::new(prepare);
        let before = scratch.tree();
        let text = "echo x > made; mkdir -p gen; echo y > gen/z; echo changed >> a; rm -r src; chmod +x a";
        let id = scratch.call("1", scratch.unforeseen(), text);
        let (undone, conflicts) = scratch.undo(&[&id], false);
        assert_eq!((undone.failed, conflicts), (vec![], vec![]));
        let mut after = scratch.tree();
        // Git knows no folders, and so it is not known that nobody else made this one.
        after.remove(Path::new("gen"));
        assert_eq!(after, before);
        if ignored {
            let saved = scratch.save("2", 0, scratch.unforeseen()).expect("something to save");
            assert!(!saved.is_complete(), "what git ignores is not saved");
        }
    }
}

/// Git has no more of permissions than the right to execute.
#[test]
fn permissions_come_back() {
    let texts = [
        "rm a untracked",
        "chmod 644 a; chmod 755 untracked; chmod 600 b",
        "cp a new; chmod 666 new; mv new a; rm untracked; echo x > untracked",
        "chmod +x a; rm b; echo other > b; chmod 640 b",
        "rm -r src",
    ];
    for text in texts {
        let scratch = Scratch::new(REPOSITORY);
        scratch.run("chmod 600 a; chmod 620 untracked; chmod 4755 src/c; chmod 2750 src");
        for _ in 0..2 {
            let before = scratch.tree();
            let id = scratch.call("1", scratch.unforeseen(), text);
            assert_ne!(scratch.tree(), before, "{text}");
            let (undone, conflicts) = scratch.undo(&[&id], false);
            assert_eq!((undone.failed, conflicts), (vec![], vec![]), "{text}");
            let mut after = scratch.tree();
            after.remove(Path::new("new"));
            assert_eq!(after, before, "{text}");
            // The next time the list of permissions is there already.
            scratch.run("chmod 640 a");
        }
    }
}

/// Another snapshot between may have taken notice of a change of permissions, or be of the second in which they were changed.
#[test]
fn permissions_are_those_before_the_call() {
    let mode = |scratch: &Scratch| scratch.root().join("a").metadata().expect("a file").mode() & 0o7777;
    let scratch = Scratch::new(REPOSITORY);
    let first = scratch.save("1", 0, scratch.unforeseen()).expect("something to save");
    scratch.run("chmod 600 a");
    let second = scratch.save("2", 0, scratch.unforeseen()).expect("something to save");
    scratch.run("echo x >> src/c");
    scratch.finish("2");
    scratch.finish("1");
    let (undone, conflicts) = scratch.undo(&[&second.id], true);
    assert_eq!((undone.failed, conflicts, mode(&scratch)), (vec![], vec![], 0o600));
    scratch.undo(&[&first.id], true);
    assert_eq!(mode(&scratch), 0o644);
}

/// Git removes a folder with its last file.
#[test]
fn a_folder_that_git_removes_has_its_permissions_again() {
    let scratch = Scratch::new(REPOSITORY);
    scratch.run("chmod 700 src; git stash -q");
    let before = scratch.tree();
    let changes = Changes { paths: scratch.changes(&[("src/c", Delete)]).paths, ..scratch.git("rm") };
    let id = scratch.call("1", changes, "git rm -qf src/c");
    assert!(!scratch.root().join("src").exists());
    let (undone, conflicts) = scratch.undo(&[&id], false);
    assert_eq!((undone.failed, conflicts), (vec![], vec![]));
    assert_eq!(scratch.tree(), before);
}

/// A set-ID file of somebody else's would be one of whoever undoes.
#[test]
fn nobody_gets_a_program_that_runs_as_them() {
    let scratch = Scratch::new(REPOSITORY);
    if !rustix::process::geteuid().is_root() {
        return toolgate_test_support::skip::skip("only root can give files away");
    }
    scratch.run("mkdir n; echo x > n/x; chown 65534 n/x a; chmod 4755 n/x a");
    let id = scratch.call("1", scratch.git("clean"), "rm a; git clean -qfd");
    let (undone, conflicts) = scratch.undo(&[&id], false);
    assert_eq!((undone.failed, conflicts), (vec![], vec![]));
    for path in ["n/x", "a"] {
        let found = scratch.root().join(path).metadata().expect("a file");
        assert_eq!((found.uid(), found.mode() & 0o7777), (0, 0o755), "{path}");
    }
}

/// Of very many files that only seem to be changed, nothing is stored again.
#[test]
fn a_change_of_all_modes_is_soon_looked_at() {
    let scratch = Scratch::new(FILES);
    scratch
        .run("git init -q .; mkdir many; for i in {1..300}; do echo $i > many/$i; done; git add .; git commit -qm all");
    let first = scratch.save("1", 0, scratch.unforeseen()).expect("something to save");
    scratch.finish("1");
    scratch.run("chmod -R g+w many; echo changed > many/7");
    let before = scratch.tree();
    let id = scratch.call("2", scratch.unforeseen(), "chmod -R go-rwx many; rm many/7 many/8");
    assert_ne!(id, first.id);
    let (undone, conflicts) = scratch.undo(&[&id], false);
    assert_eq!((undone.failed, conflicts), (vec![], vec![]));
    let mut after = scratch.tree();
    let folder = Path::new("many");
    assert!(after.remove(folder).is_some());
    assert!(before.iter().filter(|(path, _)| *path != folder).eq(after.iter()));
}

/// What the stash keeps is not dropped from it unless it is back in the worktree.
#[test]
fn what_is_stashed_stays_there_until_it_is_back() {
    let ignored = "echo ign >> .gitignore; git commit -qam i; mkdir ign; echo 1 > ign/x";
    // What is there before, the call, what somebody does then, and whether the entry stays.
    let cases = [
        ("true", "git stash -q", "true", false),
        ("true", "git stash -q", "echo later >> b", true),
        (ignored, "git stash -qa", "true", true),
        (ignored, "git stash -qa", "mkdir ign; echo 1 > ign/x", false),
        (ignored, "git stash -qa", "mkdir ign; echo 2 > ign/x", true),
        ("echo S=1 > .env; git add -f .env; git commit -qm e; echo S=2 >> .env", "git stash -q", "true", true),
        ("echo SECRET=1 > .env", "git stash -qu", "true", true),
    ];
    for (prepare, text, since, stays) in cases {
        let scratch = Scratch::new(REPOSITORY);
        scratch.run(prepare);
        let saved = scratch.save_withheld("1", 0, scratch.git("stash"), &|path| path.ends_with(".env"));
        scratch.run(text);
        scratch.finish("1");
        scratch.run(since);
        let (undone, conflicts) = scratch.undo(&[&saved.expect("something to save").id], false);
        assert_eq!(undone.failed, [""; 0], "{text}; {since}");
        let kept = conflicts.iter().any(|conflict| conflict.contains("the stash keeps"));
        let stash = scratch.tree().remove(Path::new("git stash list")).expect("the stash").1;
        assert_eq!((kept, stash.lines().count()), (stays, 1 + usize::from(stays)), "{text}; {since}: {conflicts:?}");
    }
}

/// A path that the index has and that is not there was not ignored, whatever the call does to `.gitignore`.
#[test]
fn what_was_missing_is_missing_again() {
    let scratch = Scratch::new(REPOSITORY);
    scratch.run("echo '*.log' >> .gitignore; rm -r src b");
    let before = scratch.tree();
    let id = scratch.call("1", scratch.git("checkout"), "git checkout -q -- .");
    assert!(scratch.root().join("src/c").exists());
    let (undone, conflicts) = scratch.undo(&[&id], false);
    assert_eq!((undone.failed, conflicts), (vec![], vec![]));
    let mut after = scratch.tree();
    // It was not there before; git made it, and it is not known that nobody else did.
    after.remove(Path::new("src"));
    assert_eq!(after, before);
}

/// `git clean -d` removes what git itself does not look into.
#[test]
fn folders_that_git_cleans_come_back() {
    let folders = [
        "git init -q --bare store.git",
        "mkdir -p broken/.git; echo x > broken/.git/note; echo y > broken/file",
        "mkdir -p empty/deep",
        "mkdir private; chmod 700 private; echo z > private/key; chmod 600 private/key; touch -d 2001-01-01 private/key",
    ];
    for prepare in folders {
        let scratch = Scratch::new(REPOSITORY);
        scratch.run(prepare);
        let before = scratch.tree();
        let id = scratch.call("1", scratch.git("clean"), "git clean -qfd");
        assert_ne!(scratch.tree(), before, "{prepare}");
        let (undone, conflicts) = scratch.undo(&[&id], false);
        assert_eq!((undone.failed, conflicts), (vec![], vec![]), "{prepare}");
        assert_eq!(scratch.tree(), before, "{prepare}");
    }
}

/// All that changes in a worktree while a program runs counts as its doing, but for what another call is known to have done.
#[test]
fn calls_at_the_same_time_are_told_apart() {
    let scratch = Scratch::new(FILES);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time");
    scratch.clock.set(u64::try_from(now.as_millis()).expect("a time") - 60_000);
    let program = scratch.save("1", 0, scratch.unforeseen()).expect("something to save");
    let tool = scratch.call("2", scratch.changes(&[("a", Write)]), "echo theirs > a");
    scratch.run("echo built > out; echo built > src/b");
    scratch.finish("1");
    let (undone, conflicts) = scratch.undo(&[&program.id], false);
    assert_eq!(
        conflicts,
        [format!("{}: call {tool}, which ran at the same time, changed it as well", scratch.path("a"))]
    );
    assert_eq!((undone.restored.len(), undone.failed), (2, vec![]));
    let read = |path: &str| std::fs::read_to_string(scratch.root().join(path)).unwrap_or_default();
    assert_eq!((read("a"), read("src/b"), read("out")), ("theirs\n".into(), "two\n".into(), String::new()));
    // Undone together, both are.
    let (undone, conflicts) = scratch.undo(&[&program.id, &tool], false);
    assert_eq!((undone.failed, conflicts), (vec![], vec![]));
    assert_eq!(read("a"), "one\n");
}

#[test]
fn calls_at_the_same_time_do_not_undo_each_other() {
    let git = |scratch: &Scratch, command: &str| scratch.git(command);
    let of = |paths: Paths<'static>| move |scratch: &Scratch, _: &str| scratch.changes(paths);
    type Make<'a> = &'a dyn Fn(&Scratch, &str) -> Changes;
    let (write_a, remove_src, write_new) = (of(&[("a", Write)]), of(&[("src", Delete)]), of(&[("src/new", Write)]));
    // The call that is undone with its text, the other one with its text, and what is as the other one left it.
    let cases: [(Make<'_>, &str, Make<'_>, &str, &str); 4] = [
        (&write_a, "echo 1 > a", &write_a, "echo 2 > a", "cat a"),
        (&remove_src, "rm -r src", &write_new, "mkdir -p src; echo 2 > src/new", "cat src/new"),
        (&git, "git tag x", &git, "git commit -qam theirs", "git rev-parse HEAD"),
        (&git, "git stash push -q a", &git, "git stash push -q src", "git stash list"),
    ];
    let name =
        |text: &str| text.strip_prefix("git ").and_then(|text| text.split(' ').next()).unwrap_or_default().to_owned();
    for (one, own, other, theirs, look) in cases {
        let scratch = Scratch::new(REPOSITORY);
        scratch.run("echo 0 >> a; echo 0 >> src/c");
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time");
        scratch.clock.set(u64::try_from(now.as_millis()).expect("a time") - 60_000);
        let saved = scratch.save("1", 0, one(&scratch, &name(own))).expect("something to save");
        scratch.save("2", 0, other(&scratch, &name(theirs))).expect("something to save");
        scratch.run(own);
        scratch.run(theirs);
        let seen = || {
            scratch.run(&format!("{look} > ../seen"));
            std::fs::read_to_string(scratch.root().join("../seen")).expect("what it says")
        };
        let left = seen();
        // The other one may still run.
        for finished in ["1", "2"] {
            scratch.finish(finished);
            let (_, conflicts) = scratch.undo(&[&saved.id], false);
            assert!(conflicts.iter().any(|one| one.contains("at the same time")), "{own}; {theirs}: {conflicts:?}");
            assert_eq!(seen(), left, "{own}; {theirs}");
        }
    }
}

#[test]
fn what_was_changed_since_is_a_conflict() {
    let cases: &[(Paths<'_>, &str, &str, usize)] = &[
        (&[("a", Write)], "echo other > a", "echo mine > a", 1),
        (&[("new", Create)], "echo x > new", "echo mine >> new", 1),
        (&[("a", Delete)], "rm a", "echo mine > a", 1),
        (&[("src", Delete)], "rm -r src", "mkdir src; echo mine > src/own", 0),
        (&[("new", Create)], "mkdir new; echo x > new/x", "echo mine > new/own", 1),
        (&[("a", Write)], "echo other > a", "rm a", 1),
        (&[("a", Write)], "echo other > a", "rm a; ln -s src/b a", 1),
        (&[("src/b", Write)], "echo other > src/b", "mv src real; ln -s real src", 1),
        (&[("a", Write)], "echo other > a", "echo mine > src/b", 0),
    ];
    for (paths, text, since, expected) in cases {
        let scratch = Scratch::new(FILES);
        let id = scratch.call("1", scratch.changes(paths), text);
        scratch.run(since);
        let mine = scratch.tree();
        let (undone, conflicts) = scratch.undo(&[&id], false);
        assert_eq!(undone.failed, [""; 0], "{since}");
        assert_eq!(conflicts.len(), *expected, "{since}: {conflicts:?}");
        if *expected == 1 && undone.id.is_none() {
            assert_eq!(scratch.tree(), mine, "{since}");
        }
    }
}

#[test]
fn several_calls_are_undone_together_and_one_file_alone() {
    let scratch = Scratch::new(FILES);
    let before = scratch.tree();
    let first = scratch.call("1", scratch.changes(&[("a", Write)]), "echo 1 > a");
    let second = scratch.call("2", scratch.changes(&[("a", Append), ("src/b", Delete)]), "echo 2 >> a; rm src/b");
    let third = scratch.call("3", scratch.changes(&[("a", Delete)]), "rm a");
    let (undone, conflicts) = scratch.undo_only(&[&second], &["src"], false);
    assert_eq!((undone.restored.len(), conflicts.len()), (1, 0), "{conflicts:?}");
    let (undone, conflicts) = scratch.undo(&[&first, &second, &third], false);
    assert_eq!((undone.failed, conflicts), (vec![], vec![]));
    assert_eq!(scratch.tree(), before);
    // Somebody else's work between two calls is not lost with them.
    let scratch = Scratch::new(FILES);
    let first = scratch.call("1", scratch.changes(&[("a", Write)]), "echo 1 > a");
    scratch.run("echo mine > a");
    let second = scratch.call("2", scratch.changes(&[("a", Append)]), "echo 2 >> a");
    let (_, conflicts) = scratch.undo(&[&first, &second], false);
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    let (undone, _) = scratch.undo(&[&first, &second], true);
    assert_eq!(undone.restored.len(), 1);
}

#[test]
fn commits_between_two_calls_are_not_lost_with_them() {
    for (between, conflicts) in [("git commit -qam mine", 1), ("true", 0)] {
        let scratch = Scratch::new(REPOSITORY);
        let first = scratch.call("1", scratch.git("branch"), "git branch -q -D topic");
        scratch.run(between);
        let second = scratch.call("2", scratch.git("commit"), "git commit -q --allow-empty -m theirs");
        let (_, found) = scratch.undo(&[&first, &second], false);
        assert_eq!(found.iter().filter(|one| one.contains("between these calls")).count(), conflicts, "{found:?}");
        let log = scratch.tree().remove(Path::new("git rev-parse HEAD")).expect("a commit").1;
        scratch.run(&format!("git log --format=%s {} > ../log", log.trim()));
        let log = std::fs::read_to_string(scratch.root().join("../log")).expect("the log");
        assert_eq!((log.contains("mine"), log.contains("theirs")), (conflicts == 1, false), "{log}");
    }
}

#[test]
fn a_call_whose_end_is_not_known_needs_force_for_what_is_there() {
    let scratch = Scratch::new(FILES);
    let before = scratch.tree();
    let saved = scratch.save("1", 0, scratch.changes(&[("a", Write), ("src/b", Delete)])).expect("something");
    scratch.run("echo other > a; rm src/b");
    let (_, conflicts) = scratch.undo(&[&saved.id], false);
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    assert!(scratch.root().join("src/b").exists(), "nothing is lost by that");
    let (_, conflicts) = scratch.undo(&[&saved.id], true);
    assert_eq!(conflicts, [""; 0]);
    assert_eq!(scratch.tree(), before);
}

#[test]
fn what_rules_keep_from_being_read_is_not_copied() {
    let secret = |path: &str| path.ends_with(".env");
    for (prepare, foreseen) in [(FILES, true), (FILES, false), (REPOSITORY, true), (REPOSITORY, false)] {
        let scratch = Scratch::new(&format!("{prepare}; echo KEY=verysecret > .env; echo KEY=verysecret > src/.env"));
        let changes = match foreseen {
            true => scratch.changes(&[(".env", Write), ("src", Delete)]),
            false => scratch.unforeseen(),
        };
        let saved = scratch.save_withheld("1", 0, changes, &secret).expect("something to save");
        assert!(saved.left_out.iter().any(|left| left.to_string().contains(".env")), "{:?}", saved.left_out);
        scratch.run("echo KEY=verysecret2 > .env; rm -r src");
        scratch.finish("1");
        let (_, conflicts) = scratch.undo(&[&saved.id], false);
        assert_eq!(conflicts, [""; 0]);
        assert!(scratch.root().join(".env").exists(), "what was left out is not removed");
        scratch.stores_nothing_of(b"verysecret");
    }
}

/// Rules speak of a path as a person writes it, who may not know that a link is on the way.
#[test]
fn what_rules_keep_from_being_read_by_a_name_with_a_link_is_not_copied() {
    let kept = |path: &str| path.contains("/kube/");
    for paths in [&[("kube/config", Write)] as Paths<'_>, &[("a", Write), ("kube/config", Delete)], &[("kube/", Mode)]]
    {
        let scratch = Scratch::new(&format!("{FILES}; mkdir real; echo KEY=verysecret > real/config; ln -s real kube"));
        let mut changes = scratch.changes(paths);
        changes.paths.iter_mut().for_each(|change| change.recursive |= change.kind == Mode);
        let saved = scratch.save_withheld("1", 0, changes, &kept).expect("something to save");
        assert!(
            saved.left_out.iter().any(|left| left.to_string().contains("config")),
            "{paths:?} {:?}",
            saved.left_out
        );
        scratch.stores_nothing_of(b"verysecret");
    }
}

/// A file that git ignored is none that the call made, though the call changed what is ignored.
#[test]
fn what_was_ignored_before_is_not_removed() {
    let scratch = Scratch::new(&format!("{REPOSITORY}; echo dev.sqlite >> .gitignore; echo 1 > dev.sqlite"));
    let mut changes = scratch.unforeseen();
    changes.paths = scratch.changes(&[(".gitignore", Write)]).paths;
    let id = scratch.call("1", changes, ": > .gitignore; echo 2 >> dev.sqlite");
    let (undone, conflicts) = scratch.undo(&[&id], false);
    let there = std::fs::read_to_string(scratch.root().join("dev.sqlite"));
    assert_eq!(there.expect("it is there"), "1\n2\n", "{undone:?}");
    assert!(conflicts.iter().any(|one| one.contains("dev.sqlite")), "{conflicts:?} {undone:?}");
}

#[test]
fn a_merge_that_a_reset_forgets_is_put_back() {
    const MERGE: &str = "git switch -q -c side; echo s > side; git add side; git commit -qm side; git switch -q -; \
        git merge -q --no-commit --no-ff side";
    let scratch = Scratch::new(&format!("{REPOSITORY}; git stash -q; {MERGE}"));
    let merged = std::fs::read(scratch.root().join(".git/MERGE_HEAD")).expect("a merge is under way");
    let id = scratch.call("1", scratch.git("reset"), "git reset -q --hard");
    assert!(!scratch.root().join(".git/MERGE_HEAD").exists());
    let (_, conflicts) = scratch.undo(&[&id], false);
    assert_eq!(conflicts, [""; 0]);
    assert_eq!(std::fs::read(scratch.root().join(".git/MERGE_HEAD")).expect("it is back"), merged);
    assert!(scratch.root().join("side").exists());
}

/// A merge that the call began goes with it: the next commit would be one, without what the other side has.
#[test]
fn a_merge_that_a_call_began_is_taken_back() {
    const SIDE: &str =
        "git stash -q; git switch -q -c side; echo s > side; git add side; git commit -qm side; git switch -q -";
    let scratch = Scratch::new(&format!("{REPOSITORY}; {SIDE}"));
    let before = scratch.tree();
    let id = scratch.call("1", scratch.git("merge"), "git merge -q --no-commit --no-ff side");
    let merge = scratch.root().join(".git/MERGE_HEAD");
    assert!(merge.exists());
    let (_, conflicts) = scratch.undo_only(&[&id], &["."], false);
    assert_eq!((conflicts.len(), merge.exists()), (0, true), "with some files it stays as it is: {conflicts:?}");
    scratch.run("git merge --abort");
    let id = scratch.call("3", scratch.git("merge"), "git merge -q --no-commit --no-ff side");
    let (_, conflicts) = scratch.undo(&[&id], false);
    assert_eq!((conflicts.len(), merge.exists()), (0, false), "{conflicts:?}");
    assert_eq!(scratch.tree(), before);
}

/// A file of settings is one like others, also where only that is undone.
#[test]
fn settings_of_git_alone_are_put_back() {
    let scratch = Scratch::new(REPOSITORY);
    let config = || std::fs::read_to_string(scratch.root().join(".git/config")).expect("the settings");
    let before = config();
    let id = scratch.call("1", scratch.git("config"), "git config a.b c");
    assert_ne!(config(), before);
    let (_, conflicts) = scratch.undo_only(&[&id], &[".git/config"], false);
    assert_eq!((conflicts.len(), config()), (0, before), "{conflicts:?}");
}

#[test]
fn folders_that_are_made_again_are_not_from_1970() {
    let scratch = Scratch::new(REPOSITORY);
    let id = scratch.call("1", scratch.unforeseen(), "rm -r src");
    let (_, conflicts) = scratch.undo(&[&id], false);
    assert_eq!(conflicts, [""; 0]);
    let modified = scratch.root().join("src").metadata().expect("it is back").mtime();
    assert!(modified > 1_000_000_000, "{modified}");
}

/// What git had once, and has no more, is in an index of Toolgate's own.
#[test]
fn a_secret_that_was_in_a_commit_is_not_copied() {
    let secret = |path: &str| path.ends_with(".env");
    let scratch = Scratch::new(&format!("{REPOSITORY}; echo KEY=verysecret > .env; git add .env; git commit -qm oops"));
    scratch.save_withheld("1", 0, scratch.unforeseen(), &secret).expect("something to save");
    scratch.run("git rm -q --cached .env; echo .env >> .gitignore; git commit -qam ignored");
    for call in ["2", "3"] {
        scratch.save_withheld(call, 0, scratch.unforeseen(), &secret).expect("something to save");
        scratch.stores_nothing_of(b"verysecret");
    }
}

impl Scratch {
    /// Looks for a content in all that is stored.
    fn stores_nothing_of(&self, secret: &[u8]) {
        let mut folders = vec![self.folder.path().join("state")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
                if entry.is_dir() {
                    folders.push(entry);
                } else {
                    let content = std::fs::read(&entry).expect("a file");
                    assert!(!contains(&content, secret), "{}", entry.display());
                }
            }
        }
        // Git compresses what it has.
        let own = self.folder.path().join("state/undo/git");
        for own in std::fs::read_dir(own).into_iter().flatten().flatten() {
            let mut ask = Command::new("git");
            ask.arg("--git-dir").arg(own.path()).args(["cat-file", "--batch-all-objects", "--batch"]);
            assert!(!contains(&ask.output().expect("git").stdout, secret), "{}", own.path().display());
        }
    }
}

fn contains(content: &[u8], part: &[u8]) -> bool {
    content.windows(part.len()).any(|window| window == part)
}

#[test]
fn what_is_at_stake_is_counted() {
    let cases = [
        ("src", (1, 18), Some(1)),
        ("a", (1, 9), Some(0)),
        ("a untracked", (2, 13), Some(1)),
        ("a b src untracked", (4, 42), Some(3)),
        ("nothing", (0, 0), None),
        (".git", (0, 0), None),
    ];
    let scratch = Scratch::new(REPOSITORY);
    for (paths, removed, uncommitted) in cases {
        let changes = scratch.changes(&paths.split(' ').map(|path| (path, Delete)).collect::<Vec<_>>());
        let pending = scratch.calls.look(&[changes], CallRef::default()).expect("looked at").expect("something");
        let none = vec![false; pending.paths().len()];
        let saved = pending.for_a_question(true).save(Some(&none), scratch.now()).expect("saved");
        assert_eq!((saved.removed, saved.uncommitted), (removed, uncommitted), "{paths:?}");
    }
}

#[test]
fn the_store_is_the_users_alone_and_tidied() {
    let scratch = Scratch::new(FILES);
    scratch.call("1", scratch.changes(&[("a", Write)]), "echo other > a");
    let store = scratch.folder.path().join("state/undo");
    assert_eq!(store.metadata().expect("the store").permissions().mode() & 0o777, 0o700);
    let later = SystemTime::UNIX_EPOCH + Duration::from_secs(1_900_000_000);
    scratch.calls.tidy(later).expect("tidied");
    let store = scratch.calls.store().expect("a store").expect("one");
    assert_eq!(store.ids().expect("ids"), [""; 0]);
}

#[test]
fn without_room_nothing_is_saved_and_that_is_said() {
    let scratch = Scratch::new(FILES);
    let limits = Limits { free: u64::MAX, ..Limits::DEFAULT };
    let calls = Calls::new(scratch.folder.path().canonicalize().expect("a path").join("state/undo"), limits);
    let found = calls.look(&[scratch.changes(&[("a", Write)])], CallRef::default());
    assert!(matches!(found, Err(UndoError::Full { .. })));
}
