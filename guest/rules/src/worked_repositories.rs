//! In which repositories besides the workspace a person works: the one in which a command runs, and the other worktrees of
//! the workspace's. Files there are as those of the workspace. Not whether git holds them.
//!
//! An agent is often started in the home folder, which is no workspace, or goes to another repository than that in which it was
//! started. So what a command does where it is, inside one repository, is what is done in a workspace. Bounds keep that from
//! being a way round: see [`may_be_worked_in`] and [`WorkedRepositories::place`].

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use toolgate_shell::{Command, Effect, EffectKind, FileOracle, Runs, Script, Value};

use super::glob::known_part;
use super::path_zone::{Map, PathZone, is_elsewhere, is_product};
use super::worktree::Worktree;
use crate::call::Memory;

/// Folders of the system below which people keep what they work on.
const SHARED: &[&str] = &["/var/www", "/srv", "/private/var/www", "/Volumes"];

/// Folders of a hidden folder in which agents make worktrees: `~/.codex/worktrees/ID/REPO`.
const WORKTREES: &[&str] = &["worktrees", "worktree"];

/// A query about the repositories of a text: the places with links resolved, and the repositories that the session has
/// made.
pub(crate) struct RepositoryQuery<'a> {
    pub(crate) script: &'a Script,
    pub(crate) map: Map<'a>,
    pub(crate) look: &'a dyn FileOracle,
    /// The tops of worktrees that earlier calls made of folders which were there; [`Memory::ANYWHERE`] stands for every one.
    pub(crate) made: &'a [String],
    /// Whether no word names an effect.
    pub(crate) is_implied: fn(&Command, &Effect) -> bool,
}

/// What is found out once for a text.
#[derive(Default)]
pub(crate) struct WorkedRepositories {
    trees: RefCell<FxHashMap<String, Option<Worktree>>>,
    own: OnceCell<Option<Worktree>>,
    /// The repositories besides the workspace's own in which words of the text change something.
    others: OnceCell<BTreeSet<String>>,
    made: OnceCell<Vec<String>>,
}

impl WorkedRepositories {
    /// Where an effect happens that is outside the workspace, as if the repository in which a person works were one; `None` if
    /// it is in none. `narrow`: only some of the files of its folder are meant, so that it may be the top.
    pub(crate) fn place(
        &self,
        query: &RepositoryQuery<'_>,
        command: &Command,
        effect: &Effect,
        narrow: bool,
    ) -> Option<PathZone> {
        let path = self.real(query, effect, narrow)?;
        let place = query.map.of(&path, effect.recursive);
        if !is_elsewhere(place) {
            // Links lead to the workspace.
            return inside(place);
        }
        let tree = self.around(folder_of(&path, narrow), query.look)?;
        if !may_be_worked_in(&tree, &query.map) || self.is_made(query, &tree.root) {
            return None;
        }
        let is_own = self.is_own(query, &tree);
        let one = || is_own || self.others(query).len() <= 1;
        let zone = || Map::new(&tree.root, query.map.home()).of(&path, effect.recursive);
        if is_own || self.works_in(query, command, &tree) {
            // Whoever was started in one repository and removes folders of another may be in the wrong one.
            let within = path.text().strip_prefix(tree.root.as_str()).unwrap_or_default();
            let again = || within.split('/').any(is_product);
            let strays = !is_own && query.map.workspace().is_some() && sweeps(effect) && !again();
            return Some(zone()).filter(|_| one() && !strays);
        }
        // What a build makes again is so wherever one stands; a file tool, which writes, stands nowhere.
        let again =
            || matches!(path, Value::Known(_)) && is_product(path.text().rsplit('/').next().unwrap_or_default());
        match zone() {
            place if query.map.workspace().is_some() || !one() || place == PathZone::Repository => None,
            place if command.words.is_empty() && command.redirects.is_empty() && !removes(effect) => Some(place),
            _ if again() => Some(PathZone::Product),
            _ => None,
        }
    }

    /// Whether a path is the top of a worktree that belongs to the workspace's repository.
    pub(crate) fn is_own_tree(&self, query: &RepositoryQuery<'_>, path: &str) -> bool {
        let real = query.look.real(path).unwrap_or_else(|| path.to_owned());
        let tree = self.around(&real, query.look);
        tree.is_some_and(|tree| tree.linked && tree.root == real && self.is_own(query, &tree))
    }

