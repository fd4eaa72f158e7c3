//! The audit log: one line for everything that was not just let through.
//!
//! A line is a JSON object of the kind `damage-control-log`, see [`Record`]. The file is only ever appended to, by one
//! write a line, and takes turns with other processes by a lock file beside it. At [`SIZE`] it becomes
//! `audit.1.jsonl`, and the [`KEPT`] files before it move on. Secrets are marked before anything is written.
//!
//! Lines are not synced to the disk one by one: a write that fails is noticed, a power failure may cost the last ones.
//! That a program of the same user changes the file cannot be prevented here; the gate keeps the agent from it.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, OFlags};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::shortened;
use crate::{Finding, ToolCall, Verdict, redact};
use toolgate_private::{Folder, Others, PrivateError, state_folder, system};

/// The kind of every entry, in the file as in the session's journal.
pub const KIND: &str = "damage-control-log";

/// When a file is full, in bytes.
pub const SIZE: u64 = 8 << 20;

/// How many full files are kept.
pub const KEPT: usize = 4;

/// Longest line, in bytes. Of a longer one texts are cut in the middle, and what is left out is marked.
pub const LINE: usize = 64 << 10;

/// Longest line that is read. Nobody but us writes here; somebody may have.
const FOREIGN_LINE: u64 = 1 << 20;

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It did not run.
    Blocked,
    /// A person was asked: here, or by the agent itself.
    Asked,
    /// The person said yes.
    Confirmed,
    /// The person said no, or nothing in time.
    Denied,
    /// A permission for this one call was used up.
    AllowedOnce,
    /// A component gave it another input.
    Rewritten,
    /// The call itself says why a rule does not hold for it, in a way that the rules allow.
    Overridden,
    /// A component asked for a capability that it was not granted.
    NotGranted,
}

impl Outcome {
    /// All of them, in the order of the summary.
    pub const ALL: [Outcome; 8] = [
        Outcome::Blocked,
        Outcome::Asked,
        Outcome::Confirmed,
        Outcome::Denied,
        Outcome::AllowedOnce,
        Outcome::Overridden,
        Outcome::Rewritten,
        Outcome::NotGranted,
    ];

    /// As it is written in the log.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Blocked => "blocked",
            Outcome::Asked => "asked",
            Outcome::Confirmed => "confirmed",
            Outcome::Denied => "denied",
            Outcome::AllowedOnce => "allowed-once",
            Outcome::Overridden => "overridden",
            Outcome::NotGranted => "not-granted",
            Outcome::Rewritten => "rewritten",
        }
    }
}

/// An entry. Fields are added at the end; whatever changes the meaning of one changes `schema`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When it was decided, in UTC: `2026-01-31T09:08:07.123Z`.
    pub time: String,
    /// Always [`KIND`].
    pub kind: String,
    /// Always 1.
    pub schema: u32,
    /// What became of the call.
    pub action: Outcome,
    /// The rule that decided; empty if the verdict named none.
    pub rule: String,
    /// The tool's name as the agent spells it; empty if the call could not be read.
    pub tool: String,
    /// The agent's own input, secrets marked, long texts cut.
    pub input: Value,
    /// The words that matched, secrets marked.
    #[serde(default)]
    pub matched: Vec<String>,
    /// The reason as it was given.
    #[serde(default)]
    pub reason: String,
    /// All rules that spoke, the one that decided first.
    #[serde(default)]
    pub rules: Vec<String>,
    /// Where the call was to run.
    #[serde(default)]
    pub cwd: String,
    /// Who made the call, as in `toolgate hook AGENT`.
    #[serde(default)]
    pub agent: String,
    /// The agent's own name for the session.
    #[serde(default)]
    pub session: String,
    /// The plugin that judged.
    #[serde(default)]
    pub plugin: String,
    /// The sha256 of its component.
    #[serde(default)]
    pub plugin_digest: String,
    /// How long the verdict took, in microseconds; asking a person not counted.
    #[serde(default)]
    pub decision_us: u64,
    /// What else there is to say, like which permission was used.
    #[serde(default)]
    pub note: String,
    /// The paths that the call is about, relative to the workspace where they lie in it.
    #[serde(default)]
    pub path_hints: Vec<String>,
}

/// What an entry says besides the call and its verdict.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// See [`Record::agent`].
    pub agent: String,
    /// See [`Record::plugin`].
    pub plugin: String,
    /// See [`Record::plugin_digest`].
    pub plugin_digest: String,
    /// The digests of other plugins that may have decided, by their names.
    pub others: BTreeMap<String, String>,
}

