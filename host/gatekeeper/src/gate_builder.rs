//! The gate that is started with what is here: its capabilities, its rules as they are or last were, and who judges beside it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::json;
use toolgate_agents::agent::SessionRef;
use toolgate_agents::dirs::{self, demoted, home};
use toolgate_agents::{Failure, exit};
use toolgate_capabilities::{LocalClock, LocalGit};
use toolgate_host::capability::{Absent, LocalFiles, LocalLog};
use toolgate_host::last_good::LastGood;
use toolgate_host::{
    Analysis, Capabilities, Engine, Extension, ExtensionRegistry, Gate, LoadError, Opened, Plugin, Session, Snapshots,
    Started,
};

use crate::frames::Frames;
use crate::own_files::own;
use crate::packs::Packs;
use crate::plugin::loaded::Loaded;

/// How long taking snapshots may take on a machine that is busy. What they may compute is far less.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(2);

static DEFAULT: OnceLock<Plugin> = OnceLock::new();

/// The default plugin, the same one for the whole program: its code runs in place once, and would be copied for another
/// engine.
pub fn default_plugin() -> Result<Plugin, LoadError> {
    if let Some(plugin) = DEFAULT.get() {
        return Ok(plugin.clone());
    }
    let made = Plugin::precompiled(&Engine::new()?, toolgate_builtin::NAME, &toolgate_builtin::guard())?;
    let made = made.with_snapshots(Snapshots::new(dirs::snapshots()));
    Ok(DEFAULT.get_or_init(|| made).clone())
}

/// Takes the snapshots that calls have missed so far, so that the next ones need not read the same rules again. For when the
/// answer is given: each takes some ten milliseconds, and an agent may wait for the end of the process.
pub fn take_snapshots() {
    let Some(plugin) = DEFAULT.get().filter(|plugin| misses_snapshots(plugin)) else { return };
    match tokio::runtime::Builder::new_current_thread().enable_time().build() {
        Ok(runtime) => {
            let taken =
                runtime.block_on(async { tokio::time::timeout(SNAPSHOT_TIMEOUT, plugin.take_snapshots()).await });
            if taken.is_err() {
                tracing::debug!("no snapshot is taken: these rules take too long");
            }
        }
        Err(error) => tracing::warn!(%error, "no snapshot is taken"),
    }
}

/// Whether there is something to take.
pub(crate) fn misses_snapshots(plugin: &Plugin) -> bool {
    plugin.snapshots().is_some_and(Snapshots::are_missing)
}

/// What a component may reach here.
pub fn granted(files: LocalFiles, frames: Option<&Frames>, registry: &ExtensionRegistry) -> Capabilities {
    let granted = Capabilities::absent().files(files).git(LocalGit).clock(LocalClock::default()).log(LocalLog);
    let granted = granted.extensions(registry.clone());
    match frames {
        Some(frames) => granted.ui(frames.clone()),
        // Verdicts are shown by whoever asked for them, so that nothing is shown twice.
        None => granted,
    }
}

/// The trackers and predicates of these plugins.
pub fn extension_registry(
    loaded: &[Loaded],
    session: &Session,
    files: &LocalFiles,
    whose: Option<SessionRef<'_>>,
) -> ExtensionRegistry {
    let extension = |one: &Loaded| {
        let all = granted(files.clone(), None, &ExtensionRegistry::default());
        // They are asked while others wait, so they ask nobody themselves.
        let may = one.may(all.extensions(Absent), whose);
        Extension::new(one.plugin.clone(), session.clone(), may)
    };
    ExtensionRegistry::new(loaded.iter().filter(|one| one.plugin.has_extension()).map(extension).collect())
}

/// Where a gate stands.
#[derive(Clone, Copy)]
pub struct GateBuilder<'a> {
    /// The guard.
    pub plugin: &'a Plugin,
    /// The folder that the call works in.
    pub cwd: &'a str,
    /// The home folder, if it is known.
    pub home: Option<&'a str>,
    /// The project's root.
    pub root: &'a str,
    /// Which packs are on.
    pub packs: &'a Packs,
    /// Other files that nobody may change: components that judge as well.
    pub kept: &'a [PathBuf],
    /// The plugins beside the guard.
    pub loaded: &'a [Loaded],
    /// None where a call is only tried.
    pub whose: Option<SessionRef<'a>>,
}

/// A gate that was started.
pub struct StartedGate {
    pub(crate) gate: Gate,
    /// What starting it said.
    pub started: Started,
    /// The rules that are in force: of a file that cannot be used, those that it had before.
    pub(crate) files: LocalFiles,
    /// Where it was started.
    pub(crate) session: Session,
    /// The trackers and predicates that its rules ask.
    pub(crate) registry: ExtensionRegistry,
}

impl GateBuilder<'_> {
    pub(crate) fn session(&self) -> Session {
        let context = json!({ "schema": 1, "packs": self.packs.names(), "own": own(self.kept, Path::new(self.root)) });
        let session = Session::in_folder(self.cwd).with_home(self.home.map(str::to_owned));
        session.with_workspace_root(self.root).with_context(context.to_string())
    }

    /// Answers about the rules of a gate and no others.
    pub fn analysis(&self, of: &StartedGate) -> Analysis {
        Analysis::new(self.plugin.clone(), of.session.clone(), granted(of.files.clone(), None, &of.registry))
    }

    /// A gate with these rules and no others.
    pub async fn start(&self, files: LocalFiles, frames: Option<&Frames>) -> Result<StartedGate, Failure> {
        // Once: finding out where the gate's own files are is much of what starting takes.
        let session = self.session();
        let registry = extension_registry(self.loaded, &session, &files, self.whose);
        let gate = Gate::new(self.plugin.clone(), session.clone(), granted(files.clone(), frames, &registry));
        let started = gate.start().await.map_err(Failure::software)?;
        self.packs.known(&started).map_err(|error| Failure::new(exit::USAGE, error))?;
        Ok(StartedGate { gate, started, files, session, registry })
    }

    /// The same, where a file that cannot be used as a whole counts as it was when it last could be.
    pub async fn open(&self, files: LocalFiles, frames: Option<&Frames>) -> Result<StartedGate, Failure> {
        let mut opened = self.open_as_it_was(files, frames).await?;
        opened.started.diagnostics.extend(demoted(&opened.files));
        Ok(opened)
    }

    async fn open_as_it_was(&self, files: LocalFiles, frames: Option<&Frames>) -> Result<StartedGate, Failure> {
        let copies = LastGood::of_user(home().map(PathBuf::from).as_deref());
        let opened = toolgate_host::open(files, copies.as_ref(), |files| async move {
            let mut gate = self.start(files, frames).await?;
            let started = std::mem::take(&mut gate.started);
            Ok::<_, Failure>((gate, started))
        });
        let Opened { value, started, files, .. } = opened.await?;
        Ok(StartedGate { started, files, ..value })
    }
}
