//! `toolgate rules`: what is in force, whether rule files are right, and a start for one of your own. What is in a file
//! the component says; here is which files, and how its answers look.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};
use toolgate_agents::{Failure, dirs, exit};
use toolgate_gatekeeper::gate_builder::{self, GateBuilder};
use toolgate_gatekeeper::plugin::loaded;
use toolgate_host::capability::LocalFiles;
use toolgate_host::limits::CONFIG_FILE;
use toolgate_host::plain;
use toolgate_host::private::{is_missing, read_regular};

use crate::columns::{count, width, wrapped};
use crate::options::PackOptions;
use crate::output::{BOLD, DIM, GREEN, RED, YELLOW, list, print, text};
use crate::{analysis, exempt, output, runtime};

/// What rule files may hold, for editors.
const SCHEMA: &str = include_str!("../rules.schema.json");

/// The exit code if something is wrong with a rule file.
const WRONG: u8 = 1;

/// Names longer than this do not push the reasons of the others to the right.
const NAME: usize = 28;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the active packs and rules
    List(List),
    /// List the packs, whether each is on, and whether it is on by default
    Packs(PackList),
    /// Show a rule with its tests
    Show(Show),
    /// Run the tests in rule files
    #[command(after_help = "\
Evaluates each test command in /home/dev/project with its file's rules or, without FILES, with all
active rule files together. Nothing is run.

Exit codes: 0 all pass, 1 some fail, 64 invalid arguments, 66 no such file, 70 and above internal errors.")]
    Test(Test),
    /// Report errors in rule files, and what in them can never do anything
    #[command(after_help = "\
Warnings are about entries that never do anything: a pattern or a program's name that matches nothing,
a variable in a path, an exemption or an override for a rule that does not exist, two rules of one
name.

Exit codes: 0 nothing to report, 1 errors or warnings, 64 invalid arguments, 66 no such file, 70 and above internal errors.")]
    Lint(Lint),
    /// Print the JSON Schema of rule files
    #[command(after_help = "\
For editors with a YAML language server, this goes on the first line of the file:

  # yaml-language-server: $schema=rules.schema.json")]
    Schema,
    /// Create a rule file, unless one exists
    Init(Init),
    /// Lift rules in your own rule file
    Exempt(exempt::Arguments),
}

/// Whose rules are active.
#[derive(Args)]
struct Where {
    /// The directory to look from [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    #[command(flatten)]
    packs: PackOptions,
}

#[derive(Args)]
struct List {
    #[command(flatten)]
    at: Where,

    /// Show the rules of packs that are off as well
    #[arg(long)]
    all: bool,

