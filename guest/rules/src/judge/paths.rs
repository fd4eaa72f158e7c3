//! The path rules on what a call touches.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rustc_hash::FxHashSet;
use toolgate_shell::{
    Command, Effect, EffectKind, FileAction, FileOracle, Named, SUBSTITUTION, Script, Value, Why, absolute,
};

use super::env_files::{is_variables, shown};
use super::path_access::{Access, Shown, Touched};
use super::recursive_reads::read_below;
use super::rule_match::RuleMatch;
use super::{Evaluation, evidence, tilde};
use crate::agent_folders;
use crate::call::{Action, Evidence, Field, ToolKind};
use crate::credential_use::{is_tightened, is_used};
use crate::matching::{DependsOn, MatchInput, is_implied};
use crate::native_rule::NativeRule;
use crate::path_query::PathQuery;
use crate::path_rule::{Around, PathRule, as_glob};
use crate::path_zone::{is_elsewhere, is_notes};
use crate::rule_id::{Layer, Policy};
use crate::rules::Guard;
use crate::world::GuardHost;

/// Programs that tell the names and sizes of files, and nothing that is in them.
const NAMES_ONLY: &[&str] = &["ls", "exa", "eza", "lsd", "stat", "test", "[", "realpath", "readlink", "tree", "du"];

/// Whether a command tells names to whoever looks on, and to no other command that could open them.
fn only_lists(subject: &MatchInput<'_>) -> bool {
    if subject.command.action == Some(FileAction::List) {
        return true;
    }
    const LOOKS_ON: &[&str] = &["cut", "grep", "head", "sort", "tail", "tr", "wc"];
    let found = subject.command;
    // `sort --files0-from=-` opens what it is told.
    let opens = |word: &toolgate_shell::Word| word.value.text().starts_with("--f");
    let named = |other: &&Command| {
        other.program().is_some_and(|program| LOOKS_ON.contains(&program)) && !other.words.iter().any(opens)
    };
    let names_only = |program: &str| NAMES_ONLY.contains(&program) || program == "find" && only_finds(found);
    found.program().is_some_and(names_only) && !subject.others_may_open() && subject.pipeline().1.iter().all(named)
}

/// Whether `find` prints what it finds, and does nothing else with it.
fn only_finds(command: &Command) -> bool {
    const ACTIONS: &[&str] = &["-delete", "-exec", "-ok", "-fls", "-fprint", "-files0"];
    let known = command.words.iter().all(|word| word.known().is_some());
    known && !command.words.iter().any(|word| ACTIONS.iter().any(|action| word.value.text().starts_with(action)))
}

/// Whether `sed -i` puts one text for another in the one file that it reads, and leaves no copy.
fn is_edited(command: &Command) -> bool {
    let known: Option<Vec<&str>> = command.words.iter().map(toolgate_shell::Word::known).collect();
    let Some(["sed" | "gsed", rest @ ..]) = known.as_deref() else { return false };
    let (options, operands): (Vec<&str>, Vec<&str>) = rest.iter().copied().partition(|word| word.starts_with('-'));
    let [script, _file] = operands.as_slice() else { return false };
    let substitutes = script.strip_prefix('s').is_some_and(|rest| {
        let delimiter = rest.chars().next().filter(|c| "/|#,:@".contains(*c));
        let parts = delimiter.map(|delimiter| rest.split(delimiter).collect::<Vec<_>>()).unwrap_or_default();
        let flags = |text: &str| text.chars().all(|c| matches!(c, 'g' | 'I' | '0'..='9'));
        parts.len() == 4 && flags(parts[3]) && !rest.contains(['\n', '\\'])
    });
    let in_place = options.iter().any(|option| matches!(*option, "-i" | "-Ei" | "-ri"));
    substitutes && in_place && options.iter().all(|option| matches!(*option, "-i" | "-E" | "-r" | "-e" | "-Ei" | "-ri"))
}

