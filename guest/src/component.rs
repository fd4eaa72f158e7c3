//! The component: the contract's types on one side, the guard, the lens and the analysis on the other.

use std::alloc::System;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use toolgate_pools::Pools;
use toolgate_shell::FileOracle;

use self::lens::LensImports;
use crate::analysis as text;
use crate::lens::{Lens, ResultFacts};
use crate::notice::{StatusLine, active};
use crate::shared_terminal::SharedTerminal;
use toolgate_rules::call;
use toolgate_rules::changes::Changes;
use toolgate_rules::extensions::{Ask, Provided};
use toolgate_rules::facts::{Answers, PathKind, Remembered};
use toolgate_rules::{Guard, GuardHost, Layer, Outcome, Problem, Tracked};

mod lens;
mod prepare;
mod terminal;

mod bindings {
    // The macro's own code is not documented, and it needs `unsafe` to cross the component's border.
    #![allow(missing_docs, unreachable_pub, unsafe_code, clippy::all, clippy::pedantic)]
    wit_bindgen::generate!({
        path: ["../wit/v0.1", "../wit/changes"],
        inline: "
            package toolgate:guest;
            world guest {
                include toolgate:plugin/gate@0.1.0;
                include toolgate:plugin/observer@0.1.0;
                include toolgate:plugin/mirror@0.1.0;
                export toolgate:plugin/session-memory@0.1.0;
                export toolgate:plugin/handover@0.1.0;
                export toolgate:plugin/analysis@0.1.0;
                export toolgate:changes/call-changes@0.1.0;
            }
        ",
        world: "toolgate:guest/guest",
        generate_all,
        // To tell whether what is there is what was read before.
        additional_derives: [PartialEq],
    });
    use super::Component;
    export!(Component);
}

use bindings::exports::toolgate::changes::call_changes;
use bindings::exports::toolgate::plugin::{analysis, lifecycle, session_memory, timer, tool_gate, tool_observer};
use bindings::toolgate::plugin::types::{
    Action, Decision, Diagnostic, Error, Evidence, Field, Finding, Level, ToolCall, ToolKind, Truth, Verdict,
};
use bindings::toolgate::plugin::{clock, extensions, files, git, journal, log, ui};

/// The key of the status line.
const STATUS: &str = "damage-control";

struct Component;

/// Where all that is allocated lies.
#[global_allocator]
static HEAP: Pools<System> = Pools::new(System);

thread_local! {
    // A component has one thread. `None` until the first call, unless the state was prepared when it was packaged.
    static GUARD: RefCell<Option<Guard>> = const { RefCell::new(None) };
    // Of the rule files that `GUARD` has, if it has any: a component may begin with the memory of another one.
    static READ: RefCell<Option<Read>> = const { RefCell::new(None) };
    static SHOWN: RefCell<StatusLine> = RefCell::default();
    // Of the call that was judged last.
    static MEMORY: RefCell<Option<call::Memory>> = const { RefCell::new(None) };
    static CHANGES: RefCell<Option<Changes>> = const { RefCell::new(None) };
    // The home folder and the workspace of the session, and then of the call that was judged last.
    static PLACE: RefCell<(Option<String>, String)> = const { RefCell::new((None, String::new())) };
    // Only an observer has one.
    static LENS: RefCell<Lens> = RefCell::default();
    // An observer that looks for the observers of rule files instead.
    static WITNESSES: Cell<bool> = const { Cell::new(false) };
    // Only an instance for the terminal has one.
    static SHARED_TERMINAL: RefCell<Option<SharedTerminal>> = const { RefCell::new(None) };
}

/// Rule files, and what was left out of them.
struct Read {
    files: Vec<files::ConfigFile>,
    diagnostics: Vec<Diagnostic>,
}

