//! From a text to its simple commands, in the order in which they stand.
//!
//! The walk carries the directory and the variables along. Where only the run can tell (a branch, a loop, a `cd` that
//! may fail), a directory becomes one of several and a variable unknown.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use brush_parser::ast::{self, SourceLocation as _};
use brush_parser::word::{WordPiece, WordPieceWithSource};

use crate::path::{absolute, basename};
use crate::scan;
use crate::word::{self, Span, Value, Why, Word};
use crate::wrapper::{self, Inner};

/// How deep commands inside commands are followed; deeper ones make the text unparsed.
const MAX_NESTING: usize = 24;

/// How many commands are listed for one text; a text with more is unparsed.
const MAX_COMMANDS: usize = 20_000;

/// How many directories are followed at a time.
const MAX_FOLDERS: usize = 4;

/// Longest path that a system takes, in bytes; changing to a longer one fails.
const MAX_PATH: usize = 4_096;

/// Longest value that is kept of a variable, in bytes. Doubling one again and again is a short text.
const MAX_VALUE: usize = 64 * 1024;

/// What a command inside a substitution is found through.
const SUBSTITUTION: &str = "$()";

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
    /// Its redirects. Those of a compound command are listed as a command without words.
    pub redirects: Vec<Redirect>,
    /// Where it stands in the text.
    pub span: Span,
    /// The directory it runs in, if certain.
    pub cwd: Option<String>,
    /// The directories it may run in, as far as they are known; the likeliest first.
    pub folders: Vec<String>,
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
    let mut walk = Walk::default();
    let folders = Folders { possible: vec![facts.cwd.clone()], open: false };
    let mut state = State { folders, env: BTreeMap::new(), wild: false };
    if let Some(home) = &facts.home {
        state.set("HOME", Ok(home.clone()));
    }
    walk.text(text, Base::default(), &mut state, &Context::default());
    match walk.failure {
        None => Script { commands: walk.commands, unparsed: None },
        Some(why) => Script { commands: scanned(text, facts), unparsed: Some(why) },
    }
}

fn scanned(text: &str, facts: &Facts) -> Vec<Command> {
    let pieces = scan::commands(text).into_iter().enumerate();
    let commands = pieces.map(|(group, words)| Command {
        span: words.first().map_or_else(Span::default, |first| Span {
            start: first.span.start,
            end: words.last().map_or(first.span.end, |last| last.span.end),
        }),
        words,
        assignments: Vec::new(),
        redirects: Vec::new(),
        cwd: Some(facts.cwd.clone()),
        folders: vec![facts.cwd.clone()],
        via: Vec::new(),
        group,
        joiner: Joiner::First,
        more_words: false,
        unseen_script: false,
    });
    commands.collect()
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

/// The directories that a command may run in.
#[derive(Clone, Debug, PartialEq)]
struct Folders {
    /// The likeliest first.
    possible: Vec<String>,
    /// Whether it may be another one as well.
    open: bool,
}

impl Folders {
    fn certain(&self) -> Option<&String> {
        self.possible.first().filter(|_| self.possible.len() == 1 && !self.open)
    }

    fn unknown() -> Self {
        Folders { possible: Vec::new(), open: true }
    }

    fn merge(&mut self, other: &Folders) {
        for folder in &other.possible {
            if !self.possible.contains(folder) {
                self.possible.push(folder.clone());
            }
        }
        self.open |= other.open || self.possible.len() > MAX_FOLDERS;
        self.possible.truncate(MAX_FOLDERS);
    }
}

/// What the walk knows at a point of the text.
#[derive(Clone, PartialEq)]
struct State {
    folders: Folders,
    /// Variables that the text sets, or why they are no longer known.
    env: BTreeMap<String, Result<String, Why>>,
    /// Whether variables may change behind the text's back (a nameref, a changed case).
    wild: bool,
}

impl State {
    fn set(&mut self, name: &str, value: Result<String, Why>) {
        let value = value.and_then(|text| if text.len() > MAX_VALUE { Err(Why::TooMuch) } else { Ok(text) });
        self.env.insert(name.to_owned(), value);
    }

    fn forget(&mut self, name: &str) {
        self.set(name, Err(Why::Variable(name.to_owned())));
    }

    fn forget_all(&mut self) {
        for (name, value) in &mut self.env {
            *value = Err(Why::Variable(name.clone()));
        }
    }

    /// What is certain whichever of the two came to pass.
    fn merge(&mut self, other: &State) {
        self.folders.merge(&other.folders);
        self.wild |= other.wild;
        let differ = |name: &String| self.env.get(name) != other.env.get(name);
        let names: Vec<String> = self.env.keys().chain(other.env.keys()).filter(|name| differ(name)).cloned().collect();
        names.iter().for_each(|name| self.forget(name));
    }
}

impl word::Scope for State {
    fn variable(&self, name: &str) -> Result<String, Why> {
        match (self.env.get(name), name) {
            (Some(_), _) if self.wild => Err(Why::Variable(name.to_owned())),
            (Some(value), _) => value.clone(),
            (None, "PWD") => self.folders.certain().cloned().ok_or(Why::Directory),
            (None, "IFS") => Ok(" \t\n".to_owned()),
            _ => Err(Why::Variable(name.to_owned())),
        }
    }

    fn splits_at_blanks(&self) -> bool {
        !self.wild && !self.env.contains_key("IFS")
    }
}

/// What a shell reads where a command has no input of its own.
#[derive(Clone, Default)]
enum Stdin {
    /// Whatever the text as a whole was given: a terminal, or nothing.
    #[default]
    Inherited,
    Text(Word),
    Unseen,
}

/// What surrounds a text.
#[derive(Clone, Default)]
struct Context {
    via: Vec<String>,
    stdin: Stdin,
}

/// Where in a text the walk is.
struct Place<'a> {
    text: &'a str,
    /// Byte offset of each character, as the parser counts characters. Empty for ASCII texts.
    offsets: Rc<Vec<usize>>,
    base: Base,
    context: Context,
    group: usize,
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

    fn slice(&self, location: &brush_parser::TokenLocation) -> &str {
        let local = self.local(Some(location));
        self.text.get(local.start..local.end).unwrap_or(self.text)
    }

    fn reading(&self, stdin: Stdin) -> Place<'_> {
        let context = Context { via: self.context.via.clone(), stdin };
        Place { offsets: Rc::clone(&self.offsets), context, ..*self }
    }
}

