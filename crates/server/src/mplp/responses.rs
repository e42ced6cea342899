//! Stored records as resources beside the closed MPLP documents.

use axum::response::{IntoResponse, Response};
use countersign_engine::{
    Allowance, PlanShown, PlannedAction,
    mplp_views::{allowance::left, confirm},
};
use countersign_protocol::mplp::{PlanActions, PlanStep, Runs, StepShown};
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
