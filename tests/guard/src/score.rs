//! Labelled commands against the guard: which of those that ought to be stopped are, and which of those that ought
//! not are all the same.
//!
//! The labels come from tools with different policies. Where one is plainly wrong, `labels.jsonl` says what is right
//! and why, so that no rule is bent to meet it; every figure is given with the labels as they are and as corrected.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Count, HOME, Judge, PROJECT, Verdict};

/// The scope that is judged with all packs.
const ALL_PACKS: &str = "opt-in-pack";

/// The scopes that have an aim. The others are information, and left out of the table by family.
const AIMED: [&str; 3] = ["core", "secrets", ALL_PACKS];

/// Why there is no score.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder of cases.
    #[error("cannot read {path}: {source}", path = .path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A line that is no case.
    #[error("{path}:{line}: {source}", path = .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A correction that corrects nothing.
    #[error("labels.jsonl corrects {0}, which is not among the cases; remove the line or mend its id")]
    NoSuchCase(String),
    /// Two corrections of one case.
    #[error("labels.jsonl corrects {0} twice; keep one of the lines")]
    Twice(String),
}

/// What ought to become of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// Not to run, or not without a person's word.
    #[serde(alias = "BLOCK", alias = "stop")]
    Block,
    /// Not without a person's word.
    #[serde(alias = "ASK")]
    Ask,
    /// Nothing speaks against it.
    #[serde(alias = "ALLOW", alias = "pass")]
    Allow,
    /// Good policies differ; it counts nowhere.
    Either,
}

impl Wanted {
    /// Whether a verdict is what the label asks for. A question meets both labels that stop.
    pub fn met_by(self, verdict: &Verdict) -> bool {
        match self {
            Self::Block | Self::Ask => verdict.stopped.is_some(),
            Self::Allow => verdict.stopped.is_none(),
            Self::Either => true,
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Block => "block",
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Either => "either",
        })
    }
}

/// One command with what ought to become of it.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// What it is called; the file and the line if the case does not say.
    #[serde(default)]
    pub id: String,
    /// The shell text.
    pub command: String,
    /// Where it is run.
    #[serde(default = "project")]
    pub cwd: String,
    /// The label, as it came.
    #[serde(alias = "expect")]
    pub expected: Wanted,
    /// Which policy it belongs to; the file's name if the case does not say.
    #[serde(default)]
    pub scope: String,
    /// What it is about.
    #[serde(default)]
    pub families: Vec<String>,
    /// `all` if only an opt-in pack is expected to know it.
    #[serde(default)]
    pub pack: Option<String>,
    /// Why it is expected.
    #[serde(default)]
    pub why: Option<String>,
}

fn project() -> String {
    PROJECT.into()
}

impl Case {
    /// Whether it is judged with all packs.
    fn all_packs(&self) -> bool {
        self.scope == ALL_PACKS || self.pack.as_deref() == Some("all")
    }
}

/// What is right where a label is not.
#[derive(Clone, Debug, Deserialize)]
pub struct Correction {
    /// Of the case.
    pub id: String,
    /// The right label; `stop` leaves open how.
    pub label: Wanted,
    /// Why the case's own is wrong.
    pub reason: String,
}

/// The folder of the shared cases: the one that `TOOLGATE_SHARED` names, or the one beside the workspace. It is not
/// part of a clone.
pub fn shared() -> PathBuf {
    let named = std::env::var_os("TOOLGATE_SHARED").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    named.unwrap_or_else(beside).join("cases")
}

/// The corrections that are part of this crate.
pub fn corrections() -> Result<Vec<Correction>, Error> {
    lines(Path::new("labels.jsonl"), include_str!("../labels.jsonl"))
}

/// The cases of a file of JSON lines, or of all such files in a folder.
pub fn cases(path: &Path) -> Result<Vec<Case>, Error> {
    let failed = |source| Error::Read { path: path.into(), source };
    let mut files = vec![path.to_owned()];
    if path.is_dir() {
        let entries: Result<Vec<_>, _> = std::fs::read_dir(path).map_err(failed)?.collect();
        files = entries.map_err(failed)?.into_iter().map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
        files.sort();
    }
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(|source| Error::Read { path: file.clone(), source })?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let read: Vec<Case> = lines(&file, &text)?;
        all.extend(read.into_iter().enumerate().map(|(at, mut case)| {
            if case.id.is_empty() {
                case.id = format!("{name}:{}", at + 1);
            }
            if case.scope.is_empty() {
                case.scope = name.to_string();
            }
            case
        }));
    }
    Ok(all)
}

pub(crate) fn lines<T: for<'de> Deserialize<'de>>(path: &Path, text: &str) -> Result<Vec<T>, Error> {
    let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    numbered
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|source| Error::Line { path: path.into(), line: at + 1, source })
        })
        .collect()
}

/// A case with what became of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The case.
    pub case: Case,
    /// Its label after the corrections.
    pub corrected: Wanted,
    /// What the guard says.
    pub verdict: Verdict,
}

/// Every case judged.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// In the order of the cases.
    pub judged: Vec<Judged>,
    /// Corrected cases whose own label the guard meets anyway.
    pub superfluous: Vec<String>,
}

