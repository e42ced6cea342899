//! One function decides every resource call, in the order of R-28.
//!
//! It returns an [`AuthorizedCall`]. Its fields are private, so nothing else in the workspace can create one. A call
//! without its required approval is [`NeedsApproval`], which only a claim authorizes. The intent of a write is durable
//! before it runs, every outcome before it is reported.

mod authorized;
mod call;
mod dry_run;
mod expansion;
mod facts;
mod needs_approval;
mod possession;
mod preview;
mod refusal;
mod unsettled;
mod usage;

pub use authorized::{AuthorizedCall, Intent};
pub use call::{AccessView, Bearer, Call, CallCredential, ProvenProof, Proving, Scheme};
pub use dry_run::{DryRun, DryRunCall};
pub use expansion::{UsedExpansion, WantedScope};
pub use facts::{CallFacts, Confirmation};
pub use needs_approval::NeedsApproval;
pub use possession::{accept_proof, possession, proof_required};
pub use preview::{AskedInPreview, Previewed, preview};
pub use refusal::RefusedCall;
pub use unsettled::{BEGINNING_BYTES, ReadWrite, SeenWrite, SettleWrite, UNSETTLED_S, WriteResult};
pub use usage::{CountedLimits, Limit, Usage, budget_checks};

use crate::{
    aap::{
        boundary,
        registry::{self, REGISTRY_TIER},
        validity,
    },
    decision::claim::RULES_CHANGED,
    held,
    project::{self, is_intent_type, matching_route, tier_needed},
    records::{Mode, Plan, PlannedAction, Session, SessionEnd, SessionState},
    refusal::{ExceededConsent, Refusal},
};
use countersign_protocol::{
    aap::{dry_run::DryRunNeed, version},
    project::{Confirmed, ProjectDocument, Route, Scope},
    time::UnixMillis,
};
use facts::CallPrincipal;

/// Interval between checks of an operator's keys (AAP 4.1, C-88).
pub const KEY_CHECK_S: i64 = 3600;

/// The result of the decision.
#[derive(Debug)]
pub enum CallVerdict {
    Authorized(AuthorizedCall),
    /// Passed every check except a person's approval (C-02).
    NeedsApproval(NeedsApproval),
    /// A dry run that the gateway answers itself.
    DryRun(DryRunCall),
}

impl CallVerdict {
    pub fn facts(&self) -> &CallFacts {
        match self {
            Self::Authorized(call) => call.facts(),
            Self::NeedsApproval(call) => call.facts(),
            Self::DryRun(call) => call.facts(),
        }
    }

    /// Whether the agent's own assertion would suffice, unless a plan demands more.
    pub fn rests_on_own_word(&self) -> bool {
        match self {
            Self::Authorized(call) => call.facts().is_self_asserted(),
            Self::DryRun(call) => call.needs() == DryRunNeed::OwnWord,
            Self::NeedsApproval(_) => false,
        }
    }
}

