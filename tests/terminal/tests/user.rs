//! The user in the shared pane: what they type is not joined with what is typed for the agent, and is reported.

use crate::common::{assert_answer, assert_works, in_both, in_both_with};
use serde_json::json;
use toolgate_terminal_tests::mcp::{ACTIVITY, Client};
use toolgate_terminal_tests::scene::Scene;
use toolgate_terminal_tests::wait::{LIMIT, until, until_so};

/// Opens the pane, and waits until the user can type there.
fn opened(scene: &Scene, client: &mut Client) -> String {
    assert_works(client);
    let pane = scene.shared().unwrap();
    scene.until_prompt(&pane).unwrap();
    pane
}

/// Waits until so many messages about the user have come.
fn told(scene: &Scene, client: &mut Client, count: usize) -> Vec<String> {
    // A message stands above the next answer, whatever that is.
    let look = || client.read_terminal().map(|_| (client.told.len() >= count).then(|| client.told.clone()));
    until(&format!("{count} messages"), look).map_err(|error| scene.tmux.with_panes(error)).unwrap()
}

/// What must be in a message.
#[track_caller]
fn assert_told(message: &str, folder: &str, command: &str, output: &str, exit: u8) {
    let expected = format!("{ACTIVITY}:\n\n{folder} $ {command}\n{output}\n[exit code: {exit}]");
    assert_eq!(message, expected);
}

#[test]
fn what_the_user_runs_is_told_once() {
    in_both(|scene, client| {
        let pane = opened(scene, client);
        for (number, exit) in [0, 4].into_iter().enumerate() {
            scene.tmux.line(&pane, &format!("echo mine {number}; (exit {exit})")).unwrap();
            let messages = told(scene, client, number + 1);
            let command = format!("echo mine {number}; (exit {exit})");
            assert_told(&messages[number], "~/project", &command, &format!("mine {number}"), exit);
        }
        scene.until_prompt(&pane).unwrap();
        assert_works(client);
        assert_works(client);
        assert_eq!(client.told.len(), 2);
    });
}

#[test]
fn the_users_directory_is_theirs() {
    in_both(|scene, client| {
        let pane = opened(scene, client);
        scene.tmux.line(&pane, "cd ..").unwrap();
        told(scene, client, 1);
        scene.tmux.line(&pane, "echo up").unwrap();
        let messages = told(scene, client, 2);
        assert_told(&messages[1], "~", "echo up", "up", 0);
        let answer = client.bash("basename \"$PWD\"").unwrap();
        assert_answer(&answer, "project", 0);
    });
}

#[test]
fn what_the_user_has_half_typed_is_not_joined() {
    for (prompt, more) in [("two-line", ""), ("plain", "set -o vi 2>/dev/null || bindkey -v"), ("frame", "")] {
        in_both_with(prompt, more, |scene, client| {
            let pane = opened(scene, client);
            for half in ["echo half", "echo 'open", "echo half  ", "日本"] {
                scene.tmux.text(&pane, half).unwrap();
                scene.tmux.until_shown(&pane, half.trim_end()).unwrap();
                let answer = client.bash("echo agent").unwrap();
                assert_answer(&answer, "agent", 0);
            }
            // The cursor in the middle.
            scene.tmux.text(&pane, "echo half").unwrap();
            scene.tmux.keys(&pane, &["Left", "Left", "Left"]).unwrap();
            assert_answer(&client.bash("echo agent").unwrap(), "agent", 0);
            // In the middle of more than a line.
            scene.tmux.line(&pane, "echo 'first").unwrap();
            assert_answer(&client.bash("echo agent").unwrap(), "agent", 0);
            scene.tmux.line(&pane, "cat <<EOF").unwrap();
            assert_answer(&client.bash("echo agent").unwrap(), "agent", 0);
        });
    }
}

#[test]
fn what_the_user_types_while_a_command_runs_has_its_own_exit_code() {
    in_both(|scene, client| {
        let pane = opened(scene, client);
        let command = "echo be''gun; until [ -e go ]; do sleep 0.02; done; (exit 3)";
        let id = client.call("bash", &json!({"command": command})).unwrap();
        scene.tmux.until_shown(&pane, "begun").unwrap();
        scene.tmux.line(&pane, "(exit 5)").unwrap();
        scene.write("project/go", "").unwrap();
        let answer = client.answer(id, LIMIT).unwrap();
        assert_eq!(answer.exit(), Some(3), "{}", answer.result);
        assert!(answer.text.starts_with("begun"), "{}", answer.result);
        let messages = told(scene, client, 1);
        assert!(messages[0].contains("(exit 5)") && messages[0].ends_with("[exit code: 5]"), "{messages:?}");
        assert_works(client);
        assert_eq!(client.told.len(), 1);
    });
}

