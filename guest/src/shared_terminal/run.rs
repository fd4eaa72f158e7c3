//! One command, from what is typed to its answer.

use unicode_width::UnicodeWidthStr;

use super::hook::{self, Shell};
use super::output::{Ends, LINES, between, bounded};
use super::pane::Shared;
use super::prompt::Prompt;
use super::world::{Failure, Pane, Screen, TerminalHost, Wake};
use super::wrap::{Form, wrap};

/// The exit code of a command that took too long, as `timeout` has it.
const TIMED_OUT: i32 = 124;

/// That of one that was interrupted.
const CANCELLED: i32 = 130;

/// That of one whose pane was closed.
const CLOSED: i32 = 1;

/// The first and the longest time between two looks at a command that runs, in milliseconds.
const SLICES: (u64, u64) = (100, 5_000);

/// How long an interrupted command may take to end, in milliseconds.
const INTERRUPTED: u32 = 500;

/// After so many looks, and so many milliseconds, that found the screen as it was, what was typed is taken not to come.
const TYPED: (usize, u64) = (100, 1_500);

/// Looks at most, while the screen changes: a busy shell draws a long line bit by bit.
const LOOKS: usize = 1_000;

/// How often a command is typed that somebody else types into.
const ATTEMPTS: usize = 3;

/// How long a line that was thrown away may take to be gone, in milliseconds.
const SETTLES: u32 = 2_000;

/// So many lines of a text that is longer than the screen have to be seen.
const LONG: usize = 3;

/// Lines that are read to see what was typed.
const SEEN: u32 = LINES as u32;

/// How long a screen has to stay as it is before a program that shows a prompt of its own is taken to wait, in
/// milliseconds.
const WAITS: u64 = 3_000;

/// The same of a shell, and of a full-screen program.
const SHELL_WAITS: u64 = 300;

/// Longest prompt of a program, in characters.
const PROMPT: usize = 40;

/// What came of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) text: String,
    /// None if it still runs, or if that is not known.
    pub(crate) code: Option<i32>,
}

/// How a wait for a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    Done(Option<i32>),
    TimedOut,
    Cancelled,
    Closed,
    /// It does not end by itself: why.
    Waits(String),
    /// The shell waits again, but did not say so.
    Unseen,
}

impl Shared {
    /// Types a command, and waits for it as long as it may take, in milliseconds. An error says why nothing was run.
    pub(crate) fn run(&mut self, command: &str, limit: u64, world: &mut dyn TerminalHost) -> Result<Run, String> {
        let from = world.now().unwrap_or_default();
        let typed = self.typed(command, world)?;
        let prompt = self.prompt.clone();
        let next = self.sequence + self.owed + 1;
        world.send_keys(&self.id, &["Enter"]).map_err(Failure::text)?;
        let end = self.wait(next, from + limit, limit, world);
        let run = self.answer(end, next, &typed, &prompt, world);
        self.watch(world);
        Ok(run)
    }

    /// Types, and looks whether the line holds that and nothing else before anybody presses Enter.
    fn typed(&mut self, command: &str, world: &mut dyn TerminalHost) -> Result<Screen, String> {
        for attempt in 0..ATTEMPTS {
            let cd = (self.folder != self.cwd).then_some(self.cwd.as_str());
            let form = wrap(command, cd, self.shell, self.pastes)?;
            self.empty(world)?;
            let sent = match &form {
                // zsh does things of its own to what is typed: it quotes links, and proposes what to add.
                Form::Line(text) if self.shell == Shell::Bash || !self.pastes || attempt > 0 => {
                    world.send_text(&self.id, text)
                }
                Form::Line(text) | Form::Paste(text) => world.paste(&self.id, text),
            };
            sent.map_err(Failure::text)?;
            if let Some(screen) = self.arrived(form.text(), world)? {
                return Ok(screen);
            }
            self.discard(world)?;
            // The user may have switched pastes off.
            self.pastes &= !matches!(form, Form::Paste(_));
        }
        self.unusable = true;
        let why = "the line in the shared terminal is not the typed command: another program types or reads there; the \
            next command runs in another pane";
        Err(why.to_owned())
    }

