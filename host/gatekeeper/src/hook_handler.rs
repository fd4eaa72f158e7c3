//! From an event to its answer, whatever the agent: judged, decided, logged, said.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use serde_json::Value;
use toolgate_agents::agent::{
    Answer, Asks, Dialect, Event, EventPayload, HookEvent, HookKind, Payload, SessionContext, note, reason_text,
};
use toolgate_agents::dirs;
use toolgate_agents::text::place;
use toolgate_host::audit::{Audit, Circumstances, NoAudit, Outcome, Record};
use toolgate_host::{Decided, Decision, Diagnostic, Level, Person, Policy, ToolCall, ToolKind, Verdict, plain};

use crate::approvals::Approved;
use crate::evaluator::Evaluator;
use crate::frames::Frames;
use crate::gates::GateKind;
use crate::judge::{Judged, Question};
use crate::packs::Packs;
use crate::plugins::Plugins;
use crate::session::{self, SessionState};
use crate::terminal_verdicts::TerminalVerdicts;
use crate::watch::{ObservedEvent, Watch};
use crate::{ancestry, denial_help, gate_builder, hook_files, hook_heartbeat, observers, path_hints, saving};
use toolgate_host::user_env;

/// How long a call's path hints may take. The answer, which waits for them, does not depend on them.
const HINTS_TIMEOUT: Duration = Duration::from_secs(1);

/// Why a session that goes on says that it starts. The agent may be elsewhere by then.
const GOES_ON: &str = "compact";

/// Where an agent's events are answered.
pub struct HookHandler<'a> {
    /// The agent.
    pub agent: &'static dyn Dialect,
    /// Which packs are on.
    pub packs: &'a Packs,
    /// Which plugins judge and look as well.
    pub plugins: &'a Plugins,
    /// Who gives verdicts.
    pub judge: &'a Evaluator,
    /// Who looks at what happens.
    pub watch: &'a Watch,
    /// Through what its user is asked and told.
    pub user: User,
    /// What is left for the terminal that calls go on to, if this process has one.
    pub terminal: Option<&'a TerminalVerdicts>,
}

/// Through what the agent's user is asked and told.
#[derive(Clone)]
pub enum User {
    /// The agent does not listen while it waits.
    Nobody,
    /// A shim.
    Shim(Frames),
    /// A client of the Model Context Protocol.
    Client(Client),
}

/// Who is asked by a client of the Model Context Protocol.
#[derive(Clone)]
pub struct Client(Arc<dyn Person>);

impl Client {
    /// Somebody who is asked like this.
    pub fn new(person: impl Person + 'static) -> Self {
        Client(Arc::new(person))
    }
}

#[async_trait]
impl Person for Client {
    async fn confirm(&self, question: &toolgate_host::Question<'_>, deadline: Duration) -> bool {
        self.0.confirm(question, deadline).await
    }
}

/// A payload as JSON. An error is a reason not to run whatever was asked about.
pub fn parsed(payload: &[u8]) -> Result<Value, String> {
    let payload = std::str::from_utf8(payload).map_err(|_| "the payload is not UTF-8 text".to_owned())?;
    // Some shells and editors put a mark before it.
    let payload = payload.strip_prefix('\u{feff}').unwrap_or(payload);
    if payload.trim().is_empty() {
        return Err("no payload: standard input is empty".to_owned());
    }
    serde_json::from_str(payload).map_err(|error| format!("the payload is not JSON: {error}"))
}

/// What a payload says. An error is a reason not to run whatever was asked about.
pub(crate) fn read(agent: &dyn Dialect, event: Option<&str>, payload: &Value) -> Result<Event, String> {
    agent.decode(event, &Payload::new(payload, &|name| std::env::var(name).ok()))
}

/// What becomes of a call.
struct CallOutcome {
    verdict: Verdict,
    /// Names a denial that a person can lift.
    denial: Option<String>,
    /// What the user is to see.
    message: Option<String>,
}

impl CallOutcome {
    fn answer(&self) -> Answer {
        match (verdict_answer(&self.verdict), &self.denial) {
            (Answer::Deny(reason), Some(id)) => {
                Answer::Deny(format!("{}. {}", reason.trim_end_matches('.'), denial_help::text(id, &self.verdict)))
            }
            (said, _) => said,
        }
    }
}

