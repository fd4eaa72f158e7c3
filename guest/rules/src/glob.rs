//! Globs over the segments of paths, read once and compiled only where reading is not enough: most segments of most rules are
//! plain names, or names around one `*`. Letters match whatever their case: on some file systems `.SSH` is `.ssh`.

use std::borrow::Cow;
use std::cell::OnceCell;

use globset::{GlobBuilder, GlobMatcher};
use toolgate_shell::Value;

/// Most texts that the braces of one glob stand for.
const MOST_ALTERNATIVES: usize = 256;

/// Most braces inside one another, so that a rule file cannot use up the stack.
const DEEPEST: usize = 16;

/// What stands between two slashes.
#[derive(Clone, Debug)]
pub(crate) enum Segment {
    /// A name, in lower case.
    Text(String),
    /// One `*`, with what stands before and behind it.
    Around(String, String),
    /// Anything else. The cell is filled when it is first needed, with `None` if it is no glob that we understand: a
    /// range that only the shell takes.
    Glob(String, OnceCell<Option<GlobMatcher>>),
    /// `**`: any number of segments.
    Deep,
}

impl Segment {
    /// Reads a segment. What is wrong with a glob shows only when it is compiled.
    pub(crate) fn new(text: &str) -> Self {
        let text = text.to_lowercase();
        let plain = in_plain_words(&text);
        // What a pattern in brackets begins with may be a dot, if it says so.
        let says_dot = || text.contains("(.") || text.contains("|.");
        if plain.starts_with('*') && text.starts_with(['@', '+', '?']) && says_dot() {
            return Segment::Glob(text, OnceCell::new());
        }
        let text = without_negated(&plain);
        // A bracket that nothing closes stands for itself.
        let closes = |at: usize| text[at + 1..].chars().skip(1).any(|c| c == ']');
        let class = text.find('[').is_some_and(closes);
        let special = |c: char| matches!(c, '*' | '?' | '\\') || class && c == '[';
        match text.split_once('*') {
            Some(("", "*")) => Segment::Deep,
            Some((before, behind)) if !before.contains(special) && !behind.contains(special) => {
                Segment::Around(before.to_owned(), behind.to_owned())
            }
            None if !text.contains(special) => Segment::Text(text),
            _ => Segment::Glob(text, OnceCell::new()),
        }
    }

    /// Whether a name in lower case fits; what cannot be compiled fits everything.
    pub(crate) fn fits(&self, name: &str) -> bool {
        match self {
            Segment::Text(text) => text == name,
            Segment::Around(before, behind) => {
                name.len() >= before.len() + behind.len() && name.starts_with(before.as_str()) && name.ends_with(behind)
            }
            Segment::Glob(text, compiled) => {
                let compiled = compiled.get_or_init(|| compile(text).ok().map(|glob| glob.compile_matcher()));
                compiled.as_ref().is_none_or(|matcher| matcher.is_match(name))
            }
            Segment::Deep => true,
        }
    }

    /// Whether the shell could expand it to what another segment says. If that is open as well, only the same text does:
    /// both being open would make every `*` a match.
    pub(crate) fn may_be(&self, other: &Segment) -> bool {
        match other {
            Segment::Text(name) => {
                // Wildcards leave hidden names out.
                let open = match self {
                    Segment::Text(_) => false,
                    Segment::Around(before, _) => before.is_empty(),
                    Segment::Glob(text, _) => text.starts_with(['*', '?', '[']) && !text[1..].starts_with('('),
                    Segment::Deep => true,
                };
                !(open && name.starts_with('.')) && self.fits(name)
            }
            other => self.source() == other.source(),
        }
    }

    /// Whether it says anything about the name: a letter, or that it is a hidden one. Where the rule names a folder as
    /// well, `*.json` is not enough.
    pub(crate) fn says_something(&self, in_folder: bool) -> bool {
        let (before, behind) = self.source();
        if in_folder && matches!(self, Segment::Around(before, behind) if before.is_empty() && behind.starts_with('.'))
        {
            return false;
        }
        before.starts_with('.') || before.chars().chain(behind.chars()).any(char::is_alphanumeric)
    }

    fn source(&self) -> (&str, &str) {
        match self {
            Segment::Text(text) | Segment::Glob(text, _) => (text, ""),
            Segment::Around(before, behind) => (before, behind),
            Segment::Deep => ("**", ""),
        }
    }
}

