//! Requests of the command line to a node: one type a request, with its answer.
//!
//! A request runs in the running node, reached by its operations socket, or in the command's own process while no node
//! runs. Both call the same functions of the engine; nothing is decided here.

mod api_keys;
mod audit;
mod bundles;
mod calls;
mod delegations;
mod erasures;
mod node;
mod people;
mod projects;
mod refusal;
mod service_accounts;
mod subscriber_tokens;
mod webhooks;

pub use api_keys::{AddApiKey, AddedApiKey, ListApiKeys, ListedApiKey, RevokeApiKey};
pub use audit::{CheckEvidence, ListAudit};
pub use bundles::ExportBundle;
pub use calls::{ListUnsettledCalls, SettleCall};
pub use delegations::{LiftApiKeys, LiftDelegations, ListDelegations};
pub use erasures::{ErasePerson, HoldPerson, ListErasures};
pub use node::{
    AcceptClock, AcceptedClock, ListSigningKeys, ReadStorageStats, ReplaceLogKey, ReplacedLogKey, RotateSigningKeys,
    RotatedSigningKey, ShowClock, ShownClock,
};
pub use people::{
    AddPerson, AssignRoles, DisablePerson, EnablePerson, EndedWithPerson, ListPeople, ListedPerson, RolesInProject,
    SetEmail, SetPassword,
};
pub use projects::{ApplyProject, FindProject, ListProjectVersions, ListProjects, ShowProject};
pub use refusal::AdminRefusal;
pub use service_accounts::{
    CreateServiceAccount, CreatedServiceAccount, ListServiceAccounts, ReviewServiceAccount, ReviewedServiceAccount,
    RevokeServiceAccount,
};
pub use subscriber_tokens::{AddSubscriberToken, ListSubscriberTokens, ListedSubscriberToken, RevokeSubscriberToken};
pub use webhooks::{
    CreateWebhookSecret, CreatedWebhookSecret, ListWebhookMessages, ListWebhookSecrets, ListedWebhookSecret,
    ReplayWebhookMessage, RetireWebhookSecret, ShowWebhookMessage,
};

/// The engine's types that requests and answers use.
pub use countersign_engine::{
    AddedSubscriberToken, ApiKey, ApiKeyKind, Applied, AuditSearch, Delegation, DelegationState, DocumentProblem,
    Engine, Erasure, ErasureState, EvidenceCheck, EvidenceFault, KeyInUse, KeysError, NewKey, NewSubscriberToken,
    OutboxMessage, OutboxState, Project, Role, StartError, SubscriberToken, TokenState, UnsettledWrite, WriteState,
    check_project, clarification_rules, held,
    store::{KindStats, StorageStats, StoreError},
};

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, State},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use http::StatusCode;
use serde::{Serialize, de::DeserializeOwned};
use std::sync::Arc;

/// The largest request: project documents are long.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// A request of the command line to a node.
pub trait AdminRequest: Serialize + DeserializeOwned + Send + 'static {
    /// Its name on the socket and in the log.
    const NAME: &'static str;
    type Answer: Serialize + DeserializeOwned + Send + 'static;

    fn run(self, engine: &Arc<Engine>) -> impl Future<Output = Result<Self::Answer, AdminRefusal>> + Send;
}

/// Adds a route for each request, by its name.
macro_rules! with_requests {
    ($router:ident; $($request:ty),+) => {
        $router$(.route(&format!("/{}", <$request>::NAME), post(answer::<$request>)))+
    };
}

/// The routes of the operations socket.
pub(crate) fn router(engine: Arc<Engine>) -> Router {
    let router = Router::new().route("/version", get(|| async { env!("CARGO_PKG_VERSION") }));
    let router = with_requests!(router;
            ListProjects, ShowProject, ListProjectVersions, FindProject, ApplyProject, ListPeople, AddPerson, AssignRoles,
            SetPassword, SetEmail, ReviewServiceAccount, CreateServiceAccount, ListServiceAccounts, RevokeServiceAccount,
            DisablePerson, EnablePerson, ListApiKeys, AddApiKey, RevokeApiKey, LiftApiKeys, ListDelegations,
            LiftDelegations, ListUnsettledCalls, SettleCall, ListSubscriberTokens, AddSubscriberToken,
            RevokeSubscriberToken, ExportBundle,
    CreateWebhookSecret, ListWebhookSecrets, RetireWebhookSecret, ListWebhookMessages,
     ShowWebhookMessage, ReplayWebhookMessage, ListSigningKeys, RotateSigningKeys, ReplaceLogKey, ShowClock, AcceptClock, ReadStorageStats, ListAudit,
     CheckEvidence, ErasePerson, HoldPerson, ListErasures
        );
    router.layer(DefaultBodyLimit::max(MAX_BODY_BYTES)).with_state(engine)
}

async fn answer<R: AdminRequest>(State(engine): State<Arc<Engine>>, Json(request): Json<R>) -> Response {
    // In a task of its own, so that an interrupted command leaves nothing half done.
    let done = tokio::spawn(async move { request.run(&engine).await }).await;
    match done {
        Ok(Ok(answer)) => {
            tracing::info!(request = R::NAME, "done for the command line");
            Json(answer).into_response()
        }
        Ok(Err(refusal)) => {
            tracing::info!(request = R::NAME, %refusal, "refused to the command line");
            (StatusCode::CONFLICT, Json(refusal)).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
