//! Which cluster a kubectl command works on, so that a rule can say "never delete in production".
//!
//! Two trackers. `kube-context` is the context that a command certainly works in: the one that it names. `kube-current` is
//! the one that the text switched to before, if that worked. It is not part of the first: `kubectl config use-context dev;
//! kubectl delete ...` deletes in whatever was current if there is no `dev`. A predicate, `production`, has both and the
//! namespaces.

mod options;

use options::{Given, Options};
use serde::Deserialize;
use toolgate_sdk::{
    About, Command, Follows, Modifier, ModifierRequest, Plugin, Predicate, PredicateRequest, Tracker, Truth, log,
};

/// The context that the command names.
const CONTEXT: &str = "kube-context";

/// The context that was switched to.
const CURRENT: &str = "kube-current";

/// A variable that names other configuration files.
const CONFIG: &str = "KUBECONFIG";

/// Programs that work on a cluster.
const CLIENTS: &[&str] = &["kubectl", "k", "kubecolor", "oc", "helm"];

/// The plugin.
#[derive(Debug, Default)]
pub struct Kubectl;

impl Plugin for Kubectl {}

impl Tracker for Kubectl {
    fn trackers(&self) -> Vec<Follows> {
        let named = |program: &&str| Modifier::per_command(*program).reading(format!("env.{CONFIG}"));
        let context = CLIENTS.iter().map(named).fold(Follows::new(CONTEXT), Follows::modifier);
        let switches = ["kubectl", "k", "kubecolor", "oc", "kubectx"].into_iter().map(Modifier::sequential);
        vec![context, switches.fold(Follows::new(CURRENT), Follows::modifier)]
    }

    fn modify(&mut self, request: &ModifierRequest) -> Option<String> {
        let args = request.args();
        match request.tracker.as_str() {
            CONTEXT => {
                let redirected = request.state(&format!("env.{CONFIG}")).is_some_and(|files| !files.is_empty());
                named(&Options::of(&args), redirected).map(str::to_owned)
            }
            CURRENT if request.program == "kubectx" => switched(&args, request.before.as_deref()),
            CURRENT => configured(&Options::of(&args), request.before.as_deref()),
            _ => None,
        }
    }
}

/// The context that a command names and certainly works in.
fn named<'a>(options: &Options<'a>, redirected: bool) -> Option<&'a str> {
    match options.context {
        Given::Is(name) if !name.is_empty() && !options.redirected && !redirected => Some(name),
        _ => None,
    }
}

/// The current context after `kubectx`.
fn switched(args: &[Option<&str>], before: Option<&str>) -> Option<String> {
    match args {
        [] | [Some("-c" | "--current" | "-h" | "--help")] => before.map(str::to_owned),
        [Some(name)] if !name.starts_with('-') && !name.contains('=') => Some((*name).to_owned()),
        _ => None,
    }
}

/// The current context after `kubectl`.
fn configured(options: &Options<'_>, before: Option<&str>) -> Option<String> {
    if !options.clear {
        return None;
    }
    match options.words.as_slice() {
        ["config", "use-context" | "use", name] if !options.redirected => Some((*name).to_owned()),
        ["config", "view" | "current-context" | "get-contexts" | "get-clusters" | "get-users", ..] => {
            before.map(str::to_owned)
        }
        // What is written there may be the current context, or what its name stands for.
        ["config", ..] => None,
        _ => before.map(str::to_owned),
    }
}

impl Predicate for Kubectl {
    fn predicates(&self) -> Vec<About> {
        vec![About::new(
            "production",
            "Whether the command works on a context (`contexts`) or in a namespace (`namespaces`) of production, each a list \
             of names, with `*` for any characters.",
        )]
    }

    fn evaluate(&mut self, name: &str, request: &PredicateRequest) -> Truth {
        let production: Production = match request.arguments() {
            Ok(production) => production,
            Err(why) => {
                log!(Warning, "{name}: {why}");
                return Truth::Unknown;
            }
        };
        match &request.command {
            _ if name != "production" || production.is_empty() => Truth::Unknown,
            // No shell text.
            None => Truth::No,
            Some(command) => match command.program() {
                None => Truth::Unknown,
                Some(program) if CLIENTS.contains(&program) => production.has(command),
                Some(_) => Truth::No,
            },
        }
    }
}

/// What a rule takes for production.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Production {
    contexts: Vec<String>,
    namespaces: Vec<String>,
}

impl Production {
    fn is_empty(&self) -> bool {
        self.contexts.is_empty() && self.namespaces.is_empty()
    }

    fn has(&self, command: &Command) -> Truth {
        let args: Vec<Option<&str>> = command.args.iter().map(Option::as_deref).collect();
        let options = Options::of(&args);
        self.by_context(command, &options).or(self.by_namespace(command, &options))
    }

