//! A pane's life: found, made, prepared, followed, lost.

use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::hook::{self, Codes, Shell};
use super::output::{Activity, LINES, last_command, overlap};
use super::prompt::Prompt;
use super::world::{Failure, Outgoing, Pane, Screen, TerminalHost, Wake};
use super::{KIND, SessionFacts, SharedTerminal};

/// Most panes that are opened in a session because something runs in the others.
const PANES: usize = 4;

/// How long a shell may take to start, in milliseconds.
const SHELL_STARTS: u32 = 10_000;

/// How long a hook may take to answer, in milliseconds.
const HOOK_ANSWERS: u32 = 5_000;

/// How long a hook may take that may not be there, in milliseconds.
const HOOK_MAY_ANSWER: u32 = 500;

/// How long something else may still run in a pane before another is taken, in milliseconds.
const BUSY: u32 = 1_000;

/// How often a hook is typed.
const ATTEMPTS: usize = 3;

/// Between two looks at a shell that starts, in milliseconds.
const PAUSE: u32 = 25;

/// How long a look takes at least, in milliseconds.
const LOOK: u32 = 2;

/// How long the shell may take to draw its prompt, in milliseconds.
const DRAWN: u64 = 2_000;

/// How long a prompt has to stay that ends in another way than the last one, in milliseconds.
const CHANGED: u64 = 300;

/// A pane whose prompts are counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    pub(crate) id: String,
    /// The agent's directory.
    pub(crate) cwd: String,
    /// Where its shell is.
    pub(crate) folder: String,
    /// Whether it takes pastes.
    pub(crate) pastes: bool,
    /// The number of the last prompt that was dealt with.
    pub(crate) sequence: u64,
    /// Prompts that still belong to commands of the agent's.
    pub(crate) owed: u64,
    pub(crate) shell: Shell,
    pub(crate) prompt: Prompt,
    /// The screen with that prompt.
    pub(crate) rest: Screen,
    /// Whether the hook has to be typed again.
    pub(crate) lost: bool,
    /// Whether what is typed there does not get to its line.
    pub(crate) unusable: bool,
}

impl SharedTerminal {
    /// A pane in which a command can be typed.
    pub(crate) fn ready(&mut self, world: &mut dyn TerminalHost) -> Result<&mut Shared, String> {
        let panes = world.panes().map_err(Failure::text)?;
        self.panes.retain(|known| panes.iter().any(|pane| pane.id == known.id));
        let mut free = None;
        for at in 0..self.panes.len() {
            if self.waits(&panes, at, world) {
                free = Some(at);
                break;
            }
        }
        let at = match free.or_else(|| self.becomes_free(world)) {
            Some(at) => at,
            None => {
                let shared = self.other(&panes, world)?;
                self.panes.push(shared);
                self.panes.len() - 1
            }
        };
        let session = &self.session;
        let shared = self.panes.get_mut(at).ok_or("no pane is shared")?;
        shared.id.clone_into(&mut self.current);
        if shared.lost {
            let pane = panes.iter().find(|pane| pane.id == shared.id).ok_or("the shared pane is gone")?;
            *shared = prepared(pane, session, false, world)?;
        }
        // A pane that was just prepared is not in the list.
        if let Some(pane) = panes.iter().find(|pane| pane.id == shared.id) {
            pane.cwd.clone_into(&mut shared.folder);
        }
        Ok(shared)
    }

    /// The current pane, if what runs in it ends at once: users type commands, too.
    fn becomes_free(&mut self, world: &mut dyn TerminalHost) -> Option<usize> {
        let at = self.panes.iter().position(|known| known.id == self.current)?;
        let current = self.panes.get(at)?;
        let next = hook::agent_channel(&current.id, current.sequence + 1);
        world.wait_for(&current.id, &next, BUSY).ok()?;
        let panes = world.panes().ok()?;
        self.waits(&panes, at, world).then_some(at)
    }

