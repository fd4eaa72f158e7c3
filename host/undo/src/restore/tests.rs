use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;
use crate::Limits;
use crate::model::{Change, ChangeKind};
use crate::testing::{Saved, Scratch, is_root, soon};
use toolgate_test_support::skip::skip;

use ChangeKind::{Append, Create, Delete, Link, Mode as Chmod, Move, Write};

fn remove(scratch: &Scratch, path: &str) {
    let path = scratch.at(path);
    let removed =
        if path.is_dir() && !path.is_symlink() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
    removed.expect("removed");
}

fn rename(scratch: &Scratch, from: &str, to: &str) {
    std::fs::rename(scratch.at(from), scratch.at(to)).expect("moved");
}

fn overwrite(scratch: &Scratch, path: &str, content: &str) {
    std::fs::write(scratch.at(path), content).expect("written");
}

/// The files that the cases are about.
fn user() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("file", "before");
    scratch.file("program", "#!/bin/sh\n");
    scratch.mode("program", 0o4755);
    scratch.file("folder/a", "a");
    scratch.file("folder/b/c", "c");
    scratch.folder("folder/empty");
    scratch.mode("folder/empty", 0o1700);
    scratch.link("folder/link", "../file");
    scratch.link("link", "file");
    scratch.link("dangling", "nowhere");
    scratch
}

type Does = fn(&Scratch);

/// Its name, what it says that it changes, and what it does.
type Call = (&'static str, Vec<(&'static str, ChangeKind)>, Does);

/// What is changed, and how, so that it can be undone.
fn calls() -> Vec<Call> {
    vec![
        ("nothing", vec![("file", Write), ("folder", Delete)], |_| {}),
        ("write", vec![("file", Write)], |s| overwrite(s, "file", "after")),
        ("truncate", vec![("file", Write)], |s| overwrite(s, "file", "")),
        ("append through a link", vec![("link", Append)], |s| overwrite(s, "link", "before, after")),
        ("write through a link to nothing", vec![("dangling", Write)], |s| overwrite(s, "dangling", "after")),
        ("replace", vec![("file", Write)], |s| {
            overwrite(s, "new", "after");
            rename(s, "new", "file");
        }),
        ("touch", vec![("file", Chmod)], |s| overwrite(s, "file", "before")),
        ("create", vec![("new", Create)], |s| overwrite(s, "new", "x")),
        ("create deep", vec![("new/deep/er/file", Create)], |s| s.file("new/deep/er/file", "x")),
        ("remove", vec![("file", Delete)], |s| remove(s, "file")),
        ("remove a folder", vec![("folder", Delete)], |s| remove(s, "folder")),
        ("remove a link", vec![("link", Delete)], |s| remove(s, "link")),
        ("move", vec![("file", Move), ("moved", Create)], |s| rename(s, "file", "moved")),
        ("move a folder", vec![("folder", Move), ("moved", Create)], |s| rename(s, "folder", "moved")),
        ("move over another", vec![("file", Move), ("folder/a", Write)], |s| rename(s, "file", "folder/a")),
        ("link over a file", vec![("file", Link)], |s| {
            remove(s, "file");
            s.link("file", "/etc/passwd");
        }),
        ("another link", vec![("link", Link)], |s| {
            remove(s, "link");
            s.link("link", "folder");
        }),
        ("file over a link", vec![("link", Delete), ("link", Write)], |s| {
            remove(s, "link");
            overwrite(s, "link", "a file now");
        }),
        ("folder over a file", vec![("file", Delete), ("file/a/b", Create)], |s| {
            remove(s, "file");
            s.file("file/a/b", "x");
        }),
        ("folder over a link", vec![("link", Delete), ("link/a", Create)], |s| {
            remove(s, "link");
            s.file("link/a", "x");
        }),
        ("file over a folder", vec![("folder", Delete), ("folder", Write)], |s| {
            remove(s, "folder");
            overwrite(s, "folder", "a file now");
        }),
        ("link over a folder", vec![("folder", Delete), ("folder", Link)], |s| {
            remove(s, "folder");
            std::fs::create_dir(s.outside("elsewhere")).expect("a folder");
            s.link("folder", s.outside("elsewhere"));
        }),
        ("pipe over a file", vec![("file", Delete), ("file", Create)], |s| {
            remove(s, "file");
            mknodat(CWD, s.at("file"), FileType::Fifo, Mode::RUSR, 0).expect("a pipe");
        }),
        ("new files in a listed folder", vec![("folder", Delete)], |s| {
            s.file("folder/new", "x");
            s.file("folder/b/new/er", "x");
            s.link("folder/b/new/link", "/etc");
        }),
        ("another folder of the same name", vec![("folder", Delete)], |s| {
            remove(s, "folder");
            s.file("folder/a", "other");
            s.file("folder/x/y", "other");
        }),
        ("mode", vec![("file", Chmod), ("program", Chmod)], |s| {
            s.mode("file", 0o400);
            s.mode("program", 0o644);
        }),
        ("mode of all", vec![("folder", Delete)], |s| {
            s.mode("folder/a", 0o666);
            s.mode("folder/b", 0o777);
            s.mode("folder/empty", 0o500);
            s.mode("folder", 0o555);
        }),
        ("swap", vec![("folder/a", Write), ("folder/b/c", Write)], |s| {
            rename(s, "folder/a", "new");
            rename(s, "folder/b/c", "folder/a");
            rename(s, "new", "folder/b/c");
        }),
    ]
}

