//! What may be one thing or another is run as each: variables that an `if` left with several values, and `echo`, which
//! reads backslashes in some shells.

use super::control::Ends;
use super::state::{Arguments, Content, State};
use super::{Variable, Walk};
use crate::syntax::{Assigned, Assignment, Element, Index, List, Node, NodeKind, Operation, Parameter, Part};
use crate::syntax::{Pipeline, Redirect, Target, Test, Word};
use crate::word::{Span, Why};

/// How often a pipeline is run with other values, those around it counted in. With more the values are unknown.
const MAX_WAYS: usize = 16;

/// How often one pipeline is run with other values in all, as loops and functions come to some again and again. After that
/// they are unknown to it.
const MAX_RUNS: usize = 64;

/// A part of a tree: where it is in memory, as texts inside the text may share a span, and where it stands, as the memory
/// of one text is used again for the next.
pub(super) type Place = (usize, usize, usize);

fn place<T: ?Sized>(part: &T, span: Option<Span>) -> Place {
    let span = span.unwrap_or_default();
    (std::ptr::from_ref(part).cast::<()>().addr(), span.start, span.end)
}

/// The arguments as a name: those of all parameters that stand for one or more of them.
const ARGUMENTS: &str = "@";

/// What something is in one of several ways.
#[derive(Clone)]
enum Way {
    Variable(Variable),
    Arguments(Arguments),
}

impl Way {
    fn take(self, name: &str, state: &mut State, stamp: u64) {
        match self {
            Way::Variable(variable) => state.put(name, variable, stamp),
            Way::Arguments(arguments) => state.arguments = arguments,
        }
    }
}

