//! Components that nobody wrote: cut and changed ones, and modules that are valid, have what a gate has to have, and make no
//! sense. The loader refuses them; or each call has a verdict in time, whatever they compute.

use std::cell::RefCell;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use arbitrary::Unstructured;
use toolgate_host::{Capabilities, Engine, Gate, Plugin, Session, ToolCall};
use wasm_smith::{Config, Module};
use wit_component::{StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{LiftLowerAbi, ManglingAndAbi, Resolve, WorldId};

use crate::{Target, choice};

pub(crate) const BOUNDARY: Target = Target {
    name: "boundary",
    run: boundary,
    seeds: || {
        let sense: Vec<u8> = (0..2_048_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
        let kinds = (0..4_u8).flat_map(|kind| sense.chunks(1_024).map(move |chunk| [&[kind], chunk].concat()));
        kinds.chain([[&[4], LAID_OUT.component.as_slice()].concat()]).collect()
    },
    words: &["\0asm\x0d\0\x01\0", "\0asm\x01\0\0\0", "\0", "\x0b", "toolgate:plugin/", "wasi:", "\x7f", "\u{ff}"],
    tries: 150,
};

/// The contract, and what a gate that does nothing looks like.
struct LaidOut {
    resolve: Resolve,
    world: WorldId,
    module: Vec<u8>,
    component: Vec<u8>,
}

static LAID_OUT: LazyLock<LaidOut> = LazyLock::new(|| {
    let mut resolve = Resolve::default();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit/v0.1");
    let (package, _) = resolve.push_path(folder).expect("the contract parses");
    let world = resolve.select_world(&[package], Some("gate")).expect("the world is there");
    let module = dummy_module(&resolve, world, ManglingAndAbi::Legacy(LiftLowerAbi::Sync));
    let mut typed = module.clone();
    embed_component_metadata(&mut typed, &resolve, world, StringEncoding::UTF8).expect("its types");
    let component = toolgate_bake::componentize(&typed).expect("a component");
    LaidOut { resolve, world, module, component }
});

/// How long a call may take: what the host allows, and what a machine that is busy adds.
const IN_TIME: Duration = Duration::from_secs(10);

/// A component of the kind that its first byte chooses.
pub fn boundary(data: &[u8]) {
    let (kind, data) = choice(data);
    let component = match kind % 5 {
        4 => Some(data.to_vec()),
        kind => made(data, kind == 3),
    };
    let Some(component) = component else { return };
    thread_local! {
        static ENGINE: RefCell<Engine> = RefCell::new(Engine::new().expect("an engine"));
    }
    let engine = ENGINE.with_borrow(Engine::clone);
    let start = Instant::now();
    match Plugin::compile(&engine, "made", &component) {
        Err(error) => assert!(!error.to_string().is_empty(), "a reason"),
        Ok(plugin) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let gate = Gate::new(plugin, Session::in_folder("/project"), Capabilities::denied());
                for _ in 0..2 {
                    // A verdict there is, whatever it says.
                    gate.judge(&ToolCall::shell("ls", "/project")).await;
                }
            });
        }
    }
    assert!(start.elapsed() < 2 * IN_TIME, "it took {:?}", start.elapsed());
}

/// A gate with code that is valid and makes no sense, which may run for ever.
fn made(data: &[u8], endless: bool) -> Option<Vec<u8>> {
    let shape = Some(LAID_OUT.module.clone());
    let config = Config {
        exports: shape.clone(),
        available_imports: shape,
        allow_start_export: endless,
        max_imports: 40,
        max_memories: 1,
        min_funcs: 1,
        max_funcs: 40,
        max_instructions: 200,
        memory64_enabled: false,
        threads_enabled: false,
        gc_enabled: false,
        exceptions_enabled: false,
        custom_page_sizes_enabled: false,
        relaxed_simd_enabled: false,
        ..Config::default()
    };
    let mut module = Module::new(config, &mut Unstructured::new(data)).ok()?;
    if !endless {
        module.ensure_termination(10_000).ok()?;
    }
    let mut module = module.to_bytes();
    embed_component_metadata(&mut module, &LAID_OUT.resolve, LAID_OUT.world, StringEncoding::UTF8).ok()?;
    toolgate_bake::componentize(&module).ok()
}
