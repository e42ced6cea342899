//! Disclosures: the text a person read before consenting.

use super::Language;
use countersign_protocol::{canonical, hash::Digest};
use serde::Serialize;

/// Everything on a page that matters for an approval given there, in one canonical text.
///
/// The text is stored with the approval, and its digest travels through the form: an approval is valid only for exactly
/// this text in this language (AAP 14.4, C-59).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disclosed {
    pub language: Language,
    pub text: String,
    pub digest: Digest,
}

impl Disclosed {
    pub(super) fn of<T: Serialize>(language: Language, words: &T) -> Self {
        Self::on(b"countersign consent screen 1\n", language, words)
    }

    /// The text of a question's page, which an approval is bound to.
    pub(super) fn of_question<T: Serialize>(language: Language, words: &T) -> Self {
        Self::on(b"countersign question 1\n", language, words)
    }

    fn on<T: Serialize>(page: &[u8], language: Language, words: &T) -> Self {
        // Strings, lists and flags always have a canonical form, so the default is never used.
        let text = canonical::to_vec(words).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let parts: [&[u8]; 4] = [page, language.tag().as_bytes(), b"\n", text.as_bytes()];
        Self { language, digest: Digest::of_parts(&parts), text }
    }
}
