//! What a call does: its row is looked up and done.

use super::arguments::{Args, arg, argument, each, every, mode, pairs};
use super::code::{evals, getenv};
use super::evaluator::Evaluator;
use super::names::full;
use super::processes::{run, shells};
use super::pure::CONFIG_PARSER;
use super::tables::{Act, HARMLESS, MILD, PLAIN, STRICT, find, is_dangerous};
use super::value::{self, HOLE, Value, is_at_home};
use super::{Language, ScriptEffectKind, Text, dispatch, files};

/// Names of functions that read files begin so.
const READS: &[&str] =
    &["read", "load", "open", "parse", "from", "upload", "send", "attach", "genfromtxt", "slurp", "sendfile"];

impl Evaluator {
    /// A value goes where it cannot be followed.
    pub(super) fn escape(&mut self, value: &Value) {
        if is_dangerous(self.language, value) {
            self.incomplete();
        }
    }

    /// A function is called under its full name.
    pub(super) fn call_named(&mut self, name: &str, args: Args) -> Value {
        let language = self.language;
        let name = full(language, name);
        if let Some(act) = find(language, &name) {
            return self.perform(act, &args);
        }
        // A method of a class, called with its object.
        if let Some(method) = name.strip_prefix("pathlib.Path.").filter(|_| language == Language::Python)
            && let Some((object, _)) = args.values.split_first()
        {
            return super::methods::call(self, object.value.clone(), method, args.skip(1));
        }
        match name.strip_prefix(CONFIG_PARSER) {
            Some(".read") => return files::config_read(self, &args),
            Some(".get") => return files::config_get(self, &args),
            _ => {}
        }
        if let Some(value) = self.adapted(&name, &args) {
            return value;
        }
        if MILD.iter().any(|mild| name == *mild || name.strip_prefix(mild).is_some_and(|rest| rest.starts_with('.'))) {
            return Value::Unknown;
        }
        if matches!(name.as_str(), "print" | "puts" | "console.log") {
            self.prints(&args);
        }
        let root = name.split('.').next().unwrap_or_default();
        let unknown_perl = language == Language::Perl || language == Language::Ruby;
        let strict = STRICT.iter().any(|strict| name.strip_prefix(strict).is_some_and(|rest| rest.starts_with('.')));
        // Node's `os` has no function that matters.
        if strict && !(language == Language::Node && root == "os") || self.modules.contains(root) {
            self.incomplete();
        }
        if unknown_perl && !self.modules.is_empty() && !is_builtin(root) {
            self.incomplete();
        }
        if root == "console"
            || matches!(
                name.as_str(),
                "print"
                    | "help"
                    | "dir"
                    | "hasattr"
                    | "type"
                    | "id"
                    | "isinstance"
                    | "callable"
                    | "p"
                    | "puts"
                    | "inspect"
                    | "var_dump"
                    | "print_r"
            )
        {
            return Value::Unknown;
        }
        match name.rsplit_once('.') {
            Some((_, last)) if !strict && !HARMLESS.contains(&root) => {
                return super::methods::on_unknown(self, last, &args);
            }
            None if let Some(value) = self.by_last_name(&name, &args) => return value,
            _ => {}
        }
        if !HARMLESS.contains(&root) {
            self.told(&name, &args);
        }
        self.callbacks(&args);
        Value::Unknown
    }

    /// What is printed is a line of what the script prints.
    fn prints(&mut self, args: &Args) {
        let texts: Vec<String> = args.values.iter().flat_map(|arg| arg.value.texts()).collect();
        // Perl's and PHP's `print` ends no line.
        let ends_line = !matches!(self.language, Language::Perl | Language::Php);
        let is_one = ends_line && args.values.len() == 1 && args.named.is_empty();
        let is_known = is_one
            && matches!(args.values[0].value, Value::Text(_) | Value::Number(_))
            && !texts.iter().any(|text| text.contains([HOLE, value::HOME]));
        match self.printed.as_mut().filter(|all| is_known && all.len() < value::LONGEST) {
            Some(all) => texts.iter().for_each(|text| {
                all.push_str(text);
                all.push('\n');
            }),
            None => self.printed = None,
        }
    }

