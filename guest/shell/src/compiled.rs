//! Programs in languages that are compiled, as their source: whether it calls what its language has for files and processes.
//!
//! Their grammar is not read. A call that is named is taken for one that happens, unless all that it works on is a file of the
//! project whose name stands there; so a program that reads its input and prints passes, and one that removes something asks.

/// A language, with the names of its calls.
pub(crate) struct Language {
    /// How the names of its files end.
    endings: &'static [&'static str],
    /// Calls that change the file which is their first argument.
    files: &'static [&'static str],
    /// What starts processes, or gets at everything: no argument makes it harmless.
    processes: &'static [&'static str],
}

const C_FILES: &[&str] = &[
    "chmod",
    "chown",
    "copy_file",
    "creat",
    "creat64",
    "fopen",
    "fopen64",
    "freopen",
    "freopen64",
    "fstream",
    "lchown",
    "link",
    "linkat",
    "mkfifo",
    "ofstream",
    "open",
    "open64",
    "openat",
    "openat2",
    "openat64",
    "remove",
    "remove_all",
    "rename",
    "renameat",
    "renameat2",
    "resize_file",
    "rmdir",
    "symlink",
    "truncate",
    "truncate64",
    "unlink",
    "unlinkat",
];

const JAVA_FILES: &[&str] = &[
    "FileOutputStream",
    "FileWriter",
    "Files.copy",
    "Files.createSymbolicLink",
    "Files.delete",
    "Files.deleteIfExists",
    "Files.move",
    "Files.newBufferedWriter",
    "Files.newOutputStream",
    "Files.setPosixFilePermissions",
    "Files.write",
    "Files.writeString",
    "RandomAccessFile",
    "appendText",
    "copyTo",
    "deleteOnExit",
    "deleteRecursively",
    "renameTo",
    "setWritable",
    "writeBytes",
    "writeText",
];

const LANGUAGES: &[Language] = &[
    Language {
        endings: &["go"],
        files: &[
            "ioutil.WriteFile",
            "os.Chdir",
            "os.Chmod",
            "os.Chown",
            "os.Chtimes",
            "os.Create",
            "os.Link",
            "os.OpenFile",
            "os.Remove",
            "os.RemoveAll",
            "os.Rename",
            "os.Symlink",
            "os.Truncate",
            "os.WriteFile",
        ],
        processes: &[
            "\"C\"",
            "\"os/exec\"",
            "\"plugin\"",
            "\"syscall\"",
            "\"unsafe\"",
            "golang.org/x/sys",
            "os.StartProcess",
        ],
    },
    Language {
        endings: &["rs"],
        files: &[
            "File::create",
            "File::options",
            "OpenOptions::new",
            "copy",
            "fs::rename",
            "fs::write",
            "hard_link",
            "remove_dir",
            "remove_dir_all",
            "remove_file",
            "set_current_dir",
            "set_permissions",
            "symlink",
        ],
        processes: &[
            "process::Command",
            "process::{",
            "asm!",
            "extern \"C\"",
            "extern crate libc",
            "fs as ",
            "fs::*",
            "include!",
            "libc::",
            "nix::",
        ],
    },
    Language {
        endings: &["c", "cc", "cpp", "cxx", "c++", "m", "mm", "h", "hpp"],
        files: C_FILES,
        processes: &[
            "##",
            "__asm__",
            "asm",
            "dlopen",
            "execl",
            "execle",
            "execlp",
            "execv",
            "execve",
            "execveat",
            "execvp",
            "execvpe",
            "fexecve",
            "fork",
            "kill",
            "popen",
            "posix_spawn",
            "posix_spawnp",
            "ptrace",
            "syscall",
            "system",
            "vfork",
            "wordexp",
        ],
    },
    Language {
        endings: &["java", "kt", "kts", "scala", "groovy"],
        files: JAVA_FILES,
        processes: &[
            "Class.forName",
            "ProcessBuilder",
            "Runtime.getRuntime",
            "System.load",
            "System.loadLibrary",
            "Unsafe",
            ".delete()",
            ".execute()",
            "scala.sys.process",
            "sys.process",
        ],
    },
    Language {
        endings: &["swift"],
        files: &["createFile", "createSymbolicLink", "fopen", "unlink", "write"],
        processes: &[
            "NSTask",
            "Process()",
            "copyItem",
            "dlopen",
            "execv",
            "forWritingAtPath",
            "moveItem",
            "popen",
            "posix_spawn",
            "removeItem",
            "replaceItem",
            "system",
            "trashItem",
        ],
    },
    Language {
        endings: &["cs", "csx", "fs", "fsx", "vb"],
        files: &[
            "Directory.Delete",
            "Directory.Move",
            "File.AppendAllText",
            "File.Copy",
            "File.Create",
            "File.Delete",
            "File.Move",
            "File.Open",
            "File.OpenWrite",
            "File.Replace",
            "File.WriteAllBytes",
            "File.WriteAllLines",
            "File.WriteAllText",
            "FileStream",
            "StreamWriter",
        ],
        processes: &[".Delete(", "DllImport", "Process.Start", "ProcessStartInfo", "Marshal."],
    },
    Language {
        endings: &["zig"],
        files: &["createFile", "deleteDir", "deleteFile", "deleteTree", "rename", "writeFile"],
        processes: &["@cImport", "ChildProcess", "asm", "process.Child", "std.os", "std.posix"],
    },
    Language {
        endings: &["lua"],
        files: &["io.open", "os.remove", "os.rename"],
        processes: &["dofile", "io.popen", "load", "loadfile", "loadstring", "os.execute", "package.loadlib"],
    },
    Language {
        endings: &["tcl", "tk"],
        files: &[],
        processes: &[
            "eval",
            "exec",
            "file copy",
            "file delete",
            "file link",
            "file rename",
            "interp",
            "load",
            "open",
            "source",
            "subst",
            "uplevel",
        ],
    },
    Language {
        endings: &["jl", "R", "r"],
        files: &["cp", "file.copy", "file.remove", "file.rename", "mv", "open", "rm", "unlink", "write", "writeLines"],
        processes: &["ccall", "eval", "pipe", "run", "sink", "source", "system", "system2"],
    },
    Language {
        endings: &["nim", "cr", "d", "hs", "ml", "v", "f90", "pas"],
        files: &[
            "removeFile",
            "removeDir",
            "removeDirectoryRecursive",
            "moveFile",
            "writeFile",
            "rm",
            "rm_rf",
            "delete",
            "rmdirRecurse",
            "remove",
            "rename",
            "unlink",
            "open_out",
        ],
        processes: &[
            "callCommand",
            "callProcess",
            "createProcess",
            "exec",
            "execCmd",
            "execProcess",
            "execShellCmd",
            "execute_command_line",
            "executeShell",
            "readProcess",
            "spawnProcess",
            "spawnShell",
            "startProcess",
            "system",
            "`",
        ],
    },
];

