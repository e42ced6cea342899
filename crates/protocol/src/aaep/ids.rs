//! The syntax of AAEP's ids and timestamps (AAEP 3.2, 6.2.1, 11.1).

use crate::time::UnixMillis;

pub fn is_event_id(text: &str) -> bool {
    has_tail(text, "evt_")
}

pub fn is_session_id(text: &str) -> bool {
    has_tail(text, "sess_")
}

/// A name to echo, never a proof of anything (AAEP 6.2.4).
pub fn is_reply_token(text: &str) -> bool {
    has_tail(text, "rpl_")
}

pub fn is_subscription_id(text: &str) -> bool {
    has_tail(text, "sub_")
}

pub fn is_call_id(text: &str) -> bool {
    has_tail(text, "call_")
}

pub fn is_output_id(text: &str) -> bool {
    has_tail(text, "out_")
}

/// The prefix and 1 to 64 ASCII letters and digits; no trailing newline.
fn has_tail(text: &str, prefix: &str) -> bool {
    let sound = |tail: &str| (1..=64).contains(&tail.len()) && tail.bytes().all(|b| b.is_ascii_alphanumeric());
    text.strip_prefix(prefix).is_some_and(sound)
}

/// A language tag by the pattern of the protocol, which is wider than BCP 47.
pub fn is_language_tag(text: &str) -> bool {
    let mut parts = text.split('-');
    let sized = |part: &str| (1..=8).contains(&part.len());
    parts.next().is_some_and(|first| sized(first) && first.bytes().all(|b| b.is_ascii_alphabetic()))
        && parts.all(|part| sized(part) && part.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// `1.0.0`, with an optional pre-release after a hyphen.
pub fn is_version(text: &str) -> bool {
    let (core, pre) = text.split_once('-').map_or((text, None), |(core, pre)| (core, Some(pre)));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let tail = |pre: &str| !pre.is_empty() && pre.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-');
    core.split('.').count() == 3 && core.split('.').all(digits) && pre.is_none_or(tail)
}

/// An event's timestamp: `T` and `Z` or an offset, and no fraction, milliseconds or microseconds (AAEP 3.2.5).
pub fn parse_timestamp(text: &str) -> Option<UnixMillis> {
    let parts = Parts::of(text)?;
    let precise = matches!(parts.fraction.len(), 0 | 3 | 6) && !text.contains(['t', 'z']);
    if precise { parts.moment() } else { None }
}

/// The timestamp in a reply: any date-time of RFC 3339, since clients use the format of their language (AAEP 6.3.1).
pub fn parse_date_time(text: &str) -> Option<UnixMillis> {
    Parts::of(text)?.moment()
}

/// A date-time of RFC 3339, split for checking.
struct Parts<'t> {
    seconds: &'t str,
    fraction: &'t str,
    offset: &'t str,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let (seconds, rest) = text.split_at_checked("0000-00-00T00:00:00".len())?;
        let (fraction, offset) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
            None => ("", rest),
        };
        let sound = fits(&seconds.replace('t', "T"), "0000-00-00T00:00:00")
            && (rest.starts_with('.') != fraction.is_empty())
            && is_offset(offset);
        sound.then_some(Self { seconds, fraction, offset })
    }

    fn moment(&self) -> Option<UnixMillis> {
        let millis = format!("{:0<3.3}", self.fraction);
        UnixMillis::parse_rfc3339(&format!("{}.{millis}{}", self.seconds, self.offset))
    }
}

fn is_offset(text: &str) -> bool {
    let within = |range: std::ops::Range<usize>, end: &str| text.get(range).is_some_and(|part| part < end);
    matches!(text, "Z" | "z")
        || ((fits(text, "+00:00") || fits(text, "-00:00")) && within(1..3, "24") && within(4..6, "60"))
}

/// Whether the text has a digit for each `0` of the pattern, and the same character everywhere else.
fn fits(text: &str, pattern: &str) -> bool {
    let fits = |(b, p): (u8, u8)| if p == b'0' { b.is_ascii_digit() } else { b == p };
    text.len() == pattern.len() && text.bytes().zip(pattern.bytes()).all(fits)
}

/// An absolute URI by RFC 3986 with any scheme. Nothing here is ever fetched.
pub fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let sound = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    sound && is_hierarchy(path) && has_uri_characters(query, b"/?") && has_uri_characters(fragment, b"/?")
}

/// The part between scheme and query: an optional authority, then a path.
fn is_hierarchy(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("//") else { return has_uri_characters(text, b"/") };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    has_uri_characters(user, b"") && is_host(host) && has_uri_characters(path, b"/")
}

/// A name or an address with an optional port; an IPv6 address is in brackets.
fn is_host(text: &str) -> bool {
    let digits = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
    if let Some(rest) = text.strip_prefix('[') {
        let Some((address, after)) = rest.split_once(']') else { return false };
        return address.parse::<std::net::Ipv6Addr>().is_ok()
            && (after.is_empty() || after.strip_prefix(':').is_some_and(digits));
    }
    let (name, port) = text.split_once(':').unwrap_or((text, ""));
    !name.contains('@') && has_uri_characters(name, b"") && digits(port)
}

/// Only characters that a URI may contain; a percent sign starts two hex digits.
fn has_uri_characters(text: &str, more: &[u8]) -> bool {
    let mut pieces = text.split('%');
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&b) || more.contains(&b);
    let escaped = |piece: &str| piece.len() >= 2 && piece.bytes().take(2).all(|b| b.is_ascii_hexdigit());
    pieces.next().is_some_and(|first| first.bytes().all(plain))
        && pieces.all(|piece| escaped(piece) && piece.bytes().all(plain))
}

#[cfg(test)]
mod tests;
