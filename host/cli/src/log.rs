//! `toolgate log`: what the audit log says, entry by entry or summed up by rule and day.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use anstyle::Style;
use clap::Args;
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};
use serde_json::Value;
use toolgate_agents::{Failure, dirs, exit};
use toolgate_host::audit::{Outcome, Record};
use toolgate_host::plain;

use crate::duration;
use crate::output::{self, BOLD, DIM, GREEN, RED, YELLOW};

/// Columns of a summary.
const WIDTH: usize = 80;

/// Columns of a rule's name in a summary, at most.
const RULE: usize = 34;

/// Columns of the bar for a rule's total.
const BAR: usize = 12;

#[derive(Args)]
#[command(after_help = "\
Examples:
  toolgate log                                  the last 50 entries
  toolgate log --since 7d --summary             a week, by rule and day
  toolgate log --rule 'builtin:*' --action denied
  toolgate log --rule '*Paths: *'               calls with protected paths
  toolgate log -n 0 --json | jq .input          all of it, for programs

A question is shown with its answer, if that is known: of one that the agent put to its user, that the
call ran. `toolgate allow ID` lets a denied call through once.

Times and days are local; --json keeps the logged times, in UTC. Invalid lines of the log are
reported on standard error.

Exit codes: 0 shown, even if empty; 64 invalid arguments, 65 invalid log, 66 its location is unknown,
74 output failed.")]
pub(crate) struct Arguments {
    /// Show this many of the newest entries; 0 for all. A summary counts all entries by default
    #[arg(short = 'n', long = "lines", value_name = "COUNT")]
    lines: Option<usize>,

    /// Only entries since this time: a duration like 7d, a date, or a time with its offset
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,

    /// Only before then
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,

    /// Only entries with a matching rule; `*` matches anything
    #[arg(long, value_name = "GLOB")]
    rule: Option<String>,

    /// Only this outcome: blocked, asked, confirmed, denied, allowed-once, overridden, saved, rewritten,
    /// not-granted
    #[arg(long, value_name = "ACTION", value_parser = outcome)]
    action: Vec<Outcome>,

    /// Only from this agent
    #[arg(long)]
    agent: Option<String>,

    /// Only calls of this tool
    #[arg(long)]
    tool: Option<String>,

    /// Only calls made in this directory or below it
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Print JSON lines
    #[arg(long, conflicts_with = "summary")]
    json: bool,

    /// Summarize by rule and day
    #[arg(long)]
    summary: bool,
}

fn outcome(text: &str) -> Result<Outcome, String> {
    let known = || Outcome::ALL.map(Outcome::name).join(", ");
    Outcome::ALL.into_iter().find(|outcome| outcome.name() == text).ok_or_else(|| format!("it is one of {}", known()))
}

/// Which entries are shown.
#[derive(Default)]
struct Filter {
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    rule: Option<String>,
    actions: Vec<Outcome>,
    agent: Option<String>,
    tool: Option<String>,
    cwd: Option<String>,
}

impl Filter {
    fn shows(&self, entry: &Entry) -> bool {
        let record = &entry.record;
        let rules = || record.rules.iter().chain([&record.rule]);
        self.since.is_none_or(|since| entry.time >= since)
            && self.until.is_none_or(|until| entry.time < until)
            && self.rule.as_ref().is_none_or(|glob| rules().any(|rule| matches(glob, rule)))
            && (self.actions.is_empty() || self.actions.contains(&record.action))
            && self.agent.as_ref().is_none_or(|agent| *agent == record.agent)
            && self.tool.as_ref().is_none_or(|tool| tool.eq_ignore_ascii_case(&record.tool))
            && self.cwd.as_ref().is_none_or(|cwd| Path::new(&record.cwd).starts_with(cwd))
    }
}

/// An entry and its time.
struct Entry {
    record: Record,
    time: Timestamp,
}

/// What came of a question.
struct Answer {
    action: Outcome,
    time: Timestamp,
    note: String,
}

