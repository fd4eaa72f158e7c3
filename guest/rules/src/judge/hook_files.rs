//! Where agents are told to ask Toolgate, as `toolgate install` leaves it.

use toolgate_shell::{FileOracle, Presence, absolute, is_within};

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
        programs: &["claude", "claude-code", "@anthropic-ai/claude-code"],
        home: &[".claude/settings.json"],
        project: &[".claude/settings.json", ".claude/settings.local.json"],
    },
    HookFiles {
        programs: &["codex", "@openai/codex"],
        home: &[".codex/hooks.json", ".codex/config.toml"],
        project: &[".codex/hooks.json", ".codex/config.toml"],
    },
    HookFiles { programs: &["cursor-agent"], home: &[".cursor/hooks.json"], project: &[".cursor/hooks.json"] },
    HookFiles {
        programs: &["droid"],
        home: &[".factory/hooks.json", ".factory/settings.json"],
        project: &[".factory/hooks.json", ".factory/settings.json"],
    },
    HookFiles { programs: &["gemini", "gemini-cli", "@google/gemini-cli"], home: &[".gemini/settings.json"], project: &[".gemini/settings.json"] },
    HookFiles {
        programs: &["copilot", "@github/copilot"],
        home: &[".copilot/hooks/toolgate.json"],
        project: &[".github/hooks/toolgate.json"],
    },
    HookFiles {
        programs: &["opencode", "opencode-ai"],
        home: &[".config/opencode/plugins/toolgate.js", ".config/opencode/plugin/toolgate.js"],
        project: &[".opencode/plugins/toolgate.js", ".opencode/plugin/toolgate.js"],
    },
    HookFiles {
        programs: &["pi", "pi-coding-agent", "@mariozechner/pi-coding-agent"],
        home: &[".pi/agent/extensions/toolgate.ts"],
        project: &[".pi/extensions/toolgate.ts"],
    },
];

/// Whether the agent that a command starts is known to ask Toolgate.
pub(super) fn is_hooked(subject: &MatchInput<'_>, world: &mut dyn GuardHost) -> bool {
    let Some(look) = world.look() else { return false };
    let map = subject.map();
    let cwd = subject.command.cwd.as_deref();
    // The workspace's count where the agent starts in it.
    let workspace = map.workspace().filter(|root| cwd.is_some_and(|cwd| is_within(cwd, root)));
    let projects = [workspace, cwd].into_iter().flatten();
    let Some(agent) = subject.command.program().and_then(|name| {
        let own = name.rsplit('/').next().unwrap_or(name);
        AGENTS.iter().find(|agent| agent.programs.contains(&name) || agent.programs.contains(&own))
    }) else {
        return false;
    };
    let home = map.home().into_iter().flat_map(|home| agent.home.iter().map(move |file| absolute(file, home)));
    let project = projects.flat_map(|root| agent.project.iter().map(move |file| absolute(file, root)));
    home.chain(project).any(|path| runs_hook(&path, look.as_ref()))
}

/// Whether there is such a file, and it runs Toolgate's hook, or is that hook.
fn runs_hook(path: &str, look: &dyn FileOracle) -> bool {
    let own = path.rsplit('/').next().is_some_and(|name| name.starts_with("toolgate."));
    look.look(path) == Presence::File && (own || look.script(path).is_some_and(|text| names_hook(&text)))
}

/// `/usr/bin/toolgate hook claude`, `\"/a b/toolgate\" hook claude`. Not a folder of that name.
fn names_hook(text: &str) -> bool {
    text.match_indices("toolgate").any(|(at, name)| {
        let rest = text[at + name.len()..].trim_start_matches(['"', '\'', '\\']);
        rest.starts_with(" hook ") || rest.starts_with("-hook-")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_told_from_a_mention() {
        let cases = [
            (r#"{"command": "/usr/local/bin/toolgate hook gemini"}"#, true),
            (r#"{"command": "\"/a b/toolgate\" hook codex --packs all"}"#, true),
            (r#"{"command": "'/a b/toolgate' hook codex"}"#, true),
            (r#"[projects."/home/me/toolgate"]"#, false),
            (r#"{"permissions": ["Bash(toolgate check)"]}"#, false),
            ("", false),
        ];
        for (text, expected) in cases {
            assert_eq!(names_hook(text), expected, "{text}");
        }
    }
}
