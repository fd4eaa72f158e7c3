//! Changes that no commit has, in files that a command removes or empties and nobody names: by a glob, by the list that another
//! program prints. And in files over which git prints what is committed.

use toolgate_shell::{
    Command, Effect, EffectKind, Presence, ProgramWords, RedirectKind, Runs, SUBSTITUTION, Span, Value, Why, Word,
    absolute, is_within,
};

use super::search_results::{REMOVERS, printed_by};
use crate::call::{Field, Memory};
use crate::find_expression;
use crate::glob;
use crate::judge::{Evaluation, evidence};
use crate::matching::{MatchInput, adds_worktree, git_subcommand};
use crate::native_rule::NativeRule;
use crate::path_zone::{PathZone, is_product};
use crate::wildcard;
use crate::worktree;
use crate::world::{GuardHost, Tracked};

/// Most questions to git for one command: each takes some 15 ms. What more of them would tell is unknown.
const QUESTIONS: usize = 4;

/// Subcommands of git that print the names of files.
const GIT_LISTS: &[&str] = &["diff", "grep", "ls-files", "status"];

/// Other programs that do, and that `find_expression` does not know.
const LISTS: &[&str] = &["ag", "fd", "fdfind", "grep", "ls", "rg"];

impl Evaluation<'_> {
    /// Changes that a command loses.
    pub(in crate::judge) fn loses_uncommitted(
        &mut self,
        subject: &MatchInput<'_>,
        field: &Field,
        world: &mut dyn GuardHost,
    ) {
        let earlier = &self.call.earlier;
        let ours = |(effect, place): &(&Effect, &PathZone)| {
            let ours =
                is_of_workspace(**place) || **place == PathZone::Product && leads_to_work(subject, effect, world);
            ours && may_lose(subject, effect, earlier, world)
        };
        let effects: Vec<&Effect> =
            subject.command.effects.iter().zip(subject.places()).filter(ours).map(|(effect, _)| effect).collect();
        let lost = effects
            .iter()
            .enumerate()
            .find(|(asked, effect)| *asked == QUESTIONS || self.is_lost(subject, effect, world))
            .map(|(_, effect)| effect.span);
        if let Some(span) = lost.or_else(|| undone_diff(subject)) {
            let evidence = vec![evidence(field, span)];
            self.coded_on(NativeRule::LoseUncommitted, subject, &field.value, world, evidence);
        }
    }

    /// Whether a file that an effect is on has changes that no commit has.
    fn is_lost(&self, subject: &MatchInput<'_>, effect: &Effect, world: &mut dyn GuardHost) -> bool {
        match &effect.path {
            // What is copied is a whole folder, or may be one.
            Value::Known(path) if effect.recursive => {
                world.tracked(path) == Some(Tracked::Changed) || Listed::all(path).has_changes(world)
            }
            Value::Known(path) => {
                // To git a link is a file of its own, whatever it leads to.
                let led = led_to(path, world);
                let link = is_link(path, world);
                let is_same = |written: &String| *written == led || !link && written == path;
                match world.tracked(&led) {
                    Some(Tracked::Changed) => true,
                    // A file of its own the session may empty.
                    Some(Tracked::Untracked) => {
                        !is_record(&led)
                            && !self.call.earlier.written.iter().any(is_same)
                            && !super::is_made_before(subject, path)
                    }
                    _ => false,
                }
            }
            Value::Pattern(pattern) => {
                let pattern = &led_to(pattern, world);
                // Of a folder git writes all that is below.
                let recursive = effect.recursive || glob::first_wildcard(pattern).is_none();
                Listed::paths(pattern, recursive).has_changes(world)
            }
            Value::Unknown { shape, .. } => Listed::all(glob::known_part(shape).1).has_changes(world),
        }
    }

    /// Changes in files that a command removes because another one prints some names: `git diff --name-only | xargs rm`.
    pub(in crate::judge) fn removes_some_listed(
        &mut self,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
    ) {
        let running = || subjects.iter().filter(|subject| subject.command.runs != Runs::Never);
        let removes = |subject: &&MatchInput<'_>| {
            let loses = |effect: &Effect| effect.kind == EffectKind::Delete || writes_nothing(subject, effect);
            let is_remover = subject.command.program().is_some_and(|name| REMOVERS.contains(&name));
            is_remover || subject.command.effects.iter().any(loses) || edits_to_nothing(subject.command)
        };
        if running().all(|subject| !removes(&subject)) {
            return;
        }
        let lists: Vec<&MatchInput<'_>> = running().filter(|subject| !listed(subject).is_empty()).collect();
        for subject in running().filter(removes) {
            let unnamed = |(effect, place): &(&Effect, &PathZone)| {
                let gone = matches!(effect.kind, EffectKind::Delete | EffectKind::Write);
                gone && matches!(place, PathZone::Found | PathZone::Unknown)
            };
            let removed = subject.command.effects.iter().zip(subject.places()).filter(unnamed);
            let found_by = |effect: &Effect| {
                let finds = |list: &&&MatchInput<'_>| {
                    subject.command.via.last().is_some_and(|via| via == "find")
                        && subject.command.span.is_inside(list.command.span)
                };
                let found = lists.iter().copied().find(|list| finds(&list));
                let found = found.or_else(|| printed_by(subjects, &lists, subject, effect, true));
                found.or_else(|| told_to_script(&lists, subject, effect))
            };
            let mut removed = removed.map(|(effect, _)| (effect, found_by(effect)));
            let Some((effect, Some(list))) = removed.find(|(_, list)| list.is_some()) else { continue };
            if listed(list).iter().enumerate().any(|(asked, part)| asked == QUESTIONS || part.has_changes(world)) {
                let evidence = vec![evidence(field, effect.span), evidence(field, list.command.span)];
                self.coded_on(NativeRule::LoseUncommitted, subject, &field.value, world, evidence);
            }
        }
    }
}