fn saved(scratch: &Scratch, changes: &[(&str, ChangeKind)]) -> Saved {
    let changes: Vec<Change> = changes.iter().map(|(path, kind)| scratch.change(path, *kind)).collect();
    let saved = scratch.save(&changes, &Limits::DEFAULT);
    assert_eq!(saved.left_out, []);
    saved
}

#[test]
fn a_call_is_undone_and_its_undo_too() {
    for (name, changes, does) in calls() {
        let scratch = user();
        let before = scratch.tree();
        let saved = self::saved(&scratch, &changes);
        does(&scratch);
        let after = scratch.tree();
        let targets = scratch.targets(&saved);
        let planned = plan(targets.clone(), false);
        assert_eq!(planned.conflicts, [], "{name}");
        assert_eq!(planned.is_empty(), before == after && name != "touch", "{name}: {:?}", planned.steps);
        // The undo is saved like a call, by the paths that it changes.
        let paths: Vec<&Path> = planned.targets().map(|target| target.path.as_path()).collect();
        let survey = crate::files::survey_paths(&paths, &Limits::DEFAULT, soon());
        let withheld = vec![false; survey.files().len()];
        let (items, _) = survey.capture(scratch.store.objects(), Some(&withheld), &Limits::DEFAULT, soon());
        let undo = Saved { items, left_out: Vec::new() };
        scratch.apply(&planned);
        assert_eq!(scratch.tree(), before, "{name}");
        assert!(plan(targets, false).is_empty(), "{name}: there is nothing left to do");
        if name == "pipe over a file" {
            continue;
        }
        let redone = plan(scratch.targets(&undo), false);
        assert_eq!(redone.conflicts, [], "{name}");
        scratch.apply(&redone);
        assert_eq!(scratch.tree(), after, "{name}, undone and redone");
    }
}

