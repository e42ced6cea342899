//! Words as they are compared: whatever the case, accents, blanks and punctuation.

use aho_corasick::AhoCorasick;
use countersign_protocol::visible::is_unseen;
use std::collections::HashMap;

/// Stand before the first and behind the last word of a text; folding leaves no such character in one.
const BEGIN: char = '\u{2}';
const END: char = '\u{3}';

/// Phrases that are looked for as whole words, all of them in one pass over a text.
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
    /// `^` before a phrase ties it to the beginning of a text, `$` behind it to the end.
    pub(super) fn new(written: Vec<String>) -> Result<Self, BadPhrases> {
        let patterns = written.iter().map(|phrase| pattern(phrase)).collect::<Option<Vec<_>>>();
        let automaton = AhoCorasick::new(patterns.ok_or(BadPhrases::Wordless)?);
        Ok(Self { automaton: automaton.map_err(|_| BadPhrases::TooMany)?, written })
    }

    /// Which of them stand in a text, in the order in which they end.
    pub(super) fn found_in(&self, text: &Folded) -> impl Iterator<Item = usize> {
        let found = self.automaton.try_find_overlapping_iter(&text.0).ok();
        found.into_iter().flatten().map(|found| found.pattern().as_usize())
    }

    pub(super) fn written(&self, phrase: usize) -> &str {
        self.written.get(phrase).map_or("", String::as_str)
    }
}

/// Blanks on both sides, so that only whole words match.
fn pattern(phrase: &str) -> Option<String> {
    let phrase = phrase.trim();
    let (begins, phrase) = phrase.strip_prefix('^').map_or((false, phrase), |rest| (true, rest));
    let (ends, phrase) = phrase.strip_suffix('$').map_or((false, phrase), |rest| (true, rest));
    let words = words(phrase);
    let begin = if begins { String::from(BEGIN) } else { String::new() };
    let end = if ends { String::from(END) } else { String::new() };
    (!words.is_empty()).then(|| format!("{begin} {words} {end}"))
}

/// Numbers phrases, the same one for the same words.
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

/// A text in which phrases can be looked for. Kept between texts, so that its memory is.
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

/// The words of a text with single blanks between them.
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

/// Without its accent, so that composed and decomposed spellings are the same.
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

/// Whether nothing of a text can be seen.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_unseen(c))
}

/// Whether two texts are the same but for case and blanks.
pub(super) fn same_but_for_case(left: &str, right: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    plain(left) == plain(right)
}

#[cfg(test)]
mod tests;
