//! Programs that make, copy, move and remove files.

use super::options::Arg;
use super::{EffectKind, Mark, ResolvedPath, Run, has_dots_after_a_name, last_name};
use crate::facts::Presence;
use toolgate_shell_syntax::word::{Value, Why};

/// More missing folders above a path than this are not listed.
const MAX_ANCESTORS: usize = 64;

/// Of more folders than this it is not remembered that they were moved.
const MAX_MOVED: usize = 16;

/// Where copies go.
enum Target {
    /// Below this folder, by the names of the sources.
    Into(ResolvedPath),
    /// To this path.
    Exactly(ResolvedPath),
    /// One of the two.
    Either(ResolvedPath),
}

impl Target {
    fn places(&self, run: &Run<'_>, source: &Arg) -> Vec<ResolvedPath> {
        match self {
            Target::Into(folder) => vec![run.inside_of(folder, source)],
            Target::Exactly(place) => vec![place.clone()],
            Target::Either(place) => {
                let unlikely = matches!(source.value, Value::Known(_));
                vec![place.clone(), ResolvedPath { unlikely, ..run.inside_of(place, source) }]
            }
        }
    }
}

/// Splits operands into sources and their target.
fn target<'w>(run: &Run<'_>, operands: &'w [Arg]) -> Option<(&'w [Arg], Target)> {
    if let Some(folder) = run.args.value("t") {
        return Some((operands, Target::Into(run.word(folder))));
    }
    let (last, sources) = operands.split_last()?;
    let place = run.word(last);
    if matches!(last.value, Value::Pattern(_)) {
        // What it finds are sources too, all but the last.
        return Some((operands, Target::Either(place)));
    }
    let first = sources.first()?;
    if run.args.has_any("T no-target-directory") {
        return Some((sources, Target::Exactly(place)));
    }
    let one = sources.len() == 1 && matches!(first.value, Value::Known(_));
    let target = match run.at(&place) {
        Presence::Folder => Target::Into(place),
        // `cp -r a new/` and `mv folder new/` make it.
        Presence::Absent if one && place.slash && run.is_folder(&run.word(first)) => Target::Exactly(place),
        Presence::Unknown if sources.len() == 1 && !place.slash => Target::Either(place),
        _ if place.slash || sources.len() > 1 => Target::Into(place),
        _ => Target::Exactly(place),
    };
    Some((sources, target))
}

/// Whether the folder into which something is put is one.
fn fits(run: &Run<'_>, target: &Target, dest: &ResolvedPath) -> bool {
    match target {
        Target::Into(folder) => run.is_folder(folder),
        Target::Exactly(_) => run.parent_is_folder(dest),
        Target::Either(_) => false,
    }
}

/// Whether a file that is there already may stay as it is, or be asked about.
fn spares(run: &Run<'_>) -> bool {
    run.args.has_any("n no-clobber i interactive u update")
}

/// Whether a file that is there already stays as it is, whatever is asked. Of `-n`, `-i` and `-f` the last one counts.
fn keeps(run: &Run<'_>) -> bool {
    const DECIDE: &[&str] = &["n", "no-clobber", "i", "interactive", "f", "force"];
    let last = run.args.given.iter().rfind(|given| DECIDE.contains(&given.name));
    match last {
        Some(given) => matches!(given.name, "n" | "no-clobber"),
        None => run.args.value("update").and_then(Arg::known).is_some_and(|how| how.starts_with("none")),
    }
}

/// Whether a copy lies beside the original and has a date in its name, so that there is no other of that name:
/// `notes.txt.bak-20260102`, `notes.txt.$(date +%s)`.
fn is_dated_copy(from: &ResolvedPath, dest: &ResolvedPath) -> bool {
    const WORDS: &[&str] = &["", "T", "Z", "backup", "bak", "before", "copy", "old", "orig", "pre", "save", "saved"];
    let named = match &dest.value {
        Value::Known(_) => true,
        Value::Unknown { why, .. } => matches!(why, Why::CommandOutput | Why::Number),
        Value::Pattern(_) => false,
    };
    let Some(suffix) = from.known().and_then(|from| dest.value.text().strip_prefix(from)) else { return false };
    let is_date = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '_' | '+' | ':' | '~' | Value::HOLE);
    let told = suffix.chars().filter(char::is_ascii_digit).count() >= 6 || suffix.contains(Value::HOLE);
    named && told && suffix.starts_with(['.', '-', '_', '~']) && suffix.split(is_date).all(|word| WORDS.contains(&word))
}

/// The copy of a file that is there already, under another name.
fn backup(run: &mut Run<'_>, dest: &ResolvedPath) {
    if run.args.has_any("b backup S") && run.at(dest) != Presence::Absent {
        let suffix = run.args.value("S").and_then(Arg::known).unwrap_or("~").to_owned();
        let place = run.suffixed(dest, &suffix);
        run.add(EffectKind::Create, &place, Mark::possible());
        let here = run.parent(dest).map(|parent| run.under(&parent, &Value::Pattern("*.~*~".into())));
        if let Some(numbered) = here.filter(|_| run.args.has("backup")) {
            run.add(EffectKind::Create, &numbered, Mark::possible());
        }
    }
}

