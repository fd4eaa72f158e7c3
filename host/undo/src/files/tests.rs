use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use rustix::fs::{CWD, Mode, mknodat};

use super::*;
use crate::testing::{Scratch, change, is_root, soon, state_at};
use toolgate_test_support::skip::skip;

const DEFAULT: &Limits = &Limits::DEFAULT;

/// The paths and what they are, in short.
fn shown(scratch: &Scratch, survey: &Survey) -> Vec<String> {
    let kind = |state: &State| match &state.kind {
        Kind::Absent => "absent",
        Kind::File { .. } => "file",
        Kind::Folder => "folder",
        Kind::Link { .. } => "link",
        Kind::Special => "special",
    };
    let path = |path: &PathBytes| {
        path.as_path().strip_prefix(&scratch.root).unwrap_or(path.as_path()).to_string_lossy().into_owned()
    };
    survey.looked.iter().map(|one| format!("{} {}", path(&one.path), kind(&one.state))).collect()
}

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
}

#[test]
fn what_a_change_is_about_is_looked_at() {
    let scratch = Scratch::new();
    scratch.file("file", "1");
    scratch.file("folder/b/file", "2");
    scratch.file("folder/a", "3");
    scratch.folder("folder/empty");
    scratch.link("folder/link", "/etc");
    scratch.link("link", "file");
    scratch.link("twice", "link");
    scratch.link("way", "folder");
    scratch.link("dangling", "new/file");
    scratch.link("circle", "circle");
    scratch.link("up", "folder/..");
    let below = [
        "folder folder",
        "folder/a file",
        "folder/b folder",
        "folder/b/file file",
        "folder/empty folder",
        "folder/link link",
    ];
    use ChangeKind::{Append, Create, Delete, Link, Mode, Move, Write};
    // The path, what happens to it, and what is looked at.
    let cases: [(&str, ChangeKind, &[&str]); 22] = [
        ("file", Write, &["file file"]),
        ("none", Create, &["none absent"]),
        ("none/a/b", Create, &["none absent", "none/a/b absent"]),
        ("folder/b/c/d", Create, &["folder/b/c absent", "folder/b/c/d absent"]),
        ("file/a", Create, &["file file", "file/a absent"]),
        ("link", Write, &["file file", "link link"]),
        ("twice", Append, &["file file", "link link", "twice link"]),
        ("twice", Mode, &["file file", "link link", "twice link"]),
        ("twice", Delete, &["twice link"]),
        ("twice", Link, &["twice link"]),
        ("dangling", Write, &["dangling link", "new absent", "new/file absent"]),
        ("dangling/a", Write, &["dangling link", "dangling/a absent", "new absent", "new/file absent"]),
        ("circle", Write, &["circle link"]),
        ("way/a", Write, &["folder/a file"]),
        ("way/b", Delete, &["folder/b folder", "folder/b/file file"]),
        ("way", Delete, &["way link"]),
        ("up", Write, &["up link", " folder"]),
        ("folder", Write, &["folder folder"]),
        ("folder", Mode, &["folder folder"]),
        ("folder", Link, &["folder folder"]),
        ("folder", Delete, &below),
        ("folder", Move, &below),
    ];
    for (path, kind, expected) in cases {
        let survey = survey(&[scratch.change(path, kind)], DEFAULT, soon());
        let mut found = shown(&scratch, &survey);
        found.sort();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "{path} {kind:?}: {:?}", survey.left_out);
        let said = matches!((path, kind), ("circle", Write));
        assert_eq!(survey.left_out.len(), usize::from(said), "{path} {kind:?}: {:?}", survey.left_out);
    }
    let all = Change { recursive: true, ..scratch.change("folder", Mode) };
    assert_eq!(shown(&scratch, &survey(std::slice::from_ref(&all), DEFAULT, soon())), below);
    // Each path once, a folder first, whatever comes first.
    let changes = [scratch.change("folder/b/file", Write), all, scratch.change("folder", Delete)];
    let twice = survey(&changes, DEFAULT, soon());
    assert_eq!(shown(&scratch, &twice), below);
    assert!(twice.looked.iter().all(|one| one.removed));
    let listed: Vec<bool> = twice.looked.iter().map(|one| one.listed).collect();
    assert_eq!(listed, [true, false, true, false, true, false]);
}

