//! `/scim/v2/Users`

use super::{Provisioner, ScimBody, ScimDocument, ScimError};
use crate::App;
use axum::extract::{Path, Query, State};
use countersign_engine::scim::{PatchRequest, ScimRefusal, Selection, UserChange, document, parse_filter};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The most users of one page.
pub(crate) const MOST: usize = 200;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ListQuery {
    filter: Option<String>,
    start_index: Option<i64>,
    count: Option<i64>,
    #[serde(flatten)]
    selection: SelectionQuery,
}

/// The attributes to return, of every operation that returns users (RFC 7644 3.9).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SelectionQuery {
    attributes: Option<String>,
    excluded_attributes: Option<String>,
}

impl SelectionQuery {
    fn selection(&self) -> Result<Selection, ScimRefusal> {
        Selection::parse(self.attributes.as_deref(), self.excluded_attributes.as_deref())
    }
}

#[utoipa::path(
    get,
    path = "/scim/v2/Users",
    tag = "provisioning",
    summary = "List the provisioned users",
    params(("filter" = Option<String>, Query, description = "`userName eq \"…\"`, `externalId eq \"…\"` or `id eq \"…\"`"), ("startIndex" = Option<i64>, Query, description = "The position of the first user, from 1"), ("count" = Option<i64>, Query, description = "The most users, at most 200"), ("attributes" = Option<String>, Query, description = "The attributes to return, with commas; `schemas` and `id` are always returned"), ("excludedAttributes" = Option<String>, Query, description = "The attributes not to return")),
    responses((status = 200, description = "A ListResponse (RFC 7644 3.4.2)", body = Value, content_type = "application/scim+json"), (status = "4XX", description = "Refused: an Error of RFC 7644 3.12", body = Value, content_type = "application/scim+json"), (status = "5XX", description = "Server error", body = Value, content_type = "application/scim+json")),
    security(("bearer" = []))
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Provisioner,
    Query(query): Query<ListQuery>,
) -> Result<ScimDocument, ScimError> {
    found(&app, &caller, &query).await
}

/// A query in the body of a request, where its parameters do not get into logs (RFC 7644 3.4.3).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SearchBody {
    attributes: Option<Vec<String>>,
    excluded_attributes: Option<Vec<String>>,
    filter: Option<String>,
    start_index: Option<i64>,
    count: Option<i64>,
}

#[utoipa::path(
    post,
    path = "/scim/v2/Users/.search",
    tag = "provisioning",
    summary = "List the provisioned users, with the query in the body",
    request_body(content = Value, content_type = "application/scim+json", description = "A SearchRequest (RFC 7644 3.4.3)"),
    responses((status = 200, description = "A ListResponse (RFC 7644 3.4.2)", body = Value, content_type = "application/scim+json"), (status = "4XX", description = "Refused: an Error of RFC 7644 3.12", body = Value, content_type = "application/scim+json"), (status = "5XX", description = "Server error", body = Value, content_type = "application/scim+json")),
    security(("bearer" = []))
)]
pub(crate) async fn search(
    State(app): State<App>,
    caller: Provisioner,
    ScimBody(body): ScimBody<SearchBody>,
) -> Result<ScimDocument, ScimError> {
    let joined = |names: Option<Vec<String>>| names.map(|names| names.join(","));
    let selection =
        SelectionQuery { attributes: joined(body.attributes), excluded_attributes: joined(body.excluded_attributes) };
    let query = ListQuery { filter: body.filter, start_index: body.start_index, count: body.count, selection };
    found(&app, &caller, &query).await
}

async fn found(app: &App, caller: &Provisioner, query: &ListQuery) -> Result<ScimDocument, ScimError> {
    let filter = query.filter.as_deref().map(parse_filter).transpose()?;
    let selection = query.selection.selection()?;
    let number = |given: Option<i64>, or| given.map_or(or, |given| usize::try_from(given).unwrap_or(0));
    let first = number(query.start_index, 1).max(1);
    let count = number(query.count, MOST).min(MOST);
    let page = app.engine.people().scim_users(&caller.at, filter.as_ref(), (first - 1, count)).await?;
    let base = caller.base();
    let users: Vec<Value> = page.users.iter().map(|user| selection.of(document(user, &base))).collect();
    Ok(ScimDocument(StatusCode::OK, list_response(page.total, first, users)))
}

#[utoipa::path(
    post,
    path = "/scim/v2/Users",
    tag = "provisioning",
    summary = "Provision a user",
    request_body(content = Value, content_type = "application/scim+json", description = "A User (RFC 7643 4.1) with `userName` and `externalId`"),
    responses((status = 201, description = "The user, with its id", body = Value, content_type = "application/scim+json"), (status = "4XX", description = "Refused: an Error of RFC 7644 3.12", body = Value, content_type = "application/scim+json"), (status = "5XX", description = "Server error", body = Value, content_type = "application/scim+json")),
    security(("bearer" = []))
)]
pub(crate) async fn create(
    State(app): State<App>,
    caller: Provisioner,
    ScimBody(resource): ScimBody<Map<String, Value>>,
) -> Result<ScimDocument, ScimError> {
    let user = app.engine.people().create_scim_user(&caller.at, &caller.key, &resource).await?;
    Ok(ScimDocument(StatusCode::CREATED, document(&user, &caller.base())))
}

