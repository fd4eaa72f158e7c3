//! Which names `find` picks, by its expression. Not what it does to them.

use toolgate_shell::{Command, Value};

use super::path_zone::{REPOSITORIES, is_product};

/// Tests and actions that take a value, beside those whose pattern is read below.
const VALUED: &[&str] = &[
    "-D",
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-context",
    "-ctime",
    "-fls",
    "-fprint",
    "-fprint0",
    "-files0-from",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-inum",
    "-iregex",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-samefile",
    "-size",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-xtype",
];

/// Actions that do something to what is found, or tell it to others.
const ACTIONS: &[&str] = &[
    "-delete", "-exec", "-execdir", "-fls", "-fprint", "-fprint0", "-fprintf", "-ls", "-ok", "-okdir", "-print",
    "-print0", "-printf",
];

/// Globs of which one has to fit a name; `None` if any name does.
type Names<'a> = Option<Vec<&'a str>>;

/// The globs by which a search picks files by name: none if it takes any name, `None` if it is no search.
pub(crate) fn names(command: &Command) -> Names<'_> {
    if command.program() != Some("find") {
        return None;
    }
    let words: Vec<&str> = command.words.iter().skip(1).map(|word| word.value.text()).collect();
    // Where links are followed, what is found lies anywhere.
    if words.iter().any(|word| matches!(*word, "-L" | "-H" | "-follow")) {
        return Some(Vec::new());
    }
    // What the search begins with is a part of each path, and may fit a pattern by itself or lead out of what does.
    let begins =
        words.iter().skip_while(|word| word.starts_with('-')).take_while(|word| !word.starts_with(['-', '(', '!']));
    let by_path = begins
        .into_iter()
        .all(|word| !word.starts_with('/') && !word.contains(Value::HOLE) && word.split('/').all(|part| part != ".."));
    let mut expression = Expression { words: &words, at: 0, by_path, acted: Vec::new() };
    let all = expression.alternatives(0, None);
    // Where there is no action, all that fits is printed.
    let names = if expression.acted.is_empty() { all } else { either(expression.acted) };
    Some(names.unwrap_or_default())
}

/// The names of all of them, if each has some.
fn either(alternatives: Vec<Names<'_>>) -> Names<'_> {
    let names: Option<Vec<Vec<&str>>> = alternatives.into_iter().collect();
    let mut names = names?.concat();
    // Two actions on the same names.
    names.dedup();
    Some(names)
}

/// The name of what a build makes again, which every path that fits a pattern has in it as a name of its own.
fn product_on_path(pattern: &str) -> Option<&str> {
    if pattern.contains(['[', '\\', Value::HOLE]) || REPOSITORIES.iter().any(|own| pattern.contains(own)) {
        return None;
    }
    let plain = |part: &&str| !part.contains(['*', '?']) && is_product(part);
    pattern.split('/').rfind(plain)
}

struct Expression<'a, 'w> {
    words: &'w [&'a str],
    at: usize,
    /// Whether patterns of whole paths say where in the folder something lies.
    by_path: bool,
    /// For each action, the names that get to it.
    acted: Vec<Names<'a>>,
}

