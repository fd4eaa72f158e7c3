//! Programs that talk to other machines, and what they leave behind here.

use super::options::Arg;
use super::{EffectKind, Mark, ResolvedPath, Run, escaped, unescaped};
use crate::facts::Presence;
use crate::host;
use toolgate_shell_syntax::decode;
use toolgate_shell_syntax::word::{Value, Why};

/// `host:path`, `rsync://host/path`.
pub(super) fn is_remote(arg: &Arg) -> bool {
    let text = arg.shape();
    text.find(':').is_some_and(|colon| colon > 0 && !text[..colon].contains('/'))
}

/// The last name of an address: what a program calls the file that it fetches.
fn remote_name(arg: &Arg) -> Option<Value> {
    let text = match &arg.value {
        // A `?` makes it a glob, and no file is called so.
        Value::Pattern(pattern) => unescaped(pattern),
        value => value.text().to_owned(),
    };
    let text = text.as_str();
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = text.split(['?', '#']).next().unwrap_or(text);
    let (_, name) = text.rsplit_once('/')?;
    (!name.is_empty()).then(|| match arg.value.part(name.to_owned()) {
        // Its own way to name several: `{a,b}` and `[1-3]`.
        Value::Known(name) if name.contains(['{', '[']) => Value::hole(Why::Expansion),
        name => name,
    })
}

fn read(run: &mut Run<'_>, arg: &Arg) {
    let place = run.word(arg);
    run.reads(&place);
}

/// A value that names a file after `@`, or after `<`.
fn read_marked(run: &mut Run<'_>, arg: &Arg) {
    let text = arg.shape();
    let at = match text.strip_prefix('@') {
        Some(_) => Some(1),
        None => text.find("=@").or_else(|| text.find("=<")).map(|at| at + 2).or_else(|| {
            // `name@file` of --data-urlencode.
            text.find('@').map(|at| at + 1)
        }),
    };
    if let Some(at) = at
        && at < text.len()
    {
        let file = arg.rest(at);
        let end = file.shape().find(';').filter(|_| text.contains('='));
        let name = file.shape()[..end.unwrap_or(file.shape().len())].to_owned();
        let value = file.value.with_text(name);
        if !matches!(&value, Value::Known(name) if name == "-") {
            read(run, &Arg { value, ..file });
        }
    }
}

/// `name=@file,file;headers=@file`: a part of a form, with files in it.
fn parts(run: &mut Run<'_>, arg: &Arg) {
    let text = arg.shape();
    for mark in [";headers=@", ";headers=<"] {
        if let Some(at) = text.find(mark) {
            let from = at + mark.len();
            let end = text[from..].find(';').map_or(text.len(), |end| from + end);
            read(run, &Arg { value: arg.value.part(text[from..end].to_owned()), ..arg.clone() });
        }
    }
    let Some(from) = text.find("=@").map(|at| at + 2) else { return read_marked(run, arg) };
    let end = text[from..].find(';').map_or(text.len(), |end| from + end);
    for file in text[from..end].split(',').filter(|file| !file.is_empty() && *file != "-") {
        read(run, &Arg { value: arg.value.part(file.trim_matches('"').to_owned()), ..arg.clone() });
    }
}

/// `curl -K FILE`: options in a file or the input, one a line, `name = "value"`.
fn configured(run: &mut Run<'_>, file: &Arg) {
    let given = file.known().is_some_and(|file| file == "-" || toolgate_shell_syntax::path::is_stdin(file));
    let content = match given {
        true => run.input.map(str::to_owned),
        false => run.word(file).known().and_then(|path| run.look.written(path).or_else(|| run.look.held(path))),
    };
    let content = content.unwrap_or_default();
    for line in content.lines().map(|line| line.trim().trim_start_matches('-')).filter(|line| !line.starts_with('#')) {
        let end = line.find(|c: char| c.is_whitespace() || matches!(c, '=' | ':')).unwrap_or(line.len());
        let (name, value) = line.split_at(end);
        let value = value.trim_start().trim_start_matches(['=', ':']).trim().trim_matches('"');
        let arg = Arg { value: Value::Known(value.to_owned()), span: run.span, word: 0 };
        match name {
            _ if value.is_empty() || value == "-" => {}
            "url" => {
                run.send(&arg);
                local(run, &arg, false);
            }
            "output" | "o" | "dump-header" | "D" | "cookie-jar" | "c" | "trace" | "trace-ascii" | "stderr"
            | "libcurl" | "etag-save" | "hsts" | "alt-svc" => {
                let place = run.word(&arg);
                run.writes(&place, false);
            }
            "upload-file" | "T" | "config" | "K" | "netrc-file" | "cert" | "E" | "key" => read(run, &arg),
            "data" | "d" | "data-binary" | "data-urlencode" | "json" | "header" | "H" if value.contains('@') => {
                read_marked(run, &arg);
            }
            "form" | "F" => parts(run, &arg),
            _ => {}
        }
    }
}

