//! The help of every command, as the program prints it.

use std::fmt::Write;

use super::Program;

/// The help of the program and of each of its commands, those inside commands included.
pub(super) fn page(program: &Program<'_>) -> Result<String, String> {
    let mut page = String::new();
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(command) = open.pop() {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let help = program.output(&[words.as_slice(), &["--help"]].concat())?;
        let mut inner: Vec<_> =
            subcommands(&help).map(|name| [command.as_slice(), &[name.to_owned()]].concat()).collect();
        // The next one is taken from the end.
        inner.reverse();
        open.append(&mut inner);
        let title = [&["toolgate"], words.as_slice()].concat().join(" ");
        let _ = write!(page, "### `{title}`\n\n```text\n{}\n```\n\n", help.trim_end());
    }
    Ok(page)
}

/// The commands that a help lists, but for `help` itself.
fn subcommands(help: &str) -> impl Iterator<Item = &str> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = list.take_while(|line| !line.is_empty()).filter_map(|line| {
        // What goes on from the line before is further to the right.
        line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?.split_whitespace().next()
    });
    names.filter(|name| *name != "help")
}

#[cfg(test)]
mod tests {
    use super::subcommands;

    #[test]
    fn commands_are_those_of_the_list() {
        let help = "Does.\n\nUsage: x\n\nCommands:\n  one    First\n           and more\n  two-b  Second\n  help   This\n\nOptions:\n  -h  Help\n";
        assert_eq!(subcommands(help).collect::<Vec<_>>(), ["one", "two-b"]);
        assert_eq!(subcommands("Usage: x\n\nOptions:\n  -h  Help\n").count(), 0);
    }
}
