//! Who gives verdicts: this process, or the resident host that has the component warm.

use toolgate_host::Plugin;

use crate::frames::Frames;
use crate::gate_builder;
use crate::judge::{Judged, Life, Question, evaluate_in_process};
use crate::resident;

/// Who gives verdicts.
pub enum Evaluator {
    /// The resident host if it is there, else this process, which ends with its answer.
    OneShot,
    /// This process, which lives on.
    LongLived {
        /// The guard.
        plugin: Box<Plugin>,
        /// Where components show things.
        frames: Option<Frames>,
    },
}

impl Evaluator {
    /// Judges. An error is a sentence, and the call does not run.
    pub(crate) async fn judge(&self, question: &Question) -> Result<Judged, String> {
        match self {
            Evaluator::OneShot => match resident::ask(question) {
                Some(judged) => {
                    tracing::debug!("evaluated by the resident host");
                    Ok(judged)
                }
                None => {
                    let plugin = gate_builder::default_plugin().map_err(|error| error.to_string())?;
                    evaluate_in_process(&plugin, question, None, Life::Call).await
                }
            },
            Evaluator::LongLived { plugin, frames } => {
                let judged = evaluate_in_process(plugin, question, frames.as_ref(), Life::Session).await;
                if gate_builder::misses_snapshots(plugin) {
                    // Without one the next call takes longer, and nothing else.
                    let _ = std::thread::Builder::new().spawn(gate_builder::take_snapshots);
                }
                judged
            }
        }
    }
}
