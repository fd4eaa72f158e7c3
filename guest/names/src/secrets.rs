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

/// Last parts of the names of variables that hold secrets, besides [`WORDS`].
const LAST: &[&str] =
    &["AUTH", "CREDENTIAL", "CREDENTIALS", "DSN", "KEY", "PASS", "PAT", "PGPASSWORD", "PRIVATE", "PWD", "SECRETS"];

/// Whether a variable of the environment most likely holds a secret: its name, in capital letters, ends so, or says it anywhere
/// and ends in nothing harmless; or it is an address that often has a password in it.
///
/// ```
/// use toolgate_names::secrets::is_secret_variable;
/// for name in ["GITHUB_TOKEN", "DB_PASS", "SENTRY_DSN", "SECRET_VALUE", "DATABASE_URL"] {
///     assert!(is_secret_variable(name), "{name}");
/// }
/// for name in ["PWD", "OLD_PWD", "HOME", "SECRET_NAME", "Key", "TOKENIZERS"] {
///     assert!(!is_secret_variable(name), "{name}");
/// }
/// ```
#[must_use]
pub fn is_secret_variable(name: &str) -> bool {
    const ANYWHERE: &[&str] = &["APIKEY", "CREDENTIALS", "PASSWD", "PASSWORD", "SECRET"];
    const HARMLESS: &[&str] = &["COUNT", "DIR", "FILE", "ID", "LENGTH", "NAME", "PATH", "SOCK", "TYPE"];
    const ADDRESSES: &[&str] = &["DATABASE_URL", "MONGODB_URI", "MONGO_URL", "POSTGRES_URL", "REDIS_URL"];
    let is_large = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    if !name.bytes().all(is_large) || matches!(name, "PWD" | "OLDPWD" | "OLD_PWD") {
        return false;
    }
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    let last = plain.rsplit('_').next().unwrap_or(plain);
    let anywhere = plain.split('_').any(|part| ANYWHERE.contains(&part)) && !HARMLESS.contains(&last);
    is_secret(last) || LAST.contains(&last) || anywhere || ADDRESSES.contains(&name)
}
