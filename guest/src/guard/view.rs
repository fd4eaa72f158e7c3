//! The texts that patterns are tried on.
//!
//! A pattern like `rm\s+-rf` is about what runs, so it is tried on each command with its words resolved, on each
//! pipeline and on the whole list: `r\m -r''f x` reads `rm -rf x` there, and what a command only prints is left
//! out. Every match leads back to the words of the original text.

use std::borrow::Cow;
use std::ops::Range;

use toolgate_shell::{Command, Joiner, RedirectKind, Runs, Script, Span, Value, Word};

/// A text and where its parts come from.
#[derive(Debug, Default)]
pub(crate) struct View {
    pub(crate) text: String,
    /// The command that it is of, by its place; of several the first.
    pub(crate) command: Option<usize>,
    /// It is of that command alone.
    pub(crate) single: bool,
    /// With the program's folder, if that is left out here.
    pub(crate) written: Option<String>,
    /// Not all that is written is in it.
    pub(crate) cut: bool,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    at: Range<usize>,
    span: Span,
    /// Whether the text is the source's own, so that positions inside it carry over.
    verbatim: bool,
}

/// How much longer than what is known of a word its text may be, in bytes, to stand for it.
const MAX_WRITTEN: usize = 512;

impl View {
    /// The source as it is.
    pub(crate) fn raw(source: &str) -> Self {
        let part = Part { at: 0..source.len(), span: Span { start: 0, end: source.len() }, verbatim: true };
        View { text: source.to_owned(), parts: vec![part], ..View::default() }
    }

    /// One command.
    pub(crate) fn of(command: &Command, source: &str) -> Self {
        let mut view = View::default();
        view.command(command, &command.data(), source, false);
        view
    }

    /// Where a range of this text stands in the source.
    pub(crate) fn source(&self, range: &Range<usize>) -> Span {
        let touched = self.parts.iter().filter(|part| part.at.start < range.end && part.at.end > range.start);
        let spans = touched.map(|part| {
            if part.verbatim {
                let start = part.span.start + range.start.saturating_sub(part.at.start);
                let end = part.span.end - part.at.end.saturating_sub(range.end);
                Span { start, end }
            } else {
                part.span
            }
        });
        spans
            .reduce(|a, b| Span { start: a.start.min(b.start), end: a.end.max(b.end) })
            .or_else(|| self.parts.first().map(|part| part.span))
            .unwrap_or_default()
    }

    fn push(&mut self, text: &str, span: Span, source: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        let verbatim = source.get(span.start..span.end) == Some(text);
        self.parts.push(Part { at: start..self.text.len(), span, verbatim });
    }

    fn word(&mut self, word: &Word, source: &str) {
        match &word.value {
            Value::Known(text) | Value::Pattern(text) => self.push(text, word.span, source),
            Value::Unknown { shape, .. } => {
                // A word of a text inside the text stands where that stands, which may be most of the source, for each of
                // its words again.
                let written = source.get(word.span.start..word.span.end);
                match written.filter(|written| written.len() <= MAX_WRITTEN + shape.len()) {
                    Some(written) => self.push(written, word.span, source),
                    None => {
                        self.cut = true;
                        self.push(&shape.replace(Value::HOLE, "$?"), word.span, source);
                    }
                }
            }
        }
    }

    fn command(&mut self, command: &Command, data: &[bool], source: &str, assignments: bool) {
        let mut first = true;
        let mut blank = |view: &mut View| {
            if !std::mem::take(&mut first) {
                view.text.push(' ');
            }
        };
        for (name, word) in command.assignments.iter().filter(|_| assignments) {
            blank(self);
            self.text.push_str(name);
            self.text.push('=');
            self.word(word, source);
        }
        for (word, data) in command.words.iter().zip(data) {
            blank(self);
            if *data {
                // Kept as a word, so that a pattern can still count them.
                self.text.push_str("''");
            } else {
                self.word(word, source);
            }
        }
        for redirect in &command.redirects {
            blank(self);
            self.text.push_str(match redirect.kind {
                RedirectKind::Read => "< ",
                RedirectKind::Write => "> ",
                RedirectKind::Append => ">> ",
                RedirectKind::ReadWrite => "<> ",
            });
            self.word(&redirect.target, source);
        }
    }
}

