//! Commands that wait for text, for agents whose hooks do not see what is typed into a terminal that a call leaves open.

use toolgate_commands::argv::{Parts, Spelling};
use toolgate_commands::{Spec, Takes, Terminal, Trait, Waits};
use toolgate_shell::{Command, Joiner, RedirectKind, Runs, Script, Value, Word, absolute};

use super::Evaluation;
use crate::call::Field;
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::world::GuardHost;

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

/// How many of the next words the last of the options in this word takes; or whether the word decides that the program
/// waits.
fn option(spec: &'static Spec, terminal: Option<&Terminal>, word: &str, next: &str) -> Result<usize, bool> {
    // `+o` of a shell.
    let signed = word.replacen('+', "-", usize::from(word.starts_with('+')));
    let spelling = if spec.one_dash { Spelling::Words } else { Spelling::Letters };
    let mut taken = 0;
    for part in Parts::new(&spec, &signed, spelling) {
        let rest = part.attached.and_then(|at| signed.get(at..));
        if let Some(terminal) = terminal.filter(|_| part.dashes == 1 && !word.starts_with('+')) {
            let name = format!("-{}", part.name);
            if terminal.waits.contains(&name.as_str()) {
                return Err(true);
            }
            if terminal.ends.contains(&name.as_str()) {
                return Err(prompts(spec, &name, rest.unwrap_or(next)));
            }
        }
        taken = match part.option.map(|option| option.takes) {
            Some(Takes::Next(count)) => usize::from(count) - usize::from(rest.is_some()),
            Some(Takes::Loose) => usize::from(rest.is_none() && !next.starts_with('-')),
            _ => 0,
        };
    }
    Ok(taken)
}

/// Whether what an option runs is itself a prompt.
fn prompts(spec: &Spec, option: &str, value: &str) -> bool {
    option == "-m" && spec.is("python") && PROMPTS.contains(&value)
}

/// Where the operand behind a program's own options is.
fn leading(spec: &'static Spec, words: &[&str]) -> Option<usize> {
    let mut at = 0;
    while let word = words.get(at)?
        && word.starts_with('-')
    {
        let next = words.get(at + 1).copied().unwrap_or_default();
        at += 1 + option(spec, None, word, next).unwrap_or_default();
    }
    Some(at)
}

/// Whether a program waits with these words behind its name.
fn waits_with(spec: &'static Spec, terminal: &Terminal, words: &[&str]) -> bool {
    let mut operands = 0;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let next = words.get(at).copied().unwrap_or_default();
        let name = word.split('=').next().unwrap_or_default();
        if terminal.waits.contains(&name) {
            return true;
        }
        if terminal.ends.contains(&name) {
            return prompts(spec, name, next);
        }
        let assigns = || spec.runs.as_ref().is_some_and(|runs| runs.traits.contains(&Trait::Assign));
        if word.starts_with(['-', '+']) && word.len() > 1 {
            match option(spec, Some(terminal), word, next) {
                Err(waits) => return waits,
                Ok(taken) => at += taken,
            }
        } else if !(is_terminal(word) || word.contains('=') && assigns()) {
            operands += 1;
        }
        if matches!(terminal.operands, Waits::UpTo(most) if operands > usize::from(most)) {
            return false;
        }
    }
    terminal.operands != Waits::Never
}

/// Whether a command waits for text from whoever has started it.
fn waits(command: &Command, behind: &[Command]) -> bool {
    let Some(name) = command.program() else { return false };
    let words: Vec<&str> = command.words.iter().skip(1).map(|word| Word::known(word).unwrap_or_default()).collect();
    let mut words = words.as_slice();
    let listed = |name| toolgate_commands::find(name).or_else(|| toolgate_commands::find(unversioned(name)));
    let mut spec = listed(name);
    // A project's own program, run as a script.
    if let Some(python) = spec.filter(|spec| spec.is("python"))
        && let Some(at) = leading(python, words)
        && words[at].rsplit('/').next() == Some("manage.py")
    {
        (spec, words) = (toolgate_commands::find("manage.py"), &words[at + 1..]);
    }
    let Some(program) = spec else { return false };
    // A subcommand that waits, else the program itself.
    let sub = leading(program, words).and_then(|at| {
        let sub = program.subcommand(words[at])?;
        Some((sub, sub.terminal.as_ref()?, &words[at + 1..]))
    });
    let own = || program.terminal.as_ref().map(|terminal| (program, terminal, words));
    let Some((spec, terminal, words)) = sub.or_else(own) else { return false };
    let redirected = |kind: RedirectKind, fd: u32| {
        let mut redirects = command.redirects.iter();
        redirects.any(|redirect| {
            redirect.kind == kind && redirect.fd == Some(fd) && !redirect.target.known().is_some_and(is_terminal)
        })
    };
    if command.input().is_some() || command.joiner == Joiner::Pipe || redirected(RedirectKind::Read, 0) {
        return false;
    }
    if PAGERS.iter().any(|pager| program.is(pager)) {
        let next = behind.iter().find(|other| other.group == command.group);
        let piped = next.is_some_and(|next| next.joiner == Joiner::Pipe);
        if piped || redirected(RedirectKind::Write, 1) || redirected(RedirectKind::Append, 1) {
            return false;
        }
    }
    if program.is("git") {
        let first = |value: &Value| value.known().and_then(|text| text.split_whitespace().next().map(str::to_owned));
        let unattended = command.assignments.iter().any(|(name, value)| {
            EDITORS.contains(&name.as_str())
                && first(&value.value).is_some_and(|editor| NO_EDITORS.contains(&editor.as_str()))
        });
        if unattended {
            return false;
        }
    }
    waits_with(spec, terminal, words)
}

impl Evaluation<'_> {
    /// Where typed text is not seen, what waits for it is a way past the gate.
    pub(super) fn typed(
        &mut self,
        script: &Script,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
    ) {
        if !self.call.typed_unseen {
            return;
        }
        let behind = |index: usize| script.commands.get(index + 1..).unwrap_or_default();
        let waiting = |subject: &&MatchInput<'_>| {
            subject.command.runs != Runs::Never && waits(subject.command, behind(subject.index))
        };
        for subject in subjects.iter().filter(waiting) {
            let evidence = vec![super::evidence(field, subject.command.span)];
            self.coded_on(NativeRule::TypedUnseen, subject, &field.value, world, evidence);
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
