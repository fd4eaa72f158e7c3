//! A component, from its bytes to ready to start.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use wasmtime::component::{Component, InstancePre, Linker, types::ComponentItem};

use crate::bindings::changes::exports::toolgate::changes::call_changes;
use crate::bindings::{exports::toolgate::plugin as hooks, toolgate::plugin as imports};
#[cfg(feature = "cranelift")]
use crate::cache::{Cache, Key};
use crate::capability::Capability;
use crate::capability::{self, ConfigFile, Files};
use crate::digest::Digest;
use crate::engine::Engine;
use crate::error::LoadError;
use crate::precompiled::{self, Precompiled};
use crate::snapshot::{self, Snapshot, Snapshots};
use crate::state::HostState;
use crate::version::{CHANGES, CONTRACT, OFFERED, Version};

/// A component that is compiled, linked and checked, and can be started any number of times.
///
/// ```no_run
/// use toolgate_host::{Capability, Engine, Plugin};
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// # #[cfg(feature = "cranelift")] {
/// let plugin = Plugin::compile(&Engine::new()?, "no-deploy", &std::fs::read("no-deploy.wasm")?)?;
/// // What it asks for is known before any of it runs.
/// assert!(plugin.has_gate() && !plugin.description().asks_for().contains(&Capability::Terminal));
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Plugin {
    pub(crate) engine: Engine,
    pub(crate) name: String,
    pub(crate) pre: InstancePre<HostState>,
    pub(crate) hooks: Hooks,
    description: Description,
    snapshots: Option<Arc<Snapshots>>,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.description.fmt(f)
    }
}

/// The hooks that a component has.
#[derive(Clone)]
pub(crate) struct Hooks {
    pub(crate) lifecycle: hooks::lifecycle::GuestIndices,
    pub(crate) tool_gate: Option<hooks::tool_gate::GuestIndices>,
    pub(crate) permission_gate: Option<hooks::permission_gate::GuestIndices>,
    pub(crate) session_memory: Option<hooks::session_memory::GuestIndices>,
    pub(crate) tool_observer: Option<hooks::tool_observer::GuestIndices>,
    pub(crate) execution_observer: Option<hooks::execution_observer::GuestIndices>,
    pub(crate) turn_observer: Option<hooks::turn_observer::GuestIndices>,
    pub(crate) timer: Option<hooks::timer::GuestIndices>,
    pub(crate) renderer: Option<hooks::renderer::GuestIndices>,
    pub(crate) handover: Option<hooks::handover::GuestIndices>,
    pub(crate) provided_tools: Option<hooks::provided_tools::GuestIndices>,
    pub(crate) terminal_observer: Option<hooks::terminal_observer::GuestIndices>,
    pub(crate) analysis: Option<hooks::analysis::GuestIndices>,
    pub(crate) trackers: Option<hooks::trackers::GuestIndices>,
    pub(crate) predicates: Option<hooks::predicates::GuestIndices>,
    pub(crate) call_changes: Option<call_changes::GuestIndices>,
}

impl Hooks {
    /// A hook that is missing is no error; one that is there in the wrong shape is.
    fn of(pre: &InstancePre<HostState>, description: &Description) -> wasmtime::Result<Self> {
        let has = |hook: &str| {
            let start = format!("{OFFERED}{hook}@");
            description.exports.iter().any(|name| name.starts_with(&start))
        };
        macro_rules! hook {
            ($interface:literal, $module:ident) => {
                has($interface).then(|| hooks::$module::GuestIndices::new(pre)).transpose()?
            };
        }
        let tells_changes = description.exports.iter().any(|name| name.starts_with(CHANGES));
        Ok(Hooks {
            lifecycle: hooks::lifecycle::GuestIndices::new(pre)?,
            tool_gate: hook!("tool-gate", tool_gate),
            permission_gate: hook!("permission-gate", permission_gate),
            session_memory: hook!("session-memory", session_memory),
            tool_observer: hook!("tool-observer", tool_observer),
            execution_observer: hook!("execution-observer", execution_observer),
            turn_observer: hook!("turn-observer", turn_observer),
            timer: hook!("timer", timer),
            renderer: hook!("renderer", renderer),
            handover: hook!("handover", handover),
            provided_tools: hook!("provided-tools", provided_tools),
            terminal_observer: hook!("terminal-observer", terminal_observer),
            analysis: hook!("analysis", analysis),
            trackers: hook!("trackers", trackers),
            predicates: hook!("predicates", predicates),
            call_changes: tells_changes.then(|| call_changes::GuestIndices::new(pre)).transpose()?,
        })
    }
}

/// What a component is and asks for, known before any of it runs.
///
/// ```no_run
/// # fn example(plugin: toolgate_host::Plugin) {
/// let description = plugin.description();
/// println!("{} {} asks for {:?}", description.name, description.component.sha256, description.asks_for());
/// # }
/// ```
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Description {
    /// The plugin's name.
    pub name: String,
    /// The hooks it has.
    pub exports: Vec<String>,
    /// The capabilities it asks for.
    pub imports: Vec<Import>,
    /// The component. Its digest is what audit entries name.
    pub component: Digest,
    /// The machine code made from it.
    pub precompiled: Digest,
}

