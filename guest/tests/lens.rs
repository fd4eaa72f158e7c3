//! The lens in a world of the test's own, with a clock of its own. The cases are in `lens.jsonl`, one a line: what
//! there is, `steps` one after the other, and what the lens `did` about them.
//!
//! | Key | What |
//! |---|---|
//! | `files`, `links` | paths below `/p`, or absolute; links with their target |
//! | `lens`, `pi-lens`, `user` | the mapping `lens` of the project's file, `.pi-lens.json`, the mapping of the user's file |
//! | `without` | `timers`, `clock`, `git`, `daemon`, `files`, `messages`: what the host does not have |
//! | `messages` | whether `piLensRenderer` is on |
//! | `answers` | of the daemon, in their order, else `clean`: `issues`, `error`, `down`, `refused`, `garbage`, `slow`, or a result |
//! | `texts` | whether `did` has the texts and not how many lines they have |
//!
//! Steps: `start REASON` (`startup` if none is given), `instance` (the lens saves, and another takes over), `write PATH`, `shell TEXT`,
//! `patch PATH`, `failed PATH`, `other PATH`, `touch PATH` (it changes now), `future PATH` (its time is later),
//! `delete PATH`, `update TOOL`, `end NAME`, `turn`, `turn again`, `pass MS` (timers fire), `stop`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};
use toolgate_guest::lens::{
    Changed, ConfigFile, Failure, Lens, LensHost, Outgoing, ResultFacts, SessionFacts, Stat, render,
};
use toolgate_rules::Layer;
use toolgate_rules::call::ToolKind;
use toolgate_test_support::cases;
use toolgate_test_support::skip::skip;

const ROOT: &str = "/p";

/// When the tests begin, in milliseconds since 1970.
const EPOCH: u64 = 1_700_000_000_000;

#[derive(Default)]
struct Fake {
    case: Value,
    /// When each file was changed.
    files: BTreeMap<String, u64>,
    changed: BTreeSet<String>,
    answers: VecDeque<Value>,
    /// Milliseconds since the test began.
    time: u64,
    timers: BTreeMap<String, u64>,
    daemon: bool,
    did: Vec<String>,
    requests: Vec<String>,
    sent: Vec<Outgoing>,
}

fn at(path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{ROOT}/{path}") }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

impl Fake {
    fn new(case: &Value) -> Self {
        Fake {
            files: texts(&case["files"]).iter().map(|path| (at(path), 0)).collect(),
            answers: case["answers"].as_array().into_iter().flatten().cloned().collect(),
            case: case.clone(),
            ..Fake::default()
        }
    }

    fn has(&self, what: &str) -> bool {
        !texts(&self.case["without"]).iter().any(|missing| missing == what)
    }

    /// With its links resolved.
    fn real(&self, path: &str) -> String {
        let mut real = String::new();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                real.truncate(real.rfind('/').unwrap_or(0));
                continue;
            }
            real = format!("{real}/{part}");
            let links = self.case["links"].as_object().into_iter().flatten();
            if let Some((_, to)) = links.into_iter().find(|(link, _)| at(link) == real) {
                real = self.real(&at(to.as_str().expect("a path")));
            }
        }
        if real.is_empty() { "/".to_owned() } else { real }
    }

    fn exists(&self, path: &str) -> bool {
        let below = |name: &String| name == path || name.starts_with(&format!("{}/", path.trim_end_matches('/')));
        path == ROOT || self.files.keys().any(below)
    }

    fn touch(&mut self, path: &str) {
        let path = at(path);
        self.files.insert(path.clone(), EPOCH + self.time);
        self.changed.insert(path);
    }

    fn did(&mut self, what: impl Into<String>) {
        self.did.push(what.into());
    }

    fn text(&mut self, what: &str, text: Option<&str>) {
        let Some(text) = text else { return };
        let all = self.case["texts"] == true;
        self.did(if all { format!("{what} {text}") } else { format!("{what} {}", text.lines().count()) });
    }
}

