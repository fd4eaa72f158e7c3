//! Compilers, build tools, package managers and formatters: files whose names follow from others, or from a project.

use super::options::{Arg, Style};
use super::table::{Does, Row, command, wild};
use super::{Kind, Mark, Place, Run, last_name};
use crate::facts::Presence;
use crate::word::Value;
use Does::{Code, Formats, Makes, Mentions, Nothing, Reads, Subcommands};

/// The same path with another ending.
fn ending(run: &Run<'_>, place: &Place, new: &str) -> Place {
    let text = place.value.text();
    let name = text.rsplit('/').next().unwrap_or(text).len();
    let stem =
        text[text.len() - name..].rfind('.').filter(|dot| *dot > 0).map_or(text.len(), |dot| text.len() - name + dot);
    let cut = Place { value: place.value.with_text(text[..stem].to_owned()), written: None, ..place.clone() };
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
pub(super) fn derived(run: &mut Run<'_>, place: &Place) {
    let value = match &place.value {
        Value::Known(text) => Value::Pattern(super::escaped(text)),
        value => value.clone(),
    };
    run.add(Kind::Write, &Place { value, ..place.clone() }, Mark::possible());
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
fn vendor(run: &mut Run<'_>, operands: &[Arg]) {
    run.implied(Kind::Write, "Cargo.lock");
    let Some(folder) = operands.first() else { return run.implied(Kind::Write, "vendor/**") };
    let place = run.word(folder);
    run.below(Kind::Write, &place);
    if !run.args.has("no-delete") && run.at(&place) != Presence::Absent {
        run.add(Kind::Delete, &place, Mark::possible().recursive(true));
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
            false => run.implied(Kind::Write, "a.out"),
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
        run.implied(Kind::Write, "a.out");
    }
    if !matches!(run.name, "as" | "gas" | "ld" | "ld.gold" | "ld.lld" | "lld" | "mold" | "gold" | "nasm" | "yasm") {
        operands.iter().for_each(|source| beside(run, source, "*"));
    }
}

pub(super) fn rustc(run: &mut Run<'_>, operands: &[Arg]) {
    sources(run, operands);
    if !run.args.has_any("o out-dir print") {
        run.implied(Kind::Write, "*");
    }
}

pub(super) fn tsc(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    sources(run, operands);
    if args.has_any("noEmit noemit showConfig listFilesOnly v version h help all") {
        return;
    }
    if args.has("init") {
        return run.implied(Kind::Create, "tsconfig.json");
    }
    if let Some(folder) = args.value("outDir").or_else(|| args.value("outdir")) {
        let folder = run.word(folder);
        run.below(Kind::Write, &folder);
    } else if !args.has_any("outFile outfile") {
        match operands.is_empty() {
            true => run.implied(Kind::Write, "**"),
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
        return if archive { run.writes(&place, false) } else { run.below(Kind::Write, &place) };
    }
    for operand in operands {
        let place = run.word(operand);
        if let Some(folder) = run.parent(&place) {
            let any = run.under(&folder, &Value::Pattern("*.class".into()));
            run.add(Kind::Write, &any, Mark::possible());
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
        "flex" | "lex" => run.implied(Kind::Write, "lex.yy.c"),
        "yacc" => run.implied(Kind::Write, "y.*"),
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
            run.below(Kind::Write, &place);
        } else if text.starts_with('-') {
            run.inside(operand);
        } else {
            let place = run.word(operand);
            run.reads(&place);
        }
    }
}

/// Files that cargo keeps.
const CARGO_LOCK: &str = "target/** Cargo.lock";

const CARGO_OPTIONS: &str = "target-dir=f manifest-path=m p/package=v F/features=v j/jobs=v target=v profile=v bin=v example=v test=v bench=v message-format=v color=v config=v Z=v artifact-dir=f out-dir=f";

#[rustfmt::skip]
pub(super) const CARGO: &[Row] = &[
    wild("build b check c test t run r bench clippy doc d rustc rustdoc nextest miri llvm-cov fuzz package publish expand machete deny audit bloat asm watch", CARGO_OPTIONS, Makes(CARGO_LOCK)),
    wild("fix", CARGO_OPTIONS, Makes("** target/** Cargo.lock")),
    command("fmt", "check p/package=v manifest-path=m", Code(cargo_format)),
    command("add remove rm upgrade", "F/features=v p/package=v manifest-path=m path=m git=v rename=v target=v branch=v", Makes("Cargo.toml **/Cargo.toml Cargo.lock")),
    command("update generate-lockfile", "p/package=v precise=v manifest-path=m", Makes("Cargo.lock")),
    command("fetch tree metadata pkgid locate-project verify-project", "manifest-path=m F/features=v p=v i=v e=v", Makes("Cargo.lock")),
    command("new", "name=v edition=v vcs=v", Code(new_folder)),
    command("init", "name=v edition=v vcs=v", Makes("Cargo.toml src/** .git/** .gitignore")),
    command("clean", "target-dir=t p/package=v manifest-path=m profile=v", Code(cargo_clean)),
    command("vendor", "no-delete s/sync=r", Code(vendor)),
    wild("install uninstall", "path=m root=f git=v version=v F/features=v", Mentions),
    command("search login logout owner yank info version help report", "", Nothing),
];

fn cargo_format(run: &mut Run<'_>, _: &[Arg]) {
    let kind = if run.args.has("check") { Kind::Read } else { Kind::Write };
    run.implied(kind, "**/*.rs");
}

fn cargo_clean(run: &mut Run<'_>, _: &[Arg]) {
    match run.args.value("target-dir") {
        Some(folder) => {
            let place = run.word(folder);
            run.add(Kind::Delete, &place, Mark::possible().recursive(true));
        }
        None => {
            run.implied(Kind::Delete, "target");
            run.implied(Kind::Delete, "target/**");
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
            run.add(Kind::Delete, &place, Mark::possible().recursive(true));
        }
        run.add(Kind::Create, &place, Mark::possible().recursive(true).folder(true));
    }
}

/// `cargo new FOLDER`, `npm create`-like commands: a folder full of files.
fn new_folder(run: &mut Run<'_>, operands: &[Arg]) {
    if let Some(folder) = operands.first() {
        let place = run.word(folder);
        run.add(Kind::Create, &place, Mark::possible().recursive(true).folder(true));
    }
}

/// Files that the package managers of Node keep.
const NODE_FILES: &str = "package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb node_modules node_modules/** **/node_modules/** .yarn/** .pnp.*";

#[rustfmt::skip]
pub(super) const NODE: &[Row] = &[
    wild("install i add ci clean-install remove rm uninstall un r update up upgrade dedupe link unlink ln prune rebuild import patch patch-commit shrinkwrap audit fund", "C/prefix/dir/cwd=C w/workspace=v registry=v tag=v F/filter=v", Makes(NODE_FILES)),
    wild("init create", "C/prefix/dir/cwd=C", Makes("**")),
    command("version", "m/message=d", Makes("package.json package-lock.json .git/**")),
    command("pkg", "", Makes("package.json")),
    command("pack", "pack-destination=f C/prefix/dir/cwd=C", Makes("*.tgz")),
    command("config set-script", "", Mentions),
    wild("run run-script test t tst start stop restart exec x dlx build dev lint format publish workspace workspaces node why-run", "C/prefix/dir/cwd=C", Makes("**")),
    command("ls list ll la view info show search outdated why explain root bin prefix help whoami ping docs repo home bugs login logout token owner", "C/prefix/dir/cwd=C", Nothing),
];

#[rustfmt::skip]
pub(super) const PIP: &[Row] = &[
    wild("install", "r/requirement=r c/constraint=r e/editable=m t/target=f prefix=f root=f i/index-url=s extra-index-url=s find-links=m f=m platform=v src=f report=w", Makes("**/*.egg-info/** Pipfile Pipfile.lock build/**")),
    wild("uninstall", "r/requirement=r", Mentions),
    wild("wheel download", "d/dest=f w/wheel-dir=f r/requirement=r", Makes("*.whl *.tar.gz")),
    wild("lock sync update upgrade", "", Makes("Pipfile Pipfile.lock")),
    wild("run shell", "", Mentions),
    command("list show freeze check search config cache help debug index inspect", "o/output=w r/requirement=r", Nothing),
];

#[rustfmt::skip]
pub(super) const UV: &[Row] = &[
    wild("add remove lock sync", "r/requirements=r directory=C project=C p/python=v group=v optional=v", Makes("pyproject.toml uv.lock .venv/**")),
    wild("init", "name=v p/python=v", Makes("**")),
    command("venv", "p/python=v prompt=v clear/c", Code(virtual_environment)),
    wild("build publish", "o/out-dir=f", Makes("dist/**")),
    wild("run tool x", "with=v p/python=v directory=C project=C with-requirements=r", Mentions),
    wild("pip", "", Subcommands(UV_PIP)),
    command("tree version help cache python self export", "o/output-file=w", Makes("uv.lock")),
];

#[rustfmt::skip]
const UV_PIP: &[Row] = &[
    wild("install sync uninstall", "r/requirement=r c/constraint=r e/editable=m t/target=f prefix=f p/python=v", Makes(".venv/**")),
    command("compile", "o/output-file=w p/python-version=v", Reads),
    command("list show freeze check tree", "", Nothing),
];

fn virtual_environment(run: &mut Run<'_>, operands: &[Arg]) {
    match operands.is_empty() {
        true => run.implied(Kind::Create, ".venv/**"),
        false => virtual_environments(run, operands),
    }
}

#[rustfmt::skip]
pub(super) const POETRY: &[Row] = &[
    wild("install add remove update lock sync init version upgrade", "C/directory=C p/project=C G/group=v E/extras=v", Makes("pyproject.toml poetry.lock pdm.lock requirements.lock .venv/**")),
    wild("build publish", "o/output=f f/format=v", Makes("dist/**")),
    command("new", "name=v", Code(new_folder)),
    command("export", "o/output=w f/format=v", Nothing),
    wild("run shell", "", Mentions),
    command("show list check config env search about help self cache source", "", Nothing),
];

#[rustfmt::skip]
pub(super) const GO: &[Row] = &[
    wild("build", "o=t C=C p=v tags=v ldflags=v gcflags=v asmflags=v mod=v modfile=r overlay=r pkgdir=m coverprofile=w race", Code(go_build)).style(Style::Go),
    wild("test", "o=w c C=C run=v bench=v count=v timeout=v tags=v coverprofile=w cpuprofile=w memprofile=w blockprofile=w mutexprofile=w trace=w outputdir=f parallel=v p=v v", Code(go_test)).style(Style::Go),
    wild("run generate tool", "C=C tags=v", Makes("**")).style(Style::Go),
    wild("install", "C=C tags=v ldflags=v", Mentions).style(Style::Go),
    command("get", "C=C t u", Makes("go.mod go.sum")).style(Style::Go),
    command("mod", "", Subcommands(GO_MOD)),
    command("work", "", Subcommands(GO_WORK)),
    command("fmt", "n", Makes("**/*.go")).style(Style::Go),
    wild("fix", "", Makes("**/*.go")),
    command("vet list doc env version help bug telemetry tool-list clean", "w=d u=d", Mentions).style(Style::Go),
];

const GO_MOD: &[Row] = &[
    command("tidy download edit init", "C=C go=v", Makes("go.mod go.sum")).style(Style::Go),
    command("vendor", "o=f", Makes("vendor vendor/** go.mod go.sum")).style(Style::Go),
    command("graph why verify", "", Nothing),
];

const GO_WORK: &[Row] = &[
    command("init use sync edit vendor", "C=C", Makes("go.work go.work.sum vendor/** **/go.mod **/go.sum"))
        .style(Style::Go),
    command("graph", "", Nothing),
];

fn go_build(run: &mut Run<'_>, operands: &[Arg]) {
    operands.iter().for_each(|operand| run.mention(operand));
    match run.args.value("o") {
        Some(output) => {
            let place = run.word(output);
            if place.known().is_some_and(super::is_stream) {
                return;
            }
            match place.slash || run.is_folder(&place) {
                true => run.below(Kind::Write, &place),
                false => run.writes(&place, false),
            }
        }
        // It is named after the package, which the words may not say.
        None => run.implied(Kind::Write, "*"),
    }
    run.implied(Kind::Write, "go.*");
}

fn go_test(run: &mut Run<'_>, operands: &[Arg]) {
    operands.iter().for_each(|operand| run.mention(operand));
    if run.args.has_any("c cpuprofile memprofile blockprofile mutexprofile") && !run.args.has("o") {
        run.implied(Kind::Write, "*.test");
    }
    run.implied(Kind::Write, "**/testdata/**");
}

#[rustfmt::skip]
pub(super) const BUNDLE: &[Row] = &[
    wild("install update add remove lock init cache package clean", "gemfile=r path=f", Makes("Gemfile Gemfile.lock vendor/** .bundle/**")),
    wild("exec", "", Mentions),
    wild("build", "o/output=w", Makes("*.gem")),
    command("list show info check outdated env help config search", "", Nothing),
];

#[rustfmt::skip]
pub(super) const COMPOSER: &[Row] = &[
    wild("install update require remove dump-autoload dumpautoload init i u upgrade", "d/working-dir=C", Makes("composer.json composer.lock vendor vendor/**")),
    command("create-project", "", Mentions),
    wild("run run-script exec", "", Mentions),
    command("show outdated validate search licenses why depends status diagnose", "", Nothing),
];

#[rustfmt::skip]
pub(super) const RUFF: &[Row] = &[
    command("format", "check diff config=r line-length=v target-version=v exclude=v stdin-filename=v", Formats { with: "", without: "check diff" }).recursive(),
    command("check", "fix unsafe-fixes fix-only add-noqa o/output-file=w config=r select=v ignore=v extend-select=v line-length=v target-version=v exclude=v output-format=v", Formats { with: "fix fix-only add-noqa", without: "diff" }).recursive(),
    command("rule config linter clean version help server", "", Nothing),
];

pub(super) const BIOME: &[Row] = &[
    command(
        "check format lint ci",
        "write fix apply apply-unsafe unsafe config-path=m",
        Formats { with: "write fix apply apply-unsafe", without: "" },
    )
    .recursive(),
    command("init migrate", "", Makes("biome.json biome.jsonc")),
    command("version help rage explain start stop", "", Nothing),
];

pub(super) const DPRINT: &[Row] = &[
    command("fmt", "c/config=r", Formats { with: "", without: "diff" }).recursive(),
    command("check output-file-paths", "c/config=r", Reads),
    command("init config", "", Makes("dprint.json .dprint.json")),
];

pub(super) const TAPLO: &[Row] = &[
    command("fmt format", "check diff c/config=r o/option=v", Formats { with: "", without: "check diff" }).recursive(),
    command("lint check get", "", Reads),
];
