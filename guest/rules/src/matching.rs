//! Whether a rule fires on a command, and if not, which of its conditions did not hold.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::hash::BuildHasher as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustc_hash::{FxBuildHasher, FxHashMap};
use toolgate_shell::{
    Command, Effect, EffectKind, FileAction, FileOracle, Joiner, Named, Presence, ProgramWords, Runs, Script, Span,
    Value, Why, Word,
};

use super::credential_use::is_no_disclosure;
use super::glob::{in_plain_words, known_part};
use super::invocation::{Grammars, Invocation, Operand, ParsedOption};
use super::mismatch::Mismatch;
use super::nesting::Nesting;
use super::path_rule::{Around, as_glob};
use super::path_rules::{Answered, Lists, PathRules};
use super::path_zone::{Map, PathZone, RealMap, finds_repository, is_elsewhere, is_product};
use super::pattern::{Pattern, Tried};
use super::rule::{Assigns, CommandMatcher, EffectMatch, Flag, Rule};
use super::wildcard::fits;
use super::worked_repositories::{RepositoryQuery, WorkedRepositories};
use super::worktree::RepositoryLocation;
use super::{agent_folders, find_expression, test_databases};
use crate::call::{Field, Memory};

/// What conditions on a command are tried for. What cannot be told makes a rule fire, and excuses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A rule fires if they hold.
    Rule,
    /// A rule is lifted if they hold.
    Exemption,
}

impl Purpose {
    /// Whether a pattern that has to match does.
    fn fits(self, pattern: &Pattern, text: &str) -> bool {
        match self {
            Purpose::Rule => pattern.matches(text),
            Purpose::Exemption => matches!(pattern.find(text), Tried::Found(_)),
        }
    }

    /// Whether a pattern that must not match does.
    fn excludes(self, pattern: &Pattern, text: &str) -> bool {
        match self {
            Purpose::Rule => Purpose::Exemption.fits(pattern, text),
            Purpose::Exemption => Purpose::Rule.fits(pattern, text),
        }
    }
}

/// What was looked at to find something out about a command: by that it is told whether the same is true of another one that
/// is the same. The last of them is the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DependsOn {
    /// What the command says by itself, and what is the same for the whole call.
    #[default]
    Command,
    /// Where it stands.
    Place,
    /// The variables that it runs with.
    Variables,
    /// Other commands of the text, or what happened before.
    Text,
}

/// What the rules in force have for all commands: how programs take their words, and which paths lists of path rules cover.
#[derive(Clone, Copy)]
pub(crate) struct Tables<'a> {
    pub(crate) grammars: &'a Grammars,
    pub(crate) lists: &'a Lists,
}

/// A text and its surroundings, as all of its commands share them.
pub(crate) struct ScriptContext<'a> {
    script: &'a Script,
    tables: Tables<'a>,
    map: &'a Map<'a>,
    home: Option<&'a str>,
    look: Option<&'a dyn FileOracle>,
    real_map: &'a OnceCell<Option<RealMap>>,
    /// What a file tool writes.
    contents: &'a [Field],
    /// What earlier calls of the session did, if that is asked about.
    earlier: Option<&'a Memory>,
    /// Of each command the first one that is the same; empty if nobody has looked.
    firsts: Vec<usize>,
    common: Common,
}

/// What is found out once for all commands of a text.
#[derive(Default)]
struct Common {
    neighbours: OnceCell<Neighbours>,
    nesting: OnceCell<Nesting>,
    made: OnceCell<CreatedPaths>,
    repositories: WorkedRepositories,
    /// Whether a command works on a path that is not known.
    unknown: OnceCell<bool>,
    /// Whether a command sets what the shell splits words at.
    splits: OnceCell<bool>,
    /// The places of effects, by the first command that has them.
    placed: RefCell<FxHashMap<usize, Rc<[PathZone]>>>,
    /// Whether a variable is set, by the condition that asks and its purpose, and the last command that it was asked of.
    set: RefCell<FxHashMap<(usize, bool), (usize, bool)>>,
}

impl<'a> ScriptContext<'a> {
    pub(crate) fn new(
        script: &'a Script,
        tables: Tables<'a>,
        map: &'a Map<'a>,
        home: Option<&'a str>,
        look: Option<&'a dyn FileOracle>,
        real_map: &'a OnceCell<Option<RealMap>>,
    ) -> Self {
        let (firsts, common) = (Vec::new(), Common::default());
        ScriptContext { script, tables, map, home, look, real_map, contents: &[], earlier: None, firsts, common }
    }

    /// The same with the commands told from each other, which stand in this text.
    pub(crate) fn told_apart(self, source: &str) -> Self {
        ScriptContext { firsts: firsts(&self.script.commands, source), ..self }
    }

    /// The same for a file tool that writes these texts.
    pub(crate) fn writing(self, contents: &'a [Field]) -> Self {
        ScriptContext { contents, ..self }
    }

    /// The same in a session of which this is remembered.
    pub(crate) fn after(self, earlier: &'a Memory) -> Self {
        ScriptContext { earlier: Some(earlier), ..self }
    }

    /// The query about repositories besides the workspace; `None` if nobody knows of files.
    fn repository_query(&self) -> Option<RepositoryQuery<'_>> {
        let look = self.look?;
        let known = self.real_map.get_or_init(|| self.map.behind(|path| look.real(path)));
        let map = known.as_ref().map_or_else(|| self.map.plain(), RealMap::as_map);
        let made = self.earlier.map_or(&[][..], |earlier| &earlier.repositories);
        Some(RepositoryQuery { script: self.script, map, look, made, is_implied })
    }

    /// The whole text.
    pub(crate) fn script(&self) -> &'a Script {
        self.script
    }

    /// The commands, in their order.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = MatchInput<'_>> {
        (0..self.script.commands.len()).map(|index| self.subject(index))
    }

    /// The command of this number.
    pub(crate) fn subject(&self, index: usize) -> MatchInput<'_> {
        MatchInput {
            command: &self.script.commands[index],
            index,
            first: self.firsts.get(index).copied().unwrap_or(index),
            wraps: wraps(&self.script.commands, index),
            script: self.script,
            scene: self,
            reach: Cell::default(),
            invocation: OnceCell::new(),
            placed: OnceCell::new(),
            answered: OnceCell::new(),
            led: OnceCell::new(),
            sends: OnceCell::new(),
        }
    }

    /// Which commands stand around or inside others.
    pub(crate) fn nesting(&self) -> &Nesting {
        let key = |command: &Command| command.program().map_or(0, key);
        self.common.nesting.get_or_init(|| Nesting::of(self.script.commands.iter(), key))
    }

    fn made(&self) -> &CreatedPaths {
        self.common.made.get_or_init(|| CreatedPaths::of(&self.script.commands))
    }
}

/// What a program is looked up by.
fn key(program: &str) -> u64 {
    FxBuildHasher.hash_one(program)
}

/// Whether something stands inside the command of this number: it would come next.
fn wraps(commands: &[Command], index: usize) -> bool {
    commands.get(index + 1).is_some_and(|next| next.via.len() > commands[index].via.len())
}

/// How many commands that look alike one is compared with.
const ALIKE: usize = 8;

/// Of each command the first one that is the same.
fn firsts(commands: &[Command], source: &str) -> Vec<usize> {
    let mut known: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    let mut all = Vec::with_capacity(commands.len());
    for (index, command) in commands.iter().enumerate() {
        let alike = known.entry(command.digest()).or_default();
        let same = |first: &usize| {
            wraps(commands, *first) == wraps(commands, index) && commands[*first].is_same(command, source)
        };
        let first = alike.iter().rev().take(ALIKE).copied().find(same);
        if first.is_none() {
            alike.push(index);
        }
        all.push(first.unwrap_or(index));
    }
    all
}

