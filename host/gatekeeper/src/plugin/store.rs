//! What is installed: an index and the components, in a folder that is the user's alone.
//!
//! It decides who judges, so what cannot be read for certain is an error, and whoever judges blocks with it. Components are
//! named by their digests and checked against them each time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, unlinkat};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_agents::{Failure, dirs, exit};
use toolgate_host::limits::COMPONENT;
use toolgate_host::private::{Folder, Others, PrivateFile, secret_folder};
use toolgate_host::{Capability, Digest, Granted, PrivateError};

/// The version of the index that is read and written.
const SCHEMA: u32 = 1;

/// What the index is called.
const INDEX: &str = "plugins.json";

/// The folder of components beside it.
const COMPONENTS: &str = "components";

/// Longest name.
const NAME: usize = 40;

/// Names that stand for something else where a finding says who found it.
const TAKEN: [&str; 6] = [toolgate_builtin::NAME, "toolgate", "host", "builtin", "user", "project"];

/// Why the store, or something in it, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no folder for plugins.
    #[error("the home folder is unknown, so Toolgate has no folder for plugins; set HOME to an absolute path")]
    NoPlace,
    /// The store cannot be read or written.
    #[error("the installed plugins are unknown: {0}")]
    Private(#[from] PrivateError),
    /// The index makes no sense.
    #[error("{path} is damaged ({why}), so the installed plugins are unknown; move it away and add your plugins again")]
    Damaged {
        /// Where it is.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The index was written by a later version.
    #[error("{path} has the schema {schema}, which this version of Toolgate does not know; use the one that wrote it")]
    Newer {
        /// Where it is.
        path: String,
        /// The version of its form.
        schema: u64,
    },
    /// A component is not as it was added.
    #[error(
        "the plugin {name} cannot be used: {why}; run `toolgate plugin add` again, or `toolgate plugin remove {name}`"
    )]
    Component {
        /// The plugin's name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
}

/// A component as it was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The component's sha256, in hexadecimal digits.
    pub digest: String,
    /// The file that it came from, absolute. What becomes of that file does not matter any more.
    pub source: PathBuf,
    /// The capabilities that it asks for.
    pub asks: BTreeSet<Capability>,
    /// The hooks that it has, as the contract names them.
    pub hooks: Vec<String>,
    /// When it was added, in milliseconds since 1970.
    pub added: u64,
}

impl Version {
    /// What a newer version asks for that the installed one did not.
    pub fn asks_beyond(&self, before: &Installed) -> BTreeSet<Capability> {
        self.asks.difference(&before.version.asks).copied().collect()
    }
}

/// An installed plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// Unique.
    pub name: String,
    /// The version in force.
    #[serde(flatten)]
    pub version: Version,
    /// What it may do.
    pub granted: Granted,
    /// A newer version that asks for more than it was granted.
    pub held: Option<Version>,
}

impl Installed {
    /// Why it cannot be used, if it cannot.
    pub fn damage(&self, store: &Store) -> Option<String> {
        store.component(&self.name, &self.version).err().map(|error| error.to_string())
    }

    /// What tells it from every other one, and from its other versions.
    pub(crate) fn key(&self) -> String {
        format!("{}:{}", self.name, self.version.digest)
    }

    /// Whether all that it asks for was taken back, or never given.
    pub fn is_revoked(&self) -> bool {
        !self.version.asks.is_empty() && self.granted.capabilities.is_empty()
    }
}

#[derive(Serialize, Deserialize)]
struct Index {
    schema: u32,
    plugins: Vec<Installed>,
}

