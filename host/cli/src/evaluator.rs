//! Who gives verdicts: this process, or the resident host that has the component warm.

use toolgate_host::Plugin;

use crate::judge::{Judged, Life, Question, here};
use crate::serve::{Frames, resident};
use crate::standing;

/// Who gives verdicts.
pub(crate) enum Judge {
    /// The resident host if it is there, else this process, which ends with its answer.
    ForOne,
    /// This process, which lives on.
    ForMany {
        plugin: Box<Plugin>,
        /// Where components show things.
        frames: Option<Frames>,
    },
}

impl Judge {
    /// Judges. An error is a sentence, and the call does not run.
    pub(crate) async fn judge(&self, question: &Question) -> Result<Judged, String> {
        match self {
            Judge::ForOne => match resident::ask(question) {
                Some(judged) => {
                    tracing::debug!("judged by the resident host");
                    Ok(judged)
                }
                None => {
                    let plugin = standing::default_plugin().map_err(|error| error.to_string())?;
                    here(&plugin, question, None, Life::Call).await
                }
            },
            Judge::ForMany { plugin, frames } => {
                let judged = here(plugin, question, frames.as_ref(), Life::Session).await;
                if standing::misses_snapshots(plugin) {
                    // Without one the next call takes longer, and nothing else.
                    let _ = std::thread::Builder::new().spawn(standing::take_snapshots);
                }
                judged
            }
        }
    }
}
