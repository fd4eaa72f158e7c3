//! The crate's own types are written to logs and sockets: their form stays.

use toolgate_host::{Decision, Diagnostic, Evidence, Finding, Level, ToolCall, ToolKind, Verdict};

#[test]
fn the_form_of_calls_and_verdicts_stays() {
    let call = ToolCall::shell("ls", "/p").with_id("1").with_home(None);
    let form = r#"{"id":"1","tool":"bash","kind":"Shell","command":{"name":"command","value":"ls"},"paths":[],"globs":[],"cwd":"/p","home":null,"workspace_root":"/p","input":"{\"command\":\"ls\"}","context":"{\"schema\":1}"}"#;
    assert_eq!(serde_json::to_string(&call).expect("JSON"), form);
    assert_eq!(serde_json::from_str::<ToolCall>(form).expect("a call"), call);
    let finding = Finding::new("p", "r", toolgate_host::Action::Ask, "why");
    let verdict = Verdict::new(
        Decision::Ask("why".to_owned()),
        vec![finding.with_evidence(vec![Evidence::new("command", 0, "ls")])],
    );
    let form = r#"{"decision":{"Ask":"why"},"findings":[{"rule":"r","plugin":"p","action":"Ask","reason":"why","evidence":[{"field":"command","start":0,"end":2,"text":"ls"}]}]}"#;
    assert_eq!(serde_json::to_string(&verdict).expect("JSON"), form);
    assert_eq!(serde_json::from_str::<Verdict>(form).expect("a verdict"), verdict);
    assert_eq!(serde_json::to_string(&Decision::Pass).expect("JSON"), r#""Pass""#);
    assert_eq!(serde_json::to_string(&ToolKind::List).expect("JSON"), r#""List""#);
    let problem = Diagnostic::new(Level::Error, "m").in_file("f");
    let form = r#"{"level":"Error","file":"f","line":null,"message":"m"}"#;
    assert_eq!(serde_json::to_string(&problem).expect("JSON"), form);
}
