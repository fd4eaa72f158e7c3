//! What a makefile runs: the lines of its recipes with make's own expansions done.
//!
//! Only plain makefiles are read: variables, rules and their recipes. What needs make itself (conditionals, functions,
//! included files, patterns, special targets) is not guessed at: the line, or the whole file, is then [`Line::Unknown`].

mod rough;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use rough::{included, removes_unknown, roughly};

/// How deep variables may stand in variables, and targets behind targets.
const MAX_DEPTH: usize = 24;

/// Most bytes that come out of all expansions of one file.
const MAX_EXPANDED: usize = 256 * 1024;

/// Most lines that are run.
const MAX_LINES: usize = 2_000;

/// Words that begin a line whose meaning depends on more than the line.
const DIRECTIVES: &[&str] = &[
    "-include", "-load", "define", "else", "endef", "endif", "ifdef", "ifeq", "ifndef", "ifneq", "include", "load",
    "override", "private", "sinclude", "undefine", "vpath",
];

/// Special targets that change nothing about which lines run.
#[rustfmt::skip]
const SPECIAL: &[&str] = &[
    ".DELETE_ON_ERROR", ".EXPORT_ALL_VARIABLES", ".IGNORE", ".INTERMEDIATE", ".NOTPARALLEL", ".ONESHELL", ".PHONY", ".POSIX",
    ".PRECIOUS", ".SECONDARY", ".SILENT", ".SUFFIXES",
];

/// What `SHELL` may be set to for recipes to be read: a text of a makefile, and not the name of any program.
const SHELLS: &[&str] = &["/bin/bash", "/bin/sh", "/usr/bin/bash", "/usr/bin/sh", "bash", "sh"];

/// Variables that change how make or its shells work where a makefile sets them.
const SETTINGS: &[&str] = &[
    ".RECIPEPREFIX",
    ".SHELLFLAGS",
    "BASH_ENV",
    "CDPATH",
    "ENV",
    "GPATH",
    "HOME",
    "IFS",
    "MAKEFILES",
    "PATH",
    "PWD",
    "VPATH",
];

/// Variables whose values only make knows.
const OWN: &[&str] = &["CURDIR", "MAKECMDGOALS", "MAKEFILE_LIST", "MAKE_COMMAND", "MFLAGS", "SUFFIXES"];

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
    /// The names of the makefiles, which are made anew before anything else.
    pub(crate) files: Vec<String>,
}

/// What the targets of a rule have in common.
struct Rule<'t> {
    /// With the `|` before those that only come first.
    needs: Vec<String>,
    recipe: Vec<&'t str>,
}