impl Answer {
    /// The answer that an entry is, if it is one.
    fn of(entry: &Entry) -> Option<Self> {
        let Record { action, id, note, .. } = &entry.record;
        let answers = matches!(action, Outcome::Confirmed | Outcome::Denied) && !id.is_empty();
        answers.then(|| Answer { action: *action, time: entry.time, note: note.clone() })
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let zone = TimeZone::system();
    let now = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
    let moment = |text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => duration::moment(text, now, &zone).map(Some).map_err(|error| Failure::new(exit::USAGE, error)),
    };
    let filter = Filter {
        since: moment(&arguments.since)?,
        until: moment(&arguments.until)?,
        rule: arguments.rule.clone(),
        actions: arguments.action.clone(),
        agent: arguments.agent.clone(),
        tool: arguments.tool.clone(),
        cwd: arguments.cwd.as_deref().map(|cwd| dirs::folder(Some(cwd))).transpose()?,
    };
    let log = dirs::audit().map_err(|error| Failure::new(exit::NO_INPUT, error))?;
    let most = match arguments.lines {
        Some(0) => usize::MAX,
        Some(lines) => lines,
        None if arguments.summary => usize::MAX,
        None => 50,
    };
    let (mut entries, mut answers) = (VecDeque::new(), HashMap::new());
    for line in log.read().map_err(|error| Failure::new(exit::DATA, error.to_string()))? {
        let entry = line.map_err(|bad| bad.to_string()).and_then(|record| {
            let time = record.time.parse().map_err(|_| format!("{:?} is not a valid time", record.time))?;
            Ok(Entry { record, time })
        });
        match entry {
            Err(why) => output::complain(&why),
            Ok(entry) => {
                answers.extend(Answer::of(&entry).map(|answer| (entry.record.id.clone(), answer)));
                if filter.shows(&entry) {
                    entries.push_back(entry);
                }
                if entries.len() > most {
                    entries.pop_front();
                }
            }
        }
    }
    let entries: Vec<Entry> = entries.into();
    let mut out = anstream::stdout();
    let written = if arguments.json {
        entries.iter().try_for_each(|entry| writeln!(out, "{}", entry.record.line()))
    } else if entries.is_empty() {
        writeln!(out, "{DIM}no entries in {}{DIM:#}", plain(&log.path().display().to_string()))
    } else if arguments.summary {
        summary(&mut out, &entries, &zone)
    } else {
        let questions = entries.iter().map(|entry| &entry.record).filter(|record| record.action == Outcome::Asked);
        let asked: HashSet<&str> = questions.map(|record| record.id.as_str()).collect();
        // An answer is told with its question.
        let told = |entry: &&Entry| Answer::of(entry).is_none() || !asked.contains(entry.record.id.as_str());
        entries.iter().filter(told).try_for_each(|entry| one(&mut out, entry, answers.get(&entry.record.id), &zone))
    };
    output::told(written)?;
    Ok(ExitCode::SUCCESS)
}

/// An entry for a person: when and what, then the call, then why, then where; of a question what came of it.
fn one(out: &mut impl Write, entry: &Entry, answer: Option<&Answer>, zone: &TimeZone) -> std::io::Result<()> {
    let Entry { record, time } = entry;
    let style = style(record.action);
    let time = time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S");
    let rule = if record.rule.is_empty() { "-" } else { &record.rule };
    let id = if record.id.is_empty() { String::new() } else { format!("  {}", plain(&record.id)) };
    let rule = output::whole(rule, output::LINE);
    writeln!(out, "{time}  {style}{:<12}{style:#}  {rule}{DIM}{id}{DIM:#}", record.action.name())?;
    let text = match (record.input["command"].as_str(), &record.input) {
        (Some(command), _) => command.to_owned(),
        (None, Value::Object(fields)) if fields.is_empty() => String::new(),
        (None, input) => input.to_string(),
    };
    let matched: Vec<std::ops::Range<usize>> = record
        .matched
        .iter()
        .filter(|words| !words.is_empty())
        .filter_map(|words| text.find(words.as_str()).map(|at| at..at + words.len()))
        .collect();
    let shown = toolgate_host::excerpt(&text, &matched, output::LINE);
    if !text.is_empty() {
        writeln!(out, "  {}", shown.line)?;
        if !shown.marks.is_empty() {
            writeln!(out, "  {style}{}{style:#}", shown.marks)?;
        }
    }
    if !record.reason.is_empty() {
        writeln!(out, "  {}", output::whole(&record.reason, output::REASON))?;
    }
    if record.action == Outcome::Asked && !record.id.is_empty() {
        answered(out, answer, zone)?;
    }
    let rest = [("", &record.tool), ("in ", &record.cwd), ("by ", &record.agent), ("", &record.note)];
    let rest: Vec<String> = rest
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(label, text)| format!("{label}{}", output::whole(text, output::LINE)))
        .collect();
    writeln!(out, "  {DIM}{}{DIM:#}", rest.join(" "))
}

