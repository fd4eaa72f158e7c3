//! The shared terminal through the component: screens that real bash and zsh drew (see `tests/terminal/captures.jsonl`) are
//! played back, and each command's answer is what it wrote. The same screens are read natively in `guest/tests/shared_terminal.rs`;
//! there also those of commands on more than one row. `tests/terminal` has the component drive real shells.

#![allow(clippy::print_stdout, reason = "says how many captures are left out")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use toolgate_capabilities::LocalClock;
use toolgate_host::capability::{Answer, Pane, Screen, Terminal, Wake};
use toolgate_host::{Capabilities, CapabilityError, Engine, Provider, Session};
use toolgate_tests::builtin;

const CAPTURES: &str = include_str!("../terminal/captures.jsonl");

/// The pane that the screens are of, and the agent's.
const PANES: [&str; 2] = ["%7", "%1"];

/// The prompts that are there when the shared terminal types: the first, that after a line that is thrown away, and an empty one.
const LEARNT: usize = 3;

/// Which of a capture's screens is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// So many prompts, one below the other.
    Prompts(usize),
    Typed,
    After,
}

/// A pane that has been shared before, and shows what was captured.
#[derive(Clone)]
struct Playback(Arc<Mutex<State>>);

struct State {
    capture: Value,
    /// The lines of its prompt.
    prompt: Vec<String>,
    shown: Shown,
    /// Prompts so far, and the last exit code.
    sequence: u64,
    exit: i64,
    typed: Vec<String>,
}

impl State {
    fn screen(&self) -> Screen {
        let (key, text) = match self.shown {
            Shown::Prompts(count) if count <= LEARNT => {
                ("before", Some(vec![self.prompt.join("\n"); count].join("\n")))
            }
            Shown::Prompts(_) => ("before", None),
            Shown::Typed => ("typed", None),
            Shown::After => ("after", None),
        };
        let captured = &self.capture[key];
        // They were captured with the commands as they are; it types them in a form that leaves nothing behind.
        let command = self.capture["command"].as_str().unwrap_or_default();
        let form = self.typed.last().map_or(command, String::as_str);
        let part = |key: &str| captured[key].as_str().unwrap_or_default().replacen(command, form, 1);
        let size = |key: &str| self.capture[key].as_u64().and_then(|size| u32::try_from(size).ok()).expect("a size");
        Screen {
            text: text.unwrap_or_else(|| part("text")),
            below: part("below"),
            before_cursor: part("before_cursor"),
            width: size("width"),
            height: size("height"),
        }
    }

    fn entered(&mut self) {
        self.sequence += 1;
        self.shown = match self.shown {
            Shown::Prompts(count) => Shown::Prompts(count + 1),
            Shown::Typed | Shown::After => {
                self.exit = self.capture["exit"].as_i64().unwrap_or_default();
                Shown::After
            }
        };
    }
}

#[async_trait]
impl Terminal for Playback {
    async fn session(&self) -> Answer<String> {
        Ok("$0".to_owned())
    }

    async fn panes(&self) -> Answer<Vec<Pane>> {
        let shell = self.0.lock().expect("no panic").capture["shell"].as_str().unwrap_or_default().to_owned();
        let pane = |id: &str| Pane {
            id: id.to_owned(),
            command: shell.clone(),
            cwd: "/project".to_owned(),
            active: false,
            at_shell: Some(true),
            full_screen: false,
            of_agent: id == PANES[1],
        };
        Ok(PANES.map(pane).to_vec())
    }

    async fn split(&self, _cwd: String) -> Answer<String> {
        Err(CapabilityError::Other("the pane that is there will do".to_owned()))
    }

    async fn send_text(&self, _pane: String, text: String, _enter: bool) -> Answer<()> {
        let mut state = self.0.lock().expect("no panic");
        state.typed.push(text);
        state.shown = Shown::Typed;
        Ok(())
    }

    async fn paste(&self, pane: String, text: String) -> Answer<()> {
        self.send_text(pane, text, false).await
    }

    async fn send_keys(&self, _pane: String, _keys: Vec<String>) -> Answer<()> {
        self.0.lock().expect("no panic").entered();
        Ok(())
    }

    async fn capture(&self, _pane: String, _lines: u32) -> Answer<Screen> {
        Ok(self.0.lock().expect("no panic").screen())
    }

