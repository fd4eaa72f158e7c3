//! Secrets on their way: from the environment or a file of secrets into variables, pipes, files and commits, in one text and from
//! one call of the session to the next.
//!
//! What has a secret in it may be made and used here. It is asked about where it leaves for a host that it is not for, where
//! git takes it in, and where it is shown.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use toolgate_names::secrets::is_secret_variable;
use toolgate_shell::{
    Command, Effect, EffectKind, FileOracle, Presence, ProgramWords, RedirectKind, Runs, SUBSTITUTION, Span, Value,
    Word, absolute,
};

use super::code_secrets::{self, EnvAccess};
use super::secret_exfiltration::{Secret, goes_elsewhere, is_credential, sent};
use super::secret_output::{
    edits_in_place, hides_values, is_shown, prints_database, prints_environment, secrets_in, speaks, without_sought,
};
use super::untracked::SECRETS;
use crate::call::{Field, Memory, ToolKind};
use crate::flow::{is_filled, is_interpreter, is_network};
use crate::invocation::Invocation;
use crate::judge::recursive_reads::read_below;
use crate::judge::{Evaluation, evidence, tilde};
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::wildcard;
use crate::world::{GuardHost, Tracked};

/// The names of the variables whose values something has; an empty one stands for several, and for what has no name.
type Names = BTreeSet<String>;

/// Programs that put their words, or what is given to them as text, into what they print.
const PRINTERS: &[&str] =
    &["base64", "cat", "echo", "envsubst", "jq", "print", "printf", "rev", "sed", "tee", "tr", "xxd"];

/// Programs that pass on what they are given, in a form that tells it.
const FILTERS: &[&str] = &[
    "awk", "base32", "base64", "bzip2", "cat", "column", "cut", "dd", "expand", "fmt", "fold", "gawk", "grep", "gzip",
    "head", "hexdump", "jq", "less", "more", "nl", "od", "openssl", "paste", "pr", "rev", "sed", "sort", "split",
    "sponge", "strings", "tac", "tail", "tar", "tee", "tr", "uniq", "xxd", "xz", "zip", "zstd",
];

/// Programs that send what is piped to them to somebody who may look at it.
const SENDERS: &[&str] = &[
    "autossh", "aws", "curl", "ftp", "git", "gsutil", "http", "https", "mail", "mailx", "mutt", "nc", "ncat", "netcat",
    "openssl", "rclone", "rsh", "s3cmd", "sendmail", "sftp", "socat", "ssh", "telnet", "wget", "xh", "xhs",
];

/// Programs that show what is in a file as it is, or most of it.
const SHOWERS: &[&str] = &[
    "ag", "awk", "base32", "base64", "bat", "batcat", "cat", "column", "cut", "dd", "diff", "egrep", "fgrep", "fold",
    "gawk", "grep", "head", "hexdump", "jq", "less", "more", "nl", "od", "openssl", "paste", "pr", "rev", "rg", "sed",
    "sort", "strings", "tac", "tail", "tee", "tr", "uniq", "view", "xxd", "zcat",
];

/// What is known of secrets while a text is gone through.
struct Trace {
    /// Files that have some, and which.
    files: Vec<(String, String)>,
    /// How many of these earlier calls have made.
    earlier: usize,
    /// Variables of the text that have some, and which.
    variables: Vec<(String, String)>,
    /// What each command prints of them, by its place, and what comes to it through a pipe.
    printed: Vec<Names>,
    arrived: Vec<Names>,
}

