//! Compilers, build tools, package managers and formatters: files whose names follow from others, or from a project.

use super::options::Arg;
use super::{EffectKind, Mark, ResolvedPath, Run, last_name};
use crate::facts::Presence;
use toolgate_shell_syntax::word::Value;

/// The same path with another ending.
fn ending(run: &Run<'_>, place: &ResolvedPath, new: &str) -> ResolvedPath {
    let text = place.value.text();
    let name = text.rsplit('/').next().unwrap_or(text).len();
    let stem =
        text[text.len() - name..].rfind('.').filter(|dot| *dot > 0).map_or(text.len(), |dot| text.len() - name + dot);
    let cut = ResolvedPath { value: place.value.with_text(text[..stem].to_owned()), written: None, ..place.clone() };
    run.suffixed(&cut, new)
}

/// A file in the current folder, named after another one. It is a glob, as no word names it.
fn beside(run: &mut Run<'_>, source: &Arg, new: &str) {
    let here = run.here();
    let place = run.under(&here, &last_name(&source.value));
    let place = ending(run, &place, new);
    derived(run, &place);
}

/// A path that follows from another one, as a glob.
pub(super) fn derived(run: &mut Run<'_>, place: &ResolvedPath) {
    let value = match &place.value {
        Value::Known(text) => Value::Pattern(super::escaped(text)),
        value => value.clone(),
    };
    run.add(EffectKind::Write, &ResolvedPath { value, ..place.clone() }, Mark::possible());
}

/// Its operands are read.
pub(super) fn sources(run: &mut Run<'_>, operands: &[Arg]) {
    for operand in operands.iter().filter(|operand| operand.known() != Some("-")) {
        let place = run.word(operand);
        run.reads(&place);
    }
}

/// `-Wl,-Map=FILE`, `-Map=FILE`
fn linker_map(run: &mut Run<'_>) {
    const MARK: &str = "-Map=";
    for arg in &run.args.loose {
        if let Some(at) = arg.shape().find(MARK) {
            let from = at + MARK.len();
            let end = arg.shape()[from..].find(',').map_or(arg.shape().len(), |end| from + end);
            let place = run.word(&Arg { value: arg.value.part(arg.shape()[from..end].to_owned()), ..arg.clone() });
            run.writes(&place, false);
        }
    }
}

/// `cargo vendor [FOLDER]` empties the folder first.
pub(super) fn vendor(run: &mut Run<'_>, operands: &[Arg]) {
    run.implied(EffectKind::Write, "Cargo.lock");
    let Some(folder) = operands.first() else { return run.implied(EffectKind::Write, "vendor/**") };
    let place = run.word(folder);
    run.below(EffectKind::Write, &place);
    if !run.args.has("no-delete") && run.at(&place) != Presence::Absent {
        run.add(EffectKind::Delete, &place, Mark::possible().recursive(true));
    }
}

/// `cc`
pub(super) fn compile(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    sources(run, operands);
    linker_map(run);
    if operands.is_empty() || args.has_any("E fsyntax-only M MM") {
        return;
    }
    if !args.has("o") {
        match args.has_any("c S") {
            true => operands.iter().for_each(|source| beside(run, source, if args.has("c") { ".o" } else { ".s" })),
            false => run.implied(EffectKind::Write, "a.out"),
        }
    }
    if args.has_any("MD MMD") && !args.has("MF") {
        match args.value("o") {
            Some(output) => {
                let place = run.word(output);
                let place = ending(run, &place, ".d");
                derived(run, &place);
            }
            None => operands.iter().for_each(|source| beside(run, source, ".d")),
        }
    }
}

/// Compilers and linkers that write `a.out`, or a file named after their source.
pub(super) fn assemble(run: &mut Run<'_>, operands: &[Arg]) {
    sources(run, operands);
    linker_map(run);
    if run.args.has("o") || operands.is_empty() {
        return;
    }
    if matches!(run.name, "nasm" | "yasm") {
        operands.iter().take(1).for_each(|source| beside(run, source, "*"));
    } else {
        run.implied(EffectKind::Write, "a.out");
    }
    if !matches!(run.name, "as" | "gas" | "ld" | "ld.gold" | "ld.lld" | "lld" | "mold" | "gold" | "nasm" | "yasm") {
        operands.iter().for_each(|source| beside(run, source, "*"));
    }
}

pub(super) fn rustc(run: &mut Run<'_>, operands: &[Arg]) {
    sources(run, operands);
    if !run.args.has_any("o out-dir print") {
        run.implied(EffectKind::Write, "*");
    }
}

pub(super) fn tsc(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    sources(run, operands);
    if args.has_any("noEmit noemit showConfig listFilesOnly v version h help all") {
        return;
    }
    if args.has("init") {
        return run.implied(EffectKind::Create, "tsconfig.json");
    }
    if let Some(folder) = args.value("outDir").or_else(|| args.value("outdir")) {
        let folder = run.word(folder);
        run.below(EffectKind::Write, &folder);
    } else if !args.has_any("outFile outfile") {
        match operands.is_empty() {
            true => run.implied(EffectKind::Write, "**"),
            false => {
                for operand in operands {
                    let place = run.word(operand);
                    let place = ending(run, &place, ".js");
                    derived(run, &place);
                }
            }
        }
    }
}

