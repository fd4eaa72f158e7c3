//! What a process is started with: the home folder, the folders of the desktop's convention, the current folder, the `PATH`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;

use super::{Fault, fault};
use crate::Error;
use crate::call::Hook;
use crate::trial::Trial;

/// What a variable may be other than a folder that is there.
const VALUES: [(&str, &str); 6] = [
    ("empty", ""),
    ("relative", "home"),
    ("a folder that is not there", ""),
    ("a file", ""),
    ("a folder of the kernel's", "/proc"),
    ("very long", ""),
];

const VARIABLES: [&str; 7] =
    ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "TMPDIR", "PATH"];

pub(super) fn faults() -> Vec<Fault> {
    let mut all = Vec::new();
    for name in VARIABLES {
        all.extend(VALUES.map(|(how, value)| {
            fault(format!("{name} is {how}"), move |trial| {
                let value = match how {
                    "very long" => format!("/{}", "long/".repeat(2_000)),
                    "a file" => trial.world.write("file", "")?.display().to_string(),
                    "a folder that is not there" => trial.world.at("nowhere/folder").display().to_string(),
                    _ => value.to_owned(),
                };
                changed(trial, name, |hook| hook.with(name, &value))
            })
        }));
        all.push(fault(format!("{name} is not set"), move |trial| changed(trial, name, |hook| hook.without(name))));
        all.push(fault(format!("{name} is no text"), move |trial| {
            let value = OsString::from_vec(b"/tmp/\xff\xfe".to_vec());
            changed(trial, name, |hook| hook.with(name, value.clone()))
        }));
    }
    all.push(fault("the current folder is removed", |trial| {
        let gone = trial.world.at("gone").display().to_string();
        let script = "mkdir -p \"$GONE.$$\" && cd \"$GONE.$$\" && rmdir \"$GONE.$$\" && exec \"$@\"";
        trial.call_with(|hook| hook.with("GONE", &gone).through(&["sh", "-c", script, "sh"]));
        trial.while_calls(|_| Ok(()))
    }));
    all.push(fault("the current folder cannot be read", |trial| {
        let words = trial.world.without_root()?;
        let through: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        trial.always(|hook| hook.through(&through));
        let script = "mkdir -p \"$SHUT.$$\" && cd \"$SHUT.$$\" && chmod 0 . && exec \"$@\"";
        let shut = trial.world.at("tmp/shut").display().to_string();
        trial.call_with(|hook| hook.with("SHUT", &shut).through(&["sh", "-c", script, "sh"]));
        trial.calls()
    }));
    all.push(fault("the project's folder is not there", |trial| {
        trial.hook.project = trial.world.at("nowhere");
        trial.calls()
    }));
    all.push(fault("the project's folder is removed during calls", |trial| {
        let (project, moved) = (trial.world.project(), trial.world.at("moved"));
        trial.hook.folder = trial.world.home();
        trial.while_calls(|_| {
            for _ in 0..100 {
                fs::rename(&project, &moved)?;
                fs::rename(&moved, &project)?;
            }
            Ok(fs::rename(&project, &moved)?)
        })?;
        Ok(fs::rename(moved, project)?)
    }));
    all
}

/// Calls with another variable. Where the log is follows from some of them, so that what is denied may be missing there.
fn changed(trial: &mut Trial, name: &str, change: impl Fn(Hook) -> Hook) -> Result<(), Error> {
    if name == "HOME" {
        // Without it the password file says where that is, and nothing is to be written there.
        for (name, folder) in [("XDG_CONFIG_HOME", ".config"), ("XDG_STATE_HOME", ".local/state")] {
            let folder = trial.world.home().join(folder);
            trial.call_with(|hook| hook.with(name, &folder));
        }
    }
    if name == "XDG_RUNTIME_DIR" {
        trial.call_with(|hook| hook.with("TOOLGATE_NO_SERVE", ""));
    }
    trial.unlogged = true;
    trial.elsewhere = name == "XDG_STATE_HOME";
    trial.call_with(change);
    trial.calls()
}
