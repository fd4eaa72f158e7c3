//! Commands whose bytes come from elsewhere, or do not look like what they are: downloads and decoders.

use toolgate_shell::{Command, EffectKind, Word};

use crate::call::Source;

/// Programs that bring bytes from another machine.
const FETCH: &[&str] = &[
    "curl", "wget", "wget2", "fetch", "aria2c", "axel", "http", "https", "xh", "curlie", "lynx", "w3m", "links", "nc",
    "ncat", "netcat", "socat", "telnet", "ssh", "sftp", "scp", "ftp", "tftp", "rsh", "GET",
];

/// Programs that make one text out of another that does not look like it.
const DECODE: &[&str] = &[
    "base64",
    "base32",
    "basenc",
    "xxd",
    "uudecode",
    "openssl",
    "gunzip",
    "zcat",
    "gzip",
    "bunzip2",
    "bzcat",
    "bzip2",
    "unxz",
    "xzcat",
    "xz",
    "zstd",
    "zstdcat",
    "unzstd",
    "lz4",
    "gpg",
    "gpg2",
    "age",
    "ascii85",
    "uncompress",
    "atob",
    "qprint",
    "funzip",
    "unzip",
    "7z",
];

/// What a command is a source of.
pub(super) fn source(command: &Command) -> Option<Source> {
    let program = command.program()?;
    if FETCH.contains(&program) {
        return Some(Source::Downloaded);
    }
    let reads_network = command.redirects.iter().any(|redirect| is_network(redirect.target.value.text()));
    if reads_network || command.effects.iter().any(|effect| effect.kind == EffectKind::Send) {
        return Some(Source::Downloaded);
    }
    DECODE.contains(&program).then_some(Source::Decoded)
}

/// Whether all that a command fetches is named in full, and the other side proves who it is.
pub(super) fn is_vouched(command: &Command) -> bool {
    let words = || command.words.iter().skip(1).filter_map(Word::known);
    let addresses = || words().filter(|word| !word.starts_with('-') && word.contains('.'));
    // Long names may be cut short, and a line of wget's settings says the same.
    let unsafe_option = |word: &str| match word.strip_prefix("--") {
        Some(long) => {
            let name = long.split('=').next().unwrap_or(long);
            let is = |whole: &str| name.len() > 2 && whole.starts_with(name);
            is("insecure") || is("no-check-certificate") || is("proxy-insecure") || long.contains("check_cert")
        }
        None => word.contains("check_cert") || word.starts_with('-') && word.contains('k'),
    };
    matches!(command.program(), Some("curl" | "wget"))
        && addresses().count() > 0
        && addresses().all(|word| word.starts_with("https://"))
        && !words().any(unsafe_option)
}

pub(crate) fn is_network(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}
