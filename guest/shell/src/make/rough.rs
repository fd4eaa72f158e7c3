//! What a makefile runs, roughly, where it needs make itself to be read: the recipes of the goals and of what they need, with plain
//! variables put in, and what functions give that only put words together. Conditions and patterns are taken to hold,
//! what only make knows is a variable of the shell.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Request, runs_when_dry};
use toolgate_shell_syntax::word::is_name;

/// The variable of the shell that stands for what only make knows.
const OTHER: &str = "_MAKE";

/// The one that stands for what a rule is about: its target and what that needs.
const OF_RULE: &str = "_RULE";

/// Programs that take away what they are given.
const REMOVERS: &[&str] = &["mv", "rm", "rmdir", "shred", "truncate", "unlink"];

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
    /// How the makefile is called.
    file: &'t str,
}

/// What make runs for its goals, or for the first target if there are none.
pub(crate) fn roughly(text: &str, request: &Request) -> Rough {
    let text = with_evaluated(&text.replace("\\\n", " "));
    let mut reader = Reader::of(&text, request);
    // In one shell the other lines run with one that runs.
    reader.run(&request.goals, request.dry && !text.contains(".ONESHELL"));
    reader.found
}

/// The names of the files that a makefile includes, with the number of the line that says so. A `*` stands for what is
/// not known of them, and where that is all of a name it is one of those that makefiles have.
pub(crate) fn included(text: &str, request: &Request) -> Vec<(usize, String)> {
    let mut reader = Reader::of(text, request);
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start_matches(' ').trim_start_matches(['-', 's']);
        let Some(names) = line.strip_prefix("include ") else { continue };
        let names = reader.expand(names, 0);
        for name in opened(&names).split_whitespace() {
            let is_known = name.contains(|c: char| c.is_alphanumeric());
            found.push((at, if is_known { name.to_owned() } else { "*.mk".to_owned() }));
        }
    }
    found
}

/// Whether a line takes away something whose path begins with what only make knows.
pub(crate) fn removes_unknown(line: &str) -> bool {
    let begin = format!("${{{OTHER}}}/");
    line.split([';', '&', '|', '\n', '(']).any(|piece| {
        let mut words = piece.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
        words.next().is_some_and(|first| REMOVERS.contains(&first)) && words.any(|word| word.starts_with(&begin))
    })
}

