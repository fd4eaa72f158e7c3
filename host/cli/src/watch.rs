//! What looks at what happens in a session: the lens of the default component, which has changed files checked, and the
//! components that the command line names.
//!
//! All of it is advice. Whatever goes wrong here is logged, and the agent goes on as if nothing had looked.
//!
//! An agent's hook is a process of its own each time, so that what the lens knows of the session is kept with it
//! (`session`), and a hook has its time. In an agent with a shim one process lives as long as the session: results are
//! looked at side by side, each by an instance of its own; all else by one that stays, which has timers.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use toolgate_host::capability::{Answer, LocalClock, LocalGit, LocalLog, Message, Outgoing, Ui};
use toolgate_host::limits::Limits;
use toolgate_host::{
    Capabilities, Diagnostic, End, Level, Lines, Observer, Plugin, Session, Span, ToolKind, ToolResult, Turn, Update,
};

use crate::agent::{Dialect, Scene};
use crate::lens;
use crate::place;
use crate::plugins::Plugins;
use crate::serve::Frames;
use crate::{session, show};

/// How long a look may take while an agent waits for a hook, which has half a minute for such events.
const LOOK: Duration = Duration::from_secs(20);

/// How long it may take at the start of a session, for which a hook has ten seconds.
const FIRST_LOOK: Duration = Duration::from_secs(3);

/// How often a process tries to keep what it knows, while others of the session do the same.
const TRIES: usize = 20;

/// Most sessions of one process that have an instance.
const LIVE: usize = 16;

/// Most sessions of one process whose state is kept when they have none any more.
const ASLEEP: usize = 256;

/// Columns for which a message is drawn. Who shows it cuts it.
const WIDTH: u32 = 200;

