//! The agents' dialects: payloads in, the exact answer out. Cases are in `agents.jsonl`, and those that are only about what a
//! tool's input means are in `calls.jsonl`.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::scene::Scene;
use serde_json::{Value, json};
use toolgate_test_support::cases;
use toolgate_test_support::skip::skip;

/// What an agent is told: its answer as JSON, or nothing at all.
fn answer(
    scene: &Scene,
    agent: &str,
    event: Option<&str>,
    payload: &str,
    environment: &[(&str, String)],
) -> Option<Value> {
    let arguments: Vec<&str> = ["hook", agent].into_iter().chain(event).collect();
    let (code, answer) = said_to(scene.run_with(&arguments, payload.as_bytes(), environment));
    assert_eq!(code, 0, "{agent} {payload}");
    answer
}

/// The exit code and the answer. With the code of a denial the reason is on standard error.
fn said_to(output: Output) -> (i32, Option<Value>) {
    let code = output.status.code().expect("no signal");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(code == 2, output.stderr.starts_with(b"toolgate: "), "{code} {said}");
    (code, (!said.is_empty()).then(|| serde_json::from_str(&said).unwrap_or_else(|error| panic!("{said}: {error}"))))
}

/// Whether an answer is as expected, where `*` stands for any text but the empty one.
fn fits(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::String(found), Value::String(expected)) if expected == "*" => !found.trim().is_empty(),
        (Value::Object(found), Value::Object(expected)) => {
            found.len() == expected.len()
                && expected.iter().all(|(key, value)| found.get(key).is_some_and(|found| fits(found, value)))
        }
        (found, expected) => found == expected,
    }
}

#[test]
fn every_agent_gets_the_answer_that_it_understands() {
    let scene = Scene::new();
    scene.write("home/.ssh/id_ed25519", "key");
    scene.write("home/project/a.rs", "fn main() {}");
    cases!("agents.jsonl").each(|line| {
        let line = line.replace("$PROJECT", &scene.project()).replace("$HOME", &scene.at("home").display().to_string());
        let case: Value = serde_json::from_str(&line).expect("a case is JSON");
        let payload = match &case["payload"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // Without an agent all arguments were lost.
        let hook = case["agent"].as_str().map(|agent| ["hook", agent]);
        let arguments: Vec<&str> = hook.into_iter().flatten().chain(case["event"].as_str()).collect();
        let variables = case["variables"].as_object().into_iter().flatten();
        let variables: Vec<(&str, String)> =
            variables.map(|(name, value)| (name.as_str(), value.as_str().expect("a text").to_owned())).collect();
        let (code, found) = said_to(scene.run_with(&arguments, payload.as_bytes(), &variables));
        assert_eq!(i64::from(code), case["code"].as_i64().unwrap_or_default(), "found {found:?}");
        match (&found, &case["answer"]) {
            (None, Value::Null) => {}
            (Some(found), expected) if fits(found, expected) => {}
            (found, _) => panic!("found {found:?}"),
        }
    });
}

/// What is said of a call of an agent's tool: `pass`, `ask` or `deny`.
fn said(scene: &Scene, agent: &str, tool: &str, input: &Value) -> &'static str {
    let project = scene.project();
    let (event, payload) = match agent {
        // Its calls arrive in batches as well.
        "pi" => (None, json!({"tool": tool, "input": input, "cwd": project})),
        "copilot" => {
            let payload =
                json!({"sessionId": "s", "timestamp": 1, "cwd": project, "toolName": tool, "toolArgs": input});
            (Some("preToolUse"), payload)
        }
        "cursor" => {
            let payload = json!({
                "conversation_id": "s", "generation_id": "g", "hook_event_name": "preToolUse",
                "workspace_roots": [project], "tool_name": tool, "tool_input": input,
            });
            (None, payload)
        }
        _ => {
            let event = if agent == "gemini" { "BeforeTool" } else { "PreToolUse" };
            let mode = if agent == "droid" { "off" } else { "default" };
            let payload = json!({
                "session_id": "s", "cwd": project, "permission_mode": mode, "hook_event_name": event,
                "tool_name": tool, "tool_input": input,
            });
            (None, payload)
        }
    };
    let found = if agent == "pi" {
        let output = scene.run_with(&["check", "--batch"], format!("{payload}\n").as_bytes(), &[]);
        serde_json::from_slice(&output.stdout).expect("JSON")
    } else {
        answer(scene, agent, event, &payload.to_string(), &[]).unwrap_or_default()
    };
    let places = ["/hookSpecificOutput/permissionDecision", "/permissionDecision", "/permission", "/decision"];
    match places.iter().find_map(|place| found.pointer(place)?.as_str()) {
        None | Some("pass" | "allow") => "pass",
        Some("ask") => "ask",
        Some("deny" | "block") => "deny",
        Some(other) => panic!("{agent} {tool} {input}: {other}"),
    }
}

