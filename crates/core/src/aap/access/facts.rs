//! The facts of a decided call. They permit nothing.

use super::{AccessView, Bearer, Call, CountedLimits, Usage};
use crate::{
    env::Env,
    evidence::DraftEntry,
    project::{USER_DELEGATED, is_intent_type},
    records::{Project, Raiser, Table},
    refusal::Refusal,
    step::{Effects, EvidenceDraft, Guard, SpentProof},
};
use countersign_protocol::{
    canonical::NotCanonical,
    domain::Domain,
    hash::Digest,
    ids::{ProjectId, RowKey},
    project::{Route, Upstream},
    time::UnixMillis,
};
use std::sync::Arc;

/// Caller, route and intent. Data only: authority is [`super::AuthorizedCall`].
#[derive(Clone, Debug)]
pub struct CallFacts {
    pub(super) who: CallPrincipal,
    pub(super) project: Arc<Project>,
    route: Arc<Route>,
    method: String,
    path: String,
    query: Option<String>,
    pub(super) idempotency_key: Option<Digest>,
    intent_type: Option<String>,
    intent_known: bool,
    pub(super) confirmation: Confirmation,
    pub(super) guards: Vec<Guard>,
    pub(super) usage: Usage,
    ends_at: UnixMillis,
}

/// The approval behind a call that needs confirmation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Confirmation {
    #[default]
    NotNeeded,
    /// Asserted by the agent itself, where the scope accepts that.
    SelfAsserted,
    /// A person's approval of exactly this call.
    Decided { decision_id: String, digest: Digest },
}

#[derive(Clone, Debug)]
pub(super) struct CallPrincipal {
    pub(super) project: (RowKey, ProjectId),
    document_version: i64,
    pub(super) delegation: Option<(RowKey, String)>,
    pub(super) session: (RowKey, String),
    person: Option<RowKey>,
    subject: Option<String>,
    operator: String,
}

impl CallFacts {
    pub(super) fn new(
        call: &Call,
        view: &AccessView,
        route: &Route,
        bearer: &Bearer,
        intent_known: bool,
        now: UnixMillis,
    ) -> Self {
        let who = CallPrincipal::of(view, bearer);
        let mut guards = vec![
            Guard { table: Table::Project, key: view.project.key, version: view.project.version },
            Guard { table: Table::Session, key: bearer.session.key, version: bearer.session.version },
        ];
        let delegation = bearer.delegation.as_ref();
        guards.extend(delegation.map(|d| Guard { table: Table::Delegation, key: d.key, version: d.version }));
        Self {
            usage: Usage::of(&who, delegation, bearer.session.receipt.as_ref(), now),
            who,
            project: Arc::clone(&view.project),
            route: Arc::new(route.clone()),
            method: call.method.clone(),
            path: call.path.clone(),
            query: call.query.clone(),
            idempotency_key: call.idempotency_key,
            intent_type: call.intent_type.clone(),
            intent_known,
            confirmation: Confirmation::NotNeeded,
            guards,
            ends_at: ends_at(bearer),
        }
    }

    pub(super) fn with_confirmation(self, confirmation: Confirmation) -> Self {
        Self { confirmation, ..self }
    }

    /// Whether the confirmation is the agent's own assertion.
    pub fn is_self_asserted(&self) -> bool {
        self.confirmation == Confirmation::SelfAsserted
    }

    pub fn route(&self) -> &Route {
        &self.route
    }

    /// The route's upstream, or the project's first.
    pub fn upstream(&self) -> Option<&Upstream> {
        self.project.document.upstream_of(&self.route)
    }

    pub fn project(&self) -> &Arc<Project> {
        &self.project
    }

    pub fn writes(&self) -> bool {
        self.route().writes()
    }

    /// The delegation of the call; `None` at T1.
    pub fn delegation(&self) -> Option<RowKey> {
        self.who.delegation.as_ref().map(|(key, _)| *key)
    }

    pub fn delegation_id(&self) -> Option<&str> {
        self.who.delegation.as_ref().map(|(_, id)| id.as_str())
    }

    pub fn action(&self) -> &str {
        &self.route().action
    }

    pub fn operator(&self) -> &str {
        &self.who.operator
    }

    pub fn subject(&self) -> Option<&str> {
        self.who.subject.as_deref()
    }

    pub fn session(&self) -> RowKey {
        self.who.session.0
    }

    /// The requester of a confirmation; `None` without a person to ask.
    pub fn raiser(&self) -> Option<Raiser> {
        let (delegation, principal) = self.who.delegation.clone()?;
        Some(Raiser {
            principal,
            person: self.who.person?,
            delegation: Some(delegation),
            session: Some(self.who.session.0),
            api_key: None,
            operator: Domain::parse(&self.who.operator).ok(),
        })
    }

