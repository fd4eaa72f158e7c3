//! Observers: what rule files say of calls that write events of the session.
//!
//! An event lifts rules, so what an observer sees has happened only where that is certain: the command stands in the text
//! itself, is the program of that name, and by the text's structure ended well where another one runs, or if the call did.
//! Everything else that fits has happened perhaps.

use toolgate_shell::{Command, Facts, Runs, Script, Span, Succession, absolute, parse};

use super::events::{Entry, name, written};
use super::fields;
use super::judge::VolatileFiles;
use super::matching::{MatchInput, Purpose, ScriptContext};
use super::path_zone::Map;
use super::pattern::{Pattern, Tried};
use super::read::{patterns, read_what, unknown_key};
use super::rule::{CommandMatcher, Layer};
use super::rules::{Guard, Watching};
use super::view::View;
use super::world::GuardHost;
use super::yaml::Node;
use crate::call::{Call, Field, Kind};

/// The keys of an observer.
pub const OBSERVER_KEYS: &[&str] = &["name", "writes", "watch"];

/// The keys of what it watches, beside those that say what a command is.
pub const WATCH_KEYS: &[&str] = &["tool", "pattern", "path", "cwd", "exit-code"];

/// Programs after which a name may stand for another program.
const RENAMES: &[&str] = &["alias", "hash", "enable", "shopt", "eval", "source", ".", "trap", "autoload", "zmodload"];

/// Programs that end a text before its last command.
const LEAVES: &[&str] = &["exit", "exec", "return", "logout", "break", "continue", "kill", "pkill", "killall"];

/// What `set` is told that changes neither what a name stands for nor which commands run.
const HARMLESS_SETS: &[&str] = &["-e", "-u", "-x", "-eu", "-ux", "-eux", "-euo", "-euxo", "-o", "pipefail", "errexit"];

/// How a call has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    Any,
    Success,
    Failure,
    Code(i32),
}

/// Something that is watched, and the events that it writes.
#[derive(Clone, Debug)]
pub(crate) struct Observer {
    name: Option<String>,
    /// The file.
    source: String,
    layer: Layer,
    writes: Vec<String>,
    /// What tools do, or their names; none for a shell, or with a path for the tools that write.
    tools: Vec<String>,
    what: CommandMatcher,
    /// Of a file tool tried on what it writes.
    pattern: Option<Pattern>,
    paths: Vec<Pattern>,
    cwd: Vec<Pattern>,
    exit: Exit,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code of its shell text, if the agent says it.
    pub exit_code: Option<i32>,
    /// Whether the agent counts it as failed.
    pub is_error: bool,
}

/// Reads `{name: N, writes: [E], watch: {..}}`.
pub(super) fn read(layer: Layer, index: usize, item: Node) -> Result<Observer, String> {
    let mut found = Observer {
        name: None,
        source: String::new(),
        layer,
        writes: Vec::new(),
        tools: Vec::new(),
        what: CommandMatcher::default(),
        pattern: None,
        paths: Vec::new(),
        cwd: Vec::new(),
        exit: Exit::Success,
    };
    let mut watches = false;
    for (key, value) in item.map(&format!("observers[{index}]"))? {
        match key.as_str() {
            "name" => found.name = Some(value.value.text(&key)?),
            "writes" | "event" => {
                for one in value.value.list() {
                    found.writes.push(written(layer, name(&key, one)?));
                }
            }
            "watch" => {
                watch(&mut found, value.value)?;
                watches = true;
            }
            other => return Err(unknown_key("an observer", other, OBSERVER_KEYS)),
        }
    }
    if found.writes.is_empty() {
        return Err("the observer has no `writes`".to_owned());
    }
    if !watches {
        return Err("the observer has no `watch`".to_owned());
    }
    found.what.shrink();
    Ok(found)
}

