//! AAP endpoints, at the unscoped paths and under `/projects/{projectId}`.

pub(crate) mod access_summary;
pub(crate) mod audit;
pub(crate) mod delegate;
pub(crate) mod heartbeat;
pub(crate) mod identity;
pub(crate) mod lift;
pub(crate) mod manifest;
pub(crate) mod register;
pub(crate) mod revoke;
pub(crate) mod scope_approval;
pub(crate) mod undo;

use crate::{
    App,
    http::{layers, version},
};
use axum::{
    Router, middleware,
    routing::{get, post},
};

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/.well-known/agent-auth.json", get(manifest::get))
        .route("/.well-known/agent-auth.txt", get(manifest::companion))
        .route("/.well-known/agent-identity.json", get(identity::manifest))
        .route("/.well-known/agent-jwks.json", get(identity::keys))
        .merge(endpoints())
        .nest("/projects/{projectId}", endpoints())
}

fn endpoints() -> Router<App> {
    Router::new()
        .route("/agent/register", post(register::post))
        .route("/agent/delegate", post(delegate::delegate))
        .route("/agent/delegate/requests", post(delegate::connect))
        .route("/agent/delegate/token", post(delegate::exchange))
        .route("/agent/revoke", post(revoke::revoke))
        .route("/agent/lift", post(lift::post))
        .route("/agent/cancel", post(revoke::cancel))
        .route("/agent/heartbeat", post(heartbeat::post))
        .route("/agent/task-complete", post(revoke::task_complete))
        .route("/agent/events", post(revoke::event))
        .route("/agent/undo", post(undo::undo))
        .route("/agent/undo/{undo_id}", post(undo::undo_by_url))
        .route("/agent/scope-approval", get(scope_approval::get))
        .route("/agent/audit", get(audit::get))
        .route("/agent/access-summary", get(access_summary::get))
        .layer(middleware::from_fn(version::require_supported))
        .layer(middleware::map_response(layers::keep_nothing))
}