#[test]
fn what_somebody_changed_since_is_left_alone() {
    // What is saved, what the call does, what somebody does then, the conflict, and whether force helps.
    type Case = (&'static str, Vec<(&'static str, ChangeKind)>, Does, Does, &'static str, bool);
    let cases: Vec<Case> = vec![
        (
            "written",
            vec![("file", Write)],
            |s| overwrite(s, "file", "after"),
            |s| overwrite(s, "file", "mine"),
            "it was changed since",
            true,
        ),
        (
            "removed",
            vec![("file", Write)],
            |s| overwrite(s, "file", "after"),
            |s| remove(s, "file"),
            "it was removed since",
            true,
        ),
        (
            "there again",
            vec![("file", Delete)],
            |s| remove(s, "file"),
            |s| overwrite(s, "file", "mine"),
            "something else is there now",
            true,
        ),
        (
            "mode",
            vec![("file", Write)],
            |s| overwrite(s, "file", "after"),
            |s| s.mode("file", 0o700),
            "its mode or attributes were changed since",
            true,
        ),
        (
            "a link in its place",
            vec![("file", Write)],
            |s| overwrite(s, "file", "after"),
            |s| {
                remove(s, "file");
                s.link("file", "/etc/passwd");
            },
            "it was changed since",
            true,
        ),
        (
            "a pipe in its place",
            vec![("file", Write)],
            |s| overwrite(s, "file", "after"),
            |s| {
                remove(s, "file");
                mknodat(CWD, s.at("file"), FileType::Fifo, Mode::RUSR, 0).expect("a pipe");
            },
            "it was changed since",
            true,
        ),
        (
            "a folder with something in its place",
            vec![("file", Write)],
            |s| overwrite(s, "file", "after"),
            |s| {
                remove(s, "file");
                s.file("file/mine", "x");
            },
            "it was changed since",
            false,
        ),
        (
            "a link on the way",
            vec![("folder/a", Write)],
            |s| overwrite(s, "folder/a", "after"),
            |s| {
                rename(s, "folder", "moved");
                s.link("folder", "moved");
            },
            "a folder on the way to it is a link",
            false,
        ),
        (
            "a file on the way",
            vec![("folder/a", Write)],
            |s| overwrite(s, "folder/a", "after"),
            |s| {
                remove(s, "folder");
                overwrite(s, "folder", "mine");
            },
            "what should be a folder on the way to it is none",
            false,
        ),
        (
            "something in a made folder",
            vec![("new/file", Create)],
            |s| s.file("new/file", "x"),
            |s| s.file("new/mine", "x"),
            "something is in it that the call did not make",
            false,
        ),
    ];
    for (name, changes, does, meddles, expected, forcible) in cases {
        let scratch = user();
        let saved = self::saved(&scratch, &changes);
        does(&scratch);
        let targets = scratch.targets(&saved);
        meddles(&scratch);
        let before = scratch.tree();
        let planned = plan(targets.clone(), false);
        let why: Vec<&str> = planned.conflicts.iter().map(|conflict| conflict.why.as_str()).collect();
        assert_eq!(why, [expected], "{name}");
        scratch.apply(&planned);
        for (path, what) in &before {
            let ours = name == "something in a made folder" && path.ends_with("new/file");
            assert!(ours || scratch.tree().get(path) == Some(what), "{name}: {}", path.display());
        }
        let forced = plan(targets, true);
        assert_eq!(forced.conflicts.is_empty(), forcible, "{name}: {:?}", forced.conflicts);
        if forcible {
            scratch.apply(&forced);
            assert_eq!(scratch.text("file"), "before", "{name}");
        }
    }
}

#[test]
fn what_the_call_did_not_change_is_nobodys_business() {
    let cases: [(&str, Does); 5] = [
        ("written", |s| overwrite(s, "folder/a", "mine")),
        ("removed", |s| remove(s, "folder/a")),
        ("mode", |s| s.mode("folder/a", 0o600)),
        ("made", |s| overwrite(s, "folder/none", "mine")),
        ("a link on the way", |s| {
            rename(s, "folder", "moved");
            s.link("folder", "moved");
        }),
    ];
    for (name, meddles) in cases {
        let scratch = user();
        let saved = self::saved(&scratch, &[("file", Write), ("folder/a", Write), ("folder/none", Create)]);
        overwrite(&scratch, "file", "after");
        let targets = scratch.targets(&saved);
        meddles(&scratch);
        let mut before = scratch.tree();
        for force in [false, true] {
            let planned = plan(targets.clone(), force);
            assert_eq!(planned.conflicts, [], "{name}");
            scratch.apply(&planned);
        }
        assert_eq!(scratch.text("file"), "before");
        let mut now = scratch.tree();
        assert!(now.remove(&scratch.at("file")).is_some() && before.remove(&scratch.at("file")).is_some());
        assert_eq!(now, before, "{name}");
    }
}

