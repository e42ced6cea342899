//! `/aaep/v1/subscriber-tokens`: a person's credentials for their subscribers.

use crate::{
    App,
    http::{
        answer::{ErrorResponses, JsonResult, RefusalResponse},
        at::AtProject,
        body::Json,
        caller::Asker,
    },
};
use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use countersign_engine::{NewSubscriberToken, ProjectAt, SignedIn, SubscriberToken};
use countersign_protocol::time::{UnixMillis, rfc3339, rfc3339_option};
use http::StatusCode;

#[derive(serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// The person's name for it: "kitchen speaker".
    name: String,
    /// Whether it may answer questions, or only listens.
    #[serde(default = "yes")]
    may_answer: bool,
    /// For a client that cannot send credentials: the token is part of the URL.
    #[serde(default)]
    legacy: bool,
    /// Whether it may approve irreversible, high-risk actions. Requires fresh authentication.
    #[serde(default)]
    approves_high_risk: bool,
    /// The lifetime; by default the project's maximum (`decisions.subscriber_token_days`).
    #[serde(default)]
    lifetime_seconds: Option<i64>,
}

#[derive(serde::Deserialize)]
pub(crate) struct TokenPath {
    id: String,
}

#[derive(serde::Serialize, utoipa::ToSchema)]
pub(crate) struct Tokens {
    subscriber_tokens: Vec<TokenShown>,
}

#[derive(serde::Serialize, utoipa::ToSchema)]
pub(crate) struct TokenShown {
    id: String,
    name: String,
    may_answer: bool,
    legacy: bool,
    approves_high_risk: bool,
    /// `active`, `expired`, `ended` with its person's sign-in sessions, or `revoked`.
    state: String,
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    created_at: UnixMillis,
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    expires_at: UnixMillis,
    #[serde(with = "rfc3339_option", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    revoked_at: Option<UnixMillis>,
}

#[derive(serde::Serialize, utoipa::ToSchema)]
pub(crate) struct TokenAdded {
    #[serde(flatten)]
    shown: TokenShown,
    /// Shown only this once.
    token: String,
    /// The endpoint URL for a legacy client; as secret as the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
}

#[utoipa::path(
    get, path = "/aaep/v1/subscriber-tokens", tag = "subscribers", security(("session" = [])),
    summary = "The tokens of a person's subscribers",
    responses((status = 200, description = "Tokens, without their secrets", body = Tokens), ErrorResponses),
)]
pub(crate) async fn get(State(app): State<App>, AtProject(at): AtProject, asker: Asker) -> JsonResult<Tokens> {
    let who = asker.person()?;
    let found = app.engine.events().subscriber_tokens(&at, who.person.key).await?;
    Ok(axum::Json(Tokens {
        subscriber_tokens: found.into_iter().map(|token| token_document(&app, who, token)).collect(),
    }))
}

#[utoipa::path(
    post, path = "/aaep/v1/subscriber-tokens", tag = "subscribers", security(("session" = [])),
    request_body = NewToken,
    summary = "Create a token for a subscriber",
    params(("X-CSRF-Token" = String, Header, description = "The CSRF token of the sign-in session")),
    responses((status = 201, description = "The token; its secret is shown only once", body = TokenAdded), ErrorResponses),
)]
pub(crate) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    asker: Asker,
    Json(new): Json<NewToken>,
) -> Result<Response, RefusalResponse> {
    let who = asker.person()?;
    asker.own_page(&app, None)?;
    let member = app.engine.people().member(who, at.project.key).await?;
    let new = NewSubscriberToken {
        name: new.name,
        may_answer: new.may_answer,
        legacy: new.legacy,
        approves_high_risk: new.approves_high_risk,
        lifetime_s: new.lifetime_seconds,
    };
    let added = app.engine.events().add_subscriber_token(&at, &member, new).await?;
    let endpoint = added.token.legacy.then(|| endpoint(&at, &added.secret));
    let added = TokenAdded { shown: token_document(&app, who, added.token), token: added.secret, endpoint };
    Ok((StatusCode::CREATED, axum::Json(added)).into_response())
}

#[utoipa::path(
    delete, path = "/aaep/v1/subscriber-tokens/{id}", tag = "subscribers", security(("session" = [])),
    summary = "Revoke a token and end its subscriptions",
    params(("id" = String, Path), ("X-CSRF-Token" = String, Header, description = "The CSRF token of the sign-in session")),
    responses((status = 200, description = "Revoked", body = TokenShown), ErrorResponses),
)]
pub(crate) async fn delete(
    State(app): State<App>,
    AtProject(at): AtProject,
    asker: Asker,
    Path(TokenPath { id }): Path<TokenPath>,
) -> JsonResult<TokenShown> {
    let who = asker.person()?;
    asker.own_page(&app, None)?;
    let member = app.engine.people().member(who, at.project.key).await?;
    let revoked = app.engine.events().revoke_subscriber_token(&at, &member, &id).await?;
    Ok(axum::Json(token_document(&app, who, revoked)))
}

fn endpoint(at: &ProjectAt, secret: &str) -> String {
    format!("{}{}/aaep/legacy/{secret}", at.service, at.prefix())
}

fn token_document(app: &App, who: &SignedIn, token: SubscriberToken) -> TokenShown {
    TokenShown {
        state: token.state(&who.person, app.engine.now()).as_str().to_owned(),
        approves_high_risk: token.approves_high_risk,
        id: token.id,
        name: token.name,
        may_answer: token.may_answer,
        legacy: token.legacy,
        created_at: token.created_at,
        expires_at: token.expires_at,
        revoked_at: token.revoked_at,
    }
}

fn yes() -> bool {
    true
}
