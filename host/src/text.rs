//! Untrusted text before a person: what they read must not deceive.

use std::ops::Range;

use toolgate_plain::deceives;

use crate::limits::said;

/// The text with everything escaped that does not show as itself: control characters, marks that turn the text round,
/// and characters without a shape. On one line.
///
/// ```
/// assert_eq!(toolgate_host::plain("a\u{202e}b\n"), "a\\u{202e}b\\n");
/// ```
pub fn plain(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            c if deceives(c) => shown.push_str(&c.escape_unicode().to_string()),
            c => shown.push(c),
        }
    }
    shown
}

/// Whether each byte shows as itself: most texts are of such bytes alone. All are looked at, which is faster than to stop.
fn shows(text: &str, is_shown: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(true, |all, byte| all & is_shown(byte))
}

fn is_plain(text: &str) -> bool {
    shows(text, |byte| matches!(byte, b' '..=b'~'))
}

fn is_plain_lines(text: &str) -> bool {
    shows(text, |byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
}

/// The text of several lines with everything escaped that hides text, turns it round or moves a cursor. Line breaks, tabs,
/// blanks and what gives a symbol its colour stay as they are.
pub(crate) fn lines(text: &str) -> String {
    if is_plain_lines(text) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '\n' | '\t' | '\u{a0}' | '\u{3000}' => shown.push(c),
            '\u{fe0e}' | '\u{fe0f}' if !before.is_ascii() && !deceives(before) => shown.push(c),
            c if deceives(c) => shown.push_str(&c.escape_unicode().to_string()),
            c => shown.push(c),
        }
        before = c;
    }
    shown
}

/// What a plugin says in a sentence or a few, for people and models.
pub(crate) fn sentence(text: &str) -> String {
    bounded(text, said::SENTENCE, lines)
}

/// A name that a plugin gives, or anything else that is on one line.
pub(crate) fn name(text: &str) -> String {
    bounded(text, said::NAME, plain)
}

/// What a plugin adds to the conversation.
pub(crate) fn addition(text: &str) -> String {
    bounded(text, said::ADDITION, lines)
}

/// A text that is harmless and not too long: what is escaped in it is longer than before.
fn bounded(text: &str, most: usize, harmless: fn(&str) -> String) -> String {
    let harmless = if text.len() <= most { harmless(text) } else { harmless(&shortened(text, most)) };
    if harmless.len() <= most { harmless } else { shortened(&harmless, most) }
}

/// A text of at most about so many bytes: its start and its end, and in between how much is left out.
///
/// ```
/// assert_eq!(toolgate_host::shortened("abcdefgh", 4), "ab[4 bytes omitted]gh");
/// ```
pub fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let start = text.floor_char_boundary(most / 2);
    let end = text.ceil_char_boundary(text.len() - most / 2);
    format!("{}[{} bytes omitted]{}", &text[..start], end - start, &text[end..])
}

/// A text on one line with what matched in it, for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The text, nothing in it invisible, and marks for what is left out.
    pub line: String,
    /// Below it: `^` under what matched, `~` under what stands for something left out, so that no text can pretend
    /// that something is missing. Empty if there is neither.
    pub marks: String,
}

