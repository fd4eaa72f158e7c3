//! One server's side of the protocol as it stands: what it can do, which documents it has open, what it has said.
//!
//! All of it happens in one task. What a server asks is answered as its messages are taken; nothing here waits for
//! anything but the next message.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gen_lsp_types as lsp;
use gen_lsp_types::json_rpc::Error;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::connection::{Connection, Lost, Message};
use super::table::{Complete, Row, Untrusted};
use super::uri;
use crate::process;
use crate::project::Project;

/// How long a server may take to start.
const START: Duration = Duration::from_secs(60);
/// How long a server may take to shut down, and then to exit.
const STOP: Duration = Duration::from_secs(2);
/// Most documents that are open at a server.
const OPEN: usize = 64;
/// The command with which typescript-language-server passes a request on.
const TSSERVER: &str = "typescript.tsserverRequest";

/// A server that has been started and greeted.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) row: &'static Row,
    connection: Connection,
    project: Project,
    root: PathBuf,
    started: SystemTime,
    /// How positions are counted.
    pub(super) encoding: lsp::PositionEncodingKind,
    /// Whether it wants to know of saves, and with the text.
    save: Option<bool>,
    passes_on: bool,
    /// Registrations for being asked for diagnostics, with the identifiers that it wants to be asked with.
    pulls: HashMap<String, Option<String>>,
    documents: HashMap<PathBuf, Document>,
    /// Counts versions over all documents, so that one that is opened again never has an old version.
    version: i32,
    /// Answers to requests that somebody waits for.
    answers: HashMap<i64, Option<Result<Value, Error>>>,
    progress: HashSet<String>,
    /// How often `cargo check` has begun.
    pub(super) cargo_checks: u64,
    /// When the last work in progress ended.
    worked: Instant,
    /// What rust-analyzer says of itself: whether it is at rest, and what is wrong.
    pub(super) resting: bool,
    pub(super) trouble: Option<String>,
}

/// A document that is open at the server.
#[derive(Debug)]
pub(super) struct Document {
    /// The version and text that the server has.
    pub(super) version: i32,
    pub(super) text: String,
    /// What it last published for this version, or for no version since it got this one.
    pub(super) published: Option<Published>,
}

/// What a server has published.
#[derive(Debug)]
pub(super) struct Published {
    /// Whether it said which version this is about.
    pub(super) versioned: bool,
    pub(super) diagnostics: Vec<lsp::Diagnostic>,
    pub(super) at: Instant,
}

/// How a server's diagnostics are got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    Pull,
    Tsserver,
    Publish,
}

impl Client {
    /// Starts a server and greets it.
    pub(super) async fn start(row: &'static Row, project: &Project, root: &Path) -> Result<Self, Lost> {
        let argv = row.command(project, root).ok_or_else(|| Lost("is not installed".into()))?;
        let (program, arguments) = argv.split_first().ok_or_else(|| Lost("is not installed".into()))?;
        // What a program looks for in its folder, such as versions and modules, must not be the project's.
        let folder = if project.trusted { root } else { Path::new("/") };
        let mut command = process::command(project, program, folder);
        command.args(arguments);
        if let (false, Untrusted::Runs(_, variables)) = (project.trusted, row.untrusted) {
            command.envs(variables.iter().copied());
        }
        let connection = Connection::start(&mut command).map_err(|error| Lost(format!("did not start: {error}")))?;
        let mut client = Client {
            row,
            connection,
            project: project.clone(),
            root: root.to_path_buf(),
            started: SystemTime::now(),
            encoding: lsp::PositionEncodingKind::UTF16,
            save: None,
            passes_on: false,
            pulls: HashMap::new(),
            documents: HashMap::new(),
            version: 0,
            answers: HashMap::new(),
            progress: HashSet::new(),
            cargo_checks: 0,
            worked: Instant::now(),
            resting: row.complete != Complete::Rust,
            trouble: None,
        };
        let greeted = timeout(START, client.greet()).await;
        greeted.unwrap_or_else(|_| Err(Lost(format!("did not start in {} s", START.as_secs()))))?;
        Ok(client)
    }

