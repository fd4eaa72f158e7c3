//! A script that is read: its state, what it may still cost, and what it does as far as that was found.
//!
//! Tokens are evaluated as they are read, each once, whatever branch they stand in. A name that is assigned more than
//! once, and not only one after the other on the outermost level, is any of its values or unknown. A function is
//! evaluated at its calls, as long as the budget lasts, and once with unknown arguments if it is never called.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::classes::Classes;
use super::cursor::Cursor;
use super::tables::acting;
use super::tokens::{Kind, Part, Token};
use super::value::{Function, MORE, Value, lost};
use super::{Language, ScriptEffect, ScriptEffectKind, Setting, Text, value};

/// How deep expressions, blocks and calls may nest in each other.
pub(super) const DEEPEST: usize = 48;
/// More effects than this are not listed, and the script counts as one that is not read.
const MAX_EFFECTS: usize = 4096;
/// If more parts than this are not read, it does not matter what they name.
const MOST_SKIPPED: usize = 64;

/// The definition of a function.
pub(super) struct FunctionDefinition {
    pub(super) function: Rc<Function>,
    pub(super) called: bool,
}

/// A call of a function that is being evaluated.
pub(super) struct Frame {
    pub(super) function: Rc<Function>,
    pub(super) bound: Vec<(String, Value)>,
}

/// One call of `argparse`'s `add_argument`.
pub(super) struct Expected {
    /// The attribute that it becomes.
    pub(super) attribute: String,
    /// `-o`, `--output`; none of what stands by its place.
    pub(super) flags: Vec<String>,
    /// It may be several, as a list.
    pub(super) several: bool,
    /// `type=Path`
    pub(super) path: bool,
    /// What it is where nothing is given.
    pub(super) default: Option<Value>,
}

/// A script that is read, as far as it was.
pub(super) struct Evaluator {
    pub(super) language: Language,
    pub(super) setting: Setting,
    /// What `argparse` was told to expect.
    pub(super) options: Vec<Expected>,
    pub(super) variables: HashMap<String, Value>,
    /// What Python's `configparser` has read.
    pub(super) configuration: Value,
    /// What the script prints, if all of it is known; each text as a line.
    pub(super) printed: Option<String>,
    /// Names that are assigned in more than one place, some of which may not be reached.
    pub(super) loose: HashSet<String>,
    /// Functions that nothing can call.
    pub(super) unused: HashSet<String>,
    /// Modules that nothing is known of.
    pub(super) modules: HashSet<String>,
    /// Names of Ruby methods, which are called without parentheses too.
    pub(super) methods: HashSet<String>,
    /// Python's classes.
    pub(super) classes: Classes,
    /// A list that a function was given was changed in place.
    pub(super) changed: bool,
    pub(super) effects: Vec<ScriptEffect>,
    pub(super) complete: bool,
    /// Something lies beyond a limit that may touch files or processes.
    pub(super) unread: bool,
    /// How many parts were not read.
    pub(super) skipped: usize,
    pub(super) depth: usize,
    /// What calls of functions and copies of values may still cost.
    pub(super) budget: usize,
    /// How many tokens may still be looked at ahead of their evaluation.
    pub(super) steps: usize,
    pub(super) functions: Vec<FunctionDefinition>,
    /// Functions by where they stand.
    pub(super) places: HashMap<(usize, usize), usize>,
    pub(super) frames: Vec<Frame>,
    /// Values that `return` gave, for each function that is being evaluated.
    pub(super) results: Vec<Vec<Value>>,
}

impl Evaluator {
    /// Before anything was read of a script of so many bytes.
    pub(super) fn new(language: Language, setting: Setting, bytes: usize) -> Self {
        Evaluator {
            language,
            setting,
            options: Vec::new(),
            variables: HashMap::new(),
            configuration: Value::Map(Vec::new()),
            printed: Some(String::new()),
            loose: HashSet::new(),
            unused: HashSet::new(),
            modules: HashSet::new(),
            methods: HashSet::new(),
            classes: Classes::default(),
            changed: false,
            effects: Vec::new(),
            complete: true,
            unread: false,
            skipped: 0,
            depth: 0,
            budget: 1_000_000 + 32 * bytes,
            steps: 64 * bytes,
            functions: Vec::new(),
            places: HashMap::new(),
            frames: Vec::new(),
            results: Vec::new(),
        }
    }

    pub(super) fn effect(&mut self, mut what: ScriptEffectKind, at: &Range<usize>) {
        if self.effects.len() >= MAX_EFFECTS {
            self.unread();
            return;
        }
        let mut more = false;
        for text in what.texts() {
            if let Text::Shape(shape) = text
                && shape.contains(MORE)
            {
                shape.retain(|char| char != MORE);
                more = true;
            }
        }
        if more {
            self.unread();
        }
        self.effects.push(ScriptEffect { what, at: at.clone() });
    }