/// `cp`
pub(super) fn copy(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let deep = args.has_any("r a archive");
    let kind = if args.has_any("s symbolic-link l link") { Some(EffectKind::Link) } else { None };
    let Some((sources, target)) = target(run, operands) else { return alone(run, operands) };
    let several_to_one = sources.len() > 1 && matches!(target, Target::Exactly(_));
    for source in sources {
        let from = run.word(source);
        let what = run.at(&from);
        let dests = match &target {
            Target::Into(folder) if args.has("parents") => vec![run.under(folder, &source.value)],
            _ => target.places(run, source),
        };
        let (mut reading, mut dated) = (true, false);
        for dest in dests {
            let at_dest = run.at(&dest);
            let accepted = match what {
                Presence::File => !from.slash && at_dest != Presence::Folder && !dest.slash,
                Presence::Folder => deep && !matches!(at_dest, Presence::File | Presence::Other),
                _ => false,
            };
            let same = dest.is_below(&from) || at_dest == Presence::Other;
            let spared = at_dest != Presence::Absent && spares(run);
            let odd = several_to_one
                || kind.is_some()
                || args.has_any("parents context attributes-only keep-directory-symlink");
            let certain = accepted && run.is_firm(&from) && !same && !spared && !odd && fits(run, &target, &dest);
            let recursive = deep && what != Presence::File;
            if std::mem::take(&mut reading) {
                if args.has_any("l link") {
                    run.add(EffectKind::HardLink, &from, Mark::possible().recursive(recursive));
                }
                run.add(EffectKind::Read, &from, Mark::certain(certain).recursive(recursive).copied());
            }
            let new = at_dest == Presence::Absent;
            dated |= is_dated_copy(&from, &dest);
            let kind = kind.unwrap_or(if new || dated || keeps(run) { EffectKind::Create } else { EffectKind::Write });
            let folder = what == Presence::Folder && new;
            run.add(kind, &dest, Mark::certain(certain).recursive(recursive).folder(folder));
            backup(run, &dest);
        }
        if args.has("parents")
            && let Target::Into(folder) = &target
        {
            let folder = folder.clone();
            let place = run.under(&folder, &source.value);
            missing_folders(run, &place, false, false);
        }
    }
}

/// Editors of the terminal show what they change. `+COMMAND` is no file.
pub(super) fn edit(run: &mut Run<'_>, operands: &[Arg]) {
    let given = run.args.given.iter().filter(|given| given.name == "c").filter_map(|given| given.value.as_ref());
    let plus = operands.iter().filter(|one| one.shape().starts_with('+')).map(|one| one.rest(1));
    for command in given.cloned().chain(plus).collect::<Vec<_>>() {
        saved_as(run, &command);
    }
    for operand in operands.iter().filter(|one| one.known() != Some("-") && !one.shape().starts_with('+')) {
        let place = run.word(operand);
        run.reads(&place);
        run.writes(&place, false);
    }
}

/// A command of vim's that writes to another file: `saveas FILE`, `w FILE`, `redir > FILE`.
fn saved_as(run: &mut Run<'_>, command: &Arg) {
    const NAMES: &[&str] =
        &["w", "write", "sav", "saveas", "redir", "mks", "mksession", "mkv", "mkvimrc", "wundo", "wv"];
    let text = command.shape();
    let in_range = |c: char| c.is_ascii_digit() || ":%.,$+-' ".contains(c);
    let start = text.len() - text.trim_start_matches(in_range).len();
    let end = text[start..].find(|c: char| !c.is_ascii_alphabetic()).map_or(text.len(), |end| start + end);
    // `w !text` runs one.
    let rest = text[end..].strip_prefix('!').unwrap_or(&text[end..]).trim_start();
    let path = rest.trim_start_matches([' ', '>']);
    // `redir END`, `w|q`
    if path == "END" || path.starts_with(['@', '|']) {
        return;
    }
    if NAMES.contains(&&text[start..end]) && !path.is_empty() && !rest.starts_with('!') {
        let path = command.rest(text.len() - path.len());
        // vim puts in the home folder.
        let value = match path.shape().strip_prefix("~/") {
            Some(rest) => Value::Unknown { why: Why::Home(String::new()), shape: format!("{}/{rest}", Value::HOLE) },
            None => path.value.clone(),
        };
        let place = run.place(&value, path.span);
        run.writes(&place, false);
    }
}

/// One operand where two are needed: only an error, unless more words follow.
fn alone(run: &mut Run<'_>, operands: &[Arg]) {
    for operand in operands {
        let place = run.word(operand);
        run.add(EffectKind::Mention, &place, Mark::possible());
    }
}

