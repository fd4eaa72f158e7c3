//! Asks a check daemon: JSON-RPC over a Unix socket, one object a line, answers in any order.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::Error;

/// A connection to a daemon.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
    /// The part of a line that has come so far.
    partial: Vec<u8>,
    /// Answers to other questions than the one that was waited for.
    early: BTreeMap<u64, Value>,
    methods: BTreeMap<u64, String>,
    last: u64,
}

/// Which kinds of check are asked for, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The names of the kinds: `prettier`, `linters`, `lsp`, `tsc`.
    pub kinds: &'static [&'static str],
    /// How long a language server has to say more, in milliseconds.
    pub settle: u64,
    /// The time limit of each kind, in milliseconds.
    pub limit: u64,
}

/// All kinds of check.
pub const KINDS: &[&str] = &["prettier", "linters", "lsp", "tsc"];

impl Config {
    /// Everything, with limits that a busy machine does not run into.
    pub const ALL: Config = Config { kinds: KINDS, settle: 1_000, limit: 45_000 };

    /// The object of the protocol.
    pub fn json(&self) -> Value {
        let mut config = json!({
            "lspDelayMs": self.settle, "maxConcurrency": 4,
            "prettierTimeoutMs": self.limit, "linterTimeoutMs": self.limit, "tscTimeoutMs": self.limit,
            "lspTimeoutMs": self.limit,
        });
        for &kind in KINDS {
            config[kind] = Value::Bool(self.kinds.contains(&kind));
        }
        config
    }
}

/// What a `fullCheck` found. Of what a daemon does not say there is nothing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Report {
    /// By kind of check: `clean`, `issues`, `error` or `skipped`.
    pub statuses: BTreeMap<String, String>,
    /// Whether there is something to mend.
    pub has_issues: bool,
    /// Each finding.
    pub problems: Vec<Problem>,
    /// Files that a formatter would change, relative to the root.
    pub unformatted: Vec<PathBuf>,
    /// Why something was skipped or failed.
    pub notes: Vec<String>,
    /// The text for people and models.
    #[serde(skip)]
    pub text: String,
}

/// One finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Problem {
    /// Relative to the root.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// `error`, `warning` or `info`.
    pub severity: String,
    /// In words.
    pub message: String,
    /// The tool's name for the rule.
    pub rule: Option<String>,
    /// Who says it.
    pub source: String,
}

impl Report {
    /// The status of a kind of check; empty if nothing was said of it.
    pub fn status(&self, kind: &str) -> &str {
        self.statuses.get(kind).map_or("", String::as_str)
    }
}

impl Client {
    /// Connects to a socket.
    ///
    /// # Errors
    /// If nobody listens there.
    pub fn connect(socket: &Path) -> io::Result<Self> {
        let stream = BufReader::new(UnixStream::connect(socket)?);
        let (early, methods) = (BTreeMap::new(), BTreeMap::new());
        Ok(Client { stream, partial: Vec::new(), early, methods, last: 0 })
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// If the daemon has gone.
    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Asks, and does not wait. The number goes to [`Client::answer`].
    ///
    /// # Errors
    /// If the daemon has gone.
    pub fn ask(&mut self, method: &str, params: &Value) -> io::Result<u64> {
        self.last += 1;
        let mut line = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": self.last}).to_string();
        line.push('\n');
        self.methods.insert(self.last, method.to_owned());
        self.raw(line.as_bytes())?;
        Ok(self.last)
    }

    /// Waits for an answer and takes its result. Answers to other questions are kept.
    ///
    /// # Errors
    /// If there is none in time, or if it is an error.
    pub fn answer(&mut self, id: u64, limit: Duration) -> Result<Value, Error> {
        let method = self.methods.remove(&id).unwrap_or_default();
        let end = Instant::now() + limit;
        loop {
            if let Some(mut answer) = self.early.remove(&id) {
                return match answer.get_mut("result") {
                    Some(result) => Ok(result.take()),
                    None => Err(Error::Refused(answer["error"].take())),
                };
            }
            let Some(line) = self.line(end).map_err(|error| match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Error::Silent { method: method.clone(), limit },
                _ => error.into(),
            })?
            else {
                return Err(Error::Closed(method));
            };
            let nonsense = || Error::Nonsense(String::from_utf8_lossy(&line).chars().take(200).collect());
            let answer: Value = serde_json::from_slice(&line).map_err(|_| nonsense())?;
            self.early.insert(answer["id"].as_u64().ok_or_else(nonsense)?, answer);
        }
    }

    /// The next line; none at the end of the connection.
    ///
    /// # Errors
    /// If it does not come before `end`.
    pub fn line(&mut self, end: Instant) -> io::Result<Option<Vec<u8>>> {
        // What a time-out cuts off stays for the next try.
        while !self.partial.ends_with(b"\n") {
            let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            self.stream.get_ref().set_read_timeout(Some(left))?;
            if self.stream.read_until(b'\n', &mut self.partial)? == 0 {
                return Ok(None);
            }
        }
        Ok(Some(std::mem::take(&mut self.partial)))
    }

    /// Asks and waits.
    ///
    /// # Errors
    /// As [`Client::answer`].
    pub fn call(&mut self, method: &str, params: &Value, limit: Duration) -> Result<Value, Error> {
        let id = self.ask(method, params)?;
        self.answer(id, limit)
    }

    /// Has files checked.
    ///
    /// # Errors
    /// As [`Client::answer`], and if the daemon refuses the files.
    pub fn full_check(&mut self, files: &[PathBuf], config: &Config, limit: Duration) -> Result<Report, Error> {
        report(self.call("fullCheck", &json!({"files": files, "config": config.json()}), limit)?)
    }
}

/// The report in the result of a `fullCheck`.
///
/// # Errors
/// If the daemon refused the files, or if it is no report.
pub fn report(mut result: Value) -> Result<Report, Error> {
    if result["isError"] != Value::Bool(false) {
        return Err(Error::Refused(result));
    }
    let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    let details = result["details"].take();
    let report: Report = serde_json::from_value(details).map_err(|error| Error::Nonsense(error.to_string()))?;
    Ok(Report { text, ..report })
}