    /// Whether the shell of a pane that was used waits at its prompt, be it that something is typed there. Between two
    /// commands of a loop the shell is in the foreground, too, but at no prompt.
    fn waits(&mut self, panes: &[Pane], at: usize, world: &mut dyn TerminalHost) -> bool {
        let free = |shared: &&mut Shared| !shared.unusable && is_free(panes, &shared.id);
        let Some(shared) = self.panes.get_mut(at).filter(free) else { return false };
        if shared.lost {
            return true;
        }
        shared.catch_up(&self.session, world);
        let Ok(screen) = world.capture(&shared.id, 0) else { return false };
        let (prompt, mut lines) = (&shared.prompt, screen.text.rsplit('\n'));
        // zsh goes on on the next line where one is full.
        let typed = |line: &str| prompt.typed(line).is_some_and(|typed| !typed.is_empty());
        let full = |line: &&str| line.width() + 1 >= screen.width as usize;
        prompt.may_be_at(&screen) || lines.next().is_some_and(typed) || lines.take_while(full).any(typed)
    }

    /// A pane that was not used so far.
    fn other(&self, panes: &[Pane], world: &mut dyn TerminalHost) -> Result<Shared, String> {
        let first = self.panes.is_empty();
        if let Some(target) = &self.session.target {
            let pane = panes.iter().find(|pane| pane.id == *target).filter(|pane| !pane.of_agent);
            let pane = pane.ok_or_else(|| format!("TMUX_MIRROR_TARGET names no pane that can be shared: {target}"))?;
            if !first || !is_free(panes, target) {
                return Err(format!(
                    "{} is running in the pane that the user shares; only the user can end it",
                    pane.command
                ));
            }
            return self.kept(pane, panes, false, world);
        }
        let found = if first { find(panes, &self.session, world)? } else { None };
        if let Some(pane) = found.and_then(|id| panes.iter().find(|pane| pane.id == id))
            && is_free(panes, &pane.id)
            && let Ok(shared) = self.kept(pane, panes, false, world)
        {
            return Ok(shared);
        }
        if self.panes.len() >= PANES {
            let running: Vec<&str> = panes
                .iter()
                .filter(|pane| self.panes.iter().any(|known| known.id == pane.id))
                .map(|pane| pane.command.as_str())
                .collect();
            return Err(format!(
                "something is running in every shared pane ({}); ask the user to end it",
                running.join(", ")
            ));
        }
        let id = world.split(&self.session.cwd).map_err(Failure::text)?;
        let made = started(&id, world).and_then(|pane| self.kept(&pane, panes, true, world));
        made.inspect_err(|_| world.close(&id))
    }

    /// A pane, prepared and kept for a later start of the agent.
    fn kept(&self, pane: &Pane, panes: &[Pane], new: bool, world: &mut dyn TerminalHost) -> Result<Shared, String> {
        let shared = prepared(pane, &self.session, new, world)?;
        let own = panes.iter().find(|pane| pane.of_agent).map(|own| hook::pane_of(&own.id));
        for name in own.iter().map(String::as_str).chain([hook::PANE]) {
            if let Err(failure) = world.set_variable(name, &pane.id) {
                world.log(&failure.text());
            }
        }
        world.status(Some(&format!("terminal {}", pane.id)));
        Ok(shared)
    }
}

/// The pane that an earlier start of this agent has left, or that nobody else uses.
pub(crate) fn find(
    panes: &[Pane],
    session: &SessionFacts,
    world: &mut dyn TerminalHost,
) -> Result<Option<String>, String> {
    if session.target.is_some() {
        return Ok(session.target.clone());
    }
    let usable = |id: &String| panes.iter().any(|pane| pane.id == *id && !pane.of_agent);
    let mut variable = |name: &str| world.variable(name).map_err(Failure::text);
    let own = panes.iter().find(|pane| pane.of_agent).map(|own| hook::pane_of(&own.id));
    let own = own.map(|name| variable(&name)).transpose()?.flatten().filter(usable);
    let found = match own {
        Some(own) => Some(own),
        None => {
            let last = variable(hook::PANE)?.filter(usable);
            let mut others =
                panes.iter().filter(|pane| !pane.of_agent).map(|other| variable(&hook::pane_of(&other.id)));
            // Another agent in the session may use it.
            if others.any(|other| other.is_ok_and(|other| other.is_some() && other == last)) { None } else { last }
        }
    };
    // One that was shared has had a hook; any other is the user's alone.
    let Some(found) = found else { return Ok(None) };
    Ok(variable(&hook::codes_of(&found))?.map(|_| found))
}

