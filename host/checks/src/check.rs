//! `fullCheck`: from a list of files to a report.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::detect;
use crate::plain::plain;
use crate::project::Project;
use crate::protocol::Report;
use crate::report::{Outcome, Status};
use crate::residents::{Make, Resident, Residents};
use crate::text::{Checks, NAME};
use crate::tools::{ALL, Job, Kind};
use crate::trust::Trust;

/// Most files of a check.
const FILES: usize = 200;

/// Most names in a request. Beyond [`FILES`] they are only looked at.
const NAMES: usize = 2000;

/// Most tools at once, whoever asked for how many.
const TOOLS: usize = 16;

/// What language servers leave of the time for all, so that what they found by then is told.
const REPORT_RESERVE: Duration = Duration::from_millis(200);

/// Tools that are the compiler behind a language server: of the files that they looked at it has nothing more to say.
const COMPILERS: &[&str] = &["tsc"];

/// How long loading may take before the first check.
const WARM_UP_TIMEOUT: Duration = Duration::from_secs(60);

/// What checks, for one project.
pub(crate) struct Checker {
    root: PathBuf,
    trust: Option<Trust>,
    slots: Arc<Semaphore>,
    residents: Residents,
}

/// What a client wants, each value within its bounds: `config`, and beside it `limitMs` for the whole request.
#[derive(Clone, Debug, PartialEq)]
struct Wanted {
    prettier: bool,
    linters: bool,
    lsp: bool,
    tsc: bool,
    lsp_delay: Duration,
    /// How long language servers may take, beside the time in which they have to be quiet.
    lsp_limit: Duration,
    concurrency: usize,
    prettier_limit: Duration,
    linter_limit: Duration,
    tsc_limit: Duration,
    /// For all together.
    limit: Duration,
}

impl Wanted {
    fn new(params: &Value) -> Self {
        let config = params.get("config").unwrap_or(&Value::Null);
        let on = |key: &str| config.get(key) == Some(&Value::Bool(true));
        let number = |of: &Value, key: &str, usual: f64, least: f64, most: f64| {
            of.get(key).and_then(Value::as_f64).unwrap_or(usual).clamp(least, most)
        };
        let time = |of, key, usual, least, most| Duration::from_secs_f64(number(of, key, usual, least, most) / 1000.0);
        let limit = |of, key, usual| time(of, key, usual, 1000.0, 120_000.0);
        Wanted {
            prettier: on("prettier"),
            linters: on("linters"),
            lsp: on("lsp"),
            tsc: on("tsc"),
            lsp_delay: time(config, "lspDelayMs", 1000.0, 0.0, 30_000.0),
            lsp_limit: limit(config, "lspTimeoutMs", 10_000.0),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 1 to 16")]
            concurrency: number(config, "maxConcurrency", 4.0, 1.0, 16.0) as usize,
            prettier_limit: limit(config, "prettierTimeoutMs", 15_000.0),
            linter_limit: limit(config, "linterTimeoutMs", 15_000.0),
            tsc_limit: limit(config, "tscTimeoutMs", 30_000.0),
            limit: limit(params, "limitMs", 60_000.0),
        }
    }

    fn kinds(&self) -> [(Kind, bool, Duration); 3] {
        [
            (Kind::Formatter, self.prettier, self.prettier_limit.min(self.limit)),
            (Kind::Linter, self.linters, self.linter_limit.min(self.limit)),
            (Kind::Types, self.tsc, self.tsc_limit.min(self.limit)),
        ]
    }
}