/// `curl`
pub(super) fn curl(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    let urls: Vec<&Arg> = args
        .given
        .iter()
        .filter(|given| given.name == "url")
        .filter_map(|given| given.value.as_ref())
        .chain(operands)
        .collect();
    let folder = match args.value("output-dir") {
        Some(folder) => run.word(folder),
        None => run.here(),
    };
    for given in &args.given {
        let Some(value) = &given.value else { continue };
        match given.name {
            "o" if value.known() == Some("-") => {}
            "o" => {
                let text = value.shape();
                let numbered =
                    text.find('#').is_some_and(|at| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
                let value = match &value.value {
                    Value::Known(text) if numbered => Value::Pattern(numbered_names(text)),
                    value => value.clone(),
                };
                let place = if shape_is_absolute(&value) || args.value("output-dir").is_none() {
                    run.place(&value, given.value.as_ref().map_or(run.span, |arg| arg.span))
                } else {
                    run.under(&folder, &value)
                };
                run.writes(&place, false);
            }
            "T" if value.known() != Some("-") && value.known() != Some(".") => {
                let (names, _) = alternatives(value.shape());
                for name in names {
                    let name = if matches!(value.value, Value::Pattern(_)) { unescaped(&name) } else { name };
                    let named = match &value.value {
                        Value::Pattern(_) => Value::Known(name),
                        other => other.with_text(name),
                    };
                    read(run, &Arg { value: named, ..value.clone() });
                }
            }
            "F" | "expand-form" => parts(run, value),
            "d" | "data-binary" | "data-urlencode" | "url-query" | "json" | "H" | "w" | "proxy-header" | "variable"
            | "expand-data" | "expand-header" => read_marked(run, value),
            // `{{NAME}}` is put in.
            "expand-output" => {
                let text = value.shape();
                let filled = text.find("{{").zip(text.rfind("}}")).map(|(from, to)| (&text[..from], &text[to + 2..]));
                let path = match filled {
                    Some((before, after)) => {
                        Value::Unknown { why: Why::Expansion, shape: format!("{before}{}{after}", Value::HOLE) }
                    }
                    None => value.value.clone(),
                };
                let place = run.place(&path, value.span);
                run.writes(&place, false);
            }
            "K" => configured(run, value),
            "b" if !value.shape().contains('=') => read(run, value),
            "z" => run.mention(value),
            _ => {}
        }
    }
    let uploads = args.has("T");
    for url in &urls {
        run.send(url);
        local(run, url, uploads);
        if args.has_any("O remote-name-all") && !args.has("J") {
            let place = remote_name(url).map(|name| ResolvedPath { span: url.span, ..run.under(&folder, &name) });
            place.into_iter().for_each(|place| run.writes(&place, false));
        }
    }
    if args.has("J") {
        let any = run.under(&folder, &Value::Pattern("*".into()));
        run.add(EffectKind::Create, &any, Mark::possible());
    }
}

/// Most addresses that one stands for; of more, all that begins alike counts.
const MAX_ADDRESSES: usize = 64;

/// Longest address, in bytes, whose globs are followed.
const MAX_ADDRESS: usize = 8 * 1024;

/// `file:///path`: no place in the network at all. It is written if curl uploads to it.
fn local(run: &mut Run<'_>, url: &Arg, uploads: bool) {
    let bare = run.args.value("proto-default").is_some_and(|scheme| scheme.shape().eq_ignore_ascii_case("file"));
    let text = url.shape();
    // Most are of the network, and name one thing.
    let globs = !run.args.has("g") && text.contains(['{', '[']);
    if !globs && !bare && !text.contains(':') {
        return;
    }
    let (texts, open) = if globs { alternatives(text) } else { (vec![text.to_owned()], false) };
    for text in texts {
        let text = text.trim_start();
        let Some(rest) = path_of(text, bare) else {
            // What comes after the last glob is the path, if the address is one of a file.
            let rest = url.shape().rsplit(['}', ']']).next().unwrap_or_default();
            if open && "file://".starts_with(&text.to_ascii_lowercase()) && rest.contains('/') {
                let path = decode::percent(&format!(
                    "/{}",
                    rest[rest.find('/').unwrap_or_default()..].trim_start_matches('/')
                ));
                let place = run.word(&Arg { value: url.value.with_text(path), ..url.clone() });
                run.reads(&place);
            }
            continue;
        };
        let path = decode::percent(rest.split(['?', '#']).next().unwrap_or(rest));
        let value = match (open, &url.value) {
            (true, _) => Value::Pattern(format!("{}**", escaped(&path))),
            (false, Value::Pattern(_)) => Value::Known(unescaped(&path)),
            (false, value) => value.with_text(path),
        };
        let place = run.word(&Arg { value, ..url.clone() });
        if uploads {
            run.writes(&place, false);
        } else {
            run.reads(&place);
        }
    }
}

/// The path in `file:///path`, `file://localhost/path` and `file:/path`; where that is the default, in `path` too.
fn path_of(text: &str, bare: bool) -> Option<&str> {
    const SCHEME: &str = "file:";
    if text.get(..SCHEME.len()).is_some_and(|start| start.eq_ignore_ascii_case(SCHEME)) {
        let text = &text[SCHEME.len()..];
        return Some(text.strip_prefix("//").map_or(text, |text| text.find('/').map_or("", |at| &text[at..])));
    }
    (bare && !text.contains("://")).then_some(text)
}

/// What curl's own globs `{a,b}`, `[a-c]` and `[1-3:2]` make of an address, and whether each is only the beginning of
/// many more.
fn alternatives(text: &str) -> (Vec<String>, bool) {
    let mut all = vec![String::new()];
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[', '\\']) {
        let (before, glob) = rest.split_at(at);
        all.iter_mut().for_each(|one| one.push_str(before));
        if let Some(after) = glob.strip_prefix('\\') {
            let end = after.chars().next().map_or(0, char::len_utf8);
            all.iter_mut().for_each(|one| one.push_str(&after[..end]));
            rest = &after[end..];
            continue;
        }
        let close = if glob.starts_with('{') { '}' } else { ']' };
        let Some(end) = glob.find(close) else { return (all, true) };
        let inside = &glob[1..end];
        let plain = |choice: &str| choice.replace('\\', "");
        let choices = if close == '}' { Some(inside.split(',').map(plain).collect()) } else { range(inside) };
        let fits = |choices: &Vec<String>| choices.len() * all.len() <= MAX_ADDRESSES;
        let Some(choices) = choices.filter(fits).filter(|_| all[0].len() <= MAX_ADDRESS && rest.len() <= MAX_ADDRESS)
        else {
            return (all, true);
        };
        all = all.iter().flat_map(|one| choices.iter().map(move |choice| format!("{one}{choice}"))).collect();
        rest = &glob[end + 1..];
    }
    all.iter_mut().for_each(|one| one.push_str(rest));
    (all, false)
}

/// The letters of `a-c` or `a-c:2`; none for numbers, which are written in too many ways.
fn range(text: &str) -> Option<Vec<String>> {
    let text = text.split(':').next().unwrap_or_default();
    let mut chars = text.chars();
    match (chars.next()?, chars.next()?, chars.next()?, chars.next()) {
        (first, '-', last, None) if first.is_ascii_alphabetic() && last.is_ascii_alphabetic() && first <= last => {
            Some((first..=last).map(String::from).collect())
        }
        _ => None,
    }
}

fn shape_is_absolute(value: &Value) -> bool {
    value.text().starts_with(['/', Value::HOLE])
}

/// `#1` in the name of an output stands for a part of the address.
fn numbered_names(text: &str) -> String {
    let mut glob = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '#' && chars.next_if(char::is_ascii_digit).is_some() {
            glob.push('*');
        } else {
            glob.push_str(&escaped(&c.to_string()));
        }
    }
    glob
}

