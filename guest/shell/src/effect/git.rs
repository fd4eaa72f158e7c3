//! `git`: what its commands do to the worktree, to `.git` and in the network.

use super::options::Arg;
use super::{EffectKind, Mark, Named, ResolvedPath, Run, script};
use crate::facts::Presence;
use toolgate_shell_syntax::path::{absolute, parent};
use toolgate_shell_syntax::word::{Value, Why};

/// How far up the folder of the repository is looked for.
const MAX_ANCESTORS: usize = 64;

/// The folder that holds `.git`, as far as the facts tell.
fn root(run: &Run<'_>) -> ResolvedPath {
    let here = run.here();
    let above = here.known().into_iter().flat_map(|here| std::iter::successors(Some(here), |at| parent(at)));
    let found = above.take(MAX_ANCESTORS).find(|folder| {
        let own = absolute(".git", folder);
        matches!(run.look.look(&own), Presence::File | Presence::Folder)
    });
    match found.map(str::to_owned) {
        Some(folder) if here.known() != Some(folder.as_str()) => {
            ResolvedPath { value: Value::Known(folder), slash: false, ..here }
        }
        _ => here,
    }
}

/// What git keeps for itself.
pub(super) fn own(run: &mut Run<'_>, _: &[Arg]) {
    let folder = root(run);
    own_of(run, &folder);
}

/// The same for the repository of this worktree.
fn own_of(run: &mut Run<'_>, folder: &ResolvedPath) {
    let place = run.under(folder, &Value::Pattern(".git/**".into()));
    run.add(EffectKind::Write, &place, Mark::possible());
    run.add(EffectKind::Delete, &place, Mark::possible());
}

/// Files, whose contents it may keep in the repository.
pub(super) fn hash(run: &mut Run<'_>, operands: &[Arg]) {
    for operand in operands {
        let place = run.word(operand);
        run.reads(&place);
    }
    if run.args.has("w") {
        own(run, operands);
    }
}

/// Any file of the worktree.
pub(super) fn tree(run: &mut Run<'_>, _: &[Arg]) {
    let folder = root(run);
    own_of(run, &folder);
    run.below(EffectKind::Write, &folder);
    run.below(EffectKind::Delete, &folder);
}

/// Paths after `--`, or all operands if there are only paths.
fn paths<'w>(run: &Run<'_>, operands: &'w [Arg]) -> Option<&'w [Arg]> {
    run.args.before_dashes.and_then(|at| operands.get(at..))
}

/// Paths of the worktree. A pathspec may be magic: `:/` and `:(glob)`.
fn each(run: &mut Run<'_>, kind: EffectKind, operands: &[Arg], mark: Mark) {
    for operand in operands {
        if operand.shape().starts_with(':') {
            let folder = root(run);
            run.below(kind, &folder);
            continue;
        }
        let mut place = run.word(operand);
        // A quoted glob is for git itself.
        if let Value::Known(path) = &place.value
            && operand.known().is_some_and(|text| text.contains(['*', '?', '[']))
        {
            place.value = Value::Pattern(path.clone());
        }
        let recursive = mark.recursive && run.at(&place) != Presence::File;
        run.add(kind, &place, mark.recursive(recursive));
    }
}

const DEEP: Mark = Mark { certain: false, recursive: true, folder: false, copied: false, used: false };

pub(super) fn add(run: &mut Run<'_>, operands: &[Arg]) {
    each(run, EffectKind::Read, operands, DEEP);
    if !run.args.has("n") {
        own(run, operands);
    }
}

pub(super) fn commit(run: &mut Run<'_>, operands: &[Arg]) {
    if !run.args.has("dry-run") {
        own(run, operands);
    }
    each(run, EffectKind::Read, operands, DEEP);
}

/// Commands that only show something; operands before `--` may be revisions.
pub(super) fn inspect(run: &mut Run<'_>, operands: &[Arg]) {
    let split = run.args.before_dashes.unwrap_or(operands.len()).min(operands.len());
    let (before, after) = operands.split_at(split);
    for operand in before {
        run.mention(operand);
    }
    each(run, EffectKind::Read, after, DEEP);
    if run.name == "format-patch" && !run.args.has("o") {
        run.implied(EffectKind::Write, "*.patch");
    }
}

pub(super) fn apply(run: &mut Run<'_>, operands: &[Arg]) {
    for operand in operands.iter().filter(|operand| operand.known() != Some("-")) {
        let place = run.word(operand);
        run.reads(&place);
    }
    if run.args.has_any("check stat numstat summary") {
        return;
    }
    if run.args.has_any("cached index") {
        own(run, operands);
    }
    if !run.args.has("cached") {
        run.implied(EffectKind::Write, "**");
        run.implied(EffectKind::Delete, "**");
        applied(run, operands);
    }
}