/// Which of the commands that list files is piped into a script that removes what no word names:
/// `git ls-files -m | python3 -c '...os.remove(line.strip())'`.
fn told_to_script<'s, 'a>(
    lists: &[&'s MatchInput<'a>],
    subject: &MatchInput<'a>,
    effect: &Effect,
) -> Option<&'s MatchInput<'a>> {
    let command = subject.command;
    let is_open = matches!(effect.path, Value::Unknown { why: Why::Expansion, .. });
    let is_script = command.words.is_empty() && command.redirects.is_empty() && !command.preexisting;
    if !is_script || !is_open || effect.kind != EffectKind::Delete {
        return None;
    }
    let (before, _) = subject.pipeline();
    lists.iter().copied().find(|list| before.iter().any(|other| std::ptr::eq(*other, list.command)))
}

/// Whether what an effect is on is a link, or lies behind one, that leads from what a build makes to what somebody wrote.
fn leads_to_work(subject: &MatchInput<'_>, effect: &Effect, world: &mut dyn GuardHost) -> bool {
    if effect.kind != EffectKind::Write {
        return false;
    }
    let led = led_to(effect.path.text(), world);
    led != effect.path.text() && is_of_workspace(subject.zone(&led))
}

fn is_of_workspace(place: PathZone) -> bool {
    matches!(place, PathZone::Workspace | PathZone::WorkspaceSome | PathZone::WorkspaceRoot | PathZone::Source)
}

/// Whether an effect may lose what a file holds that it does not name, or of which it leaves nothing.
fn may_lose(subject: &MatchInput<'_>, effect: &Effect, earlier: &Memory, world: &mut dyn GuardHost) -> bool {
    let command = subject.command;
    let loses = match (&effect.path, effect.kind) {
        // What git takes for a path where no branch is called so.
        (Value::Pattern(text), EffectKind::Write)
            if command.program() == Some("git") && !is_redirected(command, effect) =>
        {
            glob::first_wildcard(text).is_none()
        }
        (Value::Pattern(_), EffectKind::Delete) => command.program() != Some("git"),
        // A variable that may be empty: `rm -rf src/$UNSET`.
        (Value::Unknown { why, .. }, EffectKind::Delete) => {
            let unset = why.variable().is_some() || matches!(why, Why::Default(_) | Why::Expansion);
            effect.recursive && unset
        }
        // `ln -sf other FILE`; a link holds nothing itself.
        (Value::Known(path), EffectKind::Link) => !is_link(path, world),
        (Value::Known(_), EffectKind::Write | EffectKind::Delete) if takes_back(command) => true,
        (Value::Pattern(_) | Value::Known(_), EffectKind::Write) => {
            writes_nothing(subject, effect)
                || prints_committed(subject, effect)
                || edits_to_nothing(command)
                || writes_output_of_git(command, effect)
                || is_copied(command, effect) && copies_worktree(subject, effect, world)
                || unpacks_own(subject, earlier)
        }
        _ => false,
    };
    loses && !glob::names(&led_to(effect.path.text(), world)).any(is_product)
}

