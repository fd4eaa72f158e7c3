//! What looks at what happens in a session: the lens of the default component, which has changed files checked, and the
//! plugins.
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
use toolgate_agents::agent::{Dialect, SessionContext, SessionRef};
use toolgate_agents::dirs;
use toolgate_agents::text::place;
use toolgate_capabilities::{LocalClock, LocalGit};
use toolgate_host::capability::{Answer, LocalLog, Message, Outgoing, Ui};
use toolgate_host::limits::Limits;
use toolgate_host::{
    Analysis, Capabilities, Capability, Diagnostic, End, Granted, Level, Lines, LoadError, Observer, Plugin, Session,
    Span, ToolKind, ToolResult, Turn, Update,
};

use crate::frames::Frames;
use crate::observers::SessionEvents;
use crate::plugin::loaded::Loaded;
use crate::plugins::Plugins;
use crate::{gate_builder, gates, lens, session};

/// How long a look may take while an agent waits for a hook, which has half a minute for such events.
const OBSERVE_TIMEOUT: Duration = Duration::from_secs(20);

/// How long it may take at the start of a session, for which a hook has ten seconds.
const START_TIMEOUT: Duration = Duration::from_secs(3);

/// How often a process tries to keep what it knows, while others of the session do the same.
const MAX_TRIES: usize = 20;

/// Most sessions of one process that have an instance.
const MAX_LIVE: usize = 16;

/// Most sessions of one process whose state is kept when they have none any more.
const MAX_SUSPENDED: usize = 256;

/// Columns for which a message is drawn. Who shows it cuts it.
const WIDTH: u32 = 200;

