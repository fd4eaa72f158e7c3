//! What the daemon answered, and what the agent and the person get of it.

use serde_json::{Value, json};

use super::text::harmless;

/// Most bytes of the daemon's text that are handed on.
const LONGEST: usize = 64 << 10;

/// How a kind of check ended, or how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Pending,
    Running,
    Clean,
    Issues,
    Error,
    Skipped,
}

/// Every status: its name, which is its label as well, its icon, and the key of its colour in the terminal's theme.
const STATUSES: &[(Status, &str, &str, &str)] = &[
    (Status::Clean, "clean", "✅", "success"),
    (Status::Issues, "issues", "⚠", "warning"),
    (Status::Error, "error", "✗", "error"),
    (Status::Skipped, "skipped", "⊘", "dim"),
    (Status::Running, "running", "●", "muted"),
    (Status::Pending, "pending", "●", "muted"),
];

impl Status {
    /// What is no status is one that is not known yet.
    pub(crate) fn read(value: Option<&Value>) -> Option<Self> {
        let name = value?.as_str()?;
        Some(STATUSES.iter().find(|row| row.1 == name).map_or(Status::Pending, |row| row.0))
    }

    fn row(self) -> (&'static str, &'static str, &'static str) {
        let row = STATUSES.iter().find(|row| row.0 == self);
        row.map_or(("pending", "●", "muted"), |row| (row.1, row.2, row.3))
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    pub(crate) fn icon(self) -> &'static str {
        self.row().1
    }

    pub(crate) fn style(self) -> &'static str {
        self.row().2
    }
}

/// The kinds of checks, in the order in which they are shown.
const CHECKS: [&str; 4] = ["prettier", "linters", "lsp", "tsc"];

/// A status for each of [`CHECKS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Statuses(pub(crate) [Status; 4]);

impl Statuses {
    /// One that is missing is `otherwise`.
    pub(crate) fn read(statuses: Option<&Value>, otherwise: Status) -> Self {
        Statuses(CHECKS.map(|check| Status::read(statuses.and_then(|all| all.get(check))).unwrap_or(otherwise)))
    }

    pub(crate) fn each(self) -> impl Iterator<Item = (&'static str, Status)> {
        CHECKS.into_iter().zip(self.0)
    }

    fn any(self, status: Status) -> bool {
        self.0.contains(&status)
    }

    pub(crate) fn json(self) -> Value {
        self.each()
            .map(|(check, status)| (check.to_owned(), Value::from(status.name())))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

/// The result of one `fullCheck`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) statuses: Statuses,
    pub(crate) has_issues: bool,
    /// How many files were checked.
    pub(crate) files: usize,
    /// How long it took, in milliseconds.
    pub(crate) duration: u64,
    /// What was found, in words.
    sections: String,
}

impl Report {
    /// Reads a result, a JSON text. `duration` is what the clock says; else the daemon's own counts.
    ///
    /// # Errors
    /// If it is no result of a check, or one that says that there was none.
    pub(crate) fn read(result: &str, files: usize, duration: Option<u64>) -> Result<Self, String> {
        let result: Value = serde_json::from_str(result).map_err(|error| format!("its answer is not JSON: {error}"))?;
        if !result.is_object() {
            return Err("its answer is not a JSON object".into());
        }
        let contents = result.get("content").and_then(Value::as_array).into_iter().flatten();
        let texts = contents.filter_map(|content| content.get("text")?.as_str());
        let text = harmless(&texts.collect::<Vec<_>>().join("\n"), LONGEST);
        let text = text.trim_end();
        if result.get("isError").and_then(Value::as_bool) == Some(true) {
            let first: String = text.lines().next().unwrap_or("no reason").chars().take(200).collect();
            return Err(format!("it refused: {first}"));
        }
        let details = result.get("details");
        let detail = |key: &str| details.and_then(|details| details.get(key));
        let statuses = Statuses::read(detail("statuses").filter(|statuses| statuses.is_object()), Status::Skipped);
        if detail("statuses").is_none() && text.is_empty() {
            return Err("its answer has no check results".into());
        }
        Ok(Report {
            statuses,
            // By what the checks say, and not by icons in texts: a check that failed found no issue.
            has_issues: detail("hasIssues").and_then(Value::as_bool) == Some(true) || statuses.any(Status::Issues),
            files,
            duration: duration.or_else(|| detail("durationMs").and_then(Value::as_u64)).unwrap_or(0),
            sections: text.to_owned(),
        })
    }

    /// Whether there is something to do about it, or to know.
    pub(crate) fn matters(&self) -> bool {
        self.has_issues || self.statuses.any(Status::Error)
    }

    /// What the agent reads; empty if there is nothing to say.
    pub(crate) fn text(&self, always: bool) -> String {
        // That nothing was there to check is worth no words.
        let says = self.matters() || (always && self.statuses.any(Status::Clean));
        match self.sections() {
            _ if !says => String::new(),
            Some(sections) => format!("{}\n{sections}", self.header()),
            None => self.header(),
        }
    }

    fn sections(&self) -> Option<&str> {
        Some(self.sections.as_str()).filter(|sections| self.matters() && !sections.is_empty())
    }

    fn header(&self) -> String {
        let checks: Vec<String> =
            self.statuses.each().map(|(check, status)| format!("{} {check}", status.icon())).collect();
        format!("{}{}", summary(self.files as u64, self.duration), checks.join(" • "))
    }

    /// For [`render`](super::render), a JSON text.
    pub(crate) fn details(&self) -> String {
        let mut details = json!({
            "schema": 1, "statuses": self.statuses.json(), "hasIssues": self.has_issues, "fileCount": self.files,
            "durationMs": self.duration,
        });
        if let Some(sections) = self.sections() {
            details["sectionsText"] = sections.into();
        }
        details.to_string()
    }
}

/// How a header begins.
pub(crate) fn summary(files: u64, duration: u64) -> String {
    format!("🔍 pi-lens: {files} file(s) ({duration}ms) - ")
}
