//! `/mplp/v1/plans`: writing a plan, proposing it, and following it.

use super::callers::ProjectReader;
use crate::{
    decisions::{AgentPrincipal, RaiseRequest, RaisedDecision, digest_of},
    projects::ProjectAt,
    services::Plans,
    session_locks::SessionLockGuard,
    store::{PlanById, PlansOfPerson, PlansOfPrincipal, PlansOfProject},
};
use countersign_core::{
    aap::boundary,
    clarification::texts::ClarificationResult,
    decision::{
        answer::ProvenPerson,
        audience,
        raise::NewQuestion,
        revoke::{By, CancelPlan, CancelPlanView},
        terms::Wishes,
    },
    mplp::{
        diff,
        plan::{ReportStep, StepView, WritePlan, WriteView},
        progress::is_running,
        question,
        roles::{self, Asking, requested_by},
        submit,
    },
    people::ProjectMember,
    records::{AaepSession, Allowance, Decision, DecisionTarget, Delegation, Plan, Question},
    refusal::Refusal,
    step::{Guard, Operation as _, Step},
};
use countersign_protocol::{
    hash::Digest,
    ids::RowKey,
    mplp::{MplpId, PlanStatus, PlanSubmission, StepReport, TargetType},
};
use serde_json::json;

/// A plan with its decision and allowances.
#[derive(Clone, Debug)]
pub struct PlanShown {
    pub plan: Plan,
    pub decision: Option<Decision>,
    pub allowances: Vec<Allowance>,
}

impl<'engine> Plans<'engine> {
    /// Writes a new plan, or replaces a draft.
    pub async fn write_plan(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        submission: &PlanSubmission,
    ) -> Result<Plan, Refusal> {
        self.write_clarified_plan(at, agent, submission, None).await
    }

    /// Writes a plan with its clarified answers.
    pub(crate) async fn write_clarified_plan(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        submission: &PlanSubmission,
        clarified: Option<ClarificationResult>,
    ) -> Result<Plan, Refusal> {
        self.may_write_plans(at, agent)?;
        let document = &at.project.document;
        for action in submission.actions.values() {
            agent.may_ask_for(action.tool.as_deref().unwrap_or_default())?;
        }
        let actions = submit::planned(document, submission).map_err(|why| Refusal::invalid(why.to_string()))?;
        let grant: Option<Delegation> = self.get_some(agent.raiser.delegation).await?;
        if let Some(account) = grant.and_then(|grant| grant.service_account) {
            boundary::check_plan(document, &account, actions.values())?;
        }
        let lasts_s = submit::lifetime_s(document, submission).map_err(|why| Refusal::invalid(why.to_string()))?;
        self.run(|| async {
            let known =
                self.find_one(PlanById { project: at.project.key, id: submission.plan.plan_id.clone() }).await?;
            let view = WriteView { place: at.project_ref(), known, guards: agent.guards.clone() };
            let operation = WritePlan {
                by: agent.raiser.clone(),
                document: submission.plan.clone(),
                actions: actions.clone(),
                lasts_s,
                clarified: clarified.clone(),
            };
            operation.decide(&view, &self.env()?)
        })
        .await
    }

    /// Asks the entitled people to approve the plan: its Confirm.
    pub async fn propose_plan(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &MplpId,
        ask: &Proposal,
    ) -> Result<RaisedDecision, Refusal> {
        let plan = self.own_plan(at, agent, id).await?;
        self.clarifications().check_plan(at, agent, &plan).await?;
        let said = ask.requested_by_role.as_deref();
        let requested_by_role =
            requested_by(&at.project.document, &role_subject(agent), said).map_err(Refusal::invalid)?;
        let content = json!({ "plan": plan.document.plan_id, "revision": plan.revision });
        let arguments = content.as_object().cloned().unwrap_or_default();
        let digest = digest_of(at, agent, PLAN_TOOL.into(), arguments)?;
        let title = plan.document.title.clone();
        let reason = ask.reason.clone().unwrap_or_else(|| format!("Requesting approval for plan: {title}"));
        let asked = NewQuestion {
            wishes: Wishes { timeout_s: ask.timeout_s, ..Wishes::default() },
            target: Some(DecisionTarget {
                target_type: TargetType::Plan,
                target_id: plan.id.clone(),
                plan: Some(plan.key),
                requested_by_role,
                reason: Some(reason),
                trace: ask.trace.clone().or_else(|| plan.document.trace.clone()),
            }),
            governance: ask.governance.clone(),
            ..NewQuestion::by_agent(
                digest,
                Digest::of(format!("plan\n{}\n{}", plan.key, plan.revision).as_bytes()),
                PLAN_TOOL.into(),
                Question::Confirmation(question::about(&plan)),
            )
        };
        self.decisions().ask(at, agent, RaiseRequest { plan: Some(plan), ..asked.into() }).await
    }

