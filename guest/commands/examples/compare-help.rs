//! Compares specs with what programs say of themselves: `cargo run -p toolgate-commands --example compare-help [PROGRAM...]`.
//!
//! Each program of a spec that is installed is run as `PROGRAM --help`, with no input, no network and a folder of its own to
//! write to (bubblewrap), and the options of that text are compared with those of the spec: whether the next word is their
//! value. An option that the spec does not list is counted and no difference, as each consumer reads it with care.
//!
//! The last line counts; the exit code is 1 if an option differs that `compare-help.txt` does not explain.

#![allow(clippy::print_stdout)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use toolgate_commands::{Spec, Takes, programs};

/// Differences that are meant, one a line: the program, the option, and why.
const EXPLAINED: &str = include_str!("compare-help.txt");

/// Programs that any system has that this is run on.
const FEWEST: usize = 50;

/// Programs whose `--help` does something else than to print a text.
const NEVER: &[&str] =
    &["sh", "bash", "zsh", "ksh", "mksh", "dash", "fish", "rbash", "csh", "tcsh", "rr", "script", "sudo", "su"];

fn main() -> ExitCode {
    let wanted: BTreeSet<String> = std::env::args().skip(1).collect();
    let explained: BTreeSet<(&str, &str)> = EXPLAINED
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .map(|(program, rest)| (program, rest.split(' ').next().unwrap_or_default()))
        .collect();
    let (mut compared, mut agree, mut unlisted, mut wrong) = (0, 0, 0, 0);
    for spec in programs() {
        for name in spec.names.iter().filter(|name| wanted.is_empty() || wanted.contains(**name)) {
            if NEVER.contains(name) {
                continue;
            }
            let Some(help) = help(name) else { continue };
            let found = options(&help);
            if found.is_empty() {
                continue;
            }
            compared += 1;
            let mut here = (0, 0, 0);
            for (option, next) in found {
                match takes_next(spec, &option) {
                    None => here.1 += 1,
                    Some(listed) if listed == next => here.0 += 1,
                    Some(_) if explained.contains(&(name, option.as_str())) || explained.contains(&(name, "*")) => {}
                    Some(_) => {
                        let says = if next { "the next word is its value" } else { "it takes no word" };
                        println!("{name} {option}: its help says that {says}");
                        here.2 += 1;
                    }
                }
            }
            println!("{name}: {} agree, {} in no spec, {} differ", here.0, here.1, here.2);
            (agree, unlisted, wrong) = (agree + here.0, unlisted + here.1, wrong + here.2);
        }
    }
    if wanted.is_empty() && compared < FEWEST {
        println!("only {compared} programs could be compared: is bubblewrap there, and may it make namespaces?");
        return ExitCode::FAILURE;
    }
    println!("{compared} programs: {agree} options agree, {unlisted} in no spec, {wrong} differ");
    ExitCode::from(u8::from(wrong > 0))
}

/// Whether the next word is the value of an option, by its spec. None if the spec does not list it.
fn takes_next(spec: &Spec, option: &str) -> Option<bool> {
    let bare = option.trim_start_matches('-');
    let found = spec.exact(bare).or_else(|| spec.exact(option))?;
    Some(matches!(found.takes, Takes::Next(_) | Takes::Loose))
}

