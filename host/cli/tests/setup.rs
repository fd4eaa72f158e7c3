//! The first minutes with the command: called without arguments, `toolgate setup`, and what helps to use it: completions, man
//! pages, updates.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::person::{Terminal, left_out};
use crate::scene::Scene;
use toolgate_test_support::skip::skip;

/// The file that makes each of these agents call Toolgate.
const FILES: &[(&str, &str)] =
    &[("claude", ".claude/settings.json"), ("codex", ".codex/hooks.json"), ("gemini", ".gemini/settings.json")];

/// A home folder, and a program that does not move: setup makes links beside it.
struct Home {
    scene: Scene,
    program: PathBuf,
}

impl Home {
    /// With these agents in it, as far as a folder of theirs tells.
    fn with(agents: &[&str]) -> Self {
        let scene = Scene::new();
        let program = scene.at("bin/toolgate");
        fs::create_dir(scene.at("bin")).expect("a folder");
        let built = env!("CARGO_BIN_EXE_toolgate");
        if fs::hard_link(built, &program).is_err() {
            fs::copy(built, &program).expect("a copy");
        }
        agents.iter().for_each(|agent| scene.write(&format!("home/.{agent}/notes"), ""));
        Home { scene, program }
    }

    /// The exit code and the output, where standard input is no terminal.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.scene.project()).env_clear().env("HOME", self.scene.at("home"));
        said(&command.env("PATH", "/nowhere").stdin(Stdio::null()).output().expect("the command ends"))
    }

    /// The same of a script at a terminal of a person's own, in which `@` stands for the program, with these answers to its
    /// questions.
    fn at_terminal(&self, script: &str, answers: &[&str]) -> (i32, String) {
        let script = script.replace('@', &format!("PATH=/nowhere {}", self.program.display()));
        let mut terminal = Terminal::new(&self.scene, &format!("cd project; {script}"));
        let mut seen = String::new();
        for answer in answers {
            assert_eq!(terminal.word(), "y", "{}", terminal.seen);
            // What is read from here on is about the next question.
            seen.push_str(&std::mem::take(&mut terminal.seen));
            match *answer {
                "C-d" => terminal.press(&["C-d"]),
                answer => terminal.answer(answer),
            }
        }
        let code = terminal.exit();
        (code, seen + &terminal.seen)
    }

    /// Replaces a text in Claude Code's configuration.
    fn replace(&self, from: &str, to: &str) {
        let text = fs::read_to_string(self.scene.at("home/.claude/settings.json")).expect("read");
        assert!(text.contains(from), "{from}: {text}");
        self.scene.write("home/.claude/settings.json", text.replace(from, to));
    }

    /// The agents that are made to call Toolgate.
    fn set_up(&self) -> Vec<&'static str> {
        let calls = |file: &str| {
            let text = fs::read_to_string(self.scene.at("home").join(file)).unwrap_or_default();
            text.contains("toolgate-hook-")
        };
        FILES.iter().filter(|(_, file)| calls(file)).map(|(agent, _)| *agent).collect()
    }
}

fn said(output: &Output) -> (i32, String) {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    (output.status.code().expect("no signal"), String::from_utf8(text).expect("UTF-8"))
}

#[test]
fn the_bare_command_names_the_next_step() {
    if left_out() {
        return;
    }
    // The agents that are there, those that are set up, and the texts that are shown.
    let cases: &[(&[&str], &[&str], &[&str])] = &[
        (&[], &[], &["No agent was found", "Claude Code (claude)", "Next: toolgate setup AGENT  "]),
        (&["codex"], &[], &["Codex  no hooks", "Next: toolgate setup  "]),
        (
            &["claude"],
            &["claude"],
            &["Claude Code  hooks installed  ~/.claude/settings.json", "Next: toolgate doctor  "],
        ),
        (&["codex"], &["claude"], &["Claude Code  hooks installed", "Codex        no hooks", "Next: toolgate setup  "]),
    ];
    for (agents, installed, expected) in cases {
        let home = Home::with(agents);
        installed.iter().for_each(|agent| assert_eq!(home.run(&["install", agent]).0, 0, "{agent}"));
        let (code, text) = home.at_terminal("@", &[]);
        assert_eq!(code, 0, "{agents:?} {installed:?}: {text}");
        assert!(expected.iter().all(|part| text.contains(part)), "{agents:?} {installed:?}: {text}");
        assert_eq!(home.set_up(), *installed, "it changes nothing");
    }
}