    /// Show only the rules of this pack
    #[arg(long, value_name = "NAME")]
    pack: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct PackList {
    #[command(flatten)]
    at: Where,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Show {
    /// The rule's name, with or without `builtin:`, `user:` or `project:`
    name: String,

    #[command(flatten)]
    at: Where,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Test {
    #[command(flatten)]
    files: Files,

    /// Run those of all packs of built-in rules
    #[arg(long, conflicts_with_all = ["files", "layer"])]
    built_in: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Lint {
    #[command(flatten)]
    files: Files,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Files {
    /// Rule files, each on its own [default: yours and the project's]
    files: Vec<PathBuf>,

    /// Whose the files count as [default: what their names and places say]
    #[arg(long = "as", value_name = "WHOSE", requires = "files")]
    layer: Option<Layer>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Layer {
    /// Your own, which may lift rules
    User,
    /// A project's, which may not
    Project,
}

#[derive(Args)]
struct Init {
    /// Write it for the project, in its root, not for you
    #[arg(long)]
    project: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::List(arguments) => rules(arguments),
        Command::Packs(arguments) => packs(arguments),
        Command::Show(arguments) => one(arguments),
        Command::Test(arguments) => test(arguments),
        Command::Lint(arguments) => lint(arguments),
        Command::Schema => print(|out| out.write_all(SCHEMA.as_bytes())),
        Command::Init(arguments) => init(arguments.project),
        Command::Exempt(arguments) => exempt::run(arguments, every),
    }
}

/// Answers about rules: the component, and whose rules it knows.
fn ask(at: &Where, own: bool, questions: &[Value]) -> Result<Vec<Map<String, Value>>, Failure> {
    let cwd = dirs::folder(at.cwd.as_deref())?;
    let root = dirs::root_of(&cwd);
    let home = dirs::home();
    let plugin = gate_builder::default_plugin().map_err(Failure::software)?;
    let files = if own { rule_files(&cwd, &root)? } else { LocalFiles::new() };
    let loaded = loaded::by_hand()?;
    let standing = GateBuilder {
        plugin: &plugin,
        cwd: &cwd,
        home: home.as_deref(),
        root: &root,
        packs: &at.packs.packs(),
        kept: &[],
        loaded: &loaded,
        whose: None,
    };
    runtime::one_thread()?.block_on(async {
        let opened = standing.open(files, None).await?;
        output::diagnostics(&opened.started.diagnostics);
        let analysis = standing.analysis(&opened);
        let mut answers = Vec::new();
        for question in questions {
            let answer = analysis.rules(&question.to_string()).await;
            let answer = answer.and_then(|answer| analysis::object(&answer));
            answers.push(answer.map_err(|error| analysis::unanswered(&error))?);
        }
        Ok(answers)
    })
}

/// The rule files that are in force in a folder of a project.
pub(crate) fn rule_files(cwd: &str, root: &str) -> Result<LocalFiles, Failure> {
    let files = dirs::rule_files(&[Path::new(root), Path::new(cwd)]);
    files.map_err(|error| Failure::new(exit::NO_INPUT, error))
}

fn first(mut answers: Vec<Map<String, Value>>) -> Map<String, Value> {
    if answers.is_empty() { Map::new() } else { answers.swap_remove(0) }
}

fn texts<'a>(value: &'a Value, key: &str) -> Vec<&'a str> {
    list(value.get(key)).iter().filter_map(Value::as_str).collect()
}

fn number(value: &Value, key: &str) -> usize {
    value[key].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
}

/// A rule's name without its layer, which the heading says.
fn own_name(name: &str) -> &str {
    ["builtin:", "user:", "project:"].iter().find_map(|layer| name.strip_prefix(layer)).unwrap_or(name)
}

fn action(rule: &Value) -> String {
    let action = text(rule, "action");
    let style = output::style(action);
    format!("{style}{action:<5}{style:#}")
}

fn rules(arguments: &List) -> Result<ExitCode, Failure> {
    let mut answer = first(ask(&arguments.at, true, &[json!({ "question": "list" })])?);
    if let Some(wanted) = &arguments.pack
        && !list(answer.get("packs")).iter().any(|pack| text(pack, "name") == wanted)
    {
        let names: Vec<&str> = list(answer.get("packs")).iter().map(|pack| text(pack, "name")).collect();
        let message = format!("no pack {wanted}; the packs are {}", names.join(", "));
        return Err(Failure::new(exit::USAGE, message));
    }
    for key in ["packs", "rules"] {
        let Some(items) = answer.get_mut(key).and_then(Value::as_array_mut) else { continue };
        items.retain(|item| match (&arguments.pack, key) {
            (Some(wanted), "packs") => text(item, "name") == wanted,
            (Some(wanted), _) => item["layer"] == "builtin" && text(item, "source") == wanted,
            (None, "packs") => true,
            (None, _) => arguments.all || item["on"] == true,
        });
    }
    if arguments.json {
        return print(|out| writeln!(out, "{}", Value::Object(answer)));
    }
    print(|out| {
        pack_rows(out, list(answer.get("packs")))?;
        let mut source = None;
        for rule in list(answer.get("rules")) {
            if source != Some(text(rule, "source")) {
                source = Some(text(rule, "source"));
                let pack = rule["layer"] == "builtin";
                let state = match (rule["on"] == true, pack) {
                    (false, _) => "  off".to_owned(),
                    (true, true) => String::new(),
                    (true, false) => format!("  {}", whose(text(rule, "layer"))),
                };
                writeln!(out, "\n{BOLD}{}{BOLD:#}{DIM}{state}{DIM:#}", plain(text(rule, "source")))?;
            }
            row(out, rule)?;
        }
        let observers = list(answer.get("observers"));
        if !observers.is_empty() {
            writeln!(out, "\n{BOLD}observers{BOLD:#}")?;
        }
        for one in observers {
            let events: Vec<String> = texts(one, "writes").iter().map(|event| plain(event)).collect();
            let name = plain(one["name"].as_str().unwrap_or("(no name)"));
            let source = plain(text(one, "source"));
            writeln!(out, "  {name:<NAME$}  writes {}  {DIM}{source}{DIM:#}", events.join(", "))?;
        }
        Ok(())
    })
}

fn packs(arguments: &PackList) -> Result<ExitCode, Failure> {
    let answer = first(ask(&arguments.at, true, &[json!({ "question": "list" })])?);
    let packs = list(answer.get("packs"));
    print(|out| match arguments.json {
        true => writeln!(out, "{}", json!({ "packs": packs })),
        false => pack_rows(out, packs),
    })
}

/// The packs, a row each; of one that is off by default, or not as by default, it is said.
fn pack_rows(out: &mut dyn Write, packs: &[Value]) -> std::io::Result<()> {
    let longest = packs.iter().map(|pack| text(pack, "name").len()).max().unwrap_or(0);
    writeln!(out, "{BOLD}packs{BOLD:#}")?;
    for pack in packs {
        let (on, by_default) = (pack["on"] == true, pack["by_default"] == true);
        let (state, style) = if on { ("on", GREEN) } else { ("off", DIM) };
        let default = match by_default {
            false => " (off by default)",
            true if !on => " (on by default)",
            true => "",
        };
        let about = wrapped(&format!("{}{default}", plain(text(pack, "about"))), room(longest + 25));
        let mut about = about.iter();
        writeln!(
            out,
            "  {style}{state:<3}{style:#}  {:<longest$}  {DIM}{:>9}{DIM:#}  {}",
            plain(text(pack, "name")),
            count(number(pack, "rules"), "rule"),
            about.next().map_or("", String::as_str),
        )?;
        about.try_for_each(|line| writeln!(out, "{:1$}{line}", "", longest + 20))?;
    }
    Ok(())
}

/// What the packs are that came with Toolgate, as the component says it, whatever rule files choose.
fn built_in() -> Result<Map<String, Value>, Failure> {
    let at = Where { cwd: None, packs: PackOptions::default() };
    Ok(first(ask(&at, false, &[json!({ "question": "list" })])?))
}

/// The names of the packs that are off by default, each with what it is about.
///
/// # Errors
/// If that is not known.
pub(crate) fn off_by_default() -> Result<Vec<(String, String)>, Failure> {
    let answer = built_in()?;
    let off = list(answer.get("packs")).iter().filter(|pack| pack["by_default"] != true);
    Ok(off.map(|pack| (text(pack, "name").to_owned(), text(pack, "about").to_owned())).collect())
}

/// The pack that a built-in rule is in, if it is in one.
///
/// # Errors
/// If that is not known.
pub(crate) fn pack_of(rule: &str) -> Result<Option<String>, Failure> {
    let answer = built_in()?;
    let own = list(answer.get("rules")).iter().find(|one| one["layer"] == "builtin" && text(one, "name") == rule);
    Ok(own.map(|one| text(one, "source").to_owned()))
}

/// Every rule of the packs and of the rule files here, in force or not, as the component lists it.
///
/// # Errors
/// If that is not known.
fn every() -> Result<Vec<Value>, Failure> {
    Ok(list(all()?.get("rules")).to_vec())
}

/// The `packs` and `rules` that there are here, in force or not, as the component lists them.
///
/// # Errors
/// If that is not known.
pub(crate) fn all() -> Result<Map<String, Value>, Failure> {
    let at = Where { cwd: None, packs: PackOptions::default() };
    Ok(first(ask(&at, true, &[json!({ "question": "list" })])?))
}

/// After which events a test is.
fn after(events: &[&str]) -> String {
    let events: Vec<String> = events.iter().map(|event| plain(event)).collect();
    if events.is_empty() { "  before any event".to_owned() } else { format!("  after {}", events.join(", ")) }
}

fn whose(layer: &str) -> &'static str {
    if layer == "project" { "the project's" } else { "yours" }
}

/// The room that is left beside so many characters.
fn room(used: usize) -> Option<usize> {
    width().map(|width| width.saturating_sub(used))
}

/// A rule in the list: what it asks for, its name, why, and what would be fine instead.
fn row(out: &mut dyn Write, rule: &Value) -> std::io::Result<()> {
    let name = plain(own_name(text(rule, "name")));
    let mut lines = wrapped(&plain(text(rule, "reason")), room(NAME + 11));
    if let Some(instead) = rule["instead"].as_str() {
        match width() {
            Some(_) => lines.extend(wrapped(&format!("instead: {}", plain(instead)), room(NAME + 11))),
            // Without a terminal every rule is one line.
            None => lines.iter_mut().for_each(|line| line.push_str(&format!("; instead: {}", plain(instead)))),
        }
    }
    let mut lines = lines.iter();
    if name.chars().count() > NAME && width().is_some() {
        writeln!(out, "  {}  {name}", action(rule))?;
    } else {
        writeln!(out, "  {}  {name:<NAME$}  {}", action(rule), lines.next().map_or("", String::as_str))?;
    }
    lines.try_for_each(|line| writeln!(out, "{:1$}{line}", "", NAME + 11))
}

fn one(arguments: &Show) -> Result<ExitCode, Failure> {
    let answer = first(ask(&arguments.at, true, &[json!({ "question": "list" })])?);
    let all = list(answer.get("rules"));
    let found: Vec<&Value> = all
        .iter()
        .filter(|rule| {
            let name = text(rule, "name");
            name == arguments.name || own_name(name) == arguments.name
        })
        .collect();
    if found.is_empty() {
        let near = all.iter().map(|rule| text(rule, "name")).filter(|name| name.contains(&arguments.name));
        let near: Vec<&str> = near.take(10).collect();
        let hint = match near.is_empty() {
            true => "`toolgate rules list --all` shows all of them".to_owned(),
            false => format!("there are {}", near.join(", ")),
        };
        return Err(Failure::new(exit::USAGE, format!("no rule {}; {hint}", arguments.name)));
    }
    print(|out| {
        if arguments.json {
            return writeln!(out, "{}", json!({ "rules": found }));
        }
        for (index, rule) in found.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            writeln!(out, "{BOLD}{}{BOLD:#}", plain(text(rule, "name")))?;
            let source = plain(text(rule, "source"));
            let source = match (rule["layer"] == "builtin", rule["on"] == true) {
                (true, true) => format!("the pack {source}"),
                (true, false) => format!("the pack {source}, which is off (--packs {source} turns it on)"),
                (false, _) => format!("{source}, {}", whose(text(rule, "layer"))),
            };
            writeln!(out, "  {DIM}action {DIM:#}  {}", action(rule))?;
            writeln!(out, "  {DIM}from   {DIM:#}  {source}")?;
            for (label, value) in [("reason", rule["reason"].as_str()), ("instead", rule["instead"].as_str())] {
                let lines = value.map(|value| wrapped(&plain(value), room(11))).unwrap_or_default();
                for (at, line) in lines.iter().enumerate() {
                    writeln!(out, "  {DIM}{:<7}{DIM:#}  {line}", if at == 0 { label } else { "" })?;
                }
            }
            for test in list(rule.get("tests")) {
                let (label, style) = if test["fires"] == true { ("fires", RED) } else { ("passes", GREEN) };
                let after = test["after"].as_array().map(|_| after(&texts(test, "after"))).unwrap_or_default();
                writeln!(
                    out,
                    "  {style}{label:<7}{style:#}  {}{DIM}{after}{DIM:#}",
                    output::cut(text(test, "command"))
                )?;
            }
            if list(rule.get("tests")).is_empty() {
                writeln!(out, "  {DIM}no tests{DIM:#}")?;
            }
        }
        Ok(())
    })
}

/// A rule file as it was read.
struct File {
    path: PathBuf,
    layer: &'static str,
    /// Its text, or why there is none.
    content: Result<String, String>,
}

impl File {
    /// None if there is no such file.
    fn read(path: PathBuf, layer: &'static str) -> Option<Self> {
        let content = match read_regular(&path, CONFIG_FILE) {
            Err(error) if is_missing(&error) => return None,
            Err(error) => Err(error.to_string()),
            Ok(bytes) => {
                String::from_utf8(bytes).map_err(|_| "the file is not UTF-8 text; save it as UTF-8".to_owned())
            }
        };
        Some(File { path, layer, content })
    }

