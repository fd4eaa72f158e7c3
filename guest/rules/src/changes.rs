//! What a call changes, told before it runs, so that a host can save it first and undo it later. `wit/changes` documents the
//! shape.
//!
//! It is made of the commands that the judgement has followed, and asks for no file. What it cannot tell it does not leave out: a
//! path that is not known is `null`, and a program whose changes are not known is named. More than is changed may be told: a folder
//! in the place of the files in it that a glob means.

use rustc_hash::FxHashMap;
use serde::Serialize;
use toolgate_shell::{
    Command, Effect, EffectKind, FileOracle, Foreseen, Named, Operand, ProgramWords, Runs, Script, Value, Variables,
    Why, Word, absolute, is_within, runs_in_shell,
};

use super::find_expression;
use super::matching::{git_subcommand, names_repository};
use crate::call::{Call, ToolKind};

/// The version of the shape.
const SCHEMA: u32 = 1;

/// Most paths that are told.
const MOST_PATHS: usize = 2_000;

/// Most programs, and most git commands, that are told.
const MOST_COMMANDS: usize = 200;

/// Variables that have programs load or run something else. What a text sets one for may be any program.
const LOADING: &[&str] = &[
    "PATH",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYLIB",
    "RUBYOPT",
];

/// Variables by which zsh finds programs.
const OF_ZSH: &[&str] = &["path", "fpath", "commands", "functions", "aliases"];

/// Git's settings that have it run nothing and write nowhere else, in small letters.
const PLAIN_SETTINGS: &[&str] =
    &["advice.", "clean.requireforce", "color.", "core.quotepath", "user.email", "user.name"];

/// Git commands whose changes in other repositories are none, and here are what their words say.
const NEW_REPOSITORY: &str = "clone";

/// What a call changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    schema: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<Change>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    git: Vec<GitCommand>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unforeseen: Vec<Unforeseen>,
    #[serde(skip_serializing_if = "is_false")]
    leaves: bool,
    #[serde(skip_serializing_if = "is_false")]
    recoverable: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Changes {
    /// As a JSON text.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether the call need not be asked about if all of them were saved.
    pub fn is_recoverable(&self) -> bool {
        self.recoverable
    }

    fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.git.is_empty() && self.unforeseen.is_empty() && !self.leaves
    }

    /// Whether each of them is known.
    fn are_known(&self) -> bool {
        self.unforeseen.is_empty() && self.paths.iter().all(|change| change.path.is_some())
    }
}

/// A path that is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Change {
    path: Option<String>,
    kind: Kind,
    certain: bool,
    #[serde(skip_serializing_if = "is_false")]
    recursive: bool,
}

/// What happens to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Write,
    Append,
    Create,
    Delete,
    Move,
    Link,
    Mode,
}

impl Kind {
    fn of(effect: EffectKind) -> Option<Self> {
        Some(match effect {
            EffectKind::Write => Kind::Write,
            EffectKind::Append => Kind::Append,
            EffectKind::Create => Kind::Create,
            EffectKind::Delete => Kind::Delete,
            EffectKind::Move => Kind::Move,
            EffectKind::Link | EffectKind::HardLink => Kind::Link,
            EffectKind::Mode => Kind::Mode,
            EffectKind::Mention | EffectKind::Read | EffectKind::Execute | EffectKind::Send => return None,
        })
    }

    /// Whether it takes away what has the path, and follows no link there.
    fn is_gone(self) -> bool {
        matches!(self, Kind::Delete | Kind::Move)
    }
}

/// A git command that changes a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct GitCommand {
    folder: Option<String>,
    command: String,
}

/// A program whose changes are not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Unforeseen {
    folder: Option<String>,
    program: String,
}

/// What a call changes; `None` if that is nothing. `softened`: whether it is asked about, and only by rules that need not ask if
/// all that is told here was saved.
pub(crate) fn changes_of(
    call: &Call,
    scripts: [Option<&Script>; 2],
    softened: bool,
    look: Option<&dyn FileOracle>,
) -> Option<Changes> {
    let mut found = Collector { call, look, found: Changes::default(), places: FxHashMap::default(), inexact: false };
    if call.effects.unclear {
        found.add(None, Kind::Write, false, false);
    }
    scripts.into_iter().flatten().for_each(|script| found.script(script));
    if scripts.iter().all(Option::is_none) {
        found.tool();
    }
    // Of other repositories less is known, and somebody else may work there.
    let own = |command: &GitCommand| command.folder.as_deref().is_some_and(|folder| found.is_in_workspace(folder));
    let known = !found.inexact && found.found.are_known() && found.found.git.iter().all(own);
    let plain = is_plain(call, &scripts);
    let mut changes = found.found;
    changes.schema = SCHEMA;
    changes.recoverable = softened && known && plain && !changes.leaves;
    (!changes.is_empty()).then_some(changes)
}

