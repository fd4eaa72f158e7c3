//! Which databases are those of a test on this machine: each run makes them anew, so that nothing is lost with them.
//!
//! A name says so, or what a framework is told to work with. Whatever is not known says nothing, and neither does what
//! another machine has.

use toolgate_shell::{Command, Word, absolute};

use super::invocation::{Invocation, ParsedOption};
use super::path_zone::{Map, PathZone};

/// A client of a database.
struct Client {
    names: &'static [&'static str],
    /// What names the database.
    database: &'static [&'static str],
    host: &'static [&'static str],
    /// What gives it statements.
    statements: &'static [&'static str],
    /// Whether its first operand names the database; the others are statements.
    operand: bool,
    /// Whether that is a file.
    is_file: bool,
    /// Variables that name the host and the database.
    variables: [&'static str; 2],
}

#[rustfmt::skip]
const CLIENTS: &[Client] = &[
    Client { names: &["psql", "pgcli", "dropdb", "vsql"], database: &["-d", "--dbname"], host: &["-h", "--host"], statements: &["-c", "--command"], operand: true, is_file: false, variables: ["PGHOST", "PGDATABASE"] },
    Client { names: &["pg_restore"], database: &["-d", "--dbname"], host: &["-h", "--host"], statements: &[], operand: false, is_file: false, variables: ["PGHOST", "PGDATABASE"] },
    Client { names: &["mysql", "mariadb", "mycli"], database: &["-D", "--database"], host: &["-h", "--host"], statements: &["-e", "--execute"], operand: true, is_file: false, variables: ["MYSQL_HOST", ""] },
    Client { names: &["sqlite3", "sqlite", "litecli", "duckdb"], database: &[], host: &[], statements: &["-cmd", "-c", "-s"], operand: true, is_file: true, variables: ["", ""] },
    Client { names: &["sqlcmd"], database: &["-d"], host: &["-S"], statements: &["-Q", "-q"], operand: false, is_file: false, variables: ["SQLCMDSERVER", "SQLCMDDBNAME"] },
    Client { names: &["clickhouse-client"], database: &["-d", "--database"], host: &["-h", "--host"], statements: &["-q", "--query"], operand: false, is_file: false, variables: ["CLICKHOUSE_HOST", ""] },
    Client { names: &["mongorestore", "mongoimport"], database: &["-d", "--db"], host: &["-h", "--host"], statements: &[], operand: false, is_file: false, variables: ["", ""] },
];

/// What is told which environment to work in: programs, variables, options.
type Framework = (&'static [&'static str], &'static [&'static str], &'static [&'static str]);

#[rustfmt::skip]
const FRAMEWORKS: &[Framework] = &[
    (&["rails", "rake", "hanami"], &["RAILS_ENV", "RACK_ENV", "HANAMI_ENV"], &["-e", "--environment"]),
    (&["mix"], &["MIX_ENV"], &[]),
    (&["php", "sail", "symfony", "artisan", "console"], &["APP_ENV"], &["--env", "-e"]),
    (&["sequelize", "sequelize-cli", "knex", "db-migrate", "node"], &["NODE_ENV"], &["--env", "-e"]),
    (&["phinx"], &[], &["-e", "--environment"]),
    (&["python", "python3", "manage.py", "django-admin"], &["DJANGO_SETTINGS_MODULE"], &["--settings"]),
];

/// The variable that names a database for most frameworks.
const URL: &str = "DATABASE_URL";

/// Programs around a command that are on this machine, or in a container of it.
const HERE: &[&str] = &[
    "docker",
    "podman",
    "nerdctl",
    "docker-compose",
    "podman-compose",
    "sudo",
    "env",
    "sh",
    "bash",
    "timeout",
    "time",
    "nice",
    "xargs",
];

/// Whether a command works on the data of a test on this machine, for certain.
pub(super) fn is_meant(command: &Command, found: &Invocation<'_>, map: &Map<'_>) -> bool {
    if command.more_words || command.elsewhere && !command.via.iter().all(|via| HERE.contains(&via.as_str())) {
        return false;
    }
    match CLIENTS.iter().find(|client| client.names.contains(&found.program)) {
        Some(client) => client.is_of_a_test(command, found, map),
        None => is_told(command, found, map),
    }
}

