//! Verdicts that depend on what is there: files, folders, links, scripts, and the user's own rules. The cases are in
//! `files.jsonl`, one a line: `files` (a folder ends in `/`), `links`, `hidden` and `scripts` beside what is judged, `content` what a
//! file tool writes, and what is expected. In `held.jsonl` git holds some of the files, which are the same in each case but for
//! what it says. In `sessions.jsonl` `before` has the calls that were made earlier, each a command or as a case has them, and the files
//! are as those have left them. In `plain-work-files.jsonl` git knows of the files that `changed` names, or gives no answer (`git`: false).

use std::rc::Rc;

use crate::cases::{WORKSPACE, call, named};
use serde_json::Value;
use toolgate_rules::call::{Call, Memory};
use toolgate_rules::facts::{Answers, PathKind, Remembered};
use toolgate_rules::{Guard, GuardHost, Layer, Tracked};
use toolgate_shell::FileOracle;
use toolgate_test_support::cases;
use toolgate_test_support::cases::Cases;

/// The files of a case.
#[derive(Clone)]
pub(crate) struct Disk(pub(crate) Rc<Value>);

impl Disk {
    fn names(&self, key: &str) -> impl Iterator<Item = &str> {
        self.0[key].as_array().into_iter().flatten().map(|name| name.as_str().expect("a path"))
    }

    fn link(&self, path: &str) -> Option<&str> {
        self.0["links"].get(path).map(|to| to.as_str().expect("a path"))
    }

    /// With the links above the last part resolved, or all of them.
    fn real(&self, path: &str, last: bool) -> String {
        let mut real = String::new();
        let mut parts = path.split('/').filter(|part| !part.is_empty()).peekable();
        while let Some(part) = parts.next() {
            real = format!("{real}/{part}");
            if (last || parts.peek().is_some())
                && let Some(to) = self.link(&real)
            {
                real = self.real(to, true);
            }
        }
        if real.is_empty() { "/".to_owned() } else { real }
    }

    fn found(&self, path: &str) -> PathKind {
        let below = |name: &str, folder: &str| folder == "/" || name.starts_with(&format!("{folder}/"));
        let path = self.real(path, false);
        let scripts = self.0["scripts"].as_object().into_iter().flat_map(|scripts| scripts.keys().map(String::as_str));
        let mut all = self.names("files").chain(scripts).chain([WORKSPACE, "/home/dev/project/"]);
        match () {
            () if self.link(&path).is_some() => PathKind::Link,
            () if self.names("hidden").any(|name| name == path || below(&path, name)) => PathKind::Hidden,
            () if all.any(|name| below(name, &path)) => PathKind::Folder,
            () if self.names("files").any(|name| name == path) => PathKind::File,
            () if self.0["scripts"].get(&path).is_some() => PathKind::File,
            () => PathKind::Nothing,
        }
    }
}

impl Answers for Disk {
    fn stat(&self, paths: &[String]) -> Option<Vec<PathKind>> {
        Some(paths.iter().map(|path| self.found(path)).collect())
    }

    fn resolve(&self, path: &str) -> Option<Option<(String, bool)>> {
        let real = self.real(path, true);
        let exists = self.found(&real) != PathKind::Nothing;
        Some(Some((real, exists)))
    }

    fn script(&self, path: &str) -> Option<String> {
        self.0["scripts"].get(self.real(path, true))?.as_str().map(str::to_owned)
    }
}

impl GuardHost for Disk {
    fn resolve(&mut self, paths: &[String]) -> Result<Vec<Option<String>>, String> {
        Ok(paths.iter().map(|path| Some(self.real(path, true))).collect())
    }

    fn holds(&mut self, path: &str) -> bool {
        self.0["held"].as_array().is_some_and(|held| held.iter().any(|one| one == path))
    }

