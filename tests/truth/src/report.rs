//! What a comparison found: counts that add up over many scripts, and one record for each thing that is wrong.

use std::fmt;

/// What is checked. One row of the table each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The folder of a shell or of a program.
    Cwd,
    /// The value of a variable, or that it is unset.
    Value,
    /// A word of a command that ran.
    Word,
    /// A program that ran was predicted.
    Program,
    /// A builtin or function that ran was predicted.
    Builtin,
    /// A command said to run certainly did, one said never to run did not.
    Runs,
    /// A certain effect happened.
    Certain,
    /// An effect that happened was predicted.
    Effect,
    /// The tree changed only as the system calls say: the harness's check on itself.
    Witness,
}

impl Check {
    /// Every check, in the order of the table.
    pub const ALL: [Self; 9] = [
        Self::Cwd,
        Self::Value,
        Self::Word,
        Self::Program,
        Self::Builtin,
        Self::Runs,
        Self::Certain,
        Self::Effect,
        Self::Witness,
    ];

    const fn title(self) -> &'static str {
        match self {
            Self::Cwd => "known cwd",
            Self::Value => "known variable value",
            Self::Word => "known argv word",
            Self::Program => "program that ran was predicted",
            Self::Builtin => "builtin that ran was predicted",
            Self::Runs => "certainly / never run",
            Self::Certain => "certain effect happened",
            Self::Effect => "effect that happened was predicted",
            Self::Witness => "(harness) tree changes explained",
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// What was checked.
    pub check: Check,
    /// The whole script.
    pub script: String,
    /// One line.
    pub message: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check.title(), self.message)
    }
}

/// How often something was looked at, and with which result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// It was known and right.
    pub right: usize,
    /// It was known and wrong.
    pub wrong: usize,
    /// It was said to be unknown, or covered only by something unknown or possible.
    pub unknown: usize,
}

/// The result for one script.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// By [`Check`].
    pub(crate) counts: [Count; Check::ALL.len()],
    /// Commands that ran.
    pub commands: usize,
    /// The text was not parsed.
    pub unparsed: bool,
    /// It was killed at the deadline.
    pub timed_out: bool,
    /// Effects said to be possible that did not happen.
    pub possible: usize,
    /// Everything that is wrong.
    pub mismatches: Vec<Mismatch>,
}

impl Report {
    /// The count of one check.
    pub fn count(&self, check: Check) -> Count {
        self.counts.get(check as usize).copied().unwrap_or_default()
    }

    fn at(&mut self, check: Check) -> &mut Count {
        // `counts` has a place for every check; the first stands in for one that cannot be missing.
        let index = (check as usize).min(Check::ALL.len() - 1);
        &mut self.counts[index]
    }

    pub(crate) fn right(&mut self, check: Check) {
        self.at(check).right += 1;
    }

    pub(crate) fn unknown(&mut self, check: Check) {
        self.at(check).unknown += 1;
    }

    pub(crate) fn wrong(&mut self, check: Check, script: &str, message: String) {
        self.at(check).wrong += 1;
        let message = message.replace('\n', "\\n");
        self.mismatches.push(Mismatch { check, script: script.to_owned(), message });
    }
}

/// The sum over many scripts.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub(crate) counts: [Count; Check::ALL.len()],
    /// Scripts that ran.
    pub scripts: usize,
    /// Scripts with at least one mismatch.
    pub wrong_scripts: usize,
    /// Scripts that the engine did not parse.
    pub unparsed: usize,
    /// Scripts killed at the deadline.
    pub timed_out: usize,
    /// Commands that ran.
    pub commands: usize,
    /// Possible effects that did not happen.
    pub possible: usize,
}

impl Table {
    /// Adds one report.
    pub fn add(&mut self, report: &Report) {
        for (sum, count) in self.counts.iter_mut().zip(&report.counts) {
            sum.right += count.right;
            sum.wrong += count.wrong;
            sum.unknown += count.unknown;
        }
        self.scripts += 1;
        self.wrong_scripts += usize::from(!report.mismatches.is_empty());
        self.unparsed += usize::from(report.unparsed);
        self.timed_out += usize::from(report.timed_out);
        self.commands += report.commands;
        self.possible += report.possible;
    }

    /// The sum of one check.
    pub fn count(&self, check: Check) -> Count {
        self.counts.get(check as usize).copied().unwrap_or_default()
    }

    /// Wrong among what was claimed, in percent.
    pub fn wrong_percent(&self, check: Check) -> f64 {
        let count = self.count(check);
        percent(count.wrong, count.right + count.wrong)
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    // Counts stay far below the 52 bits that a float holds exactly.
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} scripts, {} commands ran; {} scripts with a mismatch ({:.2} %), {} not parsed ({:.2} %), {} timed out",
            self.scripts,
            self.commands,
            self.wrong_scripts,
            percent(self.wrong_scripts, self.scripts),
            self.unparsed,
            percent(self.unparsed, self.scripts),
            self.timed_out
        )?;
        let row = |title: &str| format!("  {title:<36}");
        writeln!(f, "{}{:>9}{:>8}{:>9}{:>9}{:>10}", row(""), "right", "wrong", "wrong %", "unknown", "unknown %")?;
        for check in Check::ALL {
            let Count { right, wrong, unknown } = self.count(check);
            writeln!(
                f,
                "{}{right:>9}{wrong:>8}{:>9.2}{unknown:>9}{:>10.2}",
                row(check.title()),
                self.wrong_percent(check),
                percent(unknown, right + wrong + unknown)
            )?;
        }
        writeln!(f, "{}{:>9}", row("possible effects that did not happen"), self.possible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_add_up() {
        let mut report = Report { commands: 2, ..Report::default() };
        report.right(Check::Cwd);
        report.right(Check::Cwd);
        report.right(Check::Cwd);
        report.wrong(Check::Cwd, "x", "two\nlines".into());
        report.unknown(Check::Value);
        let mut sum = Table::default();
        sum.add(&report);
        sum.add(&report);
        assert_eq!((sum.scripts, sum.wrong_scripts, sum.commands), (2, 2, 4));
        assert_eq!(sum.count(Check::Cwd), Count { right: 6, wrong: 2, unknown: 0 });
        assert!((sum.wrong_percent(Check::Cwd) - 25.0).abs() < 1e-9);
        assert_eq!(report.mismatches[0].to_string(), "known cwd: two\\nlines");
        let width: Vec<usize> = sum.to_string().lines().skip(1).take(10).map(|line| line.chars().count()).collect();
        assert!(width.windows(2).all(|w| w[0] == w[1]), "{sum}");
    }
}
