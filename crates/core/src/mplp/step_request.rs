//! Builds the HTTP request that a step with a route describes, and refuses it when the plan is written if the gateway
//! would refuse it before asking for approval.

use super::submit::BadAction;
use crate::{
    bounded::Arguments,
    held::{self, Fields, HttpRequest, JsonMember, Media, escaped, media, plain},
    project::matching_route,
};
use countersign_protocol::project::{ProjectDocument, Route};

/// Checks that the strict reader accepts the request, that it matches this route, and that every template of the route
/// can be rendered.
pub(super) fn check(document: &ProjectDocument, route: &Route, arguments: &Arguments) -> Result<(), BadAction> {
    let request = request(route, arguments);
    let read = Fields::read(route, &request)?;
    if matching_route(document, &request.method, request.path()).is_none_or(|found| found.id != route.id) {
        return Err(BadAction::OtherRoute(route.id.clone()));
    }
    // A body given by its digest is not known yet.
    let is_whole = arguments.get("body_sha256").is_none();
    if is_whole && Arguments::of_request(&request, &read) != *arguments {
        return Err(BadAction::OtherForm);
    }
    let fields = arguments.fields();
    held::question(route, &request, &fields)?;
    held::effect(route, &fields)?;
    held::resource(route, &fields)?;
    Ok(())
}

fn request(route: &Route, arguments: &Arguments) -> HttpRequest {
    let (path, query) = (path(route, arguments), pairs(arguments, "query"));
    HttpRequest {
        method: route.method.clone(),
        // The gateway sets the origin itself.
        origin: String::new(),
        target: if query.is_empty() { path } else { format!("{path}?{query}") },
        content_type: arguments.get("content_type").map(plain).unwrap_or_default(),
        content_encoding: String::new(),
        headers: texts(arguments, "headers").collect(),
        body: body(arguments).into_bytes(),
    }
}

fn path(route: &Route, arguments: &Arguments) -> String {
    let segment = |segment: &str| match segment.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
        Some(name) => texts(arguments, "path")
            .find(|(known, _)| known == name)
            .map(|(_, text)| escaped(&text))
            .unwrap_or_default(),
        None => segment.to_owned(),
    };
    route.path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

fn body(arguments: &Arguments) -> String {
    let kind = arguments.get("content_type").map(plain).unwrap_or_default();
    match (arguments.get("body"), media(&kind)) {
        (Some(_), Ok(Media::Form)) => pairs(arguments, "body"),
        (Some(body), _) => body.compact(),
        (None, _) => String::new(),
    }
}

fn pairs(arguments: &Arguments, part: &str) -> String {
    let pair = |(name, text): (String, String)| format!("{}={}", escaped(&name), escaped(&text));
    texts(arguments, part).map(pair).collect::<Vec<_>>().join("&")
}

/// The members of a part that holds only texts.
fn texts(arguments: &Arguments, part: &str) -> impl Iterator<Item = (String, String)> {
    let members = match arguments.root().get(part) {
        Some(JsonMember::Object(members)) => members.as_slice(),
        _ => &[],
    };
    members.iter().map(|(name, value)| (name.clone(), plain(value)))
}
