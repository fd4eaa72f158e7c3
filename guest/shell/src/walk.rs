//! From a text to its simple commands, in the order in which they stand.
//!
//! The walk carries the directory and the variables along, as far as they are certain. Where only the run can
//! tell (a branch, a loop, a failed `cd`), what differs becomes unknown.

use std::collections::BTreeMap;
use std::rc::Rc;

use brush_parser::ast::{self, SourceLocation as _};
use brush_parser::word::{WordPiece, WordPieceWithSource};

use crate::path::{absolute, basename};
use crate::scan;
use crate::word::{self, Span, Value, Word};
use crate::wrapper::{self, Inner};

/// How deep commands inside commands are followed; deeper ones make the text unparsed.
const MAX_NESTING: usize = 24;

/// How many commands are listed for one text; a text with more is unparsed.
const MAX_COMMANDS: usize = 20_000;

/// What the caller knows about the place where the text will run.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    cwd: String,
    home: Option<String>,
}

impl Facts {
    /// The text starts in this directory.
    pub fn new(cwd: impl Into<String>) -> Self {
        Facts { cwd: cwd.into(), home: None }
    }

    /// What `~` and `$HOME` stand for.
    #[must_use]
    pub fn home(mut self, home: impl Into<String>) -> Self {
        self.home = Some(home.into());
        self
    }
}