/// `wget -e NAME=VALUE`, of those that name a file.
fn wget_setting(run: &mut Run<'_>, setting: &Arg) {
    let text = setting.shape();
    let Some(at) = text.find('=') else { return };
    let name: String = text[..at].chars().filter(char::is_ascii_alphanumeric).collect();
    let value = setting.rest(at + 1 + text[at + 1..].len() - text[at + 1..].trim_start().len());
    let place = run.word(&value);
    match name.to_ascii_lowercase().as_str() {
        "outputdocument" | "logfile" | "savecookies" => run.writes(&place, false),
        "input" | "postfile" | "bodyfile" | "loadcookies" => run.reads(&place),
        "dirprefix" => run.below(EffectKind::Write, &place),
        "useaskpass" => run.add(EffectKind::Execute, &place, Mark::possible()),
        _ => {}
    }
}

/// `wget`
pub(super) fn wget(run: &mut Run<'_>, operands: &[Arg]) {
    let args = run.args;
    for setting in args.given.iter().filter(|given| given.name == "e").filter_map(|given| given.value.as_ref()) {
        wget_setting(run, setting);
    }
    for operand in operands {
        run.send(operand);
    }
    if args.has_any("O spider") {
        return;
    }
    let folder = args.value("P").map_or_else(|| run.here(), |folder| run.word(folder));
    if args.has_any("r m p x i") {
        run.below(EffectKind::Write, &folder);
        return;
    }
    for operand in operands {
        let name = remote_name(operand).unwrap_or_else(|| match operand.value {
            Value::Known(_) => Value::Known("index.html".into()),
            _ => Value::hole(Why::Argument),
        });
        let place = ResolvedPath { span: operand.span, ..run.under(&folder, &name) };
        run.writes(&place, false);
        if args.has("content-disposition") {
            let any = run.under(&folder, &Value::Pattern("*".into()));
            run.add(EffectKind::Create, &any, Mark::possible());
        } else if run.at(&place) != Presence::Absent && !args.has_any("N c nc") {
            // It does not overwrite: the new one gets a number.
            if let Value::Known(name) = &name {
                let numbered = run.under(&folder, &Value::Pattern(format!("{}.*", escaped(name))));
                run.add(EffectKind::Create, &numbered, Mark::possible());
            }
        }
    }
}

