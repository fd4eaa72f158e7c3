//! Regular expressions of rules: checked when they are read, built when they are first needed, and found among many
//! by the texts that a match must contain.
//!
//! Look-around and back-references work (fancy-regex), with a bound on their steps. A pattern that hits a bound counts
//! as matching, and says so: what cannot be judged is not waved through.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use fancy_regex::{Regex, RegexBuilder};
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Steps that one pattern may take on one text: a few for each byte of the longest text that is parsed. Patterns
/// without look-around and back-references take none: the regex crate's engine serves them.
const STEP_LIMIT: usize = 1_000_000;

/// Largest compiled pattern, in bytes, so that a small file cannot fill the memory.
const SIZE_LIMIT: usize = 1 << 20;

/// Longest pattern, in bytes.
const LONGEST: usize = 8 << 10;

/// Up to this many bytes a text is looked at for what a match must contain, each time.
const SHORT: usize = 4 << 10;

/// Most texts that are looked for in the place of one pattern.
const MAX_NEEDLES: usize = 64;

/// Most of them that neighbours come to.
const MAX_JOINED: usize = 16;

/// A regular expression, built when it is first tried.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    source: Box<str>,
    built: OnceCell<Box<Result<Regex, String>>>,
    /// Texts of which a match contains at least one; empty if there are none to go by.
    needles: Needles,
}

/// Texts one of which is looked for at every place of another text, which is short more often than not: a search that has
/// to be prepared would cost more than it saves.
#[derive(Clone, Debug)]
struct Needles {
    all: Box<[Box<str>]>,
    /// A bit for each byte that one begins with.
    begin: [u64; 4],
}

impl Needles {
    fn new(all: Vec<String>) -> Self {
        let all: Box<[Box<str>]> = all.into_iter().map(String::into_boxed_str).collect();
        let mut begin = [0; 4];
        for first in all.iter().filter_map(|needle| needle.bytes().next()) {
            begin[usize::from(first >> 6)] |= 1 << (first & 63);
        }
        Needles { all, begin }
    }

    fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn any_in(&self, text: &str) -> bool {
        let text = text.as_bytes();
        // Byte by byte, as nearly all differ in one of the first: a comparison of memory costs more to begin with.
        let stands = |needle: &[u8], at: usize| {
            needle.len() <= text.len() - at && needle.iter().zip(&text[at..]).all(|(one, other)| one == other)
        };
        text.iter().enumerate().any(|(at, byte)| {
            self.begin[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
                && self.all.iter().any(|needle| stands(needle.as_bytes(), at))
        }) || self.all.iter().any(|needle| needle.is_empty())
    }
}

/// What trying a pattern came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Tried {
    No,
    Found(Range<usize>),
    /// It could not be tried to its end.
    TooMuch(String),
}

impl Pattern {
    /// Checks a pattern. The error says what is wrong with it.
    pub(crate) fn new(source: &str) -> Result<Self, String> {
        let wrong = |error: &dyn std::fmt::Display| {
            let message = error.to_string();
            // The last line of the parser's picture is the sentence.
            let last = message.lines().last().unwrap_or("").trim_start_matches("error: ").to_owned();
            format!("the pattern {source} is not a regular expression: {last}")
        };
        if source.len() > LONGEST {
            return Err(format!("the pattern is longer than {LONGEST} bytes"));
        }
        let hir = match regex_syntax::parse(source) {
            Ok(hir) => Some(hir),
            // It may be one with look-around, which only building it can tell.
            Err(_) => {
                build(source).map_err(|error| wrong(&error))?;
                without_look_around(source).and_then(|plain| regex_syntax::parse(&plain).ok())
            }
        };
        let needles = hir.as_ref().and_then(required).unwrap_or_default();
        Ok(Pattern { source: source.into(), built: OnceCell::new(), needles: Needles::new(needles) })
    }

    /// Texts of which every text that it matches begins with one; `None` if there are none to go by.
    pub(crate) fn beginnings(&self) -> Option<Vec<String>> {
        let plain = || without_look_around(&self.source).and_then(|plain| regex_syntax::parse(&plain).ok());
        let hir = regex_syntax::parse(&self.source).ok().or_else(plain)?;
        if !hir.properties().look_set_prefix().contains(Look::Start) {
            return None;
        }
        let found = Extractor::new().extract(&hir);
        found.literals()?.iter().map(|literal| String::from_utf8(literal.as_bytes().to_vec()).ok()).collect()
    }

