//! git: aliases and settings given with `-c`, and the subcommands that run a text.

use toolgate_commands::OptionRun;

use super::argv_edit::{Rules, cut, is_open, join, known, split};
use super::{Call, ContextChange, Directory, NestedCommand, NestedKind, Times};
use toolgate_shell_syntax::word::{Value, Word};

/// Settings whose value a shell runs: how the name starts and how it ends.
#[rustfmt::skip]
const RUN: &[(&str, &str)] = &[
    ("browser.", ".cmd"), ("browser.", ".path"), ("core.alternaterefscommand", ""), ("core.askpass", ""), ("core.editor", ""),
    ("core.fsmonitor", ""), ("core.gitproxy", ""), ("core.pager", ""), ("core.sshcommand", ""),
    ("credential.", "helper"), ("diff.", ".command"), ("diff.", ".textconv"), ("diff.external", ""),
    ("difftool.", ".cmd"), ("difftool.", ".path"), ("filter.", ".clean"), ("filter.", ".process"),
    ("filter.", ".smudge"), ("gpg.", "program"), ("gpg.ssh.defaultkeycommand", ""), ("guitool.", ".cmd"),
    ("interactive.difffilter", ""), ("man.", ".cmd"), ("merge.", ".driver"), ("mergetool.", ".cmd"),
    ("mergetool.", ".path"), ("pager.", ""), ("remote.", ".receivepack"), ("remote.", ".uploadpack"),
    ("sendemail.", "cmd"), ("sequence.editor", ""), ("submodule.", ".update"), ("tar.", ".command"), ("gc.recentobjectshook", ""), ("imap.tunnel", ""), ("hook.", ".command"), ("man.", ".path"), ("sendemail.smtpserver", ""), ("instaweb.httpd", ""), ("remote.", ".vcs"), ("trailer.", ".cmd"),
    ("trailer.", ".command"), ("uploadpack.packobjectshook", ""),
];

/// Settings that name files or folders with programs in them.
const HIDE: &[(&str, &str)] =
    &[("core.hookspath", ""), ("include.path", ""), ("includeif.", ".path"), ("init.templatedir", "")];

/// Names that no alias can take. An alias of another name may run.
const BUILTIN: &[&str] = &[
    "add",
    "am",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "checkout",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "config",
    "diff",
    "fetch",
    "gc",
    "grep",
    "init",
    "log",
    "ls-files",
    "ls-remote",
    "merge",
    "mv",
    "notes",
    "pull",
    "push",
    "rebase",
    "reflog",
    "remote",
    "reset",
    "restore",
    "rev-parse",
    "revert",
    "rm",
    "show",
    "stash",
    "status",
    "submodule",
    "switch",
    "tag",
    "worktree",
];

/// Whether a subcommand is git's own, whatever aliases there are.
pub(crate) fn is_git_subcommand(name: &str) -> bool {
    BUILTIN.contains(&name)
}

fn listed(table: &[(&str, &str)], name: &str) -> bool {
    table.iter().any(|(start, end)| match end.is_empty() && !start.ends_with('.') {
        true => name == *start,
        false => name.starts_with(start) && name.ends_with(end),
    })
}

pub(super) fn git(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let mut found: Vec<NestedCommand> =
        scan.values(OptionRun::Config).filter_map(|word| setting(word, &change)).collect();
    let perhaps = NestedCommand::new(NestedKind::Unseen, &change).perhaps();
    if scan.has(OptionRun::Variable) || scan.values(OptionRun::Programs).next().is_some() {
        found.push(perhaps.clone());
    }
    if scan.stopped {
        return found;
    }
    let Some(name) = call.words.get(scan.end).and_then(Word::known) else { return found };
    let rest = call.words.get(scan.end + 1..).unwrap_or_default();
    if !BUILTIN.contains(&name) {
        found.extend(alias(&call, scan.end, name, rest, &change));
    }
    // A remote that is a command: `ext::sh -c x`.
    for word in rest {
        if word.text().starts_with("ext::") {
            let text = cut(word, 5);
            found.push(NestedCommand::new(NestedKind::Text { text, args: Vec::new() }, &change).perhaps());
        }
    }
    if let Some(row) = call.row.subcommand(name) {
        found.extend(Call { row, words: call.words, from: scan.end + 1, change, unclear: false }.open());
    }
    if scan.unclear {
        found.push(perhaps);
    }
    found
}

