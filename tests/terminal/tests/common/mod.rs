//! What the tests share.

use std::panic::{AssertUnwindSafe, catch_unwind};

use toolgate_terminal_tests::mcp::{Answer, Client};
use toolgate_terminal_tests::scene::{SIZE, Scene};
use toolgate_terminal_tests::shell::{Prompt, SHELLS, Shell, missing};
use toolgate_test_support::skip;

/// Whether a test is skipped as tmux or its shell is not there. It needs Linux, too, whose `/proc` says what runs in a pane.
#[track_caller]
pub(crate) fn left_out(shell: Shell) -> bool {
    let missing = if cfg!(target_os = "linux") { missing(&["tmux", shell.name()]) } else { Some("Linux") };
    if let Some(program) = missing {
        skip::missing(program, format!("the shared terminal is tried with {program}"));
    }
    missing.is_some()
}

/// Runs a test in bash and in zsh.
pub(crate) fn in_both(test: impl Fn(&Scene, &mut Client)) {
    in_both_with("two-line", "", test);
}

/// The same with a prompt, and lines for the shell's start.
pub(crate) fn in_both_with(prompt: &str, more: &str, test: impl Fn(&Scene, &mut Client)) {
    in_both_scenes(prompt, more, |scene| test(scene, &mut scene.server().unwrap()));
}

/// The same without a server. What fails in one of them is still tried in the other.
pub(crate) fn in_both_scenes(prompt: &str, more: &str, test: impl Fn(&Scene)) {
    let prompt = Prompt::named(prompt).expect("a prompt");
    let fails = |shell: &Shell| {
        let run = || test(&Scene::with(*shell, prompt, SIZE, more).unwrap());
        catch_unwind(AssertUnwindSafe(run)).is_err()
    };
    let failed: Vec<Shell> = SHELLS.into_iter().filter(|shell| !left_out(*shell)).filter(fails).collect();
    assert!(failed.is_empty(), "failed in {failed:?}");
}

/// Text and exit code must be these.
#[track_caller]
pub(crate) fn assert_answer(answer: &Answer, text: &str, exit: i64) {
    assert_eq!((answer.text.as_str(), answer.exit()), (text, Some(exit)), "{}", answer.result);
    assert_eq!(answer.is_error, exit != 0, "{}", answer.result);
}

/// A command must be answered as if nothing had happened before.
#[track_caller]
pub(crate) fn assert_works(client: &mut Client) {
    let answer = client.bash("echo works; (exit 7)").unwrap();
    assert_answer(&answer, "works", 7);
}

/// The text must have this somewhere.
#[track_caller]
pub(crate) fn assert_has(answer: &Answer, part: &str) {
    assert!(answer.text.contains(part), "no {part:?}: {}", answer.result);
}
