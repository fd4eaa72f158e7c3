//! Secrets of the environment that a command sends to a host that they are not for: in an address, in what it posts, through a
//! pipe. In a header for credentials, a secret that no known service has given goes wherever the command says.

use toolgate_names::secrets::is_secret_variable;
use toolgate_shell::{Command, EffectKind, RedirectKind, Span, Value, Word};

use super::secret_output::{here_string, secrets_in, speaks};
use crate::call::Field;
use crate::judge::{Evaluation, evidence};
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::world::GuardHost;

/// Programs that send what they are given.
const SENDERS: &[&str] =
    &["curl", "git", "http", "https", "nc", "ncat", "netcat", "socat", "telnet", "wget", "xh", "xhs"];

/// Clients that ask at the address that one of their words is. Others may have one for a proxy, or for where they come from.
const ADDRESSED: &[&str] = &["aws", "gh", "git", "glab", "npm", "pnpm", "yarn"];

/// Programs that install packages from a registry.
const PACKAGE_MANAGERS: &[&str] = &["npm", "pnpm", "yarn"];

/// Commands of package managers whose operands are names of packages, which they ask a registry for.
const PACKAGES: &[&str] = &["add", "i", "info", "install", "pack", "search", "show", "v", "view"];

/// Programs that an address is only a text for.
#[rustfmt::skip]
const KEEPERS: &[&str] = &[
    "[", "[[", ":", "awk", "cat", "declare", "echo", "egrep", "export", "expr", "fgrep", "gawk", "grep", "jq", "local",
    "print", "printf", "readonly", "rg", "sed", "set", "test", "typeset",
];

/// Those that send the name of a host, to whoever answers for it.
const LOOKUPS: &[&str] = &["dig", "drill", "host", "nslookup", "ping", "ping6"];

/// Headers that carry credentials to the host that checks them.
const HEADERS: &[&str] = &[
    "api-key",
    "apikey",
    "authorization",
    "circle-token",
    "fastly-key",
    "job-token",
    "private-token",
    "proxy-authorization",
    "x-api-key",
    "x-auth-token",
    "x-goog-api-key",
    "x-vault-token",
];

/// Options whose value is a name and a password.
const LOGINS: &[&str] =
    &["-u", "--user", "-U", "--proxy-user", "--oauth2-bearer", "--password", "--http-password", "-a", "--auth"];

/// Services whose secrets have a name that says so, and a part of the domains that they are for.
const SERVICES: &[(&str, &[&str])] = &[
    ("ANTHROPIC", &["anthropic", "claude"]),
    ("AWS", &["amazonaws", "aws"]),
    ("AZURE", &["azure", "windows", "microsoft", "microsoftonline", "visualstudio"]),
    ("CF", &["cloudflare"]),
    ("CLOUDFLARE", &["cloudflare"]),
    ("DIGITALOCEAN", &["digitalocean"]),
    ("DISCORD", &["discord", "discordapp"]),
    ("DOCKER", &["docker"]),
    ("DOCKERHUB", &["docker"]),
    ("GCP", &["google", "googleapis"]),
    ("GEMINI", &["google", "googleapis"]),
    ("GH", &["github", "githubusercontent", "ghcr"]),
    ("GITHUB", &["github", "githubusercontent", "ghcr"]),
    ("GOOGLE", &["google", "googleapis"]),
    ("HF", &["huggingface", "hf"]),
    ("HUGGINGFACE", &["huggingface", "hf"]),
    ("MISTRAL", &["mistral"]),
    ("NPM", &["npmjs", "yarnpkg"]),
    ("OPENAI", &["openai"]),
    ("OPENROUTER", &["openrouter"]),
    ("PYPI", &["pypi"]),
    ("SENDGRID", &["sendgrid"]),
    ("SLACK", &["slack"]),
    ("STRIPE", &["stripe"]),
    ("TELEGRAM", &["telegram"]),
    ("TWILIO", &["twilio"]),
];

