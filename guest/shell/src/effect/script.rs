//! Programs that take a script: editors of streams, interpreters, patches.

use std::collections::HashSet;

use super::options::{Arg, is_script};
use super::{EffectKind, Mark, ResolvedPath, Run, archive, build, escaped, files};
use crate::facts::Presence;
use toolgate_scripts::{self as scripts, Language, Origin, ScriptEffectKind, Setting, Text};
use toolgate_shell_syntax::word::{Value, Why, is_name};

/// Whether a script of `sed` is one that every `sed` takes.
#[derive(Debug, Default)]
struct Sed {
    /// All of it was understood and no pattern in it can be wrong.
    plain: bool,
    /// It may end before its input does.
    quits: bool,
}

/// A part of a script up to a delimiter, `\` escaping one character.
fn delimited(text: &str, delimiter: char) -> Option<(&str, &str)> {
    let mut escaping = false;
    for (at, c) in text.char_indices() {
        if std::mem::take(&mut escaping) {
            continue;
        }
        match c {
            '\\' => escaping = true,
            '\n' => return None,
            c if c == delimiter => return Some((&text[..at], &text[at + c.len_utf8()..])),
            _ => {}
        }
    }
    None
}

/// What stands behind a file's name, which goes to the end of its line.
fn after_line(text: &str) -> &str {
    text.find('\n').map_or("", |end| &text[end..])
}

/// Whether a pattern has nothing in it that could be wrong.
fn is_plain_pattern(text: &str) -> bool {
    !text.is_empty() && !text.contains(['\\', '[', ']', '*', '(', ')', '{', '}', '+', '?', '|', '^'])
}

impl Sed {
    fn read(script: &str) -> Self {
        let mut sed = Sed::default();
        sed.plain = sed.commands(script).unwrap_or(false);
        sed
    }

    /// `None` where it stops making sense.
    fn commands(&mut self, script: &str) -> Option<bool> {
        let mut plain = true;
        let mut depth = 0_usize;
        let mut rest = script;
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\n', ';']);
            if rest.is_empty() {
                return Some(plain && depth == 0);
            }
            let addressed;
            (rest, addressed) = Self::address(rest, &mut plain)?;
            if let Some(second) = rest.strip_prefix(',').filter(|_| addressed) {
                let second = second.trim_start().trim_start_matches(['+', '~']);
                let is_there;
                (rest, is_there) = Self::address(second, &mut plain)?;
                plain &= is_there;
            }
            rest = rest.trim_start_matches([' ', '\t', '!']);
            let command = rest.chars().next()?;
            rest = &rest[command.len_utf8()..];
            match command {
                '{' => {
                    depth += 1;
                    continue;
                }
                '}' => depth = depth.checked_sub(1)?,
                's' | 'y' => {
                    let delimiter = rest.chars().next().filter(|c| !matches!(c, '\n' | '\\'))?;
                    let (pattern, after) = delimited(&rest[delimiter.len_utf8()..], delimiter)?;
                    let (replacement, after) = delimited(after, delimiter)?;
                    plain &= is_plain_pattern(pattern) && !replacement.contains('\\') && command == 's';
                    let flags = after.trim_start_matches(|c: char| "gpiIm".contains(c) || c.is_ascii_digit());
                    let given = &after[..after.len() - flags.len()];
                    plain &= given.len() <= 1 && given != "0";
                    rest = flags;
                    if let Some(file) = flags.strip_prefix('w') {
                        rest = after_line(file);
                    } else if let Some(after) = flags.strip_prefix(['e', 'M']) {
                        plain = false;
                        rest = after;
                    }
                }
                'w' | 'W' | 'r' | 'R' => rest = after_line(rest),
                'a' | 'i' | 'c' => {
                    plain = false;
                    // Lines that end in a backslash go on.
                    let mut end = 0;
                    for line in rest.split_inclusive('\n') {
                        end += line.len();
                        if !line.trim_end_matches('\n').ends_with('\\') {
                            break;
                        }
                    }
                    rest = &rest[end..];
                }
                'b' | 't' | 'T' | ':' | 'e' | 'v' => {
                    plain = false;
                    let end = if command == 'e' { rest.find('\n') } else { rest.find(['\n', ';', '}']) };
                    rest = &rest[end.unwrap_or(rest.len())..];
                }
                'q' | 'Q' | 'l' | 'L' => {
                    self.quits |= matches!(command, 'q' | 'Q');
                    rest = rest.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
                }
                '#' => rest = rest.split_once('\n').map_or("", |(_, after)| after),
                'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | '=' | 'z' | 'F' => {}
                _ => return None,
            }
            rest = rest.trim_start_matches([' ', '\t']);
            if !rest.is_empty() && !rest.starts_with(['\n', ';', '}', '#']) && !matches!(command, 'a' | 'i' | 'c' | '#')
            {
                return None;
            }
        }
    }

    /// What stands before a command, and whether anything does.
    fn address<'t>(text: &'t str, plain: &mut bool) -> Option<(&'t str, bool)> {
        let first = text.chars().next()?;
        let rest = match first {
            '0'..='9' => text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '~'),
            '$' => &text[1..],
            '/' | '\\' => {
                let from = if first == '\\' { 1 } else { 0 };
                let delimiter = text[from..].chars().next()?;
                let (pattern, rest) = delimited(&text[from + delimiter.len_utf8()..], delimiter)?;
                *plain &= is_plain_pattern(pattern);
                rest.trim_start_matches(['I', 'M'])
            }
            _ => return Some((text, false)),
        };
        *plain &= !text.starts_with('0') && !text[..text.len() - rest.len()].contains('~');
        Some((rest.trim_start_matches([' ', '\t']), true))
    }
}

