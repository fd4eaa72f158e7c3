//! `toolgate install`, `uninstall` and `doctor` as people meet them: a home folder before and after.
//!
//! `install/NAME.before` is a configuration of the agent that the name begins with, `.after` what installing makes of
//! it, and `.back` what is left when it is taken out again, where that is not `.before` to the byte; with `.gone` nothing
//! is. `@` stands for the program. With `TOOLGATE_UPDATE` set, `.after` is written.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::person::{Terminal, left_out};
use crate::scene::Scene;
use serde_json::{Value, json};

/// Each agent with its configuration in a home folder and in a project.
const AGENTS: &[(&str, &str, &str)] = &[
    ("claude", ".claude/settings.json", ".claude/settings.json"),
    ("codex", ".codex/hooks.json", ".codex/hooks.json"),
    ("copilot", ".copilot/hooks/toolgate.json", ".github/hooks/toolgate.json"),
    ("cursor", ".cursor/hooks.json", ".cursor/hooks.json"),
    ("droid", ".factory/hooks.json", ".factory/hooks.json"),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    ("opencode", ".config/opencode/plugins/toolgate.js", ".opencode/plugins/toolgate.js"),
    ("pi", ".pi/agent/extensions/toolgate.ts", ".pi/extensions/toolgate.ts"),
];

/// A home folder with a program in it that does not move.
struct Home {
    scene: Scene,
    program: PathBuf,
}

impl Home {
    fn new() -> Self {
        let scene = Scene::new();
        let program = scene.at("bin/toolgate");
        fs::create_dir_all(scene.at("bin")).expect("a folder");
        let built = env!("CARGO_BIN_EXE_toolgate");
        if fs::hard_link(built, &program).is_err() {
            fs::copy(built, &program).expect("a copy");
        }
        Home { scene, program }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.scene.at("home").join(path)
    }

    /// The link of an agent beside the program.
    fn link(&self, agent: &str) -> PathBuf {
        self.program.with_file_name(format!("toolgate-hook-{agent}"))
    }

    /// Runs a hook with this payload: the exit code, and what is said on standard output.
    fn hook(&self, mut command: Command, payload: &Value) -> (Option<i32>, String) {
        command.current_dir(self.at("project")).env_clear().env("HOME", self.at("")).env("TOOLGATE_NO_SERVE", "1");
        let mut child = command
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        // What has answered already need not read it.
        let _ = child.stdin.take().expect("a pipe").write_all(payload.to_string().as_bytes());
        let output = child.wait_with_output().expect("it ends");
        (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(path).parent().expect("a folder")).expect("a folder");
        fs::write(self.at(path), text).expect("written");
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn start(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.at("project")).env_clear().env("HOME", self.at(""));
        command.env("PATH", "/nowhere").envs(environment.iter().copied()).stdin(Stdio::null());
        command.output().expect("the command ends")
    }

    /// The exit code, and what is said.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        said(&self.start(arguments, &[]))
    }

    /// The same at a terminal of a person's own, who types this, or the word for which they are asked.
    fn at_terminal(&self, arguments: &str, types: Option<&str>) -> (i32, String) {
        let program = self.program.display();
        let mut terminal = Terminal::new(&self.scene, &format!("cd project; PATH=/nowhere {program} {arguments}"));
        let word = terminal.word();
        terminal.answer(types.unwrap_or(&word));
        (terminal.exit(), terminal.seen.clone())
    }

    fn doctor(&self, agent: &str) -> Value {
        self.doctor_with(agent, &[])
    }

    fn doctor_with(&self, agent: &str, environment: &[(&str, &str)]) -> Value {
        let output = self.start(&["doctor", agent, "--json"], environment);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(output.status.code(), Some(if answer["ok"] == true { 0 } else { 1 }), "{answer}");
        answer["agents"][0].clone()
    }

    /// Writes a program that is a shell script of builtins only.
    fn script(&self, path: &str, lines: &str) {
        self.write(path, format!("#!/bin/sh\n{lines}\n"));
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// Every folder below the home folder.
    fn folders(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.at("")];
        let mut next = 0;
        while let Some(folder) = folders.get(next).cloned() {
            next += 1;
            let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
            folders.extend(entries.filter(|path| path.is_dir()));
        }
        folders.retain(|path| !path.starts_with(self.at(".local")));
        folders.sort();
        folders
    }

    /// Every file below the home folder, with what it holds; not which folders Toolgate made.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut folders = vec![self.at("")];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.starts_with(self.at(".local/state/toolgate")) {
                    files.push((path.clone(), fs::read(path).expect("read")));
                }
            }
        }
        files.sort();
        files
    }
}

fn said(output: &Output) -> (i32, String) {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    (output.status.code().expect("no signal"), String::from_utf8(text).expect("UTF-8"))
}

/// The level of a check.
fn level<'a>(report: &'a Value, check: &str) -> &'a str {
    let found = report["checks"].as_array().expect("a list").iter().rev().find(|one| one["check"] == check);
    found.map_or("", |found| found["level"].as_str().expect("a level"))
}

fn file_of(agent: &str) -> &'static str {
    AGENTS.iter().find(|(name, ..)| *name == agent).expect("an agent").1
}

#[test]
fn configurations_are_changed_as_their_cases_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/install");
    let mut cases: Vec<PathBuf> =
        fs::read_dir(&folder).expect("cases").map(|case| case.expect("a case").path()).collect();
    cases.retain(|case| case.extension().is_some_and(|extension| extension == "before"));
    cases.sort();
    assert!(cases.len() > 10);
    for case in cases {
        let name = case.file_stem().expect("a name").to_str().expect("UTF-8");
        let agent = name.split('-').next().expect("an agent");
        let path = file_of(agent);
        let home = Home::new();
        let before = fs::read(&case).expect("a case");
        home.write(path, &before);
        let (code, text) = home.run(&["install", agent]);
        assert_eq!(code, 0, "{name}: {text}");
        let after = home.read(path);
        let shown = after.replace(home.program.to_str().expect("UTF-8"), "@");
        if std::env::var_os("TOOLGATE_UPDATE").is_some() {
            fs::write(case.with_extension("after"), &shown).expect("written");
        }
        assert_eq!(shown, fs::read_to_string(case.with_extension("after")).expect("a case"), "{name}");
        let (code, text) = home.run(&["install", agent]);
        assert!(code == 0 && text.contains("nothing to do"), "{name}: {text}");
        assert_eq!(home.read(path), after, "{name}: the second time");
        // Before the first change, and only then, it was copied.
        assert_eq!(fs::read(home.at(&format!("{path}.toolgate-backup"))).expect("a backup"), before, "{name}");
        assert!(!home.at(&format!("{path}.toolgate-backup-2")).exists(), "{name}");
        if left_out() {
            continue;
        }
        let (code, text) = home.at_terminal(&format!("uninstall {agent}"), None);
        assert_eq!(code, 0, "{name}: {text}");
        let back = fs::read(case.with_extension("back")).unwrap_or(before);
        let back = (!case.with_extension("gone").exists()).then_some(back);
        assert_eq!(fs::read(home.at(path)).ok(), back, "{name}: back");
        let (_, text) = home.run(&["uninstall", agent]);
        assert!(text.contains("nothing to do"), "{name}: {text}");
    }
}

