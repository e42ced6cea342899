//! Credentials in human-readable texts (AAEP 4.3.1, 10.2): detected by their form and refused, not redacted.
//!
//! Texts of events are read aloud, shown, stored and forwarded. This detects accidents; it cannot detect deliberate
//! hiding.

use super::problem::MemberProblem;
use serde_json::{Map, Value};

/// Names every member that seems to contain a credential, and never repeats its value.
pub(super) fn check(event: &Map<String, Value>, found: &mut Vec<MemberProblem>) {
    let leaking = event.iter().filter(|(_, value)| contains_secret(value));
    found.extend(leaking.map(|(name, _)| MemberProblem::new(name.clone(), "contains what looks like a credential")));
}

fn contains_secret(value: &Value) -> bool {
    match value {
        Value::String(text) => is_secret(text),
        Value::Array(items) => items.iter().any(contains_secret),
        Value::Object(members) => {
            members.iter().any(|(name, value)| is_secret(name) || is_named(name, value) || contains_secret(value))
        }
        _ => false,
    }
}

pub(super) fn is_secret(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    (text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----"))
        || text.split(|c| !is_word(c) && c != '.').filter(is_long).any(is_jwt)
        || text.split(|c| !is_word(c)).filter(is_long).any(|word| is_vendors(word) || is_own_token(word))
        || follows_bearer(text, &lower)
        || is_assigned(text, &lower)
}

/// No credential is shorter; this skips most words.
fn is_long(word: &&str) -> bool {
    word.len() >= 15
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Two pieces of encoded JSON in a row, followed by a signature.
fn is_jwt(word: &str) -> bool {
    let encoded = |part: &str| part.len() > 8 && part.starts_with("eyJ");
    let parts: Vec<&str> = word.split('.').collect();
    parts.windows(3).any(|three| matches!(three, [header, claims, _] if encoded(header) && encoded(claims)))
}

/// Key formats of other vendors: the prefix, and the least length of the rest.
const VENDORS: &[(&str, usize)] = &[
    ("sk-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxe-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("AIza", 35),
    ("npm_", 36),
    ("hf_", 30),
];

fn is_vendors(word: &str) -> bool {
    let long = |(prefix, least): &(&str, usize)| word.strip_prefix(prefix).is_some_and(|tail| tail.len() >= *least);
    let aws = |prefix: &str| word.strip_prefix(prefix).is_some_and(|tail| tail.len() == 16 && is_upper_case(tail));
    (VENDORS.iter().any(long) && has_digit(word)) || aws("AKIA") || aws("ASIA")
}

fn is_upper_case(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

/// Our own credentials: a short prefix and 32 random bytes in base64url. AAEP ids look similar and are no credentials.
fn is_own_token(word: &str) -> bool {
    let Some((prefix, tail)) = word.split_once('_') else { return false };
    let is_prefix = (2..=5).contains(&prefix.len()) && prefix.bytes().all(|b| b.is_ascii_lowercase());
    let is_id = matches!(prefix, "evt" | "sess" | "rpl" | "sub" | "call" | "out");
    let random = has_digit(tail) && tail.contains(|c: char| c.is_ascii_uppercase());
    is_prefix && !is_id && tail.len() >= 43 && random && tail.contains(|c: char| c.is_ascii_lowercase())
}

/// `Bearer` followed by a long token.
fn follows_bearer(text: &str, lower: &str) -> bool {
    let token = |(at, word): (usize, &str)| {
        let rest = text.get(at + word.len()..).unwrap_or_default();
        let end = rest.find(|c: char| !is_word(c) && !".~+/=".contains(c)).unwrap_or(rest.len());
        rest.get(..end).is_some_and(|token| token.len() >= 16 && has_digit(token))
    };
    lower.match_indices("bearer ").any(token)
}

const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "access_token",
    "refresh_token",
    "private_key",
];

/// `password=…`, or a plausible value after `password:`. Masked values are allowed.
fn is_assigned(text: &str, lower: &str) -> bool {
    let given = |(at, name): (usize, &str)| text.get(at + name.len()..).is_some_and(has_value);
    NAMES.iter().any(|name| lower.match_indices(name).any(given))
}

/// Whether a separator and a value that is not harmless follow the name.
fn has_value(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['"', '\'']);
    let tight = rest.strip_prefix('=').filter(|value| !value.starts_with(char::is_whitespace));
    let loose = rest.trim_start().strip_prefix([':', '=']);
    let Some(value) = tight.or(loose) else { return false };
    let value = value.trim_start_matches(|c: char| c.is_whitespace() || c == '"' || c == '\'');
    let ends = |c: char| c.is_whitespace() || "\"',;&)".contains(c);
    let value = value.split(ends).next().unwrap_or_default();
    let convincing = value.len() >= 6 && has_digit(value) && value.contains(|c: char| c.is_ascii_alphabetic());
    !is_masked(value) && (tight.is_some() || convincing)
}

/// A member named like a secret with a string value.
fn is_named(name: &str, value: &Value) -> bool {
    let name = name.to_ascii_lowercase();
    let named = NAMES.iter().any(|known| name == *known || name.ends_with(&format!("_{known}")));
    named && value.as_str().is_some_and(|text| !is_masked(text))
}

/// Empty, one repeated character, a placeholder, or a path (`PWD=/home`).
fn is_masked(value: &str) -> bool {
    let first = value.chars().next();
    let same = value.chars().all(|c| Some(c) == first);
    let words = ["redacted", "hidden", "masked", "none", "null"];
    same || value.starts_with(['*', '•', '…', '<', '[', '{', '$', '%', '/'])
        || words.contains(&value.to_ascii_lowercase().trim_end_matches('.'))
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests;