impl HookHandler<'_> {
    /// The answer to a payload, as the agent understands it. Empty for nothing at all.
    pub async fn answer(&self, event: Option<&str>, payload: &[u8]) -> String {
        self.answer_to(event, parsed(payload)).await
    }

    /// The same to one that was read, or could not be.
    pub async fn answer_to(&self, event: Option<&str>, payload: Result<Value, String>) -> String {
        let unreadable = self.agent.unreadable(event);
        let event = match payload.and_then(|payload| read(self.agent, event, &payload)) {
            Ok(event) => event,
            // What came of a call that ran is nobody's danger.
            Err(why) if !unreadable.when.gates() => {
                tracing::warn!(agent = self.agent.name(), event = unreadable.name, why, "payload not read");
                return self.agent.encode(&unreadable, &Answer::Nothing, None);
            }
            Err(why) => return self.refused(&unreadable, &refusal("payload", &why), None).await,
        };
        let Event { moment, scene, mut about } = event;
        // A session that starts is in its folder; later it may be elsewhere.
        let elsewhere = scene.guessed && !matches!(&about, EventPayload::Start(reason) if reason != GOES_ON);
        let kept = elsewhere.then(|| session::load(self.agent.name(), &scene));
        let root = kept.as_ref().and_then(|kept| kept.root.as_deref());
        if let Err(why) = user_env::variables(&scene.root, root) {
            if !moment.when.gates() {
                if let (EventPayload::Start(_), false) = (&about, elsewhere) {
                    // What is known of where the session was before is no excuse for where it is now.
                    session::keep(self.agent.name(), &scene, |kept| kept.root = Some(scene.root.clone()));
                }
                // Nothing of what is in those folders is gone by, or run.
                return self.agent.encode(&moment, &Answer::Nothing, Some(&format!("Toolgate: {}", plain(&why))));
            }
            let call = if let EventPayload::Call { call, .. } = &about { Some(&**call) } else { None };
            return self.refused(&moment, &refusal("environment", &why), call).await;
        }
        if let EventPayload::Result(result) = &mut about
            && self.plugins.any()
        {
            hint(&mut result.call).await;
        }
        let happening = match &about {
            EventPayload::Call { .. } | EventPayload::Nothing => None,
            EventPayload::Start(reason) => Some(ObservedEvent::Start(reason)),
            EventPayload::Over(reason) => Some(ObservedEvent::Over(reason)),
            EventPayload::Result(result) => Some(ObservedEvent::Result { result, last: !self.agent.tells_ends() }),
            EventPayload::Update(update) => Some(ObservedEvent::Update(update)),
            EventPayload::End(end) => Some(ObservedEvent::End(end)),
            EventPayload::Turn { again } => {
                Some(ObservedEvent::Turn { again: *again, unseen: !self.agent.tells_failures() })
            }
        };
        if let Some(happening) = happening {
            return self.watched(&moment, scene, kept, &happening).await;
        }
        match about {
            EventPayload::Call { call, asks } if moment.when == HookKind::Before => {
                let outcome = self.evaluate_call(scene, kept, *call, asks, GateKind::Call, None).await;
                self.agent.encode(&moment, &outcome.answer(), outcome.message.as_deref())
            }
            EventPayload::Call { call, .. } if moment.when == HookKind::Permission && self.plugins.perhaps() => {
                self.permission(&moment, scene, kept, *call).await
            }
            _ => {
                if moment.when == HookKind::Unknown {
                    tracing::warn!(agent = self.agent.name(), event = moment.name, "an unknown event");
                    hook_heartbeat::unknown(self.agent.name(), &moment.name);
                }
                self.agent.encode(&moment, &Answer::Nothing, None)
            }
        }
    }

    /// What is looked at and not judged. What is kept of the session comes with it where it was read already.
    async fn watched(
        &self,
        moment: &HookEvent,
        mut scene: SessionContext,
        kept: Option<SessionState>,
        happening: &ObservedEvent<'_>,
    ) -> String {
        let starts = matches!(happening, ObservedEvent::Start(_));
        let goes_on = !matches!(happening, ObservedEvent::Start(reason) if *reason != GOES_ON);
        if scene.guessed && goes_on {
            let root = kept.unwrap_or_else(|| session::load(self.agent.name(), &scene)).root;
            scene.root = root.unwrap_or(scene.root);
        }
        if starts {
            return self.session(moment, &scene, happening).await;
        }
        if let ObservedEvent::Result { result, .. } = happening {
            // First, as what follows may take its time.
            observers::witness(self.agent, &scene, result, matches!(self.judge, Evaluator::OneShot)).await;
            answered(self.agent.name(), &result.call);
            saving::after(self.agent.name(), &scene, &result.call).await;
        }
        let texts = self.watch.saw(self.agent, &scene, self.plugins, happening).await.texts;
        if let (ObservedEvent::Turn { .. }, true) = (happening, texts.is_empty()) {
            session::keep(self.agent.name(), &scene, |kept| kept.events.next_turn());
        }
        let answer = if texts.is_empty() { Answer::Nothing } else { Answer::Add(texts.join("\n")) };
        self.agent.encode(moment, &answer, None)
    }

    /// A call that the agent is about to ask its user about, which plugins may deny.
    async fn permission(
        &self,
        moment: &HookEvent,
        scene: SessionContext,
        kept: Option<SessionState>,
        call: ToolCall,
    ) -> String {
        let outcome = self.evaluate_call(scene, kept, call, Asks::Agent, GateKind::Permission, None).await;
        self.agent.encode(moment, &outcome.answer(), outcome.message.as_deref())
    }

    /// Whether a text may be typed that is one of the agent's calls. What was approved for the call that types it is not
    /// asked about again, and nothing else is: there is nobody who waits for a question at that time. The error is the
    /// reason.
    pub async fn typed(&self, scene: SessionContext, call: ToolCall, approved: &Approved) -> Result<(), String> {
        match self.evaluate_call(scene, None, call, Asks::Nobody, GateKind::Call, Some(approved)).await.answer() {
            Answer::Nothing => Ok(()),
            Answer::Deny(reason) | Answer::Ask(reason) | Answer::Add(reason) => Err(reason),
            Answer::Rewrite(_) => Err("typed text cannot be rewritten".to_owned()),
        }
    }

    /// Notes what a call left that has run, where nobody reports its end.
    pub async fn finished(&self, scene: &SessionContext, call: &str) {
        saving::after_named(self.agent.name(), scene, call.to_owned()).await;
    }

    /// What becomes of a call. What is kept of the session comes with it where it was read already.
    async fn evaluate_call(
        &self,
        mut scene: SessionContext,
        kept: Option<SessionState>,
        mut call: ToolCall,
        asks: Asks,
        asked: GateKind,
        approved: Option<&Approved>,
    ) -> CallOutcome {
        let agent = self.agent.name();
        let kept = kept.unwrap_or_else(|| session::load(agent, &scene));
        tell(&kept, &mut scene, &mut call);
        let hinted = self.plugins.any();
        if hinted {
            hint(&mut call).await;
        }
        let (memories, mut unsaved) = (kept.memories.clone(), None);
        let mut question = Question { asked, memories, ..self.question(scene, Some(call)) };
        let judged = self.judge.judge(&question).await;
        let Some(mut call) = question.call.take() else {
            return self.refusing(&refusal("call", "the call is gone"), None).await;
        };
        let mut judged = match judged {
            Ok(judged) => judged,
            Err(why) => return self.refusing(&refusal("start", &why), Some(&call)).await,
        };
        let saved = match asked {
            // What is typed for a call was saved with it, and one that is judged once more is saved then.
            GateKind::Call if approved.is_some() || asks == Asks::AgentLater => Ok(None),
            GateKind::Call => saving::before(self.judge, &question, &call, &judged, kept.events.turn()).await,
            GateKind::Permission => Ok(None),
        };
        let saved = saved.unwrap_or_else(|why| {
            unsaved = Some(why);
            None
        });
        let scene = question.scene;
        if let (Decision::Ask(reason), Some(saved)) = (&mut judged.verdict.decision, &saved) {
            reason.push_str(&saved.stake());
        }
        // Where nobody would be asked, nobody is told either.
        let is_attended = asks != Asks::Nobody && approved.is_none() && self.tells_the_user();
        let recoverable = saved.as_ref().filter(|saved| saved.is_recoverable && is_attended);
        let verdict = match (asked, &judged.verdict.decision) {
            // The agent asks in any case.
            (GateKind::Permission, Decision::Ask(_)) => Verdict::pass(),
            _ => judged.verdict.clone(),
        };
        let covered = match approved.map(|approved| (approved, gate_builder::default_plugin())) {
            Some((approved, Ok(plugin))) => approved.covers(&plugin, &call, &verdict).await,
            _ => false,
        };
        // Nearly every call: there is nothing to decide, log or remember.
        let silent = matches!(verdict.decision, Decision::Pass) && verdict.findings.is_empty();
        let Decided { verdict, warnings, denial, .. } = match (silent, covered) {
            (true, _) => Decided::new(verdict),
            // It was decided with the call that types it, and logged.
            (_, true) => Decided::new(Verdict::pass()),
            _ => {
                remember(&verdict);
                if !hinted {
                    hint(&mut call).await;
                }
                let policy = self.policy(asks, judged.digests.clone());
                let policy = if approved.is_some() { policy.rewrites(false) } else { policy };
                let policy = policy.saved(recoverable.map(|saved| saved.saved.id.clone()));
                let decided = policy.decide(&call, verdict.clone(), judged.took).await;
                if let (Some(terminal), None) = (self.terminal, approved) {
                    terminal.approvals().note(&call, &verdict, &decided.verdict);
                }
                decided
            }
        };
        if let Some(terminal) = self.terminal {
            terminal.show(&verdict);
        }
        learn(agent, &scene, &kept, &judged, &verdict.decision);
        let stopped = matches!(verdict.decision, Decision::Block(_));
        if let Some(saved) = saved.as_ref().filter(|_| stopped) {
            saving::forget(saved).await;
        }
        let asked = matches!(judged.verdict.decision, Decision::Ask(_));
        let passed = asked && verdict.decision == Decision::Pass;
        let notice = recoverable.filter(|_| passed).map(|saved| saved.notice(&judged.verdict));
        let unsaved = unsaved.filter(|_| !stopped).and_then(|why| saving::notice_once(agent, &scene, &kept, &why));
        let severe = judged.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error);
        let warnings = warnings.iter().map(|warning| format!("Toolgate: {}", plain(warning)));
        hook_files::note(agent, &scene.root);
        let messages: Vec<String> = complaints(severe)
            .into_iter()
            .chain(warnings)
            .chain(notice)
            .chain(unsaved)
            .chain(hook_files::notice_once())
            .collect();
        let message = (!messages.is_empty()).then(|| messages.join("\n"));
        CallOutcome { verdict, denial, message }
    }

    fn question(&self, scene: SessionContext, call: Option<ToolCall>) -> Question {
        let agent = self.agent.name().to_owned();
        let (packs, plugins) = (self.packs.clone(), self.plugins.clone());
        let (memories, paths) = (BTreeMap::new(), Vec::new());
        Question { scene, call, asked: GateKind::Call, memories, agent, packs, plugins, paths }
    }

    /// A session that starts.
    async fn session(&self, moment: &HookEvent, scene: &SessionContext, happening: &ObservedEvent<'_>) -> String {
        ancestry::note(dirs::home().map(PathBuf::from).as_deref());
        session::tidy();
        // Later events may come from other folders.
        session::keep(self.agent.name(), scene, |kept| kept.root = Some(scene.root.clone()));
        let message = match self.judge.judge(&self.question(scene.clone(), None)).await {
            Ok(judged) => {
                let seen = self.watch.saw(self.agent, scene, self.plugins, happening).await;
                complaints(judged.diagnostics.iter().chain(&seen.diagnostics))
            }
            Err(why) => Some(format!("Toolgate cannot start, so it will block every call: {why}")),
        };
        hook_files::note(self.agent.name(), &scene.root);
        let messages: Vec<String> = message.into_iter().chain(hook_files::notice_once()).collect();
        let message = (!messages.is_empty()).then(|| messages.join("\n"));
        self.agent.encode(moment, &Answer::Nothing, message.as_deref())
    }

    /// A call that could not be judged, in the log like any other that does not run.
    pub async fn refused(&self, moment: &HookEvent, verdict: &Verdict, call: Option<&ToolCall>) -> String {
        denial(self.agent, moment, &self.refusing(verdict, call).await.verdict)
    }

    async fn refusing(&self, verdict: &Verdict, call: Option<&ToolCall>) -> CallOutcome {
        let verdict = refusing(self.policy(Asks::Nobody, BTreeMap::new()), verdict, call).await;
        CallOutcome { verdict, denial: None, message: None }
    }

    /// Whether the agent's user sees what a call that passes is told with.
    fn tells_the_user(&self) -> bool {
        match &self.user {
            User::Nobody => self.agent.shows_messages(),
            User::Shim(_) | User::Client(_) => false,
        }
    }

    /// What becomes of calls, and where it is logged.
    fn policy(&self, asks: Asks, others: BTreeMap<String, String>) -> Policy {
        let mut policy = logging(self.agent.name(), others)
            .agent_asks(matches!(asks, Asks::Agent | Asks::AgentLater))
            .rewrites(self.plugins.rewrite());
        match &self.user {
            User::Nobody => {}
            User::Shim(frames) => {
                policy = policy.journal(frames.clone());
                if asks == Asks::Host {
                    policy = policy.person(frames.clone());
                }
            }
            User::Client(client) if asks == Asks::Host => policy = policy.person(client.clone()),
            User::Client(_) => {}
        }
        policy
    }
}

