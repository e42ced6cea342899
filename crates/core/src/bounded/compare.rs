//! Compares two trees member by member except in released places, and hashes them consistently with that.

use super::resolve::Mask;
use crate::held::JsonMember;
use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
    ops::ControlFlow,
};

/// One step down a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathSegment<'a> {
    Name(&'a str),
    At(usize),
}

/// A difference between the trees, or a released place.
pub(super) enum Found<'a> {
    Open(usize, &'a JsonMember),
    Changed { was: &'a JsonMember, is: &'a JsonMember },
    Added(&'a JsonMember),
    Missing(&'a JsonMember),
}

/// Walks both trees and reports findings with their paths, until told to stop.
pub(super) struct Walk<'a, F> {
    steps: Vec<PathSegment<'a>>,
    report: F,
}

impl<'a, F: FnMut(&[PathSegment<'a>], Found<'a>) -> ControlFlow<()>> Walk<'a, F> {
    pub(super) fn new(report: F) -> Self {
        Self { steps: Vec::new(), report }
    }

    pub(super) fn compare(&mut self, was: &'a JsonMember, is: &'a JsonMember, mask: Option<&Mask>) -> ControlFlow<()> {
        match (mask, was, is) {
            (Some(Mask::Open(number)), _, is) => self.report(Found::Open(*number, is)),
            (_, JsonMember::Object(was), JsonMember::Object(is)) => self.objects(was, is, mask),
            (_, JsonMember::List(was), JsonMember::List(is)) => self.lists(was, is, mask),
            (_, was, is) if is_same_scalar(was, is) => ControlFlow::Continue(()),
            (_, was, is) => self.report(Found::Changed { was, is }),
        }
    }

    /// Both are sorted by name.
    fn objects(
        &mut self,
        mut was: &'a [(String, JsonMember)],
        mut is: &'a [(String, JsonMember)],
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
            self.compare_member(PathSegment::Name(name), old.map(|(_, old)| old), new.map(|(_, new)| new), below)?;
        }
    }

    fn lists(&mut self, was: &'a [JsonMember], is: &'a [JsonMember], mask: Option<&Mask>) -> ControlFlow<()> {
        (0..was.len().max(is.len())).try_for_each(|index| {
            let below = mask.and_then(|mask| mask.at(index));
            self.compare_member(PathSegment::At(index), was.get(index), is.get(index), below)
        })
    }

    fn compare_member(
        &mut self,
        step: PathSegment<'a>,
        was: Option<&'a JsonMember>,
        is: Option<&'a JsonMember>,
        mask: Option<&Mask>,
    ) -> ControlFlow<()> {
        self.steps.push(step);
        match (was, is) {
            (Some(was), Some(is)) => self.compare(was, is, mask),
            (None, Some(is)) => self.report(Found::Added(is)),
            (Some(was), None) => self.report(Found::Missing(was)),
            (None, None) => ControlFlow::Continue(()),
        }?;
        self.steps.pop();
        ControlFlow::Continue(())
    }

    fn report(&mut self, found: Found<'a>) -> ControlFlow<()> {
        (self.report)(&self.steps, found)
    }
}

/// Whether both are equal, comparing numbers by value.
pub(super) fn is_same(was: &JsonMember, is: &JsonMember) -> bool {
    Walk::new(|_, _| ControlFlow::Break(())).compare(was, is, None).is_continue()
}

fn is_same_scalar(was: &JsonMember, is: &JsonMember) -> bool {
    match (was, is) {
        (JsonMember::Number(was), JsonMember::Number(is)) => was == is || Number::of(was) == Number::of(is),
        (JsonMember::List(_) | JsonMember::Object(_), _) => false,
        _ => was == is,
    }
}

/// Equal hashes for trees that agree in all places that are not released.
pub(super) fn hash_but(member: &JsonMember, mask: Option<&Mask>, state: &mut impl Hasher) {
    if let Some(Mask::Open(_)) = mask {
        return state.write_u8(0);
    }
    match member {
        JsonMember::Null => state.write_u8(1),
        JsonMember::Bool(value) => (2_u8, value).hash(state),
        JsonMember::Number(text) => (3_u8, Number::of(text)).hash(state),
        JsonMember::Text(text) => (4_u8, text).hash(state),
        JsonMember::List(items) => {
            (5_u8, items.len()).hash(state);
            for (index, item) in items.iter().enumerate() {
                hash_but(item, mask.and_then(|mask| mask.at(index)), state);
            }
        }
        JsonMember::Object(members) => {
            (6_u8, members.len()).hash(state);
            for (name, value) in members {
                name.hash(state);
                hash_but(value, mask.and_then(|mask| mask.below(name)), state);
            }
        }
    }
}

/// The value of a number: `82000`, `82000.0` and `82000.00` are equal. Doubles would also take 9007199254740993 for
/// 9007199254740992.
///
/// Numbers with an exponent are equal only as texts: nobody would write out the digits of 1e400.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Number<'a> {
    Plain { negative: bool, whole: &'a str, fraction: &'a str },
    Exponent(&'a str),
}

impl<'a> Number<'a> {
    /// Parses a JSON number.
    fn of(text: &'a str) -> Self {
        if text.contains(['e', 'E']) {
            return Self::Exponent(text);
        }
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let fraction = fraction.trim_end_matches('0');
        Self::Plain { negative: negative && !(whole == "0" && fraction.is_empty()), whole, fraction }
    }
}
