//! The prompt as it is drawn: what stands on the screen when the shell waits, and how that is told from output.

use unicode_width::UnicodeWidthStr;

use super::hook::Shell;
use super::world::Screen;

/// Most lines that a prompt may have.
const HEIGHT: usize = 8;

/// A prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    shell: Shell,
    /// Its lines, but the last, from the top.
    above: Vec<String>,
    /// The last one, up to where one types.
    left: String,
    /// What stands in that line on the right.
    right: String,
    /// What stands before it in its line: output without a line break at its end.
    stuck: String,
}

impl Prompt {
    /// The prompt on a screen where nothing is typed, of so many lines.
    pub fn of(shell: Shell, screen: &Screen, height: usize) -> Self {
        let lines = screen.above();
        let height = height.clamp(1, HEIGHT);
        let above = lines.iter().skip(lines.len().saturating_sub(height - 1)).map(|line| (*line).to_owned());
        let (left, right) = (screen.before_cursor.clone(), screen.after_cursor().to_owned());
        Prompt { shell, above: above.collect(), left, right, stuck: String::new() }
    }

    /// The next prompt. Where output without a line break stands before it in its only line it is taken for what it was.
    pub fn after(&self, screen: &Screen) -> Self {
        let glued = if self.height() == 1 { self.glued(&screen.before_cursor) } else { None };
        match glued.and_then(|_| screen.before_cursor.strip_suffix(&self.left)).filter(|stuck| !stuck.is_empty()) {
            Some(stuck) => Prompt { stuck: stuck.to_owned(), ..self.clone() },
            None => {
                let mut next = Prompt::of(self.shell, screen, self.height());
                if let Some(first) = next.above.first_mut()
                    && let Some(stuck) = self.glued(first).map(str::len)
                {
                    *first = first.get(stuck..).unwrap_or_default().trim_start().to_owned();
                }
                next
            }
        }
    }

    /// Whether output stands before it in its line: bash then counts the columns of what is typed wrongly.
    pub fn is_stuck(&self) -> bool {
        !self.stuck.is_empty()
    }

    /// How many lines it has.
    pub fn height(&self) -> usize {
        self.above.len() + 1
    }

    /// Its last line, up to where one types.
    pub fn left(&self) -> String {
        format!("{}{}", self.stuck, self.left)
    }

    /// The last characters that are not blank: what people call the prompt's symbol.
    fn symbol(&self) -> &str {
        let words = self.left.trim_end();
        let start = words.char_indices().last().map_or(0, |(start, _)| start);
        words.get(start..).unwrap_or_default()
    }

    /// Whether the shell waits there: exactly this prompt.
    pub fn is_at(&self, screen: &Screen) -> bool {
        let left = screen.before_cursor.trim_end() == self.left().trim_end() && !self.left.trim().is_empty();
        left && self.is_right(screen.after_cursor())
    }

    /// Whether it may be waiting there: a line that ends as this prompt does. A prompt changes with the directory, the
    /// time, the branch.
    pub fn may_be_at(&self, screen: &Screen) -> bool {
        let line = screen.before_cursor.trim_end();
        !line.is_empty() && line.ends_with(self.symbol())
    }