    /// What is wrong with it, where these rule files are in force as well.
    fn question(&self, beside: &[File]) -> Option<Value> {
        let content = self.content.as_ref().ok()?;
        let others = beside.iter().filter(|other| other.path != self.path);
        let others =
            others.filter_map(|other| Some(json!({ "layer": other.layer, "content": other.content.as_ref().ok()? })));
        Some(json!({
            "question": "lint", "file": self.path.display().to_string(), "layer": self.layer, "content": content,
            "beside": others.collect::<Vec<_>>(),
        }))
    }
}

impl Files {
    /// The files that are there, and the names of all that were looked for.
    fn read(&self) -> Result<(Vec<File>, Vec<PathBuf>), Failure> {
        let cwd = dirs::folder(None)?;
        let root = dirs::root_of(&cwd);
        let known = rule_files(&cwd, &root)?;
        if self.files.is_empty() {
            let files = known.rules().filter_map(|(layer, path)| File::read(path.to_path_buf(), layer)).collect();
            return Ok((files, known.rules().map(|(_, path)| path.to_path_buf()).collect()));
        }
        let mut files = Vec::new();
        for path in &self.files {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            let own = known.rules().find(|(_, known)| known.canonicalize().is_ok_and(|known| known == real));
            // A name that Toolgate looks for in projects.
            let projects = || dirs::PROJECTS.iter().any(|name| path.ends_with(name));
            let layer = match (self.layer, own) {
                (Some(Layer::User), _) => "user",
                (Some(Layer::Project), _) => "project",
                (None, Some((layer, _))) => layer,
                (None, None) => {
                    if projects() {
                        "project"
                    } else {
                        "user"
                    }
                }
            };
            let file = File::read(path.clone(), layer);
            files.push(
                file.ok_or_else(|| Failure::new(exit::NO_INPUT, format!("no such rule file: {}", path.display())))?,
            );
        }
        Ok((files, self.files.clone()))
    }

