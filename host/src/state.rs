//! What belongs to one store: its capabilities, its limits and what it has used of them.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;
use wasmtime::ResourceLimiter;
#[cfg(feature = "wasi")]
use wasmtime_wasi::{WasiCtxView, WasiView};

use crate::CapabilityError;
use crate::Level;
use crate::capability::{Answer, Capabilities, ConfigFile};
use crate::limits::said::LOG_LINES;
use crate::limits::{Limits, TICK, deadline};
use crate::memory_image::Watched;
#[cfg(feature = "wasi")]
use crate::wasi::Wasi;

/// What belongs to one store.
pub(crate) struct HostState {
    pub(crate) capabilities: Capabilities,
    pub(crate) plugin: String,
    pub(crate) limits: Limits,
    pub(crate) usage: Usage,
    /// The rule files, where they were read before the component asks for them.
    pub(crate) rules: Option<Answer<Vec<ConfigFile>>>,
    /// Its memory, where what becomes of that is asked later.
    pub(crate) watched: Option<Watched>,
    /// Made when it is first used, so never for most components.
    #[cfg(feature = "wasi")]
    pub(crate) wasi: Option<Box<Wasi>>,
    calls: u32,
    /// What is left of the time for other components in this hook.
    pub(crate) left_for_others: Duration,
    /// Messages of the hook to the log, those that were dropped included.
    logged: u32,
    /// The tick at which the hook has computed long enough, moved on by the time in host calls.
    deadline: u64,
    ticks: Arc<AtomicU64>,
}

/// Memory and tables in use, over all of a component's instances; wasmtime's own limiter counts each by itself.
#[derive(Default)]
pub(crate) struct Usage {
    memory: usize,
    table_elements: usize,
    most_memory: usize,
    most_elements: usize,
    most_instances: usize,
    /// Whether something was refused, as a guest that is refused memory traps without saying why.
    pub(crate) refused: bool,
}

impl Usage {
    /// Counts the memory of a component that has a single one, which began with so many bytes and not with what its code says.
    pub(crate) fn began_with(&mut self, memory: usize) {
        self.memory = self.memory.max(memory);
    }
}

impl ResourceLimiter for Usage {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.memory.saturating_add(desired.saturating_sub(current));
        if total > self.most_memory {
            // Once for a hook: it may ask again and again.
            if !self.refused {
                tracing::warn!(current, desired, in_use = self.memory, limit = self.most_memory, "memory refused");
            }
            self.refused = true;
            return Ok(false);
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.table_elements.saturating_add(desired.saturating_sub(current));
        if total > self.most_elements {
            self.refused = true;
            return Ok(false);
        }
        self.table_elements = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.most_instances
    }

    fn memories(&self) -> usize {
        self.most_instances
    }

    fn tables(&self) -> usize {
        self.most_instances
    }
}

/// The error that ends a hook with too many host calls.
#[derive(Debug, thiserror::Error)]
#[error("too many host calls")]
pub(crate) struct TooManyHostCalls;

impl HostState {
    pub(crate) fn new(plugin: &str, capabilities: Capabilities, limits: Limits, ticks: Arc<AtomicU64>) -> Self {
        let usage = Usage {
            most_memory: limits.memory,
            most_elements: limits.table_elements,
            most_instances: limits.instances,
            ..Usage::default()
        };
        HostState {
            capabilities,
            plugin: plugin.to_owned(),
            limits,
            usage,
            rules: None,
            watched: None,
            #[cfg(feature = "wasi")]
            wasi: None,
            calls: 0,
            logged: 0,
            left_for_others: Duration::ZERO,
            deadline: 0,
            ticks,
        }
    }

    /// Gives the next hook its whole budget.
    pub(crate) fn arm(&mut self) {
        self.calls = 0;
        self.left_for_others = deadline::OTHERS;
        self.end_log();
        self.usage.refused = false;
        // One more, as the first tick is already partly over.
        let budget = u64::try_from(self.limits.compute.as_millis() / TICK.as_millis()).unwrap_or(u64::MAX) + 1;
        self.deadline = self.ticks.load(Ordering::Relaxed) + budget;
    }

    /// Whether the hook has computed as long as it may.
    pub(crate) fn is_over(&self) -> bool {
        self.ticks.load(Ordering::Relaxed) >= self.deadline
    }

    /// Does one host call: counts it, gives it a deadline, and keeps its time out of the hook's.
    pub(crate) async fn host_call<T>(
        &mut self,
        limit: Duration,
        work: impl Future<Output = Result<T, CapabilityError>>,
    ) -> wasmtime::Result<Result<T, CapabilityError>> {
        self.count()?;
        let before = self.ticks.load(Ordering::Relaxed);
        let end = Instant::now() + limit;
        let mut work = pin!(work);
        // Most have nothing to wait for, and need no timer. The others are asked once more with one.
        let result = match poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
            Poll::Ready(result) => result,
            Poll::Pending => tokio::time::timeout_at(end, work).await.unwrap_or(Err(CapabilityError::Timeout)),
        };
        self.deadline += self.ticks.load(Ordering::Relaxed) - before;
        Ok(result)
    }

    /// Whether one more message of this hook is logged.
    pub(crate) fn may_log(&mut self) -> bool {
        self.logged = self.logged.saturating_add(1);
        self.logged <= LOG_LINES
    }

    /// Says how much of the last hook was not logged.
    fn end_log(&mut self) {
        let dropped = std::mem::take(&mut self.logged).saturating_sub(LOG_LINES);
        if dropped > 0 {
            let message = format!("{dropped} more messages were dropped");
            self.capabilities.log.write(&self.plugin, Level::Warning, &message);
        }
    }

    pub(crate) fn count(&mut self) -> wasmtime::Result<()> {
        self.calls += 1;
        if self.calls > self.limits.host_calls { Err(TooManyHostCalls.into()) } else { Ok(()) }
    }
}

#[cfg(feature = "wasi")]
impl WasiView for HostState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let plugin = &self.plugin;
        let Wasi { ctx, table } = &mut **self.wasi.get_or_insert_with(|| Box::new(Wasi::new(plugin)));
        WasiCtxView { ctx, table }
    }
}

impl Drop for HostState {
    fn drop(&mut self) {
        self.end_log();
    }
}