#[test]
fn without_two_terminals_the_bare_command_is_what_it_was() {
    if left_out() {
        return;
    }
    for (script, code) in [("@ </dev/null", 2), ("@ >/dev/null", 64)] {
        let (found, text) = Home::with(&["claude"]).at_terminal(script, &[]);
        assert!(found == code && !text.contains("Next: "), "{script}: {found} {text}");
    }
}

#[test]
fn what_a_person_agrees_to_is_set_up() {
    if left_out() {
        return;
    }
    // The answers for Claude Code and Codex, and the agents that call Toolgate then.
    let cases: &[([&str; 2], &[&str])] = &[
        (["y", "YES"], &["claude", "codex"]),
        (["y", "n"], &["claude"]),
        (["", "y"], &["codex"]),
        (["no", "yess"], &[]),
    ];
    for (answers, expected) in cases {
        let home = Home::with(&["claude", "codex"]);
        let (code, text) = home.at_terminal("@ setup", answers);
        // Codex runs no hook that its user has not trusted.
        let not_yet = expected.contains(&"codex");
        assert_eq!((code, home.set_up().as_slice()), (i32::from(not_yet), *expected), "{answers:?}: {text}");
        assert_eq!(text.contains("Not protected yet: Codex."), not_yet, "{answers:?}: {text}");
        let link = "toolgate-hook-claude, a link to toolgate, will be made";
        for part in ["Add Toolgate to Claude Code? This creates ~/.claude/settings.json.", "+++ ", "PreToolUse", link] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // Nothing could have asked so soon.
        assert!(!text.contains(" fired "), "{answers:?}: {text}");
        assert!(text.matches("rule packs that are off").count() <= 1, "{answers:?}: {text}");
        // Checks of those alone, and a trial where all of them work.
        let (checks, trial) = (text.matches(" denies ").count(), text.contains("block  rm -rf ~"));
        assert_eq!(checks > 0, !expected.is_empty(), "{answers:?}: {text}");
        assert_eq!(trial, !expected.is_empty() && !not_yet, "{answers:?}: {text}");
    }
}