    /// What the component says of each file that could be read.
    fn judged(files: &[File]) -> Result<Vec<Map<String, Value>>, Failure> {
        let cwd = dirs::folder(None)?;
        let known = rule_files(&cwd, &dirs::root_of(&cwd))?;
        let beside: Vec<File> =
            known.rules().filter_map(|(layer, path)| File::read(path.to_path_buf(), layer)).collect();
        let questions: Vec<Value> = files.iter().filter_map(|file| file.question(&beside)).collect();
        ask(&Where { cwd: None, packs: PackOptions::default() }, false, &questions)
    }
}

/// What is wrong with these files: `file`, `line` and `message`.
fn problems(files: &[File], answers: &[Map<String, Value>]) -> Vec<Value> {
    let unread = files.iter().filter_map(|file| {
        let message = file.content.as_ref().err()?;
        Some(json!({ "file": file.path.display().to_string(), "line": null, "message": message, "whole_file": true }))
    });
    unread.chain(answers.iter().flat_map(|answer| list(answer.get("problems"))).cloned()).collect()
}

/// What is wrong with those of these files that are rule files in force here, a sentence each.
///
/// # Errors
/// If that is not known.
pub(crate) fn wrong_with(of: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let (mut files, _) = Files { files: Vec::new(), layer: None }.read()?;
    files.retain(|file| of.contains(&file.path));
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let told = |problem: &Value| {
        let line = problem["line"].as_u64().map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}: {}", text(problem, "file"), text(problem, "message"))
    };
    Ok(problems(&files, &Files::judged(&files)?).iter().map(told).collect())
}

