//! The trackers and predicates of a session's components, for those that ask for them: `extensions` of the contract.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use crate::capability::{Answer, Extensions};
use crate::error::CallError;
use crate::{CapabilityError, Extension, Truth};

/// The components of a session that have trackers or predicates. Without any it answers that there are none.
///
/// ```
/// use toolgate_host::{Capabilities, ExtensionRegistry};
///
/// let granted = Capabilities::denied().extensions(ExtensionRegistry::default());
/// ```
#[derive(Clone, Debug, Default)]
pub struct ExtensionRegistry(Arc<Members>);

#[derive(Debug, Default)]
struct Members {
    all: Vec<Extension>,
    known: OnceCell<ComponentDescriptions>,
}

/// What the components have said of themselves.
#[derive(Debug)]
struct ComponentDescriptions {
    /// The answer of `provided`.
    text: String,
    /// By the name of the component: its place. One that failed is not among them.
    components: HashMap<String, usize>,
    /// By the name of the predicate: the place of its component.
    predicates: HashMap<String, usize>,
}

/// The keys of what a component provides.
const COMPONENT: &str = "component";
const TRACKERS: &str = "trackers";
const PREDICATES: &str = "predicates";
const WRONG: &str = "wrong";

/// What one component provides, or why it provides nothing.
type Provided = Result<Map<String, Value>, String>;

impl ExtensionRegistry {
    /// These components. None of them runs before the first question.
    pub fn new(components: Vec<Extension>) -> Self {
        ExtensionRegistry(Arc::new(Members { all: components, known: OnceCell::new() }))
    }

    async fn known(&self) -> &ComponentDescriptions {
        self.0.known.get_or_init(|| self.ask()).await
    }

    async fn ask(&self) -> ComponentDescriptions {
        let mut told: Vec<Provided> = Vec::new();
        for component in &self.0.all {
            let said = component.provided().await.map_err(|error| error.to_string());
            told.push(said.and_then(|(trackers, predicates)| read(trackers.as_deref(), predicates.as_deref())));
        }
        let names: Vec<&str> = self.0.all.iter().map(Extension::name).collect();
        refuse_doubles(&names, &mut told);
        let mut known =
            ComponentDescriptions { text: String::new(), components: HashMap::new(), predicates: HashMap::new() };
        let mut components = Vec::new();
        for (at, (name, provided)) in names.iter().zip(told).enumerate() {
            let mut entry = Map::from_iter([(COMPONENT.to_owned(), Value::from(*name))]);
            match provided {
                Ok(provided) => {
                    known.components.insert((*name).to_owned(), at);
                    known.predicates.extend(named(&provided, PREDICATES).map(|name| (name.to_owned(), at)));
                    entry.extend(provided);
                }
                Err(why) => {
                    tracing::warn!(plugin = name, why, "its trackers and predicates are missing");
                    entry.insert("failed".to_owned(), why.into());
                }
            }
            components.push(entry);
        }
        known.text = json!({ "schema": 1, "components": components }).to_string();
        known
    }

    fn member(&self, at: Option<&usize>, what: &str) -> Answer<&Extension> {
        let member = at.and_then(|at| self.0.all.get(*at));
        member.ok_or_else(|| CapabilityError::NotFound(format!("no plugin provides {what}")))
    }
}

/// What a component says of itself, each list with nothing but objects in it.
fn read(trackers: Option<&str>, predicates: Option<&str>) -> Provided {
    let mut provided = Map::new();
    for (text, keys) in [(trackers, &[TRACKERS, "extensions"][..]), (predicates, &[PREDICATES])] {
        let Some(text) = text else { continue };
        let wrong =
            |why: &dyn std::fmt::Display| format!("its description of {} is invalid: {why}", keys.join(" and "));
        let Value::Object(mut said) = serde_json::from_str(text).map_err(|error| wrong(&error))? else {
            return Err(wrong(&"it is not a JSON object"));
        };
        if said.get("schema") != Some(&json!(1)) {
            return Err(wrong(&"its schema is not 1"));
        }
        for key in keys {
            let Some(list) = said.remove(*key) else { continue };
            if !list.as_array().is_some_and(|list| list.iter().all(Value::is_object)) {
                return Err(wrong(&format!("{key} is not a list of objects")));
            }
            provided.insert((*key).to_owned(), list);
        }
    }
    Ok(provided)
}

fn named<'a>(provided: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a str> {
    let list = provided.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|one| one.get("name").and_then(Value::as_str))
}

