//! A token that a program prints straight into what is sent to its own host, so that nobody else sees it: the header of a request,
//! the password that a login reads.

use toolgate_shell::{Command, Effect, EffectKind, SUBSTITUTION, Value, Word};

use crate::invocation::{Invocation, Operand, ParsedOption};
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
    if command.via.last().is_some_and(|via| via == SUBSTITUTION) {
        return is_header_of_own(subject, hosts);
    }
    matches!(after.as_slice(), [next] if command.redirects.is_empty() && logs_in(subject, next, hosts))
}

/// Whether a command logs in at one of these hosts, and keeps nothing in a file.
fn logs_in<'a>(subject: &MatchInput<'a>, next: &'a Command, hosts: &[&str]) -> bool {
    let plain = next.redirects.is_empty() && next.effects.iter().all(|effect| !is_file(effect));
    let known = next.words.iter().all(|word| word.known().is_some());
    plain && known && subject.read(next).is_some_and(|found| reads_password(&found, hosts))
}

fn is_file(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::Write | EffectKind::Append | EffectKind::Create)
}

/// A registry without its scheme and path.
fn bare_host(word: &str) -> &str {
    let rest = word.strip_prefix("https://").unwrap_or(word);
    rest.split(['/', ':']).next().unwrap_or_default()
}

/// Whether a program logs in at one of these hosts with what it is given: `docker login -u NAME --password-stdin HOST`.
fn reads_password(found: &Invocation<'_>, hosts: &[&str]) -> bool {
    const PROGRAMS: &[&str] = &["docker", "podman", "helm", "crane", "oras", "skopeo", "nerdctl"];
    let Some(at) = found.operands.iter().position(|operand| operand.text == Some("login")) else { return false };
    // The name behind an option that no spec lists is none of the hosts, if another one is certain.
    let (unsure, certain): (Vec<Operand<'_>>, Vec<_>) =
        found.operands[at + 1..].iter().partition(|operand| operand.perhaps());
    let own = |operand: &Operand<'_>| operand.text.is_some_and(|host| is_own(bare_host(host), hosts));
    let at_own = match certain.as_slice() {
        [] => unsure.iter().any(own),
        certain => certain.iter().all(own),
    };
    PROGRAMS.contains(&found.program) && found.has(&["--password-stdin"]) && at_own
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
    alone && subject.read(request).is_some_and(|found| is_request(request, &found, hosts))
}

/// Whether a command only asks hosts of its own, and what is not known of it stands in headers.
fn is_request(command: &Command, found: &Invocation<'_>, hosts: &[&str]) -> bool {
    /// Options with which it shows what it sends, or sends it elsewhere, or which may say so in a file.
    const SHOWS: &[&str] = &[
        "-v",
        "--verbose",
        "--trace",
        "--trace-ascii",
        "--trace-config",
        "--trace-ids",
        "--trace-time",
        "-x",
        "--proxy",
        "--proxy-header",
        "--preproxy",
        "--resolve",
        "--connect-to",
        "-K",
        "--config",
        "--libcurl",
        "--doh-url",
        "-w",
        "--write-out",
    ];
    let headers: Vec<usize> = found.options.iter().filter_map(|given| header(command, found, given)).collect();
    let known = |(at, word): (usize, &Word)| headers.contains(&at) || matches!(word.value, Value::Known(_));
    let named = found.options.iter().filter(|given| found.is(given, "--url")).map(|given| given.value);
    let mut urls = found.operands.iter().map(|operand| operand.text).chain(named).peekable();
    found.program == "curl"
        && command.words.iter().enumerate().all(known)
        && !found.has(SHOWS)
        && urls.peek().is_some()
        && urls.all(|url| {
            url.is_some_and(|url| {
                url.starts_with("https://") && !url.contains(['@', '{', '[', '\\']) && is_own(bare_host(url), hosts)
            })
        })
}

/// The word with the header that an option gives, if it is one that does.
fn header(command: &Command, found: &Invocation<'_>, given: &ParsedOption<'_>) -> Option<usize> {
    let word = command.words.get(given.word)?.value.text();
    let value = given.value.filter(|_| found.is(given, "-H") || found.is(given, "--header"))?;
    // It stands in the next word, or is attached to an option that is known.
    let option = word.strip_suffix(value).filter(|option| option.len() > 1);
    match option {
        Some(option) => (!option.contains(Value::HOLE)).then_some(given.word),
        None => Some(given.word + 1),
    }
}
