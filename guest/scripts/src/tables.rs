//! ScriptEffectKind a call does, as tables: one row a function, under its full name.

use std::collections::HashSet;

use super::Language;
use super::arguments::Args;
use super::code::*;
use super::evaluator::Evaluator;
use super::files::*;
use super::network::*;
use super::processes::*;
use super::pure::*;
use super::value::Value;

/// ScriptEffectKind a call does with its arguments.
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
    /// The call of this name, with the arguments from this place on.
    Other(fn(&mut Evaluator, &Args) -> Value),
    /// It gives a value, and nothing else.
    Value(fn(&Args) -> Value),
}

use Act::{
    Append, Chdir, Chmod, Chmods, Delete, Deletes, Eval, Exec, File, Folder, Folders, HardLink, Link, Mode, Modes,
    Move, Opaque, Other, Read, Run, Send, Shell, ShellOrRun, Tree, Trees, Write,
};

type Row = (&'static str, Act);

#[rustfmt::skip]
const PYTHON: &[Row] = &[
    ("open", Other(open)), ("codecs.open", Other(open)), ("gzip.open", Other(open)), ("bz2.open", Other(open)), ("lzma.open", Other(open)),
    ("os.open", Other(os_open)), ("tarfile.open", Other(open)), ("zipfile.ZipFile", Other(open)), ("tarfile.TarFile", Other(open)),
    ("file", Other(open)), ("sqlite3.connect", Write(0)), ("shelve.open", Write(0)), ("dbm.open", Write(0)),
    ("logging.FileHandler", Other(log_file)), ("logging.basicConfig", Other(logging)), ("fileinput.input", Other(fileinput)), ("fileinput.FileInput", Other(fileinput)), ("aiofiles.open", Other(open)), ("pandas.ExcelWriter", Write(0)), ("send2trash.send2trash", Tree(0)), ("contextlib.chdir", Chdir),
    ("linecache.getline", Read(0)), ("linecache.getlines", Read(0)), ("os.listdir", Act::List(0)), ("os.scandir", Act::List(0)), ("os.walk", Other(walk)), ("os.fwalk", Other(walk)),
    ("os.readlink", Read(0)), ("glob.glob", Other(glob)), ("glob.iglob", Other(glob)), ("configparser.ConfigParser", Act::None),
    ("os.remove", Delete(0)), ("os.unlink", Delete(0)), ("os.rmdir", Delete(0)), ("os.removedirs", Delete(0)),
    ("os.mkdir", Folder(0)), ("os.makedirs", Folder(0)), ("os.mkfifo", File(0)), ("os.mknod", File(0)),
    ("os.rename", Move), ("os.renames", Move), ("os.replace", Move), ("os.link", HardLink), ("os.symlink", Link),
    ("os.chmod", Chmod(0)), ("os.chown", Mode(0)), ("os.lchown", Mode(0)), ("os.lchmod", Chmod(0)), ("os.chflags", Mode(0)), ("os.setxattr", Mode(0)), ("os.utime", Write(0)),
    ("os.truncate", Write(0)), ("os.chdir", Chdir), ("os.fchdir", Opaque), ("os.chroot", Opaque),
    ("shutil.rmtree", Tree(0)), ("tempfile.mkdtemp", Other(python_temporary)), ("shutil.copy", Act::Copy), ("shutil.copy2", Act::Copy), ("shutil.copyfile", Act::Copy), ("shutil.copytree", Act::Copy),
    ("shutil.copymode", Mode(1)), ("shutil.copystat", Mode(1)), ("shutil.move", Move), ("shutil.chown", Mode(0)),
    ("shutil.unpack_archive", Other(unpack_archive)), ("shutil.make_archive", Other(make_archive)), ("distutils.dir_util.remove_tree", Tree(0)),
    ("distutils.dir_util.copy_tree", Act::Copy), ("distutils.dir_util.mkpath", Folder(0)), ("distutils.file_util.copy_file", Act::Copy), ("distutils.file_util.move_file", Move),
    ("os.system", Shell(0)), ("os.popen", Shell(0)), ("platform.popen", Shell(0)), ("commands.getoutput", Shell(0)), ("commands.getstatusoutput", Shell(0)),
    ("subprocess.getoutput", Shell(0)), ("subprocess.getstatusoutput", Shell(0)), ("asyncio.create_subprocess_shell", Shell(0)),
    ("popen2.popen2", Shell(0)), ("popen2.popen3", Shell(0)),
    ("subprocess.run", Other(subprocess)), ("subprocess.call", Other(subprocess)), ("subprocess.check_call", Other(subprocess)),
    ("subprocess.check_output", Other(subprocess)), ("subprocess.Popen", Other(subprocess)), ("asyncio.create_subprocess_exec", Run(0)),
    ("pty.spawn", Other(subprocess)), ("pexpect.run", Shell(0)), ("pexpect.spawn", Shell(0)), ("pexpect.runu", Shell(0)), ("sh.bash", Opaque),
    ("os.execl", Other(exec_all)), ("os.execle", Other(exec_all)), ("os.execlp", Other(exec_all)), ("os.execlpe", Other(exec_all)),
    ("os.execv", Exec(0)), ("os.execve", Exec(0)), ("os.execvp", Exec(0)), ("os.execvpe", Exec(0)),
    ("os.spawnl", Other(spawn_all)), ("os.spawnle", Other(spawn_all)), ("os.spawnlp", Other(spawn_all)), ("os.spawnlpe", Other(spawn_all)),
    ("os.spawnv", Exec(1)), ("os.spawnve", Exec(1)), ("os.spawnvp", Exec(1)), ("os.spawnvpe", Exec(1)), ("os.posix_spawn", Exec(0)), ("os.posix_spawnp", Exec(0)),
    ("os.startfile", Run(0)), ("eval", Eval(0)), ("exec", Eval(0)), ("compile", Act::Value(compile)), ("execfile", Other(runs_file)),
    ("runpy.run_path", Other(runs_file)), ("runpy.run_module", Opaque), ("code.interact", Opaque), ("code.InteractiveInterpreter", Opaque),
    ("pickle.loads", Opaque), ("pickle.load", Opaque), ("marshal.loads", Opaque), ("timeit.timeit", Eval(0)), ("cProfile.run", Eval(0)), ("profile.run", Eval(0)), ("timeit.repeat", Eval(0)),
    ("types.FunctionType", Opaque), ("importlib.util.spec_from_file_location", Opaque), ("importlib.machinery.SourceFileLoader", Opaque), ("imp.load_source", Opaque),
    ("__import__", Other(import)), ("importlib.import_module", Other(import)), ("importlib.__import__", Other(import)),
    ("getattr", Other(getattr)), ("operator.attrgetter", Opaque), ("operator.methodcaller", Opaque), ("vars", Act::Value(names)), ("globals", Act::Value(names)), ("locals", Act::Value(names)), ("setattr", Opaque),
    ("map", Other(map)), ("filter", Other(filter)), ("list", Act::Value(listed)), ("tuple", Act::Value(listed)), ("sorted", Act::Value(some)), ("set", Act::Value(some)), ("frozenset", Act::Value(some)), ("iter", Act::Value(listed)), ("enumerate", Act::Value(enumerated)), ("zip", Act::Value(zipped)), ("next", Act::Value(next_of)),
    ("str", Act::Value(text)), ("bytes", Act::Value(text)), ("bytearray", Act::Value(text)), ("repr", Act::None), ("chr", Act::Value(chr)), ("ord", Act::Value(ord)), ("reversed", Act::Value(reversed)),
    ("int", Act::Value(first)), ("dict", Act::Value(dict)), ("functools.partial", Other(partial)), ("shlex.split", Act::Value(split)), ("shlex.quote", Act::Value(quote)), ("shlex.join", Act::Value(shlex_join)), ("pipes.quote", Act::Value(quote)),
    ("bytes.fromhex", Act::Value(unhex)), ("bytearray.fromhex", Act::Value(unhex)), ("binascii.unhexlify", Act::Value(unhex)), ("binascii.a2b_hex", Act::Value(unhex)), ("codecs.decode", Act::Value(codecs_decode)),
    ("base64.b64decode", Act::Value(unbase64)), ("base64.urlsafe_b64decode", Act::Value(unbase64)), ("base64.standard_b64decode", Act::Value(unbase64)), ("base64.decodebytes", Act::Value(unbase64)), ("base64.decodestring", Act::Value(unbase64)),
    ("binascii.a2b_base64", Act::Value(unbase64)), ("base64.b16decode", Act::Value(unhex)), ("bytes.decode", Act::Value(text)), ("str.encode", Act::Value(text)),
    ("str.join", Act::Value(str_join)), ("os.fsencode", Act::Value(text)), ("os.fsdecode", Act::Value(text)), ("os.fspath", Act::Value(text)),
    ("os.path.join", Act::Value(join)), ("os.path.expanduser", Act::Value(expanduser)), ("os.path.expandvars", Act::Value(expandvars)), ("os.path.abspath", Act::Value(text)), ("os.path.realpath", Act::Value(text)), ("os.path.normpath", Act::Value(text)),
    ("os.path.dirname", Act::Value(dirname)), ("os.path.basename", Act::Value(basename)), ("os.getcwd", Act::Value(here)), ("os.getcwdb", Act::Value(here)), ("os.path.split", Act::Value(path_split)),
    ("pwd.getpwuid", Act::Value(user_info)), ("pwd.getpwnam", Act::Value(user_info)), ("os.getenv", Act::Value(getenv)), ("os.environ.get", Act::Value(getenv)), ("os.environ.setdefault", Act::Value(getenv)),
    ("pathlib.Path", Act::Value(pathlib)), ("pathlib.Path.home", Act::Value(path_home)), ("pathlib.Path.cwd", Act::Value(path_here)), ("pathlib.PurePath", Act::Value(pathlib)),
    ("urllib.request.urlopen", Send(0)), ("urllib.urlopen", Send(0)), ("urllib2.urlopen", Send(0)), ("urllib.request.urlretrieve", Other(retrieve)), ("urllib.urlretrieve", Other(retrieve)),
    ("urllib.request.Request", Act::Value(first)), ("urllib2.Request", Act::Value(first)), ("requests.get", Send(0)), ("requests.post", Send(0)), ("requests.put", Send(0)), ("requests.patch", Send(0)), ("requests.delete", Send(0)), ("requests.head", Send(0)),
    ("requests.options", Send(0)), ("requests.request", Send(1)), ("httpx.get", Send(0)), ("httpx.post", Send(0)), ("httpx.put", Send(0)), ("httpx.patch", Send(0)), ("httpx.delete", Send(0)), ("httpx.request", Send(1)), ("httpx.stream", Send(1)),
    ("http.client.HTTPConnection", Send(0)), ("http.client.HTTPSConnection", Send(0)), ("httplib.HTTPConnection", Send(0)), ("httplib.HTTPSConnection", Send(0)),
    ("socket.create_connection", Send(0)), ("socket.getaddrinfo", Send(0)), ("socket.gethostbyname", Send(0)), ("asyncio.open_connection", Send(0)),
    ("smtplib.SMTP", Send(0)), ("smtplib.SMTP_SSL", Send(0)), ("ftplib.FTP", Send(0)), ("ftplib.FTP_TLS", Send(0)), ("telnetlib.Telnet", Send(0)), ("xmlrpc.client.ServerProxy", Send(0)), ("webbrowser.open", Send(0)),
    ("os.kill", Opaque), ("os.killpg", Opaque), ("os.memfd_create", Opaque), ("os.sendfile", Opaque), ("mmap.mmap", Act::None),
];

#[rustfmt::skip]
const NODE: &[Row] = &[
    ("fs.readFile", Read(0)), ("fs.createReadStream", Read(0)), ("fs.readdir", Act::List(0)), ("fs.opendir", Act::List(0)), ("fs.glob", Other(glob)), ("glob", Other(glob)), ("glob.glob", Other(glob)), ("glob.sync", Other(glob)), ("glob.globSync", Other(glob)), ("fast-glob", Other(glob)), ("fast-glob.sync", Other(glob)), ("fast-glob.glob", Other(glob)), ("fast-glob.globSync", Other(glob)), ("globby", Other(glob)), ("globby.sync", Other(glob)), ("globby.globby", Other(glob)), ("globby.globbySync", Other(glob)), ("tinyglobby.glob", Other(glob)), ("tinyglobby.globSync", Other(glob)), ("fs.readlink", Read(0)), ("fs.watch", Read(0)), ("fs.watchFile", Read(0)), ("fs.readJson", Read(0)),
    ("fs.writeFile", Other(node_write)), ("fs.createWriteStream", Other(node_write)), ("fs.outputFile", Write(0)), ("fs.writeJson", Write(0)), ("fs.outputJson", Write(0)), ("fs.appendFile", Append(0)), ("fs.truncate", Write(0)), ("fs.utimes", Write(0)), ("fs.lutimes", Write(0)),
    ("fs.open", Other(open)), ("fs.unlink", Delete(0)), ("fs.rmdir", Other(node_rm)), ("fs.rm", Other(node_rm)), ("fs.remove", Tree(0)), ("fs.emptyDir", Tree(0)), ("rimraf", Tree(0)), ("trash", Trees), ("write-file-atomic", Write(0)), ("write-file-atomic.sync", Write(0)), ("shelljs.cp", Other(shelljs_copy)), ("shelljs.mv", Other(shelljs_move)), ("shelljs.sed", Other(shelljs_sed)), ("rimraf.rimraf", Tree(0)), ("rimraf.sync", Tree(0)), ("del", Trees), ("del.sync", Trees), ("del.deleteSync", Trees),
    ("fs.mkdir", Folder(0)), ("fs.mkdirp", Folder(0)), ("fs.ensureDir", Folder(0)), ("fs.ensureFile", File(0)), ("fs.mkdtemp", Other(node_temporary)), ("fs.rename", Move), ("fs.move", Move), ("fs.copyFile", Act::Copy), ("fs.cp", Act::Copy), ("fs.copy", Act::Copy),
    ("fs.link", HardLink), ("fs.symlink", Link), ("fs.chmod", Chmod(0)), ("fs.lchmod", Chmod(0)), ("fs.chown", Mode(0)), ("fs.lchown", Mode(0)), ("process.chdir", Chdir),
    ("child_process.exec", Other(node_exec)), ("child_process.execFile", Other(node_spawn)), ("child_process.spawn", Other(node_spawn)), ("child_process.fork", Other(node_fork)),
    ("execa", Other(node_spawn)), ("execa.execa", Other(node_spawn)), ("execa.execaCommand", Shell(0)), ("execa.command", Shell(0)), ("shelljs.exec", Shell(0)), ("shelljs.rm", Other(shelljs_rm)), ("zx.$", Other(template)), ("execa.$", Other(template)), ("bun.$", Other(template)),
    ("eval", Eval(0)), ("Function", Other(constructor)), ("vm.runInThisContext", Eval(0)), ("vm.runInNewContext", Eval(0)), ("vm.runInContext", Eval(0)), ("vm.Script", Eval(0)), ("vm.compileFunction", Eval(0)), ("vm.SourceTextModule", Eval(0)),
    ("setTimeout", Other(timer)), ("setInterval", Other(timer)), ("setImmediate", Other(immediate)), ("Worker", Other(worker)), ("worker_threads.Worker", Other(worker)), ("process.binding", Opaque), ("process._linkedBinding", Opaque), ("process.dlopen", Opaque), ("process.kill", Opaque), ("cluster.fork", Opaque), ("process.getBuiltinModule", Other(node_require)),
    ("require", Other(node_require)), ("import", Other(node_require)), ("module._load", Other(node_require)), ("module.createRequire", Act::Value(create_require)), ("require.resolve", Act::None), ("Reflect.get", Other(getattr)), ("Reflect.apply", Other(reflect_apply)), ("Reflect.construct", Other(reflect_construct)),
    ("util.promisify", Act::Value(first)), ("Promise.resolve", Act::Value(first)), ("Promise.all", Act::Value(first)), ("Promise.allSettled", Act::Value(first)), ("Object.values", Act::Value(first)), ("Array.from", Act::Value(array_from)), ("Array.of", Act::Value(all)), ("Object.assign", Opaque), ("Object.entries", Act::Value(entries)), ("Object.keys", Act::None),
    ("String", Act::Value(text)), ("String.fromCharCode", Act::Value(chars)), ("String.fromCodePoint", Act::Value(chars)), ("String.raw", Act::None), ("Buffer.from", Act::Value(buffer)), ("Buffer", Act::Value(buffer)), ("Buffer.concat", Act::None), ("atob", Act::Value(unbase64)), ("decodeURIComponent", Act::Value(unpercent)), ("unescape", Act::Value(unpercent)), ("decodeURI", Act::None),
    ("path.join", Act::Value(node_join)), ("path.resolve", Act::Value(join)), ("path.normalize", Act::Value(text)), ("path.dirname", Act::Value(dirname)), ("path.basename", Act::Value(basename)), ("path.parse", Act::Value(path_parse)), ("fs.realpath", Act::Value(text)), ("os.homedir", Act::Value(home)), ("os.userInfo", Act::Value(user_info)), ("process.cwd", Act::Value(here)), ("url.fileURLToPath", Other(own_file)),
    ("URL", Act::Value(url)), ("url.parse", Act::Value(first)), ("Request", Act::Value(first)), ("fetch", Send(0)), ("http.get", Other(node_http)), ("http.request", Other(node_http)), ("https.get", Other(node_http)), ("https.request", Other(node_http)), ("http2.connect", Send(0)), ("net.connect", Other(node_http)), ("net.createConnection", Other(node_http)), ("tls.connect", Other(node_http)), ("WebSocket", Send(0)), ("EventSource", Send(0)), ("XMLHttpRequest", Opaque), ("dns.lookup", Send(0)), ("dns.resolve", Send(0)),
    ("axios", Send(0)), ("axios.get", Send(0)), ("axios.post", Send(0)), ("axios.put", Send(0)), ("axios.patch", Send(0)), ("axios.delete", Send(0)), ("axios.request", Other(node_http)), ("got", Send(0)), ("got.get", Send(0)), ("got.post", Send(0)), ("node-fetch", Send(0)), ("undici.fetch", Send(0)), ("undici.request", Send(0)),
    ("JSON.parse", Act::None),
];

#[rustfmt::skip]
const PERL: &[Row] = &[
    ("open", Other(perl_open)), ("sysopen", Other(perl_sysopen)), ("opendir", Act::List(1)), ("unlink", Deletes), ("rmdir", Deletes), ("mkdir", Folder(0)), ("rename", Move), ("link", HardLink), ("symlink", Link),
    ("chmod", Chmods), ("chown", Modes(2)), ("utime", Other(utime)), ("truncate", Write(0)), ("chdir", Chdir), ("chroot", Opaque), ("dbmopen", Write(1)), ("mkfifo", File(0)), ("remove", Delete(0)),
    ("system", ShellOrRun), ("exec", ShellOrRun), ("readpipe", Shell(0)), ("qx", Shell(0)), ("syscall", Opaque), ("kill", Opaque), ("eval", Eval(0)), ("evalbytes", Eval(0)), ("do", Other(runs_file)), ("require", Other(perl_require)),
    ("glob", Other(glob)), ("rmtree", Trees), ("remove_tree", Trees), ("make_path", Folders), ("mkpath", Folders), ("File::Path::rmtree", Trees), ("File::Path::remove_tree", Trees), ("File::Path::make_path", Folders), ("File::Path::mkpath", Folders),
    ("File::Copy::copy", Act::Copy), ("File::Copy::move", Move), ("File::Copy::cp", Act::Copy), ("File::Copy::mv", Move), ("File::Slurp::read_file", Read(0)), ("File::Slurp::write_file", Write(0)), ("File::Slurp::append_file", Append(0)), ("File::Find::find", Other(perl_find)), ("File::Find::finddepth", Other(perl_find)), ("File::Glob::bsd_glob", Other(glob)), ("bsd_glob", Other(glob)), ("File::Temp::tempfile", Act::None), ("File::Temp::tempdir", Act::None),
    ("IPC::Open3::open3", Other(open3)), ("IPC::Open2::open2", Other(open2)), ("IPC::System::Simple::systemx", Run(0)), ("IPC::System::Simple::capture", ShellOrRun), ("IPC::System::Simple::capturex", Run(0)), ("IPC::Run::run", Other(subprocess)), ("IPC::Cmd::run", Opaque),
    ("IO::File.new", Other(perl_file)), ("Path::Tiny::path", Act::Value(pathlib)), ("File::Spec.catfile", Act::Value(node_join)), ("File::Spec.catdir", Act::Value(node_join)), ("File::Spec::Functions::catfile", Act::Value(node_join)), ("File::Spec::Functions::catdir", Act::Value(node_join)), ("catfile", Act::Value(node_join)), ("catdir", Act::Value(node_join)), ("File::Spec.rel2abs", Act::Value(text)),
    ("join", Act::Value(perl_join)), ("sprintf", Act::Value(sprintf)), ("reverse", Act::Value(perl_reverse)), ("chr", Act::Value(chr)), ("ord", Act::Value(ord)), ("pack", Act::Value(pack)), ("lc", Act::Value(lower)), ("uc", Act::Value(upper)), ("lcfirst", Act::None), ("scalar", Act::Value(first)), ("ref", Act::None), ("MIME::Base64::decode_base64", Act::Value(unbase64)), ("decode_base64", Act::Value(unbase64)), ("MIME::Base64::decode", Act::Value(unbase64)),
    ("bless", Act::Value(first)), ("cwd", Act::Value(here)), ("getcwd", Act::Value(here)), ("dirname", Act::Value(dirname)), ("basename", Act::Value(basename)), ("home", Act::Value(home)), ("File::HomeDir.my_home", Act::Value(home)),
    ("LWP::Simple::get", Send(0)), ("LWP::Simple::getprint", Send(0)), ("LWP::Simple::getstore", Other(retrieve)), ("LWP::Simple::mirror", Other(retrieve)), ("LWP::Simple::head", Send(0)), ("IO::Socket::INET.new", Other(perl_socket)), ("IO::Socket::SSL.new", Other(perl_socket)), ("IO::Socket::IP.new", Other(perl_socket)), ("connect", Opaque), ("gethostbyname", Send(0)), ("Net::FTP.new", Send(0)), ("Net::SMTP.new", Send(0)),
];

#[rustfmt::skip]
const RUBY: &[Row] = &[
    ("File.open", Other(open)), ("File.new", Other(open)), ("open", Other(ruby_open)), ("URI.open", Other(ruby_open)), ("IO.open", Act::None), ("IO.sysopen", Other(open)), ("Zlib.GzipWriter.open", Write(0)), ("Zlib.GzipReader.open", Read(0)), ("CSV.open", Other(open)), ("CSV.read", Read(0)), ("CSV.foreach", Read(0)), ("YAML.load_file", Read(0)), ("JSON.load_file", Read(0)),
    ("File.read", Read(0)), ("File.readlines", Read(0)), ("File.binread", Read(0)), ("File.foreach", Read(0)), ("File.readlink", Read(0)), ("IO.read", Other(ruby_io)), ("IO.readlines", Other(ruby_io)), ("IO.binread", Other(ruby_io)), ("IO.foreach", Other(ruby_io)), ("Dir.entries", Act::List(0)), ("Dir.children", Act::List(0)), ("Dir.each_child", Act::List(0)), ("Dir.foreach", Act::List(0)), ("Dir.open", Act::List(0)), ("Dir.new", Act::List(0)), ("Dir.glob", Other(glob)), ("Dir.[]", Other(glob)), ("Find.find", Other(ruby_find)), ("PStore.new", Write(0)),
    ("File.write", Other(ruby_write)), ("File.binwrite", Other(ruby_write)), ("IO.write", Other(ruby_write)), ("IO.binwrite", Other(ruby_write)), ("File.truncate", Write(0)), ("File.utime", Other(utime)), ("IO.copy_stream", Act::Copy), ("File.mkfifo", File(0)),
    ("File.delete", Deletes), ("File.unlink", Deletes), ("Dir.rmdir", Delete(0)), ("Dir.delete", Delete(0)), ("Dir.unlink", Delete(0)), ("Dir.mkdir", Folder(0)), ("Dir.chdir", Chdir), ("Dir.chroot", Opaque), ("Dir.mktmpdir", Act::None), ("File.rename", Move), ("File.link", HardLink), ("File.symlink", Link), ("File.chmod", Chmods), ("File.lchmod", Chmods), ("File.chown", Modes(2)), ("File.lchown", Modes(2)), ("test", Act::None),
    ("FileUtils.rm", Deletes), ("FileUtils.rm_f", Deletes), ("FileUtils.remove", Deletes), ("FileUtils.safe_unlink", Deletes), ("FileUtils.rm_r", Trees), ("FileUtils.rm_rf", Trees), ("FileUtils.rmtree", Trees), ("FileUtils.remove_dir", Tree(0)), ("FileUtils.remove_entry", Tree(0)), ("FileUtils.remove_entry_secure", Tree(0)), ("FileUtils.remove_file", Delete(0)), ("FileUtils.rmdir", Deletes),
    ("FileUtils.mkdir", Folders), ("FileUtils.mkdir_p", Folders), ("FileUtils.makedirs", Folders), ("FileUtils.mkpath", Folders), ("FileUtils.touch", Other(touch)), ("FileUtils.cp", Act::Copy), ("FileUtils.copy", Act::Copy), ("FileUtils.cp_r", Act::Copy), ("FileUtils.copy_file", Act::Copy), ("FileUtils.copy_entry", Act::Copy), ("FileUtils.cp_lr", HardLink), ("FileUtils.install", Act::Copy), ("FileUtils.mv", Move), ("FileUtils.move", Move), ("FileUtils.ln", HardLink), ("FileUtils.ln_s", Link), ("FileUtils.ln_sf", Other(force_link)), ("FileUtils.symlink", Link), ("FileUtils.link", HardLink),
    ("FileUtils.chmod", Chmod(1)), ("FileUtils.chmod_R", Chmod(1)), ("FileUtils.chown", Mode(2)), ("FileUtils.chown_R", Mode(2)), ("FileUtils.cd", Chdir), ("FileUtils.chdir", Chdir), ("FileUtils.pwd", Act::Value(here)),
    ("system", Other(ruby_system)), ("exec", Other(ruby_system)), ("spawn", Other(ruby_system)), ("Process.spawn", Other(ruby_system)), ("Process.exec", Other(ruby_system)), ("IO.popen", Other(ruby_popen)), ("Open3.capture2", Other(ruby_system)), ("Open3.capture2e", Other(ruby_system)), ("Open3.capture3", Other(ruby_system)), ("Open3.popen2", Other(ruby_system)), ("Open3.popen2e", Other(ruby_system)), ("Open3.popen3", Other(ruby_system)), ("Open3.pipeline", Opaque), ("PTY.spawn", Other(ruby_system)), ("`", Shell(0)), ("sh", Other(ruby_system)),
    ("eval", Eval(0)), ("instance_eval", Eval(0)), ("class_eval", Eval(0)), ("module_eval", Eval(0)), ("Binding.eval", Eval(0)), ("binding.eval", Eval(0)), ("RubyVM.InstructionSequence.compile", Eval(0)), ("RubyVM.InstructionSequence.new", Eval(0)), ("load", Other(runs_file)), ("require_relative", Other(runs_file)), ("require", Other(ruby_require)), ("include", Other(ruby_include)), ("Fiddle.dlopen", Opaque), ("Marshal.load", Opaque), ("syscall", Opaque), ("Process.kill", Opaque), ("DL.dlopen", Opaque),
    ("const_get", Other(const_get)), ("method", Other(const_get)), ("send", Other(ruby_send)), ("__send__", Other(ruby_send)), ("public_send", Other(ruby_send)),
    ("File.join", Act::Value(node_join)), ("File.expand_path", Act::Value(ruby_expand)), ("File.absolute_path", Act::Value(text)), ("File.realpath", Act::Value(text)), ("File.dirname", Act::Value(dirname)), ("File.basename", Act::Value(basename)), ("Dir.home", Act::Value(home)), ("Dir.pwd", Act::Value(here)), ("Dir.getwd", Act::Value(here)), ("ENV.fetch", Act::Value(getenv)), ("ENV.[]", Act::Value(getenv)), ("Pathname.new", Act::Value(pathlib)), ("Pathname", Act::Value(pathlib)), ("Pathname.pwd", Act::Value(path_here)), ("String", Act::Value(text)), ("String.new", Act::Value(text)), ("format", Act::Value(sprintf)), ("sprintf", Act::Value(sprintf)), ("Shellwords.split", Act::Value(split)), ("Shellwords.escape", Act::Value(quote)), ("Array", Act::Value(first)),
    ("Base64.decode64", Act::Value(unbase64)), ("Base64.strict_decode64", Act::Value(unbase64)), ("Base64.urlsafe_decode64", Act::Value(unbase64)),
    ("URI", Act::Value(first)), ("URI.parse", Act::Value(first)), ("Net.HTTP.get", Send(0)), ("Net.HTTP.get_response", Send(0)), ("Net.HTTP.post", Send(0)), ("Net.HTTP.post_form", Send(0)), ("Net.HTTP.start", Send(0)), ("Net.HTTP.new", Send(0)), ("Net.HTTP.get_print", Send(0)), ("TCPSocket.new", Send(0)), ("TCPSocket.open", Send(0)), ("UDPSocket.new", Act::None), ("Socket.tcp", Send(0)), ("HTTParty.get", Send(0)), ("HTTParty.post", Send(0)), ("Faraday.get", Send(0)), ("Faraday.post", Send(0)), ("Net.FTP.open", Send(0)), ("Net.SMTP.start", Send(0)),
];

#[rustfmt::skip]
const PHP: &[Row] = &[
    ("fopen", Other(open)), ("gzopen", Other(open)), ("bzopen", Other(open)), ("splfileobject", Other(open)), ("file_get_contents", Other(php_read)), ("readfile", Other(php_read)), ("file", Other(php_read)), ("parse_ini_file", Read(0)), ("simplexml_load_file", Other(php_read)), ("highlight_file", Read(0)), ("show_source", Read(0)), ("php_strip_whitespace", Read(0)), ("scandir", Act::List(0)), ("opendir", Act::List(0)), ("dir", Act::List(0)), ("glob", Other(glob)), ("readlink", Read(0)), ("readgzfile", Read(0)), ("md5_file", Read(0)), ("sha1_file", Read(0)), ("hash_file", Read(1)), ("recursivedirectoryiterator", Act::List(0)), ("filesystemiterator", Act::List(0)), ("globiterator", Other(glob)), ("imagepng", Write(1)), ("imagejpeg", Write(1)), ("imagegif", Write(1)), ("imagewebp", Write(1)), ("directoryiterator", Act::List(0)),
    ("file_put_contents", Other(php_write)), ("touch", File(0)), ("unlink", Delete(0)), ("rmdir", Delete(0)), ("mkdir", Folder(0)), ("rename", Move), ("copy", Act::Copy), ("move_uploaded_file", Move), ("link", HardLink), ("symlink", Link), ("chmod", Chmod(0)), ("chown", Mode(0)), ("chgrp", Mode(0)), ("lchown", Mode(0)), ("lchgrp", Mode(0)), ("chdir", Chdir), ("chroot", Opaque), ("tempnam", Act::None), ("posix_mkfifo", File(0)), ("error_log", Other(error_log)),
    ("exec", Shell(0)), ("shell_exec", Shell(0)), ("system", Shell(0)), ("passthru", Shell(0)), ("popen", Shell(0)), ("proc_open", Other(php_proc)), ("pcntl_exec", Exec(0)), ("expect_popen", Shell(0)), ("eval", Eval(0)), ("assert", Other(php_assert)), ("create_function", Eval(1)), ("include", Other(runs_file)), ("dl", Opaque), ("ffi.cdef", Opaque), ("ffi.load", Opaque), ("unserialize", Opaque), ("posix_kill", Opaque), ("ini_set", Act::None), ("extract", Opaque), ("parse_str", Opaque), ("putenv", Act::None),
    ("call_user_func", Other(partial)), ("call_user_func_array", Other(call_array)), ("array_map", Other(map)), ("array_walk", Other(walk_array)), ("array_filter", Other(filter_array)), ("usort", Other(php_callback)), ("uasort", Other(php_callback)), ("uksort", Other(php_callback)), ("register_shutdown_function", Other(partial)), ("array_reduce", Other(php_callback)), ("preg_replace_callback", Other(php_callback)), ("reflectionfunction", Act::Value(first)), ("forward_static_call", Other(partial)), ("iterator_apply", Other(php_callback)), ("ob_start", Other(php_callback)), ("array_push", Act::None),
    ("getenv", Act::Value(getenv)), ("posix_getpwuid", Act::Value(user_info)), ("posix_getpwnam", Act::Value(user_info)), ("getcwd", Act::Value(here)), ("dirname", Act::Value(dirname)), ("basename", Act::Value(basename)), ("realpath", Act::Value(text)), ("base64_decode", Act::Value(unbase64)), ("hex2bin", Act::Value(unhex)), ("strrev", Act::Value(reversed)), ("chr", Act::Value(chr)), ("ord", Act::Value(ord)), ("implode", Act::Value(implode)), ("join", Act::Value(implode)), ("explode", Act::Value(explode)), ("sprintf", Act::Value(sprintf)), ("str_rot13", Act::Value(rot13)), ("strtolower", Act::Value(lower)), ("strtoupper", Act::Value(upper)), ("trim", Act::Value(php_trim)), ("escapeshellarg", Act::Value(quote)), ("urldecode", Act::Value(urldecode)), ("rawurldecode", Act::Value(unpercent)), ("array", Act::Value(all)), ("str_replace", Act::Value(php_replace)), ("strval", Act::Value(text)), ("array_merge", Act::Value(merge)), ("pack", Act::Value(pack)), ("array_reverse", Act::Value(reversed)),
    ("curl_init", Other(curl)), ("curl_setopt", Other(curl_option)), ("fsockopen", Send(0)), ("pfsockopen", Send(0)), ("stream_socket_client", Send(0)), ("socket_connect", Send(1)), ("mail", Send(0)), ("ftp_connect", Send(0)), ("get_headers", Send(0)), ("gethostbyname", Send(0)), ("mysqli_connect", Send(0)),
];

/// Modules and objects of which an unknown function may touch files or processes.
#[rustfmt::skip]
pub(super) const STRICT: &[&str] = &["os", "shutil", "subprocess", "fs", "child_process", "FileUtils", "pty", "Open3", "FFI", "ffi", "ctypes", "cffi", "shelljs", "execa", "File::Path", "File::Copy"];

/// Functions of those that do not.
#[rustfmt::skip]
pub(super) const MILD: &[&str] = &[
    "os.path", "os.environ", "os.stat", "os.lstat", "os.fstat", "os.statvfs", "os.access", "os.getpid", "os.getppid", "os.getuid", "os.geteuid", "os.getgid", "os.getegid", "os.getlogin", "os.uname", "os.cpu_count", "os.isatty", "os.get_terminal_size", "os.umask", "os.times", "os.urandom",
    "os.fsync", "os.close", "os.read", "os.write", "os.lseek", "os.dup", "os.dup2", "os.pipe", "os._exit", "os.abort", "os.wait", "os.waitpid", "os.fork", "os.fdopen", "os.getloadavg", "os.strerror", "os.sync", "os.nice", "os.get_exec_path", "os.sched_getaffinity", "os.putenv", "os.unsetenv", "os.PathLike", "os.cpus", "os.platform", "os.arch", "os.type", "os.release",
    "os.hostname", "os.tmpdir", "os.totalmem", "os.freemem", "os.userInfo", "os.networkInterfaces", "os.uptime", "os.loadavg", "os.version", "os.evaluator", "os.availableParallelism", "os.endianness", "os.EOL", "os.error", "os.getgroups", "os.setsid", "os.ttyname", "os.getxattr", "os.listxattr", "os.process_cpu_count",
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
    "path", "util", "url", "crypto", "events", "assert", "stream", "buffer", "querystring", "string_decoder", "os", "http2", "https", "net", "tls", "dns", "dgram", "zlib", "readline", "timers", "perf_hooks", "process", "v8", "vm", "module", "console", "worker_threads", "cluster", "async_hooks", "punycode", "constants", "tty", "test", "rimraf", "del", "axios", "got", "node-fetch", "undici", "fs-extra", "execa", "shelljs", "zx", "semver", "lodash", "chalk", "typescript", "uuid",
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
