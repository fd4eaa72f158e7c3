//! The specs of programs whose effects on files are known, as this folder reads them.

use toolgate_commands::{FileAction, FileCode, Files, Spec, Syntax};

use super::options::Arg;
use super::{Run, archive, build, containers, files, git, media, network, script, search};

/// A program whose effects are known, or a subcommand of one.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) spec: &'static Spec,
    pub(super) files: &'static Files,
}

impl Row {
    /// The row of a spec, if it says what becomes of files.
    pub(super) fn of(spec: &'static Spec) -> Option<Row> {
        Some(Row { spec, files: spec.files.as_ref()? })
    }

    /// The name by which the spec has this one.
    fn named(self, name: &str) -> Option<(&'static str, Row)> {
        self.spec.names.iter().find(|listed| **listed == name).map(|listed| (*listed, self))
    }

    /// How many operands stand before the paths: a script, a pattern, a mode.
    pub(super) fn leading(self) -> usize {
        usize::from(self.files.leading)
    }

    /// The first of its subcommands.
    pub(super) fn first(self) -> Option<(&'static str, Row)> {
        let first = self.spec.subcommands.iter().find_map(Row::of)?;
        first.spec.names.first().map(|name| (*name, first))
    }

    /// The subcommand of this name.
    pub(super) fn subcommand(self, name: &str) -> Option<(&'static str, Row)> {
        let mut rows = self.spec.subcommands.iter().filter_map(Row::of);
        rows.find_map(|row| row.named(name))
    }
}

/// What a program without its subcommand does.
pub(super) static NOTHING: Spec = Spec {
    names: &[""],
    options: &[],
    subcommands: &[],
    runs: None,
    files: Some(Files {
        does: FileAction::Nothing,
        syntax: Syntax::Gnu,
        leading: 0,
        pattern: false,
        wild: false,
        recursive: false,
        bare: false,
        complete: false,
    }),
    terminal: None,
    rules: None,
    one_dash: false,
};

/// The row of a program and the name that it has there.
pub(super) fn find(program: &str) -> Option<(&'static str, Row)> {
    let listed = |name: &str| toolgate_commands::find(name).and_then(Row::of).and_then(|row| row.named(name));
    listed(program).or_else(|| {
        // `python3.12`, `clang-17`.
        let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let plain = plain.strip_suffix('-').unwrap_or(plain);
        listed(plain).filter(|_| plain.len() < program.len())
    })
}

