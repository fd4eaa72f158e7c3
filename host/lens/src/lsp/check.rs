//! One check of some files with one server: tells it what is in them, and waits until its diagnostics are complete.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use gen_lsp_types as lsp;
use gen_lsp_types::json_rpc::Error;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::client::{Client, Means};
use super::connection::Lost;
use super::diagnostics;
use super::table::Complete;
use crate::report::{Outcome, Status};

/// Most bytes of a file.
const FILE: u64 = 4 << 20;
/// How often a server may ask to be asked again about one file.
const AGAIN: u32 = 50;

/// How long to wait before that.
const PAUSE: Duration = Duration::from_millis(50);

/// A file whose diagnostics are wanted.
struct Asked {
    file: PathBuf,
    answer: Answer,
    again: u32,
}

/// What the server has answered about a file.
enum Answer {
    /// It has not been asked.
    None,
    /// It has been asked with these requests; this is what it has said to some of them.
    Waiting(Vec<i64>, Vec<lsp::Diagnostic>),
    /// All that it has to say.
    Complete(Vec<lsp::Diagnostic>),
    /// It does not answer, for this reason.
    Refused(String),
}

/// Checks files until `deadline`. `settle` is how long a server must be silent, if nothing else shows that it is done.
pub(super) async fn check(
    client: &mut Client,
    files: &[PathBuf],
    settle: Duration,
    deadline: Instant,
) -> Result<Outcome, Lost> {
    client.forget();
    let (files, mut notes) = tell(client, files).await?;
    let mut asked: Vec<Asked> = files.into_iter().map(|file| Asked { file, answer: Answer::None, again: 0 }).collect();
    let checks = client.cargo_checks;
    if let Ok(lost) = timeout_at(deadline, wait(client, &mut asked, settle, checks)).await {
        lost?;
    }
    let name = client.row.name;
    let mut problems = Vec::new();
    for Asked { file, answer, .. } in &asked {
        let Some(document) = client.document(file) else { continue };
        let published = document.published.as_ref().map(|published| published.diagnostics.as_slice());
        let (mut found, published) = match answer {
            Answer::Complete(found) if client.row.complete == Complete::Rust => (found.clone(), published),
            Answer::Complete(found) => (found.clone(), None),
            Answer::Refused(reason) => {
                notes.push(format!("{name} {reason} ({})", client.shown(file)));
                continue;
            }
            // What it has said so far is worth having, but it is not all.
            _ => {
                notes.push(format!("{name} did not finish {} in time", client.shown(file)));
                (Vec::new(), published)
            }
        };
        found.extend(published.into_iter().flatten().cloned());
        problems.extend(diagnostics::problems(file, &document.text, &client.encoding, name, &found));
    }
    let complete = asked.iter().filter(|asked| matches!(asked.answer, Answer::Complete(_))).count();
    let status = match (problems.is_empty(), complete == asked.len(), asked.is_empty()) {
        (false, _, _) => Status::Issues,
        (true, false, _) => Status::Error,
        (true, true, true) => Status::Skipped,
        (true, true, false) => Status::Clean,
    };
    Ok(Outcome { status, problems, notes, files: asked.len(), ..Outcome::default() })
}

/// Tells the server what is in these files, and in those that it has open. Returns the ones that can be checked, and
/// notes on the others.
async fn tell(client: &mut Client, files: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<String>), Lost> {
    let mut all = files.to_vec();
    all.extend(client.open());
    all.sort();
    all.dedup();
    let read = move || all.into_iter().map(|file| (read(&file), file)).collect::<Vec<_>>();
    let read = tokio::task::spawn_blocking(read).await.map_err(|error| Lost(error.to_string()))?;
    let (mut texts, mut notes, mut asked) = (Vec::new(), Vec::new(), Vec::new());
    for (text, file) in read {
        match text {
            Ok(text) => {
                if files.contains(&file) {
                    asked.push(file.clone());
                }
                texts.push((file, Some(text)));
            }
            Err(error) => {
                if files.contains(&file) && error.kind() != io::ErrorKind::NotFound {
                    notes.push(format!("{} was not given {}: {error}", client.row.name, client.shown(&file)));
                }
                texts.push((file, None));
            }
        }
    }
    client.sync(texts, &asked)?;
    Ok((asked, notes))
}

fn read(file: &std::path::Path) -> io::Result<String> {
    let length = file.metadata()?.len();
    if length > FILE {
        return Err(io::Error::other(format!("it has {length} bytes")));
    }
    std::fs::read_to_string(file)
}

