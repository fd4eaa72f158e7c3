//! What comes from elsewhere and is then run: downloads, decoded texts, through pipes, variables, files.
//!
//! Only what the shell engine cannot read is of interest here: a text that it can resolve is judged by what it does.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use toolgate_shell::{Command, Effect, Joiner, Kind, Look, Presence, Runs, Script, Span, Value, Why, Word};

use super::around::Around;
use super::matching::is_change;
use crate::call::{Memory, Source};

/// Programs that bring bytes from another machine.
const FETCH: &[&str] = &[
    "curl", "wget", "wget2", "fetch", "aria2c", "axel", "http", "https", "xh", "curlie", "lynx", "w3m", "links", "nc",
    "ncat", "netcat", "socat", "telnet", "ssh", "sftp", "scp", "ftp", "tftp", "rsh", "GET",
];

/// Programs that make one text out of another that does not look like it.
const DECODE: &[&str] = &[
    "base64",
    "base32",
    "basenc",
    "xxd",
    "uudecode",
    "openssl",
    "gunzip",
    "zcat",
    "gzip",
    "bunzip2",
    "bzcat",
    "bzip2",
    "unxz",
    "xzcat",
    "xz",
    "zstd",
    "zstdcat",
    "unzstd",
    "lz4",
    "gpg",
    "gpg2",
    "age",
    "ascii85",
    "uncompress",
    "atob",
    "qprint",
    "funzip",
    "unzip",
    "7z",
];

/// Programs that print shell text to be run by the shell that asks: their own set-up.
const SETUP: &[&str] = &[
    "ssh-agent",
    "gpg-agent",
    "keychain",
    "direnv",
    "pyenv",
    "rbenv",
    "nodenv",
    "jenv",
    "goenv",
    "plenv",
    "brew",
    "opam",
    "mise",
    "rtx",
    "asdf",
    "fnm",
    "nvm",
    "zoxide",
    "starship",
    "thefuck",
    "dircolors",
    "luarocks",
    "conda",
    "mamba",
    "micromamba",
    "minikube",
    "docker-machine",
    "resize",
    "fzf",
    "atuin",
    "register-python-argcomplete",
    "tset",
    "lesspipe",
    "lesspipe.sh",
    "grunt",
    "locale",
    "shopt",
    "set",
    "declare",
    "alias",
    "export",
    "trap",
    "getopt",
    "stty",
    "guix",
    "ghcup",
    "sdk",
    "volta",
    "rustup",
    "podman",
    "xrdb",
    "umask",
    "ulimit",
];

/// Subcommands that print such a text.
const SETUP_WORDS: &[&str] = &[
    "completion",
    "completions",
    "init",
    "env",
    "hook",
    "shellenv",
    "shell-init",
    "activate",
    "docker-env",
    "--completion",
    "completion-script",
    "bash-completion",
    "shell-hook",
    "export-env",
    "print-env",
    "setup",
    "printenv",
];

/// Programs of which only the place of another program is asked.
const LOCATE: &[(&str, &str)] = &[
    ("which", ""),
    ("command", "-v"),
    ("type", "-p"),
    ("whereis", ""),
    ("readlink", ""),
    ("realpath", ""),
    ("dirname", ""),
    ("basename", ""),
    ("pwd", ""),
    ("npm", "bin"),
    ("npm", "prefix"),
    ("npm", "root"),
    ("yarn", "bin"),
    ("pnpm", "bin"),
    ("go", "env"),
    ("brew", "--prefix"),
    ("xcrun", "-f"),
    ("xcrun", "--find"),
    ("rustup", "which"),
    ("rustc", "--print"),
    ("llvm-config", "--bindir"),
    ("git", "rev-parse"),
    ("pyenv", "which"),
    ("asdf", "which"),
    ("mise", "which"),
    ("cd", ""),
];

/// Programs that run a text in a language of their own.
const INTERPRETERS: &[&str] = &[
    "python",
    "node",
    "perl",
    "ruby",
    "php",
    "deno",
    "bun",
    "lua",
    "pypy",
    "tclsh",
    "Rscript",
    "julia",
    "guile",
    "osascript",
];

/// Programs that read the script which they run.
const READERS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "source", "."];

/// How many files are followed whose path is known in part.
const MAX_ALIKE: usize = 64;

/// Programs that print their words or what they are given.
const PRINTERS: &[&str] = &["echo", "printf", "cat"];

/// Something that is run without anyone having seen it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) source: Source,
    /// It went through a file, which can be looked at between.
    pub(crate) file: bool,
    /// It comes straight from an address that says who answers for it: `https`.
    pub(crate) vouched: bool,
    /// A script that was there before runs it.
    pub(crate) stored: bool,
    /// What runs it.
    pub(crate) span: Span,
}

impl Run {
    /// What a command runs, or a part of it.
    fn of(command: &Command, source: Source, file: bool, span: Span) -> Self {
        Run { source, file, vouched: false, stored: command.stored, span }
    }
}