impl<'a> Evaluation<'a> {
    /// What a command touches.
    pub(super) fn effects(
        &mut self,
        subject: &MatchInput<'_>,
        script: &Script,
        command: &Field,
        world: &mut dyn GuardHost,
    ) {
        let found = subject.command;
        if script.unparsed.is_some() || found.scanned {
            return self.any_word(found, command);
        }
        // The folder that an option names: `git -C ~/.ssh`.
        if let Some(cwd) = found.cwd.as_ref().filter(|_| found.cwd != found.shell_cwd) {
            let path = Value::Known(cwd.clone());
            self.touched.push(Touched::new(Access::Mention, path, evidence(command, found.span)));
        }
        self.shown_elsewhere(subject, command);
        for effect in &found.effects {
            let Some(access) = Access::of(effect.kind) else { continue };
            // What another program is told is no path of this one. What stands in a substitution is told nothing.
            let told = || {
                subject.reaches(DependsOn::Text);
                script.commands[subject.index + 1..]
                    .iter()
                    .take_while(|other| other.via.len() > found.via.len())
                    .filter(|other| other.via[found.via.len()] != SUBSTITUTION && other.group != found.group)
                    .any(|other| other.span.start < effect.span.end && effect.span.start < other.span.end)
            };
            if effect.kind == EffectKind::Mention && subject.wraps && told() || keeps_to_itself(subject, effect) {
                continue;
            }
            // What no word names, as git's own files, is what the program is there for; so is what it makes somewhere
            // below its folder.
            let below = matches!(&effect.path, Value::Pattern(pattern) if pattern.ends_with("/**"));
            let below = below && effect.named == Named::No;
            let searches = matches!(found.program(), Some("find" | "fd" | "fdfind"));
            if is_implied(found, effect) || below && !searches {
                continue;
            }
            // It is given more of them when it runs.
            if found.more_words && found.program() == Some("find") && effect.kind == EffectKind::Delete {
                let evidence = vec![evidence(command, effect.span)];
                self.coded_on(NativeRule::RemovePiped, subject, &command.value, world, evidence);
            }
            // A program that is not known may do anything to its operands.
            let program = found.words.first().filter(|word| word.known().is_none());
            let unknown = program.is_some_and(|program| program.span != effect.span);
            let access = match effect.kind {
                _ if unknown => Access::Delete,
                EffectKind::Create if effect.folder => Access::MakeFolder,
                EffectKind::Read if only_lists(subject) => Access::List,
                _ if is_used(found, effect) => Access::Use,
                _ if is_tightened(found, effect) => Access::Tighten,
                // What is read goes back into the same file.
                EffectKind::Read if is_edited(found) => Access::Write,
                _ => access,
            };
            let evidence = evidence(command, effect.span);
            // `$CC -I../include -o x` makes things.
            let compiles = || {
                found.words.iter().filter_map(toolgate_shell::Word::known).any(|word| {
                    matches!(word, "-o" | "-cf" | "-uf" | "-shared") || word.starts_with("-I") || word.starts_with("-o")
                })
            };
            if unknown && is_elsewhere(self.map.of(&effect.path, true)) && !compiles() {
                self.coded_on(NativeRule::UnknownProgram, subject, &command.value, world, vec![evidence.clone()]);
            }
            let possible =
                unknown || effect.alternative || matches!(effect.path, Value::Unknown { why: Why::Directory, .. });
            let below = read_below(subject, effect);
            let (path, written) = (effect.path.clone(), effect.written.clone());
            let shown = if unknown { Shown::Yes } else { shown(subject, effect, &command.value, world) };
            self.touched.push(Touched { access, path, written, evidence, possible, below, shown });
        }
    }

    /// Without structure any token may be the target of anything.
    fn any_word(&mut self, found: &Command, field: &Field) {
        let mut seen = HashSet::new();
        for word in found.words.iter().filter(|word| seen.insert(word.known())) {
            let path = match &word.value {
                Value::Known(text) => Value::Known(absolute(&tilde(text, self.call), &self.call.cwd)),
                other => other.clone(),
            };
            let evidence = evidence(field, word.span);
            self.touched.push(Touched::new(Access::Delete, path, evidence));
        }
    }

