//! Folders of agents in which there is what they work on, and not what they go by: worktrees (`.claude/worktrees/NAME`), and
//! the prompts of a project. Not the folders as such, which the gate keeps.

use toolgate_shell::Value;

/// Folders of agents.
const AGENTS: &[&str] =
    &[".claude", ".codex", ".copilot", ".cursor", ".factory", ".gemini", ".opencode", ".pi", ".qwen", ".kiro"];

/// Where worktrees are in them.
const WORKTREES: &str = "worktrees";

/// Folders of texts that an agent is given when it is asked to: skills, commands, sub-agents.
const PROMPTS: &[(&str, &[&str])] = &[
    (".claude", &["agents", "commands", "output-styles", "plans", "skills"]),
    (".codex", &["prompts", "skills"]),
    (".cursor", &["agents", "commands", "plans", "rules", "skills"]),
    (".factory", &["commands", "droids", "skills"]),
    (".gemini", &["agents", "commands", "skills"]),
    (".opencode", &["agent", "agents", "command", "commands", "skill", "skills"]),
    (".pi", &["prompts", "skills"]),
];

/// A path in a worktree below an agent's folder as it is seen from there, without that folder: `/p/.claude/worktrees/w/src` is
/// `/p/w/src`. `None` for any other. What is in such a worktree is no part of what the agent goes by, but for the folders of
/// agents that are in it in turn.
pub(crate) fn in_worktree(path: &Value) -> Option<Value> {
    let mut text = without_one(path.text())?;
    while let Some(inner) = without_one(&text) {
        text = inner;
    }
    Some(match path {
        Value::Known(_) => Value::Known(text),
        Value::Pattern(_) => Value::Pattern(text),
        Value::Unknown { why, .. } => Value::Unknown { why: why.clone(), shape: text },
    })
}

/// The same for the first of such folders in a path.
fn without_one(path: &str) -> Option<String> {
    let names: Vec<&str> = path.split('/').collect();
    let said = |name: &str| !name.is_empty() && !name.contains(['*', '?', '[', '{', Value::HOLE]);
    let at =
        names.windows(3).position(|names| AGENTS.contains(&names[0]) && names[1] == WORKTREES && said(names[2]))?;
    // Below a `..`, or a name that may be one, it may be somewhere else.
    let goes_up = names.contains(&"..");
    (!goes_up).then(|| [&names[..at], &names[at + 2..]].concat().join("/"))
}

/// Whether a path is one of a project's prompts, or a folder of them.
pub(crate) fn is_prompt(path: &str, home: Option<&str>) -> bool {
    let names: Vec<&str> = path.split('/').collect();
    let last = names.windows(2).rposition(|names| names[0] != names[1] && AGENTS.contains(&names[0]));
    last.is_some_and(|at| {
        let folders = PROMPTS.iter().find(|(agent, _)| *agent == names[at]);
        let in_home = home.is_some_and(|home| names[..at].join("/") == home.trim_end_matches('/'));
        !in_home && folders.is_some_and(|(_, folders)| folders.contains(&names[at + 1]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_are_seen_from_within() {
        let cases = [
            ("/p/.claude/worktrees/w/src/a", Some("/p/w/src/a")),
            ("/p/.claude/worktrees/w", Some("/p/w")),
            ("/p/.claude/worktrees", None),
            ("/p/.claude/worktrees/*", None),
            ("/p/.claude/worktrees/w*/a", None),
            ("/p/.claude/worktrees/\0/a", None),
            ("/p/.claude/worktrees/w/.claude/hooks/x", Some("/p/w/.claude/hooks/x")),
            ("/p/.claude/worktrees/w/.claude/worktrees/v/a", Some("/p/w/v/a")),
            ("/h/.codex/worktrees/1a/p/a", Some("/h/1a/p/a")),
            ("/p/.claude/hooks/worktrees/w/a", None),
            ("/p/worktrees/w/a", None),
        ];
        for (path, expected) in cases {
            let found = in_worktree(&Value::Known(path.to_owned()));
            assert_eq!(found.as_ref().map(Value::text), expected, "{path}");
        }
    }

    #[test]
    fn prompts_are_those_of_projects() {
        let cases = [
            ("/p/.claude/skills/s/SKILL.md", true),
            ("/p/.claude/skills", true),
            ("/h/.claude/skills/s", false),
            ("/h/p/.claude/skills/s", true),
            ("/p/.claude/settings.json", false),
            ("/p/.claude", false),
            ("/p/.claude/hooks/commands", false),
            ("/p/.claude/commands/.claude/hooks", false),
            ("/p/.codex/rules/x", false),
        ];
        for (path, expected) in cases {
            assert_eq!(is_prompt(path, Some("/h")), expected, "{path}");
        }
    }
}
