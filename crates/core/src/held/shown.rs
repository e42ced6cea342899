//! Values as people read them: nothing invisible, nothing that turns the sentence round, and honest about what is left
//! out.

/// A value as plain text: at most `most` of its characters, and a note about the rest.
///
/// Whatever would not be seen, or would change how the words around it are seen, is made visible; text that runs from
/// right to left stays within its own bounds (U+2068, U+2069).
pub(crate) fn shown(value: &str, most: usize) -> String {
    let (begin, note) = cut(value, most);
    let visible: String = begin.chars().map(|c| Visible(c).to_string()).collect();
    let bounded = if visible.chars().any(needs_bounds) { format!("\u{2068}{visible}\u{2069}") } else { visible };
    bounded + &note
}

/// A whole text, or its beginning and how much is missing.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let (begin, note) = cut(text, most);
    // Bounds that were opened are closed, or the note would stand within them.
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

struct Visible(char);

impl std::fmt::Display for Visible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            // The pictures of controls: ␊ for a line feed.
            c @ '\0'..='\x1f' => write!(f, "{}", char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
            '\x7f' => f.write_str("\u{2421}"),
            c if is_unseen(c) => write!(f, "[U+{:04X}]", u32::from(c)),
            c => write!(f, "{c}"),
        }
    }
}

/// Whether nobody sees a character, other than a blank, or sees only what it does to others.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control() || is_bidi_control(c) || is_invisible(c)
}

fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Takes no room, or looks like a line's end or a space that is none. The joiners of Persian, Indic and emoji are spared.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}'
        | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Letters that run from right to left, and joiners.
fn needs_bounds(c: char) -> bool {
    matches!(c,
        '\u{0590}'..='\u{08ff}' | '\u{200c}' | '\u{200d}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}