    /// What path rules say of all that was touched.
    pub(super) fn paths(&mut self, world: &mut dyn GuardHost, look: Option<&dyn FileOracle>) {
        let Some(real) = self.behind_links(world) else { return };
        self.other_names(&real, world);
        let home = self.call.home.as_deref();
        let around = Around {
            home,
            workspace: Some(&self.call.workspace).filter(|path| !path.is_empty()).map(String::as_str),
            look,
        };
        let mut covering = Covering { guard: self.guard, home, known: BTreeMap::new() };
        let all = std::mem::take(&mut self.touched);
        // Those that no rule says anything of, and the others with where they were named.
        let (mut free, mut told_of) = (FxHashSet::default(), FxHashSet::default());
        for touched in &all {
            let (same, place) = (touched.same(), touched.place());
            if free.contains(&same) || told_of.contains(&(same, place)) {
                continue;
            }
            let found = self.found;
            let real = touched.asked().and_then(|path| real.get(&path).filter(|real| **real != path).cloned());
            self.falls_with(touched, real.as_deref());
            self.read_with(touched, real.as_deref(), look);
            self.covered(touched, real.as_deref(), &mut covering, &around);
            if self.found == found {
                free.insert(same);
            } else {
                told_of.insert((same, place));
            }
        }
    }

    /// What each known path leads to. Each is asked for once, however often the text names it; none if that cannot be told,
    /// which is a finding.
    fn behind_links(&mut self, world: &mut dyn GuardHost) -> Option<BTreeMap<String, String>> {
        let asked: BTreeSet<String> = self.touched.iter().filter_map(Touched::asked).collect();
        let known: Vec<String> = asked.into_iter().collect();
        match world.resolve(&known) {
            Ok(resolved) => {
                Some(known.into_iter().zip(resolved).filter_map(|(path, real)| Some((path, real?))).collect())
            }
            Err(why) => {
                self.native(NativeRule::Links, &why, Vec::new());
                None
            }
        }
    }

    /// What the rules say that a path falls under, as it is named and behind its links.
    fn covered(&mut self, touched: &Touched, real: Option<&str>, covering: &mut Covering<'a>, around: &Around<'_>) {
        let named = covering.of(&touched.path).iter().map(|rule| (*rule, None));
        let mut rules: Vec<(&PathRule, Option<&str>)> = named.collect();
        if let Some(real) = real {
            rules.extend(covering.of(&Value::Known(real.to_owned())).iter().map(|rule| (*rule, Some(real))));
        }
        // A glob that may stand for many of them is one finding.
        let one_is_enough = !matches!(touched.path, Value::Known(_));
        let mut told: Vec<(Policy, bool)> = Vec::new();
        for (rule, behind) in rules {
            let kind = (rule.policy, rule.ask);
            if one_is_enough && told.contains(&kind) {
                continue;
            }
            let path = Covered { touched, real, behind };
            if let Some(action) = self.says(rule, &path, around) {
                told.push(kind);
                self.add(RuleMatch::of_path(rule, action, path.reason(rule), touched.evidence.clone()));
            }
        }
    }

    /// Whether the rules mind that the content of a file is read, as it is told; its path leads through no link.
    pub(super) fn minds_reading(&self, path: &str) -> bool {
        let home = self.call.home.as_deref();
        let touched = Touched::new(Access::Read, Value::Known(path.to_owned()), Evidence::default());
        let covered = Covered { touched: &touched, real: None, behind: None };
        let around = Around { home, workspace: None, look: None };
        let rules = self.guard.covering(&PathQuery::of(&touched.path, home));
        rules.into_iter().any(|rule| self.says(rule, &covered, &around).is_some())
    }

    /// What a rule asks for if something is done to a path that falls under it. `None` if it does not mind.
    fn says(&self, rule: &PathRule, path: &Covered<'_>, around: &Around<'_>) -> Option<Action> {
        let Covered { touched, real, .. } = *path;
        let built_in = rule.layer == Layer::BuiltIn;
        if built_in && is_public(touched, real)
            || rule.policy == Policy::NoDelete && self.is_notes(touched, real)
            || !forbids(rule, touched.access, self.call.kind)
        {
            return None;
        }
        // Whoever is told all hidden names means none of them, and whoever removes them all means no secret.
        let any_name = || as_glob(&touched.path).is_some_and(|pattern| rule.is_any_name(&pattern));
        let secret = matches!(rule.policy, Policy::ZeroAccess | Policy::NoRead);
        if (touched.access == Access::List || touched.access == Access::Delete && secret) && any_name() {
            return None;
        }
        let may = match as_glob(&touched.path).map(|pattern| rule.is_meant(&pattern, around)) {
            Some(Some(false)) => return None,
            Some(there) => there.is_none(),
            None => false,
        };
        if self.path_exempt(rule, touched, real) {
            return None;
        }
        let of_variables = built_in && rule.policy == Policy::NoRead;
        let shown = if of_variables { touched.shown } else { Shown::Yes };
        let covered = path.covered();
        if shown == Shown::No || self.guard.is_in_worktree(rule, &covered, around.home) {
            return None;
        }
        let is_prompt = |path| agent_folders::is_prompt(path, around.home);
        let prompt = built_in && rule.policy == Policy::NoDelete && covered.known().is_some_and(is_prompt);
        let known_hosts = self.call.kind == ToolKind::Shell && is_known_hosts(touched, rule);
        let asks = touched.possible || rule.ask || may || prompt || known_hosts || shown == Shown::Perhaps;
        Some(if asks { Action::Ask } else { Action::Block })
    }

