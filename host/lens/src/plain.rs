//! Text of others before a person or a model: what they read must not deceive.

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
            c if deceives(c) => shown.push_str(&c.escape_unicode().to_string()),
            c => shown.push(c),
        }
    }
    shown
}

/// Control characters, direction marks, and characters without a shape: Unicode's default ignorables, other blanks.
/// But for the no-break space, which tools use between words.
fn deceives(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
            | '\u{1680}' | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
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
