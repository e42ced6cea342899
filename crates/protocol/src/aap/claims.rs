//! Reads JWT claims one by one. Errors name the claim and never repeat its value.
//!
//! A receipt contains a person's words to an agent. An error text that quoted a claim could carry them into a log
//! (C-14).

use crate::{domain::Domain, time::UnixMillis};
use serde_json::{Map, Value};

/// The tolerated clock skew for `iat`, `exp`, `nbf` and execution windows (AAP glossary, C-87).
pub const SKEW_SECS: i64 = 300;

/// Why a token's payload is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadClaim {
    #[error("the claim \"{claim}\" {problem}")]
    Wrong { claim: &'static str, problem: &'static str },
    #[error("there is a claim that this kind of token does not have")]
    Unknown,
}

pub(super) const fn wrong(claim: &'static str, problem: &'static str) -> BadClaim {
    BadClaim::Wrong { claim, problem }
}

/// A payload being read.
#[derive(Clone, Copy)]
pub(super) struct ClaimReader<'a>(pub(super) &'a Map<String, Value>);

impl<'a> ClaimReader<'a> {
    pub(super) fn required(self, claim: &'static str) -> Result<&'a Value, BadClaim> {
        self.0.get(claim).ok_or(wrong(claim, "is missing"))
    }

    pub(super) fn text(self, claim: &'static str) -> Result<&'a str, BadClaim> {
        self.required(claim)?.as_str().ok_or(wrong(claim, "must be a string"))
    }

    pub(super) fn optional_text(self, claim: &'static str) -> Result<Option<&'a str>, BadClaim> {
        if self.0.contains_key(claim) { self.text(claim).map(Some) } else { Ok(None) }
    }

    /// A JSON integer: not `1.0` and not `"1"` (AAP 19.3).
    pub(super) fn integer(self, claim: &'static str) -> Result<i64, BadClaim> {
        self.required(claim)?.as_i64().ok_or(wrong(claim, "must be an integer"))
    }

    /// A hostname in its canonical spelling (C-13).
    pub(super) fn domain(self, claim: &'static str) -> Result<Domain, BadClaim> {
        let problem = "must be a hostname in lower case, without scheme, port or trailing dot";
        Domain::parse(self.text(claim)?).map_err(|_| wrong(claim, problem))
    }

    pub(super) fn at_least_one_text(self, claim: &'static str) -> Result<Vec<String>, BadClaim> {
        let bad = wrong(claim, "must be a list of at least one string");
        let items = self.required(claim)?.as_array().filter(|items| !items.is_empty()).ok_or(bad)?;
        items.iter().map(|item| item.as_str().map(str::to_owned).ok_or(bad)).collect()
    }

    pub(super) fn optional_object(self, claim: &'static str) -> Result<Option<ClaimReader<'a>>, BadClaim> {
        let Some(value) = self.0.get(claim) else { return Ok(None) };
        let members = value.as_object().ok_or(wrong(claim, "must be an object"))?;
        Ok(Some(ClaimReader(members)))
    }

    pub(super) fn date_time(self, claim: &'static str) -> Result<UnixMillis, BadClaim> {
        let problem = "must be an RFC 3339 date-time";
        UnixMillis::parse_rfc3339(self.text(claim)?).ok_or(wrong(claim, problem))
    }
}

/// The time before which a token is invalid, if it names one (RFC 7519 4.1.5).
pub fn not_before(payload: &Map<String, Value>) -> Result<Option<i64>, BadClaim> {
    if payload.contains_key("nbf") { ClaimReader(payload).integer("nbf").map(Some) } else { Ok(None) }
}

/// Whether a payload has any of these claims; this distinguishes one kind of token from another (C-66).
pub fn has_any(payload: &Map<String, Value>, claims: &[&str]) -> bool {
    claims.iter().any(|claim| payload.contains_key(*claim))
}
