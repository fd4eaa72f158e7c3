//! The shared terminal: the tmux server, its panes, and what is on the `PATH` under its name. A call is answered in its time,
//! and what is not to run is not typed.

use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use toolgate_terminal_tests::mcp::{Answer, Client};
use toolgate_terminal_tests::scene::Scene;
use toolgate_terminal_tests::shell::{Prompt, Shell, missing};
use toolgate_terminal_tests::wait::{LIMIT, until_so};

use super::{Fault, fault};
use crate::Error;
use crate::call::{Kind, Outcome, Said};
use crate::trial::Trial;

/// What must not be typed.
const DESTRUCTIVE: [&str; 2] = ["cat ~/.ssh/id_rsa", "git push --force"];

/// What runs while something happens, and how it is known that it does.
const LONG: &str = "echo be''gun; sleep 4; echo ended";
const BEGUN: &str = "begun";

/// The real one, behind the first folder of the `PATH`.
const REAL: &str = "PATH=${PATH#*:}; exec tmux \"$@\"";

/// Programs under its name.
const PROGRAMS: [(&str, &str); 5] = [
    ("hangs", "exec sleep 1000"),
    ("fails", "exit 1"),
    ("talks garbage", "head -c 65536 /dev/urandom"),
    ("never stops talking", "exec yes"),
    ("kills itself", "kill -9 $$"),
];

pub(super) fn faults() -> Vec<Fault> {
    let mut all = vec![
        fault("its server is killed during a call", |trial| {
            let scene = scene()?;
            let mut client = client(trial, &scene)?;
            during(trial, &scene, &mut client, || Ok(kill_process(server(&scene)?, Signal::KILL)?))?;
            under(trial, &mut client);
            let again = self::scene()?;
            works(trial, &mut self::client(trial, &again)?)
        }),
        fault("its server is stopped during a call", |trial| {
            let scene = scene()?;
            let (mut client, server) = (client(trial, &scene)?, server(&scene)?);
            during(trial, &scene, &mut client, || Ok(kill_process(server, Signal::STOP)?))?;
            under(trial, &mut client);
            kill_process(server, Signal::CONT)?;
            works(trial, &mut client)
        }),
        fault("the pane is closed during a call", |trial| {
            let scene = scene()?;
            let mut client = client(trial, &scene)?;
            let close = || Ok(scene.tmux.ask(["kill-pane", "-t", &scene.shared()?]).map(drop)?);
            during(trial, &scene, &mut client, close)?;
            under(trial, &mut client);
            works(trial, &mut client)
        }),
        fault("the shell in the pane is killed during a call", |trial| {
            let scene = scene()?;
            let mut client = client(trial, &scene)?;
            let kill = || {
                let pid = number(&scene.tmux.format(&scene.shared()?, "#{pane_pid}")?)?;
                Ok(kill_process(pid, Signal::KILL)?)
            };
            during(trial, &scene, &mut client, kill)?;
            under(trial, &mut client);
            works(trial, &mut client)
        }),
        fault("what serves the agent is killed during a call", |trial| {
            let scene = scene()?;
            let mut client = client(trial, &scene)?;
            let pid = Pid::from_raw(i32::try_from(client.id()).unwrap_or_default());
            let pid = pid.ok_or_else(|| Error::Unexpected("it has no number".to_owned()))?;
            during(trial, &scene, &mut client, || Ok(kill_process(pid, Signal::KILL)?))?;
            works(trial, &mut self::client(trial, &scene)?)
        }),
        fault("tmux is not on the PATH", |trial| {
            let scene = scene()?;
            let only = trial.world.at("bin");
            let mut command = scene.command(&scene.agent)?;
            command.env("HOME", trial.world.home()).env("PATH", only).current_dir(trial.world.project());
            match Client::start(command, false) {
                Ok(mut client) => under(trial, &mut client),
                // It says so at once, and offers nothing.
                Err(toolgate_terminal_tests::Error::Ended(_)) => {}
                Err(error) => return Err(error.into()),
            }
            works(trial, &mut client(trial, &scene)?)
        }),
    ];
    all.extend(PROGRAMS.map(|(what, script)| {
        fault(format!("tmux {what}"), move |trial| {
            let scene = scene()?;
            // Which program it is may be looked up once.
            trial.world.script("tmux", REAL)?;
            let mut client = client(trial, &scene)?;
            works(trial, &mut client)?;
            trial.world.script("tmux", script)?;
            under(trial, &mut client);
            trial.world.script("tmux", REAL)?;
            works(trial, &mut client)
        })
    }));
    all
}