#[test]
fn what_has_no_plain_path_is_said() {
    let unknown = Change { path: None, kind: ChangeKind::Write, certain: true, recursive: false };
    let cases =
        [unknown, change(Path::new("a/b"), ChangeKind::Write), change(Path::new("/a/../b"), ChangeKind::Delete)];
    for one in cases {
        let survey = survey(std::slice::from_ref(&one), DEFAULT, soon());
        assert_eq!((survey.looked.len(), survey.left_out.len()), (0, 1), "{one:?}");
    }
}

#[test]
fn names_of_any_bytes_are_kept() {
    let scratch = Scratch::new();
    let names: [&[u8]; 4] = [b"a\xffb", b"new\nline", b" ", "ä".as_bytes()];
    scratch.folder("folder");
    for name in names {
        scratch.file(Path::new("folder").join(OsStr::from_bytes(name)), "x");
    }
    scratch.link("folder/link", OsStr::from_bytes(b"to\xff"));
    let saved = scratch.save(&[scratch.change("folder", ChangeKind::Delete)], DEFAULT);
    assert_eq!(saved.items.len(), 6);
    let text = serde_json::to_string(&saved.items).expect("JSON");
    let back: Vec<Item> = serde_json::from_str(&text).expect("items");
    assert_eq!(back, saved.items);
}

#[test]
fn limits_leave_out_what_is_too_much() {
    let scratch = Scratch::new();
    for index in 0..10 {
        scratch.file(format!("folder/{index}"), [b'x'; 100]);
    }
    scratch.file("folder/large", [b'y'; 2_000]);
    // The limits, how many files are saved, how many items there are, and what is said.
    let cases: [(Limits, usize, usize, &[&str]); 5] = [
        (Limits::DEFAULT, 11, 12, &[]),
        (Limits { paths: 5, ..Limits::DEFAULT }, 4, 5, &["and at least 6 more paths: more than 5"]),
        (Limits { paths: 8, ..Limits::DEFAULT }, 7, 8, &["and 4 more paths: more than 8"]),
        (Limits { file: 1_024, ..Limits::DEFAULT }, 10, 12, &["it is larger than 1 KiB"]),
        (Limits { call: 350, ..Limits::DEFAULT }, 3, 12, &["and 8 more files: more than 350 bytes in all"]),
    ];
    for (limits, files, items, expected) in cases {
        let saved = scratch.save(&[scratch.change("folder", ChangeKind::Delete)], &limits);
        let why: Vec<&str> = saved.left_out.iter().map(|one| one.why.as_str()).collect();
        assert_eq!(why, expected);
        assert_eq!(saved.items.len(), items, "{limits:?}");
        let is_saved = |item: &&Item| item.saved && matches!(item.before.kind, Kind::File { .. });
        assert_eq!(saved.items.iter().filter(is_saved).count(), files, "{limits:?}");
        let listed = saved.items[0].listed;
        assert_eq!(listed, limits.paths > 11, "a folder of which not all was looked at is not listed");
    }
}

#[test]
fn time_that_is_up_leaves_out_the_rest() {
    let scratch = Scratch::new();
    for index in 0..10 {
        scratch.file(format!("folder/{index}"), "x");
    }
    let now = Instant::now();
    let late = survey(&[scratch.change("folder", ChangeKind::Delete)], DEFAULT, now);
    assert_eq!(late.looked.len(), 1);
    assert_eq!(late.left_out.len(), 1, "{:?}", late.left_out);
    let whole = survey(&[scratch.change("folder", ChangeKind::Delete)], DEFAULT, soon());
    let (items, left_out) = whole.capture(scratch.store.objects(), Some(&[false; 10]), DEFAULT, now);
    assert_eq!(items.iter().filter(|item| item.saved).count(), 1);
    let why: Vec<&str> = left_out.iter().map(|one| one.why.as_str()).collect();
    assert_eq!(why, ["and 10 more files: it takes longer than a call waits"]);
}