#[derive(Default)]
struct Walk {
    commands: Vec<Command>,
    functions: HashMap<String, Function>,
    groups: usize,
    failure: Option<String>,
}

/// A function that the text defines.
#[derive(Clone)]
struct Function {
    body: Rc<ast::FunctionBody>,
    text: Rc<str>,
    offsets: Rc<Vec<usize>>,
    base: Base,
}

impl Walk {
    fn fail(&mut self, why: impl Into<String>) {
        self.failure.get_or_insert_with(|| why.into());
    }

    fn text(&mut self, text: &str, base: Base, state: &mut State, context: &Context) {
        if self.failure.is_some() {
            return;
        }
        if context.via.len() > MAX_NESTING {
            return self.fail("the text holds too many commands inside one another");
        }
        if let Some(why) = scan::refuse(text) {
            return self.fail(why);
        }
        let options = word::options();
        let source = brush_parser::SourceInfo::default();
        // The parser takes a heredoc whose last line has no end for one that is cut off; the shell does not.
        let ended = std::io::Read::chain(text.as_bytes(), &b"\n"[..]);
        let mut parser = brush_parser::Parser::new(std::io::BufReader::new(ended), &options, &source);
        let program = match parser.parse_program() {
            Ok(program) => program,
            Err(error) => return self.fail(format!("the text does not parse: {error}")),
        };
        let offsets = if text.is_ascii() { Vec::new() } else { text.char_indices().map(|(at, _)| at).collect() };
        let group = self.new_group();
        let place = Place { text, offsets: Rc::new(offsets), base, context: context.clone(), group };
        let mut joiner = Joiner::First;
        for list in &program.complete_commands {
            self.list(list, &place, state, &mut joiner);
        }
    }

    fn new_group(&mut self) -> usize {
        self.groups += 1;
        self.groups - 1
    }

