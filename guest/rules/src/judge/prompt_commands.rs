//! Texts that an agent runs by itself later: commands in the prompts of skills, custom commands and sub-agents.
//!
//! They are judged as what they will run, when they are written. Sources: the documentation of Claude Code (`` !`CMD` ``, blocks
//! that begin with ```` ```! ````, `hooks` in front matter), of OpenCode (`` !`CMD` ``), of Gemini CLI and Qwen Code (`!{CMD}`), of
//! Droid (commands that begin with `#!`), as of November 2026.

use std::borrow::Cow;
use std::collections::BTreeMap;

use toolgate_shell::{Command, Effect, EffectKind, FileOracle, Presence, Span, Value, Word, absolute};

use super::rule_match::RuleMatch;
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
    let is_in = |folder: &&str| {
        let begins = |at: usize| at == 0 || path.as_bytes().get(at - 1) == Some(&b'/');
        path.match_indices(*folder).any(|(at, _)| begins(at) && !is_material(folder, &path[at + folder.len()..]))
    };
    FOLDERS.iter().any(is_in)
}

/// Whether a file below a folder of prompts is one that a skill brings with it: its scripts, its data.
fn is_material(folder: &str, below: &str) -> bool {
    let Some((_, file)) = below.rsplit_once('/').filter(|_| folder.ends_with("skills/")) else { return false };
    let plain = !below.contains(['*', '?', '[', '{', Value::HOLE]);
    let kind = file.rsplit_once('.').filter(|(name, _)| !name.is_empty());
    plain && kind.is_some_and(|(_, kind)| !kind.eq_ignore_ascii_case("md"))
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
        // One more than are judged says that there are too many.
        if found.commands.len() > MOST {
            break;
        }
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
        found.hooks = matter.lines().any(may_add_hooks);
        if found.hooks {
            found.commands.extend(hook_commands(matter));
        }
    }
    found
}

/// Whether a line of front matter has a key of the outermost level that adds hooks or servers, or one that only a whole
/// reader of YAML can tell: keys may have escapes, tags and anchors, be aliases, or come from elsewhere by `<<`.
fn may_add_hooks(line: &str) -> bool {
    if line.starts_with([' ', '\t']) {
        return false;
    }
    let rest = line.trim_start_matches("- ");
    if rest.starts_with(['*', '<']) || rest.trim_end() == "?" {
        return true;
    }
    // The keys of a mapping in braces are on one line.
    let pieces = rest.split(['{', ',']).filter(|_| rest.starts_with('{'));
    pieces.chain([rest]).any(|piece| matches!(key(piece).as_ref(), "hooks" | "mcpServers"))
}

/// The key at the beginning of a line of YAML.
fn key(line: &str) -> Cow<'_, str> {
    let mut rest = line.trim().trim_start_matches("? ").trim_start();
    while rest.starts_with(['!', '&']) {
        rest = rest.split_once([' ', '\t']).map_or("", |(_, rest)| rest.trim_start());
    }
    match rest.strip_prefix('"') {
        Some(quoted) => unescaped(quoted.split('"').next().unwrap_or_default()),
        None => rest.split(':').next().unwrap_or_default().trim().trim_matches('\'').into(),
    }
}

/// A text with its escapes for characters by number taken away, as YAML and TOML have them.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !["\\x", "\\u", "\\U"].iter().any(|escape| text.contains(escape)) {
        return text.into();
    }
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        result.push_str(before);
        let digits = match after.chars().next() {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => 0,
        };
        let number = after.get(1..=digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match number.and_then(char::from_u32) {
            Some(c) => {
                result.push(c);
                rest = &after[1 + digits..];
            }
            None => {
                // What stands behind another escape begins none itself.
                let end = after.chars().next().map_or(0, char::len_utf8);
                result.push('\\');
                result.push_str(&after[..end]);
                rest = &after[end..];
            }
        }
    }
    result.push_str(rest);
    result.into()
}

