//! Interpreters: a program given in the words, or read from standard input.

use toolgate_commands::OptionRun;

use super::argv_edit::{cut, join, known};
use super::nested::{command, extras, is_stdin};
use super::{Call, ContextChange, Language, NestedCommand, NestedKind};
use toolgate_scripts::{Origin, ScriptEffectKind, Setting};
use toolgate_shell_syntax::decode::{self, Base64};
use toolgate_shell_syntax::word::{Value, Word};

pub(super) fn inline(call: Call<'_>, language: Language) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    if scan.stopped {
        return match language {
            Language::Python => run_as_module(call.words.get(call.from..).unwrap_or_default(), &change),
            _ => Vec::new(),
        };
    }
    let mut operands: Vec<Word> = scan.operands.iter().filter_map(|&at| call.words.get(at).cloned()).collect();
    let given = scan.hits.iter().filter(|hit| hit.meaning == OptionRun::Code);
    let mut codes: Vec<Word> = given.clone().filter_map(|hit| hit.value.clone()).collect();
    let mut found = Vec::new();
    let programs: Vec<NestedCommand> =
        scan.values(OptionRun::Module).filter_map(|module| loaded(language, module, &change)).collect();
    // `ruby -run -e cp -- FROM TO`
    if language == Language::Ruby && scan.values(OptionRun::Module).any(|module| module.text() == "un") {
        let words = codes.first().cloned().into_iter().chain(operands).filter(|word| word.text() != "--").collect();
        return vec![command(words, &change)];
    }
    // The option is there, its text is put in when it runs.
    let missing = codes.is_empty() && given.count() > 0;
    let program_first = matches!(language, Language::Awk | Language::Sed);
    if program_first && codes.is_empty() && !scan.has(OptionRun::File) && !missing && !operands.is_empty() {
        codes.push(operands.remove(0));
        // `sed -i '' SCRIPT`, as it is written for macOS.
        if language == Language::Sed && codes.iter().all(|code| code.known() == Some("")) && !operands.is_empty() {
            codes.push(operands.remove(0));
        }
    }
    let stdin = |args: Vec<Word>| NestedCommand::new(NestedKind::Stdin { language: Some(language), args }, &change);
    if missing {
        found.push(NestedCommand::new(NestedKind::Unseen, &change));
    } else if !codes.is_empty() {
        let uses = scan.values(OptionRun::Module).filter_map(|module| used(language, module));
        let text = join(&uses.chain(codes).collect::<Vec<_>>(), "\n");
        if language != Language::Sed || text.known().is_none_or(sed_acts) {
            // Those of sed are files, and its scripts do not name them.
            let args = if language == Language::Sed { Vec::new() } else { operands };
            found.push(NestedCommand::new(NestedKind::Inline { language, text, args }, &change));
        }
    } else if program_first || scan.has(OptionRun::File) {
        found.extend(scan.values(OptionRun::File).any(is_stdin).then(|| stdin(operands)));
    } else {
        match operands.split_first() {
            None => found.push(stdin(Vec::new())),
            Some((first, args)) if is_stdin(first) => found.push(stdin(args.to_vec())),
            // `node node_modules/.bin/NAME`: the program of that name.
            Some((path, args)) if path.known().is_some_and(|path| path.contains("node_modules/.bin/")) => {
                found.push(command(std::iter::once(path).chain(args).cloned().collect(), &change));
            }
            Some((path, args)) => {
                let kind = NestedKind::Script { language, path: path.clone(), args: args.to_vec() };
                found.push(NestedCommand::new(kind, &change));
            }
        }
    }
    if scan.unclear || call.unclear {
        found.push(NestedCommand::new(NestedKind::Unseen, &change).perhaps());
    }
    found.extend(programs);
    found
}

/// `python3 -m black FILE`, `python3 -m alembic downgrade base`: the program of that name.
fn run_as_module(words: &[Word], change: &ContextChange) -> Vec<NestedCommand> {
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "black", "blue", "isort", "ruff", "yapf", "autopep8", "autoflake", "docformatter", "pyupgrade", "alembic", "flask", "aerich",
        "yoyo", "piccolo", "celery", "twine", "flit", "hatch", "poetry", "pdm", "ansible", "django",
    ];
    // `-m NAME`, `-mNAME`
    let at = words.iter().position(|word| word.text().starts_with("-m"));
    let own = at.and_then(|at| words.get(at)).filter(|word| word.text().len() > 2).map(|word| cut(word, 2));
    let words = at.and_then(|at| words.get(at + 1..)).unwrap_or_default();
    let mut words: Vec<Word> = own.into_iter().chain(words.iter().cloned()).collect();
    let Some(name) = words.first_mut().filter(|name| name.known().is_some_and(|name| NAMES.contains(&name))) else {
        return Vec::new();
    };
    if name.known() == Some("django") {
        *name = known("django-admin", name);
    }
    vec![command(words, change)]
}

