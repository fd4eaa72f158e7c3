//! Where agents are told to ask Toolgate, as `toolgate install` leaves it.

use toolgate_shell::{FileOracle, Presence, absolute};

use crate::matching::MatchInput;
use crate::world::GuardHost;

/// The files of an agent. One that is called after Toolgate is the hook; in others Toolgate is named.
pub(super) struct HookFiles {
    /// The programs that start it.
    programs: &'static [&'static str],
    /// Below the home folder.
    home: &'static [&'static str],
    /// Below a project's root.
    pub(super) project: &'static [&'static str],
}

/// The agents that Toolgate has hooks for.
#[rustfmt::skip]
pub(super) const AGENTS: &[HookFiles] = &[
    HookFiles {
        programs: &["claude", "claude-code"],
        home: &[".claude/settings.json"],
        project: &[".claude/settings.json", ".claude/settings.local.json"],
    },
    HookFiles {
        programs: &["codex"],
        home: &[".codex/hooks.json", ".codex/config.toml"],
        project: &[".codex/hooks.json", ".codex/config.toml"],
    },
    HookFiles { programs: &["cursor-agent"], home: &[".cursor/hooks.json"], project: &[".cursor/hooks.json"] },
    HookFiles {
        programs: &["droid"],
        home: &[".factory/hooks.json", ".factory/settings.json"],
        project: &[".factory/hooks.json", ".factory/settings.json"],
    },
    HookFiles { programs: &["gemini"], home: &[".gemini/settings.json"], project: &[".gemini/settings.json"] },
    HookFiles {
        programs: &["copilot"],
        home: &[".copilot/hooks/toolgate.json"],
        project: &[".github/hooks/toolgate.json"],
    },
    HookFiles {
        programs: &["opencode"],
        home: &[".config/opencode/plugins/toolgate.js", ".config/opencode/plugin/toolgate.js"],
        project: &[".opencode/plugins/toolgate.js", ".opencode/plugin/toolgate.js"],
    },
    HookFiles {
        programs: &["pi"],
        home: &[".pi/agent/extensions/toolgate.ts"],
        project: &[".pi/extensions/toolgate.ts"],
    },
];

/// Whether the agent that a command starts is known to ask Toolgate.
pub(super) fn is_hooked(subject: &MatchInput<'_>, world: &mut dyn GuardHost) -> bool {
    let Some(look) = world.look() else { return false };
    let map = subject.map();
    let projects = [map.workspace(), subject.command.cwd.as_deref()].into_iter().flatten();
    let Some(agent) = subject.command.program().and_then(|name| {
        let name = name.rsplit('/').next().unwrap_or(name);
        AGENTS.iter().find(|agent| agent.programs.contains(&name))
    }) else {
        return false;
    };
    let home = map.home().into_iter().flat_map(|home| agent.home.iter().map(move |file| absolute(file, home)));
    let project = projects.flat_map(|root| agent.project.iter().map(move |file| absolute(file, root)));
    home.chain(project).any(|path| names_toolgate(&path, look.as_ref()))
}

/// Whether there is such a file, and Toolgate is named in it, or is what it is called after.
fn names_toolgate(path: &str, look: &dyn FileOracle) -> bool {
    let own = path.rsplit('/').next().is_some_and(|name| name.starts_with("toolgate."));
    look.look(path) == Presence::File && (own || look.script(path).is_some_and(|text| text.contains("toolgate")))
}
