//! Shells, what starts them as somebody else, and the builtins that run a text.

use super::open::{command, extras, finish_command, is_stdin, rest, text_of, unseen};
use super::options::Scan;
use super::table;
use super::words::{Rules, is_open, join, known, split};
use super::{Call, Change, Directory, Inner, Kind};
use crate::word::{Value, Word};

/// How many words of `env -S` bring another one before it is no longer followed.
const MAX_SPLITS: usize = 16;

pub(super) fn env(call: Call<'_>) -> Vec<Inner> {
    let mut words = call.words.to_vec();
    let mut change = call.change.clone();
    let mut unclear = false;
    for _ in 0..MAX_SPLITS {
        let next = Call { row: call.row, words: &words, from: 1, change, unclear };
        let (scan, changed) = next.scan();
        change = changed;
        unclear |= scan.unclear;
        let Some(last) = scan.hits.last().filter(|hit| hit.meaning == "split") else {
            let next = Call { row: call.row, words: &words, from: 1, change: Change::default(), unclear };
            return finish_command(&next, &scan, &change);
        };
        let Some(text) = &last.value else { return vec![unseen(&change)] };
        let Some(parts) = split(text, Rules::Env) else {
            unclear = true;
            words.drain(1..scan.end);
            continue;
        };
        words.splice(1..scan.end, parts);
    }
    vec![unseen(&change)]
}

/// `su` and `runuser`: the words after the user are the shell's own.
pub(super) fn su(call: Call<'_>) -> Vec<Inner> {
    let (scan, mut change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    let mut operands: Vec<Word> = scan.operands.iter().filter_map(|&at| call.words.get(at).cloned()).collect();
    if scan.has("run") {
        return if operands.is_empty() { Vec::new() } else { vec![command(operands, &change)] };
    }
    if operands.first().and_then(Word::known) == Some("-") {
        operands.remove(0);
        change.clear_env = true;
        change.cwd = Some(Directory::Home);
    }
    let args = operands.split_off(operands.len().min(1));
    let like = call.words.first().cloned();
    let shell = scan.values("shell").next_back().cloned().or_else(|| like.as_ref().map(|like| known("sh", like)));
    let Some(shell) = shell else { return Vec::new() };
    let mut words = vec![shell];
    if let Some(hit) = scan.hits.iter().rfind(|hit| hit.meaning == "text") {
        words.extend(like.map(|like| known("-c", &like)));
        words.extend(hit.value.clone());
    }
    words.extend(args);
    // The usual case, without the shell between: a text of its own.
    if !scan.has("shell") {
        let opened = table::find("sh").map(|row| Call { row, words: &words, from: 1, change, unclear: false }.open());
        return opened.unwrap_or_default();
    }
    vec![command(words, &change)]
}

/// What a shell is told to run.
pub(super) fn shell(call: Call<'_>) -> Vec<Inner> {
    let change = &call.change;
    let words = call.words;
    let mut at = call.from;
    let (mut text_follows, mut from_stdin, mut checks_only, mut interactive) = (false, false, false, false);
    let mut unclear = false;
    let mut found = Vec::new();
    while let Some(word) = words.get(at) {
        let text = word.text();
        let dashed = |at: usize| words.get(at).is_some_and(|word| word.text().starts_with(['-', '+']));
        if is_open(word) {
            // It may be an option or the script; what follows tells which is likelier.
            let next = words.get(at + 1);
            let looks_like_text = next.and_then(Word::known).is_some_and(|next| next.contains([' ', '\n', ';']));
            let before_option = dashed(at + 1);
            if before_option || (looks_like_text && !text_follows && !word.quoted) {
                unclear = true;
                text_follows |= looks_like_text && !before_option;
                at += 1;
                continue;
            }
            unclear |= !word.quoted && next.is_some();
            break;
        }
        if text == "--" || text == "-" {
            at += 1;
            break;
        }
        if let Some(name) = text.strip_prefix("--") {
            match name {
                "help" | "version" => return Vec::new(),
                "rcfile" | "init-file" => {
                    at += 1;
                    if let Some(path) = words.get(at) {
                        let kind = Kind::File { path: path.clone(), args: Vec::new(), here: false };
                        found.push(Inner::new(kind, change).perhaps());
                    }
                }
                "emulate" => at += 1,
                _ => {}
            }
            at += 1;
        } else if let Some(letters) = text.strip_prefix(['-', '+']) {
            let on = text.starts_with('-');
            text_follows |= on && letters.contains('c');
            from_stdin |= on && letters.contains('s');
            interactive |= letters.contains('i');
            if letters.contains('n') {
                checks_only = on;
            }
            unclear |= letters.contains(Value::HOLE);
            at += 1 + letters.matches(['o', 'O']).count();
        } else {
            break;
        }
    }
    if checks_only && !interactive {
        return Vec::new();
    }
    let args = |from: usize| words.get(from..).unwrap_or_default().to_vec();
    let stdin = |from: usize| Kind::Stdin { language: None, args: args(from) };
    let kind = match words.get(at) {
        Some(text) if text_follows => Kind::Text { text: text.clone(), args: args(at + 1) },
        None if text_follows => Kind::Unseen,
        Some(_) if from_stdin => stdin(at),
        Some(path) if is_stdin(path) => stdin(at + 1),
        Some(path) => Kind::File { path: path.clone(), args: args(at + 1), here: false },
        None => stdin(at),
    };
    let inner = Inner::new(kind, change);
    found.push(if unclear { inner.perhaps() } else { inner });
    if unclear || call.unclear {
        found.push(unseen(change));
    }
    found
}

/// fish may be given several texts, and some that run before all others.
pub(super) fn fish(call: Call<'_>) -> Vec<Inner> {
    let (scan, change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    let words = rest(&call, &scan);
    let mut found = extras(&scan, &change);
    for hit in scan.hits.iter().filter(|hit| hit.meaning == "code") {
        found.push(match &hit.value {
            Some(text) => text_of(text.clone(), words.clone(), &change),
            None => unseen(&change),
        });
    }
    let unclear = scan.unclear || call.unclear;
    if !scan.has("code") {
        let args = words.get(1..).unwrap_or_default().to_vec();
        let kind = match words.first() {
            // After a word that may be `-c`, this is the text.
            Some(text) if unclear && text.text().contains([' ', ';']) => Kind::Text { text: text.clone(), args },
            Some(path) if !is_stdin(path) => Kind::File { path: path.clone(), args, here: false },
            _ => Kind::Stdin { language: None, args },
        };
        let inner = Inner::new(kind, &change);
        found.push(if unclear { inner.perhaps() } else { inner });
    }
    if unclear {
        found.push(unseen(&change));
    }
    found
}

/// The words behind the options of a builtin. It has few: an unknown word among them is rather the first of these.
fn behind<'a>(call: &Call<'a>, scan: &Scan) -> &'a [Word] {
    let words = if scan.unclear { call.words.get(1..) } else { call.words.get(scan.end..) };
    words.unwrap_or_default()
}

