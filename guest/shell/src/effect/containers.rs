//! Containers and clusters: what of this machine they are given, and what is copied out of them.

use super::options::Arg;
use super::table::{Does, Row, command, wild};
use super::{Kind, Mark, Run};
use crate::facts::Presence;
use crate::word::Value;
use Does::{Code, Mentions, Nothing, Subcommands};

/// Of `docker compose` and its subcommands.
pub(super) const COMPOSE_OPTIONS: &str = "v/volume=t w/workdir=v e/env=v env-file=r env-from-file=r u/user=v p/publish=v name=v entrypoint=v f/file=r project-directory=C";

const RUN_OPTIONS: &str =
    "v/volume=t w/workdir=v e/env=v env-file=r u/user=v p/publish=v name=v entrypoint=v network=v mount=t cidfile=w";
const BUILD_OPTIONS: &str = "f/file=r t/tag=v o/output=t metadata-file=w iidfile=w build-arg=v target=v platform=v";

#[rustfmt::skip]
pub(super) const DOCKER: &[Row] = &[
    command("cp", "", Code(container_copy)),
    command("run create", RUN_OPTIONS, Code(container_run)).wild(),
    command("compose", COMPOSE_OPTIONS, Code(compose)).wild(),
    command("container", "", Subcommands(OF_CONTAINERS)),
    command("image", "", Subcommands(OF_IMAGES)),
    wild("exec", "v/volume=m w/workdir=v e/env=v env-file=r u/user=v name=v f/file=r", Mentions),
    command("build buildx", BUILD_OPTIONS, Code(image_build)).wild(),
    command("save export", "o/output=w", Nothing),
    command("load import", "i/input=r", Mentions),
    command("ps images logs inspect stats top port version info search history events diff rm rmi stop start restart kill pause unpause wait rename tag pull push login logout network volume system context", "f/format/filter=v", Nothing),
];

#[rustfmt::skip]
const OF_CONTAINERS: &[Row] = &[
    command("cp", "", Code(container_copy)),
    command("export", "o/output=w", Nothing),
    wild("run create exec", RUN_OPTIONS, Code(container_run)),
    command("ls list ps inspect logs top stats port diff rm stop start restart kill pause unpause wait rename prune attach commit update", "f/format/filter=v", Mentions),
];

#[rustfmt::skip]
const OF_IMAGES: &[Row] = &[
    command("save", "o/output=w", Nothing),
    command("load import", "i/input=r", Mentions),
    wild("build", BUILD_OPTIONS, Code(image_build)),
    command("ls list inspect history rm prune pull push tag", "f/format/filter=v", Nothing),
];

#[rustfmt::skip]
pub(super) const KUBECTL: &[Row] = &[
    command("cp", "c/container=v n/namespace=v", Code(container_copy)),
    command("apply create delete replace diff edit patch", "f/filename=r k/kustomize=m n/namespace=v p/patch=d patch-file=r from-file=m from-env-file=r", Nothing).wild(),
    wild("exec run debug", "n/namespace=v c/container=v", Mentions),
    command("get describe logs top explain version config cluster-info api-resources rollout scale label annotate port-forward wait auth", "n/namespace=v o/output=v l=v", Nothing),
];

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
            run.add(Kind::Read, &place, Mark::possible());
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
fn image_build(run: &mut Run<'_>, operands: &[Arg]) {
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
        false => run.below(Kind::Write, &place),
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
fn container_copy(run: &mut Run<'_>, operands: &[Arg]) {
    let [from, to] = operands else { return };
    if super::network::is_remote(from) {
        if to.known() != Some("-") {
            let place = run.word(to);
            let into = if run.is_folder(&place) { run.inside_of(&place, from) } else { place };
            let kind = if run.at(&into) == Presence::Absent { Kind::Create } else { Kind::Write };
            run.add(kind, &into, Mark::possible().recursive(true));
        }
    } else if from.known() != Some("-") {
        let place = run.word(from);
        let recursive = run.at(&place) != Presence::File;
        run.add(Kind::Read, &place, Mark::possible().recursive(recursive));
    }
}