/// The operator before a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joiner {
    /// It is the first of its group.
    First,
    /// `|` or `|&`
    Pipe,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;`, a line's end or a keyword
    Then,
}

impl Joiner {
    /// As it is written between two commands.
    pub fn text(self) -> &'static str {
        match self {
            Joiner::First => "",
            Joiner::Pipe => " | ",
            Joiner::And => " && ",
            Joiner::Or => " || ",
            Joiner::Then => "; ",
        }
    }
}

/// What a redirect does to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
}

/// A redirect to or from a file.
#[derive(Clone, Debug)]
pub struct Redirect {
    /// What it does.
    pub kind: RedirectKind,
    /// The file.
    pub target: Word,
}

/// A simple command.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// `NAME=VALUE` before the program.
    pub assignments: Vec<(String, Word)>,
    /// Its own redirects and those of the compound commands around it.
    pub redirects: Vec<Redirect>,
    /// Where it stands in the text.
    pub span: Span,
    /// The directory it runs in, if certain.
    pub cwd: Option<String>,
    /// The programs that it was found inside of, outermost first.
    pub via: Vec<String>,
    /// Commands that belong to one list share this number; those in substitutions and wrappers have their own.
    pub group: usize,
    /// The operator before it in its group.
    pub joiner: Joiner,
    /// Whether more arguments, which are not in the text, are added when it runs.
    pub more_words: bool,
    /// Whether it is a shell that takes its commands from somewhere that cannot be read here.
    pub unseen_script: bool,
}

impl Command {
    /// The program's name without its folder, if certain.
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(Word::known).map(basename)
    }
}

/// All that a text holds.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// In the order in which they stand; those inside a command come after it.
    pub commands: Vec<Command>,
    /// Why the text was not parsed. Its tokens then stand in one command, without any structure.
    pub unparsed: Option<String>,
}

/// Reads a shell text. See the crate's first page for an example.
pub fn parse(text: &str, facts: &Facts) -> Script {
    let mut walk = Walk { home: facts.home.clone(), commands: Vec::new(), groups: 0, failure: None };
    let mut state = State { cwd: Some(facts.cwd.clone()), env: BTreeMap::new() };
    walk.text(text, Base::default(), &mut state, &[]);
    match walk.failure {
        None => Script { commands: walk.commands, unparsed: None },
        Some(why) => Script { commands: vec![scanned(text, facts)], unparsed: Some(why) },
    }
}

fn scanned(text: &str, facts: &Facts) -> Command {
    Command {
        words: scan::tokens(text),
        assignments: Vec::new(),
        redirects: Vec::new(),
        span: Span { start: 0, end: text.len() },
        cwd: Some(facts.cwd.clone()),
        via: Vec::new(),
        group: 0,
        joiner: Joiner::First,
        more_words: false,
        unseen_script: false,
    }
}

/// Where a text that is parsed stands in the outermost one.
#[derive(Clone, Copy, Default)]
struct Base {
    /// Its first byte there.
    offset: usize,
    /// The span to give instead, where quoting makes the positions differ.
    opaque: Option<Span>,
}

impl Base {
    fn at(self, offset: usize) -> Self {
        Base { offset: self.offset + offset, opaque: self.opaque }
    }

    fn map(self, span: Span) -> Span {
        self.opaque.unwrap_or(Span { start: self.offset + span.start, end: self.offset + span.end })
    }
}

/// What the walk knows at a point of the text.
#[derive(Clone, PartialEq)]
struct State {
    cwd: Option<String>,
    /// Variables that the text sets; `None` for one whose value is no longer known.
    env: BTreeMap<String, Option<String>>,
}

impl State {
    /// What is certain whichever of the two came to pass.
    fn merge(&mut self, other: &State) {
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        for (name, value) in &other.env {
            if self.env.get(name) != Some(value) {
                self.env.insert(name.clone(), None);
            }
        }
        for (name, value) in &mut self.env {
            if other.env.get(name) != Some(value) {
                *value = None;
            }
        }
    }
}

struct Scope<'a> {
    state: &'a State,
    home: Option<&'a str>,
}

impl word::Scope for Scope<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        match (self.state.env.get(name), name) {
            (Some(value), _) => value.clone(),
            (None, "HOME") => self.home.map(str::to_owned),
            (None, "PWD") => self.state.cwd.clone(),
            _ => None,
        }
    }

    fn home(&self) -> Option<String> {
        word::Scope::variable(self, "HOME")
    }
}

/// Where in a text the walk is.
struct Place<'a> {
    text: &'a str,
    /// Byte offset of each character, as the parser counts characters. Empty for ASCII texts.
    offsets: Rc<Vec<usize>>,
    base: Base,
    via: &'a [String],
    group: usize,
    redirects: Vec<Redirect>,
}

impl Place<'_> {
    fn byte(&self, character: usize) -> usize {
        if self.offsets.is_empty() {
            character.min(self.text.len())
        } else {
            self.offsets.get(character).copied().unwrap_or(self.text.len())
        }
    }

    /// The span in this text.
    fn local(&self, location: Option<&brush_parser::TokenLocation>) -> Span {
        location.map_or(Span { start: 0, end: self.text.len() }, |location| Span {
            start: self.byte(location.start.index),
            end: self.byte(location.end.index),
        })
    }

    /// A word as it is written. The parser garbles quoted heredocs inside a substitution, and only those.
    fn source<'w>(&'w self, word: &'w ast::Word) -> &'w str {
        let written = word.loc.as_ref().and_then(|_| {
            let local = self.local(word.loc.as_ref());
            self.text.get(local.start..local.end)
        });
        let same_start = |text: &&str| text.chars().next() == word.value.chars().next();
        written.filter(|_| word.value.contains("<<")).filter(same_start).unwrap_or(&word.value)
    }

    fn with(&self, redirects: Vec<Redirect>) -> Place<'_> {
        let mut all = self.redirects.clone();
        all.extend(redirects);
        Place { offsets: Rc::clone(&self.offsets), redirects: all, ..*self }
    }
}

struct Walk {
    home: Option<String>,
    commands: Vec<Command>,
    groups: usize,
    failure: Option<String>,
}

impl Walk {
    fn text(&mut self, text: &str, base: Base, state: &mut State, via: &[String]) {
        if self.failure.is_some() {
            return;
        }
        if via.len() > MAX_NESTING || self.commands.len() > MAX_COMMANDS {
            self.failure = Some("the text holds too many commands inside one another".to_owned());
            return;
        }
        if let Some(why) = scan::refuse(text) {
            self.failure = Some(why);
            return;
        }
        let options = word::options();
        let source = brush_parser::SourceInfo::default();
        // The parser takes a heredoc whose last line has no end for one that is cut off; the shell does not.
        let ended = std::io::Read::chain(text.as_bytes(), &b"\n"[..]);
        let mut parser = brush_parser::Parser::new(std::io::BufReader::new(ended), &options, &source);
        let program = match parser.parse_program() {
            Ok(program) => program,
            Err(error) => {
                self.failure = Some(format!("the text does not parse: {error}"));
                return;
            }
        };
        let offsets = if text.is_ascii() { Vec::new() } else { text.char_indices().map(|(at, _)| at).collect() };
        self.groups += 1;
        let group = self.groups - 1;
        let place = Place { text, offsets: Rc::new(offsets), base, via, group, redirects: Vec::new() };
        let mut joiner = Joiner::First;
        for list in &program.complete_commands {
            self.list(list, &place, state, &mut joiner);
        }
    }

    fn list(&mut self, list: &ast::CompoundList, place: &Place<'_>, state: &mut State, joiner: &mut Joiner) {
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            // A background list runs in a shell of its own.
            let mut background = state.clone();
            let state = match separator {
                ast::SeparatorOperator::Async => &mut background,
                ast::SeparatorOperator::Sequence => &mut *state,
            };
            self.pipeline(&and_or.first, place, state, joiner);
            for next in &and_or.additional {
                let before = state.clone();
                let (pipeline, operator) = match next {
                    ast::AndOr::And(pipeline) => (pipeline, Joiner::And),
                    ast::AndOr::Or(pipeline) => (pipeline, Joiner::Or),
                };
                *joiner = operator;
                self.pipeline(pipeline, place, state, joiner);
                // After `a && b` both ran or the list is about to end in failure; after `a || b` either may have.
                if operator == Joiner::Or {
                    state.merge(&before);
                }
            }
            *joiner = Joiner::Then;
        }
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline, place: &Place<'_>, state: &mut State, joiner: &mut Joiner) {
        let several = pipeline.seq.len() > 1;
        for (index, command) in pipeline.seq.iter().enumerate() {
            if index > 0 {
                *joiner = Joiner::Pipe;
            }
            let feeds = index.checked_sub(1).map(|before| &pipeline.seq[before]);
            if several {
                self.command(command, place, &mut state.clone(), joiner, feeds);
            } else {
                self.command(command, place, state, joiner, feeds);
            }
        }
    }

    fn command(
        &mut self,
        command: &ast::Command,
        place: &Place<'_>,
        state: &mut State,
        joiner: &mut Joiner,
        feeds: Option<&ast::Command>,
    ) {
        match command {
            ast::Command::Simple(simple) => self.simple(simple, place, state, joiner, feeds),
            ast::Command::Compound(compound, redirects) => {
                let redirects = self.redirects(redirects.as_ref().map_or(&[], |list| &list.0), place, state);
                self.compound(compound, &place.with(redirects), state, joiner);
            }
            ast::Command::Function(function) => {
                // Listed where it is defined, with nothing known about where it will be called.
                let ast::FunctionBody(body, redirects) = &function.body;
                let mut unknown = State { cwd: None, env: BTreeMap::new() };
                let redirects = self.redirects(redirects.as_ref().map_or(&[], |list| &list.0), place, &unknown);
                self.compound(body, &place.with(redirects), &mut unknown, joiner);
            }
            ast::Command::ExtendedTest(test) => self.test(&test.expr, place, state),
        }
    }

    fn test(&mut self, test: &ast::ExtendedTestExpr, place: &Place<'_>, state: &State) {
        match test {
            ast::ExtendedTestExpr::And(a, b) | ast::ExtendedTestExpr::Or(a, b) => {
                self.test(a, place, state);
                self.test(b, place, state);
            }
            ast::ExtendedTestExpr::Not(a) | ast::ExtendedTestExpr::Parenthesized(a) => self.test(a, place, state),
            ast::ExtendedTestExpr::UnaryTest(_, word) => self.substitutions(word, place, state),
            ast::ExtendedTestExpr::BinaryTest(_, a, b) => {
                self.substitutions(a, place, state);
                self.substitutions(b, place, state);
            }
        }
    }

    fn compound(&mut self, compound: &ast::CompoundCommand, place: &Place<'_>, state: &mut State, joiner: &mut Joiner) {
        match compound {
            ast::CompoundCommand::BraceGroup(group) => self.list(&group.list, place, state, joiner),
            ast::CompoundCommand::Subshell(shell) => self.list(&shell.list, place, &mut state.clone(), joiner),
            ast::CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition, place, state, joiner);
                let before = state.clone();
                self.list(&clause.then, place, state, joiner);
                let mut outcomes = vec![before.clone()];
                for other in clause.elses.iter().flatten() {
                    let mut branch = before.clone();
                    if let Some(condition) = &other.condition {
                        self.list(condition, place, &mut branch, joiner);
                    }
                    self.list(&other.body, place, &mut branch, joiner);
                    outcomes.push(branch);
                }
                outcomes.iter().for_each(|outcome| state.merge(outcome));
            }
            ast::CompoundCommand::CaseClause(clause) => {
                self.substitutions(&clause.value, place, state);
                let before = state.clone();
                for case in &clause.cases {
                    case.patterns.iter().for_each(|pattern| self.substitutions(pattern, place, &before));
                    let mut branch = before.clone();
                    if let Some(list) = &case.cmd {
                        self.list(list, place, &mut branch, joiner);
                    }
                    state.merge(&branch);
                }
            }
            ast::CompoundCommand::ForClause(clause) => {
                for word in clause.values.iter().flatten() {
                    self.substitutions(word, place, state);
                }
                self.for_each(clause, place, state, joiner);
            }
            ast::CompoundCommand::ArithmeticForClause(clause) => {
                for expression in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    let word = ast::Word { value: expression.value.clone(), loc: None };
                    self.substitutions(&word, place, state);
                }
                self.repeat(&clause.body.list, place, state, joiner);
            }
            ast::CompoundCommand::WhileClause(clause) | ast::CompoundCommand::UntilClause(clause) => {
                let ast::WhileOrUntilClauseCommand(condition, body, _) = clause;
                let before = state.clone();
                self.list(condition, place, state, joiner);
                state.merge(&before);
                self.repeat(&body.list, place, state, joiner);
            }
            ast::CompoundCommand::Arithmetic(command) => self.arithmetic(command, place, state),
        }
    }

    /// `((..))`, or what the parser takes for it: to the shell `( (a) )` is a subshell in a subshell.
    fn arithmetic(&mut self, command: &ast::ArithmeticCommand, place: &Place<'_>, state: &State) {
        let local = place.local(Some(&command.loc));
        let source = place.text.get(local.start..local.end).unwrap_or_default();
        match source.strip_prefix("((").and_then(|rest| rest.strip_suffix("))")) {
            Some(inner) if balanced(inner) => {
                let whole = ast::Word { value: command.expr.value.clone(), loc: None };
                self.substitutions(&whole, place, state);
            }
            _ => {
                let inside = source.get(1..source.len().saturating_sub(1)).unwrap_or_default();
                self.text(inside, place.base.at(local.start + 1), &mut state.clone(), place.via);
            }
        }
    }

    /// A `for` over a few known words is walked once a word; another one once, with its variable unknown.
    fn for_each(&mut self, clause: &ast::ForClauseCommand, place: &Place<'_>, state: &mut State, joiner: &mut Joiner) {
        const MOST: usize = 16;
        let values: Option<Vec<String>> = clause.values.as_ref().and_then(|words| {
            let words = words.iter().flat_map(|word| self.resolve(word, place, state));
            words.map(|word| word.known().map(str::to_owned)).collect()
        });
        match values {
            Some(values) if values.len() <= MOST => {
                for value in values {
                    state.env.insert(clause.variable_name.clone(), Some(value));
                    self.repeat(&clause.body.list, place, state, joiner);
                }
            }
            _ => {
                state.env.insert(clause.variable_name.clone(), None);
                self.repeat(&clause.body.list, place, state, joiner);
            }
        }
    }

    /// A body that runs any number of times: what it changes is unknown, inside it as well as after it.
    fn repeat(&mut self, body: &ast::CompoundList, place: &Place<'_>, state: &mut State, joiner: &mut Joiner) {
        let mut once = state.clone();
        let (commands, groups) = (self.commands.len(), self.groups);
        let first = *joiner;
        self.list(body, place, &mut once, joiner);
        if once != *state {
            state.merge(&once);
            self.commands.truncate(commands);
            self.groups = groups;
            *joiner = first;
            let mut again = state.clone();
            self.list(body, place, &mut again, joiner);
            state.merge(&again);
        }
    }

    fn simple(
        &mut self,
        simple: &ast::SimpleCommand,
        place: &Place<'_>,
        state: &mut State,
        joiner: &mut Joiner,
        feeds: Option<&ast::Command>,
    ) {
        let mut assignments = Vec::new();
        let mut words = Vec::new();
        let mut redirects = place.redirects.clone();
        let mut nested = Vec::new();
        let mut span: Option<Span> = None;
        let mut heredoc = None;

        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let name = simple.word_or_name.clone().map(ast::CommandPrefixOrSuffixItem::Word);
        for (item, is_prefix) in prefix.map(|item| (item, true)).chain(name.iter().chain(suffix).map(|i| (i, false))) {
            match item {
                ast::CommandPrefixOrSuffixItem::Word(source) => {
                    grow(&mut span, place.local(source.loc.as_ref()));
                    words.extend(self.resolve(source, place, state));
                    nested.push(source.clone());
                }
                ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, source) => {
                    grow(&mut span, place.local(source.loc.as_ref()));
                    nested.push(source.clone());
                    if is_prefix {
                        let named = self.assignment(assignment, place, state);
                        // Without a program the later ones see the earlier ones.
                        if simple.word_or_name.is_none() {
                            state.env.insert(named.0.clone(), named.1.known().map(str::to_owned));
                        }
                        assignments.push(named);
                    } else {
                        words.extend(self.resolve(source, place, state));
                    }
                }
                ast::CommandPrefixOrSuffixItem::ProcessSubstitution(_, shell) => {
                    let local = place.local(Some(&shell.loc));
                    grow(&mut span, local);
                    let value =
                        Value::Unknown { why: "a process substitution".to_owned(), shape: Value::HOLE.to_string() };
                    words.push(Word { span: place.base.map(local), value, quoted: false });
                    self.own_group(place, |walk, place| {
                        walk.list(&shell.list, place, &mut state.clone(), &mut Joiner::First.clone());
                    });
                }
                ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                    if let Some(location) = redirect.location() {
                        grow(&mut span, place.local(Some(&location)));
                    }
                    redirects.extend(self.redirects(std::slice::from_ref(redirect), place, state));
                    match redirect {
                        ast::IoRedirect::HereDocument(_, document) => heredoc = Some((document.doc.clone(), true)),
                        ast::IoRedirect::HereString(_, text) => heredoc = Some((text.clone(), false)),
                        _ => {}
                    }
                }
            }
        }

        let local = span.unwrap_or_default();
        let index = self.commands.len();
        self.commands.push(Command {
            words,
            assignments,
            redirects,
            span: place.base.map(local),
            cwd: state.cwd.clone(),
            via: place.via.to_vec(),
            group: place.group,
            joiner: *joiner,
            more_words: false,
            unseen_script: false,
        });
        *joiner = Joiner::Then;
        if self.commands.len() > MAX_COMMANDS {
            self.failure = Some(format!("the text holds more than {MAX_COMMANDS} commands"));
            return;
        }
        for word in &nested {
            self.substitutions(word, place, state);
        }
        let stdin = match &heredoc {
            Some((document, body)) => Some(self.stdin_text(document, *body, place, state)),
            None => feeds.map(|feeds| self.fed(feeds, place, state)),
        };
        self.open(index, stdin, state, 0);
        self.apply(index, state);
    }

    /// Opens what a command runs besides itself.
    fn open(&mut self, index: usize, stdin: Option<Option<Word>>, state: &mut State, depth: usize) {
        if depth > MAX_NESTING {
            self.failure = Some("wrappers inside wrappers, without an end".to_owned());
            return;
        }
        let outer = self.commands[index].clone();
        for inner in wrapper::inner(&outer.words) {
            let mut via = outer.via.clone();
            via.push(outer.program().unwrap_or_default().to_owned());
            let words = match inner {
                Inner::Command { at, .. } => outer.words[at..].to_vec(),
                Inner::Template { from, to } => outer.words[from..to].iter().map(placeholder).collect(),
                Inner::Text(at) => {
                    self.script(&outer.words[at], &via, state, index);
                    continue;
                }
                Inner::Joined(at) => {
                    let joined = join(&outer.words[at..]);
                    self.script(&joined, &via, state, index);
                    continue;
                }
                Inner::Stdin => {
                    match &stdin {
                        Some(Some(text)) => self.script(text, &via, &mut state.clone(), index),
                        Some(None) => self.commands[index].unseen_script = true,
                        None => {
                            // A file on standard input; a terminal otherwise, and then there is nothing to see.
                            let file = outer.redirects.iter().any(|redirect| redirect.kind == RedirectKind::Read);
                            self.commands[index].unseen_script = file;
                        }
                    }
                    continue;
                }
            };
            self.groups += 1;
            let more_words = matches!(inner, Inner::Command { more: true, .. });
            let span = Span { start: words.first().map_or(outer.span.start, |word| word.span.start), ..outer.span };
            let at = self.commands.len();
            self.commands.push(Command {
                words,
                assignments: Vec::new(),
                redirects: outer.redirects.clone(),
                span,
                cwd: outer.cwd.clone(),
                via,
                group: self.groups - 1,
                joiner: Joiner::First,
                more_words,
                unseen_script: false,
            });
            self.open(at, stdin.clone(), state, depth + 1);
        }
    }

    /// Walks a word as shell text.
    fn script(&mut self, word: &Word, via: &[String], state: &mut State, index: usize) {
        let Some(text) = word.known() else {
            self.commands[index].unseen_script = true;
            return;
        };
        // `sh -c` starts a shell of its own; `eval` does not.
        let isolated = via.last().is_some_and(|program| program != "eval");
        let mut own = state.clone();
        let state = if isolated { &mut own } else { state };
        let base = Base { offset: 0, opaque: Some(word.span) };
        self.text(text, base, state, via);
    }

    /// The text on standard input: of a heredoc, or of a here-string.
    fn stdin_text(&self, document: &ast::Word, body: bool, place: &Place<'_>, state: &State) -> Option<Word> {
        let span = place.base.map(place.local(document.loc.as_ref()));
        if body {
            // The body of a quoted heredoc is literal. In another one a shell text with expansions is rare, and
            // what they come to is walked as it stands.
            return Some(Word { span, value: Value::Known(document.value.clone()), quoted: true });
        }
        let word = word::resolve_whole(&document.value, span, &self.scope(state));
        word.known().is_some().then_some(word)
    }

    /// What the command before a pipe writes, if that is plain from its text.
    fn fed(&self, feeds: &ast::Command, place: &Place<'_>, state: &State) -> Option<Word> {
        let ast::Command::Simple(simple) = feeds else { return None };
        let mut words = Vec::new();
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let name = simple.word_or_name.clone().map(ast::CommandPrefixOrSuffixItem::Word);
        for item in name.iter().chain(suffix) {
            match item {
                ast::CommandPrefixOrSuffixItem::Word(word)
                | ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                    words.extend(self.resolve(word, place, state));
                }
                _ => return None,
            }
        }
        let program = words.first()?.known().map(basename)?;
        let rest = match program {
            "echo" if words.get(1).and_then(Word::known).is_some_and(|word| word.starts_with("-e")) => return None,
            "echo" if words.get(1).and_then(Word::known) == Some("-n") => &words[2..],
            "echo" => &words[1..],
            "printf" => match words.get(1..)? {
                [format, text] if matches!(format.known(), Some("%s" | "%s\\n")) => std::slice::from_ref(text),
                [format] if format.known().is_some_and(|text| !text.contains(['%', '\\'])) => {
                    std::slice::from_ref(format)
                }
                _ => return None,
            },
            _ => return None,
        };
        let joined = join(rest);
        joined.known().is_some().then_some(joined)
    }

    /// What a command changes for those after it.
    fn apply(&mut self, index: usize, state: &mut State) {
        let command = &self.commands[index];
        let mut words = command.words.as_slice();
        while matches!(words.first().and_then(Word::known), Some("builtin" | "command")) {
            words = &words[1..];
        }
        let arguments = words.get(1..).unwrap_or_default();
        match words.first().and_then(Word::known) {
            Some("cd") => {
                let mut operands = arguments
                    .iter()
                    .skip_while(|word| word.known().is_some_and(|text| text.len() > 1 && text.starts_with('-')));
                state.cwd = match operands.next() {
                    None => self.home.clone(),
                    Some(target) => match (target.known(), &state.cwd) {
                        (Some("-"), _) | (None, _) => None,
                        (Some(path), _) if path.starts_with('/') => Some(absolute(path, "/")),
                        (Some(path), Some(cwd)) => Some(absolute(path, cwd)),
                        (Some(_), None) => None,
                    },
                };
            }
            Some("pushd" | "popd") => state.cwd = None,
            Some("export" | "declare" | "local" | "readonly" | "typeset") => {
                for word in arguments {
                    if let Some((name, value)) = word.known().and_then(|text| text.split_once('=')) {
                        state.env.insert(name.to_owned(), Some(value.to_owned()));
                    } else if let Value::Unknown { shape, .. } | Value::Pattern(shape) = &word.value
                        && let Some((name, _)) = shape.split_once('=')
                    {
                        state.env.insert(name.to_owned(), None);
                    }
                }
            }
            Some("unset" | "read" | "mapfile" | "readarray" | "getopts") => {
                for name in arguments.iter().filter_map(Word::known) {
                    state.env.insert(name.to_owned(), None);
                }
            }
            // What such a file sets is not known.
            Some("source" | ".") => {
                state.cwd = None;
                state.env.values_mut().for_each(|value| *value = None);
            }
            _ => {}
        }
    }

    fn assignment(&self, assignment: &ast::Assignment, place: &Place<'_>, state: &State) -> (String, Word) {
        let span = place.base.map(place.local(Some(&assignment.loc)));
        let unknown = |why: &str| Word {
            span,
            value: Value::Unknown { why: why.to_owned(), shape: Value::HOLE.to_string() },
            quoted: false,
        };
        let name = match &assignment.name {
            ast::AssignmentName::VariableName(name) => name.clone(),
            ast::AssignmentName::ArrayElementName(name, _) => return (name.clone(), unknown("an element of an array")),
        };
        let word = match &assignment.value {
            _ if assignment.append => unknown("a value that is appended to"),
            ast::AssignmentValue::Scalar(word) => word::resolve_whole(place.source(word), span, &self.scope(state)),
            ast::AssignmentValue::Array(_) => unknown("an array"),
        };
        // A glob on the right-hand side of an assignment is plain text.
        let word = match word.value {
            Value::Pattern(text) => Word { value: Value::Known(text), ..word },
            _ => word,
        };
        (name, word)
    }

    fn redirects(&mut self, list: &[ast::IoRedirect], place: &Place<'_>, state: &State) -> Vec<Redirect> {
        let mut found = Vec::new();
        for redirect in list {
            match redirect {
                ast::IoRedirect::File(_, kind, target) => {
                    let kind = match kind {
                        ast::IoFileRedirectKind::Read | ast::IoFileRedirectKind::DuplicateInput => RedirectKind::Read,
                        ast::IoFileRedirectKind::Append => RedirectKind::Append,
                        ast::IoFileRedirectKind::ReadAndWrite => RedirectKind::ReadWrite,
                        ast::IoFileRedirectKind::Write
                        | ast::IoFileRedirectKind::Clobber
                        | ast::IoFileRedirectKind::DuplicateOutput => RedirectKind::Write,
                    };
                    match target {
                        ast::IoFileRedirectTarget::Filename(word) => {
                            self.redirect(kind, word, place, state, &mut found)
                        }
                        // `>&2` is a descriptor, `>& file` a file.
                        ast::IoFileRedirectTarget::Duplicate(word) => {
                            if !word.value.chars().all(|c| c.is_ascii_digit() || c == '-') {
                                self.redirect(kind, word, place, state, &mut found);
                            }
                        }
                        ast::IoFileRedirectTarget::ProcessSubstitution(_, shell) => {
                            self.own_group(place, |walk, place| {
                                walk.list(&shell.list, place, &mut state.clone(), &mut Joiner::First.clone());
                            });
                        }
                        ast::IoFileRedirectTarget::Fd(_) => {}
                    }
                }
                ast::IoRedirect::OutputAndError(word, append) => {
                    let kind = if *append { RedirectKind::Append } else { RedirectKind::Write };
                    self.redirect(kind, word, place, state, &mut found);
                }
                ast::IoRedirect::HereDocument(_, document) => {
                    if document.requires_expansion {
                        self.substitutions(&document.doc, place, state);
                    }
                }
                ast::IoRedirect::HereString(_, word) => self.substitutions(word, place, state),
            }
        }
        found
    }

    fn redirect(
        &mut self,
        kind: RedirectKind,
        word: &ast::Word,
        place: &Place<'_>,
        state: &State,
        found: &mut Vec<Redirect>,
    ) {
        let target =
            word::resolve_whole(place.source(word), place.base.map(place.local(word.loc.as_ref())), &self.scope(state));
        found.push(Redirect { kind, target });
        self.substitutions(word, place, state);
    }

    /// Walks the commands inside a word.
    fn substitutions(&mut self, word: &ast::Word, place: &Place<'_>, state: &State) {
        let source = place.source(word);
        if !source.contains(['$', '`', '(']) {
            return;
        }
        let local = place.local(word.loc.as_ref());
        let Ok(pieces) = brush_parser::word::parse(source, &word::options()) else {
            self.failure = Some(format!("a word does not parse: {source}"));
            return;
        };
        // The parser counts bytes inside a word, and the word's text is the source's unless it is a heredoc.
        let verbatim = place.text.get(local.start..local.end) == Some(source);
        let base =
            if verbatim { place.base.at(local.start) } else { Base { offset: 0, opaque: Some(place.base.map(local)) } };
        self.pieces(&pieces, source, base, place, state);
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource], source: &str, base: Base, place: &Place<'_>, state: &State) {
        for piece in pieces {
            match &piece.piece {
                WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                    self.pieces(inner, source, base, place, state);
                }
                WordPiece::CommandSubstitution(text) | WordPiece::BackquotedCommandSubstitution(text) => {
                    let start =
                        source.get(piece.start_index..piece.end_index).and_then(|whole| whole.find(text.as_str()));
                    let whole = Span { start: piece.start_index, end: piece.end_index.max(piece.start_index) };
                    let inside = match start {
                        Some(start) => base.at(piece.start_index + start),
                        None => Base { offset: 0, opaque: Some(base.map(whole)) },
                    };
                    let mut via = place.via.to_vec();
                    via.push("$()".to_owned());
                    self.text(text, inside, &mut state.clone(), &via);
                }
                // Commands may hide in a default value or an index: `${X:-$(rm y)}`.
                WordPiece::ParameterExpansion(_) | WordPiece::ArithmeticExpression(_) => {
                    let text = source.get(piece.start_index..piece.end_index).unwrap_or(source);
                    let inner = text.get(2..text.len().saturating_sub(1)).unwrap_or("");
                    let Some(at) = inner.find("$(").or_else(|| inner.find('`')) else { continue };
                    match brush_parser::word::parse(&inner[at..], &word::options()) {
                        Ok(pieces) => {
                            let base = base.at(piece.start_index + 2 + at);
                            self.pieces(&pieces, &inner[at..], base, place, state);
                        }
                        Err(_) => self.failure = Some(format!("an expansion does not parse: {text}")),
                    }
                }
                _ => {}
            }
        }
    }

    fn own_group(&mut self, place: &Place<'_>, walk: impl FnOnce(&mut Self, &Place<'_>)) {
        self.groups += 1;
        let own = Place { offsets: Rc::clone(&place.offsets), group: self.groups - 1, redirects: Vec::new(), ..*place };
        walk(self, &own);
    }

    fn resolve(&self, word: &ast::Word, place: &Place<'_>, state: &State) -> Vec<Word> {
        word::resolve(place.source(word), place.base.map(place.local(word.loc.as_ref())), &self.scope(state))
    }

    fn scope<'a>(&'a self, state: &'a State) -> Scope<'a> {
        Scope { state, home: self.home.as_deref() }
    }
}

