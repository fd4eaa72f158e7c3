//! Permission for one call: what a person let through once.
//!
//! A grant names the rules that it lifts, the exact command or input, the tool and the directory. It is good for one
//! call, for a while, and only if it covers every rule that speaks against that call at the time of the call. It never
//! covers a failure of the gate itself (`host:...`) or what protects the gate (`builtin:self...`).
//!
//! Who may give one is not decided here: `toolgate allow` does. The store is trusted only if nobody but the user can
//! have written it; that the agent does not write it is the gate's business.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Action, Decision, Digest, Finding, ToolCall, ToolKind, Verdict};
use toolgate_names::gate_rules;
use toolgate_private::{Folder, Others, PrivateError, state_folder};

/// How long a grant may be good for at most. It is for a call that is about to be made again.
pub const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Most grants at a time. They are typed in one by one.
pub const MOST: usize = 256;

/// Largest store that is read, in bytes.
const STORE: u64 = 1 << 20;

const LOCK: &str = "allow-once.lock";

/// Why nothing is granted.
#[derive(Debug, thiserror::Error)]
pub enum PermitError {
    /// The store is not what it has to be.
    #[error(transparent)]
    Store(#[from] PrivateError),
    /// The store does not say what it should.
    #[error("{path} is not a permission store: {why}")]
    Content {
        /// The store.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// It would be good for too long, or not at all.
    #[error("a permission is good for at most {} hours", MAX_AGE.as_secs() / 3_600)]
    TooLong,
    /// There are enough already.
    #[error("there are {MOST} permissions already; revoke some")]
    TooMany,
    /// These rules cannot be lifted.
    #[error("{0} cannot be lifted by a permission")]
    NotCovered(String),
}

/// Permission for one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneTimePermit {
    /// Names it in lists and in the audit log.
    pub id: String,
    /// The rules that it lifts.
    pub rules: Vec<String>,
    /// The sha256 of the exact command, or of the input for a tool that is no shell.
    pub sha256: String,
    /// `shell` for every agent's shell, else the tool's own name.
    pub tool: String,
    /// The directory, links resolved.
    pub cwd: String,
    /// When it was given, in milliseconds since 1970.
    pub granted: u64,
    /// From when on it is good for nothing, in milliseconds since 1970.
    pub expires: u64,
    /// The command as a person may read it in a list, secrets marked. It decides nothing.
    pub shown: String,
}

impl OneTimePermit {
    /// Permission for this call.
    ///
    /// # Errors
    /// If it is for too long or for rules that cannot be lifted.
    pub fn new(call: &ToolCall, rules: Vec<String>, now: SystemTime, good_for: Duration) -> Result<Self, PermitError> {
        let text = call.command.as_ref().map_or(call.input.as_str(), |command| &command.value);
        let shown = crate::shortened(&crate::redact::redacted(text), 400);
        Self::bound(Subject::of(call), rules, shown, now, good_for)
    }

    /// Permission for what is bound so.
    pub(crate) fn bound(
        subject: Subject,
        rules: Vec<String>,
        shown: String,
        now: SystemTime,
        good_for: Duration,
    ) -> Result<Self, PermitError> {
        if good_for.is_zero() || good_for > MAX_AGE {
            return Err(PermitError::TooLong);
        }
        if let Some(rule) = rules.iter().find(|rule| !liftable(rule)) {
            return Err(PermitError::NotCovered(rule.clone()));
        }
        let (granted, expires) = (millis(now), millis(now + good_for));
        let whole = format!("{}\0{}\0{}\0{granted}", subject.sha256, subject.cwd, std::process::id());
        Ok(OneTimePermit {
            id: Digest::of(whole.as_bytes()).sha256[..8].to_owned(),
            rules,
            sha256: subject.sha256,
            tool: subject.tool,
            cwd: subject.cwd,
            granted,
            expires,
            shown,
        })
    }

