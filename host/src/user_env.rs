//! Whether the variables of this process are the person's.
//!
//! Some of them say where the person's rules, permissions and plugins are. One that leads into the folder that the agent
//! works in would make the project's files the person's, and whoever starts an agent below another, or sets variables for
//! its hooks in a project, is not the person. A home folder that is one by the list of accounts may be worked in.

use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use toolgate_private::passed;

use crate::rule_files::account_home;

/// The variables that say where something of the person's is.
pub const VARIABLES: [&str; 4] = ["HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"];

/// Those that say where sessions are kept.
const OF_SESSIONS: [&str; 2] = ["HOME", "XDG_STATE_HOME"];

/// The rest of them.
const OTHERS: [&str; 2] = ["XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"];

/// Whether each variable leads somewhere else than into the folder for which an agent was started: the one that is kept of
/// its session, else this one.
///
/// ```
/// use toolgate_host::user_env;
///
/// // Whoever works in a folder that none of the variables leads into may go by them.
/// assert!(user_env::variables("/nonexistent/project", None).is_ok());
/// ```
///
/// # Errors
/// Which one does not, as a sentence for the person.
pub fn variables(folder: &str, kept: Option<&str>) -> Result<(), String> {
    // What is kept in this folder was perhaps put there.
    among(set(&OF_SESSIONS), Path::new(folder), account_home)?;
    match kept {
        Some(kept) => among(set(&VARIABLES), Path::new(kept), account_home),
        None => among(set(&OTHERS), Path::new(folder), account_home),
    }
}

fn set(names: &'static [&'static str]) -> impl Iterator<Item = (&'static str, PathBuf)> {
    names.iter().filter_map(|name| Some((*name, PathBuf::from(std::env::var_os(name)?))))
}

fn among<'a>(
    set: impl Iterator<Item = (&'a str, PathBuf)>,
    folder: &Path,
    account_home: impl Fn() -> Option<PathBuf>,
) -> Result<(), String> {
    let folder = real(folder);
    // Others are not gone by.
    for (name, path) in set.filter(|(_, path)| path.is_absolute()) {
        let says = |why: &str| {
            let path = path.display();
            format!("{name} is {path}, {why}; start the agent with {name} set to your own folder, or unset")
        };
        // What it leads to depends on who asks, and on when.
        if path.starts_with("/proc") || path.starts_with("/dev/fd") || passed(&path).iter().any(|one| is_in_proc(one)) {
            return Err(says("which leads to another folder for each process"));
        }
        if path.components().any(|part| part == Component::ParentDir) && !path.exists() {
            return Err(says("which has `..` after a folder that does not exist"));
        }
        let real = real(&path);
        if !real.starts_with(&folder) || name == "XDG_RUNTIME_DIR" && is_own_among_others(&path, &folder) {
            continue;
        }
        // Who works in their home folder, or above it, has their own files there.
        let home = if folder.parent().is_some() { account_home() } else { Some(folder.clone()) };
        let at_home = |home: &PathBuf| self::real(home).starts_with(&folder) || is_usual(name, &real, home);
        if !home.as_ref().is_some_and(at_home) {
            return Err(says("which is in the agent's working folder"));
        }
    }
    Ok(())
}

/// Whether that is where the variable leads if nobody sets it: a person may work in their own configuration.
fn is_usual(name: &str, path: &Path, home: &Path) -> bool {
    match name {
        "XDG_CONFIG_HOME" => real(&home.join(".config")) == path,
        "XDG_STATE_HOME" => real(&home.join(".local/state")) == path,
        _ => false,
    }
}

/// Whether it is a folder that only its user may look into, in one that everybody may make files in (`/tmp`) and that is the
/// system's: many systems without a better place make sockets there, and it is no project for which an agent was started.
fn is_own_among_others(path: &Path, works: &Path) -> bool {
    let path: PathBuf = path.components().collect();
    let is_own = path.symlink_metadata().is_ok_and(|found| {
        found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o7777 == 0o700
    });
    let shared = path.parent().and_then(|folder| folder.canonicalize().ok());
    is_own && shared.is_some_and(|shared| shared.starts_with(works) && is_shared(&shared))
}

fn is_shared(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|found| found.uid() == 0 && found.mode() & 0o1002 == 0o1002)
}

#[cfg(target_os = "linux")]
fn is_in_proc(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|found| found.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(not(target_os = "linux"))]
fn is_in_proc(_path: &Path) -> bool {
    false
}

