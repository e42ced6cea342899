//! Media types of bodies.

use super::UnreadableRequest;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    Json,
    Form,
    /// Also without a content type.
    Other,
}

/// Refuses a content type that is not a single, plain media type: the service could interpret it differently.
pub(crate) fn media(content_type: &str) -> Result<Media, UnreadableRequest> {
    if content_type.is_empty() {
        return Ok(Media::Other);
    }
    let mut parts = content_type.split(';').map(|part| part.trim_matches([' ', '\t']));
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    let kind = kind(&essence).ok_or(UnreadableRequest::ContentType)?;
    let parameters = parts.map(parameter).collect::<Option<Vec<_>>>().ok_or(UnreadableRequest::ContentType)?;
    let mut charsets = parameters.iter().filter(|(name, _)| name == "charset").map(|(_, value)| value);
    match (kind, charsets.next(), charsets.next()) {
        (_, _, Some(_)) => Err(UnreadableRequest::ContentType),
        (Media::Json | Media::Form, Some(charset), None) if !charset.eq_ignore_ascii_case("utf-8") => {
            Err(UnreadableRequest::Charset)
        }
        _ => Ok(kind),
    }
}

fn kind(essence: &str) -> Option<Media> {
    let (kind, subtype) = essence.split_once('/')?;
    if !is_token(kind) || !is_token(subtype) {
        return None;
    }
    Some(match essence {
        "application/json" => Media::Json,
        "application/x-www-form-urlencoded" => Media::Form,
        _ if subtype.ends_with("+json") => Media::Json,
        _ => Media::Other,
    })
}

/// `name=value`, the value a token or a quoted string without escapes.
fn parameter(part: &str) -> Option<(String, &str)> {
    let (name, value) = part.split_once('=')?;
    let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let plain = |text: &str| text.bytes().all(|b| (b' '..0x7f).contains(&b) && !matches!(b, b'"' | b'\\' | b','));
    let sound = is_token(name) && inner.map_or_else(|| is_token(value), plain);
    sound.then(|| (name.to_ascii_lowercase(), inner.unwrap_or(value)))
}

/// A token of HTTP (RFC 9110, 5.6.2).
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}
