//! The programs of `toolgate-commands`: what is known of each.

use std::fmt::Write;

use toolgate_commands::{OperandUse, Opt, RunForm, Spec, Takes};

use super::code;

/// All programs in the order of their names; those that mean the same share a row.
pub(super) fn page() -> String {
    let mut specs: Vec<&Spec> = toolgate_commands::programs().iter().collect();
    specs.sort_unstable_by_key(|spec| spec.names);
    let names =
        |of: fn(&Spec) -> bool| specs.iter().filter(|spec| of(spec)).map(|spec| spec.names.len()).sum::<usize>();
    let mut page = format!(
        "{} programs: {} run others, of {} the effects on files are known, {} may wait for text at a terminal. \
         Subcommands are not counted.\n\n\
         | Program | Runs | Files | Subcommands | Options with a value |\n|---|---|---|---|---|\n",
        names(|_| true),
        names(|spec| spec.runs.is_some()),
        names(|spec| spec.files.is_some()),
        names(|spec| spec.terminal.is_some()),
    );
    for spec in specs {
        let programs: Vec<String> = spec.names.iter().map(|name| code(name)).collect();
        let subcommands: Vec<String> =
            spec.subcommands.iter().flat_map(|sub| sub.names).map(|name| code(name)).collect();
        let valued = |option: &&Opt| matches!(option.takes, Takes::Next(_) | Takes::Loose);
        let options: Vec<String> = spec.options.iter().filter(valued).map(|option| spelled(spec, option)).collect();
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} |",
            programs.join(", "),
            spec.runs.as_ref().map_or("", |runs| form(runs.what)),
            spec.files.as_ref().map_or("", |files| action(files.does)),
            subcommands.join(", "),
            options.join(", "),
        );
    }
    page
}

/// An option as it is typed, all its names.
fn spelled(spec: &Spec, option: &Opt) -> String {
    let names = option.names.iter().map(|name| match name.chars().count() {
        _ if name.starts_with('-') => code(name),
        1 => code(&format!("-{name}")),
        _ if spec.one_dash => code(&format!("-{name}")),
        _ => code(&format!("--{name}")),
    });
    names.collect::<Vec<_>>().join("/")
}

fn form(form: RunForm) -> &'static str {
    match form {
        RunForm::Command => "a command",
        RunForm::Text | RunForm::Texts => "shell text",
        RunForm::Either => "a command or shell text",
        RunForm::Options => "by its options",
        RunForm::Subcommand => "by subcommand",
        RunForm::Language(_) => "code",
        RunForm::Code(_) => "yes",
    }
}

fn action(action: OperandUse) -> &'static str {
    match action {
        OperandUse::Data => "only text",
        OperandUse::Nothing => "none",
        OperandUse::Mentions => "unknown",
        OperandUse::Reads => "reads",
        OperandUse::Uses => "uses",
        OperandUse::Writes => "writes",
        OperandUse::Formats { .. } => "reads or writes",
        OperandUse::Makes(_) => "writes its own",
        OperandUse::Subcommand => "by subcommand",
        OperandUse::Code(_) => "yes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_there_with_what_is_known_of_it() {
        let page = page();
        let line = |name: &str| page.lines().find(|line| line.starts_with('|') && line.contains(&format!("`{name}`")));
        let cases = [
            ("cat", "| reads |"),
            ("sudo", "| a command | unknown |"),
            ("sudo", "`-u`/`--user`"),
            ("git", "| yes | by subcommand |"),
            ("terraform", "`-var-file`"),
            ("python3", "| code | yes |"),
        ];
        for (name, expected) in cases {
            let line = line(name).unwrap_or_default();
            assert!(line.contains(expected), "{name}: {line}");
        }
        let names: usize = toolgate_commands::programs().iter().map(|spec| spec.names.len()).sum();
        assert!(names > 1_100, "{names}");
    }
}
