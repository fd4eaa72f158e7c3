//! Whether somebody else may write a file that the user wrote by hand: settings, rules.
//!
//! Unlike the files that Toolgate keeps, these may be links, and lie in folders that many use. What counts is that nobody
//! but the user and root can change what is read: the file, and each folder on the way to it and to where it is a link to.
//! A group that is the user's alone is nobody else; many systems have one for each user, and let it write.

use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// How many links are followed on the way to a file, as by Linux.
const LINKS: usize = 40;

/// A file or folder that somebody else may write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Which.
    pub path: PathBuf,
    /// Ends a sentence that starts with the path.
    pub why: &'static str,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path.display(), self.why)
    }
}

/// What lets others decide what is read at this path. None if that is the user's alone, or if there is nothing.
pub fn by_others(path: &Path) -> Option<Written> {
    // Nearly always there is nothing, and then nothing is looked at on the way to it.
    path.metadata().ok()?;
    let all = passed(path).into_iter().rev();
    all.into_iter().find_map(|one| Some(Written { why: look(&one)?, path: one }))
}

/// All folders and links that are passed on the way to a path, and what is there in the end, in this order; each by its path
/// without links, but for its own name. It ends where nothing is, and after 40 links.
pub fn passed(path: &Path) -> Vec<PathBuf> {
    let (mut at, mut passed, mut links) = (PathBuf::new(), Vec::new(), 0);
    let Ok(mut rest) = std::path::absolute(path) else { return passed };
    loop {
        let mut parts = rest.components();
        let Some(part) = parts.next() else { return passed };
        let behind = parts.as_path().to_path_buf();
        match part {
            Component::ParentDir => drop(at.pop()),
            Component::CurDir => {}
            Component::RootDir | Component::Normal(_) | Component::Prefix(_) => {
                at.push(part);
                let Ok(found) = at.symlink_metadata() else { return passed };
                passed.push(at.clone());
                if found.is_symlink() {
                    let Ok(target) = at.read_link() else { return passed };
                    links += 1;
                    if links > LINKS {
                        return passed;
                    }
                    at.pop();
                    rest = target.join(behind);
                    continue;
                }
            }
        }
        rest = behind;
    }
}

fn look(path: &Path) -> Option<&'static str> {
    let Ok(found) = path.symlink_metadata() else { return Some("cannot be looked at") };
    if found.uid() != 0 && found.uid() != rustix::process::geteuid().as_raw() {
        return Some("belongs to another user");
    }
    // What a link says cannot be changed, and its mode says nothing.
    if found.is_symlink() {
        return None;
    }
    // In a folder like /tmp everybody may make files, and change their own.
    if found.is_dir() && found.mode() & 0o1000 != 0 {
        return None;
    }
    writable_by_others(&found)
}

/// Who else may write what this is of, by its mode. Ends a sentence that starts with the path.
pub fn writable_by_others(found: &Metadata) -> Option<&'static str> {
    if found.mode() & 0o002 != 0 {
        return Some("is writable by everyone");
    }
    (found.mode() & 0o020 != 0 && !lists().is_some_and(|lists| lists.is_alone_in(found.gid())))
        .then_some("is writable by its group")
}

/// The lists of accounts and of groups.
struct Lists {
    user: u32,
    accounts: String,
    groups: String,
}

fn lists() -> Option<Lists> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let user = rustix::process::geteuid().as_raw();
    Some(Lists { user, accounts: read("/etc/passwd")?, groups: read("/etc/group")? })
}

