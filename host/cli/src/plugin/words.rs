//! What a plugin does and asks for, in words for the person who decides.

use std::collections::BTreeSet;
use std::io::Write;

use toolgate_gatekeeper::plugin::store::{Installed, Version};
use toolgate_host::{Capability, Description, Granted, plain};

use crate::output::{BOLD, DIM, RED, YELLOW};

/// How the contract's interfaces are named.
const CONTRACT: &str = "toolgate:plugin/";

/// Digits of a digest that are shown where it only has to be told from others.
const SHORT: usize = 12;

/// The hooks of the contract, in words.
const HOOKS: &[(&str, &str)] = &[
    ("tool-gate", "evaluates calls"),
    ("permission-gate", "evaluates permission requests"),
    ("session-memory", "keeps session state"),
    ("tool-observer", "sees results, and may add text to them"),
    ("execution-observer", "follows tools while they run"),
    ("turn-observer", "may continue the agent's turn"),
    ("provided-tools", "offers tools to the agent"),
    ("terminal-observer", "follows the shared terminal"),
    ("analysis", "analyzes shell commands"),
    (
        "trackers",
        "provides trackers for rules, and may set the working directory of programs, which lifts no rule (names are known once it \
         runs)",
    ),
    ("predicates", "provides predicates for rules (names are known once it runs)"),
];

/// The hooks that a component has, as the contract names them.
pub(super) fn hooks(description: &Description) -> Vec<String> {
    let own = |export: &String| Some(export.strip_prefix(CONTRACT)?.split('@').next()?.to_owned());
    description.exports.iter().filter_map(own).collect()
}

/// What these hooks do.
pub(super) fn does(hooks: &[String]) -> Vec<&'static str> {
    HOOKS.iter().filter(|(hook, _)| hooks.iter().any(|has| has == hook)).map(|(_, words)| *words).collect()
}

/// Enough of a digest to tell it from others.
pub(super) fn short(digest: &str) -> &str {
    digest.get(..SHORT).unwrap_or(digest)
}

/// A version for the person who is to decide on it.
pub(super) fn version(out: &mut dyn Write, name: &str, version: &Version) -> std::io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#}  {DIM}sha256{DIM:#} {}", plain(name), plain(&version.digest))?;
    writeln!(out, "  {DIM}from{DIM:#}      {}", plain(&version.source.display().to_string()))?;
    let does = does(&version.hooks);
    if does.is_empty() {
        writeln!(out, "  {DIM}does{DIM:#}      nothing that Toolgate calls")?;
    }
    does.iter().try_for_each(|words| writeln!(out, "  {DIM}does{DIM:#}      {words}"))
}

/// Lines of capabilities, each behind a word, and marked if it gives away everything.
pub(super) fn capabilities(out: &mut dyn Write, label: &str, which: &BTreeSet<Capability>) -> std::io::Result<()> {
    which.iter().try_for_each(|one| {
        let style = if *one == Capability::Terminal { RED } else { YELLOW };
        writeln!(out, "  {DIM}{label:<8}{DIM:#}  {style}{:<10}{style:#}  {}", one.name(), one.describe())
    })
}

/// Grants besides capabilities.
pub(super) fn limits(out: &mut dyn Write, granted: &Granted) -> std::io::Result<()> {
    if granted.rewrite {
        writeln!(
            out,
            "  {DIM}may{DIM:#}       {YELLOW}rewrite{YELLOW:#}     replace a call's input; the result is evaluated again"
        )?;
    }
    let folders = granted.folders.iter().flatten();
    folders.into_iter().try_for_each(|folder| {
        writeln!(
            out,
            "  {DIM}only{DIM:#}      {YELLOW}files{YELLOW:#}       below {}",
            plain(&folder.display().to_string())
        )
    })
}

/// What a plugin may do, and what it asks for in vain.
pub(crate) fn grants(out: &mut dyn Write, one: &Installed) -> std::io::Result<()> {
    capabilities(out, "may", &one.granted.capabilities)?;
    limits(out, &one.granted)?;
    let refused: BTreeSet<Capability> = one.version.asks.difference(&one.granted.capabilities).copied().collect();
    if refused.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {DIM}may not{DIM:#}   {}, which it asks for", names(&refused))
}

/// Names of capabilities, with commas.
pub(super) fn names<'a>(which: impl IntoIterator<Item = &'a Capability>) -> String {
    which.into_iter().map(|one| one.name()).collect::<Vec<_>>().join(", ")
}
