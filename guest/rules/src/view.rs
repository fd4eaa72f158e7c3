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
        if let Some(action) = command.action {
            blank(self);
            self.push(action.as_program(), command.span, source);
        }
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

/// How the text of one command is put together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// With its assignments.
    Whole,
    /// `A=1 git push`: patterns begin with the program.
    Unassigned,
    /// Without its program's folder.
    Bare,
}

/// A text that patterns are tried on, before it is put together.
#[derive(Debug)]
pub(crate) enum Draft {
    /// Of one command, by its number.
    One(usize, Form),
    /// Of a pipeline or a list.
    Joined(Vec<usize>),
}

/// Every text of a script that patterns are tried on, without repetition. What never runs is in none of them.
pub(crate) struct Drafts<'a> {
    script: &'a Script,
    source: &'a str,
    /// What of each command is data: it is in its own text, its pipeline's and its list's.
    data: Vec<Cow<'a, [bool]>>,
    all: Vec<Draft>,
}

impl<'a> Drafts<'a> {
    pub(crate) fn of(script: &'a Script, source: &'a str) -> Self {
        let commands = &script.commands;
        let running = || (0..commands.len()).filter(|number| commands[*number].runs != Runs::Never);
        let mut all = Vec::new();
        for number in running() {
            let command = &commands[number];
            all.push(Draft::One(number, Form::Whole));
            if !command.assignments.is_empty() && !command.words.is_empty() {
                all.push(Draft::One(number, Form::Unassigned));
            }
            if bare_name(command).is_some() {
                all.push(Draft::One(number, Form::Bare));
            }
        }
        if script.unparsed.is_none() {
            let mut sorted: Vec<usize> = running().collect();
            sorted.sort_by_key(|number| commands[*number].group);
            let groups = sorted.chunk_by(|a, b| commands[*a].group == commands[*b].group);
            for group in groups.filter(|group| group.len() > 1) {
                let pipelines: Vec<&[usize]> =
                    group.chunk_by(|_, next| commands[*next].joiner == Joiner::Pipe).collect();
                let joined = pipelines.iter().filter(|pipeline| pipeline.len() > 1);
                all.extend(joined.map(|pipeline| Draft::Joined(pipeline.to_vec())));
                if pipelines.len() > 1 {
                    all.push(Draft::Joined(group.to_vec()));
                }
            }
        }
        Drafts { script, source, data: commands.iter().map(Command::data).collect(), all }
    }

    pub(crate) fn all(&self) -> &[Draft] {
        &self.all
    }

    /// What is the same for two texts only if they are: their commands, each by the first one that is the same, and what
    /// stands between these, or how one is put together.
    pub(crate) fn key(&self, draft: &Draft, first: impl Fn(usize) -> usize) -> Vec<(usize, &'static str)> {
        match draft {
            Draft::One(number, Form::Whole) => vec![(first(*number), "whole")],
            Draft::One(number, Form::Unassigned) => vec![(first(*number), "unassigned")],
            Draft::One(number, Form::Bare) => vec![(first(*number), "bare")],
            Draft::Joined(numbers) => {
                let joiner = |number: usize| self.script.commands[number].joiner.text();
                numbers.iter().map(|number| (first(*number), joiner(*number))).collect()
            }
        }
    }

    pub(crate) fn view(&self, draft: &Draft) -> View {
        let source = self.source;
        match draft {
            Draft::One(number, form) => {
                let command = &self.script.commands[*number];
                let view = match form {
                    Form::Whole => {
                        let mut view = View::default();
                        view.command(command, &self.data[*number], source, true);
                        view
                    }
                    Form::Unassigned => View::of(command, source),
                    Form::Bare => {
                        let bare = without_folder(command).unwrap_or_else(|| command.clone());
                        View { written: Some(View::of(command, source).text), ..View::of(&bare, source) }
                    }
                };
                View { command: Some(*number), single: true, ..view }
            }
            Draft::Joined(numbers) => {
                let mut view = View { command: numbers.first().copied(), ..View::default() };
                for (at, number) in numbers.iter().enumerate() {
                    let command = &self.script.commands[*number];
                    if at > 0 {
                        view.text.push_str(command.joiner.text());
                    }
                    view.command(command, &self.data[*number], source, true);
                }
                view
            }
        }
    }
}

/// What the program of a command is named with its folder left out, if that is named.
fn bare_name(command: &Command) -> Option<&str> {
    let (_, name) = command.words.first()?.known()?.rsplit_once('/')?;
    Some(name).filter(|name| !name.is_empty())
}

/// What a command that is named with its folder is without that: `/usr/bin/git push` is `git push` to a pattern.
pub(crate) fn without_folder(command: &Command) -> Option<Command> {
    let name = bare_name(command)?;
    let mut bare = command.clone();
    bare.words.first_mut()?.value = Value::Known(name.to_owned());
    Some(bare)
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;

    fn views(script: &Script, source: &str) -> Vec<View> {
        let drafts = Drafts::of(script, source);
        drafts.all().iter().map(|draft| drafts.view(draft)).collect()
    }

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
