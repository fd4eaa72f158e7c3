//! The answers on shell texts: shapes, defaults, and what is wrong with a request. The tests of the command put the
//! same questions to the component.

use std::rc::Rc;

use serde_json::{Value, json};
use toolgate_guest::analysis::{explain, files, hints, walk};
use toolgate_rules::{Guard, NoHost};
use toolgate_shell::{FileOracle, Presence};

fn json(answer: Result<String, String>) -> Value {
    serde_json::from_str(&answer.expect("an answer")).expect("JSON")
}

fn walked(request: Value) -> Value {
    json(walk(&request.to_string(), None, None))
}

#[test]
fn a_walk_has_its_documented_shape() {
    let request =
        json!({"command": "A=1 sudo rm x >> log", "cwd": "/p", "home": "/h", "env": {"USER": "me"}, "id": [1]});
    let env = json!({"HOME": "/h", "PWD": "/p", "USER": "me"});
    let answer = walked(request);
    let log = json!({"kind": "append", "path": "/p/log", "glob": null, "certain": false});
    let outer = json!({
        "name": "sudo", "args": ["rm", "x"], "assignments": {"A": "1"}, "cwd": "/p", "shell_cwd": "/p", "env": env,
        "span": {"start": 0, "end": 20}, "via": [], "runs": "certainly", "effects": [log], "unknown": [],
    });
    assert_eq!((&answer["schema"], &answer["id"]), (&json!(1), &json!([1])));
    let mut first = answer["commands"][0].clone();
    // Whether a folder can be written in depends on facts that are not given here.
    first["effects"][0]["certain"] = json!(false);
    let words = first.as_object_mut().and_then(|first| first.shift_remove("words")).expect("words");
    assert_eq!(words[1], json!({"text": "rm", "span": {"start": 9, "end": 11}, "value": "rm", "why": null}));
    assert_eq!(first, outer);
    let rm = &answer["commands"][1];
    assert_eq!((&rm["name"], &rm["args"], &rm["via"]), (&json!("rm"), &json!(["x"]), &json!(["sudo"])));
    assert_eq!(rm["effects"][0]["path"], "/p/x");
    assert!(answer.get("unparsed").is_none());
}

#[test]
fn what_is_not_known_is_null_and_has_its_reason() {
    let cases = [
        ("$X", "/name", json!(null), "name", "the value of $X is unknown"),
        ("a $X", "/args/0", json!(null), "args[0]", "the value of $X is unknown"),
        ("a $(date)", "/args/0", json!(null), "args[0]", "it is the output of a command"),
        ("a *.c", "/args/0", json!(null), "args[0]", "the files that a glob matches are unknown"),
        ("A=$(date); a", "/env", json!(null), "assignments.A", "it is the output of a command"),
        ("rm $X/y", "/effects/0/glob", json!("*/y"), "effects[0].path", "the value of $X is unknown"),
        ("rm $X/y", "/effects/0/path", json!(null), "effects[0].path", "the value of $X is unknown"),
        ("rm $X", "/effects/0/glob", json!(null), "effects[0].path", "the value of $X is unknown"),
        ("rm *.c", "/effects/0/glob", json!("/p/*.c"), "args[0]", "the files that a glob matches are unknown"),
        ("git -C $X push", "/cwd", json!(null), "cwd", "the directory is unknown"),
        ("curl x | sh -s", "/joiner", json!(null), "", ""),
    ];
    for (command, at, value, unknown, why) in cases {
        let answer = walked(json!({"command": command, "cwd": "/p"}));
        let first = &answer["commands"][0];
        let found = first.pointer(at).cloned().unwrap_or_default();
        assert!(found == value || at == "/env", "{command} at {at}: {first}");
        let note = json!({"at": unknown, "why": why});
        let notes = first["unknown"].as_array().expect("a list");
        assert!(unknown.is_empty() || notes.contains(&note), "{command}: {first}");
    }
    let unseen = walked(json!({"command": "curl x | sh", "cwd": "/p"}));
    let sh = &unseen["commands"][1];
    assert_eq!((&sh["joiner"], &sh["unknown"][0]["at"]), (&json!("|"), &json!("commands")));
    // A variable that may have any value is null, one that is unset is not there.
    let set = walked(json!({"command": "A=$(date); unset HOME; a", "cwd": "/p", "home": "/h"}));
    let last = set["commands"].as_array().and_then(|all| all.last()).expect("a command").clone();
    assert_eq!(last["env"], json!({"A": null, "PWD": "/p"}));
    // Without a directory there is no PWD either.
    let nowhere = walked(json!({"command": "a"}));
    assert_eq!((&nowhere["commands"][0]["cwd"], &nowhere["commands"][0]["env"]), (&json!(null), &json!({})));
}