impl Client {
    fn is_of_a_test(&self, command: &Command, found: &Invocation<'_>, map: &Map<'_>) -> bool {
        let [host, database] = self.variables;
        let of = |names: &'static [&'static str]| given(found, names);
        let hosts = of(self.host).chain(variable(command, host));
        if !hosts.into_iter().all(|host| host.is_some_and(is_here)) {
            return false;
        }
        let operands = found.operands.iter().map(|operand| operand.text.filter(|_| !operand.perhaps()));
        let mut operands: Vec<Option<&str>> = operands.collect();
        let mut names: Vec<Option<&str>> = of(self.database).collect();
        if self.operand && names.is_empty() && !operands.is_empty() {
            names.push(operands.remove(0));
        }
        if names.is_empty() {
            names.extend(variable(command, database));
        }
        let is_test = |name: Option<&str>| name.is_some_and(|name| self.names_a_test(name, command, map));
        let is_connected = !names.is_empty() && names.into_iter().all(is_test);
        let texts = of(self.statements).chain(operands.into_iter().filter(|_| self.is_file));
        let texts = texts.chain(command.input().map(Some)).chain(command.statements().map(Some));
        let mut texts = texts.peekable();
        match texts.peek() {
            None => is_connected,
            Some(_) => texts.all(|text| {
                text.is_some_and(|text| statements(text).iter().all(|statement| is_of_a_test(statement, is_connected)))
            }),
        }
    }

    fn names_a_test(&self, name: &str, command: &Command, map: &Map<'_>) -> bool {
        if self.is_file {
            return is_test_file(name, command, map);
        }
        match name.contains("://") {
            true => is_test_address(name, command, map) == Some(true),
            // `dbname=a host=b`
            false => !name.contains('=') && is_test_name(name),
        }
    }
}

/// The statements of a text. A client's own command, as `\c NAME`, is a line. One that has a semicolon in a text of its own
/// is more than one here, which says no more of the test than it does.
fn statements(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("--"));
    for line in lines {
        let own = line.starts_with('\\');
        if own {
            all.push(String::new());
        }
        for (at, part) in line.split(';').enumerate() {
            match all.last_mut().filter(|_| at == 0) {
                Some(last) => {
                    last.push(' ');
                    last.push_str(part);
                }
                None => all.push(part.to_owned()),
            }
        }
        if own {
            all.push(String::new());
        }
    }
    all
}

/// Whether a statement is about a database of a test: one that it names, or the one that is connected.
fn is_of_a_test(statement: &str, is_connected: bool) -> bool {
    let mut words = statement.split_whitespace().map(str::to_ascii_lowercase);
    let first = words.next().unwrap_or_default();
    let mut rest = words.filter(|word| !matches!(word.as_str(), "if" | "not" | "exists"));
    let named =
        |name: Option<String>| name.is_some_and(|name| is_test_name(name.trim_matches(['"', '`', '\'', '[', ']'])));
    match first.as_str() {
        "" => true,
        "use" | "\\c" | "\\connect" => named(rest.next()),
        "drop" | "create" | "alter" => match rest.next().as_deref() {
            Some("database") => named(rest.next()),
            _ => is_connected,
        },
        _ => is_connected,
    }
}

/// Whether a program that is no client is told to work with a test.
fn is_told(command: &Command, found: &Invocation<'_>, map: &Map<'_>) -> bool {
    let words = command.words.iter().skip(1).map(Word::known);
    let words = words.map(|word| word.map(|word| word.split_once('=').map_or(word, |(_, value)| value)));
    let addresses = words.flatten().chain(variable(command, URL).flatten());
    let addresses: Vec<bool> = addresses.filter_map(|text| is_test_address(text, command, map)).collect();
    let unknown = variable(command, URL).any(|value| value.is_none());
    if !addresses.is_empty() || unknown {
        return !unknown && addresses.into_iter().all(|is_test| is_test);
    }
    let row = FRAMEWORKS.iter().find(|(names, ..)| names.contains(&found.program));
    row.is_some_and(|(_, variables, options)| {
        let told = given(found, options).chain(variables.iter().flat_map(|name| variable(command, name)));
        let mut told = told.peekable();
        told.peek().is_some() && told.all(|value| value.is_some_and(is_environment))
    })
}

/// Whether this is how an environment for tests is called; of Django's settings the last part says so.
fn is_environment(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    matches!(last, "test" | "testing" | "tests" | "test_settings" | "settings_test")
}

/// The values of options, each as far as it is known.
fn given<'f>(found: &'f Invocation<'_>, names: &'f [&str]) -> impl Iterator<Item = Option<&'f str>> {
    let is = |given: &&ParsedOption<'_>| names.iter().any(|name| found.is(given, name));
    // A value that is not known has its hole.
    let known = |value: &&str| !value.contains(toolgate_shell::Value::HOLE);
    found.options.iter().filter(is).map(move |given| given.value.filter(known).filter(|_| given.plain))
}

