//! `toolgate completions` and `toolgate man`: the command line as shells and `man` know it.
//!
//! Commands, options and fixed values are in the scripts that `clap_complete` writes. Names that change are not: rules, packs,
//! plugins. Its engine for these is unstable, and each call of the program, those of hooks included, would look for a
//! variable first. Instead a few lines behind the scripts of bash, zsh and fish ask for the names, see [`NAMES`]. The other shells
//! do without.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use toolgate_agents::settings::table::AGENTS;
use toolgate_agents::{Failure, exit};
use toolgate_gatekeeper::plugin::store::Store;
use toolgate_host::plain;

use crate::output::{list, print, text};
use crate::rules;

/// The word by which scripts ask for names, with their kind behind it. It is no command for people, so clap does not know it:
/// neither help nor completions show it.
pub(crate) const NAMES: &str = "complete-names";

#[derive(Args)]
#[command(after_help = "\
Examples:
  mkdir -p ~/.local/share/bash-completion/completions
  toolgate completions bash > ~/.local/share/bash-completion/completions/toolgate
  toolgate completions zsh > ~/.zfunc/_toolgate      with ~/.zfunc in $fpath, before compinit
  toolgate completions fish > ~/.config/fish/completions/toolgate.fish

In bash, zsh and fish the names of rules, packs, plugins and agents are completed as well; the script
runs the toolgate on PATH for that.")]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  toolgate man --out ~/.local/share/man/man1
  toolgate man | man -l -")]
pub(crate) struct Pages {
    /// Write a page for each command into this folder, instead of printing the first one
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Names that are known only when they are asked for.
#[derive(Clone, Copy)]
enum Names {
    Rules,
    Packs,
    Plugins,
    Agents,
}

impl Names {
    const ALL: [Names; 4] = [Names::Rules, Names::Packs, Names::Plugins, Names::Agents];

    fn name(self) -> &'static str {
        match self {
            Names::Rules => "rules",
            Names::Packs => "packs",
            Names::Plugins => "plugins",
            Names::Agents => "agents",
        }
    }

    /// The names that there are.
    fn all(self) -> Result<Vec<String>, Failure> {
        let named = |key: &str| -> Result<Vec<String>, Failure> {
            let listed = rules::all()?;
            Ok(list(listed.get(key)).iter().map(|one| text(one, "name").to_owned()).collect())
        };
        Ok(match self {
            // Commands take them without their layer, which has a colon: bash ends a word there.
            Names::Rules => {
                named("rules")?.iter().filter_map(|name| Some(name.split_once(':')?.1.to_owned())).collect()
            }
            Names::Packs => named("packs")?,
            Names::Plugins => Store::of_user()?.list()?.into_iter().map(|one| one.name).collect(),
            Names::Agents => AGENTS.iter().map(|known| known.name().to_owned()).collect(),
        })
    }
}

/// Commands whose first operand is such a name.
const OPERANDS: &[(&str, Names)] = &[
    ("rules show", Names::Rules),
    ("rules exempt", Names::Rules),
    ("plugin inspect", Names::Plugins),
    ("plugin grant", Names::Plugins),
    ("plugin revoke", Names::Plugins),
    ("plugin remove", Names::Plugins),
];

/// Options whose value is such a name, whatever command has them.
const OPTIONS: &[(&str, Names)] = &[("agent", Names::Agents), ("pack", Names::Packs), ("packs", Names::Packs)];

/// Behind the script for bash. `@OPERANDS@` and `@OPTIONS@` stand for arms of a `case`.
const BASH: &str = r#"
# Names that only Toolgate knows. It is always the one on PATH: who completes the name of another program has not run it.
_toolgate_names() {
    local kind=""
    case "$COMP_CWORD ${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
@OPERANDS@
    esac
    case "$3" in
@OPTIONS@
    esac
    if [[ -z "$kind" || "$2" == -* ]]; then
        _toolgate "$@"
        return
    fi
    # Of a list with commas, the last one.
    local last="${2##*,}"
    COMPREPLY=( $(compgen -P "${2%"$last"}" -W "$(command toolgate complete-names "$kind" 2>/dev/null)" -- "$last") )
}

