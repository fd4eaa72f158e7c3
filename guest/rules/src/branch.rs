//! The branch that is checked out, followed through a text: `git checkout main && git push` pushes main.
//!
//! `git checkout NAME` may mean a file, so both branches are possible then, and are kept with line ends between them.

use std::rc::Rc;

use toolgate_shell::{Modifier, Tracker, Trackers, Word};

/// Its name among the trackers.
pub(crate) const TRACKER: &str = "branch";

/// The text has not changed it: what git says holds. No branch has a blank in its name.
pub(crate) const AS_IT_IS: &str = "as it is";

/// The tracker.
pub(crate) fn tracker() -> Tracker {
    let subshell = toolgate_shell::Subshell::Propagate;
    Tracker { subshell, ..Tracker::new(TRACKER).initially(AS_IT_IS) }
        .modifier("git", Modifier::sequential(|words, before, _| after_git(words, before)))
        .modifier(
            "gh",
            Modifier::sequential(|words, before, _| match words.get(1).and_then(Word::known) {
                Some("checkout") => None,
                _ => before.map(str::to_owned),
            }),
        )
}

/// The tracker, alone.
pub(crate) fn trackers() -> Rc<Trackers> {
    let mut trackers = Trackers::new();
    // The name is not taken: the list is empty.
    let added = trackers.add(tracker());
    debug_assert!(added.is_ok());
    Rc::new(trackers)
}

fn after_git(words: &[Word], before: Option<&str>) -> Option<String> {
    let same = || before.map(str::to_owned);
    let first = words.first()?.known()?;
    if first.starts_with('-') {
        // Another folder, or an alias, if it checks anything out.
        let checks_out = words.iter().any(|word| matches!(word.known(), None | Some("checkout" | "switch")));
        return if checks_out { None } else { same() };
    }
    let rest = words.get(1..).unwrap_or_default();
    let text = |at: usize| rest.get(at).and_then(Word::known);
    if first == "stash" && text(0) == Some("branch") {
        return text(1).map(str::to_owned);
    }
    if first == "branch" && rest.iter().any(|word| matches!(word.known(), Some("-m" | "-M" | "--move") | None)) {
        return None;
    }
    if !matches!(first, "checkout" | "switch") {
        return same();
    }
    let creates = |word: &Word| {
        matches!(word.known(), Some("-b" | "-B" | "-c" | "-C" | "--create" | "--force-create" | "--orphan"))
    };
    if let Some(at) = rest.iter().position(creates) {
        return text(at + 1).map(str::to_owned);
    }
    let mut operands = Vec::new();
    for word in rest {
        match word.known()? {
            "--" => return if operands.len() < 2 { same() } else { None },
            "--detach" | "-d" => return Some(String::new()),
            // The one before; options that are not known here.
            "-" => return None,
            "-q" | "-f" | "--quiet" | "--force" | "-m" | "--merge" | "--progress" | "--no-progress" | "--guess" => {}
            "-t" | "--track" | "-p" | "--patch" => return None,
            option if option.starts_with('-') => return None,
            operand => operands.push(operand),
        }
    }
    match operands.as_slice() {
        [] => same(),
        [name] if first == "switch" => Some((*name).to_owned()),
        // A branch or a file.
        [name] => Some(format!("{}\n{name}", before?)),
        _ => same(),
    }
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;

    #[test]
    fn the_branch_follows_the_text() {
        let cases = [
            ("git push", Some(AS_IT_IS)),
            ("git switch main; git push", Some("main")),
            ("git checkout -b x && git push", Some("x")),
            ("git checkout README && git push", Some("as it is\nREADME")),
            ("git checkout -- main; git push", Some(AS_IT_IS)),
            ("git checkout $B; git push", None),
            ("git checkout -; git push", None),
            ("(git switch main); git push", Some("main")),
            ("git -C x switch main; git push", None),
            ("git -c a=b status; git push", Some(AS_IT_IS)),
            ("git switch --detach; git push", Some("")),
            ("gh pr checkout 5; git push", None),
            ("git branch -m x; git push", None),
        ];
        for (text, expected) in cases {
            let script = parse(text, &Facts::new("/p").trackers(trackers()));
            let last = script.commands.last().expect(text);
            assert_eq!(last.tracked[0].as_deref(), expected, "{text}");
        }
    }
}