#[test]
fn what_the_rules_withhold_is_not_copied() {
    let scratch = Scratch::new();
    scratch.file("folder/a", "1");
    scratch.file("folder/b", "2");
    scratch.file("folder/c", "3");
    const KEPT: &str = "rules keep it from being read";
    // The answers, what is saved, and what is said of the rest.
    type Case = (Option<&'static [bool]>, [bool; 3], &'static str);
    let cases: [Case; 4] = [
        (Some(&[false, true, false]), [true, false, true], KEPT),
        (Some(&[false]), [true, false, false], KEPT),
        (Some(&[]), [false; 3], KEPT),
        (None, [false; 3], "it is unknown whether rules keep it from being read"),
    ];
    for (withheld, expected, why) in cases {
        let survey = survey(&[scratch.change("folder", ChangeKind::Delete)], DEFAULT, soon());
        assert_eq!(survey.files(), ["a", "b", "c"].map(|name| scratch.at("folder").join(name)));
        let (items, left_out) = survey.capture(scratch.store.objects(), withheld, DEFAULT, soon());
        let saved: Vec<bool> = items[1..].iter().map(|item| item.saved).collect();
        assert_eq!(saved, expected);
        let contents = items[1..].iter().map(|item| matches!(item.before.kind, Kind::File { content: Some(_), .. }));
        assert_eq!(contents.collect::<Vec<_>>(), expected);
        assert_eq!(left_out.len(), expected.iter().filter(|saved| !**saved).count());
        assert!(left_out.iter().all(|one| one.why == why && one.path.is_some()));
    }
}

