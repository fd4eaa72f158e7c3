//! The pages of the book that are made and not written: the command line, the packs, the keys of rule files, the programs, the
//! contract. Each is Markdown without a heading of the first two levels, for `{{#include}}` in a page that introduces it.

mod commands;
mod keys;
mod packs;
mod programs;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{fragment, versions};

/// Where the pages are in the book's sources. The pages that introduce them say so.
const FOLDER: &str = "reference/generated";

/// The program whose help and rules are shown.
pub struct Program<'a> {
    path: &'a Path,
    /// An empty folder to run it in, which is its home, too, so that nobody's rules are shown.
    home: &'a Path,
}

impl<'a> Program<'a> {
    /// The program of this path, to be run in this folder.
    pub fn new(path: &'a Path, home: &'a Path) -> Self {
        Program { path, home }
    }

    /// What it prints. Its exit code says nothing here: a hook that is asked for help answers with that of a denial.
    fn output(&self, arguments: &[&str]) -> Result<String, String> {
        let failed = |why: String| format!("{} {}: {why}", self.path.display(), arguments.join(" "));
        let mut command = Command::new(self.path);
        command.args(arguments).current_dir(self.home).env_clear().env("HOME", self.home).stdin(Stdio::null());
        let output = command.output().map_err(|error| failed(error.to_string()))?;
        if output.stdout.is_empty() {
            return Err(failed(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))));
        }
        String::from_utf8(output.stdout).map_err(|_| failed("its output is not UTF-8".to_owned()))
    }
}

/// Copies the book's sources from `root` into `target`, and writes the generated pages beside them. What was in `target` before is
/// removed.
///
/// # Errors
/// A file cannot be read or written, or the program fails.
pub fn write(root: &Path, program: &Program<'_>, target: &Path) -> Result<(), String> {
    let named = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    if target.exists() {
        fs::remove_dir_all(target).map_err(|error| named(target, error))?;
    }
    copy(&root.join("docs"), target)?;
    let folder = target.join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| named(&folder, error))?;
    for (name, text) in pages(root, program)? {
        let file = folder.join(name);
        fs::write(&file, text).map_err(|error| named(&file, error))?;
    }
    Ok(())
}

/// The pages by their files' names.
///
/// # Errors
/// A file cannot be read or makes no sense, or the program fails.
pub fn pages(root: &Path, program: &Program<'_>) -> Result<Vec<(&'static str, String)>, String> {
    let read = |path: &str| {
        let path = root.join(path);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let schema = serde_json::from_str(&read("guest/rules/rules.schema.json")?)
        .map_err(|error| format!("the schema: {error}"))?;
    let rules = serde_json::from_str(&program.output(&["rules", "list", "--all", "--json"])?);
    let rules = rules.map_err(|error| format!("the rules: {error}"))?;
    Ok(vec![
        ("command-line.md", commands::page(program)?),
        ("rule-files.md", keys::page(&schema)?),
        ("packs.md", packs::page(&rules)?),
        ("programs.md", programs::page()),
        ("contract.md", fragment(&versions(&root.join("wit"))?)),
    ])
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let named = |error: std::io::Error| format!("{}: {error}", from.display());
    fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    for entry in fs::read_dir(from).map_err(named)? {
        let entry = entry.map_err(named)?;
        let target = to.join(entry.file_name());
        if entry.file_type().map_err(named)?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target).map_err(named)?;
        }
    }
    Ok(())
}

/// A text that means only itself, in a cell of a table of Markdown.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => out.push(' '),
            '\\' | '`' | '*' | '_' | '<' | '>' | '|' | '[' | ']' | '~' | '&' => out.extend(['\\', letter]),
            _ => out.push(letter),
        }
    }
    out
}

/// The same for a text of the schema, which is Markdown already: only what would end the cell.
fn prose_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// A text as code in a cell.
fn code(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('\n', " ");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_cell_ends_it_or_is_markup() {
        let cases = [
            ("plain", "plain", "`plain`"),
            ("a|b", "a\\|b", "`a\\|b`"),
            ("<file> *x* _y_", "\\<file\\> \\*x\\* \\_y\\_", "`<file> *x* _y_`"),
            ("say `ls`\nnow", "say \\`ls\\` now", "`` say `ls` now ``"),
        ];
        for (text, in_cell, as_code) in cases {
            assert_eq!(cell(text), in_cell);
            assert_eq!(code(text), as_code);
        }
    }
}
