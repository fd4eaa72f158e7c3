//! A plugin that may be replaced while it is used, by generations.
//!
//! A new build is published only after everything that can be known of it without a real session: its size, whether it
//! is a component, what it asks for, which hooks it has, and that it starts in each of its roles with nothing granted.
//! Whatever fails leaves the generation before it serving, and the next build is tried like any other.
//!
//! Calls in flight finish on the generation that they began with. Whoever keeps an instance (see `role`) notices a newer
//! generation before the next call, and hands the state over. What the last user of a generation lets go is freed.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::capability::Capabilities;
use crate::capability::Capability;
use crate::capability_grants::Granted;
use crate::error::{CallError, LoadError};
use crate::instance::Instance;
use crate::limits::{COMPONENT, Limits};
use crate::plugin::Plugin;
use crate::session::{Role, Session};

/// The hooks that verdicts come of. One that is gone would loosen the gate.
const GATING: [&str; 5] = ["tool-gate", "permission-gate", "session-memory", "trackers", "predicates"];

/// Why a new build is not in use. The generation before it still is.
///
/// ```no_run
/// # fn example(error: toolgate_host::SwapError) {
/// use toolgate_host::SwapError;
///
/// match error {
///     SwapError::HeldBack { capabilities, .. } => println!("grant it {capabilities:?} first"),
///     other => println!("{other}"),
/// }
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SwapError {
    /// It is longer than any component that is loaded.
    #[error("the new {plugin} is longer than the {limit} bytes that are loaded", limit = COMPONENT)]
    TooLarge {
        /// The plugin's name.
        plugin: String,
    },
    /// It is no component, or none of this contract.
    #[error("the new {plugin} cannot be loaded: {}", whole(error))]
    Load {
        /// The plugin's name.
        plugin: String,
        /// What is wrong with it.
        error: LoadError,
    },
    /// It asks for more than it was granted.
    #[error(
        "the new {plugin} is held back: it asks for {}, which it is not granted",
        capabilities.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ")
    )]
    HeldBack {
        /// The plugin's name.
        plugin: String,
        /// What it is not granted.
        capabilities: Vec<Capability>,
    },
    /// It has lost a hook that verdicts come of.
    #[error("the new {plugin} no longer has {}, which would weaken protection", hooks.join(", "))]
    Loosened {
        /// The plugin's name.
        plugin: String,
        /// The hooks that are gone.
        hooks: Vec<&'static str>,
    },
    /// It does not start.
    #[error("the new {plugin} does not start as {}: {error}", role.name())]
    Start {
        /// The plugin's name.
        plugin: String,
        /// The role that it was started in.
        role: Role,
        /// How it failed.
        error: CallError,
    },
    /// The compiler itself failed.
    #[error("the new {plugin} could not be compiled: {why}")]
    Compiler {
        /// The plugin's name.
        plugin: String,
        /// What became of it.
        why: String,
    },
}

/// All that wasmtime says, for the author of the build.
fn whole(error: &LoadError) -> String {
    match error {
        LoadError::NotAComponent { error, .. } => format!("{error:#}"),
        other => other.to_string(),
    }
}

/// A plugin, and how many came before it in its slot.
pub(crate) struct Generation {
    pub(crate) number: u64,
    pub(crate) plugin: Plugin,
}

/// A plugin that may be replaced while it is used. Clones are the same slot.
///
/// ```no_run
/// # #[cfg(feature = "cranelift")]
/// # async fn example(plugin: toolgate_host::Plugin, build: Vec<u8>) -> Result<(), toolgate_host::SwapError> {
/// use toolgate_host::{Capabilities, Capability, Gate, Granted, Session, HotSwap};
///
/// let slot = HotSwap::new(plugin);
/// let gate = Gate::new(slot.clone(), Session::in_folder("/home/dev/project"), Capabilities::denied());
/// // The gate goes on with the new build from its next call. If that is not fit, it goes on with this one.
/// slot.replace(build, &Granted::to([Capability::Log])).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HotSwap(Arc<Inner>);

struct Inner {
    name: String,
    generations: Mutex<Generations>,
    /// One after the other, so that the build which came last is the one that stays.
    turn: tokio::sync::Mutex<()>,
}

struct Generations {
    current: Arc<Generation>,
    /// Those before it that may still be in use.
    older: Vec<Weak<Generation>>,
}

impl std::fmt::Debug for HotSwap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HotSwap").field("name", &self.0.name).field("generation", &self.generation()).finish()
    }
}

impl From<Plugin> for HotSwap {
    fn from(plugin: Plugin) -> Self {
        HotSwap::new(plugin)
    }
}

impl HotSwap {
    /// A slot with this plugin as its first generation.
    pub fn new(plugin: Plugin) -> Self {
        let name = plugin.name.clone();
        let current = Arc::new(Generation { number: 1, plugin });
        let generations = Mutex::new(Generations { current, older: Vec::new() });
        HotSwap(Arc::new(Inner { name, generations, turn: tokio::sync::Mutex::default() }))
    }

    /// The plugin's name, the same in every generation.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The plugin that new instances are made of.
    pub fn current(&self) -> Plugin {
        self.latest().plugin.clone()
    }

    /// Its number, from 1.
    pub fn generation(&self) -> u64 {
        self.latest().number
    }