/// What came of a question. Whom the agent asks, and a no, is not known here: then the call has not run.
fn answered(out: &mut impl Write, answer: Option<&Answer>, zone: &TimeZone) -> std::io::Result<()> {
    let Some(Answer { action, time, note }) = answer else {
        return writeln!(out, "  {DIM}no answer is known{DIM:#}");
    };
    let (style, time) = (style(*action), time.to_zoned(zone.clone()).strftime("%H:%M:%S"));
    let note = if note.is_empty() { String::new() } else { format!(": {}", output::whole(note, output::LINE)) };
    writeln!(out, "  {style}{}{style:#} at {time}{DIM}{note}{DIM:#}", action.name())
}

fn style(action: Outcome) -> Style {
    match action {
        Outcome::Blocked | Outcome::Denied | Outcome::NotGranted => RED,
        Outcome::Asked | Outcome::Rewritten => YELLOW,
        Outcome::Confirmed | Outcome::AllowedOnce | Outcome::Overridden | Outcome::Saved => GREEN,
    }
}

/// How often each rule spoke, in all and on each day, and what became of the calls. Never wider than [`WIDTH`].
fn summary(out: &mut impl Write, entries: &[Entry], zone: &TimeZone) -> std::io::Result<()> {
    let day = |entry: &Entry| entry.time.to_zoned(zone.clone()).date();
    let (Some(first), Some(last)) = (entries.iter().map(day).min(), entries.iter().map(day).max()) else {
        return Ok(());
    };
    let mut rules: BTreeMap<&str, BTreeMap<Date, usize>> = BTreeMap::new();
    for entry in entries {
        let rule = if entry.record.rule.is_empty() { "-" } else { &entry.record.rule };
        *rules.entry(rule).or_default().entry(day(entry)).or_default() += 1;
    }
    let mut rows: Vec<(String, usize, &BTreeMap<Date, usize>)> =
        rules.iter().map(|(rule, days)| (fit(&plain(rule), RULE), days.values().sum(), days)).collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let most = rows.iter().map(|row| row.1).max().unwrap_or(1);
    let name = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0).max(4);
    let number = most.to_string().len().max(5);
    // What is left is for the days; where they are more, a column stands for several.
    let columns = WIDTH - name - number - BAR - 3 * 2;
    let days = usize::try_from((last - first).get_days()).unwrap_or(0) + 1;
    let each = days.div_ceil(columns);
    let columns = days.div_ceil(each);
    let column = |date: &Date| usize::try_from((*date - first).get_days()).unwrap_or(0) / each;
    let counts: Vec<Vec<usize>> = rows
        .iter()
        .map(|(_, _, days)| {
            let mut counts = vec![0; columns];
            for (date, count) in *days {
                counts[column(date).min(columns - 1)] += count;
            }
            counts
        })
        .collect();
    let peak = counts.iter().flatten().copied().max().unwrap_or(1);

    let unit = if each == 1 { "a column a day".to_owned() } else { format!("a column for {each} days") };
    let dates = if first == last { first.to_string() } else { format!("{first} to {last}, {unit}, highest {peak}") };
    let entries_are = if entries.len() == 1 { "entry" } else { "entries" };
    writeln!(out, "{BOLD}{} {entries_are}{BOLD:#}  {dates}", entries.len())?;
    writeln!(out)?;
    writeln!(out, "{DIM}{:<name$}  {:>number$}{DIM:#}", "rule", "total")?;
    for ((rule, total, _), counts) in rows.iter().zip(&counts) {
        let bar = bar(*total, most);
        let pad = BAR - bar.chars().count();
        let spark: String = counts.iter().map(|count| level(*count, peak)).collect();
        let row = format!("{rule:<name$}  {total:>number$}  {RED}{bar}{RED:#}{:pad$}  {YELLOW}{spark}{YELLOW:#}", "");
        writeln!(out, "{row}")?;
    }
    writeln!(out)?;
    let actions = Outcome::ALL.map(|action| (action, entries.iter().filter(|one| one.record.action == action).count()));
    let actions: Vec<String> = actions
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(action, count)| format!("{}{}{:#} {count}", style(*action), action.name(), style(*action)))
        .collect();
    writeln!(out, "{}", actions.join("  "))
}

