//! Draws sessions from the recipes: the same seed makes the same ones on machines with the same programs.

use std::collections::{BTreeMap, BTreeSet};

use toolgate_test_sandbox::Random;
use toolgate_test_sandbox::disguise::{DISGUISES, apply, needs_bash};
use toolgate_test_sandbox::sandbox::find;

use crate::harm::Area;
use crate::recipe::{Call, Recipe, Recipes};

/// A session to be tried.
#[derive(Clone, Debug)]
pub struct Session {
    /// The number of its kind, from 1.
    pub kind: usize,
    /// The recipe that it was drawn from.
    pub recipe: String,
    /// What it is meant to harm; `None` if it is everyday work.
    pub harm: Option<Area>,
    /// What it left is used afterwards.
    pub later: bool,
    /// Its calls.
    pub calls: Vec<Call>,
}

/// So many of a hundred sessions are everyday work.
const WORK: usize = 25;
/// So many of a hundred have a call that is disguised, too.
const DISGUISED: usize = 10;
/// How often something is drawn again if it was drawn before.
const PATIENCE: usize = 60;

/// `count` sessions for a seed, no two alike, equally many of each kind as far as there are as many.
///
/// # Errors
/// A slot that is not known.
pub fn sessions(recipes: &Recipes, count: usize, seed: u64) -> Result<Vec<Session>, String> {
    let mut random = Random::new(seed);
    let usable: Vec<&Recipe> = recipes.all.iter().filter(|recipe| can_run(recipe)).collect();
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for at in 0..count {
        let kind = at % recipes.kinds.len() + 1;
        let works = random.percent(WORK);
        // There is less everyday work than there are tries.
        for attempt in 0..2 * PATIENCE {
            let works = works && attempt < PATIENCE;
            let of: Vec<&Recipe> =
                usable.iter().copied().filter(|recipe| recipe.kind == kind && recipe.harm.is_none() == works).collect();
            // A folder of one's own need not have every kind.
            if of.is_empty() {
                continue;
            }
            let session = draw(recipes, of[random.below(of.len())], &mut random)?;
            if seen.insert(session.calls.clone()) {
                out.push(session);
                break;
            }
        }
    }
    Ok(out)
}

/// Every recipe that can run here, once, without disguises.
///
/// # Errors
/// A slot that is not known.
pub fn each(recipes: &Recipes, seed: u64) -> Result<Vec<Session>, String> {
    let mut random = Random::new(seed);
    recipes.all.iter().filter(|recipe| can_run(recipe)).map(|recipe| fill(recipes, recipe, &mut random)).collect()
}

fn can_run(recipe: &Recipe) -> bool {
    recipe.needs.iter().all(|program| find(program).is_some())
}

fn draw(recipes: &Recipes, recipe: &Recipe, random: &mut Random) -> Result<Session, String> {
    let mut session = fill(recipes, recipe, random)?;
    if recipe.harm.is_some() && random.percent(DISGUISED) {
        let at = random.below(session.calls.len());
        if let Call::Shell(text) = &mut session.calls[at] {
            let row = random.pick(DISGUISES);
            if row.needs.is_empty()
                && let Some((disguised, _)) = apply(row, text, needs_bash(text), random)
            {
                *text = disguised;
                session.recipe = format!("{} < {}", session.recipe, row.name);
            }
        }
    }
    Ok(session)
}

/// A recipe with something in each of its slots.
fn fill(recipes: &Recipes, recipe: &Recipe, random: &mut Random) -> Result<Session, String> {
    let mut filler = Filler { recipes, random, chosen: BTreeMap::new() };
    let mut calls = Vec::new();
    for call in &recipe.calls {
        let mut full = |text: &String| filler.fill(text).map_err(|slot| format!("{}: no slot {slot:?}", recipe.name));
        calls.push(match call {
            Call::Shell(text) => Call::Shell(full(text)?),
            Call::Write(path, text) => Call::Write(full(path)?, full(text)?),
            Call::Edit(path, old, new) => Call::Edit(full(path)?, full(old)?, full(new)?),
            Call::Tool(name, input, does) => Call::Tool(full(name)?, full(input)?, full(does)?),
        });
    }
    let Recipe { kind, harm, later, .. } = *recipe;
    Ok(Session { kind, recipe: recipe.name.clone(), harm, later, calls })
}

