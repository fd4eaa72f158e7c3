//! Which commands of a text stand around or inside a place of it: looked up, as a text has many commands and few of them are
//! near each other.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use toolgate_shell::{Command, Span};

/// Where the commands of a list stand.
#[derive(Debug)]
pub(crate) struct Nesting {
    /// Each place once, by where it begins, the longest first.
    spans: Vec<Span>,
    /// Of each of them the nearest one before it that ends no earlier: what is around a place is found on this way.
    wider: Vec<Option<usize>>,
    /// The numbers of the commands at each of them, in their order.
    commands: Vec<Vec<usize>>,
    /// The same of those that are equally deep inside others and have the same key.
    by_key: FxHashMap<(usize, usize, u64), Vec<usize>>,
}

fn order(span: Span) -> (usize, Reverse<usize>) {
    (span.start, Reverse(span.end))
}

impl Nesting {
    pub(crate) fn of<'c>(all: impl Iterator<Item = &'c Command> + Clone, key: impl Fn(&Command) -> u64) -> Self {
        let mut spans: Vec<Span> = all.clone().map(|command| command.span).collect();
        spans.sort_unstable_by_key(|span| order(*span));
        spans.dedup();
        let mut wider: Vec<Option<usize>> = Vec::with_capacity(spans.len());
        for (at, span) in spans.iter().enumerate() {
            let mut before = at.checked_sub(1);
            while let Some(other) = before.filter(|other| spans[*other].end < span.end) {
                before = wider[other];
            }
            wider.push(before);
        }
        let places: FxHashMap<Span, usize> = spans.iter().enumerate().map(|(place, span)| (*span, place)).collect();
        let mut commands = vec![Vec::new(); spans.len()];
        let mut by_key: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for (number, command) in all.enumerate() {
            let Some(place) = places.get(&command.span).copied() else { continue };
            commands[place].push(number);
            by_key.entry((place, command.via.len(), key(command))).or_default().push(number);
        }
        Nesting { spans, wider, commands, by_key }
    }

    /// The places that a span is inside of, or is itself, the nearest first.
    fn outside(&self, span: Span) -> impl Iterator<Item = usize> {
        let reaching = move |mut at: Option<usize>| {
            while let Some(place) = at.filter(|place| self.spans[*place].end < span.end) {
                at = self.wider[place];
            }
            at
        };
        // None of those behind begins early enough.
        let count = self.spans.partition_point(|other| order(*other) <= order(span));
        std::iter::successors(reaching(count.checked_sub(1)), move |place| reaching(place.checked_sub(1)))
    }

    /// Whether a command stands around a span that is not its own.
    pub(crate) fn is_inside_another(&self, span: Span) -> bool {
        self.outside(span).any(|place| self.spans[place] != span)
    }

    /// The last command before one of this number that stands around a span, or is there, is this deep inside others, has
    /// this key and fits.
    pub(crate) fn last_outside(
        &self,
        span: Span,
        (depth, key): (usize, u64),
        before: usize,
        fits: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let lists = self.outside(span).filter_map(|place| self.by_key.get(&(place, depth, key)));
        let last = lists.filter_map(|list| {
            let count = list.partition_point(|number| *number < before);
            list[..count].iter().rev().copied().find(|number| fits(*number))
        });
        last.max()
    }

    /// The commands that stand inside a span, or where it is, place by place.
    pub(crate) fn inside(&self, span: Span) -> impl Iterator<Item = usize> {
        let from = self.spans.partition_point(|other| other.start < span.start);
        let places = self.spans[from..].iter().zip(&self.commands[from..]);
        let places = places.take_while(move |(other, _)| other.start <= span.end);
        let inside = places.filter(move |(other, _)| other.is_inside(span));
        inside.flat_map(|(_, commands)| commands.iter().copied())
    }

    /// The commands at the shortest places that a span is inside of, or is itself, in their order.
    pub(crate) fn closest(&self, span: Span) -> Vec<usize> {
        let length = |place: usize| self.spans[place].end - self.spans[place].start;
        let least = self.outside(span).map(length).min();
        let closest = self.outside(span).filter(|place| Some(length(*place)) == least);
        let mut found: Vec<usize> = closest.flat_map(|place| self.commands[place].iter().copied()).collect();
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Effect, EffectKind, Facts, Value, parse};

    use super::*;

    fn command(start: usize, end: usize, via: &[&str]) -> Command {
        let span = Span { start, end };
        let effect = Effect::new(EffectKind::Read, Value::Known("/x".to_owned()), span);
        let mut command = Command::of_effects(vec![effect], span, "/");
        command.via = via.iter().map(|name| (*name).to_owned()).collect();
        command
    }

    fn key(command: &Command) -> u64 {
        u64::from(command.program() == Some("a"))
    }

    /// What is looked up is what a look at each command would find.
    #[track_caller]
    fn check(commands: &[Command]) {
        let nesting = Nesting::of(commands.iter(), key);
        let mut spans: Vec<Span> = commands.iter().map(|command| command.span).collect();
        spans.extend([Span { start: 0, end: 0 }, Span { start: 1, end: 2 }, Span { start: 3, end: 900 }]);
        for span in spans {
            let all = || commands.iter().enumerate();
            let is_around = |other: &Command| span.is_inside(other.span);
            let another = all().any(|(_, other)| is_around(other) && other.span != span);
            assert_eq!(nesting.is_inside_another(span), another, "{span:?}");
            let length = |other: &Command| other.span.end - other.span.start;
            let least = all().filter(|(_, other)| is_around(other)).map(|(_, other)| length(other)).min();
            let closest = all().filter(|(_, other)| is_around(other) && Some(length(other)) == least);
            assert_eq!(nesting.closest(span), closest.map(|(number, _)| number).collect::<Vec<_>>(), "{span:?}");
            let mut inside: Vec<usize> = nesting.inside(span).collect();
            inside.sort_unstable();
            let expected = all().filter(|(_, other)| other.span.is_inside(span)).map(|(number, _)| number);
            assert_eq!(inside, expected.collect::<Vec<_>>(), "{span:?}");
            for before in 0..=commands.len() {
                for depth in 0..3 {
                    for wanted in 0..2 {
                        let fits = |number: usize| number % 3 != 1;
                        let fit =
                            |other: &Command| is_around(other) && other.via.len() == depth && key(other) == wanted;
                        let mut earlier = commands[..before].iter().enumerate();
                        let last = earlier.rfind(|(number, other)| fit(other) && fits(*number));
                        let found = nesting.last_outside(span, (depth, wanted), before, fits);
                        assert_eq!(found, last.map(|(number, _)| number), "{span:?} {before} {depth} {wanted}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_stands_around_is_found_as_by_a_look_at_each() {
        check(&[]);
        for text in [
            "a",
            "a; a; a $(a $(a; b); a) | b",
            "f() { a; b; g; }; g() { a | b; sudo a; }; f; f; { f; g; } > x; sh -c 'a; b $(a)'",
            "for x in 1 2 3; do a $x | sudo -u y a; done",
        ] {
            check(&parse(text, &Facts::new("/p")).commands);
        }
        // Places that are not inside one another, as no text has them.
        check(&[
            command(0, 10, &[]),
            command(5, 15, &["a"]),
            command(5, 8, &[]),
            command(6, 8, &["a", "b"]),
            command(0, 10, &["a"]),
            command(7, 20, &[]),
            command(0, 3, &[]),
            command(6, 7, &["b"]),
            command(5, 8, &["c"]),
            command(2, 12, &[]),
        ]);
    }
}
