//! What may be one thing or another is run as each: variables that branches or loops left with several values, elements
//! of an array by an index that is not known, `echo`, which reads backslashes in some shells, and what zsh reads
//! otherwise than bash. Not how variables come to have several values, which is what joining states makes of them.

use std::rc::Rc;

use super::Interpreter;
use super::control_exits::ControlExits;
use super::node_id::NodeId;
use super::state::ShellState;
use crate::abstract_value::{Arguments, Content, Variable};
use toolgate_shell_syntax::syntax::{
    Assigned, Assignment, Element, Index, List, Node, NodeKind, Operation, Parameter, Part,
};
use toolgate_shell_syntax::syntax::{Pipeline, Redirect, Target, Test, Word};
use toolgate_shell_syntax::word::{Span, Value, Why, is_name};

/// How often a pipeline is run with other values, those around it counted in. With more the values are unknown to it.
const MAX_WAYS: usize = 32;

/// How often one pipeline is run with other values in all, as loops and functions come to some again and again. After that
/// they are unknown to it.
const MAX_RUNS: usize = 64;

/// How often pipelines are run with other values in the whole text. After that values are unknown to each.
const MAX_RUNS_IN_ALL: usize = 2_000;

/// The arguments as a name: those of all parameters that stand for one or more of them.
const ARGUMENTS: &str = "@";

/// The value of something in one of its alternatives.
#[derive(Clone)]
enum AlternativeValue {
    Variable(Variable),
    Arguments(Arguments),
}

impl AlternativeValue {
    fn put_into(self, name: &str, state: &mut ShellState, stamp: u64) {
        match self {
            AlternativeValue::Variable(variable) => state.put(name, variable, stamp),
            AlternativeValue::Arguments(arguments) => state.arguments = arguments,
        }
    }
}

