//! An index of a holder's open patterns, for finding the match of a call among thousands.

use super::{
    ActionTarget, Arguments, Pattern, Units,
    compare::{Found, Walk, hash_but},
    limit::{LimitKind, is_within},
    resolve::Mask,
};
use crate::held::JsonMember;
use countersign_protocol::{bounds::Bound, ids::RowKey, question::ArgumentDifference};
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hasher},
    ops::ControlFlow,
};

/// Patterns by action, then by released places, then by a hash of everything else: a call is hashed once per distinct
/// set of released places, regardless of the number of patterns.
#[derive(Clone, Debug, Default)]
pub struct Book {
    shelves: HashMap<ActionTarget, Vec<Shelf>>,
}

/// The patterns of one action with the same released places.
#[derive(Clone, Debug)]
struct Shelf {
    mask: Mask,
    by_rest: HashMap<u64, Vec<Alike>>,
}

/// Patterns that differ only in their bounds.
#[derive(Clone, Debug)]
struct Alike {
    arguments: Arguments,
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    keys: Vec<RowKey>,
    /// The bounds of the released places, in the order of their numbers.
    bounds: Vec<(LimitKind, Bound)>,
}

impl Book {
    pub fn new<'a>(patterns: impl IntoIterator<Item = (RowKey, &'a Pattern)>) -> Self {
        let mut book = Self::default();
        for (key, pattern) in patterns {
            book.insert(key, pattern);
        }
        book
    }

    fn insert(&mut self, key: RowKey, pattern: &Pattern) {
        let shelves = self.shelves.entry(pattern.target().clone()).or_default();
        let at = shelves.iter().position(|shelf| shelf.mask == *pattern.mask()).unwrap_or(shelves.len());
        if at == shelves.len() {
            shelves.push(Shelf { mask: pattern.mask().clone(), by_rest: HashMap::new() });
        }
        if let Some(shelf) = shelves.get_mut(at) {
            shelf.insert(key, pattern);
        }
    }

    /// The patterns that this call fits, in the order of their keys; ignores units and tallies.
    pub fn candidates(&self, what: &ActionTarget, call: &Arguments) -> Vec<RowKey> {
        let shelves = self.shelves.get(what).map(Vec::as_slice).unwrap_or_default();
        let mut keys: Vec<_> = shelves.iter().flat_map(|shelf| shelf.candidates(call)).collect();
        keys.sort_unstable();
        keys
    }
}

impl Shelf {
    fn insert(&mut self, key: RowKey, pattern: &Pattern) {
        let shown = opened(pattern.arguments(), pattern.arguments(), &self.mask).unwrap_or_default();
        let kinds = shown.into_iter().map(LimitKind::of);
        let bounds: Vec<_> = kinds.zip(pattern.released().values().cloned()).collect();
        let alikes = self.by_rest.entry(rest(pattern.arguments(), &self.mask)).or_default();
        let at = alikes.iter().position(|alike| opened(&alike.arguments, pattern.arguments(), &self.mask).is_some());
        match at.and_then(|at| alikes.get_mut(at)) {
            Some(alike) => alike.insert(key, bounds),
            None => {
                let rows = vec![Row { keys: vec![key], bounds }];
                alikes.push(Alike { arguments: pattern.arguments().clone(), rows });
            }
        }
    }

    fn candidates<'a>(&'a self, call: &'a Arguments) -> impl Iterator<Item = RowKey> + 'a {
        let alikes = self.by_rest.get(&rest(call, &self.mask)).map(Vec::as_slice).unwrap_or_default();
        alikes.iter().flat_map(|alike| {
            let values = opened(&alike.arguments, call, &self.mask);
            let rows = alike.rows.iter().filter(move |row| values.as_ref().is_some_and(|values| row.accepts(values)));
            rows.flat_map(|row| row.keys.iter().copied())
        })
    }
}

impl Alike {
    fn insert(&mut self, key: RowKey, bounds: Vec<(LimitKind, Bound)>) {
        match self.rows.iter_mut().find(|row| row.bounds == bounds) {
            Some(row) => row.keys.push(key),
            None => self.rows.push(Row { keys: vec![key], bounds }),
        }
    }
}

impl Row {
    fn accepts(&self, values: &[&JsonMember]) -> bool {
        self.bounds.len() == values.len()
            && self.bounds.iter().zip(values).all(|((was, bound), is)| is_within(bound, *was, is))
    }
}

fn rest(arguments: &Arguments, mask: &Mask) -> u64 {
    let mut state = DefaultHasher::new();
    hash_but(arguments.root(), Some(mask), &mut state);
    state.finish()
}

/// The values in the released places in the order of their numbers, if everything else is equal.
fn opened<'a>(was: &'a Arguments, is: &'a Arguments, mask: &Mask) -> Option<Vec<&'a JsonMember>> {
    let mut values = Vec::new();
    let report = |_: &[_], found: Found<'a>| match found {
        Found::Open(number, value) => {
            values.push((number, value));
            ControlFlow::Continue(())
        }
        _ => ControlFlow::Break(()),
    };
    let same = Walk::new(report).compare(was.root(), is.root(), Some(mask)).is_continue();
    values.sort_unstable_by_key(|(number, _)| *number);
    same.then(|| values.into_iter().map(|(_, value)| value).collect())
}

/// The nearest pattern of the same action and the call's differences from it; no differences if it fits.
pub fn differences<'a>(
    patterns: impl IntoIterator<Item = (RowKey, &'a Pattern)>,
    what: &ActionTarget,
    call: &Arguments,
    units: &Units,
) -> Option<(RowKey, Vec<ArgumentDifference>)> {
    let same_action = patterns.into_iter().filter(|(_, pattern)| pattern.target() == what);
    let (key, nearest) = same_action.min_by_key(|(key, pattern)| (pattern.distance(call, units), *key))?;
    Some((key, nearest.fit(call, units).err().unwrap_or_default()))
}
