//! What kubectl's options say of the cluster and the namespace.
//!
//! Where the words could be read in two ways nothing is said: whoever writes the command picks the words.

/// What an option says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Given<'a> {
    /// It is not there.
    #[default]
    Nothing,
    /// This, for certain.
    Is(&'a str),
    /// It may be there, with whatever value.
    Unknown,
}

/// The options and the other words of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options<'a> {
    /// `--context`.
    pub(crate) context: Given<'a>,
    /// `--namespace`.
    pub(crate) namespace: Given<'a>,
    /// Another configuration or server: what a context of this name is there is not known.
    pub(crate) redirected: bool,
    /// `--all-namespaces`.
    pub(crate) everywhere: bool,
    /// `--all`.
    pub(crate) all: bool,
    /// What it works on is in a file, or is asked from the server.
    pub(crate) unseen: bool,
    /// Whether every word is known, and how it is read.
    pub(crate) clear: bool,
    /// What is no option.
    pub(crate) words: Vec<&'a str>,
}

/// Options without a value of their own.
const SWITCHES: &[&str] = &[
    "--all",
    "--all-namespaces",
    "--cascade",
    "--dry-run",
    "--force",
    "--ignore-not-found",
    "--interactive",
    "--now",
    "--recursive",
    "--rm",
    "--stdin",
    "--tty",
    "--wait",
    "-A",
    "-R",
    "-i",
    "-it",
    "-t",
];

/// Options whose value may be the next word.
const VALUED: &[&str] = &[
    "--context",
    "--kube-context",
    "--namespace",
    "-n",
    "--kubeconfig",
    "--cluster",
    "--server",
    "-s",
    "--kube-apiserver",
    "--user",
    "--token",
    "--as",
    "--output",
    "-o",
    "--filename",
    "-f",
    "--kustomize",
    "-k",
    "--selector",
    "-l",
    "--field-selector",
    "--container",
    "-c",
    "--timeout",
    "--grace-period",
    "--request-timeout",
];

impl<'a> Options<'a> {
    /// Reads the arguments, as far as they are known.
    pub(crate) fn of(args: &[Option<&'a str>]) -> Self {
        let mut options = Options { clear: true, ..Options::default() };
        let mut args = args.iter().copied();
        // Whether the word may also be the value of an option before it.
        let mut doubtful = false;
        while let Some(arg) = args.next() {
            let Some(arg) = arg else { return options.unclear() };
            match arg {
                "--" if doubtful => return options.unclear(),
                "--" => {
                    options.words.extend(args.flatten());
                    return options;
                }
                _ if arg.len() > 1 && arg.starts_with('-') => {
                    let (name, attached) = split(arg);
                    let value = match attached {
                        Some(value) => Some(value),
                        None if VALUED.contains(&name) => match args.next() {
                            Some(Some(value)) => Some(value),
                            _ => return options.unclear(),
                        },
                        None => None,
                    };
                    options.take(name, value, doubtful);
                    doubtful = value.is_none() && !SWITCHES.contains(&name);
                }
                word => {
                    options.words.push(word);
                    doubtful = false;
                }
            }
        }
        options
    }

    fn take(&mut self, name: &str, value: Option<&'a str>, doubtful: bool) {
        let given = value.filter(|_| !doubtful).map_or(Given::Unknown, Given::Is);
        match name {
            "--context" | "--kube-context" => self.context = given,
            "--namespace" | "-n" => self.namespace = given,
            "--kubeconfig" | "--cluster" | "--server" | "-s" | "--kube-apiserver" => self.redirected = true,
            "--all-namespaces" | "-A" => self.everywhere = value != Some("false"),
            "--all" => self.all = value != Some("false"),
            "--filename" | "-f" | "--kustomize" | "-k" | "--selector" | "-l" | "--field-selector" => self.unseen = true,
            // Several short ones in one word.
            _ if !name.starts_with("--") && name.contains('s') => self.redirected = true,
            _ => {}
        }
    }

    fn unclear(mut self) -> Self {
        (self.context, self.namespace, self.clear) = (Given::Unknown, Given::Unknown, false);
        self
    }
}

/// An option's name, and its value if that is in the same word.
fn split(arg: &str) -> (&str, Option<&str>) {
    if let Some((name, value)) = arg.split_once('=') {
        return (name, Some(value));
    }
    match arg.get(..2) {
        Some(short) if !arg.starts_with("--") && arg.len() > 2 && VALUED.contains(&short) => (short, arg.get(2..)),
        _ => (arg, None),
    }
}
