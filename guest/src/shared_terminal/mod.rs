//! The shared terminal: the agent's commands run in a shell that its user sees and types in, too. What to type, what the prompt
//! looks like, where the output of a command begins and ends and what the user did is decided here; the host only runs
//! tmux.
//!
//! | Module | For | Not for |
//! |---|---|---|
//! | `world` | what the shared terminal asks of its surroundings | how they do it |
//! | `hook` | the function that the shell calls before each prompt; names of variables and channels | |
//! | `quote` | a text as one word of a shell | |
//! | `wrap` | a command as it is typed | |
//! | `prompt` | the prompt as it is drawn | |
//! | `output` | from screens to what a command wrote | |
//! | `pane` | a pane's life: found, made, prepared, lost | |
//! | `run` | one command, from Enter to its answer | |
//!
//! # Beside tmux-mirror
//!
//! Tools, variables (`PI_MIRROR_PANE`, `PI_LAST_RC`), exit codes (124, 130) and limits are those of tmux-mirror.
//!
//! | Question | tmux-mirror | here |
//! |---|---|---|
//! | what a call leaves behind in the shell | everything: an alias made by one call is what the next one runs | nothing: it would not be what was judged |
//! | several agents in a session | share one pane and one exit code | each has its own |
//! | the exit code, if more was typed meanwhile | that of the last command | its own |
//! | a text on the line that the user was typing | is put before the command | thrown away with C-c (it stays in sight), and the line is looked at before Enter |
//! | unbalanced quotes, heredocs without an end | the terminal waits for more, until the time is over | are not run; run to their end |
//! | tabs, history expansion | are keys; run what was typed before | text |
//! | continuation prompts | in the output | none: several lines are pasted |
//! | the exit code | in the details only | in the text, too |
//! | waking | one channel: two signals cancel each other | a channel for each prompt and use |
//! | after the signal | 200 ms | until the prompt is drawn |
//! | a full-screen program, a nested shell, a lost hook | waits until the time is over | says so, and leaves it to the user |
//! | a pane where something else runs | types into it | waits a moment, then opens another |
//! | what the user did while the agent worked | compared later | reported with its own exit code; several commands: the last |
//! | prompts that end in no symbol, or change with the directory | parts of them in the output | known as they were drawn |

mod hook;
mod output;
mod pane;
mod prompt;
mod quote;
mod run;
mod world;
mod wrap;

use serde::Deserialize;
use serde_json::json;

pub use hook::Shell;
pub use output::{Activity, Ends, Output, between, bounded, last_command};
pub use prompt::Prompt;
pub use world::{Failure, Outgoing, Pane, Screen, TerminalHost, Wake};
pub use wrap::{Form, wrap};

use pane::Shared;
use run::Run;

/// The key of the status line.
pub const STATUS: &str = "tmux-mirror";

/// The kind of messages about what the user did.
pub const KIND: &str = "tmux-activity";

/// The timer that opens the pane.
const OPEN: &str = "tmux-mirror-open";

/// Seconds that a command may take if the agent says nothing.
const TIMEOUT: f64 = 120.0;

/// Seconds that it may take at most.
pub const LONGEST: u32 = 3_600;

/// Lines that are read if the agent says nothing.
const READ: u32 = 200;

/// The session.
#[derive(Clone, Debug, Default)]
pub struct SessionFacts {
    /// The agent's working directory.
    pub cwd: String,
    /// What `~` stands for.
    pub home: Option<String>,
    /// The pane that the user has named.
    pub target: Option<String>,
    /// Whether a pane is to be there at once.
    pub open: bool,
}

/// What a tool answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// For the agent.
    pub text: String,
    /// Whether it counts as failed.
    pub is_error: bool,
    /// A JSON text.
    pub details: String,
}

/// A tool as the agent gets to know it.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// The JSON Schema of its input.
    pub schema: &'static str,
    /// Whether it may run beside others.
    pub alongside: bool,
}

/// The tools, where there is a terminal to share.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "bash",
        description: "Execute a bash command in the terminal that the user sees, in your working directory. Returns the last 2000 \
            lines or 50KB of what it wrote. A call leaves nothing behind in the shell: variables, functions, aliases and \
            `cd` hold within one call. Programs that wait for keys are left to the user.",
        schema: r#"{"type":"object","properties":{"command":{"type":"string","description":"Bash command to execute"},"timeout":{"type":"number","description":"Timeout in seconds (default: 120)","exclusiveMinimum":0,"maximum":3600}},"required":["command"]}"#,
        alongside: false,
    },
    Tool {
        name: "read_terminal",
        description: "Read what the terminal that you share with the user shows now, and what has scrolled out of it.",
        schema: r#"{"type":"object","properties":{"lines":{"type":"integer","description":"Lines from the end (default: 200)","minimum":1,"maximum":10000}}}"#,
        alongside: true,
    },
];

