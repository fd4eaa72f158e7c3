//! The real terminal: panes of the tmux server that the agent runs in.
//!
//! What is typed goes to the pane's terminal as a paste, which tmux neither reads as names of keys nor bounds in length,
//! and which gets nowhere else. A pane whose input is switched off, or copied to other panes (the agent's own among
//! them), is not typed into: what its line holds could not be told.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Mutex as TurnMutex, OnceCell, watch};
use tokio::task::AbortHandle;

use super::border::{self, Border};
use super::keys::{Effect, Key, key};
use super::line::{Input, Line};
use super::panes::{self, PaneInfo, is_id};
use super::screen::Captured;
use super::tmux::{Tmux, argument, find, mark, quoted};
use super::typing::Typing;
use super::waits::{Wait, is_channel};
use toolgate_host::CapabilityError;
use toolgate_host::Signal;
use toolgate_host::capability::{Answer, Pane, Screen, Terminal, Wake, apart};

/// Most lines of what has scrolled out of a pane.
const MAX_LINES: u32 = 10_000;

/// Longest text that a line may hold, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// Most keys at a time.
const MAX_KEYS: usize = 100;

/// For how long a list of panes is good for looking: the id of a pane is never given to another one. What is typed is
/// judged by a new list.
const LIST_MAX_AGE: Duration = Duration::from_millis(500);

/// What the names of variables begin with that are set. Others say what a shell, the loader or an editor runs in a new
/// pane, like `PROMPT_COMMAND`, `BASH_ENV`, `LD_PRELOAD` and `PATH`.
const OURS: &str = "PI_";

/// Longest variable of a session, in bytes: tmux takes 16 KiB for all arguments.
const MAX_VALUE: usize = 8 << 10;

/// Whether what is typed into a pane does not get there, or not only there.
const ELSEWHERE: &str = "#{||:#{pane_synchronized},#{pane_input_off}}";

/// The panes of the tmux session that the agent runs in, and the one that the user named. Clones share all.
#[derive(Clone)]
pub struct LocalTerminal(Arc<Inner>);

struct Inner {
    tmux: Tmux,
    /// The pane that the agent runs in.
    own: String,
    /// The number of the session that tmux put into the environment. The pane may have been moved since.
    session: String,
    target: Option<String>,
    target_id: OnceCell<String>,
    typing: Arc<dyn Typing>,
    /// What the line of each pane holds. Judging and typing are one step, so that no two texts get between each other.
    lines: TurnMutex<HashMap<String, Line>>,
    opened: Mutex<HashSet<String>>,
    /// The panes that may be used, as they were listed last.
    recent: Mutex<Option<(Instant, Vec<PaneInfo>)>>,
    watches: Mutex<HashMap<String, Watch>>,
    signals: OnceLock<UnboundedSender<Signal>>,
    cancelled: watch::Sender<bool>,
    borders: TurnMutex<HashMap<String, Border>>,
}

/// A watch that runs. It ends when this is dropped.
struct Watch {
    channel: String,
    task: AbortHandle,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl std::fmt::Debug for LocalTerminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalTerminal").field("tmux", &self.0.tmux).field("own", &self.0.own).finish_non_exhaustive()
    }
}

