//! Language servers that misbehave, played by the example `fake_language_server`.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::io::Read;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_checks::lsp::Servers;
use toolgate_checks::project::Project;
use toolgate_checks::report::{Outcome, Status};
use toolgate_test_support::cases;

const SETTLE: Duration = Duration::from_millis(50);
/// For what is answered.
const LIMIT: Duration = Duration::from_secs(30);
/// For what is not.
const SHORT: Duration = Duration::from_millis(300);

/// A project whose own servers for Python and TypeScript are the fake.
struct Scratch {
    _folder: tempfile::TempDir,
    root: PathBuf,
    servers: Servers,
}

fn fake() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let fake = test.ancestors().nth(2).unwrap().join("examples/fake_language_server");
    assert!(fake.exists(), "build it first: cargo build --release -p toolgate-checks --examples");
    fake
}

impl Scratch {
    fn new(script: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let bin = root.join("node_modules/.bin");
        std::fs::create_dir_all(&bin).unwrap();
        symlink(fake(), bin.join("basedpyright-langserver")).unwrap();
        symlink(fake(), bin.join("typescript-language-server")).unwrap();
        let servers = Servers::new(Project { root: root.clone(), trusted: true });
        let scratch = Scratch { _folder: folder, root, servers };
        scratch.write("fake.json", &script.to_string());
        scratch.write("a.py", "x\n");
        scratch
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.root.join(file), text).unwrap();
    }

    async fn check(&self, limit: Duration) -> Outcome {
        self.servers.check(&[self.root.join("a.py")], SETTLE, limit).await
    }

    /// What the fake was told.
    fn log(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.root.join("fake.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    fn count(&self, line: &str) -> usize {
        self.log().iter().filter(|logged| *logged == line).count()
    }
}

/// An outcome on one line: its status, the problems' messages, the notes.
fn said(scratch: &Scratch, outcome: &Outcome) -> String {
    let problems = outcome.problems.iter().map(|problem| problem.message.as_str());
    let notes = outcome.notes.iter().map(|note| note.replace(scratch.root.to_str().unwrap(), ""));
    let parts: Vec<String> = problems.map(str::to_owned).chain(notes).collect();
    format!("{:?} {}", outcome.status, parts.join("; ")).trim_end().to_owned()
}

/// Capabilities of a server that publishes, and of one that is asked.
fn publishes() -> Value {
    json!({ "textDocumentSync": { "openClose": true, "change": 1, "save": true } })
}

fn is_asked() -> Value {
    let provider = json!({ "interFileDependencies": true, "workspaceDiagnostics": false });
    json!({ "textDocumentSync": 1, "diagnosticProvider": provider })
}

/// A case of `cases/lsp.jsonl`: what a server does and what is said of it then.
#[derive(serde::Deserialize)]
struct Case {
    name: String,
    server: String,
    script: Value,
    /// Whether no answer is expected, so that waiting for long makes no sense.
    short: bool,
    says: String,
}

#[test]
fn one_file_once() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    cases!("cases/lsp.jsonl").each(|line| {
        runtime.block_on(async {
            let mut case: Case = serde_json::from_str(line).unwrap();
            case.script["capabilities"] = match case.server.as_str() {
                "publishes" => publishes(),
                "is asked" => is_asked(),
                _ => json!(7),
            };
            let scratch = Scratch::new(&case.script);
            let outcome = scratch.check(if case.short { SHORT } else { LIMIT }).await;
            assert_eq!(said(&scratch, &outcome), case.says, "{}", case.name);
            assert!(outcome.files <= 1, "{}", case.name);
            scratch.servers.stop().await;
        });
    });
}

#[tokio::test]
async fn typescript() {
    let command =
        json!({ "textDocumentSync": 1, "executeCommandProvider": { "commands": ["typescript.tsserverRequest"] } });
    let body = json!([{ "start": { "line": 1, "offset": 1 }, "text": "bad", "code": 1, "category": "error" }]);
    let answers = |result: Value| json!([{ "result": result }]);
    let name = "typescript-language-server";
    let cases = [
        (&command, "command", answers(json!({ "success": true, "body": [] })), "Clean".into()),
        (&command, "command", answers(json!({ "success": true, "body": body })), "Issues bad".into()),
        (
            &command,
            "command",
            answers(json!({ "success": false })),
            format!("Error {name} gave an invalid answer (a.ts)"),
        ),
        (&command, "command", json!([{ "refuse": 1 }]), format!("Error {name} says: no (a.ts)")),
        (&publishes(), "open", json!([{ "publish": "bad" }]), "Issues bad".into()),
        (
            &publishes(),
            "open",
            json!([{ "publish": null }]),
            format!("Error {name} is too old to report that a file is clean (a.ts)"),
        ),
    ];
    for (capabilities, event, steps, expected) in cases {
        let scratch = Scratch::new(&json!({ "capabilities": capabilities, event: steps }));
        scratch.write("a.ts", "x\n");
        let outcome = scratch.servers.check(&[scratch.root.join("a.ts")], SETTLE, LIMIT).await;
        assert_eq!(said(&scratch, &outcome), expected);
    }
}

