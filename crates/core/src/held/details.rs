//! All members of a request, one by one, so that the approver sees everything that will run.

use super::{
    Fields, HttpRequest,
    fields::Body,
    json::Member,
    media::{Media, media},
    template::{Place, Template},
};
use countersign_protocol::{
    request::{DetailPlace, RequestDetail, Text, ValueKind},
    visible::{lookalikes, quoted, visible},
};

/// The texts of a confirmation request with their templates.
pub(super) type Templates = [(Text, Template)];

/// Every member of a request, with the texts that contain its value.
pub(super) fn of_request(request: &HttpRequest, fields: &Fields, texts: &Templates) -> Vec<RequestDetail> {
    let named = |place: Place, steps: &[&str]| {
        let has = |(_, template): &&(Text, Template)| template.names().any(|name| name.covers(place, steps));
        texts.iter().filter(has).map(|(text, _)| *text).collect::<Vec<_>>()
    };
    let named_at = |place: Place, steps: &[String]| {
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        named(place, &steps)
    };
    let flat = |shown_in: DetailPlace, place: Place, name: &str, value: &str| RequestDetail {
        named_in: named(place, &[name]),
        ..text(shown_in, step_of(name), value)
    };
    let mut details = Vec::new();
    details.extend(fields.path.iter().map(|(name, value)| flat(DetailPlace::Path, Place::Path, name, value)));
    details.extend(fields.query.iter().map(|(name, value)| flat(DetailPlace::Query, Place::Query, name, value)));
    details.extend(fields.headers.iter().map(|(name, value)| flat(DetailPlace::Header, Place::Header, name, value)));
    if says_something(&request.content_type) {
        details.push(text(DetailPlace::ContentType, String::new(), &request.content_type));
    }
    match &fields.body {
        Body::Empty => {}
        Body::Form(pairs) => {
            details.extend(pairs.iter().map(|(name, value)| flat(DetailPlace::Body, Place::Body, name, value)));
        }
        Body::Json(root) => details.extend(leaves(root).into_iter().map(|(steps, leaf)| RequestDetail {
            named_in: named_at(Place::Body, &steps),
            ..of_leaf(DetailPlace::Body, &steps, leaf)
        })),
        Body::Opaque => details.push(opaque(request)),
    }
    details
}

/// Every argument of a tool.
pub fn of_arguments(arguments: &Member) -> Vec<RequestDetail> {
    match arguments {
        Member::Object(members) if members.is_empty() => Vec::new(),
        root => leaves(root).iter().map(|(steps, leaf)| of_leaf(DetailPlace::Argument, steps, leaf)).collect(),
    }
}

/// The leaf members, each with its path.
fn leaves(root: &Member) -> Vec<(Vec<String>, &Member)> {
    let mut found = Vec::new();
    walk(root, &mut Vec::new(), &mut found);
    found
}

fn walk<'a>(member: &'a Member, way: &mut Vec<String>, found: &mut Vec<(Vec<String>, &'a Member)>) {
    let mut down = |step: String, member: &'a Member| {
        way.push(step);
        walk(member, way, found);
        way.pop();
    };
    match member {
        Member::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(name, member)| down(name.clone(), member));
        }
        Member::List(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(at, member)| down(at.to_string(), member));
        }
        leaf => found.push((way.clone(), leaf)),
    }
}

pub(crate) fn of_leaf(place: DetailPlace, way: &[impl AsRef<str>], leaf: &Member) -> RequestDetail {
    let name = way.iter().map(|step| step_of(step.as_ref())).collect::<Vec<_>>().join(".");
    match leaf {
        Member::Text(value) => text(place, name, value),
        other => literal(place, name, other.compact()),
    }
}

/// Quotes a name that could be read as a name and a value, or as two names.
pub(crate) fn step_of(name: &str) -> String {
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if plain { name.to_owned() } else { quoted(name) }
}

fn text(place: DetailPlace, name: String, value: &str) -> RequestDetail {
    RequestDetail {
        place,
        name,
        value: visible(value),
        kind: ValueKind::Text,
        named_in: Vec::new(),
        step: None,
        lookalikes: lookalikes(value),
    }
}

pub(crate) fn literal(place: DetailPlace, name: String, value: String) -> RequestDetail {
    RequestDetail { kind: ValueKind::Literal, lookalikes: Vec::new(), ..text(place, name, &value) }
}

/// Size and digest of a body that cannot be parsed.
fn opaque(request: &HttpRequest) -> RequestDetail {
    let bytes = request.body.len();
    let size = format!("{bytes} {}, SHA-256 {}", if bytes == 1 { "byte" } else { "bytes" }, request.body_sha256());
    literal(DetailPlace::Body, String::new(), size)
}

/// Plain JSON and plain forms are recognisable by their members.
pub(crate) fn says_something(content_type: &str) -> bool {
    let mut parts = content_type.split(';');
    let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    let plain = matches!(essence.as_str(), "application/json" | "application/x-www-form-urlencoded");
    let only_charset = parts.all(|part| part.trim().to_ascii_lowercase().starts_with("charset="));
    let read = matches!(media(content_type), Ok(Media::Json | Media::Form));
    let told_by_its_members = plain && only_charset && read;
    !content_type.is_empty() && !told_by_its_members
}
