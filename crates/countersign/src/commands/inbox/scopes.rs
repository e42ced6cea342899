//! The scopes that a task asks for, beyond its consent receipt.

use crate::table::{printable, quoted};
use countersign_protocol::question::{RequestedScope, RequestedScopes};

/// One line per scope, and the end of an approval.
pub(super) fn lines(requested: &RequestedScopes) -> Vec<String> {
    let line = |scope: &RequestedScope| format!("Scope {}: {}", printable(&scope.id), printable(&scope.description));
    let ends = format!(
        "An approval ends with the task {}, at {} at the latest. Calls that need an approval are still held",
        quoted(&requested.session_id),
        requested.until.to_rfc3339()
    );
    requested.scopes.iter().map(line).chain([ends]).collect()
}