    /// As it was written.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Where it matches first.
    pub(crate) fn find(&self, text: &str) -> Tried {
        // Building costs more than all that most patterns are ever tried on; and starting one on a short text more than this.
        let needless = || !self.needles.is_empty() && !self.needles.any_in(text);
        if (self.built.get().is_none() || text.len() <= SHORT) && needless() {
            return Tried::No;
        }
        let built = self.built.get_or_init(|| Box::new(build(&self.source).map_err(|error| error.to_string())));
        match built.as_ref() {
            Err(error) => Tried::TooMuch(format!("the pattern {} cannot be built: {error}", self.source)),
            Ok(regex) => match regex.find(text) {
                Ok(None) => Tried::No,
                Ok(Some(found)) => Tried::Found(found.range()),
                Err(_) => Tried::TooMuch(format!("the pattern {} takes too many steps on this text", self.source)),
            },
        }
    }

    /// Whether it matches; what cannot be tried does.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.find(text) != Tried::No
    }
}

fn build(source: &str) -> Result<Regex, fancy_regex::Error> {
    RegexBuilder::new(source).backtrack_limit(STEP_LIMIT).delegate_size_limit(SIZE_LIMIT).build()
}

/// Texts of which every match contains one: the most telling of the pattern's parts.
fn required(hir: &Hir) -> Option<Vec<String>> {
    let found = match hir.kind() {
        HirKind::Literal(literal) => vec![String::from_utf8(literal.0.to_vec()).ok()?],
        HirKind::Capture(capture) => return required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => return required(&repetition.sub),
        HirKind::Concat(parts) => {
            let single = parts.iter().filter_map(required);
            return single.chain(joined(parts)).max_by_key(|needles| (weight(needles), Reverse(needles.len())));
        }
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(required(part)?);
            }
            all
        }
        HirKind::Class(_) => return exactly(hir),
        _ => return None,
    };
    (found.len() <= MAX_NEEDLES).then_some(found)
}

/// All texts that a part matches, if they are few: a word, or a letter in either case.
fn exactly(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Literal(literal) => Some(vec![String::from_utf8(literal.0.to_vec()).ok()?]),
        HirKind::Capture(capture) => exactly(&capture.sub),
        HirKind::Class(Class::Unicode(class)) => {
            let chars = class.iter().map(|range| u32::from(range.end()) - u32::from(range.start()) + 1);
            let few = chars.sum::<u32>() <= 4;
            few.then(|| class.iter().flat_map(|range| range.start()..=range.end()).map(String::from).collect())
        }
        _ => None,
    }
}

/// What neighbours that are known exactly come to, as far as those are few: `(?i)drop` is sixteen words.
fn joined(parts: &[Hir]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut now: Vec<String> = Vec::new();
    for next in parts.iter().map(exactly) {
        let next = next.unwrap_or_default();
        if next.is_empty() || now.len() * next.len() > MAX_JOINED {
            all.push(std::mem::take(&mut now));
        }
        now = match now.is_empty() {
            true => next,
            false => now.iter().flat_map(|before| next.iter().map(move |after| format!("{before}{after}"))).collect(),
        };
    }
    all.push(now);
    all.retain(|needles| !needles.is_empty());
    all
}

/// How much a set of needles tells: its shortest one.
fn weight<T: AsRef<str>>(needles: &[T]) -> usize {
    needles.iter().map(|needle| needle.as_ref().len()).min().unwrap_or(0)
}

/// The pattern without its look-ahead and look-behind groups and its references back: what matched with them matches
/// without.
fn without_look_around(source: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|group| rest.starts_with(group)) {
            rest = rest.get(group_length(rest)?..)?;
            continue;
        }
        // A group's text once more is some text.
        if let Some(group) = rest.strip_prefix('\\').filter(|group| group.starts_with(|c| matches!(c, '1'..='9'))) {
            plain.push_str("(?s:.*)");
            rest = group.trim_start_matches(|c: char| c.is_ascii_digit());
            continue;
        }
        let taken = match c {
            '\\' => c.len_utf8() + rest.get(1..)?.chars().next().map_or(0, char::len_utf8),
            '[' => class_length(rest)?,
            _ => c.len_utf8(),
        };
        plain.push_str(rest.get(..taken)?);
        rest = rest.get(taken..)?;
    }
    Some(plain)
}

/// The length of the group that a text begins with.
fn group_length(text: &str) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(c) = text.get(at..)?.chars().next() {
        match c {
            '\\' => at += text.get(at + 1..)?.chars().next().map_or(0, char::len_utf8),
            '[' => at += class_length(text.get(at..)?)? - 1,
            '(' => depth += 1,
            ')' if depth == 1 => return Some(at + 1),
            ')' => depth -= 1,
            _ => {}
        }
        at += c.len_utf8();
    }
    None
}

/// The length of the character class that a text begins with.
fn class_length(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1).peekable();
    if chars.peek().is_some_and(|(_, c)| *c == '^') {
        chars.next();
    }
    let mut first = true;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            ']' if !first => return Some(at + 1),
            _ => {}
        }
        first = false;
    }
    None
}