struct Makefile<'t, 'e> {
    variables: BTreeMap<String, String>,
    /// Those whose values were final when they were set.
    simple: BTreeSet<String>,
    rules: Vec<Rule<'t>>,
    targets: BTreeMap<String, Vec<usize>>,
    /// The first target that is not special.
    first: Option<String>,
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
        simple: BTreeSet::new(),
        rules: Vec::new(),
        targets: BTreeMap::new(),
        first: None,
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
        if text.contains('\r') {
            return None;
        }
        for (name, value) in &request.given {
            self.variables.insert(name.clone(), value.clone());
            plain_setting(name, value)?;
        }
        // The rule that a recipe line belongs to.
        let mut open: Option<usize> = None;
        let mut rest = text;
        while !rest.is_empty() {
            let (line, after) = logical_line(rest);
            rest = after;
            if let Some(recipe) = line.strip_prefix('\t') {
                match open.and_then(|at| self.rules.get_mut(at)) {
                    Some(rule) => rule.recipe.push(recipe),
                    None if recipe.trim().is_empty() || recipe.trim_start().starts_with('#') => {}
                    None => return None,
                }
                continue;
            }
            let joined = line.replace("\\\n", " ");
            if joined.contains("\\#") {
                return None;
            }
            let joined = joined.split('#').next().unwrap_or_default().trim();
            let mut words = joined.split_whitespace();
            let first = words.next().unwrap_or_default();
            if first.is_empty() {
                continue;
            }
            let plain = joined.strip_prefix("export ").unwrap_or(joined).trim();
            if DIRECTIVES.contains(&first) || joined == "export" {
                return None;
            }
            if let Some((name, sign, value)) = assignment(plain) {
                open = None;
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
            if needs.contains(['=', ':']) {
                return None;
            }
            let (targets, needs) = (self.expand(&targets, None, 0)?, self.expand(needs, None, 0)?);
            // Patterns, names of files that are there, members of archives, targets that are made together.
            let meant = |c: char| "%*?[]~\\()&=:;$".contains(c);
            if targets.contains(meant) || needs.contains(meant) {
                return None;
            }
            let needs: Vec<String> = needs.split_whitespace().map(|need| local(need).to_owned()).collect();
            let cost = needs.iter().map(|need| need.len() + 8).sum::<usize>();
            open = Some(self.rules.len());
            for target in targets.split_whitespace().map(local) {
                let made = |name: &String| {
                    toolgate_shell_syntax::path::basename(name) == toolgate_shell_syntax::path::basename(target)
                };
                if target.starts_with('.') && !SPECIAL.contains(&target) || request.files.iter().any(made) {
                    return None;
                }
                self.one_shell |= target == ".ONESHELL";
                self.left = self.left.checked_sub(target.len() + cost)?;
                self.targets.entry(target.to_owned()).or_default().push(self.rules.len());
                if self.first.is_none() && !target.starts_with('.') {
                    self.first = Some(target.to_owned());
                }
            }
            self.rules.push(Rule { needs, recipe: recipe.into_iter().collect() });
        }
        Some(())
    }

    fn assign(&mut self, name: &str, sign: &str, value: &str, request: &Request) -> Option<()> {
        let name = self.expand(name, None, 0)?;
        if request.given.contains_key(&name) {
            return Some(());
        }
        let simple = sign.starts_with(':') || sign == "+=" && self.simple.contains(&name);
        // Where make would read such a value, for the environment of a recipe perhaps, it runs what is in it.
        if simple || ["(shell", "{shell"].iter().any(|shell| value.contains(shell)) {
            let value = self.expand(value, None, 0)?;
            // It would be expanded again.
            if value.contains('$') {
                return None;
            }
        }
        plain_setting(&name, value)?;
        let value = match sign {
            ":=" | "::=" | ":::=" => {
                self.simple.insert(name.clone());
                self.expand(value, None, 0)?
            }
            "!=" => {
                let text = self.expand(value, None, 0)?;
                self.read.push(text);
                return None;
            }
            "?=" if self.variables.contains_key(&name) || (self.environment)(&name).is_some() => return Some(()),
            "+=" => {
                let before = self.variables.get(&name).cloned().unwrap_or_default();
                let value = if simple { self.expand(value, None, 0)? } else { value.to_owned() };
                format!("{before} {value}")
            }
            _ => {
                self.simple.remove(&name);
                value.to_owned()
            }
        };
        self.left = self.left.checked_sub(value.len())?;
        self.variables.insert(name, value);
        Some(())
    }