/// What a setting runs, if git comes to need it.
fn setting(word: &Word, change: &ContextChange) -> Option<NestedCommand> {
    let text = word.text();
    let equals = text.find('=')?;
    let name = text.get(..equals)?.to_ascii_lowercase();
    let value = cut(word, equals + 1);
    let unseen = || Some(NestedCommand::new(NestedKind::Unseen, change).perhaps());
    // No hook is there.
    if name == "core.hookspath" && matches!(value.text(), "/dev/null" | "") {
        return None;
    }
    if name.contains(Value::HOLE) || listed(HIDE, &name) || (name.starts_with("url.") && name.contains("ext::")) {
        return unseen();
    }
    if !listed(RUN, &name) || matches!(value.text(), "" | "true" | "false" | "yes" | "no" | "0" | "1") {
        return None;
    }
    let text = if name.starts_with("credential.") || name.starts_with("submodule.") {
        // Else it is the end of a helper's name, or a way to update.
        match value.text().chars().next() {
            Some('!') => cut(&value, 1),
            Some('/' | Value::HOLE) => value,
            _ => return None,
        }
    } else {
        value
    };
    Some(NestedCommand::new(NestedKind::Text { text, args: Vec::new() }, change).perhaps())
}

/// The alias of this name that a setting among the words gives.
fn alias(call: &Call<'_>, at: usize, name: &str, rest: &[Word], change: &ContextChange) -> Option<NestedCommand> {
    let wanted = format!("alias.{}=", name.to_ascii_lowercase());
    let is = |word: &Word| word.text().get(..wanted.len()).is_some_and(|start| start.eq_ignore_ascii_case(&wanted));
    let before = call.words.get(..at).unwrap_or_default();
    let is_attached = |word: &Word| word.text().starts_with("-c") && is(&cut(word, 2));
    let index = before.iter().rposition(|word| is(word) || is_attached(word))?;
    let word = before.get(index)?;
    let value = if is(word) { cut(word, wanted.len()) } else { cut(word, wanted.len() + 2) };
    let Some(text) = value.known() else { return Some(NestedCommand::new(NestedKind::Unseen, change)) };
    if text.starts_with('!') {
        let body = cut(&value, 1);
        let mut change = change.clone();
        // It runs at the top of the worktree.
        let moved = |word: &Word| {
            let text = word.text();
            text.starts_with(Value::HOLE)
                || text == "-C"
                || ["--git-dir", "--work-tree"].iter().any(|name| text.starts_with(name))
        };
        let elsewhere = before.iter().skip(1).any(moved);
        change.cwd = Some(if elsewhere { Directory::Unknown } else { Directory::Top });
        if rest.is_empty() {
            return Some(NestedCommand::new(NestedKind::Text { text: body, args: Vec::new() }, &change));
        }
        let args = std::iter::once(body.clone()).chain(rest.iter().cloned()).collect();
        let text = known(format!("{} \"$@\"", body.text()), &body);
        return Some(NestedCommand::new(NestedKind::Text { text, args }, &change));
    }
    let Some(parts) = split(&value, Rules::Plain) else { return Some(NestedCommand::new(NestedKind::Unseen, change)) };
    // Without this setting, so that an alias of itself has an end.
    let own = if is(word) { index.saturating_sub(1)..index + 1 } else { index..index + 1 };
    let kept = before.iter().enumerate().filter(|(index, _)| !own.contains(index)).map(|(_, word)| word.clone());
    let words = kept.chain(parts).chain(rest.iter().cloned()).collect();
    Some(NestedCommand::new(NestedKind::Command { words, more: false }, change))
}

/// One word is a text; of more, the first is the command and the rest its arguments.
pub(super) fn foreach(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let words = call.words.get(scan.end..).unwrap_or_default();
    let Some((first, args)) = words.split_first() else { return Vec::new() };
    let plain = |word: &Word| !word.text().contains(|c: char| c.is_whitespace() || "|&;<>()$`\\\"'*?[#~=%".contains(c));
    let kind = if args.is_empty() || is_open(first) {
        NestedKind::Text { text: join(words, " "), args: Vec::new() }
    } else if plain(first) {
        NestedKind::Command { words: words.to_vec(), more: false }
    } else {
        let text = join(&[first.clone(), known("\"$@\"", first)], " ");
        NestedKind::Text { text, args: words.to_vec() }
    };
    vec![NestedCommand::new(kind, &change)]
}

/// `git clone -c` takes settings too.
pub(super) fn fetch(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let settings = scan.values(OptionRun::Config).filter_map(|word| setting(word, &change));
    let texts = scan.values(OptionRun::Also).map(|text| NestedKind::Text { text: text.clone(), args: Vec::new() });
    let texts = texts.map(|kind| NestedCommand::new(kind, &change).perhaps());
    settings.chain(texts).collect()
}

/// The words are git's own.
pub(super) fn for_each_repo(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let (Some(git), Some(words)) = (call.words.first(), call.words.get(scan.end..)) else { return Vec::new() };
    let change = ContextChange { times: Times::Perhaps, ..change };
    let words = std::iter::once(git.clone()).chain(words.iter().cloned()).collect();
    vec![NestedCommand::new(NestedKind::Command { words, more: false }, &change)]
}
