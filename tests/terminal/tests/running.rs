//! Commands that take their time, write much, do not end, or come at once.

use std::fs;
use std::time::Duration;

use crate::common::{assert_answer, assert_has, assert_works, in_both, in_both_with, left_out};
use serde_json::json;
use toolgate_terminal_tests::mcp::Client;
use toolgate_terminal_tests::scene::Scene;
use toolgate_terminal_tests::shell::{PROMPTS, Prompt, Shell};
use toolgate_terminal_tests::wait::{LIMIT, until_so};

/// What a command waits for that goes on until the test says so.
const UNTIL_TOLD: &str = "until [ -e go ]; do sleep 0.02; done";

/// Bytes and lines of an answer, without the header of one that was cut.
const MOST: (usize, usize) = (50 * 1024, 2_000);

#[test]
fn each_of_a_hundred_commands_has_its_own_exit_code() {
    in_both(|_, client| {
        for number in 0..100 {
            let answer = client.bash(&format!("sh -c 'echo {number}; exit {}'", number % 7)).unwrap();
            assert_answer(&answer, &number.to_string(), number % 7);
        }
    });
}

#[test]
fn a_command_that_takes_too_long_is_interrupted() {
    in_both(|scene, client| {
        let answer = client.bash_within("echo begun; sleep 1000", 1).unwrap();
        assert_eq!(answer.exit(), Some(124), "{}", answer.result);
        assert_has(&answer, "begun");
        assert_has(&answer, "timed out");
        let command = scene.tmux.format(&scene.shared().unwrap(), "#{pane_current_command}").unwrap();
        assert_eq!(command, scene.shell.name());
        assert_works(client);
    });
}

#[test]
fn a_command_that_ignores_interrupts_does_not_hold_up_the_next() {
    in_both(|_, client| {
        let answer = client.bash_within("sh -c 'trap \"\" INT; echo begun; while :; do sleep 1000; done'", 1).unwrap();
        assert_eq!(answer.exit(), Some(124), "{}", answer.result);
        assert_has(&answer, "begun");
        assert_works(client);
    });
}

#[test]
fn a_cancelled_command_is_interrupted() {
    in_both(|scene, client| {
        assert_works(client);
        let id = client.call("bash", &json!({"command": "echo be''gun; sleep 1000"})).unwrap();
        let pane = scene.shared().unwrap();
        scene.tmux.until_shown(&pane, "begun").unwrap();
        client.cancel(id).unwrap();
        let shell = scene.shell.name();
        let ended = || Ok(scene.tmux.format(&pane, "#{pane_current_command}")? == shell);
        until_so("the end of the command", ended).unwrap();
        assert_works(client);
    });
}

#[test]
fn a_command_that_is_cancelled_before_its_turn_is_not_run() {
    in_both(|scene, client| {
        let first = client.call("bash", &json!({"command": UNTIL_TOLD})).unwrap();
        let second = client.call("bash", &json!({"command": "touch ran"})).unwrap();
        client.cancel(second).unwrap();
        fs::write(scene.project().join("go"), "").unwrap();
        assert_answer(&client.answer(first, LIMIT).unwrap(), "(no output)", 0);
        assert_works(client);
        assert!(!scene.project().join("ran").exists());
    });
}

#[test]
fn what_waits_for_the_user_is_reported_and_left_alone() {
    in_both(|scene, client| {
        scene.write("project/text", "text\n").unwrap();
        for (command, said) in [
            ("less text", "less is a full-screen program"),
            ("vi -u NONE", "is a full-screen program"),
            ("bash --norc", "shell"),
            ("zsh -f", "shell"),
            ("sh", "shell"),
            ("/usr/bin/python3 -q", "python3"),
        ] {
            let answer = client.bash_within(command, 15).unwrap();
            assert!(answer.is_error && answer.exit().is_none(), "{command}: {}", answer.result);
            assert_has(&answer, said);
            assert_works(client);
            // The user ends it, as more than a few panes are not opened.
            for pane in scene.tmux.panes().unwrap().iter().filter(|pane| **pane != scene.agent) {
                scene.tmux.ask(["kill-pane", "-t", pane]).unwrap();
            }
        }
    });
}