/// `aria2c`, `axel`
pub(super) fn aria(run: &mut Run<'_>, operands: &[Arg]) {
    let folder = run.args.value("d").map_or_else(|| run.here(), |folder| run.word(folder));
    for operand in operands {
        run.send(operand);
        if let Some(name) = remote_name(operand).filter(|_| !run.args.has("o")) {
            let place = ResolvedPath { span: operand.span, ..run.under(&folder, &name) };
            run.writes(&place, false);
        }
    }
    if let Some(out) = run.args.value("o") {
        let place = ResolvedPath { span: out.span, ..run.under(&folder, &out.value) };
        run.writes(&place, false);
    }
}

/// An operand of `scp` or `rsync` without the name of the machine, if that is this one: `localhost:.bashrc` is in the
/// home folder.
pub(super) fn without_own_host(arg: &Arg) -> Arg {
    let text = arg.shape();
    let user = text.split(':').next().unwrap_or_default().rfind('@').map_or(0, |at| at + 1);
    let bracket = if text[user..].starts_with('[') { text.find("]:").map(|at| at + 1) } else { None };
    let Some(colon) = bracket.or_else(|| text.find(':')).filter(|_| is_remote(arg)) else {
        return arg.clone();
    };
    // `host::module/path` is a server's own name for a folder.
    if text[colon..].starts_with("::") {
        return arg.clone();
    }
    let host = arg.value.part(text[user..colon].trim_matches(['[', ']']).to_owned());
    if !host::names_own(&host) {
        return arg.clone();
    }
    let rest = arg.rest(colon + 1);
    let path = rest.shape();
    if path.starts_with('/') {
        return rest;
    }
    let path = path.strip_prefix("~/").unwrap_or(path);
    let value = Value::Unknown { why: Why::Home(String::new()), shape: format!("{}/{path}", Value::HOLE) };
    Arg { value, ..rest }
}

/// `scp`
pub(super) fn scp(run: &mut Run<'_>, operands: &[Arg]) {
    let deep = run.args.has("r");
    // What listens at another port is most often another machine.
    let far = run.args.has("P")
        || run.args.value("o").is_some_and(|set| set.shape().to_ascii_lowercase().starts_with("port"));
    let own = |operand: &Arg| if far { operand.clone() } else { without_own_host(operand) };
    let operands: Vec<Arg> = operands.iter().map(own).collect();
    let Some((dest, sources)) = operands.split_last() else { return };
    let place = run.word(dest);
    let several = sources.len() > 1 || place.slash || run.is_folder(&place);
    for source in sources {
        if is_remote(source) {
            run.send(source);
        } else {
            let from = run.word(source);
            let recursive = deep && run.at(&from) != Presence::File;
            run.add(EffectKind::Read, &from, Mark::possible().recursive(recursive).copied());
        }
        if !is_remote(dest) {
            let name = remote_part(source);
            let to = if several { run.inside_of(&place, &name) } else { place.clone() };
            let kind = if run.at(&to) == Presence::Absent { EffectKind::Create } else { EffectKind::Write };
            run.add(kind, &to, Mark::possible().recursive(deep));
        }
    }
    if is_remote(dest) {
        run.send(dest);
    }
}

