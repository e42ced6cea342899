//! Scopes beyond a consent receipt: requested from the person, read by the agent, or expanded silently (AAP 12.3).

use crate::{
    decisions::{AgentPrincipal, RaisedDecision},
    projects::{Address, ProjectAt},
    services::{Agents, Calls, Decisions},
    store::{DecisionsExpanding, SessionsExpandedFor, SessionsExpandedIn},
};
use countersign_core::{
    aap::{
        access::{CallFacts, RefusedCall, WantedScope},
        scope_expansion::{
            ExpandSilently, ExpandView, ExpansionMode, Widening, denied_until, document, has_approved, in_force,
            poll_path, question, same_request,
        },
    },
    records::{Decision, DecisionState, Delegation, Session},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{
    aap::{access_summary::ExpandedScope, scope_approval::ScopeApproval},
    ids::RowKey,
};
use std::{sync::Arc, time::Duration};

/// The requests of a session that its agent sees. Older ones are in the audit.
const LISTED: i64 = 50;

impl Calls<'_> {
    /// The refused call, with the request for the scope that it lacks. One request of a session is raised once; while it is
    /// pending, or was denied shortly before, nobody is asked again.
    pub(crate) async fn request_scope(self, address: &Address, mut refused: RefusedCall) -> RefusedCall {
        let Some(wanted) = refused.take_wanted_scope() else { return refused };
        match self.requested(address, &wanted, &refused.refusal).await {
            Ok(refusal) | Err(refusal) => refused.with_refusal(refusal),
        }
    }

    async fn requested(self, address: &Address, wanted: &WantedScope, refusal: &Refusal) -> Result<Refusal, Refusal> {
        let Refusal::ConsentScopeExceeded(exceeded) = refusal else { return Ok(refusal.clone()) };
        let at = self.project(address).await?;
        let session: Session = self.load(wanted.facts.session()).await?;
        let decision = match self.known_request(&at, &session, wanted).await? {
            Some(known) => known,
            None => {
                let agent = AgentPrincipal::of_call(&wanted.facts)?;
                let RaisedDecision { decision, .. } =
                    self.decisions().ask(&at, &agent, question(wanted)?.into()).await?;
                decision
            }
        };
        let page = self.decisions().page_of(&at, &decision.id);
        let shown = document(&session, &[(decision, page)], &at.project.document);
        let poll = format!("{}{}{}", at.service, at.prefix(), poll_path(&session.session_id));
        Ok(exceeded.clone().with_request(&shown.current, poll).into())
    }

    /// The same request, if it is pending, denied shortly before, or just approved.
    async fn known_request(
        self,
        at: &ProjectAt,
        session: &Session,
        wanted: &WantedScope,
    ) -> Result<Option<Decision>, Refusal> {
        let same = same_request(wanted)?;
        let asked = self.find_all(DecisionsExpanding { session: session.key, limit: LISTED }).await?;
        let latest = asked.into_iter().find(|decision| decision.same == same);
        let now = self.now();
        let counts = |decision: &Decision| match decision.state {
            DecisionState::Pending { deadline, .. } => now < deadline,
            DecisionState::Accepted { .. } => has_approved(session, decision),
            _ => denied_until(decision, &at.project.document).is_some_and(|until| now < until),
        };
        Ok(latest.filter(counts))
    }

    /// Records an expansion without a question, before the call that rests on it is decided again.
    pub(crate) async fn expand_silently(self, facts: &CallFacts, scope: &str) -> Result<(), Refusal> {
        let (project, session, delegation) = (Arc::clone(facts.project()), facts.session(), facts.delegation());
        self.run(|| async {
            let session: Session = self.load(session).await?;
            let delegation: Delegation = self.load(delegation.ok_or(Refusal::Internal)?).await?;
            // By the current document, and not by the one in the node's memory.
            let project = Arc::new(self.load(project.key).await?);
            let view = ExpandView { project, session, delegation };
            ExpandSilently { scope: scope.to_owned() }.decide(&view, &self.env()?)
        })
        .await
    }
}

