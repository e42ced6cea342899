//! One function decides every resource call, in the order of R-28.
//!
//! It yields a [`Grant`], whose fields are private: nothing else in the workspace can make one. What must be
//! durable, and when, follows from the grant: a write's intent before it runs, every outcome before it is told.

use crate::{
    aap::standing,
    env::Env,
    evidence::Entry,
    project::{self, USER_DELEGATED, is_intent_type, matching_route},
    records::{AccessToken, Delegation, Project, Session, SessionEnd, SessionState, Table},
    refusal::Refusal,
    step::{Count, Effects, Guard},
};
use countersign_protocol::{
    aap::version,
    canonical::NotCanonical,
    hash::Digest,
    ids::{ProjectId, RowKey},
    project::{Route, Scope},
    time::UnixMillis,
};

/// An operator's keys are looked at again after this long (AAP 4.1, C-88).
pub const KEY_CHECK_S: i64 = 3600;

/// A request as the enforcement point saw it. Only what the decision needs; never a secret, never free text.
#[derive(Clone, Debug, Default)]
pub struct Call {
    pub method: String,
    /// Raw, without the query.
    pub path: String,
    pub credential: Credential,
    pub version: Option<String>,
    pub mode: Option<String>,
    pub delegation_id: Option<String>,
    pub session_id: Option<String>,
    pub intent_type: Option<String>,
    /// SHA-256 of `X-Agent-Consent`, if it was sent.
    pub consent: Option<Digest>,
    /// A dry run in any spelling.
    pub dry_run: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Credential {
    #[default]
    None,
    /// The hash of a bearer token.
    Token(Digest),
    /// An Authorization header that holds no token that could be ours.
    Unusable,
}

/// What is known about the bearer of a token.
#[derive(Clone, Debug)]
pub struct AccessView {
    pub project: Project,
    pub bearer: Option<Bearer>,
}

#[derive(Clone, Debug)]
pub struct Bearer {
    pub token: AccessToken,
    pub session: Session,
    pub delegation: Option<Delegation>,
}

/// Permission for exactly one call. Made by [`decide`] alone.
#[derive(Clone, Debug)]
pub struct Grant {
    who: Who,
    method: String,
    path: String,
    action: String,
    route: String,
    intent_type: Option<String>,
    intent_known: bool,
    writes: bool,
    guards: Vec<Guard>,
}

/// A refusal, and under whom it belongs in the audit once the bearer is known.
#[derive(Clone, Debug)]
pub struct Refused {
    pub refusal: Refusal,
    who: Option<Box<Who>>,
}

#[derive(Clone, Debug)]
struct Who {
    project: (RowKey, ProjectId),
    document_version: i64,
    delegation: Option<(RowKey, String)>,
    session: (RowKey, String),
    subject: Option<String>,
    operator: String,
}

pub fn decide(call: &Call, view: &AccessView, now: UnixMillis) -> Result<Grant, Refused> {
    let nobody = |refusal| Refused { refusal, who: None };
    if call.credential == Credential::None {
        return Err(nobody(Refusal::NoCredentials));
    }
    speaks_our_version(call).map_err(nobody)?;
    let route = matching_route(&view.project.document, &call.method, &call.path);
    let route =
        route.ok_or_else(|| nobody(Refusal::RouteNotFound(format!("{} {}", call.method, short(&call.path)))))?;
    let bearer = live_bearer(call, view, now).map_err(nobody)?;
    let who = Who::of(view, bearer);
    decide_for(call, view, route, bearer, now)
        .map(|intent_known| Grant::new(call, view, route, bearer, who.clone(), intent_known))
        .map_err(|refusal| Refused { refusal, who: Some(Box::new(who)) })
}

/// From here on the caller is known, so a refusal is part of the record.
fn decide_for(
    call: &Call,
    view: &AccessView,
    route: &Route,
    bearer: &Bearer,
    now: UnixMillis,
) -> Result<bool, Refusal> {
    // DPoP proofs are checked here.
    echoes_match(call, bearer)?;
    // Suspended operators and delegations are refused here.
    delegation_stands(bearer, now)?;
    consent_stands(call, bearer, now)?;
    tier_met(view, route, bearer)?;
    action_granted(view, route, bearer)?;
    let known = intent_fits(call, view, route, bearer)?;
    if call.dry_run {
        return Err(Refusal::DryRunUnsupported);
    }
    // Resource boundaries and usage limits follow here, in this order.
    no_confirmation_owed(view, route, bearer)?;
    Ok(known)
}

/// What needs a person's yes is refused as long as nobody can be asked: unknown is no (C-02).
fn no_confirmation_owed(view: &AccessView, route: &Route, bearer: &Bearer) -> Result<(), Refusal> {
    let owed =
        |scope: &&Scope| scope.allows.contains(&route.action) && (scope.irreversible || scope.requires_confirmation);
    if route.writes() && granted_scopes(view, bearer).iter().any(owed) {
        return Err(Refusal::ConfirmationRequired(route.action.clone()));
    }
    Ok(())
}

fn speaks_our_version(call: &Call) -> Result<(), Refusal> {
    match version::negotiate(call.version.as_deref(), version::ACCEPTED) {
        Some(_) => Ok(()),
        None => Err(call.version.as_ref().map_or(Refusal::VersionMissing, |v| Refusal::VersionUnsupported(short(v)))),
    }
}

fn live_bearer<'v>(call: &Call, view: &'v AccessView, now: UnixMillis) -> Result<&'v Bearer, Refusal> {
    let Credential::Token(hash) = &call.credential else { return Err(Refusal::AccessTokenInvalid) };
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

