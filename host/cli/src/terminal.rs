//! The person at the terminal: questions on it, with a deadline, and nothing that was typed before they were asked.

use std::fs::File;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};
use toolgate_host::{Person, Question, plain};

use crate::output::{self, BOLD, DIM};

/// Longest answer that is read, in bytes.
const ANSWER: usize = 200;

/// Asks on the terminal that this program runs in, whatever its standard input and output are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terminal;

#[async_trait]
impl Person for Terminal {
    async fn confirm(&self, question: &Question<'_>, deadline: Duration) -> bool {
        let command = question.call.command.as_ref().map_or(question.call.input.as_str(), |command| &command.value);
        let mut text = Vec::new();
        // Writing to memory does not fail.
        let _ = output::verdict(&mut text, "ask", command, question.verdict);
        let _ = writeln!(text, "       {DIM}in{DIM:#} {}", output::whole(&question.call.cwd, output::LINE));
        let _ = write!(text, "{BOLD}Run it? [y/N]{BOLD:#} {DIM}({} s){DIM:#}", deadline.as_secs());
        let asked = tokio::task::spawn_blocking(move || ask(&text, deadline)).await;
        matches!(asked, Ok(Ok(Some(answer))) if yes(&answer))
    }
}

/// Whether an answer is a clear yes.
pub(crate) fn yes(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

/// The terminal that this program runs in.
pub(crate) fn opened() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/tty")
}

/// Puts a text on the terminal, with a space behind it, and reads a line. None if there is none in time, or the terminal
/// is closed.
pub(crate) fn ask(text: &[u8], deadline: Duration) -> io::Result<Option<String>> {
    let mut terminal = opened()?;
    let text = if std::env::var_os("NO_COLOR").is_some() {
        anstream::adapter::strip_bytes(text).into_vec()
    } else {
        text.to_vec()
    };
    terminal.write_all(&text)?;
    terminal.flush()?;
    // What was typed before the question could be read is no answer to it.
    tcflush(&terminal, QueueSelector::IFlush)?;
    // From here on it is: who types when they see the space loses nothing.
    terminal.write_all(b" ")?;
    let answer = line(&mut terminal, deadline)?;
    if answer.is_none() {
        terminal.write_all(b"\n")?;
    }
    Ok(answer)
}

/// A line from something that may be waited for.
fn line(from: &mut (impl Read + std::os::fd::AsFd), deadline: Duration) -> io::Result<Option<String>> {
    let end = Instant::now() + deadline;
    let mut answer = Vec::new();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let left =
            Timespec { tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() };
        let ready = match poll(&mut [PollFd::new(&*from, PollFlags::IN)], Some(&left)) {
            Err(rustix::io::Errno::INTR) => continue,
            ready => ready?,
        };
        let mut byte = [0];
        if ready == 0 || answer.len() >= ANSWER || from.read(&mut byte)? == 0 {
            return Ok(None);
        }
        if byte == *b"\n" {
            return Ok(Some(plain(&String::from_utf8_lossy(&answer))));
        }
        answer.extend(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        for (answer, expected) in
            [("y", true), (" YES ", true), ("", false), ("n", false), ("yess", false), ("y y", false)]
        {
            assert_eq!(yes(answer), expected, "{answer:?}");
        }
    }

    #[test]
    fn an_answer_is_a_whole_line_in_time() {
        let long = "y".repeat(ANSWER + 1) + "\n";
        let cases = [("y\nrest", Some("y")), ("\n", Some("")), ("y", None), ("", None), (&long, None)];
        for (typed, expected) in cases {
            let (mut reader, mut writer) = io::pipe().expect("a pipe");
            writer.write_all(typed.as_bytes()).expect("written");
            // No end of the input is in sight: what ends the wait is the deadline.
            let found = line(&mut reader, Duration::from_millis(1)).expect("read");
            assert_eq!(found.as_deref(), expected, "{typed:?}");
        }
    }
}