/// `mv`
pub(super) fn rename(run: &mut Run<'_>, operands: &[Arg]) {
    let Some((sources, target)) = target(run, operands) else { return alone(run, operands) };
    let several_to_one = sources.len() > 1 && matches!(target, Target::Exactly(_));
    // What lies below a folder that was moved is not there any more.
    let mut moved: Vec<ResolvedPath> = Vec::new();
    for source in sources {
        let from = run.word(source);
        let what = run.at(&from);
        let gone = moved.len() > MAX_MOVED || moved.iter().any(|folder| from.is_below(folder));
        if what == Presence::Folder && moved.len() <= MAX_MOVED {
            moved.push(from.clone());
        }
        let mut reading = true;
        for dest in target.places(run, source) {
            let at_dest = run.at(&dest);
            let accepted = match what {
                Presence::File => !from.slash && !dest.slash && at_dest != Presence::Folder,
                Presence::Folder => at_dest == Presence::Absent && !is_dots(source),
                _ => false,
            };
            let spared = at_dest != Presence::Absent && spares(run);
            let odd = several_to_one || dest.is_below(&from) || at_dest == Presence::Other || run.args.has("exchange");
            let certain = accepted && !gone && run.is_firm(&from) && !spared && !odd && fits(run, &target, &dest);
            let recursive = what != Presence::File;
            if std::mem::take(&mut reading) {
                run.add(EffectKind::Move, &from, Mark::certain(certain).recursive(recursive).copied());
            }
            let new = at_dest == Presence::Absent;
            let kind = if new || keeps(run) { EffectKind::Create } else { EffectKind::Write };
            let folder = what == Presence::Folder && new;
            run.add(kind, &dest, Mark::certain(certain).recursive(recursive).folder(folder));
            backup(run, &dest);
        }
    }
}

/// `.` and `..`, alone or at the end, which most programs refuse.
fn is_dots(operand: &Arg) -> bool {
    matches!(last_name(&operand.value), Value::Known(name) if matches!(name.as_str(), "." | ".." | ""))
}

/// `ln`, `link`
pub(super) fn link(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let symbolic = args.has_any("s symbolic");
    let force = args.has_any("f force");
    let keeps_link = args.has_any("n no-dereference");
    let (sources, target) = match target(run, operands) {
        Some(found) => found,
        None => (operands, Target::Into(run.here())),
    };
    let target = match target {
        Target::Into(place) if keeps_link && args.value("t").is_none() && operands.len() == 2 => Target::Either(place),
        target => target,
    };
    for source in sources {
        for dest in target.places(run, source) {
            // A relative text in a symbolic link starts from where the link is.
            let relative = symbolic && !source.shape().starts_with(['/', Value::HOLE]) && !args.has_any("r relative");
            let from = match run.parent(&dest) {
                Some(folder) if relative => {
                    let linked = run.under(&folder, &source.value);
                    ResolvedPath { span: source.span, dots: has_dots_after_a_name(source.shape()), ..linked }
                }
                _ => run.word(source),
            };
            if !symbolic {
                run.add(EffectKind::HardLink, &from, Mark::possible());
            }
            run.add(EffectKind::Read, &from, Mark::possible().copied());
            let at_dest = run.at(&dest);
            // What the facts call absent may be a link that leads nowhere.
            let free = if force { matches!(at_dest, Presence::Absent | Presence::File) } else { false };
            let named = run.word(source);
            let possible = symbolic || (run.at(&named) == Presence::File && run.is_firm(&named));
            let one = sources.len() == 1 || matches!(target, Target::Into(_));
            let plain = !args.has_any("i interactive b backup S F d") && one && !dest.slash && !keeps_link;
            let fresh = at_dest == Presence::Absent && !force;
            let certain = (free || fresh)
                && possible
                && plain
                && fits(run, &target, &dest)
                && !dest.is_below(&run.word(source))
                && (symbolic || !dest.is_below(&from));
            run.add(EffectKind::Link, &dest, Mark::certain(certain));
            backup(run, &dest);
        }
    }
}

/// `mount`: what is bound, moved or laid below another folder gets another name there, and what was there is hidden.
pub(super) fn mount(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let options = || {
        let given = args.given.iter().filter(|given| given.name == "o");
        given.filter_map(|given| given.value.as_ref()).flat_map(|value| value.shape().split(','))
    };
    let binds =
        args.has_any("B bind R rbind M move") || options().any(|option| matches!(option, "bind" | "rbind" | "move"));
    if binds && operands.len() > 1 {
        return mount_again(run, operands);
    }
    // What is written to an overlay is written to its upper folder.
    let upper: Vec<String> =
        options().filter_map(|option| option.strip_prefix("upperdir=")).map(str::to_owned).collect();
    for layer in upper {
        let value = if layer.contains(Value::HOLE) {
            Value::Unknown { why: Why::Expansion, shape: layer }
        } else {
            Value::Known(layer)
        };
        let place = run.place(&value, run.span);
        run.add(EffectKind::HardLink, &place, Mark::possible().recursive(true));
    }
    match operands.split_last() {
        Some((target, devices)) if !devices.is_empty() => {
            alone(run, devices);
            hidden_by_mount(run, target);
        }
        _ => alone(run, operands),
    }
}

/// A folder that is mounted at another place as well: `bindfs FOLDER PLACE`.
pub(super) fn mount_again(run: &mut Run<'_>, operands: &[Arg]) {
    let Some((target, sources)) = operands.split_last().filter(|(_, sources)| !sources.is_empty()) else {
        return alone(run, operands);
    };
    for source in sources {
        let place = run.word(source);
        run.add(EffectKind::HardLink, &place, Mark::possible().recursive(true));
    }
    hidden_by_mount(run, target);
}

