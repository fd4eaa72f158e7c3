//! Parts of a tree, told apart.

use toolgate_shell_syntax::word::Span;

/// A part of a tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeId {
    /// Where it is in memory, as texts inside the text may share a span.
    address: usize,
    /// Where it stands, as the memory of one text is used again for the next.
    span: (usize, usize),
}

impl NodeId {
    pub(super) fn of<T>(part: &T, span: Option<Span>) -> Self {
        let span = span.unwrap_or_default();
        NodeId { address: std::ptr::from_ref(part).addr(), span: (span.start, span.end) }
    }
}