    /// Waits until the line holds a text and nothing else.
    fn arrived(&self, text: &str, world: &mut dyn TerminalHost) -> Result<Option<Screen>, String> {
        let (mut last, mut same, mut since) = (Screen::default(), 0, None);
        for _ in 0..LOOKS {
            let screen = world.capture(&self.id, SEEN).map_err(Failure::text)?;
            if self.holds(&screen, text) {
                return Ok(Some(screen));
            }
            if screen != last {
                (last, same, since) = (screen, 0, world.now());
            }
            same += 1;
            // Without a clock the looks alone count.
            let passed = since.zip(world.now()).is_none_or(|(since, now)| now.saturating_sub(since) >= TYPED.1);
            if same > TYPED.0 && passed {
                break;
            }
        }
        Ok(None)
    }

    /// Throws away what is on the line.
    fn discard(&mut self, world: &mut dyn TerminalHost) -> Result<(), String> {
        world.send_keys(&self.id, &["C-c"]).map_err(Failure::text)?;
        self.owed += 1;
        self.settle(world)
    }

    /// Makes sure that nothing is typed at the prompt. What the user had typed stays in sight. C-u would not do: bash keeps
    /// what is right of the cursor, and a key before it may have opened a search.
    fn empty(&mut self, world: &mut dyn TerminalHost) -> Result<(), String> {
        if self.prompt.is_stuck() {
            world.send_keys(&self.id, &["Enter"]).map_err(Failure::text)?;
            self.owed += 1;
            self.settle(world)?;
        }
        let screen = world.capture(&self.id, 0).map_err(Failure::text)?;
        if self.prompt.is_at(&screen) { Ok(()) } else { self.discard(world) }
    }

    /// Waits for the prompts that are owed, and takes the last one for what it is.
    fn settle(&mut self, world: &mut dyn TerminalHost) -> Result<(), String> {
        self.reaches(self.sequence + self.owed, SETTLES, world)?;
        let last = self.codes(world)?.last().unwrap_or(self.sequence).max(self.sequence);
        self.owed = self.owed.saturating_sub(last - self.sequence);
        self.sequence = last;
        let screen = self.resting(world, |_| true)?;
        self.rests(screen);
        Ok(())
    }

    /// Whether the line at the prompt holds a text and nothing else. It may stand on several lines of the screen, and of a
    /// text that is longer than the screen only the end is seen: what else was on the line was thrown away before.
    fn holds(&self, screen: &Screen, text: &str) -> bool {
        let dense = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        // What bash keeps right of the cursor would run, too. zsh shows what it proposes there.
        if self.shell == Shell::Bash && !self.prompt.is_right(screen.after_cursor()) {
            return false;
        }
        let expected = dense(&self.prompt.left()) + &dense(text);
        let mut lines = screen.above();
        lines.push(&screen.before_cursor);
        let mut rest = expected.as_str();
        for (count, line) in lines.iter().rev().enumerate() {
            let bare = self.prompt.without_right_of(line.trim_end()).map(dense);
            let ends = [Some(dense(line)), bare];
            match ends.iter().flatten().find_map(|line| rest.strip_suffix(line.as_str())) {
                Some("") => return true,
                Some(others) => rest = others,
                None => return count >= LONG && rest.len() < expected.len() && is_longer(screen, text),
            }
        }
        false
    }

