//! Bad luck of the daemon: files that go away, names that look like options, tools that hang or never stop talking,
//! many questions at once, no tools at all, a disk that is full.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{trusted, untrusted};
use rustix::process::{Pid, test_kill_process};
use serde_json::json;
use toolgate_checks_tests::client::{Config, KINDS, report};
use toolgate_checks_tests::daemon::Daemon;
use toolgate_checks_tests::machine::Machine;
use toolgate_checks_tests::project;
use toolgate_checks_tests::tools::ours;
use toolgate_test_support::skip::skip;

const LIMIT: Duration = Duration::from_secs(100);
/// Without language servers, which have their own tests, and take their time.
const TOOLS: Config = Config { kinds: &["prettier", "linters", "tsc"], ..Config::ALL };
const LINTERS: Config = Config { kinds: &["linters"], ..Config::ALL };

#[test]
fn a_file_that_went_away_hides_nothing() {
    let Some(tools) = crate::common::tools_with(&["eslint", "ruff", "shellcheck"]) else { return };
    for (fixture, left) in [("typescript", "src/problems.ts"), ("python", "problems.py"), ("shell", "problems.sh")] {
        let machine = Machine::new(Some(&tools)).unwrap();
        let root = trusted(&machine, fixture, &tools);
        let daemon = crate::common::start(&machine, &root);
        let gone = root.join(left).with_file_name("gone").with_extension(Path::new(left).extension().unwrap());
        let both = [root.join(left), gone.clone()];
        let report = daemon.client().unwrap().full_check(&both, &LINTERS, LIMIT).unwrap();
        assert_eq!(report.status("linters"), "issues", "{report:#?}");
        assert!(report.problems.iter().all(|problem| problem.file == Path::new(left)), "{report:#?}");
        let report = daemon.client().unwrap().full_check(&[gone], &LINTERS, LIMIT).unwrap();
        assert!(!report.has_issues && report.problems.is_empty(), "{report:#?}");
    }
}

