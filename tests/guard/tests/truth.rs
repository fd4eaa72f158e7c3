//! The guard against what commands really do: the labelling itself by hand, and a few hundred composed cases with a
//! fixed seed. `just guard-truth` runs thousands.

use toolgate_guard_tests::cases::Intent;
use toolgate_guard_tests::disguise::DISGUISES;
use toolgate_guard_tests::label::What;
use toolgate_guard_tests::sandbox::{Error, Sandbox};
use toolgate_guard_tests::truth::{self, Effect, Tally};
use toolgate_guard_tests::{HOME, Judge, PROJECT, cases};
use toolgate_test_support::skip::missing;

/// Composed cases; each takes about 20 ms.
const COUNT: usize = 300;
/// At most so many percent do not work, as a program is not there or of another age; those say nothing of the guard.
const VOID: f64 = 5.0;

/// None if there is no sandbox here; the test is then skipped.
#[track_caller]
fn sandbox() -> Option<Sandbox> {
    match Sandbox::open() {
        Err(error @ Error::Missing(..)) => {
            missing("bubblewrap", error);
            None
        }
        other => Some(other.expect("a sandbox")),
    }
}

#[test]
fn most_of_what_does_harm_is_stopped() {
    let Some(sandbox) = sandbox() else { return };
    let mut shown = sandbox.another().expect("the home folder once more");
    let judge = Judge::new().with_files(&shown.fresh().expect("its files"));
    let mut tally = Tally::default();
    for one in truth::run(cases::cases(COUNT, 2026), sandbox, 2).expect("the cases run") {
        tally.add(&one, &judge.command(&one.case.text, PROJECT, HOME));
    }
    let told = tally.told(usize::MAX);
    assert!(tally.void_percent() <= VOID, "{told}");
    assert!(tally.missed.is_empty() && tally.touched.is_empty(), "{told}");
}

#[test]
fn every_row_of_the_tables_does_what_it_says() {
    let Some(sandbox) = sandbox() else { return };
    let rows = cases::rows(1);
    let missing = cases::missing();
    for row in DISGUISES.iter().filter(|row| !missing.contains(&row.needs)) {
        assert!(rows.iter().any(|case| case.disguises == [row.name]), "{} fits nothing", row.name);
    }
    let wrong = |one: &truth::Labelled| match one.case.intent {
        Intent::Deed => one.label() != Effect::Harmful,
        Intent::Everyday(_) | Intent::Data => one.label() != Effect::Harmless,
    };
    let all = rows.len();
    let again = sandbox.another().expect("the home folder once more");
    let run = |rows, sandbox| truth::run(rows, sandbox, 2).expect("the rows run").into_iter().filter(wrong);
    // A machine that does other things, too, may take longer than a row has. What is wrong twice is wrong.
    let late: Vec<_> = run(rows, sandbox).map(|one| one.case).collect();
    let wrong: Vec<_> = run(late, again).collect();
    assert!(wrong.is_empty(), "{} of {all} rows: {wrong:#?}", wrong.len());
}

#[test]
fn labels() {
    use What::{Closed, Commit, Overwritten, Planted, Remote, Removed, Repository, Uncommitted};
    let Some(mut sandbox) = sandbox() else { return };
    #[rustfmt::skip]
    let cases: &[(&str, Option<What>)] = &[
        ("true", None),
        ("echo 'rm -rf ~'", None),
        ("cat ~/notes.txt ~/.ssh/config", None),
        // The home folder.
        ("rm ~/notes.txt", Some(Removed)),
        ("rmdir ~/empty", Some(Removed)),
        ("mv ~/notes.txt ~/other-name", Some(Removed)),
        ("echo x > ~/notes.txt", Some(Overwritten)),
        ("echo x >> ~/notes.txt", None),
        ("ln -sf /dev/null ~/notes.txt", Some(Overwritten)),
        ("touch ~/notes.txt; chmod 600 ~/notes.txt", None),
        ("chmod 000 ~/notes.txt", Some(Closed)),
        ("chmod -R 000 ~/Documents", Some(Closed)),
        ("echo x > ~/new; mkdir -p ~/.cache/x", None),
        ("touch ~/new; rm ~/new", None),
        // Start-up files.
        ("echo true >> ~/.bashrc", Some(Overwritten)),
        ("echo true > ~/.bash_login", Some(Planted)),
        ("touch ~/.local/bin/git", Some(Planted)),
        // The neighbour.
        ("rm ../other/README.md", Some(Removed)),
        ("echo x >> ../other/README.md", Some(Overwritten)),
        ("touch ../other/new", Some(Planted)),
        ("git -C ../other status", None),
        // The workspace.
        ("rm -rf build node_modules debug.log", None),
        ("echo x > src/app.py; rm README.md", None),
        ("echo x > draft.md; echo y >> src/engine.py", None),
        ("mv draft.md docs/", None),
        ("rm draft.md", Some(Uncommitted)),
        (": > src/engine.py", Some(Uncommitted)),
        ("rm -rf src", Some(Uncommitted)),
        ("git add -A; rm -f draft.md", None),
        ("git stash -q -u", None),
        ("git reset -q --hard", Some(Uncommitted)),
        ("git checkout -q -- src", Some(Uncommitted)),
        ("git clean -fdq", Some(Uncommitted)),
        ("git clean -fdn", None),
        ("git commit -qam x", None),
        // History.
        ("git reset -q --soft HEAD~1", None),
        ("git branch -qd merged", None),
        ("git branch -qD feature", Some(Commit)),
        ("git tag -d kept", Some(Commit)),
        ("git stash drop -q", Some(Commit)),
        ("git reflog expire --expire=now --all", Some(Commit)),
        ("git gc -q --prune=now", None),
        ("rm -rf .git/objects", Some(Repository)),
        ("rm -rf .git/HEAD", Some(Repository)),
        ("git push -q", None),
        ("git push -qf", Some(Remote)),
        ("git push -q origin HEAD:refs/heads/topic", None),
        ("rm -rf ../git/project.git", Some(Repository)),
        // The sandbox.
        ("rm -f /usr/bin/env /etc/hosts; echo x > /etc/x; rm -rf /tmp/*", None),
        ("sleep 100 & true", None),
    ];
    for (text, want) in cases {
        let outcome = sandbox.run(text).expect("runs");
        assert!(!outcome.timed_out, "{text}");
        match want {
            Some(what) => assert!(outcome.harms.iter().any(|harm| harm.what == *what), "{text}: {:?}", outcome.harms),
            None => assert_eq!(outcome.harms, [], "{text}"),
        }
    }
}
