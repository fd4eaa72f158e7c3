//! What is run unseen, and for which it is known well enough what it is: the set-up that a program prints, the place of a
//! program or of a file, names out of a list.

use toolgate_shell::{Command, EffectKind, Value, Why, Word};

use super::sources::source;
use super::{SCRIPT_READERS, is_computed, is_interpreter};

/// Programs that print shell text to be run by the shell that asks: their own set-up.
const SETUP: &[&str] = &[
    "ssh-agent",
    "gpg-agent",
    "keychain",
    "direnv",
    "pyenv",
    "rbenv",
    "nodenv",
    "jenv",
    "goenv",
    "plenv",
    "brew",
    "opam",
    "mise",
    "rtx",
    "asdf",
    "fnm",
    "nvm",
    "zoxide",
    "starship",
    "thefuck",
    "dircolors",
    "luarocks",
    "conda",
    "mamba",
    "micromamba",
    "minikube",
    "docker-machine",
    "resize",
    "fzf",
    "atuin",
    "register-python-argcomplete",
    "tset",
    "lesspipe",
    "lesspipe.sh",
    "grunt",
    "locale",
    "shopt",
    "set",
    "declare",
    "alias",
    "export",
    "trap",
    "getopt",
    "stty",
    "guix",
    "ghcup",
    "sdk",
    "volta",
    "rustup",
    "podman",
    "xrdb",
    "umask",
    "ulimit",
];

/// Subcommands that print such a text.
const SETUP_WORDS: &[&str] = &[
    "completion",
    "completions",
    "init",
    "env",
    "hook",
    "shellenv",
    "shell-init",
    "activate",
    "docker-env",
    "--completion",
    "completion-script",
    "bash-completion",
    "shell-hook",
    "export-env",
    "print-env",
    "setup",
    "printenv",
];

/// Programs of which only the place of another program is asked.
const LOCATE: &[(&str, &str)] = &[
    ("which", ""),
    ("command", "-v"),
    ("type", "-p"),
    ("whereis", ""),
    ("readlink", ""),
    ("realpath", ""),
    ("dirname", ""),
    ("basename", ""),
    ("pwd", ""),
    ("npm", "bin"),
    ("npm", "prefix"),
    ("npm", "root"),
    ("yarn", "bin"),
    ("pnpm", "bin"),
    ("go", "env"),
    ("brew", "--prefix"),
    ("xcrun", "-f"),
    ("xcrun", "--find"),
    ("rustup", "which"),
    ("rustc", "--print"),
    ("llvm-config", "--bindir"),
    ("git", "rev-parse"),
    ("pyenv", "which"),
    ("asdf", "which"),
    ("mise", "which"),
    ("cd", ""),
];

/// Whether what is run is what a program prints to be run.
pub(super) fn is_setup(inner: &[&Command]) -> bool {
    const PRINTS_ANYTHING: &[&str] = &[
        "cat", "echo", "printf", "head", "tail", "sed", "awk", "grep", "python", "python3", "node", "ruby", "perl",
        "php", "sh", "bash", "git", "find", "ls", "jq", "cut", "tee", "sort",
    ];
    let prints = |other: &Command| {
        let Some(program) = other.program() else { return false };
        let words = || other.words.iter().skip(1).filter_map(Word::known);
        // `expand setup` prints what is in that file.
        let reads = other.effects.iter().any(|effect| effect.kind == EffectKind::Read);
        source(other).is_none()
            && !reads
            && !PRINTS_ANYTHING.contains(&program)
            && (SETUP.contains(&program) || words().take(2).any(|word| SETUP_WORDS.contains(&word)))
    };
    !inner.is_empty() && inner.iter().all(|other| prints(other))
}

/// Whether commands only find out where a program is.
pub(super) fn is_located(commands: &[&Command]) -> bool {
    let locates = |command: &&&Command| {
        let Some(program) = command.program() else { return false };
        let first = command.words.get(1).and_then(Word::known).unwrap_or_default();
        LOCATE.iter().any(|(name, word)| *name == program && (word.is_empty() || *word == first))
    };
    let mut programs = commands.iter().filter(|command| !command.words.is_empty()).peekable();
    programs.peek().is_some() && programs.all(|command| locates(&command))
}

