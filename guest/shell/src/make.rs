//! What a makefile runs: the lines of its recipes with make's own expansions done.
//!
//! Only plain makefiles are read: variables, rules and their recipes. What needs make itself (conditionals, functions,
//! included files) is not guessed at: the line, or the whole file, is then [`Line::Unknown`].

use std::collections::{BTreeMap, BTreeSet};

/// How deep variables may stand in variables, and targets behind targets.
const MAX_DEPTH: usize = 24;

/// Most bytes that come out of all expansions of one file.
const MAX_EXPANDED: usize = 256 * 1024;

/// Words that begin a line whose meaning depends on more than the line.
const DIRECTIVES: &[&str] = &[
    "-include", "-load", "define", "else", "endef", "endif", "ifdef", "ifeq", "ifndef", "ifneq", "include", "load",
    "private", "sinclude", "undefine", "vpath",
];

/// Variables that make sets itself.
const BUILT_IN: &[(&str, &str)] = &[
    ("AR", "ar"),
    ("AS", "as"),
    ("CC", "cc"),
    ("CPP", "cc -E"),
    ("CXX", "g++"),
    ("LD", "ld"),
    ("MAKE", "make"),
    ("MAKEFLAGS", ""),
    ("RM", "rm -f"),
];

/// One text for a shell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Known(String),
    /// Only make could tell.
    Unknown,
}

/// What a run of make is told.
#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) goals: Vec<String>,
    /// `NAME=VALUE` among the words.
    pub(crate) given: BTreeMap<String, String>,
    /// `-n`: only lines that say so run.
    pub(crate) dry: bool,
}

#[derive(Default)]
struct Rule<'t> {
    needs: Vec<String>,
    recipe: Vec<&'t str>,
}

