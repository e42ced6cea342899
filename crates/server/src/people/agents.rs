//! `GET /v1/agents`: a person's own connections.

use crate::{
    App,
    http::{answer::Refused, asker::Asker, at::At},
};
use axum::extract::State;
use countersign_engine::{Delegation, DelegationState};
use countersign_protocol::time::{UnixMillis, rfc3339, rfc3339_option};

#[derive(serde::Serialize)]
pub(super) struct Agents {
    agents: Vec<Agent>,
}

#[derive(serde::Serialize)]
struct Agent {
    delegation_id: String,
    /// The verified domain; the name beside it is what the operator calls itself.
    operator: String,
    operator_name: String,
    scopes: Vec<String>,
    #[serde(with = "rfc3339")]
    granted_at: UnixMillis,
    #[serde(with = "rfc3339")]
    ends_at: UnixMillis,
    state: &'static str,
    #[serde(with = "rfc3339_option", skip_serializing_if = "Option::is_none")]
    revoked_at: Option<UnixMillis>,
}

pub(super) async fn get(State(app): State<App>, At(at): At, asker: Asker) -> Result<axum::Json<Agents>, Refused> {
    let who = asker.person()?;
    let found = app.engine.delegations_of(at.project.key, who.person.key).await?;
    let now = app.engine.clock().now();
    Ok(axum::Json(Agents { agents: found.iter().map(|delegation| agent(delegation, now)).collect() }))
}

fn agent(delegation: &Delegation, now: UnixMillis) -> Agent {
    let (state, revoked_at) = match delegation.state {
        DelegationState::Revoked { at, .. } => ("revoked", Some(at)),
        DelegationState::Active if now >= delegation.policy_expires_at => ("expired", None),
        DelegationState::Active => ("active", None),
    };
    Agent {
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