impl Record {
    /// The entry for a call, with its secrets marked.
    pub fn new(
        action: Outcome,
        call: &ToolCall,
        verdict: &Verdict,
        at: SystemTime,
        took: Duration,
        circumstances: &Circumstances,
    ) -> Self {
        let input = serde_json::from_str(&call.input).unwrap_or_else(|_| Value::String(call.input.clone()));
        let context: Value = serde_json::from_str(&call.context).unwrap_or_default();
        let session = context["session"].as_str().unwrap_or_default().to_owned();
        let first = deciding(verdict);
        let reason = first.map(|finding| redact::redacted(&finding.reason)).unwrap_or_default();
        let plugin = first.map(|finding| finding.plugin.clone()).filter(|name| !name.is_empty());
        let plugin = plugin.unwrap_or_else(|| circumstances.plugin.clone());
        let rules = first
            .into_iter()
            .chain(verdict.findings.iter().filter(|one| !first.is_some_and(|f| std::ptr::eq(f, *one))));
        Record {
            time: rfc3339(at),
            kind: KIND.to_owned(),
            schema: 1,
            action,
            rule: first.map(|finding| finding.rule.clone()).unwrap_or_default(),
            tool: call.tool.clone(),
            input: redact::value(&input),
            matched: matched(call, verdict),
            reason,
            rules: rules.map(|finding| finding.rule.clone()).collect(),
            cwd: call.cwd.clone(),
            agent: circumstances.agent.clone(),
            session,
            plugin_digest: match circumstances.others.get(&plugin) {
                Some(other) if plugin != circumstances.plugin => other.clone(),
                _ => circumstances.plugin_digest.clone(),
            },
            plugin,
            decision_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            note: String::new(),
            path_hints: context["path_hints"]
                .as_array()
                .map(|hints| hints.iter().filter_map(|hint| Some(redact::redacted(hint.as_str()?))).collect())
                .unwrap_or_default(),
        }
    }

    /// The entry as one line without its end, of at most [`LINE`] bytes.
    pub fn line(&self) -> String {
        let line = |record: &Record| serde_json::to_string(record).unwrap_or_default();
        let whole = line(self);
        if whole.len() <= LINE {
            return whole;
        }
        for (longest, most) in [(8 << 10, 64), (1 << 10, 32), (256, 16)] {
            let line = line(&self.shortened(longest, most));
            if line.len() <= LINE {
                return line;
            }
        }
        // An input of very many small parts: then as a text.
        let mut last = self.shortened(256, 16);
        last.input = Value::String(shortened(&self.input.to_string(), 4 << 10));
        line(&last)
    }

    fn shortened(&self, longest: usize, most: usize) -> Record {
        let text = |text: &String| shortened(text, longest);
        let list = |list: &[String]| {
            let mut kept: Vec<String> = list.iter().take(most).map(text).collect();
            if list.len() > most {
                kept.push(format!("[{} more]", list.len() - most));
            }
            kept
        };
        Record {
            rule: text(&self.rule),
            tool: text(&self.tool),
            input: cut(&self.input, longest),
            matched: list(&self.matched),
            reason: text(&self.reason),
            rules: list(&self.rules),
            cwd: text(&self.cwd),
            session: text(&self.session),
            note: text(&self.note),
            path_hints: list(&self.path_hints),
            ..self.clone()
        }
    }
}

fn cut(value: &Value, longest: usize) -> Value {
    match value {
        Value::String(text) => Value::String(shortened(text, longest)),
        Value::Array(items) => items.iter().map(|item| cut(item, longest)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, item)| (shortened(key, longest), cut(item, longest))).collect())
        }
        other => other.clone(),
    }
}

/// The finding that decided: the first of the strictest.
pub(crate) fn deciding(verdict: &Verdict) -> Option<&Finding> {
    use crate::{Action, Decision};
    let wanted = match verdict.decision {
        Decision::Block(_) => Action::Block,
        Decision::Ask(_) => Action::Ask,
        Decision::Rewrite(_) => Action::Rewrite,
        Decision::Pass => Action::Note,
    };
    verdict.findings.iter().find(|finding| finding.action == wanted).or_else(|| verdict.findings.first())
}

