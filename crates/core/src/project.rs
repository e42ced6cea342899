//! A project's document: its validation, and its rules for a request.

mod apply;
mod cancel;
mod check;
mod clarification;
pub mod conformance;
pub(crate) mod decisions;
mod dry_run;
mod forwarding;
mod identity_provider;
mod plans;
mod probe;
mod reading;
mod resources;
mod routes;
mod trust;
pub mod undo;

pub use apply::{Applied, Apply, ApplyRefusal, ApplyView};
pub(crate) use check::is_intent_type;
pub use check::{DocumentProblem, check};
pub use routes::{is_plain_path, matching_route};
pub use trust::tier_needed;

use countersign_protocol::{
    aap::policy::{LifecycleEvent, PolicyDuration, PolicyLayer},
    duration,
    project::{ProjectDocument, Scope},
};

pub fn scope<'a>(document: &'a ProjectDocument, id: &str) -> Option<&'a Scope> {
    document.scopes.iter().find(|scope| scope.id == id)
}

/// Longest life of a delegation, in seconds. `check` ensures that it parses.
pub fn max_duration_s(document: &ProjectDocument) -> i64 {
    duration::parse_secs(&document.max_duration).unwrap_or(0)
}

/// The service's layer of auto-revoke policies. Offboarding ends delegations in every project (AAP 8.3).
pub fn service_policy(document: &ProjectDocument) -> PolicyLayer {
    let longest = PolicyLayer { max_duration: PolicyDuration::parse(&document.max_duration), ..PolicyLayer::default() };
    let mut layer = document.auto_revoke.and(&longest);
    layer.on_events.insert(LifecycleEvent::UserOffboarded);
    layer
}

/// Longest life of a consent receipt, in seconds. `check` ensures that it parses.
pub fn max_receipt_duration_s(document: &ProjectDocument) -> i64 {
    duration::parse_secs(&document.max_receipt_duration).unwrap_or(0)
}

/// Life of a delegation token, in seconds.
pub fn token_duration_s(document: &ProjectDocument) -> i64 {
    let own = document.token_duration.as_deref().and_then(duration::parse_secs);
    own.unwrap_or(i64::MAX).min(max_duration_s(document))
}
