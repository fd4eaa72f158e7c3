//! What the action of a tool does to which paths: the same as the command that a person would type for it.

use crate::command::{Command, FileAction};
use crate::effect;
use crate::facts::Facts;
use crate::interpreter;
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// A path as a tool's input has it.
#[derive(Clone, Copy, Debug)]
pub struct ToolPath<'a> {
    /// The text: a relative one starts in the directory of the call, and a tilde stands for the home folder.
    pub text: &'a str,
    /// Where it is named.
    pub span: Span,
}

/// A command without words that has the effects of such an action: on these paths and all that is below them if it is
/// `recursive`, and to the last path if it puts them somewhere.
///
/// ```
/// use toolgate_shell::{Facts, FileAction, EffectKind, Span, ToolPath, Value, file_action};
/// let path = ToolPath { text: "~/it's here", span: Span { start: 0, end: 11 } };
/// let removed = file_action(FileAction::Remove, true, &[path], &Facts::new("/p").home("/h"));
/// assert!(removed.words.is_empty());
/// assert_eq!(removed.effects[0].kind, EffectKind::Delete);
/// assert_eq!(removed.effects[0].path, Value::Known("/h/it's here".into()));
/// ```
pub fn file_action(action: FileAction, recursive: bool, paths: &[ToolPath<'_>], facts: &Facts) -> Command {
    let whole = Span {
        start: paths.iter().map(|path| path.span.start).min().unwrap_or_default(),
        end: paths.iter().map(|path| path.span.end).max().unwrap_or_default(),
    };
    let leading = like(action, recursive).iter().map(|text| Word::new(*text, whole));
    let last = paths.len().saturating_sub(1);
    let operands = paths.iter().enumerate().map(|(at, path)| {
        let is_unpacked = action == FileAction::Unpack && at < last;
        operand(path, if is_unpacked { "/." } else { "" }, facts)
    });
    let mut done = Command::of_action(action, whole, facts);
    done.words = leading.chain(operands).collect();
    done.effects = effect::effects(&done, &effect::Call::read(&done), &interpreter::files(facts));
    effect::resolve_reopened(std::slice::from_mut(&mut done));
    // They only stood for what is done: the agent has written none of them.
    done.words = Vec::new();
    done
}

/// How a shell would be told to do it.
fn like(action: FileAction, recursive: bool) -> &'static [&'static str] {
    match (action, recursive) {
        (FileAction::Remove, true) => &["rm", "-rf", "--"],
        (FileAction::Remove, false) => &["rm", "-f", "--"],
        (FileAction::Move, _) => &["mv", "--"],
        (FileAction::Unpack, _) | (FileAction::Copy, true) => &["cp", "-r", "--"],
        (FileAction::Copy, false) => &["cp", "--"],
        (FileAction::Write, _) => &["touch", "--"],
        (FileAction::Read, _) => &["cat", "--"],
        (FileAction::Search, _) => &["grep", "-r", "--", "."],
        (FileAction::List, _) => &["ls", "--"],
    }
}

/// A path as an operand, with something behind it.
fn operand(path: &ToolPath<'_>, behind: &str, facts: &Facts) -> Word {
    let text = match path.text {
        // To a program it would be no file.
        "-" => "./-",
        text => text,
    };
    // No file has a NUL in its path, and it stands for what is unknown.
    if text.contains(Value::HOLE) {
        return Word::unknown(Why::Malformed, path.span);
    }
    let rest = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let value = match (rest, &facts.home) {
        (None, _) if text.is_empty() => Value::Known(String::new()),
        (None, _) => Value::Known(format!("{text}{behind}")),
        (Some(rest), Some(home)) => Value::Known(format!("{home}{rest}{behind}")),
        (Some(rest), None) => {
            Value::Unknown { why: Why::Home(String::new()), shape: format!("{}{rest}{behind}", Value::HOLE) }
        }
    };
    Word { value, ..Word::new("", path.span) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpreter::parse;

    /// A text in quotes, as a shell takes it for one word, with a tilde that stands for the home folder.
    fn quoted(text: &str) -> String {
        let quote = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
        match text.strip_prefix("~/") {
            Some(rest) => format!("~/{}", quote(rest)),
            None if text == "~" => "~".to_owned(),
            None => quote(text),
        }
    }

    /// What is done to which path, without where that is named.
    fn told(command: &Command) -> Vec<String> {
        let about = |effect: &crate::Effect| {
            let crate::Effect { kind, path, written, recursive, folder, copied, certain, alternative, .. } = effect;
            format!("{kind:?} {path:?} {written:?} {recursive} {folder} {copied} {certain} {alternative}")
        };
        command.effects.iter().map(about).collect()
    }

    #[test]
    fn an_action_has_the_effects_of_the_command_for_it() {
        const PATHS: &[&str] = &[
            "a",
            "a/",
            "/etc/x",
            "../x",
            "a/../../x",
            "~",
            "~/x",
            "~user/x",
            "it's",
            "a b\n$(c) `d` \"e\" *?[f]",
            "-rf",
            "--help",
            ".",
            "",
            "/dev/null",
        ];
        let actions = [
            (FileAction::Remove, true, "rm -rf --", ""),
            (FileAction::Remove, false, "rm -f --", ""),
            (FileAction::Move, true, "mv --", ""),
            (FileAction::Copy, true, "cp -r --", ""),
            (FileAction::Copy, false, "cp --", ""),
            (FileAction::Unpack, true, "cp -r --", "/."),
            (FileAction::Write, false, "touch --", ""),
            (FileAction::Read, false, "cat --", ""),
            (FileAction::Search, true, "grep -r -- .", ""),
            (FileAction::List, false, "ls --", ""),
        ];
        let facts = [Facts::new("/p"), Facts::new("/p").home("/h"), Facts::new("")];
        for (action, recursive, command, behind) in actions {
            for (first, second) in PATHS.iter().flat_map(|first| PATHS.iter().map(move |second| (*first, *second))) {
                if action == FileAction::Unpack && first.is_empty() {
                    continue;
                }
                for facts in &facts {
                    let path = |text| ToolPath { text, span: Span::default() };
                    let done = file_action(action, recursive, &[path(first), path(second)], facts);
                    // What stands behind it is in the same word.
                    let text = format!("{command} {}{behind} {}", quoted(first), quoted(second));
                    let script = parse(&text, facts);
                    assert_eq!(told(&done), told(&script.commands[0]), "{text:?} {facts:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_path_is_unknown_and_a_dash_is_a_file() {
        let facts = Facts::new("/p");
        let done = |text| file_action(FileAction::Remove, true, &[ToolPath { text, span: Span::default() }], &facts);
        assert!(matches!(done("a\0b").effects[0].path, Value::Unknown { .. }));
        assert_eq!(done("-").effects[0].path, Value::Known("/p/-".to_owned()));
        for action in [FileAction::Remove, FileAction::Move, FileAction::Copy, FileAction::Unpack, FileAction::Write] {
            assert!(file_action(action, true, &[], &facts).effects.is_empty(), "{action:?}");
        }
        // What searches, and is told no place, searches where it is.
        assert_eq!(file_action(FileAction::Search, true, &[], &facts).effects.len(), 1);
    }
}
