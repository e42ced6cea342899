//! The paths of a route's probe and of its cancel endpoint, filled in from the call (R-3, R-6, AAP 17.7).

use super::{
    BadTemplate, Fields,
    effect::{escaped, one_spelling, value},
    json::{JsonMember, read},
    request::HttpRequest,
    template::{Name, Template, TemplatePart},
};
use crate::project::is_plain_path;
use countersign_protocol::project::{Route, RouteCancel, RouteProbe};

/// The most bytes of a path with its query.
const MAX_PATH: usize = 2048;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadProbePath {
    #[error(transparent)]
    Template(#[from] BadTemplate),
    #[error(
        "it must be a path at the route's own upstream, such as /transfers/{{body.reference}}, without //, .., ; or #"
    )]
    NotAPath,
    #[error("a name in braces must be a whole segment of the path: /transfers/{{body.reference}}")]
    PartOfSegment,
    #[error(
        "after ? come pairs NAME=VALUE, joined by &; a name in braces must be a whole value: \
         ?reference={{body.reference}}"
    )]
    NotAQuery,
}

/// Path and query of the probe for this request. None where the request lacks a named member, or has a value that would
/// make it a path of other segments: then nothing can be asked.
pub fn probe_path(probe: &RouteProbe, fields: &Fields) -> Option<String> {
    filled(&Template::parse(&probe.path).ok()?, |name| value(name, fields).ok().map(|value| escaped(&value)))
}

/// Path and query of a cancel endpoint. Names of the response stay in braces; everything else is filled in and escaped,
/// so the text is a template again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelPath(String);

impl CancelPath {
    /// Whether the path names a part of the request that is read only with its body.
    pub fn needs_whole_request(cancel: &RouteCancel) -> bool {
        let template = Template::parse(&cancel.path).ok();
        template.is_some_and(|template| template.names().any(|name| !name.is_in_target() && !name.is_in_response()))
    }

    /// None as for a probe. `request` is the whole request where it is needed.
    pub fn of_call(route: &Route, target: (&str, Option<&str>), request: Option<&HttpRequest>) -> Option<Self> {
        Self::of_endpoint(route.cancel.as_ref()?, route, target, request)
    }

    /// The same for one of the endpoints of a route.
    pub fn of_endpoint(
        endpoint: &RouteCancel,
        route: &Route,
        target: (&str, Option<&str>),
        request: Option<&HttpRequest>,
    ) -> Option<Self> {
        let fields = match request {
            Some(request) => Fields::read(route, request),
            None => Fields::of_target(route, target.0, target.1),
        };
        Self::of_fields(endpoint, &fields.ok()?)
    }

    pub fn of_fields(cancel: &RouteCancel, fields: &Fields) -> Option<Self> {
        let template = Template::parse(&cancel.path).ok()?;
        let part = |name: &Name| match name.is_in_response() {
            true => Some(format!("{{{name}}}")),
            false => value(name, fields).ok().map(|value| escaped(&value)),
        };
        filled(&template, part).map(Self)
    }

    pub fn needs_response(&self) -> bool {
        self.0.contains('{')
    }

    /// The complete path; `response` is the body of the response where it is needed.
    pub fn complete(&self, response: Option<&[u8]>) -> Option<String> {
        if !self.needs_response() {
            return Some(self.0.clone());
        }
        let body: JsonMember = read(response?).ok()?;
        let part = |name: &Name| one_spelling(name.value_in(&body)?).map(|value| escaped(&value));
        filled(&Template::parse(&self.0).ok()?, part)
    }
}

fn filled(template: &Template, name: impl Fn(&Name) -> Option<String>) -> Option<String> {
    let part = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => Some(text.clone()),
        TemplatePart::Name(named) => name(named),
    };
    let filled: String = template.parts.iter().map(part).collect::<Option<_>>()?;
    let path = filled.split_once('?').map_or(filled.as_str(), |(path, _)| path);
    // A name of the response that is still open will be one escaped segment.
    let path = path.replace(['{', '}'], "");
    (filled.len() <= MAX_PATH && is_plain_path(&path)).then_some(filled)
}

/// Whether every value of a request leaves the path and the members of the query as they are written.
pub fn check_probe_path(text: &str, route: &Route) -> Result<(), BadProbePath> {
    let template = Template::parse(text)?;
    template.fits(route)?;
    check_path(&template)
}

/// The same for a cancel endpoint, whose path may name members of the response.
pub fn check_cancel_path(text: &str, route: &Route) -> Result<(), BadProbePath> {
    let template = Template::parse(text)?;
    template.names().filter(|name| !name.is_in_response()).try_for_each(|name| name.fits(route))?;
    check_path(&template)
}

fn check_path(template: &Template) -> Result<(), BadProbePath> {
    const NAME: &str = "{}";
    let mut shape = String::new();
    for part in &template.parts {
        match part {
            TemplatePart::Text(text) if text.contains(['{', '}']) => return Err(BadProbePath::NotAPath),
            TemplatePart::Text(text) => shape += text,
            TemplatePart::Name(_) => shape += NAME,
        }
    }
    let (path, query) = shape.split_once('?').map_or((shape.as_str(), None), |(path, query)| (path, Some(query)));
    if !path.starts_with('/') || !is_plain_path(path) || shape.len() > MAX_PATH {
        return Err(BadProbePath::NotAPath);
    }
    let whole_or_none = |text: &str| text == NAME || !text.contains(NAME);
    if !path.split('/').all(whole_or_none) {
        return Err(BadProbePath::PartOfSegment);
    }
    let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'#' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'|');
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, value)) => !name.is_empty() && !name.contains(NAME) && whole_or_none(value),
        None => !pair.is_empty() && !pair.contains(NAME),
    };
    let sound = |query: &str| query.bytes().all(plain) && query.split('&').all(pair);
    if query.is_none_or(sound) { Ok(()) } else { Err(BadProbePath::NotAQuery) }
}