impl Checker {
    pub(crate) fn new(root: PathBuf, trust: Option<Trust>, residents: Make) -> Self {
        Checker { root, trust, slots: Arc::new(Semaphore::new(TOOLS)), residents: Residents::new(residents) }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Loads what the first check will need.
    pub(crate) async fn warm(&self) {
        let project = self.project().await;
        for resident in self.residents.of(&project).await {
            resident.warm(WARM_UP_TIMEOUT).await;
        }
    }

    /// Ends what keeps running and was not asked for so long.
    pub(crate) async fn stop_idle(&self, idle: Duration) {
        self.residents.stop_idle(idle).await;
    }

    /// Ends what keeps running.
    pub(crate) async fn stop(&self) {
        self.residents.stop().await;
    }

    /// Whether the project is trusted, what stays loaded, and the tools that are known.
    pub(crate) async fn status(&self) -> Value {
        let mut tools: Vec<&str> = ALL.iter().map(|tool| tool.name).collect();
        tools.sort_unstable();
        tools.dedup();
        json!({ "trusted": self.project().await.trusted, "servers": self.residents.running().await, "tools": tools })
    }

    /// The project as it is now: trust may have been given or taken since the last check.
    async fn project(&self) -> Project {
        let (trust, root) = (self.trust.clone(), self.root.clone());
        let check = move || trust.map(|trust| trust.check(&root).inspect_err(|why| tracing::debug!("{why}")));
        let trusted = matches!(tokio::task::spawn_blocking(check).await, Ok(Some(Ok(()))));
        Project { root: self.root.clone(), trusted }
    }

    /// Checks files, and says what came of it.
    pub(crate) async fn full_check(&self, params: &Value) -> Report {
        let started = Instant::now();
        let given = params.get("files").unwrap_or(&Value::Null);
        let name = |name: &Value| name.as_str().map(str::to_owned);
        let names: Option<Vec<String>> = given.as_array().and_then(|names| names.iter().map(name).collect());
        let Some(names) = names.filter(|names| !names.is_empty()) else {
            return Report::refused("Missing or empty 'files' parameter.", given);
        };
        if names.len() > NAMES {
            return Report::refused(format!("Too many files: {}, at most {NAMES}.", names.len()), &Value::Null);
        }
        let wanted = Wanted::new(params);
        let root = self.root.clone();
        let looking = tokio::task::spawn_blocking(move || Files::new(&root, &names));
        let files = match timeout_at(started + wanted.limit, looking).await {
            Ok(Ok(Ok(files))) => files,
            Ok(Ok(Err(name))) => {
                return Report::refused(format!("Path traversal rejected: \"{}\"", plain(&name, NAME)), given);
            }
            Ok(Err(error)) => return Report::refused(format!("The check broke off: {error}"), given),
            Err(_) => return Report::refused(late("Looking for the files", wanted.limit), given),
        };
        let mut checks = self.checks(&wanted, &files.checked, started).await;
        checks.notes = files.notes;
        let mut details = checks.details(&self.root);
        let elapsed = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        details.insert("fileCount".to_owned(), files.checked.len().into());
        details.insert("durationMs".to_owned(), elapsed.into());
        Report { text: checks.text(&self.root), details: Value::Object(details), is_error: false }
    }

    /// Whatever is not done in time, counted from when the request came, is an error of its kind.
    async fn checks(&self, wanted: &Wanted, files: &[PathBuf], started: Instant) -> Checks {
        let mut checks = Checks::default();
        if files.is_empty() {
            return checks;
        }
        let project = self.project().await;
        let end = started + wanted.limit;
        // Ending the old ones, after the user trusted the project or no longer does, may take a while.
        let residents = timeout_at(end, self.residents.of(&project)).await.unwrap_or_default();
        let slots = [Arc::new(Semaphore::new(wanted.concurrency)), Arc::clone(&self.slots)];
        let mut running = Running::default();
        // Files that a compiler looks at, each list with whether it has looked at all of them.
        let mut compiled: Vec<(Vec<PathBuf>, oneshot::Receiver<bool>)> = Vec::new();
        for (kind, _, limit) in wanted.kinds().into_iter().filter(|(_, on, _)| *on) {
            let Ok((jobs, notes)) = timeout_at(started + limit, jobs(&project, kind, files)).await else {
                checks.add(kind, Outcome::error(late("looking for tools", limit)));
                continue;
            };
            checks.add(kind, Outcome { notes, ..Outcome::default() });
            for job in jobs {
                let (slots, residents) = (slots.clone(), residents.clone());
                let files = job.files.clone();
                let (told, tells) = oneshot::channel();
                if COMPILERS.contains(&job.tool.name) {
                    compiled.push((files.clone(), tells));
                }
                running.start((kind, job.tool.name), &files, (started, limit), async move {
                    let all = job.files.len();
                    let outcome = in_turn(slots, || async move { run(&residents, &job, limit).await }).await;
                    let is_sound = matches!(outcome.status, Status::Clean | Status::Issues);
                    // Nobody may be waiting for it.
                    let _ = told.send(is_sound && outcome.files >= all);
                    outcome
                });
            }
        }
        let others = files.iter().filter(|file| !compiled.iter().any(|(files, _)| files.contains(file)));
        let asked = std::iter::once((others.cloned().collect(), None));
        let asked = asked.chain(compiled.into_iter().map(|(files, tells)| (files, Some(tells))));
        for (files, tells) in asked.filter(|(files, _): &(Vec<PathBuf>, _)| wanted.lsp && !files.is_empty()) {
            let (slots, residents) = (slots.clone(), residents.clone());
            let (settle, limit) = (wanted.lsp_delay, wanted.lsp_limit);
            running.start((Kind::Server, "lsp"), &files.clone(), (started, wanted.limit), async move {
                if let Some(tells) = tells
                    && tells.await.unwrap_or(false)
                {
                    return Outcome::default();
                }
                let left = || end.saturating_duration_since(Instant::now()).saturating_sub(REPORT_RESERVE);
                let diagnostics = || async {
                    let mut whole = Outcome::default();
                    for resident in &residents {
                        let said = resident.diagnostics(&files, settle, limit.min(left())).await;
                        whole = whole.and(said.unwrap_or_default());
                    }
                    whole
                };
                in_turn(slots, diagnostics).await
            });
        }
        running.collect(&mut checks).await;
        checks
    }
}

/// Checks under way, each with its kind.
#[derive(Default)]
struct Running {
    tasks: JoinSet<Outcome>,
    of: HashMap<tokio::task::Id, (Kind, Vec<PathBuf>)>,
}

impl Running {
    /// Starts one, which has so much time from that moment on.
    fn start(
        &mut self,
        (kind, name): (Kind, &'static str),
        files: &[PathBuf],
        (since, limit): (Instant, Duration),
        check: impl Future<Output = Outcome> + Send + 'static,
    ) {
        let task = self.tasks.spawn(async move {
            timeout_at(since + limit, check).await.unwrap_or_else(|_| Outcome::error(late(name, limit)))
        });
        self.of.insert(task.id(), (kind, files.to_vec()));
    }

    /// Waits for all of them.
    async fn collect(mut self, checks: &mut Checks) {
        let mut seen = HashMap::<Kind, HashSet<PathBuf>>::new();
        while let Some(ended) = self.tasks.join_next_with_id().await {
            let (id, outcome) = match ended {
                Ok(ended) => ended,
                // A panic is a mistake of ours. The other checks stand.
                Err(error) => (error.id(), Outcome::error(format!("a check broke off: {error}"))),
            };
            let Some((kind, files)) = self.of.remove(&id) else { continue };
            seen.entry(kind).or_default().extend(files.into_iter().take(outcome.files));
            checks.add(kind, outcome);
        }
        for (kind, files) in seen {
            checks.part(kind).files = files.len();
        }
    }
}

fn late(what: &str, limit: Duration) -> String {
    format!("{what} took longer than {} ms", limit.as_millis())
}

/// Does something when it is its turn, in the check and in the daemon.
async fn in_turn<F: Future>([own, all]: [Arc<Semaphore>; 2], doing: impl FnOnce() -> F) -> F::Output {
    // Neither is ever closed.
    let _own = own.acquire().await;
    let _all = all.acquire().await;
    doing().await
}

/// Does a job: by what stays loaded, else by starting the tool.
async fn run(residents: &[Arc<dyn Resident>], job: &Job, limit: Duration) -> Outcome {
    for resident in residents {
        if let Some(outcome) = resident.run(job, limit).await {
            return outcome;
        }
    }
    job.run(limit).await
}

/// Looks for tools, where looking keeps nobody waiting.
async fn jobs(project: &Project, kind: Kind, files: &[PathBuf]) -> (Vec<Job>, Vec<String>) {
    let tools: Vec<_> = ALL.iter().filter(|tool| tool.kind == kind).copied().collect();
    let (project, files) = (project.clone(), files.to_vec());
    let looked = tokio::task::spawn_blocking(move || detect::jobs(&project, &tools, &files)).await;
    looked.unwrap_or_else(|error| (Vec::new(), vec![format!("looking for tools broke off: {error}")]))
}

/// The files of a check.
#[derive(Debug, Default, PartialEq)]
struct Files {
    /// Absolute, links resolved, regular files inside the root, each once.
    checked: Vec<PathBuf>,
    /// What became of the others.
    notes: Vec<String>,
}

impl Files {
    /// Sorts out what was asked for.
    ///
    /// # Errors
    /// The first name that leads out of the root.
    fn new(root: &Path, names: &[String]) -> Result<Self, String> {
        let mut files = Files::default();
        for name in names {
            let path = real(&root.join(name)).filter(|path| path.starts_with(root) && path != root);
            let path = path.ok_or_else(|| name.clone())?;
            let shown = || plain(&path.strip_prefix(root).unwrap_or(&path).to_string_lossy(), NAME);
            if files.checked.contains(&path) {
                continue;
            }
            match path.metadata() {
                // Tools name files one a line, and in messages.
                Ok(found) if found.is_file() && path.to_string_lossy().chars().any(char::is_control) => {
                    files.notes.push(format!("{}: not checked: its name has control characters", shown()));
                }
                Ok(found) if found.is_file() && files.checked.len() < FILES => files.checked.push(path),
                Ok(found) if found.is_file() => files.notes.push(format!("{}: not checked: too many files", shown())),
                Ok(_) => files.notes.push(format!("{}: not checked: not a regular file", shown())),
                Err(_) => files.notes.push(format!("{}: not checked: it no longer exists", shown())),
            }
        }
        Ok(files)
    }
}

/// A path with its links resolved, also of a file that is not there. None if it cannot be said where it would be.
fn real(path: &Path) -> Option<PathBuf> {
    let exists = |path: &&Path| path.symlink_metadata().is_ok();
    let there = path.ancestors().find(exists)?;
    // A link that leads nowhere may lead anywhere as soon as there is something.
    let real = there.canonicalize().ok()?;
    let missing = path.strip_prefix(there).ok()?;
    let named = missing.components().all(|part| matches!(part, Component::Normal(_)));
    named.then(|| if missing.as_os_str().is_empty() { real.clone() } else { real.join(missing) })
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;
    use crate::report::Status;

    /// A compiler that ends as the file `plan` of the project says, and a language server that looks at whatever it is
    /// asked about.
    struct Planned;

    #[async_trait]
    impl Resident for Planned {
        async fn run(&self, job: &Job, _limit: Duration) -> Option<Outcome> {
            let files = job.files.len();
            Some(match std::fs::read_to_string(job.home.join("plan")).expect("a plan").as_str() {
                "clean" => Outcome::found(Vec::new(), files),
                "issues" => Outcome { status: Status::Issues, ..Outcome::found(Vec::new(), files) },
                "some" => Outcome::found(Vec::new(), files - 1),
                "fails" => Outcome { files, ..Outcome::error("tsc failed") },
                "skips" => Outcome::skipped("tsc: tsconfig.json does not include the files"),
                "late" => std::future::pending().await,
                plan => panic!("{plan} is no plan"),
            })
        }

        async fn diagnostics(&self, files: &[PathBuf], _settle: Duration, _limit: Duration) -> Option<Outcome> {
            Some(Outcome::found(Vec::new(), files.len()))
        }

        async fn warm(&self, _limit: Duration) {}

        fn running(&self) -> Vec<String> {
            Vec::new()
        }

        async fn stop_idle(&self, _idle: Duration) {}

        async fn stop(&self) {}
    }

    #[tokio::test(start_paused = true)]
    async fn a_language_server_is_not_asked_about_what_its_compiler_has_looked_at() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let root = scratch.path().canonicalize().expect("real").join("project");
        std::fs::create_dir_all(root.join("node_modules/.bin")).expect("a folder");
        let files = ["a.ts", "b.ts", "c.py"].map(|name| root.join(name));
        for file in files.iter().chain(&[root.join("tsconfig.json"), root.join("node_modules/.bin/tsc")]) {
            std::fs::write(file, "").expect("a file");
        }
        let trust = Trust::at(&scratch.path().join("state/list.json"));
        trust.add(&root).expect("the user's own");
        let checker = Checker::new(root.clone(), Some(trust), |_| vec![Arc::new(Planned)]);
        // What becomes of the compiler, and about how many of the files the language servers are asked.
        let cases =
            [("clean", 1), ("issues", 1), ("some", 3), ("fails", 3), ("skips", 3), ("late", 3), ("not wanted", 3)];
        for (plan, expected) in cases {
            std::fs::write(root.join("plan"), plan).expect("a plan");
            let wanted = json!({ "config": { "lsp": true, "tsc": plan != "not wanted", "tscTimeoutMs": 2000 } });
            let checks = checker.checks(&Wanted::new(&wanted), &files, Instant::now()).await;
            assert_eq!((checks.lsp.files, checks.lsp.status), (expected, Status::Clean), "{plan}: {checks:?}");
        }
    }