/// What is below a mounted folder is not what was there.
fn hidden_by_mount(run: &mut Run<'_>, target: &Arg) {
    let place = run.word(target);
    run.add(EffectKind::Link, &place, Mark::possible().recursive(true).folder(true));
}

/// `install`
pub(super) fn install(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    if args.has_any("d directory") {
        let plain = !args.has_any("g o");
        for operand in operands {
            let place = run.word(operand);
            missing_folders(run, &place, true, plain);
        }
        return;
    }
    let Some((sources, target)) = target(run, operands) else { return alone(run, operands) };
    let leading = args.has("D");
    if leading {
        match &target {
            Target::Into(folder) if args.value("t").is_some() => {
                let folder = folder.clone();
                missing_folders(run, &folder, true, false);
            }
            Target::Exactly(place) => {
                let place = place.clone();
                missing_folders(run, &place, false, false);
            }
            _ => {}
        }
    }
    for source in sources {
        let from = run.word(source);
        let what = run.at(&from);
        let mut reading = true;
        for dest in target.places(run, source) {
            let at_dest = run.at(&dest);
            let plain = !args.has_any("g o s strip C compare context") && mode_is_plain(args.value("m"));
            let free = matches!(at_dest, Presence::Absent | Presence::File) && !dest.slash && !dest.is_below(&from);
            let fits = fits(run, &target, &dest) || (leading && reachable(run, &dest));
            let certain = what == Presence::File && !from.slash && run.is_firm(&from) && plain && free && fits;
            if std::mem::take(&mut reading) {
                run.add(EffectKind::Read, &from, Mark::certain(certain).copied());
            }
            let kind = if at_dest == Presence::Absent { EffectKind::Create } else { EffectKind::Write };
            run.add(kind, &dest, Mark::certain(certain));
            backup(run, &dest);
        }
    }
}

/// Whether a mode is one that every program takes.
fn mode_is_plain(mode: Option<&Arg>) -> bool {
    mode.is_none_or(|mode| mode.known().is_some_and(is_mode))
}

fn is_mode(text: &str) -> bool {
    let octal = (1..=4).contains(&text.len()) && text.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    let clause = |clause: &str| {
        clause
            .trim_start_matches(['u', 'g', 'o', 'a'])
            .strip_prefix(['+', '-', '='])
            .is_some_and(|rest| rest.chars().all(|c| "rwxXst".contains(c)))
    };
    octal || text.split(',').all(clause)
}

/// The folders above a path that are absent, nearest last. `None` if one of them cannot be told or is no folder.
fn missing(run: &Run<'_>, place: &ResolvedPath) -> Option<Vec<ResolvedPath>> {
    let mut missing = Vec::new();
    let mut above = run.parent(place);
    while let Some(folder) = above {
        match run.at(&folder) {
            Presence::Folder => {
                missing.reverse();
                return Some(missing);
            }
            Presence::Absent if missing.len() < MAX_ANCESTORS => {
                above = run.parent(&folder);
                missing.push(folder);
            }
            _ => return None,
        }
    }
    None
}

fn reachable(run: &Run<'_>, place: &ResolvedPath) -> bool {
    missing(run, place).is_some()
}

/// `mkdir -p`: the folders above a path that are absent, and with `itself` the path too.
pub(super) fn missing_folders(run: &mut Run<'_>, place: &ResolvedPath, itself: bool, certain: bool) {
    let above = missing(run, place);
    let certain = certain && above.is_some();
    if above.is_none() {
        // Those of which it is not known may be missing too.
        let here = run.here();
        let mut next = run.parent(place);
        for _ in 0..MAX_ANCESTORS {
            let exists = |folder: &ResolvedPath| run.at(folder) == Presence::Folder || here.is_below(folder);
            let Some(folder) = next.filter(|folder| !exists(folder)) else { break };
            next = run.parent(&folder);
            run.add(EffectKind::Create, &ResolvedPath { unlikely: true, ..folder }, Mark::possible().folder(true));
        }
    }
    for folder in above.unwrap_or_default() {
        run.add(EffectKind::Create, &folder, Mark::certain(certain).folder(true));
    }
    if itself {
        let absent = run.at(place) == Presence::Absent;
        run.add(EffectKind::Create, place, Mark::certain(certain && absent).folder(true));
    }
}

/// `rm`
pub(super) fn remove(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let deep = args.has("r");
    let asks = args.has_any("i I interactive") && !args.has_any("f force");
    for operand in operands {
        let place = run.word(operand);
        let what = run.at(&place);
        let certain = match what {
            Presence::File => !place.slash,
            Presence::Folder => deep && !is_dots(operand) && place.known() != Some("/"),
            _ => false,
        };
        let recursive = deep && what != Presence::File;
        let folder = what == Presence::Folder;
        run.add(EffectKind::Delete, &place, Mark::certain(certain && !asks).recursive(recursive).folder(folder));
    }
}