    /// Waits until a prompt comes, or until it is clear that none will.
    fn wait(&mut self, next: u64, until: u64, limit: u64, world: &mut dyn TerminalHost) -> End {
        let (mut slice, mut waited) = (SLICES.0, 0);
        let mut seen = Seen::default();
        loop {
            // Without a clock the waits themselves are counted.
            let left = world.now().map_or(limit.saturating_sub(waited), |now| until.saturating_sub(now));
            if left == 0 {
                return End::TimedOut;
            }
            let now = slice.min(left);
            match world.wait_for(&self.id, &hook::agent_channel(&self.id, next), u32::try_from(now).unwrap_or(u32::MAX))
            {
                Ok(Wake::Signalled) => {
                    if let Some(end) = self.done(next, world) {
                        return end;
                    }
                }
                Ok(Wake::Closed) => return End::Closed,
                Ok(Wake::Cancelled) => return End::Cancelled,
                Ok(Wake::Timeout) => {
                    waited += now;
                    // The signal is lost if another one, long ago, was never waited for.
                    if let Some(end) = self.done(next, world) {
                        return end;
                    }
                    if let Some(end) = self.look(&mut seen, now, world) {
                        return end;
                    }
                    slice = (slice * 2).min(SLICES.1);
                }
                Err(failure) => {
                    world.log(&failure.text());
                    return End::Closed;
                }
            }
        }
    }

    /// Whether a prompt has come.
    fn done(&self, next: u64, world: &mut dyn TerminalHost) -> Option<End> {
        match self.codes(world) {
            Ok(codes) => codes.last().filter(|last| *last >= next).map(|_| End::Done(codes.of(next))),
            // A session that is gone has no pane any more.
            Err(_) => Some(End::Closed),
        }
    }

    /// Looks whether what runs waits for keys, or the shell has lost its hook. It has to look like that for a while.
    fn look(&self, seen: &mut Seen, passed: u64, world: &mut dyn TerminalHost) -> Option<End> {
        let panes = world.panes().ok()?;
        let Some(pane) = panes.iter().find(|pane| pane.id == self.id) else { return Some(End::Closed) };
        let screen = world.capture(&self.id, 0).ok()?;
        let end = self.suspicion(pane, &screen);
        let (since, needed) = seen.after(end.as_ref().map(|(end, _)| end), &screen, passed);
        end.filter(|(_, needs)| needed && since >= *needs).map(|(end, _)| end)
    }

    /// What it looks like, and for how many milliseconds it has to.
    fn suspicion(&self, pane: &Pane, screen: &Screen) -> Option<(End, u64)> {
        let program = &pane.command;
        if pane.full_screen {
            return Some((End::Waits(format!("{program} is a full-screen program waiting for the user")), SHELL_WAITS));
        }
        let shell = hook::Shell::named(program).is_some() || SHELLS.contains(&program.trim_start_matches('-'));
        match pane.at_shell {
            Some(true) | None if self.prompt.is_at(screen) => Some((End::Unseen, SHELL_WAITS)),
            Some(true) if shell && self.prompt.may_be_at(screen) => Some((End::Unseen, SHELL_WAITS)),
            Some(true) if shell => None,
            _ if !waits(&screen.before_cursor) => None,
            _ if shell => {
                Some((End::Waits(format!("{program}, a nested shell, is waiting for the user")), SHELL_WAITS))
            }
            _ => Some((End::Waits(format!("{program} is waiting for input")), WAITS)),
        }
    }

    /// The answer to how it ended.
    fn answer(&mut self, end: End, next: u64, typed: &Screen, prompt: &Prompt, world: &mut dyn TerminalHost) -> Run {
        match end {
            End::Done(code) => {
                let Some(text) = self.ended(next, typed, prompt, world) else {
                    return self.answer(End::Closed, next, typed, prompt, world);
                };
                let text = match (code, text.is_empty()) {
                    (None | Some(0), _) => text,
                    (Some(code), true) => format!("Command exited with code {code}"),
                    (Some(code), false) => format!("{text}\n\nCommand exited with code {code}"),
                };
                Run { text, code }
            }
            End::Closed => Run { text: "Tmux pane was closed during execution.".to_owned(), code: Some(CLOSED) },
            End::TimedOut => self.interrupted(next, typed, prompt, ("[command timed out]", TIMED_OUT), world),
            End::Cancelled => self.interrupted(next, typed, prompt, ("Cancelled", CANCELLED), world),
            End::Waits(why) => {
                self.owed += 1;
                let note =
                    format!("[{why} in the terminal and was not ended. Until it ends, commands run in another pane]");
                Run { text: self.so_far(typed, prompt, &note, world), code: None }
            }
            End::Unseen => {
                self.lost = true;
                let note = "[the shell is at a prompt, but no longer reports exit codes: its prompt hook was changed, or it was \
                    replaced by another shell. The exit code is unknown]";
                Run { text: self.so_far(typed, prompt, note, world), code: None }
            }
        }
    }

