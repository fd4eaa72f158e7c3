//! How a program takes its words: subcommand, options, operands.
//!
//! A rule names options in one spelling and means all of them: `-f` is in `-xfd`, `--force` in `--forc` where the
//! tool takes abbreviations, a value stands behind `=` or in the next word. Which options take a value say the specs of
//! `toolgate-commands`, and the `programs` of the user's own rule file in their place.
//!
//! An option that neither lists may take the next word or not: `kubectl --new-option 5s delete pod x`. Both readings
//! count. Options and operands are those of the plain reading, in which it takes none; a subcommand is looked for in
//! every reading, and an option before it that is a value in one of them excuses nothing.

use std::collections::HashSet;

use rustc_hash::FxHashMap;
use toolgate_commands::args::{Arguments, Role};
use toolgate_commands::argv::{Lookup, Parts, Spelling};
use toolgate_commands::{COMMON_FLAGS, Opt, Rules, Spec};
use toolgate_shell::Word;

use super::wildcard::fits;

/// Most subcommands that the words of one command are taken for while they are read.
const SUBCOMMANDS: usize = 8;

/// The words of a subcommand that a table may have a grammar for.
const DEEPEST: usize = 4;

/// How one program, or one of its subcommands, takes its words, as the user's own file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grammar {
    /// Options are whole words after one dash: `find -delete`.
    pub(crate) words: bool,
    /// Long options may be cut short.
    pub(crate) abbreviates: bool,
    /// Options that take the next word, each with its dashes.
    pub(crate) values: HashSet<String>,
    /// Options that take none.
    pub(crate) flags: HashSet<String>,
    /// Long options that are none of a longer one's abbreviations.
    pub(crate) exact: HashSet<String>,
}

/// Grammars by program, or by program and subcommands with blanks between.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grammars {
    by_name: FxHashMap<String, Grammar>,
    /// Options that take no value with any program whose own grammar says nothing else.
    flags: HashSet<String>,
}

/// The name under which the flags of all programs are listed.
const ANY: &str = "*";

impl Grammars {
    pub(crate) fn add(&mut self, name: &str, grammar: Grammar) {
        if name == ANY {
            self.flags.extend(grammar.flags);
        } else {
            self.by_name.insert(name.to_owned(), grammar);
        }
    }

    /// What is known of the program or subcommand of this name: what the user says, else its spec.
    fn of(&self, name: &str, spec: Option<&'static Spec>) -> Option<OptionSource<'_>> {
        let listed = || spec.and_then(|spec| Some(OptionSource::Spec(spec, spec.rules.as_ref()?)));
        self.by_name.get(name).map(OptionSource::Own).or_else(listed)
    }
}

/// What says how a program takes its words.
#[derive(Clone, Copy)]
enum OptionSource<'a> {
    /// By the user.
    Own(&'a Grammar),
    /// By its spec.
    Spec(&'static Spec, &'static Rules),
}

impl OptionSource<'_> {
    fn words(self) -> bool {
        match self {
            OptionSource::Own(own) => own.words,
            OptionSource::Spec(_, rules) => rules.words,
        }
    }

    /// Whether this option, with its dashes, takes the next word.
    fn takes(self, name: &str) -> Option<NextWord> {
        match self {
            OptionSource::Own(own) if own.values.contains(name) => Some(NextWord::Next),
            OptionSource::Own(own) => own.flags.contains(name).then_some(NextWord::Nothing),
            OptionSource::Spec(spec, rules) => listed(spec, rules, name).map(|option| match option.takes {
                toolgate_commands::Takes::Next(_) => NextWord::Next,
                toolgate_commands::Takes::Loose => NextWord::PerhapsNext,
                toolgate_commands::Takes::Nothing
                | toolgate_commands::Takes::Attached
                | toolgate_commands::Takes::Digits => NextWord::Nothing,
            }),
        }
    }
}

/// The option of a spec that is spelled so.
fn listed(spec: &'static Spec, rules: &Rules, name: &str) -> Option<&'static Opt> {
    let bare = name.trim_start_matches('-');
    let dashes = name.len() - bare.len();
    // Of programs whose long options have one dash, rules do not see the words that way unless the spec says so.
    if spec.one_dash && !rules.words {
        return None;
    }
    let letter = bare.len() == 1 && dashes == 1;
    let long = bare.len() > 1 && (dashes == 2 || rules.words);
    let option = if letter || long { spec.exact(bare) } else { None };
    option.or_else(|| spec.exact(name))
}

/// Whether an option takes the next word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextWord {
    Nothing,
    Next,
    /// No table lists it: in the plain reading it takes nothing.
    PerhapsNothing,
    /// A table lists it for what may be the subcommand: in the plain reading it takes the word.
    PerhapsNext,
}

