//! SCIM 2.0 (RFC 7643, 7644): an identity provider provisions the users of a project, at `/scim/v2` and under
//! `/projects/{projectId}`.

pub(crate) mod discovery;
pub(crate) mod users;

use crate::{
    App,
    http::{
        answer::{Enveloped, RefusalResponse},
        at::AtProject,
        body,
        credential::Nonce,
        credential::{BearerCredential, SentTo},
        layers,
    },
};
use axum::{
    Router,
    extract::{FromRequest, FromRequestParts, Request},
    middleware,
    response::{IntoResponse, Response},
    routing::{any, get, post},
};
use countersign_engine::{ApiKey, ProjectAt, Refusal, scim::ScimRefusal};
use countersign_protocol::json;
use http::{HeaderValue, StatusCode, header, request::Parts};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const MEDIA_TYPE: &str = "application/scim+json";

pub(crate) fn router() -> Router<App> {
    endpoints().merge(Router::new().nest("/projects/{projectId}", endpoints()))
}

fn endpoints() -> Router<App> {
    Router::new()
        .route("/scim/v2/Users", get(users::list).post(users::create))
        .route("/scim/v2/Users/.search", post(users::search))
        .route("/scim/v2/.search", post(users::search))
        .route("/scim/v2/Users/{user}", get(users::read).put(users::replace).patch(users::patch).delete(users::delete))
        .route("/scim/v2/ServiceProviderConfig", get(discovery::service_provider_config))
        .route("/scim/v2/ResourceTypes", get(discovery::resource_types))
        .route("/scim/v2/ResourceTypes/{id}", get(discovery::resource_type))
        .route("/scim/v2/Schemas", get(discovery::schemas))
        .route("/scim/v2/Schemas/{id}", get(discovery::schema))
        .route("/scim/v2/{*rest}", any(|| async { StatusCode::NOT_FOUND }))
        .layer(middleware::map_response(in_own_form))
        .layer(middleware::map_response(layers::keep_nothing))
}

/// A document of SCIM.
pub(crate) struct ScimDocument(pub(crate) StatusCode, pub(crate) Value);

impl IntoResponse for ScimDocument {
    fn into_response(self) -> Response {
        let location =
            self.1.pointer("/meta/location").and_then(Value::as_str).filter(|_| self.0 == StatusCode::CREATED);
        let location = location.and_then(|url| HeaderValue::from_str(url).ok());
        let mut response = (self.0, self.1.to_string()).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        if let Some(location) = location {
            response.headers_mut().insert(header::LOCATION, location);
        }
        response
    }
}

/// A refusal in SCIM's own envelope (RFC 7644 3.12).
#[derive(Debug)]
pub(crate) struct ScimError(ScimRefusal);

impl<E: Into<ScimRefusal>> From<E> for ScimError {
    fn from(refusal: E) -> Self {
        Self(refusal.into())
    }
}

impl IntoResponse for ScimError {
    fn into_response(self) -> Response {
        match self.0 {
            ScimRefusal::Other(refusal) => RefusalResponse(refusal).into_response(),
            refusal => error(refusal.status(), refusal.scim_type(), &refusal.to_string()),
        }
    }
}

fn error(status: u16, scim_type: Option<&str>, detail: &str) -> Response {
    let mut body = json!({
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"],
        "status": status.to_string(),
        "detail": detail,
    });
    if let (Some(scim_type), Some(members)) = (scim_type, body.as_object_mut()) {
        members.insert("scimType".into(), scim_type.into());
    }
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = ScimDocument(status, body).into_response();
    response.extensions_mut().insert(Enveloped);
    if status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Bearer realm=\"scim\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// Refusals of extractors and of the router leave in the same form.
async fn in_own_form(response: Response) -> Response {
    if let Some(RefusalResponse(refusal)) = response.extensions().get::<RefusalResponse>() {
        let status = refusal.code().status();
        let detail = match status {
            401 => "send the secret of a live key of the kind scim as a bearer token".into(),
            _ => refusal.to_string(),
        };
        let mut told = error(status, None, &detail);
        if let Some(wait) = refusal.retry_after_s() {
            told.headers_mut().insert(header::RETRY_AFTER, wait.into());
        }
        return told;
    }
    let status = response.status();
    let done = response.extensions().get::<Enveloped>().is_some();
    if done || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let mut told = error(status.as_u16(), None, status.canonical_reason().unwrap_or("refused"));
    if let Some(allow) = response.headers().get(header::ALLOW) {
        told.headers_mut().insert(header::ALLOW, allow.clone());
    }
    told
}

/// The identity provider that calls, by its key.
pub(crate) struct Provisioner {
    pub(crate) at: ProjectAt,
    pub(crate) key: ApiKey,
}

impl Provisioner {
    /// The URL of `/scim/v2` here.
    pub(crate) fn base(&self) -> String {
        base(&self.at)
    }
}

fn base(at: &ProjectAt) -> String {
    format!("{}{}/scim/v2", at.service, at.prefix())
}

impl FromRequestParts<App> for Provisioner {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let AtProject(at) = AtProject::from_request_parts(parts, app).await?;
        let credential = BearerCredential::of(&parts.headers, &SentTo::of(parts))?;
        let credential = credential.filter(BearerCredential::is_api_key).ok_or(Refusal::NoCredentials)?;
        Nonce::of(parts).give(app.engine.calls().nonce_for_calls_at(&at));
        let url = credential.url(&at);
        let key = app.engine.people().scim_key(&at, credential.presented(&url)?).await?;
        Ok(Self { at, key })
    }
}

/// A body of `application/scim+json`; `application/json` is accepted as well (RFC 7644 3.1).
pub(crate) struct ScimBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for ScimBody<T> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if essence != MEDIA_TYPE && essence != "application/json" {
            return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response());
        }
        let bytes = body::read(request, app.limits.max_body_bytes).await?;
        let why = |why| ScimError(ScimRefusal::InvalidSyntax(format!("the body is not as expected: {why}")));
        json::from_slice(&bytes).map(Self).map_err(|found| why(found).into_response())
    }
}
