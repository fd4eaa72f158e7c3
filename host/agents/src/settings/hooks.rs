//! Toolgate's entries in an agent's JSON file: finding, writing and removing them. All else in the file stays as it is,
//! with its comments and its order.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Value, json};

use super::program::{of_hook, words};
use super::table::{AgentConfig, Event, Hooks, NO_LENS};

/// JSON with comments and commas behind the last item, as several agents allow it. Nothing looser.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A handler of ours where the agent looks for it.
pub struct Entry {
    /// The event that it is for.
    pub event: String,
    /// Where it is in the event's list, and in the group if there are groups.
    pub(crate) at: (usize, usize),
    /// The handler as it stands there.
    pub handler: Value,
    /// The group that it is in; itself where there are no groups.
    pub outer: Value,
    /// Its command.
    pub words: Vec<String>,
    /// What of it stands behind the agent.
    behind: Vec<String>,
    /// Whether nothing else is in its group.
    alone: bool,
}

impl Entry {
    /// The group's or the handler's matcher.
    pub fn matcher(&self) -> Option<&str> {
        self.outer.get("matcher").and_then(Value::as_str)
    }

    /// The options of the hook.
    pub fn more(&self) -> Vec<String> {
        self.behind.iter().filter(|word| **word != self.event).cloned().collect()
    }
}

/// Reads a file's text. An empty one is an empty object.
///
/// # Errors
/// What is wrong with it, with its line.
pub fn parse(text: &str) -> Result<Value, String> {
    let (_, root) = open(text)?;
    root.to_serde_value().ok_or_else(|| "it has an invalid value".to_owned())
}

fn open(text: &str) -> Result<(CstRootNode, CstObject), String> {
    // A file without any value gets one.
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = CstRootNode::parse(text, &OPTIONS).map_err(|error| error.to_string())?;
    unique(&root.value().ok_or("it is empty")?)?;
    let object = root.object_value().ok_or("it contains no JSON object")?;
    Ok((root, object))
}

/// Of a key that is there twice, agents read the last one, and an edit would change the first.
fn unique(node: &CstNode) -> Result<(), String> {
    if let Some(object) = node.as_object() {
        let mut seen = std::collections::HashSet::new();
        for property in object.properties() {
            let name = property.decoded_name().unwrap_or_default();
            unique(&property.value().ok_or_else(|| format!("the key {name:?} has no value"))?)?;
            if !seen.insert(name.clone()) {
                return Err(format!("it has a duplicate key {name:?}"));
            }
        }
    }
    node.as_array().iter().flat_map(CstArray::elements).try_for_each(|element| unique(&element))
}

/// The lists of handlers, or of groups of them, by their events.
pub fn events<'a>(hooks: &Hooks, root: &'a Value) -> Option<&'a serde_json::Map<String, Value>> {
    hooks.under.map_or(Some(root), |key| root.get(key)).and_then(Value::as_object)
}

/// How many handlers at an event are not ours.
pub fn others(known: &AgentConfig, hooks: &Hooks, root: &Value, event: &str) -> usize {
    let list = events(hooks, root).and_then(|events| events.get(event)?.as_array());
    let list = list.map(Vec::as_slice).unwrap_or_default();
    let of_group = |group: &Value| group.get("hooks").and_then(Value::as_array).map_or(0, Vec::len);
    let all = if hooks.groups { list.iter().map(of_group).sum() } else { list.len() };
    all.saturating_sub(of_event(known, hooks, event, list).len())
}

/// Our handlers, for whatever event.
pub fn entries(known: &AgentConfig, hooks: &Hooks, root: &Value) -> Vec<Entry> {
    let lists = events(hooks, root).into_iter().flatten();
    let lists = lists.filter_map(|(event, list)| Some((event, list.as_array()?)));
    lists.flat_map(|(event, list)| of_event(known, hooks, event, list)).collect()
}

