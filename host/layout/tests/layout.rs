//! The command as `just build` left it, and the program that puts it in order.

#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use toolgate_layout::{Entered, Image, NOT_ALLOWED, run, write};
use toolgate_test_support::skip::skip;

const LAYOUT: &str = env!("CARGO_BIN_EXE_toolgate-layout");

/// How long after the order was found its program may have been linked.
const LINK: Duration = Duration::from_secs(600);

/// The command, if functions of it can be put in order. In CI it is always there.
fn built() -> Option<(PathBuf, Image)> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/toolgate").canonicalize();
    let Ok(program) = program else {
        assert!(std::env::var_os("CI").is_none(), "`just build` has built nothing");
        skip("`just build` has built nothing");
        return None;
    };
    let image = Image::read(&program).expect("a program");
    if !image.ordered {
        skip("the linker is none that is known to take an order, or its addresses are not fixed");
        return None;
    }
    Some((program, image))
}

/// What everyday calls enter, if that can be seen here.
fn watched(image: &Image, program: &Path) -> Option<Entered> {
    match run(image, program, Path::new(LAYOUT)) {
        Ok(entered) => Some(entered),
        Err(error) if error.to_string().contains(NOT_ALLOWED) => {
            skip(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn what_a_call_runs_lies_together() {
    let Some((program, image)) = built() else { return };
    let order = std::fs::read_to_string(program.with_file_name("../layout/toolgate.order")).unwrap_or_default();
    if order.is_empty() {
        let could = watched(&image, &program).is_some();
        assert!(!could || std::env::var_os("CI").is_none(), "`just build` has put nothing in order");
        return skip("`just build` has put nothing in order, and said why");
    }
    let linked = |path: PathBuf| path.metadata().and_then(|found| found.modified()).ok();
    let (own, ordered) = (linked(program.clone()), linked(program.with_file_name("../layout/toolgate.order")));
    if own > ordered.map(|time| time + LINK) && std::env::var_os("CI").is_none() {
        return skip("the order is that of an earlier program; `just build` makes another one");
    }
    let order: HashSet<&str> = order.lines().collect();
    let places: Vec<u64> =
        image.functions.iter().filter(|(_, name)| order.contains(name.as_str())).map(|(place, _)| *place).collect();
    let span = places.last().zip(places.first()).map(|(last, first)| last - first).expect("places");
    assert!(places.len() * 2 > order.len(), "only {} of {} functions are known", places.len(), order.len());
    assert!(span < 4 << 20, "{} functions lie over {span} bytes", places.len());
}

#[test]
fn everyday_calls_are_watched_to_their_end() {
    let Some((program, image)) = built() else { return };
    let Some(entered) = watched(&image, &program) else { return };
    let name = |address: &u64| image.functions.get(address).map_or("", String::as_str);
    for part in ["_start", "toolgate4main"] {
        assert!(entered.order.iter().any(|address| name(address).contains(part)), "{part} is not among them");
    }
    assert!(entered.order.len() > 1_000, "{} functions", entered.order.len());
    let each: HashSet<&u64> = entered.order.iter().collect();
    assert_eq!(each.len(), entered.order.len(), "one is there twice");
}

#[test]
fn what_is_no_program_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("text"), "no program").expect("a file");
    for name in ["text", "none"] {
        assert!(write(&folder.path().join(name), folder.path(), Path::new(LAYOUT)).is_err(), "{name}");
    }
    let output = Command::new(LAYOUT).output().expect("it runs");
    assert_eq!(output.status.code(), Some(64));
}
