//! What the groups of a regular expression match in a known text, for `[[ =~ ]]`. Only plain ones are read: no alternatives,
//! no counts, nothing repeated but single characters.

use toolgate_shell_syntax::glob::Pattern;

/// Longest expression that is read, in its parts.
const MAX_PARTS: usize = 200;

/// Longest text that is matched, in characters, and how many steps that may take.
const MAX_TEXT: usize = 4_096;
const MAX_STEPS: usize = 20_000;

enum What {
    Start,
    End,
    Any,
    Character(char),
    Set(Pattern),
    /// Where a group begins, or ends.
    Mark(usize),
}

impl What {
    fn is(&self, c: char) -> bool {
        match self {
            What::Any => true,
            What::Character(wanted) => *wanted == c,
            What::Set(pattern) => pattern.matches(c.encode_utf8(&mut [0; 4])),
            What::Start | What::End | What::Mark(_) => false,
        }
    }
}

struct Part {
    what: What,
    least: usize,
    most: usize,
}

/// All that matches, and what each group does.
pub(super) fn groups(expression: &str, text: &str) -> Option<Vec<String>> {
    let (parts, count) = parse(expression)?;
    let text: Vec<char> = text.chars().collect();
    if parts.len() > MAX_PARTS || text.len() > MAX_TEXT {
        return None;
    }
    let mut left = MAX_STEPS;
    let (start, end, mut marks) = (0..=text.len()).find_map(|start| {
        let mut marks = vec![0; 2 * count + 2];
        let end = run(&parts, &text, start, &mut marks, &mut left)?;
        Some((start, end, marks))
    })?;
    (marks[0], marks[1]) = (start, end);
    let part = |pair: &[usize]| Some(text.get(*pair.first()?..*pair.last()?)?.iter().collect::<String>());
    marks.chunks(2).map(part).collect()
}

/// Whether a text fits an expression; none where that is not told.
pub(super) fn fits(expression: &str, text: &str) -> Option<bool> {
    parse(expression).filter(|(parts, _)| parts.len() <= MAX_PARTS && text.len() <= MAX_TEXT)?;
    Some(groups(expression, text).is_some())
}

/// Its parts, and how many groups there are.
fn parse(expression: &str) -> Option<(Vec<Part>, usize)> {
    let mut parts = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut count = 0;
    let mut chars = expression.chars().peekable();
    while let Some(c) = chars.next() {
        let what = match c {
            '^' => What::Start,
            '$' => What::End,
            '.' => What::Any,
            '(' => {
                count += 1;
                open.push(count);
                What::Mark(2 * count)
            }
            ')' => What::Mark(2 * open.pop()? + 1),
            // Before a letter and the like it is an operator of the C library's own.
            '\\' => {
                What::Character(chars.next().filter(|c| c.is_ascii_punctuation() && !"<>`'".contains(*c) || *c == ' ')?)
            }
            '[' => What::Set(set(&mut chars)?),
            '|' | '{' | '*' | '+' | '?' => return None,
            c => What::Character(c),
        };
        let (least, most) = match chars.peek() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            _ => (1, 1),
        };
        if (least, most) != (1, 1) {
            chars.next();
            if matches!(what, What::Start | What::End | What::Mark(_)) {
                return None;
            }
        }
        parts.push(Part { what, least, most });
    }
    open.is_empty().then_some((parts, count))
}

/// The rest of `[..]`, which patterns of the shell have alike.
fn set(chars: &mut impl Iterator<Item = char>) -> Option<Pattern> {
    let mut text = "[".to_owned();
    loop {
        // It is itself in there, and escapes in patterns of the shell.
        let c = chars.next().filter(|c| *c != '\\')?;
        text.push(c);
        // A bracket that comes first is one of the characters.
        let first = matches!(text.as_str(), "[]" | "[^]");
        let class = text.ends_with(":]") && text.contains("[:");
        if c == ']' && !first && !class {
            break;
        }
    }
    Pattern::new(&text).filter(|_| !text.starts_with("[!"))
}

/// Where a match ends that begins here. `marks`: where groups begin and end.
fn run(parts: &[Part], text: &[char], at: usize, marks: &mut [usize], left: &mut usize) -> Option<usize> {
    *left = left.checked_sub(1)?;
    let Some((part, rest)) = parts.split_first() else { return Some(at) };
    let fits = match &part.what {
        What::Start => at == 0,
        What::End => at == text.len(),
        What::Mark(mark) => {
            *marks.get_mut(*mark)? = at;
            true
        }
        what => {
            let found = text.iter().skip(at).take(part.most).take_while(|c| what.is(**c)).count();
            *left = left.checked_sub(found)?;
            return (part.least..=found).rev().find_map(|count| run(rest, text, at + count, marks, left));
        }
    };
    if fits { run(rest, text, at, marks, left) } else { None }
}

#[cfg(test)]
mod tests {
    #[test]
    fn groups_have_what_they_match() {
        for (expression, text, expected) in [
            ("^dir:\\ (.*)$", "dir: /a b", Some("dir: /a b|/a b")),
            ("^([^=]+)=(.*)$", "a=b=c", Some("a=b=c|a|b=c")),
            ("([0-9]+)\\.([[:digit:]]+)", "v12.34-x", Some("12.34|12|34")),
            ("^(.*)/([^/:]+)$", "/a/b/c", Some("/a/b/c|/a/b|c")),
            ("x?y", "ay", Some("y")),
            ("^b", "ab", None),
            ("a|b", "a", None),
            ("(a)*", "a", None),
            ("\\w+", "a", None),
            ("[\\.]", ".", None),
        ] {
            let found = super::groups(expression, text).map(|groups| groups.join("|"));
            assert_eq!(found.as_deref(), expected, "{expression}");
        }
    }
}
