//! pi: the names of its tools and their fields. Its calls arrive in batches here.

use toolgate_host::ToolKind;

use super::Tool;

/// As of pi 0.87.
#[rustfmt::skip]
pub(crate) const TOOLS: &[Tool] = &[
    Tool { name: "bash", kind: ToolKind::Shell, required: &["command"], paths: &[], globs: &[] },
    Tool { name: "edit", kind: ToolKind::Edit, required: &["path"], paths: &[], globs: &[] },
    Tool { name: "find", kind: ToolKind::List, required: &[], paths: &["path"], globs: &["pattern"] },
    Tool { name: "grep", kind: ToolKind::Search, required: &[], paths: &["path"], globs: &["glob"] },
    Tool { name: "ls", kind: ToolKind::List, required: &[], paths: &["path"], globs: &[] },
    Tool { name: "read", kind: ToolKind::Read, required: &["path"], paths: &[], globs: &[] },
    Tool { name: "write", kind: ToolKind::Write, required: &["path"], paths: &[], globs: &[] },
];