/// Gives the guard the rules of these files and no others. Says what of them was left out.
fn read(found: Vec<files::ConfigFile>) -> Vec<Diagnostic> {
    if let Some(read) = READ.take() {
        if read.files == found {
            let diagnostics = read.diagnostics.clone();
            READ.set(Some(read));
            return diagnostics;
        }
        GUARD.set(None);
    }
    let mut diagnostics = Vec::new();
    for file in &found {
        let layer = if file.layer == "user" { Layer::User } else { Layer::Project };
        match &file.content {
            Ok(content) => {
                let problems = with_guard(|guard| guard.load(&file.path, layer, content));
                diagnostics.extend(problems.into_iter().map(|problem| Diagnostic {
                    level: if problem.whole_file { Level::Error } else { Level::Warning },
                    ..diagnostic(problem)
                }));
            }
            Err(error) => diagnostics.push(Diagnostic {
                level: Level::Error,
                file: Some(file.path.clone()),
                line: None,
                message: format!("the file could not be read: {}", describe(error)),
            }),
        }
    }
    if !found.is_empty() {
        READ.set(Some(Read { files: found, diagnostics: diagnostics.clone() }));
    }
    diagnostics
}

/// Forgets the rules of all files.
fn forget() {
    if READ.take().is_some() {
        GUARD.set(None);
    }
}

fn with_guard<T>(use_it: impl FnOnce(&mut Guard) -> T) -> T {
    GUARD.with_borrow_mut(|guard| use_it(guard.get_or_insert_with(Guard::new)))
}

impl lifecycle::Guest for Component {
    fn prepare() {
        with_guard(|guard| {
            for call in prepare::everyday() {
                // A place that is kept already: no rule is added for it.
                guard.keep(&["/home/user/.config/toolgate/rules.yaml".to_owned()], call.home.as_deref());
                guard.judge(&call, &mut toolgate_rules::NoHost);
            }
            guard.forget_tests();
        });
        prepare::close_holes();
        prepare::clear_stack();
    }

    fn start(session: lifecycle::Session) -> Result<lifecycle::Started, String> {
        // A panic aborts; its message would be lost without this.
        std::panic::set_hook(Box::new(|panic| log::write(Level::Error, &panic.to_string())));
        match session.role.as_str() {
            "observer" if !witnesses(&session) => return Ok(lens::start(session)),
            "terminal" => return Ok(terminal::start(session)),
            _ => {}
        }
        let found = files::read_config("rules");
        // Rules that are merely slow are in force: no verdict without them.
        let slow = |error: &Error| matches!(error, Error::Timeout);
        let late = match &found {
            Ok(found) => found.iter().any(|file| file.content.as_ref().is_err_and(slow)),
            Err(error) => slow(error),
        };
        if late {
            return Err("the rule files could not be read in time".into());
        }
        let mut diagnostics = match found {
            Ok(found) => read(found),
            Err(error) => {
                forget();
                vec![Diagnostic {
                    level: Level::Error,
                    file: None,
                    line: None,
                    message: format!(
                        "the rules of {} could not be read, so only the built-in ones are active: {}",
                        session.workspace_root,
                        describe(&error)
                    ),
                }]
            }
        };
        CHANGES.set(None);
        PLACE.set((session.home.clone(), session.workspace_root.clone()));
        let rules = with_guard(|guard| {
            let provided = provided();
            let told = |message: &String| Diagnostic {
                level: Level::Warning,
                file: None,
                line: None,
                message: format!("plugin {message}"),
            };
            diagnostics.extend(provided.problems.iter().map(told));
            diagnostics.extend(guard.attach(provided).into_iter().map(diagnostic));
            // After the files, as whoever starts this knows best.
            if let Err(message) = set_up(guard, &session) {
                diagnostics.push(Diagnostic { level: Level::Warning, file: None, line: None, message });
            }
            guard.rules()
        });
        if session.role == "gate" {
            // Whether anyone sees it is not ours to decide.
            let _ = ui::set_status(STATUS, Some(&active(rules)));
        }
        Ok(lifecycle::Started { status: format!("{rules} rules"), diagnostics })
    }

    fn shutdown(_reason: String) {
        LENS.with_borrow_mut(|lens| lens.shutdown(&mut LensImports));
    }
}

