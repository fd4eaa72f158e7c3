//! What an agent waits for: a whole `toolgate hook`, cold and with the resident host, beside `/bin/true` and `/bin/sh -c
//! true` in the same run; and what is shipped.

// The macros make undocumented functions, and the table is printed.
#![allow(missing_docs, clippy::print_stdout)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use toolgate_tests::target;

/// Not from a folder that the home folder is in, which no hook works with.
const PAYLOAD: &str = r#"{"session_id":"s","cwd":"/usr","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"cd src && grep -rn \"fn main\" . | head -20"},"tool_use_id":"t"}"#;

/// A home folder of its own, and whether hooks ask the resident host there.
struct Place {
    home: tempfile::TempDir,
    resident: bool,
}

impl Place {
    fn new(resident: bool) -> Self {
        Place { home: tempfile::tempdir().expect("a scratch folder"), resident }
    }

    /// The same with a hundred rules of the user's own: sixty on commands, forty on paths.
    fn with_rules(self) -> Self {
        let mut rules = "rules:\n".to_owned();
        for number in 0..20 {
            rules += &format!(
                "  - {{name: a{number}, pattern: '\\bword{number}(ctl|er)?\\b.*--(prod|live|env[= ]production)', reason: no}}\n  \
                 - {{name: b{number}, pattern: '(?i)\\b(kube|aws|az)\\s+.*word{number}[a-z0-9_-]*\\s+(--force|-f)\\b', reason: no}}\n  \
                 - {{name: c{number}, program: tool{number}, subcommand: word{number}, reason: no}}\n"
            );
        }
        for (list, pattern) in [("zeroAccessPaths", "~/word{}/secret*"), ("readOnlyPaths", "'*.word{}'")] {
            rules += &format!("{list}:\n");
            for number in 0..20 {
                rules += &format!("  - {}\n", pattern.replace("{}", &number.to_string()));
            }
        }
        self.file(".config/toolgate/toolgate.yaml", &rules)
    }

    /// The same where no snapshot of them can be kept.
    fn without_snapshots(self) -> Self {
        self.file(".local/state/toolgate/snapshots", "")
    }

    fn file(self, path: &str, content: &str) -> Self {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, content).expect("a file");
        self
    }
}

fn run(program: &Path, arguments: &[&str], place: &Place) {
    let home = place.home.path();
    let mut child = Command::new(program)
        .args(arguments)
        .env("HOME", home)
        .env("XDG_RUNTIME_DIR", home)
        .env("TOOLGATE_NO_SERVE", if place.resident { "" } else { "1" })
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    // A program that reads nothing has closed the pipe.
    let _ = child.stdin.take().expect("a pipe").write_all(PAYLOAD.as_bytes());
    assert!(child.wait().expect("the program ends").success());
}

/// The resident host, when it listens.
fn resident(program: &Path, place: &Place) -> Child {
    let home = place.home.path();
    let mut host = Command::new(program)
        .arg("serve")
        // Cargo sets it, and no hook believes a host into which a library may have been loaded.
        .env_remove("LD_LIBRARY_PATH")
        .env("HOME", home)
        .env("XDG_RUNTIME_DIR", home)
        .env("TOOLGATE_NO_SERVE", "")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the host starts");
    let mut line = String::new();
    BufReader::new(host.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says where it listens");
    host
}

/// Milliseconds of processor time for one run, over many.
fn processor_time(program: &Path, arguments: &[&str], place: &Place) -> f64 {
    const RUNS: i32 = 200;
    let spent = || {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage");
        (usage.user_time() + usage.system_time()).num_microseconds()
    };
    let before = spent();
    for _ in 0..RUNS {
        run(program, arguments, place);
    }
    (spent() - before) as f64 / 1_000.0 / f64::from(RUNS)
}

fn process(criterion: &mut Criterion) {
    let toolgate = target().join("release/toolgate");
    let (alone, served) = (Place::new(false), Place::new(true));
    let (read, kept) = (Place::new(false).with_rules().without_snapshots(), Place::new(false).with_rules());
    let mut host = resident(&toolgate, &served);
    let cases: [(&str, &Path, &[&str], &Place); 7] = [
        ("/bin/true", Path::new("/bin/true"), &[], &alone),
        ("/bin/sh -c true", Path::new("/bin/sh"), &["-c", "true"], &alone),
        ("toolgate --version", &toolgate, &["--version"], &alone),
        ("toolgate hook claude, cold", &toolgate, &["hook", "claude"], &alone),
        ("toolgate hook claude, cold, 100 rules are read", &toolgate, &["hook", "claude"], &read),
        ("toolgate hook claude, cold, 100 rules of a snapshot", &toolgate, &["hook", "claude"], &kept),
        ("toolgate hook claude, with the resident host", &toolgate, &["hook", "claude"], &served),
    ];
    let mut group = criterion.benchmark_group("process");
    for (name, program, arguments, place) in cases {
        group.bench_function(name, |bencher| bencher.iter(|| run(program, arguments, place)));
    }
    group.finish();

    println!("\nprocessor time of one run, in ms, without the resident host's own:");
    for (name, program, arguments, place) in cases {
        println!("{:>8.2}  {name}", processor_time(program, arguments, place));
    }
    // It has served its time.
    let _ = host.kill().and_then(|()| host.wait());
    let resident = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage").max_rss();
    let size = |path: &str| std::fs::metadata(target().join(path)).map_or(0, |found| found.len());
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
