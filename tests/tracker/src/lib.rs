//! A component that follows a cluster through a text, and misbehaves on command.
//!
//! `k use NAME` sets the tracker `cluster` for what comes after, `k --on NAME` for itself; the predicate `production` holds
//! where it is one of the `clusters` that the rule names. `k trap`, `k spin`, `k refuse`, `k long` and `k odd` fail in as many
//! ways, and so does the predicate with an argument `fail`. It has a tool as well, which repeats what it is told.

#![cfg(target_family = "wasm")]

use std::hint::black_box;

use serde_json::{Value, json};

mod bindings {
    // The macro's own code is not documented, and it needs `unsafe` to cross the component's border.
    #![allow(missing_docs, unreachable_pub, unsafe_code, clippy::all, clippy::pedantic)]
    wit_bindgen::generate!({
        path: "../../wit/v0.1",
        inline: "
            package toolgate:test-tracker;
            world fixture {
                include toolgate:plugin/tracker@0.1.0;
                include toolgate:plugin/predicate@0.1.0;
                export toolgate:plugin/provided-tools@0.1.0;
            }
        ",
        world: "toolgate:test-tracker/fixture",
        generate_all,
    });
    use super::Fixture;
    export!(Fixture);
}

use bindings::exports::toolgate::plugin::{lifecycle, predicates, provided_tools, trackers};
use bindings::toolgate::plugin::types::Truth;

struct Fixture;

impl lifecycle::Guest for Fixture {
    fn prepare() {}

    fn start(session: lifecycle::Session) -> Result<lifecycle::Started, String> {
        match session.cwd.as_str() {
            "/refuse" => Err("it does not like this folder".into()),
            _ => Ok(lifecycle::Started { status: session.role, diagnostics: Vec::new() }),
        }
    }

    fn shutdown(_reason: String) {}
}

impl trackers::Guest for Fixture {
    fn describe() -> String {
        let modifiers = json!([{ "program": "k", "scope": "sequential", "reads": ["env.CLUSTER", "cwd"] }]);
        let on = json!([{ "program": "k-on", "scope": "per-command" }]);
        json!({
            "schema": 1,
            "trackers": [
                { "name": "cluster", "initial": "none", "modifiers": [modifiers[0], on[0]] },
            ],
            "extensions": [{ "tracker": "cwd", "modifiers": [{ "program": "k-in", "scope": "sequential" }] }],
        })
        .to_string()
    }

    fn modify(request: String) -> Result<String, String> {
        let request: Value = serde_json::from_str(&request).map_err(|error| error.to_string())?;
        let word = |at: usize| request["words"][at]["value"].as_str();
        let after = match (request["program"].as_str(), word(0)) {
            (Some("k-in"), Some(folder)) => json!(format!("/srv/{folder}")),
            (Some("k-on"), name) => json!(name),
            (_, Some("use")) => json!(word(1)),
            (_, Some("env")) => request["state"]["env.CLUSTER"].clone(),
            (_, Some("here")) => request["state"]["cwd"].clone(),
            (_, Some("refuse")) => return Err("it does not want to".into()),
            (_, Some("odd")) => return Ok("[]".into()),
            (_, Some("long")) => json!("x".repeat(1 << 20)),
            (_, Some("trap")) => std::process::abort(),
            (_, Some("spin")) => spin(),
            _ => request["before"].clone(),
        };
        Ok(json!({ "schema": 1, "after": after }).to_string())
    }
}

impl predicates::Guest for Fixture {
    fn describe() -> String {
        let about = "Whether the command is for one of the `clusters`, a list of names.";
        json!({ "schema": 1, "predicates": [{ "name": "production", "about": about }] }).to_string()
    }

    fn evaluate(_name: String, request: String) -> Truth {
        let Ok(request) = serde_json::from_str::<Value>(&request) else { return Truth::Unknown };
        match request["arguments"]["fail"].as_str() {
            Some("trap") => std::process::abort(),
            Some("spin") => spin(),
            _ => {}
        }
        let cluster = &request["command"]["tracked"]["cluster"];
        match (cluster.as_str(), request["arguments"]["clusters"].as_array()) {
            (Some(_), Some(clusters)) if clusters.contains(cluster) => Truth::Yes,
            (Some(_), Some(_)) => Truth::No,
            _ => Truth::Unknown,
        }
    }
}

impl provided_tools::Guest for Fixture {
    fn describe() -> Vec<provided_tools::Tool> {
        let tool = |name: &str| provided_tools::Tool {
            name: name.into(),
            description: "Says what it was told, or fails.".into(),
            input_schema: json!({ "type": "object" }).to_string(),
            alongside: false,
            longest: 5,
        };
        vec![tool("say"), tool("no/name")]
    }

    fn run(_name: String, input: String) -> Result<provided_tools::Output, String> {
        let input: Value = serde_json::from_str(&input).map_err(|error| error.to_string())?;
        match input["text"].as_str() {
            Some("refuse") => Err("it does not want to".into()),
            Some("trap") => std::process::abort(),
            text => Ok(provided_tools::Output {
                text: format!("told {}", text.unwrap_or("nothing")),
                is_error: false,
                details: String::new(),
            }),
        }
    }
}

fn spin() -> ! {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}
