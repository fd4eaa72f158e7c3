//! What the figures rest on: that the runner tells what a program used and no more, that answers are read as Claude Code
//! reads them, and the bench as a whole, with no peer there.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use toolgate_peer_bench::answer::Answer;
use toolgate_peer_bench::figure::Spread;
use toolgate_peer_bench::payload::{Label, Payload};
use toolgate_peer_bench::runner::{Order, Reply, Run};
use toolgate_test_support::skip::skip;

/// A `peer-runner` of a test's own.
struct Runner {
    child: Child,
    orders: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
}

impl Runner {
    fn start() -> Runner {
        let mut child = Command::new(env!("CARGO_BIN_EXE_peer-runner"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the runner starts");
        let orders = child.stdin.take();
        let replies = BufReader::new(child.stdout.take().expect("a pipe"));
        Runner { child, orders, replies }
    }

    fn order(&mut self, order: &Order) -> Reply {
        let orders = self.orders.as_mut().expect("a pipe");
        writeln!(orders, "{}", serde_json::to_string(order).expect("an order")).expect("it reads");
        let mut line = String::new();
        self.replies.read_line(&mut line).expect("it answers");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn shell(&mut self, text: &str, input: &str) -> Run {
        match self.order(&Order::Run { line: shell(text), input: input.into() }) {
            Reply::Ran(run) => run,
            other => panic!("{text}: {other:?}"),
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        drop(self.orders.take());
        self.child.wait().expect("it ends");
    }
}

fn shell(text: &str) -> Vec<String> {
    ["/bin/sh", "-c", text].map(String::from).to_vec()
}

#[test]
fn a_run_is_told_as_it_was() {
    let run = Runner::start().shell("cat; echo no >&2; exit 3", "input\n");
    assert_eq!((run.exit, &*run.output, &*run.complaint), (Some(3), "input\n", "no\n"));
}

#[test]
fn a_program_that_reads_nothing_is_run_all_the_same() {
    assert_eq!(Runner::start().shell("exit 0", &"x".repeat(50_000)).exit, Some(0));
}

#[test]
fn an_input_that_would_wait_for_a_reader_is_refused() {
    let order = Order::Run { line: shell("cat"), input: "x".repeat(100_000) };
    assert!(matches!(Runner::start().order(&order), Reply::Failed(_)));
}

#[test]
fn memory_is_that_of_the_run_alone() {
    const LARGE: u64 = 30_000_000;
    let mut runner = Runner::start();
    // The shell keeps what it reads.
    let large = runner.shell("x=$(head -c 30000000 /dev/zero | tr '\\0' x); echo ${#x}", "");
    assert_eq!(large.output.trim(), LARGE.to_string());
    assert!(large.usage.resident > LARGE, "{:?}", large.usage);
    let small = runner.shell("true", &"x".repeat(50_000));
    assert!(small.usage.resident < LARGE / 6, "{:?}", small.usage);
}

#[cfg(target_os = "linux")]
#[test]
fn a_small_program_has_less_memory_than_the_runner() {
    let mut runner = Runner::start();
    let order = Order::Run { line: vec!["true".into()], input: "x".repeat(50_000) };
    let Reply::Ran(run) = runner.order(&order) else { panic!("it runs") };
    let small = run.usage.resident;
    let status = fs::read_to_string(format!("/proc/{}/status", runner.child.id())).expect("its status");
    let own = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its memory");
    let own: u64 = own.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(small < own * 1_024, "{small} of {own} KiB: what the runner has is counted as the program's");
}

#[cfg(target_os = "linux")]
#[test]
fn what_serves_is_measured_and_ends_with_the_runner() {
    let mut runner = Runner::start();
    let busy = "echo $$; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exec sleep 600";
    let Reply::Serves(_) = runner.order(&Order::Serve { line: shell(busy) }) else { panic!("it serves") };
    // At the same time as what serves, until that has counted on.
    let until = std::time::Instant::now() + Duration::from_secs(60);
    let used = loop {
        let Reply::Serves(used) = runner.order(&Order::Served) else { panic!("it serves") };
        if !used.processor.is_zero() || std::time::Instant::now() > until {
            break used;
        }
    };
    assert!(!used.processor.is_zero() && used.resident > 0, "{used:?}");
    let id = runner.child.id();
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).expect("its children");
    let child = children.trim().to_owned();
    assert!(!child.is_empty());
    drop(runner);
    assert!(!fs::exists(format!("/proc/{child}")).expect("a look"), "{child} is still there");
}

#[test]
fn answers_are_read_as_claude_code_reads_them() {
    let decision = |word: &str| format!(r#"{{"hookSpecificOutput":{{"permissionDecision":"{word}"}}}}"#);
    for (exit, output, expected) in [
        (Some(0), String::new(), Answer::Pass),
        (Some(0), "\n".into(), Answer::Pass),
        (Some(0), "all is well".into(), Answer::Pass),
        (Some(0), decision("deny"), Answer::Deny),
        (Some(0), decision("ask"), Answer::Ask),
        (Some(0), decision("allow"), Answer::Allow),
        (Some(0), r#"{"decision":"block"}"#.into(), Answer::Deny),
        (Some(0), r#"{"continue":true}"#.into(), Answer::Pass),
        (Some(2), String::new(), Answer::Deny),
        (Some(2), decision("allow"), Answer::Deny),
        (Some(1), decision("deny"), Answer::Failed),
        (None, String::new(), Answer::Failed),
    ] {
        assert_eq!(Answer::of(exit, &output), expected, "{exit:?} {output}");
    }
}

#[test]
fn payloads_are_of_both_kinds_and_of_several_lengths() {
    let payloads = Payload::all().expect("payloads");
    for label in [Label::Block, Label::Allow] {
        let lengths: Vec<usize> =
            payloads.iter().filter(|payload| payload.label == label).map(|payload| payload.command.len()).collect();
        let (shortest, longest) = (lengths.iter().min().expect("one"), lengths.iter().max().expect("one"));
        assert!(lengths.len() == 10 && *shortest < 10 && *longest > 20_000, "{label:?}: {lengths:?}");
    }
    assert!(payloads.iter().all(|payload| !payload.command.contains("{lines}")));
}

#[test]
fn a_spread_is_the_middle_and_the_top() {
    let spread = |times: &[u64]| Spread::of(times.iter().copied().map(Duration::from_millis));
    let of = |median, most| Spread { median: Duration::from_millis(median), most: Duration::from_millis(most) };
    assert_eq!(spread(&[]), of(0, 0));
    assert_eq!(spread(&[7]), of(7, 7));
    assert_eq!(spread(&[3, 1, 2]), of(2, 3));
    assert_eq!(spread(&(1..=100).rev().collect::<Vec<_>>()), of(51, 96));
}

#[test]
fn without_peers_ours_are_timed_and_right() {
    if std::env::var_os("TOOLGATE_TRUTH").is_some_and(|value| value == "skip") {
        return skip("TOOLGATE_TRUTH=skip");
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::write(folder.path().join("installed"), "").expect("a file");
    fs::write(folder.path().join("left-out"), "bashguard: error: no network\n").expect("a file");
    let out = Command::new(env!("CARGO_BIN_EXE_bench-peers"))
        .args(["--rounds", "1", "--markdown", "--peers"])
        .arg(folder.path())
        .output()
        .expect("the bench starts");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(text.contains("| bashguard | not run: error: no network |"), "{text}");
    let ours: Vec<&str> = text.lines().filter(|line| line.starts_with("| Toolgate ")).collect();
    assert!(ours.len() == 2 && ours.iter().all(|row| row.ends_with("| 10 | 10 |")), "{text}");
}
