//! The trackers and predicates of other components: what they provide, and what they are asked while a text is walked.
//!
//! A tracker that fails once is not asked again for the same text, and no text asks more than [`QUESTIONS`] times:
//! whatever is not asked is unknown.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate_shell::{Modifier, Snapshot, Subshell, Tracker, Trackers, Word};

use crate::branch::{TRACKER as BRANCH, tracker as branch_tracker};

/// How often other components are asked for one text. A hook may make 1 000 host calls, and most of them are for files.
const QUESTIONS: u32 = 200;

/// Longest name of a tracker, a predicate or a program, in bytes.
const LONGEST_NAME: usize = 100;

/// Longest value of a tracker, in bytes.
const LONGEST_VALUE: usize = 4_096;

/// Reaches the other components.
pub trait Ask {
    /// Applies a modifier of this component. None if that fails.
    fn modify(&self, component: &str, request: &str) -> Option<String>;
}

/// What the other components of the session provide.
#[derive(Clone, Debug)]
pub struct Provided {
    /// Their trackers, behind those of the guard's own.
    pub trackers: Rc<Trackers>,
    /// The names of their predicates.
    pub predicates: Vec<String>,
    /// What could not be used, as sentences.
    pub problems: Vec<String>,
    state: Rc<State>,
}

/// What was asked for one text.
#[derive(Default)]
struct State {
    source: RefCell<String>,
    answers: RefCell<HashMap<(String, String), Option<String>>>,
    failed: RefCell<HashSet<(String, String)>>,
    asked: Cell<u32>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("asked", &self.asked).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Described {
    #[serde(default)]
    components: Vec<Component>,
}

#[derive(Deserialize)]
struct Component {
    component: String,
    #[serde(default)]
    trackers: Vec<DescribedTracker>,
    #[serde(default)]
    extensions: Vec<Extension>,
    #[serde(default)]
    predicates: Vec<Predicate>,
    failed: Option<String>,
    #[serde(default)]
    wrong: Vec<String>,
}

#[derive(Deserialize)]
struct DescribedTracker {
    name: String,
    initial: Option<String>,
    subshell: Option<String>,
    #[serde(default)]
    modifiers: Vec<DescribedModifier>,
}

#[derive(Deserialize)]
struct Extension {
    tracker: String,
    #[serde(default)]
    modifiers: Vec<DescribedModifier>,
}

#[derive(Clone, Deserialize)]
struct DescribedModifier {
    program: String,
    scope: String,
    #[serde(default)]
    reads: Vec<String>,
}

#[derive(Deserialize)]
struct Predicate {
    name: String,
}

impl Provided {
    /// What `extensions.provided` of the contract answered. What is wrong in it is left out and told.
    pub fn read(described: &str, ask: &Rc<dyn Ask>) -> Self {
        let mut problems = Vec::new();
        let described: Described = serde_json::from_str(described).unwrap_or_else(|error| {
            problems.push(format!("descriptions cannot be read: {error}"));
            Described { components: Vec::new() }
        });
        let mut provided = Provided { trackers: Rc::default(), predicates: Vec::new(), problems, state: Rc::default() };
        let mut trackers = Trackers::new();
        // Its name is not taken: the list is empty.
        let _ = trackers.add(branch_tracker());
        // All trackers before all extensions, so that the order of the components does not matter.
        for component in &described.components {
            let wrong = component.failed.iter().chain(&component.wrong);
            provided.problems.extend(wrong.map(|why| format!("{}: {why}", component.component)));
            for tracker in &component.trackers {
                if let Err(why) = provided.tracker(&mut trackers, &component.component, tracker, ask) {
                    provided.problems.push(format!("{}: {why}", component.component));
                }
            }
            for Predicate { name } in &component.predicates {
                provided.predicates.push(name.clone());
            }
        }
        for component in &described.components {
            for extension in &component.extensions {
                for modifier in &extension.modifiers {
                    if extension.tracker == BRANCH {
                        let why =
                            format!("{}: the name {BRANCH} is reserved for the guard's tracker", component.component);
                        provided.problems.push(why);
                        continue;
                    }
                    let made = provided.modifier(&component.component, &extension.tracker, modifier, ask);
                    let added = made.and_then(|made| trackers.extend(&extension.tracker, &modifier.program, made));
                    if let Err(why) = added {
                        provided.problems.push(format!("{}: {why}", component.component));
                    }
                }
            }
        }
        provided.trackers = Rc::new(trackers);
        provided
    }

    /// Whether any component provides anything that a walk needs.
    pub fn is_empty(&self) -> bool {
        self.trackers.names().count() <= 1 && self.trackers.extended().next().is_none()
    }

