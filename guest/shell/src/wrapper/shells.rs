//! Shells, what starts them as somebody else, and the builtins that run a text.

use toolgate_commands::OptionRun;

use super::argv_edit::{Rules, cut, is_open, join, known, split};
use super::nested::{command, extras, finish_command, is_stdin, rest, text_of, unseen};
use super::options::ScannedOptions;
use super::{Call, ContextChange, Directory, NestedCommand, NestedKind, table};
use crate::foreign::{ForeignShell, reads_as_fish};
use toolgate_shell_syntax::word::{Value, Word};

/// How many words of `env -S` bring another one before it is no longer followed.
const MAX_SPLITS: usize = 16;

pub(super) fn env(call: Call<'_>) -> Vec<NestedCommand> {
    let mut words = call.words.to_vec();
    let mut change = call.change.clone();
    let mut unclear = false;
    for _ in 0..MAX_SPLITS {
        let next = Call { row: call.row, words: &words, from: 1, change, unclear };
        let (scan, changed) = next.scan();
        change = changed;
        unclear |= scan.unclear;
        let Some(last) = scan.hits.last().filter(|hit| hit.meaning == OptionRun::Split) else {
            let next = Call { row: call.row, words: &words, from: 1, change: ContextChange::default(), unclear };
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
pub(super) fn su(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, mut change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    let mut operands: Vec<Word> = scan.operands.iter().filter_map(|&at| call.words.get(at).cloned()).collect();
    if scan.has(OptionRun::Run) {
        return if operands.is_empty() { Vec::new() } else { vec![command(operands, &change)] };
    }
    if operands.first().and_then(Word::known) == Some("-") {
        operands.remove(0);
        change.clear_env = true;
        change.cwd = Some(Directory::Home);
    }
    let args = operands.split_off(operands.len().min(1));
    let like = call.words.first().cloned();
    let shell =
        scan.values(OptionRun::Shell).next_back().cloned().or_else(|| like.as_ref().map(|like| known("sh", like)));
    let Some(shell) = shell else { return Vec::new() };
    let mut words = vec![shell];
    if let Some(hit) = scan.hits.iter().rfind(|hit| hit.meaning == OptionRun::Text) {
        words.extend(like.map(|like| known("-c", &like)));
        words.extend(hit.value.clone());
    }
    words.extend(args);
    // The usual case, without the shell between: a text of its own.
    if !scan.has(OptionRun::Shell) {
        let opened = table::find("sh").map(|row| Call { row, words: &words, from: 1, change, unclear: false }.open());
        return opened.unwrap_or_default();
    }
    vec![command(words, &change)]
}

/// What a shell is told to run.
pub(super) fn shell(call: Call<'_>) -> Vec<NestedCommand> {
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
                        let kind = NestedKind::File { path: path.clone(), args: Vec::new(), here: false };
                        found.push(NestedCommand::new(kind, change).perhaps());
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
    let stdin = |from: usize| NestedKind::Stdin { language: None, args: args(from) };
    let kind = match words.get(at) {
        Some(text) if text_follows => NestedKind::Text { text: text.clone(), args: args(at + 1) },
        None if text_follows => NestedKind::Unseen,
        Some(_) if from_stdin => stdin(at),
        Some(path) if is_stdin(path) => stdin(at + 1),
        Some(path) => NestedKind::File { path: path.clone(), args: args(at + 1), here: false },
        None => stdin(at),
    };
    let inner = NestedCommand::new(kind, change);
    found.push(if unclear { inner.perhaps() } else { inner });
    if unclear || call.unclear {
        found.push(unseen(change));
    }
    found
}

/// fish may be given several texts, and some that run before all others.
pub(super) fn fish(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    let words = rest(&call, &scan);
    let mut found = extras(&scan, &change);
    for hit in scan.hits.iter().filter(|hit| hit.meaning == OptionRun::Code) {
        found.push(match &hit.value {
            Some(text) => text_of(text.clone(), words.clone(), &change),
            None => unseen(&change),
        });
    }
    // What fish may read otherwise.
    let differs = |hit: &super::options::OptionHit| {
        let text = hit.value.as_ref().and_then(Word::known);
        matches!(hit.meaning, OptionRun::Code | OptionRun::Also) && !text.is_some_and(reads_as_fish)
    };
    if scan.hits.iter().any(differs) {
        found.push(unseen(&change));
    }
    let unclear = scan.unclear || call.unclear;
    if !scan.has(OptionRun::Code) {
        let args = words.get(1..).unwrap_or_default().to_vec();
        let kind = match words.first() {
            // After a word that may be `-c`, this is the text.
            Some(text) if unclear && text.text().contains([' ', ';']) => NestedKind::Text { text: text.clone(), args },
            Some(path) if !is_stdin(path) => NestedKind::File { path: path.clone(), args, here: false },
            _ => NestedKind::Stdin { language: None, args },
        };
        let inner = NestedCommand::new(kind, &change);
        found.push(if unclear { inner.perhaps() } else { inner });
    }
    if unclear {
        found.push(unseen(&change));
    }
    found
}

/// Parameters of PowerShell's program that take a value, with the shortest form of each. As `pwsh -Help` has them.
const POWERSHELL_VALUES: &[(&str, usize)] = &[
    ("executionpolicy", 2),
    ("ep", 2),
    ("inputformat", 2),
    ("if", 2),
    ("outputformat", 1),
    ("of", 2),
    ("windowstyle", 1),
    ("workingdirectory", 2),
    ("wd", 2),
    ("configurationname", 6),
    ("configurationfile", 14),
    ("custompipename", 2),
    ("settingsfile", 8),
    ("psconsolefile", 1),
];

/// PowerShell. Its options may be cut short and are written in any case; what follows `-Command` is one text. Windows
/// PowerShell takes the first operand for a text, the newer one for a file.
pub(super) fn powershell(call: Call<'_>) -> Vec<NestedCommand> {
    let change = &call.change;
    let words = call.words;
    let text = |from: usize| {
        let text = join(words.get(from..).unwrap_or_default(), " ");
        vec![NestedCommand::new(NestedKind::Foreign { shell: ForeignShell::PowerShell, text }, change)]
    };
    let old = call.words.first().and_then(Word::known).is_some_and(|name| name.contains("powershell"));
    let cut_short = |given: &str, name: &str, shortest: usize| given.len() >= shortest && name.starts_with(given);
    let mut at = call.from;
    while let Some(word) = words.get(at) {
        let Some(given) = word.known() else { return [text(at), vec![unseen(change)]].concat() };
        let Some(name) = given.strip_prefix(['-', '/']).filter(|_| given.len() > 1) else {
            return if old && given != "-" { text(at) } else { vec![NestedCommand::new(NestedKind::Unseen, change)] };
        };
        let name = name.trim_start_matches('-').to_ascii_lowercase();
        if cut_short(&name, "command", 1) || cut_short(&name, "commandwithargs", 1) || name == "cwa" {
            return match words.get(at + 1) {
                Some(word) if !is_stdin(word) => text(at + 1),
                _ => vec![NestedCommand::new(NestedKind::Unseen, change)],
            };
        }
        if cut_short(&name, "encodedcommand", 1) || name == "ec" || cut_short(&name, "file", 1) {
            return vec![NestedCommand::new(NestedKind::Unseen, change)];
        }
        if cut_short(&name, "help", 1) || name == "?" || !old && cut_short(&name, "version", 1) {
            return Vec::new();
        }
        let takes_value = POWERSHELL_VALUES.iter().any(|(long, shortest)| cut_short(&name, long, *shortest))
            || old && cut_short(&name, "version", 1);
        at += if takes_value { 2 } else { 1 };
    }
    vec![NestedCommand::new(NestedKind::Stdin { language: None, args: Vec::new() }, change).perhaps(), unseen(change)]
}

/// `cmd /c TEXT`, `cmd /d/cTEXT`: switches may stand in one word.
pub(super) fn cmd(call: Call<'_>) -> Vec<NestedCommand> {
    let change = &call.change;
    // Where the text begins in a word of switches.
    let switch = |word: &Word| {
        let text = word.text().to_ascii_lowercase();
        let at = text.match_indices('/').find(|(at, _)| text[at + 1..].starts_with(['c', 'k', 'r']))?.0;
        text.starts_with('/').then_some(at + 2)
    };
    let mut words = call.words.iter().enumerate().skip(call.from);
    match words.find_map(|(at, word)| Some((at, switch(word)?))) {
        Some((at, begin)) => {
            let attached = call.words.get(at).map(|word| cut(word, begin)).filter(|word| !word.text().is_empty());
            let rest = call.words.get(at + 1..).unwrap_or_default();
            let text: Vec<Word> = attached.into_iter().chain(rest.iter().cloned()).collect();
            vec![NestedCommand::new(NestedKind::Foreign { shell: ForeignShell::Cmd, text: join(&text, " ") }, change)]
        }
        // It reads commands from standard input. Elsewhere a program of this name is another one.
        None if call.words.first().is_some_and(|word| word.text().ends_with(".exe")) => vec![unseen(change)],
        None => Vec::new(),
    }
}

/// A shell with a grammar of its own, whose text an option gives.
pub(super) fn foreign(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    let name = call
        .words
        .first()
        .map(|word| toolgate_shell_syntax::path::basename(word.text()).to_owned())
        .unwrap_or_default();
    let mut found: Vec<NestedCommand> = extras(&scan, &change);
    let shell = ForeignShell::Other(name);
    let texts = scan.values(OptionRun::Foreign).cloned();
    found.extend(texts.map(|text| NestedCommand::new(NestedKind::Foreign { shell: shell.clone(), text }, &change)));
    if scan.unclear || call.unclear {
        found.push(unseen(&change));
    }
    found
}

/// The words behind the options of a builtin. It has few: an unknown word among them is rather the first of these.
fn behind<'a>(call: &Call<'a>, scan: &ScannedOptions) -> &'a [Word] {
    let words = if scan.unclear { call.words.get(1..) } else { call.words.get(scan.end..) };
    words.unwrap_or_default()
}

pub(super) fn eval(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let words = behind(&call, &scan);
    if words.is_empty() {
        return Vec::new();
    }
    vec![NestedCommand::new(NestedKind::Here { text: join(words, " ") }, &change)]
}

pub(super) fn trap(call: Call<'_>) -> Vec<NestedCommand> {
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
    vec![NestedCommand::new(NestedKind::Trap { text: text.clone(), signals: signals.to_vec() }, &change)]
}

pub(super) fn source(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let words = behind(&call, &scan);
    let Some((path, args)) = words.split_first() else { return Vec::new() };
    let args = args.to_vec();
    let stdin = path.known().is_some_and(toolgate_shell_syntax::path::is_stdin);
    let kind = if stdin {
        NestedKind::Stdin { language: None, args }
    } else {
        NestedKind::File { path: path.clone(), args, here: true }
    };
    vec![NestedCommand::new(kind, &change)]
}
