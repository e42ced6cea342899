//! The path of a route's probe, filled in from the approved request.

use super::{
    BadTemplate, Fields,
    effect::{escaped, value},
    template::{Template, TemplatePart},
};
use crate::project::is_plain_path;
use countersign_protocol::project::{Route, RouteProbe};

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
    let template = Template::parse(&probe.path).ok()?;
    let part = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => Some(text.clone()),
        TemplatePart::Name(name) => value(name, fields).ok().map(|value| escaped(&value)),
    };
    let filled: String = template.parts.iter().map(part).collect::<Option<_>>()?;
    let path = filled.split_once('?').map_or(filled.as_str(), |(path, _)| path);
    (filled.len() <= MAX_PATH && is_plain_path(path)).then_some(filled)
}

/// Whether every value of a request leaves the path and the members of the query as they are written.
pub fn check_probe_path(text: &str, route: &Route) -> Result<(), BadProbePath> {
    const NAME: &str = "{}";
    let template = Template::parse(text)?;
    template.fits(route)?;
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