/// Whether a bearer may still ask for anything at all, on whatever endpoint (C-40).
pub fn bearer_holds(bearer: &Bearer, now: UnixMillis) -> Result<(), Refusal> {
    if now >= bearer.token.expires_at {
        return Err(Refusal::AccessTokenExpired);
    }
    delegation_stands(bearer, now)
}

/// Headers that repeat what the token already says must say the same, on every request (AAP 13.3, C-53).
fn echoes_match(call: &Call, bearer: &Bearer) -> Result<(), Refusal> {
    crate::aap::connect::mode(call.mode.as_deref())?;
    let delegation_id = bearer.delegation.as_ref().map(|d| d.id.as_str());
    if call.delegation_id.is_some() && call.delegation_id.as_deref() != delegation_id {
        return Err(Refusal::DelegationMismatch(
            "X-Agent-Delegation names another delegation than the access token".into(),
        ));
    }
    if call.session_id.as_ref().is_some_and(|id| *id != bearer.session.session_id) {
        return Err(Refusal::DelegationMismatch("X-Agent-Session names another session than the access token".into()));
    }
    Ok(())
}

fn delegation_stands(bearer: &Bearer, now: UnixMillis) -> Result<(), Refusal> {
    if let Some(delegation) = &bearer.delegation {
        standing::delegation_holds(delegation, now)?;
    }
    match &bearer.session.state {
        SessionState::Closed { why: SessionEnd::KeyWithdrawn, .. } => Err(Refusal::OperatorKeyWithdrawn),
        SessionState::Closed { .. } => Err(Refusal::SessionOver),
        SessionState::Open if key_is_stale(&bearer.session, now) => Err(Refusal::OperatorUnreachable),
        SessionState::Open => Ok(()),
    }
}

/// Whether the operator's key must be looked up again before this session may go on.
pub fn key_is_stale(session: &Session, now: UnixMillis) -> bool {
    now > session.key_seen_at.plus_secs(KEY_CHECK_S)
}

fn consent_stands(call: &Call, bearer: &Bearer, now: UnixMillis) -> Result<(), Refusal> {
    let receipt = bearer.session.receipt.as_ref();
    if call.consent.is_some() && call.consent != receipt.map(|r| r.sha256) {
        return Err(Refusal::ConsentInvalid("X-Agent-Consent is not the receipt of this session".into()));
    }
    receipt.map_or(Ok(()), |receipt| standing::receipt_holds(receipt, now))
}