    /// Another principal's plan is reported as not found.
    pub(crate) async fn own_plan(self, at: &ProjectAt, agent: &AgentPrincipal, id: &MplpId) -> Result<Plan, Refusal> {
        let plan = self.plan_at(at, id).await?;
        plan.filter(|plan| plan.by.principal == agent.raiser.principal).ok_or_else(no_plan)
    }

    async fn plan_at(self, at: &ProjectAt, id: &MplpId) -> Result<Option<Plan>, Refusal> {
        Ok(self.find_one(PlanById { project: at.project.key, id: id.clone() }).await?)
    }

    pub async fn plan(self, at: &ProjectAt, reader: &ProjectReader, id: &MplpId) -> Result<PlanShown, Refusal> {
        let plan = self.plan_at(at, id).await?.ok_or_else(no_plan)?;
        let decision = self.decision_about(&plan).await?;
        match sees(reader, &plan, decision.as_ref()) {
            true => self.shown(plan, decision).await,
            false => Err(no_plan()),
        }
    }

    /// The plans that a reader may see, newest first.
    pub async fn list(
        self,
        at: &ProjectAt,
        reader: &ProjectReader,
        before: Option<RowKey>,
        limit: i64,
    ) -> Result<Vec<Plan>, Refusal> {
        let project = at.project.key;
        Ok(match reader {
            ProjectReader::Agent(agent) => {
                let principal = agent.raiser.principal.clone();
                self.find_all(PlansOfPrincipal { project, principal, before, limit }).await?
            }
            ProjectReader::Person(member) if !reader.sees_all() => {
                let person = member.person.key;
                self.find_all(PlansOfPerson { project, person, before, limit }).await?
            }
            _ => self.find_all(PlansOfProject { project, before, limit }).await?,
        })
    }

    /// The changes since the last question about it, in lines for people; for a proposed or approved plan, the changes
    /// shown in that question.
    pub fn plan_changes(self, plan: &Plan) -> Vec<String> {
        let Some(asked) = &plan.asked else { return Vec::new() };
        match plan.document.status {
            PlanStatus::Draft => diff::changes_since(asked, plan),
            _ => asked.changes.clone().unwrap_or_default(),
        }
    }

    /// The changes that this submission would make to a plan.
    pub async fn plan_difference(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &MplpId,
        submission: &PlanSubmission,
    ) -> Result<Vec<String>, Refusal> {
        let plan = self.own_plan(at, agent, id).await?;
        let actions = submit::planned(&at.project.document, submission);
        let actions = actions.map_err(|why| Refusal::invalid(why.to_string()))?;
        Ok(diff::changes((&plan.document, &plan.actions), (&submission.plan, &actions)))
    }

    /// An agent's report about a step that it carries out by itself.
    pub async fn report_step(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &MplpId,
        step: &MplpId,
        report: &StepReport,
    ) -> Result<Plan, Refusal> {
        self.run_locked(|| async {
            let plan = self.own_plan(at, agent, id).await?;
            let decision = self.decision_about(&plan).await?;
            let lock = self.lock_session_of(decision.as_ref()).await;
            let allowances = self.allowances_about(decision.as_ref()).await?;
            let of_step = |allowance: &Allowance| allowance.step.as_ref().is_some_and(|of| of.step == *step);
            let allowance = allowances.into_iter().find(|allowance| allowance.is_open() && of_step(allowance));
            let approved = self.with_session(decision.filter(|_| is_running(&plan))).await?;
            let view = StepView { place: at.project_ref(), plan, approved, allowance, guards: agent.guards.clone() };
            let operation = ReportStep { step: step.clone(), report: report.clone() };
            Ok((lock, operation.decide(&view, &self.env()?)?))
        })
        .await
    }

    /// Its agent cancels the plan.
    pub async fn cancel_own_plan(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &MplpId,
        reason: Option<String>,
    ) -> Result<Plan, Refusal> {
        self.run_locked(|| async {
            let plan = self.own_plan(at, agent, id).await?;
            let operation = CancelPlan { by: By::Agent, reason: reason.clone() };
            self.decide_cancel(at, plan, operation, agent.guards.clone()).await
        })
        .await
    }