/// What a daemon answers that has checked.
fn result(statuses: [&str; 4], text: &str) -> String {
    let [prettier, linters, lsp, tsc] = statuses;
    json!({
        "content": [{ "type": "text", "text": text }], "isError": false,
        "details": {
            "statuses": { "prettier": prettier, "linters": linters, "lsp": lsp, "tsc": tsc },
            "hasIssues": statuses.contains(&"issues"), "fileCount": 1, "durationMs": 7,
        },
    })
    .to_string()
}

impl LensHost for Fake {
    fn config(&mut self, name: &str) -> Result<Vec<ConfigFile>, String> {
        let file = |path: &str, layer, content: String| ConfigFile {
            path: path.to_owned(),
            layer,
            content: Ok(content.into_bytes()),
        };
        let written = |key: &str| {
            self.case.get(key).map(|value| match value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            })
        };
        Ok(match name {
            "pi-settings" => {
                let messages = json!({ "piLensRenderer": self.case.get("messages") }).to_string();
                vec![file("/home/dev/.pi/agent/settings.json", Layer::User, messages)]
            }
            _ => [
                written("user").map(|text| file("/home/dev/toolgate.yaml", Layer::User, format!("lens: {text}"))),
                written("pi-lens").map(|text| file("/p/.pi-lens.json", Layer::Project, text)),
                written("lens").map(|text| file("/p/toolgate.yaml", Layer::Project, format!("lens: {text}"))),
            ]
            .into_iter()
            .flatten()
            .collect(),
        })
    }

    fn stat(&mut self, paths: &[String]) -> Option<Vec<Option<Stat>>> {
        let stat = |path: &String| {
            let modified = self.files.get(path);
            let there = self.exists(path);
            there.then(|| Stat { is_file: modified.is_some(), size: 10, modified: *modified.unwrap_or(&0) })
        };
        self.has("files").then(|| paths.iter().map(stat).collect())
    }

    fn resolve(&mut self, paths: &[String]) -> Option<Vec<Option<(String, bool)>>> {
        let real = |path: &String| {
            let real = self.real(path);
            let exists = self.exists(&real);
            Some((real, exists))
        };
        self.has("files").then(|| paths.iter().map(real).collect())
    }

    fn changed_files(&mut self, folder: &str) -> Result<Vec<Changed>, String> {
        assert_eq!(folder, ROOT);
        let changed = self.changed.iter();
        let changed = changed.map(|path| Changed { path: path.clone(), deleted: !self.files.contains_key(path) });
        if self.has("git") { Ok(changed.collect()) } else { Err("no work tree".to_owned()) }
    }

    fn ensure(&mut self) -> Result<(), String> {
        self.did("ensure");
        self.daemon = self.has("daemon");
        if self.daemon { Ok(()) } else { Err("not installed".to_owned()) }
    }

    fn request(&mut self, method: &str, params: &str) -> Result<String, Failure> {
        assert_eq!(method, "fullCheck");
        if !self.daemon {
            return Err(Failure::Unavailable("nobody listens".to_owned()));
        }
        let asked: Value = serde_json::from_str(params).expect("JSON");
        let files = texts(&asked["files"]);
        let files: Vec<&str> = files.iter().map(|path| path.strip_prefix("/p/").unwrap_or(path)).collect();
        self.did(format!("check {}", files.join(" ")));
        self.requests.push(params.to_owned());
        self.time += 42;
        let answer = self.answers.pop_front().unwrap_or_else(|| "clean".into());
        match answer.as_str() {
            Some("clean") => {
                Ok(result(["clean", "clean", "clean", "clean"], "  ✅ prettier: 1 file(s) formatted correctly"))
            }
            Some("issues") => Ok(result(["clean", "issues", "clean", "skipped"], "  ⚠ linters: 1\n ✗ a:1:2: bad (r)")),
            Some("error") => Ok(result(["clean", "clean", "error", "skipped"], "  ⚠ lsp: check failed")),
            Some("down") => {
                self.daemon = false;
                Err(Failure::Unavailable("it has gone".to_owned()))
            }
            Some("refused") => Err(Failure::Other("Path traversal rejected".to_owned())),
            Some("slow") => {
                self.time += 60_000;
                Err(Failure::Other("it took too long".to_owned()))
            }
            Some("garbage") => Ok("{\"half".to_owned()),
            Some(other) => panic!("there is no answer {other}"),
            None => Ok(answer.to_string()),
        }
    }

    fn stop(&mut self) {
        self.did("stop");
    }

    fn now(&mut self) -> Option<u64> {
        self.has("clock").then_some(EPOCH + self.time)
    }

    fn monotonic(&mut self) -> Option<u64> {
        self.has("clock").then_some(self.time)
    }

    fn schedule(&mut self, id: &str, delay: u64) -> bool {
        if self.has("timers") {
            self.did(format!("schedule {delay}"));
            self.timers.insert(id.to_owned(), self.time + delay);
        }
        self.has("timers")
    }

    fn cancel(&mut self, id: &str) {
        if self.timers.remove(id).is_some() {
            self.did("cancel");
        }
    }

    fn set_status(&mut self, key: &str, text: Option<&str>) {
        assert_eq!(key, "pi-lens");
        let statuses = text.map(|text| serde_json::from_str::<serde_json::Map<String, Value>>(text).expect("JSON"));
        let statuses = statuses.map(|all| {
            assert_eq!(all.keys().collect::<Vec<_>>(), ["prettier", "linters", "lsp", "tsc"]);
            all.values().map(|status| format!(" {}", status.as_str().expect("a status"))).collect::<String>()
        });
        self.did(format!("status{}", statuses.as_deref().unwrap_or(" -")));
    }

    fn notify(&mut self, message: &str) {
        self.did(format!("notify {message}"));
    }

    fn send(&mut self, message: Outgoing) -> bool {
        assert_eq!((message.kind, message.visible), ("pi-lens-diagnostics", true));
        let takes = self.has("messages");
        self.did(if takes { "send" } else { "send nowhere" });
        self.sent.push(message);
        takes
    }

    fn log(&mut self, warning: &str) {
        self.did(format!("log {warning}"));
    }
}

