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
    pub fn word(&self) -> &'static str {
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
    let mut notes = Notes::default();
    let mut text = format!("{:14}", "");
    for client in clients {
        let _ = write!(text, "{:14}", client.name());
    }
    for scenario in scenarios {
        let _ = write!(text, "\n{:14}", scenario.name);
        for client in clients {
            let _ = write!(text, "{:14}", notes.cell(find(cells, *client, scenario)));
        }
    }
    text + "\n" + &notes.list()
}

/// For the book, docs/reference/agents.md: a row a scenario, a column an agent.
pub fn markdown(clients: &[&'static dyn Client], scenarios: &[&'static Scenario], cells: &[Cell]) -> String {
    let mut notes = Notes::default();
    let mut text = String::from("| |");
    for client in clients {
        let _ = write!(text, " {} {} |", client.title(), client.package().version);
    }
    let _ = write!(text, "\n|---|{}", "---|".repeat(clients.len()));
    for scenario in scenarios {
        let _ = write!(text, "\n| {} |", scenario.about);
        for client in clients {
            let _ = write!(text, " {} |", notes.cell(find(cells, *client, scenario)));
        }
    }
    text + "\n" + &notes.list()
}

/// What there is to say, numbered, and each only once.
#[derive(Default)]
struct Notes<'a>(Vec<&'a str>);

impl<'a> Notes<'a> {
    /// The text of a cell.
    fn cell(&mut self, cell: Option<&'a Cell>) -> String {
        let Some(verdict) = cell.map(|cell| &cell.verdict) else { return String::new() };
        let (word, note) = (verdict.word(), verdict.note());
        if note.is_empty() {
            return word.into();
        }
        let number = self.0.iter().position(|known| *known == note).unwrap_or(self.0.len());
        if number == self.0.len() {
            self.0.push(note);
        }
        format!("{word} ({})", number + 1)
    }

    fn list(&self) -> String {
        let line = |(number, note): (usize, &&str)| format!("\n{}. {note}", number + 1);
        self.0.iter().enumerate().map(line).collect::<String>() + "\n"
    }
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