/// What a prompt may come to run where a change puts marks before words that are there already: all that stands between
/// backquotes or in braces. One more than are judged says that there are too many.
fn marked(prompt: &str) -> Vec<String> {
    let quoted = prompt.split('`').skip(1).step_by(2);
    let braced = prompt.match_indices('{').map(|(at, _)| &prompt[at + 1..]).map(|rest| &rest[..closing(rest)]);
    let all = quoted.chain(braced).filter(|text| !text.trim().is_empty());
    all.take(MOST + 1).map(str::to_owned).collect()
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

/// Programs that write what no text here shows: they change a file by a script, unpack or decode it, or fetch it.
const UNSEEN: &[&str] = &[
    "7z", "awk", "base64", "bsdtar", "cpio", "csplit", "curl", "dd", "ed", "ex", "gawk", "gsed", "gtar", "node",
    "openssl", "patch", "perl", "python", "python3", "ruby", "sed", "shuf", "sort", "split", "sponge", "tar", "uniq",
    "unzip", "wget", "xxd",
];

/// Programs whose output is known, or nothing, where a redirect puts it into a file.
const SEEN: &[&str] = &["", ":", "[", "cat", "cd", "echo", "mkdir", "printf", "tee", "test", "touch", "true"];

/// Who runs what a prompt says.
const AGENT: &str = "the agent";

/// Files that programs start with, below the folder a variable names; for `bash` and `sh` only with `-i` or `-l`.
fn startup_files(program: &str, words: &[Word]) -> &'static [(&'static str, &'static str)] {
    let mut options = words.iter().skip(1).map(|word| word.value.text()).take_while(|word| word.starts_with('-'));
    let mut starts = || options.any(|word| word == "--login" || !word.starts_with("--") && word.contains(['i', 'l']));
    match program {
        "bash" if starts() => {
            &[("HOME", ".bashrc"), ("HOME", ".bash_profile"), ("HOME", ".bash_login"), ("HOME", ".profile")]
        }
        "sh" | "dash" | "ksh" if starts() => &[("HOME", ".profile")],
        "zsh" => &[("HOME", ".zshenv"), ("ZDOTDIR", ".zshenv"), ("HOME", ".zshrc"), ("ZDOTDIR", ".zshrc")],
        "git" => &[("HOME", ".gitconfig"), ("HOME", ".config/git/config"), ("XDG_CONFIG_HOME", "git/config")],
        _ => &[],
    }
}

/// The programs that settings of git name.
fn git_programs(settings: &str) -> Vec<String> {
    const KEYS: &[&str] = &[
        "askpass",
        "clean",
        "cmd",
        "command",
        "editor",
        "external",
        "fsmonitor",
        "gitproxy",
        "helper",
        "pager",
        "process",
        "program",
        "smudge",
        "sshcommand",
        "textconv",
    ];
    let named = |line: &str| {
        let (key, value) = line.split_once('=')?;
        let key = key.rsplit(']').next().unwrap_or_default().trim().to_ascii_lowercase();
        let value = value.trim().trim_start_matches('"').trim_end_matches('"');
        KEYS.contains(&key.as_str()).then(|| value.replace("\\\"", "\""))
    };
    settings.lines().filter_map(named).collect()
}

/// The commands that the first one's redirect is around: they come behind it and stand before it.
fn inside<'c>(subjects: &[MatchInput<'c>]) -> Vec<&'c Command> {
    let Some((first, behind)) = subjects.split_first() else { return Vec::new() };
    let around = first.command;
    if !around.words.is_empty() || around.redirects.is_empty() {
        return Vec::new();
    }
    let before: Vec<&Command> =
        behind.iter().map(|subject| subject.command).filter(|one| one.span.end <= around.span.start).collect();
    let holds = |outer: &Command, inner: &Command| {
        outer.span != inner.span && outer.span.start <= inner.span.start && inner.span.end <= outer.span.end
    };
    // What a substitution runs is no output of its own.
    before.iter().filter(|one| !before.iter().any(|outer| holds(outer, one))).copied().collect()
}

/// Whether `printf` or `echo -e` may make something else of a text than its line ends.
fn has_escapes(text: &str) -> bool {
    text.match_indices('\\')
        .any(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_digit() || "xuUc".contains(c)))
}

/// What `echo` prints; `None` if that depends on the shell.
fn echoed(words: &[&str]) -> Option<String> {
    let is_option = |word: &&&str| matches!(**word, "-n" | "-e" | "-E" | "-ne" | "-en");
    let (options, words) = words.split_at(words.iter().take_while(is_option).count());
    let text = words.join(" ").replace("\\n", "\n");
    let end = if options.iter().any(|option| option.contains('n')) { "" } else { "\n" };
    (!has_escapes(&text)).then(|| text + end)
}

