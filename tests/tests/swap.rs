//! A plugin that is replaced while it judges: no call is lost, none fails, and each answer is of a generation that was
//! current while it was given.

#![allow(clippy::print_stdout, reason = "says what was measured")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use toolgate_host::capability::{Answer, Clock};
use toolgate_host::{
    Capabilities, Capability, Decision, Engine, Gate, Granted, HotSwap, LoadError, Observer, Plugin, Session,
    SwapError, ToolCall, ToolResult, Turn,
};
use toolgate_test_support::process::is_alone;
use toolgate_tests::{build_of_test_guest, resident, test_guest};

fn session() -> Session {
    Session::in_folder("/project")
}

fn shell(command: &str) -> ToolCall {
    ToolCall::shell(command, "/project")
}

fn granted() -> Granted {
    Granted::to(Capability::ALL)
}

fn slot(engine: &Engine) -> HotSwap {
    HotSwap::new(test_guest(engine))
}

fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("text format")
}

/// The build and the count of an answer like `build-of-tests-1 call 7`.
fn read(answer: &str) -> (u64, u64) {
    let rest = answer.strip_prefix("build-of-tests-").unwrap_or_else(|| panic!("{answer}"));
    let (build, count) = rest.split_once(" call ").unwrap_or_else(|| panic!("{answer}"));
    (u64::from_str_radix(build, 36).expect("a number"), count.parse().expect("a number"))
}

async fn judged(gate: &Gate) -> String {
    match gate.judge(&shell("build")).await.decision {
        Decision::Ask(answer) => answer,
        other => panic!("{other:?}"),
    }
}

/// Two builds that take turns: odd generations are of build 1, even ones of build 2.
fn build_of(generation: u64) -> u64 {
    2 - generation % 2
}

/// Swaps under load.
const SWAPS: u64 = 200;

/// Most bytes that the process may grow by while it swaps, with other tests beside: instances that are kept would be a hundred
/// times that.
const GROWTH: u64 = 64 << 20;

/// What a gate has counted, as its answers say: sums, as there are millions of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    calls: u128,
    sum: u128,
    squares: u128,
    last: u64,
}

impl Counts {
    fn add(&mut self, count: u64) {
        assert!(count > self.last, "{count} after {}", self.last);
        self.last = count;
        (self.calls, self.sum) = (self.calls + 1, self.sum + u128::from(count));
        self.squares += u128::from(count).pow(2);
    }

    /// Whether these are the numbers from one on, each once.
    fn each_once(counts: &[Counts]) -> bool {
        let all = |part: fn(&Counts) -> u128| counts.iter().map(part).sum::<u128>();
        let n = all(|one| one.calls);
        let last = counts.iter().map(|one| u128::from(one.last)).max();
        n > 0
            && last == Some(n)
            && all(|one| one.sum) == n * (n + 1) / 2
            && all(|one| one.squares) == n * (n + 1) * (2 * n + 1) / 6
    }
}

/// What asks until it is told to stop, and counts.
async fn load(slot: HotSwap, stop: Arc<AtomicBool>, calls: Arc<AtomicU64>, ask: impl AsyncFn() -> String) -> Counts {
    let mut counts = Counts::default();
    while !stop.load(Ordering::Relaxed) {
        let before = slot.generation();
        let (build, count) = read(&ask().await);
        let after = slot.generation();
        assert!((before..=after).any(|one| build_of(one) == build), "build {build} in {before}..={after}");
        counts.add(count);
        calls.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
    }
    counts
}