    fn changed_below(&mut self, folder: &str) -> Option<Vec<String>> {
        let changed = self.0["changed"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let below = |file: &&str| file.starts_with(&format!("{folder}/"));
        // Git may give no answer.
        (self.0["git"] != false).then(|| changed.filter(below).map(str::to_owned).collect())
    }

    fn merged(&mut self, folder: &str, branch: &str) -> bool {
        folder == WORKSPACE && self.0["merged"].as_array().is_some_and(|all| all.iter().any(|one| one == branch))
    }

    fn tracked(&mut self, path: &str) -> Option<Tracked> {
        match self.0["tracked"][path.strip_prefix(WORKSPACE)?.trim_start_matches('/')].as_str()? {
            "held" => Some(Tracked::Held),
            "changed" => Some(Tracked::Changed),
            "untracked" => Some(Tracked::Untracked),
            "ignored" => Some(Tracked::Ignored),
            other => panic!("unknown: {other}"),
        }
    }

    fn branch(&mut self, _: &str) -> Option<Option<String>> {
        self.0["branch"].as_str().map(|branch| Some(branch.to_owned()))
    }

    fn is_only_on(&mut self, _: &str, branch: &str) -> bool {
        self.0["branch"] == branch && self.0["pushed"] != true
    }

    fn is_clean(&mut self, folder: &str) -> bool {
        self.0["clean"].as_array().is_some_and(|clean| clean.iter().any(|one| one == folder))
    }

    fn differs(&mut self, root: &str, commit: &str, file: &str) -> Option<bool> {
        let others = self.0["commits"][commit].as_array().filter(|_| root == WORKSPACE)?;
        Some(others.iter().any(|other| other == file))
    }

    fn look(&mut self) -> Option<Rc<dyn FileOracle>> {
        Some(Rc::new(Remembered::new(self.clone())))
    }
}

#[test]
fn every_case_gets_its_verdict() {
    verdicts(&cases!("files.jsonl"), &serde_json::Map::new());
}

/// Everyday work around keys, queries and folders with changes, where it depends on what is there.
#[test]
fn plain_work_among_files_gets_its_verdicts() {
    verdicts(&cases!("plain-work-files.jsonl"), &serde_json::Map::new());
}

/// Harm out of public bug reports that depends on what is there.
#[test]
fn what_people_reported_gets_its_verdicts() {
    let at = |path: &str| format!("{WORKSPACE}/{path}");
    let there = serde_json::json!({
        "files": (["", "a", "b", "c", "a.txt", "b.txt", "x.txt", "f", "d/", "d/g", ".git/", "assets/", "assets/x.png", "assets/log/",
            "data/", "data/backup.sql", "wt/", "wt/.git"].map(at)),
    });
    verdicts(&cases!("reported-files.jsonl"), there.as_object().expect("an object"));
}

#[test]
fn what_git_holds_may_be_overwritten() {
    let at = |path: &str| format!("{WORKSPACE}/{path}");
    let there = serde_json::json!({
        "files": (["", "f", "g", "src/", "src/g", "src/h", ".git/"].map(at)),
        "links": {(at("link")): (at("src"))},
        "merged": ["old", "feature/x"],
        // What a link leads to is held as well.
        "held": (["f", "src/g", "link/f", "link/g"].map(at)),
    });
    verdicts(&cases!("held.jsonl"), there.as_object().expect("an object"));
}

/// Repositories beside the workspace in which somebody works, and what only looks like one. `x`, `a` and `b` are repositories,
/// `wt` and those below `worktrees` worktrees of the workspace's.
#[test]
fn what_somebody_works_in_is_a_workspace() {
    let repositories = [
        "/home/dev/packages/x",
        "/home/dev/a",
        "/home/dev/b",
        "/home/dev/project",
        "/mnt/d/P",
        "/var/www/site",
        "/home/dev/.dotfiles",
        "/home/dev/.config/nvim",
        "/home/other/z",
        "/srv/app",
        "/opt/tool",
        "/home/dev/mono",
    ];
    let names = [".git/HEAD", "a", "src/s", "node_modules/m/i.js", ".next/i", "tsconfig.json", "dist/i.js"];
    let own = repositories.iter().flat_map(|root| names.map(|name| format!("{root}/{name}")));
    let others = [
        "/home/dev/Documents/d",
        "/home/dev/Documents/Photos/p",
        "/home/dev/notes.txt",
        "/home/dev/mono/pkg/b/dist/x",
        "/home/dev/mono/pkg/a/f",
    ];
    let trees = [
        ("/home/dev/wt", "wt"),
        ("/home/dev/project/.claude/worktrees/w1", "w1"),
        ("/home/dev/project/.worktrees/d", "d"),
        ("/home/dev/.codex/worktrees/1a/project", "cx"),
        ("/home/dev/.cursor/worktrees/project/ab", "cu"),
    ];
    let in_trees =
        trees.iter().flat_map(|(root, _)| ["a", "src/s", "node_modules/m/i.js"].map(|name| format!("{root}/{name}")));
    let files: Vec<String> = own.chain(others.map(str::to_owned)).chain(in_trees).collect();
    let mut scripts = serde_json::Map::new();
    for (root, name) in trees {
        let entry = format!("/home/dev/project/.git/worktrees/{name}");
        scripts.insert(format!("{root}/.git"), format!("gitdir: {entry}\n").into());
        scripts.insert(format!("{entry}/gitdir"), format!("{root}/.git\n").into());
    }
    // Files that say of a folder that it is one, of which the repository says another, or nothing.
    scripts.insert("/home/dev/fake/.git".to_owned(), "gitdir: /home/dev/project/.git/worktrees/wt\n".into());
    scripts.insert("/home/dev/fake/f".to_owned(), "".into());
    scripts.insert("/home/dev/x/lib/.git".to_owned(), "gitdir: ../../packages/x/.git/modules/lib\n".into());
    scripts.insert("/home/dev/packages/x/lib/.git".to_owned(), "gitdir: ../.git/modules/lib\n".into());
    let there = serde_json::json!({
        "files": files,
        "scripts": scripts,
        "links": {"/home/dev/P": "/mnt/d/P", "/home/dev/packages/x/out": "/home/dev/Documents", "/home/dev/packages/x/n": "/home/dev/notes.txt", "/home/dev/l": "/home/dev/packages/x",
            "/home/dev/linked/.git": "/home/dev/project/.git"},
        "clean": ["/home/dev/wt", "/home/dev/project/.claude/worktrees/w1"],
    });
    verdicts(&cases!("at-work-files.jsonl"), there.as_object().expect("an object"));
}

/// Files of the project that have the agent ask Toolgate, and git commands that take them away.
#[test]
fn what_takes_settings_away_asks() {
    let at = |path: &str| format!("{WORKSPACE}/{path}");
    let there = serde_json::json!({
        "files": (["", "a", "src/", "src/a", ".git/", ".claude/", ".claude/settings.json", ".claude/settings.local.json",
            ".codex/", ".codex/hooks.json", ".toolgate.yaml"].map(at)),
        "scripts": {
            (at(".claude/settings.json")): "{\"hooks\": \"/usr/local/bin/toolgate hook claude\"}",
            (at(".claude/settings.local.json")): "{\"hooks\": \"toolgate\"}",
            (at(".codex/hooks.json")): "{}",
        },
        "tracked": {
            ".claude/settings.json": "held", ".claude/settings.local.json": "ignored", ".codex/hooks.json": "untracked",
            ".toolgate.yaml": "untracked",
        },
        "commits": {
            "main": [], "HEAD": [], "@{-1}": [], "feature": [], "old": [".claude/settings.json"], "HEAD~3": [".claude/settings.json"],
            "added": [], "added^": [".claude/settings.json"], "other": [], "other^": [],
        },
    });
    verdicts(&cases!("settings.jsonl"), there.as_object().expect("an object"));
}

/// Work that no commit has, and the ways of losing it: by lists that programs print, by globs, by moving, through links, by git.
#[test]
fn uncommitted_work_is_not_lost_unasked() {
    let at = |path: &str| format!("{WORKSPACE}/{path}");
    let there = serde_json::json!({
        "files": (["", ".git/HEAD", "README.md", "Makefile", "package.json", "notes.txt", "notes.md", "debug.log", ".env", "src/engine.py", "src/b.py",
            "src/c.py", "src/untracked.py", "lib/x.sh", "lib/y.sh", "build/o", "node_modules/m/i.js"].map(at)
            .into_iter().chain(["/tmp/own/.git/HEAD", "/tmp/common/.git/commondir", "/tmp/bare/commondir"].map(str::to_owned))
            .collect::<Vec<_>>()),
        "links": {"/tmp/p": WORKSPACE},
        // A worktree of the repository, and a copy of it.
        "scripts": {
            "/tmp/w9/.git": format!("gitdir: {WORKSPACE}/.git/worktrees/w9\n"),
            "/tmp/copied/.git": format!("gitdir: {WORKSPACE}/.git/worktrees/w9\n"),
            (at(".git/worktrees/w9/gitdir")): "/tmp/w9/.git\n",
        },
        "held": (["README.md", "Makefile", "package.json", "src/b.py", "src/c.py", "lib/x.sh", "lib/y.sh"].map(at)),
        "changed": (["src/engine.py", "src/untracked.py", "notes.txt"].map(at)),
        "tracked": {
            "README.md": "held", "Makefile": "held", "package.json": "held", "src/b.py": "held", "src/c.py": "held",
            "lib/x.sh": "held", "lib/y.sh": "held", "src/engine.py": "changed", "src/untracked.py": "untracked",
            "notes.txt": "untracked", "notes.md": "untracked", "debug.log": "untracked", ".env": "ignored", "build/o": "ignored", "node_modules/m/i.js": "ignored",
        },
    });
    verdicts(&cases!("uncommitted.jsonl"), there.as_object().expect("an object"));
}

/// What commands take from files, options and the folders around: lists, roots of projects, arguments of scripts.
#[test]
fn values_from_files_and_options_get_their_verdicts() {
    let at = |path: &str| format!("{WORKSPACE}/{path}");
    let there = serde_json::json!({
        "files": [(at("src/a.rs")), (at("build/a.o")), (at(".git/HEAD")), "/home/dev/Documents/a.md", "/home/dev/Documents/b.md", "/home/dev/other/a.txt", "/home/dev/src/x"],
        "scripts": {
            (at("x.txt")): "/home/dev/Documents/a.md\n/home/dev/Documents/b.md\n",
            (at("ok.txt")): "build/a.o\nbuild/b.o\n",
            (at("list.json")): "{\"paths\": [\"/home/dev/Documents/a.md\"], \"ok\": [\"build/a.o\"]}",
            (at("t.csv")): "1,/home/dev/Documents/a.md\n2,build/a.o\n",
            (at("rel.txt")): "# old\n../other/a.txt\n",
            (at("conf")): "OUT=/home/dev/Documents\n",
            (at("conf.json")): "{\"out\": \"/home/dev/Documents\", \"version\": \"1.2\"}",
            (at("e.sh")): "#!/bin/bash\nrm -rf \"$OUT\"\n",
            (at("g.sh")): "#!/bin/bash\n. ./conf\nrm -rf \"$OUT\"\n",
            (at("h.sh")): "#!/bin/bash\nOUT=$(jq -r .out conf.json)\nrm -rf \"$OUT\"\n",
            (at("globs.txt")): "/home/dev/Documents/*.md\n",
            (at("long.txt")): (0..300).map(|n| format!("build/{n}.o\n")).chain(["/home/dev/Documents/a.md\n".to_owned()]).collect::<String>(),
            (at("many.txt")): (0..300).map(|n| format!("build/{n}.o\n")).collect::<String>(),
            (at("two.txt")): "a /home/dev/Documents/a.md\n",
            (at("requirements.txt")): "flask==1\n",
            (at("urls.txt")): "https://a.example/x\n",
            (at("dirs.txt")): "build\ndist\n",
            (at("status")): "running\n",
            (at("out.txt")): "/home/dev/Documents\n",
            (at("c.sh")): "#!/bin/bash\nwhile getopts \"d:vh\" o; do\n  case $o in\n    d) DIR=$OPTARG;;\n    v) V=1;;\n    *) exit 1;;\n  esac\ndone\nshift $((OPTIND-1))\nrm -rf \"$DIR\"\n",
            (at("b.sh")): "#!/bin/bash\ncd \"$(dirname \"${BASH_SOURCE[0]}\")\"/..\nrm -rf other\n",
            (at("r.sh")): "#!/bin/bash\nROOT=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\"\nrm -rf \"$ROOT/build\"\n",
            (at("z.sh")): "#!/bin/bash\nROOT=\"$(cd \"$(dirname \"$0\")\" && pwd)\"\nrm -rf \"$ROOT/../other\"\n",
            (at("c.py")): "import argparse, shutil\np = argparse.ArgumentParser()\np.add_argument(\"--out\", default=\"/home/dev/Documents\")\na = p.parse_args()\nshutil.rmtree(a.out)\n",
            (at("d.py")): "import argparse, shutil\np = argparse.ArgumentParser()\np.add_argument(\"--out\", default=\"build\")\na = p.parse_args()\nshutil.rmtree(a.out)\n",
        },
    });
    verdicts(&cases!("values.jsonl"), there.as_object().expect("an object"));
}

/// Exemptions that name a rule and nothing else.
#[test]
fn a_rule_that_is_lifted_as_a_whole_stops_nothing() {
    verdicts(&cases!("exemptions.jsonl"), &serde_json::Map::new());
}

/// The call of a case, with what the calls before it have left behind. Each of them was made.
fn after_others(case: &Value, guard: &Guard, disk: &mut Disk) -> Call {
    let mut earlier = Memory::read(&case["memory"]);
    for before in case["before"].as_array().into_iter().flatten() {
        let before = if before.is_string() { serde_json::json!({ "command": before }) } else { before.clone() };
        let call = Call { earlier: earlier.clone(), ..call(&before) };
        if let Some(memory) = guard.judge(&call, disk).memory {
            earlier = Memory::read(&serde_json::from_str(&memory.text()).expect("JSON"));
        }
    }
    Call { earlier, ..call(case) }
}

/// What one call has written, and another runs.
#[test]
fn what_the_session_wrote_is_read_where_it_runs() {
    verdicts(&cases!("sessions.jsonl"), &serde_json::Map::new());
}

/// Secrets that are put into variables, files and commits, in one call or before, and leave from there. The workspace has a file of
/// variables.
#[test]
fn secrets_are_followed_to_where_they_leave() {
    let at = |path: &str| format!("{WORKSPACE}/{path}");
    let there = serde_json::json!({
        "files": (["", ".git/HEAD", ".env", ".gitignore", "README.md", "e", "f", "t.yaml", "src/a.py", "dist/i.html", "docs/a.md"].map(at)),
        "tracked": { ".env": "ignored", "README.md": "held" },
    });
    verdicts(&cases!("secrets.jsonl"), there.as_object().expect("an object"));
}

/// Judges each case, with what holds for all where it does not say another.
fn verdicts(cases: &Cases, all: &serde_json::Map<String, Value>) {
    let built_in = Guard::new();
    cases.each(|line| {
        let mut case: Value = serde_json::from_str(line).expect("a case is JSON");
        for (key, value) in all {
            let own = case.as_object_mut().expect("an object");
            own.entry(key.clone()).or_insert_with(|| value.clone());
        }
        assert!(case["expect"] == "pass" || case["rule"].is_string(), "a case that stops names its rule");
        let own = case["rules"].as_str().map(|rules| {
            let mut guard = built_in.clone();
            assert_eq!(guard.load("rules.yaml", Layer::User, rules.as_bytes()), []);
            guard
        });
        let guard = own.as_ref().unwrap_or(&built_in);
        let mut disk = Disk(Rc::new(case.clone()));
        let verdict = guard.judge(&after_others(&case, guard, &mut disk), &mut disk);
        let got = named(&verdict);
        let right = got == case["expect"]
            && case["rule"].as_str().is_none_or(|rule| verdict.findings.iter().any(|finding| finding.rule == rule));
        let found = verdict.findings.iter();
        let found = found.map(|found| format!("\n  {:?} {}: {}", found.action, found.rule, found.reason));
        assert!(right, "got {got}{}", found.collect::<String>());
    });
}