/// The commands of the same group around each: a text has many, and few are next to each other in its list.
struct Neighbours {
    before: Vec<Option<usize>>,
    after: Vec<Option<usize>>,
}

impl Neighbours {
    fn of(commands: &[Command]) -> Self {
        let mut last = FxHashMap::default();
        let before: Vec<_> = commands.iter().enumerate().map(|(at, one)| last.insert(one.group, at)).collect();
        let mut after = vec![None; commands.len()];
        for (at, before) in before.iter().enumerate() {
            if let Some(before) = before {
                after[*before] = Some(at);
            }
        }
        Neighbours { before, after }
    }
}

/// The paths that the commands of a text create, move or link to, and the first command that does so.
struct CreatedPaths {
    /// Those that are made, as they are written.
    made: FxHashMap<String, usize>,
    /// Those that are moved or linked.
    put: FxHashMap<PathBuf, usize>,
    /// One that may be moved or linked to any path.
    anywhere: Option<usize>,
}

impl CreatedPaths {
    fn of(commands: &[Command]) -> Self {
        let mut found = CreatedPaths { made: FxHashMap::default(), put: FxHashMap::default(), anywhere: None };
        for (index, command) in commands.iter().enumerate() {
            let moves = command.effects.iter().any(|effect| effect.kind == EffectKind::Move);
            for effect in &command.effects {
                if let Value::Known(path) = &effect.path
                    && matches!(
                        effect.kind,
                        EffectKind::Create | EffectKind::Write | EffectKind::Append | EffectKind::Link
                    )
                {
                    found.made.entry(path.clone()).or_insert(index);
                }
                if moves || effect.kind == EffectKind::Link {
                    match effect.path.known() {
                        Some(path) => {
                            found.put.entry(PathBuf::from(path)).or_insert(index);
                        }
                        // It may be any.
                        None => found.anywhere = found.anywhere.or(Some(index)),
                    }
                }
            }
        }
        found
    }
}

/// Most files of one copy that are read for what is in them.
const SOURCES: usize = 8;

/// A command of a text, with what rules ask of it, found out once.
pub(crate) struct MatchInput<'a> {
    pub(crate) command: &'a Command,
    pub(crate) index: usize,
    /// The number of the first command of the text that says the same by itself, and wraps something if this one does.
    pub(crate) first: usize,
    /// Whether something stands inside it.
    pub(crate) wraps: bool,
    /// Not to be used without noting that it was.
    script: &'a Script,
    scene: &'a ScriptContext<'a>,
    /// What was looked at so far.
    reach: Cell<DependsOn>,
    invocation: OnceCell<Option<Invocation<'a>>>,
    /// With what was looked at for it.
    placed: OnceCell<(Rc<[PathZone]>, DependsOn)>,
    /// Which lists of path rules each effect is under.
    answered: OnceCell<Vec<Answered>>,
    /// The paths that the effects lead to behind links, where those are others.
    led: OnceCell<Vec<Option<Value>>>,
    sends: OnceCell<bool>,
}

/// Whether one command is a wrapper that runs the other.
fn holds(outer: &Command, inner: &Command) -> bool {
    inner.via.len() == outer.via.len() + 1
        && inner.via.last().map(String::as_str) == outer.program()
        && outer.span.start <= inner.span.start
        && inner.span.end <= outer.span.end
}