/// The language of a file, by its name.
pub(crate) fn language_of(path: &str) -> Option<&'static Language> {
    let (name, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    LANGUAGES.iter().find(|language| !name.is_empty() && language.endings.contains(&ending))
}

/// The files beside a source that are compiled with it, by the paths that it has them by: `#include "x"` of C, `mod x;`
/// of Rust.
pub(crate) fn parts(source: &str) -> impl Iterator<Item = String> + '_ {
    source.lines().map(str::trim).flat_map(|line| {
        let included = line.strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("include"));
        let included = included.and_then(|rest| rest.trim_start().strip_prefix('"')?.split_once('"'));
        let module =
            line.strip_prefix("pub ").unwrap_or(line).strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'));
        let module = module.map(|name| [format!("{name}.rs"), format!("{name}/mod.rs")]);
        included.map(|(path, _)| path.to_owned()).into_iter().chain(module.into_iter().flatten())
    })
}

/// The language of what a compiler of C reads from its input.
pub(crate) fn language_of_input() -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.endings.contains(&"c"))
}

impl Language {
    /// Whether a file is one of this language.
    pub(crate) fn has(&self, path: &str) -> bool {
        language_of(path).is_some_and(|language| std::ptr::eq(language, self))
    }

    /// Whether a program may do anything to files but to read those of its project, or start a process. Comments count: where one
    /// begins and ends depends on what is quoted, and each language quotes in ways of its own.
    pub(crate) fn acts(&self, source: &str) -> bool {
        let process = |name: &&str| places(source, name).next().is_some();
        let file = |name: &&str| places(source, name).any(|at| !is_plain_call(source, at, name));
        self.processes.iter().any(process)
            || self.files.iter().any(file)
            || renames_module(source)
            || texts(source).any(is_delicate)
    }
}