    /// The effect's path with the links resolved that it goes through. What the text itself puts there is not known.
    fn real(&self, query: &RepositoryQuery<'_>, effect: &Effect, narrow: bool) -> Option<Value> {
        let text = effect.path.text();
        // A link is removed or made itself; what is written goes to where it leads.
        let itself =
            matches!(effect.kind, EffectKind::Delete | EffectKind::Move | EffectKind::Link) && !text.ends_with('/');
        let is_whole = matches!(effect.path, Value::Known(_)) && !itself;
        let known = if is_whole && text.starts_with('/') { text } else { folder_of(&effect.path, narrow) };
        if known.is_empty() || self.puts(query, known) {
            return None;
        }
        let real = query.look.real(known)?;
        let text = format!("{real}{}", text.get(known.len()..)?);
        Some(match &effect.path {
            Value::Known(_) => Value::Known(text),
            Value::Pattern(_) => Value::Pattern(text),
            Value::Unknown { why, .. } => Value::Unknown { why: why.clone(), shape: text },
        })
    }

    /// Whether the text puts a link or something else in the place of this folder, or of one above it.
    fn puts(&self, query: &RepositoryQuery<'_>, folder: &str) -> bool {
        let below = |path: &str| folder.strip_prefix(path);
        let puts = |effect: &Effect| match effect.path.known() {
            Some(path) => below(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
            // One of the folders in the one that is known.
            None => below(known_part(effect.path.text()).1).is_some_and(|rest| rest.starts_with('/')),
        };
        let put = |effect: &Effect| matches!(effect.kind, EffectKind::Move | EffectKind::Link) && puts(effect);
        let mut commands = query.script.commands.iter().filter(|command| command.runs != Runs::Never);
        commands.any(|command| command.effects.iter().any(put))
    }

    fn around(&self, folder: &str, look: &dyn FileOracle) -> Option<Worktree> {
        if let Some(known) = self.trees.borrow().get(folder) {
            return known.clone();
        }
        let found = Worktree::around(folder, look);
        self.trees.borrow_mut().insert(folder.to_owned(), found.clone());
        found
    }

    /// Whether it is a worktree of the repository that the workspace lies in.
    fn is_own(&self, query: &RepositoryQuery<'_>, tree: &Worktree) -> bool {
        let own = || query.map.workspace().and_then(|workspace| self.around(workspace, query.look));
        let own = self
            .own
            .get_or_init(|| own().filter(|own| may_be_worked_in(own, &query.map) || query.map.holds(&own.root)));
        own.as_ref().is_some_and(|own| own.repository == tree.repository)
    }

    /// Whether a command runs in this worktree, or in another one of the same repository.
    fn works_in(&self, query: &RepositoryQuery<'_>, command: &Command, tree: &Worktree) -> bool {
        let cwd = command.cwd.as_deref().filter(|_| !command.other_folders && !command.elsewhere);
        let cwd = cwd.filter(|cwd| !self.puts(query, cwd)).and_then(|cwd| query.look.real(cwd));
        let here = cwd.and_then(|cwd| self.around(&cwd, query.look));
        here.is_some_and(|here| {
            here.root == tree.root || here.repository == tree.repository && may_be_worked_in(&here, &query.map)
        })
    }

    /// Several repositories at once are no place to work in.
    fn others(&self, query: &RepositoryQuery<'_>) -> &BTreeSet<String> {
        self.others.get_or_init(|| {
            let commands =
                query.script.commands.iter().filter(|command| command.runs != Runs::Never && !command.elsewhere);
            let effects = commands.flat_map(|command| command.effects.iter().map(move |effect| (command, effect)));
            let changed = effects.filter(|(command, effect)| changes(effect) && !(query.is_implied)(command, effect));
            let trees = changed.filter_map(|(_, effect)| {
                let folder = Some(folder_of(&effect.path, false)).filter(|folder| !folder.is_empty())?;
                let outside = is_elsewhere(query.map.of(&effect.path, effect.recursive));
                self.around(&query.look.real(folder).filter(|_| outside)?, query.look)
            });
            trees.filter(|tree| !self.is_own(query, tree)).map(|tree| tree.repository).collect()
        })
    }

    /// Whether the session has made this folder a repository: what is in it was there before.
    fn is_made(&self, query: &RepositoryQuery<'_>, root: &str) -> bool {
        let own = self.made.get_or_init(|| made(query.script, query.look, query.is_implied));
        let mut all = query.made.iter().chain(own);
        all.any(|made| made == root || made == Memory::ANYWHERE)
    }
}

/// The folders that a text makes repositories of, with links resolved, if they were there before: by git, or by a `.git` that is
/// copied, moved, linked or written.
pub(crate) fn made(script: &Script, look: &dyn FileOracle, is_implied: fn(&Command, &Effect) -> bool) -> Vec<String> {
    let mut found = BTreeSet::new();
    for command in script.commands.iter().filter(|command| command.runs != Runs::Never && !command.elsewhere) {
        for effect in
            command.effects.iter().filter(|effect| makes(effect) && (begins(command) || !is_implied(command, effect)))
        {
            let text = effect.path.text();
            let text = text.strip_suffix("/HEAD").unwrap_or(text);
            let Some(root) = text.strip_suffix("/.git") else { continue };
            if root.contains(Value::HOLE) {
                found.insert(Memory::ANYWHERE.to_owned());
            } else if look.look(root) != toolgate_shell::Presence::Absent {
                found.insert(look.real(root).unwrap_or_else(|| root.to_owned()));
            }
        }
    }
    found.into_iter().collect()
}

/// Whether a command makes a repository of the folder that it runs in.
fn begins(command: &Command) -> bool {
    command.program() == Some("git") && command.words.iter().any(|word| word.known() == Some("init"))
}

/// Whether an effect may put something where nothing was.
fn makes(effect: &Effect) -> bool {
    matches!(
        effect.kind,
        EffectKind::Create | EffectKind::Write | EffectKind::Append | EffectKind::Link | EffectKind::Move
    )
}

/// Whether it changes what is there.
fn changes(effect: &Effect) -> bool {
    makes(effect) || effect.kind == EffectKind::Delete
}

fn removes(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::Delete | EffectKind::Move)
}

