//! `GET /v1/agents`: a person's own connections.

use crate::{
    App,
    http::{
        answer::{ErrorResponses, JsonResult},
        at::AtProject,
        caller::Asker,
    },
};
use axum::extract::State;
use countersign_engine::{Delegation, DelegationState, RevokeReason};
use countersign_protocol::time::{UnixMillis, rfc3339, rfc3339_option};

#[derive(serde::Serialize, utoipa::ToSchema)]
pub(crate) struct Agents {
    agents: Vec<ConnectedAgent>,
}

#[derive(serde::Serialize, utoipa::ToSchema)]
pub(crate) struct ConnectedAgent {
    delegation_id: String,
    /// The verified domain; `operator_name` is the operator's own name for itself.
    operator: String,
    operator_name: String,
    scopes: Vec<String>,
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    granted_at: UnixMillis,
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    ends_at: UnixMillis,
    state: &'static str,
    #[serde(with = "rfc3339_option", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    revoked_at: Option<UnixMillis>,
}

#[utoipa::path(
    get, path = "/v1/agents", tag = "people", security(("session" = [])),
    summary = "The connected agents of a person",
    responses((status = 200, description = "Connections, newest first", body = Agents), ErrorResponses),
)]
pub(crate) async fn get(State(app): State<App>, AtProject(at): AtProject, asker: Asker) -> JsonResult<Agents> {
    let who = asker.person()?;
    let found = app.engine.people().delegations_of(at.project.key, who.person.key).await?;
    let now = app.engine.now();
    Ok(axum::Json(Agents { agents: found.iter().map(|delegation| agent(delegation, now)).collect() }))
}

fn agent(delegation: &Delegation, now: UnixMillis) -> ConnectedAgent {
    let (state, revoked_at) = match delegation.state {
        DelegationState::AutoRevoked { reason: RevokeReason::PolicyExpired, .. } => ("expired", None),
        DelegationState::Revoked { at, .. } | DelegationState::AutoRevoked { at, .. } => ("revoked", Some(at)),
        _ if now >= delegation.policy_expires_at => ("expired", None),
        DelegationState::Suspended { .. } => ("suspended", None),
        DelegationState::Active => ("active", None),
    };
    ConnectedAgent {
        delegation_id: delegation.id.clone(),
        operator: delegation.operator.to_string(),
        operator_name: delegation.operator_name.clone(),
        scopes: delegation.scopes.clone(),
        granted_at: delegation.granted_at,
        ends_at: delegation.policy_expires_at,
        state,
        revoked_at,
    }
}
