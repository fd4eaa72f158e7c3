//! What comes out of a row that needs no code: what its options run, then the command that the words end in. Code for other
//! rows puts its own together out of the same parts.

use toolgate_commands::{OptionRun, RunForm, Trait};

use super::argv_edit::{Rules, cut, is_open, join, known, split};
use super::options::ScannedOptions;
use super::{Call, ContextChange, NestedCommand, NestedKind};
use toolgate_shell_syntax::path;
use toolgate_shell_syntax::word::{Value, Why, Word};

/// Whether a word stands for standard input.
pub(super) fn is_stdin(word: &Word) -> bool {
    word.known().is_some_and(|path| path == "-" || path::is_stdin(path))
}

/// A setting of cargo's that is a program: `target.x.runner=["rm", "-rf"]`, `build.rustc-wrapper="sccache"`.
fn setting(text: &Word) -> Option<NestedKind> {
    const RUNS: &[&str] = &["runner", "linker", "rustc", "rustdoc", "rustc-wrapper", "rustc-workspace-wrapper"];
    let (key, value) = text.known()?.split_once('=')?;
    if !RUNS.contains(&key.rsplit('.').next()?.trim()) {
        return None;
    }
    // A list of words, or a text with blanks between them.
    let value = value.trim();
    let between = if value.starts_with('[') { ',' } else { ' ' };
    let words = value.trim_matches(['[', ']', '"', '\'']).split(between);
    let words = words.map(|word| known(word.trim().trim_matches(['"', '\'']), text)).collect();
    Some(NestedKind::Command { words, more: true })
}

/// What the options of a row run by themselves.
pub(super) fn extras(scan: &ScannedOptions, change: &ContextChange) -> Vec<NestedCommand> {
    let kind = |meaning: OptionRun, value: &Option<Word>| match (meaning, value) {
        (OptionRun::Also, Some(text)) => Some(NestedKind::Text { text: text.clone(), args: Vec::new() }),
        (OptionRun::Prog, Some(text)) => Some(NestedKind::Command {
            words: split(text, Rules::Plain).filter(|words| !words.is_empty()).unwrap_or_else(|| vec![text.clone()]),
            more: true,
        }),
        (OptionRun::Script, Some(path)) => {
            Some(NestedKind::File { path: path.clone(), args: Vec::new(), here: false }).filter(|_| !is_stdin(path))
        }
        (OptionRun::Unseen, _) => Some(NestedKind::Unseen),
        // `--eval '%(TEXT)'` of rpm, `--config build.rustc-wrapper=PROGRAM` of cargo.
        (OptionRun::Macro, Some(text)) => {
            let at = text.text().find("%(")? + 2;
            let inner = cut(text, at);
            let end = inner.text().rfind(')').unwrap_or(inner.text().len());
            let value = inner.value.part(inner.text()[..end].to_owned());
            Some(NestedKind::Text { text: Word { value, ..inner }, args: Vec::new() })
        }
        (OptionRun::Setting, Some(text)) => setting(text),
        // Code of a language that is not read here; what is known of it is judged as a text.
        (OptionRun::CodeElsewhere, text) => {
            text.as_ref().is_none_or(|text| text.known().is_none()).then_some(NestedKind::Unseen)
        }
        _ => None,
    };
    let found = scan.hits.iter().filter_map(|hit| kind(hit.meaning, &hit.value));
    found.map(|kind| NestedCommand::new(kind, change).perhaps()).collect()
}

pub(super) fn text_of(text: Word, args: Vec<Word>, change: &ContextChange) -> NestedCommand {
    NestedCommand::new(NestedKind::Text { text, args }, change)
}

pub(super) fn command(words: Vec<Word>, change: &ContextChange) -> NestedCommand {
    NestedCommand::new(NestedKind::Command { words, more: false }, change)
}

pub(super) fn unseen(change: &ContextChange) -> NestedCommand {
    NestedCommand::new(NestedKind::Unseen, change).perhaps()
}

