//! Text that strangers wrote, made harmless to read.
//!
//! The templates escape HTML; this is about what remains: characters that reverse, hide or overlay what stands
//! round them. A [`Line`] or [`Prose`] can only be made through here.

use std::fmt;

/// One line, cut after a number of characters: a name, a path, a description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(String);

/// Text of several paragraphs, never cut: what a person must be shown in full.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prose(String);

const NAME: usize = 80;

impl Line {
    pub fn cut(text: &str, most: usize) -> Self {
        let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
        let visible: String = words.join(" ").chars().filter(|c| is_visible(*c)).collect();
        let line = visible.split(' ').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
        if line.chars().count() <= most {
            return Self(line);
        }
        let kept: String = line.chars().take(most.saturating_sub(1)).collect();
        Self(kept.trim_end().to_owned() + "…")
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
        let kept = |c: char| c == '\n' || (is_visible(c) && !c.is_control());
        Self(text.replace("\r\n", "\n").replace('\t', " ").chars().filter(|c| kept(*c)).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn paragraphs(&self) -> impl Iterator<Item = &str> {
        self.0.split('\n').map(str::trim).filter(|p| !p.is_empty())
    }
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

/// False for characters without a shape of their own that change how others are read: direction controls,
/// fillers, tags, variation selectors. The joiners that Persian and emoji need are kept.
fn is_visible(c: char) -> bool {
    !matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}' | '\u{200E}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
}
