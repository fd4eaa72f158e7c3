//! The first witness: what strace wrote, read into programs that ran and into effects on the scratch tree.
//! Nothing here trusts the log to be well formed: a line that cannot be read is skipped.

use std::collections::{BTreeMap, BTreeSet};

use crate::Kind;
use crate::paths::{self, Links};
use crate::tree::{ROOT, WORK};

/// Options of strace, up to `-o` whose value follows. With `--seccomp-bpf` only the calls named here are stopped at.
#[rustfmt::skip]
pub const STRACE: &[&str] = &[
    "-f", "--seccomp-bpf", "-qq", "-y", "-ttt", "-s", "65536", "-e", "signal=none", "-e", "abbrev=!execve", "-e",
    "trace=execve,?execveat,chdir,fchdir,?clone,?clone3,?fork,?vfork,?open,openat,?openat2,?creat,?unlink,unlinkat,\
     ?rmdir,?mkdir,mkdirat,?mknod,mknodat,?rename,?renameat,renameat2,?link,linkat,?symlink,symlinkat,?chmod,fchmod,\
     fchmodat,?chown,?lchown,fchown,fchownat,truncate,ftruncate,?utime,?utimes,utimensat,?futimesat,connect",
    "-o",
];

/// A program that ran.
#[derive(Clone, Debug, Default)]
pub struct Exec {
    /// Microseconds since 1970.
    pub time: u64,
    /// The process.
    pub pid: u32,
    /// The file that was executed.
    pub path: String,
    /// Its arguments, the name first.
    pub argv: Vec<String>,
    /// Its environment.
    pub env: BTreeMap<String, String>,
    /// The real working folder when it started.
    pub cwd: String,
    /// Where it went by itself later on.
    pub visited: Vec<String>,
}

/// An effect on the scratch tree that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Microseconds since 1970.
    pub time: u64,
    /// The process.
    pub pid: u32,
    /// The program that ran in it.
    pub program: String,
    /// What happened: one of Read, Write, Append, Create, Delete, Move, Link, Mode, Execute, Send.
    pub kind: Kind,
    /// The real path; for Send the address as strace writes it.
    pub path: String,
    /// It is a folder that was opened, made or removed.
    pub folder: bool,
    /// The file was made by this very call.
    pub fresh: bool,
    /// It came with something else (the source of a hard link, the reading half of `<>`): it may be used to confirm
    /// a prediction, but need not have been predicted.
    pub weak: bool,
}

/// One process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Who made it; 0 for the first.
    pub parent: u32,
    /// When.
    pub born: u64,
    /// The real working folder, as last known.
    pub cwd: String,
    program: String,
    exec: Option<usize>,
}

/// All that strace saw.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Programs in the order they started; the first is the script's own bash.
    pub execs: Vec<Exec>,
    /// Every effect, one by one.
    pub raw: Vec<Event>,
    /// Effects as a reader of the command would tell them: temporary files folded away.
    pub events: Vec<Event>,
    /// Every link that existed at any time.
    pub links: Links,
    /// By process id.
    pub processes: BTreeMap<u32, Process>,
}

impl Watched {
    /// Reads a whole log.
    pub fn parse(log: &[u8]) -> Self {
        let lines = lines(log);
        let mut reader =
            Reader { out: Self { links: crate::tree::links(), ..Self::default() }, now: crate::tree::links() };
        // A child may be heard of before the call that made it returns, so who made whom is found first.
        let mut children: BTreeMap<usize, u32> = BTreeMap::new();
        for line in &lines {
            if matches!(line.name, "clone" | "clone3" | "fork" | "vfork")
                && let Some(child) = line.returned.and_then(|n| u32::try_from(n).ok())
            {
                children.insert(line.began, child);
            }
        }
        let mut steps: Vec<(usize, Option<usize>)> = children.keys().map(|&at| (at, None)).collect();
        // Calls take effect when they end; making a child is told when it begins.
        steps.extend(lines.iter().enumerate().map(|(n, line)| (line.ended, Some(n))));
        steps.sort_by_key(|&(at, line)| (at, line.is_some()));
        let starts: BTreeMap<usize, (u32, u64)> =
            lines.iter().map(|line| (line.began, (line.pid, line.time))).collect();
        for (at, line) in steps {
            match line.and_then(|n| lines.get(n)) {
                Some(line) => reader.call(line),
                None => {
                    if let (Some(&child), Some(&(parent, time))) = (children.get(&at), starts.get(&at)) {
                        reader.born(child, parent, time);
                    }
                }
            }
        }
        let mut out = reader.out;
        out.events = fold(&out.raw);
        out
    }