impl<'a> MatchInput<'a> {
    /// The whole text.
    pub(crate) fn script(&self) -> &'a Script {
        self.reaches(DependsOn::Text);
        self.script
    }

    /// Notes that something was looked at.
    pub(crate) fn reaches(&self, reach: DependsOn) {
        self.reach.set(self.reach.get().max(reach));
    }

    /// What was looked at since this was last asked.
    pub(crate) fn take_reach(&self) -> DependsOn {
        self.reach.take()
    }

    /// Whether its program may have this name. It may not have it all the same.
    pub(crate) fn may_be(&self, program: &str) -> bool {
        self.command.words.first().and_then(Word::known).is_some_and(|word| word.contains(program))
    }

    /// Whether another command may open what it tells: one that it stands inside of, or some command that works on a file
    /// that it is told when it runs.
    pub(crate) fn others_may_open(&self) -> bool {
        let unknown = |effect: &Effect| matches!(effect.path, Value::Unknown { .. });
        let any = || self.script.commands.iter().any(|command| command.effects.iter().any(unknown));
        if *self.scene.common.unknown.get_or_init(any) {
            return true;
        }
        self.reaches(DependsOn::Place);
        self.scene.nesting().is_inside_another(self.command.span)
    }

    /// The texts that go into files, as far as they are known: of a copy what is in the file that it is made of. That is read
    /// where a hidden file or one in a hidden folder is written, as those are the ones that programs read by themselves.
    pub(crate) fn contents(&self) -> Vec<Cow<'a, str>> {
        let command = self.command;
        let mut found: Vec<Cow<'_, str>> =
            self.scene.contents.iter().map(|field| field.value.as_str().into()).collect();
        let writes =
            |effect: &Effect| matches!(effect.kind, EffectKind::Write | EffectKind::Append | EffectKind::Create);
        let told = |command: &'a Command| -> Vec<Cow<'a, str>> {
            let mut told: Vec<Cow<'_, str>> = command.input().map(Cow::Borrowed).into_iter().collect();
            if matches!(command.program(), Some("echo" | "printf")) {
                let words: Vec<&str> = command.words.iter().skip(1).map(|word| word.value.text()).collect();
                told.push(words.join(" ").into());
            }
            told
        };
        if command.effects.iter().any(writes) {
            found.extend(told(command));
        }
        let hidden = |effect: &Effect| writes(effect) && effect.path.text().contains("/.");
        if !command.effects.iter().any(hidden) {
            return found;
        }
        let whole = command.program() == Some("cat");
        let sources = command.effects.iter().filter(|effect| effect.copied || whole && effect.kind == EffectKind::Read);
        for path in sources.filter_map(|effect| effect.path.known()).take(SOURCES) {
            self.reaches(DependsOn::Text);
            let here = |effect: &Effect| writes(effect) && effect.path.known() == Some(path);
            let earlier = self.script.commands.iter().take(self.index);
            found.extend(earlier.filter(|one| one.effects.iter().any(here)).flat_map(told));
            found.extend(self.scene.look.and_then(|look| look.script(path)).map(Cow::Owned));
        }
        found
    }

    pub(crate) fn invocation(&self) -> Option<&Invocation<'a>> {
        self.invocation.get_or_init(|| Invocation::read(&self.command.words, self.scene.tables.grammars)).as_ref()
    }

    /// The program that rules are tried on: the one that its words are for, or what stands for the action of a tool.
    pub(crate) fn program(&self) -> Option<&str> {
        let action = self.command.action.map(FileAction::as_program);
        self.invocation().map(|found| found.program).or(action)
    }

    /// Where each of the effects happens.
    pub(crate) fn places(&self) -> &[PathZone] {
        let (places, reach) = self.placed.get_or_init(|| {
            let known = self.scene.common.placed.borrow().get(&self.first).cloned();
            if let Some(known) = known {
                return (known, DependsOn::Command);
            }
            let before = self.reach.take();
            let places = self.find_places();
            let reach = self.reach.replace(before);
            if reach == DependsOn::Command {
                self.scene.common.placed.borrow_mut().insert(self.first, Rc::clone(&places));
            }
            (places, reach)
        });
        self.reaches(*reach);
        places
    }

    fn find_places(&self) -> Rc<[PathZone]> {
        let names = find_expression::names(self.command);
        let place = |effect: &Effect| {
            let written = self.scene.map.of(&effect.path, effect.recursive);
            let narrow = names.as_ref().is_some_and(|names| !names.is_empty());
            let place = self.behind_links(effect).unwrap_or(written);
            let place = self.below_unknown(effect, place).unwrap_or(place);
            let place = match self.in_other_repository(effect, place, narrow).unwrap_or(place) {
                // What a script of the project computes is its own, as with a program that cannot be read.
                PathZone::Unknown if self.command.preexisting && !self.is_unknown_to_session(effect) => {
                    PathZone::Workspace
                }
                place => place,
            };
            let inside = matches!(place, PathZone::WorkspaceRoot | PathZone::Workspace | PathZone::Source);
            match &names {
                // What a search finds in the workspace, and only what a build makes again.
                Some(names) if inside && !names.is_empty() && names.iter().all(|name| is_product(name)) => {
                    PathZone::Product
                }
                // What the same command takes away file by file is not the folder as a whole.
                Some(names) if place == PathZone::WorkspaceRoot && names.iter().any(|name| finds_repository(name)) => {
                    PathZone::Repository
                }
                Some(names)
                    if place == PathZone::WorkspaceRoot && !names.is_empty() && names.iter().all(says_something) =>
                {
                    PathZone::WorkspaceSome
                }
                Some(names) if place == PathZone::TemporaryRoot && !names.is_empty() => PathZone::Temporary,
                None if matches!(place, PathZone::Found | PathZone::Unknown) && self.is_product_found(effect) => {
                    PathZone::Product
                }
                _ => place,
            }
        };
        self.command.effects.iter().map(place).collect()
    }

    /// Whether a script that the session has written removes a folder of which nothing is known: neither a temporary one that it has
    /// made, nor perhaps one of those that it removes otherwise.
    fn is_unknown_to_session(&self, effect: &Effect) -> bool {
        let Some(earlier) = self.scene.earlier.filter(|_| effect.kind == EffectKind::Delete && effect.recursive) else {
            return false;
        };
        self.reaches(DependsOn::Text);
        let commands = &self.script().commands;
        let runs = |outer: &&Command| {
            let mut run = outer.effects.iter().filter(|effect| effect.kind == EffectKind::Execute);
            self.command.span.is_inside(outer.span)
                && run.any(|effect| effect.path.known().is_some_and(|path| earlier.has_written(path)))
        };
        let explains = |other: &Effect| {
            other.kind == EffectKind::Delete && other.recursive && !matches!(other.path, Value::Unknown { .. })
        };
        let explained = || {
            let of_script = |other: &&Command| other.via == self.command.via;
            commands.iter().filter(of_script).flat_map(|other| &other.effects).any(explains)
        };
        commands[..self.index].iter().any(|outer| runs(&outer)) && !self.makes_temporary() && !explained()
    }

    /// Whether a command of the same script makes something temporary.
    pub(crate) fn makes_temporary(&self) -> bool {
        self.reaches(DependsOn::Text);
        let of_script = self.script().commands.iter().filter(|other| other.via == self.command.via);
        let mut effects = of_script.flat_map(|other| &other.effects);
        effects.any(|effect| effect.kind == EffectKind::Create && in_temporary(effect.path.text()))
    }

    /// Where a path lies whose beginning is not known, if what is behind that is not in the workspace and is in the home folder or in
    /// a folder around the workspace: `$(getent passwd dev | cut -d: -f6)/Documents`.
    fn below_unknown(&self, effect: &Effect, place: PathZone) -> Option<PathZone> {
        let Value::Unknown { why, shape } = &effect.path else { return None };
        let told = matches!(why, Why::Stored(_) | Why::Default(_) | Why::Argument | Why::Temporary);
        if place != PathZone::Workspace || told || self.command.preexisting {
            return None;
        }
        let look = self.scene.look?;
        let rest = shape.strip_prefix(Value::HOLE)?.strip_prefix('/')?;
        let certain = |part: &&str| !part.contains([Value::HOLE, '*', '?', '[']);
        let named: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).take_while(certain).collect();
        let is_in = |folder: &str| {
            let path = format!("{}/{}", folder.trim_end_matches('/'), named.join("/"));
            matches!(look.look(&path), Presence::File | Presence::Folder)
        };
        let workspace = self.scene.map.workspace()?;
        let own = self.command.cwd.as_deref().into_iter().chain([workspace]);
        if named.is_empty() || own.into_iter().any(is_in) {
            return None;
        }
        let around = std::iter::successors(folder_above(workspace), |folder| folder_above(folder));
        let mut outside = self.scene.home.into_iter().chain(around);
        outside.find(|folder| is_in(folder)).map(|folder| self.scene.map.place(&toolgate_shell::absolute(rest, folder)))
    }

    /// Whether it happens to what a search in the workspace lists, and that is only what a build makes again:
    /// `find . -name __pycache__ | xargs rm -rf`, `rm -rf $(find . -name '*.egg-info')`.
    fn is_product_found(&self, effect: &Effect) -> bool {
        let Value::Unknown { why, shape } = &effect.path else { return false };
        let finder = match why {
            _ if !shape.chars().eq([Value::HOLE]) => None,
            Why::Argument => {
                let wrapper = self.outer(self.index);
                let (before, _) = self.pipeline();
                let plain = |word: &&Word| {
                    word.known().is_some_and(|word| {
                        let safe = matches!(
                            word,
                            "-0" | "-r" | "-0r" | "-r0" | "-t" | "--null" | "--no-run-if-empty" | "-n" | "-P"
                        );
                        safe || word.bytes().all(|byte| byte.is_ascii_digit())
                    })
                };
                let listed = wrapper.is_some_and(|wrapper| {
                    let own = wrapper.words.iter().skip(1).take_while(|word| word.span.start < self.command.span.start);
                    wrapper.program() == Some("xargs")
                        && wrapper.via.is_empty()
                        && wrapper.redirects.is_empty()
                        && own.take_while(|word| word.known() != self.command.program()).all(|word| plain(&word))
                });
                before.first().copied().filter(|_| listed && before.len() == 1)
            }
            Why::CommandOutput => {
                let commands = &self.script().commands;
                let inside = self.scene.nesting().inside(effect.span);
                let mut all = inside.filter(|other| *other != self.index && commands[*other].span != effect.span);
                let first = all.next();
                first.filter(|_| all.next().is_none()).map(|other| &commands[other])
            }
            _ => None,
        };
        // Anything else that it prints may be other names.
        let prints = |word: &Word| {
            let text = word.value.text();
            text.starts_with("-exec")
                || text.starts_with("-ok")
                || text.starts_with("-printf")
                || matches!(text, "-ls" | "-fls")
        };
        let inside = |place: PathZone| {
            matches!(place, PathZone::WorkspaceRoot | PathZone::Workspace | PathZone::Source | PathZone::Product)
        };
        let splits = |other: &Command| other.assignments.iter().any(|(name, _)| name == "IFS");
        let any_splits = || *self.scene.common.splits.get_or_init(|| self.script().commands.iter().any(splits));
        finder.filter(|_| !any_splits()).is_some_and(|finder| {
            let starts = || finder.effects.iter().filter(|effect| effect.kind == EffectKind::Read);
            find_expression::names(finder)
                .is_some_and(|names| !names.is_empty() && names.iter().all(|name| is_product(name)))
                && finder.words.iter().all(|word| word.known().is_some() && !prints(word))
                && starts().count() > 0
                && starts().all(|effect| inside(self.scene.map.of(&effect.path, true)))
        })
    }

    /// Where an effect happens whose path leads elsewhere through links that are there; `None` if it does not.
    fn behind_links(&self, effect: &Effect) -> Option<PathZone> {
        let look = self.scene.look?;
        let path = self.led_to(effect)?;
        // The workspace and the home folder may be behind links themselves.
        let place = self.scene.map.of(&path, effect.recursive);
        let known = self.scene.real_map.get_or_init(|| self.scene.map.behind(|path| look.real(path)));
        let through = known.as_ref().map_or(place, |map| map.as_map().of(&path, effect.recursive));
        is_elsewhere(through).then_some(through)
    }

    /// The path that an effect leads to behind links, if that is another one.
    fn led_to(&self, effect: &Effect) -> Option<Value> {
        let look = self.scene.look?;
        let text = effect.path.text();
        if !text.starts_with('/') || effect.kind == EffectKind::Send {
            return None;
        }
        // A link is removed or made itself; what is below it is where it leads to.
        let itself =
            matches!(effect.kind, EffectKind::Delete | EffectKind::Move | EffectKind::Link) && !text.ends_with('/');
        let (fixed, above) = known_part(text);
        let folder = if fixed.len() == text.len() && !itself { fixed } else { above };
        if folder.is_empty() {
            return None;
        }
        let real = look.real(folder).filter(|real| real != folder)?;
        let rest = text.get(folder.len()..).unwrap_or_default();
        let text = format!("{real}{rest}");
        Some(match &effect.path {
            Value::Known(_) => Value::Known(text),
            Value::Pattern(_) => Value::Pattern(text),
            Value::Unknown { why, .. } => Value::Unknown { why: why.clone(), shape: text },
        })
    }

    /// Where an effect outside the workspace happens in a repository in which a person works; `None` if it is in none.
    fn in_other_repository(&self, effect: &Effect, place: PathZone, narrow: bool) -> Option<PathZone> {
        if !is_elsewhere(place)
            || matches!(place, PathZone::Root | PathZone::Device | PathZone::Home)
            || !is_change(effect.kind)
        {
            return None;
        }
        let query = self.scene.repository_query()?;
        // It goes by what the whole text does.
        self.reaches(DependsOn::Text);
        self.scene.common.repositories.place(&query, self.command, effect, narrow)
    }

    /// Where a path lies.
    pub(crate) fn zone(&self, path: &str) -> PathZone {
        self.scene.map.place(path)
    }

    /// Whether a folder is in the workspace, or around it.
    pub(crate) fn is_of_workspace(&self, folder: &str) -> bool {
        let within = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.scene.map.workspace().is_none_or(|workspace| within(folder, workspace) || within(workspace, folder))
    }

    /// Whether a path is the top of a worktree beside the workspace, of the same repository.
    pub(crate) fn is_own_tree(&self, path: &str) -> bool {
        self.reaches(DependsOn::Text);
        self.scene.repository_query().is_some_and(|query| self.scene.common.repositories.is_own_tree(&query, path))
    }

    /// The commands before it without which it does not run, as `&&` stands between them, the nearest first.
    pub(crate) fn succeeded(&self) -> impl Iterator<Item = usize> {
        let commands = &self.script().commands;
        std::iter::successors(Some(self.index), move |at| {
            let command = &commands[*at];
            let neighbours = self.scene.common.neighbours.get_or_init(|| Neighbours::of(commands));
            neighbours.before[*at].filter(|_| command.joiner == Joiner::And)
        })
        .skip(1)
    }

    /// What the command of this number runs, if that is one other command whose success is its own.
    pub(crate) fn run_by(&self, wrapper: usize) -> &'a Command {
        let commands = &self.script().commands;
        let mut at = wrapper;
        while matches!(commands[at].program(), Some("env" | "nice" | "nohup" | "timeout"))
            && commands.get(at + 1).is_some_and(|inner| holds(&commands[at], inner))
        {
            at += 1;
        }
        &commands[at]
    }

    /// How a command of the same text takes its words.
    pub(crate) fn read(&self, command: &'a Command) -> Option<Invocation<'a>> {
        Invocation::read(&command.words, self.scene.tables.grammars)
    }

    /// The commands before it in its pipeline, the nearest last, then those behind it. What stands inside a wrapper is
    /// in the pipeline of that wrapper.
    pub(crate) fn pipeline(&self) -> (Vec<&'a Command>, Vec<&'a Command>) {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut at = self.index;
        loop {
            self.beside(at, &mut before, &mut after);
            if !before.is_empty() || !after.is_empty() {
                return (before, after);
            }
            let Some(outer) = self.outer_number(at) else { return (before, after) };
            at = outer;
        }
    }

    /// The last command before the one of this number that is a wrapper which runs that.
    fn outer(&self, at: usize) -> Option<&'a Command> {
        self.outer_number(at).map(|outer| &self.script().commands[outer])
    }

    fn outer_number(&self, at: usize) -> Option<usize> {
        let commands = &self.script().commands;
        let inner = &commands[at];
        let (program, above) = inner.via.split_last()?;
        let holds = |outer: usize| holds(&commands[outer], inner);
        self.scene.nesting().last_outside(inner.span, (above.len(), key(program)), at, holds)
    }

    /// The command of this number, and those that it runs inside.
    pub(crate) fn stage(&self, at: usize) -> impl Iterator<Item = usize> + use<'a> {
        let commands = &self.script().commands;
        let outer = &commands[at];
        let inner = (at + 1..commands.len()).take_while(move |inner| commands[*inner].via.len() > outer.via.len());
        std::iter::once(at).chain(inner.filter(move |inner| holds(outer, &commands[*inner])))
    }

    /// The command whose output it is given by a pipe.
    pub(crate) fn piped_from(&self) -> Option<usize> {
        let commands = &self.script().commands;
        let neighbours = self.scene.common.neighbours.get_or_init(|| Neighbours::of(commands));
        neighbours.before[self.index].filter(|_| self.command.joiner == Joiner::Pipe)
    }

    /// The wrapper that runs it.
    pub(crate) fn wrapper(&self) -> Option<usize> {
        self.outer_number(self.index)
    }

    /// Adds the neighbours of the command at this place, and what those run inside.
    fn beside(&self, at: usize, before: &mut Vec<&'a Command>, after: &mut Vec<&'a Command>) {
        let commands = &self.script().commands;
        let with_inner = |at: usize| self.stage(at).map(|number| &commands[number]);
        let neighbours = self.scene.common.neighbours.get_or_init(|| Neighbours::of(commands));
        let mut stages = Vec::new();
        let mut joiner = commands[at].joiner;
        let mut here = at;
        while joiner == Joiner::Pipe
            && let Some(other) = neighbours.before[here]
        {
            (joiner, here) = (commands[other].joiner, other);
            stages.push(other);
        }
        before.extend(stages.into_iter().rev().flat_map(with_inner));
        here = at;
        while let Some(other) = neighbours.after[here].filter(|other| commands[*other].joiner == Joiner::Pipe) {
            here = other;
            after.extend(with_inner(other));
        }
    }

    /// Whether what it prints goes to another machine.
    pub(crate) fn sends(&self) -> bool {
        self.reaches(DependsOn::Text);
        *self.sends.get_or_init(|| {
            let network = |command: &Command| {
                command.redirects.iter().any(|one| one.target.value.text().starts_with("/dev/tcp/"))
            };
            let sends = |command: &Command| {
                command.effects.iter().any(|effect| effect.kind == EffectKind::Send) || network(command)
            };
            sends(self.command) || self.pipeline().1.into_iter().any(sends)
        })
    }

    /// Whether conditions on the command hold, and the words that make them do.
    pub(crate) fn check<'r>(&self, what: &'r CommandMatcher, purpose: Purpose) -> Result<Vec<Span>, Mismatch<'r>> {
        let command = self.command;
        if command.runs == Runs::Never {
            return Err(Mismatch::Never);
        }
        // Most rules on effects end here, so this comes first.
        let lacks = |wanted: &&EffectMatch| {
            let effects = if wanted.elsewhere { &command.effects_elsewhere } else { &command.effects };
            !effects.iter().any(|effect| wanted.kinds.contains(&effect.kind))
        };
        if let Some(wanted) = what.effects.iter().find(lacks) {
            return Err(Mismatch::Effects(wanted));
        }
        if !what.not_in.is_empty()
            && let Some(cwd) = &command.cwd
            && !self.names_repository()
            && self.is_excepted(&what.not_in, cwd)
        {
            return Err(Mismatch::Place);
        }
        let mut spans = Vec::new();
        if !what.programs.is_empty() {
            let program = self.program().ok_or(Mismatch::Program)?;
            // Nearly every name is one in full.
            let is_named = what.programs.iter().any(|wanted| wanted == program);
            if !is_named && !what.programs.iter().any(|wanted| fits(wanted, program)) {
                return Err(Mismatch::Program);
            }
            spans.extend(self.word(0));
        }
        self.check_words(what, purpose, &mut spans)?;
        if !what.via.is_empty() && !command.via.iter().any(|via| what.via.iter().any(|wanted| fits(wanted, via))) {
            return Err(Mismatch::Via);
        }
        if what.unseen && (!command.unseen_script || command.preexisting) {
            return Err(Mismatch::Unseen);
        }
        self.check_pipeline(what, &mut spans)?;
        if what.assigns.as_ref().is_some_and(|assigns| !self.is_set(assigns, purpose)) {
            return Err(Mismatch::Assigns);
        }
        self.check_texts(what, purpose, &mut spans)?;
        for wanted in &what.effects {
            let found = if wanted.elsewhere { self.effects_elsewhere(wanted) } else { self.effects(wanted).collect() };
            if found.is_empty() || purpose == Purpose::Exemption && !self.is_all(wanted) {
                return Err(Mismatch::Effects(wanted));
            }
            if spans.is_empty() {
                spans.extend(self.word(0));
            }
            spans.extend(found.into_iter().map(|(effect, _)| effect.span));
        }
        spans.dedup();
        if spans.is_empty() {
            spans.push(command.span);
        }
        Ok(spans)
    }

    /// Where places are: the workspace, the home folder.
    pub(crate) fn map(&self) -> &Map<'_> {
        self.scene.map
    }

    fn names_repository(&self) -> bool {
        self.reaches(DependsOn::Variables);
        names_repository(self.command)
    }

    /// Whether a folder lies in one of the places that a rule leaves out, by its path and behind links.
    fn is_excepted(&self, places: &[PathZone], folder: &str) -> bool {
        let place = self.scene.map.place(folder);
        let is_named = |place: PathZone| {
            places.contains(&place) || place == PathZone::Temporary && places.contains(&PathZone::TemporaryRepository)
        };
        if !is_named(place) {
            return false;
        }
        self.reaches(DependsOn::Text);
        let earlier = || self.script().commands.iter().take(self.index);
        if earlier().any(|other| makes_around(other, folder, |effect, _| effect.kind == EffectKind::Link)) {
            return false;
        }
        let real = self.scene.look.and_then(|look| look.real(folder));
        let real = real.as_deref().unwrap_or(folder);
        if !is_named(self.scene.map.place(real)) {
            return false;
        }
        let shares = || match self.scene.look.map(|look| RepositoryLocation::of(real, look)) {
            Some(RepositoryLocation::Outside) => false,
            Some(RepositoryLocation::At(repository)) => !is_named(self.scene.map.place(&repository)),
            Some(RepositoryLocation::Unknown) | None => true,
        };
        places.contains(&place) || !(earlier().any(|other| brings_worktree(other, folder)) || shares())
    }

    /// Where the word of this number stands.
    fn word(&self, at: usize) -> Option<Span> {
        self.command.words.get(at).map(|word| word.span)
    }

    /// Whether its subcommand, options and operands are those.
    fn check_words<'r>(
        &self,
        what: &'r CommandMatcher,
        purpose: Purpose,
        spans: &mut Vec<Span>,
    ) -> Result<(), Mismatch<'r>> {
        let needs_words = !what.subcommands.is_empty()
            || !what.flags.is_empty()
            || !what.arguments.is_empty()
            || what.count != (0, None);
        let excepts = !what.without.is_empty()
            || what.no_argument.is_some()
            || what.unless_arguments.is_some()
            || what.unless_test;
        if !needs_words && !excepts {
            return Ok(());
        }
        let Some(found) = self.invocation() else {
            // What a file tool does has no words, and so none that excepts it from a rule.
            let none = self.command.words.is_empty() && purpose == Purpose::Rule;
            return if none && !needs_words { Ok(()) } else { Err(Mismatch::Program) };
        };
        // How many operands the subcommand takes up, and which word is its last.
        let (mut from, mut end) = (0, 0);
        if !what.subcommands.is_empty() {
            let fit = what.subcommands.iter().find_map(|wanted| found.subcommand(wanted, purpose == Purpose::Rule));
            let fit = fit.ok_or(Mismatch::Subcommand)?;
            spans.extend(fit.words.iter().filter_map(|word| self.word(*word)));
            (from, end) = (fit.operands, fit.words.last().copied().unwrap_or(0));
        }
        // Before its subcommand git takes a folder by that option: `git -C folder switch main`.
        let folder = |flag: &Flag| flag.name == "-C" && found.program == "git" && from > 0;
        let first = found.operands.first().map_or(0, |operand| operand.word);
        for group in &what.flags {
            let given = group.iter().find_map(|flag| {
                let after = if folder(flag) { first } else { 0 };
                given(found, flag, after, purpose == Purpose::Rule, |p, text| purpose.fits(p, text))
            });
            spans.extend(self.word(given.ok_or(Mismatch::Flags(group))?));
        }
        let excluded = |flag: &&Flag| match purpose {
            Purpose::Rule => excused(found, flag, &what.without, end),
            Purpose::Exemption => given(found, flag, 0, true, |p, text| purpose.excludes(p, text)).is_some(),
        };
        if let Some(flag) = what.without.iter().find(excluded) {
            return Err(Mismatch::Without(flag));
        }
        let operands = found.operands.get(from..).unwrap_or_default();
        for pattern in &what.arguments {
            let fit = operands.iter().find(|operand| operand.text.is_some_and(|text| purpose.fits(pattern, text)));
            spans.extend(self.word(fit.ok_or(Mismatch::Arguments(pattern))?.word));
        }
        if let Some(pattern) = &what.no_argument
            && operands.iter().any(|operand| operand.text.is_some_and(|text| purpose.excludes(pattern, text)))
        {
            return Err(Mismatch::OtherArguments(pattern));
        }
        // What is added when it runs may be as many as a rule asks for.
        let open = self.command.more_words && purpose == Purpose::Rule;
        if let Some(pattern) = &what.unless_arguments {
            // What is not known excepts a command by what is known of it, and every command from what is exempt.
            let unknown = |operand: &Operand<'_>| operand.text.is_none() && purpose == Purpose::Exemption;
            let fits = |operand: &Operand<'_>| unknown(operand) || purpose.excludes(pattern, operand.shape);
            if !open && !operands.is_empty() && operands.iter().all(fits) {
                return Err(Mismatch::TheseArguments(pattern));
            }
        }
        if what.unless_test {
            self.reaches(DependsOn::Variables);
            if test_databases::is_meant(self.command, found, self.scene.map) {
                return Err(Mismatch::TestData);
            }
        }
        let (least, most) = what.count;
        if operands.len() < least && !open || most.is_some_and(|most| operands.len() > most) {
            return Err(Mismatch::Count);
        }
        Ok(())
    }

    /// Whether such programs stand before and behind it in its pipeline.
    fn check_pipeline(&self, what: &CommandMatcher, spans: &mut Vec<Span>) -> Result<(), Mismatch<'static>> {
        if what.after.is_empty() && what.before.is_empty() {
            return Ok(());
        }
        let (before, after) = self.pipeline();
        for (wanted, there, side) in [(&what.after, before, "before"), (&what.before, after, "after")] {
            if wanted.is_empty() {
                continue;
            }
            let fit = there
                .iter()
                .find(|other| other.program().is_some_and(|program| wanted.iter().any(|wanted| fits(wanted, program))));
            spans.push(fit.ok_or(Mismatch::Neighbour(side))?.span);
        }
        Ok(())
    }

    /// Whether a variable is set so for it, by itself or before.
    fn is_set(&self, assigns: &Assigns, purpose: Purpose) -> bool {
        let command = self.command;
        let fits = |(name, value): (&str, &str)| purpose.fits(&assigns.pattern, &format!("{name}={value}"));
        // That the person's home folder is theirs is no doing of the text.
        let set = |(name, value): &(&str, &str)| *name != "HOME" || Some(*value) != self.scene.home;
        let own = command.assignments.iter().map(|(name, word)| (name.as_str(), word.value.text()));
        if own.filter(set).any(fits) {
            return true;
        }
        if command.words.is_empty() {
            return false;
        }
        self.reaches(DependsOn::Variables);
        // Most commands have the variables of the one before.
        let condition = (std::ptr::from_ref(assigns).addr(), purpose == Purpose::Rule);
        let known = self.scene.common.set.borrow().get(&condition).copied();
        if let Some((other, is_set)) = known
            && self.script.commands[other].env.is_same(&command.env)
        {
            return is_set;
        }
        // A value that the text sets and that is not known may be any.
        let unknown = Value::HOLE.to_string();
        let any = (purpose == Purpose::Rule && !command.env.all_unknown()).then_some(unknown.as_str());
        let inherited = assigns.among(&command.env).filter_map(|(name, value)| Some((name, value.or(any)?)));
        let is_set = inherited.filter(set).any(fits);
        self.scene.common.set.borrow_mut().insert(condition, (self.index, is_set));
        is_set
    }

    /// Whether what it says, or is given, matches, and what it writes.
    fn check_texts(
        &self,
        what: &CommandMatcher,
        purpose: Purpose,
        spans: &mut Vec<Span>,
    ) -> Result<(), Mismatch<'static>> {
        let command = self.command;
        if !what.texts.is_empty() {
            let holds = |text: &str| what.texts.iter().all(|pattern| purpose.fits(pattern, text));
            let at = command.words.iter().skip(1).position(|word| holds(word.value.text()));
            match at {
                Some(at) => spans.extend(self.word(at + 1)),
                None if command.input().into_iter().chain(command.statements()).any(holds) => {}
                None => return Err(Mismatch::Text),
            }
        }
        if let Some(pattern) = &what.content
            && !self.contents().iter().any(|text| purpose.fits(pattern, text))
        {
            return Err(Mismatch::Content);
        }
        Ok(())
    }

    /// The effects that a rule is about, with their places.
    pub(crate) fn effects<'s>(&'s self, wanted: &'s EffectMatch) -> impl Iterator<Item = (&'a Effect, PathZone)> + 's {
        let fit = self.command.effects.iter().zip(self.places()).enumerate().filter(move |(at, (effect, place))| {
            wanted.kinds.contains(&effect.kind)
                && wanted.recursive.is_none_or(|recursive| recursive == wide(effect))
                && (!wanted.exact || matches!(effect.path, Value::Known(_)))
                && !is_implied(self.command, effect)
                && self.lies(wanted, *at, **place)
                && !(wanted.existing && self.is_new(effect))
                && !(wanted.shown && (is_no_disclosure(self.command, effect) || self.is_nothing(effect)))
        });
        fit.map(|(_, (effect, place))| (effect, *place))
    }

    /// The same of what happens on another machine, where no workspace is.
    fn effects_elsewhere(&self, wanted: &EffectMatch) -> Vec<(&'a Effect, PathZone)> {
        let home = self.scene.home;
        let map = Map::new("", home);
        let under = |rules: &Option<Rc<PathRules>>, effect: &Effect| {
            rules.as_ref().is_some_and(|rules| rules.cover(&effect.path, home))
        };
        let meant = |(effect, place): &(&Effect, PathZone)| {
            let anywhere = wanted.places.is_empty() && wanted.paths.is_none();
            wanted.kinds.contains(&effect.kind)
                && wanted.recursive.is_none_or(|recursive| recursive == wide(effect))
                && (!wanted.exact || matches!(effect.path, Value::Known(_)))
                && !is_implied(self.command, effect)
                && (anywhere || wanted.places.contains(place) || under(&wanted.paths, effect))
                && !wanted.not_places.contains(place)
                && !under(&wanted.not, effect)
        };
        let placed = self.command.effects_elsewhere.iter().map(|effect| (effect, map.elsewhere(effect)));
        placed.filter(meant).collect()
    }

    /// Whether nothing but what an exemption is about happens: whatever the command changes, and every effect of those
    /// kinds, is for certain where the exemption says.
    fn is_all(&self, wanted: &EffectMatch) -> bool {
        if wanted.elsewhere {
            let changed = self.command.effects_elsewhere.iter().filter(|effect| is_change(effect.kind)).count();
            return self.effects_elsewhere(wanted).iter().filter(|(effect, _)| is_change(effect.kind)).count()
                == changed;
        }
        let mut effects = self.command.effects.iter().zip(self.places()).enumerate();
        effects.all(|(at, (effect, place))| {
            let meant = is_change(effect.kind) || wanted.kinds.contains(&effect.kind);
            let there = wanted.places.is_empty() && wanted.paths.is_none()
                || wanted.places.contains(place)
                || wanted.paths.as_ref().is_some_and(|rules| self.surely(rules, at));
            !meant || there && self.lies(wanted, at, *place)
        })
    }

    /// Whether the effect of this number is under one of these.
    fn under(&self, rules: &PathRules, at: usize) -> bool {
        let effects = &self.command.effects;
        let ask = || effects.iter().map(|effect| self.scene.tables.lists.ask(&effect.path, self.scene.home)).collect();
        let path = &effects[at].path;
        self.answered.get_or_init(ask).get(at).is_some_and(|answered| answered.is_under(rules))
            && !self.is_kind_only(rules, path)
            && !self.is_in_worktree(rules, path)
            || self.is_led_under(rules, at)
    }

    /// Whether the effect of this number is a change of a file that is under one of these by the way that a link gives it:
    /// `ln -s .git/hooks h; echo x > h/pre-commit`.
    fn is_led_under(&self, rules: &PathRules, at: usize) -> bool {
        let lead = || self.command.effects.iter().map(|effect| self.led_to(effect)).collect();
        let effect = &self.command.effects[at];
        let led = || self.led.get_or_init(lead).get(at)?.as_ref();
        is_change(effect.kind)
            && led().is_some_and(|path| {
                rules.cover(path, self.scene.home)
                    && !self.is_same_place(&effect.path, path)
                    && !self.is_kind_only(rules, path)
                    && !self.is_in_worktree(rules, path)
            })
    }

    /// Whether a path is another one only because the workspace, the home folder or `/tmp` lies behind a link.
    fn is_same_place(&self, written: &Value, led: &Value) -> bool {
        let Some(look) = self.scene.look else { return true };
        let folders = [self.scene.map.workspace(), self.scene.home, Some("/tmp"), Some("/var")];
        folders.into_iter().flatten().any(|folder| {
            let rest = written.text().strip_prefix(folder);
            let real = rest.and_then(|_| look.real(folder));
            real.zip(rest).is_some_and(|(real, rest)| led.text().strip_prefix(real.as_str()) == Some(rest))
        })
    }

    /// Whether the effect is under these only as it is in a worktree below an agent's folder, and they do not mean those.
    fn is_in_worktree(&self, rules: &PathRules, path: &Value) -> bool {
        let inner = agent_folders::in_worktree(path);
        inner.is_some_and(|inner| !rules.mean_worktrees() && !rules.cover(&inner, self.scene.home))
    }

    /// Whether the effect is under these only as one of many files of a kind, and none of those is there.
    fn is_kind_only(&self, rules: &PathRules, path: &Value) -> bool {
        let around = Around { home: self.scene.home, workspace: self.scene.map.workspace(), look: self.scene.look };
        as_glob(path).is_some_and(|pattern| {
            let covering = rules.covering(path, self.scene.home);
            covering.iter().all(|rule| !rule.is_anchored() && rule.is_meant(&pattern, &around) == Some(false))
        })
    }

    /// Whether an effect is under one of these for certain: a glob only where its folder is.
    fn surely(&self, rules: &PathRules, at: usize) -> bool {
        match &self.command.effects[at].path {
            Value::Known(_) => self.under(rules, at),
            Value::Pattern(text) | Value::Unknown { shape: text, .. } => {
                let (_, folder) = known_part(text);
                !folder.is_empty() && rules.cover(&Value::Known(folder.to_owned()), self.scene.home)
            }
        }
    }

    fn lies(&self, wanted: &EffectMatch, at: usize, place: PathZone) -> bool {
        if wanted.not_places.contains(&place) {
            return false;
        }
        let anywhere = wanted.places.is_empty() && wanted.paths.is_none();
        let under = |rules: &Rc<PathRules>| self.under(rules, at);
        let meant = anywhere || wanted.places.contains(&place) || wanted.paths.as_ref().is_some_and(under);
        // Last, as it costs most. What is excepted is so for certain.
        meant && !wanted.not.as_ref().is_some_and(|rules| self.surely(rules, at))
    }

    /// Whether an earlier command of the text makes this file, or a folder above it.
    fn made_before(&self, path: &str) -> bool {
        self.reaches(DependsOn::Text);
        let made = &self.scene.made().made;
        let mut ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.any(|end| made.get(&path[..end]).is_some_and(|first| *first < self.index))
    }

    /// Whether nothing was there before the text ran, so that nothing can be lost.
    fn is_new(&self, effect: &Effect) -> bool {
        match (&effect.path, self.scene.look) {
            (Value::Known(path), Some(look)) if look.look(path) == Presence::Absent => {
                // What was not there and is removed was made by the text, or it is not what somebody thinks it is; or a `cd`
                // before it has worked, and it is another one.
                !matches!(effect.kind, EffectKind::Delete | EffectKind::Move)
                    || effect.alternative
                    || self.made_before(path)
            }
            (Value::Unknown { why: Why::Temporary, shape }, _) if shape.starts_with("/tmp/tmp.") => true,
            // Nothing is in a folder that is not there, unless the text puts another in its place.
            (Value::Pattern(path) | Value::Unknown { shape: path, .. }, Some(look)) => {
                let (_, folder) = known_part(path);
                !matches!(effect.kind, EffectKind::Delete | EffectKind::Move)
                    && folder.starts_with('/')
                    && look.look(folder) == Presence::Absent
                    && !self.put_before(folder)
            }
            _ => false,
        }
    }

    /// Whether a word that may name a file names none: nothing is there, and nothing before it makes anything there.
    fn is_nothing(&self, effect: &Effect) -> bool {
        let (EffectKind::Mention, Some(look)) = (effect.kind, self.scene.look) else { return false };
        let absent = |path: &str| look.look(path) == Presence::Absent;
        effect.path.known().is_some_and(|path| absent(path) && !self.made_before(path) && !self.put_before(path))
    }

    /// Whether an earlier command of the text moves or links something to this path, or to one above it.
    fn put_before(&self, path: &str) -> bool {
        self.reaches(DependsOn::Text);
        let made = self.scene.made();
        let earlier = |first: &usize| *first < self.index;
        // What has no name is the beginning of each.
        let mut above = Path::new(path).ancestors().chain([Path::new("")]);
        made.anywhere.as_ref().is_some_and(earlier) || above.any(|path| made.put.get(path).is_some_and(earlier))
    }
}

