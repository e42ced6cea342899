//! The handlers of the pages: read the request, call the engine, render the page. They make no decisions.

mod account;
mod agent;
mod agents;
mod allowances;
mod answer;
mod answer_form;
mod assets;
mod audit;
mod clarification_answers;
mod connect;
mod connection;
mod consent;
mod end_task;
mod error_page;
mod form;
mod home;
mod inbox;
mod lift;
mod offers;
mod outcome;
mod places;
mod plan;
mod plan_steps;
mod question;
mod question_summary;
mod reconcile;
mod revoke;
mod service_account;
mod sign_in;
mod standing_approval;
mod standing_limits;
mod subscribers;
mod visit;

use crate::App;
use axum::{
    Router, middleware,
    routing::{get, post},
};

pub(crate) use error_page::nowhere;

/// `app` is for the layer that turns refusals into pages.
pub(crate) fn router(app: &App) -> Router<App> {
    Router::new()
        .route("/", get(home::get))
        .route("/sign-in", get(sign_in::get).post(sign_in::post))
        .route("/sign-out", post(account::sign_out))
        .route("/sign-out-everywhere", post(account::sign_out_everywhere))
        .route("/account", get(account::get))
        .route("/account/subscribers", post(subscribers::add))
        .route("/account/subscribers/{projectId}/{id}/revoke", post(subscribers::revoke))
        .route("/inbox", get(inbox::get))
        .route("/inbox/{projectId}/{decision_id}", get(question::get).post(question::post))
        .route("/inbox/{projectId}/{decision_id}/executions/{execution_id}", post(reconcile::post))
        .route("/allowances", get(allowances::get))
        .route("/allowances/{projectId}/{id}/take-back", post(allowances::take_back))
        .route("/plans/{projectId}/{plan_id}", get(plan::get))
        .route("/plans/{projectId}/{plan_id}/take-back", post(plan::take_back))
        .route("/connect/{request}", get(connect::get).post(connect::post))
        .route("/agents", get(agents::everywhere))
        .route("/projects/{projectId}/agents", get(agents::get))
        .merge(of_project(""))
        .merge(of_project("/projects/{projectId}"))
        .layer(middleware::from_fn_with_state(app.clone(), error_page::as_page))
        .merge(assets::router())
}

/// Routes of the audit and of a connection, which belong to a project.
fn of_project(prefix: &str) -> Router<App> {
    Router::new()
        .route(&format!("{prefix}/audit"), get(audit::get))
        .route(&format!("{prefix}/agents/{{delegation_id}}"), get(agent::get))
        .route(&format!("{prefix}/agents/{{delegation_id}}/revoke"), get(revoke::get).post(revoke::post))
        .route(&format!("{prefix}/agents/{{delegation_id}}/lift"), post(lift::post))
        .route(&format!("{prefix}/agents/{{delegation_id}}/end-task"), post(end_task::post))
}
