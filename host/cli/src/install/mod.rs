//! `toolgate install`, `toolgate uninstall` and `toolgate doctor`: making agents call Toolgate, and whether they do.
//!
//! | Module | For |
//! |---|---|
//! | `doctor` | whether an agent really asks, check by check |
//! | `config_entries` | how our entries stand in an agent's file |
//! | `entry_file` | a file that has an agent call Toolgate |
//! | `files` | whether what the user wrote by hand is theirs alone |
//! | `imports` | which other agents read an agent's file, and what they make of it |
//! | `name` | an agent's name on the command line |
//! | `packs` | whether other packs make the hook see less |
//! | `plugins` | whether the installed plugins can be used |
//! | `probe` | a call through the command that an agent has been given |
//! | `report` | what `doctor` says, and how it is shown |
//! | `terminal` | whether the shared terminal is offered to an agent |
//! | `trials` | what comes of such calls, and of which version the agent is |

mod config_entries;
mod doctor;
mod entry_file;
mod files;
mod imports;
mod name;
mod packs;
mod plugins;
mod probe;
mod report;
mod terminal;
mod trials;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use toolgate_agents::settings::file::{File, Next, unreadable};
use toolgate_agents::settings::hook_disablers::{OwnHooks, SettingsContext};
use toolgate_agents::settings::link::Target;
use toolgate_agents::settings::program::{self, Standing};
use toolgate_agents::settings::table::{self, AgentConfig, HookMechanism, Hooks, NO_LENS, Scope};
use toolgate_agents::settings::{backups, created_folders, hook_failures, hook_trust, hooks, shims};
use toolgate_agents::{Failure, exit, shim};
use toolgate_gatekeeper::packs::Packs;
use toolgate_gatekeeper::plugins::installed;
use toolgate_gatekeeper::{gate_builder, hook_files};
use toolgate_host::capability::LocalFiles;
use toolgate_host::plain;

pub(crate) use doctor::{Arguments as Doctor, Hooked, Present, present, run as doctor, show_checks};
pub(crate) use name::parser as agent_name;

use crate::lens::Switch;
use crate::options::{PackOptions, PluginOptions};
use crate::output::{GREEN, YELLOW, print};
use crate::{confirmation, output, rules, runtime};
use packs::Chosen;

#[derive(Args)]
#[command(after_help = "\
Other hooks, comments and the order are kept. A file that cannot be parsed is not changed, and a
backup NAME.toolgate-backup is written before each change. Running it again changes nothing.

--packs replaces the packs chosen earlier, and --plugin with its options the plugins named earlier;
the hook's other options are kept.

Adding plugins or --no-lens, and removing options of the hook, requires a confirmation word at a
terminal that no agent controls. --dry-run works anywhere.

Exit codes: 0 done, or nothing to do; 2 refused or not confirmed; 64 invalid arguments, 65 an
invalid configuration or plugin, 66 an unreadable file or no home folder, 70 and above internal errors or disk errors.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    change: Change,

    #[command(flatten)]
    packs: PackOptions,

    #[command(flatten)]
    plugins: PluginOptions,

    #[command(flatten)]
    lens: Switch,

    #[command(flatten)]
    terminal: terminal::Switch,
}

#[derive(Args)]
#[command(after_help = "\
The rest of the agent's configuration is kept. A backup NAME.toolgate-backup is written before each
change; a file with only Toolgate's own entries is deleted without a backup, and so are folders that
Toolgate made and that are empty then.

Uninstalling requires a confirmation word at a terminal that no agent controls. --dry-run works
anywhere.

Exit codes: 0 done, or nothing to do; 2 refused or not confirmed; 64 invalid arguments, 65 an
invalid configuration, 66 an unreadable one or no home folder, 70 and above internal errors
or of the disk.")]
pub(crate) struct Removal {
    #[command(flatten)]
    change: Change,
}

/// Which configuration is changed, and whether it is.
#[derive(Args)]
struct Change {
    /// The agent
    #[arg(value_parser = name::parser())]
    agent: &'static AgentConfig,

    /// In the project of the current folder
    #[arg(long, conflicts_with = "user")]
    project: bool,

    /// In your own configuration, for all projects [default]
    #[arg(long)]
    user: bool,

    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
}