/// What a tool's input means is what the agent's own code makes of it.
#[test]
fn the_input_of_tools_is_read_as_they_read_it() {
    let scene = Scene::new();
    scene.write("home/.ssh/id_ed25519", "key");
    for file in ["a.rs", "@scope/a.rs", "src/a.rs", "two words/a.rs", ".env", ".gemini/settings.json"] {
        scene.write(&format!("home/project/{file}"), "x");
    }
    cases!("calls.jsonl").each(|line| {
        let line = line.replace("$PROJECT", &scene.project()).replace("$HOME", &scene.at("home").display().to_string());
        let case: Value = serde_json::from_str(&line).expect("a case is JSON");
        let text = |key: &str| case[key].as_str().unwrap_or_else(|| panic!("it has no {key}"));
        assert_eq!(said(&scene, text("agent"), text("tool"), &case["input"]), text("answer"));
    });
}

/// What a tool that is in no table does to files: the verdict, and that what makes it so is in the tool's own fields.
#[test]
fn what_unknown_tools_do_to_files_is_judged_by_their_fields() {
    let scene = Scene::new();
    for file in [".ssh/id_ed25519", ".config/toolgate/rules.yaml", "notes.txt", "project/a.rs", "project/src/a.rs"] {
        scene.write(&format!("home/{file}"), "");
    }
    std::fs::create_dir_all(scene.at("home/other")).expect("a folder");
    cases!("file-effects.jsonl").each(|line| {
        let line = line.replace("$HOME", &scene.at("home").display().to_string());
        let case: Value = serde_json::from_str(&line).expect("a case is JSON");
        let call = json!({"tool": case["tool"], "input": case["input"], "cwd": scene.project()});
        let output = scene.run_with(&["check", "--batch"], format!("{call}\n").as_bytes(), &[]);
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(found["decision"], case["decision"], "{found}");
        assert!(case["rule"].is_null() || found["rule"] == case["rule"], "{found}");
        let evidence = found["evidence"].as_array().expect("a list");
        let fields: Vec<&Value> = evidence.iter().map(|one| &one["field"]).collect();
        assert!(case["fields"].is_null() || json!(fields) == case["fields"], "{found}");
        for one in evidence {
            let place = format!("/{}", one["field"].as_str().expect("a field"));
            let value = case["input"].pointer(&place).and_then(Value::as_str);
            let start = one["start"].as_u64().and_then(|start| usize::try_from(start).ok()).expect("a start");
            let text = one["text"].as_str().expect("a text");
            // A name is put behind the folder that is beside it, a command may stand in a text with others, and not every
            // agent takes a tilde for the home folder.
            let other =
                case["input"].get("filename").is_some() || place.ends_with("/command") || text.starts_with("./~");
            assert!(other || value.and_then(|value| value.get(start..)?.get(..text.len())) == Some(text), "{found}");
        }
    });
}