/// Whether a glob says anything of the names that it finds, but for what their letters may be.
fn says_something(name: &&str) -> bool {
    let mut in_class = false;
    let mut said = in_plain_words(name).into_owned();
    said.retain(|c| {
        match c {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => return !in_class && !matches!(c, '*' | '?' | '.' | '\\'),
        }
        false
    });
    !said.is_empty()
}

/// Programs that work on files which none of their words names, because that is what they are there for.
const BUILDERS: &[&str] = &[
    "git", "hg", "svn", "jj", "make", "gmake", "ninja", "cmake", "meson", "cargo", "npm", "npx", "yarn", "pnpm", "bun",
    "go", "mvn", "gradle", "gradlew", "just", "bazel", "tox", "nox", "pytest", "pip", "poetry", "uv", "bundle", "rake",
    "composer", "dotnet", "swift", "mix", "rebar3", "stack", "cabal", "dune", "opam", "zig", "sbt", "lein", "deno",
    "patch",
];

/// Whether an effect is on what no word names: git's own files, what a build makes.
pub(crate) fn is_implied(command: &Command, effect: &Effect) -> bool {
    let (Value::Pattern(pattern) | Value::Unknown { shape: pattern, .. }) = &effect.path else { return false };
    command.program().is_some_and(|program| BUILDERS.contains(&program))
        && (effect.named == Named::No || effect.named == Named::Below && pattern.ends_with("/**"))
}