/// Programs that put files into a bin or remove them by globs of their own.
pub(super) fn trash(run: &mut Run<'_>, operands: &[Arg]) {
    for operand in operands {
        let place = run.word(operand);
        let recursive = run.at(&place) != Presence::File;
        run.add(EffectKind::Delete, &place, Mark::possible().recursive(recursive));
    }
}

/// `rmdir`
pub(super) fn remove_folders(run: &mut Run<'_>, operands: &[Arg]) {
    for operand in operands {
        let place = run.word(operand);
        run.add(EffectKind::Delete, &place, Mark::possible().folder(true));
        if run.args.has_any("p parents") {
            let parts = operand.shape().trim_end_matches('/').matches('/').count().min(MAX_ANCESTORS);
            let mut above = run.parent(&place);
            for _ in 0..parts {
                let Some(folder) = above else { break };
                run.add(EffectKind::Delete, &folder, Mark::possible().folder(true));
                above = run.parent(&folder);
            }
        }
    }
}

/// `unlink`
pub(super) fn unlink(run: &mut Run<'_>, operands: &[Arg]) {
    for operand in operands {
        let place = run.word(operand);
        let certain = operands.len() == 1 && run.at(&place) == Presence::File && !place.slash;
        run.add(EffectKind::Delete, &place, Mark::certain(certain));
    }
}

/// `shred`
pub(super) fn shred(run: &mut Run<'_>, operands: &[Arg]) {
    let removes = run.args.has_any("u remove");
    let plain = !run.args.has_any("n s random-source");
    for operand in operands.iter().filter(|operand| operand.known() != Some("-")) {
        let place = run.word(operand);
        let certain = plain && run.at(&place) == Presence::File && !place.slash;
        run.add(EffectKind::Write, &place, Mark::certain(certain));
        if removes {
            run.add(EffectKind::Delete, &place, Mark::certain(certain));
        }
    }
}

/// `touch`
pub(super) fn touch(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let keeps = args.has_any("c no-create h no-dereference");
    let plain = !args.has_any("d t time r");
    for operand in operands.iter().filter(|operand| operand.known() != Some("-")) {
        let place = run.word(operand);
        let what = run.at(&place);
        let parent = run.parent_is_folder(&place);
        match what {
            Presence::File | Presence::Folder => {
                let certain = plain && !(what == Presence::File && place.slash);
                run.add(EffectKind::Write, &place, Mark::certain(certain));
            }
            Presence::Other => run.add(EffectKind::Write, &place, Mark::possible()),
            Presence::Absent | Presence::Unknown if keeps => run.add(EffectKind::Write, &place, Mark::possible()),
            Presence::Absent | Presence::Unknown => {
                run.add(EffectKind::Create, &place, Mark::certain(plain && parent && !place.slash));
            }
        }
    }
}

/// `mkdir`
pub(super) fn make_folders(run: &mut Run<'_>, operands: &[Arg]) {
    let plain = mode_is_plain(run.args.value("m")) && !run.args.has_any("context Z");
    for operand in operands {
        let place = run.word(operand);
        if run.args.has_any("p parents") {
            missing_folders(run, &place, true, plain);
        } else {
            let certain = plain && run.at(&place) == Presence::Absent && run.parent_is_folder(&place);
            run.add(EffectKind::Create, &place, Mark::certain(certain).folder(true));
        }
    }
}

fn make(run: &mut Run<'_>, operand: &Arg, certain: bool) {
    let place = run.word(operand);
    let free = run.at(&place) == Presence::Absent && run.parent_is_folder(&place) && !place.slash;
    run.add(EffectKind::Create, &place, Mark::certain(free && certain));
}

/// `mkfifo`
pub(super) fn make_pipes(run: &mut Run<'_>, operands: &[Arg]) {
    let plain = mode_is_plain(run.args.value("m")) && !run.args.has("context");
    operands.iter().for_each(|operand| make(run, operand, plain));
}

/// `mknod NAME p`
pub(super) fn make_node(run: &mut Run<'_>, operands: &[Arg]) {
    let pipe = operands.len() == 2 && operands.get(1).and_then(Arg::known) == Some("p");
    let plain = pipe && mode_is_plain(run.args.value("m"));
    operands.iter().take(1).for_each(|operand| make(run, operand, plain));
}

/// `mktemp`: a name that is not known before it runs.
pub(super) fn make_temporary(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    if args.has_any("u dry-run") {
        return;
    }
    let template = operands.first().map_or("tmp.XXXXXXXXXX", Arg::shape);
    // GNU's makes nothing then. After `-t` others take it for a prefix.
    if operands.len() > 1 || !template.contains("XXX") && !template.contains(Value::HOLE) && !args.has_any("t") {
        return;
    }
    let mut glob = super::escaped(template);
    let from = glob.trim_end_matches(|c| c != 'X').trim_end_matches('X').len();
    let suffix = args.value("suffix");
    glob = match suffix {
        Some(suffix) => format!("{}*{}", &glob[..from], super::escaped(suffix.shape())),
        None => format!("{}*", &glob[..from]),
    };
    let unknown_part = operands.first().into_iter().chain(suffix).find_map(|given| match &given.value {
        Value::Unknown { why, .. } => Some(why.clone()),
        _ => None,
    });
    let value = match unknown_part {
        Some(why) => Value::Unknown { why, shape: glob },
        None => Value::Pattern(glob),
    };
    let folder = args.value("p").or_else(|| args.value("tmpdir"));
    let place = match folder {
        Some(folder) if !folder.shape().is_empty() => run.under(&run.word(folder), &value),
        // `$TMPDIR`, as far as is known.
        _ if operands.is_empty() || args.has_any("t p tmpdir") => {
            let temporary = run.place(&Value::Known("/tmp".into()), run.span);
            run.add(
                EffectKind::Create,
                &run.under(&temporary, &value),
                Mark::possible().folder(args.has_any("d directory")),
            );
            ResolvedPath { value: unknown("TMPDIR", &value), ..temporary }
        }
        _ => run.place(&value, run.span),
    };
    run.add(EffectKind::Create, &place, Mark::possible().folder(args.has_any("d directory")));
}

