//! Which route a request is for. Paths are compared as they arrived: nothing is decoded, nothing normalised,
//! so that what was matched is what the upstream sees.

use countersign_protocol::project::{ProjectDocument, Route};

/// The route of a method and raw path. A literal segment wins over a named one, the leftmost first, so that the
/// order in which routes are written decides nothing.
pub fn matching_route<'a>(document: &'a ProjectDocument, method: &str, path: &str) -> Option<&'a Route> {
    let fits = |route: &&Route| route.method == method && matches(&route.path, path);
    document.routes.iter().filter(fits).max_by_key(|route| literal_segments(&route.path))
}

fn matches(template: &str, path: &str) -> bool {
    if has_dubious_segment(path) {
        return false;
    }
    let mut wanted = template.split('/');
    let mut given = path.split('/');
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(w), Some(g)) if is_name(w) && !g.is_empty() => {}
            (Some(w), Some(g)) if w == g => {}
            _ => return false,
        }
    }
}

/// Segments that servers resolve differently (`..`, encoded slashes and dots, backslashes) match nothing.
fn has_dubious_segment(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let encoded = ["%2f", "%5c", "%2e", "%00"].iter().any(|e| lower.contains(e));
    encoded || path.contains('\\') || path.contains(';') || path.split('/').any(|s| s == "." || s == "..")
}

pub(super) fn is_template(template: &str) -> bool {
    let segment = |s: &str| is_name(s) || !s.contains(['{', '}', '?', '#']);
    template.starts_with('/') && template.split('/').all(segment)
}

/// The template with its names taken out: two routes of one shape would compete.
pub(super) fn shape(template: &str) -> String {
    let segments: Vec<&str> = template.split('/').map(|s| if is_name(s) { "{}" } else { s }).collect();
    segments.join("/")
}

fn is_name(segment: &str) -> bool {
    segment.len() > 2 && segment.starts_with('{') && segment.ends_with('}')
}

fn literal_segments(template: &str) -> Vec<bool> {
    template.split('/').map(|s| !is_name(s)).collect()
}
