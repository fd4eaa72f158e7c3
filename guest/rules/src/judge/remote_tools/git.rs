//! What tools for git do whose names say it in other words than git's own: `discard_changes`, `hard_reset`, `switch_branch`.

use super::{key_of, quoted};
use crate::call::Field;

/// Words by which a server or a tool says that it works with repositories.
const SERVERS: &[&str] = &["git", "github", "gitlab", "gitlens", "scm", "vcs"];

/// Keys of what is at a forge, where no file here changes.
const FORGE: &[&str] = &["owner", "projectid"];

/// Words of tools that only look, or that make something new.
const HARMLESS: &[&str] =
    &["can", "create", "diff", "get", "list", "log", "new", "preview", "search", "show", "status"];

/// Verbs after which files are as they were.
const DISCARDS: &[&str] = &["discard", "restore", "revert", "rollback", "undo"];

/// What is as it was after these verbs. Of a commit that is reverted nothing is lost.
const CHANGED: &[&str] = &["change", "changes", "file", "files", "hunk", "hunks", "modifications", "path", "paths"];

/// Keys of files.
const FILES: &[&str] = &["file", "filename", "filepath", "filepaths", "files", "path", "paths", "pathspec"];

/// Those that never hold the folder of the repository.
const FILES_ALONE: &[&str] = &["file", "filename", "filepath", "filepaths", "files", "paths", "pathspec"];

/// Keys of what is checked out, the most telling first.
const BRANCHES: &[&str] =
    &["branch", "branchname", "branchorpath", "ref", "commit", "revision", "tag", "target", "name"];

/// The name of a tool for git, and what it is told.
struct Tool<'a> {
    /// The words of its own name, without that of its server.
    own: &'a [String],
    inputs: &'a [Field],
    /// Whether it or its server says that it is for git.
    served: bool,
}

/// The command that does what a tool says in such words.
pub(super) fn command(words: &[String], own: &[String], inputs: &[Field]) -> Option<String> {
    let served = words.iter().any(|word| SERVERS.contains(&word.as_str()));
    let tool = Tool { own, inputs, served };
    if tool.says(HARMLESS) || tool.has(FORGE) {
        return None;
    }
    tool.stash().or_else(|| tool.reset()).or_else(|| tool.discard()).or_else(|| tool.checkout())
}

impl Tool<'_> {
    fn says(&self, wanted: &[&str]) -> bool {
        self.own.iter().any(|word| wanted.contains(&word.as_str()))
    }

    fn values<'b>(&'b self, keys: &'b [&str]) -> impl Iterator<Item = &'b str> {
        let named = self.inputs.iter().filter(|field| keys.contains(&key_of(&field.name).as_str()));
        named.map(|field| field.value.as_str()).filter(|value| !value.is_empty())
    }

    fn has(&self, keys: &[&str]) -> bool {
        self.values(keys).next().is_some()
    }

    fn is_set(&self, keys: &[&str]) -> bool {
        self.values(keys).any(|value| value == "true")
    }

    /// Whether a mode or an action is one of these.
    fn is_told(&self, wanted: &[&str]) -> bool {
        self.inputs.iter().any(|field| wanted.contains(&field.value.trim_start_matches('-')))
    }

    /// The files that are named, as the end of a command.
    fn files(&self, keys: &[&str]) -> String {
        self.values(keys).map(|file| format!(" {}", quoted(file))).collect()
    }

    /// `clear_stashes`, and `git_stash {"message": "wip", "includeUntracked": true}`: a message is no subcommand.
    fn stash(&self) -> Option<String> {
        if !self.says(&["stash", "stashes"]) {
            return None;
        }
        if self.says(&["clear", "delete", "drop", "empty", "remove"]) {
            let all = self.says(&["all", "clear", "empty", "stashes"]);
            return Some(if all { "git stash clear" } else { "git stash drop" }.to_owned());
        }
        if self.says(&["apply", "branch", "pop"]) || self.is_told(&["apply", "branch", "clear", "drop", "list", "pop"])
        {
            return None;
        }
        let option = match () {
            () if self.is_set(&["all", "includeignored"]) => "--all",
            () if self.says(&["untracked"]) || self.is_set(&["includeuntracked", "untracked"]) => "-u",
            () => return None,
        };
        Some(format!("git stash push {option} --{}", self.files(FILES_ALONE)))
    }

    /// `hard_reset`, `reset_working_tree`, `reset_to_head`: what takes no mode that it might be told.
    fn reset(&self) -> Option<String> {
        let is_tree = self.says(&["worktree"]) || self.says(&["working"]) && self.says(&["directory", "tree"]);
        let is_hard = self.says(&["hard"]) || is_tree || self.says(&["to"]) && self.says(&["commit", "head"]);
        let keeps = self.says(&["mixed", "soft"]) || self.is_told(&["mixed", "soft"]) || self.has(FILES_ALONE);
        let resets = self.says(&["reset"]) && is_hard && !keeps && (self.served || is_tree);
        resets.then(|| "git reset --hard".to_owned())
    }

    /// `discard_changes`, `revert_file`, `undo_changes`. A tool that does not say that it is for git has to name files.
    fn discard(&self) -> Option<String> {
        let is_about = self.says(CHANGED) && !self.has(&["commit", "sha"]);
        let checks_out = self.says(&["checkout"]) && self.says(&["file", "files", "path", "paths"]);
        let discards = self.says(DISCARDS) && (self.served || !self.says(&["restore"]));
        // `git_undo {"path": "a"}`, while `git_revert` is about a commit.
        let is_bare = || self.own.iter().all(|word| ["discard", "git", "undo"].contains(&word.as_str()));
        let alone = || self.served && is_bare() && (self.says(&["discard"]) || self.says(&["undo"]) && self.has(FILES));
        if !(checks_out && self.served || discards && is_about || alone()) || self.is_set(&["staged"]) {
            return None;
        }
        let files = self.files(FILES);
        match files.as_str() {
            "" if self.served => Some("git checkout -- .".to_owned()),
            "" => None,
            files => Some(format!("git checkout --{files}")),
        }
    }

    /// `switch_branch {"name": "main"}`.
    fn checkout(&self) -> Option<String> {
        if !self.served || !self.says(&["checkout", "switch"]) || self.has(FILES_ALONE) {
            return None;
        }
        let branch = BRANCHES.iter().find_map(|key| self.values(std::slice::from_ref(key)).next())?;
        let flags = self.inputs.iter().filter(|field| field.value == "true");
        // A key may be any text.
        let plain = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        let name = |field: &Field| {
            field.name.rsplit('.').next().filter(plain).map(|name| format!(" --{}", name.replace('_', "-")))
        };
        let flags: String = flags.filter_map(name).collect();
        // Options that are told as texts: `{"args": "-f"}`, `{"mode": "force"}`.
        let told = self.inputs.iter().filter_map(|field| match key_of(&field.name).as_str() {
            "kind" | "mode" | "strategy" | "type" => Some(format!(" {}", quoted(&format!("--{}", field.value)))),
            _ if field.value.starts_with('-') => {
                Some(field.value.split_whitespace().map(|word| format!(" {}", quoted(word))).collect())
            }
            _ => None,
        });
        let told: String = told.collect();
        Some(format!("git checkout{flags}{told} {}", quoted(branch)))
    }
}
