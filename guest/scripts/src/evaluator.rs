//! A script that is read: its state, what it may still cost, and what it does as far as that was found.
//!
//! Tokens are evaluated as they are read, each once, whatever branch they stand in. A name that is assigned more than
//! once, and not only one after the other on the outermost level, is any of its values or unknown. A function is
//! evaluated at its calls, as long as the budget lasts, and once with unknown arguments if it is never called.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::assigned::loose;
use super::classes::Classes;
use super::cursor::Cursor;
use super::functions::{Frame, Made};
use super::lex::{self, Kind, Part, Token, Tokens};
use super::script_args::Expected;
use super::tables::acting;
use super::unused::unused;
use super::value::{self, Function, HOLE, MORE, Value, lost};
use super::{Language, Script, ScriptEffect, ScriptEffectKind, Setting, Text};

/// How deep expressions, blocks and calls may nest in each other.
pub(super) const DEEPEST: usize = 48;
/// More effects than this are not listed, and the script counts as one that is not read.
const MOST_DEEDS: usize = 4096;
/// More paths than these that a script has as texts are not listed.
const MOST_NAMED: usize = 64;
/// If more parts than this are not read, it does not matter what they name.
const MOST_SKIPPED: usize = 64;

/// Reads a script in a language that has expressions; `whole` if nothing else calls its functions.
pub(super) fn read(language: Language, script: &str, setting: Setting, whole: bool) -> Script {
    let (tokens, complete) = lex::lex(language, script);
    let mut evaluator = Evaluator {
        language,
        setting,
        options: Vec::new(),
        variables: HashMap::new(),
        loose: loose(language, &tokens),
        unused: if whole && language == Language::Python { unused(&tokens) } else { HashSet::new() },
        modules: HashSet::new(),
        methods: HashSet::new(),
        classes: Classes::default(),
        changed: false,
        effects: Vec::new(),
        complete,
        unread: false,
        skipped: 0,
        depth: 0,
        budget: 1_000_000 + 32 * script.len(),
        steps: 64 * script.len(),
        functions: Vec::new(),
        places: HashMap::new(),
        frames: Vec::new(),
        results: Vec::new(),
    };
    evaluator.run(&mut Cursor::all(&tokens));
    evaluator.rest();
    evaluator.named_at_home(&tokens);
    evaluator.emptied(&tokens);
    if evaluator.unread {
        // As text for a shell that nothing is known of: it may do anything.
        let what = ScriptEffectKind::Shell(Text::Shape(HOLE.to_string()));
        evaluator.effects.push(ScriptEffect { what, at: 0..script.len() });
    }
    Script { effects: evaluator.effects, complete: evaluator.complete }
}

pub(super) struct Evaluator {
    pub(super) language: Language,
    pub(super) setting: Setting,
    /// ScriptEffectKind `argparse` was told to expect.
    pub(super) options: Vec<Expected>,
    pub(super) variables: HashMap<String, Value>,
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
    /// ScriptEffectKind calls of functions and copies of values may still cost.
    pub(super) budget: usize,
    /// How many tokens may still be looked at ahead of their evaluation.
    pub(super) steps: usize,
    pub(super) functions: Vec<Made>,
    /// Functions by where they stand.
    pub(super) places: HashMap<(usize, usize), usize>,
    pub(super) frames: Vec<Frame>,
    /// Values that `return` gave, for each function that is being evaluated.
    pub(super) results: Vec<Vec<Value>>,
}