complete -F _toolgate_names -o bashdefault -o default toolgate
"#;

/// Before [`ZSH_END`] in the script for zsh, around the function that is there.
const ZSH: &str = r#"
# Names that only Toolgate knows. It is always the one on PATH: who completes the name of another program has not run it.
functions[_toolgate_without_names]=$functions[_toolgate]
_toolgate() {
    local kind="" before="$words[CURRENT-1]"
    case "$words[CURRENT]" in
        (--*=*) before="${words[CURRENT]%%=*}" ;;
        (-*) before="" ;;
        (*)
            case "$CURRENT $words[2] $words[3]" in
@OPERANDS@
            esac
            ;;
    esac
    case "$before" in
@OPTIONS@
    esac
    if [[ -z "$kind" ]]; then
        _toolgate_without_names "$@"
        return
    fi
    local -a names
    names=(${(f)"$(command toolgate complete-names "$kind" 2>/dev/null)"})
    # Of a list with commas, the last one.
    compset -P '*[=,]'
    compadd -a names
}
"#;

/// How the end of the script for zsh begins, which calls or registers its function.
const ZSH_END: &str = "\nif [ \"$funcstack[1]\"";

/// `toolgate completions`, for this command line.
pub(crate) fn run(arguments: &Arguments, mut command: Command) -> Result<ExitCode, Failure> {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    let script = String::from_utf8(script).map_err(Failure::software)?;
    let script = with_names(arguments.shell, script, &command);
    print(|out| out.write_all(script.as_bytes()))
}

/// A script that asks for names as well, where it can.
fn with_names(shell: Shell, script: String, command: &Command) -> String {
    match shell {
        // The number of the word that is completed, counted from 0 in bash and from 1 in zsh.
        Shell::Bash => script + &filled(BASH, 3),
        Shell::Zsh => match script.rsplit_once(ZSH_END) {
            Some((functions, end)) => [functions, &filled(ZSH, 4), ZSH_END, end].concat(),
            None => script,
        },
        Shell::Fish => script + &fish(command),
        _ => script,
    }
}

/// A template with the arms for all operands, which are this word of the line, and for all options.
fn filled(template: &str, word: usize) -> String {
    let operands = arms(OPERANDS.iter().map(|(path, names)| (format!("{word} {path}"), *names)));
    let options = arms(OPTIONS.iter().map(|(option, names)| (format!("--{option}"), *names)));
    template.replace("@OPERANDS@", &operands).replace("@OPTIONS@", &options)
}

/// Arms of a `case` in bash and zsh, a line each.
fn arms(patterns: impl Iterator<Item = (String, Names)>) -> String {
    let arms = patterns.map(|(pattern, names)| format!("        (\"{pattern}\") kind={} ;;", names.name()));
    arms.collect::<Vec<_>>().join("\n")
}

/// What fish is told besides: a line for each operand, and for each command with one of the options.
fn fish(command: &Command) -> String {
    let mut lines = String::from("\n# Names that only Toolgate knows. It is always the one on PATH.\n");
    let mut line = |path: &str, option: &str, names: Names| {
        let used = match path.split_once(' ') {
            Some((outer, inner)) => format!("{outer}; and __fish_seen_subcommand_from {inner}"),
            None => path.to_owned(),
        };
        let ask = format!("command toolgate {NAMES} {} 2>/dev/null", names.name());
        lines +=
            &format!("complete -c toolgate -n \"__fish_toolgate_using_subcommand {used}\"{option} -f -a \"({ask})\"\n");
    };
    for (path, names) in OPERANDS {
        line(path, "", *names);
    }
    for (path, command) in below(command) {
        for (option, names) in OPTIONS.iter().filter(|(option, _)| has(command, option)) {
            line(&path, &format!(" -l {option} -r"), *names);
        }
    }
    lines
}

/// The commands inside a command and inside these, by the words that name them.
fn below(command: &Command) -> Vec<(String, &Command)> {
    let outer = command.get_subcommands().map(|outer| (outer.get_name().to_owned(), outer));
    let inner = command.get_subcommands().flat_map(|outer| {
        outer.get_subcommands().map(move |inner| (format!("{} {}", outer.get_name(), inner.get_name()), inner))
    });
    outer.chain(inner).collect()
}

