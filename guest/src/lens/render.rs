//! A report as lines for a terminal. Colours are keys of its theme; whatever the input is, there is an answer.

use serde_json::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::KIND;
use super::report::{Status, Statuses, summary};
use super::text::clean;

/// Most lines of one message.
const LINES: usize = 2_000;

/// Longest text that is gone through, in bytes.
const LONGEST: usize = 256 << 10;

/// A piece of a line in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Without line breaks and escape sequences.
    pub text: String,
    /// A key of the terminal's theme, like `warning`; empty for plain text.
    pub style: String,
}

fn span(text: impl Into<String>, style: &str) -> Span {
    Span { text: text.into(), style: style.to_owned() }
}

/// A message as lines: `kind`, `text` and `details` as it was sent, `expanded` for all of it, `width` of the terminal
/// in columns, 0 if not known. A message of another kind is its text.
///
/// ```
/// use toolgate_guest::lens::render;
/// let details = r#"{"statuses":{"prettier":"clean","linters":"issues"},"hasIssues":true,"fileCount":1,"durationMs":42}"#;
/// let lines = render("pi-lens-diagnostics", "", details, false, 80);
/// let text: String = lines[0].iter().map(|span| span.text.as_str()).collect();
/// assert_eq!(text, "🔍 pi-lens: 1 file(s) (42ms) - ✅ prettier • ⚠ linters • ● lsp • ● tsc");
/// assert!(lines[0].iter().any(|span| span.text == "⚠" && span.style == "warning"));
/// ```
pub fn render(kind: &str, text: &str, details: &str, expanded: bool, width: u32) -> Vec<Vec<Span>> {
    let details: Value = serde_json::from_str(details).unwrap_or_default();
    let statuses = details.get("statuses").filter(|statuses| statuses.is_object());
    let mut lines = match statuses {
        _ if kind != KIND => plain(text, "").collect(),
        None => vec![vec![span("🔍 pi-lens: no diagnostic details available", "muted")]],
        Some(statuses) => vec![header(&details, Statuses::read(Some(statuses), Status::Pending), expanded)],
    };
    let sections = details.get("sectionsText").and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(sections) = sections.filter(|_| expanded && kind == KIND) {
        lines.push(Vec::new());
        lines.extend(plain(sections, "  "));
    }
    let width = usize::try_from(width).ok().filter(|width| *width > 0).unwrap_or(usize::MAX);
    lines.into_iter().map(|line| cut(line, width)).collect()
}

fn header(details: &Value, statuses: Statuses, expanded: bool) -> Vec<Span> {
    let number = |key: &str| details.get(key).and_then(Value::as_u64).unwrap_or(0);
    let has_issues = details.get("hasIssues").and_then(Value::as_bool) == Some(true);
    let start = summary(number("fileCount"), number("durationMs"));
    let mut line = vec![span(start, if has_issues { "warning" } else { "success" })];
    for (index, (check, status)) in statuses.each().enumerate() {
        if index > 0 {
            line.push(span(" • ", "dim"));
        }
        line.push(span(status.icon(), status.style()));
        line.push(span(format!(" {check}"), ""));
        if expanded {
            line.push(span(format!(" {}", status.name()), status.style()));
        }
    }
    line
}

/// The lines of a text, made harmless.
fn plain(text: &str, indent: &str) -> impl Iterator<Item = Vec<Span>> {
    let text = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default();
    let text = clean(text).replace('\t', "    ");
    let lines: Vec<_> = text.lines().take(LINES).map(|line| vec![span(format!("{indent}{line}"), "")]).collect();
    lines.into_iter()
}

/// At most so many columns; what is cut ends in `…`.
fn cut(line: Vec<Span>, width: usize) -> Vec<Span> {
    if line.iter().map(|span| span.text.width()).sum::<usize>() <= width {
        return line;
    }
    let mut left = width.saturating_sub(1);
    let mut kept = Vec::new();
    for Span { mut text, style } in line {
        let end = text.char_indices().find(|(_, c)| match left.checked_sub(columns(*c)) {
            Some(less) => {
                left = less;
                false
            }
            None => true,
        });
        if let Some((end, _)) = end {
            text.truncate(end);
            text.push('…');
            kept.push(Span { text, style });
            break;
        }
        kept.push(Span { text, style });
    }
    kept
}

/// At least as many columns as the character adds to a text.
fn columns(c: char) -> usize {
    // It makes the character before it an emoji, which is wider.
    if c == '\u{fe0f}' { 1 } else { c.width().unwrap_or(1) }
}

#[cfg(test)]
mod tests {
    use super::super::report::Report;
    use super::*;
    use proptest::prelude::*;

    /// `text:style` of each piece, lines apart.
    fn shown(lines: &[Vec<Span>]) -> Vec<String> {
        let piece = |span: &Span| match span.style.as_str() {
            "" => span.text.clone(),
            style => format!("<{style}>{}</>", span.text),
        };
        lines.iter().map(|line| line.iter().map(piece).collect()).collect()
    }

