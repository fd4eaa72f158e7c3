//! Components that others wrote: what is kept of those that are installed, and how they get ready for use.
//!
//! | Module | For |
//! |---|---|
//! | `component` | the bytes of a component |
//! | `loaded` | components ready for use |
//! | `store` | what is kept of an installed plugin |
//! | `watched` | plugins whose files are watched |

pub mod component;
pub mod loaded;
pub mod store;
pub mod watched;
