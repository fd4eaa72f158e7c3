//! What may become of files that are checked when they are read, and of their folder: what is wrong is made anew.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Fault, fault};
use crate::Error;
use crate::spoil::{self, Saved};
use crate::trial::Trial;

/// Has an entry there, and says where.
pub(super) type Ready = fn(&mut Trial) -> Result<PathBuf, Error>;

/// Makes calls that are judged by what it is of.
pub(super) type Calls = fn(&mut Trial) -> Result<(), Error>;

/// The faults of entries of a kind.
pub(super) fn faults(ready: Ready, calls: Calls) -> Vec<Fault> {
    let mut all: Vec<Fault> = spoil::ALL
        .iter()
        .map(|(how, spoil)| {
            fault(format!("an entry is {how}"), move |trial| {
                let entry = ready(trial)?;
                spoil(&entry)?;
                calls(trial)?;
                Ok(spoil::remove(&entry)?)
            })
        })
        .collect();
    all.push(fault("entries come and go during calls", move |trial| {
        let entry = ready(trial)?;
        let saved = Saved::of(&entry)?;
        trial.while_calls(|_| {
            for (_, spoil) in spoil::ALL {
                spoil::remove(&entry)?;
                saved.restore()?;
                // Whoever finds it wrong puts another one in its place at the same time.
                let _ = spoil(&entry);
            }
            Ok(spoil::remove(&entry)?)
        })?;
        calls(trial)
    }));
    all.push(fault("its folder is a file", move |trial| {
        let folder = folder(&ready(trial)?);
        fs::remove_dir_all(&folder)?;
        fs::write(&folder, "")?;
        calls(trial)?;
        Ok(fs::remove_file(folder)?)
    }));
    all.push(fault("its folder is open to everyone", move |trial| {
        let folder = folder(&ready(trial)?);
        fs::set_permissions(&folder, Permissions::from_mode(0o777))?;
        calls(trial)?;
        Ok(fs::set_permissions(folder, Permissions::from_mode(0o700))?)
    }));
    all.push(fault("its folder is removed during calls", move |trial| {
        let folder = folder(&ready(trial)?);
        trial.while_calls(|_| Ok(fs::remove_dir_all(folder)?))?;
        calls(trial)
    }));
    all.push(fault("its folder cannot be written to", move |trial| {
        let entry = ready(trial)?;
        let folder = folder(&entry).display().to_string();
        fs::remove_file(entry)?;
        trial.call_with(|hook| hook.through(&["bwrap", "--dev-bind", "/", "/", "--ro-bind", &folder, &folder]));
        calls(trial)
    }));
    all
}

fn folder(entry: &Path) -> PathBuf {
    entry.parent().unwrap_or(entry).to_owned()
}
