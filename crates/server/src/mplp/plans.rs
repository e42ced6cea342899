//! `/mplp/v1/plans`: an agent writes a plan, and plans are listed.

use super::{
    bodies::PlanBody,
    caller::MplpCaller,
    denied::Denied,
    paging::{self, Newest},
    propose,
    requests::MplpBody,
    responses::created,
};
use crate::App;
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    response::{IntoResponse as _, Response},
};
use countersign_engine::{Proposal, Refusal};
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    mplp::{ListPage, Plan, PlanSubmission},
};

#[derive(Debug, Default, serde::Deserialize)]
pub(crate) struct PlansQuery {
    #[serde(default)]
    propose: bool,
}

#[utoipa::path(
    get,
    path = "/mplp/v1/plans",
    tag = "plans",
    summary = "The plans that the caller may see, newest first",
    params(("limit" = Option<u32>, Query, minimum = 1, description = "Default 50, at most 200"), ("before" = Option<String>, Query, description = "next of the previous page")),
    responses((status = 200, description = "A page of plans", body = ListPage<Plan>), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: MplpCaller,
    page: Newest,
) -> Result<axum::Json<ListPage<Plan>>, Denied> {
    let found = app.engine.plans().list(&caller.at, &caller.reader(), page.before, page.limit).await?;
    let full = i64::try_from(found.len()).is_ok_and(|found| found == page.limit);
    let next = paging::next(found.last().map(|plan| plan.key).filter(|_| full));
    Ok(axum::Json(ListPage { items: found.into_iter().map(|plan| plan.document).collect(), next }))
}

#[utoipa::path(
    post,
    path = "/mplp/v1/plans",
    tag = "plans",
    summary = "Write a plan, or replace a draft",
    description = "A bare Plan, or one with the actions of its steps. It becomes a draft, regardless of its own status. With propose=true the header Countersign-Decision names the pending question.",
    params(("propose" = Option<bool>, Query, description = "true proposes it at once")),
    request_body = PlanBody,
    responses((status = 201, description = "Written, with its status in this service", body = Plan), (status = 200, description = "The draft was replaced", body = Plan), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    caller: MplpCaller,
    asked: Result<Query<PlansQuery>, QueryRejection>,
    MplpBody(submission): MplpBody<PlanSubmission>,
) -> Result<Response, Denied> {
    let Query(asked) = asked.map_err(|_| Refusal::invalid("propose must be true or false"))?;
    write(&app, &caller, &submission, asked.propose).await
}

/// 201 with `Location` for a new plan; 200 for a draft that was replaced.
pub(super) async fn write(
    app: &App,
    caller: &MplpCaller,
    submission: &PlanSubmission,
    propose: bool,
) -> Result<Response, Denied> {
    let agent = caller.agent()?;
    let plan = app.engine.plans().write_plan(&caller.at, agent, submission).await?;
    let place = caller.place(&format!("plans/{}", plan.id));
    let fresh = plan.version == 1;
    if !propose {
        return Ok(created(axum::Json(plan.document), fresh, &place));
    }
    let raised = app.engine.plans().propose_plan(&caller.at, agent, &plan.id, &Proposal::default()).await?;
    let proposed = app.engine.plans().plan(&caller.at, &caller.reader(), &plan.id).await?;
    let told = created(axum::Json(proposed.plan.document), fresh, &place);
    Ok((propose::names(&raised), told).into_response())
}