impl Evaluation<'_> {
    /// Follows secrets through a text, and finds where they leave.
    pub(in crate::judge) fn carries(
        &mut self,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        let earlier = self.call.earlier.secrets.to_vec();
        let mut trace = Trace {
            earlier: earlier.len(),
            files: earlier,
            variables: Vec::new(),
            printed: vec![Names::new(); subjects.len()],
            arrived: Vec::with_capacity(subjects.len()),
        };
        let scene = Scene::of(subjects, &field.value, look, &self.call.earlier);
        for (at, subject) in subjects.iter().enumerate() {
            let command = subject.command;
            let arrived = scene.arriving(at, &trace);
            trace.arrived.push(arrived);
            let others = command.preexisting && !scene.is_of_session(at);
            if command.runs == Runs::Never || others || command.scanned || command.elsewhere {
                continue;
            }
            scene.follow(at, &mut trace);
            self.leaves(&scene, at, &trace, field, world);
            self.enters_git(&scene, at, &trace, field, world);
            self.is_told(&scene, at, &trace, field, world);
        }
        let mut new = trace.files.split_off(trace.earlier.min(trace.files.len()));
        // Another call's names are other ones.
        new.retain(|(path, _)| !path.contains(Value::HOLE));
        if !new.is_empty() {
            self.memory.get_or_insert_with(|| self.call.earlier.clone()).add_secrets(new);
        }
    }

    /// A secret that a command sends to a host that it is not for.
    fn leaves(&mut self, scene: &Scene<'_, '_>, at: usize, trace: &Trace, field: &Field, world: &mut dyn GuardHost) {
        let subject = &scene.subjects[at];
        let command = subject.command;
        let foreign = |name: &str, credential: bool| {
            let secret = Secret { name: name.to_owned(), credential, span: Span::default() };
            goes_elsewhere(command, &secret)
        };
        let code = scene.code_around(at);
        let taken = |code: &Code| code.takes.iter().any(|name| foreign(name, code.credential && !name.is_empty()));
        if code.is_some_and(|code| taken(&code)) {
            let evidence = vec![evidence(field, command.span)];
            self.coded_on(NativeRule::SecretInCode, subject, &field.value, world, evidence);
        }
        // The words of a command are judged where it stands; here are those that have a secret by way of another variable, or that
        // stand in a script of the session.
        let mut given = scene.sent_by_variable(at, trace);
        given.extend(sent(command, "").into_iter().filter(|_| command.preexisting));
        let sends = command.program().is_some_and(|program| SENDERS.contains(&program));
        given.extend(if sends { scene.sent_by_code(command) } else { Vec::new() });
        if let Some(secret) = given.iter().find(|secret| sends && foreign(&secret.name, secret.credential)) {
            let evidence = vec![evidence(field, secret.span)];
            self.coded_on(NativeRule::SendSecretVariable, subject, &field.value, world, evidence);
        }
        let mut names = if sends || has_network(command) { trace.arrived[at].clone() } else { Names::new() };
        names.extend(scene.inside(at, trace));
        names.extend(scene.read(at, trace));
        let remote = (copies_away(command) || mails(command)) && !names.is_empty();
        if remote || names.iter().any(|name| foreign(name, false)) {
            let evidence = vec![evidence(field, command.span)];
            self.coded_on(NativeRule::SendSecretCopy, subject, &field.value, world, evidence);
        }
    }

    /// A secret that git takes in, by a file or a message.
    fn enters_git(
        &mut self,
        scene: &Scene<'_, '_>,
        at: usize,
        trace: &Trace,
        field: &Field,
        world: &mut dyn GuardHost,
    ) {
        let subject = &scene.subjects[at];
        let Some(found) = subject.invocation().filter(|found| found.program == "git") else { return };
        let subcommand = found.operands.first().and_then(|operand| operand.text).unwrap_or_default();
        let says = matches!(subcommand, "commit" | "tag" | "notes" | "commit-tree" | "hash-object")
            && (!sent(subject.command, scene.text).is_empty() && has_unknown(subject.command)
                || !scene.sent_by_variable(at, trace).is_empty()
                || !scene.inside(at, trace).is_empty());
        let takes = |file: &str, new: bool, world: &mut dyn GuardHost| match subcommand {
            "add" | "stage" => {
                scene.is_added(subject, found, file)
                    && (found.has(&["-f", "--force"]) || world.tracked(file) != Some(Tracked::Ignored))
            }
            "commit" => {
                let tracked = |state| state == Tracked::Changed || new && state == Tracked::Held;
                (found.has(&["-a", "--all"]) || is_named(subject, found, file, None))
                    && world.tracked(file).is_some_and(tracked)
            }
            _ => false,
        };
        let any = trace.files.iter().any(|(file, _)| file == Memory::ANYWHERE);
        let named = trace.files.iter().enumerate().map(|(at, (file, _))| (file.as_str(), at >= trace.earlier));
        let written = scene.earlier.written.iter().map(|file| (file.as_str(), false));
        let mut files =
            named.chain(written.filter(|_| any)).chain(scene.filled.iter().map(|file| (*file, true)).filter(|_| any));
        if says || files.any(|(file, new)| takes(file, new, world)) {
            let evidence = vec![evidence(field, subject.command.span)];
            self.coded_on(NativeRule::AddSecret, subject, &field.value, world, evidence);
        }
    }

    /// A secret that comes to whoever looks on, out of a file that it was put into or by code.
    fn is_told(&mut self, scene: &Scene<'_, '_>, at: usize, trace: &Trace, field: &Field, world: &mut dyn GuardHost) {
        let subject = &scene.subjects[at];
        let command = subject.command;
        let shown = |subject: &MatchInput<'_>| is_shown(subject) && !subject.pipeline().1.into_iter().any(hides_values);
        let shows = command.program().is_some_and(|program| SHOWERS.contains(&program))
            && !scene.hides[at]
            && !tells_little(command);
        let read = || !scene.copies(at, trace).is_empty() || scene.reads_listed(at) || scene.reads_with_dots(at);
        let held = shows && read() || unpacks_to_output(command) && !trace.arrived[at].is_empty();
        if held && shown(subject) {
            let evidence = vec![evidence(field, command.span)];
            self.coded_on(NativeRule::ShowSecretCopy, subject, &field.value, world, evidence);
        }
        // Code that is given as words is judged by rules on words.
        let script = scene.session_code(at);
        if let Some((program, code)) = script.filter(|_| shown(subject))
            && code_secrets::prints(program, &code)
        {
            let evidence = vec![evidence(field, command.span)];
            self.coded_on(NativeRule::PrintEnvironment, subject, &field.value, world, evidence);
        }
        if (scene.shows_each_variable(command) || scene.makes_known(at)) && shown(subject) {
            let evidence = vec![evidence(field, command.span)];
            self.coded_on(NativeRule::PrintEnvironment, subject, &field.value, world, evidence);
        }
    }

    /// A file with secrets that a file tool reads.
    pub(in crate::judge) fn reads_copy(&mut self) {
        let call = self.call;
        if call.kind != ToolKind::Read {
            return;
        }
        let has_secrets = |field: &&Field| {
            let path = absolute(&tilde(&field.value, call), &call.cwd);
            let is_read = |file: &str| file == path || file == Memory::ANYWHERE && call.earlier.has_written(&path);
            call.earlier.secrets.iter().any(|(file, _)| is_read(file))
        };
        if let Some(field) = call.paths.iter().find(has_secrets) {
            let whole = Span { start: 0, end: field.value.len() };
            self.native(NativeRule::ShowSecretCopy, "", vec![evidence(field, whole)]);
        }
    }
}

/// A text that is gone through.
struct Scene<'s, 'a> {
    subjects: &'s [MatchInput<'a>],
    text: &'s str,
    look: Option<&'s dyn FileOracle>,
    earlier: &'s Memory,
    /// Of each program in another language what its code is, which is long.
    codes: RefCell<FxHashMap<usize, Rc<Code>>>,
    /// Which commands print none of the values that they are given, and which of those whose output such a one is given.
    hides: Vec<bool>,
    swallowed: Vec<bool>,
    /// The files that commands of the text write.
    filled: FxHashSet<&'a str>,
    /// Around each command the longest run of commands that are as deep as it is, or deeper.
    blocks: Vec<(usize, usize)>,
    /// Where the first command ends that lists all variables.
    listed: usize,
    /// What commands have of secrets by themselves, and what was known by then.
    owned: RefCell<FxHashMap<usize, (State, Names)>>,
    /// What the commands of a block read of the first files with secrets.
    beside: RefCell<FxHashMap<(usize, usize), (usize, Names)>>,
}

/// How many files and variables with secrets are known.
type State = (usize, usize);

/// What code takes from the environment.
struct Code {
    takes: Names,
    /// It says that it is a credential.
    credential: bool,
}