#[test]
fn what_is_not_known_is_restored_if_nothing_is_lost() {
    // What is done since it was saved, and the conflicts.
    let cases: [(&str, Does, &[&str]); 4] = [
        ("nothing", |_| {}, &[]),
        ("removed", |s| remove(s, "file"), &[]),
        ("mode", |s| s.mode("file", 0o600), &[]),
        ("written", |s| overwrite(s, "file", "after"), &["its state after the call is unknown"]),
    ];
    for (name, does, expected) in cases {
        for unknown in [None, Some(State::UNKNOWN)] {
            let scratch = user();
            let before = scratch.tree();
            let saved = self::saved(&scratch, &[("file", Write)]);
            does(&scratch);
            let targets = || saved.items.iter().map(|item| Target::of(item, unknown.clone())).collect();
            let planned = plan(targets(), false);
            let why: Vec<&str> = planned.conflicts.iter().map(|conflict| conflict.why.as_str()).collect();
            assert_eq!(why, expected, "{name}");
            scratch.apply(&plan(targets(), true));
            assert_eq!(scratch.tree(), before, "{name}");
        }
    }
}

#[test]
fn what_was_not_saved_stays_as_it_is() {
    let scratch = user();
    let limits = Limits { file: 3, ..Limits::DEFAULT };
    let changes = [scratch.change("file", Move), scratch.change("moved", Create)];
    let saved = scratch.save(&changes, &limits);
    rename(&scratch, "file", "moved");
    for force in [false, true] {
        let mut planned = plan(scratch.targets(&saved), force);
        assert_eq!(planned.conflicts.len(), 1);
        assert_eq!(planned.conflicts[0].why, "its content was not saved");
        // What is to go would be gone for good: who undoes saves it first, and refuses what could not be saved.
        planned.refuse(|step| (step.action == Action::Remove).then(|| "it could not be saved".to_owned()));
        assert_eq!((planned.is_empty(), planned.conflicts.len()), (true, 2));
    }
}

#[test]
fn what_is_too_large_to_be_saved_is_not_removed() {
    let limits = Limits { file: 3, ..Limits::DEFAULT };
    let cases: [Call; 3] = [
        ("moved", vec![("file", Move), ("moved", Create)], |s| rename(s, "file", "moved")),
        ("moved below", vec![("file", Move), ("new/moved", Create)], |s| {
            s.folder("new");
            rename(s, "file", "new/moved");
        }),
        ("moved over another", vec![("file", Move), ("folder/a", Write)], |s| rename(s, "file", "folder/a")),
    ];
    for (name, changes, does) in cases {
        let scratch = user();
        let changes: Vec<Change> = changes.iter().map(|(path, kind)| scratch.change(path, *kind)).collect();
        let saved = scratch.save(&changes, &limits);
        does(&scratch);
        let before = scratch.tree();
        let left = crate::files::states(&saved.items, &limits, soon());
        let made = crate::files::made(&saved.items, &limits, soon());
        let items = saved.items.iter().zip(left).filter(|(item, _)| item.saved);
        let items = items.map(|(item, left)| Target::of(item, Some(left)));
        let targets = items.chain(made.into_iter().map(|(path, left)| Target::gone(path, Some(left)))).collect();
        let planned = plan(targets, false);
        assert!(!planned.conflicts.is_empty() && planned.is_empty(), "{name}: {:?}", planned.steps);
        scratch.apply(&planned);
        assert_eq!(scratch.tree(), before, "{name}");
    }
}

