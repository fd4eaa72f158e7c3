//! What the command reads: payloads of agents, the user's table of tools, lines of the resident host; and what it logs.

use serde_json::Value;
use toolgate_gatekeeper::fuzzing;
use toolgate_host::redact;

use crate::{Target, choice, texts_of};

const PAYLOADS_OF_AGENTS: &str = include_str!("../../../host/cli/tests/agents.jsonl");
const HARMFUL: &str = include_str!("../../guard/harmful.jsonl");

pub(crate) const PAYLOADS: Target = Target {
    name: "payloads",
    run: payloads,
    seeds: || {
        let seed = |line: &str| {
            let case: Value = serde_json::from_str(line).expect("a case is JSON");
            let name = case["agent"].as_str()?;
            let agent = u8::try_from(fuzzing::agents().position(|agent| agent == name)?).ok()?;
            let payload = case["payload"].to_string().replace("$PROJECT", "/project");
            Some([&[agent * EVENTS], payload.as_bytes()].concat())
        };
        PAYLOADS_OF_AGENTS.lines().filter_map(seed).collect()
    },
    words: &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "null",
        "true",
        "{}",
        "[]",
        "\"\"",
        "1",
        "\\u0000",
        "\\ud800",
        "\u{feff}",
        "\"cwd\":",
        "\"/\"",
        "\"..\"",
        "\"tool_name\":",
        "\"tool_input\":",
        "\"toolName\":",
        "\"toolArgs\":",
        "\"hook_event_name\":",
        "\"command\":",
        "\"file_path\":",
        "\"args\":",
        "\"input\":",
        "\"event\":",
        "\"workspace_roots\":",
        "\"Bash\"",
        "\"Shell\"",
        "\"apply_patch\"",
        "\"PreToolUse\"",
        "\"PermissionRequest\"",
        "\"beforeMCPExecution\"",
        "\"beforeReadFile\"",
        "\"mcp__x__y\"",
        "*** Begin Patch\\n",
    ],
    tries: 10_000,
};

/// How an event may be named on the command line: not at all, as the one before a call, as one after it, wrongly.
const EVENTS: u8 = 4;

/// A payload for the agent, and with the event, that its first byte chooses.
pub fn payloads(data: &[u8]) {
    let (choice, payload) = choice(data);
    let events = usize::from(EVENTS);
    let agent = fuzzing::agents().nth(choice / events % fuzzing::agents().count()).expect("an agent");
    let event = match choice % events {
        0 => None,
        1 => fuzzing::trial(agent),
        2 => Some("postToolUse"),
        _ => Some("nothing that is known"),
    };
    fuzzing::payload(agent, event, payload);
}

pub(crate) const TOOLS: Target = Target {
    name: "tools",
    run: tools,
    seeds: || {
        let tables = [
            "claude: {tool: {kind: write, paths: [x]}}\nany: {tool: {kind: read}, b: {kind: shell, command: [s, t]}}",
            "# nothing",
            "any:\n  tool: {kind: edit, required: [a], globs: [b], cwd: [c]}\npi: {}\n",
        ];
        tables.map(|table| table.as_bytes().to_vec()).into()
    },
    words: &[
        "\n",
        "\n  ",
        ": ",
        "{",
        "}",
        "[",
        "]",
        "- ",
        "&a ",
        "*a",
        "<<: *a",
        "'",
        "\"",
        "|\n",
        "---\n",
        "null",
        "kind: ",
        "paths: ",
        "command: ",
        "claude",
        "any",
        "\t",
        "\0",
        "!!binary ",
        "? ",
    ],
    tries: 4_000,
};

/// The user's table of tools.
pub fn tools(data: &[u8]) {
    fuzzing::user_tools(&String::from_utf8_lossy(data));
}

