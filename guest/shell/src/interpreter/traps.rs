//! What the shell runs by itself: at its end, after a command that failed, when a signal comes.

use std::collections::HashSet;
use std::rc::Rc;

use super::Interpreter;
use super::state::{Handler, ShellState, TrapSnapshot};
use crate::abstract_value::Variable;
use toolgate_shell_syntax::word::{Value, Why, Word, is_name};

/// The names of the end of a shell as a signal.
const AT_EXIT: &[&str] = &["EXIT", "exit", "0", "SIGEXIT"];

/// Signals that come between the commands of the shell itself, and not from outside.
const OWN: &[&str] = &["DEBUG", "ERR", "RETURN"];

/// How often what signals run is run in all, each time that something it may depend on has changed.
const MAX_INTERRUPTIONS: usize = 64;

/// How many texts one signal may run.
const MAX_TRAPS: usize = 16;

/// What it is found through.
const VIA: &str = "trap";

/// A signal by one name, however it is written; the numbers stay.
fn signal_name(name: &str) -> String {
    let name = name.to_ascii_uppercase();
    name.strip_prefix("SIG").map_or(name.clone(), str::to_owned)
}

impl Interpreter<'_> {
    /// `trap - EXIT` and `trap EXIT`: whether it was that.
    pub(super) fn clears_trap(&mut self, words: &[Word], state: &mut ShellState) -> bool {
        let texts: Option<Vec<&str>> = words.iter().skip(1).map(Word::known).collect();
        let texts: Vec<&str> = texts.unwrap_or_default().into_iter().filter(|text| *text != "--").collect();
        let signals = match texts.as_slice() {
            ["-", signals @ ..] => signals,
            [only] if !only.starts_with('-') => std::slice::from_ref(only),
            _ => return false,
        };
        // It may have come before.
        self.interrupt(state, true);
        if signals.iter().any(|signal| AT_EXIT.contains(signal)) {
            state.set_trap(None);
        }
        let cleared: Vec<String> = signals.iter().map(|signal| signal_name(signal)).collect();
        if state.handlers.iter().any(|handler| cleared.contains(&handler.signal)) {
            state.handlers.to_mut().retain(|handler| !cleared.contains(&handler.signal));
        }
        true
    }

    /// `trap TEXT SIGNAL..`
    pub(super) fn trap(&mut self, text: &Word, signals: &[Word], state: &mut ShellState) {
        if state.never || self.listed_only {
            let own = state.clone();
            self.doubting(true, |interpreter| {
                interpreter.text(text, |interpreter, list| drop(interpreter.shell(list, own)));
            });
            return;
        }
        self.interrupt(state, true);
        let clear = text.known().is_some_and(|text| text.is_empty() || text == "-");
        for signal in signals {
            match signal.known() {
                Some(name) if AT_EXIT.contains(&name) => {
                    // One that a branch set before may stand beside it, and what is set again and again is not one.
                    if state.traps().len() > MAX_TRAPS {
                        self.fail("the shell may run too many exit traps");
                    }
                    state.set_trap(Some(text.clone()).filter(|_| !clear));
                    continue;
                }
                Some(_) => {}
                None => {
                    let other = state.traps();
                    state.set_trap(Some(text.clone()));
                    state.or_traps(other);
                }
            }
            // Of those that are not known each stands for itself.
            let name = signal.known().map_or_else(|| format!("{} {:?}", signal.text(), text.span), signal_name);
            let handlers = state.handlers.to_mut();
            handlers.retain(|handler| handler.signal != name);
            if !clear {
                handlers.push(Handler { signal: name, text: text.clone() });
            }
            if handlers.len() > MAX_TRAPS * 4 {
                self.fail("too many signal traps may run");
            }
        }
        state.trap_snapshot = None;
    }

    /// Runs what a signal may have the shell run between two commands, if it may do something else than before. One from
    /// outside is expected only once the variables that the text expands have values, or at the `last` opportunity.
    pub(super) fn interrupt(&mut self, state: &mut ShellState, last: bool) {
        let idle = state.handlers.is_empty() || state.never || self.listing_suppressed > 0 || self.listed_only;
        // What was set just now is run however often others were.
        let many = self.used.interruptions >= MAX_INTERRUPTIONS && state.trap_snapshot.is_some();
        if idle || self.handling || many && !last {
            return;
        }
        // Each text, and whether it is expected at any time.
        let mut texts: Vec<(Word, bool)> = Vec::new();
        for handler in state.handlers.iter() {
            let own = OWN.contains(&&*handler.signal);
            match texts.iter_mut().find(|(text, _)| *text == handler.text) {
                Some((_, any)) => *any |= own,
                None => texts.push((handler.text.clone(), own)),
            }
        }
        let due: Vec<bool> = match &state.trap_snapshot {
            Some(snapshot) if snapshot.ran && state.is_handled(snapshot) => return,
            Some(snapshot) if !snapshot.ran && last => vec![true; texts.len()],
            Some(snapshot) => match state.changed_since(snapshot) {
                Some(names) => texts.iter().map(|(text, _)| self.mentions(text, state, &names)).collect(),
                None if snapshot.ran => vec![true; texts.len()],
                None => texts.iter().map(|(text, own)| *own || last || self.waited(text, state).is_empty()).collect(),
            },
            None => texts.iter().map(|(text, own)| *own || last || self.waited(text, state).is_empty()).collect(),
        };
        let first = state.trap_snapshot.is_none();
        let ran = state.trap_snapshot.as_ref().is_some_and(|snapshot| snapshot.ran) || due.iter().any(|due| *due);
        state.trap_snapshot = Some(Rc::new(TrapSnapshot::of(state, ran)));
        let (guarded, joiner) = (std::mem::take(&mut self.guarded), self.joiner);
        self.handling = true;
        for ((text, _), due) in texts.iter().zip(due) {
            if !due && first {
                self.run_early(text, state);
            }
            if due {
                self.used.interruptions += 1;
                let mut after = None;
                self.doubting(true, |interpreter| {
                    interpreter.inside(VIA, |interpreter| {
                        interpreter.text(text, |interpreter, list| {
                            after = Some(interpreter.list(list, state.clone()).join(interpreter));
                        });
                    });
                });
                if let Some(after) = after {
                    let stamp = self.change();
                    let status = state.status;
                    *state = state.clone().merge(after, stamp);
                    state.status = status;
                }
            }
        }
        self.handling = false;
        // What it changed itself is no reason to run it again.
        state.trap_snapshot = Some(Rc::new(TrapSnapshot::of(state, ran)));
        (self.guarded, self.joiner) = (guarded, joiner);
    }

    /// Whether what a text runs may depend on any of these variables.
    fn mentions(&self, text: &Word, state: &ShellState, names: &[String]) -> bool {
        self.texts_of(text, state).is_none_or(|texts| {
            texts.iter().any(|text| {
                let tilde = names.iter().any(|name| name == "HOME") && text.contains('~');
                let indirect = ["${!", "eval", "source", ". ", "cd"].iter().any(|mark| text.contains(mark));
                tilde || indirect || names.iter().any(|name| text.contains(name.as_str()))
            })
        })
    }

    /// The variables that a text expands and of which nothing was said yet.
    fn waited(&self, text: &Word, state: &ShellState) -> Vec<String> {
        let Some(texts) = self.texts_of(text, state) else { return Vec::new() };
        let mut names = Vec::new();
        for text in texts {
            let sets = set_in(text);
            for (at, _) in text.match_indices('$') {
                let rest = text.get(at + 1..).unwrap_or_default();
                let rest = rest.strip_prefix('{').unwrap_or(rest);
                let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
                let name = rest.get(..end).unwrap_or_default();
                if is_name(name)
                    && state.get(name).is_none()
                    && !super::parameter::is_shells(name)
                    && !sets.contains(name)
                {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }

    /// Runs a text that waits for variables as if they had a value that does no harm: what it does all the same, it does
    /// whatever comes of them.
    fn run_early(&mut self, text: &Word, state: &ShellState) {
        let mut own = state.clone();
        for name in self.waited(text, state) {
            let value = Value::Unknown { why: Why::Temporary, shape: format!("/tmp/tmp.{}", Value::HOLE) };
            let stamp = self.change();
            own.put(&name, Variable::text(value, None), stamp);
        }
        self.doubting(true, |interpreter| {
            interpreter.inside(VIA, |interpreter| {
                interpreter.text(text, |interpreter, list| drop(interpreter.shell(list, own)));
            });
        });
    }

    /// A text, and the bodies of the functions that it may call. None if not all are known.
    fn texts_of<'t>(&'t self, text: &'t Word, state: &ShellState) -> Option<Vec<&'t str>> {
        if state.has_many_functions() {
            return None;
        }
        let mut open = vec![text.known()?];
        let (mut texts, mut functions) = (Vec::new(), Vec::new());
        while let Some(text) = open.pop() {
            texts.push(text);
            for (name, function) in state.functions_in(text) {
                if functions.contains(&name) {
                    continue;
                }
                functions.push(name);
                for body in &function.bodies {
                    // Of a text inside the text the source is not at hand.
                    let body = self.source.get(body.span.start..body.span.end)?;
                    open.push(body.starts_with(['{', '(']).then_some(body)?);
                }
            }
        }
        Some(texts)
    }

    /// Runs what the shell has been told to run at its end; `doubtful` if it may end without having been told.
    pub(super) fn at_exit(&mut self, mut end: ShellState, frame: usize, doubtful: bool) -> ShellState {
        if !end.has_traps() {
            end.traps = None;
            return end;
        }
        let traps = end.traps();
        end.traps = None;
        let before = end.clone();
        let mut after = None;
        for trap in &traps {
            let mut ran = before.clone();
            if let Some(text) = trap {
                self.doubting(doubtful || traps.len() > 1, |interpreter| {
                    interpreter.inside(VIA, |interpreter| {
                        interpreter.text(text, |interpreter, list| {
                            ran = interpreter.list(list, ran.clone()).join(interpreter);
                        });
                    });
                });
            }
            after = self.either(after, Some(ran));
        }
        let left = self.left(frame);
        self.either(after, left).unwrap_or(end)
    }
}

/// The names in a text that are not only expanded there.
fn set_in(text: &str) -> HashSet<&str> {
    let mut names = HashSet::new();
    let mut before = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
        let length = if is_part(c) { rest.find(|c| !is_part(c)).unwrap_or(rest.len()) } else { c.len_utf8() };
        let (word, after) = rest.split_at(length);
        if is_part(c) && !matches!(before, Some('$' | '{')) {
            names.insert(word);
        }
        (before, rest) = (word.chars().next_back(), after);
    }
    names
}
