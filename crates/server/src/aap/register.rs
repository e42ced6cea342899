//! `POST /agent/register` (AAP 17.1)

use crate::{
    App,
    http::{
        address::SourceNetwork,
        answer::{ErrorResponses, JsonResult, RefusalResponse},
        at::AtProject,
        body::Json,
        credential::{self, Nonce, SentTo},
        version::VersionHeader,
    },
};
use axum::extract::{FromRequestParts, State};
use countersign_engine::{ProjectAt, Refusal, RegisterProof};
use countersign_protocol::aap::register::{RegisterRequest, RegisterResponse};
use http::request::Parts;

#[utoipa::path(
    post, path = "/agent/register", tag = "agents", request_body = RegisterRequest,
    summary = "Exchange operator JWT, delegation and receipt for an access token",
    params(("Aap-Version" = String, Header, description = "The protocol version of the agent", example = "2.0"),
        ("DPoP" = Option<String>, Header, description = "A proof of possession: the access token is bound to its key. \
                                                         Required if the manifest has dpop_required")),
    responses((status = 200, description = "Registered", body = RegisterResponse), ErrorResponses),
)]
pub(crate) async fn post(
    State(app): State<App>,
    _spoken: VersionHeader,
    RegisterContext { at, proof, to }: RegisterContext,
    SourceNetwork(source): SourceNetwork,
    Json(body): Json<RegisterRequest>,
) -> JsonResult<RegisterResponse> {
    let url = to.url(&at);
    let proof = proof.as_ref().map(Option::as_deref).map_err(Clone::clone).transpose();
    let shown = proof.map(|proof| RegisterProof { proof, method: to.method.as_str(), url: &url });
    Ok(axum::Json(app.engine.agents().register(&at, &body, &source, shown).await?))
}

/// The project of the registration, and the proof of the key that the token will be bound to.
pub(crate) struct RegisterContext {
    at: ProjectAt,
    proof: Result<Option<String>, Refusal>,
    to: SentTo,
}

impl FromRequestParts<App> for RegisterContext {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let AtProject(at) = AtProject::from_request_parts(parts, app).await?;
        // From here on every response carries the nonce, including errors.
        Nonce::of(parts).give(app.engine.agents().nonce_for_register(&at));
        Ok(Self { at, proof: credential::proof(&parts.headers), to: SentTo::of(parts) })
    }
}