    /// The process and those that made it, nearest first.
    pub fn ancestry(&self, pid: u32) -> Vec<(u32, u64)> {
        let mut out = Vec::new();
        let mut pid = pid;
        while let Some(process) = self.processes.get(&pid) {
            out.push((pid, process.born));
            if process.parent == 0 || out.len() > 1000 {
                break;
            }
            pid = process.parent;
        }
        out
    }
}

/// One finished call.
struct Call<'a> {
    pid: u32,
    time: u64,
    began: usize,
    ended: usize,
    name: &'a str,
    args: Vec<Arg>,
    returned: Option<i64>,
    /// The path that `-y` gives to a returned descriptor.
    opened: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Arg {
    Text(String),
    /// A descriptor (or `AT_FDCWD`) with its path, if strace knew it.
    Folder(Option<String>),
    List(Vec<String>),
    Other(String),
}

/// Takes the log apart; calls that were interrupted by another process's lines are put together again.
fn lines(log: &[u8]) -> Vec<Call<'_>> {
    let mut out = Vec::new();
    let mut open: BTreeMap<u32, (usize, u64, &[u8])> = BTreeMap::new();
    for (at, line) in log.split(|&b| b == b'\n').enumerate() {
        let Some((pid, time, rest)) = head(line) else { continue };
        if let Some(start) = rest.strip_suffix(b"<unfinished ...>") {
            open.insert(pid, (at, time, start.trim_ascii_end()));
        } else if rest.starts_with(b"<... ") {
            let Some((began, time, start)) = open.remove(&pid) else { continue };
            let Some(end) = find(rest, b" resumed>") else { continue };
            let whole = [start, rest.get(end + 9..).unwrap_or_default()].concat();
            out.extend(call(pid, time, began, at, start, &whole));
        } else {
            out.extend(call(pid, time, at, at, rest, rest));
        }
    }
    out
}

fn head(line: &[u8]) -> Option<(u32, u64, &[u8])> {
    let space = line.iter().position(|&b| b == b' ')?;
    let (pid, rest) = line.split_at(space);
    let rest = rest.trim_ascii_start();
    let space = rest.iter().position(|&b| b == b' ')?;
    let (time, rest) = rest.split_at(space);
    Some((
        std::str::from_utf8(pid).ok()?.parse().ok()?,
        micros(std::str::from_utf8(time).ok()?)?,
        rest.trim_ascii_start(),
    ))
}

/// `1795312820.154368` as microseconds.
pub(crate) fn micros(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let fraction: String = fraction.chars().chain("000000".chars()).take(6).collect();
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(fraction.parse().ok()?)
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

fn call<'a>(pid: u32, time: u64, began: usize, ended: usize, named: &'a [u8], whole: &[u8]) -> Option<Call<'a>> {
    let paren = named.iter().position(|&b| b == b'(')?;
    let name = std::str::from_utf8(named.get(..paren)?).ok()?;
    let mut text = Text { bytes: whole, at: paren + 1 };
    let args = text.list(b')');
    let rest = whole.get(text.at..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let digits = rest.iter().take_while(|b| b.is_ascii_digit() || **b == b'-').count();
    let returned = std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok();
    let opened = rest.get(digits..).and_then(|rest| rest.strip_prefix(b"<")).map(|rest| {
        let end = rest.iter().rposition(|&b| b == b'>').unwrap_or(rest.len());
        unescape(rest.get(..end).unwrap_or_default())
    });
    Some(Call { pid, time, began, ended, name, args, returned, opened: opened.map(kept) })
}