/// Whether what is run is a file beside one that is known: `. "$(dirname "$0")/lib.sh"`.
pub(super) fn is_located_file(command: &Command, inner: &[&Command]) -> bool {
    let located = |word: &Word| match &word.value {
        Value::Unknown { why, shape } if is_computed(why) => {
            shape.rsplit(Value::HOLE).next().is_some_and(|end| end.len() > 1 && end.starts_with('/'))
        }
        _ => false,
    };
    // What a shell is given as its text is no place of a file.
    let is_text = |word: &Word| word.value.text().contains(|c: char| c.is_whitespace() || ";&|<>`(".contains(c));
    let mut options =
        command.words.iter().skip(1).map(|word| word.value.text()).take_while(|text| text.starts_with('-'));
    let given = command.program() == Some("eval") || options.any(|text| !text.starts_with("--") && text.contains('c'));
    let first = command.words.iter().skip(1).find(|word| !word.value.text().starts_with('-'));
    !given
        && first.is_some_and(|word| located(word) && !is_text(word))
        && inner.iter().all(|other| source(other).is_none())
}

/// Whether what is not seen of a text for a shell are names among the words of commands that do nothing to files but to read
/// them: what a search in the workspace lists, put in by `xargs -I{}` and `find -exec`, or by `parallel` out of the text.
pub(super) fn lists_names(command: &Command, inner: &[&Command], before: &[&Command], piped: &[&Command]) -> bool {
    const HARMLESS: &[&str] = &[
        "[",
        "basename",
        "bun",
        "cargo",
        "cat",
        "cd",
        "cmp",
        "cut",
        "diff",
        "dirname",
        "du",
        "echo",
        "egrep",
        "false",
        "fgrep",
        "file",
        "go",
        "grep",
        "head",
        "jq",
        "ls",
        "make",
        "md5sum",
        "nl",
        "npm",
        "pnpm",
        "printf",
        "readlink",
        "realpath",
        "sha1sum",
        "sha256sum",
        "sort",
        "stat",
        "tail",
        "test",
        "tr",
        "true",
        "uniq",
        "wc",
        "yarn",
    ];
    let outer = || nearest_outer(command, before);
    let by_names = match command.via.last().map(String::as_str) {
        Some("xargs") => outer().is_some_and(|outer| is_given_names(outer, piped)),
        Some("find") => piped.is_empty() && outer().is_some_and(lists),
        Some("parallel") => {
            let told = |outer: &&Command| {
                let mut names = outer.words.iter().skip_while(|word| word.known() != Some(":::"));
                names.next().is_some()
                    && outer.redirects.is_empty()
                    && outer.words.iter().all(|word| {
                        let text = word.value.text();
                        !text.starts_with("-a") && !text.starts_with("--a") && !text.starts_with("::::")
                    })
            };
            piped.is_empty() && outer().filter(told).is_some()
        }
        _ => false,
    };
    let text = |word: &Word| matches!(&word.value, Value::Unknown { why: Why::Argument, shape } if shape.contains(' '));
    by_names
        && command.program().is_some_and(|program| SCRIPT_READERS.contains(&program))
        && command.words.iter().any(text)
        && changes_nothing(before)
        && !inner.is_empty()
        && inner.iter().all(|other| {
            other.program().is_some_and(|program| HARMLESS.contains(&program))
                && !other.unseen_script
                && other.assignments.is_empty()
                && !changes(other)
        })
}

/// Whether an interpreter is given the names of its scripts by `xargs`, as a loop over them would: it is run with nothing else.
pub(super) fn runs_listed(command: &Command, before: &[&Command], piped: &[&Command]) -> bool {
    // Nothing else is done before, and each of them is what its name says.
    let only = |other: &Command| {
        let is_outer = other.program() == Some("xargs");
        other.via.is_empty() && (is_outer || piped.iter().any(|one| std::ptr::eq(*one, other)))
    };
    let runs = |word: &Word| word.value.text().starts_with("-exec") || word.value.text().starts_with("-ok");
    before.iter().all(|other| only(other))
        && before.iter().filter(|other| other.program() == Some("xargs")).count() == 1
        && !piped.iter().any(|other| other.words.iter().any(runs))
        && command.words.len() == 1
        && command.via.last().is_some_and(|by| by == "xargs")
        && command.program().is_some_and(|program| is_interpreter(program) && !SCRIPT_READERS.contains(&program))
        && nearest_outer(command, before).is_some_and(|xargs| is_given_names(xargs, piped))
        && changes_nothing(before)
}

/// The command that runs this one, of those before it.
fn nearest_outer<'c>(command: &Command, before: &[&'c Command]) -> Option<&'c Command> {
    let by = command.via.last()?;
    before.iter().rev().find(|outer| outer.program() == Some(by.as_str())).copied()
}