impl Interpreter<'_> {
    /// Runs a pipeline, with each value that what it expands may have.
    pub(super) fn pipeline(&mut self, pipeline: &Pipeline, mut state: ShellState) -> ControlExits {
        self.interrupt(&mut state, false);
        // In loops around loops the rounds that only find out what changes are many, and assignments are cheap.
        let runs = !state.never && !self.listed_only && (self.listing_suppressed <= 1 || only_assigns(pipeline));
        let place = NodeId::of(pipeline, pipeline.commands.first().map(|node| node.span));
        let mut hidden = Vec::new();
        while let Some(name) = open_name(pipeline, &state).filter(|_| runs) {
            let ways = self.ways_of(&name, place, self.ways, &state);
            if ways.is_empty() {
                hidden.extend(self.hide(&name, &mut state));
                continue;
            }
            let outer = self.ways;
            self.ways *= ways.len();
            let ends = self.each_way(&state, &ways, |interpreter, way, mut own| {
                way.clone().put_into(&name, &mut own, interpreter.change());
                interpreter.pipeline(pipeline, own)
            });
            self.ways = outer;
            return self.shown(hidden, ends);
        }
        let ends = if runs && self.dialect.may_yet_be_zsh() && super::zsh::differs_in_zsh(pipeline, &state) {
            let ends = self.each_way(&state, &[false, true], |interpreter, zsh, own| {
                interpreter.dialect.zsh = Some(*zsh);
                interpreter.pipeline(pipeline, own)
            });
            self.dialect.zsh = None;
            ends
        } else if runs && self.dialect.backslashes.is_none() && uses_echo(pipeline, &state) {
            let ends = self.each_way(&state, &[false, true], |interpreter, reads, own| {
                interpreter.dialect.backslashes = Some(*reads);
                interpreter.pipeline_as_it_is(pipeline, own)
            });
            self.dialect.backslashes = None;
            ends
        } else {
            self.pipeline_as_it_is(pipeline, state)
        };
        self.shown(hidden, ends)
    }

    /// The ways that a name is open, if `times` as many are not too many to be followed.
    fn ways_of(&mut self, name: &str, place: NodeId, times: usize, state: &ShellState) -> Vec<AlternativeValue> {
        let ways: Vec<AlternativeValue> = match (name, &state.arguments, state.get(name)) {
            (ARGUMENTS, Arguments::OneOf(each), _) => each.iter().cloned().map(AlternativeValue::Arguments).collect(),
            (_, _, Some(variable)) => {
                let contents = match &variable.content {
                    Content::OneOf(contents) => contents.to_vec(),
                    Content::Array(values) => each_element(values),
                    _ => Vec::new(),
                };
                let with = |content| AlternativeValue::Variable(Variable { content, ..variable.clone() });
                contents.into_iter().map(with).collect()
            }
            _ => Vec::new(),
        };
        if self.listing_suppressed > 0 {
            return if times * ways.len() <= MAX_WAYS { ways } else { Vec::new() };
        }
        let runs = self.runs_of.entry(place).or_default();
        let many = *runs + ways.len() > MAX_RUNS || self.used.forks + ways.len() > MAX_RUNS_IN_ALL;
        if times * ways.len() > MAX_WAYS || many {
            return Vec::new();
        }
        *runs += ways.len();
        self.used.forks += ways.len();
        ways
    }

    /// Makes unknown what is open in more ways than are followed, and says what it was.
    fn hide(&mut self, name: &str, state: &mut ShellState) -> Option<DroppedAlternatives> {
        let stamp = self.change();
        if name == ARGUMENTS {
            let was = std::mem::replace(&mut state.arguments, Arguments::Unknown);
            return Some(DroppedAlternatives { name: name.to_owned(), was: AlternativeValue::Arguments(was) });
        }
        let was = state.get(name)?.clone();
        let content = Content::Unknown(Why::Values(name.to_owned()));
        state.put(name, Variable { content, ..was.clone() }, stamp);
        Some(DroppedAlternatives { name: name.to_owned(), was: AlternativeValue::Variable(was) })
    }

    /// Brings back what was only unknown to the pipeline.
    fn shown(&mut self, hidden: Vec<DroppedAlternatives>, ends: ControlExits) -> ControlExits {
        if hidden.is_empty() {
            return ends;
        }
        ends.each(self, |state, stamp| hidden.iter().for_each(|hidden| hidden.show(state, stamp)))
    }

    /// The words that a loop goes through. Of those that depend on what has several values it may be any.
    pub(super) fn items(&mut self, words: Option<&[Word]>, place: NodeId, state: &mut ShellState) -> Vec<super::Word> {
        let mut open = vec![(state.clone(), Vec::new())];
        let mut settled = Vec::new();
        while let Some((mut state, mut hidden)) = open.pop() {
            let seeker = Seeker { state: &state };
            let name = match words {
                Some(words) => seeker.words(words),
                None => seeker.name(ARGUMENTS),
            };
            let Some(name) = name.filter(|_| !state.never && self.listing_suppressed <= 1) else {
                settled.push((state, hidden));
                continue;
            };
            let others = open.len() + settled.len();
            let ways = self.ways_of(&name, place, self.ways, &state);
            if ways.is_empty() || self.ways * (others + ways.len()) > MAX_WAYS {
                hidden.extend(self.hide(&name, &mut state));
                open.push((state, hidden));
                continue;
            }
            for way in ways.into_iter().rev() {
                let mut own = state.clone();
                way.put_into(&name, &mut own, self.change());
                open.push((own, hidden.clone()));
            }
        }
        let several = settled.len() > 1;
        let mut items: Vec<super::Word> = Vec::new();
        let mut end = None;
        for (mut own, hidden) in settled {
            for mut item in self.items_of(words, &mut own) {
                item.several |= several;
                if !several || !items.contains(&item) {
                    items.push(item);
                }
            }
            let stamp = self.change();
            hidden.iter().for_each(|hidden| hidden.show(&mut own, stamp));
            end = self.either(end, Some(own));
        }
        if let Some(end) = end {
            *state = end;
        }
        items
    }

    /// These words, or the arguments.
    fn items_of(&mut self, words: Option<&[Word]>, state: &mut ShellState) -> Vec<super::Word> {
        let span = Span::default();
        match (words, state.arguments.known()) {
            (Some(words), _) => words.iter().flat_map(|word| self.words(word, state)).collect(),
            (None, Some(arguments)) => {
                arguments.iter().skip(1).map(|value| super::arguments::item(value, span)).collect()
            }
            (None, None) => vec![super::Word { several: true, ..super::Word::unknown(Why::Expansion, span) }],
        }
    }

    /// Runs it in each of at least one way.
    fn each_way<T>(
        &mut self,
        state: &ShellState,
        ways: &[T],
        mut run: impl FnMut(&mut Self, &T, ShellState) -> ControlExits,
    ) -> ControlExits {
        let joiner = self.joiner;
        let mut all: Option<ControlExits> = None;
        for way in ways {
            self.joiner = joiner;
            let ends = self.doubting(true, |interpreter| run(interpreter, way, state.clone()));
            all = Some(match all {
                Some(all) => all.or(ends, self),
                None => ends,
            });
        }
        all.unwrap_or_else(|| ControlExits::of(state.clone()))
    }
}