/// The words that matched, each with the secrets marked that the text round it gives away.
fn matched(call: &ToolCall, verdict: &Verdict) -> Vec<String> {
    let fields: Vec<_> = call.command.iter().chain(&call.paths).chain(&call.globs).collect();
    let mut found: Vec<(&str, Vec<std::ops::Range<usize>>)> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for one in verdict.findings.iter().flat_map(|finding| &finding.evidence) {
        let part = one.start as usize..one.end as usize;
        let field = fields.iter().find(|field| {
            field.name == one.field && field.value.get(part.clone()).is_some_and(|text| text == one.text)
        });
        let text = match field {
            None => redact::redacted(&one.text),
            Some(field) => {
                let secrets = match found.iter().position(|(name, _)| *name == field.name) {
                    Some(at) => &found[at].1,
                    None => {
                        found.push((&field.name, redact::secrets(&field.value)));
                        &found[found.len() - 1].1
                    }
                };
                redact::slice(&field.value, secrets, part)
            }
        };
        if !words.contains(&text) && words.len() < 64 {
            words.push(text);
        }
    }
    words
}

/// A time in UTC with milliseconds, as RFC 3339 has it.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let time = jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

/// Takes entries. One that it cannot take is an error, and the call is blocked for it.
pub trait Audit: Send + Sync {
    /// Adds an entry. It may wait for other writers, but not for long.
    fn append(&self, record: &Record) -> Result<(), PrivateError>;
}

/// Takes nothing: with it every decision other than letting a call through is a block that says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAudit;

impl Audit for NoAudit {
    fn append(&self, _record: &Record) -> Result<(), PrivateError> {
        Err(PrivateError::Unfit { path: "the audit log".to_owned(), why: "is not granted" })
    }
}

/// Keeps entries in memory, for tests.
#[derive(Clone, Debug, Default)]
pub struct RecordingAudit(Arc<Mutex<Vec<Record>>>);

impl RecordingAudit {
    /// The entries so far.
    pub fn records(&self) -> Vec<Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Audit for RecordingAudit {
    fn append(&self, record: &Record) -> Result<(), PrivateError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record.clone());
        Ok(())
    }
}

/// The log as a file that is shared by all processes of a user.
#[derive(Clone, Debug)]
pub struct AuditFile {
    folder: PathBuf,
    stem: String,
    size: u64,
    kept: usize,
}

impl AuditFile {
    /// The log in this file, whose name ends in `.jsonl`. Nothing is opened before the first entry.
    pub fn new(path: &Path) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = name.strip_suffix(".jsonl").unwrap_or(&name).to_owned();
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        AuditFile { folder, stem, size: SIZE, kept: KEPT }
    }

    /// The log in the user's state folder. None if there is no telling where that is.
    pub fn of_user(home: Option<&Path>) -> Option<Self> {
        Some(Self::new(&state_folder(home)?.join("audit.jsonl")))
    }

    /// The same with other files: full at so many bytes, and so many full ones kept.
    #[must_use]
    pub fn rotated(mut self, size: u64, kept: usize) -> Self {
        (self.size, self.kept) = (size, kept);
        self
    }

    /// The file that is written to.
    pub fn path(&self) -> PathBuf {
        self.folder.join(self.name(0))
    }

    /// The name of the file that has been full so many times.
    fn name(&self, age: usize) -> String {
        if age == 0 { format!("{}.jsonl", self.stem) } else { format!("{}.{age}.jsonl", self.stem) }
    }

    fn lock(&self) -> String {
        format!("{}.lock", self.stem)
    }

    /// The entries that there are, the oldest first. A line that is none is an error of its own.
    ///
    /// # Errors
    /// If the folder or one of the files is not what it has to be.
    pub fn read(&self) -> Result<Entries, PrivateError> {
        let mut files = VecDeque::new();
        if let Some(folder) = Folder::open(&self.folder)? {
            // So that no file changes its name half-way. Who may only read does without.
            let _turn = folder.turn(&self.lock());
            for age in (0..=self.kept).rev() {
                let name = self.name(age);
                if let Some(file) = folder.file(&name, OFlags::RDONLY, Others::SetRight)? {
                    files.push_back((folder.path(&name), file));
                }
            }
        }
        Ok(Entries { files, reader: None })
    }
}

