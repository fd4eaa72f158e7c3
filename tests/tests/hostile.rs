//! Hostile plugins: whatever one does, the host's memory and the latency of another plugin's gate beside it stay within
//! these bounds.
//!
//! | What | Bound |
//! |---|---|
//! | a hook of the hostile one | ends within its own limits and `SLACK` |
//! | memory of the host, while it runs | `MEMORY` more than before |
//! | memory of the host, after it | `KEPT` more than before |
//! | a verdict beside it, 19 of 20 | `RATIO` times as long as alone, or `LATENCY` on a busy machine |
//! | what people and models see of it | `limits::said` |
//!
//! It is a program of its own: in the same process other tests would use memory and the processor, too.
//!
//! The bounds are generous, as machines are noisy; what was measured is printed with `--nocapture`.

#![allow(clippy::print_stdout, reason = "says what was measured")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use toolgate_host::capability::{Answer, ConfigFile, FileStat, Files, Log, Message, Outgoing, RealPath, Ui};
use toolgate_host::limits::{Limits, said};
use toolgate_host::{
    CallError, Capabilities, Capability, Decision, End, Engine, Extension, Gate, Granted, HotSwap, Level, Observer,
    Plugin, Provider, Session, Signal, ToolCall, ToolResult, Turn, Update, Verdict,
};
use toolgate_tests::{build_of_test_guest, resident, test_guest};

/// Shorter than the real ones, so that the tests are.
const LIMITS: Limits = Limits::DEFAULT.with_compute(Duration::from_millis(200)).with_memory(64 << 20);

/// What a busy machine may add to anything.
const SLACK: Duration = Duration::from_secs(1);

/// What a verdict may take on a busy machine, however short it is alone.
const LATENCY: Duration = Duration::from_millis(200);

/// How much longer than alone a verdict may take.
const RATIO: u32 = 50;

/// The hostile one's own memory, what is lifted of it, and the texts made of that.
const MEMORY: u64 = 192 << 20;

/// What allocators keep.
const KEPT: u64 = 96 << 20;

/// The mark that a shortened text has.
const MARK: usize = 40;

fn session() -> Session {
    Session::in_folder("/project")
}

fn shell(command: &str) -> ToolCall {
    ToolCall::shell(command, "/project")
}

/// The time within which 19 of 20 are.
fn usual(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() * 19 / 20]
}

async fn timed(gate: &Gate) -> Duration {
    let before = Instant::now();
    let verdict = gate.judge(&shell("ls")).await;
    assert!(matches!(verdict.decision, Decision::Ask(_)), "the other plugin works on: {verdict:?}");
    before.elapsed()
}

/// Does it while another plugin judges all the time, and holds it to the bounds.
async fn beside<T>(what: &str, engine: &Engine, hostile: impl Future<Output = T>) -> T {
    let other = Arc::new(Gate::new(test_guest(engine), session(), Capabilities::denied()));
    let mut alone = Vec::new();
    for _ in 0..100 {
        alone.push(timed(&other).await);
    }
    let (over, most, before) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)), resident());
    let judging = tokio::spawn({
        let (other, over, most) = (Arc::clone(&other), Arc::clone(&over), Arc::clone(&most));
        async move {
            let mut times = Vec::new();
            while !over.load(Ordering::Relaxed) || times.len() < 20 {
                times.push(timed(&other).await);
                most.fetch_max(resident(), Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
            times
        }
    });
    let came = hostile.await;
    over.store(true, Ordering::Relaxed);
    let times = judging.await.expect("the other plugin's verdicts");
    let (alone, together) = (usual(alone), usual(times));
    let grown = most.load(Ordering::Relaxed).saturating_sub(before);
    let kept = resident().saturating_sub(before);
    println!(
        "{what:<28} alone {alone:>9.1?}  beside {together:>9.1?}  memory +{} MiB, after +{} MiB",
        grown >> 20,
        kept >> 20
    );
    assert!(together <= (alone * RATIO).max(LATENCY), "{what}: {together:?} beside it, {alone:?} alone");
    assert!(grown <= MEMORY, "{what}: {grown} bytes more");
    assert!(kept <= KEPT, "{what}: {kept} bytes kept");
    came
}

/// Whether nothing in the text hides, turns round or moves what is beside it.
#[track_caller]
fn harmless(text: &str, most: usize) {
    assert!(text.len() <= most + MARK, "{} bytes", text.len());
    let bad = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202e}' | '\u{200b}' | '\u{e0041}');
    assert!(!text.contains(bad), "{:?}", &text[..text.len().min(200)]);
}