/// What a command is a source of.
fn source(command: &Command) -> Option<Source> {
    let program = command.program()?;
    if FETCH.contains(&program) {
        return Some(Source::Downloaded);
    }
    let reads_network = command.redirects.iter().any(|redirect| is_network(redirect.target.value.text()));
    if reads_network || command.effects.iter().any(|effect| effect.kind == Kind::Send) {
        return Some(Source::Downloaded);
    }
    DECODE.contains(&program).then_some(Source::Decoded)
}

/// Whether all that a command fetches is named in full, and the other side proves who it is.
fn is_vouched(command: &Command) -> bool {
    let words = || command.words.iter().skip(1).filter_map(Word::known);
    let addresses = || words().filter(|word| !word.starts_with('-') && word.contains('.'));
    let unsafe_option = |word: &str| {
        matches!(word, "-k" | "--insecure" | "--no-check-certificate")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains('k'))
    };
    matches!(command.program(), Some("curl" | "wget"))
        && addresses().count() > 0
        && addresses().all(|word| word.starts_with("https://"))
        && !words().any(unsafe_option)
}

fn is_network(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}

/// Everything that a text runs unseen, after what earlier ones left behind; and what is left behind after it.
pub(crate) fn unseen(
    script: &Script,
    text: &str,
    look: Option<&dyn Look>,
    earlier: &Memory,
) -> (Vec<Run>, Option<Memory>) {
    let mut found = Vec::new();
    let mut alike = Vec::new();
    let commands: Vec<&Command> = script.commands.iter().filter(|command| command.runs != Runs::Never).collect();
    let before: BTreeMap<&str, Source> = earlier.files.iter().map(|(path, source)| (path.as_str(), *source)).collect();
    let mut files = Files {
        before: &before,
        forgotten: earlier.forgotten,
        tainted: before.clone(),
        shown: BTreeSet::new(),
        alike: Vec::new(),
        text,
    };
    // Whether a variable holds something from elsewhere.
    let mut variable: Option<Source> = None;
    let order = Order::of(&commands);
    for (at, command) in commands.iter().enumerate() {
        // A patch that is not in the text may change any file.
        let patches = matches!(command.program(), Some("apply_patch" | "applypatch" | "apply-patch"));
        if patches && command.effects.iter().any(|effect| !matches!(effect.path, Value::Known(_))) {
            found.push(Run::of(command, Source::Unseen, false, command.span));
        }
        // What is inside a command is listed behind it. All of a script that was read stands in one place.
        let behind = commands.get(at + 1..).unwrap_or_default().iter().copied();
        let deeper = behind.take_while(|other| other.via.len() > command.via.len());
        let own: Vec<&Command> = deeper.filter(|other| other.span.is_inside(command.span)).collect();
        let may_matter = command.unseen_script
            || !command.effects.is_empty()
            || matches!(command.program(), Some("read" | "mapfile" | "readarray"));
        let piped = if may_matter { order.pipeline(at) } else { Vec::new() };
        if command.words.is_empty() && !command.assignments.is_empty() {
            variable = variable.max(own.iter().filter_map(|other| source(other)).max());
        }
        // `read line < <(curl x)`, `mapfile`
        if matches!(command.program(), Some("read" | "mapfile" | "readarray")) {
            variable = variable.max(own.iter().chain(&piped).filter_map(|other| source(other)).max());
        }
        let explained = || {
            is_setup(&own)
                || is_located_file(command, &own)
                || lists_names(command, &own, &commands[..at], &piped)
                || runs_listed(command, &commands[..at], &piped)
        };
        if command.unseen_script && !explained() {
            found.push(run_unseen(command, &own, &piped, variable));
        }
        found.extend(run_as_code(command, &own, variable));
        alike.extend(files.run_alike(command));
        files.follow(command, &piped, &mut found);
        found.extend(run_stored(command, look));
        found.extend(guessed_program(command));
        found.extend(computed_program(command, &own, variable));
    }
    // What a stored script computes is no more hidden than what a program does that cannot be read at all.
    found.retain(|run| run.source != Source::Unseen || !run.stored);
    // Where it is known where it comes from, that it was not seen says nothing more.
    let known: FxHashSet<Span> = found.iter().filter(|run| run.source != Source::Unseen).map(|run| run.span).collect();
    found.retain(|run| run.source != Source::Unseen || !known.contains(&run.span));
    // That it may be another file takes nothing from what is known of this one.
    found.extend(alike.into_iter().filter(|run| run.source != Source::Unseen || !run.stored));
    let tainted = files.tainted;
    // Nothing is taken out: whether this call runs at all, and its commands in it, is not known. Asking once more than needed
    // does no harm.
    let new: Vec<(String, Source)> = tainted
        .iter()
        .filter(|(path, source)| before.get(*path) != Some(source))
        // Another call's names are other ones.
        .filter(|(path, _)| !path.contains(Value::HOLE))
        .map(|(path, source)| ((*path).to_owned(), *source))
        .collect();
    let memory = (!new.is_empty())
        .then(|| Memory { files: [earlier.files.clone(), new].concat(), forgotten: earlier.forgotten });
    (found, memory)
}

