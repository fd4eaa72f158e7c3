//! What a justfile runs: the lines of its recipes, with the values of plain variables and parameters put in.
//!
//! A value that only just could tell stands in its line as a variable of the shell that is not known.

use std::collections::{BTreeMap, BTreeSet};

/// Most recipes that are run.
const MAX_RECIPES: usize = 200;

/// Most bytes that come out of one line.
const MAX_LINE: usize = 64 * 1024;

/// One text that is run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Shell(String),
    /// For the program that its first line names.
    Script(String),
}

struct Recipe<'t> {
    /// With the defaults of those that have one.
    parameters: Vec<(&'t str, Option<&'t str>)>,
    needs: Vec<&'t str>,
    body: Vec<&'t str>,
}

#[derive(Default)]
struct Justfile<'t> {
    variables: BTreeMap<&'t str, String>,
    aliases: BTreeMap<&'t str, &'t str>,
    recipes: BTreeMap<&'t str, Recipe<'t>>,
    first: Option<&'t str>,
}

/// What just would run: of the recipes that are among the words, or of the first one.
pub(crate) fn lines(text: &str, words: &[&str]) -> Vec<Line> {
    let mut file = Justfile::default();
    file.parse(text);
    for (name, value) in words.iter().filter_map(|word| word.split_once('=')) {
        if let Some(known) = file.variables.get_mut(name) {
            value.clone_into(known);
        }
    }
    let mut run = Run { file: &file, done: BTreeSet::new(), lines: Vec::new() };
    let goals = words.iter().enumerate().filter(|(_, word)| file.recipe(word).is_some());
    let mut any = false;
    for (at, goal) in goals {
        any = true;
        run.recipe(goal, words.get(at + 1..).unwrap_or_default());
    }
    if let Some(first) = file.first.filter(|_| !any) {
        run.recipe(first, &[]);
    }
    run.lines
}

impl<'t> Justfile<'t> {
    fn parse(&mut self, text: &'t str) {
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
            if line.starts_with(['#', '[']) {
                continue;
            }
            if let Some((names, value)) = line.split_once(":=") {
                let (mut names, value) = (names.split_whitespace(), value.trim());
                match (names.next(), names.next()) {
                    (Some("set"), _) | (None, _) => {}
                    (Some("alias"), Some(name)) => {
                        self.aliases.insert(name, value);
                    }
                    (Some("export"), Some(name)) | (Some(name), _) => {
                        let value = self.value(value, &BTreeMap::new());
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
        let parameter = |word: &'t str| {
            let word = word.trim_start_matches(['+', '*', '$']);
            word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)))
        };
        let needs = needs.split('#').next().unwrap_or_default();
        let needs = needs.split(|c: char| c.is_whitespace() || "()&".contains(c)).filter(|word| !word.is_empty());
        let parameters = words.map(parameter).collect();
        self.recipes.insert(name, Recipe { parameters, needs: needs.collect(), body: Vec::new() });
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
    done: BTreeSet<&'t str>,
    lines: Vec<Line>,
}

impl Run<'_, '_> {
    fn recipe(&mut self, name: &str, arguments: &[&str]) {
        let file = self.file;
        let Some((name, recipe)) = file.recipe(name) else { return };
        if self.done.len() >= MAX_RECIPES || !self.done.insert(name) {
            return;
        }
        recipe.needs.iter().for_each(|need| self.recipe(need, &[]));
        let mut given = BTreeMap::new();
        for (at, (name, default)) in recipe.parameters.iter().enumerate() {
            let value = match (arguments.get(at), default) {
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
            self.lines.push(Line::Script(body.join("\n")));
            return;
        }
        let mut whole = String::new();
        for line in recipe.body.iter().map(filled) {
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

    const TEXT: &str = "out := 'build'\nalias c := clean\n\n# all of it\nall: clean (test \"x\")\n    @echo done\n\
        clean dir=out:\n    -rm -rf {{ dir }} \\\n      {{home_directory()}}/x\n\ntest name:\n    #!/bin/bash\n    t {{name}}\n";

    #[test]
    fn recipes_run_after_what_they_need() {
        let shell = |text: &str| Line::Shell(text.to_owned());
        let clean = |dir: &str| shell(&format!("rm -rf {dir} ${{HOME}}/x"));
        let script = |name: &str| Line::Script(format!("#!/bin/bash\nt {name}"));
        assert_eq!(lines(TEXT, &[]), [clean("build"), script("${just_name}"), shell("echo done")]);
        assert_eq!(lines(TEXT, &["c", "dist"]), [clean("dist")]);
        assert_eq!(lines(TEXT, &["out=o", "clean"]), [clean("o")]);
        assert_eq!(lines(TEXT, &["test", "y"]), [script("y")]);
    }
}