/// Without what strace says of a file that is gone by now.
fn kept(path: String) -> String {
    path.strip_suffix(" (deleted)").map_or(path.clone(), str::to_owned)
}

struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Text<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Arguments up to and with the closing byte.
    fn list(&mut self, close: u8) -> Vec<Arg> {
        let mut out = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b if b == close => {
                    self.at += 1;
                    break;
                }
                b',' | b' ' => self.at += 1,
                _ => out.push(self.arg()),
            }
        }
        out
    }

    fn arg(&mut self) -> Arg {
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                let text = self.until(b'"');
                // Three dots mean that strace cut it; such a text is never compared as a whole, see `-s`.
                while self.peek() == Some(b'.') {
                    self.at += 1;
                }
                Arg::Text(text)
            }
            Some(b'[') => {
                self.at += 1;
                let items = self.list(b']');
                Arg::List(
                    items
                        .into_iter()
                        .filter_map(|item| if let Arg::Text(text) = item { Some(text) } else { None })
                        .collect(),
                )
            }
            _ => self.other(),
        }
    }

    /// A number, a flag, a struct, a descriptor with its path.
    fn other(&mut self) -> Arg {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    self.until(b'"');
                    continue;
                }
                b'<' if depth == 0 && !self.bytes.get(start..self.at).unwrap_or_default().contains(&b'<') => {
                    let number = self.bytes.get(start..self.at).unwrap_or_default();
                    if number == b"AT_FDCWD" || number.iter().all(u8::is_ascii_digit) {
                        self.at += 1;
                        return Arg::Folder(Some(kept(self.until(b'>'))));
                    }
                }
                b'{' | b'[' | b'(' => depth += 1,
                b'}' | b']' | b')' if depth > 0 => depth -= 1,
                b',' | b')' | b']' if depth == 0 => break,
                _ => {}
            }
            self.at += 1;
        }
        let text = String::from_utf8_lossy(self.bytes.get(start..self.at).unwrap_or_default()).into_owned();
        // An argument of no length would never end the list.
        if self.at == start {
            self.at += 1;
        }
        if text == "AT_FDCWD" { Arg::Folder(None) } else { Arg::Other(text) }
    }

    /// Up to the closing byte, which is passed over; a backslash hides one.
    fn until(&mut self, close: u8) -> String {
        let start = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.at += 2,
                b if b == close => break,
                _ => self.at += 1,
            }
        }
        let end = self.at.min(self.bytes.len());
        self.at = end + 1;
        unescape(self.bytes.get(start..end).unwrap_or_default())
    }
}

/// The escapes of a C string, as strace and `/proc/self/mountinfo` write them.
pub(crate) fn unescape(text: &[u8]) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    match bytes.peek() {
                        Some(&next @ b'0'..=b'7') => {
                            value = value * 8 + u32::from(next - b'0');
                            bytes.next();
                        }
                        _ => break,
                    }
                }
                out.push(u8::try_from(value & 0xff).unwrap_or_default());
            }
            Some(b'x') => {
                let mut value = 0;
                for _ in 0..2 {
                    match bytes.peek().and_then(|b| char::from(*b).to_digit(16)) {
                        Some(digit) => {
                            value = value * 16 + digit;
                            bytes.next();
                        }
                        None => break,
                    }
                }
                out.push(u8::try_from(value).unwrap_or_default());
            }
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(b'v') => out.push(0x0b),
            Some(b'f') => out.push(0x0c),
            Some(other) => out.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

struct Reader {
    out: Watched,
    /// The links as they are at this moment of the log.
    now: Links,
}

/// What a call does with a path beside the kind.
#[derive(Clone, Copy, Default)]
struct Manner {
    folder: bool,
    fresh: bool,
    weak: bool,
}

