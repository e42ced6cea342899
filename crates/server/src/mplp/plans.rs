//! Plans: written, listed, compared, proposed and cancelled.

use super::{
    caller::{MplpCaller, PlanId},
    denied::Denied,
    paging::{self, Newest},
    requests::{MplpBody, PlanBody},
    responses::created,
};
use crate::http::answer::{ErrorResponses, JsonResult, RefusalResponse};
use axum::{
    extract::{Query, rejection::QueryRejection},
    response::{AppendHeaders, IntoResponse as _, Response},
};
use countersign_engine::{Proposal, RaisedDecision, Refusal, Speaker, mplp_views::confirm};
use countersign_protocol::mplp::{
    Confirm, ListPage, Plan, PlanDifference, PlanSubmission, ProposeRequest, ReasonGiven,
};
use http::HeaderName;

#[derive(Debug, Default, serde::Deserialize)]
pub(crate) struct PlansQuery {
    #[serde(default)]
    propose: bool,
}

/// An agent writes a plan, and plans are listed.
#[utoipa::path(
    get, path = "/mplp/v1/plans", tag = "plans", security(("bearer" = [])),
    summary = "The plans that the caller may see, newest first",
    params(("limit" = Option<u32>, Query, minimum = 1, description = "Default 50, at most 200"), ("before" = Option<String>, Query, description = "next of the previous page")),
    responses((status = 200, description = "A page of plans", body = ListPage<Plan>), ErrorResponses),
)]
pub(crate) async fn list(caller: MplpCaller, page: Newest) -> JsonResult<ListPage<Plan>> {
    let found = caller.engine.plans().list(&caller.at, &caller.reader(), page.before, page.limit).await?;
    let full = i64::try_from(found.len()).is_ok_and(|found| found == page.limit);
    let next = paging::next(found.last().map(|plan| plan.key).filter(|_| full));
    Ok(axum::Json(ListPage { items: found.into_iter().map(|plan| plan.document).collect(), next }))
}

#[utoipa::path(
    post, path = "/mplp/v1/plans", tag = "plans", security(("bearer" = [])), request_body = PlanBody,
    summary = "Write a plan, or replace a draft",
    description = "A bare Plan, or one with the actions of its steps. It becomes a draft, regardless of its own status. With propose=true the header Countersign-Decision names the pending question.",
    params(("propose" = Option<bool>, Query, description = "true proposes it at once")),
    responses((status = 201, description = "Written, with its status in this service", body = Plan), (status = 200, description = "The draft was replaced", body = Plan), ErrorResponses),
)]
pub(crate) async fn post(
    caller: MplpCaller,
    asked: Result<Query<PlansQuery>, QueryRejection>,
    MplpBody(submission): MplpBody<PlanSubmission>,
) -> Result<Response, Denied> {
    let Query(asked) = asked.map_err(|_| Refusal::invalid("propose must be true or false"))?;
    write(&caller, &submission, asked.propose).await
}

/// 201 with `Location` for a new plan; 200 for a draft that was replaced.
pub(super) async fn write(caller: &MplpCaller, submission: &PlanSubmission, propose: bool) -> Result<Response, Denied> {
    let agent = caller.agent()?;
    let plan = caller.engine.plans().write_plan(&caller.at, agent, submission).await?;
    let place = caller.location(&format!("plans/{}", plan.id));
    let fresh = plan.version == 1;
    if !propose {
        return Ok(created(axum::Json(plan.document), fresh, &place));
    }
    let raised = caller.engine.plans().propose_plan(&caller.at, agent, &plan.id, &Proposal::default()).await?;
    let proposed = caller.engine.plans().plan(&caller.at, &caller.reader(), &plan.id).await?;
    let response = created(axum::Json(proposed.plan.document), fresh, &place);
    Ok((names(&raised), response).into_response())
}

/// One plan in its current state.
#[utoipa::path(
    get, path = "/mplp/v1/plans/{plan}", tag = "plans", security(("bearer" = [])),
    summary = "A plan with its current status",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 200, description = "A Plan by the published schema", body = Plan), ErrorResponses),
)]
pub(crate) async fn get(caller: MplpCaller, PlanId(id): PlanId) -> JsonResult<Plan> {
    let shown = caller.engine.plans().plan(&caller.at, &caller.reader(), &id).await?;
    Ok(axum::Json(shown.plan.document))
}

#[utoipa::path(
    put, path = "/mplp/v1/plans/{plan}", tag = "plans", security(("bearer" = [])), request_body = PlanBody,
    summary = "Write a plan, or replace a draft",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 201, description = "Written, with its status in this service", body = Plan), (status = 200, description = "The draft was replaced", body = Plan), ErrorResponses),
)]
pub(crate) async fn put(
    caller: MplpCaller,
    PlanId(id): PlanId,
    MplpBody(submission): MplpBody<PlanSubmission>,
) -> Result<Response, Denied> {
    if submission.plan.plan_id != id {
        return Err(Refusal::invalid("plan_id: must be the id in the path").into());
    }
    write(&caller, &submission, false).await
}

