//! A corpus of everyday use: the commands that packages hold in their CI files, recipes, scripts and documentation.
//!
//! Nothing of it is part of this project. It is read where cargo and npm have unpacked it: the packages that this
//! workspace depends on, and those that `benign/Cargo.toml` and `benign/package.json` lead to, which `just guard-benign`
//! unpacks below `target`. They are judged, never run.
//!
//! Some of it is no everyday use: what CI runners do as root on a machine that is thrown away, what `make install` is
//! for. `set-aside.jsonl` tells such commands by what they are, whatever their verdict, and why; every figure is given
//! with them and without.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use fancy_regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::extract::{self, Kind};
use crate::{Count, Judge, Verdict};

/// A file that is longer is no file that people have written.
const LONGEST: u64 = 512 << 10;

/// Why there is no corpus.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder of a package.
    #[error("cannot read {path}: {source}", path = .path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Cargo does not run.
    #[error("cannot run cargo: {0}")]
    Cargo(std::io::Error),
    /// Cargo says no.
    #[error("cargo metadata failed for {0}; what it said stands above")]
    Metadata(PathBuf),
    /// Cargo, or `set-aside.jsonl`, says something else.
    #[error("cargo metadata or set-aside.jsonl holds something unexpected: {0}")]
    Json(#[from] serde_json::Error),
}

/// Commands that are no everyday use.
#[derive(Debug, Deserialize)]
pub struct SetAside {
    /// Where they stand.
    pub kinds: Vec<Kind>,
    /// What is in their text, as a regular expression.
    pub pattern: String,
    /// Why nobody does it every day.
    pub reason: String,
}

