//! Text of others before a person or a model: what they read must not deceive.

use toolgate_plain::deceives;

/// The text with everything escaped that does not show as itself: control characters, marks that turn the text round,
/// and characters without a shape. On one line, and cut after so many characters.
pub(crate) fn plain(text: &str, most: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(most));
    for (index, c) in text.chars().enumerate() {
        match c {
            _ if index >= most => {
                shown.push_str("...");
                break;
            }
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push(' '),
            '\r' => shown.push_str("\\r"),
            // Tools use it between words.
            '\u{a0}' => shown.push(c),
            c if deceives(c) => shown.push_str(&c.escape_unicode().to_string()),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_invisible_is_shown_as_itself() {
        let cases = [
            ("'x' is unused", "'x' is unused"),
            ("a\u{1b}[2Kb", "a\\u{1b}[2Kb"),
            ("a\u{202e}b\u{200b}", "a\\u{202e}b\\u{200b}"),
            ("a\nb\rc\td", "a\\nb\\rc d"),
            ("größe 写", "größe 写"),
            ("12345678901234567890x", "12345678901234567890..."),
        ];
        for (text, expected) in cases {
            assert_eq!(plain(text, 20), expected);
        }
    }
}