/// What is logged as this agent's.
fn logging(agent: &str, others: BTreeMap<String, String>) -> Policy {
    let policy = Policy::new().circumstances(Circumstances { others, ..circumstances(agent) });
    match (dirs::audit(), dirs::grants(), dirs::stopped()) {
        (Ok(audit), Ok(grants), Ok(stopped)) => policy.audit(audit).grants(grants).stopped(stopped),
        // Where no log can be, nothing is logged, and so nothing runs that would have to be.
        _ => policy.audit(NoAudit),
    }
}

async fn refusing(policy: Policy, verdict: &Verdict, call: Option<&ToolCall>) -> Verdict {
    let nothing = ToolCall::new("", ToolKind::Other, "");
    policy.decide(call.unwrap_or(&nothing), verdict.clone(), Duration::ZERO).await.verdict
}

/// The reason why nothing runs for an agent that is not known, in the log like any other.
pub async fn refused_to_anybody(verdict: &Verdict) -> String {
    reason(&refusing(logging(NOBODY, BTreeMap::new()), verdict, None).await)
}

/// What stands for an agent that is not known.
const NOBODY: &str = "unknown";

/// The reason of a verdict that is no pass; empty if it is one.
pub fn reason(verdict: &Verdict) -> String {
    match verdict_answer(verdict) {
        Answer::Deny(reason) | Answer::Ask(reason) | Answer::Add(reason) => reason,
        Answer::Nothing | Answer::Rewrite(_) => String::new(),
    }
}