fn watch(found: &mut Observer, value: Node) -> Result<(), String> {
    for (key, value) in value.map("watch")? {
        match key.as_str() {
            "tool" => found.tools = value.value.texts(&key)?,
            "pattern" => found.pattern = Some(Pattern::new(&value.value.text(&key)?)?),
            "path" => found.paths = patterns(value.value, &key)?,
            "cwd" => found.cwd = patterns(value.value, &key)?,
            "exit-code" | "exitCode" => found.exit = exit(&value.value.text(&key)?)?,
            _ if read_what(&mut found.what, &key, value)? => {}
            other => return Err(unknown_key("watch", other, WATCH_KEYS)),
        }
    }
    let shell = found.tools.iter().filter(|tool| fields::is_shell(tool)).count();
    if !found.what.is_empty() && (shell < found.tools.len() || !found.paths.is_empty()) {
        return Err("conditions on commands cannot be combined with file tools: use two observers".to_owned());
    }
    if !found.paths.is_empty() && shell > 0 {
        return Err("a shell command has no path; use effects to match what it does to paths".to_owned());
    }
    if found.what.is_empty() && found.pattern.is_none() && found.paths.is_empty() && shell == found.tools.len() {
        return Err("watch is empty: give a program, a pattern, a path or another tool".to_owned());
    }
    Ok(())
}

fn exit(text: &str) -> Result<Exit, String> {
    match text {
        "any" => Ok(Exit::Any),
        "success" | "0" => Ok(Exit::Success),
        "failure" => Ok(Exit::Failure),
        code => code
            .parse()
            .map(Exit::Code)
            .map_err(|_| format!("exit-code is success, failure, any or a number, not {code}")),
    }
}

impl Observer {
    /// The same as that of a file.
    pub(super) fn of(self, source: &str) -> Self {
        Observer { source: source.to_owned(), ..self }
    }

    /// What a list shows of it.
    pub(super) fn watching(&self) -> Watching {
        let Observer { name, source, layer, writes, .. } = self;
        Watching { name: name.clone(), source: source.clone(), layer: *layer, writes: writes.clone() }
    }

    fn watches_shell(&self) -> bool {
        match self.tools.is_empty() {
            true => self.paths.is_empty(),
            false => self.tools.iter().any(|tool| fields::is_shell(tool)),
        }
    }

    /// Whether a call of a tool that is no shell is meant.
    fn watches_tool(&self, call: &Call) -> bool {
        let tool = match self.tools.is_empty() {
            true => !self.paths.is_empty() && call.kind == Kind::Write,
            false => self.tools.iter().any(|tool| fields::is(tool, call)),
        };
        let any = |patterns: &[Pattern], texts: &[String]| {
            patterns.iter().any(|pattern| texts.iter().any(|text| matches!(pattern.find(text), Tried::PathKind(_))))
        };
        let paths = || -> Vec<String> {
            let all = call.paths.iter().map(|field| absolute(&field.value, &call.cwd));
            let root = format!("{}/", call.workspace.trim_end_matches('/'));
            all.flat_map(|path| [path.strip_prefix(&root).map(str::to_owned), Some(path)]).flatten().collect()
        };
        let contents = || -> Vec<String> { call.contents.iter().map(|field| field.value.clone()).collect() };
        tool && (self.paths.is_empty() || any(&self.paths, &paths()))
            && (self.cwd.is_empty() || any(&self.cwd, std::slice::from_ref(&call.cwd)))
            && self.pattern.as_ref().is_none_or(|pattern| any(std::slice::from_ref(pattern), &contents()))
    }

    /// Whether a command is what is watched; an exemption's purpose is strict.
    fn fits(&self, subject: &MatchInput<'_>, source: &str, purpose: Purpose) -> bool {
        let command = subject.command;
        let loose = purpose == Purpose::Rule;
        let pattern = |pattern: &Pattern, text: &str| match loose {
            true => pattern.matches(text),
            false => matches!(pattern.find(text), Tried::PathKind(_)),
        };
        subject.check(&self.what, purpose).is_ok()
            && self.pattern.as_ref().is_none_or(|wanted| pattern(wanted, &View::of(command, source).text))
            && (self.cwd.is_empty()
                || command.cwd.as_ref().map_or(loose, |cwd| self.cwd.iter().any(|wanted| pattern(wanted, cwd))))
    }

