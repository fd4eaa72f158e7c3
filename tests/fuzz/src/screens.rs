//! What the shared terminal shows, and what is typed there.

use serde_json::Value;
use toolgate_guest::shared_terminal::{
    Ends, Form, Output, Prompt, Screen, Shell, between, bounded, last_command, wrap,
};

use crate::{Target, choice};

const CAPTURES: &str = include_str!("../../terminal/captures.jsonl");

/// Between the parts of an input. No screen has it.
const BREAK: char = '\u{1}';

pub(crate) const PANE: Target = Target {
    name: "pane",
    run: pane,
    seeds: || {
        let capture = |line: &str| {
            let case: Value = serde_json::from_str(line).expect("a case is JSON");
            let screen = |name: &str| {
                let part = |key: &str| case[name][key].as_str().unwrap_or_default().to_owned();
                [part("text"), part("below"), part("before_cursor")].join("\u{1}")
            };
            let command = case["command"].as_str().unwrap_or_default().to_owned();
            let parts = [screen("before"), screen("typed"), screen("after"), command].join("\u{1}");
            let size = |key: &str| case[key].as_u64().and_then(|size| u8::try_from(size).ok()).unwrap_or(80);
            [&[u8::from(case["shell"] == "zsh"), size("width"), size("height")], parts.as_bytes()].concat()
        };
        CAPTURES.lines().map(capture).collect()
    },
    words: &[
        "\n",
        "\n\n",
        "\u{1}",
        "$ ",
        "# ",
        "❯ ",
        "% ",
        "> ",
        "dquote> ",
        " [12:00:01]",
        "  ",
        "\t",
        "é",
        "写",
        "\u{200d}",
        "\u{301}",
        "\u{1b}[A",
        "\r",
        "'",
        "\"",
        "\\",
        "!",
        "(",
        ")",
        "; ",
        "<<E\n",
        "history",
        "fc ",
        "|",
    ],
    tries: 4_000,
};

/// Three screens (with the prompt, with the command typed, later) and the command.
pub fn pane(data: &[u8]) {
    let (kind, data) = choice(data);
    let (width, data) = choice(data);
    let (height, data) = choice(data);
    let text = String::from_utf8_lossy(data);
    let mut parts = text.split(BREAK).map(str::to_owned);
    let mut screen = || Screen {
        text: parts.next().unwrap_or_default(),
        below: parts.next().unwrap_or_default(),
        before_cursor: parts.next().unwrap_or_default(),
        width: u32::try_from(width).unwrap_or_default(),
        height: u32::try_from(height).unwrap_or_default(),
    };
    let (before, typed, after) = (screen(), screen(), screen());
    let command = parts.next().unwrap_or_default();
    let shell = if kind % 2 == 0 { Shell::Bash } else { Shell::Zsh };
    let first = Prompt::of(shell, &before, kind / 2);
    let second = first.after(&after);
    for prompt in [&first, &second] {
        assert!((1..=8).contains(&prompt.height()), "{} lines of a prompt", prompt.height());
        prompt.is_at(&after);
        prompt.may_be_at(&after);
        for line in after.text.split('\n').chain(typed.text.split('\n')) {
            for found in [prompt.typed(line), prompt.glued(line), prompt.without_right_of(line)].into_iter().flatten() {
                assert!(line.contains(found), "{found:?} of {line:?}");
            }
        }
        for ends in [Ends::Running, Ends::Prompt, Ends::More] {
            let output = between(&typed, &after, prompt, ends);
            on(&output.text, &after);
            given(&output);
        }
    }
    for rest in [None, Some(&before)] {
        if let Some(done) = last_command(rest, &after, &first, &second) {
            assert!(!done.command.is_empty(), "a command");
            on(&done.output, &after);
        }
    }
    for pastes in [false, true] {
        match wrap(&command, Some("/some/folder"), shell, pastes) {
            Err(why) => assert!(!why.is_empty(), "a reason"),
            Ok(Form::Line(line)) => assert!(!line.chars().any(char::is_control), "keys in {line:?}"),
            Ok(Form::Paste(text)) => {
                assert!(pastes, "a paste where none is taken");
                assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "keys in {text:?}");
            }
        }
    }
}

/// Every line of an output stands on the screen, or is a piece of one there.
fn on(output: &str, screen: &Screen) {
    assert!(output.len() <= screen.text.len(), "more than there is");
    for line in output.split('\n') {
        assert!(screen.text.contains(line), "{line:?} is not on the screen");
    }
}

/// What an agent is given of an output.
fn given(output: &Output) {
    let given = bounded(output);
    assert!(given.len() <= (50 << 10) + 200 && given.split('\n').count() <= 2_001, "{} bytes", given.len());
    let end =
        given.split_once("]\n").filter(|_| given.starts_with("[Truncated")).map_or(given.as_str(), |(_, end)| end);
    assert!(output.text.ends_with(end), "the end of it");
}
