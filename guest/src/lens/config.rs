//! The settings of the lens: defaults, then the user's rule files, then `.pi-lens.json`, then the project's rule
//! files. A value that is wrong drops alone. What the user's own files switch off stays off: a project only switches
//! off, never on.
//!
//! ```yaml
//! lens:                        # in toolgate.yaml; `.pi-lens.json` has the same keys at its top
//!   enabled: true
//!   prettier: true             # and linters, lsp, tsc
//!   turn-end-sweep: true       # keys may be written turnEndSweep as well
//!   exclude-patterns: ["dist/**"]
//!   linter-timeout-ms: 15000
//! ```

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde_json::Value;
use serde_saphyr::Spanned;

use super::world::{ConfigFile, LensHost};
use toolgate_rules::yaml::{Node, line, parse};
use toolgate_rules::{Layer, Problem};

/// Longest time that a check may take, in milliseconds: the daemon's answer must come within its own limit of 60 s
/// anyway.
const LONGEST: u64 = 120_000;

/// Most checks at once.
const CONCURRENCY: u64 = 16;

/// Most patterns in one list.
const PATTERNS: usize = 500;

/// Settings. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whether anything is checked at all.
    pub enabled: bool,
    /// Whether formatting is checked.
    pub prettier: bool,
    /// Whether linters run.
    pub linters: bool,
    /// Whether language servers are asked.
    pub lsp: bool,
    /// Whether the TypeScript compiler runs.
    pub tsc: bool,
    /// Whether files that shell commands write are checked.
    pub bash_detection: bool,
    /// Whether a report says that all is well.
    pub always_report: bool,
    /// Whether files that were not checked after a tool are checked at the end of a turn in which more ran than
    /// checked writes.
    pub turn_end_sweep: bool,
    /// Globs of the only files that are checked; empty for all.
    pub include_patterns: Vec<String>,
    /// Globs of files that are not checked.
    pub exclude_patterns: Vec<String>,
    /// How long language servers have to settle.
    pub lsp_delay_ms: u64,
    /// Limit of each language server, beside the time to settle.
    pub lsp_timeout_ms: u64,
    /// How many checks run at once.
    pub max_concurrency: u64,
    /// Limit of the formatting check.
    pub prettier_timeout_ms: u64,
    /// Limit of each linter.
    pub linter_timeout_ms: u64,
    /// Limit of the TypeScript compiler.
    pub tsc_timeout_ms: u64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            enabled: true,
            prettier: true,
            linters: true,
            lsp: true,
            tsc: true,
            bash_detection: true,
            always_report: true,
            turn_end_sweep: true,
            include_patterns: Vec::new(),
            exclude_patterns: ["node_modules/**", ".git/**", "dist/**", "build/**"].map(str::to_owned).to_vec(),
            lsp_delay_ms: 1_000,
            lsp_timeout_ms: 10_000,
            max_concurrency: 4,
            prettier_timeout_ms: 15_000,
            linter_timeout_ms: 15_000,
            tsc_timeout_ms: 30_000,
        }
    }
}

/// The key that the host reads: what starts another daemon.
const HOSTS_OWN: &str = "code-lens";

