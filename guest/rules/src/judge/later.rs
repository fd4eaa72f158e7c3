//! Texts that an agent runs by itself later: commands in the prompts of skills, custom commands and sub-agents.
//!
//! They are judged as what they will run, when they are written. Sources: the documentation of Claude Code (`` !`CMD` ``, blocks
//! that begin with ```` ```! ````, `hooks` in front matter), of OpenCode (`` !`CMD` ``), of Gemini CLI and Qwen Code (`!{CMD}`), of
//! Droid (commands that begin with `#!`), as of November 2026.

use toolgate_shell::{EffectKind, FileOracle, Presence, Span, Value, absolute};

use super::found::Found;
use super::{Evaluation, evidence, tilde};
use crate::call::{Action, Call, Evidence, Field, FileEffects, Memory, ToolKind};
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::world::GuardHost;

/// Folders with prompts, below a project or a home folder.
const FOLDERS: &[&str] = &[
    ".claude/agents/",
    ".claude/commands/",
    ".claude/skills/",
    ".factory/commands/",
    ".gemini/commands/",
    ".gemini/extensions/",
    ".opencode/agent/",
    ".opencode/agents/",
    ".opencode/command/",
    ".opencode/commands/",
    ".opencode/skill/",
    ".opencode/skills/",
    ".qwen/agents/",
    ".qwen/commands/",
    ".agents/skills/",
    "opencode/agent/",
    "opencode/agents/",
    "opencode/command/",
    "opencode/commands/",
    "opencode/skills/",
];

/// Most commands of one prompt that are judged; with more the text counts as one that cannot be judged.
const MOST: usize = 64;

/// Whether an agent reads a file as a prompt.
fn is_prompt(path: &str) -> bool {
    FOLDERS
        .iter()
        .any(|folder| path.match_indices(folder).any(|(at, _)| at == 0 || path.as_bytes().get(at - 1) == Some(&b'/')))
}

/// What a prompt runs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Runs {
    commands: Vec<String>,
    /// Whether it adds hooks, or servers, which the agent starts.
    hooks: bool,
}

/// The commands in a prompt.
fn commands(prompt: &str) -> Runs {
    let mut found = Runs::default();
    if prompt.starts_with("#!") {
        found.commands.push(prompt.to_owned());
    }
    for (at, _) in prompt.match_indices('!') {
        let rest = &prompt[at + 1..];
        let before = prompt[..at].chars().next_back();
        if let Some(rest) = rest.strip_prefix('`').filter(|rest| !rest.starts_with('`') && before != Some('`')) {
            let end = rest.find('`').unwrap_or(rest.len());
            found.commands.push(rest[..end].to_owned());
        } else if let Some(rest) = rest.strip_prefix('{') {
            found.commands.push(rest[..closing(rest)].to_owned());
        } else if prompt[..at].ends_with("```") {
            // The fence stands at the beginning of a line, and the block goes on to the next one.
            let body = rest.find('\n').map_or("", |line| &rest[line + 1..]);
            let end = body.find("```").unwrap_or(body.len());
            found.commands.push(body[..end].to_owned());
        }
    }
    if let Some(matter) = front_matter(prompt) {
        let key = |line: &str| {
            line.trim_start()
                .trim_start_matches("- ")
                .split(':')
                .next()
                .map(|key| key.trim().trim_matches(['"', '\'']))
                .is_some_and(|key| matches!(key, "hooks" | "mcpServers"))
        };
        found.hooks = matter.lines().any(|line| key(line) && !line.starts_with([' ', '\t']));
        if found.hooks {
            found.commands.extend(hook_commands(matter));
        }
    }
    found
}

/// What a prompt may come to run where a change puts marks before words that are there already: all that stands between
/// backquotes or in braces.
fn marked(prompt: &str) -> Vec<String> {
    let quoted = prompt.split('`').skip(1).step_by(2);
    let braced = prompt.match_indices('{').map(|(at, _)| &prompt[at + 1..]).map(|rest| &rest[..closing(rest)]);
    quoted.chain(braced).filter(|text| !text.trim().is_empty()).map(str::to_owned).collect()
}

/// Where the braces close that were opened before a text; its end if they do not.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        depth += match c {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// What stands between the lines of dashes at the beginning.
fn front_matter(prompt: &str) -> Option<&str> {
    let rest = prompt.trim_start().strip_prefix("---")?;
    Some(rest.find("\n---").map_or(rest, |end| &rest[..end]))
}

/// The values of `command` and `args` keys, as far as they stand on lines of their own or in a block below.
fn hook_commands(matter: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lines: Vec<&str> = matter.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    for (number, line) in lines.iter().enumerate() {
        let Some(at) = line.find("command:").or_else(|| line.find("command\":")) else { continue };
        let value = line[at..].split_once(':').map_or("", |(_, value)| value.trim());
        if value.is_empty() || value.starts_with(['|', '>']) {
            let below = lines[number + 1..].iter().take_while(|next| next.trim().is_empty() || indent(next) > at);
            found.push(below.map(|line| line.trim()).collect::<Vec<_>>().join("\n"));
            continue;
        }
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let text = match quote {
            Some(quote) => value[1..].rsplit_once(quote).map_or(&value[1..], |(text, _)| text),
            None => value,
        };
        found.push(text.to_owned());
    }
    found
}