/// The values that a variable has for a command, each as far as it is known.
fn variable<'c>(command: &'c Command, name: &'c str) -> impl Iterator<Item = Option<&'c str>> {
    let own = command.assignments.iter().rev().find(|(own, _)| own == name).map(|(_, word)| word.known());
    own.or_else(|| command.env.get(name)).into_iter().filter(move |_| !name.is_empty())
}

/// Whether a host is this machine.
fn is_here(host: &str) -> bool {
    let host = host.trim_start_matches('[').split(']').next().unwrap_or_default();
    let bare = match host.matches(':').count() {
        1 => host.split(':').next().unwrap_or_default(),
        _ => host,
    };
    let loopback = bare.strip_prefix("127.").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    loopback
        || bare.starts_with('/')
        || matches!(bare, "" | "localhost" | "::1" | "0.0.0.0" | "host.docker.internal")
        || bare.ends_with(".localhost")
}

/// Whether an address is that of a test's database on this machine; `None` if it is no address of a database.
fn is_test_address(text: &str, command: &Command, map: &Map<'_>) -> Option<bool> {
    const SCHEMES: &[&str] = &[
        "postgres",
        "postgresql",
        "mysql",
        "mariadb",
        "mongodb",
        "mongodb+srv",
        "sqlserver",
        "mssql",
        "cockroachdb",
        "clickhouse",
        "redis",
        "rediss",
        "pgx",
        "pgx5",
        "ecto",
        "mysql2",
        "trilogy",
        "postgis",
        "libsql",
        "tcp",
    ];
    let text = text.strip_prefix("jdbc:").unwrap_or(text);
    let (scheme, rest) = text.split_once(':')?;
    // `postgresql+psycopg2`
    let kind = scheme.split('+').next().unwrap_or(scheme);
    if matches!(kind, "sqlite" | "sqlite3" | "file") {
        let path = rest.split('?').next().unwrap_or_default();
        // Three strokes stand before a path that is relative, four before one that is not.
        let path = path.strip_prefix("///").or(path.strip_prefix("//")).unwrap_or(path);
        return Some(is_test_file(path, command, map));
    }
    if !SCHEMES.contains(&kind) && !SCHEMES.contains(&scheme) {
        return None;
    }
    let rest = rest.strip_prefix("//")?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
    let hosts = hosts.rsplit('@').next().unwrap_or_default();
    Some(!query.contains("host") && hosts.split(',').all(is_here) && is_test_name(database))
}

