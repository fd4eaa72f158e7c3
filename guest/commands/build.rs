//! Makes constants of the specs. A spec that is wrong fails the build, with its file and program.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

type Error = Box<dyn std::error::Error>;

/// A file of specs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    program: Vec<Spec>,
}

/// A program or subcommand, as `docs/internals/extending.md` describes it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Spec {
    names: Vec<String>,
    /// What its options were compared with, and when. Only a program of which no option is listed is without it. An option that
    /// is not listed is unknown to every reader, and each has its conservative answer.
    compared: Option<String>,
    runs: Option<Runs>,
    files: Option<Files>,
    terminal: Option<Terminal>,
    /// Options whose value is a secret, and what stands in the value before it.
    #[serde(default)]
    secrets: BTreeMap<String, String>,
    rules: Option<Rules>,
    loads: Option<Loads>,
    /// Options whose values are files of statements, where it is the client of a database.
    statements: Option<Vec<String>>,
    /// Its long options have one dash, though no other key says so.
    #[serde(default)]
    one_dash: bool,
    /// Whether it only reads or computes.
    reads_only: Option<ReadsOnly>,
    /// The path of a spec whose options are those of this one, too: `docker run`.
    like: Option<String>,
    /// The path of a spec whose subcommands are those of this one, too, but for those that it has itself.
    subcommands_like: Option<String>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    may_be_paths: Vec<String>,
    #[serde(default)]
    attached: Vec<String>,
    #[serde(default)]
    digits: Vec<String>,
    #[serde(default)]
    help: Vec<String>,
    #[serde(default)]
    options: Vec<Opt>,
    #[serde(default)]
    subcommand: Vec<Spec>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Runs {
    what: Option<String>,
    language: Option<String>,
    code: Option<String>,
    #[serde(default)]
    operands: u8,
    #[serde(default)]
    traits: Vec<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Files {
    does: Option<String>,
    code: Option<String>,
    makes: Option<Vec<String>>,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    without: Vec<String>,
    syntax: Option<String>,
    #[serde(default)]
    leading: u8,
    #[serde(default)]
    pattern: bool,
    #[serde(default)]
    wild: bool,
    #[serde(default)]
    recursive: bool,
    #[serde(default)]
    bare: bool,
    #[serde(default)]
    complete: bool,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Terminal {
    operands: Waits,
    #[serde(default)]
    waits: Vec<String>,
    #[serde(default)]
    ends: Vec<String>,
}

/// `true`, those of the program's names that only read, or the words with which it does.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum ReadsOnly {
    Always(bool),
    Named(Vec<String>),
    If(ReadsIf),
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadsIf {
    #[serde(default)]
    with: Vec<String>,
    operands: Option<u8>,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    without: Vec<String>,
}

/// With how many operands it waits: a number, `any` or `never`.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Waits {
    UpTo(u8),
    Named(String),
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    #[serde(default)]
    abbreviates: bool,
    #[serde(default)]
    words: bool,
    #[serde(default)]
    own: bool,
    #[serde(default)]
    exact: Vec<String>,
}

/// Which files it runs a part of besides its script.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Loads {
    /// How they are read: a language, `cmake`, or `lines`.
    #[serde(rename = "as")]
    reads: String,
    /// Of `lines`: the option whose value each line might be.
    each: Option<String>,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    tests: bool,
    tests_with: Option<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Opt {
    name: String,
    takes: Option<Takes>,
    run: Option<String>,
    file: Option<String>,
    alias: Option<String>,
    #[serde(default)]
    last: bool,
    #[serde(default)]
    help: bool,
}

/// What an option takes: by name, or how many words.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Takes {
    Words(u8),
    Named(String),
}

impl Opt {
    fn plain(name: &str, takes: Option<&str>) -> Opt {
        let takes = takes.map(|takes| Takes::Named(takes.to_owned()));
        Opt { name: name.to_owned(), takes, run: None, file: None, alias: None, last: false, help: false }
    }
}

/// `code-elsewhere` as `CodeElsewhere`.
fn variant(name: &str) -> String {
    let parts = name.split('-').map(|part| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
    });
    parts.collect()
}

/// A name of an option as [`Opt::names`](../src/spec.rs) has it.
fn bare(name: &str, one_dash: bool) -> Result<&str, Error> {
    let long = name.strip_prefix("--").filter(|long| long.chars().count() > 1);
    let letter = name.strip_prefix('-').filter(|letter| letter.chars().count() == 1 && *letter != "-");
    let word = name.strip_prefix('-').filter(|word| one_dash && !word.starts_with('-'));
    match long.or(letter).or(word) {
        Some(bare) if !bare.is_empty() => Ok(bare),
        _ if name.len() > 2 && name.starts_with('-') => Ok(name),
        _ => Err(format!("{name} is no option").into()),
    }
}

