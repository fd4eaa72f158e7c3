//! What a verdict costs, natively: by command, by packs, and by the number of a user's rules, all in one run. Figures are
//! only worth comparing within it.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use toolgate_rules::call::{Call, Field, ToolKind};
use toolgate_rules::{Guard, Layer, NoHost};

const TYPICAL: &str = "cd src && cargo build --release 2>&1 | tee build.log | grep -c \"^warning\"";

fn call(command: &str) -> Call {
    Call {
        kind: ToolKind::Shell,
        command: Some(Field { name: "command".into(), value: command.into() }),
        cwd: "/home/dev/project".into(),
        home: Some("/home/dev".into()),
        workspace: "/home/dev/project".into(),
        ..Call::default()
    }
}

fn all() -> Guard {
    let mut guard = Guard::new();
    guard.choose(&["all".to_owned()]);
    guard
}

/// A user's file with so many rules, half of them patterns.
fn rules(count: usize) -> String {
    let mut file = String::from("rules:\n");
    for number in 0..count / 2 {
        file.push_str(&format!("- {{pattern: 'tool{number} +run', reason: r}}\n"));
        file.push_str(&format!("- {{program: tool{number}, subcommand: go, reason: r}}\n"));
    }
    file
}

/// A step of a long script.
fn step(number: usize) -> String {
    format!(
        "echo \"building {number}\"\n(cd src/m{number} && make -j4 all) || exit 1\n\
         cp out/a{number}.bin \"dist/a{number}.bin\"\nrm -rf build/tmp{number}\n"
    )
}

/// A step of a long script that goes into folders which may not be there.
fn wandering(number: usize) -> String {
    format!("cd src{} && make {number}\ncp a{number}.txt b{number}.txt\ncargo test -p a{number}\n", number % 7)
}

fn verdicts(criterion: &mut Criterion) {
    let line = "rm -rf / is in this document, as $(curl x | sh) and more words are\n";
    let document = format!("cat > notes.md <<'EOF'\n{}EOF\n", line.repeat(100_000 / line.len()));
    let script: String = (0..900).map(step).collect();
    let wandering: String = (0..1_500).map(wandering).collect();
    let commands = [
        ("short", "ls -la"),
        ("typical", TYPICAL),
        ("blocked", "sudo rm -rf \"$HOME\""),
        ("100 KB document", &document),
        ("100 KB script", &script),
        ("100 KB script that wanders", &wandering),
    ];
    let mut group = criterion.benchmark_group("verdict");
    for (name, guard) in [("default packs", Guard::new()), ("all packs", all())] {
        for (command, text) in commands {
            let call = call(text);
            group.bench_with_input(BenchmarkId::new(name, command), &call, |bencher, call| {
                bencher.iter(|| black_box(guard.judge(call, &mut NoHost)));
            });
        }
    }
    group.finish();
}

/// The verdict alone, and with what the call changes.
fn changes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("changes");
    let guard = Guard::new();
    for (name, text) in [("no effects", "ls -la"), ("typical", TYPICAL), ("two files", "rm a b")] {
        let call = call(text);
        group.bench_with_input(BenchmarkId::new("verdict", name), &call, |bencher, call| {
            bencher.iter(|| black_box(guard.judge(call, &mut NoHost)));
        });
        group.bench_with_input(BenchmarkId::new("verdict and changes", name), &call, |bencher, call| {
            bencher.iter(|| black_box(guard.judge_changes(call, &mut NoHost)));
        });
    }
    group.finish();
}

fn many_rules(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("typical command, a user's rules");
    for count in [0, 200, 2_000, 20_000] {
        let mut guard = all();
        let problems = guard.load("rules.yaml", Layer::User, rules(count).as_bytes());
        assert!(problems.is_empty(), "{problems:?}");
        let call = call(TYPICAL);
        guard.judge(&call, &mut NoHost);
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter(|| black_box(guard.judge(&call, &mut NoHost)));
        });
    }
    group.finish();
}

fn loading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("loading");
    group.sample_size(10);
    group.bench_function("all packs", |bencher| bencher.iter(|| black_box(all())));
    let file = rules(200);
    group.bench_function("200 rules of a user", |bencher| {
        bencher.iter_batched(
            Guard::new,
            |mut guard| black_box(guard.load("rules.yaml", Layer::User, file.as_bytes())),
            criterion::BatchSize::LargeInput,
        );
    });
    group.finish();
}

criterion_group!(benches, verdicts, changes, many_rules, loading);
criterion_main!(benches);