/// Whether git is told to work on a repository that may be another than that of its directory.
pub(crate) fn names_repository(command: &Command) -> bool {
    const OPTIONS: &[&str] = &["--git-dir", "--work-tree", "--separate-git-dir"];
    const VARIABLES: &[&str] = &["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"];
    let words = command.words.iter().map(|word| word.value.text());
    words.into_iter().any(|word| OPTIONS.iter().any(|option| word.starts_with(option)))
        || VARIABLES.iter().any(|name| command.env.get(name).is_some())
        || command.assignments.iter().any(|(name, _)| VARIABLES.contains(&name.as_str()))
}

/// Whether a command has such an effect on a folder, or on one around it.
fn makes_around(command: &Command, folder: &str, fits: impl Fn(&Effect, &Command) -> bool) -> bool {
    let around = |effect: &Effect| effect.path.known().is_some_and(|path| Path::new(folder).starts_with(path));
    command.effects.iter().any(|effect| around(effect) && fits(effect, command))
}

/// Whether a command makes a folder, or one around it, a worktree of a repository that was there before, or may: such a worktree
/// shares stashes and branches with it, and so does a copy of one.
fn brings_worktree(command: &Command, folder: &str) -> bool {
    let own = git_subcommand(command).is_some_and(|name| matches!(name.as_str(), "clone" | "init"));
    // `--separate-git-dir`, which may be cut short.
    let separates = command.words.iter().any(|word| word.value.text().starts_with("--se"));
    if own && !separates {
        return false;
    }
    // A repository's own files may be told elsewhere, and stand in for those that they name.
    let names: Vec<String> = Path::new(folder)
        .ancestors()
        .flat_map(|at| [".git", "commondir"].map(|name| at.join(name)))
        .filter_map(text)
        .collect();
    let is_told = |effect: &Effect| match &effect.path {
        Value::Known(path) => names.iter().any(|name| Path::new(path).starts_with(name)),
        path => names.iter().any(|name| path.may_lead_to(name)),
    };
    let copies = command.effects.iter().any(|effect| effect.copied);
    makes_around(command, folder, |effect, command| match effect.kind {
        EffectKind::Write => effect.recursive || copies,
        EffectKind::Create => copies || git_subcommand(command).is_some(),
        _ => false,
    }) || command.effects.iter().any(|effect| is_change(effect.kind) && is_told(effect))
}

