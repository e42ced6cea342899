//! The owner's templates with members of the request: `Pay {body.amount} to {body.to}`.

use super::{Fields, UnreadableRequest, amounts::is_amount, details::step_of, json::JsonMember, tree::is_form};
use countersign_protocol::{project::Route, visible::quoted};

/// A parsed template. Inserted values are never parsed as a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub(crate) parts: Vec<TemplatePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TemplatePart {
    Text(String),
    Name(Name),
}

/// A member of the request: `path.inbox`, `query.notify`, `header.if-match`, `body.to.account`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    place: Placeholder,
    member: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placeholder {
    Path,
    Query,
    Header,
    Body,
    /// Of the call's response; only where a call is undone.
    Response,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    #[error("a {{ has no }} after it: write {{{{ for the brace itself")]
    Open,
    #[error("a }} has no {{ before it: write }}}} for the brace itself")]
    Close,
    #[error("{{{0}}} names nothing: use path.NAME, query.NAME, header.NAME or body.MEMBER")]
    Unknown(String),
    #[error("{{path.{0}}} is not part of the route's path")]
    NotInPath(String),
    #[error("{{header.{0}}} is not among the route's headers, in lower case")]
    NotAHeader(String),
    #[error("{{response.{0}}} is not known before the call: use path.NAME, query.NAME, header.NAME or body.MEMBER")]
    NotInRequest(String),
    #[error("two names must be separated by a character that no value can contain, such as a colon")]
    Joined,
    #[error("it may contain only visible ASCII without %, and must name a part of the request")]
    NotAKey,
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, BadTemplate> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(brace) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(brace);
            literal += before;
            rest = if let Some(behind) = from.strip_prefix("{{") {
                literal.push('{');
                behind
            } else if let Some(behind) = from.strip_prefix("}}") {
                literal.push('}');
                behind
            } else {
                let (name, behind) = braced(from)?;
                parts.extend(text_part(&mut literal));
                parts.push(TemplatePart::Name(name));
                behind
            };
        }
        literal += rest;
        parts.extend(text_part(&mut literal));
        Ok(Self { parts })
    }

    /// This template followed by another sentence.
    #[must_use]
    pub(super) fn followed_by(&self, other: Option<&Self>) -> Self {
        let Some(other) = other else { return self.clone() };
        let parted = |text: &str| if text.trim_end().ends_with(['.', '!', '?']) { " " } else { ". " };
        let between = match self.parts.last() {
            Some(TemplatePart::Text(text)) => parted(text),
            _ => ". ",
        };
        let mut parts = self.parts.clone();
        parts.push(TemplatePart::Text(between.into()));
        parts.extend(other.parts.iter().cloned());
        Self { parts }
    }

    /// Whether every name can have a value in a request by this route.
    pub fn fits(&self, route: &Route) -> Result<(), BadTemplate> {
        self.names().try_for_each(|name| name.fits(route))
    }

    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Name(name) => Some(name),
            TemplatePart::Text(_) => None,
        })
    }

    /// For people: every value in full and marked as a value.
    pub fn render(&self, fields: &Fields, units: &UnitNames) -> Result<String, UnreadableRequest> {
        let part = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => Ok(text.clone()),
            TemplatePart::Name(name) => name.value(fields).map(|value| units.written(name, &value)),
        };
        self.parts.iter().map(part).collect()
    }

    /// For machines: plain values.
    pub(super) fn fill(&self, fields: &Fields) -> Result<String, UnreadableRequest> {
        let part = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => Ok(text.clone()),
            TemplatePart::Name(name) => name.value(fields).map(|value| plain(&value)),
        };
        self.parts.iter().map(part).collect()
    }
}

/// The members of a request that are units of amounts: a currency code is written there without quotes.
#[derive(Clone, Debug, Default)]
pub struct UnitNames(Vec<Name>);

impl UnitNames {
    pub fn of(route: &Route) -> Self {
        let only = |template: Template| match template.parts.as_slice() {
            [TemplatePart::Name(name)] => Some(name.clone()),
            _ => None,
        };
        Self(route.values.iter().filter_map(|value| Template::parse(&value.unit).ok().and_then(only)).collect())
    }

    /// The value of a member in a sentence.
    pub(crate) fn written(&self, name: &Name, value: &JsonMember) -> String {
        match value {
            JsonMember::Text(unit) if self.0.contains(name) && is_currency(unit) => unit.clone(),
            value => in_sentence(value),
        }
    }
}

fn is_currency(unit: &str) -> bool {
    unit.len() == 3 && unit.bytes().all(|b| b.is_ascii_uppercase())
}

/// Marked as a value: quoted, except numbers and JSON literals, which nobody takes for a sentence.
fn in_sentence(value: &JsonMember) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        JsonMember::Text(text) if is_amount(text) => text.clone(),
        JsonMember::Text(text) => quoted(text),
        JsonMember::List(items) => format!("[{}]", joined(items.iter().map(in_sentence).collect())),
        JsonMember::Object(members) => {
            let one = |(name, value): &(String, JsonMember)| format!("{}: {}", step_of(name), in_sentence(value));
            format!("{{{}}}", joined(members.iter().map(one).collect()))
        }
        scalar => scalar.compact(),
    }
}

