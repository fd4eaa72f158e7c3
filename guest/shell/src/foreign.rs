//! Texts for shells outside the Bourne family: PowerShell, cmd, nushell and others.
//!
//! Their grammar is not read here, and the same words mean other things there: `rm a,b` removes two files in PowerShell.
//! A text passes through the reader of this crate only where both shells read it alike and run the same program, or one
//! that only reads. Every other text is cut into tokens, as a text that does not parse is.

use crate::command::{Command, Script};
use crate::facts::Facts;
use crate::powershell;
use toolgate_shell_syntax::word::{Span, Value, Word};

/// A shell outside the Bourne family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignShell {
    /// PowerShell, Windows PowerShell included.
    PowerShell,
    /// `cmd.exe` of Windows.
    Cmd,
    /// Any other, by its name.
    Other(String),
}

impl ForeignShell {
    /// The shell of this name: of a program, or as an agent's tool is called. `None` for one of the Bourne family, and for
    /// what is no shell.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
        Some(match name.strip_suffix(".exe").unwrap_or(&name) {
            "powershell" | "pwsh" | "powershell_ise" | "pwsh-preview" => ForeignShell::PowerShell,
            "cmd" => ForeignShell::Cmd,
            name @ ("elvish" | "fish" | "nu" | "oil" | "osh" | "xonsh" | "ysh") => ForeignShell::Other(name.to_owned()),
            _ => return None,
        })
    }

    /// Whether a text for this shell reads and shows things, and does nothing else.
    pub(crate) fn only_reads(&self, text: &str) -> bool {
        *self == ForeignShell::PowerShell && powershell::only_reads(text)
    }

    /// For a sentence.
    pub fn title(&self) -> &str {
        match self {
            ForeignShell::PowerShell => "PowerShell",
            ForeignShell::Cmd => "cmd",
            ForeignShell::Other(name) => name,
        }
    }
}

/// Whether a text for bash is rather one for PowerShell: a command in it has the name of a cmdlet. No program is called so, and
/// an agent's tool may have the name of another shell than the one that it runs.
pub fn looks_like_powershell(script: &Script) -> bool {
    let named = |command: &Command| {
        command.via.is_empty() && command.words.first().and_then(Word::known).is_some_and(is_cmdlet)
    };
    script.commands.iter().any(named)
}

/// The tokens of a text inside another one, as words of a command.
pub(crate) fn scanned_words(text: &Word, facts: &Facts) -> Vec<Word> {
    let span = text.span;
    let found = tokens(text.text(), facts).into_iter().flatten();
    found.map(|word| Word { span, ..word }).collect()
}

/// The same, command by command.
pub(crate) fn scanned_commands(text: &Word, facts: &Facts) -> Vec<Vec<Word>> {
    let span = text.span;
    let placed = |words: Vec<Word>| words.into_iter().map(|word| Word { span, ..word }).collect();
    tokens(text.text(), facts).into_iter().map(placed).collect()
}

/// Whether a text is one that the shells read alike, as far as its grammar goes.
pub(crate) fn is_common(text: &str) -> bool {
    let outside = || text.split('\'').step_by(2);
    text.chars().all(|c| c.is_ascii_alphanumeric() || " \n-_./:+;|'~".contains(c))
        // PowerShell doubles a quote inside quotes; bash goes on behind it.
        && !text.contains("''")
        && !outside().any(|part| part.contains("||"))
}

/// Whether fish reads a text as bash does: plain words, and none of those that mean something else there.
pub(crate) fn reads_as_fish(text: &str) -> bool {
    const WORDS: &[&str] = &[
        ".", "alias", "and", "begin", "builtin", "command", "else", "end", "eval", "exec", "for", "function", "if",
        "math", "not", "or", "psub", "set", "source", "string", "switch", "test", "while",
    ];
    let plain = |c: char| c.is_ascii_alphanumeric() || " \n-_./:+=@%,;|&'~*>".contains(c);
    let mut words = text.split([' ', '\n', ';', '|', '&']);
    text.chars().all(plain) && !words.any(|word| WORDS.contains(&word))
}

