//! Programs that pack and unpack. What comes out of an archive has names that only the archive knows.

use toolgate_commands::Syntax;

use super::options::{Arg, Args, read};
use super::{EffectKind, Mark, ResolvedPath, Run};
use crate::facts::Presence;
use crate::wrapper::unbundled;
use toolgate_shell_syntax::word::{Value, Word};

/// The words of a program again, for options that only code can choose.
fn words(operands: &[Arg]) -> Vec<Word> {
    operands.iter().map(|arg| Word { value: arg.value.clone(), ..Word::new("", arg.span) }).collect()
}

fn plain(run: &mut Run<'_>, kind: EffectKind, arg: &Arg) {
    if arg.known() != Some("-") {
        let place = run.word(arg);
        match kind {
            EffectKind::Read => run.reads(&place),
            EffectKind::Write => run.writes(&place, false),
            kind => run.add(kind, &place, Mark::possible()),
        }
    }
}

/// Files that go into an archive.
fn packed(run: &mut Run<'_>, arg: &Arg, removed: bool) {
    let place = run.word(arg);
    let what = run.at(&place);
    let mark = Mark::certain(!removed && what == Presence::File).recursive(what != Presence::File);
    run.add(EffectKind::Read, &place, mark);
    if removed {
        run.add(EffectKind::Delete, &place, Mark::possible().recursive(what != Presence::File));
    }
}

/// Files that come out of one, and the folders on the way.
pub(super) fn unpacked(run: &mut Run<'_>, folder: &ResolvedPath) {
    run.below(EffectKind::Write, folder);
    if run.at(folder) == Presence::Absent {
        run.add(EffectKind::Create, folder, Mark::possible().folder(true));
    }
}

/// Words as the spec of a program has them, with options anywhere.
fn listed(program: &str, words: &[Word]) -> Args {
    toolgate_commands::find(program).map(|spec| read(words, 0, spec, Syntax::Gnu, false).0).unwrap_or_default()
}

/// `tar` in all its styles of options: `tar xf a`, `tar -xf a`, `tar --extract --file=a`.
pub(super) fn tar(run: &mut Run<'_>, operands: &[Arg]) {
    let args = listed("tar", &unbundled(&words(operands)));
    run.sure &= args.sure;
    let archives: Vec<&Arg> =
        args.given.iter().filter(|given| given.name == "f").filter_map(|given| given.value.as_ref()).collect();
    // Archives are found before any folder is changed to.
    let archives: Vec<ResolvedPath> =
        archives.into_iter().filter(|arg| arg.known() != Some("-")).map(|arg| run.word(arg)).collect();
    let extracts = args.has("x");
    let packs = args.has_any("c r u A");
    for archive in &archives {
        if args.has("c") {
            let certain = args.sure && archives.len() == 1 && args.operands.iter().any(|arg| arg.known().is_some());
            let plain = !args.has_any("z j J a I Z T to-command H");
            let certain = certain && plain && run.writable(archive) && args.loose.is_empty();
            run.writes(archive, certain);
        } else if packs || args.has("delete") {
            run.reads(archive);
            run.writes(archive, false);
        } else {
            run.reads(archive);
        }
    }
    for given in &args.given {
        match (given.name, &given.value) {
            ("T" | "X" | "add-file", Some(value)) => plain(run, EffectKind::Read, value),
            ("g" | "index-file" | "volno-file", Some(value)) => plain(run, EffectKind::Write, value),
            _ => {}
        }
    }
    // `-C` holds for what stands after it.
    let mut changes =
        args.given.iter().filter(|given| given.name == "C").filter_map(|given| given.value.as_ref()).peekable();
    if extracts {
        let mut folders = Vec::new();
        let first = args.operands.first().map_or(usize::MAX, |arg| arg.word);
        if changes.peek().is_none_or(|change| change.word > first && first != usize::MAX) {
            folders.push(run.here());
        }
        for change in changes {
            run.enter(change);
            folders.push(run.here());
        }
        if args.has_any("O to-command") {
            return;
        }
        for folder in folders {
            match args.value("one-top-level") {
                Some(top) => {
                    let top = run.under(&folder, &top.value);
                    unpacked(run, &top);
                }
                None => unpacked(run, &folder),
            }
        }
        return;
    }
    let removes = args.has("remove-files");
    if packs && removes {
        let lists = args.given.iter().filter(|given| given.name == "T").filter_map(|given| given.value.as_ref());
        for list in lists {
            removes_listed(run, list);
        }
    }
    for operand in &args.operands {
        while let Some(change) = changes.next_if(|change| change.word < operand.word) {
            run.enter(change);
        }
        if packs {
            packed(run, operand, removes);
        } else if args.has("d") {
            plain(run, EffectKind::Read, operand);
        }
    }
}