impl Spec {
    fn lists_options(&self) -> bool {
        let lists = [&self.flags, &self.values, &self.may_be_paths, &self.attached, &self.digits, &self.help];
        lists.iter().any(|list| !list.is_empty()) || !self.options.is_empty() || !self.subcommand.is_empty()
    }

    /// The options, those in lists first.
    fn options(&self, all: &BTreeMap<String, Spec>) -> Result<Vec<Opt>, Error> {
        let mut found = Vec::new();
        if let Some(like) = &self.like {
            found = all.get(like).ok_or_else(|| format!("there is no spec {like}"))?.options(all)?;
        }
        let lists = [
            (&self.flags, None),
            (&self.values, Some("value")),
            (&self.may_be_paths, Some("value")),
            (&self.attached, Some("attached")),
            (&self.digits, Some("digits")),
            (&self.help, None),
        ];
        for (list, takes) in lists {
            for name in list {
                let mut option = Opt::plain(name, takes);
                option.help = std::ptr::eq(list, &self.help);
                option.file = std::ptr::eq(list, &self.may_be_paths).then(|| "may-be-path".to_owned());
                found.push(option);
            }
        }
        found.extend(self.options.iter().cloned());
        Ok(found)
    }

    /// The subcommands, its own first.
    fn subcommands<'a>(&'a self, all: &'a BTreeMap<String, Spec>) -> Result<Vec<&'a Spec>, Error> {
        let mut found: Vec<&Spec> = self.subcommand.iter().collect();
        if let Some(like) = &self.subcommands_like {
            let other = all.get(like).ok_or_else(|| format!("there is no spec {like}"))?;
            let own =
                |sub: &Spec| self.subcommand.iter().any(|own| own.names.iter().any(|name| sub.names.contains(name)));
            for sub in other.subcommands(all)? {
                match (
                    own(sub),
                    sub.names.iter().all(|name| self.subcommand.iter().any(|own| own.names.contains(name))),
                ) {
                    (false, _) => found.push(sub),
                    (true, true) => {}
                    (true, false) => return Err(format!("{like} has {:?} as one subcommand", sub.names).into()),
                }
            }
        }
        Ok(found)
    }

    /// Whether its long options have one dash.
    fn one_dash(&self) -> bool {
        let runs = self.runs.as_ref().is_some_and(|runs| runs.traits.iter().any(|one| one == "long-only"));
        let syntax = self.files.as_ref().and_then(|files| files.syntax.as_deref());
        runs || self.one_dash
            || self.rules.as_ref().is_some_and(|rules| rules.words)
            || matches!(syntax, Some("joined" | "go"))
    }

    /// Adds itself and its subcommands by their paths.
    fn add(&self, before: &str, all: &mut BTreeMap<String, Spec>) {
        let path = format!("{before}{}", self.names[0]);
        for sub in &self.subcommand {
            sub.add(&format!("{path} "), all);
        }
        all.insert(path, self.clone());
    }

    /// The options whose value is a secret, of it and its subcommands.
    fn secrets(&self, programs: &[String], out: &mut Vec<String>, all: &BTreeMap<String, Spec>) -> Result<(), Error> {
        let after: &[String] = if programs == self.names { &[] } else { &self.names };
        let mut options = self.options(all)?;
        let subcommands = self.subcommands(all)?;
        for sub in &subcommands {
            options.extend(sub.options(all)?);
        }
        for (option, before) in &self.secrets {
            let listed = options.iter().find(|listed| listed.name.split(' ').any(|name| name == option));
            let takes =
                listed.and_then(|listed| listed.takes.as_ref()).ok_or_else(|| format!("{option} has no value"))?;
            let separate = !matches!(takes, Takes::Named(name) if name == "attached");
            let attached = option.chars().count() == 2;
            out.push(format!(
                "Secret {{ programs: &{programs:?}, after: &{after:?}, option: {option:?}, attached: {attached}, \
                 separate: {separate}, before: {before:?} }}"
            ));
        }
        subcommands.iter().try_for_each(|sub| sub.secrets(programs, out, all))
    }

