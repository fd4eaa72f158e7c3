//! What code in another language takes from the environment: all of it, or variables that are called as secrets are.

use toolgate_names::secrets::is_secret_variable;

use super::secret_output::secrets_in;

/// What stands before the name of a variable.
const NAMED: &[&str] = &[
    "environ[",
    "environb[",
    "environ.get(",
    "environ.pop(",
    "getenv(",
    "process.env.",
    "process.env[",
    "process.env?.",
    "process?.env.",
    "process?.env?.",
    "Bun.env.",
    "Deno.env.get(",
    "env.fetch(",
    "ENV[",
    "ENV.fetch(",
    "$ENV{",
    "ENVIRON[",
    "$ENV.",
    "env::var(",
];

/// What has the environment, and what behind it takes one variable of it, or its names.
const WHOLE: &[(&str, &[&str])] = &[
    ("environ", &["[", ".get(", ".pop(", ".setdefault(", ".update(", ".keys(", "b"]),
    ("process.env", &[".", "[", "?.", ")) ??"]),
    ("process?.env", &[".", "[", "?."]),
    ("Bun.env", &[".", "["]),
    ("Deno.env.toObject", &[]),
    ("$_ENV", &["["]),
    ("getenv()", &[]),
];

/// What stands before the environment where it is only passed on to a program, or asked for a name.
const PASSED_ON: &[&str] =
    &["env=", "env =", "env:", "**", "import", "keys(", " not in", " in", "=== undefined", "from"];

/// Calls that print, in the languages that are common.
const PRINTS: &[&str] = &[
    "print",
    "console.",
    "stdout.write",
    "puts",
    "echo ",
    "p ENV",
    "pp ENV",
    "var_dump",
    "dump(",
    "say ",
    "die $ENV",
    "die($ENV",
    "die \"$ENV",
    "warn $ENV",
    "warn \"$ENV",
    "sys.exit(os.environ",
    "exit(os.environ",
];

/// Accesses of code to the environment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct EnvAccess<'t> {
    /// All of it.
    pub(super) all: bool,
    /// The names of variables that are called as secrets are.
    pub(super) names: Vec<&'t str>,
}

impl<'t> EnvAccess<'t> {
    /// What a program in this language takes.
    pub(super) fn by(program: &str, code: &'t str) -> Self {
        let mut names = named(code);
        if reads_by_variable(code) {
            names.extend(quoted(code).filter(|name| is_called_secret(name)));
        }
        // It puts the values of variables into a text.
        if code.contains("expandvars(") || program.starts_with("perl") && imports_variables(code) {
            names.extend(secrets_in(code));
        }
        let parts: Vec<Option<&str>> = unpacked(code).collect();
        let nested = parts.contains(&None);
        names.extend(parts.into_iter().flatten());
        let all = match program {
            "jq" | "gojq" | "jaq" => {
                names.extend(of_jq(code));
                has_word(code, "$ENV") || has_word(code, "env")
            }
            _ if program.starts_with("perl") => takes_hash(code),
            _ if program.starts_with("ruby") => takes_ruby(code),
            _ if program.ends_with("awk") => code.contains("in ENVIRON"),
            "node" | "nodejs" | "bun" | "tsx" => names_process(code),
            _ => false,
        };
        EnvAccess { all: all || nested || takes_whole(code) || takes_by_other_name(code), names }
    }

    pub(super) fn is_nothing(&self) -> bool {
        !self.all && self.names.is_empty()
    }

    /// Which secrets that are. All of them have no name.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &'t str> {
        self.all.then_some("").into_iter().chain(self.names.iter().copied())
    }
}

