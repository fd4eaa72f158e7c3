//! How a row is opened: what its options run, then the command that the words end in.

use toolgate_commands::{OptionRun, RunCode, RunForm, Trait};

use super::argv_edit::{Rules, cut, is_open, join, known, split};
use super::options::ScannedOptions;
use super::{Call, ContextChange, Kind, NestedCommand, fan_out, git, inline, remote, shells, terminals, tools};
use toolgate_shell_syntax::path;
use toolgate_shell_syntax::word::{Value, Why, Word};

/// Whether a word stands for standard input.
pub(super) fn is_stdin(word: &Word) -> bool {
    word.known().is_some_and(|path| path == "-" || path::is_stdin(path))
}

pub(super) fn open(call: Call<'_>) -> Vec<NestedCommand> {
    match call.row.runs.what {
        RunForm::Code(code) => handler(code)(call),
        RunForm::Language(language) => inline::inline(call, language),
        RunForm::Subcommand => sub(call),
        form => {
            let (scan, change) = call.scan();
            finish(&call, &scan, &change, form)
        }
    }
}

/// The code of this name.
fn handler(code: RunCode) -> fn(Call<'_>) -> Vec<NestedCommand> {
    match code {
        RunCode::AfterDashes => after_dashes,
        RunCode::Apt => tools::apt,
        RunCode::At => terminals::at,
        RunCode::Bubblewrap => remote::bubblewrap,
        RunCode::Bun => inline::bun,
        RunCode::Capsh => capsh,
        RunCode::Chroot => remote::chroot,
        RunCode::Cmake => tools::cmake,
        RunCode::Cmd => shells::cmd,
        RunCode::Copy => remote::copy,
        RunCode::Coreutils => coreutils,
        RunCode::Crontab => terminals::crontab,
        RunCode::Dotenv => tools::dotenv,
        RunCode::Entr => fan_out::entr,
        RunCode::Env => shells::env,
        RunCode::Eval => shells::eval,
        RunCode::Fd => fan_out::fd,
        RunCode::Fetch => git::fetch,
        RunCode::Find => fan_out::find,
        RunCode::Firejail => remote::firejail,
        RunCode::Fish => shells::fish,
        RunCode::Flock => fan_out::flock,
        RunCode::ForEachRepo => git::for_each_repo,
        RunCode::Foreach => git::foreach,
        RunCode::Foreign => shells::foreign,
        RunCode::Gdb => tools::gdb,
        RunCode::Git => git::git,
        RunCode::Given => given,
        RunCode::InWorkspaces => in_workspaces,
        RunCode::Kubectl => remote::kubectl,
        RunCode::Latexmk => inline::latexmk,
        RunCode::Make => tools::make,
        RunCode::Netcat => remote::netcat,
        RunCode::NixRun => tools::nix_run,
        RunCode::Nsenter => remote::nsenter,
        RunCode::Operand => inline::operand,
        RunCode::Parallel => fan_out::parallel,
        RunCode::Powershell => shells::powershell,
        RunCode::Rename => inline::rename,
        RunCode::RunImage => remote::run_image,
        RunCode::Screen => terminals::screen,
        RunCode::Shell => shells::shell,
        RunCode::Socat => remote::socat,
        RunCode::Source => shells::source,
        RunCode::Ssh => remote::ssh,
        RunCode::StartStopDaemon => start_stop_daemon,
        RunCode::Su => shells::su,
        RunCode::SystemdRun => terminals::systemd_run,
        RunCode::Tar => tools::tar,
        RunCode::Tmux => terminals::tmux,
        RunCode::Trap => shells::trap,
        RunCode::UvRun => tools::uv_run,
        RunCode::Vim => tools::vim,
        RunCode::Xargs => fan_out::xargs,
        RunCode::Zargs => fan_out::zargs,
        RunCode::Zip => tools::zip,
    }
}

/// Goes on with the row that the next word names.
fn sub(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let mut found = extras(&scan, &change);
    if scan.stopped {
        return found;
    }
    let picked = scan.operands.first().and_then(|&at| {
        let name = call.words.get(at)?.known()?;
        call.row.subcommand(name).map(|row| (row, at))
    });
    // What stood before the subcommand counts for it too: `npm -c TEXT exec`.
    if let Some((row, at)) = picked {
        let unclear = call.unclear || scan.unclear;
        let text = scan.values(OptionRun::Text).next_back().cloned();
        match text {
            Some(text) => found.push(NestedCommand::new(Kind::Text { text, args: Vec::new() }, &change)),
            None => found.extend(Call { row, words: call.words, from: at + 1, change, unclear }.open()),
        }
    }
    found
}

/// A setting of cargo's that is a program: `target.x.runner=["rm", "-rf"]`, `build.rustc-wrapper="sccache"`.
fn setting(text: &Word) -> Option<Kind> {
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
    Some(Kind::Command { words, more: true })
}