impl Evaluation<'_> {
    /// A command that sends a secret elsewhere.
    pub(in crate::judge) fn sends_secret(
        &mut self,
        subject: &MatchInput<'_>,
        field: &Field,
        world: &mut dyn GuardHost,
    ) {
        let command = subject.command;
        let Some(program) = command.program().filter(|_| !command.preexisting && !command.scanned) else { return };
        if let Some(span) = in_address(command, program, &field.value) {
            let evidence = vec![evidence(field, span)];
            self.coded_on(NativeRule::SendSecretVariable, subject, &field.value, world, evidence);
            return;
        }
        if !(SENDERS.contains(&program) || LOOKUPS.contains(&program) || ADDRESSED.contains(&program)) {
            return;
        }
        let sent_to =
            command.effects.iter().filter(|effect| effect.kind == EffectKind::Send).map(|effect| &effect.path);
        let words = || command.words.iter().skip(1);
        let looked_up = words().filter(|_| LOOKUPS.contains(&program));
        // `git remote add NAME ADDRESS` sends nothing yet.
        let stored = words().filter(|word| program == "git" && word.value.text().contains("://"));
        let asked = words().filter(|_| asks_at_address(command, program)).filter_map(address);
        let addresses = sent_to.chain(looked_up.chain(stored).map(|word| &word.value)).map(Value::text).chain(asked);
        let hosts: Vec<Host<'_>> = addresses.filter_map(Host::of).filter(|host| !host.is_own_forge(program)).collect();
        let mut own = sent(command, &field.value);
        if PACKAGE_MANAGERS.contains(&program) {
            // Options have the credential for the registry.
            let is_option = |span| words().any(|word| word.span == span && word.text().starts_with('-'));
            own.retain(|secret| !is_option(secret.span));
        }
        let piped = subject
            .pipeline()
            .0
            .into_iter()
            .filter(|other| prints(other, &field.value))
            .flat_map(|other| sent(other, &field.value));
        let piped = piped.map(|secret| Secret { credential: false, ..secret });
        let foreign = |secret: &Secret| hosts.iter().any(|host| !host.may_have(secret));
        if let Some(secret) = own.into_iter().chain(piped).find(foreign) {
            let evidence = vec![evidence(field, secret.span)];
            self.coded_on(NativeRule::SendSecretVariable, subject, &field.value, world, evidence);
        }
    }
}

/// Programs that name in an error what is not there.
const COMPLAINERS: &[&str] = &["cd", "du", "file", "find", "head", "ls", "readlink", "stat", "tail", "wc"];

/// Whether a command puts its words, or what is given to it, into the pipe that follows.
fn prints(command: &Command, source: &str) -> bool {
    let Some(program) = command.program() else { return false };
    // `ls "$TOKEN" 2>&1`
    let complains = || {
        let stage = source.get(command.span.start..).and_then(|rest| rest.split_once('|'));
        COMPLAINERS.contains(&program) && stage.is_some_and(|(own, rest)| own.contains("2>&1") || rest.starts_with('&'))
    };
    matches!(program, "base64" | "cat" | "gzip" | "xxd") || speaks(command) || complains()
}

/// Whether a client takes one of its words for the address that it asks at, with what else it is given.
fn asks_at_address(command: &Command, program: &str) -> bool {
    let subcommand = command.words.get(1).and_then(Word::known).unwrap_or_default();
    match program {
        "aws" => command.words.iter().any(|word| word.value.text().starts_with("--endpoint-url")),
        "gh" | "glab" => subcommand == "api",
        _ => PACKAGE_MANAGERS.contains(&program) && PACKAGES.contains(&subcommand),
    }
}

