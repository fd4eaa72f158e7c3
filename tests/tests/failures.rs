//! A component that fails: the gate blocks, the observer does nothing, and the next call gets a fresh instance.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use toolgate_host::capability::{Answer, Clock, Denied, Files, LocalFiles, Recording, Terminal};
use toolgate_host::limits::Limits;
use toolgate_host::{
    Capabilities, Decision, End, Engine, Gate, LoadError, Observer, Plugin, Session, ToolCall, ToolResult, Turn, Update,
};
use toolgate_tests::{builtin, test_guest};

/// Shorter than the real ones, so that the tests are.
const LIMITS: Limits = Limits::DEFAULT.with_compute(Duration::from_millis(200)).with_memory(32 << 20);

fn session() -> Session {
    Session::in_folder("/project")
}

fn shell(command: &str) -> ToolCall {
    ToolCall::shell(command, "/project")
}

fn result(output: &str) -> ToolResult {
    ToolResult::new(shell(output), output).with_exit_code(0)
}

/// What to do, and what the reason for the block says.
const FAILURES: &[(&str, &str)] = &[
    ("loop", "exceeded its computing time"),
    ("allocate", "its memory limit"),
    ("recurse", "stack"),
    ("trap", "unreachable"),
    ("panic", "unreachable"),
    ("huge", "more data"),
    ("huge-request", "more data"),
    ("host-calls", "more than 1000 host calls"),
];

#[tokio::test]
async fn a_failed_gate_blocks_and_the_next_call_gets_a_fresh_instance() {
    let plugin = test_guest(&Engine::new().expect("an engine"));
    let gate = Gate::new(plugin, session(), Capabilities::denied()).with_limits(LIMITS);
    for (how, says) in FAILURES {
        // Two calls before the failure show that the instance is kept while it works.
        for count in 1..=2 {
            assert_eq!(gate.judge(&shell("ls")).await.decision, Decision::Ask(format!("call {count}")), "before {how}");
        }
        let verdict = gate.judge(&shell(how)).await;
        assert!(matches!(&verdict.decision, Decision::Block(reason) if reason.contains(says)), "{how}: {verdict:?}");
        assert_eq!(verdict.findings[0].plugin, "test-guest");
    }
    assert_eq!(gate.judge(&shell("ls")).await.decision, Decision::Ask("call 1".into()));
}

/// What calls with words of one length leave behind is of no use to those with another: no call pays for it.
#[tokio::test]
async fn calls_of_ever_other_sizes_are_not_refused_memory() {
    const LENGTH: usize = 200_000;
    let plugin = builtin(&Engine::new().expect("an engine")).expect("the default plugin");
    let limits = Limits::DEFAULT.with_memory(32 << 20);
    let gate = Gate::new(plugin, session(), Capabilities::denied()).with_limits(limits);
    for step in 0..64 {
        let size = 8 * (1 + 2 * step);
        let words = format!("{} ", "x".repeat(size)).repeat(LENGTH / size);
        let verdict = gate.judge(&shell(&format!("echo {words}"))).await;
        assert_eq!(verdict.decision, Decision::Pass, "words of {size}: {:?}", verdict.findings.first());
    }
}

#[tokio::test]
async fn a_permission_that_cannot_be_judged_is_denied() {
    let engine = Engine::new().expect("an engine");
    let gate = Gate::new(test_guest(&engine), session(), Capabilities::denied()).with_limits(LIMITS).rewriting(true);
    let end = || std::time::Instant::now() + Duration::from_secs(30);
    for (how, says) in FAILURES.iter().copied().chain([("rewrite", "not granted")]) {
        assert_eq!(
            gate.permit_until(&shell("ls"), end()).await.decision,
            Decision::Ask("call 1".into()),
            "before {how}"
        );
        let verdict = gate.permit_until(&shell(how), end()).await;
        assert!(matches!(&verdict.decision, Decision::Block(reason) if reason.contains(says)), "{how}: {verdict:?}");
        gate.judge(&shell("trap")).await;
    }
    let late = gate.permit_until(&shell("loop"), std::time::Instant::now()).await;
    assert!(
        matches!(&late.decision, Decision::Block(reason) if reason.contains("gave no answer within 0 s")),
        "{late:?}"
    );
    let without = Gate::new(builtin(&engine).expect("the default plugin"), session(), Capabilities::denied());
    let verdict = without.permit_until(&shell("ls"), end()).await;
    assert!(matches!(&verdict.decision, Decision::Block(reason) if reason.contains("permission-gate")), "{verdict:?}");
}