/// Finds the patterns that may match a text among many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefilter {
    searcher: Option<AhoCorasick>,
    /// For each needle, the place of its pattern.
    owner: Vec<usize>,
    /// Patterns without needles are always tried.
    always: Vec<usize>,
}

impl Prefilter {
    /// For patterns in this order.
    pub(crate) fn new<'p>(patterns: impl Iterator<Item = &'p Pattern>) -> Self {
        let (mut needles, mut owner, mut always) = (Vec::new(), Vec::new(), Vec::new());
        for (index, pattern) in patterns.enumerate() {
            if pattern.needles.is_empty() || weight(&pattern.needles.all) < 2 {
                always.push(index);
            } else {
                needles.extend(pattern.needles.all.iter().map(|needle| &**needle));
                owner.resize(needles.len(), index);
            }
        }
        match AhoCorasick::new(&needles) {
            Ok(searcher) => Prefilter { searcher: Some(searcher), owner, always },
            // More than the searcher can hold: each is tried.
            Err(_) => {
                always.extend(owner);
                always.sort_unstable();
                always.dedup();
                Prefilter { searcher: None, owner: Vec::new(), always }
            }
        }
    }

    /// The places of the patterns that may match, in order.
    pub(crate) fn candidates(&self, text: &str) -> Vec<usize> {
        let mut found = self.always.clone();
        if let Some(searcher) = &self.searcher {
            found.extend(searcher.find_overlapping_iter(text).map(|hit| self.owner[hit.pattern().as_usize()]));
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needles_are_what_a_match_must_contain() {
        let cases: &[(&str, &[&str])] = &[
            (r"\bgit\s+push\b.*--force", &["--force"]),
            ("a|bc", &["a", "bc"]),
            ("(?:mkfs|wipefs) x?", &["mkfs", "wipefs"]),
            ("^rm\\s+-[rf]", &["rm"]),
            ("x*", &[]),
            (".", &[]),
            ("(?i)rm", &["RM", "Rm", "rM", "rm"]),
            ("(?i)a[bc]+(def)\\bg", &["DEF", "DEf", "DeF", "Def", "dEF", "dEf", "deF", "def"]),
            (r"^rm\b(?=.*(?:-r|\)|[)]))(?!x).*\s/", &["rm"]),
            (r"force(?!-with-lease)", &["force"]),
            (r"(a)\1bcd", &["bcd"]),
            (r"(?<x>a)\k<x>bcd", &[]),
        ];
        for (source, expected) in cases {
            let mut needles = Pattern::new(source).expect(source).needles.all;
            needles.sort();
            let needles: Vec<&str> = needles.iter().map(|needle| &**needle).collect();
            assert_eq!(needles, *expected, "{source}");
        }
    }

    #[test]
    fn beginnings_are_what_a_text_that_matches_begins_with() {
        let cases: &[(&str, Option<&[&str]>)] = &[
            ("^A_|^(?:B|CD)=x", Some(&["A_", "B=x", "CD=x"])),
            (
                r"^(?:GIT_(?:COUNT|KEY_\d+)=(?!x)|SSH(?:_COMMAND)?=.*[;&])",
                Some(&["GIT_COUNT=", "GIT_KEY_", "SSH=", "SSH_COMMAND="]),
            ),
            ("^(?!x)A(?=b)", Some(&["A"])),
            ("^(?i)a", Some(&["A", "a"])),
            ("^A|B", None),
            ("(?m)^A", None),
            ("A", None),
            ("^.*A", None),
        ];
        for (source, expected) in cases {
            let found = Pattern::new(source).expect(source).beginnings();
            let sorted = found.map(|mut found| {
                found.sort();
                found
            });
            let expected = expected.map(|texts| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
            assert_eq!(sorted, expected, "{source}");
        }
    }

    #[test]
    fn a_wrong_pattern_says_what_is_wrong() {
        for (source, expected) in [("(", "parenthesis"), ("[z-a]", ""), ("(?=", "")] {
            let error = Pattern::new(source).expect_err(source);
            assert!(error.to_lowercase().contains(expected), "{source}: {error}");
        }
    }

    #[test]
    fn only_what_may_match_is_tried() {
        let patterns: Vec<Pattern> =
            ["git push", ".", "a(?!b)cde", "rm|unlink"].iter().map(|source| Pattern::new(source).unwrap()).collect();
        let filter = Prefilter::new(patterns.iter());
        for (text, expected) in
            [("x", vec![1]), ("git push", vec![0, 1]), ("unlink acde", vec![1, 2, 3]), ("", vec![1])]
        {
            assert_eq!(filter.candidates(text), expected, "{text}");
        }
    }

    #[test]
    fn what_takes_too_many_steps_counts_as_matching() {
        let pattern = Pattern::new(r"(?=(a+)+$)(a|aa)+\1[b-z]").expect("a pattern");
        assert!(matches!(pattern.find(&"a".repeat(4_000)), Tried::TooMuch(_)));
    }
}
