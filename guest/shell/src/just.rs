//! What a justfile runs: the lines of its recipes, with the values of plain variables and parameters put in.
//!
//! A value that only just could tell stands in its line as a variable of the shell that is not known. A file with more than that
//! in it (other shells, imports, commands in assignments, arguments of needs) is one that is not read.

use std::collections::{BTreeMap, BTreeSet};

/// Most recipes that are run.
const MAX_RECIPES: usize = 200;

/// Most bytes that are run, about.
const MAX_BYTES: usize = 1024 * 1024;

/// Most bytes that come out of one line.
const MAX_LINE: usize = 64 * 1024;

/// One text that is run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Shell(String),
    /// For the program that its first line names.
    Script(String),
    /// Something that is not read.
    Unseen,
}

struct Recipe<'t> {
    /// With the defaults of those that have one. A last one may take all that is given.
    parameters: Vec<(&'t str, Option<&'t str>)>,
    takes_all: bool,
    needs: Vec<&'t str>,
    body: Vec<&'t str>,
}

#[derive(Default)]
struct Justfile<'t> {
    variables: BTreeMap<&'t str, String>,
    aliases: BTreeMap<&'t str, &'t str>,
    recipes: BTreeMap<&'t str, Recipe<'t>>,
    first: Option<&'t str>,
    /// The folder that it lies in.
    folder: &'t str,
    /// Whether it has something in it that is not read.
    more: bool,
}

/// What just would run: of the recipes that are among the words, or of the first one. `folder`: that of the file.
pub(crate) fn lines(text: &str, words: &[&str], folder: &str) -> Vec<Line> {
    let mut file = Justfile { folder, ..Justfile::default() };
    // What is derived from a variable has the value that is given.
    file.parse(text, &words.iter().filter_map(|word| word.split_once('=')).collect());
    let mut run = Run { file: &file, done: BTreeSet::new(), lines: Vec::new(), bytes: 0 };
    let goals = words.iter().enumerate().filter(|(_, word)| file.recipe(word).is_some());
    let mut any = false;
    for (at, goal) in goals {
        any = true;
        run.recipe(goal, words.get(at + 1..).unwrap_or_default());
    }
    if let Some(first) = file.first.filter(|_| !any) {
        run.recipe(first, &[]);
    }
    if file.more {
        run.lines.push(Line::Unseen);
    }
    run.lines
}

impl<'t> Justfile<'t> {
    fn parse(&mut self, text: &'t str, given: &BTreeMap<&str, &str>) {
        let mut open: Option<&'t str> = None;
        for line in text.lines() {
            if line.trim().is_empty() {
                continue;
            }
            if line.starts_with([' ', '\t']) {
                if let Some(recipe) = open.and_then(|name| self.recipes.get_mut(name)) {
                    recipe.body.push(line);
                }
                continue;
            }
            open = None;
            self.more |=
                line.starts_with("[script") || ["import", "mod"].contains(&line.split([' ', '?']).next().unwrap_or(""));
            if line.starts_with(['#', '[']) {
                continue;
            }
            if let Some((names, value)) = line.split_once(":=") {
                let (mut names, value) = (names.split_whitespace(), value.trim());
                match (names.next(), names.next()) {
                    (Some("set"), name) => {
                        self.more |= name.is_none_or(|name| name.contains("shell") || name == "script-interpreter");
                    }
                    (None, _) => {}
                    (Some("alias"), Some(name)) => {
                        self.aliases.insert(name, value);
                    }
                    (Some("export"), Some(name)) | (Some(name), _) => {
                        self.more |= value.contains('`') || value.contains("shell(");
                        let own = || self.value(value, &BTreeMap::new());
                        let value = given.get(name).map_or_else(own, |value| (*value).to_owned());
                        self.variables.insert(name, value);
                    }
                }
            } else if let Some((head, needs)) = line.split_once(':') {
                open = self.head(head, needs);
            }
        }
    }

