//! `toolgate undo`: what calls changed, listed and put back.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Value, json};
use toolgate_agents::{Failure, dirs, exit};
use toolgate_gatekeeper::saving;
use toolgate_host::{plain, shortened};
use toolgate_undo::calls::{Calls, is_unchanged};
use toolgate_undo::model::{After, Entry, Kind, State};
use toolgate_undo::restore::Target;
use toolgate_undo::store::Store;
use toolgate_undo::undo::{OWN, Plan, Request, Undone};
use toolgate_undo::{Limits, UndoError};

use crate::columns::count;
use crate::output::{self, BOLD, DIM, GREEN, RED, YELLOW};
use crate::runtime;

/// The exit code where something is left as it is.
const CONFLICTS: u8 = 1;

/// How many calls are listed.
const LISTED: usize = 20;

/// How many paths of a call are listed.
const PATHS: usize = 10;

/// Characters of a command in the list.
const SUMMARY: usize = 72;

/// Most paths that an undo changes: a call may have made more than it could have changed.
const UNDONE_PATHS: usize = 1_000_000;

/// How many calls are tried until one has left something that can be put back.
const TRIED: usize = 64;

/// How long saving what an undo changes may take.
const SAVE_TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Args)]
#[command(after_help = "\
Before a call runs, Toolgate saves the files that it changes, commits and stashes that git would lose,
and before a program with unknown changes the worktree as git sees it. `toolgate undo` restores them.

A file that was changed after the call is a conflict: it is named and left as it is, unless --force
is given. What the call made is removed only if it is unchanged. An undo is a call of its own, which
can be undone by its ID.

Examples:
  toolgate undo --list              the last calls in this folder, and what each changed
  toolgate undo --dry-run           what undoing the last call would change
  toolgate undo                     undo the last call
  toolgate undo 0193-4c1f           undo the call with this ID; the start of it is enough
  toolgate undo -- src/main.rs      put back one file as it was before the last call that changed it
  toolgate undo --turn              undo all calls since the user set the agent to work last
  toolgate undo --session           undo all calls of the session

Not covered: what left the machine, processes, databases, files that git ignores and a program changed
on its own, and what a call left running writes later.

Exit codes: 0 undone or listed, 1 something was left as it is; 64 invalid arguments, 66 nothing to
undo, 70 and above internal errors.")]
pub(crate) struct Arguments {
    /// The IDs of calls, or their beginnings [default: the last call in this folder]
    #[arg(value_name = "ID")]
    ids: Vec<String>,

    /// Only these files and folders
    #[arg(value_name = "FILE", last = true)]
    files: Vec<PathBuf>,

    /// All calls since the user set the agent to work last
    #[arg(long, conflicts_with_all = ["ids", "session"])]
    turn: bool,

    /// All calls of the session
    #[arg(long, conflicts_with = "ids")]
    session: bool,

    /// List calls and what they changed
    #[arg(long, conflicts_with_all = ["ids", "turn", "session", "force", "dry_run"])]
    list: bool,

    /// Calls in all folders
    #[arg(long)]
    all: bool,

