//! The folder that a daemon works for.

use std::path::{Component, Path, PathBuf};

use toolgate_private::read_regular;

/// Folders beside or above a file in which a project keeps its own programs.
pub(crate) const LOCAL: &[&str] = &["node_modules/.bin", ".venv/bin", "venv/bin"];

/// Largest file of a project that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// Most links that are followed, as many as Linux follows.
const LINKS: usize = 40;

/// A project, as its checks see it.
#[derive(Clone, Debug)]
pub struct Project {
    /// Absolute, links resolved.
    pub root: PathBuf,
    /// Whether the user trusts what the project owns, so that it may run.
    pub trusted: bool,
}

impl Project {
    /// Whether a program may be run: in a project that is not trusted only one that is not the project's.
    pub fn may_run(&self, program: &Path) -> bool {
        self.trusted || !self.owns(program)
    }

    /// Whether the project decides what is at an absolute path: if it, or a link on the way, is in the repository that
    /// the project is part of, or in a folder for programs of one above. What cannot be resolved counts as the project's.
    pub fn owns(&self, path: &Path) -> bool {
        let repository = self.repository();
        let above: Vec<PathBuf> =
            self.root.ancestors().flat_map(|folder| LOCAL.iter().map(move |local| folder.join(local))).collect();
        let inside = |path: &Path| path.starts_with(repository) || above.iter().any(|local| path.starts_with(local));
        passes(path, &inside, LINKS)
    }

    /// The outermost folder with a repository that the root is in, else the root.
    fn repository(&self) -> &Path {
        // As git sees it: `.git` is a file that leads elsewhere, or a folder with a head.
        let has = |folder: &&Path| folder.join(".git").is_file() || folder.join(".git/HEAD").exists();
        self.root.ancestors().filter(has).last().unwrap_or(&self.root)
    }

    /// A folder of the project's, or a file, and all folders above it up to the root, the nearest first.
    pub(crate) fn up_from<'a>(&self, path: &'a Path) -> impl Iterator<Item = &'a Path> {
        path.ancestors().take_while(|folder| folder.starts_with(&self.root))
    }

    /// The folders that a file is in, up to the root, the nearest first.
    pub(crate) fn folders<'a>(&self, file: &'a Path) -> impl Iterator<Item = &'a Path> {
        self.up_from(file).skip(1)
    }

    /// The file or folder of this relative name that is nearest to `file`: beside it or above, never above the root.
    pub fn nearest(&self, file: &Path, name: &str) -> Option<PathBuf> {
        self.folders(file).map(|folder| folder.join(name)).find(|path| path.exists())
    }

    /// A program on the user's `PATH`. Entries that are not absolute do not count, nor, in a project that is not
    /// trusted, do programs that it [owns](Self::owns).
    pub fn on_path(&self, program: &str) -> Option<PathBuf> {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::var_os("PATH")?;
        let fits = |path: &PathBuf| {
            let runs = |found: std::fs::Metadata| found.is_file() && found.permissions().mode() & 0o111 != 0;
            path.metadata().is_ok_and(runs) && self.may_run(path)
        };
        let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(program)).find(fits)
    }
}

/// A file of the project's as text. Empty if it is missing, too large, not UTF-8, or not a regular file.
pub(crate) fn read_text(path: &Path) -> String {
    read_regular(path, LARGEST).ok().and_then(|content| String::from_utf8(content).ok()).unwrap_or_default()
}

/// Whether a path, or what a link on the way leads to, is inside.
fn passes(path: &Path, inside: &impl Fn(&Path) -> bool, links: usize) -> bool {
    let mut real = PathBuf::new();
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        match part {
            Component::ParentDir => {
                real.pop();
                continue;
            }
            Component::CurDir => continue,
            part => real.push(part),
        }
        if inside(&real) {
            return true;
        }
        match real.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                let Ok(target) = real.read_link() else { return true };
                real.pop();
                return links == 0 || passes(&real.join(target).join(parts.as_path()), inside, links - 1);
            }
            Ok(_) => {}
            Err(_) => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_project_decides_about_is_its_own() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let base = scratch.path().canonicalize().expect("real");
        for folder in [
            ".git",
            "repository/.git/HEAD",
            "repository/inner/.git/HEAD",
            "repository/inner/project/bin",
            "repository/tools",
            "node_modules/.bin",
            "user/bin",
            "user/node_modules/.bin",
        ] {
            std::fs::create_dir_all(base.join(folder)).expect("a folder");
        }
        std::fs::write(base.join("user/bin/tool"), "").expect("a file");
        for (target, name) in [
            ("../repository/tools", "user/in"),
            ("../../../user/bin", "repository/inner/project/out"),
            ("../repository/inner/project/out", "user/through"),
            ("bin", "user/link"),
            ("round", "user/round"),
        ] {
            std::os::unix::fs::symlink(target, base.join(name)).expect("a link");
        }
        let project = Project { root: base.join("repository/inner/project"), trusted: false };
        let cases = [
            ("repository/inner/project/bin", true),
            ("repository/inner", true),
            ("repository/tools", true),
            ("repository/inner/project/out/tool", true),
            ("user/../repository/tools", true),
            ("user/in", true),
            ("user/through/tool", true),
            ("user/round", true),
            ("user/none", true),
            ("node_modules/.bin", true),
            ("user/bin/tool", false),
            ("user/link/tool", false),
            ("user/node_modules/.bin", false),
            ("repository/../user/bin", true),
        ];
        for (path, expected) in cases {
            let path = base.join(path);
            assert_eq!(project.owns(&path), expected, "{}", path.display());
            assert_eq!(project.may_run(&path), !expected, "{}", path.display());
            assert!(Project { trusted: true, ..project.clone() }.may_run(&path));
        }
        let alone = Project { root: base.join("user"), trusted: false };
        assert!(alone.owns(&base.join("user/bin")) && !alone.owns(&base.join("repository/tools")));
    }
}
