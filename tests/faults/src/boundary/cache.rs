//! The machine code of plugins that is kept: whatever is wrong with it, it is made anew, or the call does not run.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use toolgate_terminal_tests::scene::program;
use toolgate_terminal_tests::wait::until;

use super::{Fault, fault};
use crate::Error;
use crate::call::{Hook, Kind};
use crate::spoil::{self, Saved};
use crate::trial::Trial;

/// What the build leaves: a plugin with no opinion on most calls, and another component.
const PLUGIN: &str = "test-plugin/guest.wasm";
const OTHER: &str = "test-guest/guest.wasm";

pub(super) fn faults() -> Vec<Fault> {
    let mut all: Vec<Fault> = spoil::ALL
        .iter()
        .map(|(how, spoil)| {
            fault(format!("an entry is {how}"), move |trial| {
                let entry = ready(trial)?;
                spoil(&entry)?;
                trial.calls()?;
                Ok(spoil::remove(&entry)?)
            })
        })
        .collect();
    all.push(fault("an entry is another component's", |trial| {
        let entry = ready(trial)?;
        let (one, other) = (Saved::of(&entry)?, trial.world.write("other.wasm", fs::read(built(OTHER)?)?)?);
        fs::remove_file(&entry)?;
        let hook = with(trial.world.hook(), &other);
        let another = kept(trial, &hook)?;
        one.restore()?;
        fs::copy(another, &entry)?;
        trial.calls()
    }));
    all.push(fault("entries come and go during calls", |trial| {
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
        })
    }));
    all.push(fault("its folder is a file", |trial| {
        let folder = folder(&ready(trial)?);
        fs::remove_dir_all(&folder)?;
        fs::write(&folder, "")?;
        trial.calls()?;
        Ok(fs::remove_file(folder)?)
    }));
    all.push(fault("its folder is open to everyone", |trial| {
        let folder = folder(&ready(trial)?);
        fs::set_permissions(&folder, Permissions::from_mode(0o777))?;
        trial.calls()?;
        Ok(fs::set_permissions(folder, Permissions::from_mode(0o700))?)
    }));
    all.push(fault("its folder is removed during calls", |trial| {
        let folder = folder(&ready(trial)?);
        trial.while_calls(|_| Ok(fs::remove_dir_all(folder)?))
    }));
    all.push(fault("its folder cannot be written to", |trial| {
        let entry = ready(trial)?;
        let folder = folder(&entry).display().to_string();
        fs::remove_file(entry)?;
        trial.call_with(|hook| hook.through(&["bwrap", "--dev-bind", "/", "/", "--ro-bind", &folder, &folder]));
        trial.calls()
    }));
    all.push(fault("the plugin itself is missing", |trial| {
        ready(trial)?;
        let plugin = trial.world.at("plugin.wasm");
        let saved = Saved::of(&plugin)?;
        fs::remove_file(&plugin)?;
        trial.calls()?;
        Ok(saved.restore()?)
    }));
    all
}

/// Calls that a plugin judges, too, whose code is kept in this file.
fn ready(trial: &mut Trial) -> Result<PathBuf, Error> {
    let plugin = PathBuf::from(plugin(trial)?);
    trial.always(|hook| with(hook, &plugin));
    kept(trial, &trial.hook)
}

/// A plugin whose code is not kept yet.
pub(super) fn plugin(trial: &Trial) -> Result<String, Error> {
    Ok(trial.world.write("plugin.wasm", fs::read(built(PLUGIN)?)?)?.display().to_string())
}

fn with(hook: Hook, plugin: &Path) -> Hook {
    hook.arguments(&["--plugin", &plugin.display().to_string()])
}

/// Where the code of a hook's plugin is kept, once it is: a hook may have no time to compile it.
fn kept(trial: &Trial, hook: &Hook) -> Result<PathBuf, Error> {
    let code = trial.world.state().join("plugins/code");
    Ok(until("machine code that is kept", || {
        hook.call(Kind::Harmless, "ls", "")
            .map_err(|error| toolgate_terminal_tests::Error::Nonsense(error.to_string()))?;
        let mut entries = fs::read_dir(&code).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        Ok(entries.find(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))))
    })?)
}

fn folder(entry: &Path) -> PathBuf {
    entry.parent().unwrap_or(entry).to_owned()
}

/// A component that the build leaves beside the command.
fn built(path: &str) -> Result<PathBuf, Error> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.or_else(|| Some(program().ok()?.parent()?.parent()?.to_owned())).unwrap_or_default();
    let path = target.join(path);
    if path.is_file() { Ok(path) } else { Err(Error::LeftOut(format!("there is no {}: `just guest`", path.display()))) }
}
