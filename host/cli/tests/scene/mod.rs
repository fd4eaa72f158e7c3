//! A home of its own for the command, so that nobody's rules are in force.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs the command in a home of its own, so that nobody's rules are in force.
pub(crate) struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let scene = Scene { folder: tempfile::tempdir().expect("a scratch folder") };
        std::fs::create_dir_all(scene.at("home/project/.git")).expect("a project");
        scene
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        // Where it really is, as verdicts name what is behind links.
        self.folder.path().canonicalize().expect("a real path").join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }

    pub(crate) fn project(&self) -> String {
        self.at("home/project").display().to_string()
    }

    pub(crate) fn run_with(&self, arguments: &[&str], input: &[u8], environment: &[(&str, String)]) -> Output {
        self.start(&self.at("home/project"), arguments, input, environment)
    }

    pub(crate) fn start(
        &self,
        folder: &Path,
        arguments: &[&str],
        input: &[u8],
        environment: &[(&str, String)],
    ) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("HOME", self.at("home"))
            .env("TOOLGATE_NO_SERVE", "1")
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // A command that does not read its input to the end is no error here.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().expect("the command ends");
        writer.join().expect("the writer ends");
        output
    }
}