#[test]
fn a_damaged_object_restores_nothing() {
    type Spoil = fn(&Path);
    let cases: [(&str, Spoil); 4] = [
        ("a link", |path| {
            std::fs::rename(path, path.with_file_name("other")).expect("moved");
            std::os::unix::fs::symlink("other", path).expect("a link");
        }),
        ("cut", |path| std::fs::write(path, b"\0bef").expect("written")),
        ("another content", |path| std::fs::write(path, b"\0others").expect("written")),
        ("gone", |path| std::fs::remove_file(path).expect("removed")),
    ];
    let does: [(&str, Does); 4] = [
        ("written", |s| overwrite(s, "file", "after")),
        ("removed", |s| remove(s, "file")),
        ("moved", |s| rename(s, "file", "moved")),
        ("a folder", |s| {
            remove(s, "file");
            s.file("file/a/b", "x");
        }),
    ];
    for (name, spoil) in cases {
        for (call, does) in does {
            for names in [1, 2] {
                let scratch = user();
                if names == 2 {
                    std::fs::hard_link(scratch.at("file"), scratch.outside("other")).expect("a name");
                }
                let saved = self::saved(&scratch, &[("file", Delete), ("file/a/b", Create), ("moved", Create)]);
                does(&scratch);
                let digest = crate::objects::digest(b"before");
                spoil(&scratch.store.objects().path().join(&digest[..2]).join(&digest[2..]));
                let before = scratch.tree();
                let planned = plan(scratch.targets(&saved), true);
                assert_eq!(planned.conflicts, [], "{name}, {call}");
                let failed = planned.apply(scratch.store.objects()).iter().filter(|(_, done)| done.is_err()).count();
                assert!(failed > 0, "{name}, {call}");
                assert_eq!(scratch.tree(), before, "{name}, {call}: all stays, and nothing is left behind");
            }
        }
    }
}

#[test]
fn what_is_changed_between_plan_and_undo_is_left_alone() {
    let cases: [(&str, Does); 6] = [
        ("written", |s| overwrite(s, "folder/a", "mine, which is longer")),
        ("a link in its place", |s| {
            remove(s, "folder/a");
            s.link("folder/a", s.outside("secret"));
        }),
        ("a link on the way", |s| {
            rename(s, "folder", "moved");
            s.link("folder", "moved");
        }),
        ("a link to elsewhere on the way", |s| {
            rename(s, "folder", "moved");
            std::fs::create_dir(s.outside("elsewhere")).expect("a folder");
            std::fs::write(s.outside("elsewhere/a"), "after").expect("a file");
            s.link("folder", s.outside("elsewhere"));
        }),
        ("a pipe", |s| {
            remove(s, "folder/a");
            mknodat(CWD, s.at("folder/a"), FileType::Fifo, Mode::RUSR, 0).expect("a pipe");
        }),
        ("a folder", |s| {
            remove(s, "folder/a");
            s.folder("folder/a");
        }),
    ];
    for (name, meddles) in cases {
        for (call, does) in
            [("written", (|s| overwrite(s, "folder/a", "after")) as Does), ("mode", |s| s.mode("folder/a", 0o600))]
        {
            let scratch = user();
            std::fs::write(scratch.outside("secret"), "secret").expect("a file");
            let saved = self::saved(&scratch, &[("folder/a", Write)]);
            does(&scratch);
            let planned = plan(scratch.targets(&saved), false);
            assert_eq!(planned.steps.len(), 1);
            meddles(&scratch);
            let before = scratch.tree();
            let outcomes = planned.apply(scratch.store.objects());
            assert!(outcomes[0].1.is_err(), "{name}, {call}");
            assert_eq!(scratch.tree(), before, "{name}, {call}");
            assert_eq!(std::fs::read_to_string(scratch.outside("secret")).expect("read"), "secret");
        }
    }
}

