//! The screens in the README and in the book are what the command prints. A screen is a block of `console` with commands, each
//! behind `$ `, and their output. They run in `/home/dev/project`, which has the files of `tests/screens`; a line `...` stands for
//! lines that are left out. With `TOOLGATE_UPDATE` set, screens that are not right are written again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a block begins and ends.
const OPEN: &str = "```console";
const CLOSE: &str = "```";

/// What stands for any lines.
const LEFT_OUT: &str = "...";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// The home folder that screens show.
const HOME: &str = "/home/dev";

/// A home folder with a project.
struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    fn new() -> Self {
        let sandbox = Sandbox { folder: tempfile::tempdir().expect("a scratch folder") };
        std::fs::create_dir_all(sandbox.home().join("project/.git")).expect("a project");
        std::fs::create_dir_all(sandbox.home().join("project/app")).expect("a folder");
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens");
        for entry in std::fs::read_dir(fixtures).expect("a folder").map(|entry| entry.expect("an entry")) {
            let text = std::fs::read_to_string(entry.path()).expect("a text");
            let text = text.replace(HOME, &sandbox.home().display().to_string());
            std::fs::write(sandbox.home().join("project").join(entry.file_name()), text).expect("written");
        }
        // What reads its output, to fold it, has to get the home folder that screens show.
        let script = "#!/bin/sh\n\"$TOOLGATE_PROGRAM\" \"$@\" 2>&1 | sed \"s#$HOME#$TOOLGATE_SHOWN#g\"\n";
        let bin = sandbox.at("bin");
        std::fs::create_dir(&bin).expect("a folder");
        std::fs::write(bin.join("toolgate"), script).expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(bin.join("toolgate"), mode).expect("a mode");
        sandbox
    }

    fn at(&self, path: &str) -> PathBuf {
        // Where it really is, as verdicts name what is behind links.
        self.folder.path().canonicalize().expect("a real path").join(path)
    }

    fn home(&self) -> PathBuf {
        self.at("home")
    }

    /// The lines that a command prints.
    fn run(&self, command: &str) -> Vec<String> {
        let path = std::env::var("PATH").expect("a path");
        let output = Command::new("bash")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(self.home().join("project"))
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", format!("{}:{path}", self.at("bin").display()))
            .env("TOOLGATE_NO_SERVE", "1")
            .env("TOOLGATE_PROGRAM", env!("CARGO_BIN_EXE_toolgate"))
            .env("TOOLGATE_SHOWN", HOME)
            .stdin(Stdio::null())
            .output()
            .expect("bash");
        String::from_utf8(output.stdout).expect("UTF-8").lines().map(|line| line.trim_end().to_owned()).collect()
    }
}

/// Whether lines are as they are shown, where some may be left out.
fn shows(shown: &[&str], lines: &[String]) -> bool {
    match shown {
        [] => lines.is_empty(),
        [LEFT_OUT, rest @ ..] => (0..=lines.len()).any(|from| shows(rest, &lines[from..])),
        [first, rest @ ..] => lines.split_first().is_some_and(|(line, lines)| first == line && shows(rest, lines)),
    }
}

/// A page with its screens as they are, and what was wrong with them.
fn checked(page: &str, run: &dyn Fn(&str) -> Vec<String>) -> (String, Vec<String>) {
    let (mut written, mut wrong) = (Vec::new(), Vec::new());
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        written.push(line.to_owned());
        if line != OPEN {
            continue;
        }
        while let Some(line) = lines.next_if(|line| *line != CLOSE) {
            written.push(line.to_owned());
            let Some(command) = line.strip_prefix("$ ") else {
                wrong.push(format!("no command: {line}"));
                continue;
            };
            let mut shown = Vec::new();
            while let Some(line) = lines.next_if(|line| *line != CLOSE && !line.starts_with("$ ")) {
                shown.push(line);
            }
            let printed = run(command);
            if shows(&shown, &printed) {
                written.extend(shown.into_iter().map(str::to_owned));
            } else {
                wrong.push(format!("$ {command}\nshown:\n{}\nprinted:\n{}", shown.join("\n"), printed.join("\n")));
                written.extend(printed);
            }
        }
    }
    (written.join("\n") + "\n", wrong)
}

/// The README and every page of the book.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let mut open = vec![root().join("docs")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            if entry.file_type().expect("a kind").is_dir() {
                open.push(entry.path());
            } else if entry.path().extension().is_some_and(|extension| extension == "md") {
                pages.push(entry.path());
            }
        }
    }
    pages
}

#[test]
fn screens_show_what_is_printed() {
    let sandbox = Sandbox::new();
    let (mut screens, mut wrong) = (0, Vec::new());
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        screens += text.lines().filter(|line| *line == OPEN).count();
        let (written, found) = checked(&text, &|command| sandbox.run(command));
        if std::env::var_os("TOOLGATE_UPDATE").is_none() {
            wrong.extend(found.iter().map(|found| format!("{}: {found}", page.display())));
        } else if !found.is_empty() {
            std::fs::write(&page, written).expect("written");
        }
    }
    assert!(screens > 5, "{screens} screens were found");
    assert!(wrong.is_empty(), "`just screens` writes them again; look at the difference:\n{}", wrong.join("\n\n"));
}

#[test]
fn a_screen_that_is_not_right_is_found() {
    let cases: &[(&[&str], bool)] = &[
        (&["a", "b", "c"], true),
        (&["...", "c"], true),
        (&["a", "..."], true),
        (&["a", "...", "c"], true),
        (&["..."], true),
        (&["a", "b", "c", "..."], true),
        (&["a", "...", "d"], false),
        (&["a", "b"], false),
        (&["a", "c"], false),
        (&[], false),
    ];
    let lines = ["a", "b", "c"].map(str::to_owned);
    for (shown, expected) in cases {
        assert_eq!(shows(shown, &lines), *expected, "{shown:?}");
    }
    let run = |command: &str| vec![format!("did {command}")];
    let page = "text\n```console\n$ x\ndid x\n$ y\nold\n```\n```sh\n$ z\n```\n";
    let (written, wrong) = checked(page, &run);
    assert_eq!(written, page.replace("old", "did y"));
    assert_eq!(wrong, ["$ y\nshown:\nold\nprinted:\ndid y"]);
    assert_eq!(checked("```console\nwhat\n```\n", &run).1, ["no command: what"]);
}
