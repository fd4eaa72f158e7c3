//! Texts and the trees that they make, written compactly.

use std::fmt::Write as _;

use super::*;
use crate::word::Span;

fn list(list: &List) -> String {
    let items = list.items.iter().map(|item| {
        let mut text = pipeline(&item.first);
        for (connector, next) in &item.rest {
            let operator = if *connector == Connector::And { "&&" } else { "||" };
            let _ = write!(text, " {operator} {}", pipeline(next));
        }
        text + if item.background { " &" } else { "" }
    });
    items.collect::<Vec<_>>().join("; ")
}

fn pipeline(pipeline: &Pipeline) -> String {
    let commands: Vec<String> = pipeline.commands.iter().map(node).collect();
    format!("{}{}", if pipeline.negated { "!" } else { "" }, commands.join(" | "))
}

fn node(node: &Node) -> String {
    let mut text = match &node.kind {
        NodeKind::Simple { assignments, words } => {
            let assigned = assignments.iter().map(|assignment| match &assignment.value {
                Assigned::Scalar(value) => format!("{}={}", assignment.name, word(value)),
                Assigned::Array(elements) => format!("{}=({})", assignment.name, elements.len()),
            });
            assigned.chain(words.iter().map(word)).collect::<Vec<_>>().join(" ")
        }
        NodeKind::Subshell(inner) => format!("({})", list(inner)),
        NodeKind::Group(inner) => format!("{{{}}}", list(inner)),
        NodeKind::If { clauses, otherwise } => {
            let clauses: Vec<String> =
                clauses.iter().map(|(condition, body)| format!("{}? {}", list(condition), list(body))).collect();
            format!(
                "if[{}{}]",
                clauses.join(" : "),
                otherwise.as_ref().map(|o| format!(" : {}", list(o))).unwrap_or_default()
            )
        }
        NodeKind::Loop { until, condition, body } => {
            format!("{}[{}? {}]", if *until { "until" } else { "while" }, list(condition), list(body))
        }
        NodeKind::For { name, words, body, select } => {
            let words = words.as_ref().map(|words| words.iter().map(word).collect::<Vec<_>>().join(" "));
            let kind = if *select { "select" } else { "for" };
            format!("{kind}[{name} in {}: {}]", words.as_deref().unwrap_or("@"), list(body))
        }
        NodeKind::Count { parts, body } => {
            let parts: Vec<String> = parts.iter().map(|part| part.as_ref().map(bare).unwrap_or_default()).collect();
            format!("count[{}: {}]", parts.join(";"), list(body))
        }
        NodeKind::Case { subject, arms } => {
            let arms = arms.iter().map(|arm| {
                let patterns: Vec<String> = arm.patterns.iter().map(word).collect();
                format!(
                    "{}) {}{}",
                    patterns.join("|"),
                    list(&arm.body),
                    match arm.end {
                        ArmEnd::Leave => "",
                        ArmEnd::FallThrough => " ;&",
                        ArmEnd::TryNext => " ;;&",
                    }
                )
            });
            format!("case[{}: {}]", word(subject), arms.collect::<Vec<_>>().join(", "))
        }
        NodeKind::Test(inner) => format!("[[{}]]", test(inner)),
        NodeKind::Arithmetic(expression) => format!("(({}))", bare(expression)),
        NodeKind::Function { name, body } => format!("{name}(){}", self::node(body)),
        NodeKind::Coprocess { name, body } => format!("coproc[{name}: {}]", self::node(body)),
    };
    for redirect in &node.redirects {
        let target = match &redirect.target {
            Target::Word(target) => word(target),
            Target::Document(body) => body.get().map(bare).unwrap_or_default().replace('\n', "~"),
        };
        let _ = write!(text, " {:?}{:?}>{target}", redirect.fd, redirect.kind);
    }
    text
}

fn test(inner: &Test) -> String {
    match inner {
        Test::Or(a, b) => format!("({} or {})", test(a), test(b)),
        Test::And(a, b) => format!("({} and {})", test(a), test(b)),
        Test::Not(a) => format!("not {}", test(a)),
        Test::Unary(operator, a) => format!("{operator} {}", word(a)),
        Test::Binary(operator, a, b) => format!("{} {operator} {}", word(a), word(b)),
        Test::Word(a) => word(a),
    }
}

fn word(word: &Word) -> String {
    word.parts.iter().map(part).collect()
}

/// Where every character counts as quoted.
fn bare(word: &Word) -> String {
    self::word(word).replace('\'', "")
}