/// `tar --remove-files -T LIST`: the files that the list names, if it can be read.
fn removes_listed(run: &mut Run<'_>, list: &Arg) {
    let path = run.word(list);
    let content = path.known().and_then(|path| run.look.written(path).or_else(|| run.look.held(path)));
    let Some(content) = content else { return run.listed(EffectKind::Delete) };
    for name in content.lines().filter(|name| !name.is_empty()) {
        let place = run.place(&Value::Known(name.to_owned()), list.span);
        run.add(EffectKind::Delete, &place, Mark::possible().recursive(true));
    }
}

/// `zip ARCHIVE FILE .. -x PATTERN ..`
pub(super) fn zip(run: &mut Run<'_>, operands: &[Arg]) {
    let mut archive = None;
    let mut files = Vec::new();
    let mut listed = false;
    let mut flags = String::new();
    let mut words = operands.iter();
    while let Some(arg) = words.next() {
        let text = arg.shape();
        if text.starts_with('-') && text.len() > 1 {
            listed = text.ends_with(['x', 'i']) || text == "--exclude" || text == "--include";
            if let Some((_, out)) =
                text.split_once('=').filter(|(name, _)| matches!(*name, "--out" | "--output-file" | "--logfile-path"))
            {
                plain(run, EffectKind::Write, &arg.rest(text.len() - out.len()));
            } else if let Some(out) = text.strip_prefix("-O").filter(|out| !out.is_empty()) {
                plain(run, EffectKind::Write, &arg.rest(text.len() - out.len()));
            } else if matches!(
                text,
                "-b" | "-n" | "-t" | "-tt" | "-P" | "-s" | "-Z" | "-TT" | "--password" | "--temp-path" | "--suffixes"
            ) {
                words.next();
            } else if matches!(text, "-O" | "-lf" | "--out" | "--output-file" | "--logfile-path")
                && let Some(out) = words.next()
            {
                plain(run, EffectKind::Write, out);
            } else if !text.starts_with("--") {
                flags.push_str(&text[1..]);
            } else {
                flags.push_str(match text {
                    "--move" => "m",
                    "--delete" => "d",
                    "--test" => "T",
                    _ => "",
                });
            }
        } else if text == "@" {
            listed = false;
        } else if archive.is_none() {
            archive = Some(arg);
        } else if !listed {
            files.push(arg);
        }
    }
    let Some(archive) = archive else { return };
    if matches!(archive.value, Value::Pattern(_)) {
        // What a glob finds are files too, all but the first.
        files.push(archive);
    }
    // What it reads are the names of the files.
    if flags.contains('@') && flags.contains('m') {
        run.listed(EffectKind::Delete);
    }
    for file in files.iter().filter(|_| !flags.contains('d')) {
        packed(run, file, flags.contains('m'));
    }
    if archive.known() != Some("-") {
        let place = run.word(archive);
        let named = archive.shape().rsplit('/').next().is_some_and(|name| name.contains('.'));
        let place = match (named, place.slash) {
            (true, _) => place,
            (false, true) => run.under(&place, &Value::Known(".zip".into())),
            (false, false) => run.suffixed(&place, ".zip"),
        };
        run.writes(&place, false);
    }
}