impl NextWord {
    /// Whether it does in the plain reading.
    fn plainly(self) -> bool {
        matches!(self, NextWord::Next | NextWord::PerhapsNext)
    }
}

/// An option as it was read from the words.
#[derive(Debug)]
pub(crate) struct ParsedOption<'a> {
    /// With its dashes, without its value.
    pub(crate) name: String,
    pub(crate) value: Option<&'a str>,
    /// The next word, if that is its value in another reading.
    pub(crate) next: Option<&'a str>,
    /// Which word of the command.
    pub(crate) word: usize,
    /// Whether the plain reading has it.
    pub(crate) plain: bool,
    /// Whether it is the value of the option before it in one of the readings.
    pub(crate) perhaps: bool,
    /// Whether it is the program's own, and not the subcommand's that stands behind it.
    pub(crate) own: bool,
}

/// A word that is no option and no option's value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand<'a> {
    /// `None` if it is not certain.
    pub(crate) text: Option<&'a str>,
    /// The same, with what is not certain as holes.
    pub(crate) shape: &'a str,
    pub(crate) word: usize,
    /// Whether it is the value of the option before it in one of the readings.
    perhaps: bool,
}

impl Operand<'_> {
    /// Whether it is the value of an option in one of the readings.
    pub(crate) fn perhaps(&self) -> bool {
        self.perhaps
    }
}

/// A command as its program takes it.
#[derive(Debug)]
pub(crate) struct Invocation<'a> {
    pub(crate) program: &'a str,
    pub(crate) options: Vec<ParsedOption<'a>>,
    pub(crate) operands: Vec<Operand<'a>>,
    /// The operands of all readings; empty if each of them is one in every reading.
    every: Vec<Operand<'a>>,
    abbreviates: bool,
    exact: Vec<&'a str>,
}

/// Where a subcommand stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Subcommand {
    /// How many operands there are up to its last word.
    pub(crate) operands: usize,
    /// Its words, by their numbers in the command.
    pub(crate) words: Vec<usize>,
}

impl<'a> Invocation<'a> {
    /// Reads a command's words. `None` if its program is not certain.
    pub(crate) fn read(words: &'a [Word], grammars: &'a Grammars) -> Option<Self> {
        let program = words.first()?.known()?;
        let program = program.rsplit('/').next().unwrap_or(program);
        let program = program.strip_suffix(".exe").unwrap_or(program);
        let mut reader = Reader::new(program, grammars);
        let mut arguments = Arguments::new(words, 1, Word::text);
        // The word at which the plain reading goes on.
        let mut plain_at = 1;
        // Of this word and the next: whether a reading goes on there, and whether one takes it as a value.
        let (mut this, mut next) = ((true, false), (false, false));
        while let Some((at, role)) = arguments.next() {
            let (goes_on, perhaps) = std::mem::replace(&mut this, std::mem::take(&mut next));
            if !goes_on {
                continue;
            }
            let text = words[at].text();
            let place = WordPosition { word: at, plain: at == plain_at, perhaps };
            let mut takes = NextWord::Nothing;
            match role {
                Role::Operand => reader.operand(words[at].known(), text, place),
                Role::Dashes => arguments.ended = !perhaps,
                Role::Options => takes = reader.option(text, words.get(at + 1).map(Word::text), place),
            }
            this.0 |= takes != NextWord::Next;
            (this.1, next.0) = (takes != NextWord::Nothing, takes != NextWord::Nothing);
            if place.plain {
                plain_at = at + 1 + usize::from(takes.plainly());
            }
        }
        Some(reader.end())
    }

