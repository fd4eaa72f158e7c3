//! What a server says about a file, as problems.

use std::path::Path;

use gen_lsp_types::{Code, Diagnostic, DiagnosticSeverity, Message, Position, PositionEncodingKind, Range};
use serde::Deserialize;
use serde_json::Value;

use crate::report::{Problem, Severity};

/// Most problems of a file.
const PROBLEMS: usize = 500;
/// Most characters of a message.
const MESSAGE: usize = 4000;

/// Problems of a file with this text. Hints are left out: they are for people who look at the line.
pub(super) fn problems(
    file: &Path,
    text: &str,
    encoding: &PositionEncodingKind,
    server: &str,
    diagnostics: &[Diagnostic],
) -> Vec<Problem> {
    let problem = |diagnostic: &Diagnostic| {
        let source = diagnostic.source.clone().unwrap_or_else(|| server.to_owned());
        Some(Problem {
            file: file.to_path_buf(),
            line: diagnostic.range.start.line.saturating_add(1),
            column: column(text, diagnostic.range.start, encoding),
            severity: severity(diagnostic.severity.as_ref())?,
            message: message(&diagnostic.message),
            rule: diagnostic.code.as_ref().and_then(|code| rule(code, &source)),
            source,
        })
    };
    let mut problems: Vec<Problem> = Vec::new();
    for problem in diagnostics.iter().filter_map(problem) {
        if !problems.iter().any(|known| same(known, &problem)) && problems.len() < PROBLEMS {
            problems.push(problem);
        }
    }
    problems.sort_by_key(|problem| (problem.line, problem.column));
    problems
}

/// Whether two problems are one. A server that is asked and that publishes says the same twice; rust-analyzer finds by
/// itself what the compiler behind it finds too, and calls it by the same name in other words.
fn same(one: &Problem, other: &Problem) -> bool {
    let place = |problem: &Problem| (problem.line, problem.column);
    let twice = one.rule.is_some() && one.rule == other.rule && one.source != other.source;
    one == other || (twice && place(one) == place(other))
}

/// What a server lacks in a folder that is not trusted, if what it says of a file is nothing but the consequence of it.
pub(super) fn withheld(file: &Path, text: &str, diagnostics: &[Diagnostic]) -> Option<&'static str> {
    let unknown = |found: &Diagnostic| message(&found.message).starts_with("No packages found for open file");
    // Older versions of gopls say nothing at all.
    let imported = |line: &str| line.trim().trim_start_matches("import").trim_start().starts_with("\"C\"");
    if diagnostics.iter().any(unknown) || (file.extension() == Some("go".as_ref()) && text.lines().any(imported)) {
        return Some("files with cgo are not part of the build");
    }
    let missing = Some(Code::String("pp_file_not_found".into()));
    let not_found = diagnostics.iter().any(|found| found.code == missing);
    not_found.then_some("without the project's compile commands, some includes are not found")
}

/// Without a severity it is the client that decides; editors take it for an error.
fn severity(severity: Option<&DiagnosticSeverity>) -> Option<Severity> {
    match severity {
        None | Some(DiagnosticSeverity::Error) => Some(Severity::Error),
        Some(DiagnosticSeverity::Warning) => Some(Severity::Warning),
        Some(DiagnosticSeverity::Information) => Some(Severity::Info),
        Some(_) => None,
    }
}

fn message(message: &Message) -> String {
    let text = match message {
        Message::String(text) => text,
        Message::MarkupContent(content) => &content.value,
    };
    text.trim_end().chars().take(MESSAGE).collect()
}

/// TypeScript's codes are known with their letters.
fn rule(code: &Code, source: &str) -> Option<String> {
    match code {
        Code::Int(0) => None,
        Code::Int(code) if ["typescript", "ts", "javascript", "js"].contains(&source) => Some(format!("TS{code}")),
        Code::Int(code) => Some(code.to_string()),
        Code::String(code) if code.is_empty() => None,
        Code::String(code) => Some(code.clone()),
    }
}

