//! Settings of package managers in a project, `.npmrc` and its kin: most hold no secret, and everybody reads those. One that holds a
//! registry's token, and not the name of a variable that has it, is a secret.

use crate::matching::MatchInput;
use crate::rule::Rule;
use crate::world::GuardHost;

/// What stands before a token, in small letters. npm: `//host/:_authToken=`, `_auth=`, `_password=`; yarn: `npmAuthToken:`,
/// `npmAuthIdent:`; the package manager of .NET: `ClearTextPassword`.
const KEYS: &[&str] = &["_authtoken", "_auth", "_password", "npmauthtoken", "npmauthident", "cleartextpassword"];

/// Whether one of the files that a rule is about holds a token. Where nobody can look, it is taken for one of the many without.
pub(super) fn is_held(rule: &Rule, subject: &MatchInput<'_>, world: &mut dyn GuardHost) -> bool {
    let Some(look) = world.look() else { return false };
    let read = rule.what.effects.iter().flat_map(|wanted| subject.effects(wanted));
    let texts = read.filter_map(|(effect, _)| effect.path.known()).filter_map(|path| look.script(path));
    texts.into_iter().any(|text| text.lines().any(has_token))
}

/// Whether a line sets a token to a value of its own, or an address has a password in it.
fn has_token(line: &str) -> bool {
    let line = line.trim();
    if line.starts_with(['#', ';']) {
        return false;
    }
    let lower = line.to_lowercase();
    let set = KEYS.iter().filter_map(|key| lower.split_once(key)).any(|(_, rest)| {
        let value = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '=' | ':' | '"' | '\''));
        let given = value.strip_prefix("value").map_or(value, |rest| rest.trim_start_matches(['=', '"', '\'', ' ']));
        rest.starts_with([' ', '=', ':', '"']) && !given.is_empty() && !given.starts_with(['$', '%'])
    });
    let address = lower.split_once("://").and_then(|(_, rest)| rest.split('/').next()?.split_once('@'));
    set || address.and_then(|(user, _)| user.split_once(':')).is_some_and(|(_, word)| !word.starts_with(['$', '%']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_are_tokens() {
        for (line, expected) in [
            ("//registry.npmjs.org/:_authToken=npm_abc", true),
            ("//npm.pkg.github.com/:_authToken=${GITHUB_TOKEN}", false),
            ("//npm.pkg.github.com/:_authToken=$GITHUB_TOKEN", false),
            ("_auth = dXNlcjpwYXNz", true),
            ("_auth=\"${NPM_AUTH}\"", false),
            ("# //registry.npmjs.org/:_authToken=npm_abc", false),
            ("always-auth=true", false),
            ("npmAuthToken: \"abc\"", true),
            ("npmAuthToken: \"${NPM_TOKEN}\"", false),
            ("  npmAuthToken:", false),
            ("<add key=\"ClearTextPassword\" value=\"abc\" />", true),
            ("<add key=\"ClearTextPassword\" value=\"%NUGET_TOKEN%\" />", false),
            ("index-url = https://me:abc@pypi.acme.example/simple", true),
            ("index-url = https://me:${TOKEN}@pypi.acme.example/simple", false),
            ("registry=https://registry.npmjs.org/", false),
            ("save-exact=true", false),
        ] {
            assert_eq!(has_token(line), expected, "{line}");
        }
    }
}