fn scene() -> Result<Scene, Error> {
    let needed = if cfg!(target_os = "linux") { missing(&["tmux", "bash"]) } else { Some("Linux") };
    if let Some(program) = needed {
        return Err(Error::LeftOut(format!("the shared terminal is tried with {program}")));
    }
    let prompt = Prompt::named("plain").ok_or_else(|| Error::Unexpected("no prompt".to_owned()))?;
    Ok(Scene::new(Shell::Bash, prompt)?)
}

/// What serves the agent of a scene in the trial's home folder. Its user agrees to nothing.
fn client(trial: &Trial, scene: &Scene) -> Result<Client, Error> {
    let mut command = scene.command(&scene.agent)?;
    command.current_dir(trial.world.project()).envs(trial.world.variables());
    Ok(Client::start(command, false)?)
}

fn server(scene: &Scene) -> Result<Pid, Error> {
    number(&scene.tmux.format(&scene.agent, "#{pid}")?)
}

fn number(text: &str) -> Result<Pid, Error> {
    let pid = text.trim().parse().ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| Error::Unexpected(format!("{text:?} is no process")))
}

/// Does something while a call is under way, which has to be answered all the same.
fn during(
    trial: &Trial,
    scene: &Scene,
    client: &mut Client,
    act: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    works(trial, client)?;
    let began = Instant::now();
    let id = client.call("bash", &json!({ "command": LONG }))?;
    until_so("a call that runs", || Ok(scene.tmux.shown(&scene.shared()?)?.contains(BEGUN)))?;
    act()?;
    let answer = client.answer(id, LIMIT);
    trial.note(said(Kind::Harmless, String::new(), began, answer));
    Ok(())
}

fn under(trial: &Trial, client: &mut Client) {
    let calls = DESTRUCTIVE.map(|command| (Kind::Destructive, command)).into_iter();
    for (kind, command) in calls.chain([(Kind::Harmless, "echo works")]) {
        let (mark, began) = (trial.world.mark(), Instant::now());
        let answer = client.bash(&format!("{command} # {mark}"));
        trial.note(said(kind, mark, began, answer));
    }
}

/// With nothing wrong: what may run runs, and what may not is in the log.
fn works(trial: &Trial, client: &mut Client) -> Result<(), Error> {
    let answer = client.bash("echo wor''ks")?;
    if answer.exit() != Some(0) || answer.text != "works" {
        return Err(Error::Unexpected(format!("a command does not run any more: {}", answer.result)));
    }
    for command in DESTRUCTIVE {
        let (mark, began) = (trial.world.mark(), Instant::now());
        let answer = client.bash(&format!("{command} # {mark}"));
        let mut said = said(Kind::Destructive, mark, began, answer);
        if said.outcome == Outcome::Refused {
            said.outcome = Outcome::Denied;
        }
        trial.note(said);
    }
    Ok(())
}

/// An answer as a call of the hook's. One that is an error may be the gate's or the terminal's.
fn said(kind: Kind, mark: String, began: Instant, answer: Result<Answer, toolgate_terminal_tests::Error>) -> Said {
    let (outcome, text) = match answer {
        Ok(answer) if answer.exit().is_none() && answer.is_error => (Outcome::Refused, answer.text),
        Ok(answer) => (Outcome::Nothing, answer.text),
        Err(toolgate_terminal_tests::Error::Late(what)) => (Outcome::Hung, what),
        // Nobody answers, so nothing runs.
        Err(error) => (Outcome::Refused, error.to_string()),
    };
    Said { kind, mark, outcome, took: began.elapsed(), text }
}