/// Whether a line of the code that prints has what it takes from the environment in it, or a variable that the code put it into.
pub(super) fn prints(program: &str, code: &str) -> bool {
    /// Most variables that are told apart. If there are more, every line has one.
    const HOLDERS: usize = 64;
    let mut holders: Vec<&str> = Vec::new();
    for line in code.split(['\n', ';']) {
        let mentions = |name: &&str| has_word(line, name);
        let taken =
            holders.len() >= HOLDERS || !EnvAccess::by(program, line).is_nothing() || holders.iter().any(mentions);
        let shows = PRINTS.iter().any(|call| line.contains(call)) && !tells_little(line);
        if taken && shows {
            return true;
        }
        if let Some((name, _)) = line.split_once('=').filter(|_| taken && !tells_little(line)) {
            let name = name.trim().rsplit(' ').next().unwrap_or_default();
            if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && !name.is_empty()
                && holders.len() < HOLDERS
                && !holders.contains(&name)
            {
                holders.push(name);
            }
        }
    }
    false
}

/// Whether a line tells only that a variable is set, or how long it is.
fn tells_little(line: &str) -> bool {
    const ASKS: &[&str] = &[
        "bool(",
        "len(",
        ".length",
        "!!",
        " if ",
        " ? ",
        "is not None",
        "is None",
        "defined(",
        "sha256",
        "startswith",
        "in os.environ else",
    ];
    ASKS.iter().any(|asks| line.contains(asks))
}

/// Whether code says that what it sends is a credential for who gets it.
pub(super) fn is_credential(code: &str) -> bool {
    const SAYS: &[&str] = &[
        "authorization",
        "auth=",
        "auth:",
        "api-key",
        "api_key=",
        "apikey",
        "-token\"",
        "-token'",
        "bearer",
        "client_secret",
    ];
    let code = code.to_ascii_lowercase();
    SAYS.iter().any(|says| code.contains(says))
}

/// The secrets that code takes by their names.
fn named(code: &str) -> Vec<&str> {
    let after = |marker: &'static str| code.match_indices(marker).map(move |(at, _)| at + marker.len());
    let name = |at: usize| {
        let rest = code[at..].trim_start_matches(['b', '"', '\'', '`', ' ', ':']);
        &rest[..rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())]
    };
    let mut names: Vec<&str> = NAMED.iter().flat_map(|marker| after(marker)).map(name).collect();
    names.retain(|name| is_secret_variable(name));
    names
}

/// The secrets that code takes out of all variables at once: `const { API_KEY } = process.env`. None for braces in braces.
fn unpacked(code: &str) -> impl Iterator<Item = Option<&str>> {
    let before = code.match_indices("= process.env").filter_map(|(at, _)| code[..at].trim_end().strip_suffix('}'));
    before.flat_map(|text| {
        let brace = text.rfind(['{', '}']);
        let names = brace.map_or("", |at| &text[at + 1..]);
        let nested = brace.is_some_and(|at| text[at..].starts_with('}')).then_some(None);
        let secrets = names.split([',', ':', ' ', '\n']).filter(|name| is_secret_variable(name));
        nested.into_iter().chain(secrets.map(Some))
    })
}

/// The secrets that a filter of jq takes by their names: `env.API_KEY`, `env["API_KEY"]`.
fn of_jq(code: &str) -> impl Iterator<Item = &str> {
    let name = |at: usize| {
        let rest = code[at + "env".len()..].trim_start_matches(['.', '[', '"']);
        &rest[..rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())]
    };
    let own = |at: usize| !code[..at].ends_with(|c: char| c == '.' || c == '_' || c.is_ascii_alphanumeric());
    code.match_indices("env")
        .filter(move |(at, _)| own(*at))
        .map(move |(at, _)| name(at))
        .filter(|name| is_secret_variable(name))
}

/// Whether code gives the environment another name, or reaches it through what has it: what is taken by that name is not followed.
fn takes_by_other_name(code: &str) -> bool {
    const WAYS: &[&str] = &[
        "environ as ",
        "process[\"env\"]",
        "process['env']",
        "process\").env",
        "process').env",
        "(process, \"env\"",
        "(process, 'env'",
    ];
    let unpacks = |(at, _): (usize, &str)| {
        let before = code[..at].trim_end().strip_suffix('}').map(last_names);
        before.is_some_and(|names| names.split([',', ':', ' ', '{']).any(|name| name == "env"))
    };
    WAYS.iter().any(|way| code.contains(way))
        || code.match_indices("= process").any(unpacks)
        || code.match_indices("from \"node:process\"").chain(code.match_indices("from 'node:process'")).any(unpacks)
}

