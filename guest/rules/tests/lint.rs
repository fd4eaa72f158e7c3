//! What is said of rule files, as cases, one a line, in `lint.jsonl`: the `file`, whose it is (`user`, unless it says otherwise),
//! what is wrong and left out (`wrong`), and what is read and never does anything (`idle`), each as its line and its first words.

use serde_json::Value;
use toolgate_rules::{Guard, Layer, Problem};
use toolgate_test_support::cases;

#[test]
fn every_file_is_told_what_is_wrong_with_it() {
    let built_in = Guard::new();
    cases!("lint.jsonl").each(|line| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let file = case["file"].as_str().expect("a file");
        let layer = if case["layer"] == "project" { Layer::Project } else { Layer::User };
        let mut guard = built_in.clone();
        let wrong = guard.load("rules.yaml", layer, file.as_bytes());
        let idle = guard.lint("rules.yaml", layer, file.as_bytes());
        for (key, problems) in [("wrong", wrong), ("idle", idle)] {
            let expected: Vec<&str> = case[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let told: Vec<String> = problems.iter().map(told).collect();
            let same =
                told.len() == expected.len() && told.iter().zip(&expected).all(|(one, text)| one.starts_with(text));
            assert!(same, "{key}: {told:#?}");
        }
    });
}

fn told(problem: &Problem) -> String {
    format!("{}: {}", problem.line.unwrap_or(0), problem.message)
}