#[test]
fn names_of_one_file_stay_joined() {
    let inode = |scratch: &Scratch, path: &str| scratch.at(path).metadata().expect("there").ino();
    // What the call does, whether the names are of one file afterwards, and what the other name says.
    let cases: [(&str, Does, bool, &str); 4] = [
        ("in place", |s| overwrite(s, "file", "after"), true, "before"),
        ("in place, longer", |s| overwrite(s, "file", &"after".repeat(1_000)), true, "before"),
        (
            "replaced",
            |s| {
                overwrite(s, "new", "after");
                rename(s, "new", "file");
            },
            false,
            "before",
        ),
        (
            "joined with another",
            |s| {
                remove(s, "file");
                std::fs::hard_link(s.at("folder/a"), s.at("file")).expect("a name");
            },
            false,
            "before",
        ),
    ];
    for (name, does, joined, other) in cases {
        let scratch = user();
        std::fs::hard_link(scratch.at("file"), scratch.at("other")).expect("a name");
        let saved = self::saved(&scratch, &[("file", Write)]);
        does(&scratch);
        scratch.undo(&saved);
        assert_eq!((scratch.text("file"), scratch.text("other")), ("before".to_owned(), other.to_owned()), "{name}");
        assert_eq!(scratch.text("folder/a"), "a", "{name}");
        assert_eq!(inode(&scratch, "file") == inode(&scratch, "other"), joined, "{name}");
    }
    // Both of them are restored.
    let scratch = user();
    std::fs::hard_link(scratch.at("file"), scratch.at("other")).expect("a name");
    let saved = self::saved(&scratch, &[("file", Write), ("other", Write)]);
    overwrite(&scratch, "file", "after");
    scratch.undo(&saved);
    assert_eq!((scratch.text("file"), scratch.text("other")), ("before".to_owned(), "before".to_owned()));
    assert_eq!(inode(&scratch, "file"), inode(&scratch, "other"));
}

#[test]
fn what_a_crash_left_is_in_nobodys_way() {
    let scratch = user();
    let before = scratch.tree();
    let saved = self::saved(&scratch, &[("file", Write), ("link", Link)]);
    overwrite(&scratch, "file", "after");
    remove(&scratch, "link");
    let hash = |name: &str| crate::objects::digest(name.as_bytes())[..16].to_owned();
    scratch.file(format!(".toolgate-undo-{}", hash("file")), "half");
    scratch.link(format!(".toolgate-undo-{}", hash("link")), "x");
    scratch.undo(&saved);
    assert_eq!(scratch.tree(), before);
}

#[test]
fn attributes_come_back() {
    let scratch = user();
    let set = |value: &[u8]| {
        rustix::fs::setxattr(scratch.at("file"), "user.toolgate", value, rustix::fs::XattrFlags::empty())
    };
    if set(b"before").is_err() {
        return skip("the file system has no extended attributes");
    }
    let cases: [(&str, Does); 3] = [
        ("changed", |s| {
            let flags = rustix::fs::XattrFlags::empty();
            rustix::fs::setxattr(s.at("file"), "user.toolgate", b"after", flags).expect("set");
            rustix::fs::setxattr(s.at("file"), "user.more", b"after", flags).expect("set");
        }),
        ("removed", |s| rustix::fs::removexattr(s.at("file"), "user.toolgate").expect("removed")),
        ("replaced", |s| {
            remove(s, "file");
            overwrite(s, "file", "after");
        }),
    ];
    for (name, does) in cases {
        let saved = self::saved(&scratch, &[("file", Write)]);
        does(&scratch);
        scratch.undo(&saved);
        let now = crate::files::state(&scratch.at("file"), 100);
        assert_eq!(now.attributes, saved.items[0].before.attributes, "{name}");
    }
}