    /// What is known of an event where the command ended with this code, `None` if that is not known; `None` for that it has
    /// not happened.
    fn certain(&self, code: Option<i32>, ran: bool) -> Option<bool> {
        match (self.exit, code) {
            (Exit::Any, _) => Some(ran),
            (_, None) => Some(false),
            (Exit::Success, Some(code)) => (code == 0).then_some(true),
            (Exit::Failure, Some(code)) => (code != 0).then_some(true),
            (Exit::Code(wanted), Some(code)) => (code == wanted).then_some(true),
        }
    }
}

/// A command that an observer watches.
#[derive(Debug)]
struct WatchedCommand<'a> {
    observer: &'a Observer,
    index: usize,
    span: Span,
    /// Whether it is certain that it is what is watched, if it runs.
    sure: bool,
    runs: Runs,
}

/// What observers see in a text.
#[derive(Debug)]
pub(crate) struct Witnessed<'a> {
    seen: Vec<WatchedCommand<'a>>,
    /// Where each command stands.
    spans: Vec<Span>,
    succession: Succession,
    /// Whether a command may end the text before its last one.
    leaves: bool,
}

impl<'a> Witnessed<'a> {
    fn of(observers: &'a [Observer], source: &str, script: &Script, subjects: &[MatchInput<'_>]) -> Self {
        let succession = Succession::of(source);
        let named = |names: &[&str]| {
            script.commands.iter().any(|command| {
                !command.words.is_empty() && command.program().is_none_or(|program| names.contains(&program))
            })
        };
        let renamed = succession.functions || named(RENAMES) || script.commands.iter().any(sets);
        let mut seen = Vec::new();
        for subject in subjects.iter().filter(|subject| subject.command.runs != Runs::Never) {
            let command = subject.command;
            for observer in observers.iter().filter(|observer| observer.watches_shell()) {
                if observer.fits(subject, source, Purpose::Rule) {
                    let sure = !renamed && plain(command) && observer.fits(subject, source, Purpose::Exemption);
                    let sure = sure && (observer.what.programs.is_empty() || !in_folder(command));
                    seen.push(WatchedCommand {
                        observer,
                        index: subject.index,
                        span: command.span,
                        sure,
                        runs: command.runs,
                    });
                }
            }
        }
        let spans = script.commands.iter().map(|command| command.span).collect();
        Witnessed { seen, spans, succession, leaves: named(LEAVES) }
    }

    /// What has happened in the text before a command runs.
    pub(crate) fn before(&self, index: usize) -> Vec<Entry> {
        let Some(place) = self.spans.get(index) else { return Vec::new() };
        let mut entries = Vec::new();
        for seen in self.seen.iter().filter(|seen| seen.index != index) {
            let well = seen.sure && self.succession.follows(seen.span, *place);
            if well || seen.index < index || !self.succession.in_order {
                entries.extend(seen.entries(well.then_some(0), well));
            }
        }
        entries
    }

    /// What has happened once the text has run.
    fn after(&self, outcome: Outcome) -> Vec<Entry> {
        let entries = self.seen.iter().flat_map(|seen| {
            let sure = seen.sure && !self.leaves;
            let code = outcome.exit_code.filter(|code| match code {
                0 => sure && self.succession.ended_well(seen.span),
                _ => sure && self.succession.only == Some(seen.span),
            });
            let ran = code.is_some() || sure && outcome.exit_code.is_some() && seen.runs == Runs::Certainly;
            seen.entries(code, ran)
        });
        entries.collect()
    }
}

impl WatchedCommand<'_> {
    fn entries(&self, code: Option<i32>, ran: bool) -> Vec<Entry> {
        let Some(certain) = self.observer.certain(code, ran) else { return Vec::new() };
        self.observer.writes.iter().map(|event| Entry { event: event.clone(), certain }).collect()
    }
}