/// What a program prints for `--help`; none if it is not installed or prints nothing.
fn help(name: &str) -> Option<String> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_program(file))?;
    let mut command = Command::new("timeout");
    command.args(["10", "bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]);
    command.args([
        "--tmpfs",
        "/run",
        "--unshare-all",
        "--die-with-parent",
        "--chdir",
        "/tmp",
        "--setenv",
        "HOME",
        "/tmp",
    ]);
    command.args(["--setenv", "LC_ALL", "C.UTF-8", "--setenv", "COLUMNS", "200", "--", name, "--help"]);
    let output = command.stdin(Stdio::null()).output().ok()?;
    // 124: it took too long. What bubblewrap says of itself is no help text.
    if output.status.code() == Some(124) || output.stderr.starts_with(b"bwrap:") {
        return None;
    }
    let text = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Some(text).filter(|text| !text.trim().is_empty())
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// The options of a help text, and whether the next word is their value.
fn options(help: &str) -> BTreeMap<String, bool> {
    let mut found: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    for line in help.lines() {
        let line = line.trim();
        if !line.starts_with('-') {
            continue;
        }
        let (head, described) = head(line);
        let written: Option<Vec<(&str, Operand)>> = head.iter().map(|one| written(one.trim(), described)).collect();
        // One that is not understood is compared with nothing.
        let Some(written) = written else { continue };
        // `-o, --output=FILE`: what stands behind one name is meant for all that have nothing.
        let other = written.iter().map(|(_, operand)| *operand).find(|operand| *operand != Operand::None);
        for (name, own) in written {
            let operand = if own == Operand::None { other.unwrap_or(own) } else { own };
            found.entry(name.to_owned()).or_default().push(operand == Operand::Next);
        }
    }
    // An option that stands there twice, with and without a value, says nothing.
    let one = |(name, nexts): (String, Vec<bool>)| {
        let first = nexts.first().copied()?;
        nexts.iter().all(|next| *next == first).then_some((name, first))
    };
    found.into_iter().filter_map(one).collect()
}

/// The ways in which a line writes its option, and whether something is said of it behind two blanks.
fn head(line: &str) -> (Vec<String>, bool) {
    let line = line.replace('\t', "  ");
    let mut pieces = line.split("  ").map(str::trim).filter(|piece| !piece.is_empty()).peekable();
    let mut text = pieces.next().unwrap_or_default().to_owned();
    // `-o  --output=FILE`, `-o  <file>`
    while let Some(more) = pieces.next_if(|piece| piece.starts_with(['-', '<'])) {
        let between = if more.starts_with('-') { ", " } else { " " };
        text = format!("{text}{between}{more}");
    }
    let mut ways: Vec<String> = Vec::new();
    for way in text.split_inclusive([',', '|']) {
        match ways.last_mut() {
            Some(last) if !way.trim_start().starts_with('-') => last.push_str(way),
            _ => ways.push(way.to_owned()),
        }
    }
    let ways = ways.into_iter().map(|way| way.trim_end_matches([',', '|', ' ']).to_owned()).collect();
    (ways, pieces.peek().is_some())
}

/// What an option of a help text is written with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    None,
    /// `-o FILE`, `--output=FILE`
    Next,
    /// `--color[=WHEN]`
    Attached,
}

/// The name of an option, and what it is written with; none if that is not clear. `described` says whether what it does
/// stands apart, so that a word beside the name is its value.
fn written(text: &str, described: bool) -> Option<(&str, Operand)> {
    let end = text.find([' ', '=', '[', '<', ':']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let bare = name.trim_start_matches('-');
    let dashes = name.len() - bare.len();
    let is_name = bare.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if !(1..=2).contains(&dashes) || bare.is_empty() || !is_name {
        return None;
    }
    let words = rest.split_ascii_whitespace().count();
    let operand = match rest.trim_start().chars().next() {
        None => Operand::None,
        // `--color[=WHEN]`, and `--when [always|never]`; another one in brackets says nothing.
        Some('[') if rest.starts_with('[') && rest.ends_with(']') => Operand::Attached,
        Some('[') if rest.contains('|') => Operand::Next,
        Some('[') => return None,
        Some('=' | '<') => Operand::Next,
        Some('(' | '{' | '"') if described => Operand::Next,
        Some(c) if c.is_ascii_alphabetic() && words == 1 && described => Operand::Next,
        // A word in capitals is a value; one in small letters begins what is said of the option, or not.
        Some(_) => {
            let value = rest.split_ascii_whitespace().next().unwrap_or_default();
            let capitals = value.len() > 1 && value.chars().all(|c| c.is_ascii_uppercase() || "_-".contains(c));
            return capitals.then_some((name, Operand::Next));
        }
    };
    Some((name, operand))
}