    /// Show what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Also restore files that were changed after the call
    #[arg(long)]
    force: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let cwd = dirs::folder(None)?;
    let limits = Limits { wait: SAVE_TIMEOUT, paths: UNDONE_PATHS, ..Limits::DEFAULT };
    let nowhere = || Failure::new(exit::NO_INPUT, "the folder of saved calls is unknown; set HOME");
    let calls = saving::calls_within(limits).ok_or_else(nowhere)?;
    let store = calls.store().map_err(failed)?;
    let folder = (!arguments.all).then(|| PathBuf::from(&cwd));
    if arguments.list {
        let listed = store.map_or_else(|| Ok(Vec::new()), |store| listed(&store, folder.as_deref()))?;
        return if arguments.json { list_json(&listed) } else { list(&listed, arguments.all) };
    }
    let store = store.ok_or_else(|| nothing(arguments))?;
    let only = arguments.files.iter().map(|file| absolute(file, &cwd)).collect::<Vec<_>>();
    let Chosen { ids, mut plan, passed_over } = planned(&calls, &store, arguments, folder.as_deref(), &only)?;
    if arguments.dry_run {
        return if arguments.json { plan_json(&ids, &plan, &passed_over) } else { preview(&plan, &passed_over) };
    }
    let entry = ids.first().map(|id| store.entry(id)).transpose().map_err(failed)?;
    let call = entry.map(|entry| entry.call).unwrap_or_default();
    let withheld = |paths: &[String]| runtime::one_thread().ok()?.block_on(saving::withheld_in(&call, paths.to_vec()));
    let repositories = plan.repositories();
    let undone = plan.apply(&calls, Path::new(&cwd), &withheld).map_err(failed)?;
    let (conflicts, left_out) = (plan.conflicts.iter().map(ToString::to_string).collect::<Vec<_>>(), plan.left_out);
    if arguments.json {
        told_json(&ids, &undone, &conflicts, &left_out, &passed_over)
    } else {
        told(&undone, &repositories, &conflicts, &left_out, &passed_over)
    }
}

/// What is undone.
struct Chosen {
    ids: Vec<String>,
    plan: Plan,
    /// Newer calls of which nothing can be put back, though they may have changed something: that was not saved.
    passed_over: Vec<String>,
}

/// The calls that are to be undone, and what that does.
fn planned(
    calls: &Calls,
    store: &Store,
    arguments: &Arguments,
    folder: Option<&Path>,
    only: &[PathBuf],
) -> Result<Chosen, Failure> {
    let plan = |ids: &[String]| {
        calls.plan(&Request { ids: ids.to_vec(), only: only.to_vec(), force: arguments.force }).map_err(failed)
    };
    if !arguments.ids.is_empty() || arguments.turn || arguments.session {
        let ids = chosen(store, arguments, folder, only)?;
        return plan(&ids).map(|plan| Chosen { ids, plan, passed_over: Vec::new() });
    }
    let (mut first, mut passed_over) = (None, Vec::new());
    let mut tried = 0;
    for one in open(store, folder)?.filter(|one| one.changed(only)) {
        if one.may_have_changed_the_rest() {
            let summary = shortened(&plain(&one.entry.call.summary), SUMMARY);
            passed_over.push(format!("{} {summary}", one.entry.id));
        }
        if one.after.as_ref().is_some_and(|after| is_unchanged(&one.entry, after)) {
            continue;
        }
        tried += 1;
        if tried > TRIED {
            break;
        }
        let ids = vec![one.entry.id.clone()];
        let plan = plan(&ids)?;
        // One that has not ended may have been answered with no: then all that differs is somebody else's.
        if !plan.is_empty() || !plan.conflicts.is_empty() && one.after.is_some() {
            passed_over.retain(|call| !call.starts_with(&one.entry.id));
            return Ok(Chosen { ids, plan, passed_over });
        }
        if first.is_none() {
            first = Some(Chosen { ids, plan, passed_over: Vec::new() });
        }
    }
    first.map(|first| Chosen { passed_over, ..first }).ok_or_else(|| nothing(arguments))
}

fn failed(error: UndoError) -> Failure {
    match error {
        UndoError::Empty => Failure::new(exit::NO_INPUT, error.to_string()),
        error => Failure::new(exit::IO, error.to_string()),
    }
}

fn nothing(arguments: &Arguments) -> Failure {
    let elsewhere = if arguments.all { "" } else { "; `toolgate undo --list --all` shows those of other folders" };
    Failure::new(exit::NO_INPUT, format!("no saved call to undo here{elsewhere}"))
}