impl<'s, 'a> Scene<'s, 'a> {
    fn of(
        subjects: &'s [MatchInput<'a>],
        text: &'s str,
        look: Option<&'s dyn FileOracle>,
        earlier: &'s Memory,
    ) -> Self {
        let hides: Vec<bool> = subjects.iter().map(|subject| hides_values(subject.command)).collect();
        let mut swallowed = vec![false; subjects.len()];
        for (at, subject) in subjects.iter().enumerate().rev() {
            if let Some(before) = subject.piped_from() {
                swallowed[before] = swallowed[at] || subject.stage(at).any(|number| hides[number]);
            }
        }
        let effects = subjects.iter().flat_map(|subject| &subject.command.effects);
        let filled = effects.filter(|effect| is_filled(effect.kind)).filter_map(|effect| effect.path.known()).collect();
        Scene {
            subjects,
            text,
            look,
            earlier,
            codes: RefCell::default(),
            hides,
            swallowed,
            filled,
            blocks: blocks(subjects),
            listed: first_listing(text),
            owned: RefCell::default(),
            beside: RefCell::default(),
        }
    }
    /// Whether git is told to add a file: by its name, a folder above it, or with all that is there.
    fn is_added(&self, subject: &MatchInput<'_>, found: &Invocation<'_>, file: &str) -> bool {
        let Some(cwd) = subject.command.cwd.as_deref() else { return false };
        let is_top = |folder: &&str| {
            self.look
                .is_some_and(|look| matches!(look.look(&absolute(".git", folder)), Presence::File | Presence::Folder))
        };
        let mut above =
            std::iter::successors(Some(cwd), |folder| Some(folder.rsplit_once('/')?.0).filter(|one| !one.is_empty()));
        let top = above.find(is_top).unwrap_or(cwd);
        let all = found.has(&["-A", "--all"]) && found.operands.len() < 2;
        all && covers(top, file) || is_named(subject, found, file, Some(top))
    }

    /// Whether a command stands in a script that an earlier call of the session has written.
    fn is_of_session(&self, at: usize) -> bool {
        let inner = self.subjects[at].command;
        if self.earlier.written.is_empty() {
            return false;
        }
        let runs = |outer: &&MatchInput<'_>| {
            let outer = outer.command;
            let mut run = outer.effects.iter().filter(|effect| effect.kind == EffectKind::Execute);
            !outer.preexisting
                && inner.span.is_inside(outer.span)
                && run.any(|effect| effect.path.known().is_some_and(|path| self.has_written(path)))
        };
        self.subjects[..at].iter().rev().any(|outer| runs(&outer))
    }

    /// Whether an earlier call of the session has written a file.
    fn has_written(&self, path: &str) -> bool {
        self.earlier.has_written(path)
    }

    /// Notes what a command prints of secrets, and which files and variables it puts them into.
    fn follow(&self, at: usize, trace: &mut Trace) {
        let command = self.subjects[at].command;
        let own = self.own(at, trace);
        let passes = command.program().is_some_and(|program| FILTERS.contains(&program) || PRINTERS.contains(&program))
            || command.words.is_empty() && command.via.is_empty();
        let mut names = own;
        if passes && !self.hides[at] {
            names.extend(trace.arrived[at].iter().cloned());
        }
        self.set_variables(at, &names, trace);
        self.fill_files(at, &names, trace);
        trace.printed[at] = few(names);
    }

    /// What a command has of secrets by itself: its words, the environment, files.
    fn own(&self, at: usize, trace: &Trace) -> Names {
        let subject = &self.subjects[at];
        let command = subject.command;
        if self.hides[at] {
            return Names::new();
        }
        let state = trace.state();
        if let Some((known, names)) = self.owned.borrow().get(&at)
            && *known == state
        {
            return names.clone();
        }
        let mut names = Names::new();
        if prints_environment(subject) || prints_database(command) {
            let named =
                command.words.iter().skip(1).filter_map(|word| word.known().filter(|name| is_secret_variable(name)));
            names.extend(named.map(str::to_owned));
            if names.is_empty() {
                names.insert(String::new());
            }
        }
        if speaks(command) || command.program().is_some_and(|program| PRINTERS.contains(&program)) {
            names.extend(self.spoken(command, trace));
        }
        if self.shows_each_variable(command) {
            names.insert(String::new());
        }
        names.extend(self.read(at, trace));
        if self.reads_listed(at) || self.reads_with_dots(at) {
            names.insert(String::new());
        }
        if let Some(code) = self.code_around(at) {
            names.extend(code.takes.iter().cloned());
        }
        let names = few(names);
        self.owned.borrow_mut().insert(at, (state, names.clone()));
        names
    }

    /// The secrets whose values a command prints out of its words, or out of what is given to it.
    fn spoken(&self, command: &Command, trace: &Trace) -> Names {
        let expands = has_unknown(command) || self.source(command.span).contains("<<");
        if expands { self.mentioned(command, trace) } else { Names::new() }
    }

    /// The secrets whose values stand in a command.
    fn mentioned(&self, command: &Command, trace: &Trace) -> Names {
        let source = without_single_quotes(self.source(command.span)) + self.document(command);
        // What is given to sed, it prints as it is.
        let edits = command.program() == Some("sed") && !source.contains("<<");
        let source = if edits { without_sought(&source) } else { source };
        let unset = |name: &str| command.env.get(name).is_none();
        let mut names: Names = secrets_in(&source).filter(|name| unset(name)).map(str::to_owned).collect();
        // What stands in a script has no source here.
        let words = command.words.iter().filter(|_| !edits || source.is_empty());
        let variables = words.filter_map(|word| match &word.value {
            Value::Unknown { why, .. } => why.variable(),
            _ => None,
        });
        names.extend(variables.filter(|name| is_secret_variable(name) && unset(name)).map(str::to_owned));
        let by = trace.variables.iter().filter(|(variable, _)| expands(&source, variable));
        names.extend(by.map(|(_, secret)| secret.clone()));
        names
    }

    /// The document that is given to a command, where the shell expands what stands in it.
    fn document(&self, command: &Command) -> &str {
        let own = self.source(command.span);
        let opens = own.match_indices("<<").map(|(at, _)| &own[at + 2..]);
        let Some(opens) = opens.filter(|after| !after.starts_with('<')).last() else { return "" };
        let mark = opens.trim_start_matches('-').trim_start();
        let mark = &mark[..mark.find(|c: char| c.is_whitespace() || ";|&<>)".contains(c)).unwrap_or(mark.len())];
        let after = self.text.get(command.span.end..).unwrap_or_default();
        let body = after.split_once('\n').map_or("", |(_, body)| body);
        if mark.is_empty() || mark.contains(['\'', '"', '\\']) || own.ends_with('<') {
            return "";
        }
        &body[..body.find(&format!("\n{mark}")).unwrap_or(body.len())]
    }

    fn source(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    /// What comes to a command through a pipe: what the command before it prints, and what came to that one, unless that is
    /// hidden there. What stands inside a wrapper is given what comes to the wrapper; what another one writes to, as to a
    /// file, is given what that prints: `tee >(nc HOST PORT)`.
    fn arriving(&self, at: usize, trace: &Trace) -> Names {
        let subject = &self.subjects[at];
        let opened = self.given_by_descriptors(subject.command, trace);
        if !opened.is_empty() {
            return opened;
        }
        let Some(before) = subject.piped_from() else {
            if let Some(writer) = self.written_by(at) {
                return few(trace.printed[writer].union(&trace.arrived[writer]).cloned().collect());
            }
            let wrapper = subject.wrapper().filter(|wrapper| *wrapper < at);
            return wrapper.map_or_else(Names::new, |wrapper| trace.arrived[wrapper].clone());
        };
        let stage: Vec<usize> = subject.stage(before).filter(|number| *number < at).collect();
        let shown = stage.iter().filter(|number| !self.is_swallowed(**number, before));
        let mut names: Names = shown.flat_map(|number| trace.printed[*number].iter().cloned()).collect();
        if !stage.iter().any(|number| self.hides[*number]) {
            names.extend(trace.arrived[before].iter().cloned());
        }
        few(names)
    }

    /// The command that writes to the process substitution which a command begins: `>(…)`.
    fn written_by(&self, at: usize) -> Option<usize> {
        let inner = self.subjects[at].command;
        if inner.via.last().is_none_or(|via| via != SUBSTITUTION) {
            return None;
        }
        let before = self.text.get(..inner.span.start)?.trim_end();
        let holds = |outer: &usize| {
            let outer = self.subjects[*outer].command;
            outer.via.len() < inner.via.len() && inner.span.is_inside(outer.span)
        };
        before.ends_with(">(").then(|| (0..at).rev().find(holds)).flatten()
    }

    /// What is read from descriptors that an earlier command has opened: `<&3`.
    fn given_by_descriptors(&self, command: &Command, trace: &Trace) -> Names {
        // Code in another language has no redirects, and its commands all stand in the same text.
        if command.words.is_empty() || !trace.variables.iter().any(|(variable, _)| variable.starts_with('&')) {
            return Names::new();
        }
        let source = self.source(command.span);
        let read = source.match_indices("<&").map(|(at, _)| &source[at + 1..]);
        let given = read.flat_map(|read| {
            let fits = move |variable: &str| read.starts_with('&') && descriptor(read) == variable;
            trace.variables.iter().filter(move |(variable, _)| fits(variable))
        });
        given.map(|(_, name)| name.clone()).collect()
    }

    /// Whether a command behind one in its pipeline, or in that of a wrapper of it, hides what it prints, inside another command.
    fn is_swallowed(&self, at: usize, outer: usize) -> bool {
        let above = std::iter::successors(Some(at), |number| self.subjects[*number].wrapper());
        above.take_while(|number| *number > outer).any(|number| self.swallowed[number])
    }

    /// What the substitutions of a command print.
    fn inside(&self, at: usize, trace: &Trace) -> Names {
        let outer = self.subjects[at].command;
        let deeper = self.subjects.iter().enumerate().skip(at + 1);
        let deeper = deeper.take_while(|(_, inner)| inner.command.via.len() > outer.via.len());
        let own = deeper.filter(|(_, inner)| {
            let via = &inner.command.via;
            inner.command.span.is_inside(outer.span) && via.get(outer.via.len()).is_some_and(|via| via == SUBSTITUTION)
        });
        let shown = own.map(|(number, _)| number).filter(|number| !self.is_swallowed(*number, at));
        few(shown.flat_map(|number| self.own(number, trace)).collect())
    }

    /// What the commands print that stand in a compound command, a function or a shell which is redirected as a whole.
    fn run_within(&self, at: usize, trace: &Trace) -> Names {
        let outer = self.subjects[at].command;
        if outer.redirects.is_empty() {
            return Names::new();
        }
        // It is listed before what it holds, and its redirects stand behind that.
        let compound = outer.words.is_empty();
        let later = self.subjects.iter().enumerate().skip(at + 1);
        let own = later.take_while(|(_, inner)| {
            let deeper = inner.command.via.len() > outer.via.len();
            deeper || compound && inner.command.span.start < outer.span.end
        });
        let own =
            own.filter(|(_, inner)| inner.command.via.iter().skip(outer.via.len()).all(|via| via != SUBSTITUTION));
        let shown = own.map(|(number, _)| number).filter(|number| !self.is_swallowed(*number, at));
        few(shown.flat_map(|number| self.own(number, trace)).collect())
    }

    /// The secrets in the files that a command reads.
    fn read(&self, at: usize, trace: &Trace) -> Names {
        let mut names = self.copies(at, trace);
        names.extend(self.read_beside(at, trace));
        if self.reads_dotenv(at) || self.copies_listed(at) {
            names.insert(String::new());
        }
        names
    }

    /// The secrets in the files that the same code reads.
    fn read_beside(&self, at: usize, trace: &Trace) -> Names {
        let own = self.subjects[at].command;
        if !own.words.is_empty() || trace.files.is_empty() || !own.via.last().is_some_and(|via| is_interpreter(via)) {
            return Names::new();
        }
        let block = self.blocks[at];
        let mut beside = self.beside.borrow_mut();
        let (seen, names) = beside.entry(block).or_default();
        let new = &trace.files[*seen..];
        if !new.is_empty() {
            names.extend((block.0..block.1).flat_map(|number| self.copies_among(number, new)));
            *seen = trace.files.len();
        }
        names.clone()
    }

    /// The secrets in the files that a command reads which the session has made.
    fn copies(&self, at: usize, trace: &Trace) -> Names {
        self.copies_among(at, &trace.files)
    }

    fn copies_among(&self, at: usize, files: &[(String, String)]) -> Names {
        if files.is_empty() {
            return Names::new();
        }
        let away = copies_away(self.subjects[at].command);
        let reads = |effect: &&Effect| {
            let kind = effect.kind;
            !effect.used
                && (matches!(kind, EffectKind::Read | EffectKind::Move | EffectKind::HardLink)
                    || away && kind == EffectKind::Mention)
        };
        let effects = self.subjects[at].command.effects.iter().filter(reads);
        let found = effects.flat_map(|effect| files.iter().filter(move |(file, _)| self.has(effect, file)));
        found.map(|(_, name)| name.clone()).collect()
    }

    /// Whether an effect reads a file, which may be any that the session has written.
    fn has(&self, effect: &Effect, file: &str) -> bool {
        match &effect.path {
            Value::Known(path) if file == Memory::ANYWHERE && !effect.recursive => {
                self.filled.contains(path.as_str()) || self.has_written(path)
            }
            _ => file == Memory::ANYWHERE || is_read(effect, file),
        }
    }

    /// Whether a command reads all of a folder that has a file of secrets in it.
    fn reads_dotenv(&self, at: usize) -> bool {
        let subject = &self.subjects[at];
        let picks = |names: &[String]| names.is_empty() || names.iter().any(|glob| wildcard::fits(glob, ".env"));
        let wide =
            subject.command.program().is_none_or(|program| !searches(program)) || !seeks_something(subject.command);
        wide && !leaves_out(subject.command)
            && subject.command.effects.iter().any(|effect| {
                read_below(subject, effect).is_some_and(|below| picks(&below.names))
                    && effect.path.known().is_some_and(|folder| self.has_dotenv(folder))
            })
    }

    fn has_dotenv(&self, folder: &str) -> bool {
        let there = |name: &&str| self.look.is_some_and(|look| look.look(&absolute(name, folder)) == Presence::File);
        SECRETS.iter().any(there)
    }

    /// Whether a command shows the files that another one lists, a file of secrets among them.
    fn reads_listed(&self, at: usize) -> bool {
        let shows = self.subjects[at].command.program();
        shows.is_some_and(|program| SHOWERS.contains(&program) && !searches(program)) && self.takes_listed(at)
    }

    /// The same for one that copies them.
    fn copies_listed(&self, at: usize) -> bool {
        let copies = self.subjects[at].command.program();
        copies.is_some_and(|program| matches!(program, "cp" | "install" | "ln" | "mv")) && self.takes_listed(at)
    }

    /// Whether a command takes the names of files from another one that lists a file of secrets among them: a pipe into
    /// `xargs`, `cat $(ls -A)`.
    fn takes_listed(&self, at: usize) -> bool {
        let subject = &self.subjects[at];
        let command = subject.command;
        let filled = |effect: &Effect| {
            matches!(effect.kind, EffectKind::Read | EffectKind::Move | EffectKind::Link | EffectKind::HardLink)
                && matches!(&effect.path, Value::Unknown { shape, .. } if shape.chars().eq([Value::HOLE]))
        };
        if !command.effects.iter().any(filled) {
            return false;
        }
        let is_given = command.via.iter().any(|via| via == "xargs" || via == "parallel");
        if is_given && subject.pipeline().0.into_iter().any(|other| self.lists_hidden(subject, other)) {
            return true;
        }
        let deeper = self.subjects.iter().skip(at + 1).map(|inner| inner.command);
        let mut inside = deeper.take_while(|inner| inner.via.len() > command.via.len());
        inside.any(|inner| {
            let listed = inner.via.get(command.via.len()).is_some_and(|via| via == SUBSTITUTION);
            listed && inner.span.is_inside(command.span) && self.lists_hidden(subject, inner)
        })
    }

    /// Whether a command reads all of a folder with a file of secrets in it by a pattern that the shell is told to take for names
    /// with a dot as well: `shopt -s dotglob; cat *`.
    fn reads_with_dots(&self, at: usize) -> bool {
        const TOLD: &[&str] = &["shopt -s dotglob", "setopt dotglob", "setopt globdots", "-O dotglob"];
        let command = self.subjects[at].command;
        let all = |effect: &Effect| {
            effect.kind == EffectKind::Read
                && matches!(&effect.path, Value::Pattern(_))
                && matches!(self.source(effect.span), "*" | "./*")
        };
        command.effects.iter().any(all)
            && command.program().is_some_and(|program| SHOWERS.contains(&program))
            && (!command.program().is_some_and(searches) || !seeks_something(command))
            && command.cwd.as_deref().is_some_and(|folder| self.has_dotenv(folder))
            && TOLD.iter().any(|told| self.text.contains(told))
    }

    /// Whether a command lists all files of a folder with one of secrets in it, or those with a dot before their names, or those
    /// that git ignores.
    fn lists_hidden(&self, subject: &MatchInput<'a>, other: &'a Command) -> bool {
        let Some(found) = subject.read(other) else { return false };
        let all = match found.program {
            "ls" => found.has(&["-a", "-A", "--all", "--almost-all"]),
            "git" => {
                found.operands.first().is_some_and(|operand| operand.text == Some("ls-files"))
                    && found.has(&["-o", "--others"])
                    && (!found.has(&["--exclude-standard"]) || found.has(&["-i", "--ignored"]))
            }
            "find" => finds_hidden(other),
            _ => false,
        };
        all && other.cwd.as_deref().is_some_and(|folder| self.has_dotenv(folder))
    }

    /// Whether make shows a secret of a file that its makefile includes: it is told to print all, or the lines of a target print
    /// that one.
    fn makes_known(&self, at: usize) -> bool {
        let command = self.subjects[at].command;
        if !matches!(command.program(), Some("make" | "gmake")) {
            return false;
        }
        let read = ProgramWords::read("make", &command.words[1..]);
        let folder = read.folder().and_then(Word::known).unwrap_or(".");
        let Some(folder) = command.shell_cwd.as_deref().map(|cwd| absolute(folder, cwd)) else { return false };
        let given = read.values(&["f"]).filter_map(Word::known).map(|name| absolute(name, &folder)).collect::<Vec<_>>();
        let usual = || ["GNUmakefile", "makefile", "Makefile"].map(|name| absolute(name, &folder)).into();
        let files: Vec<String> = if given.is_empty() { usual() } else { given };
        let read_file = |path: &String| self.session_file(at, path).or_else(|| self.look?.script(path));
        let Some(text) = files.iter().find_map(read_file) else { return false };
        let targets: Vec<&str> = read.words().map(Word::text).filter(|word| !word.contains('=')).collect();
        includes_secrets(&text) && (prints_database(command) || echoes_secret(&text, &targets))
    }

    /// Notes the variables that a command puts secrets into.
    fn set_variables(&self, at: usize, printed: &Names, trace: &mut Trace) {
        let command = self.subjects[at].command;
        let source = self.source(command.span);
        let assigns = command.words.is_empty() && command.via.last().is_none_or(|via| !is_interpreter(via));
        let declares =
            matches!(command.program(), Some("declare" | "typeset" | "local" | "export" | "readonly" | "set"));
        if crate::flow::takes_lines(command) {
            let mut given = trace.arrived[at].clone();
            given.extend(self.inside(at, trace));
            given.extend(self.spoken(command, trace));
            given.extend(self.read(at, trace));
            let words = command.words.iter().skip(1).filter_map(|word| word.known());
            for name in words.filter(|word| !word.is_empty() && !word.starts_with('-')) {
                trace.set(name, &given);
            }
            return;
        }
        if command.program() == Some("exec") && command.words.len() == 1 {
            let given = self.inside(at, trace);
            for name in opened(source) {
                trace.set(&name, &given);
            }
            return;
        }
        if !assigns && !declares || !source.contains('=') && command.program() != Some("set") {
            return;
        }
        let mut values = self.inside(at, trace);
        values.extend(self.mentioned(command, trace));
        values.extend(printed.iter().filter(|_| assigns).cloned());
        if command.program() == Some("set") {
            for place in ["1", "@", "*"] {
                trace.set(place, &values);
            }
            return;
        }
        if declares
            && command
                .words
                .iter()
                .any(|word| word.known().is_some_and(|word| word.starts_with('-') && word.contains('n')))
        {
            // The other name stands for the variable.
            let pairs = command.words.iter().filter_map(|word| word.known()?.split_once('='));
            for (name, of) in pairs.filter(|(_, of)| is_secret_variable(of)) {
                trace.set(name, &Names::from([of.to_owned()]));
            }
        }
        for name in assigned(source) {
            trace.set(name, &values);
        }
    }

    /// Notes the files that a command puts secrets into.
    fn fill_files(&self, at: usize, names: &Names, trace: &mut Trace) {
        let command = self.subjects[at].command;
        let mut put = names.clone();
        put.extend(self.inside(at, trace));
        put.extend(self.run_within(at, trace));
        let redirected = |effect: &Effect| {
            let to = |kind| matches!(kind, RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite);
            command.redirects.iter().any(|one| to(one.kind) && one.target.span == effect.span)
        };
        let copied = self.read(at, trace);
        for effect in command.effects.iter().filter(|effect| is_filled(effect.kind)) {
            let Some(path) = effect.path.followed_as().filter(|path| !path.starts_with("/dev/")) else { continue };
            // What a program writes besides is what it has read, or was told to write.
            let puts = command.program() == Some("tee") || edits_in_place(command);
            let names = match redirected(effect) || command.words.is_empty() || puts {
                true => &put,
                false => &copied,
            };
            for name in names {
                trace.fill(path, name);
            }
        }
    }

    /// The secrets that a command is given by other variables, and where.
    fn sent_by_variable(&self, at: usize, trace: &Trace) -> Vec<Secret> {
        let command = self.subjects[at].command;
        if trace.variables.is_empty() {
            return Vec::new();
        }
        let words = command.words.iter().enumerate().skip(1);
        let unknown = words.filter(|(_, word)| word.known().is_none());
        let given = unknown.flat_map(|(number, word)| {
            let source = self.source(word.span);
            let credential = is_credential(number, command);
            let by = trace.variables.iter().filter(move |(variable, _)| expands(source, variable));
            by.map(move |(_, name)| Secret { name: name.clone(), credential, span: word.span })
        });
        given.collect()
    }

    /// The secrets that code in another language gives to a command which it runs: `system("curl", $ENV{TOKEN})`.
    fn sent_by_code(&self, command: &Command) -> Vec<Secret> {
        /// Most bytes of a call. What is longer is a program, and is not read once more for each command in it.
        const CALL: usize = 4096;
        let Some(language) = command.via.last().filter(|via| is_interpreter(via) && has_unknown(command)) else {
            return Vec::new();
        };
        let source = self.source(command.span);
        if source.len() > CALL {
            return Vec::new();
        }
        let credential = code_secrets::is_credential(source);
        let names = EnvAccess::by(language, source).secrets().map(str::to_owned).collect::<Vec<_>>();
        names.into_iter().map(|name| Secret { name, credential, span: command.span }).collect()
    }

    /// Whether a command prints the value of a variable that another variable names, as a loop over all of them does: `${!v}`.
    fn shows_each_variable(&self, command: &Command) -> bool {
        if command.span.start < self.listed
            || !matches!(command.program(), Some("echo" | "printf" | "print" | "curl" | "wget"))
        {
            return false;
        }
        let source = self.source(command.span);
        let mut expanded = source.match_indices("${!");
        expanded.any(|(at, _)| !source[at + 3..].split('}').next().is_some_and(|name| name.ends_with(['*', '@', ']'])))
    }

    /// The code in another language that a command runs, or is a part of.
    fn code_around(&self, at: usize) -> Option<Rc<Code>> {
        let inner = self.subjects[at].command;
        if !inner.words.is_empty() {
            return self.code(at);
        }
        let runs = inner.via.last().is_some_and(|via| is_interpreter(via));
        if !runs || inner.effects.is_empty() {
            return None;
        }
        let around = |number: &usize| {
            let outer = self.subjects[*number].command;
            outer.via.len() < inner.via.len() && outer.program() == inner.via.last().map(String::as_str)
        };
        let outer = (0..self.blocks[at].0).rev().filter(around).find(|number| self.is_code(*number))?;
        self.code(outer)
    }

    fn is_code(&self, at: usize) -> bool {
        let program = self.subjects[at].command.program();
        program
            .is_some_and(|name| is_interpreter(name) || matches!(name, "jq" | "gojq" | "jaq") || name.ends_with("awk"))
    }

    /// The code of a program in another language: words, input and scripts of the session.
    fn code(&self, at: usize) -> Option<Rc<Code>> {
        let command = self.subjects[at].command;
        let program = command.program().filter(|_| self.is_code(at))?;
        if let Some(known) = self.codes.borrow().get(&at) {
            return Some(Rc::clone(known));
        }
        let words = command.words.iter().skip(1).filter_map(|word| word.known());
        let script = self.session_code(at).map(|(_, script)| script);
        let text = words.chain(command.input()).chain(script.as_deref()).collect::<Vec<_>>().join("\n");
        let takes = EnvAccess::by(program, &text).secrets().map(str::to_owned).collect();
        let code = Rc::new(Code { takes, credential: code_secrets::is_credential(&text) });
        self.codes.borrow_mut().insert(at, Rc::clone(&code));
        Some(code)
    }

    /// The text of a script of the session that a program in another language runs.
    fn session_code(&self, at: usize) -> Option<(&'a str, String)> {
        let command = self.subjects[at].command;
        let program = command.program().filter(|_| self.is_code(at))?;
        let runs = command.effects.iter().filter(|effect| effect.kind == EffectKind::Execute);
        let text = runs.filter_map(|effect| effect.path.known()).find_map(|path| self.session_file(at, path))?;
        Some((program, text))
    }

    /// What the session has put into a file, in this text or an earlier one.
    fn session_file(&self, at: usize, path: &str) -> Option<String> {
        let written = self.subjects[..at].iter().rev().find_map(|other| {
            let command = other.command;
            let fills =
                command.effects.iter().any(|effect| is_filled(effect.kind) && effect.path.known() == Some(path));
            fills.then(|| command.input().map(str::to_owned)).flatten()
        });
        written.or_else(|| self.look.filter(|_| self.has_written(path))?.script(path))
    }
}