/// What `printf` prints; `None` if its format has more than plain text, `%s` and the usual line ends.
fn printed(words: &[&str]) -> Option<String> {
    let (format, mut values) = match words {
        ["--", format, values @ ..] => (format, values),
        [format, values @ ..] if !format.starts_with('-') => (format, values),
        _ => return None,
    };
    let mut result = String::new();
    loop {
        let before = values.len();
        let mut rest = format.chars();
        while let Some(c) = rest.next() {
            match c {
                '\\' => result.push(match rest.next()? {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    c @ ('\\' | '"' | '\'' | '`') => c,
                    _ => return None,
                }),
                '%' => match rest.next()? {
                    '%' => result.push('%'),
                    's' => {
                        if let Some((value, others)) = values.split_first() {
                            result.push_str(value);
                            values = others;
                        }
                    }
                    _ => return None,
                },
                c => result.push(c),
            }
        }
        // The format is used again as long as there are arguments.
        if values.is_empty() || values.len() == before {
            return Some(result);
        }
    }
}

/// What a command puts into files, as far as it is seen.
#[derive(Default)]
struct Put {
    texts: Vec<String>,
    unseen: bool,
}

impl Put {
    /// Nothing that is seen.
    const UNSEEN: Put = Put { texts: Vec::new(), unseen: true };

    fn text(text: Option<String>) -> Self {
        text.map_or(Put::UNSEEN, |text| Put { texts: vec![text], unseen: false })
    }

    /// The same in one piece.
    fn joined(self) -> Self {
        Put { texts: vec![self.texts.concat()].into_iter().filter(|text| !text.is_empty()).collect(), ..self }
    }

    fn add(&mut self, other: Put) {
        self.texts.extend(other.texts);
        self.unseen |= other.unseen;
    }
}

/// The files of a text: what is there, and what the text has put into them so far, `None` where that is not seen.
struct Files<'a> {
    look: Option<&'a dyn FileOracle>,
    written: BTreeMap<String, Option<String>>,
}

impl Files<'_> {
    /// What is in a file, or in the prompt of a folder.
    fn content(&self, path: &str) -> Put {
        if let Some(written) = self.written.get(path) {
            return Put::text(written.clone());
        }
        let below = format!("{path}/");
        let mut put = Put::default();
        for (_, text) in self.written.range(below.clone()..).take_while(|(path, _)| path.starts_with(&below)) {
            put.add(Put::text(text.clone()));
        }
        let name = path.rsplit('/').next().unwrap_or_default();
        let places = [path.to_owned(), format!("{path}/SKILL.md"), format!("{path}/{name}.md")];
        put.texts.extend(self.look.and_then(|look| places.iter().find_map(|place| look.script(place))));
        put
    }

    /// What is copied out of a place. Which of the files below a glob's are prompts is not known.
    fn copied(&self, from: &Effect) -> Put {
        match from.path.known() {
            Some(path) => self.content(path),
            None => Put { unseen: true, ..Put::default() },
        }
    }

    /// What a command prints whose words say it: `cat`, `echo`, `printf`.
    fn output(&self, command: &Command) -> Put {
        let words: Vec<&str> = command.words.iter().skip(1).map(|word| word.value.text()).collect();
        match command.program().unwrap_or_default() {
            "echo" => Put::text(echoed(&words)),
            "printf" => Put::text(printed(&words)),
            "cat" => {
                let mut put = Put::default();
                let mut sources: Vec<&Effect> =
                    command.effects.iter().filter(|effect| effect.kind == EffectKind::Read).collect();
                sources.sort_by_key(|effect| effect.span.start);
                sources.iter().for_each(|source| put.add(self.copied(source)));
                let takes_input = sources.is_empty() || words.contains(&"-");
                if takes_input {
                    put.add(Put::text(command.input().map(str::to_owned)));
                }
                put.joined()
            }
            "tee" => Put::text(command.input().map(str::to_owned)),
            program => Put { unseen: !SEEN.contains(&program), ..Put::default() },
        }
    }

    /// What a command puts into files. `inside` are those that a redirect of several is around.
    fn put(&self, command: &Command, inside: &[&Command], target: Option<Span>) -> Put {
        // What a script writes.
        let script = command.via.last().filter(|_| command.words.is_empty()).map(String::as_str);
        if let Some(program) = script {
            let texts: Vec<String> = command.input().map(str::to_owned).into_iter().collect();
            return Put { unseen: texts.is_empty() && UNSEEN.contains(&program), texts };
        }
        if !inside.is_empty() {
            let mut put = Put::default();
            inside.iter().for_each(|command| put.add(self.output(command)));
            return put.joined();
        }
        let writes = |span: Span| command.effects.iter().any(|effect| is_written(effect.kind) && effect.span == span);
        let is_meant = |span: Span| target.map_or_else(|| writes(span), |target| target == span);
        let redirected = command.redirects.iter().any(|redirect| is_meant(redirect.target.span));
        if redirected || command.program() == Some("tee") {
            return self.output(command);
        }
        let mut put = Put::default();
        let mut sources = command.effects.iter().filter(|effect| effect.copied).peekable();
        put.unseen = sources.peek().is_none() && command.program().is_some_and(|program| UNSEEN.contains(&program));
        sources.for_each(|source| put.add(self.copied(source)));
        put
    }

    /// Keeps in mind what a command has put into files.
    fn remember(&mut self, command: &Command, put: &Put) {
        let mut source = None;
        for effect in &command.effects {
            // The source of a copy stands right before its target.
            if effect.copied {
                source = Some(effect);
                continue;
            }
            let Some(path) = effect.path.known().filter(|_| is_written(effect.kind) && !effect.folder) else {
                continue;
            };
            let (texts, unseen) = match source {
                Some(source) => {
                    let copy = self.copied(source);
                    (copy.texts.concat(), copy.unseen)
                }
                None => (put.texts.concat(), put.unseen),
            };
            // What is added stands behind what is there, seen or not.
            let before = if effect.kind == EffectKind::Append { self.content(path) } else { Put::default() };
            let known = !unseen && !before.unseen;
            self.written.insert(path.to_owned(), known.then(|| before.texts.concat() + &texts));
        }
    }
}

