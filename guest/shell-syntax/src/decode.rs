//! Texts out of base64 and out of hexadecimal digits. Bytes that are no text give nothing.

/// Who decodes base64: they differ in what else may stand there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Base64 {
    /// A program. At blanks inside a line some stop and others go on, and so they do behind padding, so that neither gives
    /// anything here.
    Program,
    /// The function of a language, which leaves blanks out. Of signs of the other alphabet some make digits and some nothing.
    Function,
}

/// With or without padding.
pub fn base64(text: &str, by: Base64) -> Option<String> {
    let text = text.trim_end();
    let (text, padding) = text.find('=').map_or((text, ""), |at| text.split_at(at));
    // What comes behind padding some leave out, and others decode.
    if !padding.bytes().all(|byte| matches!(byte, b'=' | b'\n')) || text.is_empty() && !padding.is_empty() {
        return None;
    }
    let mut bytes = Vec::new();
    let mut bits = 0_u32;
    let mut count = 0;
    for byte in text.bytes() {
        let six = match (byte, by) {
            (b'A'..=b'Z', _) => byte - b'A',
            (b'a'..=b'z', _) => byte - b'a' + 26,
            (b'0'..=b'9', _) => byte - b'0' + 52,
            (b'+', _) => 62,
            (b'/', _) => 63,
            (b'\n', _) | (b'\r' | b' ', Base64::Function) => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Pairs of digits, blanks between them left out.
pub fn hex(text: &str) -> Option<String> {
    let digits: Vec<u32> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let bytes = digits.chunks_exact(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).ok()).collect::<Option<_>>()?;
    String::from_utf8(bytes).ok()
}

/// A text with `%2F` written out. What is no such code stays.
pub fn percent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let code = rest.get(at + 1..at + 3).filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        bytes.push(code.and_then(|code| u8::from_str_radix(code, 16).ok()).unwrap_or(b'%'));
        rest = &rest[at + 1 + code.map_or(0, str::len)..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_as_far_as_all_agree() {
        for (text, program, function) in [
            ("cm0gLXJm", Some("rm -rf"), Some("rm -rf")),
            ("cm0g\nLXJm\n", Some("rm -rf"), Some("rm -rf")),
            ("bHM7Cg==", Some("ls;\n"), Some("ls;\n")),
            ("bHM7Cg==\n", Some("ls;\n"), Some("ls;\n")),
            ("bHM7Cg", Some("ls;\n"), Some("ls;\n")),
            ("bHM7Cg==cm0gLXJm", None, None),
            ("=cm0gLXJm", None, None),
            ("bHM7Cg==\ncm0gLXJm", None, None),
            ("cm0g LXJm", None, Some("rm -rf")),
            ("Pj4_", None, None),
            ("cm0*", None, None),
            ("/w==", None, None),
        ] {
            assert_eq!(base64(text, Base64::Program).as_deref(), program, "{text}");
            assert_eq!(base64(text, Base64::Function).as_deref(), function, "{text}");
        }
    }

    #[test]
    fn hexadecimal_digits_come_in_pairs() {
        for (text, expected) in
            [("726d", Some("rm")), ("72 6D\n", Some("rm")), ("726", None), ("72zz", None), ("ff", None), ("", Some(""))]
        {
            assert_eq!(hex(text).as_deref(), expected, "{text}");
        }
    }
}
