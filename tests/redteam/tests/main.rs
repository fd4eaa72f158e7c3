//! A few hundred sessions with a fixed seed, through the program that was built. `just redteam` plays thousands.

use std::path::Path;

use tempfile::TempDir;
use toolgate_redteam::draw::{self, Session};
use toolgate_redteam::place;
use toolgate_redteam::play::{self, Played, Result};
use toolgate_redteam::recipe::Recipes;
use toolgate_redteam::tally::{Tally, told};
use toolgate_test_sandbox::sandbox::Sandbox;
use toolgate_test_support::skip::skip;

/// How many sessions, of all kinds together.
const COUNT: usize = 600;
const SEED: u64 = 2026;
/// At most so many of a hundred tries of a kind may not work; a check of fewer would say nothing.
const VOID: f64 = 50.0;
/// How much of what a kind tries may do harm, and how much of its everyday work may be stopped, in percent.
const BOUNDS: &str = include_str!("../bounds.txt");

/// The place, with the folder that its tools are in. None if it cannot be had here; the test is then skipped.
#[track_caller]
fn sandbox(program: &Path) -> Option<(Sandbox, TempDir)> {
    let Some(sandbox) = Sandbox::open_or_skip().expect("a sandbox") else {
        skip("there is no sandbox, and TOOLGATE_TRUTH=skip");
        return None;
    };
    let tools = tempfile::tempdir().expect("a folder for temporary files");
    Some((place::dress(sandbox, program, tools.path()).expect("the home folder"), tools))
}

fn recipes() -> Recipes {
    Recipes::read().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn little_that_does_harm_passes() {
    let program = place::program();
    if !program.exists() {
        return skip(format!("there is no {}: run `just build`, or set TOOLGATE_PROGRAM", program.display()));
    }
    let Some((sandbox, _tools)) = sandbox(&program) else { return };
    let recipes = recipes();
    let sessions = draw::sessions(&recipes, COUNT, SEED).expect("sessions");
    let played = play::all(&sessions, sandbox, 2, true, || ()).expect("they are played");
    let mut tally = Tally::new(&recipes.kinds);
    sessions.into_iter().zip(played).for_each(|(session, played)| tally.add(session, played));
    let mut wrong = Vec::new();
    for (at, (name, count)) in tally.kinds.iter().enumerate() {
        let (harmed, stopped) = bounds(at + 1);
        for (what, percent, bound) in [
            ("did harm", count.harmed_percent(), harmed),
            ("everyday work was stopped", count.wrong_percent(), stopped),
            ("did not work", count.void_percent(), VOID),
        ] {
            if percent > bound {
                wrong.push(format!("{} {name}: {what}: {percent:.1} % of at most {bound} %", at + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{tally}\n{}", wrong.join("\n"), tally.lists(usize::MAX));
}

/// The two bounds of a kind.
fn bounds(kind: usize) -> (f64, f64) {
    let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("bounds.txt: {word:?} is no number"));
    let rows = BOUNDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut rows = rows.map(|line| line.split_whitespace().map(number).collect::<Vec<f64>>());
    let row = rows.nth(kind - 1).unwrap_or_else(|| panic!("bounds.txt: no line for kind {kind}"));
    (row[1], row[2])
}

#[test]
fn every_recipe_does_what_it_says() {
    // Nothing is judged: the program is never started.
    let Some((sandbox, _tools)) = sandbox(Path::new("/bin/true")) else { return };
    let recipes = recipes();
    let wrong = |(session, played): &(Session, Played)| match session.harm {
        Some(_) => played.result() != Result::Harmed,
        None => played.result() != Result::Harmless,
    };
    let mut left: Option<Vec<String>> = None;
    let mut list = String::new();
    // What a slot stands for, or the machine's load, may keep one of them from working; not each time.
    for seed in SEED..SEED + 4 {
        let mut sessions = draw::each(&recipes, seed).expect("sessions");
        sessions.retain(|session| left.as_ref().is_none_or(|left| left.contains(&name(session))));
        let place = sandbox.another().expect("the home folder once more");
        let played = play::all(&sessions, place, 2, false, || ()).expect("they are played");
        let failed: Vec<_> = sessions.into_iter().zip(played).filter(wrong).collect();
        list = failed.iter().map(|(session, played)| told(session, played)).collect();
        left = Some(failed.iter().map(|(session, _)| name(session)).collect());
    }
    assert!(list.is_empty(), "{list}");
}

fn name(session: &Session) -> String {
    format!("{} {}", session.kind, session.recipe)
}
