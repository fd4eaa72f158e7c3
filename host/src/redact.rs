//! Takes secrets out of texts before they are written anywhere.
//!
//! A secret is known by the name in front of it (`TOKEN=`, `--password`, `Authorization:`), by the option of a
//! program that takes one (`mysql -p`, `curl -u`), by its place in an address (`https://user:pass@host`) or by its own
//! shape (`ghp_...`, a JWT, a private key). It reads a text once from start to end, so a long command costs time in
//! proportion to its length. What a shell fills in (`$TOKEN`, `$(pass show x)`) is no secret and stays readable.
//!
//! It is not for deciding anything, and it cannot know every secret: a password that looks like any other word stays.

mod known;
mod scan;

use std::ops::Range;

use serde_json::Value;

use known::{PLAIN, says_secret};
use scan::reference;
pub use scan::secrets;

/// What stands in the place of a secret.
pub const MARK: &str = "[redacted]";

/// The text with its secrets marked.
///
/// ```
/// use toolgate_host::redact::redacted;
///
/// assert_eq!(redacted("curl -u dev:hunter2 https://example.org"), "curl -u dev:[redacted] https://example.org");
/// ```
pub fn redacted(text: &str) -> String {
    slice(text, &secrets(text), 0..text.len())
}

/// A part of a text, with the secrets of the whole marked. What a rule matched may be half a secret that only the
/// words before it give away.
pub fn slice(text: &str, secrets: &[Range<usize>], part: Range<usize>) -> String {
    let mut shown = String::with_capacity(part.len());
    let mut at = part.start;
    for secret in secrets.iter().filter(|secret| secret.end > part.start && secret.start < part.end) {
        shown.push_str(text.get(at..secret.start.max(at)).unwrap_or_default());
        shown.push_str(MARK);
        at = secret.end.min(part.end);
    }
    shown.push_str(text.get(at..part.end.max(at)).unwrap_or_default());
    shown
}

