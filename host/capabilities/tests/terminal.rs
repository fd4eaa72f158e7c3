//! The shared terminal, on a private tmux server of each test's own, with real shells.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::sync::mpsc::unbounded_channel;
use toolgate_capabilities::{LocalTerminal, Typing, tmux_version};
use toolgate_host::CapabilityError;
use toolgate_host::capability::{Pane, Screen, Terminal, Wake};
use toolgate_test_support::skip::missing;

/// Refuses what holds this word, and remembers the rest.
const FORBIDDEN: &str = "forbidden";

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

/// What tells that a line is through; the shells say it at each prompt.
const PROMPT: &str = "prompt";

#[derive(Default)]
struct Judge(Mutex<Vec<(String, String)>>);

#[async_trait]
impl Typing for Judge {
    async fn judge(&self, line: &str, cwd: &str) -> Result<(), String> {
        if line.contains(FORBIDDEN) {
            return Err("it is forbidden".to_owned());
        }
        let mut judged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        judged.push((line.to_owned(), cwd.to_owned()));
        Ok(())
    }
}

/// A tmux server with one session, and the agent in its only pane.
struct Server {
    folder: tempfile::TempDir,
    own: String,
    judge: Arc<Judge>,
}

impl Server {
    /// None where there is no tmux or no such shell; the test is then skipped.
    #[track_caller]
    fn new(shell: &str) -> Option<Self> {
        let absent = ["tmux", shell].into_iter().find(|name| program(name).is_none());
        if let Some(name) = absent {
            missing(name, format!("{name} is not installed"));
        }
        let shell = program(shell).filter(|_| absent.is_none())?;
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut server = Server { folder, own: String::new(), judge: Arc::default() };
        for (profile, more) in [(".bash_profile", ""), (".zshrc", "setopt combiningchars\n")] {
            std::fs::write(server.at(profile), format!("PS1='$ '\nHISTFILE=\n{more}")).expect("a profile");
        }
        let history = ["set-option", "-g", "history-limit", "20000", ";"];
        let shell = ["set-option", "-g", "default-shell", shell.to_str().expect("UTF-8"), ";"];
        let agent = ["new-session", "-d", "-x", "161", "-y", "24", "-P", "-F", "#{pane_id}", "cat > typed"];
        server.own = server.tmux(&[&["start-server", ";"], &history[..], &shell, &agent].concat());
        Some(server)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("its real path").join(path)
    }

    fn text(&self, path: &str) -> String {
        self.at(path).to_str().expect("UTF-8").to_owned()
    }

