//! Which file a path leads to: by the directories that the shell may be in, by links and `PATH`.

use super::files::FileState;
use super::state::ShellState;
use crate::abstract_value::{Content, Other};
use crate::effect;
use crate::facts::{FileOracle as _, Presence};
use toolgate_shell_syntax::path::{absolute, basename, parent};
use toolgate_shell_syntax::word::{Value, Why};

/// Where a path is, if that is certain.
pub(super) fn located_at(path: &str, state: &ShellState) -> Option<String> {
    if path.starts_with('/') {
        return Some(absolute(path, "/"));
    }
    Some(absolute(path, state.folders.certain()?))
}

/// By what a file is followed, which need not be where it is.
pub(super) fn followed_at(path: &Value, state: &ShellState) -> Option<String> {
    match path {
        Value::Known(path) => located_at(path, state).or_else(|| in_unknown(path, state)),
        other => other.followed_as().map(str::to_owned),
    }
}

/// What is known of a folder of this name, if it is not the whole path.
pub(super) fn made_up(path: &Value, state: &ShellState) -> Other {
    match path {
        Value::Unknown { why: Why::Temporary, .. } => {
            path.followed_as().map_or(Other::Anything, |name| Other::MadeUp(name.to_owned()))
        }
        Value::Pattern(glob) if glob.starts_with('/') => Other::Glob(glob.trim_end_matches('/').to_owned()),
        Value::Pattern(glob) if !glob.split('/').any(|part| part == "..") => match state.folders.certain() {
            Some(folder) => {
                Other::Glob(format!("{}{}", toolgate_shell_syntax::glob::escaped(folder), absolute(glob, "/")))
            }
            None => Other::Anything,
        },
        _ => Other::Anything,
    }
}

/// By what a file of the working directory is followed, where that may be one that is not known.
pub(super) fn in_unknown(path: &str, state: &ShellState) -> Option<String> {
    if path.starts_with('/') || path.split('/').any(|part| part == "..") || !state.folders.open {
        return None;
    }
    let hole = Value::HOLE.to_string();
    let folder = state.folders.other.made_up().unwrap_or(&hole);
    Some(format!("{folder}{}", absolute(path, "/")))
}

/// What is known of such a folder.
pub(super) fn other_below(path: &str, state: &ShellState) -> Other {
    match (&state.folders.other, in_unknown(path, state)) {
        (Other::MadeUp(_), Some(folder)) => Other::MadeUp(folder),
        (Other::Temporary, Some(_)) => Other::Temporary,
        (Other::Glob(glob), Some(_)) => {
            Other::Glob(format!("{glob}{}", toolgate_shell_syntax::glob::escaped(&absolute(path, "/"))))
        }
        _ => Other::Anything,
    }
}

/// Whether it is a file that the text wrote, and what is in it is not known.
pub(super) fn is_unread(path: &str, state: &ShellState) -> bool {
    places(path, state).into_iter().chain(in_unknown(path, state)).any(|place| state.files.is_unread(&place))
}

/// The files of the text that a path may lead to where the working directory is not the likeliest one.
pub(super) fn unlikely_places(path: &str, state: &ShellState) -> Vec<String> {
    let mut places = places(path, state);
    places.extend(in_unknown(path, state));
    let likeliest = places.first().cloned();
    places.retain(|place| {
        Some(place) != likeliest.as_ref() && state.files.made(place).is_some_and(|made| made.content.is_some())
    });
    places
}

/// Where a path may lead, the likeliest place first.
pub(super) fn places(path: &str, state: &ShellState) -> Vec<String> {
    if path.starts_with('/') {
        return vec![absolute(path, "/")];
    }
    state.folders.possible.iter().map(|folder| absolute(path, folder)).collect()
}

/// What `realpath` and `pwd -P` print of a path whose links are known.
pub(super) fn real(name: &str, arguments: &[&str], state: &ShellState) -> Option<String> {
    let path = match (name, arguments) {
        ("pwd", ["-P"]) => ".",
        ("realpath", [path] | ["-m" | "-e" | "-s" | "--", path]) => *path,
        ("readlink", ["-f" | "-m" | "-e", path] | ["-f" | "-m" | "-e", "--", path]) => *path,
        _ => return None,
    };
    let path = located_at(path, state)?;
    Some(format!("{}\n", state.files.real(&path)?))
}

/// Whether a program is a file of the text, whatever its name says.
pub(super) fn is_foreign(name: &str, state: &ShellState) -> bool {
    if !name.contains('/') {
        return false;
    }
    let Some(path) = located_at(name, state).or_else(|| in_unknown(name, state)) else { return false };
    !effect::is_system(&path) && state.files.made(&path).is_some_and(|made| made.link.is_none())
}

