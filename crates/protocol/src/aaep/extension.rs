//! Extensions (AAEP 7): our own, and the rules for all of them.

use super::{envelope, problem::MemberProblem};
use serde_json::{Map, Value, json};

/// The prefix of our own members, in `extensions` and in the manifest.
pub const PREFIX: &str = "dev_countersign";
/// The context that declares our extension. The number is its major version.
pub const CONTEXT: &str = "https://countersign.dev/context/aaep/v1";

/// Marks an event whose text is the hub's own; an agent's event never has it.
pub const SAID_BY: &str = "said_by";
pub const HUB: &str = "hub";

/// The context of an event with our extension.
pub fn context() -> Value {
    json!([envelope::CONTEXT, CONTEXT])
}

/// Checks that extensions have a context beside the core one, and unused prefixes.
///
/// One context may declare several prefixes, and contexts are never fetched, so only its presence can be checked.
pub(super) fn check(event: &Map<String, Value>, found: &mut Vec<MemberProblem>) {
    let Some(extensions) = event.get("extensions").and_then(Value::as_object) else { return };
    let contexts = event.get("@context").and_then(Value::as_array);
    let declared = contexts.is_some_and(|all| all.iter().any(|context| context != envelope::CONTEXT));
    if !extensions.is_empty() && !declared {
        found.push(MemberProblem::new("extensions", "must be declared by an entry of @context after the core one"));
    }
    if extensions.keys().any(|prefix| is_reserved(prefix)) {
        found.push(MemberProblem::new(
            "extensions",
            "uses a prefix that is reserved: aaep, xsd, rdf, rdfs or one with @",
        ));
    }
}

fn is_reserved(prefix: &str) -> bool {
    prefix.is_empty() || prefix.starts_with('@') || matches!(prefix, "aaep" | "xsd" | "rdf" | "rdfs")
}