pub(super) fn javac(run: &mut Run<'_>, operands: &[Arg]) {
    sources(run, operands);
    if let Some(folder) = run.args.value("d") {
        let place = run.word(folder);
        let archive = run.name == "kotlinc" && folder.shape().ends_with(".jar");
        return if archive { run.writes(&place, false) } else { run.below(EffectKind::Write, &place) };
    }
    for operand in operands {
        let place = run.word(operand);
        if let Some(folder) = run.parent(&place) {
            let any = run.under(&folder, &Value::Pattern("*.class".into()));
            run.add(EffectKind::Write, &any, Mark::possible());
        }
    }
}

pub(super) fn haskell(run: &mut Run<'_>, operands: &[Arg]) {
    sources(run, operands);
    for operand in operands {
        let place = run.word(operand);
        for new in [".o", ".hi", ""] {
            if !(new.is_empty() && run.args.has_any("o c")) {
                let place = ending(run, &place, new);
                derived(run, &place);
            }
        }
    }
}

/// Generators of parsers.
pub(super) fn generated(run: &mut Run<'_>, operands: &[Arg]) {
    sources(run, operands);
    if run.args.has("o") {
        return;
    }
    match run.name {
        "flex" | "lex" => run.implied(EffectKind::Write, "lex.yy.c"),
        "yacc" => run.implied(EffectKind::Write, "y.*"),
        _ => operands.iter().for_each(|source| beside(run, source, ".tab.*")),
    }
}

/// `esbuild a.ts --outfile=b.js`
pub(super) fn esbuild(run: &mut Run<'_>, operands: &[Arg]) {
    for operand in operands {
        let text = operand.shape();
        if text.starts_with("--outfile=") {
            let place = run.word(&operand.rest("--outfile=".len()));
            run.writes(&place, false);
        } else if text.starts_with("--outdir=") {
            let place = run.word(&operand.rest("--outdir=".len()));
            run.below(EffectKind::Write, &place);
        } else if text.starts_with('-') {
            run.inside(operand);
        } else {
            let place = run.word(operand);
            run.reads(&place);
        }
    }
}

pub(super) fn cargo_format(run: &mut Run<'_>, _: &[Arg]) {
    let kind = if run.args.has("check") { EffectKind::Read } else { EffectKind::Write };
    run.implied(kind, "**/*.rs");
}

pub(super) fn cargo_clean(run: &mut Run<'_>, _: &[Arg]) {
    match run.args.value("target-dir") {
        Some(folder) => {
            let place = run.word(folder);
            run.add(EffectKind::Delete, &place, Mark::possible().recursive(true));
        }
        None => {
            run.implied(EffectKind::Delete, "target");
            run.implied(EffectKind::Delete, "target/**");
        }
    }
}

/// `python -m venv FOLDER ..`, `virtualenv FOLDER`: the words behind a script's name may be options.
pub(super) fn virtual_environments(run: &mut Run<'_>, operands: &[Arg]) {
    let cleared = |word: &Arg| word.known() == Some("--clear");
    let cleared = run.args.has("clear") || operands.iter().chain(&run.args.loose).any(cleared);
    for operand in operands.iter().filter(|operand| !operand.shape().starts_with('-')) {
        let place = run.word(operand);
        if cleared {
            run.add(EffectKind::Delete, &place, Mark::possible().recursive(true));
        }
        run.add(EffectKind::Create, &place, Mark::possible().recursive(true).folder(true));
    }
}

/// `cargo new FOLDER`, `npm create`-like commands: a folder full of files.
pub(super) fn new_folder(run: &mut Run<'_>, operands: &[Arg]) {
    if let Some(folder) = operands.first() {
        let place = run.word(folder);
        run.add(EffectKind::Create, &place, Mark::possible().recursive(true).folder(true));
    }
}

pub(super) fn virtual_environment(run: &mut Run<'_>, operands: &[Arg]) {
    match operands.is_empty() {
        true => run.implied(EffectKind::Create, ".venv/**"),
        false => virtual_environments(run, operands),
    }
}

pub(super) fn go_build(run: &mut Run<'_>, operands: &[Arg]) {
    operands.iter().for_each(|operand| run.mention(operand));
    match run.args.value("o") {
        Some(output) => {
            let place = run.word(output);
            if place.known().is_some_and(super::is_stream) {
                return;
            }
            match place.slash || run.is_folder(&place) {
                true => run.below(EffectKind::Write, &place),
                false => run.writes(&place, false),
            }
        }
        // It is named after the package, which the words may not say.
        None => run.implied(EffectKind::Write, "*"),
    }
    run.implied(EffectKind::Write, "go.*");
}

pub(super) fn go_test(run: &mut Run<'_>, operands: &[Arg]) {
    operands.iter().for_each(|operand| run.mention(operand));
    if run.args.has_any("c cpuprofile memprofile blockprofile mutexprofile") && !run.args.has("o") {
        run.implied(EffectKind::Write, "*.test");
    }
    run.implied(EffectKind::Write, "**/testdata/**");
}
