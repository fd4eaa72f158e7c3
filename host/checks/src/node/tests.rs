//! The process as such: a made-up `ESLint` does what the checked file says, so that every file is an attack. The real
//! tools are in `real.rs`.

mod real;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use toolgate_test_support::skip::{missing, skip};

use super::process::Process;
use super::{Tool, Worker, keeps};
use crate::project::Project;
use crate::report::{Outcome, Severity, Status};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_secs(2);

/// Evaluates what it is to lint. `found` makes results from messages.
const FAKE: &str = r#"
const fs = require('node:fs');
const state = require('../../state.cjs');
class ESLint {
  isPathIgnored() { return false; }
  calculateConfigForFile() { return {}; }
  async lintFiles([filePath]) {
    const found = (...messages) => [{ filePath, messages }];
    return eval(fs.readFileSync(filePath, 'utf8'));
  }
}
module.exports = { loadESLint: async () => ESLint };
"#;

struct Scratch {
    _folder: TempDir,
    worker: Worker,
}

impl Scratch {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let worker = Worker { code: |_| None, ..Worker::new(Project { root, trusted: true }) };
        let scratch = Scratch { _folder: folder, worker };
        for (name, text) in files {
            scratch.write(name, text);
        }
        scratch
    }

    fn fake() -> Self {
        Scratch::new(&[
            ("node_modules/eslint/package.json", r#"{ "version": "9.0.0", "main": "index.js" }"#),
            ("node_modules/eslint/index.js", FAKE),
            ("eslint.config.js", ""),
            ("state.cjs", "module.exports = 'old';"),
            ("clean.js", "found()"),
            ("pid.js", "found({ message: process.pid })"),
            ("state.js", "found({ message: state })"),
        ])
    }

    fn path(&self, name: &str) -> PathBuf {
        self.worker.project.root.join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn start(&self) -> Process {
        let node = self.worker.project.on_path("node").unwrap();
        self.start_by(&node, None)
    }

    fn start_by(&self, node: &Path, code: Option<PathBuf>) -> Process {
        let project = &self.worker.project;
        Process::start(project, node, Tool::Eslint.script(), &project.root, code).unwrap()
    }

    async fn eslint(&self, name: &str) -> Outcome {
        self.worker.eslint(&[self.path(name)], LONG).await
    }

    async fn message(&self, name: &str) -> String {
        let outcome = self.eslint(name).await;
        outcome.problems.first().unwrap_or_else(|| panic!("{outcome:?}")).message.clone()
    }
}

#[track_caller]
fn has_node() -> bool {
    let found = Project { root: PathBuf::from("/nonexistent"), trusted: true }.on_path("node").is_some();
    if !found {
        missing("node", "there is no node on the PATH");
    }
    found
}

/// What the file does, the status that follows, and a part of the note.
const ATTACKS: &[(&str, Status, &str)] = &[
    ("found()", Status::Clean, ""),
    ("for (;;);", Status::Error, "took longer than 2000 ms"),
    ("new Promise(() => {})", Status::Error, "took longer than 2000 ms"),
    ("require('node:child_process').spawnSync('sleep', ['1000'])", Status::Error, "took longer than 2000 ms"),
    ("process.exit(0)", Status::Error, "ended early (exit status: 0)"),
    ("console.error('out of luck'); process.exit(3)", Status::Error, "(exit status: 3): out of luck"),
    ("process.kill(process.pid, 'SIGKILL')", Status::Error, "ended early (signal: 9"),
    ("Promise.reject(new Error('stray')); new Promise(() => {})", Status::Error, "stray"),
    ("setTimeout(() => { throw new Error('late') }); new Promise(() => {})", Status::Error, "late"),
    ("throw new Error('boom')", Status::Error, "eslint failed: boom"),
    ("throw null", Status::Error, "eslint failed: null"),
    ("(function deep() { deep() })()", Status::Error, "call stack"),
    ("undefined", Status::Error, "eslint failed: "),
    ("[{}]", Status::Error, "eslint failed: "),
    ("console.log('x'.repeat(1e7)); found()", Status::Clean, ""),
    ("console.error('x'.repeat(1e7)); found()", Status::Clean, ""),
    ("console.log('{\"id\":1}\\n{\"id\":2}'); found()", Status::Clean, ""),
    ("process.stdout.end(); process.stderr.end(); found()", Status::Clean, ""),
    ("process.stdin.resume(); found()", Status::Clean, ""),
    ("fs.writeSync(0, '{\"id\":77}\\n\\0\\n{\\n[]\\nnull\\n\\n\"half'); found()", Status::Clean, ""),
    ("for (;;) try { fs.writeSync(0, 'x'.repeat(1 << 20)) } catch {}", Status::Error, "more than 33554432 bytes"),
    ("process.chdir('/'); found()", Status::Clean, ""),
    ("JSON.stringify = () => 'x'; found()", Status::Error, "took longer than 2000 ms"),
    ("found(...Array(5000).fill({ message: 'm' }))", Status::Issues, "4000 more problems are not shown"),
    ("found({ message: 'x'.repeat(1e8), ruleId: 'x'.repeat(1e8) })", Status::Issues, ""),
    ("found({ line: -1, column: 1.5, severity: {}, message: [], ruleId: 7 }, { line: 1e300 })", Status::Issues, ""),
];

#[tokio::test]
async fn whatever_a_plugin_does_is_a_status_and_the_next_check_works() {
    if !has_node() {
        return;
    }
    let scratch = Scratch::fake();
    for (text, status, note) in ATTACKS {
        let file = scratch.write("attack.js", text);
        let limit = if note.starts_with("took longer") { SHORT } else { LONG };
        let outcome = scratch.worker.eslint(&[file], limit).await;
        assert_eq!(outcome.status, *status, "{text}: {:?}", outcome.notes);
        assert!(outcome.notes.iter().any(|found| found.contains(note)) || note.is_empty(), "{text}: {outcome:?}");
        assert!(outcome.problems.len() <= 1000, "{text}");
        assert!(outcome.problems.iter().all(|found| found.message.len() <= 2003 && found.line == 0), "{text}");
        let outcome = scratch.eslint("clean.js").await;
        assert_eq!(outcome.status, Status::Clean, "after {text}: {:?}", outcome.notes);
    }
}

#[tokio::test]
async fn what_it_started_ends_with_it() {
    if !has_node() {
        return;
    }
    let scratch = Scratch::fake();
    let file = scratch.write(
        "fork.js",
        r"const { pid } = require('node:child_process').spawn('sleep', ['1000'], { stdio: 'ignore' });
         fs.writeFileSync(__filename + '.pid', String(pid)); for (;;);"
            .replace("__filename", "filePath")
            .as_str(),
    );
    let outcome = scratch.worker.eslint(&[file], SHORT).await;
    assert_eq!(outcome.status, Status::Error);
    let pid = std::fs::read_to_string(scratch.path("fork.js.pid")).unwrap();
    assert!(gone(&pid).await, "{pid} still runs");
}

/// Whether a process is gone within five seconds, or nothing but its exit status is left.
async fn gone(pid: &str) -> bool {
    let stat = PathBuf::from(format!("/proc/{pid}/stat"));
    let over = || std::fs::read_to_string(&stat).map_or(true, |text| text.contains(") Z "));
    let wait = async {
        while !over() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), wait).await.is_ok()
}