fn session(reason: Option<&str>) -> SessionFacts {
    SessionFacts {
        cwd: ROOT.to_owned(),
        home: Some("/home/dev".to_owned()),
        root: ROOT.to_owned(),
        reason: reason.map(str::to_owned),
    }
}

fn observed(lens: &mut Lens, world: &mut Fake, result: ResultFacts) {
    let addition = lens.on_result(&ResultFacts { cwd: ROOT.to_owned(), ..result }, world);
    if let Some(addition) = &addition {
        let details: Value = serde_json::from_str(&addition.details).expect("JSON");
        assert_eq!(details["schema"], 1);
    }
    world.text("add", addition.as_ref().map(|addition| addition.text.as_str()));
}

fn step(lens: &mut Lens, world: &mut Fake, step: &str) {
    let (verb, object) = step.split_once(' ').unwrap_or((step, ""));
    let path = |kind| ResultFacts { kind, paths: vec![object.to_owned()], ..ResultFacts::default() };
    let shell = |text: String| ResultFacts { command: Some(text), ..ResultFacts::default() };
    match verb {
        "start" => {
            let reason = if object.is_empty() { "startup" } else { object };
            for problem in lens.start(&session(Some(reason)), world) {
                world.did(format!("problem {}", problem.message));
            }
        }
        "instance" => {
            let saved = lens.save();
            *lens = Lens::default();
            lens.start(&session(None), world);
            lens.restore(&saved);
        }
        "write" => observed(lens, world, path(ToolKind::Write)),
        "failed" => observed(lens, world, ResultFacts { is_error: true, ..path(ToolKind::Write) }),
        "other" => observed(lens, world, path(ToolKind::Other)),
        "shell" => observed(lens, world, ResultFacts { kind: ToolKind::Shell, ..shell(object.to_owned()) }),
        "patch" => {
            let text = format!("*** Begin Patch\n*** Update File: {object}\n@@\n-a\n+b\n*** End Patch");
            observed(lens, world, ResultFacts { kind: ToolKind::Write, ..shell(text) });
        }
        "touch" => world.touch(object),
        "future" => {
            world.time += 60_000;
            world.touch(object);
            world.time -= 60_000;
        }
        "delete" => drop(world.files.remove(&at(object))),
        "update" => {
            let news = json!({ "details": { "windows": [{ "lines": [{ "kind": "tool", "content": object }] }] } });
            lens.on_update("delegate_to_subagents", &news.to_string(), world);
        }
        "end" => lens.on_end(object, "{}", world),
        "turn" => {
            let context = json!({ "schema": 1, "again": object == "again", "unseen": object == "unseen" }).to_string();
            let text = lens.on_turn_end(&context, world);
            world.text("turn", text.as_deref());
        }
        "pass" => {
            world.time += object.parse::<u64>().expect("a number");
            let time = world.time;
            let due: Vec<String> =
                world.timers.iter().filter(|(_, at)| **at <= time).map(|(id, _)| id.clone()).collect();
            for id in due {
                world.timers.remove(&id);
                lens.on_timer(&id, world);
            }
        }
        "stop" => lens.shutdown(world),
        other => panic!("there is no step {other}"),
    }
}

