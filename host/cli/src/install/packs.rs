//! Whether other packs make the hook see less: what is on with them, and not how that is said.

use std::collections::BTreeMap;

/// The option that chooses packs.
const PACKS: &str = "--packs";

/// What a command line makes of a pack, or leaves to the rule files. The later ones see more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Pack {
    Off,
    #[default]
    Left,
    On,
}

/// The packs that the words of a command line choose.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// As they are given again.
    pub(super) words: Vec<String>,
    /// Those that are not named.
    others: Pack,
    named: BTreeMap<String, Pack>,
}

impl Chosen {
    /// What these words choose, and the words that choose no packs.
    pub(super) fn split(all: Vec<String>) -> (Self, Vec<String>) {
        let (mut chosen, mut rest) = (Chosen::default(), Vec::new());
        let mut all = all.into_iter();
        while let Some(word) = all.next() {
            let names = if word == PACKS { all.next() } else { word.strip_prefix("--packs=").map(str::to_owned) };
            let Some(names) = names else {
                rest.push(word);
                continue;
            };
            names.split(',').map(str::trim).filter(|name| !name.is_empty()).for_each(|name| chosen.choose(name));
            chosen.words.push(format!("{PACKS}={names}"));
        }
        (chosen, rest)
    }

    fn choose(&mut self, name: &str) {
        let (state, name) = name.strip_prefix('-').map_or((Pack::On, name), |name| (Pack::Off, name));
        match name {
            "all" => {
                self.others = state;
                self.named.clear();
            }
            // It says that those are on which are on in any case.
            "default" => {}
            _ => drop(self.named.insert(name.to_owned(), state)),
        }
    }

    /// Whether a pack may be off with these that is on with the others.
    pub(super) fn has_less_than(&self, before: &Self) -> bool {
        let of = |chosen: &Self, name: &String| chosen.named.get(name).copied().unwrap_or(chosen.others);
        let less = |name: &String| of(self, name) < of(before, name);
        self.others < before.others || self.named.keys().chain(before.named.keys()).any(less)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_are_compared_by_what_is_on() {
        // The options before and after, and whether the gate sees less then.
        let cases = [
            ("", "--packs=cloud", false),
            ("", "--packs=-git", true),
            ("", "--packs=-git,git", false),
            ("--packs=-git", "--packs=cloud", false),
            ("--packs=-git", "", false),
            ("--packs=cloud", "", true),
            ("--packs=cloud", "--packs=databases", true),
            ("--packs=cloud", "--packs=databases,cloud", false),
            ("--packs=cloud,databases", "--packs databases,cloud", false),
            ("--packs=cloud", "--packs=cloud,-git", true),
            ("--packs=cloud", "--packs=all", false),
            ("--packs=all", "--packs=cloud", true),
            ("--packs=all", "--packs=all,-git", true),
            ("--packs=all,-git", "--packs=all", false),
            ("--packs=-all", "--packs=cloud", false),
            ("--packs=-all", "--packs=default", false),
            ("--packs=cloud", "--packs=-all,cloud", true),
            ("--packs=cloud", "--packs=cloud --packs=-cloud", true),
        ];
        for (before, after, less) in cases {
            let chosen = |text: &str| Chosen::split(text.split_whitespace().map(str::to_owned).collect());
            let (before_packs, after_packs) = (chosen(before).0, chosen(after).0);
            assert_eq!(after_packs.has_less_than(&before_packs), less, "{before:?} -> {after:?}");
        }
        let (packs, rest) = Chosen::split(["--no-lens", "--packs", "a", "--plugin=b"].map(str::to_owned).into());
        assert_eq!((packs.words, rest), (vec!["--packs=a".into()], vec!["--no-lens".to_owned(), "--plugin=b".into()]));
    }
}