/// A text with what matched at these places, in about so many characters or as few more as it needs to show the start
/// and the end of each match. However long the text is, no match is out of sight; of very many the first are shown, and
/// the others counted.
///
/// ```
/// let shown = toolgate_host::excerpt("cd a; rm -rf b", &[6..12], 80);
/// assert_eq!(shown.line, "cd a; rm -rf b");
/// assert_eq!(shown.marks, "      ^^^^^^");
/// ```
pub fn excerpt(text: &str, matches: &[Range<usize>], most: usize) -> Excerpt {
    /// Characters round a match that are shown with it.
    const AROUND: usize = 20;
    /// Fewest characters of a match that are shown.
    const FEWEST: usize = 40;
    /// Most matches that are shown of a long text.
    const MOST: usize = 32;
    let mut spans: Vec<Range<usize>> = matches
        .iter()
        .map(|one| text.floor_char_boundary(one.start)..text.ceil_char_boundary(one.end))
        .filter(|one| one.start < one.end)
        .collect();
    spans.sort_by_key(|one| one.start);
    let mut apart: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match apart.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => apart.push(span),
        }
    }
    let mut drawing = Drawing::default();
    let whole = plain(text).chars().count() <= most;
    let unshown = if whole { 0 } else { apart.len().saturating_sub(MOST) };
    apart.truncate(apart.len() - unshown);
    let around = if whole { usize::MAX } else { AROUND };
    let budget = if whole { usize::MAX } else { (most / apart.len().max(1)).saturating_sub(2 * AROUND).max(FEWEST) };
    let mut at = 0;
    for (index, span) in apart.iter().enumerate() {
        drawing.between(text, at..span.start, if index == 0 { 0 } else { around }, around);
        drawing.piece(&text[span.clone()], '^', budget);
        at = span.end;
    }
    if apart.is_empty() {
        drawing.between(text, 0..text.len(), if whole { usize::MAX } else { most }, 0);
    } else {
        drawing.between(text, at..text.len(), around, 0);
    }
    if unshown > 0 {
        drawing.put(&format!("[{unshown} more matches]"), '~');
    }
    drawing.marks.truncate(drawing.marks.trim_end().len());
    Excerpt { line: drawing.line, marks: drawing.marks }
}

#[derive(Default)]
struct Drawing {
    line: String,
    marks: String,
}

impl Drawing {
    fn put(&mut self, shown: &str, mark: char) {
        self.line.push_str(shown);
        self.marks.extend(std::iter::repeat_n(mark, shown.chars().count()));
    }

    /// A part between matches: some characters at its start, some at its end.
    fn between(&mut self, text: &str, part: Range<usize>, start: usize, end: usize) {
        let part = &text[part];
        let head = first(part, start);
        let tail = last(&part[head..], end);
        self.put(&plain(&part[..head]), ' ');
        self.left_out(part.len() - head - tail);
        self.put(&plain(&part[part.len() - tail..]), ' ');
    }

    /// A match, with its middle left out if it is too long.
    fn piece(&mut self, part: &str, mark: char, budget: usize) {
        let head = first(part, budget);
        if head == part.len() {
            self.put(&plain(part), mark);
            return;
        }
        let head = first(part, budget / 2);
        let tail = last(&part[head..], budget / 2);
        self.put(&plain(&part[..head]), mark);
        self.left_out(part.len() - head - tail);
        self.put(&plain(&part[part.len() - tail..]), mark);
    }

    fn left_out(&mut self, bytes: usize) {
        if bytes > 0 {
            self.put(&format!("[{bytes} bytes omitted]"), '~');
        }
    }
}

/// How many bytes at the start are shown in so many characters.
fn first(text: &str, most: usize) -> usize {
    fitting(text.char_indices().map(|(at, c)| (at + c.len_utf8(), c)), most)
}

/// The same at the end.
fn last(text: &str, most: usize) -> usize {
    fitting(text.char_indices().rev().map(|(at, c)| (text.len() - at, c)), most)
}

