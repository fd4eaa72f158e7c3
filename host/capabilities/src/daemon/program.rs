//! Which program a daemon's process runs.
//!
//! The kernel names the process that began to listen, and only that one is listened to, see `wire`. It is looked at before
//! it is asked: what another program said that it may have been earlier is no answer.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What the process of a daemon is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DaemonProgram {
    /// It runs our program.
    Ours,
    /// It runs what our program was before it was updated.
    Replaced,
    /// It runs anything else, or has ended.
    Foreign,
}

/// Compares a process with a program. Only for Linux; elsewhere nobody names the process either.
///
/// # Errors
/// If the program is not there.
pub(super) fn whose(pid: i32, program: &Path) -> io::Result<DaemonProgram> {
    let ours = identity(program)?;
    let process = Path::new("/proc").join(pid.to_string()).join("exe");
    if identity(&process).is_ok_and(|found| found == ours) {
        return Ok(DaemonProgram::Ours);
    }
    // What the kernel calls a file that has no name any more.
    let mut replaced = program.canonicalize()?.into_os_string();
    replaced.push(" (deleted)");
    Ok(if process.read_link().is_ok_and(|found| found == replaced) {
        DaemonProgram::Replaced
    } else {
        DaemonProgram::Foreign
    })
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    path.metadata().map(|found| (found.dev(), found.ino()))
}