/// `unzip ARCHIVE MEMBER .. -d FOLDER`
pub(super) fn unzip(run: &mut Run<'_>, operands: &[Arg]) {
    let args = listed("unzip", &words(operands));
    run.sure &= args.sure;
    if let Some(archive) = args.operands.first() {
        plain(run, EffectKind::Read, archive);
        if !run.at(&run.word(archive)).eq(&Presence::File) {
            // It tries the name with an ending too.
            let place = run.suffixed(&run.word(archive), ".zip");
            run.add(EffectKind::Read, &place, Mark::possible());
        }
        if !args.has_any("l t v Z z p c") {
            let folder = args.value("d").map_or_else(|| run.here(), |folder| run.word(folder));
            unpacked(run, &folder);
        }
    }
}

/// `7z x ARCHIVE -oFOLDER`
pub(super) fn seven_zip(run: &mut Run<'_>, operands: &[Arg]) {
    let is_switch = |arg: &&Arg| arg.shape().starts_with('-');
    let mut words = operands.iter().filter(|arg| !is_switch(arg));
    let (Some(verb), Some(archive)) = (words.next(), words.next()) else { return };
    match verb.known().unwrap_or_default() {
        "x" | "e" => {
            plain(run, EffectKind::Read, archive);
            let out = operands.iter().find(|arg| arg.shape().starts_with("-o"));
            let folder = out.map_or_else(|| run.here(), |out| run.word(&out.rest(2)));
            unpacked(run, &folder);
        }
        "l" | "t" => plain(run, EffectKind::Read, archive),
        "h" => words.chain([archive]).for_each(|file| plain(run, EffectKind::Read, file)),
        "b" | "i" => {}
        verb => {
            // `-ir!FILE`: included, and in folders too.
            let included = operands.iter().filter(|arg| arg.shape().starts_with("-i"));
            for arg in included {
                if let Some(at) = arg.shape().find(['!', '@']) {
                    packed(run, &arg.rest(at + 1), false);
                }
            }
            let removed = operands.iter().any(|arg| arg.known() == Some("-sdel"));
            words.filter(|_| verb != "d").for_each(|file| packed(run, file, removed));
            let place = run.word(archive);
            let named = archive.shape().rsplit('/').next().is_some_and(|name| name.contains('.'));
            let place = if named { place } else { run.suffixed(&place, ".7z") };
            run.writes(&place, false);
        }
    }
}

/// `unrar x ARCHIVE FOLDER/`
pub(super) fn rar(run: &mut Run<'_>, operands: &[Arg]) {
    let mut words = operands.iter().filter(|arg| !arg.shape().starts_with('-'));
    let (Some(verb), Some(archive)) = (words.next(), words.next()) else { return };
    match verb.known().unwrap_or_default() {
        "x" | "e" => {
            plain(run, EffectKind::Read, archive);
            let out = words.next_back().filter(|arg| arg.shape().ends_with('/'));
            let folder = out.map_or_else(|| run.here(), |out| run.word(out));
            unpacked(run, &folder);
        }
        "l" | "lb" | "t" | "v" | "p" => plain(run, EffectKind::Read, archive),
        _ => {
            words.for_each(|file| packed(run, file, false));
            plain(run, EffectKind::Write, archive);
        }
    }
}

/// An ending, and what stands in its place once the file is unpacked.
type Ending = (&'static str, &'static str);

