//! Standard input and output, and signals to the hook in the middle of a call.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use toolgate_terminal_tests::wait::until_so;

use super::{Fault, fault};
use crate::Error;
use crate::call::{Kind, Outcome, Reader, Running};
use crate::trial::{DESTRUCTIVE, HARMLESS, Trial};

/// What ends a hook with a no, as it can be caught; and what ends it with nothing.
const SIGNALS: [(&str, i32); 20] = [
    ("SIGTERM", Signal::TERM.as_raw()),
    ("SIGINT", Signal::INT.as_raw()),
    ("SIGHUP", Signal::HUP.as_raw()),
    ("SIGQUIT", Signal::QUIT.as_raw()),
    ("SIGABRT", Signal::ABORT.as_raw()),
    ("SIGALRM", Signal::ALARM.as_raw()),
    ("SIGUSR1", Signal::USR1.as_raw()),
    ("SIGXCPU", Signal::XCPU.as_raw()),
    ("SIGIO", Signal::IO.as_raw()),
    ("SIGPWR", Signal::POWER.as_raw()),
    ("SIGSTKFLT", Signal::STKFLT.as_raw()),
    ("SIGSYS", Signal::SYS.as_raw()),
    ("SIGTRAP", Signal::TRAP.as_raw()),
    ("SIGILL", Signal::ILL.as_raw()),
    ("SIGFPE", Signal::FPE.as_raw()),
    ("SIGBUS", Signal::BUS.as_raw()),
    ("SIGSEGV", Signal::SEGV.as_raw()),
    ("SIGRTMIN", 34),
    ("SIGRTMAX", 64),
    (KILL, Signal::KILL.as_raw()),
];

/// The one that nothing can be done about.
const KILL: &str = "SIGKILL";

/// What is done to the streams by a shell that then becomes the hook.
const REDIRECTED: [(&str, &str); 5] = [
    ("standard input is closed", "exec \"$@\" <&-"),
    ("standard output is closed", "exec \"$@\" >&-"),
    ("standard error is closed", "exec \"$@\" 2>&-"),
    ("standard output is a disk that is full", "exec \"$@\" >/dev/full"),
    ("all streams are closed", "exec \"$@\" <&- >&- 2>&-"),
];

/// Calls of both kinds.
fn both() -> impl Iterator<Item = (Kind, &'static str)> {
    let destructive = DESTRUCTIVE.into_iter().map(|command| (Kind::Destructive, command));
    destructive.chain(HARMLESS.into_iter().map(|command| (Kind::Harmless, command)))
}

pub(super) fn faults() -> Vec<Fault> {
    let mut all = Vec::from(REDIRECTED.map(|(what, script)| {
        fault(what, move |trial| {
            trial.unlogged = true;
            trial.call_with(|hook| hook.through(&["sh", "-c", script, "sh"]));
            trial.while_calls(|_| Ok(()))
        })
    }));
    all.push(fault("nobody reads standard output any more", |trial| started(trial, Reader::Gone, all_of_it)));
    all.push(fault("standard output is a pipe that is full", |trial| started(trial, Reader::Asleep, all_of_it)));
    all.push(fault("half of the payload comes", |trial| {
        started(trial, Reader::All, |running| {
            let half = running.payload.len() / 2;
            running.send(0..half);
            running.stdin = None;
            running.mark.clear();
            Ok(false)
        })
    }));
    all.push(fault("half of the payload comes, and never an end", |trial| {
        started(trial, Reader::All, |running| {
            let half = running.payload.len() / 2;
            running.send(0..half);
            running.mark.clear();
            Ok(false)
        })
    }));
    all.push(fault("the payload trickles in", |trial| {
        started(trial, Reader::All, |running| {
            running.mark.clear();
            let end = Instant::now() + Duration::from_secs(12);
            let mut at = 0;
            while running.child.try_wait()?.is_none() && Instant::now() < end {
                running.send(at..at + 1);
                at += 1;
                std::thread::sleep(Duration::from_millis(100));
            }
            Ok(false)
        })
    }));
    all.push(fault("the payload never stops", |trial| {
        started(trial, Reader::All, |running| {
            running.mark.clear();
            running.payload = vec![b' '; 1 << 20];
            while running.child.try_wait()?.is_none() {
                running.send(0..1 << 20);
            }
            Ok(false)
        })
    }));
    all.extend(SIGNALS.map(|(name, signal)| {
        fault(format!("the hook gets {name} in the middle"), move |trial| {
            started(trial, Reader::All, |running| {
                let half = running.payload.len() / 2;
                running.send(0..half);
                let pid = Pid::from_child(&running.child);
                // It reads when it has started the thread that watches the time, on the first thread as the limit to the
                // stack is the usual one.
                let reads = || Ok(threads(pid) >= 2);
                until_so("a hook that reads", reads)?;
                // Real-time signals have no names that a program could send them by.
                let mut send = Command::new("sh");
                send.args(["-c", "kill -\"$0\" \"$1\""]).arg(signal.to_string());
                if !send.arg(pid.as_raw_nonzero().to_string()).status()?.success() {
                    return Err(Error::Unexpected(format!("{name} is not sent")));
                }
                Ok(name == KILL)
            })
        })
    }));
    all
}

fn all_of_it(running: &mut Running) -> Result<bool, Error> {
    running.send(0..running.payload.len());
    running.stdin = None;
    Ok(false)
}

/// Calls of which something becomes once they are started, which says whether nothing can be done about that.
fn started(
    trial: &mut Trial,
    reader: Reader,
    act: impl Fn(&mut Running) -> Result<bool, Error> + Sync,
) -> Result<(), Error> {
    trial.unlogged = true;
    let trial = &*trial;
    std::thread::scope(|scope| {
        let calls: Vec<_> = both()
            .map(|(kind, command)| {
                let act = &act;
                scope.spawn(move || -> Result<(), Error> {
                    let mut running = trial.hook.start(kind, command, &trial.world.mark(), reader)?;
                    let killed = act(&mut running)?;
                    let mut said = running.said()?;
                    if killed && matches!(said.outcome, Outcome::Failed(_)) {
                        said.outcome = Outcome::Killed;
                    }
                    trial.note(said);
                    Ok(())
                })
            })
            .collect();
        calls
            .into_iter()
            .try_for_each(|call| call.join().map_err(|_| Error::Unexpected("a caller panicked".to_owned()))?)
    })
}

fn threads(pid: Pid) -> usize {
    fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).map_or(0, Iterator::count)
}
