//! What a pane shows, put together from what tmux captures. It runs nothing.
//!
//! tmux tells the rows of the screen and, joined, the lines that they are parts of, but not which rows these are. Both
//! come from one moment, so they are put side by side from the end.

use unicode_width::UnicodeWidthChar;

use toolgate_host::capability::Screen;

/// Most bytes of a screen: what may cross to a component at a time, and room for the rest of the answer.
const MAX_SCREEN_BYTES: usize = (4 << 20) - (64 << 10);

/// What tmux captured of a pane at one moment.
#[derive(Debug)]
pub(super) struct Captured<'a> {
    /// The column of the cursor, from 0.
    pub(super) x: usize,
    /// Its row on the screen, from 0.
    pub(super) y: usize,
    pub(super) width: u32,
    pub(super) height: u32,
    /// Lines, wrapped ones joined; the last are those on the screen.
    pub(super) joined: &'a str,
    /// The rows on the screen.
    pub(super) rows: &'a str,
}

impl Captured<'_> {
    /// The screen; none if the parts do not fit.
    pub(super) fn screen(&self) -> Option<Screen> {
        let row = self.rows.split('\n').nth(self.y).unwrap_or_default();
        let start = self.start()?;
        let before = self.joined.get(..start)?;
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let end = self.joined.get(start..)?.find('\n').map_or(self.joined.len(), |at| start + at);
        let before_cursor = [before.get(line..)?, &left_of(row, self.x)].concat();
        let below = trimmed(self.joined.get(end..)?.strip_prefix('\n').unwrap_or_default());
        let text = trimmed(self.joined.get(..end)?);
        let most = MAX_SCREEN_BYTES.saturating_sub(below.len() + before_cursor.len());
        Some(Screen {
            text: last_lines(&text, most).to_owned(),
            below: below.trim_end_matches('\n').to_owned(),
            before_cursor,
            width: self.width,
            height: self.height,
        })
    }

    /// Where the cursor's row begins in the joined lines.
    fn start(&self) -> Option<usize> {
        let rows: Vec<&str> = self.rows.split('\n').collect();
        let mut at = self.joined.len();
        for (index, row) in rows.iter().enumerate().rev() {
            let left = self.joined.get(..at)?;
            let left = left.strip_suffix('\n').filter(|_| index + 1 < rows.len()).unwrap_or(left);
            let shown = row.trim_end_matches(' ');
            // A newer tmux fills rows with more blanks than joined lines.
            let blanks = (row.len() - shown.len()).min(left.len() - left.trim_end_matches(' ').len());
            at = left.len() - blanks;
            at = left.get(..at)?.strip_suffix(shown)?.len();
            if index == self.y {
                return Some(at);
            }
        }
        None
    }
}

/// The first columns of a row, with blanks where nothing was written.
fn left_of(row: &str, columns: usize) -> String {
    let (mut width, mut end) = (0, 0);
    for (at, c) in row.char_indices() {
        // What has no width belongs to the character before it.
        let wide = c.width().unwrap_or(0);
        if wide > 0 && width + wide > columns {
            break;
        }
        width += wide;
        end = at + c.len_utf8();
    }
    let mut left = row.get(..end).unwrap_or_default().to_owned();
    left.extend(std::iter::repeat_n(' ', columns.saturating_sub(width)));
    left
}

/// The text without blanks at the ends of its lines.
fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').map(|line| line.trim_end_matches(' ')).collect();
    lines.join("\n")
}

/// The last lines of a text, as many as fit; a part of the last one if that is too long.
fn last_lines(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let kept = text.get(text.ceil_char_boundary(text.len() - most)..).unwrap_or_default();
    kept.find('\n').and_then(|at| kept.get(at + 1..)).unwrap_or(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_is_split_at_the_cursor() {
        // Column and row, joined, rows, text, below, before the cursor.
        let cases: &[(usize, usize, &str, &str, &str, &str, &str)] = &[
            (2, 0, "$ \n\n", "$ \n\n", "$", "", "$ "),
            (2, 1, "old\na\n$ ls\nx", "a\n$ ls\nx", "old\na\n$ ls", "x", "$ "),
            (0, 1, "a\n\n", "a\n\n", "a\n", "", ""),
            (3, 1, "$ aaaaabbb\n\n", "$ aaaaa\nbbb\n\n", "$ aaaaabbb", "", "$ aaaaabbb"),
            (3, 0, "$ aaaaabbb\nc", "$ aaaaa\nbbb\nc", "$ aaaaabbb", "c", "$ a"),
            (1, 2, "aaabbbccc", "aaa\nbbb\nccc", "aaabbbccc", "", "aaabbbc"),
            (4, 0, "日本語", "日本語", "日本語", "", "日本"),
            (2, 0, "e\u{301}xy", "e\u{301}xy", "e\u{301}xy", "", "e\u{301}x"),
            (1, 0, "e\u{301}", "e\u{301}", "e\u{301}", "", "e\u{301}"),
            (5, 0, "a", "a", "a", "", "a    "),
            (2, 0, "a  \nb  ", "a  \nb  ", "a", "b", "a "),
            // Wrapped at blanks.
            (0, 1, "a  b\n", "a  \nb\n", "a  b", "", "a  "),
            (0, 1, "a     ", "a  \n   ", "a", "", "a  "),
            // Rows that are filled with blanks.
            (1, 1, "a\nb\n", "a  \nb  \n   ", "a\nb", "", "b"),
            (0, 1, "aaab\n", "aaa\nb  \n   ", "aaab", "", "aaa"),
        ];
        for (x, y, joined, rows, text, below, before_cursor) in cases {
            let captured = Captured { x: *x, y: *y, width: 7, height: 3, joined, rows };
            let screen = captured.screen().expect("the parts fit");
            let found = (&*screen.text, &*screen.below, &*screen.before_cursor);
            assert_eq!(found, (*text, *below, *before_cursor), "{captured:?}");
        }
        for (joined, rows) in [("a\nb", "a\nc"), ("", "x"), ("a", "a\na")] {
            let captured = Captured { x: 0, y: 0, width: 7, height: 3, joined, rows };
            assert!(captured.screen().is_none(), "{captured:?}");
        }
    }

    #[test]
    fn too_long_a_text_loses_its_first_lines() {
        let cases = [
            ("a\nb\nc", 5, "a\nb\nc"),
            ("a\nb\nc", 4, "b\nc"),
            ("a\nb\nc", 3, "c"),
            ("aaaa", 2, "aa"),
            ("日本", 4, "本"),
        ];
        for (text, most, expected) in cases {
            assert_eq!(last_lines(text, most), expected, "{text:?} {most}");
        }
    }
}
