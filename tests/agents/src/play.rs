//! One run, inside the sandbox: starts the model, sets the agent up, runs it, and writes down what happened. It says
//! nothing of good or bad.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client::{self, Client};
use crate::model::{Before, Model};
use crate::place::{GUARD, HOME, LINK, LOG, PLUGIN, RUNTIME, WORK, write};
use crate::scenario::{Scenario, Trouble};
use crate::tmux::Tmux;

/// How long an agent may run.
pub const DEADLINE: Duration = Duration::from_secs(150);

/// What happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Why Toolgate could not be set up.
    pub missing: Option<String>,
    /// What the model was told about each call.
    pub told: Vec<String>,
    /// The last request that says what became of the calls, as JSON.
    pub heard: String,
    /// What the terminal that Toolgate shares shows afterwards; empty if there is none.
    pub pane: String,
    /// Whether each path below the home folder is there afterwards.
    pub there: BTreeMap<String, bool>,
    /// The highest step that the model was asked for.
    pub reached: usize,
    /// How many processes or files the trouble befell.
    pub hit: usize,
    /// Wall time of the agent.
    pub seconds: f64,
    /// Its exit code, or what ended it.
    pub end: String,
    /// It ended by itself.
    pub ended: bool,
}

impl Record {
    /// What kept the script from being played to its end.
    pub(crate) fn fault(&self, steps: usize) -> Option<String> {
        if !self.ended {
            Some(format!("the agent did not end within {} s", DEADLINE.as_secs()))
        } else if self.reached < steps {
            Some(format!("the agent came to step {} of {steps} and ended with {}", self.reached, self.end))
        } else {
            None
        }
    }
}

/// Plays a scenario.
pub fn play(client: &'static dyn Client, scenario: &'static Scenario, guarded: bool) -> io::Result<Record> {
    let steps = scenario.calls(client, guarded).ok_or_else(|| io::Error::other("the agent has no such tool"))?;
    let (reached, hit) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let before: Before = Box::new({
        let (reached, hit) = (Arc::clone(&reached), Arc::clone(&hit));
        move |step| {
            reached.fetch_max(step, Ordering::SeqCst);
            if step == 1 && guarded {
                hit.fetch_add(befall(scenario.trouble), Ordering::SeqCst);
            }
        }
    });
    let model = Model::start(steps, before)?;
    for (path, text) in client.settings(&model.url()) {
        write(&Path::new(HOME).join(path), &text)?;
    }
    let missing = if guarded { set_up(client, scenario)? } else { None };
    let tmux = if guarded && scenario.shared.is_some() { Some(Tmux::start()?) } else { None };
    let mut environment = client.environment(&model.url());
    for (name, value) in tmux.iter().flat_map(Tmux::environment) {
        environment.push((name, value.to_owned()));
    }
    let start = Instant::now();
    let end = if missing.is_none() { run(client, scenario, guarded, environment)? } else { None };
    let seconds = start.elapsed().as_secs_f64();
    let (told, heard) = model.told();
    let requests: Vec<String> = model.requests().iter().map(|(path, body)| format!("{path} {body}")).collect();
    fs::write(Path::new(LOG).join("requests.txt"), requests.join("\n"))?;
    let there = |path: &str| (path.to_owned(), fs::symlink_metadata(Path::new(HOME).join(path)).is_ok());
    Ok(Record {
        ended: end.is_some() || missing.is_some(),
        missing,
        told,
        heard,
        pane: tmux.map_or_else(|| Ok(String::new()), |tmux| tmux.shown())?,
        there: scenario.paths().map(there).collect(),
        reached: reached.load(Ordering::SeqCst),
        hit: hit.load(Ordering::SeqCst),
        seconds,
        end: end.map_or_else(|| "nothing".into(), |status| status.to_string()),
    })
}

