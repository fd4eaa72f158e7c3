//! The harness against itself: hand-made predictions, right and deliberately wrong. A judge that cannot say no is none.

use std::collections::{BTreeMap, BTreeSet};

use toolgate_test_support::skip::missing;
use toolgate_truth::Kind::{Append, Create, Delete, Link, Mode, Move, Read, Write};
use toolgate_truth::drive::{self, Options};
use toolgate_truth::sandbox::Error;
use toolgate_truth::tree::{HOME, WORK};
use toolgate_truth::{Check, Harness, Kind, Place, Predicted, PredictedEffect, Prediction, Report, Runs};
use toolgate_truth::{generate, mirror, scripts, trap};

/// A command as an engine would tell it that is right in every point; the cases change one.
struct Say(Predicted);

impl Say {
    fn new(text: &str, source: &str, argv: &[&str]) -> Self {
        let at = text.find(source).expect("the source stands in the text");
        Self(Predicted {
            argv: argv.iter().map(|word| (*word != "?").then(|| (*word).to_owned())).collect(),
            shell_cwd: Some(WORK.into()),
            cwd: Some(WORK.into()),
            span: (at, at + source.len()),
            runs: Runs::Certainly,
            ..Predicted::default()
        })
    }

    fn shell_in(mut self, cwd: &str) -> Self {
        self.0.shell_cwd = Some(format!("{WORK}{cwd}"));
        self.ran_in(cwd)
    }

    fn ran_in(mut self, cwd: &str) -> Self {
        self.0.cwd = Some(format!("{WORK}{cwd}"));
        self
    }