/// Whether a command of git writes what it prints to a file that an option names, and that is no patch.
fn writes_output_of_git(command: &Command, effect: &Effect) -> bool {
    let names =
        |word: &Word| word.span == effect.span && word.known().is_some_and(|text| text.starts_with("--output="));
    let is_patch = [".diff", ".patch"].iter().any(|ending| effect.path.text().ends_with(ending));
    command.program() == Some("git") && !is_patch && command.words.iter().any(names)
}

/// Whether a command unpacks an archive that an earlier call has written, and not fetched, over what is there.
fn unpacks_own(subject: &MatchInput<'_>, earlier: &Memory) -> bool {
    const KEEP: &[&str] = &["-k", "-n", "--keep-old-files", "--skip-old-files"];
    const UNPACKERS: &[&str] = &["7z", "7za", "bsdtar", "cpio", "gtar", "pax", "tar", "unzip"];
    let command = subject.command;
    let mut words = command.words.iter().filter_map(Word::known);
    if !command.program().is_some_and(|name| UNPACKERS.contains(&name)) || words.any(|word| KEEP.contains(&word)) {
        return false;
    }
    let is_own = |path: &str| earlier.has_written(path) && !earlier.files.iter().any(|(file, _)| file == path);
    let commands = subject.pipeline().0.into_iter().chain([command]);
    let mut read = commands.flat_map(|command| &command.effects).filter(|effect| effect.kind == EffectKind::Read);
    read.any(|effect| effect.path.known().is_some_and(is_own))
}

/// Whether a path is itself a link.
fn is_link(path: &str, world: &mut dyn GuardHost) -> bool {
    let Some((folder, name)) = path.rsplit_once('/').filter(|(folder, _)| !folder.is_empty()) else { return false };
    led_to(path, world) != format!("{}/{name}", led_to(folder, world))
}

/// Whether a file only records what programs say, and is emptied every day.
fn is_record(path: &str) -> bool {
    const ENDINGS: &[&str] = &["err", "lock", "log", "out", "pid", "tmp", "txt"];
    path.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// Where a command undoes changes by git's own description of them: `git diff > f; git apply -R f`, `git diff -R | git apply`.
fn undone_diff(subject: &MatchInput<'_>) -> Option<Span> {
    const PRINTS: &[&str] = &["diff", "diff-files", "diff-index", "format-patch", "show"];
    let command = subject.command;
    let words =
        |command: &Command| command.words.iter().filter_map(|word| word.known().map(str::to_owned)).collect::<Vec<_>>();
    let own = words(command);
    let applies = match own.first().map(String::as_str) {
        Some("git") => own.iter().any(|word| word == "apply"),
        Some(name) => name == "patch",
        None => false,
    };
    if !applies || own.iter().any(|word| matches!(word.as_str(), "--check" | "--stat" | "--numstat" | "--dry-run")) {
        return None;
    }
    let prints = |other: &Command| {
        other.program() == Some("git") && words(other).iter().skip(1).any(|word| PRINTS.contains(&word.as_str()))
    };
    let is_turned = |words: &[String]| words.iter().any(|word| turns(word));
    let (before, _) = subject.pipeline();
    // `git apply <(git diff -R)`
    let is_inside = |other: &&Command| {
        other.via.last().is_some_and(|via| via == SUBSTITUTION) && other.span.is_inside(command.span)
    };
    let inside = subject.script().commands.iter().filter(is_inside);
    let mut given = before.iter().copied().chain(inside);
    if given.any(|other| prints(other) && is_turned(&words(other)) != is_turned(&own)) {
        return Some(command.span);
    }
    let reads =
        |path: &Value| command.effects.iter().any(|effect| effect.kind == EffectKind::Read && effect.path == *path);
    let gives = |other: &&Command| {
        let into = other.effects.iter().any(|effect| effect.kind == EffectKind::Write && reads(&effect.path));
        into && prints(other) && is_turned(&words(other)) != is_turned(&own)
    };
    subject.script().commands.iter().take(subject.index).find(gives).map(|_| command.span)
}

/// Whether a word is the option that turns a patch round, perhaps among other letters.
fn turns(word: &str) -> bool {
    word == "--reverse"
        || word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains('R'))
}