/// A setting: where its value goes, and which values there are.
enum Slot<'a> {
    Flag(&'a mut bool),
    Patterns(&'a mut Vec<String>),
    Number(&'a mut u64, u64, u64),
}

impl Config {
    /// The setting with this name, in camelCase.
    fn slot(&mut self, key: &str) -> Option<Slot<'_>> {
        Some(match key {
            "enabled" => Slot::Flag(&mut self.enabled),
            "prettier" => Slot::Flag(&mut self.prettier),
            "linters" => Slot::Flag(&mut self.linters),
            "lsp" => Slot::Flag(&mut self.lsp),
            "tsc" => Slot::Flag(&mut self.tsc),
            "bashDetection" => Slot::Flag(&mut self.bash_detection),
            "alwaysReport" => Slot::Flag(&mut self.always_report),
            "turnEndSweep" => Slot::Flag(&mut self.turn_end_sweep),
            "includePatterns" => Slot::Patterns(&mut self.include_patterns),
            "excludePatterns" => Slot::Patterns(&mut self.exclude_patterns),
            "lspDelayMs" => Slot::Number(&mut self.lsp_delay_ms, 0, LONGEST),
            "lspTimeoutMs" => Slot::Number(&mut self.lsp_timeout_ms, 1, LONGEST),
            "maxConcurrency" => Slot::Number(&mut self.max_concurrency, 1, CONCURRENCY),
            "prettierTimeoutMs" => Slot::Number(&mut self.prettier_timeout_ms, 1, LONGEST),
            "linterTimeoutMs" => Slot::Number(&mut self.linter_timeout_ms, 1, LONGEST),
            "tscTimeoutMs" => Slot::Number(&mut self.tsc_timeout_ms, 1, LONGEST),
            _ => return None,
        })
    }

    /// Takes a value over.
    ///
    /// # Errors
    /// If it is of another type, or had to be changed to be taken; the sentence says which.
    fn set(&mut self, key: &str, value: &Value) -> Result<(), String> {
        match self.slot(&camel(key)).ok_or_else(|| format!("lens has no setting {key}"))? {
            Slot::Flag(flag) => *flag = value.as_bool().ok_or_else(|| format!("{key} must be true or false"))?,
            Slot::Patterns(list) => *list = texts(value).ok_or_else(|| format!("{key} must be a list of strings"))?,
            Slot::Number(number, least, most) => {
                let wanted = value.as_f64().filter(|value| value.is_finite());
                let wanted = wanted.ok_or_else(|| format!("{key} must be a number"))?;
                // Saturates, which the limits do as well.
                *number = (wanted as u64).clamp(least, most);
                if (wanted as u64) != *number || wanted < 0.0 {
                    return Err(format!("{key} must be from {least} to {most}; using {number}"));
                }
            }
        }
        Ok(())
    }

    /// Switches off what the user's own settings do: what runs, and when.
    fn switch_off(&mut self, user: &Config) {
        self.enabled &= user.enabled;
        self.prettier &= user.prettier;
        self.linters &= user.linters;
        self.lsp &= user.lsp;
        self.tsc &= user.tsc;
        self.bash_detection &= user.bash_detection;
        self.turn_end_sweep &= user.turn_end_sweep;
    }

    /// The ten settings that the daemon is given, by the names that it knows.
    pub(crate) fn request(&self) -> Value {
        serde_json::json!({
            "prettier": self.prettier, "linters": self.linters, "lsp": self.lsp, "tsc": self.tsc,
            "lspDelayMs": self.lsp_delay_ms, "lspTimeoutMs": self.lsp_timeout_ms,
            "maxConcurrency": self.max_concurrency, "prettierTimeoutMs": self.prettier_timeout_ms,
            "linterTimeoutMs": self.linter_timeout_ms, "tscTimeoutMs": self.tsc_timeout_ms,
        })
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

/// `turn-end-sweep` as `turnEndSweep`.
fn camel(key: &str) -> String {
    let mut parts = key.split('-');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut name, part| {
        let mut chars = part.chars();
        name.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        name.push_str(chars.as_str());
        name
    })
}

/// The settings of all files, and what is wrong with them.
pub(crate) fn load(world: &mut dyn LensHost) -> (Config, Vec<Problem>) {
    let (mut config, mut problems) = (Config::default(), Vec::new());
    match world.config("lens") {
        Ok(files) => {
            let (projects, own): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.layer == Layer::Project);
            for file in own {
                read(&mut config, file, &mut problems);
            }
            let user = config.clone();
            for file in projects {
                read(&mut config, file, &mut problems);
            }
            config.switch_off(&user);
        }
        Err(error) => world.log(&format!("the lens settings could not be read: {error}")),
    }
    (config, problems)
}

fn read(config: &mut Config, file: &ConfigFile, problems: &mut Vec<Problem>) {
    let mut problem = |line, message, whole_file| {
        problems.push(Problem { file: file.path.clone(), line, message, whole_file });
    };
    let content = match &file.content {
        Ok(content) => content,
        Err(error) => return problem(None, format!("the lens settings could not be read: {error}"), true),
    };
    if file.path.ends_with(".json") {
        match serde_json::from_slice(content) {
            // Unknown keys and wrong types say nothing here: the file belongs to another program as well.
            Ok(Value::Object(entries)) => {
                for (key, value) in entries {
                    let _ = config.set(&key, &value);
                }
            }
            Ok(_) => problem(None, "the file must be a JSON object; it is ignored".into(), true),
            Err(error) => problem(None, format!("the file is not valid JSON and is ignored: {error}"), true),
        }
        return;
    }
    let root = match parse(content) {
        Ok(root) => root.value,
        Err(error) => {
            return problem(error.line, format!("{}; its lens settings are ignored", error.message), true);
        }
    };
    let Node::Map(sections) = root else { return };
    let Some((_, section)) = sections.into_iter().find(|(key, _)| key == "lens") else { return };
    let at = line(&section);
    match section.value {
        Node::Null => {}
        Node::Map(entries) => {
            for (key, value) in entries {
                let at = line(&value);
                if key == HOSTS_OWN {
                    if file.layer == Layer::Project {
                        problem(at, format!("{key} names a program; only your own file may do that"), false);
                    }
                    continue;
                }
                if let Err(message) = config.set(&key, &json(value)) {
                    problem(at, message, false);
                }
            }
        }
        other => problem(at, format!("lens must be a mapping, not {}", other.kind()), false),
    }
}

/// The reader of YAML makes texts of numbers.
fn json(value: Spanned<Node>) -> Value {
    match value.value.json() {
        Value::String(text) => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => number.into(),
            _ => text.into(),
        },
        other => other,
    }
}

