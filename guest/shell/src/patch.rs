//! Patches in the form that `apply_patch` takes: files to add, change, move and remove, named one by one.
//!
//! ```text
//! *** Begin Patch
//! *** Add File: a.txt
//! +its lines
//! *** Update File: b.txt
//! *** Move to: c.txt
//! @@
//! -old
//! +new
//! *** Delete File: d.txt
//! *** End Patch
//! ```

use rustc_hash::FxHashSet;

use crate::command::{Command, Effect, EffectKind, Named, Script};
use toolgate_shell_syntax::path::absolute;
use toolgate_shell_syntax::word::{Span, Value, Word};

/// What a patch does to one path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Change<'t> {
    pub(crate) kind: EffectKind,
    pub(crate) path: &'t str,
    /// Of the path in the text.
    pub(crate) span: Span,
}

/// What the lines after a header may belong to: nothing, a file that is added, one that is changed. Several at once where
/// tools may differ.
const NONE: u8 = 1;
const ADDED: u8 = 2;
const UPDATED: u8 = 4;

/// Which of these a line belongs to by its start.
fn holding(line: &str) -> u8 {
    match line.as_bytes().first() {
        Some(b'+') => ADDED | UPDATED,
        Some(b'-' | b' ') => UPDATED,
        _ => 0,
    }
}

/// The characters that end lines, in each way that tools have: most know one, some also know that of old Macs, Python's
/// `splitlines` knows all of these. Where two stand together as `\r\n` they are one end.
const ENDS: [&[char]; 3] = [
    &['\n'],
    &['\n', '\r'],
    &['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'],
];

/// Whether some language takes it off the ends of a text. No two of them agree on all of these.
fn is_blank(c: char) -> bool {
    c <= ' ' || c.is_whitespace() || matches!(c, '\u{180e}' | '\u{200b}' | '\u{feff}')
}

/// Most blanks around the name of a file beside the usual one. Each makes names of its own.
const MOST_BLANKS: usize = 16;

/// Everything that a patch does, in the order of its lines. Tools differ in where lines end and in which blanks belong to a
/// name, and a name means another file with them: what any of them reads is in it.
///
/// The second is why that may not be all: nothing in the text names a file, or something looks like a header and is none, so
/// that it is no patch, or one in a form that is not known here. What was read besides counts all the same.
pub(crate) fn changes(text: &str) -> (Vec<Change<'_>>, Option<String>) {
    let mut found: Vec<Change<'_>> = Vec::new();
    let mut wrong = None;
    let mut seen = FxHashSet::default();
    for (at, ends) in ENDS.into_iter().enumerate() {
        let is_other =
            |(at, end): (usize, &str)| end != "\n" && !text.get(at..).is_some_and(|rest| rest.starts_with("\r\n"));
        // Nearly no text has other ends of lines than those that all tools know.
        if at == 0 || text.match_indices(ends).any(is_other) {
            let all = changes_by(text, ends, &mut wrong).into_iter();
            found.extend(all.filter(|change| seen.insert((change.kind, change.span.start, change.span.end))));
        }
    }
    let none = || found.is_empty().then(|| "the patch names no file".to_owned());
    let wrong = wrong.or_else(none);
    (found, wrong)
}