impl Lists {
    /// Whether a group is the user's own and has no other members.
    fn is_alone_in(&self, group: u32) -> bool {
        let mut name = None;
        for account in self.accounts.lines() {
            let mut fields = account.split(':');
            let (Some(of), Some(user), Some(primary)) = (fields.next(), fields.nth(1), fields.next()) else { continue };
            if primary.parse() != Ok(group) {
                continue;
            }
            if user.parse() != Ok(self.user) {
                return false;
            }
            name = Some(of);
        }
        let of_group = |line: &&str| line.split(':').nth(2).is_some_and(|id| id.parse() == Ok(group));
        let mut lines = self.groups.lines().filter(of_group).peekable();
        let Some(name) = name.filter(|_| lines.peek().is_some()) else { return false };
        let mut members = lines.flat_map(|line| line.split(':').nth(3).unwrap_or_default().split(','));
        members.all(|member| member.trim().is_empty() || member.trim() == name)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_file_is_the_users_alone_if_all_that_leads_to_it_is() {
        // What is made writable, how, and whether the file and a link to it are the user's alone then.
        let cases = [
            ("", 0o755, true, true),
            ("a/file", 0o666, false, false),
            ("a/file", 0o600, true, true),
            ("a", 0o777, false, false),
            ("a", 0o1777, true, true),
            ("links", 0o777, true, false),
            ("a/none", 0o666, true, true),
        ];
        for (changed, mode, file, link) in cases {
            let scratch = tempfile::tempdir().expect("a scratch folder");
            let root = scratch.path().canonicalize().expect("a real path");
            for folder in ["a", "links"] {
                std::fs::create_dir(root.join(folder)).expect("a folder");
            }
            std::fs::write(root.join("a/file"), "").expect("a file");
            symlink(root.join("a/file"), root.join("links/link")).expect("a link");
            if root.join(changed).exists() {
                std::fs::set_permissions(root.join(changed), PermissionsExt::from_mode(mode)).expect("a mode");
            }
            let found = (by_others(&root.join("a/file")), by_others(&root.join("links/link")));
            assert_eq!((found.0.is_none(), found.1.is_none()), (file, link), "{changed} {mode:o}: {found:?}");
            assert_eq!(by_others(&root.join("a/none")), None, "there is nothing");
        }
    }

    #[test]
    fn each_link_on_the_way_counts() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let at = |path: &str| scratch.path().canonicalize().expect("a real path").join(path);
        for folder in ["own", "open/inner", "real"] {
            std::fs::create_dir_all(at(folder)).expect("a folder");
        }
        std::fs::write(at("real/file"), "").expect("a file");
        std::fs::set_permissions(at("open"), PermissionsExt::from_mode(0o777)).expect("a mode");
        // The link, where it leads, what is read, and who lets others decide that.
        let cases = [
            ("own/direct", "../real/file", "own/direct", None),
            ("own/twice", "direct", "own/twice", None),
            ("open/hop", "../real/file", "open/hop", Some("open")),
            ("own/file", "../open/hop", "own/file", Some("open")),
            ("own/folder", "../open/inner/../../real", "own/folder/file", Some("open")),
            ("open/folder", "../real", "open/folder/file", Some("open")),
            ("own/through", "../open/folder", "own/through/file", Some("open")),
            ("own/circle", "circle", "own/circle", None),
        ];
        for (link, leads, read, expected) in cases {
            symlink(leads, at(link)).expect("a link");
            let found = by_others(&at(read)).map(|written| written.path);
            assert_eq!(found, expected.map(at), "{link} -> {leads}: {read}");
        }
    }

    #[test]
    fn what_is_passed_is_told_in_order() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let root = scratch.path().canonicalize().expect("a real path");
        std::fs::create_dir_all(root.join("a/b")).expect("a folder");
        symlink("a/./b", root.join("link")).expect("a link");
        let cases = [
            ("a/b", vec!["a", "a/b"]),
            ("link", vec!["link", "a", "a/b"]),
            ("link/../none/x", vec!["link", "a", "a/b"]),
            ("none", vec![]),
        ];
        for (path, expected) in cases {
            let below = passed(&root.join(path)).into_iter().skip(root.ancestors().count());
            let expected: Vec<PathBuf> = expected.into_iter().map(|one| root.join(one)).collect();
            assert_eq!(below.collect::<Vec<_>>(), expected, "{path}");
        }
    }

    #[test]
    fn a_group_of_the_users_own_is_nobody_else() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\nme:x:7:7::/home/me:/bin/sh\nyou:x:8:100::/home/you:/bin/sh\n\
                        they:x:9:100::/home/they:/bin/sh\nodd\n";
        // The group, and its line.
        let cases = [
            (7, "me:x:7:", true),
            (7, "me:x:7:me", true),
            (7, "mine:x:7:", true),
            (7, "me:x:7:me,you", false),
            (7, "me:x:7:you", false),
            (7, "me:x:70:", false),
            (100, "users:x:100:", false),
            (0, "root:x:0:", false),
            (5, "tty:x:5:", false),
        ];
        for (group, line, alone) in cases {
            let lists = Lists { user: 7, accounts: accounts.to_owned(), groups: format!("x:x:1:\n{line}\n") };
            assert_eq!(lists.is_alone_in(group), alone, "{group} {line}");
        }
    }
}
