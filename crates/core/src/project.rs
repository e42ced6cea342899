//! A project's document: when it is sound, and what it says about a request.

mod apply;
mod check;
mod clarification;
pub(crate) mod decisions;
mod forwarding;
mod plans;
mod probe;
mod reading;
mod routes;

pub use apply::{Applied, Apply, ApplyRefusal, ApplyView};
pub(crate) use check::is_intent_type;
pub use check::{Problem, check};
pub use routes::{is_plain_path, matching_route};

use countersign_protocol::{
    duration,
    project::{ProjectDocument, Scope},
};

/// The mode that this build serves.
pub const USER_DELEGATED: &str = "user_delegated";

pub fn scope<'a>(document: &'a ProjectDocument, id: &str) -> Option<&'a Scope> {
    document.scopes.iter().find(|scope| scope.id == id)
}

/// How long a delegation may last, in seconds. `check` has made sure that it parses.
pub fn max_duration_s(document: &ProjectDocument) -> i64 {
    duration::parse_secs(&document.max_duration).unwrap_or(0)
}

/// How long a consent receipt may live, in seconds. `check` has made sure that it parses.
pub fn max_receipt_duration_s(document: &ProjectDocument) -> i64 {
    duration::parse_secs(&document.max_receipt_duration).unwrap_or(0)
}

/// How long a delegation token may be used, in seconds.
pub fn token_duration_s(document: &ProjectDocument) -> i64 {
    let own = document.token_duration.as_deref().and_then(duration::parse_secs);
    own.unwrap_or(i64::MAX).min(max_duration_s(document))
}
