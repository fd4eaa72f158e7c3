//! Whether all that a program changes is told: by its effects, or by what it runs, which is listed.
//!
//! The specs say which programs only read. Of the others those are told whose effects are complete. What no spec says is not
//! known.

use toolgate_commands::argv::{Parts, Spelling};
use toolgate_commands::{FileCode, OperandUse, Opt, ReadsOnly, RunCode, RunForm, Runs, Spec, Trait, find_runner};

use super::table::Row;
use super::{Call, is_system};
use crate::command::{Command, Foreseen};
use crate::wrapper;
use toolgate_shell_syntax::word::Word;

/// Handlers that tell all that their programs change. The others run what is not read, build, set something up or change what is
/// in no file.
const TOLD: &[FileCode] = &[
    FileCode::ApplyPatch,
    FileCode::Ar,
    FileCode::Aria,
    FileCode::Assemble,
    FileCode::Attributes,
    FileCode::CargoClean,
    FileCode::CargoFormat,
    FileCode::Compile,
    FileCode::Compress,
    FileCode::Convert,
    FileCode::Copy,
    FileCode::Cpio,
    FileCode::Csplit,
    FileCode::Curl,
    FileCode::Dd,
    FileCode::Dot,
    FileCode::Duplicates,
    FileCode::Fd,
    FileCode::Ffmpeg,
    FileCode::Find,
    FileCode::GitAdd,
    FileCode::GitApply,
    FileCode::GitBundle,
    FileCode::GitCheckout,
    FileCode::GitClean,
    FileCode::GitClone,
    FileCode::GitCommit,
    FileCode::GitConfig,
    FileCode::GitFetch,
    FileCode::GitHash,
    FileCode::GitInit,
    FileCode::GitInspect,
    FileCode::GitMails,
    FileCode::GitMergeFile,
    FileCode::GitOwn,
    FileCode::GitPull,
    FileCode::GitRemote,
    FileCode::GitRemove,
    FileCode::GitRename,
    FileCode::GitReset,
    FileCode::GitRestore,
    FileCode::GitSubmoduleAdd,
    FileCode::GitSwitch,
    FileCode::GitTree,
    FileCode::GitWorktreeAdd,
    FileCode::GitWorktreeRemove,
    FileCode::Http,
    FileCode::Ini,
    FileCode::Install,
    FileCode::IntoLast,
    FileCode::IntoSecond,
    FileCode::Javac,
    FileCode::Jq,
    FileCode::Keygen,
    FileCode::Link,
    FileCode::MakeFolders,
    FileCode::MakeNode,
    FileCode::MakePipes,
    FileCode::MakeTemporary,
    FileCode::Mode,
    FileCode::NewFolder,
    FileCode::Owner,
    FileCode::Patch,
    FileCode::Pax,
    FileCode::Rar,
    FileCode::Remove,
    FileCode::RemoveFolders,
    FileCode::Rename,
    FileCode::Rsync,
    FileCode::Rustc,
    FileCode::Scp,
    FileCode::SevenZip,
    FileCode::Shred,
    FileCode::Shuf,
    FileCode::Sort,
    FileCode::Split,
    FileCode::Sponge,
    FileCode::Talk,
    FileCode::Tar,
    FileCode::Tee,
    FileCode::Test,
    FileCode::Touch,
    FileCode::Trash,
    FileCode::Truncate,
    FileCode::Unlink,
    FileCode::Unzip,
    FileCode::Wget,
    FileCode::Zip,
];

/// What runs later, by itself or somewhere else, and does more than it.
const LATER: &[RunCode] =
    &[RunCode::At, RunCode::Crontab, RunCode::Gdb, RunCode::Screen, RunCode::Su, RunCode::SystemdRun];

impl Call {
    /// Whether all that the program changes is told.
    pub(crate) fn foreseen(&self, command: &Command) -> Foreseen {
        let Some(first) = command.words.first() else { return Foreseen::ReadsOnly };
        // A program of the project may have any name.
        if first.known().is_none_or(|text| text.contains('/') && !is_system(text)) {
            return Foreseen::No;
        }
        let program = command.program().unwrap_or_default();
        let Some(row) = self.row else {
            let bare = find_runner(program).filter(|spec| spec.files.is_none());
            let runs = bare.and_then(|spec| spec.runs.as_ref());
            let told = runs.is_some_and(|runs| is_command(runs.what) && !wrapper::inner(&command.words).is_empty());
            return if told { Foreseen::Told } else { Foreseen::No };
        };
        // A script of sed's that only edits is followed by nobody else.
        let edits = || row.files.does == OperandUse::Code(FileCode::Sed) && wrapper::inner(&command.words).is_empty();
        let told = || !row.files.wild && row.spec.loads.is_none() && tells(row, command);
        if self.reads_only(row, command) || asks_about_itself(&command.words) {
            Foreseen::ReadsOnly
        } else if told() || edits() && !self.args.has("f") {
            Foreseen::Told
        } else {
            Foreseen::No
        }
    }