/// What the options of a row run by themselves.
pub(super) fn extras(scan: &ScannedOptions, change: &ContextChange) -> Vec<NestedCommand> {
    let kind = |meaning: OptionRun, value: &Option<Word>| match (meaning, value) {
        (OptionRun::Also, Some(text)) => Some(Kind::Text { text: text.clone(), args: Vec::new() }),
        (OptionRun::Prog, Some(text)) => Some(Kind::Command {
            words: split(text, Rules::Plain).filter(|words| !words.is_empty()).unwrap_or_else(|| vec![text.clone()]),
            more: true,
        }),
        (OptionRun::Script, Some(path)) => {
            Some(Kind::File { path: path.clone(), args: Vec::new(), here: false }).filter(|_| !is_stdin(path))
        }
        (OptionRun::Unseen, _) => Some(Kind::Unseen),
        // `--eval '%(TEXT)'` of rpm, `--config build.rustc-wrapper=PROGRAM` of cargo.
        (OptionRun::Macro, Some(text)) => {
            let at = text.text().find("%(")? + 2;
            let inner = cut(text, at);
            let end = inner.text().rfind(')').unwrap_or(inner.text().len());
            let value = inner.value.part(inner.text()[..end].to_owned());
            Some(Kind::Text { text: Word { value, ..inner }, args: Vec::new() })
        }
        (OptionRun::Setting, Some(text)) => setting(text),
        // Code of a language that is not read here; what is known of it is judged as a text.
        (OptionRun::CodeElsewhere, text) => {
            text.as_ref().is_none_or(|text| text.known().is_none()).then_some(Kind::Unseen)
        }
        _ => None,
    };
    let found = scan.hits.iter().filter_map(|hit| kind(hit.meaning, &hit.value));
    found.map(|kind| NestedCommand::new(kind, change).perhaps()).collect()
}

pub(super) fn text_of(text: Word, args: Vec<Word>, change: &ContextChange) -> NestedCommand {
    NestedCommand::new(Kind::Text { text, args }, change)
}

pub(super) fn command(words: Vec<Word>, change: &ContextChange) -> NestedCommand {
    NestedCommand::new(Kind::Command { words, more: false }, change)
}

pub(super) fn unseen(change: &ContextChange) -> NestedCommand {
    NestedCommand::new(Kind::Unseen, change).perhaps()
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
            found.push(NestedCommand::new(Kind::Stdin { language: None, args: Vec::new() }, change));
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

/// Only an option brings a command.
pub(super) fn given(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    if scan.has(OptionRun::Rest) { finish_command(&call, &scan, &change) } else { Vec::new() }
}

/// The command stands after `--`, wherever that is.
pub(super) fn after_dashes(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let dashes = call.words.iter().skip(call.from).position(|word| word.known() == Some("--"));
    let words = dashes.and_then(|at| call.words.get(call.from + at + 1..)).unwrap_or_default().to_vec();
    let mut found = extras(&scan, &change);
    match scan.values(OptionRun::Text).next_back() {
        _ if scan.stopped => {}
        Some(text) => found.push(text_of(text.clone(), Vec::new(), &change)),
        None if words.is_empty() => {}
        None => found.push(command(words, &change)),
    }
    found
}

/// `start-stop-daemon --start --exec PROGRAM -- ARGUMENTS`; there are two programs of that name, with other options each.
pub(super) fn start_stop_daemon(call: Call<'_>) -> Vec<NestedCommand> {
    const LONG: [&str; 2] = ["--exec", "--startas"];
    let words = call.words.get(call.from..).unwrap_or_default();
    let dashes = words.iter().position(|word| word.known() == Some("--")).unwrap_or(words.len());
    let (options, rest) = words.split_at(dashes);
    let mut program = None;
    for (at, word) in options.iter().enumerate() {
        let Some(text) = word.known() else { continue };
        let attached = LONG.iter().find_map(|long| text.strip_prefix(long)?.strip_prefix('='));
        if let Some(attached) = attached {
            program = Some(Word::new(attached, word.span));
        } else if matches!(text, "-x" | "-a") || LONG.contains(&text) {
            program = options.get(at + 1).cloned();
        }
    }
    let Some(program) = program else { return after_dashes(call) };
    let (_, change) = call.scan();
    vec![command(std::iter::once(program).chain(rest.iter().skip(1).cloned()).collect(), &change)]
}

/// `capsh .. -- ARGUMENTS`: bash with these arguments.
pub(super) fn capsh(call: Call<'_>) -> Vec<NestedCommand> {
    let words = call.words.get(call.from..).unwrap_or_default();
    let Some(at) = words.iter().position(|word| word.known() == Some("--")) else { return Vec::new() };
    let shell = known("bash", &words[at]);
    vec![command(std::iter::once(shell).chain(words.iter().skip(at + 1).cloned()).collect(), &call.change)]
}

/// `coreutils rm ..`, `coreutils --coreutils-prog=rm ..`
pub(super) fn coreutils(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let program = scan.values(OptionRun::Program).next().cloned();
    let words: Vec<Word> = program.into_iter().chain(rest(&call, &scan)).collect();
    if words.is_empty() || scan.stopped { Vec::new() } else { vec![command(words, &change)] }
}

/// `yarn workspaces foreach -A exec PROGRAM ..`, `yarn workspace NAME exec PROGRAM ..`
pub(super) fn in_workspaces(call: Call<'_>) -> Vec<NestedCommand> {
    let (_, change) = call.scan();
    let words = call.words.get(call.from..).unwrap_or_default();
    let exec = words.iter().position(|word| word.known() == Some("exec"));
    match exec.and_then(|at| words.get(at + 1..)) {
        Some(words) if !words.is_empty() => vec![command(words.to_vec(), &change).perhaps()],
        _ => Vec::new(),
    }
}

/// As `finish`, for a row whose code has come to the plain case: a command.
pub(super) fn finish_command(call: &Call<'_>, scan: &ScannedOptions, change: &ContextChange) -> Vec<NestedCommand> {
    finish(call, scan, change, RunForm::Command)
}