/// The installed plugins of whoever runs this program.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store in the user's state folder. It need not exist.
    pub fn of_user() -> Result<Self, StoreError> {
        let state = dirs::state().ok_or(StoreError::NoPlace)?;
        Ok(Store { folder: state.join("plugins") })
    }

    /// The folder of machine code made of components.
    pub(crate) fn code(&self) -> PathBuf {
        self.folder.join("code")
    }

    /// The index.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(INDEX)
    }

    fn index(&self) -> PrivateFile {
        PrivateFile::new(&self.path())
    }

    /// What is installed, in the order of names.
    pub fn list(&self) -> Result<Vec<Installed>, StoreError> {
        self.parse(self.index().read()?.as_deref())
    }

    fn parse(&self, bytes: Option<&[u8]>) -> Result<Vec<Installed>, StoreError> {
        let Some(bytes) = bytes else { return Ok(Vec::new()) };
        let path = || self.path().display().to_string();
        let damaged = |why: String| StoreError::Damaged { path: path(), why };
        let value: Value = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        match value.get("schema").and_then(Value::as_u64) {
            Some(schema) if schema == u64::from(SCHEMA) => {}
            Some(schema) => return Err(StoreError::Newer { path: path(), schema }),
            None => return Err(damaged("it has no schema".to_owned())),
        }
        let mut plugins = serde_json::from_value::<Index>(value).map_err(|error| damaged(error.to_string()))?.plugins;
        plugins.sort_by(|a, b| a.name.cmp(&b.name));
        for plugin in &plugins {
            check_name(&plugin.name).map_err(damaged)?;
            let digests = [Some(&plugin.version), plugin.held.as_ref()];
            if let Some(version) = digests.into_iter().flatten().find(|version| !is_digest(&version.digest)) {
                return Err(damaged(format!("{} is not a valid digest", version.digest)));
            }
        }
        if let Some([one, _]) = plugins.array_windows().find(|[one, next]| one.name == next.name) {
            return Err(damaged(format!("it has {} twice", one.name)));
        }
        Ok(plugins)
    }

    /// Changes what is installed, while no other process does. A change that fails changes nothing.
    pub fn update(&self, change: impl FnOnce(&mut Vec<Installed>) -> Result<(), Failure>) -> Result<(), Failure> {
        secret_folder(&self.folder).map_err(StoreError::from)?;
        let mut after = Vec::new();
        let updated = self.index().try_update(|before| -> Result<Vec<u8>, Unchanged> {
            after = self.parse(before)?;
            change(&mut after).map_err(Unchanged)?;
            let index = Index { schema: SCHEMA, plugins: after.clone() };
            serde_json::to_vec_pretty(&index).map_err(|error| Unchanged(Failure::software(error)))
        });
        updated.map_err(|Unchanged(failure)| failure)?;
        self.tidy(&after);
        Ok(())
    }

    /// Puts a component into the store.
    pub fn keep(&self, component: &[u8]) -> Result<(), StoreError> {
        secret_folder(&self.folder)?;
        let folder = Folder::create(&self.folder.join(COMPONENTS))?;
        Ok(folder.replace(&file_name(&Digest::of(component).sha256), component)?)
    }

    /// The component of an installed plugin, which is what was added, and nothing else.
    pub fn component(&self, name: &str, version: &Version) -> Result<Vec<u8>, StoreError> {
        let unusable = |why: String| StoreError::Component { name: name.to_owned(), why };
        let folder = Folder::open(&self.folder.join(COMPONENTS)).map_err(|error| unusable(error.to_string()))?;
        let read = folder.map(|folder| folder.read(&file_name(&version.digest), Others::Distrust, COMPONENT));
        let bytes = read.transpose().map_err(|error| unusable(error.to_string()))?.flatten();
        let bytes = bytes.ok_or_else(|| unusable("its component is missing".to_owned()))?;
        match Digest::of(&bytes).sha256 == version.digest {
            true => Ok(bytes),
            false => Err(unusable("its component was changed since it was added".to_owned())),
        }
    }

    /// Puts what is installed, and the code that was made of it, into another state folder.
    ///
    /// # Errors
    /// If it cannot be used, or not be written there.
    pub fn copy_to(&self, state: &Path) -> Result<(), StoreError> {
        let plugins = self.list()?;
        let Some(index) = self.index().read()?.filter(|_| !plugins.is_empty()) else { return Ok(()) };
        let copy = Store { folder: state.join("plugins") };
        for plugin in &plugins {
            copy.keep(&self.component(&plugin.name, &plugin.version)?)?;
        }
        copy.index().update(|_| index)?;
        let Some(code) = Folder::open(&self.code())? else { return Ok(()) };
        secret_folder(&copy.code())?;
        for entry in std::fs::read_dir(self.code()).into_iter().flatten().filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            // What cannot be used here is not used there either, but compiled.
            if let Ok(Some(bytes)) = code.read(&name, Others::Distrust, COMPONENT) {
                Folder::create(&copy.code())?.replace(&name, &bytes)?;
            }
        }
        Ok(())
    }

    /// Removes components that nothing needs any more. What is left over is in nobody's way.
    fn tidy(&self, plugins: &[Installed]) {
        let Ok(Some(folder)) = Folder::open(&self.folder.join(COMPONENTS)) else { return };
        let versions = plugins.iter().flat_map(|plugin| [Some(&plugin.version), plugin.held.as_ref()]).flatten();
        let needed: BTreeSet<String> = versions.map(|version| file_name(&version.digest)).collect();
        let entries = std::fs::read_dir(self.folder.join(COMPONENTS)).into_iter().flatten().filter_map(Result::ok);
        for name in entries.map(|entry| entry.file_name()) {
            if !needed.contains(&*name.to_string_lossy()) {
                let _ = unlinkat(folder.fd(), &*name, AtFlags::empty());
            }
        }
    }
}