/// Whether the user wants messages that are rendered: `piLensRenderer` in pi's settings, and only if that is `true`.
pub(crate) fn wants_messages(world: &mut dyn LensHost) -> bool {
    let files = world.config("pi-settings").unwrap_or_default();
    let setting = |file: &ConfigFile| {
        let content = file.content.as_ref().ok()?;
        serde_json::from_slice::<Value>(content).ok()?.get("piLensRenderer")?.as_bool()
    };
    files.iter().filter(|file| file.layer != Layer::Project).any(|file| setting(file) == Some(true))
}

/// Which files are checked, by their path in the project.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// `None` for all.
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl Filter {
    /// Patterns that are no globs are left out and named.
    pub(crate) fn new(config: &Config) -> (Self, Vec<String>) {
        let mut wrong = Vec::new();
        let include = (!config.include_patterns.is_empty()).then(|| globs(&config.include_patterns, &mut wrong));
        let exclude = globs(&config.exclude_patterns, &mut wrong);
        // If none of them is one, nobody said what to check.
        let include = include.filter(|set| !set.is_empty());
        (Filter { include, exclude }, wrong)
    }

    pub(crate) fn takes(&self, relative: &str) -> bool {
        self.include.as_ref().is_none_or(|set| set.is_match(relative)) && !self.exclude.is_match(relative)
    }
}