impl Arguments {
    /// Whether options of the hook are given here that are no switches.
    fn has_options(&self) -> bool {
        !self.packs.packs().names().is_empty() || !self.plugins.plugins().files().is_empty()
    }

    /// The options of the hook, if any are given here: packs in the place of the packs that were chosen, and plugins with
    /// what goes with them in the place of those that were named. What was there besides stays.
    fn options(&self, before: Vec<String>) -> Result<Option<Vec<String>>, Failure> {
        if !self.has_options() {
            return Ok(None);
        }
        let (packs, plugins) = (self.packs.packs().arguments(), self.plugins.plugins().arguments());
        let plugins = plugins.map_err(|error| Failure::new(exit::NO_INPUT, error))?;
        let (chosen, rest) = Chosen::split(before);
        let mut options = if packs.is_empty() { chosen.words } else { packs };
        options.extend(if plugins.is_empty() { rest } else { plugins::without(rest) });
        options.extend(plugins);
        Ok(Some(options))
    }
}

/// Whether plugins are installed, for which agents call Toolgate at more events.
fn any_plugins() -> bool {
    !installed().is_empty()
}

/// Whether there are packs of these names. With one that there is not the hook would deny every call.
fn packs_exist(packs: &Packs) -> Result<(), Failure> {
    if packs.names().is_empty() {
        return Ok(());
    }
    let plugin = gate_builder::default_plugin().map_err(Failure::software)?;
    let standing = gate_builder::GateBuilder {
        plugin: &plugin,
        cwd: "/",
        home: None,
        root: "/",
        packs,
        kept: &[],
        loaded: &[],
        whose: None,
    };
    let started = async { standing.start(LocalFiles::new(), None).await.map(drop) };
    runtime::one_thread()?.block_on(started)
}

/// Which packs of rules are off, unless all are chosen.
fn packs_off(packs: &Packs) -> Option<String> {
    let chosen = packs.names();
    let is_on = |name: &str| {
        chosen.iter().rev().find_map(|one| match one.strip_prefix('-') {
            Some(off) => (off == name || off == "all").then_some(false),
            None => (*one == name || *one == "all").then_some(true),
        })
    };
    let off = rules::off_by_default().ok()?;
    let off = off.iter().filter(|(name, _)| is_on(name) != Some(true));
    let off: Vec<String> = off.map(|(name, about)| format!("{name} ({about})")).collect();
    let list = "`toolgate rules packs` shows all packs, and `packs: [NAME]` in your rule file turns one on";
    (!off.is_empty()).then(|| format!("rule packs that are off: {}; {list}", off.join(", ")))
}

/// Which packs of rules are off unless somebody chooses them, as installing says it for each agent.
pub(crate) fn packs_note() -> Option<String> {
    packs_off(&Packs::default())
}

/// A change of an agent's configuration, ready to be shown and made.
struct Planned {
    file: File,
    next: Next,
    loosens: Option<Loosens>,
    target: Option<Target>,
    /// What the user has to know of this change, or to do besides.
    notes: Vec<String>,
    /// What holds for other agents as well, or is reported by `doctor`.
    advice: Vec<String>,
}

impl Planned {
    /// Whether the file or the link that it names is not yet as it would be.
    fn changes(&self) -> bool {
        self.writes() || self.link().is_some()
    }

    /// Whether the file is not yet as it would be.
    fn writes(&self) -> bool {
        !matches!(self.next, Next::Same)
    }

    /// The link that would be made, with what it would lead to.
    fn link(&self) -> Option<String> {
        self.target.as_ref().and_then(Target::missing)
    }
}

/// What `toolgate install` would do for an agent, for a caller that asks before it is done.
pub(crate) struct Offer {
    change: Change,
    planned: Planned,
}

impl Offer {
    /// In the user's own configuration. The options that the hook has already stay, so it sees no less afterwards, and there is
    /// nothing to confirm with a word.
    ///
    /// # Errors
    /// Those of `toolgate install`.
    pub(crate) fn of(agent: &'static AgentConfig, dry_run: bool) -> Result<Self, Failure> {
        let arguments = Arguments {
            change: Change { agent, project: false, user: false, dry_run },
            packs: PackOptions::default(),
            plugins: PluginOptions::default(),
            lens: Switch::default(),
            terminal: terminal::Switch::default(),
        };
        let planned = planned(&arguments)?;
        Ok(Offer { change: arguments.change, planned })
    }

