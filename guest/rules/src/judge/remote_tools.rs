//! What tools of servers say that they do elsewhere: statements for a database, code, a verb in a tool's name.
//!
//! `mcp__db__query {"sql": "DROP TABLE users"}` is judged as a client that is told so, `git_reset {"mode": "hard"}` as the
//! command of that name, and `delete_repository` by its verb. What a tool does to files here is not judged in this place.
//!
//! | Module | For |
//! |---|---|
//! | `git` | tools for git in other words than git's own |

mod git;

use toolgate_names::{tools, words_of};
use toolgate_shell::{Command, Script, Span, Word};

use super::Evaluation;
use super::rule_match::RuleMatch;
use crate::call::{Action, Call, Evidence, Field, FileEffects, Memory, ToolKind};
use crate::matching::ScriptContext;
use crate::native_rule::NativeRule;
use crate::world::GuardHost;

/// Keys of statements.
const STATEMENTS: &[&str] = &[
    "ddl",
    "queries",
    "query",
    "querytext",
    "sql",
    "sqlquery",
    "sqlstatement",
    "sqlstatements",
    "statement",
    "statements",
];

/// Words in the name of a tool that has a database behind it.
const DATABASES: &[&str] = &[
    "bigquery",
    "clickhouse",
    "cockroach",
    "cockroachdb",
    "cypher",
    "d1",
    "database",
    "databricks",
    "db",
    "dbhub",
    "duckdb",
    "execute",
    "mariadb",
    "migration",
    "mongo",
    "mongodb",
    "mssql",
    "mysql",
    "neo4j",
    "neon",
    "oracle",
    "pg",
    "planetscale",
    "postgres",
    "postgresql",
    "prisma",
    "redis",
    "redshift",
    "snowflake",
    "sql",
    "sqlite",
    "supabase",
    "turso",
];

/// Keys of code that a tool runs.
const CODE: &[&str] = &["body", "code", "expression", "program", "snippet", "source", "text"];

/// Those that hold code whatever the tool is called.
const UNNAMED: &[&str] = &["source", "sourcecode"];

/// More words than [`tools::RUNS`] in the name of a tool that runs code.
const EVALUATES: &[&str] = &["evaluate"];

/// Programs whose commands tools are called after.
const PROGRAMS: &[&str] = &["docker", "flyctl", "gh", "git", "helm", "kubectl", "npm", "pulumi", "terraform", "tofu"];

/// More verbs than [`tools::LOSES`] after which something elsewhere is gone.
const ENDS: &[&str] = &[
    "deprovision",
    "destroy",
    "drop",
    "flush",
    "flushall",
    "flushdb",
    "terminate",
    "truncate",
    "uninstall",
    "unpublish",
];

/// Verbs that lose something where it is one of these.
const TAKES: &[&str] = &["clear", "empty", "nuke", "remove", "reset", "revoke", "rm"];
const KEPT: &[&str] = &[
    "account",
    "app",
    "application",
    "branch",
    "bucket",
    "cluster",
    "collection",
    "container",
    "customer",
    "data",
    "database",
    "db",
    "deployment",
    "document",
    "documents",
    "domain",
    "environment",
    "index",
    "instance",
    "key",
    "namespace",
    "object",
    "objects",
    "org",
    "organization",
    "parent",
    "pg",
    "postgres",
    "project",
    "queue",
    "record",
    "records",
    "release",
    "repo",
    "repository",
    "row",
    "rows",
    "schema",
    "secret",
    "server",
    "service",
    "stack",
    "store",
    "table",
    "tables",
    "trash",
    "user",
    "users",
    "volume",
    "volumes",
    "workspace",
];

/// What is easily made again, or is the agent's own.
const SLIGHT: &[&str] = &[
    "bookmark",
    "breakpoint",
    "breakpoints",
    "cache",
    "caches",
    "comment",
    "cookie",
    "cookies",
    "dialog",
    "draft",
    "element",
    "entities",
    "entity",
    "favorite",
    "filter",
    "highlight",
    "history",
    "input",
    "label",
    "labels",
    "memories",
    "memory",
    "notification",
    "observation",
    "observations",
    "page",
    "reaction",
    "relation",
    "relations",
    "reminder",
    "selection",
    "session",
    "star",
    "tab",
    "tag",
    "text",
    "thought",
    "thoughts",
    "todo",
    "todos",
    "tooltip",
    "watch",
    "watchpoint",
    "webhook",
];

