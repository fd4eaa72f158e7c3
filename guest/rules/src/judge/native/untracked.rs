//! What git does not hold: data of the workspace that is removed, a worktree that is removed as a folder, a secret that is
//! about to be committed.

use toolgate_shell::{Effect, EffectKind, FileOracle, Presence, absolute};

use crate::call::Field;
use crate::judge::{Evaluation, evidence};
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::path_zone::{PathZone, is_product};
use crate::worktree;
use crate::world::{GuardHost, Tracked};

/// Endings of files with data that no build makes again.
const DATA: &[&str] = &[
    "bson",
    "ckpt",
    "db",
    "dump",
    "h5",
    "hdf5",
    "mdb",
    "parquet",
    "pgdump",
    "pt",
    "rdb",
    "safetensors",
    "sql",
    "sqlite",
    "sqlite3",
];

/// Folders of such files.
const FOLDERS: &[&str] = &[
    "backup",
    "backups",
    "checkpoints",
    "data",
    "database",
    "datasets",
    "db",
    "dumps",
    "media",
    "pgdata",
    "storage",
    "uploads",
];

/// Files with secrets, which nobody means to commit.
pub(super) const SECRETS: &[&str] = &[".dev.vars", ".env", ".env.local", ".env.production", "credentials.json"];

/// Most files that git is asked about for one command: each takes some 15 ms. Of more than these nothing is known.
const FILES: usize = 4;

impl Evaluation<'_> {
    /// What is lost, or given away, as git does not hold it.
    pub(in crate::judge) fn not_held(
        &mut self,
        subject: &MatchInput<'_>,
        field: &Field,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        let Some(look) = look else { return };
        let command = subject.command;
        // git keeps what it would lose there, or has rules of its own.
        let by_git = command.program() == Some("git");
        let gone = |(effect, place): &(&Effect, &PathZone)| {
            !by_git
                && effect.kind == EffectKind::Delete
                && matches!(place, PathZone::Workspace | PathZone::Source)
                && !effect.path.known().is_some_and(|path| super::is_made_before(subject, path))
        };
        let removed: Vec<&Effect> =
            command.effects.iter().zip(subject.places()).filter(gone).map(|(effect, _)| effect).collect();
        let mut asked = 0;
        for effect in removed {
            let Some(path) = effect.path.known() else { continue };
            let (native, lost) = match look.look(path) {
                Presence::File if is_data(path) => {
                    asked += 1;
                    (NativeRule::RemoveData, asked > FILES || is_untracked(path, look, world))
                }
                // A worktree is judged as one.
                Presence::Folder if effect.recursive && look.look(&absolute(".git", path)) == Presence::File => {
                    continue;
                }
                Presence::Folder => (NativeRule::RemoveData, effect.recursive && self.is_data_folder(path)),
                _ => continue,
            };
            if lost {
                let evidence = vec![evidence(field, effect.span)];
                self.coded_on(native, subject, &field.value, world, evidence);
            }
        }
        self.adds_secret(subject, field, world, look);
    }

    /// A file with secrets that git neither knows nor ignores, where a command adds whatever is there.
    fn adds_secret(
        &mut self,
        subject: &MatchInput<'_>,
        field: &Field,
        world: &mut dyn GuardHost,
        look: &dyn FileOracle,
    ) {
        let Some(folder) = adds_all(subject) else { return };
        let mut there =
            SECRETS.iter().map(|name| absolute(name, folder)).filter(|path| look.look(path) == Presence::File);
        if there.any(|path| world.tracked(&path) == Some(Tracked::Untracked)) {
            let evidence = vec![evidence(field, subject.command.span)];
            self.coded_on(NativeRule::AddSecret, subject, &field.value, world, evidence);
        }
    }

    /// Whether it is a folder of data at the top of the workspace.
    fn is_data_folder(&self, path: &str) -> bool {
        let rest = self.map.workspace().and_then(|workspace| path.strip_prefix(workspace)?.strip_prefix('/'));
        rest.is_some_and(|name| FOLDERS.contains(&name))
    }
}

/// Whether a file is one of data, by its name or its folder.
fn is_data(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let made_again =
        is_product(name) || ["test", "tmp", "temp", "sample", "example"].iter().any(|word| name.contains(word));
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    !made_again && DATA.contains(&ending)
}

/// Whether git does not hold a file at all. Where it gives no answer in a repository, it may not.
fn is_untracked(path: &str, look: &dyn FileOracle, world: &mut dyn GuardHost) -> bool {
    match world.tracked(path) {
        Some(found) => matches!(found, Tracked::Untracked | Tracked::Ignored),
        None => worktree::top(path.rsplit_once('/').map_or(path, |(folder, _)| folder), look).is_some(),
    }
}

/// The folder in which a command adds whatever is there to git's index.
fn adds_all<'a>(subject: &MatchInput<'a>) -> Option<&'a str> {
    let found = subject.invocation().filter(|found| found.program == "git")?;
    let add = found.subcommand(&["add".to_owned()], true)?;
    let mut paths = found.operands[add.operands..].iter();
    let all = found.has(&["-A", "--all"]) || paths.any(|path| matches!(path.shape, "." | "*" | "./" | ":/"));
    let dry = found.has(&["-n", "--dry-run"]);
    subject.command.cwd.as_deref().filter(|_| all && !dry)
}
