//! Conversions between the contract's types and this crate's that calls in both directions need.

use crate::bindings::capabilities::toolgate::plugin::{files as wit_files, git as wit_git, message, types};
use crate::host::{Change, ChangedFile, ConfigFile, Delivery, FileKind, FileStat, Outgoing, RealPath};
use crate::{Error, Level};

pub(crate) fn level(level: Level) -> types::Level {
    match level {
        Level::Debug => types::Level::Debug,
        Level::Info => types::Level::Info,
        Level::Warning => types::Level::Warning,
        Level::Error => types::Level::Error,
    }
}

pub(crate) fn error(error: types::Error) -> Error {
    match error {
        types::Error::Denied(why) => Error::Denied(why),
        types::Error::NotFound(why) => Error::NotFound(why),
        types::Error::Timeout => Error::Timeout,
        types::Error::TooLarge(limit) => Error::TooLarge(limit),
        types::Error::Unavailable(why) => Error::Unavailable(why),
        types::Error::Invalid(why) => Error::Invalid(why),
        types::Error::Other(why) => Error::Other(why),
    }
}

pub(crate) fn file_stat(stat: wit_files::FileStat) -> FileStat {
    let kind = match stat.kind {
        wit_files::FileKind::File => FileKind::File,
        wit_files::FileKind::Directory => FileKind::Directory,
        wit_files::FileKind::Symlink => FileKind::Symlink,
        wit_files::FileKind::Other => FileKind::Other,
        wit_files::FileKind::Hidden => FileKind::Hidden,
    };
    FileStat { kind, size: stat.size, modified: stat.modified }
}

pub(crate) fn real_path(real: wit_files::RealPath) -> RealPath {
    RealPath { path: real.path, exists: real.exists }
}

pub(crate) fn config_file(file: wit_files::ConfigFile) -> ConfigFile {
    ConfigFile { path: file.path, layer: file.layer, content: file.content.map_err(error) }
}

pub(crate) fn changed_file(file: wit_git::ChangedFile) -> ChangedFile {
    let change = match file.change {
        wit_git::Change::Added => Change::Added,
        wit_git::Change::Modified => Change::Modified,
        wit_git::Change::Deleted => Change::Deleted,
        wit_git::Change::Renamed => Change::Renamed,
        wit_git::Change::Untracked => Change::Untracked,
    };
    ChangedFile { path: file.path, change }
}

pub(crate) fn outgoing(outgoing: Outgoing) -> message::Outgoing {
    message::Outgoing {
        kind: outgoing.kind,
        text: outgoing.text,
        details: outgoing.details,
        visible: outgoing.visible,
        delivery: match outgoing.delivery {
            Delivery::Steer => message::Delivery::Steer,
            Delivery::FollowUp => message::Delivery::FollowUp,
            Delivery::NextTurn => message::Delivery::NextTurn,
        },
        trigger_turn: outgoing.trigger_turn,
    }
}
