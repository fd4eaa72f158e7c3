//! Which characters do not show as themselves, so that what people and models read does not deceive.
//!
//! It knows nothing of Toolgate: guest and host put their texts before readers in ways of their own, by this one table.

/// Whether a character is a control character, a mark that turns text round, or one without a shape: Unicode's default
/// ignorables, and blanks other than the usual one.
///
/// ```
/// assert!("\u{1b}\u{202e}\u{200b}\u{a0}\n".chars().all(toolgate_plain::deceives));
/// assert!(!" größe 写".chars().any(toolgate_plain::deceives));
/// ```
#[inline]
pub fn deceives(c: char) -> bool {
    // Almost all that is asked for.
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
            | '\u{a0}' | '\u{1680}' | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