/// What has happened.
pub(crate) enum Happening<'a> {
    /// A session starts, for this reason.
    Start(&'a str),
    /// A tool has run. `last` if no other event says that.
    Result {
        result: &'a ToolResult,
        last: bool,
    },
    Update(&'a Update),
    End(&'a End),
    /// A turn has ended, in which the agent was sent on already, or not.
    Turn(bool),
    /// The session ends, for this reason.
    Over(&'a str),
}

impl Happening<'_> {
    /// Whether it is anything but the result of a tool that only reads.
    fn may_change_files(&self) -> bool {
        use ToolKind::{Fetch, List, Read, Search};
        !matches!(self, Happening::Result { result, .. } if matches!(result.call.kind, Fetch | List | Read | Search))
    }

    /// Why a session starts, if that is what happens.
    fn reason(&self) -> Option<&str> {
        match self {
            Happening::Start(reason) => Some(reason),
            _ => None,
        }
    }
}

/// Who looks.
#[derive(Clone)]
pub(crate) enum Watch {
    /// Nobody but the components that the command line names.
    Plugins,
    /// This process, which ends with its answer.
    Once,
    /// This process, which lives on.
    Sessions(Arc<Sessions>),
}

impl Watch {
    /// Looks at what has happened, and says what the agent is to know of it.
    pub(crate) async fn saw(
        &self,
        agent: &'static dyn Dialect,
        scene: &Scene,
        plugins: &Plugins,
        happening: &Happening<'_>,
    ) -> Seen {
        let end = Instant::now() + LOOK;
        let mut seen = match self {
            Watch::Plugins => Seen::default(),
            _ if !happening.may_change_files() => Seen::default(),
            // Nothing can be checked in a folder that is not there.
            _ if !Path::new(&scene.root).is_dir() => Seen::default(),
            Watch::Once => once(agent, scene, happening).await,
            Watch::Sessions(sessions) => sessions.saw(agent, scene, happening).await,
        };
        if let Happening::Result { result, .. } = happening {
            // What was found so far must not get lost with one that hangs.
            let found = tokio::time::timeout_at(end, others(result, scene, plugins)).await;
            seen.texts.extend(found.unwrap_or_default());
        }
        seen
    }
}

/// What came of a look.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// For the agent.
    pub(crate) texts: Vec<String>,
    /// For its user: what is wrong with the settings.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Seen {
    fn text(text: Option<String>) -> Self {
        Seen { texts: text.into_iter().collect(), diagnostics: Vec::new() }
    }
}

/// Messages of the component's, until its hook is done.
#[derive(Clone, Debug, Default)]
struct Outbox(Arc<Mutex<Vec<Outgoing>>>);

impl Outbox {
    fn drain(&self) -> Vec<Outgoing> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Message for Outbox {
    async fn send(&self, outgoing: Outgoing) -> Answer<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(outgoing);
        Ok(())
    }
}

/// What the lens may reach.
fn granted(agent: &dyn Dialect, scene: &Scene) -> Capabilities {
    let granted = Capabilities::denied().git(LocalGit).log(LocalLog);
    let granted = granted.files(lens::files(agent.name(), scene)).clock(LocalClock::default());
    match lens::daemon(agent.name(), scene) {
        Some(daemon) => granted.daemon(daemon),
        None => granted,
    }
}

fn session(agent: &dyn Dialect, scene: &Scene, reason: Option<&str>) -> Session {
    let mut context = json!({ "schema": 1, "agent": agent.name() });
    if let Some(reason) = reason {
        context["reason"] = reason.into();
    }
    Session {
        home: place::home(),
        workspace_root: scene.root.clone(),
        context: context.to_string(),
        ..Session::in_folder(&scene.cwd)
    }
}

/// Starts an observer, and says what is wrong with its settings.
async fn start(observer: &Observer) -> Seen {
    let started = observer.start().await.inspect_err(|error| tracing::warn!(%error, "nothing looks at this session"));
    Seen { texts: Vec::new(), diagnostics: started.map(|started| started.diagnostics).unwrap_or_default() }
}

/// Tells an observer, and says what it has for the agent.
async fn tell(observer: &Observer, happening: &Happening<'_>) -> Option<String> {
    match happening {
        Happening::Start(_) => None,
        Happening::Result { result, last } => {
            let added = observer.observe(result).await.map(|addition| addition.text);
            if *last {
                let call = &result.call;
                let end = End {
                    call: call.id.clone(),
                    tool: call.tool.clone(),
                    is_error: result.is_error,
                    outcome: json!({ "output": result.output }).to_string(),
                };
                observer.ended(&end).await;
            }
            added
        }
        Happening::Update(update) => {
            observer.updated(update).await;
            None
        }
        Happening::End(end) => {
            observer.ended(end).await;
            None
        }
        Happening::Turn(again) => {
            let context = json!({ "schema": 1, "again": again }).to_string();
            observer.turn_ended(&Turn { index: None, context }).await
        }
        Happening::Over(reason) => {
            // One that was never started has nothing to end.
            if observer.start().await.is_ok() {
                observer.shutdown(reason).await;
            }
            None
        }
    }
    .filter(|text| !text.is_empty())
}

/// In a process of its own.
async fn once(agent: &'static dyn Dialect, scene: &Scene, happening: &Happening<'_>) -> Seen {
    let plugin = match place::default_plugin() {
        Ok(plugin) => plugin,
        Err(error) => {
            tracing::warn!(%error, "nothing looks at this");
            return Seen::default();
        }
    };
    let first = matches!(happening, Happening::Start(_));
    let known = session::load(agent.name(), scene).observer;
    let observer = Observer::new(plugin, session(agent, scene, happening.reason()), granted(agent, scene))
        .with_limits(Limits { call: if first { FIRST_LOOK } else { LOOK }, ..Limits::OBSERVER })
        .with_state(bytes(known.as_ref()));
    let mut seen = if first { start(&observer).await } else { Seen::text(tell(&observer, happening).await) };
    let kept = matches!(happening, Happening::Over(_)) || keep(agent, scene, &observer, known).await;
    if !kept && matches!(happening, Happening::Turn(_)) {
        // At the end of the next turn it would be new again, and so at the end of each.
        seen.texts.clear();
    }
    // Taking it down is time that the agent waits.
    std::mem::forget(observer);
    seen
}

fn bytes(state: Option<&Value>) -> Vec<u8> {
    state.map(|state| state.to_string().into_bytes()).unwrap_or_default()
}

/// Keeps what the observer knows of the session, with what others have found out meanwhile. Whether it is kept.
async fn keep(agent: &dyn Dialect, scene: &Scene, observer: &Observer, mut known: Option<Value>) -> bool {
    for _ in 0..TRIES {
        let Ok(state) = serde_json::from_slice::<Value>(&observer.save().await) else { return false };
        if Some(&state) == known.as_ref() {
            return true;
        }
        let mut meanwhile = Ok(());
        let kept = session::keep(agent.name(), scene, |kept| meanwhile = kept.observe(known.as_ref(), state));
        match meanwhile {
            Ok(()) => return kept,
            Err(other) => {
                observer.join(&bytes(other.as_ref())).await;
                known = other;
            }
        }
    }
    false
}

/// What the components beside the guard add to a result. One that fails adds nothing.
async fn others(result: &ToolResult, scene: &Scene, plugins: &Plugins) -> Vec<String> {
    let loaded = plugins.load().unwrap_or_else(|error| {
        tracing::warn!(error, "the result is not looked at");
        Vec::new()
    });
    let mut added = Vec::new();
    for plugin in loaded.into_iter().filter(Plugin::has_observer) {
        let session = Session { workspace_root: scene.root.clone(), ..Session::in_folder(&scene.cwd) };
        let limits = Limits { call: LOOK, ..Limits::OBSERVER };
        let observer = Observer::new(plugin, session, Plugins::granted()).with_limits(limits);
        added.extend(observer.observe(result).await.map(|addition| addition.text).filter(|text| !text.is_empty()));
    }
    added
}

/// The sessions of an agent's process.
pub(crate) struct Sessions {
    plugin: Plugin,
    frames: Frames,
    kept: Mutex<Kept>,
}

/// Those that have an instance, the one that was used last at the end, and what the others knew.
#[derive(Default)]
struct Kept {
    live: Vec<(String, Arc<Live>)>,
    asleep: HashMap<String, Vec<u8>>,
}

/// A session.
struct Live {
    observer: Observer,
    outbox: Outbox,
}

impl Sessions {
    /// None yet. Messages go out by these frames.
    pub(crate) fn new(plugin: Plugin, frames: Frames) -> Self {
        Sessions { plugin, frames, kept: Mutex::default() }
    }

    async fn saw(&self, agent: &'static dyn Dialect, scene: &Scene, happening: &Happening<'_>) -> Seen {
        let live = self.live(agent, scene, happening);
        match happening {
            Happening::Result { .. } => {
                let outbox = Outbox::default();
                let session = session(agent, scene, None);
                let granted = granted(agent, scene).message(outbox.clone()).ui(self.frames.clone());
                let observer = Observer::new(self.plugin.clone(), session, granted).with_state(live.observer.state());
                let text = tell(&observer, happening).await;
                self.post(&outbox).await;
                let learned = observer.save().await;
                // The one that stays may be at a check of its own, which takes its time.
                tokio::spawn(async move {
                    live.observer.join(&learned).await;
                    live.observer.save().await;
                });
                Seen::text(text)
            }
            Happening::Start(_) => {
                let seen = start(&live.observer).await;
                for diagnostic in &seen.diagnostics {
                    // Who cannot be told has other troubles.
                    let _ = self.frames.notify(show::place(diagnostic), Level::Warning).await;
                }
                seen
            }
            _ => {
                let text = tell(&live.observer, happening).await;
                if !matches!(happening, Happening::Over(_)) {
                    live.observer.save().await;
                }
                self.post(&live.outbox).await;
                Seen::text(text)
            }
        }
    }

    /// The session of an event. One that starts again starts afresh, and one that ends is forgotten.
    fn live(&self, agent: &'static dyn Dialect, scene: &Scene, happening: &Happening<'_>) -> Arc<Live> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.live.iter().position(|(name, _)| *name == scene.session).map(|at| kept.live.remove(at).1);
        let state = kept.asleep.remove(&scene.session);
        let starts = matches!(happening, Happening::Start(_));
        let live = match known.filter(|_| !starts) {
            Some(known) => known,
            None => self.awake(agent, scene, happening, state.filter(|_| !starts).unwrap_or_default()),
        };
        if !matches!(happening, Happening::Over(_)) {
            kept.live.push((scene.session.clone(), live.clone()));
        }
        if kept.live.len() > LIVE {
            let (name, oldest) = kept.live.remove(0);
            if kept.asleep.len() >= ASLEEP {
                kept.asleep.clear();
            }
            kept.asleep.insert(name, oldest.observer.state());
        }
        live
    }

    fn awake(&self, agent: &dyn Dialect, scene: &Scene, happening: &Happening<'_>, state: Vec<u8>) -> Arc<Live> {
        let (due, called) = tokio::sync::mpsc::unbounded_channel();
        let outbox = Outbox::default();
        let granted = granted(agent, scene).message(outbox.clone()).ui(self.frames.clone());
        let granted = granted.clock(LocalClock::waking(due));
        let observer = Observer::new(self.plugin.clone(), session(agent, scene, happening.reason()), granted);
        let live = Arc::new(Live { observer: observer.with_state(state), outbox });
        tokio::spawn(wake(self.plugin.clone(), self.frames.clone(), Arc::downgrade(&live), called));
        live
    }

    /// Hands the messages of a hook to the agent.
    async fn post(&self, outbox: &Outbox) {
        post(&self.plugin, &self.frames, outbox).await;
    }
}

