//! What came of it, for a person.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::trial::{Row, Share};

const HEADS: [&str; 8] = [
    "Boundary",
    "Fault",
    "Destructive stopped",
    "Harmless passed",
    "Lines kept",
    "Slowest",
    "Recovered",
    "Wrong or left out",
];

fn share(share: Share) -> String {
    if share.all == 0 { "-".to_owned() } else { format!("{}/{}", share.part, share.all) }
}

fn cells(row: &Row) -> [String; 8] {
    let note = match (&row.left_out, row.wrong.as_slice()) {
        (Some(why), _) => format!("left out: {why}"),
        (None, [first, more @ ..]) if !more.is_empty() => format!("{first} [and {} more]", more.len()),
        (None, [only]) => only.clone(),
        (None, _) => String::new(),
    };
    let shown = row.left_out.is_none();
    let or_not = |text: String| if shown { text } else { "-".to_owned() };
    [
        row.boundary.to_owned(),
        row.fault.clone(),
        share(row.stopped),
        share(row.passed),
        share(row.lines),
        or_not(format!("{:.1} s", row.slowest.as_secs_f64())),
        or_not(if row.recovered { "yes" } else { "NO" }.to_owned()),
        note,
    ]
}

/// One fault on a line.
pub fn line(row: &Row) -> String {
    let [boundary, fault, stopped, passed, lines, slowest, recovered, note] = cells(row);
    format!(
        "{boundary}: {fault}: stopped {stopped}, passed {passed}, logged {lines}, {slowest}, recovered {recovered} {note}"
    )
    .trim_end()
    .to_owned()
}

/// For a terminal.
pub fn plain(rows: &[Row]) -> String {
    let table: Vec<[String; 8]> = std::iter::once(HEADS.map(str::to_owned)).chain(rows.iter().map(cells)).collect();
    let width = |column: usize| table.iter().map(|cells| cells[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; 8] = std::array::from_fn(width);
    let mut text = String::new();
    for cells in table {
        let line: Vec<String> =
            cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).take(7).collect();
        let _ = writeln!(text, "{}", format!("{}  {}", line.join("  "), cells[7]).trim_end());
    }
    text
}

/// For a page.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = format!("| {} |\n|{}\n", HEADS.join(" | "), "---|".repeat(HEADS.len()));
    for row in rows {
        let cells = cells(row).map(|cell| cell.replace('|', "\\|").replace('\n', " "));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// For a program.
pub fn json(rows: &[Row]) -> Value {
    let share = |share: Share| json!([share.part, share.all]);
    let row = |row: &Row| {
        json!({
            "boundary": row.boundary, "fault": row.fault, "stopped": share(row.stopped), "passed": share(row.passed),
            "lines": share(row.lines), "slowest_ms": u64::try_from(row.slowest.as_millis()).unwrap_or(u64::MAX),
            "recovered": row.recovered, "left_out": row.left_out, "wrong": row.wrong,
        })
    };
    json!({ "schema": 1, "rows": rows.iter().map(row).collect::<Vec<_>>() })
}
