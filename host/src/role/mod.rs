//! What a component is there for: one file for each role, and what keeps an instance in it.

mod analysis;
mod extension;
mod gate;
mod keeper;
mod observer;
mod provider;

pub use analysis::Analysis;
pub use extension::Extension;
pub use gate::Gate;
pub use observer::Observer;
pub use provider::Provider;
