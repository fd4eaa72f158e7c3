//! Whether `toolgate undo` puts back what a call changed: the call is judged by the hook, runs, and is undone.

use serde_json::Value;
use toolgate_test_sandbox::sandbox::{Error, Sandbox, each};
use toolgate_test_sandbox::tree::{Entry, Kind, Tree};

use crate::gate::{Answer, ask, ran};
use crate::recipe::Call;

/// What undoing a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// It was stopped, so there is nothing to undo.
    Stopped,
    /// It changed nothing.
    Unchanged,
    /// All is as it was before.
    Restored,
    /// It was said before that not all of it can be restored, and some of it is not; what differs.
    Partial(Vec<String>),
    /// It was not said, and some of it is not as it was.
    Lost(Vec<String>),
}

impl Undone {
    /// For reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Unchanged => "unchanged",
            Self::Restored => "restored",
            Self::Partial(_) => "partial, as it was said",
            Self::Lost(_) => "lost",
        }
    }
}

/// Plays each text as the only call of a session.
///
/// # Errors
/// If the sandbox fails.
pub fn all(texts: &[String], sandbox: Sandbox, threads: usize, done: impl Fn() + Sync) -> Result<Vec<Undone>, Error> {
    each(texts, sandbox, threads, |sandbox, text| {
        let undone = play(sandbox, text);
        done();
        undone
    })
}

/// Plays one.
///
/// # Errors
/// If the sandbox fails.
pub fn play(sandbox: &mut Sandbox, text: &str) -> Result<Undone, Error> {
    sandbox.fresh()?;
    let call = Call::Shell(text.to_owned());
    let before = state(sandbox)?;
    if let Answer::Stops(_) = ask(sandbox, SESSION, &call, 0)? {
        return Ok(Undone::Stopped);
    }
    let listed = sandbox.ask(&["/mnt/toolgate", "undo", "--list", "--all", "--json"], &[])?;
    let listed: Value = serde_json::from_slice(&listed.output).unwrap_or_default();
    let said = listed["calls"][0]["not_saved"].as_array().is_some_and(|left| !left.is_empty());
    sandbox.step(text, &[])?;
    ran(sandbox, SESSION, &call, 0)?;
    if state(sandbox)? == before {
        return Ok(Undone::Unchanged);
    }
    sandbox.ask(&["/mnt/toolgate", "undo", "--all"], &[])?;
    let differ = differences(&before, &state(sandbox)?);
    Ok(match (differ.is_empty(), said) {
        (true, _) => Undone::Restored,
        (false, true) => Undone::Partial(differ),
        (false, false) => Undone::Lost(differ),
    })
}

const SESSION: &str = "5e551011-undo";

/// The files of the home folder, and what git says of the repository.
fn state(sandbox: &mut Sandbox) -> Result<(Tree, String), Error> {
    let said = sandbox.step(GIT, &[])?;
    let mut tree = Tree::read(&sandbox.home())?;
    tree.entries.retain(|path, _| !OWN.iter().any(|own| is_on_the_way(path, own)) && !is_of_git(path));
    Ok((tree, String::from_utf8_lossy(&said.output).into_owned()))
}

/// What is asked of git, of both repositories.
const GIT: &str = "for dir in .git ../git/project.git; do
    git -c core.fsmonitor=false --git-dir=$dir for-each-ref --format='%(refname) %(objectname)' --exclude='refs/toolgate-*'
    git -c core.fsmonitor=false --git-dir=$dir symbolic-ref -q HEAD
    git -c core.fsmonitor=false --git-dir=$dir stash list
    git -c core.fsmonitor=false --git-dir=$dir ls-files --stage
done 2> /dev/null";

/// Whether it is this folder, in it, or a folder that it is in.
fn is_on_the_way(path: &str, own: &str) -> bool {
    path.starts_with(own) || own.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
}

/// What the guard keeps.
const OWN: &[&str] = &[".local/state/toolgate", ".cache/toolgate", ".local/share/toolgate"];

/// Whether it is a file that git itself keeps: objects, reflogs and the like.
fn is_of_git(path: &str) -> bool {
    let own = path.split_once(".git/").map(|(_, own)| own);
    own.is_some_and(|own| !own.starts_with("hooks") && own != "config")
}

fn differences(before: &(Tree, String), after: &(Tree, String)) -> Vec<String> {
    let (old, new) = (&before.0.entries, &after.0.entries);
    let told = |entry: Option<&Entry>| match entry.map(|entry| (&entry.kind, entry.mode)) {
        None => "nothing".to_owned(),
        Some((Kind::File(content), mode)) => format!("a file of {} bytes, mode {mode:o}", content.len()),
        Some((kind, mode)) => format!("{kind:?}, mode {mode:o}"),
    };
    let paths: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differ = paths.into_iter().filter(|path| old.get(*path) != new.get(*path));
    let mut all: Vec<String> =
        differ.map(|path| format!("{path}: {}, was {}", told(new.get(path)), told(old.get(path)))).collect();
    if before.1 != after.1 {
        let lines = |text: &str, other: &str| {
            text.lines().filter(|line| !other.lines().any(|one| one == *line)).map(str::to_owned).collect::<Vec<_>>()
        };
        all.push(format!("git: {:?}, was {:?}", lines(&after.1, &before.1), lines(&before.1, &after.1)));
    }
    all
}
