//! Verdicts of the guard, as cases, one a line: `verdicts.jsonl`, and `irreversible.jsonl` for what nothing brings back and
//! for what looks like it. The tests of the whole system put the same cases to the component.

use crate::cases::{call, named};
use serde_json::Value;
use toolgate_rules::call::{Action, Call, Finding, Verdict, contents};
use toolgate_rules::{Guard, Layer, NoHost};
use toolgate_test_support::cases;
use toolgate_test_support::cases::Cases;

#[test]
fn every_case_gets_its_verdict() {
    each_gets_its_verdict(&cases!("verdicts.jsonl"));
}

/// Texts for PowerShell, cmd and other shells whose grammar is not read.
#[test]
fn texts_for_other_shells_each_gets_its_verdict() {
    each_gets_its_verdict(&cases!("other-shells.jsonl"));
}

/// Options of programs whose specs were compared with their sources.
#[test]
fn options_compared_with_their_sources_give_their_verdicts() {
    each_gets_its_verdict(&cases!("spec-options-2.jsonl"));
}

/// Other names of a file: hard links, descriptors, bind mounts, `/proc/PID/root`.
#[test]
fn other_names_of_a_file_each_gets_its_verdict() {
    each_gets_its_verdict(&cases!("aliases.jsonl"));
}

/// What people and agents do every day: files of variables, git, an agent's own skills and worktrees.
#[test]
fn what_is_done_at_work_gets_its_verdicts() {
    each_gets_its_verdict(&cases!("at-work.jsonl"));
}

/// Texts that agents and programs run by themselves later.
#[test]
fn what_runs_by_itself_later_gets_its_verdicts() {
    each_gets_its_verdict(&cases!("later.jsonl"));
}

/// Options before the command or the subcommand, as the sources say that the specs were compared with.
#[test]
fn options_before_a_command_take_what_their_programs_say() {
    each_gets_its_verdict(&cases!("spec-options-1.jsonl"));
}

/// Everyday work that looks like something else, and what looks like it: keys that are used, scripts that are plain, programs
/// that the text itself writes.
#[test]
fn plain_work_gets_its_verdicts() {
    let file = cases!("plain-work.jsonl");
    let cases: Vec<Value> =
        file.text().lines().map(|line| serde_json::from_str(line).expect("a case is JSON")).collect();
    assert!(
        cases.iter().all(|case| case["expect"] == "pass" || case["rule"].is_string()),
        "a case that stops names its rule"
    );
    each_gets_its_verdict(&file);
}

/// Kinds of harm out of public bug reports, and what looks like each: other machines, tools that say what they do, secrets that are
/// shown, SQL in scripts, consoles of frameworks.
#[test]
fn what_people_reported_gets_its_verdicts() {
    each_gets_its_verdict(&cases!("reported.jsonl"));
}

#[test]
fn what_nothing_brings_back_asks_by_default() {
    let file = cases!("irreversible.jsonl");
    let lines = file.text().lines();
    let cases: Vec<Value> = lines.map(|line| serde_json::from_str(line).expect("a case is JSON")).collect();
    let stops = cases.iter().filter(|case| case["expect"] != "pass");
    assert!(stops.count() > 400 && cases.len() > 900, "there are many of both kinds");
    each_gets_its_verdict(&file);
}

/// Where the folder of a call is not known, only path rules count; those that keep the gate's own files are among them.
#[test]
fn only_path_rules_count_where_only_they_are_asked_for() {
    let mut guard = Guard::new();
    guard.keep(&["/home/dev/.config/toolgate".to_owned()], Some("/home/dev"));
    // A rule's name does not make it a path rule.
    let rules = b"rules: [{name: 'Paths: x', program: deploy, reason: no}]";
    assert_eq!(guard.load("rules.yaml", Layer::User, rules), []);
    // The command, what all rules say of it, and what path rules say.
    let cases = [
        ("cat ~/.ssh/id_rsa", "block", "block"),
        ("echo x > ~/.config/toolgate/toolgate.yaml", "block", "block"),
        ("git push --force", "ask", "pass"),
        ("git push --force; cat ~/.ssh/id_rsa", "block", "block"),
        ("deploy", "block", "pass"),
    ];
    for (command, all, paths) in cases {
        for (paths_only, expected) in [(false, all), (true, paths)] {
            let call = Call { paths_only, ..call(&serde_json::json!({ "command": command })) };
            assert_eq!(named(&guard.judge(&call, &mut NoHost)), expected, "{command} {paths_only}");
        }
    }
}