fn fitting(characters: impl Iterator<Item = (usize, char)>, most: usize) -> usize {
    let mut shown = 0;
    let mut fits = 0;
    for (bytes, c) in characters {
        shown += plain(c.encode_utf8(&mut [0; 4])).chars().count();
        if shown > most {
            break;
        }
        fits = bytes;
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_invisible_is_shown_as_itself() {
        let cases = [
            ("rm -rf x", "rm -rf x"),
            ("a\u{1b}[2Kb", "a\\u{1b}[2Kb"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{200b}b\u{a0}c", "a\\u{200b}b\\u{a0}c"),
            ("a\nb\rc", "a\\nb\\rc"),
            ("größe 写", "größe 写"),
        ];
        for (text, expected) in cases {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn lines_stay_and_what_hides_does_not() {
        let cases = [
            ("a\n\tb", "a\n\tb"),
            ("a\u{1b}[2K\r\u{9b}b", "a\\u{1b}[2K\\u{d}\\u{9b}b"),
            ("a\u{202e}b\u{200b}\u{e0041}", "a\\u{202e}b\\u{200b}\\u{e0041}"),
            ("⚠\u{fe0f} 全角\u{3000}größe", "⚠\u{fe0f} 全角\u{3000}größe"),
            ("a\u{fe0f}⚠\u{fe0f}\u{fe0f}", "a\\u{fe0f}⚠\u{fe0f}\\u{fe0f}"),
        ];
        for (text, expected) in cases {
            assert_eq!(lines(text), expected);
        }
    }

    #[test]
    fn what_a_plugin_says_is_bounded_with_its_escapes() {
        for text in ["x".repeat(1 << 20), "\u{e0041}".repeat(1 << 18), "\u{202e}".repeat(1 << 18)] {
            // The mark that stands for what is left out comes on top.
            for (said, most) in
                [(name(&text), said::NAME), (sentence(&text), said::SENTENCE), (addition(&text), said::ADDITION)]
            {
                assert!(said.len() <= most + 40 && said.contains(" omitted]"), "{} {most}", said.len());
            }
        }
    }

    #[test]
    fn a_match_is_in_sight_however_long_the_text_is() {
        let long = "x".repeat(5000);
        let cases = [
            ("rm -rf /".to_owned(), vec![(0, 8)], "rm -rf /", "^^^^^^^^"),
            ("a; rm x; b".to_owned(), vec![(3, 7)], "a; rm x; b", "   ^^^^"),
            ("a\u{202e}b c".to_owned(), vec![(1, 5)], "a\\u{202e}b c", " ^^^^^^^^^"),
            (
                format!("{long} rm a {long}"),
                vec![(5001, 5005)],
                "[4981 bytes omitted]xxxxxxxxxxxxxxxxxxx rm a xxxxxxxxxxxxxxxxxxx[4981 bytes omitted]",
                "",
            ),
            (
                format!("a {long} b"),
                vec![(0, 1), (5003, 5004)],
                "a xxxxxxxxxxxxxxxxxxx[4962 bytes omitted]xxxxxxxxxxxxxxxxxxx b",
                "",
            ),
            (long.clone(), vec![(0, 5000)], "xxxxxxxxxxxxxxxxxxxx[4960 bytes omitted]xxxxxxxxxxxxxxxxxxxx", ""),
            (
                long.clone(),
                vec![],
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx[4920 bytes omitted]",
                "",
            ),
            ("\u{200b}".repeat(900), vec![(0, 2700)], "\\u{200b}\\u{200b}[2688 bytes omitted]\\u{200b}\\u{200b}", ""),
            ("é".to_owned(), vec![(1, 1), (0, 1), (7, 9)], "é", "^"),
            ("[9 bytes omitted]".to_owned(), vec![(1, 2)], "[9 bytes omitted]", " ^"),
        ];
        for (text, matches, line, marks) in cases {
            let matches: Vec<Range<usize>> = matches.into_iter().map(|(start, end)| start..end).collect();
            let shown = excerpt(&text, &matches, 80);
            assert_eq!(shown.line, line);
            if !marks.is_empty() {
                assert_eq!(shown.marks, marks);
            }
            assert!(shown.marks.chars().count() <= shown.line.chars().count());
            assert_eq!(shown.marks.contains('~'), text.len() > 80, "{line}");
        }
    }

    #[test]
    fn very_many_matches_are_counted() {
        let text = "rm x; ".repeat(1_000);
        let matches: Vec<Range<usize>> = (0..1_000).map(|at| at * 6..at * 6 + 4).collect();
        let shown = excerpt(&text, &matches, 80);
        assert!(shown.line.ends_with(" omitted][968 more matches]") && shown.line.len() < 500, "{}", shown.line);
    }

    #[test]
    fn what_is_left_out_is_counted() {
        for (text, most, expected) in
            [("abc", 3, "abc"), ("abcdefgh", 4, "ab[4 bytes omitted]gh"), ("ééé", 3, "[6 bytes omitted]")]
        {
            assert_eq!(shortened(text, most), expected);
        }
    }
}