/// Whether no parenthesis closes that was not opened, which is how the shell tells arithmetic from subshells.
fn balanced(text: &str) -> bool {
    let mut depth = 0i32;
    text.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    })
}

fn grow(span: &mut Option<Span>, by: Span) {
    *span = Some(match *span {
        None => by,
        Some(span) => Span { start: span.start.min(by.start), end: span.end.max(by.end) },
    });
}

/// In a template `{}` stands for paths that are not in the text.
fn placeholder(word: &Word) -> Word {
    match word.known() {
        Some(text) if text.contains("{}") => Word {
            value: Value::Unknown {
                why: "a path that is found when it runs".to_owned(),
                shape: text.replace("{}", &Value::HOLE.to_string()),
            },
            ..word.clone()
        },
        _ => word.clone(),
    }
}

/// Words joined by blanks, as `eval` and `echo` do.
fn join(words: &[Word]) -> Word {
    let span =
        words.iter().map(|word| word.span).reduce(|a, b| Span { start: a.start.min(b.start), end: a.end.max(b.end) });
    let mut shape = Vec::new();
    let mut why = None;
    for word in words {
        match &word.value {
            Value::Known(text) => shape.push(text.as_str()),
            Value::Pattern(text) => {
                why.get_or_insert_with(|| "a glob".to_owned());
                shape.push(text.as_str());
            }
            Value::Unknown { why: reason, shape: text } => {
                why.get_or_insert_with(|| reason.clone());
                shape.push(text.as_str());
            }
        }
    }
    let shape = shape.join(" ");
    let value = match why {
        None => Value::Known(shape),
        Some(why) => Value::Unknown { why, shape },
    };
    Word { span: span.unwrap_or_default(), value, quoted: words.iter().any(|word| word.quoted) }
}