/// What a shell runs whose commands are not seen, with where they come from: what stands inside it, what is before it in its
/// pipeline, what variables may hold.
fn run_unseen(command: &Command, inner: &[&Command], piped: &[&Command], variable: Option<Source>) -> Run {
    let network = command.redirects.iter().any(|redirect| is_network(redirect.target.value.text()));
    // Of a text with names put in, its own commands are none of what it comes from.
    let is_filled = command.words.iter().any(|word| matches!(word.value, Value::Unknown { why: Why::Argument, .. }));
    let inside = inner.iter().filter(|_| !is_filled);
    let mut from = inside.chain(piped).filter_map(|other| source(other)).max();
    if network {
        from = Some(Source::Downloaded);
    }
    let by = |fits: fn(&Why) -> bool| {
        let why = |word: &Word| matches!(&word.value, Value::Unknown { why, .. } if fits(why));
        command.words.iter().skip(1).any(why)
    };
    let by_variable = by(is_computed);
    let by_output = by(|why| matches!(why, Why::CommandOutput | Why::Temporary));
    if by_variable {
        from = from.max(variable);
    }
    let fetches: Vec<&Command> = inner.iter().chain(piped).filter(|other| source(other).is_some()).copied().collect();
    let elsewhere = network || by_output || by_variable && variable.is_some();
    let vouched = !elsewhere && !fetches.is_empty() && fetches.iter().all(|fetch| is_vouched(fetch));
    let run = Run::of(command, from.unwrap_or(Source::Unseen), false, command.span);
    Run { vouched, ..run }
}

/// Code in another language that is what a command prints, where that comes from elsewhere.
fn run_as_code(command: &Command, inner: &[&Command], variable: Option<Source>) -> Option<Run> {
    let interprets = command.program().is_some_and(interprets);
    let printed = |word: &Word| {
        matches!(
            &word.value,
            Value::Unknown { why: Why::CommandOutput | Why::Temporary | Why::ProcessSubstitution, .. }
        )
    };
    if command.unseen_script || !interprets || !command.words.iter().any(printed) {
        return None;
    }
    let from = inner.iter().filter_map(|other| source(other)).max();
    let from = from.or(variable.filter(|_| is_code_computed(command)))?;
    Some(Run::of(command, from, false, command.span))
}

/// A script that is there, and that could not be read.
fn run_stored(command: &Command, look: Option<&dyn Look>) -> Option<Run> {
    let mut runs = command.effects.iter().filter(|effect| effect.kind == Kind::Execute);
    let script = runs.find_map(|effect| effect.path.known())?;
    let unread = command.opaque && command.program().is_some_and(|program| READERS.contains(&program));
    let there = || look.is_some_and(|look| look.look(script) == Presence::File);
    (unread && there()).then(|| Run::of(command, Source::Unseen, true, command.span))
}

/// A program that a glob leaves open.
fn guessed_program(command: &Command) -> Option<Run> {
    let word = command.words.first()?;
    let Value::Pattern(pattern) = &word.value else { return None };
    is_guessed(pattern, command.shell_cwd.as_deref()).then(|| Run::of(command, Source::Unseen, false, word.span))
}

/// A program that is named by what a command prints.
fn computed_program(command: &Command, inner: &[&Command], variable: Option<Source>) -> Option<Run> {
    let word = command.words.first()?;
    let Value::Unknown { why: Why::CommandOutput, shape } = &word.value else { return None };
    let named: Vec<&Command> = inner.iter().filter(|other| other.span.is_inside(word.span)).copied().collect();
    if shape.contains('/') || is_located(&named) {
        return None;
    }
    let from = named.iter().filter_map(|other| source(other)).max().max(variable);
    Some(Run::of(command, from.unwrap_or(Source::Unseen), false, word.span))
}

/// What is known of files while a text is gone through.
struct Files<'s> {
    /// What earlier calls left behind.
    before: &'s BTreeMap<&'s str, Source>,
    /// Whether they left more.
    forgotten: bool,
    /// What is in none of the texts, and where it comes from.
    tainted: BTreeMap<&'s str, Source>,
    /// What this text shows all of.
    shown: BTreeSet<&'s str>,
    /// What of that is in files whose path is known in part.
    alike: Vec<(Cow<'s, Value>, Source)>,
    /// In which the commands stand.
    text: &'s str,
}

impl<'s> Files<'s> {
    /// Where what an effect is on comes from, if no text shows it.
    fn source(&self, effect: &Effect) -> Option<Source> {
        let path = effect.path.followed_as()?;
        let forgotten = self.forgotten && effect.kind == Kind::Execute && !self.shown.contains(path);
        self.tainted.get(path).copied().or((forgotten && !is_system(path)).then_some(Source::Unseen))
    }

    /// Where what is in a file comes from that is written like one whose path is known in part.
    fn source_alike(&self, effect: &Effect) -> Option<Source> {
        let path = effect.path.by_variable(self.text, effect.span);
        self.alike.iter().filter(|(other, _)| other.is_like(&path)).map(|(_, source)| *source).max()
    }