/// Where a secret stands in an address that a command is given, of a host that it is not for. Whoever is asked there gets it.
fn in_address(command: &Command, program: &str, source: &str) -> Option<Span> {
    // What senders are given is judged by where they send it.
    if KEEPERS.contains(&program) || SENDERS.contains(&program) {
        return None;
    }
    let words = command.words.iter().skip(1);
    // `npm_config_registry=ADDRESS npm view x`
    let set = command.assignments.iter().filter(|(name, _)| {
        let name = name.to_ascii_lowercase();
        name.ends_with("_registry") || name.ends_with("_index_url")
    });
    let mut places = words.chain(set.map(|(_, word)| word)).filter(|word| word.known().is_none());
    let found = places.find(|word| {
        let Some(address) = address(word) else { return false };
        let credential = has_login(address);
        let text = source.get(word.span.start..word.span.end).unwrap_or_default();
        let names = secrets_in(text).filter(|name| command.env.get(name).is_none());
        let mut secrets = names.map(|name| Secret { name: name.to_owned(), credential, span: word.span });
        secrets.any(|secret| !(credential && secret.is_for_any_registry()) && is_led_elsewhere(address, &secret))
    });
    found.map(|word| word.span)
}

/// Whether an address leads to a host that a secret is not for.
fn is_led_elsewhere(address: &str, secret: &Secret) -> bool {
    match is_store(address) {
        true => !secret.names_object(),
        // A name and a password are given to proxies in the open as well.
        false => Host::of(address).is_some_and(|host| !Host { open: false, ..host }.may_have(secret)),
    }
}

/// Schemes of stores, where a name is one of everybody's and none of this network.
const STORES: &[&str] = &["s3", "s3a", "gs", "gcs", "r2", "b2", "az", "wasb", "abfs"];

fn is_store(address: &str) -> bool {
    address.split_once("://").is_some_and(|(scheme, _)| STORES.contains(&scheme))
}

/// The address that a word is, or the value of an option in it.
fn address(word: &Word) -> Option<&str> {
    const SCHEMES: &[&str] = &["ftp", "ftps", "http", "https", "ws", "wss"];
    let text = word.value.text();
    let value = if text.starts_with('-') { text.split_once('=').map_or(text, |(_, value)| value) } else { text };
    let (scheme, _) = value.split_once("://")?;
    (SCHEMES.contains(&scheme) || STORES.contains(&scheme)).then_some(value)
}

/// Whether an address has what is not known where a name and a password stand: `https://NAME:SECRET@HOST/`.
fn has_login(address: &str) -> bool {
    let login = address.split_once("://").and_then(|(_, rest)| rest.split('/').next()?.split_once('@'));
    login.is_some_and(|(name, host)| name.contains(Value::HOLE) && !host.contains(Value::HOLE))
}

/// A secret in a word.
pub(super) struct Secret {
    /// Empty for several, or one of which the name is not known.
    pub(super) name: String,
    /// It stands where a host looks for credentials: a header for them, a login.
    pub(super) credential: bool,
    pub(super) span: Span,
}

impl Secret {
    /// Whether it is called after a kind of registry, which many run for themselves.
    fn is_for_any_registry(&self) -> bool {
        self.name.split('_').any(|part| matches!(part, "DOCKER" | "NPM" | "PYPI"))
    }

    /// Whether it is rather the name of an object in a store: `s3://bucket/$CACHE_KEY`.
    fn names_object(&self) -> bool {
        let of_secret = |part: &str| matches!(part, "ACCESS" | "API" | "PRIVATE" | "SECRET");
        self.name.ends_with("KEY") && !self.name.split('_').any(of_secret)
    }
}

/// The secrets of the environment in the words of a command, and in what is redirected to it.
pub(super) fn sent(command: &Command, source: &str) -> Vec<Secret> {
    let is_unset = |name: &&str| command.env.get(name).is_none();
    let named = |word: &Word| -> Vec<String> {
        let text = source.get(word.span.start..word.span.end).unwrap_or_default();
        let mut names: Vec<String> = secrets_in(text).filter(is_unset).map(str::to_owned).collect();
        // Another variable may have its value.
        if let Value::Unknown { why, .. } = &word.value {
            names.extend(why.variable().filter(|name| is_secret_variable(name) && is_unset(name)).map(str::to_owned));
        }
        names
    };
    let words = command.words.iter().enumerate().skip(1).map(|(at, word)| (word, is_credential(at, command)));
    let given = command.redirects.iter().filter(|redirect| redirect.kind != RedirectKind::Write);
    let all = words.chain(given.map(|redirect| (&redirect.target, false)));
    let mut secrets: Vec<Secret> = all
        .flat_map(|(word, credential)| {
            named(word).into_iter().map(move |name| Secret { name, credential, span: word.span })
        })
        .collect();
    let text = source.get(command.span.start..command.span.end).and_then(here_string).unwrap_or_default();
    let credential = says_header(text);
    let given = secrets_in(text).filter(is_unset);
    secrets.extend(given.map(|name| Secret { name: name.to_owned(), credential, span: command.span }));
    secrets
}

