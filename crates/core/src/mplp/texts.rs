//! Describes a step for the person approving it: the call, and the released arguments with their bounds.

use crate::{
    bounded::{ActionTarget, Arguments, Pattern, bound_text, plain_or_quoted},
    held::{
        JsonMember, Name, Template, TemplatePart, UnitNames, UnreadableRequest, leaves, literal, of_leaf, quoted,
        says_something, shortened, shown, step_of,
    },
};
use countersign_protocol::{
    bounds::Bound,
    project::Route,
    request::{DetailPlace, RequestDetail},
};

/// The most characters of a value in a line about a change.
const VALUE: usize = 200;

/// The owner's sentence for a step with this route, with bounds in place of released arguments. Without an owner's
/// sentence, the request itself.
pub(super) fn of_route(route: &Route, pattern: &Pattern) -> Result<String, UnreadableRequest> {
    let Some(described) = &route.describe else {
        return Ok(format!("{} {} ({})", route.method, route.path, arguments(pattern)));
    };
    let template = Template::parse(&described.action)?;
    let open = OpenArguments::of(pattern);
    let sentence = open.sentence(&template, &UnitNames::of(route))?;
    let untold = open.unmentioned(&template)?;
    // Adds the released arguments that the owner's sentence omits, so that nobody approves them unread.
    Ok(if untold.is_empty() { sentence } else { format!("{sentence} ({})", untold.join(", ")) })
}

/// `pay(amount: at most 500.00 EUR, to: "acct-3344")`: all arguments.
pub(super) fn of_tool(name: &str, pattern: &Pattern) -> String {
    format!("{name}({})", arguments(pattern))
}

/// Every argument with its value or its bound, released ones first, since a person must not miss them. Texts are
/// quoted, so that none can pass for a bound or another argument.
pub(super) fn arguments(pattern: &Pattern) -> String {
    let open = OpenArguments::of(pattern);
    let mut parts = parts(pattern);
    parts.sort_by_key(|(_, member)| !open.is_in(member));
    let named =
        |(name, member): (String, &JsonMember)| format!("{}: {}", shown(&name, usize::MAX), open.json_text(member));
    parts.into_iter().map(named).collect::<Vec<_>>().join(", ")
}

/// The same arguments as typed details; a released one has its bound as value.
pub(super) fn details(pattern: &Pattern) -> Vec<RequestDetail> {
    let open = OpenArguments::of(pattern);
    let mut found = Vec::new();
    match (pattern.target(), pattern.arguments().root()) {
        (ActionTarget::Route { .. }, JsonMember::Object(parts)) => {
            for (part, member) in parts {
                let place = match part.as_str() {
                    "path" => DetailPlace::Path,
                    "query" => DetailPlace::Query,
                    "headers" => DetailPlace::Header,
                    "content_type" => DetailPlace::ContentType,
                    _ => DetailPlace::Body,
                };
                let says_nothing = match member {
                    // Only a body can be empty and still be sent.
                    JsonMember::Object(members) => members.is_empty() && place != DetailPlace::Body,
                    JsonMember::Text(kind) => place == DetailPlace::ContentType && !says_something(kind),
                    _ => false,
                };
                if !says_nothing {
                    found.extend(open.details(place, member));
                }
            }
        }
        (_, JsonMember::Object(members)) if members.is_empty() => {}
        (_, root) => found = open.details(DetailPlace::Argument, root),
    }
    found
}

/// Quotes a text by somebody else. Quotation marks inside are replaced, so that the text cannot close its own.
pub(super) fn said(text: &str, most: usize) -> String {
    let inner = text.replace(['“', '”', '„', '‟'], "\"");
    format!("“{}”", shortened(&shown(&inner, usize::MAX), most))
}

/// A bound with all of its choices: an omitted choice could be the important one.
pub(super) fn bound(bound: &Bound) -> String {
    let Bound::OneOf(choices) = bound else { return bound_text(bound) };
    let choices: Vec<_> = choices.iter().map(|choice| shown(&choice.to_string(), usize::MAX)).collect();
    format!("only {}", choices.join(" or "))
}

/// The value of one argument.
pub(super) fn value(arguments: &Arguments, name: &str) -> String {
    arguments.get(name).map_or_else(|| "nothing".into(), |member| shown(&member.compact(), VALUE))
}

/// The arguments one level down, or two for a request: `path.account`, `body.amount`.
fn parts<'a>(pattern: &'a Pattern) -> Vec<(String, &'a JsonMember)> {
    let root = pattern.arguments().root();
    let JsonMember::Object(members) = root else { return vec![("arguments".into(), root)] };
    let part = |(name, member): &'a (String, JsonMember)| match pattern.target() {
        ActionTarget::Route { .. } => of_request(name, member),
        ActionTarget::Tool { .. } => vec![(plain_or_quoted(name), member)],
    };
    members.iter().flat_map(part).collect()
}

fn of_request<'a>(part: &str, member: &'a JsonMember) -> Vec<(String, &'a JsonMember)> {
    match member {
        JsonMember::Object(members) if !(members.is_empty() && part == "body") => {
            members.iter().map(|(name, member)| (format!("{part}.{}", plain_or_quoted(name)), member)).collect()
        }
        member => vec![(part.to_owned(), member)],
    }
}

/// The arguments of a pattern, and the released ones among them.
struct OpenArguments<'a> {
    root: &'a JsonMember,
    places: Vec<ArgumentText<'a>>,
}

struct ArgumentText<'a> {
    name: &'a str,
    /// Compared by address: a name with dots could mean another member.
    member: &'a JsonMember,
    bound: &'a Bound,
}