/// The files that a patch writes, as far as it shows them: what it adds to each.
fn added_files(patch: &str) -> Vec<String> {
    let mut files = vec![String::new()];
    for line in patch.lines() {
        match (line.starts_with("*** "), line.strip_prefix('+'), files.last_mut()) {
            (true, ..) => files.push(String::new()),
            (false, Some(added), Some(file)) => {
                file.push_str(added);
                file.push('\n');
            }
            _ => {}
        }
    }
    files.retain(|file| !file.is_empty());
    files
}

/// Programs that write what no text here shows: they change a file by a script, or fetch it.
const UNSEEN: &[&str] = &[
    "awk", "curl", "dd", "ed", "ex", "gawk", "gsed", "node", "perl", "python", "python3", "ruby", "sed", "tee", "wget",
];

/// Programs whose output is known, or nothing, where a redirect puts it into a file.
const SEEN: &[&str] = &["", ":", "cat", "echo", "printf", "true"];

/// Whether `printf` or `echo -e` may make something else of a text than its line ends.
fn has_escapes(text: &str) -> bool {
    text.match_indices('\\')
        .any(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_digit() || "xuUc".contains(c)))
}

impl<'a> Evaluation<'a> {
    /// Prompts that a command writes, as far as it is known what is in them.
    pub(super) fn prompts(
        &mut self,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        let leads =
            |path: &str| is_prompt(path) || look.and_then(|look| look.real(path)).is_some_and(|real| is_prompt(&real));
        for subject in subjects {
            let command = subject.command;
            let written =
                command.effects.iter().filter(|effect| is_written(effect.kind) && !effect.folder).find(|effect| {
                    let path = effect.path.text();
                    leads(path) || effect.recursive && leads(&format!("{path}/"))
                });
            let Some(written) = written else { continue };
            // What a script writes.
            let script = || command.via.last().filter(|_| command.words.is_empty()).map(String::as_str);
            let program = command.program().or_else(script).unwrap_or_default();
            let (formats, patches) = (matches!(program, "echo" | "printf"), self.call.kind == ToolKind::Write);
            let mut unseen = false;
            let mut text = |text: std::borrow::Cow<'_, str>| {
                unseen |= formats && has_escapes(&text);
                match formats {
                    true => text.trim_start_matches("-- ").replace("\\n", "\n"),
                    false => text.into_owned(),
                }
            };
            let mut texts: Vec<String> = subject.contents().into_iter().map(&mut text).collect();
            if patches {
                // Each file of a patch begins behind a line with stars.
                texts = texts.iter().flat_map(|text| added_files(text)).collect();
            }
            // What is copied or moved there.
            let sources = command.effects.iter().filter(|effect| effect.copied);
            for effect in sources {
                // Which of the files below a glob's are prompts is not known.
                let Some(path) = effect.path.known() else {
                    unseen |= effect.path.text().contains(['*', Value::HOLE]);
                    continue;
                };
                let name = path.rsplit('/').next().unwrap_or_default();
                let places = [path.to_owned(), format!("{path}/SKILL.md"), format!("{path}/{name}.md")];
                texts.extend(look.and_then(|look| places.iter().find_map(|place| look.script(place))));
                // In a folder of skills each is a folder with one prompt; in others any file is one.
                let is_folder = look.is_some_and(|look| look.look(path) == Presence::Folder);
                unseen |= is_folder && !written.path.text().contains("skills/");
            }
            let redirected = || command.redirects.iter().any(|redirect| redirect.target.span == written.span);
            unseen |= texts.is_empty() && (UNSEEN.contains(&program) || redirected() && !SEEN.contains(&program));
            let evidence = evidence(field, written.span);
            // What is added makes a prompt together with what is there.
            let appended = written.kind == EffectKind::Append;
            let path = written.path.known().filter(|_| appended);
            let before = path.and_then(|path| look.and_then(|look| look.script(path))).unwrap_or_default();
            if unseen {
                self.native(NativeRule::PromptUnseen, "", vec![evidence.clone()]);
            }
            for text in texts {
                self.prompt(&before, &format!("{before}{text}"), written.path.text(), &evidence, world);
            }
        }
    }

    /// A prompt that a file tool writes.
    pub(super) fn prompt_of_tool(&mut self, world: &mut dyn GuardHost, look: Option<&dyn FileOracle>) {
        let call = self.call;
        if call.kind != ToolKind::Write || call.command.is_some() {
            return;
        }
        for field in &call.paths {
            let path = absolute(&tilde(&field.value.replace('\\', "/"), call), &call.cwd);
            if !is_prompt(&path) && !look.and_then(|look| look.real(&path)).is_some_and(|real| is_prompt(&real)) {
                continue;
            }
            let whole = evidence(field, Span { start: 0, end: field.value.len() });
            let before = look.filter(|_| call.edits).and_then(|look| look.script(&path)).unwrap_or_default();
            // A part of a prompt that runs commands may be a part of one of them.
            let runs = commands(&before) != Runs::default();
            for content in &call.contents {
                self.prompt("", &content.value, &path, &whole, world);
                if runs {
                    self.run_later(&content.value, &path, &whole, world);
                }
                if content.value.contains('!') {
                    for command in marked(&before).into_iter().take(MOST) {
                        self.run_later(&command, &path, &whole, world);
                    }
                }
            }
        }
    }

    /// What a prompt runs that did not run before.
    fn prompt(&mut self, before: &str, text: &str, path: &str, at: &Evidence, world: &mut dyn GuardHost) {
        let (mut runs, old) = (commands(text), commands(before));
        runs.commands.retain(|command| !old.commands.contains(command));
        runs.hooks &= !old.hooks;
        let name = path.rsplit('/').next().unwrap_or(path);
        if runs.hooks {
            self.native(NativeRule::PromptHooks, name, vec![at.clone()]);
        }
        // A prompt that writes prompts is not followed further.
        if runs.commands.len() > MOST || self.call.in_prompt && !runs.commands.is_empty() {
            self.native(NativeRule::TooMuch, &format!("{name} runs too many commands"), vec![at.clone()]);
            return;
        }
        for command in runs.commands {
            self.run_later(&command, path, at, world);
        }
    }

    /// A command that a prompt has the agent run.
    fn run_later(&mut self, command: &str, path: &str, at: &Evidence, world: &mut dyn GuardHost) {
        let name = path.rsplit('/').next().unwrap_or(path);
        // What the agent puts in their place is not known.
        let value = command.replace("{{args}}", "\"$ARGUMENTS\"");
        let inner = Call {
            kind: ToolKind::Shell,
            edits: false,
            command: Some(Field { name: "command".to_owned(), value }),
            shell: None,
            paths: Vec::new(),
            globs: Vec::new(),
            effects: FileEffects::default(),
            contents: Vec::new(),
            inputs: Vec::new(),
            earlier: Memory::default(),
            in_prompt: true,
            ..self.call.clone()
        };
        for found in self.guard.found(&inner, world).into_iter().filter(|found| found.action != Action::Note) {
            let reason = format!("{name} makes the agent run `{}` automatically: {}", command.trim(), found.reason);
            self.add(Found { reason, evidence: vec![at.clone()], ..found });
        }
    }
}