    /// A file at home is read that a function is told of which nothing is known but its name.
    pub(super) fn told(&mut self, name: &str, args: &Args) {
        let last = name.rsplit(['.', ':']).next().unwrap_or_default().to_ascii_lowercase();
        // Archives add what they are told.
        let adds = matches!(last.as_str(), "add" | "addfile");
        if !adds && !READS.iter().any(|reads| last.starts_with(reads)) {
            return;
        }
        for arg in args.values.iter().take(3) {
            if let Value::Text(text) | Value::Path(text) = &arg.value
                && is_at_home(text)
            {
                self.effect(ScriptEffectKind::Read(value::path(text)), &arg.at);
            }
        }
    }

    /// Functions that are handed over are called with what stands behind them.
    pub(super) fn callbacks(&mut self, args: &Args) {
        let language = self.language;
        let handed = args
            .values
            .iter()
            .enumerate()
            .map(|(at, arg)| (Some(at), &arg.value))
            .chain(args.named.iter().map(|(_, arg)| (None, &arg.value)))
            .find(|(_, value)| is_dangerous(language, value) || matches!(value, Value::Bound(..)));
        let Some((at, function)) = handed else { return };
        let mut rest: Vec<Value> = match at {
            Some(at) => args.values.iter().skip(at + 1).map(|arg| arg.value.clone()).collect(),
            None => Vec::new(),
        };
        if let Some(list) = args.named("args") {
            rest = list.clone().items();
        }
        if rest.is_empty() || !matches!(function, Value::Name(_) | Value::Bound(..)) {
            if !matches!(function, Value::Bound(..)) {
                self.incomplete();
            }
            return;
        }
        let function = function.clone();
        let at = args.at.clone();
        self.call(function, Args::of(rest, at));
    }

    /// Calls through what all functions or modules have: `f.call(..)`, `module.then(..)`, `object.send(..)`.
    fn adapted(&mut self, name: &str, args: &Args) -> Option<Value> {
        let (before, last) = name.rsplit_once('.')?;
        let receiver = Value::name(before);
        match (self.language, last) {
            (Language::Node, "then") => {
                let function = args.value(0)?.clone();
                Some(self.call(function, Args::of(vec![receiver], args.at.clone())))
            }
            (Language::Node, "call") => Some(self.call(receiver, args.skip(1))),
            (Language::Node, "apply") => {
                let values = args.value(1).cloned().unwrap_or(Value::Unknown).items();
                Some(self.call(receiver, Args::of(values, args.at.clone())))
            }
            (Language::Node, "bind") => {
                if args.values.len() > 1 {
                    return Some(self.call(receiver, args.skip(1)));
                }
                Some(receiver)
            }
            (Language::Node, "constructor") => {
                let language = self.language;
                find(language, "Function").map(|act| self.perform(act, args))
            }
            (Language::Ruby, "send" | "__send__" | "public_send" | "method") => {
                let Some(method) = args.value(0).and_then(Value::known).map(str::to_owned) else {
                    self.incomplete();
                    self.effect(ScriptEffectKind::Eval(Text::Shape(HOLE.to_string())), &args.at);
                    return Some(Value::Unknown);
                };
                let function = self.member(receiver, &method);
                if last == "method" {
                    return Some(function);
                }
                Some(self.call(function, args.skip(1)))
            }
            (Language::Ruby, "const_get") => {
                let constant = args.value(0).and_then(Value::known).map(str::to_owned)?;
                Some(self.member(receiver, &constant))
            }
            (Language::Ruby, "call" | "()") => Some(self.call(receiver, args.clone())),
            (Language::Python, "__getattribute__" | "__getattr__") | (Language::Python, "get" | "__getitem__")
                if matches!(before, "globals" | "locals" | "vars" | "sys.modules" | "os" | "__builtins__")
                    || last.starts_with("__getattr") =>
            {
                match args.value(0).and_then(Value::known).map(str::to_owned) {
                    Some(member)
                        if matches!(before, "globals" | "locals" | "vars" | "sys.modules" | "__builtins__") =>
                    {
                        Some(Value::Name(member))
                    }
                    Some(member) => Some(self.member(receiver, &member)),
                    None => {
                        self.incomplete();
                        Some(Value::Unknown)
                    }
                }
            }
            (Language::Python, "__subclasses__" | "__globals__") => {
                self.incomplete();
                Some(Value::Unknown)
            }
            (Language::Perl, "can") => {
                let method = args.value(0).and_then(Value::known).map(str::to_owned)?;
                Some(Value::Name(format!("{before}::{method}")))
            }
            _ => None,
        }
    }

