//! The names that specs use for what consumers do: handlers, meanings of options, traits of programs. The
//! consumers match on handlers exhaustively, so that a new one is an error until it is there.

/// A language that a command can be given a script of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    Node,
    /// Perl.
    Perl,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// awk.
    Awk,
    /// sed.
    Sed,
}

/// What an option means for what the program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionRun {
    /// All arguments are put in at once: `xargs` of `parallel`.
    All,
    /// A text that a shell runs, perhaps.
    Also,
    /// A setting of `apt`.
    Apt,
    /// The words that follow are an argv, and no text for a shell.
    Argv,
    /// It asks before each.
    Ask,
    /// It joins a session that is there.
    Attach,
    /// In a directory that the words do not tell.
    Away,
    /// A folder that is put at another place.
    Bind,
    /// The mark that `xargs` of the BSDs puts words in place of.
    Bsd,
    /// An action of `tar` at a checkpoint.
    Checkpoint,
    /// The environment is emptied first.
    Clear,
    /// A program in the language of the row.
    Code,
    /// A program in a language that is not read.
    CodeElsewhere,
    /// A setting, `name=value`.
    Config,
    /// How many words a command is given at once.
    Count,
    /// The directory to run in.
    Cwd,
    /// What words are told apart by.
    Delimiter,
    /// Another machine, container or root folder.
    Elsewhere,
    /// The program that a container runs.
    Entry,
    /// The word that ends the input.
    Eof,
    /// A file with a program in the language of the row.
    File,
    /// A folder to work in, seen from the one before.
    Folder,
    /// A text for a shell outside the Bourne family.
    Foreign,
    /// A condition in place of a command.
    Format,
    /// Its input is the outer one.
    Input,
    /// The words are joined to one text.
    Joined,
    /// The environment is kept, or so much of it.
    Keep,
    /// How long a command may be.
    Limit,
    /// How many lines a command is given at once.
    Lines,
    /// Inputs are read side by side.
    Linked,
    /// Text is typed as it is.
    Literal,
    /// A login shell.
    Login,
    /// A text with macros that may run a shell.
    Macro,
    /// Nobody knows whether it runs.
    Maybe,
    /// A module that is loaded first.
    Module,
    /// It enters another mount namespace or root.
    Mount,
    /// No command runs on the other side.
    None,
    /// Nothing runs without input.
    Nonempty,
    /// Words end with a zero byte.
    Null,
    /// Its input is its own.
    Own,
    /// A variable and its value, in two words.
    Pair,
    /// The command is given the input.
    Pipe,
    /// The port of the other side.
    Port,
    /// A program, perhaps with words.
    Prog,
    /// The program that runs in place of the first word.
    Program,
    /// A folder with programs.
    Programs,
    /// A property of a unit.
    Property,
    /// The mark that words are put in place of.
    Replace,
    /// The command begins here.
    Rest,
    /// The program runs as another user, without a shell.
    Run,
    /// In the directory of the caller after all.
    Same,
    /// It runs as a child of the caller.
    Scope,
    /// A shell script.
    Script,
    /// Text is typed into a session.
    Send,
    /// A variable that is set.
    Set,
    /// A setting that may name a program.
    Setting,
    /// A variable that is set, or taken away.
    Setunset,
    /// A shell, or which one.
    Shell,
    /// A text that is split into words.
    Split,
    /// The directory stays.
    Stay,
    /// The process whose namespaces are entered.
    Target,
    /// A text for a shell, in place of a command.
    Text,
    /// A text in tmux's own language.
    Tmux,
    /// Something runs that is not in the words.
    Unseen,
    /// A variable that is taken away.
    Unset,
    /// Another user.
    User,
    /// A setting that is the value of a variable.
    Variable,
}