struct Makefile<'t, 'e> {
    variables: BTreeMap<String, String>,
    rules: Vec<(String, Rule<'t>)>,
    environment: &'e dyn Fn(&str) -> Option<String>,
    /// Texts that make runs while it reads.
    read: Vec<String>,
    left: usize,
    one_shell: bool,
}

/// The lines that make would run, in their order. `environment` has the variables that are known.
pub(crate) fn lines(text: &str, request: &Request, environment: &dyn Fn(&str) -> Option<String>) -> Vec<Line> {
    let mut file = Makefile {
        variables: BTreeMap::new(),
        rules: Vec::new(),
        environment,
        read: Vec::new(),
        left: MAX_EXPANDED,
        one_shell: false,
    };
    let mut found = Vec::new();
    match file.parse(text, request) {
        Some(()) => file.run(request, &mut found),
        None => found.push(Line::Unknown),
    }
    found.extend(file.read.into_iter().map(Line::Known));
    found
}

impl<'t> Makefile<'t, '_> {
    fn parse(&mut self, text: &'t str, request: &Request) -> Option<()> {
        self.variables.extend(request.given.clone());
        // The rules that a recipe line belongs to.
        let mut open: Vec<usize> = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (line, after) = logical_line(rest);
            rest = after;
            if let Some(recipe) = line.strip_prefix('\t').filter(|_| !open.is_empty()) {
                open.iter().for_each(|&at| self.rules[at].1.recipe.push(recipe));
                continue;
            }
            let joined = line.replace("\\\n", " ");
            let joined = joined.split('#').next().unwrap_or_default().trim();
            let mut words = joined.split_whitespace();
            let first = words.next().unwrap_or_default();
            if first.is_empty() {
                continue;
            }
            let plain = joined.strip_prefix("export ").or(joined.strip_prefix("override ")).unwrap_or(joined).trim();
            if DIRECTIVES.contains(&first) || joined == "export" {
                return None;
            }
            if let Some((name, sign, value)) = assignment(plain) {
                open.clear();
                self.assign(name, sign, value, request)?;
                continue;
            }
            if plain.len() < joined.len() || first == "unexport" {
                continue;
            }
            // The first colon outside of expansions ends the targets; one line may hold a recipe too.
            let line_at = colon(line)?;
            let (targets, needs) = (line.get(..line_at)?, line.get(line_at..)?.trim_start_matches(':'));
            let (needs, recipe) = match needs.split_once(';') {
                Some((needs, recipe)) => (needs, Some(recipe)),
                None => (needs, None),
            };
            let (targets, needs) = (targets.replace("\\\n", " "), needs.replace("\\\n", " "));
            let needs = needs.split('#').next().unwrap_or_default();
            if needs.contains(['=', ':', '%']) || targets.contains('%') {
                return None;
            }
            let (targets, needs) = (self.expand(&targets, None, 0)?, self.expand(needs, None, 0)?);
            let needs: Vec<String> = needs.split_whitespace().filter(|name| *name != "|").map(str::to_owned).collect();
            open.clear();
            for target in targets.split_whitespace() {
                self.one_shell |= target == ".ONESHELL";
                self.left =
                    self.left.checked_sub(target.len() + needs.iter().map(|need| need.len() + 8).sum::<usize>())?;
                let rule = Rule { needs: needs.clone(), recipe: recipe.into_iter().collect() };
                open.push(self.rules.len());
                self.rules.push((target.to_owned(), rule));
            }
        }
        Some(())
    }

    fn assign(&mut self, name: &str, sign: &str, value: &str, request: &Request) -> Option<()> {
        let name = self.expand(name, None, 0)?;
        if request.given.contains_key(&name) {
            return Some(());
        }
        let value = match sign {
            ":=" | "::=" => self.expand(value, None, 0)?,
            "!=" => {
                let text = self.expand(value, None, 0)?;
                self.read.push(text);
                return None;
            }
            "?=" if self.variables.contains_key(&name) || (self.environment)(&name).is_some() => return Some(()),
            "+=" => {
                let before = self.variables.get(&name).cloned().unwrap_or_default();
                format!("{before} {value}")
            }
            _ => value.to_owned(),
        };
        self.left = self.left.checked_sub(value.len())?;
        self.variables.insert(name, value);
        Some(())
    }

    /// A text with its variables; `None` where only make could tell.
    fn expand(&mut self, text: &str, rule: Option<usize>, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let next = rest.chars().next()?;
            rest = &rest[next.len_utf8()..];
            let name = match next {
                '$' => {
                    out.push('$');
                    continue;
                }
                '(' | '{' => {
                    let end = closing(rest, next)?;
                    let name = &rest[..end];
                    rest = &rest[end + 1..];
                    name.to_owned()
                }
                other => other.to_string(),
            };
            out.push_str(&self.value(&name, rule, depth)?);
            if out.len() > self.left {
                return None;
            }
        }
        out.push_str(rest);
        self.left = self.left.checked_sub(out.len())?;
        Some(out)
    }

    fn value(&mut self, name: &str, rule: Option<usize>, depth: usize) -> Option<String> {
        if let Some(command) = name.strip_prefix("shell ") {
            let command = self.expand(command, rule, depth + 1)?;
            self.read.push(command);
            return None;
        }
        let rule = rule.and_then(|at| self.rules.get(at));
        match (name, rule) {
            ("@", Some((target, _))) => return Some(target.clone()),
            ("<", Some((_, rule))) => return Some(rule.needs.first().cloned().unwrap_or_default()),
            ("^" | "+", Some((_, rule))) => return Some(rule.needs.join(" ")),
            _ => {}
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            return None;
        }
        let value = self.variables.get(name).cloned().or_else(|| (self.environment)(name));
        let built_in = || BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        match value.or_else(built_in) {
            Some(value) => self.expand(&value, None, depth + 1),
            // Nothing but the environment can have it now, which the shell asks too.
            None => Some(format!("${{{name}}}")),
        }
    }

    fn run(&mut self, request: &Request, found: &mut Vec<Line>) {
        let shell = self.variables.get("SHELL").map(|shell| crate::path::basename(shell.trim()));
        if shell.is_some_and(|shell| !matches!(shell, "sh" | "bash" | "dash" | "zsh" | "ksh"))
            || self.variables.contains_key(".SHELLFLAGS")
        {
            return found.push(Line::Unknown);
        }
        let goals = if request.goals.is_empty() {
            let named = self.variables.get(".DEFAULT_GOAL").cloned();
            let first = || self.rules.iter().map(|(target, _)| target).find(|target| !target.starts_with('.')).cloned();
            named.or_else(first).into_iter().collect()
        } else {
            request.goals.clone()
        };
        let mut seen = BTreeSet::new();
        for goal in &goals {
            self.target(goal, request, &mut seen, found, 0);
        }
    }

    fn target(
        &mut self,
        name: &str,
        request: &Request,
        seen: &mut BTreeSet<String>,
        found: &mut Vec<Line>,
        depth: usize,
    ) {
        if !seen.insert(name.to_owned()) {
            return;
        }
        if depth > MAX_DEPTH {
            return found.push(Line::Unknown);
        }
        let rules: Vec<usize> = (0..self.rules.len()).filter(|&at| self.rules[at].0 == name).collect();
        for at in rules {
            for need in self.rules[at].1.needs.clone() {
                self.target(&need, request, seen, found, depth + 1);
            }
            let recipe = self.rules[at].1.recipe.clone();
            let mut whole = String::new();
            for line in recipe {
                let text = line.trim_start_matches(['@', '-', '+', ' ', '\t']);
                let always = line[..line.len() - text.len()].contains('+') || text.contains("(MAKE)");
                if text.is_empty() || request.dry && !always {
                    continue;
                }
                // The shell itself joins lines; make takes away the tab.
                match self.expand(&text.replace("\\\n\t", "\\\n"), Some(at), 0) {
                    Some(text) if self.one_shell => {
                        whole.push_str(&text);
                        whole.push('\n');
                    }
                    Some(text) => found.push(Line::Known(text)),
                    None => found.push(Line::Unknown),
                }
            }
            if !whole.is_empty() {
                found.push(Line::Known(whole));
            }
        }
    }
}

