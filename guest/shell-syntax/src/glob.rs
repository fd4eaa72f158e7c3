//! Shell patterns on known texts: for `case`, `[[ == ]]` and `${x#p}`. Nothing here looks at files.

/// Stands for a part that is not known, in the shape of a text. No shell text contains it.
pub const HOLE: char = '\0';

/// Longest text that every prefix or suffix of is tried.
const MAX_TRIES: usize = 4_096;

/// One element of a pattern.
enum Element {
    Any,
    One,
    Character(char),
    /// The characters, and whether all others are meant.
    Set(Vec<(char, char)>, bool),
}

/// A pattern, or `None` if it holds something that is not followed here: an extended glob, a class.
pub struct Pattern(Vec<Element>);

impl Pattern {
    /// Reads a pattern; a backslash takes the meaning from the character after it.
    pub fn new(text: &str) -> Option<Self> {
        let mut elements = Vec::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let extended = "?*+@!".contains(c) && chars.peek() == Some(&'(');
            if extended {
                return None;
            }
            elements.push(match c {
                '*' => {
                    while chars.peek() == Some(&'*') {
                        chars.next();
                    }
                    Element::Any
                }
                '?' => Element::One,
                '\\' => Element::Character(chars.next().unwrap_or('\\')),
                '[' => match set(chars.clone()) {
                    Set::Closed(ranges, negated, length) => {
                        chars.nth(length - 1);
                        Element::Set(ranges, negated)
                    }
                    Set::Open => Element::Character('['),
                    Set::Class => return None,
                },
                c => Element::Character(c),
            });
        }
        Some(Pattern(elements))
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        let elements = &self.0;
        let (mut at, mut element) = (0, 0);
        // Where to go on if a later element does not match: the last `*` takes one character more.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let next = text[at..].chars().next();
            let step = match (elements.get(element), next) {
                (Some(Element::Any), _) => {
                    retry = Some((at, element));
                    element += 1;
                    continue;
                }
                (None, None) => return true,
                (Some(Element::One), Some(_)) => true,
                (Some(Element::Character(wanted)), Some(c)) => *wanted == c,
                (Some(Element::Set(ranges, negated)), Some(c)) => {
                    ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
                }
                _ => false,
            };
            if step {
                at += next.map_or(0, char::len_utf8);
                element += 1;
                continue;
            }
            let Some((start, any)) = retry else { return false };
            let Some(skipped) = text[start..].chars().next() else { return false };
            at = start + skipped.len_utf8();
            retry = Some((at, any));
            element = any + 1;
        }
    }

    fn literal(&self) -> Option<String> {
        let characters = self.0.iter().map(|element| match element {
            Element::Character(c) => Some(*c),
            _ => None,
        });
        characters.collect()
    }

    /// The text without the shortest or longest part at one end that matches. None if it is too long to try.
    pub fn remove<'a>(&self, text: &'a str, suffix: bool, longest: bool) -> Option<&'a str> {
        if let Some(literal) = self.literal() {
            let rest = if suffix { text.strip_suffix(&literal) } else { text.strip_prefix(&literal) };
            return Some(rest.unwrap_or(text));
        }
        if text.len() > MAX_TRIES {
            return None;
        }
        let cuts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let cut = |at: usize| if suffix { (&text[..at], &text[at..]) } else { (&text[at..], &text[..at]) };
        // The longest suffix begins first, the longest prefix ends last.
        let mut found = cuts.map(cut).filter(|(_, removed)| self.matches(removed)).map(|(kept, _)| kept);
        let kept = if suffix == longest { found.next() } else { found.next_back() };
        Some(kept.unwrap_or(text))
    }

    /// Replaces the first or all longest matches. None if it is too long to try.
    pub fn replace(&self, text: &str, with: &str, all: bool, anchor: Option<u8>) -> Option<String> {
        // Where nothing but an empty part matches, it stands at the end that is asked for, or before a text.
        if self.matches("") && self.literal().is_none_or(|literal| anchor.is_some() || !literal.is_empty()) {
            let parts = || text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]);
            // Of all matches, those of nothing stand between the others.
            if text.len() > 256 || all && anchor.is_none() && !text.is_empty() {
                return None;
            }
            let found = match anchor {
                Some(b'%') => text.char_indices().any(|(at, _)| self.matches(&text[at..])),
                _ => parts().any(|end| self.matches(&text[..end])),
            };
            if !found || text.is_empty() {
                return Some(if anchor == Some(b'%') { format!("{text}{with}") } else { format!("{with}{text}") });
            }
        }
        if let (Some(literal), None) = (self.literal(), anchor) {
            return Some(match (literal.is_empty(), all) {
                (true, _) => text.to_owned(),
                (_, true) => text.replace(&literal, with),
                (_, false) => text.replacen(&literal, with, 1),
            });
        }
        // Every part of every length is tried.
        if text.len() > 256 {
            return None;
        }
        let ends = |from: usize| {
            let later = text[from..].char_indices().map(move |(at, _)| from + at);
            later.chain([text.len()]).rfind(|to| self.matches(&text[from..*to]))
        };
        let mut result = String::new();
        let mut at = 0;
        while at <= text.len() {
            let allowed = anchor != Some(b'#') || at == 0;
            let end = ends(at).filter(|end| allowed && *end > at && (anchor != Some(b'%') || *end == text.len()));
            match (end, text[at..].chars().next()) {
                (Some(end), _) => {
                    result.push_str(with);
                    at = end;
                    if !all {
                        break;
                    }
                }
                (None, Some(c)) => {
                    result.push(c);
                    at += c.len_utf8();
                }
                (None, None) => break,
            }
        }
        result.push_str(text.get(at..).unwrap_or_default());
        Some(result)
    }
}

