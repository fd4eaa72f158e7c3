//! Where a path lies, as far as rules tell places apart: in the workspace, in the user's account, in the system.
//!
//! Places are about text: links are resolved before. A path that is known in part is where its known part is; what may
//! be empty counts as empty where that would be worse.

use toolgate_shell::{Effect, Value, Why};

use super::glob::{Segment, first_wildcard, in_plain_words, without_negated};

/// A place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PathZone {
    /// `/`
    Root,
    /// `/etc`, `/usr` and what else belongs to the system, with everything below.
    System,
    /// A disk or another device under `/dev`.
    Device,
    /// A home folder as a whole, or a folder above one.
    Home,
    /// Below a home folder.
    Account,
    /// What programs keep in a home folder and make again: `~/.cache`.
    Cache,
    /// A folder for temporary files as a whole.
    TemporaryRoot,
    /// Below one.
    Temporary,
    /// For `not-in` alone: a repository below one, with its stashes and branches. No path is there.
    TemporaryRepository,
    /// The workspace as a whole, or a folder above it.
    WorkspaceRoot,
    /// Files of some names in the whole workspace.
    WorkspaceSome,
    /// Below the workspace.
    Workspace,
    /// A repository's own files in the workspace: `.git`.
    Repository,
    /// A folder of the workspace that people write in, as a whole: `src`.
    Source,
    /// A file that a build makes again: `*.o`, `node_modules`, anywhere in the workspace.
    Product,
    /// Anywhere else.
    Outside,
    /// It may be anywhere.
    Unknown,
    /// What another command finds or prints, as with `xargs`.
    Found,
}

/// Their names in rules, after `@`.
pub(crate) const PLACES: &[(&str, PathZone)] = &[
    ("root", PathZone::Root),
    ("system", PathZone::System),
    ("device", PathZone::Device),
    ("home", PathZone::Home),
    ("account", PathZone::Account),
    ("cache", PathZone::Cache),
    ("temporary-root", PathZone::TemporaryRoot),
    ("temporary", PathZone::Temporary),
    ("temporary-repository", PathZone::TemporaryRepository),
    ("workspace-root", PathZone::WorkspaceRoot),
    ("workspace-some", PathZone::WorkspaceSome),
    ("workspace", PathZone::Workspace),
    ("repository", PathZone::Repository),
    ("source", PathZone::Source),
    ("product", PathZone::Product),
    ("outside", PathZone::Outside),
    ("unknown", PathZone::Unknown),
    ("found", PathZone::Found),
];

impl PathZone {
    /// A path there, for a sentence.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            PathZone::Account => "a path in the home folder",
            PathZone::Workspace => "a path in the workspace",
            PathZone::Outside => "a path outside the workspace",
            PathZone::Unknown => "an unknown path",
            _ => self.describe(),
        }
    }

    /// Where a path is, after "is".
    pub(crate) fn describe(self) -> &'static str {
        match self {
            PathZone::Root => "the filesystem root",
            PathZone::System => "a system path",
            PathZone::Device => "a device",
            PathZone::Home => "a whole home folder",
            PathZone::Account => "in the home folder, outside the workspace",
            PathZone::Cache => "a cache",
            PathZone::TemporaryRoot => "the shared temporary folder",
            PathZone::Temporary => "a temporary file",
            PathZone::TemporaryRepository => "a temporary repository",
            PathZone::WorkspaceRoot => "the whole workspace",
            PathZone::WorkspaceSome => "every matching file in the workspace",
            PathZone::Workspace => "in the workspace",
            PathZone::Repository => "the repository's internal data",
            PathZone::Source => "a source folder of the workspace",
            PathZone::Product => "a build output",
            PathZone::Outside => "outside the workspace",
            PathZone::Unknown => "known only at run time",
            PathZone::Found => "the output of another command",
        }
    }
}

const SYSTEM: &[&str] = &[
    "/bin",
    "/boot",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/opt",
    "/proc",
    "/run",
    "/sbin",
    "/snap",
    "/srv",
    "/sys",
    "/usr",
    "/var",
    "/System",
    "/Library",
    "/Applications",
    "/private/etc",
    "/private/var",
    "/Volumes",
    "/cores",
    "/Windows",
];

