//! Other roots, containers and machines, and what listens to the network.

use toolgate_commands::OptionRun;

use super::argv_edit::{cut, join, known};
use super::nested::{command, extras, finish_command, rest, text_of, unseen};
use super::options::ScannedOptions;
use super::{Call, ContextChange, Directory, NestedCommand, NestedKind, Times, is_shell};
use crate::host;
use toolgate_shell_syntax::word::{Value, Word};

pub(super) fn chroot(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, mut change) = call.scan();
    let folder = scan.operands.first().and_then(|&at| call.words.get(at));
    // Its own root is no other place.
    if folder
        .and_then(Word::known)
        .is_some_and(|folder| folder.starts_with('/') && folder.bytes().all(|byte| byte == b'/' || byte == b'.'))
    {
        change.elsewhere = false;
    }
    if !scan.has(OptionRun::Stay) {
        change.cwd = folder.map(|folder| Directory::Word(known("/", folder)));
    }
    finish_command(&call, &scan, &change)
}

/// Only another mount namespace makes the files others; that of process 1 is the machine's own.
pub(super) fn nsenter(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, mut change) = call.scan();
    let first = scan.values(OptionRun::Target).any(|word| word.known() == Some("1"));
    change.elsewhere |= scan.has(OptionRun::Mount) && !first;
    finish_command(&call, &scan, &change)
}

/// What is mounted where it was before is not elsewhere.
pub(super) fn bubblewrap(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, mut change) = call.scan();
    change.elsewhere = true;
    // The second of two values is not among the options' own; it stands behind the first.
    for pair in call.words.get(call.from..scan.end).unwrap_or_default().windows(3) {
        let [option, from, to] = pair else { continue };
        let Some(option) = option.known() else { continue };
        if option == "--setenv" {
            change.set.extend(from.known().map(|name| (name.to_owned(), to.clone())));
        }
        if matches!(option, "--bind" | "--bind-try" | "--dev-bind" | "--dev-bind-try" | "--ro-bind" | "--ro-bind-try")
            && from.text() == to.text()
        {
            change.elsewhere = false;
        }
    }
    finish_command(&call, &scan, &change)
}

/// Login shells are called with `-c TEXT`.
pub(super) fn firejail(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let words = call.words.get(scan.end..).unwrap_or_default();
    let login = scan.end > call.from && call.words.get(scan.end - 1).and_then(Word::known) == Some("-c");
    match words.split_first() {
        Some((text, args)) if login && !scan.stopped => vec![text_of(text.clone(), args.to_vec(), &change)],
        _ => finish_command(&call, &scan, &change),
    }
}

/// `docker run`: another entry point takes the command as its arguments.
pub(super) fn run_image(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, mut change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    // What `compose run` gives to it is in a file.
    let composed = call.words.iter().take(call.from).any(|word| word.text().contains("compose"));
    let own = call.words.get(call.from..scan.end).unwrap_or_default();
    change.fresh = !(composed || scan.unclear || call.unclear || own.iter().any(gives_folder));
    let mut words = rest(&call, &scan);
    if let Some(entry) = scan.values(OptionRun::Entry).next_back().filter(|entry| !entry.text().is_empty()) {
        words.insert(0, entry.clone());
    }
    let mut found = if words.is_empty() { Vec::new() } else { vec![command(words, &change)] };
    if scan.unclear || call.unclear {
        found.push(unseen(&change));
    }
    found
}

/// Whether a word of `docker run` gives a folder or a device to a container, or may.
fn gives_folder(word: &Word) -> bool {
    const OPTIONS: &[&str] = &["--volume", "--volumes-from", "--mount", "--device", "--privileged"];
    let text = word.text();
    let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    word.known().is_none()
        || OPTIONS.iter().any(|option| text.starts_with(option))
        || letters.is_some_and(|letters| letters.split('=').next().is_some_and(|letters| letters.contains('v')))
}

pub(super) fn kubectl(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    // Without `--`, the words behind the pod are the command with all their options.
    let words = match call.words.iter().skip(call.from).position(|word| word.known() == Some("--")) {
        Some(at) => call.words.get(call.from + at + 1..),
        None => scan.operands.get(1).and_then(|&at| call.words.get(at..)),
    };
    let words = words.unwrap_or_default().to_vec();
    if words.is_empty() { Vec::new() } else { vec![command(words, &change)] }
}

pub(super) fn ssh(call: Call<'_>) -> Vec<NestedCommand> {
    let (first, _) = call.scan();
    let Some(&destination) = first.operands.first() else { return settings(&first) };
    // Options may stand behind the destination too.
    let second = super::options::scan(call.row, call.words, destination + 1);
    let mut change = first.change(call.row, call.change.clone());
    change.own_input |= second.has(OptionRun::Own);
    // What listens at another port is most often another machine: a virtual one, a container, a tunnel.
    let ports: Vec<bool> = [&first, &second]
        .into_iter()
        .flat_map(|scan| scan.values(OptionRun::Port).chain(scan.values(OptionRun::Config)))
        .filter_map(is_usual_port)
        .collect();
    let far = !ports.is_empty() && !ports.contains(&true);
    let named = || first.values(OptionRun::Config).chain(second.values(OptionRun::Config)).any(is_own_host_name);
    if !far && (call.words.get(destination).is_some_and(is_this_machine) || named()) {
        (change.elsewhere, change.cwd) = (false, Some(Directory::Home));
    }
    let mut found = settings(&first);
    found.extend(settings(&second));
    if first.stopped || second.stopped {
        return found;
    }
    let words = call.words.get(second.end..).unwrap_or_default();
    if !words.is_empty() {
        found.push(text_of(join(words, " "), Vec::new(), &change));
    } else if !first.has(OptionRun::None) && !second.has(OptionRun::None) && !change.own_input {
        found.push(NestedCommand::new(NestedKind::Stdin { language: None, args: Vec::new() }, &change));
    }
    if first.unclear || second.unclear {
        found.push(unseen(&ContextChange::default()));
    }
    found
}