#[test]
fn a_long_output_is_cut_at_its_beginning() {
    in_both(|_, client| {
        let answer = client.bash("seq 10000").unwrap();
        assert_eq!(answer.exit(), Some(0), "{}", answer.result);
        let (header, rest) = answer.text.split_once('\n').unwrap();
        assert!(header.starts_with('['), "{header}");
        let lines: Vec<_> = rest.lines().collect();
        assert!(lines.len() <= MOST.1 && lines.len() >= 1_900, "{} lines", lines.len());
        assert_eq!(lines.last(), Some(&"10000"));
        assert_eq!(lines[0].parse::<usize>().unwrap(), 10_001 - lines.len());
        let answer = client.bash("seq -f '%0100.0f' 1500").unwrap();
        let (header, rest) = answer.text.split_once('\n').unwrap();
        assert!(header.starts_with('['), "{header}");
        assert!(rest.len() <= MOST.0 && rest.len() > MOST.0 / 2, "{} bytes", rest.len());
        assert!(rest.ends_with("1500"));
        assert_works(client);
    });
}

#[test]
fn a_long_line_is_one_line() {
    in_both(|_, client| {
        let line = "0123456789".repeat(500);
        let answer = client.bash("for n in $(seq 500); do printf 0123456789; done; echo").unwrap();
        assert_answer(&answer, &line, 0);
        // A word that is longer than the screen.
        let answer = client.bash(&format!("echo {line} | tail -c 11")).unwrap();
        assert_answer(&answer, "0123456789", 0);
        let answer = client.bash(&format!("echo {}", &line[..1500])).unwrap();
        assert_answer(&answer, &line[..1500], 0);
    });
}

#[test]
fn a_command_may_end_where_the_row_does() {
    in_both_with("plain", "", |scene, client| {
        assert_works(client);
        let width: usize = scene.tmux.format(&scene.shared().unwrap(), "#{pane_width}").unwrap().parse().unwrap();
        for length in [width - 9, width - 8, width - 7, width - 6, 2 * width - 8, 2 * width - 7, 2 * width - 6] {
            let word = "x".repeat(length);
            let answer = client.bash(&format!("echo {word}")).unwrap();
            assert_answer(&answer, &word, 0);
            let answer = client.bash(&format!(": {word}xx")).unwrap();
            assert_answer(&answer, "(no output)", 0);
        }
    });
}

#[test]
fn a_long_script_is_run_as_a_whole() {
    in_both(|_, client| {
        let script: Vec<_> = (0..200).map(|number| format!("echo line {number}")).collect();
        let output: Vec<_> = (0..200).map(|number| format!("line {number}")).collect();
        let answer = client.bash(&script.join("\n")).unwrap();
        assert_answer(&answer, &output.join("\n"), 0);
    });
}

#[test]
fn a_command_of_a_hundred_kilobytes_runs_or_is_refused() {
    in_both(|_, client| {
        let line = "0123456789abcde\n".repeat(6_400);
        let answer = client.bash(&format!("cat <<'EOF' | wc -c\n{line}EOF")).unwrap();
        if answer.exit().is_some() {
            assert_answer(&answer, "102400", 0);
        } else {
            assert!(answer.is_error, "{}", answer.result);
        }
        assert_works(client);
    });
}

#[test]
fn the_very_prompt_is_output_like_any_other() {
    for shell in toolgate_terminal_tests::shell::SHELLS.into_iter().filter(|shell| !left_out(*shell)) {
        for prompt in PROMPTS {
            let scene = Scene::new(shell, prompt).unwrap();
            let mut client = scene.server().unwrap();
            assert_works(&mut client);
            let shown = scene.tmux.shown(&scene.shared().unwrap()).unwrap();
            let lines: Vec<&str> = shown.trim_end().lines().map(str::trim_end).collect();
            let prompt = lines[lines.len() - 2..].join("\n");
            let answer = client.bash(&format!("cat <<'EOF'\n{prompt}\n{prompt} echo\nEOF")).unwrap();
            assert_answer(&answer, &format!("{prompt}\n{prompt} echo"), 0);
            assert_works(&mut client);
        }
    }
}