    /// What was typed at this prompt, if that is what a line is.
    pub fn typed<'a>(&self, line: &'a str) -> Option<&'a str> {
        let line = line.strip_prefix(&self.stuck)?;
        let rest = line.strip_prefix(self.left.trim_end())?;
        let start = self.left.trim_end().len();
        // All its blanks, or a line that ends there.
        let rest = match rest.strip_prefix(&self.left[start..]) {
            Some(rest) => rest,
            None if rest.trim().is_empty() => "",
            None => return None,
        };
        Some(self.without_right(line, rest))
    }

    /// Whether a text right of the cursor is not typed: what the prompt shows there.
    pub fn is_right(&self, text: &str) -> bool {
        text.is_empty() || self.right.ends_with(text) || alike(text, &self.right)
    }

    /// A line without what stands on the right of a prompt, if that is there.
    pub fn without_right_of<'a>(&self, line: &'a str) -> Option<&'a str> {
        let right = self.right.chars().count();
        let (at, _) = line.char_indices().rev().nth(right.checked_sub(1)?)?;
        let (rest, end) = line.split_at(at);
        alike(end, &self.right).then_some(rest)
    }

    /// Cuts off what stands on the right of a prompt: another time in the same form.
    fn without_right<'a>(&self, line: &str, rest: &'a str) -> &'a str {
        let rest = rest.trim_end();
        let width = self.right.width();
        if width == 0 || line.trim_end().width() < width {
            return without_time(rest);
        }
        let start = rest.char_indices().rev().find(|(at, _)| rest[*at..].width() >= width).map_or(0, |(at, _)| at);
        let (typed, right) = rest.split_at(start);
        match typed.ends_with("  ") && alike(right, &self.right) {
            true => typed.trim_end(),
            false => without_time(rest),
        }
    }

    /// What a command left before this prompt in the prompt's first line, as it wrote no line break at its end. The
    /// prompt may have changed since it was seen last. zsh begins a line of its own for its prompt.
    pub fn glued<'a>(&self, first: &'a str) -> Option<&'a str> {
        let expected = self.above.first().unwrap_or(&self.left).trim_end();
        if self.shell == Shell::Zsh {
            // What is drawn before it by a function of the user's has no line of its own.
            let before = first.trim_end().strip_suffix(expected).filter(|before| !before.is_empty());
            return before.filter(|_| self.height() > 1 && !expected.is_empty());
        }
        let line = first.trim_end();
        if line == expected {
            return None;
        }
        if expected.is_empty() {
            return Some(line);
        }
        if let Some(before) = line.strip_suffix(expected) {
            return Some(before.trim_end());
        }
        // The longest beginning of it that stands somewhere behind the line's own.
        let ends = expected.char_indices().map(|(at, c)| at + c.len_utf8());
        let beginnings = ends.map(|end| &expected[..end]).filter(|start| start.chars().count() >= BEGINNING);
        let found = beginnings.take_while(|start| line.contains(start)).last()?;
        let at = line.rfind(found).filter(|at| *at > 0)?;
        Some(line[..at].trim_end())
    }
}

/// So many characters of a prompt tell that it begins there.
const BEGINNING: usize = 4;

/// Whether two texts have letters, digits and signs in the same places.
fn alike(one: &str, other: &str) -> bool {
    let kind = |c: char| match c {
        c if c.is_ascii_digit() => '0',
        c if c.is_alphabetic() => 'a',
        c => c,
    };
    one.chars().map(kind).eq(other.chars().map(kind))
}

/// Without a time at the end, as many have it: ` [12:34:56]`.
fn without_time(line: &str) -> &str {
    let time = line.rfind(" [").filter(|at| alike(&line[*at..], " [00:00:00]"));
    time.map_or(line, |at| line[..at].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(above: &[&str], left: &str, right: &str) -> Prompt {
        let above = above.iter().map(|line| (*line).to_owned()).collect();
        Prompt { shell: Shell::Bash, above, left: left.into(), right: right.into(), stuck: String::new() }
    }

    #[test]
    fn what_was_typed_is_told_from_the_prompt_around_it() {
        let cases = [
            ("$ ", "", "$ ls -l", Some("ls -l")),
            ("$ ", "", "$", Some("")),
            ("$ ", "", "$ ", Some("")),
            ("$ ", "", "output", None),
            ("$ ", "", "$x", None),
            ("me@host:~/a$ ", "", "me@host:~/a$ make test", Some("make test")),
            ("me@host:~/a$ ", "", "me@host:~/b$ make test", None),
            ("❯ ", "[12:00:01]", "❯ ls                [12:00:07]", Some("ls")),
            ("❯ ", "[12:00:01]", "❯ echo [12:00:07]", Some("echo")),
            ("❯ ", "main", "❯ echo main", Some("echo main")),
            ("❯ ", "main", "❯ git log        main", Some("git log")),
            ("❯ ", "", "❯ ls [12:00:01]", Some("ls")),
            ("$", "", "$ls", Some("ls")),
        ];
        for (left, right, line, typed) in cases {
            assert_eq!(prompt(&[], left, right).typed(line), typed, "{line:?}");
        }
    }

    #[test]
    fn output_without_a_line_break_is_found_before_the_prompt() {
        let cases: &[(&[&str], &str, &str, Option<&str>)] = &[
            (&[], "$ ", "$", None),
            (&[], "$ ", "foo$ ", Some("foo")),
            (&[], "me@host:~$ ", "foome@host:~$", Some("foo")),
            (&[], "me@host:~/a$ ", "foome@host:~/b$", Some("foo")),
            (&[], "me@host:~/a$ ", "me@host:~/b$", None),
            (&["┌ me ~/a"], "└ ", "foo┌ me ~/a", Some("foo")),
            (&["┌ me ~/a"], "└ ", "┌ me ~/b (main)", None),
            (&["", "info"], "$ ", "foo", Some("foo")),
            (&["", "info"], "$ ", "", None),
        ];
        for (above, left, first, glued) in cases {
            assert_eq!(prompt(above, left, "").glued(first), *glued, "{first:?}");
        }
    }
}
