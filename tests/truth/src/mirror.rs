//! The engine's stand-in: says of a script exactly what one run of it showed. A second run must then agree in every
//! point, so what it finds is a fault of the harness, or a script whose runs differ.

use std::collections::BTreeMap;

use crate::{Kind, Observation, Place, Predicted, PredictedEffect, Prediction, Runs};

/// A prediction made from an observation of `text`. It is as strict as can be: every command certain, every known
/// value told.
pub fn predict(text: &str, seen: &Observation) -> Prediction {
    let mut commands: Vec<Predicted> = Vec::new();
    let known = |argv: &[String]| argv.iter().cloned().map(Some).collect::<Vec<_>>();
    for step in &seen.steps {
        let Some(argv) = &step.argv else { continue };
        // The text of a step stands somewhere in the script, if bash did not print it differently.
        let span = text.find(step.source.as_str()).map_or((0, 0), |at| (at, at + step.source.len()));
        let (set, unset): (BTreeMap<_, _>, BTreeMap<_, _>) =
            step.values.clone().into_iter().partition(|(_, value)| value.is_some());
        let cwd = Some(step.pwd.clone());
        commands.push(Predicted {
            argv: known(argv),
            shell_cwd: cwd.clone(),
            cwd,
            env: set,
            unset: unset.into_keys().collect(),
            span,
            runs: Runs::Certainly,
            ..Predicted::default()
        });
    }
    for exec in seen.watched.execs.iter().skip(1) {
        // A program that a step became is there already.
        if seen.steps.iter().any(|step| step.argv.as_ref() == Some(&exec.argv)) {
            continue;
        }
        commands.push(Predicted {
            argv: known(&exec.argv),
            cwd: Some(exec.cwd.clone()),
            via: vec!["something".to_owned()],
            env: exec
                .env
                .iter()
                .filter(|(name, _)| *name != "_" && *name != "SHLVL")
                .map(|(n, v)| (n.clone(), Some(v.clone())))
                .collect(),
            runs: Runs::Certainly,
            ..Predicted::default()
        });
    }
    let effects = seen.watched.events.iter().filter(|event| event.kind != Kind::Send).map(|event| PredictedEffect {
        kind: event.kind,
        path: Place::Known(event.path.clone()),
        certain: true,
        recursive: false,
    });
    commands.push(Predicted { effects: effects.collect(), runs: Runs::Certainly, ..Predicted::default() });
    Prediction { commands, unparsed: false }
}