/// Packers of single files: the name, what it adds, and what it can take away.
#[rustfmt::skip]
const ENDINGS: &[(&str, &str, &[Ending])] = &[
    ("brotli", ".br", &[(".br", "")]),
    ("bunzip2", ".bz2", &[(".bz2", ""), (".bz", ""), (".tbz2", ".tar"), (".tbz", ".tar")]),
    ("bzip2", ".bz2", &[(".bz2", ""), (".bz", ""), (".tbz2", ".tar"), (".tbz", ".tar")]),
    ("compress", ".Z", &[(".Z", "")]),
    ("gunzip", ".gz", &[(".gz", ""), ("-gz", ""), (".z", ""), ("-z", ""), ("_z", ""), (".Z", ""), (".tgz", ".tar"), (".taz", ".tar")]),
    ("gzip", ".gz", &[(".gz", ""), ("-gz", ""), (".z", ""), ("-z", ""), ("_z", ""), (".Z", ""), (".tgz", ".tar"), (".taz", ".tar")]),
    ("lz4", ".lz4", &[(".lz4", "")]),
    ("lzip", ".lz", &[(".lz", ""), (".tlz", ".tar")]),
    ("lzma", ".lzma", &[(".lzma", ""), (".xz", ""), (".tlz", ".tar"), (".txz", ".tar")]),
    ("pbzip2", ".bz2", &[(".bz2", ""), (".bz", "")]),
    ("pigz", ".gz", &[(".gz", ""), (".z", ""), (".Z", ""), (".tgz", ".tar")]),
    ("uncompress", ".Z", &[(".Z", ""), (".gz", "")]),
    ("unlz4", ".lz4", &[(".lz4", "")]),
    ("unlzma", ".lzma", &[(".lzma", ""), (".xz", ""), (".tlz", ".tar"), (".txz", ".tar")]),
    ("unpigz", ".gz", &[(".gz", ""), (".z", ""), (".Z", ""), (".tgz", ".tar")]),
    ("unxz", ".xz", &[(".xz", ""), (".lzma", ""), (".txz", ".tar"), (".tlz", ".tar")]),
    ("unzstd", ".zst", &[(".zst", ""), (".tzst", ".tar"), (".gz", ""), (".xz", ""), (".lz4", "")]),
    ("xz", ".xz", &[(".xz", ""), (".lzma", ""), (".txz", ".tar"), (".tlz", ".tar")]),
    ("zstd", ".zst", &[(".zst", ""), (".tzst", ".tar"), (".gz", ""), (".xz", ""), (".lz4", "")]),
];

/// `gzip FILE` and the like: the file gives way to its packed form, or the other way round.
pub(super) fn compress(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let Some((name, added, taken)) = ENDINGS.iter().find(|row| row.0 == run.name) else { return };
    let unpacks = args.has("d") || name.starts_with("un") || name.starts_with("gun") || name.starts_with("bun");
    let stays_by_itself = matches!(*name, "zstd" | "unzstd" | "lz4" | "unlz4" | "brotli");
    let only_reads = args.has_any("c t l");
    let keeps = args.has("k") || (stays_by_itself && !args.has("rm"));
    let suffix = args.value("S").and_then(Arg::known);
    if let ("lz4" | "unlz4", [from, to], false) = (*name, operands, only_reads || args.has("m")) {
        plain(run, EffectKind::Read, from);
        if to.known() != Some("-") {
            plain(run, EffectKind::Write, to);
        }
        if args.has("rm") {
            plain(run, EffectKind::Delete, from);
        }
        return;
    }
    for operand in operands.iter().filter(|operand| operand.known() != Some("-")) {
        let place = run.word(operand);
        let what = run.at(&place);
        let deep = args.has("r") && what != Presence::File;
        if deep {
            run.add(EffectKind::Read, &place, Mark::possible().recursive(true));
            if !only_reads {
                run.below(EffectKind::Write, &place);
                run.below(EffectKind::Delete, &place);
            }
            if what == Presence::Folder {
                continue;
            }
        }
        let text = place.value.text();
        let ending = taken.iter().filter(|row| suffix.is_none() || row.0 == suffix.unwrap_or_default());
        let ending =
            ending.filter(|row| text.len() > row.0.len() && text.ends_with(row.0)).map(|row| (row.0.len(), row.1));
        let ending = ending.chain(suffix.filter(|end| text.ends_with(end)).map(|end| (end.len(), ""))).max();
        // A file that is packed already is left alone; one without the ending is looked for with it.
        let (from, to) = match (unpacks, ending) {
            (true, Some((cut, new))) => {
                let stem = format!("{}{new}", &text[..text.len() - cut]);
                (place.clone(), ResolvedPath { value: place.value.with_text(stem), written: None, ..place.clone() })
            }
            (true, None) => (run.suffixed(&place, added), place.clone()),
            (false, _) => (place.clone(), run.suffixed(&place, suffix.unwrap_or(added))),
        };
        let skipped = !unpacks && ending.is_some() && !stays_by_itself && *name != "bzip2";
        let free = match run.at(&to) {
            Presence::Absent => true,
            Presence::File => args.has("f"),
            _ => false,
        };
        // Without -f a link is left alone, and what the facts call a file may be one.
        let certain = !unpacks && args.has("f") && !deep && what == Presence::File && free && !skipped && !place.slash;
        let certain = certain && matches!(*name, "gzip" | "bzip2" | "xz");
        run.add(EffectKind::Read, &from, Mark::certain(certain).copied().recursive(false));
        if args.value("o").is_some() && args.has("rm") && !only_reads {
            run.add(EffectKind::Delete, &from, Mark::possible());
        }
        if only_reads || args.value("o").is_some() || skipped {
            continue;
        }
        run.writes(&to, certain);
        if !keeps {
            run.add(EffectKind::Delete, &from, Mark::certain(certain));
        }
    }
}