/// Whether a destination of ssh is the machine that it is typed on.
fn is_this_machine(destination: &Word) -> bool {
    let text = destination.text();
    let Value::Known(destination) = &destination.value else {
        let user = text.rfind('@').map_or(0, |at| at + 1);
        return host::names_own(&cut(destination, user).value);
    };
    let address = destination.strip_prefix("ssh://").unwrap_or(destination);
    let host = address.rsplit_once('@').map_or(address, |(_, host)| host);
    // A port may stand behind it in an address, and an address of version 6 is in brackets there.
    let host = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((host, _)) => host,
        None if address.len() < destination.len() => host.split_once(':').map_or(host, |(host, _)| host),
        None => host,
    };
    host::is_own(host.trim_end_matches('/'))
}

/// The name of a setting of ssh, `name=value` or `name "value"`, and where its value begins. The name may be in quotes, and
/// blanks and `=` may stand before it.
fn named(word: &Word) -> Option<(&str, usize)> {
    let text = word.text();
    let is_between = |c: char| c == '=' || c.is_whitespace();
    let own = text.trim_start_matches(is_between);
    let own = own.strip_prefix('"').unwrap_or(own);
    let end = own.find(|c: char| c == '"' || is_between(c))?;
    let (name, value) = own.split_at(end);
    let value = value.strip_prefix('"').unwrap_or(value).trim_start_matches(is_between);
    Some((name, text.len() - value.len()))
}

/// The value of a setting, if it has this name.
fn setting(word: &Word, name: &str) -> Option<Value> {
    let (own, at) = named(word)?;
    let plain = word.text()[at..].trim_matches(|c: char| c == '"' || c.is_whitespace()).to_owned();
    own.eq_ignore_ascii_case(name).then(|| word.value.part(plain))
}

/// `-o HostName=localhost`: what the destination stands for.
fn is_own_host_name(word: &Word) -> bool {
    setting(word, "hostname").is_some_and(|host| host::names_own(&host))
}

/// Whether a port, or a setting that gives one, is that of ssh; none if it gives none.
fn is_usual_port(word: &Word) -> Option<bool> {
    let port = match word.text().contains(|c: char| c == '=' || c.is_whitespace()) {
        true => setting(word, "port")?,
        false => word.value.clone(),
    };
    Some(port.known().is_some_and(|port| port == "ssh" || port.parse() == Ok(22)))
}

/// `scp` and `sftp`: only what their settings run here.
pub(super) fn copy(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    extras(&scan, &change).into_iter().chain(settings(&scan)).collect()
}

/// The settings of ssh that run a text on this machine: `-o ProxyCommand=TEXT`.
fn settings(scan: &ScannedOptions) -> Vec<NestedCommand> {
    let local = ContextChange { times: Times::Perhaps, ..ContextChange::default() };
    let run = |word: &Word| {
        let (name, at) = named(word)?;
        let text = cut(word, at);
        let kind = match name.to_ascii_lowercase().as_str() {
            "proxycommand" | "localcommand" | "knownhostscommand" | "match" if text.text() != "none" => {
                NestedKind::Text { text, args: Vec::new() }
            }
            "include" => NestedKind::Unseen,
            _ => return None,
        };
        Some(NestedCommand::new(kind, &local))
    };
    scan.values(OptionRun::Config).filter_map(run).collect()
}

/// Whether a text names a shell: with its input from the network it runs what nobody sees here.
fn names_shell(word: &Word) -> bool {
    word.text().split_ascii_whitespace().any(is_shell)
}

pub(super) fn netcat(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let mut found = extras(&scan, &change);
    if scan.values(OptionRun::Prog).chain(scan.values(OptionRun::Also)).any(names_shell) {
        found.push(unseen(&change));
    }
    found
}

/// `socat`'s addresses: `EXEC:program args,option`, `SYSTEM:text`.
pub(super) fn socat(call: Call<'_>) -> Vec<NestedCommand> {
    let (_, change) = call.scan();
    let mut found = Vec::new();
    for word in call.words.get(1..).unwrap_or_default() {
        let mut from = 0;
        // `A!!B` is two addresses.
        for address in word.text().split("!!") {
            let colon = address.find(':').unwrap_or(address.len());
            let name = address.get(..colon).unwrap_or_default().to_ascii_lowercase();
            if matches!(name.as_str(), "exec" | "system" | "shell") {
                let body = cut(word, from + colon + 1);
                let end = body.text().find([',', '!']).unwrap_or(body.text().len());
                let text = Word { value: cut_end(&body, end), ..body };
                found.extend(names_shell(&text).then(|| unseen(&change)));
                found.push(text_of(text, Vec::new(), &change));
            }
            from += address.len() + 2;
        }
    }
    found
}

fn cut_end(word: &Word, end: usize) -> Value {
    let text = word.text().get(..end).unwrap_or_default().to_owned();
    word.value.part(text)
}
