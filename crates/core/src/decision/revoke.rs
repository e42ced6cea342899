//! Revoking an approval, at any time.

use super::{
    ProjectRef,
    answer::{ProvenPerson, is_entitled_by_policy},
    due::AllowanceDueView,
};
use crate::{
    aaep::texts::Notice,
    env::Env,
    evidence::DraftEntry,
    mplp::progress::PlanTransition,
    records::{AaepSession, Allowance, AllowanceState, CancelledFor, Decision, Plan, Record, Role},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};

/// Revokes an allowance: no further claims. Running executions continue.
#[derive(Clone, Debug)]
pub struct RevokeApproval {
    pub by: ProvenPerson,
    pub reason: Option<String>,
}

impl Operation for RevokeApproval {
    type View = AllowanceDueView;
    type Answer = Allowance;
    type Refusal = Refusal;

    fn decide(self, view: &AllowanceDueView, env: &Env) -> Result<Step<Allowance>, Refusal> {
        check_entitlement(&self.by, &view.decision, Some(&view.allowance))?;
        if !view.allowance.is_open() {
            return Err(Refusal::Conflict("nothing of this approval is left to revoke".into()));
        }
        let over = cancelled(&view.allowance, env);
        let record = |entry: DraftEntry| self.record(entry);
        let mut effects = view.end_allowance(over.clone(), &Notice::TakenBack, record, env)?;
        effects.guards.extend(self.by.guards.iter().copied());
        Ok(Step { answer: over, effects })
    }
}

impl RevokeApproval {
    fn record(&self, entry: DraftEntry) -> DraftEntry {
        self.by
            .record(entry)
            .open("cancelled_for", "taken_back")
            .open("role", self.by.deciding.label())
            .hidden_if("reason", self.reason.clone())
    }
}

/// Cancels a plan and all its open allowances.
#[derive(Clone, Debug)]
pub struct CancelPlan {
    pub by: By,
    pub reason: Option<String>,
}

#[derive(Clone, Debug)]
pub enum By {
    Person(ProvenPerson),
    /// The plan's author.
    Agent,
}

pub struct CancelPlanView {
    pub place: ProjectRef,
    pub plan: Plan,
    /// The approval and its session; `None` for a plan without approval.
    pub approved: Option<(Decision, AaepSession)>,
    pub allowances: Vec<Allowance>,
    pub guards: Vec<crate::step::Guard>,
}

impl Operation for CancelPlan {
    type View = CancelPlanView;
    type Answer = Plan;
    type Refusal = Refusal;

    fn decide(self, view: &CancelPlanView, env: &Env) -> Result<Step<Plan>, Refusal> {
        if let By::Person(person) = &self.by {
            let decision = view.approved.as_ref().map(|(decision, _)| decision);
            let decision = decision.ok_or_else(|| Refusal::Conflict("the plan does not run".into()))?;
            check_entitlement(person, decision, None)?;
        }
        let mut mint = env.mint();
        let mut effects = Effects { guards: view.guards.clone(), ..Effects::default() };
        if let By::Person(person) = &self.by {
            effects.guards.extend(person.guards.iter().copied());
        }
        let mut moving = PlanTransition::of(&view.plan, env.now);
        moving.cancel(self.reason.as_deref().unwrap_or("cancelled"))?;
        let plan = moving.plan().clone();
        moving.finish(&view.place, &mut mint, &mut effects)?;
        if let Some((decision, session)) = &view.approved {
            self.end_allowances(view, decision, session, env, &mut mint, &mut effects)?;
        }
        Ok(Step { answer: plan, effects })
    }
}

impl CancelPlan {
    fn end_allowances(
        &self,
        view: &CancelPlanView,
        decision: &Decision,
        session: &AaepSession,
        env: &Env,
        mint: &mut crate::env::Mint,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        for allowance in view.allowances.iter().filter(|allowance| allowance.is_open()) {
            effects.puts.push(Record::Allowance(cancelled(allowance, env)));
        }
        let entry = super::entry(&view.place, decision, "allowance_cancelled", env.now)
            .open("cancelled_for", "taken_back")
            .hidden_if("reason", self.reason.clone());
        let entry = match &self.by {
            By::Person(person) => person.record(entry).open("role", person.deciding.label()),
            By::Agent => entry.open("role", "agent"),
        };
        effects.evidence.push(entry.seal(mint)?);
        effects.news.push(crate::signals::Signal::Changed { decision: decision.key });
        super::due::leave_tool_state(decision, session, &Notice::TakenBack, env, mint, effects);
        Ok(())
    }
}

fn cancelled(allowance: &Allowance, env: &Env) -> Allowance {
    let state = AllowanceState::Cancelled { at: env.now, why: CancelledFor::TakenBack };
    Allowance { state, version: allowance.version + 1, ..allowance.clone() }
}

/// The person the agent acts for, the approver, every person with the right to reject, and admins.
pub fn check_entitlement(by: &ProvenPerson, decision: &Decision, allowance: Option<&Allowance>) -> Result<(), Refusal> {
    let gave = allowance.is_some_and(|allowance| allowance.decided_by == Some(by.person));
    let could = is_entitled_by_policy(decision, by.person, &by.roles, false) || gave || by.roles.contains(&Role::Admin);
    match by.may_answer && could {
        true => Ok(()),
        false => Err(Refusal::NotAuthorized("you may not revoke this approval".into())),
    }
}
