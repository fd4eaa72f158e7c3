//! Escaping for HTML.

/// Escapes the characters that have a meaning in HTML text and in attributes.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
