//! A text in the border of a pane.
//!
//! The text stands in an option of its own and the format only names that, so nothing in it is expanded: `#(command)`
//! in a format runs a command. What draws the border still reads styles, so each `#` is doubled.

use super::tmux::{Tmux, argument};
use toolgate_host::capability::Answer;

/// Longest text, in characters.
const MAX_LINE_CHARS: usize = 200;

/// The option that holds the text.
const OPTION: &str = "@toolgate-border";
const FORMAT: &str = "#{@toolgate-border}";

/// What a border was before.
#[derive(Clone, Debug)]
pub(super) struct Border {
    /// The pane's own format, if it had one.
    format: Option<String>,
    /// Whether the window shows borders with text because of us, and its own setting for that, if it had one.
    status: Option<Option<String>>,
}

/// Shows a text in a pane's border; says what it was before.
pub(super) async fn show(tmux: &Tmux, pane: &str, text: &str) -> Answer<Border> {
    let format = option(tmux, &["-p", "-q", "-v", "-t", pane, "pane-border-format"]).await?;
    let inherited = option(tmux, &["-w", "-A", "-q", "-v", "-t", pane, "pane-border-status"]).await?;
    let own = option(tmux, &["-w", "-q", "-v", "-t", pane, "pane-border-status"]).await?;
    let hidden = !matches!(inherited.as_deref(), Some("top" | "bottom"));
    change(tmux, pane, text).await?;
    tmux.run(&["set-option", "-p", "-t", pane, "pane-border-format", FORMAT]).await?.output()?;
    if hidden {
        tmux.run(&["set-option", "-w", "-t", pane, "pane-border-status", "top"]).await?.output()?;
    }
    Ok(Border { format: format.filter(|format| format != FORMAT), status: hidden.then_some(own) })
}

/// Shows another text.
pub(super) async fn change(tmux: &Tmux, pane: &str, text: &str) -> Answer<()> {
    tmux.run(&["set-option", "-p", "-t", pane, OPTION, &argument(&drawn(text))]).await?.output().map(drop)
}

/// Makes a border what it was.
pub(super) async fn restore(tmux: &Tmux, pane: &str, before: &Border) -> Answer<()> {
    set(tmux, &["-p", "-t", pane], "pane-border-format", before.format.as_deref()).await?;
    if let Some(status) = &before.status {
        set(tmux, &["-w", "-t", pane], "pane-border-status", status.as_deref()).await?;
    }
    set(tmux, &["-p", "-t", pane], OPTION, None).await
}

/// Sets an option, or removes it so that it is inherited.
async fn set(tmux: &Tmux, which: &[&str], option: &str, value: Option<&str>) -> Answer<()> {
    let value = value.map(argument);
    let rest = value.as_deref().map_or(vec!["-u", option], |value| vec![option, value]);
    tmux.run(&[&["set-option"], which, &rest].concat()).await?.output().map(drop)
}

/// The value of an option; none if it is not set there.
async fn option(tmux: &Tmux, which: &[&str]) -> Answer<Option<String>> {
    let output = tmux.run(&[&["show-options"], which].concat()).await?.output()?;
    Ok(output.strip_suffix('\n').map(str::to_owned).filter(|value| !value.is_empty()))
}

/// A text as it is drawn as itself.
fn drawn(text: &str) -> String {
    let shown: String = text.chars().filter(|c| !c.is_control()).take(MAX_LINE_CHARS).collect();
    // Never empty, or there was no telling it from an option that is not set; never an option of the command.
    format!(" {} ", shown.replace('#', "##"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_drawn_as_itself() {
        let long = "a".repeat(201);
        let cases = [
            ("ok", " ok "),
            ("-t", " -t "),
            ("a;", " a; "),
            ("#(touch x)", " ##(touch x) "),
            ("#[fg=red]", " ##[fg=red] "),
            ("a\u{1b}[31m\nb\t", " a[31mb "),
            ("", "  "),
            (&*long, &*format!(" {} ", &long[..200])),
        ];
        for (text, expected) in cases {
            assert_eq!(drawn(text), expected, "{text:?}");
        }
    }
}
