//! The arguments of a plan's step with a route, in the normal form of its calls.

use super::arguments::{Arguments, content_type, member};
use crate::held::{JsonMember, Media, media, shown};
use countersign_protocol::{hash::Digest, project::Route};
use serde_json::{Map, Value};

const JSON: &str = "application/json";

/// Why no call could ever match a step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadStep {
    #[error("{0} is no part of a request: use path, query, headers, content_type, body or body_sha256")]
    Unknown(String),
    #[error("{0} must be an object of texts, such as {{\"limit\": \"10\"}}")]
    NotTexts(&'static str),
    #[error("path.{0} is missing: it is part of the route's path")]
    NotGiven(String),
    #[error("path.{0} is not part of the route's path")]
    NotInPath(String),
    #[error("headers.{0} is not among the headers that the route passes on")]
    NotAHeader(String),
    #[error("headers.{0} is given twice")]
    HeaderTwice(String),
    #[error("content_type must be a media type in a text, such as application/json")]
    ContentType,
    #[error("a body that is neither JSON nor a form is given by body_sha256, its SHA-256 in hex")]
    NotReadable,
    #[error(
        "body_sha256 is for a body that is neither JSON nor a form, in 64 lower-case hex digits, and instead of body"
    )]
    Digest,
}

impl Arguments {
    /// A step's arguments for calls by this route: `{path, query, headers, content_type, body}`, all optional except
    /// the names in the route's path.
    pub fn of_step(route: &Route, arguments: &Map<String, Value>) -> Result<Self, BadStep> {
        let known = ["path", "query", "headers", "content_type", "body", "body_sha256"];
        if let Some(name) = arguments.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(BadStep::Unknown(shown(name, 64)));
        }
        let mut members = vec![
            ("path".to_owned(), JsonMember::Object(path(route, arguments)?)),
            ("query".to_owned(), JsonMember::Object(texts(arguments, "query")?)),
            ("headers".to_owned(), JsonMember::Object(headers(route, arguments)?)),
        ];
        members.extend(body(arguments)?);
        Ok(Self::of_member(JsonMember::Object(members)))
    }
}

fn texts(arguments: &Map<String, Value>, name: &'static str) -> Result<Vec<(String, JsonMember)>, BadStep> {
    let object = match arguments.get(name) {
        None => return Ok(Vec::new()),
        Some(Value::Object(object)) => object,
        Some(_) => return Err(BadStep::NotTexts(name)),
    };
    let text = |(known, value): (&String, &Value)| match value {
        Value::String(text) => Ok((known.clone(), JsonMember::Text(text.clone()))),
        _ => Err(BadStep::NotTexts(name)),
    };
    object.iter().map(text).collect()
}

fn path(route: &Route, arguments: &Map<String, Value>) -> Result<Vec<(String, JsonMember)>, BadStep> {
    let given = texts(arguments, "path")?;
    let names: Vec<_> = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
    if let Some(name) = names.iter().find(|name| !given.iter().any(|(known, _)| known == *name)) {
        return Err(BadStep::NotGiven((*name).to_owned()));
    }
    match given.iter().find(|(known, _)| !names.contains(&known.as_str())) {
        Some((name, _)) => Err(BadStep::NotInPath(shown(name, 64))),
        None => Ok(given),
    }
}

/// Names in lower case, as in calls.
fn headers(route: &Route, arguments: &Map<String, Value>) -> Result<Vec<(String, JsonMember)>, BadStep> {
    let mut headers: Vec<(String, JsonMember)> = Vec::new();
    for (name, value) in texts(arguments, "headers")? {
        let name = name.to_ascii_lowercase();
        if !route.headers.iter().any(|listed| listed.eq_ignore_ascii_case(&name)) {
            return Err(BadStep::NotAHeader(shown(&name, 64)));
        }
        if headers.iter().any(|(known, _)| *known == name) {
            return Err(BadStep::HeaderTwice(name));
        }
        headers.push((name, value));
    }
    Ok(headers)
}

/// The body and its type; the default type of a body is JSON.
fn body(arguments: &Map<String, Value>) -> Result<Vec<(String, JsonMember)>, BadStep> {
    let kind = match (arguments.get("content_type"), arguments.get("body")) {
        (Some(Value::String(kind)), _) => kind.as_str(),
        (Some(_), _) => return Err(BadStep::ContentType),
        (None, Some(_)) => JSON,
        (None, None) => "",
    };
    let body = match (arguments.get("body"), arguments.get("body_sha256"), media(kind)) {
        (_, _, Err(_)) => return Err(BadStep::ContentType),
        (None, None, _) => None,
        (Some(body), None, Ok(Media::Json)) => Some(("body".to_owned(), member(body))),
        (Some(_), None, Ok(Media::Form)) => Some(("body".to_owned(), JsonMember::Object(texts(arguments, "body")?))),
        (Some(_), None, Ok(Media::Other)) => return Err(BadStep::NotReadable),
        (None, Some(Value::String(hex)), Ok(Media::Other)) if is_digest(hex) => {
            Some(("body_sha256".to_owned(), JsonMember::Text(hex.clone())))
        }
        _ => return Err(BadStep::Digest),
    };
    let kind = (!kind.is_empty()).then(|| ("content_type".to_owned(), JsonMember::Text(content_type(kind))));
    Ok(kind.into_iter().chain(body).collect())
}

fn is_digest(hex: &str) -> bool {
    Digest::from_hex(hex).is_some_and(|digest| digest.hex() == hex)
}
