//! What is installed, and what it may do.

use std::collections::BTreeSet;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolgate_agents::Failure;
use toolgate_gatekeeper::plugin::store::{Installed, Store};
use toolgate_host::{Capability, plain};

use super::words;
use crate::output::{BOLD, DIM, GREEN, RED, YELLOW, print};

/// The exit code if an installed plugin cannot be used.
const DAMAGED: u8 = 1;

pub(super) fn run(as_json: bool) -> Result<ExitCode, Failure> {
    let store = Store::of_user()?;
    let all: Vec<(Installed, Option<String>)> =
        store.list()?.into_iter().map(|one| (one.damage(&store), one)).map(|(wrong, one)| (one, wrong)).collect();
    if as_json {
        let plugins: Vec<Value> = all.iter().map(|(one, wrong)| json(one, wrong.as_deref())).collect();
        print(|out| writeln!(out, "{}", json!({ "schema": 1, "plugins": plugins })))?;
    } else {
        print(|out| {
            if all.is_empty() {
                writeln!(out, "{DIM}no plugins are installed{DIM:#}")?;
            }
            all.iter().try_for_each(|(one, wrong)| row(out, one, wrong.as_deref()))
        })?;
    }
    let damaged = all.iter().any(|(_, wrong)| wrong.is_some());
    Ok(if damaged { ExitCode::from(DAMAGED) } else { ExitCode::SUCCESS })
}

/// How it stands with a plugin.
fn state(one: &Installed, wrong: Option<&str>) -> &'static str {
    match (wrong, one.is_revoked()) {
        (Some(_), _) => "damaged",
        (None, true) => "revoked",
        (None, false) => "in force",
    }
}

pub(super) fn json(one: &Installed, wrong: Option<&str>) -> Value {
    let version = &one.version;
    json!({
        "name": one.name,
        "digest": version.digest,
        "state": state(one, wrong),
        "wrong": wrong,
        "hooks": version.hooks,
        "asks": version.asks,
        "granted": one.granted,
        "source": version.source,
        "added": version.added,
        "held": one.held,
    })
}

fn row(out: &mut dyn std::io::Write, one: &Installed, wrong: Option<&str>) -> std::io::Result<()> {
    let state = state(one, wrong);
    let style = match state {
        "in force" => GREEN,
        "revoked" => YELLOW,
        _ => RED,
    };
    let digest = words::short(&one.version.digest);
    writeln!(out, "{BOLD}{}{BOLD:#}  {style}{state}{style:#}  {DIM}{}{DIM:#}", plain(&one.name), plain(digest))?;
    for does in words::does(&one.version.hooks) {
        writeln!(out, "  {DIM}does{DIM:#}      {does}")?;
    }
    words::grants(out, one)?;
    if let Some(wrong) = wrong {
        writeln!(out, "  {RED}wrong{RED:#}     {}; until then, every call is blocked", plain(wrong))?;
    }
    let Some(held) = &one.held else { return Ok(()) };
    let more: BTreeSet<Capability> = held.asks_beyond(one);
    let digest = words::short(&held.digest);
    let how = format!("toolgate plugin grant {}", plain(&one.name));
    writeln!(
        out,
        "  {YELLOW}held back{YELLOW:#} version {} asks for more: {}; {how}",
        plain(digest),
        words::names(&more)
    )
}
