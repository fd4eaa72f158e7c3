//! Verdicts that depend on what is there: files, folders, links, scripts, and the user's own rules. The cases are in
//! `files.jsonl`, one a line: `files` (a folder ends in `/`), `links`, `hidden` and `scripts` beside what is judged, `content` what a
//! file tool writes, and what is expected. In `held.jsonl` git holds some of the files, which are the same in each case but for
//! what it says.

use std::rc::Rc;

use crate::cases::{WORKSPACE, call, named};
use serde_json::Value;
use toolgate_rules::facts::{Answers, PathKind, Remembered};
use toolgate_rules::{Guard, GuardHost, Layer, Tracked};
use toolgate_shell::FileOracle;
use toolgate_test_support::cases;
use toolgate_test_support::cases::Cases;

/// The files of a case.
#[derive(Clone)]
struct Disk(Rc<Value>);

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

/// Exemptions that name a rule and nothing else.
#[test]
fn a_rule_that_is_lifted_as_a_whole_stops_nothing() {
    verdicts(&cases!("exemptions.jsonl"), &serde_json::Map::new());
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
        let verdict = own.as_ref().unwrap_or(&built_in).judge(&call(&case), &mut Disk(Rc::new(case.clone())));
        let got = named(&verdict);
        let right = got == case["expect"]
            && case["rule"].as_str().is_none_or(|rule| verdict.findings.iter().any(|finding| finding.rule == rule));
        let found = verdict.findings.iter();
        let found = found.map(|found| format!("\n  {:?} {}: {}", found.action, found.rule, found.reason));
        assert!(right, "got {got}{}", found.collect::<String>());
    });
}
