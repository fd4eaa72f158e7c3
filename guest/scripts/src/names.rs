//! What names mean in each language: under which one the tables have a function, constants, words of the language.

use super::value::{self, Value};
use super::{Language, Origin, Setting, script_args};

/// A name as the tables have it.
pub(super) fn full(language: Language, name: &str) -> String {
    let mut name = name.to_owned();
    match language {
        Language::Python => {
            for prefix in ["builtins.", "__builtins__.", "__builtin__.", "__main__."] {
                if let Some(rest) = name.strip_prefix(prefix) {
                    name = rest.to_owned();
                }
            }
            for suffix in [".__call__", ".__dict__", ".__func__"] {
                if let Some(rest) = name.strip_suffix(suffix) {
                    name = rest.to_owned();
                }
            }
            // Modules are reached through modules that import them: `shutil.os.system`.
            for module in ["os", "sys", "subprocess", "shutil", "builtins", "io"] {
                if let Some(at) = name.find(&format!(".{module}.")) {
                    name = name.get(at + 1..).unwrap_or_default().to_owned();
                } else if name.strip_suffix(module).is_some_and(|before| before.ends_with('.')) {
                    name = module.to_owned();
                }
            }
            for (from, to) in [
                ("posix.", "os."),
                ("nt.", "os."),
                ("posixpath.", "os.path."),
                ("ntpath.", "os.path."),
                ("_io.open", "open"),
                ("io.open", "open"),
                ("pathlib.PosixPath", "pathlib.Path"),
                ("pathlib.PurePosixPath", "pathlib.Path"),
                ("builtins.", ""),
                ("os.environb", "os.environ"),
            ] {
                if let Some(rest) = name.strip_prefix(from) {
                    name = format!("{to}{rest}");
                }
            }
        }
        Language::Node => {
            for prefix in ["globalThis.", "global.", "window.", "self.", "process.mainModule.", "require.main."] {
                if let Some(rest) = name.strip_prefix(prefix) {
                    name = rest.to_owned();
                }
            }
            if let Some(rest) = name.strip_suffix(".default") {
                name = rest.to_owned();
            }
            match name.as_str() {
                "module.require" | "module.constructor._load" | "module.Module._load" => return "require".to_owned(),
                "fs.promises" => return "fs".to_owned(),
                "path.posix" => return "path".to_owned(),
                _ => {}
            }
            if (name.starts_with("fs.")
                || name.starts_with("child_process.")
                || name.starts_with("execa.")
                || name.starts_with("Deno.")
                || name.starts_with("Bun."))
                && let Some(rest) = name.strip_suffix("Sync")
            {
                name = rest.to_owned();
            }
        }
        Language::Ruby => {
            for prefix in ["Kernel.", "self.", "Object.", "FileUtils.Verbose."] {
                if let Some(rest) = name.strip_prefix(prefix) {
                    let keep = if prefix.starts_with("FileUtils") { "FileUtils." } else { "" };
                    name = format!("{keep}{rest}");
                }
            }
        }
        Language::Perl => {
            name = name.trim_start_matches('&').to_owned();
            for prefix in ["CORE::GLOBAL::", "CORE::", "main::", "POSIX::", "Cwd::", "::"] {
                if let Some(rest) = name.strip_prefix(prefix) {
                    name = rest.to_owned();
                }
            }
        }
        _ => {}
    }
    name
}