impl Reader {
    fn process(&mut self, pid: u32) -> &mut Process {
        self.out.processes.entry(pid).or_insert_with(|| Process {
            parent: 0,
            born: 0,
            cwd: WORK.to_owned(),
            program: String::new(),
            exec: None,
        })
    }

    fn born(&mut self, child: u32, parent: u32, time: u64) {
        let mut process = self.process(parent).clone();
        process.parent = parent;
        process.born = time;
        self.out.processes.insert(child, process);
    }

    /// The path in argument `at`, relative to the folder in the argument before it if `folder` is given.
    fn path(&mut self, call: &Call<'_>, folder: Option<usize>, at: usize, last: bool) -> Option<String> {
        let cwd = self.process(call.pid).cwd.clone();
        let base = match folder.and_then(|folder| call.args.get(folder)) {
            Some(Arg::Folder(Some(path))) if path.starts_with('/') => path.clone(),
            _ => cwd,
        };
        match call.args.get(at) {
            Some(Arg::Text(text)) if text.is_empty() => Some(base),
            Some(Arg::Text(text)) if text.starts_with('/') => Some(paths::real(text, &self.now, last)),
            Some(Arg::Text(text)) => Some(paths::real(&format!("{base}/{text}"), &self.now, last)),
            // `utimensat(1</path>, NULL, ..)`
            Some(Arg::Other(null)) if null == "NULL" => Some(base),
            Some(Arg::Folder(Some(path))) if path.starts_with('/') => Some(path.clone()),
            _ => None,
        }
    }

    fn push(&mut self, call: &Call<'_>, kind: Kind, path: Option<String>, manner: Manner) {
        let Some(path) = path else { return };
        if kind != Kind::Send && (!paths::is_within(&path, ROOT) || path == ROOT) {
            return;
        }
        let program = self.process(call.pid).program.clone();
        let Manner { folder, fresh, weak } = manner;
        self.out.raw.push(Event { time: call.time, pid: call.pid, program, kind, path, folder, fresh, weak });
    }

    fn call(&mut self, call: &Call<'_>) {
        if call.name != "connect" && call.returned.is_none_or(|n| n < 0) {
            return;
        }
        let says = |flag: &str| {
            call.args.iter().any(|arg| matches!(arg, Arg::Other(text) if text.split('|').any(|part| part == flag)))
        };
        let plain = Manner::default();
        let folder = Manner { folder: true, ..plain };
        let weak = Manner { weak: true, ..plain };
        match call.name {
            "execve" => self.exec(call, None, 0),
            "execveat" => self.exec(call, Some(0), 1),
            "chdir" => self.chdir(call),
            "fchdir" => {
                let path = self.path(call, None, 0, true);
                self.moved_to(call.pid, path);
            }
            "open" => self.open(call, None, 0),
            "openat" | "openat2" => self.open(call, Some(0), 1),
            "creat" => {
                let path = call.opened.clone();
                self.push(call, Kind::Write, path, plain);
            }
            "unlink" | "rmdir" | "unlinkat" => {
                let at = usize::from(call.name == "unlinkat");
                let path = self.path(call, (at == 1).then_some(0), at, false);
                if let Some(path) = &path {
                    self.now.remove(path);
                }
                let is_folder = call.name == "rmdir" || says("AT_REMOVEDIR");
                self.push(call, Kind::Delete, path, Manner { folder: is_folder, ..plain });
            }
            "mkdir" | "mkdirat" | "mknod" | "mknodat" => {
                let at = usize::from(call.name.ends_with("at"));
                let path = self.path(call, (at == 1).then_some(0), at, false);
                let made = if call.name.starts_with("mkdir") { folder } else { plain };
                self.push(call, Kind::Create, path, Manner { fresh: true, ..made });
            }
            "rename" | "renameat" | "renameat2" => self.rename(call),
            "link" | "linkat" => {
                let (from, to) =
                    if call.name == "link" { ((None, 0), (None, 1)) } else { ((Some(0), 1), (Some(2), 3)) };
                let source = self.path(call, from.0, from.1, false);
                let target = self.path(call, to.0, to.1, false);
                self.push(call, Kind::Read, source, weak);
                self.push(call, Kind::Link, target, Manner { fresh: true, ..plain });
            }
            "symlink" | "symlinkat" => {
                let (folder, at) = if call.name == "symlink" { (None, 1) } else { (Some(1), 2) };
                let path = self.path(call, folder, at, false);
                if let (Some(path), Some(Arg::Text(target))) = (&path, call.args.first()) {
                    self.now.insert(path.clone(), target.clone());
                    self.out.links.insert(path.clone(), target.clone());
                }
                self.push(call, Kind::Link, path, Manner { fresh: true, ..plain });
            }
            "chmod" | "chown" | "fchmod" | "fchown" | "lchown" => {
                let path = self.path(call, None, 0, call.name != "lchown");
                self.push(call, Kind::Mode, path, plain);
            }
            "fchmodat" | "fchownat" => {
                let path = self.path(call, Some(0), 1, !says("AT_SYMLINK_NOFOLLOW"));
                self.push(call, Kind::Mode, path, plain);
            }
            "truncate" | "ftruncate" | "utime" | "utimes" => {
                let path = self.path(call, None, 0, true);
                self.push(call, Kind::Write, path, plain);
            }
            "utimensat" | "futimesat" => {
                let path = self.path(call, Some(0), 1, !says("AT_SYMLINK_NOFOLLOW"));
                self.push(call, Kind::Write, path, plain);
            }
            "connect" => {
                if let Some(Arg::Other(address)) =
                    call.args.iter().find(|arg| matches!(arg, Arg::Other(t) if t.contains("AF_INET")))
                {
                    self.push(call, Kind::Send, Some(address.clone()), plain);
                }
            }
            _ => {}
        }
    }

