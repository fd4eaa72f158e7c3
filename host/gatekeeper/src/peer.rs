//! Who speaks for a resident host: which program the process runs, and whether it sees what this one sees.
//!
//! A process can be another program from one moment to the next, or be traced, so whoever asks looks before the question
//! and at the same again after the answer. Of what was said before the first look nothing is believed: it may have been
//! another program's.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use toolgate_agents::settings::program;

/// A file, whatever it is called.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub(super) fn of(path: impl AsRef<Path>) -> Option<Self> {
        Self::found(&rustix::fs::stat(path.as_ref()).ok()?)
    }

    /// The program that this process runs.
    pub(super) fn program() -> Option<Self> {
        Self::of("/proc/self/exe")
    }

    fn at(folder: &OwnedFd, name: &str) -> Option<Self> {
        Self::found(&rustix::fs::statat(folder, name, AtFlags::empty()).ok()?)
    }

    fn found(found: &rustix::fs::Stat) -> Option<Self> {
        Some(Identity { device: found.st_dev, inode: found.st_ino })
    }
}

/// A process, by what the kernel tells of it. It stays that one: when it has ended, nothing is told any more, and never
/// of another that has its number by then.
pub(super) struct Peer(OwnedFd);

impl Peer {
    /// None if there is no such process.
    pub(super) fn of(pid: i32) -> Option<Self> {
        Self::open(&pid.to_string())
    }

    fn open(name: &str) -> Option<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(CWD, format!("/proc/{name}"), flags, Mode::empty()).ok().map(Peer)
    }

    /// Whether it is a resident host of this program, which sees the files that this process sees, and was started with
    /// nothing that changes what it does.
    pub(super) fn is_a_host(&self) -> bool {
        let Some(own) = Self::open("self") else { return false };
        let same = |name: &str| {
            let theirs = Identity::at(&self.0, name);
            theirs.is_some() && theirs == Identity::at(&own.0, name)
        };
        same("exe") && same("ns/mnt") && same("ns/user") && same("root") && self.serves() && self.is_free(&own)
    }

    /// Whether it was started as a resident host: of all that this program does, only that answers hooks.
    fn serves(&self) -> bool {
        self.read("cmdline").is_some_and(|line| serves(&line))
    }

    /// Whether nobody is seen to have a say in what it does: no variable that it was started with is for the dynamic loader,
    /// nobody traces it now, and no more filters answer its system calls than those of this process.
    fn is_free(&self, own: &Peer) -> bool {
        let loads = |line: Vec<u8>| line.split(|byte| *byte == 0).any(|variable| variable.starts_with(b"LD_"));
        let (Some(theirs), Some(ours)) = (self.read("status"), own.read("status")) else { return false };
        let filters = |status: &[u8]| column(status, "Seccomp_filters").or_else(|| column(status, "Seccomp"));
        let traced = column(&theirs, "TracerPid") != Some(0);
        self.read("environ").is_some_and(|line| !loads(line)) && !traced && filters(&theirs) <= filters(&ours)
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let file = rustix::fs::openat(&self.0, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut bytes = Vec::new();
        File::from(file).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// The same of a command line. By the name of a hook's link it is that hook, whatever it is told.
fn serves(line: &[u8]) -> bool {
    let mut words = line.split(|byte| *byte == 0);
    let is_plain = words.next().is_some_and(|name| program::linked(OsStr::from_bytes(name)).is_none());
    is_plain && words.next() == Some(b"serve") && words.all(|word| !word.starts_with(b"--stdio"))
}

/// A number in `/proc/PID/status`.
fn column(status: &[u8], name: &str) -> Option<u64> {
    let lines = std::str::from_utf8(status).ok()?.lines();
    let mut values = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    values.next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_what_the_kernel_says_and_nothing_when_it_has_ended() {
        let started = |program: &str| -> Child {
            let mut command = Command::new(program);
            command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts")
        };
        let mut other = started("/bin/cat");
        let peer = Peer::of(other.id().try_into().expect("a number")).expect("it runs");
        assert!(!peer.is_a_host(), "it runs another program");
        other.kill().and_then(|()| other.wait()).expect("it ends");
        assert!(peer.read("status").is_none_or(|status| status.is_empty()) && !peer.is_a_host(), "it has ended");
        let own = Peer::open("self").expect("this process");
        assert!(!own.is_a_host(), "it was not started as one");
    }

    /// Whoever begins to trace a process after it was looked at is seen when it is looked at again.
    #[test]
    #[expect(unsafe_code, reason = "the system's call is not wrapped")]
    fn a_process_that_is_traced_is_not_free() {
        use nix::libc::{PTRACE_SEIZE, ptrace};

        let mut other = Command::new("/bin/cat").stdin(Stdio::piped()).env_clear().spawn().expect("it starts");
        let id = i32::try_from(other.id()).expect("a number");
        let (peer, own) = (Peer::of(id).expect("it runs"), Peer::open("self").expect("this process"));
        assert!(peer.is_free(&own));
        // SAFETY: it takes a number, and a null address and no options for a process to go on as it does.
        let traced = unsafe { ptrace(PTRACE_SEIZE, id, std::ptr::null_mut::<u8>(), std::ptr::null_mut::<u8>()) };
        assert_eq!(traced, 0, "{}", std::io::Error::last_os_error());
        assert!(!peer.is_free(&own));
        other.kill().and_then(|()| other.wait()).expect("it ends");
    }

    #[test]
    fn only_a_resident_host_serves() {
        let cases: &[(&[u8], bool)] = &[
            (b"toolgate\0serve\0", true),
            (b"/usr/local/bin/toolgate\0serve\0--watch\0", true),
            (b"toolgate\0serve\0--stdio\0pi\0", false),
            (b"toolgate\0serve\0--stdio=pi\0", false),
            (b"toolgate-hook-claude\0serve\0", false),
            (b"/usr/local/bin/toolgate-hook-x\0serve\0", false),
            (b"toolgate\0hook\0serve\0", false),
            (b"toolgate\0", false),
            (b"", false),
        ];
        for (line, expected) in cases {
            assert_eq!(serves(line), *expected, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn numbers_are_found_by_their_names() {
        let status = b"Name:\tTracerPid: 4\nTracerPid:\t0\nSeccomp:\t2\nSeccomp_filters:\t11\n";
        let cases = [("TracerPid", Some(0)), ("Seccomp", Some(2)), ("Seccomp_filters", Some(11)), ("Name", None)];
        for (name, expected) in cases {
            assert_eq!(column(status, name), expected, "{name}");
        }
    }
}