const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm", "/run/user"];

/// Variables that name a folder for temporary files. `*` stands for a program's name before the rest.
const TEMPORARY_VARIABLES: &[&str] = &["TMP", "TEMP", "RUNNER_TEMP", "*TMPDIR", "*TMP_DIR", "*TEMPDIR", "*TEMP_DIR"];

fn names_temporary(variable: &str) -> bool {
    TEMPORARY_VARIABLES.iter().any(|name| match name.strip_prefix('*') {
        Some(end) => variable.strip_suffix(end).is_some_and(|start| start.is_empty() || start.ends_with('_')),
        None => variable == *name,
    })
}

/// Folders of a project that people write in, and no build fills. Removing one as a whole is removing work.
const SOURCES: &[&str] = &[
    "src",
    "app",
    "apps",
    "source",
    "sources",
    "include",
    "packages",
    "crates",
    "components",
    "cmd",
    "internal",
    "tests",
    "test",
    "spec",
    "specs",
    "migrations",
    "server",
    "client",
    "frontend",
    "backend",
    "services",
    ".github",
];

/// Folders that hold the home folders.
const HOMES: &[&str] = &["/home", "/Users"];

/// Folders of a home folder that programs fill again.
const CACHES: &[&str] = &[
    ".cache",
    "Library/Caches",
    ".npm/_cacache",
    ".npm/_npx",
    ".npm/_logs",
    ".cargo/registry",
    ".cargo/git",
    ".gradle/caches",
    ".m2/repository",
    ".ccache",
    ".sccache",
    ".nuget/packages",
    ".bun/install/cache",
    ".local/share/Trash",
    ".Trash",
    ".rustup/tmp",
    ".deno/gen",
    ".local/share/pnpm/store",
    ".pub-cache",
    "Library/Developer/Xcode/DerivedData",
    "Library/pnpm/store",
    "go/pkg/mod",
    ".node-gyp",
    ".yarn/cache",
    ".terraform.d/plugin-cache",
];

/// Devices that take whatever is written to them.
const HARMLESS: &[&str] =
    &["null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "console", "ptmx"];

/// Names of files and folders that a build, a tool or an editor makes again. `*` stands before or behind the rest.
const PRODUCTS: &[&str] = &[
    "*.pyc",
    "*.pyo",
    "*.pyd",
    "*.o",
    "*.obj",
    "*.lo",
    "*.la",
    "*.a",
    "*.so",
    "*.dylib",
    "*.class",
    "*.gch",
    "*.d",
    "*.tmp",
    "*.temp",
    "*.bak",
    "*.orig",
    "*.rej",
    "*.snap.new",
    ".#*",
    "*.swp",
    "*.swo",
    "*~",
    "*.log",
    "*.cover",
    "*.prof",
    "*.profraw",
    "*.gcda",
    "*.gcno",
    "*.gcov",
    "*.tsbuildinfo",
    "*.egg-info",
    "*.egg",
    "*.whl",
    "*.aux",
    "*.toc",
    "*.cache",
    "*.pid",
    "*.out",
    "npm-debug.log*",
    ".DS_Store",
    "Thumbs.db",
    "CMakeCache.txt",
    "CMakeFiles",
    "__pycache__",
    "node_modules",
    "dist",
    "build",
    "target",
    "coverage",
    ".coverage",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".eslintcache",
    ".nyc_output",
    ".gradle",
    ".cache",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".dart_tool",
    ".serverless",
    ".svelte-kit",
    ".terraform",
    "htmlcov",
    "core.*",
    "._*",
    "tmp",
    "out",
    "obj",
    "Debug",
    "Release",
    "Win32",
    "x64",
    "ipch",
    ".vs",
    "*.pdb",
    "*.ilk",
    "*.pch",
    "DerivedData",
    "xcuserdata",
    "*.dSYM",
    "*.beam",
    "*.hi",
    "_build",
    ".build",
    ".stack-work",
    "dist-newstyle",
    "elm-stuff",
    "bower_components",
    "bazel-*",
    "cmake-build-*",
    ".zig-cache",
    "zig-out",
    ".vite",
    ".angular",
    ".output",
    ".eggs",
];

/// Where things are for one call.
#[derive(Debug)]
pub(crate) struct Map<'a> {
    workspace: Option<&'a str>,
    /// Other names of the workspace.
    names: &'a [String],
    home: Option<&'a str>,
}

