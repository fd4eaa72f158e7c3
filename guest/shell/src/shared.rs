//! Values that many share and few have.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::rc::Rc;

/// A value that costs nothing to copy, and no allocation while it is empty: most states of a shell have no aliases, no
/// handlers and no copied folders, and a text has many states.
#[derive(Debug)]
pub struct Shared<T>(Option<Rc<T>>);

/// What has an empty value that is always there.
pub trait Empty: 'static {
    /// The empty value.
    const EMPTY: &'static Self;
}

impl<T: 'static> Empty for Vec<T> {
    const EMPTY: &'static Self = &Vec::new();
}

impl<T: 'static> Empty for BTreeSet<T> {
    const EMPTY: &'static Self = &BTreeSet::new();
}

impl<K: 'static, V: 'static> Empty for BTreeMap<K, V> {
    const EMPTY: &'static Self = &BTreeMap::new();
}

impl<T> Shared<T> {
    /// Whether the two are one, so that they need not be compared.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Rc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl<T: Clone + Default> Shared<T> {
    /// The value, to be changed here alone.
    pub(crate) fn to_mut(&mut self) -> &mut T {
        Rc::make_mut(self.0.get_or_insert_default())
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Shared(Some(Rc::new(value)))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(self.0.clone())
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Shared(None)
    }
}

impl<T: Empty> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::EMPTY)
    }
}

impl<T: Empty + PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || **self == **other
    }
}

impl<T: Empty + Eq> Eq for Shared<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_changes_the_others_keep() {
        let mut one: Shared<Vec<u8>> = Shared::default();
        let empty = one.clone();
        assert!(one.is_same(&empty) && one == empty && one.is_empty());
        one.to_mut().push(1);
        let same = one.clone();
        assert!(one.is_same(&same) && !one.is_same(&empty) && one != empty);
        one.to_mut().push(2);
        assert_eq!((one.as_slice(), same.as_slice(), empty.as_slice()), (&[1, 2][..], &[1][..], &[][..]));
        assert!(Shared::from(vec![1]) == same && Shared::from(Vec::new()) == empty);
    }
}