/// Runs the agent; `None` if it does not end. What is left of it ends with the sandbox.
fn run(
    client: &dyn Client,
    scenario: &Scenario,
    guarded: bool,
    environment: Vec<(&'static str, String)>,
) -> io::Result<Option<ExitStatus>> {
    let folder = if scenario.trouble == Trouble::Linked { LINK } else { WORK };
    let words = client::command(client);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(client.arguments(guarded));
    command.envs(environment).current_dir(folder).env("PWD", folder);
    command.stdin(Stdio::null());
    command.stdout(File::create(Path::new(LOG).join("stdout"))?);
    command.stderr(File::create(Path::new(LOG).join("stderr"))?);
    let mut child = command.spawn()?;
    let (sender, receiver) = mpsc::channel();
    // Nobody waits for this thread when the agent hangs.
    std::thread::spawn(move || sender.send(child.wait()));
    receiver.recv_timeout(DEADLINE).ok().transpose()
}

/// Installs Toolgate for the agent, as its user would, or says what this Toolgate cannot do.
fn set_up(client: &dyn Client, scenario: &Scenario) -> io::Result<Option<String>> {
    if !says(&["install", "--help"], client.name())? {
        return Ok(Some("this Toolgate cannot be installed for the agent".into()));
    }
    if scenario.plugin && !Path::new(PLUGIN).exists() {
        return Ok(Some("there is no plugin; the build of `toolgate-test-components` makes it".into()));
    }
    let options = ["--plugin", PLUGIN, "--rewrite"];
    let mut install = Command::new(GUARD);
    install.args(["install", client.name(), "--user"]).current_dir(WORK);
    if scenario.plugin && !client.session() {
        install.args(options);
    }
    if scenario.shared.is_some() {
        match client.server() {
            Some((path, text)) => add(&Path::new(HOME).join(path), &text)?,
            None => {
                install.arg("--terminal");
            }
        }
    }
    let out = install.output()?;
    fs::write(Path::new(LOG).join("install"), [&out.stdout[..], &out.stderr].concat())?;
    if !out.status.success() {
        return Err(io::Error::other(format!("toolgate install: {}", String::from_utf8_lossy(&out.stderr))));
    }
    if scenario.trouble == Trouble::BadRules {
        write(&Path::new(HOME).join(".config/toolgate/toolgate.yaml"), "bashToolPatterns: [\n  - {\n")?;
    }
    if scenario.trouble == Trouble::ReadOnly {
        let kept = [".config/toolgate", ".local/state/toolgate", ".local/share/toolgate", ".cache/toolgate"];
        let folders = kept.map(|path| Path::new(HOME).join(path));
        for folder in folders.iter().map(PathBuf::as_path).chain([Path::new(RUNTIME)]) {
            fs::create_dir_all(folder)?;
            fs::set_permissions(folder, Permissions::from_mode(0o500))?;
        }
    }
    if scenario.plugin && client.session() {
        // Its plugin starts the host without options.
        let real = format!("{GUARD}.real");
        fs::rename(GUARD, &real)?;
        replace(&format!("#!/bin/sh\nexec {real} \"$@\" {}\n", options.join(" ")))?;
    }
    Ok(None)
}

/// Adds settings to a file, which may be there: the keys of a JSON object, or lines.
fn add(path: &Path, text: &str) -> io::Result<()> {
    let there = fs::read_to_string(path).unwrap_or_default();
    let Ok(Value::Object(more)) = serde_json::from_str(text) else { return write(path, &(there + text)) };
    let mut whole: serde_json::Map<String, Value> = serde_json::from_str(&there).unwrap_or_default();
    whole.extend(more);
    write(path, &Value::Object(whole).to_string())
}

/// Whether a call of Toolgate prints that text.
fn says(arguments: &[&str], text: &str) -> io::Result<bool> {
    let out = Command::new(GUARD).args(arguments).output()?;
    Ok(String::from_utf8_lossy(&out.stdout).contains(text))
}

/// Brings the trouble about, and says how many processes or files it befell.
fn befall(trouble: Trouble) -> usize {
    match trouble {
        Trouble::None | Trouble::BadRules | Trouble::ReadOnly | Trouble::Linked => 0,
        Trouble::HostKilled => signal("KILL"),
        Trouble::HostStopped => signal("STOP"),
        Trouble::HookHangs => {
            let replaced = replace("#!/bin/sh\nexec sleep 1000\n").is_ok();
            signal("KILL");
            usize::from(replaced)
        }
        Trouble::HookMissing => {
            let removed = fs::remove_file(GUARD).is_ok();
            signal("KILL");
            usize::from(removed)
        }
    }
}

/// Puts a script in the place of the command. It is moved there, for the command may be running.
fn replace(script: &str) -> io::Result<()> {
    let new = format!("{GUARD}.new");
    fs::write(&new, script)?;
    fs::set_permissions(&new, Permissions::from_mode(0o755))?;
    fs::rename(&new, GUARD)
}

/// Sends a signal to every host, and says how many there were.
fn signal(name: &str) -> usize {
    let hosts = hosts();
    // The sandbox has its own process numbers: no other Toolgate can be met.
    let sent = |pid: &&String| {
        Command::new("sh").args(["-c", &format!("kill -{name} {pid}")]).status().is_ok_and(|status| status.success())
    };
    hosts.iter().filter(sent).count()
}

/// The process numbers of all `toolgate serve`.
fn hosts() -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let paths = processes.flatten().map(|entry| entry.path());
    let host = |path: &PathBuf| {
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        words.next().is_some_and(|word| word.ends_with(b"toolgate") || word.ends_with(b"toolgate.real"))
            && words.next() == Some(b"serve")
    };
    paths.filter(host).filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect()
}
