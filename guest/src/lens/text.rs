//! Texts from outside: without escape sequences, with nothing invisible, and not too long. What a daemon, a linter or a
//! source file says is shown on a terminal and read by an agent.

use toolgate_plain::deceives;

/// At most about so many bytes of a text, as [`clean`] shows it. What is longer is cut, and says so.
pub(crate) fn harmless(text: &str, most: usize) -> String {
    let (start, rest) = text.split_at(text.floor_char_boundary(most));
    bounded(clean(start), most, rest.len())
}

/// Without escape sequences, and with everything else escaped that does not show as itself, but for line breaks and
/// tabs.
pub(crate) fn clean(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            // The same in one character: a control sequence.
            '\u{9b}' => skip_control_sequence(&mut chars),
            // And strings to the terminal.
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut chars),
            // Tools use the last between words.
            '\n' | '\t' | '\u{a0}' => kept.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => kept.push_str("\\r"),
            c if deceives(c) => kept.extend(c.escape_unicode()),
            c => kept.push(c),
        }
    }
    kept
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// The rest of an escape sequence, as ECMA-48 has them.
fn skip_escape(chars: &mut Chars<'_>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_control_sequence(chars);
        }
        Some('P' | 'X' | ']' | '^' | '_') => {
            chars.next();
            skip_string(chars);
        }
        _ => {
            while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            chars.next_if(|c| matches!(c, '0'..='~'));
        }
    }
}

/// Parameters, then one final character. A character that cannot be in one ends it.
fn skip_control_sequence(chars: &mut Chars<'_>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

/// Up to the terminator, or to the end of the line if there is none.
fn skip_string(chars: &mut Chars<'_>) {
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

/// At most so many bytes, cut at the end of a line where one is near, and said so; `more` are missing already.
fn bounded(mut text: String, most: usize, more: usize) -> String {
    if more == 0 && text.len() <= most {
        return text;
    }
    let length = text.len() + more;
    text.truncate(text.floor_char_boundary(most));
    if let Some(end) = text.rfind('\n').filter(|end| text.len() - end < 1_000) {
        text.truncate(end);
    }
    let left = length - text.len();
    text.push_str(&format!("\n… (cut: {left} more bytes)"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_a_terminal_or_hides_is_left() {
        let cases = [
            ("plain ✅ text\n\twith a tab", "plain ✅ text\n\twith a tab"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[38;5;196mred\u{1b}[m!", "red!"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;title without an end\nnext", "\nnext"),
            ("\u{1b}P1$r\u{9c}x", "x"),
            ("\u{9d}0;title\u{9c}x", "x"),
            ("\u{1b}(Bx\u{1b}cy\u{1b}", "xy"),
            ("\u{1b}[31", ""),
            ("\u{1b}[3é", "é"),
            ("a\r\nb\rc\u{8}\u{0}\u{7f}\u{85}", "a\nb\\rc\\u{8}\\u{0}\\u{7f}\\u{85}"),
            ("x\u{202e}y\u{2066}z\u{200f}", "x\\u{202e}y\\u{2066}z\\u{200f}"),
            ("x\u{200b}y\u{2060}z\u{feff}", "x\\u{200b}y\\u{2060}z\\u{feff}"),
            ("x\u{e0041}y\u{2028}z\u{fe0f}", "x\\u{e0041}y\\u{2028}z\\u{fe0f}"),
            ("größe\u{a0}写", "größe\u{a0}写"),
            ("\u{1b}[1\u{200b}m", "\\u{200b}m"),
        ];
        for (text, expected) in cases {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_too_long_is_cut_and_says_so() {
        let cases = [
            ("abc", 3, "abc"),
            ("abcd", 3, "abc\n… (cut: 1 more bytes)"),
            ("ab\ncd", 4, "ab\n… (cut: 3 more bytes)"),
            ("aé", 2, "a\n… (cut: 2 more bytes)"),
            ("\u{1b}[mabc", 6, "abc"),
            ("\u{1b}[mabcd", 6, "abc\n… (cut: 1 more bytes)"),
            ("a\u{7}\u{7}bc", 7, "a\\u{7}\\\n… (cut: 6 more bytes)"),
        ];
        for (text, most, expected) in cases {
            assert_eq!(harmless(text, most), expected, "{text:?}");
        }
    }
}
