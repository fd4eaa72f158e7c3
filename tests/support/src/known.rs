//! Cases that are known to come out wrong, named one by one. A case that comes out wrong and is not listed fails; so does one
//! that is listed and comes out right. A number of allowed mistakes would hide a new one behind one that was corrected.

use std::collections::BTreeSet;

/// A name for a text that is not repeated in a list: FNV-1a, 64 bits, in hexadecimal. Nobody gains by two texts of one name.
pub fn digest(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// The differences between what is listed and what came out wrong, a line each: its name in the list, and a description.
pub fn compare<'a>(
    listed: impl IntoIterator<Item = &'a str>,
    wrong: impl IntoIterator<Item = (String, String)>,
) -> Vec<String> {
    let mut differences = Vec::new();
    let mut left = BTreeSet::new();
    for case in listed {
        if !left.insert(case) {
            differences.push(format!("listed twice: {case:?}"));
        }
    }
    for (case, description) in wrong {
        if !left.remove(case.as_str()) {
            differences.push(format!("not listed: {case:?} {description}"));
        }
    }
    differences.extend(left.into_iter().map(|case| format!("no longer wrong, remove it from the list: {case:?}")));
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_its_text() {
        // As the authors of the function publish them.
        for (text, expected) in [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")] {
            assert_eq!(digest(text), expected, "{text}");
        }
    }

    #[test]
    fn neither_new_mistakes_nor_corrected_ones_pass() {
        let told = |listed: &[&'static str], wrong: &[&str]| {
            compare(listed.iter().copied(), wrong.iter().map(|one| ((*one).to_owned(), "x".to_owned())))
        };
        assert_eq!(told(&["one", "two"], &["two", "one"]), [""; 0]);
        // As many as are listed, but another.
        let expected = ["not listed: \"three\" x", "no longer wrong, remove it from the list: \"two\""];
        assert_eq!(told(&["one", "two"], &["one", "three"]), expected);
        assert_eq!(told(&["one", "one"], &["one"]), ["listed twice: \"one\""]);
    }
}
