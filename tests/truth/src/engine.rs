//! What the shell engine says about a script in this harness's world: the adapter between the two.

use std::rc::Rc;

use toolgate_shell::{self as shell, Facts, FileOracle, Presence, Value};

use crate::tree::{self, Node};
use crate::{Kind, Place, Predicted, PredictedEffect, Prediction, Runs, paths};

/// The tree that every script finds.
#[derive(Debug)]
struct Tree;

impl FileOracle for Tree {
    fn look(&self, path: &str) -> Presence {
        let real = paths::real(path, &tree::links(), true);
        match tree::node(&real) {
            Some(Node::Folder) => Presence::Folder,
            Some(Node::File(_) | Node::Program(_)) => Presence::File,
            Some(Node::Link(_)) => Presence::Unknown,
            None if real.starts_with(tree::ROOT) => Presence::Absent,
            None => Presence::Unknown,
        }
    }

    fn real(&self, path: &str) -> Option<String> {
        path.starts_with(tree::ROOT).then(|| paths::real(path, &tree::links(), true))
    }
}

/// The facts that the guest would have.
pub fn facts() -> Facts {
    let facts = Facts::new(tree::WORK).files(Rc::new(Tree)).complete();
    tree::ENVIRONMENT.iter().fold(facts, |facts, (name, value)| facts.variable(*name, *value))
}

/// What the engine says.
pub fn predict(text: &str) -> Prediction {
    let script = shell::parse(text, &facts());
    Prediction {
        unparsed: script.unparsed.is_some(),
        commands: script.commands.iter().filter(|command| !command.elsewhere).map(predicted).collect(),
    }
}

fn predicted(command: &shell::Command) -> Predicted {
    Predicted {
        argv: command.words.iter().map(|word| word.known().filter(|_| !word.several).map(str::to_owned)).collect(),
        open_ended: command.more_words || command.words.iter().any(|word| word.several),
        opaque: command.unseen_script || command.opaque,
        shell_cwd: command.shell_cwd.clone(),
        cwd: command.cwd.clone(),
        env: command.env.iter().map(|(name, value)| (name.to_owned(), value.map(str::to_owned))).collect(),
        unset: command.env.unset().map(str::to_owned).collect(),
        span: (command.span.start, command.span.end),
        via: command.via.clone(),
        runs: match command.runs {
            shell::Runs::Certainly => Runs::Certainly,
            shell::Runs::Possibly => Runs::Possibly,
            shell::Runs::Never => Runs::Never,
        },
        effects: command.effects.iter().map(effect).collect(),
    }
}

fn effect(effect: &shell::Effect) -> PredictedEffect {
    PredictedEffect {
        kind: match effect.kind {
            shell::EffectKind::Mention => Kind::Mention,
            shell::EffectKind::Read => Kind::Read,
            shell::EffectKind::Write => Kind::Write,
            shell::EffectKind::Append => Kind::Append,
            shell::EffectKind::Create => Kind::Create,
            shell::EffectKind::Delete => Kind::Delete,
            shell::EffectKind::Move => Kind::Move,
            shell::EffectKind::Link => Kind::Link,
            // Nothing happens to the file under the name that it has.
            shell::EffectKind::HardLink => Kind::Mention,
            shell::EffectKind::Mode => Kind::Mode,
            shell::EffectKind::Execute => Kind::Execute,
            shell::EffectKind::Send => Kind::Send,
        },
        path: match &effect.path {
            Value::Known(path) => Place::Known(path.clone()),
            Value::Pattern(pattern) => Place::Glob(pattern.clone()),
            Value::Unknown { shape, .. } => Place::Shape(shape.clone()),
        },
        certain: effect.certain,
        recursive: effect.recursive,
    }
}
