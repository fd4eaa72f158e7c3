//! Whether a text that is typed runs no more than the call that it is typed for.
//!
//! What a rule matched is a part of a command: that of `git push --force` is in `git push --force elsewhere`, too. So what
//! was let through for a call is in force only for a text that runs its commands and no others, in the same
//! directories. A text may go to a directory first, or stand in quotes for `eval`, as a shell makes of it the same commands.

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
            tracing::warn!(%error, "what is typed is not compared with the call");
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

/// A command of a text.
#[derive(Debug)]
struct Command {
    about: Vec<Value>,
    /// Its words as they are written, if not all of it is known.
    written: Option<String>,
    /// Whether it is one that a text may have beside those of the call.
    only_around: bool,
}

impl PartialEq for Command {
    fn eq(&self, other: &Self) -> bool {
        (&self.about, &self.written) == (&other.about, &other.written)
    }
}

async fn all(plugin: &Plugin, call: &ToolCall) -> Result<Vec<Command>, CallError> {
    let text = call.command.as_ref().map(|command| command.value.as_str()).unwrap_or_default();
    let ToolCall { cwd, home, workspace_root, .. } = call;
    let session = Session { home: home.clone(), workspace_root: workspace_root.clone(), ..Session::in_folder(cwd) };
    let granted = Capabilities::denied().files(LocalFiles::new().inline()).log(LocalLog);
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
    Command {
        about: KEYS.iter().map(|key| of(key)).collect(),
        written: (!known).then(|| written.unwrap_or_default().to_owned()),
        only_around: known
            && of("effects").as_array().is_some_and(Vec::is_empty)
            && of("name").as_str().is_some_and(|name| AROUND.contains(&name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place;

    #[tokio::test]
    async fn a_text_that_is_typed_runs_no_more_than_its_call() {
        let plugin = place::default_plugin().expect("a plugin");
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
}