    #[test]
    fn only_files_inside_the_root_are_checked() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let base = scratch.path().canonicalize().expect("real");
        let root = base.join("root");
        std::fs::create_dir_all(root.join("src")).expect("a folder");
        std::fs::create_dir(base.join("root2")).expect("a folder");
        for file in ["root/src/a.ts", "root/b\nc.ts", "root2/x.ts"] {
            std::fs::write(base.join(file), "").expect("a file");
        }
        for (target, name) in
            [("src/a.ts", "in"), ("../root2/x.ts", "out"), ("../none", "nowhere"), ("../root2", "dir")]
        {
            std::os::unix::fs::symlink(target, root.join(name)).expect("a link");
        }
        let absolute = root.join("src/a.ts");
        let cases = [
            ("src/a.ts", Some("src/a.ts")),
            (absolute.to_str().expect("text"), Some("src/a.ts")),
            ("src/../src/./a.ts", Some("src/a.ts")),
            ("in", Some("src/a.ts")),
            ("src/none.ts", Some("src/none.ts: not checked: it no longer exists")),
            ("none/deep/none.ts", Some("none/deep/none.ts: not checked: it no longer exists")),
            ("src", Some("src: not checked: not a regular file")),
            ("b\nc.ts", Some("b\\nc.ts: not checked: its name has control characters")),
            ("/etc/passwd", None),
            ("../root2/x.ts", None),
            ("none/../../root2/x.ts", None),
            ("out", None),
            ("nowhere", None),
            ("dir/x.ts", None),
            ("dir/none.ts", None),
            (".", None),
            ("", None),
            ("src/a\0.ts", Some("src/a\\u{0}.ts: not checked: it no longer exists")),
        ];
        for (name, expected) in cases {
            let found = Files::new(&root, &[name.to_owned()]).ok().map(|files| {
                let checked =
                    files.checked.iter().map(|path| path.strip_prefix(&root).expect("inside").display().to_string());
                checked.chain(files.notes).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found.as_deref(), expected, "{name:?}");
        }
        let files = Files::new(&root, &["in".to_owned(), "src/a.ts".to_owned()]).expect("both are inside");
        assert_eq!(files.checked.len(), 1, "each once");
    }

