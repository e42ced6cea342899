//! Answering a dry run: every check of the real call, and no effect but the entry and the proof (AAP 14.1, R-20).

use super::{
    DecidedCall, UpstreamExchange,
    approve::HeldCall,
    repeats::{describe_whole, refuse_if_repeated},
};
use crate::{
    decisions::{Claiming, RaisedDecision},
    runner::TRIES,
    services::Calls,
    store::{self, Outcome},
};
use countersign_core::{
    aap::access::{AskedInPreview, CallFacts, CallVerdict, Previewed, preview},
    decision::claim::Claim,
    held::HttpRequest,
    project::undo::is_held_for_undo,
    records::{Decision, Point},
    refusal::Refusal,
};
use countersign_protocol::{
    aap::dry_run::{ApprovalUse, DryRunNeed, DryRunPreview},
    ids::RowKey,
};

/// A call to preview, with everything found out about it.
struct Looked {
    decided: DecidedCall,
    found: Previewed,
}

impl Calls<'_> {
    pub(super) async fn preview<E: UpstreamExchange>(
        self,
        decided: DecidedCall,
        mut exchange: E,
    ) -> Result<Box<DryRunPreview>, Refusal> {
        let request = match exchange.read_whole(decided.facts()).await {
            Ok(request) => request,
            Err(refusal) => return Err(decided.refuse(refusal).await),
        };
        let mut decided = decided;
        // Not the step runner: between two commits the call is decided again.
        for _ in 0..TRIES {
            let Looked { decided: looked, found } = self.look_at(decided, &request).await?;
            decided = looked;
            let call = decided.dry_run().ok_or(Refusal::Internal)?;
            let answer = preview(call, &request, found);
            match self.commit(call.record(&self.env()?)?).await {
                Outcome::Committed => {
                    decided.mark_recorded();
                    return Ok(Box::new(answer));
                }
                Outcome::Stale => self.agents().forget_credential(&decided.address, &decided.call),
                Outcome::Replayed => return Err(decided.refuse(Refusal::DpopReplayed).await),
                _ => return Err(Refusal::Unavailable),
            }
            match self.decide_again(&mut decided, false).await? {
                verdict @ CallVerdict::DryRun(_) => decided.set_verdict(verdict),
                // The project changed between two readings; the next request is decided by its new document.
                _ => return Err(Refusal::Unavailable),
            }
        }
        Err(Refusal::Unavailable)
    }

    /// A refusal is recorded before it is returned.
    async fn look_at(self, decided: DecidedCall, request: &HttpRequest) -> Result<Looked, Refusal> {
        match decided.dry_run().map(|call| call.needs()) {
            Some(DryRunNeed::Person) => self.look_at_held(decided, request).await,
            _ => match self.look_at_plain(decided.facts(), request).await {
                Ok(found) => Ok(Looked { decided, found }),
                Err(refusal) => Err(decided.refuse(refusal).await),
            },
        }
    }

    async fn look_at_plain(self, facts: &CallFacts, request: &HttpRequest) -> Result<Previewed, Refusal> {
        self.clarifications().check_call(facts).await?;
        self.check_limits(facts).await?;
        if facts.would_refuse_repeats() {
            let fingerprint = facts.fingerprint(&describe_whole(request).0, None)?;
            refuse_if_repeated(&fingerprint, &self.find_unsettled_writes(facts).await?)?;
        }
        let digest = facts.principal().ok().map(|_| facts.digest(request)).transpose()?;
        Ok(Previewed { digest, ..self.counters(facts).await? })
    }

    async fn look_at_held(self, decided: DecidedCall, request: &HttpRequest) -> Result<Looked, Refusal> {
        let (at, rendered) = match self.rendered(&decided, request).await {
            Ok(rendered) => rendered,
            Err(refusal) => return Err(decided.refuse(refusal).await),
        };
        let named =
            decided.call.confirm.as_deref().and_then(|token| token.split_once('.')).map(|(id, _)| id.to_owned());
        let held = HeldCall { decided, request: request.clone(), at, rendered, named: named.unwrap_or_default() };
        match self.approval_or_question(&held).await {
            Ok(found) => Ok(Looked { decided: held.decided, found }),
            Err(refusal) => Err(self.refuse_held(held, refusal).await),
        }
    }

    /// In the order of the real call: gaps, an approval that covers it, the question.
    async fn approval_or_question(self, held: &HeldCall) -> Result<Previewed, Refusal> {
        let agent = held.agent()?;
        let facts = held.decided.facts();
        self.clarifications().check_question(&held.at.project, &agent.raiser, facts.action()).await?;
        let approval = match held.decided.call.confirm.as_deref() {
            None | Some("true") => self.usable_approval(held).await?,
            Some(token) => {
                let decision = self.named_approval(held, token).await?;
                Some(self.approval_use(held, &decision, None).await?)
            }
        };
        let asked = match &approval {
            Some(_) => None,
            None => {
                let asking = self.question_about(held, &agent, None).await?;
                let RaisedDecision { decision, fresh, .. } =
                    self.decisions().would_ask(&held.at, &agent, &asking).await?;
                Some(AskedInPreview { decision, is_pending: !fresh })
            }
        };
        Ok(Previewed { digest: Some(held.rendered.digest), asked, approval, ..self.counters(facts).await? })
    }

    /// The approval that the real call could claim: a standing one or a plan's, then one of exactly this request.
    async fn usable_approval(self, held: &HeldCall) -> Result<Option<ApprovalUse>, Refusal> {
        let raiser = held.agent()?.raiser;
        let (project, call) = (held.at.project.key, &held.rendered.call);
        // Each call that is held for undo is approved by itself.
        let facts = held.decided.facts();
        let is_alone = is_held_for_undo(&facts.project().document, facts.route());
        let mut passed_over = Vec::new();
        while !is_alone && passed_over.len() < TRIES {
            let covering = self.decisions().find_covering(project, &raiser, Point::Gateway, call, &passed_over).await?;
            let Some(allowance) = covering else { break };
            let decision: Option<Decision> = store::get(&*self.store, allowance.decision).await?;
            let decision = decision.ok_or(Refusal::Internal)?;
            match self.approval_use(held, &decision, Some(allowance.key)).await {
                Ok(found) => return Ok(Some(found)),
                Err(Refusal::ApprovalGone(_) | Refusal::ConfirmationInvalid(_)) => passed_over.push(allowance.key),
                Err(refusal) => return Err(refusal),
            }
        }
        for decision in self.approvals_for(held).await? {
            match self.approval_use(held, &decision, None).await {
                Ok(found) => return Ok(Some(found)),
                Err(Refusal::ApprovalGone(_)) => {}
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(None)
    }

    async fn approval_use(
        self,
        held: &HeldCall,
        decision: &Decision,
        allowance: Option<RowKey>,
    ) -> Result<ApprovalUse, Refusal> {
        self.approved_is_clear(held, decision).await?;
        let (digest, effect) = (held.rendered.digest, held.rendered.effect.as_ref().map(|effect| effect.digest));
        let claiming = Claiming { digest, effect, allowance };
        let view = self.decisions().claim_view(&held.at, Vec::new(), decision, &claiming).await?;
        let call = held.decided.dry_run().ok_or(Refusal::Internal)?;
        let claim = Claim {
            digest,
            effect,
            point: Point::Gateway,
            node: self.store.lane(),
            call: Some(held.rendered.call.clone()),
            rules: Some(call.facts().rules()),
            probe: None,
            cancel: None,
            undo: None,
            window_closed: false,
        };
        call.approval_use(claim, &view, &self.env()?)
    }

    /// The limits of the real call, as they stand.
    async fn counters(self, facts: &CallFacts) -> Result<Previewed, Refusal> {
        let mut counters = Vec::new();
        for count in facts.usage().would_use(facts.route().writes()).iter() {
            counters.push((count.clone(), self.store.count(&count.key).await?));
        }
        Ok(Previewed { counters, ..Previewed::default() })
    }
}
