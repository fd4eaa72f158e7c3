//! What is done to the files that another command lists or finds.

use toolgate_shell::{Effect, EffectKind, Runs, SUBSTITUTION, Span, Value, Why, Word, absolute};

use crate::call::Field;
use crate::find_expression;
use crate::flow;
use crate::judge::{Evaluation, evidence};
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::path_zone::{PathZone, is_elsewhere};
use crate::world::GuardHost;

/// Programs whose output names files.
pub(super) const SEARCHES: &[&str] = &[
    "compgen", "du", "echo", "fd", "fdfind", "find", "grep", "locate", "ls", "plocate", "printf", "readlink",
    "realpath", "rg", "stat", "tree",
];

/// Programs that print the names of the files that they are given beside something of each.
const NAMERS: &[&str] = &["b2sum", "cksum", "file", "md5sum", "sha1sum", "sha256sum", "sha512sum", "sum", "wc"];

/// Programs that do away with the files that they are given.
pub(super) const REMOVERS: &[&str] = &["rm", "unlink", "shred", "truncate"];

impl Evaluation<'_> {
    /// Files that a search outside the workspace finds, and that something unnamed is done to.
    pub(in crate::judge) fn found_elsewhere(
        &mut self,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
    ) {
        let searches = |subject: &&MatchInput<'_>| {
            let lists = subject.command.program().is_some_and(|program| SEARCHES.contains(&program));
            let places = subject.command.effects.iter().zip(subject.places());
            // `echo "// text"` prints no path.
            let named = |word: &&str| *word == "/" || word.contains(char::is_alphanumeric);
            let words = || {
                let known = subject.command.words.iter().skip(1).filter_map(Word::known);
                known.flat_map(str::split_whitespace).filter(named)
            };
            let globs = || subject.command.words.iter().skip(1).filter(|word| matches!(word.value, Value::Pattern(_)));
            let is_outside = |word: &Word| {
                let path = absolute(word.value.text(), subject.command.cwd.as_deref().unwrap_or("/"));
                is_elsewhere(self.map.of(&Value::Pattern(path), false))
            };
            // `set -- ~/x/*` has them as arguments.
            let printed = matches!(subject.command.program(), Some("compgen" | "printf" | "echo" | "set"));
            // A script has listed a folder.
            let told = |(effect, place): (&Effect, &PathZone)| is_listing(effect) && is_elsewhere(*place);
            if subject.command.words.is_empty() {
                return subject.command.effects.iter().zip(subject.places()).any(told);
            }
            let named_first = subject.command.program().is_some_and(|program| NAMERS.contains(&program));
            (lists || named_first || subject.command.program() == Some("set"))
                && (places.into_iter().any(|(effect, place)| effect.kind == EffectKind::Read && is_elsewhere(*place))
                    || printed && globs().any(is_outside)
                    || printed && words().any(|word| word.starts_with('/') && is_elsewhere(self.map.place(word))))
        };
        let running = || subjects.iter().filter(|subject| subject.command.runs != Runs::Never);
        let found: Vec<&MatchInput<'_>> = running().filter(searches).collect();
        if found.is_empty() {
            return;
        }
        // What a script lists is only told to itself.
        let tells = |search: &&&MatchInput<'_>, subject: &MatchInput<'_>| {
            let of_script = search.command.words.is_empty();
            !of_script || subject.command.words.is_empty() && subject.command.via == search.command.via
        };
        let mut hit = Vec::new();
        for subject in running() {
            let Some(search) = found.iter().find(|search| tells(search, subject)) else { continue };
            for (effect, place) in subject.command.effects.iter().zip(subject.places()) {
                let unnamed = match &effect.path {
                    Value::Unknown { shape, .. } => {
                        matches!(place, PathZone::Found | PathZone::Unknown)
                            && shape.trim_matches(['/', Value::HOLE]).is_empty()
                    }
                    _ => false,
                };
                let loses = matches!(
                    effect.kind,
                    EffectKind::Delete | EffectKind::Move | EffectKind::Write | EffectKind::Mode | EffectKind::Link
                );
                if unnamed && loses {
                    hit.push((subject, effect.span, search.command.span));
                }
            }
        }
        for (subject, span, search) in hit {
            let evidence = vec![evidence(field, span), evidence(field, search)];
            self.coded_on(NativeRule::ChangeFound, subject, &field.value, world, evidence);
        }
    }

    /// Files that are removed because a command lists all that is there: `rm $(git ls-files)`.
    pub(in crate::judge) fn removes_listed(
        &mut self,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
    ) {
        let running = || subjects.iter().filter(|subject| subject.command.runs != Runs::Never);
        let lists: Vec<&MatchInput<'_>> = running().filter(|subject| self.lists_all(subject)).collect();
        if lists.is_empty() {
            return;
        }
        let removes =
            |subject: &&MatchInput<'_>| subject.command.program().is_some_and(|name| REMOVERS.contains(&name));
        for subject in running().filter(removes) {
            let hit = subject.command.effects.iter().zip(subject.places()).find_map(|(effect, place)| {
                let unnamed = matches!(place, PathZone::Found | PathZone::Unknown);
                if !unnamed || !matches!(effect.kind, EffectKind::Delete | EffectKind::Write) {
                    return None;
                }
                printed_by(subjects, &lists, subject, effect, false).map(|list| [effect.span, list.command.span])
            });
            if let Some(spans) = hit {
                let evidence = spans.map(|span| evidence(field, span)).to_vec();
                self.coded_on(NativeRule::RemoveListed, subject, &field.value, world, evidence);
            }
        }
    }

    /// Whether a command prints the names of all files of the workspace, or of a folder that people write in.
    fn lists_all(&self, subject: &MatchInput<'_>) -> bool {
        let command = subject.command;
        let whole = |path: &Value| matches!(self.map.of(path, true), PathZone::WorkspaceRoot | PathZone::Source);
        if let Some(names) = find_expression::names(command) {
            let prints_other =
                |word: &Word| ["-exec", "-ok"].iter().any(|action| word.value.text().starts_with(action));
            return names.is_empty()
                && !command.words.iter().any(prints_other)
                && command
                    .effects
                    .iter()
                    .any(|effect| effect.kind == EffectKind::Read && effect.recursive && whole(&effect.path));
        }
        let found = Some(subject).filter(|subject| subject.may_be("git")).and_then(MatchInput::invocation);
        let Some(found) = found.filter(|found| found.program == "git") else { return false };
        let Some((_, paths)) = found.operands.split_first().filter(|(first, _)| first.text == Some("ls-files")) else {
            return false;
        };
        let is_given =
            |names: &[&str]| found.options.iter().any(|given| names.iter().any(|name| found.is(given, name)));
        if is_given(&["-o", "--others", "-m", "--modified"]) {
            return true;
        }
        // Those are gone.
        if is_given(&["-d", "--deleted"]) {
            return false;
        }
        let Some(cwd) = &command.cwd else { return true };
        if paths.is_empty() {
            return !matches!(self.map.place(cwd), PathZone::Temporary | PathZone::Cache);
        }
        paths.iter().any(|path| {
            path.text.is_none_or(|text| {
                let path = absolute(text, cwd);
                let is_glob = text.contains(['*', '?', '[']);
                text == ":/" || whole(&if is_glob { Value::Pattern(path) } else { Value::Known(path) })
            })
        })
    }
}

