//! How a program takes its words: subcommand, options, operands.
//!
//! A rule names options in one spelling and means all of them: `-f` is in `-xfd`, `--force` in `--forc` where the
//! tool takes abbreviations, a value stands behind `=` or in the next word. Which options take a value is a table (the
//! `programs` of rule files); an option that is not in it takes none.

use std::collections::HashSet;

use rustc_hash::FxHashMap;
use toolgate_shell::Word;

use super::rule::fits;

/// How one program, or one of its subcommands, takes its words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grammar {
    /// Options are whole words after one dash: `find -delete`.
    pub(crate) words: bool,
    /// Long options may be cut short.
    pub(crate) abbreviates: bool,
    /// Options that take the next word, each with its dashes.
    pub(crate) values: HashSet<String>,
    /// Long options that are none of a longer one's abbreviations.
    pub(crate) exact: HashSet<String>,
}

/// Grammars by program, or by program and subcommands with blanks between.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grammars(FxHashMap<String, Grammar>);

impl Grammars {
    pub(crate) fn add(&mut self, name: &str, grammar: Grammar) {
        self.0.insert(name.to_owned(), grammar);
    }
}

/// An option that was given.
#[derive(Debug)]
pub(crate) struct Given<'a> {
    /// With its dashes, without its value.
    pub(crate) name: String,
    pub(crate) value: Option<&'a str>,
    /// Which word of the command.
    pub(crate) word: usize,
}

/// A word that is no option and no option's value.
#[derive(Debug)]
pub(crate) struct Operand<'a> {
    /// `None` if it is not certain.
    pub(crate) text: Option<&'a str>,
    pub(crate) word: usize,
}

/// A command as its program takes it.
#[derive(Debug)]
pub(crate) struct Invocation<'a> {
    pub(crate) program: &'a str,
    pub(crate) options: Vec<Given<'a>>,
    pub(crate) operands: Vec<Operand<'a>>,
    abbreviates: bool,
    exact: Vec<&'a str>,
}

