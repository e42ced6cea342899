//! Reconciliation: a person settles an unknown outcome.

use super::{
    answer::ProvenPerson,
    due::ExecutionView,
    execution_entry,
    outcome::{End, settle_effects},
};
use crate::{
    env::Env,
    records::{Approvers, Decision, Execution, ExecutionState, Record, Reporter, Role},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::ids::RowKey;

pub struct Reconcile {
    pub by: ProvenPerson,
    pub ran: bool,
    pub reason: String,
    /// The project's switch for single-person teams.
    pub own_approval: bool,
}

impl Operation for Reconcile {
    type View = ExecutionView;
    type Answer = Execution;
    type Refusal = Refusal;

    fn decide(self, view: &ExecutionView, env: &Env) -> Result<Step<Execution>, Refusal> {
        if self.reason.trim().is_empty() {
            return Err(Refusal::invalid("say how you found out"));
        }
        if !self.check_entitlement(view) {
            return Err(Refusal::NotAuthorized(
                "an approver or an admin other than the person concerned does this; where one person works alone, an \
                 admin sets own_approval = true under [decisions] in the project's document"
                    .into(),
            ));
        }
        if !matches!(view.execution.state, ExecutionState::Unknown { .. }) {
            return Err(Refusal::Conflict("the outcome is already known".into()));
        }
        let by = Reporter::Person { person: self.by.person, reason: self.reason.clone() };
        let state = match self.ran {
            true => ExecutionState::Committed { at: env.now, by },
            false => ExecutionState::Failed { at: env.now, by, why: Some(self.reason.clone()) },
        };
        let closed = Execution { state, probe: None, version: view.execution.version + 1, ..view.execution.clone() };
        let entry = self
            .by
            .record(execution_entry(view, "execution_settled", env.now))
            .open("outcome", if self.ran { "committed" } else { "failed" })
            .open("reported_by", "person")
            .hidden("reason", self.reason.as_str());
        let mut mint = env.mint();
        let mut effects = Effects {
            puts: vec![Record::Execution(closed.clone())],
            guards: self.by.guards.clone(),
            evidence: vec![entry.seal(&mut mint)?],
            news: vec![Signal::Changed { decision: view.decision.key }],
            ..Effects::default()
        };
        let end = if self.ran { End::Committed } else { End::Failed };
        settle_effects(view, end, env, &mut mint, &mut effects)?;
        Ok(Step { answer: closed, effects })
    }
}

impl Reconcile {
    fn check_entitlement(&self, view: &ExecutionView) -> bool {
        let (person, roles) = (self.by.person, self.by.roles.as_slice());
        self.by.may_answer && may_reconcile(&view.decision, person, roles, self.own_approval)
    }
}

/// An approver or an admin, but not the person the agent acts for unless the switch of R-1 is on.
pub fn may_reconcile(decision: &Decision, person: RowKey, roles: &[Role], own_approval: bool) -> bool {
    let named = |approvers: &Approvers| {
        approvers.people.contains(&person) || approvers.roles.iter().any(|role| roles.contains(role))
    };
    let approver = decision.terms.all_approvers().all(named);
    let own = person == decision.raised_by.person;
    (approver || roles.contains(&Role::Admin)) && (!own || own_approval)
}