impl Audit for AuditFile {
    fn append(&self, record: &Record) -> Result<(), PrivateError> {
        let mut line = record.line();
        line.push('\n');
        let folder = Folder::create(&self.folder)?;
        let _turn = folder.turn(&self.lock())?;
        let name = self.name(0);
        let failed = |error| system(&folder.path(&name), error);
        let open = || {
            let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
            let file = folder.file(&name, flags, Others::SetRight)?;
            file.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))
        };
        let mut file = open()?;
        let mut length = file.metadata().map_err(failed)?.len();
        if length > 0 && length + line.len() as u64 > self.size {
            if self.kept == 0 {
                rustix::fs::unlinkat(folder.fd(), &*name, AtFlags::empty()).map_err(|error| failed(error.into()))?;
            }
            for age in (0..self.kept).rev() {
                match folder.rename(&self.name(age), &self.name(age + 1)) {
                    Err(PrivateError::System { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {}
                    done => done?,
                }
            }
            file = open()?;
            length = file.metadata().map_err(failed)?.len();
        }
        if length > 0 {
            // A writer that was killed may have left half a line. It stays half a line, and ours a whole one.
            let mut last = [0];
            file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut last)).map_err(failed)?;
            if last != *b"\n" {
                line.insert(0, '\n');
            }
        }
        file.write_all(line.as_bytes()).map_err(|error| {
            // Half a line helps nobody; if even this fails, readers know what to do with it.
            let _ = file.set_len(length);
            failed(error)
        })
    }
}

/// A line that is no entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {why}")]
pub struct BadLine {
    /// The file it is in.
    pub file: String,
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

/// Reads entries, the oldest first.
#[derive(Debug)]
pub struct Entries {
    files: VecDeque<(PathBuf, File)>,
    reader: Option<(PathBuf, BufReader<File>, usize)>,
}

impl Iterator for Entries {
    type Item = Result<Record, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((path, reader, number)) = &mut self.reader else {
                let (path, file) = self.files.pop_front()?;
                self.reader = Some((path, BufReader::new(file), 0));
                continue;
            };
            *number += 1;
            let bad = |why: String| BadLine { file: path.display().to_string(), line: *number, why };
            let mut line = Vec::new();
            let read = reader.by_ref().take(FOREIGN_LINE).read_until(b'\n', &mut line);
            let answer = match read {
                Ok(0) => {
                    self.reader = None;
                    continue;
                }
                Err(error) => {
                    let bad = bad(error.to_string());
                    self.reader = None;
                    return Some(Err(bad));
                }
                Ok(_) if line.last() != Some(&b'\n') && line.len() as u64 == FOREIGN_LINE => {
                    let skipped = reader.skip_until(b'\n');
                    Err(bad(skipped.map_or_else(|error| error.to_string(), |_| "the line is too long".to_owned())))
                }
                Ok(_) if line.trim_ascii().is_empty() => continue,
                Ok(_) => entry(&line).map_err(bad),
            };
            return Some(answer);
        }
    }
}