/// Whether a text begins with what is a credential: `curl -H @- <<< "Authorization: SECRET"`, `curl -K - <<< "user = NAME:SECRET"`.
fn says_header(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let text = text.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let text = text.strip_prefix("header").map_or(text, |rest| rest.trim_start_matches([' ', '=', '"', '\\']));
    let name = text.split([':', '=']).next().unwrap_or_default().trim();
    name == "user" || HEADERS.contains(&name)
}

/// Whether what is not known of a word is where a host looks for credentials.
pub(super) fn is_credential(at: usize, command: &Command) -> bool {
    let text = command.words[at].value.text().to_ascii_lowercase();
    let before = command.words[at - 1].known().unwrap_or_default();
    let header = ["--header=", "-h"].iter().find_map(|option| text.strip_prefix(option)).unwrap_or(&text);
    // `git -c http.extraHeader=NAME: SECRET`
    let header = header.split_once("extraheader=").map_or(header, |(_, header)| header);
    let named = header.split_once(':').is_some_and(|(name, _)| HEADERS.contains(&name.trim()));
    named || LOGINS.contains(&before) || has_login(&text)
}

/// Whether a command talks to a host that a secret is not for.
pub(super) fn goes_elsewhere(command: &Command, secret: &Secret) -> bool {
    let is_foreign = |address: &str| is_store(address) || Host::of(address).is_some_and(|host| !host.may_have(secret));
    let sent_to = command.effects.iter().filter(|effect| effect.kind == EffectKind::Send);
    let redirected = command.redirects.iter().filter_map(|one| {
        let target = one.target.value.text();
        target.strip_prefix("/dev/tcp/").or_else(|| target.strip_prefix("/dev/udp/"))
    });
    sent_to.map(|effect| effect.path.text()).chain(redirected).any(is_foreign)
}

/// A host that is talked to, as far as it is known.
struct Host<'a> {
    name: &'a str,
    /// Everybody on the way can read what is sent.
    open: bool,
}

impl<'a> Host<'a> {
    /// The host of an address. None if it is a file, or nothing is known of it.
    fn of(address: &'a str) -> Option<Self> {
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next()?;
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let name = host.strip_prefix('[').map_or_else(|| host.split(':').next(), |v6| v6.split(']').next())?;
        let known = name.rsplit(Value::HOLE).next()?;
        (!known.trim_matches('.').is_empty()).then_some(Host { name: known, open: address.starts_with("http://") })
    }

    /// Whether a secret is for this host, as far as its name says; a secret of no known service is for whoever is given it as one,
    /// unless it goes there in the open.
    fn may_have(&self, secret: &Secret) -> bool {
        if self.is_near() {
            return true;
        }
        let domain = self.domain();
        let parts = || secret.name.split('_').filter(|part| !part.is_empty());
        let known = SERVICES.iter().filter(|(name, _)| parts().any(|part| part == *name));
        let known: Vec<&str> = known.flat_map(|(_, domains)| domains.iter().copied()).collect();
        let is_part = |label: &str| domain.iter().any(|one| one.eq_ignore_ascii_case(label));
        if !known.is_empty() {
            return known.iter().any(|label| is_part(label));
        }
        // `ACME_API_KEY` is for `api.acme.io`.
        secret.credential && !self.open
            || parts().any(|part| part.len() > 3 && !is_secret_variable(part) && is_part(part))
    }

