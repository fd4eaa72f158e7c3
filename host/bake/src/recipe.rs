//! The steps, one after the other.

use toolgate_host::{Engine, LoadError};
use wasm_encoder::reencode;
use wasmtime::component::{Component, Linker, Val};
use wasmtime::{Config, OptLevel, RegallocAlgorithm, Store, format_err};
use wasmtime_wizer::{WasmtimeWizerComponent, Wizer};
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
    let calls = [PREPARE.to_owned()];
    called(component, &calls, Linker::define_unknown_imports_as_traps).await.map_err(BakeError::Snapshot)
}

/// Calls functions of the component, one after the other in one instance, and puts the memory they leave into the component. A call
/// is a name and what the function takes, as WAVE text.
async fn called(
    component: &[u8],
    calls: &[String],
    link: impl Fn(&mut Linker<()>, &Component) -> wasmtime::Result<()>,
) -> wasmtime::Result<Vec<u8>> {
    let engine = run_once()?;
    let mut store = Store::new(&engine, ());
    let mut wizer = Wizer::new();
    wizer.init_func(PREPARE).keep_init_func(true);
    let (context, instrumented) = wizer.instrument_component(component)?;
    let compiled = Component::new(&engine, &instrumented)?;
    let mut linker = Linker::new(&engine);
    link(&mut linker, &compiled)?;
    let instance = linker.instantiate_async(&mut store, &compiled).await?;
    for call in calls {
        let (function, arguments) = everyday::parsed(call, &compiled)?;
        let function = instance.get_func(&mut store, function).ok_or_else(|| format_err!("no function for {call}"))?;
        let mut results = vec![Val::Bool(false); function.ty(&store).results().len()];
        function.call_async(&mut store, &arguments, &mut results).await?;
    }
    wizer.snapshot_component(&context, &mut WasmtimeWizerComponent { store: &mut store, instance }).await
}

/// An engine for code that runs once: it compiles in less time than it would take to make the code good.
fn run_once() -> wasmtime::Result<wasmtime::Engine> {
    let mut config = Config::new();
    config.cranelift_opt_level(OptLevel::None).cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass);
    wasmtime::Engine::new(&config)
}

/// Finds the functions that a component runs when it is started, judges a plain call, and prepares itself once more.
pub async fn used(component: &[u8]) -> Result<Used, BakeError> {
    let wrong = |error: reencode::Error<Unfit>| BakeError::Order(error.to_string());
    let noting = order::noting(component).map_err(wrong)?;
    let offers = everyday::Offers::of(component).map_err(BakeError::Order)?;
    let calls = everyday::CALLS.iter().filter(|call| call.is_offered(&offers)).map(everyday::Call::text);
    let calls: Vec<String> = calls.chain([PREPARE.to_owned()]).collect();
    let run = called(&noting, &calls, everyday::answer_nothing).await;
    let run = run.map_err(|error| BakeError::Order(format!("{error:#}")))?;
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