fn each_gets_its_verdict(cases: &Cases) {
    let built_in = Guard::new();
    cases.each(|line| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        assert!(case["expect"] == "pass" || case["rule"].is_string(), "a case that stops names its rule");
        let mut guard = built_in.clone();
        if let Some(rules) = case["rules"].as_str() {
            assert_eq!(guard.load("rules.yaml", Layer::Project, rules.as_bytes()), []);
        }
        let verdict = guard.judge(&call(&case), &mut NoHost);
        let got = named(&verdict);
        // A case names any of the weightiest findings.
        let meant = |finding: &&Finding| {
            case["rule"].as_str().is_none_or(|rule| finding.rule == rule) && Some(finding.action) == verdict.action()
        };
        let finding = verdict.findings.iter().find(meant);
        let shows = |text: &str| finding.is_some_and(|found| found.evidence.iter().any(|one| one.text == text));
        let right = got == case["expect"]
            && (case["rule"].is_null() || finding.is_some())
            && case["evidence"].as_str().is_none_or(shows)
            && case["reason"].as_str().is_none_or(|reason| finding.is_some_and(|found| found.reason == reason));
        let found = verdict.findings.iter().map(|found| {
            let evidence: Vec<&str> = found.evidence.iter().map(|one| one.text.as_str()).collect();
            format!("\n  {:?} {} {evidence:?}: {}", found.action, found.rule, found.reason)
        });
        assert!(right, "got {got}{}", found.collect::<String>());
    });
}

/// What an agent's own patch tool writes is content as well.
#[test]
fn what_a_patch_writes_is_judged_by_rules_on_content() {
    let rules = "rules: [{content: 'BEGIN [A-Z ]*PRIVATE KEY', effects: {kinds: change, paths: ['@workspace']}, reason: a key}]";
    let cases = [
        ("*** Begin Patch\n*** Add File: k\n+-----BEGIN RSA PRIVATE KEY-----\n*** End Patch\n", Some(Action::Block)),
        ("*** Begin Patch\n*** Update File: k\n@@\n-a\n+-----BEGIN PRIVATE KEY-----\n", Some(Action::Block)),
        ("*** Begin Patch\n*** Add File: k\n+a\n*** End Patch\n", None),
    ];
    for (patch, expected) in cases {
        let mut guard = Guard::new();
        assert_eq!(guard.load("rules.yaml", Layer::User, rules.as_bytes()), []);
        let case = serde_json::json!({ "kind": "write", "command": patch });
        let input = serde_json::json!({ "command": patch }).to_string();
        let call = Call { contents: contents(&input), ..call(&case) };
        assert_eq!(guard.judge(&call, &mut NoHost).action(), expected, "{patch}");
    }
}

#[test]
fn evidence_is_a_range_of_the_field_it_names() {
    for command in
        ["é; cat ~/.ssh/id_rsa", "sh -c 'cat ~/.ssh/a'", "echo \"$(cat ~/.ssh/a)\" # ü", "cat `echo é; cat .env`"]
    {
        let case = serde_json::json!({ "command": command });
        let verdict = Guard::new().judge(&call(&case), &mut NoHost);
        assert_eq!(verdict.action(), Some(Action::Block), "{command}");
        for one in verdict.findings.iter().flat_map(|finding| &finding.evidence) {
            assert_eq!(command.get(one.start..one.end), Some(one.text.as_str()), "{command}");
        }
    }
}