/// What was left out of a file, as a warning.
fn diagnostic(problem: Problem) -> Diagnostic {
    Diagnostic { level: Level::Warning, file: Some(problem.file), line: problem.line, message: problem.message }
}

/// What else the host says of the session, a JSON text; null if it says nothing.
fn context(session: &lifecycle::Session) -> serde_json::Value {
    serde_json::from_str(&session.context).unwrap_or_default()
}

/// Whether an observer is to look for the observers of rule files, and not to have files checked.
fn witnesses(session: &lifecycle::Session) -> bool {
    WITNESSES.set(context(session).get("observers") == Some(&serde_json::Value::Bool(true)));
    WITNESSES.get()
}

/// Writes the events that the observers of rule files see in a call that has run.
fn witness(outcome: tool_observer::ToolResult) {
    let (is_error, exit_code) = (outcome.is_error, outcome.exit_code);
    // What observers see depends on nothing else that is known of the call.
    let effects = CallContext::read(&outcome.call.context).effects;
    let call = judged(outcome.call, true, CallContext { effects, ..CallContext::default() });
    let outcome = Outcome { exit_code, is_error };
    for entry in with_guard(|guard| guard.witness(&call, outcome, &mut GuardImports::default())) {
        let mut event = serde_json::json!({ "schema": 1, "event": entry.event });
        if !entry.certain {
            event["uncertain"] = true.into();
        }
        if let Err(error) = journal::append("event", &event.to_string()) {
            log::write(
                Level::Warning,
                &format!("the event {} could not be recorded: {}", entry.event, describe(&error)),
            );
        }
    }
}

impl tool_observer::Guest for Component {
    fn observe(outcome: tool_observer::ToolResult) -> Option<tool_observer::Addition> {
        if WITNESSES.get() {
            witness(outcome);
            return None;
        }
        let call = outcome.call;
        let result = ResultFacts {
            tool: call.tool,
            kind: kind(call.kind),
            command: call.command.map(|field| field.value),
            paths: call.paths.into_iter().map(|field| field.value).collect(),
            cwd: call.cwd,
            is_error: outcome.is_error,
        };
        let added = LENS.with_borrow_mut(|lens| lens.on_result(&result, &mut LensImports))?;
        Some(tool_observer::Addition { text: added.text, details: added.details })
    }
}

impl timer::Guest for Component {
    fn on_timer(id: String) {
        match SHARED_TERMINAL.with_borrow(Option::is_some) {
            true => terminal::on_timer(&id),
            false => LENS.with_borrow_mut(|lens| lens.on_timer(&id, &mut LensImports)),
        }
    }
}

impl tool_gate::Guest for Component {
    fn judge(call: ToolCall) -> Verdict {
        let kind = kind(call.kind);
        let context = CallContext::read(&call.context);
        // Reading the input takes time in proportion to it.
        let writes = kind == call::ToolKind::Write && with_guard(|guard| guard.reads_contents());
        let call = judged(call, writes, context);
        let (mut judged, changes) = with_guard(|guard| guard.judge_changes(&call, &mut GuardImports::default()));
        show(&judged);
        MEMORY.set(judged.memory.take());
        CHANGES.set(changes);
        PLACE.set((call.home, call.workspace));
        verdict(judged)
    }
}

/// What the host says of a call beside its input, as far as the guard uses it; other keys are for other components. A key of
/// another type than it should have counts as absent, whatever the others say, unless it says what the call does.
#[derive(Default)]
struct CallContext {
    /// What earlier calls of the session left behind.
    memory: call::Memory,
    /// The shell that runs the text, where it is not one that bash stands for.
    shell: Option<String>,
    /// Whether the text is typed into a terminal that the person does not see.
    typed_unseen: bool,
    /// Whether only path rules count.
    paths_only: bool,
    /// Other paths of the workspace.
    workspace_names: Vec<String>,
    /// What has happened in the session.
    events: Option<call::Events>,
    /// What the tool does to files. What cannot be read of it may be anything, and counts as that.
    effects: call::FileEffects,
}

