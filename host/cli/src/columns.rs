//! How wide the terminal is, and texts that are broken to fit.

use std::io::IsTerminal;

/// The least and the most columns that are used: below, nothing fits; above, lines are hard to read.
const NARROW: u16 = 40;
const WIDE: u16 = 140;

/// The columns of the terminal that standard output is; none if it is no terminal, so that every entry is one line.
pub(crate) fn width() -> Option<usize> {
    let out = std::io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let columns = rustix::termios::tcgetwinsize(&out).map_or(0, |size| size.ws_col);
    Some(if columns == 0 { 100 } else { columns.clamp(NARROW, WIDE) }.into())
}

/// A text on lines of at most so many characters, broken between words. A longer word has a line of its own.
pub(crate) fn wrapped(text: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width else { return vec![text.to_owned()] };
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += length;
        }
    }
    lines
}

/// A number with its noun: `1 rule`, `2 rules`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_between_words() {
        let cases: &[(&str, Option<usize>, &[&str])] = &[
            ("a bb ccc", None, &["a bb ccc"]),
            ("a bb ccc", Some(4), &["a bb", "ccc"]),
            ("a bb ccc", Some(80), &["a bb ccc"]),
            ("toolong a", Some(3), &["toolong", "a"]),
            ("größe écrit", Some(5), &["größe", "écrit"]),
            ("", Some(3), &[""]),
        ];
        for (text, width, expected) in cases {
            assert_eq!(wrapped(text, *width), *expected, "{text} in {width:?}");
        }
    }
}