/// Of commands that are the same one is judged, unless somebody asks how each was. That changes nothing.
#[test]
fn commands_that_are_the_same_are_judged_as_each_by_itself() {
    let built_in = Guard::new();
    let mut with_files = built_in.clone();
    assert_eq!(with_files.load("rules.yaml", Layer::User, AROUND.as_bytes()), []);
    cases!("verdicts.jsonl").each(|line| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let Some(command) = case["command"].as_str().filter(|_| case["kind"].is_null()) else { return };
        for (guard, text) in [
            (&built_in, format!("{command}\n{command}\nfoo | {command}\n")),
            (&with_files, format!("f() {{\n{command}\n}}\nf; f | f\nfor X in 1 2 1; do\n{command}\ndone\ncd /q\nf")),
        ] {
            let mut again = case.clone();
            again["command"] = text.as_str().into();
            let again = call(&again);
            let judged = guard.judge(&again, &mut NoHost);
            let explained = guard.explain(&again, &mut NoHost).verdict;
            assert_eq!(judged, explained, "{text}");
        }
    });
}

/// Rules that ask for what is around a command.
const AROUND: &str = "
rules:
- {name: after, program: foo, after: [bar], reason: it gets what bar prints}
- {name: before, program: foo, before: [baz], reason: baz gets what it prints}
- {name: set, program: foo, assigns: '^X=1$', reason: X is 1}
- {name: env, program: foo, when: {env: {MODE: '^1$'}}, reason: the mode is 1}
- {name: cwd, program: foo, when: {cwd: '^/q'}, reason: it works in /q}
- {name: kept, program: foo, arguments: '^kept$', reason: it is kept}
- {name: list, pattern: '^foo b && foo c$', reason: they stand in one list}
exemptions:
- {rule: kept, program: foo, when: {env: {MODE: '^3$'}}}
";

