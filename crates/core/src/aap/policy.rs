//! Resolves the layers of auto-revoke policies into the effective policy of a delegation (AAP 8.4, C-45).
//!
//! Each dimension is resolved by itself: the shortest duration, the smallest budget, every event, and task completion if
//! any party wants it. The result is computed once, at grant time, and never again.

use crate::refusal::Refusal;
use countersign_protocol::{
    aap::policy::{EffectivePolicy, PolicyLayer, PolicySource, PolicySources, UsageBudget},
    time::UnixMillis,
};
use serde_json::Value;
use std::collections::BTreeSet;

#[cfg(test)]
mod tests;

/// A layer as a request states it; a member that no policy can have is refused by its name.
pub fn layer(member: &str, stated: Option<&Value>) -> Result<PolicyLayer, Refusal> {
    let Some(stated) = stated else { return Ok(PolicyLayer::default()) };
    let layer: PolicyLayer =
        serde_json::from_value(stated.clone()).map_err(|error| Refusal::invalid(format!("{member}: {error}")))?;
    match layer.problem() {
        Some((of, why)) => Err(Refusal::invalid(format!("{member}.{of} {why}"))),
        None => Ok(layer),
    }
}

/// The effective policy of a delegation granted at this time, and whose rule decided each dimension.
pub fn resolve(layers: &[(PolicySource, &PolicyLayer)], granted_at: UnixMillis) -> (EffectivePolicy, PolicySources) {
    let (duration, by_duration) = least(layers, PolicyLayer::duration_s);
    let (inactivity, by_inactivity) = least(layers, |layer| Some(layer.after_inactivity?.secs()));
    let (max_requests, by_requests) = least(layers, |layer| layer.after_use.max_requests);
    let (max_writes, by_writes) = least(layers, |layer| layer.after_use.max_writes);
    let by_completion = sources(layers, |layer| layer.on_task_completion);
    let policy = EffectivePolicy {
        expires_at: duration.map(|secs| granted_at.plus_secs(secs)),
        inactivity_timeout: inactivity,
        on_task_completion: !by_completion.is_empty(),
        on_events: layers.iter().flat_map(|(_, layer)| layer.on_events.iter().copied()).collect(),
        after_use: UsageBudget { max_requests, max_writes },
    };
    let sources = PolicySources {
        expires_at: by_duration,
        inactivity_timeout: by_inactivity,
        on_task_completion: by_completion,
        on_events: sources(layers, |layer| !layer.on_events.is_empty()),
        max_requests: by_requests,
        max_writes: by_writes,
    };
    (policy, sources)
}

/// The smallest value of a dimension, and every party that declared it.
fn least<T: Ord + Copy>(
    layers: &[(PolicySource, &PolicyLayer)],
    value: impl Fn(&PolicyLayer) -> Option<T>,
) -> (Option<T>, BTreeSet<PolicySource>) {
    let least = layers.iter().filter_map(|(_, layer)| value(layer)).min();
    (least, sources(layers, |layer| least.is_some() && value(layer) == least))
}

fn sources(layers: &[(PolicySource, &PolicyLayer)], decides: impl Fn(&PolicyLayer) -> bool) -> BTreeSet<PolicySource> {
    layers.iter().filter(|(_, layer)| decides(layer)).map(|(source, _)| *source).collect()
}