    /// Whether one of these options was given.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|given| self.is_one(given, names))
    }

    /// Whether no options but these were given.
    pub(crate) fn has_only(&self, names: &[&str]) -> bool {
        self.options.iter().all(|given| self.is_one(given, names))
    }

    /// The value of one of these options, which was given once.
    pub(crate) fn value(&self, names: &[&str]) -> Option<&'a str> {
        let mut given = self.options.iter().filter(|given| self.is_one(given, names));
        given.next().filter(|_| given.next().is_none())?.value
    }

    fn is_one(&self, given: &ParsedOption<'_>, names: &[&str]) -> bool {
        names.iter().any(|name| self.is(given, name))
    }

    /// Whether an option that was given is this one.
    pub(crate) fn is(&self, given: &ParsedOption<'_>, name: &str) -> bool {
        if given.name == name {
            return true;
        }
        self.abbreviates
            && given.name.len() > 2
            && given.name.starts_with("--")
            && name.starts_with(&given.name)
            && !self.exact.contains(&given.name.as_str())
    }

    /// Where these words of a subcommand stand first. `*` stands for any characters in one, `**` alone for any number of
    /// them, `a|b` for either.
    ///
    /// With `loosely`, any reading will do, and an operand that is not known may be an option, or none at all: then what
    /// comes after it is the subcommand. Otherwise it is only found where it is one in every reading.
    pub(crate) fn subcommand(&self, wanted: &[String], loosely: bool) -> Option<Subcommand> {
        let operands = if self.every.is_empty() { &self.operands } else { &self.every };
        // How many of the words may be found so far, a bit each.
        let last = u32::try_from(wanted.len()).ok().and_then(|count| 1_u64.checked_shl(count))?;
        let any = |at: usize| wanted.get(at).is_some_and(|word| word == "**");
        let mut found = 1;
        for (at, _) in wanted.iter().enumerate().take_while(|(at, _)| any(*at)) {
            found |= 2 << at;
        }
        let mut words = Vec::new();
        for operand in operands {
            if found & last != 0 {
                break;
            }
            if operand.perhaps && !loosely {
                return None;
            }
            let mut then = if operand.perhaps { found } else { 0 };
            let mut is_word = false;
            for (at, word) in wanted.iter().enumerate().filter(|(at, _)| found >> at & 1 == 1) {
                let (stays, moves) = match operand.text {
                    _ if word == "**" => (true, false),
                    None => (loosely, false),
                    Some(text) => (false, word.split('|').any(|one| fits(one, text))),
                };
                then |= u64::from(stays) << at | u64::from(moves) << (at + 1);
                is_word |= stays && !operand.perhaps || moves;
            }
            // What stands for any number of words stands for none.
            for at in (0..wanted.len()).filter(|at| any(*at)) {
                then |= (then >> at & 1) << (at + 1);
            }
            words.extend(is_word.then_some(operand.word));
            found = then;
            if found == 0 {
                return None;
            }
        }
        let end = words.last().copied().unwrap_or(0);
        let before = self.operands.iter().take_while(|operand| operand.word <= end).count();
        (found & last != 0).then_some(Subcommand { operands: before, words })
    }
}

/// The position of a word in a command.
#[derive(Clone, Copy)]
struct WordPosition {
    word: usize,
    /// Whether the plain reading has it.
    plain: bool,
    /// Whether it is the value of the option before it in one of the readings.
    perhaps: bool,
}

/// A command whose words are being read.
struct Reader<'a> {
    grammars: &'a Grammars,
    found: Invocation<'a>,
    /// What grammars are looked up by, in each reading: the program and its operands so far, and its spec.
    keys: Vec<(String, Option<&'static Spec>)>,
    /// What is known of those, and whether each is one in every reading.
    known: Vec<(OptionSource<'a>, bool)>,
    whole_words: bool,
    /// The spec of a program whose options before a subcommand are its own.
    owner: Option<(&'static Spec, &'static Rules)>,
}

/// What options are looked up in while words are read.
struct Chain<'r, 'a> {
    grammars: &'a Grammars,
    known: &'r [(OptionSource<'a>, bool)],
    dash: &'static str,
}

impl Chain<'_, '_> {
    /// Whether this option, with its dashes, takes the next word.
    fn takes(&self, name: &str) -> NextWord {
        // What the innermost subcommand lists is its own option: `git branch -c` copies, `git -c` takes a setting.
        let certain = self.known.iter().rev().filter(|(_, certain)| *certain).find_map(|(known, _)| known.takes(name));
        let mut others = self.known.iter().filter(|(_, certain)| !certain).filter_map(|(known, _)| known.takes(name));
        if certain == Some(NextWord::Next) {
            let is_flag = others.any(|found| found == NextWord::Nothing);
            return if is_flag { NextWord::PerhapsNothing } else { NextWord::Next };
        }
        let may_take = |found: NextWord| matches!(found, NextWord::Next | NextWord::PerhapsNext);
        if certain.is_some_and(may_take) || others.clone().any(may_take) {
            return NextWord::PerhapsNext;
        }
        let common = || {
            let is = name.starts_with("--no-") || COMMON_FLAGS.contains(&name) || self.grammars.flags.contains(name);
            is.then_some(NextWord::Nothing)
        };
        certain.or_else(|| others.next()).or_else(common).unwrap_or(NextWord::PerhapsNothing)
    }
}

impl Lookup for Chain<'_, '_> {
    type Option = NextWord;

