//! What a makefile runs, roughly, where it needs make itself to be read: the recipes of the goals and of what they need, with plain
//! variables put in. Conditions and patterns are taken to hold, what only make knows is a variable of the shell.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Request, runs_when_dry};
use toolgate_shell_syntax::word::is_name;

/// The variable of the shell that stands for what only make knows.
const OTHER: &str = "_MAKE";

/// How deep variables may stand in variables.
const MAX_DEPTH: usize = 8;

/// How many targets are followed, and how many bytes come out.
const MAX_TARGETS: usize = 500;
const MAX_BYTES: usize = 256 * 1024;

#[derive(Default)]
struct Rule<'t> {
    targets: String,
    needs: String,
    recipe: Vec<&'t str>,
}

/// Texts for a shell, and the variables in them whose values are not known.
#[derive(Default)]
pub(crate) struct Rough {
    pub(crate) lines: Vec<String>,
    pub(crate) unknown: BTreeSet<String>,
}

struct Reader<'t> {
    variables: BTreeMap<&'t str, String>,
    rules: Vec<Rule<'t>>,
    found: Rough,
    left: usize,
}

/// What make runs for its goals, or for the first target if there are none.
pub(crate) fn roughly(text: &str, request: &Request) -> Rough {
    let text = text.replace("\\\n", " ");
    let mut reader = Reader { variables: BTreeMap::new(), rules: Vec::new(), found: Rough::default(), left: MAX_BYTES };
    text.lines().for_each(|line| reader.line(line));
    reader.variables.extend(request.given.iter().map(|(name, value)| (name.as_str(), value.clone())));
    // In one shell the other lines run with one that runs.
    reader.run(&request.goals, request.dry && !text.contains(".ONESHELL"));
    reader.found
}

impl<'t> Reader<'t> {
    fn line(&mut self, line: &'t str) {
        if let Some(recipe) = line.strip_prefix('\t') {
            if let Some(rule) = self.rules.last_mut() {
                rule.recipe.push(recipe);
            }
            return;
        }
        let line = line.split(" #").next().unwrap_or(line).trim();
        if line.starts_with('#') {
            return;
        }
        if let Some((name, value)) = line.split_once('=') {
            let kind = name.chars().next_back().unwrap_or(' ');
            let name = name.trim_end_matches([':', '?', '+', '!']).trim();
            let name =
                ["export ", "override ", "private "].iter().fold(name, |name, word| name.trim_start_matches(word));
            if !name.is_empty() && !name.contains([' ', ':', '\t']) {
                return self.assign(name, kind, value.trim());
            }
        }
        if let Some((targets, rest)) = line.split_once(':') {
            let (needs, recipe) = rest.split_once(';').map_or((rest, None), |(needs, recipe)| (needs, Some(recipe)));
            let needs = needs.trim_start_matches(':').replace('|', " ");
            self.rules.push(Rule { targets: targets.to_owned(), needs, recipe: recipe.into_iter().collect() });
        } else {
            // `$(shell ..)` on a line of its own
            self.expand(line, 0);
        }
    }

    fn assign(&mut self, name: &'t str, kind: char, value: &str) {
        match (kind, self.variables.get_mut(name)) {
            ('+', Some(before)) => {
                before.push(' ');
                before.push_str(value);
            }
            ('?', Some(_)) => {}
            ('!', _) => {
                let text = self.expand(value, 0);
                self.found.lines.push(text);
                self.variables.remove(name);
            }
            (kind, _) => {
                // Its value is made where it stands, with what that runs.
                if kind == ':' {
                    self.expand(value, 0);
                }
                self.variables.insert(name, value.to_owned());
            }
        }
    }

    fn run(&mut self, goals: &[String], dry: bool) {
        let rules = std::mem::take(&mut self.rules);
        let named: Vec<Vec<String>> = rules.iter().map(|rule| self.names(&rule.targets)).collect();
        // They are put in while make reads the file, whether they are needed or not.
        let needs: Vec<Vec<String>> = rules.iter().map(|rule| self.names(&rule.needs)).collect();
        let plain = |name: &&String| !name.starts_with('.') && !name.contains('%');
        let first = named.iter().flatten().find(plain).cloned();
        let mut waiting: VecDeque<String> =
            if goals.is_empty() { first.into_iter().collect() } else { goals.to_vec().into() };
        let (mut seen, mut ran) = (BTreeSet::new(), BTreeSet::new());
        while let Some(target) = waiting.pop_front() {
            if !seen.insert(target.clone()) || seen.len() > MAX_TARGETS {
                continue;
            }
            for (at, rule) in rules.iter().enumerate() {
                if !named[at].iter().any(|name| is_meant(name, &target)) || !ran.insert(at) {
                    continue;
                }
                waiting.extend(needs[at].iter().cloned());
                for line in &rule.recipe {
                    let text = self.expand(line, 0);
                    if !dry || runs_when_dry(line, Some(&text)) {
                        self.found.lines.push(text.trim_start_matches(['@', '-', '+', ' ', '\t']).to_owned());
                    }
                }
            }
        }
    }