/// The same where these characters end lines. What is wrong first is told.
fn changes_by<'t>(text: &'t str, ends: &[char], wrong: &mut Option<String>) -> Vec<Change<'t>> {
    const HEADERS: [(&str, EffectKind, u8); 4] = [
        ("*** Add File:", EffectKind::Write, ADDED),
        ("*** Update File:", EffectKind::Write, UPDATED),
        ("*** Delete File:", EffectKind::Delete, NONE),
        (MOVE, EffectKind::Write, UPDATED),
    ];
    const MOVE: &str = "*** Move to:";
    const EDGES: [&str; 2] = ["*** Begin Patch", "*** End Patch"];
    let mut found: Vec<Change<'t>> = Vec::new();
    // Where the changes of the last header begin.
    let mut last = 0;
    let mut bodies = NONE;
    let mut start = 0;
    for whole in text.split_inclusive(ends) {
        let line_start = start;
        start += whole.len();
        let held = bodies & holding(whole);
        if held == bodies {
            continue;
        }
        let line = whole.trim_matches(is_blank);
        let Some((mark, kind, body)) = HEADERS.into_iter().find(|(mark, ..)| line.starts_with(*mark)) else {
            // For some tools the file before it goes on behind it, for others none does.
            if EDGES.contains(&line) {
                bodies |= NONE;
            } else if line.starts_with("***") && line != "*** End of File" && !line.starts_with("*** Environment ID:") {
                wrong.get_or_insert_with(|| "the patch has an unknown header".to_owned());
            }
            continue;
        };
        let indent = whole.len() - whole.trim_start_matches(is_blank).len();
        let (before, rest) = whole.split_at(indent + mark.len());
        let rest = rest.strip_suffix("\r\n").or_else(|| rest.strip_suffix(ends)).unwrap_or(rest);
        if mark == MOVE {
            found.iter_mut().skip(last).for_each(|change| change.kind = EffectKind::Move);
        }
        last = found.len();
        let (names, more) = names(rest);
        *wrong = wrong.take().or(more.map(str::to_owned));
        for (from, path) in names {
            let at = line_start + before.len() + from;
            found.push(Change { kind, path, span: Span { start: at, end: at + path.len() } });
        }
        // Not every tool takes it for a header with blanks before it.
        bodies = held | body | if indent > 0 { bodies } else { 0 };
    }
    found
}

/// Every name that what stands behind the colon of a header may be, and where it begins there: without any blanks first, then
/// with those that a tool may take for a part of it. One behind the colon never is, where it is a plain one. And why there may be more.
fn names(rest: &str) -> (Vec<(usize, &str)>, Option<&'static str>) {
    let name = rest.trim_matches(is_blank);
    if name.is_empty() {
        return (Vec::new(), Some("a header of the patch has no file name"));
    }
    let from = rest.len() - rest.trim_start_matches(is_blank).len();
    let to = from + name.len();
    let usual = usize::from(rest.starts_with(' '));
    let before: Vec<usize> = rest.char_indices().map(|(at, _)| at).filter(|at| (usual..from).contains(at)).collect();
    let behind: Vec<usize> = rest.char_indices().map(|(at, c)| at + c.len_utf8()).filter(|at| *at > to).collect();
    if before.len() + behind.len() > MOST_BLANKS {
        let why = "a file name in the patch has too many spaces around it";
        let whole = rest.get(usual..).unwrap_or(rest);
        return (vec![(from, name), (usual, whole)], Some(why));
    }
    let ends: Vec<usize> = [to].into_iter().chain(behind).collect();
    let each = [from].into_iter().chain(before).flat_map(|from| ends.iter().map(move |to| (from, *to)));
    (each.filter_map(|(from, to)| Some((from, rest.get(from..to)?))).collect(), None)
}

/// A patch as a script of one command that does all of it in this directory, for those who judge scripts. The positions
/// are those of the text. One that cannot be read is [unparsed](Script::unparsed).
pub fn patch(text: &str, cwd: &str) -> Script {
    let span = Span { start: 0, end: text.len() };
    let (changes, unparsed) = changes(text);
    if unparsed.is_some() {
        // What is known of it are words of which any may be the target of anything.
        let mut command = Command::of_effects(Vec::new(), span, cwd);
        command.words = vec![Word::new("apply_patch", span)];
        command.words.extend(changes.into_iter().map(|change| Word::new(change.path, change.span)));
        return Script { commands: vec![command], unparsed, ..Script::default() };
    }
    let effects = changes.into_iter().map(|change| {
        let dots = change.path.split('/').any(|part| part == "..");
        let written = dots.then(|| match change.path.starts_with('/') {
            true => change.path.to_owned(),
            false => format!("{}/{}", cwd.trim_end_matches('/'), change.path),
        });
        Effect {
            kind: change.kind,
            path: Value::Known(absolute(change.path, cwd)),
            written,
            span: change.span,
            recursive: false,
            folder: false,
            copied: change.kind == EffectKind::Move,
            certain: true,
            alternative: false,
            named: Named::Word,
            used: false,
        }
    });
    Script { commands: vec![Command::of_effects(effects.collect(), span, cwd)], ..Script::default() }
}