fn unknown(variable: &str, value: &Value) -> Value {
    let shape = format!("{}/{}", Value::HOLE, value.text());
    Value::Unknown { why: Why::Variable(variable.to_owned()), shape }
}

/// `tee`
pub(super) fn tee(run: &mut Run<'_>, operands: &[Arg]) {
    let append = run.args.has_any("a append");
    for operand in operands {
        let place = run.word(operand);
        let certain = run.writable(&place);
        match append {
            true => run.add(EffectKind::Append, &place, Mark::certain(certain)),
            false => run.writes(&place, certain),
        }
    }
}

/// `sponge`
pub(super) fn sponge(run: &mut Run<'_>, operands: &[Arg]) {
    for operand in operands {
        let place = run.word(operand);
        match run.args.has("a") {
            true => run.add(EffectKind::Append, &place, Mark::possible()),
            false => run.writes(&place, false),
        }
    }
}

/// `truncate`
pub(super) fn truncate(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let is_size = |text: &str| {
        let digits = text.trim_end_matches(['K', 'M', 'G', 'B', 'k']);
        !digits.is_empty() && digits.len() < 10 && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let by_size = args.value("s").and_then(Arg::known).is_some_and(is_size) && args.value("r").is_none();
    let by_file = args.value("r").is_some_and(|file| run.at(&run.word(file)) == Presence::File) && !args.has("s");
    let sized = by_size || by_file;
    for operand in operands {
        let place = run.word(operand);
        let there = run.at(&place) == Presence::File;
        let made = !args.has_any("c no-create") && run.writable(&place);
        run.writes(&place, sized && !args.has_any("o io-blocks") && !place.slash && (there || made));
    }
}

/// `dd`
pub(super) fn dd(run: &mut Run<'_>, operands: &[Arg]) {
    let named = |name: &'static str| {
        let named = operands.iter().filter(move |operand| operand.shape().starts_with(name));
        named.map(|operand| operand.rest(name.len()))
    };
    let mut plain = true;
    for operand in operands {
        let (name, value) = operand.shape().split_once('=').unwrap_or_default();
        let number =
            !value.is_empty() && value.len() < 8 && value.trim_end_matches(['k', 'K', 'M']).parse::<u32>().is_ok();
        plain &= match name {
            "if" | "of" => true,
            "bs" | "ibs" | "obs" => number && !value.starts_with('0'),
            "count" | "seek" | "skip" => number,
            "status" => matches!(value, "none" | "noxfer"),
            "conv" => matches!(value, "notrunc" | "fsync" | "sync"),
            _ => false,
        };
    }
    for input in named("if=") {
        let place = run.word(&input);
        let endless = matches!(place.known(), Some("/dev/zero" | "/dev/urandom" | "/dev/random"));
        let stream = place.known().is_some_and(super::is_stream) || (endless && named("count=").next().is_some());
        plain &= (run.at(&place) == Presence::File && run.is_firm(&place)) || stream;
        let mark = Mark::certain(run.at(&place) == Presence::File);
        run.add(EffectKind::Read, &place, if endless || stream { mark } else { mark.copied() });
    }
    for output in named("of=") {
        let place = run.word(&output);
        let certain = plain && run.writable(&place);
        run.writes(&place, certain);
    }
}

/// Names that begin with a prefix.
fn prefixed(run: &mut Run<'_>, prefix: Option<&Arg>, default: &str) {
    let value = match prefix.map(|prefix| &prefix.value) {
        Some(Value::Known(text)) => Value::Pattern(format!("{}*", super::escaped(text))),
        Some(Value::Pattern(text)) => Value::Pattern(format!("{text}*")),
        Some(Value::Unknown { why, shape }) => Value::Unknown { why: why.clone(), shape: shape.clone() },
        None => Value::Pattern(format!("{default}*")),
    };
    let place = run.place(&value, prefix.map_or(run.span, |prefix| prefix.span));
    run.add(EffectKind::Create, &place, Mark::possible());
}

/// `split FILE PREFIX`
pub(super) fn split(run: &mut Run<'_>, operands: &[Arg]) {
    if let Some(file) = operands.first().filter(|file| file.known() != Some("-")) {
        let place = run.word(file);
        run.reads(&place);
    }
    if !run.args.has("filter") {
        // Of the files that a glob finds, the second is the prefix.
        let glob = operands.first().filter(|first| matches!(first.value, Value::Pattern(_)));
        prefixed(run, operands.get(1), "x");
        if glob.is_some() {
            prefixed(run, glob, "x");
        }
    }
}