/// Whether a command that is read alike runs the same there.
pub(crate) fn means_the_same(command: &Command, shell: &ForeignShell) -> bool {
    let Some(name) = command.words.first().and_then(Word::known) else { return false };
    let name = name.to_ascii_lowercase();
    match shell {
        ForeignShell::PowerShell if READING.contains(&name.as_str()) => {
            // `Env:`, `HKLM:` and their like are no files. A drive has one letter.
            let drive = |word: &Word| word.text().split_once(':').is_some_and(|(drive, _)| drive.len() > 1);
            !command.words.iter().skip(1).any(drive)
        }
        // Any other word may be a cmdlet of a module, or a word of the shell's own, as `del /q` of cmd.
        _ => PROGRAMS.contains(&name.as_str()),
    }
}

/// Cmdlets and aliases of PowerShell that only read, and whose operands are paths or plain texts.
const READING: &[&str] = &[
    "cat",
    "dir",
    "echo",
    "format-list",
    "format-table",
    "gc",
    "gci",
    "gcm",
    "get-alias",
    "get-childitem",
    "get-command",
    "get-content",
    "get-culture",
    "get-date",
    "get-filehash",
    "get-help",
    "get-host",
    "get-item",
    "get-location",
    "get-member",
    "get-module",
    "get-process",
    "get-service",
    "gi",
    "gl",
    "gm",
    "gps",
    "gsv",
    "ls",
    "measure-object",
    "out-string",
    "ps",
    "pwd",
    "resolve-path",
    "rvpa",
    "select-object",
    "select-string",
    "sls",
    "sort-object",
    "split-path",
    "test-path",
    "type",
    "write-host",
    "write-output",
];

/// Programs that mean the same whichever shell starts them with plain words.
const PROGRAMS: &[&str] =
    &["cargo", "dotnet", "gh", "git", "go", "make", "node", "npm", "npx", "pip", "pnpm", "python", "yarn"];

/// Verbs of cmdlets that change or run something.
const VERBS: &[&str] = &[
    "add",
    "clear",
    "copy",
    "disable",
    "enable",
    "expand",
    "export",
    "import",
    "initialize",
    "install",
    "invoke",
    "move",
    "new",
    "out",
    "publish",
    "register",
    "remove",
    "rename",
    "reset",
    "resize",
    "restart",
    "restore",
    "resume",
    "revoke",
    "save",
    "send",
    "set",
    "start",
    "stop",
    "suspend",
    "tee",
    "uninstall",
    "unregister",
    "update",
    "write",
];

/// Nouns of cmdlets. A program of another shell may be called `update-alternatives`.
const NOUNS: &[&str] = &[
    "acl",
    "alias",
    "archive",
    "command",
    "computer",
    "content",
    "disk",
    "executionpolicy",
    "expression",
    "file",
    "item",
    "itemproperty",
    "job",
    "localuser",
    "module",
    "netfirewallrule",
    "object",
    "partition",
    "process",
    "psdrive",
    "restmethod",
    "scheduledtask",
    "service",
    "variable",
    "volume",
    "webrequest",
];

/// Whether a name is that of a cmdlet: a verb and a noun, as in `Remove-Item`.
fn is_cmdlet(name: &str) -> bool {
    let Some((verb, noun)) = name.split_once('-') else { return false };
    let (verb, noun) = (verb.to_ascii_lowercase(), noun.to_ascii_lowercase());
    VERBS.contains(&verb.as_str()) && NOUNS.contains(&noun.as_str())
        || name.starts_with(char::is_uppercase) && READING.contains(&format!("{verb}-{noun}").as_str())
}

/// Names of the home folder, in small letters.
const HOMES: &[&str] = &[
    "$home",
    "$env:home",
    "${env:home}",
    "$env:userprofile",
    "${env:userprofile}",
    "%userprofile%",
    "$nu.home-path",
    "~",
];

/// Names of the working directory.
const HERE: &[&str] = &["$pwd", "${pwd}", "$env:pwd", "%cd%"];