#[tokio::test]
async fn it_ends_when_nobody_can_ask_any_more() {
    use tokio::io::AsyncWriteExt;
    if !has_node() {
        return;
    }
    let scratch = Scratch::fake();
    let mut process = scratch.start();
    let clean = scratch.path("clean.js");
    process.ask(&[clean.to_str().unwrap()]).await.unwrap();
    process.requests.shutdown().await.unwrap();
    let status = tokio::time::timeout(LONG, process.group.child.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn it_ends_with_the_daemon_even_in_a_loop() {
    use tokio::io::AsyncWriteExt;
    if !has_node() {
        return;
    }
    let scratch = Scratch::fake();
    let mut process = scratch.start();
    let file = scratch.write("loop.js", "fs.writeFileSync(`${filePath}.begun`, ''); for (;;);");
    let request = serde_json::json!({ "id": 1, "files": [file] });
    process.requests.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    let begun = async {
        while !scratch.path("loop.js.begun").exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, begun).await.unwrap();
    // What the system does with it when the daemon is killed.
    drop(process.group.watch.as_mut().and_then(|watch| watch.stdin.take()));
    let status = tokio::time::timeout(LONG, process.group.child.wait()).await.unwrap().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "{status}");
}

/// A Node that keeps compiled code: the one that `TOOLGATE_NEW_NODE` names, else the user's.
fn keeping_node() -> Option<PathBuf> {
    let named = std::env::var_os("TOOLGATE_NEW_NODE").filter(|path| !path.is_empty()).map(PathBuf::from);
    let node = named.or_else(|| Project { root: PathBuf::from("/nonexistent"), trusted: true }.on_path("node"))?;
    let asked = std::process::Command::new(&node).args(["-p", "typeof require('module').flushCompileCache"]).output();
    let keeps = asked.is_ok_and(|said| said.stdout == b"function\n");
    if !keeps {
        skip(format!("{} keeps no compiled code", node.display()));
    }
    Some(node).filter(|_| keeps)
}

#[tokio::test]
async fn code_is_kept_compiled_for_the_next_process() {
    let Some(node) = keeping_node() else { return };
    let scratch = Scratch::fake();
    let kept = scratch.path("kept");
    let found = scratch.write("found.js", "found({ message: state })");
    let files = || walk(&kept).len();
    let mut counts = Vec::new();
    for _ in 0..2 {
        let mut process = scratch.start_by(&node, Some(kept.clone()));
        let first = process.ask(&[found.to_str().unwrap()]).await.unwrap();
        assert_eq!(first.outcome(Tool::Eslint).problems.first().unwrap().message, "old");
        // It is written after an answer, and before the next one.
        process.ask(&[found.to_str().unwrap()]).await.unwrap();
        counts.push(files());
    }
    assert!(matches!(counts.as_slice(), [first, second] if *first > 0 && first == second), "{counts:?}");
}

/// The files below a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn one_process_serves_until_something_it_loaded_changes() {
    if !has_node() {
        return;
    }
    let scratch = Scratch::fake();
    let pid = settled(&scratch).await;
    assert_eq!(pid, scratch.message("pid.js").await);
    scratch.write("package.json", "{}");
    assert_ne!(pid, scratch.message("pid.js").await, "a configuration file that was not there");
    let pid = settled(&scratch).await;
    assert_eq!(scratch.message("state.js").await, "old");
    scratch.write("state.cjs", "module.exports = 'new';");
    assert_eq!(scratch.message("state.js").await, "new", "a module of the project");
    assert_ne!(pid, settled(&scratch).await);
    let pid = settled(&scratch).await;
    scratch.write("node_modules/.package-lock.json", "{}");
    assert_ne!(pid, scratch.message("pid.js").await, "installed packages");
    let pid = settled(&scratch).await;
    scratch.worker.stop().await;
    assert_ne!(pid, scratch.message("pid.js").await, "stopped");
}

