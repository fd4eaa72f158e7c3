//! Programs that run what variables say: editors, pagers, ways to another machine; shells and their prompts.

use super::state::ShellState;
use crate::abstract_value::Content;
use crate::wrapper::{ContextChange, NestedCommand, NestedKind, Times};
use toolgate_shell_syntax::word::{Span, Value, Word};

/// Variables whose value a program runs as shell text.
const RUN_BY: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "GIT_SSH_COMMAND",
            "GIT_EDITOR",
            "GIT_SEQUENCE_EDITOR",
            "GIT_PAGER",
            "GIT_EXTERNAL_DIFF",
            "GIT_ASKPASS",
            "GIT_PROXY_COMMAND",
            "EDITOR",
            "VISUAL",
            "PAGER",
        ],
    ),
    ("man", &["MANPAGER", "PAGER", "MANOPT"]),
    ("less", &["LESSOPEN", "LESSCLOSE", "LESSEDIT", "VISUAL", "EDITOR"]),
    ("crontab", &["VISUAL", "EDITOR"]),
    ("sudoedit", &["SUDO_EDITOR", "VISUAL", "EDITOR"]),
    ("visudo", &["SUDO_EDITOR", "VISUAL", "EDITOR"]),
    ("psql", &["PSQL_EDITOR", "PSQL_PAGER", "PAGER", "VISUAL", "EDITOR"]),
    ("rsync", &["RSYNC_RSH"]),
    ("cvs", &["CVS_RSH", "EDITOR"]),
    ("hg", &["HGEDITOR", "PAGER", "EDITOR"]),
    ("vidir", &["VISUAL", "EDITOR"]),
    ("vipe", &["VISUAL", "EDITOR"]),
    ("svn", &["SVN_SSH", "SVN_EDITOR", "EDITOR"]),
];

/// Shells that run what these variables say before a prompt, or expand them for it.
const PROMPTING: &[&str] = &["bash", "dash", "ksh", "ksh93", "mksh", "sh", "zsh"];

/// Variables that such a shell expands as the text of a prompt, with substitutions in them.
const PROMPTS: &[&str] = &["PS0", "PS1", "PS2", "PS4", "PROMPT", "RPROMPT", "RPS1"];

/// What an interactive shell runs by itself: `PROMPT_COMMAND`, substitutions in prompts, the file that `ENV` names.
fn by_prompt(name: &str, words: &[Word], state: &ShellState) -> Vec<NestedCommand> {
    let interactive = |word: &Word| {
        word.known().is_some_and(|text| text.starts_with('-') && !text.starts_with("--") && text.contains('i'))
    };
    let name = toolgate_shell_syntax::path::basename(name);
    // `script` starts a shell at a terminal.
    if name != "script" && !(PROMPTING.contains(&name) && words.iter().skip(1).any(interactive)) {
        return Vec::new();
    }
    let span = words.first().map_or_else(Span::default, |word| word.span);
    let value = |name: &str| match state.get(name) {
        Some(variable) if variable.exported == Some(true) => match &variable.content {
            Content::Text(value) => Some(value.clone()),
            _ => None,
        },
        _ => None,
    };
    let mut kinds = Vec::new();
    if let Some(value) = value("PROMPT_COMMAND") {
        kinds.push((
            "PROMPT_COMMAND",
            NestedKind::Text { text: Word { value, ..Word::new("", span) }, args: Vec::new() },
        ));
    }
    for name in PROMPTS {
        let Some(Value::Known(prompt)) = value(name) else { continue };
        // A character by its number, which may be one of a substitution.
        if prompt.match_indices('\\').any(|(at, _)| prompt[at + 1..].starts_with(|c: char| c.is_ascii_digit())) {
            kinds.push((*name, NestedKind::Unseen));
        }
        if prompt.contains("$(") || prompt.contains('`') {
            let text = Word::new(format!(": <<TOOLGATE_PROMPT\n{prompt}\nTOOLGATE_PROMPT\n"), span);
            kinds.push((*name, NestedKind::Text { text, args: Vec::new() }));
        }
    }
    if let Some(value) = value("ENV") {
        let path = Word { value, ..Word::new("", span) };
        kinds.push(("ENV", NestedKind::File { path, args: Vec::new(), here: false }));
    }
    // Which start-up file it is hangs on these. Only one that the text or the session wrote is looked at.
    let start = match name {
        "bash" => Some(("HOME", ".bashrc")),
        "zsh" if state.get("ZDOTDIR").is_some() => Some(("ZDOTDIR", ".zshrc")),
        "zsh" => Some(("HOME", ".zshrc")),
        _ => None,
    };
    let file = start.and_then(|(folder, file)| match value(folder) {
        Some(Value::Known(folder)) if folder.starts_with('/') => {
            Some(format!("{}/{file}", folder.trim_end_matches('/')))
        }
        _ => None,
    });
    let is_ours = |file: &String| state.files.made(file).is_some() || state.files.is_of_session(file);
    if let Some(file) = file.filter(is_ours) {
        let path = Word { value: Value::Known(file), ..Word::new("", span) };
        kinds.push(("BASH_ENV", NestedKind::File { path, args: Vec::new(), here: false }));
    }
    let inner = |(name, kind): (&str, NestedKind)| {
        let change = ContextChange { times: Times::Perhaps, unset: vec![name.to_owned()], ..ContextChange::default() };
        NestedCommand { kind, change }
    };
    kinds.into_iter().map(inner).collect()
}

/// The variables whose value a program runs.
pub(super) fn run_by(name: &str) -> &'static [&'static str] {
    let name = toolgate_shell_syntax::path::basename(name);
    RUN_BY.iter().find(|(program, _)| *program == name).map_or(&[], |(_, names)| names)
}

/// What a program runs because variables of the text say so, perhaps.
pub(super) fn by_environment(name: &str, words: &[Word], state: &ShellState) -> Vec<NestedCommand> {
    let set = run_by(name).iter().filter_map(|name| match &state.get(name)?.content {
        Content::Text(value @ Value::Known(text)) if !text.is_empty() && state.get(name)?.exported == Some(true) => {
            Some((*name, value.clone()))
        }
        _ => None,
    });
    let span = words.first().map_or_else(Span::default, |word| word.span);
    let inner = set.map(|(name, value)| {
        let text = Word { value, ..Word::new("", span) };
        // Inside, the same program would run it again, without end.
        let unset = vec![name.to_owned()];
        NestedCommand {
            kind: NestedKind::Text { text, args: Vec::new() },
            change: ContextChange { times: Times::Perhaps, unset, ..ContextChange::default() },
        }
    });
    inner.chain(by_prompt(name, words, state)).collect()
}
