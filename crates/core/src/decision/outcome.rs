//! What became of a claim, as its claimant reports it. A late report still counts.

use super::{
    due::{ExecutionView, completed, unknown},
    entry,
};
use crate::{
    env::Env,
    news::News,
    records::{Decision, Execution, ExecutionState, Point, Record, Reporter},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::aaep::event::ToolStatus;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// Still under way: renews the lease.
    Running,
    Committed,
    Failed {
        why: Option<String>,
    },
    /// The answer was lost: nobody can say whether it ran.
    Lost,
}

/// What one kind of enforcement point ran is for that kind to say: an agent's word would free the effect of what the
/// gateway sent.
pub fn may_report(decision: &Decision, point: Point) -> Result<(), Refusal> {
    match decision.point == point {
        true => Ok(()),
        false => Err(Refusal::ConfirmationInvalid("what became of this is not for the agent to say".into())),
    }
}

impl Operation for Report {
    type View = ExecutionView;
    type Answer = Execution;
    type Refusal = Refusal;

    fn decide(self, view: &ExecutionView, env: &Env) -> Result<Step<Execution>, Refusal> {
        let lease = match view.execution.state {
            ExecutionState::Claimed { lease_until } => Some(lease_until),
            ExecutionState::Unknown { .. } => None,
            ExecutionState::Committed { .. } if self == Self::Committed => {
                return Ok(Step::answer(view.execution.clone()));
            }
            ExecutionState::Failed { .. } if matches!(self, Self::Failed { .. }) => {
                return Ok(Step::answer(view.execution.clone()));
            }
            _ => return Err(Refusal::Conflict("another outcome was reported already".into())),
        };
        match (&self, lease) {
            (Self::Lost, Some(_)) => unknown(view, env),
            (Self::Lost, None) => Ok(Step::answer(view.execution.clone())),
            (Self::Running, Some(lease_until)) if env.now < lease_until => Ok(renew(view, lease_until, env)),
            (Self::Running, _) => Err(Refusal::Conflict("the lease has lapsed; report the outcome itself".into())),
            (Self::Committed | Self::Failed { .. }, _) => self.close(view, env),
        }
    }
}

fn renew(view: &ExecutionView, lease_until: countersign_protocol::time::UnixMillis, env: &Env) -> Step<Execution> {
    let state = ExecutionState::Claimed { lease_until: env.now.plus_secs(view.decision.terms.lease_s) };
    let renewed = Execution { state, version: view.execution.version + 1, ..view.execution.clone() };
    let puts = vec![Record::Execution(renewed.clone())];
    Step { answer: renewed, effects: Effects { puts, before: Some(lease_until), ..Effects::default() } }
}

impl Report {
    fn close(self, view: &ExecutionView, env: &Env) -> Result<Step<Execution>, Refusal> {
        let (state, status, word, why) = match self {
            Self::Failed { why } => {
                let state = ExecutionState::Failed { at: env.now, by: Reporter::Claimant, why: why.clone() };
                (state, ToolStatus::Error, "failed", why)
            }
            _ => {
                let state = ExecutionState::Committed { at: env.now, by: Reporter::Claimant };
                (state, ToolStatus::Success, "committed", None)
            }
        };
        let mut mint = env.mint();
        let closed = Execution { state, version: view.execution.version + 1, ..view.execution.clone() };
        let mut puts = vec![Record::Execution(closed.clone())];
        let mut news = vec![News::Changed { decision: view.decision.key }];
        completed(view, status, why.clone(), env, &mut mint, &mut puts, &mut news);
        let entry = entry(&view.place, &view.decision, "execution_settled", env.now)
            .open("execution_id", view.execution.id.as_str())
            .open("outcome", word)
            .open("reported_by", "claimant")
            .hidden_if("reason", why);
        let evidence = vec![entry.seal(&mut mint)?];
        Ok(Step { answer: closed, effects: Effects { puts, news, evidence, ..Effects::default() } })
    }
}