/// The column in characters, from 1. A position past the end of its line is at its end.
fn column(text: &str, position: Position, encoding: &PositionEncodingKind) -> u32 {
    let wanted = usize::try_from(position.character).unwrap_or(usize::MAX);
    let line = usize::try_from(position.line).ok().and_then(|line| lines(text).nth(line)).unwrap_or_default();
    let (mut units, mut characters) = (0, 1);
    for character in line.chars() {
        units += match encoding {
            PositionEncodingKind::UTF8 => character.len_utf8(),
            PositionEncodingKind::UTF32 => 1,
            _ => character.len_utf16(),
        };
        if units > wanted {
            break;
        }
        characters += 1;
    }
    characters
}

/// Lines as the protocol counts them: ended by a newline, a carriage return, or both.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.find(['\n', '\r']) else { return rest.take() };
        let (line, after) = text.split_at(end);
        rest = after.strip_prefix("\r\n").or_else(|| after.get(1..));
        Some(line)
    })
}

/// A diagnostic as the TypeScript server itself writes it: lines and UTF-16 units from 1.
#[derive(Deserialize)]
struct Tsserver {
    start: Option<TsserverLocation>,
    text: String,
    code: Option<i32>,
    category: String,
    source: Option<String>,
}

#[derive(Deserialize)]
struct TsserverLocation {
    line: u32,
    offset: u32,
}

/// The diagnostics in an answer of the TypeScript server, if it is one.
pub(super) fn tsserver(answer: &Value) -> Option<Vec<Diagnostic>> {
    if answer.get("success")? != true {
        return None;
    }
    let body = Vec::<Tsserver>::deserialize(answer.get("body")?).ok()?;
    Some(body.into_iter().map(of_tsserver).collect())
}

