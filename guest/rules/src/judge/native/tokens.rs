//! A token that a program prints straight into what is sent to its own host, so that nobody else sees it: the header of a request,
//! the password that a login reads.

use toolgate_shell::{Command, Effect, Kind, SUBSTITUTION, Value, Word};

use crate::matching::MatchInput;
use crate::native_rule::NativeRule;

/// The hosts that a program's token is for. What begins with a dot is the end of a name.
fn hosts(native: NativeRule) -> &'static [&'static str] {
    match native {
        NativeRule::PrintToken => {
            &["api.github.com", "uploads.github.com", "ghcr.io", "gitlab.com", "registry.gitlab.com"]
        }
        NativeRule::PrintGcloudSecret => &[".googleapis.com", ".pkg.dev", "gcr.io", ".gcr.io"],
        NativeRule::PrintAzureSecret => &["management.azure.com", "graph.microsoft.com", ".azurecr.io"],
        NativeRule::PrintAwsSecret => &[".amazonaws.com"],
        _ => &[],
    }
}

fn is_own(host: &str, hosts: &[&str]) -> bool {
    hosts.iter().any(|own| match own.starts_with('.') {
        true => host.ends_with(own) && host.len() > own.len(),
        false => host == *own,
    })
}

/// Whether what a command prints goes to its own host, and nowhere else.
pub(super) fn stays_at_home(native: NativeRule, subject: &MatchInput<'_>) -> bool {
    let (hosts, command) = (hosts(native), subject.command);
    let after = subject.pipeline().1;
    let logs_in = |next: &Command| {
        let known: Option<Vec<&str>> = next.words.iter().map(Word::known).collect();
        let plain = next.redirects.is_empty() && next.effects.iter().all(|effect| !is_file(effect));
        plain
            && known
                .is_some_and(|words| reads_password(&words) && words.iter().any(|word| is_own(bare_host(word), hosts)))
    };
    if command.via.last().is_some_and(|via| via == SUBSTITUTION) {
        return is_header_of_own(subject, hosts);
    }
    matches!(after.as_slice(), [next] if command.redirects.is_empty() && logs_in(next))
}

fn is_file(effect: &Effect) -> bool {
    matches!(effect.kind, Kind::Write | Kind::Append | Kind::Create)
}

/// A registry without its scheme and path.
fn bare_host(word: &str) -> &str {
    let rest = word.strip_prefix("https://").unwrap_or(word);
    rest.split(['/', ':']).next().unwrap_or_default()
}

/// `docker login -u NAME --password-stdin HOST`
fn reads_password(words: &[&str]) -> bool {
    let programs = ["docker", "podman", "helm", "crane", "oras", "skopeo", "nerdctl"];
    words.first().is_some_and(|program| programs.contains(program))
        && words.contains(&"login")
        && words.contains(&"--password-stdin")
}

/// Whether the command around a substitution is a request to one of these hosts that has the value in a header.
fn is_header_of_own(subject: &MatchInput<'_>, hosts: &[&str]) -> bool {
    let command = subject.command;
    let commands = &subject.script().commands;
    let alone = commands.iter().filter(|other| other.group == command.group).count() == 1
        && command.redirects.iter().all(|one| one.target.known() == Some("/dev/null"));
    let around = |other: &&Command| {
        other.via.len() + 1 == command.via.len() && command.span.is_inside(other.span) && !std::ptr::eq(*other, command)
    };
    let mut around = commands.iter().filter(around);
    let (Some(request), None) = (around.next(), around.next()) else { return false };
    alone && is_request(request, hosts)
}

/// Whether a command only asks hosts of its own, and what is not known of it stands in headers.
fn is_request(command: &Command, hosts: &[&str]) -> bool {
    const SHOWS: &[&str] = &[
        "--verbose",
        "--trace",
        "--trace-ascii",
        "--proxy",
        "--preproxy",
        "--resolve",
        "--connect-to",
        "--config",
        "--libcurl",
        "--doh-url",
    ];
    let words = &command.words;
    let headers = |at: usize| at > 0 && matches!(words[at - 1].known(), Some("-H" | "--header"));
    let known = words.iter().enumerate().all(|(at, word)| headers(at) || matches!(word.value, Value::Known(_)));
    let options =
        || words.iter().enumerate().skip(1).filter(|(at, _)| !headers(*at)).filter_map(|(_, word)| word.known());
    let short = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains(['v', 'x', 'K', 'w']);
    let shows = options().any(|word| short(word) || SHOWS.iter().any(|option| word.starts_with(option)));
    let mut urls =
        options().filter(|word| word.contains("://") || word.contains('.') && !word.starts_with('-')).peekable();
    command.program() == Some("curl")
        && known
        && !shows
        && urls.peek().is_some()
        && urls.all(|url| {
            url.starts_with("https://") && !url.contains(['@', '{', '[', '\\']) && is_own(bare_host(url), hosts)
        })
}
