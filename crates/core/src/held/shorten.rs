//! Shortens texts and states the omitted length.

use countersign_protocol::visible::{needs_bounds, visible};

/// A value as plain text: at most `most` of its characters, and a note about the rest.
///
/// Right-to-left text is isolated (U+2068, U+2069).
pub(crate) fn shown(value: &str, most: usize) -> String {
    let (begin, note) = cut(value, most);
    let visible = visible(begin);
    let bounded = if visible.chars().any(needs_bounds) { format!("\u{2068}{visible}\u{2069}") } else { visible };
    bounded + &note
}

/// A whole text, or its beginning and the number of omitted characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let (begin, note) = cut(text, most);
    // Open isolates are closed, or the note would be inside them.
    let open = begin.matches('\u{2068}').count().saturating_sub(begin.matches('\u{2069}').count());
    format!("{begin}{}{note}", "\u{2069}".repeat(open))
}

fn cut(text: &str, most: usize) -> (&str, String) {
    let count = text.chars().count();
    if count <= most {
        return (text, String::new());
    }
    let note = |left: usize| format!("… {left} more characters");
    let kept = most.saturating_sub(note(count).chars().count());
    let end = text.char_indices().nth(kept).map_or(text.len(), |(at, _)| at);
    (text.get(..end).unwrap_or_default(), note(count - kept))
}