    fn by_context(&self, command: &Command, options: &Options<'_>) -> Truth {
        if self.contexts.is_empty() {
            return Truth::No;
        }
        if command.elsewhere || redirected(command) {
            return Truth::Unknown;
        }
        match named(options, false) {
            Some(context) => Truth::from(any(&self.contexts, context)),
            // A switch may have failed, so another one is not known to be in force.
            None if command.tracked(CURRENT).is_some_and(|context| any(&self.contexts, context)) => Truth::Yes,
            None => Truth::Unknown,
        }
    }

    fn by_namespace(&self, command: &Command, options: &Options<'_>) -> Truth {
        if self.namespaces.is_empty() {
            return Truth::No;
        }
        if options.everywhere || command.elsewhere {
            return if options.everywhere { Truth::Yes } else { Truth::Unknown };
        }
        let inside = match options.namespace {
            Given::Is(namespace) => Truth::from(any(&self.namespaces, namespace)),
            Given::Nothing | Given::Unknown => Truth::Unknown,
        };
        let unseen = if options.unseen || !options.clear { Truth::Unknown } else { Truth::No };
        inside.or(self.itself(options)).or(unseen)
    }

    /// Whether the command is about a namespace of production itself.
    fn itself(&self, options: &Options<'_>) -> Truth {
        let is_kind = |word: &str| word.split(',').any(|kind| matches!(kind, "ns" | "namespace" | "namespaces"));
        let mut words = options.words.iter().skip(1);
        let first = words.next().copied().unwrap_or_default();
        if is_kind(first) {
            return match options.all {
                true => Truth::Yes,
                false => Truth::from(words.any(|name| any(&self.namespaces, name))),
            };
        }
        let named = options.words.iter().filter_map(|word| word.split_once('/'));
        Truth::from(named.filter(|(kind, _)| is_kind(kind)).any(|(_, name)| any(&self.namespaces, name)))
    }
}

/// Whether another configuration may be in force: one that the agent wrote may call production by any name.
fn redirected(command: &Command) -> bool {
    let set = command.env.as_ref().and_then(|env| env.get(CONFIG));
    command.assignments.contains_key(CONFIG)
        || set.is_some_and(|value| value.as_deref() != Some(""))
        || command.unknown.iter().any(|unknown| unknown.at == "env")
}

fn any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