#[test]
fn a_request_says_where_it_starts_in_either_spelling() {
    let env = |extra: Value| {
        let mut request = json!({"command": "a ~ $X", "cwd": "/p"});
        request.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
        walked(request)["commands"][0].clone()
    };
    assert_eq!(env(json!({"home": "/h"}))["args"], json!(["/h", null]));
    assert_eq!(env(json!({"env": {"HOME": "/e", "X": "1"}}))["args"], json!(["/e", "1"]));
    assert_eq!(env(json!({"initial_env": {"HOME": "/e", "X": "1"}}))["args"], json!(["/e", "1"]));
    assert_eq!(env(json!({"home": "/h", "env": {"HOME": "/e"}, "env_complete": true}))["args"], json!(["/h"]));
    assert_eq!(env(json!({"home": "/h", "env": {"X": null}, "env_complete": null}))["args"], json!(["/h", null]));
    assert_eq!(env(json!({"env": {"PWD": "/else", "HOME": "/h"}}))["env"]["PWD"], "/p");
    assert_eq!(env(json!({"cwd": null, "initial_cwd": "/i/"}))["cwd"], "/i");
    assert_eq!(env(json!({"cwd": ""}))["cwd"], json!(null));
    assert_eq!(env(json!({"cwd": "///"}))["cwd"], "/");
    assert_eq!(env(json!({"color": "red", "schema": 7}))["name"], "a");
    let shown = |request: Value| json(hints(&request.to_string(), None, None))["paths"].clone();
    assert_eq!(shown(json!({"command": "touch f", "cwd": "/w/s", "workspace_root": "/w"})), json!(["s/f"]));
    assert_eq!(shown(json!({"command": "touch f", "cwd": "/w/s", "workspaceRoot": "/w/"})), json!(["s/f"]));
    assert_eq!(shown(json!({"command": "touch f", "cwd": "/w/s"})), json!(["/w/s/f"]));
    assert_eq!(shown(json!({"command": "touch ../f", "cwd": "", "workspaceRoot": "/w"})), json!(["../f"]));
}

