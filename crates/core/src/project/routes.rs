//! Matches requests to routes. Paths are compared as received, without decoding or normalisation, so that the upstream
//! sees exactly the matched path.
//!
//! Every call passes through here, so nothing is allocated.

use countersign_protocol::project::{ProjectDocument, Route};
use std::cmp::Ordering;

/// The route of a method and raw path. A literal segment wins over a named one, the leftmost first, so that the order
/// of routes is irrelevant.
pub fn matching_route<'a>(document: &'a ProjectDocument, method: &str, path: &str) -> Option<&'a Route> {
    if !is_plain_path(path) {
        return None;
    }
    let fits = |route: &&Route| route.method == method && matches(&route.path, path);
    document.routes.iter().filter(fits).max_by(|a, b| by_literal_segments(&a.path, &b.path))
}

fn matches(template: &str, path: &str) -> bool {
    let mut wanted = template.split('/');
    let mut given = path.split('/');
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(w), Some(g)) if w == g || (is_name(w) && !g.is_empty()) => {}
            _ => return false,
        }
    }
}

fn by_literal_segments(a: &str, b: &str) -> Ordering {
    let literal = |template| str::split(template, '/').map(|segment| !is_name(segment));
    literal(a).cmp(literal(b))
}

/// Whether all servers resolve a path to the same resource. A path with `..`, `//`, encoded slashes, dots or controls,
/// backslashes, parameters or invalid bytes matches nothing.
pub fn is_plain_path(path: &str) -> bool {
    let bytes = path.as_bytes();
    let plain = |(at, byte): (usize, &u8)| match byte {
        b'%' => is_plain_escape(bytes.get(at + 1), bytes.get(at + 2)),
        b'\\' | b';' | b'?' | b'#' => false,
        b'/' => bytes.get(at + 1) != Some(&b'/'),
        byte => byte.is_ascii_graphic(),
    };
    bytes.iter().enumerate().all(plain) && !path.split('/').any(|segment| matches!(segment, "." | ".."))
}

fn is_plain_escape(high: Option<&u8>, low: Option<&u8>) -> bool {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    match (digit(high), digit(low)) {
        (Some(high), Some(low)) => !matches!(high * 16 + low, 0..=0x1f | 0x7f | 0x2e | 0x2f | 0x5c),
        _ => false,
    }
}

pub(super) fn is_template(template: &str) -> bool {
    let literal = |segment: &str| !segment.contains(['{', '}']);
    template.starts_with('/')
        && is_plain_path(template)
        && template.split('/').all(|segment| is_name(segment) || literal(segment))
}

/// The template with its names blanked: two routes of one shape would conflict.
pub(super) fn shape(template: &str) -> String {
    let segments: Vec<&str> = template.split('/').map(|s| if is_name(s) { "{}" } else { s }).collect();
    segments.join("/")
}

/// The names in a template's segments.
pub(super) fn names(template: &str) -> impl Iterator<Item = &str> {
    template.split('/').filter(|segment| is_name(segment)).map(|segment| segment.trim_matches(['{', '}']))
}

fn is_name(segment: &str) -> bool {
    segment.len() > 2 && segment.starts_with('{') && segment.ends_with('}')
}
