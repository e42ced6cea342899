//! Shapes of members as data: the tables in `members` read like the protocol's own.

use super::problem::MemberProblem;
use serde_json::{Map, Number, Value};

/// Larger integers are written as strings (AAEP 3.8).
pub(super) const MAX_INTEGER: i64 = (1 << 53) - 1;

pub(super) struct ShapeMember {
    pub(super) name: &'static str,
    pub(super) need: Need,
    pub(super) shape: MemberShape,
}

/// When a member may be omitted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Always,
    /// Filled in by the hub: optional for an agent, required in an emitted event.
    Emitted,
    Never,
}

/// The stage of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Published,
    Emitted,
}

pub(super) enum MemberShape {
    /// A number of characters, meaning code points.
    Text(usize, usize),
    /// A string with a syntax, and its description.
    Like(fn(&str) -> bool, &'static str),
    OneOf(&'static [&'static str]),
    Integer(i64, i64),
    Number(f64, f64),
    Flag,
    Object,
    /// Objects by name.
    Objects,
    Closed(&'static [ShapeMember]),
    /// The same, but unknown members are allowed.
    Open(&'static [ShapeMember]),
    List(&'static List),
    Context,
    /// A person's answer to a question: a text, a boolean or a number.
    Response,
}

pub(super) struct List {
    pub(super) of: MemberShape,
    pub(super) min: usize,
    pub(super) max: usize,
    pub(super) unique: bool,
}

/// A string limited by the prose but not by the published schemas (AAEP 3.7).
pub(super) const FREE: MemberShape = MemberShape::Text(0, 16384);

impl ShapeMember {
    pub(super) const fn must(name: &'static str, shape: MemberShape) -> Self {
        Self { name, need: Need::Always, shape }
    }

    pub(super) const fn emitted(name: &'static str, shape: MemberShape) -> Self {
        Self { name, need: Need::Emitted, shape }
    }

    pub(super) const fn may(name: &'static str, shape: MemberShape) -> Self {
        Self { name, need: Need::Never, shape }
    }
}

/// Every known member that is missing or invalid. Unknown ones are ignored.
pub(super) fn check(
    members: &[ShapeMember],
    object: &Map<String, Value>,
    stage: Stage,
    found: &mut Vec<MemberProblem>,
) {
    check_below("", members, object, stage, found);
}

fn check_below(
    at: &str,
    members: &[ShapeMember],
    object: &Map<String, Value>,
    stage: Stage,
    found: &mut Vec<MemberProblem>,
) {
    for member in members {
        let place = format!("{at}{}", member.name);
        match object.get(member.name) {
            Some(value) => member.shape.check(&place, value, stage, found),
            None if member.need == Need::Always || (member.need == Need::Emitted && stage == Stage::Emitted) => {
                found.push(MemberProblem::new(place, "is required"));
            }
            None => {}
        }
    }
}

impl MemberShape {
    pub(super) fn check(&self, at: &str, value: &Value, stage: Stage, found: &mut Vec<MemberProblem>) {
        match self {
            Self::Closed(members) | Self::Open(members) => self.check_object(at, members, value, stage, found),
            Self::List(list) => list.check(at, value, stage, found),
            _ if self.holds(value) => {}
            _ => found.push(MemberProblem::new(at, format!("must be {self}"))),
        }
    }

    fn check_object(
        &self,
        at: &str,
        members: &[ShapeMember],
        value: &Value,
        stage: Stage,
        found: &mut Vec<MemberProblem>,
    ) {
        let Some(object) = value.as_object() else { return found.push(MemberProblem::new(at, "must be an object")) };
        check_below(&format!("{at}."), members, object, stage, found);
        let stray = object.keys().any(|name| members.iter().all(|member| member.name != name));
        if stray && matches!(self, Self::Closed(_)) {
            found.push(MemberProblem::new(at, "has a member that is not known there"));
        }
    }

    fn holds(&self, value: &Value) -> bool {
        match self {
            Self::Text(min, max) => value.as_str().is_some_and(|text| (*min..=*max).contains(&text.chars().count())),
            Self::Like(grammar, _) => value.as_str().is_some_and(grammar),
            Self::OneOf(words) => value.as_str().is_some_and(|text| words.contains(&text)),
            Self::Integer(min, max) => integer(value).is_some_and(|number| (*min..=*max).contains(&number)),
            Self::Number(min, max) => value.as_f64().is_some_and(|number| (*min..=*max).contains(&number)),
            Self::Flag => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::Objects => value.as_object().is_some_and(|all| all.values().all(Value::is_object)),
            Self::Context => is_context(value),
            Self::Response => is_response(value),
            Self::Closed(_) | Self::Open(_) | Self::List(_) => true,
        }
    }

    /// Normalises integers: `60.0` is an integer in JSON but not for serde.
    pub(super) fn whole(&self, value: &mut Value) {
        match (self, value) {
            (Self::Integer(..), value) => {
                if let Some(number) = integer(value) {
                    *value = Value::Number(Number::from(number));
                }
            }
            (Self::Closed(members) | Self::Open(members), Value::Object(object)) => {
                for member in *members {
                    object.get_mut(member.name).into_iter().for_each(|value| member.shape.whole(value));
                }
            }
            (Self::List(list), Value::Array(items)) => items.iter_mut().for_each(|item| list.of.whole(item)),
            _ => {}
        }
    }
}

impl std::fmt::Display for MemberShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(0, max) => write!(f, "a text of at most {max} characters"),
            Self::Text(min, max) => write!(f, "a text of {min} to {max} characters"),
            Self::Like(_, told) => f.write_str(told),
            Self::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Self::Integer(min, MAX_INTEGER) => write!(f, "an integer of at least {min}"),
            Self::Integer(min, max) => write!(f, "an integer from {min} to {max}"),
            Self::Number(min, max) => write!(f, "a number from {min} to {max}"),
            Self::Flag => f.write_str("true or false"),
            Self::Object | Self::Closed(_) | Self::Open(_) => f.write_str("an object"),
            Self::Objects => f.write_str("an object of objects"),
            Self::Context => f.write_str("the core context, or a list of URIs that begins with it"),
            Self::Response => f.write_str("a text of 1 to 16384 characters, true or false, or a number"),
            Self::List(list) => write!(f, "a list of {} to {} entries", list.min, list.max),
        }
    }
}