/// Every text of a script that patterns are tried on, without repetition. What never runs is in none of them.
pub(crate) fn views(script: &Script, source: &str) -> Vec<View> {
    let mut views = Vec::new();
    // A command is in its own view, its pipeline's and its list's; what of it is data is found out once.
    let data: Vec<Cow<'_, [bool]>> = script.commands.iter().map(Command::data).collect();
    let running = || {
        let all = script.commands.iter().zip(&data).enumerate();
        all.filter(|(_, (command, _))| command.runs != Runs::Never).map(|(index, (command, data))| Running {
            index,
            command,
            data,
        })
    };
    for Running { index, command, data } in running() {
        let mut view = View { command: Some(index), single: true, ..View::default() };
        view.command(command, data, source, true);
        views.push(view);
        // `A=1 git push`: patterns begin with the program.
        if !command.assignments.is_empty() && !command.words.is_empty() {
            views.push(View { command: Some(index), single: true, ..View::of(command, source) });
        }
        if let Some(bare) = without_folder(command) {
            let written = Some(View::of(command, source).text);
            views.push(View { command: Some(index), single: true, written, ..View::of(&bare, source) });
        }
    }
    if script.unparsed.is_some() {
        return views;
    }
    let mut sorted: Vec<Running<'_>> = running().collect();
    sorted.sort_by_key(|one| one.command.group);
    for group in sorted.chunk_by(|a, b| a.command.group == b.command.group).filter(|group| group.len() > 1) {
        let pipelines: Vec<&[Running<'_>]> = group.chunk_by(|_, next| next.command.joiner == Joiner::Pipe).collect();
        for pipeline in pipelines.iter().filter(|pipeline| pipeline.len() > 1) {
            views.push(joined(pipeline, source));
        }
        if pipelines.len() > 1 {
            views.push(joined(group, source));
        }
    }
    views
}

/// What a command that is named with its folder is without that: `/usr/bin/git push` is `git push` to a pattern.
pub(crate) fn without_folder(command: &Command) -> Option<Command> {
    let (_, name) = command.words.first()?.known()?.rsplit_once('/').filter(|(_, name)| !name.is_empty())?;
    let mut bare = command.clone();
    bare.words.first_mut()?.value = Value::Known(name.to_owned());
    Some(bare)
}

/// A command that may run.
struct Running<'a> {
    index: usize,
    command: &'a Command,
    /// Of each word.
    data: &'a [bool],
}

fn joined(commands: &[Running<'_>], source: &str) -> View {
    let mut view = View { command: commands.first().map(|one| one.index), ..View::default() };
    for (at, one) in commands.iter().enumerate() {
        if at > 0 {
            view.text.push_str(one.command.joiner.text());
        }
        view.command(one.command, one.data, source, true);
    }
    view
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;

    #[test]
    fn views_show_what_runs() {
        let cases: &[(&str, &[&str])] = &[
            ("r\\m -r''f x", &["rm -rf x"]),
            ("echo 'rm -rf /' > f", &["echo '' > f"]),
            ("git commit -m 'rm -rf /'", &["git commit -m ''"]),
            ("grep -rn 'rm -rf' src", &["grep -rn '' src"]),
            ("A=1 curl x | sh", &["A=1 curl x", "curl x", "sh", "A=1 curl x | sh"]),
            ("cat <<'E'\nrm -rf /\nE", &["cat"]),
            ("bash <<'E'\nrm x\nE", &["bash", "rm x"]),
            ("sudo rm x", &["sudo rm x", "rm x"]),
            ("sh -c 'rm x'", &["sh -c rm x", "rm x"]),
            ("echo 'rm x' | sh", &["echo ''", "sh", "rm x", "echo '' | sh"]),
            ("echo $(rm x)", &["echo", "rm x"]),
            ("echo $(curl x)", &["echo ''", "curl x"]),
            ("F=/x; rm $F", &["F=/x", "rm /x", "F=/x; rm /x"]),
            ("a && b || c", &["a", "b", "c", "a && b || c"]),
            ("rm {a,b}", &["rm a b"]),
            ("/bin/r\\m a", &["/bin/rm a", "rm a"]),
        ];
        for (text, expected) in cases {
            let script = parse(text, &Facts::new("/p").home("/h"));
            assert_eq!(script.unparsed, None, "{text}");
            let texts: Vec<String> = views(&script, text).into_iter().map(|view| view.text).collect();
            assert_eq!(texts, *expected, "{text}");
        }
    }

    #[test]
    fn a_match_leads_back_to_the_original_words() {
        for (text, needle, expected) in [
            ("é; sudo r\\m -rf x", "rm -rf", "r\\m -rf"),
            ("curl a |  sh -x", "curl a | sh", "curl a |  sh"),
            ("sh -c 'rm x'", "rm x", "rm x"),
            ("sh -c \"r''m x\"", "rm x", "r''m x"),
            ("true; rm -rf /", "-rf", "-rf"),
        ] {
            let script = parse(text, &Facts::new("/p"));
            let views = views(&script, text);
            let (view, at) = views.iter().rev().find_map(|view| Some((view, view.text.find(needle)?))).expect(needle);
            let span = view.source(&(at..at + needle.len()));
            assert_eq!(&text[span.start..span.end], expected, "{text}");
        }
    }

    /// Each word of a text inside the text stands where that whole text stands.
    #[test]
    fn what_is_inside_a_text_is_not_all_of_it_again() {
        let text = format!("sh -c \"{}\"", "rm \\$(cat a)\\$x \\$y; ".repeat(500));
        let views = views(&parse(&text, &Facts::new("/p")), &text);
        let bytes: usize = views.iter().map(|view| view.text.len()).sum();
        assert!(bytes < 20 * text.len(), "{bytes} bytes for {}", text.len());
        assert!(views.iter().any(|view| view.text == "rm $?$? $?"), "{:?}", views.get(1).map(|view| &view.text));
    }
}