fn problem_line(problem: &Value) -> String {
    let line = problem["line"].as_u64().map(|line| format!(":{line}")).unwrap_or_default();
    let (style, kind) = if problem["warning"] == true { (YELLOW, "warning: ") } else { (RED, "") };
    format!("{}{line}: {style}{kind}{}{style:#}", plain(text(problem, "file")), plain(text(problem, "message")))
}

/// Which files were looked at.
fn looked_at(out: &mut dyn Write, files: &[File], names: &[PathBuf]) -> std::io::Result<()> {
    if files.is_empty() {
        let names: Vec<String> = names.iter().map(|name| plain(&name.display().to_string())).collect();
        return writeln!(out, "{DIM}no rule files found; looked for {}{DIM:#}", names.join(", "));
    }
    for file in files {
        writeln!(out, "{DIM}looked at {}, {}{DIM:#}", plain(&file.path.display().to_string()), whose(file.layer))?;
    }
    Ok(())
}

fn lint(arguments: &Lint) -> Result<ExitCode, Failure> {
    let (files, names) = arguments.files.read()?;
    if arguments.files.files.is_empty() {
        let cwd = dirs::folder(None)?;
        output::diagnostics(&dirs::demoted(&rule_files(&cwd, &dirs::root_of(&cwd))?));
    }
    let answers = Files::judged(&files)?;
    let problems = problems(&files, &answers);
    let rules: usize = answers.iter().map(|answer| number(&Value::Object(answer.clone()), "rules")).sum();
    print(|out| {
        if arguments.json {
            let files: Vec<Value> = files
                .iter()
                .map(|file| json!({ "file": file.path.display().to_string(), "layer": file.layer }))
                .collect();
            return writeln!(out, "{}", json!({ "files": files, "rules": rules, "problems": problems }));
        }
        problems.iter().try_for_each(|problem| writeln!(out, "{}", problem_line(problem)))?;
        looked_at(out, &files, &names)?;
        let warnings = problems.iter().filter(|problem| problem["warning"] == true).count();
        let (read, wrong) = (count(rules, "rule"), problems.len() - warnings);
        match (wrong, warnings) {
            _ if files.is_empty() => Ok(()),
            (0, 0) => writeln!(out, "{GREEN}no errors{GREEN:#} in {read}"),
            (0, _) => writeln!(out, "{YELLOW}{}{YELLOW:#}; {read} read", count(warnings, "warning")),
            (_, 0) => writeln!(out, "{RED}{}{RED:#}; {read} read", count(wrong, "problem")),
            _ => {
                let (wrong, warnings) = (count(wrong, "problem"), count(warnings, "warning"));
                writeln!(out, "{RED}{wrong}{RED:#} and {YELLOW}{warnings}{YELLOW:#}; {read} read")
            }
        }
    })?;
    Ok(ExitCode::from(if problems.is_empty() { 0 } else { WRONG }))
}

