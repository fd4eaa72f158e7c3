//! Commands that wait for text, for agents whose hooks do not see what is typed into a terminal that a call leaves open.

use toolgate_shell::{Command, Joiner, RedirectKind, Runs, Script, Value, Word, absolute};

use super::Inquiry;
use super::coded::Coded;
use crate::call::Field;
use crate::guard::matching::Subject;
use crate::guard::world::World;

/// How a program that may wait for text is told from one that does not. Its options are read from the left; the first that
/// says something decides.
struct Row {
    names: &'static [&'static str],
    /// Subcommands of which one has to be there.
    subs: &'static [&'static str],
    operands: Operands,
    /// Options with which it waits.
    waits: &'static [&'static str],
    /// Options with which it runs something and ends.
    ends: &'static [&'static str],
    /// Options with a value that is the next word.
    values: &'static [&'static str],
    /// Whether `-ab` is `-a -b`, and the letters behind which the rest of the word is a value.
    letters: Option<&'static str>,
}

/// What the operands say if no option has decided.
#[derive(Clone, Copy)]
enum Operands {
    /// It waits whatever they are.
    Any,
    /// So many are no script: a host, a database. With more it runs something and ends, and what follows is not its own.
    UpTo(usize),
    /// It does not wait.
    Never,
}
use Operands::{Any, Never, UpTo};

const VERSION: &[&str] = &["--version", "--help", "-V", "-h"];
const LANGUAGE_ENDS: &[&str] =
    &["-c", "-e", "-E", "-p", "-m", "-r", "-V", "-v", "-h", "--eval", "--print", "--version", "--help"];