/// `cpio`: with `-i` it unpacks here, with `-p` into a folder.
pub(super) fn cpio(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    if let Some(archive) = args.value("F") {
        plain(run, if args.has("o") { EffectKind::Write } else { EffectKind::Read }, archive);
    }
    if args.has("i") && !args.has("t") {
        let here = run.here();
        unpacked(run, &here);
    }
    if let Some(folder) = operands.first().filter(|_| args.has("p")) {
        let folder = run.word(folder);
        unpacked(run, &folder);
    }
}

/// `pax -w FILE .. > ARCHIVE`, `pax -rw FILE .. FOLDER`: with `-l` what is copied becomes hard links.
pub(super) fn pax(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let copies = args.has("r") && args.has("w");
    let (sources, target) = match operands.split_last().filter(|_| copies) {
        Some((target, sources)) => (sources, Some(target)),
        None => (operands, None),
    };
    for source in sources {
        let place = run.word(source);
        if args.has("l") && copies {
            run.add(EffectKind::HardLink, &place, Mark::possible().recursive(true));
        }
        run.add(EffectKind::Read, &place, Mark::possible().recursive(true));
    }
    if let Some(target) = target {
        let folder = run.word(target);
        unpacked(run, &folder);
    } else if args.has("r") {
        let here = run.here();
        unpacked(run, &here);
    }
}

/// `ar rcs ARCHIVE FILE ..`, `jar cf ARCHIVE FILE ..`
pub(super) fn ar(run: &mut Run<'_>, operands: &[Arg]) {
    let Some((first, rest)) = operands.split_first() else { return };
    let keys = first.known().unwrap_or_default().trim_start_matches('-');
    let has_file = run.name != "jar" || keys.contains('f');
    let (archive, files) = match rest.split_first().filter(|_| has_file) {
        Some((archive, files)) => (Some(archive), files),
        None => (None, rest),
    };
    match keys.chars().find(|key| "rqcxtpdmsu".contains(*key)) {
        Some('x') => {
            archive.into_iter().for_each(|archive| plain(run, EffectKind::Read, archive));
            let here = run.here();
            unpacked(run, &here);
        }
        Some('t' | 'p') => archive.into_iter().for_each(|archive| plain(run, EffectKind::Read, archive)),
        Some(key) => {
            archive.into_iter().for_each(|archive| plain(run, EffectKind::Write, archive));
            let packs = !matches!(key, 'd' | 'm' | 's');
            files.iter().filter(|_| packs).for_each(|file| packed(run, file, false));
        }
        None => operands.iter().for_each(|operand| run.mention(operand)),
    }
}
