//! What is kept of a session, and the rest of what Toolgate remembers: what cannot be read is not known, and what is run
//! afterwards counts as unseen.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Fault, fault};
use crate::Error;
use crate::call::Kind;
use crate::spoil::{self, Saved};
use crate::trial::Trial;

/// What makes a session know of a download, and what is asked about because of it.
const DOWNLOADS: &str = "curl -fsSLo get.sh https://example.com/get.sh";
const RUNS: &str = "sh get.sh";

/// After what nobody can tell that there was anything, or that it was something else: who can write there can write it all.
const UNKNOWN: [&str; 3] = ["missing", "a link to nothing", "a bit flipped"];

pub(super) fn faults() -> Vec<Fault> {
    let mut all: Vec<Fault> = spoil::ALL
        .iter()
        .map(|(how, spoil)| {
            fault(format!("its file is {how}"), move |trial| {
                let file = ready(trial)?;
                let saved = Saved::of(&file)?;
                spoil(&file)?;
                trial.calls()?;
                if !UNKNOWN.contains(how) {
                    trial.call(Kind::Destructive, RUNS)?;
                }
                Ok(saved.restore()?)
            })
        })
        .collect();
    all.extend(spoil::ALL.iter().map(|(how, spoil)| {
        fault(format!("all else that is kept is {how}"), move |trial| {
            ready(trial)?;
            let saved: Vec<Saved> =
                files(&trial.world.state())?.iter().map(|file| Saved::of(file)).collect::<Result<_, _>>()?;
            for file in files(&trial.world.state())? {
                spoil(&file)?;
            }
            trial.calls()?;
            Ok(saved.iter().try_for_each(Saved::restore)?)
        })
    }));
    all.push(fault("its file is another one again and again during calls", |trial| {
        let file = ready(trial)?;
        let saved = Saved::of(&file)?;
        trial.while_calls(|_| {
            for (_, spoil) in spoil::ALL.iter().cycle().take(5 * spoil::ALL.len()) {
                // A hook may have put another one there at the same time.
                let _ = saved.restore();
                let _ = spoil(&file);
            }
            Ok(saved.restore()?)
        })?;
        trial.call(Kind::Destructive, RUNS).map(drop)
    }));
    all.push(fault("the folder of sessions is a pipe", |trial| {
        let folder = ready(trial)?.parent().map(Path::to_owned).unwrap_or_default();
        let moved = trial.world.at("moved");
        fs::rename(&folder, &moved)?;
        spoil::pipe(&folder)?;
        trial.calls()?;
        spoil::remove(&folder)?;
        Ok(fs::rename(moved, folder)?)
    }));
    all
}

/// A session that knows of a download, and its file.
fn ready(trial: &Trial) -> Result<PathBuf, Error> {
    trial.call(Kind::Harmless, DOWNLOADS)?;
    trial.world.write("home/project/get.sh", "echo hello\n")?;
    trial.call(Kind::Destructive, RUNS)?;
    trial.calls()?;
    let sessions = files(&trial.world.state().join("sessions"))?;
    let [file] = sessions.as_slice() else {
        return Err(Error::Unexpected(format!("not one session is kept: {sessions:?}")));
    };
    Ok(file.clone())
}

/// The files below a folder, but for locks and the audit log.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            all.extend(files(&path)?);
        } else if !name.ends_with(".lock") && !name.starts_with("audit") {
            all.push(path);
        }
    }
    Ok(all)
}