    /// What links lead to may have other names: hard links. They are told of a path without links alone.
    fn other_names(&mut self, real: &BTreeMap<String, String>, world: &mut dyn GuardHost) {
        let behind: BTreeSet<&String> = real.iter().filter(|(path, real)| path != real).map(|(_, real)| real).collect();
        if behind.is_empty() {
            return;
        }
        let behind: Vec<String> = behind.into_iter().cloned().collect();
        let others = match world.resolve(&behind) {
            Ok(others) => others,
            Err(why) => return self.native(NativeRule::Links, &why, Vec::new()),
        };
        let others: BTreeMap<String, String> = behind
            .into_iter()
            .zip(others)
            .filter_map(|(real, other)| Some((real, other?)))
            .filter(|(real, other)| real != other)
            .collect();
        let named = |touched: &Touched| {
            let other = others.get(real.get(&touched.asked()?)?)?;
            let (path, evidence) = (Value::Known(other.clone()), touched.evidence.clone());
            Some(Touched { possible: touched.possible, ..Touched::new(touched.access, path, evidence) })
        };
        let more: Vec<Touched> = self.touched.iter().filter_map(named).collect();
        self.touched.extend(more);
    }

    /// Whether the user's own file lifts a path rule from this path, and from the one behind its links.
    pub(super) fn path_exempt(&self, rule: &PathRule, touched: &Touched, real: Option<&str>) -> bool {
        let home = self.call.home.as_deref();
        // Another user's rule, or the one that keeps the gate itself, stays.
        if rule.layer == Layer::Project || rule.keeps_the_gate || self.guard.exemptions.is_empty() {
            return false;
        }
        let id = rule.id();
        self.guard.exemptions.iter().filter(|one| id.is_meant_by(&one.rules)).any(|exemption| {
            let Some(paths) = &exemption.paths else { return exemption.is_whole() };
            let covers = |path: &Value| matches!(path, Value::Known(_)) && paths.cover(path, home);
            covers(&touched.path) && real.is_none_or(|real| covers(&Value::Known(real.to_owned())))
        })
    }

    /// Whether a path is one of the files in which agents note things, by its own name.
    fn is_notes(&self, touched: &Touched, real: Option<&str>) -> bool {
        let rest = |path: &str| path.strip_prefix(self.call.home.as_deref()?)?.strip_prefix('/').map(str::to_owned);
        real.is_none() && touched.path.known().and_then(rest).is_some_and(|rest| is_notes(&rest))
    }

    /// What is protected below a path that is removed, or whose files get other names: one finding, however much it is.
    fn falls_with(&mut self, touched: &Touched, real: Option<&str>) {
        let becomes = match touched.access {
            Access::Delete | Access::Move => "which would be deleted or moved with it",
            Access::HardLink => "which would be hard-linked with it",
            _ => return,
        };
        let home = self.call.home.as_deref();
        let mut below = Vec::new();
        for path in std::iter::once(touched.path.text()).chain(real) {
            if let Some(asked) = PathQuery::above(path, home) {
                let lifted = |rule: &PathRule| {
                    !rule.keeps_the_gate && rule.layer != Layer::Project && self.guard.lifts(&rule.id())
                };
                below.extend(self.guard.below(&asked).into_iter().filter(|rule| !lifted(rule)));
            }
        }
        let Some(first) = below.first() else { return };
        let others = match below.len() - 1 {
            0 => String::new(),
            count => format!(" and {count} more protected paths"),
        };
        let reason = format!("{} contains {}{others}, {becomes}", touched.evidence.text, first.source);
        let action = if touched.possible { Action::Ask } else { Action::Block };
        self.add(RuleMatch::of_path(first, action, reason, touched.evidence.clone()));
    }
}