impl Map<'_> {
    /// The workspace, if there is one.
    pub(crate) fn workspace(&self) -> Option<&str> {
        self.workspace
    }

    /// The home folder, if it is known.
    pub(crate) fn home(&self) -> Option<&str> {
        self.home
    }

    /// Whether a folder is the workspace, or in it.
    pub(crate) fn holds(&self, folder: &str) -> bool {
        self.workspace.is_some_and(|workspace| workspace == folder || below(folder, workspace).is_some())
    }
}

/// Where things are once links are resolved.
#[derive(Debug)]
pub(crate) struct RealMap {
    workspace: Option<String>,
    home: Option<String>,
}

impl RealMap {
    pub(crate) fn as_map(&self) -> Map<'_> {
        Map { workspace: self.workspace.as_deref(), names: &[], home: self.home.as_deref() }
    }
}

fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// The same whatever the case of letters, as there are file systems on which `/ETC` is `/etc`. For places where more is
/// stopped than elsewhere; what is let through has to be spelled as it is.
fn below_any_case<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    path.get(..folder.len()).filter(|start| start.eq_ignore_ascii_case(folder))?;
    path.get(folder.len()..)?.strip_prefix('/')
}

/// Folders that hold a repository's own files.
pub(crate) const REPOSITORIES: &[&str] = &[".git", ".hg", ".svn", ".jj", ".bzr"];