/// Longest text that is read for verbs under a key of the action to take.
const LONGEST_ACTION: usize = 64;

/// Words in the name of a tool that works on files, which are judged as such where they are here.
const FILES: &[&str] = &["dir", "directories", "directory", "file", "files", "folder", "folders", "path", "paths"];

impl Evaluation<'_> {
    /// What the name and the input of a tool say that it does elsewhere.
    pub(super) fn remote_tool(&mut self, world: &mut dyn GuardHost) {
        let call = self.call;
        let words = words_of(&call.tool);
        // The tools of agents themselves are one word, or have no server before them.
        if call.kind == ToolKind::Shell || call.inputs.is_empty() && !call.tool.contains(['_', '-', ':', '.', '/']) {
            return;
        }
        for command in commands(&words, &own_words(&call.tool), &call.inputs) {
            self.said(&command, world);
        }
        if loses(&call.tool, &words, call) {
            self.told(world);
        }
    }

    /// Judges the command that a tool's input comes to.
    fn said(&mut self, command: &str, world: &mut dyn GuardHost) {
        let field = Field { name: "command".to_owned(), value: command.to_owned() };
        let inner = Call {
            kind: ToolKind::Shell,
            edits: false,
            command: Some(field),
            shell: None,
            paths: Vec::new(),
            globs: Vec::new(),
            effects: FileEffects::default(),
            contents: Vec::new(),
            inputs: Vec::new(),
            tool: String::new(),
            earlier: Memory::default(),
            ..self.call.clone()
        };
        let evidence = vec![named(self.call)];
        for found in self.guard.found(&inner, world).into_iter().filter(|found| found.action != Action::Note) {
            self.add(RuleMatch { evidence: evidence.clone(), ..found });
        }
    }

    /// The tool's name says that something is lost.
    fn told(&mut self, world: &mut dyn GuardHost) {
        let tool = self.call.tool.as_str();
        let span = Span { start: 0, end: tool.len() };
        let mut command = Command::of_effects(Vec::new(), span, &self.call.cwd);
        command.words = vec![Word::new(tool, span)];
        let script = Script { commands: vec![command], ..Script::default() };
        let home = self.call.home.as_deref();
        let scene = ScriptContext::new(&script, self.guard.tables(), self.map, home, None, self.real_map);
        self.coded_on(NativeRule::ToolLoses, &scene.subject(0), tool, world, vec![named(self.call)]);
    }
}

fn named(call: &Call) -> Evidence {
    Evidence { field: "tool".to_owned(), start: 0, end: call.tool.len(), text: call.tool.clone() }
}

/// The commands that mean the same as what a tool is told.
fn commands(words: &[String], own: &[String], inputs: &[Field]) -> Vec<String> {
    let says = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let runs = says(tools::RUNS) || says(EVALUATES);
    let language = tools::runner(words).filter(|_| runs);
    let mut found = Vec::new();
    for field in inputs {
        let key = key_of(&field.name);
        let key = key.as_str();
        let text = quoted(&field.value);
        if STATEMENTS.contains(&key) && (key.starts_with("sql") || key == "ddl" || says(DATABASES)) {
            found.push(format!("{} {text}", client(&says)));
        }
        if key == "query" && says(&["graphql"]) {
            found.push(format!("curl https://graphql.example -d {text}"));
        }
        if let Some(runner) = language.filter(|_| CODE.contains(&key)) {
            found.push(format!("{runner} {text}"));
        } else if runs && UNNAMED.contains(&key) {
            // Of a language that nobody names, one of the two that are run so.
            found.extend(["python3 -c", "node -e"].map(|runner| format!("{runner} {text}")));
        }
        if says(&["redis", "valkey"]) && matches!(key, "command" | "cmd") {
            found.push(format!("redis-cli {text}"));
        }
    }
    match git::command(words, own, inputs) {
        Some(command) => found.push(command),
        None => found.extend(named_after(words, inputs)),
    }
    found
}

/// The words of a tool's name without that of its server.
fn own_words(tool: &str) -> Vec<String> {
    let own = tool.rsplit_once("__").map_or(tool, |(_, own)| own);
    words_of(own.rsplit([':', '/']).next().unwrap_or(own))
}