fn run(case: &Value) -> Fake {
    let (mut lens, mut world) = (Lens::default(), Fake::new(case));
    for one in texts(&case["steps"]) {
        step(&mut lens, &mut world, &one);
    }
    world
}

#[test]
fn the_lens_does_what_every_case_says() {
    cases!("lens.jsonl").each(|line| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let did = run(&case).did;
        assert!(did == texts(&case["did"]), "got {}", json!(did));
    });
}

#[test]
fn the_daemon_gets_ten_settings() {
    let case = json!({
        "files": ["a.ts"], "steps": ["start", "write a.ts"],
        "user": { "lsp": false, "max-concurrency": 2, "tscTimeoutMs": 999_999 },
        "pi-lens": { "maxConcurrency": 3, "linters": "yes", "lspDelayMs": 0, "unknown": 1, "prettierTimeoutMs": -5 },
        "lens": { "linter-timeout-ms": 30_000, "lsp": true },
    });
    let asked: Value = serde_json::from_str(&run(&case).requests[0]).expect("JSON");
    let expected = json!({
        "files": ["/p/a.ts"],
        "config": {
            "prettier": true, "linters": true, "lsp": false, "tsc": true, "lspDelayMs": 0, "lspTimeoutMs": 10_000, "maxConcurrency": 3,
            "prettierTimeoutMs": 1, "linterTimeoutMs": 30_000, "tscTimeoutMs": 120_000,
        },
    });
    assert_eq!(asked, expected);
}

#[test]
fn names_are_data() {
    let case =
        json!({ "files": ["a\nb.ts", "it's \"x\".ts"], "steps": ["start", "write a\nb.ts", "write it's \"x\".ts"] });
    let world = run(&case);
    let asked = |at: usize| serde_json::from_str::<Value>(&world.requests[at]).expect("JSON")["files"].clone();
    assert_eq!((asked(0), asked(1)), (json!(["/p/a\nb.ts"]), json!(["/p/it's \"x\".ts"])));
}

