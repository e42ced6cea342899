//! The outcome of a claim, as reported by its claimant. A late report still counts.

use super::{
    due::{ExecutionView, announce_completion, leave_tool_state, mark_unknown},
    execution_entry,
};
use crate::{
    aaep::texts::Notice,
    env::{Env, Mint},
    mplp::progress::{PlanTransition, is_running},
    records::{
        AaepSessionState, Allowance, AllowanceState, Execution, ExecutionState, OutcomeConflict, Point, Record,
        Reporter,
    },
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::aaep::event::ToolStatus;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum OutcomeReport {
    /// In progress: renews the lease.
    Running,
    Committed,
    Failed {
        why: Option<String>,
        /// Refused by the upstream itself, in a response the hub received. Only this returns reservations.
        refused: bool,
    },
    /// The response was lost, so the outcome is unknown.
    Lost,
}

/// Only an enforcement point of the claiming kind reports the outcome. Otherwise an agent's report could free an
/// effect already sent by the gateway.
pub fn may_report(claimed_at: Point, point: Point) -> Result<(), Refusal> {
    match claimed_at == point {
        true => Ok(()),
        false => Err(Refusal::ConfirmationInvalid("only the gateway reports the outcome of this call".into())),
    }
}

impl Operation for OutcomeReport {
    type View = ExecutionView;
    type Answer = Execution;
    type Refusal = Refusal;

    fn decide(self, view: &ExecutionView, env: &Env) -> Result<Step<Execution>, Refusal> {
        self.report(Reporter::Claimant, view, env)
    }
}

impl OutcomeReport {
    pub(super) fn report(self, by: Reporter, view: &ExecutionView, env: &Env) -> Result<Step<Execution>, Refusal> {
        let lease = match view.execution.state {
            ExecutionState::Claimed { lease_until } => Some(lease_until),
            ExecutionState::Unknown { .. } => None,
            ExecutionState::Committed { .. } if self == Self::Committed => {
                return Ok(Step::answer(view.execution.clone()));
            }
            ExecutionState::Failed { .. } if matches!(self, Self::Failed { .. }) => {
                return Ok(Step::answer(view.execution.clone()));
            }
            ExecutionState::Committed { by: Reporter::Person { .. } | Reporter::Probe, .. }
                if matches!(self, Self::Failed { .. }) =>
            {
                return conflict(view, false, &by, env);
            }
            ExecutionState::Failed { by: Reporter::Person { .. } | Reporter::Probe, .. } if self == Self::Committed => {
                return conflict(view, true, &by, env);
            }
            _ => return Err(Refusal::Conflict("another outcome was reported already".into())),
        };
        match (&self, lease) {
            (Self::Lost, Some(_)) => mark_unknown(view, env.now, env),
            (Self::Lost, None) => Ok(Step::answer(view.execution.clone())),
            (Self::Running, Some(lease_until)) if env.now < lease_until => Ok(renew(view, lease_until, env)),
            (Self::Running, _) => Err(Refusal::Conflict("the lease has lapsed; report the outcome itself".into())),
            (Self::Committed | Self::Failed { .. }, _) => self.close(by, view, env),
        }
    }
}

fn renew(view: &ExecutionView, lease_until: countersign_protocol::time::UnixMillis, env: &Env) -> Step<Execution> {
    let state = ExecutionState::Claimed { lease_until: env.now.plus_secs(view.execution.lease_s) };
    let renewed = Execution { state, version: view.execution.version + 1, ..view.execution.clone() };
    let puts = vec![Record::Execution(renewed.clone())];
    Step { answer: renewed, effects: Effects { puts, before: Some(lease_until), ..Effects::default() } }
}

/// Records a report that contradicts a reconciled or probed outcome. It changes nothing else.
fn conflict(view: &ExecutionView, ran: bool, by: &Reporter, env: &Env) -> Result<Step<Execution>, Refusal> {
    if view.execution.conflict.is_some() {
        return Ok(Step::answer(view.execution.clone()));
    }
    let conflict = Some(OutcomeConflict { at: env.now, ran });
    let contradicted = Execution { conflict, version: view.execution.version + 1, ..view.execution.clone() };
    let entry = execution_entry(view, "execution_conflict", env.now)
        .open("outcome", if ran { "committed" } else { "failed" })
        .open("reported_by", by.as_str());
    let effects = Effects {
        puts: vec![Record::Execution(contradicted.clone())],
        news: vec![Signal::Changed { decision: view.decision.key }],
        evidence: vec![entry.seal(&mut env.mint())?],
        ..Effects::default()
    };
    Ok(Step { answer: contradicted, effects })
}

impl OutcomeReport {
    fn close(self, by: Reporter, view: &ExecutionView, env: &Env) -> Result<Step<Execution>, Refusal> {
        let reported_by = by.as_str();
        let (state, status, end, why) = match self {
            Self::Failed { why, refused } => {
                let state = ExecutionState::Failed { at: env.now, by, why: why.clone() };
                (state, ToolStatus::Error, if refused { End::Refused } else { End::Failed }, why)
            }
            _ => {
                let state = ExecutionState::Committed { at: env.now, by };
                (state, ToolStatus::Success, End::Committed, None)
            }
        };
        let mut mint = env.mint();
        let closed = Execution { state, probe: None, version: view.execution.version + 1, ..view.execution.clone() };
        let entry = execution_entry(view, "execution_settled", env.now)
            .open("outcome", if end == End::Committed { "committed" } else { "failed" })
            .open("reported_by", reported_by)
            .hidden_if("reason", why.clone());
        let mut effects = Effects {
            puts: vec![Record::Execution(closed.clone())],
            news: vec![Signal::Changed { decision: view.decision.key }],
            evidence: vec![entry.seal(&mut mint)?],
            ..Effects::default()
        };
        let goes_on = settle_effects(view, end, env, &mut mint, &mut effects)?;
        announce_completion(view, status, why, goes_on, env, &mut mint, &mut effects.puts, &mut effects.news);
        Ok(Step { answer: closed, effects })
    }
}

/// The end of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Committed,
    /// Refused by the upstream itself, so its reservation returns.
    Refused,
    Failed,
}