/// What real agents were seen to send lies beside the project in some checkouts.
#[test]
fn what_real_agents_sent_is_read() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/payloads");
    let Ok(agents) = std::fs::read_dir(&folder) else {
        return skip(format!("{} is not there", folder.display()));
    };
    let scene = Scene::new();
    let names = [
        ("claude-code", "claude"),
        ("codex", "codex"),
        ("copilot", "copilot"),
        ("droid", "droid"),
        ("gemini", "gemini"),
    ];
    let mut read = 0;
    for agent in agents.map(|entry| entry.expect("an entry").path()) {
        let known = names.iter().find(|(folder, _)| agent.ends_with(folder));
        let Some((_, name)) = known else { continue };
        for file in std::fs::read_dir(&agent).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let event = file.file_stem().expect("a name").to_string_lossy().into_owned();
            let event = event.split('-').next().filter(|_| *name == "copilot");
            let payload = std::fs::read_to_string(&file).expect("a payload");
            let mut payload: Value = serde_json::from_str(&payload).expect("JSON");
            // Some were sent from a folder that the home of this test is below, which is not believed.
            if payload["cwd"].as_str().is_some_and(|folder| scene.at("home").starts_with(folder)) {
                payload["cwd"] = scene.project().into();
            }
            let payload = payload.to_string();
            let found = answer(&scene, name, event, &payload, &[]);
            assert_eq!(found, None, "{}", file.display());
            read += 1;
        }
    }
    assert!(read > 60, "{read} payloads");
}

/// The user's own table of tools has the last word, and one that cannot be used stops what it may be about.
#[test]
fn the_users_table_says_what_tools_work_on() {
    let scene = Scene::new();
    let payload = |tool: &str, input: Value| {
        json!({
            "session_id": "s", "cwd": scene.project(), "permission_mode": "default", "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_input": input,
        })
        .to_string()
    };
    // Nothing in it looks like a path.
    let secret = "src/../../.ssh/id_ed25519";
    let put = || payload("mcp__files__put", json!({"aim": secret}));
    let run = || payload("mcp__sh__go", json!({"what": "find . -delete", "dir": "~"}));
    let denies = |payload: &str| answer(&scene, "claude", None, payload, &[]).is_some();
    // A folder that only the user's row knows of, of a tool that is known.
    scene.write("home/.ssh/deploy", "");
    let known = || payload("Bash", json!({"command": "cat deploy", "dir": "~/.ssh"}));
    assert!(!denies(&put()) && !denies(&run()) && !denies(&known()));
    scene.write(
        "home/.config/toolgate/tools.yaml",
        "claude:\n  mcp__files__put: {kind: write, required: [aim]}\n  \
         Bash: {kind: shell, command: [command], cwd: [dir]}\nany:\n  mcp__sh__go: {kind: shell, command: [what], cwd: [dir]}\n",
    );
    assert!(denies(&put()) && denies(&run()) && denies(&known()));
    assert!(!denies(&payload("Bash", json!({"command": "cat config"}))));
    assert!(denies(&payload("mcp__files__put", json!({}))), "a field that has to be there is not");
    scene.write("home/.config/toolgate/tools.yaml", "claude: [");
    assert!(denies(&put()) && denies(&payload("Bash", json!({"command": "ls"}))));
}