/// `perl -MFile::Copy -e 'copy ..'`: the module, as a line of the code.
fn used(language: Language, module: &Word) -> Option<Word> {
    let name = module.known().filter(|_| language == Language::Perl)?.split('=').next()?;
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == ':' || c == '_');
    let text = Value::Known(format!("use {name};"));
    is_plain.then(|| Word { value: text, at: None, ..module.clone() })
}

/// A module whose name is a program: `perl '-MPOSIX;..'`, `node --import data:..`.
fn loaded(language: Language, module: &Word, change: &ContextChange) -> Option<NestedCommand> {
    match language {
        Language::Perl if module.text().contains([';', '(']) => {
            let value = module.value.part(format!("use {};", module.text()));
            let text = Word { value, at: None, ..module.clone() };
            Some(NestedCommand::new(NestedKind::Inline { language, text, args: Vec::new() }, change))
        }
        Language::Node if module.text().starts_with("data:") => {
            let (head, body) = module.known()?.split_once(',')?;
            let text = match head.contains("base64") {
                true => decode::base64(body, Base64::Function),
                false => Some(decode::percent(body)),
            };
            let kind = text.map_or(NestedKind::Unseen, |text| {
                let text = Word { at: None, value: Value::Known(text), ..module.clone() };
                NestedKind::Inline { language, text, args: Vec::new() }
            });
            Some(NestedCommand::new(kind, change).perhaps())
        }
        _ => None,
    }
}

/// `rename EXPRESSION FILE ..` of Perl. The other one takes two texts, which do nothing as expressions.
pub(super) fn rename(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let first = scan.operands.first().and_then(|&at| call.words.get(at)).filter(|_| !scan.has(OptionRun::Code));
    let inline = |text: &Word| {
        let kind = NestedKind::Inline { language: Language::Perl, text: text.clone(), args: Vec::new() };
        NestedCommand::new(kind, &change).perhaps()
    };
    scan.values(OptionRun::Code).chain(first).map(inline).collect()
}

/// `latexmk -e TEXT` of Perl.
pub(super) fn latexmk(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let mut found = extras(&scan, &change);
    for pair in call.words.windows(2) {
        if let [option, text] = pair
            && option.known() == Some("-e")
        {
            let kind = NestedKind::Inline { language: Language::Perl, text: text.clone(), args: Vec::new() };
            found.push(NestedCommand::new(kind, &change).perhaps());
        }
    }
    found
}

/// `deno eval TEXT`
pub(super) fn operand(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let words = call.words.get(scan.end..).unwrap_or_default();
    let (text, args) = words.split_first().filter(|_| !scan.stopped).unzip();
    let args = args.map(<[Word]>::to_vec).unwrap_or_default();
    let kind = text.map(|text| NestedKind::Inline { language: Language::Node, text: text.clone(), args });
    kind.map(|kind| NestedCommand::new(kind, &change)).into_iter().collect()
}

/// `bun` is a runtime, a package runner and a shell.
pub(super) fn bun(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let name = call.words.get(scan.end).and_then(Word::known);
    if scan.has(OptionRun::Code) || scan.stopped {
        return inline(call, Language::Node);
    }
    match name {
        Some("x") => {
            let Some(row) = super::table::find("bunx") else { return Vec::new() };
            Call { row, words: call.words, from: scan.end + 1, change, unclear: scan.unclear }.open()
        }
        Some("exec") => {
            let text = call.words.get(scan.end + 1).cloned();
            text.map(|text| NestedCommand::new(NestedKind::Text { text, args: Vec::new() }, &change))
                .into_iter()
                .collect()
        }
        Some("run") if call.words.get(scan.end + 1).is_some_and(is_stdin) => {
            vec![NestedCommand::new(NestedKind::Stdin { language: Some(Language::Node), args: Vec::new() }, &change)]
        }
        // What is no script of the project's is a program.
        Some("run") => {
            let words = call.words.get(scan.end + 1..).unwrap_or_default();
            let options = words.iter().take_while(|word| word.text().starts_with('-')).count();
            let words = words.get(options..).unwrap_or_default();
            let plain = words
                .first()
                .and_then(Word::known)
                .is_some_and(|name| !name.contains(['.', '/', ':']) && name != "install");
            if plain { vec![command(words.to_vec(), &change).perhaps()] } else { Vec::new() }
        }
        Some("-") => {
            vec![NestedCommand::new(NestedKind::Stdin { language: Some(Language::Node), args: Vec::new() }, &change)]
        }
        _ => Vec::new(),
    }
}

/// Whether a sed script runs commands or writes files. What cannot be followed does.
fn sed_acts(script: &str) -> bool {
    let script = toolgate_scripts::read(Language::Sed, script, Setting::of(Origin::Text));
    !script.complete
        || script
            .effects
            .iter()
            .any(|effect| !matches!(effect.what, ScriptEffectKind::Read(_) | ScriptEffectKind::List(_)))
}
