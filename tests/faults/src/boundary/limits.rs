//! What the kernel grants a process: file descriptors, memory, stack, processor time, processes. A hook that has too little
//! says no, and never nothing.

use std::process::{Command, Stdio};

use super::{Fault, fault};
use crate::Error;
use crate::trial::Trial;

const MIB: u64 = 1 << 20;

/// How many descriptors there may be. The loader of programs itself takes the fourth.
const DESCRIPTORS: [u64; 10] = [4, 5, 6, 7, 8, 10, 12, 16, 24, 64];

/// Bytes of addresses. A component alone reserves some gigabytes.
const ADDRESSES: [u64; 10] = [
    96 * MIB,
    112 * MIB,
    128 * MIB,
    192 * MIB,
    256 * MIB,
    512 * MIB,
    1_024 * MIB,
    4_096 * MIB,
    8_192 * MIB,
    16_384 * MIB,
];

/// Bytes of stack.
const STACKS: [u64; 5] = [MIB / 16, MIB / 8, MIB / 4, MIB / 2, MIB];

/// Threads and processes of the user's.
const PROCESSES: [u64; 5] = [1, 2, 3, 4, 6];

pub(super) fn faults() -> Vec<Fault> {
    let mut all = Vec::new();
    let row = |what: &str, option: &'static str, limit: u64| {
        fault(format!("{limit} {what}"), move |trial| {
            limited(trial, &format!("--{option}={limit}"))?;
            trial.calls()
        })
    };
    all.extend(DESCRIPTORS.map(|limit| row("descriptors", "nofile", limit)));
    all.extend(ADDRESSES.map(|limit| row("bytes of addresses", "as", limit)));
    all.extend(STACKS.map(|limit| row("bytes of stack", "stack", limit)));
    all.push(row("bytes of locked memory", "memlock", 0));
    all.push(row("pending signals", "sigpending", 0));
    all.push(row("bytes of data", "data", 4 * MIB));
    all.push(fault("a second of processor time, and a plugin to compile", |trial| {
        let plugin = super::cache::plugin(trial)?;
        trial.call_with(|hook| hook.arguments(&["--plugin", &plugin]).through(&["prlimit", "--cpu=1"]));
        trial.calls()
    }));
    all.extend(PROCESSES.map(|limit| {
        fault(format!("{limit} processes and threads of the user's"), move |trial| {
            if !rustix::process::getuid().is_root() {
                return Err(Error::LeftOut("all processes of this user would count; root has others to be".to_owned()));
            }
            let words = trial.world.without_root()?;
            let through: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
            trial.always(|hook| hook.through(&through));
            trial.call_with(|hook| hook.through(&["prlimit", &format!("--nproc={limit}")]));
            // One at a time, as they count together.
            trial.calls()
        })
    }));
    all
}

/// Calls under a limit, if a program can be started under it at all.
fn limited(trial: &mut Trial, limit: &str) -> Result<(), Error> {
    let mut tried = Command::new("prlimit");
    tried.arg(limit).arg(&trial.world.program).arg("--version");
    let tried = tried.stdin(Stdio::null()).output().map_err(|error| Error::LeftOut(format!("prlimit: {error}")))?;
    // 127 is the loader's, which has not even reached the program.
    if matches!(tried.status.code(), Some(126 | 127)) {
        let why = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
        return Err(Error::LeftOut(format!("the system does not start the program: {why}")));
    }
    trial.unlogged = true;
    trial.call_with(|hook| hook.through(&["prlimit", limit]));
    Ok(())
}