/// Commands of the same words are judged by what is around each.
#[test]
fn what_is_around_a_command_tells_it_from_others_of_the_same_words() {
    /// A rule, and the words that it points at.
    type Expected = (&'static str, &'static [&'static str]);
    let cases: &[(&str, &[Expected])] = &[
        ("foo a\nfoo a\nfoo a", &[]),
        ("foo a\nbar | foo a\nfoo a", &[("user:after", &["foo", "bar"])]),
        ("foo a\nfoo a | baz", &[("user:before", &["foo", "baz"])]),
        ("foo a\nbar | sudo foo a", &[("user:after", &["foo", "bar"])]),
        ("foo a\nexport X=2\nfoo a\nexport X=1\nfoo a\nexport X=2\nfoo a", &[("user:set", &["foo"])]),
        ("f() { foo a; }\nf\nX=1\nf\nX=2\nf", &[("user:set", &["foo"])]),
        ("for X in 2 1 2; do foo a; done", &[("user:set", &["foo"])]),
        ("foo a\nX=1 foo a", &[("user:set", &["foo"])]),
        ("foo a\nMODE=1\nfoo a\nMODE=2\nfoo a", &[("user:env", &["foo"])]),
        ("foo a\nfoo a\ncd /q\nfoo a", &[("user:cwd", &["foo"])]),
        ("foo kept\nMODE=3\nfoo kept\nMODE=2\nfoo kept", &[("user:kept", &["foo", "kept", "foo", "kept"])]),
        ("MODE=3\nfoo kept\nfoo kept", &[]),
    ];
    let mut guard = Guard::new();
    assert_eq!(guard.load("rules.yaml", Layer::User, AROUND.as_bytes()), []);
    for (text, expected) in cases {
        let text = format!("MODE=2\n{text}");
        let verdict = guard.judge(&call(&serde_json::json!({ "command": text })), &mut NoHost);
        let own = verdict.findings.iter().filter(|finding| finding.rule.starts_with("user:"));
        let found: Vec<(&str, Vec<&str>)> = own
            .map(|finding| {
                let evidence = finding.evidence.iter().map(|one| one.text.as_str()).collect();
                (finding.rule.as_str(), evidence)
            })
            .collect();
        let expected: Vec<(&str, Vec<&str>)> = expected.iter().map(|(rule, words)| (*rule, words.to_vec())).collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// However often a text says the same, what is harmful in it is found wherever that stands.
#[test]
fn what_is_said_often_is_found_wherever_it_stands() {
    let guard = Guard::new();
    let judge = |text: String| guard.judge(&call(&serde_json::json!({ "command": text })), &mut NoHost);
    let rules = |found: &Verdict| found.findings.iter().map(|one| one.rule.clone()).collect::<Vec<_>>();
    let evidence = |found: &Verdict| found.findings.iter().map(|one| one.evidence.len()).collect::<Vec<_>>();
    let one = judge("cat ~/.ssh/id_rsa".to_owned());
    assert_eq!(one.action(), Some(Action::Block));
    let lines: String = (0..1_000).map(|n| format!("echo line {n}\ncat ~/.ssh/id_rsa\n")).collect();
    let often = judge(lines);
    assert_eq!(rules(&often), rules(&one));
    assert_eq!(evidence(&often), evidence(&one).iter().map(|count| 1_000 * count).collect::<Vec<_>>());
    // It stands in one place however often that is run.
    let calls: String = (0..1_000).map(|n| format!("f {n}\n")).collect();
    let called = judge(format!("f() {{ echo \"$1\"; cat ~/.ssh/id_rsa; }}\n{calls}"));
    assert_eq!((rules(&called), evidence(&called)), (rules(&one), evidence(&one)));
    // One of very many that are alike, and not the first of them.
    let harmless: String = (0..2_000).map(|n| format!("cat file{}\n", n % 7)).collect();
    assert_eq!(judge(format!("cat deploy_key\n{harmless}cat deploy_key")).action(), None);
    for text in [
        format!("{harmless}cat ~/.ssh/id_rsa\n{harmless}"),
        format!("{harmless}cd ~/.ssh\ncat id_rsa\n{harmless}"),
        format!("cat deploy_key\n{harmless}cd ~/.ssh\ncat deploy_key"),
    ] {
        assert_eq!(judge(text).action(), Some(Action::Block));
    }
}

/// A program is no more than its lines: no rule asks because it is long.
#[test]
fn long_programs_are_judged_as_short_ones_are() {
    let python = [
        "import json, os, re",
        "import requests",
        "def read{n}(path):",
        "    with open(path) as file:",
        "        return json.load(file)",
        "BASE{n} = os.environ.get('BASE_URL', 'http://localhost:8000')",
        "rows{n} = [row for row in data if row['name'].startswith('x')]",
        "print(f'{len(rows)} rows', {'a': 1, 'b': [2, 3]})",
        "# what is executed later: see read(), not eval",
        "answer{n} = requests.get(BASE + '/items').json()",
    ];
    let node = [
        "const fs = require('fs');",
        "function read{n}(path) {",
        "  return JSON.parse(fs.readFileSync(path, 'utf8'));",
        "}",
        "const base{n} = process.env.BASE_URL || 'http://localhost:8000';",
        "fetch(base + '/items').then((answer) => answer.json()).then((all) => console.log(all.length));",
        "// executed later: see read(), not eval",
    ];
    let ruby = ["require 'json'", "def read{n}(path)", "  JSON.parse(File.read(path))", "end", "puts ENV['BASE_URL']"];
    let perl =
        ["use strict;", "my %seen{n} = map { $_ => 1 } qw(a b c);", "print join(', ', sort keys %seen), \"\\n\";"];
    let mut guard = Guard::new();
    assert_eq!(guard.load("rules.yaml", Layer::User, b"packs: [all]"), []);
    let languages: [(&str, &[&str]); 4] =
        [("python3 -", &python), ("node -", &node), ("ruby -", &ruby), ("perl -", &perl)];
    for (program, lines) in languages {
        for size in [500, 2_000, 20_000, 60_000] {
            let mut code = String::new();
            for n in 0.. {
                lines.iter().for_each(|line| code.push_str(&(line.replace("{n}", &n.to_string()) + "\n")));
                if code.len() >= size {
                    break;
                }
            }
            for command in [format!("{program} <<'EOF'\n{code}EOF"), format!("cat > tool.txt <<'EOF'\n{code}EOF")] {
                let case = serde_json::json!({ "command": command });
                let found = guard.judge(&call(&case), &mut NoHost);
                assert_eq!(found.action(), None, "{program} {size}: {:?}", found.findings.first());
            }
        }
    }
}

/// Whatever comes in, there is an answer: no panic, and no pass for what is too much to read.
#[test]
fn hostile_texts_get_an_answer() {
    let deep = |open: &str, close: &str, count: usize| format!("{}rm -rf /{}", open.repeat(count), close.repeat(count));
    let cases = [
        ("a long text", "x ".repeat(2 << 20), Some(Action::Ask)),
        (
            "a long text with a harmful command at its end",
            format!("{}; rm -rf /", "x ".repeat(300_000)),
            Some(Action::Block),
        ),
        ("deep subshells", deep("( ", " )", 5_000), Some(Action::Block)),
        ("deep substitutions", deep("$(", ")", 2_000), Some(Action::Block)),
        ("as deep as is parsed", deep("( ", " )", 40), Some(Action::Block)),
        ("nested loops", "while a; do a=1; ".repeat(16) + &"done; ".repeat(16) + "rm -rf /", Some(Action::Block)),
        (
            "nested fors",
            format!("{}:;{}rm -rf /", "for i in 1 2 3 4 5 6 7 8; do ".repeat(6), " done;".repeat(6)),
            Some(Action::Block),
        ),
        (
            "many variables",
            (0..5_000).map(|n| format!("a{n}=1;")).collect::<String>() + "rm -rf /",
            Some(Action::Block),
        ),
        (
            "many variables around one that matters",
            "d=.env;".to_owned() + &(0..5_000).map(|n| format!("a{n}=x;")).collect::<String>() + "cat \"$d\"",
            Some(Action::Ask),
        ),
        (
            "a harmless script with many variables",
            (0..1_000).map(|n| format!("a{n}=x{n}\necho \"$a{n}\"\n")).collect::<String>(),
            None,
        ),
        ("a variable that doubles", "x=aa; ".to_owned() + &"x=$x$x; ".repeat(40) + "rm -rf /", Some(Action::Block)),
        ("comments that open", "(#)\n".repeat(5_000) + "rm -rf /", Some(Action::Block)),
        ("many nots", format!("[[ {} a ]]; rm -rf /", "! ".repeat(5_000)), Some(Action::Block)),
        ("a function that calls itself", "f() { f; }; f; rm -rf /".into(), Some(Action::Block)),
        (
            "functions that fan out",
            "a() { rm -rf /; }; ".to_owned()
                + &('b'..='p')
                    .map(|c| {
                        let p = (c as u8 - 1) as char;
                        format!("{c}() {{ {p}; {p}; {p}; }}; ")
                    })
                    .collect::<String>()
                + "p",
            Some(Action::Block),
        ),
        ("many globs", "cat ".to_owned() + &"a*/b?/c[d] ".repeat(2_000), None),
        ("a long harmless script", "echo hello; cd /src && ls | head -3; ".repeat(4_000), None),
        ("a folder in a folder in a folder", "cd a && ls; ".repeat(8_000) + "rm -rf /", Some(Action::Block)),
        ("deep braces", format!("echo {}", "{a,".repeat(200)), None),
        ("many braces", format!("echo {}", "{a,b}".repeat(60)), None),
        ("deep ifs", format!("{}rm -rf /{}", "if a; then ".repeat(3_000), "; fi".repeat(3_000)), Some(Action::Block)),
        ("nested eval", "eval ".repeat(2_000) + "rm -rf /", Some(Action::Ask)),
        ("a large descriptor", "echo 2147483648>f; rm -rf /".into(), Some(Action::Block)),
        ("a NUL byte", "rm -rf /\0".into(), Some(Action::Block)),
        ("an open quote", "rm -rf / '".into(), Some(Action::Block)),
        ("an open heredoc", "cat <<E\nrm -rf /".into(), None),
        ("only operators", "&& || ;; |".into(), None),
    ];
    for (name, command, least) in cases {
        let case = serde_json::json!({ "command": command });
        let guard = Guard::new();
        let verdict = guard.judge(&call(&case), &mut NoHost);
        assert!(verdict.action() >= least, "{name}: {:?}", verdict.findings);
        let harmless = name.contains("harmless");
        assert!(!harmless || verdict.action().is_none(), "{name}: {:?}", verdict.findings);
    }
}

/// What a component is prepared with puts up no rule of its own.
#[test]
fn a_place_that_is_kept_already_adds_no_rule() {
    let mut guard = Guard::new();
    let before = guard.rules();
    guard.keep(&["/home/user/.config/toolgate/rules.yaml".to_owned()], Some("/home/user"));
    assert_eq!(guard.rules(), before);
    guard.keep(&["/home/user/elsewhere".to_owned()], Some("/home/user"));
    assert_ne!(guard.rules(), before);
}