/// T1 is for reading what the project calls low-stakes, and nothing else (C-24).
fn tier_met(view: &AccessView, route: &Route, bearer: &Bearer) -> Result<(), Refusal> {
    let has = if bearer.delegation.is_some() { 2 } else { 1 };
    let by_kind = if route.writes() || !is_low_stakes(view, route) { 2 } else { 1 };
    let needed = view.project.document.minimum_tier.max(route.minimum_tier.unwrap_or(1)).max(by_kind);
    if has < needed { Err(Refusal::TierNotMet { needed, has }) } else { Ok(()) }
}

fn is_low_stakes(view: &AccessView, route: &Route) -> bool {
    view.project.document.scopes.iter().any(|scope| scope.low_stakes && scope.allows.contains(&route.action))
}

/// The service's definition of a scope counts; an exclusion beats every permission (AAP 12.3).
fn action_granted(view: &AccessView, route: &Route, bearer: &Bearer) -> Result<(), Refusal> {
    let granted = granted_scopes(view, bearer);
    if granted.iter().any(|scope| scope.explicitly_excludes.contains(&route.action)) {
        let why = format!("a granted scope explicitly excludes the action {}", route.action);
        return Err(Refusal::ScopeNotGranted(why));
    }
    let allowing: Vec<&&Scope> = granted.iter().filter(|scope| scope.allows.contains(&route.action)).collect();
    if allowing.is_empty() {
        return Err(Refusal::ScopeNotGranted(format!("no granted scope allows the action {}", route.action)));
    }
    match &bearer.session.receipt {
        Some(receipt) if !allowing.iter().any(|scope| receipt.scopes.contains(&scope.id)) => {
            Err(Refusal::ConsentScopeExceeded(route.action.clone()))
        }
        _ => Ok(()),
    }
}

fn granted_scopes<'v>(view: &'v AccessView, bearer: &Bearer) -> Vec<&'v Scope> {
    let document = &view.project.document;
    match &bearer.delegation {
        Some(delegation) => delegation.scopes.iter().filter_map(|id| project::scope(document, id)).collect(),
        None => document.scopes.iter().filter(|scope| scope.low_stakes).collect(),
    }
}

/// Whether the intent type is in the vocabulary; free text is never kept, whatever the project allows.
fn intent_fits(call: &Call, view: &AccessView, route: &Route, bearer: &Bearer) -> Result<bool, Refusal> {
    let document = &view.project.document;
    let Some(intent) = &call.intent_type else {
        return if document.intent_required { Err(Refusal::IntentTypeMissing) } else { Ok(true) };
    };
    let listed = |scope: &&Scope| scope.allows.contains(&route.action) && scope.intent_types.contains(intent);
    let known = granted_scopes(view, bearer).iter().any(listed);
    if known || (!document.strict_intent_types && is_intent_type(intent)) {
        return Ok(known);
    }
    Err(Refusal::IntentTypeUnknown(short(intent)))
}

impl Grant {
    fn new(call: &Call, view: &AccessView, route: &Route, bearer: &Bearer, who: Who, intent_known: bool) -> Self {
        let mut guards = vec![
            Guard { table: Table::Project, key: view.project.key, version: view.project.version },
            Guard { table: Table::Session, key: bearer.session.key, version: bearer.session.version },
        ];
        let delegation = bearer.delegation.as_ref();
        guards.extend(delegation.map(|d| Guard { table: Table::Delegation, key: d.key, version: d.version }));
        Self {
            who,
            method: call.method.clone(),
            path: call.path.clone(),
            action: route.action.clone(),
            route: route.id.clone(),
            intent_type: call.intent_type.clone(),
            intent_known,
            writes: route.writes(),
            guards,
        }
    }

    pub fn writes(&self) -> bool {
        self.writes
    }

    /// The delegation under which the call is made; none at T1.
    pub fn delegation(&self) -> Option<RowKey> {
        self.who.delegation.as_ref().map(|(key, _)| *key)
    }

    pub fn action(&self) -> &str {
        &self.action
    }

    pub fn route(&self) -> &str {
        &self.route
    }

    pub fn operator(&self) -> &str {
        &self.who.operator
    }