#[test]
fn an_empty_home_is_empty_again_afterwards() {
    for (agent, user, project) in AGENTS {
        for (option, path) in [("--user", (*user).to_owned()), ("--project", format!("project/{project}"))] {
            let home = Home::new();
            let (before, folders) = (home.files(), home.folders());
            let (code, shown) = home.run(&["install", agent, option, "--dry-run"]);
            assert!(code == 0 && shown.contains("+++") && home.files() == before, "{agent} {option}: {shown}");
            let (code, text) = home.run(&["install", agent, option]);
            assert_eq!(code, 0, "{agent} {option}: {text}");
            assert!(home.read(&path).contains(home.program.to_str().expect("UTF-8")), "{agent} {option}");
            let after = home.files();
            assert_eq!(after.len(), before.len() + 1, "{agent} {option}");
            let (code, text) = home.run(&["install", agent, option]);
            assert!(code == 0 && text.contains("nothing to do"), "{agent} {option}: {text}");
            let (_, shown) = home.run(&["uninstall", agent, option, "--dry-run"]);
            assert!(shown.contains("---") && home.files() == after, "{agent} {option}: {shown}");
            if left_out() {
                continue;
            }
            let (code, text) = home.at_terminal(&format!("uninstall {agent} {option}"), None);
            assert_eq!(code, 0, "{agent} {option}: {text}");
            // Nor is a copy left of what Toolgate alone had written.
            assert_eq!(home.files().len(), before.len(), "{agent} {option}");
            assert_eq!(home.folders(), folders, "{agent} {option}: {text}");
        }
    }
}

/// A folder that was there before stays, and so does one that somebody has put something in.
#[test]
fn only_folders_that_it_made_are_removed() {
    if left_out() {
        return;
    }
    for (before, put, left) in [(Some(".codex"), None, true), (None, Some(".codex/notes"), true), (None, None, false)] {
        let home = Home::new();
        before.into_iter().for_each(|folder| fs::create_dir(home.at(folder)).expect("a folder"));
        assert_eq!(home.run(&["install", "codex"]).0, 0);
        put.into_iter().for_each(|file| home.write(file, "mine"));
        assert_eq!(home.at_terminal("uninstall codex", None).0, 0);
        assert_eq!(home.at(".codex").is_dir(), left, "{before:?} {put:?}");
        assert!(!home.at(".local/state/toolgate/folders.json").exists() || put.is_some(), "{before:?}");
    }
}

/// Problems come first, the last line counts them, and an empty folder is no agent.
#[test]
fn doctor_begins_with_problems_and_ends_with_their_number() {
    let home = Home::new();
    fs::create_dir(home.at(".claude")).expect("a folder");
    let (code, text) = home.run(&["doctor"]);
    assert!(code == 0 && text.starts_with("no agent found\n") && !text.contains("Claude"), "{text}");
    assert!(text.lines().last().is_some_and(|line| line.starts_with("no problems in ")), "{text}");
    home.write(".config/toolgate/toolgate.yaml", "rules: [{program: git push}]");
    home.write(".codex/config.toml", "");
    let (code, text) = home.run(&["doctor"]);
    let first = text.lines().next().unwrap_or_default().to_owned();
    assert!(code == 1 && (first == "Codex" || first == "Your files"), "{text}");
    let levels = text.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let levels: Vec<&str> = levels.filter(|level| ["ok", "warn", "fail"].contains(level)).collect();
    let of = |level: &str| levels.iter().filter(|one| **one == level).count();
    assert!(of("warn") > 0, "{text}");
    let last = text.lines().last().unwrap_or_default();
    assert!(last.contains(&format!("{} warning", of("warn"))) && last.contains("check"), "{text}");
}

#[test]
fn what_cannot_be_read_is_refused_and_stays() {
    let cases: &[(&str, &[u8], i32)] = &[
        ("claude", b"{", 65),
        ("claude", b"[]", 65),
        ("claude", b"// nothing", 65),
        ("claude", b"{\"a\": 1 \"b\": 2}", 65),
        ("claude", b"{\"hooks\": 1}", 65),
        ("claude", b"{\"hooks\": {\"PreToolUse\": {}}}", 65),
        ("claude", b"{\"hooks\": {}, \"hooks\": {}}", 65),
        ("claude", b"{\"a\": \"\xff\"}", 65),
        ("codex", b"hooks = 1", 65),
        ("droid", b"{\"PreToolUse\": null}", 65),
        ("gemini", b"{\"hooksConfig\": true}", 65),
        ("cursor", b"{'version': 1}", 65),
    ];
    for (agent, before, code) in cases {
        let home = Home::new();
        home.write(file_of(agent), before);
        let files = home.files();
        let shown = String::from_utf8_lossy(before);
        let (found, text) = home.run(&["install", agent]);
        assert_eq!(found, *code, "{agent} {shown}: {text}");
        assert!(text.contains(home.at(file_of(agent)).to_str().expect("UTF-8")), "{text}");
        home.run(&["uninstall", agent]);
        assert!(home.files() == files, "{agent} {shown} was changed");
    }
    // A shim's place, but not our shim.
    let home = Home::new();
    home.write(file_of("pi"), "export default () => {};\n");
    assert_eq!(home.run(&["uninstall", "pi"]).0, 65);
    assert_eq!(home.run(&["install", "pi"]).0, 65);
    assert_eq!(home.read(".pi/agent/extensions/toolgate.ts"), "export default () => {};\n");
    // No file at all.
    let home = Home::new();
    fs::create_dir_all(home.at(".codex/hooks.json")).expect("a folder");
    assert_eq!(home.run(&["install", "codex"]).0, 66);
}