fn test(arguments: &Test) -> Result<ExitCode, Failure> {
    let (mut files, mut names) = (Vec::new(), Vec::new());
    let (answers, problems) = if arguments.built_in {
        let at = Where { cwd: None, packs: PackOptions::all() };
        (ask(&at, false, &[json!({ "question": "test-built-in" })])?, Vec::new())
    } else {
        (files, names) = arguments.files.read()?;
        let linted = Files::judged(&files)?;
        let mut problems = problems(&files, &linted);
        // What never does anything fails no test.
        problems.retain(|problem| problem["warning"] != true);
        let answers = match arguments.files.files.is_empty() {
            // Together, as they are in force; what is wrong with them has been found above.
            true if problems.is_empty() => {
                ask(&Where { cwd: None, packs: PackOptions::default() }, true, &[json!({ "question": "test" })])?
            }
            _ => linted,
        };
        (answers, problems)
    };
    let all = |key: &str| -> Vec<Value> { answers.iter().flat_map(|answer| list(answer.get(key))).cloned().collect() };
    let failed = all("failed");
    let untested: Vec<String> = all("untested").iter().filter_map(Value::as_str).map(plain).collect();
    let tests: usize = answers.iter().map(|answer| number(&Value::Object(answer.clone()), "count")).sum();
    print(|out| {
        if arguments.json {
            let answer = json!({ "count": tests, "failed": failed, "untested": untested, "problems": problems });
            return writeln!(out, "{answer}");
        }
        problems.iter().try_for_each(|problem| writeln!(out, "{}", problem_line(problem)))?;
        for one in &failed {
            let line = one["line"].as_u64().map(|line| format!(":{line}")).unwrap_or_default();
            let wanted = if one["fires"] == true { "does not fire on" } else { "fires on" };
            let file = plain(text(one, "file"));
            writeln!(out, "{file}{line}: {RED}{}{RED:#} {wanted}", plain(text(one, "rule")))?;
            writeln!(out, "  {}", output::cut(text(one, "command")))?;
            let fired = texts(one, "fired").iter().map(|rule| plain(rule)).collect::<Vec<_>>().join(", ");
            writeln!(out, "  {DIM}fired:{DIM:#} {}", if fired.is_empty() { "nothing" } else { &fired })?;
        }
        if !arguments.built_in {
            looked_at(out, &files, &names)?;
        }
        if !untested.is_empty() {
            let names = wrapped(&untested.join(", "), room(2));
            writeln!(out, "{YELLOW}{} without a test{YELLOW:#}", count(untested.len(), "rule"))?;
            names.iter().try_for_each(|line| writeln!(out, "  {line}"))?;
        }
        match failed.len() {
            0 if !problems.is_empty() => {
                let hold = if tests == 0 { "" } else { ", which pass" };
                let (wrong, tests) = (count(problems.len(), "problem"), count(tests, "test"));
                writeln!(out, "{RED}{wrong}{RED:#}; the valid part has {tests}{hold}")
            }
            0 => writeln!(out, "{GREEN}{}{GREEN:#}, and all pass", count(tests, "test")),
            wrong => writeln!(out, "{RED}{wrong} of {}{RED:#} fail", count(tests, "test")),
        }
    })?;
    Ok(ExitCode::from(if failed.is_empty() && problems.is_empty() { 0 } else { WRONG }))
}

fn init(project: bool) -> Result<ExitCode, Failure> {
    let (path, content) = if project {
        let root = dirs::project_root(Path::new(&dirs::folder(None)?));
        (root.join("toolgate.yaml"), include_str!("starter/project.yaml"))
    } else {
        let path = dirs::user_file().map_err(|error| Failure::new(exit::NO_INPUT, error))?;
        (path, include_str!("starter/user.yaml"))
    };
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::new(exit::USAGE, format!("{} already exists and was not changed; edit it", path.display()))
        }
        _ => Failure::new(exit::IO, format!("{}: {error}", path.display())),
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = std::fs::File::create_new(&path).map_err(failed)?;
    file.write_all(content.as_bytes()).map_err(failed)?;
    print(|out| {
        writeln!(out, "{}", plain(&path.display().to_string()))?;
        writeln!(out, "{DIM}So far it contains only comments. Edit it, then run: toolgate rules lint{DIM:#}")
    })
}