/// `csplit FILE PATTERN ..`
pub(super) fn csplit(run: &mut Run<'_>, operands: &[Arg]) {
    if let Some(file) = operands.first().filter(|file| file.known() != Some("-")) {
        let place = run.word(file);
        run.reads(&place);
    }
    prefixed(run, run.args.value("f"), "xx");
}

/// `chmod`
pub(super) fn mode(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    // `chmod -w f`: a mode that looks like an option.
    let as_option = args.has_any("r w x X s u g o a") || !args.loose.is_empty();
    let (mode, files) = if args.has("reference") || as_option {
        (None, operands)
    } else {
        match operands.split_first() {
            Some((mode, files)) => (Some(mode), files),
            None => return,
        }
    };
    if let Some(reference) = args.value("reference") {
        let place = run.word(reference);
        run.reads(&place);
    }
    let plain = mode.is_some_and(|mode| mode.known().is_some_and(is_mode));
    changes_mode(run, files, plain);
}

fn changes_mode(run: &mut Run<'_>, files: &[Arg], certain: bool) {
    let deep = run.args.has_any("R recursive");
    for file in files {
        let place = run.word(file);
        let what = run.at(&place);
        let there = matches!(what, Presence::File | Presence::Folder) && !(what == Presence::File && place.slash);
        let recursive = deep && what != Presence::File;
        run.add(EffectKind::Mode, &place, Mark::certain(certain && there).recursive(recursive));
    }
}

/// `chown`, `chgrp`
pub(super) fn owner(run: &mut Run<'_>, operands: &[Arg]) {
    let skip = usize::from(!run.args.has("reference"));
    changes_mode(run, operands.get(skip..).unwrap_or_default(), false);
}

/// `setfacl`, `chattr` and the like, whose first operand may be what to set.
pub(super) fn attributes(run: &mut Run<'_>, operands: &[Arg]) {
    let first = usize::from(match run.name {
        "chattr" => operands.first().is_some_and(|first| first.shape().starts_with(['+', '-', '='])),
        "chflags" | "setcap" => !run.args.has("r"),
        "xattr" => operands.len() > 1,
        "chcon" => !run.args.has_any("t u r l reference"),
        _ => false,
    });
    changes_mode(run, operands.get(first..).unwrap_or_default(), false);
}

/// `rsync`
pub(super) fn rsync(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    // What listens at another port is most often another machine.
    let far = args.value("e").is_some_and(|shell| shell.shape().contains("-p"));
    let here = |operand: &Arg| if far { operand.clone() } else { super::network::without_own_host(operand) };
    let own: Vec<Arg> = operands.iter().map(here).collect();
    let Some((dest, sources)) = own.split_last().filter(|(_, sources)| !sources.is_empty()) else {
        return alone(run, operands);
    };
    let far = super::network::is_remote(dest);
    let dry = args.has_any("n list-only");
    let deep = args.has_any("a r");
    let place = run.word(dest);
    let globs = sources.iter().any(|source| matches!(source.value, Value::Pattern(_)));
    let several = sources.len() > 1 || place.slash || globs || run.is_folder(&place);
    if matches!(dest.value, Value::Pattern(_)) && !dry {
        // What it finds are sources too, all but the last.
        run.below(EffectKind::Write, &place);
    }
    if several && !far && !dry && !run.is_folder(&place) {
        run.add(EffectKind::Create, &place, Mark::possible().folder(true));
    }
    // What is the same there as in a source becomes a hard link to it.
    let link_dests = args.given.iter().filter(|given| given.name == "link-dest" && !dry && !far);
    for folder in link_dests.filter_map(|given| given.value.as_ref()) {
        // A relative one is below the target.
        let folder = if folder.shape().starts_with(['/', Value::HOLE]) {
            run.word(folder)
        } else {
            run.under(&place, &folder.value)
        };
        run.add(EffectKind::HardLink, &folder, Mark::possible().recursive(true));
    }
    for source in sources {
        if super::network::is_remote(source) {
            run.send(source);
        } else {
            let from = run.word(source);
            let recursive = deep && run.at(&from) != Presence::File;
            let kind = if args.has("remove-source-files") && !dry { EffectKind::Move } else { EffectKind::Read };
            run.add(kind, &from, Mark::possible().recursive(recursive).copied());
        }
        if far || dry {
            continue;
        }
        let content = source.shape().ends_with('/');
        let folder = run.is_folder(&run.word(source));
        let what = run.at(&run.word(source));
        let to = if content || (several && args.has("R")) {
            place.clone()
        } else if several || folder {
            run.inside_of(&place, &super::network::remote_part(source))
        } else {
            place.clone()
        };
        let kind = if run.at(&to) == Presence::Absent { EffectKind::Create } else { EffectKind::Write };
        run.add(kind, &to, Mark::possible().recursive(deep && what != Presence::File));
    }
    if far {
        run.send(dest);
    } else if !dry && args.has_any("delete del delete-before delete-after delete-during delete-delay delete-excluded") {
        run.below(EffectKind::Delete, &place);
    }
}