#[test]
fn only_what_is_left_to_do_is_asked() {
    if left_out() {
        return;
    }
    // The agents that are found, what was installed before, what is called, the answers, and a text that is shown.
    type Case<'a> = (&'a [&'a str], &'a [&'a str], &'a str, &'a [&'a str], &'a str);
    #[rustfmt::skip]
    let cases: &[Case<'_>] = &[
        (&[], &[], "@ setup", &[], "No agent was found"),
        (&[], &[], "@ setup gemini", &["y"], "Add Toolgate to Gemini CLI?"),
        (&["codex"], &[], "@ setup gemini", &["y"], "Add Toolgate to Gemini CLI?"),
        (&["claude"], &["claude"], "@ setup", &[], "nothing to do"),
        (&["claude"], &[], "@ setup claude claude", &["y"], "Add Toolgate to Claude Code?"),
        // Whoever wrote the project wrote its file, which holds only there.
        (&["claude"], &["claude", "--project"], "@ setup", &["y"],
            "this project calls Toolgate as well (~/project/.claude/settings.json)"),
        (&["claude"], &["claude", "--project"], "@ setup", &["y"], "Add Toolgate to Claude Code?"),
    ];
    for (agents, installed, script, answers, expected) in cases {
        let home = Home::with(agents);
        if !installed.is_empty() {
            assert_eq!(home.run(&[&["install"], *installed].concat()).0, 0, "{installed:?}");
        }
        let (code, text) = home.at_terminal(script, answers);
        assert!(code == 0 && text.contains(expected), "{script} {installed:?}: {code} {text}");
        assert_eq!(text.matches("Type y").count(), answers.len(), "{script} {installed:?}: {text}");
    }
}

#[test]
fn only_the_users_own_file_counts_as_installed() {
    if left_out() {
        return;
    }
    type Change = fn(&Home);
    let own = ".claude/settings.json";
    // What is done, and what is shown of Claude Code.
    let cases: &[(Change, &str)] = &[
        (
            |home| drop(home.run(&["install", "claude", "--project"])),
            "in this project only  ~/project/.claude/settings.json",
        ),
        (|home| home.scene.write("home/.claude/settings.json", "{"), "cannot be read  ~/.claude/settings.json"),
        (|home| home.replace("toolgate-hook-claude", "other/toolgate-hook-claude"), "hooks run another program"),
        (|home| home.replace("\"PreToolUse\": [", "\"Other\": ["), "hooks incomplete"),
        (|home| home.replace("\"block\"", "\"continue\""), "hooks incomplete"),
    ];
    for (change, expected) in cases {
        let home = Home::with(&["claude"]);
        if !expected.contains("project") {
            assert_eq!(home.run(&["install", "claude"]).0, 0, "{expected}");
        }
        change(&home);
        let (code, text) = home.at_terminal("@", &[]);
        assert!(code == 0 && text.contains(&format!("Claude Code  {expected}")), "{expected}: {code} {text}");
        assert!(text.contains("Next: toolgate setup  ") && !text.contains("hooks installed"), "{expected}: {text}");
        assert!(text.contains(own), "{expected}: {text}");
    }
}

#[test]
fn a_link_that_is_gone_is_asked_about() {
    if left_out() {
        return;
    }
    for (answer, made) in [("n", false), ("y", true)] {
        let home = Home::with(&["claude"]);
        assert_eq!(home.run(&["install", "claude"]).0, 0);
        let link = home.program.with_file_name("toolgate-hook-claude");
        fs::remove_file(&link).expect("removed");
        let (code, text) = home.at_terminal("@ setup", &[answer]);
        assert!(text.contains("a link to toolgate, will be made") && text.contains("makes the link"), "{text}");
        assert_eq!((link.is_symlink(), code == 0), (made, made), "{text}");
    }
}

#[test]
fn one_unusable_configuration_does_not_stop_the_others() {
    if left_out() {
        return;
    }
    let home = Home::with(&["codex"]);
    home.scene.write("home/.claude/settings.json", "{");
    let (code, text) = home.at_terminal("@ setup", &["y"]);
    assert_eq!((code, home.set_up()), (65, vec!["codex"]), "{text}");
    assert!(text.contains("settings.json was not changed"), "{text}");
}

#[test]
fn a_dry_run_shows_all_changes_and_makes_none() {
    let home = Home::with(&["claude", "codex"]);
    let (code, text) = home.run(&["setup", "--dry-run"]);
    assert_eq!((code, home.set_up()), (0, vec![]), "{text}");
    for part in [".claude/settings.json", ".codex/hooks.json", "+++ ", "not changed"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("Type y") && !home.program.with_file_name("toolgate-hook-claude").exists(), "{text}");
}

#[test]
fn only_a_person_at_a_terminal_sets_up() {
    let refused = |home: &Home, script: &str, (code, text): (i32, String), expected: &str| {
        assert!(code == 2 && text.contains(expected), "{script}: {code} {text}");
        assert!(home.set_up().is_empty(), "{script}: {text}");
    };
    let home = Home::with(&["claude"]);
    let nobody = "standard input is not the terminal that this runs in";
    for arguments in [&["setup"][..], &["setup", "claude"]] {
        refused(&home, "not at a terminal", home.run(arguments), nobody);
        refused(&home, "not at a terminal", home.run(arguments), "`toolgate install AGENT`");
    }
    if left_out() {
        return;
    }
    let cases: &[(&str, &[&str], &str)] = &[
        ("@ setup </dev/null", &[], nobody),
        ("@ setup >/dev/null", &[], "standard output is not a terminal"),
        ("CLAUDECODE=1 @ setup", &[], "this runs below an agent: CLAUDECODE is set"),
        ("@ setup", &["C-d"], "setup stopped: there was no answer"),
    ];
    for (script, answers, expected) in cases {
        refused(&home, script, home.at_terminal(script, answers), expected);
    }
}

/// The output of a command that succeeds.
fn shown(scene: &Scene, arguments: &[&str]) -> String {
    let (code, text) = said(&scene.run_with(arguments, b"", &[]));
    assert_eq!(code, 0, "{arguments:?}: {text}");
    text
}

#[test]
fn each_shell_has_its_script() {
    let scene = Scene::new();
    // The shell, and parts of its script: how it begins to know the command, and how it asks for names.
    let cases: &[(&str, &[&str])] = &[
        ("bash", &["complete -F _toolgate_names", "complete-names"]),
        ("zsh", &["#compdef toolgate", "complete-names", "\nif [ \"$funcstack[1]\" = \"_toolgate\" ]"]),
        (
            "fish",
            &[
                "complete -c toolgate",
                "complete-names rules",
                " -l packs -r -f -a \"(command toolgate complete-names packs",
            ],
        ),
        ("powershell", &["Register-ArgumentCompleter"]),
        ("elvish", &["edit:completion:arg-completer[toolgate]"]),
    ];
    for (shell, parts) in cases {
        let script = shown(&scene, &["completions", shell]);
        for part in ["exempt", "dry-run"].iter().chain(*parts) {
            assert!(script.contains(part), "{shell} has no {part}");
        }
        assert!(!script.contains("@OP"), "{shell} has a place that was not filled");
    }
    for arguments in [&["completions"][..], &["completions", "tcsh"]] {
        assert_eq!(said(&scene.run_with(arguments, b"", &[])).0, 64, "{arguments:?}");
    }
}

#[test]
fn names_are_those_that_there_are() {
    let scene = Scene::new();
    // Rule files of projects have names, too. The shell runs none of them.
    scene.write("home/project/toolgate.yaml", "rules: [{name: mine, program: x}, {name: $(touch x), program: y}]\n");
    let cases: &[(&str, &[&str])] = &[
        ("rules", &["git-force-push", "mine"]),
        ("packs", &["cloud", "git"]),
        ("agents", &["claude", "codex", "opencode"]),
        ("plugins", &[]),
    ];
    for (kind, expected) in cases {
        let text = shown(&scene, &["complete-names", kind]);
        let names: Vec<&str> = text.lines().collect();
        assert!(expected.iter().all(|name| names.contains(name)), "{kind}: {text}");
        assert!(!text.contains(['$', ' ', ':']), "{kind}: {text}");
    }
    assert_eq!(said(&scene.run_with(&["complete-names", "files"], b"", &[])).0, 64);
    assert!(!shown(&scene, &["--help"]).contains("complete-names"));
}

#[test]
fn bash_completes_commands_and_names() {
    const COMPLETE: &str = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
        _toolgate_names toolgate \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"; \
        printf '%s\\n' \"${COMPREPLY[@]}\"";
    let scene = Scene::new();
    scene.write("home/completions", shown(&scene, &["completions", "bash"]));
    // The line as it is typed, and what its last word becomes.
    let cases = [
        ("comp", "completions"),
        ("setup cl", "claude"),
        ("rules ex", "exempt"),
        ("rules exempt git-amen", "git-amend"),
        ("rules show --js", "--json"),
        ("check ls --packs ci,clo", "ci,cloud"),
        ("log --agent ge", "gemini"),
    ];
    let folder = Path::new(env!("CARGO_BIN_EXE_toolgate")).parent().expect("a folder").display().to_string();
    for (line, expected) in cases {
        let mut command = Command::new("bash");
        command.args(["--norc", "-c", COMPLETE, "bash"]).arg(scene.at("home/completions")).arg("toolgate");
        command.args(line.split(' ')).current_dir(scene.project()).env_clear().env("HOME", scene.at("home"));
        command.env("PATH", format!("{folder}:/usr/bin:/bin")).stdin(Stdio::null());
        let Ok(output) = command.output() else { return skip("bash is not installed") };
        assert_eq!(said(&output), (0, format!("{expected}\n")), "{line}");
    }
}

#[test]
fn every_command_has_a_man_page() {
    let scene = Scene::new();
    let header = format!(".TH toolgate 1 \"\" \"Toolgate {}\" Toolgate\n", env!("CARGO_PKG_VERSION"));
    let page = shown(&scene, &["man"]);
    assert!(page.contains(&header) && !page.contains(".SH EXTRA"), "{page}");
    let text = shown(&scene, &["man", "--out", "share/man1"]);
    assert!(text.contains("share/man1"), "{text}");
    let there = |page: &str| scene.at("home/project/share/man1").join(page).is_file();
    for page in
        ["toolgate.1", "toolgate-check.1", "toolgate-setup.1", "toolgate-rules-exempt.1", "toolgate-plugin-add.1"]
    {
        assert!(there(page), "{page}");
    }
    for page in ["toolgate-help.1", "toolgate-rules-help.1", "toolgate-lens-serve.1"] {
        assert!(!there(page), "{page} is of no use");
    }
    scene.write("home/project/file", "");
    assert_eq!(said(&scene.run_with(&["man", "--out", "file/man1"], b"", &[])).0, 74);
}

#[test]
fn a_man_page_takes_the_place_of_a_file_alone() {
    let scene = Scene::new();
    let at = |path: &str| scene.at("home/project").join(path);
    scene.write("home/project/settings", "mine");
    // What stands where a page belongs: neither it nor what it leads to is touched, and no other page is written.
    let link = |page: &Path| symlink("../settings", page).expect("a link");
    let dangling = |page: &Path| symlink("../nowhere", page).expect("a link");
    let folder = |page: &Path| fs::create_dir(page).expect("a folder");
    type Made<'a> = &'a dyn Fn(&Path);
    let cases: [(&str, Made<'_>); 3] = [("link", &link), ("dangling", &dangling), ("folder", &folder)];
    for (kind, make) in cases {
        fs::create_dir(at(kind)).expect("a folder");
        let page = at(kind).join("toolgate-rules-exempt.1");
        make(&page);
        let (code, text) = said(&scene.run_with(&["man", "--out", kind], b"", &[]));
        assert!(code == 74 && text.contains("toolgate-rules-exempt.1: it exists and is not"), "{kind}: {code} {text}");
        assert_eq!(fs::read_dir(at(kind)).expect("a folder").count(), 1, "{kind}");
        assert!(!page.is_file() || page.is_symlink(), "{kind}");
    }
    assert_eq!(fs::read_to_string(at("settings")).expect("read"), "mine");
    assert!(!at("nowhere").exists());
    // An older page is replaced, also one with another name for it.
    scene.write("home/project/pages/toolgate.1", "old");
    fs::hard_link(at("pages/toolgate.1"), at("kept")).expect("a link");
    shown(&scene, &["man", "--out", "pages"]);
    assert!(fs::read_to_string(at("pages/toolgate.1")).expect("read").contains(".TH toolgate 1 "));
    assert_eq!(fs::read_to_string(at("kept")).expect("read"), "old");
    let mode = fs::metadata(at("pages/toolgate.1")).expect("a page").permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn update_names_this_program_and_the_commands() {
    let home = Home::with(&[]);
    let (code, text) = home.run(&["update"]);
    assert_eq!(code, 0, "{text}");
    let program = home.program.display().to_string();
    for part in [env!("CARGO_PKG_VERSION"), &program, "from a copied file", "toolgate doctor", "/releases"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
