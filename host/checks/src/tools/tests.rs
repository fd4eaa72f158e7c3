//! What tools really said, and what is made of it.
//!
//! Each line of `cases.jsonl` is one run: the tool and its version, its exit code and both streams, with the project at
//! `/p`. Those that name no version are written down from the tool's documentation.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{ALL, Job, Kind};
use crate::process::Output;
use crate::project::Project;

#[derive(Deserialize)]
struct Case {
    tool: String,
    kind: String,
    from: String,
    files: Vec<String>,
    home: PathBuf,
    code: i32,
    stdout: String,
    stderr: String,
    expect: Value,
}

impl Case {
    fn actual(&self) -> Value {
        let kind = match self.kind.as_str() {
            "formatter" => Kind::Formatter,
            "types" => Kind::Types,
            _ => Kind::Linter,
        };
        let tool = ALL.iter().find(|tool| tool.name == self.tool && tool.kind == kind).expect("a tool");
        let project = Project { root: "/p".into(), trusted: true };
        let files = self.files.iter().map(|file| PathBuf::from("/p").join(file)).collect();
        let job = Job { project, tool, program: "/none".into(), home: self.home.clone(), files };
        let output = Output {
            status: ExitStatus::from_raw(self.code << 8),
            stdout: self.stdout.clone().into_bytes(),
            stderr: self.stderr.clone().into_bytes(),
        };
        let outcome = match (tool.read)(&job, &output) {
            Ok(outcome) => outcome,
            Err(why) => return json!({ "fails": why }),
        };
        let name = |file: &PathBuf| file.strip_prefix("/p").expect("inside").display().to_string();
        let problems = outcome.problems.iter().map(|one| {
            let rule = one.rule.as_deref().unwrap_or("-");
            let severity = format!("{:?}", one.severity).to_lowercase();
            format!("{}:{}:{} {severity} {rule}: {}", name(&one.file), one.line, one.column, one.message)
        });
        json!({
            "status": outcome.status,
            "problems": problems.collect::<Vec<_>>(),
            "unformatted": outcome.unformatted.iter().map(name).collect::<Vec<_>>(),
            "notes": outcome.notes,
        })
    }
}

#[test]
fn what_tools_say_is_understood() {
    toolgate_test_support::cases!("cases.jsonl").each(|line| {
        let case: Case = serde_json::from_str(line).expect("a case");
        let actual = case.actual();
        assert!(actual == case.expect, "{}: got {actual}", case.from);
    });
}
