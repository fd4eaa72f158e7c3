//! Which word of a command is not known, and what would make it known: for the reasons of rules that ask because of it.

use toolgate_shell::{Command, Value, Why, Word};

/// Longest text of a word that a reason repeats, in characters.
const LONGEST: usize = 60;

/// What is not seen of what a shell or another program runs.
pub(super) fn of_script(command: &Command, source: &str) -> String {
    let unknown = command.words.iter().find_map(|word| Some((word, why(word)?)));
    match unknown {
        Some((word, why)) => of_word(word, why, source),
        None => of_input(command),
    }
}

/// What is not known of the program itself.
pub(super) fn of_program(command: &Command, source: &str) -> String {
    let unknown = command.words.iter().take(2).find_map(|word| Some((word, why(word)?)));
    unknown.map(|(word, why)| of_word(word, why, source)).unwrap_or_default()
}

fn why(word: &Word) -> Option<&Why> {
    match &word.value {
        Value::Unknown { why, .. } => Some(why),
        Value::Known(_) | Value::Pattern(_) => None,
    }
}

fn of_word(word: &Word, why: &Why, source: &str) -> String {
    let text = source.get(word.span.start..word.span.end).unwrap_or_default();
    let shown: String = text.chars().take(LONGEST).collect();
    let rest = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown}{rest} is unknown: {why}; {}", remedy(why))
}

/// What makes a value known.
fn remedy(why: &Why) -> String {
    match why {
        Why::Variable(name) | Why::Environment(name) | Why::Default(name) if !name.is_empty() => {
            "it is known if the variable is set to plain text in the same command".to_owned()
        }
        Why::CommandOutput | Why::Temporary => {
            "it is known if the text is written out, or is in a file that is run by its path".to_owned()
        }
        Why::ProcessSubstitution => "it is known if the text is in a file that is run by its path".to_owned(),
        Why::Argument => "it is known if the names are given as arguments: sh -c 'head -3 \"$1\"' _ NAME".to_owned(),
        Why::Number | Why::Expansion | Why::Values(_) | Why::Perhaps(_) | Why::Stored(_) => {
            "it is known if the value is written out".to_owned()
        }
        _ => "it is known if it is written out".to_owned(),
    }
}

/// All words are known: the text comes from elsewhere.
fn of_input(command: &Command) -> String {
    let name = command.program().unwrap_or("the program");
    let file = command.words.iter().skip(1).filter_map(Word::known).find(|word| !word.starts_with('-'));
    match file {
        Some(file) if command.effects.iter().any(|effect| effect.span == span_of(command, file)) => {
            format!("the content of {file} is unknown; it is known if it is written as plain text, or was there before")
        }
        _ => format!(
            "the input of {name} is unknown; it is known if the text is in the command, or in a file that is run by its path"
        ),
    }
}

fn span_of(command: &Command, text: &str) -> toolgate_shell::Span {
    let word = command.words.iter().find(|word| word.known() == Some(text));
    word.map_or(command.span, |word| word.span)
}