impl<'a> OpenArguments<'a> {
    fn of(pattern: &'a Pattern) -> Self {
        let arguments = pattern.arguments();
        let place = |(name, bound): (&'a String, &'a Bound)| {
            arguments.get(name).map(|member| ArgumentText { name, member, bound })
        };
        Self { root: arguments.root(), places: pattern.released().iter().filter_map(place).collect() }
    }

    /// The details of all leaves. A released list or object has one detail, at its first leaf.
    fn details(&self, place: DetailPlace, member: &JsonMember) -> Vec<RequestDetail> {
        let detail = |(steps, leaf): (Vec<String>, &JsonMember)| {
            let is_inside = |open: &&ArgumentText<'_>| std::ptr::eq(open.member, leaf) || contains(open.member, leaf);
            let Some(open) = self.places.iter().find(is_inside) else { return Some(of_leaf(place, &steps, leaf)) };
            let inner = leaves(open.member);
            let (below, _) = inner.first().filter(|(_, first)| std::ptr::eq(*first, leaf))?;
            let way = steps.iter().take(steps.len() - below.len());
            let name = way.map(|step| step_of(step)).collect::<Vec<_>>().join(".");
            Some(literal(place, name, bound(open.bound)))
        };
        leaves(member).into_iter().filter_map(detail).collect()
    }

    fn at(&self, member: &JsonMember) -> Option<&ArgumentText<'a>> {
        self.places.iter().find(|place| std::ptr::eq(place.member, member))
    }

    /// Whether the member or something inside it is released.
    fn is_in(&self, member: &JsonMember) -> bool {
        self.places.iter().any(|place| std::ptr::eq(place.member, member) || contains(member, place.member))
    }

    fn sentence(&self, template: &Template, units: &UnitNames) -> Result<String, UnreadableRequest> {
        let mut sentence = String::new();
        // The unit in the bound just written: the owner's sentence would repeat it.
        let mut unit: Option<&str> = None;
        let mut parts = template.parts.iter().peekable();
        while let Some(part) = parts.next() {
            unit = match part {
                TemplatePart::Text(text) => {
                    let units_own =
                        parts.next_if(|next| text == " " && unit.is_some_and(|unit| self.renders_as(next, unit)));
                    sentence += if units_own.is_some() { "" } else { after_unit(text, unit) };
                    None
                }
                TemplatePart::Name(name) => {
                    let way = name.way(self.root)?;
                    sentence += &self.member_text(name, &way, units);
                    way.iter().find_map(|member| self.at(member)).and_then(|place| place.bound.unit())
                }
            };
        }
        Ok(sentence)
    }

    /// The text for a member named in the template.
    fn member_text(&self, name: &Name, way: &[&JsonMember], units: &UnitNames) -> String {
        if let Some(place) = way.iter().find_map(|member| self.at(member)) {
            return bound(place.bound);
        }
        match way.last() {
            Some(member) if self.is_in(member) => self.json_text(member),
            Some(member) => units.written(name, member),
            None => String::new(),
        }
    }

    /// Whether this part always renders as exactly this text.
    fn renders_as(&self, part: &TemplatePart, text: &str) -> bool {
        let TemplatePart::Name(name) = part else { return false };
        let Ok(way) = name.way(self.root) else { return false };
        let fixed = !way.iter().any(|member| self.at(member).is_some());
        fixed && matches!(way.last(), Some(JsonMember::Text(own)) if own == text)
    }

    /// The released arguments missing from the sentence.
    fn unmentioned(&self, template: &Template) -> Result<Vec<String>, UnreadableRequest> {
        let ways = template.names().map(|name| name.way(self.root)).collect::<Result<Vec<_>, _>>()?;
        let is_told = |place: &ArgumentText<'_>| {
            let on = |way: &Vec<&JsonMember>| way.iter().any(|member| std::ptr::eq(*member, place.member));
            ways.iter().any(|way| on(way) || way.last().is_some_and(|last| contains(last, place.member)))
        };
        let untold = self.places.iter().filter(|place| !is_told(place));
        Ok(untold.map(|place| format!("{}: {}", shown(place.name, VALUE), bound(place.bound))).collect())
    }

    /// As JSON, with unquoted bounds in released places.
    fn json_text(&self, member: &JsonMember) -> String {
        if let Some(place) = self.at(member) {
            return bound(place.bound);
        }
        let joined = |parts: Vec<String>| parts.join(", ");
        match member {
            JsonMember::List(items) => format!("[{}]", joined(items.iter().map(|item| self.json_text(item)).collect())),
            JsonMember::Object(members) => {
                let one = |(name, value): &(String, JsonMember)| {
                    format!("{}: {}", shown(&quoted(name), usize::MAX), self.json_text(value))
                };
                format!("{{{}}}", joined(members.iter().map(one).collect()))
            }
            scalar => shown(&scalar.compact(), usize::MAX),
        }
    }
}

/// Whether `wanted` is inside `member`.
fn contains(member: &JsonMember, wanted: &JsonMember) -> bool {
    let found = |inner: &JsonMember| std::ptr::eq(inner, wanted) || contains(inner, wanted);
    match member {
        JsonMember::List(items) => items.iter().any(found),
        JsonMember::Object(members) => members.iter().any(|(_, inner)| found(inner)),
        _ => false,
    }
}

/// The owner's text after an amount, without a leading unit.
fn after_unit<'t>(text: &'t str, unit: Option<&str>) -> &'t str {
    let rest = unit.and_then(|unit| text.strip_prefix(' ')?.strip_prefix(unit));
    rest.filter(|rest| !rest.starts_with(char::is_alphanumeric)).unwrap_or(text)
}
