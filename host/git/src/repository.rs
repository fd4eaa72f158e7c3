//! A repository of the user's, found and asked without running what it names.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::GitError;
use crate::process::{CONFIGURATION, Call, Git, LITTLE, MUCH, Output, Setting, too_old};

/// A repository of the user's, of which only plumbing is asked that runs nothing.
#[derive(Clone, Debug)]
pub struct Repository {
    git: Git,
    /// What all worktrees share, without links.
    pub common: PathBuf,
    /// The folder of this worktree in it, without links.
    pub git_dir: PathBuf,
    /// The worktree, without links; none for a bare repository, and where git was asked somewhere in a git folder.
    pub worktree: Option<PathBuf>,
    /// `sha1` or `sha256`.
    pub format: String,
    settings: Vec<Setting>,
    /// What any configuration sets, as git lists it.
    configured: Vec<u8>,
    until: Instant,
}

impl Repository {
    /// The repository that a folder is in; none if it is in none, or is not there.
    ///
    /// # Errors
    /// If git refuses it: another user's, a bare one in a project, one with extensions that this git does not know.
    pub fn of(git: &Git, folder: &Path, until: Instant) -> Result<Option<Self>, GitError> {
        if !folder.is_dir() {
            return Ok(None);
        }
        // A git before 2.43 takes it for a bare one.
        if let Some(worktree) = folder.parent().filter(|_| folder.file_name().is_some_and(|name| name == ".git")) {
            let found = Self::asked(git, worktree, &users_configuration(), until)?;
            if found.as_ref().is_some_and(|found| folder.canonicalize().is_ok_and(|folder| folder == found.git_dir)) {
                return Ok(found);
            }
        }
        Self::asked(git, folder, &users_configuration(), until)
    }

    /// The repository with this git folder, as it was found before.
    ///
    /// # Errors
    /// If it is gone, is another user's, or git refuses it.
    pub fn at(git: &Git, git_dir: &Path, worktree: Option<&Path>, until: Instant) -> Result<Self, GitError> {
        // If git still finds it from its worktree, it was git who said whether it is safe.
        if let Some(found) = worktree.and_then(|folder| Self::of(git, folder, until).transpose()) {
            let found = found?;
            if found.git_dir == git_dir {
                return Ok(found);
            }
        }
        let owner = git_dir.metadata().map_err(|error| GitError::system(git_dir, error))?.uid();
        if owner != rustix::process::geteuid().as_raw() {
            return Err(GitError::Failed(format!("{} belongs to another user", git_dir.display())));
        }
        let mut variables = users_configuration();
        variables.push(("GIT_DIR", git_dir.into()));
        let found = Self::asked(git, git_dir, &variables, until)?;
        let found = found.ok_or_else(|| GitError::Failed(format!("{} is not a repository", git_dir.display())))?;
        Ok(Repository { worktree: worktree.map(Path::to_path_buf), ..found })
    }

