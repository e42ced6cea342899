//! Request rendering: strict parsing and display of a request, its effect key, and whether it needs approval.
//!
//! Everything is parsed from the same bytes that the digest covers and the upstream receives, by a parser that accepts
//! only unambiguous input.

mod amounts;
mod details;
mod effect;
mod explain;
mod fields;
mod json;
mod media;
mod pairs;
mod probe;
mod question;
mod request;
mod self_asserted;
mod shorten;
mod template;
mod tree;
mod unreadable;

pub use amounts::read as amounts;
pub(crate) use amounts::unit;
pub use details::of_arguments;
pub(crate) use details::{leaves, literal, of_leaf, says_something, step_of};
pub use effect::{Effect, effect, key_template, resource, resource_of};
pub(crate) use effect::{escaped, is_kept};
pub use explain::{Explanation, HoldTerms, NoRoute, explain, explain_call, texts_of};
pub use fields::Fields;
pub use json::{BadJson, JsonMember};
pub(crate) use json::{quoted, read as read_json};
pub(crate) use media::{Media, is_token, media};
pub use pairs::BadPairs;
pub(crate) use pairs::decoded;
pub use probe::{BadProbePath, CancelPath, check_cancel_path, check_probe_path, probe_path};
pub(crate) use question::announced;
pub use question::question;
pub use request::HttpRequest;
pub(crate) use self_asserted::{declared_irreversible, demands_a_person, offering};
pub(crate) use shorten::{shortened, shown};
pub use template::{BadTemplate, Name, Template, UnitNames};
pub(crate) use template::{TemplatePart, plain};
pub(crate) use tree::plain_type;
pub use unreadable::UnreadableRequest;

use crate::decision::terms;
use countersign_protocol::{
    aaep::event::Reversibility,
    project::{ProjectDocument, Route, Scope},
};

/// The largest body that a person can be asked about, unless the route sets another limit.
pub const MAX_BODY_BYTES: u64 = 1 << 20;

/// Whether a call by this route needs approval.
pub fn must_be_confirmed(document: &ProjectDocument, route: &Route) -> bool {
    says_so(route) || action_says_so(document, route) || scopes_that_say_so(document, route).next().is_some()
}

pub(crate) fn says_so(route: &Route) -> bool {
    route.irreversible == Some(true)
        || route.requires_confirmation == Some(true)
        || route.reversibility == Some(Reversibility::Irreversible)
}

/// The route's own settings take precedence over the entry of its action.
pub(crate) fn action_says_so(document: &ProjectDocument, route: &Route) -> bool {
    let Some(entry) = terms::policy_of(document, &route.action) else { return false };
    let reversibility = route.reversibility.or(entry.reversibility);
    route.irreversible.unwrap_or(entry.irreversible) || reversibility == Some(Reversibility::Irreversible)
}

/// A scope's setting applies only to writes: reading a deletable object deletes nothing. A route cannot override it.
pub(crate) fn scopes_that_say_so<'a>(
    document: &'a ProjectDocument,
    route: &'a Route,
) -> impl Iterator<Item = &'a Scope> {
    let holds = |scope: &&Scope| scope.irreversible || scope.requires_confirmation;
    document.scopes.iter().filter(holds).filter(|scope| route.writes() && scope.allows.contains(&route.action))
}
