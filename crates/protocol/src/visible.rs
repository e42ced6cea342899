//! Displays texts of others safely: nothing invisible, no reordering of the sentence, and marked as theirs.

use serde::{Deserialize, Serialize};
use unicode_security::{MixedScript, skeleton};

/// A word with letters that look like others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Lookalike {
    /// As in the value.
    pub word: String,
    /// The apparent reading, if it is plain Latin letters and digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_as: Option<String>,
    /// The letters in question, by code point: `U+0430`.
    pub characters: Vec<String>,
}

/// A text with every character made visible that would be invisible or affect its neighbours: pictures for controls
/// (`␊`), `[U+XXXX]` for the rest. Nothing is omitted.
pub fn visible(text: &str) -> String {
    escape(text, |_, _| false)
}

/// A value in a sentence: between “ and ”, which it can neither contain nor imitate; lookalike letters are followed by
/// their code point; right-to-left text is isolated (U+2068, U+2069).
pub fn quoted(value: &str) -> String {
    let foreign = foreign_letters(value);
    let mut inner = String::new();
    let mut rest = value;
    for (at, letter) in foreign {
        let end = at + letter.len_utf8();
        let begin = value.len() - rest.len();
        inner += &escape(value.get(begin..end).unwrap_or_default(), is_closing);
        inner += &number(letter);
        rest = value.get(end..).unwrap_or_default();
    }
    inner += &escape(rest, is_closing);
    let bounded = if inner.chars().any(needs_bounds) { format!("\u{2068}{inner}\u{2069}") } else { inner };
    format!("“{bounded}”")
}

/// The words of a value that are easily misread.
pub fn lookalikes(value: &str) -> Vec<Lookalike> {
    let found = words(value).filter_map(|(_, word)| {
        let letters = suspects(word);
        let reads_as = Some(as_read(word)).filter(|read| read.is_ascii());
        let number = |c: &char| format!("U+{:04X}", u32::from(*c));
        (!letters.is_empty()).then(|| Lookalike {
            word: visible(word),
            reads_as,
            characters: letters.iter().map(|(_, c)| number(c)).collect(),
        })
    });
    found.collect()
}

/// The apparent reading of a word. Plain letters are kept: the skeleton of m is rn.
fn as_read(word: &str) -> String {
    let read = |c: char| if c.is_ascii() { c.to_string() } else { skeleton(c.encode_utf8(&mut [0; 4])).collect() };
    word.chars().map(read).collect()
}

/// Whether a character other than a space is invisible or only affects others.
pub fn is_unseen(c: char) -> bool {
    c.is_control() || is_bidi_control(c) || is_invisible(c)
}

/// Whether a character is written from right to left, or is a joiner.
pub fn needs_bounds(c: char) -> bool {
    matches!(c,
        '\u{0590}'..='\u{08ff}' | '\u{200c}' | '\u{200d}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// `also` receives a character and the one before it.
fn escape(text: &str, also: fn(Option<char>, char) -> bool) -> String {
    let mut out = String::new();
    let mut before = None;
    let mut all = text.chars().peekable();
    while let Some(c) = all.next() {
        match c {
            // The pictures of controls: ␊ for a line feed.
            '\0'..='\x1f' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
            '\x7f' => out.push('\u{2421}'),
            c if is_unseen(c) || is_idle_joiner(before, c, all.peek().copied()) || also(before, c) => out += &number(c),
            c => out.push(c),
        }
        before = Some(c);
    }
    out
}

fn number(c: char) -> String {
    format!("[U+{:04X}]", u32::from(c))
}

fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Zero-width, or looks like a line break or a space without being one.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}'
        | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Joiners and variation selectors have a function in Persian, Indic scripts and emoji; beside Latin letters they are
/// hidden.
fn is_idle_joiner(before: Option<char>, c: char, after: Option<char>) -> bool {
    let beyond_latin = |c: Option<char>| c.is_some_and(|c| c >= '\u{0590}');
    match c {
        '\u{200c}' | '\u{200d}' => !(beyond_latin(before) && beyond_latin(after)),
        '\u{fe00}'..='\u{fe0f}' => !beyond_latin(before),
        _ => false,
    }
}

/// Characters that could pass for the closing quote: other double quotes, and single ones in a row.
fn is_closing(before: Option<char>, c: char) -> bool {
    let single = |c: char| {
        matches!(c, '\'' | '`' | '´' | '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2035}' | '\u{02b9}' | '\u{02bc}')
    };
    let double = matches!(c,
        '"' | '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{2034}' | '\u{2036}' | '\u{2037}' | '\u{02ba}' | '\u{02dd}'
        | '\u{02ee}' | '\u{275d}' | '\u{275e}' | '\u{2e42}' | '\u{301d}'..='\u{301f}' | '\u{ff02}'
        | '\u{1f676}'..='\u{1f678}');
    double || (single(c) && before.is_some_and(single))
}

/// The words of a value with their offsets.
fn words(value: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    value.split_inclusive(|c: char| !c.is_alphanumeric()).map(move |part| {
        let begin = at;
        at += part.len();
        (begin, part.trim_end_matches(|c: char| !c.is_alphanumeric()))
    })
}

fn foreign_letters(value: &str) -> Vec<(usize, char)> {
    if value.is_ascii() {
        return Vec::new();
    }
    words(value).flat_map(|(begin, word)| suspects(word).into_iter().map(move |(at, c)| (begin + at, c))).collect()
}

/// The letters of a word that look like others: it mixes scripts, or reads as Latin without being Latin.
fn suspects(word: &str) -> Vec<(usize, char)> {
    if word.is_ascii() {
        return Vec::new();
    }
    let mixes = !word.is_single_script();
    if !mixes && !skeleton(word).all(|c| c.is_ascii()) {
        return Vec::new();
    }
    let foreign = || word.char_indices().filter(|(_, c)| !c.is_ascii());
    let imitates = |(_, c): &(usize, char)| skeleton(c.encode_utf8(&mut [0; 4])).all(|read| read.is_ascii());
    let imitating: Vec<(usize, char)> = foreign().filter(imitates).collect();
    if imitating.is_empty() { foreign().collect() } else { imitating }
}

#[cfg(test)]
mod tests;