    fn exec(&mut self, call: &Call<'_>, folder: Option<usize>, at: usize) {
        let Some(path) = self.path(call, folder, at, true) else { return };
        let mut lists = call.args.iter().filter_map(|arg| if let Arg::List(list) = arg { Some(list) } else { None });
        let argv = lists.next().cloned().unwrap_or_default();
        let env = lists.next().into_iter().flatten().filter_map(|pair| pair.split_once('='));
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let index = self.out.execs.len();
        let process = self.process(call.pid);
        process.program = paths::basename(&path).to_owned();
        process.exec = Some(index);
        let cwd = process.cwd.clone();
        self.out.execs.push(Exec {
            time: call.time,
            pid: call.pid,
            path: path.clone(),
            argv,
            env,
            cwd,
            visited: Vec::new(),
        });
        self.push(call, Kind::Execute, Some(path), Manner::default());
    }

    fn chdir(&mut self, call: &Call<'_>) {
        let path = self.path(call, None, 0, true);
        self.moved_to(call.pid, path);
    }

    fn moved_to(&mut self, pid: u32, path: Option<String>) {
        let Some(path) = path else { return };
        let process = self.process(pid);
        process.cwd.clone_from(&path);
        if let Some(exec) = process.exec.and_then(|at| self.out.execs.get_mut(at)).filter(|exec| exec.pid == pid) {
            exec.visited.push(path);
        }
    }

    fn open(&mut self, call: &Call<'_>, folder: Option<usize>, at: usize) {
        let named = self.path(call, folder, at, true);
        let path = call.opened.clone().filter(|path| path.starts_with('/')).or(named);
        let flags = call.args.get(at + 1..).unwrap_or_default().iter().find_map(|arg| match arg {
            Arg::Other(text) if text.contains("O_") => Some(text.as_str()),
            _ => None,
        });
        let has = |flag: &str| flags.is_some_and(|flags| flags.split(['|', '=', ',', '{']).any(|part| part == flag));
        if has("O_PATH") || has("O_TMPFILE") {
            return;
        }
        let fresh = has("O_CREAT") && has("O_EXCL");
        let writes = has("O_WRONLY") || has("O_RDWR");
        if !writes {
            let folder = has("O_DIRECTORY");
            return self.push(call, Kind::Read, path, Manner { folder, weak: folder, ..Manner::default() });
        }
        if has("O_RDWR") {
            self.push(call, Kind::Read, path.clone(), Manner { weak: true, ..Manner::default() });
        }
        let kind = if has("O_APPEND") { Kind::Append } else { Kind::Write };
        self.push(call, kind, path, Manner { fresh, ..Manner::default() });
    }

