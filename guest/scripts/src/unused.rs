//! Which functions of a Python script nothing can call: what their bodies do does not happen.

use std::collections::{HashMap, HashSet};

use super::tokens::{Kind, Part, Tokens};

/// Modules that call nothing by its name. A script that imports others may have its functions called by them.
const PLAIN_MODULES: &[&str] = &[
    "argparse",
    "base64",
    "collections",
    "csv",
    "datetime",
    "errno",
    "functools",
    "glob",
    "hashlib",
    "io",
    "itertools",
    "json",
    "math",
    "os",
    "os.path",
    "pathlib",
    "random",
    "re",
    "shlex",
    "shutil",
    "stat",
    "string",
    "subprocess",
    "sys",
    "tempfile",
    "textwrap",
    "time",
    "urllib",
    "urllib.parse",
    "urllib.request",
    "uuid",
    "zipfile",
];

/// Names by which a function is found without writing its own.
const FINDERS: &[&str] = &[
    "__code__",
    "__dict__",
    "__getattribute__",
    "__globals__",
    "__import__",
    "__subclasses__",
    "__traceback__",
    "_getframe",
    "ag_frame",
    "breakpoint",
    "compile",
    "cr_frame",
    "dir",
    "eval",
    "exec",
    "execfile",
    "f_back",
    "f_globals",
    "f_locals",
    "get_type_hints",
    "getattr",
    "gi_frame",
    "globals",
    "help",
    "locals",
    "modules",
    "tb_frame",
    "vars",
];

/// The functions on the outermost level of a Python script whose names stand nowhere else in it.
pub(super) fn unused(tokens: &Tokens) -> HashSet<String> {
    let mut names = HashMap::new();
    if !count(tokens, &mut names) {
        return HashSet::new();
    }
    let mut found = HashSet::new();
    for (at, _) in tokens.list.iter().enumerate() {
        let outermost = match at.checked_sub(1).and_then(|before| tokens.list.get(before)) {
            None => true,
            Some(before) => matches!(before.kind, Kind::Line) && before.indent == 0,
        };
        if let (true, Some("def"), Some(name)) = (outermost, tokens.name(at), tokens.name(at + 1))
            && names.get(name) == Some(&1)
            && !name.starts_with("__")
            && is_plain(tokens, at + 2)
        {
            found.insert(name.to_owned());
        }
    }
    found
}

/// Whether nothing is called where a function is defined, for a default or an annotation.
fn is_plain(tokens: &Tokens, open: usize) -> bool {
    let Some(close) = tokens.list.get(open).and_then(|token| token.pair) else { return false };
    let quiet = |at| matches!(tokens.mark(at), None | Some("," | "=" | "*" | "**" | ":" | "/"));
    tokens.mark(open) == Some("(") && (open + 1..close).all(quiet) && tokens.mark(close + 1) == Some(":")
}

/// Counts the names; whether nothing in the script finds functions in other ways than by theirs.
fn count<'t>(tokens: &'t Tokens, names: &mut HashMap<&'t str, usize>) -> bool {
    for (at, token) in tokens.list.iter().enumerate() {
        let known = match &token.kind {
            Kind::Name(name) => {
                *names.entry(name).or_default() += 1;
                !FINDERS.contains(&name.as_str())
                    && (!matches!(name.as_str(), "import" | "from") || imports(tokens, at))
            }
            Kind::Text(parts) | Kind::Shell(parts) => parts.iter().all(|part| match part {
                Part::Text(_) => true,
                Part::Code { tokens, .. } => count(tokens, names),
            }),
            // A decorator.
            Kind::Mark(mark) => *mark != "@",
            _ => true,
        };
        if !known {
            return false;
        }
    }
    true
}

/// Whether what stands behind `import` or `from` here are plain modules.
fn imports(tokens: &Tokens, at: usize) -> bool {
    let mut at = at + 1;
    // `from a import b`: the name behind `import` is none of a module.
    if at >= 4 && tokens.name(at - 1) == Some("import") {
        let line = (0..at - 1).rev().take_while(|&at| !matches!(tokens.list[at].kind, Kind::Line | Kind::Mark(";")));
        if line.last().and_then(|first| tokens.name(first)) == Some("from") {
            return tokens.mark(at) != Some("*");
        }
    }
    loop {
        let Some(name) = tokens.name(at) else { return false };
        let mut module = name.to_owned();
        at += 1;
        while let (Some("."), Some(part)) = (tokens.mark(at), tokens.name(at + 1)) {
            module = format!("{module}.{part}");
            at += 2;
        }
        if !PLAIN_MODULES.contains(&module.as_str()) {
            return false;
        }
        if tokens.name(at) == Some("as") {
            at += 2;
        }
        if tokens.mark(at) != Some(",") {
            return true;
        }
        at += 1;
    }
}
