//! Whether a text that is typed runs no more than the call that it is typed for.
//!
//! What a rule matched is a part of a command: that of `git push --force` is in `git push --force elsewhere`, too. So what
//! was let through for a call is in force only for a text that runs its commands and no others, in the same
//! directories. A text may go to a directory first, or stand in quotes for `eval`, as a shell makes of it the same commands.
//! What is the call's own text, word for word, as the argument of `eval` or `bash -c`, is not looked into.

use serde_json::{Value, json};
use toolgate_host::capability::{LocalFiles, LocalLog};
use toolgate_host::{Analysis, CallError, Capabilities, Plugin, Session, ToolCall};

/// What a text may have around the commands of a call: what they then do is known from these.
const AROUND: &[&str] = &["cd", "eval"];

/// What of a command has to be the same.
const KEYS: &[&str] = &["name", "args", "assignments", "cwd", "elsewhere", "effects"];

/// Whether every command of the first call is one of the second, each as often. Not if that cannot be told.
pub(crate) async fn within(plugin: &Plugin, typed: &ToolCall, allowed: &ToolCall) -> bool {
    let (typed, allowed) = match (all(plugin, typed).await, all(plugin, allowed).await) {
        (Ok(typed), Ok(allowed)) => (typed, allowed),
        (Err(error), _) | (_, Err(error)) => {
            tracing::warn!(%error, "typed text cannot be compared with the call");
            return false;
        }
    };
    let mut left = allowed;
    typed.into_iter().all(|command| match left.iter().position(|known| *known == command) {
        Some(at) => {
            left.swap_remove(at);
            true
        }
        None => command.only_around,
    })
}

/// Whether a text hands the command of a call, as it is, to one shell in the call's directory, and does nothing else.
pub(crate) async fn hands_over(plugin: &Plugin, typed: &ToolCall, allowed: &ToolCall) -> bool {
    let wanted = allowed.command.as_ref().map(|command| bare(&command.value)).filter(|command| !command.is_empty());
    let (Some(wanted), Ok(commands)) = (wanted, all(plugin, typed).await) else { return false };
    let mut shells = 0;
    for command in commands.iter().filter(|command| !command.is_handed) {
        match &command.hands {
            Some((text, cwd)) if bare(text) == wanted && *cwd == allowed.cwd => shells += 1,
            _ if command.goes => {}
            _ => return false,
        }
    }
    shells == 1
}

/// A command without what it makes no difference to drop.
fn bare(command: &str) -> String {
    command.replace("\r\n", "\n").trim_start().trim_end_matches('\n').to_owned()
}

/// A command of a text.
#[derive(Debug)]
struct Command {
    about: Vec<Value>,
    /// Its words as they are written, if not all of it is known.
    written: Option<String>,
    /// Whether it is one that a text may have beside those of the call.
    only_around: bool,
    /// Whether it only goes to a directory.
    goes: bool,
    /// The text that it makes a shell run, and where, if it does nothing else.
    hands: Option<(String, String)>,
    /// Whether it is one of such a text.
    is_handed: bool,
}

impl PartialEq for Command {
    fn eq(&self, other: &Self) -> bool {
        (&self.about, &self.written) == (&other.about, &other.written)
    }
}

async fn all(plugin: &Plugin, call: &ToolCall) -> Result<Vec<Command>, CallError> {
    let text = call.command.as_ref().map(|command| command.value.as_str()).unwrap_or_default();
    let ToolCall { cwd, home, workspace_root, .. } = call;
    let session = Session::in_folder(cwd).with_home(home.clone()).with_workspace_root(workspace_root);
    let granted = Capabilities::denied().files(LocalFiles::new()).log(LocalLog);
    let request = json!({ "command": text, "cwd": cwd, "home": home, "workspace_root": workspace_root });
    let answer = Analysis::new(plugin.clone(), session, granted).walk(&request.to_string()).await?;
    let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
    let commands = answer.get("commands").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    Ok(commands.iter().map(|command| read(command, text)).collect())
}

