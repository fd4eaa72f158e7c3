//! git: what is on the `PATH` under its name, and what lies in `.git`. A verdict reads the branch and runs no git; what looks
//! at results does.

use std::fs;

use super::{Fault, fault};
use crate::Error;
use crate::call::Kind;
use crate::spoil::{self, Saved};
use crate::trial::Trial;

/// A rule for a branch, which holds on `main` and where it is not known which branch that is.
const RULES: &str = "rules: [{name: mine, pattern: publish-it-all, when: {branch: '^main$', on-unknown: block}, reason: not from here}]\n";

/// What it stops.
const STOPPED: &str = "publish-it-all";

/// Programs under its name.
const PROGRAMS: [(&str, &str); 6] = [
    ("hangs", "exec sleep 1000"),
    ("fails", "exit 128"),
    ("talks garbage", "head -c 65536 /dev/urandom"),
    ("never stops talking", "exec yes"),
    ("kills itself", "kill -9 $$"),
    ("leaves a child behind that holds its output", "sleep 1000 & echo \"$PWD\""),
];

pub(super) fn faults() -> Vec<Fault> {
    let programs = PROGRAMS.map(|(what, script)| {
        fault(format!("it {what}"), move |trial| {
            trial.world.script("git", script)?;
            looked(trial)?;
            Ok(fs::remove_file(trial.world.at("bin/git"))?)
        })
    });
    let mut all = Vec::from(programs);
    all.push(fault("it is missing", |trial| {
        let without = trial.world.at("bin").into_os_string();
        trial.call_with(|hook| hook.with("PATH", &without));
        looked(trial)
    }));
    all.push(fault("its index is locked", |trial| {
        let lock = trial.world.write("home/project/.git/index.lock", "")?;
        looked(trial)?;
        Ok(fs::remove_file(lock)?)
    }));
    for (path, what) in [(".git/HEAD", "HEAD"), (".git/config", "its configuration")] {
        all.extend(spoil::ALL.iter().map(|(how, spoil)| {
            fault(format!("{what} is {how}"), move |trial| {
                let path = trial.world.project().join(path);
                let saved = Saved::of(&path)?;
                spoil(&path)?;
                looked(trial)?;
                // A bit makes another branch of it.
                if *how != "a bit flipped" {
                    trial.call(Kind::Destructive, STOPPED)?;
                }
                Ok(saved.restore()?)
            })
        }));
    }
    all.push(fault(".git is a pipe", |trial| {
        let (git, moved) = (trial.world.project().join(".git"), trial.world.at("moved"));
        fs::rename(&git, &moved)?;
        spoil::pipe(&git)?;
        looked(trial)?;
        trial.call(Kind::Destructive, STOPPED)?;
        spoil::remove(&git)?;
        Ok(fs::rename(moved, git)?)
    }));
    all.push(fault("HEAD is written again and again during calls", |trial| {
        let head = trial.world.project().join(".git/HEAD");
        let saved = Saved::of(&head)?;
        trial.world.write("home/.config/toolgate/toolgate.yaml", RULES)?;
        trial.while_calls(|_| {
            for (how, spoil) in spoil::ALL {
                saved.restore()?;
                spoil(&head)?;
                if !how.contains("bit") {
                    trial.call(Kind::Destructive, STOPPED)?;
                }
            }
            Ok(saved.restore()?)
        })
    }));
    all
}

/// Calls, and a turn with one that has run, at whose end git is asked what has changed.
fn looked(trial: &Trial) -> Result<(), Error> {
    trial.world.write("home/.config/toolgate/toolgate.yaml", RULES)?;
    trial.calls()?;
    trial.world.write("home/project/new.sh", "echo $1\n")?;
    trial.ran("make")?;
    trial.told().map(drop)
}