/// Whether the shell of a pane waits for a command.
pub(crate) fn is_free(panes: &[Pane], id: &str) -> bool {
    panes.iter().find(|pane| pane.id == id).is_some_and(|pane| {
        // A host that does not know who is in the foreground knows its name.
        pane.at_shell.unwrap_or(true) && !pane.full_screen && Shell::named(&pane.command).is_some()
    })
}

/// Waits until the shell of a new pane waits for a command.
fn started(id: &str, world: &mut dyn TerminalHost) -> Result<Pane, String> {
    let mut before = Screen::default();
    for _ in 0..SHELL_STARTS / PAUSE {
        let panes = world.panes().map_err(Failure::text)?;
        let pane = panes.iter().find(|pane| pane.id == id).ok_or("the new pane closed immediately")?;
        let screen = world.capture(id, 0).map_err(Failure::text)?;
        let waits = is_free(&panes, id) && !screen.before_cursor.trim().is_empty();
        if waits && screen == before {
            return Ok(pane.clone());
        }
        before = screen;
        pause(id, world)?;
    }
    Err("the shell in the new pane did not start, or is neither bash nor zsh".to_owned())
}

fn pause(id: &str, world: &mut dyn TerminalHost) -> Result<(), String> {
    match world.wait_for(id, "pi-pause", PAUSE).map_err(Failure::text)? {
        Wake::Closed => Err("the pane was closed".to_owned()),
        Wake::Cancelled => Err("Cancelled".to_owned()),
        Wake::Signalled | Wake::Timeout => Ok(()),
    }
}

/// Makes the shell of a pane count its prompts, unless it does already. In a `new` pane nothing is typed.
fn prepared(pane: &Pane, session: &SessionFacts, new: bool, world: &mut dyn TerminalHost) -> Result<Shared, String> {
    let id = pane.id.as_str();
    let shell = Shell::named(&pane.command).ok_or_else(|| format!("{} is neither bash nor zsh", pane.command))?;
    let mut shared =
        Shared { id: id.to_owned(), cwd: session.cwd.clone(), folder: pane.cwd.clone(), shell, ..Shared::default() };
    let known = world.variable(&hook::codes_of(id)).map_err(Failure::text)?;
    let known = known.and_then(|text| Codes::read(&text).last());
    shared.sequence = known.unwrap_or_default();
    if new || known.is_none() || !shared.answers(&["C-c", "Enter"], HOOK_MAY_ANSWER, world)? {
        shared.hook(shell, new, world)?;
    }
    let shell = world.variable(&hook::shell_of(id)).map_err(Failure::text)?.unwrap_or_default();
    shared.pastes = hook::pastes(&shell);
    shared.watch(world);
    Ok(shared)
}

impl Shared {
    /// Whether the hook is there: it counts a line that is thrown away, and one that is empty, within so many milliseconds
    /// each. The prompt is then known, too: its height is what an empty line adds.
    fn answers(&mut self, keys: &[&str], limit: u32, world: &mut dyn TerminalHost) -> Result<bool, String> {
        for key in keys {
            let before = self.resting(world, |_| true)?;
            world.send_keys(&self.id, &[key]).map_err(Failure::text)?;
            if !self.reaches(self.sequence + 1, limit, world)? {
                return Ok(false);
            }
            let screen = self.resting(world, |screen| screen.text != before.text)?;
            self.prompt = Prompt::of(self.shell, &screen, added(&before, &screen));
            self.sequence += 1;
            self.rest = screen;
        }
        Ok(true)
    }

