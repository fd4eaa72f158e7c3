//! What a call does, as tables: one row a function, under its full name.

use std::collections::HashSet;

use super::Language;
use super::value::Value;

/// What a call does with its arguments.
#[derive(Clone, Copy)]
pub(super) enum Act {
    /// Nothing to files, processes or the network that matters here.
    None,
    /// Something that cannot be told.
    Opaque,
    /// The argument at this place is read; written; appended to.
    Read(usize),
    /// The names in the folder at this place are read.
    List(usize),
    Write(usize),
    Append(usize),
    /// A file, a folder is made.
    File(usize),
    Folder(usize),
    /// Each argument is a folder to make.
    Folders,
    Delete(usize),
    /// Each argument is deleted.
    Deletes,
    /// With everything below it.
    Tree(usize),
    /// Each argument, but for numbers: the flags of Perl's old `rmtree("x", 0, 1)`.
    Trees,
    /// The first argument becomes the second.
    Move,
    Copy,
    /// The second argument is a symbolic link to the first.
    Link,
    /// The second argument is another name of the first: a hard link.
    HardLink,
    /// The path at this place gets another mode or owner.
    Mode(usize),
    /// The same, with the mode behind the path or before it.
    Chmod(usize),
    /// The same of all arguments behind the mode.
    Chmods,
    /// All paths from this place on do.
    Modes(usize),
    Chdir,
    /// Text for a shell at this place.
    Shell(usize),
    /// Text for a shell if it is one text, otherwise a program and its arguments.
    ShellOrRun,
    /// A program and its arguments: all arguments from this place on.
    Run(usize),
    /// The program at this place, its `argv` as a list behind it.
    Exec(usize),
    Eval(usize),
    Send(usize),
    /// What the code of this name does.
    Other(Handler),
    /// It gives a value, and nothing else.
    Value(Pure),
    /// The value of a variable of the environment.
    Variable,
}

/// A call whose effects a row cannot say.
#[derive(Clone, Copy)]
pub(super) enum Handler {
    CallArray,
    ConstGet,
    Constructor,
    Curl,
    CurlOption,
    DenoCommand,
    ErrorLog,
    ExecAll,
    Fileinput,
    Filter,
    FilterArray,
    ForceLink,
    Getattr,
    Glob,
    Immediate,
    Import,
    LogFile,
    Logging,
    MakeArchive,
    Map,
    NodeExec,
    NodeFork,
    NodeHttp,
    NodeRequire,
    NodeRm,
    NodeSpawn,
    NodeTemporary,
    NodeWrite,
    Open,
    Open2,
    Open3,
    OsOpen,
    OwnFile,
    Partial,
    PerlFile,
    PerlFind,
    PerlOpen,
    PerlRequire,
    PerlSocket,
    PerlSysopen,
    PhpAssert,
    PhpCallback,
    PhpProc,
    PhpRead,
    PhpWrite,
    PythonTemporary,
    ReflectApply,
    ReflectConstruct,
    Retrieve,
    RubyFind,
    RubyInclude,
    RubyIo,
    RubyOpen,
    RubyPopen,
    RubyRequire,
    RubySend,
    RubySystem,
    RubyWrite,
    RunsFile,
    ShelljsCopy,
    ShelljsMove,
    ShelljsRm,
    ShelljsSed,
    SpawnAll,
    SpawnList,
    Subprocess,
    Template,
    Timer,
    Touch,
    UnpackArchive,
    Utime,
    Walk,
    WalkArray,
    Worker,
}

/// A call that only gives a value.
#[derive(Clone, Copy)]
pub(super) enum Pure {
    All,
    ArrayFrom,
    Basename,
    Buffer,
    Chars,
    Chr,
    CodecsDecode,
    Compile,
    ConfigParser,
    CreateRequire,
    Dict,
    Dirname,
    Document,
    Entries,
    Enumerated,
    Expanduser,
    Expandvars,
    Explode,
    First,
    Here,
    Home,
    Implode,
    Join,
    Listed,
    Lower,
    Merge,
    Names,
    NextOf,
    NodeJoin,
    Ord,
    Pack,
    PathHere,
    PathHome,
    PathParse,
    PathSplit,
    Pathlib,
    PerlJoin,
    PerlReverse,
    PhpReplace,
    PhpTrim,
    Quote,
    Reversed,
    Rot13,
    RubyExpand,
    ShlexJoin,
    Some,
    Split,
    Sprintf,
    StrJoin,
    Text,
    Unbase64,
    Unhex,
    Unpercent,
    Upper,
    Url,
    Urldecode,
    UserInfo,
    Zipped,
}

use Act::{
    Append, Chdir, Chmod, Chmods, Delete, Deletes, Eval, Exec, File, Folder, Folders, HardLink, Link, Mode, Modes,
    Move, Opaque, Other, Read, Run, Send, Shell, ShellOrRun, Tree, Trees, Write,
};

impl Act {
    /// Whether it does more than give a value.
    pub(super) fn acts(self) -> bool {
        !matches!(self, Act::None | Act::Value(_) | Act::Variable)
    }
}

