//! A table of the programs that the tests run and this machine lacks. Each test that needs one skips itself; in CI on Linux, where
//! the set-up installs them, it is an error that one is missing.
//!
//! It has no harness, which would hide the table.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use toolgate_test_support::skip::is_required;

/// A program, Debian's package of it, and what is skipped without it.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("bwrap", "bubblewrap", "the guard against what commands really do; attacks in several calls"),
    ("faketime", "faketime", "clocks that jump"),
    ("git", "git", "nearly everything"),
    ("node", "nodejs", "shims of agents, checks of JavaScript"),
    ("npm", "npm", "formatters and linters of JavaScript; scripts of package.json"),
    ("python3", "python3", "scripts of Python, embedding in Python"),
    ("strace", "strace", "the shell engine against bash"),
    ("tmux", "tmux", "the shared terminal, questions at a terminal"),
    ("zsh", "zsh", "zsh in the shared terminal, texts for zsh"),
];

fn main() -> ExitCode {
    const NAME: &str = "what_this_machine_lacks";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let mut out = std::io::stdout();
    if has("--list") {
        // As the harness does, for those that ask before they run.
        let all = if has("--ignored") { String::new() } else { format!("{NAME}: test\n") };
        return code(write!(out, "{all}").is_ok());
    }
    let filters: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    if !filters.is_empty() && !filters.iter().any(|filter| NAME.contains(filter.as_str())) {
        return ExitCode::SUCCESS;
    }
    let missing: Vec<_> = PROGRAMS.iter().filter(|(program, ..)| find(program).is_none()).collect();
    let mut text = String::from("\nmissing programs: none\n");
    if !missing.is_empty() {
        text = format!("\nmissing programs: {}\n{:10} {:12} skipped without it\n", missing.len(), "program", "package");
        for (program, package, skipped) in &missing {
            text.push_str(&format!("{program:10} {package:12} {skipped}\n"));
        }
    }
    let written = writeln!(out, "{text}").is_ok();
    code(written && !missing.iter().any(|(_, package, _)| is_required(package)))
}

fn code(good: bool) -> ExitCode {
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Where a program is, among the folders of `PATH`.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}
