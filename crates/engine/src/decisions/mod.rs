//! Decisions: questions, answers, claims, outcomes and deadlines.

mod agents;
mod allowances;
mod answer;
mod claims;
mod due;
mod follow;
mod inbox;
pub(crate) mod live;
mod probe;
mod raise;
mod sealed_requests;

pub use agents::AgentPrincipal;
pub(crate) use agents::bound_key;
pub use allowances::OpenAllowance;
pub(crate) use allowances::StandingApprovalCache;
pub use answer::Answered;
pub(crate) use claims::Claiming;
pub use inbox::{InboxItem, UnknownOutcome};
pub(crate) use raise::RaiseRequest;
pub use raise::RaisedDecision;
pub(crate) use raise::digest_of;

use crate::{
    services::Decisions,
    store::{AllowancesOfDecision, DecisionById, ExecutionsDone, ExecutionsOfDecision, LastUndoableCallOf},
};
use countersign_core::{
    decision::document::Whole,
    records::{AaepSession, Allowance, Decision, Execution, ExecutionState, Plan},
    refusal::Refusal,
};
use countersign_protocol::{hash::Digest, ids::RowKey, time::UnixMillis};

impl Decisions<'_> {
    /// A decision with everything that belongs to it.
    pub(crate) async fn load_whole(self, decision: Decision) -> Result<Whole, Refusal> {
        let session = self.get(decision.asked_in).await?.ok_or(Refusal::Internal)?;
        let allowances = self.allowances_of(&decision).await?;
        let used = allowances.iter().any(|allowance| allowance.tally.used > 0);
        let execution = if used { self.execution_of(decision.key).await? } else { None };
        // The approval of a plan belongs to its steps; the plan's own documents list them.
        let allowance = allowances.into_iter().next().filter(|allowance| allowance.step.is_none());
        let undoable = match execution.as_ref().is_some_and(|execution: &Execution| execution.undoable) {
            true => self.find_one(LastUndoableCallOf(decision.key)).await?,
            false => None,
        };
        Ok(Whole { decision, session, allowance, execution, undoable })
    }

    /// The allowances of a decision, if it is settled.
    pub(crate) async fn allowances_of(self, decision: &Decision) -> Result<Vec<Allowance>, Refusal> {
        match decision.is_pending() {
            true => Ok(Vec::new()),
            false => Ok(self.find_all(AllowancesOfDecision(decision.key)).await?),
        }
    }

    /// The plan that a decision is about.
    pub(crate) async fn plan_of(self, plan: Option<RowKey>) -> Result<Option<Plan>, Refusal> {
        Ok(self.get_some(plan).await?)
    }

    /// The last use of a decision's allowance.
    pub(crate) async fn execution_of(self, decision: RowKey) -> Result<Option<Execution>, Refusal> {
        let all = self.find_all(ExecutionsOfDecision(decision)).await?;
        Ok(all.into_iter().next_back())
    }

    /// When exactly this last ran.
    pub(crate) async fn last_run_at(self, project: RowKey, digest: Digest) -> Result<Option<UnixMillis>, Refusal> {
        let done = self.find_all(ExecutionsDone { project, digest }).await?;
        let ran = done.iter().filter_map(|execution| match execution.state {
            ExecutionState::Committed { at, .. } => Some(at),
            _ => None,
        });
        Ok(ran.max())
    }

    pub(crate) async fn session_of_decision(self, decision: &Decision) -> Result<AaepSession, Refusal> {
        self.get(decision.asked_in).await?.ok_or(Refusal::Internal)
    }

    pub(crate) async fn decision_at(self, project: RowKey, id: &str) -> Result<Option<Decision>, Refusal> {
        Ok(self.find_one(DecisionById { project, id: id.to_owned() }).await?)
    }

    /// The token that ties a reply to its question: a MAC of the decision's id, stored nowhere.
    pub(crate) fn reply_token(self, decision_id: &str) -> Result<String, Refusal> {
        let keys = self.keys().ok_or(Refusal::Unavailable)?;
        let tag = keys.mac.tag("reply-token", decision_id.as_bytes());
        let half = tag.first_chunk::<16>().ok_or(Refusal::Internal)?;
        Ok(countersign_protocol::ids::prefixed("rpl", *half))
    }
}
