//! The shared terminal as a session has it: the tools of the component that drives it, run one after the other, and the
//! text that they type judged once more.
//!
//! The component has an instance of its own here. A command that takes its time delays no verdict: these are given by
//! other instances, and wait for nothing of this.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio::sync::mpsc::UnboundedReceiver;
use toolgate_agents::agent::{self, Dialect, SessionContext};
use toolgate_capabilities::{LocalClock, LocalTerminal, Typing};
use toolgate_gatekeeper::approvals::Approved;
use toolgate_gatekeeper::evaluator::Evaluator;
use toolgate_gatekeeper::hook_handler::{HookHandler, User};
use toolgate_gatekeeper::packs::Packs;
use toolgate_gatekeeper::plugin_tools::failed;
use toolgate_gatekeeper::plugins::Plugins;
use toolgate_gatekeeper::terminal_verdicts::{BORDER, Panes, TerminalVerdicts};
use toolgate_gatekeeper::watch::Watch;
use toolgate_host::capability::{LocalLog, Message, Ui};
use toolgate_host::{CallError, Capabilities, Plugin, ProvidedTool, Provider, Signal, ToolOutput, plain, shortened};

use crate::pane_lock::PaneLocks;

/// The exit code of a command that was cancelled.
const CANCELLED: i32 = 130;

/// How long a component has to end a command that is cancelled.
const CANCEL_GRACE: Duration = Duration::from_secs(10);

/// How long it has at the end of the session.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// Tools, and who is told of what happens.
#[async_trait]
pub(crate) trait Provides: Send + Sync {
    async fn tools(&self) -> Result<Vec<ProvidedTool>, CallError>;
    async fn run(&self, tool: &ProvidedTool, input: &str) -> Result<ToolOutput, CallError>;
    async fn signalled(&self, signal: &Signal);
    async fn timer(&self, id: &str);
    async fn shutdown(&self, reason: &str);
}

#[async_trait]
impl Provides for Provider {
    async fn tools(&self) -> Result<Vec<ProvidedTool>, CallError> {
        Provider::tools(self).await
    }

    async fn run(&self, tool: &ProvidedTool, input: &str) -> Result<ToolOutput, CallError> {
        Provider::run(self, tool, input).await
    }

    async fn signalled(&self, signal: &Signal) {
        Provider::signalled(self, signal).await;
    }

    async fn timer(&self, id: &str) {
        Provider::timer(self, id).await;
    }

    async fn shutdown(&self, reason: &str) {
        Provider::shutdown(self, reason).await;
    }
}

/// What a session is opened with.
pub(crate) struct Opening<'a> {
    pub(crate) agent: &'static dyn Dialect,
    pub(crate) plugin: &'a Plugin,
    pub(crate) packs: &'a Packs,
    pub(crate) plugins: &'a Plugins,
    pub(crate) scene: &'a SessionContext,
    /// Whether there is to be a pane at once.
    pub(crate) open: bool,
    /// Whether verdicts are shown in the pane's border.
    pub(crate) border: bool,
}

/// A tool that is to run.
pub(crate) struct Run<'a> {
    pub(crate) tool: &'a str,
    /// The agent's id of the call, as it was judged.
    pub(crate) id: &'a str,
    pub(crate) input: &'a Value,
    pub(crate) scene: SessionContext,
}

/// Judges what is typed.
pub(crate) struct Typist {
    agent: &'static dyn Dialect,
    packs: Packs,
    plugins: Plugins,
    judge: Evaluator,
    now: Mutex<Now>,
}

/// For whom something is typed.
#[derive(Clone, Default)]
struct Now {
    scene: SessionContext,
    id: String,
    approved: Approved,
}

impl Typist {
    /// For the calls of a session.
    pub(crate) fn new(opening: &Opening<'_>) -> Self {
        let Opening { agent, plugin, packs, plugins, scene, .. } = *opening;
        Typist {
            agent,
            packs: packs.clone(),
            plugins: plugins.clone(),
            judge: Evaluator::LongLived { plugin: Box::new(plugin.clone()), frames: None },
            now: Mutex::new(Now { scene: scene.clone(), ..Now::default() }),
        }
    }

    fn now(&self) -> std::sync::MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, scene: SessionContext, id: &str, approved: Approved) {
        *self.now() = Now { scene, id: id.to_owned(), approved };
    }

    fn end(&self) {
        let mut now = self.now();
        now.id.clear();
        now.approved = Approved::default();
    }
}