    fn names(&mut self, text: &str) -> Vec<String> {
        self.expand(text, 0).split_whitespace().map(str::to_owned).collect()
    }

    /// A text with its variables put in. What it runs while it is read is a line of its own.
    fn expand(&mut self, text: &str, depth: usize) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let Some(next) = after.chars().next() else { break };
            let close = match next {
                '$' => {
                    out.push('$');
                    rest = &after[1..];
                    continue;
                }
                '(' => ')',
                '{' => '}',
                _ => {
                    out.push_str(&self.variable(&after[..next.len_utf8()], depth));
                    rest = &after[next.len_utf8()..];
                    continue;
                }
            };
            let end = closing(&after[1..], next, close);
            let inner = &after[1..=end];
            out.push_str(&self.reference(inner, depth));
            rest = after.get(end + 2..).unwrap_or_default();
        }
        out.push_str(rest);
        self.left = self.left.saturating_sub(out.len());
        if self.left == 0 { self.other() } else { out }
    }

    /// What stands between the brackets: a variable, or a function.
    fn reference(&mut self, inner: &str, depth: usize) -> String {
        if let Some(text) = inner.strip_prefix("shell ") {
            let text = self.expand(text, depth + 1);
            self.found.lines.push(text);
            return self.other();
        }
        if inner.contains([' ', ',', '$', ':']) {
            // A function may have texts that are run among its arguments.
            self.expand(inner, depth + 1);
            return self.other();
        }
        self.variable(inner, depth)
    }

    fn variable(&mut self, name: &str, depth: usize) -> String {
        match (self.variables.get(name).cloned(), name) {
            (Some(value), _) if depth < MAX_DEPTH => self.expand(&value, depth + 1),
            (None, "MAKE") => "make".to_owned(),
            (None, "RM") => "rm -f".to_owned(),
            (None, "CURDIR") => ".".to_owned(),
            (None, "HOME") => "${HOME}".to_owned(),
            (None, name) if is_name(name) => {
                self.found.unknown.insert(name.to_owned());
                format!("${{{name}}}")
            }
            _ => self.other(),
        }
    }

    fn other(&mut self) -> String {
        self.found.unknown.insert(OTHER.to_owned());
        format!("${{{OTHER}}}")
    }
}

/// Where the bracket is closed, or the text ends.
fn closing(text: &str, open: char, close: char) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && depth == 0 {
            return at;
        } else if c == close {
            depth -= 1;
        }
    }
    text.len()
}

/// Whether a rule of this name makes a target: `%.o` makes `a.o`.
fn is_meant(name: &str, target: &str) -> bool {
    match name.split_once('%') {
        Some((before, after)) => {
            target.len() >= before.len() + after.len() && target.starts_with(before) && target.ends_with(after)
        }
        None => name == target,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_of_the_goals_are_found() {
        let text = "include x.mk\nT := /a\nX ?= $(T)/b\nO = $(patsubst %.c,%.o,$(wildcard *.c)) $(shell s1)\nifeq ($(X),)\nV != s2\nendif\n\
            all: $(O) dep\n\t@echo $(X) $@ $$HOME\n\t-$(RM) $(UNSET)\n%.o: %.c\n\tcc $<\ndep: ; r $(V)\nclean:\n\trm $(X)\n";
        let cases: &[(&[&str], &[&str])] = &[
            (&[], &["s2", "s1", "echo /a/b ${_MAKE} $HOME", "rm -f ${UNSET}", "r ${V}"]),
            (&["clean"], &["s2", "s1", "rm /a/b"]),
            (&["x.o"], &["s2", "s1", "cc ${_MAKE}"]),
            (&["none"], &["s2", "s1"]),
        ];
        for (goals, expected) in cases {
            let goals: Vec<String> = goals.iter().map(|goal| (*goal).to_owned()).collect();
            let mut lines = roughly(text, &Request { goals: goals.clone(), ..Request::default() }).lines;
            lines.dedup();
            assert_eq!(lines, *expected, "{goals:?}");
        }
        let dry = "include x.mk\nall:\n\trm a\n\t@+rm b\n\t${MAKE} c\n";
        assert_eq!(roughly(dry, &Request { dry: true, ..Request::default() }).lines, ["rm b", "make c"]);
        for odd in [
            "",
            "$",
            "$(",
            "a: $(",
            "a:\n\t$(b",
            "x = $(x)\na:\n\t$(x)\n",
            "a: a\n\tb",
            "=:=",
            "%:\n\t$%\n",
            "é: $é\n\t$é",
        ] {
            roughly(odd, &Request { goals: vec!["a".to_owned()], ..Request::default() });
        }
    }
}