#[test]
fn commands_run_one_after_the_other() {
    in_both(|_, client| {
        let calls: Vec<_> = (0..5)
            .map(|number| {
                let command = format!("sleep 0.0{}; echo {number}; (exit {number})", 5 - number);
                client.call("bash", &json!({"command": command})).unwrap()
            })
            .collect();
        for (number, id) in calls.into_iter().enumerate() {
            let answer = client.answer(id, LIMIT).unwrap();
            assert_answer(&answer, &number.to_string(), number.try_into().unwrap());
        }
    });
}

#[test]
fn the_terminal_can_be_read_while_a_command_runs() {
    in_both(|scene, client| {
        let id = client.call("bash", &json!({"command": format!("echo be''gun; {UNTIL_TOLD}; echo done")})).unwrap();
        until_so("the command", || {
            let answer = client.read_terminal()?;
            Ok(answer.text.contains("begun"))
        })
        .unwrap();
        assert!(!client.has_answered(id).unwrap());
        fs::write(scene.project().join("go"), "").unwrap();
        assert_answer(&client.answer(id, LIMIT).unwrap(), "begun\ndone", 0);
    });
}

#[test]
fn as_many_lines_are_read_as_asked_for() {
    in_both(|_, client| {
        client.bash("seq 300").unwrap();
        let id = client.call("read_terminal", &json!({"lines": 5})).unwrap();
        let answer = client.answer(id, LIMIT).unwrap();
        assert!(answer.text.lines().count() <= 5 && answer.text.contains("300"), "{}", answer.text);
        let answer = client.read_terminal().unwrap();
        assert!(answer.text.contains("\n150\n") && !answer.text.contains("\n50\n"), "{}", answer.text);
    });
}

#[test]
fn input_that_makes_no_sense_is_an_error() {
    in_both(|_, client| {
        for (tool, input) in [
            ("bash", json!({})),
            ("bash", json!({"command": 1})),
            ("bash", json!({"command": "true", "timeout": "soon"})),
            ("read_terminal", json!({"lines": -1})),
            ("read_terminal", json!({"lines": "all"})),
            ("no_such_tool", json!({})),
        ] {
            let id = client.call(tool, &input).unwrap();
            let answer = client.answer(id, LIMIT);
            assert!(answer.as_ref().map_or(true, |answer| answer.is_error), "{tool} {input}: {answer:?}");
        }
        assert_works(client);
    });
}

#[test]
fn what_the_users_shell_is_set_to_does_not_matter() {
    let both = [
        ("the keys of vi", "set -o vi 2>/dev/null || bindkey -v"),
        ("an alias for a common program", "alias echo='echo' ls='ls --color=always'"),
        (
            "no bracketed paste",
            "bind 'set enable-bracketed-paste off' 2>/dev/null; unset zle_bracketed_paste 2>/dev/null",
        ),
        ("no overwriting", "set -o noclobber"),
        (
            "options for glob",
            "setopt nonomatch correct correctall 2>/dev/null; shopt -s nullglob histverify 2>/dev/null",
        ),
        ("a hook that prints", "PROMPT_COMMAND='echo hooked'; precmd() { echo hooked; }"),
        ("a hook that fails", "PROMPT_COMMAND='false'; precmd() { return 5; }"),
        ("a title for each command", "trap 'printf \"\\033]0;%s\\007\" x' DEBUG 2>/dev/null"),
        ("a history without doubles", "HISTCONTROL=ignoreboth; setopt histignorespace 2>/dev/null"),
        ("no history expansion", "set +H 2>/dev/null; setopt nobanghist 2>/dev/null"),
        ("variables that are not there are errors", "set -u"),
    ];
    for (name, more) in both {
        in_both_with("plain", more, |scene, client| {
            let told = |what: &str| format!("{name}, {}: {what}\n{}", scene.shell.name(), scene.tmux.all_shown());
            for (command, text, exit) in [
                ("/bin/echo one", "one", 0),
                ("printf two", "two", 0),
                ("(exit 4)", "(no output)", 4),
                ("cat <<EOF\nthree\nEOF\nfalse", "three", 1),
                ("x=1\n\ty=2\nprintf '%s\\n' \"$x!$y\"", "1!2", 0),
            ] {
                let answer = client.bash(command).unwrap();
                let hooked = answer.text.trim_end_matches("hooked").trim_end();
                let text = if name == "a hook that prints" && hooked.is_empty() { "" } else { text };
                let same = (hooked == text || answer.text == text) && answer.exit() == Some(exit);
                assert!(same, "{}", told(&format!("{command:?}: {}", answer.result)));
            }
        });
    }
}

