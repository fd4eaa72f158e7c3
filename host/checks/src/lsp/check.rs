//! One check of some files with one server: tells it what is in them, and waits until its diagnostics are complete.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gen_lsp_types as lsp;
use gen_lsp_types::json_rpc::Error;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use toolgate_private::read_regular;

use super::client::{Client, Means};
use super::connection::Lost;
use super::diagnostics;
use super::table::Complete;
use crate::report::{Outcome, Status};

/// Most bytes of a file.
const FILE: u64 = 4 << 20;
/// Most bytes of all files that a server is told of together.
const FILES: usize = 24 << 20;
/// How often a server may ask to be asked again about one file.
const MAX_RETRIES: u32 = 50;

/// How long to wait before that.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// A file whose diagnostics are wanted.
struct DiagnosticsRequest {
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
    let name = client.row.name;
    let Ok(told) = timeout_at(deadline, tell(client, files)).await else {
        let note = format!("{name} did not get {} file(s): they could not be read in time", files.len());
        return Ok(Outcome { files: files.len(), ..Outcome::error(note) });
    };
    let (files, mut notes) = told?;
    let mut asked: Vec<DiagnosticsRequest> =
        files.into_iter().map(|file| DiagnosticsRequest { file, answer: Answer::None, again: 0 }).collect();
    let checks = client.cargo_checks;
    if let Ok(lost) = timeout_at(deadline, wait(client, &mut asked, settle, checks)).await {
        lost?;
    }
    let (mut problems, mut seen, mut failed) = (Vec::new(), 0, false);
    for DiagnosticsRequest { file, answer, .. } in &asked {
        let Some(document) = client.document(file) else { continue };
        let published = document.published.as_ref().map(|published| published.diagnostics.as_slice());
        let (asked, published) = match answer {
            // What the compiler says is published, and says more than what is found without it.
            Answer::Complete(found) if client.row.complete == Complete::Rust => (found.as_slice(), published),
            Answer::Complete(found) => (found.as_slice(), None),
            Answer::Refused(reason) => {
                notes.push(format!("{name} {reason} ({})", client.shown(file)));
                (seen, failed) = (seen + 1, true);
                continue;
            }
            // What it has said so far is worth having, but it is not all.
            _ => {
                notes.push(format!("{name} did not finish {} in time", client.shown(file)));
                failed = true;
                (&[][..], published)
            }
        };
        let found: Vec<lsp::Diagnostic> = published.into_iter().flatten().chain(asked).cloned().collect();
        let withheld = diagnostics::withheld(file, &document.text, &found);
        if let (false, Some(why)) = (client.project().trusted, withheld) {
            notes.push(format!("{name} did not check {}: not trusted: {why}", client.shown(file)));
            continue;
        }
        seen += 1;
        problems.extend(diagnostics::problems(file, &document.text, &client.encoding, name, &found));
    }
    let status = match (problems.is_empty(), failed, seen) {
        (false, _, _) => Status::Issues,
        (true, true, _) => Status::Error,
        (true, false, 0) => Status::Skipped,
        (true, false, _) => Status::Clean,
    };
    Ok(Outcome { status, problems, notes, files: seen, ..Outcome::default() })
}

/// Tells the server what is in these files, and in those that it has open. Returns the ones that can be checked, and
/// notes on the others. Nothing is told before everything is read.
async fn tell(client: &mut Client, files: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<String>), Lost> {
    // Those that are asked for come first, so that they are told of if not all can be.
    let mut all = files.to_vec();
    all.extend(client.open().into_iter().filter(|open| !files.contains(open)));
    let root = client.project().root.clone();
    let read = tokio::task::spawn_blocking(move || read_all(&root, all));
    let read = read.await.map_err(|error| Lost(error.to_string()))?;
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
                    notes.push(format!("{} did not get {}: {error}", client.row.name, client.shown(&file)));
                }
                texts.push((file, None));
            }
        }
    }
    client.sync(texts, &asked)?;
    Ok((asked, notes))
}

fn read_all(root: &Path, files: Vec<PathBuf>) -> Vec<(io::Result<String>, PathBuf)> {
    let mut left = FILES;
    let mut one = |file: PathBuf| {
        let text = read(root, &file).and_then(|text| {
            left = left.checked_sub(text.len()).ok_or_else(|| io::Error::other("all files together are too large"))?;
            Ok(text)
        });
        (text, file)
    };
    files.into_iter().map(&mut one).collect()
}

/// Reads a file as it is now: since it was named or opened, it may have become anything.
fn read(root: &Path, file: &Path) -> io::Result<String> {
    let real = file.canonicalize()?;
    if !real.starts_with(root) {
        return Err(io::Error::other("it leads out of the project"));
    }
    String::from_utf8(read_regular(&real, FILE)?).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// Waits until everything is answered.
async fn wait(
    client: &mut Client,
    asked: &mut [DiagnosticsRequest],
    settle: Duration,
    checks: u64,
) -> Result<(), Lost> {
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
fn advance(
    client: &mut Client,
    asked: &mut DiagnosticsRequest,
    settle: Duration,
    checks: u64,
) -> Result<Option<Instant>, Lost> {
    if let (Some(trouble), true, Answer::None) = (&client.trouble, client.resting, &asked.answer) {
        asked.answer = Answer::Refused(format!("failed: {}", trouble.lines().next().unwrap_or_default()));
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
    Ok(refused.then(|| Instant::now() + RETRY_INTERVAL))
}

/// Whether it makes sense to ask. Before it has loaded everything rust-analyzer finds nothing, and what is published
/// with the end of `cargo check` arrives before the answer to a question that is asked after it.
fn ready(client: &Client, checks: u64) -> bool {
    client.row.complete != Complete::Rust
        || (client.resting && client.cargo_checks > checks && !client.checks_with_cargo())
}

/// Completes a file whose diagnostics are published, or says when that may be.
fn published(client: &Client, asked: &mut DiagnosticsRequest, settle: Duration) -> Option<Instant> {
    let published = client.document(&asked.file)?.published.as_ref()?;
    let first = published.versioned && client.row.complete == Complete::First;
    let silent = published.at.max(client.quiet_since()?) + settle;
    if first || Instant::now() >= silent {
        // What cannot be asked publishes errors of syntax first, and those of types some time later.
        let early = client.row.complete == Complete::Tsserver && published.diagnostics.is_empty();
        asked.answer = if early {
            Answer::Refused("is too old to report that a file is clean".into())
        } else {
            Answer::Complete(published.diagnostics.clone())
        };
        return None;
    }
    Some(silent)
}

/// Takes the answers that have come.
fn collect(client: &mut Client, asked: &mut DiagnosticsRequest) {
    let Answer::Waiting(numbers, found) = &mut asked.answer else { return };
    let mut next = None;
    numbers.retain(|number| match client.answered(*number) {
        None => true,
        Some(answer) => {
            match answer.map(understood) {
                Ok(Some(more)) => found.extend(more),
                Ok(None) => next = Some(Answer::Refused("gave an invalid answer".into())),
                Err(error) if again(&error) && asked.again < MAX_RETRIES => next = Some(Answer::None),
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
