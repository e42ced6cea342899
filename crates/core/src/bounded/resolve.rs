//! Resolves dotted names to places, and marks released places.

use crate::held::JsonMember;

/// A member and the steps leading to it.
pub(super) struct ResolvedMember<'a> {
    pub(super) steps: Vec<String>,
    pub(super) member: &'a JsonMember,
}

/// Every member that a dotted name could mean. Names may contain dots, so there can be two.
pub(super) fn resolve<'a>(root: &'a JsonMember, name: &str) -> Vec<ResolvedMember<'a>> {
    match root {
        JsonMember::Object(members) => {
            members.iter().flat_map(|(known, value)| resolve_below(value, name, known)).collect()
        }
        JsonMember::List(_) => {
            let index = name.split('.').next().unwrap_or_default();
            root.get(index).map(|item| resolve_below(item, name, index)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The places that the name means if `step` is its first step.
fn resolve_below<'a>(member: &'a JsonMember, name: &str, step: &str) -> Vec<ResolvedMember<'a>> {
    let Some(rest) = name.strip_prefix(step) else { return Vec::new() };
    if rest.is_empty() {
        return vec![ResolvedMember { steps: vec![step.to_owned()], member }];
    }
    let below = rest.strip_prefix('.').map(|name| resolve(member, name)).unwrap_or_default();
    let led_to =
        |place: ResolvedMember<'a>| ResolvedMember { steps: [vec![step.to_owned()], place.steps].concat(), ..place };
    below.into_iter().map(led_to).collect()
}

/// The released places of a tree. Patterns with equal masks compare calls in the same places.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mask {
    /// Any value within the bound of this number.
    Open(usize),
    Below(Vec<(String, Mask)>),
}

impl Mask {
    pub(super) const CLOSED: Self = Self::Below(Vec::new());

    /// Releases one more place; not inside another one, nor around one.
    pub(super) fn open(&mut self, steps: &[String], number: usize) -> Result<(), Inside> {
        let Self::Below(below) = self else { return Err(Inside) };
        let Some((step, rest)) = steps.split_first() else { return Err(Inside) };
        let at = below.iter().position(|(known, _)| known == step);
        match (at.and_then(|at| below.get_mut(at)), rest) {
            (Some((_, mask)), _) => mask.open(rest, number),
            (None, []) => {
                below.push((step.clone(), Self::Open(number)));
                Ok(())
            }
            (None, _) => {
                let mut mask = Self::CLOSED;
                mask.open(rest, number)?;
                below.push((step.clone(), mask));
                Ok(())
            }
        }
    }

    pub(super) fn below(&self, step: &str) -> Option<&Self> {
        let Self::Below(below) = self else { return None };
        below.iter().find(|(known, _)| known == step).map(|(_, mask)| mask)
    }

    pub(super) fn at(&self, index: usize) -> Option<&Self> {
        let Self::Below(below) = self else { return None };
        below.iter().find(|(known, _)| known.parse() == Ok(index)).map(|(_, mask)| mask)
    }
}

/// A released place inside another one.
#[derive(Debug)]
pub(super) struct Inside;
