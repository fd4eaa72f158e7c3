//! What components were refused, in the audit log.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde_json::json;

use crate::audit::{Audit, KIND, Outcome, Record, rfc3339};
use crate::capability::Capability;
use crate::capability_grants::Denials;
use crate::plugin::Description;
use crate::redact;

/// Writes what components were refused to the audit log: an entry for each component and capability, however often it asks
/// in the session that this stands for.
///
/// ```no_run
/// use std::sync::Arc;
/// use toolgate_host::AuditedDenials;
/// use toolgate_host::audit::NoAudit;
///
/// let denials = AuditedDenials::new(Arc::new(NoAudit), "mine", "session-1", "/home/dev/project");
/// ```
pub struct AuditedDenials {
    audit: Arc<dyn Audit>,
    agent: String,
    session: String,
    cwd: String,
    told: Arc<Mutex<BTreeSet<DenialKey>>>,
}

/// The agent and its session, the component's digest, and what it was refused: all of a capability, or a part.
type DenialKey = (String, String, String, Capability, bool);

/// Most entries that are remembered. After so many they are told again.
const REMEMBERED: usize = 10_000;

impl std::fmt::Debug for AuditedDenials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditedDenials").finish_non_exhaustive()
    }
}

impl AuditedDenials {
    /// Writes to this log, for a session of this agent, by their names as in [`Record`], in this directory.
    pub fn new(audit: Arc<dyn Audit>, agent: &str, session: &str, cwd: &str) -> Self {
        let (agent, session, cwd) = (agent.to_owned(), session.to_owned(), cwd.to_owned());
        AuditedDenials { audit, agent, session, cwd, told: Arc::default() }
    }

    /// The same for another session, in the same log. Of a session that was seen before nothing is told twice.
    #[must_use]
    pub fn for_session(&self, agent: &str, session: &str, cwd: &str) -> Self {
        AuditedDenials {
            told: Arc::clone(&self.told),
            ..AuditedDenials::new(Arc::clone(&self.audit), agent, session, cwd)
        }
    }
}

impl Denials for AuditedDenials {
    fn denied(&self, plugin: &Description, capability: Capability, what: &str) {
        let digest = plugin.component.sha256.clone();
        let key = (self.agent.clone(), self.session.clone(), digest, capability, what.is_empty());
        {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.len() >= REMEMBERED {
                told.clear();
            }
            if !told.insert(key) {
                return;
            }
        }
        let reason = match what {
            "" => "it was not granted this".to_owned(),
            path => format!("{} is outside the folders it was granted", redact::redacted(path)),
        };
        let rule = format!("capability:{}", capability.name());
        let record = Record {
            time: rfc3339(SystemTime::now()),
            kind: KIND.to_owned(),
            schema: 1,
            action: Outcome::NotGranted,
            rule: rule.clone(),
            tool: String::new(),
            input: json!({}),
            matched: Vec::new(),
            note: format!("the plugin {} asked: {reason}", plugin.name),
            reason,
            rules: vec![rule],
            cwd: self.cwd.clone(),
            agent: self.agent.clone(),
            session: self.session.clone(),
            plugin: plugin.name.clone(),
            plugin_digest: plugin.component.sha256.clone(),
            decision_us: 0,
            path_hints: Vec::new(),
            id: String::new(),
        };
        if let Err(error) = self.audit.append(&record) {
            tracing::warn!(%error, plugin = plugin.name, capability = capability.name(), "a denial could not be logged");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::RecordingAudit;
    use crate::capability::Capabilities;
    use crate::capability_grants::Granted;
    use crate::digest::Digest;
    use crate::{CapabilityError, Level};

    fn plugin(name: &str) -> Description {
        let of = Digest::of(name.as_bytes());
        Description {
            name: name.to_owned(),
            exports: Vec::new(),
            imports: Vec::new(),
            component: of.clone(),
            precompiled: of,
        }
    }

    #[tokio::test]
    async fn each_capability_is_told_once_of_each_plugin() {
        let audit = RecordingAudit::default();
        let denials: Arc<dyn Denials> = Arc::new(AuditedDenials::new(Arc::new(audit.clone()), "claude", "s1", "/p"));
        let granted = Granted { folders: Some(vec!["/granted".into()]), ..Granted::to([Capability::Files]) };
        for name in ["one", "other", "one"] {
            let all = Capabilities::denied();
            let limited = all.limited_and_told(&granted, &plugin(name), denials.clone());
            for _ in 0..3 {
                assert!(matches!(limited.git.branch("/p".into()).await, Err(CapabilityError::Denied(_))));
                assert!(matches!(limited.clock.now().await, Err(CapabilityError::Denied(_))));
                limited.log.write(name, Level::Info, "said");
                let outside = limited.files.stat(vec!["/etc/passwd".into()]).await;
                assert!(
                    matches!(outside, Err(CapabilityError::Denied(why)) if why.starts_with("/etc/passwd is outside"))
                );
            }
        }
        let told: Vec<String> = audit.records().iter().map(|one| format!("{} {}", one.rule, one.note)).collect();
        let expected = ["one", "other"].map(|name| {
            ["git", "clock", "log", "files"].map(|capability| {
                let why = match capability {
                    "files" => "/etc/passwd is outside the folders it was granted",
                    _ => "it was not granted this",
                };
                format!("capability:{capability} the plugin {name} asked: {why}")
            })
        });
        assert_eq!(told, expected.as_flattened());
        let first = &audit.records()[0];
        assert_eq!(
            (first.action, &*first.session, &*first.agent, &*first.cwd),
            (Outcome::NotGranted, "s1", "claude", "/p")
        );
        assert_eq!(first.plugin_digest, plugin("one").component.sha256);
    }

    #[tokio::test]
    async fn each_session_is_told_of_once() {
        let audit = RecordingAudit::default();
        let all = AuditedDenials::new(Arc::new(audit.clone()), "", "", "");
        for session in ["s1", "s2", "s1"] {
            let denials = Arc::new(all.for_session("claude", session, "/p"));
            let limited = Capabilities::denied().limited_and_told(&Granted::to([]), &plugin("one"), denials);
            assert!(matches!(limited.clock.now().await, Err(CapabilityError::Denied(_))));
        }
        let sessions: Vec<String> = audit.records().iter().map(|one| one.session.clone()).collect();
        assert_eq!(sessions, ["s1", "s2"]);
    }

    #[tokio::test]
    async fn what_is_granted_and_not_there_is_no_denial() {
        let audit = RecordingAudit::default();
        let denials: Arc<dyn Denials> = Arc::new(AuditedDenials::new(Arc::new(audit.clone()), "claude", "s1", "/p"));
        let granted = Granted::to([Capability::Ui]);
        let limited = Capabilities::absent().limited_and_told(&granted, &plugin("one"), denials);
        let shown = limited.ui.notify("x".into(), Level::Info).await;
        assert!(matches!(&shown, Err(CapabilityError::Unavailable(why)) if why == "there is no ui here"), "{shown:?}");
        assert!(audit.records().is_empty());
    }
}