/// Whether whole folders, or whatever fits a pattern, are removed or moved away.
fn sweeps(effect: &Effect) -> bool {
    let all = effect.recursive || !matches!(effect.path, Value::Known(_));
    removes(effect) && all
}

/// The folder of an effect's path as far as it is known; that itself, if only some of what is in it is meant.
fn folder_of(path: &Value, narrow: bool) -> &str {
    let (fixed, above) = known_part(path.text());
    let is_whole = fixed.len() == path.text().len();
    let folder = if narrow && is_whole { fixed } else { above };
    if folder.starts_with('/') { folder } else { "" }
}

/// Places of a workspace.
fn inside(place: PathZone) -> Option<PathZone> {
    let is_inside = matches!(
        place,
        PathZone::WorkspaceRoot
            | PathZone::WorkspaceSome
            | PathZone::Workspace
            | PathZone::Repository
            | PathZone::Source
            | PathZone::Product
    );
    is_inside.then_some(place)
}

/// Whether a worktree may be one that a person works in: below the own home folder, but not in what programs keep there, or
/// outside of the system and of everybody's home folder.
fn may_be_worked_in(tree: &Worktree, map: &Map<'_>) -> bool {
    let names = |folder: &str| -> Option<Vec<String>> {
        let rest = tree.root.strip_prefix(folder)?.strip_prefix('/')?;
        Some(rest.split('/').map(str::to_owned).collect())
    };
    if let Some(below) = map.home().and_then(names) {
        let of_programs = below[0].starts_with('.') || below[0] == "Library";
        let of_agent = || tree.linked && below.iter().skip(1).any(|name| WORKTREES.contains(&name.as_str()));
        return !of_programs || of_agent();
    }
    match map.place(&tree.root) {
        PathZone::Outside => true,
        PathZone::System => {
            let depth = |folder: &str| usize::from(folder == "/Volumes") + 1;
            SHARED.iter().any(|folder| names(folder).is_some_and(|below| below.len() >= depth(folder)))
        }
        _ => false,
    }
}