/// Whether a path is one that is made up below the folder for temporary files.
fn in_temporary(path: &str) -> bool {
    ["/tmp/", "/var/tmp/"].iter().any(|folder| path.starts_with(folder)) && path.contains([Value::HOLE, '*'])
}

fn text(path: PathBuf) -> Option<String> {
    path.into_os_string().into_string().ok()
}

/// The subcommand of git, if a command is one.
pub(crate) fn git_subcommand(command: &Command) -> Option<String> {
    if command.program() != Some("git") {
        return None;
    }
    let read = ProgramWords::read("git", command.words.get(1..).unwrap_or_default());
    Some(read.words().next().and_then(Word::known).unwrap_or_default().to_owned())
}

/// Whether it is `git worktree add`.
pub(crate) fn adds_worktree(command: &Command) -> bool {
    if command.program() != Some("git") {
        return false;
    }
    let read = ProgramWords::read("git", command.words.get(1..).unwrap_or_default());
    read.words().take(2).map(Word::known).eq([Some("worktree"), Some("add")])
}

/// Whether more than one file is meant.
fn wide(effect: &Effect) -> bool {
    effect.recursive || matches!(effect.path, Value::Pattern(_))
}

/// The word after this one in which an option is given, with a value that fits; with `loosely`, in any reading.
fn given(
    found: &Invocation<'_>,
    flag: &Flag,
    after: usize,
    loosely: bool,
    fits: impl Fn(&Pattern, &str) -> bool,
) -> Option<usize> {
    let fit = found.options.iter().find(|given| {
        let mut values = given.value.into_iter().chain(given.next.filter(|_| loosely));
        given.word > after
            && found.is(given, &flag.name)
            && flag.value.as_ref().is_none_or(|value| values.any(|text| fits(value, text)))
    });
    fit.map(|given| given.word)
}

