//! Which tools a project uses for which of its files, by what is in its folders.
//!
//! Nothing is started to find out, and nothing is kept between two checks: looking is a few folder listings, and what is
//! not kept cannot be out of date.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::marker::Marker;
use crate::project::{LOCAL, Project, read_text};
use crate::tools::{Job, Tool, Untrusted};
use crate::trust::NOT_TRUSTED;

/// The jobs for these files, and sentences about tools that are asked for but cannot run.
pub(crate) fn jobs(project: &Project, tools: &[&'static Tool], files: &[PathBuf]) -> (Vec<Job>, Vec<String>) {
    let mut survey = Survey::default();
    let (mut jobs, mut notes) = (Vec::<Job>::new(), Vec::<String>::new());
    for tool in tools {
        for file in files.iter().filter(|file| tool.fits(file)) {
            let job = match survey.place(project, tool, file) {
                Detection::Nowhere => continue,
                Detection::Missing(note) => {
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                    continue;
                }
                Detection::At(job) => job,
            };
            match jobs.iter_mut().find(|one| one.same(&job)) {
                Some(one) => one.files.push(file.clone()),
                None => jobs.push(Job { files: vec![file.clone()], ..job }),
            }
        }
    }
    (jobs, notes)
}

/// What was seen of the project, so that each folder is listed and each file read once.
#[derive(Default)]
struct Survey {
    names: HashMap<PathBuf, HashSet<OsString>>,
    texts: HashMap<PathBuf, String>,
    packages: HashMap<PathBuf, Value>,
    programs: HashMap<&'static str, Option<PathBuf>>,
}

enum Detection {
    /// The tool is not used there.
    Nowhere,
    /// It is, but cannot run, for this reason.
    Missing(String),
    At(Job),
}

impl Survey {
    fn place(&mut self, project: &Project, tool: &'static Tool, file: &Path) -> Detection {
        let configured = self.nearest(project, tool.configured, file);
        let wanted = configured.is_some();
        let home = match configured {
            None if tool.always() => Some(project.root.clone()),
            None => self.nearest(project, tool.usual, file),
            found => found,
        };
        let Some(home) = home else { return Detection::Nowhere };
        if !project.trusted && !self.runs_untrusted(project, tool, file) {
            return Detection::Missing(format!("{}: {NOT_TRUSTED}", tool.name));
        }
        let own = own(project, tool, file);
        let program = own.clone().filter(|_| project.trusted).or_else(|| self.on_path(project, tool.program));
        match program {
            Some(program) => Detection::At(Job { project: project.clone(), tool, program, home, files: Vec::new() }),
            None if own.is_some() => Detection::Missing(format!("{}: {NOT_TRUSTED}", tool.name)),
            None if wanted => {
                Detection::Missing(format!("{}: the project uses it, but it is not installed", tool.name))
            }
            None => Detection::Nowhere,
        }
    }

    /// The nearest folder, beside the file or above, that has one of these.
    fn nearest(&mut self, project: &Project, markers: &[Marker], file: &Path) -> Option<PathBuf> {
        let has = |folder: &&Path| markers.iter().any(|marker| self.has(*marker, folder));
        project.folders(file).find(has).map(Path::to_path_buf)
    }

    fn runs_untrusted(&mut self, project: &Project, tool: &Tool, file: &Path) -> bool {
        match tool.untrusted {
            Untrusted::Runs => true,
            Untrusted::Bare(more) => {
                let settings = tool.configured.iter().filter(|marker| !marker.is_dependency()).chain(more);
                self.nearest(project, &settings.copied().collect::<Vec<_>>(), file).is_none()
            }
            Untrusted::Skipped => false,
        }
    }

    fn on_path(&mut self, project: &Project, program: &'static str) -> Option<PathBuf> {
        self.programs.entry(program).or_insert_with(|| project.on_path(program)).clone()
    }

    fn has(&mut self, marker: Marker, folder: &Path) -> bool {
        match marker {
            Marker::File(name) => self.names(folder).contains(OsStr::new(name)),
            Marker::Start(start) => {
                self.names(folder).iter().any(|name| name.as_encoded_bytes().starts_with(start.as_bytes()))
            }
            Marker::Section(file, section) => self.text(folder, file).lines().any(|line| opens(line, section)),
            Marker::Mention(file, words) => self.text(folder, file).contains(words),
            Marker::PackageKey(key) => self.package(folder).get(key).is_some(),
            Marker::Dependency(name) => ["dependencies", "devDependencies", "peerDependencies"]
                .iter()
                .any(|kind| self.package(folder).get(kind).and_then(|names| names.get(name)).is_some()),
        }
    }

    fn names(&mut self, folder: &Path) -> &HashSet<OsString> {
        self.names.entry(folder.to_path_buf()).or_insert_with(|| {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name()).collect()
        })
    }

    fn text(&mut self, folder: &Path, name: &str) -> &str {
        let there = self.names(folder).contains(OsStr::new(name));
        self.texts
            .entry(folder.join(name))
            .or_insert_with_key(|path| if there { read_text(path) } else { String::new() })
    }

    fn package(&mut self, folder: &Path) -> &Value {
        let text = match self.packages.contains_key(folder) {
            true => String::new(),
            false => self.text(folder, "package.json").to_owned(),
        };
        self.packages.entry(folder.to_path_buf()).or_insert_with(|| serde_json::from_str(&text).unwrap_or(Value::Null))
    }
}