impl CallContext {
    fn read(text: &str) -> Self {
        let context: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        let flag = |key: &str| context.get(key).and_then(serde_json::Value::as_bool).unwrap_or_default();
        CallContext {
            memory: call::Memory::read(context.get("memory").unwrap_or(&serde_json::Value::Null)),
            shell: context.get("shell").and_then(serde_json::Value::as_str).map(str::to_owned),
            typed_unseen: flag("typed_unseen"),
            paths_only: flag("paths_only"),
            workspace_names: texts(&context, "workspace_names"),
            events: context.get("events").and_then(call::Events::read),
            effects: call::FileEffects::read(context.get("effects").unwrap_or(&serde_json::Value::Null)),
        }
    }
}

/// Whether a tool may be one of a server: its name has more than one part, as those of agents' own tools for the shell and for
/// files have not, or it is none of these.
fn is_served(call: &ToolCall) -> bool {
    let kind = kind(call.kind);
    kind != call::ToolKind::Shell && (kind == call::ToolKind::Other || call.tool.contains(['_', '-', ':', '.', '/']))
}

/// A call as the guard knows it.
fn judged(call: ToolCall, contents: bool, context: CallContext) -> call::Call {
    call::Call {
        kind: kind(call.kind),
        edits: call.kind == ToolKind::Edit,
        contents: if contents { call::contents(&call.input) } else { Vec::new() },
        inputs: if is_served(&call) { call::inputs(&call.input) } else { Vec::new() },
        tool: call.tool,
        command: call.command.map(field),
        in_prompt: false,
        shell: context.shell,
        paths: call.paths.into_iter().map(field).collect(),
        globs: call.globs.into_iter().map(field).collect(),
        effects: context.effects,
        cwd: call.cwd,
        home: call.home,
        workspace: call.workspace_root,
        workspace_names: context.workspace_names,
        earlier: context.memory,
        typed_unseen: context.typed_unseen,
        paths_only: context.paths_only,
        events: context.events,
    }
}

impl session_memory::Guest for Component {
    fn after() -> Option<String> {
        MEMORY.with_borrow(|memory| memory.as_ref().map(call::Memory::text))
    }
}

impl call_changes::Guest for Component {
    fn changes() -> Option<String> {
        CHANGES.with_borrow(|changes| changes.as_ref().map(Changes::text))
    }

    fn withheld(paths: Vec<String>) -> Vec<bool> {
        PLACE.with_borrow(|(home, workspace)| with_guard(|guard| guard.withheld(&paths, home.as_deref(), workspace)))
    }
}

