//! What an agent waits for: a whole `toolgate hook`, beside `/bin/true` in the same run; and what is shipped.

// The macros make undocumented functions, and the table is printed.
#![allow(missing_docs, clippy::print_stdout)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use toolgate_tests::target;

const PAYLOAD: &str = r#"{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"cd src && grep -rn \"fn main\" . | head -20"},"tool_use_id":"t"}"#;

fn run(program: &Path, arguments: &[&str]) {
    let mut child = Command::new(program)
        .args(arguments)
        .env("TOOLGATE_NO_SERVE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    // A program that reads nothing has closed the pipe.
    let _ = child.stdin.take().expect("a pipe").write_all(PAYLOAD.as_bytes());
    assert!(child.wait().expect("the program ends").success());
}

/// Milliseconds of processor time for one run, over many.
fn processor_time(program: &Path, arguments: &[&str]) -> f64 {
    const RUNS: i32 = 200;
    let spent = || {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage");
        (usage.user_time() + usage.system_time()).num_microseconds()
    };
    let before = spent();
    for _ in 0..RUNS {
        run(program, arguments);
    }
    (spent() - before) as f64 / 1_000.0 / f64::from(RUNS)
}

fn process(criterion: &mut Criterion) {
    let toolgate = target().join("release/toolgate");
    let nothing = Path::new("/bin/true");
    let mut group = criterion.benchmark_group("process");
    group.bench_function("/bin/true", |bencher| bencher.iter(|| run(nothing, &[])));
    group.bench_function("toolgate --version", |bencher| bencher.iter(|| run(&toolgate, &["--version"])));
    group.bench_function("toolgate hook claude", |bencher| bencher.iter(|| run(&toolgate, &["hook", "claude"])));
    group.finish();

    let base = processor_time(nothing, &[]);
    let start = processor_time(&toolgate, &["--version"]);
    let hook = processor_time(&toolgate, &["hook", "claude"]);
    let resident = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage").max_rss();
    let size = |path: &str| std::fs::metadata(target().join(path)).map_or(0, |found| found.len());
    println!("\nprocessor time of one run, in ms: /bin/true {base:.2}, --version {start:.2}, hook {hook:.2}");
    println!("largest resident size of a run: {:.1} MiB", resident as f64 / 1_024.0);
    for (name, path) in [
        ("command", "release/toolgate"),
        ("component", "component/guest.wasm"),
        ("machine code", "component/guest.cwasm"),
    ] {
        println!("{name}: {:.1} MB", size(path) as f64 / 1e6);
    }
}

criterion_group!(benches, process);
criterion_main!(benches);
