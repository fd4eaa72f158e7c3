//! Words in the names of secrets.

/// Words that make a name the name of a secret, be it of a variable, an option or a field, in small letters.
const WORDS: &[&str] = &["apikey", "passphrase", "passwd", "password", "secret", "token"];

/// Whether a word of a name says that what it names is a secret.
///
/// ```
/// use toolgate_names::secrets::is_secret;
/// assert!(is_secret("TOKEN") && is_secret("passwd") && !is_secret("TOKENIZERS"));
/// ```
#[must_use]
pub fn is_secret(word: &str) -> bool {
    WORDS.iter().any(|secret| secret.eq_ignore_ascii_case(word))
}

/// Whether a word of a name, in small letters, ends with such a word: `authtoken`.
#[must_use]
pub fn ends_in_secret(word: &str) -> bool {
    WORDS.iter().any(|secret| word.ends_with(secret))
}