/// The rules that paths fall under. A loop touches the same paths in each round.
struct Covering<'a> {
    guard: &'a Guard,
    home: Option<&'a str>,
    known: BTreeMap<Value, Vec<&'a PathRule>>,
}

impl<'a> Covering<'a> {
    /// Those of this path.
    fn of(&mut self, path: &Value) -> &[&'a PathRule] {
        if !self.known.contains_key(path) {
            self.known.insert(path.clone(), self.guard.covering(&PathQuery::of(path, self.home)));
        }
        self.known.get(path).map_or(&[], Vec::as_slice)
    }
}

/// A touched path that falls under a rule.
#[derive(Clone, Copy)]
struct Covered<'t> {
    touched: &'t Touched,
    /// What it leads to, if it is a link.
    real: Option<&'t str>,
    /// The same, if that is what falls under the rule.
    behind: Option<&'t str>,
}

impl Covered<'_> {
    /// The path that falls under it.
    fn covered(&self) -> Value {
        self.behind.map_or_else(|| self.touched.path.clone(), |real| Value::Known(real.to_owned()))
    }

    /// What a finding says.
    fn reason(&self, rule: &PathRule) -> String {
        let behind = self.behind.map(|real| format!(" (a link to {real})")).unwrap_or_default();
        let same = match self.touched.access {
            Access::HardLink => " (a hard link is another name for the same file)",
            _ => "",
        };
        let why = rule.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let instead = if rule.reason.is_none() { rule.policy.instead() } else { "" };
        format!(
            "{} {} ({}: {}){behind}{same}{why}{instead}",
            self.touched.evidence.text,
            rule.policy.describe(),
            rule.policy.key(),
            rule.source
        )
    }
}

/// Whether a rule minds that something is done to a path that falls under it.
fn forbids(rule: &PathRule, access: Access, tool: ToolKind) -> bool {
    let built_in = rule.layer == Layer::BuiltIn;
    match (rule.policy, access) {
        // Nothing in an empty folder could be run, which is why the built-in ones are read-only.
        (Policy::ReadOnly, Access::MakeFolder) => !built_in || rule.keeps_the_gate,
        (Policy::ReadOnly, Access::List | Access::Use | Access::Read | Access::Mention) => false,
        // What came with Toolgate keeps secrets, and these give none away.
        (Policy::ZeroAccess, Access::List | Access::Use | Access::Tighten | Access::MakeFolder) => {
            !built_in || rule.keeps_the_gate || tool != ToolKind::Shell
        }
        (Policy::NoRead, Access::Use) => !built_in,
        (Policy::NoRead, access) => {
            !matches!(access, Access::List | Access::Write | Access::Tighten | Access::MakeFolder | Access::Delete)
        }
        (Policy::NoDelete, access) => matches!(access, Access::Move | Access::Delete),
        (Policy::ReadOnly | Policy::ZeroAccess, _) => true,
    }
}

/// Whether what is looked at among somebody's keys is no secret: the public half of a key, the keys of other machines, which
/// machines there are.
fn is_public(touched: &Touched, real: Option<&str>) -> bool {
    let public = |path: &str| {
        name_among_keys(path).is_some_and(|name| {
            name.ends_with(".pub") || matches!(name, "allowed_signers" | "config" | "known_hosts" | "known_hosts.old")
        })
    };
    let looks = matches!(touched.access, Access::Mention | Access::List | Access::Use | Access::Read);
    looks
        && match &touched.path {
            Value::Known(path) => public(path) && real.is_none_or(public),
            Value::Pattern(path) => name_among_keys(path).is_some_and(|name| name.ends_with(".pub")),
            Value::Unknown { .. } => false,
        }
}

/// The name of a file that lies in a folder of keys itself.
fn name_among_keys(path: &str) -> Option<&str> {
    path.rsplit_once("/.ssh/").map(|(_, name)| name).filter(|name| !name.contains('/'))
}

/// Whether the keys of another machine are noted, which a person should know of.
fn is_known_hosts(touched: &Touched, rule: &PathRule) -> bool {
    let own = touched.path.known().is_some_and(|path| name_among_keys(path) == Some("known_hosts"));
    own && touched.access == Access::Write && rule.layer == Layer::BuiltIn
}

