//! Absolute paths as text: cleaned, resolved through a table of symbolic links, matched against patterns.
//! The real tree is gone (or has changed) when these questions are asked, so nothing here looks at the disk.

use std::collections::BTreeMap;

/// Symbolic links, from the absolute path of the link to what it says.
pub type Links = BTreeMap<String, String>;

/// How many links are followed before a path counts as a loop; Linux itself stops at 40.
const MOST_LINKS: usize = 40;

/// `path` made absolute against `cwd`, without `.`, `..` (by text alone) and double slashes.
pub fn absolute(path: &str, cwd: &str) -> String {
    let joined = if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// `path` with its links resolved the way the kernel does it: `..` is taken after the link before it.
/// The last name is followed only if `last` says so.
pub fn real(path: &str, links: &Links, last: bool) -> String {
    let mut done: Vec<String> = Vec::new();
    let mut todo: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
    let mut followed = 0;
    while let Some(part) = todo.pop() {
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                done.pop();
                continue;
            }
            _ => done.push(part),
        }
        let here = format!("/{}", done.join("/"));
        let is_last = todo.iter().all(String::is_empty);
        if (is_last && !last) || followed >= MOST_LINKS {
            continue;
        }
        if let Some(target) = links.get(&here) {
            followed += 1;
            done.pop();
            if target.starts_with('/') {
                done.clear();
            }
            todo.extend(target.split('/').rev().map(str::to_owned));
        }
    }
    format!("/{}", done.join("/"))
}

/// Whether `path` is `folder` or lies below it.
pub fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || folder == "/")
}

/// The last name of a path.
pub fn basename(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// One piece of a pattern.
enum Piece {
    Char(char),
    Any,
    /// Any text, slashes too.
    Everything,
    /// Any text without a slash.
    Name,
    Set {
        not: bool,
        ranges: Vec<(char, char)>,
    },
}

/// Whether a shell pattern matches the whole path: `*`, `?` and sets do not match a slash, `**` does,
/// a backslash quotes. Extended patterns (`+(..)`) and unknown classes match anything: this decides whether an
/// effect was foreseen at all, so it may only err towards yes.
pub fn glob_matches(pattern: &str, path: &str) -> bool {
    matches(&pieces(pattern), &path.chars().collect::<Vec<_>>())
}

/// Whether a text with holes (`\0`) matches: a hole is any text.
pub fn shape_matches(shape: &str, path: &str) -> bool {
    let pieces: Vec<Piece> =
        shape.chars().map(|c| if c == '\0' { Piece::Everything } else { Piece::Char(c) }).collect();
    matches(&pieces, &path.chars().collect::<Vec<_>>())
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        let opens = chars.get(at) == Some(&'(');
        match c {
            '?' | '*' | '+' | '@' | '!' if opens => {
                out.push(Piece::Everything);
                return out;
            }
            '*' if chars.get(at) == Some(&'*') => {
                at += 1;
                out.push(Piece::Everything);
            }
            '*' => out.push(Piece::Name),
            '?' => out.push(Piece::Any),
            '\\' => {
                out.push(Piece::Char(chars.get(at).copied().unwrap_or('\\')));
                at += 1;
            }
            '[' => match set(&chars, at) {
                Some((piece, next)) => {
                    out.push(piece);
                    at = next;
                }
                None => out.push(Piece::Char('[')),
            },
            c => out.push(Piece::Char(c)),
        }
    }
    out
}

/// The bracket expression that begins after `[` at `from`, and where it ends.
fn set(chars: &[char], from: usize) -> Option<(Piece, usize)> {
    let mut at = from;
    let not = matches!(chars.get(at), Some('!' | '^'));
    at += usize::from(not);
    let first = at;
    let mut ranges = Vec::new();
    loop {
        let c = *chars.get(at)?;
        if c == ']' && at > first {
            return Some((Piece::Set { not, ranges }, at + 1));
        }
        if c == '[' && matches!(chars.get(at + 1), Some(':' | '=' | '.')) {
            let end = chars.get(at..)?.iter().position(|&c| c == ']')?;
            return Some((Piece::Any, chars.get(at + end + 1..)?.iter().position(|&c| c == ']')? + at + end + 2));
        }
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(&high)) if high != ']' => {
                ranges.push((c, high));
                at += 3;
            }
            _ => {
                ranges.push((c, c));
                at += 1;
            }
        }
    }
}

/// Tries each length that a star may have: both texts are short, and patterns have few stars.
fn matches(pieces: &[Piece], text: &[char]) -> bool {
    let Some((piece, rest)) = pieces.split_first() else { return text.is_empty() };
    match piece {
        Piece::Everything => (0..=text.len()).any(|n| matches(rest, text.get(n..).unwrap_or_default())),
        Piece::Name => {
            let most = text.iter().position(|&c| c == '/').unwrap_or(text.len());
            (0..=most).any(|n| matches(rest, text.get(n..).unwrap_or_default()))
        }
        single => {
            let Some((&c, tail)) = text.split_first() else { return false };
            let fits = match single {
                Piece::Char(want) => *want == c,
                Piece::Set { not, ranges } => c != '/' && ranges.iter().any(|&(a, b)| a <= c && c <= b) != *not,
                _ => c != '/',
            };
            fits && matches(rest, tail)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_and_resolved() {
        for (path, cwd, want) in
            [("a", "/w", "/w/a"), ("../a/./b", "/w/x", "/w/a/b"), ("/a//b/", "/w", "/a/b"), ("..", "/", "/")]
        {
            assert_eq!(absolute(path, cwd), want, "{path} in {cwd}");
        }
        let links: Links =
            [("/w/l".into(), "d/e".into()), ("/w/loop".into(), "loop".into()), ("/w/abs".into(), "/x".into())].into();
        for (path, last, want) in [
            ("/w/l/f", false, "/w/d/e/f"),
            ("/w/l", false, "/w/l"),
            ("/w/l", true, "/w/d/e"),
            ("/w/l/../f", true, "/w/d/f"),
            ("/w/abs/f", true, "/x/f"),
            ("/w/loop", true, "/w/loop"),
        ] {
            assert_eq!(real(path, &links, last), want, "{path}");
        }
    }

    #[test]
    fn patterns_match_paths() {
        for (pattern, path, want) in [
            ("/w/*.txt", "/w/a.txt", true),
            ("/w/*.txt", "/w/d/a.txt", false),
            ("/w/**/a", "/w/x/y/a", true),
            ("/w/[a-c]?", "/w/bz", true),
            ("/w/[!a-c]?", "/w/bz", false),
            ("/w/\\*", "/w/*", true),
            ("/w/\\*", "/w/a", false),
            ("/w/[[:alpha:]]x", "/w/qx", true),
            ("/w/@(a|b).c", "/w/a.c", true),
            ("/w/[", "/w/[", true),
        ] {
            assert_eq!(glob_matches(pattern, path), want, "{pattern} on {path}");
        }
        assert!(shape_matches("/w/\0.txt", "/w/d/a.txt") && !shape_matches("/w/\0.txt", "/w/a.md"));
    }
}
