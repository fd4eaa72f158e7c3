//! Comments that lift a rule: `git push --force # steering-override: git-force-push — agreed with the team`.
//!
//! The agent writes the comment, so it lifts only what the user's own file says a comment may lift, and only where it
//! is a comment to the shell as well.

/// What begins such a comment. The first is what earlier gates called it.
const MARKS: &[&str] = &["steering-override:", "toolgate-override:"];

/// What begins a comment in the languages of files that agents write.
const LEADERS: &[&str] = &["#", "//", "/*", "<!--", "--", "%%", ";;"];

/// The reason that a text gives for lifting a rule of this name. `text` is a comment, or what is written to a file.
pub fn reason<'t>(text: &'t str, rule: &str) -> Option<&'t str> {
    let mut rest = text;
    while let Some((at, mark)) = MARKS.iter().filter_map(|mark| Some((rest.find(mark)?, *mark))).min() {
        let (before, after) = (rest.get(..at)?.trim_end(), rest.get(at + mark.len()..)?);
        rest = after;
        if !LEADERS.iter().any(|leader| before.ends_with(leader)) {
            continue;
        }
        let Some(after) = after.trim_start_matches([' ', '\t']).strip_prefix(rule) else { continue };
        let Some(after) = after.strip_prefix([' ', '\t']) else { continue };
        let Some(given) = after.trim_start_matches([' ', '\t']).strip_prefix(['—', '–', '-']) else { continue };
        let line = given.lines().next().unwrap_or("");
        // A further comment on the same line is not part of the reason.
        let end = MARKS.iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
        let mut given = line.get(..end)?.trim();
        if end < line.len() {
            given = LEADERS.iter().find_map(|leader| given.strip_suffix(leader)).unwrap_or(given).trim();
        }
        let given = given.strip_suffix("*/").or_else(|| given.strip_suffix("-->")).unwrap_or(given).trim();
        if !given.is_empty() {
            return Some(given);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_lifts_one_rule_for_a_reason() {
        let cases = [
            ("# steering-override: r — why", "r", Some("why")),
            ("# toolgate-override: r - why not", "r", Some("why not")),
            ("// steering-override: r – why", "r", Some("why")),
            ("/* steering-override: r - why */", "r", Some("why")),
            ("<!-- steering-override: r - why -->", "r", Some("why")),
            ("# steering-override: r — ", "r", None),
            ("# steering-override: r", "r", None),
            ("# steering-override: rr — why", "r", None),
            ("# steering-override: R — why", "r", None),
            ("steering-override: r — why", "r", None),
            ("# steering-override: a — x # steering-override: b — y", "a", Some("x")),
            ("# steering-override: a — x # steering-override: b — y", "b", Some("y")),
            ("# steering-override: a —   # steering-override: a — y", "a", Some("y")),
        ];
        for (text, rule, expected) in cases {
            assert_eq!(reason(text, rule), expected, "{text} {rule}");
        }
    }
}
