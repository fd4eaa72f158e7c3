//! The crate's own types to and from those that wasmtime generates from the contract.
//!
//! Both directions are written once, by the names of fields and cases, so that the compiler notices what the
//! target has and the source has not. A field that is new in the contract has to be added here.

use crate::bindings::exports::toolgate::plugin as hooks;
use crate::bindings::toolgate::plugin::{files, git, message, terminal, types};
use crate::call::{Field, ToolCall, ToolKind};
use crate::capability::{CapabilityError, Truth};
use crate::capability::{
    Change, ChangedFile, ConfigFile, Delivery, FileKind, FileStat, Outgoing, Pane, RealPath, Screen, Wake,
};
use crate::events::{
    Addition, Diagnostic, End, Level, ProvidedTool, Signal, Span, Started, ToolOutput, ToolResult, Turn, Update,
};
use crate::session::{Role, Session};
use crate::verdict::{Action, Decision, Evidence, Finding, Verdict};

/// The whole of a list.
pub(crate) fn all<T, U: From<T>>(list: Vec<T>) -> Vec<U> {
    list.into_iter().map(U::from).collect()
}

/// An answer of a capability, as it crosses.
pub(crate) fn answer<T, U: From<T>>(answer: Result<T, CapabilityError>) -> Result<U, types::Error> {
    answer.map(U::from).map_err(Into::into)
}

/// The same for a list.
pub(crate) fn answers<T, U: From<T>>(answer: Result<Vec<T>, CapabilityError>) -> Result<Vec<U>, types::Error> {
    answer.map(all).map_err(Into::into)
}

/// The same for a list of what may not be there.
pub(crate) fn found<T, U: From<T>>(
    answer: Result<Vec<Option<T>>, CapabilityError>,
) -> Result<Vec<Option<U>>, types::Error> {
    answer.map(|list| list.into_iter().map(|one| one.map(U::from)).collect()).map_err(Into::into)
}

/// Cases of the same names on both sides.
macro_rules! cases {
    ($from:ty => $to:ty { $($case:ident),* }) => {
        impl From<$from> for $to {
            fn from(from: $from) -> Self {
                match from { $(<$from>::$case => <$to>::$case),* }
            }
        }
    };
}

/// Fields of the same names on both sides, each with a conversion of its own.
macro_rules! fields {
    ($from:ty => $($to:ident)::+ { $($field:ident),* }) => {
        impl From<$from> for $($to)::+ {
            fn from(from: $from) -> Self {
                $($to)::+ { $($field: from.$field.into()),* }
            }
        }
    };
}

cases!(ToolKind => types::ToolKind { Shell, Read, Write, Edit, Search, List, Fetch, Other });
cases!(types::Action => Action { Block, Ask, Rewrite, Note });
cases!(types::Level => Level { Debug, Info, Warning, Error });
cases!(types::Truth => Truth { Yes, No, Unknown });
cases!(Truth => types::Truth { Yes, No, Unknown });
cases!(FileKind => files::FileKind { File, Directory, Symlink, Other, Hidden });
cases!(Change => git::Change { Added, Modified, Deleted, Renamed, Untracked });
cases!(Wake => terminal::Wake { Signalled, Timeout, Closed, Cancelled });
cases!(message::Delivery => Delivery { Steer, FollowUp, NextTurn });

impl From<CapabilityError> for types::Error {
    fn from(error: CapabilityError) -> Self {
        match error {
            CapabilityError::Denied(why) => types::Error::Denied(why),
            CapabilityError::NotFound(what) => types::Error::NotFound(what),
            CapabilityError::Timeout => types::Error::Timeout,
            CapabilityError::TooLarge(limit) => types::Error::TooLarge(limit),
            CapabilityError::Unavailable(why) => types::Error::Unavailable(why),
            CapabilityError::Invalid(why) => types::Error::Invalid(why),
            CapabilityError::Other(why) => types::Error::Other(why),
        }
    }
}

// What the host tells a component. It is lent, as it may be told again.

impl From<&Field> for types::Field {
    fn from(field: &Field) -> Self {
        types::Field { name: field.name.clone(), value: field.value.clone() }
    }
}