/// Tells a call what is kept of its session. Where that was started is known then, too.
fn tell(kept: &SessionState, scene: &mut SessionContext, call: &mut ToolCall) {
    if let (true, Some(root)) = (scene.guessed, kept.root.clone()) {
        call.workspace_root.clone_from(&root);
        scene.root = root;
    }
    // Without a name nothing is known of the session.
    let events = kept.events.json().filter(|_| !scene.session.is_empty());
    if let Some(events) = events {
        note(call, "events", events);
    }
    if let Some(memory) = &kept.memory {
        note(call, "memory", memory.clone());
    }
}

/// Keeps what a call leaves behind that was told what is `kept`, unless it does not run.
fn learn(agent: &str, scene: &SessionContext, kept: &SessionState, judged: &Judged, decision: &Decision) {
    let Judged { memory, memories, events, .. } = judged;
    // A call that is asked about may run.
    let runs = !matches!(decision, Decision::Block(_));
    if !runs || memory.is_none() && memories.is_empty() && events.is_empty() {
        return;
    }
    let certain = !matches!(decision, Decision::Ask(_));
    session::keep(agent, scene, |file| {
        events.iter().for_each(|event| file.events.note(event, certain));
        if let Some(memory) = memory {
            file.remember(memory, kept.memory.as_ref());
        }
        for (plugin, memory) in memories {
            file.remember_for(plugin, memory, session::memory_of(&kept.memories, plugin));
        }
    });
}