    fn good(&self, now: u64) -> bool {
        // A clock that was set back does not make it good again.
        self.granted <= now && now < self.expires && self.expires - self.granted <= millis(UNIX_EPOCH + MAX_AGE)
    }
}

/// Whether a rule is one that a grant may lift.
fn liftable(rule: &str) -> bool {
    match rule.split_once(':') {
        Some(("host", _)) => false,
        Some(("builtin", name)) => gate_rules::may_be_permitted(name),
        _ => !rule.is_empty(),
    }
}

/// The rules that speak against a call, if a grant can lift them all.
///
/// # Errors
/// The first that cannot be lifted; an empty text if the verdict names none.
pub fn against(verdict: &Verdict) -> Result<Vec<String>, String> {
    if matches!(verdict.decision, Decision::Rewrite(_)) {
        return Err("a rewritten call".to_owned());
    }
    let speaks = |finding: &&Finding| finding.action != Action::Note;
    let mut rules: Vec<String> = Vec::new();
    for finding in verdict.findings.iter().filter(speaks) {
        if !liftable(&finding.rule) {
            return Err(finding.rule.clone());
        }
        if !rules.contains(&finding.rule) {
            rules.push(finding.rule.clone());
        }
    }
    if rules.is_empty() { Err(String::new()) } else { Ok(rules) }
}

/// What a grant is bound to besides its rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Subject {
    sha256: String,
    tool: String,
    pub(crate) cwd: String,
}

impl Subject {
    pub(crate) fn of(call: &ToolCall) -> Self {
        let (tool, text) = match (&call.command, call.kind) {
            // Beside the command an agent's input has what it says about it, differently each time.
            (Some(command), ToolKind::Shell) => ("shell".to_owned(), trimmed(&command.value).to_owned()),
            _ => (call.tool.clone(), ordered(&call.input)),
        };
        let cwd = Path::new(&call.cwd).canonicalize().ok().and_then(|real| real.into_os_string().into_string().ok());
        Subject { sha256: Digest::of(text.as_bytes()).sha256, tool, cwd: cwd.unwrap_or_else(|| call.cwd.clone()) }
    }
}

/// A command without the white space around it, which means nothing to a shell. Behind a backslash it does, and behind a line
/// that may be the end of a here-document.
fn trimmed(command: &str) -> &str {
    const SPACE: [char; 3] = [' ', '\t', '\n'];
    let command = command.trim_start_matches(SPACE);
    let end = command.trim_end_matches(SPACE);
    let kept = end.ends_with('\\') || end.contains("<<");
    if kept { command } else { end }
}

/// A JSON text with its keys in order: who sends them in another order means the same.
fn ordered(input: &str) -> String {
    fn sort(value: Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
                fields.sort_by(|a, b| a.0.cmp(&b.0));
                Value::Object(fields.into_iter().map(|(key, value)| (key, sort(value))).collect())
            }
            Value::Array(items) => Value::Array(items.into_iter().map(sort).collect()),
            other => other,
        }
    }
    serde_json::from_str(input).map_or_else(|_| input.to_owned(), |value| sort(value).to_string())
}

pub(crate) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Store {
    schema: u32,
    grants: Vec<OneTimePermit>,
}

/// The permissions of a user.
///
/// ```no_run
/// use std::path::Path;
/// use std::time::{Duration, SystemTime};
/// use toolgate_host::ToolCall;
/// use toolgate_host::one_time_permits::{OneTimePermit, OneTimePermits};
///
/// # fn example() -> Result<(), toolgate_host::one_time_permits::PermitError> {
/// let call = ToolCall::shell("git push --force", "/home/dev/project");
/// let grant = OneTimePermit::new(&call, vec!["git-force-push".to_owned()], SystemTime::now(), Duration::from_secs(600))?;
/// OneTimePermits::new(Path::new("/home/dev/.local/state/mine/permits.json")).add(grant, SystemTime::now())?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OneTimePermits {
    folder: PathBuf,
    name: String,
}

