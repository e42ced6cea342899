//! The session cookie: host-only, secure, inaccessible to scripts, never sent with another site's form.

use http::{HeaderMap, HeaderValue, header};

pub(crate) const NAME: &str = "__Host-countersign";

/// The cookie's value in a request, if it is present exactly once.
pub(crate) fn read(headers: &HeaderMap) -> Option<String> {
    let mut found = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().strip_prefix(NAME)?.strip_prefix('='));
    let first = found.next()?;
    found.next().is_none().then(|| first.to_owned())
}

/// Sets the cookie; a lifetime of zero deletes it.
pub(crate) fn set(secret: &str, lifetime_s: i64) -> Option<HeaderValue> {
    let text = format!("{NAME}={secret}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={lifetime_s}");
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}