/// Whether a folder of this name holds a repository's own files.
fn is_repository(name: &str) -> bool {
    REPOSITORIES.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Whether a glob finds such a folder. It has to say something of the name, and more than one letter, which may mean anything,
/// where it is not git's.
pub(crate) fn finds_repository(glob: &str) -> bool {
    let said = glob.chars().filter(|c| !matches!(c, '*' | '.')).count();
    let letters = glob.chars().filter(|c| c.is_alphabetic()).count();
    let meant = |name: &&&str| if **name == ".git" { said > 0 } else { letters > 1 };
    glob.starts_with('.') && REPOSITORIES.iter().filter(meant).any(|name| Segment::new(glob).fits(name))
}

/// Whether a folder is, or holds, what is no workspace.
fn is_too_much(folder: &str, home: Option<&str>) -> bool {
    folder.is_empty()
        || SYSTEM.contains(&folder)
        || HOMES.contains(&folder)
        || home.is_some_and(|home| home == folder || below(home, folder).is_some())
}

impl<'a> Map<'a> {
    /// A workspace that holds the home folder, or is it, is none: everything would be inside.
    pub(crate) fn new(workspace: &'a str, home: Option<&'a str>) -> Self {
        let clean = |path: &'a str| path.trim_end_matches('/');
        let home = home.map(clean).filter(|home| home.starts_with('/'));
        let workspace = Some(clean(workspace)).filter(|workspace| !is_too_much(workspace, home));
        Map { workspace, names: &[], home }
    }

    /// The same of a workspace that has these names as well.
    pub(crate) fn called(self, names: &'a [String]) -> Self {
        let is_too_much = |name: &String| is_too_much(name.trim_end_matches('/'), self.home);
        let workspace = self.workspace.filter(|_| !names.iter().any(is_too_much));
        Map { workspace, names, ..self }
    }

    /// A path in the workspace that has another name of it, by the one that it has here.
    fn renamed(&self, path: &str) -> Option<String> {
        if self.names.is_empty() {
            return None;
        }
        let workspace = self.workspace.filter(|workspace| path != *workspace && below(path, workspace).is_none())?;
        let names = self.names.iter().map(|name| name.trim_end_matches('/'));
        let rest =
            names.filter_map(|name| path.strip_prefix(name)).find(|rest| rest.is_empty() || rest.starts_with('/'));
        rest.map(|rest| format!("{workspace}{rest}"))
    }

    /// The same with links resolved; `None` if none are in the way.
    pub(crate) fn behind(&self, real: impl Fn(&str) -> Option<String>) -> Option<RealMap> {
        let lead = |path: Option<&str>| path.map(|path| real(path).unwrap_or_else(|| path.to_owned()));
        let (workspace, home) = (lead(self.workspace), lead(self.home));
        let workspace = workspace.filter(|workspace| !is_too_much(workspace, home.as_deref()));
        let same = workspace.as_deref() == self.workspace && home.as_deref() == self.home;
        (!same).then_some(RealMap { workspace, home })
    }

    /// The same by the one name of the workspace.
    pub(crate) fn plain(&self) -> Map<'_> {
        Map { workspace: self.workspace, names: &[], home: self.home }
    }

    /// Where an absolute path without `..` lies.
    pub(crate) fn place(&self, path: &str) -> PathZone {
        let path = path.trim_end_matches('/');
        if path.is_empty() {
            return PathZone::Root;
        }
        if let Some(home) = self.home
            && (path.eq_ignore_ascii_case(home) || below_any_case(home, path).is_some())
        {
            return PathZone::Home;
        }
        let renamed = self.renamed(path);
        let path = renamed.as_deref().unwrap_or(path);
        if let Some(workspace) = self.workspace {
            if let Some(rest) = below(path, workspace) {
                return if rest.split('/').any(is_repository) { PathZone::Repository } else { PathZone::Workspace };
            }
            if path == workspace || (below(workspace, path).is_some() && !SYSTEM.contains(&path)) {
                return PathZone::WorkspaceRoot;
            }
        }
        if let Some(rest) = self.home.and_then(|home| below(path, home)) {
            let cache = CACHES.iter().any(|cache| rest == *cache || below(rest, cache).is_some()) || is_notes(rest);
            return if cache { PathZone::Cache } else { PathZone::Account };
        }
        if TEMPORARY.contains(&path) || user_temporary(path) == Some(true) {
            return PathZone::TemporaryRoot;
        }
        if is_temporary(path) || user_temporary(path) == Some(false) {
            return PathZone::Temporary;
        }
        if let Some(name) = below_any_case(path, "/dev") {
            let harmless =
                HARMLESS.contains(&name) || ["fd/", "pts/", "tcp/", "udp/"].iter().any(|p| name.starts_with(p));
            let harmless = harmless || is_serial(name);
            return if harmless { PathZone::Temporary } else { PathZone::Device };
        }
        if path.eq_ignore_ascii_case("/dev") {
            return PathZone::Device;
        }
        for homes in HOMES {
            match below_any_case(path, homes) {
                _ if path.eq_ignore_ascii_case(homes) => return PathZone::Home,
                Some(rest) if rest.contains('/') => return PathZone::Account,
                Some(_) => return PathZone::Home,
                None => {}
            }
        }
        if path.eq_ignore_ascii_case("/root") {
            return PathZone::Home;
        }
        if below_any_case(path, "/root").is_some() {
            return PathZone::Account;
        }
        if SYSTEM.iter().any(|folder| path.eq_ignore_ascii_case(folder) || below_any_case(path, folder).is_some()) {
            return PathZone::System;
        }
        PathZone::Outside
    }

    /// Where an effect's path lies. `recursive`: everything below it is meant as well.
    pub(crate) fn of(&self, path: &Value, recursive: bool) -> PathZone {
        let renamed = self.renamed(path.text()).map(|text| match path {
            Value::Known(_) => Value::Known(text),
            Value::Pattern(_) => Value::Pattern(text),
            Value::Unknown { why, .. } => Value::Unknown { why: why.clone(), shape: text },
        });
        let path = renamed.as_ref().unwrap_or(path);
        match path {
            Value::Known(path) if recursive => match self.place(path) {
                PathZone::Workspace if self.is_source(path) => PathZone::Source,
                place => place,
            },
            Value::Known(path) => self.place(path),
            Value::Pattern(pattern) => self.pattern(pattern),
            // `{}/..` is no longer what was found.
            Value::Unknown { why: Why::Argument, shape }
                if shape.starts_with(Value::HOLE) && !shape.split('/').any(|part| part == "..") =>
            {
                PathZone::Found
            }
            Value::Unknown { why, shape }
                if why.variable().is_some_and(names_temporary)
                    && shape.starts_with(Value::HOLE)
                    && !shape.split('/').any(|part| part == "..") =>
            {
                PathZone::Temporary
            }
            // The home folder of somebody whom the text names, who may be the user.
            Value::Unknown { why: Why::Home(user), shape }
                if !user.is_empty() && shape.starts_with(Value::HOLE) && !shape.split('/').any(|part| part == "..") =>
            {
                let own = self.home.is_some_and(|home| home.rsplit('/').next() == Some(user.as_str()));
                if own { self.of(&self.at_home(shape), recursive) } else { PathZone::Outside }
            }
            // What `~` stands for is not known any more after a trap; here it is.
            Value::Unknown { why: Why::Home(user), shape } if user.is_empty() && self.home.is_some() => {
                self.of(&self.at_home(shape), recursive)
            }
            Value::Unknown { why, shape }
                if why.variable() == Some("HOME") && shape.starts_with(Value::HOLE) && self.home.is_some() =>
            {
                self.of(&self.at_home(shape), recursive)
            }
            // What the default says, or a file holds, is judged by itself.
            Value::Unknown { why: Why::Default(_) | Why::Stored(_), shape }
                if self.workspace.is_some()
                    && shape.starts_with(Value::HOLE)
                    && shape.matches(Value::HOLE).count() == 1
                    && !shape.split('/').any(|part| part == "..") =>
            {
                PathZone::Workspace
            }
            Value::Unknown { shape, .. } => self.shape(shape, recursive),
        }
    }

    /// Where an effect on another machine happens: what a build makes again is that there, too, below a folder of its own.
    pub(crate) fn elsewhere(&self, effect: &Effect) -> PathZone {
        let place = self.of(&effect.path, effect.recursive);
        let text = effect.path.text().trim_end_matches(['/', '*']);
        let (folder, name) = text.rsplit_once('/').unwrap_or(("", text));
        let own = match place {
            PathZone::Account | PathZone::Workspace | PathZone::Source | PathZone::Outside => true,
            PathZone::System => ["/opt/", "/srv/", "/var/www/"].iter().any(|above| text.starts_with(above)),
            _ => false,
        };
        if own && !folder.is_empty() && is_product(name) { PathZone::Product } else { place }
    }

    fn at_home(&self, shape: &str) -> Value {
        let home = self.home.unwrap_or_default();
        let text = shape.replacen(Value::HOLE, home, 1);
        match text.contains(Value::HOLE) {
            true => Value::Unknown { why: Why::Expansion, shape: text },
            false if text.contains(['*', '?', '[']) => Value::Pattern(text),
            false => Value::Known(toolgate_shell::absolute(&text, "/")),
        }
    }

    /// Whether a path is one of the workspace's own folders for sources.
    fn is_source(&self, path: &str) -> bool {
        self.workspace.and_then(|workspace| below(path, workspace)).is_some_and(|rest| SOURCES.contains(&rest))
    }

    /// What a glob finds lies in the folder before it; one that finds everything there stands for the folder.
    fn pattern(&self, pattern: &str) -> PathZone {
        let first = first_wildcard(pattern).unwrap_or(pattern.len());
        let (folder, rest) = pattern.split_at(pattern.get(..first).and_then(|p| p.rfind('/')).map_or(0, |at| at + 1));
        let folder = if folder == "/" { "/" } else { folder.trim_end_matches('/') };
        let everything = rest.split('/').all(|part| {
            let part = without_negated(&in_plain_words(part));
            let plain = part.trim_start_matches('.');
            !plain.is_empty() && plain.chars().all(|c| matches!(c, '*' | '?' | '.')) && plain.contains('*')
                || part.starts_with("!(") && part.ends_with(')')
                || part == "."
        });
        let around = self.place(folder);
        if everything {
            return if around == PathZone::Workspace && self.is_source(folder) { PathZone::Source } else { around };
        }
        let name = rest.rsplit('/').find(|part| !part.is_empty()).unwrap_or("");
        match around {
            // One of the folders in it.
            PathZone::Root => PathZone::System,
            PathZone::Home if !rest.contains('/') && self.home != Some(folder) => PathZone::Home,
            PathZone::Home => PathZone::Account,
            PathZone::TemporaryRoot => PathZone::Temporary,
            PathZone::WorkspaceRoot | PathZone::Workspace if is_product(name) => PathZone::Product,
            // The pattern may leave the workspace out, if it begins above it.
            PathZone::WorkspaceRoot if self.workspace == Some(folder) => match rest.split('/').next() {
                Some(first) if is_repository(first) || finds_repository(first) => PathZone::Repository,
                _ => PathZone::Workspace,
            },
            PathZone::WorkspaceRoot => PathZone::Outside,
            other => other,
        }
    }

    fn shape(&self, shape: &str, recursive: bool) -> PathZone {
        let Some(first) = shape.find(Value::HOLE) else { return self.place(shape) };
        let before = shape.get(..first).unwrap_or_default();
        let after = shape.get(first + 1..).unwrap_or_default();
        if after.split('/').any(|part| part == "..") {
            return PathZone::Unknown;
        }
        if !before.starts_with('/') {
            // `$X` may be empty: then `$X/*` is `/*`.
            let rest = after.trim_matches(['/', '*', Value::HOLE, '.']);
            let name = after.rsplit('/').next().unwrap_or("");
            return match () {
                () if rest.is_empty() || !after.starts_with('/') => PathZone::Unknown,
                () if self.place(after) == PathZone::System && after.matches('/').count() == 1 => PathZone::Unknown,
                () if is_product(name) => PathZone::Product,
                // Nobody has a tree of their own in which this is: it is meant from the root.
                () => match self.place(after) {
                    place @ (PathZone::Home | PathZone::Account | PathZone::WorkspaceRoot | PathZone::Repository) => {
                        place
                    }
                    _ => PathZone::Workspace,
                },
            };
        }
        let folder = before.rfind('/').map_or("/", |at| if at == 0 { "/" } else { &before[..at] });
        // With nothing in the place of the unknown part it is a step up.
        let name =
            before[before.rfind('/').map_or(0, |at| at + 1)..].chars().chain(after.chars().take_while(|c| *c != '/'));
        if name.filter(|c| *c != Value::HOLE).eq("..".chars()) {
            return PathZone::Unknown;
        }
        let around = self.place(folder);
        let nothing = before.ends_with('/') && after.trim_matches(['/', '*', '.', Value::HOLE]).is_empty();
        match around {
            // With nothing in the place of the unknown part it is all of it.
            PathZone::Root | PathZone::Home if nothing && recursive => around,
            PathZone::Root => PathZone::Outside,
            PathZone::Home => PathZone::Account,
            PathZone::TemporaryRoot => PathZone::Temporary,
            PathZone::WorkspaceRoot if self.workspace == Some(folder) => PathZone::Workspace,
            PathZone::WorkspaceRoot => PathZone::Outside,
            other => other,
        }
    }
}