/// What a name stands for, if it is no function.
pub(super) fn constant(language: Language, name: &str, setting: &Setting) -> Option<Value> {
    let origin = &setting.origin;
    Some(match (language, name) {
        (Language::Python, "os.sep" | "os.path.sep" | "posixpath.sep") | (Language::Node, "path.sep") => {
            Value::text("/")
        }
        (Language::Ruby, "File.SEPARATOR" | "File.Separator") | (Language::Php, "directory_separator") => {
            Value::text("/")
        }
        (Language::Python, "os.curdir") => Value::text("."),
        (Language::Node, "__dirname" | "import.meta.dirname") | (Language::Php, "__dir__") => match origin {
            Origin::Text => Value::text("."),
            Origin::File(path) => Value::text(&value::dirname(path)),
            Origin::Unknown => Value::Unknown,
        },
        (Language::Ruby, "__dir__") => match origin {
            Origin::File(path) => Value::text(&value::dirname(path)),
            Origin::Text | Origin::Unknown => Value::Unknown,
        },
        (Language::Node, "__filename" | "import.meta.filename") | (Language::Php | Language::Python, "__file__") => {
            match origin {
                Origin::File(path) => Value::text(path),
                Origin::Text | Origin::Unknown => Value::Unknown,
            }
        }
        // As the script was called: relative to where it was started.
        (Language::Python | Language::Ruby, "__FILE__") => Value::Unknown,
        (Language::Python, "os.pardir") => Value::text(".."),
        (Language::Python, "os.linesep") | (Language::Node, "os.EOL") | (Language::Php, "php_eol") => Value::text("\n"),
        (Language::Python, "sys.executable") => Value::text("python3"),
        (Language::Node, "process.execPath") => Value::text("node"),
        (Language::Php, "php_binary") => Value::text("php"),
        (Language::Node, "process.env.HOME") => Value::home(),
        (Language::Python, "sys.argv")
        | (Language::Node, "process.argv")
        | (Language::Ruby, "ARGV")
        | (Language::Perl, "@ARGV")
        | (Language::Php, "$argv") => script_args::arguments(setting, language),
        (Language::Node, name) if name.starts_with("process.env.") => {
            of_environment(setting, &name["process.env.".len()..])
        }
        (Language::Python, "sys.stdin") | (Language::Ruby, "STDIN" | "$stdin") => {
            Value::File(setting.surroundings.input.clone()?)
        }
        (Language::Php, "$_ENV" | "$_SERVER") => Value::name("$_ENV"),
        _ => return None,
    })
}

/// The value of an environment variable, if that is what is indexed.
pub(super) fn environment(setting: &Setting, value: &Value, key: &Value) -> Option<Value> {
    match value {
        Value::Name(name) if matches!(name.as_str(), "os.environ" | "process.env" | "ENV" | "$_ENV") => {
            Some(match key.known() {
                Some("HOME") => Value::home(),
                Some(name) => of_environment(setting, name),
                None => Value::Unknown,
            })
        }
        _ => None,
    }
}

/// A variable of the environment.
pub(super) fn of_environment(setting: &Setting, name: &str) -> Value {
    let mut known = setting.surroundings.variables.iter();
    match known.find(|(own, _)| own == name) {
        Some((_, text)) if setting.surroundings.variables_may_change => Value::text(text).or(Value::Unknown),
        Some((_, text)) => Value::text(text),
        None => Value::Unknown,
    }
}

/// From which argument on a function changes the variables that it is given.
pub(super) fn changes(language: Language, name: &str) -> Option<usize> {
    match (language, name) {
        (
            Language::Python,
            "random.shuffle" | "operator.setitem" | "operator.delitem" | "operator.iadd" | "operator.iconcat",
        ) => Some(0),
        // `list.reverse(l)`
        (Language::Python, name)
            if ["list.", "dict.", "set.", "heapq.", "bisect.insort"].iter().any(|prefix| name.starts_with(prefix)) =>
        {
            Some(0)
        }
        (Language::Node, "Object.assign") => Some(0),
        (Language::Node, name) if name.starts_with("Array.prototype.") => Some(0),
        (Language::Perl, "chop" | "read" | "sysread" | "substr" | "splice" | "vec" | "sysopen" | "undef") => Some(0),
        (Language::Php, "preg_match" | "preg_match_all" | "sscanf") => Some(2),
        (Language::Php, "exec" | "passthru" | "system" | "similar_text" | "parse_str") => Some(1),
        (
            Language::Php,
            "settype"
            | "array_push"
            | "array_pop"
            | "array_shift"
            | "array_unshift"
            | "array_splice"
            | "array_walk"
            | "sort"
            | "rsort"
            | "usort"
            | "ksort"
            | "krsort"
            | "uasort"
            | "uksort"
            | "asort"
            | "arsort"
            | "natsort"
            | "natcasesort"
            | "array_multisort"
            | "array_walk_recursive"
            | "shuffle"
            | "unset",
        ) => Some(0),
        _ => None,
    }
}

pub(super) fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "if" | "for" | "while" | "switch" | "catch" | "with" | "function" | "return" | "typeof" | "super" | "await"
    )
}

/// Perl functions that take `$_` if they are given nothing.
pub(super) fn takes_topic(name: &str) -> bool {
    matches!(
        name,
        "unlink" | "rmdir" | "mkdir" | "eval" | "lc" | "uc" | "chr" | "ord" | "require" | "readpipe" | "glob"
    )
}

pub(super) fn takes_block(name: &str) -> bool {
    matches!(name, "print" | "printf" | "say" | "system" | "exec" | "map" | "grep" | "sort" | "eval" | "do" | "find")
}
