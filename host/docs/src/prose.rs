//! Doc comments as HTML: Markdown, in which `names` of items become links to them.

use pulldown_cmark::{CowStr, Event, html};

use crate::escape::escape;

/// A doc comment as HTML. `anchor` says where a name leads, if it names anything. HTML in the comment is shown, not used.
pub(super) fn prose(docs: Option<&str>, anchor: impl Fn(&str) -> Option<String>) -> String {
    let events = pulldown_cmark::Parser::new(docs.unwrap_or_default()).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Code(name) => match anchor(&name) {
            Some(anchor) => Event::InlineHtml(linked(&anchor, &name)),
            None => Event::Code(name),
        },
        other => other,
    });
    let mut out = String::new();
    html::push_html(&mut out, events);
    out
}

fn linked(anchor: &str, name: &str) -> CowStr<'static> {
    format!("<a href=\"#{anchor}\"><code>{}</code></a>", escape(name)).into()
}
