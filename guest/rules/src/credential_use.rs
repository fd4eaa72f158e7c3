//! Secrets that a program is given to use, and not to show: a key to log in or to sign with. And words that look like the
//! name of such a file, and are none: a query, the key of a setting.

use toolgate_commands::RunForm;
use toolgate_shell::{Command, Effect, EffectKind, Named, Word};

/// Options that name the key that a program works with, in small letters and without dashes before them.
const KEYS: &[&str] = &[
    "cert-key",
    "certificate-key",
    "client-key",
    "creds",
    "https-key",
    "identity",
    "identity-file",
    "key",
    "key-file",
    "key-path",
    "keyfile",
    "keystore",
    "ks",
    "kubeconfig",
    "nkey",
    "private-key",
    "private-key-file",
    "private-key-path",
    "signing-key",
    "ssh-key",
    "ssh-key-file",
    "ssl-key",
    "ssl-key-file",
    "ssl-keyfile",
    "ssl-private-key",
    "tls-key",
    "tls-key-file",
    "tls-private-key-file",
    "tlskey",
];

/// Options whose value says what of an answer is shown.
const QUERIES: &[&str] =
    &["fields", "filter", "format", "jmespath", "jq", "json", "jsonpath", "query", "select", "template"];

/// Programs, with the subcommands of which the operands are keys of settings or of data.
const SETTINGS: &[(&str, &[&str])] = &[
    ("npm", &["pkg", "config", "get", "set"]),
    ("pnpm", &["pkg", "config", "get", "set"]),
    ("yarn", &["config"]),
    ("git", &["config"]),
    ("gh", &["config", "label"]),
    ("gcloud", &["config"]),
    ("aws", &["configure"]),
    ("composer", &["config"]),
    ("pulumi", &["config"]),
    ("dotnet", &["user-secrets"]),
    ("gsettings", &[]),
    ("defaults", &[]),
    ("redis-cli", &[]),
    ("valkey-cli", &[]),
    ("etcdctl", &[]),
    ("i18next", &[]),
];

/// Subcommands of openssl that show a key where nothing else is asked for.
const CONVERTERS: &[&str] = &["dsa", "ec", "pkey", "rsa"];

fn words(command: &Command) -> impl Iterator<Item = &str> {
    command.words.iter().map(|word| word.value.text())
}

/// The name of the option whose value an effect is on, in small letters and without dashes before it.
fn option_of(command: &Command, effect: &Effect) -> Option<String> {
    let at = command.words.iter().position(|word| word.span == effect.span)?;
    let text = command.words[at].value.text();
    let name = match text.split_once('=') {
        Some((name, _)) if text.starts_with('-') => name,
        _ => command.words.get(at.checked_sub(1)?).and_then(Word::known)?,
    };
    let bare = name.strip_prefix('-')?.trim_start_matches('-');
    Some(bare.to_ascii_lowercase().replace('_', "-"))
}

/// Whether a program that the effect belongs to has words of its own only, and runs nothing with them.
fn runs_nothing(program: &str) -> bool {
    let spec = toolgate_commands::find(program);
    spec.is_some_and(|spec| spec.runs.as_ref().is_none_or(|runs| runs.what == RunForm::Subcommand))
}

/// Whether openssl is asked for the public half of a key, or whether it is sound.
fn shows_public(command: &Command) -> bool {
    let has = |option: &str| words(command).any(|word| word == option);
    words(command).nth(1).is_some_and(|name| CONVERTERS.contains(&name))
        && (has("-pubout") || has("-noout"))
        && !words(command).any(|word| word.starts_with('-') && word.ends_with("text"))
}

/// Whether `gh secret set` takes it, for the repository of its directory: who may write there may use it, and nobody sees it.
fn stores_secret(command: &Command) -> bool {
    let mut words = words(command).skip(1);
    matches!((words.next(), words.next()), (Some("secret"), Some("set")))
        && !words
            .any(|word| ["-R", "--repo", "-o", "--org", "-u", "--user"].iter().any(|other| word.starts_with(other)))
}

/// Whether a command only works with what this effect is on, and shows nothing of it.
pub(crate) fn is_used(command: &Command, effect: &Effect) -> bool {
    if !matches!(effect.kind, EffectKind::Read | EffectKind::Mention) {
        return false;
    }
    let Some(program) = command.program() else { return false };
    let redirected = command.redirects.iter().any(|redirect| redirect.target.span == effect.span);
    match program {
        "gh" => stores_secret(command),
        _ if redirected => false,
        // A new key is written, or a secret printed.
        "openssl" if words(command).any(|word| word == "-keyout") => false,
        "kubectl" | "oc" if words(command).any(|word| word == "create") => false,
        _ if effect.used => true,
        "openssl" => effect.kind == EffectKind::Read && shows_public(command),
        _ => {
            effect.kind == EffectKind::Mention
                && runs_nothing(program)
                && option_of(command, effect).is_some_and(|name| KEYS.contains(&name.as_str()))
        }
    }
}

