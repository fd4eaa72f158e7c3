//! `bench-warm [ROUNDS]`: what a warm verdict costs, through WebAssembly and without it, with all packs on.
//!
//! Each command is judged natively and through the component, ROUNDS times (21 unless told), in one run; the median of a
//! command's rounds is its cost, and the percentiles are over the commands. In a row each of the two does all its rounds one
//! after the other, as benches do; in turn each finds the processor's caches full of the other's code and data. What is on
//! the files is not asked: that is the system's time. Then, in turn, what reading a command and searching it cost alone,
//! sessions one after the other and many at once, and threads that judge beside each other.
//!
//! The commands are those of `cases/guard.jsonl` beside the project or where `TOOLGATE_SHARED` says, else the guard's own cases.

// It prints a table.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use toolgate_host::{Capabilities, Engine, Gate, Plugin, Session, ToolCall};
use toolgate_rules::{Guard, NoHost};
use toolgate_tests::{builtin, native_call, resident, shared, target, verdict_cases};
use wasmtime::{Instance, Module, Store, TypedFunc};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn commands() -> Outcome<(Vec<String>, &'static str)> {
    let (cases, from) = match std::fs::read_to_string(shared().join("cases/guard.jsonl")) {
        Ok(text) => {
            let lines = text.lines().map(serde_json::from_str).collect::<Result<Vec<serde_json::Value>, _>>()?;
            (lines, "the shared cases/guard.jsonl")
        }
        Err(_) => (verdict_cases(), "guest/rules/tests/verdicts.jsonl, as there are no shared cases"),
    };
    Ok((cases.iter().filter_map(|case| case["command"].as_str().map(str::to_owned)).collect(), from))
}

fn gate(plugin: &Plugin) -> Gate {
    let mut session = Session::in_folder("/home/dev/project");
    session.home = Some("/home/dev".to_owned());
    session.context = r#"{"schema":1,"packs":["all"]}"#.to_owned();
    Gate::new(plugin.clone(), session, Capabilities::denied())
}

fn call(command: &str) -> ToolCall {
    ToolCall::shell(command, "/home/dev/project").with_home("/home/dev".to_owned())
}

/// The time of some work.
fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let before = Instant::now();
    black_box(work());
    before.elapsed()
}

/// How a command's rounds follow each other.
#[derive(Clone, Copy)]
enum Rounds {
    /// Natively, through WebAssembly, natively, and so on.
    InTurn(usize),
    /// All natively, then all through WebAssembly.
    InARow(usize),
}

/// The cost of each command, natively and through WebAssembly.
struct Costs {
    native: Vec<Duration>,
    wasm: Vec<Duration>,
}

impl Costs {
    fn of(
        commands: &[String],
        rounds: Rounds,
        mut native: impl FnMut(&str) -> Duration,
        mut wasm: impl FnMut(&str) -> Outcome<Duration>,
    ) -> Outcome<Self> {
        let mut costs = Costs { native: Vec::new(), wasm: Vec::new() };
        let (turns, row) = match rounds {
            Rounds::InTurn(rounds) => (rounds, 1),
            Rounds::InARow(rounds) => (1, rounds),
        };
        for command in commands {
            let (mut natives, mut wasms) = (Vec::new(), Vec::new());
            for _ in 0..turns {
                natives.extend((0..row).map(|_| native(command)));
                for _ in 0..row {
                    wasms.push(wasm(command)?);
                }
            }
            costs.native.push(at(&mut natives, 50));
            costs.wasm.push(at(&mut wasms, 50));
        }
        Ok(costs)
    }

    fn print(mut self, what: &str) {
        let ratio = sum(&self.wasm) / sum(&self.native);
        let microseconds = |times: &mut [Duration], percent| at(times, percent).as_secs_f64() * 1e6;
        print!("{what:<34}");
        for times in [&mut self.native, &mut self.wasm] {
            print!(
                "{:>9.1} {:>9.1} {:>9.1}",
                microseconds(times, 50),
                microseconds(times, 90),
                microseconds(times, 99)
            );
        }
        println!("{ratio:>9.2}");
    }
}

fn sum(times: &[Duration]) -> f64 {
    times.iter().map(Duration::as_secs_f64).sum()
}

/// The percentile of some times.
fn at(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times.get((times.len() * percent / 100).min(times.len() - 1)).copied().unwrap_or_default()
}

/// The parts of a verdict as a core module.
struct Parts {
    store: Store<()>,
    instance: Instance,
    room: TypedFunc<u32, u32>,
}

impl Parts {
    fn new(engine: &Engine) -> Outcome<Self> {
        let file = target().join("wasm32-unknown-unknown/guest/toolgate_test_speed.wasm");
        let bytes = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let module = Module::new(engine.wasmtime()?, bytes)?;
        let mut store = Store::new(engine.wasmtime()?, ());
        store.set_epoch_deadline(u64::MAX / 2);
        let instance = Instance::new(&mut store, &module, &[])?;
        let room = instance.get_typed_func(&mut store, "room")?;
        Ok(Parts { store, instance, room })
    }

