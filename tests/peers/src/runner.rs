//! Runs programs and says what each run cost. It is the whole of `peer-runner`, which stays in a place and takes orders,
//! a line of JSON each.
//!
//! Linux lets a process begin with the memory of the one that it was made from: `maxrss` is never below what the parent
//! had of its own when it forked, or in all when it spawned. So the parent is this small program and not the bench; it
//! forks, as a fork takes along none of the pages that lie in files; and it lets go of an input before it starts anything.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use wait4::Wait4;

/// What fits into a pipe that nobody reads from, with something to spare.
const INPUT: usize = 60_000;

/// How much of what a program says on standard error is kept, in bytes.
const COMPLAINT: usize = 2_000;

/// What the runner is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Run this once, with this input.
    Run {
        /// The program and its arguments.
        line: Vec<String>,
        /// What it reads.
        input: String,
    },
    /// Start this, and wait for its first line. It runs until the runner ends.
    Serve {
        /// The program and its arguments.
        line: Vec<String>,
    },
    /// Say what the one that serves has cost until now.
    Served,
}

/// What the runner answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// It has run.
    Ran(Run),
    /// It serves, or this is what it has cost.
    Serves(Usage),
    /// It could not be done.
    Failed(String),
}

/// A run of a program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// Its exit code, if no signal ended it.
    pub exit: Option<i32>,
    /// From before it was started until it had ended.
    pub wall: Duration,
    /// Its own and that of its children for which it waited.
    pub usage: Usage,
    /// What it wrote to standard output.
    pub output: String,
    /// The start of what it wrote to standard error.
    pub complaint: String,
}

/// What a process has used.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// In user mode and in the kernel, together.
    pub processor: Duration,
    /// The most that was resident, in bytes.
    pub resident: u64,
}

/// Takes orders until there are no more.
///
/// # Errors
/// If the orders cannot be read, or nobody reads the answers.
pub fn obey(orders: impl BufRead, mut replies: impl Write) -> io::Result<()> {
    let mut served = None;
    for order in orders.lines() {
        let reply = match serde_json::from_str(&order?)? {
            Order::Run { line, input } => run(&line, input).map(Reply::Ran),
            Order::Serve { line } => serve(&line).and_then(|child| {
                let host = served.insert(Host(child));
                host.usage().map(Reply::Serves)
            }),
            Order::Served => {
                let host = served.as_ref().ok_or_else(|| io::Error::other("nothing serves"));
                host.and_then(Host::usage).map(Reply::Serves)
            }
        };
        let reply = reply.unwrap_or_else(|error| Reply::Failed(error.to_string()));
        serde_json::to_writer(&mut replies, &reply)?;
        replies.write_all(b"\n")?;
        replies.flush()?;
    }
    Ok(())
}

/// Runs a program once.
///
/// # Errors
/// If it cannot be started, or the input is too long for a pipe.
pub fn run(line: &[String], input: String) -> io::Result<Run> {
    if input.len() > INPUT {
        return Err(io::Error::other(format!("an input of {} bytes does not fit into a pipe", input.len())));
    }
    // Written before the start, so that the program never waits for us.
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(input.as_bytes())?;
    drop((writer, input));
    let complaints = tempfile::tempfile()?;
    let mut command = plain(line)?;
    command.stdin(reader).stdout(Stdio::piped()).stderr(complaints.try_clone()?);
    let begin = Instant::now();
    let mut child = command.spawn()?;
    let mut output = Vec::new();
    child.stdout.take().map_or(Ok(0), |mut out| out.read_to_end(&mut output))?;
    let used = child.wait4()?;
    let wall = begin.elapsed();
    let usage = Usage { processor: used.rusage.utime + used.rusage.stime, resident: used.rusage.maxrss };
    let complaint = beginning(complaints)?;
    Ok(Run { exit: used.status.code(), wall, usage, output: String::from_utf8_lossy(&output).into(), complaint })
}

fn plain(line: &[String]) -> io::Result<Command> {
    let (program, arguments) = line.split_first().ok_or_else(|| io::Error::other("there is no program"))?;
    let mut command = Command::new(program);
    // The group that it has anyway. With one named, the standard library forks; without, the child would share our memory
    // until it runs the program, and all of ours would count as its own.
    command.args(arguments).gid(rustix::process::getgid().as_raw());
    Ok(command)
}

fn beginning(mut file: File) -> io::Result<String> {
    use std::io::Seek;
    file.rewind()?;
    let mut bytes = vec![0; COMPLAINT];
    let length = file.read(&mut bytes)?;
    bytes.truncate(length);
    Ok(String::from_utf8_lossy(&bytes).into())
}

/// Starts a program and waits until it has said a line.
fn serve(line: &[String]) -> io::Result<Child> {
    let mut child = plain(line)?.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut said = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut said)?;
    }
    if said.is_empty() { Err(io::Error::other("it ended before it served")) } else { Ok(child) }
}

/// One that serves. It has done so when this is dropped.
struct Host(Child);

impl Host {
    /// What it has used, as the kernel tells of a process that runs: in steps of a hundredth of a second.
    fn usage(&self) -> io::Result<Usage> {
        let read = |name: &str| fs::read_to_string(format!("/proc/{}/{name}", self.0.id()));
        let (stat, status) = (read("stat")?, read("status")?);
        let nonsense = || io::Error::other("the kernel's figures of the process make no sense");
        // The name in brackets can hold anything; user and system time are the 12th and 13th field behind it.
        let (_, fields) = stat.rsplit_once(')').ok_or_else(nonsense)?;
        let ticks: Option<u64> =
            fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().ok()).sum();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        let peak: u64 = peak.and_then(|peak| peak.trim().parse().ok()).ok_or_else(nonsense)?;
        let millis = ticks.ok_or_else(nonsense)? * 1_000 / rustix::param::clock_ticks_per_second();
        Ok(Usage { processor: Duration::from_millis(millis), resident: peak * 1_024 })
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}
