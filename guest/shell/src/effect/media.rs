//! Documents, pictures, databases and keys: programs that make one file of another.

use super::build::{derived, sources};
use super::options::Arg;
use super::{EffectKind, Mark, ResolvedPath, Run};
use toolgate_shell_syntax::word::Value;

/// `dot`: with `-O` the outputs are named after the inputs.
pub(super) fn dot(run: &mut Run<'_>, operands: &[Arg]) {
    sources(run, operands);
    for operand in operands.iter().filter(|_| run.args.has("O")) {
        let place = run.word(operand);
        let place =
            ResolvedPath { value: Value::Pattern(format!("{}.*", super::escaped(place.value.text()))), ..place };
        run.add(EffectKind::Write, &place, Mark::possible());
    }
}

pub(super) fn latex(run: &mut Run<'_>, operands: &[Arg]) {
    sources(run, operands);
    let folder = run.args.value("output-directory").or_else(|| run.args.value("outdir"));
    let folder = folder.map_or_else(|| run.here(), |folder| run.word(folder));
    let any = run.under(&folder, &Value::Pattern("*".into()));
    run.add(EffectKind::Write, &any, Mark::possible());
}

/// Options of ffmpeg without a value.
const SWITCHES: &[&str] =
    &["-y", "-n", "-an", "-vn", "-sn", "-dn", "-shortest", "-copyts", "-hide_banner", "-nostdin", "-nostats"];

/// `ffmpeg -i IN .. OUT ..`
pub(super) fn ffmpeg(run: &mut Run<'_>, operands: &[Arg]) {
    let Some((last, rest)) = operands.split_last() else { return };
    for pair in operands.windows(2) {
        if let [name, value] = pair
            && name.known() == Some("-i")
            && value.known() != Some("-")
        {
            let place = run.word(value);
            run.reads(&place);
        }
    }
    // Words behind a switch, or behind an input, are outputs.
    for (index, operand) in rest.iter().enumerate().skip(1) {
        let before = rest[index - 1].shape();
        if !operand.shape().starts_with('-') && SWITCHES.contains(&before) {
            let place = run.word(operand);
            run.writes(&place, false);
        }
    }
    for three in rest.windows(3) {
        if let [name, _, output] = three
            && name.known() == Some("-i")
            && !output.shape().starts_with('-')
        {
            let place = run.word(output);
            run.writes(&place, false);
        }
    }
    let is_input = rest.last().and_then(Arg::known) == Some("-i");
    if !is_input && !last.shape().starts_with('-') {
        let place = run.word(last);
        run.writes(&place, false);
        // `%03d` numbers the frames.
        if let Some(path) = place.known().filter(|path| path.contains('%')) {
            let glob = super::escaped(path.split('%').next().unwrap_or_default());
            run.add(
                EffectKind::Write,
                &ResolvedPath { value: Value::Pattern(format!("{glob}*")), ..place },
                Mark::possible(),
            );
        }
    }
}

/// `convert IN .. OUT`; values of options stand between.
pub(super) fn convert(run: &mut Run<'_>, operands: &[Arg]) {
    let Some((last, rest)) = operands.split_last() else { return };
    for operand in rest.iter().filter(|operand| !operand.shape().starts_with(['-', '+'])) {
        run.mention(operand);
    }
    if !last.shape().starts_with('-') && !rest.is_empty() {
        let text = last.shape();
        // `png:FILE` says the format.
        let from = text.find(':').filter(|at| *at > 1 && !text[..*at].contains('/')).map_or(0, |at| at + 1);
        if text.get(from..) != Some("-") {
            let place = if from > 0 { run.word(&last.rest(from)) } else { run.word(last) };
            run.writes(&place, false);
        }
    }
}

/// SQL that writes a file: `vacuum into 'FILE'`, `copy T to 'FILE'`.
fn exported(run: &mut Run<'_>, sql: &Arg) {
    let text = sql.shape();
    let lower = text.to_ascii_lowercase();
    for (verb, mark) in [("vacuum", "into '"), ("copy", "to '")] {
        let Some(at) = lower.find(verb).and_then(|from| Some(from + lower[from..].find(mark)? + mark.len())) else {
            continue;
        };
        if let Some(end) = text.get(at..).and_then(|rest| rest.find('\'')) {
            let place = run.place(&sql.value.part(text[at..at + end].to_owned()), sql.span);
            run.writes(&place, false);
        }
    }
}

/// `sqlite3 FILE SQL`: the text may change the file, and the journal stands beside it.
pub(super) fn database(run: &mut Run<'_>, operands: &[Arg]) {
    if let Some(file) = operands.first().filter(|file| file.known() != Some(":memory:")) {
        let place = run.word(file);
        run.writes(&place, false);
        for text in operands.iter().skip(1) {
            exported(run, text);
        }
        let beside =
            ResolvedPath { value: Value::Pattern(format!("{}-*", super::escaped(place.value.text()))), ..place };
        run.add(EffectKind::Write, &beside, Mark::possible());
    }
}

pub(super) fn gpg(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    sources(run, operands);
    match args.value("o") {
        Some(output) if output.known() == Some("-") => {}
        Some(output) => {
            let place = run.word(output);
            run.writes(&place, false);
        }
        None if args.has_any("verify clearsign") && !args.has("clearsign") => {}
        None => {
            let new = match (args.has("a") || args.has_any("clearsign clear-sign"), args.has("b")) {
                (true, _) => ".asc",
                (false, true) => ".sig",
                _ => ".gpg",
            };
            if args.has_any("c e s b clearsign clear-sign") {
                for operand in operands {
                    let place = run.word(operand);
                    let place = run.suffixed(&place, new);
                    derived(run, &place);
                }
            }
        }
    }
}