/// The program that a link of the text leads to, or that is under another name, as a link or a copy, where the path says.
/// Empty if it is one that is not known. The variables are those that it runs with.
pub(super) fn behind_link(name: &str, with: &ShellState, state: &ShellState) -> Option<String> {
    // A name alone is looked for in the folders of a path that the text has set.
    let path = if name.contains('/') { located_at(name, state)? } else { on_path(name, with, state)? };
    let links = state.files.links();
    let link = links.into_iter().find(|(from, to)| *from == path && effect::is_system(to)).map(|(_, to)| to);
    link.or_else(|| state.files.program(&path).filter(|program| is_meant(name, program)))
}

/// Whether a program under another name is what it is and not what it is called: a program of many names is what it is called.
fn is_meant(name: &str, program: &str) -> bool {
    const MANY: &[&str] = &["asdf", "aqua", "busybox", "coreutils", "mise", "proto", "rustup", "toybox", "volta"];
    let plain = |path: &str| basename(path).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
    let known = effect::knows(basename(program)) || crate::wrapper::knows(basename(program));
    program.is_empty() || known && !MANY.contains(&basename(program)) && plain(name) != plain(program)
}

/// A file in a folder that the text put before others on `PATH`: the text's own, or one that was there. The
/// variables are those that the command runs with.
pub(super) fn on_path(name: &str, with: &ShellState, state: &ShellState) -> Option<String> {
    let is_there = |place: &String| {
        let made = |made: &FileState| made.content.is_some() || made.unread;
        let was = |before: String| !effect::is_system(&before) && state.files.was_there(&before);
        state.files.made(place).is_some_and(made) || state.files.before(place).is_some_and(was)
    };
    with.get("PATH")?.content.values().iter().find_map(|content| {
        let Content::Text(path) = content else { return None };
        let known = path.text().split(':').take_while(|folder| !folder.contains(Value::HOLE));
        let mut places = known.filter_map(|folder| {
            if folder.starts_with('/') {
                return Some(format!("{folder}/{name}"));
            }
            Some(absolute(&format!("{folder}/{name}"), state.folders.certain()?))
        });
        places.find(is_there)
    })
}

/// The folder that git, npm and their like print as the root of a project: the nearest one, from the working directory on upwards,
/// that has what makes it one. And where git has its own files.
pub(super) fn root(name: &str, arguments: &[&str], state: &ShellState) -> Option<String> {
    let (marks, arguments): (&[&str], _) = match name {
        "git" => (&[".git"], arguments),
        "hg" => (&[".hg"], arguments),
        "jj" => (&[".jj"], arguments),
        "npm" => (&["package.json", "node_modules"], arguments),
        _ => return None,
    };
    let (folder, arguments) = match arguments {
        ["-C", folder, rest @ ..] if name == "git" => (located_at(folder, state)?, rest),
        _ => (state.folders.certain()?.to_owned(), arguments),
    };
    let own = match (name, arguments) {
        ("git", ["rev-parse", "--show-toplevel"]) | ("hg" | "jj", ["root"]) | ("npm", ["prefix"]) => false,
        ("git", ["rev-parse", "--git-dir" | "--absolute-git-dir" | "--git-common-dir"]) => true,
        ("git", ["rev-parse", "--path-format=absolute", "--git-dir" | "--git-common-dir"]) => true,
        ("git", ["rev-parse", "--git-path", _]) => true,
        _ => return None,
    };
    // Variables of the environment that say another one.
    if name == "git" && ["GIT_DIR", "GIT_WORK_TREE"].iter().any(|name| state.get(name).is_some()) {
        return None;
    }
    let moves = ["GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"];
    if arguments.contains(&"--git-path") && moves.iter().any(|name| state.get(name).is_some()) {
        return None;
    }
    let is_root = |folder: &&str| {
        marks.iter().any(|mark| matches!(state.files.look(&absolute(mark, folder)), Presence::File | Presence::Folder))
    };
    let root = std::iter::successors(Some(folder.as_str()), |folder| parent(folder)).find(is_root)?;
    let root = state.files.real(root).unwrap_or_else(|| root.to_owned());
    if !own {
        return Some(format!("{root}\n"));
    }
    let git = absolute(".git", &root);
    // A worktree has a file that says where: `gitdir: /p/.git/worktrees/NAME`. All share what is above that.
    let told = state.files.script(&git).and_then(|text| Some(text.strip_prefix("gitdir:")?.trim().to_owned()));
    // What worktrees share.
    const SHARED: &[&str] = &["hooks", "info", "config", "objects", "refs", "packed-refs", "logs"];
    let is_shared = |name: &str| SHARED.contains(&name.split('/').next().unwrap_or_default());
    let is_common = told.is_some()
        && match arguments {
            [_, "--git-path", name] => is_shared(name),
            _ => arguments.contains(&"--git-common-dir"),
        };
    let git = told.map_or(git, |told| absolute(&told, &root));
    let folder = git.rsplit_once("/worktrees/").filter(|_| is_common).map_or(git.as_str(), |(common, _)| common);
    match arguments {
        [_, "--git-path", name] => Some(format!("{}\n", absolute(name, folder))),
        _ => Some(format!("{folder}\n")),
    }
}
