//! The rules of which code says when they fire. That code is in `judge`; everything else of a rule (its name, reason, severity and
//! tests) is in its row of a pack, which has `code` with its key.

/// Makes the rules of one list: each variant with its key.
macro_rules! native_rules {
    ($($variant:ident = $key:literal,)*) => {
        /// A rule that is in code.
        #[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
        pub(crate) enum NativeRule {
            $($variant,)*
        }

        impl NativeRule {
            pub(crate) const ALL: &[(NativeRule, &str)] = &[$((NativeRule::$variant, $key),)*];
        }
    };
}

native_rules! {
    NoCommand = "no-command",
    EffectsUnread = "effects-unread",
    Unparsed = "unparsed",
    OtherShell = "other-shell",
    PromptHooks = "prompt-hooks",
    PromptUnseen = "prompt-unseen",
    SettingsTaken = "self-settings-taken",
    RemoveOutside = "remove-outside",
    Abort = "git-abort",
    Amend = "git-amend",
    RepositoryData = "git-repository-data",
    RemoveWorktree = "remove-worktree",
    VariablesLost = "env-lost",
    TooMuch = "too-much",
    Links = "links",
    RemovePiped = "remove-piped",
    RemoveListed = "remove-listed",
    RemoveUnread = "remove-unread",
    RemoveChanged = "remove-changed",
    ChangesNamedOutside = "change-named-outside",
    ChangeFound = "change-found",
    ForkBomb = "fork-bomb",
    ReverseShell = "reverse-shell",
    PrintToken = "print-token",
    PrintGcloudSecret = "print-gcloud-secret",
    PrintAzureSecret = "print-azure-secret",
    PrintAwsSecret = "print-aws-secret",
    UnknownProgram = "unknown-program",
    DownloadAndRun = "download-and-run",
    DownloadVouched = "download-from-known",
    RunDownloaded = "run-downloaded",
    DecodeAndRun = "decode-and-run",
    UnseenScript = "unseen-script",
    TypedUnseen = "typed-unseen",
    StopFitting = "self-stop-fitting",
    ForcePushFetched = "git-force-push-fetched",
    PipedAnswers = "git-piped-answers",
    StashElsewhere = "git-stash-elsewhere",
    UnhookedAgent = "unhooked-agent",
    UnhookedAgentRun = "unhooked-agent-run",
    DeleteTag = "git-delete-tag",
    DiscardPaths = "git-discard-paths",
    DiscardFile = "git-discard-file",
    Restore = "git-restore",
    RestoreBoth = "git-restore-both",
    DeleteBranch = "git-delete-branch",
    DeleteBranchForce = "git-delete-branch-force",
    PrintEnvironment = "print-environment",
    PrintSecretVariable = "print-secret-variable",
    EmptiedFirst = "emptied-first",
    MovedOnto = "moved-onto",
    MovedThenRemoved = "moved-then-removed",
    RemoveData = "remove-data",
    AddSecret = "add-secret",
    LoseUncommitted = "lose-uncommitted",
    SendSecretVariable = "send-secret-variable",
    SendSecretCopy = "send-secret-copy",
    ShowSecretCopy = "show-secret-copy",
    SecretInCode = "secret-in-code",
    ToolLoses = "tool-loses",
    RegistryToken = "registry-token",
}

impl NativeRule {
    /// The one that a row means by this key.
    pub(crate) fn keyed(key: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, own)| *own == key).map(|(native, _)| *native)
    }
}