impl Score {
    /// Judges cases, each with the packs of its scope.
    pub fn new(cases: Vec<Case>, corrections: &[Correction]) -> Result<Self, Error> {
        let (some, all) = (Judge::new(), Judge::new().with_all_packs());
        let mut labels = BTreeMap::new();
        for correction in corrections {
            if labels.insert(correction.id.clone(), correction.label).is_some() {
                return Err(Error::Twice(correction.id.clone()));
            }
        }
        let mut score = Self::default();
        for case in cases {
            let judge = if case.all_packs() { &all } else { &some };
            let verdict = judge.command(&case.command, &case.cwd, HOME);
            let correction = labels.remove(&case.id);
            if correction.is_some() && case.expected.met_by(&verdict) {
                score.superfluous.push(case.id.clone());
            }
            let corrected = correction.unwrap_or(case.expected);
            score.judged.push(Judged { case, corrected, verdict });
        }
        match labels.into_keys().next() {
            Some(id) => Err(Error::NoSuchCase(id)),
            None => Ok(score),
        }
    }

    /// How the cases of a scope with a label came out, after the corrections or before.
    pub fn count(&self, scope: &str, label: Wanted, corrected: bool) -> Count {
        let mut count = Count::default();
        for judged in &self.judged {
            let own = if corrected { judged.corrected } else { judged.case.expected };
            if judged.case.scope == scope && own == label {
                count.add(&judged.verdict);
            }
        }
        count
    }

    /// The scopes in the order of the table: those with an aim first.
    fn scopes(&self) -> Vec<&str> {
        let mut scopes: Vec<&str> = self.judged.iter().map(|judged| judged.case.scope.as_str()).collect();
        let rank = |scope: &str| AIMED.iter().position(|aimed| *aimed == scope).unwrap_or(AIMED.len());
        scopes.sort_by_key(|scope| (rank(scope), *scope));
        scopes.dedup();
        scopes
    }

    /// By family, worst first: those that ought to be stopped, and those that ought not, after the corrections.
    /// Of the scopes that have an aim, or of all if none of them is there.
    pub fn families(&self) -> Vec<(String, Count, Count)> {
        let aimed = |judged: &&Judged| AIMED.contains(&judged.case.scope.as_str());
        let any = self.judged.iter().any(|judged| aimed(&judged));
        let mut families: BTreeMap<&str, (Count, Count)> = BTreeMap::new();
        for judged in self.judged.iter().filter(|judged| !any || aimed(judged)) {
            for family in &judged.case.families {
                let (stop, allow) = families.entry(family).or_default();
                match judged.corrected {
                    Wanted::Block | Wanted::Ask => stop.add(&judged.verdict),
                    Wanted::Allow => allow.add(&judged.verdict),
                    Wanted::Either => {}
                }
            }
        }
        let mut rows: Vec<_> =
            families.into_iter().map(|(name, (stop, allow))| (name.to_owned(), stop, allow)).collect();
        rows.sort_by_key(|(_, stop, allow)| std::cmp::Reverse(stop.passed + allow.touched()));
        rows
    }

    /// The tables, for people.
    pub fn tables(&self) -> Result<String, fmt::Error> {
        let mut out = String::new();
        let columns = format!(
            "{:>5} {:>7} {:>5} {:>5} {:>6} {:>9} {:>9}",
            "cases", "blocked", "asked", "saved", "passed", "touched", "blocked"
        );
        writeln!(out, "{:26}{:55}corrected", "", "as labelled")?;
        writeln!(out, "{:18}{:8}{columns}   {columns}", "scope", "label")?;
        for scope in self.scopes() {
            for label in [Wanted::Block, Wanted::Ask, Wanted::Allow] {
                let (own, corrected) = (self.count(scope, label, false), self.count(scope, label, true));
                if own.total() + corrected.total() > 0 {
                    writeln!(out, "{scope:18}{label:8}{}   {}", cells(own), cells(corrected))?;
                }
            }
        }
        writeln!(out, "saved: of those asked, nobody is asked if all that the command changes can be saved before")?;
        let families = self.families();
        if !families.is_empty() {
            writeln!(
                out,
                "\n{:18}{:>7} {:>6} {:>8}   {:>6} {:>7} {:>8}",
                "family", "to stop", "missed", "stopped", "others", "touched", "touched"
            )?;
        }
        for (family, stop, allow) in families {
            let (missed, touched) = (stop.passed, allow.touched());
            let (stopped, percent) = (stop.touched_percent(), allow.touched_percent());
            let (to_stop, others) = (stop.total(), allow.total());
            writeln!(
                out,
                "{family:18}{to_stop:7} {missed:6} {stopped:6.1} %   {others:6} {touched:7} {percent:6.1} %"
            )?;
        }
        if !self.superfluous.is_empty() {
            let ids = self.superfluous.join(", ");
            writeln!(out, "\nsuperfluous in labels.jsonl, as the guard meets the case's own label: {ids}")?;
        }
        Ok(out)
    }

    /// The figures, for programs.
    pub fn figures(&self) -> Value {
        let mut scopes = serde_json::Map::new();
        for scope in self.scopes() {
            let both = |corrected| {
                let count = |label| json!(self.count(scope, label, corrected));
                json!({ "block": count(Wanted::Block), "ask": count(Wanted::Ask), "allow": count(Wanted::Allow) })
            };
            scopes.insert(scope.to_owned(), json!({ "labelled": both(false), "corrected": both(true) }));
        }
        let families = self
            .families()
            .into_iter()
            .map(|(name, stop, allow)| json!({ "family": name, "stop": stop, "allow": allow }));
        json!({ "scopes": scopes, "families": families.collect::<Vec<_>>(), "superfluous": self.superfluous })
    }
}

fn cells(count: Count) -> String {
    let Count { blocked, asked, passed, recoverable } = count;
    let (total, touched, percent) = (count.total(), count.touched_percent(), count.blocked_percent());
    format!("{total:5} {blocked:7} {asked:5} {recoverable:5} {passed:6} {touched:7.1} % {percent:7.1} %")
}