impl Trace {
    fn state(&self) -> State {
        (self.files.len(), self.variables.len())
    }

    fn fill(&mut self, path: &str, name: &str) {
        let file = (path.to_owned(), name.to_owned());
        if self.files.contains(&file) {
            return;
        }
        let new = self.files.len().saturating_sub(self.earlier);
        match new.cmp(&Memory::MOST_SECRETS) {
            Ordering::Less => self.files.push(file),
            Ordering::Equal => self.files.push((Memory::ANYWHERE.to_owned(), String::new())),
            Ordering::Greater => {}
        }
    }

    fn set(&mut self, variable: &str, names: &Names) {
        let pairs = names.iter().map(|name| (variable.to_owned(), name.clone()));
        let new: Vec<_> = pairs.filter(|pair| !self.variables.contains(pair)).collect();
        self.variables.extend(new);
    }
}

fn has_unknown(command: &Command) -> bool {
    command.words.iter().any(|word| word.known().is_none())
}

/// The name of the descriptor that a text begins with, which is kept among those of variables: `&3`.
fn descriptor(text: &str) -> &str {
    let digits = text[1..].bytes().take_while(u8::is_ascii_digit).count();
    &text[..=digits]
}

/// The descriptors that are opened for reading: `exec 3< FILE`.
fn opened(source: &str) -> impl Iterator<Item = String> {
    source.match_indices('<').filter_map(|(at, _)| {
        let before = &source[..at];
        let number = &before[before.trim_end_matches(|c: char| c.is_ascii_digit()).len()..];
        (!number.is_empty()).then(|| format!("&{number}"))
    })
}

