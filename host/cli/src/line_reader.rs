//! Lines from standard input, each of bounded length.

use std::io::{BufRead, IsTerminal, Read, StdinLock};

use toolgate_agents::{Failure, exit};

use crate::output;

/// Longest line, in bytes.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// The lines of standard input, without those that are blank.
pub(crate) struct LineReader {
    input: StdinLock<'static>,
    line: Vec<u8>,
}

impl LineReader {
    /// From here on. A person at a terminal is told what is expected of them.
    pub(crate) fn new() -> Self {
        let input = std::io::stdin().lock();
        if input.is_terminal() {
            output::complain("reading JSON lines from the terminal; end with Ctrl-D");
        }
        LineReader { input, line: Vec::new() }
    }

    /// The next line, or why it is not one; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Result<&[u8], String>>, Failure> {
        let failed = |error: std::io::Error| Failure::new(exit::IO, format!("standard input: {error}"));
        loop {
            self.line.clear();
            let read = (&mut self.input).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut self.line).map_err(failed)?;
            if read == 0 {
                return Ok(None);
            }
            if self.line.len() as u64 > MAX_LINE_BYTES {
                self.line = Vec::new();
                self.skip().map_err(failed)?;
                return Ok(Some(Err(format!("the line is longer than {} MiB", MAX_LINE_BYTES >> 20))));
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(Ok(&self.line)));
            }
        }
    }

    /// Reads up to the next line's start, keeping nothing.
    fn skip(&mut self) -> std::io::Result<()> {
        loop {
            let buffer = self.input.fill_buf()?;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(buffer.len(), |at| at + 1);
            self.input.consume(length);
            if end.is_some() || length == 0 {
                return Ok(());
            }
        }
    }
}
