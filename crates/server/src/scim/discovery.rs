//! `/scim/v2/ServiceProviderConfig`, `/ResourceTypes` and `/Schemas`: for everyone, without a key (RFC 7644 4).

use super::{ScimDocument, ScimError, base, users};
use crate::http::at::AtProject;
use axum::extract::{OriginalUri, Path};
use countersign_engine::{
    ProjectAt,
    scim::{ScimRefusal, USER_SCHEMA},
};
use http::StatusCode;
use serde_json::{Value, json};
use std::collections::HashMap;

#[utoipa::path(
    get,
    path = "/scim/v2/ServiceProviderConfig",
    tag = "provisioning",
    summary = "The supported parts of SCIM",
    responses((status = 200, description = "A ServiceProviderConfig (RFC 7643 5)", body = Value, content_type = "application/scim+json"), (status = "4XX", description = "Refused: an Error of RFC 7644 3.12", body = Value, content_type = "application/scim+json"), (status = "5XX", description = "Server error", body = Value, content_type = "application/scim+json"))
)]
pub(crate) async fn service_provider_config(AtProject(at): AtProject) -> ScimDocument {
    let unsupported = json!({ "supported": false });
    let document = json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
        "patch": { "supported": true },
        "bulk": { "supported": false, "maxOperations": 0, "maxPayloadSize": 0 },
        "filter": { "supported": true, "maxResults": users::MOST },
        "changePassword": unsupported,
        "sort": unsupported,
        "etag": unsupported,
        "authenticationSchemes": [{
            "type": "oauthbearertoken",
            "name": "API key",
            "description": "The secret of an API key of the kind scim, as a bearer token",
            "primary": true,
        }],
        "meta": {
            "resourceType": "ServiceProviderConfig",
            "location": format!("{}/ServiceProviderConfig", base(&at)),
        },
    });
    ScimDocument(StatusCode::OK, document)
}

#[utoipa::path(
    get,
    path = "/scim/v2/ResourceTypes",
    tag = "provisioning",
    summary = "The types of resources: users",
    responses((status = 200, description = "A ListResponse of ResourceTypes (RFC 7643 6)", body = Value, content_type = "application/scim+json"), (status = "4XX", description = "Refused: an Error of RFC 7644 3.12", body = Value, content_type = "application/scim+json"), (status = "5XX", description = "Server error", body = Value, content_type = "application/scim+json"))
)]
pub(crate) async fn resource_types(AtProject(at): AtProject, uri: OriginalUri) -> Result<ScimDocument, ScimError> {
    listed(&uri, user_type(&base(&at)))
}

#[utoipa::path(
    get,
    path = "/scim/v2/ResourceTypes/{id}",
    tag = "provisioning",
    summary = "One type of resources",
    params(("id" = String, Path, description = "`User`")),
    responses((status = 200, description = "A ResourceType (RFC 7643 6)", body = Value, content_type = "application/scim+json"), (status = "4XX", description = "Refused: an Error of RFC 7644 3.12", body = Value, content_type = "application/scim+json"), (status = "5XX", description = "Server error", body = Value, content_type = "application/scim+json"))
)]
pub(crate) async fn resource_type(
    AtProject(at): AtProject,
    Path(path): Path<HashMap<String, String>>,
) -> Result<ScimDocument, ScimError> {
    named(&path, "User", user_type(&base(&at)))
}

#[utoipa::path(
    get,
    path = "/scim/v2/Schemas",
    tag = "provisioning",
    summary = "The kept attributes of users",
    responses((status = 200, description = "A ListResponse of Schemas (RFC 7643 7)", body = Value, content_type = "application/scim+json"), (status = "4XX", description = "Refused: an Error of RFC 7644 3.12", body = Value, content_type = "application/scim+json"), (status = "5XX", description = "Server error", body = Value, content_type = "application/scim+json"))
)]
pub(crate) async fn schemas(AtProject(at): AtProject, uri: OriginalUri) -> Result<ScimDocument, ScimError> {
    listed(&uri, user_schema(&at))
}

