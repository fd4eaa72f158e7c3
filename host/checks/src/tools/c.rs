//! clang-format.

use super::go::placed;
use super::{Job, Kind, Tool, Untrusted, ended, failure, on_files, text};
use crate::marker::Marker::File;
use crate::process::Output;
use crate::report::Outcome;

pub(super) static CLANG_FORMAT: Tool = Tool {
    name: "clang-format",
    kind: Kind::Formatter,
    suffixes: &[".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx", ".m", ".mm", ".proto"],
    configured: &[File(".clang-format"), File("_clang-format")],
    usual: &[],
    program: "clang-format",
    untrusted: Untrusted::Runs,
    prepare: |job, command| {
        on_files(job, command, &["--dry-run", "-Werror", "--ferror-limit=1", "--verbose"]);
        Ok(())
    },
    read,
};

fn read(job: &Job, output: &Output) -> Result<Outcome, String> {
    let code = ended(output, &[0, 1])?;
    let said = text(&output.stderr);
    let violations = said.lines().filter(|line| line.contains("[-Wclang-format-violations]")).filter_map(placed);
    let mut names: Vec<String> = violations.map(|one| one.file).collect();
    names.dedup();
    let outcome = job.formatted(names.iter().map(String::as_str), Vec::new());
    if code != 0 && outcome.unformatted.is_empty() {
        return Err(failure(output));
    }
    // `Formatting [1/2] /p/a.c`, for those that `.clang-format-ignore` does not name.
    let seen = said.lines().filter_map(|line| line.strip_prefix("Formatting [")?.split_once("] "));
    Ok(job.looked_at(outcome, job.count(seen.map(|(_, name)| name))))
}