fn entry(line: &[u8]) -> Result<Record, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("no JSON text: {error}"))?;
    if value["kind"] != KIND {
        return Err(format!("no entry of the kind {KIND}"));
    }
    if value["schema"] != 1 {
        return Err(format!("schema {} is not known to this version", value["schema"]));
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::Evidence;

    fn record(command: &str) -> Record {
        let call = ToolCall::shell(command, "/p");
        let verdict = Verdict::block("user:x", "no");
        Record::new(
            Outcome::Blocked,
            &call,
            &verdict,
            SystemTime::UNIX_EPOCH,
            Duration::ZERO,
            &Circumstances::default(),
        )
    }

    #[test]
    fn an_entry_says_what_when_where_and_by_whom() {
        let mut call = ToolCall::shell("API_TOKEN=x terraform destroy", "/p");
        call.context = r#"{"schema":1,"session":"s1"}"#.to_owned();
        let evidence =
            |start: u32, end: u32, text: &str| Evidence { field: "command".into(), start, end, text: text.into() };
        let mut verdict = Verdict::block("user:apply", "changes real machines at https://u:secret@h");
        verdict.findings[0].plugin = "guard".into();
        verdict.findings[0].evidence = vec![evidence(12, 29, "terraform destroy"), evidence(10, 11, "x")];
        let others = [("guard".to_owned(), "e".to_owned())].into();
        let circumstances =
            Circumstances { agent: "claude".into(), plugin: "p".into(), plugin_digest: "d".into(), others };
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_769_850_487_123);
        let record = Record::new(Outcome::Denied, &call, &verdict, at, Duration::from_micros(124), &circumstances);
        assert_eq!(
            record.line(),
            r#"{"time":"2026-01-31T09:08:07.123Z","kind":"damage-control-log","schema":1,"action":"denied","rule":"user:apply","tool":"bash","input":{"command":"API_TOKEN=[redacted] terraform destroy"},"matched":["terraform destroy","[redacted]"],"reason":"changes real machines at https://u:[redacted]@h","rules":["user:apply"],"cwd":"/p","agent":"claude","session":"s1","plugin":"guard","plugin_digest":"e","decision_us":124,"note":"","path_hints":[]}"#
        );
    }

    #[test]
    fn a_line_has_a_longest_length_and_says_what_is_left_out() {
        let many: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
        let cases = [
            record(&"x".repeat(3 << 20)),
            record(&"\u{1}".repeat(1 << 20)),
            Record { input: serde_json::json!(many), ..record("x") },
            Record { matched: vec!["y".repeat(1 << 20); 500], ..record("x") },
            Record { rules: many.clone(), ..record("x") },
        ];
        for long in cases {
            let line = long.line();
            assert!(line.len() <= LINE, "{}", line.len());
            assert!(line.contains(" left out]") || line.contains(" more]"), "{}", &line[..200]);
            entry(line.as_bytes()).expect("still an entry");
        }
    }

    #[test]
    fn files_move_on_when_they_are_full_and_the_oldest_go() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let path = scratch.path().join("state/audit.jsonl");
        let length = record("0").line().len() as u64 + 1;
        let log = AuditFile::new(&path).rotated(2 * length, 2);
        for number in 0..9 {
            log.append(&record(&number.to_string())).expect("written");
        }
        let kept: Vec<Value> =
            log.read().expect("fit").map(|entry| entry.expect("an entry").input["command"].clone()).collect();
        assert_eq!(kept, ["4", "5", "6", "7", "8"]);
        for (file, mode) in [("state", 0o700), ("state/audit.jsonl", 0o600), ("state/audit.2.jsonl", 0o600)] {
            let found = std::fs::metadata(scratch.path().join(file)).expect("there").permissions().mode();
            assert_eq!(found & 0o777, mode, "{file}");
        }
        assert!(!scratch.path().join("state/audit.3.jsonl").exists());
    }

    #[test]
    fn writers_at_once_lose_and_tear_nothing() {
        const WRITERS: usize = 8;
        const LINES: usize = 50;
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let log = AuditFile::new(&scratch.path().join("audit.jsonl")).rotated(6_000, 1_000);
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let log = &log;
                scope.spawn(move || {
                    for line in 0..LINES {
                        log.append(&record(&format!("{writer} {line}"))).expect("written");
                    }
                });
            }
        });
        let mut found: Vec<String> =
            log.read().expect("fit").map(|entry| entry.expect("whole").input["command"].to_string()).collect();
        assert_eq!(found.len(), WRITERS * LINES);
        found.sort();
        found.dedup();
        assert_eq!(found.len(), WRITERS * LINES);
        assert!(scratch.path().join("audit.5.jsonl").exists(), "files moved on meanwhile");
    }

    #[test]
    fn lines_that_are_no_entries_are_told_and_not_fatal() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let path = scratch.path().join("audit.jsonl");
        let good = record("x").line();
        let long = "y".repeat(3 << 20);
        let text = format!(
            "{good}\n\nhello\n{{\"kind\":\"other\"}}\n{{\"kind\":\"{KIND}\",\"schema\":2}}\n{long}\n{good}\n{{\"time\":"
        );
        std::fs::write(&path, text).expect("a file");
        let log = AuditFile::new(&path);
        // What is appended after half a line is a whole one.
        log.append(&record("y")).expect("written");
        let read: Vec<Result<Record, usize>> =
            log.read().expect("fit").map(|entry| entry.map_err(|bad| bad.line)).collect();
        assert_eq!(read, [Ok(record("x")), Err(3), Err(4), Err(5), Err(6), Ok(record("x")), Err(8), Ok(record("y"))]);
    }

    #[test]
    fn a_place_that_is_not_the_users_own_is_refused() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| scratch.path().join(name);
        for name in ["link", "folder", "lock", "good"] {
            std::fs::create_dir(at(name)).expect("a folder");
        }
        std::fs::write(at("target"), "").expect("a file");
        symlink(at("target"), at("link/audit.jsonl")).expect("a link");
        std::fs::create_dir(at("folder/audit.jsonl")).expect("a folder");
        symlink(at("target"), at("lock/audit.lock")).expect("a link");
        symlink(at("good"), at("linked")).expect("a link");
        for (folder, fit) in
            [("link", false), ("folder", false), ("lock", false), ("linked", false), ("target", false), ("good", true)]
        {
            let log = AuditFile::new(&at(folder).join("audit.jsonl"));
            assert_eq!(log.append(&record("x")).is_ok(), fit, "{folder}");
        }
        assert_eq!(std::fs::read(at("target")).expect("a file"), b"");
    }
}