/// A path without links, as far as there is something.
fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|there| Some((there.canonicalize().ok()?, path.strip_prefix(there).ok()?)));
    found.map_or_else(|| path.to_path_buf(), |(real, rest)| real.join(rest))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn each_variable_is_looked_at() {
        let mut all: Vec<&str> = OF_SESSIONS.into_iter().chain(OTHERS).collect();
        all.sort_unstable();
        assert_eq!(all, VARIABLES);
    }

    #[test]
    fn a_variable_that_leads_into_the_workspace_is_not_the_persons() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let at = |path: &str| scratch.path().canonicalize().expect("a real path").join(path);
        for folder in ["home/work/x", "home/.config", "else/where"] {
            std::fs::create_dir_all(at(folder)).expect("a folder");
        }
        symlink(at("home/work"), at("else/link")).expect("a link");
        #[cfg(target_os = "linux")]
        symlink("/proc/self/cwd", at("else/self")).expect("a link");
        #[cfg(target_os = "linux")]
        symlink("self/x", at("else/far")).expect("a link");
        // The variable, where it leads, where the agent works, and whether it is believed.
        #[rustfmt::skip]
        let cases = [
            ("HOME", "home", "home/work", true),
            ("HOME", "home", "home", true),
            ("HOME", "else/where", "home/work", true),
            ("HOME", "home/work", "home/work", false),
            ("HOME", "home/work/x", "home/work", false),
            ("HOME", "home/work/not/there", "home/work", false),
            ("HOME", "else/link/x", "home/work", false),
            ("HOME", "home/work/x", "else/link", false),
            ("XDG_CONFIG_HOME", "home/.config", "home/work", true),
            ("XDG_CONFIG_HOME", "home/.config", "home", true),
            ("XDG_CONFIG_HOME", "home/.config", "home/.config", true),
            ("XDG_CONFIG_HOME", "home/work/x", "home/.config", true),
            ("XDG_CONFIG_HOME", "home/work/x", "home/work", false),
            ("XDG_STATE_HOME", "home/work", "home/work", false),
            ("XDG_STATE_HOME", "home/.local/state", "home/.local/state", true),
            ("XDG_STATE_HOME", "home/.config", "home/.config", false),
            ("XDG_RUNTIME_DIR", "home/work/x", "home/work", false),
            ("XDG_CONFIG_HOME", "/proc/self/cwd/x", "home/work", false),
            #[cfg(target_os = "linux")]
            ("HOME", "else/self", "home/work", false),
            #[cfg(target_os = "linux")]
            ("XDG_CONFIG_HOME", "else/self/none", "home/work", false),
            #[cfg(target_os = "linux")]
            ("XDG_CONFIG_HOME", "else/far", "home/work", false),
            #[cfg(target_os = "linux")]
            ("XDG_CONFIG_HOME", "/sys/../proc/self/cwd", "home/work", false),
            ("XDG_CONFIG_HOME", "none/../else", "home/work", false),
            ("XDG_CONFIG_HOME", "home/../else", "home/work", true),
            ("XDG_CONFIG_HOME", "relative", "home/work", true),
            ("HOME", "else/where", "/", true),
        ];
        for (name, leads, works, believed) in cases {
            // What begins with a slash stays as it is.
            let path = if leads == "relative" { PathBuf::from(leads) } else { at(leads) };
            let said = among([(name, path)].into_iter(), &at(works), || Some(at("home")));
            assert_eq!(said.is_ok(), believed, "{name}={leads} in {works}: {said:?}");
            assert!(said.is_ok() || said.is_err_and(|why| why.starts_with(name)), "{name}={leads}");
        }
        // Where nobody knows whose home is where, none of the workspace's is.
        assert!(among([("HOME", at("home/work"))].into_iter(), &at("home/work"), || None).is_err());
    }

    #[test]
    fn sockets_may_be_in_a_folder_of_ones_own_where_everybody_has_files() {
        let shared = std::env::temp_dir().canonicalize().expect("a real path");
        let scratch = tempfile::tempdir_in(&shared).expect("a scratch folder");
        let (own, work) = (scratch.path(), scratch.path().join("work"));
        let link = own.with_extension("link");
        std::fs::create_dir_all(work.join("x")).expect("a folder");
        std::fs::set_permissions(work.join("x"), PermissionsExt::from_mode(0o700)).expect("a mode");
        symlink(own, &link).expect("a link");
        let here = is_shared(&shared);
        // The variable, where it leads, by which mode of the folder, where the agent works, and whether it is believed.
        let cases = [
            ("XDG_RUNTIME_DIR", own, 0o700, &shared, here),
            ("XDG_RUNTIME_DIR", own, 0o755, &shared, false),
            ("XDG_RUNTIME_DIR", own, 0o1700, &shared, false),
            ("XDG_RUNTIME_DIR", &link, 0o700, &shared, false),
            ("XDG_RUNTIME_DIR", &work.join("x"), 0o700, &work, false),
            ("XDG_RUNTIME_DIR", &shared.join("none"), 0o700, &shared, false),
            ("XDG_CONFIG_HOME", own, 0o700, &shared, false),
            ("HOME", own, 0o700, &shared, false),
        ];
        for (name, leads, mode, works, believed) in cases {
            std::fs::set_permissions(own, PermissionsExt::from_mode(mode)).expect("a mode");
            let said = among([(name, leads.to_path_buf())].into_iter(), works, || Some("/home/x".into()));
            assert_eq!(said.is_ok(), believed, "{name}={} {mode:o} in {}", leads.display(), works.display());
        }
        std::fs::remove_file(link).expect("removed");
    }
}