fn of_tsserver(diagnostic: Tsserver) -> Diagnostic {
    let start = diagnostic.start.map_or_else(Position::default, |place| Position {
        line: place.line.saturating_sub(1),
        character: place.offset.saturating_sub(1),
    });
    let severity = match diagnostic.category.as_str() {
        "warning" => DiagnosticSeverity::Warning,
        "message" => DiagnosticSeverity::Information,
        "suggestion" => DiagnosticSeverity::Hint,
        _ => DiagnosticSeverity::Error,
    };
    Diagnostic {
        range: Range { start, end: start },
        severity: Some(severity),
        code: diagnostic.code.map(Code::Int),
        source: Some(diagnostic.source.unwrap_or_else(|| "typescript".into())),
        message: Message::String(diagnostic.text),
        ..Diagnostic::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns() {
        use PositionEncodingKind::{UTF8, UTF16, UTF32};
        let cases = [
            ("let x", 0, 4, UTF16, 5),
            ("äb", 0, 2, UTF8, 2),
            ("äb", 0, 1, UTF16, 2),
            ("😀b", 0, 4, UTF8, 2),
            ("😀b", 0, 2, UTF16, 2),
            ("😀b", 0, 1, UTF32, 2),
            ("😀b", 0, 1, UTF16, 1),
            ("a\r\nbc\rd\n\nef", 1, 1, UTF8, 2),
            ("a\r\nbc\rd\n\nef", 2, 0, UTF8, 1),
            ("a\r\nbc\rd\n\nef", 4, 1, UTF8, 2),
            ("ab", 0, 99, UTF16, 3),
            ("ab", 9, 9, UTF16, 1),
            ("", 0, 0, UTF16, 1),
        ];
        for (text, line, character, encoding, expected) in cases {
            let position = Position { line, character };
            assert_eq!(column(text, position, &encoding), expected, "{text:?} {line}:{character} {encoding:?}");
        }
    }

    #[test]
    fn what_counts() {
        let at = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } });
        let cases = [
            (json!({ "range": at, "message": "m" }), Some((Severity::Error, None, "server"))),
            (
                json!({ "range": at, "message": "m", "severity": 2, "code": 7 }),
                Some((Severity::Warning, Some("7"), "server")),
            ),
            (
                json!({ "range": at, "message": "m", "severity": 3, "code": "x", "source": "s" }),
                Some((Severity::Info, Some("x"), "s")),
            ),
            (
                json!({ "range": at, "message": "m", "code": 2322, "source": "typescript" }),
                Some((Severity::Error, Some("TS2322"), "typescript")),
            ),
            (
                json!({ "range": at, "message": { "kind": "markdown", "value": "m" }, "code": "" }),
                Some((Severity::Error, None, "server")),
            ),
            (json!({ "range": at, "message": "m", "severity": 4 }), None),
            (json!({ "range": at, "message": "m", "severity": 9 }), None),
        ];
        for (diagnostic, expected) in cases {
            let diagnostic: Diagnostic = serde_json::from_value(diagnostic).unwrap();
            let found = problems(
                Path::new("/a"),
                "",
                &PositionEncodingKind::UTF16,
                "server",
                &[diagnostic.clone(), diagnostic],
            );
            let got = found.iter().map(|found| (found.severity, found.rule.as_deref(), found.source.as_str()));
            assert_eq!(got.collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
            assert!(found.iter().all(|found| found.message == "m"));
        }
    }

    #[test]
    fn what_is_withheld() {
        let at = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } });
        let cases = [
            ("a.go", "package a\n", json!({ "message": "No packages found for open file /a.go: x." }), true),
            ("a.go", "package a\nimport \"C\"\n", json!({ "message": "m" }), true),
            ("a.go", "package a\nimport (\n\t\"C\" // c\n\t\"fmt\"\n)\n", json!({ "message": "m" }), true),
            ("a.go", "package a\n\nvar a = \"C\"\n", json!({ "message": "m" }), false),
            ("a.py", "import \"C\"\n", json!({ "message": "m" }), false),
            ("a.c", "", json!({ "message": "'a.h' file not found", "code": "pp_file_not_found" }), true),
            ("a.c", "", json!({ "message": "m", "code": "undeclared_var_use" }), false),
        ];
        for (file, text, mut diagnostic, expected) in cases {
            diagnostic["range"] = at.clone();
            let found = [serde_json::from_value(diagnostic).unwrap()];
            assert_eq!(withheld(Path::new(file), text, &found).is_some(), expected, "{file} {text}");
        }
    }

    #[test]
    fn one_problem_is_said_once() {
        // Its name and source, at column 1 of the first line, beside E0308 of rustc's.
        let cases = [
            ("E0308", "rust-analyzer", 0, 1),
            ("E0308", "rustc", 0, 2),
            ("E0308", "rust-analyzer", 4, 2),
            ("E0061", "rust-analyzer", 0, 2),
            ("", "rust-analyzer", 0, 2),
        ];
        let diagnostic = |code: &str, source: &str, character: u32| -> Diagnostic {
            let at = json!({ "line": 0, "character": character });
            let range = json!({ "start": at, "end": at });
            let message = format!("as {source} says {code}");
            serde_json::from_value(json!({ "range": range, "code": code, "source": source, "message": message }))
                .unwrap()
        };
        for (code, source, character, count) in cases {
            let mut second = diagnostic(code, source, character);
            second.message = Message::String("in other words".into());
            let both = [diagnostic("E0308", "rustc", 0), second];
            let found = problems(Path::new("/a"), "let x", &PositionEncodingKind::UTF16, "server", &both);
            assert_eq!((found.len(), found[0].source.as_str()), (count, "rustc"), "{code} {source} {character}");
        }
    }

    #[test]
    fn the_typescript_servers_own() {
        let body = json!([{ "start": { "line": 3, "offset": 5 }, "text": "t", "code": 2322, "category": "error" }]);
        let answer = json!({ "success": true, "body": body });
        let found = tsserver(&answer).unwrap();
        assert_eq!((found[0].range.start.line, found[0].range.start.character), (2, 4));
        assert_eq!(found[0].severity, Some(DiagnosticSeverity::Error));
        for (answer, count) in [
            (json!({ "success": true, "body": [] }), Some(0)),
            (json!({ "success": false, "body": [] }), None),
            (json!({ "success": true }), None),
            (json!(null), None),
        ] {
            assert_eq!(tsserver(&answer).map(|found| found.len()), count, "{answer}");
        }
    }
}