/// The code of this name.
pub(super) fn handler(code: FileCode) -> fn(&mut Run<'_>, &[Arg]) {
    match code {
        FileCode::ApplyPatch => script::apply_patch,
        FileCode::Ar => archive::ar,
        FileCode::Aria => network::aria,
        FileCode::Assemble => build::assemble,
        FileCode::Attributes => files::attributes,
        FileCode::Awk => script::awk,
        FileCode::Bucket => network::bucket,
        FileCode::CargoClean => build::cargo_clean,
        FileCode::CargoFormat => build::cargo_format,
        FileCode::Compile => build::compile,
        FileCode::Compose => containers::compose,
        FileCode::Compress => archive::compress,
        FileCode::ContainerCopy => containers::container_copy,
        FileCode::ContainerRun => containers::container_run,
        FileCode::Convert => media::convert,
        FileCode::Copy => files::copy,
        FileCode::Cpio => archive::cpio,
        FileCode::Csplit => files::csplit,
        FileCode::Curl => network::curl,
        FileCode::Database => media::database,
        FileCode::Dd => files::dd,
        FileCode::Dot => media::dot,
        FileCode::Duplicates => files::duplicates,
        FileCode::Edit => files::edit,
        FileCode::Esbuild => build::esbuild,
        FileCode::Fd => search::fd,
        FileCode::Ffmpeg => media::ffmpeg,
        FileCode::Find => search::find,
        FileCode::Forge => network::forge,
        FileCode::Generated => build::generated,
        FileCode::GitAdd => git::add,
        FileCode::GitApply => git::apply,
        FileCode::GitBundle => git::bundle,
        FileCode::GitCheckout => git::checkout,
        FileCode::GitClean => git::clean,
        FileCode::GitClone => git::clone,
        FileCode::GitCommit => git::commit,
        FileCode::GitConfig => git::config,
        FileCode::GitFetch => git::fetch,
        FileCode::GitHash => git::hash,
        FileCode::GitInit => git::init,
        FileCode::GitInspect => git::inspect,
        FileCode::GitMails => git::mails,
        FileCode::GitMergeFile => git::merge_file,
        FileCode::GitOwn => git::own,
        FileCode::GitPull => git::pull,
        FileCode::GitRemote => git::remote,
        FileCode::GitRemove => git::remove,
        FileCode::GitRename => git::rename,
        FileCode::GitReset => git::reset,
        FileCode::GitRestore => git::restore,
        FileCode::GitSubmoduleAdd => git::submodule_add,
        FileCode::GitSwitch => git::switch,
        FileCode::GitTree => git::tree,
        FileCode::GitWorktreeAdd => git::worktree_add,
        FileCode::GitWorktreeRemove => git::worktree_remove,
        FileCode::GoBuild => build::go_build,
        FileCode::GoTest => build::go_test,
        FileCode::Gpg => media::gpg,
        FileCode::Haskell => build::haskell,
        FileCode::History => files::history,
        FileCode::Http => network::http,
        FileCode::ImageBuild => containers::image_build,
        FileCode::Ini => files::ini,
        FileCode::Install => files::install,
        FileCode::Interpret => script::interpret,
        FileCode::IntoLast => files::into_last,
        FileCode::IntoSecond => files::into_second,
        FileCode::Javac => build::javac,
        FileCode::Jq => script::jq,
        FileCode::Latex => media::latex,
        FileCode::Lftp => network::lftp,
        FileCode::Link => files::link,
        FileCode::MakeFolders => files::make_folders,
        FileCode::MakeNode => files::make_node,
        FileCode::MakePipes => files::make_pipes,
        FileCode::MakeTemporary => files::make_temporary,
        FileCode::Mode => files::mode,
        FileCode::Mount => files::mount,
        FileCode::MountAgain => files::mount_again,
        FileCode::NewFolder => build::new_folder,
        FileCode::Owner => files::owner,
        FileCode::Patch => script::patch,
        FileCode::Pax => archive::pax,
        FileCode::Perl => script::perl,
        FileCode::Rar => archive::rar,
        FileCode::Remove => files::remove,
        FileCode::RemoveFolders => files::remove_folders,
        FileCode::Rename => files::rename,
        FileCode::RenameBy => files::rename_by,
        FileCode::Rsync => files::rsync,
        FileCode::Rustc => build::rustc,
        FileCode::Scp => network::scp,
        FileCode::Sed => script::sed,
        FileCode::SevenZip => archive::seven_zip,
        FileCode::Sftp => network::sftp,
        FileCode::Shell => script::shell,
        FileCode::Shred => files::shred,
        FileCode::Shuf => files::shuf,
        FileCode::Socat => network::socat,
        FileCode::Sort => files::sort,
        FileCode::Source => script::source,
        FileCode::Split => files::split,
        FileCode::Sponge => files::sponge,
        FileCode::Talk => network::talk,
        FileCode::Tar => archive::tar,
        FileCode::Tee => files::tee,
        FileCode::Test => files::test,
        FileCode::Tmux => files::tmux,
        FileCode::Touch => files::touch,
        FileCode::Trash => files::trash,
        FileCode::Truncate => files::truncate,
        FileCode::Tsc => build::tsc,
        FileCode::Typescript => script::typescript,
        FileCode::Unlink => files::unlink,
        FileCode::Unzip => archive::unzip,
        FileCode::Vendor => build::vendor,
        FileCode::VirtualEnvironment => build::virtual_environment,
        FileCode::VirtualEnvironments => build::virtual_environments,
        FileCode::Wget => network::wget,
        FileCode::Zip => archive::zip,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Every program and subcommand as it is typed.
    pub(in super::super) fn typed() -> Vec<String> {
        fn add(specs: &'static [Spec], before: &str, all: &mut Vec<String>) {
            for row in specs.iter().filter_map(Row::of) {
                for name in row.spec.names {
                    let typed = format!("{before}{name}");
                    add(row.spec.subcommands, &format!("{typed} "), all);
                    all.push(typed);
                }
            }
        }
        let mut all = Vec::new();
        add(toolgate_commands::programs(), "", &mut all);
        all
    }
}
