//! Intent types: words of a service's vocabulary, never a sentence (AAP 12.4).

/// Capitals, digits and underscores. Anything freer could carry a person's words to the service.
pub(crate) fn is_intent_type(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}