/// A file of a script, which is spelled inside another word.
fn within(run: &Run<'_>, name: &str) -> ResolvedPath {
    run.place(&Value::Known(name.to_owned()), run.span)
}

/// `sed`
pub(super) fn sed(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let given: Vec<&Arg> =
        args.given.iter().filter(|given| given.name == "e").filter_map(|given| given.value.as_ref()).collect();
    // What stands before the files is the script, unless an option gave it.
    let first = operands.first().map_or(usize::MAX, |operand| operand.word);
    let scripts: Vec<&Arg> = if given.is_empty() && !args.has("f") {
        args.operands.iter().filter(|operand| operand.word < first).collect()
    } else {
        given
    };
    let mut text = String::new();
    let mut all_known = !args.has("f") && !scripts.is_empty();
    for script in scripts {
        match script.known() {
            Some(script) => {
                text.push_str(script);
                text.push('\n');
            }
            None => all_known = false,
        }
    }
    let script = Sed::read(&text);
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for effect in scripts::read(Language::Sed, &text, Setting::of(Origin::Text)).effects {
        match effect.what {
            ScriptEffectKind::Read(Text::Known(name)) => reads.push(name),
            ScriptEffectKind::Write(Text::Known(name)) => writes.push(name),
            _ => {}
        }
    }
    let runs = all_known && script.plain && !args.has_any("E s z u") && args.loose.is_empty();
    for name in &reads {
        let place = within(run, name);
        run.add(EffectKind::Read, &place, Mark::possible());
    }
    for name in &writes {
        let place = within(run, name);
        let certain = runs && run.writable(&place);
        run.writes(&place, certain);
    }
    let in_place = args.has("i");
    let suffix = args.value("i").map(|suffix| suffix.value.clone());
    // One output that cannot be made ends it all.
    let outputs = writes.iter().all(|name| run.writable(&within(run, name)));
    let mut runs = runs && outputs && !script.quits;
    for operand in operands {
        let place = run.word(operand);
        if !in_place {
            if operand.known() != Some("-") {
                run.reads(&place);
            }
            continue;
        }
        // A backup into another folder fails without it.
        let aside = suffix.as_ref().is_some_and(|suffix| suffix.text().contains('/'));
        let what = run.at(&place);
        // It ends at what is no file.
        runs &= matches!(what, Presence::File | Presence::Absent) && run.is_firm(&place);
        let certain = runs && !aside && what == Presence::File && !place.slash;
        run.add(EffectKind::Read, &place, Mark::certain(certain));
        run.add(EffectKind::Write, &place, Mark::certain(certain));
        let backup = match &suffix {
            Some(Value::Known(suffix)) if suffix.is_empty() => None,
            Some(Value::Known(suffix)) if suffix.contains(['*', '/']) => {
                let name = super::last_name(&place.value).text().to_owned();
                let name = if suffix.contains('*') { suffix.replace('*', &name) } else { format!("{name}{suffix}") };
                let folder = run.parent(&place).unwrap_or_else(|| run.here());
                Some(run.under(&folder, &Value::Known(name)))
            }
            Some(Value::Known(suffix)) => Some(run.suffixed(&place, suffix)),
            Some(_) => Some(ResolvedPath {
                value: Value::Pattern(format!("{}*", escaped(place.value.text()))),
                ..place.clone()
            }),
            None => None,
        };
        if let Some(backup) = backup {
            let plain = suffix.as_ref().is_some_and(|suffix| !suffix.text().contains(['*', '/']));
            let free = plain && matches!(run.at(&backup), Presence::Absent | Presence::File);
            run.add(EffectKind::Create, &backup, Mark::certain(certain && free));
        }
    }
}