    async fn wait_for(&self, _pane: String, _channel: String, _timeout: u32) -> Answer<Wake> {
        Ok(Wake::Signalled)
    }

    async fn watch(&self, _pane: String, _channel: String) -> Answer<()> {
        Ok(())
    }

    async fn get_environment(&self, name: String) -> Answer<Option<String>> {
        let state = self.0.lock().expect("no panic");
        Ok(match name.as_str() {
            "PI_MIRROR_PANE" => Some(PANES[0].to_owned()),
            // The newest first: its number, its exit code, and that there was a command.
            "PI_LAST_RC_7" => Some(format!("{} {} 1", state.sequence, state.exit)),
            "PI_MIRROR_SHELL_7" if state.capture["shell"] == "zsh" => Some("zsh 5.9".to_owned()),
            "PI_MIRROR_SHELL_7" => Some("bash 5.2".to_owned()),
            _ => None,
        })
    }

    async fn set_environment(&self, _name: String, _value: String) -> Answer<()> {
        Ok(())
    }

    async fn close(&self, _pane: String) -> Answer<()> {
        Ok(())
    }
}

/// Whether what is typed can be told on the screens, and fits in another form as well.
fn on_one_row(capture: &Value) -> bool {
    let command = capture["command"].as_str().unwrap_or_default();
    let width = capture["width"].as_u64().unwrap_or_default();
    let mut lines = capture["typed"]["text"].as_str().unwrap_or_default().lines();
    let row = lines.find(|line| line.contains(command)).map(|line| line.trim_end().chars().count() as u64);
    !command.contains('\n') && row.is_some_and(|row| row + 8 < width)
}

#[tokio::test]
async fn the_answer_to_a_command_is_what_it_wrote() {
    let engine = Engine::new().expect("an engine");
    let plugin = builtin(&engine).expect("the default plugin");
    let captures: Vec<Value> = CAPTURES.lines().map(|line| serde_json::from_str(line).expect("a capture")).collect();
    let kind = |capture: &Value| format!("{} {}", capture["shell"], capture["prompt"]);
    let lines =
        |screen: &Value| screen["text"].as_str().unwrap_or_default().split('\n').map(str::to_owned).collect::<Vec<_>>();
    // What a prompt adds to the one line that this command writes.
    let heights: HashMap<String, usize> = captures
        .iter()
        .filter(|capture| capture["command"] == "echo hello")
        .map(|capture| (kind(capture), lines(&capture["after"]).len() - lines(&capture["typed"]).len() - 1))
        .collect();
    let (mut played, mut wrong) = (0, Vec::new());
    for capture in captures.iter().filter(|capture| on_one_row(capture)) {
        let before = lines(&capture["before"]);
        let prompt = before.get(before.len().saturating_sub(heights[&kind(capture)])..).expect("a prompt").to_vec();
        let state = State {
            capture: capture.clone(),
            prompt,
            shown: Shown::Prompts(1),
            sequence: 40,
            exit: 0,
            typed: Vec::new(),
        };
        let playback = Playback(Arc::new(Mutex::new(state)));
        let granted = Capabilities::denied().terminal(playback.clone()).clock(LocalClock::default());
        let provider = Provider::new(plugin.clone(), Session::in_folder("/project"), granted);
        let tools = provider.tools().await.expect("tools");
        let bash = tools.iter().find(|tool| tool.name == "bash").expect("the tool");
        let answer = provider.run(bash, &json!({ "command": capture["command"] }).to_string()).await;
        played += 1;
        let (exit, output) =
            (capture["exit"].as_i64().unwrap_or_default(), capture["output"].as_str().unwrap_or_default());
        let expected = match (exit, output) {
            (0, "") => "(no output)".to_owned(),
            (0, output) => output.to_owned(),
            (exit, "") => format!("Command exited with code {exit}"),
            (exit, output) => format!("{output}\n\nCommand exited with code {exit}"),
        };
        let answer = answer.map_or_else(|error| error.to_string(), |answer| answer.text);
        if answer != expected {
            wrong.push(format!("{}: {expected:?}\n  was {answer:?}", capture["name"]));
        }
    }
    println!("{played} of {} captures; the commands of the others are on more than one row", captures.len());
    assert!(played >= 40, "{played} captures");
    assert!(wrong.is_empty(), "{} of {played}\n{}", wrong.len(), wrong.join("\n"));
}
