//! `terminal`: drives the shared terminal, a pane of tmux.

mod border;
mod keys;
mod line;
mod local;
mod panes;
mod screen;
mod tmux;
mod typing;
mod waits;

pub use local::LocalTerminal;
pub use tmux::tmux_version;
pub use typing::Typing;