/// `perl` and `ruby`, which change files in place with `-i`.
pub(super) fn perl(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let inline: Vec<&Arg> =
        args.given.iter().filter(|given| given.name == "e").filter_map(|given| given.value.as_ref()).collect();
    let mut files = operands;
    if inline.is_empty() {
        let Some((script, rest)) = operands.split_first() else { return };
        let place = run.word(script);
        run.add(EffectKind::Execute, &place, Mark::possible());
        files = rest;
    }
    if !args.has("i") {
        for file in files {
            run.mention(file);
            run.inside(file);
        }
        return;
    }
    let suffix = args.value("i").and_then(Arg::known).unwrap_or_default().to_owned();
    for file in files {
        let place = run.word(file);
        run.add(EffectKind::Write, &place, Mark::possible());
        if !suffix.is_empty() {
            let backup = if suffix.contains('*') {
                let name = super::last_name(&place.value).text().to_owned();
                let folder = run.parent(&place).unwrap_or_else(|| run.here());
                run.under(&folder, &Value::Known(suffix.replace('*', &name)))
            } else {
                run.suffixed(&place, &suffix)
            };
            run.add(EffectKind::Create, &backup, Mark::possible());
        }
    }
}

/// `awk`: the files after the program, or after `-f`; `name=value` is an assignment.
pub(super) fn awk(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let in_place = args.given.iter().any(|given| {
        given.name == "i" && given.value.as_ref().and_then(Arg::known).is_some_and(|name| name.starts_with("inplace"))
    });
    for given in &args.given {
        if let (false, "i", Some(file)) = (in_place, given.name, &given.value) {
            let place = run.word(file);
            run.add(EffectKind::Read, &place, Mark::possible());
        }
    }
    for given in args.given.iter().filter(|given| matches!(given.name, "o" | "p" | "d")) {
        if let Some(file) = &given.value {
            let place = run.word(file);
            run.writes(&place, false);
        }
    }
    // What is printed to a variable that an option sets, or to an operand.
    let first = operands.first().map_or(usize::MAX, |operand| operand.word);
    let programs = args.operands.iter().filter(|operand| operand.word < first).filter_map(Arg::known);
    let program = programs.collect::<Vec<_>>().join("\n");
    let targets = printed_to(&program);
    let is_assignment = |text: &str| text.split_once('=').is_some_and(|(name, _)| is_name(name));
    let given = args.given.iter().filter(|given| given.name == "v").filter_map(|given| given.value.as_ref());
    for set in given.chain(operands.iter().filter(|operand| is_assignment(operand.shape()))) {
        if let Some(at) = set.shape().find('=')
            && targets.contains(&set.shape()[..at])
        {
            let place = run.word(&set.rest(at + 1));
            run.writes(&place, false);
        }
    }
    // A function prints to what it is called with: `function w(f) { print > f } { w(FILENAME) }`.
    let is_called = program.contains("FILENAME") && parameters(&program).any(|name| targets.contains(name));
    for operand in operands.iter().filter(|operand| operand.known() != Some("-") && !is_assignment(operand.shape())) {
        let place = run.word(operand);
        let kind = if in_place { EffectKind::Write } else { EffectKind::Read };
        run.add(kind, &place, Mark::possible());
        if targets.contains("ARGV") || is_called {
            run.add(EffectKind::Write, &place, Mark::possible());
        }
    }
}

/// The parameters of the functions of a program of awk's.
fn parameters(program: &str) -> impl Iterator<Item = &str> {
    let heads = program.split("func").skip(1).filter_map(|rest| rest.split_once('(')?.1.split_once(')'));
    heads.flat_map(|(names, _)| names.split(',').map(str::trim))
}

/// The variables that a program of awk's prints to: `f` of `print > f`.
fn printed_to(program: &str) -> HashSet<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = HashSet::new();
    for statement in program.split([';', '{', '}', '\n']).filter(|statement| statement.contains("print")) {
        let mut rest = statement;
        while let Some(at) = rest.find('>') {
            rest = rest[at..].trim_start_matches(['>', ' ']);
            let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
            if !name.is_empty() {
                found.insert(name);
            }
        }
    }
    found
}