/// A bar of a total, in eighths of a column. What is not nothing is seen.
fn bar(count: usize, most: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (count * BAR * 8).div_ceil(most.max(1)).max(1);
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// A count as the height of a column.
fn level(count: usize, peak: usize) -> char {
    const LEVELS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    LEVELS[(count * 8).div_ceil(peak.max(1)).min(8)]
}

/// A text of at most so many characters, its middle left out.
fn fit(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let half = (most - 1) / 2;
    let start: String = text.chars().take(most - 1 - half).collect();
    let end: String = text.chars().skip(length - half).collect();
    format!("{start}…{end}")
}

/// Whether a pattern with `*` and `?` matches all of a text.
fn matches(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let (mut g, mut t) = (0, 0);
    // Where the last `*` was, and up to where it stands for.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match glob.get(g) {
            Some('*') => {
                star = Some((g, t));
                g += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                g += 1;
                t += 1;
            }
            _ => match star {
                None => return false,
                Some((at, until)) => {
                    star = Some((at, until + 1));
                    g = at + 1;
                    t = until + 1;
                }
            },
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use toolgate_host::audit::Circumstances;
    use toolgate_host::{ToolCall, Verdict};

    use super::*;

    fn entry(time: &str, action: Outcome, rule: &str, command: &str) -> Entry {
        let time: Timestamp = time.parse().expect("a time");
        let of = Circumstances { agent: "claude".into(), ..Circumstances::default() };
        let (call, verdict) = (ToolCall::shell(command, "/home/dev/project"), Verdict::block(rule, "no"));
        let record = Record::new(action, &call, &verdict, time.into(), Duration::ZERO, &of);
        Entry { record, time }
    }

    fn drawn(draw: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
        let mut out = Vec::new();
        draw(&mut out).expect("written");
        anstream::adapter::strip_str(&String::from_utf8(out).expect("text")).to_string()
    }

    #[test]
    fn a_summary_is_drawn_by_rule_and_day() {
        let mut entries: Vec<Entry> =
            (0..8).map(|_| entry("2026-01-31T10:00:00Z", Outcome::Blocked, "builtin:remove-home", "rm")).collect();
        entries.push(entry("2026-01-28T10:00:00Z", Outcome::Asked, "user:push", "git push"));
        entries.push(entry("2026-01-29T23:30:00Z", Outcome::Asked, "user:push", "git push"));
        let shown = drawn(|out| summary(out, &entries, &TimeZone::fixed(jiff::tz::offset(1))));
        let expected = "\
10 entries  2026-01-28 to 2026-01-31, a column a day, highest 8

rule                 total
builtin:remove-home      8  ████████████  ···█
user:push                2  ███           ▁·▁·

blocked 8  asked 2
";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_summary_fits_whatever_is_in_it() {
        let cases = [
            vec![entry("2026-01-31T10:00:00Z", Outcome::Blocked, &"x".repeat(300), "rm")],
            vec![entry("2026-01-31T10:00:00Z", Outcome::Blocked, "\u{202e}\u{1b}[2K\n", "rm")],
            (1..=12)
                .flat_map(|month| (1..=28).map(move |day| format!("2026-{month:02}-{day:02}T10:00:00Z")))
                .map(|time| entry(&time, Outcome::Denied, &format!("a:{}", "y".repeat(60)), "rm"))
                .collect(),
        ];
        for entries in cases {
            let shown = drawn(|out| summary(out, &entries, &TimeZone::UTC));
            for line in shown.lines() {
                assert!(line.chars().count() <= WIDTH, "{shown}");
                assert!(!line.contains(['\u{202e}', '\u{1b}']), "{shown}");
            }
        }
    }

    #[test]
    fn an_entry_shows_what_matched_and_nothing_that_deceives() {
        let mut one_of =
            entry("2026-01-31T10:00:00Z", Outcome::Denied, "user:x", &format!("{}; rm\u{202e} -rf ~", "x".repeat(900)));
        one_of.record.matched = vec!["rm\u{202e} -rf ~".to_owned()];
        one_of.record.tool = "Ba\u{1b}[2Ksh".to_owned();
        let shown = drawn(|out| one(out, &one_of, None, &TimeZone::UTC));
        assert_eq!(
            shown,
            "2026-01-31 10:00:00  denied        user:x\n  [882 bytes omitted]xxxxxxxxxxxxxxxxxx; rm\\u{202e} -rf ~\n  ~~~~~~~~~~~~~~~~~~~                    ^^^^^^^^^^^^^^^^\n  no\n  Ba\\u{1b}[2Ksh in /home/dev/project by claude\n"
        );
    }

    #[test]
    fn a_question_is_shown_with_what_came_of_it() {
        let with = |action, id: &str| {
            let mut one = entry("2026-01-31T10:00:00Z", action, "user:x", "ls");
            id.clone_into(&mut one.record.id);
            one
        };
        let answer = |action| Answer::of(&with(action, "1f2e3d4c"));
        let confirmed = answer(Outcome::Confirmed).expect("an answer");
        assert!(answer(Outcome::Asked).is_none() && Answer::of(&with(Outcome::Denied, "")).is_none());
        let cases = [
            (with(Outcome::Asked, "1f2e3d4c"), Some(&confirmed), "  1f2e3d4c\n  ls\n  no\n  confirmed at 10:00:00\n"),
            (with(Outcome::Asked, "1f2e3d4c"), None, "  1f2e3d4c\n  ls\n  no\n  no answer is known\n"),
            (with(Outcome::Asked, ""), None, "  ls\n  no\n  bash in"),
            (with(Outcome::Blocked, "1f2e3d4c"), None, "  1f2e3d4c\n  ls\n  no\n  bash in"),
        ];
        for (question, answer, expected) in cases {
            let shown = drawn(|out| one(out, &question, answer, &TimeZone::UTC));
            assert!(shown.contains(expected), "{shown}");
        }
    }

    #[test]
    fn filters_narrow_what_is_shown() {
        let one = entry("2026-01-31T10:00:00Z", Outcome::Denied, "user:x", "ls");
        let time = |text: &str| Some(text.parse::<Timestamp>().expect("a time"));
        let text = |text: &str| Some(text.to_owned());
        let all = Filter::default;
        #[rustfmt::skip]
        let cases = [
            (all(), true),
            (Filter { since: time("2026-01-31T10:00:00Z"), ..all() }, true),
            (Filter { since: time("2026-01-31T10:00:01Z"), ..all() }, false),
            (Filter { until: time("2026-01-31T10:00:00Z"), ..all() }, false),
            (Filter { until: time("2026-01-31T10:00:01Z"), ..all() }, true),
            (Filter { rule: text("user:*"), ..all() }, true),
            (Filter { rule: text("*:y"), ..all() }, false),
            (Filter { actions: vec![Outcome::Denied, Outcome::Asked], ..all() }, true),
            (Filter { actions: vec![Outcome::Asked], ..all() }, false),
            (Filter { agent: text("claude"), tool: text("BASH"), ..all() }, true),
            (Filter { agent: text("codex"), ..all() }, false),
            (Filter { cwd: text("/home/dev"), ..all() }, true),
            (Filter { cwd: text("/home/de"), ..all() }, false),
        ];
        for (index, (filter, expected)) in cases.iter().enumerate() {
            assert_eq!(filter.shows(&one), *expected, "case {index}");
        }
    }

    #[test]
    fn patterns_match_whole_names() {
        let cases = [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abcd", false),
            ("a?c", "abc", true),
            ("a?", "a", false),
            ("**b*", "aab", true),
            ("*a*b*c", "xaybzc", true),
            ("user:x", "user:x", true),
            ("user", "user:x", false),
            ("*a*a*a*a*a*a*b", &"a".repeat(2_000), false),
        ];
        for (glob, text, expected) in cases {
            assert_eq!(matches(glob, text), expected, "{glob} {text}");
        }
    }
}
