//! Aliases of git: `git NAME` runs what a setting says that NAME stands for.

use super::Interpreter;
use super::path_resolution::located_at;
use super::state::ShellState;
use crate::command::Command;
use crate::facts::FileOracle as _;
use crate::program_words::ProgramWords;
use crate::wrapper::{self, ContextChange, NestedCommand, NestedKind, Times};
use toolgate_shell_syntax::path::{absolute, basename, parent};
use toolgate_shell_syntax::word::{Value, Word};

/// How many folders above the working directory are looked at for a repository.
const ABOVE: usize = 16;

impl Interpreter<'_> {
    /// What `git NAME` runs where NAME is an alias.
    pub(super) fn by_git_alias(&mut self, name: &str, words: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        if basename(name) != "git" || self.elsewhere {
            return Vec::new();
        }
        let read = ProgramWords::read_until_operand("git", words.get(1..).unwrap_or_default());
        let first = read.words().next().map(|first| first.span);
        let Some(at) = words.iter().position(|word| Some(word.span) == first) else { return Vec::new() };
        let folder = read.folder().map_or(Some("."), Word::known);
        let Some(alias) = words.get(at).and_then(Word::known).filter(|name| !wrapper::is_git_subcommand(name)) else {
            return Vec::new();
        };
        let Some(text) = self.alias_of_text(alias).or_else(|| alias_of_files(alias, folder?, state)) else {
            return Vec::new();
        };
        // It stands for no alias, as git would not come to an end.
        if text.split_whitespace().next() == Some(alias) {
            return Vec::new();
        }
        let span = words[at].span;
        let rest = words.get(at + 1..).unwrap_or_default();
        let kind = match text.trim().strip_prefix('!') {
            Some(script) => {
                let all: Vec<Word> = std::iter::once(Word::new(script, span)).chain(rest.iter().cloned()).collect();
                NestedKind::Text { text: wrapper::joined(&all), args: Vec::new() }
            }
            None => {
                let own = text.split_whitespace().map(|word| Word::new(word.trim_matches(['"', '\'']), span));
                let words = words[..at].iter().cloned().chain(own).chain(rest.iter().cloned()).collect();
                NestedKind::Command { words, more: false }
            }
        };
        vec![NestedCommand { kind, change: ContextChange { times: Times::Perhaps, ..ContextChange::default() } }]
    }

    /// An alias that the text itself sets: `git config alias.NAME TEXT`.
    fn alias_of_text(&self, alias: &str) -> Option<String> {
        let key = format!("alias.{alias}");
        let set = |command: &Command| {
            let is_config = command.program() == Some("git")
                && command.words.iter().skip(1).any(|word| word.known() == Some("config"));
            let at =
                command.words.iter().position(|word| word.known().is_some_and(|word| word.eq_ignore_ascii_case(&key)));
            command.words.get(at.filter(|_| is_config)? + 1)?.known().map(str::to_owned)
        };
        self.commands.iter().rev().find_map(set)
    }
}

/// An alias in the settings of the repository around a folder, or of the user.
fn alias_of_files(alias: &str, folder: &str, state: &ShellState) -> Option<String> {
    let here = located_at(folder, state)?;
    let own = std::iter::successors(Some(here.as_str()), |folder| parent(folder)).take(ABOVE);
    let home = state.known("HOME");
    let of_user = home.iter().flat_map(|home| [absolute(".gitconfig", home), absolute(".config/git/config", home)]);
    let mut files = own.map(|folder| repository_of(folder, state) + "/config").chain(of_user);
    files.find_map(|file| {
        let there =
            state.files.before(&file).filter(|file| !file.contains(Value::HOLE) && state.files.was_there(file))?;
        in_settings(alias, &state.files.script(&there)?)
    })
}

/// Where the repository of a folder is: in it, or where its file `.git` says. Worktrees share the settings of the first one.
fn repository_of(folder: &str, state: &ShellState) -> String {
    let own = absolute(".git", folder);
    let text = state.files.before(&own).and_then(|file| state.files.script(&file));
    match text.as_deref().and_then(|text| text.strip_prefix("gitdir:")) {
        Some(place) => {
            let place = absolute(place.trim(), folder);
            place.rsplit_once("/worktrees/").map_or(place.clone(), |(first, _)| first.to_owned())
        }
        None => own,
    }
}

/// The value of an alias among settings.
fn in_settings(alias: &str, settings: &str) -> Option<String> {
    let mut within = false;
    let mut found = None;
    for line in settings.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            within = section.trim_end_matches(']').trim().eq_ignore_ascii_case("alias");
        } else if let Some((key, value)) = line.split_once('=').filter(|_| within)
            && key.trim().eq_ignore_ascii_case(alias)
        {
            let value = value.trim();
            let bare = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
            found = Some(bare.replace("\\\"", "\"").replace("\\\\", "\\"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_found_in_settings() {
        let settings =
            "[user]\n\tname = st\n[alias]\n\tst = status -s\n\tx = \"!echo \\\"a\\\"\"\n[core]\n\tlg = log\n";
        let cases = [
            ("st", Some("status -s")),
            ("ST", Some("status -s")),
            ("x", Some("!echo \"a\"")),
            ("lg", None),
            ("name", None),
        ];
        for (alias, expected) in cases {
            assert_eq!(in_settings(alias, settings).as_deref(), expected, "{alias}");
        }
    }
}