    /// The file that is changed, as it is now.
    pub(crate) fn file(&self) -> &File {
        &self.planned.file
    }

    /// Whether there is anything to do.
    pub(crate) fn changes(&self) -> bool {
        self.planned.changes()
    }

    /// Whether the file itself would be written, and not only the link that it names.
    pub(crate) fn writes(&self) -> bool {
        self.planned.writes()
    }

    /// Shows the change as a diff, with the link that will be made.
    pub(crate) fn show(&self) -> Result<(), Failure> {
        self.change.preview(&self.planned)?;
        self.change.announce(&self.planned)
    }

    /// Makes the change, unless it is only shown, and prints what was done.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn make(&self) -> Result<(), Failure> {
        self.change.make(&self.planned).map(drop)
    }
}

/// A change that makes the gate see less, which takes a person.
struct Loosens {
    /// What is asked, with `{word}` for what is to be typed.
    question: String,
    /// What is said where nobody agrees.
    otherwise: &'static str,
}

/// `toolgate install`.
pub(crate) fn install(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut planned = planned(arguments)?;
    let advice = std::mem::take(&mut planned.advice);
    planned.notes.extend(advice);
    arguments.change.carry_out(&planned)
}

/// The change that these arguments ask for.
fn planned(arguments: &Arguments) -> Result<Planned, Failure> {
    let change = &arguments.change;
    let known = change.agent;
    let program = program::running()?;
    let file = File::read(&known.file(change.scope())?)?;
    let target = match &known.way {
        HookMechanism::Hooks(_) => Some(Target::of(known, change.scope(), &program)?),
        HookMechanism::Shim(_) => None,
    };
    let called = target.as_ref().map_or(program.as_str(), |target| target.path.as_str());
    let next = match &known.way {
        HookMechanism::Hooks(hooks) => {
            packs_exist(&arguments.packs.packs())?;
            let options = arguments.options(hooks::options(file.text()?, known, hooks))?;
            // With one that cannot be used the hook would deny every call.
            arguments.plugins.plugins().usable().map_err(|error| Failure::new(exit::DATA, error))?;
            hooks::install(file.text()?, known, hooks, called, options.as_deref(), arguments.lens.said(), any_plugins())
                .map_err(|error| unreadable(&file, &error))?
        }
        HookMechanism::Shim(_) if arguments.has_options() || arguments.lens.said() == Some(false) => {
            let plugins = !arguments.plugins.plugins().files().is_empty();
            let packs = !arguments.packs.packs().names().is_empty();
            let no_lens = arguments.lens.said() == Some(false);
            let all = [
                (plugins, "--plugin", "`toolgate plugin add FILE` holds for every agent"),
                (packs, "--packs", "your rule file can choose `packs`"),
                (no_lens, "--no-lens", "your rule file can have `lens: {enabled: false}`"),
            ];
            let given = all.into_iter().filter(|(given, ..)| *given);
            let (names, instead): (Vec<_>, Vec<_>) = given.map(|(_, name, instead)| (name, instead)).unzip();
            let message = format!("{} has no setting for {}; {}", known.title(), names.join(", "), instead.join("; "));
            return Err(Failure::new(exit::USAGE, message));
        }
        HookMechanism::Shim(text) => {
            let shares = file.exists() && shims::shares(file.text()?);
            let wanted = arguments.terminal.said().unwrap_or(shares);
            shims::with(text, &program, wanted && shims::can_share(text))?
        }
    };
    if matches!(known.way, HookMechanism::Shim(_)) && file.exists() && !file.text()?.starts_with(shim::MARK) {
        let message = format!("{} exists, but Toolgate did not write it; move it away first", file.path.display());
        return Err(Failure::new(exit::DATA, message));
    }
    if change.scope() == Scope::Project && !file.is_below(&table::project()?) {
        let message =
            format!("{} is a symbolic link out of the project, which Toolgate does not follow", file.path.display());
        return Err(Failure::new(exit::DATA, message));
    }
    let entries = match &known.way {
        HookMechanism::Hooks(hooks) => {
            hooks::parse(&next).map(|root| hooks::entries(known, hooks, &root)).unwrap_or_default()
        }
        HookMechanism::Shim(_) => Vec::new(),
    };
    let loosens = match &known.way {
        HookMechanism::Hooks(hooks) if file.exists() => less(known, hooks, file.text()?, &entries),
        _ => None,
    };
    let next = if file.exists() && next == file.text()? { Next::Same } else { Next::Text(next) };
    let mut notes: Vec<String> = target.iter().flat_map(|target| target.notes.clone()).collect();
    let own = OwnHooks { scope: change.scope(), file: &file.path, entries: &entries };
    notes.extend(hook_failures::switched_off(known, &SettingsContext::of(known), &own));
    if arguments.terminal.said() == Some(true) {
        notes.extend(terminal::by_hand(known, &program));
    }
    let (always, project) = known.left;
    let left = [(always, true), (project, change.scope() == Scope::Project)];
    notes.extend(left.into_iter().filter(|(text, holds)| *holds && !text.is_empty()).map(|(text, _)| text.to_owned()));
    let mut advice = Vec::new();
    if let Standing::Loose(why) = program::standing(Path::new(&program)) {
        let gone = format!("{program} is not in a permanent location: {why}. Better: {}", program::advice(&program));
        advice.push(format!("{gone} {}", known.name()));
    }
    if !matches!(next, Next::Same) {
        advice.extend(packs_off(&arguments.packs.packs()));
        advice.push(format!(
            "{} reads this when it starts; `toolgate doctor {}` checks whether it works",
            known.title(),
            known.name()
        ));
    }
    Ok(Planned { file, next, loosens, target, notes, advice })
}