/// Notes which paths a call is about. Without them nothing is missing that decides.
async fn hint(call: &mut ToolCall) {
    let hints = match gate_builder::default_plugin() {
        Ok(plugin) => match tokio::time::timeout(HINTS_TIMEOUT, path_hints::of(&plugin, call)).await {
            Ok(hints) => hints.map_err(|error| error.to_string()),
            Err(_) => Err("it takes too long".to_owned()),
        },
        Err(error) => Err(error.to_string()),
    };
    match hints {
        Ok(hints) => note(call, "path_hints", hints.into()),
        Err(error) => tracing::warn!(error, "no path hints"),
    }
}

/// A verdict as an answer.
fn verdict_answer(verdict: &Verdict) -> Answer {
    match &verdict.decision {
        Decision::Pass => Answer::Nothing,
        Decision::Ask(reason) => Answer::Ask(reason_text(verdict, reason)),
        Decision::Block(reason) => Answer::Deny(reason_text(verdict, reason)),
        Decision::Rewrite(input) => match serde_json::from_str(input) {
            Ok(input @ Value::Object(_)) => Answer::Rewrite(input),
            _ => Answer::Deny("the rewritten input is not a JSON object".to_owned()),
        },
    }
}

/// The denial of a call for a reason of the host's own, without the log. Where there is nothing to deny, nothing is said:
/// an agent may take it for leave to go on, or for an order to.
pub fn denial(agent: &dyn Dialect, moment: &HookEvent, verdict: &Verdict) -> String {
    let answer = if moment.when.gates() { verdict_answer(verdict) } else { Answer::Nothing };
    agent.encode(moment, &answer, None)
}

