//! Programs that look for files.

use super::options::Arg;
use super::{EffectKind, Mark, ResolvedPath, Run};
use crate::facts::Presence;

/// `find`
pub(super) fn find(run: &mut Run<'_>, operands: &[Arg]) {
    let is_test = |arg: &Arg| {
        let text = arg.shape();
        text.starts_with('-') && !matches!(text, "-H" | "-L" | "-P") || matches!(text, "(" | "!" | ")" | ",")
    };
    // `-D` tells of what it does, and takes which of that.
    let told = |at: usize| operands.get(at).is_some_and(|arg| arg.known() == Some("-D"));
    let first = (0..operands.len()).find(|at| {
        let is_value = at.checked_sub(1).is_some_and(told);
        !told(*at) && !is_value && operands.get(*at).is_some_and(is_test)
    });
    let (starts, tests) = operands.split_at(first.unwrap_or(operands.len()));
    let starts: Vec<ResolvedPath> =
        starts.iter().filter(|arg| !arg.shape().starts_with('-')).map(|arg| run.word(arg)).collect();
    let starts = if starts.is_empty() { vec![run.here()] } else { starts };
    let mut deletes = false;
    let mut at = 0;
    let mut files = Vec::new();
    while let Some(arg) = tests.get(at) {
        let value = tests.get(at + 1);
        match arg.known().unwrap_or_default() {
            "-delete" => deletes = true,
            writes @ ("-fprint" | "-fprint0" | "-fls" | "-fprintf") => {
                files.extend(value.map(|value| (EffectKind::Write, run.word(value))));
                at += if writes == "-fprintf" { 2 } else { 1 };
            }
            "-anewer" | "-cnewer" | "-samefile" | "-files0-from" => {
                files.extend(value.map(|value| (EffectKind::Read, run.word(value))));
                at += 1;
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let ends = |end: &usize| match tests[*end].known() {
                    Some("+") => tests[*end - 1].known() == Some("{}"),
                    text => text == Some(";"),
                };
                at = (at + 1..tests.len()).find(ends).unwrap_or(tests.len());
            }
            // `-newermt`: a time; `-neweram`: that of a file.
            newer if newer.starts_with("-newer") => {
                files.extend(value.filter(|_| !newer.ends_with('t')).map(|value| (EffectKind::Read, run.word(value))));
                at += 1;
            }
            // Their value may look like a test.
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-regex" | "-iregex" | "-lname" | "-type"
            | "-printf" | "-size" | "-perm" | "-user" | "-group" | "-mtime" | "-mmin" | "-maxdepth" | "-mindepth"
            | "-uid" | "-gid" | "-inum" | "-links" | "-ctime" | "-cmin" | "-atime" | "-amin" | "-used" | "-fstype"
            | "-context" | "-xtype" | "-regextype" | "-ilname" | "-iwholename" => at += 1,
            _ => {}
        }
        at += 1;
    }
    // It opens the directory it runs in, to come back to it.
    let here = run.here();
    if starts.iter().all(|start| start.value != here.value) {
        run.add(EffectKind::Read, &here, Mark::possible());
    }
    for start in &starts {
        let what = run.at(start);
        run.add(EffectKind::Read, start, Mark::certain(false).recursive(what != Presence::File));
        if deletes {
            run.add(EffectKind::Delete, start, Mark::possible());
            run.below(EffectKind::Delete, start);
        }
    }
    for (kind, place) in files {
        match kind {
            EffectKind::Write => {
                let certain = tests.len() <= 2 && run.writable(&place);
                run.writes(&place, certain);
            }
            kind => run.add(kind, &place, Mark::possible()),
        }
    }
}

/// `fd PATTERN FOLDER ..`
pub(super) fn fd(run: &mut Run<'_>, operands: &[Arg]) {
    let end = run.args.given.iter().filter(|given| matches!(given.name, "x" | "X")).count();
    let mut places: Vec<ResolvedPath> = operands.iter().skip(1).map(|folder| run.word(folder)).collect();
    // The words of what it runs are among them.
    places.retain(|place| end == 0 || run.is_folder(place));
    if places.is_empty() {
        places.push(run.here());
    }
    for place in places {
        run.add(EffectKind::Read, &place, Mark::possible().recursive(true));
    }
}