/// Whether a path of a home folder lies in a folder in which agents keep what they noted and logged. What configures them, or
/// what they run, is elsewhere.
pub(crate) fn is_notes(path: &str) -> bool {
    const NOTES: &[&str] = &[
        ".claude/debug/",
        ".claude/logs/",
        ".claude/plans/",
        ".claude/projects/*/memory/",
        ".claude/projects/*/tmp/",
        ".claude/todos/",
        ".codex/log/",
        ".codex/logs/",
        ".codex/memories/",
        ".codex/tmp/",
        ".copilot/logs/",
        ".factory/logs/",
        ".gemini/tmp/",
        ".pi/agent/logs/",
    ];
    let parts: Vec<&str> = path.split('/').collect();
    let plain = parts.iter().all(|part| !matches!(*part, "" | "." | ".."));
    plain
        && NOTES.iter().any(|notes| {
            let folder: Vec<&str> = notes.trim_end_matches('/').split('/').collect();
            parts.len() > folder.len() && folder.iter().zip(&parts).all(|(own, part)| *own == "*" || own == part)
        })
}

/// Whether a path is the folder that macOS gives a user for temporary files or caches, as a whole: `/var/folders/zz/NAME/T`.
/// `None` for what does not lie there.
fn user_temporary(path: &str) -> Option<bool> {
    let rest = path.strip_prefix("/private").unwrap_or(path).strip_prefix("/var/folders/")?;
    let mut parts = rest.splitn(4, '/');
    let (_, _, kind) = (parts.next()?, parts.next()?, parts.next()?);
    matches!(kind, "T" | "C").then(|| parts.next().is_none_or(str::is_empty))
}

