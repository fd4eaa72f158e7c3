//! Makes shell scripts that are safe and mostly succeed: a few statements over the scratch tree, each from the
//! constructs that the engine must understand. The same seed makes the same scripts.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::{Union, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

type Text = BoxedStrategy<String>;

/// `count` scripts for a seed.
pub fn scripts(seed: u64, count: usize) -> Vec<String> {
    let mut bytes = [0_u8; 32];
    for (place, byte) in bytes.iter_mut().zip(seed.to_le_bytes()) {
        *place = byte;
    }
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let strategy = script();
    let one = |_| strategy.new_tree(&mut runner).map(|tree| tree.current()).unwrap_or_default();
    (0..count).map(one).collect()
}

/// A whole script.
pub fn script() -> impl Strategy<Value = String> {
    let lines = (vec(basics(), 0..=2), vec(statement(3), 1..=6)).prop_map(|(basics, lines)| [basics, lines].concat());
    let separator = prop_oneof![3 => Just("\n"), 1 => Just("; ")];
    let prologue = prop_oneof![
        12 => Just(String::new()),
        1 => Just("set -e\n".to_owned()),
        1 => Just("set -u\n".to_owned()),
        1 => Just("set -o pipefail\n".to_owned()),
        1 => Just("trap 'touch at-exit' EXIT\n".to_owned()),
        1 => Just("trap 'rm -f a.txt' EXIT\n".to_owned()),
        1 => Just("shopt -s nullglob\n".to_owned()),
    ];
    (prologue, lines, separator).prop_map(|(prologue, lines, separator)| {
        // A heredoc ends at a line of its own, so nothing may follow it on its line.
        let separator = if lines.iter().any(|line| line.contains('\n')) { "\n" } else { separator };
        format!("{prologue}{}", lines.join(separator))
    })
}

fn text(choices: &'static [&'static str]) -> Text {
    select(choices).prop_map(str::to_owned).boxed()
}

/// What a template has for each part that is made.
const HOLE: char = '¤';

/// Fills each hole of a template, from the left, with what the strategies make.
fn fill(template: &'static str, parts: Vec<Text>) -> Text {
    parts
        .prop_map(move |parts| {
            let mut parts = parts.into_iter();
            template.split(HOLE).enumerate().fold(String::new(), |mut out, (n, piece)| {
                if n > 0 {
                    out.extend(parts.next());
                }
                out.push_str(piece);
                out
            })
        })
        .boxed()
}

fn one_of(choices: Vec<(u32, Text)>) -> Text {
    Union::new_weighted(choices).boxed()
}

