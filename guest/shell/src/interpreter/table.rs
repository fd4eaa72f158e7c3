//! Names and what is known of them, cheap to copy and cheap to compare with a copy that has gone another way.

use std::collections::BTreeSet;
use std::rc::Rc;

use rpds::RedBlackTreeMap;

/// A persistent map that remembers which names were changed, so that comparing two states costs as much as they have
/// changed since they were one, and not as much as they hold.
#[derive(Clone, Debug)]
pub(crate) struct Table<V> {
    map: RedBlackTreeMap<String, V>,
    changes: Changes,
}

/// The last change and those before it.
#[derive(Clone, Debug, Default)]
struct Changes(Option<Rc<Change>>);

#[derive(Debug)]
struct Change {
    /// `None` if it was all of them.
    name: Option<Box<str>>,
    /// How many there are with this one.
    count: usize,
    before: Changes,
}

impl Changes {
    fn count(&self) -> usize {
        self.0.as_ref().map_or(0, |last| last.count)
    }

    fn add(&mut self, name: Option<&str>) {
        let (name, count) = (name.map(Into::into), self.count() + 1);
        let before = std::mem::take(self);
        self.0 = Some(Rc::new(Change { name, count, before }));
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        // One after the other: the list may be longer than the stack is deep.
        let mut next = self.0.take();
        while let Some(mut change) = next.and_then(Rc::into_inner) {
            next = change.before.0.take();
        }
    }
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Table { map: RedBlackTreeMap::new(), changes: Changes::default() }
    }
}

impl<V: PartialEq> Table<V> {
    pub(crate) fn map(&self) -> &RedBlackTreeMap<String, V> {
        &self.map
    }

    pub(crate) fn get(&self, name: &str) -> Option<&V> {
        self.map.get(name)
    }

    pub(crate) fn insert(&mut self, name: String, value: V) {
        self.changes.add(Some(&name));
        self.map.insert_mut(name, value);
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.changes.add(Some(name));
        self.map.remove_mut(name);
    }

    pub(crate) fn clear(&mut self) {
        self.changes.add(None);
        self.map = RedBlackTreeMap::new();
    }

    /// The names of which the two say different things, in order.
    pub(crate) fn differences(&self, other: &Self) -> BTreeSet<String> {
        let (mut here, mut there) = (&self.changes, &other.changes);
        let mut names = BTreeSet::new();
        loop {
            let last = match (&here.0, &there.0) {
                (None, None) => break,
                (Some(a), Some(b)) if Rc::ptr_eq(a, b) => break,
                (Some(last), _) if here.count() >= there.count() => {
                    here = &last.before;
                    last
                }
                (_, Some(last)) => {
                    there = &last.before;
                    last
                }
                (Some(last), None) => {
                    here = &last.before;
                    last
                }
            };
            match &last.name {
                Some(name) => drop(names.insert(&**name)),
                None => {
                    names.extend(self.map.keys().chain(other.map.keys()).map(String::as_str));
                    break;
                }
            }
        }
        let differ = |name: &&str| self.map.get(*name) != other.map.get(*name);
        names.into_iter().filter(differ).map(str::to_owned).collect()
    }
}

impl<V: PartialEq> PartialEq for Table<V> {
    fn eq(&self, other: &Self) -> bool {
        self.map.size() == other.map.size() && self.differences(other).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(table: &Table<u8>, other: &Table<u8>) -> String {
        table.differences(other).into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_differs_is_what_was_changed_since() {
        let mut one: Table<u8> = Table::default();
        one.insert("a".into(), 1);
        one.insert("b".into(), 1);
        let mut two = one.clone();
        assert_eq!(names(&one, &two), "");
        two.insert("b".into(), 2);
        two.insert("c".into(), 1);
        one.insert("a".into(), 1);
        assert_eq!((names(&one, &two), names(&two, &one)), ("b c".into(), "b c".into()));
        one.remove("b");
        two.remove("b");
        two.remove("c");
        assert_eq!(names(&one, &two), "");
        assert!(one == two);
        two.clear();
        assert_eq!(names(&one, &two), "a");
        assert_eq!(names(&Table::default(), &one), "a");
    }

    #[test]
    fn a_long_list_of_changes_is_dropped_without_recursion() {
        let mut table: Table<usize> = Table::default();
        for number in 0..1_000_000 {
            table.insert("a".into(), number);
        }
        assert_eq!(table.map().size(), 1);
    }
}
