//! The facts of a decided call. They permit nothing.

use super::{AccessView, Bearer, Call, CountedLimits, Usage, UsedExpansion, WriteResult};
use crate::{
    decision::{claim::ClaimView, terms},
    env::Env,
    evidence::DraftEntry,
    held::{CancelPath, HttpRequest},
    project::is_intent_type,
    records::{Delegation, Mode, Project, Raiser, Record, Session, Table},
    refusal::Refusal,
    step::{Effects, EvidenceDraft, Guard, SpentProof},
};
use countersign_protocol::{
    action::{Action, HttpAction},
    canonical::NotCanonical,
    domain::Domain,
    hash::Digest,
    ids::{ProjectId, RowKey},
    project::{DryRunSpelling, Route, RouteCancel, Upstream},
    time::UnixMillis,
};
use std::{borrow::Cow, sync::Arc};

/// Caller, route and intent. Data only: authority is [`super::AuthorizedCall`].
#[derive(Clone, Debug)]
pub struct CallFacts {
    pub(super) who: CallPrincipal,
    pub(super) project: Arc<Project>,
    /// Its place in the project's document: a copy of it would cost every call a dozen allocations.
    route: usize,
    method: String,
    path: String,
    query: Option<String>,
    pub(super) idempotency_key: Option<Digest>,
    intent_type: Option<String>,
    intent_known: bool,
    pub(super) confirmation: Confirmation,
    /// The scope that it uses beyond the consent receipt.
    expansion: Option<UsedExpansion>,
    pub(super) guards: Vec<Guard>,
    /// The session with its modes fixed, if this call is its first and another mode could join it (C-54).
    fixes_modes: Option<Box<Session>>,
    pub(super) usage: Usage,
    crosses_users: bool,
    dry_run: bool,
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
    mode: Mode,
    /// The person's subject, or the service account.
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
            usage: Usage::of(&who, delegation, bearer.receipt(), now),
            who,
            project: Arc::clone(&view.project),
            route: place_of(route, &view.project.document.routes),
            method: call.method.clone(),
            path: call.path.clone(),
            query: call.query.clone(),
            idempotency_key: call.idempotency_key,
            intent_type: call.intent_type.clone(),
            intent_known,
            confirmation: Confirmation::NotNeeded,
            expansion: None,
            guards,
            fixes_modes: fixes_modes(view, bearer),
            crosses_users: bearer.service_account().is_some_and(|account| account.granted_scope.crosses_users),
            dry_run: call.dry_run.is_requested(),
            ends_at: ends_at(bearer),
        }
    }

    pub(super) fn with_confirmation(self, confirmation: Confirmation) -> Self {
        Self { confirmation, ..self }
    }

    pub(super) fn with_expansion(self, expansion: Option<UsedExpansion>) -> Self {
        Self { expansion, ..self }
    }

    /// A silent expansion that is not recorded yet.
    pub fn new_expansion(&self) -> Option<&str> {
        self.expansion.as_ref().filter(|used| !used.recorded).map(|used| used.scope.as_str())
    }

    /// Whether the session still has the scope that the call uses beyond its receipt, if it uses one.
    pub fn keeps_expansion(&self, session: &Session) -> bool {
        let kept = |used: &UsedExpansion| session.expansions.iter().any(|own| own.scope == used.scope);
        self.expansion.as_ref().is_none_or(kept)
    }

    /// Whether the confirmation is the agent's own assertion.
    pub fn is_self_asserted(&self) -> bool {
        self.confirmation == Confirmation::SelfAsserted
    }

    #[expect(clippy::expect_used, reason = "`place_of` found it in this document, which never changes")]
    pub fn route(&self) -> &Route {
        self.project.document.routes.get(self.route).expect("the project is the one of the decision")
    }

    /// The route's upstream, or the project's first.
    pub fn upstream(&self) -> Option<&Upstream> {
        self.project.document.upstream_of(self.route())
    }

    pub fn project(&self) -> &Arc<Project> {
        &self.project
    }

    /// Whether the call itself writes: a dry run never does (C-80).
    pub fn writes(&self) -> bool {
        self.route().writes() && !self.dry_run
    }

    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// How the upstream receives a dry run that it answers itself.
    pub fn forwarded_dry_run(&self) -> Option<DryRunSpelling> {
        self.route().upstream_dry_run().filter(|_| self.dry_run)
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

    pub fn mode(&self) -> Mode {
        self.who.mode
    }

    /// Whether the account's resources have data of several users: then the outcome must name them (AAP 11.4).
    pub fn crosses_users(&self) -> bool {
        self.crosses_users
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

    /// The row that a call's step writes beside its guards; none but for the first call of a session.
    pub(super) fn begun_session(&self) -> Option<Record> {
        self.fixes_modes.as_deref().cloned().map(Record::Session)
    }

    /// The facts after that row was written.
    pub(super) fn begun(mut self) -> Self {
        if let Some(session) = self.fixes_modes.take() {
            let own = |guard: &&mut Guard| guard.table == Table::Session && guard.key == session.key;
            self.guards.iter_mut().filter(own).for_each(|guard| guard.version = session.version);
        }
        self
    }

    /// Guards a later version of the call's delegation; false if that is guarded already.
    pub(super) fn follow_delegation(&mut self, delegation: &Delegation) -> bool {
        let own = |guard: &&mut Guard| guard.table == Table::Delegation && guard.key == delegation.key;
        let Some(guard) = self.guards.iter_mut().find(own) else { return false };
        std::mem::replace(&mut guard.version, delegation.version) < delegation.version
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

    /// Checks the limits without reserving; those of a dry run are those of the real call.
    pub fn limit_checks(&self) -> CountedLimits {
        self.usage.check(self.route().writes())
    }

    /// The same for a call that is counted among the requests already.
    pub(super) fn limit_checks_after_waiting(&self) -> CountedLimits {
        self.usage.check_after_waiting(self.route().writes())
    }

    /// The requesting delegation. Without one there is no person to ask.
    pub fn principal(&self) -> Result<&str, Refusal> {
        self.delegation_id().ok_or(Refusal::TierNotMet { needed: 2, has: 1 })
    }

    /// The digest of the exact request.
    pub fn digest(&self, request: &HttpRequest) -> Result<Digest, Refusal> {
        let action: HttpAction = request.action(&self.project.id, self.principal()?, self.route());
        Ok(Action::Http(action).digest()?)
    }

    /// Digest of the current rules for this call.
    pub fn rules(&self) -> Digest {
        let route = self.route();
        terms::rules(&self.project.document, &route.action, Some(&route.id))
    }

    /// An approval is valid for the session that asked, not for another of the same delegation (AAP 14.1).
    pub(super) fn check_asked_in_session(&self, view: &ClaimView) -> Result<(), Refusal> {
        match view.decision.raised_by.session == Some(self.session()) {
            true => Ok(()),
            false => Err(Refusal::ConfirmationInvalid("it was given to another session".into())),
        }
    }

    /// The earliest end of token, receipt and delegation: a stream is cut then.
    pub fn ends_at(&self) -> UnixMillis {
        self.ends_at
    }

    /// The path at which this endpoint undoes this call (AAP 14.1, 17.7). `request` is the whole request where it is needed.
    pub fn cancel_path(&self, endpoint: &RouteCancel, request: Option<&HttpRequest>) -> Option<CancelPath> {
        CancelPath::of_endpoint(endpoint, self.route(), (&self.path, self.query.as_deref()), request)
    }

    /// Whether a request with this method, path and query is the decided one.
    pub fn covers(&self, method: &str, target: &str) -> bool {
        let query = self.forwarded_query();
        let (path, given) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        method == self.method && path == self.path && given == query.as_deref()
    }

    /// The query as the upstream receives it: with the marker of a dry run, where its route declares that spelling.
    pub fn forwarded_query(&self) -> Option<Cow<'_, str>> {
        let query = self.query.as_deref();
        match (self.forwarded_dry_run(), query) {
            (Some(DryRunSpelling::Query), None | Some("")) => Some(Cow::Borrowed("dry_run=true")),
            (Some(DryRunSpelling::Query), Some(query)) => Some(Cow::Owned(format!("{query}&dry_run=true"))),
            _ => query.map(Cow::Borrowed),
        }
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
        Ok(Effects { evidence: vec![self.outcome(&outcome, None, &[], env)?], proof, ..Effects::default() })
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
        data_subjects: &[String],
        env: &Env,
    ) -> Result<EvidenceDraft, NotCanonical> {
        let subjects = (!data_subjects.is_empty()).then(|| data_subjects.to_vec());
        let entry = self.entry("call", env.now).open("outcome", outcome).open_if("call_id", call_id);
        entry.hidden_if("data_subjects", subjects).seal(&mut env.salts())
    }

    /// The same for a write, with its effect.
    pub(super) fn write_outcome(
        &self,
        (outcome, result): (&str, WriteResult),
        call_id: Option<&str>,
        data_subjects: &[String],
        env: &Env,
    ) -> Result<EvidenceDraft, NotCanonical> {
        let subjects = (!data_subjects.is_empty()).then(|| data_subjects.to_vec());
        let entry = self.entry("call", env.now).open("outcome", outcome).open("effect", result.as_str());
        entry.open_if("call_id", call_id).hidden_if("data_subjects", subjects).seal(&mut env.salts())
    }

    pub(super) fn entry(&self, event_type: &'static str, now: UnixMillis) -> DraftEntry {
        let entry = self
            .who
            .entry(event_type, now)
            .open("method", self.method.as_str())
            .open("action", self.action())
            .open_if("intent_type", self.intent_type.as_deref())
            .open_if("intent_type_known", (!self.intent_known).then_some(false))
            .open_if("dry_run", self.dry_run.then_some(true))
            .open_if("expanded_scope", self.expansion.as_ref().map(|used| used.scope.as_str()))
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

#[expect(clippy::expect_used, reason = "`matching_route` returns a route of the document")]
fn place_of(route: &Route, routes: &[Route]) -> usize {
    routes.iter().position(|own| std::ptr::eq(own, route)).expect("a route of the project")
}

fn fixes_modes(view: &AccessView, bearer: &Bearer) -> Option<Box<Session>> {
    let session = &bearer.session;
    let joinable = view.project.document.identity_modes_supported.len() > 1 && session.may_be_joined();
    joinable.then(|| Box::new(Session { modes_fixed: true, version: session.version + 1, ..session.clone() }))
}

fn ends_at(bearer: &Bearer) -> UnixMillis {
    let mut ends = bearer.token.expires_at;
    if let Some(delegation) = &bearer.delegation {
        ends = ends.min(delegation.policy_expires_at);
    }
    if let Some(receipt) = bearer.receipt() {
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
            mode: bearer.mode(),
            subject: match bearer.mode() {
                Mode::UserDelegated => bearer.session.subject.clone(),
                Mode::ServiceAccount => bearer.delegation.as_ref().map(|d| d.subject.clone()),
            },
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
            .open_if("dry_run", call.dry_run.is_requested().then_some(true))
            .hidden("path", call.path.as_str());
        entry.seal(&mut env.mint()).ok()
    }

    fn entry(&self, event_type: &'static str, now: UnixMillis) -> DraftEntry {
        let entry = DraftEntry::new((self.project.0, &self.project.1), event_type, now)
            .in_session(self.session.0, &self.session.1)
            .open("operator", self.operator.as_str())
            .open("mode", self.mode.as_str())
            .open("document_version", self.document_version);
        // A service account is no person, so its id need not be hidden.
        let entry = match self.mode {
            Mode::UserDelegated => entry.hidden_if("acting_for", self.subject.clone()),
            Mode::ServiceAccount => entry.open_if("account_id", self.subject.clone()),
        };
        match &self.delegation {
            Some((key, id)) => entry.under_delegation(*key, id),
            None => entry,
        }
    }
}