    #[test]
    fn wishes_are_bounded() {
        let wanted = |config: Value| Wanted::new(&json!({ "config": config }));
        let usual = wanted(json!({}));
        assert!(!usual.prettier && !usual.linters && !usual.lsp && !usual.tsc);
        assert_eq!((usual.concurrency, usual.linter_limit.as_millis()), (4, 15_000));
        let cases = [
            (json!(0), 1, 1000),
            (json!(-5), 1, 1000),
            (json!(3000), 16, 3000),
            (json!(1e300), 16, 120_000),
            (json!("9"), 4, 15_000),
            (json!(null), 4, 15_000),
        ];
        for (value, concurrency, limit) in cases {
            let wanted =
                wanted(json!({ "maxConcurrency": value, "linterTimeoutMs": value, "linters": 1, "lsp": true }));
            assert_eq!((wanted.concurrency, wanted.linter_limit.as_millis()), (concurrency, limit), "{value}");
            assert!(!wanted.linters && wanted.lsp);
        }
        for (limit, expected) in [(json!(1), 1000), (json!(5000), 5000), (json!(1e9), 120_000), (json!(null), 60_000)] {
            let wanted = Wanted::new(&json!({ "limitMs": limit, "config": { "tscTimeoutMs": 90_000 } }));
            assert_eq!(wanted.limit.as_millis(), expected);
            assert_eq!(wanted.kinds()[2].2.as_millis(), expected.min(90_000), "no check may take longer");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_fails_or_is_late_is_told_of_its_own_kind() {
        let mut running = Running::default();
        let (now, limit) = (Instant::now(), Duration::from_secs(2));
        let files = ["/p/a".into(), "/p/b".into()];
        running.start((Kind::Formatter, "slow"), &files, (now, limit), std::future::pending());
        running.start((Kind::Types, "broken"), &files, (now, limit), async { panic!("on purpose") });
        // One that looks at both files, and one that looks at one of them and another.
        running.start((Kind::Linter, "good"), &files, (now, limit), async { Outcome::found(Vec::new(), 2) });
        let files = ["/p/b".into(), "/p/c".into()];
        running.start((Kind::Linter, "other"), &files, (now, limit), async { Outcome::found(Vec::new(), 2) });
        let mut checks = Checks::default();
        running.collect(&mut checks).await;
        assert_eq!(checks.prettier, Outcome::error("slow took longer than 2000 ms"));
        assert_eq!((checks.tsc.status, checks.linters.status), (Status::Error, Status::Clean));
        assert_eq!(checks.linters.files, 3, "each once");
        assert_eq!(now.elapsed(), limit);
    }
}
