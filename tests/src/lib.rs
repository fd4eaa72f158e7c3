//! What the tests of the whole system share: where built things are, and how calls are made of cases.

pub mod modules;

use std::path::PathBuf;

use serde_json::Value;
use toolgate_host::{
    Action, Decision, Engine, Evidence, Field, Finding, LoadError, Plugin, ToolCall, ToolKind, Verdict,
};
use toolgate_rules::call::{self, Call};
use toolgate_rules::{Guard, Layer, NoHost};
pub use toolgate_test_components::target;

/// The workspace's root.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder of cases that are shared between projects: the one that `TOOLGATE_SHARED` names, or the one beside the
/// workspace. It is not always there.
pub fn shared() -> PathBuf {
    std::env::var_os("TOOLGATE_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from)
}

/// Names another build of the guest, so that the tests of the component can be put to it.
const OTHER: &str = "TOOLGATE_TEST_COMPONENT";

/// The component that ships, as the recipe left it; or the other one.
pub fn component() -> Vec<u8> {
    let other = std::env::var_os(OTHER).map(PathBuf::from);
    let file = other.unwrap_or_else(|| target().join("component/guest.wasm"));
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The component that misbehaves on command.
pub fn test_guest(engine: &Engine) -> Plugin {
    Plugin::compile(engine, "test-guest", &build_of_test_guest(1)).expect("a plugin")
}

/// The component that follows a cluster, under a name of its own.
pub fn test_tracker(engine: &Engine, name: &str) -> Plugin {
    Plugin::compile(engine, name, &fixture("test_tracker")).expect("a plugin")
}

/// A component of the tests.
pub fn fixture(name: &str) -> Vec<u8> {
    toolgate_bake::componentize(&toolgate_test_components::module(name)).expect("a component")
}

/// The bytes of a build of it, which says that it is number 1 or another.
pub fn build_of_test_guest(number: u64) -> Vec<u8> {
    const MARK: &[u8] = b"build-of-tests-";
    let mut component = fixture("test_guest");
    let places: Vec<usize> =
        component.windows(MARK.len()).enumerate().filter(|(_, part)| *part == MARK).map(|(at, _)| at).collect();
    assert_eq!(places.len(), 1, "the mark is in it once");
    component[places[0] + MARK.len()] = b'0' + u8::try_from(number).expect("one digit");
    component
}

/// Bytes of memory that this process has in use, where the system says so.
pub fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    pages.unwrap_or_default() * 4_096
}

/// The component that ships, ready to start; or the other one, compiled now.
pub fn builtin(engine: &Engine) -> Result<Plugin, LoadError> {
    if std::env::var_os(OTHER).is_some() {
        return Plugin::compile(engine, toolgate_builtin::NAME, &component());
    }
    Plugin::precompiled(engine, toolgate_builtin::NAME, &toolgate_builtin::guard())
}

/// The guard's own cases, as JSON.
pub fn verdict_cases() -> Vec<Value> {
    let files = [
        include_str!("../../guest/rules/tests/verdicts.jsonl"),
        include_str!("../../guest/rules/tests/irreversible.jsonl"),
    ];
    files.into_iter().flat_map(cases).collect()
}

fn cases(lines: &str) -> impl Iterator<Item = Value> {
    lines.lines().map(|line| serde_json::from_str(line).expect("a case is JSON"))
}

/// Every case with a call to be judged: the guard's own, those with labels and those of the shell engine, and the ones of
/// the systems that this one succeeds where they lie beside the workspace.
pub fn corpus() -> Vec<Value> {
    let own = [
        include_str!("../../guest/rules/tests/verdicts.jsonl"),
        include_str!("../../guest/rules/tests/irreversible.jsonl"),
        include_str!("../../guest/rules/tests/files.jsonl"),
        include_str!("../../guest/shell/tests/walk.jsonl"),
        include_str!("../../guest/shell/tests/files.jsonl"),
        include_str!("../../guest/shell/tests/hints.jsonl"),
        include_str!("../guard/everyday.jsonl"),
        include_str!("../guard/harmful.jsonl"),
    ];
    let names =
        ["guard", "bash_file_detector", "force_push_matrix", "shell_path_hints", "tracker_walk", "wrapper_expansion"];
    let others =
        names.iter().filter_map(|name| std::fs::read_to_string(shared().join(format!("cases/{name}.jsonl"))).ok());
    let mut all: Vec<Value> = own.into_iter().flat_map(cases).collect();
    all.extend(others.flat_map(|lines| cases(&lines).collect::<Vec<_>>()));
    all.retain(|case| ["command", "path", "glob"].iter().any(|key| case[key].is_string()));
    all
}

fn field(case: &Value, key: &str) -> Option<Field> {
    case[key].as_str().map(|value| Field { name: key.to_owned(), value: value.to_owned() })
}

/// A case as a call to the host.
pub fn tool_call(case: &Value) -> ToolCall {
    let kind = match case["kind"].as_str() {
        None | Some("shell") => ToolKind::Shell,
        Some("read") => ToolKind::Read,
        Some("write") => ToolKind::Write,
        Some("search") => ToolKind::Search,
        Some("list") => ToolKind::List,
        _ => ToolKind::Other,
    };
    let mut call = ToolCall::new("case", kind, case["cwd"].as_str().unwrap_or("/home/dev/project"));
    call.command = field(case, "command");
    call.paths.extend(field(case, "path"));
    call.globs.extend(field(case, "glob"));
    call.with_home("/home/dev".to_owned()).with_workspace_root("/home/dev/project")
}

/// The same call for the logic without WebAssembly.
pub fn native_call(call: &ToolCall) -> Call {
    let field = |field: &Field| call::Field { name: field.name.clone(), value: field.value.clone() };
    Call {
        kind: match call.kind {
            ToolKind::Shell => call::ToolKind::Shell,
            ToolKind::Read => call::ToolKind::Read,
            ToolKind::Write | ToolKind::Edit => call::ToolKind::Write,
            ToolKind::Search => call::ToolKind::Search,
            ToolKind::List => call::ToolKind::List,
            ToolKind::Fetch => call::ToolKind::Fetch,
            _ => call::ToolKind::Other,
        },
        command: call.command.as_ref().map(field),
        paths: call.paths.iter().map(field).collect(),
        globs: call.globs.iter().map(field).collect(),
        contents: Vec::new(),
        cwd: call.cwd.clone(),
        home: call.home.clone(),
        workspace: call.workspace_root.clone(),
        ..Call::default()
    }
}

/// What is wrong with a rule file: the line and a sentence.
pub type Wrong = Vec<(Option<u32>, String)>;

/// What the logic says without WebAssembly, as the component would say it, and what is wrong with the case's rules. The
/// first guard is that of cases without rules: what it has read and compiled is not read and compiled again for each.
pub fn native_verdict(plain: &Guard, case: &Value) -> (Verdict, Wrong) {
    let call = native_call(&tool_call(case));
    let Some(rules) = case["rules"].as_str() else {
        return (as_the_component_says(plain.judge(&call, &mut NoHost)), Wrong::new());
    };
    let mut guard = plain.clone();
    let wrong = guard.load("rules.yaml", Layer::Project, rules.as_bytes());
    let wrong = wrong.into_iter().map(|problem| (problem.line, problem.message)).collect();
    (as_the_component_says(guard.judge(&call, &mut NoHost)), wrong)
}

fn as_the_component_says(verdict: call::Verdict) -> Verdict {
    let reason = verdict.findings.first().map(|finding| finding.reason.clone()).unwrap_or_default();
    let decision = match verdict.action() {
        Some(call::Action::Block) => Decision::Block(reason),
        Some(call::Action::Ask) => Decision::Ask(reason),
        Some(call::Action::Note) | None => Decision::Pass,
    };
    let place = |place: usize| u32::try_from(place).expect("a place in a short text");
    let evidence = |one: call::Evidence| {
        let mut evidence = Evidence::new(one.field, place(one.start), one.text);
        evidence.end = place(one.end);
        evidence
    };
    let findings = verdict.findings.into_iter().map(|finding| {
        let action = match finding.action {
            call::Action::Block => Action::Block,
            call::Action::Ask => Action::Ask,
            call::Action::Note => Action::Note,
        };
        let found = Finding::new(toolgate_builtin::NAME, finding.rule, action, finding.reason);
        found.with_evidence(finding.evidence.into_iter().map(evidence).collect())
    });
    Verdict::new(decision, findings.collect())
}
