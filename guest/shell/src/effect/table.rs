//! The programs: one row each, how they read their words and what they do.

use std::cell::RefCell;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::options::{Arg, Style};
use super::{Run, archive, build, containers, files, git, media, network, script, search};

/// What a program does to its operands. Options speak for themselves.
#[derive(Clone, Copy)]
pub(super) enum Does {
    /// All its words are text.
    Data,
    /// No operand is a path.
    Nothing,
    /// Operands may be anything; it runs them, or nothing is known.
    Mentions,
    /// It reads them.
    Reads,
    /// It writes them.
    Writes,
    /// It writes them if one of the first options is there (or there are none) and none of the others; else reads.
    Formats {
        /// Options with which it writes.
        with: &'static str,
        /// Options with which it does not.
        without: &'static str,
    },
    /// It writes these globs below its folder, and may do anything with its operands.
    Makes(&'static str),
    /// The first operand has a row of its own.
    Subcommands(&'static [Row]),
    /// More than a row can say.
    Code(fn(&mut Run<'_>, &[Arg])),
}

/// A program, or a subcommand.
pub(super) struct Row {
    /// Its names, separated by blanks.
    pub(super) names: &'static str,
    /// Its options, as `options` spells them.
    pub(super) options: &'static str,
    pub(super) style: Style,
    /// How many operands stand before the paths: a script, a pattern, a mode.
    pub(super) script: usize,
    /// Whether those are data.
    pub(super) data_script: bool,
    /// Whether it may change files that its words do not name.
    pub(super) wild: bool,
    /// Whether it reads or writes folders with all that is in them, and the current one without operands.
    pub(super) recursive: bool,
    /// Whether it is the first of its subcommands without one.
    pub(super) bare: bool,
    pub(super) does: Does,
}

const fn row(names: &'static str, options: &'static str, does: Does) -> Row {
    let style = Style::Gnu;
    Row { names, options, style, script: 0, data_script: false, wild: false, recursive: false, bare: false, does }
}

impl Row {
    pub(super) const fn style(self, style: Style) -> Row {
        Row { style, ..self }
    }

    /// So many operands are a script or pattern, which is data.
    pub(super) const fn pattern(self, script: usize) -> Row {
        Row { script, data_script: true, ..self }
    }

    /// So many operands are no paths, and no data either.
    const fn skip(self, script: usize) -> Row {
        Row { script, ..self }
    }

    pub(super) const fn wild(self) -> Row {
        Row { wild: true, ..self }
    }

    pub(super) const fn bare(self) -> Row {
        Row { bare: true, ..self }
    }

    pub(super) const fn recursive(self) -> Row {
        Row { recursive: true, ..self }
    }
}

use Does::{Code, Data, Formats, Makes, Mentions, Nothing, Reads, Subcommands, Writes};
use Style::{Go, Joined, Posix, Raw};

/// What a program without its subcommand does.
pub(super) const NOTHING: Row = row("", "", Nothing);

const ALWAYS: Does = Formats { with: "", without: "check diff dry-run" };

/// Of GNOME's files, what removes and moves them.
const GIO: &[Row] = &[
    row("trash remove", "f/force", Code(files::trash)),
    row("copy", "", Code(files::copy)),
    row("move rename", "", Code(files::rename)),
];

#[rustfmt::skip]
pub(super) const PROGRAMS: &[Row] = &[
    // Words that are text, and programs that touch no file.
    row("echo printf true false : export", "", Data),
    row("[ [[ test", "", Code(files::test)),
    row("complete", "C=v F=v W=v A=v G=v P=v S=v X=v o=v", Nothing),
    row("history", "a n r w c", Code(files::history)),
    row("enable", "f=x a d n p s", Nothing),
    row("alias bg bind break caller clear compgen compopt continue cd dirs disown expr factor fc fg getopts hash help hostid id jobs let local logname declare typeset readonly unset set shift shopt nproc arch uname whoami who w users groups umask ulimit unalias popd pushd pwd ps pgrep pkill kill killall sleep usleep seq tty tput stty times type which whereis yes cal free uptime top htop pstree printenv basename dirname numfmt logout exit return wait reset locale getconf getent lsblk lscpu lsusb ifconfig netstat ping traceroute host nslookup whois apropos pbcopy pbpaste xsel wl-copy wl-paste notify-send pidof renice mapfile readarray read suspend sync loginctl hostnamectl timedatectl", "", Nothing),
    row("date", "f/file=r r/reference=r d/date=v s/set=v I? R u", Nothing),
    row("hostname", "F/file=r", Nothing),
    row("ip", "b/batch=r", Nothing).style(Joined),
    row("ss", "D/diag=w F/filter=r", Nothing),
    row("lspci", "i=r F=r p=r", Nothing),
    row("dig delv", "f=r k=r", Nothing),
    row("man", "C/config-file=r P/pager=v M/manpath=v S/sections=v s=v e/extension=v l/local-file", Mentions),
    row("info", "o/output=w f/file=v n/node=v", Nothing),
    row("xclip", "selection/sel=v target/t=v d/display=v l/loops=v i/in o/out f/filter", Reads).style(Go),
    // `tr` and friends filter their input.
    row("tr", "", Nothing).pattern(2),
    row("jq gojq jaq", "f/from-file=P L=m indent=v", Code(script::jq)).pattern(1),

    // Reading.
    row("cat tac rev zcat bzcat xzcat zstdcat lz4cat zless zmore bzless xzless more most sum cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum md5 crc32 wc tsort comm look cmp vimdiff readlink realpath ldd readelf size identify md5deep less view shellcheck hadolint yamllint tokei jsonlint strings hexyl",
        "", Reads),
    row("xmllint", "o/output=w schema=r relaxng=r schematron=r dtdvalid=r xpath=d encode=v pretty=v path=v", Reads).style(Go),
    row("pylint", "output=w rcfile=r init-hook=q j/jobs=v e/enable=v d/disable=v f/output-format=v", Reads),
    row("flake8", "output-file=w config=r format=v select=v ignore=v exclude=v max-line-length=v", Reads),
    row("mypy pyright dmypy", "junit-xml=w html-report=f xml-report=f txt-report=f config-file=r p/project=r", Reads),
    row("cloc scc", "o/output/out/report-file=w", Reads),
    row("nl", "b=v d=v f=v h=v i=v l=v n=v s=v v=v w=v", Reads),
    row("bat batcat delta", "pager=v l/language=v H/highlight-line=v r/line-range=v file-name=v map-syntax=v theme=v style=v paging=v color=v", Reads),
    row("od", "A=v j=v N=v S=v t=v w=v", Reads),
    row("hexdump hd", "n=v s=v e=v f=r b c C d o v x", Reads),
    row("base32 base64", "w/wrap=v", Reads),
    row("fold fmt", "w/width=v g/goal=v p/prefix=v", Reads),
    row("expand unexpand", "t/tabs=v", Reads),
    row("column", "s/separator=v o/output-separator=v N/table-columns=v c/output-width=v R=v H=v W=v", Reads),
    row("paste", "d/delimiters=v", Reads),
    row("join", "t=v o=v e=v a=v v=v j=v 1=v 2=v", Reads),
    row("pr", "h=v l=v o=v w=v W=v N=v", Reads),
    row("diff diff3 sdiff colordiff", "U=v C=v W=v I=v F=v x/exclude=v X=v L/label=v o/output=w", Reads),
    row("file", "f/files-from=r m/magic-file=r F/separator=v P=v e/exclude=v", Reads),
    row("stat", "c/format/printf=v", Reads),
    row("nm objdump", "j=v M=v t=v", Reads),
    row("head tail", "n/lines=v c/bytes=v s/sleep-interval=v pid=v max-unchanged-stats=v", Reads),
    row("cut", "d/delimiter=v f/fields=v c/characters=v b/bytes=v output-delimiter=v", Reads),
    row("xxd", "r/revert p/ps/postscript/plain i/include b/bits e E/EBCDIC u a/autoskip C/capitalize d c/cols=v g/groupsize=v l/len=v s/seek/skip=v o/offset=v n/name=v R=v", Code(files::into_second)).style(Joined),
    row("iconv", "f/from-code=v t/to-code=v o/output=w c s l/list", Reads),
    row("grep egrep fgrep zgrep ugrep", "e/regexp=p f/file=P A=v B=v C=v m/max-count=v d=v D=v after-context=v before-context=v context=v binary-files=v color? colour? directories=v exclude=v exclude-dir=v exclude-from=r include=v label=v r/R/recursive/dereference-recursive", Reads).pattern(1),
    row("rg", "e/regexp=p f/file=P files! type-list! A/after-context=v B/before-context=v C/context=v g/glob=v iglob=v m/max-count=v r/replace=d t/type=v T/type-not=v j/threads=v max-depth=v sort=v sortr=v color=v colors=v engine=v ignore-file=r pre=x hostname-bin=x pre-glob=v M/max-columns=v E/encoding=v", Reads).pattern(1).recursive(),
    row("ag ack", "A=v B=v C=v m=v G=v g! ignore=v ignore-dir=v", Reads).pattern(1).recursive(),
    row("ls dir vdir", "I/ignore=v w/width=v T/tabsize=v hide=v block-size=v color? sort=v time=v format=v quoting-style=v indicator-style=v time-style=v", Reads).recursive(),
    row("exa eza", "I/ignore-glob=v L/level=v w/width=v t/time=v s/sort=v color? time-style=v", Reads).recursive(),
    row("lsd", "I/ignore-glob=v depth=v color? sort=v date=v size=v", Reads).recursive(),
    row("tree", "I=v P=v L=v o=w charset=v filelimit=v timefmt=v sort=v", Reads).recursive(),
    row("du ncdu", "X/exclude-from=r exclude=v d/max-depth=v t/threshold=v B/block-size=v I=v time? time-style=v o=w f=r", Reads).recursive(),
    row("df findmnt lsof fuser lsattr getfacl namei pathchk ", "t=v o=v p=v u=v i=v", Reads),
    row("find gfind", "", Code(search::find)).style(Raw),
    row("fd fdfind", "e/extension=v t/type=v E/exclude=v d/max-depth=v min-depth=v S/size=v base-directory=C x/exec/X/exec-batch c/color=v j/threads=v changed-within=v changed-before=v o/owner=v g/glob p/full-path", Code(search::fd)),

    // Files.
    row("cp gcp zf_cp", "-abdfHilLnPpsTuvxZ r/R/recursive t/target-directory=t S/suffix=v archive attributes-only backup? copy-contents context? debug dereference force interactive keep-directory-symlink link no-clobber no-dereference no-target-directory one-file-system parents preserve? no-preserve=v reflink? remove-destination sparse=v strip-trailing-slashes symbolic-link update? verbose", Code(files::copy)),
    row("mv gmv zf_mv", "-bfinTuvZ t/target-directory=t S/suffix=v backup? context debug exchange force interactive no-clobber no-copy no-target-directory strip-trailing-slashes update? verbose", Code(files::rename)),
    row("ln gln zf_ln", "-bdFfinLPrsTv t/target-directory=t S/suffix=v backup? directory force interactive logical no-dereference physical relative symbolic no-target-directory verbose", Code(files::link)),
    row("link", "-", Code(files::link)),
    row("install ginstall", "-bcCdDpTsvZ g/group=v m/mode=v o/owner=v S/suffix=v t/target-directory=t backup? compare context? debug directory preserve-timestamps strip strip-program=v no-target-directory verbose", Code(files::install)),
    row("rm grm zf_rm", "-dfiIv r/R/recursive dir force interactive? no-preserve-root one-file-system preserve-root? verbose", Code(files::remove)),
    row("trash trash-put rimraf", "r/R/recursive", Code(files::trash)),
    row("gio", "", Subcommands(GIO)),
    row("rmdir zf_rmdir", "-pv ignore-fail-on-non-empty parents verbose", Code(files::remove_folders)),
    row("unlink", "-", Code(files::unlink)),
    row("shred", "-fuvxz n/iterations=v s/size=v random-source=r force remove? exact zero verbose", Code(files::shred)),
    row("touch gtouch", "-acfhm d/date=d r/reference=r t=v time=v no-create no-dereference", Code(files::touch)),
    row("mkdir gmkdir", "-pvZ m/mode=v context? parents verbose", Code(files::make_folders)),
    row("mkfifo", "-Z m/mode=v context?", Code(files::make_pipes)),
    row("mknod", "-Z m/mode=v context?", Code(files::make_node)),
    row("mktemp", "-dqtu p=t tmpdir? suffix=v directory dry-run quiet", Code(files::make_temporary)),
    row("tee gtee", "-aip append ignore-interrupts output-error?", Code(files::tee)),
    row("sponge", "-a", Code(files::sponge)),
    row("truncate", "-co s/size=v r/reference=r no-create io-blocks", Code(files::truncate)),
    row("fallocate", "l/length=v o/offset=v", Writes),
    row("dd gdd", "", Code(files::dd)),
    row("split gsplit", "a/suffix-length=v b/bytes=v C/line-bytes=v d e l/lines=v n/number=v t/separator=v x u additional-suffix=v filter=v numeric-suffixes? hex-suffixes?", Code(files::split)),
    row("csplit gcsplit", "b/suffix-format=v f/prefix=t k n/digits=v s/quiet/silent z", Code(files::csplit)),
    row("chmod gchmod zf_chmod", "c f v R changes silent quiet verbose recursive preserve-root no-preserve-root reference=t r w x X s u g o a", Code(files::mode)),
    row("chown chgrp gchown gchgrp zf_chown zf_chgrp", "c f v R h H L P changes silent quiet verbose recursive preserve-root no-preserve-root dereference no-dereference from=v reference=t", Code(files::owner)),
    row("setfacl", "m/modify=q x/remove=q M/modify-file=P X/remove-file=P b! k! set=q set-file=P R/recursive restore=P remove-all! remove-default!", Code(files::attributes)),
    row("chattr chflags xattr setfattr setcap chcon restorecon", "R/recursive n/name=q v/value=d x/remove=q h t=v u=v r=v l=v p=v reference=r", Code(files::attributes)),
    row("rsync", "a/archive r/recursive n/dry-run remove-source-files delete del delete-before delete-after delete-during delete-delay delete-excluded R/relative d/dirs l/links b/backup e/rsh=v f/filter=v exclude=v include=v exclude-from=r include-from=r files-from=r log-file=w port=v bwlimit=v chmod=v chown=v out-format=v info=v backup-dir=m suffix=v max-size=v min-size=v rsync-path=v password-file=r temp-dir=m T=m partial-dir=m compare-dest=m copy-dest=m link-dest=m timeout=v B/block-size=v list-only write-batch=w read-batch=r", Code(files::rsync)),
    row("sort gsort", "-bdfgiMhnRrVcCmsuz o/output=t k/key=v t/field-separator=v S/buffer-size=v T/temporary-directory=m batch-size=v parallel=v files0-from=r random-source=r compress-program=v check? sort=v debug ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort reverse version-sort merge stable unique zero-terminated", Code(files::sort)),
    row("shuf gshuf", "o/output=w n/head-count=v random-source=r e/echo! i/input-range=v", Code(files::shuf)),
    row("uniq guniq", "-cdDiuz f/skip-fields=v s/skip-chars=v w/check-chars=v all-repeated? group? count repeated ignore-case unique zero-terminated", Code(files::into_second)),
    row("ex vi vim nvim nano emacs micro pico joe kak hx helix", "c/cmd=v S=x u=r s=r", Code(files::edit)),
    // In a window of their own.
    row("code subl gedit kate", "", Writes),
    row("sudoedit visudo vipw aspell ispell", "f=w", Writes),
    row("ed red", "p/prompt=v", Code(files::edit)),

    // Archives.
    row("tar gtar bsdtar", "", Code(archive::tar)).style(Raw),
    row("zip", "", Code(archive::zip)).style(Raw),
    row("unzip", "", Code(archive::unzip)).style(Raw),
    row("7z 7za 7zr 7zz", "", Code(archive::seven_zip)).style(Raw),
    row("unrar rar", "", Code(archive::rar)).style(Raw),
    row("zstd unzstd", "d/decompress/uncompress c/stdout k/keep t/test l/list f/force r/recursive rm C/check o/output=w output-dir-flat=f output-dir-mirror=f q v T/threads=v D=r 0# 1# 2# 3# 4# 5# 6# 7# 8# 9#", Code(archive::compress)),
    row("gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma lz4 unlz4 lzip compress uncompress pigz unpigz pbzip2 brotli", "d/decompress/uncompress c/stdout/to-stdout k/keep t/test l/list f/force r/recursive rm S/suffix=v o/output=w m/multiple q v n N 0# 1# 2# 3# 4# 5# 6# 7# 8# 9# T=v F/format=v C=v D=r p=v b=v z/compress", Code(archive::compress)),
    row("cpio", "o/create i/extract p/pass-through t/list d/make-directories O=w I=r F/file=t D/directory=C E/pattern-file=r H/format=v C=v R/owner=v u v m B A", Code(archive::cpio)),
    row("ar gar llvm-ar", "", Code(archive::ar)).style(Raw),
    row("ranlib strip", "o=w R/remove-section=v K/keep-symbol=v N=v", Writes),
    row("objcopy", "O=v I=v j=v R=v", Code(files::into_second)),
    row("patch gpatch", "p/strip=v i/input=r o/output=w d/directory=C r/reject-file=w b/backup V/version-control=v B/prefix=v Y=v z/suffix=v F/fuzz=v D/ifdef=v dry-run N/forward R/reverse f/force t/batch s/silent/quiet E/remove-empty-files g/get=v", Code(script::patch)),

    // Programs with a script.
    row("sed gsed", "n/quiet/silent E/r/regexp-extended s/separate u/unbuffered z/null-data i/I/in-place? e/expression=p f/file=P l/line-length=v", Code(script::sed)).pattern(1),
    row("perl", "i? e/E=q 0# l# F=v I=v M=v m=v x? C? D=v p n a c h s S t T u U w W X v", Code(script::perl)),
    row("ruby", "i? e=q 0# F=v I=v r=v x? C=C E=v p n a c h l s S v w W", Code(script::perl)),
    row("awk gawk mawk nawk goawk", "F/field-separator=v v/assign=v f/file=P e/source=q i/include=t l/load=v o? p? d?", Code(script::awk)).style(Posix).skip(1),
    row("virtualenv", "p/python=v prompt=v seeder=v clear", Code(build::virtual_environments)),
    row("python python2 python3 pypy pypy3 ipython", "c=q m=q W=v X=v V! o/output/outfile e/extract", Code(script::interpret)).style(Posix).wild(),
    row("node nodejs deno tsx ts-node ", "e/eval=q p/print=q r/require=x import=x loader=x experimental-loader=x redirect-warnings=w test-reporter-destination=w tls-keylog=w env-file=r C/conditions=v title=v inspect-port=v v! version! c/check!", Code(script::interpret)).style(Posix).wild(),
    row("php", "r=q f=x d=v c=r z=r B=q R=q E=q S=q t=m l! v! i! m!", Code(script::interpret)).style(Posix).wild(),
    row("lua luajit tclsh wish osascript Rscript julia guile racket groovy elixir swift pwsh powershell fish nu elvish expect m4 bc dc", "e=q E=q l=v", Code(script::interpret)).style(Posix).wild(),
    row("sh bash dash zsh ksh ash mksh rbash", "o=v O=v rcfile=x init-file=x c s", Code(script::shell)).style(Posix),
    row("source .", "", Code(script::source)).style(Posix),

    // Wrappers: what they run is a command of its own.
    row("script", "c/command=v e f q a/append O/log-out=w I/log-in=w B/log-io=w T/log-timing=w t/timing? m=v E=v o=v", Code(script::typescript)),
    row("time gtime", "o/output=w a/append f/format=v", Mentions).style(Posix),
    row("strace", "o/output=w a/columns=v e=v E/env=v p/attach=v u/user=v P/trace-path=v s/string-limit=v S/summary-sort-by=v U/summary-columns=v O/summary-syscall-overhead=v X/const-print-style=v I/interruptible=v b/detach-on=v", Mentions).style(Posix),
    row("ltrace", "o/output=w a/align=v A=v D/debug=v e=v F/config=r l/library=v n/indent=v p=v s=v u=v w/where=v x=v", Mentions).style(Posix),
    row("valgrind", "log-file=w xml-file=w massif-out-file=w callgrind-out-file=w cachegrind-out-file=w dhat-out-file=w", Mentions).style(Posix),
    row("perf", "o/output=w i/input=r", Mentions),
    row("hyperfine", "export-json=w export-csv=w export-markdown=w export-asciidoc=w export-orgmode=w", Mentions),
    row("sudo doas env nice ionice nohup timeout stdbuf setsid command builtin exec watch open xdg-open umount at batch crontab systemd-run chroot unshare nsenter bwrap flock runuser pkexec su busybox toybox eval trap unbuffer coproc caffeinate chrt taskset prlimit setarch faketime dbus-run-session gdb entr firejail proot fakeroot numactl cgexec trickle chronic ifne pee setpriv capsh dotenv direnv", "", Mentions),

    row("mount", "B/bind R/rbind M/move o/options=v t/types=v O/test-opts=v L/label=v U/uuid=v T/fstab=r N/namespace=v source=v target=v a f n r w v", Code(files::mount)),
    row("bindfs mergerfs unionfs unionfs-fuse", "o=v u/force-user=v g/force-group=v p/perms=v d f s r n", Code(files::mount_again)),

    row("pax", "r w l a f=w s=v x=v b=v o=v n u v k i d p=v t D H L P X", Code(archive::pax)),
    row("tmux", "f=r L=v S=m", Code(files::tmux)),
    row("screen", "Logfile=w c=r S=v p=v t=v e=v s=v T=v h=v", Mentions).style(Go),

    row("xargs gxargs", "0/null a/arg-file=r d/delimiter=v E=v e? I=v i? L=v l? n/max-args=v P/max-procs=v s/max-chars=v r/no-run-if-empty t/verbose x/exit p/interactive o/open-tty process-slot-var=v", Mentions).style(Posix),
    row("parallel env_parallel", "a/arg-file=r j/jobs=v joblog/jl=w results/res=f", Mentions),

    // The network.
    row("curl", "o/output=t O/remote-name remote-name-all J/remote-header-name output-dir=t D/dump-header=w c/cookie-jar=w T/upload-file=t d/data/data-ascii=b data-binary=b url-query=b data-urlencode=b data-raw=d json=b F/form=t form-string=d b/cookie=t K/config=r trace=w trace-ascii=w stderr=w E/cert=r cacert=r capath=m key=r netrc-file=r w/write-out=t expand-output=t expand-data=b expand-url=s expand-header=b expand-form=b variable=b proxy-header=b X/request=v H/header=t A/user-agent=d e/referer=d u/user=v x/proxy=v U/proxy-user=v m/max-time=v connect-timeout=v retry=v retry-delay=v retry-max-time=v C/continue-at=v r/range=v y=v Y=v z=t url=s proto-default=v g/globoff resolve=v connect-to=v limit-rate=v max-filesize=v max-redirs=v interface=v ciphers=v P/ftp-port=v Q/quote=v t/telnet-option=v unix-socket=m proto=v tls-max=v etag-save=w etag-compare=r hsts=w alt-svc=w libcurl=w aws-sigv4=v oauth2-bearer=v G/get I/head", Code(network::curl)),
    row("wget wget2", "O/output-document=w P/directory-prefix=t o/output-file=w a/append-output=a i/input-file=r post-file=r body-file=r load-cookies=r save-cookies=w r/recursive m/mirror p/page-requisites x/force-directories spider t/tries=v T/timeout=v w/wait=v Q/quota=v U/user-agent=d header=d post-data=d body-data=d user=v password=v l/level=v A/accept=v R/reject=v D/domains=v X=v I=v e/execute=t rejected-log=w hsts-file=w config=r limit-rate=v ca-certificate=r certificate=r private-key=r method=v referer=d B/base=v warc-file=t content-disposition N/timestamping c/continue nc/no-clobber S q", Code(network::wget)),
    row("aria2c axel", "d/dir=t o/out/output=t i/input-file=r x/max-connection-per-server=v s/split=v j=v n=v l/log=w T/torrent-file=r", Code(network::aria)),
    row("http https xh xhs httpie", "o/output=w d/download a/auth=v A/auth-type=v session=m session-read-only=r cert=r cert-key=r raw=d", Code(network::http)),
    row("scp", "P=v i=r F=r o=v c=v l=v S=v J=v D=v r", Code(network::scp)),
    row("sftp", "P=v i=r F=r o=v c=v l=v S=v J=v D=v b=r B=v R=v s=v r p q", Code(network::sftp)),
    row("ssh autossh mosh", "b=v c=v D=v E=w e=v F=r I=r i=r J=v L=v l=v m=v O=v o=v p=v Q=v R=v S=m W=v w=v B=v", Code(network::talk)).style(Posix),
    row("socat", "u U d r=w R=w lf=w b=v t=v T=v", Code(network::socat)).style(Go),
    row("lftp", "e=d c=d f=r u=v p=v", Code(network::lftp)),
    row("aws gsutil s5cmd s3cmd", "profile=v region=v output=v endpoint-url=s acl=v storage-class=v content-type=v content-encoding=v cache-control=v exclude=v include=v metadata=v metadata-directive=v sse=v sse-kms-key-id=v grants=v expires=v r/R/recursive d/delete delete-removed", Code(network::bucket)).wild(),
    row("nc ncat netcat telnet ftp", "p=v s=v w=v i=v e=v c=v x=v X=v q=v o=w k u l", Code(network::talk)),
    row("ssh-keygen", "f=w t=v b=v C=d N=d P=d l y=v E=v O=v s=r n=v I=v V=v R=v F=v", Nothing),
    row("ssh-copy-id", "i=r p=v o=v F=r", Code(network::talk)),

    // Version control.
    row("git", git::OPTIONS, Subcommands(git::COMMANDS)),
    row("hg svn jj bzr fossil", "R/repository=C cwd=C", Makes("**")).wild(),
    row("gh glab hub", "t/title=d b/body=d F/body-file/field=b R/repo=v notes=d n=d o/output=w D/dir=f O=w input=r", Code(network::forge)).wild(),

    // Compilers.
    row("gcc cc clang g++ c++ clang++ tcc icc c89 c99 gfortran emcc em++", "o=w c S E M MM fsyntax-only I=m L=m D=v U=v l=v x=v include=r isystem=m iquote=m idirafter=m MF=w MT=v MQ=v MD MMD T=r Xlinker=v Xclang=v Xpreprocessor=v Xassembler=v arch=v target=v std=v framework=v u=v z=v B=m", Code(build::compile)).style(Joined),
    row("ld ld.gold ld.lld lld mold gold", "o=w L=m l=v m=v e=v T=r Map=w soname=v rpath=v dynamic-linker=v", Code(build::assemble)).style(Joined),
    row("as gas", "o=w I=m", Code(build::assemble)).style(Joined),
    row("nasm yasm", "o=w l=w f=v I=m i=m D=v d=v U=v u=v p=r P=r F=v g=v E e M MF=w MD=w L=v Z=w w=v W=v O=v", Code(build::assemble)).style(Joined),
    row("rustc", "o=w out-dir=f L=m l=v C/codegen=v A/allow=v W/warn=v D/deny=v F/forbid=v Z=v cfg=v crate-name=v crate-type=v edition=v emit=v explain! extern=v print=v target=v sysroot=m cap-lints=v error-format=v", Code(build::rustc)),
    row("tsc vue-tsc", "outDir=t outdir=t outFile=w outfile=w p/project=m b build noEmit noemit w/watch declarationDir=f rootDir=m target=v t=v module=v m=v lib=v jsx=v tsBuildInfoFile=w init showConfig listFilesOnly v version h help all moduleResolution=v types=v typeRoots=m baseUrl=m", Code(build::tsc)).style(Go).wild(),
    row("javac kotlinc scalac", "d=t h=f s=f cp=m classpath=m class-path=m sourcepath=m source-path=m source=v target=v release=v encoding=v processor=v processorpath=m p=m module-path=m", Code(build::javac)).style(Go),
    row("jar", "", Code(archive::ar)).style(Raw),
    row("ocamlc ocamlopt ocamlfind", "o=w I=m c i a", Code(build::assemble)).style(Go),
    row("ghc", "o=w odir=f hidir=f outputdir=f i=m package=v c", Code(build::haskell)).style(Go),
    row("swiftc dmd ldc2 gdc nim valac fpc nvcc", "o=w of=w c I=m L=m l=v d=v", Code(build::assemble)).style(Joined),
    row("protoc", "I/proto_path=m o/descriptor_set_out=w cpp_out=f java_out=f python_out=f go_out=f js_out=f ruby_out=f rust_out=f ts_out=f pyi_out=f grpc_out=f go-grpc_out=f grpc_python_out=f plugin=m", Reads).style(Go),
    row("flex lex bison yacc", "o/output/outfile=w d/defines? header-file=w b=v p=v", Code(build::generated)),
    row("esbuild", "", Code(build::esbuild)).style(Raw).wild(),

    // Documents, pictures, databases, keys.
    row("pandoc", "o/output=w f/from/r/read=v t/to/w/write=v H/include-in-header=r B=r A=r c/css=m template=r metadata-file=r V=v M=v s extract-media=f resource-path=m F/filter=v lua-filter=x bibliography=r csl=r reference-doc=r data-dir=m log=w defaults=r d=r", Reads),
    row("dot neato twopi circo fdp sfdp", "o=w O T=v K=v G=v N=v E=v l=v s=v", Code(media::dot)),
    row("pdflatex latex xelatex lualatex tex pdftex latexmk", "output-directory=t outdir=t jobname=v interaction=v", Code(media::latex)).style(Go),
    row("ffmpeg", "", Code(media::ffmpeg)).style(Raw),
    row("convert magick gm composite montage", "", Code(media::convert)).style(Raw),
    row("mogrify", "resize=v quality=v format=v path=f crop=v rotate=v", Writes).style(Go),
    row("cwebp dwebp gif2webp", "o=w q=v m=v resize=v crop=v", Reads).style(Go),
    row("pngquant optipng jpegoptim svgo oxipng", "o/output/out=w", Writes),
    row("rsvg-convert", "o/output=w", Code(files::into_second)),
    row("wkhtmltopdf wkhtmltoimage", "", Code(files::into_last)),
    row("pdftotext pdftohtml pdftops pdftocairo ps2pdf", "f=v l=v r=v x=v y=v W=v H=v enc=v opw=v upw=v eol=v layout raw htmlmeta bbox nopgbrk", Code(files::into_second)).style(Go),
    row("qpdf", "password=v", Code(files::into_last)),
    row("gs ghostscript", "sOutputFile=w o=w sDEVICE=v I=m", Reads).style(Go),
    row("xsltproc", "o/output=w param=v stringparam=v", Reads).style(Go),
    row("exiftool", "overwrite_original overwrite_original_in_place o=w tagsFromFile=r", Formats { with: "overwrite_original overwrite_original_in_place", without: "" }).style(Go),
    row("tidy", "m/modify o/output=w config=r f/file=w", Formats { with: "m", without: "" }).style(Go),
    row("mlr", "I f/from=r", Formats { with: "I", without: "" }),
    row("tcpdump", "w=w r=r F=r i=v c=v s=v z=x", Mentions),
    row("tshark dumpcap", "w=w r=r F=v i=v c=v s=v f=v Y=v z=v T=v e=v", Mentions),
    row("nmap", "oN=w oX=w oG=w oS=w oA=w iL=r p=v script=r excludefile=r", Mentions).style(Go),
    row("ctags etags", "f/o=w L=r R/recurse options=r", Reads),
    row("pg_dump pg_dumpall", "f/file=w U=v h=v p=v d=v", Mentions),
    row("mysqldump", "r/result-file=w u=v h=v P=v", Mentions),
    row("mongodump", "o/out=f archive=w", Mentions),
    row("fdupes jdupes", "d/delete N/noprompt r/recurse", Code(files::duplicates)),
    row("sqlite3 sqlite duckdb", "init=x cmd=v separator=v newline=v nullvalue=v vfs=v mmap=v heap=v maxsize=v pagecache=v lookaside=v nonce=v", Code(media::database)).style(Go),
    row("openssl", "", Subcommands(media::OPENSSL)),
    row("gpg gpg2", "o/output=t status-file=w logger-file=w attribute-file=w c/symmetric e/encrypt s/sign d/decrypt b/detach-sign clearsign clear-sign a/armor r/recipient=v u/local-user=v homedir=m passphrase=d passphrase-file=r import! export! verify list-keys! k! K! list-secret-keys! gen-key! full-generate-key! export-secret-keys! delete-keys! recv-keys! keyserver=v fingerprint! pinentry-mode=v passphrase-fd=v status-fd=v cipher-algo=v edit-key!", Code(media::gpg)),
    row("age", "o/output=w r/recipient=v R/recipients-file=r i/identity=r", Reads),

    // Build tools and package managers.
    row("make gmake ninja samu just task mage rake scons bazel buck bmake remake", "C/directory=C f/file/makefile=r working-directory=C d=v j# k n/dry-run/just-print I=m o=v W=v l#", Makes("**")).wild(),
    row("cmake", "B=f S=m G=v D=v P=x C=r build=f install=m p=m E=v", Makes("**")).wild(),
    row("meson autoreconf autoconf automake configure cmake-gui gradle gradlew mvn mvnw ant sbt lein mill dune stack cabal mix rebar3 nx turbo lerna rush gulp grunt webpack vite rollup parcel snowpack tsup unbuild next nuxt astro hugo jekyll mkdocs sphinx-build docusaurus storybook jest vitest mocha cypress playwright pytest tox nox coverage phpunit rspec act earthly skaffold terraform tofu pulumi ansible ansible-playbook vagrant packer helm serverless sam cdk dvc snakemake nextflow pre-commit husky lint-staged", "", Makes("**")).wild(),
    row("cargo", "C=C manifest-path=m config=v color=v Z=v", Subcommands(build::CARGO)),
    row("npm pnpm bun cnpm", "C/prefix/dir/cwd=C w/workspace=v F/filter=v", Subcommands(build::NODE)),
    row("yarn ni", "cwd=C", Subcommands(build::NODE)).bare(),
    row("npx bunx pnpx uvx pipx corepack dlx volta nvm fnm asdf mise rtx", "", Mentions).wild(),
    row("pip pip3 pipenv", "", Subcommands(build::PIP)),
    row("uv", "directory=C project=C", Subcommands(build::UV)),
    row("poetry pdm rye hatch pixi", "C/directory=C p/project=C", Subcommands(build::POETRY)),
    row("conda mamba micromamba", "", Makes("**")).wild(),
    row("go", "C=C", Subcommands(build::GO)).style(Go),
    row("bundle bundler gem", "", Subcommands(build::BUNDLE)).bare(),
    row("composer", "d/working-dir=C", Subcommands(build::COMPOSER)),
    row("docker-compose podman-compose", containers::COMPOSE_OPTIONS, Code(containers::compose)).wild(),
    row("docker podman nerdctl", "H/host=v c/context=v l/log-level=v config=m", Subcommands(containers::DOCKER)),
    row("kubectl oc", "n/namespace=v context=v kubeconfig=r", Subcommands(containers::KUBECTL)),
    row("apt apt-get dpkg yum dnf pacman apk brew port zypper snap flatpak nix nix-env nix-shell nix-build emerge xbps-install pkg winget choco scoop rustup ghcup sdk systemctl service launchctl defaults", "", Mentions).wild(),

    // Formatters and fixers.
    row("prettier", "w/write c/check l/list-different config=r ignore-path=r parser=v plugin=v stdin-filepath=v log-level=v print-width=v tab-width=v", Formats { with: "w", without: "" }),
    row("eslint stylelint xo standard oxlint tslint", "fix c/config=r o/output-file=w ext=v f/format/formatter=v rulesdir=m max-warnings=v ignore-path=r ignore-pattern=v plugin=v rule=v parser=v cache-location=w resolve-plugins-relative-to=m", Formats { with: "fix", without: "" }),
    row("markdownlint markdownlint-cli2 swiftlint", "fix f c/config=r o/output=w", Formats { with: "fix f", without: "" }),
    row("black blue isort reorder-python-imports pyupgrade add-trailing-comma", "check diff c/code=d l/line-length=v t/target-version=v config=r exclude=v include=v extend-exclude=v force-exclude=v stdin-filename=v check-only profile=v settings-path=m sp=m", Formats { with: "", without: "check diff c check-only" }).recursive(),
    row("ruff", "config=r", Subcommands(build::RUFF)),
    row("yapf autopep8 autoflake docformatter", "i/in-place d/diff style=v p a e=v max-line-length=v select=v ignore=v r/recursive", Formats { with: "i", without: "d" }),
    row("gofmt gofumpt goimports gci golines", "w l d s e r=v local=v m=v", Formats { with: "w", without: "" }).style(Go),
    row("rustfmt", "check edition=v config=v config-path=r emit=v", Formats { with: "", without: "check" }),
    row("clang-format clang-tidy", "i style=v n dry-run fix fix-errors fix-notes checks=v p=m header-filter=v config=v assume-filename=v", Formats { with: "i fix fix-errors fix-notes", without: "n dry-run" }).style(Go),
    row("shfmt", "w/write l d i/indent=v ln/language-dialect=v ci bn sr kp s mn filename=v", Formats { with: "w", without: "" }).style(Go),
    row("stylua", "c/check f/config-path=r s g/glob=v verify", Formats { with: "", without: "c" }),
    row("biome", "config-path=m", Subcommands(build::BIOME)),
    row("dprint", "c/config=r", Subcommands(build::DPRINT)),
    row("rubocop standardrb", "a/autocorrect A/autocorrect-all x fix auto-correct auto-correct-all safe-auto-correct c/config=r only=v except=v o/out=w f/format=v r/require=v", Formats { with: "a A x fix auto-correct auto-correct-all safe-auto-correct", without: "" }).recursive(),
    row("taplo", "c/config=r", Subcommands(build::TAPLO)),
    row("ktlint swiftformat google-java-format scalafmt fourmolu ormolu nixfmt alejandra nixpkgs-fmt elm-format ocamlformat cabal-fmt csharpier php-cs-fixer phpcbf buildifier xmlformat", "F/format i/in-place/inplace replace m/mode=v config=r check", Formats { with: "", without: "check" }),
    row("yq", "i/inplace/in-place P e/expression=p o=v p=v I=v from-file=P s=v arg=v", Formats { with: "i", without: "" }).pattern(1),
    row("sd", "p/preview F/fixed-strings f/flags=v n/max-replacements=v s/string-mode", Formats { with: "", without: "p" }).pattern(2),
    row("rpl", "s/simulate R/recursive i w q x=v t", Formats { with: "", without: "s" }).pattern(2).recursive(),
    row("dos2unix unix2dos", "n/newfile c=v q k", ALWAYS),
    row("codespell typos", "w/write-changes i=v L=v S=v", Formats { with: "w", without: "" }).recursive(),
    row("prename rename file-rename", "n e=q", Code(files::rename_by)).skip(1),
    row("envsubst gettext", "", Nothing),
    row("crudini", "", Code(files::ini)).style(Raw),
    // A tool of agents, which some of them look for in shell texts as well.
    row("apply_patch applypatch apply-patch", "", Code(script::apply_patch)).style(Raw),
];

/// The row of a program and the name that it has there.
pub(super) fn find(program: &str) -> Option<(&'static str, &'static Row)> {
    static INDEX: OnceLock<FxHashMap<&'static str, &'static Row>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let names = PROGRAMS.iter().flat_map(|row| row.names.split_whitespace().map(move |name| (name, row)));
        names.collect()
    });
    let found = index.get_key_value(program).or_else(|| {
        // `python3.12`, `clang-17`.
        let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let plain = plain.strip_suffix('-').unwrap_or(plain);
        index.get_key_value(plain).filter(|_| plain.len() < program.len())
    });
    found.map(|(name, row)| (*name, *row))
}

type Names = FxHashMap<&'static str, &'static Row>;

thread_local! {
    // By where their rows are in memory: git has more than a hundred subcommands, and each command asks.
    static SUBCOMMANDS: RefCell<FxHashMap<(usize, usize), Names>> = RefCell::default();
}

/// The row of a subcommand.
pub(super) fn within(rows: &'static [Row], name: &str) -> Option<(&'static str, &'static Row)> {
    let names = || rows.iter().flat_map(|row| row.names.split_whitespace().map(move |name| (name, row)));
    SUBCOMMANDS.with_borrow_mut(|tables| {
        let table = tables.entry((rows.as_ptr().addr(), rows.len())).or_insert_with(|| names().collect());
        table.get_key_value(name).map(|(name, row)| (*name, *row))
    })
}

/// A row for the tables of other files.
pub(super) const fn command(names: &'static str, options: &'static str, does: Does) -> Row {
    row(names, options, does)
}

/// The same of one that may change files that its words do not name.
pub(super) const fn wild(names: &'static str, options: &'static str, does: Does) -> Row {
    command(names, options, does).wild()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn check(rows: &'static [Row], path: &str) {
        let mut names: Vec<&str> = rows.iter().flat_map(|row| row.names.split_whitespace()).collect();
        names.sort_unstable();
        let twice: Vec<&[&str]> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert_eq!(twice, [[""; 0]; 0], "{path}");
        for row in rows {
            if let Subcommands(rows) = row.does {
                check(rows, row.names);
            }
        }
    }

    /// Every program and subcommand as it is typed.
    pub(in super::super) fn typed() -> Vec<String> {
        fn add(rows: &'static [Row], before: &str, all: &mut Vec<String>) {
            for row in rows {
                for name in row.names.split_whitespace() {
                    let typed = format!("{before}{name}");
                    if let Subcommands(rows) = row.does {
                        add(rows, &format!("{typed} "), all);
                    }
                    all.push(typed);
                }
            }
        }
        let mut all = Vec::new();
        add(PROGRAMS, "", &mut all);
        all
    }

    #[test]
    fn every_program_has_one_row() {
        check(PROGRAMS, "programs");
    }
}
