//! The proof of what a person was shown before agreeing.

use super::Language;
use countersign_protocol::{canonical, hash::Digest};
use serde::Serialize;

/// Everything on a page that matters for the yes that is given there, in one canonical text.
///
/// The text is kept with the approval, its digest travels through the form: an approval counts only for exactly
/// these words in this language (AAP 14.4, C-59).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub language: Language,
    pub text: String,
    pub digest: Digest,
}

impl Shown {
    pub(super) fn of<T: Serialize>(language: Language, words: &T) -> Self {
        Self::on(b"countersign consent screen 1\n", language, words)
    }

    /// What stands on the page of a question: a yes counts for exactly this.
    pub(super) fn of_question<T: Serialize>(language: Language, words: &T) -> Self {
        Self::on(b"countersign question 1\n", language, words)
    }

    fn on<T: Serialize>(page: &[u8], language: Language, words: &T) -> Self {
        // Strings, lists and flags always have a canonical form, so an empty text cannot come about.
        let text = canonical::to_vec(words).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let parts: [&[u8]; 4] = [page, language.tag().as_bytes(), b"\n", text.as_bytes()];
        Self { language, digest: Digest::of_parts(&parts), text }
    }
}