#[test]
fn what_git_knows_is_enough() {
    let object = |content: &[u8], mode| {
        let kind = Kind::File { length: content.len() as u64, content: Some(crate::objects::digest(content)) };
        (State { kind, mode, ..State::ABSENT }, Source::Bytes(content.to_vec()))
    };
    // What was in git, what the call does, and the mode afterwards.
    let cases: [(&str, u32, Does, u32); 6] = [
        ("written", 0o644, |s| overwrite(s, "file", "after"), 0o640),
        ("the same", 0o644, |_| {}, 0o640),
        ("executable", 0o644, |s| s.mode("file", 0o750), 0o640),
        ("not executable", 0o755, |s| s.mode("file", 0o640), 0o750),
        ("removed", 0o644, |s| remove(s, "file"), 0o644),
        (
            "a link",
            0o755,
            |s| {
                remove(s, "file");
                s.link("file", "x");
            },
            0o755,
        ),
    ];
    for (name, mode, does, expected) in cases {
        let scratch = user();
        scratch.mode("file", 0o640);
        does(&scratch);
        let (want, source) = object(b"before", mode);
        let expected_state = Some(crate::files::state(&scratch.at("file"), 100));
        let target = Target {
            path: scratch.at("file").as_path().into(),
            want,
            source,
            expected: expected_state,
            known: Known::AsGit,
            shared: None,
        };
        let planned = plan(vec![target.clone()], false);
        assert_eq!(planned.conflicts, [], "{name}");
        assert_eq!(planned.is_empty(), name == "the same", "{name}");
        scratch.apply(&planned);
        let found = scratch.at("file").symlink_metadata().expect("there");
        assert_eq!((scratch.text("file").as_str(), found.mode() & 0o7777), ("before", expected), "{name}");
        assert!(plan(vec![target], true).is_empty(), "{name}");
    }
}

#[test]
fn folders_that_became_impassable_are_passed_again() {
    if is_root() {
        return skip("root may pass every folder");
    }
    let scratch = user();
    scratch.folder("folder/b/deep/er");
    scratch.file("folder/b/deep/er/file", "x");
    let before = scratch.tree();
    for mode in [0, 0o444, 0o644] {
        let saved = self::saved(&scratch, &[("folder", Delete)]);
        let path = scratch.at("folder");
        let done = Command::new("chmod").args(["-R", &format!("{mode:o}")]).arg(&path).output().expect("chmod");
        assert!(done.status.code().is_some());
        let targets = scratch.targets(&saved);
        let planned = plan(targets, false);
        assert_eq!(planned.conflicts, []);
        assert!(!planned.blocked.is_empty());
        scratch.apply(&planned);
        assert_eq!(scratch.tree(), before, "{mode:o}");
    }
}

#[test]
fn texts_are_told_of_texts() {
    let scratch = user();
    scratch.file("binary", b"a\0b");
    scratch.file("large", vec![b'x'; usize::try_from(TEXT).expect("a length") + 1]);
    let saved = self::saved(
        &scratch,
        &[("file", Write), ("folder/a", Delete), ("new", Create), ("binary", Write), ("large", Write)],
    );
    overwrite(&scratch, "file", "after");
    overwrite(&scratch, "new", "new");
    remove(&scratch, "folder/a");
    let texts: BTreeMap<PathBuf, Option<(String, String)>> = scratch
        .targets(&saved)
        .iter()
        .map(|target| (target.path.as_path().to_path_buf(), texts(target, scratch.store.objects())))
        .collect();
    let cases = [
        ("file", Some(("after", "before"))),
        ("folder/a", Some(("", "a"))),
        ("new", Some(("new", ""))),
        ("binary", None),
        ("large", None),
    ];
    for (path, expected) in cases {
        let expected = expected.map(|(now, wanted)| (now.to_owned(), wanted.to_owned()));
        assert_eq!(texts[&scratch.at(path)], expected, "{path}");
    }
}