    /// Does what a row says.
    pub(super) fn perform(&mut self, act: Act, args: &Args) -> Value {
        match act {
            Act::None => Value::Unknown,
            Act::Opaque => {
                self.incomplete();
                Value::Unknown
            }
            Act::Read(at) => {
                each(self, args, at, ScriptEffectKind::Read);
                self.content(&argument(args, at))
            }
            Act::List(_) if args.values.is_empty() && args.named.is_empty() => {
                self.effect(ScriptEffectKind::List(Text::Known(".".to_owned())), &args.at);
                Value::Unknown
            }
            Act::List(at) => each(self, args, at, ScriptEffectKind::List),
            Act::Write(at) => each(self, args, at, ScriptEffectKind::Write),
            Act::Append(at) => each(self, args, at, ScriptEffectKind::Append),
            Act::File(at) => each(self, args, at, |path| ScriptEffectKind::Create { path, folder: false }),
            Act::Folder(at) => each(self, args, at, |path| ScriptEffectKind::Create { path, folder: true }),
            Act::Folders => every(self, args, 0, |path| ScriptEffectKind::Create { path, folder: true }),
            Act::Delete(at) => each(self, args, at, |path| ScriptEffectKind::Delete { path, recursive: false }),
            Act::Deletes => every(self, args, 0, |path| ScriptEffectKind::Delete { path, recursive: false }),
            Act::Tree(at) => each(self, args, at, |path| ScriptEffectKind::Delete { path, recursive: true }),
            Act::Trees => every(self, args, 0, |path| ScriptEffectKind::Delete { path, recursive: true }),
            Act::Move => pairs(self, args, |from, to| ScriptEffectKind::Move { from, to }),
            Act::Copy => pairs(self, args, |from, to| ScriptEffectKind::Copy { from, to }),
            Act::Link => self.link(args),
            Act::HardLink => {
                each(self, args, 0, ScriptEffectKind::HardLink);
                each(self, args, 1, |path| ScriptEffectKind::Create { path, folder: false })
            }
            Act::Mode(at) => each(self, args, at, |path| ScriptEffectKind::Mode { path, mode: None }),
            Act::Modes(at) => every(self, args, at, |path| ScriptEffectKind::Mode { path, mode: None }),
            Act::Chmod(at) => {
                let mode = mode(args, at);
                each(self, args, at, |path| ScriptEffectKind::Mode { path, mode: mode.clone() })
            }
            Act::Chmods => {
                let mode = mode(args, 1);
                every(self, args, 1, |path| ScriptEffectKind::Mode { path, mode: mode.clone() })
            }
            Act::Chdir => self.change_folder(args),
            Act::Shell(at) => {
                shells(self, arg(args, at));
                Value::Unknown
            }
            Act::ShellOrRun => {
                if args.values.len() == 1 && !matches!(args.value(0), Some(Value::List(_))) {
                    shells(self, arg(args, 0));
                } else {
                    run(self, args.values.iter().map(|arg| arg.value.clone()).collect(), &args.at);
                }
                Value::Unknown
            }
            Act::Run(from) => {
                run(self, args.values.iter().skip(from).map(|arg| arg.value.clone()).collect(), &args.at);
                Value::Unknown
            }
            Act::Exec(at) => self.exec(args, at),
            Act::Eval(at) => {
                evals(self, arg(args, at));
                Value::Unknown
            }
            Act::Send(at) => self.send(args, at),
            Act::Other(name) => dispatch::handler(name)(self, args),
            Act::Value(name) => dispatch::pure(name)(args),
            Act::Variable => getenv(self, args),
        }
    }

