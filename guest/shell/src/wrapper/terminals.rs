//! Commands that run in another terminal or at another time: screen, tmux, at, cron, systemd.

use toolgate_commands::OptionRun;

use super::argv_edit::{Rules, assignment, cut, join, known, split};
use super::nested::{command, extras, finish, finish_command, rest, text_of, unseen};
use super::{Call, ContextChange, Directory, NestedCommand, NestedKind, table};
use toolgate_shell_syntax::word::{Value, Word};

/// How deep tmux commands inside tmux commands are followed.
const MAX_DEPTH: usize = 4;

pub(super) fn screen(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, mut change) = call.scan();
    let words = call.words.get(scan.end..).unwrap_or_default();
    if !scan.has(OptionRun::Send) {
        if scan.has(OptionRun::Attach) || words.is_empty() {
            return Vec::new();
        }
        return finish_command(&call, &scan, &change);
    }
    change.cwd = Some(Directory::Unknown);
    let Some((name, others)) = words.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Vec::new();
    };
    match name.known() {
        Some("stuff" | "paste") => {
            let text = join(others, " ");
            let typed = text.text().replace("^M", "\n").replace("^J", "\n");
            let typed = [r"\n", r"\r", r"\012", r"\015"].iter().fold(typed, |text, mark| text.replace(mark, "\n"));
            let value = match &text.value {
                Value::Unknown { why, .. } => Value::Unknown { why: why.clone(), shape: typed },
                _ => Value::Known(typed),
            };
            vec![text_of(Word { value, ..text }, Vec::new(), &change)]
        }
        Some("screen" | "exec") => vec![command(others.to_vec(), &change)],
        Some("eval" | "source" | "bind" | "readbuf" | "at") | None => vec![unseen(&change)],
        Some(_) => Vec::new(),
    }
}

pub(super) fn tmux(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    if scan.has(OptionRun::Text) {
        return scan.values(OptionRun::Text).map(|text| text_of(text.clone(), Vec::new(), &change)).collect();
    }
    let words = call.words.get(scan.end..).unwrap_or_default();
    let mut found = tmux_commands(words, &change, 0);
    // A format runs what stands in `#(..)`.
    for word in words {
        let text = word.text();
        let mut from = 0;
        while let Some(start) = text[from..].find("#(").map(|at| from + at + 2) {
            let end = closing(&text[start..]).map_or(text.len(), |end| start + end);
            let inner = cut(word, start);
            let value = inner.value.part(text[start..end].to_owned());
            found.push(text_of(Word { value, ..inner }, Vec::new(), &change).perhaps());
            from = end;
        }
    }
    found
}

/// Where the bracket closes that stands in front of a text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.bytes().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return true,
            b')' => depth -= 1,
            _ => {}
        }
        false
    })
}

/// tmux's own commands, with `;` between them.
fn tmux_commands(words: &[Word], change: &ContextChange, depth: usize) -> Vec<NestedCommand> {
    let mut found = Vec::new();
    let mut current: Vec<Word> = Vec::new();
    for word in words {
        match word.known() {
            Some(";") => found.extend(tmux_command(&std::mem::take(&mut current), change, depth)),
            Some(text) if text.ends_with(';') && !text.ends_with("\\;") => {
                current.push(known(&text[..text.len() - 1], word));
                found.extend(tmux_command(&std::mem::take(&mut current), change, depth));
            }
            _ => current.push(word.clone()),
        }
    }
    found.extend(tmux_command(&current, change, depth));
    found
}

