//! The table: one row a program. How the options are written stands in `options.rs`.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::git::git;
use super::inline::{bun, latexmk, operand, rename};
use super::many::{entr, fd, find as find_tool, flock, parallel, xargs, zargs};
use super::open::{after_dashes, capsh, coreutils, given, in_workspaces, start_stop_daemon};
use super::remote::{bubblewrap, chroot, copy, firejail, kubectl, netcat, nsenter, run_image, socat, ssh};
use super::shells::{cmd, env, eval, fish, foreign, powershell, shell, source, su, trap};
use super::terminals::{at, crontab, screen, systemd_run, tmux};
use super::tools::{apt, cmake, dotenv, gdb, make, nix_run, tar, uv_run, vim, zip};
use super::{Call, Inner, Language};

/// A program, or a subcommand of one.
pub(super) struct Row {
    /// Blanks between them.
    pub(super) names: &'static str,
    pub(super) options: &'static str,
    /// Words of its own between the options and the command.
    pub(super) operands: usize,
    traits: u32,
    pub(super) then: Then,
}

/// What the words after the options are.
#[derive(Clone, Copy)]
pub(super) enum Then {
    /// A command.
    Command,
    /// A text for a shell, once they are joined by blanks.
    Text,
    /// A text for a shell if it is one word, a command if they are more.
    Either,
    /// A text for a shell, each of them.
    Texts,
    /// Nothing that runs; only options do.
    Options,
    /// The first of them names one of these rows.
    Sub(&'static [Row]),
    /// A program in this language, or a file that holds one.
    Inline(Language),
    /// Code knows.
    Code(fn(Call<'_>) -> Vec<Inner>),
}

/// `NAME=VALUE` may stand before the command.
pub(super) const ASSIGN: u32 = 1;
/// Runs on another machine, in a container or under another root.
pub(super) const ELSEWHERE: u32 = 1 << 1;
/// Runs as another user.
pub(super) const USER: u32 = 1 << 2;
/// With an environment that is emptied first.
pub(super) const CLEAR: u32 = 1 << 3;
/// In the shell that runs now.
pub(super) const SAME: u32 = 1 << 4;
/// In the place of the shell that runs now.
pub(super) const REPLACES: u32 = 1 << 5;
/// Perhaps not, or often.
pub(super) const PERHAPS: u32 = 1 << 6;
/// With a standard input of its own.
pub(super) const OWN: u32 = 1 << 7;
/// The same, unless an option means `input`.
pub(super) const INPUT: u32 = 1 << 8;
/// In a directory that the words do not tell.
pub(super) const AWAY: u32 = 1 << 9;
/// Without a command it is a shell that reads its input.
pub(super) const SHELL: u32 = 1 << 10;
/// Options may follow operands.
pub(super) const PERMUTE: u32 = 1 << 11;
/// Long options have one dash.
pub(super) const LONG_ONLY: u32 = 1 << 12;
/// The first word of the command is a package: `rimraf@5`.
pub(super) const PACKAGE: u32 = 1 << 13;
/// The operands before the command are numbers, and may be left out.
pub(super) const DIGITS: u32 = 1 << 14;
/// A single dash empties the environment.
pub(super) const DASH: u32 = 1 << 15;

impl Row {
    pub(super) fn has(&self, wanted: u32) -> bool {
        self.traits & wanted != 0
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.names.split(' ').any(|listed| listed == name)
    }

    /// Whether this is a start of one of its names.
    pub(super) fn starts(&self, name: &str) -> bool {
        self.names.split(' ').any(|listed| listed.starts_with(name))
    }
}

/// The row of a program. A version at the end of the name does not count: `python3.11`, `ksh93`.
pub(super) fn find(program: &str) -> Option<&'static Row> {
    let program = program.strip_suffix(".exe").unwrap_or(program);
    // Every command is asked for, and the table is long.
    static INDEX: OnceLock<FxHashMap<&'static str, &'static Row>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let names = PROGRAMS.iter().rev().flat_map(|row| row.names.split(' ').map(move |name| (name, row)));
        names.collect()
    });
    let listed = |name: &str| index.get(name).copied();
    listed(program).or_else(|| {
        let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        listed(bare).filter(|row| bare != program && matches!(row.then, Then::Inline(_) | Then::Code(_)))
    })
}

pub(super) const fn row(names: &'static str, options: &'static str, operands: usize, traits: u32, then: Then) -> Row {
    Row { names, options, operands, traits, then }
}

use Language::{Awk, Node, Perl, Php, Python, Ruby, Sed};
use Then::{Code, Command, Either, Inline, Options, Sub, Text, Texts};

const LONG_HELP: &str = "help! version!";

/// What `docker` and its kin take before the subcommand.
const DOCKER: &str = "config= c,context= H,host= l,log-level= tlscacert= tlscert= tlskey= root= runroot= url= connection= identity= n,namespace= a,address= v,version!";
const DOCKER_EXEC: &str =
    "detach-keys= e,env=:set env-file= u,user= w,workdir=:cwd i,interactive:input d,detach t,tty privileged help!";
const DOCKER_RUN: &str = "add-host= annotation= a,attach= blkio-weight= blkio-weight-device= cap-add= cap-drop= cgroup-parent= cgroupns= cidfile= cpu-count= cpu-percent= cpu-period= cpu-quota= cpu-rt-period= cpu-rt-runtime= c,cpu-shares= cpus= cpuset-cpus= cpuset-mems= detach-keys= device= device-cgroup-rule= device-read-bps= device-read-iops= device-write-bps= device-write-iops= dns= dns-option= dns-search= domainname= entrypoint=:entry e,env=:set env-file= expose= gpus= group-add= health-cmd= health-interval= health-retries= health-start-interval= health-start-period= health-timeout= h,hostname= i,interactive:input io-maxbandwidth= io-maxiops= ip= ip6= ipc= isolation= kernel-memory= l,label= label-file= link= link-local-ip= log-driver= log-opt= mac-address= m,memory= memory-reservation= memory-swap= memory-swappiness= mount= name= net= network= network-alias= oom-score-adj= pid= pids-limit= platform= pod= p,publish= pull= restart= runtime= secret= security-opt= shm-size= stop-signal= stop-timeout= storage-opt= sysctl= tmpfs= tz= ulimit= umask= u,user= userns= uts= v,volume= volume-driver= volumes-from= w,workdir=:cwd help!";
const COMPOSE: &str =
    "f,file= p,project-name= profile= project-directory= env-file= ansi= progress= parallel= help! v,version!";
const KUBECTL: &str = "as= as-group= as-uid= cache-dir= certificate-authority= client-certificate= client-key= cluster= context= kubeconfig= n,namespace= password= profile= profile-output= request-timeout= s,server= tls-server-name= token= user= username= v= vmodule= log-flush-frequency= c,container= f,filename= pod-running-timeout= i,stdin:input t,tty q,quiet h,help! image= overrides= labels= l= limits= requests= port= restart= env= e= o,output= replicas= serviceaccount= image-pull-policy= target= copy-to= command";