#[test]
fn names_that_look_like_something_else_are_names() {
    let Some(tools) =
        crate::common::tools_with(&["eslint", "prettier", "typescript", "ruff", "shellcheck", "stylelint"])
    else {
        return;
    };
    let cases: &[(&str, &str, &[&str])] = &[
        ("typescript", "src/problems.ts", &["src/--fix.ts", "src/-o.ts", "src/a b'\".ts", "src/[a].ts", "src/*.ts"]),
        ("python", "problems.py", &["--fix.py", "-.py", "a b'\".py", "[a].py", "@list.py"]),
        ("shell", "problems.sh", &["--help.sh", "-x.sh", "a b'\".sh"]),
        ("css", "problems.css", &["--fix.css", "-f.css", "a b'\".css", "[a].css"]),
    ];
    let mut wrong = Vec::new();
    for (fixture, original, names) in cases {
        let machine = Machine::new(Some(&tools)).unwrap();
        let root = trusted(&machine, fixture, &tools);
        let daemon = crate::common::start(&machine, &root);
        let text = fs::read_to_string(root.join(original)).unwrap();
        for name in *names {
            let file = root.join(name);
            fs::write(&file, &text).unwrap();
            let report = daemon.client().unwrap().full_check(std::slice::from_ref(&file), &TOOLS, LIMIT).unwrap();
            let named = report.problems.iter().filter(|problem| problem.file == Path::new(name)).count();
            if named == 0 || report.status("linters") != "issues" || fs::read_to_string(&file).unwrap() != text {
                wrong.push(format!("{name:?}: {report:#?}"));
            }
            fs::remove_file(file).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_package_that_go_refuses_is_not_clean() {
    let Some(tools) = crate::common::tools_with(&["go", "go-staticcheck"]) else { return };
    let machine = Machine::new(Some(&tools)).unwrap();
    let root = trusted(&machine, "go", &tools);
    fs::write(root.join("-json.go"), "package fixture\n").unwrap();
    let daemon = crate::common::start(&machine, &root);
    for name in ["-json.go", "clean.go"] {
        let report = daemon.client().unwrap().full_check(&[root.join(name)], &LINTERS, LIMIT).unwrap();
        assert_eq!(report.status("linters"), "error", "{name}: {report:#?}");
    }
}

#[test]
fn a_name_with_a_newline_is_left_out_and_said() {
    let machine = Machine::new(None).unwrap();
    let root = machine.project("bare").unwrap();
    project::lay_out("bare", &root, None).unwrap();
    let file = root.join("new\nline.sh");
    fs::write(&file, "echo $1\n").unwrap();
    let daemon = crate::common::start(&machine, &root);
    let report = daemon.client().unwrap().full_check(&[file], &Config::ALL, LIMIT).unwrap();
    assert_eq!(report.status("linters"), "skipped");
    assert_eq!(report.notes, [r"new\nline.sh: not checked: its name has control characters"]);
}

#[test]
fn ten_questions_at_once_get_ten_answers() {
    let Some(tools) = crate::common::tools_with(&["eslint", "prettier", "typescript"]) else { return };
    let machine = Machine::new(Some(&tools)).unwrap();
    let root = trusted(&machine, "typescript", &tools);
    let daemon = crate::common::start(&machine, &root);
    let files = [root.join("src/problems.ts"), root.join("src/clean.ts")];
    let params = |number: usize| json!({"files": [files[number % 2]], "config": TOOLS.json()});
    let expected = |number: usize| if number.is_multiple_of(2) { "issues" } else { "clean" };
    // Five on one connection, and five with one of their own.
    let mut shared = daemon.client().unwrap();
    let asked: Vec<_> = (0..5).map(|number| (number, shared.ask("fullCheck", &params(number)).unwrap())).collect();
    let mut others: Vec<_> = (5..10).map(|number| (number, daemon.client().unwrap())).collect();
    for (number, client) in &mut others {
        client.ask("fullCheck", &params(*number)).unwrap();
    }
    let mut answers: Vec<_> =
        others.into_iter().map(|(number, mut client)| (number, client.answer(1, LIMIT))).collect();
    answers.extend(asked.into_iter().rev().map(|(number, id)| (number, shared.answer(id, LIMIT))));
    assert_eq!(answers.len(), 10);
    for (number, answer) in answers {
        let report = report(answer.unwrap()).unwrap();
        assert_eq!(report.status("linters"), expected(number), "{report:#?}");
    }
}

#[test]
fn a_linter_that_forks_and_hangs_is_ended_with_all_it_started() {
    let (machine, root) = with_linter(&[
        "sleep 3600 & echo $! >>pids",
        "(sleep 3600 & echo $! >>pids; exec sleep 3600) & echo $! >>pids",
        "echo $$ >>pids",
        "wait",
    ]);
    let daemon = crate::common::start(&machine, &root);
    let config = Config { limit: 1_000, ..LINTERS };
    let begin = Instant::now();
    let report = daemon.client().unwrap().full_check(&[root.join("problems.css")], &config, LIMIT).unwrap();
    assert_eq!(report.status("linters"), "error", "{report:#?}");
    assert!(begin.elapsed() < Duration::from_secs(20), "the limit of a second was not kept: {:?}", begin.elapsed());
    let pids = fs::read_to_string(root.join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 4);
    for pid in pids.lines() {
        let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
        // What is killed is gone as soon as the system has come to it.
        while test_kill_process(pid).is_ok() && !zombie(pid) {
            assert!(begin.elapsed() < Duration::from_secs(20), "{pid:?} still runs");
            thread::yield_now();
        }
    }
}

#[test]
fn a_linter_that_prints_fifty_megabytes_is_an_error_and_fills_no_memory() {
    let (machine, root) = with_linter(&["head -c 52428800 /dev/zero | tr '\\0' x"]);
    let daemon = crate::common::start(&machine, &root);
    let report = daemon.client().unwrap().full_check(&[root.join("problems.css")], &LINTERS, LIMIT).unwrap();
    assert_eq!(report.status("linters"), "error", "{report:#?}");
    assert!(report.text.len() < 100_000 && report.notes.iter().all(|note| note.len() < 10_000));
    if let Some(peak) = peak(daemon.id()) {
        assert!(peak < 200 << 10, "{peak} KiB");
    }
}

#[test]
fn a_linter_that_is_not_one_is_an_error() {
    let cases: &[&[&str]] = &[
        &["exit 0"],
        &["exit 7"],
        &["echo '['; exit 2"],
        &["echo null; exit 2"],
        &["kill -SEGV $$"],
        &["printf '\\377\\376'; exit 2"],
        &["echo '[{\"source\":7,\"warnings\":{}}]'; exit 2"],
    ];
    for lines in cases {
        let (machine, root) = with_linter(lines);
        let daemon = crate::common::start(&machine, &root);
        let report = daemon.client().unwrap().full_check(&[root.join("problems.css")], &LINTERS, LIMIT).unwrap();
        assert_eq!(report.status("linters"), "error", "{lines:?}: {report:#?}");
        assert!(!report.notes.is_empty(), "{lines:?} without a reason");
    }
}

#[test]
fn a_project_without_any_tool_is_skipped() {
    let machine = Machine::new(None).unwrap();
    let root = machine.project("bare").unwrap();
    project::lay_out("bare", &root, None).unwrap();
    let daemon = crate::common::start(&machine, &root);
    let files: Vec<PathBuf> = ["notes.txt", "README.md", "loose.js", "loose.py"].map(|name| root.join(name)).into();
    let report = daemon.client().unwrap().full_check(&files, &Config::ALL, LIMIT).unwrap();
    assert!(!report.has_issues, "{report:#?}");
    for kind in KINDS {
        assert_eq!(report.status(kind), "skipped", "{kind}: {report:#?}");
    }
}

#[test]
fn a_full_disk_is_no_crash_and_no_lie() {
    let Some(tools) = crate::common::tools_with(&["shellcheck"]) else { return };
    if cfg!(not(target_os = "linux")) {
        return skip("a full disk needs bubblewrap");
    }
    let machine = Machine::new(Some(&tools)).unwrap();
    let root = untrusted(&machine, "shell", &tools);
    let daemon = on_full_disk(&machine, &root);
    let report = daemon.client().unwrap().full_check(&[root.join("problems.sh")], &Config::ALL, LIMIT).unwrap();
    assert_eq!(report.status("linters"), "issues", "{report:#?}");
    let rules: Vec<_> = report.problems.iter().filter_map(|problem| problem.rule.as_deref()).collect();
    assert_eq!(rules, ["SC2045", "SC2086"]);
}

/// A daemon for which the home folder and the one for temporary files are on a disk that is full.
fn on_full_disk(machine: &Machine, root: &Path) -> Daemon {
    let inner = machine.command(&ours().unwrap());
    let mut command = Command::new("bwrap");
    command.args(["--dev-bind", "/", "/", "--die-with-parent"]);
    for name in ["tmp", "home"] {
        command.args(["--size", "65536", "--tmpfs"]).arg(machine.root().join(name));
    }
    let fill = r#"for folder in "$TMPDIR" "$HOME"; do head -c 1000000 /dev/zero >"$folder/full" 2>&-; done; exec "$0""#;
    command.args(["sh", "-c", fill]).arg(inner.get_program()).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Daemon::start_at(command, &machine.socket("full"), root).unwrap()
}

/// A project that is trusted and brings a linter of its own: a script of these lines.
fn with_linter(lines: &[&str]) -> (Machine, PathBuf) {
    let machine = Machine::new(None).unwrap();
    let root = machine.project("css").unwrap();
    project::lay_out("css", &root, None).unwrap();
    let program = root.join("node_modules/.bin/stylelint");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, format!("#!/bin/sh\n{}\n", lines.join("\n"))).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    machine.trust(&root).unwrap();
    (machine, root)
}

/// Whether a process has ended, and only its parent has not looked yet. Elsewhere than on Linux nobody can tell.
fn zombie(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// The most memory that a process ever had, in KiB. Linux only.
fn peak(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()
}