impl List {
    fn check(&self, at: &str, value: &Value, stage: Stage, found: &mut Vec<MemberProblem>) {
        let Some(items) = value.as_array() else { return found.push(MemberProblem::new(at, "must be a list")) };
        if !(self.min..=self.max).contains(&items.len()) {
            found.push(MemberProblem::new(at, format!("must have {} to {} entries", self.min, self.max)));
        }
        if self.unique && items.iter().enumerate().any(|(n, item)| items.iter().take(n).any(|other| same(other, item)))
        {
            found.push(MemberProblem::new(at, "must not name anything twice"));
        }
        for (n, item) in items.iter().take(self.max).enumerate() {
            self.of.check(&format!("{at}[{n}]"), item, stage, found);
        }
    }
}

/// A number without a fraction that a double represents exactly.
fn integer(value: &Value) -> Option<i64> {
    let whole = |number: f64| number.fract() == 0.0 && number.abs() <= MAX_INTEGER as f64;
    let number = value.as_i64().or_else(|| value.as_f64().filter(|n| whole(*n)).map(|n| n as i64))?;
    (number.unsigned_abs() <= MAX_INTEGER.unsigned_abs()).then_some(number)
}

fn is_context(value: &Value) -> bool {
    let core = |value: &Value| value == super::envelope::CONTEXT;
    let uri = |value: &Value| value.as_str().is_some_and(super::ids::is_uri);
    core(value) || value.as_array().is_some_and(|all| all.first().is_some_and(core) && all.iter().all(uri))
}

/// Equality of JSON: `1` and `1.0` are the same number.
fn same(one: &Value, other: &Value) -> bool {
    one == other || (one.is_number() && one.as_f64() == other.as_f64())
}

fn is_response(value: &Value) -> bool {
    match value {
        Value::String(text) => (1..=16384).contains(&text.chars().count()),
        other => other.is_boolean() || other.is_number(),
    }
}