/// Programs, but for git, that remove and overwrite what their words say and nothing else.
const PLAIN_PROGRAMS: &[&str] = &["cp", "find", "mv", "rm", "rmdir", "truncate", "unlink"];

/// Whether a text is one command, as it is written, that does now what it does: what is saved is what is there before the text
/// runs. Another command before it may change what it works on or wait until somebody has changed that, and one that goes on in the
/// background does its work when what it left was looked at.
fn is_plain(call: &Call, scripts: &[Option<&Script>; 2]) -> bool {
    let mut scripts = scripts.iter().flatten().peekable();
    let is_alone = scripts.peek().is_some()
        && scripts.all(|script| script.commands.len() == 1 && is_plain_command(call, &script.commands[0]));
    is_alone && call.command.as_ref().is_some_and(|text| is_without_syntax(text.value.trim()))
}

/// Whether a text has nothing in it but words, quotes and globs, in zsh as well: there `=rm` is where that program lies, and `^` and
/// `~` leave names out of a glob.
fn is_without_syntax(text: &str) -> bool {
    let of_zsh = |word: &str| word.starts_with('=') || word.trim_start_matches('~').contains('~');
    !text.contains(is_of_syntax) && !text.split_whitespace().any(of_zsh)
}

/// Whether a character may begin something in a shell text beside words and quotes.
fn is_of_syntax(character: char) -> bool {
    matches!(character, ';' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '$' | '`' | '\\' | '!' | '#' | '^')
        || character.is_control()
}

fn is_plain_command(call: &Call, command: &Command) -> bool {
    let is_here = command.cwd.as_deref() == Some(call.cwd.trim_end_matches('/'));
    let is_bare = command.via.is_empty() && command.assignments.is_empty() && command.redirects.is_empty();
    match command.program() {
        Some("git") => is_here && is_bare && is_plain_git(command),
        Some(program) => is_here && is_bare && PLAIN_PROGRAMS.contains(&program),
        None => false,
    }
}

/// Whether a git command takes back changes of tracked files, or removes what no ignore rule and no other commit speaks of: a
/// checkout of another commit overwrites files that git ignores, and those are not saved.
fn is_plain_git(command: &Command) -> bool {
    let words: Option<Vec<&str>> = command.words.iter().map(|word| word.known().filter(|_| !word.several)).collect();
    let Some((name, rest)) = words.as_deref().and_then(|words| words.get(1..)).and_then(<[&str]>::split_first) else {
        return false;
    };
    let only = |options: &[&str]| rest.iter().all(|word| options.contains(word));
    let is_path = |word: &str| !word.starts_with(['-', ':']);
    let with = |options: &[&str]| rest.iter().all(|word| options.contains(word) || is_path(word));
    match *name {
        "reset" => only(&["--hard", "-q", "--quiet", "HEAD"]),
        "checkout" => match rest {
            ["."] | ["-q" | "HEAD", "."] => true,
            ["--", paths @ ..] | ["-q" | "HEAD", "--", paths @ ..] => paths.iter().all(|path| is_path(path)),
            _ => false,
        },
        "restore" => with(&["-q", "--quiet", "-S", "--staged", "-W", "--worktree", "--"]),
        "clean" => with(&["-f", "-d", "-fd", "-df", "-q", "-fdq", "-qfd", "--force"]),
        "stash" => matches!(rest, ["drop" | "clear"] | ["drop", "-q" | "--quiet"] | ["drop", _]),
        "branch" => {
            with(&["-D", "-d", "--delete", "-q", "--force", "-f"])
                && rest.iter().any(|word| matches!(*word, "-D" | "-d" | "--delete"))
        }
        "tag" => with(&["-d", "--delete"]) && rest.iter().any(|word| matches!(*word, "-d" | "--delete")),
        "rm" => with(&["-r", "-f", "-rf", "-fr", "-q", "--force", "--"]),
        _ => false,
    }
}