#[async_trait]
impl Typing for Typist {
    async fn judge(&self, line: &str, cwd: &str) -> Result<(), String> {
        let Now { mut scene, id, approved } = self.now().clone();
        // The rules of the agent's own project hold wherever the shell is.
        let mut call = agent::typed(self.agent, &scene, &id, line)?;
        cwd.clone_into(&mut call.cwd);
        cwd.clone_into(&mut scene.cwd);
        let Typist { agent, packs, plugins, judge, .. } = self;
        let desk = HookHandler {
            agent: *agent,
            packs,
            plugins,
            judge,
            watch: &Watch::Plugins,
            user: User::Nobody,
            terminal: None,
        };
        desk.typed(scene, call, &approved).await
    }
}

/// The shared terminal of a session.
pub(crate) struct SharedTerminal {
    provider: Arc<dyn Provides>,
    panes: Arc<dyn Panes>,
    typist: Arc<Typist>,
    verdicts: TerminalVerdicts,
    offered: OnceCell<Vec<ProvidedTool>>,
    turn: tokio::sync::Mutex<()>,
    /// The pane that the user has named for sharing.
    target: Option<String>,
    /// Whether the component opens a pane when it starts.
    open: bool,
    pane_locks: PaneLocks,
}

impl SharedTerminal {
    /// The terminal that this process is in, with a component that has not been started yet. None outside tmux.
    pub(crate) async fn open(
        opening: &Opening<'_>,
        ui: impl Ui + 'static,
        message: impl Message + 'static,
    ) -> Option<Arc<Self>> {
        let typist = Arc::new(Typist::new(opening));
        let (signals, ends) = tokio::sync::mpsc::unbounded_channel();
        let terminal = LocalTerminal::from_environment(typist.clone())?.watching(signals);
        let named = terminal.target().map(str::to_owned);
        // One that is not there is the component's to complain about.
        let target = terminal.target_pane().await.unwrap_or(named);
        let (due, called) = tokio::sync::mpsc::unbounded_channel();
        let granted = Capabilities::denied().terminal(terminal.clone()).ui(ui).message(message).log(LocalLog);
        let granted = granted.clock(LocalClock::waking(due));
        let (agent, open) = (opening.agent.name(), opening.open);
        let context = json!({ "schema": 1, "agent": agent, "target": target, "open": open });
        let session = opening.scene.session_in(&opening.scene.cwd).with_context(context.to_string());
        let provider = Arc::new(Provider::new(opening.plugin.clone(), session, granted));
        let shared = Self::with(provider, Arc::new(terminal), typist, opening, target, PaneLocks::of_user());
        tokio::spawn(tell(Arc::downgrade(&shared.provider), ends, called));
        Some(shared)
    }

    /// One of these parts.
    fn with(
        provider: Arc<dyn Provides>,
        panes: Arc<dyn Panes>,
        typist: Arc<Typist>,
        opening: &Opening<'_>,
        target: Option<String>,
        pane_locks: PaneLocks,
    ) -> Arc<Self> {
        let verdicts = TerminalVerdicts::new(&panes, target.clone(), opening.border);
        Arc::new(SharedTerminal {
            provider,
            panes,
            typist,
            verdicts,
            offered: OnceCell::new(),
            turn: tokio::sync::Mutex::default(),
            target,
            open: opening.open,
            pane_locks,
        })
    }

    /// What the verdicts on calls leave for it.
    pub(crate) fn verdicts(&self) -> &TerminalVerdicts {
        &self.verdicts
    }

    /// The tools that are offered.
    ///
    /// # Errors
    /// If the component fails, or another process drives the pane that it would open.
    pub(crate) async fn tools(&self) -> Result<&[ProvidedTool], CallError> {
        let offered = || async {
            if self.open {
                self.pane_locks.take(self.target.as_deref()).map_err(CallError::Request)?;
            }
            self.provider.tools().await
        };
        self.offered.get_or_try_init(offered).await.map(Vec::as_slice)
    }

    /// Whether this is one of its tools.
    pub(crate) async fn has(&self, tool: &str) -> bool {
        self.tools().await.is_ok_and(|tools| tools.iter().any(|one| one.name == tool))
    }

