//! Stored records as resources beside the closed MPLP documents.

use axum::response::{IntoResponse, Response};
use countersign_engine::{
    Allowance, AllowanceState, Decision, OpenAllowance, Plan, PlanShown, PlannedAction, Question, TextAuthor,
    allowance_id,
    mplp_views::{self, confirm},
};
use countersign_protocol::mplp::{
    AllowanceShown, AllowanceStatus, Left, MplpId, PlanActions, PlanStep, Runs, StepShown, SumLeft,
};
use http::{HeaderValue, StatusCode, header};

/// 201 with `Location` for a new resource; 200 otherwise.
pub(super) fn created(body: impl IntoResponse, fresh: bool, place: &str) -> Response {
    let mut response = body.into_response();
    if fresh {
        *response.status_mut() = StatusCode::CREATED;
        response.headers_mut().extend(HeaderValue::from_str(place).ok().map(|place| (header::LOCATION, place)));
    }
    response
}

pub(crate) fn actions(shown: &PlanShown) -> PlanActions {
    let plan = &shown.plan;
    PlanActions {
        plan_id: plan.id.clone(),
        status: plan.document.status,
        confirm_id: shown.decision.as_ref().map(confirm::confirm_id),
        lasts_seconds: plan.lasts_s,
        until: plan.until,
        feedback: plan.feedback.as_ref().map(|feedback| feedback.reason.clone()),
        steps: plan.document.steps.iter().map(|step| of_step(step, shown)).collect(),
    }
}

fn of_step(step: &PlanStep, shown: &PlanShown) -> StepShown {
    let is_its = |allowance: &&Allowance| allowance.step.as_ref().is_some_and(|of| of.step == step.step_id);
    let allowance = shown.allowances.iter().find(is_its);
    StepShown {
        step_id: step.step_id.clone(),
        description: step.description.clone(),
        status: step.status,
        approved: shown.plan.approved.as_ref().map(|steps| steps.contains(&step.step_id)),
        runs: shown.plan.actions.get(&step.step_id).map(|planned| runs(planned, allowance)),
    }
}

fn runs(planned: &PlannedAction, allowance: Option<&Allowance>) -> Runs {
    let action = &planned.action;
    Runs {
        tool: action.tool.clone(),
        route: action.route.clone(),
        arguments: action.arguments.clone(),
        released: planned.pattern.released().clone(),
        shown: planned.shown.clone(),
        words: planned.words,
        risk_level: planned.risk,
        irreversible: planned.irreversible,
        asks_again: planned.asks_again,
        uses: action.uses,
        done: planned.tally.done,
        under_way: planned.tally.under_way,
        left: allowance.map(left),
    }
}

/// The remaining uses of an allowance: none, once it is closed.
pub(super) fn left(allowance: &Allowance) -> Left {
    let open = allowance.is_open();
    let tally = &allowance.tally;
    Left {
        allowance_id: allowance_id(allowance),
        state: match allowance.state {
            AllowanceState::Open => AllowanceStatus::Open,
            AllowanceState::Spent => AllowanceStatus::Spent,
            AllowanceState::Lapsed { .. } => AllowanceStatus::Lapsed,
            AllowanceState::Cancelled { .. } => AllowanceStatus::Cancelled,
        },
        uses: if open { tally.uses - tally.used } else { 0 },
        sums: sums(allowance),
        until: allowance.until,
    }
}

fn sums(allowance: &Allowance) -> Vec<SumLeft> {
    let sums = allowance.tally.sums.iter();
    let shown = sums.map(|(argument, sum)| SumLeft {
        argument: argument.clone(),
        limit: sum.limit,
        left: sum.remaining(),
        unit: sum.unit.clone(),
    });
    shown.collect()
}

pub(super) fn allowance(open: &OpenAllowance) -> AllowanceShown {
    let OpenAllowance { allowance, decision, plan } = open;
    let step = allowance.step.as_ref().map(|of| of.step.clone());
    let (shown, words) = permitted_text(decision, plan.as_ref(), step.as_ref());
    // A tool's actual arguments are more reliable than its agent's description.
    let shown = allowance.pattern.as_ref().and_then(mplp_views::tool_in_words).unwrap_or(shown);
    AllowanceShown {
        confirm_id: confirm::confirm_id(decision),
        decision_id: decision.id.clone(),
        plan_id: plan.as_ref().map(|plan| plan.id.clone()),
        step_id: step,
        shown,
        words,
        agent: agent(allowance),
        released: allowance.pattern.as_ref().map(|pattern| pattern.released().clone()).unwrap_or_default(),
        uses: allowance.tally.uses,
        left: left(allowance),
    }
}

/// The permitted call in words, and their author.
fn permitted_text(decision: &Decision, plan: Option<&Plan>, step: Option<&MplpId>) -> (String, TextAuthor) {
    let planned = plan.zip(step).and_then(|(plan, step)| plan.actions.get(step));
    match (planned, &decision.question) {
        (Some(planned), _) => (planned.shown.clone(), planned.words),
        (None, Question::Confirmation(asked)) => (asked.action.clone(), decision.words),
        (None, Question::Clarification(asked)) => (asked.question.clone(), decision.words),
    }
}

/// The proven domain of its operator, or the id of its key.
fn agent(allowance: &Allowance) -> String {
    let by = &allowance.raised_by;
    by.operator.as_ref().map_or_else(|| by.principal.clone(), ToString::to_string)
}