    /// The line that a recipe begins with; its name.
    fn head(&mut self, head: &'t str, needs: &'t str) -> Option<&'t str> {
        let mut words = head.split_whitespace();
        let name = words.next()?.trim_start_matches('@');
        // What others are given, and what a body is given as a variable.
        self.more |= needs.split('#').next().is_some_and(|needs| needs.contains('('))
            || head.split_whitespace().skip(1).any(|word| word.trim_start_matches(['+', '*']).starts_with('$'));
        let parameter = |word: &'t str| {
            let word = word.trim_start_matches(['+', '*', '$']);
            word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)))
        };
        let needs = needs.split('#').next().unwrap_or_default();
        let needs = needs.split(|c: char| c.is_whitespace() || "()&".contains(c)).filter(|word| !word.is_empty());
        let takes_all = head.split_whitespace().last().is_some_and(|last| last.starts_with(['+', '*']));
        let parameters = words.map(parameter).collect();
        self.recipes.insert(name, Recipe { parameters, takes_all, needs: needs.collect(), body: Vec::new() });
        self.first = self.first.or(Some(name));
        Some(name)
    }

    fn recipe(&self, name: &str) -> Option<(&'t str, &Recipe<'t>)> {
        let name = self.aliases.get(name).copied().unwrap_or(name);
        self.recipes.get_key_value(name).map(|(name, recipe)| (*name, recipe))
    }

    /// What an expression comes to in the text of a shell.
    fn value(&self, expression: &str, given: &BTreeMap<&str, String>) -> String {
        let inside = |open: &str, close: &str| expression.strip_prefix(open)?.strip_suffix(close);
        let quoted = |text: &str| {
            let within = |c: char| Some(text.strip_prefix(c)?.strip_suffix(c)?.to_owned());
            within('\'').or_else(|| within('"'))
        };
        if let Some(text) = quoted(expression).filter(|text| !text.contains(['\'', '"', '\\'])) {
            return text;
        }
        if let Some(value) = given.get(expression).or_else(|| self.variables.get(expression)) {
            return value.clone();
        }
        if matches!(expression, "home_directory()" | "home_dir()") {
            return "${HOME}".to_owned();
        }
        if matches!(expression, "justfile_directory()" | "justfile_dir()" | "source_directory()" | "source_dir()") {
            return self.folder.to_owned();
        }
        let is_plain = |name: &str| !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        let variable = inside("env(", ")").or_else(|| inside("env_var(", ")")).and_then(quoted);
        if let Some(name) = variable.filter(|name| is_plain(name)) {
            return format!("${{{name}}}");
        }
        let name: String = expression.chars().filter(char::is_ascii_alphanumeric).collect();
        format!("${{just_{name}}}")
    }

    /// A line with the values of the expressions in it.
    fn fill(&self, line: &str, given: &BTreeMap<&str, String>) -> String {
        let mut filled = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("{{").filter(|_| filled.len() < MAX_LINE) {
            filled.push_str(before);
            if let Some(after) = after.strip_prefix("{{") {
                filled.push_str("{{");
                rest = after;
                continue;
            }
            let (expression, after) = after.split_once("}}").unwrap_or((after, ""));
            filled.push_str(&self.value(expression.trim(), given));
            rest = after;
        }
        filled + rest
    }
}

