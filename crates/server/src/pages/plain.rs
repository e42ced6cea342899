//! Text that strangers wrote, made harmless to read.
//!
//! The templates escape HTML; this is about what remains: characters that reverse, hide or overlay what stands
//! round them. They are shown by their number, and nothing vanishes. A [`Line`] or [`Prose`] can only be made
//! through here.

use countersign_protocol::visible::visible;
use std::fmt;

/// One line, cut after a number of characters: a name, a path, a description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(String);

/// Text of several paragraphs, never cut: what a person must be shown in full.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prose {
    text: String,
    /// Whether “ and ” stand round values that others wrote.
    quotes: bool,
}

/// A part of a text: the words of whoever wrote it, or a value of somebody else between “ and ”.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub text: &'a str,
    pub is_value: bool,
}

const NAME: usize = 80;

impl Line {
    pub fn cut(text: &str, most: usize) -> Self {
        let line = visible(&on_one_line(text));
        if line.chars().count() <= most {
            return Self(line);
        }
        let kept: String = line.chars().take(most.saturating_sub(1)).collect();
        Self(kept.trim_end().to_owned() + "…")
    }

    /// Every character of it: a name that the digest covers.
    pub fn exact(text: &str) -> Self {
        Self(visible(text))
    }

    /// The same for a text that was rendered here: see [`Prose::rendered`].
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

    /// A text of the owner or of ours, rendered with the values of others between “ and ”, which no value can hold.
    /// Directional isolates in it are ours too, and the page has elements for that.
    pub fn rendered(text: &str) -> Self {
        Self { quotes: true, ..Self::new(&without_isolates(text)) }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn paragraphs(&self) -> impl Iterator<Item = &str> {
        self.text.split('\n').map(str::trim).filter(|p| !p.is_empty())
    }

    /// A paragraph with its values apart.
    pub(super) fn pieces<'a>(&self, paragraph: &'a str) -> Vec<Piece<'a>> {
        if self.quotes { pieces(paragraph) } else { vec![Piece { text: paragraph, is_value: false }] }
    }
}

/// A text with the values between “ and ” apart. An opening quote that nothing closes is text.
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

/// Line ends and blanks in a row are one blank.
fn on_one_line(text: &str) -> String {
    let words = text.split([' ', '\n', '\r', '\t']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn without_isolates(text: &str) -> String {
    text.replace(['\u{2068}', '\u{2069}'], "")
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::cut(text, NAME)
    }
}

impl From<String> for Line {
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

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
