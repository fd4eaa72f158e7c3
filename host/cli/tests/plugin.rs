//! `toolgate plugin` as a person meets it, and as an agent does.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use crate::person::{Terminal, left_out};
use crate::scene::Scene;
use serde_json::{Value, json};
use toolgate_test_components::{built, target};
use toolgate_test_support::skip::skip;

/// What the second component of a scene asks for.
const ASKS: [&str; 6] = ["files", "terminal", "ui", "message", "clock", "log"];

/// A home with two components: one that asks for nothing, rewrites and reports, and one that asks for [`ASKS`],
/// asks about every call and counts what it sees.
fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("home/plain.wasm", built("test-plugin/guest.wasm"));
    let module = built("wasm32-unknown-unknown/guest/toolgate_test_guest.wasm");
    scene.write("home/asking.wasm", toolgate_bake::componentize(&module).expect("a component"));
    scene
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// `toolgate plugin`, not at a terminal.
fn plugin(scene: &Scene, arguments: &[&str]) -> (i32, String) {
    let Output { status, stdout, stderr } = scene.run_with(&[&["plugin"], arguments].concat(), b"", &[]);
    (status.code().expect("no signal"), text(&stdout) + &text(&stderr))
}

/// `toolgate plugin` at a terminal, where the word is typed; what was shown until then.
fn agreed(scene: &Scene, arguments: &str) -> String {
    let mut terminal = Terminal::new(scene, &format!("toolgate plugin {arguments}"));
    let word = terminal.word();
    let shown = terminal.seen.clone();
    terminal.answer(&word);
    assert_eq!(terminal.exit(), 0, "{arguments}: {}", terminal.seen);
    shown
}

/// `toolgate plugin` at a terminal, where nothing is asked: its exit code, and what was shown.
fn unasked(scene: &Scene, script: &str) -> (i32, String) {
    let mut terminal = Terminal::new(scene, script);
    let code = terminal.exit();
    assert!(!terminal.seen.contains("Type "), "{script}: {}", terminal.seen);
    (code, terminal.seen.clone())
}

