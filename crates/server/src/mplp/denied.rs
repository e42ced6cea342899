//! Error responses of this module: the actual state for an entitled reader, in the envelope.

use super::caller::MplpCaller;
use crate::http::{
    answer::{Enveloped, RefusalResponse},
    request_id::RequestId,
};
use axum::response::{IntoResponse, Response};
use countersign_engine::{NotCounted, Refusal, mplp_views::confirm::decision_id};
use countersign_protocol::{
    aap::error::{Code, ErrorEnvelope},
    mplp::{Confirm, ConfirmStatus, MplpId},
};
use http::StatusCode;
use serde_json::{Map, Value, json};

/// An error response.
#[derive(Debug)]
pub(crate) struct Denied(Box<Response>);

impl From<Refusal> for Denied {
    fn from(refusal: Refusal) -> Self {
        RefusalResponse(refusal).into_response().into()
    }
}

impl From<Response> for Denied {
    fn from(response: Response) -> Self {
        Self(Box::new(response))
    }
}

impl IntoResponse for Denied {
    fn into_response(self) -> Response {
        *self.0
    }
}

/// Why a decision about a Confirm did not count.
pub(super) async fn not_counted(caller: &MplpCaller, request: &RequestId, id: &MplpId, why: NotCounted) -> Denied {
    let what = why.to_string();
    match why {
        NotCounted::Settled => match caller.engine.plans().confirm(&caller.at, &caller.reader(), id).await {
            Ok(shown) => settled(&shown.document, request).into(),
            Err(refusal) => refusal.into(),
        },
        NotCounted::Unknown => Refusal::NotFound(
            "there is no such Confirm, or it was settled so long ago that it is not kept any more".into(),
        )
        .into(),
        NotCounted::Locked | NotCounted::TooLate | NotCounted::TooEarly => Refusal::Conflict(what).into(),
        NotCounted::NotEntitled | NotCounted::BySoftware => Refusal::NotAuthorized(what).into(),
        NotCounted::TooWeak(_) | NotCounted::TokenNotAllowed => {
            let page = page_of(caller, id);
            Refusal::NotAuthorized(format!("{what}: answer on the page {page}")).into()
        }
        NotCounted::NotAllowed | NotCounted::NotShown | NotCounted::OutOfBounds(_) => Refusal::invalid(what).into(),
        NotCounted::Refused(refusal) => refusal.into(),
    }
}

/// The page where a person answers with a browser.
fn page_of(caller: &MplpCaller, id: &MplpId) -> String {
    format!("{}/inbox/{}/{}", caller.engine.settings().origin, caller.at.project.id, decision_id(id))
}

/// The current status, and since when.
fn settled(confirm: &Confirm, request: &RequestId) -> Response {
    let status = status_name(confirm.status);
    let body = ErrorEnvelope {
        error: Code::Conflict,
        error_description: format!("the Confirm is {status}, and that is final"),
        hint: Some("read the Confirm; a change needs a new one".into()),
        request_id: request.0.clone(),
        docs_url: None,
        decision: Some(current_state(confirm)),
        call: None,
        clarification: None,
        scope_request: None,
    };
    let mut response = (StatusCode::CONFLICT, axum::Json(body)).into_response();
    response.extensions_mut().insert(Enveloped);
    response
}

fn current_state(confirm: &Confirm) -> Map<String, Value> {
    let mut state = Map::from_iter([
        ("confirm_id".to_owned(), json!(confirm.confirm_id)),
        ("status".to_owned(), json!(confirm.status)),
    ]);
    if let Some(decided) = confirm.decisions.last() {
        state.insert("decided_by_role".into(), json!(decided.decided_by_role));
        state.insert("decided_at".into(), json!(decided.decided_at.to_rfc3339()));
        state.extend(decided.reason.as_ref().map(|reason| ("reason".to_owned(), json!(reason))));
    }
    state
}

fn status_name(status: ConfirmStatus) -> &'static str {
    match status {
        ConfirmStatus::Pending => "pending",
        ConfirmStatus::Approved => "approved",
        ConfirmStatus::Rejected => "rejected",
        ConfirmStatus::Cancelled => "cancelled",
    }
}