/// An installed plugin of this name.
pub fn installed(store: &Store, name: &str) -> Result<Installed, Failure> {
    let missing = || Failure::new(exit::NO_INPUT, format!("no plugin named {name} is installed"));
    store.list()?.into_iter().find(|one| one.name == name).ok_or_else(missing)
}

/// The one that was shown, if it still is as it was then.
pub fn same<'a>(all: &'a mut [Installed], shown: &Installed) -> Result<&'a mut Installed, Failure> {
    let changed =
        || Failure::new(exit::DATA, format!("{} was changed in the meantime; nothing was changed", shown.name));
    all.iter_mut().find(|one| *one == shown).ok_or_else(changed)
}

/// The capability of this name.
///
/// # Errors
/// Which there are, as a sentence.
pub fn named(text: &str) -> Result<Capability, String> {
    let known = || Capability::ALL.map(Capability::name).join(", ");
    Capability::named(text).ok_or_else(|| format!("unknown capability; the capabilities are {}", known()))
}

/// Why the index was not changed.
struct Unchanged(Failure);

impl<T: Into<StoreError>> From<T> for Unchanged {
    fn from(error: T) -> Self {
        Unchanged(error.into().into())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let code = if matches!(error, StoreError::NoPlace) { exit::NO_INPUT } else { exit::DATA };
        Failure::new(code, error.to_string())
    }
}