/// The glob in the words that are meant here: `?` for a class with a name, with what is equal, or with a backslash in it,
/// which shells read otherwise, and `*` for a pattern in brackets such as `@(a|b)`. `*(..)` is what zsh says of the files that
/// it finds.
pub(crate) fn in_plain_words(glob: &str) -> Cow<'_, str> {
    const FOREIGN: [&str; 8] = ["[=", "[.", "[:", "\\", "@(", "+(", "!(", "?("];
    // Nearly all have none of these.
    if !glob.contains(['[', '\\', '(']) || !FOREIGN.iter().any(|part| glob.contains(part)) {
        return Cow::Borrowed(glob);
    }
    if glob.len() > LONGEST_NAME {
        return Cow::Borrowed("*");
    }
    let mut plain = String::with_capacity(glob.len());
    let mut rest = glob;
    while let Some(c) = rest.chars().next() {
        let found = match c {
            '[' => class_end(rest).map(|end| {
                let foreign = ["[=", "[.", "[:", "\\"].iter().any(|part| rest[1..end].contains(part));
                (if foreign { "?" } else { &rest[..end] }, end)
            }),
            '@' | '+' | '!' | '?' if rest[1..].starts_with('(') => bracket_end(&rest[1..]).map(|end| ("*", end + 1)),
            '\\' => rest[1..].chars().next().map(|next| (&rest[..1 + next.len_utf8()], 1 + next.len_utf8())),
            _ => None,
        };
        let (text, length) = found.unwrap_or((&rest[..c.len_utf8()], c.len_utf8()));
        plain.push_str(text);
        rest = &rest[length..];
    }
    Cow::Owned(plain)
}

/// A name has no more bytes than this, and looking for the ends of brackets costs more with each.
const LONGEST_NAME: usize = 255;

/// Behind the class that a glob begins with, `[[:alpha:]_]`.
fn class_end(glob: &str) -> Option<usize> {
    let mut at = 1 + usize::from(glob[1..].starts_with(['!', '^']));
    at += usize::from(glob[at..].starts_with(']'));
    loop {
        let rest = &glob[at..];
        let c = rest.chars().next()?;
        let inner = [":", "=", "."].iter().find(|kind| c == '[' && rest[1..].starts_with(**kind));
        at += match (c, inner) {
            (']', _) => return Some(at + 1),
            ('\\', _) => 1 + rest[1..].chars().next()?.len_utf8(),
            (_, Some(kind)) => rest[2..].find(&format!("{kind}]")).map_or(1, |end| end + 4),
            _ => c.len_utf8(),
        };
    }
}

/// Behind the bracket that closes the one that a text begins with.
fn bracket_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// The glob with `?` for each class of what is left out: whatever their case, `[!A-Z]` would leave out `a`, too.
pub(crate) fn without_negated(glob: &str) -> String {
    let mut plain = String::with_capacity(glob.len());
    let mut rest = glob;
    while let Some(at) = rest.find('[') {
        let class = &rest[at + 1..];
        let negated = class.starts_with(['!', '^']);
        // A bracket that is the first of a class does not close it.
        let first = usize::from(negated) + usize::from(class[usize::from(negated)..].starts_with(']'));
        let Some(end) = class.get(first..).and_then(|inside| inside.find(']')).map(|end| first + end + 1) else {
            break;
        };
        plain.push_str(&rest[..at]);
        plain.push_str(if negated { "?" } else { &rest[at..at + 1 + end] });
        rest = &class[end..];
    }
    plain.push_str(rest);
    plain
}

/// Where the first wildcard of a shell stands, a pattern in brackets included.
pub(crate) fn first_wildcard(glob: &str) -> Option<usize> {
    let opens = |at: usize| glob[at + 1..].starts_with('(');
    let special = |(at, c): (usize, char)| match c {
        '*' | '?' | '[' | '{' => true,
        '@' | '+' | '!' => opens(at),
        _ => false,
    };
    glob.char_indices().find(|one| special(*one)).map(|(at, _)| at)
}

fn compile(text: &str) -> Result<globset::Glob, String> {
    let text = without_negated(&in_plain_words(text));
    let glob = GlobBuilder::new(&text).backslash_escape(true).case_insensitive(true).build();
    glob.map_err(|error| error.kind().to_string())
}

/// The segments of a path or a glob.
pub(crate) fn segments(text: &str) -> Vec<Segment> {
    names(text).map(Segment::new).collect()
}

/// The names of a path.
pub(crate) fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

/// What of a path stands before its first wildcard or unknown part, and the folder that this is in; empty if none is named.
pub(crate) fn known_part(text: &str) -> (&str, &str) {
    let known = text.split(['*', '?', '[', '{', Value::HOLE]).next().unwrap_or_default();
    (known, known.rsplit_once('/').map_or("", |(folder, _)| folder))
}