    /// The time of one part on a text that is in the module already.
    fn time(&mut self, part: &str, text: &str) -> Outcome<Duration> {
        let memory = self.instance.get_memory(&mut self.store, "memory").ok_or("no memory")?;
        let place = self.room.call(&mut self.store, text.len().try_into()?)?;
        memory.write(&mut self.store, place.try_into()?, text.as_bytes())?;
        let part: TypedFunc<(), u32> = self.instance.get_typed_func(&mut self.store, part)?;
        let before = Instant::now();
        let answer = part.call(&mut self.store, ())?;
        let took = before.elapsed();
        if answer == u32::MAX { Err("the text did not arrive".into()) } else { Ok(took) }
    }
}

fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_time().build()?)
}

/// How many verdicts a second so many threads give, each with a gate of its own.
fn throughput(plugin: &Plugin, commands: &[String], threads: usize) -> Outcome<f64> {
    const PASSES: usize = 4;
    let before = Instant::now();
    thread::scope(|scope| {
        let judge = || -> Result<(), String> {
            let runtime = runtime().map_err(|error| error.to_string())?;
            let gate = gate(plugin);
            for command in (0..PASSES).flat_map(|_| commands) {
                black_box(runtime.block_on(gate.judge(&call(command))));
            }
            Ok(())
        };
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(judge)).collect();
        all.into_iter().try_for_each(|one| one.join().unwrap_or_else(|_| Err("a thread failed".to_owned())))
    })?;
    Ok((threads * PASSES * commands.len()) as f64 / before.elapsed().as_secs_f64())
}

fn main() -> Outcome<()> {
    let rounds = std::env::args().nth(1).map_or(Ok(21), |count| count.parse())?;
    let (commands, from) = commands()?;
    let engine = Engine::new()?;
    let plugin = builtin(&engine)?;
    let runtime = runtime()?;
    println!("{} commands of {from}, {rounds} rounds, microseconds\n", commands.len());
    println!("{:<34}{:>28} {:>28} {:>9}", "", "native", "WebAssembly", "");
    let heads = "      p50       p90       p99";
    println!("{:<34}{heads} {heads}    ratio", "");

    let mut guard = Guard::new();
    guard.choose(&["all".to_owned()]);
    let warm = gate(&plugin);
    runtime.block_on(warm.start())?;
    for command in &commands {
        runtime.block_on(warm.judge(&call(command)));
        guard.judge(&native_call(&call(command)), &mut NoHost);
    }
    let mut verdict = |command: &str| {
        let call = call(command);
        Ok(timed(|| runtime.block_on(warm.judge(&call))))
    };
    let mut native = |command: &str| {
        let call = native_call(&call(command));
        timed(|| guard.judge(&call, &mut NoHost))
    };
    Costs::of(&commands, Rounds::InARow(rounds), &mut native, &mut verdict)?.print("verdict, all packs, in a row");
    let rounds = Rounds::InTurn(rounds);
    Costs::of(&commands, rounds, native, verdict)?.print("the same, in turn");

    let mut parts = Parts::new(&engine)?;
    let reading = |command: &str| timed(|| toolgate_test_speed::walk(command));
    Costs::of(&commands, rounds, reading, |command| parts.time("walk", command))?.print("reading the command");
    let searching = |text: &str| timed(|| toolgate_test_speed::search(text));
    Costs::of(&commands, rounds, searching, |text| parts.time("search", text))?.print("8 patterns on the command");
    let texts: Vec<String> = commands.chunks(100).map(|some| some.join("\n")).collect();
    Costs::of(&texts, rounds, searching, |text| parts.time("search", text))?.print("8 patterns on 100 commands");

    println!("\nsessions, each with two verdicts");
    let session = || -> Outcome<Gate> {
        let gate = gate(&plugin);
        for command in ["cargo test", "rm -rf ~"] {
            black_box(runtime.block_on(gate.judge(&call(command))));
        }
        Ok(gate)
    };
    for _ in 0..100 {
        session()?;
    }
    let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let before = resident();
    for _ in 0..1_000 {
        session()?;
    }
    println!("{:>9.2} MiB more after 1 000, one after the other", mebibytes(resident()) - mebibytes(before));
    let alive = (0..1_000).map(|_| session()).collect::<Outcome<Vec<_>>>()?;
    println!("{:>9.2} MiB more with 1 000 alive", mebibytes(resident()) - mebibytes(before));
    drop(alive);
    println!("{:>9.2} MiB more when they are gone", mebibytes(resident()) - mebibytes(before));

    println!("\nverdicts a second");
    let cores = thread::available_parallelism()?.get();
    let alone = throughput(&plugin, &commands, 1)?;
    for threads in [1, 2, cores, 2 * cores] {
        let rate = throughput(&plugin, &commands, threads)?;
        println!("{rate:>9.0} on {threads} threads, {:.2} of one alone ({cores} cores)", rate / alone);
    }
    Ok(())
}
