//! Cases of this crate's own, one a line in the files beside this one: texts with the files, hints and commands that
//! bash makes of them. What a case does not name is not compared.
//!
//! The defaults are the directory `/p`, the home `/h` and no environment; `tree` lists all that exists. With `zsh` the
//! user's shell may be that.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value, json};
use toolgate_shell::{
    Command, Facts, FileOracle, Presence, Runs, detect_files, extract_shell_path_hints, normalize_path, parse,
};
use toolgate_test_support::cases;
use toolgate_test_support::cases::Cases;

/// What exists, by its path: `file`, `folder`.
struct Tree(BTreeMap<String, Presence>);

impl FileOracle for Tree {
    fn look(&self, path: &str) -> Presence {
        self.0.get(path).copied().unwrap_or(Presence::Absent)
    }
}

fn facts(case: &Value) -> Facts {
    let mut facts = Facts::new(case["cwd"].as_str().unwrap_or("/p"));
    if case["zsh"] == json!(true) {
        facts = facts.perhaps_zsh();
    }
    if case["home"] != json!(false) {
        facts = facts.home("/h");
    }
    for (name, value) in case["env"].as_object().into_iter().flatten() {
        facts = facts.variable(name, value.as_str().expect("text"));
    }
    if case["complete"] == json!(true) {
        facts = facts.complete();
    }
    if let Some(tree) = case["tree"].as_object() {
        let presence = |what: &Value| if what == "folder" { Presence::Folder } else { Presence::File };
        let tree = tree.iter().map(|(path, what)| (path.clone(), presence(what))).collect();
        facts = facts.files(Rc::new(Tree(tree)));
    }
    facts
}

/// Puts each case to `answer`, which gives what is ours for what the case expects.
fn hold(cases: &Cases, answer: impl Fn(&Value, &str) -> Value) {
    cases.each(|line| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let ours = answer(&case, case["command"].as_str().expect("a command"));
        assert!(ours == case["expect"], "got {ours}");
    });
}

/// `[written, read]`
#[test]
fn files() {
    hold(&cases!("files.jsonl"), |case, command| {
        let files = detect_files(command, &facts(case));
        json!([files.written, files.read])
    });
}

/// In the workspace `/p`, unless the case names another.
#[test]
fn hints() {
    hold(&cases!("hints.jsonl"), |case, command| {
        json!(extract_shell_path_hints(command, &facts(case), case["root"].as_str().unwrap_or("/p")))
    });
}

/// One object a command, in the order of the list.
#[test]
fn walks() {
    hold(&cases!("walk.jsonl"), |case, command| {
        let script = parse(command, &facts(case));
        let expected = case["expect"].as_array().expect("a list");
        let none = json!({});
        let ours = script.commands.iter().enumerate();
        ours.map(|(index, command)| shown(command, expected.get(index).unwrap_or(&none))).collect()
    });
}

/// What a case says of a command, as we have it; its words if it says nothing.
fn shown(command: &Command, expected: &Value) -> Value {
    let mut ours = json!({});
    let words = || command.words.iter().map(|word| word.known().filter(|_| !word.several)).collect::<Vec<_>>();
    let keys: Vec<&str> = expected.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    for key in if keys.is_empty() { vec!["words"] } else { keys } {
        ours[key] = match key {
            "words" => json!(words()),
            "cwd" => json!(command.cwd),
            "shell_cwd" => json!(command.shell_cwd),
            "via" => json!(command.via),
            "runs" => json!(match command.runs {
                Runs::Certainly => "certainly",
                Runs::Possibly => "possibly",
                Runs::Never => "never",
            }),
            "joiner" => json!(command.joiner.text().trim()),
            "set" => command.assignments.iter().map(|(name, word)| (name.clone(), json!(word.known()))).collect(),
            // Those that the case names; `false` stands for a name that is unset or of which nothing was said.
            "env" => {
                let names = expected["env"].as_object().into_iter().flatten().map(|(name, _)| name);
                let value = |name: &str| command.env.get(name).map_or(json!(false), |value| json!(value));
                names.map(|name| (name.clone(), value(name))).collect()
            }
            key => panic!("a case says {key} of a command"),
        };
    }
    ours
}

#[test]
fn paths_are_normalized_part_by_part() {
    let cases = [
        ("/project/a", "/project", None, "a"),
        ("/project/a", "/project/", None, "a"),
        ("/project/", "/project", None, "."),
        ("/projectX/a", "/project", None, "/projectX/a"),
        ("/project/../etc/a", "/project", None, "/etc/a"),
        ("/project//b/./c", "/project", None, "b/c"),
        ("~/a", "/project", Some("/h"), "/h/a"),
        ("~/project/a", "/h/project", Some("/h"), "a"),
        ("~//a", "/project", Some("/h"), "/h/a"),
        ("~/a", "/project", None, "~/a"),
        ("~other/a", "/project", Some("/h"), "~other/a"),
        ("./a/../b", "/project", Some("/h"), "./a/../b"),
        ("/etc/a", "/", None, "etc/a"),
        ("/", "/", None, "."),
        ("", "/project", None, ""),
    ];
    for (path, root, home, expected) in cases {
        assert_eq!(normalize_path(path, root, home), expected, "{path} in {root}");
    }
}