    fn list(&mut self, list: &ast::CompoundList, place: &Place<'_>, state: &mut State, joiner: &mut Joiner) {
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            if self.failure.is_some() {
                return;
            }
            match separator {
                // A background list runs in a shell of its own.
                ast::SeparatorOperator::Async => self.and_or(and_or, place, &mut state.clone(), joiner),
                ast::SeparatorOperator::Sequence => self.and_or(and_or, place, state, joiner),
            }
            *joiner = Joiner::Then;
        }
    }

    fn and_or(&mut self, and_or: &ast::AndOrList, place: &Place<'_>, state: &mut State, joiner: &mut Joiner) {
        if and_or.additional.is_empty() {
            // Only a change of directory can fail and the text go on.
            let before = state.folders.clone();
            self.pipeline(&and_or.first, place, state, joiner);
            if state.folders != before {
                state.folders.merge(&before);
            }
            return;
        }
        let mut ends = vec![state.clone()];
        self.pipeline(&and_or.first, place, state, joiner);
        for next in &and_or.additional {
            let (pipeline, operator) = match next {
                ast::AndOr::And(pipeline) => (pipeline, Joiner::And),
                ast::AndOr::Or(pipeline) => (pipeline, Joiner::Or),
            };
            *joiner = operator;
            if operator == Joiner::And {
                // What stands before may have failed, and the list ends there.
                ends.push(state.clone());
                self.pipeline(pipeline, place, state, joiner);
            } else {
                // Runs in any of the states that a failure leaves; after `|| exit` only success goes on.
                let mut failed = ends.remove(0);
                ends.drain(..).for_each(|end| failed.merge(&end));
                self.pipeline(pipeline, place, &mut failed, joiner);
                if !leaves(pipeline) {
                    state.merge(&failed);
                }
                ends.push(state.clone());
            }
        }
        ends.iter().for_each(|end| state.merge(end));
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline, place: &Place<'_>, state: &mut State, joiner: &mut Joiner) {
        if let [only] = pipeline.seq.as_slice() {
            return self.command(only, place, state, joiner);
        }
        for (index, command) in pipeline.seq.iter().enumerate() {
            let stdin = match index.checked_sub(1) {
                None => place.context.stdin.clone(),
                Some(before) => {
                    *joiner = Joiner::Pipe;
                    self.printed(&pipeline.seq[before], place, state).map_or(Stdin::Unseen, Stdin::Text)
                }
            };
            self.command(command, &place.reading(stdin), &mut state.clone(), joiner);
        }
    }

    fn command(&mut self, command: &ast::Command, place: &Place<'_>, state: &mut State, joiner: &mut Joiner) {
        if self.failure.is_some() {
            return;
        }
        match command {
            ast::Command::Simple(simple) => self.simple(simple, place, state, joiner),
            ast::Command::Compound(compound, None) => self.compound(compound, place, state, joiner),
            ast::Command::Compound(compound, Some(list)) => {
                let (redirects, stdin) = self.redirects(&list.0, place, state);
                let span = list.0.iter().filter_map(ast::SourceLocation::location).map(|at| place.local(Some(&at)));
                let span = span.reduce(|a, b| Span { start: a.start.min(b.start), end: a.end.max(b.end) });
                if !redirects.is_empty() {
                    let span = place.base.map(span.unwrap_or_default());
                    self.push(Vec::new(), Vec::new(), redirects, span, place, state, *joiner);
                    *joiner = Joiner::Then;
                }
                self.compound(compound, &place.reading(stdin), state, joiner);
            }
            ast::Command::Function(function) => {
                let body = Function {
                    body: Rc::new(function.body.clone()),
                    text: Rc::from(place.text),
                    offsets: Rc::clone(&place.offsets),
                    base: place.base,
                };
                self.functions.insert(function.fname.value.clone(), body);
                // Listed where it is defined, with nothing known about where it will be called.
                let mut unknown = State { folders: Folders::unknown(), env: state.env.clone(), wild: state.wild };
                unknown.forget_all();
                let ast::FunctionBody(body, list) = &function.body;
                let (redirects, stdin) = self.redirects(list.as_ref().map_or(&[], |list| &list.0), place, &unknown);
                let own = Place { group: self.new_group(), ..place.reading(stdin) };
                if !redirects.is_empty() {
                    let span = redirects[0].target.span;
                    self.push(Vec::new(), Vec::new(), redirects, span, &own, &unknown, Joiner::First);
                }
                self.compound(body, &own, &mut unknown, &mut Joiner::First.clone());
            }
            ast::Command::ExtendedTest(test) => self.test(&test.expr, place, state),
        }
    }

    /// Lists a command and says where.
    #[allow(clippy::too_many_arguments)]
    fn push(
        &mut self,
        words: Vec<Word>,
        assignments: Vec<(String, Word)>,
        redirects: Vec<Redirect>,
        span: Span,
        place: &Place<'_>,
        state: &State,
        joiner: Joiner,
    ) -> usize {
        if self.commands.len() >= MAX_COMMANDS {
            self.fail(format!("the text holds more than {MAX_COMMANDS} commands"));
        }
        self.commands.push(Command {
            words,
            assignments,
            redirects,
            span,
            cwd: state.folders.certain().cloned(),
            folders: state.folders.possible.clone(),
            via: place.context.via.clone(),
            group: place.group,
            joiner,
            more_words: false,
            unseen_script: false,
        });
        self.commands.len() - 1
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
                let mut falls_through: Option<State> = None;
                for case in &clause.cases {
                    case.patterns.iter().for_each(|pattern| self.substitutions(pattern, place, &before));
                    let mut branch = before.clone();
                    if let Some(above) = falls_through.take() {
                        branch.merge(&above);
                    }
                    if let Some(list) = &case.cmd {
                        self.list(list, place, &mut branch, joiner);
                    }
                    state.merge(&branch);
                    if !matches!(case.post_action, ast::CaseItemPostAction::ExitCase) {
                        falls_through = Some(branch);
                    }
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
                    forget_mentioned(&expression.value, state);
                }
                self.repeat(&clause.body.list, &clause.loc, place, state, joiner);
            }
            ast::CompoundCommand::WhileClause(clause) | ast::CompoundCommand::UntilClause(clause) => {
                let ast::WhileOrUntilClauseCommand(condition, body, location) = clause;
                self.loosen(place.slice(location), state);
                self.list(condition, place, state, joiner);
                self.repeat(&body.list, location, place, state, joiner);
            }
            ast::CompoundCommand::Arithmetic(command) => {
                self.arithmetic(command, place, state);
                forget_mentioned(&command.expr.value, state);
            }
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
                self.text(inside, place.base.at(local.start + 1), &mut state.clone(), &place.context);
            }
        }
    }

    /// A `for` over a few known words is walked once a word; another one once, with its variable unknown.
    fn for_each(&mut self, clause: &ast::ForClauseCommand, place: &Place<'_>, state: &mut State, joiner: &mut Joiner) {
        const MOST: usize = 16;
        let values: Option<Vec<String>> = clause.values.as_ref().and_then(|words| {
            let words = words.iter().flat_map(|word| resolve(word, place, state));
            words.map(|word| word.known().map(str::to_owned)).collect()
        });
        let name = clause.variable_name.as_str();
        match values {
            Some(values) if values.len() <= MOST => {
                for value in values {
                    state.set(name, Ok(value));
                    self.repeat(&clause.body.list, &clause.loc, place, state, joiner);
                }
            }
            _ => {
                state.forget(name);
                self.repeat(&clause.body.list, &clause.loc, place, state, joiner);
            }
        }
        // A `break` may have ended it at any value.
        state.forget(name);
    }

    /// A body that runs any number of times: what it may change is unknown, inside it as well as after it.
    fn repeat(
        &mut self,
        body: &ast::CompoundList,
        whole: &brush_parser::TokenLocation,
        place: &Place<'_>,
        state: &mut State,
        joiner: &mut Joiner,
    ) {
        self.loosen(place.slice(whole), state);
        let before = state.clone();
        self.list(body, place, state, joiner);
        state.merge(&before);
    }

    /// Forgets whatever a loop's text may set: every variable that it names other than by `$`.
    fn loosen(&self, text: &str, state: &mut State) {
        let mut calls = false;
        for (before, name) in identifiers(text) {
            let read = before == Some('$') || before == Some('{');
            if !read && state.env.contains_key(name) && state.env.get(name).is_some_and(Result::is_ok) {
                // The loop's own variable is set anew each time round.
                let own = text.trim_start().strip_prefix("for").is_some_and(|rest| rest.trim_start().starts_with(name));
                if !own {
                    state.forget(name);
                }
            }
            calls |= matches!(name, "eval" | "source") || self.functions.contains_key(name);
            state.folders.open |= calls || matches!(name, "cd" | "pushd" | "popd");
        }
        if calls {
            state.forget_all();
        }
    }

    fn simple(&mut self, simple: &ast::SimpleCommand, place: &Place<'_>, state: &mut State, joiner: &mut Joiner) {
        let mut assignments = Vec::new();
        let mut words = Vec::new();
        let mut redirects = Vec::new();
        let mut nested = Vec::new();
        let mut span: Option<Span> = None;
        let mut stdin = place.context.stdin.clone();

        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let name = simple.word_or_name.clone().map(ast::CommandPrefixOrSuffixItem::Word);
        for (item, is_prefix) in prefix.map(|item| (item, true)).chain(name.iter().chain(suffix).map(|i| (i, false))) {
            match item {
                ast::CommandPrefixOrSuffixItem::Word(source) => {
                    grow(&mut span, place.local(source.loc.as_ref()));
                    words.extend(resolve(source, place, state));
                    nested.push(source.clone());
                }
                ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, source) => {
                    grow(&mut span, place.local(source.loc.as_ref()));
                    nested.push(source.clone());
                    if is_prefix {
                        let named = self.assignment(assignment, place, state);
                        // Without a program the later ones see the earlier ones.
                        if simple.word_or_name.is_none() {
                            state.set(&named.0, value_of(&named.0, &named.1));
                        }
                        assignments.push(named);
                    } else {
                        let at = place.base.map(place.local(source.loc.as_ref()));
                        words.extend(word::resolve_assignment_like(place.source(source), at, state));
                    }
                }
                ast::CommandPrefixOrSuffixItem::ProcessSubstitution(_, shell) => {
                    let local = place.local(Some(&shell.loc));
                    grow(&mut span, local);
                    let value = Value::hole(Why::ProcessSubstitution);
                    words.push(Word { span: place.base.map(local), value, quoted: false });
                    self.apart(&shell.list, place, state);
                }
                ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                    if let Some(location) = redirect.location() {
                        grow(&mut span, place.local(Some(&location)));
                    }
                    let reading = place.reading(std::mem::take(&mut stdin));
                    let (found, after) = self.redirects(std::slice::from_ref(redirect), &reading, state);
                    redirects.extend(found);
                    stdin = after;
                }
            }
        }

        let span = place.base.map(span.unwrap_or_default());
        let names: Vec<String> = assignments.iter().map(|(name, _)| name.clone()).collect();
        let index = self.push(words, assignments, redirects, span, place, state, *joiner);
        *joiner = Joiner::Then;
        for word in &nested {
            self.substitutions(word, place, state);
            // `${X:=value}` sets it.
            if word.value.contains('=') && word.value.contains("${") {
                forget_mentioned(&word.value, state);
            }
        }
        self.open(index, &stdin, &names, state, 0);
        if !self.call(index, &stdin, state) {
            self.apply(index, state);
        }
    }

    /// Walks a function's body where it is called.
    fn call(&mut self, index: usize, stdin: &Stdin, state: &mut State) -> bool {
        let command = &self.commands[index];
        let Some(name) = command.words.first().and_then(Word::known) else { return false };
        let Some(function) = self.functions.get(name).cloned() else { return false };
        let mut via = command.via.clone();
        if via.iter().any(|outer| outer == name) || via.len() > MAX_NESTING {
            // Its body was walked on the way here; what it has changed after so many rounds is not known.
            state.folders.open = true;
            state.forget_all();
            return true;
        }
        via.push(name.to_owned());
        let ast::FunctionBody(body, list) = &*function.body;
        let text = Rc::clone(&function.text);
        let context = Context { via, stdin: stdin.clone() };
        let group = self.new_group();
        let place = Place { text: &text, offsets: function.offsets, base: function.base, context, group };
        let (redirects, stdin) = self.redirects(list.as_ref().map_or(&[], |list| &list.0), &place, state);
        if !redirects.is_empty() {
            let span = redirects[0].target.span;
            self.push(Vec::new(), Vec::new(), redirects, span, &place, state, Joiner::First);
        }
        self.compound(body, &place.reading(stdin), state, &mut Joiner::First.clone());
        true
    }

    /// Opens what a command runs besides itself. `names` are the variables that are set for it alone.
    fn open(&mut self, index: usize, stdin: &Stdin, names: &[String], state: &mut State, depth: usize) {
        if depth > MAX_NESTING {
            return self.fail("wrappers inside wrappers, without an end");
        }
        let outer = self.commands[index].clone();
        for inner in wrapper::inner(&outer.words) {
            let mut via = outer.via.clone();
            via.push(outer.program().unwrap_or_default().to_owned());
            let (words, more_words) = match inner {
                Inner::Command { at, more } => (outer.words[at..].to_vec(), more),
                Inner::Template { from, to } => (outer.words[from..to].iter().map(placeholder).collect(), false),
                Inner::Text(at) => {
                    self.script(&outer.words[at], &Context { via, stdin: stdin.clone() }, Some(names), state, index);
                    continue;
                }
                Inner::Joined(at) => {
                    let joined = join(&outer.words[at..]);
                    self.script(&joined, &Context { via, stdin: stdin.clone() }, None, state, index);
                    continue;
                }
                Inner::Stdin => {
                    match stdin {
                        Stdin::Text(text) => {
                            self.script(text, &Context { via, ..Context::default() }, Some(names), state, index);
                        }
                        Stdin::Unseen => self.commands[index].unseen_script = true,
                        Stdin::Inherited => {}
                    }
                    continue;
                }
                Inner::Unseen => {
                    self.commands[index].unseen_script = true;
                    continue;
                }
            };
            let span = Span { start: words.first().map_or(outer.span.start, |word| word.span.start), ..outer.span };
            let group = self.new_group();
            let at = self.commands.len();
            self.commands.push(Command {
                words,
                assignments: Vec::new(),
                redirects: Vec::new(),
                span,
                via,
                group,
                joiner: Joiner::First,
                more_words,
                unseen_script: false,
                ..outer.clone()
            });
            // What xargs runs has its input taken away.
            let own = if more_words { &Stdin::Inherited } else { stdin };
            self.open(at, own, names, state, depth + 1);
            // What xargs reads becomes a part of the text that a shell runs.
            if more_words && wrapper::puts_into_text(&outer.words, &self.commands[at].words) {
                self.commands[at].unseen_script = true;
            }
        }
    }

    /// Walks a word as shell text: in this shell, or in one of its own that sees only what is exported, and `names`.
    fn script(&mut self, word: &Word, context: &Context, names: Option<&[String]>, state: &mut State, index: usize) {
        let Some(text) = word.known() else {
            self.commands[index].unseen_script = true;
            return;
        };
        let mut own = state.clone();
        let state = match names {
            None => state,
            Some(names) => {
                // Which of them are exported is not followed.
                let home = own.env.get("HOME").cloned().filter(|_| !names.iter().any(|name| name == "HOME"));
                own.forget_all();
                names.iter().for_each(|name| own.forget(name));
                if let Some(home) = home {
                    own.env.insert("HOME".to_owned(), home);
                }
                &mut own
            }
        };
        self.text(text, Base { offset: 0, opaque: Some(word.span) }, state, context);
    }

    /// What a command prints, if that is plain from its text.
    fn printed(&self, command: &ast::Command, place: &Place<'_>, state: &State) -> Option<Word> {
        let ast::Command::Simple(simple) = command else { return None };
        let mut words = Vec::new();
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let name = simple.word_or_name.clone().map(ast::CommandPrefixOrSuffixItem::Word);
        for item in name.iter().chain(suffix) {
            match item {
                ast::CommandPrefixOrSuffixItem::Word(word)
                | ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) => words.extend(resolve(word, place, state)),
                _ => return None,
            }
        }
        let program = words.first()?.known().map(basename)?;
        if self.functions.contains_key(program) {
            return None;
        }
        let rest = match program {
            "echo" => {
                let option = |word: &&Word| {
                    word.known().is_some_and(|text| {
                        text.len() > 1 && text.starts_with('-') && text[1..].chars().all(|c| "neE".contains(c))
                    })
                };
                let options = words[1..].iter().take_while(option).count();
                if words[1..=options].iter().any(|word| word.known().is_some_and(|text| text.contains('e'))) {
                    return None;
                }
                &words[1 + options..]
            }
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
    fn apply(&self, index: usize, state: &mut State) {
        let command = &self.commands[index];
        let mut words = command.words.as_slice();
        while matches!(words.first().and_then(Word::known), Some("builtin" | "command")) {
            words = &words[1..];
            while words.first().and_then(Word::known).is_some_and(|word| word == "--" || word == "-p") {
                words = &words[1..];
            }
        }
        let arguments = words.get(1..).unwrap_or_default();
        match words.first().and_then(Word::known) {
            Some("cd") => {
                let option = |word: &&Word| word.known().is_some_and(|text| text.len() > 1 && text.starts_with('-'));
                let mut operands = arguments.iter().skip_while(option);
                let target = match operands.next() {
                    None => word::Scope::variable(state, "HOME").ok(),
                    Some(word) if word.known() == Some("-") || operands.next().is_some() => None,
                    Some(word) => word.known().map(str::to_owned),
                };
                state.folders = match target {
                    // With CDPATH set, a relative target may be elsewhere.
                    Some(path) if path.starts_with('/') || !state.env.contains_key("CDPATH") => {
                        let possible = match path.starts_with('/') {
                            true => vec![absolute(&path, "/")],
                            false => state.folders.possible.iter().map(|folder| absolute(&path, folder)).collect(),
                        };
                        let mut possible: Vec<String> = possible;
                        possible.retain(|folder| folder.len() <= MAX_PATH);
                        let open = state.folders.open && !path.starts_with('/');
                        Folders { possible, open }
                    }
                    _ => Folders::unknown(),
                };
                state.env.remove("PWD");
            }
            Some("pushd" | "popd") => state.folders = Folders::unknown(),
            Some("export" | "declare" | "local" | "readonly" | "typeset") => {
                for word in arguments {
                    let (Value::Known(text) | Value::Pattern(text) | Value::Unknown { shape: text, .. }) = &word.value;
                    match text.split_once('=') {
                        Some((name, value)) => {
                            let name = name.trim_end_matches('+');
                            let known = matches!(word.value, Value::Known(_)) && !text.contains("+=");
                            let value = if known { Ok(value.to_owned()) } else { Err(Why::Variable(name.to_owned())) };
                            state.set(name, value);
                        }
                        // An option that changes what values mean, or names that stand for others.
                        None if text.starts_with('-') && text.contains(['n', 'l', 'u', 'i', 'c', 'a', 'A', 'f']) => {
                            state.wild = true;
                        }
                        None => {}
                    }
                }
                // A later assignment to it fails and changes nothing.
                state.wild |= words[0].known() == Some("readonly");
            }
            Some("unset" | "read" | "mapfile" | "readarray" | "getopts" | "wait" | "let") => {
                for word in arguments {
                    match word.known() {
                        Some(text) => forget_mentioned(text, state),
                        None => state.forget_all(),
                    }
                }
            }
            Some("printf") if arguments.first().and_then(Word::known).is_some_and(|word| word.starts_with("-v")) => {
                state.forget_all();
            }
            // What such a file sets is not known.
            Some("source" | ".") => {
                state.folders.open = true;
                state.forget_all();
            }
            _ => {}
        }
    }

    fn assignment(&self, assignment: &ast::Assignment, place: &Place<'_>, state: &State) -> (String, Word) {
        let span = place.base.map(place.local(Some(&assignment.loc)));
        let unknown = Word { span, value: Value::hole(Why::Expansion), quoted: false };
        let name = match &assignment.name {
            ast::AssignmentName::VariableName(name) => name.clone(),
            ast::AssignmentName::ArrayElementName(name, _) => return (name.clone(), unknown),
        };
        let word = match &assignment.value {
            ast::AssignmentValue::Scalar(word) if !assignment.append => {
                word::resolve_whole(place.source(word), span, state)
            }
            _ => unknown,
        };
        // A glob on the right-hand side of an assignment is plain text.
        let word = match word.value {
            Value::Pattern(text) => Word { value: Value::Known(text), ..word },
            _ => word,
        };
        (name, word)
    }

    /// The files that redirects name, and what standard input is after them.
    fn redirects(&mut self, list: &[ast::IoRedirect], place: &Place<'_>, state: &State) -> (Vec<Redirect>, Stdin) {
        let mut found = Vec::new();
        let mut stdin = place.context.stdin.clone();
        for redirect in list {
            let (fd, source) = match redirect {
                ast::IoRedirect::File(fd, kind, target) => {
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
                            self.redirect(kind, word, place, state, &mut found);
                        }
                        // `>&2` is a descriptor, `>& file` a file.
                        ast::IoFileRedirectTarget::Duplicate(word) => {
                            if !word.value.chars().all(|c| c.is_ascii_digit() || c == '-') {
                                self.redirect(kind, word, place, state, &mut found);
                            }
                        }
                        ast::IoFileRedirectTarget::ProcessSubstitution(_, shell) => {
                            self.apart(&shell.list, place, state);
                        }
                        ast::IoFileRedirectTarget::Fd(_) => {}
                    }
                    let reads = matches!(kind, RedirectKind::Read | RedirectKind::ReadWrite);
                    (if reads { fd.unwrap_or(0) } else { fd.unwrap_or(1) }, Stdin::Unseen)
                }
                ast::IoRedirect::OutputAndError(word, append) => {
                    let kind = if *append { RedirectKind::Append } else { RedirectKind::Write };
                    self.redirect(kind, word, place, state, &mut found);
                    continue;
                }
                ast::IoRedirect::HereDocument(fd, document) => {
                    let span = place.base.map(place.local(document.doc.loc.as_ref()));
                    let text = &document.doc.value;
                    if document.requires_expansion {
                        self.literal_quotes(text, &document.doc, place, state);
                    }
                    let plain = !document.requires_expansion || !text.contains(['$', '`', '\\']);
                    let word = Word { span, value: Value::Known(text.clone()), quoted: true };
                    (fd.unwrap_or(0), if plain { Stdin::Text(word) } else { Stdin::Unseen })
                }
                ast::IoRedirect::HereString(fd, word) => {
                    self.substitutions(word, place, state);
                    let span = place.base.map(place.local(word.loc.as_ref()));
                    let word = word::resolve_whole(place.source(word), span, state);
                    (fd.unwrap_or(0), if word.known().is_some() { Stdin::Text(word) } else { Stdin::Unseen })
                }
            };
            if fd == 0 {
                stdin = source;
            }
        }
        (found, stdin)
    }

    fn redirect(
        &mut self,
        kind: RedirectKind,
        word: &ast::Word,
        place: &Place<'_>,
        state: &State,
        found: &mut Vec<Redirect>,
    ) {
        let span = place.base.map(place.local(word.loc.as_ref()));
        found.push(Redirect { kind, target: word::resolve_whole(place.source(word), span, state) });
        self.substitutions(word, place, state);
    }

    /// Walks the commands inside a word.
    fn substitutions(&mut self, word: &ast::Word, place: &Place<'_>, state: &State) {
        let source = place.source(word);
        if !source.contains(['$', '`', '(']) {
            return;
        }
        let local = place.local(word.loc.as_ref());
        // The parser counts bytes inside a word, and the word's text is the source's unless it is a heredoc.
        let verbatim = place.text.get(local.start..local.end) == Some(source);
        let base =
            if verbatim { place.base.at(local.start) } else { Base { offset: 0, opaque: Some(place.base.map(local)) } };
        self.expansions(source, base, place, state);
    }

    /// Walks the commands in the body of a heredoc, where quotes mean nothing.
    fn literal_quotes(&mut self, text: &str, word: &ast::Word, place: &Place<'_>, state: &State) {
        let base = Base { offset: 0, opaque: Some(place.base.map(place.local(word.loc.as_ref()))) };
        self.expansions(&text.replace(['\'', '"'], " "), base, place, state);
    }

    fn expansions(&mut self, source: &str, base: Base, place: &Place<'_>, state: &State) {
        match brush_parser::word::parse(source, &word::options()) {
            Ok(pieces) => self.pieces(&pieces, source, base, place, state, false),
            Err(_) => self.fail(format!("a word does not parse: {source}")),
        }
    }

    fn pieces(
        &mut self,
        pieces: &[WordPieceWithSource],
        source: &str,
        base: Base,
        place: &Place<'_>,
        state: &State,
        quoted: bool,
    ) {
        for piece in pieces {
            let written = source.get(piece.start_index..piece.end_index).unwrap_or(source);
            match &piece.piece {
                WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                    self.pieces(inner, source, base, place, state, true);
                }
                WordPiece::CommandSubstitution(text) | WordPiece::BackquotedCommandSubstitution(text) => {
                    let whole = Span { start: piece.start_index, end: piece.end_index.max(piece.start_index) };
                    let inside = match written.find(text.as_str()) {
                        Some(start) => base.at(piece.start_index + start),
                        None => Base { offset: 0, opaque: Some(base.map(whole)) },
                    };
                    self.substituted(text, inside, place, state);
                }
                // Commands may hide in a default value or an index: `${X:-$(rm y)}`.
                WordPiece::ParameterExpansion(_) | WordPiece::ArithmeticExpression(_) => {
                    let inner = written.get(2..written.len().saturating_sub(1)).unwrap_or("");
                    if written.starts_with("${") && inner.starts_with([' ', '\t', '\n', '|']) {
                        self.substituted(inner.trim_start_matches('|'), base.at(piece.start_index + 2), place, state);
                        continue;
                    }
                    let starts = ["$(", "`", "<(", ">(", "${"];
                    let Some(at) = starts.iter().filter_map(|start| inner.find(start)).min() else { continue };
                    // In double quotes a single one means nothing.
                    let rest = if quoted { inner[at..].replace('\'', " ") } else { inner[at..].to_owned() };
                    if rest.starts_with(['<', '>']) {
                        let end = rest.rfind(')').unwrap_or(rest.len());
                        self.substituted(
                            rest.get(2..end).unwrap_or(""),
                            base.at(piece.start_index + 4 + at),
                            place,
                            state,
                        );
                    } else {
                        self.expansions(&rest, base.at(piece.start_index + 2 + at), place, state);
                    }
                }
                _ => {}
            }
        }
    }

    fn substituted(&mut self, text: &str, base: Base, place: &Place<'_>, state: &State) {
        let mut context = place.context.clone();
        context.via.push(SUBSTITUTION.to_owned());
        self.text(text, base, &mut state.clone(), &context);
    }

    /// Walks a list that runs in a process of its own.
    fn apart(&mut self, list: &ast::CompoundList, place: &Place<'_>, state: &State) {
        let own = Place { group: self.new_group(), ..place.reading(Stdin::Inherited) };
        self.list(list, &own, &mut state.clone(), &mut Joiner::First.clone());
    }
}

