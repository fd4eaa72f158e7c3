//! What the gate does not let through is not typed.

use crate::common::{assert_works, in_both};
use toolgate_terminal_tests::mcp::Client;

/// Commands that the built-in rules block, and that would do no harm.
const BLOCKED: &[&str] = &["cat ~/.ssh/id_rsa", "cat <<EOF\n$(cat ~/.ssh/id_rsa)\nEOF", "eval \"cat ~/.ssh/id_\"rsa"];

/// One that they ask about.
const ASKED: &str = "git push --force origin main";

#[test]
fn what_is_blocked_is_not_typed() {
    in_both(|scene, client| {
        assert_works(client);
        for command in BLOCKED {
            let answer = client.bash(command).unwrap();
            assert!(answer.is_error && answer.exit().is_none() && !answer.text.is_empty(), "{}", answer.result);
        }
        let shown = scene.tmux.shown(&scene.shared().unwrap()).unwrap();
        assert!(!shown.contains("id_"), "{shown}");
        assert_works(client);
    });
}

#[test]
fn what_is_blocked_opens_no_pane() {
    in_both(|scene, client| {
        assert!(client.bash(BLOCKED[0]).unwrap().is_error);
        assert_eq!(scene.tmux.panes().unwrap().len(), 1);
    });
}

#[test]
fn what_is_asked_about_is_typed_once_the_user_agrees() {
    in_both(|scene, client| {
        assert_works(client);
        let answer = client.bash(ASKED).unwrap();
        assert_eq!(client.questions.len(), 1, "{:?}", client.questions);
        assert!(answer.exit().is_some_and(|exit| exit != 0), "git runs, and fails: {}", answer.result);
        // The same where the shell gets it in quotes.
        for (at, quoted) in [format!("{ASKED} \"$HOME\""), format!("{ASKED}\t'it'")].iter().enumerate() {
            let answer = client.bash(quoted).unwrap();
            assert_eq!(client.questions.len(), at + 2, "{:?}", client.questions);
            assert!(answer.exit().is_some_and(|exit| exit != 0), "git runs, and fails: {}", answer.result);
        }
        // Another client of the same user shows no questions.
        let mut silent = Client::start(scene.command(&scene.agent).unwrap(), false).unwrap();
        let answer = silent.bash(&format!("{ASKED} other")).unwrap();
        assert!(answer.is_error && answer.exit().is_none(), "{}", answer.result);
        let shown = scene.tmux.shown(&scene.shared().unwrap()).unwrap();
        assert!(shown.contains(ASKED) && !shown.contains("main other"), "{shown}");
    });
}

#[test]
fn what_the_shell_remembers_is_not_run() {
    in_both(|scene, client| {
        assert_works(client);
        let pane = scene.shared().unwrap();
        scene.until_prompt(&pane).unwrap();
        scene.tmux.line(&pane, "echo remem''bered").unwrap();
        scene.tmux.until_shown(&pane, "remembered").unwrap();
        for command in ["fc -s", "fc -e -", "r", "!!", "!-1", "eval \"$(fc -ln -1)\"", "history -s x; fc -s"] {
            let answer = client.bash(command).unwrap();
            assert!(answer.is_error, "{command}: {}", answer.result);
        }
        let shown = scene.tmux.shown(&pane).unwrap();
        assert_eq!(shown.matches("remembered").count(), 1, "{shown}");
    });
}

#[test]
fn what_a_command_leaves_on_the_line_is_not_joined_with_the_next() {
    in_both(|scene, client| {
        assert_works(client);
        for command in [
            // The terminal answers to these, as if somebody typed.
            "printf '\\033[6n'",
            "printf '\\033[c\\033[5n'",
            "tmux send-keys -t \"$TMUX_PANE\" -l 'echo plan''ted; '",
            "tmux send-keys -t \"$TMUX_PANE\" -l \"echo 'plan\"",
            "tmux set-buffer 'echo plan''ted; ' && tmux paste-buffer -p -t \"$TMUX_PANE\"",
        ] {
            let answer = client.bash(command).unwrap();
            assert!(answer.exit().is_none_or(|exit| exit == 0), "{command}: {}", answer.result);
            assert_works(client);
        }
        let shown = scene.tmux.shown(&scene.shared().unwrap()).unwrap();
        assert!(!shown.lines().any(|line| line.trim() == "planted"), "{shown}");
    });
}

#[test]
fn what_a_call_changed_is_undone() {
    in_both(|scene, client| {
        scene.write("project/kept", "as it was\n").unwrap();
        scene.write("project/gone", "not in any commit\n").unwrap();
        let content = |name: &str| std::fs::read_to_string(scene.project().join(name)).ok();
        let before = [content("kept"), content("gone"), content("made")];
        let undo = |arguments: &[&str]| {
            let output = scene.toolgate().unwrap().arg("undo").args(arguments).output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
        };
        for command in ["rm -f gone", "echo new > kept; echo new > made"] {
            assert_eq!(client.bash(command).unwrap().exit(), Some(0), "{command}");
        }
        assert_ne!([content("kept"), content("gone"), content("made")], before);
        let listed = undo(&["--list"]);
        assert!(listed.contains("rm -f gone") && listed.contains("echo new > kept"), "{listed}");
        let said = undo(&["--session"]);
        assert_eq!([content("kept"), content("gone"), content("made")], before, "{said}{listed}");
    });
}