#[test]
fn a_link_stays_a_link_and_a_mode_stays() {
    let home = Home::new();
    home.write("dotfiles/settings.json", "{}\n");
    fs::set_permissions(home.at("dotfiles/settings.json"), fs::Permissions::from_mode(0o640)).expect("a mode");
    fs::create_dir_all(home.at(".claude")).expect("a folder");
    symlink("../dotfiles/settings.json", home.at(".claude/settings.json")).expect("a link");
    assert_eq!(home.run(&["install", "claude"]).0, 0);
    assert!(home.at(".claude/settings.json").is_symlink());
    assert!(home.read("dotfiles/settings.json").contains("PreToolUse"));
    assert_eq!(home.read("dotfiles/settings.json.toolgate-backup"), "{}\n");
    let mode = fs::metadata(home.at("dotfiles/settings.json")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    fs::remove_file(home.at("dotfiles/settings.json")).expect("removed");
    let (code, text) = home.run(&["install", "claude"]);
    assert!(code == 66 && text.contains("link"), "{text}");
}

#[test]
fn a_backup_is_never_overwritten() {
    let home = Home::new();
    let path = file_of("claude");
    for (number, text) in [("", "{\"a\": 1}"), ("-2", "{\"a\": 2}"), ("-3", "{\"a\": 3}")] {
        home.write(path, text);
        home.run(&["install", "claude"]);
        assert_eq!(home.read(&format!("{path}.toolgate-backup{number}")), text);
    }
}

#[test]
fn where_nothing_can_be_written_nothing_is() {
    let home = Home::new();
    // Not even root can make a folder there.
    home.write(".claude", "a file");
    let files = home.files();
    let (code, text) = home.run(&["install", "claude"]);
    assert!(code != 0 && text.contains(".claude"), "{text}");
    assert!(home.files() == files);
    let cases: &[(&[(&str, &str)], i32)] = &[
        (&[("HOME", "relative")], 66),
        (&[("CLAUDE_CONFIG_DIR", "relative")], 64),
        (&[("CLAUDE_CONFIG_DIR", "/proc/nowhere")], 74),
    ];
    for (environment, expected) in cases {
        let (code, text) = said(&home.start(&["install", "claude"], environment));
        assert_eq!(code, *expected, "{environment:?} {text}");
    }
    assert!(home.files() == files);
}

#[test]
fn variables_and_arguments_say_where() {
    let cases = [
        ("claude", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("copilot", "COPILOT_HOME", "hooks/toolgate.json"),
        ("pi", "PI_CODING_AGENT_DIR", "extensions/toolgate.ts"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugins/toolgate.js"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("droid", "FACTORY_HOME_OVERRIDE", ".factory/hooks.json"),
    ];
    for (agent, variable, file) in cases {
        let home = Home::new();
        let folder = home.at("elsewhere");
        let output = home.start(&["install", agent], &[(variable, folder.to_str().expect("UTF-8"))]);
        assert!(output.status.success() && folder.join(file).exists(), "{agent}");
        // Nor does an agent change it there.
        let rm = format!("rm {}", folder.join(file).display());
        let said = home.start(&["check", "--cwd", "/", &rm], &[(variable, folder.to_str().expect("UTF-8"))]);
        assert!(said.stdout.starts_with(b"block"), "{agent}: {said:?}");
    }
    let home = Home::new();
    let cases: &[(&[&str], i32)] = &[
        (&["install"], 64),
        (&["install", "nobody"], 64),
        (&["install", "claude", "--user", "--project"], 64),
        (&["uninstall", "claude"], 0),
        (&["uninstall", "claude", "--packs", "cloud"], 64),
        (&["uninstall", "claude", "--terminal"], 64),
        (&["doctor", "nobody"], 64),
        (&["doctor"], 0),
    ];
    for (arguments, expected) in cases {
        let (code, text) = home.run(arguments);
        assert_eq!(code, *expected, "{arguments:?} {text}");
    }
}

#[test]
fn what_is_left_to_the_user_is_said() {
    let cases: &[(&[&str], &str)] = &[
        (&["install", "codex"], "/hooks"),
        (&["install", "codex", "--project"], "--user is safer"),
        (&["install", "copilot", "--project"], "silently skips"),
        (&["install", "pi", "--project"], "trust"),
        (&["install", "cursor"], "was not tested"),
        (&["install", "pi", "--packs", "cloud"], "has no setting for --packs; your rule file"),
        (&["install", "pi", "--packs", "nope"], "has no setting for --packs; your rule file"),
        (&["install", "pi", "--no-lens"], "has no setting for --no-lens; your rule file"),
        (&["install", "pi", "--no-lens", "--packs", "cloud"], "has no setting for --packs, --no-lens; your rule file"),
        // The program of this test is in a temporary folder.
        (&["install", "claude"], "/usr/local/bin/toolgate install claude"),
    ];
    for (arguments, expected) in cases {
        let (_, text) = Home::new().run(arguments);
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
    let home = Home::new();
    home.write(file_of("gemini"), "{\"hooksConfig\": {\"enabled\": false}}");
    let (_, text) = home.run(&["install", "gemini"]);
    assert!(text.contains("hooksConfig.enabled"), "{text}");
    assert!(home.read(file_of("gemini")).contains("\"enabled\": false"));
}

/// Switched on it stays on, until it is switched off.
#[test]
fn the_terminal_is_shared_as_it_was_said_last() {
    let home = Home::new();
    let steps: &[(&[&str], bool)] = &[
        (&["install", "pi"], false),
        (&["install", "pi", "--terminal"], true),
        (&["install", "pi"], true),
        (&["install", "pi", "--no-terminal"], false),
        (&["install", "pi", "--no-terminal", "--terminal"], true),
        (&["uninstall", "pi"], false),
        (&["install", "pi"], false),
    ];
    for (arguments, expected) in steps {
        let code = match arguments {
            ["uninstall", ..] if left_out() => return,
            ["uninstall", ..] => home.at_terminal(&arguments.join(" "), None).0,
            _ => home.run(arguments).0,
        };
        assert_eq!(code, 0, "{arguments:?}");
        let file = home.at(file_of("pi"));
        let text = fs::read_to_string(file).unwrap_or_default();
        assert_eq!(text.contains("const TERMINAL = true;\n"), *expected, "{arguments:?}");
        if !text.is_empty() {
            assert_eq!(level(&home.doctor("pi"), "form"), "ok", "{arguments:?}");
        }
    }
    // For every other agent it is an MCP server.
    for (agent, expected) in
        [("claude", "claude mcp add toolgate --scope user -- "), ("codex", "env_vars"), ("opencode", " mcp ")]
    {
        let (code, text) = Home::new().run(&["install", agent, "--terminal"]);
        assert!(code == 0 && text.contains(expected) || agent == "opencode" && text.contains("argument mcp"), "{text}");
        assert!(!Home::new().run(&["install", agent]).1.contains("MCP"), "only if it is asked for");
    }
}

#[test]
fn doctor_says_where_the_terminal_is_offered() {
    let terminal = |home: &Home, variables: &[(&str, &str)]| {
        let output = home.start(&["doctor", "--json"], variables);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        answer["terminal"].clone()
    };
    let inside = [("TMUX", "/none,1,0"), ("TMUX_PANE", "%0")];
    let home = Home::new();
    assert_eq!(terminal(&home, &[])["checks"].as_array().map(Vec::len), Some(1), "nobody is offered it");
    home.run(&["install", "pi", "--terminal"]);
    home.write(
        ".claude.json",
        r#"{"mcpServers": {"toolgate": {"command": "/usr/local/bin/toolgate", "args": ["mcp"]}}}"#,
    );
    home.write(".codex/config.toml", "[mcp_servers.x]\ncommand = \"toolgate\"\nargs = [\"mcp\"]\n");
    home.write("project/.mcp.json", r#"{"mcpServers": {"other": {"command": "other"}}}"#);
    for (variables, expected) in [(&inside[..], "ok"), (&[], "warn")] {
        let report = terminal(&home, variables);
        assert_eq!(level(&report, "inside"), expected, "{report}");
        // There is no tmux on the way to /nowhere.
        assert_eq!(level(&report, "tmux"), "warn", "{report}");
        let text = report.to_string();
        assert!(
            text.contains("toolgate.ts") && text.contains(".claude.json") && text.contains("config.toml"),
            "{text}"
        );
        assert!(!text.contains(".mcp.json"), "{text}");
        // Nothing there passes the variables of tmux on to Codex' server.
        assert_eq!(level(&report, "passed"), "warn", "{report}");
    }
    // Where variables have the agents' folders elsewhere it is looked for there.
    let home = Home::new();
    home.write(
        "x/config.toml",
        "[mcp_servers.t]\ncommand = \"toolgate\"\nargs = [\"mcp\"]\nenv_vars = [\"TMUX\", \"TMUX_PANE\"]\n",
    );
    home.write("x/.claude.json", r#"{"mcpServers": {"toolgate": {"command": "/usr/bin/toolgate", "args": ["mcp"]}}}"#);
    let moved = home.at("x").display().to_string();
    for (variable, file) in [("CODEX_HOME", "x/config.toml"), ("CLAUDE_CONFIG_DIR", "x/.claude.json")] {
        let report = terminal(&home, &[(variable, moved.as_str())]);
        assert!(report.to_string().contains(file), "{variable}: {report}");
        assert_eq!(level(&report, "passed"), "", "{variable}: {report}");
    }
}

#[test]
fn doctor_says_what_is_wrong_with_the_users_files() {
    let cases = [
        ("tools.yaml", "claude: {a: {kind: nope}}", "tools", "fail", "unknown variant"),
        ("tools.yaml", "claude: {a: {kind: read}}", "tools", "", ""),
        ("toolgate.yaml", "rules: [", "rules", "warn", "toolgate.yaml"),
        ("toolgate.yaml", "rules: [{name: x}]", "rules", "warn", "toolgate.yaml:1"),
        ("toolgate.yaml", "rules: []", "rules", "", ""),
    ];
    for (file, text, check, expected, says) in cases {
        let home = Home::new();
        home.write(&format!(".config/toolgate/{file}"), text);
        let output = home.start(&["doctor", "--json"], &[]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let files = &answer["files"];
        assert_eq!((level(files, check), level(files, "alone")), (expected, "ok"), "{text}: {files}");
        let found = files.to_string();
        assert!(found.contains(says) && !found.contains("\\n"), "{text}: {found}");
        assert_eq!(output.status.code(), Some(i32::from(!expected.is_empty())), "{text}: {answer}");
    }
}

#[test]
fn the_trial_goes_through_the_configured_command() {
    for (agent, ..) in AGENTS {
        let home = Home::new();
        let report = home.doctor(agent);
        assert_eq!((&report["installed"], level(&report, "installed")), (&json!(false), "warn"), "{agent}");
        home.run(&["install", agent]);
        let report = home.doctor(agent);
        assert_eq!(report["installed"], true, "{agent}");
        for check in ["installed", "form", "program", "double", "denies", "passes", "asks", "time"] {
            assert_eq!(level(&report, check), "ok", "{agent} {check}: {report}");
        }
        // A trial is no sign of life, and nothing to log.
        assert_eq!(level(&report, "fired"), "warn", "{agent}");
        for file in ["audit.jsonl", "fired", "stopped.json"] {
            assert!(!home.at(".local/state/toolgate").join(file).exists(), "{agent} {file}");
        }
    }
}

#[test]
fn every_silent_failure_has_its_check() {
    let program = "@PROGRAM@";
    let claude = |more: &str| {
        format!(
            r#"{{"hooks": {{"PreToolUse": [{{"matcher": "*", "hooks": [{{"type": "command", "command": "{program}-hook-claude", "args": ["PreToolUse"], "timeout": 10, "onFailure": "block"{more}}}]}}]}}}}"#
        )
    };
    let shell = |agent: &str, event: &str, more: &str| {
        let command = format!("{program}-hook-{agent} {event}");
        format!(r#"{{"{event}": [{{"hooks": [{{"type": "command", "command": "{command}"{more}}}]}}]}}"#)
    };
    let copilot = |more: &str| {
        format!(
            r#"{{"version": 1, "hooks": {{"preToolUse": [{{"type": "command", "bash": "{program}-hook-copilot preToolUse", "timeoutSec": 10{more}}}]}}}}"#
        )
    };
    let within = |inner: String, more: &str| format!(r#"{{"hooks": {inner}{more}}}"#);
    let cases = [
        ("claude", claude(""), "events", "warn"),
        ("claude", claude(r#", "async": true"#), "form", "fail"),
        ("claude", claude(r#", "if": "Bash(ls)""#), "form", "fail"),
        ("claude", claude("").replace(r#""onFailure": "block""#, r#""onFailure": "continue""#), "form", "fail"),
        ("claude", claude("").replace("10", "5"), "form", "fail"),
        ("claude", claude("").replace(r#""*""#, r#""Bash""#), "form", "fail"),
        ("claude", claude("").replace(program, "/nowhere/toolgate"), "program", "fail"),
        ("claude", claude("").replace(program, "toolgate"), "program", "fail"),
        ("claude", claude("").replace(r#"{"hooks": {"#, r#"{"disableAllHooks": true, "hooks": {"#), "enabled", "fail"),
        ("claude", claude("").replace("PreToolUse", "preToolUse"), "events", "fail"),
        ("claude", claude("").replace(r#"{"hooks": {"#, r#"{"hook": {"#), "nesting", "fail"),
        (
            "claude",
            claude("")
                .replace(r#""args": ["PreToolUse"], "#, "")
                .replace("@PROGRAM@-hook-claude", "@PROGRAM@-hook-claude || true"),
            "form",
            "warn",
        ),
        // As earlier versions wrote it.
        (
            "claude",
            claude("").replace("@PROGRAM@-hook-claude", program).replace(r#"["PreToolUse"]"#, r#"["hook", "claude"]"#),
            "form",
            "warn",
        ),
        (
            "codex",
            within(shell("codex", "PreToolUse", r#", "timeout": 10"#), "")
                .replace("@PROGRAM@-hook-codex PreToolUse", "@PROGRAM@ hook codex"),
            "form",
            "warn",
        ),
        (
            "copilot",
            copilot("").replace(
                r#""bash": "@PROGRAM@-hook-copilot preToolUse""#,
                r#""exec": "@PROGRAM@", "args": ["hook", "copilot", "preToolUse"]"#,
            ),
            "form",
            "fail",
        ),
        ("claude", "{".to_owned(), "readable", "fail"),
        (
            "claude",
            claude("").replace(r#""hooks": [{"#, r#""hooks": [{"type": "command", "command": "other"}, {"#),
            "others",
            "ok",
        ),
        (
            "codex",
            within(shell("codex", "PreToolUse", ""), "")
                .replace(r#""hooks": [{"#, r#""hooks": [{"type": "command", "command": "other"}, {"#),
            "others",
            "warn",
        ),
        ("claude", claude(""), "others", "ok"),
        ("claude", claude(""), "asks", "ok"),
        ("codex", within(shell("codex", "PreToolUse", ""), ""), "typed", "warn"),
        ("codex", within(shell("codex", "PreToolUse", ""), ""), "enabled", "ok"),
        ("codex", within(shell("codex", "PreToolUse", r#", "timeout": 10"#), ""), "trusted", "fail"),
        ("codex", within(shell("codex", "PreToolUse", ""), r#", "version": 1"#), "readable", "fail"),
        ("codex", within(shell("codex", "PreToolUse", ""), " // x\n"), "readable", "warn"),
        ("droid", within(shell("droid", "PreToolUse", ""), ""), "nesting", "fail"),
        (
            "droid",
            shell("droid", "PreToolUse", "").replace(r#"{"hooks""#, r#"{"commandRegex": "^git", "hooks""#),
            "form",
            "fail",
        ),
        ("droid", shell("droid", "PreToolUse", "").replace('{', r#"{"hooksDisabled": true, "#), "enabled", "fail"),
        // In milliseconds: no answer is there so soon.
        ("gemini", within(shell("gemini", "BeforeTool", r#", "timeout": 1"#), ""), "time", "warn"),
        ("copilot", copilot(r#", "matcher": "*""#), "form", "fail"),
        ("copilot", copilot(r#", "matcher": ".*""#), "form", "ok"),
        ("copilot", copilot(""), "readable", "ok"),
        ("copilot", copilot("").replace(r#""version": 1"#, r#""version": 2"#), "readable", "fail"),
        ("cursor", copilot("").replace(r#""version": 1, "#, "").replace("copilot", "cursor"), "readable", "fail"),
        ("gemini", within(shell("gemini", "PreToolUse", ""), ""), "events", "fail"),
        ("gemini", within(shell("gemini", "BeforeTool", r#", "timeout": 10"#), ""), "form", "fail"),
        (
            "gemini",
            within(shell("gemini", "BeforeTool", ""), r#", "hooksConfig": {"enabled": false}"#),
            "enabled",
            "fail",
        ),
        (
            "gemini",
            within(
                shell("gemini", "BeforeTool", r#", "name": "toolgate""#),
                r#", "hooksConfig": {"disabled": ["toolgate"]}"#,
            ),
            "enabled",
            "fail",
        ),
        (
            "copilot",
            format!(
                r#"{{"version": 1, "hooks": {{"preToolUse": [{{"type": "command", "exec": "{program}", "args": ["hook", "copilot"]}}]}}}}"#
            ),
            "form",
            "fail",
        ),
        (
            "cursor",
            format!(
                r#"{{"version": 1, "hooks": {{"beforeShellExecution": [{{"command": "{program} hook cursor", "timeout": 10}}]}}}}"#
            ),
            "form",
            "fail",
        ),
    ];
    for (agent, text, check, expected) in cases {
        let home = Home::new();
        symlink("toolgate", home.link(agent)).expect("a link");
        home.write(file_of(agent), text.replace(program, home.program.to_str().expect("UTF-8")));
        let report = home.doctor(agent);
        let found = report["checks"].as_array().expect("a list").iter();
        let levels: Vec<&Value> = found.filter(|one| one["check"] == check).map(|one| &one["level"]).collect();
        assert!(levels.contains(&&json!(expected)), "{agent} {check} {text}: {report}");
    }
}

#[test]
fn a_hook_that_is_asked_leaves_a_sign_of_life() {
    let home = Home::new();
    home.run(&["install", "claude"]);
    let cwd = home.at("project").display().to_string();
    let payload = json!({
        "session_id": "s", "cwd": cwd, "permission_mode": "default", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": { "command": "true" }, "tool_use_id": "t",
    });
    let mut command = Command::new(&home.program);
    command.args(["hook", "claude"]).env_clear().env("HOME", home.at("")).env("TOOLGATE_NO_SERVE", "1");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(payload.to_string().as_bytes()).expect("written");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    // Its time is in whole seconds.
    let old = fs::File::open(home.at(file_of("claude"))).expect("the file");
    old.set_modified(std::time::UNIX_EPOCH).expect("a time");
    assert_eq!(level(&home.doctor("claude"), "fired"), "ok");
    old.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60)).expect("a time");
    assert_eq!(level(&home.doctor("claude"), "fired"), "warn");
}

#[test]
fn a_sign_of_life_is_one_before_a_call_of_late_and_by_this_program() {
    let home = Home::new();
    home.run(&["install", "claude"]);
    let file = fs::File::open(home.at(file_of("claude"))).expect("the file");
    file.set_modified(std::time::UNIX_EPOCH).expect("a time");
    let ago = |days: i64| format!("{:.0}", jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * days));
    let (now, version) = (ago(0), env!("CARGO_PKG_VERSION"));
    let cases = [
        (json!({ "gated": now }), "fired", "ok", "last at"),
        (json!({ "gated": now }), "unknown", "", ""),
        (json!({ "gated": ago(13) }), "fired", "ok", "last at"),
        (json!({ "gated": ago(15) }), "fired", "warn", "14 days"),
        (json!({}), "fired", "warn", "never before a call"),
        (json!({ "gated": now, "unknown": ["PreCompact", "Other"] }), "unknown", "warn", "PreCompact, Other"),
        (json!({ "gated": now, "version": "0.0.1" }), "fired", "warn", "0.0.1"),
        (json!({ "gated": now, "program": "/bin/toolgate" }), "fired", "warn", "/bin/toolgate"),
    ];
    for (more, check, expected, says) in cases {
        let mut sign = json!({ "schema": 1, "time": now, "version": version, "program": home.program });
        sign.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        home.write(".local/state/toolgate/fired/claude.json", sign.to_string());
        let report = home.doctor("claude");
        assert_eq!(level(&report, check), expected, "{sign}: {report}");
        assert!(report.to_string().contains(says), "{sign}: {report}");
    }
}

#[test]
fn an_agent_that_is_too_old_is_told() {
    let cases = [
        ("claude", "claude", "2.1.294 (Claude Code)", "warn"),
        ("claude", "claude", "2.1.295 (Claude Code)", "ok"),
        ("copilot", "copilot", "1.0.73", "warn"),
        ("copilot", "copilot", "1.0.74", "ok"),
        ("codex", "codex", "codex-cli 0.123.9", "warn"),
        ("codex", "codex", "codex-cli 0.169.0", "ok"),
        ("codex", "codex", "what?", "warn"),
        ("gemini", "gemini", "0.1.0", ""),
        ("claude", "other", "2.1.294", ""),
    ];
    for (agent, program, says, expected) in cases {
        let home = Home::new();
        home.run(&["install", agent]);
        home.script(&format!("path/{program}"), &format!("echo '{says}'"));
        let path = home.at("path").display().to_string();
        let report = home.doctor_with(agent, &[("PATH", &path)]);
        assert_eq!(level(&report, "version"), expected, "{agent} {says}: {report}");
    }
}

#[test]
fn whether_the_folder_is_trusted_is_told() {
    let cases = [
        ("gemini", "--user", "false", "fail"),
        ("gemini", "--user", "true", "ok"),
        ("gemini", "--user", "", ""),
        ("gemini", "--project", "", "warn"),
        ("copilot", "--project", "", "fail"),
        ("copilot", "--user", "", ""),
        ("pi", "--project", "", "warn"),
        ("codex", "--project", "", "fail"),
        ("claude", "--project", "", ""),
    ];
    for (agent, option, trusts, expected) in cases {
        let home = Home::new();
        home.run(&["install", agent, option]);
        let report = home.doctor_with(agent, &[("GEMINI_CLI_TRUST_WORKSPACE", trusts)]);
        assert_eq!(level(&report, "folder"), expected, "{agent} {option}: {report}");
    }
}

/// Droid reads them there for events that its own file has not.
#[test]
fn droids_second_file_counts_where_the_first_one_says_nothing() {
    let home = Home::new();
    home.run(&["install", "droid"]);
    let entries = home.read(file_of("droid"));
    home.write(".factory/settings.json", format!("{{\"hooks\": {entries}}}"));
    let cases = [
        (None, true, "ok"),
        (Some("{}"), true, "ok"),
        (Some(r#"{"PostToolUse": []}"#), true, "fail"),
        (Some(r#"{"PreToolUse": [{"hooks": [{"type": "command", "command": "other"}]}]}"#), true, "fail"),
    ];
    for (first, installed, nesting) in cases {
        fs::remove_file(home.at(file_of("droid"))).expect("removed");
        if let Some(first) = first {
            home.write(file_of("droid"), first);
        }
        let report = home.doctor("droid");
        assert_eq!(report["installed"], installed, "{first:?}: {report}");
        assert_eq!(level(&report, "nesting"), nesting, "{first:?}: {report}");
        assert_eq!(level(&report, "denies"), "ok", "{first:?}: {report}");
        if first.is_none() {
            home.write(file_of("droid"), "{}");
        }
    }
}

/// Whoever calls the program, and by whatever name, unless it is a person at a terminal of their own who types the word.
#[test]
fn only_a_person_takes_it_out_or_makes_it_see_less() {
    let home = Home::new();
    let (code, output) = home.run(&["install", "claude", "--packs", "nope"]);
    assert!(code == 64 && output.contains("no pack nope"), "{code} {output}");
    assert_eq!(home.run(&["install", "claude", "--packs", "cloud"]).0, 0);
    let before = home.files();
    fs::copy(&home.program, home.scene.at("bin/t")).expect("a copy");
    // What is called, whether it is refused, and what is said.
    let cases: &[(&[&str], bool, &str)] = &[
        (
            &["toolgate", "uninstall", "claude"],
            true,
            "Toolgate was not uninstalled: standard input is not the terminal",
        ),
        (&["toolgate", "uninstall", "claude"], true, "; run this command in a terminal of your own"),
        (&["t", "uninstall", "claude"], true, "Toolgate was not uninstalled"),
        (&["toolgate", "install", "claude", "--no-lens"], true, "the hook's options were not changed"),
        (&["toolgate", "install", "claude", "--packs", "databases"], true, "the hook's options were not changed"),
        (&["toolgate", "install", "claude", "--packs=-git"], true, "the hook's options were not changed"),
        (&["toolgate", "uninstall", "claude", "--dry-run"], false, "not removed"),
        (&["toolgate", "install", "claude", "--no-lens", "--dry-run"], false, "not changed"),
        (&["toolgate", "uninstall", "codex"], false, "nothing to do"),
        (&["toolgate", "install", "claude"], false, "nothing to do"),
    ];
    for (called, refused, expected) in cases {
        let mut command = Command::new(home.scene.at("bin").join(called[0]));
        command.args(&called[1..]).current_dir(home.at("project")).env_clear().env("HOME", home.at(""));
        let (code, text) = said(&command.stdin(Stdio::null()).output().expect("it ends"));
        assert_eq!(code, if *refused { 2 } else { 0 }, "{called:?}: {text}");
        assert!(text.contains(expected), "{called:?}: {text}");
        assert!(home.files() == before, "{called:?} changed something");
    }
    if left_out() {
        return;
    }
    let (code, text) = home.at_terminal("uninstall claude", Some("yes"));
    assert!(code == 2 && text.contains("that was not the word") && home.files() == before, "{text}");
    let (code, text) = home.at_terminal("install claude --no-lens", None);
    assert!(code == 0 && home.read(file_of("claude")).contains("--no-lens"), "{text}");
    assert_eq!(home.at_terminal("uninstall claude", None).0, 0);
}

#[test]
fn a_plugin_that_cannot_be_used_is_refused() {
    let home = Home::new();
    home.write("none.wasm", "no component");
    let before = home.files();
    for (agent, file, code, says) in [
        ("claude", "../none.wasm", 65, "is not a WebAssembly component"),
        ("claude", "../missing.wasm", 66, "missing.wasm"),
        ("pi", "../none.wasm", 64, "has no setting for --plugin"),
    ] {
        let (found, text) = home.run(&["install", agent, "--plugin", file]);
        assert!(found == code && text.contains(says), "{agent} {file}: {found} {text}");
        assert!(home.files() == before, "{agent} {file} changed something");
    }
}

#[test]
fn options_are_compared_by_the_packs_that_are_on() {
    let home = Home::new();
    // Each after the one before, and whether it is refused.
    let cases = [
        ("--packs=-git", false),
        ("--packs=cloud", false),
        ("--packs=databases", true),
        ("--packs=databases,cloud", false),
        ("--packs=all", false),
        ("--packs=cloud", true),
    ];
    for (packs, refused) in cases {
        let (code, text) = home.run(&["install", "claude", packs]);
        assert_eq!(code, if refused { 2 } else { 0 }, "{packs}: {text}");
        assert_eq!(home.read(file_of("claude")).contains(packs), !refused, "{packs}: {text}");
    }
}

#[test]
fn two_installations_are_told() {
    let home = Home::new();
    home.run(&["install", "claude"]);
    let (_, text) = home.run(&["install", "claude", "--project"]);
    assert!(text.contains("written"), "{text}");
    assert_eq!(level(&home.doctor("claude"), "double"), "warn");
    if left_out() {
        return;
    }
    let (_, text) = home.at_terminal("uninstall claude", None);
    assert!(text.contains("--project"), "{text}");
    home.run(&["install", "copilot"]);
    assert_eq!(level(&home.doctor("copilot"), "double"), "warn");
    let settings = home.read("project/.claude/settings.json");
    home.at_terminal("uninstall claude --project", None);
    assert_eq!(level(&home.doctor("copilot"), "double"), "ok");
    home.run(&["install", "cursor"]);
    assert_eq!(level(&home.doctor("cursor"), "double"), "ok");
    let cases = [
        ("project/.claude/settings.json", "warn", "warn"),
        ("project/.claude/settings.local.json", "warn", "warn"),
        (".claude/settings.json", "ok", "warn"),
    ];
    for (path, copilot, cursor) in cases {
        home.write(path, &settings);
        assert_eq!(level(&home.doctor("copilot"), "double"), copilot, "{path}");
        assert_eq!(level(&home.doctor("cursor"), "double"), cursor, "{path}");
        fs::remove_file(home.at(path)).expect("removed");
    }
}

#[test]
fn no_program_is_run_but_this_one() {
    let this = env!("CARGO_BIN_EXE_toolgate");
    for file in ["project/.factory/hooks.json", file_of("droid")] {
        // A handler, and whether the program is told to be another one.
        for (handler, other) in [
            (json!({ "command": "TOOL hook droid" }), true),
            (json!({ "command": "TOOL-hook-droid PreToolUse" }), true),
            (json!({ "command": "toolgate-hook-droid" }), true),
            (json!({ "command": "toolgate hook droid" }), true),
            (json!({ "exec": format!("{this} hook droid"), "command": "TOOL" }), false),
            (json!({ "command": format!("{this} hook droid; TOOL") }), false),
        ] {
            let home = Home::new();
            let marker = home.at("ran");
            let tool = home.at("project/tools/toolgate");
            home.write("project/tools/toolgate", format!("#!/bin/sh\ntouch {}\n", marker.display()));
            fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).expect("a mode");
            fs::copy(&tool, home.at("project/tools/toolgate-hook-droid")).expect("a copy");
            for name in ["toolgate", "toolgate-hook-droid"] {
                symlink(this, home.at(&format!("project/{name}"))).expect("a link to this one");
            }
            let handler = handler.to_string().replace("TOOL", &tool.display().to_string());
            let hooks = format!(r#"{{"PreToolUse":[{{"hooks":[{handler}]}}]}}"#);
            home.write(file, hooks.clone());
            let report = home.doctor("droid");
            assert!(!marker.exists(), "{file}: {hooks}");
            let said = report.to_string();
            assert!(!other || !said.contains("this one"), "{file}: {hooks}: {said}");
            // Nor is an administrator told to install it.
            assert!(!other || !said.contains("sudo install"), "{file}: {hooks}: {said}");
        }
    }
}

/// Agents and the payload of a shell call that each of them sends, and how each is told that it is denied.
fn senders(project: &str, command: &str) -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let claude = |tool: &str| {
        json!({
            "session_id": "s", "cwd": project, "permission_mode": "default", "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_input": {"command": command},
        })
    };
    let with = |mut payload: Value, more: Value| {
        let fields = payload.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        payload
    };
    let vscode = json!({
        "sessionId": "s", "cwd": project, "hookEventName": "PreToolUse", "timestamp": "2026-01-01T00:00:00Z",
        "tool_name": "run_in_terminal", "tool_input": {"command": command},
    });
    let grok = json!({
        "sessionId": "s", "cwd": project, "hookEventName": "pre_tool_use", "timestamp": "2026-01-01T00:00:00Z",
        "toolName": "run_terminal_command", "toolInput": {"command": command}, "hook_event_name": "PreToolUse",
        "tool_name": "run_terminal_command", "tool_input": {"command": command}, "session_id": "s",
    });
    let cursor = json!({
        "conversation_id": "s", "workspace_roots": [project], "hook_event_name": "preToolUse", "tool_name": "Shell",
        "tool_input": {"command": command},
    });
    let copilot = json!({
        "sessionId": "s", "cwd": project, "timestamp": 1, "toolName": "bash", "toolArgs": {"command": command},
    });
    let gemini = json!({
        "session_id": "s", "cwd": project, "hook_event_name": "BeforeTool", "timestamp": "2026-01-01T00:00:00Z",
        "tool_name": "run_shell_command", "tool_input": {"command": command},
    });
    vec![
        ("claude", claude("Bash"), "/hookSpecificOutput/permissionDecision", "PreToolUse"),
        (
            "codex",
            with(claude("Bash"), json!({"turn_id": "t"})),
            "/hookSpecificOutput/permissionDecision",
            "PreToolUse",
        ),
        ("copilot", copilot, "/permissionDecision", "preToolUse"),
        ("cursor", cursor, "/permission", "preToolUse"),
        (
            "droid",
            with(claude("Execute"), json!({"permission_mode": "auto-high"})),
            "/hookSpecificOutput/permissionDecision",
            "PreToolUse",
        ),
        ("gemini", gemini, "/decision", "BeforeTool"),
        ("vscode", vscode, "/hookSpecificOutput/permissionDecision", "PreToolUse"),
        ("grok", grok, "/decision", "pre_tool_use"),
    ]
}

/// The ways in which agents start the handler of an entry: as it is meant, without its arguments, through a shell, by another
/// path, and as what its link leads to.
fn ways(home: &Home, handler: &Value) -> Vec<(String, Command)> {
    let text = |key: &str| handler.get(key).and_then(Value::as_str);
    let whole = text("command").or(text("bash")).expect("a command");
    let program = whole.split(' ').next().expect("a program");
    let shell = |text: &str| {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", text]);
        (format!("sh -c {text}"), command)
    };
    let alone = |program: &Path| (format!("{} alone", program.display()), Command::new(program));
    let mut meant = Command::new(program);
    let list = handler.get("args").and_then(Value::as_array).cloned();
    let listed = list.unwrap_or_else(|| whole.split(' ').skip(1).map(Value::from).collect());
    meant.args(listed.iter().map(|word| word.as_str().expect("a word")));
    let other = home.at("other");
    if !other.exists() {
        symlink(home.program.parent().expect("a folder"), &other).expect("a link");
    }
    let elsewhere = other.join(Path::new(program).file_name().expect("a name"));
    let led = Path::new(program).canonicalize().expect("a program");
    vec![("as it is meant".to_owned(), meant), shell(whole), shell(program), alone(&elsewhere), alone(&led)]
}

/// However an entry is started, and whoever starts it.
#[test]
fn an_entry_works_however_it_is_started() {
    for (agent, path, _) in AGENTS.iter().filter(|(agent, ..)| !["opencode", "pi"].contains(agent)) {
        let home = Home::new();
        assert_eq!(home.run(&["install", agent]).0, 0, "{agent}");
        let root: Value = serde_json::from_str(&home.read(path)).expect("JSON");
        let project = home.at("project").display().to_string();
        let (denied, passed) = (senders(&project, "rm -rf ~"), senders(&project, "ls"));
        let event = denied.iter().find(|(name, ..)| name == agent).expect("a sender").3;
        let list = root.pointer(&format!("/hooks/{event}")).or(root.get(event)).expect("its event");
        let handler = list[0].pointer("/hooks/0").unwrap_or(&list[0]);
        for (sender, payload, decision, _) in &denied {
            // Copilot CLI sends such payloads, too.
            if (*agent, *sender) == ("copilot", "claude") {
                continue;
            }
            for (way, command) in ways(&home, handler) {
                let (code, said) = home.hook(command, payload);
                let answer: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{said}: {error}"));
                let found = answer.pointer(decision).and_then(Value::as_str);
                // Nobody else runs Codex' or Droid's hooks, whose payloads are like Claude Code's.
                let told = found == Some("deny") && code == Some(0) || *sender == "claude" && code == Some(2);
                assert!(told, "{agent} {sender} {way}: {code:?} {said}");
            }
        }
        for (sender, payload, ..) in &passed {
            for (way, command) in ways(&home, handler) {
                let (code, said) = home.hook(command, payload);
                let nothing = if *sender == "cursor" { "{}" } else { "" };
                assert_eq!((code, said.as_str()), (Some(0), nothing), "{agent} {sender} {way}");
            }
        }
    }
}

/// What the user has chosen holds where the arguments that say it are lost.
#[test]
fn options_are_not_lost_with_arguments() {
    const STOPPED: &str = "kubectl drain node-1 --ignore-daemonsets";
    let home = Home::new();
    let project = home.at("project").display().to_string();
    let decision = |home: &Home, program: &Path, command: &str| {
        let senders = senders(&project, command);
        let (_, payload, place, _) = senders.iter().find(|(name, ..)| *name == "vscode").expect("a sender");
        let said = home.hook(Command::new(program), payload).1;
        serde_json::from_str::<Value>(&said).ok()?.pointer(place)?.as_str().map(str::to_owned)
    };
    let link = home.link("claude");
    home.run(&["install", "claude"]);
    assert_eq!(decision(&home, &link, STOPPED), None, "the pack is off");
    assert_eq!(decision(&home, &link, "git push --force").as_deref(), Some("ask"), "this one is on");
    // The options, the scope, and what is said of each of the two calls.
    let cases = [
        ("--packs=operations", "--user", true, true),
        ("--packs=operations,-git", "--user", true, false),
        ("--packs=operations", "--project", true, true),
        ("--packs=-git", "--project", false, false),
        ("--no-lens", "--project", false, true),
    ];
    for (options, scope, stopped, asked) in cases {
        let home = Home::new();
        assert_eq!(home.run(&["install", "claude", options, scope]).0, 0, "{options} {scope}");
        // By the link, and as the program itself, which earlier versions wrote.
        for program in [home.link("claude"), home.program.clone()] {
            let found = [STOPPED, "git push --force"].map(|command| decision(&home, &program, command).is_some());
            assert_eq!(found, [stopped, asked], "{options} {scope} {}", program.display());
        }
        // What they say is not known.
        let path = if scope == "--user" { ".claude/settings.json" } else { "project/.claude/settings.json" };
        let broken = home.read(path).replace(options, "--nonsense");
        home.write(path, broken);
        assert_eq!(decision(&home, &home.link("claude"), "ls").as_deref(), Some("deny"), "{options} {scope}");
    }
    // The user's own file counts before a project's.
    home.run(&["install", "claude", "--project", "--packs=-git"]);
    assert_eq!(decision(&home, &link, "git push --force").as_deref(), Some("ask"));
}

#[test]
fn a_link_says_whose_hook_it_is() {
    let home = Home::new();
    let (_, shown) = home.run(&["install", "claude", "--dry-run"]);
    assert!(shown.contains("would be made") && !home.link("claude").is_symlink(), "{shown}");
    let (code, text) = home.run(&["install", "claude"]);
    assert!(code == 0 && text.contains("toolgate-hook-claude, a link to toolgate, was made"), "{text}");
    assert_eq!(fs::read_link(home.link("claude")).expect("a link"), Path::new("toolgate"));
    assert!(!home.run(&["install", "claude"]).1.contains("was made"));
    // One that is gone, or leads elsewhere, is told and made again.
    for other in [None, Some("/nowhere/toolgate")] {
        fs::remove_file(home.link("claude")).expect("removed");
        other.into_iter().for_each(|other| symlink(other, home.link("claude")).expect("a link"));
        assert_eq!(level(&home.doctor("claude"), "program"), "fail", "{other:?}");
        let (code, text) = home.run(&["install", "claude"]);
        assert!(code == 0 && text.contains("was made") && text.contains("nothing to do"), "{text}");
        assert_eq!(level(&home.doctor("claude"), "program"), "ok", "{other:?}");
    }
    // A name that no agent has is a hook all the same.
    symlink("toolgate", home.link("nobody")).expect("a link");
    for arguments in [&[][..], &["PreToolUse"], &["serve"], &["check", "ls"]] {
        let mut command = Command::new(home.link("nobody"));
        command.args(arguments);
        assert_eq!(home.hook(command, &json!({})).0, Some(2), "{arguments:?}");
    }
    // Nor is it anything else.
    let mut command = Command::new(home.link("claude"));
    command.args(["check", "ls"]);
    assert_eq!(home.hook(command, &json!({})).0, Some(2));
    if left_out() {
        return;
    }
    let (code, text) = home.at_terminal("uninstall claude", None);
    // Others may run it.
    assert!(code == 0 && text.contains("was kept, as other agents may use it"), "{text}");
    assert!(home.link("claude").is_symlink() && !home.at(file_of("claude")).exists());
    // Nobody's hook has a terminal to read from.
    let mut terminal = Terminal::new(&home.scene, &home.program.display().to_string());
    assert!(terminal.exit() == 0 && terminal.seen.contains("Next: "), "{}", terminal.seen);
}

/// Where something else has the name beside the program, or nothing can be made there.
#[test]
fn a_link_may_lie_in_the_users_folder() {
    let home = Home::new();
    fs::write(home.link("codex"), "mine").expect("a file");
    let link = home.at(".local/state/toolgate/bin/toolgate-hook-codex");
    assert_eq!(home.run(&["install", "codex"]).0, 0);
    assert_eq!(fs::read_link(&link).expect("a link"), home.program);
    assert!(home.read(file_of("codex")).contains(link.to_str().expect("UTF-8")));
    let report = home.doctor("codex");
    for check in ["form", "program", "denies", "passes", "asks"] {
        assert_eq!(level(&report, check), "ok", "{check}: {report}");
    }
    // A project's settings are not the user's alone.
    let (code, text) = home.run(&["install", "codex", "--project"]);
    let project = home.read("project/.codex/hooks.json");
    assert!(code == 0 && text.contains("sudo ln -s toolgate "), "{text}");
    assert!(project.contains("toolgate hook codex") && !project.contains("toolgate-hook"), "{project}");
    assert!(home.run(&["install", "codex", "--project"]).1.contains("nothing to do"));
    assert_eq!(fs::read_to_string(home.link("codex")).expect("a file"), "mine");
    fs::remove_file(home.link("codex")).expect("removed");
    assert_eq!(home.run(&["install", "codex", "--project"]).0, 0);
    assert!(home.read("project/.codex/hooks.json").contains("toolgate-hook-codex PreToolUse"));
    // What is there and is no link stays.
    fs::remove_file(&link).expect("removed");
    fs::remove_file(home.link("codex")).expect("removed");
    fs::write(home.link("codex"), "mine").expect("a file");
    fs::write(&link, "mine").expect("a file");
    let (code, text) = home.run(&["install", "codex"]);
    assert!(code == 65 && text.contains("is not Toolgate's link"), "{code} {text}");
}

/// The agents must not make them lead elsewhere.
#[test]
fn links_are_kept_from_agents() {
    let home = Home::new();
    home.run(&["install", "claude"]);
    let link = home.link("claude").display().to_string();
    let commands =
        ["rm LINK", "ln -sf /tmp/x LINK", "mv LINK /tmp/x", "cp /bin/true LINK", "echo x > LINK", "unlink LINK"];
    for command in commands {
        let command = command.replace("LINK", &link);
        let (code, text) = home.run(&["check", "--cwd", "/", &command]);
        assert_eq!(code, 2, "{command}: {text}");
    }
}

/// The other agents that are found here, what is said of them, and at which level.
#[test]
fn doctor_says_which_agents_run_these_hooks_as_well() {
    let imports = |home: &Home, arguments: &[&str]| {
        let output = home.start(&[arguments, &["--json"]].concat(), &[]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        answer["imports"]["checks"].as_array().expect("a list").clone()
    };
    let cases = [
        (".vscode", ".claude/settings.json is also read by Copilot in VS Code", "ok"),
        (".vscode", ".copilot/hooks/toolgate.json is also read by Copilot in VS Code", "ok"),
        (".vscode", "project/.claude/settings.json is also read by Copilot in VS Code", "ok"),
        (".grok", ".claude/settings.json is also read by Grok CLI", "ok"),
        (".grok", "a trial call is denied", "ok"),
        (".grok", "without their arguments", "ok"),
        (".cursor", ".claude/settings.json is also read by Cursor", "ok"),
        (".copilot", "project/.claude/settings.json is also read by Copilot CLI", "ok"),
        (".config/devin", ".claude/settings.json is also read by Devin CLI", "ok"),
        (".continue", "runs none, so its calls are not checked", "warn"),
    ];
    let home = Home::new();
    for (agent, scope) in [("claude", "--user"), ("claude", "--project"), ("copilot", "--user"), ("cursor", "--user")] {
        assert_eq!(home.run(&["install", agent, scope]).0, 0, "{agent} {scope}");
    }
    for (folder, says, expected) in cases {
        home.write(&format!("{folder}/state"), "");
        let checks = imports(&home, &["doctor"]);
        let found = checks.iter().find(|check| check["says"].as_str().is_some_and(|found| found.contains(says)));
        assert_eq!(found.map(|check| &check["level"]), Some(&json!(expected)), "{says}: {checks:?}");
    }
    // Of another agent's files nothing is said.
    let checks = imports(&home, &["doctor", "copilot"]);
    assert!(checks.len() == 1 && checks[0]["says"].as_str().is_some_and(|says| says.contains("VS Code")), "{checks:?}");
    assert!(imports(&home, &["doctor", "cursor"]).is_empty());
    // Who has asked is noted.
    let project = home.at("project").display().to_string();
    let senders = senders(&project, "ls");
    let (_, payload, ..) = senders.iter().find(|(name, ..)| *name == "vscode").expect("a sender");
    assert_eq!(home.hook(Command::new(home.link("claude")), payload).0, Some(0));
    let checks = imports(&home, &["doctor", "copilot"]);
    assert!(checks[0]["says"].as_str().is_some_and(|says| says.contains("and asked last at ")), "{checks:?}");
    assert!(!home.at(".local/state/toolgate/fired/claude.json").exists(), "it was not Claude Code");
    // As earlier versions wrote it, it works, too.
    let text = home.read(file_of("claude"));
    home.write(
        file_of("claude"),
        text.replace("-hook-claude", "").replace(r#"["PreToolUse"]"#, r#"["hook", "claude"]"#),
    );
    let checks = imports(&home, &["doctor", "claude"]);
    assert!(checks.iter().all(|check| check["level"] != "fail"), "{checks:?}");
}
