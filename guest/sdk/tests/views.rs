//! The views of what the host hands over, on texts in the contract's shapes.

use serde_json::json;
use toolgate_sdk::{
    Analysis, Call, Decision, Error, Follows, Modifier, ModifierRequest, PredicateRequest, Runs, Truth, Verdict, host,
    serde_json,
};

/// As `analysis.walk` answers it.
const WALKED: &str = r#"{"schema":1,"commands":[{"name":"/usr/bin/git","args":["-C",null,"push"],"cwd":null,
    "shell_cwd":"/w","env":{"HOME":"/h","X":null},"span":{"start":4,"end":19},"via":["sh"],"runs":"possibly",
    "words":[{"text":"git","span":{"start":4,"end":7},"value":"git","why":null}],"tracked":{"a":"b","c":null},
    "joiner":"&&","effects":[{"kind":"send","path":"origin","glob":null,"certain":false}],"later":[1],
    "unknown":[{"at":"args[1]","why":"it is computed"}]}]}"#;

#[test]
fn an_analysis_is_read_with_keys_that_are_not_known() {
    let analysis: Analysis = serde_json::from_str(WALKED).expect("it is read");
    let command = &analysis.commands[0];
    assert_eq!(command.program(), Some("git"));
    // What comes before it is not known, so it is not known what is the subcommand.
    assert_eq!(command.subcommand(), None);
    assert!(command.has("push") && !command.has("pull"));
    assert_eq!((command.runs, command.may_run()), (Runs::Possibly, true));
    assert_eq!((command.tracked("a"), command.tracked("c"), command.tracked("d")), (Some("b"), None, None));
    assert_eq!(command.unknown[0].at, "args[1]");
}

#[test]
fn a_call_says_what_is_known_of_it() {
    let call = Call::shell("x", WALKED);
    assert_eq!(call.analysis().map(|found| found.commands.len()), Some(1));
    assert_eq!(Call::default().analysis(), None);
    let context =
        json!({ "events": { "turn": 2, "list": [{ "event": "old", "turn": 1 }, { "event": "new", "turn": 2 }] } });
    let events = Call { context, ..Call::default() }.events();
    assert!(events.this_turn("new") && !events.this_turn("old"));
}

#[test]
fn evidence_is_where_the_command_stands() {
    let call = Call::shell("ab; git -C $X push", WALKED);
    let analysis = call.analysis().expect("it is there");
    let verdict = Verdict::block("r", "why").at(&call, &analysis.commands[0]);
    assert_eq!(verdict.decision, Decision::Block("why".into()));
    // A place that is not in the text is left out.
    assert_eq!(verdict.findings[0].evidence, []);
    let call = Call::shell("cd; git -C $X push1", WALKED);
    let verdict = Verdict::ask("r", "why").at(&call, &analysis.commands[0]);
    assert_eq!(verdict.findings[0].evidence[0].text, "git -C $X push1");
}

#[test]
fn trackers_describe_themselves_as_the_contract_says() {
    let list = [
        Follows::new("a").initial("x").propagating().modifier(Modifier::sequential("use").reading("env.B")),
        Follows::extending("cwd").modifier(Modifier::per_command("in")),
    ];
    let described: serde_json::Value = serde_json::from_str(&Follows::description(&list)).expect("JSON");
    let expected = json!({
        "schema": 1,
        "trackers": [{ "name": "a", "initial": "x", "subshell": "propagate", "modifiers": [
            { "program": "use", "scope": "sequential", "reads": ["env.B"] },
        ] }],
        "extensions": [{ "tracker": "cwd", "modifiers": [{ "program": "in", "scope": "per-command", "reads": [] }] }],
    });
    assert_eq!(described, expected);
}

#[test]
fn requests_are_read() {
    let modify = r#"{"schema":1,"tracker":"a","program":"use","words":[{"text":"$X","value":null}],"before":null,
        "state":{"env.B":"c","d":null}}"#;
    let modify: ModifierRequest = serde_json::from_str(modify).expect("it is read");
    assert_eq!((modify.args(), modify.state("env.B"), modify.state("d")), (vec![None], Some("c"), None));
    let asked = r#"{"schema":1,"arguments":{"names":["a"]},"command":null,"workspace_root":"/w","home":null}"#;
    let asked: PredicateRequest = serde_json::from_str(asked).expect("it is read");
    #[derive(serde::Deserialize)]
    struct Names {
        names: Vec<String>,
    }
    assert_eq!(asked.arguments::<Names>().map(|arguments| arguments.names), Ok(vec!["a".to_owned()]));
    assert!(asked.arguments::<u32>().is_err());
}

#[test]
fn truth_is_joined_as_by_kleene() {
    use Truth::{No, Unknown, Yes};
    for (a, b, either) in
        [(Yes, Unknown, Yes), (Unknown, Yes, Yes), (No, Unknown, Unknown), (No, No, No), (No, Yes, Yes)]
    {
        assert_eq!(a.or(b), either, "{a:?} {b:?}");
    }
    assert_eq!(Truth::from(None::<bool>), Unknown);
}

#[test]
fn there_is_no_host_outside_a_component() {
    let Err(error) = host::branch("/w") else { panic!("it answered") };
    assert!(matches!(error, Error::Unavailable(_)), "{error}");
    assert_eq!(Error::TooLarge(3).to_string(), "more than the limit of 3");
}
