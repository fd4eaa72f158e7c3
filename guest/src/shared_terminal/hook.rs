//! The shell's hook: a function that the shell calls before each prompt, which says that a command has ended, and how.
//!
//! It counts prompts. The count and the exit code go to variables of the tmux session, and then a signal goes to two
//! channels, one for the agent's command and one for whoever looks at what the user does. Each has a name of its own for
//! each prompt: two signals to a channel that nobody waits for cancel each other in tmux 3.3. All of it is one call of
//! tmux, which a person does not feel between two prompts.

use super::quote::quoted;

/// The pane for sharing that was used last.
pub(crate) const PANE: &str = "PI_MIRROR_PANE";

/// How many channels a pane has in turn for each use: tmux forgets none that was signalled and not waited for.
const CHANNELS: u64 = 100;

/// A shell whose prompts can be counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shell {
    /// bash
    #[default]
    Bash,
    /// zsh
    Zsh,
}

impl Shell {
    /// The shell of this name, as tmux says it.
    pub(crate) fn named(program: &str) -> Option<Shell> {
        match program.trim_start_matches('-') {
            "bash" => Some(Shell::Bash),
            "zsh" => Some(Shell::Zsh),
            _ => None,
        }
    }
}

/// The number of a pane, from its id.
pub(crate) fn number(pane: &str) -> &str {
    pane.trim_start_matches('%')
}

/// The variable with the pane that the agent in this pane shares.
pub(crate) fn pane_of(agent: &str) -> String {
    format!("{PANE}_{}", number(agent))
}

/// The variable with the exit codes of a pane.
pub(crate) fn codes_of(pane: &str) -> String {
    format!("PI_LAST_RC_{}", number(pane))
}

/// The variable with the name and version of a pane's shell.
pub(crate) fn shell_of(pane: &str) -> String {
    format!("PI_MIRROR_SHELL_{}", number(pane))
}

/// The channel that wakes whoever waits for the agent's command.
pub(crate) fn agent_channel(pane: &str, sequence: u64) -> String {
    format!("pi-agent-{}-{}", number(pane), sequence % CHANNELS)
}

/// The channel that wakes whoever looks at what the user does.
pub(crate) fn user_channel(pane: &str, sequence: u64) -> String {
    format!("pi-user-{}-{}", number(pane), sequence % CHANNELS)
}

/// The line that makes the shell in a pane call the hook, starting after this count. It can be typed again. The session
/// is named by its id, as the pane may be moved to another.
///
/// Beside that it switches off what would make the words of the agent's commands mean something else than what is
/// judged, and what would wait for a key: history expansion, pagers; in zsh comments are made comments, and the mark after
/// output without a line break is left out. At each prompt the terminal is set to show what is typed, and to take C-c for
/// what it is: a command may have changed that.
pub(crate) fn line(shell: Shell, pane: &str, session: &str, sequence: u64) -> String {
    let (number, session) = (number(pane), quoted(session));
    let (agent, user) = (format!("pi-agent-{number}-"), format!("pi-user-{number}-"));
    let set = format!("command tmux set-environment -t {session}");
    let options = match shell {
        Shell::Bash => "set +H; bind 'set enable-bracketed-paste on' 2>/dev/null",
        Shell::Zsh => {
            "setopt interactivecomments nobanghist; PROMPT_EOL_MARK=; typeset -ga precmd_functions preexec_functions"
        }
    };
    // Whether a command was entered: the shell draws a prompt after C-c, too.
    let runs = match shell {
        Shell::Bash => {
            "__pi_x=x; case \"${PS0-}\" in *__pi_ran*) ;; *) PS0=\"${PS0-}\"'${__pi_x:$((__pi_ran=1)):0}' ;; esac"
        }
        Shell::Zsh => {
            "__pi_run() { __pi_ran=1; }; case \" $preexec_functions \" in *' __pi_run '*) ;; *) preexec_functions+=(__pi_run) ;; esac"
        }
    };
    let version = match shell {
        Shell::Bash => "bash $BASH_VERSION",
        Shell::Zsh => "zsh $ZSH_VERSION",
    };
    // The code is taken before anything else runs, and the signal comes after what takes its time.
    let around = match shell {
        Shell::Bash => {
            "case \"${PROMPT_COMMAND-}\" in *__pi_prompt*) ;; \
             *) PROMPT_COMMAND=__pi_status$'\\n'\"${PROMPT_COMMAND-:}\"$'\\n'__pi_prompt ;; esac"
        }
        Shell::Zsh => {
            "case \" $precmd_functions \" in *' __pi_prompt '*) ;; \
             *) precmd_functions=(__pi_status $precmd_functions __pi_prompt) ;; esac"
        }
    };
    // The blank in front keeps it out of histories that leave such lines out.
    format!(
        " export PAGER=cat GIT_PAGER=cat MANPAGER=cat SYSTEMD_PAGER=cat; {options}; {set} PI_MIRROR_SHELL_{number} \"{version}\"; \
         __pi_seq={sequence}; __pi_codes=; __pi_rc=0; __pi_ran=0; __pi_status() {{ __pi_rc=$?; return $__pi_rc; }}; \
         __pi_prompt() {{ __pi_seq=$((__pi_seq+1)); __pi_codes=\"$__pi_seq $__pi_rc $__pi_ran ${{__pi_codes:0:90}}\"; __pi_ran=0; \
         command stty echo icanon isig 2>/dev/null; printf '{RESET}'; \
         {set} PI_LAST_RC_{number} \"$__pi_codes\" \\; set-environment -t {session} PI_LAST_RC \"$__pi_seq $__pi_rc\" \\; \
         wait-for -S {agent}$((__pi_seq%{CHANNELS})) \\; wait-for -S {user}$((__pi_seq%{CHANNELS})) 2>/dev/null || :; \
         return $__pi_rc; }}; {runs}; {around}"
    )
}