/// Which variables the text sets for a command.
#[derive(Clone, Copy)]
struct Settings {
    /// One of [`LOADING`].
    loads: bool,
    /// One of [`OF_ZSH`].
    of_zsh: bool,
}

impl Settings {
    fn of(is_set: &dyn Fn(&str) -> bool) -> Self {
        let any = |names: &[&str]| names.iter().any(|name| is_set(name));
        Settings { loads: any(LOADING), of_zsh: any(OF_ZSH) }
    }

    fn and(self, other: Self) -> Self {
        Settings { loads: self.loads || other.loads, of_zsh: self.of_zsh || other.of_zsh }
    }
}

/// Gathers what is changed.
struct Collector<'a> {
    call: &'a Call,
    look: Option<&'a dyn FileOracle>,
    found: Changes,
    /// Where each path and kind stands among those that were found.
    places: FxHashMap<(Option<String>, Kind), usize>,
    /// Whether something may be changed beside what was found.
    inexact: bool,
}

/// The location of an effect, as far as it is known.
enum EffectLocation {
    /// There.
    At(String),
    /// Somewhere below this folder; behind a link in it if `leaves` is true.
    Below { folder: String, leaves: bool },
    /// It may be anywhere.
    Unknown,
    /// Nothing is there that was there before, or that is kept.
    Nowhere,
}

