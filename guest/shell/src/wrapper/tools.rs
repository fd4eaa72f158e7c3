//! Tools that run a command beside their own work: environments, debuggers, editors, archives.

use toolgate_commands::OptionRun;

use super::argv_edit::{assignment, cut, is_open, known};
use super::nested::{command, extras, finish_command, is_stdin, rest, text_of, unseen};
use super::{Call, ContextChange, Directory, NestedCommand, NestedKind};
use toolgate_shell_syntax::path::basename;
use toolgate_shell_syntax::word::{Value, Word};

/// `uv run` takes a program, a Python file or nothing.
pub(super) fn uv_run(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let words = rest(&call, &scan);
    let Some(first) = words.first() else { return Vec::new() };
    if is_stdin(first) {
        let args = words.get(1..).unwrap_or_default().to_vec();
        return vec![NestedCommand::new(NestedKind::Stdin { language: Some(super::Language::Python), args }, &change)];
    }
    if first.known().is_some_and(|name| name.ends_with(".py")) {
        return Vec::new();
    }
    finish_command(&call, &scan, &change)
}

/// `nix run nixpkgs#rm -- -rf x` runs rm, as far as the name tells.
pub(super) fn nix_run(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let dashes = call.words.iter().skip(call.from).position(|word| word.known() == Some("--"));
    let args = dashes.and_then(|at| call.words.get(call.from + at + 1..)).unwrap_or_default();
    let program = scan.operands.first().and_then(|&at| call.words.get(at));
    match program.and_then(|word| Some((word, word.known()?.split_once('#')?.1))) {
        Some((word, name)) => {
            let name = name.rsplit('.').next().unwrap_or(name);
            let words: Vec<Word> = std::iter::once(known(name, word)).chain(args.iter().cloned()).collect();
            vec![command(words, &change)]
        }
        None => vec![unseen(&change)],
    }
}

/// `dotenv [run] [--] command`: two tools of one name.
pub(super) fn dotenv(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let words = rest(&call, &scan);
    match words.first().and_then(Word::known) {
        _ if scan.stopped => Vec::new(),
        Some("run") => {
            let next = Call { row: call.row, words: call.words, from: scan.end + 1, change, unclear: scan.unclear };
            let (scan, change) = next.scan();
            let mut found = finish_command(&next, &scan, &change);
            found.extend(behind_values(&rest(&next, &scan), &change));
            found
        }
        Some("get" | "set" | "unset" | "list") | None if words.len() < 2 || scan.end == call.from => {
            if words.first().is_some_and(is_open) { finish_command(&call, &scan, &change) } else { Vec::new() }
        }
        _ => finish_command(&call, &scan, &change),
    }
}

/// The command behind an option with many values, which ends at `--`: `dotenvx run -e A=1 B=2 -- command`.
fn behind_values(words: &[Word], change: &ContextChange) -> Option<NestedCommand> {
    let sets = words.first()?.text().contains('=');
    let dashes = words.iter().position(|word| word.known() == Some("--")).filter(|_| sets)?;
    let words = words.get(dashes + 1..).filter(|words| !words.is_empty())?;
    Some(command(words.to_vec(), change))
}

pub(super) fn gdb(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    let mut found = Vec::new();
    for text in scan.values(OptionRun::Code) {
        let line = text.text();
        let start = line.len() - line.trim_start().len();
        let line = line.trim_start();
        let name = line.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(line.len());
        let tail = cut(text, start + name);
        let args = Vec::new();
        match line.get(..name).unwrap_or_default() {
            "" if line.starts_with('!') => found.push(text_of(cut(text, start + 1), args, &change)),
            // `| COMMAND | TEXT`
            "" if line.starts_with('|') => {
                let second = line[1..].find('|').map_or(line.len(), |at| at + 2);
                found.push(text_of(cut(text, start + second), args, &change));
            }
            // A name may be cut short.
            name if name.len() > 2 && ["shell", "pipe", "make"].iter().any(|whole| whole.starts_with(name)) => {
                found.push(text_of(tail, args, &change));
            }
            "python" | "py" | "pi" => {
                let kind = NestedKind::Inline { language: super::Language::Python, text: tail, args };
                found.push(NestedCommand::new(kind, &change));
            }
            "print" | "p" if line.get(name..).is_some_and(is_value) => {}
            "source" | "guile" | "define" | "compile" | "call" | "print" | "p" => found.push(unseen(&change)),
            name if name.len() > 1 && "target".starts_with(name) && line.contains('|') => {
                let pipe = start + line.find('|').unwrap_or_default();
                found.push(text_of(cut(text, pipe + 1), args, &change));
            }
            _ if is_open(text) => found.push(unseen(&change)),
            _ => {}
        }
    }
    if scan.has(OptionRun::Rest) {
        found.extend(finish_command(&call, &scan, &change));
    }
    found
}