/// How what a program runs differs from the program's surroundings, and how it reads its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trait {
    /// `NAME=VALUE` may stand before the command.
    Assign,
    /// In a directory that the words do not tell.
    Away,
    /// With an environment that is emptied first.
    Clear,
    /// A single dash empties the environment.
    Dash,
    /// The operands before the command are numbers, and may be left out.
    Digits,
    /// On another machine, in a container or under another root.
    Elsewhere,
    /// With a standard input of its own, unless an option means [`OptionRun::Input`].
    Input,
    /// Long options have one dash.
    LongOnly,
    /// With a standard input of its own.
    Own,
    /// The first word of the command is a package: `rimraf@5`.
    Package,
    /// Perhaps not, or often.
    Perhaps,
    /// Options may follow operands.
    Permute,
    /// In the place of the shell that runs now.
    Replaces,
    /// In the shell that runs now.
    Same,
    /// Without a command it is a shell that reads its input.
    Shell,
    /// As another user.
    User,
}

/// A handler of what a program runs, where a spec cannot say it.
#[expect(missing_docs, reason = "each is named as the program, or as what the shell engine's handler does")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunCode {
    AfterDashes,
    Apt,
    At,
    Bubblewrap,
    Bun,
    Capsh,
    Chroot,
    Cmake,
    Cmd,
    Copy,
    Coreutils,
    Crontab,
    Dotenv,
    Entr,
    Env,
    Eval,
    Fd,
    Fetch,
    Find,
    Firejail,
    Fish,
    Flock,
    ForEachRepo,
    Foreach,
    Foreign,
    Gdb,
    Git,
    Given,
    Group,
    InWorkspaces,
    Kubectl,
    Latexmk,
    Make,
    Netcat,
    NixRun,
    Nsenter,
    Operand,
    Parallel,
    Powershell,
    Rename,
    RunImage,
    Screen,
    Shell,
    Socat,
    Source,
    Ssh,
    StartStopDaemon,
    Su,
    SystemdRun,
    Tar,
    Tmux,
    Trap,
    UvRun,
    Vim,
    Xargs,
    Zargs,
    Zip,
}

/// A handler of what a program does to files, where a spec cannot say it.
#[expect(missing_docs, reason = "each is named as the program, or as what the shell engine's handler does")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileCode {
    ApplyPatch,
    Ar,
    Aria,
    Assemble,
    Attributes,
    Awk,
    Bucket,
    CargoClean,
    CargoFormat,
    Compile,
    Compose,
    Compress,
    ContainerCopy,
    ContainerRun,
    Convert,
    Copy,
    Cpio,
    Csplit,
    Curl,
    Database,
    Dd,
    Dot,
    Duplicates,
    Edit,
    Esbuild,
    Fd,
    Ffmpeg,
    Find,
    Forge,
    Generated,
    GitAdd,
    GitApply,
    GitBundle,
    GitCheckout,
    GitClean,
    GitClone,
    GitCommit,
    GitConfig,
    GitFetch,
    GitHash,
    GitInit,
    GitInspect,
    GitMails,
    GitMergeFile,
    GitOwn,
    GitPull,
    GitRemote,
    GitRemove,
    GitRename,
    GitReset,
    GitRestore,
    GitSubmoduleAdd,
    GitSwitch,
    GitTree,
    GitWorktreeAdd,
    GitWorktreeRemove,
    GoBuild,
    GoTest,
    Gpg,
    Haskell,
    History,
    Http,
    ImageBuild,
    Ini,
    Install,
    Interpret,
    IntoLast,
    IntoSecond,
    Javac,
    Jq,
    Keygen,
    Latex,
    Lftp,
    Link,
    MakeFolders,
    MakeNode,
    MakePipes,
    MakeTemporary,
    Mode,
    Mount,
    MountAgain,
    NewFolder,
    Owner,
    Patch,
    Pax,
    Perl,
    Rar,
    Remove,
    RemoveFolders,
    Rename,
    RenameBy,
    Rsync,
    Rustc,
    Scp,
    Sed,
    SevenZip,
    Sftp,
    Shell,
    Shred,
    Shuf,
    Socat,
    Sort,
    Source,
    Split,
    Sponge,
    Talk,
    Tar,
    Tee,
    Test,
    Tmux,
    Touch,
    Trash,
    Truncate,
    Tsc,
    Typescript,
    Unlink,
    Unzip,
    Vendor,
    VirtualEnvironment,
    VirtualEnvironments,
    Wget,
    Zip,
}