/// Whether a name below `/dev` is that of a serial line: what is written there goes to what is plugged in, and no disk.
fn is_serial(name: &str) -> bool {
    const SERIAL: &[&str] =
        &["ttyUSB", "ttyACM", "ttyAMA", "ttyS", "ttymxc", "ttyTHS", "rfcomm", "cu.", "tty.", "serial/"];
    let numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    SERIAL.iter().find_map(|start| name.strip_prefix(start)).is_some_and(numbered)
}

/// Whether a place is neither the workspace nor for temporary files.
pub(crate) fn is_elsewhere(place: PathZone) -> bool {
    matches!(
        place,
        PathZone::Root | PathZone::System | PathZone::Device | PathZone::Home | PathZone::Account | PathZone::Outside
    )
}

/// Whether a build makes a file of this name, which may be a glob, again.
pub(crate) fn is_product(name: &str) -> bool {
    let fits = |product: &str| match (product.strip_prefix('*'), product.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end) && name.len() > end.len(),
        (_, Some(start)) => name.starts_with(start) && name.len() > start.len(),
        _ => name == product,
    };
    PRODUCTS.iter().any(|product| fits(product))
}

/// Whether a path is below a folder for temporary files.
pub(crate) fn is_temporary(path: &str) -> bool {
    TEMPORARY.iter().any(|folder| below(path, folder).is_some())
}