struct Filler<'a> {
    recipes: &'a Recipes,
    random: &'a mut Random,
    chosen: BTreeMap<String, String>,
}

impl Filler<'_> {
    /// The text with its slots filled; else the name of the slot that is not known.
    fn fill(&mut self, text: &str) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('«') {
            let (slot, after) = split_slot(after).ok_or_else(|| after.to_owned())?;
            out.push_str(before);
            out.push_str(&self.slot(slot)?);
            rest = after;
        }
        Ok(out + rest)
    }

    fn slot(&mut self, slot: &str) -> Result<String, String> {
        if slot.contains('¦') {
            let choices: Vec<&str> = alternatives(slot);
            let choice = *self.random.pick(&choices);
            return self.fill(choice);
        }
        if let Some(chosen) = self.chosen.get(slot) {
            return Ok(chosen.clone());
        }
        let name = slot.trim_end_matches(|char: char| char.is_ascii_digit()).trim_end();
        let lines = self.recipes.slots.get(name).ok_or_else(|| slot.to_owned())?;
        // Two slots of one section are to be two things.
        let taken = |line: &&String| !self.chosen.values().any(|chosen| chosen == *line);
        let free: Vec<&String> = lines.iter().filter(taken).collect();
        let line = (*self.random.pick(if free.is_empty() { return Err(slot.to_owned()) } else { &free })).clone();
        let full = self.fill(&line)?;
        self.chosen.insert(slot.to_owned(), full.clone());
        Ok(full)
    }
}

/// What is before the end of a slot, slots within it included, and what is behind.
fn split_slot(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, char) in text.char_indices() {
        match char {
            '«' => depth += 1,
            '»' if depth == 0 => return Some((&text[..at], &text[at + char.len_utf8()..])),
            '»' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The choices of a slot; a bar within another slot is none of its own.
fn alternatives(slot: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, char) in slot.char_indices() {
        match char {
            '«' => depth += 1,
            '»' => depth = depth.saturating_sub(1),
            '¦' if depth == 0 => {
                out.push(&slot[start..at]);
                start = at + char.len_utf8();
            }
            _ => {}
        }
    }
    out.push(&slot[start..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_filled() {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let slots = [("a".to_owned(), lines(&["x"])), ("b".to_owned(), lines(&["y«a»", "z«a»"]))].into_iter().collect();
        let recipes = Recipes { slots, ..Recipes::default() };
        for (text, expected) in [
            ("plain", Some(&["plain"][..])),
            ("«a» «a»", Some(&["x x"])),
            ("«b» «b»", Some(&["yx yx", "zx zx"])),
            ("«b» «b 2»", Some(&["yx zx", "zx yx", "yx yx", "zx zx"])),
            ("«1¦2«3¦4»»", Some(&["1", "23", "24"])),
            ("«c»", None),
            ("«a", None),
        ] {
            for seed in 0..20 {
                let mut random = Random::new(seed);
                let mut filler = Filler { recipes: &recipes, random: &mut random, chosen: BTreeMap::new() };
                match (filler.fill(text), expected) {
                    (Ok(full), Some(expected)) => assert!(expected.contains(&full.as_str()), "{text}: {full}"),
                    (Err(_), None) => {}
                    (got, _) => panic!("{text}: {got:?}"),
                }
            }
        }
    }

    #[test]
    fn three_thousand_are_different() {
        let recipes = Recipes::read().unwrap_or_else(|error| panic!("{error}"));
        let drawn = sessions(&recipes, 3000, 1).unwrap_or_else(|error| panic!("{error}"));
        assert!(drawn.len() > 2950, "{}", drawn.len());
    }
}
