//! Which shell reads the text at hand.

/// What is known of that shell. A text that depends on what is not is read in each way.
#[derive(Clone, Copy, Default)]
pub(super) struct Dialect {
    /// Whether `sh` is dash here, or bash; none until a text depends on it.
    pub(super) sh_is_dash: Option<bool>,
    /// Whether the shell at hand is dash.
    pub(super) posix: bool,
    /// Whether the shell at hand may be zsh: the user's own.
    pub(super) may_be_zsh: bool,
    /// Whether it is; none until a text depends on it.
    pub(super) zsh: Option<bool>,
    /// Something was read that dash reads otherwise.
    pub(super) beyond: bool,
    /// Whether `echo` reads escapes here without being told to; none until a text depends on it.
    pub(super) backslashes: Option<bool>,
}

impl Dialect {
    /// Whether nothing has said yet that it is zsh, or is not.
    pub(super) fn may_yet_be_zsh(self) -> bool {
        self.may_be_zsh && self.zsh.is_none()
    }

    /// Whether `echo` reads escapes without being told to, as far as that is known.
    pub(super) fn escapes(self) -> Option<bool> {
        if self.posix { Some(true) } else { self.backslashes }
    }
}

/// Which shell reads a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// `sh`, which is bash on some systems and knows only the standard on others.
    Sh,
    Zsh,
    /// One that is read as bash.
    Bash,
}

/// Which shell reads what a program of this name gives to one: `sh` for itself, for `make`, `watch` or a script without a first
/// line.
pub(super) fn reader(name: &str) -> Reader {
    match name {
        "zsh" | "rzsh" => Reader::Zsh,
        "bash" | "fish" | "ksh" | "ksh93" | "mksh" | "rbash" => Reader::Bash,
        _ => Reader::Sh,
    }
}

/// Whether a text may have something in it that dash reads otherwise than bash. What only looks so costs a second reading.
pub(super) fn may_differ_in_dash(text: &str) -> bool {
    const MARKS: &[&str] = &[
        "\\\n",
        "$'",
        "$\"",
        "$[",
        "&>",
        "((",
        "+=",
        "<(",
        "<<<",
        "==",
        "=(",
        ">(",
        "[[",
        "[^",
        "alias",
        "builtin",
        "coproc",
        "declare",
        "echo -",
        "function",
        "let ",
        "mapfile",
        "popd",
        "printf -v",
        "pushd",
        "readarray",
        "select",
        "shopt",
        "time ",
        "typeset",
        "|&",
        "}>",
    ];
    /// Whether one begins with a byte. A search for each of them would have to be prepared, for a text that is short more often
    /// than not.
    const BEGINS: [bool; 256] = {
        let (mut begins, mut at) = ([false; 256], 0);
        while at < MARKS.len() {
            begins[MARKS[at].as_bytes()[0] as usize] = true;
            at += 1;
        }
        begins
    };
    let bytes = text.as_bytes();
    let stands = |mark: &str, at: usize| mark.as_bytes()[0] == bytes[at] && bytes[at..].starts_with(mark.as_bytes());
    let any = |at: usize| BEGINS[usize::from(bytes[at])] && MARKS.iter().any(|mark| stands(mark, at));
    (0..bytes.len()).any(any)
}
