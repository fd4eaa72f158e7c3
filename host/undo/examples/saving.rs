//! `saving`: how long it takes to save what a call changes, beside `cp --reflink=auto -a` and `git stash create` of the same, in one
//! run. Times are medians of five.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use toolgate_undo::Limits;
use toolgate_undo::calls::Calls;
use toolgate_undo::model::{CallRef, Change, ChangeKind, Changes, GitCommand, Unforeseen};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    writeln!(out, "{:<44} {:>9} {:>9} {:>6}", "", "saving", "beside", "ratio")?;
    for count in [1, 100, 10_000] {
        let project = root.join(format!("files-{count}"));
        fill(&project, count)?;
        let changes = of_path(&project.join("src"), ChangeKind::Delete);
        let saving = median(|round| save(&root.join(format!("state-{count}-{round}")), &changes, &project))?;
        let beside = median(|round| copy(&project.join("src"), &root.join(format!("copy-{count}-{round}"))))?;
        line(&mut out, &format!("rm of {count} files; cp -a"), saving, beside)?;
    }
    let file = root.join("files-1/src/0/0");
    let edit = |at: usize| save(&root.join(format!("state-edit-{at}")), &of_path(&file, ChangeKind::Write), &root);
    let beside = median(|at| copy(&file, &root.join(format!("copy-edit-{at}"))))?;
    line(&mut out, "sed -i of 1 file; cp -a", median(edit)?, beside)?;
    for count in [1_000, 100_000] {
        let project = root.join(format!("repository-{count}"));
        fill(&project, count)?;
        git(&project, &["init", "-q"])?;
        git(&project, &["add", "."])?;
        git(&project, &["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first"])?;
        std::fs::write(project.join("src/0/0"), "changed")?;
        let name = project.display().to_string();
        let unforeseen = vec![Unforeseen { folder: Some(name), program: "a build".to_owned() }];
        let changes = Changes { schema: 1, unforeseen, ..Changes::default() };
        let command = GitCommand { folder: Some(project.display().to_string()), command: "reset".to_owned() };
        let reset = Changes { schema: 1, git: vec![command], ..Changes::default() };
        let state = root.join(format!("state-repository-{count}"));
        let first = time(|| save(&state, &changes, &project))?;
        let saving = median(|_| save(&state, &changes, &project))?;
        let stash = ["-c", "user.name=a", "-c", "user.email=a@example.org", "stash", "create"];
        let beside = median(|_| git(&project, &stash))?;
        line(&mut out, &format!("a build, {count} files, the first; git stash"), first, beside)?;
        line(&mut out, &format!("a build, {count} files, later; git stash"), saving, beside)?;
        let saving = median(|_| save(&state, &reset, &project))?;
        line(&mut out, &format!("git reset, {count} files, later; git stash"), saving, beside)?;
    }
    Ok(())
}

fn fill(project: &Path, count: usize) -> Result<(), Box<dyn Error>> {
    for at in 0..count {
        let folder = project.join(format!("src/{}", at / 100));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join((at % 100).to_string()), format!("{at}\n").repeat(200))?;
    }
    Ok(())
}

fn of_path(path: &Path, kind: ChangeKind) -> Changes {
    let path = Some(path.display().to_string());
    let paths = vec![Change { path, kind, certain: true, recursive: kind == ChangeKind::Delete }];
    Changes { schema: 1, paths, ..Changes::default() }
}

fn save(state: &Path, changes: &Changes, project: &Path) -> Result<(), Box<dyn Error>> {
    let limits = Limits { wait: Duration::from_secs(120), free: 0, ..Limits::DEFAULT };
    let workspace = project.display().to_string();
    let call = CallRef { cwd: workspace.clone(), workspace, ..CallRef::default() };
    let calls = Calls::new(state.to_path_buf(), limits);
    let pending = calls.look(std::slice::from_ref(changes), call)?.ok_or("nothing to save")?;
    let none = vec![false; pending.paths().len()];
    pending.save(Some(&none), SystemTime::now())?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    let status = Command::new("cp").args(["--reflink=auto", "-a"]).args([from, to]).status()?;
    if status.success() { Ok(()) } else { Err("cp failed".into()) }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let output = Command::new("git").args(arguments).current_dir(folder).output()?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into()) }
}

fn time(work: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

fn median(work: impl Fn(usize) -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let mut all = (0..5).map(|round| time(|| work(round))).collect::<Result<Vec<_>, _>>()?;
    all.sort();
    Ok(all[2])
}

fn line(out: &mut impl Write, what: &str, saving: Duration, beside: Duration) -> std::io::Result<()> {
    let (saving, beside) = (saving.as_secs_f64() * 1e3, beside.as_secs_f64() * 1e3);
    writeln!(out, "{what:<44} {saving:>6.1} ms {beside:>6.1} ms {:>6.2}", saving / beside)
}
