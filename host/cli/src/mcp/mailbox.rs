//! What happened in the terminal, until the agent makes its next call: a client cannot be made to start a turn.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use toolgate_host::capability::{Answer, Message, Outgoing};

/// Most messages that are kept; of more the oldest go.
const MOST: usize = 16;

/// Most bytes of theirs.
const BYTES: usize = 64 << 10;

/// Messages of the component's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mailbox(Arc<Mutex<QueuedMessages>>);

#[derive(Debug, Default)]
struct QueuedMessages {
    texts: VecDeque<String>,
    lost: usize,
}

impl Mailbox {
    /// What there is, above the text of a result.
    pub(crate) fn before(&self, text: String) -> String {
        let QueuedMessages { texts, lost } =
            std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let lost = (lost > 0).then(|| format!("[{lost} earlier messages omitted]"));
        let all: Vec<String> = lost.into_iter().chain(texts).chain([text]).collect();
        all.join("\n\n")
    }
}

#[async_trait]
impl Message for Mailbox {
    async fn send(&self, outgoing: Outgoing) -> Answer<()> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.texts.push_back(outgoing.text);
        while kept.texts.len() > MOST || kept.texts.iter().map(String::len).sum::<usize>() > BYTES {
            kept.texts.pop_front();
            kept.lost += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use toolgate_host::capability::Delivery;

    use super::*;

    #[tokio::test]
    async fn messages_wait_for_the_next_result_and_are_bounded() {
        let mailbox = Mailbox::default();
        let message = |text: String| Outgoing {
            kind: "tmux-activity".into(),
            text,
            details: String::new(),
            visible: true,
            delivery: Delivery::FollowUp,
            trigger_turn: true,
        };
        let cases = [
            (vec![], "out".to_owned()),
            (vec!["a".to_owned(), "b".to_owned()], "a\n\nb\n\nout".to_owned()),
            (
                (0..=MOST).map(|n| n.to_string()).collect(),
                format!(
                    "[1 earlier messages omitted]\n\n{}\n\nout",
                    (1..=MOST).map(|n| n.to_string()).collect::<Vec<_>>().join("\n\n")
                ),
            ),
            (vec!["x".repeat(BYTES + 1)], "[1 earlier messages omitted]\n\nout".to_owned()),
        ];
        for (texts, expected) in cases {
            for text in texts {
                assert_eq!(mailbox.send(message(text)).await, Ok(()));
            }
            assert_eq!(mailbox.before("out".to_owned()), expected);
            assert_eq!(mailbox.before("out".to_owned()), "out", "each is told once");
        }
    }
}
