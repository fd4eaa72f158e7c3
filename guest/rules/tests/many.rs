//! Calls with thousands of paths.

use crate::cases::{call, named};
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