fn absolute(file: &Path, cwd: &str) -> PathBuf {
    let whole = Path::new(cwd).join(file);
    let mut path = PathBuf::new();
    for part in whole.components() {
        match part {
            std::path::Component::ParentDir => drop(path.pop()),
            std::path::Component::CurDir => {}
            part => path.push(part),
        }
    }
    // As it was when the call ran: the file itself may be gone by now.
    let (folder, name) = (path.parent().and_then(|folder| folder.canonicalize().ok()), path.file_name());
    match (folder, name) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// A saved call.
struct Listed {
    entry: Entry,
    after: Option<After>,
    undone: Option<String>,
}

impl Listed {
    fn read(store: &Store, id: &str) -> Option<Self> {
        let read = || Ok::<_, UndoError>((store.entry(id)?, store.after(id)?, store.undone(id)?));
        match read() {
            Ok((entry, after, undone)) => Some(Listed { entry, after, undone }),
            Err(error) => {
                output::complain(&error.to_string());
                None
            }
        }
    }

    /// Whether it belongs to what happens in a folder.
    fn is_in(&self, folder: Option<&Path>) -> bool {
        let Some(folder) = folder else { return true };
        let (workspace, cwd) = (Path::new(&self.entry.call.workspace), Path::new(&self.entry.call.cwd));
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let (workspace, cwd, folder) = (real(workspace), real(cwd), real(folder));
        let within = |root: &Path| root.parent().is_some() && folder.starts_with(root);
        within(&workspace) || within(&cwd) || cwd.starts_with(&folder)
    }

    fn is_open(&self) -> bool {
        self.undone.is_none() && self.entry.call.agent != OWN
    }

    /// Whether it may have changed what was not saved of it.
    fn may_have_changed_the_rest(&self) -> bool {
        self.after.is_some() && !self.entry.left_out.is_empty()
    }

    fn changed(&self, files: &[PathBuf]) -> bool {
        let is_asked = |path: &Path| files.iter().any(|file| path.starts_with(file) || file.starts_with(path));
        let items = self.entry.items.iter().map(|item| item.path.as_path());
        let touched = self.after.iter().flat_map(|after| after.touched.iter().flatten().flatten());
        let in_snapshot = |file: &PathBuf| self.entry.snapshots.iter().any(|one| file.starts_with(one.root.as_path()));
        // What a call left whose end is not known may be anything in there.
        if self.after.is_none() && files.iter().any(in_snapshot) {
            return true;
        }
        files.is_empty() || items.chain(touched.map(|one| one.path.as_path())).any(is_asked)
    }
}

fn listed(store: &Store, folder: Option<&Path>) -> Result<Vec<Listed>, Failure> {
    let ids = store.ids().map_err(failed)?;
    let all = ids.iter().filter_map(|id| Listed::read(store, id));
    Ok(all.filter(|one| one.is_in(folder)).take(LISTED).collect())
}

/// The calls that can be undone, the newest first.
fn open(store: &Store, folder: Option<&Path>) -> Result<impl Iterator<Item = Listed>, Failure> {
    let ids = store.ids().map_err(failed)?;
    let all = ids.into_iter().filter_map(|id| Listed::read(store, &id));
    let all = all.filter(move |one| one.is_in(folder) && one.is_open());
    // What was asked about and followed by another call did not run, or its end would have been reported.
    Ok(all.enumerate().filter(|(at, one)| *at == 0 || one.after.is_some()).map(|(_, one)| one))
}

/// The ids of the calls that are to be undone together.
fn chosen(
    store: &Store,
    arguments: &Arguments,
    folder: Option<&Path>,
    files: &[PathBuf],
) -> Result<Vec<String>, Failure> {
    if !arguments.ids.is_empty() {
        let found = arguments.ids.iter().map(|id| store.find(id)).collect::<Result<_, _>>();
        return found.map_err(|error| Failure::new(exit::NO_INPUT, error.to_string()));
    }
    let mut open = open(store, folder)?;
    let last = open.find(|one| one.changed(files)).ok_or_else(|| nothing(arguments))?;
    let call = last.entry.call.clone();
    let same = |one: &Listed| {
        let other = &one.entry.call;
        other.agent == call.agent && other.session == call.session && (arguments.session || other.turn == call.turn)
    };
    let rest = open.filter(same).map(|one| one.entry.id);
    Ok([last.entry.id].into_iter().chain(rest).collect())
}

fn time(entry: &Entry) -> String {
    let moment = i64::try_from(entry.time).ok().and_then(|time| Timestamp::from_millisecond(time).ok());
    moment.map_or_else(String::new, |time| time.to_zoned(TimeZone::system()).strftime("%F %T").to_string())
}

fn list(calls: &[Listed], all: bool) -> Result<ExitCode, Failure> {
    output::print(|out| {
        if calls.is_empty() {
            let elsewhere = if all { "" } else { " in this folder; --all lists those of other folders" };
            return writeln!(out, "no saved calls{elsewhere}");
        }
        calls.iter().try_for_each(|one| list_one(out, one))
    })
}

fn list_one(out: &mut dyn Write, one: &Listed) -> std::io::Result<()> {
    let call = &one.entry.call;
    let summary = shortened(&plain(&call.summary), SUMMARY);
    let state = match (&one.undone, &one.after) {
        (Some(by), _) => format!("undone by {by}"),
        (None, Some(after)) => changes(after),
        (None, None) => "its end was not reported: it did not run, or was broken off".to_owned(),
    };
    writeln!(out, "{BOLD}{}{BOLD:#}  {}  {} {summary}", one.entry.id, time(&one.entry), plain(&call.agent))?;
    writeln!(out, "  {DIM}{state}{DIM:#}")?;
    let changed = one.after.iter().flat_map(|after| &after.changed);
    for (path, how) in changed.clone().take(PATHS) {
        writeln!(out, "  {} {}", how.letter(), shown(path.as_path(), &call.cwd))?;
    }
    let more = one.after.as_ref().map_or(0, |after| after.count).saturating_sub(PATHS as u64);
    if more > 0 {
        writeln!(out, "  and {more} more")?;
    }
    one.entry
        .left_out
        .iter()
        .take(3)
        .try_for_each(|left| writeln!(out, "  {DIM}not saved: {}{DIM:#}", plain(&left.to_string())))
}

fn changes(after: &After) -> String {
    match after.count {
        0 if after.touched.iter().any(Option::is_none) => "its changes are unknown".to_owned(),
        0 => "changed no file".to_owned(),
        number => format!("changed {}", count(usize::try_from(number).unwrap_or(usize::MAX), "path")),
    }
}

/// A path as it is shown: relative where that is shorter to read.
fn shown(path: &Path, cwd: &str) -> String {
    plain(&path.strip_prefix(cwd).unwrap_or(path).display().to_string())
}

fn list_json(calls: &[Listed]) -> Result<ExitCode, Failure> {
    let one = |one: &Listed| {
        let call = &one.entry.call;
        let changed = one.after.iter().flat_map(|after| &after.changed);
        let changed: Vec<Value> = changed
            .map(|(path, how)| json!({ "path": path.as_path().to_string_lossy(), "change": how.letter().to_string() }))
            .collect();
        json!({
            "id": one.entry.id, "time": one.entry.time, "agent": call.agent, "session": call.session, "turn": call.turn,
            "tool": call.tool, "summary": call.summary, "cwd": call.cwd, "workspace": call.workspace,
            "changed": changed, "count": one.after.as_ref().map(|after| after.count),
            "not_saved": one.entry.left_out.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "undone_by": one.undone, "undoes": one.entry.undoes,
        })
    };
    let calls: Vec<Value> = calls.iter().map(one).collect();
    output::print(|out| writeln!(out, "{}", json!({ "schema": 1, "calls": calls })))
}

/// What undoing would change, as a diff.
fn preview(plan: &Plan, passed_over: &[String]) -> Result<ExitCode, Failure> {
    output::print(|out| {
        if plan.is_empty() && plan.conflicts.is_empty() {
            writeln!(out, "nothing to do: all of it is as it was")?;
        }
        for target in plan.steps() {
            preview_one(out, plan, target)?;
        }
        plan.repositories().iter().try_for_each(|line| writeln!(out, "{}", plain(line)))?;
        let conflicts: Vec<String> = plan.conflicts.iter().map(ToString::to_string).collect();
        remarks(out, &conflicts, &plan.left_out, passed_over)
    })?;
    Ok(code(&plan.conflicts))
}

fn code<T>(left: &[T]) -> ExitCode {
    if left.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CONFLICTS) }
}

