//! `…/claim`, `…/outcome`, `…/withdraw`: spending a yes, saying what became of it, or taking a question back.

use super::{Agent, raise::digest_of};
use crate::{
    engine::{Engine, TRIES, unavailable},
    projects::ProjectAt,
    store::{self, Lookup, Outcome},
};
use countersign_core::{
    decision::{
        Place,
        answer::counts,
        call_off::Withdraw,
        claim::{Claim, ClaimView},
        due::{DueView, ExecutionView},
        outcome::{Report, may_report},
    },
    people::Member,
    records::{Ballot, Decision, DecisionState, Membership, Person, Point},
    refusal::Refusal,
    step::{Guard, Operation as _},
};
use countersign_protocol::{
    decisions::{ClaimRequest, DecisionDocument, OutcomeRequest, OutcomeStatus, WithdrawRequest},
    hash::Digest,
};

impl Engine {
    /// Spends a yes. Everything that it rests on is decided again, and the claim is durable before this answers.
    pub async fn claim(
        &self,
        at: &ProjectAt,
        agent: &Agent,
        id: &str,
        body: &ClaimRequest,
    ) -> Result<DecisionDocument, Refusal> {
        for _ in 0..TRIES {
            let decision = self.own_decision(at, agent, id).await?;
            let claim =
                Claim { digest: said_again(at, agent, body)?, point: Point::AgentClaimed, node: self.store.lane() };
            let _turn = self.turns.take(decision.asked_in).await;
            let view = self.claim_view(at, agent.guards.clone(), &decision).await?;
            let step = claim.decide(&view, &self.env()?)?;
            match self.commit(step.effects).await {
                Outcome::Committed => return self.decision(at, agent, id).await,
                Outcome::Stale => {}
                Outcome::OutOfTime => {
                    return Err(Refusal::YesGone("its time is over"));
                }
                _ => return Err(Refusal::Unavailable),
            }
        }
        Err(Refusal::Unavailable)
    }

    /// Everything that a claim rests on, as the store has it now.
    pub(crate) async fn claim_view(
        &self,
        at: &ProjectAt,
        mut guards: Vec<Guard>,
        decision: &Decision,
    ) -> Result<ClaimView, Refusal> {
        let decision: Decision =
            store::get(&*self.store, decision.key).await.map_err(unavailable)?.ok_or(Refusal::Internal)?;
        let lookup = Lookup::AllowanceOfDecision(decision.key);
        let allowance = store::find_one(&*self.store, lookup).await.map_err(unavailable)?;
        let approver_stands = match &decision.state {
            DecisionState::Accepted { by } => self.still_entitled(at, &decision, by, &mut guards).await?,
            _ => true,
        };
        let session = self.session_of_decision(&decision).await?;
        let under_way = self.under_way(decision.project, decision.digest).await?;
        let under_way = under_way.filter(|(execution, _)| execution.decision != decision.key).map(|(_, id)| id);
        let same_effect = self.same_effect(decision.project, decision.effect).await?;
        Ok(ClaimView {
            place: place(at),
            allowance,
            session,
            guards,
            approver_stands,
            under_way,
            same_effect,
            decision,
        })
    }

    /// Whether whoever said yes could still say it: the account, and the place in the project that entitled it.
    async fn still_entitled(
        &self,
        at: &ProjectAt,
        decision: &Decision,
        by: &Ballot,
        guards: &mut Vec<Guard>,
    ) -> Result<bool, Refusal> {
        let person: Option<Person> = store::get(&*self.store, by.person).await.map_err(unavailable)?;
        let Some(person) = person.filter(|person| !person.disabled) else { return Ok(false) };
        let lookup = Lookup::MembershipOf { project: at.project.key, person: person.key };
        let membership: Option<Membership> = store::find_one(&*self.store, lookup).await.map_err(unavailable)?;
        let member = Member { person, membership, fresh_until: self.now() };
        guards.extend(member.guards());
        Ok(counts(decision, member.person.key, &member.roles(), true))
    }

    pub async fn report(
        &self,
        at: &ProjectAt,
        agent: &Agent,
        id: &str,
        body: &OutcomeRequest,
    ) -> Result<DecisionDocument, Refusal> {
        if body.error_message.as_ref().is_some_and(|why| !(1..=4096).contains(&why.chars().count())) {
            return Err(Refusal::invalid("error_message has 1 to 4096 characters"));
        }
        let report = match body.status {
            OutcomeStatus::Running => Report::Running,
            OutcomeStatus::Committed => Report::Committed,
            OutcomeStatus::Failed => Report::Failed { why: body.error_message.clone() },
        };
        for _ in 0..TRIES {
            let decision = self.own_decision(at, agent, id).await?;
            may_report(&decision, Point::AgentClaimed)?;
            let _turn = self.turns.take(decision.asked_in).await;
            let execution = self.execution_of(decision.key).await?;
            let execution = execution.ok_or_else(|| Refusal::Conflict("nothing was claimed".into()))?;
            let session = self.session_of_decision(&decision).await?;
            let view = ExecutionView { place: place(at), decision, session, execution };
            let step = report.clone().decide(&view, &self.env()?)?;
            match self.commit(step.effects).await {
                Outcome::Committed => return self.decision(at, agent, id).await,
                Outcome::Stale => {}
                Outcome::OutOfTime => return Err(Refusal::Conflict("the lease has lapsed".into())),
                _ => return Err(Refusal::Unavailable),
            }
        }
        Err(Refusal::Unavailable)
    }

    pub async fn withdraw(
        &self,
        at: &ProjectAt,
        agent: &Agent,
        id: &str,
        body: &WithdrawRequest,
    ) -> Result<DecisionDocument, Refusal> {
        if body.reason.as_ref().is_some_and(|why| !(1..=4096).contains(&why.chars().count())) {
            return Err(Refusal::invalid("reason has 1 to 4096 characters"));
        }
        for _ in 0..TRIES {
            let decision = self.own_decision(at, agent, id).await?;
            let _turn = self.turns.take(decision.asked_in).await;
            let session = self.session_of_decision(&decision).await?;
            let view = DueView { place: place(at), decision, session };
            let step = Withdraw { reason: body.reason.clone() }.decide(&view, &self.env()?)?;
            if self.finish(step).await?.is_some() {
                return self.decision(at, agent, id).await;
            }
        }
        Err(Refusal::Unavailable)
    }
}

pub(super) fn place(at: &ProjectAt) -> Place {
    (at.project.key, at.project.id.clone())
}

/// What the agent is about to run, said again: the digest is ours to compute, or to be matched exactly.
fn said_again(at: &ProjectAt, agent: &Agent, body: &ClaimRequest) -> Result<Digest, Refusal> {
    match (&body.tool, &body.digest) {
        (Some(tool), None) => digest_of(at, agent, tool.clone(), body.arguments.clone().unwrap_or_default()),
        (None, Some(hex)) if body.arguments.is_none() => {
            Digest::from_hex(hex).ok_or_else(|| Refusal::invalid("digest is 64 hex digits"))
        }
        _ => Err(Refusal::invalid("say what is about to run: tool and arguments, or the digest")),
    }
}
