//! bash and zsh, and prompts like those that people have.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// A shell that the terminal knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// GNU bash.
    Bash,
    /// Z shell.
    Zsh,
}

/// Both.
pub const SHELLS: [Shell; 2] = [Shell::Bash, Shell::Zsh];

impl Shell {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Zsh => "zsh",
        }
    }

    /// The program.
    pub fn path(self) -> &'static str {
        let places = match self {
            Shell::Bash => ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"],
            Shell::Zsh => ["/bin/zsh", "/usr/bin/zsh", "/usr/local/bin/zsh"],
        };
        places.into_iter().find(|place| Path::new(place).exists()).unwrap_or(places[0])
    }
}

/// How a prompt is made, and how it is known that all of it is there.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    /// A name for it.
    pub name: &'static str,
    /// Lines of `.bashrc`.
    bash: &'static str,
    /// Lines of `.zshrc`.
    zsh: &'static str,
    /// What stands left of the cursor at its end, in bash and in zsh.
    end: [&'static str; 2],
    /// What stands at the end of the line with the cursor, in bash and in zsh.
    right: [&'static str; 2],
}

/// The prompts. Where one shows a branch, `main` is that of `~/project`.
pub const PROMPTS: &[Prompt] = &[
    Prompt { name: "plain", bash: r"PS1='\$ '", zsh: "PROMPT='%# '", end: ["", ""], right: ["", ""] },
    Prompt {
        name: "two-line",
        bash: r"PS1='dev@box \w\n\$ '",
        zsh: r"PROMPT=$'dev@box %~\n❯ '",
        end: ["", "❯ "],
        right: ["", ""],
    },
    Prompt {
        name: "coloured",
        bash: r"PS1='\[\e[1;32m\]dev@box\[\e[0m\]:\[\e[34m\]\w\[\e[0m\]\$ '",
        zsh: "PROMPT='%B%F{green}dev@box%f%b:%F{blue}%~%f%# '",
        end: ["", ""],
        right: ["", ""],
    },
    Prompt {
        name: "right",
        bash: r#"PS1='\[$(printf "%*s" "$COLUMNS" "\t")\r\]dev \$ '"#,
        zsh: "PROMPT='dev %# ' RPROMPT='%F{8}[%*]%f'",
        end: ["", ""],
        right: [":", "]"],
    },
    Prompt {
        name: "blank-line", bash: r"PS1='\n\w \$ '", zsh: r"PROMPT=$'\n%~ ❯ '", end: ["", "❯ "], right: ["", ""]
    },
    Prompt {
        name: "no-symbol",
        bash: r"PS1='\W ready '",
        zsh: "PROMPT='%1~ ready '",
        end: ["ready ", "ready "],
        right: ["", ""],
    },
    Prompt {
        name: "exit-code",
        bash: r"PS1='[$?] \w\$ '",
        zsh: "PROMPT='%(?..[%?] )%~%# '",
        end: ["", ""],
        right: ["", ""],
    },
    Prompt {
        name: "branch",
        bash: concat!(
            "branch() { local head; read -r head <.git/HEAD && printf ' (%s)' \"${head##*/}\"; } 2>/dev/null\n",
            r"PS1='\w\[\e[33m\]$(branch)\[\e[0m\] \$ '",
        ),
        zsh: concat!(
            "branch() { local head; read -r head <.git/HEAD && printf ' (%s)' \"${head##*/}\"; } 2>/dev/null\n",
            "setopt prompt_subst; PROMPT='%~%F{yellow}$(branch)%f %# '",
        ),
        end: ["", ""],
        right: ["", ""],
    },
    Prompt {
        name: "frame",
        bash: r"PS1='╭─dev@box \w [$?]\n╰─➤ '",
        zsh: r"PROMPT=$'╭─dev@box %~\n╰─➤ ' RPROMPT='%(?.%F{green}✔.%F{red}%? ✘)%f %*'",
        end: ["╰─➤ ", "╰─➤ "],
        right: ["", ":"],
    },
];

impl Prompt {
    /// The prompt of this name.
    pub fn named(name: &str) -> Option<&'static Prompt> {
        PROMPTS.iter().find(|prompt| prompt.name == name)
    }

    /// Whether all of it is there, by what is left of the cursor and by the whole line.
    pub fn is_drawn(&self, shell: Shell, before_cursor: &str, line: &str) -> bool {
        let of = |pair: [&'static str; 2]| if shell == Shell::Bash { pair[0] } else { pair[1] };
        let ends = match of(self.end) {
            // A user's or root's.
            "" => ["$ ", "% ", "# "].iter().any(|end| before_cursor.ends_with(end)),
            end => before_cursor.ends_with(end),
        };
        let right = line.strip_prefix(before_cursor).unwrap_or(line);
        ends && right.contains(of(self.right))
    }

    /// Writes the files of a home folder whose shells have this prompt, and then do what `more` says. `project` in it
    /// has a branch.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn lay_out(&self, home: &Path, more: [&str; 2]) -> io::Result<()> {
        fs::create_dir_all(home.join("project/.git"))?;
        fs::write(home.join("project/.git/HEAD"), "ref: refs/heads/main\n")?;
        // tmux starts login shells, which read no `.bashrc`.
        fs::write(home.join(".bash_profile"), ". ~/.bashrc\n")?;
        fs::write(home.join(".bashrc"), format!("HISTFILE=\n{}\n{}\n", self.bash, more[0]))?;
        fs::write(home.join(".zshrc"), format!("{}\n{}\n", self.zsh, more[1]))
    }
}

/// Which of the programs is not installed, if one is not.
pub fn missing<'a>(programs: &[&'a str]) -> Option<&'a str> {
    let runs = |program: &str| {
        let flag = if program == "tmux" { "-V" } else { "--version" };
        Command::new(program).arg(flag).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    programs.iter().copied().find(|program| !runs(program))
}
