//! Oracle for R-28: a flat list of rules, each with a rank; the broken rule of lowest rank wins.
//!
//! The rules are independent of each other, which makes this a second opinion on the implementation.

use crate::worlds::{NOW, World};
use countersign_core::{
    aap::access::{Bearer, CallCredential, DryRun, Scheme},
    records::{Delegation, DelegationState, SessionEnd, SessionState},
};
use countersign_protocol::{
    aaep::event::Reversibility,
    aap::{error::Code, manifest::ConformanceTier, registry::OperatorStanding},
    project::{Confirmed, Route, RouteDryRun, Scope},
};
use std::collections::BTreeMap;

/// The rank and error code of the first broken rule; `None` if every rule holds.
pub(crate) fn first_broken_rule(world: &World) -> Option<(u32, Code)> {
    let mut broken = BTreeMap::new();
    let mut rule = |rank: u32, is_broken: bool, code: Code| {
        if is_broken {
            broken.entry(rank).or_insert(code);
        }
    };
    let World { call, view, nonce_demanded } = world;
    rule(10, call.credential == CallCredential::None, Code::AgentAuthRequired);
    rule(20, call.version.as_deref() != Some("2.0"), Code::SpecVersionUnsupported);
    let route = view.project.document.routes.iter().find(|r| r.method == call.method && r.path == call.path);
    rule(30, route.is_none(), Code::RouteNotFound);
    let bearer = view.bearer.as_ref().filter(|bearer| holds_token(world, bearer));
    rule(40, bearer.is_none(), Code::AccessTokenInvalid);
    let Some((route, bearer)) = route.zip(bearer) else { return broken.pop_first() };

    rule(41, bearer.token.expires_at <= NOW, Code::AccessTokenExpired);
    let document = &view.project.document;
    let needed = tier_needed(world, route);
    let (bound, as_bearer) =
        (bearer.token.jkt.is_some(), call.token().map(|(_, scheme)| scheme) == Some(Scheme::Bearer));
    let proof = call.proof.as_deref().filter(|_| !as_bearer);
    let by_route = document.routes.iter().any(|route| route.minimum_tier >= Some(3));
    let extended = document.conformance.tier >= ConformanceTier::Extended;
    let required = extended || document.dpop.required || document.minimum_tier >= 3 || by_route;
    rule(45, as_bearer && (bound || required), Code::DpopMissing);
    rule(45, bound && proof.is_none(), Code::DpopMissing);
    rule(46, !bound && !as_bearer, Code::DpopInvalid);
    rule(46, matches!(proof, Some("bad" | "of another key")), Code::DpopInvalid);
    rule(47, proof == Some("without a nonce") && *nonce_demanded, Code::DpopInvalid);
    let mode = call.mode.as_deref().unwrap_or_default();
    rule(50, mode.is_empty(), Code::ModeMissing);
    rule(51, mode != "user_delegated", Code::ModeNotSupported);
    let delegation = bearer.delegation.as_ref();
    rule(52, call.delegation_id.is_none() && delegation.is_some(), Code::InvalidRequest);
    rule(52, call.delegation_id.as_deref() != delegation.map(|d| d.id.as_str()), Code::DelegationMismatch);
    rule(53, call.session_id.is_none(), Code::InvalidRequest);
    rule(53, call.session_id.as_deref() != Some("sess_mine"), Code::DelegationMismatch);

    let seen = bearer.session.standing.as_ref();
    let standing = seen.and_then(|seen| seen.standing);
    let bad = matches!(standing, Some(OperatorStanding::Suspended | OperatorStanding::Revoked));
    rule(55, needed == 4 && bad, Code::OperatorSuspended);
    let suspended = delegation.is_some_and(|d| matches!(d.state, DelegationState::Suspended { .. }));
    rule(59, suspended, Code::DelegationSuspended);
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

    let listed =
        standing == Some(OperatorStanding::Good) && seen.is_some_and(|seen| NOW.0 - seen.seen_at.0 <= 3_600_000);
    let consented = delegation.is_some() && receipt.is_some();
    let has = 1 + u8::from(delegation.is_some()) + u8::from(consented) + u8::from(consented && listed);
    rule(80, has < needed, Code::TierNotMet);
    let granted = granted(world, delegation);
    let allowing: Vec<&&Scope> = granted.iter().filter(|scope| scope.allows.contains(&route.action)).collect();
    // A route may name the only scope that authorizes it.
    let opening = || allowing.iter().filter(|scope| route.scope.is_none() || route.scope.as_ref() == Some(&scope.id));
    let excluded = granted.iter().any(|scope| scope.explicitly_excludes.contains(&route.action));
    rule(90, excluded || opening().count() == 0, Code::ScopeNotGranted);
    let expanded = |scope: &Scope| match document.scope_expansion.as_str() {
        "silent" => true,
        "notify" => bearer.session.expansions.iter().any(|own| own.decision_id.is_some() && own.scope == scope.id),
        _ => false,
    };
    let consented = receipt.is_none_or(|r| opening().any(|scope| r.scopes.contains(&scope.id) || expanded(scope)));
    rule(91, !consented, Code::ConsentScopeExceeded);

    match call.intent_type.as_deref() {
        None => rule(100, document.intent_required, Code::InvalidRequest),
        Some(intent) => {
            let here = route.intent_types.is_empty() || route.intent_types.iter().any(|listed| listed == intent);
            let listed = here && allowing.iter().any(|scope| scope.intent_types.iter().any(|listed| listed == intent));
            let tolerated = !document.strict_intent_types && intent != "free text";
            rule(100, !listed && !tolerated, Code::IntentTypeUnknown);
        }
    }
    let is_dry_run = call.dry_run == DryRun::Requested;
    rule(109, matches!(call.dry_run, DryRun::Unclear(_)), Code::InvalidRequest);
    rule(110, is_dry_run && route.dry_run == Some(RouteDryRun::Offered(false)), Code::DryRunUnsupported);
    // A dry run shows what would be confirmed.
    let unconfirmed = is_held(world, route) && !word_is_enough(world, route);
    rule(120, !is_dry_run && unconfirmed, Code::IrreversibleRequiresConfirm);
    broken.pop_first()
}

