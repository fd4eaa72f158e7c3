//! The table of commands, in bash and in zsh.

use std::fmt::Write;

use crate::common::left_out;
use toolgate_terminal_tests::Error;
use toolgate_terminal_tests::case::{Case, cases};
use toolgate_terminal_tests::mcp::Client;
use toolgate_terminal_tests::scene::Scene;
use toolgate_terminal_tests::shell::{PROMPTS, Prompt, Shell};

/// Runs all cases in one pane, one after the other; what fails is told, and those after it get a new one.
fn run(shell: Shell, prompts: &[&str]) {
    if left_out(shell) {
        return;
    }
    let mut failed = String::new();
    for prompt in prompts.iter().filter_map(|name| Prompt::named(name)) {
        let cases = cases(shell, prompt.name).unwrap();
        let mut place: Option<(Scene, Client)> = None;
        for case in &cases {
            let (scene, client) = place.get_or_insert_with(|| open(shell, prompt));
            if let Err(why) = pass(client, case) {
                let _ = writeln!(failed, "==== {} {}: {why}\n{}", shell.name(), prompt.name, scene.tmux.all_shown());
                place = None;
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

fn open(shell: Shell, prompt: &'static Prompt) -> (Scene, Client) {
    let scene = Scene::new(shell, prompt).unwrap();
    let client = scene.server().unwrap();
    (scene, client)
}

/// Runs a case and those that follow on it; tells what is wrong.
fn pass(client: &mut Client, case: &Case) -> Result<(), String> {
    for (number, step) in [case].into_iter().chain(&case.then).enumerate() {
        let told = |why: String| format!("{}, command {number}: {:?}\n  {why}", case.name, step.command);
        let answer = match step.timeout {
            Some(seconds) => client.bash_within(&step.command, seconds),
            None => client.bash(&step.command),
        };
        match answer {
            Ok(answer) => step.wrong(&answer).map_or(Ok(()), |why| Err(told(why)))?,
            Err(Error::Refused { .. }) if step.refused => {}
            Err(error) => return Err(told(error.to_string())),
        }
    }
    Ok(())
}

#[test]
fn every_prompt_is_tried() {
    let tried: Vec<_> = TRIED.iter().flat_map(|names| names.iter()).collect();
    let missing: Vec<_> = PROMPTS.iter().filter(|prompt| !tried.contains(&&prompt.name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// In a few tests, so that they run beside each other.
const TRIED: [&[&str]; 3] =
    [&["plain", "coloured", "right"], &["two-line", "no-symbol", "exit-code"], &["frame", "blank-line", "branch"]];

#[test]
fn bash_with_simple_prompts() {
    run(Shell::Bash, TRIED[0]);
}

#[test]
fn bash_with_wordy_prompts() {
    run(Shell::Bash, TRIED[1]);
}

#[test]
fn bash_with_large_prompts() {
    run(Shell::Bash, TRIED[2]);
}

#[test]
fn zsh_with_simple_prompts() {
    run(Shell::Zsh, TRIED[0]);
}

#[test]
fn zsh_with_wordy_prompts() {
    run(Shell::Zsh, TRIED[1]);
}

#[test]
fn zsh_with_large_prompts() {
    run(Shell::Zsh, TRIED[2]);
}