/// The changes since the plan was last proposed, and the changes that a draft would make.
#[utoipa::path(
    get, path = "/mplp/v1/plans/{plan}/diff", tag = "plans", security(("bearer" = [])),
    summary = "The changes since the plan was last proposed",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 200, description = "Lines for people; none if nothing changed, or if the plan was never proposed", body = PlanDifference), ErrorResponses),
)]
pub(crate) async fn diff(caller: MplpCaller, PlanId(id): PlanId) -> JsonResult<PlanDifference> {
    let shown = caller.engine.plans().plan(&caller.at, &caller.reader(), &id).await?;
    Ok(axum::Json(PlanDifference { lines: caller.engine.plans().plan_changes(&shown.plan) }))
}

#[utoipa::path(
    post, path = "/mplp/v1/plans/{plan}/diff", tag = "plans", security(("bearer" = [])), request_body = PlanBody,
    summary = "The changes that this document would make to the plan",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 200, description = "Lines for people. Nothing was written", body = PlanDifference), ErrorResponses),
)]
pub(crate) async fn diff_draft(
    caller: MplpCaller,
    PlanId(id): PlanId,
    MplpBody(submission): MplpBody<PlanSubmission>,
) -> JsonResult<PlanDifference> {
    let lines = caller.engine.plans().plan_difference(&caller.at, caller.agent()?, &id, &submission).await?;
    Ok(axum::Json(PlanDifference { lines }))
}

/// The decision behind a Confirm, for clients that poll `/v1/decisions`.
const DECISION: HeaderName = HeaderName::from_static("countersign-decision");
const CONFIRM: HeaderName = HeaderName::from_static("countersign-confirm");

/// Asks people to approve the plan (MPLP 4.2).
#[utoipa::path(
    post, path = "/mplp/v1/plans/{plan}/propose", tag = "plans", security(("bearer" = [])),
    request_body = Option<ProposeRequest>,
    summary = "Propose a plan for approval",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 201, description = "The approval is pending; Location is the Confirm, Countersign-Decision its decision", body = Confirm), (status = 200, description = "The approval is already pending", body = Confirm), ErrorResponses),
)]
pub(crate) async fn propose(
    caller: MplpCaller,
    PlanId(id): PlanId,
    MplpBody(asked): MplpBody<ProposeRequest>,
) -> Result<Response, RefusalResponse> {
    let ask = Proposal {
        requested_by_role: asked.requested_by_role,
        reason: asked.reason,
        timeout_s: asked.timeout_seconds,
        ..Proposal::default()
    };
    let raised = caller.engine.plans().propose_plan(&caller.at, caller.agent()?, &id, &ask).await?;
    Ok(confirmed(&caller, &raised))
}

/// 201 with the `Location` of its Confirm for a new question; 200 for one that was already pending.
pub(super) fn confirmed(caller: &MplpCaller, raised: &RaisedDecision) -> Response {
    let document = confirm::document(&raised.decision, &caller.at.project.document);
    let place = caller.location(&format!("confirms/{}", document.confirm_id));
    (names(raised), created(axum::Json(document), raised.fresh, &place)).into_response()
}

/// The ids of the question, as headers.
pub(super) fn names(raised: &RaisedDecision) -> AppendHeaders<[(HeaderName, String); 2]> {
    let id = confirm::confirm_id(&raised.decision).to_string();
    AppendHeaders([(DECISION, raised.decision.id.clone()), (CONFIRM, id)])
}

/// Its agent gives it up, or a person revokes its remaining allowances.
#[utoipa::path(
    post, path = "/mplp/v1/plans/{plan}/cancel", tag = "plans", security(("bearer" = [])),
    request_body = Option<ReasonGiven>,
    summary = "Cancel a plan and its remaining calls",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 200, description = "The current plan", body = Plan), ErrorResponses),
)]
pub(crate) async fn cancel(
    caller: MplpCaller,
    PlanId(id): PlanId,
    MplpBody(given): MplpBody<ReasonGiven>,
) -> JsonResult<Plan> {
    let plan = match &caller.speaker {
        Speaker::Agent(agent) => caller.engine.plans().cancel_own_plan(&caller.at, agent, &id, given.reason).await?,
        Speaker::Person(_) | Speaker::Admin => {
            let by = caller.person()?;
            // A caller without read access must not learn that the plan exists.
            caller.engine.plans().plan(&caller.at, &caller.reader(), &id).await?;
            caller.engine.plans().cancel_plan(&caller.at, &id, &by, given.reason).await?
        }
    };
    Ok(axum::Json(plan.document))
}