/// What stands in braces, some of them in others, up to the end of a text that the last brace is cut off from.
fn last_names(text: &str) -> &str {
    /// Most letters of them.
    const NAMES: usize = 512;
    let (mut open, mut begin) = (1, text.len());
    for (at, c) in text.char_indices().rev().take(NAMES) {
        match c {
            '}' => open += 1,
            '{' => open -= 1,
            _ => {}
        }
        if open == 0 {
            break;
        }
        begin = at;
    }
    &text[begin..]
}

/// Whether a variable of JavaScript is what has the environment: `const p = process`.
fn names_process(code: &str) -> bool {
    /// Most names that are looked for.
    const NAMES: usize = 16;
    let named = code.match_indices("= process").filter_map(|(at, found)| {
        let after = &code[at + found.len()..];
        let name = code[..at].trim_end().rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next()?;
        let whole = after.is_empty() || after.starts_with([';', ',', '\n', ' ']);
        (whole && !name.is_empty()).then_some(name)
    });
    named.take(NAMES).any(|name| name != "process" && code.contains(&format!("{name}.env")))
}

/// Whether code takes variables by names that are not written where it does, or hands on the function that takes them:
/// `os.getenv(name)`, `map(os.getenv, names)`.
fn reads_by_variable(code: &str) -> bool {
    const BY_NAME: &[&str] =
        &["environ[", "environ.get(", "getenv(", "process.env[", "Deno.env.get(", "ENV[", "ENV.fetch(", "$ENV{$"];
    const HANDED_ON: &[&str] = &["getenv,", "environ.get,"];
    let by_name = |marker: &&str| {
        let mut after = code.match_indices(*marker).map(|(at, _)| &code[at + marker.len()..]);
        after.any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '_') && !is_prefixed_literal(rest))
    };
    BY_NAME.iter().any(by_name) || HANDED_ON.iter().any(|marker| code.contains(marker))
}

/// Whether a text begins with a string that has a letter before it, as `b"X"` has.
fn is_prefixed_literal(text: &str) -> bool {
    text.get(1..).is_some_and(|rest| rest.starts_with(['"', '\'']))
}

/// What stands between quotes, and between one string and the next.
fn quoted(code: &str) -> impl Iterator<Item = &str> {
    code.split('"').skip(1).chain(code.split('\'').skip(1))
}

/// Whether a text is the name of a secret, or the last part of one, and no other word in capitals: `PASS`.
fn is_called_secret(text: &str) -> bool {
    is_secret_variable(text) && (text.contains('_') || toolgate_names::secrets::is_secret(text))
}

/// Whether perl makes variables of its own of those of the environment: `-MEnv`, `use Env`.
fn imports_variables(code: &str) -> bool {
    has_word(code, "-MEnv") || code.contains("use Env")
}

/// Whether what is spread at the end of a text goes into the environment of a program, or into a variable, and not into a call.
fn is_spread_into_environment(before: &str) -> bool {
    /// Most bytes before it in which the bracket is looked for.
    const AROUND: usize = 512;
    let start = (before.len().saturating_sub(AROUND)..).find(|at| before.is_char_boundary(*at)).unwrap_or_default();
    let before = &before[start..];
    let Some(outer) = before.rfind(['{', '(']) else { return start == 0 };
    let holder = before[..outer].trim_end();
    match before.as_bytes()[outer] {
        b'(' => holder.ends_with("dict"),
        _ => holder.ends_with([':', '=']) || holder.ends_with("return") || holder.is_empty(),
    }
}

