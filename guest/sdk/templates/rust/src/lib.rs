//! A plugin for toolgate: asks before a package is published.

use toolgate_sdk::{Call, Gate, Plugin, Verdict};

#[derive(Default)]
struct Own;

impl Plugin for Own {}

impl Gate for Own {
    fn judge(&mut self, call: &Call) -> Verdict {
        let Some(analysis) = call.analysis() else {
            // A tool that runs no shell text is not what this is about; a text that nobody has read may be anything.
            return match &call.command {
                None => Verdict::pass(),
                Some(_) => Verdict::ask("unread", "What this runs could not be read."),
            };
        };
        let publishes = analysis.commands.iter().find(|command| {
            command.may_run() && command.program() == Some("npm") && command.subcommand() == Some("publish")
        });
        match publishes {
            Some(command) => Verdict::ask("publish", "publishes a package, which cannot be undone").at(call, command),
            None => Verdict::pass(),
        }
    }
}

toolgate_sdk::plugin!(Own: gate);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publishing_is_asked_for() {
        let analysis = r#"{"commands":[{"name":"npm","args":["publish"],"runs":"certainly"}]}"#;
        let verdict = Own.judge(&Call::shell("npm publish", analysis));
        assert_eq!(verdict.findings.len(), 1);
    }
}