    /// A text with its variables; `None` where only make could tell.
    fn expand(&mut self, text: &str, rule: Option<(&str, usize)>, depth: usize) -> Option<String> {
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

    fn value(&mut self, name: &str, rule: Option<(&str, usize)>, depth: usize) -> Option<String> {
        if let Some(command) = name.strip_prefix("shell ") {
            let command = self.expand(command, rule, depth + 1)?;
            self.read.push(command);
            return None;
        }
        if let (Some((target, at)), "@" | "<" | "^" | "+") = (rule, name) {
            if name == "@" {
                return Some(target.to_owned());
            }
            let needs = &self.rules.get(at)?.needs;
            // Another rule may add to them, and some stand in none of these.
            if self.targets.get(target)?.len() > 1 || needs.iter().any(|need| need == "|") {
                return None;
            }
            let mut seen = BTreeSet::new();
            let listed = needs.iter().map(String::as_str).filter(|need| name == "+" || seen.insert(*need));
            let listed: Vec<&str> = listed.take(if name == "<" { 1 } else { needs.len() }).collect();
            return Some(listed.join(" "));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if name.is_empty() || !name.chars().all(plain) || OWN.contains(&name) {
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
        let named = self.variables.get(".DEFAULT_GOAL").cloned();
        if self.variables.get("SHELL").is_some_and(|shell| !SHELLS.contains(&shell.trim()))
            || named.as_ref().is_some_and(|goal| goal.contains('$') || goal.split_whitespace().count() != 1)
        {
            return found.push(Line::Unknown);
        }
        let goals = match request.goals.is_empty() {
            true => named.or(self.first.clone()).into_iter().collect(),
            false => request.goals.clone(),
        };
        let mut seen = BTreeSet::new();
        for goal in &goals {
            if self.target(local(goal.trim()), request.dry, &mut seen, found, 0).is_none() {
                return found.push(Line::Unknown);
            }
        }
    }

    /// `None` where that is too much to read.
    fn target(
        &mut self,
        name: &str,
        dry: bool,
        seen: &mut BTreeSet<String>,
        found: &mut Vec<Line>,
        depth: usize,
    ) -> Option<()> {
        if !seen.insert(name.to_owned()) {
            return Some(());
        }
        if depth > MAX_DEPTH {
            return None;
        }
        for at in self.targets.get(name).cloned().unwrap_or_default() {
            for need in self.rules.get(at)?.needs.clone() {
                self.target(&need, dry, seen, found, depth + 1)?;
            }
            let recipe = self.rules.get(at)?.recipe.clone();
            let mut whole = String::new();
            for line in recipe {
                self.left = self.left.checked_sub(1)?;
                // The shell itself joins lines; make takes away the tab.
                let text = self.expand(&line.replace("\\\n\t", "\\\n"), Some((name, at)), 0);
                let text = text.filter(|text| !self.names_variable(text));
                if dry && !runs_when_dry(line, text.as_deref()) {
                    continue;
                }
                // In one shell the other lines run with it.
                let text = text.filter(|_| !(dry && self.one_shell));
                let Some(text) = text else {
                    found.push(Line::Unknown);
                    continue;
                };
                let text = text.trim_start_matches(['@', '-', '+', ' ', '\t']);
                if self.one_shell {
                    whole.push_str(text);
                    whole.push('\n');
                } else if !text.is_empty() {
                    found.push(Line::Known(text.to_owned()));
                }
                if found.len() > MAX_LINES {
                    return None;
                }
            }
            if !whole.is_empty() {
                found.push(Line::Known(whole));
            }
        }
        Some(())
    }

    /// Whether a shell asks for a variable that the makefile sets: which value it sees depends on what is exported.
    fn names_variable(&self, text: &str) -> bool {
        text.split('$').skip(1).any(|rest| {
            let rest = rest.trim_start_matches(['{', '!', '#']);
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            rest.get(..end).is_some_and(|name| self.variables.contains_key(name))
        })
    }
}

/// `None` for a variable that changes how make works.
fn plain_setting(name: &str, value: &str) -> Option<()> {
    let harmless = !SETTINGS.contains(&name) && !name.starts_with("LD_");
    (harmless && (!name.ends_with("MAKEFLAGS") || plain_flags(value))).then_some(())
}

/// Whether these words are options that change nothing about which lines run.
pub(crate) fn plain_flags(words: &str) -> bool {
    words.split_whitespace().all(|word| match word.strip_prefix("--") {
        Some(name) => name.starts_with("no-") || name.starts_with("warn-") || name == "silent",
        None => word.chars().all(|c| "-Bjkrsw".contains(c) || c.is_ascii_digit()),
    })
}

/// A name without the `./` before it.
fn local(name: &str) -> &str {
    match name.strip_prefix("./").map(|rest| rest.trim_start_matches('/')) {
        Some(rest) if !rest.is_empty() => local(rest),
        _ => name,
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

/// Whether `make -n` runs a line of a recipe all the same, which it has expanded in any case.
fn runs_when_dry(line: &str, expanded: Option<&str>) -> bool {
    let starts = |text: &str, mark: &str| text.trim_start_matches(['@', '-', ' ', '\t']).starts_with(mark);
    let recurses = line.contains("$(MAKE)") || line.contains("${MAKE}");
    // What only the environment has may begin with anything.
    recurses || starts(line, "+") || expanded.is_none_or(|text| starts(text, "+") || starts(text, "${"))
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
            ("all:\n\ta\n", "-n", &[]),
            ("all:\n\ta\n\t+b\n", "-n", &["b"]),
            ("all:\n\ta\n\t@-+b\n", "-n", &["b"]),
            ("all: ; +a\n", "-n", &["a"]),
            ("X = +a\nall:\n\t$(X)\n", "-n", &["a"]),
            ("all:\n\ta +\n\teval b; c++ d\n", "-n", &[]),
            ("all:\n\ta\n\t${MAKE} b\n", "-n", &["make b"]),
            ("all:\n\t$(patsubst a,b,c)\n", "-n", &["?"]),
            ("all:\n\ta $(shell rm x)\n", "-n", &["?", "rm x"]),
            ("X := $(shell rm x)\nall:\n\techo\n", "-n", &["?", "rm x"]),
            ("$(eval X = y)\nall:\n\techo\n", "-n", &["?"]),
            ("include x.mk\nall:\n\techo\n", "-n", &["?"]),
            (".ONESHELL:\nall:\n\ta\n\t+b\n", "-n", &["?"]),
            ("all: dep\ndep:\n\t+b\n", "-n", &["b"]),
            ("all:\n\t$(Y) b\n", "-n", &["${Y} b"]),
            (".RECIPEPREFIX = >\nall:\n> a\n", "", &["?"]),
            (".DEFAULT:\n\ta\n", "x", &["?"]),
            (".DEFAULT_GOAL = $(X)\na:\n\tb\n", "", &["?"]),
            (".DEFAULT_GOAL = c\na:\n\tb\nc:\n\td\n", "", &["d"]),
            (".c.o:\n\ta\n", "", &["?"]),
            ("P = %\n$(P).o:\n\ta\n", "x.o", &["?"]),
            ("all:\n\ta\nMakefile:\n\tb\n", "", &["?"]),
            ("SHELL = zsh\nall:\n\ta\n", "", &["?"]),
            ("SHELL = /bin/bash\nall:\n\ta\n", "", &["a"]),
            ("X := $$(Y)\nY = b\nall:\n\ta $(X)\n", "", &["?"]),
            ("A := x\nA += $(B)\nB = echo\nall:\n\t$(A) y\n", "", &["?"]),
            ("X = b\nall:\n\t$$X a\n", "", &["?"]),
            ("./x:\n\ta\ny:\n\tb\n", "", &["a"]),
            ("./x:\n\ta\n", "x", &["a"]),
            ("Q = @\nall:\n\t$(Q)a\n", "", &["a"]),
            ("override C = a\nall:\n\t$C\n", "C=b", &["?"]),
            ("all&: ; a\n", "all", &["?"]),
            ("all: | b\n\t$^ a\n", "", &["?"]),
            ("all:\nY = 1\n\tX = a\n", "", &["?"]),
            ("a b:\n\tc $@\n", "b", &["c b"]),
            ("\n# all:\n\nall:\n\ta # b\n", "", &["a # b"]),
            ("", "", &[]),
        ];
        for (text, words, expected) in cases {
            let mut request = Request { dry: *words == "-n", files: vec!["Makefile".to_owned()], ..Request::default() };
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