fn part(one: &Part) -> String {
    match one {
        Part::Literal(literal) if literal.quoted => format!("'{}'", literal.text),
        Part::Literal(literal) => literal.text.clone(),
        Part::Double(inner) => format!("\"{}\"", inner.iter().map(part).collect::<String>().replace('\'', "")),
        Part::Parameter(parameter) => {
            let operation = match &parameter.operation {
                Operation::None => String::new(),
                Operation::Length => "#".to_owned(),
                Operation::Default { operator, empty, word } => {
                    format!("{}{}{}", if *empty { ":" } else { "" }, char::from(*operator), self::word(word))
                }
                Operation::Substring { offset, length } => {
                    format!(":{}:{}", bare(offset), length.as_ref().map(bare).unwrap_or_default())
                }
                Operation::Remove { pattern, suffix, .. } => {
                    format!("{}{}", if *suffix { '%' } else { '#' }, self::word(pattern))
                }
                Operation::Replace { pattern, with, .. } => format!("/{}/{}", self::word(pattern), self::word(with)),
                Operation::Case { upper, .. } => (if *upper { "^" } else { "," }).to_owned(),
                Operation::Transform(kind) => format!("@{kind}"),
                Operation::Names => "*".to_owned(),
                Operation::Commands(inner) => list(inner),
                Operation::Malformed => "?!".to_owned(),
            };
            let index = match &parameter.index {
                None => String::new(),
                Some(Index::All) => "[@]".to_owned(),
                Some(Index::Joined) => "[*]".to_owned(),
                Some(Index::Word(index)) => format!("[{}]", bare(index)),
            };
            format!("${{{}{}{index}{operation}}}", if parameter.indirect { "!" } else { "" }, parameter.name)
        }
        Part::Command(inner) => format!("$({})", list(inner)),
        Part::Process(inner) => format!("<({})", list(inner)),
        Part::Arithmetic(expression) => format!("$(({}))", bare(expression)),
        Part::Array(elements) => format!("({})", elements.len()),
        Part::Malformed => "?".to_owned(),
    }
}

#[test]
fn texts_make_the_trees_that_bash_makes() {
    let cases = [
        ("a b; c & d", "a b; c &; d"),
        ("a && b || c | d", "a && b || c | d"),
        ("! a | b", "!a | b"),
        ("a |& b", "a | b"),
        ("(a; b) > f", "(a; b) DefaultWrite>f"),
        ("{ a; }", "{a}"),
        ("( (a) )", "((a))"),
        ("((a)) && ((b+1))", "((a)) && ((b+1))"),
        ("((a); b)", "((a); b)"),
        ("!(rm x)", "!(rm x)"),
        ("if a; then b; elif c; then d; else e; fi", "if[a? b : c? d : e]"),
        ("while a; do b; done; until c\ndo d\ndone", "while[a? b]; until[c? d]"),
        ("for x in a 'b c'; do d; done", "for[x in a 'b c': d]"),
        ("for x; do d; done", "for[x in @: d]"),
        ("for ((i=0; ;i++)) { a; }", "count[i=0;;i++: a]"),
        ("for ((;;)); do a; done", "count[;;: a]"),
        ("select x in a; do b; done", "select[x in a: b]"),
        ("case x in a|b) c;; (d) e;& *) ;; esac", "case[x: a|b) c, d) e ;&, *) ]"),
        ("case x in a) b;;& esac", "case[x: a) b ;;&]"),
        ("case $x in esac", "case[${x}: ]"),
        ("f() { a; }", "f(){a}"),
        ("function f { a; }", "f(){a}"),
        ("function f() (a)", "f()(a)"),
        ("f() { a; } > g", "f(){a} DefaultWrite>g"),
        ("coproc a b", "coproc[COPROC: a b]"),
        ("coproc X { a; }", "coproc[X: {a}]"),
        ("time -p a", "a"),
        ("[[ -f a && ! b == c* ]]", "[[(-f a and not b == c*)]]"),
        ("[[ a =~ ^(x|y)$ || (b) ]]", "[[(a =~ ^(x|y)$ or b)]]"),
        ("[[ a < b ]]", "[[a < b]]"),
        ("a=1 b= c d=2", "a=1 b= c d=2"),
        ("a=(1 2 [5]=3) b+=x", "a=(3) b=x"),
        ("a[1+1]=x", "a=x"),
        ("declare a=(1 2)", "declare a=(2)"),
        ("echo 'a'\"b $c\"d\\ e", "echo 'a'\"b ${c}\"d' 'e"),
        ("echo $'a\\tb' $\"c\"", "echo 'a\tb' \"c\""),
        (
            "echo ${a:-b} ${#a} ${!a} ${a[@]} ${a[1]} ${a%%.*} ${a/x/y} ${a:1:2} ${a^^} ${a@Q}",
            "echo ${a:-b} ${a#} ${!a} ${a[@]} ${a[1]} ${a%.*} ${a/x/y} ${a:1:2} ${a^} ${a@Q}",
        ),
        ("echo $1 $@ $# $? ${10} ${#}", "echo ${1} ${@} ${#} ${?} ${10} ${#}"),
        ("echo $(a $(b)) `c \\`d\\``", "echo $(a $(b)) $(c $(d))"),
        ("echo \"$(a \"b\")\"", "echo \"$(a \"b\")\""),
        ("echo $((1 + (2))) $[3]", "echo $((1 + (2))) $((3))"),
        ("echo $((a); b)", "echo $((a); b)"),
        ("diff <(a) >(b)", "diff <(a) <(b)"),
        (
            "a 2>&1 &>f {x}>g <h <>i >|j >>k",
            "a Number(2)DuplicateOutput>1 DefaultBoth>f NamedWrite>g DefaultRead>h DefaultReadWrite>i DefaultClobber>j DefaultAppend>k",
        ),
        ("cat <<E; b\nx $y\nE\nc", "cat DefaultHereDocument>x ${y}~; b; c"),
        ("cat <<'E'\nx $y\nE", "cat DefaultHereDocument>x $y~"),
        ("cat <<-E\n\tx\n\tE\nc", "cat DefaultHereDocument>x~; c"),
        ("cat <<A <<B\n1\nA\n2\nB", "cat DefaultHereDocument>1~ DefaultHereDocument>2~"),
        ("echo $(cat <<E\nx )\nE\n) b", "echo $(cat DefaultHereDocument>x )~) b"),
        ("a <<< \"b c\"", "a DefaultHereString>\"b c\""),
        ("a # b\nc", "a; c"),
        ("a#b", "a#b"),
        ("a \\\n b", "a b"),
        ("r\\\nm", "rm"),
        ("echo if then", "echo if then"),
        ("echo {a,b} }", "echo {a,b} }"),
        ("echo a@(b|c) [[", "echo a@(b|c) [["),
        ("echo \"$\\\n(rm x)\"", "echo \"$(rm x)\""),
        ("A\\\n=1 rm x", "A=1 rm x"),
        ("i\\\nf a; th\\\nen b; f\\\ni", "if[a? b]"),
        ("for x in a; do\\\n b; done; { \\\n c; }", "for[x in a: b]; {c}"),
        ("echo $a\\\nb", "echo ${ab}"),
        ("echo a 2\\\n> f", "echo a Number(2)Write>f"),
        ("(\\\n( 1 + 2 )) && a", "(( 1 + 2 )) && a"),
        ("a &\\\n& b", "a && b"),
        ("cat <<E\nx\nE\\\n\nrm y", "cat DefaultHereDocument>x~; rm y"),
        ("cat <<EF\nx\nE\\\nF\nrm y", "cat DefaultHereDocument>x~; rm y"),
        ("cat <<E\na\\\nE\nE\nb", "cat DefaultHereDocument>aE~; b"),
        ("a[b[0]]=1 rm x", "a=1 rm x"),
        ("a[${#a[@]}]=1 b", "a=1 b"),
        ("a[$(echo ])]=1 b", "a=1 b"),
        ("m['y]']=2 b", "m=2 b"),
        ("echo $[ a[0] + 1 ]", "echo $(( a[0] + 1 ))"),
        ("echo \"${a[${#a[@]}-1]}\"", "echo \"${a[${a[@]#}-1]}\""),
        ("exec {a[0]}>f", "exec NamedWrite>f"),
        ("function f (a)", "f()(a)"),
        ("for ((i=$(echo 1; a); i<3; i++)); do b; done", "count[i=$(echo 1; a); i<3; i++: b]"),
        ("eval a=(1 $(b))", "eval a=(2)"),
        ("cat <<$E\nx\n$E\nb", "cat DefaultHereDocument>x~; b"),
        ("echo 2>(true)", "echo 2<(true)"),
        ("a;;", ""),
        ("", ""),
    ];
    for (text, expected) in cases {
        let tree = parse(text, Base::default(), 0).map(|parsed| list(&parsed.list)).unwrap_or_default();
        assert_eq!(tree, expected, "{text}");
    }
}

