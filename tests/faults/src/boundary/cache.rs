//! The machine code of plugins that is kept: whatever is wrong with it, it is made anew, or the call does not run.

use std::fs;
use std::path::{Path, PathBuf};

use toolgate_terminal_tests::wait::until;

use super::{Fault, entries, fault};
use crate::Error;
use crate::call::{Hook, Kind};
use crate::spoil::Saved;
use crate::trial::Trial;

/// What the build leaves: a plugin with no opinion on most calls, and another component.
const PLUGIN: &str = "test-plugin/guest.wasm";
const OTHER: &str = "test-guest/guest.wasm";

pub(super) fn faults() -> Vec<Fault> {
    let mut all = entries::faults(ready, |trial| trial.calls());
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

/// A component that the build leaves beside the command.
fn built(path: &str) -> Result<PathBuf, Error> {
    let path = toolgate_test_components::target().join(path);
    if path.is_file() { Ok(path) } else { Err(Error::LeftOut(format!("there is no {}", path.display()))) }
}