/// The words after the options and the program's own operands.
pub(super) fn rest(call: &Call<'_>, scan: &ScannedOptions) -> Vec<Word> {
    let word = |&at: &usize| call.words.get(at).cloned();
    let mut operands = scan.operands.as_slice();
    if scan.has(OptionRun::Rest) {
        // What stands before the option that brings the command is not a part of it.
        let before = operands.iter().take_while(|&&at| at < scan.end).count();
        operands = operands.get(before..).unwrap_or_default();
    } else {
        let mut own = call.row.operands();
        while let (true, Some((&first, others))) = (own > 0, operands.split_first()) {
            let number = |word: &Word| is_open(word) || word.text().starts_with(|c: char| c.is_ascii_digit());
            if call.row.has(Trait::Digits) && !call.words.get(first).is_some_and(number) {
                break;
            }
            operands = others;
            own -= 1;
        }
        if let Some((&first, others)) = operands.split_first()
            && call.words.get(first).and_then(Word::known) == Some("--")
        {
            operands = others;
        }
    }
    scan.lead.iter().cloned().chain(operands.iter().filter_map(word)).collect()
}

/// What the words after the options are, and what the options run.
pub(super) fn finish(
    call: &Call<'_>,
    scan: &ScannedOptions,
    change: &ContextChange,
    form: RunForm,
) -> Vec<NestedCommand> {
    let mut found = extras(scan, change);
    if scan.stopped {
        return found;
    }
    let mut words = rest(call, scan);
    let text = scan.hits.iter().rfind(|hit| hit.meaning == OptionRun::Text);
    match (form, text.map(|hit| hit.value.clone())) {
        (_, Some(Some(text))) => found.push(text_of(text, Vec::new(), change)),
        (_, Some(None)) => found.push(unseen(change)),
        (RunForm::Texts, None) => found.extend(words.into_iter().map(|text| text_of(text, Vec::new(), change))),
        _ if words.is_empty() && (call.row.has(Trait::Shell) || scan.has(OptionRun::Shell)) => {
            found.push(NestedCommand::new(NestedKind::Stdin { language: None, args: Vec::new() }, change));
        }
        _ if words.is_empty() => {}
        (RunForm::Command, None) => {
            if scan.has(OptionRun::Joined) {
                found.push(text_of(join(&words, " "), Vec::new(), change));
            } else {
                if call.row.has(Trait::Package)
                    && let Some(first) = words.first_mut()
                {
                    *first = unversioned(first);
                }
                if scan.has(OptionRun::Shell) {
                    words = words.iter().map(expanded).collect();
                }
                found.push(command(words, change));
            }
        }
        (RunForm::Text, None) if scan.has(OptionRun::Argv) => found.push(command(words, change)),
        (RunForm::Either, None) if words.len() > 1 => found.push(command(words, change)),
        (RunForm::Text | RunForm::Either, None) => found.push(text_of(join(&words, " "), Vec::new(), change)),
        _ => {}
    }
    if scan.unclear || call.unclear {
        found.push(unseen(change));
    }
    found
}

/// `rimraf@5` runs rimraf, `@scope/name@1` runs name.
fn unversioned(word: &Word) -> Word {
    match word.known().map(|text| (text, text.rfind('@'))) {
        Some((text, Some(at))) if at > 0 && !text[at..].contains('/') => known(&text[..at], word),
        _ => word.clone(),
    }
}

/// `sudo -i` quotes its words for the shell, but leaves variables to it.
fn expanded(word: &Word) -> Word {
    let Some(text) = word.known().filter(|text| text.contains('$')) else { return word.clone() };
    let mut filled = String::new();
    for (index, part) in text.split('$').enumerate() {
        if index > 0 {
            filled.push(Value::HOLE);
        }
        let name = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(part.len());
        filled.push_str(if index > 0 { &part[name..] } else { part });
    }
    Word { value: Value::Unknown { why: Why::Expansion, shape: filled }, ..word.clone() }
}

/// As `finish`, for a row whose code has come to the plain case: a command.
pub(super) fn finish_command(call: &Call<'_>, scan: &ScannedOptions, change: &ContextChange) -> Vec<NestedCommand> {
    finish(call, scan, change, RunForm::Command)
}
