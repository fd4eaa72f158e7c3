//! A text of several lines before a person, with what matched in it underlined.
//!
//! Lines have their numbers in front and what is left out has not, so that no text can pretend that something is
//! missing, or that something is part of it.

use std::io::Write;
use std::ops::Range;

use anstyle::Style;
use toolgate_host::excerpt;

use crate::columns::count;
use crate::output::{DIM, LINE};

/// A text with more lines than this is shown where something matched.
const LINES: usize = 12;

/// Lines round a match that are shown with it.
const AROUND: usize = 1;

/// A text's lines by number.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(ends.filter(|at| *at < text.len())).collect();
        Lines { text, starts }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The line that a byte is in, from 0.
    fn index(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// A place as people count: line and character, both from 1.
    pub(crate) fn position(&self, at: usize) -> (usize, usize) {
        let at = self.text.floor_char_boundary(at);
        let line = self.index(at);
        let start = self.starts.get(line).copied().unwrap_or(0);
        (line + 1, self.text.get(start..at).unwrap_or_default().chars().count() + 1)
    }

    /// A line without its end.
    fn range(&self, line: usize) -> Range<usize> {
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let text = self.text.get(start..end).unwrap_or_default();
        start..start + text.strip_suffix('\n').unwrap_or(text).len()
    }

    /// Shows one line with its part of the matches.
    fn line(&self, out: &mut impl Write, line: usize, matches: &[Range<usize>], style: Style) -> std::io::Result<()> {
        let range = self.range(line);
        let inside = matches.iter().filter(|one| one.start < range.end && one.end > range.start);
        let inside: Vec<Range<usize>> =
            inside.map(|one| one.start.max(range.start) - range.start..one.end.min(range.end) - range.start).collect();
        let shown = excerpt(self.text.get(range).unwrap_or_default(), &inside, LINE);
        writeln!(out, "{DIM}{:>6}{DIM:#} {}", line + 1, shown.line)?;
        if !shown.marks.is_empty() {
            writeln!(out, "       {style}{}{style:#}", shown.marks)?;
        }
        Ok(())
    }

    /// Shows the text: all of it if it is short, else the lines of the matches and those next to them.
    pub(crate) fn show(&self, out: &mut impl Write, matches: &[Range<usize>], style: Style) -> std::io::Result<()> {
        let wanted = |line: usize| {
            self.len() <= LINES
                || matches.is_empty() && line < LINES
                || matches.iter().any(|one| {
                    let (first, last) = (self.index(one.start), self.index(one.end.saturating_sub(1)));
                    (first.saturating_sub(AROUND)..=first + AROUND).contains(&line)
                        || (last.saturating_sub(AROUND)..=last + AROUND).contains(&line)
                })
        };
        self.some(out, 0..self.len(), wanted, matches, style)
    }

    /// Shows the lines of matches that begin on the same line.
    pub(crate) fn show_only(
        &self,
        out: &mut impl Write,
        matches: &[Range<usize>],
        style: Style,
    ) -> std::io::Result<()> {
        let first = matches.iter().map(|one| self.index(one.start)).min().unwrap_or(0);
        let last = matches.iter().map(|one| self.index(one.end.saturating_sub(1).max(one.start))).max().unwrap_or(0);
        let wanted = |line: usize| line < first + 2 || line == last;
        self.some(out, first..last + 1, wanted, matches, style)
    }

    fn some(
        &self,
        out: &mut impl Write,
        lines: Range<usize>,
        wanted: impl Fn(usize) -> bool,
        matches: &[Range<usize>],
        style: Style,
    ) -> std::io::Result<()> {
        let mut left_out = 0;
        for line in lines {
            if !wanted(line) {
                left_out += 1;
                continue;
            }
            gap(out, std::mem::take(&mut left_out))?;
            self.line(out, line, matches, style)?;
        }
        gap(out, left_out)
    }
}

fn gap(out: &mut impl Write, lines: usize) -> std::io::Result<()> {
    if lines == 0 { Ok(()) } else { writeln!(out, "{DIM}     ~ {} omitted{DIM:#}", count(lines, "line")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, found: &Range<usize>) -> String {
        let mut out = Vec::new();
        Lines::new(text).show(&mut out, std::slice::from_ref(found), Style::new()).expect("written");
        anstream::adapter::strip_str(&String::from_utf8(out).expect("text")).to_string()
    }

    #[test]
    fn a_match_is_underlined_on_every_line_that_it_is_on() {
        assert_eq!(shown("a\nbc d\nef\n", &(3..8)), "     1 a\n     2 bc d\n        ^^^\n     3 ef\n       ^\n");
        assert_eq!(shown("ä\u{202e}b", &(5..6)), "     1 ä\\u{202e}b\n                ^\n");
        let long: String = (1..=40).map(|n| format!("line {n}\n")).collect();
        let at = long.find("line 20").expect("there");
        let text = shown(&long, &(at..at + 7));
        assert_eq!(
            text,
            "     ~ 18 lines omitted\n    19 line 19\n    20 line 20\n       ^^^^^^^\n    21 line 21\n     ~ 19 lines omitted\n"
        );
    }

    #[test]
    fn places_are_counted_in_characters_from_one() {
        let lines = Lines::new("a\nüb\n");
        for (at, expected) in [(0, (1, 1)), (2, (2, 1)), (4, (2, 2)), (5, (2, 3)), (99, (2, 4))] {
            assert_eq!(lines.position(at), expected, "{at}");
        }
        assert_eq!((Lines::new("").len(), lines.len()), (1, 2));
    }
}