/// The path of `host:path`.
pub(super) fn remote_part(arg: &Arg) -> Arg {
    match arg.shape().find(':') {
        Some(colon) if is_remote(arg) => arg.rest(colon + 1),
        _ => arg.clone(),
    }
}

/// `ssh-keygen`: with `-l`, `-y` and `-B` it shows the public half of a key, and else it makes or changes one.
pub(super) fn keygen(run: &mut Run<'_>, _: &[Arg]) {
    for file in run.args.given.iter().filter(|given| given.name == "f").filter_map(|given| given.value.as_ref()) {
        let place = run.word(file);
        if run.args.has_any("l y B") {
            run.uses(&place);
        } else {
            run.writes(&place, false);
        }
    }
}

/// `sftp HOST[:FILE [TARGET]]`, and the commands in its input.
pub(super) fn sftp(run: &mut Run<'_>, operands: &[Arg]) {
    let Some((host, targets)) = operands.split_first() else { return };
    run.send(host);
    if let Some(target) = targets.first() {
        fetched(run, &remote_part(host), target);
    }
    for line in run.input.unwrap_or_default().lines() {
        let mut words = line.trim().trim_start_matches(['-', '@']).split_whitespace();
        let name = words.next().unwrap_or_default();
        let paths: Vec<Arg> = words
            .filter(|word| !word.starts_with('-'))
            .map(|word| Arg { value: Value::Known(word.to_owned()), span: run.span, word: 0 })
            .collect();
        match (name, paths.as_slice()) {
            ("put" | "reput" | "mput", [from, ..]) => read(run, from),
            ("get" | "reget" | "mget", [from, to, ..]) => fetched(run, from, to),
            ("get" | "reget" | "mget", [from]) => {
                let here = run.here();
                let place = run.inside_of(&here, from);
                run.writes(&place, false);
            }
            _ => {}
        }
    }
}

/// What is fetched comes to lie here, or in this folder under its own name.
fn fetched(run: &mut Run<'_>, from: &Arg, to: &Arg) {
    let place = run.word(to);
    let place = if place.slash || run.is_folder(&place) { run.inside_of(&place, from) } else { place };
    run.writes(&place, false);
}

/// `socat ADDRESS ADDRESS`, some of which are files.
pub(super) fn socat(run: &mut Run<'_>, operands: &[Arg]) {
    const FILES: &[&str] = &["open", "file", "gopen", "creat", "create"];
    for (index, operand) in operands.iter().enumerate() {
        let text = operand.shape();
        let end = text.find(',').unwrap_or(text.len());
        let name = text[..end].split(':').next().unwrap_or_default();
        let is_named = FILES.contains(&name.to_ascii_lowercase().as_str()) && name.len() < end;
        let from = if is_named { name.len() + 1 } else { 0 };
        if !is_named && (text[..end].contains(':') || !text[..end].contains(['/', '.'])) {
            if text.contains(':') {
                run.send(operand);
            }
            continue;
        }
        // A serial line, a terminal or a socket is no file.
        let quiet = ["/dev/tty", "/dev/pts/", "/dev/null", "/dev/std", "/dev/serial/"];
        if quiet.iter().any(|start| text[from..end].starts_with(start)) || text[from..end].ends_with(".sock") {
            continue;
        }
        let place = run.word(&Arg { value: operand.value.part(text[from..end].to_owned()), ..operand.clone() });
        // With `-u` the first is only read and the second only written.
        let one_way = run.args.has_any("u U");
        let source = (index == 0) == run.args.has("u");
        if !one_way || source {
            run.reads(&place);
        }
        if !one_way || !source {
            run.writes(&place, false);
        }
    }
}

