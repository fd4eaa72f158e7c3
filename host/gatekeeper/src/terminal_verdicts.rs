//! What the verdicts on calls leave for the shared terminal: what was let through is not asked about again when it is typed, and
//! the pane's border shows what was not.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use toolgate_agents::agent::reason_text;
use toolgate_capabilities::LocalTerminal;
use toolgate_host::capability::Answer;
use toolgate_host::{Decision, Verdict, plain, shortened};

use crate::approvals::Approvals;

/// Characters of a verdict in a pane's border.
pub const BORDER: usize = 160;

/// What a session does with the terminal itself, beside what the component may.
#[async_trait]
pub trait Panes: Send + Sync {
    /// Ends the waits of the tool that runs, until `resume`.
    fn cancel(&self);
    /// Goes on.
    fn resume(&self);
    /// Shows a text in a pane's border, or removes it.
    async fn show_in_border(&self, pane: &str, text: Option<&str>) -> Answer<()>;
    /// Ends the processes that wait for something to happen.
    async fn end(&self);
}

#[async_trait]
impl Panes for LocalTerminal {
    fn cancel(&self) {
        LocalTerminal::cancel(self);
    }

    fn resume(&self) {
        LocalTerminal::resume(self);
    }

    async fn show_in_border(&self, pane: &str, text: Option<&str>) -> Answer<()> {
        LocalTerminal::show_in_border(self, pane, text).await
    }

    async fn end(&self) {
        self.end_watches().await;
    }
}

/// What the verdicts on calls leave for a session's terminal.
pub struct TerminalVerdicts {
    approvals: Approvals,
    /// The pane that was last typed into, as far as it is known.
    pane: Mutex<Option<String>>,
    /// Where verdicts go that are shown in its border, if that is wanted.
    border: Option<UnboundedSender<InBorder>>,
}

/// A pane, and what its border is to show.
type InBorder = (String, Option<String>);

impl TerminalVerdicts {
    /// For a terminal in which this pane is typed into first.
    pub fn new(panes: &Arc<dyn Panes>, pane: Option<String>, border: bool) -> Self {
        let border = border.then(|| {
            let (show, shown) = tokio::sync::mpsc::unbounded_channel();
            tokio::spawn(draw(Arc::clone(panes), shown));
            show
        });
        TerminalVerdicts { approvals: Approvals::default(), pane: Mutex::new(pane), border }
    }

    /// What was let through for calls that are about to run.
    pub fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// Remembers the pane that a tool has used.
    pub fn typed_into(&self, pane: &str) {
        *self.pane.lock().unwrap_or_else(PoisonError::into_inner) = Some(pane.to_owned());
    }

    /// The pane whose border may show a verdict.
    pub fn bordered(&self) -> Option<String> {
        let pane = self.pane.lock().unwrap_or_else(PoisonError::into_inner).clone();
        pane.filter(|_| self.border.is_some())
    }

    /// Shows a verdict in the pane's border, if that is wanted; one that lets a call run takes the last one away.
    pub(crate) fn show(&self, verdict: &Verdict) {
        let pane = self.pane.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let (Some(border), Some(pane)) = (&self.border, pane) {
            // Nobody waits for what is only shown.
            let _ = border.send((pane, in_border(verdict)));
        }
    }
}

/// Shows verdicts in the order in which they were given.
async fn draw(panes: Arc<dyn Panes>, mut shown: UnboundedReceiver<InBorder>) {
    while let Some((pane, text)) = shown.recv().await {
        if let Err(error) = panes.show_in_border(&pane, text.as_deref()).await {
            tracing::warn!(?error, pane, "the verdict could not be shown");
        }
    }
}

/// A verdict in a few words; none if the call runs.
fn in_border(verdict: &Verdict) -> Option<String> {
    match &verdict.decision {
        Decision::Block(reason) => {
            Some(shortened(&plain(&format!("blocked: {}", reason_text(verdict, reason))), BORDER))
        }
        Decision::Ask(reason) => Some(shortened(&plain(&format!("asked: {}", reason_text(verdict, reason))), BORDER)),
        Decision::Pass | Decision::Rewrite(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_shown_in_a_few_words() {
        let block = Verdict::block("user:x", format!("no\u{1b}[31m\n{}", "y".repeat(1_000)));
        let shown = in_border(&block).expect("it is shown");
        assert!(shown.starts_with("blocked: no") && shown.len() <= BORDER + 40, "{shown}");
        assert!(!shown.chars().any(char::is_control));
        assert_eq!(in_border(&Verdict::pass()), None);
    }
}
