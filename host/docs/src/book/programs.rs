//! The programs that the tables know, and which table does.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::code;

/// Which tables know a program.
#[derive(Default)]
struct Known {
    runs: bool,
    effects: bool,
    options: bool,
}

/// All programs in the order of their names. `grammars` is the file of packs that says which options take a value.
pub(super) fn page(grammars: &str) -> String {
    let mut programs: BTreeMap<&str, Known> = BTreeMap::new();
    for name in toolgate_shell::tables::wrappers() {
        programs.entry(name).or_default().runs = true;
    }
    for name in toolgate_shell::tables::with_effects() {
        programs.entry(name).or_default().effects = true;
    }
    for name in of_grammars(grammars) {
        programs.entry(name).or_default().options = true;
    }
    let count = |of: fn(&Known) -> bool| programs.values().filter(|known| of(known)).count();
    let mut page = format!(
        "{} programs: {} wrappers, {} with effects, {} with options for rules. Subcommands are not counted.\n\n\
         | Program | Wrapper | Effects | Rules |\n|---|---|---|---|\n",
        programs.len(),
        count(|known| known.runs),
        count(|known| known.effects),
        count(|known| known.options)
    );
    let mark = |there: bool| if there { "●" } else { "" };
    for (name, known) in &programs {
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} |",
            code(name),
            mark(known.runs),
            mark(known.effects),
            mark(known.options)
        );
    }
    page
}

/// The programs of the file: its keys of the second level, but for those of subcommands, which have a blank.
fn of_grammars(file: &str) -> impl Iterator<Item = &str> {
    let programs = file.lines().skip_while(|line| *line != "programs:").skip(1);
    let keys = programs.filter_map(|line| {
        let key = line.strip_prefix("  ").filter(|line| !line.starts_with([' ', '#']))?;
        Some(key.split_once(':')?.0)
    });
    keys.filter(|key| !key.contains(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_every_table_are_there_once() {
        let page = page(
            "about: x\nprograms:\n  git:\n    values: -C\n  # No program.\n  git push: {values: -o}\n  zzz: {words: true}\n",
        );
        let lines = |start: &str| page.lines().filter(|line| line.starts_with(start)).collect::<Vec<_>>();
        assert_eq!(lines("| `git`"), ["| `git` | ● | ● | ● |"]);
        assert_eq!(lines("| `cat`"), ["| `cat` |  | ● |  |"]);
        assert_eq!(lines("| `sudo`"), ["| `sudo` | ● | ● |  |"]);
        assert_eq!(lines("| `zzz`"), ["| `zzz` |  |  | ● |"]);
        assert!(lines("| ").len() > 500, "{}", lines("| ").len());
    }
}
