//! WASI with nothing behind it, for components whose language brings a runtime that cannot do without.
//!
//! There are no files, no variables, no arguments and no network, and standard input is at its end. What is written to
//! standard output and error goes to this program's own log, up to a limit. The time stands still and random numbers are
//! the same each time: what is judged depends on the call alone, and who wants to know the time asks for the capability
//! `clock`, which has to be granted. So nobody may draw keys or passwords from these numbers.
//!
//! A component that imports no WASI is linked without any of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use wasmtime::component::ResourceTable;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};
use wasmtime_wasi::{Deterministic, HostMonotonicClock, HostWallClock, WasiCtx};

use crate::limits::{WASI_OUTPUT, WASI_RANDOM, WASI_RESOURCES};

/// The packages of WASI 0.2 that are there, with nothing behind them.
const PACKAGES: [&str; 6] = ["cli", "clocks", "filesystem", "io", "random", "sockets"];

/// Whether this is the full name of an interface of WASI that is there.
pub(crate) fn offers(interface: &str) -> bool {
    let package = |name: &str| {
        let rest = interface.strip_prefix("wasi:").and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with('/') && rest.contains("@0.2."))
    };
    PACKAGES.into_iter().any(package)
}

/// What belongs to one store.
pub(crate) struct Wasi {
    pub(crate) ctx: WasiCtx,
    pub(crate) table: ResourceTable,
}

impl Wasi {
    pub(crate) fn new(plugin: &str) -> Self {
        let output = Output { plugin: plugin.into(), left: Arc::new(AtomicUsize::new(WASI_OUTPUT)) };
        let mut ctx = WasiCtx::builder();
        ctx.stdout(output.clone()).stderr(output).allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
        ctx.wall_clock(Still).monotonic_clock(Counting::default());
        ctx.secure_random(numbers()).insecure_random(numbers()).insecure_random_seed(0).max_random_size(WASI_RANDOM);
        let mut table = ResourceTable::new();
        table.set_max_capacity(WASI_RESOURCES);
        Wasi { ctx: ctx.build(), table }
    }
}

/// Numbers without a pattern that a program would fall over: the digests of 0, 1, 2 and so on, over and over.
fn numbers() -> Deterministic {
    Deterministic::new((0..256_u32).flat_map(|number| Sha256::digest(number.to_le_bytes())).collect())
}

/// The first second of the year 2000.
struct Still;

impl HostWallClock for Still {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::from_secs(946_684_800)
    }
}

/// A millisecond goes by with each look, so that whoever waits for time to pass sees it pass.
#[derive(Default)]
struct Counting(AtomicU64);

impl HostMonotonicClock for Counting {
    fn resolution(&self) -> u64 {
        1_000_000
    }

    fn now(&self) -> u64 {
        self.0.fetch_add(1_000_000, Ordering::Relaxed)
    }
}

/// Standard output or error. Both together have one limit, and what is over it is dropped: a program that cannot write
/// would fail of that.
#[derive(Clone)]
struct Output {
    plugin: Arc<str>,
    left: Arc<AtomicUsize>,
}

impl Output {
    fn write(&self, bytes: &[u8]) {
        let take = |left: usize| Some(left.saturating_sub(bytes.len()));
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).unwrap_or_default();
        let text = String::from_utf8_lossy(bytes.get(..left.min(bytes.len())).unwrap_or_default());
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            tracing::info!(plugin = &*self.plugin, "{}", crate::plain(line));
        }
    }
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait::async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {}
}

#[async_trait::async_trait]
impl OutputStream for Output {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        Output::write(self, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(4_096)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_these_interfaces_are_there() {
        let cases = [
            ("wasi:cli/environment@0.2.0", true),
            ("wasi:filesystem/types@0.2.12", true),
            ("wasi:sockets/tcp@0.2.3", true),
            ("wasi:cli/environment@0.3.0", false),
            ("wasi:cli/environment", false),
            ("wasi:http/outgoing-handler@0.2.3", false),
            ("wasi:clocksmith/x@0.2.0", false),
            ("made:cli/x@0.2.0", false),
        ];
        for (interface, expected) in cases {
            assert_eq!(offers(interface), expected, "{interface}");
        }
    }

    #[test]
    fn output_ends_at_its_limit_and_the_writer_does_not_notice() {
        let output = Output { plugin: "made-up".into(), left: Arc::new(AtomicUsize::new(10)) };
        let mut stream = output.p2_stream();
        for left in [6, 2, 0, 0] {
            stream.write(Bytes::from_static(b"abc\n")).expect("taken");
            assert_eq!(output.left.load(Ordering::Relaxed), left);
        }
    }
}
