//! Paths that an enforcement point serves itself. No route of a project may match one of them, or the upstream could
//! impersonate the protocol's endpoints.

/// `*` matches any one segment, `**` one or more.
const RESERVED: &[&str] = &[
    "/.countersign/**",
    "/.well-known/agent-auth.json",
    "/.well-known/agent-auth.txt",
    "/.well-known/agent-identity.json",
    "/.well-known/agent-jwks.json",
    "/agent/**",
    "/projects/*/agent/**",
];

/// The reserved pattern that a raw path matches.
pub fn reserved(path: &str) -> Option<&'static str> {
    RESERVED.iter().copied().find(|pattern| matches(pattern, path, |_| false))
}

/// The reserved pattern that shares at least one path with a route's template.
pub fn overlaps_reserved(template: &str) -> Option<&'static str> {
    let is_name = |segment: &str| segment.starts_with('{') && segment.ends_with('}');
    RESERVED.iter().copied().find(|pattern| matches(pattern, template, is_name))
}

fn matches(pattern: &str, path: &str, is_any: impl Fn(&str) -> bool) -> bool {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some("**"), Some(_)) => return true,
            (Some(wanted), Some(given)) if wanted == "*" || wanted == given || is_any(given) => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests;