/// A makefile with the texts that `$(eval ..)` has make read as lines of it.
fn with_evaluated(text: &str) -> String {
    const EVAL: &str = "$(eval ";
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(EVAL) {
        let end = closing(after, '(', ')');
        out.push_str(before);
        out.push('\n');
        out.push_str(&after[..end].trim_start().replace("$$", "$"));
        out.push('\n');
        rest = after.get(end + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// A text with a `*` for each part that is the shell's to find.
fn opened(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        out.push('*');
        let close = match after.chars().next() {
            Some('{') => closing(&after[1..], '{', '}'),
            Some('(') => closing(&after[1..], '(', ')'),
            _ => {
                rest = after;
                continue;
            }
        };
        rest = after.get(close + 2..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

impl<'t> Reader<'t> {
    fn of(text: &'t str, request: &'t Request) -> Self {
        let file = request.files.last().map_or("Makefile", String::as_str);
        let mut reader =
            Reader { variables: BTreeMap::new(), rules: Vec::new(), found: Rough::default(), left: MAX_BYTES, file };
        text.lines().for_each(|line| reader.line(line));
        reader.variables.extend(request.given.iter().map(|(name, value)| (name.as_str(), value.clone())));
        reader
    }

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
            let printed = format!("$({text})");
            self.found.lines.push(text);
            return printed;
        }
        let function = inner.split_once([' ', '\t']);
        if let Some(value) = function.and_then(|(name, arguments)| self.function(name, arguments, depth)) {
            return value;
        }
        if inner.contains([' ', ',', '$', ':']) {
            // A function may have texts that are run among its arguments.
            self.expand(inner, depth + 1);
            return self.other();
        }
        self.variable(inner, depth)
    }

    /// What a function of make gives, if it is one of those that only put words together. The folder where make works
    /// is `.`, so that a path from it is as good as one from the root.
    fn function(&mut self, name: &str, arguments: &str, depth: usize) -> Option<String> {
        #[rustfmt::skip]
        const NAMES: &[&str] = &[
            "abspath", "addprefix", "addsuffix", "dir", "firstword", "lastword", "patsubst", "realpath", "sort", "strip",
            "subst", "wildcard",
        ];
        if !NAMES.contains(&name) || depth >= MAX_DEPTH {
            return None;
        }
        let given: Vec<String> = arguments_of(arguments).iter().map(|text| self.expand(text, depth + 1)).collect();
        let each = |text: &str, change: &dyn Fn(&str) -> String| {
            text.split_whitespace().map(change).collect::<Vec<_>>().join(" ")
        };
        // Each word may become as long as all that it is put together with.
        let longest = given.iter().map(String::len).max().unwrap_or_default();
        let parts = given.last().map_or(0, |text| text.split_whitespace().count().max(text.len()));
        if longest.saturating_mul(parts) > MAX_BYTES {
            return None;
        }
        // Of a path from here, what is before it may be a part that is asked for.
        let is_whole = |text: &str| !text.contains('$') && !text.split_whitespace().any(|word| word.starts_with('.'));
        match (name, given.as_slice()) {
            ("abspath" | "realpath" | "sort" | "strip" | "wildcard", [text]) => Some(text.trim().to_owned()),
            ("firstword", [text]) => Some(text.split_whitespace().next().unwrap_or_default().to_owned()),
            ("lastword", [text]) => Some(text.split_whitespace().last().unwrap_or_default().to_owned()),
            ("dir", [text]) if !text.contains('$') => Some(each(text, &folder_of)),
            ("addprefix", [prefix, text]) => Some(each(text, &|word| format!("{}{word}", prefix.trim()))),
            ("addsuffix", [suffix, text]) => Some(each(text, &|word| format!("{word}{}", suffix.trim()))),
            ("subst", [from, to, text]) if is_whole(text) && !from.is_empty() => Some(text.replace(from.as_str(), to)),
            ("patsubst", [from, to, text]) if is_whole(text) => {
                Some(each(text, &|word| substituted(from.trim(), to.trim(), word)))
            }
            _ => None,
        }
    }

    fn variable(&mut self, name: &str, depth: usize) -> String {
        match (self.variables.get(name).cloned(), name) {
            (Some(value), _) if depth < MAX_DEPTH => self.expand(&value, depth + 1),
            (None, "MAKE") => "make".to_owned(),
            (None, "RM") => "rm -f".to_owned(),
            (None, "CURDIR") => ".".to_owned(),
            (None, "HOME") => "${HOME}".to_owned(),
            (None, "MAKEFILE_LIST") => self.file.to_owned(),
            (None, name) if name.starts_with(['@', '<', '^', '+', '?', '*', '%', '|']) => self.unknown(OF_RULE),
            (None, name) if is_name(name) => self.unknown(name),
            _ => self.other(),
        }
    }

    fn other(&mut self) -> String {
        self.unknown(OTHER)
    }

    /// A variable of the shell whose value is not known.
    fn unknown(&mut self, name: &str) -> String {
        self.found.unknown.insert(name.to_owned());
        format!("${{{name}}}")
    }
}

/// The arguments of a function, which commas part that stand in no brackets.
fn arguments_of(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0_usize, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found
}

/// The folder of a path as `$(dir ..)` gives it. That of the folder where make works is the one above.
fn folder_of(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((_, "." | "..")) => format!("{path}/../"),
        Some((folder, _)) => format!("{folder}/"),
        None if matches!(path, "." | "..") => format!("{path}/../"),
        None => "./".to_owned(),
    }
}

/// A word as `$(patsubst ..)` gives it.
fn substituted(from: &str, to: &str, word: &str) -> String {
    let stem = match from.split_once('%') {
        Some((before, after)) => word.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)),
        None => (word == from).then_some(""),
    };
    stem.map_or_else(|| word.to_owned(), |stem| to.replacen('%', stem, 1))
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
    fn functions_that_put_words_together_are_read() {
        let cases = [
            ("rm -r $(abspath ..)/x", "rm -r ../x"),
            ("rm -r $(dir $(CURDIR))x", "rm -r ./../x"),
            ("rm -r $(dir $(abspath $(lastword $(MAKEFILE_LIST))))x", "rm -r ./x"),
            ("rm $(patsubst src/%.c,out/%.o,$(wildcard src/*.c))", "rm out/*.o"),
            ("rm $(addprefix out/,a b)", "rm out/a out/b"),
            ("rm $(subst a,b,cat)", "rm cbt"),
            ("rm -r $(subst /p,,$(CURDIR))/x", "rm -r ${_MAKE}/x"),
            ("rm -r $(shell pwd)/x", "rm -r $(pwd)/x"),
            ("rm -r $@/x", "rm -r ${_RULE}/x"),
        ];
        for (recipe, expected) in cases {
            let lines = roughly(&format!("all:\n\t{recipe}\n"), &Request::default()).lines;
            assert_eq!(lines.last().map(String::as_str), Some(expected), "{recipe}");
            assert_eq!(removes_unknown(expected), expected.contains("_MAKE"), "{recipe}");
        }
        let text = "$(eval all: ; rm $$(X))\nX = a\n";
        assert_eq!(roughly(text, &Request::default()).lines, ["rm a"]);
    }

    #[test]
    fn included_files_are_named_as_far_as_they_are_known() {
        let text = "D = mk\ninclude $(D)/a.mk\n-include $(sort $(wildcard mk/*)) $(X)/b.mk\ninclude $(O:.o=.d)\n";
        let expected = [(1, "mk/a.mk"), (2, "mk/*"), (2, "*/b.mk"), (3, "*.mk")];
        let found = included(text, &Request::default());
        assert_eq!(found.iter().map(|(at, name)| (*at, name.as_str())).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn recipes_of_the_goals_are_found() {
        let text = "include x.mk\nT := /a\nX ?= $(T)/b\nO = $(patsubst %.c,%.o,$(wildcard *.c)) $(shell s1)\nifeq ($(X),)\nV != s2\nendif\n\
            all: $(O) dep\n\t@echo $(X) $@ $$HOME\n\t-$(RM) $(UNSET)\n%.o: %.c\n\tcc $<\ndep: ; r $(V)\nclean:\n\trm $(X)\n";
        let cases: &[(&[&str], &[&str])] = &[
            (&[], &["s2", "s1", "echo /a/b ${_RULE} $HOME", "rm -f ${UNSET}", "cc ${_RULE}", "r ${V}"]),
            (&["clean"], &["s2", "s1", "rm /a/b"]),
            (&["x.o"], &["s2", "s1", "cc ${_RULE}"]),
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