/// Whether tar prints the files of an archive.
fn unpacks_to_output(command: &Command) -> bool {
    command.program() == Some("tar") && {
        let read = ProgramWords::read("tar", &command.words[1..]);
        let old = command.words.get(1).map(Word::text).unwrap_or_default();
        read.has("to-stdout") || read.has("O") || old.contains('x') && old.contains('O')
    }
}

/// Whether `find` lists files whatever their names, or by a name that fits those of files of secrets.
fn finds_hidden(command: &Command) -> bool {
    let words: Vec<&str> = command.words.iter().skip(1).map(|word| word.value.text()).collect();
    let named = |at: &usize| matches!(words[*at], "-name" | "-iname" | "-path" | "-wholename" | "-regex" | "-iregex");
    let negated = |at: usize| at > 0 && matches!(words[at - 1], "!" | "-not");
    let tests: Vec<usize> = (0..words.len()).filter(named).collect();
    let fits = |at: &usize| {
        let glob = words.get(at + 1).copied().unwrap_or_default();
        !glob.contains('/') && SECRETS.iter().any(|name| wildcard::fits(glob, name))
    };
    let (not, only): (Vec<usize>, Vec<usize>) = tests.into_iter().partition(|at| negated(*at));
    let listed = !words.iter().any(|word| matches!(*word, "-exec" | "-execdir" | "-delete" | "-ok"));
    let folders = words.windows(2).any(|pair| pair == ["-type", "d"] || pair == ["-type", "l"]);
    let elsewhere = words.first().is_some_and(|word| !word.starts_with(['-', '.']));
    listed && !folders && !elsewhere && !not.iter().any(fits) && (only.is_empty() || only.iter().any(fits))
}