    fn write(&self, out: &mut String, all: &BTreeMap<String, Spec>) -> Result<(), Error> {
        write!(out, "Spec {{ names: &{:?}, options: &[", self.names)?;
        if self.compared.as_ref().is_some_and(|with| !with.contains(", 20")) {
            return Err("compared says with what, and when: `NAME VERSION, YYYY-MM-DD`".into());
        }
        let mut names: Vec<String> = Vec::new();
        // The name of each that handlers ask for.
        let mut asked: BTreeMap<String, String> = BTreeMap::new();
        if self.names.is_empty() {
            return Err("a spec has no names".into());
        }
        for option in self.options(all)? {
            let own: Vec<&str> =
                option.name.split(' ').map(|name| bare(name, self.one_dash())).collect::<Result<_, _>>()?;
            names.extend(own.iter().map(|name| (*name).to_owned()));
            let name = option.alias.as_deref().or(own.first().copied()).ok_or("an option has no name")?;
            asked.extend(own.iter().map(|own| ((*own).to_owned(), name.to_owned())));
            let takes = match &option.takes {
                None => "Nothing".to_owned(),
                Some(Takes::Words(0)) => return Err(format!("{} takes no words", option.name).into()),
                Some(Takes::Words(count)) => format!("Next({count})"),
                Some(Takes::Named(name)) if name == "value" => "Next(1)".to_owned(),
                Some(Takes::Named(name)) => variant(name),
            };
            let run = option.run.as_deref().map_or("None".into(), |run| format!("Some(OptionRun::{})", variant(run)));
            let file = option.file.as_deref().map_or("Plain".into(), variant);
            write!(
                out,
                "Opt {{ name: {name:?}, names: &{own:?}, takes: Takes::{takes}, run: {run}, help: {}, last: {}, file: \
                 FileUse::{file} }}, ",
                option.help, option.last,
            )?;
        }
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|two| two[0] == two[1]) {
            return Err(format!("{} lists the option {} twice", self.names[0], twice[0]).into());
        }
        out.push_str("], subcommands: &[");
        for sub in self.subcommands(all)? {
            sub.write(out, all).map_err(|error| format!("{}: {error}", self.names[0]))?;
            out.push_str(", ");
        }
        out.push_str("], runs: ");
        match &self.runs {
            Some(runs) => runs.write(out)?,
            None => out.push_str("None"),
        }
        out.push_str(", files: ");
        match &self.files {
            Some(files) => files.write(out)?,
            None => out.push_str("None"),
        }
        out.push_str(", terminal: ");
        match &self.terminal {
            Some(Terminal { operands, waits, ends }) => {
                let operands = match operands {
                    Waits::UpTo(most) => format!("UpTo({most})"),
                    Waits::Named(name) => variant(name),
                };
                write!(out, "Some(Terminal {{ operands: Waits::{operands}, waits: &{waits:?}, ends: &{ends:?} }})")?;
            }
            None => out.push_str("None"),
        }
        out.push_str(", rules: ");
        match &self.rules {
            Some(Rules { abbreviates, words, own, exact }) => write!(
                out,
                "Some(Rules {{ abbreviates: {abbreviates}, words: {words}, own_options: {own}, unabbreviated: &{exact:?} }})"
            )?,
            None => out.push_str("None"),
        }
        out.push_str(", loads: ");
        match &self.loads {
            Some(loads) => loads.write(out, |name| self.listed(name, &names))?,
            None => out.push_str("None"),
        }
        out.push_str(", statements: ");
        match &self.statements {
            Some(options) => {
                let options: Vec<&str> =
                    options.iter().map(|name| self.listed(name, &names)).collect::<Result<_, _>>()?;
                write!(out, "Some(&{options:?})")?;
            }
            None => out.push_str("None"),
        }
        let reads_only = self.reads_only(&asked)?;
        write!(out, ", one_dash: {}, reads_only: {reads_only} }}", self.one_dash())?;
        Ok(())
    }

    /// When it only reads; `asked` has the name of each option that handlers ask for.
    fn reads_only(&self, asked: &BTreeMap<String, String>) -> Result<String, Error> {
        let option = |name: &String| {
            let bare = bare(name, self.one_dash())?;
            asked.get(bare).ok_or_else(|| Error::from(format!("{name} is not listed")))
        };
        Ok(match &self.reads_only {
            None | Some(ReadsOnly::Always(false)) => "ReadsOnly::Never".to_owned(),
            Some(ReadsOnly::Always(true)) => "ReadsOnly::Always".to_owned(),
            Some(ReadsOnly::Named(names)) => match names.iter().find(|name| !self.names.contains(name)) {
                Some(other) => return Err(format!("{other} is none of its names").into()),
                None => format!("ReadsOnly::Named(&{names:?})"),
            },
            Some(ReadsOnly::If(ReadsIf { with, operands, words, without })) => {
                let with = with.iter().map(option).collect::<Result<Vec<_>, _>>()?;
                let without = without.iter().map(option).collect::<Result<Vec<_>, _>>()?;
                format!(
                    "ReadsOnly::If {{ with: &{with:?}, operands: {operands:?}, words: &{words:?}, without: &{without:?} }}"
                )
            }
        })
    }

    /// The name of an option that is listed, without dashes.
    fn listed<'n>(&self, name: &'n str, all: &[String]) -> Result<&'n str, Error> {
        let bare = bare(name, self.one_dash())?;
        if all.iter().any(|listed| listed == bare) { Ok(bare) } else { Err(format!("{name} is not listed").into()) }
    }
}

