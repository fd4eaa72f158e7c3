//! Wasmtime's settings, and the clock behind compute deadlines.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use wasmtime::Config;

use crate::error::LoadError;
use crate::limits::{ASYNC_STACK, TICK, WASM_STACK};
use crate::memory_image::Memories;
use crate::precompiled::{self, Precompiled};

/// The engine that all components of a program share. Cloning it is cheap.
///
/// Inside are engines of wasmtime's, which are made when they are first needed: one that compiles, and for each component
/// that was compiled before one that only runs it, as a compiler that nobody needs takes its time to make.
///
/// ```
/// use toolgate_host::Engine;
///
/// // One for the whole program, whatever the number of components. It does not compile anything yet.
/// let engine = Engine::new()?;
/// # Ok::<(), toolgate_host::LoadError>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    engines: Arc<Engines>,
    ticks: Arc<AtomicU64>,
}

#[derive(Default)]
struct Engines {
    #[cfg(feature = "cranelift")]
    compiling: std::sync::OnceLock<wasmtime::Engine>,
    /// By the address of the code.
    running: Mutex<Vec<(usize, wasmtime::Engine)>>,
}

impl Engines {
    /// Moves the clock of each on.
    fn tick(&self) {
        #[cfg(feature = "cranelift")]
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
                let mut clock = Clock::default();
                let (mut before, mut worked) = (Instant::now(), processor_time());
                loop {
                    std::thread::sleep(TICK);
                    let Some(engines) = weak.upgrade() else { break };
                    let (now, work) = (Instant::now(), processor_time());
                    let ticks =
                        clock.advance(now - before, work.zip(worked).map(|(now, then)| now.saturating_sub(then)));
                    (before, worked) = (now, work);
                    counter.fetch_add(ticks, Ordering::Relaxed);
                    engines.tick();
                }
            })
            .map_err(|error| LoadError::Engine(error.into()))?;
        Ok(engine)
    }

    /// An engine for making code that any processor of this kind can run, not just this one. For build tools: which wasmtime it is
    /// may change with any version of this crate.
    #[cfg(feature = "cranelift")]
    pub fn portable() -> Result<wasmtime::Engine, LoadError> {
        let mut config = config();
        config.target(env!("TOOLGATE_TARGET")).map_err(LoadError::Engine)?;
        wasmtime::Engine::new(&config).map_err(LoadError::Engine)
    }

    /// The wasmtime engine inside that compiles components. Which wasmtime it is may change with any version of this crate.
    ///
    /// # Errors
    /// If wasmtime does not support this machine.
    #[cfg(feature = "cranelift")]
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
        #[cfg(feature = "cranelift")]
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

/// On a busy machine less counts than passes, but never less than this part of it: whoever asks waits only so long.
const LEAST: u32 = 2;

/// What counts as time to compute: that in which the process has a processor.
#[derive(Default)]
struct Clock {
    /// What is too short for a tick yet.
    rest: Duration,
}

impl Clock {
    /// How many ticks are over when so much time has passed, for so much of which the process has worked, all its threads
    /// together.
    fn advance(&mut self, passed: Duration, worked: Option<Duration>) -> u64 {
        self.rest += worked.map_or(passed, |worked| worked.clamp(passed / LEAST, passed));
        let ticks = self.rest.as_nanos() / TICK.as_nanos();
        self.rest -= TICK.saturating_mul(u32::try_from(ticks).unwrap_or(u32::MAX));
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }
}

/// For how long the threads of this process have worked, together. None where that cannot be told.
#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(unix))]
fn processor_time() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_in_which_the_process_works() {
        /// What has passed and what was worked, in milliseconds.
        type Step = (u64, Option<u64>);
        // Step by step, and the ticks that are over then.
        let cases: [(&[Step], u64); 8] = [
            (&[(10, Some(10)), (10, Some(10))], 2),
            (&[(100, None)], 10),
            // Several threads at once.
            (&[(10, Some(20)), (10, Some(20))], 2),
            // Three quarters of a processor.
            (&[(20, Some(15)), (20, Some(15))], 3),
            // Nothing: half of it counts.
            (&[(10, Some(0)), (10, Some(2)), (10, Some(5)), (10, Some(0))], 2),
            (&[(4_000, Some(0))], 200),
            (&[(1_000, Some(700))], 70),
            (&[], 0),
        ];
        for (steps, expected) in cases {
            let mut clock = Clock::default();
            let ticks: u64 = steps
                .iter()
                .map(|(passed, worked)| {
                    clock.advance(Duration::from_millis(*passed), worked.map(Duration::from_millis))
                })
                .sum();
            assert_eq!(ticks, expected, "{steps:?}");
        }
    }

    #[test]
    fn the_time_of_the_process_goes_on_as_it_works() {
        let Some(before) = processor_time() else { return };
        let mut sum = 0_u64;
        let start = Instant::now();
        while processor_time() == Some(before) {
            sum = sum.wrapping_mul(31).wrapping_add(1);
            assert!(start.elapsed() < Duration::from_secs(60), "no time was counted ({sum})");
        }
    }

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