/// The process that serves once nothing is so new any more that it might have been loaded half changed.
async fn settled(scratch: &Scratch) -> String {
    let mut last = scratch.message("pid.js").await;
    for _ in 0..10 {
        let next = scratch.message("pid.js").await;
        if next == last {
            return next;
        }
        last = next;
    }
    panic!("every check starts a process");
}

#[tokio::test]
async fn what_was_warmed_up_waits_for_the_first_check() {
    if !has_node() {
        return;
    }
    let mut scratch = Scratch::fake();
    let waits = async |scratch: &Scratch| {
        let slot = scratch.worker.slot(Tool::Eslint, &scratch.worker.project.root);
        slot.process.lock().await.is_some()
    };
    scratch.worker.project.trusted = false;
    scratch.worker.warm(LONG).await;
    assert!(!waits(&scratch).await);
    scratch.worker.project.trusted = true;
    scratch.worker.warm(LONG).await;
    assert!(waits(&scratch).await);
    scratch.write("node_modules/eslint/index.js", "for (;;);");
    scratch.worker.stop().await;
    scratch.worker.warm(SHORT).await;
    assert!(!waits(&scratch).await);
}

#[tokio::test]
async fn a_check_that_comes_while_it_loads_does_not_wait_for_that() {
    if !has_node() {
        return;
    }
    let scratch = Scratch::fake();
    // What is read beforehand never comes to an end.
    let endless = "calculateConfigForFile(file) { return file.endsWith('index.ts') ? new Promise(() => {}) : {}; }";
    scratch.write("node_modules/eslint/index.js", &FAKE.replace("calculateConfigForFile() { return {}; }", endless));
    // What is loaded right after it was written is loaded again.
    settled(&scratch).await;
    scratch.worker.stop().await;
    let ((), pid) = tokio::join!(scratch.worker.warm(LONG), scratch.message("pid.js"));
    assert_eq!(scratch.message("pid.js").await, pid, "what was started is what is kept");
}

#[tokio::test]
async fn one_that_grew_too_large_serves_no_more() {
    if !has_node() {
        return;
    }
    let scratch = Scratch::fake();
    let pid = settled(&scratch).await;
    scratch.write("grow.js", "process.memoryUsage.rss = () => 2e9; found()");
    assert_eq!(scratch.eslint("grow.js").await.status, Status::Clean);
    assert_ne!(pid, scratch.message("pid.js").await);
}

#[tokio::test]
async fn one_that_ended_between_two_checks_is_replaced() {
    if !has_node() {
        return;
    }
    let scratch = Scratch::fake();
    let pid = settled(&scratch).await;
    let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert_eq!(scratch.eslint("clean.js").await.status, Status::Clean);
}

#[tokio::test]
async fn many_at_once_are_all_answered() {
    if !has_node() {
        return;
    }
    let scratch = std::sync::Arc::new(Scratch::fake());
    let all: Vec<_> = (0..10)
        .map(|_| {
            let scratch = std::sync::Arc::clone(&scratch);
            tokio::spawn(async move { (scratch.eslint("clean.js").await, scratch.message("state.js").await) })
        })
        .collect();
    for one in all {
        let (outcome, message) = one.await.unwrap();
        assert_eq!((outcome.status, message.as_str()), (Status::Clean, "old"));
    }
}