#[utoipa::path(
    get,
    path = "/scim/v2/Users/{user}",
    tag = "provisioning",
    summary = "One provisioned user",
    params(("user" = String, Path, description = "The user's id"), ("attributes" = Option<String>, Query, description = "The attributes to return, with commas; `schemas` and `id` are always returned"), ("excludedAttributes" = Option<String>, Query, description = "The attributes not to return")),
    responses((status = 200, description = "The user", body = Value, content_type = "application/scim+json"), (status = "4XX", description = "Refused: an Error of RFC 7644 3.12", body = Value, content_type = "application/scim+json"), (status = "5XX", description = "Server error", body = Value, content_type = "application/scim+json")),
    security(("bearer" = []))
)]
pub(crate) async fn read(
    State(app): State<App>,
    caller: Provisioner,
    Path(path): Path<HashMap<String, String>>,
    Query(query): Query<SelectionQuery>,
) -> Result<ScimDocument, ScimError> {
    let selection = query.selection()?;
    let user = app.engine.people().scim_user(&caller.at, id_of(&path)).await?;
    Ok(ScimDocument(StatusCode::OK, selection.of(document(&user, &caller.base()))))
}

#[utoipa::path(
    put,
    path = "/scim/v2/Users/{user}",
    tag = "provisioning",
    summary = "Replace a user's attributes; an inactive user is offboarded",
    params(("user" = String, Path, description = "The user's id"), ("attributes" = Option<String>, Query, description = "The attributes to return, with commas; `schemas` and `id` are always returned"), ("excludedAttributes" = Option<String>, Query, description = "The attributes not to return")),
    request_body(content = Value, content_type = "application/scim+json", description = "A User; absent `active` and `roles` stay as they are"),
    responses((status = 200, description = "The user", body = Value, content_type = "application/scim+json"), (status = "4XX", description = "Refused: an Error of RFC 7644 3.12", body = Value, content_type = "application/scim+json"), (status = "5XX", description = "Server error", body = Value, content_type = "application/scim+json")),
    security(("bearer" = []))
)]
pub(crate) async fn replace(
    State(app): State<App>,
    caller: Provisioner,
    Path(path): Path<HashMap<String, String>>,
    Query(query): Query<SelectionQuery>,
    ScimBody(resource): ScimBody<Map<String, Value>>,
) -> Result<ScimDocument, ScimError> {
    change(&app, &caller, id_of(&path), &UserChange::Replace(resource), &query.selection()?).await
}

#[utoipa::path(
    patch,
    path = "/scim/v2/Users/{user}",
    tag = "provisioning",
    summary = "Change a user; `active` = false offboards them at once",
    params(("user" = String, Path, description = "The user's id"), ("attributes" = Option<String>, Query, description = "The attributes to return, with commas; `schemas` and `id` are always returned"), ("excludedAttributes" = Option<String>, Query, description = "The attributes not to return")),
    request_body(content = Value, content_type = "application/scim+json", description = "A PatchOp (RFC 7644 3.5.2)"),
    responses((status = 200, description = "The user", body = Value, content_type = "application/scim+json"), (status = "4XX", description = "Refused: an Error of RFC 7644 3.12", body = Value, content_type = "application/scim+json"), (status = "5XX", description = "Server error", body = Value, content_type = "application/scim+json")),
    security(("bearer" = []))
)]
pub(crate) async fn patch(
    State(app): State<App>,
    caller: Provisioner,
    Path(path): Path<HashMap<String, String>>,
    Query(query): Query<SelectionQuery>,
    ScimBody(request): ScimBody<PatchRequest>,
) -> Result<ScimDocument, ScimError> {
    change(&app, &caller, id_of(&path), &UserChange::Patch(request), &query.selection()?).await
}

#[utoipa::path(
    delete,
    path = "/scim/v2/Users/{user}",
    tag = "provisioning",
    summary = "Offboard and remove a user",
    params(("user" = String, Path, description = "The user's id")),
    responses((status = 204, description = "Everything of the user in this project has ended"), (status = "4XX", description = "Refused: an Error of RFC 7644 3.12", body = Value, content_type = "application/scim+json"), (status = "5XX", description = "Server error", body = Value, content_type = "application/scim+json")),
    security(("bearer" = []))
)]
pub(crate) async fn delete(
    State(app): State<App>,
    caller: Provisioner,
    Path(path): Path<HashMap<String, String>>,
) -> Result<StatusCode, ScimError> {
    app.engine.people().delete_scim_user(&caller.at, &caller.key, id_of(&path)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn change(
    app: &App,
    caller: &Provisioner,
    id: &str,
    change: &UserChange,
    selection: &Selection,
) -> Result<ScimDocument, ScimError> {
    let user = app.engine.people().change_scim_user(&caller.at, &caller.key, id, change).await?;
    Ok(ScimDocument(StatusCode::OK, selection.of(document(&user, &caller.base()))))
}

fn id_of(path: &HashMap<String, String>) -> &str {
    path.get("user").map_or("", String::as_str)
}

pub(super) fn list_response(total: usize, first: usize, resources: Vec<Value>) -> Value {
    json!({
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
        "totalResults": total,
        "startIndex": first,
        "itemsPerPage": resources.len(),
        "Resources": resources,
    })
}
