//! Paths of rules, and the two spellings of a place: dotted path and JSON Pointer (W-25).

use countersign_protocol::visible::is_unseen;
use serde_json::Value;

/// A path of a rule: `components[*].type`, `compliance.*`, `**`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path(pub(super) Vec<PathStep>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum PathStep {
    Member(String),
    EachItem,
    EachMember,
    /// Every place below; only allowed at the end.
    Below,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadPath {
    #[error("is empty")]
    Empty,
    #[error("has an invalid step at {0:?}: use .NAME, [*], .*, .** or [\"NAME\"]")]
    NoStep(String),
    #[error("has ** before its end")]
    BelowWithin,
}

impl Path {
    pub(super) fn parse(text: &str) -> Result<Self, BadPath> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (step, behind) = next(rest, steps.is_empty()).ok_or_else(|| BadPath::NoStep(rest.to_owned()))?;
            steps.push(step);
            rest = behind;
        }
        let within = steps.iter().rev().skip(1).any(|step| *step == PathStep::Below);
        match steps.is_empty() {
            true => Err(BadPath::Empty),
            false if within => Err(BadPath::BelowWithin),
            false => Ok(Self(steps)),
        }
    }

    /// The member names of a path without wildcards.
    pub(super) fn names(&self) -> Option<Vec<String>> {
        names(&self.0)
    }
}

pub(super) fn names(steps: &[PathStep]) -> Option<Vec<String>> {
    let name = |step: &PathStep| match step {
        PathStep::Member(name) => Some(name.clone()),
        PathStep::EachItem | PathStep::EachMember | PathStep::Below => None,
    };
    steps.iter().map(name).collect()
}

fn next(rest: &str, first: bool) -> Option<(PathStep, &str)> {
    match rest.strip_prefix('[') {
        Some(inside) => bracketed(inside),
        None if first => bare(rest),
        None => bare(rest.strip_prefix('.')?),
    }
}

fn bracketed(inside: &str) -> Option<(PathStep, &str)> {
    if let Some(behind) = inside.strip_prefix("*]") {
        return Some((PathStep::EachItem, behind));
    }
    let mut texts = serde_json::Deserializer::from_str(inside).into_iter::<String>();
    let name = texts.next()?.ok()?;
    let behind = inside.get(texts.byte_offset()..)?.strip_prefix(']')?;
    Some((PathStep::Member(name), behind))
}

fn bare(rest: &str) -> Option<(PathStep, &str)> {
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, behind) = rest.split_at_checked(end)?;
    let step = match name {
        "*" => PathStep::EachMember,
        "**" => PathStep::Below,
        name if is_bare(name) => PathStep::Member(name.to_owned()),
        _ => return None,
    };
    Some((step, behind))
}

/// Whether a name needs no quotes in a path: it has no path syntax and no invisible characters.
fn is_bare(name: &str) -> bool {
    let plain = |c: char| !matches!(c, '.' | '[' | ']' | '"' | '*') && !c.is_whitespace() && !is_unseen(c);
    !name.is_empty() && name.chars().all(plain)
}

/// One step down from a place of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Member(&'a str),
    Item(usize),
}

/// The dotted path of a place: `components[2].type`, `labels["a.b"]`.
pub(super) fn field(tokens: &[Token<'_>]) -> String {
    let mut out = String::new();
    for token in tokens {
        match token {
            Token::Item(at) => out += &format!("[{at}]"),
            Token::Member(name) if !is_bare(name) => out += &format!("[{}]", quoted(name)),
            Token::Member(name) if out.is_empty() => out += name,
            Token::Member(name) => out.extend([".", name]),
        }
    }
    out
}

/// A JSON string with invisible characters escaped.
fn quoted(name: &str) -> String {
    let mut units = [0; 2];
    let mut out = String::new();
    for c in Value::from(name).to_string().chars() {
        if is_unseen(c) {
            c.encode_utf16(&mut units).iter().for_each(|unit| out += &format!("\\u{unit:04x}"));
        } else {
            out.push(c);
        }
    }
    out
}

/// The JSON Pointer of a place (RFC 6901).
pub(super) fn pointer(tokens: &[Token<'_>]) -> String {
    let mut out = String::new();
    for token in tokens {
        out.push('/');
        match token {
            Token::Item(at) => out += &at.to_string(),
            Token::Member(name) => out += &name.replace('~', "~0").replace('/', "~1"),
        }
    }
    out
}

/// The steps of a pointer; none if it is invalid or refers to the whole plan.
pub(super) fn tokens_of(pointer: &str) -> Option<Vec<String>> {
    let steps = pointer.strip_prefix('/')?;
    Some(steps.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect())
}

#[cfg(test)]
mod tests;