fn preview_one(out: &mut dyn Write, plan: &Plan, target: &Target) -> std::io::Result<()> {
    let path = target.path.as_path();
    match plan.texts(target) {
        Some((now, then)) if now != then => output::diff(out, path, !now.is_empty(), &now, &then),
        _ => writeln!(out, "{} {}", verb(&target.want), plain(&path.display().to_string())),
    }
}

fn verb(want: &State) -> String {
    match &want.kind {
        Kind::Absent => "remove".to_owned(),
        Kind::Folder => "make folder".to_owned(),
        Kind::Link { target } => format!("link to {}:", plain(&target.as_path().display().to_string())),
        _ => "restore".to_owned(),
    }
}

fn plan_json(ids: &[String], plan: &Plan, passed_over: &[String]) -> Result<ExitCode, Failure> {
    let step = |target: &Target| json!({ "path": target.path.as_path().to_string_lossy(), "want": verb(&target.want) });
    let steps: Vec<Value> = plan.steps().map(step).collect();
    let conflicts: Vec<String> = plan.conflicts.iter().map(ToString::to_string).collect();
    let answer = json!({
        "schema": 1, "ids": ids, "steps": steps, "repositories": plan.repositories(), "conflicts": conflicts,
        "not_saved": plan.left_out, "passed_over": passed_over,
    });
    output::print(|out| writeln!(out, "{answer}"))?;
    Ok(code(&plan.conflicts))
}