/// Whether commands leave files and variables as they are, and get nothing from elsewhere.
fn changes_nothing(commands: &[&Command]) -> bool {
    !commands.iter().any(|command| changes(command) || !command.assignments.is_empty())
}

/// Whether what an `xargs` reads are names of the workspace's files, listed and filtered by what is piped to it.
fn is_given_names(xargs: &Command, piped: &[&Command]) -> bool {
    // Its list is not what is piped to it.
    let elsewhere = |word: &Word| {
        let text = word.value.text();
        text.starts_with("--a") || text.starts_with('-') && !text.starts_with("--") && text.contains('a')
    };
    xargs.redirects.is_empty()
        && !xargs.words.iter().any(elsewhere)
        && piped.last().is_some_and(|first| lists(first))
        && piped.iter().rev().skip(1).all(|other| filters(other) || other.program() == Some("xargs"))
}

/// Whether a command changes files, or gets something from elsewhere.
fn changes(command: &Command) -> bool {
    // What a build makes somewhere in its project is what it is there for.
    let told = command.effects.iter().filter(|effect| !effect.path.text().ends_with("/**"));
    let mut kinds = told.map(|effect| effect.kind);
    kinds.any(|kind| !matches!(kind, EffectKind::Read | EffectKind::Execute | EffectKind::Mention))
        || source(command).is_some()
}

/// Whether a command prints names of the workspace's files, or the numbers of containers, and nothing else.
fn lists(command: &Command) -> bool {
    // A glob that begins with a name stands for names that begin with it, and for no option. What ends in one and is an option
    // of a program that lists has no value.
    fn said(word: &Word) -> Option<&str> {
        match &word.value {
            Value::Known(text) => Some(text),
            Value::Pattern(text) => Some(text.as_str())
                .filter(|text| text.starts_with("*.") || text.starts_with(|c: char| c.is_alphanumeric())),
            Value::Unknown { .. } => None,
        }
    }
    let known: Option<Vec<&str>> = command.words.iter().map(said).collect();
    let Some(words) = known else { return false };
    let inside =
        |word: &&str| !word.starts_with(['/', '~']) && !word.split('/').any(|part| matches!(part, ".." | ".git"));
    let other = [
        "-exec",
        "-x",
        "-X",
        "--pre",
        "-ok",
        "-printf",
        "-fprint",
        "-files0",
        "-fls",
        "-ls",
        "-L",
        "-H",
        "-follow",
        "--format",
        "--output",
        "--no-index",
    ];
    let plain =
        |words: &[&str]| words.iter().all(|word| inside(word) && !other.iter().any(|begin| word.starts_with(begin)));
    match words.as_slice() {
        // What runs its own text has it among its words.
        ["find", rest @ ..] => {
            let own = rest.iter().position(|word| word.starts_with("-exec")).filter(|_| command.via.is_empty());
            let (search, action) = rest.split_at(own.unwrap_or(rest.len()));
            plain(search) && action.iter().filter(|word| word.starts_with("-exec")).count() <= 1
        }
        ["ls" | "fd" | "fdfind" | "seq", rest @ ..]
        | ["git", "ls-files", rest @ ..]
        | ["git", "diff", "--name-only", rest @ ..]
        | ["rg", "--files" | "-l" | "--files-with-matches", rest @ ..]
        | ["grep", "-l" | "-rl" | "-lr" | "-rlE" | "-lE" | "-il" | "-ril", rest @ ..]
        | ["git", "grep", "-l", rest @ ..] => plain(rest),
        ["docker" | "podman", "ps", "-q" | "-aq" | "-qa"] => true,
        _ => false,
    }
}

/// Whether a command only chooses among the lines that it is given, or orders them.
fn filters(command: &Command) -> bool {
    let known: Option<Vec<&str>> = command.words.iter().map(Word::known).collect();
    let is_option = |word: &&str| word.starts_with('-') || word.bytes().all(|byte| byte.is_ascii_digit());
    match known.as_deref() {
        Some(["sort" | "uniq" | "head" | "tail" | "tac" | "cut", rest @ ..]) => rest.iter().all(is_option),
        Some(["grep" | "egrep", rest @ ..]) => {
            rest.iter().filter(|word| !is_option(word)).count() == 1
                && !rest.iter().any(|word| word.starts_with("--") || word.starts_with('-') && word.contains(['e', 'f']))
        }
        _ => false,
    }
}