/// Whether a command stands in the text itself, and nothing says that its name stands for something else.
fn plain(command: &Command) -> bool {
    let other = |name: &str| {
        matches!(name, "PATH" | "BASH_ENV" | "ENV") || name.starts_with("LD_") || name.starts_with("DYLD_")
    };
    command.via.is_empty()
        && !command.words.is_empty()
        && command.env.get("PATH").is_none()
        && !command.env.unset().any(other)
        && !command.env.iter().any(|(name, _)| other(name))
        && !command.assignments.iter().any(|(name, _)| other(name))
}

/// Whether a command is named with its folder, which may be any.
fn in_folder(command: &Command) -> bool {
    command.words.first().is_none_or(|word| word.known().is_none_or(|name| name.contains('/')))
}

/// Whether commands after it may not run, or be others.
fn sets(command: &Command) -> bool {
    let harmless = |word: &toolgate_shell::Word| word.known().is_some_and(|text| HARMLESS_SETS.contains(&text));
    // Another name for a variable, like `PATH`.
    let refers =
        |word: &toolgate_shell::Word| word.known().is_none_or(|text| text.starts_with('-') && text.contains('n'));
    match command.program() {
        Some("set" | "setopt" | "unsetopt" | "emulate") => !command.words.iter().skip(1).all(harmless),
        Some("declare" | "local" | "typeset") => command.words.iter().skip(1).any(refers),
        _ => false,
    }
}

impl Guard {
    /// What observers see in a text, if a rule asks for it.
    pub(super) fn witnessed<'a>(
        &'a self,
        call: &Call,
        field: &Field,
        script: &Script,
        subjects: &[MatchInput<'_>],
    ) -> Option<Witnessed<'a>> {
        // A patch is no text that runs.
        let needed = self.asks_for_events && !self.observers.is_empty() && call.kind != Kind::Write;
        needed.then(|| Witnessed::of(&self.observers, &field.value, script, subjects))
    }

    /// Whether a rule asks which events there are.
    pub fn asks_for_events(&self) -> bool {
        self.asks_for_events
    }

    /// The events that a call has written, which has run. Its contents have to be there.
    pub fn witness(&self, call: &Call, outcome: Outcome, world: &mut dyn GuardHost) -> Vec<Entry> {
        let mut entries = match (&call.command, call.kind) {
            (Some(command), kind) if kind != Kind::Write => self.ran(call, command, outcome, world),
            _ => Vec::new(),
        };
        if call.kind != Kind::Shell {
            for observer in self.observers.iter().filter(|observer| observer.watches_tool(call)) {
                // An edit that failed may have changed something.
                let code = outcome.exit_code.unwrap_or(i32::from(outcome.is_error));
                let certain = observer.certain(Some(code), true).or((code != 0).then_some(false));
                let written = observer.writes.iter().zip(certain.into_iter().cycle());
                entries.extend(written.map(|(event, certain)| Entry { event: event.clone(), certain }));
            }
        }
        // One of each is enough, and what is certain says more.
        let mut once: Vec<Entry> = Vec::new();
        for entry in entries {
            match once.iter_mut().find(|known| known.event == entry.event) {
                Some(known) => known.certain |= entry.certain,
                None => once.push(entry),
            }
        }
        once
    }

    fn ran(&self, call: &Call, command: &Field, outcome: Outcome, world: &mut dyn GuardHost) -> Vec<Entry> {
        let mut facts = Facts::new(&call.cwd);
        if let Some(home) = &call.home {
            facts = facts.home(home);
        }
        let look = world.look();
        if let Some(look) = &look {
            facts = facts.files(std::rc::Rc::new(VolatileFiles(std::rc::Rc::clone(look))));
        }
        let script = parse(&command.value, &facts);
        let (map, real) = (Map::new(&call.workspace, call.home.as_deref()), std::cell::OnceCell::new());
        let scene = ScriptContext::new(&script, self, &map, call.home.as_deref(), look.as_deref(), &real);
        let subjects: Vec<MatchInput<'_>> = scene.subjects().collect();
        Witnessed::of(&self.observers, &command.value, &script, &subjects).after(outcome)
    }
}
