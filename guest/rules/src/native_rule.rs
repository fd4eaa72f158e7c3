//! The rules of which code says when they fire. That code is in `judge`.

/// The rules that are in code. Each has a row in a pack, with `code` and its key, for everything else.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub(crate) enum NativeRule {
    NoCommand,
    EffectsUnread,
    Unparsed,
    OtherShell,
    PromptHooks,
    PromptUnseen,
    SettingsTaken,
    TooMuch,
    Links,
    RemovePiped,
    RemoveListed,
    ChangeFound,
    ForkBomb,
    UnknownProgram,
    DownloadAndRun,
    DownloadVouched,
    RunDownloaded,
    DecodeAndRun,
    UnseenScript,
    TypedUnseen,
    StopFitting,
    ForcePushFetched,
    PipedAnswers,
    DeleteTag,
    DiscardPaths,
    DiscardFile,
    Restore,
    RestoreBoth,
    DeleteBranch,
    DeleteBranchForce,
}

impl NativeRule {
    pub(crate) const ALL: &[NativeRule] = &[
        NativeRule::NoCommand,
        NativeRule::EffectsUnread,
        NativeRule::Unparsed,
        NativeRule::OtherShell,
        NativeRule::PromptHooks,
        NativeRule::PromptUnseen,
        NativeRule::SettingsTaken,
        NativeRule::TooMuch,
        NativeRule::Links,
        NativeRule::RemovePiped,
        NativeRule::RemoveListed,
        NativeRule::ChangeFound,
        NativeRule::ForkBomb,
        NativeRule::UnknownProgram,
        NativeRule::DownloadAndRun,
        NativeRule::DownloadVouched,
        NativeRule::RunDownloaded,
        NativeRule::DecodeAndRun,
        NativeRule::UnseenScript,
        NativeRule::TypedUnseen,
        NativeRule::StopFitting,
        NativeRule::ForcePushFetched,
        NativeRule::PipedAnswers,
        NativeRule::DeleteTag,
        NativeRule::DiscardPaths,
        NativeRule::DiscardFile,
        NativeRule::Restore,
        NativeRule::RestoreBoth,
        NativeRule::DeleteBranch,
        NativeRule::DeleteBranchForce,
    ];

    /// The one that a row means by this key.
    pub(crate) fn keyed(key: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|native| native.key() == key)
    }

    /// What the row has as `code`, whatever it is called.
    pub(crate) fn key(self) -> &'static str {
        match self {
            NativeRule::NoCommand => "no-command",
            NativeRule::EffectsUnread => "effects-unread",
            NativeRule::Unparsed => "unparsed",
            NativeRule::OtherShell => "other-shell",
            NativeRule::PromptHooks => "prompt-hooks",
            NativeRule::PromptUnseen => "prompt-unseen",
            NativeRule::SettingsTaken => "self-settings-taken",
            NativeRule::TooMuch => "too-much",
            NativeRule::Links => "links",
            NativeRule::RemovePiped => "remove-piped",
            NativeRule::RemoveListed => "remove-listed",
            NativeRule::ChangeFound => "change-found",
            NativeRule::ForkBomb => "fork-bomb",
            NativeRule::UnknownProgram => "unknown-program",
            NativeRule::DownloadAndRun => "download-and-run",
            NativeRule::DownloadVouched => "download-from-known",
            NativeRule::RunDownloaded => "run-downloaded",
            NativeRule::DecodeAndRun => "decode-and-run",
            NativeRule::UnseenScript => "unseen-script",
            NativeRule::TypedUnseen => "typed-unseen",
            NativeRule::StopFitting => "self-stop-fitting",
            NativeRule::ForcePushFetched => "git-force-push-fetched",
            NativeRule::PipedAnswers => "git-piped-answers",
            NativeRule::DeleteTag => "git-delete-tag",
            NativeRule::DiscardPaths => "git-discard-paths",
            NativeRule::DiscardFile => "git-discard-file",
            NativeRule::Restore => "git-restore",
            NativeRule::RestoreBoth => "git-restore-both",
            NativeRule::DeleteBranch => "git-delete-branch",
            NativeRule::DeleteBranchForce => "git-delete-branch-force",
        }
    }
}
