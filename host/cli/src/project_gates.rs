//! The gates of a command that judges many calls: one for each project, as each has its own rules.

use std::collections::HashMap;
use std::path::Path;

use toolgate_agents::{Failure, dirs, exit};
use toolgate_gatekeeper::gate_builder::GateBuilder;
use toolgate_gatekeeper::gates::{GateContext, GateKind};
use toolgate_gatekeeper::packs::Packs;
use toolgate_gatekeeper::plugin::loaded::{self, Loaded};
use toolgate_host::capability::LocalFiles;
use toolgate_host::{Level, Plugin, ToolCall, Verdict};

use crate::output;

/// Instances that are kept for the projects of a batch.
const GATES: usize = 16;

/// Gates by project, as each project has its own rules.
pub(crate) struct Gates<'a> {
    plugin: Plugin,
    rules: Option<&'a Path>,
    packs: &'a Packs,
    /// The installed plugins.
    loaded: Vec<Loaded>,
    open: HashMap<(String, String), toolgate_gatekeeper::gates::Gates>,
    /// Nothing is said of what is wrong with rule files.
    quiet: bool,
}

impl<'a> Gates<'a> {
    pub(crate) fn new(plugin: Plugin, rules: Option<&'a Path>, packs: &'a Packs) -> Result<Self, Failure> {
        Ok(Gates { plugin, rules, packs, loaded: loaded::by_hand()?, open: HashMap::new(), quiet: false })
    }

    /// The same rules with these packs and without plugins; nothing is said of what is wrong with rule files.
    pub(crate) fn with_packs(&self, packs: &'a Packs) -> Self {
        let plugin = self.plugin.clone();
        Gates { plugin, rules: self.rules, packs, loaded: Vec::new(), open: HashMap::new(), quiet: true }
    }

    /// Whether a rule file was named in place of the user's and the project's.
    pub(crate) fn has_own_rules(&self) -> bool {
        self.rules.is_some()
    }

    pub(crate) async fn judge(&mut self, call: &ToolCall) -> Result<Verdict, Failure> {
        // The folder counts as well: it may be in a project of its own.
        let key = (call.workspace_root.clone(), call.cwd.clone());
        if !self.open.contains_key(&key) {
            if self.open.len() >= GATES {
                self.open.clear();
            }
            let files = match self.rules {
                Some(rules) => LocalFiles::new().user_rules(rules),
                None => dirs::rule_files(&[Path::new(&call.workspace_root), Path::new(&call.cwd)])
                    .map_err(|error| Failure::new(exit::NO_INPUT, error))?,
            };
            let (cwd, home, root) = (&call.cwd, call.home.as_deref(), &call.workspace_root);
            let (plugin, packs, loaded) = (&self.plugin, self.packs, &self.loaded);
            let standing = GateBuilder { plugin, cwd, home, root, packs, kept: &[], loaded, whose: None };
            let opened = if self.rules.is_some() {
                standing.start(files, None).await?
            } else {
                standing.open(files, None).await?
            };
            let until = GateContext::now().until;
            let opened = toolgate_gatekeeper::gates::Gates::of(&standing, opened, None, GateKind::Call, until).await;
            let (gates, diagnostics) = opened.map_err(Failure::software)?;
            if !self.quiet {
                output::diagnostics(&diagnostics);
            }
            let unusable = diagnostics.iter().any(|diagnostic| diagnostic.level == Level::Error);
            if let (true, Some(rules)) = (unusable, self.rules) {
                return Err(Failure::new(
                    exit::DATA,
                    format!("nothing was evaluated: {} cannot be used", rules.display()),
                ));
            }
            self.open.insert(key.clone(), gates);
        }
        match self.open.get(&key) {
            Some(gates) => Ok(gates.all(call, GateContext::now()).await.verdict),
            None => Err(Failure::new(exit::SOFTWARE, "the gate has stopped")),
        }
    }
}