/// The project's own program for this file.
fn own(project: &Project, tool: &Tool, file: &Path) -> Option<PathBuf> {
    let places = project.folders(file).flat_map(|folder| LOCAL.iter().map(move |local| folder.join(local)));
    places.map(|place| place.join(tool.program)).find(|program| program.is_file())
}

/// Whether a line opens this section or one below it: `[tool.ruff]`, `[tool.ruff.lint]`, `[mypy-tests]`.
fn opens(line: &str, section: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches('[').trim_start().strip_prefix(section);
    line.starts_with('[') && rest.is_some_and(|rest| rest.starts_with([']', '.', '-', ' ', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_found_by_their_name() {
        let cases = [
            ("[tool.ruff]", "tool.ruff", true),
            ("  [tool.ruff.lint]  # x", "tool.ruff", true),
            ("[[tool.mypy.overrides]]", "tool.mypy", true),
            ("[mypy-tests.*]", "mypy", true),
            ("[flake8]", "flake8", true),
            ("[flake8:local-plugins]", "flake8", true),
            ("[tool.ruffle]", "tool.ruff", false),
            ("tool.ruff", "tool.ruff", false),
            ("# [flake8]", "flake8", false),
        ];
        for (line, section, expected) in cases {
            assert_eq!(opens(line, section), expected, "{line}");
        }
    }

    /// Writes files; those with a program's name in a folder `bin` or `.bin` can be run.
    fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        use std::os::unix::fs::PermissionsExt;
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let root = scratch.path().canonicalize().expect("real");
        for (name, content) in files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            std::fs::write(&path, content).expect("a file");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("its mode");
        }
        (scratch, root)
    }

    /// `tool@home:program` for each job on a file, as seen from the root, and the notes.
    fn found(root: &Path, trusted: bool, file: &str) -> String {
        let project = Project { root: root.to_path_buf(), trusted };
        let (jobs, notes) = jobs(&project, crate::tools::ALL, &[root.join(file)]);
        let seen = |path: &Path| path.strip_prefix(root).map(|path| path.display().to_string()).unwrap_or_default();
        // Programs of the machine that this runs on are no part of the test.
        let own = jobs.iter().filter(|job| job.program.starts_with(root));
        let own = own.map(|job| format!("{}@{}:{}", job.tool.name, seen(&job.home), seen(&job.program)));
        own.chain(notes).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_tool_is_found_by_the_nearest_sign_and_its_program() {
        let (_scratch, root) = project(&[
            ("package.json", r#"{ "devDependencies": { "prettier": "3" }, "eslintConfig": {} }"#),
            ("node_modules/.bin/prettier", ""),
            ("node_modules/.bin/eslint", ""),
            ("a.ts", ""),
            ("none.xyz", ""),
            ("pkg/.prettierrc.json", ""),
            ("pkg/node_modules/.bin/prettier", ""),
            ("pkg/deep/a.TS", ""),
            ("py/pyproject.toml", "[tool.ruff.lint]\n"),
            ("py/.venv/bin/ruff", ""),
            ("py/a.py", ""),
            ("fmt/ruff.toml", "[format]\n"),
            ("fmt/venv/bin/ruff", ""),
            ("fmt/a.py", ""),
            ("css/.stylelintrc.yml", ""),
            ("css/node_modules/.bin/stylelint", ""),
            ("css/a.scss", ""),
            ("ed/.editorconfig", "[*]\nindent_size = 8\n"),
            ("ed/a.css", ""),
        ]);
        let untrusted =
            |tools: &[&str]| tools.iter().map(|tool| format!("{tool}: {NOT_TRUSTED}")).collect::<Vec<_>>().join(" ");
        let cases = [
            ("a.ts", "prettier@:node_modules/.bin/prettier eslint@:node_modules/.bin/eslint", untrusted(&["eslint"])),
            ("none.xyz", "", String::new()),
            (
                "pkg/deep/a.TS",
                "prettier@pkg:pkg/node_modules/.bin/prettier eslint@:node_modules/.bin/eslint",
                untrusted(&["prettier", "eslint"]),
            ),
            ("py/a.py", "ruff@py:py/.venv/bin/ruff", String::new()),
            ("fmt/a.py", "ruff@fmt:fmt/venv/bin/ruff ruff@fmt:fmt/venv/bin/ruff", String::new()),
            (
                "css/a.scss",
                "prettier@:node_modules/.bin/prettier stylelint@css:css/node_modules/.bin/stylelint",
                untrusted(&["stylelint"]),
            ),
            ("ed/a.css", "prettier@:node_modules/.bin/prettier", untrusted(&["prettier"])),
        ];
        for (file, trusted, not) in cases {
            assert_eq!(found(&root, true, file), trusted, "{file}");
            // ruff and prettier may be on the machine's own PATH.
            let said = found(&root, false, file);
            let missing = |tool: &str| said.replace(&format!("{tool}: {NOT_TRUSTED}"), "").trim().to_owned();
            let same = said == not || [missing("ruff"), missing("prettier")].contains(&not);
            assert!(same, "{file}: {said}");
        }
    }

    #[test]
    fn a_tool_that_is_asked_for_and_missing_is_named() {
        let (_scratch, root) = project(&[("css/.stylelintrc", ""), ("css/a.css", ""), ("a.css", "")]);
        let project = Project { root: root.clone(), trusted: true };
        let missing = project.on_path("stylelint").is_none();
        let note = if missing { "stylelint: the project uses it, but it is not installed" } else { "" };
        assert_eq!(found(&root, true, "css/a.css"), note);
        assert_eq!(found(&root, true, "a.css"), "");
    }

    #[test]
    fn what_is_no_text_is_no_sign() {
        let (_scratch, root) = project(&[("package.json", "{"), ("pyproject.toml/x", ""), ("a.py", ""), ("a.js", "")]);
        std::fs::write(root.join("setup.cfg"), b"\xff[flake8]\n").expect("a file");
        // It says that it is an empty file, and has no end.
        std::os::unix::fs::symlink("/proc/self/pagemap", root.join("tox.ini")).expect("a link");
        assert_eq!((found(&root, true, "a.py"), found(&root, true, "a.js")), (String::new(), String::new()));
    }
}
