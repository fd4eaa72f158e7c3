//! Which modules of a crate import which, read from its sources, and the circles among them.
//!
//! A module is a file. It imports another one if a `use` or a path in it, outside of `#[cfg(test)]`, leads there; a name that
//! is only re-exported counts for the file that it is re-exported from. Methods are not followed: a call needs no import.
//!
//! A module and its own parts may import each other, as a folder's `mod.rs` lists the files beside it and holds what they
//! share. So a group of modules that reach each other is no circle if it lies within one of them; among its parts alone
//! there must be none either.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The modules of a crate, by their paths, and which they import.
#[derive(Debug, Default)]
pub struct Modules(BTreeMap<String, BTreeSet<String>>);

impl Modules {
    /// Reads the sources of a crate from the folder that its `lib.rs` or `main.rs` is in.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read(folder: &Path) -> std::io::Result<Self> {
        let mut files = BTreeMap::new();
        find(folder, "", &mut files)?;
        Ok(Self::of(&files))
    }

    /// The modules with these sources, by their paths: `agent::claude`, and nothing for the crate's root.
    #[must_use]
    pub fn of(sources: &BTreeMap<String, String>) -> Self {
        let mut files: BTreeMap<String, File> =
            sources.iter().map(|(at, text)| (at.clone(), File::read(text))).collect();
        let test = |name: &String| files.values().any(|file| file.tests.contains(name));
        let of_tests: Vec<String> = files
            .keys()
            .filter(|path| {
                let (parent, name) = path.rsplit_once("::").unwrap_or(("", path));
                test(&name.to_owned()) && files.get(parent).is_some_and(|parent| parent.tests.contains(name))
            })
            .cloned()
            .collect();
        files.retain(|path, _| !of_tests.iter().any(|test| path == test || is_part(path, test)));
        let imports = |(path, file): (&String, &File)| {
            let to = file.paths.iter().filter_map(|words| resolve(&files, path, words, 0));
            (path.clone(), to.filter(|to| to != path).collect())
        };
        Modules(files.iter().map(imports).collect())
    }

    /// Which each module imports.
    #[must_use]
    pub fn imports(&self) -> &BTreeMap<String, BTreeSet<String>> {
        &self.0
    }

    /// The groups of modules that import each other, each in order.
    #[must_use]
    pub fn circles(&self) -> Vec<BTreeSet<String>> {
        let mut circles = Vec::new();
        let mut open = self.groups(&self.0.keys().cloned().collect());
        while let Some(mut group) = open.pop() {
            let whole =
                group.iter().find(|one| group.iter().all(|other| other == *one || is_part(other, one))).cloned();
            match whole {
                Some(whole) => {
                    group.remove(&whole);
                    open.extend(self.groups(&group));
                }
                None => circles.push(group),
            }
        }
        circles.sort();
        circles
    }

    /// The groups of more than one among these modules in which each reaches each other.
    fn groups(&self, among: &BTreeSet<String>) -> Vec<BTreeSet<String>> {
        let reached = |from: &String| {
            let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(next) = open.pop() {
                for to in self.0.get(next).into_iter().flatten().filter(|to| among.contains(*to)) {
                    if reached.insert(to.clone()) {
                        open.push(to);
                    }
                }
            }
            reached
        };
        let reached: BTreeMap<&String, BTreeSet<String>> = among.iter().map(|from| (from, reached(from))).collect();
        let group = |from: &&String| -> BTreeSet<String> {
            let to = reached[*from].iter();
            to.filter(|to| reached[*to].contains(*from)).cloned().collect()
        };
        let groups: BTreeSet<BTreeSet<String>> = among.iter().map(|from| group(&from)).collect();
        groups.into_iter().filter(|group| group.len() > 1).collect()
    }
}

/// Whether a module is below another one.
fn is_part(path: &str, of: &str) -> bool {
    of.is_empty() || path.strip_prefix(of).is_some_and(|rest| rest.starts_with("::"))
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}

