//! The link by which an agent calls its hook. Its name says which agent that is, so that an entry is whole without arguments:
//! other agents that read the entry may lose these, or hand all of it to a shell.
//!
//! It is a symbolic link, as a second name of the file (a hard link) would go on being the program of today when a later one
//! takes its place. It lies beside the program, where it is as safe as the program is, and whoever may use the one may use
//! the other. Where only the administrator may make it there, or the next update would remove it, it lies in the user's own
//! folder for Toolgate's state, which the gate keeps from agents like the settings that name it; but a project's settings are
//! others' as well, and name the program itself then.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use toolgate_host::private::private_folder;

use super::program::{self, link_of};
use super::table::{AGENTS, AgentConfig, HookMechanism, Scope};
use crate::text::quoted;
use crate::{Failure, dirs, exit};

/// The folder for links in the user's folder for state.
const FOLDER: &str = "bin";

/// Where links may be beside a program.
pub fn beside(program: &Path) -> impl Iterator<Item = PathBuf> {
    let hooks = AGENTS.iter().filter(|known| matches!(known.way, HookMechanism::Hooks(_)));
    hooks.map(move |known| program.with_file_name(link_of(known.name())))
}

/// What an agent's entries are to run.
pub struct Target {
    /// The link, or the program where there can be none.
    pub path: String,
    /// What the link has to lead to, if it has to be made.
    makes: Option<PathBuf>,
    /// What the user is to know of it.
    pub notes: Vec<String>,
}

impl Target {
    /// Where the link is or would be made. Nothing is made yet.
    pub fn of(known: &AgentConfig, scope: Scope, program: &str) -> Result<Self, Failure> {
        let (own, file) = (Path::new(program), link_of(known.name()));
        let beside = own.with_file_name(&file);
        let writable = || own.parent().is_some_and(|folder| access(folder, Access::WRITE_OK).is_ok());
        let stays = stays_beside(own);
        if stays && (leads_to(&beside, own) || is_free(&beside) && writable()) {
            let makes = (!leads_to(&beside, own)).then(|| PathBuf::from(program::NAME));
            return Ok(Target::at(&beside, makes));
        }
        if scope == Scope::Project {
            let better = if stays {
                let link = quoted(&beside.display().to_string());
                format!("better: sudo ln -s {} {link}, then run this again", program::NAME)
            } else {
                "the next update of the program would remove a link beside it".to_owned()
            };
            let note = format!("other agents may run this without its arguments; {better}");
            return Ok(Target { path: program.to_owned(), makes: None, notes: vec![note] });
        }
        let state = dirs::state().ok_or_else(|| {
            Failure::new(exit::NO_INPUT, "the home folder is unknown, so no link can be created; set HOME")
        })?;
        Target::in_state(&state, &file, own)
    }

    /// The link of this name in the user's folder for state.
    fn in_state(state: &Path, file: &str, own: &Path) -> Result<Self, Failure> {
        let link = state.join(FOLDER).join(file);
        if !is_free(&link) {
            let message = format!("{} exists and is not Toolgate's link; move it away", link.display());
            return Err(Failure::new(exit::DATA, message));
        }
        // One that leads to the same file by another path may name a version, which goes with the next update.
        let is_right = fs::read_link(&link).is_ok_and(|to| to == own);
        Ok(Target::at(&link, (!is_right).then(|| own.to_path_buf())))
    }

    fn at(link: &Path, makes: Option<PathBuf>) -> Self {
        let path = link.display().to_string();
        let mut notes = Vec::new();
        if quoted(&path) != path {
            notes.push(format!("{path} has characters that are special in a shell, so other agents may not find it"));
        }
        Target { path, makes, notes }
    }

    /// The link that has to be made, and what it will lead to; none if it is there.
    pub fn missing(&self) -> Option<String> {
        self.makes.as_ref().map(|to| format!("{}, a link to {}", self.path, to.display()))
    }

    /// Makes the link, if it is not there. Says what was done, or would be.
    pub fn make(&self, dry_run: bool) -> Result<Option<String>, Failure> {
        let (Some(to), Some(what)) = (&self.makes, self.missing()) else { return Ok(None) };
        if dry_run {
            return Ok(Some(format!("{what}, would be made")));
        }
        let link = Path::new(&self.path);
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(
                exit::IO,
                format!("the link {} could not be created, so nothing was changed: {error}", self.path),
            )
        };
        let folder = link.parent().ok_or_else(|| failed(&"it is in no folder"))?;
        if to.is_absolute() {
            private_folder(folder).map_err(|error| failed(&error))?;
        }
        // In the place of one that leads elsewhere, at once.
        let next = tempfile::Builder::new().prefix(".toolgate-").tempdir_in(folder).map_err(|error| failed(&error))?;
        let made = next.path().join("link");
        symlink(to, &made).and_then(|()| fs::rename(&made, link)).map_err(|error| failed(&error))?;
        Ok(Some(format!("{what}, was made")))
    }
}