/// Most rows have few of the columns.
const ROW: Row = Row { names: &[], subs: &[], operands: Any, waits: &[], ends: VERSION, values: &[], letters: None };

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { names: &["sh", "bash", "rbash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "nu", "xonsh"], operands: UpTo(0), waits: &["-i", "-s", "--interactive"], ends: &["-c", "--version", "--help", "-n"], values: &["-o", "-O", "+o", "+O", "--rcfile", "--init-file"], letters: Some(""), ..ROW },
    Row { names: &["pwsh", "powershell"], operands: UpTo(0), waits: &["-NoExit", "-noexit"], ends: &["-c", "-C", "-Command", "-command", "-File", "-file", "-f", "-EncodedCommand", "-ec", "--version", "-v", "-Help", "-h"], ..ROW },
    Row { names: &["source", "."], operands: UpTo(0), ..ROW },
    Row { names: &["sudo", "doas"], operands: UpTo(0), waits: &["-e", "--edit"], ends: &["-v", "-k", "-K", "-l", "-L", "-V", "--validate", "--reset-timestamp", "--remove-timestamp", "--list", "--version", "--help"], values: &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-D", "-R", "-U", "--user", "--group", "--host", "--prompt", "--chdir", "--chroot"], letters: Some("ughpCrtTDRU"), ..ROW },
    Row { names: &["python", "pypy", "ipython", "bpython", "ptpython"], operands: UpTo(0), waits: &["-i"], ends: &["-c", "-m", "-V", "-h", "--version", "--help"], values: &["-W", "-X"], letters: Some("WX"), ..ROW },
    Row { names: &["perl", "ruby"], operands: UpTo(0), waits: &["-d"], ends: &["-e", "-E", "-v", "-V", "-h", "--version", "--help"], values: &["-I", "-r"], letters: Some("ImMFixCDr"), ..ROW },
    Row { names: &["php"], operands: UpTo(0), waits: &["-a", "--interactive"], ends: &["-r", "-f", "-i", "-m", "-v", "-h", "-S", "-B", "-R", "-F", "--run", "--file", "--info", "--modules", "--version", "--help", "--server", "--ini"], values: &["-d", "-c", "-t"], letters: Some("dct"), ..ROW },
    Row { names: &["node"], operands: UpTo(0), waits: &["-i", "--interactive", "inspect"], ends: &["-e", "-p", "-c", "-v", "-h", "--eval", "--print", "--check", "--test", "--run", "--version", "--help"], values: &["-r", "--require", "--import", "-C", "--conditions"], letters: Some("rC"), ..ROW },
    Row { names: &["deno", "bun"], subs: &["repl"], ..ROW },
    Row { names: &["lua", "luajit", "deno", "irb", "pry", "R", "julia", "scala", "groovysh", "clj", "clojure", "sbcl", "guile", "racket", "tclsh", "octave", "bc", "expect"], operands: UpTo(0), waits: &["-i", "--interactive"], ends: LANGUAGE_ENDS, letters: Some(""), ..ROW },
    Row { names: &["ghci", "iex", "erl", "jshell"], ends: &["-e", "-noshell", "-noinput", "--version", "--help"], ..ROW },
    Row { names: &["gdb", "gdb-multiarch", "rust-gdb", "dlv"], waits: &["--args"], ends: &["-batch", "--batch", "-version", "-v", "--version", "--help"], ..ROW },
    Row { names: &["lldb", "rust-lldb"], ends: &["-b", "--batch", "-v", "--version", "--help"], ..ROW },
    Row { names: &["manage.py", "django-admin"], subs: &["shell", "shell_plus", "dbshell"], ends: &["-c", "--command", "--help"], ..ROW },
    Row { names: &["rails"], subs: &["console", "c", "dbconsole", "db"], ..ROW },
    Row { names: &["poetry", "pipenv", "hatch", "flask"], subs: &["shell"], ..ROW },
    Row { names: &["nix-shell"], ends: &["--run", "--command", "--version", "--help"], ..ROW },
    Row { names: &["nix"], subs: &["shell", "develop"], ends: &["-c", "--command", "--run", "--help"], ..ROW },
    Row { names: &["nix"], subs: &["repl"], ..ROW },
    Row { names: &["psql", "mysql", "mariadb", "mongosh", "cockroach", "clickhouse-client"], operands: UpTo(2), ends: &["-c", "-e", "-f", "-l", "--command", "--execute", "--file", "--eval", "--list", "--version", "--help", "-V", "-?"], values: &["-h", "-p", "-P", "-U", "-u", "-d", "-D", "--host", "--port", "--user", "--username", "--dbname"], letters: Some("hpPUudD"), ..ROW },
    Row { names: &["sqlite3", "duckdb"], operands: UpTo(1), ends: &["-c", "-version", "-help", "--version", "--help"], values: &["-cmd", "-init", "-separator"], ..ROW },
    Row { names: &["redis-cli"], operands: UpTo(0), ends: &["--version", "--help", "--stat", "--latency", "--scan", "--bigkeys"], values: &["-h", "-p", "-n", "-a", "-u"], ..ROW },
    Row { names: &["ssh", "mosh"], operands: UpTo(1), ends: &["-N", "-V", "-G", "-Q"], values: &["-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-m", "-S", "-W", "-w", "-B", "-I", "-e", "-O", "-P"], letters: Some("piloFJLRDbcEmSWwBIeOP"), ..ROW },
    Row { names: &["nc", "ncat", "netcat", "socat", "telnet"], ends: &["-z", "-h", "--help", "--version"], values: &["-p", "-s", "-w", "-x", "-X", "-i", "-q"], letters: Some("pswxXiq"), ..ROW },
    Row { names: &["ftp", "sftp", "lftp"], operands: UpTo(1), ends: &["-b", "-c", "-e", "-f"], values: &["-P", "-i", "-o", "-p", "-u"], ..ROW },
    Row { names: &["su", "login", "script", "newgrp", "nsenter", "unshare", "chroot"], operands: UpTo(1), ends: &["-c", "-V", "--version", "--help"], values: &["-s", "-g", "-S"], letters: Some("sgSTF"), ..ROW },
    Row { names: &["screen", "tmux", "zellij"], operands: UpTo(1), ends: &["-c", "-V", "--version", "--help", "-ls", "-dm", "-dmS"], values: &["-S", "-L"], ..ROW },
    Row { names: &["docker", "podman", "nerdctl"], subs: &["exec", "run"], operands: UpTo(0), waits: &["-i", "-t", "--interactive", "--tty"], ends: &["-d", "--detach", "-itd", "-dit", "-tid", "-dti", "-idt", "-tdi", "--help"], values: DOCKER_VALUES, letters: Some("evpwulhmca") },
    Row { names: &["kubectl", "oc"], subs: &["exec"], operands: UpTo(1), waits: &["-i", "-t", "--stdin", "--tty"], ends: &["--", "--help"], values: &["-c", "-n", "-f", "--container", "--namespace", "--filename"], letters: Some("cnf") },
    Row { names: &["vi", "vim", "nvim", "vim.tiny", "vim.basic", "vimdiff", "view", "ex", "ed", "emacs", "emacsclient", "nano", "pico", "joe", "micro", "hx", "kak", "mc", "ranger", "nnn", "visudo", "vipw", "sudoedit"], ends: &["--version", "--help", "--batch"], ..ROW },
    Row { names: &["crontab"], operands: Never, waits: &["-e"], ..ROW },
    Row { names: &["less", "more", "most"], ends: &["--version", "--help"], ..ROW },
    Row { names: &["man", "info"], ends: &["-k", "-f", "-w", "-W", "-o", "--where", "--path", "--output", "--version", "--help"], ..ROW },
    // Their editors run commands.
    Row { names: &["git"], subs: &["commit"], ends: &["-m", "-F", "-C", "--message", "--file", "--reuse-message", "--no-edit", "--fixup", "--dry-run", "--short", "--porcelain", "--long", "-h", "--help"], values: &["-c", "-t", "--author", "--date", "--trailer", "--reedit-message", "--template", "--cleanup"], letters: Some("cSut"), ..ROW },
    Row { names: &["git"], subs: &["rebase"], operands: Never, waits: &["-i", "--interactive", "--continue", "--edit-todo"], values: &["-x", "--exec", "--onto", "-s", "-X"], letters: Some("xsXCS"), ..ROW },
    Row { names: &["git"], subs: &["add", "stage", "checkout", "restore", "reset"], operands: Never, waits: &["-p", "-i", "-e", "--patch", "--interactive", "--edit"], ends: &["--", "-h", "--help"], values: &["-b", "-B", "-s", "-U"], letters: Some("bBsU") },
];

/// Options of containers with a value that is the next word.
#[rustfmt::skip]
const DOCKER_VALUES: &[&str] = &[
    "-e", "-v", "-p", "-w", "-u", "-l", "-h", "-m", "-c", "-a", "--env", "--env-file", "--volume", "--publish", "--workdir", "--user", "--label", "--hostname", "--memory", "--cpus", "--cpu-shares", "--attach", "--name", "--network", "--net", "--entrypoint", "--mount", "--platform", "--gpus", "--add-host", "--link", "--ipc", "--pid", "--uts", "--userns", "--shm-size", "--ulimit", "--cap-add", "--cap-drop", "--security-opt", "--device", "--restart", "--log-driver", "--log-opt", "--tmpfs", "--dns", "--expose", "--pull", "--runtime", "--stop-signal", "--volumes-from", "--group-add", "--cidfile", "--detach-keys", "--ip", "--mac-address", "--network-alias", "--sysctl", "--annotation", "--health-cmd", "--arch", "--os", "--secret",
];

/// Options before a subcommand with a value that is the next word.
const LEADING: &[&str] = &[
    "-C",
    "-c",
    "-n",
    "-H",
    "-l",
    "-s",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--context",
    "--kubeconfig",
    "--cluster",
    "--user",
    "--host",
    "--config",
    "--log-level",
    "--settings",
    "--pythonpath",
    "--project",
    "--directory",
    "--extra-experimental-features",
    "--experimental-features",
];

/// Python's modules that are prompts.
const PROMPTS: &[&str] = &["code", "pdb", "asyncio", "IPython", "bpython", "ptpython"];

/// Programs that only show, and wait while they do.
const PAGERS: &[&str] = &["less", "more", "most", "man", "info"];

/// Variables that name git's editors, and what takes the place of an editor without waiting.
const EDITORS: &[&str] = &["GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "EDITOR", "VISUAL"];
const NO_EDITORS: &[&str] = &["true", ":", "cat", "sed", "echo"];

/// Names of standard input, which is the terminal, and of the terminal. All three streams of a program there are.
fn is_terminal(path: &str) -> bool {
    if path == "-" {
        return true;
    }
    if !path.starts_with('/') {
        return false;
    }
    let path = absolute(path, "/");
    let stream = ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"].iter().find_map(|at| path.strip_prefix(at));
    stream.is_some_and(|number| matches!(number, "0" | "1" | "2"))
        || matches!(path.as_str(), "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/console")
        || path.starts_with("/dev/pts/")
}

/// A program's name without its version: `python3.11`, `bash-5.2`.
fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'))
}

/// Where the operand behind a program's own options is.
fn leading(words: &[&str]) -> Option<usize> {
    let mut at = 0;
    while words.get(at)?.starts_with('-') {
        at += if LEADING.contains(&words[at]) { 2 } else { 1 };
    }
    Some(at)
}

/// What one word of options says.
enum Said {
    /// Whether it waits.
    Waits(bool),
    /// That the next word is a value.
    Value,
    Nothing,
}

impl Row {
    /// Whether it waits with these words behind its name.
    fn waits(&self, words: &[&str]) -> bool {
        let mut operands = 0;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            match self.says(word, words.get(at).copied().unwrap_or_default()) {
                Said::Waits(waits) => return waits,
                Said::Value => at += 1,
                Said::Nothing if word.starts_with(['-', '+']) || is_terminal(word) => {}
                // `sudo A=1 -s`
                Said::Nothing if self.names.contains(&"sudo") && word.contains('=') => {}
                Said::Nothing => operands += 1,
            }
            if matches!(self.operands, UpTo(most) if operands > most) {
                return false;
            }
        }
        !matches!(self.operands, Never)
    }

    /// What a word says, with the one behind it.
    fn says(&self, word: &str, next: &str) -> Said {
        let name = word.split('=').next().unwrap_or_default();
        if self.waits.contains(&name) {
            return Said::Waits(true);
        }
        if self.ends.contains(&name) {
            return Said::Waits(self.prompts(name, next));
        }
        if self.values.contains(&word) {
            return Said::Value;
        }
        match (word.strip_prefix('-'), self.letters) {
            (Some(letters), Some(attached)) if !letters.starts_with('-') => self.cluster(letters, attached, next),
            _ => Said::Nothing,
        }
    }

    /// What several options in one word say.
    fn cluster(&self, letters: &str, attached: &str, next: &str) -> Said {
        let mut said = Said::Nothing;
        for (at, letter) in letters.char_indices() {
            let rest = letters.get(at + letter.len_utf8()..).unwrap_or_default();
            let option = format!("-{letter}");
            let option = option.as_str();
            if self.waits.contains(&option) {
                return Said::Waits(true);
            }
            if self.ends.contains(&option) {
                return Said::Waits(self.prompts(option, if rest.is_empty() { next } else { rest }));
            }
            if attached.contains(letter) && !rest.is_empty() {
                break;
            }
            if self.values.contains(&option) {
                said = Said::Value;
            }
        }
        said
    }

    /// Whether what an option runs is itself a prompt.
    fn prompts(&self, option: &str, value: &str) -> bool {
        option == "-m" && self.names.contains(&"python") && PROMPTS.contains(&value)
    }
}

/// Whether a command waits for text from whoever has started it.
fn waits(command: &Command, behind: &[Command]) -> bool {
    let Some(name) = command.program() else { return false };
    let words: Vec<&str> = command.words.iter().skip(1).map(|word| Word::known(word).unwrap_or_default()).collect();
    let mut words = words.as_slice();
    let mut name = if ROWS.iter().any(|row| row.names.contains(&name)) { name } else { unversioned(name) };
    // A project's own program, run as a script.
    if name == "python"
        && let Some(at) = leading(words)
        && words[at].rsplit('/').next() == Some("manage.py")
    {
        (name, words) = ("manage.py", &words[at + 1..]);
    }
    let found = ROWS.iter().filter(|row| row.names.contains(&name)).find_map(|row| {
        if row.subs.is_empty() {
            return Some((row, words));
        }
        let at = leading(words)?;
        row.subs.contains(&words[at]).then(|| (row, &words[at + 1..]))
    });
    let Some((row, words)) = found else { return false };
    let redirected = |kind: RedirectKind, fd: u32| {
        let mut redirects = command.redirects.iter();
        redirects.any(|redirect| {
            redirect.kind == kind && redirect.fd == Some(fd) && !redirect.target.known().is_some_and(is_terminal)
        })
    };
    if command.input().is_some() || command.joiner == Joiner::Pipe || redirected(RedirectKind::Read, 0) {
        return false;
    }
    if PAGERS.contains(&name) {
        let next = behind.iter().find(|other| other.group == command.group);
        let piped = next.is_some_and(|next| next.joiner == Joiner::Pipe);
        if piped || redirected(RedirectKind::Write, 1) || redirected(RedirectKind::Append, 1) {
            return false;
        }
    }
    if name == "git" {
        let first = |value: &Value| value.known().and_then(|text| text.split_whitespace().next().map(str::to_owned));
        let unattended = command.assignments.iter().any(|(name, value)| {
            EDITORS.contains(&name.as_str())
                && first(&value.value).is_some_and(|editor| NO_EDITORS.contains(&editor.as_str()))
        });
        if unattended {
            return false;
        }
    }
    row.waits(words)
}

impl Inquiry<'_> {
    /// Where typed text is not seen, what waits for it is a way past the gate.
    pub(super) fn typed(&mut self, script: &Script, subjects: &[Subject<'_>], field: &Field, world: &mut dyn World) {
        if !self.call.typed_unseen {
            return;
        }
        let behind = |index: usize| script.commands.get(index + 1..).unwrap_or_default();
        let waiting = |subject: &&Subject<'_>| {
            subject.command.runs != Runs::Never && waits(subject.command, behind(subject.index))
        };
        for subject in subjects.iter().filter(waiting) {
            let evidence = vec![super::evidence(field, subject.command.span)];
            self.coded_on(Coded::TypedUnseen, subject, &field.value, world, evidence);
        }
    }
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;

    #[test]
    fn what_waits_for_text_is_told_from_what_does_not() {
        let cases: &[(&str, bool)] = &[
            ("bash", true),
            ("bash -l", true),
            ("bash --norc -i", true),
            ("exec sh", true),
            ("sudo bash", true),
            ("cd x && python3", true),
            ("python3 -i a.py", true),
            ("node", true),
            ("psql -h db app", true),
            ("ssh host", true),
            ("ssh -p 22 host", true),
            ("vim a.txt", true),
            ("sqlite3 a.db", true),
            ("tmux", true),
            ("bash a.sh", false),
            ("bash -lc 'ls'", false),
            ("bash <<'E'\nls\nE", false),
            ("echo ls | bash", false),
            ("bash < a.sh", false),
            ("python3 a.py", false),
            ("python3 -c 'print(1)'", false),
            ("python3 -m pytest", false),
            ("node -e 1", false),
            ("perl -pe s/a/b/ f", false),
            ("psql -c 'select 1' app", false),
            ("psql app < a.sql", false),
            ("sqlite3 a.db 'select 1'", false),
            ("ssh host ls", false),
            ("tmux new -d -s x", false),
            ("grep bash a", false),
            ("false && bash", false),
            ("bash +x", true),
            ("bash +o history", true),
            ("bash -", true),
            ("bash -s", true),
            ("bash -o pipefail", true),
            ("bash -eo pipefail", true),
            ("bash < /dev/tty", true),
            ("sh /dev/stdin", true),
            ("sh /dev//stdin", true),
            ("bash /dev/fd/0", true),
            ("bash /proc/self/fd/0", true),
            ("bash5", true),
            ("/usr/bin/bash-5.2 -l", true),
            ("source /dev/stdin", true),
            (". /dev/tty", true),
            ("su - dev", true),
            ("su -s /bin/sh dev", true),
            ("sudo -i", true),
            ("sudo -s", true),
            ("sudo -u dev -i", true),
            ("sudo -iu dev", true),
            ("sudo A=1 -s", true),
            ("doas -s", true),
            ("sudo python3.11", true),
            ("sudo -e /etc/x", true),
            ("python3.11", true),
            ("python3.12 -q", true),
            ("python3 -E", true),
            ("python3 -", true),
            ("python3 /dev/stdin", true),
            ("python3 -im os", true),
            ("python3 -ic 1", true),
            ("python3 -m code", true),
            ("python3 -um pdb a.py", true),
            ("pypy3", true),
            ("perl -", true),
            ("perl5.38", true),
            ("perl -d a.pl", true),
            ("perl -de 1", true),
            ("ruby3.2 -", true),
            ("lua5.4", true),
            ("php8.3 -a", true),
            ("node -", true),
            ("node18", true),
            ("node inspect a.js", true),
            ("iex -S mix", true),
            ("ghci a.hs", true),
            ("expect", true),
            ("gdb ./a", true),
            ("gdb --args ./a -batch", true),
            ("lldb -- ./a", true),
            ("ssh -T host", true),
            ("ssh -Tp22 host", true),
            ("less a", true),
            ("man ls", true),
            ("man ls; ls", true),
            ("info ls", true),
            ("nc -l 1", true),
            ("nc -lvp 1", true),
            ("ncat host 1", true),
            ("socat - tcp:host:1", true),
            ("telnet host 25", true),
            ("poetry shell", true),
            ("pipenv shell", true),
            ("nix-shell", true),
            ("nix-shell -p x", true),
            ("nix develop", true),
            ("nix shell x", true),
            ("rails console", true),
            ("bin/rails c", true),
            ("python manage.py shell", true),
            ("./manage.py shell", true),
            ("docker run -it image", true),
            ("docker run --rm -v a:b -ti image ls", true),
            ("docker exec -u root -it c sh", true),
            ("podman exec --interactive --tty c ls", true),
            ("kubectl exec -it pod -- sh", true),
            ("kubectl -n x exec pod -it -- ls", true),
            ("git commit", true),
            ("git commit -a", true),
            ("git commit --amend", true),
            ("git -C x commit -v", true),
            ("git commit -SmFC", true),
            ("git rebase -i HEAD~2", true),
            ("git rebase main -i", true),
            ("git rebase --continue", true),
            ("git add -p", true),
            ("git add a -i", true),
            ("git checkout -p", true),
            ("git -c a=b add -i", true),
            ("crontab -e", true),
            ("psql -h db -At", true),
            ("bash - < a.sh", false),
            ("cat f | bash -", false),
            ("bash -eo pipefail a.sh", false),
            ("bash a.sh -i", false),
            ("bash +x a.sh", false),
            ("bash -x a.sh", false),
            ("sudo ls", false),
            ("sudo -u dev ls", false),
            ("sudo -l", false),
            ("sudo -n true", false),
            ("su dev -c ls", false),
            (". ./env", false),
            ("source venv/bin/activate", false),
            ("python3.11 a.py", false),
            ("python3 a.py -i", false),
            ("python3 -u a.py", false),
            ("python3 -W ignore a.py", false),
            ("python3 -um pytest", false),
            ("python3 - <<'E'\n1\nE", false),
            ("python3 manage.py migrate", false),
            ("python3 manage.py shell -c 1", false),
            ("perl -i -pe s/a/b/ f", false),
            ("perl -pi -e s/a/b/ f", false),
            ("perl -MData::Dumper -e 1", false),
            ("perl -lane 1 f", false),
            ("ruby -rjson -e 1", false),
            ("node -pe 1", false),
            ("node -r x a.js", false),
            ("deno run -A a.ts", false),
            ("expect a.exp", false),
            ("gdb -batch -ex bt ./a", false),
            ("gdb --batch ./a", false),
            ("lldb -b ./a", false),
            ("ssh -fN host", false),
            ("ssh -T host ls", false),
            ("cat f | less", false),
            ("less < f", false),
            ("less f | cat", false),
            ("man ls | head", false),
            ("man ls > f", false),
            ("man -k x", false),
            ("nc -z host 1", false),
            ("nc -zv host 1", false),
            ("echo x | nc host 1", false),
            ("nc host 1 < f", false),
            ("nix develop -c ls", false),
            ("nix-shell --run ls", false),
            ("nix build", false),
            ("rails test", false),
            ("poetry install", false),
            ("docker run image cmd", false),
            ("docker run --rm image grep -i x", false),
            ("docker run -d image", false),
            ("docker run -itd image", false),
            ("docker exec c ls -t", false),
            ("docker ps -a", false),
            ("kubectl exec pod -- ls -it", false),
            ("kubectl get pods -it", false),
            ("git commit -m x", false),
            ("git commit -am x", false),
            ("git commit -qF f", false),
            ("git commit --message=x", false),
            ("git commit --amend --no-edit", false),
            ("git commit -C HEAD", false),
            ("git commit -m code", false),
            ("git log", false),
            ("GIT_EDITOR=true git rebase --continue", false),
            ("GIT_SEQUENCE_EDITOR=: git rebase -i HEAD~2", false),
            ("git rebase main", false),
            ("git add .", false),
            ("git add -A", false),
            ("git checkout -b x", false),
            ("git stash show -p", false),
            ("git log -p", false),
            ("psql -Atc 'select 1' app", false),
            ("script -qc ls f", false),
            ("crontab -l", false),
            ("screen -dmS x ls", false),
        ];
        let mut wrong = Vec::new();
        for (text, expected) in cases {
            let script = parse(text, &Facts::new("/p").home("/h"));
            let behind = |at: usize| &script.commands[at + 1..];
            let mut commands = script.commands.iter().enumerate();
            let found = commands.any(|(at, command)| command.runs != Runs::Never && waits(command, behind(at)));
            if found != *expected {
                wrong.push(*text);
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