/// Whether a name matches a pattern, in which `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return name.ends_with(part);
        }
        match name.find(part) {
            Some(at) => name = name.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

toolgate_sdk::plugin!(Kubectl: tracker, predicate);

#[cfg(test)]
mod tests {
    use toolgate_sdk::Word;

    use super::*;

    /// A word `?` is not known.
    fn values(line: &str) -> Vec<Option<String>> {
        line.split_whitespace().map(|word| (word != "?").then(|| word.to_owned())).collect()
    }

    fn after(tracker: &str, line: &str, config: Option<&str>) -> Option<String> {
        let mut words = values(line).into_iter();
        let program = words.next().flatten().unwrap_or_default();
        let words = words.map(|value| Word { value, ..Word::default() }).collect();
        let state = [(format!("env.{CONFIG}"), config.map(str::to_owned))].into();
        let request = ModifierRequest { tracker: tracker.into(), program, words, before: None, state };
        Kubectl.modify(&request)
    }

    #[test]
    fn the_context_is_known_only_where_it_is_certain() {
        for (line, expected) in [
            ("kubectl --context prod delete pod x", Some("prod")),
            ("kubectl delete pod x --context=prod", Some("prod")),
            ("k --context dev get pods", Some("dev")),
            ("helm --kube-context prod uninstall x", Some("prod")),
            ("kubectl --context dev --context prod get pods", Some("prod")),
            ("kubectl delete --all --context dev pods", Some("dev")),
            ("kubectl -n web --context dev delete pod x", Some("dev")),
            ("kubectl -nweb --context dev delete pod x", Some("dev")),
            ("kubectl get pods", None),
            ("kubectl --context ? get pods", None),
            ("kubectl ? --context dev delete pod x", None),
            ("kubectl --context dev delete ? x", None),
            ("kubectl --context= get pods", None),
            ("kubectl get pods --context", None),
            // It is the namespace's name there.
            ("kubectl -n --context dev delete pod x", None),
            ("kubectl --new-option --context dev delete pod x", None),
            ("kubectl exec x -- --context dev", None),
            ("kubectl -n -- --context dev delete pod x", Some("dev")),
            ("kubectl --context dev --kubeconfig /tmp/c delete pod x", None),
            ("kubectl --context dev --server=https://prod delete pod x", None),
            ("kubectl --context dev -s https://prod delete pod x", None),
            ("kubectl --context dev -As https://prod delete pod x", None),
            ("kubectl --context dev --cluster prod delete pod x", None),
        ] {
            assert_eq!(after(CONTEXT, line, None).as_deref(), expected, "{line}");
        }
        assert_eq!(after(CONTEXT, "kubectl --context dev get pods", Some("/tmp/c")), None);
    }

    #[test]
    fn a_switch_is_followed() {
        for (line, expected) in [
            ("kubectl config use-context prod", Some("prod")),
            ("kubectl config use prod", Some("prod")),
            ("kubectl config use-context ?", None),
            ("kubectl config --kubeconfig /tmp/c use-context prod", None),
            ("kubectl config set-context dev --cluster prod", None),
            ("kubectx prod", Some("prod")),
            ("kubectx -", None),
            ("kubectx dev=prod", None),
            ("kubectx ?", None),
        ] {
            assert_eq!(after(CURRENT, line, None).as_deref(), expected, "{line}");
        }
    }

    fn production(line: &str, change: impl Fn(&mut Command)) -> Truth {
        let mut words = values(line).into_iter();
        let mut command = Command { name: words.next().flatten(), args: words.collect(), ..Command::default() };
        change(&mut command);
        let arguments =
            toolgate_sdk::serde_json::json!({ "contexts": ["prod*", "*-live"], "namespaces": ["payments"] });
        let request = PredicateRequest { arguments, command: Some(command), ..PredicateRequest::default() };
        Kubectl.evaluate("production", &request)
    }

    #[test]
    fn production_is_yes_no_or_unknown() {
        for (line, expected) in [
            ("kubectl --context prod-eu -n web delete pod x", Truth::Yes),
            ("kubectl --context eu-live -n web delete pod x", Truth::Yes),
            ("kubectl --context dev -n web delete pod x", Truth::No),
            ("kubectl --context dev -n payments delete pod x", Truth::Yes),
            ("kubectl --context dev -A delete pods --all", Truth::Yes),
            ("kubectl --context dev delete pod x", Truth::Unknown),
            ("kubectl -n web delete pod x", Truth::Unknown),
            ("kubectl --context dev -n web delete ns payments", Truth::Yes),
            ("kubectl --context dev -n web delete ns/payments", Truth::Yes),
            ("kubectl --context dev -n web delete ns --all", Truth::Yes),
            ("kubectl --context dev -n web delete ns other", Truth::No),
            ("kubectl --context dev -n web delete -f all.yaml", Truth::Unknown),
            ("kubectl --context dev -n ? delete pod x", Truth::Unknown),
            ("/usr/bin/kubectl --context prod-eu delete pod x", Truth::Yes),
            ("? --context dev", Truth::Unknown),
            ("ls prod", Truth::No),
        ] {
            assert_eq!(production(line, |_| {}), expected, "{line}");
        }
    }

    #[test]
    fn what_surrounds_the_command_counts() {
        let line = "kubectl --context dev -n web delete pod x";
        let switched = |context: &'static str| {
            move |command: &mut Command| drop(command.tracked.insert(CURRENT.into(), Some(context.into())))
        };
        assert_eq!(production("kubectl -n web delete pod x", switched("prod")), Truth::Yes);
        // The switch may have failed.
        assert_eq!(production("kubectl -n web delete pod x", switched("dev")), Truth::Unknown);
        assert_eq!(production(line, switched("prod")), Truth::No);
        assert_eq!(production(line, |command| command.elsewhere = true), Truth::Unknown);
        let config = |value: Option<&str>| [(CONFIG.to_owned(), value.map(str::to_owned))];
        assert_eq!(production(line, |command| command.assignments.extend(config(None))), Truth::Unknown);
        assert_eq!(production(line, |command| command.env = Some(config(Some("/tmp/c")).into())), Truth::Unknown);
        assert_eq!(production(line, |command| command.env = Some(config(Some("")).into())), Truth::No);
    }

    #[test]
    fn a_rule_that_makes_no_sense_is_unknown() {
        let ask =
            |arguments| Kubectl.evaluate("production", &PredicateRequest { arguments, ..PredicateRequest::default() });
        for arguments in [r#"{"context":["prod"]}"#, "{}", "null", r#"["prod"]"#] {
            let arguments = toolgate_sdk::serde_json::from_str(arguments).expect("JSON");
            assert_eq!(ask(arguments), Truth::Unknown);
        }
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("prod", "prod", true),
            ("prod", "prod-eu", false),
            ("prod*", "prod-eu", true),
            ("*prod*", "eu-prod-1", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxcyyb", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