#[rustfmt::skip]
const DOCKER_COMMANDS: &[Row] = &[
    row("exec", DOCKER_EXEC, 1, ELSEWHERE | INPUT | AWAY, Command),
    row("run", DOCKER_RUN, 1, ELSEWHERE | INPUT | AWAY, Code(run_image)),
    row("create", DOCKER_RUN, 1, ELSEWHERE | INPUT | AWAY | PERHAPS, Code(run_image)),
    row("container", "help!", 0, 0, Sub(&[
        row("exec", DOCKER_EXEC, 1, ELSEWHERE | INPUT | AWAY, Command),
        row("run create", DOCKER_RUN, 1, ELSEWHERE | INPUT | AWAY, Code(run_image)),
    ])),
    row("compose", COMPOSE, 0, 0, Sub(COMPOSE_COMMANDS)),
    row("unshare", "rootless-netns h,help!", 0, 0, Command),
];

#[rustfmt::skip]
const COMPOSE_COMMANDS: &[Row] = &[
    row("exec", "d,detach e,env=:set index= T,no-TTY,no-tty privileged u,user= w,workdir=:cwd help!", 1, ELSEWHERE | AWAY, Command),
    row("run", "build cap-add= cap-drop= d,detach entrypoint=:entry e,env=:set env-from-file= i,interactive l,label= name= T,no-TTY,no-tty no-deps p,publish= pull= q,quiet quiet-pull remove-orphans rm service-ports P use-aliases u,user= v,volume= w,workdir=:cwd help!", 1, ELSEWHERE | AWAY, Code(run_image)),
];

const NPM: &str = "p,package= c,call=:text y,yes n,no q,quiet w,workspace= workspaces prefix= C= userconfig= globalconfig= registry= cache= loglevel= node-options= script-shell= shell= h,help! v,version!";
const UV_RUN: &str = "extra= no-extra= group= no-group= only-group= env-file= with= with-editable= with-requirements= package= m,module=! s,script! gui-script! index= default-index= i,index-url= extra-index-url= f,find-links= P,upgrade-package= reinstall-package= index-strategy= keyring-provider= resolution= prerelease= fork-strategy= exclude-newer= link-mode= C,config-setting= config-settings-package= no-build-isolation-package= no-build-package= no-binary-package= refresh-package= cache-dir= p,python= python-platform= color= allow-insecure-host= directory=:cwd project= config-file= from= c,constraints= b,build-constraints= overrides= w= h,help! V,version!";

/// `npm exec`, `npx`: options may stand anywhere before the command.
#[rustfmt::skip]
const NPM_COMMANDS: &[Row] = &[
    row("exec x", NPM, 0, PACKAGE, Command),
    row("explore", "shell=", 1, AWAY, Text),
];
#[rustfmt::skip]
const PNPM_COMMANDS: &[Row] = &[
    row("dlx", "package= c,shell-mode:joined C,dir=:cwd reporter= allow-build= s,silent help!", 0, PACKAGE, Command),
    row("exec", "r,recursive parallel c,shell-mode:joined C,dir=:cwd filter= F= reporter= workspace-concurrency= resume-from= help!", 0, 0, Command),
];
#[rustfmt::skip]
const YARN_COMMANDS: &[Row] = &[
    row("exec", LONG_HELP, 0, 0, Command),
    row("dlx", "p,package= q,quiet", 0, PACKAGE, Command),
    row("node", NODE, 0, LONG_ONLY, Inline(Node)),
    row("workspace workspaces", "", 0, AWAY, Code(in_workspaces)),
];

const TMUX_NEW: &str = "c=:cwd e=:set f= F= l= n= p= s= t= x= y=";

/// tmux's own commands, of which a start is enough.
#[rustfmt::skip]
pub(super) const TMUX: &[Row] = &[
    row("new-session new", TMUX_NEW, 0, PERHAPS | OWN, Either),
    row("new-window neww", TMUX_NEW, 0, PERHAPS | OWN, Either),
    row("split-window splitw", TMUX_NEW, 0, PERHAPS | OWN, Either),
    row("respawn-pane respawnp respawn-window respawnw", TMUX_NEW, 0, PERHAPS | OWN, Either),
    row("display-popup popup", "b= c= d=:cwd e=:set h= s= S= t= T= w= x= y=", 0, PERHAPS | OWN, Either),
    row("run-shell run", "C:tmux c=:cwd d= t=", 0, PERHAPS | OWN, Text),
    row("pipe-pane pipep", "t=", 0, PERHAPS | OWN | AWAY, Text),
    row("if-shell if", "F:format t=", 0, PERHAPS | OWN, Text),
    row("send-keys send", "H:unseen l:literal X! N= t= c=", 0, PERHAPS | OWN | AWAY, Text),
    row("bind-key bind", "N= T=", 1, PERHAPS, Text),
    row("set-hook", "t=", 1, PERHAPS, Text),
    row("set-option set set-window-option setw", "t=", 0, PERHAPS | OWN | AWAY, Text),
    row("confirm-before confirm command-prompt", "p= t= c= I= T=", 0, PERHAPS, Text),
    row("detach-client detach", "E=:text s= t=", 0, PERHAPS | OWN, Options),
];

const RUNNER: &str = "h,help!";
const NSENTER: &str = "a,all:mount t,target=:target m,mount?:mount u,uts? i,ipc? n,net? p,pid? C,cgroup? U,user?:user T,time? S,setuid=:user G,setgid= preserve-credentials r,root?:mount w,wd?:cwd W,wdns?:cwd e,env F,no-fork Z,follow-context h,help! V,version!";
const UNSHARE: &str = "i,ipc? m,mount? n,net? p,pid? u,uts? U,user? C,cgroup? T,time? f,fork keep-caps kill-child? mount-proc? map-user= map-users= map-group= map-groups= map-auto r,map-root-user c,map-current-user propagation= setgroups= R,root=:elsewhere w,wd=:cwd S,setuid=:user G,setgid= monotonic= boottime= h,help! V,version!";
const SYSTEMD_RUN: &str = "no-ask-password scope:scope u,unit= p,property=:property description= slice= slice-inherit r,remain-after-exit send-sighup service-type= uid=:user gid= nice= working-directory=:cwd d,same-dir:same E,setenv=:set t,pty P,pipe:input S,shell:shell q,quiet on-active=:maybe on-boot=:maybe on-startup=:maybe on-unit-active=:maybe on-unit-inactive=:maybe on-calendar=:maybe on-clock-change:maybe on-timezone-change:maybe path-property=:maybe socket-property=:maybe timer-property=:maybe no-block wait G,collect user system H,host=:elsewhere M,machine=:elsewhere h,help! version!";
const STRACE: &str = "e= E,env=:setunset p,attach= u,user=:user b,detach-on= D,daemonize? f,follow-forks I,interruptible= trace= signal= status= P,trace-path= a,columns= abbrev= verbose= raw= read= write= quiet? silent? decode-fds? decode-pids? kvm= o,output= s,string-limit= X,const-print-style= O,summary-syscall-overhead= S,summary-sort-by= U,summary-columns= inject= fault= h,help! V,version!";
const SSH: &str =
    "B= b= c= D= E= e= F= I= i= J= L= l= m= O=! o=:config p=:port Q=! R= S= W=! w= P= V! G! N:none n:own f:own s:none";