#[test]
fn nobody_is_waited_for() {
    let scratch = Scratch::new();
    scratch.folder("folder");
    pipe(&scratch.at("folder/pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(scratch.at("folder/socket")).expect("a socket");
    // The change, whether all is saved, and how many items there are.
    let cases = [
        (scratch.change("folder/pipe", ChangeKind::Write), true, 1),
        (scratch.change("folder", ChangeKind::Delete), false, 3),
        (change(Path::new("/dev/null"), ChangeKind::Write), true, 1),
        (change(Path::new("/dev/zero"), ChangeKind::Append), true, 1),
        (change(Path::new("/dev/tty"), ChangeKind::Mode), true, 1),
    ];
    for (one, all, count) in cases {
        let saved = scratch.save(std::slice::from_ref(&one), DEFAULT);
        assert_eq!(saved.items.len(), count, "{one:?}: {:?}", saved.left_out);
        assert_eq!(saved.items.iter().all(|item| item.saved), all, "{one:?}");
        assert_eq!(saved.left_out.is_empty(), all, "{one:?}: {:?}", saved.left_out);
        let after = states(&saved.items, DEFAULT, soon());
        assert!(saved.items.iter().zip(after).all(|(item, after)| item.before == after));
    }
    assert_eq!(state(&scratch.at("folder/pipe"), 10).kind, Kind::Special);
}

/// Looks, lets somebody change something, and saves.
fn swapped(scratch: &Scratch, change: &Change, swap: impl FnOnce()) -> (Vec<Item>, Vec<LeftOut>) {
    let survey = survey(std::slice::from_ref(change), DEFAULT, soon());
    let withheld = vec![false; survey.files().len()];
    swap();
    let start = Instant::now();
    let saved = survey.capture(scratch.store.objects(), Some(&withheld), DEFAULT, soon());
    assert!(start.elapsed() < Duration::from_secs(5), "nobody is waited for");
    saved
}

#[test]
fn what_is_swapped_in_meanwhile_is_not_saved() {
    type Swap = fn(&Scratch);
    let cases: [(&str, Swap); 8] = [
        ("a link in its place", |scratch| {
            std::fs::remove_file(scratch.at("folder/file")).expect("removed");
            scratch.link("folder/file", scratch.outside("secret"));
        }),
        ("a link to it", |scratch| {
            std::fs::rename(scratch.at("folder/file"), scratch.at("folder/other")).expect("moved");
            scratch.link("folder/file", "other");
        }),
        ("a link on the way", |scratch| {
            std::fs::rename(scratch.at("folder"), scratch.at("moved")).expect("moved");
            scratch.link("folder", "moved");
        }),
        ("another folder on the way", |scratch| {
            std::fs::rename(scratch.at("folder"), scratch.at("moved")).expect("moved");
            scratch.file("folder/file", "other");
        }),
        ("a pipe", |scratch| {
            std::fs::remove_file(scratch.at("folder/file")).expect("removed");
            pipe(&scratch.at("folder/file"));
        }),
        ("a folder", |scratch| {
            std::fs::remove_file(scratch.at("folder/file")).expect("removed");
            scratch.folder("folder/file");
        }),
        ("a file of the same content", |scratch| {
            std::fs::write(scratch.at("folder/new"), "content").expect("written");
            std::fs::rename(scratch.at("folder/new"), scratch.at("folder/file")).expect("moved");
        }),
        ("nothing", |scratch| std::fs::remove_file(scratch.at("folder/file")).expect("removed")),
    ];
    for (name, swap) in cases {
        let scratch = Scratch::new();
        std::fs::write(scratch.outside("secret"), "secret").expect("a file");
        scratch.file("folder/file", "content");
        let change = scratch.change("folder/file", ChangeKind::Write);
        let (items, left_out) = swapped(&scratch, &change, || swap(&scratch));
        assert_eq!((items.len(), items[0].saved, left_out.len()), (1, false, 1), "{name}: {left_out:?}");
        assert!(!scratch.store.objects().has(&crate::objects::digest(b"secret")), "{name}");
    }
}

#[test]
fn what_is_written_meanwhile_is_saved_as_it_is_then() {
    let scratch = Scratch::new();
    scratch.file("file", "before");
    let change = scratch.change("file", ChangeKind::Write);
    let (items, left_out) =
        swapped(&scratch, &change, || std::fs::write(scratch.at("file"), "a longer text").expect("written"));
    assert!(items[0].saved && left_out.is_empty(), "{left_out:?}");
    assert_eq!(items[0].before, state(&scratch.at("file"), 100));
}

#[test]
fn a_file_that_changes_all_the_time_is_saved_whole_or_not_at_all() {
    let scratch = Scratch::new();
    scratch.file("file", vec![b'a'; 3 << 20]);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            use std::os::unix::fs::FileExt;
            let file = std::fs::OpenOptions::new().write(true).open(scratch.at("file")).expect("opened");
            while !stop.load(Ordering::Relaxed) {
                for byte in [b'b', b'a'] {
                    file.write_all_at(&vec![byte; 3 << 20], 0).expect("written");
                }
            }
        });
        for _ in 0..5 {
            let saved = scratch.save(&[scratch.change("file", ChangeKind::Write)], DEFAULT);
            assert!(
                saved.items[0].saved || saved.left_out[0].why == "it changed while it was read",
                "{:?}",
                saved.left_out
            );
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_folder_that_changes_underneath_stops_nothing() {
    let scratch = Scratch::new();
    scratch.folder("folder");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (one, other) = (scratch.at("folder/one"), scratch.at("folder/other"));
            while !stop.load(Ordering::Relaxed) {
                std::fs::create_dir(&one).expect("made");
                std::fs::write(one.join("file"), "x").expect("written");
                std::fs::rename(&one, &other).expect("moved");
                std::os::unix::fs::symlink("/etc", &one).expect("a link");
                std::fs::remove_file(&one).expect("removed");
                std::fs::remove_dir_all(&other).expect("removed");
            }
        });
        for _ in 0..300 {
            let saved = scratch.save(&[scratch.change("folder", ChangeKind::Delete)], DEFAULT);
            assert!(saved.items.iter().all(|item| item.path.as_path().starts_with(scratch.at("folder"))));
            states(&saved.items, DEFAULT, soon());
            made(&saved.items, DEFAULT, soon());
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_sparse_file_is_too_large_at_once() {
    let scratch = Scratch::new();
    scratch.file("file", "");
    let file = std::fs::OpenOptions::new().write(true).open(scratch.at("file")).expect("opened");
    file.set_len(1 << 40).expect("a length");
    let start = Instant::now();
    let saved = scratch.save(&[scratch.change("file", ChangeKind::Write)], DEFAULT);
    assert_eq!(saved.left_out[0].why, "it is larger than 256 MiB");
    assert_eq!(state(&scratch.at("file"), 1 << 30).kind, Kind::File { length: 1 << 40, content: None });
    assert!(start.elapsed() < Duration::from_secs(1), "it is not read");
}

#[test]
fn what_may_not_be_read_is_said() {
    if is_root() {
        return skip("root may read everything");
    }
    let scratch = Scratch::new();
    scratch.file("folder/file", "x");
    scratch.file("folder/closed/file", "x");
    scratch.mode("folder/file", 0);
    scratch.mode("folder/closed", 0);
    let saved = scratch.save(&[scratch.change("folder", ChangeKind::Delete)], DEFAULT);
    let left_out: Vec<_> = saved.left_out.iter().map(|one| one.path.clone().expect("a path").0).collect();
    assert_eq!(left_out, [scratch.at("folder/closed"), scratch.at("folder/file")]);
    scratch.mode("folder/closed", 0o700);
}

#[test]
fn other_names_of_a_file_are_noted() {
    let scratch = Scratch::new();
    scratch.file("file", "x");
    scratch.file("alone", "x");
    std::fs::hard_link(scratch.at("file"), scratch.at("other")).expect("a name");
    let changes = ["file", "other", "alone"].map(|name| scratch.change(name, ChangeKind::Write));
    let saved = scratch.save(&changes, DEFAULT);
    let inode = |name: &str| state_at(&saved.items, &scratch.at(name)).expect("an item").inode;
    assert!(inode("file").is_some() && inode("file") == inode("other") && inode("alone").is_none());
}

#[test]
fn attributes_are_kept() {
    let scratch = Scratch::new();
    scratch.file("file", "x");
    let set = |name: &str, value: &[u8]| {
        rustix::fs::setxattr(scratch.at("file"), name, value, rustix::fs::XattrFlags::empty())
    };
    if set("user.toolgate", b"\x00\xff").is_err() {
        return skip("the file system has no extended attributes");
    }
    let saved = scratch.save(&[scratch.change("file", ChangeKind::Write)], DEFAULT);
    let expected = (crate::model::hex(b"user.toolgate"), "00ff".to_owned());
    assert!(saved.items[0].before.attributes.contains(&expected));
}

#[test]
fn many_files_are_saved_by_two() {
    let scratch = Scratch::new();
    for index in 0..2 * MANY {
        scratch.file(format!("folder/{index:04}"), format!("content {}", index / 2));
    }
    let saved = scratch.save(&[scratch.change("folder", ChangeKind::Delete)], DEFAULT);
    assert!(saved.left_out.is_empty() && saved.items.iter().all(|item| item.saved));
    assert!(saved.items.is_sorted_by_key(|item| item.path.clone()));
    let states = states(&saved.items, DEFAULT, soon());
    assert!(saved.items.iter().zip(states).all(|(item, state)| item.before == state));
}

#[test]
fn what_was_saved_before_is_not_saved_again() {
    let scratch = Scratch::new();
    scratch.file("file", "x");
    scratch.save(&[scratch.change("file", ChangeKind::Write)], DEFAULT);
    let saved = scratch.save(&[change(&scratch.outside(""), ChangeKind::Delete)], DEFAULT);
    let in_store = |item: &&Item| item.path.as_path().starts_with(scratch.store.folder());
    let files = |item: &&Item| matches!(item.before.kind, Kind::File { .. });
    assert!(saved.items.iter().filter(in_store).filter(files).all(|item| !item.saved));
    assert!(state_at(&saved.items, &scratch.at("file")).is_some());
    assert_eq!(saved.left_out.len(), 1, "{:?}", saved.left_out);
}

#[test]
fn what_a_call_made_is_told() {
    let scratch = Scratch::new();
    scratch.file("listed/old/file", "x");
    scratch.file("known/old", "x");
    scratch.file("becomes", "x");
    let changes = [
        Change { recursive: true, ..scratch.change("listed", ChangeKind::Mode) },
        scratch.change("known", ChangeKind::Mode),
        scratch.change("new/deep/file", ChangeKind::Create),
        scratch.change("becomes", ChangeKind::Write),
        scratch.change("link", ChangeKind::Create),
    ];
    let saved = scratch.save(&changes, DEFAULT);
    for path in ["listed/new", "listed/old/new", "listed/made/a/b", "known/new", "new/deep/file", "new/deep/other"] {
        scratch.file(path, "y");
    }
    std::fs::remove_file(scratch.at("becomes")).expect("removed");
    scratch.file("becomes/a", "y");
    scratch.link("link", "known");
    let made = made(&saved.items, DEFAULT, soon());
    let paths: Vec<_> =
        made.iter().map(|(path, _)| path.as_path().strip_prefix(&scratch.root).expect("below")).collect();
    let expected = [
        "becomes/a",
        "listed/made",
        "listed/made/a",
        "listed/made/a/b",
        "listed/new",
        "listed/old/new",
        "new/deep",
        "new/deep/other",
    ];
    assert_eq!(paths, expected.map(Path::new));
    assert_eq!(made[0].1, state(&scratch.at("becomes/a"), 10));
}