    async fn greet(&mut self) -> Result<(), Lost> {
        let number = self.connection.request::<lsp::InitializeRequest>(self.greeting())?;
        self.answers.insert(number, None);
        let result = loop {
            match self.answered(number) {
                Some(Ok(result)) => break result,
                Some(Err(error)) => return Err(Lost(format!("did not start: {}", error.message))),
                None => self.turn().await?,
            }
        };
        let result = lsp::InitializeResult::deserialize(result);
        let result = result.map_err(|error| Lost(format!("cannot be understood: {error}")))?;
        self.learn(result.capabilities);
        self.connection.notify::<lsp::InitializedNotification>(lsp::InitializedParams::default())
    }

    #[expect(deprecated, reason = "servers before 3.6 of the protocol know no workspace folders")]
    fn greeting(&self) -> lsp::InitializeParams {
        let folder = lsp::WorkspaceFolder { uri: uri::of(&self.root), name: "project".into() };
        let options = (self.row.options)();
        lsp::InitializeParams {
            process_id: i32::try_from(std::process::id()).ok(),
            client_info: Some(lsp::ClientInfo {
                name: "toolgate-lens".into(),
                version: Some(env!("CARGO_PKG_VERSION").into()),
            }),
            root_uri: Some(uri::of(&self.root)),
            capabilities: capabilities(),
            initialization_options: (!options.is_null()).then_some(options),
            workspace_folders_initialize_params: lsp::WorkspaceFoldersInitializeParams {
                workspace_folders: Some(vec![folder].into()),
            },
            ..lsp::InitializeParams::default()
        }
    }

    fn learn(&mut self, capabilities: lsp::ServerCapabilities) {
        if let Some(encoding) = capabilities.position_encoding {
            self.encoding = encoding;
        }
        self.save = match capabilities.text_document_sync {
            Some(lsp::TextDocumentSync::Options(options)) => match options.save {
                Some(lsp::Save::Bool(wanted)) => wanted.then_some(false),
                Some(lsp::Save::SaveOptions(options)) => Some(options.include_text.unwrap_or_default()),
                None => None,
            },
            // The old way to say it leaves saves open; editors send them.
            Some(lsp::TextDocumentSync::Kind(_)) => Some(false),
            None => None,
        };
        if let Some(provider) = capabilities.diagnostic_provider {
            let identifier = match provider {
                lsp::DiagnosticProvider::DiagnosticOptions(options) => options.identifier,
                lsp::DiagnosticProvider::DiagnosticRegistrationOptions(options) => {
                    options.diagnostic_options.identifier
                }
            };
            self.pulls.insert(String::new(), identifier);
        }
        let commands = capabilities.execute_command_provider.map(|provider| provider.commands).unwrap_or_default();
        self.passes_on = commands.iter().any(|command| command == TSSERVER);
    }

    /// Takes the next message.
    pub(super) async fn turn(&mut self) -> Result<(), Lost> {
        let message = self.connection.next().await?;
        self.take(message)
    }

    fn take(&mut self, message: Message) -> Result<(), Lost> {
        match (message.method, message.id) {
            (Some(method), Some(id)) => {
                let result = self.serve(&method, message.params);
                self.connection.answer(&id, result)?;
            }
            (Some(method), None) => self.hear(&method, message.params),
            (None, id) => {
                let awaited = id.and_then(|id| self.answers.get_mut(&id.as_i64()?));
                if let Some(awaited) = awaited {
                    *awaited = Some(message.error.map_or(Ok(message.result), Err));
                }
            }
        }
        Ok(())
    }

    /// The answer to a request of the server's; nothing if it is not known.
    fn serve(&mut self, method: &str, params: Value) -> Option<Value> {
        match method {
            "workspace/configuration" => {
                let params = lsp::ConfigurationParams::deserialize(params).ok()?;
                let section = |item: &lsp::ConfigurationItem| item.section.clone().unwrap_or_default();
                let sections = params.items.iter().map(section);
                Some(sections.map(|section| (self.row.settings)(&self.project, &self.root, &section)).collect())
            }
            "client/registerCapability" => {
                for registration in lsp::RegistrationParams::deserialize(params).ok()?.registrations {
                    if registration.method == "textDocument/diagnostic" {
                        let options = registration.register_options.unwrap_or_default();
                        let identifier = options.get("identifier").and_then(Value::as_str).map(str::to_owned);
                        self.pulls.insert(registration.id, identifier);
                    }
                }
                Some(Value::Null)
            }
            "client/unregisterCapability" => {
                for registration in lsp::UnregistrationParams::deserialize(params).ok()?.unregisterations {
                    self.pulls.remove(&registration.id);
                }
                Some(Value::Null)
            }
            "workspace/workspaceFolders" => Some(json!([{ "uri": uri::of(&self.root).0, "name": "project" }])),
            "workspace/applyEdit" => Some(json!({ "applied": false })),
            "window/workDoneProgress/create" | "window/showMessageRequest" | "workspace/diagnostic/refresh" => {
                Some(Value::Null)
            }
            _ => None,
        }
    }