/// Whether an expression for gdb only names a value: it calls nothing and sets nothing.
fn is_value(expression: &str) -> bool {
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | '$' | ' ' | '/');
    expression.replace("->", ".").chars().all(named)
}

/// vim's commands on its command line: `-c ':!rm x'`, `+'!rm x'`.
pub(super) fn vim(call: Call<'_>) -> Vec<NestedCommand> {
    let (_, change) = call.scan();
    let mut found = Vec::new();
    let mut words = call.words.get(call.from..).unwrap_or_default().iter();
    while let Some(word) = words.next() {
        let text = word.text();
        let line = if text == "--" {
            break;
        } else if text == "--cmd" || (text.starts_with('-') && !text.starts_with("--") && text.ends_with('c')) {
            words.next().cloned()
        } else if text.starts_with("-c") && text.len() > 2 {
            Some(cut(word, 2))
        } else if text.starts_with('+') && text.len() > 1 {
            Some(cut(word, 1))
        } else {
            None
        };
        found.extend(line.and_then(|line| ex_command(&line, &change)));
    }
    found
}

/// `silent! %!rm x`: words before it, a range, perhaps the name of what reads or writes, then the text.
fn ex_command(line: &Word, change: &ContextChange) -> Option<NestedCommand> {
    const MODIFIERS: &[&str] = &["silent", "sil", "noautocmd", "noa", "keepjumps", "keepalt", "lockmarks", "verbose"];
    const NAMES: &[&str] = &["read", "write", "r", "w"];
    const RUNS: &[&str] = &["exe", "lua", "py", "perl", "ruby", "tcl", "ter", "so", "call system", "call job", "ec"];
    let text = line.text();
    if text.starts_with(Value::HOLE) {
        return Some(unseen(change));
    }
    let mut rest = text.trim_start_matches([':', ' ']);
    while let Some(after) = MODIFIERS.iter().find_map(|name| rest.strip_prefix(name)) {
        rest = after.strip_prefix('!').unwrap_or(after).trim_start_matches([':', ' ']);
    }
    let plain = rest;
    rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "%.,$+-'<> ".contains(c));
    rest = NAMES.iter().find_map(|name| rest.strip_prefix(name)).unwrap_or(rest).trim_start();
    match rest.strip_prefix('!').filter(|after| !after.is_empty()) {
        Some(after) => Some(text_of(cut(line, text.len() - after.len()), Vec::new(), change)),
        None => {
            let nested = nests(plain);
            let hidden = nested || ["system", "|!", "| !", "job", "termopen"].iter().any(|part| plain.contains(part));
            (hidden || RUNS.iter().any(|name| plain.starts_with(name))).then(|| unseen(change))
        }
    }
}

/// Whether a command of vim's takes another one that runs a text: `argdo !x`, `g/y/!x`, `au Event * !x`.
fn nests(line: &str) -> bool {
    const TAKES: &[&str] = &["argdo", "bufdo", "windo", "tabdo", "cdo", "ldo", "cfdo", "lfdo", "au", "autocmd"];
    let bare = line.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let name = &bare[..bare.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(bare.len())];
    match name {
        "g" | "global" | "v" | "vglobal" => {
            let rest = bare[name.len()..].trim_start_matches('!');
            let command = rest.chars().next().and_then(|delimiter| rest.splitn(3, delimiter).nth(2));
            command.is_some_and(|command| command.trim_start().starts_with('!'))
        }
        name => TAKES.contains(&name) && bare.contains(" !"),
    }
}