    /// Forgets what was asked for the text before; `source` is the one that comes.
    pub fn renew(&self, source: &str) {
        source.clone_into(&mut self.state.source.borrow_mut());
        self.state.answers.borrow_mut().clear();
        self.state.failed.borrow_mut().clear();
        self.state.asked.set(0);
    }

    fn tracker(
        &self,
        trackers: &mut Trackers,
        component: &str,
        described: &DescribedTracker,
        ask: &Rc<dyn Ask>,
    ) -> Result<(), String> {
        named(&described.name)?;
        let subshell = match described.subshell.as_deref() {
            None | Some("isolated") => Subshell::Isolated,
            Some("propagate") => Subshell::Propagate,
            Some(other) => return Err(format!("subshell must be isolated or propagate, not {other}")),
        };
        let mut tracker = Tracker {
            subshell,
            initial: described.initial.clone().filter(|value| value.len() <= LONGEST_VALUE),
            cautious: true,
            ..Tracker::new(&described.name)
        };
        let mut seen = HashSet::new();
        for modifier in &described.modifiers {
            if !seen.insert((&modifier.program, &modifier.scope)) {
                return Err(format!(
                    "{} has two {} modifiers for {}",
                    described.name, modifier.scope, modifier.program
                ));
            }
            tracker = tracker.modifier(&modifier.program, self.modifier(component, &described.name, modifier, ask)?);
        }
        trackers.add(tracker).map_err(|taken| taken.to_string())
    }

    fn modifier(
        &self,
        component: &str,
        tracker: &str,
        described: &DescribedModifier,
        ask: &Rc<dyn Ask>,
    ) -> Result<Modifier, String> {
        named(&described.program)?;
        let (state, ask, described) = (Rc::clone(&self.state), Rc::clone(ask), described.clone());
        let (component, tracker, scope) = (component.to_owned(), tracker.to_owned(), described.scope.clone());
        let apply = move |words: &[Word], before: Option<&str>, snapshot: &dyn Snapshot| {
            let request = json!({
                "schema": 1, "tracker": tracker, "program": described.program, "scope": described.scope,
                "words": state.words(words),
                "before": before, "state": read(&described.reads, snapshot),
            });
            state.ask(&*ask, &component, &tracker, request.to_string())
        };
        match scope.as_str() {
            "sequential" => Ok(Modifier::sequential(apply)),
            "per-command" => Ok(Modifier::per_command(apply)),
            other => Err(format!("scope must be sequential or per-command, not {other}")),
        }
    }
}

impl State {
    fn words(&self, words: &[Word]) -> Vec<Value> {
        let source = self.source.borrow();
        let word = |word: &Word| {
            let text = source.get(word.span.start..word.span.end);
            json!({ "text": text, "value": word.known().filter(|_| !word.several) })
        };
        words.iter().map(word).collect()
    }