/// Whether a makefile includes a file of secrets.
fn includes_secrets(makefile: &str) -> bool {
    let included = makefile.lines().filter_map(|line| {
        let line = line.trim_start_matches(['-', 's']);
        line.strip_prefix("include ")
    });
    included.flat_map(str::split_whitespace).any(|file| SECRETS.contains(&file.rsplit('/').next().unwrap_or(file)))
}

/// Whether the lines of one of these targets, or of the first one if there are none, print a variable that is called as secrets
/// are.
fn echoes_secret(makefile: &str, targets: &[&str]) -> bool {
    let mut wanted = false;
    let mut seen = false;
    for line in makefile.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            let recipe = recipe.trim_start_matches(['@', '-', '+', ' ']);
            let prints = ["echo ", "printf ", "$(info ", "$(warning "].iter().any(|call| recipe.starts_with(call));
            if wanted && prints && !recipe.contains(['|', '>']) && secrets_of_make(recipe) {
                return true;
            }
        } else if let Some((names, rest)) = line.split_once(':')
            && !rest.starts_with('=')
            && !line.starts_with(['#', ' ', '.'])
        {
            wanted = match targets {
                [] => !seen,
                targets => names.split_whitespace().any(|name| targets.contains(&name)),
            };
            seen = true;
        }
    }
    false
}