type Row = (&'static str, Act);

#[rustfmt::skip]
const PYTHON: &[Row] = &[
    ("open", Other(Handler::Open)), ("codecs.open", Other(Handler::Open)), ("io.FileIO", Other(Handler::Open)), ("gzip.open", Other(Handler::Open)), ("bz2.open", Other(Handler::Open)), ("lzma.open", Other(Handler::Open)),
    ("os.open", Other(Handler::OsOpen)), ("tarfile.open", Other(Handler::Open)), ("zipfile.ZipFile", Other(Handler::Open)), ("tarfile.TarFile", Other(Handler::Open)),
    ("file", Other(Handler::Open)), ("sqlite3.connect", Write(0)), ("shelve.open", Write(0)), ("dbm.open", Write(0)),
    ("logging.FileHandler", Other(Handler::LogFile)), ("logging.basicConfig", Other(Handler::Logging)), ("fileinput.input", Other(Handler::Fileinput)), ("fileinput.FileInput", Other(Handler::Fileinput)), ("aiofiles.open", Other(Handler::Open)), ("pandas.ExcelWriter", Write(0)), ("send2trash.send2trash", Tree(0)), ("contextlib.chdir", Chdir),
    ("linecache.getline", Read(0)), ("linecache.getlines", Read(0)), ("os.listdir", Act::List(0)), ("os.scandir", Act::List(0)), ("os.walk", Other(Handler::Walk)), ("os.fwalk", Other(Handler::Walk)),
    ("os.readlink", Read(0)), ("glob.glob", Other(Handler::Glob)), ("glob.iglob", Other(Handler::Glob)), ("configparser.ConfigParser", Act::Value(Pure::ConfigParser)), ("configparser.RawConfigParser", Act::Value(Pure::ConfigParser)), ("configparser.SafeConfigParser", Act::Value(Pure::ConfigParser)),
    ("json.load", Act::Value(Pure::Document)), ("json.loads", Act::Value(Pure::Document)), ("yaml.safe_load", Act::Value(Pure::Document)), ("yaml.load", Act::Value(Pure::Document)), ("yaml.full_load", Act::Value(Pure::Document)), ("tomllib.load", Act::Value(Pure::Document)), ("tomllib.loads", Act::Value(Pure::Document)), ("tomli.load", Act::Value(Pure::Document)), ("tomli.loads", Act::Value(Pure::Document)), ("toml.loads", Act::Value(Pure::Document)),
    ("os.remove", Delete(0)), ("os.unlink", Delete(0)), ("os.rmdir", Delete(0)), ("os.removedirs", Delete(0)),
    ("os.mkdir", Folder(0)), ("os.makedirs", Folder(0)), ("os.mkfifo", File(0)), ("os.mknod", File(0)),
    ("os.rename", Move), ("os.renames", Move), ("os.replace", Move), ("os.link", HardLink), ("os.symlink", Link),
    ("os.chmod", Chmod(0)), ("os.chown", Mode(0)), ("os.lchown", Mode(0)), ("os.lchmod", Chmod(0)), ("os.chflags", Mode(0)), ("os.setxattr", Mode(0)), ("os.utime", Write(0)),
    ("os.truncate", Write(0)), ("os.chdir", Chdir), ("os.fchdir", Opaque), ("os.chroot", Opaque),
    ("shutil.rmtree", Tree(0)), ("tempfile.mkdtemp", Other(Handler::PythonTemporary)), ("shutil.copy", Act::Copy), ("shutil.copy2", Act::Copy), ("shutil.copyfile", Act::Copy), ("shutil.copytree", Act::Copy),
    ("shutil.copymode", Mode(1)), ("shutil.copystat", Mode(1)), ("shutil.move", Move), ("shutil.chown", Mode(0)),
    ("shutil.unpack_archive", Other(Handler::UnpackArchive)), ("shutil.make_archive", Other(Handler::MakeArchive)), ("distutils.dir_util.remove_tree", Tree(0)),
    ("distutils.dir_util.copy_tree", Act::Copy), ("distutils.dir_util.mkpath", Folder(0)), ("distutils.file_util.copy_file", Act::Copy), ("distutils.file_util.move_file", Move),
    ("os.system", Shell(0)), ("os.popen", Shell(0)), ("platform.popen", Shell(0)), ("commands.getoutput", Shell(0)), ("commands.getstatusoutput", Shell(0)),
    ("subprocess.getoutput", Shell(0)), ("subprocess.getstatusoutput", Shell(0)), ("asyncio.create_subprocess_shell", Shell(0)),
    ("popen2.popen2", Shell(0)), ("popen2.popen3", Shell(0)),
    ("subprocess.run", Other(Handler::Subprocess)), ("subprocess.call", Other(Handler::Subprocess)), ("subprocess.check_call", Other(Handler::Subprocess)),
    ("subprocess.check_output", Other(Handler::Subprocess)), ("subprocess.Popen", Other(Handler::Subprocess)), ("asyncio.create_subprocess_exec", Run(0)),
    ("pty.spawn", Other(Handler::Subprocess)), ("pexpect.run", Shell(0)), ("pexpect.spawn", Shell(0)), ("pexpect.runu", Shell(0)), ("sh.bash", Opaque),
    ("os.execl", Other(Handler::ExecAll)), ("os.execle", Other(Handler::ExecAll)), ("os.execlp", Other(Handler::ExecAll)), ("os.execlpe", Other(Handler::ExecAll)),
    ("os.execv", Exec(0)), ("os.execve", Exec(0)), ("os.execvp", Exec(0)), ("os.execvpe", Exec(0)),
    ("os.spawnl", Other(Handler::SpawnAll)), ("os.spawnle", Other(Handler::SpawnAll)), ("os.spawnlp", Other(Handler::SpawnAll)), ("os.spawnlpe", Other(Handler::SpawnAll)),
    ("os.spawnv", Exec(1)), ("os.spawnve", Exec(1)), ("os.spawnvp", Exec(1)), ("os.spawnvpe", Exec(1)), ("os.posix_spawn", Exec(0)), ("os.posix_spawnp", Exec(0)),
    ("os.startfile", Run(0)), ("eval", Eval(0)), ("exec", Eval(0)), ("compile", Act::Value(Pure::Compile)), ("execfile", Other(Handler::RunsFile)),
    ("runpy.run_path", Other(Handler::RunsFile)), ("runpy.run_module", Opaque), ("code.interact", Opaque), ("code.InteractiveInterpreter", Opaque),
    ("pickle.loads", Opaque), ("pickle.load", Opaque), ("marshal.loads", Opaque), ("timeit.timeit", Eval(0)), ("cProfile.run", Eval(0)), ("profile.run", Eval(0)), ("timeit.repeat", Eval(0)),
    ("types.FunctionType", Opaque), ("importlib.util.spec_from_file_location", Opaque), ("importlib.machinery.SourceFileLoader", Opaque), ("imp.load_source", Opaque),
    ("__import__", Other(Handler::Import)), ("importlib.import_module", Other(Handler::Import)), ("importlib.__import__", Other(Handler::Import)),
    ("getattr", Other(Handler::Getattr)), ("operator.attrgetter", Opaque), ("operator.methodcaller", Opaque), ("vars", Act::Value(Pure::Names)), ("globals", Act::Value(Pure::Names)), ("locals", Act::Value(Pure::Names)), ("setattr", Opaque),
    ("map", Other(Handler::Map)), ("filter", Other(Handler::Filter)), ("list", Act::Value(Pure::Listed)), ("tuple", Act::Value(Pure::Listed)), ("sorted", Act::Value(Pure::Some)), ("set", Act::Value(Pure::Some)), ("frozenset", Act::Value(Pure::Some)), ("iter", Act::Value(Pure::Listed)), ("enumerate", Act::Value(Pure::Enumerated)), ("zip", Act::Value(Pure::Zipped)), ("next", Act::Value(Pure::NextOf)),
    ("str", Act::Value(Pure::Text)), ("bytes", Act::Value(Pure::Text)), ("bytearray", Act::Value(Pure::Text)), ("repr", Act::None), ("chr", Act::Value(Pure::Chr)), ("ord", Act::Value(Pure::Ord)), ("reversed", Act::Value(Pure::Reversed)),
    ("int", Act::Value(Pure::First)), ("dict", Act::Value(Pure::Dict)), ("functools.partial", Other(Handler::Partial)), ("shlex.split", Act::Value(Pure::Split)), ("shlex.quote", Act::Value(Pure::Quote)), ("shlex.join", Act::Value(Pure::ShlexJoin)), ("pipes.quote", Act::Value(Pure::Quote)),
    ("bytes.fromhex", Act::Value(Pure::Unhex)), ("bytearray.fromhex", Act::Value(Pure::Unhex)), ("binascii.unhexlify", Act::Value(Pure::Unhex)), ("binascii.a2b_hex", Act::Value(Pure::Unhex)), ("codecs.decode", Act::Value(Pure::CodecsDecode)),
    ("base64.b64decode", Act::Value(Pure::Unbase64)), ("base64.urlsafe_b64decode", Act::Value(Pure::Unbase64)), ("base64.standard_b64decode", Act::Value(Pure::Unbase64)), ("base64.decodebytes", Act::Value(Pure::Unbase64)), ("base64.decodestring", Act::Value(Pure::Unbase64)),
    ("binascii.a2b_base64", Act::Value(Pure::Unbase64)), ("base64.b16decode", Act::Value(Pure::Unhex)), ("bytes.decode", Act::Value(Pure::Text)), ("str.encode", Act::Value(Pure::Text)),
    ("str.join", Act::Value(Pure::StrJoin)), ("os.fsencode", Act::Value(Pure::Text)), ("os.fsdecode", Act::Value(Pure::Text)), ("os.fspath", Act::Value(Pure::Text)),
    ("os.path.join", Act::Value(Pure::Join)), ("os.path.expanduser", Act::Value(Pure::Expanduser)), ("os.path.expandvars", Act::Value(Pure::Expandvars)), ("os.path.abspath", Act::Value(Pure::Text)), ("os.path.realpath", Act::Value(Pure::Text)), ("os.path.normpath", Act::Value(Pure::Text)),
    ("os.path.dirname", Act::Value(Pure::Dirname)), ("os.path.basename", Act::Value(Pure::Basename)), ("os.getcwd", Act::Value(Pure::Here)), ("os.getcwdb", Act::Value(Pure::Here)), ("os.path.split", Act::Value(Pure::PathSplit)),
    ("pwd.getpwuid", Act::Value(Pure::UserInfo)), ("pwd.getpwnam", Act::Value(Pure::UserInfo)), ("os.getenv", Act::Variable), ("os.environ.get", Act::Variable), ("os.environ.setdefault", Act::Variable),
    ("pathlib.Path", Act::Value(Pure::Pathlib)), ("pathlib.Path.home", Act::Value(Pure::PathHome)), ("pathlib.Path.cwd", Act::Value(Pure::PathHere)), ("pathlib.PurePath", Act::Value(Pure::Pathlib)),
    ("urllib.request.urlopen", Send(0)), ("urllib.urlopen", Send(0)), ("urllib2.urlopen", Send(0)), ("urllib.request.urlretrieve", Other(Handler::Retrieve)), ("urllib.urlretrieve", Other(Handler::Retrieve)),
    ("urllib.request.Request", Act::Value(Pure::First)), ("urllib2.Request", Act::Value(Pure::First)), ("requests.get", Send(0)), ("requests.post", Send(0)), ("requests.put", Send(0)), ("requests.patch", Send(0)), ("requests.delete", Send(0)), ("requests.head", Send(0)),
    ("requests.options", Send(0)), ("requests.request", Send(1)), ("httpx.get", Send(0)), ("httpx.post", Send(0)), ("httpx.put", Send(0)), ("httpx.patch", Send(0)), ("httpx.delete", Send(0)), ("httpx.request", Send(1)), ("httpx.stream", Send(1)),
    ("http.client.HTTPConnection", Send(0)), ("http.client.HTTPSConnection", Send(0)), ("httplib.HTTPConnection", Send(0)), ("httplib.HTTPSConnection", Send(0)),
    ("socket.create_connection", Send(0)), ("socket.getaddrinfo", Send(0)), ("socket.gethostbyname", Send(0)), ("asyncio.open_connection", Send(0)),
    ("smtplib.SMTP", Send(0)), ("smtplib.SMTP_SSL", Send(0)), ("ftplib.FTP", Send(0)), ("ftplib.FTP_TLS", Send(0)), ("telnetlib.Telnet", Send(0)), ("xmlrpc.client.ServerProxy", Send(0)), ("webbrowser.open", Send(0)),
    ("os.kill", Opaque), ("os.killpg", Opaque), ("os.memfd_create", Opaque), ("os.sendfile", Opaque), ("mmap.mmap", Act::None),
];

#[rustfmt::skip]
const NODE: &[Row] = &[
    ("Deno.remove", Other(Handler::NodeRm)), ("Deno.writeTextFile", Write(0)), ("Deno.writeFile", Write(0)), ("Deno.readTextFile", Read(0)), ("Deno.readFile", Read(0)), ("Deno.rename", Move), ("Deno.copyFile", Act::Copy), ("Deno.mkdir", Folder(0)), ("Deno.readDir", Act::List(0)), ("Deno.symlink", Link), ("Deno.link", HardLink), ("Deno.chmod", Chmod(0)), ("Deno.chown", Mode(0)), ("Deno.truncate", Write(0)), ("Deno.create", Write(0)), ("Deno.open", Other(Handler::Open)), ("Deno.readLink", Read(0)), ("Deno.utime", Write(0)), ("Deno.chdir", Chdir), ("Deno.Command", Other(Handler::DenoCommand)), ("Deno.run", Other(Handler::SpawnList)), ("Deno.kill", Opaque), ("Deno.dlopen", Opaque), ("Deno.env.get", Act::Variable), ("Deno.cwd", Act::Value(Pure::Here)), ("Deno.makeTempDir", Other(Handler::NodeTemporary)),
    ("Bun.$", Other(Handler::Template)), ("Bun.write", Write(0)), ("Bun.file", Read(0)), ("Bun.spawn", Other(Handler::SpawnList)),
    ("fs.readFile", Read(0)), ("fs.createReadStream", Read(0)), ("fs.readdir", Act::List(0)), ("fs.opendir", Act::List(0)), ("fs.glob", Other(Handler::Glob)), ("glob", Other(Handler::Glob)), ("glob.glob", Other(Handler::Glob)), ("glob.sync", Other(Handler::Glob)), ("glob.globSync", Other(Handler::Glob)), ("fast-glob", Other(Handler::Glob)), ("fast-glob.sync", Other(Handler::Glob)), ("fast-glob.glob", Other(Handler::Glob)), ("fast-glob.globSync", Other(Handler::Glob)), ("globby", Other(Handler::Glob)), ("globby.sync", Other(Handler::Glob)), ("globby.globby", Other(Handler::Glob)), ("globby.globbySync", Other(Handler::Glob)), ("tinyglobby.glob", Other(Handler::Glob)), ("tinyglobby.globSync", Other(Handler::Glob)), ("fs.readlink", Read(0)), ("fs.watch", Read(0)), ("fs.watchFile", Read(0)), ("fs.readJson", Read(0)),
    ("fs.writeFile", Other(Handler::NodeWrite)), ("fs.createWriteStream", Other(Handler::NodeWrite)), ("fs.outputFile", Write(0)), ("fs.writeJson", Write(0)), ("fs.outputJson", Write(0)), ("fs.appendFile", Append(0)), ("fs.truncate", Write(0)), ("fs.utimes", Write(0)), ("fs.lutimes", Write(0)),
    ("fs.open", Other(Handler::Open)), ("fs.unlink", Delete(0)), ("fs.rmdir", Other(Handler::NodeRm)), ("fs.rm", Other(Handler::NodeRm)), ("fs.remove", Tree(0)), ("fs.emptyDir", Tree(0)), ("rimraf", Tree(0)), ("trash", Trees), ("write-file-atomic", Write(0)), ("write-file-atomic.sync", Write(0)), ("shelljs.cp", Other(Handler::ShelljsCopy)), ("shelljs.mv", Other(Handler::ShelljsMove)), ("shelljs.sed", Other(Handler::ShelljsSed)), ("rimraf.rimraf", Tree(0)), ("rimraf.sync", Tree(0)), ("del", Trees), ("del.sync", Trees), ("del.deleteSync", Trees),
    ("fs.mkdir", Folder(0)), ("fs.mkdirp", Folder(0)), ("fs.ensureDir", Folder(0)), ("fs.ensureFile", File(0)), ("fs.mkdtemp", Other(Handler::NodeTemporary)), ("fs.rename", Move), ("fs.move", Move), ("fs.copyFile", Act::Copy), ("fs.cp", Act::Copy), ("fs.copy", Act::Copy),
    ("fs.link", HardLink), ("fs.symlink", Link), ("fs.chmod", Chmod(0)), ("fs.lchmod", Chmod(0)), ("fs.chown", Mode(0)), ("fs.lchown", Mode(0)), ("process.chdir", Chdir),
    ("child_process.exec", Other(Handler::NodeExec)), ("child_process.execFile", Other(Handler::NodeSpawn)), ("child_process.spawn", Other(Handler::NodeSpawn)), ("child_process.fork", Other(Handler::NodeFork)),
    ("execa", Other(Handler::NodeSpawn)), ("execa.execa", Other(Handler::NodeSpawn)), ("execa.execaCommand", Shell(0)), ("execa.command", Shell(0)), ("shelljs.exec", Shell(0)), ("shelljs.rm", Other(Handler::ShelljsRm)), ("zx.$", Other(Handler::Template)), ("execa.$", Other(Handler::Template)), ("bun.$", Other(Handler::Template)),
    ("eval", Eval(0)), ("Function", Other(Handler::Constructor)), ("vm.runInThisContext", Eval(0)), ("vm.runInNewContext", Eval(0)), ("vm.runInContext", Eval(0)), ("vm.Script", Eval(0)), ("vm.compileFunction", Eval(0)), ("vm.SourceTextModule", Eval(0)),
    ("setTimeout", Other(Handler::Timer)), ("setInterval", Other(Handler::Timer)), ("setImmediate", Other(Handler::Immediate)), ("Worker", Other(Handler::Worker)), ("worker_threads.Worker", Other(Handler::Worker)), ("process.binding", Opaque), ("process._linkedBinding", Opaque), ("process.dlopen", Opaque), ("process.kill", Opaque), ("cluster.fork", Opaque), ("process.getBuiltinModule", Other(Handler::NodeRequire)),
    ("require", Other(Handler::NodeRequire)), ("import", Other(Handler::NodeRequire)), ("module._load", Other(Handler::NodeRequire)), ("module.createRequire", Act::Value(Pure::CreateRequire)), ("require.resolve", Act::None), ("Reflect.get", Other(Handler::Getattr)), ("Reflect.apply", Other(Handler::ReflectApply)), ("Reflect.construct", Other(Handler::ReflectConstruct)),
    ("util.promisify", Act::Value(Pure::First)), ("Promise.resolve", Act::Value(Pure::First)), ("Promise.all", Act::Value(Pure::First)), ("Promise.allSettled", Act::Value(Pure::First)), ("Object.values", Act::Value(Pure::First)), ("Array.from", Act::Value(Pure::ArrayFrom)), ("Array.of", Act::Value(Pure::All)), ("Object.assign", Opaque), ("Object.entries", Act::Value(Pure::Entries)), ("Object.keys", Act::None),
    ("String", Act::Value(Pure::Text)), ("String.fromCharCode", Act::Value(Pure::Chars)), ("String.fromCodePoint", Act::Value(Pure::Chars)), ("String.raw", Act::None), ("Buffer.from", Act::Value(Pure::Buffer)), ("Buffer", Act::Value(Pure::Buffer)), ("Buffer.concat", Act::None), ("atob", Act::Value(Pure::Unbase64)), ("decodeURIComponent", Act::Value(Pure::Unpercent)), ("unescape", Act::Value(Pure::Unpercent)), ("decodeURI", Act::None),
    ("path.join", Act::Value(Pure::NodeJoin)), ("path.resolve", Act::Value(Pure::Join)), ("path.normalize", Act::Value(Pure::Text)), ("path.dirname", Act::Value(Pure::Dirname)), ("path.basename", Act::Value(Pure::Basename)), ("path.parse", Act::Value(Pure::PathParse)), ("fs.realpath", Act::Value(Pure::Text)), ("os.homedir", Act::Value(Pure::Home)), ("os.userInfo", Act::Value(Pure::UserInfo)), ("process.cwd", Act::Value(Pure::Here)), ("url.fileURLToPath", Other(Handler::OwnFile)),
    ("URL", Act::Value(Pure::Url)), ("url.parse", Act::Value(Pure::First)), ("Request", Act::Value(Pure::First)), ("fetch", Send(0)), ("http.get", Other(Handler::NodeHttp)), ("http.request", Other(Handler::NodeHttp)), ("https.get", Other(Handler::NodeHttp)), ("https.request", Other(Handler::NodeHttp)), ("http2.connect", Send(0)), ("net.connect", Other(Handler::NodeHttp)), ("net.createConnection", Other(Handler::NodeHttp)), ("tls.connect", Other(Handler::NodeHttp)), ("WebSocket", Send(0)), ("EventSource", Send(0)), ("XMLHttpRequest", Opaque), ("dns.lookup", Send(0)), ("dns.resolve", Send(0)),
    ("axios", Send(0)), ("axios.get", Send(0)), ("axios.post", Send(0)), ("axios.put", Send(0)), ("axios.patch", Send(0)), ("axios.delete", Send(0)), ("axios.request", Other(Handler::NodeHttp)), ("got", Send(0)), ("got.get", Send(0)), ("got.post", Send(0)), ("node-fetch", Send(0)), ("undici.fetch", Send(0)), ("undici.request", Send(0)),
    ("JSON.parse", Act::Value(Pure::Document)),
];

#[rustfmt::skip]
const PERL: &[Row] = &[
    ("open", Other(Handler::PerlOpen)), ("sysopen", Other(Handler::PerlSysopen)), ("opendir", Act::List(1)), ("unlink", Deletes), ("rmdir", Deletes), ("mkdir", Folder(0)), ("rename", Move), ("link", HardLink), ("symlink", Link),
    ("chmod", Chmods), ("chown", Modes(2)), ("utime", Other(Handler::Utime)), ("truncate", Write(0)), ("chdir", Chdir), ("chroot", Opaque), ("dbmopen", Write(1)), ("mkfifo", File(0)), ("remove", Delete(0)),
    ("system", ShellOrRun), ("exec", ShellOrRun), ("readpipe", Shell(0)), ("qx", Shell(0)), ("syscall", Opaque), ("kill", Opaque), ("eval", Eval(0)), ("evalbytes", Eval(0)), ("do", Other(Handler::RunsFile)), ("require", Other(Handler::PerlRequire)),
    ("glob", Other(Handler::Glob)), ("rmtree", Trees), ("remove_tree", Trees), ("make_path", Folders), ("mkpath", Folders), ("File::Path::rmtree", Trees), ("File::Path::remove_tree", Trees), ("File::Path::make_path", Folders), ("File::Path::mkpath", Folders),
    ("File::Copy::copy", Act::Copy), ("File::Copy::move", Move), ("File::Copy::cp", Act::Copy), ("File::Copy::mv", Move), ("File::Slurp::read_file", Read(0)), ("File::Slurp::write_file", Write(0)), ("File::Slurp::append_file", Append(0)), ("File::Find::find", Other(Handler::PerlFind)), ("File::Find::finddepth", Other(Handler::PerlFind)), ("File::Glob::bsd_glob", Other(Handler::Glob)), ("bsd_glob", Other(Handler::Glob)), ("File::Temp::tempfile", Act::None), ("File::Temp::tempdir", Act::None),
    ("IPC::Open3::open3", Other(Handler::Open3)), ("IPC::Open2::open2", Other(Handler::Open2)), ("IPC::System::Simple::systemx", Run(0)), ("IPC::System::Simple::capture", ShellOrRun), ("IPC::System::Simple::capturex", Run(0)), ("IPC::Run::run", Other(Handler::Subprocess)), ("IPC::Cmd::run", Opaque),
    ("IO::File.new", Other(Handler::PerlFile)), ("Path::Tiny::path", Act::Value(Pure::Pathlib)), ("File::Spec.catfile", Act::Value(Pure::NodeJoin)), ("File::Spec.catdir", Act::Value(Pure::NodeJoin)), ("File::Spec::Functions::catfile", Act::Value(Pure::NodeJoin)), ("File::Spec::Functions::catdir", Act::Value(Pure::NodeJoin)), ("catfile", Act::Value(Pure::NodeJoin)), ("catdir", Act::Value(Pure::NodeJoin)), ("File::Spec.rel2abs", Act::Value(Pure::Text)),
    ("join", Act::Value(Pure::PerlJoin)), ("sprintf", Act::Value(Pure::Sprintf)), ("reverse", Act::Value(Pure::PerlReverse)), ("chr", Act::Value(Pure::Chr)), ("ord", Act::Value(Pure::Ord)), ("pack", Act::Value(Pure::Pack)), ("lc", Act::Value(Pure::Lower)), ("uc", Act::Value(Pure::Upper)), ("lcfirst", Act::None), ("scalar", Act::Value(Pure::First)), ("ref", Act::None), ("MIME::Base64::decode_base64", Act::Value(Pure::Unbase64)), ("decode_base64", Act::Value(Pure::Unbase64)), ("MIME::Base64::decode", Act::Value(Pure::Unbase64)),
    ("bless", Act::Value(Pure::First)), ("cwd", Act::Value(Pure::Here)), ("getcwd", Act::Value(Pure::Here)), ("dirname", Act::Value(Pure::Dirname)), ("basename", Act::Value(Pure::Basename)), ("home", Act::Value(Pure::Home)), ("File::HomeDir.my_home", Act::Value(Pure::Home)),
    ("LWP::Simple::get", Send(0)), ("LWP::Simple::getprint", Send(0)), ("LWP::Simple::getstore", Other(Handler::Retrieve)), ("LWP::Simple::mirror", Other(Handler::Retrieve)), ("LWP::Simple::head", Send(0)), ("IO::Socket::INET.new", Other(Handler::PerlSocket)), ("IO::Socket::SSL.new", Other(Handler::PerlSocket)), ("IO::Socket::IP.new", Other(Handler::PerlSocket)), ("connect", Opaque), ("gethostbyname", Send(0)), ("Net::FTP.new", Send(0)), ("Net::SMTP.new", Send(0)),
];

#[rustfmt::skip]
const RUBY: &[Row] = &[
    ("File.open", Other(Handler::Open)), ("File.new", Other(Handler::Open)), ("open", Other(Handler::RubyOpen)), ("URI.open", Other(Handler::RubyOpen)), ("IO.open", Act::None), ("IO.sysopen", Other(Handler::Open)), ("Zlib.GzipWriter.open", Write(0)), ("Zlib.GzipReader.open", Read(0)), ("CSV.open", Other(Handler::Open)), ("CSV.read", Read(0)), ("CSV.foreach", Read(0)), ("YAML.load_file", Read(0)), ("JSON.load_file", Read(0)),
    ("File.read", Read(0)), ("File.readlines", Read(0)), ("File.binread", Read(0)), ("File.foreach", Read(0)), ("File.readlink", Read(0)), ("IO.read", Other(Handler::RubyIo)), ("IO.readlines", Other(Handler::RubyIo)), ("IO.binread", Other(Handler::RubyIo)), ("IO.foreach", Other(Handler::RubyIo)), ("Dir.entries", Act::List(0)), ("Dir.children", Act::List(0)), ("Dir.each_child", Act::List(0)), ("Dir.foreach", Act::List(0)), ("Dir.open", Act::List(0)), ("Dir.new", Act::List(0)), ("Dir.glob", Other(Handler::Glob)), ("Dir.[]", Other(Handler::Glob)), ("Find.find", Other(Handler::RubyFind)), ("PStore.new", Write(0)),
    ("File.write", Other(Handler::RubyWrite)), ("File.binwrite", Other(Handler::RubyWrite)), ("IO.write", Other(Handler::RubyWrite)), ("IO.binwrite", Other(Handler::RubyWrite)), ("File.truncate", Write(0)), ("File.utime", Other(Handler::Utime)), ("IO.copy_stream", Act::Copy), ("File.mkfifo", File(0)),
    ("File.delete", Deletes), ("File.unlink", Deletes), ("Dir.rmdir", Delete(0)), ("Dir.delete", Delete(0)), ("Dir.unlink", Delete(0)), ("Dir.mkdir", Folder(0)), ("Dir.chdir", Chdir), ("Dir.chroot", Opaque), ("Dir.mktmpdir", Act::None), ("File.rename", Move), ("File.link", HardLink), ("File.symlink", Link), ("File.chmod", Chmods), ("File.lchmod", Chmods), ("File.chown", Modes(2)), ("File.lchown", Modes(2)), ("test", Act::None),
    ("FileUtils.rm", Deletes), ("FileUtils.rm_f", Deletes), ("FileUtils.remove", Deletes), ("FileUtils.safe_unlink", Deletes), ("FileUtils.rm_r", Trees), ("FileUtils.rm_rf", Trees), ("FileUtils.rmtree", Trees), ("FileUtils.remove_dir", Tree(0)), ("FileUtils.remove_entry", Tree(0)), ("FileUtils.remove_entry_secure", Tree(0)), ("FileUtils.remove_file", Delete(0)), ("FileUtils.rmdir", Deletes),
    ("FileUtils.mkdir", Folders), ("FileUtils.mkdir_p", Folders), ("FileUtils.makedirs", Folders), ("FileUtils.mkpath", Folders), ("FileUtils.touch", Other(Handler::Touch)), ("FileUtils.cp", Act::Copy), ("FileUtils.copy", Act::Copy), ("FileUtils.cp_r", Act::Copy), ("FileUtils.copy_file", Act::Copy), ("FileUtils.copy_entry", Act::Copy), ("FileUtils.cp_lr", HardLink), ("FileUtils.install", Act::Copy), ("FileUtils.mv", Move), ("FileUtils.move", Move), ("FileUtils.ln", HardLink), ("FileUtils.ln_s", Link), ("FileUtils.ln_sf", Other(Handler::ForceLink)), ("FileUtils.symlink", Link), ("FileUtils.link", HardLink),
    ("FileUtils.chmod", Chmod(1)), ("FileUtils.chmod_R", Chmod(1)), ("FileUtils.chown", Mode(2)), ("FileUtils.chown_R", Mode(2)), ("FileUtils.cd", Chdir), ("FileUtils.chdir", Chdir), ("FileUtils.pwd", Act::Value(Pure::Here)),
    ("system", Other(Handler::RubySystem)), ("exec", Other(Handler::RubySystem)), ("spawn", Other(Handler::RubySystem)), ("Process.spawn", Other(Handler::RubySystem)), ("Process.exec", Other(Handler::RubySystem)), ("IO.popen", Other(Handler::RubyPopen)), ("Open3.capture2", Other(Handler::RubySystem)), ("Open3.capture2e", Other(Handler::RubySystem)), ("Open3.capture3", Other(Handler::RubySystem)), ("Open3.popen2", Other(Handler::RubySystem)), ("Open3.popen2e", Other(Handler::RubySystem)), ("Open3.popen3", Other(Handler::RubySystem)), ("Open3.pipeline", Opaque), ("PTY.spawn", Other(Handler::RubySystem)), ("`", Shell(0)), ("sh", Other(Handler::RubySystem)),
    ("eval", Eval(0)), ("instance_eval", Eval(0)), ("class_eval", Eval(0)), ("module_eval", Eval(0)), ("Binding.eval", Eval(0)), ("binding.eval", Eval(0)), ("RubyVM.InstructionSequence.compile", Eval(0)), ("RubyVM.InstructionSequence.new", Eval(0)), ("load", Other(Handler::RunsFile)), ("require_relative", Other(Handler::RunsFile)), ("require", Other(Handler::RubyRequire)), ("include", Other(Handler::RubyInclude)), ("Fiddle.dlopen", Opaque), ("Marshal.load", Opaque), ("syscall", Opaque), ("Process.kill", Opaque), ("DL.dlopen", Opaque),
    ("const_get", Other(Handler::ConstGet)), ("method", Other(Handler::ConstGet)), ("send", Other(Handler::RubySend)), ("__send__", Other(Handler::RubySend)), ("public_send", Other(Handler::RubySend)),
    ("File.join", Act::Value(Pure::NodeJoin)), ("File.expand_path", Act::Value(Pure::RubyExpand)), ("File.absolute_path", Act::Value(Pure::Text)), ("File.realpath", Act::Value(Pure::Text)), ("File.dirname", Act::Value(Pure::Dirname)), ("File.basename", Act::Value(Pure::Basename)), ("Dir.home", Act::Value(Pure::Home)), ("Dir.pwd", Act::Value(Pure::Here)), ("Dir.getwd", Act::Value(Pure::Here)), ("ENV.fetch", Act::Variable), ("ENV.[]", Act::Variable), ("Pathname.new", Act::Value(Pure::Pathlib)), ("Pathname", Act::Value(Pure::Pathlib)), ("Pathname.pwd", Act::Value(Pure::PathHere)), ("String", Act::Value(Pure::Text)), ("String.new", Act::Value(Pure::Text)), ("format", Act::Value(Pure::Sprintf)), ("sprintf", Act::Value(Pure::Sprintf)), ("Shellwords.split", Act::Value(Pure::Split)), ("Shellwords.escape", Act::Value(Pure::Quote)), ("Array", Act::Value(Pure::First)),
    ("Base64.decode64", Act::Value(Pure::Unbase64)), ("Base64.strict_decode64", Act::Value(Pure::Unbase64)), ("Base64.urlsafe_decode64", Act::Value(Pure::Unbase64)),
    ("URI", Act::Value(Pure::First)), ("URI.parse", Act::Value(Pure::First)), ("Net.HTTP.get", Send(0)), ("Net.HTTP.get_response", Send(0)), ("Net.HTTP.post", Send(0)), ("Net.HTTP.post_form", Send(0)), ("Net.HTTP.start", Send(0)), ("Net.HTTP.new", Send(0)), ("Net.HTTP.get_print", Send(0)), ("TCPSocket.new", Send(0)), ("TCPSocket.open", Send(0)), ("UDPSocket.new", Act::None), ("Socket.tcp", Send(0)), ("HTTParty.get", Send(0)), ("HTTParty.post", Send(0)), ("Faraday.get", Send(0)), ("Faraday.post", Send(0)), ("Net.FTP.open", Send(0)), ("Net.SMTP.start", Send(0)),
];

#[rustfmt::skip]
const PHP: &[Row] = &[
    ("fopen", Other(Handler::Open)), ("gzopen", Other(Handler::Open)), ("bzopen", Other(Handler::Open)), ("splfileobject", Other(Handler::Open)), ("file_get_contents", Other(Handler::PhpRead)), ("readfile", Other(Handler::PhpRead)), ("file", Other(Handler::PhpRead)), ("parse_ini_file", Read(0)), ("simplexml_load_file", Other(Handler::PhpRead)), ("highlight_file", Read(0)), ("show_source", Read(0)), ("php_strip_whitespace", Read(0)), ("scandir", Act::List(0)), ("opendir", Act::List(0)), ("dir", Act::List(0)), ("glob", Other(Handler::Glob)), ("readlink", Read(0)), ("readgzfile", Read(0)), ("md5_file", Read(0)), ("sha1_file", Read(0)), ("hash_file", Read(1)), ("recursivedirectoryiterator", Act::List(0)), ("filesystemiterator", Act::List(0)), ("globiterator", Other(Handler::Glob)), ("imagepng", Write(1)), ("imagejpeg", Write(1)), ("imagegif", Write(1)), ("imagewebp", Write(1)), ("directoryiterator", Act::List(0)),
    ("file_put_contents", Other(Handler::PhpWrite)), ("touch", File(0)), ("unlink", Delete(0)), ("rmdir", Delete(0)), ("mkdir", Folder(0)), ("rename", Move), ("copy", Act::Copy), ("move_uploaded_file", Move), ("link", HardLink), ("symlink", Link), ("chmod", Chmod(0)), ("chown", Mode(0)), ("chgrp", Mode(0)), ("lchown", Mode(0)), ("lchgrp", Mode(0)), ("chdir", Chdir), ("chroot", Opaque), ("tempnam", Act::None), ("posix_mkfifo", File(0)), ("error_log", Other(Handler::ErrorLog)),
    ("exec", Shell(0)), ("shell_exec", Shell(0)), ("system", Shell(0)), ("passthru", Shell(0)), ("popen", Shell(0)), ("proc_open", Other(Handler::PhpProc)), ("pcntl_exec", Exec(0)), ("expect_popen", Shell(0)), ("eval", Eval(0)), ("assert", Other(Handler::PhpAssert)), ("create_function", Eval(1)), ("include", Other(Handler::RunsFile)), ("dl", Opaque), ("ffi.cdef", Opaque), ("ffi.load", Opaque), ("unserialize", Opaque), ("posix_kill", Opaque), ("ini_set", Act::None), ("extract", Opaque), ("parse_str", Opaque), ("putenv", Act::None),
    ("call_user_func", Other(Handler::Partial)), ("call_user_func_array", Other(Handler::CallArray)), ("array_map", Other(Handler::Map)), ("array_walk", Other(Handler::WalkArray)), ("array_filter", Other(Handler::FilterArray)), ("usort", Other(Handler::PhpCallback)), ("uasort", Other(Handler::PhpCallback)), ("uksort", Other(Handler::PhpCallback)), ("register_shutdown_function", Other(Handler::Partial)), ("array_reduce", Other(Handler::PhpCallback)), ("preg_replace_callback", Other(Handler::PhpCallback)), ("reflectionfunction", Act::Value(Pure::First)), ("forward_static_call", Other(Handler::Partial)), ("iterator_apply", Other(Handler::PhpCallback)), ("ob_start", Other(Handler::PhpCallback)), ("array_push", Act::None),
    ("getenv", Act::Variable), ("posix_getpwuid", Act::Value(Pure::UserInfo)), ("posix_getpwnam", Act::Value(Pure::UserInfo)), ("getcwd", Act::Value(Pure::Here)), ("dirname", Act::Value(Pure::Dirname)), ("basename", Act::Value(Pure::Basename)), ("realpath", Act::Value(Pure::Text)), ("base64_decode", Act::Value(Pure::Unbase64)), ("hex2bin", Act::Value(Pure::Unhex)), ("strrev", Act::Value(Pure::Reversed)), ("chr", Act::Value(Pure::Chr)), ("ord", Act::Value(Pure::Ord)), ("implode", Act::Value(Pure::Implode)), ("join", Act::Value(Pure::Implode)), ("explode", Act::Value(Pure::Explode)), ("sprintf", Act::Value(Pure::Sprintf)), ("str_rot13", Act::Value(Pure::Rot13)), ("strtolower", Act::Value(Pure::Lower)), ("strtoupper", Act::Value(Pure::Upper)), ("trim", Act::Value(Pure::PhpTrim)), ("escapeshellarg", Act::Value(Pure::Quote)), ("urldecode", Act::Value(Pure::Urldecode)), ("rawurldecode", Act::Value(Pure::Unpercent)), ("array", Act::Value(Pure::All)), ("str_replace", Act::Value(Pure::PhpReplace)), ("strval", Act::Value(Pure::Text)), ("array_merge", Act::Value(Pure::Merge)), ("pack", Act::Value(Pure::Pack)), ("array_reverse", Act::Value(Pure::Reversed)),
    ("curl_init", Other(Handler::Curl)), ("curl_setopt", Other(Handler::CurlOption)), ("fsockopen", Send(0)), ("pfsockopen", Send(0)), ("stream_socket_client", Send(0)), ("socket_connect", Send(1)), ("mail", Send(0)), ("ftp_connect", Send(0)), ("get_headers", Send(0)), ("gethostbyname", Send(0)), ("mysqli_connect", Send(0)),
];

/// Modules and objects of which an unknown function may touch files or processes.
#[rustfmt::skip]
pub(super) const STRICT: &[&str] = &["os", "shutil", "subprocess", "fs", "child_process", "FileUtils", "pty", "Open3", "FFI", "ffi", "ctypes", "cffi", "shelljs", "execa", "File::Path", "File::Copy"];

/// Functions of those that do not.
#[rustfmt::skip]
pub(super) const MILD: &[&str] = &[
    "os.path", "os.environ", "os.stat", "os.lstat", "os.fstat", "os.statvfs", "os.access", "os.getpid", "os.getppid", "os.getuid", "os.geteuid", "os.getgid", "os.getegid", "os.getlogin", "os.uname", "os.cpu_count", "os.isatty", "os.get_terminal_size", "os.umask", "os.times", "os.urandom",
    "os.fsync", "os.close", "os.read", "os.write", "os.lseek", "os.dup", "os.dup2", "os.pipe", "os._exit", "os.abort", "os.wait", "os.waitpid", "os.fork", "os.fdopen", "os.getloadavg", "os.strerror", "os.sync", "os.nice", "os.get_exec_path", "os.sched_getaffinity", "os.putenv", "os.unsetenv", "os.PathLike", "os.cpus", "os.platform", "os.arch", "os.type", "os.release",
    "os.hostname", "os.tmpdir", "os.totalmem", "os.freemem", "os.userInfo", "os.networkInterfaces", "os.uptime", "os.loadavg", "os.version", "os.machine", "os.availableParallelism", "os.endianness", "os.EOL", "os.error", "os.getgroups", "os.setsid", "os.ttyname", "os.getxattr", "os.listxattr", "os.process_cpu_count",
    "shutil.which", "shutil.disk_usage", "shutil.get_terminal_size", "shutil.ignore_patterns", "shutil.copyfileobj", "shutil.get_archive_formats", "shutil.Error", "subprocess.list2cmdline", "subprocess.CalledProcessError", "subprocess.TimeoutExpired", "subprocess.STARTUPINFO",
    "fs.exists", "fs.stat", "fs.lstat", "fs.fstat", "fs.access", "fs.realpath", "fs.realpath.native", "fs.close", "fs.read", "fs.write", "fs.fsync", "fs.statfs", "fs.pathExists", "fs.Stats", "fs.unwatchFile", "fs.readSync", "fs.writev", "fs.readv", "fs.fchmod", "fs.ftruncate", "fs.fchown", "fs.futimes", "fs.fdatasync",
    "FileUtils.compare_file", "FileUtils.identical?", "FileUtils.uptodate?", "FileUtils.cmp",
];

/// Modules that touch neither files nor processes of their own accord, or whose rows are all there is to know.
#[rustfmt::skip]
pub(super) const HARMLESS: &[&str] = &[
    "sys", "re", "json", "math", "time", "datetime", "collections", "itertools", "functools", "string", "random", "hashlib", "hmac", "textwrap", "typing", "platform", "statistics", "decimal", "fractions", "operator", "struct", "uuid", "secrets", "copy", "pprint", "enum", "dataclasses", "calendar", "locale", "unicodedata", "base64", "binascii", "codecs", "shlex", "pipes", "glob", "fnmatch", "io",
    "csv", "configparser", "argparse", "getpass", "warnings", "traceback", "inspect", "ast", "tokenize", "token", "dis", "logging", "threading", "queue", "asyncio", "signal", "errno", "stat", "tempfile", "pathlib", "gzip", "bz2", "lzma", "zlib", "zipfile", "tarfile", "pickle", "marshal", "socket", "ssl", "select", "selectors", "http", "urllib", "urllib2", "httplib", "email", "html", "xml", "xmlrpc",
    "ipaddress", "requests", "httpx", "smtplib", "ftplib", "telnetlib", "webbrowser", "sqlite3", "shelve", "dbm", "linecache", "fileinput", "filecmp", "pwd", "grp", "resource", "builtins", "__future__", "importlib", "site", "sysconfig", "types", "abc", "contextlib", "heapq", "bisect", "array", "numbers", "cmath", "difflib", "gc", "weakref", "timeit", "cProfile", "profile", "code", "runpy", "concurrent",
    "multiprocessing", "unittest", "doctest", "yaml", "tomllib", "toml", "tomli", "dateutil", "pytz", "string.templatelib", "pkgutil", "keyword", "reprlib", "zoneinfo", "atexit", "mmap", "pexpect", "commands", "popen2", "distutils", "imp", "numpy.random",
    "Deno", "Bun", "path", "util", "url", "crypto", "events", "assert", "stream", "buffer", "querystring", "string_decoder", "os", "http2", "https", "net", "tls", "dns", "dgram", "zlib", "readline", "timers", "perf_hooks", "process", "v8", "vm", "module", "console", "worker_threads", "cluster", "async_hooks", "punycode", "constants", "tty", "test", "rimraf", "del", "axios", "got", "node-fetch", "undici", "fs-extra", "execa", "shelljs", "zx", "semver", "lodash", "chalk", "typescript", "uuid",
    "strict", "warnings", "utf8", "feature", "vars", "constant", "integer", "bigint", "bytes", "parent", "base", "overload", "lib", "Carp", "Data::Dumper", "List::Util", "Scalar::Util", "POSIX", "Cwd", "Time::HiRes", "Time::Local", "Time::Piece", "JSON", "JSON::PP", "MIME::Base64", "Encode", "Getopt::Long", "File::Basename", "File::Spec", "File::Spec::Functions", "File::Path", "File::Copy", "File::Temp", "File::Find", "File::Slurp", "File::HomeDir", "Path::Tiny", "IO::File", "IO::Handle",
    "IO::Socket", "IO::Socket::INET", "IO::Socket::SSL", "IO::Socket::IP", "IPC::Open2", "IPC::Open3", "IPC::Run", "IPC::Cmd", "IPC::System::Simple", "LWP::Simple", "LWP::UserAgent", "HTTP::Tiny", "HTTP::Request", "Net::FTP", "Net::SMTP", "Socket", "Storable", "Digest::MD5", "Digest::SHA", "Term::ANSIColor", "Text::Wrap", "Text::ParseWords", "Math::BigInt", "Fcntl", "Errno", "Env", "English", "autodie", "diagnostics", "version", "v5", "Config", "Benchmark", "Test::More", "Tie::File", "DB_File", "Symbol",
    "fileutils", "open3", "pathname", "tempfile", "tmpdir", "set", "date", "time", "csv", "digest", "digest/md5", "digest/sha2", "securerandom", "erb", "open-uri", "net/http", "net/ftp", "net/smtp", "uri", "socket", "shellwords", "pp", "ostruct", "optparse", "benchmark", "bigdecimal", "stringio", "find", "etc", "English", "rubygems", "bundler", "psych", "logger", "forwardable", "singleton", "observer", "timeout", "io/console", "zlib", "openssl", "httparty", "faraday", "pty", "fiddle", "ripper", "prime", "matrix", "abbrev", "base64", "minitest/autorun", "test/unit", "nokogiri",
];

/// Last parts of names that mean what they say whatever they are called on.
#[rustfmt::skip]
pub(super) const PLAIN: &[(Language, &str, &str)] = &[
    (Language::Python, "rmtree", "shutil.rmtree"), (Language::Python, "copytree", "shutil.copytree"), (Language::Python, "copyfile", "shutil.copyfile"), (Language::Python, "unlink", "os.unlink"), (Language::Python, "rmdir", "os.rmdir"), (Language::Python, "removedirs", "os.removedirs"), (Language::Python, "makedirs", "os.makedirs"),
    (Language::Python, "system", "os.system"), (Language::Python, "popen", "os.popen"), (Language::Python, "Popen", "subprocess.Popen"), (Language::Python, "check_output", "subprocess.check_output"), (Language::Python, "check_call", "subprocess.check_call"), (Language::Python, "getoutput", "subprocess.getoutput"), (Language::Python, "execv", "os.execv"), (Language::Python, "execvp", "os.execvp"), (Language::Python, "execve", "os.execve"),
    (Language::Python, "urlopen", "urllib.request.urlopen"), (Language::Python, "urlretrieve", "urllib.request.urlretrieve"), (Language::Python, "create_connection", "socket.create_connection"), (Language::Python, "chmod", "os.chmod"), (Language::Python, "symlink", "os.symlink"), (Language::Python, "b64decode", "base64.b64decode"),
    (Language::Node, "unlinkSync", "fs.unlink"), (Language::Node, "rmSync", "fs.rm"), (Language::Node, "rmdirSync", "fs.rmdir"), (Language::Node, "writeFileSync", "fs.writeFile"), (Language::Node, "appendFileSync", "fs.appendFile"), (Language::Node, "renameSync", "fs.rename"), (Language::Node, "mkdirSync", "fs.mkdir"), (Language::Node, "copyFileSync", "fs.copyFile"), (Language::Node, "cpSync", "fs.cp"), (Language::Node, "chmodSync", "fs.chmod"), (Language::Node, "truncateSync", "fs.truncate"), (Language::Node, "symlinkSync", "fs.symlink"), (Language::Node, "readFileSync", "fs.readFile"), (Language::Node, "removeSync", "fs.remove"),
    (Language::Node, "unlink", "fs.unlink"), (Language::Node, "writeFile", "fs.writeFile"), (Language::Node, "appendFile", "fs.appendFile"), (Language::Node, "readFile", "fs.readFile"), (Language::Node, "rmdir", "fs.rmdir"), (Language::Node, "mkdir", "fs.mkdir"), (Language::Node, "copyFile", "fs.copyFile"), (Language::Node, "execSync", "child_process.exec"), (Language::Node, "spawnSync", "child_process.spawn"), (Language::Node, "execFileSync", "child_process.execFile"), (Language::Node, "execFile", "child_process.execFile"), (Language::Node, "spawn", "child_process.spawn"), (Language::Node, "runInThisContext", "vm.runInThisContext"), (Language::Node, "runInNewContext", "vm.runInNewContext"),
    (Language::Ruby, "rm_rf", "FileUtils.rm_rf"), (Language::Ruby, "rm_r", "FileUtils.rm_r"), (Language::Ruby, "rm_f", "FileUtils.rm_f"), (Language::Ruby, "mkdir_p", "FileUtils.mkdir_p"), (Language::Ruby, "remove_dir", "FileUtils.remove_dir"), (Language::Ruby, "remove_entry", "FileUtils.remove_entry"), (Language::Ruby, "system", "system"), (Language::Ruby, "popen", "IO.popen"), (Language::Ruby, "capture2", "Open3.capture2"), (Language::Ruby, "capture3", "Open3.capture3"), (Language::Ruby, "instance_eval", "eval"), (Language::Ruby, "class_eval", "eval"), (Language::Ruby, "module_eval", "eval"),
    (Language::Perl, "rmtree", "rmtree"), (Language::Perl, "remove_tree", "remove_tree"),
];

/// Names that a module gives to whoever imports all of it.
pub(super) fn exported(module: &str) -> &'static [&'static str] {
    match module {
        "os" => &[
            "remove",
            "unlink",
            "rmdir",
            "removedirs",
            "mkdir",
            "makedirs",
            "rename",
            "renames",
            "replace",
            "chmod",
            "chown",
            "symlink",
            "link",
            "truncate",
            "system",
            "popen",
            "execl",
            "execv",
            "execvp",
            "execve",
            "spawnl",
            "spawnv",
            "spawnvp",
            "open",
            "environ",
            "getenv",
            "path",
            "chdir",
            "listdir",
            "scandir",
            "walk",
            "getcwd",
            "kill",
            "utime",
        ],
        "shutil" => {
            &["rmtree", "copy", "copy2", "copyfile", "copytree", "move", "chown", "copymode", "unpack_archive", "which"]
        }
        "subprocess" => &["run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput", "PIPE"],
        "pathlib" => &["Path", "PurePath", "PosixPath"],
        "os.path" => &["join", "expanduser", "abspath", "realpath", "dirname", "basename", "normpath", "expandvars"],
        "base64" => &["b64decode", "urlsafe_b64decode"],
        "glob" => &["glob", "iglob"],
        "urllib.request" => &["urlopen", "urlretrieve", "Request"],
        "requests" => &["get", "post", "put", "patch", "delete", "request"],
        "pty" => &["spawn"],
        "File::Path" => &["rmtree", "remove_tree", "make_path", "mkpath"],
        "File::Copy" => &["copy", "move", "cp", "mv"],
        "File::Slurp" => &["read_file", "write_file", "append_file"],
        "File::Find" => &["find", "finddepth"],
        "File::Glob" => &["bsd_glob"],
        "File::Temp" => &["tempfile", "tempdir"],
        "File::Spec::Functions" => &["catfile", "catdir"],
        "IPC::Open3" => &["open3"],
        "IPC::Open2" => &["open2"],
        "IPC::Run" | "IPC::Cmd" => &["run"],
        "IPC::System::Simple" => &["systemx", "capture", "capturex"],
        "LWP::Simple" => &["get", "getprint", "getstore", "mirror", "head"],
        "Path::Tiny" => &["path"],
        "FileUtils" => &[
            "rm",
            "rm_f",
            "rm_r",
            "rm_rf",
            "rmtree",
            "remove",
            "remove_dir",
            "remove_entry",
            "remove_file",
            "rmdir",
            "mkdir",
            "mkdir_p",
            "makedirs",
            "touch",
            "cp",
            "cp_r",
            "copy",
            "mv",
            "move",
            "ln",
            "ln_s",
            "ln_sf",
            "chmod",
            "chmod_R",
            "chown",
            "chown_R",
            "cd",
            "install",
        ],
        _ => &[],
    }
}

