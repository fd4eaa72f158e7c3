//! What comes of calls through the configured commands, what else stands at their events, and which version the agent is.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use toolgate_agents::dirs;
use toolgate_agents::settings::hook_failures;
use toolgate_agents::settings::hook_failures::Level;
use toolgate_agents::settings::hooks::{self, Entry};
use toolgate_agents::settings::program::is_this;
use toolgate_agents::settings::table::{AgentConfig, HookMechanism, Hooks, TIMEOUT};

use super::entry_file::{Content, EntryFile};
use super::probe::{self, Chain, Probe};
use super::report::Report;
use crate::columns::count;

/// A command that stands before a shell call.
struct Gate {
    event: &'static str,
    chain: Chain,
    /// How long the agent waits for it, and at most as long as is meant.
    limit: Duration,
}

/// Three calls through each command.
pub(super) fn run(report: &mut Report, place: &EntryFile) {
    let Ok(folder) = dirs::folder(None) else { return };
    let known = report.known;
    let gates = gates(known, place);
    if gates.is_empty() {
        return;
    }
    let (mut denies, mut passes, mut asks, mut late) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut longest = Duration::ZERO;
    for Gate { event, chain, limit } in &gates {
        let probe = Probe { dialect: known.dialect, event, chain, folder: &folder };
        let mut slowest = Duration::ZERO;
        let results = [
            (&mut denies, probe.denies()),
            (&mut passes, probe.passes()),
            (&mut asks, probe.asks(hook_failures::of(known).asks)),
        ];
        for (wrong, result) in results {
            match result {
                Ok(took) => slowest = slowest.max(took),
                Err(why) => wrong.push((Level::Fail, format!("{event}: {why}"))),
            }
        }
        if slowest > *limit / 2 {
            let (took, limit) = (slowest.as_millis(), limit.as_millis());
            late.push((
                Level::Warn,
                format!("{event}: an answer takes {took} ms, but the agent stops waiting after {limit} ms"),
            ));
        }
        longest = longest.max(slowest);
    }
    let todo = "run the command by hand to see why; `toolgate rules lint` checks the rule files";
    report.all("denies", denies, "a trial call that must not run".to_owned(), todo);
    report.all("passes", passes, "a harmless trial call passes silently".to_owned(), todo);
    report.all("asks", asks, "a trial call with verdict ask reaches you or is denied".to_owned(), todo);
    let todo = "check the machine's load, the plugins and the rules";
    report.all("time", late, format!("an answer takes {} ms at most", longest.as_millis()), todo);
}

/// The commands before a shell call. What a file names is only run if it is this program: a variable of a call can have
/// another file asked about.
fn gates(known: &AgentConfig, place: &EntryFile) -> Vec<Gate> {
    let all = known.dialect.trials().iter().copied();
    let most = Duration::from_secs(TIMEOUT);
    match (&place.content, &known.way) {
        (Content::Shim { program }, _) => {
            let gate = |event| Gate { event, chain: Chain::Session, limit: most };
            all.filter(|_| is_this(program)).map(gate).collect()
        }
        (Content::Hooks { entries, .. }, HookMechanism::Hooks(hooks)) => {
            let of = |event| entries.iter().filter(move |entry| entry.event == event);
            let gate = |event, entry: &Entry| {
                let (program, arguments) = entry.words.split_first()?;
                let chain = Chain::Hook(program.clone(), arguments.to_vec());
                is_this(program).then(|| Gate { event, chain, limit: most.min(limit(hooks, entry)) })
            };
            all.flat_map(|event| of(event).filter_map(move |entry| gate(event, entry))).collect()
        }
        _ => Vec::new(),
    }
}

/// How long the agent waits for an entry's answer. Where nothing is said that is longer than it is meant to.
fn limit(hooks: &Hooks, entry: &Entry) -> Duration {
    let (key, second) = hooks.timeout;
    entry.handler[key]
        .as_u64()
        .map_or(Duration::MAX, |units| Duration::from_millis(units.saturating_mul(1000 / second)))
}

/// Handlers that are not ours at the events that can stop something.
pub(super) fn others(report: &mut Report, place: &EntryFile) {
    let (Content::Hooks { root, entries }, HookMechanism::Hooks(hooks)) = (&place.content, &report.known.way) else {
        return;
    };
    let hooks = place.looked(hooks);
    let gating = hooks.events.iter().filter(|event| event.gates && entries.iter().any(|one| one.event == event.name));
    let others = gating.map(|event| (event.name, hooks::others(report.known, &hooks, root, event.name)));
    let (level, why) = hook_failures::of(report.known).beside;
    let wrong: Vec<_> = others
        .filter(|(_, others)| *others > 0)
        .map(|(event, others)| (level, format!("{} beside ours at {event}: {why}", count(others, "hook"))))
        .collect();
    report.all("others", wrong, "none beside ours where a call can be stopped".to_owned(), "see whether you want them");
}

/// Whether the agent is a version that does what is relied on.
pub(super) fn version(report: &mut Report, program: Option<&Path>) {
    let (Some((since, before)), Some(program)) = (hook_failures::of(report.known).since, program) else { return };
    let mut command = Command::new(program);
    command.arg("--version");
    let said = probe::once(command, "").unwrap_or_else(|error| error);
    let wanted = since.map(|part| part.to_string()).join(".");
    let todo = format!("install {wanted} or a later one");
    match numbers(&said) {
        Some(version) if version >= since => report.ok("version", version.map(|part| part.to_string()).join(".")),
        Some(_) => {
            let says = format!("{} is {}; before {wanted} it {before}", program.display(), said.trim());
            report.add("version", Level::Warn, says, todo);
        }
        None => {
            let says = format!("{} does not say its version: {}", program.display(), said.trim());
            report.add("version", Level::Warn, says, todo);
        }
    }
}

/// The first version in a text: three numbers with dots between them.
fn numbers(text: &str) -> Option<[u64; 3]> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.into_iter().find_map(|word| {
        let mut parts = word.split('.').map(|part| part.parse().ok());
        Some([parts.next()??, parts.next()??, parts.next()??])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_a_program_says_of_itself() {
        let cases = [
            ("2.1.330 (Claude Code)", Some([2, 1, 330])),
            ("codex-cli 0.124.0\n", Some([0, 124, 0])),
            ("v1.0.73-beta.2", Some([1, 0, 73])),
            ("since 2026: 1.2.3", Some([1, 2, 3])),
            ("1.2", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(numbers(text), expected, "{text}");
        }
    }
}