    const DETAILS: &str = r#"{"schema": 1, "statuses": {"prettier": "clean", "linters": "issues", "lsp": "error", "tsc": "skipped"},
        "hasIssues": true, "fileCount": 2, "durationMs": 5, "sectionsText": "one\u001b[31m\n\ttwo\r\n"}"#;

    #[test]
    fn each_status_has_its_icon_and_colour() {
        let header = "<warning>🔍 pi-lens: 2 file(s) (5ms) - </><success>✅</> prettier<dim> • </><warning>⚠</> linters\
                      <dim> • </><error>✗</> lsp<dim> • </><dim>⊘</> tsc";
        let expanded = "<warning>🔍 pi-lens: 2 file(s) (5ms) - </><success>✅</> prettier<success> clean</><dim> • </>\
                        <warning>⚠</> linters<warning> issues</><dim> • </><error>✗</> lsp<error> error</><dim> • </>\
                        <dim>⊘</> tsc<dim> skipped</>";
        let running = "<success>🔍 pi-lens: 0 file(s) (0ms) - </><muted>●</> prettier<dim> • </><muted>●</> linters\
                       <dim> • </><muted>●</> lsp<dim> • </><muted>●</> tsc";
        let none = "<muted>🔍 pi-lens: no diagnostic details available</>";
        let cases: &[(&str, &str, bool, u32, &[&str])] = &[
            (KIND, DETAILS, false, 0, &[header]),
            (KIND, DETAILS, false, 200, &[header]),
            (KIND, DETAILS, true, 0, &[expanded, "", "  one", "      two"]),
            (
                KIND,
                r#"{"statuses": {"prettier": "running", "linters": "?", "lsp": 3}}"#,
                true,
                5,
                &["<success>🔍 p…</>"],
            ),
            (KIND, r#"{"statuses": {"prettier": "running", "linters": "?", "lsp": 3}}"#, false, 0, &[running]),
            (KIND, r#"{"statuses": {}, "sectionsText": "", "fileCount": -1, "durationMs": "x"}"#, false, 0, &[running]),
            (KIND, r#"{"statuses": {}, "sectionsText": "日本語x"}"#, true, 7, &["<success>🔍 pi-…</>", "", "  日本…"]),
            (KIND, r#"{"statuses": {}, "sectionsText": "日本"}"#, true, 6, &["<success>🔍 pi…</>", "", "  日本"]),
            (KIND, r#"{"statuses": []}"#, true, 0, &[none]),
            (KIND, "", false, 0, &[none]),
            (KIND, "{", true, 0, &[none]),
            (KIND, "null", false, 0, &[none]),
            (KIND, "[1]", false, 0, &[none]),
            (KIND, "", false, 1, &["<muted>…</>"]),
            ("another", DETAILS, true, 0, &["plain", "text"]),
        ];
        for (kind, details, expanded, width, expected) in cases {
            let lines = render(kind, "plain\n\u{1b}[1mtext", details, *expanded, *width);
            assert_eq!(shown(&lines), *expected, "{kind} {details} {width}");
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            prop_oneof![Just("clean"), Just("issues"), Just("running")].prop_map(Value::from),
        ];
        let key = prop_oneof![
            Just("statuses".to_owned()),
            Just("sectionsText".to_owned()),
            Just("hasIssues".to_owned()),
            Just("fileCount".to_owned()),
            Just("prettier".to_owned()),
            any::<String>(),
        ];
        leaf.prop_recursive(4, 32, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key.clone(), inner), 0..6)
                    .prop_map(|entries| entries.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn whatever_comes_is_harmless_and_fits(
            details in prop_oneof![json().prop_map(|json| json.to_string()), any::<String>()],
            sections in "(?s).{0,60}", text in "(?s).{0,60}", ours in any::<bool>(), expanded in any::<bool>(), width in 0u32..60,
        ) {
            let kind = if ours { KIND } else { "x" };
            let with = serde_json::json!({ "statuses": {}, "sectionsText": sections }).to_string();
            let content = serde_json::json!([{ "text": sections }]);
            let all = serde_json::from_str::<Value>(&details).unwrap_or_default();
            let answer = serde_json::json!({ "content": content, "details": all, "isError": false }).to_string();
            let ours = Report::read(&answer, 1, None).or_else(|_| Report::read(&details, 1, None));
            let reported = ours.map(|report| report.details()).unwrap_or_default();
            for details in [&details, &with, &reported] {
                for line in render(kind, &text, details, expanded, width) {
                    let columns: usize = line.iter().map(|span| span.text.width()).sum();
                    prop_assert!(width == 0 || columns <= width as usize, "{line:?}");
                    prop_assert!(line.iter().all(|span| clean(&span.text) == span.text), "{line:?}");
                }
            }
        }
    }
}