impl<'a> Invocation<'a> {
    /// Reads a command's words. `None` if its program is not certain.
    pub(crate) fn read(words: &'a [Word], grammars: &'a Grammars) -> Option<Self> {
        let program = words.first()?.known()?;
        let program = program.rsplit('/').next().unwrap_or(program);
        let program = program.strip_suffix(".exe").unwrap_or(program);
        let mut key = program.to_owned();
        let mut known: Vec<&Grammar> = grammars.0.get(program).into_iter().collect();
        let mut found =
            Invocation { program, options: Vec::new(), operands: Vec::new(), abbreviates: false, exact: Vec::new() };
        let whole_words = known.first().is_some_and(|grammar| grammar.words);
        let takes = |known: &[&Grammar], name: &str| known.iter().any(|grammar| grammar.values.contains(name));
        let mut ended = false;
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.value.text();
            let next = words.get(at + 1).map(|word| word.value.text());
            let here = at;
            at += 1;
            if ended || !text.starts_with('-') || text.len() < 2 {
                if found.operands.len() < 4 && !key.is_empty() {
                    match word.known() {
                        Some(text) if !text.contains(char::is_whitespace) => {
                            key.push(' ');
                            key.push_str(text);
                            known.extend(grammars.0.get(&key));
                        }
                        // What comes after it is no subcommand that a table knows.
                        _ => key.clear(),
                    }
                }
                found.operands.push(Operand { text: word.known(), word: here });
            } else if text == "--" {
                ended = true;
            } else if whole_words || text.starts_with("--") {
                let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
                let name = if whole_words { name.replacen("--", "-", 1) } else { name.to_owned() };
                let value = match value {
                    None if takes(&known, &name) => {
                        at += 1;
                        next
                    }
                    value => value,
                };
                found.options.push(Given { name, value, word: here });
            } else {
                for (index, letter) in text.char_indices().skip(1) {
                    let name = format!("-{letter}");
                    let rest = text.get(index + letter.len_utf8()..).unwrap_or_default();
                    if takes(&known, &name) {
                        let value = if rest.is_empty() { next } else { Some(rest) };
                        at += usize::from(rest.is_empty());
                        found.options.push(Given { name, value, word: here });
                        break;
                    }
                    let value = Some(rest).filter(|rest| !rest.is_empty());
                    found.options.push(Given { name, value, word: here });
                }
            }
        }
        found.abbreviates = known.iter().any(|grammar| grammar.abbreviates);
        found.exact = known.iter().flat_map(|grammar| &grammar.exact).map(String::as_str).collect();
        Some(found)
    }

    /// Whether an option that was given is this one.
    pub(crate) fn is(&self, given: &Given<'_>, name: &str) -> bool {
        if given.name == name {
            return true;
        }
        self.abbreviates
            && given.name.len() > 2
            && given.name.starts_with("--")
            && name.starts_with(&given.name)
            && !self.exact.contains(&given.name.as_str())
    }

    /// How many operands these words of a subcommand take up. `*` stands for any characters in one, `**` alone for any
    /// number of them, `a|b` for either.
    ///
    /// With `loosely`, an operand that is not known may be an option, or none at all: then what comes after it is the
    /// subcommand.
    pub(crate) fn subcommand(&self, wanted: &[String], loosely: bool) -> Option<usize> {
        fn fit(wanted: &[String], operands: &[Operand<'_>], loosely: bool) -> Option<usize> {
            let Some((first, rest)) = wanted.split_first() else { return Some(0) };
            if first == "**" {
                return (0..=operands.len()).find_map(|skip| Some(skip + fit(rest, operands.get(skip..)?, loosely)?));
            }
            let (operand, others) = operands.split_first()?;
            let Some(text) = operand.text else {
                return if loosely { Some(1 + fit(wanted, others, loosely)?) } else { None };
            };
            let same = first.split('|').any(|one| fits(one, text));
            if same { Some(1 + fit(rest, others, loosely)?) } else { None }
        }
        fit(wanted, &self.operands, loosely)
    }
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;

    #[test]
    fn words_are_taken_as_the_program_takes_them() {
        let mut grammars = Grammars::default();
        let set = |names: &str| names.split_whitespace().map(str::to_owned).collect::<HashSet<_>>();
        grammars.add("git", Grammar { abbreviates: true, values: set("-C -c --git-dir"), ..Grammar::default() });
        grammars.add("git push", Grammar { values: set("-o --repo"), ..Grammar::default() });
        grammars.add("find", Grammar { words: true, values: set("-name -gid"), ..Grammar::default() });
        let cases = [
            ("git -C a -c b=c push -uf --repo x origin +main", "-C=a -c=b=c -u=f -f --repo=x", "push origin +main"),
            ("git push --repo=x -oa -- -f", "--repo=x -o=a", "push -f"),
            ("find . -gid -delete -name=x", "-gid=-delete -name=x", "."),
            ("find . --delete -print", "-delete -print", "."),
            ("rm -rf / \"$X\"", "-r=f -f", "/ ?"),
            ("a - b", "", "- b"),
        ];
        for (text, options, operands) in cases {
            let script = parse(text, &Facts::new("/p"));
            let found = Invocation::read(&script.commands[0].words, &grammars).expect(text);
            let given = found.options.iter().map(|given| match given.value {
                Some(value) => format!("{}={value}", given.name),
                None => given.name.clone(),
            });
            assert_eq!(given.collect::<Vec<_>>().join(" "), options, "{text}");
            let words: Vec<&str> = found.operands.iter().map(|operand| operand.text.unwrap_or("?")).collect();
            assert_eq!(words.join(" "), operands, "{text}");
        }
    }

    #[test]
    fn a_subcommand_may_be_anywhere_among_the_first_operands() {
        let grammars = Grammars::default();
        let cases = [
            ("gcloud compute instances delete x", "** delete", Some(3)),
            ("gcloud compute instances list", "** delete", None),
            ("aws s3 rm x", "s3 rm|rb", Some(2)),
            ("aws s3 $X x", "s3 rm", None),
            ("aws $X s3 rm x", "s3 rm", Some(3)),
            ("aws \"$X\" s3 $Y rm x", "s3 rm", Some(4)),
            ("a b c", "* c", Some(2)),
            ("a b c", "c", None),
            ("aws ec2 delete-volume x", "* terminate-*|delete-*", Some(2)),
            ("aws ec2 undelete-volume x", "* delete-*", None),
            ("aws ec2 describe x", "* a-rather-long-one|another-rather-long-one|describe", Some(2)),
        ];
        for (text, wanted, expected) in cases {
            let script = parse(text, &Facts::new("/p"));
            let found = Invocation::read(&script.commands[0].words, &grammars).expect(text);
            let wanted: Vec<String> = wanted.split(' ').map(str::to_owned).collect();
            assert_eq!(found.subcommand(&wanted, true), expected, "{text}");
        }
    }
}