impl<'a> Evaluation<'a> {
    /// Prompts that a text writes, as they are once it has run, as far as it is known what is in them.
    pub(super) fn prompts(
        &mut self,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        let leads =
            |path: &str| is_prompt(path) || look.and_then(|look| look.real(path)).is_some_and(|real| is_prompt(&real));
        let is_target = |effect: &&Effect| {
            let path = effect.path.text();
            is_written(effect.kind) && !effect.folder && (leads(path) || effect.recursive && leads(&format!("{path}/")))
        };
        let targets: Vec<Option<&Effect>> =
            subjects.iter().map(|subject| subject.command.effects.iter().find(is_target)).collect();
        let homes = subjects.iter().any(|subject| self.other_home(subject.command).next().is_some());
        if !homes && targets.iter().all(Option::is_none) {
            return;
        }
        let mut files = Files { look, written: BTreeMap::new() };
        for (at, (subject, target)) in subjects.iter().zip(targets).enumerate() {
            let command = subject.command;
            self.starts_elsewhere(command, &files, field, world);
            let mut put = match self.call.kind {
                ToolKind::Write => {
                    Put { texts: subject.contents().iter().map(ToString::to_string).collect(), unseen: false }
                }
                _ => files.put(command, &inside(&subjects[at..]), target.map(|target| target.span)),
            };
            if self.call.kind == ToolKind::Write {
                // Each file of a patch begins behind a line with stars.
                put.texts = put.texts.iter().flat_map(|text| added_files(text)).collect();
            }
            if let Some(target) = target {
                self.prompt_of_command(command, target, &put, &files, field, world);
            }
            files.remember(command, &put);
        }
    }

    /// What a command puts into one prompt, or into those of a folder.
    fn prompt_of_command(
        &mut self,
        command: &Command,
        target: &Effect,
        put: &Put,
        files: &Files<'_>,
        field: &Field,
        world: &mut dyn GuardHost,
    ) {
        let evidence = evidence(field, target.span);
        // In a folder of skills each is a folder with one prompt; in others any file is one.
        let is_folder = |path: &str| files.look.is_some_and(|look| look.look(path) == Presence::Folder);
        let mut sources =
            command.effects.iter().filter(|effect| effect.copied).filter_map(|effect| effect.path.known());
        let any_file = !target.path.text().contains("skills/") && sources.any(is_folder);
        if put.unseen || any_file {
            self.native(NativeRule::PromptUnseen, "", vec![evidence.clone()]);
        }
        // What is added makes a prompt together with what is there.
        let path = target.path.known().filter(|_| target.kind == EffectKind::Append);
        let before = path.map(|path| files.content(path).texts.concat()).unwrap_or_default();
        for text in &put.texts {
            self.prompt(&before, &format!("{before}{text}"), target.path.text(), &evidence, world);
        }
    }