pub(super) fn eval(call: Call<'_>) -> Vec<Inner> {
    let (scan, change) = call.scan();
    let words = behind(&call, &scan);
    if words.is_empty() {
        return Vec::new();
    }
    vec![Inner::new(Kind::Here { text: join(words, " ") }, &change)]
}

pub(super) fn trap(call: Call<'_>) -> Vec<Inner> {
    let (scan, change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    let words = behind(&call, &scan);
    let Some((text, signals)) = words.split_first().filter(|(_, signals)| !signals.is_empty()) else {
        return Vec::new();
    };
    // A dash or a number there sets the signals back; an empty text ignores them.
    if text.known().is_some_and(|text| text == "-" || text.chars().all(|c| c.is_ascii_digit())) {
        return Vec::new();
    }
    vec![Inner::new(Kind::Trap { text: text.clone(), signals: signals.to_vec() }, &change)]
}

pub(super) fn source(call: Call<'_>) -> Vec<Inner> {
    let (scan, change) = call.scan();
    let words = behind(&call, &scan);
    let Some((path, args)) = words.split_first() else { return Vec::new() };
    let args = args.to_vec();
    let stdin = path.known().is_some_and(crate::path::is_stdin);
    let kind =
        if stdin { Kind::Stdin { language: None, args } } else { Kind::File { path: path.clone(), args, here: true } };
    vec![Inner::new(kind, &change)]
}