    fn hear(&mut self, method: &str, params: Value) {
        match method {
            "textDocument/publishDiagnostics" => {
                if let Ok(params) = lsp::PublishDiagnosticsParams::deserialize(params) {
                    self.published(params);
                }
            }
            "$/progress" => {
                let token = params.get("token").map(Value::to_string).unwrap_or_default();
                self.progressed(token, params.pointer("/value/kind").and_then(Value::as_str).unwrap_or_default());
            }
            "experimental/serverStatus" => {
                self.resting = params.get("quiescent").and_then(Value::as_bool).unwrap_or(self.resting);
                let said = params.get("message").and_then(Value::as_str).unwrap_or("it does not say why").to_owned();
                self.trouble = (params.get("health").and_then(Value::as_str) == Some("error")).then_some(said);
            }
            _ => {}
        }
    }

    /// Keeps what is said of documents that are open, as they are now.
    fn published(&mut self, params: lsp::PublishDiagnosticsParams) {
        let document = uri::path(&params.uri).and_then(|path| self.documents.get_mut(&path));
        if let Some(document) = document.filter(|open| params.version.is_none_or(|version| version == open.version)) {
            let versioned = params.version.is_some();
            document.published = Some(Published { versioned, diagnostics: params.diagnostics, at: Instant::now() });
        }
    }

    fn progressed(&mut self, token: String, kind: &str) {
        match kind {
            "begin" => {
                self.cargo_checks += u64::from(token.contains("flycheck"));
                self.progress.insert(token);
            }
            "end" => {
                self.progress.remove(&token);
                self.worked = Instant::now();
            }
            _ => {}
        }
    }

    /// Whether `cargo check` is at work.
    pub(super) fn checks_with_cargo(&self) -> bool {
        self.progress.iter().any(|token| token.contains("flycheck"))
    }

    /// Since when no work has been in progress; nothing while there is some.
    pub(super) fn quiet_since(&self) -> Option<Instant> {
        self.progress.is_empty().then_some(self.worked)
    }

    /// How its diagnostics are got now. It may say later that it wants to be asked.
    pub(super) fn means(&self) -> Means {
        match (self.pulls.is_empty(), self.row.complete) {
            (false, _) => Means::Pull,
            (true, Complete::Tsserver) if self.passes_on => Means::Tsserver,
            (true, _) => Means::Publish,
        }
    }

    /// Asks for the diagnostics of an open document. Returns the numbers of the requests.
    pub(super) fn pull(&mut self, file: &Path) -> Result<Vec<i64>, Lost> {
        let identifiers: HashSet<Option<String>> = self.pulls.values().cloned().collect();
        let mut numbers = Vec::new();
        for identifier in identifiers {
            let params = lsp::DocumentDiagnosticParams {
                text_document: lsp::TextDocumentIdentifier { uri: uri::of(file) },
                identifier,
                previous_result_id: None,
                work_done_progress_params: lsp::WorkDoneProgressParams::default(),
                partial_result_params: lsp::PartialResultParams::default(),
            };
            numbers.push(self.connection.request::<lsp::DocumentDiagnosticRequest>(params)?);
        }
        self.answers.extend(numbers.iter().map(|number| (*number, None)));
        Ok(numbers)
    }

    /// Asks the TypeScript server behind typescript-language-server, which by itself says nothing about a file that
    /// stays clean.
    pub(super) fn ask_tsserver(&mut self, file: &Path) -> Result<Vec<i64>, Lost> {
        let mut numbers = Vec::new();
        for command in ["syntacticDiagnosticsSync", "semanticDiagnosticsSync"] {
            let params = lsp::ExecuteCommandParams {
                command: TSSERVER.into(),
                arguments: Some(vec![json!(command), json!({ "file": uri::of(file).0 })]),
                ..lsp::ExecuteCommandParams::default()
            };
            numbers.push(self.connection.request::<lsp::ExecuteCommandRequest>(params)?);
        }
        self.answers.extend(numbers.iter().map(|number| (*number, None)));
        Ok(numbers)
    }