fn table(language: Language) -> &'static [Row] {
    match language {
        Language::Python => PYTHON,
        Language::Node => NODE,
        Language::Perl => PERL,
        Language::Ruby => RUBY,
        Language::Php => PHP,
        Language::Awk | Language::Sed => &[],
    }
}

/// The last parts of the names of calls that touch files or processes, and of such methods of paths.
pub(super) fn acting(language: Language) -> HashSet<&'static str> {
    let rows = table(language).iter().filter(|(_, act)| !matches!(act, Act::None | Act::Value(_) | Act::Send(_)));
    let plain = PLAIN.iter().filter(|(own, ..)| *own == language);
    let names = rows.map(|(name, _)| *name).chain(plain.map(|(_, name, _)| *name));
    let last = names.map(|name| name.rsplit(['.', ':']).next().unwrap_or(name));
    last.chain(["write_text", "write_bytes", "read_text", "read_bytes", "touch"]).collect()
}

pub(super) fn find(language: Language, name: &str) -> Option<Act> {
    table(language).iter().find(|(row, _)| *row == name).map(|(_, act)| *act)
}

/// Whether a value can be used to touch files or processes.
pub(super) fn is_dangerous(language: Language, value: &Value) -> bool {
    match value {
        Value::Name(name) => {
            STRICT.contains(&name.as_str())
                || matches!(name.as_str(), "globals" | "locals" | "__builtins__" | "builtins" | "sys.modules")
                || find(language, name).is_some_and(Act::acts)
        }
        Value::List(values) | Value::Choice(values) => values.iter().any(|value| is_dangerous(language, value)),
        Value::Map(entries) => entries.iter().any(|(_, value)| is_dangerous(language, value)),
        Value::Bound(value, _) => is_dangerous(language, value),
        _ => false,
    }
}
