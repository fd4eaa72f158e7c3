//! Programs that run what variables say: editors, pagers, ways to another machine.

use super::known::Content;
use super::state::State;
use crate::word::{Span, Value, Word};
use crate::wrapper::{Change, Inner, Kind, Times};

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
    ("svn", &["SVN_SSH", "SVN_EDITOR", "EDITOR"]),
];

/// The variables whose value a program runs.
pub(super) fn run_by(name: &str) -> &'static [&'static str] {
    let name = crate::path::basename(name);
    RUN_BY.iter().find(|(program, _)| *program == name).map_or(&[], |(_, names)| names)
}

/// What a program runs because variables of the text say so, perhaps.
pub(super) fn by_environment(name: &str, words: &[Word], state: &State) -> Vec<Inner> {
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
        Inner {
            kind: Kind::Text { text, args: Vec::new() },
            change: Change { times: Times::Perhaps, unset, ..Change::default() },
        }
    });
    inner.collect()
}