/// Logs that the agent's user said yes to what the agent asked them: the call has run. Nothing depends on it.
fn answered(agent: &str, call: &ToolCall) {
    let (Ok(stopped), Ok(audit)) = (dirs::stopped(), dirs::audit()) else { return };
    let now = SystemTime::now();
    let question = match stopped.ran(call, agent, now) {
        Ok(Some(question)) => question,
        Ok(None) => return,
        Err(error) => return tracing::warn!(%error, "what came of questions is unknown"),
    };
    let mut verdict = Verdict::block(question.rules.join(", "), "");
    if let Some(by) = question.findings.first() {
        verdict = Verdict::block(by.rule.clone(), by.reason.clone());
    }
    verdict.decision = Decision::Pass;
    let mut record = Record::new(Outcome::Confirmed, call, &verdict, now, Duration::ZERO, &circumstances(agent));
    record.id = question.id;
    "asked by the agent; the call ran".clone_into(&mut record.note);
    if let Err(error) = audit.append(&record) {
        tracing::warn!(%error, "the answer to a question is not logged");
    }
}

/// Remembers that the process which calls is an agent, once there is something that it might want to lift.
fn remember(verdict: &Verdict) {
    if !matches!(verdict.decision, Decision::Pass) {
        ancestry::note(dirs::home().map(PathBuf::from).as_deref());
    }
}

/// The verdict on a call that could not be judged.
pub fn refusal(rule: &str, why: &str) -> Verdict {
    Verdict::block(format!("host:{rule}"), format!("{why}; calls that cannot be checked are blocked"))
}

fn complaints<'a>(diagnostics: impl Iterator<Item = &'a Diagnostic>) -> Option<String> {
    let lines: Vec<String> = diagnostics.map(place).collect();
    (!lines.is_empty()).then(|| format!("Toolgate: {}", lines.join("\nToolgate: ")))
}

/// What the log says about who judged.
fn circumstances(agent: &str) -> Circumstances {
    Circumstances {
        agent: agent.to_owned(),
        plugin: toolgate_builtin::NAME.to_owned(),
        // Known without loading it, which a hook need not do where the resident host has judged.
        plugin_digest: toolgate_builtin::SHA256.to_owned(),
        others: BTreeMap::new(),
    }
}
