//! Checks of trust tiers, model providers and the watch on simultaneous use.

use super::check::Problems;
use crate::aap::registry::REGISTRY_TIER;
use countersign_protocol::{
    aap::manifest::ConformanceTier,
    project::{ProjectDocument, Route},
};
use std::collections::HashSet;

/// The most providers: each one is a fetch for an operator that names it.
const MAX_PROVIDERS: usize = 16;
const MAX_WINDOW_S: i64 = 86_400;

/// The trust tier that a call of a route needs. T1 is only for reads that the project declares low-stakes (C-24). From
/// extended conformance on a write needs T3, unless its route names a tier (C-25).
pub fn tier_needed(document: &ProjectDocument, route: &Route) -> u8 {
    let low_stakes = || document.scopes.iter().any(|scope| scope.low_stakes && scope.allows.contains(&route.action));
    let by_kind = match route.writes() {
        true if route.minimum_tier.is_none() && document.conformance.tier >= ConformanceTier::Extended => 3,
        false if low_stakes() => 1,
        _ => 2,
    };
    document.minimum_tier.max(route.minimum_tier.unwrap_or(1)).max(by_kind)
}

pub(super) fn check(document: &ProjectDocument, found: &mut Problems) {
    let (tier, providers) = (document.minimum_tier, &document.trusted_providers);
    found.demand((1..=REGISTRY_TIER).contains(&tier), "minimum_tier", "must be 1 to 4");
    let judge = "4 needs trusted_providers: without a registry nobody could ever register";
    found.demand(tier != REGISTRY_TIER || !providers.is_empty(), "minimum_tier", judge);
    found.demand(providers.len() <= MAX_PROVIDERS, "trusted_providers", "has more than 16 providers");
    let mut seen = HashSet::new();
    found.demand(providers.iter().all(|provider| seen.insert(provider)), "trusted_providers", "names a provider twice");
    if let Some(watch) = &document.concurrent_use {
        let window = (1..=MAX_WINDOW_S).contains(&watch.window_seconds);
        found.demand(window, "concurrent_use.window_seconds", "must be 1 to 86400 seconds");
        // A shorter prefix would call most of the internet one network.
        found.demand((8..=32).contains(&watch.ipv4_prefix), "concurrent_use.ipv4_prefix", "must be 8 to 32");
        found.demand((16..=128).contains(&watch.ipv6_prefix), "concurrent_use.ipv6_prefix", "must be 16 to 128");
    }
    for (n, route) in document.routes.iter().enumerate() {
        let (at, tier) = (format!("routes[{n}]"), route.minimum_tier.unwrap_or(1));
        found.demand((1..=REGISTRY_TIER).contains(&tier), &at, "minimum_tier must be 1 to 4");
        let why = "minimum_tier 4 needs trusted_providers: without a registry nobody could ever call this route";
        found.demand(tier != REGISTRY_TIER || !providers.is_empty(), &at, why);
    }
}