fn of_event(known: &AgentConfig, hooks: &Hooks, event: &str, list: &[Value]) -> Vec<Entry> {
    let entry = |at, outer: &Value, handler: &Value, alone| {
        let words = words(handler)?;
        let behind = of_hook(&words, known.name())?.to_vec();
        let (handler, outer) = (handler.clone(), outer.clone());
        Some(Entry { event: event.to_owned(), at, handler, outer, words, behind, alone })
    };
    let items = list.iter().enumerate();
    if !hooks.groups {
        return items.filter_map(|(index, handler)| entry((index, 0), handler, handler, true)).collect();
    }
    items
        .flat_map(|(index, group)| {
            let handlers = group.get("hooks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let alone = handlers.len() == 1;
            let found = handlers.iter().enumerate();
            found.filter_map(move |(inner, handler)| entry((index, inner), group, handler, alone)).collect::<Vec<_>>()
        })
        .collect()
}

/// What stands in an event's list for Toolgate.
pub(crate) fn wanted(hooks: &Hooks, event: &Event, program: &str, more: &[String]) -> Value {
    let handler = (hooks.handler)(program, event, more);
    match (hooks.groups, event.tools && !hooks.matcher.is_empty()) {
        (false, _) => handler,
        (true, true) => json!({ "matcher": hooks.matcher, "hooks": [handler] }),
        (true, false) => json!({ "hooks": [handler] }),
    }
}

/// The handler that this entry should be.
pub fn should_be(hooks: &Hooks, event: &Event, entry: &Entry) -> Value {
    (hooks.handler)(entry.words.first().map(String::as_str).unwrap_or_default(), event, &entry.more())
}

/// The options behind the first command of ours in a text.
pub fn options(text: &str, known: &AgentConfig, hooks: &Hooks) -> Vec<String> {
    let root = parse(text).unwrap_or_default();
    entries(known, hooks, &root).first().map(Entry::more).unwrap_or_default()
}

/// The text with our entries in it, as they should be; with these options behind each command, or with those that are
/// there. `lens` says whether results are asked for; without it that stays as it is. `plugins` says whether plugins are
/// installed.
///
/// # Errors
/// What in the text is not as the agent would have it, so that nothing can be put there.
pub fn install(
    text: &str,
    known: &AgentConfig,
    hooks: &Hooks,
    program: &str,
    options: Option<&[String]>,
    lens: Option<bool>,
    plugins: bool,
) -> Result<String, String> {
    let (root, object) = open(text)?;
    if let Some((path, value)) = hooks.fixed {
        set(&object, path, input(&value.value()))?;
    }
    let events = match hooks.under {
        Some(key) => object.object_value_or_create(key).ok_or_else(|| format!("{key:?} is not an object"))?,
        None => object.clone(),
    };
    // What the user has added to one command is meant for all.
    let added = || root.to_serde_value().and_then(|root| entries(known, hooks, &root).first().map(Entry::more));
    let added = added().unwrap_or_default();
    let off = lens.map_or_else(|| added.iter().any(|word| word == NO_LENS), |on| !on);
    let mut more = options.map(<[String]>::to_vec).unwrap_or(added);
    more.retain(|word| word != NO_LENS);
    more.extend(off.then(|| NO_LENS.to_owned()));
    for event in hooks.wanted(&more, plugins) {
        let list = events.array_value_or_create(event.name).ok_or_else(|| format!("{:?} is not a list", event.name))?;
        let value = list.to_serde_value().unwrap_or_default();
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let found = of_event(known, hooks, event.name, items);
        let wanted = wanted(hooks, event, program, &more);
        if found.len() == 1 && items.get(found[0].at.0) == Some(&wanted) {
            continue;
        }
        let elements = list.elements();
        let kept = found.iter().find(|entry| entry.alone);
        for entry in found.iter().filter(|entry| kept.is_none_or(|kept| kept.at != entry.at)) {
            remove(hooks, &elements, entry);
        }
        match kept.and_then(|entry| elements.get(entry.at.0)) {
            Some(place) => {
                let index = place.element_index().unwrap_or_default();
                place.clone().remove();
                list.insert(index, input(&wanted));
            }
            None => {
                list.ensure_multiline();
                list.append(input(&wanted));
            }
        }
    }
    // Of an earlier version, or written for an event that needs no answer.
    take_out(known, hooks, &events, |event| hooks.wanted(&more, plugins).all(|known| known.name != event), |_| false);
    Ok(root.to_string())
}

/// The text without what installing put in it: our entries, and what is there for them alone. `before` is what the file
/// said before that, null if there was none. What it had stays, if only as an empty list.
///
/// # Errors
/// If the text cannot be read.
pub(crate) fn uninstall(text: &str, known: &AgentConfig, hooks: &Hooks, before: &Value) -> Result<String, String> {
    let (root, object) = open(text)?;
    let property = hooks.under.map(|key| object.get(key));
    let lists = match &property {
        Some(property) => property.as_ref().and_then(CstObjectProp::object_value),
        None => Some(object.clone()),
    };
    let had = hooks.under.map_or(Some(before), |key| before.get(key));
    let had_list = |event: &str| had.is_some_and(|had| had.get(event).is_some());
    let Some(lists) = lists.filter(|lists| take_out(known, hooks, lists, |_| true, had_list)) else {
        return Ok(text.to_owned());
    };
    if lists.properties().is_empty()
        && had.is_none()
        && let Some(property) = property.flatten()
    {
        property.remove();
    }
    if let Some((path, value)) = hooks.fixed {
        let any = |root: &Value| {
            let mut lists = events(hooks, root).into_iter().flatten();
            lists.any(|(_, list)| list.as_array().is_some_and(|list| !list.is_empty()))
        };
        // Hooks of others that came while it was there may need it. Those that were there before did without.
        let needed = root.to_serde_value().is_some_and(|now| any(&now)) && !any(before);
        if !needed {
            unset(&object, path, &value.value(), Some(before));
        }
    }
    Ok(root.to_string())
}

/// What a text says beside our entries; none if it holds nothing but what we put there.
pub(crate) fn beside(text: &str, known: &AgentConfig, hooks: &Hooks) -> Option<Value> {
    if uninstall(text, known, hooks, &Value::Null).is_ok_and(|left| is_bare(&left)) {
        return None;
    }
    // What we would put there beside the entries may be the user's as well.
    let stays = match hooks.under {
        None => Value::Null,
        Some(key) => {
            let mut root = parse(text).ok()?;
            root.as_object_mut()?.remove(key);
            root
        }
    };
    parse(&uninstall(text, known, hooks, &stays).ok()?).ok()
}

/// Whether a text is to the byte what is put where there is no file, with whatever program and options.
pub(crate) fn is_own(text: &str, known: &AgentConfig, hooks: &Hooks, plugins: bool) -> bool {
    let entries = parse(text).map(|root| entries(known, hooks, &root)).unwrap_or_default();
    let Some((first, program)) = entries.first().and_then(|first| Some((first, first.words.first()?))) else {
        return false;
    };
    let more = first.more();
    let lens = more.iter().all(|word| word != NO_LENS);
    install("", known, hooks, program, Some(more.as_slice()), Some(lens), plugins).is_ok_and(|own| own == text)
}

/// Whether two texts say the same, with the same comments.
pub(crate) fn same_but_blanks(one: &str, other: &str) -> bool {
    let dense = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    // An empty file says as much as an empty object.
    let said = |text: &str| if text.trim().is_empty() { "{}".to_owned() } else { dense(text) };
    said(one) == said(other) && parse(one).is_ok_and(|value| parse(other) == Ok(value))
}

/// Whether nothing is in a text but what we put there.
pub(crate) fn is_bare(text: &str) -> bool {
    open(text).is_ok_and(|(root, object)| {
        object.properties().is_empty() && !root.to_string().contains(|c: char| !c.is_whitespace() && !"{}".contains(c))
    })
}

/// Removes our handlers of some events, and lists that are empty then but for those that stay. Says whether there were any.
fn take_out(
    known: &AgentConfig,
    hooks: &Hooks,
    events: &CstObject,
    which: impl Fn(&str) -> bool,
    stays: impl Fn(&str) -> bool,
) -> bool {
    let mut any = false;
    for property in events.properties() {
        let name = property.decoded_name().unwrap_or_default();
        let Some(list) = property.array_value().filter(|_| which(&name)) else { continue };
        let value = list.to_serde_value().unwrap_or_default();
        let found = of_event(known, hooks, &name, value.as_array().map(Vec::as_slice).unwrap_or_default());
        let elements = list.elements();
        for entry in &found {
            remove(hooks, &elements, entry);
        }
        any |= !found.is_empty();
        if !found.is_empty() && list.elements().is_empty() && !stays(&name) {
            property.remove();
        }
    }
    any
}

/// Removes a handler, and its group if nothing else is in it.
fn remove(hooks: &Hooks, elements: &[CstNode], entry: &Entry) {
    let Some(outer) = elements.get(entry.at.0) else { return };
    let handlers = outer.as_object().and_then(|group| group.array_value("hooks")).filter(|_| hooks.groups);
    let inner = handlers.as_ref().and_then(|handlers| {
        // The places in the value; those before may be gone already.
        handlers.elements().into_iter().find(|handler| handler.to_serde_value().as_ref() == Some(&entry.handler))
    });
    if let Some(inner) = inner {
        inner.remove();
    }
    if handlers.is_none_or(|handlers| handlers.elements().is_empty()) {
        outer.clone().remove();
    }
}

/// Puts a value below these keys, unless there is one.
fn set(object: &CstObject, path: &[&str], value: CstInputValue) -> Result<(), String> {
    match path {
        [] => {}
        [key] => {
            if object.get(key).is_none() {
                object.append(key, value);
            }
        }
        [key, rest @ ..] => {
            let inner = object.object_value_or_create(key).ok_or_else(|| format!("{key:?} is not an object"))?;
            set(&inner, rest, value)?;
        }
    }
    Ok(())
}

/// Removes a value below these keys, if it is this one, and the objects that are empty then; but nothing that was there
/// before.
fn unset(object: &CstObject, path: &[&str], value: &Value, before: Option<&Value>) {
    let [key, rest @ ..] = path else { return };
    let Some(property) = object.get(key) else { return };
    let before = before.and_then(|before| before.get(key));
    let gone = match property.object_value().filter(|_| !rest.is_empty()) {
        Some(inner) => {
            unset(&inner, rest, value, before);
            inner.properties().is_empty()
        }
        None => property.to_serde_value().is_some_and(|now| now == *value),
    };
    if gone && before.is_none() {
        property.remove();
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}