#[track_caller]
fn bounded(verdict: &Verdict) {
    if let Decision::Block(reason) | Decision::Ask(reason) = &verdict.decision {
        harmless(reason, said::SENTENCE);
    }
    assert!(verdict.findings.len() <= said::FINDINGS + 1, "{} findings", verdict.findings.len());
    for finding in &verdict.findings {
        assert_eq!(finding.plugin, "test-guest");
        harmless(&finding.rule, said::NAME);
        harmless(&finding.reason, said::SENTENCE);
        assert!(finding.evidence.len() <= said::EVIDENCE);
        for one in &finding.evidence {
            harmless(&one.field, said::NAME);
            assert!(one.text.len() <= said::SENTENCE + MARK);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_a_gate_does_its_verdict_is_bounded_and_others_judge_on() {
    let engine = Engine::new().expect("an engine");
    let plugin = test_guest(&engine);
    let cases = [
        ("loop", "exceeded its computing time"),
        ("allocate", "its memory limit"),
        ("grow", "its memory limit"),
        ("recurse", "stack"),
        ("trap", "unreachable"),
        ("huge", "more data"),
        ("huge-request", "more data"),
        ("host-calls", "more than 1000 host calls"),
        ("log", "more than 1000 host calls"),
        ("reason 100000000", "limit"),
        ("reason 10000000", "limit"),
        ("reason 500000", "omitted"),
        ("findings 1000000", "limit"),
        ("findings 200000", "limit"),
        ("evidence 1000000", "limit"),
        ("evidence 300000", "limit"),
    ];
    for (how, says) in cases {
        let gate = Gate::new(plugin.clone(), session(), Capabilities::denied()).with_limits(LIMITS);
        let verdict = beside(how, &engine, async {
            let mut last = Verdict::pass();
            for _ in 0..3 {
                let before = Instant::now();
                last = gate.judge(&shell(how)).await;
                assert!(before.elapsed() < LIMITS.compute + 2 * SLACK, "{how}: {:?}", before.elapsed());
            }
            last
        });
        let verdict = verdict.await;
        bounded(&verdict);
        // On a busy machine the time may be over before anything else is used up.
        let fits = |reason: &str| reason.contains(says) || reason.contains("exceeded its computing time");
        assert!(matches!(&verdict.decision, Decision::Block(reason) if fits(reason)), "{how}: {verdict:?}");
        assert_eq!(gate.judge(&shell("ls")).await.decision, Decision::Ask("call 1".into()), "{how}");
    }
}

#[tokio::test]
async fn too_many_findings_are_counted_and_the_strictest_stay() {
    let engine = Engine::new().expect("an engine");
    let gate = Gate::new(test_guest(&engine), session(), Capabilities::denied());
    let many = gate.judge(&shell("findings 10000")).await;
    bounded(&many);
    let last = many.findings.last().expect("findings");
    assert_eq!(last.reason, format!("{} more findings omitted", 10_000 - said::FINDINGS));
    let evidence = gate.judge(&shell("evidence 10000")).await;
    bounded(&evidence);
    assert_eq!(evidence.findings[0].evidence.len(), said::EVIDENCE);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_endless_loop_in_any_hook_ends_and_others_judge_on() {
    let engine = Engine::new().expect("an engine");
    let plugin = test_guest(&engine);
    let denied = Capabilities::denied;
    let gate = Gate::new(plugin.clone(), session(), denied()).with_limits(LIMITS);
    let observer = Observer::new(plugin.clone(), session(), denied()).with_limits(LIMITS);
    let provider = Provider::new(plugin.clone(), session(), denied()).with_limits(LIMITS);
    let extension = Extension::new(plugin.clone(), session(), denied()).with_limits(LIMITS);
    let text = || "loop".to_owned();
    let tools = provider.tools().await.expect("tools");
    let result = ToolResult::new(shell("ls"), text());
    let update = Update { call: text(), tool: text(), partial: "{}".into() };
    let end = End { call: text(), tool: text(), is_error: false, outcome: "{}".into() };
    let turn = Turn { index: None, context: text() };
    let signal = Signal { pane: "%0".into(), channel: text(), closed: false };
    let delivery = toolgate_host::capability::Delivery::NextTurn;
    let message =
        Outgoing { kind: text(), text: text(), details: String::new(), visible: true, delivery, trigger_turn: false };
    macro_rules! ends {
        ($hook:literal, $call:expr) => {{
            let before = Instant::now();
            let came = beside(concat!("loop in ", $hook), &engine, async { $call.await }).await;
            assert!(before.elapsed() < LIMITS.compute * 2 + 4 * SLACK, "{}: {:?}", $hook, before.elapsed());
            came
        }};
    }
    let starting = Gate::new(plugin, Session::in_folder("/loop"), denied()).with_limits(LIMITS);
    assert!(matches!(ends!("start", starting.start()), Err(CallError::Deadline)));
    let blocked =
        |verdict: &Verdict| matches!(&verdict.decision, Decision::Block(why) if why.contains("computing time"));
    assert!(blocked(&ends!("judge", gate.judge(&shell("loop")))));
    assert!(blocked(&ends!("after", gate.judge(&shell("later after loop")))));
    assert_eq!(gate.judge(&shell("ls")).await.decision, Decision::Ask("call 1".into()));
    ends!("shutdown", gate.shutdown("loop"));
    assert_eq!(ends!("observe", observer.observe(&result)), None);
    ends!("on-update", observer.updated(&update));
    ends!("on-end", observer.ended(&end));
    assert_eq!(ends!("on-turn-end", observer.turn_ended(&turn)), None);
    ends!("on-timer", observer.timer("loop"));
    assert!(ends!("render", observer.render(&message, false, 80)).is_empty());
    observer.timer("later save loop").await;
    assert!(ends!("save", observer.save()).is_empty());
    ends!("restore", observer.join(b"restore loop"));
    provider.timer("later describe loop").await;
    assert!(matches!(ends!("describe", provider.tools()), Err(CallError::Deadline)));
    assert!(matches!(ends!("run", provider.run(&tools[0], "loop")), Err(CallError::Deadline)));
    assert!(matches!(ends!("run alongside", provider.run(&tools[1], "loop")), Err(CallError::Deadline)));
    ends!("on-signal", provider.signalled(&signal));
    assert!(matches!(ends!("modify", extension.modify("loop")), Err(CallError::Deadline)));
    assert!(matches!(ends!("evaluate", extension.evaluate("loop", "{}")), Err(CallError::Deadline)));
    assert_eq!(extension.modify("ls").await.expect("an answer"), "call 1");
}

/// A number as WebAssembly writes it.
fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).expect("seven bits");
        number >>= 7;
        bytes.push(if number == 0 { low } else { low | 0x80 });
        if number == 0 {
            return bytes;
        }
    }
}

/// The test guest with more core instances of a module of this text in it.
fn with_instances(module: &str, count: usize) -> Vec<u8> {
    let mut component = build_of_test_guest(1);
    let mut modules = 0;
    let mut at = 8;
    while at < component.len() {
        modules += usize::from(component[at] == 1);
        let (mut length, mut shift) = (0, 0);
        loop {
            at += 1;
            length |= usize::from(component[at] & 0x7f) << shift;
            shift += 7;
            if component[at] & 0x80 == 0 {
                break;
            }
        }
        at += 1 + length;
    }
    let module = wat::parse_str(module).expect("text format");
    component.push(1);
    component.extend([leb(module.len()), module].concat());
    // Each instance: of a module, which, with no arguments.
    let one = [vec![0], leb(modules), vec![0]].concat();
    let instances = [leb(count), one.repeat(count)].concat();
    component.push(2);
    component.extend([leb(instances.len()), instances].concat());
    component
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memories_and_tables_are_counted_together() {
    let engine = Engine::new().expect("an engine");
    let cases = [
        ("one too large memory", "(module (memory 5000))", 1, Some("")),
        ("many memories", "(module (memory 250))", 20, Some("")),
        ("very many memories", "(module (memory 1))", 500, Some("")),
        ("a large table", "(module (table 1000000 funcref))", 1, Some("")),
        ("many tables", "(module (table 10000 funcref))", 20, Some("")),
        ("very many instances", "(module)", 10_000, Some("")),
        ("a loop at the start", "(module (func $f (loop (br 0))) (start $f))", 1, Some("exceeded its computing time")),
        ("what is allowed", "(module (memory 1) (table 10 funcref))", 3, None),
    ];
    for (what, module, count, says) in cases {
        let bytes = with_instances(module, count);
        let slot = HotSwap::new(test_guest(&engine));
        let swapped = beside(what, &engine, slot.replace(bytes.clone(), &Granted::to(Capability::ALL))).await;
        let loaded = Plugin::compile(&engine, "test-guest", &bytes);
        let verdict = match loaded {
            Ok(plugin) => {
                let gate = Gate::new(plugin, session(), Capabilities::denied()).with_limits(LIMITS);
                beside(what, &engine, gate.judge(&shell("ls"))).await
            }
            Err(error) => Verdict::block("load", error.to_string()),
        };
        bounded_start(what, &verdict, says);
        assert_eq!(says.is_none(), swapped.is_ok(), "{what}: {swapped:?}");
    }
}

/// A block that says so, or an answer.
#[track_caller]
fn bounded_start(what: &str, verdict: &Verdict, says: Option<&str>) {
    match (&verdict.decision, says) {
        (Decision::Block(reason), Some(says)) => assert!(reason.contains(says), "{what}: {reason}"),
        (Decision::Ask(_), None) => {}
        other => panic!("{what}: {other:?}"),
    }
}

#[tokio::test]
async fn what_is_to_mislead_is_shown_as_what_it_is() {
    let engine = Engine::new().expect("an engine");
    let plugin = test_guest(&engine);
    let shown = "a\\u{1b}[2Kb\\u{202e}c\\u{200b}d\\u{e0041}e\\u{d}f\\u{9b}g\nh";
    let said = Said::default();
    let granted = Capabilities::denied().ui(said.clone()).message(said.clone());
    let gate = Gate::new(plugin.clone(), Session::in_folder("/mislead"), granted);
    let started = gate.start().await.expect("it starts");
    harmless(&started.status, said::NAME);
    assert!(!started.status.contains('\n') && started.diagnostics.len() == 20);
    started.diagnostics.iter().for_each(|one| harmless(&one.message, said::SENTENCE));
    assert_eq!(gate.judge(&shell("misleading")).await.decision, Decision::Ask(shown.into()));
    for (how, most) in [("notify", said::SENTENCE), ("status", said::NAME), ("message", said::ADDITION)] {
        assert_eq!(gate.judge(&shell(how)).await.decision, Decision::Ask("Ok(())".into()), "{how}");
        let texts = std::mem::take(&mut *said.0.lock().expect("no panic"));
        assert!(!texts.is_empty());
        texts.iter().for_each(|text| harmless(text, most));
    }
    let observer = Observer::new(plugin.clone(), session(), Capabilities::denied());
    let result = |output: &str| ToolResult::new(shell("x"), output);
    let turn = |context: &str| Turn { index: None, context: context.into() };
    let delivery = toolgate_host::capability::Delivery::NextTurn;
    let message = |kind: &str| Outgoing {
        kind: kind.into(),
        text: String::new(),
        details: String::new(),
        visible: true,
        delivery,
        trigger_turn: false,
    };
    assert_eq!(observer.observe(&result("misleading")).await.expect("an addition").text, shown);
    assert_eq!(observer.turn_ended(&turn("misleading")).await.as_deref(), Some(shown));
    assert_eq!(observer.render(&message("misleading"), true, 80).await[0][0].text, shown);
    harmless(&observer.observe(&result("long")).await.expect("an addition").text, said::ADDITION);
    harmless(&observer.turn_ended(&turn("long")).await.expect("a text"), said::ADDITION);
    let provider = Provider::new(plugin, session(), Capabilities::denied());
    for tool in provider.tools().await.expect("tools") {
        harmless(&tool.description, said::SENTENCE);
    }
}

/// What reached the person and the model.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<String>>>);

impl Said {
    fn note(&self, texts: impl IntoIterator<Item = String>) {
        self.0.lock().expect("no panic").extend(texts);
    }
}

#[async_trait]
impl Ui for Said {
    async fn set_status(&self, _key: String, text: Option<String>) -> Answer<()> {
        self.note(text);
        Ok(())
    }
    async fn notify(&self, message: String, _level: Level) -> Answer<()> {
        self.note([message]);
        Ok(())
    }
}

#[async_trait]
impl Message for Said {
    async fn send(&self, outgoing: Outgoing) -> Answer<()> {
        self.note([outgoing.kind, outgoing.text]);
        Ok(())
    }
}

impl Log for Said {
    fn write(&self, _plugin: &str, _level: Level, message: &str) {
        self.note([message.to_owned()]);
    }
}

#[tokio::test]
async fn what_tools_of_plugins_say_is_bounded_and_hides_nothing() {
    let provider = Provider::new(test_guest(&Engine::new().expect("an engine")), session(), Capabilities::denied());
    let tools = provider.offered().await.expect("tools");
    assert!(!tools.is_empty());
    for tool in &tools {
        // It has a title that is turned round: nothing of such a schema is kept.
        assert_eq!(tool.input_schema, r#"{"type":"object"}"#);
        assert!(tool.description.len() <= said::SENTENCE + 100, "{}", tool.description.len());
    }
    let output = provider.run_offered(&tools[0], r#"{"text": "mislead"}"#).await.expect("an output");
    assert!(output.text.len() <= said::ADDITION + 100 && output.details.is_empty(), "{}", output.text.len());
    assert!(!output.text.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\u{e0041}', '\r', '\u{9b}']));
}

#[tokio::test]
async fn of_a_million_log_lines_few_are_kept_and_the_rest_is_counted() {
    let engine = Engine::new().expect("an engine");
    let log = Said::default();
    let gate = Gate::new(test_guest(&engine), session(), Capabilities::denied().log(log.clone()));
    let lines = || std::mem::take(&mut *log.0.lock().expect("no panic"));
    let kept = said::LOG_LINES as usize;
    assert_eq!(gate.judge(&shell("log-some")).await.decision, Decision::Ask("wrote 900 lines".into()));
    gate.judge(&shell("ls")).await;
    let written = lines();
    assert_eq!((written.len(), written[kept - 1].as_str()), (kept + 1, "line 99"));
    assert_eq!(written[kept], format!("{} more messages were dropped", 900 - kept));
    assert!(matches!(gate.judge(&shell("log")).await.decision, Decision::Block(_)));
    let written = lines();
    assert_eq!((written.len(), written[kept].as_str()), (kept + 1, "900 more messages were dropped"));
}

/// Files that count who asks.
#[derive(Clone, Default)]
struct Counted(Arc<AtomicU64>);

#[async_trait]
impl Files for Counted {
    async fn stat(&self, _paths: Vec<String>) -> Answer<Vec<Option<FileStat>>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Vec::new())
    }
    async fn resolve(&self, _paths: Vec<String>) -> Answer<Vec<Option<RealPath>>> {
        Ok(Vec::new())
    }
    async fn read_config(&self, _name: String) -> Answer<Vec<ConfigFile>> {
        Ok(Vec::new())
    }
    async fn read_script(&self, _path: String) -> Answer<String> {
        Ok(String::new())
    }
}

#[tokio::test]
async fn a_storm_of_host_calls_ends_at_its_limit() {
    let engine = Engine::new().expect("an engine");
    let files = Counted::default();
    let gate = Gate::new(test_guest(&engine), session(), Capabilities::denied().files(files.clone()));
    for storm in 1..=3 {
        assert!(matches!(gate.judge(&shell("host-calls")).await.decision, Decision::Block(_)));
        assert_eq!(files.0.load(Ordering::Relaxed), storm * u64::from(Limits::DEFAULT.host_calls));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn others_judge_on_while_a_plugin_is_swapped_without_end() {
    let engine = Engine::new().expect("an engine");
    let slot = HotSwap::new(test_guest(&engine));
    let granted = Granted::to(Capability::ALL);
    beside("swaps in rapid fire", &engine, async {
        for swap in 0..40 {
            let bytes = if swap % 3 == 2 { vec![0; 1 << 20] } else { build_of_test_guest(swap % 2 + 1) };
            assert_eq!(slot.replace(bytes, &granted).await.is_ok(), swap % 3 != 2);
        }
    })
    .await;
    assert_eq!(slot.in_use(), [slot.generation()]);
}