    fn nowhere(mut self) -> Self {
        (self.0.shell_cwd, self.0.cwd) = (None, None);
        self
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.0.env.insert(name.into(), (value != "?").then(|| value.to_owned()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.0.unset.insert(name.into());
        self
    }

    fn runs(mut self, runs: Runs) -> Self {
        self.0.runs = runs;
        self
    }

    fn via(mut self, wrapper: &str) -> Self {
        self.0.via.push(wrapper.into());
        self
    }

    fn open(mut self) -> Self {
        self.0.open_ended = true;
        self
    }

    fn does(mut self, kind: Kind, path: &str) -> Self {
        self.0.effects.push(PredictedEffect {
            kind,
            path: Place::Known(format!("{WORK}/{path}")),
            certain: true,
            recursive: false,
        });
        self
    }

    fn below(mut self, kind: Kind, path: &str) -> Self {
        self.0.effects.push(PredictedEffect {
            kind,
            path: Place::Known(format!("{WORK}/{path}")),
            certain: false,
            recursive: true,
        });
        self
    }

    fn may(mut self, kind: Kind, path: Place) -> Self {
        self.0.effects.push(PredictedEffect { kind, path, certain: false, recursive: false });
        self
    }
}

fn run(harness: &mut Harness, text: &str, commands: Vec<Say>) -> Report {
    let prediction = Prediction { commands: commands.into_iter().map(|say| say.0).collect(), unparsed: false };
    harness.run(text, &prediction).expect("the script runs")
}

fn wrong(report: &Report) -> BTreeMap<Check, usize> {
    let mut out = BTreeMap::new();
    for mismatch in &report.mismatches {
        *out.entry(mismatch.check).or_default() += 1;
    }
    out
}

/// None if there is no way to run scripts safely here; the test is then skipped.
#[track_caller]
fn harness() -> Option<Harness> {
    match Harness::open() {
        Err(error @ (Error::Missing(..) | Error::NoWay(_))) => {
            missing("strace", error);
            None
        }
        other => Some(other.unwrap_or_else(|error| panic!("{error}"))),
    }
}

#[test]
fn each_kind_of_mismatch_is_found() {
    let Some(mut harness) = harness() else { return };
    let text = "v=1; cd dir && touch \"n$v\"";
    let cd = || Say::new(text, "cd dir", &["cd", "dir"]).with("v", "1");
    let touch =
        || Say::new(text, "touch \"n$v\"", &["touch", "n1"]).shell_in("/dir").with("v", "1").does(Create, "dir/n1");
    type Case = (&'static str, Vec<Say>, &'static [(Check, usize)]);
    #[rustfmt::skip]
    let cases: Vec<Case> = vec![
        ("all is right", vec![cd(), touch()], &[]),
        ("nothing is said", vec![], &[(Check::Program, 1), (Check::Builtin, 1), (Check::Effect, 1)]),
        ("shell and program elsewhere", vec![cd(), touch().shell_in("")], &[(Check::Cwd, 2)]),
        ("program elsewhere", vec![cd(), touch().ran_in("/sub")], &[(Check::Cwd, 1)]),
        ("folder not known", vec![cd(), touch().nowhere()], &[]),
        ("another value", vec![cd(), touch().with("v", "2")], &[(Check::Value, 1)]),
        ("value not known", vec![cd(), touch().with("v", "?")], &[]),
        ("said to be unset", vec![cd(), touch().without("v")], &[(Check::Value, 1)]),
        ("said to be set", vec![cd(), touch().with("w", "1")], &[(Check::Value, 1)]),
        ("rightly unset", vec![cd(), touch().without("w")], &[]),
        ("another word", vec![cd(), Say::new(text, "touch \"n$v\"", &["touch", "n2"]).shell_in("/dir").does(Create, "dir/n1")], &[(Check::Word, 1)]),
        ("word not known", vec![cd(), Say::new(text, "touch \"n$v\"", &["touch", "?"]).shell_in("/dir").does(Create, "dir/n1")], &[]),
        ("one word too many", vec![cd(), Say::new(text, "touch \"n$v\"", &["touch", "n1", "x"]).shell_in("/dir").does(Create, "dir/n1")], &[(Check::Word, 1)]),
        ("words left open", vec![cd(), Say::new(text, "touch \"n$v\"", &["touch"]).shell_in("/dir").does(Create, "dir/n1").open()], &[]),
        ("another program", vec![cd(), Say::new(text, "touch \"n$v\"", &["rm", "n1"]).does(Create, "dir/n1")], &[(Check::Program, 1), (Check::Runs, 1)]),
        ("never", vec![cd(), touch().runs(Runs::Never)], &[(Check::Runs, 1), (Check::Effect, 1)]),
        ("one more was certain", vec![cd(), touch(), Say::new(text, "v=1", &["rm", "x"])], &[(Check::Runs, 1)]),
        ("one more was possible", vec![cd(), touch(), Say::new(text, "v=1", &["rm", "x"]).runs(Runs::Possibly)], &[]),
        ("one more effect was certain", vec![cd(), touch().does(Delete, "a.txt")], &[(Check::Certain, 1)]),
        ("effect on another path", vec![cd(), Say::new(text, "touch \"n$v\"", &["touch", "n1"]).shell_in("/dir").does(Create, "n1")], &[(Check::Certain, 1), (Check::Effect, 1)]),
        ("effect of another kind", vec![cd(), Say::new(text, "touch \"n$v\"", &["touch", "n1"]).shell_in("/dir").does(Mode, "dir/n1")], &[(Check::Certain, 1), (Check::Effect, 1)]),
    ];
    for (name, commands, want) in cases {
        let report = run(&mut harness, text, commands);
        assert_eq!(wrong(&report), want.iter().copied().collect(), "{name}: {:#?}", report.mismatches);
    }
    let report = run(&mut harness, text, vec![cd(), touch().nowhere().with("v", "?")]);
    assert_eq!((report.count(Check::Cwd).unknown, report.count(Check::Value).unknown), (2, 1), "unknown is counted");
}

#[test]
fn effects_of_every_form() {
    let Some(mut harness) = harness() else { return };
    let everything = Place::Shape("\0".into());
    #[rustfmt::skip]
    let cases: Vec<(&str, Vec<Say>, usize)> = vec![
        // The same through a link, by pattern, by shape, by a folder above.
        ("touch link/x", vec![Say::new("touch link/x", "touch link/x", &["touch", "link/x"]).does(Write, "link/x")], 0),
        ("rm dir/one.txt", vec![Say::new("rm dir/one.txt", "rm", &["rm", "dir/one.txt"]).may(Delete, Place::Glob(format!("{WORK}/dir/*.txt")))], 0),
        ("rm dir/one.txt", vec![Say::new("rm dir/one.txt", "rm", &["rm", "dir/one.txt"]).may(Delete, Place::Glob(format!("{WORK}/*.txt")))], 1),
        ("rm dir/one.txt", vec![Say::new("rm dir/one.txt", "rm", &["rm", "dir/one.txt"]).may(Delete, Place::Shape(format!("{WORK}/dir/\0")))], 0),
        ("rm dir/one.txt", vec![Say::new("rm dir/one.txt", "rm", &["rm", "dir/one.txt"]).may(Delete, everything.clone())], 0),
        ("rm dir/one.txt", vec![Say::new("rm dir/one.txt", "rm", &["rm", "dir/one.txt"]).may(Write, everything)], 1),
        ("rm -r dir", vec![Say::new("rm -r dir", "rm", &["rm", "-r", "dir"]).does(Delete, "dir").below(Delete, "dir")], 0),
        ("rm -r dir", vec![Say::new("rm -r dir", "rm", &["rm", "-r", "dir"]).does(Delete, "dir")], 4),
        ("mv a.txt z", vec![Say::new("mv a.txt z", "mv", &["mv", "a.txt", "z"]).does(Move, "a.txt").does(Create, "z")], 0),
        ("mv a.txt z", vec![Say::new("mv a.txt z", "mv", &["mv", "a.txt", "z"]).does(Move, "a.txt")], 1),
        ("ln -sf b.txt a-link", vec![Say::new("ln -sf b.txt a-link", "ln", &["ln", "-sf", "b.txt", "a-link"]).does(Link, "a-link")], 0),
        ("sed -i s/a/b/ a.txt", vec![Say::new("sed -i s/a/b/ a.txt", "sed", &["sed", "-i", "s/a/b/", "a.txt"]).does(Read, "a.txt").does(Write, "a.txt")], 0),
        ("install -m 600 a.txt i", vec![Say::new("install -m 600 a.txt i", "install", &["install", "-m", "600", "a.txt", "i"]).does(Read, "a.txt").does(Create, "i")], 0),
        ("echo x >> a.txt", vec![Say::new("echo x >> a.txt", "echo", &["echo", "x"]).does(Append, "a.txt")], 0),
        ("cat a.txt", vec![Say::new("cat a.txt", "cat", &["cat", "a.txt"])], 1),
        ("cat <<< x", vec![Say::new("cat <<< x", "cat", &["cat"])], 0),
        ("chmod 600 a-link", vec![Say::new("chmod 600 a-link", "chmod", &["chmod", "600", "a-link"]).does(Mode, "a-link")], 0),
    ];
    for (text, commands, want) in cases {
        let report = run(&mut harness, text, commands);
        assert_eq!(report.mismatches.len(), want, "{text}: {:#?}", report.mismatches);
    }
}

#[test]
fn commands_find_their_prediction() {
    let Some(mut harness) = harness() else { return };
    // The same words twice on a line: taken in order.
    let text = "touch x; cd dir; touch x";
    let cd = || Say::new(text, "cd dir", &["cd", "dir"]);
    let second = |cwd: &str| {
        let mut say = Say::new(text, "touch x", &["touch", "x"]).shell_in(cwd);
        say.0.span = (text.len() - 7, text.len());
        say
    };
    let first = || Say::new(text, "touch x", &["touch", "x"]).does(Create, "x").does(Create, "dir/x");
    assert_eq!(wrong(&run(&mut harness, text, vec![first(), cd(), second("/dir")])), BTreeMap::new());
    assert_eq!(
        wrong(&run(&mut harness, text, vec![first().shell_in("/dir"), cd(), second("")])),
        [(Check::Cwd, 4)].into()
    );
    // A loop: one prediction for many runs, with what changes not known.
    let text = "for i in 1 2; do touch f$i; done";
    let body = |value: &str| {
        Say::new(text, "touch f$i", &["touch", "?"]).with("i", value).may(Create, Place::Shape(format!("{WORK}/f\0")))
    };
    assert_eq!(wrong(&run(&mut harness, text, vec![body("?")])), BTreeMap::new());
    assert_eq!(wrong(&run(&mut harness, text, vec![body("1")])), [(Check::Value, 1)].into());
    assert_eq!(wrong(&run(&mut harness, text, vec![body("1"), body("2")])), BTreeMap::new());
    // Wrappers: the inner command's folder and environment are those of the program.
    let text = "env -C dir A=1 touch x";
    let outer = || Say::new(text, text, &["env", "-C", "dir", "A=1", "touch", "x"]);
    let inner = |cwd: &str, value: &str| {
        Say::new(text, "touch x", &["touch", "x"]).ran_in(cwd).with("A", value).via("env").does(Create, "dir/x")
    };
    assert_eq!(wrong(&run(&mut harness, text, vec![outer(), inner("/dir", "1")])), BTreeMap::new());
    assert_eq!(wrong(&run(&mut harness, text, vec![inner("/dir", "1")])), BTreeMap::new(), "`via` names env");
    assert_eq!(
        wrong(&run(&mut harness, text, vec![outer(), inner("", "2")])),
        [(Check::Cwd, 1), (Check::Value, 1)].into()
    );
    // A pipeline, and a shell in a shell.
    let text = "echo x | sh -c 'cd dir; rm one.txt'";
    let echo = Say::new(text, "echo x", &["echo", "x"]);
    let sh = Say::new(text, "sh -c 'cd dir; rm one.txt'", &["sh", "-c", "cd dir; rm one.txt"]);
    let rm = Say::new(text, "rm one.txt", &["rm", "one.txt"]).shell_in("/dir").via("sh").does(Delete, "dir/one.txt");
    assert_eq!(wrong(&run(&mut harness, text, vec![echo, sh, rm])), BTreeMap::new());
}

#[test]
fn the_unseen_is_not_held_against_the_engine() {
    let Some(mut harness) = harness() else { return };
    let text = "./run.sh";
    let command = |opaque: bool| Prediction {
        commands: vec![Predicted { opaque, ..Say::new(text, text, &["./run.sh"]).0 }],
        unparsed: false,
    };
    let report = harness.run(text, &command(true)).expect("runs");
    assert_eq!(wrong(&report), BTreeMap::new());
    assert!(report.count(Check::Effect).unknown > 0 && report.count(Check::Program).unknown > 0);
    let report = harness.run(text, &command(false)).expect("runs");
    assert!(report.count(Check::Effect).wrong > 0 && report.count(Check::Program).wrong > 0);
    let report = harness.run("touch x", &Prediction { unparsed: true, ..Prediction::default() }).expect("runs");
    assert_eq!(wrong(&report), BTreeMap::new());
}

#[test]
fn the_trap_does_not_disturb_the_script() {
    let Some(mut harness) = harness() else { return };
    #[rustfmt::skip]
    let cases = [
        ("false; echo $?", "1\n"),
        ("true | false | true; echo \"${PIPESTATUS[*]}\"", "0 1 0\n"),
        ("echo a b >/dev/null; echo $_", "b\n"),
        ("cd dir; cd /; echo $OLDPWD", "/tmp/truth/work/dir\n"),
        ("IFS=x; v=axb; echo $v; set -- 1 2; echo \"$*\"", "a b\n1x2\n"),
        ("set -eu; f() { echo in; }; f; (false) || echo c; x=$(echo s); echo $x", "in\nc\ns\n"),
        ("exec 2>&1; echo e >&2; echo o", "e\no\n"),
        ("f() { return 3; }; f; echo $?; trap 'echo bye $?' EXIT; exit 4", "3\nbye 4\n"),
        ("[[ abc =~ b(.) ]]; echo ${BASH_REMATCH[1]}", "c\n"),
        ("while read -r l; do echo \"$l\"; done < list", "a.txt\nb.txt\n"),
        ("echo $LINENO\necho $LINENO $BASH_SUBSHELL", "1\n2 0\n"),
        ("exec echo gone", "gone\n"),
        ("set -C; echo x > new; cat new; declare -r ro=1; echo $ro", "x\n1\n"),
    ];
    for (text, want) in cases {
        let seen = harness.observe(text, &trap::names(text, [])).expect("runs");
        assert_eq!(seen.output, want, "{text}");
        assert!(!seen.steps.is_empty(), "{text}");
    }
}

#[test]
fn a_script_that_does_not_end_is_ended() {
    let Some(mut harness) = harness() else { return };
    let seen = harness.observe("touch x; setsid sleep 1000 & sleep 1000", &[]).expect("runs");
    assert!(seen.timed_out && seen.exit.is_none());
    // What it had done is known, and the next one starts clean.
    assert!(seen.watched.events.iter().any(|event| event.path == format!("{WORK}/x")));
    assert!(!harness.observe("[ ! -e x ]", &[]).expect("runs").timed_out);
}

#[test]
fn home_is_watched_and_the_rest_is_not() {
    let Some(mut harness) = harness() else { return };
    let seen =
        harness.observe("touch ~/h; cat /etc/passwd >/dev/null; touch /tmp/elsewhere; cat <<< x", &[]).expect("runs");
    let paths: BTreeSet<&str> = seen.watched.events.iter().map(|event| event.path.as_str()).collect();
    assert_eq!(paths, [format!("{HOME}/h").as_str()].into());
}

/// Two runs of the same script must tell the same: what differs is a fault of the harness.
#[test]
fn the_mirror_agrees() {
    let Some(harness) = harness() else { return };
    let mut texts = generate::scripts(20_260, 200);
    let own: Vec<&str> = scripts::all().iter().map(|script| script.text).collect();
    assert!(own.len() >= 120, "{} hand-written scripts", own.len());
    texts.extend(own.into_iter().map(str::to_owned));
    // A name that `mktemp` draws is another one in each run.
    texts.retain(|text| !text.contains("mktemp"));
    let spare = std::sync::Mutex::new(harness);
    let predict = |text: &str| {
        let mut harness = spare.lock().expect("no test thread panics with it");
        let seen = harness.observe(text, &trap::names(text, [])).expect("runs");
        mirror::predict(text, &seen)
    };
    // Background jobs and races make a run differ now and then. A script that did is run again.
    for _ in 0..4 {
        let options = Options { progress: false, keep: usize::MAX, ..Options::default() };
        let outcome = drive::run(&texts, &predict, options).expect("runs");
        let told = drive::told(&outcome);
        assert!(outcome.failures.is_empty() && outcome.table.timed_out == 0, "{told}");
        assert_eq!(outcome.table.count(Check::Witness).wrong, 0, "{told}");
        let differ: BTreeSet<String> = outcome.mismatches.into_iter().map(|mismatch| mismatch.script).collect();
        if differ.is_empty() {
            return;
        }
        texts = differ.into_iter().collect();
    }
    panic!("these differ each time: {texts:#?}");
}