    fn asked(
        git: &Git,
        folder: &Path,
        variables: &[(&'static str, OsString)],
        until: Instant,
    ) -> Result<Option<Self>, GitError> {
        let call = |settings| Call { folder, variables, settings, input: vec![], until, most: LITTLE };
        let said = git.run(WHERE, call(&[]))?;
        // It repeats an option that it does not know.
        if said.output.starts_with(b"--path-format") {
            return Err(too_old());
        }
        if said.status == Some(128) && said.complaint.contains("not a git repository (or any") {
            return Ok(None);
        }
        let Some(found) = found(&said.output) else {
            said.success()?;
            return Err(GitError::Failed("it does not say where the repository is".to_owned()));
        };
        // In a git folder there is no worktree.
        if said.status != Some(0) && !said.complaint.contains("must be run in a work tree") {
            return Err(GitError::Failed(said.reason()));
        }
        let real = |path: &Path| path.canonicalize().map_err(|error| GitError::system(path, error));
        let repository = Repository {
            git: git.clone(),
            common: real(&found.common)?,
            git_dir: real(&found.git_dir)?,
            worktree: found.worktree.as_deref().map(real).transpose()?,
            format: found.format,
            settings: Vec::new(),
            configured: Vec::new(),
            until,
        };
        let variables = repository.variables(&[]);
        let (folder, input) = (&*repository.git_dir, vec![]);
        let call = Call { folder, variables: &variables, settings: &[], input, until, most: MUCH };
        let (settings, configured) = git.without_programs(call)?;
        Ok(Some(Repository { settings, configured, ..repository }))
    }

    /// The id of the tree without entries, which every git knows.
    pub fn empty_tree(&self) -> &'static str {
        empty_tree(&self.format)
    }

    /// Whether any configuration of the user's or the repository's has this setting, by its name in small letters.
    pub fn configures(&self, name: &str) -> bool {
        // Those that are in force here are listed, too.
        let own = CONFIGURATION.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name)).count();
        self.configured.split(|byte| *byte == 0).filter(|part| *part == name.as_bytes()).count() > own
    }

    /// What a git command says that must succeed.
    ///
    /// # Errors
    /// If it does not.
    pub fn ask(&self, arguments: &[impl AsRef<OsStr>], input: Vec<u8>) -> Result<Vec<u8>, GitError> {
        self.with(arguments, input, &[])?.success()
    }

    /// What a git command says that may fail.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn try_ask(&self, arguments: &[impl AsRef<OsStr>], input: Vec<u8>) -> Result<Output, GitError> {
        self.with(arguments, input, &[])
    }

    /// The same in the worktree, for what looks at files of it.
    ///
    /// # Errors
    /// If it does not succeed.
    pub fn ask_in(&self, root: &Path, arguments: &[&str], input: Vec<u8>) -> Result<Vec<u8>, GitError> {
        self.with(arguments, input, &[("GIT_WORK_TREE", root.into())])?.success()
    }

    fn with(
        &self,
        arguments: &[impl AsRef<OsStr>],
        input: Vec<u8>,
        variables: &[(&'static str, OsString)],
    ) -> Result<Output, GitError> {
        let all = self.variables(variables);
        let folder = variables.iter().find(|(name, _)| *name == "GIT_WORK_TREE").map(|(_, root)| Path::new(root));
        let folder = folder.unwrap_or(&self.git_dir);
        let call = Call { folder, variables: &all, settings: &self.settings, input, until: self.until, most: MUCH };
        self.git.run(arguments, call)
    }

    /// What was found is what is worked on, whatever is put in its place meanwhile.
    fn variables(&self, more: &[(&'static str, OsString)]) -> Vec<(&'static str, OsString)> {
        let mut all = users_configuration();
        all.push(("GIT_DIR", self.git_dir.clone().into()));
        all.extend_from_slice(more);
        all
    }
}

/// The id of the tree without entries, by the kind of ids.
pub fn empty_tree(format: &str) -> &'static str {
    match format {
        "sha256" => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        _ => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    }
}

/// What is asked of a folder, of which the last fails in a git folder.
const WHERE: &[&str] = &[
    "rev-parse",
    "--path-format=absolute",
    "--show-object-format",
    "--git-common-dir",
    "--git-dir",
    "--show-toplevel",
];

struct RepositoryInfo {
    format: String,
    common: PathBuf,
    git_dir: PathBuf,
    worktree: Option<PathBuf>,
}

/// Reads the answer to [`WHERE`]. None if a path in it has several lines, or something is missing.
fn found(said: &[u8]) -> Option<RepositoryInfo> {
    let lines: Vec<&[u8]> = said.strip_suffix(b"\n")?.split(|byte| *byte == b'\n').collect();
    let path = |line: &[u8]| Some(PathBuf::from(OsStr::from_bytes(line))).filter(|path| path.is_absolute());
    let (format, common, git_dir, worktree) = match *lines.as_slice() {
        [format, common, git_dir] => (format, common, git_dir, None),
        [format, common, git_dir, worktree] => (format, common, git_dir, Some(path(worktree)?)),
        _ => return None,
    };
    Some(RepositoryInfo {
        format: String::from_utf8(format.to_vec()).ok().filter(|format| format.starts_with("sha"))?,
        common: path(common)?,
        git_dir: path(git_dir)?,
        worktree,
    })
}

/// The variables that say where the user's own configuration is.
pub fn users_configuration() -> Vec<(&'static str, OsString)> {
    let names = ["HOME", "XDG_CONFIG_HOME"];
    names.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::time::Duration;

    use toolgate_test_support::git::{program, repository, user, write};

    use super::*;

    fn git() -> Git {
        Git::find(&[]).expect("git")
    }

    /// Long enough for anything.
    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn a_git_before_2_31_is_not_used() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (folder, mark) = (scratch.path().join("repo"), scratch.path().join("mark"));
        repository(&folder, &[("a", "x")]);
        let config = format!("[filter \"x\"]\n\tclean = touch {0}\n[toolgate]\n\tenvironment = true\n", mark.display());
        write(&folder.join(".git/config"), config);
        write(&folder.join(".gitattributes"), "* filter=x\n");
        let olds = [
            // One that reads no settings from the environment, and one that does not know an option.
            "#!/bin/sh\nexec env -u GIT_CONFIG_COUNT git \"$@\"\n",
            "#!/bin/sh\necho --path-format=absolute\n",
        ];
        for old in olds {
            let path = scratch.path().join("git");
            program(&path, old);
            let git = Git::at(path);
            let found = Repository::of(&git, &folder, soon()).map(|_| ()).map_err(|error| error.to_string());
            assert!(found.as_ref().is_err_and(|error| error.contains("too old")), "{old}: {found:?}");
            assert!(!mark.exists());
        }
    }

    #[test]
    fn a_repository_is_found_or_refused() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let root = scratch.path().canonicalize().expect("its real path");
        let at = |path: &str| root.join(path);
        repository(&at("repo"), &[("a/b", "x")]);
        user(&at("repo"), &["worktree", "add", "-q", "../linked"]);
        repository(&at("repo/inner"), &[]);
        user(&root, &["init", "-q", "--bare", "repo/planted"]);
        user(&root, &["init", "-q", "new"]);
        user(&at("new"), &["config", "core.repositoryFormatVersion", "1"]);
        user(&at("new"), &["config", "extensions.unheardOf", "true"]);
        write(&at("file/.git"), "gitdir: ../repo/.git\n");
        write(&at("broken/.git"), "gitdir: /nonexistent\n");
        symlink("repo", at("link")).expect("a link");
        write(&at("none/file"), "");
        let cases = [
            ("repo", Ok(Some(("repo/.git", Some("repo"))))),
            ("repo/a", Ok(Some(("repo/.git", Some("repo"))))),
            ("link/a", Ok(Some(("repo/.git", Some("repo"))))),
            ("repo/.git", Ok(Some(("repo/.git", Some("repo"))))),
            ("repo/inner", Ok(Some(("repo/inner/.git", Some("repo/inner"))))),
            ("linked", Ok(Some(("repo/.git/worktrees/linked", Some("linked"))))),
            ("file", Ok(Some(("repo/.git", Some("file"))))),
            ("none", Ok(None)),
            ("gone", Ok(None)),
            ("repo/planted", Err("cannot use bare repository")),
            ("new", Err("unknown repository extension")),
            ("broken", Err("not a git repository: ")),
        ];
        let git = git();
        for (folder, expected) in cases {
            let found = Repository::of(&git, &at(folder), soon());
            match (found, expected) {
                (Ok(found), Ok(expected)) => {
                    let found = found.map(|found| (found.git_dir, found.worktree));
                    let expected = expected.map(|(git_dir, worktree)| (at(git_dir), worktree.map(at)));
                    assert_eq!(found, expected, "{folder}");
                }
                (Err(error), Err(expected)) => {
                    assert!(error.to_string().contains(expected), "{folder}: {error}");
                }
                (found, _) => panic!("{folder}: {found:?}"),
            }
        }
    }

    #[test]
    fn a_repository_of_another_user_is_refused() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let root = scratch.path().canonicalize().expect("its real path").join("repo");
        repository(&root, &[]);
        // Only root can give something away.
        let given =
            [root.join(".git"), root.clone()].iter().all(|path| std::os::unix::fs::chown(path, Some(1), None).is_ok());
        if !given {
            return toolgate_test_support::skip::skip("only root can give files away");
        }
        let git = git();
        let found = Repository::of(&git, &root, soon()).map(|_| ()).map_err(|error| error.to_string());
        assert!(found.as_ref().is_err_and(|error| error.contains("dubious ownership")), "{found:?}");
        assert!(Repository::at(&git, &root.join(".git"), None, soon()).is_err());
    }
}