const SUDO: &str = "A,askpass B,bell b,background C,close-from= D,chdir=:cwd E,preserve-env?:keep e,edit! g,group= H,set-home h,host= help! i,login:shell K,remove-timestamp k,reset-timestamp l,list! N,no-update n,non-interactive P,preserve-groups p,prompt= R,chroot=:elsewhere r,role= s,shell:shell S,stdin T,command-timeout= t,type= U,other-user= u,user=:user V,version! v,validate!";
const SU: &str = "c,command=:text session-command=:text f,fast g,group= G,supp-group= l,login:login m,p,preserve-environment P,pty s,shell=:shell w,whitelist-environment= h,help! V,version!";
const PARALLEL: &str = "0,null a,arg-file=:file arg-file-sep= arg-sep= bar basefile= bf= basenamereplace= bnr= basenameextensionreplace= bner= bin= bg block,block-size= block-timeout= bt= cat cleanup color colsep= C= compress compress-program= decompress-program= csv ctag ctagstring= delay= d,delimiter= dirnamereplace= dnr= dry-run! E= eof? e? embed env= eta fg fifo filter= gnu group group-by= help! h! halt,halt-on-error= header= I=:replace replace?:replace i?:replace joblog= jl= j,jobs= P,max-procs= k,keep-order L=:count l? max-lines? limit= line-buffer lb link:linked xapply:linked load= M,controlmaster m:all memfree= memsuspend= minversion! n,max-args=:count N,max-replace-args=:count nonall onall open-tty o output-as-files files pipe:pipe spreadstdin:pipe pipe-part:pipe plain plus process-slot-var= progress number-of-cores! nice= interactive p parens= profile= J= q,quote:argv r,no-run-if-empty recstart= recend= record-env! regexp results= res= resume retries= return= rpl= rsync-opts= s,max-chars= semaphore semaphore-name= id= semaphore-timeout= st= seqreplace= session shard= shebang shuf sql= sqlmaster= sqlandworker= sqlworker= ssh= ssh-delay= S,sshlogin=:elsewhere slf,sshloginfile=:elsewhere slotreplace= silent tmpl,template= tty tag tagstring= tee term-seq= total-jobs= tmpdir= tmux tmuxpane timeout= t,verbose transfer transferfile= tf= trc= trim= u,ungroup er,extensionreplace= v V,version! wd,workdir=:cwd wait X:all x xargs:all";

/// Interpreters' options. `code` is a program, `file` a file that holds one.
const PYTHON: &str = "c=:code. m=! W= X= h,help! V,version! help-all! help-env! help-xoptions! check-hash-based-pycs=";
const NODE: &str = "e,eval=:code p,print~:code pe=:code r,require= import=:module loader=:module experimental-loader=:module C,conditions= env-file= input-type= title= icu-data-dir= openssl-config= redirect-warnings= trace-event-categories= stack-trace-limit= c,check! h,help! v,version! v8-options! test! run=!";
const PERL: &str = "0# C? D? d e=:code E=:code F? i? I= l# m?:module M?:module V?! v! h! x? T t";
const RUBY: &str = "e=:code r,require=:module I= C=:cwd E= F? i? 0# K? x? W? T? encoding= external-encoding= internal-encoding= enable= disable= backtrace-limit= c! h,help! version!";
const PHP: &str = "r,run=:code B,process-begin=:code R,process-code=:code E,process-end=:code F,process-file=:file f,file=:file d,define= c,php-ini= z,zend-extension= S,server=! t,docroot= i,info! l,syntax-check! m,modules! v,version! h,help! s,syntax-highlight! w,strip! rf=! rc=! re=! rz=! ri=!";
const AWK: &str = "f,file=:file E,exec=:file. F,field-separator= v,assign= e,source=:code i,include= l,load= m= W= D? o? p? L? d? help! h! version! V! C! characters-as-bytes dump-variables? debug? profile? pretty-print? lint?";
const SED: &str = "e,expression=:code f,file=:file E,r,regexp-extended n,quiet,silent i,in-place? l,line-length= s,separate u,unbuffered z,null-data posix debug sandbox! follow-symlinks help! version!";