fn takes_whole(code: &str) -> bool {
    /// Most bytes of the names and dots before the environment.
    const OWNERS: usize = 64;
    let whole = |name: &'static str, others: &'static [&'static str]| {
        code.match_indices(name).any(move |(at, _)| {
            let after = &code[at + name.len()..];
            let owner = |byte: &u8| *byte == b'.' || byte.is_ascii_alphanumeric();
            let owners = code.as_bytes()[..at].iter().rev().take(OWNERS).take_while(|byte| owner(byte)).count();
            let before = code[..at - owners].trim_end();
            let is_part = code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                || after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let passed = owners < OWNERS && PASSED_ON.iter().any(|end| before.ends_with(end.trim_end()));
            let listed = after.starts_with(".items(") || after.starts_with(".values(");
            let spread = before.strip_suffix("**").or_else(|| code[..at].strip_suffix("..."));
            let spread = spread.map(is_spread_into_environment);
            let unpacked = before.ends_with("} =") || spread == Some(true);
            let passed = passed && spread != Some(false);
            !is_part && !unpacked && (listed || !passed && !others.iter().any(|other| after.starts_with(other)))
        })
    };
    WHOLE.iter().any(|(name, others)| whole(name, others))
}

/// Whether perl takes the values of all variables.
fn takes_hash(code: &str) -> bool {
    let by_name = code.contains("$ENV{$");
    if code.contains("@ENV{") {
        return true;
    }
    let mut found = code.match_indices("%ENV").map(|(at, _)| code[..at].trim_end_matches(['(', ' ']));
    found.any(|before| !before.ends_with("keys") && !before.ends_with("local") || by_name)
}

fn takes_ruby(code: &str) -> bool {
    const CALLS: &[&str] =
        &["to_h", "to_a", "each", "map", "inspect", "values", "sort", "select", "reject", "filter_map", "to_json"];
    let called = |after: &str| CALLS.iter().any(|call| after.starts_with(call));
    code.match_indices("ENV").any(|(at, _)| {
        let after = &code[at + 3..];
        after.strip_prefix('.').is_some_and(called) || after.starts_with(')') || after.trim_start().is_empty()
    })
}