#[tokio::test]
async fn a_failed_observer_changes_nothing_and_the_next_result_gets_a_fresh_instance() {
    let plugin = test_guest(&Engine::new().expect("an engine"));
    let observer = Observer::new(plugin, session(), Capabilities::denied()).with_limits(LIMITS);
    for (how, _) in FAILURES {
        let before = observer.observe(&result("ls")).await.map(|addition| addition.text);
        assert_eq!(before.as_deref(), Some("call 1"), "before {how}");
        assert_eq!(observer.observe(&result(how)).await, None, "{how}");
    }
}

#[tokio::test]
async fn an_observer_that_fails_at_any_event_goes_on_from_what_it_saved() {
    let plugin = test_guest(&Engine::new().expect("an engine"));
    let observer = Observer::new(plugin.clone(), session(), Capabilities::denied()).with_limits(LIMITS);
    let turn = |context: &str| Turn { index: None, context: context.into() };
    assert_eq!(observer.turn_ended(&turn("{}")).await.as_deref(), Some("call 1"));
    assert_eq!(observer.save().await, b"1");
    for (how, _) in FAILURES {
        let tool = (*how).to_owned();
        let update = Update { call: String::new(), tool: tool.clone(), partial: "{}".into() };
        let end = End { call: String::new(), tool, is_error: false, outcome: "{}".into() };
        // An answer that is too large is only given where there is an answer.
        let first = if *how == "huge" { 3 } else { 0 };
        for event in first..4 {
            match event {
                0 => observer.updated(&update).await,
                1 => observer.ended(&end).await,
                2 => observer.timer(how).await,
                _ => assert_eq!(observer.turn_ended(&turn(how)).await, None, "{how}"),
            }
            assert_eq!(observer.turn_ended(&turn("{}")).await.as_deref(), Some("call 2"), "{how} {event}");
        }
    }
    // What it cannot use is no state.
    let fresh = Observer::new(plugin, session(), Capabilities::denied()).with_state(b"x".to_vec());
    assert_eq!(fresh.turn_ended(&turn("{}")).await.as_deref(), Some("call 1"));
    fresh.join(b"7").await;
    assert_eq!(fresh.turn_ended(&turn("{}")).await.as_deref(), Some("call 8"));
}

#[tokio::test]
async fn gate_and_observer_do_not_share_an_instance() {
    let plugin = test_guest(&Engine::new().expect("an engine"));
    let gate = Gate::new(plugin.clone(), session(), Capabilities::denied()).with_limits(LIMITS);
    let observer = Observer::new(plugin, session(), Capabilities::denied()).with_limits(LIMITS);
    assert_eq!(gate.start().await.expect("it starts").status, "gate");
    assert_eq!(gate.judge(&shell("ls")).await.decision, Decision::Ask("call 1".into()));
    assert_eq!(observer.observe(&result("ls")).await.map(|addition| addition.text).as_deref(), Some("call 1"));
    // A verdict does not wait for an observer that hangs.
    let (stuck, call) = (result("loop"), shell("ls"));
    let (observed, verdict) = tokio::join!(observer.observe(&stuck), gate.judge(&call));
    assert_eq!((observed, verdict.decision), (None, Decision::Ask("call 2".into())));
}

