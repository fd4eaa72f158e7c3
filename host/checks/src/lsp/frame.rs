//! Frames of the base protocol: a header with `Content-Length`, an empty line, and as many bytes.
//!
//! The transports of `lsp-server` and `async-lsp` allocate whatever length a server names, and end at the first line
//! that is no header. A server that is broken must not take the daemon's memory, and one that prints a line of its own
//! to standard output works in editors too.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// Most bytes of a frame's content.
pub(crate) const CONTENT: u64 = 16 << 20;
/// Most bytes between two frames: headers, and whatever else a server prints there.
const BETWEEN: u64 = 64 << 10;

/// Why no more frames can be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("could not be read: {0}")]
    System(#[from] io::Error),
    #[error("said {BETWEEN} bytes that are not the protocol")]
    Garbage,
    #[error("sent a message of {0} bytes")]
    Huge(u64),
    #[error("ended in the middle of a message")]
    Half,
}

/// The next frame's content, or nothing at the end of the stream.
pub(crate) async fn read(stream: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<Vec<u8>>, Broken> {
    let Some(length) = header(stream).await? else { return Ok(None) };
    if length > CONTENT {
        return Err(Broken::Huge(length));
    }
    let mut content = Vec::new();
    let read = stream.take(length).read_to_end(&mut content).await?;
    if read as u64 == length { Ok(Some(content)) } else { Err(Broken::Half) }
}

/// Reads up to the empty line that ends a header, and returns the length that it names.
async fn header(stream: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<u64>, Broken> {
    let (mut left, mut length) = (BETWEEN, None);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut *stream).take(left).read_until(b'\n', &mut line).await? as u64;
        left -= read;
        match (read, line.trim_ascii(), length) {
            (0, _, _) if left == 0 => return Err(Broken::Garbage),
            (0, _, None) => return Ok(None),
            (0, _, Some(_)) => return Err(Broken::Half),
            (_, b"", Some(length)) => return Ok(Some(length)),
            (_, text, _) => length = named(text).or(length),
        }
    }
}

/// The length that a line names. Something printed without a newline may stand before the header's name.
fn named(line: &[u8]) -> Option<u64> {
    const NAME: &str = "content-length:";
    let line = std::str::from_utf8(line).ok()?.to_ascii_lowercase();
    line.get(line.rfind(NAME)? + NAME.len()..)?.trim().parse().ok()
}

/// A frame with this content.
pub(super) fn framed(content: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", content.len()).into_bytes();
    frame.extend_from_slice(content);
    frame
}

#[cfg(test)]
mod tests {
    use super::{BETWEEN, Broken, framed, read};

    /// Every frame that a stream holds, as text, and how it ended.
    async fn all(mut stream: &[u8]) -> (Vec<String>, Result<(), Broken>) {
        let mut frames = Vec::new();
        loop {
            match read(&mut stream).await {
                Ok(Some(content)) => frames.push(String::from_utf8_lossy(&content).into_owned()),
                Ok(None) => return (frames, Ok(())),
                Err(broken) => return (frames, Err(broken)),
            }
        }
    }

    #[tokio::test]
    async fn streams() {
        let long = "x".repeat(BETWEEN as usize + 1);
        let cases: &[(&str, &[&str], &str)] = &[
            ("", &[], "end"),
            ("Content-Length: 2\r\n\r\n{}", &["{}"], "end"),
            ("Content-Length: 2\r\n\r\n{}Content-Length: 0\r\n\r\n", &["{}", ""], "end"),
            ("content-length:2\n\n{}", &["{}"], "end"),
            ("Content-Type: x\r\nContent-Length: 2\r\n\r\n{}", &["{}"], "end"),
            ("Content-Length: 2\r\nContent-Type: x\r\n\r\n{}", &["{}"], "end"),
            ("Starting...\n\nContent-Length: 2\r\n\r\n{}", &["{}"], "end"),
            ("Starting...Content-Length: 2\r\n\r\n{}", &["{}"], "end"),
            ("Content-Length: 2\r\n\r\n{", &[], "Half"),
            ("Content-Length: 2\r\n", &[], "Half"),
            ("Content-Len", &[], "end"),
            ("Content-Length: 99999999999\r\n\r\n{}", &[], "Huge(99999999999)"),
            ("Content-Length: -1\r\n\r\n{}", &[], "end"),
            ("Content-Length: 99999999999999999999999\r\n\r\n{}", &[], "end"),
            (&long, &[], "Garbage"),
            ("\0\0\u{fffd}", &[], "end"),
        ];
        for (stream, frames, end) in cases {
            let (got, ended) = all(stream.as_bytes()).await;
            let ended = ended.map_or_else(|broken| format!("{broken:?}"), |()| "end".into());
            assert_eq!((got, ended.as_str()), (frames.iter().map(ToString::to_string).collect(), *end), "{stream:.80}");
        }
    }

    #[test]
    fn writes() {
        assert_eq!(framed("é".as_bytes()), "Content-Length: 2\r\n\r\né".as_bytes());
    }
}
