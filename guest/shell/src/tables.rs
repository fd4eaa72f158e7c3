//! Which programs have a row in the tables, for the reference pages.

/// The programs that are known to run other programs or code. A name may be there twice.
pub fn wrappers() -> impl Iterator<Item = &'static str> {
    crate::wrapper::programs()
}

/// The programs of which it is known what they do to files. A name may be there twice.
pub fn with_effects() -> impl Iterator<Item = &'static str> {
    crate::effect::programs()
}