pub fn decide(
    call: &Call,
    view: &AccessView,
    proving: &Proving<'_>,
    now: UnixMillis,
) -> Result<CallVerdict, RefusedCall> {
    if call.credential == CallCredential::None {
        return Err(RefusedCall::anonymous(Refusal::NoCredentials));
    }
    check_version(call).map_err(RefusedCall::anonymous)?;
    let document = &view.project.document;
    let unknown = || Refusal::RouteNotFound(format!("{} {}", call.method, short(&call.path)));
    let route =
        matching_route(document, &call.method, &call.path).ok_or_else(unknown).map_err(RefusedCall::anonymous)?;
    let bearer = live_bearer(call, view, now).map_err(RefusedCall::anonymous)?;
    let needed = tier_needed(document, route);
    let required = proof_required(document) || needed >= 3;
    // A caller without the key is a stranger with a stolen token: its calls stay out of the bearer's audit.
    let (_, scheme) = call.token().ok_or(Refusal::AccessTokenInvalid).map_err(RefusedCall::anonymous)?;
    let shown = (scheme, call.proof.as_deref());
    let proof = possession(shown, bearer.token.jkt.as_ref(), view.project.key, required, proving);
    let proof = proof.map_err(RefusedCall::anonymous)?;
    match decide_for(call, view, route, needed, bearer, now) {
        Ok(fits) => {
            let facts = CallFacts::new(call, view, route, bearer, fits.intent_known, now);
            let facts = facts.with_expansion(fits.expansion);
            Ok(match fits.confirmation {
                // The upstream previews by itself: nothing is held or claimed for that.
                _ if facts.forwarded_dry_run().is_some() => CallVerdict::Authorized(AuthorizedCall::new(facts, proof)),
                needs if facts.is_dry_run() => CallVerdict::DryRun(DryRunCall::new(facts, proof, &needs)),
                Needs::Nothing => CallVerdict::Authorized(AuthorizedCall::new(facts, proof)),
                Needs::ItsWord => {
                    let facts = facts.with_confirmation(Confirmation::SelfAsserted);
                    CallVerdict::Authorized(AuthorizedCall::new(facts, proof))
                }
                Needs::Decision => CallVerdict::NeedsApproval(NeedsApproval::new(facts, proof)),
            })
        }
        Err(refusal) => {
            let wanted = WantedScope::of(&refusal, call, view, route, bearer, now);
            Err(RefusedCall::of(refusal, CallPrincipal::of(view, bearer), proof).wanting(wanted))
        }
    }
}

/// Decides a held call again when its undo window has closed. Its credential and proof counted when it was sent.
pub fn decide_queued(call: &Call, view: &AccessView, now: UnixMillis) -> Result<NeedsApproval, RefusedCall> {
    let unknown = || Refusal::RouteNotFound(format!("{} {}", call.method, short(&call.path)));
    let route = matching_route(&view.project.document, &call.method, &call.path).ok_or_else(unknown);
    let route = route.map_err(RefusedCall::anonymous)?;
    let bearer = view.bearer.as_ref().ok_or(Refusal::SessionOver).map_err(RefusedCall::anonymous)?;
    match decide_for(call, view, route, tier_needed(&view.project.document, route), bearer, now) {
        // An expansion was recorded when the call was sent. Without it the session has another receipt now.
        Ok(Fits { expansion: Some(UsedExpansion { recorded: false, .. }), .. }) => {
            let refusal = ExceededConsent::of(&route.action, None).into();
            Err(RefusedCall::of(refusal, CallPrincipal::of(view, bearer), None))
        }
        Ok(Fits { confirmation: Needs::Decision, intent_known, expansion }) => {
            let facts = CallFacts::new(call, view, route, bearer, intent_known, now).with_expansion(expansion);
            Ok(NeedsApproval::new(facts, None).into_pending())
        }
        Ok(_) => Err(RefusedCall::of(Refusal::ApprovalGone(RULES_CHANGED), CallPrincipal::of(view, bearer), None)),
        Err(refusal) => Err(RefusedCall::of(refusal, CallPrincipal::of(view, bearer), None)),
    }
}

struct Fits {
    intent_known: bool,
    confirmation: Needs,
    expansion: Option<UsedExpansion>,
}

enum Needs {
    Nothing,
    /// The scope accepts the agent's own assertion, and the call makes it.
    ItsWord,
    Decision,
}