/// A name with more alternatives than are followed, which were dropped.
#[derive(Clone)]
struct DroppedAlternatives {
    name: String,
    was: AlternativeValue,
}

impl DroppedAlternatives {
    /// Brings it back where it was only hidden.
    fn show(&self, state: &mut ShellState, stamp: u64) {
        let hidden = match &self.was {
            AlternativeValue::Arguments(_) => state.arguments == Arguments::Unknown,
            AlternativeValue::Variable(_) => state.get(&self.name).is_some_and(
                |variable| matches!(&variable.content, Content::Unknown(Why::Values(name)) if *name == self.name),
            ),
        };
        if hidden {
            self.was.clone().put_into(&self.name, state, stamp);
        }
    }
}

/// An array in which every index leads to the same element, for each of its elements.
fn each_element(values: &[Value]) -> Vec<Content> {
    let mut each: Vec<&Value> = Vec::new();
    for value in values {
        if !each.contains(&value) {
            each.push(value);
        }
    }
    each.into_iter().map(|value| Content::Array(Rc::new(vec![value.clone(); values.len()]))).collect()
}

/// A variable with several values that a pipeline expands before anything in it runs.
fn open_name(pipeline: &Pipeline, state: &ShellState) -> Option<String> {
    let seeker = Seeker { state };
    pipeline.commands.iter().find_map(|node| seeker.node(node))
}

/// Whether it joins arguments or elements with what `IFS` says: `"$*"`, `"${a[*]}"`.
fn joins(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Double(parts) => joins(parts),
        Part::Parameter(parameter) => parameter.name == "*" || matches!(parameter.index, Some(Index::Joined)),
        _ => false,
    })
}

fn only_assigns(pipeline: &Pipeline) -> bool {
    let assigns = |node: &Node| matches!(&node.kind, NodeKind::Simple { words, .. } if words.is_empty());
    pipeline.commands.iter().all(assigns)
}

/// Whether what comes of a pipeline depends on how `echo` reads backslashes: it is piped on, or put into a word.
fn uses_echo(pipeline: &Pipeline, state: &ShellState) -> bool {
    let several = pipeline.commands.len() > 1;
    pipeline.commands.iter().any(|node| {
        let NodeKind::Simple { assignments, words } = &node.kind else { return false };
        let scalars = assignments.iter().filter_map(|assignment| match &assignment.value {
            Assigned::Scalar(word) => Some(word),
            Assigned::Array(_) => None,
        });
        several && echoes_backslashes(words, state)
            || words.iter().chain(scalars).any(|word| has_echo(&word.parts, state))
    })
}

fn echoes_backslashes(words: &[Word], state: &ShellState) -> bool {
    fn has_backslash(parts: &[Part], state: &ShellState) -> bool {
        parts.iter().any(|part| match part {
            Part::Literal(literal) => literal.text.contains('\\'),
            Part::Double(parts) => has_backslash(parts, state),
            Part::Parameter(parameter) => state.known(&parameter.name).is_some_and(|text| text.contains('\\')),
            _ => false,
        })
    }
    words.first().and_then(Word::plain) == Some("echo")
        && words.iter().skip(1).any(|word| has_backslash(&word.parts, state))
}

