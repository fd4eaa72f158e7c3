//! Names with `*` for any number of characters, as rules write those of programs, subcommands and rules.

/// Whether a name fits a glob with `*`.
pub(crate) fn fits(glob: &str, name: &str) -> bool {
    // By bytes, as there are thousands of short ones to a command: looking for a character costs more to begin with. Most are
    // told by their first letter.
    if let (Some(first), Some(letter)) = (glob.bytes().next(), name.bytes().next())
        && first != b'*'
        && first != letter
    {
        return false;
    }
    let Some(star) = glob.bytes().position(|byte| byte == b'*') else { return glob == name };
    let (start, rest) = (&glob[..star], &glob[star + 1..]);
    let Some(mut name) = name.strip_prefix(start) else { return false };
    if rest.is_empty() {
        return true;
    }
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    // What stands between two stars is best found where it stands first: that leaves the most to what comes after it.
    for part in middle.split('*') {
        match name.find(part) {
            Some(at) => name = &name[at + part.len()..],
            None => return false,
        }
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_globs() {
        for (glob, name, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*", "", true),
            ("mkfs.*", "mkfs.ext4", true),
            ("*-x*y", "a-xby", true),
            ("*-x*y", "a-xbyz", false),
            ("a*a", "a", false),
            ("*ab*b", "abb", true),
            ("*ab*b", "ab", false),
            ("*", "é", true),
            ("**b", "ab", true),
            ("*a*a*a*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(fits(glob, name), expected, "{glob} {name}");
        }
    }
}