/// The client that would be told a statement.
fn client(says: &dyn Fn(&[&str]) -> bool) -> &'static str {
    match () {
        () if says(&["mongo", "mongodb"]) => "mongosh --eval",
        () if says(&["redis", "valkey"]) => "redis-cli",
        () if says(&["cypher", "neo4j"]) => "cypher-shell",
        () => "psql -c",
    }
}

/// The commands that a tool is called after: `git_push {"force": true}`. A mode may be an option or the word of a subcommand:
/// `git_reset {"mode": "hard"}`, `git_stash {"mode": "clear"}`.
fn named_after(words: &[String], inputs: &[Field]) -> Vec<String> {
    let as_option = |mode: &str| format!("--{}", quoted(mode.trim_start_matches('-')));
    let with = |mode: &dyn Fn(&str) -> String| command_of(words, inputs, mode);
    let mut found: Vec<String> = with(&as_option).into_iter().chain(with(&|mode: &str| quoted(mode))).collect();
    found.dedup();
    found
}

/// One of them, with what a mode stands for.
fn command_of(words: &[String], inputs: &[Field], mode: &dyn Fn(&str) -> String) -> Option<String> {
    /// Keys that say where it works, and not on what.
    const WHERE: &[&str] =
        &["context", "cwd", "namespace", "repo", "repopath", "repository", "workdir", "workingdirectory"];
    /// Keys whose value is an option.
    const OPTIONS: &[&str] = &["kind", "mode", "resettype", "strategy", "type"];
    let at = words.iter().rposition(|word| PROGRAMS.contains(&word.as_str()))?;
    let mut command: Vec<String> = words[at..].to_vec();
    if command.len() < 2 {
        return None;
    }
    for field in inputs {
        let key = key_of(&field.name);
        match field.value.as_str() {
            "true" => command.push(format!("--{}", field.name.rsplit('.').next()?.replace('_', "-"))),
            "false" | "" => {}
            value if OPTIONS.contains(&key.as_str()) => command.push(mode(value)),
            value if !WHERE.contains(&key.as_str()) && !value.contains('\n') => command.push(quoted(value)),
            _ => {}
        }
    }
    Some(command.join(" "))
}

/// Whether a tool says that something elsewhere is gone after it.
fn loses(tool: &str, words: &[String], call: &Call) -> bool {
    let own = own_words(tool);
    let one = |word: &String, wanted: &[&str]| wanted.contains(&word.as_str());
    let is_slight = own.iter().any(|word| one(word, SLIGHT));
    let kept = own.iter().any(|word| one(word, KEPT));
    let is_gone = |word: &String| one(word, tools::LOSES) || one(word, ENDS);
    let by_name = own.iter().any(is_gone) || kept && own.iter().any(|word| one(word, TAKES));
    let local = |field: &Field| ["//localhost", "//127."].iter().any(|host| field.value.contains(host));
    let is_loss = |field: &Field| {
        let first = words_of(&field.value).into_iter().next();
        let key = key_of(&field.name);
        // A command of several words is judged as one.
        let is_verb = || matches!(key.as_str(), "command" | "subcommand") && !field.value.contains(char::is_whitespace);
        (tools::ACTION_KEYS.contains(&key.as_str()) || is_verb())
            && field.value.len() <= LONGEST_ACTION
            && first.is_some_and(|word| is_gone(&word))
    };
    let told = by_name || call.inputs.iter().any(is_loss) && !call.inputs.iter().any(local);
    // What is done to files here has been judged; those of a repository at a forge are named with that.
    let has = |keys: &[&str]| call.inputs.iter().any(|field| keys.contains(&key_of(&field.name).as_str()));
    let named = !call.paths.is_empty() || !call.effects.list.is_empty();
    let elsewhere = has(&["owner", "projectid", "bucket", "drive", "fileid"]) || !named && call.command.is_none();
    let files = own.iter().any(|word| one(word, FILES)) || named;
    let served = tool.contains(['_', '-', ':', '.', '/']) && words.len() > 1;
    told && served && !is_slight && (elsewhere || !files)
}

/// The last part of a key's place, in small letters and without what joins its words. The items of a list have its key.
fn key_of(name: &str) -> String {
    let is_item = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let last = name.rsplit('.').find(|part| !is_item(part)).unwrap_or(name);
    last.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// A text as one word of a command.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
