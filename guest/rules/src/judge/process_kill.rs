//! Whether a text ends the processes that answer hooks: an agent takes a hook that was ended for one that had nothing to
//! say, and runs the call.
//!
//! They are found by name or by an expression, which is tried on what such a process looks like. What finds the agent as
//! well ends the call with it, and is no way around the gate.

use rustc_hash::FxHashMap;
use toolgate_shell::{Command, Runs, Value};

use super::{Evaluation, evidence};
use crate::call::Field;
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::pattern::{Pattern, Tried};
use crate::world::GuardHost;

/// Agents that call the gate by a hook.
const AGENTS: &[&str] = &["claude", "codex", "copilot", "cursor", "droid", "gemini"];

/// Programs that find processes and end them, and programs that only find them.
const ENDERS: &[&str] = &["pkill", "killall", "skill"];
const FINDERS: &[&str] = &["pgrep", "pidof", "ps"];

/// A process as it is searched for.
struct Process<'a> {
    name: &'a str,
    line: &'a str,
}

/// One step of a search.
#[derive(Default, PartialEq, Eq, Hash)]
struct Filter {
    /// One of these has to match.
    expressions: Vec<String>,
    /// They are tried on the whole command line.
    on_line: bool,
    /// They are no expressions, but texts.
    fixed: bool,
    /// All of what they are tried on has to match.
    whole: bool,
    folds: bool,
    /// What does not match is selected.
    inverse: bool,
}

/// The same with its expressions read.
struct Ready<'f> {
    filter: &'f Filter,
    /// None for a text.
    patterns: Vec<(&'f str, Option<Pattern>)>,
}

impl<'f> Ready<'f> {
    fn of(filter: &'f Filter) -> Self {
        let (start, end) = if filter.whole { ("^(?:", ")$") } else { ("", "") };
        let folds = if filter.folds { "(?i)" } else { "" };
        let read = |expression: &str| match filter.fixed {
            true => None,
            // What is no expression here is a text in most of the others.
            false => Pattern::new(&format!("{folds}{start}{expression}{end}")).ok(),
        };
        let patterns = filter.expressions.iter().map(|expression| (expression.as_str(), read(expression)));
        Ready { filter, patterns: patterns.collect() }
    }

    fn selects(&self, process: &Process<'_>) -> bool {
        let text = if self.filter.on_line { process.line } else { process.name };
        let matches = |(expression, pattern): &(&str, Option<Pattern>)| match pattern {
            Some(pattern) => pattern.find(text) != Tried::No,
            None if self.filter.fixed && self.filter.whole => *expression == text,
            None => text.contains(expression),
        };
        self.patterns.iter().any(matches) != self.filter.inverse
    }
}

/// Whether there is an agent whose hook all of these select, and which itself they do not.
fn finds_hook(filters: &[Filter]) -> bool {
    let filters: Vec<Ready<'_>> = filters.iter().map(Ready::of).collect();
    let selected = |name: &str, line: &str| filters.iter().all(|filter| filter.selects(&Process { name, line }));
    let ends = |agent: &&str| {
        let hook = |program: &str| selected("toolgate", &format!("{program} hook {agent}"));
        (hook("toolgate") || hook("/usr/local/bin/toolgate")) && !selected(agent, agent)
    };
    !filters.is_empty() && AGENTS.iter().any(ends)
}

/// What a command is given, as far as it is certain.
fn words(command: &Command) -> impl Iterator<Item = &str> {
    let certain = |value: &Value| !matches!(value, Value::Unknown { .. });
    command.words.iter().skip(1).map(|word| &word.value).filter(move |value| certain(value)).map(Value::text)
}

/// Whether an option is given, by its letter or its long name, which may be cut short. A word with any other letter is the name of
/// a signal.
fn has(command: &Command, letters: &str, letter: char, long: &str) -> bool {
    words(command).any(|word| match word.strip_prefix('-') {
        Some(long_one) if long_one.starts_with('-') => {
            long_one.get(1..).is_some_and(|name| !name.is_empty() && long.starts_with(name))
        }
        Some(cluster) => cluster.contains(letter) && cluster.chars().all(|one| letters.contains(one)),
        None => false,
    })
}

/// What a program that finds processes goes by. A word that is an option's value is tried like any other.
fn found_by(command: &Command, program: &str) -> Option<Filter> {
    let expressions = words(command).filter(|word| !word.starts_with('-')).map(str::to_owned).collect();
    let given = |letters: &str, letter: char, long: &str| has(command, letters, letter, long);
    let letters = "acfilnovwx";
    let filter = match program {
        "pkill" | "pgrep" => Filter {
            expressions,
            on_line: given(letters, 'f', "full"),
            whole: given(letters, 'x', "exact"),
            folds: given(letters, 'i', "ignore-case"),
            inverse: given(letters, 'v', "inverse"),
            ..Filter::default()
        },
        "killall" => {
            let letters = "egIiqrvw";
            let fixed = !given(letters, 'r', "regexp");
            Filter { expressions, fixed, whole: fixed, folds: given(letters, 'I', "ignore-case"), ..Filter::default() }
        }
        "pidof" | "skill" => Filter { expressions, fixed: true, whole: true, ..Filter::default() },
        _ => return None,
    };
    (!filter.expressions.is_empty()).then_some(filter)
}