/// Where a name stands, and not only a part of a longer one or a method of an object.
fn places<'s>(source: &'s str, name: &'s str) -> impl Iterator<Item = usize> + 's {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (first, last) = (name.starts_with(is_part), name.ends_with(is_part));
    let plain = name.chars().all(is_part);
    source.match_indices(name).map(|(at, _)| at).filter(move |&at| {
        let before = source[..at].chars().next_back();
        let after = source[at + name.len()..].chars().next();
        let method = plain && (before == Some('.') || source[..at].ends_with("->"));
        !(first && before.is_some_and(is_part) || last && after.is_some_and(is_part) || method && is_common(name))
    })
}

/// Names that methods of lists and texts have, too.
fn is_common(name: &str) -> bool {
    matches!(
        name,
        "copy" | "delete" | "eval" | "exec" | "kill" | "link" | "load" | "open" | "remove" | "rename" | "run" | "write"
    )
}

/// Whether a call only works on a file of the project that is named there, or reads one.
fn is_plain_call(source: &str, at: usize, name: &str) -> bool {
    let rest = source[at + name.len()..].trim_start();
    let Some(arguments) = rest.strip_prefix('(').map(str::trim_start) else {
        // `std::ofstream out("x")`
        let declared = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').trim_start();
        let opened = declared.strip_prefix(['(', '{']).map(str::trim_start).filter(|_| declared.len() < rest.len());
        // As a value, it is called somewhere else. A word alone may be anything.
        let word = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let given = source[..at].trim_end().ends_with(['=', ',', '(', '&', '{', ':']);
        return match opened.map(first_text) {
            Some(text) => text.is_some_and(is_plain),
            None => word && !given,
        };
    };
    let reads = matches!(name, "fopen" | "fopen64" | "io.open" | "open")
        && second_text(arguments).is_some_and(|mode| matches!(mode, "r" | "rb" | "rt"));
    reads || first_text(arguments).is_some_and(is_plain)
}

/// The text that begins here, if it is all of the argument.
fn first_text(arguments: &str) -> Option<&str> {
    let (text, rest) = arguments.strip_prefix('"')?.split_once('"')?;
    rest.trim_start().starts_with([',', ')', '}']).then_some(text)
}

fn second_text(arguments: &str) -> Option<&str> {
    let (_, rest) = arguments.split_once(',')?;
    first_text(rest.trim_start())
}