/// It measures the memory of its process, so that no other test may run in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_swaps_under_load_lose_and_misjudge_no_call() {
    if !is_alone("swap::two_hundred_swaps_under_load_lose_and_misjudge_no_call") {
        return;
    }
    let engine = Engine::new().expect("an engine");
    let slot = slot(&engine);
    let builds = [1, 2].map(build_of_test_guest);
    let (stop, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let shared = Arc::new(Gate::new(slot.clone(), session(), Capabilities::denied()));
    let together: Vec<_> = (0..3)
        .map(|_| {
            let gate = Arc::clone(&shared);
            tokio::spawn(load(slot.clone(), stop.clone(), calls.clone(), async move || judged(&gate).await))
        })
        .collect();
    let mut alone: Vec<_> = (0..2)
        .map(|_| {
            let gate = Gate::new(slot.clone(), session(), Capabilities::denied());
            tokio::spawn(load(slot.clone(), stop.clone(), calls.clone(), async move || judged(&gate).await))
        })
        .collect();
    let observer = Observer::new(slot.clone(), session(), Capabilities::denied());
    alone.push(tokio::spawn(load(slot.clone(), stop.clone(), calls.clone(), async move || {
        let turn = Turn { index: None, context: "build".into() };
        observer.turn_ended(&turn).await.expect("an answer")
    })));

    let mut before = 0;
    'swaps: for swap in 0..SWAPS {
        if swap == SWAPS / 10 {
            before = resident();
        }
        let seen = calls.load(Ordering::Relaxed);
        let bad = swap % 50 == 25;
        if bad {
            let error = slot.replace(builds[0][..1_000].to_vec(), &granted()).await.expect_err("half a build");
            assert!(matches!(&error, SwapError::Load { .. }), "{error}");
            assert_eq!(slot.generation(), swap + 1, "a bad build changes nothing");
        }
        let number = slot.replace(builds[usize::from(swap % 2 == 0)].clone(), &granted()).await.expect("swapped");
        assert_eq!((number, slot.generation()), (swap + 2, swap + 2));
        // Every generation is asked before it goes.
        while calls.load(Ordering::Relaxed) < seen + 10 {
            // One that has failed says why below; waiting for more calls would not end.
            if together.iter().chain(&alone).any(JoinHandle::is_finished) {
                break 'swaps;
            }
            tokio::task::yield_now().await;
        }
        assert!(slot.in_use().len() <= 8, "older generations go: {:?}", slot.in_use());
    }
    let grown = resident().saturating_sub(before);
    stop.store(true, Ordering::Relaxed);

    // State survives: each gate has counted its own calls on and on.
    let mut counts = Vec::new();
    for task in together {
        counts.push(task.await.expect("no call fails"));
    }
    assert!(Counts::each_once(&counts), "each call of the shared gate counts once: {counts:?}");
    for task in alone {
        let counts = task.await.expect("no call fails");
        assert!(Counts::each_once(&[counts]), "{counts:?}");
    }
    println!("{SWAPS} swaps, {} calls, {} KiB more memory", calls.load(Ordering::Relaxed), grown >> 10);
    assert!(grown < GROWTH, "{grown} bytes more");
}

/// A clock that says when it is asked, and answers when it is told to.
#[derive(Clone, Default)]
struct Held {
    asked: Arc<Notify>,
    go: Arc<Notify>,
}

