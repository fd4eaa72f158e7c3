//! Containers and clusters: what of this machine they are given, and what is copied out of them.

use super::options::Arg;
use super::{EffectKind, Mark, Run};
use crate::facts::Presence;
use toolgate_shell_syntax::word::Value;

/// `docker run`: a container may read what of this machine is mounted into it. Its other words are its own.
pub(super) fn container_run(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    for given in &args.given {
        let Some(value) = &given.value else { continue };
        let from = match given.name {
            // It may be written with the sign that long options have.
            "v" => {
                let from = usize::from(value.shape().starts_with('='));
                Some((from, value.shape().find(':').unwrap_or(value.shape().len())))
            }
            "mount" => source(value.shape()),
            _ => None,
        };
        let Some((start, end)) = from else { continue };
        let text = value.shape().get(start..end).unwrap_or_default();
        // A name without a slash is that of a volume.
        if text.contains('/') || text.starts_with(['.', '~', Value::HOLE]) {
            let place = run.word(&Arg { value: value.value.part(text.to_owned()), ..value.clone() });
            run.add(EffectKind::Read, &place, Mark::possible());
        }
    }
    operands.iter().for_each(|operand| run.mention(operand));
}

/// `docker compose SUBCOMMAND`, of which `cp` copies to and from this machine.
pub(super) fn compose(run: &mut Run<'_>, operands: &[Arg]) {
    match operands.split_first() {
        Some((name, paths)) if name.known() == Some("cp") => container_copy(run, paths),
        _ => container_run(run, operands),
    }
}

/// `docker build -o FOLDER`, or `-o type=local,dest=FOLDER`.
pub(super) fn image_build(run: &mut Run<'_>, operands: &[Arg]) {
    operands.iter().for_each(|operand| run.mention(operand));
    let Some(output) = run.args.value("o") else { return };
    let text = output.shape();
    let (at, is_file) = match text.find("dest=") {
        Some(at) => (at + "dest=".len(), text.contains("type=tar") || text.contains("type=oci")),
        None if text.contains('=') || text == "-" => return,
        None => (0, false),
    };
    let end = text[at..].find(',').map_or(text.len(), |end| at + end);
    let place = run.word(&Arg { value: output.value.part(text[at..end].to_owned()), ..output.clone() });
    match is_file {
        true => run.writes(&place, false),
        false => run.below(EffectKind::Write, &place),
    }
}

/// Where in `type=bind,src=/path,dst=/x` the path of this machine stands.
fn source(text: &str) -> Option<(usize, usize)> {
    let mut at = 0;
    for part in text.split(',') {
        // A part may be in quotes, as it is read as CSV.
        let quote = usize::from(part.starts_with('"'));
        let own = part[quote..].trim_end_matches('"');
        for key in ["src=", "source="] {
            if own.get(..key.len()).is_some_and(|start| start.eq_ignore_ascii_case(key)) {
                return Some((at + quote + key.len(), at + quote + own.len()));
            }
        }
        at += part.len() + 1;
    }
    None
}

/// `docker cp FROM TO`, one of which is `container:path`.
pub(super) fn container_copy(run: &mut Run<'_>, operands: &[Arg]) {
    let [from, to] = operands else { return };
    if super::network::is_remote(from) {
        if to.known() != Some("-") {
            let place = run.word(to);
            let into = if run.is_folder(&place) { run.inside_of(&place, from) } else { place };
            let kind = if run.at(&into) == Presence::Absent { EffectKind::Create } else { EffectKind::Write };
            run.add(kind, &into, Mark::possible().recursive(true));
        }
    } else if from.known() != Some("-") {
        let place = run.word(from);
        let recursive = run.at(&place) != Presence::File;
        run.add(EffectKind::Read, &place, Mark::possible().recursive(recursive));
    }
}