/// The value with the secrets in all its texts marked, and those under a key that says so.
pub fn value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(redacted(text)),
        Value::Array(items) => {
            // `["--password", "hunter2"]`: words of a command.
            let mut expected = false;
            let marked = items.iter().map(|item| match item.as_str() {
                Some(text) if std::mem::take(&mut expected) && !text.starts_with('-') => keyed(text),
                text => {
                    expected = text.is_some_and(|text| text.starts_with('-') && says_secret(text));
                    self::value(item)
                }
            });
            Value::Array(marked.collect())
        }
        Value::Object(fields) => {
            let field = |(key, item): (&String, &Value)| match item.as_str() {
                Some(text) if says_secret(key) => (key.clone(), keyed(text)),
                _ => (redacted(key), self::value(item)),
            };
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

/// A text whose name says that it is a secret.
fn keyed(text: &str) -> Value {
    let plain = PLAIN.contains(&text) || reference(text.as_bytes(), 0, text.len());
    Value::String(if plain { text.to_owned() } else { MARK.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::*;

    const GITHUB: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

    /// `#` stands where a secret was, `GH` for a token of GitHub's.
    #[rustfmt::skip]
    const CASES: &[(&str, &str)] = &[
        // Names and what follows them.
        ("TOKEN=hunter2 make", "TOKEN=# make"),
        ("export GITHUB_TOKEN='a b' && x", "export GITHUB_TOKEN='#' && x"),
        ("export DB_PASSWORD=\"hun ter\"", "export DB_PASSWORD=\"#\""),
        ("env MYSQL_PWD=x mysql", "env MYSQL_PWD=# mysql"),
        ("PGPASSWORD=x psql -h db", "PGPASSWORD=# psql -h db"),
        ("AWS_SECRET_ACCESS_KEY=wJalr/K7MD+x aws s3 ls", "AWS_SECRET_ACCESS_KEY=# aws s3 ls"),
        ("docker run -e API_KEY=abc -p 80:80 x", "docker run -e API_KEY=# -p 80:80 x"),
        ("x --password hunter2 y", "x --password # y"),
        ("x --password=hunter2 y", "x --password=# y"),
        ("x --api-key \"k e y\" y", "x --api-key \"#\" y"),
        ("x --apiKey k y", "x --apiKey # y"),
        ("x -token k y", "x -token # y"),
        ("gpg --passphrase p --batch", "gpg --passphrase # --batch"),
        ("x --password=a'b c'd e", "x --password=# e"),
        ("x --password a\\ b c", "x --password # c"),
        ("curl -H 'Authorization: Bearer abc.def' u", "curl -H 'Authorization: Bearer #' u"),
        ("curl -H \"authorization: Basic dXNlcg==\" u", "curl -H \"authorization: Basic #\" u"),
        ("curl -H 'X-Api-Key: k' u", "curl -H 'X-Api-Key: #' u"),
        ("curl -H 'X-Auth-Token:k' u", "curl -H 'X-Auth-Token:#' u"),
        ("curl -H 'Cookie: a=1; b=2' u", "curl -H 'Cookie: #' u"),
        ("curl --cookie 'a=1' u", "curl --cookie '#' u"),
        ("curl -b sid=1 u", "curl -b sid=# u"),
        ("curl 'https://h/?access_token=abc&x=1'", "curl 'https://h/?access_token=#&x=1'"),
        ("curl -d '{\"password\": \"a b\", \"x\": 1}' u", "curl -d '{\"password\": \"#\", \"x\": 1}' u"),
        ("curl -d \"{\\\"token\\\":\\\"abc\\\",\\\"x\\\":1}\" u", "curl -d \"{\\\"token\\\":\\\"#\\\",\\\"x\\\":1}\" u"),
        ("cat > .npmrc <<E\n_authToken=abc\nE", "cat > .npmrc <<E\n_authToken=#\nE"),
        ("cat > a.yml <<E\npassword: a b c\nuser: x\nE", "cat > a.yml <<E\npassword: #\nuser: x\nE"),
        ("printf 'password = \"x y\"'", "printf 'password = \"#\"'"),
        ("kubectl create secret generic s --from-literal=password=x", "kubectl create secret generic s --from-literal=password=#"),
        ("curl --oauth2-bearer abc u", "curl --oauth2-bearer # u"),
        ("echo Bearer abcdef0123456789", "echo Bearer #"),
        ("x --password '$ecret' y", "x --password '#' y"),
        ("x --password pässwörd y", "x --password # y"),
        ("x --password \"open", "x --password \"#"),
        // Programs.
        ("curl -u user:pass https://h", "curl -u user:# https://h"),
        ("curl --user 'user:pa ss' https://h", "curl --user 'user:#' https://h"),
        ("curl -uuser:pass https://h", "curl -uuser:# https://h"),
        ("sudo mysql -uroot -psecret db", "sudo mysql -uroot -p# db"),
        ("mysqldump -p'se cret' db", "mysqldump -p'#' db"),
        ("docker exec db mysql -psecret -e 'select 1'", "docker exec db mysql -p# -e 'select 1'"),
        ("bash -c \"mysql -psecret db\"", "bash -c \"mysql -p# db\""),
        ("sshpass -p secret ssh h", "sshpass -p # ssh h"),
        ("sshpass -psecret ssh h", "sshpass -p# ssh h"),
        ("docker login -u me -p secret h", "docker login -u me -p # h"),
        ("redis-cli -a secret ping", "redis-cli -a # ping"),
        ("openssl rsa -in k -passin pass:secret", "openssl rsa -in k -passin pass:#"),
        ("zip -P secret a.zip b", "zip -P # a.zip b"),
        // Addresses.
        ("git clone https://user:pass@h/r.git", "git clone https://user:#@h/r.git"),
        ("psql postgres://u:p%40ss@db:5432/x", "psql postgres://u:#@db:5432/x"),
        ("git clone https://0123456789abcdef0123@h/r", "git clone https://#@h/r"),
        // Shapes.
        ("echo GH", "echo #"),
        ("git clone https://GH@github.com/a/b", "git clone https://#@github.com/a/b"),
        ("git clone https://x-access-token:GH@github.com/a/b", "git clone https://x-access-token:#@github.com/a/b"),
        ("echo AKIAIOSFODNN7EXAMPLE", "echo #"),
        ("echo github_pat_11ABCDEFG0123456789_abcdef", "echo #"),
        ("echo glpat-0123456789abcdefghij", "echo #"),
        ("echo xoxb-1234567890-abcdef", "echo #"),
        ("echo sk_live_0123456789abcdef", "echo #"),
        ("echo sk-proj-0123456789abcdefgh", "echo #"),
        ("echo sk-ant-api03-0123456789abcdefgh", "echo #"),
        ("echo sk-0123456789abcdefghijABCDEFGHIJ", "echo #"),
        ("echo AIzaSy0123456789abcdefghijABCDEFGHIJ012", "echo #"),
        ("echo npm_0123456789abcdefghijABCDEFGHIJ0123", "echo #"),
        ("echo eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_d", "echo #"),
        ("echo '-----BEGIN RSA PRIVATE KEY-----\nab\n-----END RSA PRIVATE KEY-----' x", "echo '#' x"),
        ("echo '-----BEGIN PRIVATE KEY-----\nab", "echo '#"),
        ("git clone https://GH:x-oauth-basic@github.com/a/b", "git clone https://#:#@github.com/a/b"),
        ("curl -u GH:x-oauth-basic https://h", "curl -u #:# https://h"),
        ("curl -u GH https://h", "curl -u # https://h"),
        ("curl -u \"a\nGH\" https://h", "curl -u \"a\n#\" https://h"),
        ("docker build --secret id=GH .", "docker build --secret id=# ."),
        ("az --acquire-policy-token login -p hunter2", "az --acquire-policy-token # -p #"),
        // No command is hidden behind a name.
        ("echo token: ; rm -rf ~", "echo token: ; rm -rf ~"),
        ("bash -c 'echo token: x; rm -rf ~'", "bash -c 'echo token: #; rm -rf ~'"),
        ("bash -c 'echo cookie: x; rm -rf ~'", "bash -c 'echo cookie: #; rm -rf ~'"),
        ("TOKEN=x rm -rf ~", "TOKEN=# rm -rf ~"),
        ("x --password\nrm -rf ~", "x --password\nrm -rf ~"),
    ];

    /// What stays as it is.
    const UNTOUCHED: &[&str] = &[
        "git push --force",
        "rm -rf /",
        "cargo test -p toolgate-host",
        "docker run -p 8080:80 -u 1000:1000 nginx",
        "curl -H \"Authorization: Bearer $TOKEN\" https://h",
        "curl -u \"$USER:$PASS\" https://h",
        "x --token \"$TOKEN\" --password ${PASSWORD}",
        "TOKEN=$(gh auth token) make",
        "TOKEN=\"$(cat token.txt)\" make",
        "export TOKEN",
        "TOKEN= make",
        "unset GITHUB_TOKEN; echo $GITHUB_TOKEN ${API_KEY:-none}",
        "cat secret.txt password.md",
        "grep -rn 'password' src",
        "grep 'token=' x",
        "x --password-file p --token-ttl 5m --secret-name s",
        "x --max-tokens 100 --tokenizer bpe",
        "kubectl get secret app -o yaml",
        "docker build --secret id=npmrc,src=.npmrc .",
        "curl --cookie-jar jar https://h",
        "git commit -m 'Explain the token format'",
        "git clone ssh://git@github.com/a/b",
        "git clone git@github.com:a/b",
        "curl https://h/a:b@c",
        "mysql -u root -p db",
        "mkdir -p a/b && ps -p 1",
        "ssh -p 22 h",
        "PWD=/x OLD_PWD=/y ls",
        "use crate::token::Kind",
        "id-token: write",
        "pip install sk-learn scikit-learn",
        "echo 'it''s fine' && ls",
        "echo größe 写",
        "bearer authentication failed",
        "x --no-password --token",
        "openssl rsa -in k -passin env:PW",
        "sshpass -f file ssh h",
    ];

    #[test]
    fn secrets_are_marked_and_nothing_else() {
        let spelled = |text: &str| text.replace("GH", GITHUB);
        let cases = CASES.iter().map(|(text, expected)| (spelled(text), expected.replace('#', MARK)));
        let untouched = UNTOUCHED.iter().map(|text| ((*text).to_owned(), (*text).to_owned()));
        let mut wrong = Vec::new();
        for (text, expected) in cases.chain(untouched) {
            // What is marked is not marked again.
            for (text, found) in [(&text, redacted(&text)), (&expected, redacted(&expected))] {
                if found != expected {
                    wrong.push(format!("{text}\n  {found}\n  {expected}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Whatever options of its spec stand before the one that takes a secret.
    #[test]
    fn no_option_of_a_spec_shows_a_secret() {
        let (mut tried, mut wrong) = (0, Vec::new());
        for row in toolgate_commands::secrets() {
            let blank = if row.separate { " " } else { "" };
            // `user:secret`
            let name = if row.before.is_empty() { "" } else { "name" };
            let secret = format!("{}{blank}{name}{}hunter2", row.option, row.before);
            let afters = if row.after.is_empty() { &[""] } else { row.after };
            for spec in row.programs.iter().filter_map(|program| toolgate_commands::find(program)) {
                for option in spec.options.iter().filter(|option| !option.last) {
                    let dashes = if option.name.chars().count() == 1 || spec.one_dash { "-" } else { "--" };
                    let value = " 5s".repeat(option.takes.words());
                    for after in afters {
                        tried += 1;
                        let text = format!("{} {dashes}{}{value} {after} {secret}", spec.names[0], option.name);
                        if redacted(&text).contains("hunter2") {
                            wrong.push(text);
                        }
                    }
                }
            }
        }
        assert!(tried > 100, "only {tried} commands were tried");
        assert!(wrong.is_empty(), "{} of {tried}: {wrong:#?}", wrong.len());
    }

    #[test]
    fn a_part_shows_no_more_than_the_whole() {
        let text = "x --password hunter2 y";
        let found = secrets(text);
        let cases = [(0..22, "x --password [redacted] y"), (13..20, "[redacted]"), (15..17, "[redacted]"), (0..1, "x")];
        for (part, expected) in cases {
            assert_eq!(slice(text, &found, part), expected);
        }
    }

    #[test]
    fn an_input_is_marked_by_its_keys_and_by_its_texts() {
        let cases = [
            (json!({"command": "TOKEN=x ls", "n": 1}), json!({"command": "TOKEN=[redacted] ls", "n": 1})),
            (json!({"api_key": "x", "path": "a"}), json!({"api_key": "[redacted]", "path": "a"})),
            (json!({"token": "$TOKEN", "token_file": "x"}), json!({"token": "$TOKEN", "token_file": "x"})),
            (json!(["x", "--password", "y", "z"]), json!(["x", "--password", "[redacted]", "z"])),
            (json!({"a": [{"secret": "x"}]}), json!({"a": [{"secret": "[redacted]"}]})),
        ];
        for (input, expected) in cases {
            assert_eq!(value(&input), expected);
        }
    }

    #[test]
    fn hostile_texts_cost_time_in_proportion_to_their_length() {
        let patterns = [
            "token:",
            "token: ",
            "'token: ",
            "--token \"",
            "--token '\"",
            "token=$(",
            "\"token: $(",
            "secret=id=",
            "-----BEGIN ",
            "-----BEGIN PRIVATE KEY-----",
            "://",
            "://a:b@",
            "curl -u ",
            "curl ,-u",
            ",-u",
            "eyJ-",
            "ghp_-",
            "\\",
            "a-",
            "AaA",
            "cookie: a=1; b=",
            "token=\"\"",
            "token    ",
            "\\\"token\\\":",
            "ä=token",
            "mysql -p'",
            "bearer ",
            "--password \\",
        ];
        for pattern in patterns {
            let text = format!("curl {}", pattern.repeat((1 << 20) / pattern.len()));
            let start = Instant::now();
            let found = secrets(&text);
            // A quadratic scan of a mebibyte takes minutes; this one milliseconds.
            assert!(start.elapsed() < Duration::from_secs(5), "{pattern}");
            assert!(found.windows(2).all(|two| two[0].end <= two[1].start), "{pattern}");
            assert!(found.iter().all(|one| text.get(one.clone()).is_some()), "{pattern}");
        }
    }
}
