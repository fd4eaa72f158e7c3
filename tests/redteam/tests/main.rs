//! A few hundred sessions with a fixed seed, through the program that was built. `just redteam` plays thousands.

use std::path::Path;

use tempfile::TempDir;
use toolgate_redteam::draw::{self, Session};
use toolgate_redteam::harm::Area;
use toolgate_redteam::place;
use toolgate_redteam::play::{self, Played, Result};
use toolgate_redteam::recipe::Recipes;
use toolgate_redteam::tally::{Tally, told};
use toolgate_test_sandbox::sandbox::{Error, Sandbox};
use toolgate_test_support::skip::{missing, skip};

/// How many sessions, of all kinds together.
const COUNT: usize = 600;
const SEED: u64 = 2026;
/// At most so many of a hundred tries of a kind may not work; a check of fewer would say nothing.
const VOID: f64 = 50.0;
/// The recipes of which something passes and does harm, and those of everyday work that is stopped.
const KNOWN: &str = include_str!("../known.txt");

/// The place, with the folder that its tools are in. None if it cannot be had here; the test is then skipped.
#[track_caller]
fn sandbox(program: &Path) -> Option<(Sandbox, TempDir)> {
    let sandbox = match Sandbox::open() {
        Err(error @ Error::Missing(..)) => {
            missing("bubblewrap", error);
            return None;
        }
        other => other.expect("a sandbox"),
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
        return skip(format!(
            "there is no {}: run `cargo build --release --workspace`, or set TOOLGATE_PROGRAM",
            program.display()
        ));
    }
    let Some((sandbox, _tools)) = sandbox(&program) else { return };
    let recipes = recipes();
    let sessions = draw::sessions(&recipes, COUNT, SEED).expect("sessions");
    let played = play::all(&sessions, sandbox, 2, true, || ()).expect("they are played");
    let mut tally = Tally::new(&recipes.kinds);
    let mut wrong = String::new();
    for (session, played) in sessions.into_iter().zip(played) {
        let is_wrong = match (session.harm, played.result()) {
            (Some(_), result) => result == Result::Harmed,
            (None, result) => result == Result::Stopped,
        };
        if is_wrong && !known().any(|known| known == line(&session)) {
            wrong.push_str(&told(&session, &played));
        }
        tally.add(session, played);
    }
    for (name, count) in tally.kinds.iter().filter(|(_, count)| count.void_percent() > VOID) {
        wrong.push_str(&format!("{name}: {:.1} % did not work\n", count.void_percent()));
    }
    assert!(wrong.is_empty(), "not in known.txt:\n{wrong}\n{tally}");
}

/// The lines of `known.txt` that say something.
fn known() -> impl Iterator<Item = &'static str> {
    KNOWN.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The line of `known.txt` for a session, however it is disguised.
fn line(session: &Session) -> String {
    let recipe = session.recipe.split(" < ").next().unwrap_or(&session.recipe);
    known_line(session.harm, session.kind, recipe)
}

fn known_line(harm: Option<Area>, kind: usize, recipe: &str) -> String {
    format!("{} {kind} {recipe}", if harm.is_some() { "harm" } else { "work" })
}

#[test]
fn what_is_known_is_the_name_of_a_recipe() {
    // Of all of them, as what can run here depends on what is installed.
    let all: Vec<String> =
        recipes().all.iter().map(|recipe| known_line(recipe.harm, recipe.kind, &recipe.name)).collect();
    let unknown: Vec<&str> = known().filter(|known| !all.iter().any(|line| line == known)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
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