    /// Finds where what is fetched or decoded into a file is run from one that is written like it. Two such may be two
    /// files: what is only given to a program tells nothing.
    fn run_alike(&self, command: &Command) -> Option<Run> {
        let runs = command.effects.iter().filter(|effect| effect.kind == Kind::Execute && !self.alike.is_empty());
        let source = runs.filter_map(|effect| self.source_alike(effect)).max()?;
        Some(Run::of(command, source, true, command.span))
    }

    /// Notes what is fetched or decoded into files whose path is known in part.
    fn write_alike(&mut self, command: &'s Command, source: Option<Source>) {
        let Some(source) = source else { return };
        let copies = command.effects.iter().any(|effect| effect.copied);
        // Not what is unpacked into a folder.
        let takes = |effect: &&Effect| is_filled(effect.kind) && !effect.folder && (copies || !effect.recursive);
        for effect in command.effects.iter().filter(takes) {
            let file = (effect.path.by_variable(self.text, effect.span), source);
            if file.0.is_like(&file.0) && self.alike.len() < MAX_ALIKE && !self.alike.contains(&file) {
                self.alike.push(file);
            }
        }
    }

    /// Follows what is fetched or decoded into files, and finds where those are run.
    fn follow(&mut self, command: &'s Command, piped: &[&Command], found: &mut Vec<Run>) {
        let runs = command.opaque || matches!(command.program(), Some("chroot" | "ld.so"));
        for effect in command.effects.iter().filter(|effect| !is_change(effect.kind)) {
            let Some(source) = self.source(effect) else { continue };
            // What an earlier call fetched lies there to be read, so that nothing is opaque about it.
            let known = effect.path.followed_as().is_some_and(|path| self.before.contains_key(path));
            let earlier = effect.kind == Kind::Execute && (known || self.forgotten);
            // What another command adds to it, or writes to it perhaps, does not make it readable.
            let fetched = effect.kind == Kind::Execute && source == Source::Downloaded;
            if earlier || fetched || runs && matches!(effect.kind, Kind::Execute | Kind::Read | Kind::Mention) {
                found.push(Run::of(command, source, true, command.span));
                break;
            }
        }
        // What a script in another language writes is not known.
        let scripted = command.words.is_empty()
            && command.redirects.is_empty()
            && command.via.last().is_some_and(|via| interprets(via));
        let own = source(command).or_else(|| piped.iter().filter_map(|other| source(other)).max());
        let own = own.or(scripted.then_some(Source::Unseen));
        // What it reads may be in what it writes.
        let reads = || command.effects.iter().filter(|effect| matches!(effect.kind, Kind::Read | Kind::Move));
        let copied = reads().filter_map(|effect| self.tainted.get(effect.path.followed_as()?).copied()).max();
        let alike = reads().filter_map(|effect| self.source_alike(effect)).max();
        self.write_alike(command, own.or(copied).or(alike));
        let shows = prints(command) && piped.iter().all(|other| prints(other));
        let redirected = |effect: &Effect| command.redirects.iter().any(|redirect| redirect.target.span == effect.span);
        for effect in &command.effects {
            let Some(path) = effect.path.followed_as().filter(|_| is_filled(effect.kind)) else { continue };
            let replaced = effect.kind == Kind::Write && redirected(effect);
            // What a fetch or a decoder writes is not known; what is known was read.
            match (own.or(copied), alike) {
                (Some(source), _) if !path.starts_with("/dev/") => drop(self.tainted.insert(path, source)),
                (None, Some(source)) if !path.starts_with("/dev/") => drop(self.tainted.entry(path).or_insert(source)),
                // A program that edits a file leaves most of it. In a working directory that is not known it may be another
                // file of that name.
                _ if replaced && command.runs == Runs::Certainly && !path.starts_with(Value::HOLE) => {
                    self.tainted.remove(path);
                }
                _ => {}
            }
            match shows {
                true if replaced => drop(self.shown.insert(path)),
                true => {}
                false => drop(self.shown.remove(path)),
            }
        }
    }
}

/// Whether there is something in a file after it that was not before.
fn is_filled(kind: Kind) -> bool {
    matches!(kind, Kind::Write | Kind::Append | Kind::Create | Kind::Link)
}

/// Whether all that a command prints stands in the text.
fn prints(command: &Command) -> bool {
    command.program().is_some_and(|program| PRINTERS.contains(&program))
        && command.words.iter().all(|word| word.known().is_some())
        && command.effects.iter().all(|effect| effect.kind != Kind::Read)
}

/// Whether a program's file is one of the system's.
fn is_system(path: &str) -> bool {
    ["/bin/", "/sbin/", "/usr/", "/opt/homebrew/bin/"].iter().any(|folder| path.starts_with(folder))
}

/// How commands stand in their lists and in each other.
struct Order<'s, 'c> {
    commands: &'s [&'c Command],
    /// The one before each in its list.
    before: Vec<Option<usize>>,
    around: OnceCell<Around>,
}