/// The effects of an execution's end on allowance and plan, and whether the session stays open.
pub(super) fn settle_effects(
    view: &ExecutionView,
    end: End,
    env: &Env,
    mint: &mut Mint,
    effects: &mut Effects,
) -> Result<bool, Refusal> {
    let returned = if end == End::Refused { returned_allowance(view, env) } else { None };
    let allowance = returned.as_ref().or(view.allowance.as_ref());
    let open = allowance.is_some_and(|allowance| allowance.is_bounded() && allowance.is_open());
    let goes_on = match (&view.plan, &view.execution.step) {
        (Some(plan), Some(step)) => {
            let mut moving = PlanTransition::of(plan, env.now);
            moving.end_use(&step.step, end == End::Committed, returned.is_some(), open);
            let goes_on = moving.is_running();
            moving.finish(&view.place, mint, effects)?;
            if !goes_on && matches!(view.execution.state, ExecutionState::Unknown { .. }) {
                // The call was announced as ended when its outcome became unknown; the session stayed open for the plan alone.
                leave_tool_state(&view.decision, &view.session, &Notice::Finished, env, mint, effects);
            }
            goes_on
        }
        _ => open,
    };
    effects.puts.extend(returned.map(Record::Allowance));
    Ok(goes_on)
}

/// Returns the reservation of a refused execution to its standing approval, and reopens a spent one, unless it has
/// expired or its plan or session is over.
fn returned_allowance(view: &ExecutionView, env: &Env) -> Option<Allowance> {
    let allowance = view.allowance.as_ref().filter(|allowance| allowance.is_bounded())?;
    let state = match allowance.state {
        AllowanceState::Spent if env.now < allowance.until && stays_open(view) => AllowanceState::Open,
        state => state,
    };
    let tally = allowance.tally.release(&view.execution.taken).ok()?;
    Some(Allowance { tally, state, version: allowance.version + 1, ..allowance.clone() })
}

fn stays_open(view: &ExecutionView) -> bool {
    matches!(view.session.state, AaepSessionState::Open { .. }) && view.plan.as_ref().is_none_or(is_running)
}
