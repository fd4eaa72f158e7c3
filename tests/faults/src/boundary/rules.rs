//! Rule files: half-written, replaced while calls run, or no files at all. What cannot be used as a whole counts as it last
//! was, and the built-in rules hold in any case.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::{Fault, fault};
use crate::Error;
use crate::call::Kind;
use crate::spoil::{self, Saved};
use crate::trial::Trial;

/// A rule of somebody's own. Cut in half it is no YAML.
const RULES: &str =
    "rules: [{name: mine, pattern: publish-it-all, reason: \"only people do that, and never on a Friday\"}]\n";

/// What it stops.
const STOPPED: &str = "publish-it-all";

/// After what there is still a file which says that it cannot be used.
const STANDS: [&str; 6] =
    ["cut in half", "garbage", "a gigabyte of nothing", "a folder", "a pipe", "a link to an endless file"];

/// Where rule files are, in the home folder.
const PLACES: [(&str, &str); 3] = [
    ("the user's file", ".config/toolgate/toolgate.yaml"),
    ("the project's file", "project/toolgate.yaml"),
    ("the table of tools", ".config/toolgate/tools.yaml"),
];

pub(super) fn faults() -> Vec<Fault> {
    let mut all = Vec::new();
    for (what, place) in PLACES {
        all.extend(spoil::ALL.iter().map(|(how, spoil)| {
            fault(format!("{what} is {how}"), move |trial| {
                let saved = ready(trial, place)?;
                spoil(&trial.world.home().join(place))?;
                trial.calls()?;
                if STANDS.contains(how) && !place.ends_with("tools.yaml") {
                    trial.call(Kind::Destructive, STOPPED)?;
                }
                Ok(saved.restore()?)
            })
        }));
        all.push(fault(format!("{what} is another one again and again during calls"), move |trial| {
            let saved = ready(trial, place)?;
            let path = trial.world.home().join(place);
            trial.while_calls(|_| {
                for (_, spoil) in spoil::ALL.iter().cycle().take(5 * spoil::ALL.len()) {
                    saved.restore()?;
                    spoil(&path)?;
                }
                Ok(saved.restore()?)
            })
        }));
        all.push(fault(format!("{what} cannot be read"), move |trial| {
            let saved = ready(trial, place)?;
            let words = trial.world.without_root()?;
            let through: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
            trial.always(|hook| hook.through(&through));
            let path = trial.world.home().join(place);
            fs::set_permissions(&path, Permissions::from_mode(0o000))?;
            trial.calls()?;
            fs::set_permissions(&path, Permissions::from_mode(0o644))?;
            drop(saved);
            Ok(())
        }));
    }
    all.push(fault("the folder of the user's files is a pipe", |trial| {
        ready(trial, PLACES[0].1)?;
        let (folder, moved) = (trial.world.configuration(), trial.world.at("moved"));
        fs::rename(&folder, &moved)?;
        spoil::pipe(&folder)?;
        trial.calls()?;
        spoil::remove(&folder)?;
        Ok(fs::rename(moved, folder)?)
    }));
    all.push(fault("the copies of what they last were are garbage", |trial| {
        ready(trial, PLACES[0].1)?;
        for entry in fs::read_dir(trial.world.state().join("rules"))? {
            spoil::garbage(&entry?.path())?;
        }
        trial.calls()?;
        trial.call(Kind::Destructive, STOPPED).map(drop)
    }));
    all
}

/// A file that is in force, and whose copy is kept.
fn ready(trial: &Trial, place: &str) -> Result<Saved, Error> {
    let content =
        if place.ends_with("tools.yaml") { "claude:\n  Publish: {kind: shell, command: [text]}\n" } else { RULES };
    let path = trial.world.write(&format!("home/{place}"), content)?;
    trial.calls()?;
    Ok(Saved::of(&path)?)
}