/// Whether a path is the name of a file below the directory, or of one among the temporary ones, and none that is hidden.
fn is_plain(path: &str) -> bool {
    let below =
        path.strip_prefix("/tmp/").unwrap_or(path).strip_prefix("./").unwrap_or(path.trim_start_matches("/tmp/"));
    let letters = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    !below.is_empty()
        && below.chars().all(letters)
        && below.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

/// The texts in a source.
fn texts(source: &str) -> impl Iterator<Item = &str> {
    source.lines().flat_map(|line| line.split('"').skip(1).step_by(2))
}

/// Whether a text is a path that no program of a project has to do with.
fn is_delicate(text: &str) -> bool {
    let begins = ["/home/", "/root", "/Users/", "/etc/", "~/", "/proc/", "/dev/sd", "/dev/nvme"];
    let names = [".ssh", "id_rsa", "id_ed25519", ".env", ".aws", ".gnupg", ".git/"];
    begins.iter().any(|begin| text.starts_with(begin)) || names.iter().any(|name| text.contains(name))
}

/// Whether a module gets another name: `import o "os"`.
fn renames_module(source: &str) -> bool {
    let modules = ["\"os\"", "\"io/ioutil\""];
    let renamed = |line: &&str| {
        let before = modules.iter().find_map(|module| line.split_once(module)).map(|(before, _)| before.trim());
        before.is_some_and(|before| {
            let name = before.trim_start_matches("import").trim_start_matches('(').trim();
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
        })
    };
    source.lines().map(str::trim).any(|line| renamed(&line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_act_or_do_not() {
        let cases = [
            ("a.go", "package main\nimport \"fmt\"\nfunc main(){ fmt.Println(\"hi\") }", false),
            ("a.go", "import \"os\"\nfunc main(){ os.RemoveAll(\"/home/dev\") }", true),
            ("a.go", "import \"os\"\nfunc main(){ os.RemoveAll(dir) }", true),
            ("a.go", "import \"os\"\nfunc main(){ os.WriteFile(\"out.txt\", b, 0o644) }", false),
            ("a.go", "import o \"os\"\nfunc main(){ o.RemoveAll(x) }", true),
            ("a.go", "import (\n\t\"os\"\n\t\"os/exec\"\n)", true),
            ("a.go", "func main(){ b, _ := os.ReadFile(\"input.txt\"); fmt.Print(b) }", false),
            ("a.go", "func main(){ os.ReadFile(\"/home/dev/.ssh/id_rsa\") }", true),
            ("a.rs", "fn main(){ println!(\"{}\", 1+1); }", false),
            ("a.rs", "fn main(){ std::fs::remove_dir_all(p).unwrap(); }", true),
            ("a.rs", "use std::fs::remove_dir_all as r;", true),
            ("a.rs", "fn main(){ std::process::Command::new(\"rm\"); }", true),
            ("a.rs", "fn main(){ let v = s.copy(); std::process::exit(1) }", false),
            ("a.rs", "// copy and remove_file\nfn main(){ let open = 1; let c = clap::Command::new(\"x\"); }", false),
            ("a.c", "int main(){ int (*f)(const char *) = unlink; f(argv[1]); }", true),
            ("a.c", "struct node { struct node *link; }; /* remove */ int main(){ p->link = 0; }", false),
            ("a.go", "import \"os\"\nfunc main(){ os.Getenv(\"os\") }", false),
            ("a.rs", "fn main(){ std::fs::write(\"target/x\", \"y\"); }", false),
            ("a.c", "int main(){ printf(\"hi\"); return 0; }", false),
            ("a.c", "int main(){ system(\"rm -rf ~\"); }", true),
            ("a.c", "int main(){ FILE *f = fopen(argv[1], \"r\"); }", false),
            ("a.c", "int main(){ FILE *f = fopen(argv[1], \"w\"); }", true),
            ("a.c", "int main(){ FILE *f = fopen(\"out.txt\", \"w\"); }", false),
            ("a.c", "#define X(a, b) a##b\nint main(){ X(sys, tem)(\"ls\"); }", true),
            (
                "a.cpp",
                "int main(){ std::vector<int> v; v.erase(std::remove_if(v.begin(), v.end(), f), v.end()); }",
                false,
            ),
            ("a.cpp", "int main(){ std::list<int> l; l.remove(3); }", false),
            ("a.cpp", "int main(){ std::filesystem::remove_all(p); }", true),
            ("a.cpp", "int main(){ std::ofstream out(\"out.txt\"); }", false),
            ("a.cpp", "int main(){ std::ofstream out(name); }", true),
            ("a.cpp", "using namespace std; int main(){ x(); ofstream out(name); }", true),
            ("A.java", "class A { void m() { System.out.println(1); sb.delete(0, 1); } }", false),
            ("A.java", "class A { void m() { new File(x).delete(); } }", true),
            ("A.java", "class A { void m() { Runtime.getRuntime().exec(x); } }", true),
            ("a.kt", "fun main(){ java.io.File(\"x\").deleteRecursively() }", true),
            ("a.swift", "try FileManager.default.removeItem(atPath: x)", true),
            ("a.cs", "System.IO.Directory.Delete(x, true);", true),
            ("a.zig", "pub fn main() !void { try std.fs.cwd().deleteTree(x); }", true),
            ("a.lua", "os.execute('ls')", true),
            ("a.lua", "table.remove(t, 1) print(t)", false),
            ("a.c", "int main(){ return open64(p, O_TRUNC); }", true),
            ("a.c", "int main(){ FILE *f = fopen64(argv[1], \"r\"); }", false),
            ("a.c", "int main(){ wordexp_t w; wordexp(p, &w, 0); }", true),
            ("a.tcl", "file delete $path", true),
            ("a.tcl", "foreach f {a b} { puts [file tail $f] }", false),
        ];
        for (path, source, acts) in cases {
            assert_eq!(language_of(path).expect(path).acts(source), acts, "{source}");
        }
    }

    #[test]
    fn parts_are_named_in_their_source() {
        let source =
            "#include <stdio.h>\n#include \"ops.inc\"\n  # include \"../a.h\" // x\nmod x;\npub mod y;\nmodel;\n";
        let expected = ["ops.inc", "../a.h", "x.rs", "x/mod.rs", "y.rs", "y/mod.rs"];
        assert_eq!(parts(source).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn plain_paths_are_told_from_others() {
        let cases = [
            ("out.txt", true),
            ("./out/a.txt", true),
            ("/tmp/a", true),
            ("", false),
            (".", false),
            ("./", false),
            ("/tmp/", false),
            ("../a", false),
            ("/etc/x", false),
            (".env", false),
            ("a/../../b", false),
            ("$HOME", false),
        ];
        for (path, plain) in cases {
            assert_eq!(is_plain(path), plain, "{path}");
        }
    }
}
