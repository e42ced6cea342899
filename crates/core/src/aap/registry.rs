//! Trust tier 4: the operator's standing in the registries of model providers (AAP 2.2, 4.2, C-100).

use crate::{
    aap::access::KEY_CHECK_S,
    project::matching_route,
    records::{SeenStanding, Session},
    refusal::Refusal,
};
use countersign_protocol::{
    aap::{identity::IdentityManifest, manifest::ConformanceTier, registry::OperatorStanding},
    project::ProjectDocument,
    time::UnixMillis,
};

/// The trust tier that needs a registry. Nothing below it looks at one.
pub const REGISTRY_TIER: u8 = 4;

/// Whether a call needs the operator's standing. Only a project that trusts a provider can have such routes.
pub fn call_needs_standing(document: &ProjectDocument, method: &str, path: &str) -> bool {
    let by_route = || {
        let route = matching_route(document, method, path);
        route.is_some_and(|route| route.minimum_tier >= Some(REGISTRY_TIER))
    };
    !document.trusted_providers.is_empty() && (document.minimum_tier >= REGISTRY_TIER || by_route())
}

/// Whether a standing must be looked up again: it is as old as the cache allows, was not good, or other providers are
/// trusted now.
pub fn standing_is_stale(session: &Session, document: &ProjectDocument, now: UnixMillis) -> bool {
    let good = |seen: &SeenStanding| seen.standing == Some(OperatorStanding::Good) && counts(seen, document, now);
    !session.standing.as_ref().is_some_and(good)
}

/// An operator that a registry calls suspended or revoked, in the place of suspensions (C-93, R-28).
pub fn check_not_suspended(seen: Option<&SeenStanding>) -> Result<(), Refusal> {
    match seen.and_then(|seen| seen.standing) {
        Some(standing @ (OperatorStanding::Suspended | OperatorStanding::Revoked)) => {
            Err(Refusal::OperatorSuspended(standing))
        }
        Some(OperatorStanding::Good) | None => Ok(()),
    }
}

/// Good standing, in the place of the tier. Without a recent registry there is none.
pub fn check_listed(seen: Option<&SeenStanding>, document: &ProjectDocument, now: UnixMillis) -> Result<(), Refusal> {
    match seen.filter(|seen| counts(seen, document, now)) {
        Some(SeenStanding { standing: Some(OperatorStanding::Good), .. }) => Ok(()),
        Some(_) => Err(Refusal::OperatorNotListed("no registry that counts here lists the operator in good standing")),
        None => Err(Refusal::OperatorNotListed(REGISTRIES_UNREAD)),
    }
}

/// The refusal of a moment: a registry that cannot be read now may be readable soon.
pub const REGISTRIES_UNREAD: &str = "the registries that count here could not be read";

/// A service of the highest conformance tier delivers every auto-revoke, so its operators need a webhook (AAP 19.2).
pub fn check_webhook(document: &ProjectDocument, identity: &IdentityManifest) -> Result<(), Refusal> {
    let needed = document.conformance.tier == ConformanceTier::Full;
    if needed && identity.webhook_url.is_none() { Err(Refusal::OperatorWebhookMissing) } else { Ok(()) }
}

fn counts(seen: &SeenStanding, document: &ProjectDocument, now: UnixMillis) -> bool {
    now <= seen.seen_at.plus_secs(KEY_CHECK_S) && seen.providers == document.trusted_providers
}
