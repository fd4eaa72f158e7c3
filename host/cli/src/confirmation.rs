//! A person at their own terminal, who types a word that was just shown: whatever loosens something asks for that.

use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::time::Duration;

use toolgate_agents::{Failure, dirs, exit};
use toolgate_gatekeeper::ancestry;

use crate::output::{BOLD, DIM};
use crate::terminal;

/// How long a person may take to type a word.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(60);

/// The exit code where nobody agrees.
pub(crate) const REFUSED: u8 = 2;

/// Makes sure that this is a person's own terminal, see `ancestry`.
///
/// # Errors
/// Why it is not, behind the words given.
pub(crate) fn present(otherwise: &str) -> Result<(), Failure> {
    let refused = |why: String| Failure::new(REFUSED, format!("{otherwise}: {why}"));
    let elsewhere = |why: ancestry::Refusal| refused(format!("{why}; run this command in a terminal of your own"));
    let stdin = rustix::stdio::stdin();
    // Only of the terminal that this session runs in does the system say who is in front.
    let controlling = rustix::termios::tcgetpgrp(stdin).is_ok_and(|group| group == rustix::process::getpgrp());
    if !std::io::stdin().is_terminal() || !controlling {
        return Err(elsewhere(ancestry::Refusal::NoTerminal));
    }
    let home = dirs::home().map(PathBuf::from);
    let noted = ancestry::noted(home.as_deref()).map_err(refused)?;
    ancestry::judge(&ancestry::chain(), &noted, ancestry::alive).map_err(elsewhere)
}

/// Asks for a word, which stands in the question for `{word}`.
///
/// # Errors
/// If something else is typed, or nothing in time, behind the words given.
pub(crate) fn agrees(question: &str, otherwise: &str) -> Result<(), Failure> {
    let word = word().map_err(|error| Failure::new(exit::IO, format!("/dev/urandom: {error}")))?;
    let shown = format!("{BOLD}{word}{BOLD:#} {DIM}({} s){DIM:#}", CONFIRM_TIMEOUT.as_secs());
    let answer = terminal::ask(question.replace("{word}", &shown).as_bytes(), CONFIRM_TIMEOUT);
    let answer = answer.map_err(|error| Failure::new(REFUSED, format!("the terminal cannot be used: {error}")))?;
    match answer {
        None => Err(Failure::new(REFUSED, format!("{otherwise}: there was no answer"))),
        Some(answer) if answer.trim() != word => {
            Err(Failure::new(REFUSED, format!("{otherwise}: that was not the word")))
        }
        Some(_) => Ok(()),
    }
}

/// A word that nobody can have typed in advance.
fn word() -> std::io::Result<String> {
    const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
    const VOWELS: &[u8; 4] = b"aiou";
    let mut bytes = [0; 4];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let pair = |byte: &u8| [CONSONANTS[usize::from(byte & 15)], VOWELS[usize::from(byte >> 4 & 3)]];
    Ok(bytes.iter().flat_map(pair).map(char::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_eight_letters() {
        assert!(word().is_ok_and(|word| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_lowercase())));
    }
}