/// Whether a program is told of a file of variables and shows nothing of it: as the environment of what it runs, which
/// is what such files are for, or as a name in a repository.
fn keeps_to_itself(subject: &MatchInput<'_>, effect: &Effect) -> bool {
    let found = subject.command;
    const OPTIONS: &[&str] = &["--env-file", "--env-file-if-exists", "dotenv_config_path"];
    const RUNNERS: &[&str] = &["node", "bun", "deno", "tsx", "nodemon", "uv", "uvicorn", "gunicorn"];
    const COMPOSERS: &[&str] = &["docker", "docker-compose", "podman-compose"];
    // These are told which files to load, and what to run with what is in them.
    const LOADERS: &[&str] = &["dotenvx", "dotenv", "env-cmd", "foreman", "honcho", "op"];
    const LOADED: &[&str] = &["--env-file", "--env", "--file", "-f", "-e"];
    // What the others print is the configuration with the values in it, or runs somebody else's program.
    const COMPOSED: &[&str] = &["up", "down", "build", "start", "stop", "restart", "ps", "pull", "logs"];
    let named = is_variables(effect.path.text());
    let Some(program) =
        found.program().filter(|_| matches!(effect.kind, EffectKind::Mention | EffectKind::Read) && named)
    else {
        return false;
    };
    let words: Vec<&str> = found.words.iter().map(|word| word.value.text()).collect();
    if program == "git" {
        let plain = ["--all", "--oneline", "--stat", "--follow", "--name-only", "--name-status", "--graph", "--"];
        let names = |word: &&str| !word.starts_with('-') || plain.contains(word);
        return match words.get(1) {
            Some(&"log") => words.iter().all(names),
            // What it lists may be opened by who reads the list.
            Some(command) => ["check-ignore", "check-attr", "ls-files"].contains(command) && !subject.others_may_open(),
            None => false,
        };
    }
    let Some(at) = found.words.iter().position(|word| word.span == effect.span) else { return false };
    let given = words[at].split_once('=').map(|(option, _)| option);
    let Some(option) = given.or_else(|| words.get(at.checked_sub(1)?).copied()) else { return false };
    let name = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let interprets = |word: &str| {
        let name = name(word);
        ["node", "bun", "deno", "tsx", "ruby", "perl", "php"].contains(&name.as_str()) || name.starts_with("python")
    };
    let own = interprets(program);
    let others = words.iter().skip(1).any(|word| interprets(word));
    // `-e`, `-p` and their like have an interpreter run a text that may print it.
    let texts = |word: &str| {
        let short = word.starts_with('-') && !word.starts_with("--") && word != "-r";
        word.starts_with("--eval")
            || word.starts_with("--print")
            || short && (own || others && word.contains(['e', 'p', 'c', 'E']))
    };
    let prints = |word: &str| {
        ["env", "printenv", "set", "export", "sh", "bash", "dash", "zsh", "cat"].contains(&name(word).as_str())
    };
    if LOADERS.contains(&program) {
        let runs = match program {
            "op" => words.get(1) == Some(&"run"),
            "foreman" | "honcho" => words.iter().any(|word| matches!(*word, "run" | "start")),
            _ => !words.iter().any(|word| matches!(*word, "get" | "print" | "ls" | "list" | "set" | "encrypt")),
        };
        let is_loaded =
            |at: usize| LOADED.contains(&words[at]) && words.get(at + 1).is_some_and(|name| is_variables(name));
        let mut rest = (at + 1..words.len()).filter(|at| !is_loaded(*at)).map(|at| words[at]);
        return LOADED.contains(&option) && runs && !rest.any(|word| texts(word) || prints(word));
    }
    let runs = if COMPOSERS.contains(&program) {
        let composes = program != "docker" || words.get(1) == Some(&"compose");
        composes
            && words.iter().any(|word| COMPOSED.contains(word))
            && !words.iter().any(|word| ["run", "exec", "config", "convert"].contains(word))
    } else {
        let other = matches!(words.get(1), Some(&"eval" | &"exec" | &"x"));
        RUNNERS.contains(&program) && !other && !words.iter().any(|word| texts(word) || prints(word))
    };
    OPTIONS.contains(&option) && runs
}
