//! What the structure of a text says of success: which commands have ended well where another one runs, and which have if
//! the text as a whole has.
//!
//! It is the syntax alone that says so: `a && b`, `if a; then b; fi`. Whether a name stands for the program of that name is
//! for whoever asks. What is inside substitutions, wrappers and functions is in none of it.

use crate::scan;
use toolgate_shell_syntax::syntax::{self, Base};
use toolgate_shell_syntax::syntax::{Connector, Item, List, Node, NodeKind, Pipeline};
use toolgate_shell_syntax::word::Span;

/// Which commands of a text have ended well, and when.
///
/// ```
/// use toolgate_shell::{Span, Succession};
/// let found = Succession::of("sync && deploy; true");
/// let (sync, deploy) = (Span { start: 0, end: 4 }, Span { start: 8, end: 14 });
/// assert!(found.follows(sync, deploy) && !found.ended_well(deploy));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Succession {
    /// A command, and where what only runs once it has ended well stands.
    links: Vec<(Span, Span)>,
    ended: Vec<Span>,
    /// The only command of the text, if there is one that is nothing but that.
    pub only: Option<Span>,
    /// Whether each command runs once, after those that stand before it have ended: there are no loops, no pipelines, nothing
    /// in the background.
    pub in_order: bool,
    /// Whether it defines functions, so that names may not be those of programs.
    pub functions: bool,
}

impl Succession {
    /// Reads a shell text. Of one that cannot be parsed nothing is said.
    pub fn of(text: &str) -> Self {
        let parsed = scan::refuse(text).map_or_else(|| syntax::parse(text, Base::default(), 0), Err);
        let Ok(parsed) = parsed else { return Succession::default() };
        let mut found = Succession { in_order: true, ..Succession::default() };
        found.ended = found.list(&parsed.list);
        found.only = only(&parsed.list);
        found
    }

    /// Whether one command has ended well where the other one runs. Both by where they stand in the text.
    pub fn follows(&self, before: Span, after: Span) -> bool {
        self.links.iter().any(|(command, rest)| *command == before && after.is_inside(*rest))
    }

    /// Whether a command has ended well if the text has.
    pub fn ended_well(&self, command: Span) -> bool {
        self.ended.contains(&command)
    }

    /// The commands that have ended well if the list has.
    fn list(&mut self, list: &List) -> Vec<Span> {
        let mut ended = Vec::new();
        for item in &list.items {
            ended = self.item(item);
            if item.background {
                self.in_order = false;
                ended.clear();
            }
        }
        ended
    }

    fn item(&mut self, item: &Item) -> Vec<Span> {
        let mut ended = self.pipeline(&item.first);
        for (connector, pipeline) in &item.rest {
            match connector {
                Connector::And => {
                    self.link(&ended, pipeline.span());
                    ended.extend(self.pipeline(pipeline));
                }
                // Either of them.
                Connector::Or => {
                    self.pipeline(pipeline);
                    ended.clear();
                }
            }
        }
        ended
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Vec<Span> {
        self.in_order &= pipeline.commands.len() == 1;
        let mut ended = Vec::new();
        for node in &pipeline.commands {
            ended = self.node(node);
        }
        if pipeline.negated {
            ended.clear();
        }
        ended
    }

    fn node(&mut self, node: &Node) -> Vec<Span> {
        match &node.kind {
            NodeKind::Simple { .. } => return vec![node.span],
            NodeKind::Subshell(list) | NodeKind::Group(list) => return self.list(list),
            NodeKind::If { clauses, otherwise } => {
                for (condition, body) in clauses {
                    let ended = self.list(condition);
                    self.link(&ended, body.span());
                    self.list(body);
                }
                otherwise.iter().for_each(|body| drop(self.list(body)));
            }
            NodeKind::Loop { until, condition, body } => {
                self.in_order = false;
                let ended = self.list(condition);
                if !until {
                    self.link(&ended, body.span());
                }
                self.list(body);
            }
            NodeKind::For { body, .. } | NodeKind::Count { body, .. } => {
                self.in_order = false;
                self.list(body);
            }
            NodeKind::Case { arms, .. } => arms.iter().for_each(|arm| drop(self.list(&arm.body))),
            NodeKind::Function { .. } => self.functions = true,
            NodeKind::Coprocess { .. } => self.in_order = false,
            NodeKind::Test(_) | NodeKind::Arithmetic(_) => {}
        }
        Vec::new()
    }

    fn link(&mut self, ended: &[Span], rest: Option<Span>) {
        self.links.extend(ended.iter().filter_map(|command| Some((*command, rest?))));
    }
}

fn only(list: &List) -> Option<Span> {
    let [Item { first, rest, background: false }] = list.items.as_slice() else { return None };
    match first.commands.as_slice() {
        [Node { kind: NodeKind::Simple { .. }, span, .. }] if rest.is_empty() && !first.negated => Some(*span),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a word stands.
    fn place(text: &str, word: &str) -> Span {
        let start = text.find(word).expect(word);
        Span { start, end: start + word.len() }
    }

    #[test]
    fn structure_says_what_ended_well() {
        // The text; whether `sync` ended well where `deploy` runs; whether it did if the text did; whether all is in order.
        let cases = [
            ("sync", false, true, true),
            ("sync && deploy", true, true, true),
            ("sync\ndeploy", false, false, true),
            ("sync; deploy", false, false, true),
            ("sync || deploy", false, false, true),
            ("sync & deploy", false, false, false),
            ("! sync && deploy", false, false, true),
            ("! (a && sync) && deploy", false, false, true),
            ("sync | tee && deploy", false, false, false),
            ("a | sync && deploy", true, true, false),
            ("deploy && sync", false, true, true),
            ("a && sync && b && deploy && c", true, true, true),
            ("a || sync && deploy", false, false, true),
            ("sync || a && deploy", false, false, true),
            ("sync && a || deploy", false, false, true),
            ("sync && (a; deploy)", true, true, true),
            ("(sync) && { deploy; }", true, true, true),
            ("(sync || a) && deploy", false, false, true),
            ("(a; sync) && deploy", true, true, true),
            ("(sync; a) && deploy", false, false, true),
            ("(sync &) && deploy", false, false, false),
            ("if sync; then deploy; fi", true, false, true),
            ("if ! sync; then deploy; fi", false, false, true),
            ("if sync; then a; else deploy; fi", false, false, true),
            ("if a; then sync; fi && deploy", false, false, true),
            ("case x in y) sync;; esac && deploy", false, false, true),
            ("for i in; do sync; done && deploy", false, false, false),
            ("while sync; do deploy; done", true, false, false),
            ("until sync; do deploy; done", false, false, false),
            ("sync; true", false, false, true),
            ("sync || true; deploy", false, false, true),
            ("$(sync) && deploy", false, false, true),
            ("sync && deploy & a", true, false, false),
            ("sync && deploy '", false, false, false),
        ];
        for (text, follows, ended, in_order) in cases {
            let found = Succession::of(text);
            let sync = place(text, "sync");
            let follow = text.contains("deploy") && found.follows(sync, place(text, "deploy"));
            assert_eq!((follow, found.ended_well(sync), found.in_order), (follows, ended, in_order), "{text}");
        }
        assert!(Succession::of("f() { a; }; f").functions && Succession::of("a").only.is_some());
        assert!(["a; b", "! a", "a &", "a | b", "(a)"].iter().all(|text| Succession::of(text).only.is_none()));
    }
}
