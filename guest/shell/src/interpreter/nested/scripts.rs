//! Texts and files that a shell, or another interpreter, reads as its program.

use std::rc::Rc;

use crate::abstract_value::Text;
use crate::command::Foreseen;
use crate::facts::{FileOracle as _, Presence};
use crate::interpreter::control_exits::ControlExits;
use crate::interpreter::dialect::{Dialect, Reader, reader};
use crate::interpreter::script_effects::arguments as given;
use crate::interpreter::simple::Lookup;
use crate::interpreter::state::{Input, ShellState, Status};
use crate::interpreter::{Interpreter, MAX_SCRIPTS};
use crate::wrapper::Language;
use toolgate_scripts::{Origin, Setting};
use toolgate_shell_syntax::path::absolute;
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// Interpreters whose files are read as shell text. Not all that are shells to `wrapper::is_shell`: csh and fish have files in
/// another language, of which a text on a command line has little. `busybox` is one by its first argument.
const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "busybox", "rbash"];

impl Interpreter<'_> {
    /// The text of a file that is about to be run: as this text made it, else as it is there. In the latter case what
    /// comes is in a stored script, if the command that runs it tells it nothing that could be another script; the
    /// caller sees to its end.
    pub(in crate::interpreter) fn runnable(
        &mut self,
        path: &str,
        span: Span,
        command: &[Word],
        state: &ShellState,
    ) -> Option<Rc<Text>> {
        if let Some(content) = state.files.made(path).and_then(|made| made.content.clone()) {
            return Some(content);
        }
        let path = &state.files.before(path)?;
        if path.contains(Value::HOLE) {
            return None;
        }
        self.used.scripts += 1;
        if self.used.scripts > MAX_SCRIPTS || self.elsewhere {
            return None;
        }
        self.runs_stored = true;
        let text = state.files.script(path).filter(|text| !text.contains('\0') && self.afford(text.len()))?;
        // Neither one that is not known, but for what the environment has from the user, nor one that a shell would take apart:
        // the script may run it.
        let plain = |word: &Word| match &word.value {
            Value::Known(text) | Value::Pattern(text) | Value::Unknown { why: Why::Environment(_), shape: text } => {
                !text.contains(['|', ';', '&', '$', '`', '<', '>', '\n'])
            }
            Value::Unknown { .. } => false,
        };
        self.preexisting |= command.iter().all(plain) && matches!(state.input, Input::Inherited | Input::Nothing);
        Some(Rc::new(Text { text, span, at: None }))
    }

    /// A file that is run by its own name; `stored`: whether what runs it stands in a stored script.
    pub(in crate::interpreter) fn inside_file(
        &mut self,
        slot: usize,
        content: &Rc<Text>,
        arguments: &[Word],
        state: ShellState,
        stored: bool,
    ) -> ControlExits {
        let name = arguments
            .first()
            .and_then(Word::known)
            .map(toolgate_shell_syntax::path::basename)
            .unwrap_or_default()
            .to_owned();
        if !self.may_nest() {
            return ControlExits::of(state);
        }
        let spent = self.spent();
        let before = state.clone();
        // The file itself was looked for before.
        let is_stored = std::mem::take(&mut self.runs_stored);
        let around = self.begin();
        let mut ends = self.inside(&name, |interpreter| interpreter.file(slot, content, arguments, state));
        if !stored && self.preexisting {
            if self.restore(spent) {
                self.hides(slot);
                ends = ControlExits::with(self.unread(content.span, before.clone()), Status::Unknown);
            }
            if self.is_told_nothing(slot, arguments, &before) {
                ends = ends.each(self, |after, _| after.files.credit(&before.files));
            }
        }
        self.preexisting = stored;
        let told = match self.end(around) {
            Foreseen::Told if is_stored => Foreseen::Stored,
            told => told,
        };
        if let Some(command) = self.commands.get_mut(slot).filter(|command| !command.opaque) {
            command.foreseen = told;
        }
        ends
    }

    /// Whether the text tells a script nothing that it could write: no words but options and settings, which name no file,
    /// and no variables.
    fn is_told_nothing(&self, slot: usize, words: &[Word], state: &ShellState) -> bool {
        let is_file = |value: &str| {
            let place = state.folders.certain().map(|folder| absolute(value, folder));
            let there = place.map(|place| state.files.look(&place));
            !matches!(there, Some(Presence::Absent | Presence::Folder))
                && (value.contains('/') || there != Some(Presence::Unknown))
        };
        let plain = |word: &Word| {
            let text = word.text();
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let named = name.starts_with('-')
                || value.len() + name.len() + 1 == text.len() && toolgate_shell_syntax::word::is_name(name);
            let certain = match &word.value {
                Value::Known(_) => !is_file(value),
                Value::Unknown { why, .. } => matches!(why, Why::Environment(_)),
                Value::Pattern(_) => false,
            };
            named && certain && !text.contains(char::is_whitespace)
        };
        let own = |name: &String| name != "HOME" && !self.facts.env.contains_key(name);
        let told = state.vars().iter().any(|(name, variable)| own(name) && variable.exported != Some(false));
        let assigns = self.commands.get(slot).is_none_or(|command| !command.assignments.is_empty());
        !told && !assigns && words.iter().skip(1).all(plain)
    }

    /// A file of commands. Its first line may name another interpreter.
    pub(in crate::interpreter) fn file(
        &mut self,
        slot: usize,
        content: &Rc<Text>,
        arguments: &[Word],
        own: ShellState,
    ) -> ControlExits {
        let first = content.text.lines().next().unwrap_or_default();
        let interpreter = first.strip_prefix("#!").map(str::trim).unwrap_or_default();
        let program = first_program(&content.text);
        let language = match program.unwrap_or("sh") {
            name if name.starts_with("python") => Some(Language::Python),
            "node" | "nodejs" => Some(Language::Node),
            "perl" => Some(Language::Perl),
            "ruby" => Some(Language::Ruby),
            "php" => Some(Language::Php),
            name if !interpreter.is_empty() && !SHELLS.contains(&name) => {
                let own = self.by_first_line(interpreter, content.span, arguments, own);
                self.hides(slot);
                return ControlExits::with(self.unread(content.span, own), Status::Unknown);
            }
            _ => None,
        };
        let word = content.word();
        match language {
            Some(language) => {
                // A name alone was found in a folder of `PATH`.
                let path = arguments.first().and_then(Word::known).filter(|path| path.contains('/'));
                let folder = own.folders.certain();
                let place = path.and_then(|path| match path.starts_with('/') {
                    true => Some(absolute(path, "/")),
                    false => Some(absolute(path, folder?)),
                });
                let told = arguments.get(1..).unwrap_or_default();
                let more = self.commands.get(slot).is_some_and(|command| command.more_words);
                let setting =
                    Setting { arguments: Some(given(told, more)), ..Setting::of(self.origin(place.as_deref(), &own)) };
                let after = self.script(language, &word, setting, own);
                ControlExits::with(after, Status::Unknown)
            }
            None => {
                let mut shell = self.process(&own, arguments);
                if let Some(file) = arguments.first() {
                    self.stands_in(file, &mut shell);
                }
                // The shell that is given the file by name, if the file is not run by its own.
                let runner = self.commands.get(slot).and_then(|command| command.words.first()).and_then(Word::known);
                let runner = runner.filter(|name| arguments.first().and_then(Word::known) != Some(name));
                let runner = runner.map(toolgate_shell_syntax::path::basename).filter(|name| SHELLS.contains(name));
                let reader = runner.or(program).map_or(Reader::Sh, reader);
                self.text_in(&word, reader, shell, own)
            }
        }
    }

    /// The program that the first line of a file names, which is given that line's argument, the file and its arguments.
    fn by_first_line(&mut self, line: &str, span: Span, arguments: &[Word], own: ShellState) -> ShellState {
        let (program, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let first = [program, argument.trim()].into_iter().filter(|word| !word.is_empty());
        let words: Vec<Word> = first.map(|word| Word::new(word, span)).chain(arguments.iter().cloned()).collect();
        self.argv(words, false, span, Lookup::Programs, own).join(self)
    }

    /// A shell, or another interpreter, that reads its program from standard input.
    pub(super) fn read_input(
        &mut self,
        language: Option<Language>,
        reader: Reader,
        args: &[Word],
        span: Span,
        own: ShellState,
    ) -> ControlExits {
        let Input::Text(content, from) = &own.input else {
            let mut own = own;
            if !matches!(own.input, Input::Nothing) {
                self.unread = true;
                let stamp = self.change();
                own.files.doubt_all(stamp);
                self.print(None, span, None, &own);
            }
            return ControlExits::with(own, Status::Unknown);
        };
        let mut word = content.word();
        if *from > 0 {
            word.value = Value::Known(content.text.get(*from..).unwrap_or_default().to_owned());
            word.at = word.at.map(|at| at + from);
        }
        match language {
            None => {
                let mut arguments = vec![Word::new("bash", span)];
                arguments.extend(args.iter().cloned());
                let mut shell = self.process(&own, &arguments);
                shell.input = Input::Unseen(None);
                self.text_in(&word, reader, shell, own)
            }
            Some(language) => {
                let setting = Setting { arguments: Some(given(args, false)), ..Setting::of(Origin::Text) };
                let after = self.script(language, &word, setting, own);
                ControlExits::with(after, Status::Unknown)
            }
        }
    }

    /// Runs a text in a shell process of its own; of what it changes, files stay. What `sh` reads is
    /// read as bash and as dash do, where they differ.
    pub(in crate::interpreter) fn text_in(
        &mut self,
        text: &Word,
        reader: Reader,
        shell: ShellState,
        own: ShellState,
    ) -> ControlExits {
        // A file of the text that the shell reads first.
        let first = match reader {
            Reader::Zsh => shell.known("ZDOTDIR").map(|folder| format!("{folder}/.zshenv")),
            Reader::Bash | Reader::Sh => shell.known("BASH_ENV"),
        };
        let first = first
            .map(|path| absolute(&path, shell.folders.certain().filter(|_| !path.starts_with('/')).unwrap_or("/")));
        let was_stored = self.preexisting;
        if let Some(content) = first.and_then(|path| self.runnable(&path, text.span, &[], &shell)) {
            let state = shell.clone();
            self.doubting(true, |interpreter| {
                interpreter.text(&content.word(), |interpreter, list| drop(interpreter.shell(list, state)));
            });
        }
        self.preexisting = was_stored;
        let mut after = own;
        let input = shell.input.clone();
        // What keeps `set -e` from ending this shell says nothing of that one.
        let guarded = std::mem::take(&mut self.guarded);
        let outer = self.dialect;
        let sh = reader == Reader::Sh;
        let fine = self.failure.is_none();
        let either = sh && outer.sh_is_dash.is_none();
        self.dialect.posix = sh && outer.sh_is_dash == Some(true);
        (self.dialect.may_be_zsh, self.dialect.zsh) = (reader == Reader::Zsh, None);
        if either {
            (self.dialect.sh_is_dash, self.dialect.beyond) = (Some(false), shell.exports_functions());
        }
        let mut end = self.shell_text(text, shell.clone());
        // A text that bash does not read is judged as such.
        if either && self.dialect.beyond && !(fine && self.failure.is_some()) {
            (self.dialect.posix, self.dialect.sh_is_dash) = (true, Some(true));
            let mut state = shell;
            let stamp = self.change();
            state.forget_functions(stamp);
            state.aliases = true;
            let other = self.doubting(true, |interpreter| interpreter.shell_text(text, state));
            end = match (end, other) {
                (Some(end), Some(other)) => {
                    let mut end = end.merge(other, self.change());
                    // Where one of them stops with an error, the other may not.
                    end.status = Status::Unknown;
                    Some(end)
                }
                _ => None,
            };
        }
        let beyond = outer.beyond || self.dialect.beyond && !either;
        self.dialect = Dialect { beyond, ..outer };
        self.guarded = guarded;
        match end {
            Some(end) => {
                let status = end.status;
                self.after_subshell(&mut after, end);
                if matches!(input, Input::Text(..)) {
                    after.use_input();
                }
                ControlExits::with(after, status)
            }
            None => {
                let stamp = self.change();
                after.files.doubt_all(stamp);
                self.print(None, text.span, None, &after);
                after.use_input();
                ControlExits::with(after, Status::Unknown)
            }
        }
    }

    /// Where a shell ends that runs a text, if that can be read.
    fn shell_text(&mut self, text: &Word, state: ShellState) -> Option<ShellState> {
        let mut end = None;
        self.text(text, |interpreter, list| end = Some(interpreter.shell(list, state)));
        end
    }
}

/// The program that the first line of a script names, without `env` and what that is told.
fn first_program(text: &str) -> Option<&str> {
    let interpreter = text.lines().next()?.strip_prefix("#!")?;
    let mut words = interpreter.split_whitespace().map(toolgate_shell_syntax::path::basename).peekable();
    if words.next_if_eq(&"env").is_some() {
        return words.find(|word| !word.starts_with('-') && !word.contains('='));
    }
    words.next()
}