#[test]
fn a_message_carries_what_the_renderer_needs() {
    let case = json!({ "files": ["a.ts"], "messages": true, "answers": ["issues"], "steps": ["start", "write a.ts"] });
    let sent = &run(&case).sent[0];
    let details: Value = serde_json::from_str(&sent.details).expect("JSON");
    let sections = "  ⚠ linters: 1\n ✗ a:1:2: bad (r)";
    let expected = json!({
        "schema": 1, "statuses": { "prettier": "clean", "linters": "issues", "lsp": "clean", "tsc": "skipped" },
        "hasIssues": true, "fileCount": 1, "durationMs": 42, "sectionsText": sections,
    });
    assert_eq!(details, expected);
    let header = "🔍 pi-lens: 1 file(s) (42ms) - ✅ prettier • ⚠ linters • ✅ lsp • ⊘ tsc";
    assert_eq!(sent.text, format!("{header}\n{sections}"));
    let lines = render(sent.kind, &sent.text, &sent.details, true, 0);
    let lines: Vec<String> = lines.iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect();
    let header = "🔍 pi-lens: 1 file(s) (42ms) - ✅ prettier clean • ⚠ linters issues • ✅ lsp clean • ⊘ tsc skipped";
    assert_eq!(lines, [header, "", "    ⚠ linters: 1", "   ✗ a:1:2: bad (r)"]);
}

/// A text of this many bytes from the daemon, with something in each line that does not belong on a terminal.
#[test]
fn a_long_text_is_cut_and_made_harmless() {
    let line = "\u{1b}[31m ✗ a:1:1: bad\u{1b}]0;title\u{7} x\n";
    let details = json!({ "statuses": { "linters": "issues" } });
    let answer = json!({ "content": [{ "type": "text", "text": line.repeat(50 << 10) }], "details": details });
    let case = json!({ "files": ["a.ts"], "texts": true, "answers": [answer], "steps": ["start", "write a.ts"] });
    let did = run(&case).did;
    let text = did.last().expect("a text");
    assert!(text.starts_with("add 🔍 pi-lens: 1 file(s)") && text.len() < 65 << 10, "{} bytes", text.len());
    assert!(text.contains("\n ✗ a:1:1: bad x\n") && text.contains("… (cut: ") && !text.contains('\u{1b}'));
}

#[test]
fn many_files_are_checked_in_part_and_all_are_remembered_in_bounds() {
    let files: Vec<String> = (0..3_000).map(|n| format!("{n}{}.ts", "x".repeat(60))).collect();
    let (mut lens, mut world) = (Lens::default(), Fake::new(&json!({ "files": [] })));
    lens.start(&session(Some("startup")), &mut world);
    for some in files.chunks(100) {
        world.files.extend(some.iter().map(|path| (at(path), EPOCH)));
        let result = ResultFacts { kind: ToolKind::Write, paths: some.to_vec(), ..ResultFacts::default() };
        observed(&mut lens, &mut world, result);
    }
    let saved = lens.save();
    let kept: Value = serde_json::from_slice(&saved).expect("JSON");
    let kept = texts(&kept["checked"].as_array().expect("a list").iter().map(|file| file[0].clone()).collect());
    assert!(saved.len() <= 200 << 10 && kept.len() > 1_500, "{} files in {} bytes", kept.len(), saved.len());
    assert!(kept.contains(&at(&files[2_999])) && !kept.contains(&at(&files[0])), "the newest are kept");

    let mut world = Fake::new(&json!({ "files": [] }));
    for (n, path) in files.iter().take(500).enumerate() {
        world.time = n as u64 * 1_000;
        world.touch(path);
    }
    let now = std::mem::take(&mut world.time);
    let mut lens = Lens::default();
    lens.start(&session(Some("startup")), &mut world);
    world.time = now - 100_000;
    observed(&mut lens, &mut world, ResultFacts::default());
    lens.on_turn_end("{}", &mut world);
    let asked: Value = serde_json::from_str(&world.requests[0]).expect("JSON");
    let asked = texts(&asked["files"]);
    assert!(asked.len() == 200 && asked[0] == at(&files[399]), "{} files, {}", asked.len(), asked[0]);
}