enum Set {
    /// The ranges, whether they are negated, and how many characters were read.
    Closed(Vec<(char, char)>, bool, usize),
    /// No bracket closes it, so it is a bracket.
    Open,
    /// `[:alpha:]` and most of its like depend on the locale.
    Class,
}

fn set(mut chars: std::iter::Peekable<std::str::Chars<'_>>) -> Set {
    let mut length = 0;
    let mut next = || {
        length += 1;
        chars.next()
    };
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut negated = false;
    let mut first = true;
    let mut range = false;
    loop {
        let Some(c) = next() else { return Set::Open };
        match c {
            '!' | '^' if first && !negated => {
                negated = true;
                continue;
            }
            ']' if !first => {
                if range {
                    ranges.push(('-', '-'));
                }
                return Set::Closed(ranges, negated, length);
            }
            '[' if range => return Set::Class,
            '[' => {
                let mut name = String::new();
                while !name.ends_with(":]") && name.len() < ":xdigit:]".len() {
                    let Some(c) = next() else { return Set::Class };
                    name.push(c);
                }
                match name.as_str() {
                    ":blank:]" => ranges.extend([(' ', ' '), ('\t', '\t')]),
                    ":digit:]" => ranges.push(('0', '9')),
                    ":space:]" => ranges.extend([(' ', ' '), ('\t', '\r')]),
                    _ => return Set::Class,
                }
            }
            '-' if !first && !range => range = true,
            c => {
                let c = if c == '\\' { next().unwrap_or('\\') } else { c };
                match ranges.last_mut().filter(|_| range) {
                    Some(last) => last.1 = c,
                    None => ranges.push((c, c)),
                }
                range = false;
            }
        }
        first = false;
    }
}

/// Whether an unquoted text is a pattern.
pub fn is_pattern(text: &str) -> bool {
    let bracket = || text.find('[').is_some_and(|open| text[open + 1..].contains(']'));
    text.contains(['*', '?']) || bracket() || ["@(", "+(", "!("].iter().any(|open| text.contains(open))
}

/// The only name that a pattern can find, if nothing in it but brackets around one character is special.
pub fn only_name(pattern: &str) -> Option<String> {
    let mut name = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' | '(' | '|' => return None,
            '\\' => name.push(chars.next()?),
            '[' => {
                let inner = chars.next().filter(|c| !"!^]\\[".contains(*c))?;
                chars.next().filter(|c| *c == ']')?;
                name.push(inner);
            }
            c => name.push(c),
        }
    }
    Some(name)
}

/// Adds a text to a pattern in which it stands for itself.
pub fn escape(text: &str, into: &mut String) {
    for c in text.chars() {
        if "*?[]\\".contains(c) {
            into.push('\\');
        }
        into.push(c);
    }
}

/// The pattern that finds just this text.
pub fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    escape(text, &mut pattern);
    pattern
}

/// The text that a pattern stands for if it finds nothing.
pub fn unescaped(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        text.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    text
}

/// A pattern as a text with a hole for each part that matches more than itself.
pub fn holes(pattern: &str) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let hole = match c {
            '*' | '?' => true,
            '[' => match rest.find(']') {
                Some(end) => {
                    rest = &rest[end + 1..];
                    true
                }
                None => false,
            },
            '\\' => {
                if let Some(c) = rest.chars().next() {
                    text.push(c);
                    rest = &rest[c.len_utf8()..];
                }
                continue;
            }
            _ => false,
        };
        match hole {
            true if text.ends_with(HOLE) => {}
            true => text.push(HOLE),
            false => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_bash() {
        let cases = [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abbd", false),
            ("*.txt", "a.txt", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]x]", "]", true),
            ("[a", "[a", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("*a*b*c*", "xxaxxbxxcxx", true),
            ("[a-]", "-", true),
            ("[[:space:]x]", "\n", true),
            ("[![:space:]]*", "a b", true),
            ("[![:space:]]*", " b", false),
            ("é?", "éü", true),
        ];
        for (pattern, text, expected) in cases {
            let pattern = Pattern::new(pattern).map(|pattern| pattern.matches(text));
            assert_eq!(pattern, Some(expected), "{text}");
        }
        assert!(Pattern::new("@(a|b)").is_none() && Pattern::new("[[:alpha:]]").is_none());
    }

    #[test]
    fn parts_are_removed_and_replaced_as_in_bash() {
        for (pattern, suffix, longest, expected) in [
            ("*/", false, false, "b/c.tar.gz"),
            ("*/", false, true, "c.tar.gz"),
            (".*", true, false, "a/b/c.tar"),
            (".*", true, true, "a/b/c"),
            ("x", true, true, "a/b/c.tar.gz"),
            ("a/", false, false, "b/c.tar.gz"),
        ] {
            let pattern = Pattern::new(pattern).expect("a pattern");
            assert_eq!(pattern.remove("a/b/c.tar.gz", suffix, longest), Some(expected));
        }
        for (pattern, with, all, anchor, expected) in [
            ("b", "x", false, None, "axab"),
            ("b", "x", true, None, "axax"),
            ("?", "x", true, None, "xxxx"),
            ("*", "x", false, None, "x"),
            ("a", "x", false, Some(b'#'), "xbab"),
            ("b", "x", false, Some(b'%'), "abax"),
            ("b", "x", false, Some(b'#'), "abab"),
        ] {
            let pattern = Pattern::new(pattern).expect("a pattern");
            assert_eq!(pattern.replace("abab", with, all, anchor).as_deref(), Some(expected), "{expected}");
        }
    }
}