/// A capability that a component asks for.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[non_exhaustive]
pub struct Import {
    /// The interface's full name.
    pub name: String,
}

impl Description {
    /// What it asks for, by its imports.
    pub fn asks_for(&self) -> BTreeSet<Capability> {
        self.imports.iter().filter_map(|import| Capability::of_import(&import.name)).collect()
    }
}

impl Plugin {
    /// Compiles a component. That takes seconds for a large one, so it is not for the path of a call.
    #[cfg(feature = "cranelift")]
    pub fn compile(engine: &Engine, name: &str, component: &[u8]) -> Result<Self, LoadError> {
        let (compiled, code) = compiled(engine, name, component)?;
        Self::link(engine, name, &compiled, Digest::of(component), Digest::of(&code))
    }

    /// Checks that these bytes are a core module that can run.
    ///
    /// # Errors
    /// [`LoadError::NotAModule`] says what is wrong with them.
    #[cfg(feature = "cranelift")]
    pub fn check_module(engine: &Engine, module: &[u8]) -> Result<(), LoadError> {
        wasmtime::Module::validate(engine.wasmtime()?, module).map_err(LoadError::NotAModule)
    }

    /// Takes the machine code of a component from the cache, or compiles it and puts it there. Compiling takes all processors
    /// there are, so of several processes one compiles a component, and the others wait for its code.
    ///
    /// # Errors
    /// As for [`Plugin::compile`]. A cache that cannot be used costs time and nothing else.
    #[cfg(feature = "cranelift")]
    pub fn cached(engine: &Engine, name: &str, component: &[u8], cache: &Cache) -> Result<Self, LoadError> {
        let compiling = engine.wasmtime()?;
        let key = Key::of(compiling, component);
        let link =
            |(component, code): (Component, Digest)| Self::link(engine, name, &component, key.component.clone(), code);
        if let Some(found) = cache.get(compiling, &key) {
            return link(found);
        }
        let _turn = cache.turn(&key);
        if let Some(found) = cache.get(compiling, &key) {
            return link(found);
        }
        let (compiled, code) = compiled(engine, name, component)?;
        cache.put(&key, &code);
        link((compiled, Digest::of(&code)))
    }

    /// Takes a component that was compiled when this program was built.
    pub fn precompiled(engine: &Engine, name: &str, precompiled: &Precompiled) -> Result<Self, LoadError> {
        let wrong = |error| LoadError::Precompiled { plugin: name.to_owned(), error };
        let component = precompiled::load(&engine.running(precompiled)?, precompiled).map_err(wrong)?;
        Self::link(engine, name, &component, precompiled.component.digest(), precompiled.machine.digest())
    }

    fn link(
        engine: &Engine,
        name: &str,
        component: &Component,
        digest: Digest,
        precompiled: Digest,
    ) -> Result<Self, LoadError> {
        let ty = component.component_type();
        let runs_in = component.engine();
        let imports: Vec<Import> = ty.imports(runs_in).map(|(name, _)| Import { name: name.to_owned() }).collect();
        let names = || imports.iter().map(|import| import.name.as_str());
        let unknown = names().filter(|name| !name.starts_with(OFFERED) && !is_of_wasi(name));
        let unknown: Vec<String> = unknown.map(str::to_owned).collect();
        if !unknown.is_empty() {
            return Err(LoadError::UnknownImports { plugin: name.to_owned(), imports: unknown });
        }
        let with_wasi = names().any(is_of_wasi);
        let exports = ty
            .exports(runs_in)
            .filter_map(|(name, item)| matches!(item.ty, ComponentItem::ComponentInstance(_)).then(|| name.to_owned()));
        let description =
            Description { name: name.to_owned(), exports: exports.collect(), imports, component: digest, precompiled };
        let contract = |error| misfit(&description, error);
        let pre = linker(runs_in, with_wasi).and_then(|linker| linker.instantiate_pre(component)).map_err(contract)?;
        let hooks = Hooks::of(&pre, &description).map_err(contract)?;
        Ok(Plugin { engine: engine.clone(), name: name.to_owned(), pre, hooks, description, snapshots: None })
    }

    /// The same, where an instance starts from a snapshot once there is one of its rule files.
    ///
    /// For a component of [`Plugin::precompiled`]; others have no memory that is known before they run. Its `start` has to look
    /// whether the files that it is handed are those that it finds read already, see the contract, and `prepare` has to leave
    /// nothing behind that is not of these files: the default guest does.
    #[must_use]
    pub fn with_snapshots(mut self, snapshots: Snapshots) -> Self {
        self.snapshots = Some(Arc::new(snapshots));
        self
    }

    /// Its snapshots, if it has some.
    pub fn snapshots(&self) -> Option<&Snapshots> {
        self.snapshots.as_deref()
    }