impl<'s, 'c> Order<'s, 'c> {
    fn of(commands: &'s [&'c Command]) -> Self {
        let mut last = FxHashMap::default();
        let before = commands.iter().enumerate().map(|(at, one)| last.insert(one.group, at)).collect();
        Order { commands, before, around: OnceCell::new() }
    }

    /// The commands before one in its pipeline, the nearest first.
    fn pipeline(&self, at: usize) -> Vec<&'c Command> {
        let mut found = Vec::new();
        let Some(command) = self.commands.get(at) else { return found };
        // A command inside a wrapper or a group of commands reads what its outer one is given.
        let (mut joiner, mut span, mut depth) = (command.joiner, command.span, command.via.len());
        let mut here = at;
        loop {
            // The nearer of the two is the next one.
            let piped = self.before[here].filter(|_| joiner == Joiner::Pipe);
            let outer = self.outer(here, span, depth);
            let Some(next) = piped.max(outer) else { return found };
            let other = self.commands[next];
            if piped == Some(next) {
                found.push(other);
            } else {
                (span, depth) = (other.span, other.via.len());
            }
            (joiner, here) = (other.joiner, next);
        }
    }

    /// The last command before this one and of another list that stands around a span and is less deep inside others.
    fn outer(&self, here: usize, span: Span, depth: usize) -> Option<usize> {
        let of_other_list = |number: usize| self.commands[number].group != self.commands[here].group;
        let around = || self.around.get_or_init(|| Around::of(self.commands.iter().copied(), |_| 0));
        (0..depth).filter_map(|depth| around().last_outside(span, (depth, 0), here, of_other_list)).max()
    }
}

/// Whether a value comes from variables or from what a command prints.
fn is_computed(why: &Why) -> bool {
    why.variable().is_some() || matches!(why, Why::CommandOutput | Why::Temporary | Why::Expansion | Why::Number)
}

/// Whether the text that an interpreter gets as an argument is all a variable's, or what a command prints.
fn is_code_computed(command: &Command) -> bool {
    let is_code = |flag: &str| {
        let letters = flag.strip_prefix('-').filter(|letters| letters.chars().all(|c| c.is_ascii_alphabetic()));
        letters.is_some_and(|letters| letters.ends_with(['c', 'e', 'E', 'r', 'p']))
            || matches!(flag, "--eval" | "--print")
    };
    command
        .words
        .windows(2)
        .any(|words| words[0].known().is_some_and(is_code) && words[1].value.text().chars().eq([Value::HOLE]))
}

/// Whether what is run is a file beside one that is known: `. "$(dirname "$0")/lib.sh"`.
fn is_located_file(command: &Command, inner: &[&Command]) -> bool {
    let located = |word: &Word| match &word.value {
        Value::Unknown { why, shape } if is_computed(why) => {
            shape.rsplit(Value::HOLE).next().is_some_and(|end| end.len() > 1 && end.starts_with('/'))
        }
        _ => false,
    };
    let first = command.words.iter().skip(1).find(|word| !word.value.text().starts_with('-'));
    first.is_some_and(located) && inner.iter().all(|other| source(other).is_none())
}

/// Whether a glob in a program's place leaves open which of several programs it is.
fn is_guessed(pattern: &str, cwd: Option<&str>) -> bool {
    let (folder, name) = pattern.rsplit_once('/').unwrap_or((cwd.unwrap_or_default(), pattern));
    let system = ["/bin", "/sbin"].iter().any(|end| folder.ends_with(end)) && !folder.contains("node_modules");
    let anywhere = pattern.contains('/') && name.contains(['?', '[']);
    anywhere || system && name.contains(['*', '?', '['])
}

/// Whether commands only find out where a program is.
fn is_located(commands: &[&Command]) -> bool {
    let locates = |command: &&&Command| {
        let Some(program) = command.program() else { return false };
        let first = command.words.get(1).and_then(Word::known).unwrap_or_default();
        LOCATE.iter().any(|(name, word)| *name == program && (word.is_empty() || *word == first))
    };
    let mut programs = commands.iter().filter(|command| !command.words.is_empty()).peekable();
    programs.peek().is_some() && programs.all(|command| locates(&command))
}

/// Whether what is not seen of a text for a shell are names among the words of commands that do nothing to files and do not
/// show them: what a search in the workspace lists, put in by `xargs -I{}` and `find -exec`, or by `parallel` out of the text.
fn lists_names(command: &Command, inner: &[&Command], before: &[&Command], piped: &[&Command]) -> bool {
    const HARMLESS: &[&str] = &[
        "[", "basename", "bun", "cargo", "cd", "dirname", "echo", "go", "jq", "ls", "make", "npm", "pnpm", "printf",
        "test", "true", "yarn",
    ];
    let outer = || before.iter().rev().find(|outer| outer.program() == command.via.last().map(String::as_str));
    let by_names = match command.via.last().map(String::as_str) {
        Some("xargs") => outer().is_some_and(|outer| is_given_names(outer, piped)),
        Some("find") => piped.is_empty() && outer().is_some_and(|outer| lists(outer)),
        Some("parallel") => {
            let told = |outer: &&&Command| {
                let mut names = outer.words.iter().skip_while(|word| word.known() != Some(":::"));
                names.next().is_some()
                    && outer.redirects.is_empty()
                    && outer.words.iter().all(|word| {
                        let text = word.value.text();
                        !text.starts_with("-a") && !text.starts_with("--a") && !text.starts_with("::::")
                    })
            };
            piped.is_empty() && outer().filter(told).is_some()
        }
        _ => false,
    };
    let text = |word: &Word| matches!(&word.value, Value::Unknown { why: Why::Argument, shape } if shape.contains(' '));
    by_names
        && command.program().is_some_and(|program| READERS.contains(&program))
        && command.words.iter().any(text)
        && !before.iter().any(|other| changes(other) || !other.assignments.is_empty())
        && !inner.is_empty()
        && inner.iter().all(|other| {
            other.program().is_some_and(|program| HARMLESS.contains(&program))
                && !other.unseen_script
                && other.assignments.is_empty()
                && !changes(other)
        })
}