#[tokio::test]
async fn names_of_all_kinds_are_checked() {
    if !has_node() {
        return;
    }
    let scratch = Scratch::fake();
    for name in ["[id].js", "with space.js", "new\nline.js", "!not.js", "*.js", "--fix.js", "ü/日.js"] {
        let file = scratch.write(name, "found({ message: filePath, line: 1, column: 2, ruleId: 'r', severity: 2 })");
        let outcome = scratch.eslint(name).await;
        let problem = outcome.problems.first().unwrap();
        assert_eq!((&problem.file, problem.message.as_str()), (&file, file.to_str().unwrap()));
        let place = (problem.line, problem.column, problem.severity, problem.rule.as_deref());
        assert_eq!(place, (1, 2, Severity::Error, Some("r")));
    }
}

#[tokio::test]
async fn without_tool_trust_or_file_nothing_runs() {
    let mut scratch = Scratch::fake();
    let skipped = |outcome: Outcome| (outcome.status, outcome.notes.join(" "));
    let installed = |tool| (Status::Skipped, format!("{tool} is not installed in this project"));
    let files = [scratch.path("clean.js")];
    assert_eq!(skipped(scratch.worker.prettier(&files, LONG).await), installed("prettier"));
    assert_eq!(skipped(scratch.worker.typescript(&files, LONG).await), installed("typescript"));
    let gone = (Status::Skipped, "eslint was not run: the files are gone".to_owned());
    assert_eq!(skipped(scratch.worker.eslint(&[scratch.path("none.js")], LONG).await), gone);
    assert_eq!(skipped(scratch.worker.eslint(&[PathBuf::from("/etc/passwd")], LONG).await), installed("eslint"));
    scratch.worker.project.trusted = false;
    let untrusted = "eslint is not trusted: run \"toolgate lens trust\"".to_owned();
    assert_eq!(skipped(scratch.worker.eslint(&files, LONG).await), (Status::Skipped, untrusted));
}

#[tokio::test]
async fn the_nearest_installation_serves() {
    if !has_node() {
        return;
    }
    let scratch = Scratch::fake();
    let inner = FAKE.replace("../../state.cjs", "node:os").replace("found = (...messages)", "found = (message)");
    let inner = inner.replace("messages }]", "messages: [{ message: 'inner' }] }]");
    scratch.write("inner/node_modules/eslint/package.json", r#"{ "version": "9.0.0" }"#);
    scratch.write("inner/node_modules/eslint/index.js", &inner);
    scratch.write("inner/file.js", "found()");
    let files = [scratch.path("clean.js"), scratch.path("inner/file.js"), scratch.path("state.js")];
    let outcome = scratch.worker.eslint(&files[..2], LONG).await;
    assert_eq!((outcome.status, outcome.files), (Status::Issues, 2), "{:?}", outcome.notes);
    assert_eq!(outcome.problems.iter().map(|found| found.message.as_str()).collect::<Vec<_>>(), ["inner"]);
}

#[tokio::test]
async fn typescript_from_version_7_on_is_not_kept() {
    for (package, kept) in [
        (r#"{ "version": "5.9.3" }"#, true),
        (r#"{ "version": "6.0.0-beta" }"#, true),
        (r#"{ "version": "7.0.2" }"#, false),
        (r#"{ "version": "next" }"#, false),
        ("{}", false),
        ("", false),
    ] {
        let scratch = Scratch::new(&[("node_modules/typescript/package.json", package)]);
        let folder = scratch.worker.project.root.as_path();
        assert_eq!(keeps(Tool::Typescript, folder).await, kept, "{package}");
        assert!(keeps(Tool::Eslint, folder).await);
    }
}

/// What a package may be instead of a file.
#[tokio::test]
async fn a_package_that_is_no_file_holds_nobody_up() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let fifo = |at: &Path| mknodat(CWD, at, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let zero = |at: &Path| std::os::unix::fs::symlink("/dev/zero", at).unwrap();
    let large = |at: &Path| std::fs::File::create(at).unwrap().set_len(1 << 40).unwrap();
    let makes: [&dyn Fn(&Path); 3] = [&fifo, &zero, &large];
    for make in makes {
        for trusted in [false, true] {
            let mut scratch = Scratch::new(&[("node_modules/typescript/index.js", ""), ("a.ts", "")]);
            make(&scratch.path("node_modules/typescript/package.json"));
            scratch.worker.project.trusted = trusted;
            scratch.worker.warm(LONG).await;
            let outcome = scratch.worker.typescript(&[scratch.path("a.ts")], LONG).await;
            assert_eq!((outcome.status, scratch.worker.running()), (Status::Skipped, Vec::new()));
        }
    }
}