/// The options of an agent's hook, as the user's settings for it have them, else those of the project here; none if neither
/// has an entry of ours.
pub(crate) fn options_of(agent: &str) -> Option<Vec<String>> {
    let known = table::AGENTS.iter().copied().find(|known| known.name() == agent)?;
    let HookMechanism::Hooks(hooks) = &known.way else { return None };
    Scope::ALL.into_iter().find_map(|scope| {
        let root = hook_trust::read(&known.file(scope).ok()?)?;
        hooks::entries(known, hooks, &root).first().map(hooks::Entry::more)
    })
}

/// Whether these entries make the hook see less than those that are in a text.
fn less(known: &AgentConfig, hooks: &Hooks, text: &str, entries: &[hooks::Entry]) -> Option<Loosens> {
    let root = hooks::parse(text).ok()?;
    let (packs, before) = Chosen::split(hooks::entries(known, hooks, &root).first()?.more());
    let (new_packs, after) = Chosen::split(entries.first().map(hooks::Entry::more).unwrap_or_default());
    let gone: Vec<&String> = before.iter().filter(|word| *word != NO_LENS && !after.contains(word)).collect();
    let new: Vec<&String> = after.iter().filter(|word| !before.contains(word)).collect();
    let fewer = new_packs.has_less_than(&packs);
    let mut changes: Vec<String> = gone.iter().map(|word| format!("without {word}")).collect();
    changes.extend(new.iter().map(|word| format!("with {word}")));
    changes.extend(fewer.then(|| match new_packs.words.is_empty() {
        true => format!("without {}", packs.words.join(" ")),
        false => format!("with {}", new_packs.words.join(" ")),
    }));
    if changes.is_empty() {
        return None;
    }
    // What is new makes it see more, but for the one option that says otherwise.
    let sees_less = fewer || !gone.is_empty() || new.iter().any(|word| *word == NO_LENS);
    let less = if sees_less { ", and sees less" } else { "" };
    let question = format!(
        "The hook is called {} then{less}.\nType {{word}} to confirm:",
        changes.iter().map(|change| plain(change)).collect::<Vec<_>>().join(", ")
    );
    Some(Loosens { question, otherwise: "the hook's options were not changed" })
}