/// `shuf`: with `-e` and `-i` the operands are no files.
pub(super) fn shuf(run: &mut Run<'_>, operands: &[Arg]) {
    if !run.args.has_any("e i") {
        for operand in operands.iter().filter(|operand| operand.known() != Some("-")) {
            let place = run.word(operand);
            run.reads(&place);
        }
    }
}

/// `sort -o OUT FILE ..`
pub(super) fn sort(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let mut plain = args.value("o").is_some() && !operands.is_empty() && !args.has_any("c C check");
    plain &= args.given.iter().all(|given| given.value.is_none() || given.name == "o");
    for operand in operands.iter().filter(|operand| operand.known() != Some("-")) {
        let place = run.word(operand);
        plain &= run.at(&place) == Presence::File && !place.slash && run.is_firm(&place);
        run.reads(&place);
    }
    if let Some(output) = args.value("o") {
        let place = run.word(output);
        let certain = plain && run.writable(&place);
        run.writes(&place, certain);
    }
}

/// Programs that read their first operand and write the second: `uniq`, `xxd`.
pub(super) fn into_second(run: &mut Run<'_>, operands: &[Arg]) {
    let plain = run.name == "uniq" && operands.len() == 2 && run.args.given.iter().all(|given| given.value.is_none());
    let plain = plain
        && operands
            .first()
            .map(|first| run.word(first))
            .is_some_and(|first| run.at(&first) == Presence::File && run.is_firm(&first));
    for (index, operand) in operands.iter().enumerate().filter(|(_, operand)| operand.known() != Some("-")) {
        let place = run.word(operand);
        match index {
            1 => {
                let certain = plain && run.writable(&place);
                run.writes(&place, certain);
            }
            // Some without a second one work on the first.
            0 if operands.len() == 1 && run.name == "objcopy" => run.writes(&place, false),
            _ => run.reads(&place),
        }
    }
}

/// The last of several is the output.
pub(super) fn into_last(run: &mut Run<'_>, operands: &[Arg]) {
    let Some((last, rest)) = operands.split_last().filter(|(_, rest)| !rest.is_empty()) else {
        return alone(run, operands);
    };
    rest.iter().for_each(|operand| run.mention(operand));
    if last.known() != Some("-") {
        let place = run.word(last);
        run.writes(&place, false);
    }
}

/// `history -w FILE` and `-a FILE` write; `-r FILE` and `-n FILE` read.
pub(super) fn history(run: &mut Run<'_>, operands: &[Arg]) {
    let Some(file) = operands.first().filter(|file| !file.shape().bytes().all(|byte| byte.is_ascii_digit())) else {
        return;
    };
    let place = run.word(file);
    if run.args.has("w") {
        run.writes(&place, false);
    } else if run.args.has("a") {
        run.add(EffectKind::Append, &place, Mark::possible());
    } else {
        run.reads(&place);
    }
}

/// `tmux save-buffer FILE` writes; what its other commands run is found by reading them.
pub(super) fn tmux(run: &mut Run<'_>, operands: &[Arg]) {
    let saves = operands.first().and_then(Arg::known).is_some_and(|name| matches!(name, "save-buffer" | "saveb"));
    match operands.split_last().filter(|(_, rest)| saves && !rest.is_empty()) {
        Some((file, _)) if file.known() == Some("-") => {}
        Some((file, _)) => {
            let place = run.word(file);
            run.writes(&place, false);
        }
        None => operands.iter().for_each(|operand| run.mention(operand)),
    }
}

/// `fdupes -d`: files that are there twice are removed.
pub(super) fn duplicates(run: &mut Run<'_>, operands: &[Arg]) {
    for operand in operands {
        let place = run.word(operand);
        run.add(EffectKind::Read, &place, Mark::possible().recursive(true));
        if run.args.has("d") {
            run.below(EffectKind::Delete, &place);
        }
    }
}

/// `test` and `[`: they look at files, and read nothing in them.
pub(super) fn test(_: &mut Run<'_>, _: &[Arg]) {}

/// `rename`: the files get names that are not known before it runs.
pub(super) fn rename_by(run: &mut Run<'_>, operands: &[Arg]) {
    let dry = run.args.has("n");
    for operand in operands {
        let place = run.word(operand);
        let kind = if dry { EffectKind::Mention } else { EffectKind::Move };
        run.add(kind, &place, Mark::possible().recursive(!dry));
        if let Some(folder) = run.parent(&place).filter(|_| !dry) {
            let any = run.under(&folder, &Value::Pattern("*".into()));
            run.add(EffectKind::Write, &any, Mark::possible());
        }
    }
}

/// `crudini --set FILE ..`
pub(super) fn ini(run: &mut Run<'_>, operands: &[Arg]) {
    let writes = operands.iter().any(|arg| matches!(arg.known(), Some("--set" | "--del" | "--merge")));
    if let Some(file) = operands.iter().find(|arg| !arg.shape().starts_with('-')) {
        let place = run.word(file);
        match writes {
            true => run.writes(&place, false),
            false => run.reads(&place),
        }
    }
}