    /// Runs a tool. Whatever goes wrong is an output that says so. The call has been judged; what was let through for it
    /// counts for this run.
    pub(crate) async fn run(&self, run: Run<'_>, cancelled: impl Future<Output = ()>) -> ToolOutput {
        let tools = match self.tools().await {
            Ok(tools) => tools,
            Err(error) => return failed(error.to_string()),
        };
        let Some(tool) = tools.iter().find(|tool| tool.name == run.tool) else {
            return failed(format!("unknown tool {}", shortened(&plain(run.tool), BORDER)));
        };
        let command = run.input.get("command").and_then(Value::as_str).unwrap_or_default();
        let approved = self.verdicts.approvals().take(run.id, command);
        let input = run.input.to_string();
        let mut cancelled = std::pin::pin!(cancelled);
        if tool.alongside {
            return tokio::select! {
                output = self.provider.run(tool, &input) => output.unwrap_or_else(|error| failed(error.to_string())),
                () = &mut cancelled => stopped(command),
            };
        }
        let _turn = tokio::select! {
            turn = self.turn.lock() => turn,
            () = &mut cancelled => return stopped(command),
        };
        if let Err(why) = self.pane_locks.take(self.target.as_deref()) {
            return failed(why);
        }
        self.typist.begin(run.scene, run.id, approved);
        let _running = Running(self);
        let mut work = self.provider.run(tool, &input);
        let output = tokio::select! {
            output = &mut work => output,
            () = cancelled => {
                self.panes.cancel();
                // One that does not end by then is dropped, and with it its instance.
                match tokio::time::timeout(CANCEL_GRACE, work).await {
                    Ok(output) => output,
                    Err(_) => return stopped(command),
                }
            }
        };
        let output = output.unwrap_or_else(|error| failed(error.to_string()));
        self.typed_into(&output);
        output
    }

    /// Remembers the pane that a tool says it has used.
    fn typed_into(&self, output: &ToolOutput) {
        let details: Value = serde_json::from_str(&output.details).unwrap_or_default();
        let Some(pane) = details.get("pane").and_then(Value::as_str) else { return };
        if let Err(why) = self.pane_locks.take(Some(pane)) {
            tracing::warn!(pane, why, "another process also controls the pane");
        }
        self.verdicts.typed_into(pane);
    }

    /// Ends the session, and what it still waits for.
    pub(crate) async fn shutdown(&self, reason: &str) {
        self.panes.cancel();
        let ended = async {
            let _turn = self.turn.lock().await;
            self.provider.shutdown(reason).await;
            if let Some(pane) = self.verdicts.bordered() {
                // A pane that is gone shows nothing any more.
                let _ = self.panes.show_in_border(&pane, None).await;
            }
        };
        if tokio::time::timeout(SHUTDOWN_GRACE, ended).await.is_err() {
            tracing::warn!("the shared terminal was not changed");
        }
        let _ = tokio::time::timeout(SHUTDOWN_GRACE, self.panes.end()).await;
    }
}

/// Waits until this process is told to end, so that nothing it has started is left behind.
pub(crate) async fn told_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::terminate()];
    let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    std::future::poll_fn(|context| {
        let told = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
        if told { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

/// Forgets what was let through for a run when that ends, however it ends.
struct Running<'a>(&'a SharedTerminal);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.typist.end();
        self.0.panes.resume();
    }
}

/// Tells a component what happens, until it is gone.
async fn tell(
    provider: Weak<dyn Provides>,
    mut signals: UnboundedReceiver<Signal>,
    mut timers: UnboundedReceiver<String>,
) {
    loop {
        tokio::select! {
            Some(signal) = signals.recv() => match provider.upgrade() {
                Some(provider) => provider.signalled(&signal).await,
                None => return,
            },
            Some(id) = timers.recv() => match provider.upgrade() {
                Some(provider) => provider.timer(&id).await,
                None => return,
            },
            else => return,
        }
    }
}