fn find(folder: &Path, path: &str, into: &mut BTreeMap<String, String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (file, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            find(&file, &join(path, &name), into)?;
        } else if let Some(name) = name.strip_suffix(".rs") {
            let module = match name {
                "main" | "lib" if path.is_empty() => String::new(),
                "mod" => path.to_owned(),
                name => join(path, name),
            };
            into.entry(module).or_default().push_str(&std::fs::read_to_string(file)?);
        }
    }
    Ok(())
}

/// Which module a path leads to, as a file writes it. None if it leads out of the crate, or to a name of the file's own.
fn resolve(files: &BTreeMap<String, File>, from: &str, words: &[String], depth: usize) -> Option<String> {
    let (first, rest) = words.split_first()?;
    match first.as_str() {
        "crate" | "$crate" => descend(files, "", rest, depth),
        "self" => descend(files, from, rest, depth),
        "super" => {
            let mut at = from;
            let mut rest = words;
            while let Some((_, behind)) = rest.split_first().filter(|(first, _)| *first == "super") {
                at = at.rsplit_once("::").map_or("", |(parent, _)| parent);
                rest = behind;
            }
            descend(files, at, rest, depth)
        }
        name => {
            let file = files.get(from)?;
            let known = file.uses.contains_key(name) || file.parts.contains(name);
            known.then(|| descend(files, from, words, depth))?
        }
    }
}

/// Which module the rest of a path leads to, from a module.
fn descend(files: &BTreeMap<String, File>, from: &str, rest: &[String], depth: usize) -> Option<String> {
    let file = files.get(from)?;
    let Some((first, behind)) = rest.split_first() else { return Some(from.to_owned()) };
    if first == "super" {
        return descend(files, from.rsplit_once("::").map_or("", |(parent, _)| parent), behind, depth);
    }
    let part = join(from, first);
    if file.parts.contains(first) && files.contains_key(&part) {
        return descend(files, &part, behind, depth);
    }
    // Names lead to names only so often; what goes on longer leads to itself.
    if depth < 16
        && let Some(target) = file.uses.get(first)
    {
        let target: Vec<String> = target.iter().chain(behind).cloned().collect();
        // What it is re-exported from may be in another crate, or in the file itself.
        return resolve(files, from, &target, depth + 1).or_else(|| Some(from.to_owned()));
    }
    if depth < 16 && !file.names.contains(first) {
        for glob in &file.globs {
            let to = resolve(files, from, glob, depth + 1);
            if let Some(to) = to.filter(|to| files[to].names.contains(first) || files[to].uses.contains_key(first)) {
                return descend(files, &to, rest, depth + 1);
            }
        }
    }
    Some(from.to_owned())
}

/// What there is to know of a file.
#[derive(Debug, Default)]
struct File {
    /// The modules that it declares.
    parts: BTreeSet<String>,
    /// Those that are only there in tests.
    tests: BTreeSet<String>,
    /// The names that its `use` declarations bring in, and for what.
    uses: BTreeMap<String, Vec<String>>,
    /// What it brings in as a whole.
    globs: Vec<Vec<String>>,
    /// Every path in it.
    paths: BTreeSet<Vec<String>>,
    /// What it defines itself.
    names: BTreeSet<String>,
}

