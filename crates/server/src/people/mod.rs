//! People's sign-in sessions and connections as JSON: the same operations as on the pages, with the same session.

pub(crate) mod agents;
pub(crate) mod session;

use crate::App;
use axum::{
    Router,
    routing::{get, post},
};

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/session", get(session::get).post(session::post).delete(session::delete))
        .route("/session/everywhere", axum::routing::delete(session::delete_everywhere))
        .route("/session/fresh", post(session::fresh))
        .route("/v1/agents", get(agents::get))
        .route("/projects/{projectId}/v1/agents", get(agents::get))
}

pub(crate) use session::{end_cookie, start_cookie};