/// `git am MAIL`
pub(super) fn mails(run: &mut Run<'_>, operands: &[Arg]) {
    tree(run, operands);
    applied(run, operands);
}

/// The files that diffs name.
fn applied(run: &mut Run<'_>, diffs: &[Arg]) {
    let args = run.args;
    let strip: (_, &[usize]) = (args.value("p"), &[1]);
    let within = args.value("directory");
    if diffs.is_empty() {
        script::named_in_diff(run, None, strip, within);
    }
    diffs.iter().for_each(|diff| script::named_in_diff(run, Some(diff), strip, within));
}

pub(super) fn checkout(run: &mut Run<'_>, operands: &[Arg]) {
    if run.args.has_any("b B orphan") {
        return match operands.is_empty() {
            true => own(run, operands),
            false => tree(run, operands),
        };
    }
    if let Some(after) = paths(run, operands) {
        own(run, operands);
        return each(run, EffectKind::Write, after, DEEP);
    }
    // Without `--` the first may be a branch or a path.
    let Some((first, rest)) = operands.split_first() else { return own(run, operands) };
    let place = run.word(first);
    let named = run.at(&place);
    let surely_path =
        place.slash || first.shape().contains(['*', ':']) || matches!(named, Presence::File | Presence::Folder);
    if surely_path {
        own(run, operands);
        return each(run, EffectKind::Write, operands, DEEP);
    }
    if !rest.is_empty() {
        own(run, operands);
        run.mention(first);
        if named == Presence::Unknown {
            each(run, EffectKind::Write, &operands[..1], DEEP);
        }
        return each(run, EffectKind::Write, rest, DEEP);
    }
    if named == Presence::Unknown {
        run.mention(first);
    }
    // A file that is gone from the worktree comes back.
    let name = ResolvedPath { value: as_glob(&place.value), ..place };
    run.add(EffectKind::Write, &name, Mark::possible());
    tree(run, operands);
}

fn as_glob(value: &Value) -> Value {
    match value {
        Value::Known(text) => Value::Pattern(super::escaped(text)),
        value => value.clone(),
    }
}

pub(super) fn switch(run: &mut Run<'_>, operands: &[Arg]) {
    match run.args.has_any("c C orphan") && operands.is_empty() {
        true => own(run, operands),
        false => tree(run, operands),
    }
}

pub(super) fn clean(run: &mut Run<'_>, operands: &[Arg]) {
    if run.args.has("n") {
        return;
    }
    // Of the folder it works in, it removes only what is in it and git does not know.
    let (here, named): (Vec<Arg>, Vec<Arg>) =
        operands.iter().cloned().partition(|operand| matches!(operand.known(), Some("." | "./")));
    if named.is_empty() || !here.is_empty() {
        run.implied(EffectKind::Delete, "**");
    }
    each(run, EffectKind::Delete, &named, DEEP);
}

/// `git clone ADDRESS FOLDER`
pub(super) fn clone(run: &mut Run<'_>, operands: &[Arg]) {
    let Some(source) = operands.first() else { return };
    if super::network::is_remote(source) || source.shape().contains("://") {
        run.send(source);
    } else {
        let from = run.word(source);
        run.add(EffectKind::Read, &from, Mark::possible().recursive(true));
    }
    let place = match operands.get(1) {
        Some(folder) => run.word(folder),
        None => {
            let text = source.shape().trim_end_matches('/');
            let text = text.strip_suffix("/.git").unwrap_or(text);
            let name = text.rsplit(['/', ':']).next().unwrap_or(text);
            let name = name.strip_suffix(".git").or_else(|| name.strip_suffix(".bundle")).unwrap_or(name);
            let name = if run.args.has_any("bare mirror") { format!("{name}.git") } else { name.to_owned() };
            let value = match &source.value {
                Value::Pattern(_) => Value::hole(Why::Glob),
                value => value.part(name),
            };
            run.place(&value, source.span)
        }
    };
    super::files::missing_folders(run, &place, false, false);
    run.add(EffectKind::Create, &place, Mark::possible().recursive(true).folder(true));
}

