//! Wasmtime's settings, and the clock behind compute deadlines.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use wasmtime::Config;

use crate::error::LoadError;
use crate::initial::Memories;
use crate::limits::{ASYNC_STACK, TICK, WASM_STACK};
use crate::precompiled::{self, Precompiled};

/// The engine that all components of a program share. Cloning it is cheap.
///
/// Inside are engines of wasmtime's, which are made when they are first needed: one that compiles, and for each component
/// that was compiled before one that only runs it, as a compiler that nobody needs takes its time to make.
#[derive(Clone)]
pub struct Engine {
    engines: Arc<Engines>,
    ticks: Arc<AtomicU64>,
}

#[derive(Default)]
struct Engines {
    compiling: OnceLock<wasmtime::Engine>,
    /// By the address of the code.
    running: Mutex<Vec<(usize, wasmtime::Engine)>>,
}

impl Engines {
    /// Moves the clock of each on.
    fn tick(&self) {
        if let Some(engine) = self.compiling.get() {
            engine.increment_epoch();
        }
        for (_, engine) in self.running.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            engine.increment_epoch();
        }
    }
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
    // Nothing here unwinds through compiled code; it is for native debuggers and profilers. It has to be registered whenever
    // code is loaded, and was 1.1 of 12.9 MB.
    config.native_unwind_info(cfg!(windows));
    config
}

impl Engine {
    /// Starts the engine's clock, a thread that ends when the last clone of the engine is gone.
    pub fn new() -> Result<Self, LoadError> {
        let engine = Engine { engines: Arc::default(), ticks: Arc::default() };
        // Weak, so that the clock does not keep the engine alive.
        let (weak, counter) = (Arc::downgrade(&engine.engines), Arc::clone(&engine.ticks));
        std::thread::Builder::new()
            .name("toolgate-clock".to_owned())
            .stack_size(64 << 10)
            .spawn(move || {
                loop {
                    std::thread::sleep(TICK);
                    let Some(engines) = weak.upgrade() else { break };
                    counter.fetch_add(1, Ordering::Relaxed);
                    engines.tick();
                }
            })
            .map_err(|error| LoadError::Engine(error.into()))?;
        Ok(engine)
    }

    /// An engine for making code that any processor of this kind can run, not just this one.
    pub fn portable() -> Result<wasmtime::Engine, LoadError> {
        let mut config = config();
        config.target(env!("TOOLGATE_TARGET")).map_err(LoadError::Engine)?;
        wasmtime::Engine::new(&config).map_err(LoadError::Engine)
    }

    /// The wasmtime engine inside that compiles components.
    ///
    /// # Errors
    /// If wasmtime does not support this machine.
    pub fn wasmtime(&self) -> Result<&wasmtime::Engine, LoadError> {
        if let Some(engine) = self.engines.compiling.get() {
            return Ok(engine);
        }
        let mut config = config();
        precompiled::publish_in_place(&mut config);
        let made = wasmtime::Engine::new(&config).map_err(LoadError::Engine)?;
        // Whoever was first has made the one that counts.
        Ok(self.engines.compiling.get_or_init(|| made))
    }

    /// The one that runs what was compiled before, and nothing else: its memories start as that component's do.
    pub(crate) fn running(&self, precompiled: &Precompiled) -> Result<wasmtime::Engine, LoadError> {
        let address = precompiled.code.as_ptr() as usize;
        let mut running = self.engines.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, engine)) = running.iter().find(|(of, _)| *of == address) {
            return Ok(engine.clone());
        }
        let mut config = config();
        config.enable_compiler(false);
        config.with_host_memory(Arc::new(Memories::new(precompiled.memory)));
        precompiled::publish_in_place(&mut config);
        let engine = wasmtime::Engine::new(&config).map_err(LoadError::Engine)?;
        running.push((address, engine.clone()));
        Ok(engine)
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
