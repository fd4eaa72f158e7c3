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

use crate::effect::{Effect, Kind};
use crate::path::absolute;
use crate::walk::{Command, Script};
use crate::word::{Span, Value};

/// What a patch does to one path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Change<'t> {
    pub(crate) kind: Kind,
    pub(crate) path: &'t str,
    /// Of the path in the text.
    pub(crate) span: Span,
}

/// What the lines after a header may start with and belong to it.
#[derive(Clone, Copy)]
enum Body {
    None,
    Added,
    Updated,
}

impl Body {
    fn holds(self, line: &str) -> bool {
        match self {
            Body::None => false,
            Body::Added => line.starts_with('+'),
            Body::Updated => line.starts_with(['+', '-', ' ']),
        }
    }
}

/// Without the blanks around it, as in the languages of the tools: some count the byte order mark among them.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// Everything that a patch does, in the order of its lines.
///
/// # Errors
/// If nothing in the text names a file, or something looks like a header and is none: then it is no patch, or one in a form
/// that is not known here.
pub(crate) fn changes(text: &str) -> Result<Vec<Change<'_>>, String> {
    const HEADERS: [(&str, Kind, Body); 4] = [
        ("*** Add File:", Kind::Write, Body::Added),
        ("*** Update File:", Kind::Write, Body::Updated),
        ("*** Delete File:", Kind::Delete, Body::None),
        (MOVE, Kind::Write, Body::Updated),
    ];
    const MOVE: &str = "*** Move to:";
    const OTHERS: [&str; 3] = ["*** Begin Patch", "*** End Patch", "*** End of File"];
    let mut found: Vec<Change<'_>> = Vec::new();
    let mut body = Body::None;
    let mut start = 0;
    for whole in text.split_inclusive('\n') {
        let line_start = start;
        start += whole.len();
        if body.holds(whole) {
            continue;
        }
        let line = trim(whole);
        let header =
            HEADERS.iter().find_map(|(mark, kind, body)| Some((line.strip_prefix(mark)?, *kind, *body, *mark)));
        let Some((path, kind, next, mark)) = header else {
            if line.starts_with("***") && !OTHERS.contains(&line) && !line.starts_with("*** Environment ID:") {
                return Err("a header of the patch is not known".to_owned());
            }
            continue;
        };
        // Not every tool asks for the blank behind the colon.
        let path = trim(path);
        if path.is_empty() {
            return Err("a file in the patch has no name".to_owned());
        }
        if let (true, Some(last)) = (mark == MOVE, found.last_mut()) {
            last.kind = Kind::Move;
        }
        let at = line_start + whole.find(line).unwrap_or_default() + (line.len() - path.len());
        found.push(Change { kind, path, span: Span { start: at, end: at + path.len() } });
        body = next;
    }
    if found.is_empty() { Err("no file is named in the patch".to_owned()) } else { Ok(found) }
}

/// A patch as a script of one command that does all of it in this directory, for those who judge scripts. The positions
/// are those of the text. One that cannot be read is [unparsed](Script::unparsed).
pub fn patch(text: &str, cwd: &str) -> Script {
    let changes = match changes(text) {
        Ok(changes) => changes,
        Err(why) => return Script { unparsed: Some(why), ..Script::default() },
    };
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
            copied: change.kind == Kind::Move,
            certain: true,
            alternative: false,
        }
    });
    let span = Span { start: 0, end: text.len() };
    Script { commands: vec![Command::of_effects(effects.collect(), span, cwd)], ..Script::default() }
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
            // The blank behind the colon may be missing, and more may be there.
            ("*** Add File: ok\n+x\n*** Update File:/etc/x\n@@\n", "Write ok, Write /etc/x"),
            ("*** Delete File:\t a \n*** Update File:  b\n*** Move to:c\n", "Delete a, Move b, Write c"),
            ("*** Delete File:\u{feff}/etc/x\n", "Delete /etc/x"),
            ("*** Begin Patch\n*** Environment ID: e\n*** Update File: a\n@@\n+x\n*** End of File\n", "Write a"),
            ("*** Add File: a\n+*** Rename File: b\n", "Write a"),
            // What looks like a header and is none may be one for the tool.
            ("*** Add File: a\n+x\n*** Rename File: b\n", "a header of the patch is not known"),
            ("*** Add File: a\n+x\n***Update File: b\n", "a header of the patch is not known"),
            ("*** Add File: a\n+x\n  *** update file: b\n", "a header of the patch is not known"),
            ("*** Add File: \n", "a file in the patch has no name"),
            ("--- a\n+++ b\n", "no file is named in the patch"),
            ("", "no file is named in the patch"),
        ];
        for (text, expected) in cases {
            let found = match changes(text) {
                Ok(found) => {
                    assert!(found.iter().all(|change| &text[change.span.start..change.span.end] == change.path));
                    let found: Vec<String> = found.iter().map(|c| format!("{:?} {}", c.kind, c.path)).collect();
                    found.join(", ")
                }
                Err(why) => why,
            };
            assert_eq!(found, *expected, "{text}");
        }
    }
}