/// Programs that run a file of a language.
pub(super) fn interpret(run: &mut Run<'_>, operands: &[Arg]) {
    let given = run.args.given.iter().any(|given| is_script(given.file));
    if run.args.value("m").and_then(Arg::known).is_some_and(|module| ["venv", "virtualenv"].contains(&module)) {
        return build::virtual_environments(run, operands);
    }
    match run.args.value("m").and_then(Arg::known) {
        Some("json.tool") => return files::into_second(run, operands),
        Some(module @ ("zipfile" | "tarfile" | "cProfile" | "profile" | "zipapp")) => {
            module_files(run, module, operands);
        }
        _ => {}
    }
    if run.name == "deno" {
        deno(run, operands);
    }
    let mut operands = operands.iter();
    if !given && let Some(script) = operands.next().filter(|script| script.known() != Some("-")) {
        let place = run.word(script);
        run.add(EffectKind::Execute, &place, Mark::possible());
    }
    for operand in operands {
        words(run, operand);
    }
}

/// Files that a module of Python's own is told with an option: `-o FILE`, and for archives `-e FILE FOLDER`.
fn module_files(run: &mut Run<'_>, module: &str, operands: &[Arg]) {
    let is_archive = matches!(module, "zipfile" | "tarfile");
    if let Some(file) = operands.first().filter(|_| !is_archive && run.args.has("o")) {
        let place = run.word(file);
        run.writes(&place, false);
    }
    for pair in operands.windows(2).filter(|_| !is_archive) {
        if let [option, file] = pair
            && matches!(option.shape(), "-o" | "--output" | "--outfile")
        {
            let place = run.word(file);
            run.writes(&place, false);
        }
    }
    if is_archive && run.args.has("e") {
        let folder = operands.get(1).map_or_else(|| run.here(), |folder| run.word(folder));
        archive::unpacked(run, &folder);
    }
}

/// `deno fmt FILE ..`, `deno compile -o FILE`
fn deno(run: &mut Run<'_>, operands: &[Arg]) {
    let Some((name, rest)) = operands.split_first() else { return };
    match name.known() {
        Some("fmt") if !rest.iter().any(|word| word.known() == Some("--check")) => {
            for file in rest.iter().filter(|word| !word.shape().starts_with('-')) {
                let place = run.word(file);
                run.writes(&place, false);
            }
        }
        Some("compile" | "bundle") => {
            for pair in rest.windows(2) {
                if let [option, file] = pair
                    && matches!(option.shape(), "-o" | "--output")
                {
                    let place = run.word(file);
                    run.writes(&place, false);
                }
            }
        }
        _ => {}
    }
}

/// A word that goes to a script: it may be an option, and it may hold a path.
fn words(run: &mut Run<'_>, operand: &Arg) {
    if !operand.shape().starts_with('-') {
        run.mention(operand);
    }
    run.inside(operand);
}

/// `sh FILE ..`, `sh -c TEXT ..`: what the text does is found by reading it.
pub(super) fn shell(run: &mut Run<'_>, operands: &[Arg]) {
    let mut operands = operands.iter();
    if run.args.has("c") {
        operands.next();
    } else if !run.args.has("s")
        && let Some(script) = operands.next().filter(|script| script.known() != Some("-"))
    {
        let place = run.word(script);
        run.add(EffectKind::Execute, &place, Mark::possible());
    }
    for operand in operands {
        words(run, operand);
    }
}

/// `. FILE ..`: without a slash the file is looked for in `$PATH`, and then here.
pub(super) fn source(run: &mut Run<'_>, operands: &[Arg]) {
    let mut operands = operands.iter();
    if let Some(script) = operands.next() {
        let place = run.word(script);
        run.add(EffectKind::Execute, &place, Mark::possible());
    }
    for operand in operands {
        words(run, operand);
    }
}

/// `jq FILTER FILE ..`, whose options may take two words.
pub(super) fn jq(run: &mut Run<'_>, operands: &[Arg]) {
    for operand in operands.iter().filter(|operand| operand.known() != Some("-")) {
        let place = run.word(operand);
        run.reads(&place);
    }
}

/// `patch FILE`, `patch -p1 < DIFF`
pub(super) fn patch(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    if let Some(diff) = operands.get(1) {
        let place = run.word(diff);
        run.reads(&place);
    }
    if args.has("dry-run") {
        return;
    }
    match operands.first() {
        Some(file) if args.has("o") => {
            let place = run.word(file);
            run.reads(&place);
        }
        Some(file) => {
            let place = run.word(file);
            run.writes(&place, false);
            for suffix in [args.value("z").and_then(Arg::known).unwrap_or(".orig"), ".rej"] {
                let beside = run.suffixed(&place, suffix);
                let beside = ResolvedPath { value: Value::Pattern(escaped(beside.value.text())), ..beside };
                run.add(EffectKind::Create, &beside, Mark::possible());
            }
        }
        None if !args.has("o") => {
            run.implied(EffectKind::Write, "**");
            run.implied(EffectKind::Delete, "**");
            let diff = args.value("i");
            named_in_diff(run, diff, (args.value("p"), &[0, usize::MAX]), None);
        }
        None => {}
    }
}

