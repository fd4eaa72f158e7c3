//! Folders that are removed, and what is lost with them: changes that no commit has.

use toolgate_shell::Presence;

use super::uncommitted::led_to;
use crate::matching::MatchInput;
use crate::path_zone::is_product;
use crate::rule::Rule;
use crate::worktree;
use crate::world::GuardHost;

/// Most folders that git is asked about for one command; what is in more of them is unknown.
const FOLDERS: usize = 8;

/// Whether git knows of changes in a folder that the rule is about. What a build makes again is not asked about.
pub(super) fn loses(rule: &Rule, subject: &MatchInput<'_>, world: &mut dyn GuardHost) -> bool {
    let removed = rule.what.effects.iter().flat_map(|wanted| subject.effects(wanted));
    let named: Vec<&str> = removed.filter_map(|(effect, _)| effect.path.known()).collect();
    let led = named.iter().map(|path| led_to(path, world));
    let mut folders: Vec<String> = led.filter(|path| !path.split('/').any(is_product)).collect();
    folders.dedup();
    if let Some(look) = world.look() {
        // A worktree is judged as one.
        let is_folder = |folder: &str| !matches!(look.look(folder), Presence::Absent | Presence::File);
        folders.retain(|folder| is_folder(folder) && !worktree::says_elsewhere(folder, look.as_ref()));
    }
    folders.len() > FOLDERS || folders.iter().any(|folder| is_changed(folder, world))
}

/// Whether git knows of changes in a folder. Where it gives no answer in a repository, there may be some.
fn is_changed(folder: &str, world: &mut dyn GuardHost) -> bool {
    let in_repository =
        |world: &mut dyn GuardHost| world.look().is_some_and(|look| worktree::top(folder, look.as_ref()).is_some());
    let changed = world.changed_below(folder);
    changed.map_or_else(|| in_repository(world), |files| !files.is_empty())
}