#[test]
fn whatever_was_saved_can_be_read() {
    let cases: &[&[u8]] = &[
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"{\"schema\":2}",
        b"{\"schema\":1}",
        b"{\"schema\":1,\"checked\":[1,[],[\"a\"],[\"a\",-1,0,true]]}",
        b"{\"schema\":1,\"since\":\"x\",\"checked\":{},\"subagents\":7,\"turns\":{\"calls\":-1}}",
    ];
    let empty = Lens::default().save();
    for saved in cases {
        let mut lens = Lens::default();
        lens.restore(saved);
        assert_eq!(lens.save(), empty, "{}", String::from_utf8_lossy(saved));
    }
    // Two hosts of one session, one after the other: nothing is lost, and the session began with the earlier.
    let earlier =
        br#"{"since":5,"checked":[["/p/a",1,1,true],["/p/b",9,1,false]],"schema":1,"subagents":[true,false]}"#;
    let later = br#"{"since":7,"checked":[["/p/b",3,1,true],["/p/c",1,1,false]],"schema":1,"subagents":[false,true]}"#;
    let mut lens = Lens::default();
    lens.restore(earlier);
    lens.restore(later);
    let saved: Value = serde_json::from_slice(&lens.save()).expect("JSON");
    let checked = json!([["/p/c", 1, 1, false], ["/p/a", 1, 1, true], ["/p/b", 9, 1, false]]);
    let expected = json!({ "since": 5, "checked": checked, "schema": 1, "subagents": [true, true] });
    assert_eq!((saved["since"].clone(), saved["subagents"].clone()), (5.into(), expected["subagents"].clone()));
    assert_eq!(saved["checked"], expected["checked"]);
    // Of turns each number only grows: the call that one host saw is still to be swept.
    lens.restore(br#"{"schema":1,"turns":{"calls":3,"swept":1,"since":9}}"#);
    lens.restore(br#"{"schema":1,"turns":{"calls":2,"swept":2,"since":null}}"#);
    let saved: Value = serde_json::from_slice(&lens.save()).expect("JSON");
    assert_eq!(saved["turns"], json!({ "calls": 3, "swept": 2, "since": 9 }));
}

/// What the real daemon answered.
#[test]
fn answers_of_the_real_daemon_are_read() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases/code-lens/exchanges.json");
    let Ok(exchanges) = std::fs::read_to_string(&file) else {
        return skip(format!("{} is not there", file.display()));
    };
    let exchanges: Value = serde_json::from_str(&exchanges).expect("JSON");
    // The name, the statuses, and how many lines the agent gets; none if the daemon did not check.
    let cases: &[(&str, &str, usize)] = &[
        ("01-fullCheck-clean-cold", "clean clean clean skipped", 1),
        ("03-fullCheck-issues", "clean issues clean skipped", 6),
        ("05-fullCheck-syntax-error", "error issues clean skipped", 5),
        ("06-fullCheck-nolsp-noprettier", "skipped issues skipped skipped", 4),
        ("07-fullCheck-all-off", "skipped skipped skipped skipped", 0),
        ("08-fullCheck-md", "clean skipped error skipped", 3),
        ("11-fullCheck-missing-file", "error clean clean skipped", 4),
        ("10-fullCheck-empty-files", "", 0),
        ("12-fullCheck-traversal", "", 0),
        ("23-prettier", "", 0),
    ];
    for (name, statuses, lines) in cases {
        let answer: Value = serde_json::from_str(exchanges[name]["response"].as_str().expect("a text")).expect("JSON");
        let case = json!({ "files": ["a.ts"], "answers": [answer["result"]], "steps": ["start", "write a.ts"] });
        let did = run(&case).did;
        let expected = [format!("status {statuses}"), format!("add {lines}")];
        match lines {
            0 if !statuses.is_empty() => assert_eq!(did.last(), expected.first(), "{name}"),
            0 => assert!(did.last().is_some_and(|last| last.starts_with("log ")), "{name}: {did:?}"),
            _ => assert_eq!(did[did.len() - 2..], expected, "{name}"),
        }
    }
}
