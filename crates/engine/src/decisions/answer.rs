//! Answers of people from all channels: one path, one compare-and-set.

use crate::{
    projects::ProjectAt,
    services::Decisions,
    store::{DecisionById, DecisionByReply, ExecutionById, Outcome},
};
use countersign_core::{
    aap::boundary::CallBoundary,
    bounded::ActionTarget,
    decision::{
        answer::{Answer, AnswerView, CountedAnswer, NotCounted, Presence, ProvenPerson},
        cancel::CancelQuestion,
        due::DueView,
        extend::Extend,
        grant::AskedFor,
        reconcile::Reconcile,
    },
    mplp::roles::Deciding,
    people::{ProjectMember, accounts::LOCAL},
    records::{AaepSession, Assurance, Decision, Delegation, Execution, Via},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{hash::Digest, project::ProjectDocument, time::UnixMillis};
use std::sync::Arc;

/// The result of an answer. The AAEP response is the same for all; pages tell the difference.
pub type Answered = Result<CountedAnswer, NotCounted>;

impl Decisions<'_> {
    /// Answers the question of a reply token.
    pub async fn answer_by_token(self, at: &ProjectAt, token: &str, answer: &Answer) -> Answered {
        let decision = self.find_shared(DecisionByReply(Digest::of(token.as_bytes()))).await?;
        let decision = decision.filter(|decision| decision.project == at.project.key);
        self.answer(at, decision, answer).await
    }

    /// Answers a question by its id.
    pub async fn answer_by_id(self, at: &ProjectAt, id: &str, answer: &Answer) -> Answered {
        let decision = self.find_shared(DecisionById { project: at.project.key, id: id.to_owned() }).await?;
        self.answer(at, decision, answer).await
    }

    async fn answer(self, at: &ProjectAt, decision: Option<Arc<Decision>>, answer: &Answer) -> Answered {
        let settled = self.settle_by_answer(at, decision, answer).await;
        if let Err(why) = &settled {
            // Only the log gets the reason, and never the token (AAEP 6.3.4).
            tracing::info!(%why, "an answer did not count");
        }
        settled
    }

    async fn settle_by_answer(self, at: &ProjectAt, decision: Option<Arc<Decision>>, answer: &Answer) -> Answered {
        let found = decision.ok_or(NotCounted::Unknown)?;
        if !found.is_pending() {
            return Err(NotCounted::Settled);
        }
        let _lock = self.session_locks.lock(found.asked_in).await;
        let settle = || async {
            let decision: Option<Decision> = self.get(found.key).await?;
            let decision = decision.ok_or(NotCounted::Unknown)?;
            let session = self.session_of_decision(&decision).await?;
            let view = self.answer_view(at, decision, session, answer).await?;
            let step = match answer.clone().decide(&view, &self.env()?) {
                // A node with clock skew must not reject an answer as late: it reads the store's clock first.
                Err(NotCounted::TooLate) => {
                    self.measure_clock_skew().await?;
                    answer.clone().decide(&view, &self.env()?)?
                }
                decided => decided?,
            };
            Ok::<_, NotCounted>(((), step))
        };
        counted_answer(self.run_to_outcome(settle).await?)
    }

    async fn answer_view(
        self,
        at: &ProjectAt,
        decision: Decision,
        session: AaepSession,
        answer: &Answer,
    ) -> Result<AnswerView, Refusal> {
        let document = &at.project.document;
        // Only a standing approval needs the exact request.
        let asked_for = match answer.extra.bounds {
            Some(_) => self.requested_call(&at.project, &decision).await?,
            None => None,
        };
        Ok(AnswerView {
            boundary: self.call_boundary(document, &decision, asked_for.as_ref()).await?,
            place: at.project_ref(),
            pause_s: document.decisions.pause_seconds,
            plan: self.plan_of(decision.plan()).await?,
            policy: document.plans.clone(),
            asked_for,
            gap: self.clarifications().gap_view(at, &decision).await?,
            widening: self.widening_of(at, &decision).await?,
            decision,
            session,
        })
    }

    /// The boundary of a service account's call by a route (AAP 11.3).
    async fn call_boundary(
        self,
        document: &ProjectDocument,
        decision: &Decision,
        asked_for: Option<&AskedFor>,
    ) -> Result<Option<CallBoundary>, Refusal> {
        let Some(ActionTarget::Route { id }) = asked_for.map(|asked| &asked.what) else { return Ok(None) };
        let grant: Option<Delegation> = self.get_some(decision.raised_by.delegation).await?;
        let Some(account) = grant.and_then(|grant| grant.service_account) else { return Ok(None) };
        let route = document.routes.iter().find(|route| route.id == *id);
        let route = route.ok_or_else(|| Refusal::NoBoundary(id.clone()))?.clone();
        Ok(Some(CallBoundary { account, route }))
    }

    /// A person entitled to decide it calls it off.
    pub async fn call_off(
        self,
        at: &ProjectAt,
        id: &str,
        by: &ProvenPerson,
        reason: Option<String>,
        by_override: bool,
    ) -> Result<Decision, NotCounted> {
        let call_off = || async {
            let decision = self.decision_at(at.project.key, id).await?.ok_or(NotCounted::Unknown)?;
            let lock = self.session_locks.lock(decision.asked_in).await;
            let session = self.session_of_decision(&decision).await?;
            let plan = self.plan_of(decision.plan()).await?;
            let view = DueView { place: at.project_ref(), decision, session, plan };
            let operation = CancelQuestion { by: by.clone(), reason: reason.clone(), by_override };
            Ok::<_, NotCounted>((lock, operation.decide(&view, &self.env()?)?))
        };
        counted_answer(self.run_to_outcome(call_off).await?)
    }

    /// Extends the deadline within policy and returns the new one.
    pub async fn extend(
        self,
        at: &ProjectAt,
        id: &str,
        by: &ProvenPerson,
        seconds: i64,
    ) -> Result<UnixMillis, NotCounted> {
        let extend = || async {
            let decision = self.decision_at(at.project.key, id).await?.ok_or(NotCounted::Unknown)?;
            let lock = self.session_locks.lock(decision.asked_in).await;
            let session = self.session_of_decision(&decision).await?;
            let view = DueView { place: at.project_ref(), decision, session, plan: None };
            Ok::<_, NotCounted>((lock, Extend { by: by.clone(), seconds }.decide(&view, &self.env()?)?))
        };
        counted_answer(self.run_to_outcome(extend).await?)
    }

    /// A person settles the unknown outcome of an execution.
    pub async fn reconcile(
        self,
        at: &ProjectAt,
        execution_id: &str,
        by: &ProvenPerson,
        ran: bool,
        reason: &str,
    ) -> Result<Execution, Refusal> {
        self.run(|| async {
            let lookup = ExecutionById { project: at.project.key, id: execution_id.to_owned() };
            let execution = self.find_one(lookup).await?;
            let execution = execution.ok_or_else(|| Refusal::NotFound("there is no such execution".into()))?;
            let decision: Option<Decision> = self.get(execution.decision).await?;
            let removed = || Refusal::NotFound("the decision of this execution is not kept any more".into());
            let decision = decision.ok_or_else(removed)?;
            let session = self.session_of_decision(&decision).await?;
            let view = self.execution_view(at.project_ref(), decision, session, execution).await?;
            let own_approval = at.project.document.decisions.own_approval;
            let operation = Reconcile { by: by.clone(), ran, reason: reason.to_owned(), own_approval };
            operation.decide(&view, &self.env()?)
        })
        .await
    }

    /// The last proof of presence of a signed-in person.
    pub(crate) fn presence(self, member: &ProjectMember) -> Presence {
        let by = if member.person.issuer == LOCAL { "password" } else { "identity_provider" };
        Presence { at: member.fresh_until.plus_secs(-self.settings.fresh_s), by }
    }

    /// A signed-in person as the answerer, by page or by request.
    pub fn answerer(self, at: &ProjectAt, member: &ProjectMember, via: Via) -> ProvenPerson {
        let fresh = member.is_fresh(self.now());
        ProvenPerson {
            person: member.person.key,
            subject: member.person.subject.clone(),
            roles: member.roles(),
            assurance: if fresh { Assurance::Fresh } else { Assurance::Session },
            presence: Some(self.presence(member)),
            deciding: Deciding::of(&at.project.document, &member.person.subject, &member.roles()),
            may_answer: true,
            approves_high_risk: false,
            via,
            guards: member.guards(),
        }
    }
}

/// An answer that is late by the store's clock does not count.
fn counted_answer<A>((outcome, answer): (Outcome, A)) -> Result<A, NotCounted> {
    match outcome {
        Outcome::Committed => Ok(answer),
        Outcome::OutOfTime => Err(NotCounted::TooLate),
        _ => Err(NotCounted::Refused(Refusal::Unavailable)),
    }
}
