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
