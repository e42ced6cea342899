//! What a person is asked about a request, rendered from its own bytes.

use super::{
    Fields, HttpRequest, Unreadable, amounts,
    fields::Body,
    json::{Member, quoted},
    shown::{shortened, shown},
    template::{Template, plain},
};
use crate::{project::decisions::is_tool, records::Confirmation};
use countersign_protocol::{
    aaep::event::{Summaries, YesNo},
    project::{Described, Route},
};
use serde_json::{Map, Value, json};

/// What is announced for a route whose action cannot be a tool's name.
const TOOL: &str = "gateway_call";
const CONSEQUENCE: &str = "The service receives exactly this request, once.";

/// How many characters a text and each value in it may have. Together they stay within an event (AAEP 3.7), whatever
/// the script.
struct Room {
    text: usize,
    value: usize,
}

const TERSE: Room = Room { text: 500, value: 80 };
const SENTENCE: Room = Room { text: 1000, value: 200 };
const NORMAL: Room = Room { text: 2000, value: 200 };
const DETAILED: Room = Room { text: 8000, value: 4000 };

/// The question about a request: in the owner's words where the route has some, else in plain ones about the request.
pub fn question(route: &Route, request: &HttpRequest, fields: &Fields) -> Result<Confirmation, Unreadable> {
    let texts = match &route.describe {
        Some(described) => in_the_owners_words(described, request, fields)?,
        None => in_plain_words(request, fields),
    };
    Ok(Confirmation {
        action: texts.action,
        consequence: texts.consequence,
        summaries: texts.summaries,
        extra_context: Some(context(route, request, fields)?),
        allowed_replies: vec![YesNo::Accept, YesNo::Reject],
        tool: announced(route),
    })
}

/// What is announced before a call by this route runs.
pub(crate) fn announced(route: &Route) -> String {
    if is_tool(&route.action) { route.action.clone() } else { TOOL.into() }
}

struct Texts {
    action: String,
    consequence: String,
    summaries: Summaries,
}

fn in_the_owners_words(said: &Described, request: &HttpRequest, fields: &Fields) -> Result<Texts, Unreadable> {
    let render = |text: &str, room: &Room| rendered(text, fields, room);
    let own = |text: &Option<String>, room: &Room| text.as_deref().map(|text| render(text, room)).transpose();
    let consequence = own(&said.consequence, &SENTENCE)?;
    let normal = match own(&said.normal, &NORMAL)? {
        Some(normal) => normal,
        None => [Some(render(&said.action, &SENTENCE)?), consequence.clone()].map(Option::unwrap_or_default).join(" "),
    };
    let normal = shortened(normal.trim(), NORMAL.text);
    let detailed = match own(&said.detailed, &DETAILED)? {
        Some(detailed) => detailed,
        // Nothing of the request is kept from whoever wants to see all of it.
        None => in_lines(&normal, request, fields),
    };
    let terse = own(&said.terse, &TERSE)?.map_or_else(|| render(&said.action, &TERSE), Ok)?;
    Ok(Texts {
        action: render(&said.action, &SENTENCE)?,
        consequence: consequence.unwrap_or_else(|| CONSEQUENCE.into()),
        summaries: Summaries { terse: Some(terse), normal: Some(normal), detailed: Some(detailed) },
    })
}

fn rendered(text: &str, fields: &Fields, room: &Room) -> Result<String, Unreadable> {
    Ok(shortened(&Template::parse(text)?.render(fields, room.value)?, room.text))
}

fn in_plain_words(request: &HttpRequest, fields: &Fields) -> Texts {
    let line = |room: &Room| shortened(&format!("{} {}", request.method, shown(&request.target, room.text)), room.text);
    let terse = shortened(&format!("{} {}", request.method, shown(request.path(), TERSE.text)), TERSE.text);
    let body = body_line(request, fields).map_or_else(|| "without a body".into(), |line| format!("with {line}"));
    let normal = shortened(&format!("{}, {body}", line(&SENTENCE)), NORMAL.text);
    let detailed = in_lines(&line(&SENTENCE), request, fields);
    Texts {
        action: line(&SENTENCE),
        consequence: CONSEQUENCE.into(),
        summaries: Summaries { terse: Some(terse), normal: Some(normal), detailed: Some(detailed) },
    }
}

/// The first line, then every member of the request on a line of its own. A value has no line ends left, so none can
/// look like another member.
fn in_lines(first: &str, request: &HttpRequest, fields: &Fields) -> String {
    let of = |place: &str, (name, value): (&String, &String)| format!("{place} {}", member_line(name, value));
    let mut lines = vec![first.to_owned()];
    lines.extend(fields.path.iter().map(|(name, value)| of("path", (name, value))));
    lines.extend(fields.query.iter().map(|(name, value)| of("query", (name, value))));
    lines.extend(fields.headers.iter().map(|header| of("header", header)));
    match &fields.body {
        Body::Json(Member::Object(members)) => {
            lines.extend(members.iter().map(|(name, value)| member_line(name, &plain(value))));
        }
        Body::Json(other) => lines.push(member_line("body", &plain(other))),
        Body::Form(pairs) => lines.extend(pairs.iter().map(|(name, value)| member_line(name, value))),
        Body::Empty | Body::Opaque => lines.extend(body_line(request, fields)),
    }
    shortened(&lines.join("\n"), DETAILED.text)
}

/// A name that could be taken for a name and a value stands in quotes.
fn member_line(name: &str, value: &str) -> String {
    let plain =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']'));
    let name = if plain { name.to_owned() } else { quoted(name) };
    format!("{}: {}", shown(&name, SENTENCE.value), shown(value, DETAILED.value))
}

/// What can be said about a body whoever reads it.
fn body_line(request: &HttpRequest, fields: &Fields) -> Option<String> {
    let bytes = request.body.len();
    let kind = if request.content_type.is_empty() { "an unnamed type" } else { &request.content_type };
    let size = format!("{bytes} {} of {}", if bytes == 1 { "byte" } else { "bytes" }, shown(kind, SENTENCE.value));
    match fields.body {
        Body::Empty => None,
        Body::Json(_) | Body::Form(_) => Some(size),
        Body::Opaque => Some(format!("{size}, SHA-256 {}", request.body_sha256())),
    }
}

fn context(route: &Route, request: &HttpRequest, fields: &Fields) -> Result<Map<String, Value>, Unreadable> {
    let members = [
        ("method", json!(request.method)),
        ("target", json!(shown(&request.target, SENTENCE.text))),
        ("content_type", json!(shown(&request.content_type, SENTENCE.value))),
        ("body_bytes", json!(request.body.len())),
        ("body_sha256", json!(request.body_sha256())),
        ("values", json!(amounts::read(route, fields)?)),
    ];
    Ok(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
