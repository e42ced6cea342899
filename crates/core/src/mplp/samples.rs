//! Learning samples from settled decisions, for planners (MPLP 5). Texts by people and agents are included only if the
//! project states their consent.

use super::{
    bus::{DECISION_ADDED, event_id, project_id},
    confirm::{ConfirmVerdict, confirm_id, is_confirm, target, verdict},
    derived,
};
use crate::records::{Decision, Plan, Question};
use countersign_protocol::{
    aaep::event::Risk,
    hash::Digest,
    mplp::{
        DecisionStatus, Feedback, LearningSample, Plan as PlanDocument, PlanStep, Sample, StepStatus, TargetType,
        learning::{ConfirmInput, ConfirmOutput, IntentInput, IntentOutput, Judgement, SampleMeta},
    },
    project::ProjectDocument,
    question::ProposedStep,
};
use serde_json::json;

/// Replaces a required text that may not be shared.
pub const WITHHELD: &str = "withheld: this project has not agreed to share texts by people and agents";

/// The samples of one settled decision; none while it is pending, and none for a clarification.
///
/// `seed` is the hash of the settlement's evidence; all ids derive from it.
pub fn samples(
    decision: &Decision,
    plan: Option<&Plan>,
    project: &ProjectDocument,
    seed: &Digest,
) -> Vec<LearningSample> {
    let Some(verdict) = verdict(decision, project).filter(|_| is_confirm(decision)) else { return Vec::new() };
    let teller = Teller { decision, verdict, project, seed };
    let about_plan = plan.filter(|plan| target(decision) == (TargetType::Plan, plan.id.clone()));
    std::iter::once(teller.confirm_decision()).chain(about_plan.map(|plan| teller.intent_resolution(plan))).collect()
}

struct Teller<'a> {
    decision: &'a Decision,
    verdict: ConfirmVerdict,
    project: &'a ProjectDocument,
    seed: &'a Digest,
}

impl Teller<'_> {
    fn confirm_decision(&self) -> LearningSample {
        let (target_type, target_id) = target(self.decision);
        let risk_label = risk_label(self.decision.terms.risk).into();
        let input = ConfirmInput { confirm_id: confirm_id(self.decision), target_type, target_id, risk_label };
        let output = ConfirmOutput {
            decision: judgement(&self.verdict),
            reasoning: self.reason(),
            decided_by_role: self.verdict.decided_by_role.clone(),
        };
        self.sample("confirm_decision", Sample::ConfirmDecision { input, output })
    }

    fn intent_resolution(&self, plan: &Plan) -> LearningSample {
        let shown = DecidedPlan::of(plan, self.decision);
        let objective = self.told(&shown.objective);
        let input = IntentInput {
            intent_id: plan.id.to_string(),
            raw_request_summary: objective.clone(),
            intent_text: objective.clone(),
            context: Some([("context_id".to_owned(), json!(plan.document.context_id))].into_iter().collect()),
        };
        let output = IntentOutput {
            final_intent_summary: objective,
            plan_id: plan.id.clone(),
            plan_step_count: shown.count,
            plan_structure: shown.steps.iter().map(|step| self.step(step)).collect(),
            resolution_quality_label: self.verdict.status.into(),
        };
        self.sample("intent_resolution", Sample::IntentResolution { input, output })
    }

    fn sample(&self, family: &str, sample: Sample) -> LearningSample {
        let meta = SampleMeta {
            source_event_ids: vec![event_id(self.seed, DECISION_ADDED)],
            project_id: Some(project_id(self.project)),
            human_feedback_label: Some(self.verdict.status.into()),
            ..SampleMeta::default()
        };
        LearningSample {
            sample_id: derived("sample", &[&self.seed.hex(), family]),
            created_at: self.verdict.at,
            sample,
            meta,
            feedback: Feedback::of(self.verdict.status, self.reason().as_deref()),
        }
    }

    /// The reason of this decision (M-13).
    fn reason(&self) -> Option<String> {
        self.verdict.reason.clone().filter(|_| self.project.learning.personal_data)
    }

    fn told(&self, text: &str) -> String {
        if self.project.learning.personal_data { text.to_owned() } else { WITHHELD.to_owned() }
    }

    /// A step's position is no personal data; its texts may be.
    fn step(&self, step: &PlanStep) -> PlanStep {
        PlanStep {
            description: self.told(&step.description),
            agent_role: step.agent_role.clone().filter(|_| self.project.learning.personal_data),
            ..step.clone()
        }
    }
}

/// The plan as the person saw it; later changes were not part of the decision.
#[derive(Default)]
struct DecidedPlan {
    objective: String,
    steps: Vec<PlanStep>,
    count: u64,
}

impl DecidedPlan {
    fn of(plan: &Plan, decision: &Decision) -> Self {
        match &plan.asked {
            Some(asked) if asked.confirm_id == confirm_id(decision) => Self::in_full(&asked.document),
            _ => Self::as_asked(&decision.question),
        }
    }

    fn in_full(document: &PlanDocument) -> Self {
        let count = u64::try_from(document.steps.len()).unwrap_or(u64::MAX);
        Self { objective: document.objective.clone(), steps: document.steps.clone(), count }
    }

    /// The plan was proposed again since. The confirmation request holds the earlier state in a shorter form.
    fn as_asked(question: &Question) -> Self {
        let Question::Confirmation(asked) = question else { return Self::default() };
        let (steps, left_out) =
            asked.facts.plan.as_ref().map(|plan| (plan.steps.as_slice(), plan.steps_left_out)).unwrap_or_default();
        Self {
            objective: asked.summaries.normal.clone().unwrap_or_else(|| asked.action.clone()),
            steps: steps.iter().filter(|step| !step.description.is_empty()).map(step_as_asked).collect(),
            count: u64::try_from(left_out.saturating_add(steps.len())).unwrap_or(u64::MAX),
        }
    }
}

fn step_as_asked(told: &ProposedStep) -> PlanStep {
    PlanStep {
        step_id: told.step_id.clone(),
        description: told.description.clone(),
        status: StepStatus::Pending,
        dependencies: Vec::new(),
        agent_role: None,
        order_index: None,
    }
}

fn judgement(verdict: &ConfirmVerdict) -> Judgement {
    match verdict.status {
        DecisionStatus::Approved | DecisionStatus::Rejected if verdict.by_override => Judgement::Override,
        DecisionStatus::Approved => Judgement::Approve,
        DecisionStatus::Rejected => Judgement::Reject,
        DecisionStatus::Cancelled => Judgement::Cancel,
    }
}

fn risk_label(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    }
}