pub(super) fn config(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let words = match operands.first().and_then(Arg::known) {
        Some("set" | "unset" | "edit" | "rename-section" | "remove-section") => 2,
        Some("get" | "list") => 0,
        _ => operands.len(),
    };
    let reads = args.has_any("get get-all get-regexp l get-urlmatch get-color blob");
    let changes = args.has_any("e unset unset-all add replace-all rename-section remove-section");
    if reads || (words < 2 && !changes) {
        // It prints all that looks like a setting.
        if let Some(file) = args.value("f") {
            let place = run.word(file);
            run.reads(&place);
        }
        return;
    }
    if let Some(file) = args.value("f") {
        let place = run.word(file);
        run.writes(&place, false);
    } else if args.has("global") {
        let value = Value::Unknown { why: Why::Home(String::new()), shape: format!("{}/.gitconfig", Value::HOLE) };
        let place = ResolvedPath { named: Named::No, ..run.place(&value, run.span) };
        run.add(EffectKind::Write, &place, Mark::possible());
    } else if args.has("system") {
        let place = ResolvedPath { named: Named::No, ..run.place(&Value::Pattern("/etc/gitconfig".into()), run.span) };
        run.add(EffectKind::Write, &place, Mark::possible());
    } else {
        own(run, operands);
    }
}

/// `git merge-file FILE BASE OTHER`
pub(super) fn merge_file(run: &mut Run<'_>, operands: &[Arg]) {
    for (index, operand) in operands.iter().enumerate() {
        let place = run.word(operand);
        run.reads(&place);
        if index == 0 && !run.args.has_any("p object-id") {
            run.writes(&place, false);
        }
    }
}

pub(super) fn fetch(run: &mut Run<'_>, operands: &[Arg]) {
    remote(run, operands);
    own(run, operands);
}

pub(super) fn remote(run: &mut Run<'_>, operands: &[Arg]) {
    operands.iter().take(1).for_each(|operand| run.send(operand));
    if run.name == "push" {
        own(run, operands);
    }
}

pub(super) fn pull(run: &mut Run<'_>, operands: &[Arg]) {
    remote(run, operands);
    tree(run, operands);
}

pub(super) fn init(run: &mut Run<'_>, operands: &[Arg]) {
    let folder = match operands.first() {
        Some(folder) => {
            let place = run.word(folder);
            super::files::missing_folders(run, &place, false, false);
            run.add(EffectKind::Create, &place, Mark::possible().recursive(true).folder(true));
            place
        }
        None => run.here(),
    };
    let files = if run.args.has("bare") { "**" } else { ".git/**" };
    let place = run.under(&folder, &Value::Pattern(files.into()));
    run.add(EffectKind::Create, &place, Mark::possible());
    if !run.args.has("bare") {
        let place = run.under(&folder, &Value::Pattern(".git".into()));
        run.add(EffectKind::Create, &place, Mark::possible().folder(true));
    }
}

pub(super) fn rename(run: &mut Run<'_>, operands: &[Arg]) {
    if run.args.has("n") {
        return;
    }
    let sure = std::mem::replace(&mut run.sure, false);
    super::files::rename(run, operands);
    own(run, operands);
    run.sure = sure;
}

pub(super) fn reset(run: &mut Run<'_>, operands: &[Arg]) {
    match run.args.has_any("hard merge keep") {
        true => tree(run, operands),
        false => own(run, operands),
    }
}

pub(super) fn restore(run: &mut Run<'_>, operands: &[Arg]) {
    own(run, operands);
    if !run.args.has("S") || run.args.has("W") {
        each(run, EffectKind::Write, operands, DEEP);
    }
}

pub(super) fn remove(run: &mut Run<'_>, operands: &[Arg]) {
    if run.args.has("n") {
        return;
    }
    own(run, operands);
    if !run.args.has("cached") {
        each(run, EffectKind::Delete, operands, Mark { recursive: run.args.has("r"), ..DEEP });
    }
}

pub(super) fn bundle(run: &mut Run<'_>, operands: &[Arg]) {
    if let Some(file) = operands.first() {
        let place = run.word(file);
        run.writes(&place, false);
    }
}

pub(super) fn submodule_add(run: &mut Run<'_>, operands: &[Arg]) {
    clone(run, operands);
    own(run, operands);
    run.implied(EffectKind::Write, ".gitmodules");
}

pub(super) fn worktree_add(run: &mut Run<'_>, operands: &[Arg]) {
    if let Some(folder) = operands.first() {
        let place = run.word(folder);
        super::files::missing_folders(run, &place, false, false);
        run.add(EffectKind::Create, &place, Mark::possible().recursive(true).folder(true));
    }
    own(run, operands);
}

pub(super) fn worktree_remove(run: &mut Run<'_>, operands: &[Arg]) {
    for folder in operands {
        let place = run.word(folder);
        run.add(EffectKind::Delete, &place, Mark::possible().recursive(true).folder(true));
    }
    own(run, operands);
}