/// The same, or the word is no file for all that its place says: a program that is not known has been given a key, too, and a
/// query or the key of a setting is only called like one.
pub(crate) fn is_no_disclosure(command: &Command, effect: &Effect) -> bool {
    if is_used(command, effect) {
        return true;
    }
    if effect.kind != EffectKind::Mention || effect.named != Named::Word {
        return false;
    }
    let named = option_of(command, effect);
    named.is_some_and(|name| KEYS.contains(&name.as_str()) || QUERIES.contains(&name.as_str())) || is_setting(command)
}

/// Whether the operands of a command are keys of settings.
fn is_setting(command: &Command) -> bool {
    let Some(program) = command.program() else { return false };
    let first = words(command).skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    SETTINGS
        .iter()
        .any(|(name, subcommands)| *name == program && (subcommands.is_empty() || subcommands.contains(&first)))
}

/// Whether chmod leaves a file to its owner alone: `chmod 600 KEY`, `chmod go-rwx KEY`.
pub(crate) fn is_tightened(command: &Command, effect: &Effect) -> bool {
    if effect.kind != EffectKind::Mode || command.program() != Some("chmod") {
        return false;
    }
    let known: Option<Vec<&str>> = command.words.iter().skip(1).map(Word::known).collect();
    let Some(known) = known else { return false };
    let mut operands = known.iter().filter(|word| !word.starts_with('-'));
    let options = known.iter().filter(|word| word.starts_with('-'));
    let plain = options.clone().all(|word| word[1..].chars().all(|letter| "Rvcf".contains(letter)));
    operands.next().is_some_and(|mode| keeps_to_owner(mode)) && plain
}

/// Whether a mode takes everything from everybody else, and leaves it readable to the owner.
fn keeps_to_owner(mode: &str) -> bool {
    if mode.chars().all(|digit| digit.is_digit(8)) {
        let digits = mode.trim_start_matches('0');
        return digits.len() == 3 && digits.starts_with(['4', '5', '6', '7']) && digits.ends_with("00");
    }
    let owner = ["u=rwX", "u=rwx", "u=rw", "u+rw", "u+rwX", "u+rwx", "u=r", "u+r"];
    let others = ["go=", "og=", "go-rwx", "og-rwx", "go-rw", "og-rw", "g-rwx", "o-rwx", "g=", "o="];
    mode.split(',').all(|part| owner.contains(&part) || others.contains(&part))
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;

    fn first(text: &str, which: fn(&Command, &Effect) -> bool) -> bool {
        let script = parse(text, &Facts::new("/home/dev/project").home("/home/dev"));
        script.commands.iter().any(|command| command.effects.iter().any(|effect| which(command, effect)))
    }

    #[test]
    fn keys_are_used_or_shown() {
        let cases = [
            ("ssh -i k h", true),
            ("ssh-add k", true),
            ("openssl rsa -in k -pubout", true),
            ("openssl rsa -in k -pubout -text", false),
            ("openssl rsa -in k -passin 'pass:x -pubout'", false),
            ("ssh-keygen -lf k", true),
            ("ssh-keygen -y -f k", true),
            ("ssh-keygen -p -f k", false),
            ("ssh-keygen -f yl", false),
            ("gh secret set -f .env", true),
            ("gh secret set -f .env -R a/b", false),
            ("gh secret list -f .env", false),
            ("ansible-playbook --private-key k site.yml", true),
            ("cat k", false),
            ("foo --key k", false),
        ];
        for (text, used) in cases {
            assert_eq!(first(text, is_used), used, "{text}");
        }
    }

    #[test]
    fn modes_leave_a_file_to_its_owner_or_do_not() {
        let cases = [
            ("chmod 600 k", true),
            ("chmod 0700 k", true),
            ("chmod -R go-rwx k", true),
            ("chmod u=rw,go= k", true),
            ("chmod 644 k", false),
            ("chmod 000 k", false),
            ("chmod 1600 k", false),
            ("chmod go+r k", false),
            ("chmod --reference=x k", false),
        ];
        for (text, tightened) in cases {
            assert_eq!(first(text, is_tightened), tightened, "{text}");
        }
    }
}