/// Calls a session's timer hook when its time has come, until the session is gone.
async fn wake(plugin: Plugin, frames: Frames, live: std::sync::Weak<Live>, mut called: UnboundedReceiver<String>) {
    while let Some(id) = called.recv().await {
        let Some(live) = live.upgrade() else { return };
        live.observer.timer(&id).await;
        live.observer.save().await;
        post(&plugin, &frames, &live.outbox).await;
    }
}

async fn post(plugin: &Plugin, frames: &Frames, outbox: &Outbox) {
    for message in outbox.drain() {
        post_one(plugin, frames, &message).await;
    }
}

async fn post_one(plugin: &Plugin, frames: &Frames, message: &Outgoing) {
    // Another instance draws: the one that sent it may be at work again.
    let artist = Observer::new(plugin.clone(), Session::in_folder("/"), Capabilities::denied());
    let folded = artist.render(message, false, WIDTH).await;
    let unfolded = artist.render(message, true, WIDTH).await;
    frames.message(message, &drawn(&folded), &drawn(&unfolded));
}

/// Hands each message to the agent at once.
pub(crate) struct Post {
    plugin: Plugin,
    frames: Frames,
}

impl Post {
    /// By these frames, drawn by this component.
    pub(crate) fn new(plugin: Plugin, frames: Frames) -> Self {
        Post { plugin, frames }
    }
}

#[async_trait]
impl Message for Post {
    async fn send(&self, outgoing: Outgoing) -> Answer<()> {
        post_one(&self.plugin, &self.frames, &outgoing).await;
        Ok(())
    }
}

fn drawn(lines: &Lines) -> Value {
    let line = |line: &Vec<Span>| -> Value {
        line.iter().map(|span| json!({ "text": span.text, "style": span.style })).collect()
    };
    lines.iter().map(line).collect()
}
