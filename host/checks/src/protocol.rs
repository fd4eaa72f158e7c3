//! The wire: one JSON-RPC message a line, as code-lens 0.3.0 speaks it.
//!
//! Two things differ from JSON-RPC as it is written down, because that daemon's clients rely on them: what is no JSON
//! is answered with the id 0, and every error that is the asker's has the code -32004.

use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Longest line, in bytes.
pub(crate) const LINE: usize = 1 << 20;

/// Code of errors that are the asker's.
const UNKNOWN: i32 = -32004;

/// A question.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    /// What the answer has to carry.
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// Reads a line as a question.
///
/// # Errors
/// The answer for whoever wrote a line that is none.
pub(crate) fn request(line: &[u8]) -> Result<Request, Value> {
    let value: Value = serde_json::from_slice(line).map_err(|_| error(&json!(0), "Invalid JSON"))?;
    let Value::Object(mut members) = value else { return Err(error(&json!(0), "Invalid request: not an object")) };
    let id = match members.remove("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id,
        None | Some(Value::Null) => Value::Null,
        Some(_) => json!(0),
    };
    match members.remove("method") {
        Some(Value::String(method)) => {
            Ok(Request { id, method, params: members.remove("params").unwrap_or(Value::Null) })
        }
        _ => Err(error(&id, "Invalid request: no method")),
    }
}

/// The answer to a method that there is not.
pub(crate) fn unknown(request: &Request) -> Value {
    let method: String = request.method.chars().take(100).collect();
    error(&request.id, &format!("Unknown method: {method}"))
}

/// The answer to a line that is longer than [`LINE`].
pub(crate) fn too_long() -> Value {
    error(&json!(0), "Invalid JSON: the line is too long")
}

/// An answer with a result.
pub(crate) fn result(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "result": result, "id": id })
}

fn error(id: &Value, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "error": { "code": UNKNOWN, "message": message }, "id": id })
}

/// What a command says: a text for whoever reads it, and details for a program.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) text: String,
    pub(crate) details: Value,
    pub(crate) is_error: bool,
}

impl Report {
    /// The command was not carried out, for this reason.
    pub(crate) fn refused(text: impl Into<String>, given: &Value) -> Self {
        let details = Map::from_iter([("files".to_owned(), given.clone())]);
        Report { text: text.into(), details: Value::Object(details), is_error: true }
    }
}

impl From<Report> for Value {
    fn from(report: Report) -> Value {
        json!({
            "content": [{ "type": "text", "text": report.text }],
            "details": report.details,
            "isError": report.is_error,
        })
    }
}

/// What comes next from a client.
#[derive(Debug, PartialEq)]
pub(crate) enum Line {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// A line longer than [`LINE`], of which nothing is kept.
    TooLong,
}

/// The next line. None at the end; half a line there is not answered, as it may be half a message.
///
/// # Errors
/// If the connection fails.
pub(crate) async fn next_line(reader: &mut (impl AsyncBufRead + Unpin)) -> std::io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let chunk = reader.fill_buf().await?;
        if chunk.is_empty() {
            return Ok(None);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        too_long |= line.len() + part.len() > LINE;
        if too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(Some(if too_long { Line::TooLong } else { Line::Whole(line) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_without_an_answer() {
        let deep = "[".repeat(100_000);
        let invalid = r#"{"jsonrpc":"2.0","error":{"code":-32004,"message":"Invalid JSON"},"id":0}"#;
        let object = r#"{"jsonrpc":"2.0","error":{"code":-32004,"message":"Invalid request: not an object"},"id":0}"#;
        let cases: [(&[u8], &str); 12] = [
            (b"{not json", invalid),
            (b"", invalid),
            (b"\xff\xfe", invalid),
            (br#"{"id":1,"#, invalid),
            (deep.as_bytes(), invalid),
            (b"null", object),
            (b"[]", object),
            (b"7", object),
            (br#"[{"method":"status","id":1}]"#, object),
            (
                br#"{"id":3}"#,
                r#"{"jsonrpc":"2.0","error":{"code":-32004,"message":"Invalid request: no method"},"id":3}"#,
            ),
            (
                br#"{"id":"a","method":null}"#,
                r#"{"jsonrpc":"2.0","error":{"code":-32004,"message":"Invalid request: no method"},"id":"a"}"#,
            ),
            (
                br#"{"id":{},"method":7}"#,
                r#"{"jsonrpc":"2.0","error":{"code":-32004,"message":"Invalid request: no method"},"id":0}"#,
            ),
        ];
        for (line, expected) in cases {
            let answer = request(line).expect_err("no question");
            assert_eq!(answer.to_string(), expected, "{}", String::from_utf8_lossy(line).get(..40).unwrap_or("short"));
        }
    }

    #[test]
    fn an_unknown_method_is_named() {
        let request = request(br#"{"jsonrpc":"2.0","method":"nope","params":{},"id":14}"#).expect("a question");
        let expected = r#"{"jsonrpc":"2.0","error":{"code":-32004,"message":"Unknown method: nope"},"id":14}"#;
        assert_eq!(unknown(&request).to_string(), expected);
    }

    #[tokio::test]
    async fn lines_are_bounded() {
        let mut text = b"one\n\n".to_vec();
        text.extend(vec![b'x'; LINE + 1]);
        text.extend(b"\n");
        text.extend(vec![b'y'; LINE]);
        text.extend(b"\nhalf");
        let mut reader = text.as_slice();
        let expected = [
            Some(Line::Whole(b"one".to_vec())),
            Some(Line::Whole(Vec::new())),
            Some(Line::TooLong),
            Some(Line::Whole(vec![b'y'; LINE])),
            None,
        ];
        for line in expected {
            assert!(next_line(&mut reader).await.expect("read") == line);
        }
    }
}