#[tokio::test]
async fn a_server_is_reused_and_told_what_changed() {
    let publish = json!([{ "publish": null, "version": 0 }]);
    let scratch = Scratch::new(&json!({ "capabilities": publishes(), "open": publish, "change": publish }));
    for _ in 0..2 {
        assert_eq!(scratch.check(LIMIT).await.status, Status::Clean);
    }
    scratch.write("a.py", "y\n");
    assert_eq!(scratch.check(LIMIT).await.status, Status::Clean);
    let running = format!("pyright in {}", scratch.root.display());
    assert_eq!(scratch.servers.running(), [running]);
    std::fs::remove_file(scratch.root.join("a.py")).unwrap();
    let gone = scratch.check(LIMIT).await;
    assert_eq!((gone.status, gone.files), (Status::Skipped, 0));
    scratch.servers.stop().await;
    assert_eq!(scratch.servers.running(), Vec::<String>::new());
    let log = scratch.log();
    let expected = [
        "started",
        "initialize",
        "initialized",
        "workspace/didChangeWatchedFiles 2",
        "textDocument/didOpen",
        "textDocument/didSave",
        // A server that publishes says something only about a new version.
        "textDocument/didChange",
        "workspace/didChangeWatchedFiles 2",
        "textDocument/didChange",
        "textDocument/didSave",
        "workspace/didChangeWatchedFiles 3",
        "textDocument/didClose",
        "shutdown",
        "exit",
    ];
    assert_eq!(log, expected);
}

/// A step that asks the client something.
fn ask(id: u32, method: &str, params: Value) -> Value {
    json!({ "send": { "jsonrpc": "2.0", "id": id, "method": method, "params": params } })
}

#[tokio::test]
async fn what_a_server_asks_is_answered() {
    let asks = json!([
        ask(1, "workspace/configuration", json!({ "items": [{ "section": "python" }, {}] })),
        ask(2, "client/registerCapability", json!({ "registrations": [] })),
        ask(3, "window/workDoneProgress/create", json!({ "token": 1 })),
        ask(4, "workspace/applyEdit", json!({})),
        ask(5, "who/knows", json!({})),
        ask(6, "workspace/configuration", json!(7)),
    ]);
    let scratch =
        Scratch::new(&json!({ "capabilities": is_asked(), "initialized": asks, "pull": [{ "answer": null }] }));
    assert_eq!(scratch.check(LIMIT).await.status, Status::Clean);
    scratch.servers.stop().await;
    let answers: Vec<String> = scratch.log().into_iter().filter(|line| line.starts_with("answer")).collect();
    let expected = [
        "answer 1 [null,null]",
        "answer 2 null",
        "answer 3 null",
        "answer 4 {\"applied\":false}",
        "answer 5 -32601",
        "answer 6 -32601",
    ];
    assert_eq!(answers, expected);
}

#[tokio::test]
async fn a_server_that_crashes_is_started_again_but_not_for_ever() {
    let scratch = Scratch::new(&json!({ "capabilities": publishes(), "open": [{ "die": "oh no" }] }));
    for start in 1..=3 {
        assert_eq!(said(&scratch, &scratch.check(LIMIT).await), "Error pyright ended: oh no");
        assert_eq!(scratch.count("started"), start);
    }
    let left = "Error pyright crashed or stopped 3 times in 60 s; not restarting for now";
    assert_eq!(said(&scratch, &scratch.check(LIMIT).await), left);
    assert_eq!(scratch.count("started"), 3);
}

#[tokio::test]
async fn idle_servers_are_ended_and_come_back() {
    let publish = json!([{ "publish": null, "version": 0 }]);
    let scratch = Scratch::new(&json!({ "capabilities": publishes(), "open": publish, "change": publish }));
    scratch.check(LIMIT).await;
    scratch.servers.stop_idle(LIMIT * 100).await;
    assert_eq!(scratch.count("exit"), 0);
    scratch.servers.stop_idle(Duration::ZERO).await;
    assert_eq!(scratch.count("exit"), 1);
    assert_eq!(scratch.servers.running(), Vec::<String>::new());
    assert_eq!(scratch.check(LIMIT).await.status, Status::Clean);
    assert_eq!(scratch.count("started"), 2);
}