    /// A symbolic link: what it leads to, and where it is.
    fn link(&mut self, args: &Args) -> Value {
        // Of a relative one it is not known from where.
        let (leads, at) = super::arguments::paths(args, 0);
        for path in leads {
            if matches!(&path, Text::Known(text) if text.starts_with(['/', '~'])) {
                self.effect(ScriptEffectKind::Read(path), &at);
            }
        }
        each(self, args, 1, |path| ScriptEffectKind::Create { path, folder: false })
    }

    /// Another working folder.
    fn change_folder(&mut self, args: &Args) -> Value {
        if args.values.is_empty() {
            self.effect(ScriptEffectKind::Chdir(Text::Known("~".to_owned())), &args.at);
        }
        let value = each(self, args, 0, ScriptEffectKind::Chdir);
        // Ruby's `Dir.chdir("x") { .. }` comes back, but what the block does is done there.
        let block = args.values.iter().find(|arg| matches!(arg.value, Value::Function(_))).cloned();
        if let Some(block) = block.filter(|_| self.language == Language::Ruby) {
            self.call(block.value, Args::of(Vec::new(), args.at.clone()));
            self.effect(ScriptEffectKind::Chdir(Text::Shape(HOLE.to_string())), &args.at);
        }
        value
    }

    /// A program that is named beside its arguments.
    fn exec(&mut self, args: &Args, at: usize) -> Value {
        let program = argument(args, at);
        let mut argv = argument(args, at + 1).items();
        if argv.is_empty() || self.language == Language::Php {
            argv.insert(0, program);
        } else if let Some(first) = argv.first_mut() {
            *first = program;
        }
        run(self, argv, &args.at);
        Value::Unknown
    }

    /// A request to the host that an argument names.
    fn send(&mut self, args: &Args, at: usize) -> Value {
        let value = match argument(args, at) {
            Value::List(values) => values.into_iter().next().unwrap_or(Value::Unknown),
            value => value,
        };
        let at = arg(args, at).map_or(args.at.clone(), |arg| arg.at);
        for text in value.texts() {
            self.effect(ScriptEffectKind::Send(value::path(&text)), &at);
        }
        Value::Unknown
    }

    /// What a call means that is made on a value that nothing is known of.
    pub(super) fn by_last_name(&mut self, name: &str, args: &Args) -> Option<Value> {
        let language = self.language;
        let (_, _, meaning) = PLAIN.iter().find(|(own, plain, _)| *own == language && *plain == name)?;
        let act = find(language, meaning)?;
        Some(self.perform(act, args))
    }
}

/// Whether a name is that of a function of Perl or Ruby itself.
fn is_builtin(name: &str) -> bool {
    matches!(
        name,
        "print"
            | "say"
            | "printf"
            | "puts"
            | "p"
            | "pp"
            | "die"
            | "warn"
            | "exit"
            | "close"
            | "binmode"
            | "push"
            | "shift"
            | "keys"
            | "values"
            | "sort"
            | "map"
            | "grep"
            | "join"
            | "split"
            | "length"
            | "defined"
            | "ref"
            | "scalar"
            | "lc"
            | "uc"
            | "sleep"
            | "raise"
            | "loop"
            | "STDIN"
            | "STDOUT"
            | "STDERR"
            | "$stdout"
            | "$stderr"
            | "JSON"
            | "Time"
            | "Integer"
            | "Float"
            | "Math"
            | "gets"
            | "rand"
            | "abort"
            | "eof"
            | "chomp"
            | "substr"
            | "index"
            | "time"
            | "localtime"
            | "return"
            | "next"
            | "last"
    )
}