/// Which of the commands that list files prints the path that an effect is on, if that is all there is of the path. Where it does
/// not matter which of the names come through, others may stand between (`filtered`).
pub(super) fn printed_by<'s, 'a>(
    subjects: &'s [MatchInput<'a>],
    lists: &[&'s MatchInput<'a>],
    subject: &MatchInput<'a>,
    effect: &Effect,
    filtered: bool,
) -> Option<&'s MatchInput<'a>> {
    let Value::Unknown { why, shape } = &effect.path else { return None };
    if !shape.trim_matches(['/', Value::HOLE]).is_empty() {
        return None;
    }
    // All that a substitution comes to.
    let substituted = |list: &&&'s MatchInput<'a>| {
        list.command.via.last().is_some_and(|via| via == SUBSTITUTION) && (filtered || list.pipeline().1.is_empty())
    };
    let mut all = lists.iter();
    let found = match why {
        Why::Argument => {
            let (before, _) = subject.pipeline();
            // What stands between may choose among them.
            let near = if filtered { before.as_slice() } else { &before[before.len().saturating_sub(1)..] };
            all.find(|list| near.iter().any(|other| std::ptr::eq(*other, list.command)))
        }
        Why::CommandOutput => {
            let inside = |span: Span| span.is_inside(effect.span) && span != effect.span;
            // Where it is a variable's, any that came before.
            let direct = subjects.iter().any(|other| inside(other.command.span));
            all.filter(substituted).find(|list| match direct {
                true => inside(list.command.span),
                false => list.index < subject.index,
            })
        }
        why => {
            let name = why.variable()?;
            let is_reader = |other: &&MatchInput<'a>| {
                flow::takes_lines(other.command)
                    && other.command.words.iter().skip(1).any(|word| word.known() == Some(name))
            };
            subjects.iter().take(subject.index).filter(is_reader).find_map(|reader| {
                let (before, _) = reader.pipeline();
                match before.as_slice() {
                    [] => lists.iter().find(substituted),
                    [only] => lists.iter().find(|list| std::ptr::eq(*only, list.command)),
                    several if filtered => {
                        lists.iter().find(|list| several.iter().any(|other| std::ptr::eq(*other, list.command)))
                    }
                    _ => None,
                }
            })
        }
    };
    found.copied()
}

/// Whether a script reads the names in a folder.
pub(super) fn is_listing(effect: &Effect) -> bool {
    effect.kind == EffectKind::Read && effect.folder
}
