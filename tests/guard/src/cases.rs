//! Composes cases: a deed, up to three disguises around it, or the whole as mere data. The same seed makes the same
//! cases on machines with the same programs. What a case does is not known here: the sandbox says it.

use std::collections::BTreeMap;

use crate::Random;
use crate::data::DATA;
use crate::deeds::{DEEDS, EVERYDAY, fill};
use crate::disguise::{DISGUISES, Disguise, apply, needs_bash};
use crate::sandbox::find;

/// What a case is composed for; its label may be another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Intent {
    /// A deed that loses something, and runs.
    Deed,
    /// An everyday deed that runs; `true` if it leaves a trace when it works.
    Everyday(bool),
    /// A deed that loses something, as data.
    Data,
}

/// One case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The text.
    pub text: String,
    /// What it is composed for.
    pub intent: Intent,
    /// Of what deed, or in which form it is data.
    pub family: String,
    /// The disguises, the innermost first.
    pub disguises: Vec<&'static str>,
}

/// How many of a hundred cases are deeds, and everyday deeds; the others are data.
const DEEDS_SHARE: usize = 50;
const EVERYDAY_SHARE: usize = 20;
/// In how many of a hundred harmless cases any disguise is allowed, not only those of everyday work.
const STRANGE_SHARE: usize = 5;
/// A text that is longer is no case: nesting doubles quotes.
const LONGEST: usize = 4000;

/// Programs that some deed or data form starts, and that not every machine has.
const OPTIONAL: &[&str] = &[
    "curl", "ed", "ex", "file", "jq", "make", "man", "node", "npm", "openssl", "patch", "perl", "php", "python3",
    "rsync", "ruby", "script", "sqlite3", "tclsh", "vim", "wget", "xxd", "zip",
];

/// The programs that are not there; their rows are left out.
pub fn missing() -> Vec<&'static str> {
    let needed = DISGUISES.iter().map(|row| row.needs).filter(|needs| !needs.is_empty());
    let mut missing: Vec<&str> = needed.chain(OPTIONAL.iter().copied()).filter(|name| find(name).is_none()).collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

/// `count` cases for a seed, no two with the same text.
pub fn cases(count: usize, seed: u64) -> Vec<Case> {
    let mut maker = Maker::new(seed);
    let mut seen = std::collections::BTreeSet::new();
    let mut out = Vec::new();
    // The tables make far more texts than anyone asks for; the limit is against a count that they do not.
    for _ in 0..count.saturating_mul(20) {
        if out.len() == count {
            break;
        }
        let Some(case) = maker.case() else { continue };
        if case.text.len() <= LONGEST && seen.insert(case.text.clone()) {
            out.push(case);
        }
    }
    out
}

/// Every row by itself: each deed plainly, each disguise around the first plain deed that it fits, each form of data
/// with that deed in it. For finding out which rows do not work.
pub fn rows(seed: u64) -> Vec<Case> {
    let maker = Maker::new(seed);
    let mut random = Random::new(seed);
    let mut out = Vec::new();
    let plain = |text: &str, intent, family: &str| Case {
        text: text.into(),
        intent,
        family: family.into(),
        disguises: Vec::new(),
    };
    for deed in DEEDS.iter().filter(|deed| maker.runs_here(deed.text).is_some()) {
        out.push(plain(&fill(deed.text, &mut random), Intent::Deed, deed.family));
    }
    for row in EVERYDAY.iter().filter(|row| maker.runs_here(row.text).is_some()) {
        out.push(plain(row.text, Intent::Everyday(row.changes), row.family));
    }
    let deeds = ["rm -rf /home/dev/Documents", "rm -r ../journal"];
    for row in &maker.disguises {
        for deed in deeds {
            if let Some((text, _)) = apply(row, deed, false, &mut random) {
                out.push(Case { text, intent: Intent::Deed, family: "rm".into(), disguises: vec![row.name] });
                break;
            }
        }
    }
    for form in DATA {
        let text = (form.make)(deeds[0], &mut random);
        if let Some(text) = text.filter(|text| maker.runs_here(text).is_some()) {
            out.push(plain(&text, Intent::Data, form.name));
        }
    }
    out
}

