//! R-28 once more, written down as a list: every rule on its own, with its rank, and the lowest rank wins.
//!
//! No rule here knows whether another one holds; that is what makes it a second opinion.

use crate::worlds::{NOW, World};
use countersign_core::{
    aap::access::{Bearer, Credential},
    records::{Delegation, DelegationState, SessionEnd, SessionState},
};
use countersign_protocol::{
    aap::error::Code,
    project::{Route, Scope},
};
use std::collections::BTreeMap;

/// What the first broken rule is told as, and its rank; nothing if all are kept.
pub(crate) fn first_broken_rule(world: &World) -> Option<(u32, Code)> {
    let mut broken = BTreeMap::new();
    let mut rule = |rank: u32, is_broken: bool, code: Code| {
        if is_broken {
            broken.entry(rank).or_insert(code);
        }
    };
    let World { call, view } = world;
    rule(10, call.credential == Credential::None, Code::AgentAuthRequired);
    rule(20, call.version.as_deref() != Some("2.0"), Code::SpecVersionUnsupported);
    let route = view.project.document.routes.iter().find(|r| r.method == call.method && r.path == call.path);
    rule(30, route.is_none(), Code::RouteNotFound);
    let bearer = view.bearer.as_ref().filter(|bearer| holds_token(world, bearer));
    rule(40, bearer.is_none(), Code::AccessTokenInvalid);
    let Some((route, bearer)) = route.zip(bearer) else { return broken.pop_first() };

    rule(41, bearer.token.expires_at <= NOW, Code::AccessTokenExpired);
    let mode = call.mode.as_deref().unwrap_or_default();
    rule(50, mode.is_empty(), Code::ModeMissing);
    rule(51, mode != "user_delegated", Code::ModeNotSupported);
    let delegation = bearer.delegation.as_ref();
    let echoes = |echo: &Option<String>, real: Option<&str>| echo.is_none() || echo.as_deref() == real;
    rule(52, !echoes(&call.delegation_id, delegation.map(|d| d.id.as_str())), Code::DelegationMismatch);
    rule(53, !echoes(&call.session_id, Some("sess_mine")), Code::DelegationMismatch);

    for (rank, code) in delegation.and_then(ended).into_iter() {
        rule(rank, true, code);
    }
    let end = match bearer.session.state {
        SessionState::Open => None,
        SessionState::Closed { why, .. } => Some(why),
    };
    rule(63, end == Some(SessionEnd::KeyWithdrawn), Code::OperatorJwtInvalid);
    rule(63, end.is_some(), Code::AccessTokenInvalid);
    rule(64, NOW.0 - bearer.session.key_seen_at.0 > 3_600_000, Code::OperatorNotFound);

    let receipt = bearer.session.receipt.as_ref();
    rule(70, call.consent.is_some() && call.consent != receipt.map(|r| r.sha256), Code::ConsentInvalid);
    if let Some(receipt) = receipt {
        let (from, to) = receipt.window.unwrap_or((receipt.issued_at, receipt.expires_at));
        let open = from.0 - 300_000 <= NOW.0 && NOW.0 <= to.0.min(receipt.expires_at.0) + 300_000;
        rule(71, !open, Code::ConsentExpired);
    }

    let has = if delegation.is_some() { 2 } else { 1 };
    rule(80, has < tier_needed(world, route), Code::TierNotMet);
    let granted = granted(world, delegation);
    let allowing: Vec<&&Scope> = granted.iter().filter(|scope| scope.allows.contains(&route.action)).collect();
    let excluded = granted.iter().any(|scope| scope.explicitly_excludes.contains(&route.action));
    rule(90, excluded || allowing.is_empty(), Code::ScopeNotGranted);
    let consented = receipt.is_none_or(|r| allowing.iter().any(|scope| r.scopes.contains(&scope.id)));
    rule(91, !consented, Code::ConsentScopeExceeded);

    let document = &view.project.document;
    match call.intent_type.as_deref() {
        None => rule(100, document.intent_required, Code::InvalidRequest),
        Some(intent) => {
            let listed = allowing.iter().any(|scope| scope.intent_types.iter().any(|listed| listed == intent));
            let tolerated = !document.strict_intent_types && intent != "free text";
            rule(100, !listed && !tolerated, Code::IntentTypeUnknown);
        }
    }
    rule(110, call.dry_run, Code::DryRunUnsupported);
    // Whichever scope the caller holds: an action that one scope holds back is not free through another.
    let holding = |scope: &&Scope| scope.irreversible || scope.requires_confirmation;
    let owed = document.scopes.iter().filter(holding).any(|scope| scope.allows.contains(&route.action));
    rule(120, writes(route) && owed, Code::IrreversibleRequiresConfirm);
    broken.pop_first()
}

/// From this rank on it is known who calls.
pub(crate) const KNOWN_FROM: u32 = 50;

pub(crate) fn writes(route: &Route) -> bool {
    route.writes.unwrap_or(route.method == "POST")
}

fn holds_token(world: &World, bearer: &Bearer) -> bool {
    let presented = world.call.token().is_some_and(|(hash, _)| *hash == bearer.token.hash);
    presented && bearer.token.project == world.view.project.key
}

fn ended(delegation: &Delegation) -> Option<(u32, Code)> {
    if matches!(delegation.state, DelegationState::Revoked { .. }) {
        return Some((60, Code::DelegationRevoked));
    }
    let token = (delegation.token_expires_at.0 + 300_000 < NOW.0)
        .then_some((delegation.token_expires_at, Code::DelegationExpired));
    let policy = (delegation.policy_expires_at <= NOW).then_some((delegation.policy_expires_at, Code::AutoRevoked));
    // Of two ends the earlier is told; of two at the same moment, the policy's.
    match (token, policy) {
        (Some(token), Some(policy)) => Some((61, if token.0 < policy.0 { token.1 } else { policy.1 })),
        (one, other) => one.or(other).map(|(_, code)| (61, code)),
    }
}

fn tier_needed(world: &World, route: &Route) -> u8 {
    let document = &world.view.project.document;
    let low_stakes = document.scopes.iter().any(|scope| scope.low_stakes && scope.allows.contains(&route.action));
    let needs_user = writes(route) || !low_stakes || document.minimum_tier == 2 || route.minimum_tier == Some(2);
    if needs_user { 2 } else { 1 }
}

/// With a user what the user granted, without one what is low-stakes.
fn granted<'w>(world: &'w World, delegation: Option<&Delegation>) -> Vec<&'w Scope> {
    let is_granted = |scope: &&Scope| match delegation {
        Some(delegation) => delegation.scopes.contains(&scope.id),
        None => scope.low_stakes,
    };
    world.view.project.document.scopes.iter().filter(is_granted).collect()
}
