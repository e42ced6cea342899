//! `Prefer: wait=N` (RFC 7240): how long a caller prefers to wait for an approval before it is told to come back.

use http::HeaderMap;

/// An upper bound for any preference: some proxies on the way give up after a minute.
pub const LONGEST_WAIT_S: u64 = 55;

/// The first `wait` counts (RFC 7240, 2). An unreadable preference is ignored and is no error.
pub fn wait_s(headers: &HeaderMap) -> Option<u64> {
    let values = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    let wait = values.flat_map(|value| value.split(',')).find_map(wait)?;
    wait.parse().ok().map(|seconds: u64| seconds.min(LONGEST_WAIT_S))
}

/// The value of one preference, if it is `wait`. Parameters behind a semicolon do not matter for it.
fn wait(preference: &str) -> Option<&str> {
    let (name, value) = preference.split(';').next()?.split_once('=')?;
    let value = value.trim();
    let bare = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    name.trim().eq_ignore_ascii_case("wait").then_some(bare)
}