struct Maker {
    random: Random,
    missing: Vec<&'static str>,
    disguises: Vec<&'static Disguise>,
    ordinary: Vec<&'static Disguise>,
    /// How often each row was used: the least used is tried first, so that every one is measured.
    used: BTreeMap<&'static str, usize>,
}

impl Maker {
    fn new(seed: u64) -> Self {
        let missing = missing();
        let disguises: Vec<_> = DISGUISES.iter().filter(|row| !missing.contains(&row.needs)).collect();
        let ordinary = disguises.iter().copied().filter(|row| row.ordinary).collect();
        Self { random: Random::new(seed), missing, disguises, ordinary, used: BTreeMap::new() }
    }

    fn case(&mut self) -> Option<Case> {
        let share = self.random.below(100);
        if share < DEEDS_SHARE {
            let (text, family) = self.deed()?;
            let depth = [0, 1, 1, 1, 2, 2, 2, 3, 3, 3][self.random.below(10)];
            let (text, disguises) = self.disguise(text, depth, false);
            return Some(Case { text, intent: Intent::Deed, family: family.into(), disguises });
        }
        let strange = self.random.percent(STRANGE_SHARE);
        if share < DEEDS_SHARE + EVERYDAY_SHARE {
            let row = *self.random.pick(EVERYDAY);
            self.runs_here(row.text)?;
            let depth = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2][self.random.below(10)];
            let (text, disguises) = self.disguise(row.text.to_owned(), depth, !strange);
            return Some(Case { text, intent: Intent::Everyday(row.changes), family: row.family.into(), disguises });
        }
        let (mut text, _) = self.deed()?;
        let mut disguises = Vec::new();
        if self.random.percent(25) {
            (text, disguises) = self.disguise(text, 1, false);
        }
        let form = self.random.pick(DATA);
        let text = (form.make)(&text, &mut self.random)?;
        self.runs_here(&text)?;
        let depth = [0, 0, 0, 0, 0, 0, 0, 1, 1, 2][self.random.below(10)];
        let (text, outer) = self.disguise(text, depth, !strange);
        disguises.extend(outer);
        Some(Case { text, intent: Intent::Data, family: format!("data: {}", form.name), disguises })
    }

    fn deed(&mut self) -> Option<(String, &'static str)> {
        let row = *self.random.pick(DEEDS);
        self.runs_here(row.text)?;
        Some((fill(row.text, &mut self.random), row.family))
    }

    /// Nothing that is missing is named.
    fn runs_here(&self, text: &str) -> Option<()> {
        let named = |name: &&str| text.split(|char: char| !char.is_ascii_alphanumeric()).any(|word| word == *name);
        (!self.missing.iter().any(named)).then_some(())
    }

    fn disguise(&mut self, mut text: String, depth: usize, ordinary: bool) -> (String, Vec<&'static str>) {
        let mut bash = needs_bash(&text);
        let mut names = Vec::new();
        for _ in 0..depth {
            for _ in 0..20 {
                let rows = if ordinary { &self.ordinary } else { &self.disguises };
                let (one, two) = (*self.random.pick(rows), *self.random.pick(rows));
                let uses = |row: &Disguise| self.used.get(row.name).copied().unwrap_or(0);
                let row = if uses(one) <= uses(two) { one } else { two };
                if let Some((new, needs)) = apply(row, &text, bash, &mut self.random) {
                    *self.used.entry(row.name).or_default() += 1;
                    (text, bash) = (new, needs);
                    names.push(row.name);
                    break;
                }
            }
        }
        (text, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_cases() {
        let made = cases(200, 5);
        assert_eq!(made.len(), 200);
        assert_eq!(made, cases(200, 5));
        assert_ne!(made, cases(200, 6));
        assert!(made.iter().any(|case| case.disguises.len() == 3));
    }
}
