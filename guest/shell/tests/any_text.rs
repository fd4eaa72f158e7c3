//! Whatever the text: an answer, in bounded work, whose positions lie in the text. The same that the fuzz target
//! checks, with a fixed seed and texts that are put together from what a shell takes notice of.

use std::rc::Rc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use toolgate_shell::{Facts, FileOracle, Presence, parse};

struct Somewhere;

impl FileOracle for Somewhere {
    fn look(&self, path: &str) -> Presence {
        match path.len() % 4 {
            _ if path == "/w" => Presence::Folder,
            0 => Presence::Absent,
            1 => Presence::File,
            2 => Presence::Folder,
            _ => Presence::Unknown,
        }
    }
}

const TOKENS: &[&str] = &[
    " ",
    " ",
    " ",
    "\n",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "(",
    ")",
    "((",
    "))",
    "{",
    "}",
    "{ ",
    "; }",
    "[[",
    "]]",
    "[",
    "]",
    "<",
    ">",
    ">>",
    "<<E",
    "<<-'E'",
    "\nE\n",
    "<<<",
    "<>",
    "&>",
    "2>&1",
    ">|",
    "<(",
    ">(",
    "$",
    "$(",
    "${",
    "$((",
    "$'",
    "$\"",
    "`",
    "'",
    "\"",
    "\\",
    "\\\n",
    "#",
    "!",
    "~",
    "=",
    "+=",
    "*",
    "?",
    "if ",
    "then ",
    "elif ",
    "else ",
    "fi",
    "for ",
    "in ",
    "do ",
    "done",
    "while ",
    "until ",
    "case ",
    "esac",
    ";;",
    ";&",
    "select ",
    "function ",
    "coproc ",
    "time ",
    "f()",
    "f",
    "a",
    "b=1",
    "a[1]=2",
    "x=(1 2)",
    "$x",
    "${x:-y}",
    "${x%%*}",
    "${x//a/b}",
    "${#x}",
    "${!x}",
    "${x[@]}",
    "\"$@\"",
    "{1..3}",
    "{a,b}",
    "cd ",
    "cd ..",
    "pushd ",
    "popd",
    "export ",
    "local ",
    "declare -n ",
    "unset ",
    "read ",
    "set -e",
    "set --",
    "shift",
    "trap ",
    "eval ",
    "source ",
    ". ",
    "exec ",
    "exit",
    "return",
    "break",
    "continue",
    "echo ",
    "printf '%s' ",
    "rm -rf ",
    "mkdir -p ",
    "cp ",
    "sudo ",
    "env -i ",
    "xargs ",
    "find . -exec ",
    "{} \\;",
    "bash -c ",
    "sh",
    "ssh h ",
    "python3 -c ",
    "perl -e ",
    "git ",
    "-C ",
    "--",
    "/",
    "é",
    "\u{202e}",
    "\r",
    "\t",
    "0",
    "99999999999999999999",
    "-",
    "EXIT",
];

fn check(text: &str) -> Result<(), TestCaseError> {
    let plain = Facts::new("/w").home("/home/u");
    let full = Facts::new("/w").home("/home/u").variable("A", "x y").complete().files(Rc::new(Somewhere));
    for facts in [plain, full] {
        let script = parse(text, &facts);
        for command in &script.commands {
            let words = command.words.iter().map(|word| word.span);
            for span in words.chain([command.span]).chain(command.effects.iter().map(|effect| effect.span)) {
                prop_assert!(span.start <= span.end, "{span:?}");
                prop_assert!(text.get(span.start..span.end).is_some(), "{span:?}");
            }
        }
        prop_assert_eq!(script.commands.len(), parse(text, &facts).commands.len(), "the same text, the same answer");
    }
    Ok(())
}

#[test]
fn any_text_has_an_answer() {
    let seed = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let config = Config { cases: 4_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, seed);
    let tokens = prop::collection::vec(prop::sample::select(TOKENS), 0..40).prop_map(|tokens| tokens.concat());
    let result = runner.run(&tokens, |text| check(&text));
    assert!(result.is_ok(), "{}", result.err().map(|error| error.to_string()).unwrap_or_default());
}

#[test]
fn what_grows_without_an_end_has_an_answer() {
    let repeated = [
        "(",
        "$(",
        "${x:-",
        "{a,",
        "{",
        "`",
        "! ",
        "[[ ! ",
        "a | ",
        "a && ",
        "if ",
        "case x in ",
        "<<E ",
        "f() { f; }; f; ",
        "x=$x$x; ",
        "for i in 1 2 3 4 5 6 7 8 9; do ",
        "while a; do ",
        "eval ",
        "sudo ",
        "bash -c '",
        "cd d; ",
        "$((",
        "a[",
        "((",
        "\\",
        "~",
        "\"$(",
        "f(){ g;g;}; g(){ f;f;}; f; ",
        "python3 -c \"f(",
        "{1..9}",
        "*",
        "> f ",
        "A=1 ",
        "[a",
        "trap a EXIT; ",
        "e\\\n",
    ];
    for unit in repeated {
        for count in [100, 10_000] {
            let text = unit.repeat(count);
            let script = parse(&text, &Facts::new("/w"));
            assert!(script.unparsed.is_some() || script.commands.len() < 40_000, "{unit} {count}");
        }
    }
}
