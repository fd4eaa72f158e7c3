//! Whether `toolgate undo` puts back what a call changed: the call is judged by the hook, runs, and is undone.

use std::collections::BTreeSet;

use serde_json::Value;
use toolgate_test_sandbox::sandbox::{Error, Sandbox, each};
use toolgate_test_sandbox::tree::{Entry, Kind, Tree, within};
use toolgate_test_sandbox::{HOME, PROJECT};

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
    /// Some of it is not as it was, and of all of that it was said before that it was not saved; what differs.
    Partial(Vec<String>),
    /// Some of it is not as it was, though it was not said; what differs.
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
    let left = listed["calls"][0]["not_saved"].as_array().into_iter().flatten();
    let left: Vec<LeftOut> = left.filter_map(Value::as_str).map(LeftOut::read).collect();
    sandbox.step(text, &[])?;
    ran(sandbox, SESSION, &call, 0)?;
    let between = state(sandbox)?;
    if between == before {
        return Ok(Undone::Unchanged);
    }
    sandbox.ask(&["/mnt/toolgate", "undo", "--all"], &[])?;
    let differ = differences(&before, &between, &state(sandbox)?);
    let ignored = ignored(sandbox, &differ)?;
    let told = |differ: &&Difference| left.iter().any(|left| left.tells(differ, &ignored));
    let (told, lost): (Vec<&Difference>, Vec<&Difference>) = differ.iter().partition(told);
    let said = |differ: Vec<&Difference>| differ.into_iter().map(|one| one.what.clone()).collect();
    Ok(match (told.is_empty(), lost.is_empty()) {
        (true, true) => Undone::Restored,
        (false, true) => Undone::Partial(said(told)),
        (_, false) => Undone::Lost(said(lost)),
    })
}

const SESSION: &str = "5e551011-undo";

/// Something that is not as it was.
struct Difference {
    /// The path; none for what git says.
    path: Option<String>,
    /// For a person.
    what: String,
}

/// What was said not to be saved.
struct LeftOut {
    /// The path; none if that was not known.
    path: Option<String>,
    why: String,
}

impl LeftOut {
    fn read(said: &str) -> Self {
        let (path, why) = said.split_once(": ").filter(|(path, _)| path.starts_with('/')).unzip();
        LeftOut { path: path.map(str::to_owned), why: why.unwrap_or(said).to_owned() }
    }

    /// Whether this difference had to be expected then.
    fn tells(&self, differ: &Difference, ignored: &[String]) -> bool {
        let Some(folder) = &self.path else {
            return ["an unknown ", "and "].iter().any(|start| self.why.starts_with(start));
        };
        match &differ.path {
            // A program of which it is not known what it does: what the worktree is as git sees it was saved.
            Some(path) if self.why.starts_with("files that git ignores") => {
                !within(path, folder) || ignored.contains(path)
            }
            Some(path) if self.why.starts_with("ignored files") => ignored.contains(path),
            Some(path) if self.why.starts_with("what ") => !within(path, PROJECT) || within(path, folder),
            Some(path) => within(path, folder),
            None => ["branches", "repository", "what "].iter().any(|part| self.why.contains(part)),
        }
    }
}

/// Those of these paths that git ignores in the workspace.
fn ignored(sandbox: &mut Sandbox, differ: &[Difference]) -> Result<Vec<String>, Error> {
    let paths: Vec<&str> = differ.iter().filter_map(|one| one.path.as_deref()).collect();
    // Of a folder that is gone, only the slash tells that it was one.
    let inside =
        paths.into_iter().filter(|path| within(path, PROJECT)).flat_map(|path| [path.to_owned(), format!("{path}/")]);
    let inside: Vec<String> = inside.collect();
    let said = sandbox.step("git check-ignore --no-index --stdin", inside.join("\n").as_bytes())?;
    let said = String::from_utf8_lossy(&said.output).into_owned();
    Ok(said.lines().map(|path| path.trim_end_matches('/').to_owned()).collect())
}

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

/// Whether it is a file that git itself keeps: objects, reflogs and the like. What says that something is under way is not among them.
fn is_of_git(path: &str) -> bool {
    const KEPT: &[&str] = &[
        "hooks",
        "config",
        "worktrees",
        "rebase-merge",
        "rebase-apply",
        "sequencer",
        "BISECT_LOG",
        "MERGE_HEAD",
        "CHERRY_PICK_HEAD",
        "REVERT_HEAD",
    ];
    let own = path.split_once(".git/").map(|(_, own)| own.split('/').next().unwrap_or(own));
    own.is_some_and(|own| !KEPT.contains(&own))
}

/// What is not as it was before the call. Of what the call has left alone, the time counts as well.
fn differences(before: &(Tree, String), between: &(Tree, String), after: &(Tree, String)) -> Vec<Difference> {
    let (old, new) = (&before.0.entries, &after.0.entries);
    let told = |entry: Option<&Entry>| match entry.map(|entry| (&entry.kind, entry.mode)) {
        None => "nothing".to_owned(),
        Some((Kind::File(content), mode)) => format!("a file of {} bytes, mode {mode:o}", content.len()),
        Some((kind, mode)) => format!("{kind:?}, mode {mode:o}"),
    };
    let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut all = Vec::new();
    for path in paths {
        let (was, is) = (old.get(path), new.get(path));
        let what = if was != is {
            format!("{}, was {}", told(is), told(was))
        } else if is_untouched(was, between.0.entries.get(path))
            && was.map(|was| was.modified) != is.map(|is| is.modified)
        {
            "has another time, and was not touched".to_owned()
        } else {
            continue;
        };
        all.push(Difference { path: Some(format!("{HOME}/{path}")), what: format!("{path}: {what}") });
    }
    if before.1 != after.1 {
        let lines = |text: &str, other: &str| {
            text.lines().filter(|line| !other.lines().any(|one| one == *line)).map(str::to_owned).collect::<Vec<_>>()
        };
        let what = format!("git: {:?}, was {:?}", lines(&after.1, &before.1), lines(&before.1, &after.1));
        all.push(Difference { path: None, what });
    }
    all
}

/// Whether a call left a file or link alone. A folder has another time if something in it is made again.
fn is_untouched(before: Option<&Entry>, between: Option<&Entry>) -> bool {
    let (Some(before), Some(between)) = (before, between) else { return false };
    before == between && before.modified == between.modified && before.kind != Kind::Folder
}
