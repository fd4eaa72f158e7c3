//! `git`: asks git about a work tree.

mod local;

use std::io::Read;
use std::path::Path;

use async_trait::async_trait;
use rustix::fs::OFlags;
use toolgate_private::open_regular;

use super::{Answer, ChangedFile, Recording, Refuse};
use crate::CapabilityError;
use crate::capability::Capability;

pub use local::{ELSEWHERE, LocalGit};
pub(super) use local::{installed, repository};

/// Asks git about a work tree.
#[async_trait]
pub trait Git: Send + Sync {
    /// The files under this folder that differ from the last commit; of a file, that one, unless git holds it as it is.
    async fn changed_files(&self, folder: String) -> Answer<Vec<ChangedFile>>;
    /// The checked-out branch.
    async fn branch(&self, folder: String) -> Answer<Option<String>>;
}

#[async_trait]
impl<R: Refuse> Git for R {
    async fn changed_files(&self, _folder: String) -> Answer<Vec<ChangedFile>> {
        self.answer(Capability::Git)
    }

    async fn branch(&self, _folder: String) -> Answer<Option<String>> {
        self.answer(Capability::Git)
    }
}

#[async_trait]
impl<T: Git> Git for Recording<T> {
    async fn changed_files(&self, folder: String) -> Answer<Vec<ChangedFile>> {
        self.record("git.changed-files", &(&folder,));
        self.inner.changed_files(folder).await
    }

    async fn branch(&self, folder: String) -> Answer<Option<String>> {
        self.record("git.branch", &(&folder,));
        self.inner.branch(folder).await
    }
}

/// Largest `HEAD` or `.git` file that is read, in bytes.
const HEAD: u64 = 4_096;

fn small(path: &Path) -> Option<String> {
    let mut text = String::new();
    open_regular(path, OFlags::empty()).ok()?.take(HEAD).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The branch of the work tree that a folder is in. `.git` is a folder, or a file that says where it is.
fn branch(folder: &Path) -> Answer<Option<String>> {
    let nowhere = || CapabilityError::Unavailable(format!("{} is not in a git worktree", folder.display()));
    let root = folder.ancestors().find(|folder| folder.join(".git").exists()).ok_or_else(nowhere)?;
    let git = root.join(".git");
    let git = match small(&git) {
        Some(text) => root.join(text.trim().strip_prefix("gitdir:").ok_or_else(nowhere)?.trim()),
        None => git,
    };
    let head = small(&git.join("HEAD")).ok_or_else(nowhere)?;
    // Without the end of its line it may be any branch whose name begins like that.
    let head = head.strip_suffix('\n').map(str::trim).ok_or_else(nowhere)?;
    let is_commit = head.len() >= 40 && head.bytes().all(|byte| byte.is_ascii_hexdigit());
    match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => Ok(Some(branch.to_owned())),
        None if is_commit || head.starts_with("ref: refs/") => Ok(None),
        None => Err(nowhere()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_is_read_from_plain_files() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |path: &str| folder.path().join(path);
        for path in ["a/.git", "a/sub", "b", "c/.git", "d", "e"] {
            std::fs::create_dir_all(at(path)).expect("a folder");
        }
        std::fs::write(at("a/.git/HEAD"), "ref: refs/heads/feature/x\n").expect("a file");
        std::fs::write(at("c/.git/HEAD"), format!("{}\n", "0123456789".repeat(4))).expect("a file");
        std::fs::write(at("d/.git"), "gitdir: ../a/.git\n").expect("a file");
        std::fs::write(at("e/.git"), "x").expect("a file");
        for (name, head) in [("h", "ref: refs/heads/fea"), ("i", "ref: ref"), ("j", "0123456\n"), ("k", "")] {
            std::fs::create_dir_all(at(name).join(".git")).expect("a folder");
            std::fs::write(at(name).join(".git/HEAD"), head).expect("a file");
        }
        std::fs::create_dir_all(at("f/.git")).expect("a folder");
        std::fs::create_dir(at("g")).expect("a folder");
        for pipe in ["f/.git/HEAD", "g/.git"] {
            assert!(std::process::Command::new("mkfifo").arg(at(pipe)).status().expect("mkfifo").success());
        }
        let cases = [
            ("f", None),
            ("g", None),
            ("h", None),
            ("i", None),
            ("j", None),
            ("k", None),
            ("a", Some(Some("feature/x"))),
            ("a/sub", Some(Some("feature/x"))),
            ("c", Some(None)),
            ("d", Some(Some("feature/x"))),
            ("b", None),
            ("e", None),
        ];
        for (path, expected) in cases {
            let found = branch(&at(path)).ok();
            let found = found.as_ref().map(|branch| branch.as_deref());
            assert_eq!(found, expected, "{path}");
        }
    }
}