/// What a program selects of the lines that it reads.
fn selected_by(command: &Command, program: &str) -> Option<Filter> {
    let given = |letter: char, long: &str| has(command, "acEFGhHilLnoPqrRsvwxyz", letter, long);
    let expressions: Vec<String> = match program {
        "grep" | "egrep" | "fgrep" | "rg" | "ag" => {
            let own = words(command).filter_map(|word| match word.strip_prefix('-') {
                None => Some(word),
                Some(option) => option.strip_prefix('e').or_else(|| option.strip_prefix("-regexp=")),
            });
            let basic = program == "grep" && !given('E', "extended-regexp") && !given('P', "perl-regexp");
            own.map(|own| if basic { extended(own) } else { own.to_owned() }).collect()
        }
        "awk" | "gawk" | "mawk" | "nawk" | "sed" => {
            let text = words(command).find(|word| !word.starts_with('-'))?;
            let between = |quote: char| text.split(quote).skip(1).step_by(2).map(str::to_owned);
            between('/').chain(between('"').filter(|_| text.contains(['~', '=']) || text.contains("index("))).collect()
        }
        _ => return None,
    };
    let searches = !matches!(program, "awk" | "gawk" | "mawk" | "nawk" | "sed");
    let inverse = match searches {
        true => given('v', "invert-match"),
        false => words(command).any(|word| word.contains("!/") || word.contains("!~") || word.contains("/!")),
    };
    let fixed = program == "fgrep" || searches && given('F', "fixed-strings");
    let filter = Filter {
        expressions,
        on_line: true,
        fixed,
        whole: searches && given('x', "line-regexp"),
        folds: searches && given('i', "ignore-case"),
        inverse,
    };
    (!filter.expressions.is_empty()).then_some(filter)
}

/// A basic expression as an extended one.
fn extended(basic: &str) -> String {
    const SPECIAL: &[char] = &['(', ')', '{', '}', '|', '+', '?'];
    let mut found = String::new();
    let mut rest = basic.chars();
    while let Some(next) = rest.next() {
        let escaped = if next == '\\' { rest.next() } else { None };
        match escaped {
            Some(escaped) if SPECIAL.contains(&escaped) => found.push(escaped),
            None if SPECIAL.contains(&next) => found.extend(['\\', next]),
            escaped => found.extend(std::iter::once(next).chain(escaped)),
        }
    }
    found
}

/// Whether it ends processes whose numbers it is not told in the text.
fn ends_what_is_found(command: &Command) -> bool {
    let unknown = || command.words.iter().skip(1).any(|word| matches!(word.value, Value::Unknown { .. }));
    let from_list = || command.via.iter().any(|via| via == "xargs" || via == "parallel");
    matches!(command.program(), Some("kill" | "skill")) && (unknown() || from_list())
}

impl Evaluation<'_> {
    /// A search for processes that finds those which answer hooks, and ends them.
    pub(super) fn ended(&mut self, subjects: &[MatchInput<'_>], field: &Field, world: &mut dyn GuardHost) {
        let running = || subjects.iter().filter(|subject| subject.command.runs != Runs::Never);
        let ends =
            |subject: &MatchInput<'_>| subject.command.program().is_some_and(|program| ENDERS.contains(&program));
        let finds =
            |subject: &MatchInput<'_>| subject.command.program().is_some_and(|program| FINDERS.contains(&program));
        let found_end = running().any(|subject| ends_what_is_found(subject.command));
        // Reading expressions takes its time.
        let mut known: FxHashMap<Vec<Filter>, bool> = FxHashMap::default();
        for subject in running().filter(|subject| ends(subject) || found_end && finds(subject)) {
            let command = subject.command;
            let Some(program) = command.program() else { continue };
            let mut filters: Vec<Filter> = found_by(command, program).into_iter().collect();
            if program == "ps" || program == "pgrep" && (has(command, "acfilnovwx", 'a', "list-full")) {
                let (_, after) = subject.pipeline();
                filters.extend(after.iter().filter_map(|next| selected_by(next, next.program()?)));
            }
            if *known.entry(filters).or_insert_with_key(|filters| finds_hook(filters)) {
                let evidence = vec![evidence(field, command.span)];
                self.coded_on(NativeRule::StopFitting, subject, &field.value, world, evidence);
            }
        }
    }
}