    fn rename(&mut self, call: &Call<'_>) {
        let (from, to) = if call.name == "rename" { ((None, 0), (None, 1)) } else { ((Some(0), 1), (Some(2), 3)) };
        let source = self.path(call, from.0, from.1, false);
        let target = self.path(call, to.0, to.1, false);
        if let (Some(source), Some(target)) = (&source, &target) {
            let under: Vec<String> = self.now.keys().filter(|link| paths::is_within(link, source)).cloned().collect();
            self.now.remove(target);
            for link in under {
                if let (Some(says), Some(rest)) = (self.now.remove(&link), link.strip_prefix(source.as_str())) {
                    self.now.insert(format!("{target}{rest}"), says.clone());
                    self.out.links.insert(format!("{target}{rest}"), says);
                }
            }
            for process in self.out.processes.values_mut() {
                if paths::is_within(&process.cwd, source) {
                    process.cwd = format!("{target}{}", process.cwd.strip_prefix(source.as_str()).unwrap_or_default());
                }
            }
        }
        self.push(call, Kind::Move, source, Manner::default());
        self.push(call, Kind::Create, target, Manner { fresh: true, ..Manner::default() });
    }
}

/// Whether the content or existence of the path is the process's own doing.
fn makes(kind: Kind) -> bool {
    matches!(kind, Kind::Write | Kind::Append | Kind::Create | Kind::Link)
}

