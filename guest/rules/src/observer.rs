//! What an observer watches, and which events it writes. What observers see in a text is in `witness`.

use toolgate_shell::absolute;

use super::fields;
use super::pattern::{Pattern, Tried};
use super::rule::CommandMatcher;
use super::rule_id::Layer;
use crate::call::{Call, ToolKind};

/// How a call has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Any,
    Success,
    Failure,
    Code(i32),
}

/// Something that is watched, and the events that it writes.
#[derive(Clone, Debug)]
pub(crate) struct Observer {
    pub(crate) name: Option<String>,
    /// The file.
    pub(crate) source: String,
    pub(crate) layer: Layer,
    pub(crate) writes: Vec<String>,
    /// What tools do, or their names; none for a shell, or with a path for the tools that write.
    pub(crate) tools: Vec<String>,
    pub(crate) what: CommandMatcher,
    /// Of a file tool tried on what it writes.
    pub(crate) pattern: Option<Pattern>,
    pub(crate) paths: Vec<Pattern>,
    pub(crate) cwd: Vec<Pattern>,
    pub(crate) exit: Exit,
}

/// What a list of observers shows of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watching {
    /// As the file calls it.
    pub name: Option<String>,
    /// The file.
    pub source: String,
    /// Who wrote it.
    pub layer: Layer,
    /// The events that it writes; a project's begin with `project:`.
    pub writes: Vec<String>,
}

impl Observer {
    /// One of a file of this layer that watches nothing yet.
    pub(crate) fn new(layer: Layer) -> Self {
        Observer {
            name: None,
            source: String::new(),
            layer,
            writes: Vec::new(),
            tools: Vec::new(),
            what: CommandMatcher::default(),
            pattern: None,
            paths: Vec::new(),
            cwd: Vec::new(),
            exit: Exit::Success,
        }
    }

    /// The same as that of a file.
    pub(crate) fn of(self, source: &str) -> Self {
        Observer { source: source.to_owned(), ..self }
    }

    /// What a list shows of it.
    pub(crate) fn watching(&self) -> Watching {
        let Observer { name, source, layer, writes, .. } = self;
        Watching { name: name.clone(), source: source.clone(), layer: *layer, writes: writes.clone() }
    }

    pub(crate) fn watches_shell(&self) -> bool {
        match self.tools.is_empty() {
            true => self.paths.is_empty(),
            false => self.tools.iter().any(|tool| fields::is_shell(tool)),
        }
    }

    /// Whether a call of a tool that is no shell is meant.
    pub(crate) fn watches_tool(&self, call: &Call) -> bool {
        let tool = match self.tools.is_empty() {
            true => !self.paths.is_empty() && call.kind == ToolKind::Write,
            false => self.tools.iter().any(|tool| fields::is(tool, call)),
        };
        let any = |patterns: &[Pattern], texts: &[String]| {
            patterns.iter().any(|pattern| texts.iter().any(|text| matches!(pattern.find(text), Tried::Found(_))))
        };
        let paths = || -> Vec<String> {
            let all = call.paths.iter().map(|field| absolute(&field.value, &call.cwd));
            let root = format!("{}/", call.workspace.trim_end_matches('/'));
            all.flat_map(|path| [path.strip_prefix(&root).map(str::to_owned), Some(path)]).flatten().collect()
        };
        let contents = || -> Vec<String> { call.contents.iter().map(|field| field.value.clone()).collect() };
        tool && (self.paths.is_empty() || any(&self.paths, &paths()))
            && (self.cwd.is_empty() || any(&self.cwd, std::slice::from_ref(&call.cwd)))
            && self.pattern.as_ref().is_none_or(|pattern| any(std::slice::from_ref(pattern), &contents()))
    }

    /// What is known of an event where the command ended with this code, `None` if that is not known; `None` for that it has
    /// not happened.
    pub(crate) fn certain(&self, code: Option<i32>, ran: bool) -> Option<bool> {
        match (self.exit, code) {
            (Exit::Any, _) => Some(ran),
            (_, None) => Some(false),
            (Exit::Success, Some(code)) => (code == 0).then_some(true),
            (Exit::Failure, Some(code)) => (code != 0).then_some(true),
            (Exit::Code(wanted), Some(code)) => (code == wanted).then_some(true),
        }
    }
}