#[derive(Deserialize)]
struct BashInput {
    command: String,
    timeout: Option<f64>,
}

#[derive(Deserialize)]
struct ReadInput {
    lines: Option<u32>,
}

/// The shared terminal of one session.
#[derive(Debug, Default)]
pub struct SharedTerminal {
    session: SessionFacts,
    /// The panes that were used, in that order.
    panes: Vec<Shared>,
    /// The one that was used last.
    current: String,
}

impl SharedTerminal {
    /// Begins a session.
    pub fn start(&mut self, session: &SessionFacts, world: &mut dyn TerminalHost) {
        self.session = session.clone();
        if session.open && !world.schedule(OPEN, 0) {
            world.log("without timers the pane is opened at the first use");
        }
    }

    /// The tools that are offered: none outside tmux.
    pub fn tools(&self, world: &mut dyn TerminalHost) -> &'static [Tool] {
        if matches!(world.session(), Err(Failure::Unavailable(_) | Failure::Denied(_))) { &[] } else { TOOLS }
    }

    /// Runs a tool on its input, a JSON text. An error is a sentence for the agent.
    pub fn run(&mut self, tool: &str, input: &str, world: &mut dyn TerminalHost) -> Result<Answer, String> {
        let wrong = |error: serde_json::Error| format!("invalid input for {tool}: {error}");
        match tool {
            "bash" => {
                let input: BashInput = serde_json::from_str(input).map_err(wrong)?;
                let seconds = input.timeout.filter(|seconds| *seconds > 0.0).unwrap_or(TIMEOUT).min(LONGEST.into());
                self.bash(&input.command, seconds, world)
            }
            "read_terminal" => {
                let input: ReadInput = serde_json::from_str(input).map_err(wrong)?;
                self.read(input.lines.unwrap_or(READ).max(1), world)
            }
            _ => Err(format!("unknown tool {tool}")),
        }
    }

    /// A time has come.
    pub fn on_timer(&mut self, id: &str, world: &mut dyn TerminalHost) {
        if id == OPEN
            && let Err(why) = self.ready(world)
        {
            world.log(&why);
        }
    }

    /// A prompt was drawn in a pane, or it is gone.
    pub fn on_signal(&mut self, pane: &str, closed: bool, world: &mut dyn TerminalHost) {
        let Some(at) = self.panes.iter().position(|known| known.id == pane) else { return };
        if closed {
            self.panes.remove(at);
            if self.current == pane {
                world.status(None);
            }
            return;
        }
        self.panes[at].catch_up(&self.session, world);
    }

    fn bash(&mut self, command: &str, seconds: f64, world: &mut dyn TerminalHost) -> Result<Answer, String> {
        let pane = self.ready(world)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^53 for sure")]
        let limit = (seconds * 1_000.0).ceil() as u64;
        let id = pane.id.clone();
        let Run { text, code } = pane.run(command, limit, world)?;
        let details = json!({
            "schema": 1, "command": command, "exitCode": code, "cwd": self.session.cwd, "pane": id,
        });
        let text = if text.is_empty() { "(no output)".to_owned() } else { text };
        Ok(Answer { text, is_error: code != Some(0), details: details.to_string() })
    }

    fn read(&self, lines: u32, world: &mut dyn TerminalHost) -> Result<Answer, String> {
        let panes = world.panes().map_err(Failure::text)?;
        let none = "no shared terminal yet; the first command opens one";
        // It may run beside a command, in an instance that knows nothing of that.
        let pane = pane::find(&panes, &self.session, world)?.ok_or(none)?;
        let screen = world.capture(&pane, lines).map_err(Failure::text)?;
        let whole = format!("{}\n{}", screen.text, screen.below);
        let shown: Vec<&str> = whole.trim_end().lines().collect();
        let kept = shown.len().saturating_sub(lines as usize);
        let text = bounded(&Output { text: shown.get(kept..).unwrap_or_default().join("\n"), cut: false });
        let text = if text.trim().is_empty() { "(terminal is empty)".to_owned() } else { text };
        Ok(Answer { text, is_error: false, details: json!({ "schema": 1, "pane": pane }).to_string() })
    }
}