/// The names of files in a diff of any form: those before the change and those after it.
pub(crate) fn named_in_diff(text: &str) -> Vec<String> {
    const HEADERS: &[&str] = &["--- ", "+++ ", "*** ", "Index: ", "rename to ", "rename from ", "copy to "];
    let mut names = Vec::new();
    for line in text.lines() {
        // Mails and quotes may have put something before it.
        let line = line.trim_start_matches(['>', ' ', '\t']);
        let Some(name) = HEADERS.iter().find_map(|header| line.strip_prefix(header)) else { continue };
        let name = name.trim_start();
        let whole = match name.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => name.split('\t').next().unwrap_or(name).trim_end().to_owned(),
        };
        let short = whole.split(' ').next().unwrap_or_default().to_owned();
        names.extend([whole, short].into_iter().filter(|name| !name.is_empty() && name != "/dev/null"));
    }
    names.dedup();
    names
}

/// What stands in quotes as C has them, up to their end: `b/\056envrc`.
fn unquoted(quoted: &str) -> String {
    let mut bytes = Vec::with_capacity(quoted.len());
    let mut rest = quoted.bytes().peekable();
    while let Some(byte) = rest.next().filter(|byte| *byte != b'"') {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let mut octal = None;
        for _ in 0..3 {
            let Some(digit) = rest.next_if(|digit| (b'0'..=b'7').contains(digit)) else { break };
            octal = Some((octal.unwrap_or(0_u8) << 3) | (digit - b'0'));
        }
        bytes.extend(octal.or_else(|| rest.next()));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a diff may take away files.
pub(crate) fn may_remove(text: &str) -> bool {
    text.lines()
        .any(|line| line.contains("/dev/null") || line.starts_with("deleted file") || line.contains("1970-01-01"))
}

/// A name without that many folders before it, `usize::MAX` for all of them; none if it has not so many.
pub(crate) fn stripped(name: &str, count: usize) -> Option<&str> {
    if count == usize::MAX {
        return name.rsplit('/').next().filter(|name| !name.is_empty());
    }
    let mut rest = name;
    for _ in 0..count {
        rest = rest.split_once('/')?.1.trim_start_matches('/');
    }
    Some(rest).filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_where_the_tool_finds_them() {
        let cases: &[(&str, &str)] = &[
            ("*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n", "Write a"),
            ("*** Update File: a b\n@@\n-x\n+y\n", "Write a b"),
            ("*** Update File: a\n*** Move to: b/c\n@@\n x\n", "Move a, Write b/c"),
            ("*** Delete File: a\n*** Delete File: b\n", "Delete a, Delete b"),
            ("*** Delete File: a\r\n", "Delete a"),
            // What is written into a file names none.
            ("*** Add File: a\n+*** Delete File: b\n", "Write a"),
            ("*** Update File: a\n *** Delete File: b\n+*** Delete File: c\n-*** Delete File: d\n", "Write a"),
            // Blanks before a mark count only where nothing else can stand there.
            ("*** Add File: a\n+x\n *** Delete File: b\n", "Write a, Delete b"),
            ("*** Delete File: a\n  *** Delete File: b\n", "Delete a, Delete b"),
            ("*** Update File: a\n+x\n\t*** Delete File: b\n", "Write a, Delete b"),
            ("<<'EOF'\n*** Begin Patch\n*** Delete File: /etc/x\n*** End Patch\nEOF", "Delete /etc/x"),
            // The blank behind the colon may be missing, and more may be there, which may be a part of the name.
            ("*** Add File: ok\n+x\n*** Update File:/etc/x\n@@\n", "Write ok, Write /etc/x"),
            ("*** Delete File:\ta\n", "Delete a, Delete \ta"),
            ("*** Delete File: a \n", "Delete a, Delete a "),
            ("*** Update File:  b\n*** Move to:c\n", "Move b, Move  b, Write c"),
            ("*** Add File:  /../../x\n+y\n", "Write /../../x, Write  /../../x"),
            ("*** Add File: \u{a0}/../../x\n+y\n", "Write /../../x, Write \u{a0}/../../x"),
            (
                "*** Add File: \u{85}/../../x\n+y\n",
                "Write /../../x, Write \u{85}/../../x, a header of the patch has no file name",
            ),
            ("*** Delete File:\u{feff}/etc/x\n", "Delete /etc/x, Delete \u{feff}/etc/x"),
            // What ends a line for some tools does not for others.
            ("*** Add File: a\r\n+x\r\n*** End Patch\r\n", "Write a"),
            ("*** Add File: a\n+x\r*** Update File: b\r@@\r-y\r+z\n", "Write a, Write b"),
            ("*** Add File: a\n+x\r*** Update File: b\n *** Delete File: c\n", "Write a, Delete c, Write b"),
            ("*** Add File: a\n+x\u{2028}*** Delete File: b\n", "Write a, Delete b"),
            ("*** Add File: a\n+x\u{c}\n+\u{c}y\n", "Write a"),
            ("*** Add File: a\n+x\r*** Rename File: b\n", "Write a, the patch has an unknown header"),
            // A header with blanks before it is none for some, and what follows it is then not its body.
            ("*** Add File: a\n+x\n\u{85}*** Update File: b\n *** Delete File: c\n", "Write a, Write b, Delete c"),
            ("*** Begin Patch\n*** Environment ID: e\n*** Update File: a\n@@\n+x\n*** End of File\n", "Write a"),
            ("*** Add File: a\n+*** Rename File: b\n", "Write a"),
            // Behind its end nothing belongs to a file, for some.
            ("*** Update File: a\n-x\n+y\n*** End Patch\n *** Delete File: b\n", "Write a, Delete b"),
            // What looks like a header and is none may be one for the tool.
            ("*** Add File: a\n+x\n*** Rename File: b\n", "Write a, the patch has an unknown header"),
            ("*** Add File: a\n+x\n***Update File: b\n", "Write a, the patch has an unknown header"),
            // What is read besides counts: a reading that comes to nothing hides no other.
            ("*** Add File: a\n+x\r*** y\n*** Add File: b\n+z\n", "Write a, Write b, the patch has an unknown header"),
            ("*** Add File: a\n+x\n  *** update file: b\n", "Write a, the patch has an unknown header"),
            (
                "*** Add File:                   a\n",
                "Write a, Write                   a, a file name in the patch has too many spaces around it",
            ),
            ("*** Add File: \n", "a header of the patch has no file name"),
            ("--- a\n+++ b\n", "the patch names no file"),
            ("", "the patch names no file"),
        ];
        for (text, expected) in cases {
            let (found, wrong) = changes(text);
            assert!(found.iter().all(|change| &text[change.span.start..change.span.end] == change.path));
            let found = found.iter().map(|change| format!("{:?} {}", change.kind, change.path));
            let found = found.chain(wrong).collect::<Vec<_>>().join(", ");
            assert_eq!(found, *expected, "{text}");
        }
    }

    /// Four tools, and every blank that one of them takes for such and another one for a part of a name.
    #[test]
    fn no_tools_reading_of_a_name_is_missing() {
        type Reader<'r> = &'r dyn Fn(&str) -> Vec<String>;
        const MARK: &str = "*** Add File:";
        let js = |c: char| c != '\u{85}' && (c.is_whitespace() || c == '\u{feff}');
        let added = |line: &str| line.strip_prefix(MARK).map(str::to_owned);
        let codex = |text: &str| -> Vec<String> {
            text.lines().filter_map(|line| added(line.trim())?.strip_prefix(' ').map(str::to_owned)).collect()
        };
        let opencode = |text: &str| -> Vec<String> {
            text.split('\n').filter_map(|line| Some(added(line)?.trim_matches(js).to_owned())).collect()
        };
        let droid = |text: &str| opencode(&text.replace("\r\n", "\n").replace('\r', "\n"));
        let python = |text: &str| -> Vec<String> {
            text.split(ENDS[2]).filter_map(|line| added(line)?.strip_prefix(' ').map(str::to_owned)).collect()
        };
        let tools: [Reader<'_>; 4] = [&codex, &opencode, &droid, &python];
        let blanks = ["", " ", "\t", "\r", "\u{c}", "\u{1c}", "\u{85}", "\u{a0}", "\u{2028}", "\u{feff}"];
        let mut compared = 0;
        for one in blanks {
            for two in blanks {
                for three in blanks {
                    let text = format!("*** Begin Patch\n{one}{MARK} {two}{three}/../x{one}\n+y{two}{MARK} z\n");
                    // What is not read at all is not passed.
                    let (found, None) = changes(&text) else { continue };
                    for name in tools.iter().flat_map(|tool| tool(&text)) {
                        // No file is called nothing.
                        let there = name.is_empty() || found.iter().any(|change| change.path == name);
                        assert!(there, "{name:?} in {text:?}");
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 400, "{compared}");
    }
}