    /// What a file holds that is named by a value; unknown if any that it may be is not known.
    pub(super) fn content(&self, path: &Value) -> Value {
        let files = &self.setting.surroundings.files;
        let held = |text: &String| match value::path(text) {
            Text::Known(path) => files.iter().find(|file| file.path == path).map(|file| match file.may_change {
                true => Value::text(&file.text).or(Value::Unknown),
                false => Value::text(&file.text),
            }),
            Text::Shape(_) => None,
        };
        Value::choice(path.texts().iter().map(|text| held(text).unwrap_or(Value::Unknown)).collect())
    }

    /// The same as an open file.
    pub(super) fn opened(&self, path: &Value) -> Value {
        each_text(self.content(path), Value::File)
    }

    pub(super) fn incomplete(&mut self) {
        self.complete = false;
    }

    fn unread(&mut self) {
        self.complete = false;
        self.unread = true;
    }

    /// What these tokens do is not read. That matters if they name a call that touches files or processes.
    pub(super) fn unread_part(&mut self, c: &Cursor<'_>) {
        self.incomplete();
        self.skipped += 1;
        if self.unread {
            return;
        }
        if self.skipped > MOST_SKIPPED || self.may_act(c) {
            self.unread();
        }
    }

    /// Steps over what stands here, which lies too deep to be read.
    pub(super) fn too_deep(&mut self, c: &mut Cursor<'_>) -> Value {
        let from = c.at;
        match c.kind() {
            Some(Kind::Mark("(" | "[" | "{")) => c.at = (c.close() + 1).min(c.end),
            Some(Kind::Mark(_) | Kind::Line) | None => {}
            Some(_) => c.at += 1,
        }
        if c.at > from {
            self.unread_part(&c.part(from, c.at));
        }
        Value::Text(lost())
    }

    /// Whether these tokens, or the functions that they name, name a call that touches files or processes.
    fn may_act(&self, c: &Cursor<'_>) -> bool {
        let acting = acting(self.language);
        let mut parts = vec![(c.tokens.clone(), c.at..c.end)];
        let mut seen = HashSet::new();
        while let Some((tokens, part)) = parts.pop() {
            for token in tokens.list.get(part).unwrap_or_default() {
                if names_an_effect(token, &acting) {
                    return true;
                }
                if let Kind::Name(name) = &token.kind
                    && let Some(Value::Function(function)) = self.variables.get(name)
                    && seen.insert((Rc::as_ptr(&function.tokens) as usize, function.body.start))
                {
                    let end = function.body.end.min(function.tokens.list.len());
                    parts.push((function.tokens.clone(), function.body.start..end));
                }
            }
        }
        false
    }

    pub(super) fn unread_body(&mut self, function: &Function) {
        let tokens = function.tokens.clone();
        let end = function.body.end.min(tokens.list.len());
        self.unread_part(&Cursor { tokens: &tokens, at: function.body.start, end });
    }

    /// A call that lies too deep to be followed.
    pub(super) fn unread_call(&mut self, callee: &Value) {
        self.incomplete();
        match callee {
            Value::Function(function) => self.unread_body(function),
            Value::Name(name) | Value::Bound(_, name) => {
                let last = name.rsplit(['.', ':']).next().unwrap_or_default();
                self.unread |= acting(self.language).contains(last);
            }
            _ => {}
        }
    }

    /// Whether there is budget for this, which is then spent.
    pub(super) fn spend(&mut self, cost: usize) -> bool {
        let enough = self.budget >= cost;
        self.budget = self.budget.saturating_sub(cost);
        enough
    }

    /// Whether there is budget for one step ahead.
    pub(super) fn step(&mut self) -> bool {
        let enough = self.steps > 0;
        self.steps = self.steps.saturating_sub(1);
        if !enough {
            self.unread();
        }
        enough
    }

    pub(super) fn run(&mut self, c: &mut Cursor<'_>) -> Value {
        if self.depth >= DEEPEST {
            self.unread_part(c);
            return Value::Unknown;
        }
        self.depth += 1;
        let mut last = Value::Unknown;
        while c.at < c.end {
            let before = c.at;
            let separator = matches!(c.kind(), Some(Kind::Line | Kind::Mark(";" | "," | ")" | "]" | "}")));
            let value = self.statement(c);
            if !separator {
                last = value;
            }
            if c.at == before {
                c.at += 1;
            }
        }
        self.depth -= 1;
        last
    }
}

/// What is made of a text, or of each that it can be; the rest is unknown.
pub(super) fn each_text(value: Value, make: fn(String) -> Value) -> Value {
    match value {
        Value::Text(text) => make(text),
        Value::Choice(values) => Value::choice(values.into_iter().map(|value| each_text(value, make)).collect()),
        _ => Value::Unknown,
    }
}

/// Whether a token is the last part of the name of a call that touches files or processes, or such a call itself.
fn names_an_effect(token: &Token, acting: &HashSet<&'static str>) -> bool {
    match &token.kind {
        Kind::Name(name) => acting.contains(name.as_str()),
        Kind::Shell(_) | Kind::Code(_) => true,
        Kind::Text(parts) => parts.iter().any(|part| match part {
            Part::Code { tokens, .. } => tokens.list.iter().any(|token| names_an_effect(token, acting)),
            Part::Text(_) => false,
        }),
        _ => false,
    }
}