#[tokio::test]
async fn nothing_is_left_of_a_server() {
    let publish = json!([{ "fork": 1 }, { "publish": null, "version": 0 }]);
    for shutdown in [json!([{ "hang": 1 }]), json!([{ "die": "" }]), Value::Null] {
        let mut script = json!({ "capabilities": publishes(), "open": publish });
        if !shutdown.is_null() {
            script["shutdown"] = shutdown;
        }
        let scratch = Scratch::new(&script);
        let listener = UnixListener::bind(scratch.root.join("fake.sock")).unwrap();
        assert_eq!(scratch.check(LIMIT).await.status, Status::Clean);
        let (mut child, _) = listener.accept().unwrap();
        scratch.servers.stop().await;
        let mut heard = Vec::new();
        // Ends only when the child is gone, one way or another.
        let _ = child.read_to_end(&mut heard);
        assert_eq!(heard, b"here");
    }
}

#[tokio::test]
async fn several_at_once() {
    let publish = json!([{ "publish": "bad", "version": 0 }]);
    let scratch = Scratch::new(&json!({ "capabilities": publishes(), "open": publish, "change": publish }));
    scratch.write("b.py", "");
    let files = [[scratch.root.join("a.py")], [scratch.root.join("b.py")]];
    let check = |file: usize| scratch.servers.check(&files[file % 2], SETTLE, LIMIT);
    let outcomes = tokio::join!(check(0), check(1), check(2), check(3), check(4));
    for (at, outcome) in [outcomes.0, outcomes.1, outcomes.2, outcomes.3, outcomes.4].iter().enumerate() {
        let named: Vec<_> = outcome.problems.iter().map(|problem| &problem.file).collect();
        assert_eq!(named, [&files[at % 2][0]]);
    }
    assert_eq!(scratch.count("started"), 1);
}

#[tokio::test]
async fn a_slow_start_is_not_lost() {
    let publish = json!([{ "publish": null, "version": 0 }]);
    let scratch = Scratch::new(&json!({ "capabilities": publishes(), "open": publish, "change": publish }));
    let note = "Error pyright did not finish 1 file(s) in 0 ms";
    let outcome = scratch.servers.check(&[scratch.root.join("a.py")], Duration::ZERO, Duration::ZERO).await;
    assert_eq!(said(&scratch, &outcome), note);
    assert_eq!(scratch.check(LIMIT).await.status, Status::Clean);
    assert_eq!(scratch.count("started"), 1);
}

/// What an open document may have become, and what is said if it is asked for.
#[tokio::test]
async fn what_is_no_document_any_more_is_closed() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    type Make<'a> = &'a dyn Fn(&Path);
    let publish = json!([{ "publish": null, "version": 0 }]);
    let fifo = |at: &Path| mknodat(CWD, at, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let zero = |at: &Path| symlink("/dev/zero", at).unwrap();
    let outside = |at: &Path| symlink("/etc/passwd", at).unwrap();
    let large = |at: &Path| std::fs::File::create(at).unwrap().set_len((4 << 20) + 1).unwrap();
    let binary = |at: &Path| std::fs::write(at, b"\xff").unwrap();
    let cases: [(Make<'_>, &str); 5] = [
        (&fifo, "it is not a regular file"),
        (&zero, "it leads out of the project"),
        (&outside, "it leads out of the project"),
        (&large, "it is larger than 4 MiB"),
        (&binary, "it is not UTF-8"),
    ];
    for (make, why) in cases {
        let scratch = Scratch::new(&json!({ "capabilities": publishes(), "open": publish, "change": publish }));
        scratch.write("b.py", "");
        assert_eq!(scratch.check(LIMIT).await.status, Status::Clean);
        std::fs::remove_file(scratch.root.join("a.py")).unwrap();
        make(&scratch.root.join("a.py"));
        let other = scratch.servers.check(&[scratch.root.join("b.py")], SETTLE, LIMIT).await;
        assert_eq!((other.status, other.notes), (Status::Clean, Vec::new()), "{why}");
        assert_eq!(said(&scratch, &scratch.check(LIMIT).await), format!("Skipped pyright did not get a.py: {why}"));
        scratch.servers.stop().await;
        assert_eq!(scratch.count("textDocument/didClose"), 1, "{why}");
    }
}

#[tokio::test]
async fn many_files_at_once() {
    let scratch = Scratch::new(&json!({ "capabilities": is_asked(), "pull": [{ "answer": null }] }));
    let names: Vec<String> = (0..200).map(|number| format!("f{number}.py")).collect();
    for name in &names {
        scratch.write(name, "x\n");
    }
    let files: Vec<PathBuf> = names.iter().map(|name| scratch.root.join(name)).collect();
    for _ in 0..2 {
        let outcome = scratch.servers.check(&files, SETTLE, LIMIT).await;
        assert_eq!((outcome.status, outcome.files, outcome.notes), (Status::Clean, 200, Vec::new()));
    }
    assert_eq!(scratch.count("started"), 1);
    // All together may be too much: those that are left out are named.
    for name in &names {
        scratch.write(name, &"x".repeat(200 << 10));
    }
    let outcome = scratch.servers.check(&files, SETTLE, LIMIT).await;
    assert_eq!((outcome.status, outcome.files, outcome.notes.len()), (Status::Clean, 122, 78));
    let why = "all files together are too large";
    assert!(outcome.notes.iter().all(|note| note.ends_with(why)), "{:?}", outcome.notes);
}

#[tokio::test]
async fn files_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let none = "node_modules/.bin/none";
    let cases = [
        (true, "a.txt", None),
        (true, "Makefile", None),
        (false, "a.ts", Some("typescript-language-server: not trusted: run \"toolgate lens trust\"")),
        (false, "a.rs", Some("rust-analyzer: not trusted: run \"toolgate lens trust\"")),
        (false, "a.yaml", Some("yaml-language-server: not trusted: run \"toolgate lens trust\"")),
    ];
    for (trusted, file, note) in cases {
        let servers = Servers::new(Project { root: root.join(none), trusted });
        let outcome = servers.check(&[root.join(none).join(file)], SETTLE, LIMIT).await;
        let notes: Vec<String> = note.map(str::to_owned).into_iter().collect();
        assert_eq!((outcome.status, outcome.notes), (Status::Skipped, notes));
    }
    let servers = Servers::new(Project { root, trusted: true });
    assert_eq!(servers.check(&[], SETTLE, LIMIT).await, Outcome::default());
}