/// Cuts a text into commands, and those into tokens: quotes and escapes are taken away, `\` is `/`, and what stands for the
/// home folder or the working directory is put in its place.
pub(crate) fn tokens(text: &str, facts: &Facts) -> Vec<Vec<Word>> {
    let mut commands = vec![Vec::new()];
    let (mut start, mut token) = (0, String::new());
    for (at, c) in text.char_indices().chain([(text.len(), '\n')]) {
        // Backquotes of PowerShell and carets of cmd are escapes.
        if matches!(c, '\'' | '"' | '`' | '^' | '\0') {
            continue;
        }
        let ends_command = ";|&\n".contains(c);
        if !(ends_command || c.is_whitespace() || "<>=,()[]@".contains(c)) {
            if token.is_empty() {
                start = at;
            }
            token.push(if c == '\\' { '/' } else { c });
            continue;
        }
        if let Some(words) = commands.last_mut()
            && !token.is_empty()
        {
            let text = located(&std::mem::take(&mut token), facts);
            words.push(Word { quoted: false, ..Word::new(text, Span { start, end: at }) });
        }
        if ends_command && commands.last().is_some_and(|words| !words.is_empty()) {
            commands.push(Vec::new());
        }
    }
    commands.retain(|words| !words.is_empty());
    commands
}

/// A token with the home folder and the working directory in the place of what names them.
fn located(token: &str, facts: &Facts) -> String {
    let token = token.trim_start_matches('{');
    let token = if token.starts_with("${") { token } else { token.trim_end_matches('}') };
    let lower = token.to_ascii_lowercase();
    let place = |names: &[&str]| {
        let named =
            |name: &&&str| lower.strip_prefix(**name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        names.iter().find(named).map(|name| &token[name.len()..])
    };
    let found = match (place(HOMES), place(HERE)) {
        (Some(rest), _) => facts.home.as_ref().map(|home| format!("{home}{rest}")),
        (None, Some(rest)) => facts.cwd.as_ref().map(|cwd| format!("{cwd}{rest}")),
        (None, None) => None,
    };
    found.unwrap_or_else(|| token.to_owned()).replace(Value::HOLE, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn facts() -> Facts {
        Facts::new("/home/dev/project").home("/home/dev")
    }

    #[test]
    fn tokens_name_places() {
        let cases: &[(&str, &[&str])] = &[
            ("Remove-Item -Recurse $HOME", &["Remove-Item", "-Recurse", "/home/dev"]),
            ("rm \"$env:USERPROFILE\\Documents\",b", &["rm", "/home/dev/Documents", "b"]),
            ("[IO.File]::Delete('~/x')", &["IO.File", "::Delete", "/home/dev/x"]),
            ("ri ~", &["ri", "/home/dev"]),
            ("del %USERPROFILE%\\x", &["del", "/home/dev/x"]),
            ("sc ${env:HOME}/.bashrc 'a'", &["sc", "/home/dev/.bashrc", "a"]),
            ("% { ri $PWD/a }", &["%", "ri", "/home/dev/project/a"]),
            ("r`m $homes", &["rm", "$homes"]),
        ];
        for (text, expected) in cases {
            let found: Vec<String> =
                tokens(text, &facts()).into_iter().flatten().map(|word| word.text().to_owned()).collect();
            assert_eq!(found.iter().filter(|word| !word.is_empty()).collect::<Vec<_>>(), *expected, "{text}");
        }
    }

    #[test]
    fn cmdlets_are_told_from_programs() {
        let cases = [
            ("Remove-Item x", true),
            ("remove-item x", true),
            ("Get-Content x", true),
            ("echo Remove-Item", false),
            ("update-alternatives --list x", false),
            ("install-info a b", false),
            ("get-content x", false),
            ("cd x && Invoke-WebRequest y", true),
        ];
        for (text, expected) in cases {
            assert_eq!(looks_like_powershell(&parse(text, &facts())), expected, "{text}");
        }
    }

    #[test]
    fn shells_are_told_by_their_names() {
        let cases = [
            ("PowerShell", Some("PowerShell")),
            ("powershell.exe", Some("PowerShell")),
            ("/usr/bin/pwsh", Some("PowerShell")),
            ("C:\\Windows\\System32\\cmd.exe", Some("cmd")),
            ("nu", Some("nu")),
            ("Bash", None),
            ("zsh", None),
            ("command", None),
        ];
        for (name, expected) in cases {
            assert_eq!(ForeignShell::named(name).as_ref().map(ForeignShell::title), expected, "{name}");
        }
    }
}
