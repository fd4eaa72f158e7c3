//! `toolgate rules exempt`: a person lifts rules in their own rule file.
//!
//! Only in the user's own: a project's file lifts nothing. As for `toolgate allow` the terminal has to be a person's own, they
//! are shown what is written, and type a word that was just shown.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::Value;
use toolgate_agents::settings::file::{File, unreadable};
use toolgate_agents::{Failure, dirs, exit};
use toolgate_host::plain;

use crate::exemption_text::{self, Entry};
use crate::output::{GREEN, print, text};
use crate::{confirmation, output};

/// The sections of path rules, as their names begin.
const PATH_RULES: &[&str] = &["zeroAccessPaths: ", "readOnlyPaths: ", "noDeletePaths: ", "noReadPaths: "];

#[derive(Args)]
#[command(after_help = "\
Writes an exemption into your own rule file; comments and the order stay, and the old file is kept as
NAME.toolgate-backup. With --here it holds in the project of the current directory only, or below the
directory if that is in no project. Rules that protect Toolgate itself cannot be lifted, nor can the
path rules of a project's file.

Exemptions can be added only at a terminal that no agent controls, and after typing a word.
--dry-run works anywhere.

Examples:
  toolgate rules exempt git-amend
  toolgate rules exempt git-clean --here --reason 'only build output is untracked'
  toolgate rules exempt 'noReadPaths: .env' --here

Exit codes: 0 written, or there already; 2 refused or not confirmed; 64 invalid arguments, 65 the rule
file cannot be edited, 66 it cannot be read, 70 and above internal errors or disk errors.")]
pub(crate) struct Arguments {
    /// The rules, as findings name them, with or without `builtin:` or `user:`
    #[arg(value_name = "RULE", required = true)]
    rules: Vec<String>,

    /// Only in this project or directory
    #[arg(long)]
    here: bool,

    /// Why, as a note in the file
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Show the change without making it
    #[arg(long)]
    dry_run: bool,
}

/// Lifts rules. `known` are those that there are, as the component lists them.
pub(crate) fn run(
    arguments: &Arguments,
    known: impl FnOnce() -> Result<Vec<Value>, Failure>,
) -> Result<ExitCode, Failure> {
    const OTHERWISE: &str = "no rule can be lifted here";
    if !arguments.dry_run {
        confirmation::present(OTHERWISE)?;
    }
    let here = arguments.here.then(here).transpose()?;
    let known = known()?;
    let entries = arguments.rules.iter().map(|rule| entry(rule, here.as_deref(), arguments.reason.as_deref(), &known));
    let entries = entries.collect::<Result<Vec<_>, _>>().map_err(|why| Failure::new(exit::USAGE, why))?;
    let file = File::read(&path()?)?;
    let before = file.text()?.to_owned();
    let mut after = before.clone();
    for entry in &entries {
        after = exemption_text::with(&after, entry).map_err(|why| unreadable(&file, &why))?;
    }
    let shown = plain(&file.path.display().to_string());
    if after == before {
        return print(|out| writeln!(out, "{shown} has this exemption already"));
    }
    print(|out| output::diff(out, &file.path, file.exists(), &before, &after))?;
    if arguments.dry_run {
        return print(|out| writeln!(out, "{shown}: not changed"));
    }
    let names: Vec<String> = entries.iter().map(|entry| plain(&entry.rule)).collect();
    let whereabouts = here.as_deref().map_or("everywhere".to_owned(), |here| format!("in {}", plain(here)));
    let question =
        format!("{} stops nothing {whereabouts} then, for every agent.\nType {{word}} to confirm:", names.join(", "));
    confirmation::agrees(&question, "no rule was lifted")?;
    file.write(&after)?;
    print(|out| writeln!(out, "{GREEN}written{GREEN:#}  {shown}; it holds from the next call on"))
}

/// The folder that `--here` means.
fn here() -> Result<String, Failure> {
    let root = dirs::root_of(&dirs::folder(None)?);
    let real = Path::new(&root).canonicalize().ok().and_then(|real| real.into_os_string().into_string().ok());
    Ok(real.unwrap_or(root))
}

/// The user's own rule file: the first that is there, else the one that is made.
fn path() -> Result<PathBuf, Failure> {
    let none = |error| Failure::new(exit::NO_INPUT, error);
    let files = dirs::user_rule_files().map_err(none)?;
    match files.into_iter().find(|file| file.exists() || file.is_symlink()) {
        Some(file) => Ok(file),
        None => dirs::user_file().map_err(none),
    }
}

/// The exemption from a rule, by its own name as exemptions have it.
fn entry(rule: &str, here: Option<&str>, reason: Option<&str>, known: &[Value]) -> Result<Entry, String> {
    let own = ["builtin:", "user:"].iter().find_map(|layer| rule.strip_prefix(layer)).unwrap_or(rule);
    let is_meant = |one: &&Value| {
        let name = text(one, "name");
        name == rule || name.split_once(':').is_some_and(|(_, name)| name == own)
    };
    let found: Vec<&Value> = known.iter().filter(is_meant).collect();
    let Some(first) = found.first() else {
        let near: Vec<&str> =
            known.iter().map(|one| text(one, "name")).filter(|name| name.contains(own)).take(5).collect();
        let near = if near.is_empty() { String::new() } else { format!("; there are {}", near.join(", ")) };
        return Err(format!("no rule {}{near}; `toolgate rules list --all` shows all of them", plain(rule)));
    };
    let is_path = PATH_RULES.iter().any(|section| text(first, "name").starts_with(section));
    let of = |key: &str, value: &str| found.iter().all(|one| text(one, key) == value);
    if of("layer", "builtin") && of("source", "self") {
        return Err(format!(
            "{} protects Toolgate itself, or reports what cannot be checked: nothing lifts it",
            plain(rule)
        ));
    }
    if is_path && of("layer", "project") {
        return Err(format!("{} is a path rule of the project's: only its own file can change that", plain(rule)));
    }
    if reason.is_some_and(|reason| reason.chars().any(char::is_control)) {
        return Err("the reason must be one line".to_owned());
    }
    let path = PATH_RULES.iter().find_map(|section| own.strip_prefix(section)).unwrap_or_default();
    let anchored = path.starts_with(['/', '~']);
    if let (true, Some(here)) = (anchored, here)
        && !Path::new(path).starts_with(here)
    {
        return Err(format!("{path} is one place, and not in {}; without --here the rule is lifted", plain(here)));
    }
    Ok(Entry {
        rule: own.to_owned(),
        path_rule: is_path,
        here: here.map(str::to_owned),
        reason: reason.map(str::to_owned),
    })
}