    fn read(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.at(path)).unwrap_or_default()
    }

    fn command(&self, socket: &str) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-u", "-f", "/dev/null", "-S", &self.text(socket)]).current_dir(self.folder.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.folder.path());
        command.env("LC_ALL", "C.UTF-8").env("TERM", "screen");
        command
    }

    /// Runs tmux as the user would; what it says.
    fn tmux(&self, arguments: &[&str]) -> String {
        let output = self.command("socket").args(arguments).output().expect("tmux starts");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    fn with_target(&self, target: Option<&str>) -> LocalTerminal {
        let tmux = format!("{},1,0", self.text("socket"));
        LocalTerminal::new(&tmux, &self.own, target.map(str::to_owned), self.judge.clone()).expect("inside tmux")
    }

    fn terminal(&self) -> LocalTerminal {
        self.with_target(None)
    }

    /// A pane with a shell at its prompt.
    async fn pane(&self, terminal: &LocalTerminal) -> String {
        let pane = terminal.split(self.text("")).await.expect("a pane");
        until(terminal, &pane, |screen| screen.before_cursor == "$ ").await;
        pane
    }

    /// All that was judged since the last time.
    fn judged(&self) -> Vec<String> {
        let mut judged = self.judge.0.lock().unwrap_or_else(PoisonError::into_inner);
        judged.drain(..).map(|(line, _)| line).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for socket in ["socket", "outer"] {
            let _ = self.command(socket).arg("kill-server").output();
        }
    }
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Looks until something is so.
async fn look<T>(what: impl AsyncFn() -> Option<T>) -> T {
    let end = Instant::now() + LONG;
    loop {
        if let Some(found) = what().await {
            return found;
        }
        assert!(Instant::now() < end, "it never comes");
        tokio::task::yield_now().await;
    }
}

async fn until(terminal: &LocalTerminal, pane: &str, fits: impl Fn(&Screen) -> bool) -> Screen {
    let end = Instant::now() + LONG;
    loop {
        let screen = terminal.capture(pane.to_owned(), 0).await.expect("a screen");
        if fits(&screen) {
            return screen;
        }
        assert!(Instant::now() < end, "it never comes: {screen:?}");
    }
}

async fn pane(terminal: &LocalTerminal, id: &str) -> Pane {
    let panes = terminal.panes().await.expect("panes");
    panes.into_iter().find(|pane| pane.id == id).expect("the pane")
}

fn keys(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

fn is_denied<T>(answer: &Result<T, CapabilityError>) -> bool {
    matches!(answer, Err(CapabilityError::Denied(_)))
}

fn is_invalid<T>(answer: &Result<T, CapabilityError>) -> bool {
    matches!(answer, Err(CapabilityError::Invalid(_)))
}

/// Types a line, and waits until the shell is through with it.
async fn run(terminal: &LocalTerminal, pane: &str, line: &str) {
    let line = format!("{line}\n tmux wait-for -S {PROMPT}");
    terminal.send_text(pane.to_owned(), line, true).await.expect("typed");
    let woken = terminal.wait_for(pane.to_owned(), PROMPT.to_owned(), 20_000).await;
    let screen = terminal.capture(pane.to_owned(), 0).await;
    assert_eq!(woken, Ok(Wake::Signalled), "{screen:?}");
}

const TRAPS: &[&str] = &[
    ";",
    "a;",
    "\\;",
    "\\\\;",
    ";;",
    "-t",
    "--",
    "-",
    "#{pane_id}",
    "#(touch trap)",
    "$HOME",
    "~",
    "%1",
    "{",
    "}",
    "'",
    "\"",
    "`",
    "日本語 é e\u{301} 🙂",
    "a\u{a0}b",
    " lead",
    "trail ",
    "Enter",
    "C-c",
    "0x41",
    "a\nb\n",
    "\n",
    "a\tb",
];

#[tokio::test]
async fn text_gets_there_as_it_is() {
    let Some(server) = Server::new("bash") else { return };
    let terminal = server.terminal();
    let pane = server.pane(&terminal).await;
    let long = "0123456789abcde;".repeat(100 << 6);
    run(&terminal, &pane, "stty raw -echo").await;
    terminal.send_text(pane.clone(), "cat > got".to_owned(), true).await.expect("typed");
    look(async || server.at("got").exists().then_some(())).await;
    let mut expected = Vec::new();
    let mut check = async |text: &str| {
        expected.extend(text.replace('\n', "\r").bytes());
        look(async || (server.read("got").len() >= expected.len()).then_some(())).await;
        assert_eq!(server.read("got"), expected, "{text:?}");
    };
    for text in TRAPS.iter().copied().chain([&*long]) {
        terminal.send_keys(pane.clone(), keys(&["C-c"])).await.expect("pressed");
        check("\u{3}").await;
        terminal.paste(pane.clone(), text.to_owned()).await.expect("pasted");
        // On an empty line C-u goes first.
        check(&if text.is_empty() { String::new() } else { format!("\u{15}{text}") }).await;
        let tab = text.contains('\t');
        let sent = terminal.send_text(pane.clone(), text.to_owned(), true).await;
        assert_eq!(is_denied(&sent), tab, "{text:?} {sent:?}");
        check(&if tab { String::new() } else { format!("{text}\n") }).await;
    }
    terminal
        .send_keys(pane.clone(), keys(&["C-c", ";", "'", "\"", "\\", "日", "Space", "#", "$", "~", "Enter", "Up"]))
        .await
        .expect("pressed");
    check("\u{3};'\"\\日 #$~\n\u{1b}[A").await;
    assert!(!server.at("trap").exists());
}

#[tokio::test]
async fn a_paste_of_several_lines_is_one_text_to_a_shell() {
    for shell in ["bash", "zsh"] {
        let Some(server) = Server::new(shell) else { continue };
        let terminal = server.terminal();
        let pane = server.pane(&terminal).await;
        let text = "printf '%s' 'a\nb\tc;' > got\necho \"日本\" >> got; tmux wait-for -S done";
        terminal.paste(pane.clone(), text.to_owned()).await.expect("pasted");
        until(&terminal, &pane, |screen| screen.before_cursor.ends_with("-S done")).await;
        assert_eq!(server.read("got"), b"", "{shell}: nothing runs before Enter");
        assert_eq!(server.judged(), [text]);
        terminal.send_keys(pane.clone(), keys(&["Enter"])).await.expect("pressed");
        let woken = terminal.wait_for(pane.clone(), "done".to_owned(), 20_000).await;
        assert_eq!(woken, Ok(Wake::Signalled));
        assert_eq!(String::from_utf8_lossy(&server.read("got")), "a\nb\tc;日本\n", "{shell}");
        assert_eq!(server.judged(), <[&str; 0]>::default(), "{shell}: Enter only runs what was judged");
    }
}

#[tokio::test]
async fn control_characters_are_no_text() {
    let Some(server) = Server::new("bash") else { return };
    let terminal = server.terminal();
    let pane = server.pane(&terminal).await;
    for text in ["\u{18}\u{5}", "a\u{1b}[201~\rb", "\r", "\u{3}", "\0", "\u{7f}", "\u{9b}201~", "\u{85}"] {
        let (sent, pasted) = (
            terminal.send_text(pane.clone(), text.to_owned(), false).await,
            terminal.paste(pane.clone(), text.to_owned()).await,
        );
        assert!(is_invalid(&sent) && is_invalid(&pasted), "{text:?}: {sent:?} {pasted:?}");
    }
    assert_eq!(server.judged(), <[&str; 0]>::default());
}

#[tokio::test]
async fn only_the_panes_of_the_session_are_typed_into() {
    let Some(server) = Server::new("bash") else { return };
    let other = server.tmux(&["new-session", "-d", "-s", "other", "-P", "-F", "#{pane_id}", "cat"]);
    let named = server.tmux(&["new-session", "-d", "-s", "named", "-n", "w", "-P", "-F", "#{pane_id}", "cat"]);
    let terminal = server.with_target(Some("named:w.0"));
    let pane = server.pane(&terminal).await;
    let cases = [
        (&*pane, "typed"),
        (&*named, "typed"),
        (&*server.own, "denied"),
        (&*other, "denied"),
        ("%99", "denied"),
        ("{last}", "invalid"),
        ("!", "invalid"),
        ("", "invalid"),
        ("0.0", "invalid"),
        ("other:0", "invalid"),
        ("%1;", "invalid"),
        ("%1 ; kill-server", "invalid"),
    ];
    for (id, expected) in cases {
        let found = [
            terminal.send_text(id.to_owned(), "x".to_owned(), false).await,
            terminal.send_text(id.to_owned(), String::new(), true).await,
            terminal.paste(id.to_owned(), "x".to_owned()).await,
            terminal.send_keys(id.to_owned(), keys(&["C-l"])).await,
        ];
        for found in found {
            let found = match found {
                Ok(()) => "typed",
                Err(CapabilityError::Denied(_)) => "denied",
                Err(CapabilityError::Invalid(_)) => "invalid",
                Err(_) => "other",
            };
            assert_eq!(found, expected, "{id:?}");
        }
        assert_eq!(terminal.capture(id.to_owned(), 0).await.is_ok(), expected == "typed" || id == server.own, "{id:?}");
    }
    assert_eq!(server.read("typed"), b"");
    let ids: Vec<String> = terminal.panes().await.expect("panes").into_iter().map(|pane| pane.id).collect();
    assert_eq!(ids.iter().filter(|id| [&server.own, &pane, &named].contains(id)).count(), ids.len(), "{ids:?}");
    assert_eq!(terminal.target_pane().await, Ok(Some(named.clone())));
    assert_eq!(terminal.session().await, Ok("$0".to_owned()));
    server.tmux(&["kill-pane", "-t", &named]);
    let gone = terminal.panes().await;
    assert!(matches!(&gone, Err(CapabilityError::NotFound(why)) if why.contains(&named)), "{gone:?}");
    for target in ["named:w.0", "%99", "nowhere", "a;", ";"] {
        let found = server.with_target(Some(target)).panes().await;
        assert!(matches!(&found, Err(CapabilityError::NotFound(why)) if why.contains(target)), "{target}: {found:?}");
    }
}

#[tokio::test]
async fn what_is_refused_leaves_nothing_on_the_line() {
    for shell in ["bash", "zsh"] {
        let Some(server) = Server::new(shell) else { continue };
        let terminal = server.terminal();
        let pane = server.pane(&terminal).await;
        let send = async |text: &str, enter| terminal.send_text(pane.clone(), text.to_owned(), enter).await;
        let press = async |names: &[&str]| terminal.send_keys(pane.clone(), keys(names)).await;
        assert_eq!(send("touch ran-for", false).await, Ok(()));
        assert_eq!(send("bidden", false).await, Err(CapabilityError::Denied("it is forbidden".to_owned())));
        assert!(
            is_denied(&send("bidden", true).await) && is_denied(&press(&["b", "i", "d", "d", "e", "n", "Enter"]).await)
        );
        assert!(is_denied(&terminal.paste(pane.clone(), "bidden\n".to_owned()).await));
        until(&terminal, &pane, |screen| screen.before_cursor == "$ touch ran-for").await;
        assert_eq!(press(&["C-c"]).await, Ok(()));
        until(&terminal, &pane, |screen| screen.before_cursor == "$ ").await;
        assert_eq!(
            server.judged(),
            [
                "touch ran-for",
                "touch ran-forb",
                "touch ran-forbi",
                "touch ran-forbid",
                "touch ran-forbidd",
                "touch ran-forbidde"
            ]
        );
        // What keys bring onto the line is not run.
        run(&terminal, &pane, "echo older").await;
        assert_eq!(press(&["Up", "Up"]).await, Ok(()));
        until(&terminal, &pane, |screen| screen.before_cursor == "$ echo older").await;
        assert!(
            is_denied(&press(&["Enter"]).await)
                && is_denied(&send("", true).await)
                && is_denied(&send("x", false).await)
        );
        assert!(is_denied(&press(&["C-o"]).await) && is_denied(&press(&["Down", "M-a"]).await));
        assert!(is_invalid(&press(&["rm -rf /"]).await) && is_invalid(&press(&["0x0d"]).await));
        until(&terminal, &pane, |screen| screen.before_cursor == "$ echo older").await;
        assert_eq!(press(&["C-c"]).await, Ok(()));
        run(&terminal, &pane, "echo after > got").await;
        assert_eq!(server.read("got"), b"after\n");
    }
}

#[tokio::test]
async fn the_directory_of_the_shell_is_judged_with_the_text() {
    let Some(server) = Server::new("bash") else { return };
    let terminal = server.terminal();
    std::fs::create_dir_all(server.at("sub/deeper")).expect("a folder");
    let pane = server.pane(&terminal).await;
    let judged = || server.judge.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
    run(&terminal, &pane, "cd sub").await;
    terminal.send_text(pane.clone(), "ls".to_owned(), false).await.expect("typed");
    assert_eq!(judged(), Some(("ls".to_owned(), server.text("sub"))));
    terminal.send_keys(pane.clone(), keys(&["C-c"])).await.expect("pressed");
    run(&terminal, &pane, "cd deeper").await;
    terminal.send_keys(pane.clone(), keys(&["l", "s"])).await.expect("pressed");
    assert_eq!(judged(), Some(("ls".to_owned(), server.text("sub/deeper"))));
}

#[tokio::test]
async fn text_gets_only_to_the_pane_and_past_its_modes() {
    let Some(server) = Server::new("bash") else { return };
    let terminal = server.terminal();
    let pane = server.pane(&terminal).await;
    let denied = async |case: &str| {
        let sent = terminal.send_text(pane.clone(), "touch ran".to_owned(), true).await;
        let pasted = terminal.paste(pane.clone(), "touch ran\n".to_owned()).await;
        let pressed = terminal.send_keys(pane.clone(), keys(&["C-c", "x", "Enter"])).await;
        assert!(
            is_denied(&sent) && is_denied(&pasted) && is_denied(&pressed),
            "{case}: {sent:?} {pasted:?} {pressed:?}"
        );
    };
    server.tmux(&["set-option", "-w", "-t", &pane, "synchronize-panes", "on"]);
    denied("copied to the agent").await;
    server.tmux(&["set-option", "-w", "-t", &pane, "-u", "synchronize-panes"]);
    server.tmux(&["select-pane", "-d", "-t", &pane]);
    denied("switched off").await;
    server.tmux(&["select-pane", "-e", "-t", &pane]);
    assert_eq!(server.tmux(&["list-buffers"]), "", "no text is left behind");
    // `q` would leave the mode, and the rest be a line of its own.
    server.tmux(&["copy-mode", "-t", &pane]);
    run(&terminal, &pane, "echo q touch ran > got").await;
    assert_eq!(server.read("got"), b"q touch ran\n");
    // Keys that come before the prompt are shown twice: by the terminal, and by the shell.
    until(&terminal, &pane, |screen| screen.before_cursor == "$ ").await;
    server.tmux(&["copy-mode", "-t", &pane]);
    terminal.send_keys(pane.clone(), keys(&["e", "c", "h", "o", "Space", "q"])).await.expect("pressed");
    until(&terminal, &pane, |screen| screen.before_cursor == "$ echo q").await;
    assert_eq!(server.read("typed"), b"");
    assert!(!server.at("ran").exists());
}

#[tokio::test]
async fn names_forge_no_pane_and_run_nothing() {
    let Some(server) = Server::new("bash") else { return };
    let terminal = server.terminal();
    let session = terminal.session().await.expect("a session");
    let names = [
        format!("a\n{session}\t%7\t1\t0\t1\t0\tsh\t/\n"),
        "#(touch ran)".to_owned(),
        "#{pane_id}".to_owned(),
        "#[fg=red]".to_owned(),
        "%H a;".to_owned(),
        " -t".to_owned(),
        "日本 é".to_owned(),
    ];
    for name in names {
        let folder = server.text(&name.replace('/', "-"));
        std::fs::create_dir(&folder).expect("a folder");
        let id = terminal.split(folder.clone()).await.expect("a pane");
        let found = look(async || Some(pane(&terminal, &id).await).filter(|pane| pane.cwd == folder)).await;
        assert!(!found.of_agent && !found.active, "{found:?}");
        assert_eq!(terminal.panes().await.expect("panes").len(), 2);
        assert_eq!(terminal.close(id).await, Ok(()));
    }
    assert!(!server.at("ran").exists());
    for folder in ["/nowhere", "", "relative", "."].map(str::to_owned) {
        let found = terminal.split(folder).await;
        assert!(matches!(found, Err(CapabilityError::NotFound(_))), "{found:?}");
    }
}

#[tokio::test]
async fn a_pane_is_split_off_beside_the_agents_without_the_focus() {
    let Some(server) = Server::new("sh") else { return };
    let terminal = server.terminal();
    let shared = server.pane(&terminal).await;
    let found = pane(&terminal, &shared).await;
    assert_eq!((&*found.command, found.active, found.full_screen), ("bash", false, false), "no shell of ours is sh");
    let own = pane(&terminal, &server.own).await;
    assert!(own.of_agent && own.active, "{own:?}");
    if cfg!(target_os = "linux") {
        let at_shell = async |expected| {
            look(async || (pane(&terminal, &shared).await.at_shell == Some(expected)).then_some(())).await;
        };
        // A key that comes before its reader has set the terminal up is lost, so what the reader shows is waited for.
        let shows = async |prompt| until(&terminal, &shared, |screen: &Screen| screen.before_cursor == prompt).await;
        at_shell(true).await;
        for (before, nested, ready) in [(0, "cat", ""), (1, "PS1='> ' bash --norc", "> ")] {
            terminal.send_text(shared.clone(), nested.to_owned(), true).await.expect("typed");
            at_shell(false).await;
            shows(ready).await;
            terminal.send_keys(shared.clone(), keys(&["C-d"])).await.expect("pressed");
            at_shell(true).await;
            shows("$ ").await;
            // After another key no text is typed until a C-c has cleared the line.
            terminal.send_keys(shared.clone(), keys(&["C-c"])).await.expect("pressed");
            let fresh = |screen: &Screen| screen.before_cursor == "$ " && screen.text.matches("^C").count() > before;
            until(&terminal, &shared, fresh).await;
        }
    }
    terminal.send_text(shared.clone(), "printf '\\33[?1049h'; cat".to_owned(), true).await.expect("typed");
    look(async || pane(&terminal, &shared).await.full_screen.then_some(())).await;
    let full = look(async || terminal.split(server.text("")).await.err()).await;
    assert!(matches!(&full, CapabilityError::Other(why) if why.contains("make it larger")), "{full:?}");
    // Only what was opened here is closed.
    let theirs = server.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", "cat"]);
    for pane in [&*theirs, &*server.own, "%99", "x"] {
        assert!(is_denied(&terminal.close(pane.to_owned()).await), "{pane}");
    }
    assert_eq!(terminal.close(shared.clone()).await, Ok(()));
    assert!(is_denied(&terminal.close(shared).await), "closed already");
}

#[tokio::test]
async fn dead_panes_are_left_out() {
    let Some(server) = Server::new("bash") else { return };
    let terminal = server.terminal();
    let pane = server.pane(&terminal).await;
    server.tmux(&["set-option", "-p", "-t", &pane, "remain-on-exit", "on"]);
    terminal.send_text(pane.clone(), "exit".to_owned(), true).await.expect("typed");
    look(async || (terminal.panes().await.expect("panes").len() == 1).then_some(())).await;
    assert!(is_denied(&terminal.send_text(pane.clone(), "x".to_owned(), false).await));
    assert_eq!(terminal.wait_for(pane, "x".to_owned(), 20_000).await, Ok(Wake::Closed));
}

#[tokio::test]
async fn a_screen_is_told_with_its_cursor() {
    for shell in ["bash", "zsh"] {
        let Some(server) = Server::new(shell) else { continue };
        let terminal = server.terminal();
        let pane = server.pane(&terminal).await;
        for text in ["echo 日本é e\u{301}x  ", &"long ".repeat(60), &"日本".repeat(90), "echo \"", "ls -l \\"] {
            let line = format!("$ {text}");
            terminal.paste(pane.clone(), text.to_owned()).await.expect("pasted");
            let screen = until(&terminal, &pane, |screen| screen.before_cursor == line).await;
            assert_eq!(screen.text.lines().last(), Some(line.trim_end()), "{shell}");
            assert_eq!((screen.width, screen.height, &*screen.below), (80, 24, ""));
            terminal.send_keys(pane.clone(), keys(&["C-c"])).await.expect("pressed");
            until(&terminal, &pane, |screen| screen.before_cursor == "$ ").await;
        }
        // The cursor in the middle of what is on the screen, and of a wrapped line.
        let wide = "x".repeat(100);
        let draw = format!(" clear; printf '%s\\n' a '' '{wide}' b; printf '\\33[4;3H'; read -r x");
        terminal.send_text(pane.clone(), draw, true).await.expect("typed");
        let screen = until(&terminal, &pane, |screen| screen.before_cursor.len() == 82).await;
        assert_eq!((screen.text, &*screen.below), (format!("a\n\n{wide}"), "b"), "{shell}");
        assert_eq!(screen.before_cursor, "x".repeat(82), "{shell}");
    }
}

#[tokio::test]
async fn what_has_scrolled_out_is_told_as_far_as_asked_for() {
    let Some(server) = Server::new("bash") else { return };
    let terminal = server.terminal();
    let pane = server.pane(&terminal).await;
    run(&terminal, &pane, "clear; seq 15000").await;
    until(&terminal, &pane, |screen| screen.before_cursor == "$ ").await;
    for (lines, least, most) in [(0, 0, 24), (100, 100, 124), (10_000, 10_000, 10_024), (u32::MAX, 10_000, 10_024)] {
        let screen = terminal.capture(pane.clone(), lines).await.expect("a screen");
        let count = screen.text.lines().count();
        assert!((least..=most).contains(&count) && screen.text.contains("\n15000\n"), "{lines}: {count}");
    }
    let line = "e\u{301}\u{302}\u{303}\u{304}".repeat(79);
    run(&terminal, &pane, &format!("yes {line} | head -n 9000")).await;
    let screen = terminal.capture(pane.clone(), 10_000).await.expect("a screen");
    assert!(screen.text.len() > 3 << 20 && screen.text.len() < 4 << 20, "{}", screen.text.len());
    // While a program writes, the parts still are of one moment.
    let draw = "while :; do printf '%s\\n' \"$RANDOM\" '' $RANDOM$RANDOM; printf '\\33[%d;%dH' $((RANDOM%24)) $((RANDOM%80)); done";
    terminal.send_text(pane.clone(), draw.to_owned(), true).await.expect("typed");
    for _ in 0..200 {
        terminal.capture(pane.clone(), 50).await.expect("a screen");
    }
}

#[tokio::test]
async fn a_wait_ends_with_the_first_thing_that_happens() {
    let Some(server) = Server::new("bash") else { return };
    let terminal = server.terminal();
    let pane = server.pane(&terminal).await;
    let wait = async |channel: &str, timeout| terminal.wait_for(pane.clone(), channel.to_owned(), timeout).await;
    server.tmux(&["wait-for", "-S", "before"]);
    assert_eq!(wait("before", 20_000).await, Ok(Wake::Signalled));
    assert_eq!(wait("before", 1).await, Ok(Wake::Timeout));
    terminal.send_text(pane.clone(), "tmux wait-for -S later".to_owned(), true).await.expect("typed");
    assert_eq!(wait("later", 20_000).await, Ok(Wake::Signalled));
    for channel in ["", "-S", "a b", "a;", "a\n", "é"] {
        assert!(is_invalid(&wait(channel, 1).await), "{channel:?}");
    }
    // Nobody wants the answer any more, now or later.
    let (woken, ()) = tokio::join!(wait("never", 20_000), async { terminal.cancel() });
    assert_eq!(woken, Ok(Wake::Cancelled));
    assert_eq!(wait("never", 20_000).await, Ok(Wake::Cancelled));
    terminal.resume();
    assert_eq!(wait("never", 1).await, Ok(Wake::Timeout));
    // The pane goes: its shell ends, it is killed, it is gone.
    let other = server.pane(&terminal).await;
    for (pane, end) in [(&pane, "exit"), (&other, "")] {
        let end = async {
            match end {
                "" => drop(server.tmux(&["kill-pane", "-t", pane])),
                line => terminal.send_text(pane.clone(), line.to_owned(), true).await.expect("typed"),
            }
        };
        let (woken, ()) = tokio::join!(terminal.wait_for(pane.clone(), "never".to_owned(), 20_000), end);
        assert_eq!(woken, Ok(Wake::Closed));
        assert_eq!(terminal.wait_for(pane.clone(), "never".to_owned(), 20_000).await, Ok(Wake::Closed));
    }
}

/// The processes that wait for a channel.
fn waiting(channel: &str) -> usize {
    let output = Command::new("ps").args(["-eo", "args"]).output().expect("ps");
    let output = String::from_utf8_lossy(&output.stdout);
    output.lines().filter(|line| line.ends_with(&format!("wait-for {channel}"))).count()
}

#[tokio::test]
async fn a_watch_tells_its_end_once() {
    let Some(server) = Server::new("bash") else { return };
    let nobody = server.terminal();
    let found = nobody.watch(server.own.clone(), "x".to_owned()).await;
    assert!(matches!(found, Err(CapabilityError::Unavailable(_))), "{found:?}");
    let (sender, mut signals) = unbounded_channel();
    let terminal = server.terminal().watching(sender);
    let pane = server.pane(&terminal).await;
    let unique = format!("watch-{}", std::process::id());
    let watch = async |channel: &str| terminal.watch(pane.clone(), channel.to_owned()).await.expect("a watch");
    watch("first").await;
    server.tmux(&["wait-for", "-S", "first"]);
    let signal = signals.recv().await.expect("a signal");
    assert_eq!((&signal.pane, &*signal.channel, signal.closed), (&pane, "first", false));
    // Another takes the place of the earlier one, which then is not told.
    watch("replaced").await;
    watch(&unique).await;
    look(async || (waiting("replaced") == 0 && waiting(&unique) == 1).then_some(())).await;
    watch(&unique).await;
    server.tmux(&["wait-for", "-S", "replaced"]);
    server.tmux(&["wait-for", "-S", &unique]);
    assert_eq!(signals.recv().await.expect("a signal").channel, unique);
    watch("never").await;
    server.tmux(&["kill-pane", "-t", &pane]);
    let signal = signals.recv().await.expect("a signal");
    assert_eq!((&*signal.channel, signal.closed), ("never", true));
    watch("gone").await;
    assert!(signals.recv().await.expect("a signal").closed);
    // All ends with the terminal.
    terminal.watch(server.own.clone(), unique.clone()).await.expect("a watch");
    look(async || (waiting(&unique) == 1).then_some(())).await;
    drop(terminal);
    look(async || (waiting(&unique) == 0).then_some(())).await;
    assert!(signals.recv().await.is_none());
}

#[tokio::test]
async fn variables_of_the_session_are_kept() {
    let Some(server) = Server::new("bash") else { return };
    let terminal = server.terminal();
    let get = async |name: &str| terminal.get_environment(name.to_owned()).await;
    let set = async |name: &str, value: &str| terminal.set_environment(name.to_owned(), value.to_owned()).await;
    assert_eq!(get("PI_X").await, Ok(None));
    for value in ["7 0 6 1", "", "-r", ";", "a;", "\\;", "a=b", "a\nb\n", "#{pane_id}", "$HOME", "日本"] {
        assert_eq!(set("PI_X", value).await, Ok(()), "{value:?}");
        assert_eq!(get("PI_X").await, Ok(Some(value.to_owned())), "{value:?}");
    }
    server.tmux(&["set-environment", "-r", "PI_X"]);
    assert_eq!(get("PI_X").await, Ok(None));
    for name in ["", "1", "-g", "A B", "A=B", "A;", "é", "A\n"] {
        assert!(is_invalid(&get(name).await) && is_invalid(&set(name, "x").await), "{name:?}");
    }
    for name in ["PATH", "LD_PRELOAD", "PROMPT_COMMAND", "BASH_ENV", "ZDOTDIR"] {
        assert!(is_denied(&set(name, "x").await), "{name}");
    }
    assert!(is_invalid(&set("PI_X", "a\0b").await));
    assert_eq!(set("PI_X", &"x".repeat(9_000)).await, Err(CapabilityError::TooLarge(8 << 10)));
    assert_eq!(set("PI_X", &"x".repeat(8 << 10)).await, Ok(()));
}

#[tokio::test]
async fn a_border_shows_text_and_runs_nothing() {
    let Some(server) = Server::new("bash") else { return };
    let terminal = server.terminal();
    let pane = server.pane(&terminal).await;
    // A client on a server of its own, whose only pane shows what the user sees.
    let attach = format!("TMUX= tmux -u -S {} attach", server.text("socket"));
    let outer = server.command("outer").args(["new-session", "-d", "-x", "161", "-y", "25", &attach]).status();
    assert!(outer.is_ok_and(|status| status.success()));
    let top = || {
        let output = server.command("outer").args(["capture-pane", "-p"]).output().expect("tmux starts");
        String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
    };
    let long = "a".repeat(300);
    let cases = [
        ("blocked: git push", "blocked: git push"),
        ("#(touch ran) %H", "#(touch ran) %H"),
        ("#[fg=red]#{pane_id} # ## ###", "#[fg=red]#{pane_id} # ## ###"),
        ("##(touch ran) ###(touch ran)", "##(touch ran) ###(touch ran)"),
        ("a;", "a;"),
        ("-u", " -u "),
        ("a\u{1b}]0;b\n", "a]0;b"),
        (&*long, "aaaaaaaa"),
    ];
    for (text, shown) in cases {
        terminal.show_in_border(&pane, Some(text)).await.expect("shown");
        look(async || top().contains(shown).then_some(())).await;
    }
    assert!(!server.at("ran").exists());
    let options = || {
        let format = server.tmux(&["show-options", "-p", "-q", "-t", &pane]);
        format + &server.tmux(&["show-options", "-w", "-q", "-t", &pane, "pane-border-status"])
    };
    assert_ne!(options(), "");
    terminal.show_in_border(&pane, None).await.expect("taken away");
    assert_eq!(options(), "");
    terminal.show_in_border(&pane, None).await.expect("nothing to take away");
    server.tmux(&["set-option", "-p", "-t", &pane, "pane-border-format", "mine #{pane_id};"]);
    server.tmux(&["set-option", "-w", "-t", &pane, "pane-border-status", "bottom"]);
    let before = options();
    terminal.show_in_border(&pane, Some("x")).await.expect("shown");
    terminal.show_in_border(&pane, None).await.expect("taken away");
    assert_eq!(options(), before);
    assert!(terminal.show_in_border("%99", Some("x")).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_holds_nobody() {
    let Some(server) = Server::new("bash") else { return };
    let (terminal, pid) = (server.terminal(), server.tmux(&["display-message", "-p", "#{pid}"]));
    let signal = |signal: &str| Command::new("kill").args([signal, &pid]).status().expect("kill").success();
    assert!(signal("-STOP"));
    // Time passes at once where everybody waits.
    let found = terminal.panes().await;
    assert!(signal("-CONT"));
    assert!(matches!(found, Err(CapabilityError::Timeout)), "{found:?}");
}

#[tokio::test]
async fn without_a_server_nothing_is_there() {
    let judge: Arc<Judge> = Arc::default();
    for (tmux, own) in [("", "%1"), ("/tmp/x", "%1"), ("x,1,0", "%1"), ("/tmp/x,1,0", ""), ("/tmp/x,1,0", "1")] {
        assert!(LocalTerminal::new(tmux, own, None, judge.clone()).is_none(), "{tmux} {own}");
    }
    if program("tmux").is_none() {
        return missing("tmux", "tmux is not installed");
    }
    assert!(tmux_version().await.is_ok_and(|version| version.starts_with("tmux ")));
    let folder = tempfile::tempdir().expect("a scratch folder");
    let socket = folder.path().join("a,b");
    let terminal = LocalTerminal::new(&format!("{},1,0", socket.display()), "%0", None, judge).expect("a terminal");
    let is_away = |error: Option<CapabilityError>| matches!(error, Some(CapabilityError::Unavailable(_)));
    assert!(is_away(terminal.session().await.err()) && is_away(terminal.panes().await.err()));
    assert!(is_away(terminal.send_text("%1".to_owned(), "x".to_owned(), true).await.err()));
    assert!(is_away(terminal.split(folder.path().display().to_string()).await.err()));
    assert!(!Path::new(&socket).exists(), "no server is started");
}