/// What has happened.
pub(crate) enum ObservedEvent<'a> {
    /// A session starts, for this reason.
    Start(&'a str),
    /// A tool has run. `last` if no other event says that.
    Result {
        result: &'a ToolResult,
        last: bool,
    },
    Update(&'a Update),
    End(&'a End),
    /// A turn has ended.
    Turn {
        /// Whether the agent was sent on in it already.
        again: bool,
        /// Whether calls may have run that no event told of.
        unseen: bool,
    },
    /// The session ends, for this reason.
    Over(&'a str),
}

impl ObservedEvent<'_> {
    /// Whether it is anything but the result of a tool that only reads.
    fn may_change_files(&self) -> bool {
        use ToolKind::{Fetch, List, Read, Search};
        !matches!(self, ObservedEvent::Result { result, .. } if matches!(result.call.kind, Fetch | List | Read | Search))
    }

    /// Why a session starts, if that is what happens.
    fn reason(&self) -> Option<&str> {
        match self {
            ObservedEvent::Start(reason) => Some(reason),
            _ => None,
        }
    }
}

/// Who looks.
#[derive(Clone)]
pub enum Watch {
    /// Nobody but the plugins.
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
        scene: &SessionContext,
        plugins: &Plugins,
        happening: &ObservedEvent<'_>,
    ) -> WatchResult {
        let first = matches!(happening, ObservedEvent::Start(_));
        let end = Instant::now() + if first { START_TIMEOUT } else { OBSERVE_TIMEOUT };
        let lens = async {
            match self {
                Watch::Plugins => WatchResult::default(),
                _ if !happening.may_change_files() => WatchResult::default(),
                // Nothing can be checked in a folder that is not there.
                _ if !Path::new(&scene.root).is_dir() => WatchResult::default(),
                Watch::Once => match Eye::lens() {
                    Ok(lens) => once(agent, scene, &lens, happening, end).await,
                    Err(error) => {
                        tracing::warn!(%error, "nothing looks at this");
                        WatchResult::default()
                    }
                },
                Watch::Sessions(sessions) => sessions.lens.saw(agent, scene, happening).await,
            }
        };
        let (mut seen, others) = tokio::join!(lens, self.others(agent, scene, plugins, happening, end));
        seen.texts.extend(others.texts);
        seen.diagnostics.extend(others.diagnostics);
        seen
    }

    /// What the plugins have to say, one after the other. One that fails or hangs says nothing, and takes no time from the
    /// others.
    async fn others(
        &self,
        agent: &'static dyn Dialect,
        scene: &SessionContext,
        plugins: &Plugins,
        happening: &ObservedEvent<'_>,
        end: Instant,
    ) -> WatchResult {
        let loaded = plugins.load().unwrap_or_else(|error| {
            tracing::warn!(error, "no plugin looks at this");
            Vec::new()
        });
        let result = match happening {
            ObservedEvent::Result { result, .. } => {
                tokio::time::timeout_at(end, analysed(&loaded, SessionRef { agent, scene }, result))
                    .await
                    .unwrap_or_default()
            }
            _ => None,
        };
        let happening = match (happening, &result) {
            (ObservedEvent::Result { last, .. }, Some(result)) => &ObservedEvent::Result { result, last: *last },
            (happening, _) => happening,
        };
        let eyes: Vec<Eye> = loaded.into_iter().filter(|one| one.plugin.has_observer()).map(Eye::plugin).collect();
        let residents = match self {
            Watch::Sessions(sessions) => sessions.plugins(&eyes),
            _ => Vec::new(),
        };
        let mut seen = WatchResult::default();
        for (at, eye) in eyes.iter().enumerate() {
            let waiting = u32::try_from(eyes.len() - at).unwrap_or(u32::MAX);
            let share = Instant::now() + end.saturating_duration_since(Instant::now()) / waiting;
            let look = async {
                match residents.get(at) {
                    Some(resident) => resident.saw(agent, scene, happening).await,
                    None => once(agent, scene, eye, happening, share).await,
                }
            };
            let Ok(one) = tokio::time::timeout_at(share, look).await else {
                tracing::warn!(plugin = eye.key, "timed out");
                continue;
            };
            seen.texts.extend(one.texts);
            seen.diagnostics.extend(one.diagnostics);
        }
        seen
    }
}

/// A result with what its shell text and its tool do. None if no plugin looks at it, or if nothing is said of that.
async fn analysed(loaded: &[Loaded], whose: SessionRef<'_>, result: &ToolResult) -> Option<ToolResult> {
    let scene = whose.scene;
    let says_nothing = result.call.command.is_none() && result.call.effects().is_empty();
    if says_nothing || !loaded.iter().any(|one| one.plugin.has_observer()) {
        return None;
    }
    let session = scene.session_in(&result.call.cwd);
    let files = dirs::rule_files(&[Path::new(&scene.root), Path::new(&result.call.cwd)]).unwrap_or_default();
    let reach = gate_builder::granted(
        files.clone(),
        None,
        &gate_builder::extension_registry(loaded, &session, &files, Some(whose)),
    );
    let analysis = Analysis::new(gate_builder::default_plugin().ok()?, session, reach);
    let call = gates::analysed(&analysis, &result.call).await;
    let told = |why: &String| tracing::warn!(why, "the plugins get no analysis of the text");
    let mut result = result.clone();
    result.call = call.inspect_err(told).ok()?;
    Some(result)
}

/// A component that looks.
#[derive(Clone)]
struct Eye {
    plugin: Plugin,
    /// Who it is, where its state is kept.
    key: String,
    /// What it was granted; none for the lens, which has what it needs.
    granted: Option<Loaded>,
}

impl Eye {
    fn lens() -> Result<Self, LoadError> {
        Ok(Eye::of_lens(gate_builder::default_plugin()?))
    }

    fn of_lens(plugin: Plugin) -> Self {
        Eye { plugin, key: session::LENS.to_owned(), granted: None }
    }

    fn plugin(loaded: Loaded) -> Self {
        Eye { plugin: loaded.plugin.clone(), key: loaded.key.clone(), granted: Some(loaded) }
    }

    /// What its state is kept under: a newer version takes it over.
    fn name(&self) -> &str {
        self.granted.as_ref().map_or(session::LENS, Loaded::kept_under)
    }

    fn may(&self) -> Option<&Granted> {
        self.granted.as_ref().map(|loaded| &loaded.granted)
    }

    fn is_lens(&self) -> bool {
        self.granted.is_none()
    }

    /// Whether there is anything to be kept from one instance to the next.
    fn remembers(&self) -> bool {
        self.plugin.description().exports.iter().any(|export| export.contains("/handover@"))
    }

    /// What it may reach, with what a process that stays adds to it.
    fn reach(
        &self,
        agent: &'static dyn Dialect,
        scene: &SessionContext,
        more: impl FnOnce(Capabilities) -> Capabilities,
    ) -> Capabilities {
        let files = match self.is_lens() {
            true => lens::files(agent.name(), scene),
            false => dirs::rule_files(&[Path::new(&scene.root), Path::new(&scene.cwd)]).unwrap_or_default(),
        };
        let all = Capabilities::absent().git(LocalGit).log(LocalLog).files(files).clock(LocalClock::default());
        // Who is not granted it need not wait until it is known which one it would be.
        let checks = self.may().is_none_or(|granted| granted.capabilities.contains(&Capability::Daemon));
        let all = match checks.then(|| lens::daemon(agent.name(), scene)).flatten() {
            Some(daemon) => all.daemon(daemon),
            None => all,
        };
        match &self.granted {
            Some(loaded) => {
                let all = more(all).journal(SessionEvents::new(agent, scene));
                loaded.may(all, Some(SessionRef { agent, scene }))
            }
            None => more(all),
        }
    }
}

/// What came of a look.
#[derive(Debug, Default)]
pub(crate) struct WatchResult {
    /// For the agent.
    pub(crate) texts: Vec<String>,
    /// For its user: what is wrong with the settings.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl WatchResult {
    fn text(text: Option<String>) -> Self {
        WatchResult { texts: text.into_iter().collect(), diagnostics: Vec::new() }
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

fn session(agent: &dyn Dialect, scene: &SessionContext, reason: Option<&str>) -> Session {
    let mut context = json!({ "schema": 1, "agent": agent.name() });
    if let Some(reason) = reason {
        context["reason"] = reason.into();
    }
    scene.session_in(&scene.cwd).with_context(context.to_string())
}

/// Starts an observer, and says what is wrong with its settings.
async fn start(observer: &Observer) -> WatchResult {
    let started = observer.start().await.inspect_err(|error| tracing::warn!(%error, "nothing looks at this session"));
    WatchResult { texts: Vec::new(), diagnostics: started.map(|started| started.diagnostics).unwrap_or_default() }
}

/// Tells an observer, and says what it has for the agent.
async fn tell(observer: &Observer, happening: &ObservedEvent<'_>) -> Option<String> {
    match happening {
        ObservedEvent::Start(_) => None,
        ObservedEvent::Result { result, last } => {
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
        ObservedEvent::Update(update) => {
            observer.updated(update).await;
            None
        }
        ObservedEvent::End(end) => {
            observer.ended(end).await;
            None
        }
        ObservedEvent::Turn { again, unseen } => {
            let context = json!({ "schema": 1, "again": again, "unseen": unseen }).to_string();
            observer.turn_ended(&Turn { index: None, context }).await
        }
        ObservedEvent::Over(reason) => {
            // One that was never started has nothing to end.
            if observer.start().await.is_ok() {
                observer.shutdown(reason).await;
            }
            None
        }
    }
    .filter(|text| !text.is_empty())
}

/// In a process of its own, until this time.
async fn once(
    agent: &'static dyn Dialect,
    scene: &SessionContext,
    eye: &Eye,
    happening: &ObservedEvent<'_>,
    end: Instant,
) -> WatchResult {
    let first = matches!(happening, ObservedEvent::Start(_));
    let known = session::load(agent.name(), scene).observer(eye.name());
    let reach = eye.reach(agent, scene, |all| all);
    let observer = Observer::new(eye.plugin.clone(), session(agent, scene, happening.reason()), reach)
        .with_limits(Limits::OBSERVER.with_call(end.saturating_duration_since(Instant::now())))
        .with_state(known.clone().unwrap_or_default());
    let mut seen = if first { start(&observer).await } else { WatchResult::text(tell(&observer, happening).await) };
    let over = matches!(happening, ObservedEvent::Over(_)) || !eye.remembers();
    let kept = over || keep(agent, scene, eye.name(), &observer, known).await;
    if !kept && matches!(happening, ObservedEvent::Turn { .. }) {
        // At the end of the next turn it would be new again, and so at the end of each.
        seen.texts.clear();
    }
    // Taking it down is time that the agent waits.
    std::mem::forget(observer);
    seen
}

/// Keeps what the observer knows of the session, with what others have found out meanwhile. Whether it is kept.
async fn keep(
    agent: &dyn Dialect,
    scene: &SessionContext,
    who: &str,
    observer: &Observer,
    mut known: Option<Vec<u8>>,
) -> bool {
    for _ in 0..MAX_TRIES {
        let state = observer.save().await;
        if state.is_empty() {
            return false;
        }
        if Some(&state) == known.as_ref() {
            return true;
        }
        let mut meanwhile = Ok(());
        let kept = session::keep(agent.name(), scene, |kept| meanwhile = kept.observe(who, known.as_deref(), &state));
        match meanwhile {
            Ok(()) => return kept,
            Err(other) => {
                observer.join(other.as_deref().unwrap_or_default()).await;
                known = other;
            }
        }
    }
    false
}

/// Those of an agent's process who look.
pub struct Sessions {
    lens: Resident,
    frames: Frames,
    plugins: Mutex<Vec<Arc<Resident>>>,
}

impl Sessions {
    /// The lens of this component, and no plugins yet. Messages go out by these frames.
    pub fn new(plugin: Plugin, frames: Frames) -> Self {
        Sessions { lens: Resident::new(Eye::of_lens(plugin), frames.clone()), frames, plugins: Mutex::default() }
    }

    /// Those of these plugins, in the same order. One that is not among them any more, or may do something else now, is
    /// forgotten.
    fn plugins(&self, eyes: &[Eye]) -> Vec<Arc<Resident>> {
        let mut known = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
        let resident = |eye: &Eye| {
            let same = |one: &&Arc<Resident>| one.eye.key == eye.key && one.eye.may() == eye.may();
            let found = known.iter().find(same).cloned();
            let older = || known.iter().find(|one| one.eye.name() == eye.name());
            let new = || Resident::new(eye.clone(), self.frames.clone()).after(older().map(Arc::as_ref));
            found.unwrap_or_else(|| Arc::new(new()))
        };
        let now: Vec<Arc<Resident>> = eyes.iter().map(resident).collect();
        known.clone_from(&now);
        now
    }
}

/// A component in the sessions of an agent's process.
struct Resident {
    eye: Eye,
    frames: Frames,
    kept: Mutex<SessionState>,
}

/// Those that have an instance, the one that was used last at the end, and what the others knew.
#[derive(Default)]
struct SessionState {
    live: Vec<(String, Arc<Live>)>,
    asleep: HashMap<String, Vec<u8>>,
}

/// A session.
struct Live {
    observer: Observer,
    outbox: Outbox,
}

impl Resident {
    fn new(eye: Eye, frames: Frames) -> Self {
        Resident { eye, frames, kept: Mutex::default() }
    }

    /// The same with what another version of the plugin knows of the sessions.
    fn after(self, older: Option<&Resident>) -> Self {
        if let Some(older) = older {
            let theirs = older.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.asleep.clone_from(&theirs.asleep);
            kept.asleep.extend(theirs.live.iter().map(|(session, live)| (session.clone(), live.observer.state())));
        }
        self
    }

    async fn saw(
        &self,
        agent: &'static dyn Dialect,
        scene: &SessionContext,
        happening: &ObservedEvent<'_>,
    ) -> WatchResult {
        let live = self.live(agent, scene, happening);
        match happening {
            ObservedEvent::Result { .. } => {
                let outbox = Outbox::default();
                let session = session(agent, scene, None);
                let more = |all: Capabilities| all.message(outbox.clone()).ui(self.frames.clone());
                let reach = self.eye.reach(agent, scene, more);
                let observer = Observer::new(self.eye.plugin.clone(), session, reach).with_state(live.observer.state());
                let text = tell(&observer, happening).await;
                self.post(&outbox).await;
                let learned = observer.save().await;
                // The one that stays may be at a check of its own, which takes its time.
                tokio::spawn(async move {
                    live.observer.join(&learned).await;
                    live.observer.save().await;
                });
                WatchResult::text(text)
            }
            ObservedEvent::Start(_) => {
                let seen = start(&live.observer).await;
                for diagnostic in &seen.diagnostics {
                    // Who cannot be told has other troubles.
                    let _ = self.frames.notify(place(diagnostic), Level::Warning).await;
                }
                seen
            }
            _ => {
                let text = tell(&live.observer, happening).await;
                if !matches!(happening, ObservedEvent::Over(_)) {
                    live.observer.save().await;
                }
                self.post(&live.outbox).await;
                WatchResult::text(text)
            }
        }
    }

    /// The session of an event. One that starts again starts afresh, and one that ends is forgotten.
    fn live(&self, agent: &'static dyn Dialect, scene: &SessionContext, happening: &ObservedEvent<'_>) -> Arc<Live> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.live.iter().position(|(name, _)| *name == scene.session).map(|at| kept.live.remove(at).1);
        let state = kept.asleep.remove(&scene.session);
        let starts = matches!(happening, ObservedEvent::Start(_));
        let live = match known.filter(|_| !starts) {
            Some(known) => known,
            None => self.awake(agent, scene, happening, state.filter(|_| !starts).unwrap_or_default()),
        };
        if !matches!(happening, ObservedEvent::Over(_)) {
            kept.live.push((scene.session.clone(), live.clone()));
        }
        if kept.live.len() > MAX_LIVE {
            let (name, oldest) = kept.live.remove(0);
            if kept.asleep.len() >= MAX_SUSPENDED {
                kept.asleep.clear();
            }
            kept.asleep.insert(name, oldest.observer.state());
        }
        live
    }

    fn awake(
        &self,
        agent: &'static dyn Dialect,
        scene: &SessionContext,
        happening: &ObservedEvent<'_>,
        state: Vec<u8>,
    ) -> Arc<Live> {
        let (due, called) = tokio::sync::mpsc::unbounded_channel();
        let outbox = Outbox::default();
        let more =
            |all: Capabilities| all.message(outbox.clone()).ui(self.frames.clone()).clock(LocalClock::waking(due));
        let reach = self.eye.reach(agent, scene, more);
        let observer = Observer::new(self.eye.plugin.clone(), session(agent, scene, happening.reason()), reach);
        let live = Arc::new(Live { observer: observer.with_state(state), outbox });
        tokio::spawn(wake(self.eye.plugin.clone(), self.frames.clone(), Arc::downgrade(&live), called));
        live
    }

    /// Hands the messages of a hook to the agent.
    async fn post(&self, outbox: &Outbox) {
        post(&self.eye.plugin, &self.frames, outbox).await;
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
pub struct Post {
    plugin: Plugin,
    frames: Frames,
}

impl Post {
    /// By these frames, drawn by this component.
    pub fn new(plugin: Plugin, frames: Frames) -> Self {
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
