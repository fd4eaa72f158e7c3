//! Folders that are removed, and what is lost with them: changes that no commit has.

use crate::matching::MatchInput;
use crate::path_zone::is_product;
use crate::rule::Rule;
use crate::world::GuardHost;

/// Most folders that git is asked about for one command.
const FOLDERS: usize = 8;

/// Whether git knows of changes in a folder that the rule is about. What a build makes again is not asked about.
pub(super) fn loses(rule: &Rule, subject: &MatchInput<'_>, world: &mut dyn GuardHost) -> bool {
    let removed = rule.what.effects.iter().flat_map(|wanted| subject.effects(wanted));
    let folders = removed.filter_map(|(effect, _)| effect.path.known()).filter(|path| !path.split('/').any(is_product));
    let folders: Vec<String> = folders.take(FOLDERS).map(str::to_owned).collect();
    folders.iter().any(|folder| world.changed_below(folder) == Some(true))
}