impl Collector<'_> {
    fn script(&mut self, script: &Script) {
        if script.unparsed.is_some() {
            self.add(None, Kind::Write, false, false);
            let shell = self.call.shell.clone().unwrap_or_else(|| "sh".to_owned());
            self.unforeseen(Some(absolute("", &self.call.cwd)), shell);
            self.found.leaves |= script.commands.iter().any(sends);
            return;
        }
        // It may be what a file holds that is run, and is beside what was found.
        if !script.written.is_empty() {
            self.unforeseen(Some(absolute("", &self.call.cwd)), "sh".to_owned());
        }
        // Few commands have other variables than the one before.
        let mut settings: Option<(&Variables, Settings)> = None;
        for (index, command) in script.commands.iter().enumerate().filter(|(_, one)| one.runs != Runs::Never) {
            let known = settings.filter(|(env, _)| env.is_same(&command.env)).map(|(_, known)| known);
            let known = known.unwrap_or_else(|| Settings::of(&|name| command.env.get(name).is_some()));
            settings = Some((&command.env, known));
            self.command(command, known, &script.commands[..index]);
        }
    }

    fn command(&mut self, command: &Command, around: Settings, before: &[Command]) {
        self.found.leaves |= sends(command);
        if command.elsewhere {
            self.found.leaves |= !command.words.is_empty() || !command.effects_elsewhere.is_empty();
            return;
        }
        // All that is below where it runs may be changed: what it is known to make there adds nothing. What a stored script does is
        // known no longer once something may have changed that.
        let settings = around.and(Settings::of(&|name| command.assignments.iter().any(|(own, _)| own == name)));
        let disturbed = !(self.found.git.is_empty() && self.found.unforeseen.is_empty());
        let unforeseen = is_unforeseen(command, settings) || command.foreseen == Foreseen::Stored && disturbed;
        if unforeseen {
            self.unforeseen(command.cwd.clone(), shown(program(command)));
        }
        let git = git_subcommand(command);
        if let Some(name) = git.as_deref().filter(|name| *name != NEW_REPOSITORY)
            && command.foreseen != Foreseen::ReadsOnly
        {
            self.git(command, name);
        }
        self.inexact |= follows_links(command) || is_in_doubt(command, settings);
        let told = |effect: &&Effect| match git.as_deref() {
            Some(name) => !is_of_repository(command, name, effect),
            None => !(unforeseen && effect.named == Named::No && effect.path.text().contains('*')),
        };
        // What it makes has a new name.
        if command.program() != Some("mktemp") {
            command.effects.iter().filter(told).for_each(|effect| self.effect(effect, command, before));
        }
    }

    fn effect(&mut self, effect: &Effect, command: &Command, before: &[Command]) {
        let Some(kind) = Kind::of(effect.kind) else { return };
        match self.place(effect) {
            EffectLocation::At(path) if is_device(&path) => {
                // What is on a device is not saved with its name.
                self.inexact = true;
                self.found.leaves |= path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/");
            }
            // Few of so many files are meant, and which is known when it runs.
            EffectLocation::At(path) if picks(command) && !self.is_below_workspace(&path) => {
                self.unforeseen(command.cwd.clone(), shown(program(command)));
            }
            EffectLocation::At(path) => {
                // With a slash behind it a link to a folder is that folder.
                if kind.is_gone() && has_slash(command) {
                    let folder = self.linked(&path);
                    if folder != path {
                        self.add(Some(folder), kind, false, true);
                    }
                }
                self.add(Some(path), kind, effect.certain, effect.recursive);
            }
            EffectLocation::Nowhere => {}
            EffectLocation::Below { folder, .. } if self.has_all_of(&self.linked(&folder)) => {}
            EffectLocation::Below { folder, leaves } if self.is_below_workspace(&self.linked(&folder)) => {
                // What is in it may be a link, which a slash leads through.
                let leads_on = leaves || command.words.iter().any(is_glob_with_slash);
                self.inexact |= leads_on || !kind.is_gone();
                self.add(Some(self.linked(&folder)), kind, false, true);
                if leads_on {
                    self.add(None, kind, false, false);
                }
            }
            EffectLocation::Below { .. } | EffectLocation::Unknown if effect.named == Named::No => {
                self.unforeseen(command.cwd.clone(), shown(program(command)));
            }
            EffectLocation::Unknown if is_found(effect, command, before) => {}
            EffectLocation::Below { .. } | EffectLocation::Unknown => self.add(None, kind, false, false),
        }
        if follows_links(command) {
            self.add(None, kind, false, false);
        }
    }

    /// Where an effect happens.
    fn place(&mut self, effect: &Effect) -> EffectLocation {
        match &effect.path {
            Value::Known(path) => EffectLocation::At(self.real(path, effect.written.as_deref())),
            Value::Pattern(pattern) => below(pattern),
            Value::Unknown { why: Why::ProcessSubstitution, .. } => EffectLocation::Nowhere,
            // The text has made it.
            Value::Unknown { why: Why::Temporary, shape } if shape.starts_with('/') && !has_steps(shape) => {
                EffectLocation::Nowhere
            }
            Value::Unknown { why: Why::Number, shape } => below(shape),
            Value::Unknown { .. } => EffectLocation::Unknown,
        }
    }

    /// The path that is meant. Behind a link `..` leads elsewhere than its text says.
    fn real(&mut self, path: &str, written: Option<&str>) -> String {
        let Some(written) = written else { return path.to_owned() };
        match self.look.and_then(|look| look.real(written)).filter(|real| !has_steps(real)) {
            Some(real) => real,
            None => {
                self.inexact = true;
                path.to_owned()
            }
        }
    }

    /// The folder that a path leads to, if it is a link.
    fn linked(&self, path: &str) -> String {
        let real = self.look.and_then(|look| look.real(path)).filter(|real| !has_steps(real));
        real.unwrap_or_else(|| path.to_owned())
    }

    /// Whether all that is in a folder is told already.
    fn has_all_of(&self, folder: &str) -> bool {
        [Kind::Delete, Kind::Move].iter().any(|kind| self.places.contains_key(&(Some(folder.to_owned()), *kind)))
    }

    /// The names of the workspace.
    fn workspaces(&self) -> impl Iterator<Item = &str> {
        let names = std::iter::once(&self.call.workspace).chain(&self.call.workspace_names);
        names.map(|name| name.trim_end_matches('/')).filter(|name| !name.is_empty())
    }

    fn is_in_workspace(&self, folder: &str) -> bool {
        self.workspaces().any(|name| is_within(folder, name))
    }

    /// Whether a folder lies in the workspace, and is not the workspace itself.
    fn is_below_workspace(&self, folder: &str) -> bool {
        self.workspaces().any(|name| folder != name && is_within(folder, name))
    }

    fn git(&mut self, command: &Command, name: &str) {
        self.found.leaves |= matches!(name, "push" | "send-pack" | "http-push" | "send-email" | "svn" | "p4");
        let folder = command.cwd.clone().filter(|_| !names_repository(command));
        let new = GitCommand { folder, command: shown(name) };
        if self.found.git.contains(&new) {
            return;
        }
        match self.found.git.len() {
            ..MOST_COMMANDS => self.found.git.push(new),
            _ => self.inexact = true,
        }
    }

    fn unforeseen(&mut self, folder: Option<String>, program: String) {
        let mut new = Unforeseen { folder, program };
        if self.found.unforeseen.len() >= MOST_COMMANDS {
            new = Unforeseen { folder: None, program: String::new() };
        }
        if !self.found.unforeseen.contains(&new) {
            self.found.unforeseen.push(new);
        }
    }

    fn add(&mut self, path: Option<String>, kind: Kind, certain: bool, recursive: bool) {
        let mut key = (path, kind);
        if self.found.paths.len() >= MOST_PATHS - 1 && !self.places.contains_key(&key) {
            key.0 = None;
        }
        if let Some(known) = self.places.get(&key).and_then(|at| self.found.paths.get_mut(*at)) {
            known.certain |= certain;
            known.recursive |= recursive;
            return;
        }
        if self.found.paths.len() < MOST_PATHS {
            self.places.insert(key.clone(), self.found.paths.len());
            self.found.paths.push(Change { path: key.0, kind, certain, recursive });
        }
    }

    /// What a tool changes that runs no text.
    fn tool(&mut self) {
        let call = self.call;
        for field in &call.paths {
            let path = match (field.value.strip_prefix('~'), &call.home) {
                (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
                _ => field.value.clone(),
            };
            let path = absolute(&path, &call.cwd);
            match call.kind {
                ToolKind::Write if path.starts_with('/') => self.add(Some(path), Kind::Write, true, false),
                ToolKind::Write => self.add(None, Kind::Write, true, false),
                // Nobody has said what it does.
                ToolKind::Other => self.unforeseen(Some(absolute("", &call.cwd)), call.tool.clone()),
                ToolKind::Shell | ToolKind::Read | ToolKind::Search | ToolKind::List | ToolKind::Fetch => {}
            }
        }
    }
}