/// A line with those that a backslash at its end joins to it, and the text after it.
fn logical_line(text: &str) -> (&str, &str) {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        let content = line.trim_end_matches('\n');
        let slashes = content.len() - content.trim_end_matches('\\').len();
        if slashes % 2 == 0 {
            break;
        }
    }
    (text[..end].trim_end_matches('\n'), &text[end..])
}

/// `NAME = VALUE`: name, sign, value. The sign stands before any colon of a rule.
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let equals = line.find('=')?;
    let before = &line[..equals];
    let (name, sign) = [":::", "::", ":", "?", "+", "!"]
        .into_iter()
        .find_map(|sign| Some((before.strip_suffix(sign)?, line.get(equals - sign.len()..=equals)?)))
        .unwrap_or((before, "="));
    let name = name.trim();
    let single = !name.is_empty() && !name.contains([':', '"', '\'']) && !name.contains(char::is_whitespace);
    single.then(|| (name, sign, line[equals + 1..].trim()))
}

/// The first colon that is not inside an expansion.
fn colon(line: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in line.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// Where the bracket closes that has just been opened.
fn closing(text: &str, open: char) -> Option<usize> {
    let close = if open == '(' { ')' } else { '}' };
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_with_what_make_expands() {
        let cases: &[(&str, &str, &[&str])] = &[
            ("all:\n\t@a b\n", "", &["a b"]),
            ("all: one two\none:\n\ta\ntwo:\n\t-b\nother:\n\tc\n", "", &["a", "b"]),
            ("X = rm\nall:\n\t$(X) -f $@ ${Y}\n", "", &["rm -f all ${Y}"]),
            ("all:\n\t@$(C)\n", "C=rm $$x", &["rm $x"]),
            ("C = a\nall:\n\t$C\n", "C=b", &["b"]),
            ("a: ; x\nb:\n\ty\n", "b", &["y"]),
            ("A := 1\nA += 2\nall: dep\n\t$(A) $< $^\n", "", &["1 2 dep dep"]),
            ("all:\n\ta \\\n\tb\n", "", &["a \\\nb"]),
            (".ONESHELL:\nall:\n\tcd x\n\trm y\n", "", &["cd x\nrm y\n"]),
            ("all:\n\t$(RM) x\n", "", &["rm -f x"]),
            ("all:\n\t$(patsubst a,b,c)\n", "", &["?"]),
            ("X := $(shell rm x)\nall:\n\techo\n", "", &["?", "rm x"]),
            ("include x.mk\nall:\n\techo\n", "", &["?"]),
            ("%.o: %.c\n\tcc $<\n", "", &["?"]),
            ("SHELL = python3\nall:\n\timport os\n", "", &["?"]),
            ("all: all\n\tx\n", "", &["x"]),
            ("X = $(X)\nall:\n\t$(X)\n", "", &["?"]),
            ("all:\n\ta\n\t+b\n", "-n", &["b"]),
            ("\n# all:\n\nall:\n\ta # b\n", "", &["a # b"]),
            ("", "", &[]),
        ];
        for (text, words, expected) in cases {
            let mut request = Request { dry: *words == "-n", ..Request::default() };
            match words.split_once('=') {
                Some((name, value)) => drop(request.given.insert(name.to_owned(), value.to_owned())),
                None => request
                    .goals
                    .extend(Some(*words).filter(|goal| !goal.is_empty() && *goal != "-n").map(str::to_owned)),
            }
            let ours: Vec<String> = lines(text, &request, &|_| None)
                .into_iter()
                .map(|line| match line {
                    Line::Known(text) => text,
                    Line::Unknown => "?".to_owned(),
                })
                .collect();
            assert_eq!(ours, *expected, "{text:?} {words}");
        }
    }
}