#[rustfmt::skip]
pub(super) const PROGRAMS: &[Row] = &[
    // As somebody else.
    row("sudo", SUDO, 0, ASSIGN | USER | CLEAR, Command),
    row("doas", "C=! L! n s:shell u=:user", 0, USER | CLEAR, Command),
    row("su", SU, 0, USER | PERMUTE, Code(su)),
    row("runuser", "u,user=:run c,command=:text session-command=:text f,fast g,group= G,supp-group= l,login:login m,p,preserve-environment P,pty s,shell=:shell w,whitelist-environment= h,help! V,version!", 0, USER | PERMUTE, Code(su)),
    row("pkexec", "user= disable-internal-agent keep-cwd:same help! version!", 0, USER | CLEAR | AWAY | SHELL, Command),
    row("run0", "no-ask-password unit= property= description= slice= slice-inherit u,user=:away g,group= nice= D,chdir=:cwd setenv=:set background= machine=:elsewhere pty pipe shell-prompt-prefix= via-shell h,help! V,version!", 0, USER | CLEAR | SHELL, Command),
    row("gosu su-exec setuidgid", LONG_HELP, 1, USER, Command),
    row("sg", "c,command=:text", 1, PERMUTE, Text),
    row("setpriv", "clear-groups d,dump! groups= inh-caps= ambient-caps= bounding-set= keep-groups init-groups list-caps! no-new-privs rgid= egid= regid= ruid= euid= reuid= securebits= pdeathsig= ptracer= selinux-label= apparmor-profile= landlock-access= landlock-rule= seccomp-filter= reset-env:clear h,help! V,version!", 0, 0, Command),
    row("runcon", "c,compute t,type= u,user= r,role= l,range= help! version!", 1, 0, Command),

    // With other settings.
    row("env genv", "i,ignore-environment:clear 0,null u,unset=:unset C,chdir=:cwd S,split-string=:split. P= a,argv0= block-signal? default-signal? ignore-signal? list-signal-handling v,debug help! version!", 0, ASSIGN | DASH, Code(env)),
    row("cross-env env-cmd", "f,file= e,environments= help! version!", 0, ASSIGN, Command),
    row("cross-env-shell", "help! version!", 0, ASSIGN, Text),
    row("nice", "n,adjustment= help! version!", 0, 0, Command),
    row("ionice", "c,class= n,classdata= p,pid=! P,pgid=! u,uid=! t,ignore h,help! V,version!", 0, 0, Command),
    row("nohup eatmydata catchsegv chronic ifne run-one run-this-one noglob nocorrect memusage heaptrack fakechroot", LONG_HELP, 0, 0, Command),
    row("timeout gtimeout", "preserve-status foreground k,kill-after= s,signal= v,verbose help! version!", 1, 0, Command),
    row("stdbuf gstdbuf", "i,input= o,output= e,error= help! version!", 0, 0, Command),
    row("ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-linux-armhf.so.3 ld-musl-x86_64.so.1 ld-musl-aarch64.so.1", "library-path= preload= audit= argv0= inhibit-cache list! verify! help! version!", 0, LONG_ONLY, Command),
    row("setsid", "c,ctty f,fork w,wait V,version! h,help!", 0, 0, Command),
    row("time gtime", "o,output= f,format= a,append p,portability v,verbose q,quiet V,version! help!", 0, 0, Command),
    row("chrt", "T,sched-runtime= P,sched-period= D,sched-deadline= p,pid! m,max! o,other f,fifo r,rr b,batch i,idle d,deadline R,reset-on-fork a,all-tasks v,verbose h,help! V,version!", 1, DIGITS, Command),
    row("taskset", "a,all-tasks p,pid! c,cpu-list h,help! V,version!", 1, 0, Command),
    row("numactl", "a,all i,interleave= p,preferred= P,preferred-many= m,membind= C,physcpubind= N,cpunodebind= w,weighted-interleave= l,localalloc b,balancing s,show! H,hardware! huge offset= L,length= S,shm= f,file= shmmode= I,shmid= t,strict T,touch D,dump! dump-nodes! h,help!", 0, 0, Command),
    row("prlimit", "o,output= p,pid=! noheadings raw verbose c,core? d,data? e,nice? f,fsize? i,sigpending? l,memlock? m,rss? n,nofile? q,msgqueue? r,rtprio? s,stack? t,cpu? u,nproc? v,as? x,locks? y,rttime? h,help! V,version!", 0, 0, Command),
    row("setarch linux32 linux64 i386 i486 i586 i686 x86_64 aarch64 armv7l ppc ppc32 ppc64 s390 s390x", "B,32bit 3,3gb 4gb a b F fdpic-funcptrs I,short-inode L,addr-compat-layout R,addr-no-randomize S,whole-seconds T,sticky-timeouts X,read-implies-exec Z,mmap-page-zero uname-2.6 v,verbose list! show! h,help! V,version!", 0, 0, Command),
    row("arch", "arm64 arm64e x86_64 x86_64h i386 ppc 32 64 c d= e= h,help!", 0, LONG_ONLY, Command),
    row("sandbox-exec", "f= n= p= D= t=", 0, 0, Command),
    row("cpulimit", "l,limit= p,pid=! P,path=! e,exe=! b,background c,cpu= f,foreground i,include-children k,kill m,monitor-forks q,quiet r,restore s,signal= v,verbose z,lazy h,help!", 0, 0, Command),
    row("cgexec", "g= sticky b h,help!", 0, 0, Command),
    row("caffeinate", "d i m s u t= w=!", 0, 0, Command),
    row("softlimit", "a= c= d= f= l= m= o= p= r= s= t=", 0, 0, Command),
    row("chpst", "u=:user U= b= e= /=:elsewhere C=:cwd n= l= L= m= d= o= p= f= c= t= v P 0 1 2", 0, 0, Command),
    row("envdir setlock logsave lckdo", "a s n N x X", 1, 0, Command),
    row("tini dumb-init catatonit", "s g v vv vvv w p= e= r,rewrite= c,single-child h,help! version!", 0, 0, Command),
    row("systemd-inhibit", "what= who= why= mode= list! no-pager h,help! version!", 0, 0, Command),
    row("systemd-cat", "t,identifier= p,priority= stderr-priority= level-prefix= namespace= h,help! version!", 0, 0, Command),
    row("unbuffer", "p", 0, 0, Command),
    row("shx", "", 0, 0, Command),
    row("trickle", "s d= u= w= t= l= n= p= v h! V!", 0, 0, Command),
    row("pee", "no-ignore-sigpipe no-ignore-write-errors", 0, PERHAPS, Texts),
    row("capsh", "", 0, 0, Code(capsh)),
    row("coreutils", "coreutils-prog=:program coreutils-prog-shebang=:program help! version!", 0, 0, Code(coreutils)),
    row("asciinema", "", 0, 0, Sub(&[row("rec record", "c,command=:text t,title= e,env= i,idle-time-limit= cols= rows= stdin append raw overwrite y,yes q,quiet h,help!", 0, PERMUTE | OWN, Options)])),
    row("zellij", "s,session= l,layout= c,config=", 0, 0, Sub(&[row("run r", "d,direction= n,name= cwd=:cwd c f i s", 0, OWN, Code(after_dashes))])),
    row("ts", "f n m d g L= N= D= W= r t= c= p= k= l! C! K! S=", 0, PERHAPS, Command),
    row("wl-paste", "w,watch:rest t,type= p,primary n,no-newline s,seat= l,list-types! h,help! v,version!", 0, PERHAPS, Code(given)),
    row("complete", "C=:also F= W= A= G= P= S= X= o=", 0, PERHAPS | PERMUTE, Options),
    row("rlwrap", "a,always-readline? A,ansi-colour-aware? b,break-chars= C,command-name= D,history-no-dupes= e,extra-char-after-completion= f,file= g,forget-matching= H,history-filename= l,logfile= m,multi-line? M,multi-line-ext= O,only-cook= p,prompt-colour? P,pre-given= q,quote-characters= s,histsize= S,substitute-prompt= t,set-term-name= w,wait-before-prompt= z,filter= h,help! v,version!", 0, 0, Command),
    row("faketime", "m f p= exclude-monotonic date-prog= help! version!", 1, 0, Command),
    row("dbus-run-session", "config-file= dbus-daemon= help! version!", 0, 0, Command),
    row("xvfb-run", "a,auto-servernum e,error-file= f,auth-file= h,help! l,listen-tcp n,server-num= p,xauth-protocol= s,server-args= w,wait=", 0, 0, Command),
    row("fakeroot fakeroot-ng", "l,lib= faked= s= i= u,unknown-is-real b= h,help! v,version!", 0, SHELL, Command),
    row("torsocks torify", "shell:shell u,user= p,pass= a,address= P,port= i,isolate d,debug q,quiet h,help! version!", 0, 0, Command),
    row("proxychains proxychains4 tsocks", "f= q", 0, 0, Command),
    row("sshpass", "f= d= p= P= e v h! V!", 0, 0, Command),
    row("ssh-agent", "a= c s d D E= k! P= t=", 0, 0, Command),
    row("ip", "b,batch= n,netns= f,family= N,rc,rcvbuf= l,loops= V! a,all", 0, LONG_ONLY, Sub(&[
        row("netns netn net", "", 0, 0, Sub(&[row("exec exe ex e", "", 1, 0, Command)])),
        row("vrf", "", 0, 0, Sub(&[row("exec exe ex e", "", 1, 0, Command)])),
    ])),

    // The shell's own.
    row("command", "p v! V!", 0, SAME, Command),
    row("builtin", "", 0, SAME, Command),
    row("exec", "a= c:clear l", 0, REPLACES, Command),
    row("eval", "", 0, SAME, Code(eval)),
    // What only zsh has.
    row("repeat", "", 1, SAME | PERHAPS, Command),
    row("-", "", 0, 0, Command),
    row("emulate", "L R l c=:text o=", 0, SAME | PERMUTE, Options),
    row("zpty", "b e d! L! t! r! w n", 1, PERHAPS | OWN, Text),
    row("sched", "", 1, PERHAPS | OWN, Text),
    row("zargs", "", 0, PERHAPS, Code(zargs)),
    row("trap", "l! p! P!", 0, SAME | PERHAPS, Code(trap)),
    row(". source", "p=", 0, SAME, Code(source)),

    // Shells.
    row("sh bash dash zsh ksh mksh ash rbash yash posh lksh oksh pdksh rksh rzsh csh tcsh", "", 0, 0, Code(shell)),
    row("fish", "c,command=:code C,init-command=:also i,interactive l,login N,no-config n,no-execute! p,profile= profile-startup= P,private d,debug= debug-output= o,debug-output= D,debug-stack-frames= f,features= print-rusage-self print-debug-categories! v,version! h,help!", 0, 0, Code(fish)),
    row("pwsh pwsh-preview powershell", "", 0, 0, Code(powershell)),
    row("cmd", "", 0, 0, Code(cmd)),
    row("nu elvish xonsh oil osh ysh", "c,commands=:foreign e,execute=:foreign h,help! v,version!", 0, LONG_ONLY, Code(foreign)),
    row("busybox toybox", "help! list! list-full! install! long!", 0, 0, Command),

    // For each of many.
    row("xargs gxargs", "0,null:null a,arg-file=:file d,delimiter=:delimiter E=:eof e,eof?:eof I=:replace i,replace?:replace L=:lines l,max-lines?:lines n,max-args=:count P,max-procs= o,open-tty p,interactive:ask r,no-run-if-empty:nonempty process-slot-var= s,max-chars=:limit show-limits t,verbose x,exit help! version! J=:bsd R=:bsd S=:bsd", 0, PERHAPS | OWN, Code(xargs)),
    row("parallel env_parallel", PARALLEL, 0, PERHAPS, Code(parallel)),
    row("sem", PARALLEL, 0, 0, Text),
    row("find gfind", "", 0, PERHAPS, Code(find_tool)),
    row("fd fdfind", "max-results= d,max-depth= min-depth= exact-depth= t,type= e,extension= E,exclude= ignore-file= c,color= j,threads= S,size= changed-within= changed-before= newer= older= o,owner= base-directory=:cwd C=:cwd path-separator= search-path= batch-size= and= format= x,exec:rest X,exec-batch:rest h,help! V,version!", 0, PERHAPS | PERMUTE, Code(fd)),
    row("entr", "a c d n p r s:script z x", 0, PERHAPS | OWN, Code(entr)),
    row("watch", "d,differences? n,interval= p,precise t,no-title b,beep e,errexit f,follow g,chgexit q,equexit= s,shotsdir= c,color C,no-color r,no-rerun x,exec:argv w,no-wrap h,help! v,version!", 0, PERHAPS, Text),
    row("watchexec", "w,watch= W,watch-non-recursive= F,watch-file= e,exts= f,filter= filter-file= j,filter-prog= i,ignore= ignore-file= c,clear? d,debounce= o,on-busy-update= s,signal= stop-signal= stop-timeout= delay-run= poll? shell= n:argv N,notify E,env=:set emit-events-to= wrap-process= workdir=:cwd project-origin= fs-events= map-signal= socket= h,help! V,version!", 0, PERHAPS | OWN, Text),
    row("nodemon", "e,ext= x,exec=:text w,watch= i,ignore= d,delay= s,signal= config= cwd=:cwd h,help! v,version!", 0, PERHAPS | PERMUTE, Options),
    row("onchange", "a,add i,initial d,delay= e,exclude= k,kill f,filter= j,jobs= o,outpipe=:also", 0, PERHAPS | PERMUTE, Code(after_dashes)),
    row("chokidar", "c,command=:text d,debounce= t,throttle= i,ignore= p,polling help! version!", 0, PERHAPS | PERMUTE, Options),
    row("concurrently", "n,names= c,prefix-colors= p,prefix= s,success= max-processes= m= restart-tries= restart-after= k,kill-others name-separator= l,prefix-length= t,timestamp-format= i,handle-input h,help! v,version!", 0, PERMUTE, Texts),
    row("hyperfine", "w,warmup= m,min-runs= M,max-runs= r,runs= s,setup=:also p,prepare=:also conclude=:also c,cleanup=:also reference=:also P,parameter-scan=== D,parameter-step-size= L,parameter-list== style= S,shell= N i,ignore-failure u,time-unit= export-asciidoc= export-csv= export-json= export-markdown= export-orgmode= show-output output= input= n,command-name= h,help! V,version!", 0, PERMUTE | PERHAPS, Texts),
    row("flock", "s,shared x,e,exclusive u,unlock n,nb,nonblock,nonblocking:maybe w,wait,timeout=:maybe E,conflict-exit-code= o,close F,no-fork fcntl verbose h,help! V,version!", 1, 0, Code(flock)),

    // Watched from outside.
    row("strace", STRACE, 0, 0, Command),
    row("ltrace", "a,align= A= D,debug= e= F,config= l,library= n,indent= o,output= p= s= u=:user w,where= x= b c C f i L r S t T h,help! V,version!", 0, 0, Command),
    row("valgrind", "h,help! version!", 0, 0, Command),
    row("perf", LONG_HELP, 0, 0, Sub(&[
        row("stat record trace", "e,event= i o,output= p,pid= t,tid= C,cpu= r,repeat= F,freq= c,count= g call-graph= d,detailed a,all-cpus x,field-separator= I,interval-print= D,delay= G,cgroup= pre=:also post=:also help!", 0, 0, Command),
    ])),
    row("rr", "", 0, 0, Sub(&[row("record", "n h o= e=", 0, 0, Command)])),
    row("gdbserver", "once multi attach! help! version!", 1, PERHAPS, Command),
    row("gdb", "ex,eval-command=:code iex,init-eval-command=:code ix,init-command= x,command= args:rest cd,d=:cwd s,symbols= e,exec= se= c,core= p,pid= b= l= tty= i,interpreter= h,help! v,version!", 0, LONG_ONLY | PERMUTE | PERHAPS, Code(gdb)),
    row("script", "a,append c,command=:text E,echo= e,return f,flush force B,log-io= I,log-in= O,log-out= T,log-timing= m,logging-format= o,output-limit= q,quiet t,timing? h,help! V,version!", 1, PERMUTE | SHELL, Command),

    // Another terminal, another time.
    row("screen", "c= e= f? h= l? L Logfile= p= s= S= t= T= wipe! ls! list! r:attach R:attach x:attach d D m X:send. Q! v! 4 6", 0, LONG_ONLY | PERHAPS | OWN, Code(screen)),
    row("tmux", "c=:text f= L= S= T= V! 2 C D l N q u U v", 0, PERHAPS | OWN, Code(tmux)),
    row("at", "V! q= m M u= f=:script t= l! r! d! b v c! o=", 0, PERHAPS | PERMUTE, Code(at)),
    row("batch", "V! q= m M u= f=:script t= v", 0, PERHAPS | PERMUTE, Code(at)),
    row("crontab", "u= l! r! e! i s c= n= T! V!", 0, PERMUTE, Code(crontab)),
    row("systemd-run", SYSTEMD_RUN, 0, INPUT | CLEAR | AWAY, Code(systemd_run)),
    row("start-stop-daemon", "x,exec=:program a,startas=:program n,name= p,pidfile= u,user= c,chuid= g,group= d,chdir=:cwd r,chroot=:elsewhere s,signal= R,retry= N,nicelevel= P,procsched= I,iosched= k,umask= O,output= S,start K,stop! T,status! H,help! V,version! b,background m,make-pidfile C,no-close o,oknodo q,quiet t,test! v,verbose notify-await notify-timeout= remove-pidfile", 0, PERHAPS, Code(start_stop_daemon)),

    // Another root, container or machine.
    row("chroot", "groups= userspec=:user skip-chdir:stay help! version!", 1, ELSEWHERE | SHELL, Code(chroot)),
    row("unshare", UNSHARE, 0, SHELL, Command),
    row("nsenter", NSENTER, 0, SHELL, Code(nsenter)),
    row("bwrap", "args= argv0= level-prefix= userns= userns2= pidns= uid= gid= hostname= chdir=:cwd setenv==:pair unsetenv=:unset clearenv:clear lock-file= sync-fd= perms= size= bind==:bind bind-try==:bind dev-bind==:bind dev-bind-try==:bind ro-bind==:bind ro-bind-try==:bind bind-fd== ro-bind-fd== remount-ro= overlay-src= overlay=== tmp-overlay= ro-overlay= proc= dev= tmpfs= mqueue= dir= file== bind-data== ro-bind-data== symlink== chmod== seccomp= add-seccomp-fd= exec-label= file-label= block-fd= userns-block-fd= info-fd= json-status-fd= cap-add= cap-drop= help! version!", 0, 0, Code(bubblewrap)),
    row("firejail", "c chroot=:elsewhere help! version! list! tree! top!", 0, SHELL, Code(firejail)),
    row("schroot", "c,chroot= u,user= p,preserve-environment s,shell= d,directory=:cwd b,begin-session! e,end-session! r,run-session l,list! h,help! V,version!", 0, ELSEWHERE | AWAY | SHELL, Command),
    row("systemd-nspawn", "D,directory= i,image= template= u,user= M,machine= uuid= slice= property= bind= bind-ro= tmpfs= E,setenv=:set network-interface= network-bridge= p,port= capability= a,as-pid2 b,boot x,ephemeral q,quiet t,oci-bundle= chdir=:cwd private-users? h,help! version!", 0, ELSEWHERE | AWAY | SHELL, Command),
    row("proot", "r,rootfs=:elsewhere R=:elsewhere S=:elsewhere b,bind= m= q,qemu= w,pwd,cwd=:cwd k= v= 0 i= h,help! V,version!", 0, SHELL, Command),
    row("flatpak-spawn", "host clear-env:clear env=:set unset-env=:unset directory=:cwd forward-fd= watch-bus latest-version no-network sandbox share-pids help! version!", 0, 0, Command),
    row("distrobox toolbox", LONG_HELP, 0, 0, Sub(&[
        row("enter run", "n,name= c,container= r,release= d,distro= e a,additional-flags= H,no-workdir T,no-tty h,help!", 0, 0, Code(after_dashes)),
    ])),
    row("docker podman nerdctl", DOCKER, 0, 0, Sub(DOCKER_COMMANDS)),
    row("docker-compose podman-compose", COMPOSE, 0, 0, Sub(COMPOSE_COMMANDS)),
    row("kubectl oc k3s kubecolor microk8s", KUBECTL, 0, 0, Sub(&[
        row("kubectl", KUBECTL, 0, 0, Sub(&[row("exec", KUBECTL, 1, ELSEWHERE | AWAY | INPUT | PERMUTE, Code(kubectl))])),
        row("exec rsh", KUBECTL, 1, ELSEWHERE | AWAY | INPUT | PERMUTE, Code(kubectl)),
        row("run debug", KUBECTL, 0, ELSEWHERE | AWAY | INPUT | PERMUTE, Code(after_dashes)),
    ])),
    row("lxc incus", "project= force-local debug verbose q,quiet help! version!", 0, 0, Sub(&[
        row("exec", "cwd=:cwd env=:set user= group= mode= t,force-interactive T n,disable-stdin:own help!", 1, ELSEWHERE | AWAY, Command),
    ])),
    row("lxc-attach", "n,name= f,rcfile= e? s? R u= g= v,set-var=:set keep-var= clear-env:clear P= o= l=", 0, ELSEWHERE | AWAY | SHELL, Command),
    row("lxc-execute", "n,name= f,rcfile= s= u= g= P= o= l= d,daemon", 0, ELSEWHERE | AWAY, Command),
    row("machinectl", "uid= E,setenv=:set H,host= M,machine=", 0, ELSEWHERE | AWAY, Sub(&[row("shell", "uid= E,setenv=:set", 1, SHELL, Command)])),
    row("multipass", LONG_HELP, 0, 0, Sub(&[row("exec", "d,working-directory=:cwd n,no-map-working-directory help!", 1, ELSEWHERE | AWAY, Command)])),
    row("vagrant", "machine-readable color no-color debug v,version! h,help!", 0, 0, Sub(&[row("ssh", "c,command=:text p,plain t,tty no-tty h,help!", 0, ELSEWHERE | AWAY | PERMUTE, Options)])),
    row("gcloud", "", 0, 0, Sub(&[row("compute", "", 0, 0, Sub(&[row("ssh", "command=:text zone= project= ssh-key-file= ssh-flag= container=", 0, ELSEWHERE | AWAY | PERMUTE, Options)]))])),
    row("ssh slogin rsh autossh", SSH, 1, ELSEWHERE | AWAY, Code(ssh)),
    row("mosh", "client= server= ssh=:also p,port= a n 4 6 family= predict= local bind-server= help! version!", 1, ELSEWHERE | AWAY | OWN, Command),
    row("pdsh", "w= x= l= t= u= f= R= N S g= X=", 0, ELSEWHERE | AWAY | OWN, Text),
    row("sftp", "o=:config S=:prog D=:also c= F= i= J= l= P= B= b= R= X= s=", 0, PERMUTE, Code(copy)),
    row("scp", "o=:config S=:prog c= F= i= J= l= P= D= B= b= R= X= s=", 0, PERMUTE, Code(copy)),
    row("rsync", "e,rsh=:also rsync-path= f,filter= exclude= include= exclude-from= include-from= files-from= B,block-size= M,remote-option= T,temp-dir= password-file= log-file= suffix= backup-dir= port= h help! V,version!", 0, PERMUTE, Options),
    row("nc ncat netcat", "e,exec=:prog c,sh-exec=:also lua-exec=:unseen", 0, PERMUTE | OWN, Code(netcat)),
    row("socat", "", 0, OWN | PERHAPS, Code(socat)),

    // Tools that keep programs, variables or secrets for others.
    row("npx", NPM, 0, PACKAGE, Command),
    row("npm", NPM, 0, 0, Sub(NPM_COMMANDS)),
    row("bunx pnpx", "bun silent package= p= h,help! v,version!", 0, PACKAGE, Command),
    row("pnpm", "C,dir=:cwd r,recursive filter= F= reporter= loglevel= w,workspace-root h,help! v,version!", 0, 0, Sub(PNPM_COMMANDS)),
    row("yarn yarnpkg", "cwd=:cwd s,silent use-yarnrc= help! version!", 0, 0, Sub(YARN_COMMANDS)),
    row("corepack", "", 0, 0, Sub(&[row("pnpm", "C,dir=:cwd", 0, 0, Sub(PNPM_COMMANDS)), row("yarn", "", 0, 0, Sub(YARN_COMMANDS)), row("npm", NPM, 0, 0, Sub(NPM_COMMANDS)), row("npx", NPM, 0, PACKAGE, Command)])),
    row("uvx", UV_RUN, 0, PACKAGE, Command),
    row("uv", UV_RUN, 0, 0, Sub(&[
        row("run", UV_RUN, 0, 0, Code(uv_run)),
        row("tool", UV_RUN, 0, 0, Sub(&[row("run", UV_RUN, 0, PACKAGE, Command)])),
    ])),
    row("pipx", "q,quiet v,verbose version! h,help!", 0, 0, Sub(&[row("run", "spec= python= pip-args= i,index-url= with= no-cache path v,verbose q,quiet h,help!", 0, PACKAGE, Command)])),
    row("opam", "switch= root= y,yes q,quiet h,help! version!", 0, 0, Sub(&[row("exec", "switch= root= set-root set-switch", 0, 0, Command)])),
    row("stack", "stack-yaml= resolver= silent h,help!", 0, 0, Sub(&[row("exec", "package= rts-options= no-ghc-package-path", 0, 0, Command)])),
    row("pixi", "q,quiet v,verbose h,help! V,version!", 0, 0, Sub(&[row("run", "e,environment= manifest-path= frozen locked x,executable", 0, 0, Command)])),
    row("poetry", "C,directory=:cwd P,project= q,quiet n,no-interaction h,help! V,version!", 0, 0, Sub(&[row("run", RUNNER, 0, 0, Command)])),
    row("pdm rye", "c,config= q,quiet h,help! V,version!", 0, 0, Sub(&[row("run", "p,project= s,site-packages l,list! h,help!", 0, 0, Command)])),
    row("hatch", "e,env= p,project= q,quiet v,verbose h,help! version!", 0, 0, Sub(&[row("run", RUNNER, 0, 0, Command)])),
    row("pipenv", "python= h,help! version!", 0, 0, Sub(&[row("run", RUNNER, 0, 0, Command)])),
    row("conda mamba micromamba", "r,root-prefix= h,help! V,version!", 0, 0, Sub(&[row("run", "n,name= p,prefix= cwd=:cwd no-capture-output live-stream s a= e,env=:set v,verbose dev debug-wrapper-scripts h,help!", 0, 0, Command)])),
    row("volta", "quiet verbose h,help! v,version!", 0, 0, Sub(&[row("run", "node= npm= yarn= pnpm= env= bundled-npm no-npm no-yarn no-pnpm", 0, 0, Command)])),
    row("fnm", "", 0, 0, Sub(&[row("exec", "using= fnm-dir= node-dist-mirror= log-level= arch=", 0, 0, Command)])),
    row("nvm", "", 0, 0, Sub(&[row("exec", "silent", 1, 0, Command)])),
    row("cabal", "", 0, 0, Sub(&[row("exec", "v,verbose?", 0, 0, Command)])),
    row("composer", "", 0, 0, Sub(&[row("exec", "l,list! d,working-dir=:cwd", 0, 0, Command)])),
    row("tox", "c= q v", 0, 0, Sub(&[row("exec e", "e=", 0, PERMUTE, Code(after_dashes))])),
    row("direnv", LONG_HELP, 0, 0, Sub(&[row("exec", "", 1, 0, Command)])),
    row("mise rtx", "C,cd=:cwd E,env= j,jobs= q,quiet h,help! V,version!", 0, 0, Sub(&[row("exec x", "c,command=:text C,cd=:cwd E,env= j,jobs= raw h,help!", 0, PERMUTE, Code(after_dashes))])),
    row("asdf", LONG_HELP, 0, 0, Sub(&[row("exec", "", 0, 0, Command)])),
    row("nix", "extra-experimental-features= experimental-features= L v h,help! version! option==", 0, 0, Sub(&[
        row("run", "", 0, PERMUTE, Code(nix_run)),
        row("develop shell", "c,command:rest i,ignore-environment:clear k,keep= u,unset= f,file= expr= I= arg== argstr== override-input== profile= phase= redirect== extra-experimental-features= experimental-features= option==", 0, PERMUTE, Code(given)),
    ])),
    row("nix-shell", "run=:text command=:text p,packages E,expr= A,attr= I= arg== argstr== option== pure:clear i= keep=", 0, PERMUTE, Options),
    row("bundle bundler", "no-color V,verbose help! version!", 0, 0, Sub(&[row("exec exe e", "keep-file-descriptors gemfile=", 0, 0, Command)])),
    row("rbenv pyenv nodenv jenv goenv phpenv plenv", LONG_HELP, 0, 0, Sub(&[row("exec", "", 0, 0, Command)])),
    row("rustup", LONG_HELP, 0, 0, Sub(&[row("run", "install", 1, 0, Command)])),
    row("cargo", "C=:cwd Z= config=:setting color= manifest-path= q,quiet v,verbose h,help! V,version!", 0, 0, Sub(&[row("watch", "x,exec= s,shell=:text w,watch= i,ignore= C,workdir=:cwd d,delay= E,env=:set B= why q,quiet c,clear h,help!", 0, PERHAPS, Command)])),
    row("go", "C=:cwd", 0, LONG_ONLY, Sub(&[row("build test run vet install generate list get fix tool clean", "exec=:also toolexec=:also vettool=:prog o= p= asmflags= gcflags= ldflags= tags= mod= modfile= overlay= pkgdir= C=:cwd", 0, LONG_ONLY, Options)])),
    row("dotenv dotenvx", "f,file= e= p= v= q,quote= c= export= h,help! version!", 0, 0, Code(dotenv)),
    row("doppler", "token= p,project= c,config= configuration= scope= silent h,help! v,version!", 0, 0, Sub(&[row("run", "command=:text token= p,project= c,config= fallback= passphrase= mount= mount-template= only-secrets= preserve-env? h,help!", 0, 0, Command)])),
    row("op", "account= cache config= session= h,help! v,version!", 0, 0, Sub(&[row("run", "env-file= environment= no-masking h,help!", 0, 0, Command)])),
    row("aws-vault", "backend= debug keychain= pass-dir= help! version!", 0, 0, Sub(&[row("exec", "d,duration= n,no-session region= t,mfa-token= s,server j,json ec2-server ecs-server lazy stdout prompt= help!", 1, 0, Command)])),
    row("chamber", "b,backend= r,retries= v,verbose h,help!", 0, 0, Sub(&[row("exec", "pristine:clear strict strict-value= h,help!", 0, PERMUTE, Code(after_dashes))])),
    row("infisical teller", "h,help!", 0, 0, Sub(&[row("run", "command=:text env= token= path= tags= projectId= c,config= s,shell h,help!", 0, 0, Command)])),
    row("sops", "h,help! v,version!", 0, 0, Sub(&[row("exec-env exec-file", "user= pristine:clear background no-fifo filename=", 1, 0, Text)])),
    row("foreman honcho", "f,procfile= d,root=:cwd e,env= h,help!", 0, 0, Sub(&[row("run", "e,env= f,procfile=", 0, 0, Command)])),
    row("lerna nx", LONG_HELP, 0, 0, Sub(&[row("exec", "scope= ignore= concurrency= stream parallel no-bail help!", 0, PERHAPS | AWAY, Command)])),
    row("bun", "cwd=:cwd e,eval=:code p,print=:code r,preload= config= c= env-file= filter= h,help! v,version!", 0, 0, Code(bun)),
    row("git", "c=:config config-env=:variable exec-path?:programs C=:folder git-dir= work-tree= namespace= super-prefix= attr-source= list-cmds=! p,paginate P,no-pager h,help! v,version! html-path! man-path! info-path!", 0, 0, Code(git)),
    row("cmake", "", 0, 0, Code(cmake)),
    row("make gmake bmake", "C,directory=:folder f,file,makefile=:file E,eval=:unseen I,include-dir= j,jobs? l,load-average? max-load? o,old-file,assume-old= W,what-if,new-file,assume-new= O,output-sync? n,just-print,dry-run,recon v,version! h,help!", 0, PERMUTE, Code(make)),

    // Programs that run one with their options.
    row("tar gtar bsdtar", "to-command=:also I,use-compress-program=:also checkpoint-action=:checkpoint F,info-script,new-volume-script=:also rsh-command=:also rmt-command=:also f,file= C,directory= T,files-from= X,exclude-from= b,blocking-factor= g,listed-incremental= K,starting-file= L,tape-length= N,newer= H,format= V,label= exclude= transform= xform= owner= group= mode= mtime= sort= checkpoint? occurrence? warning= suffix= strip-components= one-top-level? total? totals? backup? volno-file= record-size= level= owner-map= group-map= pax-option= hole-detection= help! version!", 0, PERMUTE, Code(tar)),
    row("zip", "T,test TT,unzip-command=:also b= t= tt= n= P= i= x=", 0, PERMUTE | LONG_ONLY, Code(zip)),
    row("sort gsort", "compress-program=:prog o,output= k,key= t,field-separator= S,buffer-size= T,temporary-directory= batch-size= parallel= files0-from= random-source= sort= help! version!", 0, PERMUTE, Options),
    row("split gsplit", "filter=:also a,suffix-length= additional-suffix= b,bytes= C,line-bytes= d,numeric-suffixes? x,hex-suffixes? e l,lines= n,number= t,separator= u verbose help! version!", 0, PERMUTE, Options),
    row("man", "P,pager=:also H,html? C,config-file= R,recode= L,locale= m,systems= M,manpath= S,s,sections= e,extension= p,preprocessor= r,prompt= E,encoding= T? X? help! V,version!", 0, PERMUTE, Options),
    row("wget", "use-askpass=:prog O,output-document= P,directory-prefix= o,output-file= a,append-output= i,input-file= U,user-agent= e,execute= header= post-data= post-file= help! V,version!", 0, PERMUTE, Options),
    row("rg ripgrep", "pre=:prog hostname-bin=:prog", 0, PERMUTE, Options),
    row("ugrep ug", "filter=:also view=:also pager=:also", 0, PERMUTE, Options),
    row("bat batcat delta ag ack", "pager=:also", 0, PERMUTE, Options),
    row("latexmk", "latex=:also pdflatex=:also xelatex=:also lualatex=:also", 0, PERMUTE | LONG_ONLY, Code(latexmk)),
    row("yt-dlp youtube-dl", "exec=:also exec-before-download=:also o,output= P,paths= f,format=", 0, PERMUTE, Options),
    row("rpm rpmbuild", "E,eval=:macro", 0, PERMUTE, Options),
    row("rename prename file-rename", "e=:code E=:code v n f d i,interactive h,help! V,version!", 0, 0, Code(rename)),
    row("apt apt-get aptitude", "o,option=:apt c,config-file= t,target-release= a,host-architecture= h,help! v,version!", 0, PERMUTE, Code(apt)),
    row("vim nvim vi ex view gvim rvim vimdiff rview mvim", "", 0, PERHAPS, Code(vim)),
    row("emacs emacsclient", "eval,execute=:code-elsewhere e=:code-elsewhere l,load=:unseen script=:unseen f,funcall= batch help! version!", 0, PERMUTE | LONG_ONLY, Options),

    // Other languages.
    row("python pythonw pypy python-dbg", PYTHON, 0, 0, Inline(Python)),
    row("node nodejs tsx ts-node electron", NODE, 0, LONG_ONLY, Inline(Node)),
    row("deno", LONG_HELP, 0, 0, Sub(&[
        row("eval", "ext= p,print T,ts c,config= import-map= env-file? cert= lock= v8-flags= L,log-level= q,quiet h,help!", 0, 0, Code(operand)),
        row("run", "c,config= import-map= h,help! ext= L,log-level=", 0, 0, Inline(Node)),
        row("repl", "eval=:code", 0, 0, Inline(Node)),
        row("task", "eval=:text c,config= cwd=:cwd q,quiet h,help!", 0, 0, Options),
    ])),
    row("perl", PERL, 0, 0, Inline(Perl)),
    row("ruby jruby", RUBY, 0, 0, Inline(Ruby)),
    row("php php-cli", PHP, 0, 0, Inline(Php)),
    row("awk gawk mawk nawk original-awk", AWK, 0, 0, Inline(Awk)),
    row("sed gsed", SED, 0, PERMUTE, Inline(Sed)),
    row("lua luajit Rscript R julia osascript expect tclsh elixir erl groovy scala guile racket raku swift", "e,eval,E=:code-elsewhere c=:code-elsewhere p,print=:code-elsewhere", 0, LONG_ONLY, Options),
];