pub(crate) const RESIDENT: Target = Target {
    name: "resident",
    run: resident,
    seeds: || {
        let hello = r#"{"schema":2,"version":"0.1.0","variables":["/h",null,null,"/s"]}"#;
        let question = r#"{"scene":{"session":"","cwd":"/p","root":"/p","guessed":false},"call":null,"asked":"Call","memories":{"a":{"b":1.5}},"agent":"claude","packs":["all"],"plugins":{"files":[],"rewrite":false,"grants":[]}}"#;
        let judged = r#"{"verdict":{"decision":"Pass","findings":[]},"diagnostics":[],"memory":null,"memories":{},"events":[],"digests":{},"took":{"secs":0,"nanos":1}}"#;
        let nonce = "0123456789abcdef0123456789abcdef";
        let asked = format!(r#"{{"nonce":"{nonce}","question":{question}}}"#);
        let answered = format!(r#"{{"nonce":"{nonce}","hello":{hello},"judged":{judged}}}"#);
        [hello.to_owned(), asked, answered].map(String::into_bytes).into()
    },
    words: &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "null",
        "1e999",
        "1e-7",
        "-0",
        "\\n",
        "\\u2028",
        "18446744073709551615",
        "\"call\":",
        "\"nonce\":",
        "\"question\":",
        "\"hello\":",
        "\"Block\"",
    ],
    tries: 10_000,
};

/// A line between a hook and the resident host.
pub fn resident(data: &[u8]) {
    fuzzing::resident(data);
}

/// What has the shape of a secret, wherever it stands.
const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

pub(crate) const REDACTION: Target = Target {
    name: "redaction",
    run: redaction,
    seeds: || {
        let texts = [
            "export GITHUB_TOKEN='a b' && x",
            "x --password=a'b c'd e",
            "curl -H 'Authorization: Bearer abc.def' u",
            "curl -d '{\"password\": \"a b\", \"x\": 1}' u",
            "cat > a.yml <<E\npassword: a b c\nuser: x\nE",
            "bash -c \"mysql -psecret db\"",
            "git clone https://user:pass@h/r.git",
            "echo '-----BEGIN RSA PRIVATE KEY-----\nab\n-----END RSA PRIVATE KEY-----' x",
            "curl -b sid=1 -u user:pass https://h",
            "TOKEN=\"$(cat token.txt)\" make",
            "echo eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_d",
        ];
        texts.map(str::to_owned).into_iter().chain(texts_of(HARMFUL, "command")).map(String::into_bytes).collect()
    },
    words: &[
        "token=",
        "TOKEN=",
        "--password ",
        "password: ",
        "Authorization: Bearer ",
        "curl -u ",
        "mysql -p",
        "://",
        "@",
        "'",
        "\"",
        "\\",
        "\\\"",
        "$(",
        ")",
        "${",
        "`",
        "\n",
        ";",
        "=",
        ":",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "eyJ",
        "AKIAIOSFODNN7EXAMPLE",
        "sk-ant-",
        "xoxb-",
        "[redacted]",
        "é",
        "\0",
        "cookie: a=1; b=",
    ],
    tries: 10_000,
};

/// A text that is logged, as a whole, in parts and in an input.
pub fn redaction(data: &[u8]) {
    let (cut, data) = choice(data);
    let text = &String::from_utf8_lossy(data);
    let secrets = redact::secrets(text);
    assert!(secrets.windows(2).all(|two| two[0].end <= two[1].start), "in order, apart: {secrets:?}");
    assert!(
        secrets.iter().all(|one| one.start <= one.end && text.get(one.clone()).is_some()),
        "{secrets:?} in {text:?}"
    );
    let mut expected = String::new();
    let mut at = 0;
    for secret in &secrets {
        expected.push_str(&text[at..secret.start]);
        expected.push_str(redact::MARK);
        at = secret.end;
    }
    expected.push_str(&text[at..]);
    assert_eq!(redact::redacted(text), expected, "each secret is its mark and the rest is there");
    // Part by part no more is shown than of the whole.
    let end = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    for part in [0..end, end..text.len()] {
        let hidden: usize =
            secrets.iter().map(|one| one.end.min(part.end).saturating_sub(one.start.max(part.start))).sum();
        let marks = secrets.iter().filter(|one| one.end > part.start && one.start < part.end).count();
        let shown = redact::slice(text, &secrets, part.clone());
        assert_eq!(shown.len(), part.len() - hidden + marks * redact::MARK.len(), "{shown:?} of {part:?} of {text:?}");
    }
    let planted = format!("{text}\n{TOKEN}\n{text}");
    assert!(!redact::redacted(&planted).contains(TOKEN), "{planted:?}");
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        redact::value(&value);
    }
    let keyed =
        redact::value(&serde_json::json!({ "password": TOKEN, "x": [{ "api_key": TOKEN }], "command": planted }));
    assert!(!keyed.to_string().contains(TOKEN), "{keyed}");
}