/// Whether a path is of what a build makes again, or of what is temporary.
pub(crate) fn is_made_again(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    is_product(path.rsplit('/').next().unwrap_or(path)) || is_temporary(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    use PathZone::*;

    fn known(text: &str) -> Value {
        Value::Known(text.into())
    }

    fn glob(text: &str) -> Value {
        Value::Pattern(text.into())
    }

    #[test]
    fn paths_lie_in_places() {
        let map = Map::new("/home/dev/project", Some("/home/dev"));
        let unknown = |text: &str| Value::Unknown { why: Why::Variable("X".into()), shape: text.replace('?', "\0") };
        let cases = [
            (known("/"), Root),
            (known("/etc"), System),
            (known("/usr/local/bin/x"), System),
            (known("/dev/sda"), Device),
            (known("/dev/null"), Temporary),
            (known("/home"), Home),
            (known("/home/dev"), Home),
            (known("/home/other"), Home),
            (known("/home/other/x"), Account),
            (known("/home/dev/notes"), Account),
            (known("/home/dev/.cache"), Cache),
            (known("/home/dev/.cachex"), Account),
            (known("/home/dev/project"), WorkspaceRoot),
            (known("/home/dev/project/src/a"), Workspace),
            (known("/home/dev/project2/src"), Account),
            (known("/home/dev/project/.git/refs"), Repository),
            (known("/home/dev/project/.GIT/refs"), Repository),
            (glob("/home/dev/project/.Git/*.pack"), Repository),
            (known("/home/dev/project/.github"), Source),
            (known("/ETC/passwd"), System),
            (known("/Home/Dev"), Home),
            (known("/HOME/DEV/notes"), Account),
            (known("/home/dev/Project/src"), Account),
            (known("/TMP/x"), Outside),
            (known("/tmp"), TemporaryRoot),
            (known("/tmp/x"), Temporary),
            (known("/home/dev/.claude/plans/p.md"), Cache),
            (known("/home/dev/.claude/projects/p/memory/m.md"), Cache),
            (known("/home/dev/.claude/projects/p/memory"), Account),
            (known("/home/dev/.claude/plans"), Account),
            (known("/home/dev/.claude/settings.json"), Account),
            (known("/var/folders"), System),
            (known("/var/folders/zz/x1"), System),
            (known("/var/folders/zz/x1/T"), TemporaryRoot),
            (glob("/var/folders/zz/x1/T/*"), TemporaryRoot),
            (known("/var/folders/zz/x1/T/tmp.1"), Temporary),
            (known("/private/var/folders/zz/x1/T/tmp.1/a"), Temporary),
            (known("/private/var/folders/zz/x1/X/a"), System),
            (known("/dev/ttyUSB0"), Temporary),
            (known("/dev/cu.usbserial-1"), Temporary),
            (known("/dev/serial/by-id/x"), Temporary),
            (known("/dev/ttyUSB"), Device),
            (known("/some/path"), Outside),
            (known("/root"), Home),
            (glob("/*"), Root),
            (glob("/et*"), System),
            (glob("/home/dev/*"), Home),
            (glob("/home/dev/.*"), Home),
            (glob("/home/dev/*.md"), Account),
            (glob("/home/dev/*/x"), Account),
            (glob("/home/d*"), Home),
            (glob("/home/dev/project/*"), WorkspaceRoot),
            (glob("/home/dev/project/**"), WorkspaceRoot),
            (glob("/home/dev/project/**/*.pyc"), Product),
            (glob("/home/dev/project/*.log"), Product),
            (glob("/home/dev/project/*.md"), Workspace),
            (glob("/home/dev/project/src/*"), Source),
            (glob("/home/dev/project/src/a/*"), Workspace),
            (known("/home/dev/project/tests"), Source),
            (known("/home/dev/project/a/tests"), Workspace),
            (glob("/tmp/*"), TemporaryRoot),
            (glob("/tmp/x*"), Temporary),
            (unknown("?"), Unknown),
            (unknown("?/"), Unknown),
            (unknown("?/*"), Unknown),
            (unknown("?/etc"), Unknown),
            (unknown("?/build"), Product),
            (unknown("?/src/x"), Workspace),
            (unknown("/?"), Root),
            (unknown("/tmp/tmp.?"), Temporary),
            (unknown("/home/dev/?"), Home),
            (unknown("/home/dev/a?"), Account),
            (unknown("/home/dev/project/?"), Workspace),
            (unknown("/home/dev/project/build-?/x"), Workspace),
        ];
        for (path, expected) in cases {
            assert_eq!(map.of(&path, true), expected, "{path:?}");
        }
    }

    /// By another name of the workspace it is the same.
    #[test]
    fn a_workspace_may_have_other_names() {
        let names = ["/data/p".to_owned(), "/home/dev/project/l".to_owned()];
        let map = Map::new("/home/dev/project", Some("/home/dev")).called(&names);
        let cases = [
            (known("/data/p"), WorkspaceRoot),
            (known("/data/p/a"), Workspace),
            (known("/data/p/src"), Source),
            (known("/data/p/.git/x"), Repository),
            (glob("/data/p/*"), WorkspaceRoot),
            (glob("/data/p/*.md"), Workspace),
            (known("/data/p2/a"), Outside),
            (known("/data"), Outside),
            (known("/home/dev/project"), WorkspaceRoot),
            (known("/home/dev/project/l/a"), Workspace),
            (known("/home/dev/notes"), Account),
        ];
        for (path, expected) in cases {
            assert_eq!(map.of(&path, true), expected, "{path:?}");
        }
        // One that leads to the home folder, or above it, is none.
        for name in ["/home/dev", "/home/dev/", "/home", "/"] {
            let names = [name.to_owned()];
            let map = Map::new("/data/p", Some("/home/dev")).called(&names);
            assert_eq!((map.place("/home/dev/x"), map.place("/data/p/x")), (Account, Outside), "{name}");
        }
    }

    /// An agent that was started in the home folder has no workspace.
    #[test]
    fn a_home_folder_is_no_workspace() {
        let map = Map::new("/home/dev", Some("/home/dev"));
        assert_eq!(map.place("/home/dev/x"), Account);
        let map = Map::new("/tmp/x", Some("/home/dev"));
        assert_eq!(
            (map.place("/tmp/x/a"), map.place("/tmp/y"), map.place("/tmp")),
            (Workspace, Temporary, WorkspaceRoot)
        );
    }
}
