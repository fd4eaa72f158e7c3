//! The parser of the shared terminal, text in, text out: screens that real bash and zsh drew in a real tmux, and what the command on
//! them wrote. `just record` makes them anew.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::Value;
use toolgate_guest::shared_terminal::{Activity, Ends, Prompt, Screen, Shell, between, bounded, last_command};

const CAPTURES: &str = include_str!("../../tests/terminal/captures.jsonl");

fn screen(value: &Value, size: &Value) -> Screen {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let number = |key: &str| size[key].as_u64().and_then(|number| u32::try_from(number).ok()).expect("a number");
    Screen {
        text: text("text"),
        below: text("below"),
        before_cursor: text("before_cursor"),
        width: number("width"),
        height: number("height"),
    }
}

#[test]
fn the_output_of_a_command_is_what_it_wrote() {
    let mut prompts: HashMap<String, Prompt> = HashMap::new();
    let cases: Vec<Value> = CAPTURES.lines().map(|line| serde_json::from_str(line).expect("a capture")).collect();
    let kind = |case: &Value| format!("{} {}", case["shell"], case["prompt"]);
    let lines = |screen: &Value| screen["text"].as_str().unwrap_or_default().split('\n').count();
    // As it learns the height of a prompt: by what is added to what a command writes, here one line.
    let heights: HashMap<String, usize> = cases
        .iter()
        .filter(|case| case["command"] == "echo hello")
        .map(|case| (kind(case), lines(&case["after"]) - lines(&case["typed"]) - 1))
        .collect();
    let (mut count, mut wrong) = (0, Vec::new());
    for case in &cases {
        let (name, expected) = (case["name"].as_str().unwrap_or_default(), case["output"].as_str().unwrap_or_default());
        let before = screen(&case["before"], case);
        let prompt = match prompts.get(&kind(case)) {
            Some(known) => known.after(&before),
            None => {
                Prompt::of(if case["shell"] == "zsh" { Shell::Zsh } else { Shell::Bash }, &before, heights[&kind(case)])
            }
        };
        prompts.insert(kind(case), prompt.clone());
        let (typed, after) = (screen(&case["typed"], case), screen(&case["after"], case));
        let output = bounded(&between(&typed, &after, &prompt, Ends::Prompt));
        if output != expected {
            wrong.push(format!("{name}: {expected:?}\n  was {output:?}"));
        }
        // The same by the eyes of whoever only sees that something was typed.
        let now = prompt.after(&after);
        let command = case["command"].as_str().unwrap_or_default();
        // Where a line ends with the screen nobody can tell what was typed from what was written.
        if !command.contains('\n') && !command.contains("clear") && !name.ends_with("row") {
            let seen = last_command(Some(&before), &after, &prompt, &now);
            // zsh breaks long lines itself, and a blank at the break is not seen: the rest of the command is then output.
            let whole = |seen: &Activity| seen.command == command && seen.output == expected.trim_end();
            let broken = |seen: &Activity| command.starts_with(&seen.command) && seen.output.ends_with(expected);
            let long = case["shell"] == "zsh" && command.len() as u64 >= case["width"].as_u64().unwrap_or_default();
            if !seen.as_ref().is_some_and(|seen| whole(seen) || (long && broken(seen))) {
                wrong.push(format!("{name}, as the user's: {command:?} {expected:?}\n  was {seen:?}"));
            }
        }
        count += 1;
    }
    assert!(count >= 25, "{count} captures");
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_cursor_on_the_row_after_the_command_is_no_line_of_the_screen() {
    let screen = |text: &str, cursor: &str| Screen {
        text: text.to_owned(),
        before_cursor: cursor.to_owned(),
        width: 8,
        height: 24,
        ..Screen::default()
    };
    let prompt = Prompt::of(Shell::Zsh, &screen("\n# true\n#", "# "), 1);
    let (typed, after) = (screen("\n# true\n# echo a\n", ""), screen("\n# true\n# echo a\na\n#", "# "));
    assert_eq!(bounded(&between(&typed, &after, &prompt, Ends::Prompt)), "a");
}

#[test]
fn what_is_written_again_is_not_taken_for_what_was_there() {
    let screen = |text: String, cursor: &str| Screen {
        text,
        before_cursor: cursor.to_owned(),
        width: 80,
        height: 24,
        ..Screen::default()
    };
    let lines = |from: usize, to: usize| (from..=to).map(|n| format!("{n}\n")).collect::<String>();
    // The terminal keeps a hundred lines, and the same command runs twice.
    for (first, second) in [(300, 300), (190, 200), (300, 201)] {
        let typed = screen(format!("{}# seq {second}", lines(first - 98, first)), "# seq");
        let after = screen(format!("{}#", lines(second - 98, second)), "# ");
        let prompt = Prompt::of(Shell::Bash, &screen("#".to_owned(), "# "), 1);
        let output = between(&typed, &after, &prompt, Ends::Prompt);
        assert_eq!(output.text, lines(second - 98, second).trim_end(), "{first} {second}");
        assert!(output.cut, "{first} {second}");
    }
}

proptest! {
    /// Whatever was on the screen before, whatever a command writes and however much of it has scrolled away by then.
    #[test]
    fn output_is_found_between_any_texts(
        before in proptest::collection::vec("[ab$] ?[xy]?", 0..8),
        typed in "[xy]{1,3}",
        written in proptest::collection::vec("([ab$]|\\$ x|\\$ )?[xy]?", 0..8),
        height in 1..3usize,
        gone in 0..4usize,
    ) {
        let screen = |lines: &[String], cursor: &str| Screen {
            text: lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n"),
            before_cursor: cursor.to_owned(),
            width: 80,
            height: 24,
            ..Screen::default()
        };
        let info = vec!["info ~/project".to_owned(); height - 1];
        let line = |lines: &[String], last: &str| [lines, &info, &[last.to_owned()]].concat();
        let empty = screen(&line(&before, "$"), "$ ");
        let entered = line(&before, &format!("$ {typed}"));
        let prompt = Prompt::of(Shell::Zsh, &empty, height);
        let after = line(&[&entered[..], &written[..]].concat(), "$");
        // The top has scrolled away, but not the command.
        let gone = gone.min(before.len());
        // What a command writes may look like the line that was typed; then nobody can tell how much has scrolled away.
        let seen = |lines: &[String]| lines.iter().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        let (left, stood) = (seen(&after[gone..]), seen(&entered));
        prop_assume!((0..gone).all(|less| !left.starts_with(&stood[less..])));
        let output = between(
            &screen(&entered, &format!("$ {typed}")),
            &screen(&after[gone..], "$ "),
            &prompt,
            Ends::Prompt,
        );
        let expected = written.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
        prop_assert_eq!(output.text, expected.trim_end());
    }

    /// No text makes the parser fail, and no answer is longer than an agent is given.
    #[test]
    fn any_screens_are_read(typed in ".{0,40}(\n.{0,10}){0,5}", after in "(.{0,20}\n){0,9}.{0,20}", cursor in ".{0,9}", height in 0..9usize) {
        let screen = |text: String, cursor: &str| Screen {
            text,
            before_cursor: cursor.to_owned(),
            width: 20,
            height: 5,
            ..Screen::default()
        };
        for shell in [Shell::Bash, Shell::Zsh] {
            let prompt = Prompt::of(shell, &screen(after.clone(), &cursor), height);
            let (typed, after) = (screen(typed.clone(), &cursor), screen(after.clone(), &cursor));
            for ends in [Ends::Running, Ends::Prompt, Ends::More] {
                prop_assert!(bounded(&between(&typed, &after, &prompt, ends)).len() < 60 << 10);
            }
            last_command(Some(&typed), &after, &prompt, &prompt.after(&after));
        }
    }
}
