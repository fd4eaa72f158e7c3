//! Secrets of the environment that a command sends to a host that they are not for: in an address, in what it posts, through a
//! pipe. In a header for credentials, a secret that no known service has given goes wherever the command says.

use toolgate_shell::{Command, EffectKind, RedirectKind, Span, Value, Word};

use super::shown::{is_secret, secrets_in};
use crate::call::Field;
use crate::judge::{Evaluation, evidence};
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::world::GuardHost;

/// Programs that send what they are given.
const SENDERS: &[&str] =
    &["curl", "git", "http", "https", "nc", "ncat", "netcat", "socat", "telnet", "wget", "xh", "xhs"];

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
        let sends = command.program().is_some_and(|name| SENDERS.contains(&name) || LOOKUPS.contains(&name));
        if !sends || command.preexisting || command.scanned {
            return;
        }
        let sent_to =
            command.effects.iter().filter(|effect| effect.kind == EffectKind::Send).map(|effect| &effect.path);
        let looked_up =
            command.words.iter().skip(1).filter(|_| command.program().is_some_and(|name| LOOKUPS.contains(&name)));
        // `git remote add NAME ADDRESS` sends nothing yet.
        let stored = command
            .words
            .iter()
            .skip(1)
            .filter(|word| command.program() == Some("git") && word.value.text().contains("://"));
        let addresses = sent_to.chain(looked_up.chain(stored).map(|word| &word.value));
        let hosts = addresses.filter_map(|address| Host::of(address.text()));
        let hosts: Vec<Host<'_>> = hosts.collect();
        let own = sent(command, &field.value);
        let piped =
            subject.pipeline().0.into_iter().filter(|other| prints(other)).flat_map(|other| sent(other, &field.value));
        let piped = piped.map(|secret| Secret { credential: false, ..secret });
        let foreign = |secret: &Secret| hosts.iter().any(|host| !host.may_have(secret));
        if let Some(secret) = own.into_iter().chain(piped).find(foreign) {
            let evidence = vec![evidence(field, secret.span)];
            self.coded_on(NativeRule::SendSecretVariable, subject, &field.value, world, evidence);
        }
    }
}

/// Whether a command puts its words, or what is given to it, into the pipe that follows.
fn prints(command: &Command) -> bool {
    matches!(command.program(), Some("base64" | "cat" | "echo" | "gzip" | "print" | "printf" | "xxd"))
}

/// A secret in a word.
pub(super) struct Secret {
    /// Empty for several, or one of which the name is not known.
    pub(super) name: String,
    /// It stands where a host looks for credentials: a header for them, a login.
    pub(super) credential: bool,
    pub(super) span: Span,
}

/// The secrets of the environment in the words of a command, and in what is redirected to it.
pub(super) fn sent(command: &Command, source: &str) -> Vec<Secret> {
    let is_unset = |name: &&str| command.env.get(name).is_none();
    let named = |word: &Word| -> Vec<String> {
        let text = source.get(word.span.start..word.span.end).unwrap_or_default();
        let mut names: Vec<String> = secrets_in(text).filter(is_unset).map(str::to_owned).collect();
        // Another variable may have its value.
        if let Value::Unknown { why, .. } = &word.value {
            names.extend(why.variable().filter(|name| is_secret(name) && is_unset(name)).map(str::to_owned));
        }
        names
    };
    let words = command.words.iter().enumerate().skip(1).map(|(at, word)| (word, is_credential(at, command)));
    let given = command.redirects.iter().filter(|redirect| redirect.kind != RedirectKind::Write);
    let all = words.chain(given.map(|redirect| (&redirect.target, false)));
    all.flat_map(|(word, credential)| {
        named(word).into_iter().map(move |name| Secret { name, credential, span: word.span })
    })
    .collect()
}

/// Whether what is not known of a word is where a host looks for credentials.
pub(super) fn is_credential(at: usize, command: &Command) -> bool {
    let text = command.words[at].value.text().to_ascii_lowercase();
    let before = command.words[at - 1].known().unwrap_or_default();
    let header = ["--header=", "-h"].iter().find_map(|option| text.strip_prefix(option)).unwrap_or(&text);
    // `git -c http.extraHeader=NAME: SECRET`
    let header = header.split_once("extraheader=").map_or(header, |(_, header)| header);
    let named = header.split_once(':').is_some_and(|(name, _)| HEADERS.contains(&name.trim()));
    // `https://NAME:SECRET@HOST/`
    let login = text.split_once("://").and_then(|(_, rest)| rest.split('/').next()?.split_once('@'));
    named
        || LOGINS.contains(&before)
        || login.is_some_and(|(name, host)| name.contains(Value::HOLE) && !host.contains(Value::HOLE))
}

/// Whether a command talks to a host that a secret is not for.
pub(super) fn goes_elsewhere(command: &Command, secret: &Secret) -> bool {
    /// Schemes of stores, where a name is one of everybody's and none of this network.
    const STORES: &[&str] = &["s3", "s3a", "gs", "gcs", "r2", "b2", "az", "wasb", "abfs"];
    let is_store = |address: &str| address.split_once("://").is_some_and(|(scheme, _)| STORES.contains(&scheme));
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
        secret.credential && !self.open || parts().any(|part| part.len() > 3 && !is_secret(part) && is_part(part))
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
