//! A component that misbehaves on command, for the tests of the host.
//!
//! The command of a call, or the output of a result, says what to do: see `misbehave`. Anything else is answered
//! with how many calls this instance has seen, so that a test can tell a fresh instance from an old one.

#![cfg(target_family = "wasm")]

use std::cell::Cell;
use std::hint::black_box;

mod bindings {
    // The macro's own code is not documented, and it needs `unsafe` to cross the component's border.
    #![allow(missing_docs, unreachable_pub, unsafe_code, clippy::all, clippy::pedantic)]
    wit_bindgen::generate!({
        path: "../../wit/v0.1",
        inline: "
            package toolgate:test-guest;
            world fixture {
                import toolgate:plugin/files@0.1.0;
                import toolgate:plugin/terminal@0.1.0;
                import toolgate:plugin/clock@0.1.0;
                export toolgate:plugin/lifecycle@0.1.0;
                export toolgate:plugin/tool-gate@0.1.0;
                export toolgate:plugin/tool-observer@0.1.0;
                export toolgate:plugin/execution-observer@0.1.0;
                export toolgate:plugin/turn-observer@0.1.0;
                export toolgate:plugin/timer@0.1.0;
                export toolgate:plugin/handover@0.1.0;
            }
        ",
        world: "toolgate:test-guest/fixture",
        generate_all,
    });
    use super::Fixture;
    export!(Fixture);
}

use bindings::exports::toolgate::plugin::{
    execution_observer, handover, lifecycle, timer, tool_gate, tool_observer, turn_observer,
};
use bindings::toolgate::plugin::types::{Decision, ToolCall, Verdict};
use bindings::toolgate::plugin::{clock, files, terminal};

struct Fixture;

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

impl lifecycle::Guest for Fixture {
    fn prepare() {}

    fn start(session: lifecycle::Session) -> Result<lifecycle::Started, String> {
        match session.cwd.as_str() {
            "/refuse" => Err("it does not like this folder".into()),
            "/loop" => spin(),
            _ => Ok(lifecycle::Started { status: session.role, diagnostics: Vec::new() }),
        }
    }

    fn shutdown(_reason: String) {}
}

impl tool_gate::Guest for Fixture {
    fn judge(call: ToolCall) -> Verdict {
        let answer = misbehave(call.command.map(|field| field.value).unwrap_or_default().as_str());
        let decision = match answer.strip_prefix("rewrite ") {
            Some(input) => Decision::Rewrite(input.into()),
            None => Decision::Ask(answer),
        };
        Verdict { decision, findings: Vec::new() }
    }
}

impl tool_observer::Guest for Fixture {
    fn observe(outcome: tool_observer::ToolResult) -> Option<tool_observer::Addition> {
        Some(tool_observer::Addition { text: misbehave(&outcome.output), details: String::new() })
    }
}

impl execution_observer::Guest for Fixture {
    fn on_update(update: execution_observer::Update) {
        misbehave(&update.tool);
    }

    fn on_end(end: execution_observer::End) {
        misbehave(&end.tool);
    }
}

impl turn_observer::Guest for Fixture {
    fn on_turn_end(turn: turn_observer::Turn) -> Option<String> {
        Some(misbehave(&turn.context))
    }
}

impl timer::Guest for Fixture {
    fn on_timer(id: String) {
        misbehave(&id);
    }
}

impl handover::Guest for Fixture {
    fn save() -> Vec<u8> {
        CALLS.get().to_string().into_bytes()
    }

    fn restore(state: Vec<u8>) -> Result<(), String> {
        let state = String::from_utf8(state).map_err(|error| error.to_string())?;
        CALLS.set(state.parse().map_err(|_| format!("{state} is no number"))?);
        Ok(())
    }
}

fn misbehave(how: &str) -> String {
    match how {
        "loop" => spin(),
        "allocate" => {
            let mut all: Vec<Vec<u8>> = Vec::new();
            loop {
                all.push(vec![1; 1 << 20]);
                black_box(&all);
            }
        }
        "recurse" => recurse(black_box(1)).to_string(),
        "trap" => core::arch::wasm32::unreachable(),
        "panic" => panic!("on purpose"),
        "huge" => "x".repeat(16 << 20),
        "empty" => String::new(),
        "rewrite" => "rewrite {}".into(),
        "host-calls" => {
            for _ in 0..10_000 {
                let _ = black_box(files::stat(&["/".to_owned()]));
            }
            "made ten thousand host calls".into()
        }
        "huge-request" => format!("{:?}", files::stat(&["x".repeat(16 << 20)])),
        "not-granted" => match terminal::send_text("%0", "rm -rf /", true) {
            Ok(()) => "the keys were sent".into(),
            Err(error) => format!("refused: {error:?}"),
        },
        "slow-capability" => match clock::now() {
            Ok(now) => format!("the time is {now}"),
            Err(error) => format!("{error:?}"),
        },
        "stuck-capability" => format!("{:?}", clock::monotonic()),
        _ => CALLS.with(|calls| {
            calls.set(calls.get() + 1);
            format!("call {}", calls.get())
        }),
    }
}

fn spin() -> ! {
    loop {
        black_box(());
    }
}

/// Not a tail call, and nothing in memory: only the engine's own stack grows.
fn recurse(depth: u64) -> u64 {
    if depth == 0 { 0 } else { recurse(black_box(depth + 1)).wrapping_mul(3) + 1 }
}