    /// The answer to a request, once, if it has come.
    pub(super) fn answered(&mut self, number: i64) -> Option<Result<Value, Error>> {
        if self.answers.get(&number)?.is_none() {
            return None;
        }
        self.answers.remove(&number).flatten()
    }

    /// Waits for no more answers.
    pub(super) fn forget(&mut self) {
        self.answers.clear();
    }

    pub(super) fn document(&self, file: &Path) -> Option<&Document> {
        self.documents.get(file)
    }

    pub(super) fn project(&self) -> &Project {
        &self.project
    }

    /// A file's name for people.
    pub(super) fn shown<'a>(&self, file: &'a Path) -> std::path::Display<'a> {
        file.strip_prefix(&self.project.root).unwrap_or(file).display()
    }

    /// The documents that are open.
    pub(super) fn open(&self) -> Vec<PathBuf> {
        self.documents.keys().cloned().collect()
    }

    /// Tells the server what is in files now; nothing for a file that is gone. `asked` are those whose diagnostics are
    /// wanted: what is published for them counts only from now on.
    pub(super) fn sync(&mut self, files: Vec<(PathBuf, Option<String>)>, asked: &[PathBuf]) -> Result<(), Lost> {
        let differs = |(file, text): &(PathBuf, Option<String>)| {
            self.documents.get(file).map(|document| &document.text) != text.as_ref()
        };
        let changed: HashSet<PathBuf> =
            files.iter().filter(|file| differs(file)).map(|(file, _)| file.clone()).collect();
        self.tell_watched(&files, &changed)?;
        for (file, text) in files {
            let Some(text) = text else {
                self.close(&file)?;
                continue;
            };
            if changed.contains(&file) || (asked.contains(&file) && self.means() == Means::Publish) {
                self.write(&file, text)?;
            }
            if changed.contains(&file) || (asked.contains(&file) && self.row.complete == Complete::Rust) {
                self.saved(&file)?;
            }
        }
        self.close_oldest(asked)
    }

    fn tell_watched(&self, files: &[(PathBuf, Option<String>)], changed: &HashSet<PathBuf>) -> Result<(), Lost> {
        let events = files.iter().filter(|(file, _)| changed.contains(file));
        let events =
            events.map(|(file, text)| lsp::FileEvent { uri: uri::of(file), kind: self.event(file, text.is_some()) });
        let changes: Vec<lsp::FileEvent> = events.collect();
        if changes.is_empty() {
            return Ok(());
        }
        self.connection.notify::<lsp::DidChangeWatchedFilesNotification>(lsp::DidChangeWatchedFilesParams { changes })
    }

    /// What happened to a file as far as the server knows it.
    fn event(&self, file: &Path, exists: bool) -> lsp::FileChangeType {
        let new = || file.metadata().and_then(|found| found.created()).is_ok_and(|created| created >= self.started);
        match (exists, self.documents.contains_key(file)) {
            // What the server is not told of may still be there.
            (false, _) if !file.exists() => lsp::FileChangeType::Deleted,
            (false, _) => lsp::FileChangeType::Changed,
            (true, false) if new() => lsp::FileChangeType::Created,
            (true, _) => lsp::FileChangeType::Changed,
        }
    }

    /// Opens a document, or gives it a new version.
    fn write(&mut self, file: &Path, text: String) -> Result<(), Lost> {
        self.version = self.version.saturating_add(1);
        let (version, uri) = (self.version, uri::of(file));
        if self.documents.contains_key(file) {
            let mut params = json!({
                "textDocument": { "uri": uri.0, "version": version },
                "contentChanges": [{ "text": text }],
            });
            if let (Value::Object(more), Some(params)) = ((self.row.change)(), params.as_object_mut()) {
                params.extend(more);
            }
            self.connection.notify_with("textDocument/didChange", params)?;
        } else {
            let language_id = self.row.language(file).unwrap_or_default().to_owned().into();
            let text_document = lsp::TextDocumentItem { uri, language_id, version, text: text.clone() };
            let params = lsp::DidOpenTextDocumentParams { text_document };
            self.connection.notify::<lsp::DidOpenTextDocumentNotification>(params)?;
        }
        self.documents.insert(file.to_path_buf(), Document { version, text, published: None });
        Ok(())
    }

    fn saved(&self, file: &Path) -> Result<(), Lost> {
        let (Some(with_text), Some(document)) = (self.save, self.documents.get(file)) else { return Ok(()) };
        let text_document = lsp::TextDocumentIdentifier { uri: uri::of(file) };
        let text = with_text.then(|| document.text.clone());
        self.connection
            .notify::<lsp::DidSaveTextDocumentNotification>(lsp::DidSaveTextDocumentParams { text_document, text })
    }

    fn close(&mut self, file: &Path) -> Result<(), Lost> {
        if self.documents.remove(file).is_none() {
            return Ok(());
        }
        let text_document = lsp::TextDocumentIdentifier { uri: uri::of(file) };
        self.connection
            .notify::<lsp::DidCloseTextDocumentNotification>(lsp::DidCloseTextDocumentParams { text_document })
    }

    /// Closes what was changed longest ago, until few enough are open.
    fn close_oldest(&mut self, asked: &[PathBuf]) -> Result<(), Lost> {
        let mut others: Vec<(i32, PathBuf)> = Vec::new();
        others.extend(self.documents.iter().map(|(file, document)| (document.version, file.clone())));
        others.retain(|(_, file)| !asked.contains(file));
        others.sort();
        let over = self.documents.len().saturating_sub(OPEN);
        others.into_iter().take(over).try_for_each(|(_, file)| self.close(&file))
    }

    /// Ends the server as the protocol has it. What does not end in time is killed, with all that it started.
    pub(super) async fn stop(mut self) {
        let asked = async {
            let number = self.connection.request::<lsp::ShutdownRequest>(())?;
            self.answers.insert(number, None);
            while self.answered(number).is_none() {
                self.turn().await?;
            }
            self.connection.notify::<lsp::ExitNotification>(())
        };
        if let Ok(Ok(())) = timeout(STOP, asked).await {
            let _ = timeout(STOP, self.connection.group.child.wait()).await;
        }
    }
}