    /// The snapshot of an instance that is to read these rule files, and its name.
    pub(crate) async fn snapshot(&self, from: &dyn Files, files: &[ConfigFile]) -> Option<(String, Arc<Snapshot>)> {
        let snapshots = self.snapshots.as_ref()?;
        let name = snapshot::name(&self.description.precompiled.sha256, files)?;
        if snapshots.is_given_up(&name) {
            return None;
        }
        if let Some(found) = snapshots.used(&name) {
            return Some((name, found));
        }
        let (all, of) = (Arc::clone(snapshots), name.clone());
        // Of a disk that does not answer it is not known whether there is one.
        let found = capability::looked(from, move || all.kept(&of)).await.ok()?;
        if found.is_none() {
            snapshots.miss(&name, files);
        }
        Some((name, found?))
    }

    /// Forgets a snapshot with which an instance does not work.
    pub(crate) async fn give_up(&self, from: &dyn Files, snapshot: &str) {
        let Some(snapshots) = self.snapshots.clone() else { return };
        let name = snapshot.to_owned();
        // What cannot be removed is met by the next process, and given up there.
        let _ = capability::looked(from, move || snapshots.give_up(&name)).await;
    }

    /// Whether it judges calls.
    pub fn has_gate(&self) -> bool {
        self.hooks.tool_gate.is_some()
    }

    /// Whether it judges requests for permission.
    pub fn has_permission_gate(&self) -> bool {
        self.hooks.permission_gate.is_some()
    }

    /// Whether it looks at what happens: results, tools that run, or the ends of turns.
    pub fn has_observer(&self) -> bool {
        let hooks = &self.hooks;
        hooks.tool_observer.is_some() || hooks.execution_observer.is_some() || hooks.turn_observer.is_some()
    }

    /// Whether it has trackers or predicates for rules to ask.
    pub fn has_extension(&self) -> bool {
        self.hooks.trackers.is_some() || self.hooks.predicates.is_some()
    }

    /// Whether it offers tools.
    pub fn has_tools(&self) -> bool {
        self.hooks.provided_tools.is_some()
    }

    /// What the component is and asks for.
    pub fn description(&self) -> &Description {
        &self.description
    }
}

/// A component and its machine code.
#[cfg(feature = "cranelift")]
fn compiled(engine: &Engine, name: &str, component: &[u8]) -> Result<(Component, Vec<u8>), LoadError> {
    let wrong = |error| LoadError::NotAComponent { plugin: name.to_owned(), error };
    let compiled = Component::from_binary(engine.wasmtime()?, component).map_err(wrong)?;
    let code = compiled.serialize().map_err(wrong)?;
    Ok((compiled, code))
}

/// Why a component does not fit: the version it was built for is later than this one, or its shapes are others.
fn misfit(description: &Description, error: wasmtime::Error) -> LoadError {
    let plugin = description.name.clone();
    let interfaces = description.imports.iter().map(|import| &import.name).chain(&description.exports);
    let ours = interfaces.map(String::as_str).filter(|name| name.starts_with(OFFERED));
    match Version::later(ours) {
        Some(needs) => LoadError::Newer { plugin, needs: needs.to_string(), has: CONTRACT.to_string(), error },
        None => LoadError::Contract { plugin, error },
    }
}

/// Whether this is the full name of an interface of WASI that is there.
fn is_of_wasi(interface: &str) -> bool {
    #[cfg(feature = "wasi")]
    return crate::wasi::offers(interface);
    #[cfg(not(feature = "wasi"))]
    return interface.is_empty();
}

/// Every capability of the contract. Which of them do anything is decided for each instance.
fn linker(engine: &wasmtime::Engine, with_wasi: bool) -> wasmtime::Result<Linker<HostState>> {
    type Has = wasmtime::component::HasSelf<HostState>;
    let mut linker = Linker::new(engine);
    imports::types::add_to_linker::<_, Has>(&mut linker, |state| state)?;
    imports::files::add_to_linker::<_, Has>(&mut linker, |state| state)?;
    imports::git::add_to_linker::<_, Has>(&mut linker, |state| state)?;
    imports::daemon::add_to_linker::<_, Has>(&mut linker, |state| state)?;
    imports::terminal::add_to_linker::<_, Has>(&mut linker, |state| state)?;
    imports::ui::add_to_linker::<_, Has>(&mut linker, |state| state)?;
    imports::journal::add_to_linker::<_, Has>(&mut linker, |state| state)?;
    imports::message::add_to_linker::<_, Has>(&mut linker, |state| state)?;
    imports::clock::add_to_linker::<_, Has>(&mut linker, |state| state)?;
    imports::log::add_to_linker::<_, Has>(&mut linker, |state| state)?;
    imports::extensions::add_to_linker::<_, Has>(&mut linker, |state| state)?;
    #[cfg(feature = "wasi")]
    if with_wasi {
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    }
    #[cfg(not(feature = "wasi"))]
    debug_assert!(!with_wasi, "nothing of WASI is there");
    Ok(linker)
}