#[async_trait]
impl Clock for Held {
    async fn now(&self) -> Answer<u64> {
        self.asked.notify_one();
        self.go.notified().await;
        Ok(7)
    }
    async fn monotonic(&self) -> Answer<u64> {
        Ok(7)
    }
    async fn schedule(&self, _id: String, _delay: u64) -> Answer<()> {
        Ok(())
    }
    async fn cancel(&self, _id: String) -> Answer<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_call_in_flight_ends_on_the_generation_that_it_began_with() {
    let engine = Engine::new().expect("an engine");
    let (slot, clock) = (slot(&engine), Held::default());
    let gate = Arc::new(Gate::new(slot.clone(), session(), Capabilities::denied().clock(clock.clone())));
    assert_eq!(judged(&gate).await, "build-of-tests-1 call 1");
    let busy = tokio::spawn({
        let gate = Arc::clone(&gate);
        async move { gate.judge(&shell("slow-capability")).await }
    });
    clock.asked.notified().await;
    slot.replace(build_of_test_guest(2), &granted()).await.expect("swapped");
    assert_eq!(slot.in_use(), [1, 2]);
    clock.go.notify_one();
    assert!(matches!(busy.await.expect("no panic").decision, Decision::Ask(_)));
    assert_eq!(judged(&gate).await, "build-of-tests-2 call 2");
    assert_eq!(slot.in_use(), [2]);
}

#[tokio::test]
async fn a_build_that_cannot_take_the_place_is_told_and_leaves_the_old_one() {
    let engine = Engine::new().expect("an engine");
    let slot = slot(&engine);
    let gate = Gate::new(slot.clone(), session(), Capabilities::denied());
    let good = build_of_test_guest(2);
    let without_log = Granted::to(Capability::ALL.into_iter().filter(|one| *one != Capability::Log));
    let old = r#"(component (import "toolgate:plugin/network@0.1.0" (instance (export "open" (func)))))"#;
    let cases: Vec<(&str, Vec<u8>, Granted, &str)> = vec![
        ("no bytes", Vec::new(), granted(), "unexpected end"),
        ("a text", b"not wasm".to_vec(), granted(), "magic"),
        ("half a build", good[..good.len() / 2].to_vec(), granted(), "out of bounds"),
        ("a module", wat("(module)"), granted(), "component"),
        ("no hooks", wat("(component)"), granted(), "lifecycle"),
        ("another contract", wat(old), granted(), "network"),
        ("more than granted", good.clone(), without_log, "held back: it asks for log"),
        ("nothing granted", good.clone(), Granted::nothing(), "files, terminal"),
    ];
    for (count, (case, bytes, granted, says)) in (1..).zip(cases) {
        let error = slot.replace(bytes, &granted).await.expect_err(case).to_string();
        assert!(error.contains(says) && error.contains("test-guest"), "{case}: {error}");
        assert_eq!(judged(&gate).await, format!("build-of-tests-1 call {count}"), "after {case}");
    }
    // Nothing of that sticks.
    assert_eq!(slot.replace(good, &granted()).await.expect("swapped"), 2);
    assert!(judged(&gate).await.starts_with("build-of-tests-2 "));
}

#[tokio::test]
async fn a_gate_cannot_be_swapped_for_less_than_one() {
    let engine = Engine::new().expect("an engine");
    let builtin = toolgate_tests::builtin(&engine).expect("the guard");
    let loose = slot(&engine).replace(toolgate_tests::component(), &granted()).await.expect_err("it has no trackers");
    assert!(matches!(&loose, SwapError::Loosened { hooks, .. } if hooks.contains(&"trackers")), "{loose}");
    // The other way round more hooks are no loss.
    let guard = HotSwap::from(builtin);
    assert_eq!(guard.replace(build_of_test_guest(1), &granted()).await.expect("swapped"), 2);
}

#[tokio::test]
async fn state_is_handed_over_and_what_goes_wrong_with_it_is_a_fresh_start() {
    let engine = Engine::new().expect("an engine");
    let cases = [
        ("ls", "call 4"),
        ("later save loop", "call 1"),
        ("later save trap", "call 1"),
        ("later save huge", "call 1"),
        ("later save state restore trap", "call 1"),
        ("later save state restore loop", "call 1"),
        ("later save state no number", "call 1"),
    ];
    for (how, expected) in cases {
        let slot = slot(&engine);
        let gate = Gate::new(slot.clone(), session(), Capabilities::denied());
        for command in ["build", "build", how] {
            gate.judge(&shell(command)).await;
        }
        slot.replace(build_of_test_guest(2), &granted()).await.expect("swapped");
        assert_eq!(judged(&gate).await, format!("build-of-tests-2 {expected}"), "{how}");
    }
}

/// The probe knows nothing of a session, so a build can still fail in one.
#[tokio::test]
async fn a_build_that_does_not_start_in_a_session_leaves_its_gate_with_the_one_before() {
    let engine = Engine::new().expect("an engine");
    let slot = slot(&engine);
    // Both builds refuse this folder; only the session that has an instance already has something to go on with.
    let refused = Session::in_folder("/refuse-2");
    let gate = Gate::new(slot.clone(), refused.clone(), Capabilities::denied());
    assert_eq!(judged(&gate).await, "build-of-tests-1 call 1");
    slot.replace(build_of_test_guest(2), &granted()).await.expect("swapped");
    for count in 2..=3 {
        assert_eq!(judged(&gate).await, format!("build-of-tests-1 call {count}"));
    }
    let later = Gate::new(slot.clone(), refused, Capabilities::denied());
    assert!(
        matches!(later.judge(&shell("build")).await.decision, Decision::Block(why) if why.contains("does not start"))
    );
    // When the old instance fails, too, there is nothing to go on with, and the gate is closed.
    gate.judge(&shell("trap")).await;
    assert!(matches!(gate.judge(&shell("build")).await.decision, Decision::Block(_)));
    slot.replace(build_of_test_guest(1), &granted()).await.expect("swapped");
    assert!(judged(&gate).await.starts_with("build-of-tests-1 "));
}

#[tokio::test]
async fn every_role_goes_over_to_the_new_generation() {
    let engine = Engine::new().expect("an engine");
    let slot = slot(&engine);
    let observer = Observer::new(slot.clone(), session(), Capabilities::denied());
    let result = ToolResult::new(shell("x"), "build");
    let provider = toolgate_host::Provider::new(slot.clone(), session(), Capabilities::denied());
    let extension = toolgate_host::Extension::new(slot.clone(), session(), Capabilities::denied());
    for (build, count) in [(1, 1), (2, 2), (1, 3)] {
        let expected = format!("build-of-tests-{build} call {count}");
        assert_eq!(observer.observe(&result).await.map(|added| added.text).as_ref(), Some(&expected));
        for tool in provider.tools().await.expect("tools") {
            let text = provider.run(&tool, "build").await.expect("an answer").text;
            assert!(text.starts_with(&expected[..16]), "{text}");
        }
        assert_eq!(extension.modify("build").await.expect("an answer"), expected);
        if count < 3 {
            slot.replace(build_of_test_guest(3 - build), &granted()).await.expect("swapped");
        }
    }
}

/// Swaps from many sides at once come one after the other, and the last one published stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn swaps_in_rapid_fire_come_one_after_the_other() {
    let engine = Engine::new().expect("an engine");
    let slot = slot(&engine);
    let tasks: Vec<_> = (0..16u64)
        .map(|index| {
            let slot = slot.clone();
            let bytes = if index % 4 == 3 { b"broken".to_vec() } else { build_of_test_guest(index % 2 + 1) };
            tokio::spawn(async move { slot.replace(bytes, &granted()).await })
        })
        .collect();
    let mut numbers = Vec::new();
    for task in tasks {
        match task.await.expect("no panic") {
            Ok(number) => numbers.push(number),
            Err(error) => assert!(matches!(error, SwapError::Load { error: LoadError::NotAComponent { .. }, .. })),
        }
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (2..=13).collect::<Vec<u64>>());
    assert_eq!((slot.generation(), slot.in_use()), (13, vec![13]));
}

/// What the test's own patching stands on.
#[tokio::test]
async fn builds_of_the_test_guest_differ_only_in_what_they_answer() {
    let engine = Engine::new().expect("an engine");
    for build in [1, 2] {
        let plugin = Plugin::compile(&engine, "p", &build_of_test_guest(build)).expect("a plugin");
        let gate = Gate::new(plugin, session(), Capabilities::denied());
        assert_eq!(judged(&gate).await, format!("build-of-tests-{build} call 1"));
    }
}