/// Leaves out what one process did only on the way: a temporary file that it renamed into place or removed again, the
/// old file that it removed to write the new one, the mode of a file that it just made.
fn fold(raw: &[Event]) -> Vec<Event> {
    let mut out: Vec<Event> = Vec::new();
    let mut moved: Option<(u32, String, Kind)> = None;
    for event in raw {
        let same = |other: &Event| other.pid == event.pid && other.path == event.path;
        match event.kind {
            Kind::Move => {
                if let Some(made) = out.iter().position(|other| same(other) && other.fresh && makes(other.kind)) {
                    let kind = if out.get(made).is_some_and(|made| made.kind == Kind::Link) {
                        Kind::Link
                    } else {
                        Kind::Write
                    };
                    moved = Some((event.pid, event.path.clone(), kind));
                    out.retain(|other| !(same(other) && other.kind != Kind::Execute));
                    continue;
                }
            }
            Kind::Create if moved.as_ref().is_some_and(|(pid, ..)| *pid == event.pid) => {
                if let Some((_, _, kind)) = moved.take() {
                    out.push(Event { kind, ..event.clone() });
                    continue;
                }
            }
            Kind::Delete if out.iter().any(|other| same(other) && other.fresh && makes(other.kind)) => {
                out.retain(|other| !same(other));
                continue;
            }
            Kind::Mode if out.iter().any(|other| same(other) && makes(other.kind)) => continue,
            kind if makes(kind) => out.retain(|other| !(same(other) && other.kind == Kind::Delete)),
            _ => {}
        }
        out.push(event.clone());
    }
    // One record for each process, kind and path is enough.
    let mut seen: BTreeSet<(u32, Kind, String)> = BTreeSet::new();
    out.retain(|event| !event.weak && seen.insert((event.pid, event.kind, event.path.clone())));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(log: &str) -> Vec<String> {
        Watched::parse(log.as_bytes()).events.iter().map(|e| format!("{:?} {}", e.kind, e.path)).collect()
    }

    #[test]
    fn odd_logs_do_not_matter() {
        for log in [
            "",
            "1",
            "x y z",
            "1 2.0 open(",
            "1 2.0 openat(AT_FDCWD, \"",
            "1 2.0 <... x resumed>) = 0",
            "1 2 f() = ?",
            "1 2.0 execve(\"a\", [\"b",
            "1 2.0 a([{((\"\\",
        ] {
            assert!(Watched::parse(log.as_bytes()).events.is_empty(), "{log}");
        }
    }

    #[test]
    fn calls_become_effects() {
        #[rustfmt::skip]
        let cases: &[(&str, &[&str])] = &[
            (r#"1 1.0 openat(AT_FDCWD</tmp/truth/work>, "a", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</tmp/truth/work/a>"#, &["Write /tmp/truth/work/a"]),
            (r#"1 1.0 openat(AT_FDCWD, "link/a", O_WRONLY|O_CREAT|O_APPEND, 0666) = 3"#, &["Append /tmp/truth/work/dir/a"]),
            (r#"1 1.0 openat(AT_FDCWD, "a", O_RDONLY) = -1 ENOENT (No such file or directory)"#, &[]),
            (r#"1 1.0 openat(AT_FDCWD, ".", O_RDONLY|O_DIRECTORY) = 3</tmp/truth/work>"#, &[]),
            ("1 1.0 unlinkat(AT_FDCWD, \"a\\303\\244\\40b\\\"\", 0) = 0", &["Delete /tmp/truth/work/aä b\""]),
            ("1 1.0 unlinkat(AT_FDCWD, \"a\", 0 <unfinished ...>\n2 1.1 chdir(\"/\") = 0\n1 1.2 <... unlinkat resumed>) = 0", &["Delete /tmp/truth/work/a"]),
            (r#"1 1.0 mkdirat(5</tmp/truth/work/dir>, "n", 0777) = 0"#, &["Create /tmp/truth/work/dir/n"]),
            (r#"1 1.0 renameat2(AT_FDCWD, "a.txt", AT_FDCWD, "z", RENAME_NOREPLACE) = 0"#, &["Move /tmp/truth/work/a.txt", "Create /tmp/truth/work/z"]),
            (r#"1 1.0 symlinkat("dir", AT_FDCWD, "n") = 0
1 1.1 openat(AT_FDCWD, "n/x", O_WRONLY) = 3"#, &["Link /tmp/truth/work/n", "Write /tmp/truth/work/dir/x"]),
            (r#"1 1.0 utimensat(0</tmp/truth/work/a>, NULL, NULL, 0) = 0"#, &["Write /tmp/truth/work/a"]),
            // sed -i
            (r#"1 1.0 openat(AT_FDCWD, "a.txt", O_RDONLY) = 3</tmp/truth/work/a.txt>
1 1.0 openat(AT_FDCWD, "./sedX", O_RDWR|O_CREAT|O_EXCL, 0600) = 4</tmp/truth/work/sedX>
1 1.0 fchmod(4</tmp/truth/work/sedX>, 0100644) = 0
1 1.0 rename("./sedX", "a.txt") = 0"#, &["Read /tmp/truth/work/a.txt", "Write /tmp/truth/work/a.txt"]),
            // A child that is heard of before its maker's call returns, and works where the maker is.
            (r#"1 1.0 chdir("dir") = 0
1 1.1 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
2 1.2 unlink("one.txt") = 0
1 1.3 <... clone resumed>, child_tidptr=0x7f) = 2"#, &["Delete /tmp/truth/work/dir/one.txt"]),
        ];
        for (log, want) in cases {
            assert_eq!(told(log), *want, "{log}");
        }
    }

    #[test]
    fn programs_keep_arguments_and_environment() {
        let watched = Watched::parse(br#"1 1.0 execve("/usr/bin/touch", ["touch", "a b", "x\ny"], ["A=1", "B="]) = 0"#);
        let exec = watched.execs.first().expect("one program");
        assert_eq!(exec.argv, ["touch", "a b", "x\ny"]);
        assert_eq!(exec.env.get("A").map(String::as_str), Some("1"));
        assert_eq!(exec.cwd, WORK);
    }
}
