//! All members of a request, one by one, so that the approver sees everything that will run.

use super::{
    Fields, HttpRequest,
    fields::BodyFields,
    json::JsonMember,
    media::{Media, media},
    template::{Placeholder, Template},
};
use countersign_protocol::{
    request::{DetailPlace, RequestDetail, Text, ValueKind},
    visible::{lookalikes, quoted, visible},
};

/// The texts of a confirmation request with their templates.
pub(super) type Templates = [(Text, Template)];

/// Every member of a request, with the texts that contain its value.
pub(super) fn of_request(request: &HttpRequest, fields: &Fields, texts: &Templates) -> Vec<RequestDetail> {
    let named = |place: Placeholder, steps: &[&str]| {
        let has = |(_, template): &&(Text, Template)| template.names().any(|name| name.covers(place, steps));
        texts.iter().filter(has).map(|(text, _)| *text).collect::<Vec<_>>()
    };
    let named_at = |place: Placeholder, steps: &[String]| {
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        named(place, &steps)
    };
    let flat = |shown_in: DetailPlace, place: Placeholder, name: &str, value: &str| RequestDetail {
        named_in: named(place, &[name]),
        ..text(shown_in, step_of(name), value)
    };
    let mut details = Vec::new();
    details.extend(fields.path.iter().map(|(name, value)| flat(DetailPlace::Path, Placeholder::Path, name, value)));
    details.extend(fields.query.iter().map(|(name, value)| flat(DetailPlace::Query, Placeholder::Query, name, value)));
    details
        .extend(fields.headers.iter().map(|(name, value)| flat(DetailPlace::Header, Placeholder::Header, name, value)));
    if says_something(&request.content_type) {
        details.push(text(DetailPlace::ContentType, String::new(), &request.content_type));
    }
    match &fields.body {
        BodyFields::Empty => {}
        BodyFields::Form(pairs) => {
            details.extend(pairs.iter().map(|(name, value)| flat(DetailPlace::Body, Placeholder::Body, name, value)));
        }
        BodyFields::Json(root) => details.extend(leaves(root).into_iter().map(|(steps, leaf)| RequestDetail {
            named_in: named_at(Placeholder::Body, &steps),
            ..of_leaf(DetailPlace::Body, &steps, leaf)
        })),
        BodyFields::Opaque => details.push(opaque(request)),
    }
    details
}

/// Every argument of a tool.
pub fn of_arguments(arguments: &JsonMember) -> Vec<RequestDetail> {
    match arguments {
        JsonMember::Object(members) if members.is_empty() => Vec::new(),
        root => leaves(root).iter().map(|(steps, leaf)| of_leaf(DetailPlace::Argument, steps, leaf)).collect(),
    }
}

/// The leaf members, each with its path.
pub(crate) fn leaves(root: &JsonMember) -> Vec<(Vec<String>, &JsonMember)> {
    let mut found = Vec::new();
    walk(root, &mut Vec::new(), &mut found);
    found
}

fn walk<'a>(member: &'a JsonMember, way: &mut Vec<String>, found: &mut Vec<(Vec<String>, &'a JsonMember)>) {
    let mut down = |step: String, member: &'a JsonMember| {
        way.push(step);
        walk(member, way, found);
        way.pop();
    };
    match member {
        JsonMember::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(name, member)| down(name.clone(), member));
        }
        JsonMember::List(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(at, member)| down(at.to_string(), member));
        }
        leaf => found.push((way.clone(), leaf)),
    }
}

pub(crate) fn of_leaf(place: DetailPlace, way: &[impl AsRef<str>], leaf: &JsonMember) -> RequestDetail {
    let name = way.iter().map(|step| step_of(step.as_ref())).collect::<Vec<_>>().join(".");
    match leaf {
        JsonMember::Text(value) => text(place, name, value),
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