fn braced(from: &str) -> Result<(Name, &str), BadTemplate> {
    let Some(inside) = from.strip_prefix('{') else { return Err(BadTemplate::Close) };
    let (name, behind) = inside.split_once('}').ok_or(BadTemplate::Open)?;
    Ok((Name::parse(name)?, behind))
}

fn text_part(literal: &mut String) -> Option<TemplatePart> {
    (!literal.is_empty()).then(|| TemplatePart::Text(std::mem::take(literal)))
}

impl Name {
    pub fn parse(text: &str) -> Result<Self, BadTemplate> {
        let unknown = || BadTemplate::Unknown(text.to_owned());
        let (place, member) = text.split_once('.').ok_or_else(unknown)?;
        let place = match place {
            "path" => Placeholder::Path,
            "query" => Placeholder::Query,
            "header" => Placeholder::Header,
            "body" => Placeholder::Body,
            "response" => Placeholder::Response,
            _ => return Err(unknown()),
        };
        let sound = member.split('.').all(|step| !step.is_empty()) && !member.contains(['{', '}']);
        if sound { Ok(Self { place, member: member.to_owned() }) } else { Err(unknown()) }
    }

    /// Whether its value is known before anything but the request line is read.
    pub fn is_in_target(&self) -> bool {
        matches!(self.place, Placeholder::Path | Placeholder::Query)
    }

    pub fn fits(&self, route: &Route) -> Result<(), BadTemplate> {
        let member = &self.member;
        let braced = format!("{{{member}}}");
        match self.place {
            Placeholder::Path if !route.path.split('/').any(|segment| segment == braced) => {
                Err(BadTemplate::NotInPath(member.clone()))
            }
            Placeholder::Header if !route.headers.contains(member) => Err(BadTemplate::NotAHeader(member.clone())),
            Placeholder::Response => Err(BadTemplate::NotInRequest(member.clone())),
            _ => Ok(()),
        }
    }

    pub(super) fn is_in_response(&self) -> bool {
        self.place == Placeholder::Response
    }

    /// Whether its value includes this member of the request.
    pub(crate) fn covers<S: AsRef<str>>(&self, place: Placeholder, way: &[S]) -> bool {
        let whole = matches!(way, [only] if only.as_ref() == self.member);
        let steps: Vec<&str> = self.member.split('.').collect();
        let within = || way.len() >= steps.len() && steps.iter().zip(way).all(|(step, on)| *step == on.as_ref());
        self.place == place && (whole || (place == Placeholder::Body && within()))
    }

    /// Its value in the JSON body of a response.
    pub(super) fn value_in(&self, response: &JsonMember) -> Option<JsonMember> {
        self.member.split('.').try_fold(response, |member, step| member.get(step)).cloned()
    }

    /// A missing member is refused: rendered empty, it would read as if nothing had been requested.
    pub fn value(&self, fields: &Fields) -> Result<JsonMember, UnreadableRequest> {
        let text = |value: &str| JsonMember::Text(value.to_owned());
        let found = match self.place {
            Placeholder::Path => fields.in_path(&self.member).map(text),
            Placeholder::Query => fields.in_query(&self.member).map(text),
            Placeholder::Header => fields.headers.get(&self.member).map(|value| text(value)),
            Placeholder::Body => fields.in_body(&self.member).map(std::borrow::Cow::into_owned),
            Placeholder::Response => None,
        };
        found.ok_or_else(|| UnreadableRequest::Missing(self.to_string()))
    }

    /// Its place in a tree of arguments, and its own name there.
    pub(crate) fn in_tree(&self) -> Option<(&'static str, &str)> {
        let place = match self.place {
            Placeholder::Path => "path",
            Placeholder::Query => "query",
            Placeholder::Header => "headers",
            Placeholder::Body => "body",
            Placeholder::Response => return None,
        };
        Some((place, &self.member))
    }

    /// The same in a tree of arguments: the members on the path, the named one last.
    pub(crate) fn way<'a>(&self, tree: &'a JsonMember) -> Result<Vec<&'a JsonMember>, UnreadableRequest> {
        let missing = || UnreadableRequest::Missing(self.to_string());
        let (place, _) = self.in_tree().ok_or_else(missing)?;
        let nested = self.place == Placeholder::Body && !is_form(tree);
        let steps = if nested { self.member.split('.').collect() } else { vec![self.member.as_str()] };
        let mut member = tree.get(place).ok_or_else(missing)?;
        let mut way = vec![member];
        for step in steps {
            member = member.get(step).ok_or_else(missing)?;
            way.push(member);
        }
        Ok(way)
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = match self.place {
            Placeholder::Path => "path",
            Placeholder::Query => "query",
            Placeholder::Header => "header",
            Placeholder::Body => "body",
            Placeholder::Response => "response",
        };
        write!(f, "{place}.{}", self.member)
    }
}

/// Strings without quotes, everything else as written.
pub(crate) fn plain(value: &JsonMember) -> String {
    match value {
        JsonMember::Text(text) => text.clone(),
        other => other.compact(),
    }
}

#[cfg(test)]
mod tests;
