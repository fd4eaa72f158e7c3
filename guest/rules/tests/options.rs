//! Options that no table lists, before the subcommand: whether such an option takes the next word or not, no verdict is
//! weaker with it than without.

use crate::cases::{call, named};
use toolgate_commands::{FileUse, Opt, Spec};
use toolgate_rules::call::Verdict;
use toolgate_rules::{Guard, Layer, NoHost};
use toolgate_shell::{EffectKind, Facts, parse};

/// What is put behind the program's name.
const OPTIONS: &[&str] = &[
    "--new-option",
    "--new-option value",
    "--new-option=value",
    "--new-option 5s --other-option",
    "--new-option --other-option value",
    "-@ value",
    "-@ -% value",
    "--new-option -@ value --other-option value",
];

fn judge(guard: &Guard, command: &str) -> Verdict {
    guard.judge(&call(&serde_json::json!({ "command": command })), &mut NoHost)
}

/// Over every command that a rule of a pack fires on, as the tests beside it say.
#[test]
fn no_verdict_is_weaker_with_an_option_that_is_not_known() {
    let mut guard = Guard::new();
    assert_eq!(guard.choose(&["all".to_owned()]), Vec::<String>::new());
    let (mut tried, mut wrong) = (0, Vec::new());
    for rule in guard.list() {
        for test in rule.tests.iter().filter(|test| test.fires && test.after.is_none()) {
            let Some((program, rest)) = test.command.split_once(' ') else { continue };
            let before = judge(&guard, &test.command);
            // Only where the rule is about a subcommand of the program that the text begins with.
            let own = before.findings.iter().find(|finding| finding.rule == rule.name);
            let words: Vec<&str> = own.iter().flat_map(|own| &own.evidence).map(|one| one.text.as_str()).collect();
            let is_subcommand = words.len() > 1 && words[0] == program && !words[1].starts_with('-');
            if !is_subcommand || SPELLED.contains(&rule.name.trim_start_matches("builtin:")) {
                continue;
            }
            for option in OPTIONS {
                tried += 1;
                let command = format!("{program} {option} {rest}");
                let verdict = judge(&guard, &command);
                if verdict.action() < before.action() {
                    wrong.push(format!("{} {}: {command}", named(&verdict), rule.name));
                }
            }
        }
    }
    assert!(tried > 5_000, "only {tried} commands were tried");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

/// The same for each option that a program's spec has before the subcommand, over one command of each rule: it changes no
/// verdict, or makes it stricter where it means something itself.
#[test]
fn no_option_of_a_spec_changes_a_verdict() {
    let mut guard = Guard::new();
    assert_eq!(guard.choose(&["all".to_owned()]), Vec::<String>::new());
    let (mut tried, mut wrong) = (0, Vec::new());
    for rule in guard.list() {
        let Some((test, spec, rest)) =
            rule.tests.iter().filter(|test| test.fires && test.after.is_none()).find_map(|test| {
                let (program, rest) = test.command.split_once(' ')?;
                let spec = toolgate_commands::find(program)?;
                spec.subcommands
                    .iter()
                    .any(|sub| rest.split(' ').next().is_some_and(|word| sub.is(word)))
                    .then_some((test, spec, rest))
            })
        else {
            continue;
        };
        let program = test.command.split(' ').next().unwrap_or_default();
        let before = judge(&guard, &test.command);
        if SPELLED.contains(&rule.name.trim_start_matches("builtin:")) {
            continue;
        }
        for option in spec.options.iter().filter(|option| !option.help && !option.last) {
            for name in option.names.iter().filter(|name| !name.starts_with('-')) {
                let command = format!("{program} {} {rest}", spelled(spec, option, name));
                let verdict = judge(&guard, &command);
                tried += 1;
                let (same, weaker) = (verdict.action() == before.action(), verdict.action() < before.action());
                if weaker || is_plain(option) && !same && spec.rules.is_some() {
                    wrong.push(format!("{} {}: {command}", named(&verdict), rule.name));
                }
            }
        }
    }
    assert!(tried > 500, "only {tried} commands were tried");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

/// What the commands of a text do to files, and which others they run. Not what a word only mentions.
fn does(text: &str) -> Vec<String> {
    let script = parse(text, &Facts::new("/home/dev/project"));
    let mut found: Vec<String> = Vec::new();
    for (at, command) in script.commands.iter().enumerate() {
        if at > 0 {
            found.push(command.words.iter().map(|word| word.value.text()).collect::<Vec<_>>().join(" "));
        }
        let effects = command.effects.iter().filter(|effect| effect.kind != EffectKind::Mention);
        found.extend(effects.map(|effect| format!("{:?} {}", effect.kind, effect.path.text())));
    }
    found.sort();
    found.dedup();
    found
}

/// Whether an option says nothing about files, about what runs, or about where.
fn is_plain(option: &Opt) -> bool {
    let plain = option.run.is_none() && matches!(option.file, FileUse::Plain | FileUse::MayBePath);
    plain && !option.help && !option.last
}

/// A spelling of an option, with a value where it takes one from the next word.
fn spelled(spec: &Spec, option: &Opt, name: &str) -> String {
    let dashes = if name.chars().count() == 1 || spec.one_dash { "-" } else { "--" };
    let value = " 5s".repeat(option.takes.words());
    format!("{dashes}{name}{value}")
}

/// The same for what the shell engine says of files and of what else runs, over every subcommand of every spec.
#[test]
fn no_option_of_a_spec_changes_what_a_subcommand_does() {
    let (mut tried, mut wrong) = (0, Vec::new());
    for spec in toolgate_commands::programs() {
        for sub in spec.subcommands.iter().filter(|sub| sub.files.is_some() || sub.runs.is_some()) {
            let rest = format!("{} src/one.txt two three", sub.names[0]);
            let before = does(&format!("{} {rest}", spec.names[0]));
            for option in spec.options.iter().filter(|option| is_plain(option)) {
                for name in option.names.iter().filter(|name| !name.starts_with('-')) {
                    tried += 1;
                    let command = format!("{} {} {rest}", spec.names[0], spelled(spec, option, name));
                    let after = does(&command);
                    if after != before {
                        wrong.push(format!("{command}\n    {before:?}\n    {after:?}"));
                    }
                }
            }
        }
    }
    assert!(tried > 500, "only {tried} commands were tried");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Rules that go by how a command is spelled, or by what it does to files, and not by a subcommand.
#[rustfmt::skip]
const SPELLED: &[&str] = &[
    "extract-upwards", "git-amend", "git-discard-file", "git-repository-data", "module-code", "mounted-as-a-whole", "print-pass",
    "private-key", "remove-everything", "remove-home", "remove-sources", "remove-system", "self-folders", "self-mounted",
    "self-unzipped", "send-workspace", "show-environments", "unread-runner",
];

/// A rule of the user's own fares the same, and what excepts a command must not be the value of such an option.
#[test]
fn rules_of_a_file_are_read_the_same() {
    const RULES: &str = "
programs:
  deploy: {values: -e, flags: -q}
rules:
- {name: forced, program: deploy, flags: ['--mode=^force$'], reason: it is forced}
- {name: deploy, program: deploy, subcommand: [rollback, 'db drop'], without: [--dry-run], reason: it takes a release back}
exemptions:
- {rule: deploy, program: deploy, subcommand: rollback, arguments: '^staging$'}
";
    let mut guard = Guard::new();
    assert_eq!(guard.load("rules.yaml", Layer::User, RULES.as_bytes()), []);
    for (command, fires) in [
        ("deploy rollback x", true),
        ("deploy --new 5s rollback x", true),
        ("deploy --new rollback x", true),
        ("deploy -e rollback x", false),
        ("deploy --new -e rollback x", true),
        ("deploy -q status rollback", false),
        ("deploy --new status rollback", true),
        ("deploy status --new rollback", false),
        ("deploy db --new 1 drop", true),
        ("deploy --new 1 db --other 2 drop", true),
        ("deploy rollback x --dry-run", false),
        ("deploy --dry-run rollback x", false),
        ("deploy -q --dry-run rollback x", false),
        // It may be the value of the option before it.
        ("deploy --new --dry-run rollback x", true),
        ("deploy rollback --new --dry-run x", false),
        // What is exempt is so in every reading.
        ("deploy rollback staging", false),
        ("deploy --new 1 rollback staging", true),
        ("deploy -q rollback staging", false),
    ] {
        let found = judge(&guard, command).findings.iter().any(|finding| finding.rule == "user:deploy");
        assert_eq!(found, fires, "{command}");
    }
    for (command, fires) in [
        ("deploy --mode=force", true),
        ("deploy --mode force", true),
        ("deploy --mode soft force", false),
        ("deploy force", false),
    ] {
        let found = judge(&guard, command).findings.iter().any(|finding| finding.rule == "user:forced");
        assert_eq!(found, fires, "{command}");
    }
}
