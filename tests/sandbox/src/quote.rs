//! Shell text as a word of another text, in the ways that people and programs write it. Not for reading such words.

/// In single quotes.
pub fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// In double quotes, so that nothing in it is expanded.
pub fn double(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        if matches!(char, '\\' | '"' | '$' | '`') {
            out.push('\\');
        }
        out.push(char);
    }
    out + "\""
}

/// As bash's `$'...'`.
pub fn ansi(text: &str) -> String {
    let mut out = String::from("$'");
    for char in text.chars() {
        match char {
            '\n' => out.push_str("\\n"),
            '\'' | '\\' => out.extend(['\\', char]),
            _ => out.push(char),
        }
    }
    out + "'"
}

/// Between backticks.
pub fn backticks(text: &str) -> String {
    let mut out = String::from("`");
    for char in text.chars() {
        if matches!(char, '\\' | '$' | '`') {
            out.push('\\');
        }
        out.push(char);
    }
    out + "`"
}

/// As a string of Python, JavaScript, awk or Tcl-free JSON: double quotes, nothing interpolated by those languages.
pub fn program(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '\n' => out.push_str("\\n"),
            '"' | '\\' => out.extend(['\\', char]),
            _ => out.push(char),
        }
    }
    out + "\""
}

/// As a string of Perl, Ruby or PHP: single quotes, since their double quotes interpolate.
pub fn literal(text: &str) -> String {
    let mut out = String::from("'");
    for char in text.chars() {
        if matches!(char, '\'' | '\\') {
            out.push('\\');
        }
        out.push(char);
    }
    out + "'"
}

/// `opener <<'EOF'`, the text and the closing line. What follows must start on a new line.
pub fn heredoc(opener: &str, text: &str) -> String {
    let taken = |name: &str| text.lines().any(|line| line == name);
    let name = ["EOF", "END", "STOP", "TEXT", "LAST"].into_iter().find(|name| !taken(name)).unwrap_or("NO_MORE");
    format!("{opener} <<'{name}'\n{text}\n{name}")
}

/// One text after the other.
pub fn then(first: &str, second: &str) -> String {
    let separator = match first {
        // A comment or a here-document goes to the end of its line.
        _ if first.contains('\n') || first.contains('#') => "\n",
        _ if first.ends_with('&') => " ",
        _ => "; ",
    };
    format!("{first}{separator}{second}")
}

/// Bytes in base64.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk.iter().fold(0_u32, |all, byte| all << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            if place > chunk.len() {
                out.push('=');
            } else {
                out.push(char::from(DIGITS[(number >> (18 - 6 * place)) as usize & 63]));
            }
        }
    }
    out
}

/// Bytes in base32.
pub fn base32(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut out = String::new();
    for chunk in bytes.chunks(5) {
        let number = chunk.iter().fold(0_u64, |all, byte| all << 8 | u64::from(*byte)) << (8 * (5 - chunk.len()));
        let used = (chunk.len() * 8).div_ceil(5);
        for place in 0..8 {
            out.push(if place < used { char::from(DIGITS[(number >> (35 - 5 * place)) as usize & 31]) } else { '=' });
        }
    }
    out
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes as octal escapes, as `printf` reads them.
pub fn octal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\{byte:03o}")).collect()
}

/// Every letter by thirteen places.
pub fn rot13(text: &str) -> String {
    let turn = |char: char| match char {
        'a'..='m' | 'A'..='M' => char::from(char as u8 + 13),
        'n'..='z' | 'N'..='Z' => char::from(char as u8 - 13),
        _ => char,
    };
    text.chars().map(turn).collect()
}

/// A gzip file with the bytes in it, not made smaller. `None` if they are too many for one block.
pub fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let length = u16::try_from(bytes.len()).ok()?;
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1];
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(bytes);
    let mut check = !0_u32;
    for byte in bytes {
        check ^= u32::from(*byte);
        for _ in 0..8 {
            check = if check & 1 == 1 { check >> 1 ^ 0xedb8_8320 } else { check >> 1 };
        }
    }
    out.extend((!check).to_le_bytes());
    out.extend(u32::from(length).to_le_bytes());
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let text = "a 'b' \"c\" $d `e` \\f";
        assert_eq!(single(text), r#"'a '\''b'\'' "c" $d `e` \f'"#);
        assert_eq!(double(text), r#""a 'b' \"c\" \$d \`e\` \\f""#);
        assert_eq!(ansi("a'\n"), r"$'a\'\n'");
        assert_eq!(heredoc("sh", "a\nEOF"), "sh <<'END'\na\nEOF\nEND");
        assert_eq!(then("a &", "b"), "a & b");
    }

    #[test]
    fn encodings() {
        for (bytes, want) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), want);
        }
        for (bytes, want) in [("f", "MY======"), ("foob", "MZXW6YQ="), ("fooba", "MZXW6YTB")] {
            assert_eq!(base32(bytes.as_bytes()), want);
        }
        assert_eq!(rot13("rm -rf ~"), "ez -es ~");
        assert_eq!(octal(b"rm"), "\\162\\155");
    }
}
