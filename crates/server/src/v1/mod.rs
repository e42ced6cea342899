//! `/v1`: decisions for agents that act without a gateway in front of the upstream, and the audit for auditors. At the unscoped paths and under
//! `/projects/{projectId}`.

pub(crate) mod audit;
pub(crate) mod decisions;

use crate::{
    App,
    http::{
        answer::RefusalResponse,
        at::{AtProject, path_param},
        credential::{BearerCredential, Nonce, SentTo},
        layers,
    },
};
use axum::{
    Router,
    extract::FromRequestParts,
    middleware,
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use countersign_engine::{AgentPrincipal, Engine, ProjectAt, RaisedDecision, Refusal};
use countersign_protocol::aaep::ingest::MemberProblem;
use http::{HeaderValue, StatusCode, header, request::Parts};
use std::sync::Arc;

pub(crate) fn router() -> Router<App> {
    Router::new().merge(endpoints()).nest("/projects/{projectId}", endpoints())
}

fn endpoints() -> Router<App> {
    Router::new()
        .route("/v1/audit", get(audit::get))
        .route("/v1/actions", get(decisions::actions))
        .route("/v1/confirmations", post(decisions::raise_confirmation))
        .route("/v1/clarifications", post(decisions::raise_clarification))
        .route(decisions::PATH, get(decisions::get))
        .route("/v1/decisions/{decision}/claim", post(decisions::claim))
        .route("/v1/decisions/{decision}/outcome", post(decisions::report_outcome))
        .route("/v1/decisions/{decision}/withdraw", post(decisions::withdraw))
        .layer(middleware::map_response(layers::keep_nothing))
}

/// An agent, authenticated by its API key or its access token, and its project.
pub(crate) struct AgentCaller {
    pub(crate) engine: Arc<Engine>,
    pub(crate) at: ProjectAt,
    pub(crate) agent: AgentPrincipal,
    /// For authenticating the agent again during a long poll: its DPoP proof is valid only once.
    pub(crate) token: String,
}

impl FromRequestParts<App> for AgentCaller {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let AtProject(at) = AtProject::from_request_parts(parts, app).await?;
        Nonce::of(parts).give(app.engine.calls().nonce_for_calls_at(&at));
        let credential = BearerCredential::of(&parts.headers, &SentTo::of(parts))?.ok_or(Refusal::NoCredentials)?;
        let url = credential.url(&at);
        let agent = app.engine.decisions().authenticate_agent(&at, credential.presented(&url)?).await?;
        Ok(Self { engine: app.engine.clone(), at, agent, token: credential.token })
    }
}

/// The id of the decision that the path names.
pub(crate) struct DecisionId(pub(crate) String);

impl FromRequestParts<App> for DecisionId {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let unknown = "there is no such decision, or it was settled so long ago that it is not kept any more";
        let id = path_param(parts, app, "decision").await.ok_or_else(|| Refusal::NotFound(unknown.into()))?;
        Ok(Self(id))
    }
}

/// Reports every problem with a question at once.
pub(crate) fn refuse_problems(problems: &[MemberProblem]) -> Result<(), Refusal> {
    if problems.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Err(Refusal::invalid(lines.join("; ")))
}

/// 201 with `Location` for a new question; 200 for one that was already pending.
fn raised(raised: RaisedDecision) -> Response {
    let RaisedDecision { document, fresh, .. } = raised;
    let place = HeaderValue::from_str(&format!("/v1/decisions/{}", document.decision_id)).ok();
    let status = if fresh { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = (status, axum::Json(document)).into_response();
    if let Some(place) = place.filter(|_| fresh) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}