fn is_written(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::Write | EffectKind::Append | EffectKind::Create | EffectKind::Link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_prompts_are_found() {
        let cases: &[(&str, &[&str], bool)] = &[
            ("Status: !`git status`", &["git status"], false),
            ("a !`b` c !`d e`", &["b", "d e"], false),
            ("no command! `ls`", &[], false),
            ("!``", &[], false),
            ("```!\nrm x\nls\n```\ntext", &["rm x\nls\n"], false),
            ("prompt = \"!{git diff ${x}} and !{ls}\"", &["git diff ${x}", "ls"], false),
            ("!{never closed", &["never closed"], false),
            ("#!/bin/sh\nls", &["#!/bin/sh\nls"], false),
            ("---\nname: a\nhooks:\n  Stop:\n    - command: \"rm 'x'\"\n---\nb", &["rm 'x'"], true),
            ("---\nhooks:\n  - {type: command, command: ls}\n---", &["ls}"], true),
            ("---\nhooks:\n  Stop:\n  - command: |\n      a\n      b\n    timeout: 3\n---", &["a\nb"], true),
            ("---\nname: a\nmcpServers:\n  x:\n    command: ./x\n---\nb", &["./x"], true),
            ("---\ndescription: hooks: command: no\n---\n", &[], false),
            ("hooks:\n  command: text\n", &[], false),
        ];
        for (prompt, expected, hooks) in cases {
            let found = commands(prompt);
            assert_eq!(
                (found.commands, found.hooks),
                (expected.iter().map(|&one| one.to_owned()).collect(), *hooks),
                "{prompt}"
            );
        }
    }

    #[test]
    fn a_mark_may_come_before_any_words_in_quotes_or_braces() {
        assert_eq!(marked("Run `rm x` and {ls -l} or ``."), ["rm x", "ls -l"]);
        assert_eq!(marked("plain"), [""; 0]);
    }

    #[test]
    fn prompts_are_told_by_their_folder() {
        let cases = [
            ("/p/.claude/commands/x.md", true),
            (".claude/skills/a/SKILL.md", true),
            ("/home/dev/.config/opencode/command/x.md", true),
            ("/p/.claude/settings.json", false),
            ("/p/x.claude/commands/y", false),
            ("/p/docs/commands/x.md", false),
        ];
        for (path, expected) in cases {
            assert_eq!(is_prompt(path), expected, "{path}");
        }
    }
}
