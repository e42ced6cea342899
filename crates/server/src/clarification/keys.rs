//! The project's keys for clarification messages: published for verifiers, and replaced by admins.

use crate::{
    App,
    http::{
        address::SourceNetwork,
        answer::{ErrorResponses, JsonResult},
        at::AtProject,
        caller::Asker,
    },
};
use axum::extract::State;
use countersign_engine::{Actor, Refusal, Role};
use countersign_protocol::clarification::PublishedKeys;

/// The project's public keys for clarification, for verifiers (W-19).
#[utoipa::path(
    get, path = "/v1/clarification/keys", tag = "clarifications",
    summary = "The registered keys for verifiers",
    responses((status = 200, description = "Oldest first, with each old key's signature for the next one", body = PublishedKeys), ErrorResponses),
)]
pub(crate) async fn published(State(app): State<App>, AtProject(at): AtProject) -> JsonResult<PublishedKeys> {
    Ok(axum::Json(app.engine.clarifications().published_clarification_keys(&at).await?))
}

/// Replaces the signing key (W-20). For admins.
#[utoipa::path(
    post, path = "/v1/clarification/rotate-key", tag = "admins", security(("session" = []), ("bearer" = [])),
    summary = "Replace the key that signs the project's questions",
    params(("X-CSRF-Token" = Option<String>, Header, description = "Required with a sign-in session"), ("Aap-Version" = Option<String>, Header, description = "The protocol version; required with an agent's or operator's credentials")),
    responses((status = 200, description = "In force now. Signatures of the old key stay verifiable", body = PublishedKeys), ErrorResponses),
)]
pub(crate) async fn rotate(
    State(app): State<App>,
    AtProject(at): AtProject,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
) -> JsonResult<PublishedKeys> {
    may_rotate(&app, &asker.actor(&app, &at, None, &source).await?)?;
    Ok(axum::Json(app.engine.clarifications().rotate_clarification_key(&at).await?))
}

/// An admin key, or an admin with fresh authentication.
fn may_rotate(app: &App, actor: &Actor) -> Result<(), Refusal> {
    match actor {
        Actor::AdminKey(_) => Ok(()),
        Actor::Person(member) if !member.has_role(Role::Admin) => Err(only_admins()),
        Actor::Person(member) if member.is_fresh(app.engine.now()) => Ok(()),
        Actor::Person(_) => Err(Refusal::FreshSignInRequired),
        Actor::Operator(_) | Actor::Agent(_) | Actor::OtherKey | Actor::Service => Err(only_admins()),
    }
}

fn only_admins() -> Refusal {
    Refusal::NotAuthorized("only an admin of the project may put another key in force".into())
}