#[tokio::test]
async fn a_project_that_is_not_trusted_does_not_bring_its_server() {
    let scratch = Scratch::new(&json!({ "start": [] }));
    let servers = Servers::new(Project { root: scratch.root.clone(), trusted: false });
    servers.check(&[scratch.root.join("a.py")], SETTLE, SHORT).await;
    servers.stop().await;
    assert_eq!(scratch.log(), Vec::<String>::new());
}

/// Servers of the user's, each with the file it checks and what it says of it.
const USERS: [(&str, &str, Option<&str>); 3] = [
    ("pyright-langserver", "a.py", None),
    ("gopls", "a.go", Some("No packages found for open file /a.go.")),
    ("clangd", "a.c", None),
];

/// What the user's servers were started with, and what the daemon said.
fn users_servers(trusted: bool) -> (crate::common::Scratch, Vec<String>, Value) {
    let scratch = crate::common::Scratch::new();
    if trusted {
        scratch.trust();
    }
    let mut folders = Vec::new();
    for (name, file, says) in USERS {
        let script = json!({ "capabilities": is_asked(), "pull": [{ "answer": says }] });
        scratch.write(&format!("servers/{name}/fake.json"), &script.to_string());
        scratch.write(&format!("project/{file}"), "");
        folders.push(scratch.at(&format!("servers/{name}")));
        // In a trusted project the other pyright comes first, if there is one.
        for program in [name, "basedpyright-langserver"] {
            symlink(fake(), scratch.at(&format!("servers/{name}/{program}"))).unwrap();
        }
    }
    let config = json!({ "prettier": false, "linters": false, "lsp": true, "tsc": false });
    let files = USERS.map(|(_, file, _)| file);
    let daemon = scratch.start_with(&folders);
    let result = daemon.connect().ask("fullCheck", &json!({ "files": files, "config": config }));
    let log = |folder: &PathBuf| std::fs::read_to_string(folder.join("fake.log")).unwrap();
    let start = |log: String| log.lines().nth(1).unwrap().to_owned();
    let starts = folders.iter().map(log).map(start).collect();
    (scratch, starts, result)
}

#[test]
fn the_users_servers_find_nothing_of_an_untrusted_project() {
    let (scratch, starts, result) = users_servers(false);
    let clangd = starts[2].rsplit_once("--compile-commands-dir=").unwrap();
    let expected = ["in / --stdio", "in / ", "in / --background-index=false --log=error "];
    assert_eq!([&*starts[0], &*starts[1], clangd.0], expected);
    let empty = PathBuf::from(clangd.1.strip_suffix(" --enable-config=false").unwrap());
    assert!(empty.starts_with(scratch.at("cache")) && std::fs::read_dir(&empty).unwrap().next().is_none());
    // What it cannot see because of that is no problem of the file's.
    let details = &result["details"];
    let note = "gopls did not check a.go: not trusted: files with cgo are not part of the build";
    assert_eq!((&details["statuses"]["lsp"], &details["notes"]), (&json!("clean"), &json!([note])), "{result:#}");
}

#[test]
fn they_work_in_a_trusted_one() {
    let (scratch, starts, result) = users_servers(true);
    let here = scratch.at("project").display().to_string();
    let expected = ["--stdio", "", "--background-index=false --log=error"].map(|more| format!("in {here} {more}"));
    assert_eq!(starts, expected);
    assert_eq!(result["details"]["statuses"]["lsp"], "issues", "{result:#}");
}
