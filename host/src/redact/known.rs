//! What is known of secrets: how they are named, how they look, and which options of programs take them.

use toolgate_names::secrets::{ends_in_secret, is_secret_variable};
use toolgate_names::words_of;

use super::MARK;

/// More words that make a name the name of a secret, beside those of [`toolgate_names::secrets`]: a part of the name ends with one.
const SECRET: &[&str] = &["accesskey", "authorization", "bearer", "cookie"];

/// The same, in two parts: `api-key`, `AccessKey`.
const SECRET_PAIRS: &[(&str, &str)] = &[("api", "key"), ("access", "key"), ("pass", "phrase"), ("pass", "word")];

/// Last parts of names that hold something about a secret and not the secret: `--token-file`, `password_length`.
const ABOUT: &[&str] = &[
    "class", "count", "dir", "endpoint", "env", "expires", "expiry", "file", "helper", "jar", "length", "limit",
    "manager", "mode", "name", "path", "policy", "prompt", "ref", "stdin", "store", "ttl", "type", "uri", "url",
];

/// Values that are no secret whatever their name is. `id-token: write` is a permission.
pub(super) const PLAIN: &[&str] = &["", "false", "none", "null", "read", "true", "write", MARK];

/// Tokens by how they start, and the fewest characters that follow.
const SHAPES: &[(&str, usize)] = &[
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("npm_", 30),
    ("pypi-", 40),
    ("rk_live_", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("sk-ant-", 16),
    ("sk-proj-", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxe-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
];

/// Whether a name says that what it names is a secret.
pub(super) fn says_secret(name: &str) -> bool {
    // Longer than any name that people give; and a bound on what is looked at twice.
    if name.len() > 200 {
        return false;
    }
    // What the guard takes for a secret is none for the log to show.
    if is_secret_variable(name) {
        return true;
    }
    let mut parts = words_of(name);
    while parts.last().is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit())) {
        parts.pop();
    }
    let Some(last) = parts.last() else { return false };
    if ABOUT.contains(&last.as_str()) {
        return false;
    }
    let old = parts.first().is_some_and(|part| part == "old");
    parts.iter().any(|part| ends_in_secret(part) || SECRET.iter().any(|word| part.ends_with(word)))
        || parts.windows(2).any(|two| SECRET_PAIRS.contains(&(two[0].as_str(), two[1].as_str())))
        || (parts.len() > 1 && last == "pwd" && !old)
}

/// Where in a word a token starts that is known by its shape.
pub(super) fn shape(word: &str) -> Option<usize> {
    let bytes = word.as_bytes();
    let at_part = |at: &usize| *at == 0 || matches!(bytes[at - 1], b'-' | b'.');
    (0..bytes.len()).filter(at_part).find(|start| {
        let rest = &word[*start..];
        let known = SHAPES.iter().any(|(first, more)| {
            // Names of things start like this too, but a token has digits.
            rest.starts_with(first)
                && rest.len() >= first.len() + more
                && rest.as_bytes()[first.len()..].iter().take(64).any(u8::is_ascii_digit)
        });
        let has = |test: fn(&u8) -> bool| rest.bytes().take(60).any(|byte| test(&byte));
        let openai =
            rest.starts_with("sk-") && rest.len() >= 23 && has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase);
        let jwt =
            rest.starts_with("eyJ") && rest.len() >= 20 && rest.as_bytes().iter().take(512).any(|byte| *byte == b'.');
        known || openai || jwt
    })
}

/// The end of a private key block that starts here; the end of the text if it is cut off.
pub(super) fn private_key(text: &str, start: usize) -> Option<usize> {
    const HEADING: usize = 60;
    const LAST: &str = "PRIVATE KEY-----";
    let heading = &text.as_bytes()[start..text.len().min(start + HEADING)];
    let body = start + heading.windows(LAST.len()).position(|window| window == LAST.as_bytes())? + LAST.len();
    let end = text[body..].find("-----END ").map(|offset| body + offset + "-----END ".len());
    Some(end.map_or(text.len(), |end| text[end..].find("-----").map_or(text.len(), |offset| end + offset + 5)))
}
