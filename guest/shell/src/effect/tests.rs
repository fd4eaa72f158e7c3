//! Cases of `cases.txt`: a command, what is there, what it does.

use super::*;
use crate::facts::Facts;
use crate::interpreter::parse;

/// `a d/` are a file and a folder in `/w`; with nothing said, nothing is known, and with anything, the rest is absent.
struct Given<'a>(&'a str);

impl FileOracle for Given<'_> {
    fn look(&self, path: &str) -> Presence {
        if self.0.is_empty() {
            return Presence::Unknown;
        }
        if matches!(path, "/" | "/w" | "/tmp") {
            return Presence::Folder;
        }
        for name in self.0.split_whitespace() {
            let full = absolute(name, "/w");
            if path == full {
                return if name.ends_with('/') { Presence::Folder } else { Presence::File };
            }
            if full.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')) {
                return Presence::Folder;
            }
        }
        Presence::Absent
    }
}

/// Short forms: `W a` writes /w/a; `r` recursive, `d` a folder, `c` copied, `!` certain, `~` another directory;
/// `<..>` a glob, `?..` unknown with `_` for its holes.
fn render(effect: &Effect) -> String {
    let kind = match effect.kind {
        EffectKind::Mention => "M",
        EffectKind::Read => "R",
        EffectKind::Write => "W",
        EffectKind::Append => "A",
        EffectKind::Create => "C",
        EffectKind::Delete => "D",
        EffectKind::Move => "V",
        EffectKind::Link => "L",
        EffectKind::HardLink => "H",
        EffectKind::Mode => "P",
        EffectKind::Execute => "X",
        EffectKind::Send => "S",
    };
    let marks = [
        (effect.recursive, "r"),
        (effect.folder, "d"),
        (effect.copied, "c"),
        (effect.certain, "!"),
        (effect.alternative, "~"),
    ];
    let marks: String = marks.iter().filter(|mark| mark.0).map(|mark| mark.1).collect();
    let short = |path: &str| match path.strip_prefix("/w/") {
        Some(rest) => rest.to_owned(),
        None if path == "/w" => ".".to_owned(),
        None => path.to_owned(),
    };
    let path = match &effect.path {
        Value::Known(path) => short(path),
        Value::Pattern(path) => format!("<{}>", short(path)),
        Value::Unknown { shape, .. } => format!("?{}", short(shape).replace(Value::HOLE, "_")),
    };
    format!("{kind}{marks} {path}")
}

fn found(command: &Command, facts: &str) -> Vec<Effect> {
    effects(command, &Call::read(command), &Given(facts))
}

fn rendered(text: &str, facts: &str) -> String {
    let script = parse(text, &Facts::new("/w").home("/h"));
    let Some(command) = script.commands.iter().rfind(|command| command.via.is_empty()) else { return String::new() };
    let effects: Vec<String> = found(command, facts).iter().map(render).collect();
    let unlisted = if Call::read(command).is_unlisted(command) { "* " } else { "" };
    format!("{unlisted}{}", effects.join(", ")).trim_end().to_owned()
}

#[test]
fn commands_have_the_effects_of_the_table() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("cases.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut fields = line.split('|').map(str::trim);
        let (text, facts, expected) =
            (fields.next().unwrap_or(""), fields.next().unwrap_or(""), fields.next().unwrap_or(""));
        count += 1;
        let found = rendered(text, facts);
        if found != expected {
            wrong.push(format!("{text} | {facts} | {found}\n    expected {expected}"));
        }
    }
    assert!(count >= 250, "only {count} cases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_words_are_too_odd() {
    let odd = "'' - -- --= -= = a= =a -é é --é=ü -o -f -C -C '' -t -i -e 's/a' -d @ x@ : h: :p '[' '*' ? [a] ~ / // . .. ../.. a/../.. \
               $X \"$X\" -$X --out=$X \"-o$X\" x$X/.. -aé/b '#1' %d 's\\' 'w ' '/' -0é -ié --in-place=*/ {} \\; + -exec -delete > '' < $X >> ../..";
    for typed in table::tests::typed().iter().filter(|typed| !matches!(typed.as_str(), "[[" | "time" | "coproc")) {
        for text in [format!("{typed} {odd}"), typed.clone(), format!("cd x; {typed} a b c"), format!("{typed} -")] {
            let script = parse(&text, &Facts::new("/w").home("/h"));
            assert_eq!(script.unparsed, None, "{text}");
            for command in &script.commands {
                for facts in ["", "a b/"] {
                    let found = found(command, facts);
                    assert!(found.iter().all(|effect| !effect.path.text().is_empty()), "{text}");
                }
                assert_eq!(command.data().len(), command.words.len(), "{text}");
                Call::read(command).is_unlisted(command);
            }
        }
    }
}

#[test]
fn what_is_data() {
    #[rustfmt::skip]
    let cases: &[(&str, &[&str])] = &[
        ("echo a b", &["a", "b"]),
        ("git commit -m 'rm x' f", &["rm x"]),
        ("git commit -am 'rm x'", &["rm x"]),
        ("git commit --message='rm x'", &["--message=rm x"]),
        ("git -C d commit -m x", &["x"]),
        ("git checkout -m x", &[]),
        ("grep -rn 'rm x' src", &["rm x"]),
        ("grep -e 'rm x' src", &["rm x"]),
        ("grep -f pats src", &[]),
        ("rg --files src", &[]),
        ("rg x src", &["x"]),
        ("sed s/a/b/ f", &["s/a/b/"]),
        ("sed -i '' s/a/b/ f", &["", "s/a/b/"]),
        ("sed -e s/a/b/ f", &["s/a/b/"]),
        ("gh pr create -t 'rm x' --body 'y z'", &["rm x", "y z"]),
        ("rm x", &[]),
        ("sh -c 'rm x'", &[]),
        ("perl -e 'unlink x'", &[]),
        ("awk '{system(1)}' f", &[]),
        ("jq .a f", &[".a"]),
        ("curl -H 'a: b' u", &[]),
    ];
    for (text, expected) in cases {
        let script = parse(text, &Facts::new("/w"));
        let command = script.commands.first().expect("a command");
        let data: Vec<&str> = command
            .words
            .iter()
            .zip(command.data().iter())
            .filter(|pair| *pair.1)
            .map(|pair| pair.0.value.text())
            .collect();
        assert_eq!(data, *expected, "{text}");
    }
}

#[test]
fn added_words_may_be_anything() {
    for (text, expected) in [
        ("xargs rm", "D ?_"),
        ("xargs rm -r a", "Dr a, Dr ?_"),
        ("xargs mv -t d", "Vrc ?_, Wr ?d/_"),
        ("xargs cp a", "Rc a, W ?_, W~ ?_/a"),
        ("xargs sed -i s/a/b/", "R ?_, W ?_"),
        ("xargs frob", "M ?_"),
    ] {
        let script = parse(text, &Facts::new("/w"));
        let command = script.commands.last().expect("a command");
        let found: Vec<String> = found(command, "").iter().map(render).collect();
        assert_eq!(found.join(", "), expected, "{text}");
    }
}

#[test]
fn many_words_are_linear() {
    let script = parse(&format!("cp {}d/", "a ".repeat(20_000)), &Facts::new("/w"));
    let command = script.commands.first().expect("a command");
    assert_eq!(found(command, "").len(), 40_000);
}