struct Run<'f, 't> {
    file: &'f Justfile<'t>,
    /// Recipes with their arguments.
    done: BTreeSet<(&'t str, String)>,
    lines: Vec<Line>,
    /// Of all lines.
    bytes: usize,
}

impl Run<'_, '_> {
    fn recipe(&mut self, name: &str, arguments: &[&str]) {
        let file = self.file;
        let Some((name, recipe)) = file.recipe(name) else { return };
        if self.done.len() >= MAX_RECIPES || self.bytes > MAX_BYTES {
            self.lines.extend((self.lines.last() != Some(&Line::Unseen)).then_some(Line::Unseen));
            return;
        }
        let most = if recipe.takes_all { usize::MAX } else { recipe.parameters.len() };
        let own = arguments.iter().take(most).copied().collect::<Vec<_>>().join("\0");
        if !self.done.insert((name, own)) {
            return;
        }
        recipe.needs.iter().for_each(|need| self.recipe(need, &[]));
        let mut given = BTreeMap::new();
        for (at, (name, default)) in recipe.parameters.iter().enumerate() {
            let all = recipe.takes_all && at + 1 == recipe.parameters.len();
            let value = match (arguments.get(at), default) {
                (Some(_), _) if all => arguments[at..].join(" "),
                (None, None) if all => String::new(),
                (Some(argument), _) => (*argument).to_owned(),
                (None, Some(default)) => file.value(default, &given),
                (None, None) => continue,
            };
            given.insert(*name, value);
        }
        let filled = |line: &&str| file.fill(line, &given);
        if recipe.body.first().is_some_and(|first| first.trim_start().starts_with("#!")) {
            let indent = recipe.body.first().map_or(0, |first| first.len() - first.trim_start().len());
            let body = recipe.body.iter().map(|line| line.get(indent..).unwrap_or(line.trim_start()));
            let body: Vec<String> = body.map(|line| file.fill(line, &given)).collect();
            let body = body.join("\n");
            self.bytes += body.len();
            self.lines.push(Line::Script(body));
            return;
        }
        let mut whole = String::new();
        for line in recipe.body.iter().map(filled) {
            self.bytes += line.len();
            let line = line.trim();
            let line = if whole.is_empty() { line.trim_start_matches(['@', '-']) } else { line };
            match line.strip_suffix('\\') {
                Some(begun) => whole.push_str(begun),
                None => self.lines.push(Line::Shell(std::mem::take(&mut whole) + line)),
            }
        }
        if !whole.is_empty() {
            self.lines.push(Line::Shell(whole));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "out := 'build'\ntwo := out\nalias c := clean\n\n# all of it\nall: clean test\n    @echo done\n\
        clean dir=out:\n    -rm -rf {{ dir }} \\\n      {{home_directory()}}/x\n\ntest name='n':\n    #!/bin/bash\n    t {{name}}\n\
        here:\n    rm -rf {{justfile_directory()}}/{{two}}\n\nmany a *b:\n    x {{b}}\n";

    #[test]
    fn recipes_run_after_what_they_need() {
        let shell = |text: &str| Line::Shell(text.to_owned());
        let clean = |dir: &str| shell(&format!("rm -rf {dir} ${{HOME}}/x"));
        let script = |name: &str| Line::Script(format!("#!/bin/bash\nt {name}"));
        let lines = |words: &[&str]| lines(TEXT, words, "/p");
        assert_eq!(lines(&[]), [clean("build"), script("n"), shell("echo done")]);
        assert_eq!(lines(&["c", "dist"]), [clean("dist")]);
        assert_eq!(lines(&["c", "a", "c", "b"]), [clean("a"), clean("b")]);
        assert_eq!(lines(&["out=o", "clean"]), [clean("o")]);
        assert_eq!(lines(&["out=o", "here"]), [shell("rm -rf /p/o")]);
        assert_eq!(lines(&["test", "y"]), [script("y")]);
        assert_eq!(lines(&["many", "1", "2", "3"]), [shell("x 2 3")]);
        assert_eq!(lines(&["many", "1"]), [shell("x")]);
    }

    #[test]
    fn what_is_not_read_is_told() {
        for (text, read) in [
            ("a:\n  x\n", true),
            ("set export\na:\n  x\n", true),
            ("set shell := ['python3', '-c']\na:\n  x\n", false),
            ("x := `rm -rf ~`\na:\n  x\n", false),
            ("x := shell('ls')\na:\n  x\n", false),
            ("import 'b.just'\na:\n  x\n", false),
            ("mod b\na:\n  x\n", false),
            ("[script('node')]\na:\n  x\n", false),
            ("a: (b '/')\n  x\nb d='build':\n  rm -rf {{d}}\n", false),
            ("a *args:\n  x {{args}}\n", true),
            ("a $d:\n  x\n", false),
        ] {
            assert_eq!(!lines(text, &[], "/p").contains(&Line::Unseen), read, "{text}");
        }
        let many = format!("x := '{}'\na:\n{}b: a\n  y\nc: b\n", "x".repeat(1_000), "  {{x}}\n".repeat(2_000));
        assert!(
            lines(&many, &["c"], "/p")
                .iter()
                .any(|line| *line == Line::Unseen || matches!(line, Line::Shell(text) if text == "y"))
        );
    }
}
