//! Empty: only the packages that the manifest beside it names are of use.
