//! The steps, one after the other.

use toolgate_host::{Engine, LoadError};
use wasm_encoder::reencode;
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Store};
use wasmtime_wizer::Wizer;
use wit_component::ComponentEncoder;

use crate::everyday;
use crate::memory::{self, Memory, Unfit};
use crate::order::{self, Used};

/// The hook that prepares a component, as the snapshot tool names functions.
const PREPARE: &str = "toolgate:plugin/lifecycle.prepare@0.1.0";

/// Which step failed, and why.
#[derive(Debug, thiserror::Error)]
pub enum BakeError {
    /// The first step.
    #[error("the module does not become a component: {0}")]
    Componentize(String),
    /// The second step.
    #[error("the component could not prepare itself: {0:#}")]
    Snapshot(wasmtime::Error),
    /// The third step.
    #[error("the component's functions cannot be put in order: {0}")]
    Order(String),
    /// The fourth step: its memory.
    #[error("the component's memory cannot be taken apart: {0}")]
    Memory(String),
    /// The fourth step: its code.
    #[error("the component does not compile: {0:#}")]
    Precompile(wasmtime::Error),
    /// The engine for the fourth step.
    #[error(transparent)]
    Engine(#[from] LoadError),
}

/// Makes a component of a core module that carries its types, as `wit_bindgen::generate!` leaves them. A component
/// stays as it is.
pub fn componentize(bytes: &[u8]) -> Result<Vec<u8>, BakeError> {
    // The fifth byte tells a component (13) from a module (1).
    if bytes.get(4) == Some(&13) {
        return Ok(bytes.to_vec());
    }
    let wrong = |error: &dyn std::fmt::Display| BakeError::Componentize(format!("{error:#}"));
    let mut encoder = ComponentEncoder::default();
    encoder.validate(true).module(bytes).map_err(|error| wrong(&error))?;
    encoder.encode().map_err(|error| wrong(&error))
}

/// Runs the component's `prepare` with every capability missing and puts the memory it leaves into the component.
pub async fn snapshot(component: &[u8]) -> Result<Vec<u8>, BakeError> {
    called(component, PREPARE, Linker::define_unknown_imports_as_traps).await.map_err(BakeError::Snapshot)
}

/// Calls a function of the component, named and told what to take as WAVE text, and puts the memory it leaves into the
/// component.
async fn called(
    component: &[u8],
    call: &str,
    link: impl Fn(&mut Linker<()>, &Component) -> wasmtime::Result<()>,
) -> wasmtime::Result<Vec<u8>> {
    let engine = wasmtime::Engine::new(&Config::new())?;
    let mut store = Store::new(&engine, ());
    let mut wizer = Wizer::new();
    wizer.init_func(call).keep_init_func(true);
    let linked = async |store: &mut Store<()>, component: &Component| {
        let mut linker = Linker::new(store.engine());
        link(&mut linker, component)?;
        linker.instantiate_async(store, component).await
    };
    let (left, _) = wizer.run_component(&mut store, component, linked).await?;
    Ok(left)
}

/// Finds the functions that a component runs when it is started, judges a plain call, and prepares itself once more.
pub async fn used(component: &[u8]) -> Result<Used, BakeError> {
    let wrong = |error: reencode::Error<Unfit>| BakeError::Order(error.to_string());
    let mut run = order::noting(component).map_err(wrong)?;
    let ran = |error: wasmtime::Error| BakeError::Order(format!("{error:#}"));
    let offers = everyday::Offers::of(component).map_err(BakeError::Order)?;
    for call in everyday::CALLS {
        if call.is_offered(&offers) {
            run = called(&run, &call.text(), everyday::answer_nothing).await.map_err(ran)?;
        }
    }
    let run = snapshot(&run).await?;
    order::notes(component, &run).map_err(wrong)
}

/// Compiles a component for any processor of this kind, with its functions in the order of their use and without calls of those
/// that do nothing. The code is of no use without the memory.
pub fn precompile(component: &[u8], used: &Used) -> Result<(Vec<u8>, Memory), BakeError> {
    let sorted = order::sorted(component, used).map_err(|error| BakeError::Order(error.to_string()))?;
    let (code_only, memory) = memory::taken(&sorted).map_err(|error| BakeError::Memory(error.to_string()))?;
    let code = Engine::portable()?.precompile_component(&code_only).map_err(BakeError::Precompile)?;
    Ok((code, memory))
}
