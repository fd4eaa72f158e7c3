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
fn time(text: &str, expected: &str) -> f64 {
    let call = call(&json!({ "command": text }));
    let times = (0..3).map(|_| {
        let started = Instant::now();
        let verdict = Guard::new().judge(&call, &mut NoHost);
        assert_eq!(named(&verdict), expected, "{}", &text[..30]);
        started.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

#[test]
fn following_secrets_takes_as_long_as_the_text_is() {
    let pipes = |count: usize| format!("echo $API_KEY{}", "|cat".repeat(count));
    let redirects = |count: usize| format!("env > e{}", "\nls > f".repeat(count));
    let groups = |count: usize| format!("env > e; {{ {} }} > f", "cat g; ".repeat(count));
    let cases: [(&dyn Fn(usize) -> String, usize, &str); 3] =
        [(&pipes, 20_000, "ask"), (&redirects, 5_000, "pass"), (&groups, 5_000, "pass")];
    for (text, count, expected) in cases {
        let (short, long) = (time(&text(count / 4), expected), time(&text(count), expected));
        // As the square it would be sixteen times as long.
        assert!(long < short * 10.0, "{}: {short} and {long} seconds", &text(count)[..30]);
    }
}