impl Walk<'_> {
    /// Runs a pipeline, with each value that what it expands may have.
    pub(super) fn pipeline(&mut self, pipeline: &Pipeline, mut state: State) -> Ends {
        let runs = !state.never && !self.listed_only && self.dry == 0;
        let open = |state: &State| open_name(pipeline, state).filter(|_| runs);
        while let Some(name) = open(&state) {
            let ways =
                self.ways_of(&name, place(pipeline, pipeline.commands.first().map(|node| node.span)), &mut state);
            if ways.is_empty() {
                continue;
            }
            let outer = self.ways;
            self.ways *= ways.len();
            let ends = self.each_way(&state, &ways, |walk, way, mut own| {
                way.clone().take(&name, &mut own, walk.change());
                walk.pipeline(pipeline, own)
            });
            self.ways = outer;
            return ends;
        }
        if runs && self.backslashes.is_none() && uses_echo(pipeline, &state) {
            let ends = self.each_way(&state, &[false, true], |walk, reads, own| {
                walk.backslashes = Some(*reads);
                walk.pipeline_as_it_is(pipeline, own)
            });
            self.backslashes = None;
            return ends;
        }
        self.pipeline_as_it_is(pipeline, state)
    }

    /// The ways that a name is open. None if they are too many to be followed; it is unknown then.
    fn ways_of(&mut self, name: &str, place: Place, state: &mut State) -> Vec<Way> {
        let ways: Vec<Way> = match (name, &state.arguments, state.get(name)) {
            (ARGUMENTS, Arguments::OneOf(each), _) => each.iter().cloned().map(Way::Arguments).collect(),
            (_, _, Some(variable)) => match &variable.content {
                Content::OneOf(contents) => {
                    let with = |content: &Content| Variable { content: content.clone(), ..variable.clone() };
                    contents.iter().map(with).map(Way::Variable).collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let runs = self.runs_of.entry(place).or_default();
        *runs += ways.len();
        if self.ways * ways.len() <= MAX_WAYS && *runs <= MAX_RUNS {
            return ways;
        }
        let unknown = match state.get(name) {
            _ if name == ARGUMENTS => Way::Arguments(Arguments::Unknown),
            Some(variable) => Way::Variable(Variable {
                content: Content::Unknown(Why::Variable(name.to_owned())),
                ..variable.clone()
            }),
            None => return Vec::new(),
        };
        unknown.take(name, state, self.change());
        Vec::new()
    }

    /// The words that a loop goes through. Of those that depend on what has several values it may be any.
    pub(super) fn items(&mut self, words: Option<&[Word]>, state: &mut State) -> Vec<super::Word> {
        let place = place(words.unwrap_or_default(), words.and_then(|words| words.first()).map(|word| word.span));
        let mut open = vec![state.clone()];
        let mut settled = Vec::new();
        while let Some(mut state) = open.pop() {
            let seeker = Seeker { state: &state };
            let name = match words {
                Some(words) => seeker.words(words),
                None => seeker.name(ARGUMENTS),
            };
            let Some(name) = name.filter(|_| !state.never && self.dry == 0) else {
                settled.push(state);
                continue;
            };
            let outer = self.ways;
            self.ways *= open.len() + settled.len() + 1;
            let ways = self.ways_of(&name, place, &mut state);
            self.ways = outer;
            if ways.is_empty() {
                open.push(state);
                continue;
            }
            for way in ways.into_iter().rev() {
                let mut own = state.clone();
                way.take(&name, &mut own, self.change());
                open.push(own);
            }
        }
        let several = settled.len() > 1;
        let mut items: Vec<super::Word> = Vec::new();
        let mut end: Option<State> = None;
        for mut own in settled {
            for mut item in self.items_of(words, &mut own) {
                item.several |= several;
                if !several || !items.contains(&item) {
                    items.push(item);
                }
            }
            end = self.either(end, Some(own));
        }
        if let Some(end) = end {
            *state = end;
        }
        items
    }

    /// These words, or the arguments.
    fn items_of(&mut self, words: Option<&[Word]>, state: &mut State) -> Vec<super::Word> {
        let span = Span::default();
        match (words, state.arguments.known()) {
            (Some(words), _) => words.iter().flat_map(|word| self.words(word, state)).collect(),
            (None, Some(arguments)) => arguments.iter().skip(1).map(|value| super::expand::item(value, span)).collect(),
            (None, None) => vec![super::Word { several: true, ..super::Word::unknown(Why::Expansion, span) }],
        }
    }

    fn each_way<T>(&mut self, state: &State, ways: &[T], mut run: impl FnMut(&mut Self, &T, State) -> Ends) -> Ends {
        let joiner = self.joiner;
        let mut all: Option<Ends> = None;
        for way in ways {
            self.joiner = joiner;
            let ends = self.doubting(true, |walk| run(walk, way, state.clone()));
            all = Some(match all {
                Some(all) => all.or(ends, self),
                None => ends,
            });
        }
        all.unwrap_or_else(|| Ends::of(state.clone()))
    }
}

/// A variable with several values that a pipeline expands before anything in it runs.
fn open_name(pipeline: &Pipeline, state: &State) -> Option<String> {
    let seeker = Seeker { state };
    pipeline.commands.iter().find_map(|node| seeker.node(node))
}

/// Whether what comes of a pipeline depends on how `echo` reads backslashes: it is piped on, or put into a word.
fn uses_echo(pipeline: &Pipeline, state: &State) -> bool {
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

fn echoes_backslashes(words: &[Word], state: &State) -> bool {
    fn has_backslash(parts: &[Part], state: &State) -> bool {
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

/// Whether a command substitution in it prints what `echo` makes of backslashes.
fn has_echo(parts: &[Part], state: &State) -> bool {
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
    state: &'s State,
}

impl Seeker<'_> {
    fn name(&self, name: &str) -> Option<String> {
        if matches!(name, "*" | "#" | ARGUMENTS) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return matches!(self.state.arguments, Arguments::OneOf(_)).then(|| ARGUMENTS.to_owned());
        }
        let variable = self.state.get(name).filter(|_| !self.state.wild)?;
        matches!(variable.content, Content::OneOf(_)).then(|| name.to_owned())
    }

    /// Not the lists of compound commands, whose pipelines are run one by one.
    fn node(&self, node: &Node) -> Option<String> {
        let own = match &node.kind {
            NodeKind::Simple { assignments, words } => {
                let shifts = words.first().and_then(Word::plain) == Some("shift");
                let arguments = || self.name(ARGUMENTS).filter(|_| shifts);
                self.words(words)
                    .or_else(arguments)
                    .or_else(|| assignments.iter().find_map(|assignment| self.assignment(assignment)))
            }
            NodeKind::Test(test) => self.test(test),
            NodeKind::Arithmetic(word) => self.word(word),
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
        self.parts(&word.parts)
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

    fn parameter(&self, parameter: &Parameter) -> Option<String> {
        let target = || self.state.known(&parameter.name).filter(|_| parameter.indirect);
        let own = self.name(&parameter.name).or_else(|| self.name(&target()?));
        let index = || match parameter.index.as_ref()? {
            Index::All | Index::Joined => None,
            Index::Word(word) => self.word(word),
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