impl Evaluator {
    pub(super) fn effect(&mut self, mut what: ScriptEffectKind, at: &Range<usize>) {
        if self.effects.len() >= MOST_DEEDS {
            self.unread();
            return;
        }
        let mut more = false;
        for text in texts(&mut what) {
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

    /// Where the path of what is changed was lost, it may be any that the script has as a text. Of those in a home folder the
    /// script counts as having listed the files.
    fn named_at_home(&mut self, tokens: &Tokens) {
        // One of several that an argument can be is no path that was lost.
        let others = |one: &ScriptEffect| {
            self.effects.iter().any(|effect| effect.at == one.at && !changes_unnamed(&effect.what))
        };
        if self.effects.iter().any(|effect| changes_unnamed(&effect.what) && !others(effect)) {
            let mut named = Vec::new();
            paths_at_home(tokens, 0, &mut named);
            // ScriptEffectKind the script opens is not lost.
            let opened = |text: &Text| {
                self.effects.iter().any(|effect| matches!(&effect.what, ScriptEffectKind::Read(path) if path == text))
            };
            named.retain(|effect| !matches!(&effect.what, ScriptEffectKind::List(path) if opened(path)));
            self.effects.splice(0..0, named);
        }
    }

    /// Folders of which a script lists the names and deletes each.
    fn emptied(&mut self, tokens: &Tokens) {
        let folder = |effect: &ScriptEffect| match &effect.what {
            ScriptEffectKind::Delete { path: Text::Shape(shape), .. } => {
                let (folder, rest) = shape.split_at(shape.find(HOLE)?);
                let all = rest.chars().all(|char| matches!(char, HOLE | '/')) && folder.ends_with('/');
                all.then(|| ScriptEffect { what: ScriptEffectKind::Empty(value::path(folder)), at: effect.at.clone() })
            }
            _ => None,
        };
        let mut folders: Vec<ScriptEffect> = Vec::new();
        for effect in self.effects.iter().filter_map(folder) {
            if folders.len() < MOST_NAMED && !folders.iter().any(|other| other.what == effect.what) {
                folders.push(effect);
            }
        }
        if !folders.is_empty() && takes_all(tokens, 0) == Some(true) {
            self.effects.extend(folders);
        }
    }

    pub(super) fn incomplete(&mut self) {
        self.complete = false;
    }

    fn unread(&mut self) {
        self.complete = false;
        self.unread = true;
    }

    /// ScriptEffectKind these tokens do is not read. That matters if they name a call that touches files or processes.
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
                if names_a_deed(token, &acting) {
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

/// Whether something is changed of whose path nothing is known.
fn changes_unnamed(what: &ScriptEffectKind) -> bool {
    let (ScriptEffectKind::Write(path)
    | ScriptEffectKind::Append(path)
    | ScriptEffectKind::HardLink(path)
    | ScriptEffectKind::Delete { path, .. }
    | ScriptEffectKind::Mode { path, .. }
    | ScriptEffectKind::Move { from: path, .. }
    | ScriptEffectKind::Copy { to: path, .. }) = what
    else {
        return false;
    };
    matches!(path, Text::Shape(shape) if shape.trim_matches(['/', HOLE]).is_empty())
}

/// Whether a script goes through the names in a folder and does not pick among them; nothing if it does.
fn takes_all(tokens: &Tokens, depth: usize) -> Option<bool> {
    #[rustfmt::skip]
    const LISTS: &[&str] = &[
        "listdir", "scandir", "walk", "fwalk", "iterdir", "rglob", "glob", "iglob", "readdir", "readdirSync", "globSync", "children",
        "entries", "each_child", "foreach", "find", "opendir", "filesystemiterator", "directoryiterator", "recursivedirectoryiterator",
    ];
    const PICKS: &[&str] = &[
        "continue", "next", "filter", "grep", "select", "reject", "case", "switch", "when", "match", "break", "return",
        "last",
    ];
    let mut lists = false;
    for (at, token) in tokens.list.iter().enumerate() {
        match &token.kind {
            Kind::Name(name) if PICKS.contains(&name.as_str()) => return None,
            Kind::Name(name)
                if matches!(name.as_str(), "if" | "elif" | "unless" | "elsif") && !looks_at_kind(tokens, at + 1) =>
            {
                return None;
            }
            Kind::Mark("?") => return None,
            Kind::Name(name) => lists |= LISTS.contains(&name.as_str()) || name == "Dir",
            Kind::Code(inner) if depth < DEEPEST => lists |= takes_all(inner, depth + 1)?,
            _ => {}
        }
    }
    Some(lists)
}

/// Whether a condition only tells files from folders, or is the one under which a Python file is a program.
fn looks_at_kind(tokens: &Tokens, from: usize) -> bool {
    #[rustfmt::skip]
    const KINDS: &[&str] = &[
        "is_file", "is_dir", "is_symlink", "isfile", "isdir", "islink", "exists", "isFile", "isDirectory", "statSync", "lstatSync", "stat",
        "lstat", "existsSync", "file?", "directory?", "exist?", "symlink?", "path",
    ];
    if tokens.name(from) == Some("__name__") {
        return true;
    }
    let mut told = false;
    for at in from..from + 24 {
        match tokens.list.get(at).map(|token| &token.kind) {
            None | Some(Kind::Line | Kind::Mark(":" | "{" | ";" | "}")) => return told,
            Some(Kind::Name(name)) => {
                // Perl's `-f`.
                let test = name.len() == 1 && tokens.mark(at.wrapping_sub(1)) == Some("-");
                let kind = KINDS.contains(&name.as_str()) || test;
                told |= kind;
                let called = tokens.mark(at + 1) == Some("(") || tokens.mark(at.wrapping_sub(1)) == Some(".");
                if name == "in" || called && !kind {
                    return false;
                }
            }
            Some(Kind::Mark("." | "(" | ")" | "!" | "&&" | "||")) => {}
            Some(Kind::Mark("-")) if tokens.name(at + 1).is_some_and(|name| name.len() == 1) => {}
            Some(_) => return false,
        }
    }
    false
}

/// Whether a text is what a call compares, replaces, prints or writes, the help of an option, or a statement of its own.
fn is_only_said(tokens: &Tokens, at: usize) -> bool {
    #[rustfmt::skip]
    const SAYS: &[&str] = &[
        "replace", "replaceAll", "startswith", "startsWith", "start_with?", "endswith", "endsWith", "removeprefix", "sub", "gsub", "split",
        "includes", "contains", "print", "println", "puts", "log", "info", "warn", "error", "debug", "strpos", "str_replace", "toBe",
        "toEqual", "equal", "strictEqual", "assertEqual", "assert_equal", "expect", "write", "dump", "dumps", "stringify", "writelines",
    ];
    // Which are told the path first, then what to write there.
    const WRITES: &[&str] = &["writeFileSync", "writeFile", "appendFileSync", "file_put_contents", "write_text"];
    let line = |at: Option<usize>| {
        at.and_then(|at| tokens.list.get(at)).is_none_or(|token| matches!(token.kind, Kind::Line | Kind::Mark(";")))
    };
    if line(at.checked_sub(1)) && line(Some(at + 1)) {
        return true;
    }
    if at > 1 && tokens.name(at - 2) == Some("help") && matches!(tokens.mark(at - 1), Some("=" | ":")) {
        return true;
    }
    // The call in whose parentheses it stands, through lists and maps.
    let mut depth = 0_usize;
    let mut first = true;
    for before in (at.saturating_sub(64)..at).rev() {
        match tokens.mark(before) {
            Some(")" | "]" | "}") => depth += 1,
            Some("(" | "[" | "{") if depth > 0 => depth -= 1,
            Some("[" | "{") => first = true,
            Some("(") => {
                let name = before.checked_sub(1).and_then(|at| tokens.name(at)).unwrap_or_default();
                return SAYS.contains(&name) || !first && WRITES.contains(&name);
            }
            Some(",") if depth == 0 => first = false,
            Some(";") => return false,
            _ => {}
        }
    }
    false
}

/// Whether a text is a path in a home folder by its look.
pub(super) fn is_at_home(text: &str) -> bool {
    let home = ["~/", "/home/", "/root/", "/Users/"].iter().any(|home| text.starts_with(home));
    (home || text.starts_with(value::HOME)) && !text.contains(char::is_whitespace)
}

/// Listings of the paths in a home folder that a script has as texts.
fn paths_at_home(tokens: &Tokens, depth: usize, named: &mut Vec<ScriptEffect>) {
    for (at, token) in tokens.list.iter().enumerate() {
        if is_only_said(tokens, at) {
            continue;
        }
        let mut add = |text: &str| {
            if is_at_home(text) && named.len() < MOST_NAMED {
                named.push(ScriptEffect {
                    what: ScriptEffectKind::List(value::path(&value::glob(text))),
                    at: token.at.clone(),
                });
            }
        };
        match &token.kind {
            Kind::Text(parts) => {
                if let Some(Part::Text(text)) = parts.first() {
                    add(text);
                }
                for part in parts {
                    if let Part::Code { tokens, .. } = part
                        && depth < DEEPEST
                    {
                        paths_at_home(tokens, depth + 1, named);
                    }
                }
            }
            Kind::Words(words) => words.iter().for_each(|word| add(word)),
            Kind::Code(tokens) if depth < DEEPEST => paths_at_home(tokens, depth + 1, named),
            _ => {}
        }
    }
}

/// The texts of a effect.
fn texts(what: &mut ScriptEffectKind) -> Vec<&mut Text> {
    match what {
        ScriptEffectKind::Read(text)
        | ScriptEffectKind::List(text)
        | ScriptEffectKind::Empty(text)
        | ScriptEffectKind::Write(text)
        | ScriptEffectKind::Append(text)
        | ScriptEffectKind::HardLink(text)
        | ScriptEffectKind::Chdir(text)
        | ScriptEffectKind::Shell(text)
        | ScriptEffectKind::Eval(text)
        | ScriptEffectKind::Load(text)
        | ScriptEffectKind::Send(text)
        | ScriptEffectKind::Create { path: text, .. }
        | ScriptEffectKind::Delete { path: text, .. }
        | ScriptEffectKind::Mode { path: text, .. } => vec![text],
        ScriptEffectKind::Return => Vec::new(),
        ScriptEffectKind::Move { from, to } | ScriptEffectKind::Copy { from, to } => vec![from, to],
        ScriptEffectKind::Run(words) => words.iter_mut().collect(),
        ScriptEffectKind::In { folder, what } => std::iter::once(folder).chain(texts(what)).collect(),
    }
}

/// Whether a token is the last part of the name of a call that touches files or processes, or such a call itself.
fn names_a_deed(token: &Token, acting: &HashSet<&'static str>) -> bool {
    match &token.kind {
        Kind::Name(name) => acting.contains(name.as_str()),
        Kind::Shell(_) | Kind::Code(_) => true,
        Kind::Text(parts) => parts.iter().any(|part| match part {
            Part::Code { tokens, .. } => tokens.list.iter().any(|token| names_a_deed(token, acting)),
            Part::Text(_) => false,
        }),
        _ => false,
    }
}