#[test]
fn a_small_pane_does_or_says_why_not() {
    if left_out(Shell::Bash) {
        return;
    }
    for size in [(60, 10), (24, 6), (9, 3), (2, 2)] {
        let scene = Scene::with(Shell::Bash, Prompt::named("plain").unwrap(), size, "").unwrap();
        let mut client = scene.server().unwrap();
        let answer = client.bash("echo works").unwrap();
        let said = answer.is_error && answer.exit().is_none() && !answer.text.is_empty();
        assert!(said || (answer.text == "works" && answer.exit() == Some(0)), "{size:?}: {}", answer.result);
        assert!(size.0 < 60 || !said, "{size:?} is enough: {}", answer.result);
    }
}

#[test]
fn outside_tmux_nothing_is_offered() {
    if left_out(Shell::Bash) {
        return;
    }
    let scene = Scene::new(Shell::Bash, &PROMPTS[0]).unwrap();
    let mut client = Client::start(scene.outside().unwrap(), true).unwrap();
    assert_eq!(client.tools().unwrap(), Vec::<String>::new());
    let mut client = scene.server().unwrap();
    assert_eq!(client.tools().unwrap(), ["bash", "read_terminal"]);
}

#[test]
fn waiting_costs_no_processor_time() {
    if left_out(Shell::Bash) {
        return;
    }
    let scene = Scene::new(Shell::Bash, &PROMPTS[0]).unwrap();
    let mut client = scene.server().unwrap();
    assert_works(&mut client);
    assert!(idle_ticks(&mut client, None) <= 2);
    let id = client.call("bash", &json!({"command": "sleep 1000"})).unwrap();
    scene.tmux.until_shown(&scene.shared().unwrap(), "sleep 1000").unwrap();
    // A command that runs is looked at now and then.
    assert!(idle_ticks(&mut client, Some(id)) <= 10);
}

/// Hundredths of a second that the server, its children and the children that it has waited for take while nothing is
/// asked of it.
fn idle_ticks(client: &mut Client, running: Option<u64>) -> u64 {
    // Nothing comes, so this waits that long.
    let mut idle = |limit| assert!(client.answer(running.unwrap_or(u64::MAX), limit).is_err());
    idle(Duration::from_millis(500));
    let before = ticks(client.id());
    let mut idle = |limit| assert!(client.answer(running.unwrap_or(u64::MAX), limit).is_err());
    idle(Duration::from_millis(1_500));
    ticks(client.id()) - before
}

/// What a process and its descendants have taken, as Linux counts it.
fn ticks(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields: Vec<u64> =
        text.rsplit(')').next().unwrap_or_default().split(' ').map(|field| field.parse().unwrap_or(0)).collect();
    // The fields after the name begin with the third: utime, stime, cutime and cstime are those from the fourteenth on.
    let own: u64 = fields.iter().skip(12).take(4).sum();
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().filter_map(Result::ok);
    let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children: Vec<u32> =
        children.flat_map(|text| text.split_whitespace().flat_map(str::parse).collect::<Vec<_>>()).collect();
    own + children.into_iter().map(ticks).sum::<u64>()
}