/// Whether a text has a word by itself, of which nothing is taken.
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(|c: char| part(c) || c == '$' || c == '.')
            && !after.starts_with(|c: char| part(c) || c == '.' || c == '[')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_code_takes_from_the_environment() {
        let cases: &[(&str, &str, bool, &[&str])] = &[
            ("python3", "print(os.environ['API_TOKEN'])", false, &["API_TOKEN"]),
            ("python3", "x = os.environ.get(\"HOME\")", false, &[]),
            ("python3", "repr(dict(os.environ))", true, &[]),
            ("python3", "''.join(os.environ.values())", true, &[]),
            ("python3", "for k, v in os.environ.items(): pass", true, &[]),
            ("python3", "subprocess.run(['ls'], env=os.environ)", false, &[]),
            ("python3", "env = {**os.environ, 'A': '1'}", false, &[]),
            ("python3", "if 'X' in os.environ: pass", false, &[]),
            ("python3", "from os import environ", false, &[]),
            ("node", "const { DEPLOY_TOKEN, PORT } = process.env;", false, &["DEPLOY_TOKEN"]),
            ("node", "JSON.stringify(process.env)", true, &[]),
            ("node", "spawn('x', { env: process.env })", false, &[]),
            ("node", "spawn('x', { env: { ...process.env, A: 1 } })", false, &[]),
            ("node", "Object.keys(process.env)", false, &[]),
            ("node", "process.env.API_KEY", false, &["API_KEY"]),
            ("perl", "join ',', %ENV", true, &[]),
            ("perl", "print keys %ENV", false, &[]),
            ("perl", "print $ENV{DB_PASSWORD}", false, &["DB_PASSWORD"]),
            ("ruby", "puts ENV.to_h", true, &[]),
            ("ruby", "puts ENV['PORT']", false, &[]),
            ("jq", "env", true, &[]),
            ("jq", "$ENV.PAGER", false, &[]),
            ("jq", ".env", false, &[]),
            ("jq", "env.DEPLOY_TOKEN", false, &["DEPLOY_TOKEN"]),
            ("jq", "env[\"DEPLOY_TOKEN\"]", false, &["DEPLOY_TOKEN"]),
            ("jq", ".env.API_KEY", false, &[]),
            ("node", "console.log({...process.env})", true, &[]),
            ("node", "JSON.stringify({ a: 1, ...process.env })", true, &[]),
            ("node", "const env = { ...process.env, A: 1 }", false, &[]),
            ("node", "const { env } = process; x(env.API)", true, &[]),
            ("node", "const { argv } = process", false, &[]),
            ("node", "process['env'].A", true, &[]),
            ("node", "const { env: { A: t } } = process", true, &[]),
            ("node", "const { argv: { env } } = x; const { argv } = process", false, &[]),
            ("node", "process?.env?.API_KEY", false, &["API_KEY"]),
            ("node", "const p = process; p.env.A", true, &[]),
            ("node", "const p = process.argv; p.env", false, &[]),
            ("node", "const { argv } = process; x(process.env.PORT)", false, &[]),
            ("node", "if (a === process) x.env()", false, &[]),
            ("node", "Reflect.get(process, 'env').A", true, &[]),
            ("node", "const k = ['API', 'TOKEN'].join('_'); x(process.env[k])", false, &["TOKEN"]),
            ("node", "const at = (k) => process.env[k]; at('PORT'); x('PASS')", false, &[]),
            ("python3", "''.join(map(os.getenv, ['API_TOKEN']))", false, &["API_TOKEN"]),
            ("python3", "os.path.expandvars('$API_TOKEN/x')", false, &["API_TOKEN"]),
            ("python3", "os.path.expandvars(path)", false, &[]),
            ("perl", "-MEnv\nprint $API_TOKEN", false, &["API_TOKEN"]),
            ("python3", "print({**os.environ})", true, &[]),
            ("python3", "'{A}'.format(**os.environ)", true, &[]),
            ("python3", "run(x, env=dict(**os.environ, A='1'))", false, &[]),
            ("python3", "run(x, env={**os.environ})", false, &[]),
            ("python3", "from os import environ as e", true, &[]),
            ("perl", "print @ENV{qw(A B)}", true, &[]),
            ("awk", "BEGIN { for (k in ENVIRON) print ENVIRON[k] }", true, &[]),
        ];
        for (program, code, all, names) in cases {
            let expected = EnvAccess { all: *all, names: names.to_vec() };
            assert_eq!(EnvAccess::by(program, code), expected, "{code}");
        }
    }

    #[test]
    fn long_code_takes_secrets_beyond_what_is_told_apart() {
        let holders =
            |count: usize| (0..count).map(|n| format!("a{n} = os.environ['API_TOKEN']\n")).collect::<String>();
        let cases = [
            ("node", format!("{{{}", ",API_KEY,}= process.env".repeat(5_000)), true),
            ("node", "const { PORT, a: { b } } = process.env".to_owned(), true),
            ("node", "if (a) { b } const { PORT } = process.env".to_owned(), false),
            ("node", format!("x({{ env: {}process.env }})", "a.".repeat(40)), true),
            ("node", format!("x({{ env: {}process.env }})", "a.".repeat(10)), false),
        ];
        for (program, code, all) in &cases {
            assert_eq!(EnvAccess::by(program, code).all, *all, "{}", &code[..30]);
        }
        assert!(prints("python3", &(holders(64) + "print(1)")));
        assert!(!prints("python3", &(holders(63) + "print(1)")));
    }

    #[test]
    fn a_value_is_printed_or_only_asked_for() {
        let cases = [
            ("print(os.environ['API_TOKEN'])", true),
            ("t = os.environ['API_TOKEN']\nprint('t', t)", true),
            ("for k, v in os.environ.items(): print(k, v)", true),
            ("print('set' if os.environ.get('API_TOKEN') else 'unset')", false),
            ("t = os.environ['API_TOKEN']\nprint(len(t))", false),
            ("t = os.environ['API_TOKEN']\nprint('token')", false),
            ("client = Client(os.environ['API_TOKEN'])\nprint(client.get('/x').json())", false),
        ];
        for (code, expected) in cases {
            assert_eq!(prints("python3", code), expected, "{code}");
        }
    }
}
