//! From two screens to what a command wrote, and from a long text to as much of it as an agent is given.

use unicode_width::UnicodeWidthStr;

use super::prompt::Prompt;
use super::world::Screen;

/// Most lines of an answer.
pub(crate) const LINES: usize = 2_000;

/// Most bytes of an answer.
const BYTES: usize = 50 << 10;

/// What a command wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The text.
    pub text: String,
    /// Whether it begins before what the terminal still has.
    pub cut: bool,
}

/// What stands between a typed command and the prompt after it.
///
/// `typed` is the screen before Enter, with the command at `prompt`; `after` is a later one, on which the output is as far
/// as `ends` says.
pub fn between(typed: &Screen, after: &Screen, prompt: &Prompt, ends: Ends) -> Output {
    let lines: Vec<&str> = after.text.split('\n').collect();
    let (start, cut) = start(typed, &lines, prompt);
    let mut rest: Vec<&str> = joined_on(typed, &lines, start).into_iter().collect();
    let start = start + rest.len();
    rest.extend(lines.get(start..).unwrap_or_default());
    let kept = match ends {
        Ends::Running => rest,
        Ends::Prompt => before_prompt(&rest, prompt),
        Ends::More => match rest.iter().position(|line| prompt.typed(line).is_some_and(|typed| !typed.is_empty())) {
            Some(next) => before_prompt(&rest[..=next], prompt),
            None => before_prompt(&rest, prompt),
        },
    };
    Output { text: joined(&kept), cut }
}

/// Where the output of a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// It has not: all that there is belongs to it.
    Running,
    /// At the prompt that waits now.
    Prompt,
    /// At the next prompt that has a command, as others have typed some since.
    More,
}

/// The line after the typed command, and whether what comes before it is lost.
fn start(typed: &Screen, lines: &[&str], prompt: &Prompt) -> (usize, bool) {
    // Where the text ends with the row, zsh has the cursor on the next one, and may leave that empty. An empty line is
    // found anywhere, so it tells nothing.
    let text = typed.text.trim_end_matches('\n');
    let known: Vec<&str> = text.split('\n').collect();
    let same = overlap(&known, lines);
    if same >= prompt.height() {
        let left = text.len() < typed.text.len() && lines.get(same).is_some_and(|line| line.is_empty());
        return (same + usize::from(left), false);
    }
    let above = known.get(..known.len().saturating_sub(1)).unwrap_or_default();
    let same = overlap(above, lines);
    if same == above.len() && joined_on(typed, lines, same).is_some() {
        return (same, false);
    }
    // Some shells draw the prompt anew, in another form, once a command is entered.
    let height = prompt.height();
    let last = known.last().copied().unwrap_or_default();
    let above = known.get(..known.len().saturating_sub(height)).unwrap_or_default();
    let same = overlap(above, lines);
    let near = lines.iter().skip(same).take(height + known.len()).position(|line| is_typed(line, last, prompt));
    // The command may be drawn anew where it was typed, too.
    let entered =
        lines.get(same + height - 1).and_then(|line| prompt.typed(line)).is_some_and(|typed| !typed.is_empty());
    match near {
        Some(near) => (same + near + 1, false),
        None if entered => (same + known.len() - above.len(), false),
        // The screen was cleared, or so much was written that the command is gone: what is the same as before is so
        // because the same was written again.
        None => (0, lines.len() > typed.height as usize),
    }
}

/// The first line of the output where the terminal has joined it to the typed one: that ends where the screen does.
fn joined_on<'a>(typed: &Screen, lines: &[&'a str], at: usize) -> Option<&'a str> {
    let last = typed.text.rsplit('\n').next()?;
    let full = typed.width > 0 && last.width() > 0 && last.width() % typed.width as usize == 0;
    lines.get(at)?.strip_prefix(last).filter(|rest| full && !rest.is_empty())
}

/// Whether a line is the last that was typed, whatever prompt is before it now.
fn is_typed(line: &str, last: &str, prompt: &Prompt) -> bool {
    let dense = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match prompt.typed(last) {
        Some(typed) => !typed.is_empty() && dense(line).ends_with(&dense(typed)),
        // Of several lines only the first has a prompt.
        None => line == last,
    }
}

/// How many of the first lines are the last of those known before. The text slides up as it grows, so the longest such
/// piece is the one.
pub(crate) fn overlap<T: PartialEq>(known: &[T], lines: &[T]) -> usize {
    // The prefix function of Knuth, Morris and Pratt, over lines.
    let mut table = vec![0; lines.len()];
    let mut matched = 0;
    for at in 1..lines.len() {
        while matched > 0 && lines[at] != lines[matched] {
            matched = table[matched - 1];
        }
        matched += usize::from(lines[at] == lines[matched]);
        table[at] = matched;
    }
    let mut matched = 0;
    for line in known {
        while matched > 0 && (matched == lines.len() || *line != lines[matched]) {
            matched = table[matched - 1];
        }
        matched += usize::from(lines.get(matched) == Some(line));
    }
    matched
}

