//! Runs commands in real panes and writes what they showed to `captures.jsonl`: before anything was typed, with the
//! command typed, and at the next prompt. The parser of the component is tried on them as text. What the output must be
//! stands below, not in the panes. Argument: the file, else `tests/terminal/captures.jsonl`.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use toolgate_terminal_tests::Error;
use toolgate_terminal_tests::capture::{Capture, Record, capture};
use toolgate_terminal_tests::shell::{Prompt, SHELLS, Shell};
use toolgate_terminal_tests::tmux::Tmux;
use toolgate_terminal_tests::wait::until;

/// What is run: a name, what is typed, what it writes, its exit code. What has line breaks is pasted.
type Case = (&'static str, &'static str, &'static str, u8);

const SIMPLE: Case = ("simple", "echo hello", "hello", 0);
const SILENT: Case = ("silent", "true", "", 0);
const FAILS: Case = ("fails", "ls no-such-file 2>&1 | sed 's/.*: //'; (exit 3)", "No such file or directory", 3);
const LINES: Case = ("lines", "printf 'one\\n\\n  three  \\n\\n'", "one\n\n  three", 0);
const PARTIAL: Case = ("partial", "printf foo", "foo", 0);
const PROMPT: Case = ("like-a-prompt", "printf '$ ls\\n%% ls\\n❯ ls\\nfile\\n'", "$ ls\n% ls\n❯ ls\nfile", 0);
const WIDE: Case = ("wide", "printf '日本語 e\\xcc\\x81 👍 done\\n'", "日本語 e\u{301} 👍 done", 0);
const COLOURED: Case = ("coloured", "printf '\\033[31mred\\033[0m and \\033[1mbold\\033[0m\\n'", "red and bold", 0);
const PROGRESS: Case = ("progress", "printf '10%%\\r50%%\\r100%%\\n'", "100%", 0);
const CLEAR: Case = ("clear", "echo gone; clear; echo left", "left", 0);
const SCROLLS: Case = (
    "scrolls",
    "seq -s ' ' 1 20; for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do echo line $n; done",
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\nline 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n\
     line 9\nline 10\nline 11\nline 12\nline 13\nline 14",
    0,
);
const LONG: Case = (
    "long",
    "echo 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    0,
);
/// With a prompt of two columns it ends where the row does.
const ROW: Case = (
    "row",
    "echo 01234567890123456789012345678901234567890123456789012345678901234",
    "01234567890123456789012345678901234567890123456789012345678901234",
    0,
);
const COMPOUND: Case = ("compound", "{\ncat <<'EOF'\n  a\nEOF\necho b\n}", "  a\nb", 0);
const NOTHING_FOUND: Case = ("not-found", "(exit 127)", "", 127);
const QUOTED: Case = ("quoted", "echo 'first\nsecond'", "first\nsecond", 0);

/// Which of them are run one after the other in a pane with this prompt.
#[rustfmt::skip]
const PANES: &[(&str, &[Case])] = &[
    ("plain", &[SIMPLE, SILENT, FAILS, LINES, PARTIAL, PROMPT, WIDE, COLOURED, PROGRESS, LONG, ROW, COMPOUND, QUOTED, SCROLLS, CLEAR]),
    ("two-line", &[SIMPLE, SILENT, LINES, PARTIAL, PROMPT, LONG, ROW, COMPOUND, CLEAR]),
    ("coloured", &[SIMPLE, PARTIAL, COMPOUND]),
    ("right", &[SIMPLE, SILENT, FAILS, LONG, COMPOUND, SCROLLS]),
    ("blank-line", &[SIMPLE, SILENT, LINES, PARTIAL, COMPOUND]),
    ("no-symbol", &[SIMPLE, SILENT, PARTIAL, COMPOUND]),
    ("exit-code", &[SIMPLE, FAILS, SILENT, NOTHING_FOUND]),
    ("branch", &[SIMPLE, WIDE, PARTIAL]),
    ("frame", &[SIMPLE, SILENT, FAILS, PARTIAL, PROMPT, LONG, COMPOUND, SCROLLS, CLEAR]),
];

/// Counts the prompts in a variable of the session, with the exit code of what ran before, as the hook does.
const HOOKS: [&str; 2] = [
    r#"seq=0; hook() { local rc=$?; tmux set-environment HOOK "$((++seq)) $rc"; return $rc; }; PROMPT_COMMAND=hook; cd ~/project"#,
    r#"typeset -gi seq; hook() { local rc=$?; tmux set-environment HOOK "$((++seq)) $rc"; return $rc; }; precmd_functions=(hook); cd ~/project"#,
];

const WIDTH: u32 = 72;
const HEIGHT: u32 = 24;

fn main() -> Result<(), Error> {
    let default = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/captures.jsonl"));
    let file = std::env::args_os().nth(1).map_or_else(default, PathBuf::from);
    let (mut lines, mut count) = (String::new(), 0);
    for shell in SHELLS {
        for (prompt, cases) in PANES {
            let prompt = Prompt::named(prompt).ok_or_else(|| Error::Nonsense(format!("no prompt {prompt}")))?;
            for record in Pane::open(shell, prompt)?.records(cases)? {
                lines.push_str(&serde_json::to_string(&record).map_err(io::Error::from)?);
                lines.push('\n');
                count += 1;
            }
        }
    }
    fs::write(&file, lines)?;
    writeln!(io::stdout(), "{count} in {}", file.display())?;
    Ok(())
}

struct Pane {
    shell: Shell,
    prompt: &'static Prompt,
    tmux: Tmux,
    id: String,
    /// Kept until the server has ended.
    _folder: tempfile::TempDir,
}

impl Pane {
    fn open(shell: Shell, prompt: &'static Prompt) -> Result<Self, Error> {
        let folder = tempfile::tempdir()?;
        prompt.lay_out(folder.path(), HOOKS)?;
        let tmux = Tmux::start(folder.path(), folder.path(), shell, (WIDTH, HEIGHT), &[])?;
        let id = tmux.panes()?.pop().unwrap_or_default();
        Ok(Pane { shell, prompt, tmux, id, _folder: folder })
    }

    fn records(&self, cases: &[Case]) -> Result<Vec<Record>, Error> {
        let mut before = self.prompted(1)?.1;
        let mut records = Vec::new();
        for (number, &(name, command, output, expected)) in cases.iter().enumerate() {
            let name = format!("{} {} {name}", self.shell.name(), self.prompt.name);
            let typed = self.typed(command)?;
            self.tmux.keys(&self.id, &["Enter"])?;
            let (exit, after) = self.prompted(number + 2)?;
            if exit != expected {
                return Err(self.tmux.with_panes(Error::Nonsense(format!("{name}: {exit}, not {expected}"))));
            }
            let (shell, prompt) = (self.shell.name().to_owned(), self.prompt.name.to_owned());
            let (command, output) = (command.to_owned(), output.to_owned());
            let next = after.clone();
            records.push(Record {
                name,
                shell,
                prompt,
                width: WIDTH,
                height: HEIGHT,
                command,
                before,
                typed,
                after,
                output,
                exit,
            });
            before = next;
        }
        Ok(records)
    }

    /// Waits for the prompt of this number, and for all of it to be drawn.
    fn prompted(&self, number: usize) -> Result<(u8, Capture), Error> {
        let exit = until(&format!("prompt {number}"), || {
            let hook = self.tmux.variable("HOOK")?.unwrap_or_default();
            let (counted, exit) = hook.split_once(' ').unwrap_or_default();
            Ok(exit.parse::<u8>().ok().filter(|_| counted == number.to_string()))
        });
        let exit = exit.map_err(|error| self.tmux.with_panes(error))?;
        let drawn = |capture: &Capture| {
            let line = capture.text.rsplit('\n').next().unwrap_or_default();
            self.prompt.is_drawn(self.shell, &capture.before_cursor, line)
        };
        Ok((exit, self.once("a prompt", drawn)?))
    }

    /// Types or pastes, and waits until all of it is there.
    fn typed(&self, command: &str) -> Result<Capture, Error> {
        let pasted = command.contains('\n');
        let (tmux, id) = (&self.tmux, &self.id);
        (if pasted { tmux.paste(id, command) } else { tmux.text(id, command) })?;
        // zsh breaks a long line itself, so that tmux does not know that it is one.
        let end = command.rsplit('\n').next().unwrap_or_default();
        let end = end.char_indices().nth_back(9).map_or(end, |(at, _)| &end[at..]);
        self.once(command, |capture| capture.before_cursor.ends_with(end) || capture.text.trim_end().ends_with(end))
    }

    fn once(&self, what: &str, so: impl Fn(&Capture) -> bool) -> Result<Capture, Error> {
        let look = || Ok(Some(capture(&self.tmux, &self.id)?).filter(&so));
        until(what, look).map_err(|error| self.tmux.with_panes(error))
    }
}
