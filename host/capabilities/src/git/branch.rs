//! The branch of a worktree, from plain files: no git is run for it.

use std::io::Read;
use std::path::Path;

use rustix::fs::OFlags;
use toolgate_host::CapabilityError;
use toolgate_host::capability::Answer;
use toolgate_host::private::open_regular;

/// Largest `HEAD` or `.git` file that is read, in bytes.
const HEAD: u64 = 4_096;

fn small(path: &Path) -> Option<String> {
    let mut text = String::new();
    open_regular(path, OFlags::empty()).ok()?.take(HEAD).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The branch of the worktree that a folder is in. `.git` is a folder, or a file that says where it is.
pub(super) fn branch(folder: &Path) -> Answer<Option<String>> {
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
