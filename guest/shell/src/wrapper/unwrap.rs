//! How a row is opened: by its code, as a program of a language, by its subcommand, or plainly by its words.

use toolgate_commands::{OptionRun, RunCode, RunForm};

use super::argv_edit::known;
use super::nested::{command, extras, finish, finish_command, rest, text_of};
use super::{Call, NestedCommand, NestedKind, fan_out, git, inline, remote, shells, terminals, tools};
use toolgate_shell_syntax::word::Word;

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
        RunCode::Group => group,
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
            Some(text) => found.push(NestedCommand::new(NestedKind::Text { text, args: Vec::new() }, &change)),
            None => found.extend(Call { row, words: call.words, from: at + 1, change, unclear }.open()),
        }
    }
    found
}

/// `sg GROUP -c TEXT`. Another program of this name searches code: `sg -p PATTERN`, `sg run -p PATTERN`.
fn group(call: Call<'_>) -> Vec<NestedCommand> {
    const SEARCHES: &[&str] = &[
        "run",
        "scan",
        "test",
        "new",
        "lsp",
        "completions",
        "help",
        "-p",
        "-r",
        "-l",
        "--pattern",
        "--rewrite",
        "--lang",
    ];
    let first = call.words.get(call.from).and_then(Word::known).unwrap_or_default();
    if SEARCHES.contains(&first.split('=').next().unwrap_or_default()) {
        return Vec::new();
    }
    let (scan, change) = call.scan();
    finish(&call, &scan, &change, RunForm::Text)
}

/// Only an option brings a command.
pub(super) fn given(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    if scan.has(OptionRun::Rest) { finish_command(&call, &scan, &change) } else { extras(&scan, &change) }
}

/// The command stands after `--`, wherever that is, or behind an option that says so: `distrobox enter box -e ls`.
pub(super) fn after_dashes(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let dashes = call.words.iter().skip(call.from).position(|word| word.known() == Some("--"));
    let words = dashes.and_then(|at| call.words.get(call.from + at + 1..)).unwrap_or_default().to_vec();
    let mut found = extras(&scan, &change);
    match scan.values(OptionRun::Text).next_back() {
        _ if scan.stopped => {}
        Some(text) => found.push(text_of(text.clone(), Vec::new(), &change)),
        None if scan.has(OptionRun::Rest) => found.extend(finish_command(&call, &scan, &change)),
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

/// `capsh .. -- ARGUMENTS`: bash with these arguments. `-+` means the same, in a process of its own.
pub(super) fn capsh(call: Call<'_>) -> Vec<NestedCommand> {
    let words = call.words.get(call.from..).unwrap_or_default();
    let begins = |word: &Word| matches!(word.known(), Some("--" | "-+"));
    let Some(at) = words.iter().position(begins) else { return Vec::new() };
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