/// Whether a line of a makefile has the value of a secret in it: `$(API_TOKEN)`, `$${API_TOKEN}`.
fn secrets_of_make(line: &str) -> bool {
    let expanded = line.split('$').skip(1).map(|rest| rest.trim_start_matches(['(', '{']));
    expanded
        .filter_map(|rest| rest.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next())
        .any(is_secret_variable)
}

fn has_network(command: &Command) -> bool {
    command.redirects.iter().any(|one| is_network(one.target.value.text()))
}

/// Whether a command copies to a place of which only its configuration tells where it is: `rclone copy . REMOTE:PATH`.
fn copies_away(command: &Command) -> bool {
    let last = command.words.last().map(|word| word.value.text()).unwrap_or_default();
    command.program() == Some("rclone") && last.contains(':') && !last.starts_with([':', '/'])
}

/// Whether a command writes to people, whose hosts it does not name.
fn mails(command: &Command) -> bool {
    matches!(command.program(), Some("mail" | "mailx" | "mutt" | "sendmail"))
}

/// Whether an effect reads a file: it, a pattern that fits it, or a folder that it is in.
fn is_read(effect: &Effect, file: &str) -> bool {
    match &effect.path {
        Value::Known(path) => {
            path == file
                || effect.recursive && file.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'))
        }
        pattern @ Value::Pattern(_) => pattern.may_lead_to(file),
        unknown @ Value::Unknown { .. } => unknown.followed_as() == Some(file),
    }
}