/// `toolgate uninstall`.
pub(crate) fn uninstall(arguments: &Removal) -> Result<ExitCode, Failure> {
    let change = &arguments.change;
    let known = change.agent;
    let file = File::read(&known.file(change.scope())?)?;
    let next = if file.exists() { without(known, &file)? } else { Next::Same };
    let mut notes = Vec::new();
    for scope in Scope::ALL.into_iter().filter(|scope| *scope != change.scope()) {
        let other = known.file(scope).and_then(|path| File::read(&path));
        if let Some(other) = other.ok().filter(|file| doctor::installed(known, file)) {
            let option = scope.name();
            notes.push(format!("{} calls Toolgate still; see --{option}", other.path.display()));
        }
    }
    let question =
        format!("{} acts without being asked about then.\nType {{word}} to take Toolgate out:", known.title());
    let loosens = Loosens { question, otherwise: "Toolgate was not uninstalled" };
    if !matches!(next, Next::Same) {
        notes.extend(left_behind(known, &file));
    }
    let planned = Planned { file, next, loosens: Some(loosens), target: None, notes, advice: Vec::new() };
    let carried_out = change.carry_out(&planned);
    let path = &planned.file.path;
    // It is gone because the user said so.
    if carried_out.is_ok() && !File::read(path).is_ok_and(|now| doctor::installed(known, &now)) {
        hook_files::forget(path);
    }
    carried_out
}

/// The link that a file's entries run, which stays: other projects and other users may run it, and would go on without a word
/// if it were gone.
fn left_behind(known: &AgentConfig, file: &File) -> Option<String> {
    let HookMechanism::Hooks(hooks) = &known.way else { return None };
    let root = hooks::parse(file.text().ok()?).ok()?;
    let entries = hooks::entries(known, hooks, &root);
    let mut programs = entries.iter().filter_map(|entry| entry.words.first());
    let link = programs.find(|program| program::is_link(program, known.name()) && Path::new(program).is_symlink())?;
    Some(format!("{link} was kept, as other agents may use it; remove it with the program"))
}

fn without(known: &AgentConfig, file: &File) -> Result<Next, Failure> {
    match &known.way {
        HookMechanism::Hooks(hooks) => backups::undone(file, known, hooks, any_plugins()),
        HookMechanism::Shim(shim) => {
            let now = file.text()?;
            match shims::program(now) {
                Some(_) => Ok(Next::Gone { own: shims::is_current(now, shim) }),
                None => Err(unreadable(file, "Toolgate did not write it")),
            }
        }
    }
}

impl Change {
    fn scope(&self) -> Scope {
        if self.project { Scope::Project } else { Scope::User }
    }

    /// Shows the change, makes it unless it is only to be shown, and says what is left to the user.
    fn carry_out(&self, planned: &Planned) -> Result<ExitCode, Failure> {
        let loosens = planned.loosens.as_ref().filter(|_| !self.dry_run && planned.changes());
        if let Some(loosens) = loosens {
            confirmation::present(loosens.otherwise)?;
        }
        self.preview(planned)?;
        if let Some(loosens) = loosens {
            self.announce(planned)?;
            confirmation::agrees(&loosens.question, loosens.otherwise)?;
        }
        self.make(planned)
    }

    /// Shows the change, if there is any.
    fn preview(&self, planned: &Planned) -> Result<(), Failure> {
        match &planned.next {
            Next::Same => Ok(()),
            Next::Text(text) => self.show(&planned.file, text),
            Next::Gone { .. } => self.show(&planned.file, ""),
        }
    }

    /// Names the link that will be made, before a question: who agrees to the change agrees to the link.
    fn announce(&self, planned: &Planned) -> Result<(), Failure> {
        match planned.link().filter(|_| !self.dry_run) {
            Some(link) => print(|out| writeln!(out, "{}, will be made", plain(&link))).map(drop),
            None => Ok(()),
        }
    }

    /// Makes the change, unless it is only to be shown, and says what was done and what is left to the user.
    fn make(&self, planned: &Planned) -> Result<ExitCode, Failure> {
        let (known, file) = (self.agent, &planned.file);
        // First, as no entry is to run what is not there.
        let made = planned.target.as_ref().map(|target| target.make(self.dry_run)).transpose()?.flatten();
        let after = match &planned.next {
            Next::Same => "nothing to do".to_owned(),
            Next::Text(_) if self.dry_run => "not changed".to_owned(),
            Next::Text(text) => written(file, text)?,
            Next::Gone { .. } if self.dry_run => "not removed".to_owned(),
            Next::Gone { own } => removed(file, !own)?,
        };
        let path = file.path.display().to_string();
        print(|out| {
            writeln!(out, "{GREEN}{}{GREEN:#}  {}: {}", known.name(), plain(&path), plain(&after))?;
            made.iter().try_for_each(|made| writeln!(out, "{GREEN}{}{GREEN:#}  {}", known.name(), plain(made)))?;
            planned.notes.iter().try_for_each(|note| writeln!(out, "{YELLOW}note{YELLOW:#}  {}", plain(note)))
        })
    }