/// From here on the caller is known, so a refusal is recorded.
fn decide_for(
    call: &Call,
    view: &AccessView,
    route: &Route,
    tier_needed: u8,
    bearer: &Bearer,
    now: UnixMillis,
) -> Result<Fits, Refusal> {
    check_echo_headers(call, bearer)?;
    if tier_needed >= REGISTRY_TIER {
        registry::check_not_suspended(bearer.session.standing.as_ref())?;
    }
    check_bearer_delegation(bearer, now)?;
    check_consent(call, bearer, now)?;
    check_tier(tier_needed, &view.project.document, bearer, now)?;
    let expansion = check_action(call, view, route, bearer)?;
    let intent_known = check_intent(call, view, route, bearer)?;
    if let Some(account) = bearer.service_account() {
        boundary::check_call(account, route, &call.path, call.query.as_deref())?;
    }
    call.dry_run.check(route.offers_dry_run())?;
    // Limits are checked in the step that reserves them.
    Ok(Fits { intent_known, confirmation: confirmation(call, view, route, bearer)?, expansion })
}

/// A header alone confirms nothing, unless the owner has explicitly allowed it (C-02).
fn confirmation(call: &Call, view: &AccessView, route: &Route, bearer: &Bearer) -> Result<Needs, Refusal> {
    if !held::must_be_confirmed(&view.project.document, route) {
        return Ok(Needs::Nothing);
    }
    let granted = granted_scopes(view, bearer);
    let allowing = || granted.iter().filter(|scope| scope.allows.contains(&route.action));
    // Any rule that requires a person overrides the agent's own assertion.
    let word_will_do = route.irreversible.is_none()
        && route.requires_confirmation.is_none()
        && allowing().all(|scope| scope.confirmation == Confirmed::SelfAsserted)
        && held::demands_a_person(&view.project.document, route).is_empty();
    match (word_will_do, call.confirm.as_deref()) {
        (true, Some("true")) => Ok(Needs::ItsWord),
        (true, _) if call.dry_run.is_requested() => Ok(Needs::ItsWord),
        (true, _) => Err(Refusal::WordRequired(route.action.clone())),
        (false, _) => Ok(Needs::Decision),
    }
}

/// A plan with calls of this route requires a person's approval of them, even if the scope accepts less.
pub fn within_plans(verdict: CallVerdict, plans: &[Plan]) -> CallVerdict {
    match verdict {
        CallVerdict::Authorized(call) if call.facts().is_self_asserted() && is_planned(call.facts().route(), plans) => {
            let (facts, proof) = call.into_parts();
            CallVerdict::NeedsApproval(NeedsApproval::new(facts.with_confirmation(Confirmation::NotNeeded), proof))
        }
        CallVerdict::DryRun(call) if is_planned(call.facts().route(), plans) => CallVerdict::DryRun(call.for_person()),
        verdict => verdict,
    }
}

fn is_planned(route: &Route, plans: &[Plan]) -> bool {
    let runs = |planned: &PlannedAction| planned.action.route.as_deref() == Some(route.id.as_str());
    plans.iter().any(|plan| plan.actions.values().any(runs))
}

fn check_version(call: &Call) -> Result<(), Refusal> {
    match version::negotiate(call.version.as_deref(), version::ACCEPTED) {
        Some(_) => Ok(()),
        None => Err(call.version.as_ref().map_or(Refusal::VersionMissing, |v| Refusal::VersionUnsupported(short(v)))),
    }
}

fn live_bearer<'v>(call: &Call, view: &'v AccessView, now: UnixMillis) -> Result<&'v Bearer, Refusal> {
    let (hash, _) = call.token().ok_or(Refusal::AccessTokenInvalid)?;
    let bearer = view.bearer.as_ref().ok_or(Refusal::AccessTokenInvalid)?;
    let ours = bearer.token.project == view.project.key && bearer.token.hash == *hash;
    if !ours {
        return Err(Refusal::AccessTokenInvalid);
    }
    if now >= bearer.token.expires_at {
        return Err(Refusal::AccessTokenExpired);
    }
    Ok(bearer)
}

/// Whether the bearer may still use any endpoint of this project at all (C-40).
pub fn check_bearer(bearer: &Bearer, document: &ProjectDocument, now: UnixMillis) -> Result<(), Refusal> {
    check_bearer_at(bearer, document, document.minimum_tier, now)
}

