//! What zsh reads otherwise than bash: it may be the user's own shell, in which the agent runs its text. A pipeline in which
//! that makes a difference is run both ways. Not the builtins that only zsh has, and not what its options change.
//!
//! | Written | bash | zsh |
//! |---|---|---|
//! | `$a`, an array | its first element | each of its elements |
//! | `${a[1]}` | the second | the first |
//! | `$a[1]`, `$a[1,2]` | the first element, then a pattern | an element or several; of a text, characters |
//! | `$a:h`, `${a:t}` | the value, then text; a part from a number on | the folder, the name and so on of the value |
//! | `*(N)`, `*(e:'rm a':)` | does not parse | what the pattern finds; a text is run for each |
//! | `a \| read b` | in a subshell | in the shell itself |

use super::Interpreter;
use super::aliases::GLOBAL;
use super::parameter::{Got, many};
use super::state::ShellState;
use super::word_fragments::{WordFragment, push_literal, push_value};
use crate::abstract_value::Content;
use toolgate_shell_syntax::path::basename;
use toolgate_shell_syntax::syntax::{
    self, Assigned, Index, Literal, Node, NodeKind, Operation, Parameter, Part, Pipeline,
};
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// Tables of zsh with texts that it runs where their keys stand as commands, or at the end of one.
const TABLES: &[&str] = &["aliases", "dis_functions", "functions", "saliases"];

/// Letters that stand for a part of a path after a colon, or change it.
const MODIFIERS: &str = "aAcefghlPpqQrstux";

