//! Signals that would end the program before it has answered.
//!
//! An agent takes a hook that was killed for one that has nothing against the call. So whatever can be caught ends a hook
//! with the exit code for "no": that there is no memory or no processor time left, and that somebody sends it. Nothing can be
//! done about `SIGKILL`. Those of a fault in the code itself are left to the standard library and to wasmtime, which aborts.

// Handlers run at any moment, and the compiler cannot check that all they do may be done then.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicI32, Ordering};

use nix::libc::{_exit, c_int};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// What ends a process by default.
const FATAL: [Signal; 11] = [
    Signal::SIGABRT,
    Signal::SIGALRM,
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGPROF,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGVTALRM,
    Signal::SIGXCPU,
];

/// The exit code of a hook that is ended.
static CODE: AtomicI32 = AtomicI32::new(0);

extern "C" fn end(_: c_int) {
    // SAFETY: it is among what a handler may call.
    unsafe { _exit(CODE.load(Ordering::Relaxed)) }
}

fn on(signal: Signal, handler: SigHandler) {
    let action = SigAction::new(handler, SaFlags::SA_ONSTACK, SigSet::empty());
    // SAFETY: `end` reads an atomic number and ends the process, which may be done at any moment.
    if let Err(error) = unsafe { sigaction(signal, &action) } {
        tracing::warn!(%error, %signal, "not caught");
    }
}

/// Has a write beyond the limit to the size of files fail, as one to a full disk does: what cannot be logged does not run.
pub(crate) fn writes_may_fail() {
    on(Signal::SIGXFSZ, SigHandler::SigIgn);
}

/// Has whatever would end this process end it with this exit code.
pub(crate) fn end_with(code: u8) {
    CODE.store(code.into(), Ordering::Relaxed);
    FATAL.into_iter().for_each(|signal| on(signal, SigHandler::Handler(end)));
}