/// The link that only the administrator can make, without which a project's entries run the program itself. None where it
/// would not stay.
pub fn missing(known: &AgentConfig, scope: Scope, program: &str) -> Option<String> {
    let target = Target::of(known, scope, program).ok().filter(|_| stays_beside(Path::new(program)))?;
    let link = Path::new(program).with_file_name(link_of(known.name()));
    (target.path == program).then(|| link.display().to_string())
}

/// Whether what is made beside a program outlives its next update. npm replaces the whole folder then, Homebrew leads its path
/// without a version to another folder, and the agent would run nothing.
fn stays_beside(program: &Path) -> bool {
    let folder = program.parent().and_then(|folder| folder.canonicalize().ok());
    let folder = folder.as_deref().unwrap_or(program);
    let is_of_npm = |path: &Path| path.iter().any(|part| part == "node_modules");
    !is_of_npm(program) && !is_of_npm(folder) && program::replaced(folder).is_none()
}

/// Whether a link leads to a program, wherever that is.
fn leads_to(link: &Path, program: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    link.is_symlink() && real(link).is_some_and(|found| real(program) == Some(found))
}

/// Whether nothing is there, or a link that is ours by its name and may be another one.
fn is_free(link: &Path) -> bool {
    match link.symlink_metadata() {
        Ok(found) => found.is_symlink(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::CLAUDE;
    use super::*;

    #[test]
    fn what_an_update_replaces_has_its_link_elsewhere() {
        // Where the program is, by which path it is named, and whether its link lies beside it.
        let cases = [
            ("bin", "bin", true),
            ("tools/toolgate/bin", "tools/toolgate/bin", true),
            ("Cellar/toolgate/0.2.0/bin", "Cellar/toolgate/0.2.0/bin", false),
            ("Cellar/toolgate/0.2.0/bin", "opt/toolgate/bin", false),
            ("lib/node_modules/toolgate/bin", "lib/node_modules/toolgate/bin", false),
            ("_npx/1f2e/bin", "opt/toolgate/bin", false),
            (".pnpm/toolgate@0.2.0/bin", "opt/toolgate/bin", false),
        ];
        for (real, named, expected) in cases {
            let scratch = tempfile::tempdir().expect("a folder");
            let root = scratch.path().canonicalize().expect("its real path");
            let real = root.join(real);
            fs::create_dir_all(&real).expect("a folder");
            fs::write(real.join("toolgate"), "").expect("a program");
            if !root.join(named).exists() {
                fs::create_dir(root.join("opt")).expect("a folder");
                symlink(real.parent().expect("a folder"), root.join("opt/toolgate")).expect("a link");
            }
            let program = root.join(named).join("toolgate");
            let path = program.display().to_string();
            let link = root.join(named).join("toolgate-hook-claude").display().to_string();
            let target = Target::of(&CLAUDE, Scope::Project, &path).expect("a target");
            assert_eq!(target.path, if expected { link } else { path.clone() }, "{path}");
            // What only the administrator could make is not asked for where it would not stay.
            assert_eq!(missing(&CLAUDE, Scope::Project, &path), None, "{path}");
            // In the user's folder it leads to the path that stays, whatever it led to.
            let state = root.join("state");
            let link = state.join("bin/toolgate-hook-claude");
            for before in [None, Some(real.join("toolgate")).filter(|real| *real != program)] {
                if let Some(before) = before {
                    fs::remove_file(&link).expect("removed");
                    symlink(before, &link).expect("a link");
                }
                let target = || Target::in_state(&state, "toolgate-hook-claude", &program).expect("a target");
                target().make(false).expect("made");
                assert_eq!(fs::read_link(&link).ok().as_ref(), Some(&program), "{path}");
                assert_eq!(target().missing(), None, "{path}");
            }
        }
    }

    /// What is at the link's place, and whether it is there and leads to the program afterwards.
    #[test]
    fn a_link_is_made_where_there_is_none_of_another_kind() {
        type Make<'a> = &'a dyn Fn(&Path);
        let other = |link: &Path| symlink("/nowhere/toolgate", link).expect("a link");
        let right = |link: &Path| symlink("toolgate", link).expect("a link");
        let file = |link: &Path| fs::write(link, "mine").expect("a file");
        let cases: [(&str, Make<'_>, bool); 4] = [
            ("nothing", &|_| (), true),
            ("another", &other, true),
            ("the same", &right, true),
            ("a file", &file, false),
        ];
        for (what, there, expected) in cases {
            let folder = tempfile::tempdir().expect("a folder");
            let program = folder.path().join("toolgate");
            fs::write(&program, "").expect("a program");
            let link = folder.path().join("toolgate-hook-claude");
            there(&link);
            let path = program.display().to_string();
            // A project's never lies in the user's folder.
            let target = Target::of(&CLAUDE, Scope::Project, &path).expect("a target");
            let before = fs::read_dir(folder.path()).expect("a folder").count();
            assert!(target.make(true).is_ok(), "{what}");
            assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), before, "{what}: only shown");
            target.make(false).expect("made");
            assert_eq!(leads_to(&link, &program), expected, "{what}");
            assert_eq!(target.path, if expected { link.display().to_string() } else { path }, "{what}");
            assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "{what}: nothing else is left");
        }
    }
}
