//! Which paths the rules keep from being read, for whoever copies files to bring them back later.

use std::cell::OnceCell;

use super::Evaluation;
use crate::call::{Call, ToolKind};
use crate::path_zone::Map;
use crate::rules::Guard;

impl Guard {
    /// For each path whether a rule blocks or asks where its content is read, by a home folder. The paths are absolute and lead
    /// through no link.
    pub fn withheld(&self, paths: &[String], home: Option<&str>, workspace: &str) -> Vec<bool> {
        let call = Call {
            kind: ToolKind::Read,
            home: home.map(str::to_owned),
            workspace: workspace.to_owned(),
            ..Call::default()
        };
        let (map, real_map) = (Map::new(workspace, home), OnceCell::new());
        let evaluation = Evaluation::new(self, &call, &map, &real_map);
        paths.iter().map(|path| evaluation.minds_reading(path)).collect()
    }
}