/// Whether a command takes back what a patch brought.
fn takes_back(command: &Command) -> bool {
    let applies = match command.program() {
        Some("git") => git_subcommand(command).as_deref() == Some("apply"),
        program => matches!(program, Some("patch" | "gpatch")),
    };
    applies && command.words.iter().skip(1).filter_map(Word::known).any(turns)
}

/// Whether a redirect of a command opens what an effect is on, and empties it.
fn is_redirected(command: &Command, effect: &Effect) -> bool {
    let opens = |kind: RedirectKind| kind == RedirectKind::Write;
    command.redirects.iter().any(|redirect| opens(redirect.kind) && redirect.target.span == effect.span)
}

/// Whether a command leaves nothing in what it writes.
fn writes_nothing(subject: &MatchInput<'_>, effect: &Effect) -> bool {
    let command = subject.command;
    let is_null = |word: &Word| matches!(word.known(), Some("/dev/null" | "if=/dev/null"));
    match command.program() {
        // `fs.copyFileSync("/dev/null", "FILE")`
        None if command.redirects.is_empty() => {
            let is_null = |read: &Effect| read.kind == EffectKind::Read && read.path.known() == Some("/dev/null");
            effect.kind == EffectKind::Write && command.effects.iter().any(is_null)
        }
        None | Some(":" | "true" | "false") => is_redirected(command, effect),
        Some("truncate") => subject.invocation().is_some_and(|found| {
            let zero = |value: Option<&str>| value == Some("0");
            found.options.iter().any(|given| found.is(given, "--size") && zero(given.value))
                || found.options.iter().any(|given| found.is(given, "-s") && zero(given.value))
        }),
        Some("cat" | "cp" | "dd" | "install" | "tee" | "uniq") => {
            let read = |kind: RedirectKind| kind == RedirectKind::Read;
            command.words.iter().any(is_null)
                || command.redirects.iter().any(|one| read(one.kind) && is_null(&one.target))
        }
        _ => false,
    }
}

/// Whether an effect is that of a copy or a move: onto a file, into a folder, or out of an archive that another program prints.
fn is_copied(command: &Command, effect: &Effect) -> bool {
    let brings = |effect: &Effect| effect.copied || effect.kind == EffectKind::Move;
    let shows = matches!(command.program(), Some("cat" | "dd" | "install" | "sponge" | "tee"));
    shows || effect.recursive || matches!(effect.path, Value::Pattern(_)) || command.effects.iter().any(brings)
}

/// Whether a command copies what is as it was committed: from another worktree, which the text has added or which is there, from a
/// repository as a whole, from a clone of the one that it copies to, or from what git has written earlier in the text.
fn copies_worktree(subject: &MatchInput<'_>, effect: &Effect, world: &mut dyn GuardHost) -> bool {
    let look = world.look();
    let earlier = &subject.script().commands[..subject.index];
    let by_git = |path: &str| (0..earlier.len()).any(|at| writes_committed(earlier, at, path));
    let there = |folder: &str| look.as_deref().is_some_and(|look| worktree::says_elsewhere(folder, look));
    let is_top = |folder: &str| {
        let own = absolute(".git", folder);
        look.as_deref().is_some_and(|look| look.look(&own) != Presence::Absent)
    };
    let to = effect.path.text();
    let to = if effect.path.known().is_some() { to } else { glob::known_part(to).1 };
    let is_clone = |top: &str| {
        let root = look.as_deref().and_then(|look| Some((worktree::top(to, look)?, look)));
        root.is_some_and(|(root, look)| worktree::is_clone_of(top, &root, look))
    };
    // The nearest one around; it is not the one that is copied to.
    let is_committed = |read: &Effect| {
        let (path, whole) = match &read.path {
            Value::Known(path) => (path.as_str(), true),
            Value::Pattern(pattern) => (glob::known_part(pattern).1, false),
            Value::Unknown { .. } => return false,
        };
        let path = path.trim_end_matches(['/', '.']);
        if by_git(path) || read.kind == EffectKind::Move {
            return by_git(path) && !is_within(effect.path.text(), path);
        }
        let above = path.rmatch_indices('/').map(|(at, _)| &path[..at]).filter(|folder| !folder.is_empty());
        let top = std::iter::once(path).chain(above).find(|folder| is_top(folder));
        let holds = |top: &str| whole && top == path || there(top) || is_clone(top);
        top.is_some_and(|top| !is_within(effect.path.text(), top) && holds(top))
    };
    let commands = subject.pipeline().0.into_iter().chain([subject.command]);
    let read = |effect: &&Effect| matches!(effect.kind, EffectKind::Read | EffectKind::Move);
    let mut read = commands.flat_map(|command| &command.effects).filter(read);
    read.any(is_committed)
}