/// The output of a tool that did not run to its end because nobody wants to know any more.
fn stopped(command: &str) -> ToolOutput {
    let details = json!({ "schema": 1, "command": command, "exitCode": CANCELLED }).to_string();
    ToolOutput::error("Cancelled").with_details(details)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use toolgate_agents::agent::mcp::Mcp;
    use toolgate_gatekeeper::gate_builder;
    use toolgate_host::capability::Answer;
    use toolgate_host::{Decision, Session, Verdict};

    use super::*;

    /// A component that types one line and waits until it is told to end.
    struct Fake {
        typist: Arc<Typist>,
        panes: Arc<FakePanes>,
        line: &'static str,
        waits: bool,
        typing: Notify,
    }

    #[derive(Default)]
    struct FakePanes {
        cancelled: Notify,
        resumed: AtomicUsize,
        shown: Mutex<Vec<Option<String>>>,
        drawn: Notify,
    }

    #[async_trait]
    impl Panes for FakePanes {
        fn cancel(&self) {
            self.cancelled.notify_one();
        }

        fn resume(&self) {
            self.resumed.fetch_add(1, Ordering::Relaxed);
        }

        async fn show_in_border(&self, pane: &str, text: Option<&str>) -> Answer<()> {
            assert_eq!(pane, "%7");
            self.shown.lock().expect("no panic").push(text.map(str::to_owned));
            self.drawn.notify_one();
            Ok(())
        }

        async fn end(&self) {}
    }

    fn provided(name: &str, alongside: bool) -> ProvidedTool {
        let mut tool = ProvidedTool::new(name);
        tool.alongside = alongside;
        tool
    }

    #[async_trait]
    impl Provides for Fake {
        async fn tools(&self) -> Result<Vec<ProvidedTool>, CallError> {
            Ok(vec![provided("bash", false), provided("read_terminal", true), provided("broken", false)])
        }

        async fn run(&self, tool: &ProvidedTool, _input: &str) -> Result<ToolOutput, CallError> {
            let output = |text: String| Ok(ToolOutput::new(text).with_details(r#"{"schema":1,"pane":"%7"}"#));
            match tool.name.as_str() {
                "read_terminal" => output("screen".to_owned()),
                "broken" => Err(CallError::Deadline),
                _ => {
                    let typed = self.typist.judge(self.line, "/none").await;
                    self.typing.notify_one();
                    if self.waits {
                        self.panes.cancelled.notified().await;
                        return output("interrupted".to_owned());
                    }
                    output(typed.map_or_else(|why| format!("denied: {why}"), |()| "typed".to_owned()))
                }
            }
        }

        async fn signalled(&self, _signal: &Signal) {}
        async fn timer(&self, _id: &str) {}
        async fn shutdown(&self, _reason: &str) {}
    }

    /// Set for a test that is to have a home of its own.
    const ALONE: &str = "TOOLGATE_TEST_ALONE";

    /// Whether this process is one with a home of its own. If not, the test is run in such a process: nobody's rules are to be
    /// in force, and nobody's log is to be written.
    fn alone(test: &str) -> bool {
        if std::env::var_os(ALONE).is_some() {
            return true;
        }
        let home = tempfile::tempdir().expect("a scratch folder");
        let program = std::env::current_exe().expect("this program");
        let ended = std::process::Command::new(program)
            .args(["--exact", &format!("shared_terminal::tests::{test}"), "--nocapture"])
            .env_clear()
            .envs([("HOME", home.path()), (ALONE, std::path::Path::new("1"))])
            .status();
        assert!(ended.expect("it starts").success(), "{test}");
        false
    }

    struct Parts {
        shared: Arc<SharedTerminal>,
        panes: Arc<FakePanes>,
        fake: Arc<Fake>,
        plugin: Plugin,
    }

    fn scene() -> SessionContext {
        SessionContext { cwd: "/none".to_owned(), root: "/none".to_owned(), ..SessionContext::default() }
    }

    fn parts(line: &'static str, waits: bool) -> Parts {
        let plugin = gate_builder::default_plugin().expect("a plugin");
        let opening = Opening {
            agent: &Mcp,
            plugin: &plugin,
            packs: &Packs::default(),
            plugins: &Plugins::default(),
            scene: &scene(),
            open: false,
            border: true,
        };
        let typist = Arc::new(Typist::new(&opening));
        let panes = Arc::new(FakePanes::default());
        let (typing, of_fake) = (Notify::new(), Arc::clone(&panes));
        let fake = Arc::new(Fake { typist: Arc::clone(&typist), panes: of_fake, line, waits, typing });
        let shared = SharedTerminal::with(
            fake.clone(),
            panes.clone(),
            typist,
            &opening,
            Some("%7".to_owned()),
            PaneLocks::default(),
        );
        Parts { shared, panes, fake, plugin }
    }

    async fn run(shared: &SharedTerminal, tool: &str, command: &str) -> ToolOutput {
        let run = Run { tool, id: "1", input: &json!({ "command": command }), scene: scene() };
        shared.run(run, std::future::pending()).await
    }

    /// What a verdict on the command leaves behind that a person has let pass.
    async fn approve(parts: &Parts, command: &str) {
        let call = agent::typed(&Mcp, &scene(), "1", command).expect("a call");
        let gate = toolgate_host::Gate::new(
            parts.plugin.clone(),
            Session::in_folder("/none"),
            gate_builder::granted(
                toolgate_host::capability::LocalFiles::new(),
                None,
                &toolgate_host::ExtensionRegistry::default(),
            ),
        );
        let judged = gate.judge(&call).await;
        assert!(!matches!(judged.decision, Decision::Pass), "{judged:?}");
        parts.shared.verdicts().approvals().note(&call, &judged, &Verdict::pass());
    }

    #[tokio::test]
    async fn what_is_typed_is_judged_and_asked_about_once() {
        if !alone("what_is_typed_is_judged_and_asked_about_once") {
            return;
        }
        // What is let through, what the tool is run with, what it types, and whether it may.
        let push = "git push --force";
        let cases = [
            (None, "ls", "ls", true),
            (None, "ls", "rm -rf ~", false),
            (None, push, push, false),
            (Some(push), push, push, true),
            (Some(push), push, "{ git push --force\n}", true),
            (Some(push), push, "git push --force; rm -rf ~", false),
            (Some(push), push, "git push --force; git push --force", false),
            (Some(push), push, "git push --force origin other", false),
            // Approved for another call.
            (Some(push), "git  push --force", push, false),
        ];
        for (approved, command, line, expected) in cases {
            let parts = parts(line, false);
            if let Some(approved) = approved {
                approve(&parts, approved).await;
            }
            let output = run(&parts.shared, "bash", command).await.text;
            assert_eq!(output == "typed", expected, "{approved:?} {command} {line}: {output}");
            let again = run(&parts.shared, "bash", command).await.text;
            assert_eq!(again == "typed", expected && approved.is_none(), "forgotten with the run: {again}");
        }
    }

    #[tokio::test]
    async fn tools_that_are_not_there_or_fail_are_errors() {
        let parts = parts("ls", false);
        let cases = [
            ("bash", false, "typed"),
            ("read_terminal", false, "screen"),
            ("other", true, "unknown tool other"),
            ("broken", true, "the component exceeded its computing time"),
        ];
        for (tool, is_error, text) in cases {
            let output = run(&parts.shared, tool, "ls").await;
            assert_eq!((output.is_error, output.text.as_str()), (is_error, text));
        }
    }

    /// A command that takes its time holds up neither a verdict nor a look at the terminal, and only the next one waits.
    #[tokio::test]
    async fn a_long_command_delays_no_verdict_and_can_be_cancelled() {
        if !alone("a_long_command_delays_no_verdict_and_can_be_cancelled") {
            return;
        }
        let Parts { shared, panes, fake, plugin } = parts("sleep 120", true);
        let (cancel, cancelled) = tokio::sync::oneshot::channel::<()>();
        let first = {
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                let run = Run { tool: "bash", id: "1", input: &json!({ "command": "sleep 120" }), scene: scene() };
                shared.run(run, async { drop(cancelled.await) }).await
            })
        };
        fake.typing.notified().await;
        assert_eq!(run(&shared, "read_terminal", "").await.text, "screen");
        let (packs, plugins) = (&Packs::default(), &Plugins::default());
        let judge = &Evaluator::LongLived { plugin: Box::new(plugin), frames: None };
        let (watch, terminal) = (&Watch::Plugins, Some(shared.verdicts()));
        let desk = HookHandler { agent: &Mcp, packs, plugins, judge, watch, user: User::Nobody, terminal };
        let payload =
            toolgate_agents::agent::mcp::payload(("", "/none"), "2", "bash", &json!({ "command": "rm -rf ~" }), false);
        let said = desk.answer(None, payload.to_string().as_bytes()).await;
        assert!(said.contains("\"block\":true"), "{said}");
        // It is said in the border.
        panes.drawn.notified().await;
        let shown = panes.shown.lock().expect("no panic").clone();
        assert!(shown.iter().flatten().any(|text| text.starts_with("blocked: ")), "{shown:?}");
        // One that waits for its turn is cancelled without having run.
        let waiting = Run { tool: "bash", id: "3", input: &json!({ "command": "ls" }), scene: scene() };
        let output = shared.run(waiting, async {}).await;
        assert_eq!((output.text.as_str(), output.is_error), ("Cancelled", true));
        assert!(output.details.contains("\"exitCode\":130"), "{}", output.details);
        assert_eq!(panes.resumed.load(Ordering::Relaxed), 0, "the first still runs");
        cancel.send(()).expect("it runs");
        assert_eq!(first.await.expect("no panic").text, "interrupted");
        assert_eq!(panes.resumed.load(Ordering::Relaxed), 1);
    }
}