/// The same where this trust tier is needed, such as for an open stream of a stricter route.
pub fn check_bearer_at(bearer: &Bearer, document: &ProjectDocument, tier: u8, now: UnixMillis) -> Result<(), Refusal> {
    if now >= bearer.token.expires_at {
        return Err(Refusal::AccessTokenExpired);
    }
    let standing = Some(bearer.session.standing.as_ref()).filter(|_| tier >= REGISTRY_TIER);
    standing.map_or(Ok(()), registry::check_not_suspended)?;
    check_bearer_delegation(bearer, now)?;
    bearer.receipt().map_or(Ok(()), |receipt| validity::check_receipt(receipt, now))?;
    standing.map_or(Ok(()), |standing| registry::check_listed(standing, document, now))
}

/// Headers that repeat the token's JWT claims are required on every call and must agree with them (AAP 11.6, 13.3,
/// C-53). A session without a delegation (T1) has none to repeat.
fn check_echo_headers(call: &Call, bearer: &Bearer) -> Result<(), Refusal> {
    check_mode(call, bearer)?;
    let delegation_id = bearer.delegation.as_ref().map(|d| d.id.as_str());
    match (call.delegation_id.as_deref(), delegation_id) {
        (None, Some(_)) if bearer.mode() == Mode::ServiceAccount => check_account(call, bearer)?,
        (None, Some(_)) => return Err(Refusal::EchoMissing("X-Agent-Delegation")),
        (named, own) if named != own => {
            let why = "X-Agent-Delegation names another delegation than the access token";
            return Err(Refusal::DelegationMismatch(why.into()));
        }
        _ if bearer.mode() == Mode::ServiceAccount => check_account(call, bearer)?,
        _ => {}
    }
    match call.session_id.as_deref() {
        None => Err(Refusal::EchoMissing("X-Agent-Session")),
        Some(id) if id != bearer.session.session_id => {
            Err(Refusal::DelegationMismatch("X-Agent-Session names another session than the access token".into()))
        }
        Some(_) => Ok(()),
    }
}

/// The mode is declared on every call and never inferred (AAP 11.6): it must be the token's.
fn check_mode(call: &Call, bearer: &Bearer) -> Result<(), Refusal> {
    match call.mode.as_deref() {
        None | Some("") => Err(Refusal::ModeMissing),
        Some(mode) if mode == bearer.mode().as_str() => Ok(()),
        Some(other) => Err(Refusal::ModeNotRegistered(other.chars().take(40).collect())),
    }
}

fn check_account(call: &Call, bearer: &Bearer) -> Result<(), Refusal> {
    let account = bearer.service_account().map(|account| account.account_id.as_str());
    match call.account_id.as_deref() {
        None => Err(Refusal::EchoMissing("X-Agent-Account")),
        named if named == account => Ok(()),
        Some(_) => {
            Err(Refusal::DelegationMismatch("X-Agent-Account names another account than the access token".into()))
        }
    }
}

fn check_bearer_delegation(bearer: &Bearer, now: UnixMillis) -> Result<(), Refusal> {
    if let Some(delegation) = &bearer.delegation {
        validity::check_delegation(delegation, now)?;
    }
    match &bearer.session.state {
        SessionState::Closed { why: SessionEnd::KeyWithdrawn, .. } => Err(Refusal::OperatorKeyWithdrawn),
        SessionState::Closed { .. } => Err(Refusal::SessionOver),
        SessionState::Open if key_is_stale(&bearer.session, now) => Err(Refusal::OperatorUnreachable),
        SessionState::Open => Ok(()),
    }
}

/// Whether the operator's key must be fetched again before this session continues.
pub fn key_is_stale(session: &Session, now: UnixMillis) -> bool {
    now > session.key_seen_at.plus_secs(KEY_CHECK_S)
}

