//! The result: a table of scenarios by agents, with what there is to say below it.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::client::Client;
use crate::scenario::{Scenario, Verdict};

/// One cell.
pub struct Cell {
    /// The agent.
    pub client: &'static dyn Client,
    /// The scenario.
    pub scenario: &'static Scenario,
    /// What was found.
    pub verdict: Verdict,
    /// Wall time of the agent without and with Toolgate, in seconds.
    pub seconds: Option<(f64, f64)>,
}

impl Verdict {
    /// One word or two.
    fn word(&self) -> &'static str {
        match self {
            Self::Ok(_) => "ok",
            Self::Fail(_) => "FAIL",
            Self::Unsupported(_) => "no",
            Self::NotYet(_) => "not yet",
        }
    }

    /// What there is to say.
    pub fn note(&self) -> &str {
        match self {
            Self::Ok(note) | Self::Fail(note) | Self::Unsupported(note) | Self::NotYet(note) => note,
        }
    }
}

/// For a terminal.
pub fn plain(clients: &[&'static dyn Client], scenarios: &[&'static Scenario], cells: &[Cell]) -> String {
    let mut text = format!("{:14}", "");
    for client in clients {
        let _ = write!(text, "{:10}", client.name());
    }
    for scenario in scenarios {
        let _ = write!(text, "\n{:14}", scenario.name);
        for client in clients {
            let _ = write!(text, "{:10}", find(cells, *client, scenario).map_or("", |cell| cell.verdict.word()));
        }
    }
    text.push('\n');
    for cell in cells.iter().filter(|cell| !cell.verdict.note().is_empty()) {
        let _ = write!(
            text,
            "\n{} {} {}: {}",
            cell.client.name(),
            cell.scenario.name,
            cell.verdict.word(),
            cell.verdict.note()
        );
    }
    text.push('\n');
    text
}

/// For the README: a row a scenario, a column an agent, the reasons numbered below.
pub fn markdown(clients: &[&'static dyn Client], scenarios: &[&'static Scenario], cells: &[Cell]) -> String {
    let mut text = String::from("| |");
    for client in clients {
        let _ = write!(text, " {} {} |", client.title(), client.package().version);
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(clients.len()));
    let mut notes: Vec<&str> = Vec::new();
    for scenario in scenarios {
        let _ = write!(text, "\n| {} |", scenario.about);
        for client in clients {
            let Some(cell) = find(cells, *client, scenario) else {
                text.push_str(" |");
                continue;
            };
            let _ = write!(text, " {}", cell.verdict.word());
            let note = cell.verdict.note();
            if !note.is_empty() {
                let known = notes.iter().position(|known| *known == note);
                let number = known.unwrap_or_else(|| {
                    notes.push(note);
                    notes.len() - 1
                });
                let _ = write!(text, " ({})", number + 1);
            }
            text.push_str(" |");
        }
    }
    text.push('\n');
    for (number, note) in notes.iter().enumerate() {
        let _ = write!(text, "\n{}. {note}", number + 1);
    }
    text.push('\n');
    text
}

/// For programs.
pub fn json(cells: &[Cell]) -> Value {
    let cell = |cell: &Cell| {
        json!({
            "agent": cell.client.name(),
            "version": cell.client.package().version,
            "scenario": cell.scenario.name,
            "result": cell.verdict.word(),
            "note": cell.verdict.note(),
            "seconds": cell.seconds.map(|(twin, guarded)| json!({ "without": twin, "with": guarded })),
        })
    };
    cells.iter().map(cell).collect()
}

fn find<'a>(cells: &'a [Cell], client: &dyn Client, scenario: &Scenario) -> Option<&'a Cell> {
    cells.iter().find(|cell| cell.client.name() == client.name() && cell.scenario.name == scenario.name)
}