/// Whether a command substitution is in it, which has a status.
pub(super) fn substitutes(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Double(parts) => substitutes(parts),
        Part::Literal(_) => false,
        Part::Parameter(parameter) => !matches!(parameter.operation, Operation::None | Operation::Length),
        _ => true,
    })
}

/// Whether a command substitution in it prints what `echo` makes of backslashes.
fn has_echo(parts: &[Part], state: &ShellState) -> bool {
    parts.iter().any(|part| match part {
        Part::Double(parts) => has_echo(parts, state),
        Part::Command(list) => list.items.iter().any(|item| {
            item.first
                .commands
                .iter()
                .any(|node| matches!(&node.kind, NodeKind::Simple { words, .. } if echoes_backslashes(words, state)))
        }),
        _ => false,
    })
}

struct Seeker<'s> {
    state: &'s ShellState,
}

impl Seeker<'_> {
    fn name(&self, name: &str) -> Option<String> {
        if matches!(name, "*" | "#" | ARGUMENTS) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return matches!(self.state.arguments, Arguments::OneOf(_)).then(|| ARGUMENTS.to_owned());
        }
        let variable = self.state.get(name).filter(|_| !self.state.all_unknown)?;
        matches!(variable.content, Content::OneOf(_)).then(|| name.to_owned())
    }

    /// Not the lists of compound commands, whose pipelines are run one by one.
    fn node(&self, node: &Node) -> Option<String> {
        let own = match &node.kind {
            NodeKind::Simple { assignments, words } => self
                .words(words)
                .or_else(|| self.unwritten(words.first()?.plain()?))
                .or_else(|| assignments.iter().find_map(|assignment| self.assignment(assignment))),
            NodeKind::Test(test) => self.test(test),
            NodeKind::Arithmetic(word) | NodeKind::Case { subject: word, .. } => self.word(word),
            NodeKind::Coprocess { body, .. } => self.node(body),
            _ => None,
        };
        own.or_else(|| self.redirects(&node.redirects))
    }

    fn redirects(&self, redirects: &[Redirect]) -> Option<String> {
        redirects.iter().find_map(|redirect| match &redirect.target {
            Target::Word(word) => self.word(word),
            Target::Document(body) => body.get().and_then(|body| self.word(body)),
        })
    }

    fn assignment(&self, assignment: &Assignment) -> Option<String> {
        let changed = assignment.append || assignment.index.is_some();
        let before = changed.then(|| self.name(&assignment.name)).flatten();
        before.or_else(|| self.word(assignment.index.as_ref()?)).or_else(|| match &assignment.value {
            Assigned::Scalar(word) => self.word(word),
            Assigned::Array(elements) => self.elements(elements),
        })
    }

    fn elements(&self, elements: &[Element]) -> Option<String> {
        let element = |element: &Element| self.word(&element.word).or_else(|| self.word(element.index.as_ref()?));
        elements.iter().find_map(element)
    }

    fn test(&self, test: &Test) -> Option<String> {
        match test {
            Test::Or(a, b) | Test::And(a, b) => self.test(a).or_else(|| self.test(b)),
            Test::Not(test) => self.test(test),
            Test::Unary(_, word) | Test::Word(word) => self.word(word),
            Test::Binary(_, a, b) => self.word(a).or_else(|| self.word(b)),
        }
    }

    fn words(&self, words: &[Word]) -> Option<String> {
        words.iter().find_map(|word| self.word(word))
    }

    fn word(&self, word: &Word) -> Option<String> {
        self.parts(&word.parts).or_else(|| {
            let mut literals = word.parts.iter().filter_map(|part| match part {
                Part::Literal(literal) if !literal.quoted => Some(&literal.text),
                _ => None,
            });
            let splits = || word.parts.iter().any(|part| matches!(part, Part::Parameter(_) | Part::Command(_)));
            let joins = || joins(&word.parts);
            let home = self
                .name("HOME")
                .filter(|_| literals.any(|text| text.starts_with('~') || text.contains(":~") || text.contains("=~")));
            home.or_else(|| self.name("IFS").filter(|_| splits() || joins()))
        })
    }

    /// Variables that a command uses without their being written: the shell's own, or those that a program goes by.
    fn unwritten(&self, command: &str) -> Option<String> {
        let any = |names: &[&str]| names.iter().find_map(|name| self.name(name));
        match command {
            "cd" | "pushd" => any(&["HOME", "OLDPWD", "CDPATH"]),
            "read" => any(&["IFS"]),
            _ => any(super::environment::run_by(command)).or_else(|| any(&["BASH_ENV"])).or_else(|| {
                let vars = self.state.vars().iter().filter(|(name, _)| command == "git" && name.starts_with("GIT_"));
                vars.map(|(name, _)| name).find_map(|name| self.name(name))
            }),
        }
    }

    fn parts(&self, parts: &[Part]) -> Option<String> {
        parts.iter().find_map(|part| match part {
            Part::Literal(_) | Part::Malformed => None,
            Part::Double(parts) => self.parts(parts),
            Part::Parameter(parameter) => self.parameter(parameter),
            // What it prints is known only where each of its words is.
            Part::Command(list) | Part::Process(list) => self.list(list),
            Part::Arithmetic(word) => self.word(word),
            Part::Array(elements) => self.elements(elements),
        })
    }

    fn list(&self, list: &List) -> Option<String> {
        let pipelines = list
            .items
            .iter()
            .flat_map(|item| std::iter::once(&item.first).chain(item.rest.iter().map(|(_, next)| next)));
        pipelines.flat_map(|pipeline| &pipeline.commands).find_map(|node| self.node(node))
    }

    /// An array of which an index is used that is not known.
    fn element(&self, name: &str, index: &Word) -> Option<String> {
        let variable = self.state.get(name).filter(|_| !self.state.all_unknown)?;
        let Content::Array(values) = &variable.content else { return None };
        let differ = values.windows(2).any(|pair| pair[0] != pair[1]);
        (differ && !self.is_number(&index.parts)).then(|| name.to_owned())
    }

    /// Whether it is known which number an index is.
    fn is_number(&self, parts: &[Part]) -> bool {
        let names = |text: &str| {
            let words = text.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
            words.filter(|word| is_name(word)).all(|name| self.state.known(name).is_some())
        };
        parts.iter().all(|part| match part {
            Part::Literal(literal) => names(&literal.text),
            Part::Double(parts) => self.is_number(parts),
            Part::Parameter(parameter) if matches!(parameter.operation, Operation::Length) => true,
            Part::Parameter(parameter) => match parameter.name.chars().next() {
                Some('0'..='9' | '#') => self.state.arguments.known().is_some(),
                _ => names(&parameter.name),
            },
            Part::Arithmetic(word) => self.is_number(&word.parts),
            Part::Command(_) | Part::Process(_) | Part::Array(_) | Part::Malformed => false,
        })
    }

    fn parameter(&self, parameter: &Parameter) -> Option<String> {
        let target = || self.state.known(&parameter.name).filter(|_| parameter.indirect);
        let own = self.name(&parameter.name).or_else(|| self.name(&target()?));
        let index = || match parameter.index.as_ref()? {
            Index::All | Index::Joined => None,
            Index::Word(word) => self.word(word).or_else(|| self.element(&parameter.name, word)),
        };
        own.or_else(index).or_else(|| match &parameter.operation {
            Operation::Default { word, .. } => self.word(word),
            Operation::Substring { offset, length } => self.word(offset).or_else(|| self.word(length.as_ref()?)),
            Operation::Remove { pattern, .. } | Operation::Case { pattern, .. } => self.word(pattern),
            Operation::Replace { pattern, with, .. } => self.word(pattern).or_else(|| self.word(with)),
            Operation::Commands(list) => self.list(list),
            Operation::None | Operation::Length | Operation::Transform(_) | Operation::Names | Operation::Malformed => {
                None
            }
        })
    }
}