impl LocalTerminal {
    /// The terminal that `TMUX`, `TMUX_PANE` and `TMUX_MIRROR_TARGET` name; none outside tmux.
    pub fn from_environment(typing: Arc<dyn Typing>) -> Option<Self> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self::new(&variable("TMUX")?, &variable("TMUX_PANE")?, variable("TMUX_MIRROR_TARGET"), typing)
    }

    /// The same with the values of these variables; none if they do not name an agent's pane.
    pub fn new(tmux: &str, own: &str, target: Option<String>, typing: Arc<dyn Typing>) -> Option<Self> {
        // The socket, the server's process and the session's number.
        let mut parts = tmux.rsplitn(3, ',');
        let (session, _pid, socket) = (parts.next()?, parts.next()?, PathBuf::from(parts.next()?));
        (socket.is_absolute() && is_id(own)).then(|| {
            LocalTerminal(Arc::new(Inner {
                tmux: Tmux::new(socket),
                own: own.to_owned(),
                session: format!("${session}"),
                target,
                target_id: OnceCell::new(),
                typing,
                lines: TurnMutex::default(),
                opened: Mutex::default(),
                recent: Mutex::default(),
                watches: Mutex::default(),
                signals: OnceLock::new(),
                cancelled: watch::Sender::new(false),
                borders: TurnMutex::default(),
            }))
        })
    }

    /// Says where the ends of watches go, once; whoever receives them calls [`toolgate_host::Provider::signalled`].
    #[must_use]
    pub fn watching(self, signals: UnboundedSender<Signal>) -> Self {
        let _ = self.0.signals.set(signals);
        self
    }

    /// The pane that the user has named for sharing, as they named it.
    pub fn target(&self) -> Option<&str> {
        self.0.target.as_deref()
    }

    /// The id of that pane.
    ///
    /// # Errors
    /// [`CapabilityError::NotFound`] if there is no such pane.
    pub async fn target_pane(&self) -> Answer<Option<String>> {
        let Some(name) = &self.0.target else { return Ok(None) };
        let id = self.0.target_id.get_or_try_init(|| panes::resolved(&self.0.tmux, name)).await?;
        Ok(Some(id.clone()))
    }

    /// Ends the waits of the tool that runs, and those that begin, until [`LocalTerminal::resume`].
    pub fn cancel(&self) {
        self.0.cancelled.send_replace(true);
    }

    /// Lets the next tool wait again.
    pub fn resume(&self) {
        self.0.cancelled.send_replace(false);
    }

    /// Ends all watches, and the processes that wait for them: nothing is left behind once this has ended.
    pub async fn end_watches(&self) {
        let ended: Vec<AbortHandle> =
            self.watches(|watches| watches.drain().map(|(_, watch)| watch.task.clone()).collect());
        while !ended.iter().all(AbortHandle::is_finished) {
            tokio::task::yield_now().await;
        }
    }

    /// Shows a text in the border of a pane, of which the first 200 characters; none makes the border what it was.
    ///
    /// # Errors
    /// [`CapabilityError::NotFound`] if there is no such pane, and what tmux says.
    pub async fn show_in_border(&self, pane: &str, text: Option<&str>) -> Answer<()> {
        let mut borders = self.0.borders.lock().await;
        match (text, borders.get(pane)) {
            (Some(text), Some(_)) => border::change(&self.0.tmux, pane, text).await?,
            (Some(text), None) => {
                self.listed(pane).await?;
                borders.insert(pane.to_owned(), border::show(&self.0.tmux, pane, text).await?);
            }
            (None, _) => {
                let before = borders.remove(pane);
                if let Some(before) = before {
                    border::restore(&self.0.tmux, pane, &before).await?;
                }
            }
        }
        Ok(())
    }

    /// The session that the agent's pane is in.
    fn session_in(&self, all: &[PaneInfo]) -> Answer<String> {
        let own = || all.iter().filter(|found| found.pane.of_agent).map(|found| &found.session);
        // A window may be in several sessions.
        let session = own().find(|session| **session == self.0.session).or(own().next());
        let gone = || CapabilityError::Unavailable(format!("the agent's own pane {} does not exist", self.0.own));
        session.cloned().ok_or_else(gone)
    }

    /// The panes that may be used.
    async fn found(&self) -> Answer<Vec<PaneInfo>> {
        let target = self.target_pane().await?;
        let all = panes::all(&self.0.tmux, &self.0.own).await?;
        let session = self.session_in(&all)?;
        let is_target = |found: &PaneInfo| target.as_ref() == Some(&found.pane.id);
        if let Some(target) = target.as_ref().filter(|_| !all.iter().any(is_target)) {
            return Err(CapabilityError::NotFound(format!(
                "TMUX_MIRROR_TARGET names the pane {target}, which no longer exists"
            )));
        }
        let mut panes: Vec<PaneInfo> = Vec::new();
        for found in all {
            let known = panes.iter().any(|known| known.pane.id == found.pane.id);
            if !known && (found.session == session || is_target(&found)) {
                panes.push(found);
            }
        }
        *self.recent() = Some((Instant::now(), panes.clone()));
        Ok(panes)
    }

    fn recent(&self) -> std::sync::MutexGuard<'_, Option<(Instant, Vec<PaneInfo>)>> {
        self.0.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The panes as they were a moment ago.
    async fn lately(&self) -> Answer<Vec<PaneInfo>> {
        let known =
            self.recent().as_ref().filter(|(when, _)| when.elapsed() < LIST_MAX_AGE).map(|(_, panes)| panes.clone());
        match known {
            Some(panes) => Ok(panes),
            None => self.found().await,
        }
    }

    /// A pane that may be looked at.
    async fn listed(&self, id: &str) -> Answer<PaneInfo> {
        if !is_id(id) {
            return Err(CapabilityError::Invalid(format!("{id:?} is not a pane id like %3")));
        }
        let of_id = |panes: Vec<PaneInfo>| panes.into_iter().find(|found| found.pane.id == id);
        match of_id(self.lately().await?) {
            Some(found) => Ok(found),
            None => {
                let elsewhere = || CapabilityError::NotFound(format!("the pane {id} is not in the agent's session"));
                of_id(self.found().await?).ok_or_else(elsewhere)
            }
        }
    }

    /// A pane that may be typed into.
    async fn typable(&self, id: &str) -> Answer<PaneInfo> {
        // What is typed is judged by where the shell is now.
        self.found().await?;
        match self.listed(id).await {
            Ok(found) if found.pane.of_agent => {
                Err(CapabilityError::Denied("typing into the agent's own pane is not allowed".to_owned()))
            }
            Err(CapabilityError::NotFound(why)) => Err(CapabilityError::Denied(why)),
            found => found,
        }
    }

    /// Judges a text with what the line holds, and types it.
    async fn put(&self, pane: &str, input: Input<'_>, text: &str, how: &str) -> Answer<()> {
        let mut lines = self.0.lines.lock().await;
        let found = self.typable(pane).await?;
        if text.is_empty() {
            return Ok(());
        }
        let line = lines.entry(pane.to_owned()).or_default();
        let step = line.after(input).map_err(|why| CapabilityError::Denied(why.to_owned()))?;
        self.judge(step.judged.as_deref(), &found).await?;
        let empty = *line == Line::default();
        changing(line, step.line, self.write(pane, empty, text, how)).await
    }

    async fn judge(&self, line: Option<&str>, found: &PaneInfo) -> Answer<()> {
        let Some(line) = line else { return Ok(()) };
        if line.len() > MAX_TEXT {
            return Err(CapabilityError::TooLarge(MAX_TEXT as u64));
        }
        self.0.typing.judge(line, &found.pane.cwd).await.map_err(CapabilityError::Denied)
    }

    /// Writes a text to a pane's terminal. Line breaks become what Enter sends. What others have typed on a line that
    /// should be empty is thrown away in the same moment, so that it is not joined to what was judged.
    async fn write(&self, pane: &str, empty: bool, text: &str, how: &str) -> Answer<()> {
        let buffer = mark();
        let load = ["load-buffer", "-b", &buffer, "-", ";"];
        let clear = if empty { format!("send-keys -t {pane} C-u ; ") } else { String::new() };
        let paste = format!("copy-mode -q -t {pane} ; {clear}paste-buffer -d {how} -b {buffer} -t {pane}");
        let forget = format!("delete-buffer -b {buffer} ; ");
        self.unless_elsewhere(pane, &load, text.as_bytes(), &forget, &paste).await
    }

    /// Runs commands of tmux unless what they type would not get only to this pane, in the same moment. Before that others
    /// that read `input`, and if it would not, those that are to make up for them.
    async fn unless_elsewhere(
        &self,
        pane: &str,
        before: &[&str],
        input: &[u8],
        otherwise: &str,
        commands: &str,
    ) -> Answer<()> {
        let mark = mark();
        let otherwise = format!("{otherwise}display-message -p {mark}");
        let rest = ["if-shell", "-F", "-t", pane, ELSEWHERE, &otherwise, commands];
        let output = self.0.tmux.run_with(&[before, &rest].concat(), input, None).await?.output()?;
        match output.contains(&mark) {
            true => Err(CapabilityError::Denied(format!(
                "input to the pane {pane} is off, or copied to other panes (synchronize-panes)"
            ))),
            false => Ok(()),
        }
    }

    /// What a pane shows, from one moment.
    async fn captured(&self, pane: &str, lines: u32) -> Answer<Screen> {
        // `-0` is the first row on the screen.
        let (mark, start) = (mark(), format!("-{}", lines.min(MAX_LINES)));
        let commands = format!(
            "display-message -p -t {pane} #{{cursor_x}},#{{cursor_y}},#{{pane_width}},#{{pane_height}} \
             ; display-message -p {mark} ; capture-pane -p -J -t {pane} -S {start} -E - \
             ; display-message -p {mark} ; capture-pane -p -N -t {pane} -S 0 -E -"
        );
        let commands: Vec<&str> = commands.split(' ').collect();
        let output = self.0.tmux.run(&commands).await?.output()?;
        let odd = || CapabilityError::Other(format!("tmux does not return the content of the pane {pane}"));
        let between = format!("\n{mark}\n");
        let mut parts = output.split(&between);
        let (Some(numbers), Some(joined), Some(rows)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(odd());
        };
        let mut numbers = numbers.split(',').map(|number| number.parse::<u32>().ok());
        let mut next = || numbers.next().flatten().ok_or_else(odd);
        let (x, y, width, height) = (next()?, next()?, next()?, next()?);
        let rows = rows.strip_suffix('\n').unwrap_or(rows);
        let captured = Captured { x: x as usize, y: y as usize, width, height, joined, rows };
        captured.screen().ok_or_else(odd)
    }

    fn watches<T>(&self, change: impl FnOnce(&mut HashMap<String, Watch>) -> T) -> T {
        change(&mut self.0.watches.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn opened<T>(&self, change: impl FnOnce(&mut HashSet<String>) -> T) -> T {
        change(&mut self.0.opened.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn wait(&self, pane: &str, channel: &str) -> Answer<Option<Wait>> {
        if !is_channel(channel) {
            return Err(CapabilityError::Invalid(format!(
                "{channel:?} is not a valid channel: use letters, digits, - and _"
            )));
        }
        match self.listed(pane).await {
            Ok(found) => Ok(Some(Wait {
                tmux: self.0.tmux.clone(),
                pane: pane.to_owned(),
                pid: found.pid,
                channel: channel.to_owned(),
            })),
            Err(CapabilityError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The user's shell if the shared terminal can be in it.
    async fn shell(&self) -> Answer<String> {
        let said = self.0.tmux.run(&["display-message", "-p", "-t", &self.0.own, "#{default-shell}"]).await?;
        let shell = said.output()?.trim_end().to_owned();
        let name = Path::new(&shell).file_name().and_then(|name| name.to_str());
        if matches!(name, Some("bash" | "zsh")) {
            return Ok(shell);
        }
        let bash = find("bash").and_then(|path| path.into_os_string().into_string().ok());
        bash.ok_or_else(|| CapabilityError::Unavailable("neither bash nor zsh is installed".to_owned()))
    }
}

/// Does what changes a line. What the line holds is not known if that does not come to its end.
async fn changing(line: &mut Line, after: Line, change: impl Future<Output = Answer<()>>) -> Answer<()> {
    let before = std::mem::replace(line, Line::Unknown);
    let changed = change.await;
    match &changed {
        Ok(()) => *line = after,
        Err(CapabilityError::Denied(_)) => *line = before,
        Err(_) => {}
    }
    changed
}

/// Refuses what a terminal would take for keys: an editor is opened by `C-x C-e`, a paste is ended by `ESC [ 201~`.
fn text_only(text: &str) -> Answer<()> {
    match text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        Some(c) => {
            Err(CapabilityError::Invalid(format!("the text contains the control character {c:?}, which acts as a key")))
        }
        None => Ok(()),
    }
}

/// Whether this may name a variable.
fn variable(name: &str) -> Answer<&str> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let odd = || CapabilityError::Invalid(format!("{name:?} is not a valid variable name"));
    let named = (1..=200).contains(&name.len()) && !name.starts_with(|c: char| c.is_ascii_digit());
    (named && name.bytes().all(fits)).then_some(name).ok_or_else(odd)
}

#[async_trait]
impl Terminal for LocalTerminal {
    async fn session(&self) -> Answer<String> {
        self.session_in(&self.lately().await?)
    }

    async fn panes(&self) -> Answer<Vec<Pane>> {
        Ok(self.found().await?.into_iter().map(|found| found.pane).collect())
    }

    async fn split(&self, cwd: String) -> Answer<String> {
        let folder = PathBuf::from(cwd);
        let wanted = folder.clone();
        if !apart(move || wanted.is_absolute() && wanted.is_dir()).await? {
            return Err(CapabilityError::NotFound(format!("{} is not a folder", folder.display())));
        }
        let shell = self.shell().await?;
        // tmux would expand a folder in an argument, and `#(command)` in its name would run. Two words for the program
        // are run as they are, one would go through a shell.
        let arguments =
            ["split-window", "-h", "-d", "-P", "-F", "#{pane_id}", "-t", &self.0.own, "--", &argument(&shell), "-l"];
        let said = self.0.tmux.run_with(&arguments, &[], Some(&folder)).await?;
        if said.error.contains("no space") {
            let why = "the window has no room for another pane: make it larger, or close a pane";
            return Err(CapabilityError::Other(why.to_owned()));
        }
        let id = said.output()?.trim_end().to_owned();
        self.opened(|opened| opened.insert(id.clone()));
        Ok(id)
    }

    async fn send_text(&self, pane: String, text: String, enter: bool) -> Answer<()> {
        text_only(&text)?;
        let typed = if enter { format!("{text}\n") } else { text.clone() };
        self.put(&pane, Input::Typed { text: &text, enter }, &typed, "").await
    }

    async fn paste(&self, pane: String, text: String) -> Answer<()> {
        text_only(&text)?;
        self.put(&pane, Input::Pasted(&text), &text, "-p").await
    }

    async fn send_keys(&self, pane: String, keys: Vec<String>) -> Answer<()> {
        if keys.len() > MAX_KEYS {
            return Err(CapabilityError::TooLarge(MAX_KEYS as u64));
        }
        let keys = keys.iter().map(|name| key(name)).collect::<Answer<Vec<Key>>>()?;
        let mut lines = self.0.lines.lock().await;
        let found = self.typable(&pane).await?;
        let line = lines.entry(pane.clone()).or_default();
        let mut after = line.clone();
        for key in &keys {
            let step = after.pressed(key).map_err(|why| CapabilityError::Denied(why.to_owned()))?;
            self.judge(step.judged.as_deref(), &found).await?;
            after = step.line;
        }
        let press = |key: &Key| match key.effect {
            Effect::Types(c) => format!(" ; send-keys -t {pane} -l -- {}", quoted(c)),
            _ => format!(" ; send-keys -t {pane} -- {}", key.name),
        };
        // A pane that the user scrolls takes keys for commands of its own.
        let press = format!("copy-mode -q -t {pane}") + &keys.iter().map(press).collect::<String>();
        changing(line, after, self.unless_elsewhere(&pane, &[], &[], "", &press)).await
    }

    async fn capture(&self, pane: String, lines: u32) -> Answer<Screen> {
        self.listed(&pane).await?;
        self.captured(&pane, lines).await
    }

    async fn wait_for(&self, pane: String, channel: String, timeout: u32) -> Answer<Wake> {
        let Some(wait) = self.wait(&pane, &channel).await? else { return Ok(Wake::Closed) };
        let mut cancelled = self.0.cancelled.subscribe();
        tokio::select! {
            biased;
            woken = wait.end() => woken,
            _ = cancelled.wait_for(|cancelled| *cancelled) => Ok(Wake::Cancelled),
            () = tokio::time::sleep(Duration::from_millis(timeout.into())) => Ok(Wake::Timeout),
        }
    }

    async fn watch(&self, pane: String, channel: String) -> Answer<()> {
        let nobody = || CapabilityError::Unavailable("no receiver for the end of a watch".to_owned());
        let signals = self.0.signals.get().cloned().ok_or_else(nobody)?;
        // A wait that is given up takes a signal with it that has just come.
        let same = |watch: &Watch| watch.channel == channel && !watch.task.is_finished();
        if self.watches(|watches| watches.get(&pane).is_some_and(same)) {
            return Ok(());
        }
        let wait = self.wait(&pane, &channel).await?;
        let (of, on) = (pane.clone(), channel.clone());
        let task = tokio::spawn(async move {
            let end = match wait {
                Some(wait) => wait.end().await,
                None => Ok(Wake::Closed),
            };
            let closed = !matches!(end, Ok(Wake::Signalled));
            // Nobody is there any more when the session ends.
            let _ = signals.send(Signal { pane: of, channel: on, closed });
        });
        let watch = Watch { channel, task: task.abort_handle() };
        self.watches(|watches| watches.insert(pane, watch));
        Ok(())
    }

    async fn get_environment(&self, name: String) -> Answer<Option<String>> {
        variable(&name)?;
        let said = self.0.tmux.run(&["show-environment", "-t", &self.session().await?, &name]).await?;
        if said.error.starts_with("unknown variable") {
            return Ok(None);
        }
        // One that is taken away from new panes is told as `-NAME`.
        let output = said.output()?;
        let value = output.strip_prefix(&*name).and_then(|rest| rest.strip_prefix('='));
        Ok(value.map(|value| value.strip_suffix('\n').unwrap_or(value).to_owned()))
    }

    async fn set_environment(&self, name: String, value: String) -> Answer<()> {
        variable(&name)?;
        if !name.starts_with(OURS) {
            return Err(CapabilityError::Denied(format!(
                "{name} may be one that programs in new panes run; only names that begin with {OURS} are set"
            )));
        }
        if value.len() > MAX_VALUE {
            return Err(CapabilityError::TooLarge(MAX_VALUE as u64));
        }
        if value.contains('\0') {
            return Err(CapabilityError::Invalid("a variable cannot contain NUL".to_owned()));
        }
        let session = self.session().await?;
        let said = self.0.tmux.run(&["set-environment", "-t", &session, "--", &name, &argument(&value)]).await?;
        said.output().map(drop)
    }

    async fn close(&self, pane: String) -> Answer<()> {
        if !self.opened(|opened| opened.contains(&pane)) {
            return Err(CapabilityError::Denied(format!("the pane {pane} was not opened here")));
        }
        self.0.tmux.run(&["kill-pane", "-t", &pane]).await?.output()?;
        self.opened(|opened| opened.remove(&pane));
        self.0.lines.lock().await.remove(&pane);
        Ok(())
    }
}
