//! Which functions a program enters, in the order in which it enters them first.
//!
//! Each function begins with a breakpoint, which goes away when it is met: a run of 3 000 functions stops 3 000 times.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::Seek;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::image::Image;

/// How this program is told to become another one that its parent watches.
pub const TRACED: &str = "--traced";

/// What is said where the system lets no process watch another, or write into it.
pub const NOT_ALLOWED: &str = "a process cannot be watched here";

/// `int3`.
const BREAKPOINT: u8 = 0xcc;

/// Turns this process into the program, watched by its parent. Comes back only with an error.
///
/// # Errors
/// If it may not be watched, or there is no such program.
pub fn become_traced(program: &OsStr, arguments: &[OsString]) -> Result<String, Box<dyn std::error::Error>> {
    ptrace::traceme()?;
    Err(Command::new(program).args(arguments).exec().into())
}

/// What a program is run with.
pub(crate) struct Run<'a> {
    /// The program that becomes the traced one: `toolgate-layout`.
    pub(crate) tracer: &'a Path,
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [&'a str],
    pub(crate) input: File,
    pub(crate) home: &'a Path,
}

/// Runs a program to its end, adds the addresses of the functions that it enters to those that are known, and gives what it
/// printed.
pub(crate) fn entered(image: &Image, run: Run<'_>, known: &mut Entered) -> Result<String, Box<dyn std::error::Error>> {
    // An answer that goes nowhere counts as none, and is told by the exit code.
    let (mut output, mut complaint) = (tempfile::tempfile()?, tempfile::tempfile()?);
    // Its end is told by the system's own means below, which `Child` would miss.
    let child = Command::new(run.tracer)
        .arg(TRACED)
        .arg(run.program)
        .args(run.arguments)
        .env_clear()
        .env("HOME", run.home)
        // Without git, which is asked about worktrees before programs run whose changes are not known: no other process is traced.
        .env("PATH", "/nonexistent")
        // All of it is to be in this process.
        .env("TOOLGATE_NO_SERVE", "1")
        .current_dir(run.home)
        .stdin(run.input)
        .stdout(output.try_clone()?)
        .stderr(complaint.try_clone()?)
        .spawn()?;
    let main = Pid::from_raw(i32::try_from(child.id())?);
    match waitpid(main, Some(WaitPidFlag::__WALL))? {
        WaitStatus::Stopped(_, Signal::SIGTRAP) => {}
        other => return Err(format!("{NOT_ALLOWED}: {other:?} {}", text(&mut complaint)?).into()),
    }
    // A process that it starts would meet the breakpoints, too, and is none of its call's code.
    let started = Options::PTRACE_O_TRACEFORK | Options::PTRACE_O_TRACEVFORK;
    ptrace::setoptions(main, started | Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_EXITKILL)?;
    let memory = OpenOptions::new().write(true).open(format!("/proc/{main}/mem"))?;
    for (start, code) in &image.code {
        let mut marked = code.clone();
        for (address, _) in image.functions.range(start..&(start + code.len() as u64)) {
            if let Some(byte) = marked.get_mut((address - start) as usize) {
                *byte = BREAKPOINT;
            }
        }
        memory.write_all_at(&marked, *start).map_err(|error| format!("{NOT_ALLOWED}: {error}"))?;
    }
    ptrace::cont(main, None)?;
    watch(image, main, &memory, known)?;
    text(&mut output)
}

fn text(file: &mut File) -> Result<String, Box<dyn std::error::Error>> {
    file.rewind()?;
    Ok(std::io::read_to_string(file)?)
}

/// Addresses in the order in which they were met first.
#[derive(Debug, Default)]
pub struct Entered {
    /// The addresses.
    pub order: Vec<u64>,
    met: HashSet<u64>,
}

impl Entered {
    fn meet(&mut self, address: u64) {
        if self.met.insert(address) {
            self.order.push(address);
        }
    }
}

fn watch(image: &Image, main: Pid, memory: &File, known: &mut Entered) -> Result<(), Box<dyn std::error::Error>> {
    loop {
        // Of this thread alone: what others of this process have started is theirs to wait for.
        let (thread, signal) = match waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD))? {
            WaitStatus::Exited(thread, code) if thread == main => {
                return if code == 0 { Ok(()) } else { Err(format!("it ended with {code}").into()) };
            }
            WaitStatus::Signaled(thread, signal, _) if thread == main => {
                return Err(format!("it was ended by {signal}").into());
            }
            WaitStatus::Stopped(thread, Signal::SIGTRAP) => {
                let mut registers = ptrace::getregs(thread)?;
                let address = registers.rip - 1;
                let Some(original) = image.functions.contains_key(&address).then(|| byte(image, address)).flatten()
                else {
                    return Err(format!("it stopped at {address:#x}, where no function begins").into());
                };
                // Another thread may have been here in between; the same byte does no harm.
                memory.write_all_at(&[original], address)?;
                registers.rip = address;
                ptrace::setregs(thread, registers)?;
                known.meet(address);
                (thread, None)
            }
            WaitStatus::PtraceEvent(_, _, libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK) => {
                return Err("it starts another process".into());
            }
            // That is how a new thread begins.
            WaitStatus::Stopped(thread, Signal::SIGSTOP) | WaitStatus::PtraceEvent(thread, ..) => (thread, None),
            WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
            _ => continue,
        };
        match ptrace::cont(thread, signal) {
            // The process may have ended, which is told next.
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn byte(image: &Image, address: u64) -> Option<u8> {
    image.code.iter().find_map(|(start, code)| code.get(usize::try_from(address.checked_sub(*start)?).ok()?).copied())
}
