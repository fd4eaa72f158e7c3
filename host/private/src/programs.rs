//! Finds the programs that are run: the user's, and never one that a project brings.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The outermost repository that a folder is in; the folder itself, if it is in none.
pub fn outermost_repository(folder: &Path) -> PathBuf {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    // An empty `.git` makes no repository.
    let is_one = |git: PathBuf| git.is_file() || git.join("HEAD").symlink_metadata().is_ok();
    let outermost = folder.ancestors().filter(|folder| is_one(folder.join(".git"))).last();
    outermost.unwrap_or(&folder).to_path_buf()
}

/// The programs of this name in the absolute folders of a `PATH`, in their order, without those in the folders `outside`. The
/// root is not counted as one: everything lies in it.
pub fn installed<N: AsRef<Path>, F: AsRef<Path>>(
    name: N,
    path: &OsStr,
    outside: &[F],
) -> impl Iterator<Item = PathBuf> + use<N, F> {
    let real = |folder: &F| folder.as_ref().canonicalize().unwrap_or_else(|_| folder.as_ref().to_path_buf());
    let outside: Vec<PathBuf> = outside.iter().map(real).filter(|folder| folder.parent().is_some()).collect();
    let fits = move |program: &PathBuf| {
        let real = program.canonicalize();
        // What a link in the folder says is as good as what lies in it.
        let named = program.parent().and_then(|folder| folder.canonicalize().ok());
        let outside = |path: &PathBuf| !outside.iter().any(|folder| path.starts_with(folder));
        let runs = |file: Metadata| file.is_file() && file.permissions().mode() & 0o111 != 0;
        real.is_ok_and(|real| real.metadata().is_ok_and(runs) && outside(&real))
            && named.is_some_and(|folder| outside(&folder))
    };
    let folders: Vec<_> = std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect();
    folders.into_iter().map(move |folder| folder.join(&name)).filter(fits)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn program(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a program");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("its mode");
    }

    #[test]
    fn a_program_is_taken_from_outside_the_outermost_repository() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let root = scratch.path().canonicalize().expect("its real path");
        for path in ["repo/.git/HEAD", "repo/bin/git", "repo/module/.git", "repo/module/bin/git", "usr/bin/git", "git"]
        {
            program(&root.join(path), "");
        }
        std::fs::create_dir_all(root.join("links")).expect("a folder");
        std::fs::create_dir_all(root.join("plain")).expect("a folder");
        std::fs::write(root.join("plain/git"), "").expect("a file that is no program");
        symlink("../repo/bin/git", root.join("links/git")).expect("a link");
        symlink("../usr/bin/git", root.join("repo/link")).expect("a link");
        let cases = [
            ("usr/bin", Some("usr/bin")),
            ("repo/module/bin:usr/bin", Some("usr/bin")),
            ("repo/bin:usr/bin", Some("usr/bin")),
            ("links:usr/bin", Some("usr/bin")),
            ("nowhere:usr:usr/bin", Some("usr/bin")),
            ("plain:usr/bin", Some("usr/bin")),
            ("repo/bin", None),
            ("", None),
        ];
        for folder in ["repo/module", "repo", "repo/module/bin"] {
            for (path, expected) in cases {
                let folders = path.split(':').filter(|folder| !folder.is_empty()).map(|folder| root.join(folder));
                let path = std::env::join_paths(folders).expect("a PATH");
                let found = installed("git", &path, &[outermost_repository(&root.join(folder))]).next();
                assert_eq!(found, expected.map(|folder| root.join(folder).join("git")), "{folder}, {path:?}");
            }
        }
        assert_eq!(installed("git", OsStr::new("bin:."), &[root.join("repo")]).next(), None, "relative");
        let usr = root.join("usr/bin");
        assert_eq!(installed("git", usr.as_os_str(), &["/"]).next(), Some(usr.join("git")), "in the root");
        assert_eq!(outermost_repository(&root.join("usr/bin")), root.join("usr/bin"));
    }
}