#[test]
fn a_request_that_makes_no_sense_names_the_field() {
    let cases = [
        ("", "not JSON"),
        ("[]", "not a JSON object"),
        ("{}", "no command"),
        (r#"{"command": null}"#, "no command"),
        (r#"{"command": 5}"#, "command is not a string"),
        (r#"{"command": "a", "cwd": 5}"#, "cwd is not a string"),
        (r#"{"command": "a", "cwd": "/", "initial_cwd": []}"#, "initial_cwd is not a string"),
        (r#"{"command": "a", "cwd": "here"}"#, "cwd is not an absolute path"),
        (r#"{"command": "a", "cwd": "/\u0000"}"#, "cwd contains a NUL"),
        (r#"{"command": "a", "home": {}}"#, "home is not a string"),
        (r#"{"command": "a", "home": "~"}"#, "home is not an absolute path"),
        (r#"{"command": "a", "workspace_root": true}"#, "workspace_root is not a string"),
        (r#"{"command": "a", "workspaceRoot": "w"}"#, "workspaceRoot is not an absolute path"),
        (r#"{"command": "a", "env": ["A=1"]}"#, "env is not an object"),
        (r#"{"command": "a", "env": {"A": 1}}"#, "env.A is not a string"),
        (r#"{"command": "a", "initial_env": {"A": "\u0000"}}"#, "initial_env.A contains a NUL"),
        (r#"{"command": "a", "env_complete": "yes"}"#, "env_complete"),
        (r#"{"command": "a", "may_change": 1}"#, "may_change"),
    ];
    for (request, says) in cases {
        for answer in [walk(request, None, None), files(request, None, None), hints(request, None, None)] {
            let error = answer.expect_err(request);
            assert!(error.contains(says), "{request}: {error}");
        }
        assert!(explain(request, &Guard::new(), &mut NoHost).is_err(), "{request}");
    }
}

#[test]
fn an_answer_repeats_the_id_as_it_is() {
    for id in [json!(null), json!(0), json!(-1.5), json!("é\u{1}"), json!({"a": [null, true]})] {
        let request = json!({"command": "touch a", "cwd": "/p", "id": id}).to_string();
        for answer in [walk(&request, None, None), files(&request, None, None), hints(&request, None, None)] {
            assert_eq!(json(answer).get("id"), Some(&id));
        }
    }
    let request = json!({"command": "touch a", "cwd": "/p"}).to_string();
    assert_eq!(json(files(&request, None, None)), json!({"schema": 1, "written": ["/p/a"], "read": []}));
    assert_eq!(json(hints(&request, None, None)), json!({"schema": 1, "paths": ["/p/a"]}));
}

#[test]
fn what_does_not_parse_says_so() {
    let request = json!({"command": "touch a; touch 'b", "cwd": "/p"}).to_string();
    for answer in [walk(&request, None, None), files(&request, None, None)] {
        assert!(json(answer)["unparsed"].as_str().is_some_and(|why| !why.is_empty()));
    }
    assert_eq!(json(hints(&request, None, None))["paths"], json!([]));
}

/// A place in which only a few things exist.
struct Few;

impl FileOracle for Few {
    fn look(&self, path: &str) -> Presence {
        match path {
            "/" | "/p" | "/p/sub" => Presence::Folder,
            "/p/f" => Presence::File,
            _ => Presence::Absent,
        }
    }
}

#[test]
fn what_exists_decides() {
    let request = |command: &str| json!({"command": command, "cwd": "/p"}).to_string();
    let files = |command: &str| json(files(&request(command), Some(Rc::new(Few)), None));
    assert_eq!(files("cp f sub")["written"], json!(["/p/sub/f"]));
    assert_eq!(files("cp f sub2")["written"], json!(["/p/sub2"]));
    let moving = json!({"command": "cd none && b", "cwd": "/p", "may_change": true}).to_string();
    let last = |answer: Value| answer["commands"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    assert_eq!(last(json(walk(&moving, Some(Rc::new(Few)), None)))["runs"], "possibly");
    let walk = json(walk(&request("rm f; rm g; cd none && b"), Some(Rc::new(Few)), None));
    let certain = |at: usize| walk["commands"][at]["effects"][0]["certain"].clone();
    assert_eq!((certain(0), certain(1)), (json!(true), json!(false)));
    assert_eq!(walk["commands"][3]["runs"], "never");
}

#[test]
fn explaining_gives_the_findings_of_the_verdict() {
    let explained = |command: &str| {
        let request = json!({"command": command, "cwd": "/p", "home": "/h", "id": 1}).to_string();
        json(explain(&request, &Guard::new(), &mut NoHost))
    };
    let ls = explained("ls");
    assert_eq!((&ls["schema"], &ls["id"], &ls["decision"]), (&json!(1), &json!(1), &json!("pass")));
    assert_eq!(ls["findings"], json!([]));
    let blocked = explained("true; rm -rf /");
    assert_eq!(blocked["decision"], "block");
    let finding = &blocked["findings"][0];
    assert_eq!((&finding["rule"], &finding["action"]), (&json!("builtin:remove-everything"), &json!("block")));
    assert_eq!(finding["evidence"][0], json!({"field": "command", "start": 6, "end": 8, "text": "rm"}));
    assert_eq!(finding["evidence"][1], json!({"field": "command", "start": 13, "end": 14, "text": "/"}));
    let word = json!({"text": "-rf", "span": {"start": 9, "end": 12}, "value": "-rf", "why": null});
    assert_eq!(blocked["commands"][1]["words"][1], word);
    let considered = blocked["considered"].as_array().expect("a list");
    let fired: Vec<_> = considered.iter().filter(|one| one["why_not"].is_null()).map(|one| &one["rule"]).collect();
    assert_eq!(fired, [&json!("builtin:remove-everything")]);
    assert!(considered.iter().any(|one| one["why_not"].as_str().is_some_and(|why| !why.is_empty())));
    assert_eq!(explained("git push --force")["decision"], "ask");
    assert_eq!(explained("rm -rf ~")["decision"], "block");
}

/// The environment of every command would be a long answer to a short text.
#[test]
fn an_answer_stays_in_bounds() {
    // Long values, many of them, and many that are not known.
    for (count, value) in [(400, "x".repeat(200)), (3_000, "1".to_owned()), (3_000, "$(date)".to_owned())] {
        let text = (0..count).map(|n| format!("v{n}={value};")).collect::<String>();
        let answer = walk(&json!({"command": text, "cwd": "/p"}).to_string(), None, None).expect("an answer");
        assert!(answer.len() < 4 << 20, "{value}: {}", answer.len());
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let commands = answer["commands"].as_array().expect("a list");
        assert!(commands.len() >= count && commands[1]["env"].is_object(), "{value}: {}", commands.len());
        let last = &commands[commands.len() - 1];
        assert!(last["env"].is_null(), "{last}");
        let unknown = last["unknown"].as_array().expect("a list");
        assert!(unknown.iter().any(|one| one["at"] == "env"), "{last}");
    }
}