#[utoipa::path(
    get,
    path = "/scim/v2/Schemas/{id}",
    tag = "provisioning",
    summary = "One schema",
    params(("id" = String, Path, description = "`urn:ietf:params:scim:schemas:core:2.0:User`")),
    responses((status = 200, description = "A Schema (RFC 7643 7)", body = Value, content_type = "application/scim+json"), (status = "4XX", description = "Refused: an Error of RFC 7644 3.12", body = Value, content_type = "application/scim+json"), (status = "5XX", description = "Server error", body = Value, content_type = "application/scim+json"))
)]
pub(crate) async fn schema(
    AtProject(at): AtProject,
    Path(path): Path<HashMap<String, String>>,
) -> Result<ScimDocument, ScimError> {
    named(&path, USER_SCHEMA, user_schema(&at))
}

/// A filter of these lists is refused with 403 (RFC 7644 4).
fn listed(uri: &OriginalUri, resource: Value) -> Result<ScimDocument, ScimError> {
    if uri.query().is_some_and(|query| query.split('&').any(|part| part.starts_with("filter="))) {
        return Err(countersign_engine::Refusal::NotAuthorized("this list cannot be filtered".into()).into());
    }
    Ok(ScimDocument(StatusCode::OK, users::list_response(1, 1, vec![resource])))
}

fn named(path: &HashMap<String, String>, id: &str, resource: Value) -> Result<ScimDocument, ScimError> {
    match path.get("id").is_some_and(|asked| asked == id) {
        true => Ok(ScimDocument(StatusCode::OK, resource)),
        false => Err(ScimRefusal::NotFound.into()),
    }
}

fn user_type(base: &str) -> Value {
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
        "id": "User",
        "name": "User",
        "description": "A person of the project",
        "endpoint": "/Users",
        "schema": USER_SCHEMA,
        "schemaExtensions": [],
        "meta": { "resourceType": "ResourceType", "location": format!("{base}/ResourceTypes/User") },
    })
}

fn user_schema(at: &ProjectAt) -> Value {
    let plural = || {
        json!([
            text("value", json!({})),
            text("display", json!({})),
            text("type", json!({})),
            attribute("primary", "boolean", json!({})),
        ])
    };
    // A role that the project's policy does not list is refused.
    let roles = at.project.document.scim.as_ref().map(|scim| [&scim.roles[..], &scim.assignable_roles].concat());
    let roles = json!([text("value", json!({ "canonicalValues": roles.unwrap_or_default() }))]);
    let name = json!([text("formatted", json!({})), text("familyName", json!({})), text("givenName", json!({}))]);
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
        "id": USER_SCHEMA,
        "name": "User",
        "description": "The kept attributes of a user",
        "attributes": [
            text("externalId", json!({
                "required": true, "mutability": "immutable", "caseExact": true, "uniqueness": "server",
                "description": "Identifies the person at the identity provider",
            })),
            text("userName", json!({ "required": true, "uniqueness": "server" })),
            text("displayName", json!({})),
            attribute("name", "complex", json!({ "subAttributes": name })),
            attribute("active", "boolean", json!({})),
            attribute("emails", "complex", json!({ "multiValued": true, "subAttributes": plural() })),
            attribute("roles", "complex", json!({ "multiValued": true, "subAttributes": roles })),
        ],
        "meta": { "resourceType": "Schema", "location": format!("{}/Schemas/{USER_SCHEMA}", base(at)) },
    })
}

fn text(name: &str, more: Value) -> Value {
    let Value::Object(mut more) = more else { return attribute(name, "string", json!({})) };
    more.entry("caseExact").or_insert(false.into());
    more.entry("uniqueness").or_insert("none".into());
    attribute(name, "string", Value::Object(more))
}

fn attribute(name: &str, kind: &str, more: Value) -> Value {
    let mut described = json!({
        "name": name,
        "type": kind,
        "multiValued": false,
        "description": "",
        "required": false,
        "mutability": "readWrite",
        "returned": "default",
    });
    if let (Some(members), Value::Object(more)) = (described.as_object_mut(), more) {
        members.extend(more);
    }
    described
}