/// `http [METHOD] URL ITEM ..`, of which some name a file after an `@`.
pub(super) fn http(run: &mut Run<'_>, operands: &[Arg]) {
    let is_method = |arg: &Arg| arg.shape().chars().all(|c| c.is_ascii_uppercase());
    let mut operands = operands.iter().peekable();
    operands.next_if(|first| is_method(first));
    if let Some(url) = operands.next() {
        run.send(url);
    }
    for item in operands {
        let text = item.shape();
        let bare = text.find('@').filter(|at| !text[..*at].contains(['=', ':']));
        let at = ["=@", ":@"].iter().find_map(|mark| text.find(mark).map(|at| at + 1)).or(bare);
        if let Some(at) = at {
            let file = item.rest(at + 1);
            let end = file.shape().find(';').unwrap_or(file.shape().len());
            read(run, &Arg { value: file.value.part(file.shape()[..end].to_owned()), ..file.clone() });
        }
    }
}

/// `gh api -F name=@FILE`, `gh pr create -F FILE`
pub(super) fn forge(run: &mut Run<'_>, operands: &[Arg]) {
    for value in run.args.given.iter().filter(|given| given.name == "F").filter_map(|given| given.value.as_ref()) {
        match value.shape().find("=@") {
            Some(at) => read(run, &value.rest(at + 2)),
            None if value.shape().contains('=') || value.known() == Some("-") => {}
            None => read(run, value),
        }
    }
    for operand in operands {
        run.mention(operand);
        run.inside(operand);
    }
}

/// `lftp -c 'get FILE -o FILE; put FILE'`
pub(super) fn lftp(run: &mut Run<'_>, operands: &[Arg]) {
    talk(run, operands);
    let scripts = run.args.given.iter().filter(|given| matches!(given.name, "e" | "c"));
    for script in scripts.filter_map(|given| given.value.as_ref()) {
        for command in script.shape().split([';', '\n']) {
            let mut words = command.split_whitespace();
            let name = words.next().unwrap_or_default();
            let mut output = false;
            for word in words {
                let place = run.place(&script.value.part(word.to_owned()), script.span);
                match name {
                    "get" | "pget" | "mget" if output => run.writes(&place, false),
                    "put" | "mput" if !output && !word.starts_with('-') => run.reads(&place),
                    _ => {}
                }
                output = word == "-o";
            }
        }
    }
}

/// `aws s3 cp|mv|sync FROM TO` and its kin: copies between this machine and a bucket.
pub(super) fn bucket(run: &mut Run<'_>, operands: &[Arg]) {
    const SCHEMES: &[&str] = &["s3://", "gs://"];
    let is_far = |arg: &Arg| SCHEMES.iter().any(|scheme| arg.shape().starts_with(scheme));
    let at =
        operands.iter().position(|one| matches!(one.known(), Some("cp" | "mv" | "sync" | "rsync" | "get" | "put")));
    let name = at.and_then(|at| operands[at].known()).unwrap_or_default();
    let paths = at.and_then(|at| operands.get(at + 1..)).unwrap_or_default();
    let Some(far) = paths.iter().position(is_far) else {
        return operands.iter().for_each(|operand| run.mention(operand));
    };
    run.send(&paths[far]);
    let deep = run.args.has("r") || matches!(name, "sync" | "rsync");
    // What stands before is copied there; without that, what stands behind is where it is copied to. Values of options
    // that are not known stand among them.
    let is_near = |arg: &&Arg| !is_far(arg) && arg.known() != Some("-");
    let (before, behind) = paths.split_at(far);
    for source in before.iter().filter(is_near) {
        let place = run.word(source);
        let kind = if name == "mv" { EffectKind::Move } else { EffectKind::Read };
        let deep = deep && run.at(&place) != Presence::File;
        run.add(kind, &place, Mark::possible().recursive(deep).copied());
    }
    let to_far = behind.iter().skip(1).any(is_far) || !before.is_empty();
    for target in behind.iter().skip(1).filter(is_near) {
        if to_far {
            run.mention(target);
        } else if deep {
            let place = run.word(target);
            run.below(EffectKind::Write, &place);
            if run.args.has_any("d delete-removed") {
                run.below(EffectKind::Delete, &place);
            }
        } else {
            fetched(run, &paths[far], target);
        }
    }
}

/// Programs that talk to the place that the first operand names.
pub(super) fn talk(run: &mut Run<'_>, operands: &[Arg]) {
    for operand in operands.iter().filter(|operand| operand.known() != Some("-")).take(1) {
        run.send(operand);
    }
}