    /// The value after a modifier; None if it is unknown.
    fn ask(&self, ask: &dyn Ask, component: &str, tracker: &str, request: String) -> Option<String> {
        let owner = (component.to_owned(), tracker.to_owned());
        if self.failed.borrow().contains(&owner) {
            return None;
        }
        let key = (component.to_owned(), request);
        if let Some(known) = self.answers.borrow().get(&key) {
            return known.clone();
        }
        if self.asked.get() >= QUESTIONS {
            return None;
        }
        self.asked.set(self.asked.get() + 1);
        let after = ask.modify(component, &key.1).and_then(|answer| after(&answer));
        if after.is_none() {
            self.failed.borrow_mut().insert(owner);
        }
        let after = after.flatten();
        self.answers.borrow_mut().insert(key, after.clone());
        after
    }
}

/// The value in an answer: None if the answer is no such thing, or if it is too long to be carried along.
fn after(answer: &str) -> Option<Option<String>> {
    #[derive(Deserialize)]
    struct Answer {
        // Required: an answer without it is none, and not one that says unknown.
        #[serde(deserialize_with = "Option::deserialize")]
        after: Option<String>,
    }
    let Answer { after } = serde_json::from_str(answer).ok()?;
    // What is unknown in the engine's own values is written as NUL.
    let fits = |value: &String| value.len() <= LONGEST_VALUE && !value.contains('\0');
    if after.as_ref().is_none_or(fits) { Some(after) } else { None }
}

/// What a modifier wants to know of the other state.
fn read(reads: &[String], snapshot: &dyn Snapshot) -> Map<String, Value> {
    let value = |name: &String| match name.strip_prefix("env.") {
        Some(variable) => snapshot.variable(variable),
        None => snapshot.tracked(name),
    };
    reads.iter().map(|name| (name.clone(), value(name).into())).collect()
}

fn named(name: &str) -> Result<(), String> {
    let fine = !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(|c: char| c.is_control() || c == '/');
    if fine { Ok(()) } else { Err(format!("{name:?} is not a valid name")) }
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;

    /// `k use NAME` sets the context, `k --on NAME` for one command, `k die` fails, `k odd` answers what cannot be used;
    /// `go NAME` goes to a folder.
    struct Cluster(Cell<u32>);

    impl Ask for Cluster {
        fn modify(&self, component: &str, request: &str) -> Option<String> {
            self.0.set(self.0.get() + 1);
            let request: Value = serde_json::from_str(request).expect("a request");
            assert_eq!((component, &request["schema"]), ("cluster", &json!(1)));
            let word = |at: usize| request["words"][at]["value"].as_str();
            let after = match (request["program"].as_str(), word(0), word(1)) {
                (Some("go"), Some(name), _) => json!(format!("/srv/{name}")),
                (_, Some("use"), Some("$")) => request["state"]["env.CLUSTER"].clone(),
                (_, Some("use" | "--on"), Some(name)) => json!(name),
                (_, Some("use" | "--on"), None) => Value::Null,
                (_, Some("die"), _) => return None,
                (_, Some("odd"), _) => return Some("{}".to_owned()),
                _ => request["before"].clone(),
            };
            Some(json!({ "schema": 1, "after": after }).to_string())
        }
    }

    fn cluster() -> (Rc<Cluster>, Provided) {
        let ask = Rc::new(Cluster(Cell::new(0)));
        let modifiers = json!([
            { "program": "k", "scope": "sequential", "reads": ["env.CLUSTER"] },
        ]);
        let described = json!({ "schema": 1, "components": [{
            "component": "cluster",
            "trackers": [
                { "name": "cluster", "initial": "none", "modifiers": modifiers },
                { "name": "once", "initial": null, "modifiers": [{ "program": "k", "scope": "per-command" }] },
                { "name": "shared", "initial": "none", "subshell": "propagate", "modifiers": modifiers },
            ],
            "extensions": [{ "tracker": "cwd", "modifiers": [{ "program": "go", "scope": "sequential" }] }],
            "predicates": [{ "name": "production", "about": "" }],
        }] });
        let dynamic: Rc<dyn Ask> = ask.clone();
        let provided = Provided::read(&described.to_string(), &dynamic);
        assert_eq!((&provided.problems, provided.is_empty()), (&Vec::new(), false));
        (ask, provided)
    }

    #[test]
    fn the_state_of_other_components_follows_the_text() {
        let (_, provided) = cluster();
        // The text; what the last command has as cluster, once, shared and its directory.
        #[rustfmt::skip]
        let cases = [
            ("k get", Some("none"), None, Some("none"), "/p"),
            ("k use dev; k get", Some("dev"), None, Some("dev"), "/p"),
            ("k use dev && k --on prod get", Some("dev"), Some("prod"), Some("dev"), "/p"),
            ("(k use dev); k get", Some("none"), None, Some("dev"), "/p"),
            ("k use $X; k get", None, None, None, "/p"),
            ("CLUSTER=eu; k use '$'; k get", Some("eu"), None, Some("eu"), "/p"),
            ("if a; then k use dev; else k use prod; fi; k get", None, None, None, "/p"),
            ("if a; then k use dev; else k use dev; fi; k get", Some("dev"), None, Some("dev"), "/p"),
            ("$K use prod; k get", None, None, None, ""),
            ("sudo k use prod; echo", Some("none"), None, Some("prod"), "/p"),
            ("k use dev; k die; k use dev; k get", None, None, None, "/p"),
            ("k odd; k get", None, None, None, "/p"),
            ("go a; k get", Some("none"), None, Some("none"), ""),
            ("/opt/bin/k use dev; k get", Some("dev"), None, Some("dev"), "/p"),
        ];
        for (text, cluster, once, shared, cwd) in cases {
            provided.renew(text);
            let script = parse(text, &Facts::new("/p").trackers(Rc::clone(&provided.trackers)));
            let last = script.commands.last().expect(text);
            let found: Vec<Option<&str>> = last.tracked.iter().map(Option::as_deref).collect();
            assert_eq!(found.get(1..), Some(&[cluster, once, shared][..]), "{text}");
            assert_eq!(last.cwd.as_deref().unwrap_or_default(), cwd, "{text}");
        }
    }

    #[test]
    fn a_text_asks_only_so_often_and_the_same_only_once() {
        let (ask, provided) = cluster();
        let many: String = (0..1_000).map(|at| format!("k use {at}; ")).collect();
        for (text, at_most) in [("k use a; ".repeat(50), 8), (many, QUESTIONS)] {
            ask.0.set(0);
            provided.renew(&text);
            let script = parse(&text, &Facts::new("/p").trackers(Rc::clone(&provided.trackers)));
            assert!(!script.commands.is_empty() && ask.0.get() <= at_most, "{}: {}", &text[..20], ask.0.get());
        }
    }

    #[test]
    fn what_is_described_wrongly_is_left_out_and_told() {
        let tracker = |name: &str| json!({ "name": name, "initial": "" });
        let with = |key: &str, value: Value| json!({ "components": [{ "component": "c", key: value }] });
        let scope = json!([{ "name": "a", "initial": "", "modifiers": [{ "program": "k", "scope": "now" }] }]);
        let twice = json!([{ "tracker": "cwd", "modifiers": [{ "program": "cd", "scope": "sequential" }] }]);
        let cases = [
            (with("trackers", json!([tracker("a"), tracker("a")])), "c: a tracker named a already exists"),
            (with("trackers", json!([tracker("cwd")])), "c: a tracker named cwd already exists"),
            (with("trackers", json!([tracker("branch")])), "c: a tracker named branch already exists"),
            (with("trackers", json!([tracker("")])), "c: \"\" is not a valid name"),
            (with("trackers", scope), "c: scope must be"),
            (with("extensions", twice), "c: cwd has a modifier for cd already"),
            (
                with(
                    "extensions",
                    json!([{ "tracker": "branch", "modifiers": [{ "program": "x", "scope": "sequential" }] }]),
                ),
                "c: the name branch is",
            ),
            (with("failed", "it does not start".into()), "c: it does not start"),
            (json!({ "components": 1 }), "descriptions cannot be read"),
        ];
        let ask: Rc<dyn Ask> = Rc::new(Cluster(Cell::new(0)));
        for (described, problem) in cases {
            let provided = Provided::read(&described.to_string(), &ask);
            assert!(
                provided.problems.len() == 1 && provided.problems[0].starts_with(problem),
                "{:?}",
                provided.problems
            );
        }
    }

    /// Notes what predicates are asked, and answers that they hold.
    #[derive(Default)]
    struct RecordingHost(Vec<Value>);

    impl crate::GuardHost for RecordingHost {
        fn resolve(&mut self, paths: &[String]) -> Result<Vec<Option<String>>, String> {
            Ok(vec![None; paths.len()])
        }

        fn predicate(&mut self, name: &str, request: &str) -> Option<bool> {
            assert_eq!(name, "production");
            self.0.push(serde_json::from_str(request).expect("a request"));
            Some(true)
        }
    }

    #[test]
    fn a_predicate_is_asked_about_the_command_or_about_none() {
        use crate::call::{Call, Field, ToolKind};
        use crate::{Guard, Layer};
        let rules = "rules:
- {name: a, program: k, when: {predicates: {production: {in: [x]}}}}
- {name: b, tool: write, field: path, pattern: secret, when: {predicates: {production: 1}}}";
        let mut guard = Guard::new();
        assert_eq!(guard.load("rules.yaml", Layer::User, rules.as_bytes()), []);
        assert_eq!(guard.attach(cluster().1), []);
        let field = |name: &str, value: &str| Field { name: name.into(), value: value.into() };
        let call = |kind| Call { kind, cwd: "/p".into(), workspace: "/p".into(), ..Call::default() };
        let shell = Call { command: Some(field("command", "k use dev; k get")), ..call(ToolKind::Shell) };
        let write = Call { paths: vec![field("path", "secret")], ..call(ToolKind::Write) };
        // The call, and what the last question has of arguments, of the command, and of its state.
        let cases =
            [(shell, json!({"in": ["x"]}), json!("k"), json!("dev")), (write, json!("1"), Value::Null, Value::Null)];
        for (call, arguments, program, tracked) in cases {
            let mut asked = RecordingHost::default();
            let verdict = guard.judge(&call, &mut asked);
            assert!(verdict.findings.iter().any(|one| one.rule.starts_with("user:")), "{verdict:?}");
            let last = asked.0.last().expect("a question");
            assert_eq!((&last["arguments"], &last["command"]["name"]), (&arguments, &program), "{last}");
            assert_eq!(last["command"]["tracked"]["cluster"], tracked, "{last}");
            assert_eq!(last["command"].is_null(), program.is_null(), "{last}");
        }
    }
}