fn file_name(digest: &str) -> String {
    format!("{digest}.wasm")
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Whether a plugin may have this name.
///
/// # Errors
/// Why not, as a sentence.
pub fn check_name(name: &str) -> Result<(), String> {
    let fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    if name.is_empty()
        || name.len() > NAME
        || !name.bytes().all(fit)
        || !name.starts_with(|first: char| first.is_ascii_lowercase())
    {
        return Err(format!(
            "{name:?} is not a valid plugin name: use at most {NAME} lower-case letters, digits, dashes and underscores, and \
             begin with a letter"
        ));
    }
    match TAKEN.contains(&name) {
        true => Err(format!("the name {name} is reserved for Toolgate")),
        false => Ok(()),
    }
}

/// The name that a file suggests.
pub fn suggested(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    stem.replace([' ', '.'], "-")
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn version(component: &[u8]) -> Version {
        Version {
            digest: Digest::of(component).sha256,
            source: PathBuf::from("/x.wasm"),
            asks: BTreeSet::from([Capability::Clock]),
            hooks: Vec::new(),
            added: 1,
        }
    }

    fn plugin(name: &str, component: &[u8]) -> Installed {
        Installed { name: name.to_owned(), version: version(component), granted: Granted::nothing(), held: None }
    }

    #[test]
    fn a_name_is_plain_and_not_toolgates_own() {
        let long = "a".repeat(NAME + 1);
        let cases = [
            ("kubectl", true),
            ("a-1_b", true),
            ("../x", false),
            ("a/b", false),
            ("a.b", false),
            ("", false),
            ("1a", false),
            ("-a", false),
            ("A", false),
            ("ä", false),
            (&long, false),
            ("toolgate-guard", false),
            ("host", false),
            ("builtin", false),
        ];
        for (name, fits) in cases {
            assert_eq!(check_name(name).is_ok(), fits, "{name:?}");
        }
    }

    #[test]
    fn an_index_that_is_not_certain_is_an_error() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let store = Store { folder: scratch.path().join("plugins") };
        assert_eq!(store.list().expect("none"), Vec::new());
        store
            .update(|all| {
                all.push(plugin("b", b"b"));
                all.push(plugin("a", b"a"));
                Ok(())
            })
            .expect("written");
        let names = |store: &Store| store.list().map(|all| all.into_iter().map(|one| one.name).collect::<Vec<_>>());
        assert_eq!(names(&store).expect("read"), ["a", "b"]);
        let good = std::fs::read_to_string(store.path()).expect("the index");
        let cases = [
            ("{", "is damaged"),
            ("[]", "it has no schema"),
            (&good.replace("\"schema\": 1", "\"schema\": 2"), "has the schema 2"),
            (&good.replace("\"b\"", "\"a\""), "has a twice"),
            (&good.replace("\"b\"", "\"../b\""), "is not a valid plugin name"),
            (&good.replace("clock", "root"), "unknown variant"),
            (&good.replace("\"digest\": \"", "\"digest\": \"../"), "is not a valid digest"),
        ];
        for (text, expected) in cases {
            std::fs::write(store.path(), text).expect("written");
            let error = store.list().expect_err(expected).to_string();
            assert!(error.contains(expected), "{expected}: {error}");
            let changed = store.update(|all| {
                all.clear();
                Ok(())
            });
            assert!(changed.is_err(), "{expected}");
        }
        std::fs::write(store.path(), &good).expect("written");
        std::fs::set_permissions(store.path(), std::fs::Permissions::from_mode(0o644)).expect("its mode");
        assert!(store.list().is_err(), "others may have written it");
        std::fs::write(scratch.path().join("file"), "").expect("written");
        let below = Store { folder: scratch.path().join("file/plugins") };
        assert!(below.list().is_err(), "there is a file in the place of the state folder");
    }

    #[test]
    fn a_component_is_what_was_added_or_an_error() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let store = Store { folder: scratch.path().join("plugins") };
        store.keep(b"one").expect("kept");
        let one = version(b"one");
        assert_eq!(store.component("p", &one).expect("there"), b"one");
        let path = store.folder.join(COMPONENTS).join(file_name(&one.digest));
        let said = |store: &Store| store.component("p", &one).expect_err("an error").to_string();
        std::fs::write(&path, "two").expect("written");
        assert!(said(&store).contains("was changed since it was added"));
        std::fs::remove_file(&path).expect("removed");
        assert!(said(&store).contains("its component is missing"));
        let elsewhere = scratch.path().join("elsewhere");
        std::fs::write(&elsewhere, "one").expect("written");
        symlink(&elsewhere, &path).expect("a link");
        assert!(said(&store).contains("is a symbolic link"));
        // It is replaced, and what it led to is left alone.
        store.keep(b"one").expect("kept");
        assert_eq!(store.component("p", &one).expect("there"), b"one");
        store
            .update(|all| {
                all.push(plugin("p", b"other"));
                Ok(())
            })
            .expect("written");
        assert!(!path.exists() && elsewhere.exists(), "nothing needs it any more");
    }
}