fn read(command: &Value, text: &str) -> Command {
    let of = |key: &str| command.get(key).cloned().unwrap_or_default();
    let known = of("unknown").as_array().is_some_and(Vec::is_empty);
    let end = |key: &str| usize::try_from(of("span").get(key)?.as_u64()?).ok();
    let written = end("start").zip(end("end")).and_then(|(start, end)| text.get(start..end));
    let harmless = known && of("effects").as_array().is_some_and(Vec::is_empty);
    let alone = harmless && of("assignments").is_null() && of("elsewhere").is_null();
    let args: Vec<String> = serde_json::from_value(of("args")).unwrap_or_default();
    let (name, via) = (of("name"), of("via"));
    let handed = match (name.as_str(), args.as_slice()) {
        (Some("eval"), [text]) => Some(text.clone()),
        (Some("bash"), [option, text]) if option == "-c" => Some(text.clone()),
        _ => None,
    };
    Command {
        goes: alone && name == "cd",
        hands: handed.zip(of("cwd").as_str().map(str::to_owned)).filter(|_| alone && via == json!([])),
        is_handed: matches!(via.get(0).and_then(Value::as_str), Some("eval" | "bash")),
        about: KEYS.iter().map(|key| of(key)).collect(),
        written: (!known).then(|| written.unwrap_or_default().to_owned()),
        only_around: harmless && name.as_str().is_some_and(|name| AROUND.contains(&name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate_builder;

    #[tokio::test]
    async fn a_text_that_is_typed_runs_no_more_than_its_call() {
        let plugin = gate_builder::default_plugin().expect("a plugin");
        // The call in /p, what is typed, where, and whether that is no more.
        let cases = [
            ("git push -f", "git push -f", "/p", true),
            ("git push -f", "(git push -f)", "/p", true),
            ("git push -f", "{\ngit push -f\n}", "/p", true),
            ("git push -f", "cd '/p' && git push -f", "/q", true),
            ("git push -f", "(eval $'git push -f')", "/p", true),
            ("cd x && rm -rf y", "(cd x && rm -rf y)", "/p", true),
            ("rm $X", "(rm $X)", "/p", true),
            ("rm *.o", "(rm *.o)", "/p", true),
            ("git push -f", "git push -f elsewhere", "/p", false),
            ("git push -f", "git push -f; git push -f", "/p", false),
            ("git push -f", "git push -f", "/q", false),
            ("git push -f", "cd /q && git push -f", "/p", false),
            ("git push -f", "git push -f > x", "/p", false),
            ("git push -f", "X=1 git push -f", "/p", false),
            ("git push -f", "eval \"$Y\"; git push -f", "/p", false),
            ("git push -f", "cd $Y && git push -f", "/p", false),
            ("git push -f", "cd '/p' > x && git push -f", "/q", false),
            ("rm $X", "rm $Y", "/p", false),
            ("rm *.o", "rm *", "/p", false),
            ("rm -rf y", "cd x && rm -rf y", "/p", false),
        ];
        for (call, typed, cwd, expected) in cases {
            let allowed = ToolCall::shell(call, "/p");
            let found = within(&plugin, &ToolCall::shell(typed, cwd), &allowed).await;
            assert_eq!(found, expected, "{call} {typed} {cwd}");
        }
    }

    #[tokio::test]
    async fn a_call_may_be_handed_to_a_shell_as_it_is() {
        let plugin = gate_builder::default_plugin().expect("a plugin");
        // The call in /, what is typed, where, and whether that is it.
        let cases = [
            ("rm -rf \"$X\"", "bash -c 'rm -rf \"$X\"'", "/", true),
            ("rm -rf 'it'", r"bash -c 'rm -rf '\''it'\'''", "/", true),
            ("rm a\nrm $X\n", r"(eval $'rm a\nrm $X')", "/", true),
            ("rm $X", "cd '/' && bash -c 'rm $X'", "/tmp", true),
            ("rm $X", "bash -c 'rm $X'", "/tmp", false),
            ("rm $X", "cd /tmp && bash -c 'rm $X'", "/", false),
            ("rm $X", "cd $Y && bash -c 'rm $X'", "/", false),
            ("rm $X", "bash -c 'rm $X'; bash -c 'rm $X'", "/", false),
            ("rm $X", "eval 'ls'; bash -c 'rm $X'", "/", false),
            ("rm $X", "cd \"$(rm y)\"; bash -c 'rm $X'", "/", false),
            ("rm $X", "bash -c 'rm $X' > x", "/", false),
            ("rm $X", "Y=1 bash -c 'rm $X'", "/", false),
            ("rm $X", "Y=1; bash -c 'rm $X'", "/", false),
            ("rm $X", "bash -c 'rm $X' x", "/", false),
            ("rm $X", "bash -lc 'rm $X'", "/", false),
            ("rm $X", "bash -c 'rm $X; ls'", "/", false),
            ("rm $X", "ls; bash -c 'rm $X'", "/", false),
            ("rm $X", "sudo bash -c 'rm $X'", "/", false),
            ("rm $X", "ssh host bash -c 'rm $X'", "/", false),
            ("rm $X", "bash() { ls; }; bash -c 'rm $X'", "/", false),
            ("rm $X", "alias bash=ls; bash -c 'rm $X'", "/", false),
            ("rm $X", "if true; then", "/", false),
            ("", "bash -c ''", "/", false),
        ];
        for (call, typed, cwd, expected) in cases {
            let allowed = ToolCall::shell(call, "/");
            let found = hands_over(&plugin, &ToolCall::shell(typed, cwd), &allowed).await;
            assert_eq!(found, expected, "{call} {typed} {cwd}");
        }
    }
}