    /// The generations that are still in use, the current one last. An older one is as long as a call in flight or an
    /// instance that has not been asked since is of it.
    pub fn in_use(&self) -> Vec<u64> {
        let generations = self.0.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let older = generations.older.iter().filter_map(Weak::upgrade).map(|one| one.number);
        older.chain([generations.current.number]).collect()
    }

    pub(crate) fn latest(&self) -> Arc<Generation> {
        Arc::clone(&self.0.generations.lock().unwrap_or_else(PoisonError::into_inner).current)
    }

    /// Puts a new build in the place of the current one, and says its number. It is compiled away from the caller's
    /// thread; nothing of it runs before it is known to ask for no more than `granted`.
    ///
    /// # Errors
    /// If it cannot take the place. The current one goes on then.
    #[cfg(feature = "cranelift")]
    pub async fn replace(&self, component: Vec<u8>, granted: &Granted) -> Result<u64, SwapError> {
        let _turn = self.0.turn.lock().await;
        let new = compiled(&self.current(), component).await?;
        self.admit(new, granted).await
    }

    /// The same for a build that is compiled already.
    ///
    /// # Errors
    /// As for [`HotSwap::replace`].
    pub async fn put(&self, new: Plugin, granted: &Granted) -> Result<u64, SwapError> {
        let _turn = self.0.turn.lock().await;
        self.admit(new, granted).await
    }

    async fn admit(&self, new: Plugin, granted: &Granted) -> Result<u64, SwapError> {
        within(&new, granted)?;
        as_strict(&new, &self.current())?;
        probe(&new).await?;
        Ok(self.publish(new))
    }

    fn publish(&self, plugin: Plugin) -> u64 {
        let mut generations = self.0.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let number = generations.current.number + 1;
        let old = std::mem::replace(&mut generations.current, Arc::new(Generation { number, plugin }));
        generations.older.retain(|one| one.strong_count() > 0);
        generations.older.push(Arc::downgrade(&old));
        number
    }
}

/// The component, with the engine and the name of the one that it replaces.
#[cfg(feature = "cranelift")]
async fn compiled(old: &Plugin, component: Vec<u8>) -> Result<Plugin, SwapError> {
    let plugin = old.name.clone();
    if component.len() as u64 > COMPONENT {
        return Err(SwapError::TooLarge { plugin });
    }
    let (engine, name) = (old.engine.clone(), plugin.clone());
    let work = tokio::task::spawn_blocking(move || Plugin::compile(&engine, &name, &component));
    match work.await {
        Ok(Ok(new)) => Ok(new),
        Ok(Err(error)) => Err(SwapError::Load { plugin, error }),
        Err(error) => Err(SwapError::Compiler { plugin, why: error.to_string() }),
    }
}

fn within(new: &Plugin, granted: &Granted) -> Result<(), SwapError> {
    let capabilities: Vec<Capability> =
        new.description().asks_for().difference(&granted.capabilities).copied().collect();
    match capabilities.is_empty() {
        true => Ok(()),
        false => Err(SwapError::HeldBack { plugin: new.name.clone(), capabilities }),
    }
}

fn as_strict(new: &Plugin, old: &Plugin) -> Result<(), SwapError> {
    let has = |plugin: &Plugin, hook: &str| {
        let mut interfaces = plugin.description().exports.iter().filter_map(|name| name.split_once('/'));
        interfaces.any(|(_, interface)| interface.split('@').next() == Some(hook))
    };
    let hooks: Vec<&str> = GATING.into_iter().filter(|hook| has(old, hook) && !has(new, hook)).collect();
    match hooks.is_empty() {
        true => Ok(()),
        false => Err(SwapError::Loosened { plugin: new.name.clone(), hooks }),
    }
}

/// Starts it in each role that it has hooks for, with nothing granted, as if in an empty session.
async fn probe(new: &Plugin) -> Result<(), SwapError> {
    for role in roles(new) {
        // Whoever waits for a build is told soon, also where the role itself has more time.
        let own = Limits::of(role);
        let limits = Limits {
            compute: own.compute.min(Limits::DEFAULT.compute),
            call: own.call.min(Limits::DEFAULT.call),
            ..own
        };
        let session = Session::in_folder("/");
        let started = Instance::start(new, role, &session, Capabilities::denied(), limits);
        let started = tokio::time::timeout(limits.call, started).await;
        if let Err(error) = started.unwrap_or(Err(CallError::Timeout(limits.call))) {
            return Err(SwapError::Start { plugin: new.name.clone(), role, error });
        }
    }
    Ok(())
}

fn roles(plugin: &Plugin) -> Vec<Role> {
    let hooks = &plugin.hooks;
    let observes = hooks.tool_observer.is_some()
        || hooks.execution_observer.is_some()
        || hooks.turn_observer.is_some()
        || hooks.renderer.is_some();
    let roles = [
        (Role::Gate, hooks.tool_gate.is_some() || hooks.permission_gate.is_some()),
        (Role::Observer, observes),
        (Role::Terminal, hooks.provided_tools.is_some() || hooks.terminal_observer.is_some()),
        (Role::Analysis, hooks.analysis.is_some()),
        (Role::Extension, plugin.has_extension()),
    ];
    roles.into_iter().filter(|(_, has)| *has).map(|(role, _)| role).collect()
}