impl OneTimePermits {
    /// Those in this file. It need not exist.
    pub fn new(path: &Path) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        OneTimePermits { folder: path.parent().map(Path::to_path_buf).unwrap_or_default(), name }
    }

    /// Those in the user's state folder. None if there is no telling where that is.
    pub fn of_user(home: Option<&Path>) -> Option<Self> {
        Some(Self::new(&state_folder(home)?.join("allow-once.json")))
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// Uses up the grant for this call, if there is one that covers everything that speaks against it.
    ///
    /// # Errors
    /// If there may be one and the store cannot be trusted, read or written. Then nothing is granted.
    pub fn take(
        &self,
        call: &ToolCall,
        verdict: &Verdict,
        now: SystemTime,
    ) -> Result<Option<OneTimePermit>, PermitError> {
        let Ok(rules) = against(verdict) else { return Ok(None) };
        let Some(folder) = Folder::open(&self.folder)? else { return Ok(None) };
        if self.read(&folder)?.grants.is_empty() {
            return Ok(None);
        }
        let subject = Subject::of(call);
        // What was read without the lock may be gone by now.
        let _turn = folder.turn(LOCK)?;
        let mut store = self.read(&folder)?;
        let before = store.grants.len();
        let now = millis(now);
        store.grants.retain(|grant| now < grant.expires);
        let fits = |grant: &OneTimePermit| {
            grant.good(now)
                && grant.sha256 == subject.sha256
                && grant.tool == subject.tool
                && grant.cwd == subject.cwd
                && rules.iter().all(|rule| grant.rules.contains(rule))
        };
        let taken = store.grants.iter().position(fits).map(|at| store.grants.remove(at));
        if store.grants.len() != before {
            // A grant that cannot be struck off is not used: it would be good for ever.
            self.write(&folder, &store)?;
        }
        Ok(taken)
    }

    /// Adds a grant.
    ///
    /// # Errors
    /// If the store cannot be trusted, read or written, or is full.
    pub fn add(&self, grant: OneTimePermit, now: SystemTime) -> Result<(), PermitError> {
        let folder = Folder::create(&self.folder)?;
        let _turn = folder.turn(LOCK)?;
        let mut store = self.read(&folder)?;
        let now = millis(now);
        store.grants.retain(|grant| now < grant.expires);
        if store.grants.len() >= MOST {
            return Err(PermitError::TooMany);
        }
        store.grants.push(grant);
        self.write(&folder, &store)
    }

    /// The grants that are still good.
    ///
    /// # Errors
    /// If the store cannot be trusted or read.
    pub fn list(&self, now: SystemTime) -> Result<Vec<OneTimePermit>, PermitError> {
        let Some(folder) = Folder::open(&self.folder)? else { return Ok(Vec::new()) };
        let mut grants = self.read(&folder)?.grants;
        grants.retain(|grant| grant.good(millis(now)));
        Ok(grants)
    }

    /// Takes a grant back. False if there is none of this name.
    ///
    /// # Errors
    /// If the store cannot be trusted, read or written.
    pub fn revoke(&self, id: &str) -> Result<bool, PermitError> {
        let Some(folder) = Folder::open(&self.folder)? else { return Ok(false) };
        let _turn = folder.turn(LOCK)?;
        let mut store = self.read(&folder)?;
        let before = store.grants.len();
        store.grants.retain(|grant| grant.id != id);
        let found = store.grants.len() != before;
        if found {
            self.write(&folder, &store)?;
        }
        Ok(found)
    }

    fn read(&self, folder: &Folder) -> Result<Store, PermitError> {
        let Some(bytes) = folder.read(&self.name, Others::Distrust, STORE)? else {
            return Ok(Store { schema: 1, grants: Vec::new() });
        };
        let content = |why: String| PermitError::Content { path: self.path().display().to_string(), why };
        let store: Store = serde_json::from_slice(&bytes).map_err(|error| content(error.to_string()))?;
        if store.schema != 1 {
            return Err(content(format!("schema {} is unknown to this version", store.schema)));
        }
        Ok(store)
    }

    fn write(&self, folder: &Folder, store: &Store) -> Result<(), PermitError> {
        let text = serde_json::to_string_pretty(store).map_err(|error| PermitError::Content {
            path: self.path().display().to_string(),
            why: error.to_string(),
        })?;
        Ok(folder.replace(&self.name, text.as_bytes())?)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const TEN_MINUTES: Duration = Duration::from_secs(600);

    fn start() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_800_000_000)
    }

    fn verdict(rules: &[&str]) -> Verdict {
        let mut all = Verdict::block("", "");
        let one = all.findings.remove(0);
        all.findings = rules.iter().map(|rule| Finding { rule: (*rule).to_owned(), ..one.clone() }).collect();
        all
    }

    fn scene() -> (tempfile::TempDir, OneTimePermits) {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let grants = OneTimePermits::new(&scratch.path().join("toolgate/allow-once.json"));
        (scratch, grants)
    }

    fn granted(grants: &OneTimePermits, call: &ToolCall, rules: &[&str]) {
        let rules = rules.iter().map(|rule| (*rule).to_owned()).collect();
        grants.add(OneTimePermit::new(call, rules, start(), TEN_MINUTES).expect("a grant"), start()).expect("added");
    }

    #[test]
    fn a_grant_is_for_one_exact_call_once_and_for_a_while() {
        let call = || ToolCall::shell("git push -f", "/none");
        let write = |input: &str| ToolCall {
            input: input.to_owned(),
            ..ToolCall::file("Write", ToolKind::Write, "a", "/none")
        };
        let named = |name: &str| ToolCall { tool: name.to_owned(), ..call() };
        let (ab, ba) = (r#"{"a":1,"b":{"c":[2],"d":3}}"#, r#"{"b":{"d":3,"c":[2]},"a":1}"#);
        let at = |seconds: u64| start() + Duration::from_secs(seconds);
        #[rustfmt::skip]
        let cases = [
            ("itself", call(), call(), vec!["a", "b"], at(1), true),
            ("fewer rules", call(), call(), vec!["b"], at(1), true),
            ("another agent's shell", call(), named("run_shell_command"), vec!["a"], at(1), true),
            ("white space around it", call(), ToolCall::shell("\n git push -f \t\n", "/none"), vec!["a"], at(1), true),
            ("white space that is escaped", ToolCall::shell("a \\", "/none"), ToolCall::shell("a \\ ", "/none"), vec!["a"], at(1), false),
            ("the end of a here-document", ToolCall::shell("sh <<E\na\nE", "/none"), ToolCall::shell("sh <<E\na\nE ", "/none"), vec!["a"], at(1), false),
            ("another kind of space", call(), ToolCall::shell("git push -f\r", "/none"), vec!["a"], at(1), false),
            ("a byte more", call(), ToolCall::shell("git push -f;", "/none"), vec!["a"], at(1), false),
            ("a byte changed", call(), ToolCall::shell("git push -F", "/none"), vec!["a"], at(1), false),
            ("another directory", call(), ToolCall::shell("git push -f", "/none/"), vec!["a"], at(1), false),
            ("another kind of tool", call(), ToolCall { kind: ToolKind::Other, ..call() }, vec!["a"], at(1), false),
            ("one rule more", call(), call(), vec!["a", "b", "c"], at(1), false),
            ("no rule", call(), call(), vec![], at(1), false),
            ("the gate failed", call(), call(), vec!["a", "host:deadline"], at(1), false),
            ("the gate itself", call(), call(), vec!["builtin:self-settings"], at(1), false),
            ("just before it ends", call(), call(), vec!["a"], at(599), true),
            ("when it ends", call(), call(), vec!["a"], at(600), false),
            ("before it was given", call(), call(), vec!["a"], start() - Duration::from_secs(1), false),
            ("an input", write(ab), write(ab), vec!["a"], at(1), true),
            ("an input in another order", write(ab), write(ba), vec!["a"], at(1), true),
            ("another input", write(ab), write(r#"{"a":1}"#), vec!["a"], at(1), false),
            ("another tool", write(ab), ToolCall { tool: "Edit".into(), ..write(ab) }, vec!["a"], at(1), false),
        ];
        for (name, of, made, rules, now, expected) in cases {
            let (_scratch, grants) = scene();
            granted(&grants, &of, &["a", "b"]);
            let taken = grants.take(&made, &verdict(&rules), now).expect("a good store");
            assert_eq!(taken.is_some(), expected, "{name}");
            let again = grants.take(&made, &verdict(&rules), now).expect("a good store");
            assert_eq!(again, None, "{name}: a second time");
            let left = grants.list(at(1)).expect("a good store").len();
            assert_eq!(left, usize::from(!expected && now < at(600)), "{name}: what is left");
        }
    }

    #[test]
    fn a_directory_is_where_its_links_lead() {
        let (scratch, grants) = scene();
        let at = |name: &str| scratch.path().join(name).display().to_string();
        std::fs::create_dir(at("real")).expect("a folder");
        symlink("real", at("link")).expect("a link");
        granted(&grants, &ToolCall::shell("x", at("link")), &["a"]);
        let taken = grants.take(&ToolCall::shell("x", at("real")), &verdict(&["a"]), start()).expect("a good store");
        assert!(taken.is_some());
    }

    #[test]
    fn a_grant_is_used_once_however_many_ask_at_once() {
        let (_scratch, grants) = scene();
        let call = ToolCall::shell("x", "/none");
        (0..3).for_each(|_| granted(&grants, &call, &["a"]));
        let taken = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    if grants.take(&call, &verdict(&["a"]), start()).expect("a good store").is_some() {
                        taken.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(taken.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn a_store_that_others_may_have_written_grants_nothing() {
        let call = ToolCall::shell("x", "/none");
        type Damage = (&'static str, fn(&Path));
        let damage: [Damage; 7] = [
            ("open to others", |path| {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).expect("its mode");
            }),
            ("readable by others", |path| {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).expect("its mode");
            }),
            ("a link", |path| {
                std::fs::rename(path, path.with_extension("real")).expect("renamed");
                symlink(path.with_extension("real"), path).expect("a link");
            }),
            ("a second name", |path| std::fs::hard_link(path, path.with_extension("other")).expect("a name")),
            ("an open folder", |path| {
                let folder = path.parent().expect("a folder");
                std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).expect("its mode");
            }),
            ("no JSON", |path| std::fs::write(path, "grants").expect("written")),
            ("another schema", |path| std::fs::write(path, r#"{"schema":2,"grants":[]}"#).expect("written")),
        ];
        for (name, damage) in damage {
            let (_scratch, grants) = scene();
            granted(&grants, &call, &["a"]);
            damage(&grants.path());
            assert!(grants.take(&call, &verdict(&["a"]), start()).is_err(), "{name}");
            assert!(grants.list(start()).is_err(), "{name}");
        }
    }

    #[test]
    fn a_forged_grant_is_good_for_no_longer_than_any_other() {
        let (_scratch, grants) = scene();
        let call = ToolCall::shell("x", "/none");
        let mut grant = OneTimePermit::new(&call, vec!["a".into()], start(), MAX_AGE).expect("a grant");
        grant.expires += 1;
        grants.add(grant, start()).expect("added");
        assert_eq!(grants.take(&call, &verdict(&["a"]), start()).expect("a good store"), None);
    }

    #[test]
    fn what_cannot_be_granted_is_refused() {
        let call = ToolCall::shell("x", "/none");
        let new =
            |rule: &str, seconds| OneTimePermit::new(&call, vec![rule.into()], start(), Duration::from_secs(seconds));
        assert!(matches!(new("a", 0), Err(PermitError::TooLong)));
        assert!(matches!(new("a", 86_401), Err(PermitError::TooLong)));
        assert!(matches!(new("host:deadline", 1), Err(PermitError::NotCovered(_))));
        assert!(matches!(new("builtin:self", 1), Err(PermitError::NotCovered(_))));
        let (_scratch, grants) = scene();
        (0..MOST).for_each(|_| granted(&grants, &call, &["a"]));
        assert!(matches!(grants.add(new("a", 1).expect("a grant"), start()), Err(PermitError::TooMany)));
        let id = &grants.list(start()).expect("a good store")[0].id;
        assert!(grants.revoke(id).expect("a good store") && !grants.revoke("nothing").expect("a good store"));
    }
}