/// Whether an option that excuses a command is given, and not taken back: by its own value, as `--dry-run=false` does, or
/// by a later `--no-` of one among those that excuse it, of which `-n` may be the short form. Before `end`, the last word of
/// the subcommand, what may be the value of another option does not excuse it.
fn excused(found: &Invocation<'_>, flag: &Flag, excuses: &[Flag], end: usize) -> bool {
    const OFF: &[&str] = &["false", "none", "no", "off", "0", "f"];
    found.options.iter().enumerate().any(|(at, given)| {
        if !found.is(given, &flag.name) || !given.plain || given.own || given.perhaps && given.word < end {
            return false;
        }
        let is_long = given.name.len() > 2;
        let fit = match (&flag.value, given.value) {
            (Some(value), text) => text.is_some_and(|text| Purpose::Rule.excludes(value, text)),
            (None, Some(text)) => !is_long || !OFF.iter().any(|off| text.eq_ignore_ascii_case(off)),
            (None, None) => true,
        };
        let taken_back = || {
            // The last one of a name counts.
            let again = |later: &ParsedOption<'_>| is_long && found.is(later, &flag.name);
            if found.options[at + 1..].iter().any(again) {
                return true;
            }
            let names = excuses.iter().filter(|one| !is_long || found.is(given, &one.name));
            let mut names = names.filter_map(|one| one.name.strip_prefix("--")).map(|name| format!("--no-{name}"));
            names.any(|name| found.options[at + 1..].iter().any(|later| found.is(later, &name)))
        };
        fit && !taken_back()
    })
}

