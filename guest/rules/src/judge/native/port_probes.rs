//! What opens a connection to see whether somebody answers, and neither sends nor reads anything.

use toolgate_shell::Word;

use crate::matching::MatchInput;

fn is_network(text: &str) -> bool {
    text.contains("/dev/tcp/") || text.contains("/dev/udp/")
}

/// Whether a shell only runs a text that names a connection, as that text is judged by itself; or whether the shell opens one on
/// a descriptor that nothing uses.
pub(super) fn is_probe(subject: &MatchInput<'_>, source: &str) -> bool {
    let command = subject.command;
    let opens = command.redirects.iter().any(|redirect| is_network(redirect.target.value.text()));
    match command.program() {
        Some("exec") => {
            command.words.len() == 1
                && command.redirects.iter().all(|redirect| {
                    let unused = |number: u32| number > 2 && !uses(source, number);
                    !is_network(redirect.target.value.text()) || redirect.fd.is_some_and(unused)
                })
        }
        _ if opens => false,
        _ => {
            let text = command.words.windows(2).find(|pair| pair[0].known().is_some_and(gives_text));
            let other = |word: &&Word| is_network(word.value.text());
            let count = command.words.iter().filter(other).count();
            text.is_some_and(|pair| pair[1].known().is_some_and(is_network)) && count == 1
        }
    }
}

/// Whether the next word is the text that a shell runs: `-c`, `-lc`.
fn gives_text(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.ends_with('c'))
}

/// Whether a text may read or write what a descriptor leads to, closing it apart.
fn uses(source: &str, number: u32) -> bool {
    let digits = number.to_string();
    let named = [format!("&{digits}"), format!("fd/{digits}"), format!("-u{digits}"), format!("-u {digits}")];
    named.iter().any(|name| source.contains(name.as_str())) || source.contains("&$") || source.contains("&\"")
}