impl File {
    fn read(text: &str) -> Self {
        let mut file = File::default();
        let tokens = without_tests(tokens(text), &mut file.tests);
        let mut at = 0;
        // How deep in braces, and where the modules within the file began.
        let (mut depth, mut inline): (usize, Vec<usize>) = (0, Vec::new());
        while let Some(token) = tokens.get(at) {
            let (first, second) = (token_at(&tokens, at + 1), token_at(&tokens, at + 2));
            match token.as_str() {
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    if inline.last() == Some(&depth) {
                        inline.pop();
                    }
                }
                "pub" if first == "(" => {
                    // `pub(in crate::a)` is no import.
                    while tokens.get(at).is_some_and(|token| token != ")") {
                        at += 1;
                    }
                }
                "mod" if second == ";" => {
                    file.parts.insert(first.to_owned());
                    at += 2;
                }
                "mod" if second == "{" => {
                    file.names.insert(first.to_owned());
                    inline.push(depth);
                    at += 1;
                }
                "use" if is_name(first) || first == "{" || first == "::" => {
                    at = file.imported(&tokens, at + 1, &[], inline.len());
                }
                word if is_name(word) && at.checked_sub(1).is_none_or(|before| tokens[before] != "::") => {
                    if DEFINES.contains(&word) && is_name(first) {
                        file.names.insert(first.to_owned());
                    }
                    let mut path = vec![word.to_owned()];
                    while token_at(&tokens, at + 1) == "::" && is_name(token_at(&tokens, at + 2)) {
                        path.push(token_at(&tokens, at + 2).to_owned());
                        at += 2;
                    }
                    if path.len() > 1 {
                        file.paths.extend(outside(path, inline.len()));
                    }
                }
                _ => {}
            }
            at += 1;
        }
        // What is used as a name alone was imported where the name was.
        for (name, target) in &file.uses {
            let head = |path: &Vec<String>| path.first() == Some(name);
            if !file.paths.iter().any(head) {
                file.paths.insert(target.clone());
            }
        }
        file.paths.extend(file.globs.iter().cloned());
        file
    }

    /// Reads a tree of a `use` declaration, and says where its last token is.
    fn imported(&mut self, tokens: &[String], mut at: usize, start: &[String], inline: usize) -> usize {
        let mut path = start.to_vec();
        while let Some(token) = tokens.get(at) {
            match token.as_str() {
                "{" => {
                    at += 1;
                    while tokens.get(at).is_some_and(|token| token != "}") {
                        at = self.imported(tokens, at, &path, inline);
                        if tokens.get(at).is_some_and(|token| token == ",") {
                            at += 1;
                        }
                    }
                    return at + 1;
                }
                "*" => {
                    self.globs.extend(outside(path.clone(), inline));
                    at += 1;
                }
                "as" => {
                    let name = tokens.get(at + 1).cloned().unwrap_or_default();
                    self.binds(name, &path, inline);
                    return at + 2;
                }
                "," | "}" | ";" => {
                    if let Some(name) = path.last().filter(|_| !tokens[at - 1].contains(['*', '}'])) {
                        let own = name == "self" && path.len() > 1;
                        let path = if own { &path[..path.len() - 1] } else { &path[..] };
                        self.binds(path.last().cloned().unwrap_or_default(), path, inline);
                    }
                    return at;
                }
                "::" => at += 1,
                word => {
                    path.push(word.to_owned());
                    at += 1;
                }
            }
        }
        at
    }

    fn binds(&mut self, name: String, path: &[String], inline: usize) {
        if let Some(path) = outside(path.to_vec(), inline) {
            // `_` names nothing, but imports all the same. So may one name in two functions.
            if name == "_" || self.uses.contains_key(&name) {
                self.paths.insert(path);
            } else if path.len() > 1 || path.first().is_some_and(|first| *first != name) {
                self.uses.insert(name.clone(), path);
            }
        }
    }
}

/// A path in a module within a file, as the file would write it. None if it leads into the file itself.
fn outside(mut path: Vec<String>, inline: usize) -> Option<Vec<String>> {
    for _ in 0..inline {
        match path.first().map(String::as_str) {
            Some("super") => drop(path.remove(0)),
            Some("self") => return None,
            _ => return Some(path),
        }
    }
    match path.first().map(String::as_str) {
        None => None,
        Some("crate" | "$crate" | "self" | "super") => Some(path),
        Some(_) if inline == 0 => Some(path),
        Some(_) => {
            path.insert(0, "self".to_owned());
            Some(path)
        }
    }
}