fn has(command: &Command, option: &str) -> bool {
    command.get_opts().any(|one| one.get_long() == Some(option))
}

/// The names of a kind, a line each, as the scripts ask for them.
pub(crate) fn names(kind: &OsStr) -> Result<ExitCode, Failure> {
    let Some(names) = Names::ALL.into_iter().find(|names| kind == names.name()) else {
        let kinds = Names::ALL.map(Names::name).join(", ");
        return Err(Failure::new(exit::USAGE, format!("{NAMES} takes one of {kinds}")));
    };
    let names: BTreeSet<String> = names.all()?.into_iter().filter(|name| is_harmless(name)).collect();
    print(|out| names.iter().try_for_each(|name| writeln!(out, "{name}")))
}

/// Whether a shell takes a name for nothing but a word. Rule files of projects have names, too, and bash runs the commands that
/// are in the words it is offered.
fn is_harmless(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !name.is_empty() && !name.starts_with('-') && name.bytes().all(letter)
}

/// `toolgate man`, for this command line.
pub(crate) fn man(arguments: &Pages, command: Command) -> Result<ExitCode, Failure> {
    // It has a page for each page otherwise.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let Some(folder) = &arguments.out else {
        let page = Page::of(&command)?;
        return print(|out| out.write_all(page.text.as_bytes()));
    };
    write_all(folder, &Page::all(&command)?)?;
    let shown = plain(&folder.display().to_string());
    print(|out| writeln!(out, "man pages written to {shown}"))
}

/// A man page.
struct Page {
    /// Its file's name.
    name: String,
    text: String,
}

impl Page {
    /// The page of a command that was built.
    fn of(command: &Command) -> Result<Self, Failure> {
        let page = Man::new(command.clone())
            // The place of the date is left empty: two builds of a version have the same pages.
            .date("\"\"")
            .source(concat!("Toolgate ", env!("CARGO_PKG_VERSION")))
            .manual("Toolgate");
        let mut text = Vec::new();
        page.render(&mut text).map_err(Failure::software)?;
        let text = String::from_utf8(text).map_err(Failure::software)?;
        // No reader of a man page looks for examples and exit codes there.
        Ok(Page { name: page.get_filename(), text: text.replace("\n.SH EXTRA\n", "\n.SH NOTES\n") })
    }

    /// The pages of a command and of all commands inside it.
    fn all(command: &Command) -> Result<Vec<Self>, Failure> {
        let mut pages = vec![Page::of(command)?];
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            pages.extend(Page::all(inner)?);
        }
        Ok(pages)
    }
}

/// Writes pages into a folder: each in the place of an older one, and nothing through a link, which may lead to any file. Before
/// that, all of them are rendered and all places looked at.
fn write_all(folder: &Path, pages: &[Page]) -> Result<(), Failure> {
    let failed = |path: &Path, error: &dyn std::fmt::Display| {
        Failure::new(exit::IO, format!("{}: {error}", plain(&path.display().to_string())))
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    for page in pages {
        let path = folder.join(&page.name);
        match path.symlink_metadata() {
            Ok(found) if found.is_file() => {}
            Ok(_) => return Err(failed(&path, &"it exists and is not a regular file, so no page was written")),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&path, &error)),
        }
    }
    for page in pages {
        let path = folder.join(&page.name);
        write(folder, &path, &page.text).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

/// Puts a file for everyone to read in the place of whatever has its name.
fn write(folder: &Path, path: &Path, text: &str) -> std::io::Result<()> {
    let mut next = tempfile::Builder::new().prefix(".toolgate-").tempfile_in(folder)?;
    next.write_all(text.as_bytes())?;
    next.as_file().set_permissions(Permissions::from_mode(0o644))?;
    next.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_are_offered_to_a_shell() {
        let cases = [
            ("git-force-push", true),
            ("a_b.c", true),
            ("", false),
            ("-git", false),
            ("$(touch x)", false),
            ("a b", false),
            ("noReadPaths: .env", false),
        ];
        for (name, expected) in cases {
            assert_eq!(is_harmless(name), expected, "{name}");
        }
    }
}