fn listed(scene: &Scene) -> Vec<Value> {
    let (_, said) = plugin(scene, &["list", "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    said["plugins"].as_array().expect("a list").clone()
}

/// What Claude Code is told at an event.
fn hook(scene: &Scene, event: &str, tool: &str, input: Value, options: &[&str]) -> Value {
    let payload = json!({
        "session_id": "s", "cwd": scene.project(), "permission_mode": "default", "hook_event_name": event,
        "tool_name": tool, "tool_input": input, "tool_response": {},
    });
    let arguments = [&["hook", "claude", "--no-lens"], options].concat();
    let output = scene.run_with(&arguments, payload.to_string().as_bytes(), &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    answer["hookSpecificOutput"].clone()
}

/// The decision on a command, and its reason.
fn judged(scene: &Scene, command: &str, options: &[&str]) -> (String, String) {
    let answer = hook(scene, "PreToolUse", "Bash", json!({ "command": command }), options);
    let part = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    (part("permissionDecision"), part("permissionDecisionReason"))
}

/// What is added to the result of a command.
fn added(scene: &Scene, command: &str) -> String {
    let answer = hook(scene, "PostToolUse", "Bash", json!({ "command": command }), &[]);
    answer["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_plugin_is_shown_then_agreed_to_then_in_force() {
    if left_out() {
        return;
    }
    let scene = scene();
    let mut terminal = Terminal::new(&scene, "toolgate plugin add asking.wasm");
    let word = terminal.word();
    let shown = ["asking", "sha256", "evaluates calls", "sees results", "run any command as you", "list files"];
    for shown in shown {
        assert!(terminal.seen.contains(shown), "{shown}: {}", terminal.seen);
    }
    assert_eq!(judged(&scene, "ls", &[]).0, "", "nothing is granted yet");
    terminal.answer(&word);
    assert_eq!(terminal.exit(), 0, "{}", terminal.seen);
    // What becomes of the file that it came from does not matter any more.
    scene.write("home/asking.wasm", "junk");
    let (decision, reason) = judged(&scene, "stuck-capability", &[]);
    assert!(decision == "ask" && reason.contains("Ok("), "{decision}: {reason}");
    // The terminal is for those who offer one, whatever was granted.
    assert!(judged(&scene, "not-granted", &[]).1.contains("refused"));
    let one = &listed(&scene)[0];
    assert_eq!((&one["state"], &one["asks"]), (&json!("in force"), &json!(ASKS)));
    let (code, said) = plugin(&scene, &["inspect", "asking"]);
    assert!(code == 0 && said.contains("tool-gate@0.1.0") && said.contains("installed from"), "{said}");
}

#[test]
fn only_the_word_installs_and_only_what_is_named_is_granted() {
    if left_out() {
        return;
    }
    let scene = scene();
    let mut terminal = Terminal::new(&scene, "toolgate plugin add asking.wasm");
    terminal.word();
    terminal.answer("yes");
    assert_eq!(terminal.exit(), 2, "{}", terminal.seen);
    assert!(listed(&scene).is_empty() && judged(&scene, "ls", &[]).0.is_empty());
    drop(terminal);
    let shown = agreed(&scene, "add asking.wasm --only files --folder project");
    assert!(
        shown.contains("terminal, ui, message, clock, log, which it asks for") && shown.contains("home/project"),
        "{shown}"
    );
    let one = &listed(&scene)[0];
    assert_eq!(one["granted"]["capabilities"], json!(["files"]), "{one}");
    assert!(judged(&scene, "stuck-capability", &[]).1.contains("Denied"));
    agreed(&scene, "grant asking clock");
    assert!(judged(&scene, "stuck-capability", &[]).1.contains("Ok("));
    // Taking back needs a terminal and no word, and what judges goes on to judge.
    assert_eq!(plugin(&scene, &["revoke", "asking"]).0, 2);
    let (code, said) = unasked(&scene, "toolgate plugin revoke asking");
    assert_eq!(code, 0, "{said}");
    let (decision, reason) = judged(&scene, "stuck-capability", &[]);
    assert!(decision == "ask" && reason.contains("Denied"), "{decision}: {reason}");
    assert_eq!(listed(&scene)[0]["state"], "revoked");
    assert_eq!(unasked(&scene, "toolgate plugin revoke asking clock").0, 66);
    assert_eq!(unasked(&scene, "toolgate plugin revoke other").0, 66);
    agreed(&scene, "remove asking");
    assert!(listed(&scene).is_empty() && judged(&scene, "ls", &[]).0.is_empty());
}

#[test]
fn a_version_that_asks_for_more_is_held_back() {
    if left_out() {
        return;
    }
    let scene = scene();
    agreed(&scene, "add plain.wasm --name one");
    assert_eq!(judged(&scene, "ls", &[]).0, "");
    let mut terminal = Terminal::new(&scene, "toolgate plugin add asking.wasm --name one");
    terminal.word();
    assert!(terminal.seen.contains("new: may"), "{}", terminal.seen);
    terminal.answer("no");
    assert_eq!(terminal.exit(), 2, "{}", terminal.seen);
    assert!(terminal.seen.contains("is held back"), "{}", terminal.seen);
    drop(terminal);
    assert_eq!(judged(&scene, "ls", &[]).0, "", "the old one is in force");
    let one = &listed(&scene)[0];
    assert_eq!((&one["asks"], &one["held"]["asks"]), (&json!([]), &json!(ASKS)));
    let (code, said) = plugin(&scene, &["list"]);
    assert!(
        code == 0 && said.contains("held back") && said.contains("files, terminal, ui, message, clock, log"),
        "{said}"
    );
    agreed(&scene, "grant one clock");
    assert_eq!(judged(&scene, "ls", &[]).0, "ask");
    let one = &listed(&scene)[0];
    assert_eq!((&one["granted"]["capabilities"], &one["held"]), (&json!(["clock"]), &Value::Null));
    // The other way round nothing is new: what is not asked for any more is not granted any more.
    agreed(&scene, "add plain.wasm --name one");
    assert_eq!(listed(&scene)[0]["granted"]["capabilities"], json!([]));
    // What the old one asked for in vain a newer one does not get by itself.
    agreed(&scene, "add asking.wasm --name one --only clock");
    agreed(&scene, "add asking.wasm --name one");
    assert_eq!(listed(&scene)[0]["granted"]["capabilities"], json!(["clock"]));
}

#[test]
fn nothing_is_installed_from_what_is_no_plugin_or_by_who_is_no_person() {
    if left_out() {
        return;
    }
    let scene = scene();
    scene.write("home/text.wasm", "text");
    scene.write("home/two/a.wasm", "");
    scene.write("home/two/b.wasm", "");
    scene.write("home/odd/plugin.toml", "name = '../x'\ncomponent = '../plain.wasm'\n");
    scene.write("home/wrong/plugin.toml", "name = 'x'\n");
    scene.write("home/unbuilt/plugin.toml", "name = 'x'\ncomponent = 'x.wasm'\n");
    std::fs::create_dir(scene.at("home/empty")).expect("a folder");
    std::fs::File::create(scene.at("home/large.wasm")).and_then(|file| file.set_len(1 << 30)).expect("a large file");
    symlink("/bin/sh", scene.at("home/claude")).expect("a link");
    #[rustfmt::skip]
    let cases = [
        ("toolgate plugin add none.wasm", 66, "none.wasm"),
        ("toolgate plugin add text.wasm", 65, ""),
        ("toolgate plugin add large.wasm", 65, "is not a file of at most 256 MiB"),
        ("mkfifo pipe.wasm; toolgate plugin add pipe.wasm", 65, "is not a file of at most 256 MiB"),
        ("toolgate plugin add plain.wasm --name ../x", 64, "is not a valid plugin name"),
        ("toolgate plugin add plain.wasm --name toolgate-guard", 64, "is reserved for Toolgate"),
        ("toolgate plugin add plain.wasm --only files", 64, "it does not ask for files"),
        ("toolgate plugin add plain.wasm --only root", 64, "unknown capability"),
        ("toolgate plugin add asking.wasm --only clock --folder .", 64, "--folder restricts files"),
        ("toolgate plugin add two", 64, "there are 2 components"),
        ("toolgate plugin add odd", 64, "is not a valid plugin name"),
        ("toolgate plugin add wrong", 65, "missing field"),
        ("toolgate plugin add empty", 65, "is the plugin built?"),
        ("toolgate plugin add unbuilt", 66, "is the plugin built?"),
        ("toolgate plugin grant none", 66, "no plugin named none"),
        ("toolgate plugin remove none", 66, "no plugin named none"),
        ("toolgate plugin add plain.wasm </dev/null", 2, "no plugin was added"),
        ("env CLAUDECODE=1 toolgate plugin add plain.wasm", 2, "this runs below an agent"),
        ("./claude -c 'toolgate plugin add plain.wasm; exit $?'", 2, "this runs below an agent"),
        ("./claude -c 'toolgate plugin grant plain; exit $?'", 2, "this runs below an agent"),
        ("./claude -c 'toolgate plugin remove plain; exit $?'", 2, "this runs below an agent"),
    ];
    for (script, code, said) in cases {
        let _ = std::fs::remove_file(scene.at("home/pipe.wasm"));
        let (found, shown) = unasked(&scene, script);
        assert_eq!(found, code, "{script}: {shown}");
        assert!(shown.contains(said), "{script}: {shown}");
    }
    assert!(listed(&scene).is_empty());
    for command in ["add plain.wasm", "grant x files", "revoke x", "remove x"] {
        let output = scene.run_with(&["check", &format!("toolgate plugin {command}")], b"", &[]);
        assert_eq!(output.status.code(), Some(2), "{command}: {output:?}");
    }
}

#[test]
fn a_store_that_was_changed_blocks_and_says_how_to_mend_it() {
    if left_out() {
        return;
    }
    let scene = scene();
    agreed(&scene, "add plain.wasm");
    assert_eq!(judged(&scene, "ls", &[]).0, "");
    let index = "home/.local/state/toolgate/plugins/plugins.json";
    let good = std::fs::read_to_string(scene.at(index)).expect("the index");
    let digest = listed(&scene)[0]["digest"].as_str().expect("a digest").to_owned();
    let component = format!("home/.local/state/toolgate/plugins/components/{digest}.wasm");
    // An agent does not get there.
    for path in [index, component.as_str()] {
        for command in ["echo x >", "rm", "cp /tmp/x"] {
            let command = format!("{command} ~/{}", path.strip_prefix("home/").expect("below home"));
            assert_eq!(judged(&scene, &command, &[]).0, "deny", "{command}");
        }
    }
    let blocks = |said: &str| {
        let (decision, reason) = judged(&scene, "ls", &[]);
        assert!(decision == "deny" && reason.contains(said), "{said}: {decision} {reason}");
    };
    let cases = [
        ("{", "is damaged"),
        (&good.replace("\"schema\": 1", "\"schema\": 9"), "has the schema 9"),
        (&good.replace("\"plain\"", "\"../x\""), "is not a valid plugin name"),
        (&good.replace(&digest, &"0".repeat(64)), "its component is missing"),
    ];
    for (content, said) in cases {
        scene.write(index, content);
        blocks(said);
    }
    scene.write(index, &good);
    assert_eq!(judged(&scene, "ls", &[]).0, "");
    scene.write(&component, built("component/guest.wasm"));
    blocks("was changed since it was added");
    std::fs::remove_file(scene.at(&component)).expect("removed");
    symlink(scene.at("home/plain.wasm"), scene.at(&component)).expect("a link");
    blocks("is a symbolic link");
    assert_eq!(plugin(&scene, &["list"]).0, 1);
    let doctor = text(&scene.run_with(&["doctor"], b"", &[]).stdout);
    assert!(doctor.contains("is a symbolic link") && doctor.contains("every call is blocked"), "{doctor}");
    // As it says.
    agreed(&scene, "add plain.wasm");
    assert_eq!(judged(&scene, "ls", &[]).0, "");
    std::fs::remove_file(scene.at(&component)).expect("removed");
    agreed(&scene, "remove plain");
    assert_eq!(judged(&scene, "ls", &[]).0, "");
}

#[test]
fn the_trial_calls_of_doctor_are_judged_by_what_is_installed() {
    if left_out() {
        return;
    }
    let scene = scene();
    let level = |check: &str| {
        let report = scene.run_with(&["doctor", "claude", "--json"], b"", &[]).stdout;
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        let checks = report["agents"][0]["checks"].as_array().expect("a list").clone();
        let found = checks.iter().find(|one| one["check"] == check).unwrap_or_else(|| panic!("no {check}: {report}"));
        found["level"].as_str().expect("a level").to_owned()
    };
    scene.write("home/.claude/settings.json", "{}");
    assert_eq!(scene.run_with(&["install", "claude"], b"", &[]).status.code(), Some(0));
    assert_eq!(level("passes"), "ok");
    agreed(&scene, "add asking.wasm");
    assert_ne!(level("passes"), "ok", "it asks about everything");
    assert_eq!(level("denies"), "ok");
    agreed(&scene, "remove asking");
    assert_eq!(level("passes"), "ok");
}

#[test]
fn the_order_of_plugins_changes_no_verdict() {
    let scene = scene();
    let at = |name: &str| scene.at(name).display().to_string();
    let (plain, asking) = (at("home/plain.wasm"), at("home/asking.wasm"));
    let orders = [["--plugin", &plain, "--plugin", &asking], ["--plugin", &asking, "--plugin", &plain]];
    // One passes and one asks; one blocks and one asks; one passes and one fails.
    for (command, decision) in [("ls", "ask"), ("echo write-this-way", "deny"), ("trap", "deny"), ("rm -rf ~", "deny")]
    {
        let found = orders.map(|order| {
            scene.write("home/.local/state/toolgate/audit.jsonl", "");
            let answer = judged(&scene, command, &order).0;
            let log = std::fs::read_to_string(scene.at("home/.local/state/toolgate/audit.jsonl")).expect("the log");
            let entry: Value = serde_json::from_str(log.lines().last().expect("an entry")).expect("JSON");
            let mut rules: Vec<String> =
                entry["rules"].as_array().expect("a list").iter().map(Value::to_string).collect();
            rules.sort();
            assert!(!rules.is_empty(), "{command}: {entry}");
            (answer, rules)
        });
        assert_eq!(found[0].0, decision, "{command}");
        assert_eq!(found[0], found[1], "{command}");
    }
}

#[test]
fn observers_of_plugins_add_to_results_and_remember_the_session() {
    if left_out() {
        return;
    }
    let scene = scene();
    agreed(&scene, "add asking.wasm");
    assert_eq!([added(&scene, "ls"), added(&scene, "ls")], ["call 1", "call 3"], "the end of a call counts, too");
    // One that fails alone costs nothing.
    agreed(&scene, "add plain.wasm");
    let write = hook(&scene, "PostToolUse", "Write", json!({ "file_path": "/a.rs", "content": "" }), &[]);
    assert_eq!(write["additionalContext"], "call 5\nCHECKED /a.rs");
    assert_eq!(unasked(&scene, "toolgate plugin revoke asking").0, 0);
    assert_eq!(added(&scene, "ls"), "call 7");
}

/// Every command has all variables, so that what a plugin is told could grow with the square of the text.
#[test]
fn a_plugin_judges_a_long_script_with_many_variables() {
    let scene = scene();
    let asking = scene.at("home/asking.wasm").display().to_string();
    let script: String = (0..3_000).map(|n| format!("V{n}={n}; echo $V{n}\n")).collect();
    let (decision, reason) = judged(&scene, &script, &["--plugin", &asking]);
    assert!(decision == "ask" && reason.contains("call 1"), "{decision}: {reason}");
}

#[test]
fn gates_of_plugins_remember_the_session_each_for_itself() {
    let scene = scene();
    scene.write("home/twin.wasm", built("test-plugin/guest.wasm"));
    let at = |name: &str| scene.at(name).display().to_string();
    scene.write("home/elsewhere/plain.wasm", built("test-plugin/guest.wasm"));
    let (plain, twin) = (at("home/plain.wasm"), at("home/twin.wasm"));
    let elsewhere = at("home/elsewhere/plain.wasm");
    let one = ["--plugin", &plain];
    // A call of the session, with these plugins; what becomes of it, and what is in the reason.
    let cases: [(&str, &[&str], &str, &str); 8] = [
        ("what-was-before", &one, "ask", "memory: None"),
        ("echo remember-this", &one, "", ""),
        ("echo remember-this; rm -rf ~", &one, "deny", "home"),
        ("what-was-before", &one, "ask", r#"[String("echo remember-this")]"#),
        ("what-was-before", &["--plugin", &twin], "ask", "memory: None"),
        ("what-was-before", &["--plugin", &elsewhere], "ask", "memory: None"),
        ("echo remember-this too", &["--plugin", &plain, "--plugin", &twin], "", ""),
        ("what-was-before", &one, "ask", r#"[String("echo remember-this"), String("echo remember-this too")]"#),
    ];
    for (command, options, decision, reason) in cases {
        let found = judged(&scene, command, options);
        assert!(found.0 == decision && found.1.contains(reason), "{command} {options:?}: {found:?}");
    }
}

#[test]
fn plugins_deny_permissions_and_give_none() {
    let scene = scene();
    let plain = scene.at("home/plain.wasm").display().to_string();
    let with: &[&str] = &["--plugin", &plain];
    // What permission is asked for, with these plugins, and how the denial begins, if it is one. The guard has judged the call
    // itself.
    let cases: [(&str, &[&str], Option<&str>); 5] = [
        ("ls", with, None),
        (
            "never-permit",
            with,
            Some("Security Policy Violation: it is not to be permitted (rule plugin:plain:unnamed)."),
        ),
        ("perhaps-permit", with, None),
        ("never-permit", &[], None),
        ("rm -rf ~", with, None),
    ];
    for (command, options, denial) in cases {
        let answer = hook(&scene, "PermissionRequest", "Bash", json!({ "command": command }), options);
        let decision = &answer["decision"];
        assert_eq!(decision["behavior"].as_str(), denial.map(|_| "deny"), "{command} {options:?}: {answer}");
        let message = decision["message"].as_str().unwrap_or_default();
        assert!(message.starts_with(denial.unwrap_or_default()), "{command} {options:?}: {message}");
        // No exemption lifts what a plugin says.
        assert!(!message.contains("rules exempt"), "{message}");
    }
    let gone = scene.at("home/gone.wasm").display().to_string();
    let answer = hook(&scene, "PermissionRequest", "Bash", json!({ "command": "ls" }), &["--plugin", &gone]);
    assert_eq!(answer["decision"]["behavior"], "deny", "what a plugin would have said is not known");
}

#[test]
fn the_log_names_the_plugin_that_decided() {
    let scene = scene();
    let asking = scene.at("home/asking.wasm").display().to_string();
    assert_eq!(judged(&scene, "ls", &["--plugin", &asking]).0, "ask");
    let log = std::fs::read_to_string(scene.at("home/.local/state/toolgate/audit.jsonl")).expect("the log");
    let entry: Value = serde_json::from_str(log.lines().last().expect("an entry")).expect("JSON");
    let digest = toolgate_host::Digest::of(&std::fs::read(&asking).expect("the plugin")).sha256;
    let named = [&entry["plugin"], &entry["rule"], &entry["plugin_digest"]];
    assert_eq!(named, ["asking", "plugin:asking:unnamed", &digest]);
}

#[test]
fn what_a_plugin_is_refused_is_logged_with_its_session() {
    let scene = scene();
    let asking = scene.at("home/asking.wasm").display().to_string();
    assert!(judged(&scene, "not-granted", &["--plugin", &asking]).1.contains("refused"));
    let log = std::fs::read_to_string(scene.at("home/.local/state/toolgate/audit.jsonl")).expect("the log");
    let entries: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let denial = entries.iter().find(|one| one["rule"] == "capability:terminal").expect("a denial");
    assert_eq!(
        (&denial["agent"], &denial["session"], &denial["cwd"]),
        (&json!("claude"), &json!("s"), &json!(scene.project()))
    );
}

#[test]
fn cases_are_run_with_what_they_name_and_no_more() {
    let scene = scene();
    let cases = r#"
- {name: counts, command: ls, expect: ask, reason: '^call 1$'}
- {name: has no clock, command: stuck-capability, expect: ask, reason: Denied}
- {name: has a clock, command: stuck-capability, expect: ask, reason: 'Ok\(', grants: [clock]}
- {name: has no terminal, command: not-granted, expect: ask, reason: refused, grants: [terminal]}
- {name: fails, command: trap, expect: block}
- {name: a file, call: {tool: write, input: {path: a, content: b}}, expect: ask}
- {name: a rule, command: deploy now, expect: block, reason: mine, rules: 'bashToolPatterns: [{pattern: deploy, reason: mine}]'}
- {name: a result, result: {tool: write, input: {path: a, content: b}}, adds: '^call 1$'}
- {name: may not rewrite, command: rewrite, expect: block, reason: not granted}
- {name: rewrites, command: rewrite, expect: rewrite, rewrite: true}
"#;
    scene.write("home/plugin/cases.yaml", cases);
    scene.write("home/plugin/plugin.toml", "name = 'asking'\ncomponent = '../asking.wasm'\n");
    let folder = scene.at("home/plugin").display().to_string();
    let (code, said) = plugin(&scene, &["test", &folder]);
    assert!(code == 0 && said.ends_with("10 cases, 0 wrong\n"), "{said}");
    let wrong = r#"
- {name: passes, command: ls, expect: pass}
- {name: another reason, command: ls, expect: ask, reason: nothing}
- {name: two at once, command: ls, call: {tool: write, input: {}}, expect: pass}
- {name: adds, result: {tool: write, input: {path: a, content: b}}}
- {name: a bad rule file, command: ls, expect: ask, rules: 'rules: 1'}
"#;
    scene.write("home/wrong.yaml", wrong);
    let wrong = scene.at("home/wrong.yaml").display().to_string();
    let (code, said) = plugin(&scene, &["test", &folder, "--cases", &wrong, "--json"]);
    let said: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((code, &said["failed"]), (1, &json!(5)), "{said}");
    scene.write("home/wrong.yaml", "- {name: x, comand: ls}");
    assert_eq!(plugin(&scene, &["test", &folder, "--cases", &wrong]).0, 65);
    assert_eq!(plugin(&scene, &["test", &folder, "--cases", "/none.yaml"]).0, 66);
}

#[test]
fn a_plugin_is_started_in_each_language() {
    let scene = Scene::new();
    for language in ["rust", "python", "js"] {
        let name = format!("my-{language}");
        let (code, said) = plugin(&scene, &["new", &name, "--lang", language]);
        assert_eq!(code, 0, "{said}");
        let at = |path: &str| scene.at(&format!("home/project/{name}/{path}"));
        let manifest = std::fs::read_to_string(at("plugin.toml")).expect("a manifest");
        assert!(manifest.contains(&name) && !manifest.contains("{{"), "{manifest}");
        assert!(at("wit/worlds.wit").is_file() && at("cases.yaml").is_file() && at("README.md").is_file());
        assert_eq!(plugin(&scene, &["new", &name, "--lang", language]).0, 64, "it is there already");
    }
    assert_eq!(plugin(&scene, &["new", "../x", "--lang", "rust"]).0, 64);
    assert_eq!(plugin(&scene, &["new", "x", "--lang", "cobol"]).0, 64);
}

/// The cases of the examples and of the templates, as their authors run them. What could not be built is said.
#[test]
fn the_examples_get_their_own_cases_right() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cases = [
        ("kubectl", "guest/examples/kubectl"),
        ("python-observer", "guest/examples/python-observer"),
        ("js-gate", "guest/examples/js-gate"),
        ("rust", "guest/sdk/templates/rust"),
        ("python", "guest/sdk/templates/python"),
        ("js", "guest/sdk/templates/js"),
    ];
    let left_out = std::fs::read_to_string(target().join("plugins/left-out")).unwrap_or_default();
    for (name, folder) in cases {
        let component = target().join(format!("plugins/{name}.wasm"));
        if !component.exists() && std::env::var_os("CI").is_none() {
            skip(format!("{name} is not built: {left_out}"));
            continue;
        }
        let scene = Scene::new();
        let cases = root.join(folder).join("cases.yaml").display().to_string();
        let (code, said) = plugin(&scene, &["test", &component.display().to_string(), "--cases", &cases]);
        assert_eq!(code, 0, "{name}: {said}");
    }
}

/// Until it is dropped.
struct Author(Child);

impl Drop for Author {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_plugin_is_built_and_tested_again_at_each_change() {
    let scene = Scene::new();
    let module = target().join("test-plugin/guest.wasm").display().to_string();
    scene.write(
        "home/project/p/plugin.toml",
        format!("name = \"p\"\ncomponent = \"p.wasm\"\nbuild = [\"cp\", \"{module}\", \"p.wasm\"]\n"),
    );
    let case = |expect: &str| {
        scene.write("home/project/p/new", format!("- {{name: one, command: ls, expect: {expect}}}\n"));
        std::fs::rename(scene.at("home/project/p/new"), scene.at("home/project/p/cases.yaml")).expect("renamed");
    };
    case("pass");
    let mut author = Command::new(env!("CARGO_BIN_EXE_toolgate"));
    author.args(["plugin", "dev", "p"]).current_dir(scene.at("home/project")).env_clear().env("HOME", scene.at("home"));
    author.env("PATH", std::env::var_os("PATH").unwrap_or_default()).stdin(Stdio::null());
    let mut author = Author(author.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts"));
    let mut said = BufReader::new(author.0.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    for (next, outcome) in [("block", "1 case, 0 wrong"), ("pass", "1 case, 1 wrong"), ("block", "1 case, 0 wrong")] {
        assert!(said.any(|line| line.contains(outcome)), "{outcome}: it has ended");
        case(next);
    }
}

#[test]
fn what_a_plugin_is_built_with_and_tested_on_decides_the_exit_code() {
    let scene = Scene::new();
    let module = target().join("test-plugin/guest.wasm").display().to_string();
    let case = "- {name: nothing, command: ls, expect: pass}\n";
    let manifest = |build: &str| format!("name = \"p\"\ncomponent = \"p.wasm\"\nbuild = [{build}]\n");
    // What builds it, the cases, and the exit code.
    let cases = [
        (format!("\"cp\", \"{module}\", \"p.wasm\""), case, 0),
        (format!("\"cp\", \"{module}\", \"p.wasm\""), "- {name: all, command: ls, expect: block}\n", 1),
        ("\"false\"".to_owned(), case, 65),
        ("\"no-such-program\"".to_owned(), case, 66),
        (String::new(), case, 64),
    ];
    for (build, cases, expected) in cases {
        scene.write("home/project/p/plugin.toml", manifest(&build));
        scene.write("home/project/p/cases.yaml", cases);
        let (code, said) = plugin(&scene, &["dev", "p", "--once"]);
        assert_eq!(code, expected, "{build}: {said}");
    }
}

#[test]
fn a_test_shows_nothing_of_files_that_it_is_led_to() {
    let scene = scene();
    scene.write("home/.env", "API_KEY=supersecret\n");
    std::fs::create_dir_all(scene.at("home/project/c")).expect("a folder");
    std::fs::copy(scene.at("home/plain.wasm"), scene.at("home/project/c/p.wasm")).expect("copied");
    symlink(scene.at("home/.env"), scene.at("home/project/c/cases.yaml")).expect("a link");
    let (code, said) = plugin(&scene, &["test", "c"]);
    assert!(code != 0 && !said.contains("supersecret"), "{code}: {said}");
    std::fs::remove_file(scene.at("home/project/c/cases.yaml")).expect("removed");
    scene.write("home/project/c/cases.yaml", "secret: [supersecret\n");
    let (code, said) = plugin(&scene, &["test", "c"]);
    assert!(code != 0 && !said.contains("supersecret"), "{code}: {said}");
    // Nor is one written where settings are.
    for folder in ["../.claude/hooks", ".git/hooks"] {
        assert_eq!(plugin(&scene, &["new", "x", "--lang", "rust", folder]).0, 64, "{folder}");
    }
}

/// What an observer knows of a session goes to the newer version of it.
#[test]
fn a_newer_version_goes_on_where_the_older_one_was() {
    let scene = scene();
    let file = scene.at("home/asking.wasm").display().to_string();
    let grants = ASKS.join(",");
    let options = ["--plugin", file.as_str(), "--grant", &grants];
    let seen = || {
        let answer = hook(&scene, "PostToolUse", "Bash", json!({ "command": "ls" }), &options);
        let text = answer["additionalContext"].as_str().unwrap_or_default().to_owned();
        let count = text.rsplit(' ').next().and_then(|count| count.parse::<u32>().ok());
        count.unwrap_or_else(|| panic!("no count: {text}"))
    };
    let (first, second) = (seen(), seen());
    let mut newer = std::fs::read(scene.at("home/asking.wasm")).expect("a component");
    // A custom section: its kind, its length, and a name of one byte.
    newer.extend([0, 2, 1, b'x']);
    scene.write("home/asking.wasm", newer);
    let third = seen();
    assert!(first < second && second < third, "{first} {second} {third}");
}
