//! Times `true` in the shared terminal, through `toolgate mcp` and through the calls of tmux that tmux-mirror makes for
//! it, in one run: figures are only worth comparing within it. Argument: how often each is run.
//!
//! "call" is the whole of it, with the gate's verdict and the typing for ours. "Enter" is from the moment in which the
//! shell has read the line, which the shell itself notes, to the answer. Both get the same shell with the same prompt, and
//! run it warm. Shares of the sequence: the panes, a capture, the directory, the text, Enter, the signal, the exit code,
//! 200 ms until the prompt is drawn, a capture.

use std::fs;
use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use toolgate_terminal_tests::Error;
use toolgate_terminal_tests::mcp::Client;
use toolgate_terminal_tests::scene::{SIZE, Scene};
use toolgate_terminal_tests::shell::{Prompt, SHELLS, Shell};
use toolgate_terminal_tests::wait::until;

/// How long tmux-mirror waits for the prompt to be drawn.
const DRAWN: Duration = Duration::from_millis(200);

/// Has the shell note the microsecond in which it has read a line, in a file that it writes before the prompt.
fn noting(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => {
            r#"one=x; PS0='${one:0:$((entered=${EPOCHREALTIME/./},0))}'; PROMPT_COMMAND='echo "${entered-}" >~/entered'"#
        }
        Shell::Zsh => {
            "zmodload zsh/datetime; preexec() { typeset -gF6 moment=$EPOCHREALTIME; entered=${moment/./} }; precmd() { echo \"${entered-}\" >~/entered }"
        }
    }
}

/// The hook of tmux-mirror, with its one channel.
fn hook(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => {
            r#"seq=0; pcmd() { local rc=$?; tmux set-environment PI_LAST_RC "$((++seq)) $rc"; tmux wait-for -S pi-prompt; return $rc; }; PROMPT_COMMAND="pcmd;$PROMPT_COMMAND"; clear"#
        }
        Shell::Zsh => {
            r#"typeset -gi seq; pcmd() { local rc=$?; tmux set-environment PI_LAST_RC "$((++seq)) $rc"; tmux wait-for -S pi-prompt; return $rc; }; precmd_functions=(pcmd $precmd_functions); clear"#
        }
    }
}

/// The whole time of a call, and that from Enter to the answer.
type Times = (Duration, Duration);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count = std::env::args().nth(1).map_or(Ok(50), |count| count.parse())?;
    let prompt = Prompt::named("two-line").ok_or("no such prompt")?;
    let mut out = io::stdout().lock();
    writeln!(out, "| {count} times `true` in ms | call, median | 95 % | Enter, median | 95 % |")?;
    writeln!(out, "|---|--:|--:|--:|--:|")?;
    for shell in SHELLS {
        let scene = Scene::with(shell, prompt, SIZE, noting(shell))?;
        let mut client = scene.server()?;
        let ours = timed(&scene, count, || ours(&mut client))?;
        row(&mut out, &format!("{}, toolgate mcp", shell.name()), ours)?;
        let scene = Scene::with(shell, prompt, SIZE, noting(shell))?;
        let pane = prepared(&scene)?;
        let theirs = timed(&scene, count, || theirs(&scene, &pane))?;
        row(&mut out, &format!("{}, the original's calls of tmux", shell.name()), theirs)?;
    }
    Ok(())
}

/// Runs it once to warm up, and then so many times.
fn timed(scene: &Scene, count: usize, mut run: impl FnMut() -> Result<(), Error>) -> Result<Vec<Times>, Error> {
    run()?;
    let mut last = entered(scene, UNIX_EPOCH)?;
    let one = |_| {
        let begin = Instant::now();
        run()?;
        let (whole, now) = (begin.elapsed(), SystemTime::now());
        last = entered(scene, last)?;
        Ok((whole, now.duration_since(last).unwrap_or_default()))
    };
    (0..count).map(one).collect()
}

/// When the shell read the line after the one that it read at `last`. It may still write that down.
fn entered(scene: &Scene, last: SystemTime) -> Result<SystemTime, Error> {
    until("the shell's note", || {
        let text = fs::read_to_string(scene.home().join("entered")).unwrap_or_default();
        // Half a number is a small one.
        let micros = text.strip_suffix('\n').and_then(|text| text.parse().ok());
        Ok(micros.map(|micros| UNIX_EPOCH + Duration::from_micros(micros)).filter(|entered| *entered > last))
    })
}

fn ours(client: &mut Client) -> Result<(), Error> {
    let answer = client.bash("true")?;
    if answer.exit() == Some(0) { Ok(()) } else { Err(Error::Nonsense(answer.result.to_string())) }
}

/// A pane with the hook of tmux-mirror.
fn prepared(scene: &Scene) -> Result<String, Error> {
    let pane = scene.users_pane()?;
    scene.tmux.line(&pane, &format!(" {}", hook(scene.shell)))?;
    until("the hook", || scene.tmux.variable("PI_LAST_RC"))?;
    scene.tmux.ask(["wait-for", "pi-prompt"])?;
    scene.until_prompt(&pane)?;
    Ok(pane)
}

fn theirs(scene: &Scene, pane: &str) -> Result<(), Error> {
    let tmux = &scene.tmux;
    let capture = || tmux.ask(["capture-pane", "-p", "-J", "-S", "-2000", "-t", pane]);
    let sequence = || Ok::<_, Error>(tmux.variable("PI_LAST_RC")?.unwrap_or_default());
    tmux.ask(["list-panes", "-s", "-F", "#{pane_id}"])?;
    let before = sequence()?;
    capture()?;
    tmux.ask(["display-message", "-p", "-t", pane, "#{pane_current_path}"])?;
    tmux.text(pane, "true")?;
    tmux.keys(pane, &["Enter"])?;
    tmux.ask(["wait-for", "pi-prompt"])?;
    while sequence()? == before {
        tmux.ask(["wait-for", "pi-prompt"])?;
    }
    thread::sleep(DRAWN);
    capture()?;
    Ok(())
}

fn row(out: &mut impl Write, name: &str, times: Vec<Times>) -> io::Result<()> {
    let (calls, enters): (Vec<_>, Vec<_>) = times.into_iter().unzip();
    let cells = [calls, enters].map(|mut times: Vec<Duration>| {
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).map_or(0.0, |time| time.as_secs_f64() * 1000.0);
        format!("{:.1} | {:.1}", at(50), at(95))
    });
    writeln!(out, "| {name} | {} |", cells.join(" | "))
}