impl<'a> Expression<'a, '_> {
    /// Brackets that are opened deeper than this are not looked into.
    const DEEPEST: usize = 32;

    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    /// Everything up to the end of a bracket, which only these names get to.
    fn alternatives(&mut self, depth: usize, outer: Option<&[&'a str]>) -> Names<'a> {
        let mut done = Vec::new();
        let mut names: Names<'a> = None;
        let mut inverse = false;
        while let Some(word) = self.next() {
            let found = match word {
                "-o" | "-or" | "," => {
                    done.push(names.take());
                    continue;
                }
                "!" | "-not" => {
                    inverse = !inverse;
                    continue;
                }
                ")" if depth > 0 => break,
                // What is in it may be anything.
                "(" if depth >= Self::DEEPEST => {
                    self.at = self.words.len();
                    self.acted.push(None);
                    None
                }
                "(" => {
                    let known = names.clone();
                    self.alternatives(depth + 1, known.as_deref().or(outer))
                }
                "-name" | "-iname" => self.next().map(|name| vec![name]),
                "-path" | "-wholename" | "-ipath" | "-iwholename" => {
                    let pattern = self.next().filter(|_| self.by_path);
                    pattern.and_then(product_on_path).map(|name| vec![name])
                }
                // Whatever name a folder of this kind has, it is empty.
                "-empty" => Some(vec!["x.tmp"]),
                word => {
                    // `-newermt`: which time of which is compared.
                    if VALUED.contains(&word) || word.starts_with("-newer") {
                        self.next();
                    }
                    if ACTIONS.contains(&word) {
                        self.acted.push(names.clone().or_else(|| outer.map(<[_]>::to_vec)));
                    }
                    match word {
                        "-exec" | "-execdir" | "-ok" | "-okdir" => {
                            let mut before = "";
                            // A plus ends it only after the braces.
                            while let Some(word) =
                                self.next().filter(|word| !(*word == ";" || *word == "+" && before == "{}"))
                            {
                                before = word;
                            }
                        }
                        "-fprintf" => self.at += 2,
                        _ => {}
                    }
                    None
                }
            };
            // Each of them has to fit; one of them is enough to tell.
            names = names.or(found.filter(|_| !inverse));
            inverse = false;
        }
        done.push(names);
        either(done)
    }
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;

    #[test]
    fn names_are_those_of_what_is_acted_on() {
        let cases = [
            ("find . -name a -delete", "a"),
            ("find . -iname '*.A' -type f -exec rm {} +", "*.A"),
            ("find . -delete", ""),
            ("find . -delete -name a", ""),
            ("find . -name a -delete -o -name b", "a"),
            ("find . \\( -name a -o -delete \\)", ""),
            ("find . -name a \\( -type f -delete -o -exec rm {} + \\)", "a"),
            ("find . -name a -o -delete", ""),
            ("find . -name a -o -name b", "a b"),
            ("find . -name a -o -type f", ""),
            ("find . -name a -o -name b -delete", "b"),
            ("find . -name a -delete -o -name b -delete", "a b"),
            ("find . -name a -delete -o -type d -exec rm -r {} ;", ""),
            ("find . -path ./x -prune -o -name '*.pyc' -exec rm {} \\;", "*.pyc"),
            ("find . -path ./x -prune -o -name '*.pyc' -print", "*.pyc"),
            ("find . -path ./x -prune -o -name '*.pyc'", ""),
            ("find . \\( -name a -o -name b \\) -delete", "a b"),
            ("find . \\( -name a -o -type f \\) -delete", ""),
            ("find . \\( -name a -o \\( -name b -o -name c \\) \\) -type f -delete", "a b c"),
            ("find . ! -name a -delete", ""),
            ("find . ! -name a -name b -delete", "b"),
            ("find . -not \\( -name a -o -name b \\) -delete", ""),
            ("find . ! ! -name a -delete", "a"),
            ("find . -name a ! \\( -name b -delete \\)", "b"),
            ("find . -name a , -delete", ""),
            ("find . -name a -exec grep -o -name x {} \\; -delete", "a"),
            ("find . -exec rm {} \\; -o -name a -delete", ""),
            ("find . -path -name -delete", ""),
            ("find . -newermt -name -delete", ""),
            ("find . -newer -name -delete", ""),
            ("find . -files0-from -name -delete", ""),
            ("find -D -name a ~ -delete", ""),
            ("find . \\( -name a -exec true + \\( \\; -o -true \\) -delete", ""),
            ("find . -type d -empty -delete", "x.tmp"),
            ("find . -name", ""),
            ("find . -path '*/dist/*' -delete", "dist"),
            ("find src -ipath './build/*.map' -delete", "build"),
            ("find . -path '*/dist/*' -o -delete", ""),
            ("find . ! -path '*/dist/*' -delete", ""),
            ("find /p -path '*/dist/*' -delete", ""),
            ("find \"$X\" -path '*/dist/*' -delete", ""),
            ("find dist/../src -path '*/dist/*' -delete", ""),
            ("find . -name '*.pyc' -exec mv {} ../x \\;", "*.pyc"),
            ("find . -path '*[!/dist/]*' -delete", ""),
            ("find . -path '*/.git/dist/*' -delete", ""),
            ("find . -path '*dist/*' -delete", ""),
            ("find -L . -name '*.pyc' -delete", ""),
        ];
        for (text, expected) in cases {
            let script = parse(text, &Facts::new("/p"));
            let found = names(&script.commands[0]).expect("a search");
            assert_eq!(found.join(" "), expected, "{text}");
        }
        assert!(names(&parse("ls -name a", &Facts::new("/p")).commands[0]).is_none());
    }
}