fn capabilities() -> lsp::ClientCapabilities {
    let diagnostics =
        lsp::DiagnosticsCapabilities { related_information: Some(true), ..lsp::DiagnosticsCapabilities::default() };
    lsp::ClientCapabilities {
        workspace: Some(lsp::WorkspaceClientCapabilities {
            configuration: Some(true),
            workspace_folders: Some(true),
            // Without it pyright watches files by itself, which is better: only some of the changes pass the daemon.
            did_change_watched_files: Some(lsp::DidChangeWatchedFilesClientCapabilities {
                dynamic_registration: Some(false),
                ..lsp::DidChangeWatchedFilesClientCapabilities::default()
            }),
            diagnostics: Some(lsp::DiagnosticWorkspaceClientCapabilities { refresh_support: Some(true) }),
            ..lsp::WorkspaceClientCapabilities::default()
        }),
        text_document: Some(lsp::TextDocumentClientCapabilities {
            synchronization: Some(lsp::TextDocumentSyncClientCapabilities {
                did_save: Some(true),
                ..lsp::TextDocumentSyncClientCapabilities::default()
            }),
            publish_diagnostics: Some(lsp::PublishDiagnosticsClientCapabilities {
                version_support: Some(true),
                diagnostics_capabilities: diagnostics.clone(),
            }),
            diagnostic: Some(lsp::DiagnosticClientCapabilities {
                dynamic_registration: Some(true),
                diagnostics_capabilities: diagnostics,
                ..lsp::DiagnosticClientCapabilities::default()
            }),
            ..lsp::TextDocumentClientCapabilities::default()
        }),
        window: Some(lsp::WindowClientCapabilities {
            work_done_progress: Some(true),
            ..lsp::WindowClientCapabilities::default()
        }),
        general: Some(lsp::GeneralClientCapabilities {
            position_encodings: Some(vec![lsp::PositionEncodingKind::UTF8, lsp::PositionEncodingKind::UTF16]),
            ..lsp::GeneralClientCapabilities::default()
        }),
        // How rust-analyzer says that it has loaded everything.
        experimental: Some(json!({ "serverStatusNotification": true })),
        ..lsp::ClientCapabilities::default()
    }
}
