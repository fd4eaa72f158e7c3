//! From rule files to a gate that was started with them, as they are or last were.

use std::path::{Component, Path, PathBuf};

use serde_json::json;

use crate::capability::{Capabilities, LocalFiles};
use crate::error::CallError;
use crate::events::{Diagnostic, Level, Started};
use crate::hot_swap::HotSwap;
use crate::last_good::LastGood;
use crate::role::Gate;
use crate::rule_files::{RuleFilesError, UserFolders, project_root};
use crate::session::Session;
use crate::user_env;

/// Something that was started with rule files.
///
/// ```no_run
/// # fn example(opened: toolgate_host::Opened<toolgate_host::Gate>) {
/// println!("{}", opened.started.status);
/// for (layer, path) in opened.files.rules() {
///     println!("{layer}: {}", path.display());
/// }
/// let gate = opened.value;
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened<T> {
    /// What was started.
    pub value: T,
    /// What it said. Where a rule file counts as it last was, the diagnostics say so.
    pub started: Started,
    /// The rules that are in force: of a file that cannot be used, those that it had before.
    pub files: LocalFiles,
}

/// Why there is no gate.
///
/// ```no_run
/// # fn example(error: toolgate_host::OpenError) {
/// use toolgate_host::OpenError;
///
/// match error {
///     OpenError::Rules(_) => println!("set HOME"),
///     other => println!("{other}"),
/// }
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no telling which rules are in force.
    #[error(transparent)]
    Rules(#[from] RuleFilesError),
    /// A variable that says where the user's rules are leads into the folder that is worked in. Which one, and why.
    #[error("{0}")]
    Environment(String),
    /// The folder is no absolute path in UTF-8.
    #[error("{0} is not an absolute path in UTF-8")]
    Folder(PathBuf),
    /// The component does not start.
    #[error(transparent)]
    Start(#[from] CallError),
}

impl Gate {
    /// A gate with the rules that the command `toolgate` reads in this folder, started: those of whoever runs this program,
    /// and those of the project that the folder is in. Rules of other projects that a call's directory may be in are not read,
    /// and installed plugins are not loaded.
    ///
    /// It does what the command does with a rule file that cannot be used as a whole: its last valid version counts, which the
    /// user's state folder has. The command opens a gate for each call. One that lives longer does not see that a rule file
    /// was changed, and reads those that are there when it starts a new instance after a failure: open one anew when they
    /// change. `granted` is what the gate may reach besides files, which it always may: they are set here, and those that were
    /// granted before are not used.
    ///
    /// ```no_run
    /// # async fn example(plugin: toolgate_host::Plugin) -> Result<(), toolgate_host::OpenError> {
    /// use std::path::Path;
    /// use toolgate_host::capability::LocalLog;
    /// use toolgate_host::{Capabilities, Gate};
    ///
    /// let opened = Gate::in_folder(plugin, Path::new("/home/dev/project"), Capabilities::absent().log(LocalLog)).await?;
    /// for problem in &opened.started.diagnostics {
    ///     eprintln!("{}", problem.message);
    /// }
    /// let gate = opened.value;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the home folder is unknown, a variable that says where the user's files are leads into the project, the folder is not
    /// absolute, or the component does not start. Rule files that cannot be
    /// used are no error; `started.diagnostics` has them.
    pub async fn in_folder(
        plugin: impl Into<HotSwap>,
        folder: &Path,
        granted: Capabilities,
    ) -> Result<Opened<Gate>, OpenError> {
        let root = project_root(folder).to_string_lossy().into_owned();
        user_env::variables(&root, None).map_err(OpenError::Environment)?;
        Self::of_user(plugin, &UserFolders::of_environment()?, folder, granted).await
    }

    /// The same for a user whose folders are given.
    ///
    /// # Errors
    /// As for [`Gate::in_folder`].
    pub async fn of_user(
        plugin: impl Into<HotSwap>,
        user: &UserFolders,
        folder: &Path,
        granted: Capabilities,
    ) -> Result<Opened<Gate>, OpenError> {
        let text = |path: &Path| path.to_str().filter(|_| path.is_absolute()).map(str::to_owned);
        let named = |path: &Path| text(path).ok_or_else(|| OpenError::Folder(path.to_owned()));
        // Behind a link `..` is not what it looks like.
        let dots = folder.components().any(|part| part == Component::ParentDir);
        let folder = &if dots { folder.canonicalize().unwrap_or(folder.to_owned()) } else { folder.to_owned() };
        let root = project_root(folder);
        // Rules keep agents from what decides about them, by the name that it has and by where that leads.
        let places = [Some(user.configuration()), user.state()].into_iter().flatten();
        let mut own: Vec<PathBuf> =
            places.flat_map(|place| [Some(place.to_owned()), place.canonicalize().ok()]).flatten().collect();
        own.dedup();
        let own: Vec<&str> = own.iter().filter_map(|place| place.to_str()).collect();
        let context = json!({ "schema": 1, "own": own }).to_string();
        let session = Session::in_folder(named(folder)?).with_workspace_root(named(&root)?);
        let session = session.with_home(named(user.home())?).with_context(context);
        let slot = plugin.into();
        let copies = user.state().map(|state| LastGood::in_folder(state.join("rules")));
        let started = |files| {
            let gate = Gate::new(slot.clone(), session.clone(), granted.clone().files(files));
            async move {
                let started = gate.start().await?;
                Ok::<_, CallError>((gate, started))
            }
        };
        let mut opened = open(user.layers(&[&root, folder]), copies.as_ref(), started).await?;
        opened.started.diagnostics.extend(user.demoted(&opened.files));
        Ok(opened)
    }
}

/// Starts something with rule files, where a file that cannot be used as a whole counts as it was when it last could be.
///
/// `start` is called once; and again with copies of the files that cannot be used, as long as there are some.
///
/// ```no_run
/// # async fn example(plugin: toolgate_host::Plugin) -> Result<(), Box<dyn std::error::Error>> {
/// use toolgate_host::rule_files::UserFolders;
/// use toolgate_host::{Capabilities, Gate, Session, open};
///
/// let files = UserFolders::of_environment()?.layers(&["/home/dev/project".as_ref()]);
/// let opened = open(files, None, |files| {
///     let gate = Gate::new(plugin.clone(), Session::in_folder("/home/dev/project"), Capabilities::denied().files(files));
///     async move {
///         let started = gate.start().await?;
///         Ok::<_, toolgate_host::CallError>((gate, started))
///     }
/// })
/// .await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of `start`.
pub async fn open<T, E, F>(
    files: LocalFiles,
    copies: Option<&LastGood>,
    start: impl Fn(LocalFiles) -> F,
) -> Result<Opened<T>, E>
where
    F: Future<Output = Result<(T, Started), E>>,
{
    let Some(copies) = copies else {
        let (value, started) = start(files.clone()).await?;
        return Ok(Opened { value, started, files });
    };
    let files = files.remembering();
    let (value, started) = start(files.clone()).await?;
    let first = Opened { value, started, files };
    let broken = broken(&first.started);
    for (path, content) in first.files.handed_over() {
        if !broken.contains(&path)
            && let Err(error) = copies.keep(&path, &content)
        {
            tracing::warn!(%error, "the rule file could not be copied");
        }
    }
    if broken.is_empty() { Ok(first) } else { mend(first, &broken, copies, start).await }
}

/// Starts once more, with copies of the files that cannot be used.
async fn mend<T, E, F>(
    first: Opened<T>,
    broken: &[PathBuf],
    copies: &LastGood,
    start: impl Fn(LocalFiles) -> F,
) -> Result<Opened<T>, E>
where
    F: Future<Output = Result<(T, Started), E>>,
{
    let found: Vec<_> = broken.iter().map(|path| (path, copies.content(path))).collect();
    let mut copies: Vec<(&PathBuf, &Vec<u8>)> =
        found.iter().filter_map(|(path, copy)| Some((*path, copy.as_ref().ok()?.as_ref()?))).collect();
    let mut second = None;
    while second.is_none() && !copies.is_empty() {
        let files =
            copies.iter().fold(first.files.clone(), |files, (path, copy)| files.instead(*path, (*copy).clone()));
        let (value, started) = start(files.clone()).await?;
        let still = self::broken(&started);
        let all = copies.len();
        copies.retain(|(path, _)| !still.contains(path));
        if copies.len() == all {
            second = Some(Opened { value, started, files });
        }
    }
    let mut diagnostics = first.started.diagnostics;
    for diagnostic in &mut diagnostics {
        let Some(path) = severe(diagnostic) else { continue };
        let refused = found.iter().find(|(broken, _)| **broken == path).and_then(|(_, copy)| copy.as_ref().err());
        diagnostic.message += &match refused {
            _ if copies.iter().any(|(copied, _)| **copied == path) => "; its last valid version is active".into(),
            Some(error) => {
                format!("; its rules are inactive, because the last valid version cannot be used: {error}")
            }
            None => "; its rules are inactive".to_owned(),
        };
    }
    let Some(second) = second else {
        let started = Started { status: first.started.status, diagnostics };
        return Ok(Opened { started, ..first });
    };
    for mut diagnostic in second.started.diagnostics {
        let copied = |file: &String| copies.iter().any(|(path, _)| **path == Path::new(file));
        if diagnostic.file.as_ref().is_some_and(copied) {
            diagnostic.message = format!("in the last valid version: {}", diagnostic.message);
            diagnostics.push(diagnostic);
        }
    }
    let started = Started { status: second.started.status, diagnostics };
    Ok(Opened { value: second.value, started, files: second.files })
}

/// The rule file of which this says that nothing of it can be used.
fn severe(diagnostic: &Diagnostic) -> Option<PathBuf> {
    diagnostic.file.as_ref().filter(|_| diagnostic.level == Level::Error).map(PathBuf::from)
}

fn broken(started: &Started) -> Vec<PathBuf> {
    started.diagnostics.iter().filter_map(severe).collect()
}