/// Whether a program runs programs of its own language.
fn interprets(program: &str) -> bool {
    INTERPRETERS.iter().any(|name| program.starts_with(name))
}

/// Whether an interpreter is given the names of its scripts by `xargs`, as a loop over them would: it is run with nothing else.
fn runs_listed(command: &Command, before: &[&Command], piped: &[&Command]) -> bool {
    let by_xargs = || before.iter().rev().find(|outer| outer.program() == Some("xargs"));
    // Nothing else is done before, and each of them is what its name says.
    let only = |other: &Command| {
        let is_outer = other.program() == Some("xargs");
        other.via.is_empty() && (is_outer || piped.iter().any(|one| std::ptr::eq(*one, other)))
    };
    let runs = |word: &Word| word.value.text().starts_with("-exec") || word.value.text().starts_with("-ok");
    before.iter().all(|other| only(other))
        && before.iter().filter(|other| other.program() == Some("xargs")).count() == 1
        && !piped.iter().any(|other| other.words.iter().any(runs))
        && command.words.len() == 1
        && command.via.last().is_some_and(|by| by == "xargs")
        && command.program().is_some_and(|program| interprets(program) && !READERS.contains(&program))
        && by_xargs().is_some_and(|outer| is_given_names(outer, piped))
        && !before.iter().any(|other| changes(other) || !other.assignments.is_empty())
}

/// Whether what an `xargs` reads are names of the workspace's files, listed and filtered by what is piped to it.
fn is_given_names(xargs: &Command, piped: &[&Command]) -> bool {
    // Its list is not what is piped to it.
    let elsewhere = |word: &Word| {
        let text = word.value.text();
        text.starts_with("--a") || text.starts_with('-') && !text.starts_with("--") && text.contains('a')
    };
    xargs.redirects.is_empty()
        && !xargs.words.iter().any(elsewhere)
        && piped.last().is_some_and(|first| lists(first))
        && piped.iter().rev().skip(1).all(|other| filters(other) || other.program() == Some("xargs"))
}

/// Whether a command changes files, or gets something from elsewhere.
fn changes(command: &Command) -> bool {
    // What a build makes somewhere in its project is what it is there for.
    let told = command.effects.iter().filter(|effect| !effect.path.text().ends_with("/**"));
    let mut kinds = told.map(|effect| effect.kind);
    kinds.any(|kind| !matches!(kind, Kind::Read | Kind::Execute | Kind::Mention)) || source(command).is_some()
}

/// Whether a command prints names of the workspace's files, or the numbers of containers, and nothing else.
fn lists(command: &Command) -> bool {
    // A glob that begins with a name stands for names that begin with it, and for no option.
    fn said(word: &Word) -> Option<&str> {
        match &word.value {
            Value::Known(text) => Some(text),
            Value::Pattern(text) => Some(text.as_str()).filter(|text| text.starts_with(|c: char| c.is_alphanumeric())),
            Value::Unknown { .. } => None,
        }
    }
    let known: Option<Vec<&str>> = command.words.iter().map(said).collect();
    let Some(words) = known else { return false };
    let inside =
        |word: &&str| !word.starts_with(['/', '~']) && !word.split('/').any(|part| matches!(part, ".." | ".git"));
    let other = [
        "-exec",
        "-ok",
        "-printf",
        "-fprint",
        "-files0",
        "-fls",
        "-ls",
        "-L",
        "-H",
        "-follow",
        "--format",
        "--output",
        "--no-index",
    ];
    let plain =
        |words: &[&str]| words.iter().all(|word| inside(word) && !other.iter().any(|begin| word.starts_with(begin)));
    match words.as_slice() {
        // What runs its own text has it among its words.
        ["find", rest @ ..] => {
            let own = rest.iter().position(|word| word.starts_with("-exec")).filter(|_| command.via.is_empty());
            let (search, action) = rest.split_at(own.unwrap_or(rest.len()));
            plain(search) && action.iter().filter(|word| word.starts_with("-exec")).count() <= 1
        }
        ["ls", rest @ ..] | ["git", "ls-files", rest @ ..] | ["git", "diff", "--name-only", rest @ ..] => plain(rest),
        ["docker" | "podman", "ps", "-q" | "-aq" | "-qa"] => true,
        _ => false,
    }
}

