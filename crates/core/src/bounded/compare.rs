//! Compares two trees member by member except in released places, and hashes them consistently with that.

use super::{number::Number, resolve::Mask};
use crate::held::Member;
use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
    ops::ControlFlow,
};

/// One step down a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Name(&'a str),
    At(usize),
}

/// A difference between the trees, or a released place.
pub(super) enum Found<'a> {
    Open(usize, &'a Member),
    Changed { was: &'a Member, is: &'a Member },
    Added(&'a Member),
    Missing(&'a Member),
}

/// Walks both trees and reports findings with their paths, until told to stop.
pub(super) struct Walk<'a, F> {
    steps: Vec<Step<'a>>,
    report: F,
}

impl<'a, F: FnMut(&[Step<'a>], Found<'a>) -> ControlFlow<()>> Walk<'a, F> {
    pub(super) fn new(report: F) -> Self {
        Self { steps: Vec::new(), report }
    }

    pub(super) fn both(&mut self, was: &'a Member, is: &'a Member, mask: Option<&Mask>) -> ControlFlow<()> {
        match (mask, was, is) {
            (Some(Mask::Open(number)), _, is) => self.found(Found::Open(*number, is)),
            (_, Member::Object(was), Member::Object(is)) => self.objects(was, is, mask),
            (_, Member::List(was), Member::List(is)) => self.lists(was, is, mask),
            (_, was, is) if is_same_scalar(was, is) => ControlFlow::Continue(()),
            (_, was, is) => self.found(Found::Changed { was, is }),
        }
    }

    /// Both are sorted by name.
    fn objects(
        &mut self,
        mut was: &'a [(String, Member)],
        mut is: &'a [(String, Member)],
        mask: Option<&Mask>,
    ) -> ControlFlow<()> {
        loop {
            let order = match (was.first(), is.first()) {
                (None, None) => return ControlFlow::Continue(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((was, _)), Some((is, _))) => was.cmp(is),
            };
            let old = order.is_le().then(|| was.split_off_first()).flatten();
            let new = order.is_ge().then(|| is.split_off_first()).flatten();
            let Some((name, _)) = old.or(new) else { return ControlFlow::Continue(()) };
            let below = mask.and_then(|mask| mask.below(name));
            self.one(Step::Name(name), old.map(|(_, old)| old), new.map(|(_, new)| new), below)?;
        }
    }

    fn lists(&mut self, was: &'a [Member], is: &'a [Member], mask: Option<&Mask>) -> ControlFlow<()> {
        (0..was.len().max(is.len())).try_for_each(|index| {
            let below = mask.and_then(|mask| mask.at(index));
            self.one(Step::At(index), was.get(index), is.get(index), below)
        })
    }

    fn one(
        &mut self,
        step: Step<'a>,
        was: Option<&'a Member>,
        is: Option<&'a Member>,
        mask: Option<&Mask>,
    ) -> ControlFlow<()> {
        self.steps.push(step);
        match (was, is) {
            (Some(was), Some(is)) => self.both(was, is, mask),
            (None, Some(is)) => self.found(Found::Added(is)),
            (Some(was), None) => self.found(Found::Missing(was)),
            (None, None) => ControlFlow::Continue(()),
        }?;
        self.steps.pop();
        ControlFlow::Continue(())
    }

    fn found(&mut self, found: Found<'a>) -> ControlFlow<()> {
        (self.report)(&self.steps, found)
    }
}

/// Whether both are equal, comparing numbers by value.
pub(super) fn is_same(was: &Member, is: &Member) -> bool {
    Walk::new(|_, _| ControlFlow::Break(())).both(was, is, None).is_continue()
}

fn is_same_scalar(was: &Member, is: &Member) -> bool {
    match (was, is) {
        (Member::Number(was), Member::Number(is)) => was == is || Number::of(was) == Number::of(is),
        (Member::List(_) | Member::Object(_), _) => false,
        _ => was == is,
    }
}

/// Equal hashes for trees that agree in all places that are not released.
pub(super) fn hash_but(member: &Member, mask: Option<&Mask>, state: &mut impl Hasher) {
    if let Some(Mask::Open(_)) = mask {
        return state.write_u8(0);
    }
    match member {
        Member::Null => state.write_u8(1),
        Member::Bool(value) => (2_u8, value).hash(state),
        Member::Number(text) => (3_u8, Number::of(text)).hash(state),
        Member::Text(text) => (4_u8, text).hash(state),
        Member::List(items) => {
            (5_u8, items.len()).hash(state);
            for (index, item) in items.iter().enumerate() {
                hash_but(item, mask.and_then(|mask| mask.at(index)), state);
            }
        }
        Member::Object(members) => {
            (6_u8, members.len()).hash(state);
            for (name, value) in members {
                name.hash(state);
                hash_but(value, mask.and_then(|mask| mask.below(name)), state);
            }
        }
    }
}