impl Agents<'_> {
    /// The requests for further scopes of the agent's own session. Any other session looks unknown.
    pub async fn scope_approval(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        session_id: &str,
    ) -> Result<ScopeApproval, Refusal> {
        let (session, asked) = self.scope_requests(agent, session_id).await?;
        let with_page = |decision: Decision| {
            let page = self.decisions().page_of(at, &decision.id);
            (decision, page)
        };
        let asked: Vec<(Decision, String)> = asked.into_iter().map(with_page).collect();
        Ok(document(&session, &asked, &at.project.document))
    }

    /// The same once the pending request is settled, or when `wait` is over.
    pub async fn await_scope_approval(
        self,
        at: &ProjectAt,
        (agent, token): (&AgentPrincipal, &str),
        session_id: &str,
        wait: Duration,
    ) -> Result<ScopeApproval, Refusal> {
        let (_, asked) = self.scope_requests(agent, session_id).await?;
        if let Some(pending) = asked.iter().find(|decision| decision.is_pending()).filter(|_| !wait.is_zero()) {
            self.decisions().await_decision(at, token, &pending.id, wait).await?;
        }
        self.scope_approval(at, agent, session_id).await
    }

    async fn scope_requests(
        self,
        agent: &AgentPrincipal,
        session_id: &str,
    ) -> Result<(Session, Vec<Decision>), Refusal> {
        let session: Option<Session> = self.get_some(agent.raiser.session).await?;
        let session = session.filter(|session| session.session_id == session_id).ok_or(Refusal::SessionNotFound)?;
        let mut asked = self.find_all(DecisionsExpanding { session: session.key, limit: LISTED }).await?;
        // The other mode of a mixed session has its own delegation.
        asked.retain(|decision| decision.raised_by.delegation == agent.raiser.delegation);
        Ok((session, asked))
    }

    /// The open sessions with scopes beyond their receipts that may belong to these delegations: one query for one person.
    pub(super) async fn expanded_sessions(
        self,
        project: RowKey,
        delegations: &[Delegation],
    ) -> Result<Vec<Session>, Refusal> {
        let Some(first) = delegations.first() else { return Ok(Vec::new()) };
        Ok(match delegations.iter().all(|delegation| delegation.subject == first.subject) {
            true => self.find_all(SessionsExpandedFor { project, subject: first.subject.clone() }).await?,
            false => self.find_all(SessionsExpandedIn(project)).await?,
        })
    }

    /// The scopes that the open sessions of one delegation have beyond their receipts.
    pub async fn scopes_beyond_receipts(
        self,
        at: &ProjectAt,
        delegation: &Delegation,
    ) -> Result<Vec<ExpandedScope>, Refusal> {
        let sessions = self.expanded_sessions(at.project.key, std::slice::from_ref(delegation)).await?;
        Ok(in_force(&at.project.document, delegation, &sessions, self.now()))
    }
}

impl Decisions<'_> {
    /// The session that an approval of this decision expands.
    pub(crate) async fn widening_of(self, at: &ProjectAt, decision: &Decision) -> Result<Option<Widening>, Refusal> {
        if decision.expansion.is_none() {
            return Ok(None);
        }
        let (session, delegation) = (decision.raised_by.session, decision.raised_by.delegation);
        let session: Option<Session> = self.get_some(session).await?;
        let delegation: Option<Delegation> = self.get_some(delegation).await?;
        let mode = ExpansionMode::of(&at.project.document);
        Ok(session.zip(delegation).map(|(session, delegation)| Widening { mode, session, delegation }))
    }

    /// Withdraws requests for a receipt that its session no longer has: their approval would add nothing.
    pub(crate) async fn withdraw_outdated_requests(self, at: &ProjectAt, session: &Session) -> Result<(), Refusal> {
        let receipt = session.receipt.as_ref().map(|receipt| receipt.said);
        let asked = self.find_all(DecisionsExpanding { session: session.key, limit: LISTED }).await?;
        let outdated = |decision: &&Decision| {
            let asked = decision.expansion.as_ref().map(|asked| asked.receipt);
            decision.is_pending() && asked != receipt
        };
        for decision in asked.iter().filter(outdated) {
            self.withdraw_open(at, decision.key, "the task has a new consent receipt").await?;
        }
        Ok(())
    }
}
