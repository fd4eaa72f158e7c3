//! What the sandbox costs: the same verdicts through WebAssembly and without it, starting, and recovering.

// The macros make undocumented functions.
#![allow(missing_docs)]

use std::sync::OnceLock;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use toolgate_host::limits::Limits;
use toolgate_host::{Capabilities, Decision, Engine, Gate, Plugin, Session, ToolCall};
use toolgate_rules::{Guard, NoHost};
use toolgate_tests::{builtin, native_call, test_guest};

/// Commands of the length and kind that agents send.
const COMMANDS: &[(&str, &str)] = &[
    ("short", "cargo test"),
    (
        "typical",
        "cd src && grep -rn \"fn main\" --include='*.rs' . | head -20; git diff --stat HEAD~1 -- ../Cargo.toml",
    ),
    (
        "heredoc",
        "cat > notes.md <<'EOF'\n# Notes\nrm -rf / is never run here\nEOF\ngit add notes.md && git commit -m \"Add notes\"",
    ),
    ("blocked", "sudo r\\m -r\"f\" \"$HOME\""),
];

/// One for all: the embedded code runs in place for the first engine, and is copied for every other.
fn engine() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new().expect("an engine")).clone()
}

fn gate(plugin: &Plugin) -> Gate {
    Gate::new(plugin.clone(), Session::in_folder("/home/dev/project"), Capabilities::denied())
}

fn verdicts(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let plugin = builtin(&engine()).expect("the default plugin");
    let gate = gate(&plugin);
    let native = Guard::new();
    for (name, command) in COMMANDS {
        let mut group = criterion.benchmark_group(format!("verdict/{name}"));
        let call = ToolCall::shell(*command, "/home/dev/project").with_home("/home/dev".to_owned());
        group.bench_function("native", |bencher| {
            bencher.iter(|| native.judge(&native_call(&call), &mut NoHost));
        });
        group.bench_function("wasm", |bencher| {
            bencher.to_async(&runtime).iter(|| gate.judge(&call));
        });
        group.finish();
    }
}

fn lifecycle(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let engine = engine();
    let plugin = builtin(&engine).expect("the default plugin");
    let mut group = criterion.benchmark_group("lifecycle");
    group.bench_function("engine", |bencher| bencher.iter(|| Engine::new().expect("an engine")));
    group.bench_function("link the default plugin", |bencher| {
        bencher.iter(|| builtin(&engine).expect("the default plugin"));
    });
    group.bench_function("create and start an instance", |bencher| {
        bencher.to_async(&runtime).iter(|| async { gate(&plugin).start().await.expect("it starts") });
    });
    group.bench_function("first verdict of an instance", |bencher| {
        let call = ToolCall::shell("cargo test", "/home/dev/project");
        let started = || {
            let gate = gate(&plugin);
            runtime.block_on(gate.start()).expect("it starts");
            gate
        };
        bencher.iter_batched(started, |gate| runtime.block_on(gate.judge(&call)), BatchSize::PerIteration);
    });
    let faulty = test_guest(&engine);
    group.bench_function("trap, and the next verdict", |bencher| {
        let gate = gate(&faulty).with_limits(Limits::DEFAULT);
        let (trap, call) = (ToolCall::shell("trap", "/"), ToolCall::shell("ls", "/"));
        bencher.to_async(&runtime).iter(|| async {
            assert!(matches!(gate.judge(&trap).await.decision, Decision::Block(_)));
            assert_eq!(gate.judge(&call).await.decision, Decision::Ask("call 1".into()));
        });
    });
    group.finish();
}

criterion_group!(benches, verdicts, lifecycle);
criterion_main!(benches);