    /// What a command wrote that has ended. None if nobody can see that any more, which is not the same as nothing.
    fn ended(&mut self, next: u64, typed: &Screen, prompt: &Prompt, world: &mut dyn TerminalHost) -> Option<String> {
        self.sequence = next;
        let screen = self.resting(world, |_| true).ok()?;
        let last = self.codes(world).ok().and_then(|codes| codes.last()).unwrap_or(next);
        let output = between(typed, &screen, prompt, if last > next { Ends::More } else { Ends::Prompt });
        self.rest = Screen::default();
        // What stands behind the last prompt is nothing of the prompt's: answers of the terminal, what the user types.
        if last == next && (prompt.typed(&screen.before_cursor).is_none_or(|typed| typed.trim().is_empty())) {
            self.rests(screen);
        }
        Some(bounded(&output))
    }

    /// Interrupts a command, and says so.
    fn interrupted(
        &mut self,
        next: u64,
        typed: &Screen,
        prompt: &Prompt,
        (note, code): (&str, i32),
        world: &mut dyn TerminalHost,
    ) -> Run {
        let ended =
            world.send_keys(&self.id, &["C-c"]).is_ok() && self.reaches(next, INTERRUPTED, world).unwrap_or(false);
        let text = if ended {
            let text = self.ended(next, typed, prompt, world).unwrap_or_default();
            if text.is_empty() { note.to_owned() } else { format!("{text}\n{note}") }
        } else {
            self.owed += 1;
            let still = format!("{note}\n[it ignored the interrupt and is still running in the terminal]");
            self.so_far(typed, prompt, &still, world)
        };
        Run { text, code: Some(code) }
    }

    /// What a command has written up to now.
    fn so_far(&self, typed: &Screen, prompt: &Prompt, note: &str, world: &mut dyn TerminalHost) -> String {
        let Ok(screen) = world.capture(&self.id, SEEN) else { return note.to_owned() };
        let text = bounded(&between(typed, &screen, prompt, Ends::Running));
        if text.is_empty() { note.to_owned() } else { format!("{text}\n{note}") }
    }
}

/// Whether a text fills most of the screen.
fn is_longer(screen: &Screen, text: &str) -> bool {
    let width = screen.width.max(1) as usize;
    let rows: usize = text.split('\n').map(|line| line.width() / width + 1).sum();
    rows + 4 >= screen.height as usize
}

/// Shells that have no hook.
const SHELLS: &[&str] = &["ash", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "pwsh", "sh", "tcsh", "xonsh"];

/// Whether a line looks as if a program has asked for a command.
fn waits(before_cursor: &str) -> bool {
    let ends = ["$ ", "# ", "% ", "> ", "❯ ", "db) "];
    before_cursor.chars().count() <= PROMPT && ends.iter().any(|end| before_cursor.ends_with(end))
}

/// What was seen at the last look.
#[derive(Debug, Default)]
struct Seen {
    screen: Screen,
    end: Option<End>,
    since: u64,
}

impl Seen {
    /// For how many milliseconds it has looked like that now, and whether it was seen before.
    fn after(&mut self, end: Option<&End>, screen: &Screen, passed: u64) -> (u64, bool) {
        let same = end.is_some() && self.end.as_ref() == end && self.screen.before_cursor == screen.before_cursor;
        self.since = if same { self.since + passed } else { 0 };
        (self.screen, self.end) = (screen.clone(), end.cloned());
        (self.since, same)
    }
}
