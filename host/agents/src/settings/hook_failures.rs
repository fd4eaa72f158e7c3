//! Why an agent may leave out our hooks, or an answer, although its entries are right: what `toolgate doctor` knows of each
//! besides its table. Where it is not said otherwise, from its source or documentation, and not from a run.

use super::folder::{self, Folder, GEMINI_DEFAULTS, GEMINI_SYSTEM};
use super::hook_disablers::HookDisabler::{Any, ForProjects, Last, Variable};
use super::hook_disablers::SettingsFile::{Own, Project, System, User};
use super::hook_disablers::ValueTest::{False, Lists, Ours, True};
use super::hook_disablers::{self, HookDisabler, SettingsContext, SettingsFile, Wanted};
use super::table::{AgentConfig, Scope};

/// How severe it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing to do.
    Ok,
    /// Something to know.
    Warn,
    /// Something to mend.
    Fail,
}

impl Level {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "fail",
        }
    }
}

/// What may be wrong with an agent.
pub struct Risks {
    /// The events at which a question is known to reach its user. At any other one it has to be a denial.
    pub asks: &'static [&'static str],
    /// The first version that does what is relied on, and what earlier ones do.
    pub since: Option<([u64; 3], &'static str)>,
    /// What it does with other hooks on the same event.
    pub beside: (Level, &'static str),
    /// The matchers that leave out no tool.
    pub matchers: &'static [&'static str],
    /// Whose files of Claude Code it reads as well.
    pub claudes: &'static [Scope],
    /// The key with the events in its other files, if these count for events that its own file has not.
    pub second: Option<&'static str>,
    /// What switches its hooks off.
    pub(crate) off: &'static [HookDisabler],
    /// A setting that closes a gap.
    pub(crate) wanted: Option<Wanted>,
    /// Whether it trusts the folder, where its hooks depend on that.
    pub folder: Option<Depends>,
}

impl Risks {
    /// Whether a setting is known that switches its hooks off.
    pub fn can_be_switched_off(&self) -> bool {
        !self.off.is_empty()
    }
}

/// Hooks that depend on a folder's being trusted.
pub struct Depends {
    /// Not only a project's, but the user's as well.
    pub all: bool,
    /// Whether it does.
    pub trusts: fn(&SettingsContext<'_>) -> Folder,
}

/// What may be wrong with this agent.
pub fn of(known: &AgentConfig) -> &'static Risks {
    BY_AGENT.iter().find(|(agent, _)| *agent == known.name()).map_or(&NOTHING, |(_, risks)| risks)
}

const BY_AGENT: &[(&str, &Risks)] = &[
    ("claude", &CLAUDE),
    ("codex", &CODEX),
    ("gemini", &GEMINI),
    ("copilot", &COPILOT),
    ("droid", &DROID),
    ("cursor", &CURSOR),
    ("pi", &PI),
    ("opencode", &OPENCODE),
];

/// Why the agent runs none of our hooks, as its settings say.
pub fn switched_off(
    known: &AgentConfig,
    place: &SettingsContext<'_>,
    own: &hook_disablers::OwnHooks<'_>,
) -> Option<String> {
    of(known).off.iter().find_map(|off| off.why(place, own))
}

/// What is so because a setting is not there that ought to be, and what to do.
pub fn missing(known: &AgentConfig, place: &SettingsContext<'_>) -> Option<(&'static str, &'static str)> {
    let Wanted { file, key, by, or, todo } = of(known).wanted.as_ref()?;
    let value = hook_disablers::last(std::slice::from_ref(file), key, place).unwrap_or_default();
    (!by.holds(&value, &[])).then_some((*or, *todo))
}

const NOTHING: Risks = Risks {
    asks: &[],
    since: None,
    beside: (Level::Ok, "what they answer counts as well"),
    matchers: &["", "*", ".*"],
    claudes: &[],
    second: None,
    off: &[],
    wanted: None,
    folder: None,
};

const CLAUDE_MANAGED: &[SettingsFile] =
    &[System("etc/claude-code/managed-settings.json"), System("etc/claude-code/managed-settings.d/")];