/// Whether a rule's further patterns hold on a text that its first one matched.
pub(crate) fn confirmed(rule: &Rule, text: &str) -> Result<(), Mismatch<'static>> {
    if rule.requires.as_ref().is_some_and(|pattern| !pattern.matches(text)) {
        return Err(Mismatch::Requires);
    }
    if rule.unless.as_ref().is_some_and(|pattern| matches!(pattern.find(text), Tried::Found(_))) {
        return Err(Mismatch::Unless);
    }
    Ok(())
}

/// Whether an effect is one that takes something away or changes it.
pub(crate) fn is_change(kind: EffectKind) -> bool {
    !matches!(kind, EffectKind::Read | EffectKind::Mention | EffectKind::Execute | EffectKind::Send)
}

/// The folder that holds this one, below the root.
pub(crate) fn folder_above(folder: &str) -> Option<&str> {
    folder.rsplit_once('/').map(|(above, _)| above).filter(|above| !above.is_empty())
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;
    use crate::Guard;

    #[test]
    fn what_is_looked_up_is_what_a_look_at_each_command_finds() {
        let guard = Guard::new();
        let (map, real) = (Map::new("/p", Some("/h")), OnceCell::new());
        for text in [
            "touch a; mkdir -p b/c; rm a b; echo x > a; mv a q; ln -s q r; rm -r q r",
            "cp a /q/c; mv /q/c \"$X\"; rm /q/c/d; f() { touch a; sudo rm a; }; f; rm a; f",
            "ln -s /p /q; xargs env sudo -u x rm a; sh -c 'a; sudo b' | timeout 1 nice c $(d $(e; f))",
            "find . -exec sh -c 'xargs rm b' \\;; f() { g | sudo h; }; g() { env i; }; sudo f | f; f; g",
            "mv a/. b/; ln -s x .; rm -r ./b//c; touch /; rm /p",
        ] {
            let script = parse(text, &Facts::new("/p").home("/h"));
            let scene = ScriptContext::new(&script, guard.tables(), &map, Some("/h"), None, &real);
            for subject in scene.subjects() {
                let earlier = &script.commands[..subject.index];
                let outer = earlier.iter().rposition(|outer| holds(outer, subject.command));
                assert_eq!(subject.outer_number(subject.index), outer, "{text}");
                for path in ["/p/a", "/p/a/b", "/p/ab", "/p/b/c/d", "/p", "/", "/q", "/q/c", "/q/c/d", "/p/q", "/h", ""]
                {
                    let makes = |effect: &Effect| {
                        let makes = matches!(
                            effect.kind,
                            EffectKind::Create | EffectKind::Write | EffectKind::Append | EffectKind::Link
                        );
                        makes
                            && effect
                                .path
                                .known()
                                .and_then(|made| path.strip_prefix(made))
                                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                    };
                    let made = earlier.iter().any(|command| command.effects.iter().any(makes));
                    assert_eq!(subject.made_before(path), made, "{text} {} {path}", subject.index);
                    let put = earlier.iter().any(|command| {
                        let moves = command.effects.iter().any(|effect| effect.kind == EffectKind::Move);
                        let puts = command.effects.iter().filter(|effect| moves || effect.kind == EffectKind::Link);
                        let here =
                            |effect: &Effect| effect.path.known().is_none_or(|put| Path::new(path).starts_with(put));
                        puts.into_iter().any(here)
                    });
                    assert_eq!(subject.put_before(path), put, "{text} {} {path}", subject.index);
                }
            }
        }
    }

    #[test]
    fn what_stands_around_a_command_is_noted_when_it_is_looked_at() {
        let guard = Guard::new();
        let (map, real) = (Map::new("/p", Some("/h")), OnceCell::new());
        let text = "X=1; rm -r $(a) /p/b; a | ls; ls";
        let script = parse(text, &Facts::new("/p").home("/h"));
        let scene = ScriptContext::new(&script, guard.tables(), &map, Some("/h"), None, &real).told_apart(text);
        let subject = |program: &str| {
            scene.subjects().filter(|subject| subject.command.program() == Some(program)).last().expect(program)
        };
        let rm = subject("rm");
        assert_eq!(
            (rm.take_reach(), rm.invocation().is_some(), rm.take_reach()),
            (DependsOn::Command, true, DependsOn::Command)
        );
        // One of its paths is what another command prints.
        for _ in 0..2 {
            rm.places();
            assert_eq!((rm.take_reach(), rm.take_reach()), (DependsOn::Text, DependsOn::Command));
        }
        let ls = subject("ls");
        ls.places();
        assert_eq!(ls.take_reach(), DependsOn::Command);
        ls.pipeline();
        ls.names_repository();
        assert_eq!(ls.take_reach(), DependsOn::Text);
        ls.names_repository();
        assert_eq!(ls.take_reach(), DependsOn::Variables);
        let both: Vec<usize> = scene
            .subjects()
            .filter(|subject| subject.command.program() == Some("ls"))
            .map(|subject| subject.first)
            .collect();
        assert!(matches!(both.as_slice(), [first, other] if first == other), "{both:?}");
    }
}
