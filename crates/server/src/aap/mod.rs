//! AAP endpoints, at the unscoped paths and under `/projects/{projectId}`.

pub(crate) mod audit;
pub(crate) mod cancel;
pub(crate) mod delegate;
pub(crate) mod delegate_requests;
pub(crate) mod delegate_token;
pub(crate) mod events;
pub(crate) mod identity;
pub(crate) mod manifest;
pub(crate) mod register;
pub(crate) mod revoke;
pub(crate) mod task_complete;

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
        .route("/agent/delegate", post(delegate::post))
        .route("/agent/delegate/requests", post(delegate_requests::post))
        .route("/agent/delegate/token", post(delegate_token::post))
        .route("/agent/revoke", post(revoke::post))
        .route("/agent/cancel", post(cancel::post))
        .route("/agent/task-complete", post(task_complete::post))
        .route("/agent/events", post(events::post))
        .route("/agent/audit", get(audit::get))
        .layer(middleware::from_fn(version::only_ours))
        .layer(middleware::map_response(layers::keep_nothing))
}