fn told(
    undone: &Undone,
    repositories: &[String],
    conflicts: &[String],
    left_out: &[String],
    passed_over: &[String],
) -> Result<ExitCode, Failure> {
    output::print(|out| {
        match &undone.id {
            None if conflicts.is_empty() => writeln!(out, "nothing to do: all of it is as it was")?,
            None => {}
            Some(id) => {
                let restored = count(undone.restored.len(), "path");
                writeln!(out, "{GREEN}put back {restored}{GREEN:#}; `toolgate undo {id}` undoes that")?;
                repositories.iter().try_for_each(|line| writeln!(out, "{}", plain(line)))?;
            }
        }
        undone.failed.iter().try_for_each(|line| writeln!(out, "{RED}failed{RED:#}    {}", plain(line)))?;
        remarks(out, conflicts, left_out, passed_over)
    })?;
    let left: Vec<&String> = conflicts.iter().chain(&undone.failed).collect();
    Ok(code(&left))
}

fn remarks(
    out: &mut dyn Write,
    conflicts: &[String],
    left_out: &[String],
    passed_over: &[String],
) -> std::io::Result<()> {
    for line in conflicts {
        writeln!(out, "{YELLOW}conflict{YELLOW:#}  {}", plain(line))?;
    }
    if !conflicts.is_empty() {
        writeln!(out, "Conflicts are left as they are; --force restores them as well.")?;
    }
    left_out.iter().try_for_each(|line| writeln!(out, "{DIM}not saved{DIM:#} {}", plain(line)))?;
    match passed_over {
        [] => Ok(()),
        [only] => writeln!(out, "{DIM}passed over{DIM:#} {only}: what it may have changed was not saved"),
        [newest, rest @ ..] => {
            let rest = count(rest.len(), "older call");
            writeln!(out, "{DIM}passed over{DIM:#} {newest} and {rest}: what they may have changed was not saved")
        }
    }
}

fn told_json(
    ids: &[String],
    undone: &Undone,
    conflicts: &[String],
    left_out: &[String],
    passed_over: &[String],
) -> Result<ExitCode, Failure> {
    let restored: Vec<_> = undone.restored.iter().map(|path| path.to_string_lossy()).collect();
    let answer = json!({
        "schema": 1, "ids": ids, "undo": undone.id, "restored": restored, "failed": undone.failed,
        "conflicts": conflicts, "not_saved": left_out, "passed_over": passed_over,
    });
    output::print(|out| writeln!(out, "{answer}"))?;
    let left: Vec<&String> = conflicts.iter().chain(&undone.failed).collect();
    Ok(code(&left))
}
