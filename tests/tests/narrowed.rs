//! A component whose `files` are narrowed to a folder reaches nothing outside it: not through `..`, not through links, and
//! not through a link that is turned round while it asks.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use toolgate_host::capability::LocalFiles;
use toolgate_host::{Capabilities, Capability, Decision, Engine, Gate, Granted, Session, ToolCall};
use toolgate_tests::test_guest;

const SECRET: &str = "echo what nobody may see";

/// `in` is granted, `out` is not.
fn scratch() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| scratch.path().join(name);
    for folder in ["in/sub", "out", "in-as-well"] {
        std::fs::create_dir_all(at(folder)).expect("a folder");
    }
    for (file, text) in [("in/script", "echo ok"), ("out/script", SECRET), ("in-as-well/script", SECRET)] {
        std::fs::write(at(file), text).expect("a file");
    }
    for (to, link) in [
        ("../out", "in/folder"),
        ("../out/script", "in/link"),
        ("link", "in/twice"),
        ("/", "in/root"),
        ("sub/../../out", "in/up"),
    ] {
        symlink(to, at(link)).expect("a link");
    }
    scratch
}

fn gate(engine: &Engine, folder: &Path) -> Gate {
    let granted = Granted::to(Capability::ALL).within(vec![folder.canonicalize().expect("a folder")]);
    let capabilities = Capabilities::denied().files(LocalFiles::new()).limited_to(&granted);
    Gate::new(test_guest(engine), Session::in_folder("/"), capabilities)
}

async fn asked(gate: &Gate, what: &str) -> String {
    match gate.judge(&ToolCall::shell(what, "/")).await.decision {
        Decision::Ask(answer) => answer,
        other => panic!("{what}: {other:?}"),
    }
}

#[tokio::test]
async fn nothing_outside_is_reached() {
    let scratch = scratch();
    let root = scratch.path().canonicalize().expect("a folder");
    let gate = gate(&Engine::new().expect("an engine"), &root.join("in"));
    let inside = root.join("in/script");
    assert_eq!(asked(&gate, &format!("script {}", inside.display())).await, r#"Ok("echo ok")"#);
    assert!(asked(&gate, &format!("stat {}", inside.display())).await.contains("File"));
    let outside = root.join("out/script");
    for path in [
        "in/../out/script",
        "in/sub/../../out/script",
        "in/./../out/script",
        "in/missing/../../out/script",
        "in/folder/script",
        "in/link",
        "in/twice",
        "in/up/script",
        "in/folder/../out/script",
        "in-as-well/script",
        "out/script",
        "out",
    ] {
        let path = root.join(path).display().to_string();
        let answer = asked(&gate, &format!("script {path}")).await;
        assert!(answer.starts_with("Err(") && !answer.contains(SECRET), "script {path}: {answer}");
        let answer = asked(&gate, &format!("resolve {path}")).await;
        let told = answer.contains(&outside.display().to_string()) && !path.contains(&outside.display().to_string());
        assert!(!told, "resolve {path}: {answer}");
    }
    // What a link outside leads to is not told either, nor whether it is there.
    for path in ["in/root/etc/passwd", "in/folder/script", "in/folder/nothing", "out/script", "out/nothing"] {
        let answer = asked(&gate, &format!("stat {}", root.join(path).display())).await;
        assert!(!answer.contains("size"), "stat {path}: {answer}");
    }
}

/// Questions that are asked while the link is turned round.
const ASKED: usize = 400;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_is_turned_round_meanwhile_opens_nothing() {
    let scratch = scratch();
    let root = scratch.path().canonicalize().expect("a folder");
    let gate = gate(&Engine::new().expect("an engine"), &root.join("in"));
    std::fs::write(root.join("in/sub/script"), "echo ok").expect("a file");
    let over = Arc::new(AtomicBool::new(false));
    let turning = std::thread::spawn({
        let (root, over) = (root.clone(), Arc::clone(&over));
        move || {
            for target in ["sub", "../out"].iter().cycle() {
                symlink(target, root.join("in/next")).expect("a link");
                std::fs::rename(root.join("in/next"), root.join("in/turned")).expect("renamed");
                if over.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    });
    let path = root.join("in/turned/script").display().to_string();
    let (mut read, mut refused) = (0, 0);
    while read + refused < ASKED || read == 0 || refused == 0 {
        let answer = asked(&gate, &format!("script {path}")).await;
        assert!(!answer.contains(SECRET), "{answer}");
        match answer.starts_with("Ok") {
            true => read += 1,
            false => refused += 1,
        }
        let answer = asked(&gate, &format!("resolve {path}")).await;
        assert!(!answer.contains("/out/"), "{answer}");
    }
    over.store(true, Ordering::Relaxed);
    turning.join().expect("no panic");
}