#[tokio::test]
async fn an_answer_outside_the_contract_is_a_block() {
    let gate = Gate::new(test_guest(&Engine::new().expect("an engine")), session(), Capabilities::denied());
    let rewritten = gate.judge(&shell("rewrite")).await;
    assert!(matches!(&rewritten.decision, Decision::Block(reason) if reason.contains("not granted")), "{rewritten:?}");
    let empty = gate.judge(&shell("empty")).await;
    assert!(matches!(&empty.decision, Decision::Ask(reason) if !reason.is_empty()), "{empty:?}");
}

#[tokio::test]
async fn a_component_that_does_not_start_blocks_every_call() {
    let plugin = test_guest(&Engine::new().expect("an engine"));
    for (folder, says) in [("/refuse", "does not like"), ("/loop", "exceeded its computing time")] {
        let gate = Gate::new(plugin.clone(), Session::in_folder(folder), Capabilities::denied()).with_limits(LIMITS);
        assert!(gate.start().await.is_err(), "{folder}");
        for _ in 0..2 {
            let verdict = gate.judge(&shell("ls")).await;
            assert!(matches!(&verdict.decision, Decision::Block(reason) if reason.contains(says)), "{verdict:?}");
        }
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_leaves_no_half_used_instance() {
    let plugin = test_guest(&Engine::new().expect("an engine"));
    let gate = Gate::new(plugin, session(), Capabilities::denied());
    assert_eq!(gate.judge(&shell("ls")).await.decision, Decision::Ask("call 1".into()));
    let call = shell("loop");
    assert!(tokio::time::timeout(Duration::from_millis(50), gate.judge(&call)).await.is_err());
    assert_eq!(gate.judge(&shell("ls")).await.decision, Decision::Ask("call 1".into()));
}

#[tokio::test]
async fn a_call_that_is_too_long_is_blocked_before_it_reaches_the_component() {
    let plugin = test_guest(&Engine::new().expect("an engine"));
    let gate = Gate::new(plugin, session(), Capabilities::denied());
    let verdict = gate.judge(&shell(&"x".repeat(10 << 20))).await;
    assert!(matches!(&verdict.decision, Decision::Block(reason) if reason.contains("bytes long")), "{verdict:?}");
}

#[tokio::test]
async fn what_is_not_granted_is_refused_with_an_answer() {
    let plugin = test_guest(&Engine::new().expect("an engine"));
    let gate = Gate::new(plugin.clone(), session(), Capabilities::denied());
    let verdict = gate.judge(&shell("not-granted")).await;
    let says = "terminal is not granted";
    assert!(matches!(&verdict.decision, Decision::Ask(text) if text.contains(says)), "{verdict:?}");
    // The refusal is an answer, so the instance lives on.
    assert_eq!(gate.judge(&shell("ls")).await.decision, Decision::Ask("call 1".into()));

    let recording = Recording::new(Denied);
    let gate = Gate::new(plugin, session(), Capabilities::denied().terminal(recording.clone()));
    gate.judge(&shell("not-granted")).await;
    assert_eq!(recording.requests(), [r#"terminal.send-text("%0", "rm -rf /", true)"#]);
    assert!(Terminal::close(&recording, "%0".into()).await.is_err());
}

/// A clock that takes longer to answer than a hook may compute.
struct SlowClock;

#[async_trait]
impl Clock for SlowClock {
    async fn now(&self) -> Answer<u64> {
        tokio::time::sleep(LIMITS.compute * 2).await;
        Ok(7)
    }
    async fn monotonic(&self) -> Answer<u64> {
        std::future::pending().await
    }
    async fn schedule(&self, _id: String, _delay: u64) -> Answer<()> {
        Ok(())
    }
    async fn cancel(&self, _id: String) -> Answer<()> {
        Ok(())
    }
}

#[tokio::test]
async fn time_in_host_calls_does_not_count_as_computing() {
    let plugin = test_guest(&Engine::new().expect("an engine"));
    let gate = Gate::new(plugin, session(), Capabilities::denied().clock(SlowClock)).with_limits(LIMITS);
    assert_eq!(gate.judge(&shell("slow-capability")).await.decision, Decision::Ask("the time is 7".into()));
}

/// Each capability has a deadline of its own, which is an answer to the component and no end of it.
#[tokio::test]
async fn a_capability_that_hangs_times_out_by_itself() {
    let plugin = test_guest(&Engine::new().expect("an engine"));
    let gate = Gate::new(plugin, session(), Capabilities::denied().clock(SlowClock)).with_limits(LIMITS);
    let verdict = gate.judge(&shell("stuck-capability")).await;
    assert!(matches!(&verdict.decision, Decision::Ask(text) if text.contains("Timeout")), "{verdict:?}");
    assert_eq!(gate.judge(&shell("ls")).await.decision, Decision::Ask("call 1".into()));
}

#[tokio::test]
async fn a_whole_call_has_a_deadline_too() {
    let plugin = test_guest(&Engine::new().expect("an engine"));
    let limits = LIMITS.with_call(Duration::from_millis(100));
    let gate = Gate::new(plugin, session(), Capabilities::denied().clock(SlowClock)).with_limits(limits);
    let verdict = gate.judge(&shell("slow-capability")).await;
    assert!(matches!(&verdict.decision, Decision::Block(reason) if reason.contains("no answer within")), "{verdict:?}");
}

#[tokio::test]
async fn requests_have_limits_of_their_own() {
    let files = LocalFiles::new();
    assert!(files.stat(vec!["/".into(); 4_097]).await.is_err());
    assert_eq!(files.stat(vec!["/".into(); 4_096]).await.map(|found| found.len()), Ok(4_096));
    assert!(files.read_config("passwd".into()).await.is_err());
}

#[test]
fn what_is_no_plugin_is_refused_with_its_reason() {
    let engine = Engine::new().expect("an engine");
    let wasi =
        r#"(component (import "wasi:http/types@0.2.0" (instance)) (import "toolgate:plugin/log@0.1.0" (instance)))"#;
    let unknown = r#"(component (import "toolgate:plugin/network@0.1.0" (instance (export "open" (func)))))"#;
    let empty = "(component)";
    let shape =
        r#"(component (import "toolgate:plugin/log@0.1.0" (instance (export "write" (func (param "text" string))))))"#;
    let cases = [
        (wasi, "wasi:http/types@0.2.0"),
        (unknown, "another version of the contract"),
        (empty, "another version of the contract"),
        (shape, "another version of the contract"),
        ("(module)", "not a WebAssembly component"),
    ];
    for (text, says) in cases {
        let bytes = wat::parse_str(text).expect("text format");
        let error = Plugin::compile(&engine, "p", &bytes).expect_err(text).to_string();
        assert!(error.contains(says) && error.contains('p'), "{text}: {error}");
    }
    for bytes in [&b""[..], b"not wasm", b"\0asm\x0d\0\x01\0\xff\xff"] {
        assert!(matches!(Plugin::compile(&engine, "p", bytes), Err(LoadError::NotAComponent { .. })));
    }
}

#[tokio::test]
async fn many_tasks_share_a_gate() {
    let plugin = test_guest(&Engine::new().expect("an engine"));
    let gate = Arc::new(Gate::new(plugin, session(), Capabilities::denied()));
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            tokio::spawn({
                let gate = Arc::clone(&gate);
                async move { gate.judge(&ToolCall::shell("ls", "/")).await.decision }
            })
        })
        .collect();
    let mut seen = Vec::new();
    for task in tasks {
        match task.await.expect("no panic") {
            Decision::Ask(text) => seen.push(text),
            other => panic!("{other:?}"),
        }
    }
    seen.sort();
    let expected: Vec<String> = (1..=8).map(|count| format!("call {count}")).collect();
    assert_eq!(seen, expected);
}