/// The lines of `set-aside.jsonl`.
pub fn set_aside() -> Result<Vec<SetAside>, Error> {
    Ok(include_str!("../set-aside.jsonl").lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// A command of a package.
#[derive(Clone, Debug)]
pub struct Found {
    /// Where it stood.
    pub kind: Kind,
    /// The package's folder and the file, as far as it helps to find it.
    pub place: String,
    /// The text.
    pub command: String,
    /// What a script holds; of everything else the command.
    pub text: String,
    /// The package's folder, which is the workspace.
    pub package: PathBuf,
    /// Where in it the command runs.
    pub folder: PathBuf,
}

/// The folders of the packages from registries that a manifest leads to, for one platform, so that the corpus is the
/// same on all. Cargo fetches what is missing.
pub fn crates(manifest: &Path) -> Result<Vec<PathBuf>, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu"]);
    command.arg("--manifest-path").arg(manifest).stderr(Stdio::inherit());
    let output = command.output().map_err(Error::Cargo)?;
    if !output.status.success() {
        return Err(Error::Metadata(manifest.into()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let paths = packages.filter(|package| package["source"].is_string()).filter_map(|package| {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        manifest.parent().map(Path::to_owned)
    });
    Ok(paths.collect())
}

/// The manifest of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml")
}

/// The commands of folders, each text once, and each script, in an order that does not depend on the machine.
pub fn corpus(folders: &[PathBuf]) -> Result<Vec<Found>, Error> {
    let mut folders = folders.to_vec();
    folders.sort();
    let mut seen = BTreeSet::new();
    let mut corpus = Vec::new();
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut files = Vec::new();
        walk(&folder, &mut files)?;
        for file in files {
            let within = file.strip_prefix(&folder).unwrap_or(&file);
            // Not all are text.
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let package = package(&folder, within);
            let own = file.strip_prefix(&package).unwrap_or(within);
            // As a checkout has them where there are shells.
            for (kind, command) in extract::commands(own, &text.replace("\r\n", "\n")) {
                let place = format!("{name}/{}", within.display());
                let same = if kind == Kind::Script { place.clone() } else { command.clone() };
                if seen.insert(same) {
                    let (package, within) = (package.to_owned(), extract::folder(kind, own));
                    let held = if kind == Kind::Script { text.clone() } else { command.clone() };
                    corpus.push(Found { kind, place, command, text: held, package, folder: within });
                }
            }
        }
    }
    Ok(corpus)
}

/// The package that a file of a folder belongs to: with npm, packages hold packages.
fn package(folder: &Path, within: &Path) -> PathBuf {
    let parts: Vec<_> = within.components().collect();
    let whole = folder.file_name().is_some_and(|name| name == MODULES);
    let start = parts.iter().rposition(|part| part.as_os_str() == MODULES).map(|at| at + 1).or(whole.then_some(0));
    let Some(start) = start else { return folder.into() };
    let scoped = parts.get(start).is_some_and(|part| part.as_os_str().to_string_lossy().starts_with('@'));
    folder.join(parts.iter().take(start + 1 + usize::from(scoped)).collect::<PathBuf>())
}

/// The folder of npm's packages.
const MODULES: &str = "node_modules";

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let failed = |source| Error::Read { path: folder.into(), source };
    let mut entries: Vec<_> = std::fs::read_dir(folder).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        // A link leads to what is read elsewhere, or out of the package.
        let metadata = entry.metadata().map_err(failed)?;
        if metadata.is_dir() {
            walk(&entry.path(), files)?;
        } else if metadata.is_file() && metadata.len() <= LONGEST {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// A corpus with its verdicts.
#[derive(Debug, Default)]
pub struct Report {
    /// In the order of the corpus.
    pub judged: Vec<(Found, Verdict)>,
    /// Which of them are set aside.
    aside: Vec<bool>,
}

impl Report {
    /// Judges every command with the default packs, as on a machine where the home folder holds nothing but the package
    /// as the workspace: what a command would overwrite or remove elsewhere is the question of other corpora.
    ///
    /// # Panics
    /// If there is no room for temporary files, or `set-aside.jsonl` is wrong.
    pub fn new(corpus: Vec<Found>) -> Self {
        let home = tempfile::tempdir().expect("a folder for temporary files");
        let next = AtomicUsize::new(0);
        let gathered: Mutex<BTreeMap<usize, Verdict>> = Mutex::default();
        let worker = || {
            let judge = Judge::new().with_files(home.path());
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(found) = corpus.get(at) else { break };
                let verdict = judge.in_project(&found.command, &found.folder, &found.package);
                gathered.lock().unwrap_or_else(PoisonError::into_inner).insert(at, verdict);
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(worker);
            worker();
        });
        let verdicts = gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        let rare = set_aside().expect("what is set aside");
        let rare: Vec<(Vec<Kind>, Regex)> =
            rare.into_iter().map(|one| (one.kinds, Regex::new(&one.pattern).expect("a pattern"))).collect();
        let fits = |found: &Found, (kinds, pattern): &(Vec<Kind>, Regex)| {
            kinds.contains(&found.kind) && pattern.is_match(&found.text).is_ok_and(|is| is)
        };
        let aside = corpus.iter().map(|found| rare.iter().any(|one| fits(found, one))).collect();
        Self { judged: corpus.into_iter().zip(verdicts.into_values()).collect(), aside }
    }

    /// How the commands of a kind came out; of all without one.
    pub fn count(&self, kind: Option<Kind>) -> Count {
        self.counted(kind, true)
    }

    /// The same of everyday use alone.
    pub fn everyday(&self, kind: Option<Kind>) -> Count {
        self.counted(kind, false)
    }

    fn counted(&self, kind: Option<Kind>, all: bool) -> Count {
        let mut count = Count::default();
        for ((found, verdict), aside) in self.judged.iter().zip(&self.aside) {
            if kind.is_none_or(|kind| kind == found.kind) && (all || !aside) {
                count.add(verdict);
            }
        }
        count
    }

    /// The blocked and asked ones, and whether they are set aside.
    pub fn touched(&self) -> impl Iterator<Item = (&Found, &Verdict, bool)> {
        let judged = self.judged.iter().zip(&self.aside).map(|((found, verdict), aside)| (found, verdict, *aside));
        judged.filter(|(_, verdict, _)| verdict.stopped.is_some())
    }

    /// Which rules fired how often in everyday use, the most frequent first.
    pub fn rules(&self) -> Vec<(&str, usize)> {
        let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
        for rule in self.touched().filter(|(.., aside)| !aside).filter_map(|(_, verdict, _)| verdict.rules.first()) {
            *rules.entry(rule).or_default() += 1;
        }
        let mut rules: Vec<_> = rules.into_iter().collect();
        rules.sort_by_key(|(rule, count)| (std::cmp::Reverse(*count), *rule));
        rules
    }

    /// The figures, for programs.
    pub fn figures(&self) -> Value {
        let kinds = extract::KINDS.iter().map(
            |kind| json!({ "kind": kind, "count": self.count(Some(*kind)), "everyday": self.everyday(Some(*kind)) }),
        );
        json!({
            "kinds": kinds.collect::<Vec<_>>(),
            "all": self.count(None),
            "touched_percent": self.count(None).touched_percent(),
            "everyday": self.everyday(None),
            "everyday_touched_percent": self.everyday(None).touched_percent(),
            "rules": self.rules(),
        })
    }
}