    /// The change as a unified diff. Of a whole file that comes or goes only its length, unless that is the question.
    fn show(&self, file: &File, after: &str) -> Result<(), Failure> {
        let before = file.text()?;
        let whole = before.is_empty() || after.is_empty();
        print(|out| {
            if !(whole && matches!(self.agent.way, HookMechanism::Shim(_)) && !self.dry_run) {
                return output::diff(out, &file.path, file.exists(), before, after);
            }
            let (mark, text) = if after.is_empty() { ('-', before) } else { ('+', after) };
            let lines = crate::columns::count(text.lines().count(), "line");
            output::diff_line(out, &format!("{mark} {} ({lines})", file.path.display()))
        })?;
        Ok(())
    }
}

/// Writes a file, and remembers the folders that were made for it.
fn written(file: &File, text: &str) -> Result<String, Failure> {
    let folders = created_folders::missing(&file.path);
    let backup = file.write(text)?;
    created_folders::note(&folders);
    Ok(changed("written", backup.as_deref()))
}

/// Removes a file, and the folders that were made for it and are empty now.
fn removed(file: &File, kept: bool) -> Result<String, Failure> {
    let backup = file.remove(kept)?;
    let folder = created_folders::remove(&file.path).map(|folder| format!(" with its folder {}", folder.display()));
    Ok(changed(&format!("removed{}", folder.unwrap_or_default()), backup.as_deref()))
}

fn changed(what: &str, backup: Option<&Path>) -> String {
    backup.map_or_else(|| what.to_owned(), |backup| format!("{what}; backup: {}", backup.display()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Given {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_take_the_place_of_those_of_their_kind() {
        // What is given, what is there, and what is there then.
        let cases = [
            ("", "--packs=cloud --plugin=/a.wasm", None),
            ("--no-lens", "--packs=cloud", None),
            ("--packs git", "--packs=cloud --plugin=/a.wasm", Some("--packs=git --plugin=/a.wasm")),
            ("--plugin /dev/null", "--packs=cloud,ci --no-lens", Some("--packs=cloud,ci --no-lens --plugin=/dev/null")),
            ("--plugin /dev/null --rewrite", "--plugin=/a.wasm --grant=git", Some("--plugin=/dev/null --rewrite")),
            ("--packs git --plugin /dev/null", "", Some("--packs=git --plugin=/dev/null")),
        ];
        for (given, before, expected) in cases {
            let line = words("install claude").into_iter().chain(words(given));
            let given = Given::try_parse_from(line).expect("arguments").arguments;
            let found = given.options(words(before)).expect("files");
            assert_eq!(found, expected.map(words), "{before}");
        }
    }

    #[test]
    fn what_makes_the_hook_see_less_is_named() {
        // The options before and after, and what is asked.
        let cases = [
            ("", "", None),
            ("--no-lens", "", None),
            ("", "--packs=cloud", None),
            ("", "--no-lens", Some("with --no-lens then, and sees less.")),
            ("", "--plugin=/a", Some("with --plugin=/a then.")),
            ("--packs=cloud", "--packs=git", Some("with --packs=git then, and sees less.")),
            ("--packs=cloud", "--plugin=/a", Some("with --plugin=/a, without --packs=cloud then, and sees less.")),
            ("--plugin=/a", "--plugin=/b", Some("without --plugin=/a, with --plugin=/b then, and sees less.")),
        ];
        let (known, HookMechanism::Hooks(hooks)) = (&table::CLAUDE, &table::CLAUDE.way) else { panic!("it has hooks") };
        let text = |options: &str| {
            let options = words(options);
            let lens = !options.iter().any(|word| word == NO_LENS);
            hooks::install("", known, hooks, "/toolgate", Some(options.as_slice()), Some(lens), false).expect("JSON")
        };
        for (before, after, expected) in cases {
            let entries = hooks::entries(known, hooks, &hooks::parse(&text(after)).expect("JSON"));
            let asked = less(known, hooks, &text(before), &entries).map(|loosens| loosens.question);
            let expected = expected.map(|what| format!("The hook is called {what}\nType {{word}} to confirm:"));
            assert_eq!(asked, expected, "{before} {after}");
        }
    }
}