impl Interpreter<'_> {
    /// Whether the text at hand is read as zsh does.
    pub(super) fn is_zsh(&self) -> bool {
        self.dialect.zsh == Some(true)
    }

    /// `functions[f]="rm a"`: what zsh makes of an assignment to one of its tables. A text that it may run is looked at where it is
    /// set, as it is run under a name that anything may have.
    pub(super) fn assign_table(
        &mut self,
        table: &str,
        key: &syntax::Word,
        value: &syntax::Word,
        span: Span,
        state: &mut ShellState,
    ) {
        let mut own = state.clone();
        match table {
            // bash's name for the table of `hash`.
            "BASH_CMDS" => {
                let (name, path) = (self.assigned(key, &mut own), self.assigned(value, &mut own));
                stands_for(&name, &path, state);
            }
            _ if !self.dialect.may_be_zsh => {}
            _ if TABLES.contains(&table) => {
                let text = self.assigned(value, &mut own);
                self.may_run(table, &text, state);
            }
            "galiases" => {
                let (name, text) = (self.assigned(key, &mut own), self.assigned(value, &mut own));
                self.zsh_aliases("-g", &[joined(&name, &text, span)], state);
            }
            // A file by its name, once the module is there.
            "mapfile" => {
                let path = self.assigned(key, &mut own);
                self.on_file(": >", &path, span, state);
            }
            // The program that a name stands for.
            "commands" => {
                let (name, path) = (self.assigned(key, &mut own), self.assigned(value, &mut own));
                stands_for(&name, &path, state);
            }
            _ => {}
        }
    }

    /// `unset "mapfile[FILE]"` removes the file.
    pub(super) fn unset_file(&mut self, name: &str, span: Span, state: &ShellState) {
        let path = name.strip_prefix("mapfile[").and_then(|rest| rest.strip_suffix(']'));
        if let Some(path) = path.filter(|_| self.dialect.may_be_zsh) {
            self.on_file("rm -f", &Word::new(path, span), span, state);
        }
    }

    /// Does to a file what a command does.
    fn on_file(&mut self, command: &str, path: &Word, span: Span, state: &ShellState) {
        let text = match path.known() {
            Some(path) => Word::new(format!("{command} '{}'", path.replace('\'', "'\\''")), span),
            None => Word::unknown(Why::Expansion, span),
        };
        self.may_run("zsh", &text, state);
    }

    /// `alias -g NAME=WORDS`, which any word may be, and `alias -s ENDING=TEXT`, which runs files.
    pub(super) fn zsh_aliases(&mut self, kind: &str, arguments: &[Word], state: &mut ShellState) {
        for word in arguments {
            let Some((name, text)) = word.known().and_then(|text| text.split_once('=')) else { continue };
            if kind == "-g" {
                state.alias_texts.to_mut().insert(format!("{GLOBAL}{name}"), vec![text.to_owned()]);
            }
            // A global one that is no plain words may bring in a command of its own, behind an operator: `| less`, `; rm a`.
            if kind == "-s" || super::aliases::alias_words(text, word.span).is_none() {
                let own = text.trim_start_matches(['|', '&', ';', ' ']);
                self.may_run("alias", &Word::new(own, word.span), state);
            }
        }
    }

    /// `setopt NAME`: of zsh's own options only the one by which a variable names a folder.
    pub(super) fn set_zsh_options(&mut self, words: &[Word]) {
        let is_cdable = |name: &str| name.to_ascii_lowercase().replace(['_', '-'], "") == "cdablevars";
        let names = words.iter().skip(1).filter_map(Word::known);
        self.cdable |= self.dialect.may_be_zsh && names.into_iter().any(is_cdable);
    }

    /// `autoload NAME`: the body of the function is a file of that name, in one of the folders of `fpath`. Which these are is seldom
    /// known; one that the session wrote is looked at.
    pub(super) fn autoload(&mut self, words: &[Word], state: &ShellState) {
        if !self.dialect.may_be_zsh {
            return;
        }
        let names = words.iter().skip(1).filter_map(Word::known).filter(|name| !name.starts_with(['-', '+']));
        for name in names.map(basename) {
            let written = state.files.written().chain(state.files.of_session());
            let found = written.filter(|path| basename(path) == name).max().map(str::to_owned);
            if let Some(path) = found {
                self.on_file(".", &Word::new(path, words[0].span), words[0].span, state);
            }
        }
    }

    /// Whether the last command of a pipeline may change the shell itself.
    pub(super) fn last_may_set(&self, last: &Node, state: &ShellState) -> bool {
        let sets = match &last.kind {
            NodeKind::Simple { words, .. } => words.first().and_then(syntax::Word::plain).is_none_or(|name| {
                let prints = matches!(name, "echo" | "printf" | "test" | "[" | "true" | "false" | ":" | "pwd");
                let sets = name == "printf" && words.get(1).and_then(syntax::Word::plain) == Some("-v");
                super::builtin_names::runs_in_shell(name) && (!prints || sets) || state.function(name).is_some()
            }),
            NodeKind::Subshell(_) => false,
            _ => true,
        };
        self.dialect.may_be_zsh && sets
    }

    /// The pieces of a parameter with the parts behind it, if they belong to it; how many do, and what is left of the last.
    pub(super) fn with_subscript(
        &mut self,
        parameter: &Parameter,
        rest: &[Part],
        quoted: bool,
        state: &mut ShellState,
        pieces: &mut Vec<WordFragment>,
    ) -> Option<(usize, Literal)> {
        let Some(Part::Literal(next)) = rest.first() else { return None };
        let plain = parameter.index.is_none() && !parameter.indirect && matches!(parameter.operation, Operation::None);
        let content = state.get(&parameter.name).filter(|_| plain && !state.all_unknown)?.content.clone();
        let left = |literal: &Literal, taken: usize| Literal {
            text: literal.text.get(taken..).unwrap_or_default().to_owned(),
            at: literal.at.map(|at| at + taken),
            ..*literal
        };
        if next.text.starts_with('[') {
            // Parts in between are expanded: which element it is is not known then.
            let (count, last, close) = rest.iter().enumerate().find_map(|(at, part)| match part {
                Part::Literal(literal) => Some((at + 1, literal, literal.text.find(']')?)),
                _ => None,
            })?;
            let inside = next.text.get(1..close).filter(|_| count == 1);
            let range = inside.and_then(|inside| self.range(inside, state));
            match (content, range) {
                (Content::Array(values), Some(range)) => {
                    many(pieces, &slice(&values, range), false, quoted, state);
                }
                // Any of them, then.
                (Content::Array(values), None) => many(pieces, &values, false, quoted, state),
                (Content::Text(Value::Known(text)), Some(range)) => {
                    let characters: Vec<char> = text.chars().collect();
                    let part: String = slice(&characters, range).into_iter().collect();
                    push_value(pieces, Value::Known(part), quoted);
                }
                (Content::Text(_), _) => pieces.push(WordFragment::hole(Why::Expansion, quoted)),
                _ => return None,
            }
            return Some((count, left(last, close + 1)));
        }
        let mut taken = 0;
        let mut values = match content {
            Content::Text(value) => vec![value],
            Content::Array(values) => values.to_vec(),
            _ => return None,
        };
        while let Some(letter) = modifier(next.text.get(taken..)?) {
            values.iter_mut().for_each(|value| *value = modified(value, letter));
            taken += 2;
        }
        (taken > 0).then(|| {
            many(pieces, &values, false, quoted, state);
            (1, left(next, taken))
        })
    }

    /// What `[1]` or `[2,-1]` stands for: the first and the last, counted from one.
    fn range(&mut self, text: &str, state: &mut ShellState) -> Option<(i64, i64)> {
        if matches!(text, "@" | "*") {
            return Some((1, -1));
        }
        let (from, to) = text.split_once(',').unwrap_or((text, text));
        Some((self.number_in(from, state)?, self.number_in(to, state)?))
    }

    /// `${a:h}`: what the letter makes of the value.
    pub(super) fn with_modifier(&self, got: &Got, offset: &syntax::Word) -> Option<Got> {
        let letter = offset.literal().filter(|text| self.is_zsh() && text.len() == 1)?.chars().next()?;
        match got {
            Got::Set(value) if MODIFIERS.contains(letter) => Some(Got::Set(modified(value, letter))),
            _ => None,
        }
    }

    /// A word with qualifiers behind it, as `*(N)`: its pieces without them. The commands that they hold are run.
    pub(super) fn qualified(&mut self, parts: &[Part], state: &mut ShellState) -> Option<Vec<WordFragment>> {
        let (at, from) = qualifiers(parts)?;
        let Some(Part::Literal(opening)) = parts.get(at) else { return None };
        let mut own = Vec::new();
        let before = opening.text.get(..from)?;
        let start = Literal { text: before.to_owned(), quoted: false, ..*opening };
        if at == 0 && before.starts_with('~') {
            super::expand::plain(&start, true, true, state, &mut own);
        } else {
            own = self.pieces(parts.get(..at)?, false, true, state);
            if !before.is_empty() {
                push_literal(&mut own, start);
            }
        }
        // What finds nothing is no word, and not the pattern itself: it counts as one all the same.
        let rest = parts.get(at + 1..).unwrap_or_default();
        let rest = rest.iter().map(plain_text);
        let inside = opening.text.get(from + 1..)?.to_owned() + &rest.collect::<String>();
        for text in inside.strip_suffix(')').map(commands_in).unwrap_or_default() {
            if !self.may_nest() {
                break;
            }
            let text = match text.contains(Value::HOLE) {
                true => Word::unknown(Why::Expansion, Default::default()),
                false => Word::new(text, Default::default()),
            };
            let mut here = state.clone();
            // Each file that is found, in turn.
            if let Some(pattern) = pattern_of(&own) {
                self.assign("REPLY", Value::Known(pattern), &mut here);
            }
            self.doubting(true, |interpreter| {
                interpreter.inside("()", |interpreter| {
                    interpreter.text(&text, |interpreter, list| drop(interpreter.shell(list, here)));
                });
            });
        }
        Some(own)
    }
}