fn globs(patterns: &[String], wrong: &mut Vec<String>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns.iter().take(PATTERNS) {
        match GlobBuilder::new(pattern).literal_separator(true).build() {
            Ok(glob) => {
                set.add(glob);
            }
            Err(error) => wrong.push(format!("the pattern {pattern} is ignored: {}", error.kind())),
        }
    }
    if patterns.len() > PATTERNS {
        wrong.push(format!("only the first {PATTERNS} patterns are used"));
    }
    set.build().unwrap_or_else(|error| {
        wrong.push(format!("the patterns are ignored: {error}"));
        GlobSet::empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The settings of one file, and its problems as `line: message`.
    fn outcome(path: &str, content: &[u8]) -> (Config, Vec<String>) {
        let (mut config, mut problems) = (Config::default(), Vec::new());
        let file = ConfigFile { path: path.to_owned(), layer: Layer::Project, content: Ok(content.to_vec()) };
        read(&mut config, &file, &mut problems);
        let told = problems.iter().map(|problem| format!("{}: {}", problem.line.unwrap_or(0), problem.message));
        (config, told.collect())
    }

    #[test]
    fn each_value_drops_alone() {
        const JSON: &str = "/p/.pi-lens.json";
        const YAML: &str = "/p/toolgate.yaml";
        type Case<'a> = (&'a str, &'a str, fn(&mut Config), &'a [&'a str]);
        let cases: &[Case<'_>] = &[
            (JSON, "{}", |_| (), &[]),
            (JSON, r#"{"prettier": false, "tsc": 0, "lsp": null, "linters": "no"}"#, |c| c.prettier = false, &[]),
            (JSON, r#"{"lspDelayMs": 5.9, "tscTimeoutMs": "1", "maxConcurrency": []}"#, |c| c.lsp_delay_ms = 5, &[]),
            (JSON, r#"{"maxConcurrency": 1e9}"#, |c| c.max_concurrency = 16, &[]),
            (JSON, r#"{"includePatterns": ["a", 1], "excludePatterns": "x"}"#, |_| (), &[]),
            (JSON, r#"{"includePatterns": ["a"], "x": {"lsp": 0}}"#, |c| c.include_patterns = vec!["a".into()], &[]),
            (JSON, "[]", |_| (), &["0: the file must be a JSON object"]),
            (JSON, "null", |_| (), &["0: the file must be a JSON object"]),
            (JSON, "", |_| (), &["0: the file is not valid JSON"]),
            (JSON, r#"{"lsp": false,}"#, |_| (), &["0: the file is not valid JSON"]),
            (JSON, r#"{"lspDelayMs": 1e999}"#, |_| (), &["0: the file is not valid JSON"]),
            (YAML, "", |_| (), &[]),
            (YAML, "rules: []", |_| (), &[]),
            (YAML, "- lens", |_| (), &[]),
            (YAML, "lens:", |_| (), &[]),
            (YAML, "lens: on", |_| (), &["1: lens must be a mapping, not a text"]),
            (YAML, "lens: {enabled: false}", |c| c.enabled = false, &[]),
            (YAML, "lens: {code-lens: [x]}", |_| (), &["1: code-lens names a program; only your own file may do that"]),
            (YAML, "lens: {turn-end-sweep: false}", |c| c.turn_end_sweep = false, &[]),
            (YAML, "lens: {turnEndSweep: false}", |c| c.turn_end_sweep = false, &[]),
            (YAML, "lens: {lsp-delay-ms: 0}", |c| c.lsp_delay_ms = 0, &[]),
            (
                YAML,
                "lens:\n  lsp: no\n  linterTimeout: 1\n  max-concurrency: many\n  tsc-timeout-ms: 0\n  tsc: false",
                |c| (c.tsc, c.tsc_timeout_ms) = (false, 1),
                &[
                    "2: lsp must be true or false",
                    "3: lens has no setting linterTimeout",
                    "4: max-concurrency must be a number",
                    "5: tsc-timeout-ms must be from 1 to 120000; using 1",
                ],
            ),
            (YAML, "lens:\n  exclude-patterns: [a, true]", |_| (), &["2: exclude-patterns must be a list of strings"]),
            (YAML, "lens: {exclude-patterns: ['7', 8]}", |c| c.exclude_patterns = vec!["7".into(), "8".into()], &[]),
            (YAML, "lens: {lsp: false", |_| (), &["1: the file is not valid YAML"]),
        ];
        for (path, content, change, problems) in cases {
            let (config, told) = outcome(path, content.as_bytes());
            let mut expected = Config::default();
            change(&mut expected);
            let same = told.len() == problems.len() && told.iter().zip(*problems).all(|(t, p)| t.starts_with(p));
            assert!(same && config == expected, "{content}: {config:?} {told:?}");
        }
        assert_eq!(outcome(JSON, b"\xff").0, Config::default());
    }

    #[test]
    fn patterns_are_globs_of_paths_in_the_project() {
        let cases: &[(&[&str], &str, bool)] = &[
            (&["src/**/*.ts"], "src/a.ts", true),
            (&["src/**/*.ts"], "src/x/y/a.ts", true),
            (&["src/*.ts"], "src/x/a.ts", false),
            (&["*.ts"], "src/a.ts", false),
            (&["**/*.ts"], "a.ts", true),
            (&["?.ts"], "a.ts", true),
            (&["A.ts"], "a.ts", false),
            (&["a.{ts,js}"], "a.js", true),
            (&["x", "a.ts"], "a.ts", true),
            (&["*"], "a\nb", true),
            (&["*"], ".env", true),
            (&["node_modules/**"], "node_modules/a/b", true),
            (&["node_modules/**"], "x/node_modules/a", false),
        ];
        for (patterns, path, expected) in cases {
            let include_patterns = patterns.iter().map(|text| (*text).to_owned()).collect();
            let config = Config { include_patterns, exclude_patterns: Vec::new(), ..Config::default() };
            let (filter, wrong) = Filter::new(&config);
            assert_eq!((filter.takes(path), wrong.len()), (*expected, 0), "{patterns:?} {path}");
        }
    }

    #[test]
    fn a_pattern_that_is_none_is_left_out_and_named() {
        let cases: &[(&[&str], &str, bool, usize)] =
            &[(&["a[z-a]", "b"], "b", true, 1), (&["a[z-a]", "b"], "c", false, 1), (&["{"], "c", true, 1)];
        for (patterns, path, expected, wrong) in cases {
            let include_patterns = patterns.iter().map(|text| (*text).to_owned()).collect();
            let (filter, told) = Filter::new(&Config { include_patterns, ..Config::default() });
            assert_eq!((filter.takes(path), told.len()), (*expected, *wrong), "{patterns:?} {path}: {told:?}");
        }
        let many = Config { include_patterns: vec!["a".into(); PATTERNS + 1], ..Config::default() };
        assert_eq!(Filter::new(&many).1, [format!("only the first {PATTERNS} patterns are used")]);
    }

    #[test]
    fn the_schema_has_the_settings_and_their_defaults() {
        let schema: Value = serde_json::from_str(include_str!("../../rules/rules.schema.json")).expect("JSON");
        let properties = schema["$defs"]["lens"]["properties"].as_object().expect("properties");
        assert!(properties.contains_key(HOSTS_OWN));
        assert_eq!(properties.len(), 28, "sixteen settings, eleven of them in two spellings, and the host's own");
        for (key, schema) in properties.iter().filter(|(key, _)| *key != HOSTS_OWN) {
            let mut config = Config::default();
            assert!(config.slot(&camel(key)).is_some(), "{key}");
            if let Some(default) = schema.get("default") {
                assert_eq!(config.set(key, default), Ok(()), "{key}");
            }
            for limit in ["minimum", "maximum"].iter().filter_map(|key| schema.get(*key)) {
                assert_eq!(Config::default().set(key, limit), Ok(()), "{key}");
                let beyond = if limit.as_u64() <= Some(1) { -1 } else { 120_001 };
                assert!(Config::default().set(key, &beyond.into()).is_err(), "{key}");
            }
            assert_eq!(config, Config::default(), "{key}");
        }
    }
}