fn tmux_command(words: &[Word], change: &ContextChange, depth: usize) -> Vec<NestedCommand> {
    let Some(name) = words.first().and_then(Word::known).filter(|name| !name.is_empty()) else {
        return if words.is_empty() { Vec::new() } else { vec![unseen(change)] };
    };
    let Some(tmux) = table::find("tmux") else { return Vec::new() };
    let row = tmux.subcommand(name).or_else(|| tmux.subcommands().find(|row| row.spec.starts(name)));
    let Some(row) = row else { return Vec::new() };
    let call = Call { row, words, from: 1, change: change.clone(), unclear: false };
    let (scan, own) = call.scan();
    let args = rest(&call, &scan);
    // A text in tmux's own language, or the words of it.
    let nested = |words: &[Word]| match words {
        _ if depth >= MAX_DEPTH => vec![unseen(&own)],
        [text] => match split(text, Rules::Plain) {
            Some(words) => tmux_commands(&words, change, depth + 1),
            None => vec![unseen(&own)],
        },
        words => tmux_commands(words, change, depth + 1),
    };
    if row.is("if-shell") {
        let mut found = Vec::new();
        if let Some((condition, others)) = args.split_first() {
            if !scan.has(OptionRun::Format) {
                found.push(text_of(condition.clone(), Vec::new(), &own));
            }
            found.extend(others.iter().flat_map(|text| nested(std::slice::from_ref(text))));
        }
        return found;
    }
    if row.is("send-keys") {
        let typed = !args.is_empty() && !scan.has(OptionRun::Unseen) && !scan.stopped;
        let text = typed.then(|| text_of(keys(&args, scan.has(OptionRun::Literal)), Vec::new(), &own));
        return extras(&scan, &own).into_iter().chain(text).collect();
    }
    if row.is("set-option") {
        let runs = args.first().and_then(Word::known).is_some_and(|name| name == "default-command");
        return args.get(1).filter(|_| runs).map(|text| text_of(text.clone(), Vec::new(), &own)).into_iter().collect();
    }
    let is_nested = row.is("bind-key") || row.is("set-hook") || row.is("confirm-before") || scan.has(OptionRun::Tmux);
    if is_nested { nested(&args) } else { finish(&call, &scan, &own, row.runs.what) }
}

/// What `send-keys` types.
fn keys(words: &[Word], literal: bool) -> Word {
    let typed: Vec<Word> = words
        .iter()
        .map(|word| match word.known() {
            Some("Enter" | "C-m" | "C-j" | "C-c" | "C-d" | "C-u" | "KPEnter") if !literal => known("\n", word),
            Some("Space") if !literal => known(" ", word),
            Some("Tab" | "Escape" | "C-l" | "C-a" | "C-e") if !literal => known("", word),
            _ => word.clone(),
        })
        .collect();
    join(&typed, "")
}

/// `at` and `batch` read their script from a file or from standard input.
pub(super) fn at(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    let found = extras(&scan, &change);
    if found.is_empty() {
        return vec![NestedCommand::new(NestedKind::Stdin { language: None, args: Vec::new() }, &change)];
    }
    found
}

/// What is installed has a syntax of its own and runs later.
pub(super) fn crontab(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    if scan.stopped { Vec::new() } else { vec![unseen(&change)] }
}

pub(super) fn systemd_run(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, mut change) = call.scan();
    for pair in scan.values(OptionRun::Property).filter_map(assignment) {
        match (pair.0.as_str(), pair.1) {
            ("WorkingDirectory", folder) => change.cwd = Some(Directory::Word(folder)),
            ("Environment", value) => change.set.extend(assignment(&value)),
            ("User" | "DynamicUser", _) => change.other_user = true,
            ("RootDirectory" | "RootImage", _) => change.elsewhere = true,
            _ => {}
        }
    }
    if scan.has(OptionRun::Scope) {
        change.clear_env = false;
        change.own_input = false;
        if change.cwd == Some(Directory::Unknown) {
            change.cwd = None;
        }
    }
    let mut found = finish_command(&call, &scan, &change);
    for pair in scan.values(OptionRun::Property).filter_map(assignment) {
        if pair.0.starts_with("Exec") {
            found.push(text_of(pair.1, Vec::new(), &change).perhaps());
        }
    }
    found
}