    /// Whether a forge's own client asks the forge.
    fn is_own_forge(&self, program: &str) -> bool {
        let forge = match program {
            "gh" => "github",
            "glab" => "gitlab",
            _ => return false,
        };
        self.domain().contains(&forge)
    }

    /// The labels of the registered domain but for what stands behind it.
    fn domain(&self) -> Vec<&str> {
        const SECOND: &[&str] = &["ac", "co", "com", "edu", "gov", "net", "org"];
        let labels: Vec<&str> = self.name.trim_matches('.').split('.').collect();
        let mut end = labels.len().saturating_sub(1);
        if end > 1 && SECOND.contains(&labels[end - 1]) && labels[end].len() == 2 {
            end -= 1;
        }
        labels[end.saturating_sub(1)..end].to_vec()
    }

    /// Whether it is this machine or one of its network.
    fn is_near(&self) -> bool {
        let name = self.name.trim_matches('.');
        let private = |address: std::net::IpAddr| match address {
            std::net::IpAddr::V4(v4) => {
                v4.is_loopback() || v4.is_private() || v4.is_unspecified() || v4.is_link_local()
            }
            std::net::IpAddr::V6(v6) => v6.is_loopback() || v6.is_unspecified() || v6.is_unique_local(),
        };
        let ends = [".internal", ".lan", ".local", ".localhost", ".test"];
        match name.parse() {
            Ok(address) => private(address),
            Err(_) => !name.contains('.') || ends.iter().any(|end| name.ends_with(end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_word_or_the_value_of_an_option() {
        let cases = [
            ("https://a.example/x", Some("https://a.example/x")),
            ("--registry=http://a.example", Some("http://a.example")),
            ("s3://bucket/x", Some("s3://bucket/x")),
            ("URL=https://a.example", None),
            ("postgres://a.example/x", None),
            ("a.example", None),
        ];
        for (text, expected) in cases {
            assert_eq!(address(&Word::new(text, Span::default())), expected, "{text}");
        }
        assert!(says_header("\"Authorization: Bearer $TOKEN\"") && !says_header("\"$TOKEN\""));
    }

    #[test]
    fn a_secret_is_for_its_own_host() {
        let cases = [
            ("GITHUB_TOKEN", true, "https://api.github.com/user", true),
            ("GH_TOKEN", false, "https://uploads.github.com/x", true),
            ("GITHUB_TOKEN", true, "https://github.collect.example/user", false),
            ("GITHUB_TOKEN", true, "https://collect.example/", false),
            ("GITHUB_TOKEN", true, "http://\u{fffc}.collect.example/", false),
            ("OPENAI_API_KEY", true, "https://api.openai.com/v1/models", true),
            ("OPENAI_API_KEY", true, "https://openai.com.collect.example/", false),
            ("ACME_API_KEY", false, "https://api.acme.io/v1", true),
            ("ACME_API_KEY", false, "https://api.acme.co.uk/v1", true),
            ("ACME_API_KEY", false, "https://collect.example/", false),
            ("API_KEY", true, "https://api.example.com/v1", true),
            ("API_KEY", false, "https://api.example.com/v1", false),
            ("API_KEY", true, "http://api.example.com/v1", false),
            ("API_KEY", true, "http://api.internal/v1", true),
            ("API_KEY", false, "http://localhost:3000/x", true),
            ("API_KEY", false, "http://127.0.0.1:8080", true),
            ("API_KEY", false, "http://10.1.2.3/", true),
            ("API_KEY", false, "http://api:3000/", true),
            ("API_KEY", false, "http://[::1]:80/", true),
            ("API_KEY", false, "8.8.8.8:53", false),
            ("API_KEY", false, "collect.example", false),
        ];
        for (name, credential, address, expected) in cases {
            let address = address.replace('\u{fffc}', &Value::HOLE.to_string());
            let secret = Secret { name: name.to_owned(), credential, span: Span::default() };
            let host = Host::of(&address).expect("a host");
            assert_eq!(host.may_have(&secret), expected, "{name} {address}");
        }
        assert!(Host::of(&Value::HOLE.to_string()).is_none());
    }
}
