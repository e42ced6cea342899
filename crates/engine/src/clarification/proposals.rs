//! Plans that people approve: none is proposed while it has an open gap, and confirming one proposes it (W-31).

use crate::{
    decisions::{AgentPrincipal, RaisedDecision},
    mplp::Proposal,
    projects::ProjectAt,
    services::Clarifications,
};
use countersign_core::{
    clarification::{stops, texts::ClarificationResult, transition::with_answers, view},
    decision::document::Whole,
    mplp::submit,
    records::{ClarificationSession, Decision, Plan},
    refusal::Refusal,
};
use countersign_protocol::{
    clarification::{Operation, submission::CheckRequest},
    hash::Digest,
    mplp::{MplpId, PlanStatus, PlanSubmission},
};
use serde_json::{Value, json};

impl Clarifications<'_> {
    /// Refuses a plan with a finding, unless it is the result of a clarification session; and every plan of an agent
    /// with an open gap that blocks planning.
    pub(crate) async fn check_plan(self, at: &ProjectAt, agent: &AgentPrincipal, plan: &Plan) -> Result<(), Refusal> {
        if plan.clarified.is_none() && plan.document.status == PlanStatus::Draft {
            self.check_draft(at, agent, plan).await?;
        }
        self.check_operations(&at.project, &agent.raiser, &[Operation::Planner], stops::StoppedAction::Asking).await
    }

    /// All drafts of one plan share one session, so that a corrected draft closes the questions about the previous one.
    async fn check_draft(self, at: &ProjectAt, agent: &AgentPrincipal, plan: &Plan) -> Result<(), Refusal> {
        let object = plan_object(plan)?;
        let findings =
            self.rules_of(&at.project)?.findings(&object).map_err(|why| Refusal::invalid(why.to_string()))?;
        let (id, asked_before) = self.session_about(at, plan).await?;
        if findings.is_empty() && !asked_before {
            return Ok(());
        }
        let Value::Object(plan_object) = object else { return Err(Refusal::Internal) };
        let asked = CheckRequest { plan_object, session_id: Some(id), protocol_version: None };
        let session = self.clarify_check(at, agent, &asked).await?.session;
        match findings.is_empty() && session.open_gaps().next().is_none() {
            true => Ok(()),
            false => Err(stops::required(&session, session.open_gaps())),
        }
    }

    /// The session about the drafts of a plan, and whether it exists; after one has ended, the next one.
    async fn session_about(self, at: &ProjectAt, plan: &Plan) -> Result<(MplpId, bool), Refusal> {
        let drafts = Digest::of(format!("drafts of plan\n{}", plan.key).as_bytes());
        let mut over = None;
        loop {
            let id = view::session_id(&drafts, over);
            match self.clarification_at(at, &id).await? {
                None => return Ok((id, false)),
                // Another principal that took the id keeps its session, and cannot block this plan with it.
                Some(session) if session.is_live(self.now()) && session.by.principal == plan.by.principal => {
                    return Ok((id, true));
                }
                Some(session) => over = Some(session.key),
            }
        }
    }

    /// Checks before a session is closed whether its result could be written as a plan at all.
    pub(super) fn check_proposable(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        session: &ClarificationSession,
    ) -> Result<(), Refusal> {
        if session.is_confirmed() || session.open_gaps().next().is_some() {
            return Ok(());
        }
        let Some(submission) = submission_of(&with_answers(session)?)? else { return Ok(()) };
        for action in submission.actions.values() {
            agent.may_ask_for(action.tool.as_deref().unwrap_or_default())?;
        }
        let document = &at.project.document;
        submit::planned(document, &submission).map_err(|why| Refusal::invalid(why.to_string()))?;
        submit::lifetime_s(document, &submission).map_err(|why| Refusal::invalid(why.to_string()))?;
        Ok(())
    }

    /// Writes and proposes the accepted result, if it is a plan; a repetition returns the existing question.
    pub(super) async fn propose_accepted(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        session: &ClarificationSession,
        accepted: &Value,
    ) -> Result<Option<RaisedDecision>, Refusal> {
        let Some(submission) = submission_of(accepted)? else { return Ok(None) };
        let id = &submission.plan.plan_id;
        match self.plans().own_plan(at, agent, id).await {
            Ok(plan) if plan.document.status != PlanStatus::Draft => {
                return self.pending_question_about(at, &plan).await;
            }
            Ok(_) | Err(Refusal::NotFound(_)) => {}
            Err(refusal) => return Err(refusal),
        }
        // A session without gaps needs no section of its own in the question.
        let clarified = ClarificationResult::of(session).or_else(|| Some(ClarificationResult::none(session)));
        self.plans().write_clarified_plan(at, agent, &submission, clarified).await?;
        self.plans().propose_plan(at, agent, id, &Proposal::default()).await.map(Some)
    }

    async fn pending_question_about(self, at: &ProjectAt, plan: &Plan) -> Result<Option<RaisedDecision>, Refusal> {
        let Some(key) = plan.confirm else { return Ok(None) };
        let decision: Decision = self.load(key).await?;
        let page = self.decisions().page_of(at, &decision.id);
        let session = self.decisions().session_of_decision(&decision).await?;
        let whole = Whole { decision: decision.clone(), session, allowance: None, execution: None, undoable: None };
        Ok(Some(RaisedDecision { document: whole.document(page), decision, fresh: false }))
    }
}

/// Members that Countersign sets when a plan is written.
const OURS: [&str; 4] = ["created_at", "created_by", "updated_at", "updated_by"];

/// A plan as the rules check it: the agent's document without Countersign's additions. Writing it again unchanged
/// yields the same object.
fn plan_object(plan: &Plan) -> Result<Value, Refusal> {
    let mut document = serde_json::to_value(&plan.document).map_err(|_| Refusal::Internal)?;
    if let Some(members) = document.as_object_mut() {
        members.remove("events");
    }
    if let Some(meta) = document.get_mut("meta").and_then(Value::as_object_mut) {
        meta.retain(|name, _| !OURS.contains(&name.as_str()));
    }
    let actions: serde_json::Map<String, Value> = plan
        .actions
        .iter()
        .map(|(step, planned)| {
            Ok((step.to_string(), serde_json::to_value(&planned.action).map_err(|_| Refusal::Internal)?))
        })
        .collect::<Result<_, Refusal>>()?;
    Ok(json!({ "plan": document, "actions": actions, "lasts_seconds": plan.lasts_s }))
}

/// The accepted result as a plan for people; `None` if it is something else. Anything with a `plan_id` must be a valid
/// plan.
fn submission_of(accepted: &Value) -> Result<Option<PlanSubmission>, Refusal> {
    let looks = accepted.get("plan").is_some_and(|plan| plan.get("plan_id").is_some());
    if !looks {
        return Ok(None);
    }
    let bytes = serde_json::to_vec(accepted).map_err(|_| Refusal::Internal)?;
    PlanSubmission::read(&bytes).map(Some).map_err(|why| Refusal::invalid(why.to_string()))
}
