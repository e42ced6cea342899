//! Durations: parsed from common notation and printed in words.

use countersign_protocol::duration::parse_secs;

/// `90s`, `30m`, `2h`, `1d`, or seconds without a unit.
pub(crate) fn seconds(text: &str) -> Result<i64, String> {
    let plain = text.parse::<i64>().ok().filter(|seconds| *seconds > 0);
    plain.or_else(|| parse_secs(text)).ok_or_else(|| "a time reads 90s, 30m, 2h or 1d".to_owned())
}

/// In words, so that a screen reader does not read it as a time of day.
pub(crate) fn in_words(seconds: i64) -> String {
    let part = |n: i64, one: &str| match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {one}s")),
    };
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let parts = [part(hours, "hour"), part(minutes, "minute"), part(rest, "second").filter(|_| hours == 0)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "none".into() } else { parts.join(" ") }
}