/// `cmake -E`: plain commands that are the same everywhere.
pub(super) fn cmake(call: Call<'_>) -> Vec<NestedCommand> {
    let words = call.words.get(call.from..).unwrap_or_default();
    let (Some("-E"), Some(name)) = (words.first().and_then(Word::known), words.get(1)) else { return Vec::new() };
    let change = ContextChange::default();
    let rest = words.get(2..).unwrap_or_default();
    let program: &[&str] = match name.known() {
        Some("rm") => &["rm"],
        Some("remove") => &["rm", "-f"],
        Some("remove_directory") => &["rm", "-rf"],
        Some("rename") => &["mv"],
        Some("copy" | "copy_if_different" | "copy_directory" | "copy_directory_if_different") => &["cp", "-r"],
        Some("create_symlink") => &["ln", "-s"],
        Some("create_hardlink") => &["ln"],
        Some("tar") => &["tar"],
        Some("env") => &["env"],
        Some("time") => &["time"],
        Some("chdir") => {
            let Some((folder, rest)) = rest.split_first() else { return Vec::new() };
            let change = ContextChange { cwd: Some(Directory::Word(folder.clone())), ..change };
            return if rest.is_empty() { Vec::new() } else { vec![command(rest.to_vec(), &change)] };
        }
        Some(_) => return Vec::new(),
        None => return vec![unseen(&change)],
    };
    let program = program.iter().map(|part| known(*part, name));
    vec![command(program.chain(rest.iter().cloned()).collect(), &change)]
}

/// make runs what its makefile says; another shell or makefile on the command line is worth telling.
pub(super) fn make(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let mut found = extras(&scan, &change);
    let shell = |&at: &usize| {
        call.words.get(at).map(Word::text).is_some_and(|text| text.starts_with("SHELL=") || text.starts_with("SHELL:="))
    };
    // What the others read is followed with the files of the project.
    let followed =
        call.words.first().and_then(Word::known).is_some_and(|name| matches!(basename(name), "make" | "gmake"));
    if scan.operands.iter().any(shell) || !followed && scan.values(OptionRun::File).any(is_stdin) {
        found.push(unseen(&change));
    }
    found
}

/// Letters of tar's options that take a value.
const TAR_VALUES: &str = "fCTXbgHIKLNVF";

/// The words behind `tar`, with a dash for each option of the first. Without a dash the values stand behind all letters,
/// in their order: `cIf TEXT FILE` is `-c -I TEXT -f FILE`.
pub(crate) fn unbundled(words: &[Word]) -> Vec<Word> {
    let Some((first, rest)) = words.split_first() else { return Vec::new() };
    let Some(bundle) = first.known().filter(|text| !text.is_empty() && !text.starts_with('-')) else {
        return words.to_vec();
    };
    let mut rest = rest.iter().cloned();
    let mut spread = Vec::new();
    for letter in bundle.chars() {
        spread.push(known(format!("-{letter}"), first));
        if TAR_VALUES.contains(letter) {
            spread.extend(rest.next());
        }
    }
    spread.extend(rest);
    spread
}

/// zip's `-TT TEXT`, whose text may be attached.
pub(super) fn zip(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let attached = |word: &&Word| word.text().starts_with("-TT") && word.text().len() > 3;
    let words = call.words.get(call.from..).unwrap_or_default();
    let texts = words.iter().filter(attached).map(|word| text_of(cut(word, 3), Vec::new(), &change).perhaps());
    extras(&scan, &change).into_iter().chain(texts).collect()
}

pub(super) fn tar(call: Call<'_>) -> Vec<NestedCommand> {
    let Some((program, rest)) = call.words.split_first() else { return Vec::new() };
    let words: Vec<Word> = std::iter::once(program.clone()).chain(unbundled(rest)).collect();
    let (scan, change) = Call { words: &words, ..call }.scan();
    let mut found = extras(&scan, &change);
    for action in scan.values(OptionRun::Checkpoint) {
        if let Some(from) = action.text().find("exec=") {
            found.push(text_of(cut(action, from + 5), Vec::new(), &change).perhaps());
        }
    }
    found
}

/// apt's hooks: `-o APT::Update::Pre-Invoke::=TEXT`.
pub(super) fn apt(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let hook = |word: &Word| {
        let (name, value) = assignment(word)?;
        let name = name.to_ascii_lowercase();
        let runs = ["-invoke", "::pre-install-pkgs", "proxy-auto-detect", "::options", "pager"];
        runs.iter().any(|part| name.contains(part)).then(|| text_of(value, Vec::new(), &change).perhaps())
    };
    scan.values(OptionRun::Apt).filter_map(hook).collect()
}
