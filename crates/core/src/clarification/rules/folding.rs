//! Word matching that ignores case, accents, whitespace and punctuation.

use aho_corasick::AhoCorasick;
use countersign_protocol::visible::is_unseen;
use std::collections::HashMap;

/// Mark the beginning and the end of a folded text; folding removes these characters from its content.
const BEGIN: char = '\u{2}';
const END: char = '\u{3}';

/// Phrases matched as whole words, all in one pass over a text.
#[derive(Debug)]
pub(super) struct Phrases {
    automaton: AhoCorasick,
    written: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadPhrases {
    #[error("has a phrase without any letter or digit")]
    Wordless,
    #[error("has more phrases than can be looked for")]
    TooMany,
}

impl Phrases {
    /// `^` before a phrase anchors it to the beginning of a text, `$` after it to the end.
    pub(super) fn new(written: Vec<String>) -> Result<Self, BadPhrases> {
        let patterns = written.iter().map(|phrase| pattern(phrase)).collect::<Option<Vec<_>>>();
        let automaton = AhoCorasick::new(patterns.ok_or(BadPhrases::Wordless)?);
        Ok(Self { automaton: automaton.map_err(|_| BadPhrases::TooMany)?, written })
    }

    /// The phrases found in a text, in the order of their ends.
    pub(super) fn found_in(&self, text: &Folded) -> impl Iterator<Item = usize> {
        let found = self.automaton.try_find_overlapping_iter(&text.0).ok();
        found.into_iter().flatten().map(|found| found.pattern().as_usize())
    }

    pub(super) fn phrase_text(&self, phrase: usize) -> &str {
        self.written.get(phrase).map_or("", String::as_str)
    }
}

/// Spaces on both sides restrict matches to whole words.
fn pattern(phrase: &str) -> Option<String> {
    let phrase = phrase.trim();
    let (begins, phrase) = phrase.strip_prefix('^').map_or((false, phrase), |rest| (true, rest));
    let (ends, phrase) = phrase.strip_suffix('$').map_or((false, phrase), |rest| (true, rest));
    let words = words(phrase);
    let begin = if begins { String::from(BEGIN) } else { String::new() };
    let end = if ends { String::from(END) } else { String::new() };
    (!words.is_empty()).then(|| format!("{begin} {words} {end}"))
}

/// Numbers phrases; the same words get the same number.
#[derive(Default)]
pub(super) struct PhraseBook {
    written: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl PhraseBook {
    pub(super) fn number(&mut self, phrase: &str) -> Result<usize, BadPhrases> {
        let key = pattern(phrase).ok_or(BadPhrases::Wordless)?;
        let next = self.written.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.written.push(phrase.trim().to_owned());
        }
        Ok(number)
    }

    pub(super) fn compile(self) -> Result<Phrases, BadPhrases> {
        Phrases::new(self.written)
    }
}

/// A folded text for matching. Reused between texts to keep its allocation.
#[derive(Default)]
pub(super) struct Folded(String);

impl Folded {
    pub(super) fn of(text: &str) -> Self {
        let mut folded = Self::default();
        folded.take(text);
        folded
    }

    pub(super) fn take(&mut self, text: &str) {
        self.0.clear();
        self.0.extend([BEGIN, ' ']);
        fold(text, &mut self.0);
        if !self.0.ends_with(' ') {
            self.0.push(' ');
        }
        self.0.push(END);
    }
}

/// The words of a text, separated by single spaces.
pub(super) fn words(text: &str) -> String {
    let mut words = String::new();
    fold(text, &mut words);
    words.trim().to_owned()
}

/// The words of a text as an identifier: `jsp-440`, `va-gov`.
pub(super) fn slug(text: &str) -> String {
    words(text).replace(' ', "-")
}

fn fold(text: &str, out: &mut String) {
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if c.is_alphanumeric() {
            c.to_lowercase().for_each(|c| push_plain(c, out));
        } else if !is_mark(c) && (c.is_whitespace() || !is_unseen(c)) && !out.ends_with(' ') {
            out.push(' ');
        }
    }
}

/// Strips the accent, so that composed and decomposed spellings match.
fn push_plain(c: char, out: &mut String) {
    let plain = match c {
        'à'..='å' => 'a',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ò'..='ö' => 'o',
        'ù'..='ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        'ß' => return out.push_str("ss"),
        c if is_mark(c) => return,
        c => c,
    };
    out.push(plain);
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Whether a text has no visible character.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_unseen(c))
}

/// Whether two texts are equal apart from case and whitespace.
pub(super) fn same_but_for_case(left: &str, right: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    plain(left) == plain(right)
}

#[cfg(test)]
mod tests;
