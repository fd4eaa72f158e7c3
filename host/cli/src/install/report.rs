//! What `doctor` says: checks, how severe each is, and how they are shown.

use std::cmp::Reverse;
use std::io::Write;

use serde_json::{Value, json};
use toolgate_agents::settings::hook_failures::Level;
use toolgate_agents::settings::table::AgentConfig;
use toolgate_host::plain;

use crate::columns::count;
use crate::output::{BOLD, DIM, GREEN, RED, YELLOW};

pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) level: Level,
    pub(super) says: String,
    pub(super) todo: String,
}

/// The checks of an agent.
pub(super) struct Report {
    pub(super) known: &'static AgentConfig,
    pub(super) found: bool,
    pub(super) installed: bool,
    pub(super) checks: Vec<Check>,
}

impl Report {
    pub(super) fn add(&mut self, name: &'static str, level: Level, says: impl Into<String>, todo: impl Into<String>) {
        self.checks.push(Check { name, level, says: says.into(), todo: todo.into() });
    }

    pub(super) fn ok(&mut self, name: &'static str, says: impl Into<String>) {
        self.add(name, Level::Ok, says, "");
    }

    /// A check of several things: fine if nothing is wrong.
    pub(super) fn all(&mut self, name: &'static str, wrong: Vec<(Level, String)>, fine: String, todo: &str) {
        match wrong.iter().map(|(level, _)| *level).max() {
            None => self.ok(name, fine),
            Some(level) => {
                let says: Vec<String> = wrong.into_iter().map(|(_, says)| says).collect();
                self.add(name, level, says.join("; "), todo);
            }
        }
    }
}

pub(super) fn json(report: &Report) -> Value {
    let checks = json_of(&report.checks);
    json!({ "agent": report.known.name(), "found": report.found, "installed": report.installed, "checks": checks })
}

pub(super) fn json_of(checks: &[Check]) -> Value {
    let one = |check: &Check| json!({ "check": check.name, "level": check.level.name(), "says": check.says, "todo": check.todo });
    checks.iter().map(one).collect()
}

/// All sections, those with problems first, and how many there are at the end.
pub(super) fn show_all(out: &mut dyn Write, mut sections: Vec<(&str, &[Check])>) -> std::io::Result<()> {
    let worst = |checks: &[Check]| checks.iter().map(|check| check.level).max();
    sections.retain(|(_, checks)| !checks.is_empty());
    sections.sort_by_key(|(_, checks)| Reverse(worst(checks)));
    sections.iter().try_for_each(|(title, checks)| show(out, title, checks))?;
    let all = || sections.iter().flat_map(|(_, checks)| *checks);
    let of = |level| all().filter(|check| check.level == level).count();
    let (failed, warned, done) = (of(Level::Fail), of(Level::Warn), count(all().count(), "check"));
    match (failed, warned) {
        (0, 0) => writeln!(out, "{GREEN}no problems{GREEN:#} in {done}"),
        (0, _) => writeln!(out, "{YELLOW}{}{YELLOW:#} in {done}", count(warned, "warning")),
        (_, 0) => writeln!(out, "{RED}{}{RED:#} in {done}", count(failed, "problem")),
        _ => {
            let (failed, warned) = (count(failed, "problem"), count(warned, "warning"));
            writeln!(out, "{RED}{failed}{RED:#} and {YELLOW}{warned}{YELLOW:#} in {done}")
        }
    }
}

/// A section, its problems first.
fn show(out: &mut dyn Write, title: &str, checks: &[Check]) -> std::io::Result<()> {
    writeln!(out, "{BOLD}{title}{BOLD:#}")?;
    let mut checks: Vec<&Check> = checks.iter().collect();
    checks.sort_by_key(|check| Reverse(check.level));
    for check in checks {
        let style = match check.level {
            Level::Ok => GREEN,
            Level::Warn => YELLOW,
            Level::Fail => RED,
        };
        let (level, name) = (check.level.name(), check.name);
        writeln!(out, "  {style}{level:<4}{style:#}  {name:<9}  {}", plain(&check.says))?;
        if !check.todo.is_empty() {
            writeln!(out, "                   {DIM}do:{DIM:#} {}", plain(&check.todo))?;
        }
    }
    Ok(())
}