fn templates(weight: u32, rows: Vec<(&'static str, Vec<Text>)>) -> (u32, Text) {
    (weight, Union::new(rows.into_iter().map(|(template, parts)| fill(template, parts))).boxed())
}

/// A file that is there at the start, as a word.
fn file() -> Text {
    text(&[
        "a.txt",
        "b.txt",
        "c.md",
        "data.csv",
        "empty",
        "'two words.txt'",
        "two\\ words.txt",
        "\"a.txt\"",
        "./b.txt",
        "dir/one.txt",
        "dir/two.txt",
        "dir/sub/deep.txt",
        "link/one.txt",
        "'my dir/x y.txt'",
        "\"$PWD/a.txt\"",
        "~/notes.txt",
        "\"$HOME\"/notes.txt",
        "${HOME}/notes.txt",
        "dir/../a.txt",
        "a-link",
        "$'a.txt'",
        "list",
    ])
}

fn folder() -> Text {
    text(&[
        "dir",
        "bare",
        "'my dir'",
        "dir/sub",
        "link",
        "./dir",
        "~",
        "\"$HOME\"",
        "..",
        "dir/..",
        "$PWD/dir",
        "\"my dir\"",
        ".",
    ])
}

/// A name that is not there yet.
fn fresh() -> Text {
    prop_oneof![
        4 => text(&["new", "out", "x.log", "n1", "'new file'", "new\\ one", "\"q\"", "dir/made", "bare/made", "./made", "~/made", "$HOME/m", "'my dir'/m", "link/via"]),
        3 => word(),
    ]
    .boxed()
}

/// Text that stands for one harmless word, often not a literal.
fn word() -> Text {
    prop_oneof![
        4 => text(&["one", "two", "w-3", "'it is'", "\"x y\"", "a\\ b", "$'t\\tb'", "w\"x\"'y'"]),
        3 => text(&["$v", "\"$v\"", "${v}x", "\"${v:-def}\"", "${nope:-def}", "${nope-d}", "\"${v:+alt}\"", "${v:=set}", "\"${v}_${w}\""]),
        3 => text(&["\"${p%.*}\"", "\"${p##*/}\"", "\"${p%/*}\"", "${p#*.}", "${p/o/0}", "${p//o/0}", "\"${v^^}\"", "${v^}", "\"${V,,}\"", "${#p}", "${p:0:3}", "${p:2}", "\"${p: -3}\"", "\"${!r}\""]),
        2 => text(&["$((1+2))", "$((n*2))", "$((n++))", "n$((n%3))", "$(( n > 2 ? 5 : 6 ))"]),
        2 => text(&["$(echo sub)", "\"$(printf %s-%s a b)\"", "`echo tick`", "$(basename /x/base.c .c)", "$(dirname a/b)", "\"$(echo 'p q')\""]),
        2 => text(&["${arr[0]}", "\"${arr[1]}\"", "${#arr[@]}", "\"${arr[n-3]}\"", "${map[k]}"]),
    ]
    .boxed()
}

/// Several words from one.
fn words() -> Text {
    prop_oneof![
        3 => text(&["{x,y}1", "n{1..3}", "{a,b}{1,2}", "pre{,-post}", "m{01..03}"]),
        2 => text(&["$list", "\"${arr[@]}\"", "${arr[*]}", "\"$@\"x"]),
        2 => word(),
    ]
    .boxed()
}

fn glob() -> Text {
    text(&["*.txt", "dir/*", "?.txt", "[ab].txt", "dir/*.txt", "*.m?", "link/*.txt", "d*/one.txt", "~/n*"])
}

/// Assignments that the words above draw on come first in most scripts.
fn basics() -> Text {
    text(&[
        "v=val w=two",
        "p=foo.tar.gz",
        "p=dir/one.txt n=3",
        "n=3",
        "list='l1 l2' r=v",
        "arr=(e1 'e 2' e3)",
        "V=UP v=vee",
        "set -- p1 'p 2'",
    ])
}

fn assignment() -> Text {
    prop_oneof![
        4 => text(&["v=val", "v='va l'", "v=\"x$w\"", "w=two", "p=foo.tar.gz", "p=dir/one.txt", "n=3", "V=UP", "list='l1 l2'", "arr=(e1 'e 2' e3)", "r=v", "v=$(echo got)", "v=$w", "w=${v}2", "v+=more", "arr+=(e4)", "arr[1]=changed"]),
        2 => text(&["export v=exp", "export E=env", "declare -i n=4+1", "declare w=dec", "readonly RO=ro", "unset v", "unset nope w", "n=$((n+1))", "((n++))", "let n=5", "v= w=b", "declare -A map=([k]=mv)", "printf -v v '%s' fmt", "read -r v <<<'from here'", "read v w <<< \"one two three\"", "IFS=: read -r v w <<< a:b", "mapfile -t arr < list", "set -- p1 'p 2' p3", "shift", "HOME=$PWD/dir", "declare -n r2=v; r2=through", "local_out=$PWD"]),
    ]
    .boxed()
}

fn moving() -> Text {
    prop_oneof![
        4 => fill("cd ¤", vec![folder()]),
        1 => fill("cd -- ¤", vec![folder()]),
        1 => fill("cd ¤ && pwd", vec![folder()]),
        1 => fill("pushd ¤ >/dev/null", vec![folder()]),
        1 => fill("pushd ¤ >/dev/null; touch there; popd >/dev/null", vec![folder()]),
        1 => fill("cd -P ¤", vec![folder()]),
        2 => text(&["cd - >/dev/null", "cd", "cd nowhere", "cd nowhere || touch missed", "cd nowhere 2>/dev/null && touch never", "cd dir/sub/../sub", "popd", "cd \"$v\"", "CDPATH=dir cd sub", "mkdir -p deep/er && cd deep/er", "cd dir || exit"]),
    ]
    .boxed()
}

/// One command that acts on files or says something.
fn command() -> Text {
    one_of(vec![
        templates(
            8,
            vec![
                ("touch ¤", vec![fresh()]),
                ("touch ¤", vec![words()]),
                ("touch -- ¤ ¤", vec![fresh(), fresh()]),
                ("touch -c ¤", vec![fresh()]),
                ("mkdir ¤", vec![fresh()]),
                ("mkdir -p ¤/¤", vec![fresh(), word()]),
                ("rm ¤", vec![file()]),
                ("rm -f ¤", vec![glob()]),
                ("rm -rf ¤", vec![folder_below()]),
                ("rm -r -- ¤", vec![folder_below()]),
                ("rmdir bare", vec![]),
                ("cp ¤ ¤", vec![file(), fresh()]),
                ("cp ¤ ¤ bare", vec![file(), file()]),
                ("cp -r ¤ ¤", vec![folder_below(), fresh()]),
                ("cp -t bare ¤", vec![glob()]),
                ("cp ¤ ¤", vec![file(), folder_below()]),
                ("mv ¤ ¤", vec![file(), fresh()]),
                ("mv ¤ ¤", vec![file(), folder_below()]),
                ("mv -n ¤ ¤", vec![file(), file()]),
                ("mv ¤ ¤", vec![folder_below(), fresh()]),
                ("mv -t bare ¤", vec![file()]),
                ("ln ¤ ¤", vec![file(), fresh()]),
                ("ln -s ¤ ¤", vec![file(), fresh()]),
                ("ln -sf a.txt ¤", vec![fresh()]),
            ],
        ),
        templates(
            6,
            vec![
                ("sed -i s/a/b/ ¤", vec![file()]),
                ("sed -i.bak -e s/e/E/ ¤", vec![file()]),
                ("sed -n 1p ¤", vec![file()]),
                ("truncate -s 5 ¤", vec![file()]),
                ("chmod 600 ¤", vec![file()]),
                ("chmod -R u+w ¤", vec![folder_below()]),
                ("install -m 644 ¤ ¤", vec![file(), fresh()]),
                ("install -d ¤", vec![fresh()]),
                ("dd if=¤ of=out.dd status=none", vec![text(&["a.txt", "b.txt", "dir/one.txt"])]),
                ("sort -o ¤ b.txt", vec![fresh()]),
                ("sort ¤ -o b.txt", vec![file()]),
                ("split -l 1 ¤ part-", vec![file()]),
                ("tee ¤ < ¤ >/dev/null", vec![fresh(), file()]),
                ("tee -a ¤ <<< ¤", vec![file(), word()]),
                ("cat ¤", vec![file()]),
                ("cat ¤", vec![glob()]),
                ("head -n 1 ¤ ¤", vec![file(), file()]),
                ("grep -q a ¤", vec![file()]),
                ("wc -l < ¤", vec![file()]),
                ("cmp -s ¤ ¤", vec![file(), file()]),
                ("shred -u ¤", vec![text(&["a.txt", "dir/one.txt"])]),
                ("unlink ¤", vec![text(&["a.txt", "dir/one.txt", "a-link"])]),
                ("tar cf ¤ ¤", vec![text(&["t.tar", "bare/t.tar"]), folder_below()]),
            ],
        ),
        templates(
            4,
            vec![
                ("echo ¤ ¤", vec![word(), words()]),
                ("printf '%s\\n' ¤", vec![words()]),
                ("echo ¤ > ¤", vec![word(), fresh()]),
                ("echo ¤ >> ¤", vec![word(), file()]),
                ("echo ¤ >| ¤", vec![word(), fresh()]),
                ("echo ¤ &> ¤", vec![word(), fresh()]),
                ("echo ¤ >&2", vec![word()]),
                ("> ¤", vec![fresh()]),
                ("> ¤ echo ¤", vec![fresh(), word()]),
                ("cat < ¤ > ¤", vec![file(), fresh()]),
                ("ls ¤ 2> ¤", vec![folder(), text(&["err", "/dev/null"])]),
                ("ls nowhere > ¤ 2>&1", vec![fresh()]),
                ("{ echo ¤; cat ¤; } > ¤", vec![word(), file(), fresh()]),
                ("exec 3> ¤; echo ¤ >&3; exec 3>&-", vec![fresh(), word()]),
                ("cat 0<> ¤", vec![file()]),
                ("echo ¤ {fd}> ¤", vec![word(), fresh()]),
                ("cat > ¤ <<E\nbody $v ¤\nE", vec![fresh(), word()]),
                ("cat > ¤ <<'E'\nbody $v $(touch never)\nE", vec![fresh()]),
                ("cat >> ¤ <<-E\n\tbody\n\tE", vec![file()]),
                ("cat <<< ¤ > ¤", vec![word(), fresh()]),
                ("bash <<E\ntouch ¤\nE", vec![text(&["from-heredoc", "dir/from-heredoc"])]),
            ],
        ),
        templates(
            3,
            vec![
                ("true", vec![]),
                (":", vec![]),
                ("test -f ¤", vec![file()]),
                ("[ -d ¤ ]", vec![folder()]),
                ("[[ -e ¤ ]]", vec![file()]),
                ("[[ ¤ == v* ]]", vec![word()]),
                ("false", vec![]),
                ("pwd", vec![]),
            ],
        ),
    ])
}

/// A folder that may be removed or moved without ending the script's own.
fn folder_below() -> Text {
    text(&["dir", "bare", "'my dir'", "dir/sub", "./dir", "bare/"])
}

/// A command inside something that runs it.
fn wrapped() -> Text {
    one_of(vec![
        templates(
            3,
            vec![
                ("env ¤", vec![simple()]),
                ("env A=1 ¤", vec![simple()]),
                ("env -i PATH=\"$PATH\" ¤", vec![simple()]),
                ("env -C dir ¤", vec![simple()]),
                ("env -u HOME B=2 ¤", vec![simple()]),
                ("nice ¤", vec![simple()]),
                ("nice -n 5 ¤", vec![simple()]),
                ("timeout 5 ¤", vec![simple()]),
                ("timeout -k 1 5s ¤", vec![simple()]),
                ("nohup ¤ 2>/dev/null", vec![simple()]),
                ("setsid -w ¤", vec![simple()]),
                ("stdbuf -oL ¤", vec![simple()]),
                ("command ¤", vec![simple()]),
                ("command -p ¤", vec![simple()]),
                ("A=1 B='b b' ¤", vec![simple()]),
                ("v=pre ¤", vec![simple()]),
                ("/usr/bin/env nice timeout 5 ¤", vec![simple()]),
                ("! ¤", vec![simple()]),
                ("time ¤", vec![simple()]),
            ],
        ),
        templates(
            3,
            vec![
                ("sh -c 'touch \"$0\" \"$1\"' ¤ ¤", vec![fresh(), word()]),
                ("bash -c '¤'", vec![text(&["touch b1", "cd dir && touch in", "echo $0 > $1", "x=1; touch x$x"])]),
                ("bash -c 'cd dir; touch \"$1\"' _ ¤", vec![fresh()]),
                (
                    "sh -ec '¤' || true",
                    vec![text(&["rm a.txt; touch s2", "cd nowhere; touch never", "umask 022; > s3"])],
                ),
                ("bash -c \"touch ¤\"", vec![text(&["c1", "$v", "'q q'", "\\\"$v\\\""])]),
                (
                    "eval ¤",
                    vec![text(&[
                        "'touch e1'",
                        "\"touch \\$v\"",
                        "touch e2",
                        "'cd dir' '&&' touch e3",
                        "\"v=ev; touch $v\"",
                    ])],
                ),
                (
                    "find ¤ -name '*.txt' -exec ¤ {} \\;",
                    vec![folder_below(), text(&["cat", "rm", "chmod 600", "cp -t bare"])],
                ),
                ("find ¤ -type f -exec touch {} +", vec![folder_below()]),
                ("find ¤ -name 'o*' -delete", vec![folder_below()]),
                ("find dir -execdir touch found \\; ", vec![]),
                ("echo ¤ | xargs touch", vec![words()]),
                ("printf '%s\\0' ¤ ¤ | xargs -0 touch", vec![word(), word()]),
                ("echo a.txt b.txt | xargs -n 1 rm", vec![]),
                ("xargs -I{} cp {} {}.bak < list", vec![]),
                ("cat list | xargs rm -f", vec![]),
                ("echo ¤ | tee ¤ >/dev/null", vec![word(), fresh()]),
                ("echo 'touch piped' | sh", vec![]),
                ("./run.sh ¤", vec![word()]),
                ("bash run.sh ¤", vec![word()]),
                (". ./lib.sh && lib_touch ¤", vec![text(&["l1", "l2"])]),
                ("exec 4< ¤; read -r v <&4; exec 4<&-", vec![file()]),
            ],
        ),
    ])
}

/// A program by name with harmless arguments: what wrappers can run.
fn simple() -> Text {
    one_of(vec![templates(
        1,
        vec![
            ("touch ¤", vec![fresh()]),
            ("touch ¤", vec![words()]),
            ("cat ¤", vec![file()]),
            ("rm -f ¤", vec![file()]),
            ("cp ¤ ¤", vec![file(), fresh()]),
            ("mkdir -p ¤", vec![fresh()]),
            ("true", vec![]),
        ],
    )])
}

/// A statement, with others inside it down to `depth`.
fn statement(depth: u32) -> Text {
    let leaf = one_of(vec![(5, assignment()), (7, command()), (3, moving()), (4, wrapped())]);
    if depth == 0 {
        return leaf;
    }
    // Made once and shared: a strategy is as large as its whole grammar.
    let below = statement(depth - 1);
    let inner = || below.clone();
    // What a heredoc's end would break is put on lines of its own.
    one_of(vec![
        (30, leaf),
        templates(
            4,
            vec![
                ("¤ && ¤", vec![moving(), command()]),
                ("¤ || ¤", vec![moving(), wrapped()]),
                ("true && ¤", vec![command()]),
                ("false || ¤", vec![command()]),
                (
                    "¤ && touch yes || touch no",
                    vec![text(&[
                        "test -f a.txt",
                        "[[ -d nowhere ]]",
                        "[ \"$v\" = val ]",
                        "grep -q beta a.txt",
                        "((n > 2))",
                    ])],
                ),
            ],
        ),
        templates(
            4,
            vec![
                ("(\n¤\n)", vec![inner()]),
                ("( ¤; touch sub )", vec![moving()]),
                ("{\n¤\n}", vec![inner()]),
                ("{ ¤; touch group; }", vec![moving()]),
                ("(\n¤\n) &\nwait", vec![inner()]),
                ("touch bg & wait", vec![]),
                ("¤ | cat", vec![moving()]),
                ("echo ¤ | { read -r v; touch \"$v\"; }", vec![text(&["piped", "'pi ped'"])]),
                ("v=$(\n¤\n)", vec![inner()]),
                ("cat <(echo ¤) > ¤", vec![word(), fresh()]),
                ("coproc true; wait", vec![]),
            ],
        ),
        templates(
            6,
            vec![
                (
                    "if ¤; then\n¤\nelse\n¤\nfi",
                    vec![
                        text(&[
                            "true",
                            "false",
                            "[ -f a.txt ]",
                            "test -d nowhere",
                            "cd dir",
                            "[[ $v == val ]]",
                            "! true",
                        ]),
                        inner(),
                        inner(),
                    ],
                ),
                ("if [ -d dir ]; then ¤; elif true; then touch no; fi", vec![moving()]),
                (
                    "for i in ¤; do touch \"f-$i\"; done",
                    vec![text(&["1 2 3", "{1..3}", "a 'b c'", "$list", "\"${arr[@]}\"", "*.txt", "$(echo p q)"])],
                ),
                ("for i in x y; do\n¤\ndone", vec![inner()]),
                ("for ((i=0; i<2; i++)); do touch \"c$i\"; done", vec![]),
                ("for f in *.txt; do ¤ \"$f\"; done", vec![text(&["cat", "cp -t bare", "touch", "rm", "chmod 600"])]),
                ("for i in 1 2 3; do [ $i = 2 ] && ¤; touch \"l$i\"; done", vec![text(&["continue", "break", "v=$i"])]),
                ("i=0; while [ $i -lt 2 ]; do touch \"w$i\"; i=$((i+1)); done", vec![]),
                ("i=2; until ((i == 0)); do ((i--)); > u$i; done", vec![]),
                ("while read -r l; do touch \"r-$l\"; done < list", vec![]),
                ("while IFS=, read -r id name; do echo \"$name\" >> names; done < data.csv", vec![]),
                ("case ¤ in v*) touch c-v;; one|two) touch c-12;; *) touch c-other;; esac", vec![word()]),
                ("case x in x)\n¤\n;& y) touch fall;; esac", vec![inner()]),
                ("select s in one two; do touch \"s-$s\"; break; done <<< 2 2>/dev/null", vec![]),
            ],
        ),
        templates(
            4,
            vec![
                ("f() { touch \"${1:-none}\"; }; f ¤", vec![word()]),
                ("f() { local v=loc; touch \"$v-$1\"; }; f ¤; touch \"after-$v\"", vec![word()]),
                ("f() {\n¤\n}\nf ¤", vec![inner(), word()]),
                ("f() { cd dir; }; f; touch infun", vec![]),
                ("f() ( cd dir; touch insub ); f", vec![]),
                ("function g { return ¤; touch never; }; g && touch ok || touch bad", vec![text(&["0", "1"])]),
                (
                    "f() { touch \"$#-$*\"; shift; touch \"$1\"; }; f ¤ ¤",
                    vec![text(&["a", "'b c'"]), text(&["d", "e"])],
                ),
                ("f() { v=global; }; f; touch $v", vec![]),
            ],
        ),
        templates(
            1,
            vec![
                ("set -e; ¤", vec![moving()]),
                ("(exit 3); touch \"code-$?\"", vec![]),
                ("exit 0", vec![]),
                ("(set -e; false; touch never); touch on", vec![]),
                ("exec touch replaced", vec![]),
                ("(exec touch replaced); touch not", vec![]),
                ("unset -f f; f 2>/dev/null", vec![]),
                ("alias ll='ls -l'", vec![]),
                ("umask 077; touch masked", vec![]),
            ],
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_scripts() {
        assert_eq!(scripts(3, 20), scripts(3, 20));
        assert_ne!(scripts(3, 20), scripts(4, 20));
    }

    #[test]
    fn scripts_stay_in_the_tree() {
        for script in scripts(5, 500) {
            assert!(!script.contains(HOLE), "unfilled: {script}");
            for word in script.split(|c: char| c.is_whitespace() || "=;<>".contains(c)) {
                let word = word.trim_start_matches(['"', '\'']);
                let fine = ["/dev/null", "/usr/bin/env", "/x/base.c"].contains(&word);
                assert!(!word.starts_with('/') || word.len() == 1 || fine, "{word} in {script}");
            }
        }
    }
}