/// Two components that claim the same state cannot both be right, and which one is asked must not depend on their order: what
/// both have, neither provides. Of two with one name neither provides anything.
fn refuse_doubles(names: &[&str], told: &mut [Provided]) {
    let mut owners: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
    for (at, (name, provided)) in names.iter().zip(told.iter()).enumerate() {
        owners.entry((COMPONENT, (*name).to_owned())).or_default().push(at);
        let Ok(provided) = provided else { continue };
        for key in [TRACKERS, PREDICATES] {
            for name in named(provided, key) {
                owners.entry((key, name.to_owned())).or_default().push(at);
            }
        }
    }
    for ((kind, name), at) in owners.into_iter().filter(|(_, at)| at.len() > 1) {
        let owners: Vec<&str> = at.iter().filter_map(|at| names.get(*at).copied()).collect();
        let kind_of_one = kind.trim_end_matches('s');
        let why = format!(
            "the {kind_of_one} {name} is defined more than once ({}), so all of them are ignored",
            owners.join(", ")
        );
        for at in at {
            match told.get_mut(at) {
                Some(told) if kind == COMPONENT => *told = Err(why.clone()),
                Some(Ok(provided)) => leave_out(provided, kind, &name, &why),
                _ => {}
            }
        }
    }
}

/// Takes what has this name out of a list, and says why in another.
fn leave_out(provided: &mut Map<String, Value>, key: &str, name: &str, why: &str) {
    if let Some(list) = provided.get_mut(key).and_then(Value::as_array_mut) {
        list.retain(|one| one.get("name").and_then(Value::as_str) != Some(name));
    }
    let wrong = provided.entry(WRONG).or_insert_with(|| json!([]));
    if let Some(wrong) = wrong.as_array_mut().filter(|wrong| !wrong.contains(&why.into())) {
        wrong.push(why.into());
    }
}

fn failed(error: &CallError) -> CapabilityError {
    match error {
        CallError::Timeout(_) | CallError::Deadline => CapabilityError::Timeout,
        error => CapabilityError::Other(error.to_string()),
    }
}

#[async_trait]
impl Extensions for ExtensionRegistry {
    async fn provided(&self) -> Answer<String> {
        Ok(self.known().await.text.clone())
    }

    async fn modify(&self, component: String, request: String) -> Answer<String> {
        let member = self.member(self.known().await.components.get(&component), &component)?;
        member.modify(&request).await.map_err(|error| failed(&error))
    }

    async fn evaluate(&self, predicate: String, request: String) -> Answer<Truth> {
        let member =
            self.member(self.known().await.predicates.get(&predicate), &format!("the predicate {predicate}"))?;
        member.evaluate(&predicate, &request).await.map_err(|error| failed(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_components_say_is_read_or_refused() {
        let one = r#"{"schema":1,"trackers":[{"name":"a"}],"more":1}"#;
        let cases = [
            (Some(one), None, Ok(r#"{"trackers":[{"name":"a"}]}"#)),
            (None, Some(r#"{"schema":1,"predicates":[]}"#), Ok(r#"{"predicates":[]}"#)),
            (None, None, Ok("{}")),
            (Some("{"), None, Err("its description of trackers and extensions is invalid: EOF")),
            (Some("[]"), None, Err("its description of trackers and extensions is invalid: it is not a JSON object")),
            (None, Some(r#"{"schema":2}"#), Err("its description of predicates is invalid: its schema is not 1")),
            (
                None,
                Some(r#"{"schema":1,"predicates":[1]}"#),
                Err("its description of predicates is invalid: predicates is"),
            ),
        ];
        for (trackers, predicates, expected) in cases {
            match (read(trackers, predicates), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(Value::Object(found).to_string(), expected),
                (Err(found), Err(expected)) => assert!(found.starts_with(expected), "{found}"),
                (found, expected) => panic!("{found:?} {expected:?}"),
            }
        }
    }

    #[test]
    fn of_two_with_one_name_neither_counts() {
        let with = |key: &str, names: &[&str]| -> Provided {
            let list: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
            Ok(Map::from_iter([(key.to_owned(), list.into())]))
        };
        // The components' names, what they provide, and how much of it counts; none if the component as a whole does not.
        #[rustfmt::skip]
        let cases = [
            (["a", "b"], [with("trackers", &["x"]), with("trackers", &["y"])], [Some(1), Some(1)]),
            (["a", "b"], [with("trackers", &["x"]), with("predicates", &["x"])], [Some(1), Some(1)]),
            (["a", "b"], [with("trackers", &["x", "y"]), with("trackers", &["x"])], [Some(1), Some(0)]),
            (["a", "b"], [with("predicates", &["x"]), with("predicates", &["x"])], [Some(0), Some(0)]),
            (["a", "b"], [with("trackers", &["x", "x", "y"]), with("trackers", &[])], [Some(1), Some(0)]),
            (["a", "a"], [with("trackers", &["x"]), with("trackers", &["y"])], [None, None]),
            (["a", "b"], [with("trackers", &["x"]), Err("dead".to_owned())], [Some(1), None]),
        ];
        for (names, mut told, expected) in cases {
            refuse_doubles(&names, &mut told);
            let count = |told: &Provided| {
                let told = told.as_ref().ok()?;
                Some(["trackers", "predicates"].iter().map(|key| named(told, key).count()).sum::<usize>())
            };
            assert_eq!(told.each_ref().map(count), expected, "{names:?} {told:?}");
        }
    }
}