/// Waits until everything is answered.
async fn wait(client: &mut Client, asked: &mut [Asked], settle: Duration, checks: u64) -> Result<(), Lost> {
    loop {
        let mut wake = None;
        for asked in &mut *asked {
            let later = advance(client, asked, settle, checks)?;
            wake = [wake, later].into_iter().flatten().min();
        }
        if asked.iter().all(|asked| matches!(asked.answer, Answer::Complete(_) | Answer::Refused(_))) {
            return Ok(());
        }
        match wake {
            Some(wake) => timeout_at(wake, client.turn()).await.unwrap_or(Ok(()))?,
            None => client.turn().await?,
        }
    }
}

/// Takes one file as far as it goes now. Returns when to look again, if there is no message before.
fn advance(client: &mut Client, asked: &mut Asked, settle: Duration, checks: u64) -> Result<Option<Instant>, Lost> {
    if let (Some(trouble), Answer::None) = (&client.trouble, &asked.answer) {
        asked.answer = Answer::Refused(format!("is in trouble: {trouble}"));
    }
    if matches!(asked.answer, Answer::None) && ready(client, checks) {
        let numbers = match client.means() {
            Means::Pull => client.pull(&asked.file)?,
            Means::Tsserver => client.ask_tsserver(&asked.file)?,
            Means::Publish => return Ok(published(client, asked, settle)),
        };
        asked.answer = Answer::Waiting(numbers, Vec::new());
    }
    collect(client, asked);
    let refused = matches!(asked.answer, Answer::None) && asked.again > 0;
    Ok(refused.then(|| Instant::now() + PAUSE))
}

/// Whether it makes sense to ask. Before it has loaded everything rust-analyzer finds nothing, and what is published
/// with the end of `cargo check` arrives before the answer to a question that is asked after it.
fn ready(client: &Client, checks: u64) -> bool {
    client.row.complete != Complete::Rust
        || (client.resting && client.cargo_checks > checks && !client.checks_with_cargo())
}

/// Completes a file whose diagnostics are published, or says when that may be.
fn published(client: &Client, asked: &mut Asked, settle: Duration) -> Option<Instant> {
    let published = client.document(&asked.file)?.published.as_ref()?;
    let first = published.versioned && client.row.complete == Complete::First;
    let silent = published.at.max(client.quiet_since()?) + settle;
    if first || Instant::now() >= silent {
        asked.answer = Answer::Complete(published.diagnostics.clone());
        return None;
    }
    Some(silent)
}

/// Takes the answers that have come.
fn collect(client: &mut Client, asked: &mut Asked) {
    let Answer::Waiting(numbers, found) = &mut asked.answer else { return };
    let mut next = None;
    numbers.retain(|number| match client.answered(*number) {
        None => true,
        Some(answer) => {
            match answer.map(understood) {
                Ok(Some(more)) => found.extend(more),
                Ok(None) => next = Some(Answer::Refused("gave an answer that makes no sense".into())),
                Err(error) if again(&error) && asked.again < AGAIN => next = Some(Answer::None),
                Err(error) => next = Some(Answer::Refused(format!("says: {}", error.message))),
            }
            false
        }
    });
    if found.iter().any(unlinked) {
        next = Some(Answer::Refused("does not know it as part of a crate".into()));
    } else if let (None, true) = (&next, numbers.is_empty()) {
        next = Some(Answer::Complete(std::mem::take(found)));
    }
    if let Some(next) = next {
        asked.again += u32::from(matches!(next, Answer::None));
        asked.answer = next;
    }
}

/// rust-analyzer's hint that it finds nothing in a file because nothing includes it.
fn unlinked(diagnostic: &lsp::Diagnostic) -> bool {
    diagnostic.code == Some(lsp::Code::String("unlinked-file".into()))
}

fn understood(answer: Value) -> Option<Vec<lsp::Diagnostic>> {
    if answer.get("success").is_some() {
        return diagnostics::tsserver(&answer);
    }
    match lsp::DocumentDiagnosticReport::deserialize(answer).ok()? {
        lsp::DocumentDiagnosticReport::RelatedFullDocumentDiagnosticReport(report) => {
            Some(report.full_document_diagnostic_report.items)
        }
        // There is nothing that it could be unchanged from.
        lsp::DocumentDiagnosticReport::RelatedUnchangedDocumentDiagnosticReport(_) => None,
    }
}

/// Whether a server means: ask again. Its state changed while it was at it.
fn again(error: &Error) -> bool {
    const CONTENT_MODIFIED: i32 = -32801;
    const SERVER_CANCELLED: i32 = -32802;
    [CONTENT_MODIFIED, SERVER_CANCELLED].contains(&i32::from(error.code))
}