    /// The start-up files that a shell or git takes from another home folder than the person's.
    fn other_home<'c>(&self, command: &'c Command) -> impl Iterator<Item = (&'static str, String)> + use<'c> {
        let files = command.program().map_or(&[][..], |program| startup_files(program, &command.words));
        let home = self.call.home.clone();
        files.iter().filter_map(move |(variable, file)| {
            let own = command.assignments.iter().rev().find(|(name, _)| name == variable);
            let value = match own {
                Some((_, word)) => word.known(),
                None => command.env.get(variable).flatten(),
            };
            let folder = value.filter(|value| !value.is_empty() && home.as_deref() != Some(*value))?;
            Some((*file, absolute(&format!("{folder}/{file}"), command.shell_cwd.as_deref()?)))
        })
    }

    /// What start-up files in another home folder run.
    fn starts_elsewhere(&mut self, command: &Command, files: &Files<'_>, field: &Field, world: &mut dyn GuardHost) {
        let found: Vec<_> = self.other_home(command).collect();
        let at = evidence(field, command.span);
        // A start-up file that has another one run is not followed further.
        if self.call.in_prompt && !found.is_empty() {
            self.native(NativeRule::PromptUnseen, "", vec![at]);
            return;
        }
        for (file, path) in found {
            for text in files.content(&path).texts {
                let commands = if file.ends_with("config") { git_programs(&text) } else { vec![text] };
                let runner = command.program().unwrap_or_default();
                if commands.len() > MOST {
                    self.native(NativeRule::PromptUnseen, "", vec![at.clone()]);
                }
                for command in commands.into_iter().take(MOST) {
                    self.run_later(&command, &path, runner, &at, world);
                }
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
                    self.run_later(&content.value, &path, AGENT, &whole, world);
                }
                if content.value.contains('!') {
                    let all = marked(&before);
                    if all.len() > MOST {
                        self.native(NativeRule::PromptUnseen, "", vec![whole.clone()]);
                    }
                    for command in all.into_iter().take(MOST) {
                        self.run_later(&command, &path, AGENT, &whole, world);
                    }
                }
            }
        }
    }

    /// What a prompt runs that did not run before.
    fn prompt(&mut self, before: &str, text: &str, path: &str, at: &Evidence, world: &mut dyn GuardHost) {
        let is_toml = path.ends_with(".toml");
        let read = |text: &str| if is_toml { commands(&unescaped(text)) } else { commands(text) };
        let (mut runs, old) = (read(text), read(before));
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
            self.run_later(&command, path, AGENT, at, world);
        }
    }

    /// A command that a file has the agent run, or another program.
    fn run_later(&mut self, command: &str, path: &str, runner: &str, at: &Evidence, world: &mut dyn GuardHost) {
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
            let reason = format!("{name} makes {runner} run `{}` automatically: {}", command.trim(), found.reason);
            self.add(RuleMatch { reason, evidence: vec![at.clone()], ..found });
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
            ("---\n\"h\\u006foks\":\n  Stop: []\n---", &[], true),
            ("---\n? mcpServers\n: {}\n---", &[], true),
            ("---\nname: a\n!!str hooks: {}\n---", &[], true),
            ("---\n&x hooks: {}\n---", &[], true),
            ("---\n{name: a, hooks: {}}\n---", &[], true),
            ("---\n<<: *a\n---", &[], true),
            ("---\ndescription: 'a, hooks: b'\nnested:\n  hooks: 1\n---", &[], false),
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
    fn what_echo_and_printf_print_is_known() {
        let cases: &[(&[&str], Option<&str>)] = &[
            (&["a\\n"], Some("a\n")),
            (&["--", "- a"], Some("- a")),
            (&["%s\\n", "a", "b"], Some("a\nb\n")),
            (&["a %s%s", "!", "`"], Some("a !`")),
            (&["100%% %s"], Some("100% ")),
            (&["\\041"], None),
            (&["%b", "x"], None),
            (&["-v", "x", "y"], None),
        ];
        for (words, expected) in cases {
            assert_eq!(printed(words).as_deref(), *expected, "{words:?}");
        }
        assert_eq!(echoed(&["-n", "a", "b"]).as_deref(), Some("a b"));
        assert_eq!(echoed(&["-e", "a\\nb"]).as_deref(), Some("a\nb\n"));
        assert_eq!(echoed(&["\\x41"]), None);
    }

    #[test]
    fn programs_of_git_settings_are_found() {
        let settings = "[core]\n\tfsmonitor = \"./x; false\"\n\tautocrlf = input\n[diff \"a\"] textconv = y\n";
        assert_eq!(git_programs(settings), ["./x; false", "y"]);
    }

    #[test]
    fn prompts_are_told_by_their_folder() {
        let cases = [
            ("/p/.claude/commands/x.md", true),
            (".claude/skills/a/SKILL.md", true),
            (".claude/skills/a/more.MD", true),
            (".claude/skills/a", true),
            (".claude/skills/a/run", true),
            (".claude/skills/a/scripts/x.py", false),
            (".claude/skills/*/x.py", true),
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