/// A name stands for a program from here on.
pub(super) fn stands_for(name: &Word, path: &Word, state: &mut ShellState) {
    if let (Some(name), Some(path)) = (name.known(), path.known()) {
        state.alias_texts.to_mut().insert(name.to_owned(), vec![path.to_owned()]);
        state.aliases = true;
    }
}

/// What pieces stand for, if nothing in them is unknown.
fn pattern_of(pieces: &[WordFragment]) -> Option<String> {
    let text = |piece: &WordFragment| match piece {
        WordFragment::Text { text, .. } | WordFragment::Match(text) | WordFragment::Spread(text) => Some(text.clone()),
        WordFragment::Hole { .. } | WordFragment::Break => None,
    };
    pieces.iter().map(text).collect()
}

/// The text of a part that is written out, in double quotes as well.
fn plain_text(part: &Part) -> String {
    match part {
        Part::Literal(literal) => literal.text.clone(),
        Part::Double(parts) => parts.iter().map(plain_text).collect(),
        _ => Value::HOLE.to_string(),
    }
}

/// `NAME=TEXT`, as far as both are known.
fn joined(name: &Word, text: &Word, span: Span) -> Word {
    match (name.known(), text.known()) {
        (Some(name), Some(text)) => Word::new(format!("{name}={text}"), span),
        _ => Word::unknown(Why::Expansion, span),
    }
}

/// The texts that qualifiers have run: `e:TEXT:` with any pair of characters for the colons, or `+NAME`.
fn commands_in(qualifiers: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = qualifiers;
    while let Some(at) = rest.find(['e', '+']) {
        let (_, after) = rest.split_at(at + 1);
        if rest[at..].starts_with('+') {
            let end = after.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(after.len());
            found.push(after[..end].to_owned());
            // What follows a number is not its name: `Lk+10`.
            rest = if after.starts_with(|c: char| c.is_ascii_digit()) { after } else { &after[end..] };
            continue;
        }
        let Some(mark) = after.chars().next() else { break };
        let close = match mark {
            '[' => ']',
            '{' => '}',
            '<' => '>',
            '(' => ')',
            mark => mark,
        };
        let text = &after[mark.len_utf8()..];
        let end = text.find(close).unwrap_or(text.len());
        found.push(text[..end].to_owned());
        rest = text.get(end + close.len_utf8()..).unwrap_or_default();
    }
    found
}