/// The program of a command, for people.
fn program(command: &Command) -> &str {
    command.program().unwrap_or_else(|| command.words.first().map_or("sh", |word| word.value.text()))
}

/// A text for people: what is not known of it is left open.
fn shown(text: &str) -> String {
    text.rsplit('/').next().unwrap_or(text).replace(Value::HOLE, "…")
}

/// Whether something of a command leaves the machine.
fn sends(command: &Command) -> bool {
    command.runs != Runs::Never && command.effects.iter().any(|effect| effect.kind == EffectKind::Send)
}

/// Whether a command may change what its effects do not tell.
fn is_unforeseen(command: &Command, settings: Settings) -> bool {
    command.foreseen == Foreseen::No
        || command.unseen_script
        || command.opaque
        || command.scanned
        || is_reconfigured(command, settings)
}

/// Whether a command runs with settings that may have it run something else.
fn is_reconfigured(command: &Command, settings: Settings) -> bool {
    let Some(first) = command.words.first() else { return false };
    let own = first.known().is_some_and(runs_in_shell);
    settings.loads && !own || command.program() == Some("git") && is_configured(command)
}

/// Whether a command may do something else than it says, by what only some shells go by, or in repositories inside the one that
/// it is run in.
fn is_in_doubt(command: &Command, settings: Settings) -> bool {
    let inside = |word: &Word| word.value.text().starts_with("--recurse-s");
    settings.of_zsh
        || command.program() == Some("alias") && command.words.len() > 1
        || command.program() == Some("git") && command.words.iter().any(inside)
}

/// Whether git is told settings that may have it run something or write elsewhere.
fn is_configured(command: &Command) -> bool {
    let read = ProgramWords::read_until_operand("git", command.words.get(1..).unwrap_or_default());
    let is_plain = |setting: &Word| {
        let setting = setting.known().map(str::to_ascii_lowercase);
        setting.is_some_and(|setting| PLAIN_SETTINGS.iter().any(|plain| setting.starts_with(plain)))
    };
    // An option that no spec lists, or a word that is not known, may be any of these.
    let in_doubt = |operand: &Operand| operand.perhaps_value || operand.word.known().is_none();
    !read.values(&["c"]).all(is_plain)
        || read.values(&["config-env", "exec-path"]).next().is_some()
        || read.operands.first().is_none_or(in_doubt)
}

/// Whether `find` picks files by their names.
fn picks(command: &Command) -> bool {
    find_expression::names(command).is_some_and(|names| !names.is_empty())
}