impl From<&ToolCall> for types::ToolCall {
    fn from(call: &ToolCall) -> Self {
        types::ToolCall {
            id: call.id.clone(),
            tool: call.tool.clone(),
            kind: call.kind.into(),
            command: call.command.as_ref().map(Into::into),
            paths: call.paths.iter().map(Into::into).collect(),
            globs: call.globs.iter().map(Into::into).collect(),
            cwd: call.cwd.clone(),
            home: call.home.clone(),
            workspace_root: call.workspace_root.clone(),
            input: call.input.clone(),
            context: call.context.clone(),
        }
    }
}

impl From<&ToolResult> for hooks::tool_observer::ToolResult {
    fn from(result: &ToolResult) -> Self {
        hooks::tool_observer::ToolResult {
            call: (&result.call).into(),
            output: result.output.clone(),
            is_error: result.is_error,
            exit_code: result.exit_code,
        }
    }
}

impl From<&Update> for hooks::execution_observer::Update {
    fn from(update: &Update) -> Self {
        let Update { call, tool, partial } = update.clone();
        hooks::execution_observer::Update { call, tool, partial }
    }
}

impl From<&End> for hooks::execution_observer::End {
    fn from(end: &End) -> Self {
        let End { call, tool, is_error, outcome } = end.clone();
        hooks::execution_observer::End { call, tool, is_error, outcome }
    }
}

impl From<&Turn> for hooks::turn_observer::Turn {
    fn from(turn: &Turn) -> Self {
        let Turn { index, context } = turn.clone();
        hooks::turn_observer::Turn { index, context }
    }
}

impl From<&Signal> for hooks::terminal_observer::Signal {
    fn from(signal: &Signal) -> Self {
        let Signal { pane, channel, closed } = signal.clone();
        hooks::terminal_observer::Signal { pane, channel, closed }
    }
}

impl From<(Role, &Session)> for hooks::lifecycle::Session {
    fn from((role, session): (Role, &Session)) -> Self {
        hooks::lifecycle::Session {
            role: role.name().to_owned(),
            cwd: session.cwd.clone(),
            home: session.home.clone(),
            workspace_root: session.workspace_root.clone(),
            context: session.context.clone(),
        }
    }
}

fields!(FileStat => files::FileStat { kind, size, modified });
fields!(RealPath => files::RealPath { path, exists });
fields!(ChangedFile => git::ChangedFile { path, change });
fields!(Screen => terminal::Screen { text, below, before_cursor, width, height });
fields!(Pane => terminal::Pane { id, command, cwd, active, at_shell, full_screen, of_agent });

impl From<ConfigFile> for files::ConfigFile {
    fn from(file: ConfigFile) -> Self {
        files::ConfigFile { path: file.path, layer: file.layer, content: file.content.map_err(Into::into) }
    }
}

// What a component says.

fields!(types::Evidence => Evidence { field, start, end, text });
fields!(types::Diagnostic => Diagnostic { level, file, line, message });
fields!(hooks::tool_observer::Addition => Addition { text, details });
fields!(hooks::provided_tools::Tool => ProvidedTool { name, description, input_schema, alongside, longest });
fields!(hooks::provided_tools::Output => ToolOutput { text, is_error, details });
fields!(hooks::renderer::Span => Span { text, style });
fields!(message::Outgoing => Outgoing { kind, text, details, visible, delivery, trigger_turn });

impl From<types::Finding> for Finding {
    fn from(finding: types::Finding) -> Self {
        let types::Finding { rule, plugin, action, reason, evidence } = finding;
        Finding { rule, plugin, action: action.into(), reason, evidence: all(evidence) }
    }
}

impl From<types::Decision> for Decision {
    fn from(decision: types::Decision) -> Self {
        match decision {
            types::Decision::Pass => Decision::Pass,
            types::Decision::Block(reason) => Decision::Block(reason),
            types::Decision::Ask(question) => Decision::Ask(question),
            types::Decision::Rewrite(input) => Decision::Rewrite(input),
        }
    }
}

impl From<types::Verdict> for Verdict {
    fn from(verdict: types::Verdict) -> Self {
        Verdict { decision: verdict.decision.into(), findings: all(verdict.findings) }
    }
}

impl From<hooks::lifecycle::Started> for Started {
    fn from(started: hooks::lifecycle::Started) -> Self {
        Started { status: started.status, diagnostics: all(started.diagnostics) }
    }
}