static CLAUDE: Risks = Risks {
    asks: &["PreToolUse"],
    since: Some(([2, 1, 295], "reportedly ignores onFailure, so a failing hook lets the call run")),
    off: &[
        Any(
            &[
                User("settings.json"),
                User("settings.local.json"),
                Project(".claude/settings.json"),
                Project(".claude/settings.local.json"),
            ],
            "/disableAllHooks",
            True,
        ),
        Any(CLAUDE_MANAGED, "/disableAllHooks", True),
        Any(CLAUDE_MANAGED, "/allowManagedHooksOnly", True),
        Any(CLAUDE_MANAGED, "/strictPluginOnlyCustomization", Lists("hooks")),
        Variable("CLAUDE_CODE_SIMPLE"),
        Variable("CLAUDE_CODE_SAFE_MODE"),
    ],
    ..NOTHING
};

const CODEX_MANAGED: SettingsFile = System("etc/codex/requirements.toml");

const CODEX_FILES: &[SettingsFile] =
    &[User("config.toml"), Project(".codex/config.toml"), System("etc/codex/config.toml"), CODEX_MANAGED];

static CODEX: Risks = Risks {
    since: Some(([0, 124, 0], "reportedly has no hooks that are on by default")),
    beside: (Level::Warn, "Codex runs them at once, and of several that rewrite a call the last one wins"),
    off: &[
        Any(CODEX_FILES, "/features/hooks", False),
        Any(CODEX_FILES, "/features/codex_hooks", False),
        Any(&[CODEX_MANAGED], "/allow_managed_hooks_only", True),
    ],
    wanted: Some(Wanted {
        file: User("config.toml"),
        key: "/features/unified_exec_tty",
        by: False,
        or: "Codex shows no hook the text that it types into a terminal left open by a call",
        todo: "set unified_exec_tty = false under [features] in Codex's config.toml",
    }),
    folder: Some(Depends { all: false, trusts: folder::codex }),
    ..NOTHING
};

const GEMINI_FILES: &[SettingsFile] =
    &[GEMINI_DEFAULTS, User("settings.json"), Project(".gemini/settings.json"), GEMINI_SYSTEM];

static GEMINI: Risks = Risks {
    off: &[Last(GEMINI_FILES, "/hooksConfig/enabled", False), Any(GEMINI_FILES, "/hooksConfig/disabled", Ours)],
    // Nor does it run the user's hooks where it does not trust the folder.
    folder: Some(Depends { all: true, trusts: folder::gemini }),
    ..NOTHING
};

static COPILOT: Risks = Risks {
    asks: &["preToolUse"],
    since: Some(([1, 0, 74], "reportedly runs calls that a hook denies")),
    // It puts `^(?:` and `)$` round them.
    matchers: &[".*"],
    claudes: &[Scope::Project],
    off: &[Any(
        &[
            Own,
            User("settings.json"),
            Project(".github/copilot/settings.json"),
            Project(".github/copilot/settings.local.json"),
            Project(".claude/settings.json"),
            Project(".claude/settings.local.json"),
        ],
        "/disableAllHooks",
        True,
    )],
    folder: Some(Depends { all: false, trusts: folder::copilot }),
    ..NOTHING
};

static DROID: Risks = Risks {
    second: Some("hooks"),
    off: &[
        Any(&[User("hooks.json"), Project(".factory/hooks.json")], "/hooksDisabled", True),
        Any(&[User("settings.json"), Project(".factory/settings.json")], "/hooks/hooksDisabled", True),
        Any(&[System("etc/factory/settings.json")], "/allowManagedHooksOnly", True),
    ],
    ..NOTHING
};

static CURSOR: Risks = Risks { asks: &["beforeShellExecution"], claudes: &[Scope::User, Scope::Project], ..NOTHING };

static PI: Risks = Risks {
    off: &[Any(
        &[User("settings.json"), Project(".pi/settings.json")],
        "/extensions",
        Lists("-extensions/toolgate.ts"),
    )],
    folder: Some(Depends { all: false, trusts: folder::pi }),
    ..NOTHING
};

static OPENCODE: Risks =
    Risks { off: &[Variable("OPENCODE_PURE"), ForProjects("OPENCODE_DISABLE_PROJECT_CONFIG")], ..NOTHING };
