//! Trackers: state that is followed besides the directory and the variables.

use std::rc::Rc;

use toolgate_shell::{Facts, Modifier, Subshell, Tracker, Trackers, parse};

fn trackers(subshell: Subshell) -> Rc<Trackers> {
    let branch = Tracker { subshell, ..Tracker::new("branch").initially("main") }
        // `use NAME` changes it; a name that is not known makes it unknown.
        .modifier("use", Modifier::sequential(|words, _, _| words.first()?.known().map(str::to_owned)))
        // `on NAME CMD` holds for one command.
        .modifier("on", Modifier::per_command(|words, _, _| words.first()?.known().map(str::to_owned)))
        // Reads the others: the directory and a variable.
        .modifier("here", Modifier::sequential(|_, _, all| all.tracked("cwd")))
        .modifier("named", Modifier::sequential(|_, _, all| all.variable("B")))
        // Two of one program apply in turn; unknown stays unknown.
        .modifier("twice", Modifier::sequential(|_, current, _| Some(format!("{}x", current?))))
        .modifier("twice", Modifier::sequential(|_, current, _| Some(format!("{}y", current?))));
    let mut trackers = Trackers::new();
    trackers.add(branch).expect("the name is free");
    trackers
        .extend("cwd", "in", Modifier::per_command(|words, _, _| words.first()?.known().map(str::to_owned)))
        .expect("the program is free");
    trackers
        .extend("cwd", "goto", Modifier::sequential(|words, _, _| words.first()?.known().map(str::to_owned)))
        .expect("the program is free");
    Rc::new(trackers)
}

#[test]
fn every_command_has_the_state_before_it() {
    let cases = [
        ("x", "main", Subshell::Isolated),
        ("use dev; x", "dev", Subshell::Isolated),
        ("use dev && x", "dev", Subshell::Isolated),
        ("use $U; x", "?", Subshell::Isolated),
        ("on dev x; x", "main", Subshell::Isolated),
        ("(use dev); x", "main", Subshell::Isolated),
        ("(use dev; x)", "dev", Subshell::Isolated),
        ("(use dev); x", "dev", Subshell::Propagate),
        ("use dev | cat; x", "main", Subshell::Isolated),
        ("{ use dev; }; x", "dev", Subshell::Isolated),
        ("use dev & x", "main", Subshell::Isolated),
        ("if a; then use dev; fi; x", "?", Subshell::Isolated),
        ("if a; then use dev; else use dev; fi; x", "dev", Subshell::Isolated),
        ("for i in a b; do use $i; done; x", "b", Subshell::Isolated),
        ("while a; do use dev; done; x", "?", Subshell::Isolated),
        ("f() { use $1; }; f dev; x", "dev", Subshell::Isolated),
        ("B=z; named; x", "z", Subshell::Isolated),
        ("cd /q; here; x", "/q", Subshell::Isolated),
        ("twice; x", "mainxy", Subshell::Isolated),
        ("use $U; twice; x", "?", Subshell::Isolated),
        ("/opt/bin/use dev; x", "dev", Subshell::Isolated),
        ("eval 'use dev'; x", "dev", Subshell::Isolated),
        ("sudo x", "main", Subshell::Isolated),
        ("use dev; echo $(x)", "dev", Subshell::Isolated),
    ];
    for (text, expected, subshell) in cases {
        let facts = Facts::new("/w").trackers(trackers(subshell));
        let script = parse(text, &facts);
        assert_eq!(script.unparsed, None, "{text}");
        let found = script.commands.iter().rfind(|command| command.program() == Some("x")).expect("x is there");
        let shown = found.tracked.first().and_then(Option::as_deref).unwrap_or("?");
        assert_eq!(shown, expected, "{text}");
    }
}

#[test]
fn a_modifier_for_one_command_holds_for_that_one() {
    let facts = Facts::new("/w").trackers(trackers(Subshell::Isolated));
    for (text, program, branch, cwd, shell_cwd) in [
        ("on dev y", "on", "dev", "/w", "/w"),
        ("in /sub y", "in", "main", "/sub", "/w"),
        ("in /sub y; x", "x", "main", "/w", "/w"),
        // Where a tracker says it goes comes beside where it is.
        ("goto /sub; x", "x", "main", "", ""),
        ("git -C a -C b push", "git", "main", "/w/a/b", "/w"),
        ("make all -C /z", "make", "main", "/z", "/w"),
        ("env -C /z y", "env", "main", "/z", "/w"),
        ("env -C /z y", "y", "main", "/z", "/z"),
    ] {
        let script = parse(text, &facts);
        let found = script.commands.iter().find(|command| command.program() == Some(program)).expect("it is there");
        let state = (found.tracked[0].as_deref(), found.cwd.as_deref(), found.shell_cwd.as_deref());
        let known = |folder| Some(folder).filter(|folder: &&str| !folder.is_empty());
        assert_eq!(state, (Some(branch), known(cwd), known(shell_cwd)), "{text}");
    }
}