/// Whether the command of this number leaves at a path, or in a folder around it, what git holds: a worktree that it adds, a clone
/// of a repository of this machine, an archive that it unpacks, a file that git prints.
fn writes_committed(commands: &[Command], at: usize, path: &str) -> bool {
    let command = &commands[at];
    let leaves = |effect: &Effect| {
        let holds = matches!(effect.kind, EffectKind::Create | EffectKind::Write);
        let (text, folder) = match &effect.path {
            Value::Known(path) => (path.as_str(), path.as_str()),
            other => glob::known_part(other.text()),
        };
        holds && !text.is_empty() && is_within(path, folder)
    };
    let is = |command: &Command, name: &str| git_subcommand(command).as_deref() == Some(name);
    // `git checkout-index --prefix=FOLDER/`, which has no effects here.
    let prefix = |word: &Word| {
        let folder = word.known()?.strip_prefix("--prefix=")?.trim_end_matches('/');
        Some(is_within(path, &absolute(folder, command.cwd.as_deref()?)))
    };
    if is(command, "checkout-index") {
        return command.words.iter().filter_map(prefix).any(|within| within);
    }
    let fed = || at.checked_sub(1).map(|before| &commands[before]);
    command.effects.iter().any(leaves)
        && (adds_worktree(command)
            || shows_committed(command)
            || clones_from_here(command)
            || is(command, "archive")
            || fed().is_some_and(|before| shows_committed(before) || is(before, "archive")))
}

/// Whether a command clones a repository of this machine.
fn clones_from_here(command: &Command) -> bool {
    let is_remote = |text: &str| {
        let scheme = text.split_once("://").is_some_and(|(scheme, _)| scheme != "file");
        scheme || text.split_once(':').is_some_and(|(host, _)| !host.contains('/') && !text.contains("://"))
    };
    git_subcommand(command).as_deref() == Some("clone") && !command.words.iter().filter_map(Word::known).any(is_remote)
}

/// Whether an editor in place prints no line of a file: `sed -n -i ''`, `perl -ni -e 0`.
fn edits_to_nothing(command: &Command) -> bool {
    let Some(program) = command.program().filter(|program| matches!(*program, "sed" | "gsed" | "perl")) else {
        return false;
    };
    let read = ProgramWords::read(program, command.words.get(1..).unwrap_or_default());
    let given: Vec<&Word> = read.values(&["e", "expression"]).collect();
    let scripts: Vec<&Word> = if given.is_empty() { read.words().take(1).collect() } else { given };
    let prints: &[&str] = if program == "perl" { &["print", "say", "write"] } else { &["p", "w", "P", "{"] };
    let is_silent = |script: &&Word| script.known().is_some_and(|text| !prints.iter().any(|mark| text.contains(mark)));
    let edits = read.has("n") && read.has("i") && !read.has("f") && (program != "perl" || !read.has("p"));
    edits && scripts.iter().all(is_silent)
}

/// Where a path leads.
pub(super) fn led_to(path: &str, world: &mut dyn GuardHost) -> String {
    let (known, folder) = glob::known_part(path);
    let place = if known.len() == path.len() { path } else { folder };
    let real = world.resolve(&[place.to_owned()]).ok().and_then(|mut all| all.pop()).flatten();
    real.map_or_else(|| path.to_owned(), |real| format!("{real}{}", &path[place.len()..]))
}

/// Whether git prints what is committed over what an effect is on: `git show HEAD:f > f`, `git show HEAD:f | tee f`.
fn prints_committed(subject: &MatchInput<'_>, effect: &Effect) -> bool {
    let command = subject.command;
    let copies = matches!(command.program(), Some("tee" | "sponge" | "dd"));
    shows_committed(command) && is_redirected(command, effect)
        || copies && subject.pipeline().0.into_iter().any(shows_committed)
}