    /// Rows behind the caller's rights. They must be unchanged at commit.
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }

    pub fn session_id(&self) -> &str {
        &self.who.session.1
    }

    pub fn confirmation(&self) -> &Confirmation {
        &self.confirmation
    }

    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Checks the limits without reserving.
    pub fn limit_checks(&self) -> CountedLimits {
        self.usage.check(self.writes())
    }

    /// The earliest end of token, receipt and delegation: a stream is cut then.
    pub fn ends_at(&self) -> UnixMillis {
        self.ends_at
    }

    /// Whether a request with this method, path and query is the decided one.
    pub fn covers(&self, method: &str, target: &str) -> bool {
        let query = self.query.as_deref();
        let (path, given) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        method == self.method && path == self.path && given == query
    }

    pub(super) fn method(&self) -> &str {
        &self.method
    }

    /// Path and query, as received.
    pub(super) fn target(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }

    /// The evidence of a started call. It is not listed in the audit, where the outcome is a call's only entry. `call_id`
    /// identifies a write without approval.
    pub(super) fn started_entry(&self, call_id: Option<&str>, env: &Env) -> Result<EvidenceDraft, NotCanonical> {
        let entry = self.entry("call_started", env.now).open_if("call_id", call_id).seal(&mut env.salts())?;
        Ok(EvidenceDraft { delegation: None, session: None, ..entry })
    }

    /// The audit entry of a refused call with a known caller. It uses `proof`.
    pub(super) fn refusal_entry(
        &self,
        refusal: &Refusal,
        proof: Option<SpentProof>,
        env: &Env,
    ) -> Result<Effects, NotCanonical> {
        let outcome = match refusal {
            Refusal::UpstreamUnreachable => "not sent: the upstream could not be reached".to_owned(),
            refusal => format!("{} {}", refusal.code().status(), refusal.code()),
        };
        Ok(Effects { evidence: vec![self.outcome(&outcome, None, env)?], proof, ..Effects::default() })
    }

    /// The audit entry for the end of a stream.
    pub fn record_stream_end(&self, why: &str, bytes: u64, env: &Env) -> Result<Effects, NotCanonical> {
        let entry = self.entry("stream_closed", env.now).open("outcome", why).open("bytes", bytes);
        Ok(Effects { evidence: vec![entry.seal(&mut env.mint())?], ..Effects::default() })
    }

    pub(super) fn outcome(
        &self,
        outcome: &str,
        call_id: Option<&str>,
        env: &Env,
    ) -> Result<EvidenceDraft, NotCanonical> {
        let entry = self.entry("call", env.now).open("outcome", outcome).open_if("call_id", call_id);
        entry.seal(&mut env.salts())
    }

    pub(super) fn entry(&self, event_type: &'static str, now: UnixMillis) -> DraftEntry {
        let entry = self
            .who
            .entry(event_type, now)
            .open("method", self.method.as_str())
            .open("action", self.action())
            .open_if("intent_type", self.intent_type.as_deref())
            .open_if("intent_type_known", (!self.intent_known).then_some(false))
            .hidden("path", self.path.as_str());
        match &self.confirmation {
            Confirmation::NotNeeded => entry,
            Confirmation::SelfAsserted => entry.open("confirmation", "self_asserted"),
            Confirmation::Decided { decision_id, digest } => {
                entry.open("decision_id", decision_id.as_str()).hidden("action_sha256", digest.hex())
            }
        }
    }
}

fn ends_at(bearer: &Bearer) -> UnixMillis {
    let mut ends = bearer.token.expires_at;
    if let Some(delegation) = &bearer.delegation {
        ends = ends.min(delegation.policy_expires_at);
    }
    if let Some(receipt) = &bearer.session.receipt {
        ends = ends.min(crate::aap::validity::receipt_ends_at(receipt));
    }
    ends
}

impl CallPrincipal {
    pub(super) fn of(view: &AccessView, bearer: &Bearer) -> Self {
        Self {
            project: (view.project.key, view.project.id.clone()),
            document_version: view.project.version,
            delegation: bearer.delegation.as_ref().map(|d| (d.key, d.id.clone())),
            session: (bearer.session.key, bearer.session.session_id.clone()),
            person: bearer.delegation.as_ref().map(|d| d.person),
            subject: bearer.session.subject.clone(),
            operator: bearer.session.operator.to_string(),
        }
    }

    pub(super) fn refusal_entry(&self, refusal: &Refusal, call: &Call, env: &Env) -> Option<EvidenceDraft> {
        let outcome = format!("{} {}", refusal.code().status(), refusal.code());
        let intent = call.intent_type.as_deref().filter(|intent| is_intent_type(intent));
        let entry = self
            .entry("call", env.now)
            .open("method", call.method.as_str())
            .open("outcome", outcome)
            .open_if("intent_type", intent)
            .hidden("path", call.path.as_str());
        entry.seal(&mut env.mint()).ok()
    }

    fn entry(&self, event_type: &'static str, now: UnixMillis) -> DraftEntry {
        let entry = DraftEntry::new((self.project.0, &self.project.1), event_type, now)
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
