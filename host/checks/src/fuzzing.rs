//! What has to hold whatever a client or a language server sends. The fuzz targets of `tests/fuzz` call this with bytes;
//! it panics where something does not hold.

use tokio::io::{AsyncBufRead, AsyncReadExt, BufReader};

use crate::lsp::frame;
use crate::protocol::{LINE, Line, next_line, request};

/// A client's lines: the same however they arrive, none longer than the limit, each a question or an error.
pub fn lines(stream: &[u8], at: usize, piece: usize) {
    let (whole, split, pieces) = three(stream, at, piece, async |mut stream| {
        let mut lines = Vec::new();
        while let Ok(Some(line)) = next_line(&mut stream).await {
            lines.push(line);
        }
        lines
    });
    assert!(whole == split && whole == pieces, "the same lines, split at {at} and by {piece}");
    for line in whole {
        let Line::Whole(line) = line else { continue };
        assert!(line.len() <= LINE, "a line of {} bytes", line.len());
        if let Err(answer) = request(&line) {
            assert!(answer["error"]["message"].is_string(), "{answer}");
        }
    }
}

/// A language server's frames: the same however they arrive, none longer than the limit.
pub fn frames(stream: &[u8], at: usize, piece: usize) {
    let (whole, split, pieces) = three(stream, at, piece, async |mut stream| {
        let mut frames = Vec::new();
        loop {
            match frame::read(&mut stream).await {
                Ok(Some(content)) => frames.push(content),
                Ok(None) => return (frames, "the end".to_owned()),
                Err(broken) => return (frames, broken.to_string()),
            }
        }
    });
    assert_eq!(whole, split, "split at {at}");
    assert_eq!(whole, pieces, "by {piece}");
    assert!(whole.0.iter().all(|content| content.len() as u64 <= frame::CONTENT), "the limit");
}

/// What is read of a stream that arrives at once, in two parts, and in small pieces.
fn three<T>(
    stream: &[u8],
    at: usize,
    piece: usize,
    read: impl AsyncFn(Box<dyn AsyncBufRead + Unpin + '_>) -> T,
) -> (T, T, T) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let (first, second) = stream.split_at(at.min(stream.len()));
    runtime.block_on(async {
        (
            read(Box::new(stream)).await,
            read(Box::new(first.chain(second))).await,
            read(Box::new(BufReader::with_capacity(piece.max(1), stream))).await,
        )
    })
}