/// Whether a file of a database is a test's: one in memory, among temporary files, or of such a name.
fn is_test_file(path: &str, command: &Command, map: &Map<'_>) -> bool {
    if matches!(path, "" | ":memory:") {
        return true;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let place = match &command.cwd {
        Some(cwd) => Some(map.place(&absolute(path, cwd))),
        None => path.starts_with('/').then(|| map.place(path)),
    };
    match place {
        Some(PathZone::Temporary) => true,
        Some(PathZone::Workspace | PathZone::Product) => is_test_name(stem),
        _ => false,
    }
}

/// Whether a name says that nothing but tests is in what it names: `app_test`, `test_app`, `test`.
fn is_test_name(name: &str) -> bool {
    const TESTS: &[&str] = &["test", "tests", "testing", "testdb", "e2e", "ci", "tmp", "temp", "scratch", "throwaway"];
    const OTHERS: &[&str] = &["prod", "production", "live", "staging", "backup", "master", "main"];
    let name = name.to_ascii_lowercase();
    let parts: Vec<&str> = name.split(['_', '-', '.']).filter(|part| !part.is_empty()).collect();
    // Those that run side by side have numbers: `app_test_3`, `test2`.
    let counted = |part: &&&str| !part.bytes().all(|byte| byte.is_ascii_digit());
    let is_one = |part: &&str| TESTS.contains(&part.trim_end_matches(|c: char| c.is_ascii_digit()));
    let (first, last) = (parts.first(), parts.iter().rev().find(counted));
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    plain && (first.is_some_and(is_one) || last.is_some_and(is_one)) && !parts.iter().any(|part| OTHERS.contains(part))
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;
    use crate::Guard;

    #[test]
    fn names_say_what_is_in_a_database() {
        for (name, expected) in [
            ("test", true),
            ("app_test", true),
            ("test_app", true),
            ("app-test", true),
            ("app_test_3", true),
            ("app_test2", true),
            ("e2e", true),
            ("tmp_migration_check", true),
            ("APP_TEST", true),
            ("app", false),
            ("contest", false),
            ("latest", false),
            ("attest_log", false),
            ("prod_test", false),
            ("test_production", false),
            ("app_testimonials", false),
            ("", false),
            ("3", false),
            ("test; drop table users", false),
        ] {
            assert_eq!(is_test_name(name), expected, "{name}");
        }
    }

    #[test]
    fn what_is_told_of_a_test_is_told_for_certain() {
        let guard = Guard::new();
        for (text, expected) in [
            ("dropdb app_test", true),
            ("dropdb -h localhost --if-exists app_test", true),
            ("dropdb -h db.example.com app_test", false),
            ("PGHOST=db.example.com dropdb app_test", false),
            ("dropdb -h $HOST app_test", false),
            ("dropdb app", false),
            ("dropdb $NAME", false),
            ("dropdb", false),
            ("psql -d app_test -c 'drop table x'", true),
            ("psql app_test -c 'drop table x'", true),
            ("psql -c 'drop table x'", false),
            ("PGDATABASE=app_test psql -c 'drop table x'", true),
            ("psql -d app_test -c '\\c app' -c 'drop table x'", false),
            ("psql -d app_test -c 'drop database app'", false),
            ("psql -d app -c 'drop database if exists \"app_test\"'", true),
            ("psql -d app -c 'drop database app_test; drop table users'", false),
            ("psql postgres://u:p@localhost:5432/app_test -c 'drop table x'", true),
            ("psql postgres://u:p@db.example.com/app_test -c 'drop table x'", false),
            ("psql 'postgres://localhost/app_test?host=db.example.com' -c 'drop table x'", false),
            ("psql 'dbname=app_test host=db.example.com' -c 'drop table x'", false),
            ("psql -d \"$TEST_DATABASE_URL\" -c 'drop table x'", false),
            ("psql --new x app_test -c 'drop table x'", false),
            ("echo 'use app; drop table x' | mysql app_test", false),
            ("printf 'select 1\n\\\\c app\ndrop table x;\n' | psql app_test", false),
            ("psql app_test <<'E'\n-- a comment\n\\connect app\ndrop table x;\nE", false),
            ("psql app_test <<'E'\n\\set x 1\ndrop table x;\nE", true),
            ("echo 'drop table x' | mysql -u root -psecret app_test", true),
            ("sqlite3 :memory: 'drop table x'", true),
            ("sqlite3 /tmp/x.db 'drop table x'", true),
            ("sqlite3 test.db 'drop table x'", true),
            ("sqlite3 app.db 'drop table x'", false),
            ("sqlite3 /srv/test.db 'drop table x'", false),
            ("docker compose exec -T db psql -d app_test -c 'drop table x'", true),
            ("ssh h psql -d app_test -c 'drop table x'", false),
            ("RAILS_ENV=test rails db:drop", true),
            ("rails db:drop", false),
            ("RAILS_ENV=production rails db:drop", false),
            ("RAILS_ENV=test DATABASE_URL=postgres://db.example.com/app rails db:drop", false),
            ("export RAILS_ENV=test; rails db:drop", true),
            ("RAILS_ENV=$X rails db:drop", false),
            ("MIX_ENV=test mix ecto.drop", true),
            ("NODE_ENV=test npx prisma migrate reset", false),
            ("DATABASE_URL=postgres://localhost/app_test npx prisma migrate reset", true),
            ("DATABASE_URL=$URL npx prisma migrate reset", false),
            ("php artisan migrate:fresh --env=testing", true),
            ("php artisan migrate:fresh --env=local", false),
            ("DATABASE_URL=sqlite:///test.db alembic downgrade base", true),
            ("sqlx database drop --database-url postgres://localhost/app_test", true),
            ("flyway -url=jdbc:postgresql://localhost:5432/app_test clean", true),
            ("flyway -url=jdbc:postgresql://db.example.com/app_test clean", false),
            ("python manage.py flush --settings=app.settings.test", true),
            ("python manage.py flush --settings=app.settings.production", false),
        ] {
            let script = parse(text, &Facts::new("/home/dev/project").home("/home/dev"));
            let map = Map::new("/home/dev/project", Some("/home/dev"));
            let command = script.commands.iter().rfind(|command| !command.words.is_empty()).expect(text);
            let found = Invocation::read(&command.words, &guard.grammars).expect(text);
            assert_eq!(is_meant(command, &found, &map), expected, "{text}");
        }
    }
}
