//! The intended state of a user, from a POST, a PUT or a PATCH.

use super::{
    ProvisionedUser, ScimRefusal, attributes,
    patch::{self, PatchRequest},
    role_name, role_named, sorted,
};
use crate::records::Role;
use countersign_protocol::project::ScimPolicy;
use serde_json::{Map, Value, json};

/// A change of an existing user.
#[derive(Clone, Debug)]
pub enum UserChange {
    /// PUT: absent attributes are cleared, except identity, activity and roles, which stay as they are.
    Replace(Map<String, Value>),
    Patch(PatchRequest),
}

/// The state of a user after a request.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetUser {
    pub external_id: String,
    pub user_name: String,
    pub attributes: Map<String, Value>,
    pub active: bool,
    /// Empty if inactive.
    pub roles: Vec<Role>,
    /// Whether the request states that the user is inactive, or ends their membership.
    pub offboards: bool,
}

impl UserChange {
    pub fn target(&self, current: &ProvisionedUser, policy: &ScimPolicy) -> Result<TargetUser, ScimRefusal> {
        let before = attributes_of(current);
        let after = match self {
            Self::Patch(request) => patch::apply(request, before.clone(), &role_values(&super::default_roles(policy)))?,
            Self::Replace(resource) => {
                let mut given = attributes::of_resource(resource)?;
                for kept in ["externalId", "active", "roles"] {
                    if let (false, Some(value)) = (given.contains_key(kept), before.get(kept)) {
                        given.insert(kept.to_owned(), value.clone());
                    }
                }
                given
            }
        };
        let states_active = match self {
            Self::Patch(_) => after.get("active") != before.get("active") || self.names_active(),
            Self::Replace(resource) => resource.keys().any(|name| name.eq_ignore_ascii_case("active")),
        };
        let target = read(after, &before, &current.roles(), current.is_active(), policy)?;
        if target.external_id != current.user.external_id {
            return Err(ScimRefusal::Mutability("externalId identifies the person and cannot be changed".into()));
        }
        let offboards = !target.active && (current.is_active() || states_active);
        Ok(TargetUser { offboards, ..target })
    }

    fn names_active(&self) -> bool {
        let Self::Patch(request) = self else { return false };
        request.operations.iter().any(|operation| {
            let path = operation.path.as_deref().map(patch::without_core_schema);
            let by_path = path.is_some_and(|path| path.eq_ignore_ascii_case("active"));
            let members = operation.value.as_object().filter(|_| operation.path.is_none());
            by_path || members.is_some_and(|members| members.keys().any(|name| name.eq_ignore_ascii_case("active")))
        })
    }
}

/// The state of a new user.
pub fn created(resource: &Map<String, Value>, policy: &ScimPolicy) -> Result<TargetUser, ScimRefusal> {
    read(attributes::of_resource(resource)?, &Map::new(), &[], false, policy)
}

/// The attributes of a user in canonical form, as a PATCH finds them.
pub fn attributes_of(current: &ProvisionedUser) -> Map<String, Value> {
    let mut attributes = current.user.attributes.clone();
    attributes.insert("userName".into(), current.user.user_name.as_str().into());
    attributes.insert("externalId".into(), current.user.external_id.as_str().into());
    attributes.insert("active".into(), current.is_active().into());
    attributes.insert("roles".into(), role_values(&current.roles()).into());
    attributes
}

fn read(
    mut given: Map<String, Value>,
    before: &Map<String, Value>,
    held: &[Role],
    was_active: bool,
    policy: &ScimPolicy,
) -> Result<TargetUser, ScimRefusal> {
    let external_id = required(&mut given, "externalId")?;
    let user_name = required(&mut given, "userName")?;
    let active = given.remove("active").and_then(|active| active.as_bool()).unwrap_or(true);
    let roles_given = given.remove("roles");
    let untouched = roles_given.as_ref() == before.get("roles");
    let roles = match roles_given.as_ref().and_then(Value::as_array).filter(|values| !values.is_empty()) {
        _ if !active => Vec::new(),
        Some(_) if untouched && was_active => held.to_vec(),
        Some(values) => roles(values, held, policy)?,
        None => super::default_roles(policy),
    };
    Ok(TargetUser { external_id, user_name, attributes: given, active, roles, offboards: false })
}

fn required(given: &mut Map<String, Value>, name: &str) -> Result<String, ScimRefusal> {
    let text = given.remove(name).and_then(|value| value.as_str().map(str::to_owned));
    let text = text.filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| ScimRefusal::InvalidValue(format!("{name} is required")))
}

/// The identity provider assigns the policy's roles only; a role that an administrator gave may stay.
fn roles(values: &[Value], held: &[Role], policy: &ScimPolicy) -> Result<Vec<Role>, ScimRefusal> {
    let assignable = |role: Role| {
        let named = |name: &String| role_named(name) == Some(role);
        held.contains(&role) || policy.roles.iter().chain(&policy.assignable_roles).any(named)
    };
    let mut found = Vec::new();
    for value in values {
        let name = value.get("value").and_then(Value::as_str).unwrap_or_default();
        let role = role_named(name).filter(|role| assignable(*role));
        let why =
            || format!("the role {name:?} is not among the roles and assignable_roles of the project's scim policy");
        found.push(role.ok_or_else(|| ScimRefusal::InvalidValue(why()))?);
    }
    Ok(sorted(found))
}

pub(super) fn role_values(roles: &[Role]) -> Vec<Value> {
    roles.iter().map(|role| json!({ "value": role_name(*role) })).collect()
}
