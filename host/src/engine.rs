//! Wasmtime's settings, and the clock behind compute deadlines.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wasmtime::Config;

use crate::error::LoadError;
use crate::limits::{ASYNC_STACK, TICK, WASM_STACK};
use crate::precompiled;

/// The engine that all components of a program share. Cloning it is cheap.
#[derive(Clone)]
pub struct Engine {
    engine: wasmtime::Engine,
    ticks: Arc<AtomicU64>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// The settings that decide what compiled code looks like, so that code from one program fits another.
fn config() -> Config {
    let mut config = Config::new();
    // Deadlines. Fuel would be exact and cost several times as much.
    config.epoch_interruption(true);
    config.max_wasm_stack(WASM_STACK);
    config.async_stack_size(ASYNC_STACK);
    // What the contract does not use is not offered: less to get wrong.
    config.concurrency_support(false);
    config.wasm_threads(false);
    config.wasm_gc(false);
    config.wasm_function_references(false);
    config.wasm_relaxed_simd(false);
    // Only traces of a trap would need it, and it is a tenth of the code.
    config.generate_address_map(false);
    config
}

impl Engine {
    /// Starts the engine and its clock, a thread that ends when the last clone of the engine is gone.
    pub fn new() -> Result<Self, LoadError> {
        let mut config = config();
        precompiled::publish_in_place(&mut config);
        let engine = wasmtime::Engine::new(&config).map_err(LoadError::Engine)?;
        let ticks = Arc::new(AtomicU64::new(0));
        // Weak, so that the clock does not keep the engine alive.
        let (weak, counter) = (engine.weak(), Arc::clone(&ticks));
        std::thread::Builder::new()
            .name("toolgate-clock".to_owned())
            .stack_size(64 << 10)
            .spawn(move || {
                loop {
                    std::thread::sleep(TICK);
                    let Some(engine) = weak.upgrade() else { break };
                    counter.fetch_add(1, Ordering::Relaxed);
                    engine.increment_epoch();
                }
            })
            .map_err(|error| LoadError::Engine(error.into()))?;
        Ok(Engine { engine, ticks })
    }

    /// An engine for making code that any processor of this kind can run, not just this one.
    pub fn portable() -> Result<wasmtime::Engine, LoadError> {
        let mut config = config();
        config.target(env!("TOOLGATE_TARGET")).map_err(LoadError::Engine)?;
        wasmtime::Engine::new(&config).map_err(LoadError::Engine)
    }

    /// The wasmtime engine inside.
    pub fn wasmtime(&self) -> &wasmtime::Engine {
        &self.engine
    }

    /// Ticks since the start.
    pub(crate) fn ticks(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_ends_with_its_engine() {
        let engine = Engine::new().expect("an engine");
        let counter = Arc::downgrade(&engine.ticks);
        drop(engine);
        // The thread holds the last counter; it is gone once the thread is.
        let start = std::time::Instant::now();
        while counter.upgrade().is_some() {
            assert!(start.elapsed() < std::time::Duration::from_secs(10), "the clock goes on without its engine");
            std::thread::yield_now();
        }
    }
}
