//! The places of a plan that rules refer to: each path is followed once, regardless of the number of rules.

use super::path::{Path, PathStep, Token};
use serde_json::Value;
use std::{collections::HashMap, ops::Range};

pub(super) type PathId = usize;
pub(super) type PlaceId = usize;

/// The paths of all rules as a tree with shared prefixes; the plan itself is number 0.
#[derive(Debug, Default)]
pub(super) struct Paths {
    nodes: Vec<(PathId, PathStep)>,
    known: HashMap<(PathId, PathStep), PathId>,
}

impl Paths {
    pub(super) fn id(&mut self, path: &Path) -> PathId {
        self.id_of(&path.0)
    }

    pub(super) fn id_of(&mut self, steps: &[PathStep]) -> PathId {
        steps.iter().fold(0, |above, step| self.below(above, step))
    }

    fn below(&mut self, above: PathId, step: &PathStep) -> PathId {
        let key = (above, step.clone());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        self.nodes.push(key.clone());
        self.known.insert(key, self.nodes.len());
        self.nodes.len()
    }
}

/// The places of one plan, grouped by path and in the order of the plan.
pub(super) struct Places<'p> {
    all: Vec<LocatedValue<'p>>,
    of: Vec<Range<PlaceId>>,
}

/// A value and its parent. Paths are formatted only for findings.
#[derive(Clone, Copy)]
struct LocatedValue<'p> {
    value: &'p Value,
    from: Option<(PlaceId, Token<'p>)>,
}

impl<'p> Places<'p> {
    pub(super) fn of(paths: &Paths, plan: &'p Value) -> Self {
        let whole = LocatedValue { value: plan, from: None };
        let mut places = Self { all: vec![whole], of: Vec::with_capacity(paths.nodes.len() + 1) };
        places.of.push(0..1);
        for (above, step) in &paths.nodes {
            let begin = places.all.len();
            for at in places.of.get(*above).cloned().unwrap_or_default() {
                places.follow(at, step);
            }
            places.of.push(begin..places.all.len());
        }
        places
    }

    fn follow(&mut self, at: PlaceId, step: &PathStep) {
        let Some(value) = self.value(at) else { return };
        match (step, value) {
            (PathStep::Member(name), Value::Object(members)) => {
                let found = members.get_key_value(name.as_str());
                self.all.extend(found.map(|(name, value)| member(at, name, value)));
            }
            (PathStep::EachItem, Value::Array(_)) | (PathStep::EachMember, Value::Object(_)) => {
                self.all.extend(children(at, value));
            }
            (PathStep::Below, _) => self.everything_below(at, value),
            _ => {}
        }
    }

    /// Depth first, the reading order of the document.
    fn everything_below(&mut self, at: PlaceId, value: &'p Value) {
        let mut waiting: Vec<LocatedValue<'p>> = children(at, value).rev().collect();
        while let Some(place) = waiting.pop() {
            waiting.extend(children(self.all.len(), place.value).rev());
            self.all.push(place);
        }
    }

    pub(super) fn at(&self, path: PathId) -> impl Iterator<Item = (PlaceId, &'p Value)> {
        let range = self.of.get(path).cloned().unwrap_or_default();
        range.filter_map(|at| Some((at, self.value(at)?)))
    }

    fn value(&self, at: PlaceId) -> Option<&'p Value> {
        self.all.get(at).map(|place| place.value)
    }

    /// The ancestor `steps` above.
    pub(super) fn above(&self, at: PlaceId, steps: usize) -> PlaceId {
        let up = |at: PlaceId| self.all.get(at).and_then(|place| place.from).map_or(0, |(above, _)| above);
        (0..steps).fold(at, |at, _| up(at))
    }

    /// The steps from the plan to a place.
    pub(super) fn tokens(&self, at: PlaceId) -> Vec<Token<'p>> {
        let mut tokens = Vec::new();
        let mut next = self.all.get(at).and_then(|place| place.from);
        while let Some((above, token)) = next {
            tokens.push(token);
            next = self.all.get(above).and_then(|place| place.from);
        }
        tokens.reverse();
        tokens
    }

    /// The value below these member names, if all of them exist.
    pub(super) fn get(&self, under: PlaceId, names: &[String]) -> Option<&'p Value> {
        names.iter().try_fold(self.value(under)?, |value, name| value.as_object()?.get(name))
    }
}

fn member<'p>(at: PlaceId, name: &'p str, value: &'p Value) -> LocatedValue<'p> {
    LocatedValue { value, from: Some((at, Token::Member(name))) }
}

fn children<'p>(at: PlaceId, value: &'p Value) -> Box<dyn DoubleEndedIterator<Item = LocatedValue<'p>> + 'p> {
    match value {
        Value::Object(members) => Box::new(members.iter().map(move |(name, value)| member(at, name, value))),
        Value::Array(items) => Box::new(
            items.iter().enumerate().map(move |(n, value)| LocatedValue { value, from: Some((at, Token::Item(n))) }),
        ),
        _ => Box::new(std::iter::empty()),
    }
}

/// The text at a place, or the texts of its items.
pub(super) fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let own = value.as_str().into_iter();
    let items = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    own.chain(items)
}

/// Whether the value is absent, null or blank.
pub(super) fn is_missing(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => super::folding::is_blank(text),
        Some(_) => false,
    }
}
