//! Scripts written by hand for what the generator does not make, read from one data file.

/// One script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script {
    /// What it is about.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// A line of the data file that begins so opens a script; the rest of the line is its name.
const HEAD: &str = "\n#### ";

/// Every script. All are safe: they name relative paths of the scratch tree only.
pub fn all() -> Vec<Script> {
    let data = include_str!("../scripts/scripts.sh");
    let scripts = data.split(HEAD).skip(1);
    let parts = scripts.filter_map(|script| script.split_once('\n'));
    parts.map(|(name, text)| Script { name: name.trim(), text: text.trim_end_matches('\n') }).collect()
}
