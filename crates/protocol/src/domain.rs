//! Operator domains: the identity of an operator is its hostname and nothing else (AAP 4, 13.2, C-13).

use serde::{Deserialize, Serialize};

/// A hostname in its one canonical spelling: lower-case A-labels, at least two of them, no port, no trailing dot, no IP
/// literal. Two domains are the same operator exactly if their bytes are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Domain(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a hostname in lower-case ASCII form, such as \"agents.example.com\"")]
pub struct NotADomain;

impl Domain {
    pub fn parse(text: &str) -> Result<Self, NotADomain> {
        let labels: Vec<&str> = text.split('.').collect();
        let last_is_numeric = labels.last().is_none_or(|l| l.bytes().all(|b| b.is_ascii_digit()));
        let sound = text.len() <= 253 && labels.len() >= 2 && !last_is_numeric && labels.iter().all(|l| is_label(l));
        // A label with `xn--` must be punycode that decodes and encodes back to itself.
        let canonical = idna::domain_to_ascii_strict(text).is_ok_and(|a| a == text);
        if sound && canonical { Ok(Self(text.to_owned())) } else { Err(NotADomain) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The domain in Unicode, for display beside the ASCII form, never instead of it.
    pub fn to_unicode(&self) -> String {
        idna::domain_to_unicode(&self.0).0
    }

    /// Whether `host` is this domain or a subdomain.
    pub fn covers(&self, host: &str) -> bool {
        host == self.0 || host.strip_suffix(self.0.as_str()).is_some_and(|rest| rest.ends_with('.'))
    }
}

fn is_label(label: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !label.is_empty()
        && label.len() <= 63
        && label.bytes().all(inner)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

impl std::fmt::Display for Domain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Domain {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}