/// Whether a command of git prints a file as it is in a commit or the index.
fn shows_committed(command: &Command) -> bool {
    if command.program() != Some("git") {
        return false;
    }
    let read = ProgramWords::read("git", command.words.get(1..).unwrap_or_default());
    let mut operands = read.words().map(Word::known);
    let prints = matches!(operands.next(), Some(Some("show" | "cat-file")));
    prints && operands.any(|text| text.is_none_or(|text| text.contains(':')))
}

/// Files that a command lists or finds.
pub(super) struct Listed {
    /// The folder that they lie in.
    folder: String,
    /// A glob for their whole paths, if there is one, and whether it stands for what lies below as well.
    paths: Option<(String, bool)>,
    /// Globs of which one fits the name of each; none if any name does.
    names: Vec<String>,
}

impl Listed {
    /// All in a folder.
    fn all(folder: &str) -> Self {
        Listed { folder: folder.to_owned(), paths: None, names: Vec::new() }
    }

    /// What a glob stands for.
    pub(super) fn paths(pattern: &str, recursive: bool) -> Self {
        let folder = glob::known_part(pattern).1.to_owned();
        Listed { folder, paths: Some((pattern.to_owned(), recursive)), names: Vec::new() }
    }

    /// Whether one of them has changes that no commit has.
    fn has_changes(&self, world: &mut dyn GuardHost) -> bool {
        let changed = world.changed_below(&self.folder).unwrap_or_default();
        changed.iter().any(|file| self.has_name(file) && self.has_path(file))
    }

    fn has_name(&self, file: &str) -> bool {
        let name = file.rsplit('/').next().unwrap_or(file);
        self.names.is_empty() || self.names.iter().any(|names| wildcard::fits(names, name))
    }

    pub(super) fn has_path(&self, file: &str) -> bool {
        let Some((pattern, recursive)) = &self.paths else { return true };
        // What is no glob here may stand for anything.
        let Ok(alternatives) = glob::alternatives(pattern) else { return true };
        let names: Vec<String> = glob::names(&file.to_lowercase()).map(str::to_owned).collect();
        alternatives.iter().any(|segments| {
            let deep = *recursive || segments.iter().any(|segment| matches!(segment, glob::Segment::Deep));
            (deep || segments.len() == names.len()) && glob::fit(segments, &names)
        })
    }
}

/// What a command prints the names of.
fn listed(subject: &MatchInput<'_>) -> Vec<Listed> {
    let command = subject.command;
    if let Some(names) = find_expression::names(command) {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        return searched(command).map(|part| Listed { names: names.clone(), ..part }).collect();
    }
    if command.program().is_some_and(|program| LISTS.contains(&program)) {
        return searched(command).collect();
    }
    let Some(found) = Some(subject).filter(|subject| subject.may_be("git")).and_then(MatchInput::invocation) else {
        return Vec::new();
    };
    let (Some((first, paths)), Some(cwd)) = (found.operands.split_first(), &command.cwd) else { return Vec::new() };
    // Files that are gone, and those that git knows nothing of.
    let is_given = |names: &[&str]| found.options.iter().any(|given| names.iter().any(|name| found.is(given, name)));
    if !first.text.is_some_and(|text| GIT_LISTS.contains(&text)) || is_given(&["-d", "--deleted"]) {
        return Vec::new();
    }
    let globs = || paths.iter().filter_map(|path| path.text).filter(|text| text.contains(['*', '?', '[']));
    if first.text != Some("ls-files") || paths.is_empty() || globs().count() < paths.len() {
        return vec![Listed::all(cwd)];
    }
    // A pathspec without a slash fits names in any folder.
    let part = |text: &str| match text.contains('/') {
        true => Listed::paths(&absolute(text, cwd), false),
        false => Listed { names: vec![text.to_owned()], ..Listed::all(cwd) },
    };
    globs().map(part).collect()
}

/// Where a command looks for files, by what it reads.
fn searched(command: &Command) -> impl Iterator<Item = Listed> {
    command.effects.iter().filter(|effect| effect.kind == EffectKind::Read).filter_map(|effect| match &effect.path {
        Value::Known(path) => Some(Listed::all(path)),
        Value::Pattern(pattern) => Some(Listed::paths(pattern, effect.recursive)),
        Value::Unknown { .. } => None,
    })
}
