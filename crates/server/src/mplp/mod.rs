//! MPLP endpoints, at the unscoped paths and under `/projects/{projectId}`: plans, Confirms, and their events. The
//! handlers make no decisions.

pub(crate) mod allowances;
mod caller;
pub(crate) mod confirms;
pub(crate) mod denied;
pub(crate) mod events;
mod paging;
pub(crate) mod plans;
pub(crate) mod progress;
pub(crate) mod requests;
pub(crate) mod responses;

use crate::{App, http::layers};
use axum::{
    Router, middleware,
    routing::{get, post, put},
};

pub(crate) fn router() -> Router<App> {
    Router::new().merge(endpoints()).nest("/projects/{projectId}", endpoints())
}

fn endpoints() -> Router<App> {
    Router::new()
        .route("/mplp/v1/plans", get(plans::list).post(plans::post))
        .route("/mplp/v1/plans/{plan}", get(plans::get).put(plans::put))
        .route("/mplp/v1/plans/{plan}/propose", post(plans::propose))
        .route("/mplp/v1/plans/{plan}/actions", get(progress::actions))
        .route("/mplp/v1/plans/{plan}/trace", get(progress::trace))
        .route("/mplp/v1/plans/{plan}/diff", get(plans::diff).post(plans::diff_draft))
        .route("/mplp/v1/plans/{plan}/steps/{step}", post(progress::report_step))
        .route("/mplp/v1/plans/{plan}/cancel", post(plans::cancel))
        .route("/mplp/v1/confirms", get(confirms::list).post(confirms::post))
        .route("/mplp/v1/confirms/imports", post(confirms::import))
        .route("/mplp/v1/confirms/{confirm}", get(confirms::get))
        .route("/mplp/v1/confirms/{confirm}/decisions", post(confirms::decide))
        .route("/mplp/v1/confirms/{confirm}/governance", put(confirms::govern))
        .route("/mplp/v1/roles", get(confirms::roles))
        .route("/mplp/v1/events", get(events::get))
        .route("/mplp/v1/learning-samples", get(events::learning_samples))
        .route("/mplp/v1/allowances", get(allowances::list))
        .route("/mplp/v1/allowances/{allowance}/revoke", post(allowances::revoke))
        .layer(middleware::map_response(layers::keep_nothing))
}
