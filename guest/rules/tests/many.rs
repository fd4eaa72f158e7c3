//! Calls with thousands of paths.

use crate::cases::{call, named};
use std::time::Instant;

use serde_json::json;
use toolgate_rules::{Guard, NoHost};

#[test]
fn of_thousands_of_paths_a_few_are_named() {
    // What the path of number N is, and the verdict.
    let cases = [
        ("~/Documents/N", "ask", "and 19997 more"),
        ("~/Documents/x", "ask", "/home/dev/Documents/x"),
        ("build/N", "pass", ""),
        ("~/.ssh/N", "block", ""),
    ];
    for (path, expected, named_so) in cases {
        let words: Vec<String> = (0..20_000).map(|number| path.replace('N', &number.to_string())).collect();
        let call = call(&json!({ "command": format!("rm -f {}", words.join(" ")) }));
        let verdict = Guard::new().judge(&call, &mut NoHost);
        let reasons: String = verdict.findings.iter().map(|finding| finding.reason.as_str()).collect();
        assert_eq!(named(&verdict), expected, "{path}");
        assert!(reasons.contains(named_so) && reasons.len() < 10_000, "{path}: {} bytes", reasons.len());
    }
}

/// How long a text takes to be judged, the shortest of three times.
fn time(guard: &Guard, text: &str, expected: &str) -> f64 {
    let call = call(&json!({ "command": text }));
    let times = (0..3).map(|_| {
        let started = Instant::now();
        let verdict = guard.judge(&call, &mut NoHost);
        assert_eq!(
            named(&verdict),
            expected,
            "{}: {:?}",
            &text[..30],
            verdict.findings.first().map(|one| (&one.rule, &one.reason))
        );
        started.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// A text of a given size.
type Shape<'a> = &'a dyn Fn(usize) -> String;

#[test]
fn following_secrets_takes_as_long_as_the_text_is() {
    let guard = Guard::new();
    let pipes = |count: usize| format!("echo $API_KEY{}", "|cat".repeat(count));
    let redirects =
        |count: usize| format!("env > e{}", (0..count).map(|n| format!("\nls > f{}", n % 250)).collect::<String>());
    let groups = |count: usize| format!("env > e; {{ {} }} > f", "cat g; ".repeat(count));
    let script = |count: usize| format!("env > e; python3 -c '{}'", "open(\"f\").read()\n".repeat(count));
    let unpacks = |count: usize| format!("node -e '{{{}'", ",API_KEY,}= process.env".repeat(count));
    let loops = |count: usize| format!("for v in $(compgen -e); do {} done", "echo ${!v:0:1}; ls; ".repeat(count));
    let copies =
        |count: usize| format!("env > e; {}", (0..count).map(|n| format!("cp e f{}; ", n % 250)).collect::<String>());
    let cases: [(Shape<'_>, usize, &str); 7] = [
        (&pipes, 20_000, "ask"),
        (&redirects, 5_000, "pass"),
        (&groups, 5_000, "pass"),
        (&script, 4_000, "pass"),
        (&unpacks, 4_000, "pass"),
        (&copies, 4_000, "pass"),
        (&loops, 2_000, "ask"),
    ];
    for (text, count, expected) in cases {
        // As the square it would be sixteen times as long, each time. A busy machine is slow once, and the longer text is slowed
        // down more by the tests beside it, which share its cache.
        let tries: Vec<(f64, f64)> =
            (0..3).map(|_| (time(&guard, &text(count / 4), expected), time(&guard, &text(count), expected))).collect();
        let is_linear = tries.iter().any(|(short, long)| *long < short * 13.0);
        assert!(is_linear, "{}: seconds {tries:?}", &text(count)[..30]);
    }
}