    /// Whether the spec says that it only reads when it is run so.
    fn reads_only(&self, row: Row, command: &Command) -> bool {
        match row.spec.reads_only {
            ReadsOnly::Never => false,
            ReadsOnly::Always => true,
            ReadsOnly::Named(names) => names.contains(&self.name),
            ReadsOnly::If { with, operands, words, without } => {
                let args = &self.args;
                let has = |names: &[&str]| names.iter().any(|name| args.has(name));
                let few = operands.is_some_and(|most| args.operands.len() <= usize::from(most));
                let first = args.operands.first().and_then(|operand| operand.known());
                let reads = few || has(with) || first.is_some_and(|first| words.contains(&first));
                reads && !has(without) && all_listed(row.spec, command.words.get(self.first..).unwrap_or_default())
            }
        }
    }
}

/// Whether a command runs code that is given to it or stands in a file, and changes nothing but what that does.
pub(crate) fn runs_code(command: &Command) -> bool {
    let spec = command.program().and_then(find_runner);
    if !spec.and_then(|spec| spec.runs.as_ref()).is_some_and(is_interpreter) {
        return false;
    }
    // Of what it loads besides, nobody has read anything.
    let given = Call::read(command).args.given;
    spec.and_then(|spec| spec.loads.as_ref())
        .is_none_or(|loads| loads.names.is_empty() && !given.iter().any(|given| loads.options.contains(&given.name)))
}

fn is_interpreter(runs: &Runs) -> bool {
    matches!(runs.what, RunForm::Language(_) | RunForm::Code(RunCode::Shell | RunCode::Source))
}

/// Whether a program of this form runs what its words say, and nothing besides.
fn is_command(what: RunForm) -> bool {
    matches!(what, RunForm::Command | RunForm::Text | RunForm::Either | RunForm::Texts)
}

/// Whether the effects of a row are all that the program does.
fn tells(row: Row, command: &Command) -> bool {
    let runs = row.spec.runs.as_ref();
    // What it does is told once its code was read.
    if runs.is_some_and(is_interpreter) {
        return false;
    }
    match row.files.does {
        OperandUse::Data | OperandUse::Reads | OperandUse::Uses | OperandUse::Writes | OperandUse::Formats { .. } => {
            true
        }
        OperandUse::Code(code) => TOLD.contains(&code),
        OperandUse::Mentions => runs.is_some_and(|runs| runs_only(runs, command)),
        OperandUse::Nothing | OperandUse::Makes(_) | OperandUse::Subcommand => false,
    }
}

/// Whether a wrapper does nothing but to run what is listed.
fn runs_only(runs: &Runs, command: &Command) -> bool {
    match runs.what {
        RunForm::Code(code) if LATER.contains(&code) => false,
        RunForm::Subcommand | RunForm::Options | RunForm::Language(_) => false,
        // Without a command it opens a shell.
        _ => !runs.traits.contains(&Trait::Shell) || !wrapper::inner(&command.words).is_empty(),
    }
}

/// `PROGRAM --version`
fn asks_about_itself(words: &[Word]) -> bool {
    let [_, word] = words else { return false };
    matches!(word.known(), Some("--version" | "--help"))
}

/// Whether the spec lists each option among these words.
fn all_listed(spec: &'static Spec, words: &[Word]) -> bool {
    let options = words.iter().map(|word| word.value.text()).take_while(|text| *text != "--");
    let mut options = options.filter(|text| text.starts_with('-') && text.len() > 1);
    options.all(|text| Parts::new(&spec, text, Spelling::Letters).all(|part| part.option.is_some_and(|_: &Opt| true)))
}

/// Whether nothing is said of what a program does to its operands: it runs something somewhere else.
pub(crate) fn only_names(command: &Command) -> bool {
    Call::read(command).row.is_some_and(|row| row.files.does == OperandUse::Mentions)
}
