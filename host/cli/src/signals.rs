//! Signals that would end the program before it has answered.
//!
//! An agent takes a hook that was killed for one that has nothing against the call. So whatever can be caught ends a hook
//! with the exit code for "no": that there is no memory or no processor time left, that somebody sends it, and a fault in
//! the code itself. Nothing can be done about `SIGKILL`. The C library keeps two real-time signals for itself and lets
//! nobody catch them: of glibc's, 33 ends nothing, and 32 does.
//!
//! wasmtime has its own handlers for faults of compiled code, and passes on what is none to those that were there before.
//! So ours have to be there before an engine is made; they take the place of those of the standard library, which print that
//! the stack overflowed and then end the process by a signal, too.

// Handlers run at any moment, and the compiler cannot check that all they do may be done then.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicI32, Ordering};

use nix::libc::{self, c_int};

/// What ends a process by default.
const FATAL: &[c_int] = &[
    libc::SIGABRT,
    libc::SIGALRM,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGHUP,
    libc::SIGILL,
    libc::SIGINT,
    libc::SIGPROF,
    libc::SIGQUIT,
    libc::SIGSEGV,
    libc::SIGSYS,
    libc::SIGTERM,
    libc::SIGTRAP,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGVTALRM,
    libc::SIGXCPU,
];

/// What does so on Linux only.
#[cfg(target_os = "linux")]
fn fatal_here() -> impl Iterator<Item = c_int> {
    [libc::SIGIO, libc::SIGPWR, libc::SIGSTKFLT].into_iter().chain(libc::SIGRTMIN()..=libc::SIGRTMAX())
}

#[cfg(not(target_os = "linux"))]
fn fatal_here() -> impl Iterator<Item = c_int> {
    std::iter::empty()
}

/// The exit code of a hook that is ended.
static CODE: AtomicI32 = AtomicI32::new(0);

extern "C" fn end(_: c_int) {
    // SAFETY: it is among what a handler may call.
    unsafe { libc::_exit(CODE.load(Ordering::Relaxed)) }
}

extern "C" fn nothing(_: c_int) {}

/// The process group that ends with this process when that is interrupted; 0 for none.
static GROUP: AtomicI32 = AtomicI32::new(0);

extern "C" fn end_group(signal: c_int) {
    let group = GROUP.load(Ordering::Relaxed);
    // SAFETY: all three are among what a handler may call. With the default in its place again, the signal ends this process
    // once the handler has returned.
    unsafe {
        if group > 0 {
            libc::kill(-group, libc::SIGKILL);
        }
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

fn on(signal: c_int, handler: extern "C" fn(c_int)) {
    // SAFETY: of plain numbers and an address that may be null, for which zeros are values.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as libc::sighandler_t;
    action.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: all handlers only do what may be done at any moment: nothing, or to read an atomic number and end processes.
    // The action is a local one, and nothing is written to the null.
    if unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) } != 0 {
        tracing::warn!(error = %std::io::Error::last_os_error(), signal, "not caught");
    }
}

/// Has a write beyond the limit to the size of files fail, as one to a full disk does: what cannot be logged does not run.
/// Programs that are started get the signal as ever; one that is ignored would be ignored by them as well.
pub(crate) fn writes_may_fail() {
    on(libc::SIGXFSZ, nothing);
}

/// Has this process group, and no other, end with this process when that is interrupted. A signal from the keyboard does not
/// reach a group in the background.
pub(crate) fn take_along(group: Option<i32>) {
    GROUP.store(group.unwrap_or(0), Ordering::Relaxed);
    [libc::SIGINT, libc::SIGTERM].into_iter().for_each(|signal| on(signal, end_group));
}

/// Has whatever would end this process end it with this exit code. To be called before an engine is made.
pub(crate) fn end_with(code: u8) {
    end_now_with(code);
    FATAL.iter().copied().chain(fatal_here()).for_each(|signal| on(signal, end));
}

/// The same with another exit code from here on.
pub(crate) fn end_now_with(code: u8) {
    CODE.store(code.into(), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_started_ignores_no_signal_for_it() {
        writes_may_fail();
        let output = std::process::Command::new("/bin/cat").arg("/proc/self/status").output().expect("it runs");
        let status = String::from_utf8(output.stdout).expect("text");
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a line");
        let ignored = u64::from_str_radix(ignored.trim(), 16).expect("a number");
        assert_eq!(ignored & 1 << (libc::SIGXFSZ - 1), 0, "{status}");
    }
}
