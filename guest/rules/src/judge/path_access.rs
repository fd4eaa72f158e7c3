//! What a call touches, as path rules are asked about it.

use toolgate_shell::{EffectKind, Value};

use crate::call::Evidence;

/// What a rule on paths tells apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Access {
    /// It is named, and what happens to it is not known.
    Mention,
    /// Its name, its size or the like is told, and nothing of its content.
    List,
    /// It is a key that a program works with, and does not show.
    Use,
    /// Its content is read.
    Read,
    /// It is made, or its content, mode or owner is changed.
    Write,
    /// Its mode is changed, so that only the owner gets at it.
    Tighten,
    /// It is made as a folder with nothing in it.
    MakeFolder,
    /// It gets another name as well, by which its content can be changed.
    HardLink,
    /// It gets another name and is gone from here.
    Move,
    /// It is removed, with everything below it.
    Delete,
}

impl Access {
    /// None for what does not happen to a path here.
    pub(super) fn of(effect: EffectKind) -> Option<Self> {
        match effect {
            EffectKind::Mention | EffectKind::Execute => Some(Access::Mention),
            EffectKind::Read => Some(Access::Read),
            EffectKind::Write | EffectKind::Append | EffectKind::Create | EffectKind::Link | EffectKind::Mode => {
                Some(Access::Write)
            }
            EffectKind::HardLink => Some(Access::HardLink),
            EffectKind::Move => Some(Access::Move),
            EffectKind::Delete => Some(Access::Delete),
            EffectKind::Send => None,
        }
    }
}

/// A path that the call touches.
pub(super) struct Touched {
    pub(super) access: Access,
    pub(super) path: Value,
    /// With `..` still in it, if it has any.
    pub(super) written: Option<String>,
    pub(super) evidence: Evidence,
    /// Whether a rule that fires asks instead of blocking, as the effect is only possible.
    pub(super) possible: bool,
    /// What is read with it, if it is a folder.
    pub(super) below: Option<Below>,
    /// Whether what is in it is shown, if it is a file of variables. The user's own rules do not go by that.
    pub(super) shown: Shown,
}

/// Whether a command shows what is in a file of variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Shown {
    No,
    Perhaps,
    #[default]
    Yes,
}

impl Touched {
    pub(super) fn new(access: Access, path: Value, evidence: Evidence) -> Self {
        Touched { access, path, written: None, evidence, possible: false, below: None, shown: Shown::default() }
    }

    /// All by which it is told whether a rule says something of it.
    pub(super) fn same(&self) -> (Access, &Value, Option<&str>, (bool, Shown), Option<&Below>) {
        (self.access, &self.path, self.written.as_deref(), (self.possible, self.shown), self.below.as_ref())
    }

    /// Where it is named.
    pub(super) fn place(&self) -> (&str, usize, usize) {
        (self.evidence.field.as_str(), self.evidence.start, self.evidence.end)
    }

    /// What the file system is asked about.
    pub(super) fn asked(&self) -> Option<String> {
        let path = self.path.known()?;
        Some(self.written.clone().unwrap_or_else(|| path.to_owned()))
    }
}

/// What of a folder is read with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Below {
    /// Globs of the names that are picked; all of them if empty.
    pub(super) names: Vec<String>,
    /// It is sent to another machine.
    pub(super) leaves: bool,
}

impl Below {
    /// What is picked by these globs of paths; all of it if there are none, or one says nothing of the name.
    pub(super) fn new(globs: &[&str], leaves: bool) -> Self {
        let names = globs.iter().map(|glob| glob.rsplit('/').next().unwrap_or(glob));
        let tells = names.clone().all(|name| name.contains(char::is_alphanumeric));
        let names = if tells { names.map(str::to_owned).collect() } else { Vec::new() };
        Below { names, leaves }
    }
}