/// Whether a call to this route needs confirmation beyond the granted scope.
pub(crate) fn is_held(world: &World, route: &Route) -> bool {
    // Checks all scopes of the document: confirmation required by one scope cannot be bypassed through another.
    let holding = |scope: &&Scope| scope.irreversible || scope.requires_confirmation;
    let mut holders = world.view.project.document.scopes.iter().filter(holding);
    let by_scope = writes(route) && holders.any(|scope| scope.allows.contains(&route.action));
    let by_route = route.irreversible == Some(true)
        || route.requires_confirmation == Some(true)
        || route.reversibility == Some(Reversibility::Irreversible);
    by_scope || by_route
}

/// Whether the agent's own confirmation suffices and the call carries it.
pub(crate) fn word_is_enough(world: &World, route: &Route) -> bool {
    let delegation = world.view.bearer.as_ref().and_then(|bearer| bearer.delegation.as_ref());
    let mut allowing = granted(world, delegation).into_iter().filter(|scope| scope.allows.contains(&route.action));
    let takes_words = allowing.all(|scope| scope.confirmation == Confirmed::SelfAsserted);
    let silent = route.irreversible.is_none()
        && route.requires_confirmation.is_none()
        && route.reversibility.is_none()
        && route.approvers.is_empty()
        && route.assurance.is_none();
    // A scope that requires a person for this action requires one for every caller.
    let document = &world.view.project.document;
    let leaves_it = |scope: &Scope| {
        let to_a_person = scope.requires_confirmation && scope.confirmation == Confirmed::Decision;
        writes(route) && scope.allows.contains(&route.action) && (scope.irreversible || to_a_person)
    };
    let silent = silent && !document.scopes.iter().any(leaves_it);
    silent && takes_words && world.call.confirm.as_deref() == Some("true")
}

/// From this rank on the caller is identified.
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
    // Report the earlier of two expiries; at the same instant, report the policy expiry.
    match (token, policy) {
        (Some(token), Some(policy)) => Some((61, if token.0 < policy.0 { token.1 } else { policy.1 })),
        (one, other) => one.or(other).map(|(_, code)| (61, code)),
    }
}

fn tier_needed(world: &World, route: &Route) -> u8 {
    let document = &world.view.project.document;
    let low_stakes = document.scopes.iter().any(|scope| scope.low_stakes && scope.allows.contains(&route.action));
    let extended = document.conformance.tier >= ConformanceTier::Extended;
    let by_kind = match (writes(route), route.minimum_tier) {
        (true, None) if extended => 3,
        (false, _) if low_stakes => 1,
        _ => 2,
    };
    [by_kind, document.minimum_tier, route.minimum_tier.unwrap_or(1)].into_iter().max().unwrap()
}

/// Scopes granted by the user; without a delegation, the low-stakes scopes.
fn granted<'w>(world: &'w World, delegation: Option<&Delegation>) -> Vec<&'w Scope> {
    let is_granted = |scope: &&Scope| match delegation {
        Some(delegation) => delegation.scopes.contains(&scope.id),
        None => scope.low_stakes,
    };
    world.view.project.document.scopes.iter().filter(is_granted).collect()
}