/// Whether `find` follows the links that it finds.
fn follows_links(command: &Command) -> bool {
    let options: &[&str] = match command.program() {
        Some("find") => &["-H", "-L", "-follow"],
        Some("fd" | "fdfind") => &["-L", "--follow"],
        _ => &[],
    };
    command.words.iter().any(|word| word.known().is_some_and(|word| options.contains(&word)))
}

/// Whether a word of a command ends in a slash, or in one with a dot behind it, by which a link is the folder that it leads to.
fn has_slash(command: &Command) -> bool {
    let has = |word: &Word| ["/", "/."].iter().any(|end| word.value.text().ends_with(end));
    command.words.iter().skip(1).any(has)
}

/// Whether a word leads through what its glob finds, which may be links to folders: `src/*/`, `src/*/lib/*`.
fn is_glob_with_slash(word: &Word) -> bool {
    let Value::Pattern(pattern) = &word.value else { return false };
    let found = pattern.find(['*', '?', '[']).and_then(|glob| pattern.get(glob..));
    found.is_some_and(|rest| rest.contains('/'))
}

/// Whether what an effect of a git command changes is saved with the repository: no word names it, or it is all of the folder.
fn is_of_repository(command: &Command, name: &str, effect: &Effect) -> bool {
    // What git is told to overlook is not saved so, nor is another repository in this one.
    if name == "clean" && removes_ignored(command) {
        return false;
    }
    let around = |path: &str| command.cwd.as_deref().is_some_and(|cwd| is_within(cwd, path));
    effect.named == Named::No || effect.path.known().is_some_and(around)
}

/// Whether `git clean` removes what is ignored, or other repositories; also where that is not certain.
fn removes_ignored(command: &Command) -> bool {
    let mut forces = 0;
    for word in &command.words {
        let Some(text) = word.known() else { return true };
        let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
        forces += letters.matches('f').count() + usize::from(text.starts_with("--f"));
        if letters.contains(['x', 'X']) || forces > 1 {
            return true;
        }
    }
    false
}

/// Whether an effect happens to what `find` has found, of which the folder is told.
fn is_found(effect: &Effect, command: &Command, before: &[Command]) -> bool {
    let given = matches!(&effect.path, Value::Unknown { why: Why::Argument, shape } if shape.chars().eq([Value::HOLE]));
    if !given || !command.via.last().is_some_and(|outer| matches!(outer.as_str(), "find" | "fd" | "fdfind")) {
        return false;
    }
    let around = |outer: &&Command| outer.via.len() + 1 == command.via.len();
    let outer = before.iter().rev().find(around);
    let told = |other: &Effect| other.kind == effect.kind && other.recursive;
    outer.is_some_and(|outer| outer.effects.iter().any(told))
}

/// Devices, and other names that stand for no file.
fn is_device(path: &str) -> bool {
    is_within(path, "/dev") && !is_within(path, "/dev/shm") || is_within(path, "/proc") || is_within(path, "/sys")
}

/// Where a path lies that is a glob, or has parts without a slash that are not known.
fn below(pattern: &str) -> EffectLocation {
    if !pattern.starts_with('/') {
        return EffectLocation::Unknown;
    }
    let mut folder = String::new();
    let mut parts = pattern.split('/').skip(1).peekable();
    while let Some(part) = parts.next_if(|part| literal(part).is_some()) {
        folder.push('/');
        folder.push_str(&literal(part).unwrap_or_default());
    }
    let Some(first) = parts.next() else { return EffectLocation::At(folder) };
    let rest: Vec<&str> = parts.collect();
    if may_step_up(first) || rest.iter().any(|part| may_step_up(part)) {
        return EffectLocation::Unknown;
    }
    // What stands behind a name that is not known may be reached through a link.
    EffectLocation::Below { folder, leaves: !rest.is_empty() && first != "**" }
}

/// The name that a part of a glob is; none if it may be several.
fn literal(part: &str) -> Option<String> {
    let mut name = String::new();
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => name.extend(chars.next()),
            '*' | '?' | '[' | Value::HOLE => return None,
            c => name.push(c),
        }
    }
    Some(name)
}

/// Whether a part of a glob may mean the folder above.
fn may_step_up(part: &str) -> bool {
    part == ".."
        || part.starts_with('.') && part.trim_start_matches('.').starts_with(['*', '?', '['])
        || part.contains('(')
}

/// Whether a path has steps up.
fn has_steps(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}