#[test]
fn what_bash_rejects_is_an_error() {
    for text in [
        "a)",
        "(a",
        "{ a",
        "if a; fi",
        "fi",
        "a &&",
        "a | | b",
        "'a",
        "\"a",
        "`a",
        "$(a",
        "${a",
        "<",
        "case x in a) b",
        "for x in a",
        "f() a",
        "echo (a)",
        "[[ a",
        "a=(b",
        ";;",
        "do",
        "}",
        "while a; do b",
    ] {
        assert!(parse(text, Base::default(), 0).is_err(), "{text}");
    }
}

#[test]
fn positions_are_those_of_the_outermost_text() {
    for (text, needle) in [
        ("é; echo $(ls 'x y')", "'x y'"),
        ("cat <<E\n$(rm z)\nE", "z"),
        ("a `b  cc`", "cc"),
        ("x=\"${y:-$(zz)}\"", "zz"),
        ("f() { (gg); }", "gg"),
    ] {
        let parsed = parse(text, Base::default(), 0).expect("it parses");
        let start = text.find(needle).expect("it is there");
        let shown = format!("{parsed:?}");
        let span = format!("{:?}", Span { start, end: start + needle.len() });
        assert!(shown.contains(&span), "{text}: {span} is not in {shown}");
    }
}

#[test]
fn depth_has_an_answer() {
    for open in ["(", "$(", "{ ", "${x:-", "if ", "[[ ( ", "$((", "case x in a) "] {
        assert!(parse(&open.repeat(100_000), Base::default(), 0).is_err(), "{open}");
    }
}
