//! Every limit on a component, in one table.
//!
//! All of them are above what the default guest needs and below what would be felt on the machine: a verdict on a
//! command of 150 KB, far longer than people and models write, takes less than a quarter of the time to compute.

use std::time::Duration;

use crate::session::Role;

/// How often the clock behind compute deadlines ticks, and so how exact they are.
pub const TICK: Duration = Duration::from_millis(10);

/// What a component may use.
///
/// They are made of one of the tables here, with other values by the methods that begin with `with_`:
///
/// ```
/// use std::time::Duration;
/// use toolgate_host::limits::Limits;
///
/// const SMALL: Limits = Limits::DEFAULT.with_memory(64 << 20).with_compute(Duration::from_millis(200));
/// assert_eq!(SMALL.call, Limits::DEFAULT.call);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Time a hook may compute: that in which the process has a processor, and at least half of what passes. Time in
    /// host calls does not count.
    pub compute: Duration,
    /// Time a call may take in all: waiting for its turn, starting the component if need be, and its host calls.
    /// Below the ten seconds that agents give a hook.
    pub call: Duration,
    /// Bytes of all memories of an instance together. Python and JavaScript guests need tens of megabytes.
    pub memory: usize,
    /// Elements of all tables together.
    pub table_elements: usize,
    /// Bytes of text and lists that may cross from the component at a time: in a host call, or in a hook's answer.
    pub lifted: usize,
    /// Host calls in one hook.
    pub host_calls: u32,
    /// Instances, memories and tables of one component.
    pub instances: usize,
    /// Longest text that is judged: the command, paths and patterns of a call together. The kernel gives a command
    /// 2 MiB at most (`ARG_MAX`).
    pub input: usize,
}

impl Limits {
    /// The limits that are in force unless an embedder sets others.
    pub const DEFAULT: Limits = Limits {
        compute: Duration::from_secs(1),
        call: Duration::from_secs(5),
        memory: 256 << 20,
        table_elements: 100_000,
        lifted: 4 << 20,
        host_calls: 1_000,
        instances: 64,
        input: 3 << 20,
    };

    /// Those of an observer, for which nobody waits: time for requests to the check daemon.
    pub const OBSERVER: Limits = Limits { call: Duration::from_secs(120), ..Limits::DEFAULT };

    /// Those of the shared terminal: a command may run for an hour, with a look at it every few seconds, and what it wrote
    /// is read each time.
    pub const TERMINAL: Limits = Limits {
        compute: Duration::from_secs(30),
        call: Duration::from_secs(3_600 + 60),
        host_calls: 20_000,
        ..Limits::DEFAULT
    };

    /// Those of an analysis: whole scripts are put to it, and its answer has every command of a text with all its variables, so
    /// that it is far longer than the text. A call of which plugins are told waits for it, and has less time of its own.
    pub const ANALYSIS: Limits =
        Limits { compute: Duration::from_secs(10), call: Duration::from_secs(30), lifted: 64 << 20, ..Limits::DEFAULT };

    /// Those of an extension: a gate waits for each of its answers, of which it may need many for one call.
    pub const EXTENSION: Limits = Limits {
        compute: Duration::from_millis(500),
        call: Duration::from_secs(1),
        lifted: 256 << 10,
        host_calls: 100,
        ..Limits::DEFAULT
    };

    /// The same with this time to compute.
    #[must_use]
    pub const fn with_compute(mut self, compute: Duration) -> Self {
        self.compute = compute;
        self
    }

    /// The same with this time for a call in all.
    #[must_use]
    pub const fn with_call(mut self, call: Duration) -> Self {
        self.call = call;
        self
    }

    /// The same with this much memory, in bytes.
    #[must_use]
    pub const fn with_memory(mut self, memory: usize) -> Self {
        self.memory = memory;
        self
    }

    /// The same with this many elements of tables.
    #[must_use]
    pub const fn with_table_elements(mut self, elements: usize) -> Self {
        self.table_elements = elements;
        self
    }

    /// The same with this much data that crosses at a time, in bytes.
    #[must_use]
    pub const fn with_lifted(mut self, lifted: usize) -> Self {
        self.lifted = lifted;
        self
    }

    /// The same with this many host calls in one hook.
    #[must_use]
    pub const fn with_host_calls(mut self, calls: u32) -> Self {
        self.host_calls = calls;
        self
    }

