//! Texts as words of a shell.

use unicode_width::UnicodeWidthChar;

/// A text as one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    if text.chars().any(char::is_control) { ansi_quoted(text) } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// The same on one line, whatever is in it.
pub(crate) fn ansi_quoted(text: &str) -> String {
    let mut quoted = String::from("$'");
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\\' | '\'' => {
                quoted.push('\\');
                quoted.push(c);
            }
            c if c.is_ascii_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if c.is_control() || c.width() == Some(0) => {
                c.to_string().bytes().for_each(|byte| quoted.push_str(&format!("\\x{byte:02x}")));
            }
            c => quoted.push(c),
        }
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_any_shell() {
        let cases = [("/p", "'/p'"), ("it's", r"'it'\''s'"), ("a\nb'c\\", r"$'a\nb\'c\\'"), ("$0", "'$0'")];
        for (text, expected) in cases {
            assert_eq!(quoted(text), expected);
        }
    }
}