/// Does what the session's context says: `packs` to switch on or off, `own`, the places of the gate's own files.
fn set_up(guard: &mut Guard, session: &lifecycle::Session) -> Result<(), String> {
    let context = context(session);
    guard.keep(&texts(&context, "own"), session.home.as_deref());
    let wrong = guard.choose(&texts(&context, "packs"));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// The texts of a list in a context.
fn texts(context: &serde_json::Value, key: &str) -> Vec<String> {
    let list = context.get(key).and_then(serde_json::Value::as_array);
    list.into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

/// Shows a violation, and the rules again once it is old. What cannot be shown changes no verdict.
fn show(verdict: &call::Verdict) {
    let rules = || with_guard(|guard| guard.rules());
    let change = SHOWN.with_borrow_mut(|line| line.after(verdict, || clock::monotonic().ok(), rules));
    if let Some(status) = change.status {
        let _ = ui::set_status(STATUS, Some(&status));
    }
    if let Some(notice) = change.notice {
        let _ = ui::notify(&notice, if change.blocks { Level::Error } else { Level::Warning });
    }
}

impl analysis::Guest for Component {
    fn walk(request: String) -> Result<String, String> {
        with_guard(|guard| text::walk(&request, facts(), guard.provided()))
    }

    fn files(request: String) -> Result<String, String> {
        with_guard(|guard| text::files(&request, facts(), guard.provided()))
    }

    fn hints(request: String) -> Result<String, String> {
        with_guard(|guard| text::hints(&request, facts(), guard.provided()))
    }

    fn explain(request: String) -> Result<String, String> {
        with_guard(|guard| text::explain(&request, guard, &mut GuardImports::default()))
    }

    fn rules(request: String) -> Result<String, String> {
        with_guard(|guard| {
            guard.recall_tests();
            text::rules(&request, guard)
        })
    }
}

/// What the other components of the session provide. None of them is no reason to judge nothing.
fn provided() -> Provided {
    let ask: Rc<dyn Ask> = Rc::new(Others);
    match extensions::provided() {
        Ok(described) => Provided::read(&described, &ask),
        Err(error) => {
            log::write(Level::Warning, &format!("other plugins cannot be queried: {}", describe(&error)));
            Provided::read("{}", &ask)
        }
    }
}

/// The other components, through the host.
struct Others;

impl Ask for Others {
    fn modify(&self, component: &str, request: &str) -> Option<String> {
        let answer = extensions::modify(component, request);
        let told = |error: &Error| log::write(Level::Warning, &format!("{component}: {}", describe(error)));
        answer.inspect_err(told).ok()
    }
}

/// What the host says of paths, for one text: files change between calls.
fn facts() -> Option<Rc<dyn FileOracle>> {
    Some(Rc::new(Remembered::new(HostAnswers)))
}

/// The host's file system, for the shell engine.
struct HostAnswers;

impl Answers for HostAnswers {
    fn stat(&self, paths: &[String]) -> Option<Vec<PathKind>> {
        let found = files::stat(paths).ok()?.into_iter().map(|found| match found.map(|found| found.kind) {
            None => PathKind::Nothing,
            Some(files::FileKind::File) => PathKind::File,
            Some(files::FileKind::Directory) => PathKind::Folder,
            Some(files::FileKind::Symlink) => PathKind::Link,
            Some(files::FileKind::Other) => PathKind::Other,
            Some(files::FileKind::Hidden) => PathKind::Hidden,
        });
        Some(found.collect())
    }

    fn resolve(&self, path: &str) -> Option<Option<(String, bool)>> {
        let found = files::resolve(&[path.to_owned()]).ok()?.into_iter().next()?;
        Some(found.map(|real| (real.path, real.exists)))
    }

    fn script(&self, path: &str) -> Option<String> {
        files::read_script(path).ok()
    }
}

/// What the host knows of the surroundings, for the guard, for one call.
#[derive(Default)]
struct GuardImports {
    look: Option<Rc<dyn FileOracle>>,
}

impl GuardHost for GuardImports {
    fn resolve(&mut self, paths: &[String]) -> Result<Vec<Option<String>>, String> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        match files::resolve(paths) {
            Ok(found) if found.len() == paths.len() => Ok(found.into_iter().map(|path| path.map(|p| p.path)).collect()),
            Ok(_) => Err("the host returned a wrong number of paths".into()),
            // A host that grants no look at the files has decided that texts are enough.
            Err(Error::Denied(_)) => Ok(vec![None; paths.len()]),
            Err(error) => Err(describe(&error)),
        }
    }

    fn branch(&mut self, folder: &str) -> Option<Option<String>> {
        git::branch(folder).ok()
    }

    fn holds(&mut self, path: &str) -> bool {
        // Of a folder the host tells less.
        let found = files::stat(&[path.to_owned()]).unwrap_or_default();
        let is_file = matches!(found.as_slice(), [Some(found)] if found.kind == files::FileKind::File);
        is_file && git::changed_files(path).is_ok_and(|changed| changed.is_empty())
    }

    fn changed_below(&mut self, folder: &str) -> Option<Vec<String>> {
        let known = |change| !matches!(change, git::Change::Untracked | git::Change::Deleted);
        let changed = git::changed_files(folder).ok()?;
        Some(changed.into_iter().filter(|file| known(file.change)).map(|file| file.path).collect())
    }

    fn is_clean(&mut self, folder: &str) -> bool {
        git::changed_files(folder).is_ok_and(|changed| changed.is_empty()) && matches!(git::branch(folder), Ok(Some(_)))
    }

    fn tracked(&mut self, path: &str) -> Option<Tracked> {
        let changed = git::changed_files(path).ok()?;
        Some(match changed.first().map(|file| file.change) {
            None => Tracked::Held,
            Some(git::Change::Untracked) => {
                // What is ignored is not among the files of its folder.
                let (folder, _) = path.rsplit_once('/')?;
                let listed = git::changed_files(folder).ok()?;
                if listed.iter().any(|file| file.path == path) { Tracked::Untracked } else { Tracked::Ignored }
            }
            Some(_) => Tracked::Changed,
        })
    }

    fn differs(&mut self, root: &str, commit: &str, file: &str) -> Option<bool> {
        let named = format!("{}/.git/commits/{commit}:{file}", root.trim_end_matches('/'));
        git::changed_files(&named).ok().map(|changed| !changed.is_empty())
    }

    fn merged(&mut self, folder: &str, branch: &str) -> bool {
        // Asked about a branch in the place of a folder, git tells what is lost with it.
        let branch = format!("{}/.git/refs/heads/{branch}", folder.trim_end_matches('/'));
        git::changed_files(&branch).is_ok_and(|lost| lost.is_empty())
    }

    fn is_only_on(&mut self, folder: &str, branch: &str) -> bool {
        let branch = format!("{}/.git/refs/heads/{branch}", folder.trim_end_matches('/'));
        git::changed_files(&branch).is_ok_and(|lost| !lost.is_empty())
    }

    fn predicate(&mut self, name: &str, request: &str) -> Option<bool> {
        match extensions::evaluate(name, request).ok()? {
            Truth::Yes => Some(true),
            Truth::No => Some(false),
            Truth::Unknown => None,
        }
    }

    fn look(&mut self) -> Option<Rc<dyn FileOracle>> {
        self.look.get_or_insert_with(|| Rc::new(Remembered::new(HostAnswers))).clone().into()
    }
}

fn kind(kind: ToolKind) -> call::ToolKind {
    match kind {
        ToolKind::Shell => call::ToolKind::Shell,
        ToolKind::Read => call::ToolKind::Read,
        ToolKind::Write | ToolKind::Edit => call::ToolKind::Write,
        ToolKind::Search => call::ToolKind::Search,
        ToolKind::List => call::ToolKind::List,
        ToolKind::Fetch => call::ToolKind::Fetch,
        ToolKind::Other => call::ToolKind::Other,
    }
}

fn field(field: Field) -> call::Field {
    call::Field { name: field.name, value: field.value }
}

fn verdict(verdict: call::Verdict) -> Verdict {
    let reason = verdict.findings.first().map(|finding| finding.reason.clone()).unwrap_or_default();
    let decision = match verdict.action() {
        Some(call::Action::Block) => Decision::Block(reason),
        Some(call::Action::Ask) => Decision::Ask(reason),
        Some(call::Action::Note) | None => Decision::Pass,
    };
    let findings = verdict.findings.into_iter().map(|finding| Finding {
        rule: finding.rule,
        plugin: String::new(),
        action: match finding.action {
            call::Action::Block => Action::Block,
            call::Action::Ask => Action::Ask,
            call::Action::Note => Action::Note,
        },
        reason: finding.reason,
        evidence: finding.evidence.into_iter().map(evidence).collect(),
    });
    Verdict { decision, findings: findings.collect() }
}

fn evidence(evidence: call::Evidence) -> Evidence {
    Evidence {
        field: evidence.field,
        // Inputs are limited to far less than 4 GiB.
        start: u32::try_from(evidence.start).unwrap_or(u32::MAX),
        end: u32::try_from(evidence.end).unwrap_or(u32::MAX),
        text: evidence.text,
    }
}

fn describe(error: &Error) -> String {
    match error {
        Error::Denied(why)
        | Error::NotFound(why)
        | Error::Unavailable(why)
        | Error::Invalid(why)
        | Error::Other(why) => why.clone(),
        Error::Timeout => "it took too long".into(),
        Error::TooLarge(limit) => format!("more than the limit of {limit}"),
    }
}