/// Whether segments, from the first one on, fit the beginning of a path whose names are in lower case: what lies below is
/// meant as well.
pub(crate) fn fit(segments: &[Segment], names: &[String]) -> bool {
    match segments.split_first() {
        None => true,
        Some((Segment::Deep, rest)) => (0..=names.len()).any(|skipped| fit(rest, &names[skipped..])),
        Some((first, rest)) => names.split_first().is_some_and(|(name, below)| first.fits(name) && fit(rest, below)),
    }
}

/// What the braces of a rule's glob stand for, or what is wrong with the glob.
pub(crate) fn alternatives(glob: &str) -> Result<Vec<Vec<Segment>>, String> {
    let mut texts = vec![String::new()];
    expand(glob, &mut texts, 0)?;
    let mut all = Vec::with_capacity(texts.len());
    for text in texts {
        let mut segments = segments(text.trim_start_matches("**/"));
        segments.shrink_to_fit();
        for segment in &segments {
            match segment {
                Segment::Glob(text, _) => drop(compile(text)?),
                Segment::Text(text) if text.contains('[') => return Err("a bracket is not closed".to_owned()),
                _ => {}
            }
        }
        if segments.iter().filter(|segment| matches!(segment, Segment::Deep)).count() > 2 {
            return Err("it has more than two `**`".to_owned());
        }
        all.push(segments);
    }
    Ok(all)
}

/// Appends to each text what a glob's braces stand for.
fn expand(glob: &str, texts: &mut Vec<String>, depth: usize) -> Result<(), String> {
    if depth > DEEPEST {
        return Err(format!("its braces nest more than {DEEPEST} levels deep"));
    }
    let mut rest = glob;
    loop {
        let Some(open) = find_bare(rest, &['{'], false) else {
            texts.iter_mut().for_each(|text| text.push_str(rest));
            return Ok(());
        };
        texts.iter_mut().for_each(|text| text.push_str(&rest[..open]));
        let mut inside = &rest[open + 1..];
        let mut all = Vec::new();
        loop {
            let end = find_bare(inside, &[',', '}'], true).ok_or("a brace is not closed")?;
            let mut one = texts.clone();
            expand(&inside[..end], &mut one, depth + 1)?;
            all.append(&mut one);
            if all.len() > MOST_ALTERNATIVES {
                return Err(format!("its braces expand to more than {MOST_ALTERNATIVES} strings"));
            }
            let closes = inside[end..].starts_with('}');
            inside = &inside[end + 1..];
            if closes {
                break;
            }
        }
        *texts = all;
        rest = inside;
    }
}

/// Where one of some characters stands first: not escaped, not in a character class, and in no braces if `flat`.
fn find_bare(text: &str, wanted: &[char], flat: bool) -> Option<usize> {
    let (mut depth, mut class) = (0_usize, false);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            ']' => class = false,
            _ if class => {}
            _ if wanted.contains(&c) && depth == 0 => return Some(at),
            '[' => class = true,
            '{' if flat => depth += 1,
            '}' if flat => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_fits_a_path_and_what_is_below() {
        let cases = [
            ("a", "a", true),
            ("a", "a/b", true),
            ("A/b", "a/B/c", true),
            ("a/b", "a", false),
            ("*.pem", "x.PEM", true),
            ("*.pem", ".pem", true),
            ("*.pem", "pem", false),
            ("a*a", "a", false),
            ("id_*", "id_rsa", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[ab]c", "bc", true),
            ("*a*", "xax/y", true),
            ("[€v]x", "vx", true),
            ("x[!A-Z]", "xv", true),
            ("x[^a-z]y[ab]", "xvya", true),
            ("x[!]]", "xy", true),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b/c", true),
            ("a/**/b", "a/x", false),
            ("a/**", "a/x", true),
            ("{a,b}/c", "b/c", true),
            ("{a/b,c}", "a/b", true),
            ("{a/b,c}", "a", false),
            ("x{,y}", "xy", true),
            ("x{a,{b,c}}", "xc", true),
            (r"a\*", "a*", true),
            (r"a\*", "ab", false),
            ("[{]a", "{a", true),
        ];
        for (glob, path, expected) in cases {
            let names: Vec<String> = names(path).map(str::to_lowercase).collect();
            let all = alternatives(glob).expect(glob);
            assert_eq!(all.iter().any(|segments| fit(segments, &names)), expected, "{glob} {path}");
        }
    }

    #[test]
    fn a_wrong_glob_says_what_is_wrong() {
        let many = "{a,b}".repeat(9);
        let deep = "{".repeat(5_000) + "a" + &"}".repeat(5_000);
        for glob in ["[a", "{a,b", "[z-a]x", &many, &deep, "a/**/b/**/c/**/d"] {
            assert!(alternatives(glob).is_err(), "{glob}");
        }
    }
}
