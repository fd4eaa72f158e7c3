//! A script in a language that has expressions is read: evaluated from its start to its end, and then looked at as a whole
//! where that tells more.

use std::rc::Rc;

use super::assigned::loose;
use super::cursor::Cursor;
use super::evaluator::{DEEPEST, Evaluator};
use super::lex::lex;
use super::tokens::{Kind, Part, Tokens};
use super::unused::unused;
use super::value::{self, HOLE, is_at_home};
use super::{Language, Script, ScriptEffect, ScriptEffectKind, Setting, Text};

/// More paths than these that a script has as texts are not listed.
const MOST_NAMED: usize = 64;

/// Reads a script in a language that has expressions; `whole` if nothing else calls its functions.
pub(super) fn read(language: Language, script: &str, setting: Setting, whole: bool) -> Script {
    let (tokens, complete) = lex(language, script);
    let mut evaluator = Evaluator::new(language, setting, script.len());
    evaluator.complete = complete;
    if changes_environment(&tokens, 0) {
        evaluator.setting = in_doubt(&evaluator.setting);
    }
    if prints_in_parts(&tokens, 0) {
        evaluator.printed = None;
    }
    evaluator.loose = loose(language, &tokens);
    if whole && language == Language::Python {
        evaluator.unused = unused(&tokens);
    }
    evaluator.run(&mut Cursor::all(&tokens));
    evaluator.rest();
    evaluator.named_at_home(&tokens);
    evaluator.emptied(&tokens);
    if evaluator.unread {
        // As text for a shell that nothing is known of: it may do anything.
        let what = ScriptEffectKind::Shell(Text::Shape(HOLE.to_string()));
        evaluator.effects.push(ScriptEffect { what, at: 0..script.len() });
    }
    Script {
        effects: evaluator.effects,
        complete: evaluator.complete,
        printed: evaluator.printed.filter(|text| evaluator.complete && !text.is_empty()),
    }
}

/// Whether a script names something that changes variables of the environment, or hands the environment on, or sets one.
fn changes_environment(tokens: &Tokens, depth: usize) -> bool {
    #[rustfmt::skip]
    const CHANGES: &[&str] = &[
        "update", "setdefault", "putenv", "unsetenv", "load_dotenv", "dotenv", "loadEnvFile", "pop", "popitem", "clear", "delete", "store",
        "replace", "merge!", "update!", "reject!", "select!", "delete_if", "keep_if", "filter!", "assign", "Object", "defineProperty",
        "__setitem__", "__ior__", "setattr", "setitem", "globals", "local",
    ];
    let environment = |at: usize| match tokens.name(at) {
        Some("environ" | "environb" | "ENV" | "$ENV" | "%ENV" | "$_ENV" | "$_SERVER" | "@ENV") => true,
        Some("env") => tokens.name(at.wrapping_sub(2)) == Some("process"),
        Some(name) => name.ends_with(".environ") || name.ends_with("process.env"),
        None => false,
    };
    let mut named = false;
    let mut changes = false;
    for (at, token) in tokens.list.iter().enumerate() {
        match &token.kind {
            Kind::Name(name) if matches!(name.as_str(), "putenv" | "load_dotenv" | "dotenv" | "loadEnvFile") => {
                return true;
            }
            Kind::Name(name) if CHANGES.contains(&name.as_str()) => changes = true,
            Kind::Text(parts) => {
                let inner = |part: &Part| match part {
                    Part::Code { tokens, .. } => depth < DEEPEST && changes_environment(tokens, depth + 1),
                    Part::Text(text) => text == "dotenv" || text.starts_with("dotenv/"),
                };
                if parts.iter().any(inner) {
                    return true;
                }
            }
            Kind::Code(inner) if depth < DEEPEST && changes_environment(inner, depth + 1) => return true,
            _ => {}
        }
        if !environment(at) {
            continue;
        }
        named = true;
        // What is set: the variable, with what is behind it, or another name for all of them.
        let mut end = at + 1;
        loop {
            match tokens.mark(end) {
                Some("[" | "{") => end = tokens.list.get(end).and_then(|token| token.pair).unwrap_or(end) + 1,
                Some("." | "->" | "?.") => end += 2,
                _ => break,
            }
        }
        let sets = |mark: &str| mark.ends_with('=') && !matches!(mark, "==" | "===" | "!=" | "!==" | "<=" | ">=");
        let is_whole = end == at + 1;
        let is_set = tokens.mark(end).is_some_and(sets);
        let is_kept = is_whole && tokens.mark(end) != Some("(") && before_of(tokens, at) == Some("=");
        if is_set || is_kept {
            return true;
        }
    }
    named && changes
}

/// The operator before a name that may have others before it: `e = os.environ`.
fn before_of(tokens: &Tokens, at: usize) -> Option<&'static str> {
    let mut at = at;
    while tokens.mark(at.wrapping_sub(1)) == Some(".") && at > 1 {
        at -= 2;
    }
    tokens.mark(at.wrapping_sub(1))
}

/// A setting whose variables may be others than those that the script is given.
fn in_doubt(setting: &Setting) -> Setting {
    let mut surroundings = (*setting.surroundings).clone();
    surroundings.variables_may_change = true;
    Setting { surroundings: Rc::new(surroundings), ..setting.clone() }
}

/// Whether a script prints in a way that does not give a line for each text.
fn prints_in_parts(tokens: &Tokens, depth: usize) -> bool {
    #[rustfmt::skip]
    const PRINTS: &[&str] = &[
        "write", "writelines", "writeSync", "pprint", "pp", "printf", "p", "say", "stdout", "__stdout__", "STDOUT", "$stdout", "$STDOUT",
        "putc", "putchar", "echo", "fputs", "fwrite", "print_r", "var_dump", "vprintf", "display", "syswrite", "sendfile", "info", "table",
        "dir", "debug", "group", "help", "inspect", "$,", "$\\", "redirect_stdout",
    ];
    tokens.list.iter().any(|token| match &token.kind {
        Kind::Name(name) => PRINTS.contains(&name.rsplit(['.', ':']).next().unwrap_or_default()),
        Kind::Text(parts) if depth < DEEPEST => parts.iter().any(|part| match part {
            Part::Code { tokens, .. } => prints_in_parts(tokens, depth + 1),
            Part::Text(_) => false,
        }),
        Kind::Code(inner) => depth < DEEPEST && prints_in_parts(inner, depth + 1),
        _ => false,
    })
}

impl Evaluator {
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
            // What the script opens is not lost.
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
