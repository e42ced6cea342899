//! Untrusted text, made safe to display.
//!
//! The templates escape HTML; this module handles the remaining characters that reverse, hide or overlay their
//! surroundings. They are shown by code point, and nothing is dropped. A [`PlainLine`] or [`Prose`] can only be made
//! through here.

use countersign_protocol::visible::visible;
use std::fmt;

/// One line, cut after a number of characters: a name, a path, a description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainLine(String);

/// Text of several paragraphs, never cut: a person must see it in full.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prose {
    text: String,
    /// Whether “ and ” enclose values from another author.
    quotes: bool,
}

/// A part of a text: either the author's own text, or another author's value between “ and ”.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub text: &'a str,
    pub is_value: bool,
}

const NAME: usize = 80;

impl PlainLine {
    pub fn cut(text: &str, most: usize) -> Self {
        let line = visible(&on_one_line(text));
        if line.chars().count() <= most {
            return Self(line);
        }
        let kept: String = line.chars().take(most.saturating_sub(1)).collect();
        Self(kept.trim_end().to_owned() + "…")
    }

    /// Every character of the text: for a name that the digest covers.
    pub fn exact(text: &str) -> Self {
        Self(visible(text))
    }

    /// A line of text rendered by Countersign; see [`Prose::rendered`].
    pub fn rendered(text: &str, most: usize) -> Self {
        Self::cut(&without_isolates(text), most)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Prose {
    pub fn new(text: &str) -> Self {
        let lines = text.replace("\r\n", "\n").replace('\t', " ");
        Self { text: lines.split('\n').map(visible).collect::<Vec<_>>().join("\n"), quotes: false }
    }

    /// Text of the owner or of Countersign, with other authors' values between “ and ”, which no value can contain.
    /// Its directional isolates are removed: Countersign added them, and the page has elements for that.
    pub fn rendered(text: &str) -> Self {
        Self { quotes: true, ..Self::new(&without_isolates(text)) }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn paragraphs(&self) -> impl Iterator<Item = &str> {
        self.text.split('\n').map(str::trim).filter(|p| !p.is_empty())
    }

    /// A paragraph, split into text and values.
    pub(super) fn pieces<'a>(&self, paragraph: &'a str) -> Vec<Piece<'a>> {
        if self.quotes { pieces(paragraph) } else { vec![Piece { text: paragraph, is_value: false }] }
    }
}

/// Splits a text at the values between “ and ”. An opening quote that nothing closes is text.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('“')
        && let Some((value, after)) = behind.split_once('”')
    {
        found.push(Piece { text: before, is_value: false });
        found.push(Piece { text: value, is_value: true });
        rest = after;
    }
    found.push(Piece { text: rest, is_value: false });
    found.retain(|piece| piece.is_value || !piece.text.is_empty());
    found
}

/// Collapses runs of line ends and blanks into one blank.
fn on_one_line(text: &str) -> String {
    let words = text.split([' ', '\n', '\r', '\t']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn without_isolates(text: &str) -> String {
    text.replace(['\u{2068}', '\u{2069}'], "")
}

impl From<&str> for PlainLine {
    fn from(text: &str) -> Self {
        Self::cut(text, NAME)
    }
}

impl From<String> for PlainLine {
    fn from(text: String) -> Self {
        Self::cut(&text, NAME)
    }
}

impl From<&str> for Prose {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Prose {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl fmt::Display for PlainLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
