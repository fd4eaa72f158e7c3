//! The lens's side of the contract: what it is told, and what the host does for it.

use std::rc::Rc;

use toolgate_shell::FileOracle;

use super::bindings::exports::toolgate::plugin::{execution_observer, handover, lifecycle, renderer, turn_observer};
use super::bindings::toolgate::plugin::types::{Error, Level};
use super::bindings::toolgate::plugin::{clock, daemon, files, git, log, message, ui};
use super::{Component, LENS, context, describe, diagnostic, facts};
use crate::lens::{self, Lens, SessionFacts};
use toolgate_rules::Layer;

/// Starts the lens, which needs no rules.
pub(super) fn start(session: lifecycle::Session) -> lifecycle::Started {
    let context = context(&session);
    let facts = SessionFacts {
        cwd: session.cwd,
        home: session.home,
        root: session.workspace_root,
        reason: context.get("reason").and_then(serde_json::Value::as_str).map(str::to_owned),
    };
    let problems = LENS.with_borrow_mut(|lens| lens.start(&facts, &mut LensImports));
    lifecycle::Started { status: String::new(), diagnostics: problems.into_iter().map(diagnostic).collect() }
}

impl execution_observer::Guest for Component {
    fn on_update(update: execution_observer::Update) {
        LENS.with_borrow_mut(|lens| lens.on_update(&update.tool, &update.partial, &mut LensImports));
    }

    fn on_end(end: execution_observer::End) {
        LENS.with_borrow_mut(|lens| lens.on_end(&end.tool, &end.outcome, &mut LensImports));
    }
}

impl turn_observer::Guest for Component {
    fn on_turn_end(turn: turn_observer::Turn) -> Option<String> {
        LENS.with_borrow_mut(|lens| lens.on_turn_end(&turn.context, &mut LensImports))
    }
}

impl renderer::Guest for Component {
    fn render(kind: String, text: String, details: String, expanded: bool, width: u32) -> Vec<Vec<renderer::Span>> {
        let span = |span: lens::Span| renderer::Span { text: span.text, style: span.style.to_owned() };
        let lines = lens::render(&kind, &text, &details, expanded, width);
        lines.into_iter().map(|line| line.into_iter().map(span).collect()).collect()
    }
}

impl handover::Guest for Component {
    fn save() -> Vec<u8> {
        LENS.with_borrow(Lens::save)
    }

    fn restore(state: Vec<u8>) -> Result<(), String> {
        LENS.with_borrow_mut(|lens| lens.restore(&state));
        Ok(())
    }
}

/// What the host does for the lens.
pub(super) struct LensImports;

impl lens::LensHost for LensImports {
    fn config(&mut self, name: &str) -> Result<Vec<lens::ConfigFile>, String> {
        let found = files::read_config(name).map_err(|error| describe(&error))?;
        let read = found.into_iter().map(|file| lens::ConfigFile {
            path: file.path,
            layer: if file.layer == "user" { Layer::User } else { Layer::Project },
            content: file.content.map_err(|error| describe(&error)),
        });
        Ok(read.collect())
    }

    fn stat(&mut self, paths: &[String]) -> Option<Vec<Option<lens::Stat>>> {
        let stat = |found: files::FileStat| lens::Stat {
            is_file: found.kind == files::FileKind::File,
            size: found.size,
            modified: found.modified,
        };
        Some(files::stat(paths).ok()?.into_iter().map(|found| found.map(stat)).collect())
    }

    fn resolve(&mut self, paths: &[String]) -> Option<Vec<Option<(String, bool)>>> {
        let found = files::resolve(paths).ok()?.into_iter();
        Some(found.map(|found| found.map(|real| (real.path, real.exists))).collect())
    }

    fn changed_files(&mut self, folder: &str) -> Result<Vec<lens::Changed>, String> {
        let found = git::changed_files(folder).map_err(|error| describe(&error))?.into_iter();
        Ok(found.map(|file| lens::Changed { deleted: file.change == git::Change::Deleted, path: file.path }).collect())
    }

    fn look(&mut self) -> Option<Rc<dyn FileOracle>> {
        facts()
    }

    fn ensure(&mut self) -> Result<(), String> {
        daemon::ensure().map_err(|error| describe(&error))
    }

    fn request(&mut self, method: &str, params: &str) -> Result<String, lens::Failure> {
        daemon::request(method, params).map_err(|error| match error {
            Error::Unavailable(why) => lens::Failure::Unavailable(why),
            error => lens::Failure::Other(describe(&error)),
        })
    }

    fn stop(&mut self) {
        // One that cannot be stopped ends by itself when nobody asks it any more.
        let _ = daemon::stop();
    }

    fn now(&mut self) -> Option<u64> {
        clock::now().ok()
    }

    fn monotonic(&mut self) -> Option<u64> {
        clock::monotonic().ok()
    }

    fn schedule(&mut self, id: &str, delay: u64) -> bool {
        clock::schedule(id, delay).is_ok()
    }

    fn cancel(&mut self, id: &str) {
        // Without timers there is nothing to forget.
        let _ = clock::cancel(id);
    }

    fn set_status(&mut self, key: &str, text: Option<&str>) {
        // Whether anyone sees it is not ours to decide.
        let _ = ui::set_status(key, text);
    }

    fn notify(&mut self, message: &str) {
        let _ = ui::notify(message, Level::Info);
    }

    fn send(&mut self, outgoing: lens::Outgoing) -> bool {
        let outgoing = message::Outgoing {
            kind: outgoing.kind.to_owned(),
            text: outgoing.text,
            details: outgoing.details,
            visible: outgoing.visible,
            delivery: message::Delivery::Steer,
            trigger_turn: false,
        };
        message::send(&outgoing).is_ok()
    }

    fn log(&mut self, warning: &str) {
        log::write(Level::Warning, warning);
    }
}