/// What one call fetched is asked about when a later one of the session runs it, and of no other session.
#[test]
fn downloads_are_remembered_from_call_to_call() {
    let scene = Scene::new();
    let says = |session: &str, command: &str| {
        let payload = json!({
            "session_id": session, "cwd": scene.project(), "permission_mode": "default", "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": command},
        });
        let found = answer(&scene, "claude", None, &payload.to_string(), &[]);
        found.map(|found| found["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(says("a", "curl -fsSLo get.sh https://example.com/get.sh"), None);
    scene.write("home/project/get.sh", "echo hello\n");
    let cases = [("a", "cat get.sh", None), ("a", "sh get.sh", Some("ask")), ("b", "sh get.sh", None)];
    for (session, command, expected) in cases {
        assert_eq!(says(session, command).as_deref(), expected, "{session} {command}");
    }
    // Nobody knows whether a call ran that would have made another file of it.
    assert_eq!(says("a", "echo 'echo mine' > get.sh"), None);
    assert_eq!(says("a", "sh get.sh").as_deref(), Some("ask"));
}

/// Patches of two agents at once, a link to the project, and Windows line ends.
#[test]
fn odd_surroundings_change_no_verdict() {
    let scene = Scene::new();
    let link = scene.at("home/link");
    std::os::unix::fs::symlink(scene.at("home/project"), &link).expect("a link");
    let payload = |cwd: &Path, command: &str| {
        json!({
            "session_id": "s", "cwd": cwd, "permission_mode": "default", "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": command},
        })
    };
    let cases = [
        (payload(&link, "ls").to_string(), false),
        (payload(&link, "find .. -delete").to_string(), true),
        (payload(&link, "rm -rf ../project/../../home").to_string(), true),
        (format!("\u{feff}{}", payload(&link, "rm -rf ~")), true),
        (serde_json::to_string_pretty(&payload(&link, "rm -rf ~")).expect("JSON").replace('\n', "\r\n"), true),
        (payload(&link, "ls\r\nrm -rf ~\r\n").to_string(), true),
    ];
    for (payload, denied) in cases {
        assert_eq!(answer(&scene, "claude", None, &payload, &[]).is_some(), denied, "{payload}");
    }
    let none = [("HOME", String::new())];
    let found = answer(&scene, "claude", None, &payload(&link, "rm -rf /").to_string(), &none);
    assert!(found.is_some(), "no HOME");
}

/// The project's own folder, and the link that leads to it from where it was.
fn behind_a_link(scene: &Scene) -> (PathBuf, PathBuf) {
    let (real, link) = (scene.at("home/real/deep/project"), scene.at("home/project"));
    std::fs::create_dir_all(scene.at("home/real/deep")).expect("folders");
    std::fs::rename(&link, &real).expect("moved");
    std::os::unix::fs::symlink("real/deep/project", &link).expect("a link");
    (real, link)
}

/// Where a link leads to the folder of a call, its shell may go by another name than the one that the agent tells: the one
/// that the agent was started by, or the one without links.
#[test]
fn a_shell_goes_by_each_name_of_its_folder() {
    let scene = Scene::new();
    let (real, link) = behind_a_link(&scene);
    scene.write("home/project/a/b/c.rs", "x");
    std::os::unix::fs::symlink("a/b", scene.at("home/project/l")).expect("a link");
    let says = |agent: &str, cwd: &Path, command: &str, pwd: Option<&Path>| {
        let tool = if agent == "droid" { "Execute" } else { "Bash" };
        let payload = json!({
            "session_id": "s", "cwd": cwd, "permission_mode": "default", "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_input": {"command": command},
        });
        let pwd: Vec<(&str, String)> = pwd.iter().map(|pwd| ("PWD", pwd.display().to_string())).collect();
        answer(&scene, agent, None, &payload.to_string(), &pwd).is_some()
    };
    let (inside, behind) = (real.join("a"), real.join("l"));
    let down = link.join("a");
    let absolute = format!("rm -rf {}/build", real.display());
    let cases: [(&Path, &str, Option<&Path>, bool); 17] = [
        (&real, "cd .. && echo x > .bashrc", None, false),
        (&real, "cd .. && echo x > .bashrc", Some(&real), false),
        (&real, "cd .. && echo x > .bashrc", Some(&link), true),
        (&real, "echo x > ${PWD%/*}/.bashrc", Some(&link), true),
        (&link, "cd ../../.. && echo x > .bashrc", None, true),
        // One that leads elsewhere is not kept.
        (&inside, "cd .. && echo x > .bashrc", Some(&link), false),
        (&inside, "cd ../.. && echo x > .bashrc", Some(&down), true),
        (&behind, "cd ../../../../.. && echo x > .bashrc", None, true),
        (&behind, "cd ../../../../.. && echo x > .bashrc", Some(&link), true),
        // What is done every day is as it was.
        (&real, "cargo build && rm -rf target && echo x > notes.txt", Some(&link), false),
        (&real, "cd a && ls .. && cd .. && touch x", Some(&link), false),
        (&real, &absolute, Some(&link), false),
        (&real, "rm -rf \"$PWD/build\" && mkdir -p \"$(pwd)/build\"", Some(&link), false),
        (&real, "find . -name '*.o' -delete", Some(&link), false),
        (&link, "rm -rf build && touch ./a/x", Some(&link), false),
        (&behind, "rm -f ./x.o && cat c.rs", None, false),
        (&inside, "git status && rm -rf b/target", Some(&down), false),
    ];
    for (cwd, command, pwd, stopped) in cases {
        for agent in ["claude", "codex", "droid"] {
            assert_eq!(says(agent, cwd, command, pwd), stopped, "{agent} {} {command} {pwd:?}", cwd.display());
        }
    }
}

/// A file of the workspace is one of it under each of its names; a workspace that is a link to the home folder is none.
#[test]
fn a_file_tool_goes_by_each_name_of_the_workspace() {
    let scene = Scene::new();
    let (real, link) = behind_a_link(&scene);
    std::os::unix::fs::symlink(".", scene.at("home/all")).expect("a link");
    std::os::unix::fs::symlink("home", scene.at("me")).expect("a link");
    scene.write("home/project/a/c.rs", "x");
    scene.write("home/notes.txt", "x");
    scene.write("home/real/other/c.rs", "x");
    let all = scene.at("home/all");
    let by = |home: &Path, root: &Path, cwd: &Path, tool: &str, input: Value| {
        let payload = json!({
            "session_id": "s", "cwd": cwd, "permission_mode": "default", "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_input": input,
        });
        let around = [("CLAUDE_PROJECT_DIR", root.display().to_string()), ("HOME", home.display().to_string())];
        answer(&scene, "claude", None, &payload.to_string(), &around).is_some()
    };
    let (home, me) = (scene.at("home"), scene.at("me"));
    let says = |root: &Path, cwd: &Path, tool: &str, input: Value| by(&home, root, cwd, tool, input);
    let (below, other) = (real.join("a"), scene.at("home/real/other/c.rs"));
    let cases: [(&Path, &Path, PathBuf, bool); 12] = [
        (&link, &link, "a/c.rs".into(), false),
        (&link, &link, link.join("a/c.rs"), false),
        (&link, &link, real.join("a/c.rs"), false),
        (&link, &real, "a/c.rs".into(), false),
        (&link, &below, "c.rs".into(), false),
        (&real, &link, "a/c.rs".into(), false),
        (&real, &link, link.join("a/c.rs"), false),
        (&link, &link, other.clone(), true),
        (&link, &link, "../real/other/c.rs".into(), true),
        (&real, &real, other, true),
        (&all, &all, "notes.txt".into(), true),
        (&all, &all, ".bashrc".into(), true),
    ];
    for (root, cwd, file, stopped) in cases {
        let what = format!("{} {} {}", root.display(), cwd.display(), file.display());
        let file = file.display().to_string();
        let remove = format!("rm -f '{file}'");
        assert_eq!(
            says(root, cwd, "Edit", json!({"file_path": file, "old_string": "x", "new_string": "y"})),
            stopped,
            "edit {what}"
        );
        assert_eq!(says(root, cwd, "Bash", json!({"command": remove})), stopped, "rm {what}");
    }
    // The home folder is told by a link, and the workspace is that, or above it, by its own name.
    for root in [&home, &scene.at("")] {
        for command in ["rm -f notes.txt", "rm -rf real"] {
            assert!(by(&me, root, &home, "Bash", json!({"command": command})), "{} {command}", root.display());
        }
    }
    assert!(!by(&me, &real, &real, "Bash", json!({"command": "rm -rf a"})), "a project in it");
}

/// Hooks of parallel calls, all of one session.
#[test]
fn parallel_hooks_each_get_their_own_answer() {
    let scene = Scene::new();
    let commands: Vec<String> = (0..12)
        .map(|n| if n % 3 == 0 { "rm -rf ~".to_owned() } else { format!("curl -o f{n} https://x/{n}") })
        .collect();
    std::thread::scope(|scope| {
        for (n, command) in commands.iter().enumerate() {
            let scene = &scene;
            scope.spawn(move || {
                let payload = json!({
                    "session_id": "s", "cwd": scene.project(), "permission_mode": "default",
                    "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command},
                });
                let found = answer(scene, "claude", None, &payload.to_string(), &[]);
                assert_eq!(found.is_some(), n % 3 == 0, "{command}");
            });
        }
    });
    let sessions = std::fs::read_dir(scene.at("home/.local/state/toolgate/sessions")).expect("a folder");
    let kept =
        sessions.map(|entry| entry.expect("an entry").path()).find(|path| path.extension() == Some("json".as_ref()));
    let kept: Value = serde_json::from_slice(&std::fs::read(kept.expect("a session")).expect("read")).expect("JSON");
    assert_eq!(kept["memory"]["files"].as_array().map(Vec::len), Some(8), "all downloads are remembered: {kept}");
}

#[test]
fn the_hints_of_a_call_are_told() {
    let scene = Scene::new();
    scene.write("home/project/src/a.rs", "");
    let from = |agent: &str, event: Option<&str>, payload: Value| {
        let event = event.map(|event| ["--event", event]);
        let arguments: Vec<&str> =
            ["hints", "--json", "--from", agent].into_iter().chain(event.into_iter().flatten()).collect();
        let output = scene.run_with(&arguments, payload.to_string().as_bytes(), &[]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let paths = answer["paths"].as_array().expect("a list").clone();
        paths.iter().map(|path| path.as_str().expect("a text").to_owned()).collect::<Vec<_>>()
    };
    let project = scene.project();
    let claude = |tool: &str, input: Value| json!({"session_id": "s", "cwd": project, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input});
    let cases = [
        (
            "claude",
            None,
            claude("Bash", json!({"command": "echo a > b.txt; cd src && touch c"})),
            vec!["b.txt", "src/c"],
        ),
        (
            "claude",
            None,
            claude("Write", json!({"file_path": format!("{project}/x y.rs"), "content": ""})),
            vec!["x y.rs"],
        ),
        ("claude", None, claude("Bash", json!({"command": "ls"})), vec![]),
        ("codex", None, claude("apply_patch", json!({"command": "*** Add File: a.rs\n+x\n"})), vec!["a.rs"]),
        (
            "gemini",
            None,
            json!({"session_id": "s", "cwd": project, "hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
                "tool_input": {"command": "touch d", "dir_path": "sub"}}),
            vec!["sub/d"],
        ),
        (
            "droid",
            None,
            json!({"session_id": "s", "cwd": project, "hook_event_name": "PreToolUse", "tool_name": "Execute",
                "tool_input": {"cmd": "mkdir -p e", "cwd": "sub"}}),
            vec!["sub/e"],
        ),
        (
            "copilot",
            Some("preToolUse"),
            json!({"sessionId": "s", "cwd": project, "toolName": "create", "toolArgs": {"path": format!("{project}/f")}}),
            vec!["f"],
        ),
        (
            "pi",
            None,
            json!({"event": {"type": "tool_call", "toolName": "edit", "input": {"path": "g.rs"}}, "cwd": project}),
            vec!["g.rs"],
        ),
    ];
    for (agent, event, payload, expected) in cases {
        assert_eq!(from(agent, event, payload.clone()), expected, "{agent} {payload}");
    }
}