fn check_consent(call: &Call, bearer: &Bearer, now: UnixMillis) -> Result<(), Refusal> {
    let receipt = bearer.receipt();
    if call.consent.is_some() && call.consent != receipt.map(|r| r.sha256) {
        return Err(Refusal::ConsentInvalid("X-Agent-Consent is not the receipt of this session".into()));
    }
    receipt.map_or(Ok(()), |receipt| validity::check_receipt(receipt, now))
}

/// Tier 1 is the operator, tier 2 adds a delegation, tier 3 a receipt (AAP 2.2) or an admin's grant (C-50), tier 4 good
/// standing with a model provider.
fn check_tier(needed: u8, document: &ProjectDocument, bearer: &Bearer, now: UnixMillis) -> Result<(), Refusal> {
    let has = match (&bearer.delegation, bearer.receipt()) {
        (None, _) => 1,
        (Some(grant), _) if grant.service_account.is_some() => 3,
        (Some(_), None) => 2,
        (Some(_), Some(_)) => 3,
    };
    match needed {
        REGISTRY_TIER.. if has == 3 => registry::check_listed(bearer.session.standing.as_ref(), document, now),
        _ if has < needed => Err(Refusal::TierNotMet { needed, has }),
        _ => Ok(()),
    }
}

/// The service's definition of a scope applies; an exclusion overrides every permission (AAP 12.3).
fn check_action(
    call: &Call,
    view: &AccessView,
    route: &Route,
    bearer: &Bearer,
) -> Result<Option<UsedExpansion>, Refusal> {
    let granted = granted_scopes(view, bearer);
    if granted.iter().any(|scope| scope.explicitly_excludes.contains(&route.action)) {
        let why = format!("a granted scope explicitly excludes the action {}", route.action);
        return Err(Refusal::ScopeNotGranted(why));
    }
    let named = |scope: &&&Scope| route.scope.as_ref().is_none_or(|id| *id == scope.id);
    let allowing: Vec<&Scope> =
        granted.iter().filter(named).filter(|scope| scope.allows.contains(&route.action)).copied().collect();
    if allowing.is_empty() {
        return Err(Refusal::ScopeNotGranted(format!("no granted scope allows the action {}", route.action)));
    }
    if bearer.service_account().is_some_and(|account| !account.actions.contains(&route.action)) {
        let why = format!("the action {} was not allowed when the service account was granted", route.action);
        return Err(Refusal::ScopeNotGranted(why));
    }
    match bearer.receipt() {
        Some(receipt) if !allowing.iter().any(|scope| receipt.scopes.contains(&scope.id)) => {
            expansion::beyond_receipt(call, view, bearer, route, &allowing).map(Some)
        }
        _ => Ok(None),
    }
}

fn granted_scopes<'v>(view: &'v AccessView, bearer: &Bearer) -> Vec<&'v Scope> {
    let document = &view.project.document;
    match &bearer.delegation {
        Some(delegation) => delegation.scopes.iter().filter_map(|id| project::scope(document, id)).collect(),
        None => document.scopes.iter().filter(|scope| scope.low_stakes).collect(),
    }
}

/// Whether the intent type is in the vocabulary. Free text is never stored, even if the project accepts it.
fn check_intent(call: &Call, view: &AccessView, route: &Route, bearer: &Bearer) -> Result<bool, Refusal> {
    let document = &view.project.document;
    let Some(intent) = &call.intent_type else {
        return if document.intent_required { Err(Refusal::IntentTypeMissing) } else { Ok(true) };
    };
    let listed = |scope: &&Scope| scope.allows.contains(&route.action) && scope.intent_types.contains(intent);
    let known = granted_scopes(view, bearer).iter().any(listed)
        && (route.intent_types.is_empty() || route.intent_types.contains(intent));
    if known || (!document.strict_intent_types && is_intent_type(intent)) {
        return Ok(known);
    }
    Err(Refusal::IntentTypeUnknown(short(intent)))
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}