const DEFINES: [&str; 9] = ["fn", "struct", "enum", "trait", "const", "static", "type", "union", "macro_rules"];

fn token_at(tokens: &[String], at: usize) -> &str {
    tokens.get(at).map_or("", String::as_str)
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$')
}

/// Leaves out what is only there in tests; notes the files among it.
fn without_tests(tokens: Vec<String>, files: &mut BTreeSet<String>) -> Vec<String> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut left = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at..].iter().zip(TEST).take(TEST.len()).all(|(token, test)| token == test) || tokens.len() - at < 7 {
            left.push(tokens[at].clone());
            at += 1;
            continue;
        }
        at += TEST.len();
        // To the end of the item: its block, or a semicolon outside of any.
        let mut depth = 0_usize;
        let item = at;
        while let Some(token) = tokens.get(at) {
            match token.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                "}" => {
                    depth = depth.saturating_sub(1);
                    let goes_on = tokens.get(at + 1).is_some_and(|next| [";", ",", ".", ")"].contains(&next.as_str()));
                    if depth == 0 && !goes_on {
                        break;
                    }
                }
                ";" | "," if depth == 0 => break,
                _ => {}
            }
            at += 1;
        }
        let item = &tokens[item..at.min(tokens.len())];
        if let Some(name) = item.iter().position(|token| token == "mod").and_then(|at| item.get(at + 1)) {
            files.insert(name.clone());
        }
        at += 1;
    }
    left
}

/// The words and signs of a source text, without comments and with nothing for literals.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let get = |at: usize| chars.get(at).copied().unwrap_or('\0');
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        match get(at) {
            '/' if get(at + 1) == '/' => {
                while at < chars.len() && get(at) != '\n' {
                    at += 1;
                }
            }
            '/' if get(at + 1) == '*' => {
                let mut depth = 0_usize;
                while at < chars.len() {
                    match (get(at), get(at + 1)) {
                        ('/', '*') => (depth, at) = (depth + 1, at + 2),
                        ('*', '/') => (depth, at) = (depth - 1, at + 2),
                        _ => at += 1,
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            '"' => at = quoted(&chars, at),
            // A character, if it is no lifetime.
            '\'' if get(at + 1) == '\\' => {
                at += 3;
                while at < chars.len() && get(at) != '\'' {
                    at += 1;
                }
                at += 1;
            }
            '\'' if get(at + 2) == '\'' => at += 3,
            '\'' => {
                at += 1;
                while word(get(at)) {
                    at += 1;
                }
            }
            c if word(c) || (c == '$' && word(get(at + 1))) => {
                let start = at;
                at += 1;
                while word(get(at)) {
                    at += 1;
                }
                let name: String = chars[start..at].iter().collect();
                let hashes = (0..).take_while(|by| get(at + by) == '#').count();
                match name.as_str() {
                    "r" | "br" | "cr" if get(at + hashes) == '"' => {
                        let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
                        at += hashes + 1;
                        while at < chars.len() && !chars[at..].starts_with(&end) {
                            at += 1;
                        }
                        at += end.len();
                    }
                    "b" | "c" if get(at) == '"' => at = quoted(&chars, at),
                    "b" if get(at) == '\'' => {
                        at += if get(at + 1) == '\\' { 3 } else { 2 };
                        while at < chars.len() && get(at) != '\'' {
                            at += 1;
                        }
                        at += 1;
                    }
                    // A name that is written so because it is a keyword.
                    "r" if hashes == 1 => at += 1,
                    _ => tokens.push(name),
                }
            }
            ':' if get(at + 1) == ':' => {
                tokens.push("::".to_owned());
                at += 2;
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(c.to_string());
                }
                at += 1;
            }
        }
    }
    tokens
}

/// Where a text in quotes ends that begins here.
fn quoted(chars: &[char], mut at: usize) -> usize {
    at += 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}