/// The files that a diff names, which stands on standard input if no file is named. `strip` says how many folders of their
/// names are left out, and which counts are usual where that is not said; `within`, below which folder they are.
pub(super) fn named_in_diff(
    run: &mut Run<'_>,
    diff: Option<&Arg>,
    (strip, usual): (Option<&Arg>, &[usize]),
    within: Option<&Arg>,
) {
    let text = match diff.filter(|diff| diff.known() != Some("-")) {
        Some(diff) => run.word(diff).known().and_then(|path| run.look.written(path)),
        None => {
            let given = || run.given.as_deref().and_then(|path| run.look.written(path));
            run.input.map(str::to_owned).or_else(given)
        }
    };
    let Some(text) = text else { return };
    let told = strip.map(|strip| strip.known().and_then(|text| text.parse().ok()));
    let all: Vec<usize> = (0..=MAX_STRIPPED).collect();
    let strips = match told {
        None => usual,
        Some(Some(count)) => &[count],
        Some(None) => &all,
    };
    let removes = crate::patch::may_remove(&text);
    let mut seen = HashSet::new();
    let names = crate::patch::named_in_diff(&text);
    for name in &names {
        for path in strips.iter().filter_map(|count| crate::patch::stripped(name, *count)) {
            if !seen.insert(path) {
                continue;
            }
            let path = match within {
                Some(folder) => folder.value.with_text(format!("{}/{path}", folder.shape())),
                None => Value::Known(path.to_owned()),
            };
            let place = run.place(&path, run.span);
            run.add(EffectKind::Write, &place, Mark::possible());
            if removes {
                run.add(EffectKind::Delete, &place, Mark::possible());
            }
        }
    }
}

/// With how many folders left out names are tried where it is not known how many are.
const MAX_STRIPPED: usize = 8;

/// `apply_patch PATCH`, or the patch on standard input.
pub(super) fn apply_patch(run: &mut Run<'_>, operands: &[Arg]) {
    let text = match operands.first() {
        Some(operand) => operand.known().map(|text| (text.to_owned(), operand.span)),
        None => run.input.map(|text| (text.to_owned(), run.span)),
    };
    let known = text.map(|(text, span)| {
        let (changes, wrong) = crate::patch::changes(&text);
        let changes: Vec<_> = changes.into_iter().map(|change| (change.kind, change.path.to_owned(), span)).collect();
        (changes, wrong.is_none())
    });
    let (changes, whole) = known.unwrap_or_default();
    if !whole {
        // It may be any file.
        let place = run.place(&Value::hole(Why::Argument), run.span);
        run.add(EffectKind::Write, &place, Mark::possible());
    }
    for (kind, path, span) in changes {
        let place = run.place(&Value::Known(path), span);
        let mark = Mark::possible();
        run.add(kind, &place, if kind == EffectKind::Move { mark.copied() } else { mark });
    }
}

/// `script FILE`: a record of what a shell prints.
pub(super) fn typescript(run: &mut Run<'_>, operands: &[Arg]) {
    match operands.first() {
        Some(file) => {
            let place = run.word(file);
            match run.args.has("a") {
                true => run.add(EffectKind::Append, &place, Mark::possible()),
                false => run.writes(&place, false),
            }
        }
        None if run.args.has_any("O I B") => {}
        None => run.implied(EffectKind::Write, "typescript"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_every_sed_takes() {
        let cases = [
            ("s/a/b/", true),
            ("s/a/b/g;s|c|d|", true),
            ("/x/d", true),
            ("$d", true),
            ("1,5d", true),
            ("3p", true),
            ("s/a/b/w out", true),
            ("w out", true),
            ("/a/w out\n/b/W more", true),
            ("r in", true),
            ("$r in\ns/w/r/", true),
            ("s/a/b w c/", true),
            ("a text w x", false),
            ("i\\\ntext w x\nw y", false),
            ("/a/{w x\n}", true),
            ("s/\\(/b/", false),
            ("s/a/b", false),
            ("s/a/b/ w x", false),
            ("k", false),
            ("", true),
            ("\u{e9}", false),
            ("s\u{e9}a\u{e9}b\u{e9}", true),
            ("/a/,/b/s/c/d/", true),
            ("1!d", true),
            ("}", false),
        ];
        for (script, plain) in cases {
            assert_eq!(Sed::read(script).plain, plain, "{script}");
        }
    }
}