    fn letter(&self, letter: char) -> Option<NextWord> {
        let mut name = [b'-'; 5];
        let end = 1 + letter.encode_utf8(&mut name[1..]).len();
        std::str::from_utf8(&name[..end]).ok().map(|name| self.takes(name))
    }

    fn long(&self, name: &str) -> Option<NextWord> {
        Some(self.takes(&format!("--{name}")))
    }

    fn word(&self, name: &str) -> Option<NextWord> {
        Some(self.takes(&format!("{}{name}", self.dash)))
    }

    fn takes(option: NextWord) -> toolgate_commands::Takes {
        match option {
            NextWord::Next | NextWord::PerhapsNext => toolgate_commands::Takes::Next(1),
            // A letter that has a value only where it is attached is read as a flag as well: `git checkout -tf`.
            NextWord::Nothing | NextWord::PerhapsNothing => toolgate_commands::Takes::Nothing,
        }
    }
}

impl<'a> Reader<'a> {
    fn new(program: &'a str, grammars: &'a Grammars) -> Self {
        let spec = toolgate_commands::find(program);
        let own = grammars.of(program, spec);
        let (options, operands, every, exact) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Reader {
            grammars,
            found: Invocation { program, options, operands, every, abbreviates: false, exact },
            keys: vec![(program.to_owned(), spec)],
            known: own.into_iter().map(|own| (own, true)).collect(),
            whole_words: own.is_some_and(OptionSource::words),
            owner: spec.and_then(|spec| Some((spec, spec.rules.as_ref()?))).filter(|(_, rules)| rules.own_options),
        }
    }

    fn operand(&mut self, text: Option<&'a str>, shape: &'a str, place: WordPosition) {
        let WordPosition { word, plain, perhaps } = place;
        let operand = Operand { text, shape, word, perhaps };
        if self.found.every.is_empty() && (perhaps || !plain) {
            self.found.every.clone_from(&self.found.operands);
        }
        if plain {
            self.found.operands.push(operand);
        }
        if !self.found.every.is_empty() || perhaps || !plain {
            self.found.every.push(operand);
        }
        match text {
            Some(text) if !text.contains(char::is_whitespace) => {
                let certain = self.keys.len() == 1 && !perhaps;
                let shallow = |key: &&(String, _)| key.0.matches(' ').count() < DEEPEST;
                let longer = self
                    .keys
                    .iter()
                    .filter(shallow)
                    .map(|(key, spec)| (format!("{key} {text}"), spec.and_then(|spec| spec.subcommand(text))));
                let longer: Vec<(String, Option<&'static Spec>)> = longer.collect();
                let grammars = self.grammars;
                self.known.extend(longer.iter().filter_map(|(key, spec)| Some((grammars.of(key, *spec)?, certain))));
                if !perhaps {
                    self.keys.clear();
                }
                self.keys.extend(longer);
                self.keys.truncate(SUBCOMMANDS);
            }
            // What comes after it is no subcommand that a table knows.
            _ if !perhaps => self.keys.clear(),
            _ => {}
        }
    }

    /// An option, or several in one word; whether the last of them takes the next word.
    fn option(&mut self, text: &'a str, next: Option<&'a str>, place: WordPosition) -> NextWord {
        let (spelling, dash) = if self.whole_words { (Spelling::Words, "-") } else { (Spelling::Letters, "--") };
        let chain = Chain { grammars: self.grammars, known: &self.known, dash };
        let mut last = NextWord::Nothing;
        for part in Parts::new(&chain, text, spelling) {
            let takes = part.option.unwrap_or(NextWord::PerhapsNothing);
            let is_word = self.whole_words || part.dashes > 1;
            let name = format!("{}{}", if is_word { dash } else { "-" }, part.name);
            let attached = part.attached.and_then(|at| text.get(at..));
            // `git --help restore` is help all the same.
            let help = |(spec, rules)| listed(spec, rules, &name).is_some_and(|option| option.help);
            let own = self.found.operands.iter().all(|operand| operand.perhaps)
                && self.owner.is_some_and(|owner| !help(owner));
            let next = next.filter(|_| attached.is_none());
            given(
                &mut self.found,
                ParsedOption {
                    name,
                    value: attached,
                    next,
                    word: place.word,
                    plain: place.plain,
                    perhaps: place.perhaps,
                    own,
                },
                takes,
            );
            // Letters that follow may be more options, a value that is attached leaves the next word alone.
            last = if attached.is_some() && (is_word || takes.plainly()) { NextWord::Nothing } else { takes };
        }
        last
    }

    fn end(self) -> Invocation<'a> {
        let mut found = self.found;
        for (known, _) in self.known {
            match known {
                OptionSource::Own(own) => {
                    found.abbreviates |= own.abbreviates;
                    found.exact.extend(own.exact.iter().map(String::as_str));
                }
                OptionSource::Spec(_, rules) => {
                    found.abbreviates |= rules.abbreviates;
                    found.exact.extend(rules.unabbreviated);
                }
            }
        }
        found
    }
}

