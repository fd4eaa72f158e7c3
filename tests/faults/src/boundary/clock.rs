//! The clock jumps: files from the future and from 1970, and `libfaketime` for the calls themselves.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Fault, fault};
use crate::Error;
use crate::trial::Trial;

/// What the library calls such a time, and when that is for a person.
const TIMES: [(&str, &str); 6] = [
    ("-1d", "a day ago"),
    ("+1d", "tomorrow"),
    ("+400d", "in a year"),
    ("@1970-01-01 00:00:05", "1970"),
    ("@2037-12-31 23:59:59", "the end of 2037"),
    ("+0 x5000", "running away"),
];

/// What comes before a call.
const FAKETIME: [&str; 2] = ["faketime", "-f"];

pub(super) fn faults() -> Vec<Fault> {
    let far = Duration::from_secs(400 * 24 * 60 * 60);
    let of_files = [("in a year", SystemTime::now() + far), ("1970", UNIX_EPOCH + Duration::from_secs(5))];
    let mut all = Vec::from(of_files.map(|(when, time)| {
        fault(format!("all that is kept is from {when}"), move |trial| {
            let _host = super::resident::ready(trial)?;
            trial.world.write("home/.config/toolgate/toolgate.yaml", "rules: []\n")?;
            trial.calls()?;
            aged(&trial.world.home(), time)?;
            aged(&trial.world.at("run"), time)?;
            trial.calls()
        })
    }));
    all.extend(TIMES.map(|(time, when)| {
        fault(format!("it is {when}"), move |trial| {
            faked(trial)?;
            trial.calls()?;
            trial.call_with(|hook| hook.through(&FAKETIME).through(&[time]));
            trial.while_calls(|_| Ok(()))
        })
    }));
    all.push(fault("it jumps during calls", |trial| {
        faked(trial)?;
        let file = trial.world.write("time", "+0")?;
        // Each looks at the file anew whenever it asks for the time.
        trial.call_with(|hook| {
            let hook = hook.with("FAKETIME_TIMESTAMP_FILE", &file).with("FAKETIME_NO_CACHE", "1");
            hook.through(&["sh", "-c", "unset FAKETIME; exec \"$@\"", "sh"])
        });
        let library = library()?;
        trial.call_with(|hook| hook.through(&["env", &format!("LD_PRELOAD={}", library.display())]));
        trial.while_calls(|_| {
            for time in ["+1d", "-1d", "+400d", "-400d", "@1970-01-01 00:00:05", "+0"].iter().cycle().take(600) {
                let new = file.with_extension("new");
                fs::write(&new, format!("{time}\n"))?;
                fs::rename(new, &file)?;
            }
            Ok(())
        })
    }));
    all
}

/// Has the calendar faked and not what deadlines are measured by, as when a clock is set.
fn faked(trial: &mut Trial) -> Result<(), Error> {
    match Command::new("faketime").arg("--version").output() {
        Ok(_) => trial.call_with(|hook| hook.with("FAKETIME_DONT_FAKE_MONOTONIC", "1")),
        Err(error) => return Err(Error::LeftOut(format!("faketime: {error}"))),
    }
    Ok(())
}

/// Where the library is that the program loads.
fn library() -> Result<PathBuf, Error> {
    let said = Command::new("faketime").args(["-f", "+0", "sh", "-c", "printf %s \"$LD_PRELOAD\""]).output()?;
    let named = String::from_utf8_lossy(&said.stdout).into_owned();
    let path = named.split([':', ' ']).find(|path| path.contains("faketime")).map(PathBuf::from);
    path.ok_or_else(|| Error::LeftOut("faketime does not say where its library is".to_owned()))
}

/// Sets the time of all files below a folder.
fn aged(folder: &Path, time: SystemTime) -> Result<(), Error> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            aged(&entry.path(), time)?;
        } else if kind.is_file() {
            File::options().write(true).open(entry.path())?.set_modified(time)?;
        }
    }
    Ok(())
}