/// The lines before the prompt that stands at their end, with what was written right before it.
fn before_prompt<'a>(lines: &[&'a str], prompt: &Prompt) -> Vec<&'a str> {
    let (output, block) = lines.split_at(lines.len().saturating_sub(prompt.height()));
    let mut output = output.to_vec();
    output.extend(block.first().and_then(|first| prompt.glued(first)).filter(|text| !text.is_empty()));
    output
}

/// As a text, without empty lines at its end.
fn joined(lines: &[&str]) -> String {
    lines.join("\n").trim_end().to_owned()
}

/// What a person has done at a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// The command.
    pub command: String,
    /// What it wrote.
    pub output: String,
}

/// The last command on a screen that waits at the prompt `now`, which was typed at `before` or at one like it. `rest` is
/// the screen as it was at `before`, if only one command was typed since. None if the last prompt was left empty.
pub fn last_command(rest: Option<&Screen>, after: &Screen, before: &Prompt, now: &Prompt) -> Option<Activity> {
    let lines: Vec<&str> = after.text.split('\n').collect();
    let end = lines.len().saturating_sub(now.height());
    let typed = |line: &str| before.typed(line).or_else(|| now.typed(line)).map(str::trim).map(str::to_owned);
    let known = rest
        .map(|rest| overlap(&rest.above(), &lines))
        .filter(|at| lines.get(*at).is_some_and(|line| typed(line).is_some()));
    let at = known.or_else(|| lines.get(..end)?.iter().rposition(|line| typed(line).is_some()))?;
    let mut command = typed(lines.get(at)?).filter(|command| !command.is_empty())?;
    let mut rest = lines.get(at + 1..)?;
    // zsh breaks what is typed at the end of a line itself.
    let (mut line, width) = (*lines.get(at)?, after.width as usize);
    while line.width() == width && line.ends_with(&command[command.rfind('\n').map_or(0, |at| at + 1)..]) {
        let Some((next, others)) = rest.split_first() else { break };
        command.push_str(next.trim_end());
        (line, rest) = (next, others);
    }
    while let Some((continued, others)) =
        rest.split_first().and_then(|(first, others)| Some((continuation(first)?, others)))
    {
        command = format!("{command}\n{continued}");
        rest = others;
    }
    let (output, block) = rest.split_at(rest.len().saturating_sub(now.height()));
    let mut output = output.to_vec();
    output.extend(block.first().and_then(|first| before.glued(first)).filter(|text| !text.is_empty()));
    Some(Activity { command, output: joined(&output) })
}

/// What stands after a prompt for more lines, as bash and zsh have them.
fn continuation(line: &str) -> Option<&str> {
    const NAMES: &[&str] = &[
        "",
        "dquote",
        "bquote",
        "quote",
        "heredoc",
        "cmdsubst",
        "subsh",
        "cursh",
        "for",
        "while",
        "if",
        "then",
        "else",
        "function",
        "case",
        "pipe",
        "cmdand",
        "cmdor",
        "array",
        "braceparam",
    ];
    let (names, rest) = line.split_once('>')?;
    let continues = names.split(' ').all(|name| NAMES.contains(&name)) && (rest.is_empty() || rest.starts_with(' '));
    continues.then(|| rest.trim_start_matches(' '))
}

/// The end of a text, as much as an agent is given, with a line before it that says what is left out.
pub fn bounded(output: &Output) -> String {
    let lines: Vec<&str> = output.text.split('\n').collect();
    let mut first = lines.len();
    let mut bytes = 0;
    while first > 0 && lines.len() - first < LINES && bytes + lines[first - 1].len() < BYTES {
        first -= 1;
        bytes += lines[first].len() + 1;
    }
    let whole = output.text.len();
    // One line that is too long by itself is cut in the middle.
    let (kept, text) = match lines.last() {
        Some(last) if first == lines.len() => {
            let from = (0..last.len()).find(|at| last.len() - at <= BYTES && last.is_char_boundary(*at)).unwrap_or(0);
            (1, last[from..].to_owned())
        }
        _ => (lines.len() - first, lines[first..].join("\n")),
    };
    match (output.cut, text.len() < whole) {
        (false, false) => text,
        (false, true) => {
            let (of, size) = (lines.len(), bytes_text(whole));
            format!("[Truncated: last {kept} of {of} lines ({} of {size})]\n{text}", bytes_text(text.len()))
        }
        (true, _) => format!(
            "[Truncated: last {kept} lines ({}); the terminal no longer has what came before]\n{text}",
            bytes_text(text.len())
        ),
    }
}

fn bytes_text(bytes: usize) -> String {
    match bytes {
        0..=1023 => format!("{bytes}B"),
        _ => format!("{}.{}KB", bytes / 1024, bytes % 1024 * 10 / 1024),
    }
}
