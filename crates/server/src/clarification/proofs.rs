//! The results of a session, signed or accepted as a whole: plan, attestation, chain and handoff.

use super::{documents, sessions::SessionId};
use crate::{
    App,
    http::{
        answer::{ErrorResponses, RefusalResponse},
        at::AtProject,
        caller::Asker,
        credential::{BearerCredential, Nonce, SentTo},
    },
    mplp::{denied::Denied, requests::MplpBody},
    v1::AgentCaller,
};
use axum::extract::{FromRequestParts, State};
use countersign_engine::{ChainReader, PlanReader, ProjectAt, Refusal};
use countersign_protocol::clarification::{
    Audit, Handoff,
    submission::{AttestResponse, CheckRequest, ScaffoldResponse, SessionRequest},
};
use http::request::Parts;

/// The whole plan or none of it (Clarification 8).
#[utoipa::path(
    post,
    path = "/v1/clarification/scaffold-plan",
    tag = "clarifications",
    summary = "Get the plan, if it is clear and confirmed",
    request_body = CheckRequest,
    responses((status = 200, description = "plan_accepted with the whole plan, ready_to_proceed if it only has to be confirmed, or needs_clarification. Never a part of the plan", body = ScaffoldResponse), ErrorResponses),
    security(("bearer" = []))
)]
pub(crate) async fn scaffold_plan(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    MplpBody(asked): MplpBody<CheckRequest>,
) -> Result<axum::Json<ScaffoldResponse>, Denied> {
    Ok(axum::Json(documents::scaffolded(
        app.engine.clarifications().scaffold_plan(&at, &agent, &asked).await?,
        "confirm-plan",
    )))
}

/// A signed statement of the answers that a confirmed plan rests on (Clarification 8, W-27).
#[utoipa::path(
    post,
    path = "/v1/clarification/attest",
    tag = "clarifications",
    summary = "Get the attestation of a confirmed plan",
    request_body = SessionRequest,
    responses((status = 200, description = "attested, ready_to_proceed if the plan only has to be confirmed, or needs_clarification", body = AttestResponse), ErrorResponses),
    security(("bearer" = []))
)]
pub(crate) async fn attest(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    MplpBody(asked): MplpBody<SessionRequest>,
) -> Result<axum::Json<AttestResponse>, Denied> {
    Ok(axum::Json(documents::attested(
        app.engine.clarifications().scaffold_attest(&at, &agent, &asked.session_id).await?,
        "confirm-plan",
    )))
}

/// The document with which another agent continues (Clarification 9, W-28).
#[utoipa::path(
    get,
    path = "/v1/clarification/handoff",
    tag = "clarifications",
    summary = "The handoff to another agent, with all questions and answers",
    params(("session_id" = String, Query, description = "session_id of the session")),
    responses((status = 200, description = "Signed, with the whole record; with the plan once it is confirmed", body = Handoff), ErrorResponses),
    security(("bearer" = []))
)]
pub(crate) async fn handoff(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    SessionId(id): SessionId,
) -> Result<axum::Json<Handoff>, RefusalResponse> {
    Ok(axum::Json(app.engine.clarifications().clarify_handoff(&at, &agent, &id).await?))
}

// All questions and answers of a session, verifiable offline (Clarification 6.3). For its agent, the person
// concerned, auditors and admins.
#[utoipa::path(
    get,
    path = "/v1/clarification/audit",
    tag = "clarifications",
    summary = "All questions and answers of a session",
    description = "For the agent of the session, the person for whom it acts, auditors and admins of the project: by a \
                   key, a token, a subscriber token or a session.",
    params(("session_id" = String, Query, description = "session_id of the session")),
    responses((status = 200, description = "The chain in both views of the protocol, with its plans", body = Audit), ErrorResponses),
    security(("session" = []), ("bearer" = []))
)]
pub(crate) async fn audit(
    State(app): State<App>,
    Reading { at, reader }: Reading,
    SessionId(id): SessionId,
) -> Result<axum::Json<Audit>, RefusalResponse> {
    Ok(axum::Json(app.engine.clarifications().clarify_audit(&at, &reader, &id).await?))
}

/// The reader, authenticated by `Authorization` or, without one, by a sign-in session.
pub(crate) struct Reading {
    at: ProjectAt,
    reader: ChainReader,
}

impl FromRequestParts<App> for Reading {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let AtProject(at) = AtProject::from_request_parts(parts, app).await?;
        let reader = match BearerCredential::of(&parts.headers, &SentTo::of(parts))? {
            Some(credential) => {
                Nonce::of(parts).give(app.engine.calls().nonce_for_calls_at(&at));
                by_credential(app, &at, &credential).await?
            }
            None => signed_in(app, &at, &Asker::from_request_parts(parts, app).await?).await?,
        };
        Ok(Self { at, reader })
    }
}

async fn by_credential(app: &App, at: &ProjectAt, credential: &BearerCredential) -> Result<ChainReader, Refusal> {
    let url = credential.url(at);
    Ok(match app.engine.plans().speaker(at, credential.presented(&url)?).await?.reader() {
        PlanReader::Agent(agent) => ChainReader::Agent(agent),
        PlanReader::Person(member) => ChainReader::Person(member),
        PlanReader::Admin => ChainReader::Admin,
    })
}

async fn signed_in(app: &App, at: &ProjectAt, asker: &Asker) -> Result<ChainReader, Refusal> {
    let who = asker.signed_in.as_ref().ok_or(Refusal::NoCredentials)?;
    Ok(ChainReader::Person(Box::new(app.engine.people().member(who, at.project.key).await?)))
}