/// Adds an option. Its next word is a value only where it takes one.
fn given<'a>(found: &mut Invocation<'a>, mut given: ParsedOption<'a>, takes: NextWord) {
    given.value = given.value.or(given.next.filter(|_| takes.plainly()));
    given.next = given.next.filter(|_| takes == NextWord::PerhapsNothing);
    // Behind a subcommand most options that no table lists take nothing: the plain reading is enough there.
    let leads = || found.every.iter().chain(&found.operands).all(|operand| operand.perhaps);
    if given.plain || leads() {
        found.options.push(given);
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
            let place = found.subcommand(&wanted, true).map(|place| place.operands);
            assert_eq!(place, expected, "{text}");
        }
    }

    #[test]
    fn an_option_that_no_table_lists_may_take_the_next_word() {
        let mut grammars = Grammars::default();
        let set = |names: &str| names.split_whitespace().map(str::to_owned).collect::<HashSet<_>>();
        grammars.add("*", Grammar { flags: set("--verbose"), ..Grammar::default() });
        grammars.add("kubectl", Grammar { values: set("-n"), flags: set("-q"), ..Grammar::default() });
        grammars.add("gh api", Grammar { values: set("-X"), ..Grammar::default() });
        // The words at which the subcommand is found in some reading, and whether it is in every one.
        let cases: &[(&str, &str, Option<&[usize]>, bool)] = &[
            ("kubectl delete pod x", "delete", Some(&[1]), true),
            ("kubectl --new 5s delete pod x", "delete", Some(&[3]), false),
            ("kubectl --new delete pod x", "delete", Some(&[2]), false),
            ("kubectl --new=5s delete pod x", "delete", Some(&[2]), true),
            ("kubectl -n delete pod x", "delete", None, false),
            ("kubectl --new -n delete pod x", "delete", Some(&[3]), false),
            ("kubectl -z 1 -x 2 --new 3 delete pod x", "delete", Some(&[7]), false),
            ("kubectl -zx 2 delete pod x", "delete", Some(&[3]), false),
            ("kubectl -q get delete", "delete", None, false),
            ("kubectl --verbose get delete", "delete", None, false),
            ("kubectl --no-such get delete", "delete", None, false),
            ("kubectl get --new delete", "delete", None, false),
            ("kubectl get --new 1 delete", "delete", None, false),
            ("kubectl --new 1 get delete", "delete", None, false),
            ("kubectl --new -- delete pod x", "delete", Some(&[3]), true),
            ("docker compose --new 1 down -v", "compose down", Some(&[1, 4]), false),
            ("docker --new 1 compose --other 2 down", "compose down", Some(&[3, 6]), false),
            ("gcloud a --new 1 b delete x", "** delete", Some(&[1, 4, 5]), false),
            ("gcloud a delete --new 1", "** delete", Some(&[1, 2]), true),
        ];
        for (text, wanted, expected, always) in cases {
            let script = parse(text, &Facts::new("/p"));
            let found = Invocation::read(&script.commands[0].words, &grammars).expect(text);
            let wanted: Vec<String> = wanted.split(' ').map(str::to_owned).collect();
            let words = found.subcommand(&wanted, true).map(|place| place.words);
            assert_eq!(words.as_deref(), *expected, "{text}");
            assert_eq!(found.subcommand(&wanted, false).is_some(), *always, "{text}");
        }
        let script = parse("gh --new h api -X DELETE repos/o/r", &Facts::new("/p"));
        let found = Invocation::read(&script.commands[0].words, &grammars).expect("gh");
        let value = found.options.iter().find(|given| given.name == "-X").and_then(|given| given.value);
        assert_eq!(value, Some("DELETE"));
    }

    /// However many options may take a word, each word is looked at a bounded number of times.
    #[test]
    fn many_options_that_no_table_lists_are_read_in_no_time() {
        let grammars = Grammars::default();
        let words: String = (0..20_000).map(|n| format!(" --new{n} delete")).collect();
        let script = parse(&format!("kubectl{words} x"), &Facts::new("/p"));
        let found = Invocation::read(&script.commands[0].words, &grammars).expect("kubectl");
        let wanted = ["a", "**", "b", "**", "c"].map(str::to_owned);
        assert_eq!(found.subcommand(&wanted, true), None);
    }
}