/// Where qualifiers begin: in which part, and at which byte of it.
fn qualifiers(parts: &[Part]) -> Option<(usize, usize)> {
    let unquoted = |part: &Part| match part {
        Part::Literal(literal) if !literal.quoted => Some(literal.text.clone()),
        _ => None,
    };
    unquoted(parts.last()?).filter(|text| text.ends_with(')'))?;
    let found = parts.iter().enumerate().find_map(|(at, part)| Some((at, unquoted(part)?.find('(')?)))?;
    (found != (0, 0)).then_some(found)
}

fn modifier(text: &str) -> Option<char> {
    let mut characters = text.chars();
    let letter = (characters.next() == Some(':')).then(|| characters.next()).flatten()?;
    MODIFIERS.contains(letter).then_some(letter)
}

fn modified(value: &Value, letter: char) -> Value {
    let Value::Known(text) = value else { return Value::hole(Why::Expansion) };
    let trimmed = text.trim_end_matches('/');
    let changed = match (letter, trimmed.rsplit_once('/')) {
        ('h', Some(("", _))) => "/",
        ('h', Some((folder, _))) => folder,
        ('h', None) if text.starts_with('/') => "/",
        ('h', None) => ".",
        ('t', Some((_, name))) => name,
        ('t', None) => trimmed,
        ('r', _) => match text.rsplit_once('.') {
            Some((root, extension)) if !extension.contains('/') => root,
            _ => text,
        },
        ('l', _) => return Value::Known(text.to_lowercase()),
        ('u', _) => return Value::Known(text.to_uppercase()),
        ('q' | 'Q' | 'a' | 'A' | 'P' | 'x', _) if !text.contains(char::is_whitespace) => text,
        _ => return Value::hole(Why::Expansion),
    };
    Value::Known(changed.to_owned())
}

/// From one place to another, counted from one or, below zero, from the end.
fn slice<T: Clone>(all: &[T], (from, to): (i64, i64)) -> Vec<T> {
    let count = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let place = |number: i64| if number < 0 { count + number } else { number - 1 };
    let (from, to) = (place(from).max(0), place(to));
    let inside = |at: &usize| i64::try_from(*at).is_ok_and(|at| from <= at && at <= to);
    all.iter().enumerate().filter(|(at, _)| inside(at)).map(|(_, one)| one.clone()).collect()
}

/// Whether zsh reads something in a pipeline otherwise.
pub(super) fn differs_in_zsh(pipeline: &Pipeline, state: &ShellState) -> bool {
    let word = |word: &syntax::Word| qualifiers(&word.parts).is_some() || word_differs(&word.parts, false, state);
    let is_array = |name: &str| matches!(state.get(name).map(|one| &one.content), Some(Content::Array(_)));
    pipeline.commands.iter().any(|node| {
        let own = match &node.kind {
            NodeKind::Simple { assignments, words } => {
                let assigns = |assignment: &syntax::Assignment| {
                    assignment.index.is_some() && is_array(&assignment.name)
                        || match &assignment.value {
                            Assigned::Scalar(scalar) => word_differs(&scalar.parts, false, state),
                            Assigned::Array(elements) => elements.iter().any(|element| word(&element.word)),
                        }
                };
                words.iter().any(word) || assignments.iter().any(assigns)
            }
            NodeKind::For { words: Some(words), .. } => words.iter().any(word),
            NodeKind::Case { subject, .. } => word_differs(&subject.parts, false, state),
            _ => false,
        };
        own || node.redirects.iter().any(|redirect| match &redirect.target {
            syntax::Target::Word(target) => word_differs(&target.parts, false, state),
            syntax::Target::Document(body) => body.get().is_some_and(|body| word_differs(&body.parts, true, state)),
        })
    })
}

fn word_differs(parts: &[Part], quoted: bool, state: &ShellState) -> bool {
    parts.iter().enumerate().any(|(at, part)| match part {
        Part::Double(parts) => word_differs(parts, true, state),
        Part::Parameter(parameter) => {
            let content = state.get(&parameter.name).map(|variable| &variable.content);
            let next = parts.get(at + 1).and_then(|next| match next {
                Part::Literal(literal) => Some(literal.text.as_str()),
                _ => None,
            });
            let continues = next.is_some_and(|next| next.starts_with('[') || modifier(next).is_some());
            match (&parameter.index, &parameter.operation, content) {
                (None, _, Some(Content::Array(_) | Content::Text(_))) if continues => true,
                (None, Operation::Substring { offset, length: None }, Some(Content::Text(_))) => {
                    offset.literal().is_some_and(|text| text.len() == 1 && text.chars().all(char::is_alphabetic))
                }
                (None, _, Some(Content::Array(values))) => values.len() > 1 && !quoted && !parameter.indirect,
                (Some(Index::Word(word)), _, Some(Content::Array(values))) => {
                    !values.is_empty() && word.plain() != Some("0")
                }
                _ => false,
            }
        }
        _ => false,
    })
}