    pub fn subject(&self) -> Option<&str> {
        self.who.subject.as_deref()
    }

    pub fn session_id(&self) -> &str {
        &self.who.session.1
    }

    /// What must be durable before a write is forwarded: that it was let through, while nothing had changed.
    ///
    /// It is not listed in the audit: the outcome will be, and a call has one entry there.
    pub fn intent(&self, env: &Env) -> Result<Effects, NotCanonical> {
        let entry = self.entry("call_started", env.now).seal(&mut env.mint())?;
        let unlisted = crate::step::Draft { delegation: None, session: None, ..entry };
        let counts = vec![self.usage(env.now)];
        Ok(Effects { guards: self.guards.clone(), counts, evidence: vec![unlisted], ..Effects::default() })
    }

    /// That nothing has changed since this was decided, without any record of it.
    pub fn recheck(&self) -> Effects {
        Effects { guards: self.guards.clone(), ..Effects::default() }
    }

    /// What must be durable before the answer leaves. A read is judged here once more: if it was cut off
    /// while the upstream worked, the guards fail and the answer is dropped.
    pub fn outcome(&self, outcome: &str, env: &Env) -> Result<Effects, NotCanonical> {
        let entry = self.entry("call", env.now).open("outcome", outcome).seal(&mut env.mint())?;
        let (guards, counts) =
            if self.writes { (Vec::new(), Vec::new()) } else { (self.guards.clone(), vec![self.usage(env.now)]) };
        Ok(Effects { guards, counts, evidence: vec![entry], ..Effects::default() })
    }

    fn entry(&self, event_type: &'static str, now: UnixMillis) -> Entry {
        self.who
            .entry(event_type, now)
            .open("method", self.method.as_str())
            .open("action", self.action.as_str())
            .open_if("intent_type", self.intent_type.as_deref())
            .open_if("intent_type_known", (!self.intent_known).then_some(false))
            .hidden("path", self.path.as_str())
    }

    /// Requests of a delegation in an hour. Limits of receipts will be set here; now it only counts.
    fn usage(&self, now: UnixMillis) -> Count {
        let hour = now.secs().div_euclid(3600);
        let holder = self.who.delegation.as_ref().map_or(self.who.session.0, |(key, _)| *key);
        let key = format!("{}/requests/{holder}/{hour}", self.who.project.0);
        Count { key, by: 1, limit: i64::MAX, until: UnixMillis::from_secs((hour + 2) * 3600) }
    }
}

impl Refused {
    /// The audit entry of a refused call, once it is known whose call it was.
    pub fn record(&self, call: &Call, env: &Env) -> Option<Effects> {
        let outcome = format!("{} {}", self.refusal.code().status(), self.refusal.code());
        let entry =
            self.who.as_ref()?.entry("call", env.now).open("method", call.method.as_str()).open("outcome", outcome);
        let intent = call.intent_type.as_deref().filter(|intent| is_intent_type(intent));
        let entry = entry.open_if("intent_type", intent).hidden("path", call.path.as_str());
        Some(Effects { evidence: vec![entry.seal(&mut env.mint()).ok()?], ..Effects::default() })
    }
}

impl Who {
    fn of(view: &AccessView, bearer: &Bearer) -> Self {
        Self {
            project: (view.project.key, view.project.id.clone()),
            document_version: view.project.version,
            delegation: bearer.delegation.as_ref().map(|d| (d.key, d.id.clone())),
            session: (bearer.session.key, bearer.session.session_id.clone()),
            subject: bearer.session.subject.clone(),
            operator: bearer.session.operator.to_string(),
        }
    }

    fn entry(&self, event_type: &'static str, now: UnixMillis) -> Entry {
        let entry = Entry::new((self.project.0, &self.project.1), event_type, now)
            .in_session(self.session.0, &self.session.1)
            .open("operator", self.operator.as_str())
            .open("mode", USER_DELEGATED)
            .open("document_version", self.document_version)
            .hidden_if("acting_for", self.subject.clone());
        match &self.delegation {
            Some((key, id)) => entry.under_delegation(*key, id),
            None => entry,
        }
    }
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}