/// What a command may have left switched on in the terminal: colours, invisible text, another character set, no wrapping,
/// insertion, a hidden cursor.
const RESET: &str = r"\033[m\033(B\017\033[?7h\033[4l\033[?25h";

/// How many exit codes are read: the last one in the variable may be cut off.
const CODES: usize = 5;

/// Exit codes by prompt, the newest first, and whether they are those of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Codes(Vec<(u64, i32, bool)>);

impl Codes {
    /// Reads the variable: number, exit code, whether a command was entered, and so on. What is no number ends it: the
    /// hook cuts the list off anywhere.
    pub(crate) fn read(text: &str) -> Self {
        let mut words = text.split(' ');
        let entries = std::iter::from_fn(|| {
            Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()? == "1"))
        });
        let mut codes: Vec<(u64, i32, bool)> = Vec::new();
        for entry in entries.take(CODES) {
            // A shell that took the place of another has counted anew.
            if codes.last().is_some_and(|(last, ..): &(u64, i32, bool)| entry.0 + 1 != *last) {
                break;
            }
            codes.push(entry);
        }
        Codes(codes)
    }

    /// The number of the last prompt.
    pub(crate) fn last(&self) -> Option<u64> {
        self.0.first().map(|(sequence, ..)| *sequence)
    }

    /// Whether a command was entered before a prompt.
    pub(crate) fn ran(&self, sequence: u64) -> bool {
        self.0.iter().any(|(known, _, ran)| *known == sequence && *ran)
    }

    /// The exit code before a prompt.
    pub(crate) fn of(&self, sequence: u64) -> Option<i32> {
        self.0.iter().find(|(known, ..)| *known == sequence).map(|(_, code, _)| *code)
    }
}

/// Whether a shell of this name and version takes bracketed pastes once it is told to.
pub(crate) fn pastes(shell: &str) -> bool {
    let mut parts = shell.split([' ', '.']);
    let name = parts.next();
    let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok()).unwrap_or_default();
    let version = (number(), number());
    match name {
        Some("bash") => version >= (4, 4),
        Some("zsh") => version >= (5, 1),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_rules::call;
    use toolgate_rules::{Guard, NoHost};

    #[test]
    fn codes_are_read_as_far_as_they_are_whole() {
        let cases: &[(&str, Option<u64>, u64, Option<i32>)] = &[
            ("", None, 1, None),
            ("nonsense", None, 1, None),
            ("7 0", None, 7, None),
            ("7 0 1", Some(7), 7, Some(0)),
            ("9 127 1 8 130 0 7 1 1", Some(9), 7, Some(1)),
            ("10 0 1 9 1 1", Some(10), 9, Some(1)),
            ("12 0 1 11 3 1 1", Some(12), 1, None),
            ("12 0 1 11 3 1 1 0 1", Some(12), 1, None),
            ("9 0 1 8 0 1 7 0 1 6 0 1 5 0 1 4 12 1", Some(9), 4, None),
            ("7 0 1", Some(7), 6, None),
        ];
        for (text, last, asked, code) in cases {
            let codes = Codes::read(text);
            assert_eq!((codes.last(), codes.of(*asked)), (*last, *code), "{text:?}");
        }
    }

    #[test]
    fn the_gate_has_nothing_against_the_hook() {
        for shell in [Shell::Bash, Shell::Zsh] {
            let command = call::Field { name: "command".into(), value: line(shell, "%5", "$0", 3) };
            let call = call::Call {
                kind: call::ToolKind::Shell,
                command: Some(command),
                cwd: "/home/user/project".into(),
                home: Some("/home/user".into()),
                workspace: "/home/user/project".into(),
                ..call::Call::default()
            };
            let verdict = Guard::new().judge(&call, &mut NoHost);
            assert_eq!(verdict.action(), None, "{shell:?}");
        }
    }

    #[test]
    fn old_shells_take_no_pastes() {
        let cases = [
            ("bash 5.2.15(1)-release", true),
            ("bash 3.2.57", false),
            ("zsh 5.9", true),
            ("fish 3.6", false),
            ("", false),
        ];
        for (shell, expected) in cases {
            assert_eq!(pastes(shell), expected, "{shell}");
        }
    }
}