fn resolve(word: &ast::Word, place: &Place<'_>, state: &State) -> Vec<Word> {
    word::resolve(place.source(word), place.base.map(place.local(word.loc.as_ref())), state)
}

/// What a variable is worth after an assignment.
fn value_of(name: &str, word: &Word) -> Result<String, Why> {
    match &word.value {
        Value::Known(text) => Ok(text.clone()),
        // The output of a command stays that in whatever variable it is.
        Value::Unknown { why: Why::CommandOutput, .. } => Err(Why::CommandOutput),
        _ => Err(Why::Variable(name.to_owned())),
    }
}

/// Forgets every variable that a text names.
fn forget_mentioned(text: &str, state: &mut State) {
    for (_, name) in identifiers(text) {
        state.forget(name);
    }
}

/// The names in a text, each with the character before it.
fn identifiers(text: &str) -> impl Iterator<Item = (Option<char>, &str)> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text.get(rest..)?.find(part)?;
        let end = text[start..].find(|c| !part(c)).map_or(text.len(), |length| start + length);
        rest = end;
        Some((text[..start].chars().next_back(), &text[start..end]))
    })
    .filter(|(_, name)| !name.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a pipeline does nothing but leave: `|| exit 1`.
fn leaves(pipeline: &ast::Pipeline) -> bool {
    let [ast::Command::Simple(simple)] = pipeline.seq.as_slice() else { return false };
    simple.word_or_name.as_ref().is_some_and(|word| matches!(word.value.as_str(), "exit" | "return" | "exec"))
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
            value: Value::Unknown { why: Why::Argument, shape: text.replace("{}", &Value::HOLE.to_string()) },
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
                why.get_or_insert(Why::Glob);
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