    /// The same with this many instances, memories and tables of one component.
    #[must_use]
    pub const fn with_instances(mut self, instances: usize) -> Self {
        self.instances = instances;
        self
    }

    /// The same with texts of this length that are judged, in bytes.
    #[must_use]
    pub const fn with_input(mut self, input: usize) -> Self {
        self.input = input;
        self
    }

    /// Those of a role.
    pub fn of(role: Role) -> Limits {
        match role {
            Role::Gate => Limits::DEFAULT,
            Role::Observer => Limits::OBSERVER,
            Role::Terminal => Limits::TERMINAL,
            Role::Analysis => Limits::ANALYSIS,
            Role::Extension => Limits::EXTENSION,
        }
    }
}

/// Time that a hook may compute of an instance of which a snapshot is taken. An agent may wait for the process to end, and tens of
/// thousands of rules, which take longer, are read anew each time.
pub const SNAPSHOT_COMPUTE_TIMEOUT: Duration = Duration::from_millis(250);

/// Largest component that is loaded, in bytes. JavaScript guests carry an engine of eight megabytes.
pub const COMPONENT: u64 = 256 << 20;

/// Longest state that an instance hands over to the next, in bytes.
pub const HANDOVER: usize = 1 << 20;

/// What a plugin says to a person or to the model. All of it is above what the default guest says.
pub mod said {
    /// Bytes of a reason or a question, of an item of evidence, of a diagnostic or a message to the person.
    pub const SENTENCE: usize = 4 << 10;
    /// Bytes of a rule's name and of a status line.
    pub const NAME: usize = 512;
    /// Findings of a verdict. The default guest has one for each rule that fired, whatever the length of the call.
    pub const FINDINGS: usize = 512;
    /// Items of evidence of a finding.
    pub const EVIDENCE: usize = 4_096;
    /// Bytes that are added to a result or sent into the conversation. The default guest reports up to 64 KiB.
    pub const ADDITION: usize = 80 << 10;
    /// Diagnostics of a start.
    pub const DIAGNOSTICS: usize = 1_024;
    /// Tools of a component.
    pub const TOOLS: usize = 64;
    /// Bytes of the schema of a tool's input.
    pub const SCHEMA: usize = 32 << 10;
    /// Messages to the log in one hook. What is more is counted.
    pub const LOG_LINES: u32 = 100;
}

/// Stack of WebAssembly code, in bytes. The parser in the default guest recurses; tests put the deepest input that
/// it accepts to it.
pub const WASM_STACK: usize = 1 << 20;

/// Stack that host functions share with the component's, in bytes.
pub const ASYNC_STACK: usize = 2 << 20;

/// Deadlines of the capabilities, by what they wait for.
pub mod deadline {
    use std::time::Duration;

    /// The local file system. A hung network mount must not hold a verdict.
    pub const FILES: Duration = Duration::from_secs(2);
    /// What is asked of git, by up to three processes.
    pub const GIT: Duration = Duration::from_secs(5);
    /// What is asked of git about one file, by up to six: a gate's hook has five seconds, and some for the rest.
    pub const GIT_FILE: Duration = Duration::from_secs(2);
    /// A request to the check daemon: the daemon's own limit.
    pub const DAEMON: Duration = Duration::from_secs(60);
    /// A tmux command, other than waiting for a signal.
    pub const TERMINAL: Duration = Duration::from_secs(5);
    /// The audit log and the permissions, a turn among several writers included.
    pub const LOG: Duration = Duration::from_secs(3);
    /// The trackers and predicates of other components, all calls of one hook together: a gate's hook has five seconds.
    pub const OTHERS: Duration = Duration::from_secs(2);
    /// Everything that only hands something over.
    pub const LOCAL: Duration = Duration::from_secs(2);
}

/// Largest configuration file, in bytes.
pub const CONFIG_FILE: u64 = 1 << 20;

/// Longest script that is read to be judged, in bytes.
pub const SCRIPT_FILE: u64 = 256 << 10;

/// Most paths in one request.
pub const PATHS: usize = 4_096;

/// Longest log message that is kept, in bytes.
pub const LOG_MESSAGE: usize = 4_096;

/// What a component may write to its standard output and error, in bytes, as long as an instance of it lives.
pub const WASI_OUTPUT: usize = 64 << 10;

/// Random bytes that are given at a time.
pub const WASI_RANDOM: u64 = 64 << 10;

/// Streams and the like that a component has of WASI at a time.
pub const WASI_RESOURCES: usize = 1_000;
