//! MPLP endpoints, at the unscoped paths and under `/projects/{projectId}`: plans, Confirms, and their events. The
//! handlers make no decisions.

pub(crate) mod actions;
pub(crate) mod allowances;
mod bodies;
mod caller;
pub(crate) mod cancel;
pub(crate) mod confirm;
pub(crate) mod confirms;
pub(crate) mod decisions;
pub(crate) mod denied;
pub(crate) mod diff;
mod event_stream;
pub(crate) mod events;
pub(crate) mod governance;
mod ids;
pub(crate) mod imports;
pub(crate) mod learning_samples;
mod paging;
pub(crate) mod plan;
pub(crate) mod plans;
pub(crate) mod propose;
pub(crate) mod requests;
pub(crate) mod responses;
pub(crate) mod roles;
pub(crate) mod steps;
pub(crate) mod trace;

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
        .route("/mplp/v1/plans", get(plans::get).post(plans::post))
        .route("/mplp/v1/plans/{plan}", get(plan::get).put(plan::put))
        .route("/mplp/v1/plans/{plan}/propose", post(propose::post))
        .route("/mplp/v1/plans/{plan}/actions", get(actions::get))
        .route("/mplp/v1/plans/{plan}/trace", get(trace::get))
        .route("/mplp/v1/plans/{plan}/diff", get(diff::get).post(diff::post))
        .route("/mplp/v1/plans/{plan}/steps/{step}", post(steps::post))
        .route("/mplp/v1/plans/{plan}/cancel", post(cancel::post))
        .route("/mplp/v1/confirms", get(confirms::get).post(confirms::post))
        .route("/mplp/v1/confirms/imports", post(imports::post))
        .route("/mplp/v1/confirms/{confirm}", get(confirm::get))
        .route("/mplp/v1/confirms/{confirm}/decisions", post(decisions::post))
        .route("/mplp/v1/confirms/{confirm}/governance", put(governance::put))
        .route("/mplp/v1/roles", get(roles::get))
        .route("/mplp/v1/events", get(events::get))
        .route("/mplp/v1/learning-samples", get(learning_samples::get))
        .route("/mplp/v1/allowances", get(allowances::get))
        .route("/mplp/v1/allowances/{allowance}/revoke", post(allowances::revoke))
        .layer(middleware::map_response(layers::keep_nothing))
}
