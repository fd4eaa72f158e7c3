//! What observers see in a text and in a call: the events of the session.
//!
//! An event lifts rules, so what an observer sees has happened only where that is certain: the command stands in the text
//! itself, is the program of that name, and by the text's structure ended well where another one runs, or if the call did.
//! Everything else that fits has happened perhaps.

use std::rc::Rc;

use toolgate_shell::{Command, Facts, FileOracle, Runs, Script, Span, Succession, parse};

use super::declared::Declared;
use super::events::Entry;
use super::matching::{MatchInput, Purpose, ScriptContext};
use super::observer::Observer;
use super::path_zone::Map;
use super::pattern::{Pattern, Tried};
use super::rules::Guard;
use super::view::View;
use super::world::{GuardHost, VolatileFiles};
use crate::call::{Call, Field, ToolKind};

/// Programs after which a name may stand for another program.
const RENAMES: &[&str] = &["alias", "hash", "enable", "shopt", "eval", "source", ".", "trap", "autoload", "zmodload"];

/// Programs that end a text before its last command.
const LEAVES: &[&str] = &["exit", "exec", "return", "logout", "break", "continue", "kill", "pkill", "killall"];

/// What `set` is told that changes neither what a name stands for nor which commands run.
const HARMLESS_SETS: &[&str] = &["-e", "-u", "-x", "-eu", "-ux", "-eux", "-euo", "-euxo", "-o", "pipefail", "errexit"];

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code of its shell text, if the agent says it.
    pub exit_code: Option<i32>,
    /// Whether the agent counts it as failed.
    pub is_error: bool,
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
                if fits(observer, subject, source, Purpose::Rule) {
                    let sure = !renamed && plain(command) && fits(observer, subject, source, Purpose::Exemption);
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

/// Whether a command is what an observer watches; an exemption's purpose is strict.
fn fits(observer: &Observer, subject: &MatchInput<'_>, source: &str, purpose: Purpose) -> bool {
    let command = subject.command;
    let loose = purpose == Purpose::Rule;
    let pattern = |pattern: &Pattern, text: &str| match loose {
        true => pattern.matches(text),
        false => matches!(pattern.find(text), Tried::Found(_)),
    };
    subject.check(&observer.what, purpose).is_ok()
        && observer.pattern.as_ref().is_none_or(|wanted| pattern(wanted, &View::of(command, source).text))
        && (observer.cwd.is_empty()
            || command.cwd.as_ref().map_or(loose, |cwd| observer.cwd.iter().any(|wanted| pattern(wanted, cwd))))
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
        let needed = self.asks_for_events && !self.observers.is_empty() && call.kind != ToolKind::Write;
        needed.then(|| Witnessed::of(&self.observers, &field.value, script, subjects))
    }

    /// The events that a call has written, which has run. Its contents have to be there.
    pub fn witness(&self, call: &Call, outcome: Outcome, world: &mut dyn GuardHost) -> Vec<Entry> {
        let mut entries = match (&call.command, call.kind) {
            (Some(command), kind) if kind != ToolKind::Write => self.ran(call, command, outcome, world),
            _ => Vec::new(),
        };
        entries.extend(self.declared_events(call, world));
        if call.kind != ToolKind::Shell {
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
        let look = world.look();
        let script = parse(&command.value, &facts(call, look.as_ref()));
        self.seen(call, &command.value, &script, look.as_deref()).after(outcome)
    }

    /// The same of what a tool does that is said as data. No text shows that it did so.
    fn declared_events(&self, call: &Call, world: &mut dyn GuardHost) -> Vec<Entry> {
        let look = world.look();
        let Some(declared) = Declared::of(&call.effects, &facts(call, look.as_ref())) else { return Vec::new() };
        let witnessed = self.seen(call, "", &declared.script, look.as_deref());
        witnessed.seen.iter().flat_map(|seen| seen.entries(None, false)).collect()
    }

    fn seen(&self, call: &Call, text: &str, script: &Script, look: Option<&dyn FileOracle>) -> Witnessed<'_> {
        let (map, real) = (Map::new(&call.workspace, call.home.as_deref()), std::cell::OnceCell::new());
        let scene = ScriptContext::new(script, self.tables(), &map, call.home.as_deref(), look, &real);
        let subjects: Vec<MatchInput<'_>> = scene.subjects().collect();
        Witnessed::of(&self.observers, text, script, &subjects)
    }
}

/// What is known of the place of a call that has run.
fn facts(call: &Call, look: Option<&Rc<dyn FileOracle>>) -> Facts {
    let mut facts = Facts::new(&call.cwd);
    if let Some(home) = &call.home {
        facts = facts.home(home);
    }
    match look {
        Some(look) => facts.files(Rc::new(VolatileFiles::new(Rc::clone(look)))),
        None => facts,
    }
}