    /// Takes what the screen shows for the next prompt.
    pub(crate) fn rests(&mut self, screen: Screen) {
        self.prompt = self.prompt.after(&screen);
        self.rest = screen;
    }

    /// Types the hook, and learns the prompt of the screen that it clears.
    fn hook(&mut self, shell: Shell, new: bool, world: &mut dyn TerminalHost) -> Result<(), String> {
        let session = world.session().map_err(Failure::text)?;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 || !new {
                world.send_keys(&self.id, &["C-c"]).map_err(Failure::text)?;
                self.resting(world, |_| true)?;
            }
            // One that was there before may have counted on.
            self.sequence = self.codes(world)?.last().unwrap_or(self.sequence);
            let line = hook::line(shell, &self.id, &session, self.sequence);
            let sent = world.send_text(&self.id, &line);
            sent.map_err(|failure| format!("the terminal cannot be shared: {}", failure.text()))?;
            world.send_keys(&self.id, &["Enter"]).map_err(Failure::text)?;
            if self.reaches(self.sequence + 1, HOOK_ANSWERS, world)? {
                self.sequence += 1;
                if self.answers(&["Enter"], HOOK_ANSWERS, world)? {
                    return self.cleared(world);
                }
            }
        }
        Err("the shell in the shared pane does not respond".to_owned())
    }

    /// Takes the hook out of sight.
    fn cleared(&mut self, world: &mut dyn TerminalHost) -> Result<(), String> {
        world.send_text(&self.id, " clear").map_err(Failure::text)?;
        world.send_keys(&self.id, &["Enter"]).map_err(Failure::text)?;
        if self.reaches(self.sequence + 1, HOOK_ANSWERS, world)? {
            self.sequence += 1;
        }
        let screen = self.resting(world, |screen| !screen.text.contains(" clear"))?;
        self.rests(screen);
        Ok(())
    }

    /// The exit codes of the last prompts.
    pub(crate) fn codes(&self, world: &mut dyn TerminalHost) -> Result<Codes, String> {
        let text = world.variable(&hook::codes_of(&self.id)).map_err(Failure::text)?;
        Ok(Codes::read(&text.unwrap_or_default()))
    }

    /// Waits for a prompt, in milliseconds.
    pub(crate) fn reaches(&self, sequence: u64, limit: u32, world: &mut dyn TerminalHost) -> Result<bool, String> {
        let mut left = limit;
        loop {
            if self.codes(world)?.last().is_some_and(|last| last >= sequence) {
                return Ok(true);
            }
            if left == 0 {
                return Ok(false);
            }
            let slice = left.min(100);
            match world.wait_for(&self.id, &hook::agent_channel(&self.id, sequence), slice).map_err(Failure::text)? {
                Wake::Closed => return Err("the pane was closed".to_owned()),
                Wake::Signalled => {}
                Wake::Timeout => left -= slice,
                // It returns at once; a look takes some milliseconds.
                Wake::Cancelled => {
                    world.capture(&self.id, 0).map_err(Failure::text)?;
                    left -= slice.min(LOOK);
                }
            }
        }
    }

    /// The screen once a prompt is drawn that fits, else once it stays as it is. The signal comes before the prompt is
    /// drawn, and on a machine at work some time before.
    pub(crate) fn resting(
        &self,
        world: &mut dyn TerminalHost,
        fits: impl Fn(&Screen) -> bool,
    ) -> Result<Screen, String> {
        let mut before = Screen::default();
        let (mut since, mut looks, mut time) = (0, 0, 0);
        let begin = world.now();
        while time < DRAWN {
            let screen = world.capture(&self.id, LINES as u32).map_err(Failure::text)?;
            looks += 1;
            // A look takes some milliseconds; without a clock that is how time is told.
            time = match (begin, world.now()) {
                (Some(begin), Some(now)) => now.saturating_sub(begin),
                _ => looks * u64::from(LOOK),
            };
            let waits = !screen.before_cursor.trim().is_empty() && fits(&screen);
            if waits && self.prompt.is_at(&screen) {
                return Ok(screen);
            }
            if screen != before {
                (before, since) = (screen, time);
                continue;
            }
            // Another prompt than the last one is only believed if it stays.
            let stays = match waits {
                true if self.prompt.may_be_at(&screen) => 0,
                true => CHANGED,
                false => DRAWN,
            };
            if time - since >= stays {
                return Ok(screen);
            }
        }
        Ok(before)
    }

    /// Looks at the prompts that came since, and tells the agent what its user did.
    pub(crate) fn catch_up(&mut self, session: &SessionFacts, world: &mut dyn TerminalHost) {
        if let Err(why) = self.told(session, world) {
            world.log(&why);
        }
        self.watch(world);
    }

    fn told(&mut self, session: &SessionFacts, world: &mut dyn TerminalHost) -> Result<(), String> {
        let codes = self.codes(world)?;
        let Some(last) = codes.last().filter(|last| *last > self.sequence) else { return Ok(()) };
        let owed = self.owed.min(last - self.sequence);
        self.owed -= owed;
        self.sequence += owed;
        let by_user = last - self.sequence;
        self.sequence = last;
        let screen = self.resting(world, |_| true)?;
        // Where somebody types already the prompt is what it was.
        let (before, rest) = (self.prompt.clone(), std::mem::take(&mut self.rest));
        self.rest = screen.clone();
        if before.typed(&screen.before_cursor).is_none_or(str::is_empty) {
            self.prompt = before.after(&screen);
        }
        let folder = std::mem::replace(&mut self.folder, folder(&self.id, world).unwrap_or_default());
        // What the agent left on the screen meanwhile is not what was there before.
        let rest = (by_user == 1 && owed == 0 && !rest.text.is_empty()).then_some(&rest);
        // After C-c, or an empty line, there is a prompt and no command.
        if by_user == 0 || !codes.ran(last) {
            return Ok(());
        }
        let gone = || Activity {
            command: "[a command that is no longer on the screen]".to_owned(),
            output: screen.above().join("\n"),
        };
        let activity = last_command(rest, &screen, &before, &self.prompt).unwrap_or_else(gone);
        let code = codes.of(last).unwrap_or_default();
        let shown = short(&folder, session.home.as_deref());
        let mut text = format!("{shown} $ {}", activity.command);
        if !activity.output.is_empty() {
            let output = super::Output { text: activity.output, cut: false };
            text = format!("{text}\n{}", super::bounded(&output));
        }
        let details =
            json!({ "schema": 1, "command": activity.command, "exitCode": code, "cwd": folder, "pane": self.id });
        world.send(Outgoing {
            kind: KIND,
            text: format!("User activity in the shared terminal:\n\n{text}\n[exit code: {code}]"),
            details: details.to_string(),
        });
        Ok(())
    }

    /// Has the next prompt told.
    pub(crate) fn watch(&self, world: &mut dyn TerminalHost) {
        if let Err(failure) = world.watch(&self.id, &hook::user_channel(&self.id, self.sequence + 1)) {
            world.log(&failure.text());
        }
    }
}

/// How many lines a screen has that were not there before.
fn added(before: &Screen, screen: &Screen) -> usize {
    let lines = |screen: &Screen| screen.text.split('\n').map(str::to_owned).collect::<Vec<_>>();
    let (before, lines) = (lines(before), lines(screen));
    match overlap(&before, &lines) {
        // Its last line is another one now.
        0 => lines.len().saturating_sub(before.len()),
        same => lines.len() - same,
    }
}

/// The directory of a pane's shell.
pub(crate) fn folder(id: &str, world: &mut dyn TerminalHost) -> Option<String> {
    world.panes().ok()?.into_iter().find(|pane| pane.id == id).map(|pane| pane.cwd)
}

/// A directory as prompts show it.
fn short(folder: &str, home: Option<&str>) -> String {
    match home.and_then(|home| folder.strip_prefix(home.trim_end_matches('/'))) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        _ => folder.to_owned(),
    }
}