#[test]
fn a_command_waits_for_what_the_user_runs_or_goes_elsewhere() {
    in_both(|scene, client| {
        let pane = opened(scene, client);
        scene.tmux.line(&pane, "echo be''gun; until [ -e go ]; do sleep 0.02; done; echo user").unwrap();
        scene.tmux.until_shown(&pane, "begun").unwrap();
        assert_answer(&client.bash("echo agent").unwrap(), "agent", 0);
        assert!(!scene.tmux.shown(&pane).unwrap().contains("echo agent"));
        scene.write("project/go", "").unwrap();
        let messages = told(scene, client, 1);
        assert!(messages[0].contains("user"), "{messages:?}");
        assert_works(client);
    });
}

#[test]
fn commands_go_elsewhere_where_the_users_program_runs() {
    for command in ["bash --norc", "zsh -f", "vi -u NONE", "/usr/bin/python3 -q", "cat"] {
        in_both(|scene, client| {
            let pane = opened(scene, client);
            scene.tmux.line(&pane, command).unwrap();
            let pid = scene.tmux.format(&pane, "#{pane_pid}").unwrap();
            until_so("the program", || Ok(has_child(&pid))).map_err(|error| scene.tmux.with_panes(error)).unwrap();
            let answer = client.bash("echo agent").unwrap();
            assert_answer(&answer, "agent", 0);
            assert_ne!(answer.detail("pane"), pane.as_str());
            assert_works(client);
        });
    }
}

/// Whether a process has a child.
fn has_child(process: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"))
        .is_ok_and(|children| !children.is_empty())
}

#[test]
fn a_hook_that_the_user_takes_away_is_missed() {
    in_both(|scene, client| {
        let pane = opened(scene, client);
        let line = "PROMPT_COMMAND=; precmd_functions=(); unset -f __pi_prompt precmd 2>/dev/null; echo ta''ken";
        scene.tmux.line(&pane, line).unwrap();
        scene.tmux.until_shown(&pane, "taken").unwrap();
        scene.until_prompt(&pane).unwrap();
        let answer = client.bash_within("echo agent", 10).unwrap();
        assert!(answer.text.contains("agent"), "{}", answer.result);
        assert!(answer.exit().is_none_or(|exit| exit == 0), "{}", answer.result);
        assert_works(client);
    });
}

#[test]
fn a_shell_that_takes_the_place_of_the_shell_is_noticed() {
    in_both(|scene, client| {
        let pane = opened(scene, client);
        let other = if scene.shell.name() == "bash" { "zsh -f" } else { "bash --norc" };
        scene.tmux.line(&pane, &format!("exec {other}")).unwrap();
        let name = other.split(' ').next().unwrap();
        until_so("the other shell", || Ok(scene.tmux.format(&pane, "#{pane_current_command}")? == name)).unwrap();
        let answer = client.bash_within("echo agent", 10).unwrap();
        assert!(answer.text.contains("agent"), "{}", answer.result);
        assert_works(client);
    });
}

#[test]
fn a_pane_that_the_user_scrolls_in_takes_commands() {
    in_both(|scene, client| {
        let pane = opened(scene, client);
        assert_eq!(client.bash("seq 100").unwrap().exit(), Some(0));
        scene.tmux.ask(["copy-mode", "-t", &pane]).unwrap();
        scene.tmux.keys(&pane, &["Up", "Up", "PageUp"]).unwrap();
        let answer = client.bash("echo agent").unwrap();
        assert_answer(&answer, "agent", 0);
    });
}

#[test]
fn a_zoomed_pane_is_still_shared() {
    in_both(|scene, client| {
        let pane = opened(scene, client);
        scene.tmux.ask(["resize-pane", "-Z", "-t", &scene.agent]).unwrap();
        assert_works(client);
        scene.tmux.ask(["resize-pane", "-Z", "-t", &pane]).unwrap();
        assert_works(client);
    });
}

#[test]
fn an_empty_line_is_no_activity() {
    in_both(|scene, client| {
        let pane = opened(scene, client);
        scene.tmux.keys(&pane, &["Enter", "Enter"]).unwrap();
        scene.tmux.line(&pane, "echo mine").unwrap();
        let messages = told(scene, client, 1);
        assert!(messages[0].contains("echo mine"), "{messages:?}");
        assert_works(client);
        assert_eq!(client.told.len(), 1);
    });
}