/// What a random call does.
#[derive(Clone, Debug)]
enum Op {
    Write(usize, u8, usize),
    Remove(usize),
    Rename(usize, usize),
    Mode(usize, u32),
    Link(usize, usize),
    Folder(usize),
}

/// Few enough that they meet.
const PATHS: [&str; 12] = ["a", "b", "c", "a/a", "a/b", "b/a", "b/c", "a/a/a", "a/b/c", "b/a/b", "b/c/c", "c/a"];

fn op() -> impl Strategy<Value = Op> {
    let path = || 0..PATHS.len();
    prop_oneof![
        3 => (path(), any::<u8>(), 0_usize..6_000).prop_map(|(path, byte, length)| Op::Write(path, byte, length)),
        2 => path().prop_map(Op::Remove),
        2 => (path(), path()).prop_map(|(from, to)| Op::Rename(from, to)),
        1 => (path(), prop_oneof![Just(0o600), Just(0o755), Just(0o700), Just(0o711)]).prop_map(|(path, mode)| Op::Mode(path, mode)),
        1 => (path(), path()).prop_map(|(path, to)| Op::Link(path, to)),
        2 => path().prop_map(Op::Folder),
    ]
}

/// Does it as far as it can be done.
fn do_it(scratch: &Scratch, op: &Op) {
    let at = |index: &usize| scratch.at(PATHS[*index]);
    let _ = match op {
        Op::Write(path, byte, length) => std::fs::write(at(path), vec![*byte; *length]),
        Op::Remove(path) if at(path).is_dir() && !at(path).is_symlink() => std::fs::remove_dir_all(at(path)),
        Op::Remove(path) => std::fs::remove_file(at(path)),
        // `mv` moves into a folder then, which is said as another path.
        Op::Rename(_, to) if at(to).is_dir() => Ok(()),
        Op::Rename(from, to) => std::fs::rename(at(from), at(to)),
        Op::Mode(path, mode) if !at(path).is_symlink() => {
            let passable = if at(path).is_dir() { 0o100 } else { 0 };
            std::fs::set_permissions(at(path), std::os::unix::fs::PermissionsExt::from_mode(mode | passable))
        }
        Op::Mode(..) => Ok(()),
        // It leads nowhere, so that nothing is changed that is not said.
        Op::Link(path, to) => std::os::unix::fs::symlink(format!("/nowhere/{}", PATHS[*to]), at(path)),
        Op::Folder(path) => std::fs::create_dir_all(at(path)),
    };
}

/// What is said of it.
fn said(scratch: &Scratch, op: &Op) -> Vec<Change> {
    let change = |index: &usize, kind| scratch.change(PATHS[*index], kind);
    match op {
        Op::Write(path, ..) => vec![change(path, Write)],
        Op::Remove(path) => vec![change(path, Delete)],
        Op::Rename(from, to) => vec![change(from, Move), change(to, Write)],
        Op::Mode(path, _) => vec![change(path, Chmod)],
        Op::Link(path, _) => vec![change(path, Link)],
        Op::Folder(path) => vec![change(path, Create)],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_call_is_undone(first in proptest::collection::vec(op(), 0..20), call in proptest::collection::vec(op(), 1..8)) {
        let scratch = Scratch::new();
        for op in &first {
            do_it(&scratch, op);
        }
        let before = scratch.tree();
        let changes: Vec<Change> = call.iter().flat_map(|op| said(&scratch, op)).collect();
        let saved = scratch.save(&changes, &Limits::DEFAULT);
        prop_assert_eq!(&saved.left_out, &[]);
        for op in &call {
            do_it(&scratch, op);
        }
        let targets = scratch.targets(&saved);
        let planned = plan(targets.clone(), false);
        prop_assert_eq!(&planned.conflicts, &[]);
        scratch.apply(&planned);
        prop_assert_eq!(scratch.tree(), before);
        prop_assert!(plan(targets, false).is_empty());
    }
}