impl Loads {
    fn write<'n>(&'n self, out: &mut String, listed: impl Fn(&'n str) -> Result<&'n str, Error>) -> Result<(), Error> {
        let reads = match (self.reads.as_str(), &self.each) {
            ("lines", Some(option)) => {
                listed(option)?;
                format!("LoadedAs::Lines({option:?})")
            }
            ("cmake", None) => "LoadedAs::Cmake".to_owned(),
            (language, None) => format!("LoadedAs::Language(Language::{})", variant(language)),
            _ => return Err("each is for lines".into()),
        };
        let options: Vec<&str> = self.options.iter().map(|name| listed(name)).collect::<Result<_, _>>()?;
        let tests = match (&self.tests_with, self.tests) {
            (Some(option), false) => format!("Tests::With({:?})", listed(option)?),
            (None, true) => "Tests::Always".to_owned(),
            (None, false) => "Tests::Never".to_owned(),
            _ => return Err("tests and tests-with are one or the other".into()),
        };
        let names = &self.names;
        write!(out, "Some(Loads {{ reads: {reads}, options: &{options:?}, names: &{names:?}, tests: {tests} }})")?;
        Ok(())
    }
}

impl Runs {
    fn write(&self, out: &mut String) -> Result<(), Error> {
        let what = match (&self.what, &self.language, &self.code) {
            (Some(what), None, None) => variant(what),
            (None, Some(language), None) => format!("Language(Language::{})", variant(language)),
            (None, None, Some(code)) => format!("Code(RunCode::{})", variant(code)),
            _ => return Err("runs has one of what, language and code".into()),
        };
        let traits: Vec<String> = self.traits.iter().map(|one| format!("Trait::{}", variant(one))).collect();
        let operands = self.operands;
        write!(out, "Some(Runs {{ what: RunForm::{what}, operands: {operands}, traits: &[{}] }})", traits.join(", "))?;
        Ok(())
    }
}

impl Files {
    fn write(&self, out: &mut String) -> Result<(), Error> {
        let does = match (self.does.as_deref(), &self.code, &self.makes) {
            (Some("formats"), None, None) => {
                format!("Formats {{ with: &{:?}, without: &{:?} }}", self.with, self.without)
            }
            (Some(does), None, None) => variant(does),
            (None, Some(code), None) => format!("Code(FileCode::{})", variant(code)),
            (None, None, Some(makes)) => format!("Makes(&{makes:?})"),
            _ => return Err("files has one of does, code and makes".into()),
        };
        let syntax = self.syntax.as_deref().map_or("Gnu".into(), variant);
        let Files { leading, pattern, wild, recursive, bare, complete, .. } = self;
        write!(
            out,
            "Some(Files {{ does: OperandUse::{does}, syntax: Syntax::{syntax}, leading: {leading}, pattern: {pattern}, \
             wild: {wild}, recursive: {recursive}, bare: {bare}, complete: {complete} }})",
        )?;
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    println!("cargo::rerun-if-changed=specs");
    let mut files: Vec<_> = fs::read_dir("specs")?.map(|entry| Ok(entry?.path())).collect::<Result<_, Error>>()?;
    files.sort_unstable();
    let mut specs = Vec::new();
    for path in files {
        let file: File =
            toml::from_str(&fs::read_to_string(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
        specs.extend(file.program.into_iter().map(|spec| (path.clone(), spec)));
    }
    let mut all = BTreeMap::new();
    let mut names = BTreeMap::new();
    for (index, (path, spec)) in specs.iter().enumerate() {
        spec.add("", &mut all);
        for name in &spec.names {
            if names.insert(name, index).is_some() {
                return Err(format!("{}: another spec is of {name}, too", path.display()).into());
            }
        }
    }
    let mut out = format!("pub(super) static PROGRAMS: [Spec; {}] = [\n", specs.len());
    for (path, spec) in &specs {
        if spec.compared.is_none() && spec.lists_options() {
            return Err(format!(
                "{}: {:?} lists options, and not what they were compared with",
                path.display(),
                spec.names
            )
            .into());
        }
        spec.write(&mut out, &all).map_err(|error| format!("{}: {error}", path.display()))?;
        out.push_str(",\n");
    }
    let mut secrets = Vec::new();
    for (path, spec) in &specs {
        spec.secrets(&spec.names, &mut secrets, &all).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    writeln!(out, "];\npub(super) static SECRETS: [Secret; {}] = [{}", secrets.len(), secrets.join(",\n"))?;
    writeln!(out, "];\npub(super) static NAMES: [(&str, u16); {}] = [", names.len())?;
    for (name, index) in names {
        writeln!(out, "({name:?}, {index}),")?;
    }
    out.push_str("];\n");
    let folder = env::var("OUT_DIR")?;
    fs::write(Path::new(&folder).join("table.rs"), out)?;
    Ok(())
}