/// Whether a command only chooses among the lines that it is given, or orders them.
fn filters(command: &Command) -> bool {
    let known: Option<Vec<&str>> = command.words.iter().map(Word::known).collect();
    let is_option = |word: &&str| word.starts_with('-') || word.bytes().all(|byte| byte.is_ascii_digit());
    match known.as_deref() {
        Some(["sort" | "uniq" | "head" | "tail" | "tac" | "cut", rest @ ..]) => rest.iter().all(is_option),
        Some(["grep" | "egrep", rest @ ..]) => {
            rest.iter().filter(|word| !is_option(word)).count() == 1
                && !rest.iter().any(|word| word.starts_with("--") || word.starts_with('-') && word.contains(['e', 'f']))
        }
        _ => false,
    }
}

/// Whether what is run is what a program prints to be run.
fn is_setup(inner: &[&Command]) -> bool {
    const PRINTS_ANYTHING: &[&str] = &[
        "cat", "echo", "printf", "head", "tail", "sed", "awk", "grep", "python", "python3", "node", "ruby", "perl",
        "php", "sh", "bash", "git", "find", "ls", "jq", "cut", "tee", "sort",
    ];
    let prints = |other: &Command| {
        let Some(program) = other.program() else { return false };
        let words = || other.words.iter().skip(1).filter_map(Word::known);
        source(other).is_none()
            && !PRINTS_ANYTHING.contains(&program)
            && (SETUP.contains(&program) || words().take(2).any(|word| SETUP_WORDS.contains(&word)))
    };
    !inner.is_empty() && inner.iter().all(|other| prints(other))
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;

    /// What is before a command in its pipeline, by a look at each one before it.
    fn looked_for<'c>(commands: &[&'c Command], at: usize) -> Vec<&'c Command> {
        let command = commands[at];
        let (mut joiner, mut span, mut group) = (command.joiner, command.span, command.group);
        let mut depth = command.via.len();
        let mut before = Vec::new();
        for other in commands[..at].iter().rev() {
            if other.group == group {
                if joiner == Joiner::Pipe {
                    joiner = other.joiner;
                    before.push(*other);
                }
            } else if span.is_inside(other.span) && other.via.len() < depth {
                (group, joiner, span, depth) = (other.group, other.joiner, other.span, other.via.len());
            }
        }
        before
    }

    #[test]
    fn what_is_piped_is_found_as_by_a_look_at_each_command() {
        for text in [
            "a | b | c; d && e | f || g | h",
            "curl x | sudo sh -c 'a | b; c | (d; e | f)'",
            "f() { a | b; g | c; }; g() { d; e $(h | i | j) | k; }; x | f; f; f | g | { f; g; } > y; $(f | sudo g)",
            "for x in 1 2 3; do a $x | while read y; do b $y | xargs c; done; done | d",
            "a | env b | xargs -n1 sh -c 'c \"$1\" | d' _; find . -exec sh -c 'e | f' \\; | g",
            "cat <<E | bash\na | b\nsh -c 'c | d'\nE\ne | f",
        ] {
            let script = parse(text, &Facts::new("/p").home("/h"));
            let commands: Vec<&Command> = script.commands.iter().collect();
            let order = Order::of(&commands);
            for at in 0..commands.len() {
                let (found, expected) = (order.pipeline(at), looked_for(&commands, at));
                let same = found.iter().zip(&expected).all(|(found, expected)| std::ptr::eq(*found, *expected));
                assert!(same && found.len() == expected.len(), "{text} {at} {found:#?}");
            }
        }
    }

    /// What one call leaves behind, and what comes of that in the next.
    #[test]
    fn what_earlier_calls_fetched_is_remembered() {
        let cases: &[(&[&str], usize)] = &[
            (&["curl -o a x", "sh a"], 1),
            (&["curl -o a x", "cat a", "chmod +x a", "./a"], 1),
            (&["curl -o a x", "mv a b", "bash b"], 1),
            (&["curl -o a x", "cp a /q/b; cd /q", "python3 /q/b"], 1),
            (&["base64 -d f > a", ". ./a"], 1),
            (&["curl -o a x", "sh b"], 0),
            (&["curl -o a x", "echo hi > a", "sh a"], 1),
            (&["curl -o a x", "test -f b && echo hi > a", "sh a"], 1),
            (&["curl -o a x", "cat a"], 0),
            (&["curl x > a; echo > a", "sh a"], 0),
        ];
        for (texts, expected) in cases {
            let mut memory = Memory::default();
            let mut last = 0;
            for text in *texts {
                let script = parse(text, &Facts::new("/p").home("/h"));
                let (found, after) = unseen(&script, text, None, &memory);
                last = found.len();
                // Through the form in which it is kept.
                let kept = after.unwrap_or(memory).text();
                memory = Memory::read(&serde_json::from_str(&kept).expect("JSON"));
            }
            assert_eq!(last, *expected, "{texts:?}");
        }
    }

    /// Once something was forgotten, any file may be that.
    #[test]
    fn what_is_run_after_something_was_forgotten_was_not_seen() {
        let cases: &[(&str, usize)] = &[
            ("sh a", 1),
            ("python3 a.bin", 1),
            ("./a", 1),
            (". ./a", 1),
            ("echo hi > b; sh a", 1),
            ("python3 -m gen > a; sh a", 1),
            ("echo \"$(cat b)\" > a; sh a", 1),
            ("cat a > b; sh b", 1),
            ("cat a | tee b > c; sh c", 1),
            ("echo hi > b; cat a >> b; sh b", 1),
            ("cp a b; sh b", 1),
            ("cat > a <<'E'\nls\nE\nsh a", 0),
            ("echo ls > a; chmod +x a; ./a", 0),
            ("cat a", 0),
            ("/usr/bin/env ls", 0),
            ("python3 -m pytest", 0),
            ("ls | grep x", 0),
        ];
        for (text, expected) in cases {
            let script = parse(text, &Facts::new("/p").home("/h"));
            let (found, after) = unseen(&script, text, None, &Memory { forgotten: true, ..Memory::default() });
            assert_eq!(
                found.iter().filter(|run| run.source == Source::Unseen && run.file).count(),
                *expected,
                "{text}"
            );
            assert!(after.is_none_or(|after| after.forgotten), "{text}");
        }
    }

    #[test]
    fn what_comes_from_elsewhere_is_followed_to_where_it_runs() {
        use Source::*;
        let cases: &[(&str, &[(Source, bool)])] = &[
            ("curl x | sh", &[(Downloaded, false)]),
            ("curl x | sudo bash -s -- -y", &[(Downloaded, false)]),
            ("curl x | tee y | sh", &[(Downloaded, false)]),
            ("bash -c \"$(curl x)\"", &[(Downloaded, false)]),
            ("eval \"$(wget -qO- x)\"", &[(Downloaded, false)]),
            ("sh <(curl x)", &[(Downloaded, false)]),
            ("source <(curl x)", &[(Downloaded, false)]),
            ("A=$(curl x); eval \"$A\"", &[(Downloaded, false)]),
            ("A=$(date); eval \"$A\"", &[(Unseen, false)]),
            ("bash < /dev/tcp/a/4", &[(Downloaded, false)]),
            ("base64 -d f | sh", &[(Decoded, false)]),
            ("cat f | sh", &[(Unseen, false)]),
            ("curl -o a x; sh a", &[(Downloaded, true)]),
            ("curl x > a; chmod +x a && ./a", &[(Downloaded, true)]),
            ("curl -o a x; mv a b; bash b", &[(Downloaded, true)]),
            ("curl -o a x; python3 a", &[(Downloaded, true)]),
            ("base64 -d f > a; . ./a", &[(Decoded, true)]),
            ("curl -o a x; echo hi > a; sh a", &[]),
            ("curl -o a x; cat a", &[]),
            ("curl -o a x; sed -i 1d a; sh a", &[(Downloaded, true)]),
            ("curl -o a x; cat a > b; sh b", &[(Downloaded, true)]),
            ("curl x | jq .", &[]),
            ("echo cm0gLXJmIC8= | base64 -d | sh", &[]),
            ("eval \"$(ssh-agent -s)\"", &[]),
            ("source <(kubectl completion bash)", &[]),
            ("eval \"$(starship init bash)\"; ls", &[]),
            ("$(which python3) a.py", &[]),
            ("$(npm bin)/eslint .", &[]),
            ("$(which gcc) $(pkg-config --cflags x) a.c", &[]),
            ("$(cat f) $(which gcc)", &[(Unseen, false)]),
            ("$(cat f) x", &[(Unseen, false)]),
            ("$(curl x) y", &[(Downloaded, false)]),
            ("false && curl x | sh", &[]),
            ("python3 -c \"$(curl x)\"", &[(Downloaded, false)]),
            ("python3 <(curl x)", &[(Downloaded, false)]),
            ("python3 a.py \"$(date)\"", &[]),
            ("eval \"$(curl -sL x env)\"", &[(Downloaded, false)]),
            ("eval \"$(cat setup)\"", &[(Unseen, false)]),
            ("$(python3 -c x)", &[(Unseen, false)]),
            ("python3 -c 'open(\"a\", \"w\").write(x)'; sh a", &[(Unseen, true)]),
            ("python3 -c 'open(\"a\", \"w\").write(x)'; cat a", &[]),
            ("/usr/bin/[qr]m x", &[(Unseen, false)]),
            ("/bin/r* x", &[(Unseen, false)]),
            ("./target/debug/deps/a-* x", &[]),
            ("/opt/*/bin/java -version", &[]),
            ("$(command -v python3) a.py", &[]),
            ("apply_patch < p", &[(Unseen, false)]),
            ("apply_patch \"$(cat p)\"", &[(Unseen, false)]),
            ("apply_patch <<'E'\n*** Add File: a\n+x\nE", &[]),
        ];
        for (text, expected) in cases {
            let script = parse(text, &Facts::new("/p").home("/h"));
            let mut found: Vec<(Source, bool)> = unseen(&script, text, None, &Memory::default())
                .0
                .into_iter()
                .map(|run| (run.source, run.file))
                .collect();
            found.dedup();
            assert_eq!(found, *expected, "{text}");
        }
    }
}