fn searches(program: &str) -> bool {
    matches!(program, "grep" | "egrep" | "fgrep" | "rg" | "ag")
}

/// Whether a program that may show a file shows no more than a sum of it, whether it differs, or nothing: `dd if=e of=f`.
fn tells_little(command: &Command) -> bool {
    let has = |fits: fn(&str) -> bool| command.words.iter().skip(1).any(|word| fits(word.value.text()));
    match command.program() {
        Some("dd") => has(|word| word.starts_with("of=")),
        Some("diff") => has(|word| matches!(word, "-q" | "--brief")),
        Some("sed") => edits_in_place(command),
        Some("openssl") => !has(|word| matches!(word, "enc" | "base64")) || has(|word| word == "-out"),
        Some(program) if searches(program) => {
            has(|word| matches!(word, "-l" | "-L" | "--files-with-matches" | "--files-without-match"))
        }
        _ => false,
    }
}

/// Whether a search of contents looks for something particular that is no secret.
fn seeks_something(command: &Command) -> bool {
    let pattern = command.words.iter().skip(1).map(|word| word.value.text()).find(|word| !word.starts_with('-'));
    let lists = command.words.iter().any(|word| matches!(word.value.text(), "-l" | "-L" | "--files-with-matches"));
    lists
        || pattern.is_some_and(|pattern| {
            let lower = pattern.to_ascii_lowercase();
            lower.chars().filter(char::is_ascii_alphanumeric).count() > 1
                && !["token", "secret", "password", "passwd", "api_key", "apikey"].iter().any(|one| lower.contains(one))
        })
}

/// Whether a command is told to leave out files of secrets, or what git ignores.
fn leaves_out(command: &Command) -> bool {
    command.words.iter().skip(1).any(|word| {
        let text = word.value.text();
        let glob = text.rsplit(['=', ' ']).next().unwrap_or(text);
        let glob = glob.trim_start_matches("./").trim_start_matches("**/").trim_start_matches("*/");
        let is_glob = glob.contains(".e") || glob == ".*" || glob == ".*/*";
        is_glob && wildcard::fits(glob, ".env") || text.contains("gitignore") || text.contains("vcs-ignores")
    })
}

/// Whether a path that git is told is a file, a folder above it or a pattern that fits it. Some begin at the top of the tree.
fn is_named(subject: &MatchInput<'_>, found: &Invocation<'_>, file: &str, top: Option<&str>) -> bool {
    let Some(cwd) = subject.command.cwd.as_deref() else { return false };
    let mut named = found.operands.iter().skip(1).map(|operand| {
        let below = operand.shape.strip_prefix(":/").or_else(|| operand.shape.strip_prefix(":(top)"));
        below.map_or_else(|| absolute(operand.shape, cwd), |path| absolute(path, top.unwrap_or(cwd)))
    });
    named.any(|path| covers(&path, file) || wildcard::fits(&path, file))
}

fn covers(folder: &str, file: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    file.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Where the first command ends that lists the names of all variables; behind the text if none does.
fn first_listing(text: &str) -> usize {
    const LISTS: &[&str] = &["compgen -e", "compgen -v", "compgen -A export", "compgen -A variable", "env | cut"];
    let end = |list: &str| text.find(list).map_or(usize::MAX, |at| at + list.len());
    let first = LISTS.iter().map(|list| end(list)).min().unwrap_or(usize::MAX);
    // `${!A*}`
    first.min(end("${!").max(end("*}").min(end("@}"))))
}

/// Around each command the longest run of commands that are as deep inside others as it is, or deeper.
fn blocks(subjects: &[MatchInput<'_>]) -> Vec<(usize, usize)> {
    let depth = |at: usize| subjects[at].command.via.len();
    let mut blocks = vec![(0, subjects.len()); subjects.len()];
    let mut open: Vec<usize> = Vec::new();
    for at in 0..subjects.len() {
        while let Some(last) = open.pop_if(|last| depth(*last) > depth(at)) {
            blocks[last].1 = at;
        }
        blocks[at].0 = match open.last() {
            Some(last) if depth(*last) == depth(at) => blocks[*last].0,
            Some(last) => last + 1,
            None => 0,
        };
        open.push(at);
    }
    blocks
}

/// Names, or the one that stands for several if they are many.
fn few(names: Names) -> Names {
    const MANY: usize = 64;
    if names.len() > MANY { Names::from([String::new()]) } else { names }
}

/// The names before the equals signs of a text of assignments: `a=1`, `b=(x)`, `export c=2`.
fn assigned(source: &str) -> impl Iterator<Item = &str> {
    source.split([' ', '\n', '\t', ';', '"']).filter_map(|word| {
        let (name, _) = word.split_once('=')?;
        let name = name.trim_end_matches('+').split('[').next().unwrap_or_default();
        let is_name = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        is_name.then_some(name)
    })
}

/// Whether a text has the value of a variable in it, as a whole or nearly so.
fn expands(text: &str, variable: &str) -> bool {
    text.match_indices('$').any(|(at, _)| {
        let rest =
            text[at + 1..].strip_prefix('{').map_or(&text[at + 1..], |rest| rest.strip_prefix('!').unwrap_or(rest));
        rest.strip_prefix(variable).is_some_and(|after| {
            !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                && !after.starts_with(":+")
                && !after.starts_with('+')
        })
    })
}

/// A text without what single quotes keep from being expanded. Inside double quotes they are like any other letter.
fn without_single_quotes(text: &str) -> String {
    let (mut kept, mut single, mut double, mut escaped) = (String::new(), false, false, false);
    for c in text.chars() {
        if escaped {
            escaped = false;
            continue;
        }
        match c {
            '\\' if !single => escaped = true,
            '\'' if !double => single = !single,
            '"' if !single => double = !double,
            _ if single => {}
            _ => kept.push(c),
        }
    }
    kept
}