    /// A person revokes the remaining allowances of a plan.
    pub async fn cancel_plan(
        self,
        at: &ProjectAt,
        id: &MplpId,
        by: &ProvenPerson,
        reason: Option<String>,
    ) -> Result<Plan, Refusal> {
        self.run_locked(|| async {
            let plan = self.plan_at(at, id).await?.ok_or_else(no_plan)?;
            let operation = CancelPlan { by: By::Person(by.clone()), reason: reason.clone() };
            self.decide_cancel(at, plan, operation, Vec::new()).await
        })
        .await
    }

    async fn decide_cancel(
        self,
        at: &ProjectAt,
        plan: Plan,
        operation: CancelPlan,
        guards: Vec<Guard>,
    ) -> Result<(Option<SessionLockGuard<'engine>>, Step<Plan>), Refusal> {
        let decision = self.decision_about(&plan).await?.filter(|_| is_running(&plan));
        let lock = self.lock_session_of(decision.as_ref()).await;
        let plan = self.decisions().plan_of(Some(plan.key)).await?.ok_or(Refusal::Internal)?;
        let allowances = self.allowances_about(decision.as_ref()).await?;
        let approved = self.with_session(decision).await?;
        let view = CancelPlanView { place: at.project_ref(), plan, approved, allowances, guards };
        Ok((lock, operation.decide(&view, &self.env()?)?))
    }

    async fn with_session(self, decision: Option<Decision>) -> Result<Option<(Decision, AaepSession)>, Refusal> {
        match decision {
            Some(decision) => {
                let session = self.decisions().session_of_decision(&decision).await?;
                Ok(Some((decision, session)))
            }
            None => Ok(None),
        }
    }

    async fn lock_session_of(self, decision: Option<&Decision>) -> Option<SessionLockGuard<'engine>> {
        match decision {
            Some(decision) => self.engine.session_locks.lock(decision.asked_in).await,
            None => None,
        }
    }

    async fn allowances_about(self, decision: Option<&Decision>) -> Result<Vec<Allowance>, Refusal> {
        match decision {
            Some(decision) => self.decisions().allowances_of(decision).await,
            None => Ok(Vec::new()),
        }
    }

    async fn decision_about(self, plan: &Plan) -> Result<Option<Decision>, Refusal> {
        Ok(self.get_some(plan.confirm).await?)
    }

    async fn shown(self, plan: Plan, decision: Option<Decision>) -> Result<PlanShown, Refusal> {
        let allowances = self.allowances_about(decision.as_ref()).await?;
        Ok(PlanShown { plan, decision, allowances })
    }

    fn may_write_plans(self, at: &ProjectAt, agent: &AgentPrincipal) -> Result<(), Refusal> {
        require_capability(at, agent, roles::PLAN_CREATE)
    }
}

/// A capability that a role of the agent must have (M-06).
pub(super) fn require_capability(at: &ProjectAt, agent: &AgentPrincipal, capability: &str) -> Result<(), Refusal> {
    match role_subject(agent).has_capability(&at.project.document, capability) {
        true => Ok(()),
        false => Err(Refusal::NotAuthorized(format!("no role of this agent has the capability {capability}"))),
    }
}

/// An agent's parameters for the proposal of a plan.
#[derive(Clone, Debug, Default)]
pub struct Proposal {
    pub requested_by_role: Option<String>,
    pub reason: Option<String>,
    pub timeout_s: Option<i64>,
    pub trace: Option<countersign_protocol::mplp::TraceBase>,
    pub governance: Option<countersign_protocol::mplp::Governance>,
}

/// The tool name in a plan's question.
const PLAN_TOOL: &str = "plan";

/// An agent as the role check sees it.
pub(super) fn role_subject(agent: &AgentPrincipal) -> Asking<'_> {
    let key = agent.raiser.api_key.is_some();
    Asking {
        principal: &agent.raiser.principal,
        operator: agent.raiser.operator.as_ref().map(|domain| domain.as_str()),
        key_principal: key.then_some(agent.producer.agent_id.as_str()),
    }
}

fn sees(reader: &ProjectReader, plan: &Plan, decision: Option<&Decision>) -> bool {
    let concerns = |member: &ProjectMember| {
        let in_audience = |decision| audience(decision).includes(member.person.key, &member.roles());
        plan.by.person == member.person.key || decision.is_some_and(in_audience)
    };
    reader.sees_all() || reader.is_agent(&plan.by.principal) || reader.member().is_some_and(concerns)
}

fn no_plan() -> Refusal {
    Refusal::NotFound("there is no such plan, or it ended so long ago that it is not kept any more".into())
}
