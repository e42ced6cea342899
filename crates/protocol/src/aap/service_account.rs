//! The delegation token of a service account (AAP 11.3, 19.5): an admin's grant of fixed scopes and resources.

use super::claims::{BadClaim, ClaimReader, has_any, wrong};
use crate::domain::Domain;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The longest description.
const DESCRIPTION_CHARS: usize = 200;

/// All claims. We are the only issuer, so a token with any other claim is not ours (C-07).
const CLAIMS: &[&str] = &["iss", "sub", "delegated_to", "authorized_by", "org_id", "granted_scope", "iat", "exp"];
/// Claims that no other delegation token has.
const OWN_CLAIMS: &[&str] = &["authorized_by", "org_id", "granted_scope"];
const SCOPE_MEMBERS: &[&str] = &["description", "resources", "scopes", "crosses_users"];

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServiceAccountClaims {
    /// The service's base URI, as in a person's delegation token (C-12).
    pub iss: String,
    /// The account, never a person.
    pub sub: String,
    pub delegated_to: Domain,
    /// The e-mail address of the admin who confirmed it.
    pub authorized_by: String,
    pub org_id: String,
    pub granted_scope: GrantedScope,
    pub iat: i64,
    pub exp: i64,
}

/// Everything that an admin granted. Nothing is added to it later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GrantedScope {
    /// What people are told about the account's access.
    pub description: String,
    /// Resource ids, or prefixes that end in `:*`. Without any, no route with a resource can be called (C-48).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    pub scopes: Vec<String>,
    /// Whether a resource has the data of more than one user; computed by the service.
    #[serde(default)]
    pub crosses_users: bool,
}

/// Whether a payload is a service account's, and not a person's delegation.
pub fn is_service_account(payload: &Map<String, Value>) -> bool {
    has_any(payload, OWN_CLAIMS)
}

/// `svc_` and 3 to 64 lower-case letters, digits and underscores.
pub fn is_account_id(id: &str) -> bool {
    let tail = id.strip_prefix("svc_").unwrap_or_default();
    (3..=64).contains(&tail.len()) && tail.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Whether a text is one e-mail address: a plain local part and a domain with a dot or a single label.
pub fn is_email(text: &str) -> bool {
    let local = |b: u8| b.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&b);
    text.len() <= 254
        && text.rsplit_once('@').is_some_and(|(name, domain)| {
            (1..=64).contains(&name.len())
                && name.bytes().all(local)
                && !name.starts_with('.')
                && !name.ends_with('.')
                && !name.contains("..")
                && Domain::parse(domain).is_ok()
        })
}

impl ServiceAccountClaims {
    pub fn parse(payload: &Map<String, Value>) -> Result<Self, BadClaim> {
        let claims = ClaimReader(payload);
        if !payload.keys().all(|name| CLAIMS.contains(&name.as_str())) {
            return Err(BadClaim::Unknown);
        }
        Ok(Self {
            iss: claims.text("iss")?.to_owned(),
            sub: account_id(claims)?,
            delegated_to: claims.domain("delegated_to")?,
            authorized_by: authorized_by(claims)?,
            org_id: claims.text("org_id")?.to_owned(),
            granted_scope: GrantedScope::parse(claims.required("granted_scope")?)?,
            iat: claims.integer("iat")?,
            exp: claims.integer("exp")?,
        })
    }
}

impl GrantedScope {
    /// As in a token: every required member, and no other than `resources`.
    fn parse(value: &Value) -> Result<Self, BadClaim> {
        let members = value.as_object().ok_or(wrong("granted_scope", "must be an object"))?;
        if !members.contains_key("crosses_users") {
            return Err(wrong("granted_scope", "must have crosses_users"));
        }
        Self::proposed(value).map_err(|(_, problem)| wrong("granted_scope", problem))
    }

    /// As proposed for a grant: `crosses_users` may be missing, since the service computes it. Returns the member that is
    /// wrong, and why.
    pub fn proposed(value: &Value) -> Result<Self, (&'static str, &'static str)> {
        let members = value.as_object().ok_or(("granted_scope", "must be an object"))?;
        if !members.keys().all(|name| SCOPE_MEMBERS.contains(&name.as_str())) {
            return Err(("granted_scope", "has a member other than description, resources, scopes and crosses_users"));
        }
        let description = members.get("description").and_then(Value::as_str);
        let description = description.ok_or(("granted_scope.description", "is required and must be a string"))?;
        if description.trim().is_empty() || description.chars().count() > DESCRIPTION_CHARS {
            return Err(("granted_scope.description", "must have 1 to 200 characters"));
        }
        let scopes = members.get("scopes").and_then(texts).filter(|scopes| !scopes.is_empty());
        let scopes = scopes.ok_or(("granted_scope.scopes", "must be a list of at least one string"))?;
        let resources = members.get("resources").map_or(Some(Vec::new()), texts);
        let resources = resources.ok_or(("granted_scope.resources", "must be a list of strings"))?;
        let crosses_users = members.get("crosses_users").map_or(Some(false), Value::as_bool);
        let crosses_users = crosses_users.ok_or(("granted_scope.crosses_users", "must be true or false"))?;
        Ok(Self { description: description.to_owned(), resources, scopes, crosses_users })
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

fn account_id(claims: ClaimReader<'_>) -> Result<String, BadClaim> {
    let id = claims.text("sub")?;
    let bad = wrong("sub", "must be svc_ and 3 to 64 lower-case letters, digits and underscores");
    if is_account_id(id) { Ok(id.to_owned()) } else { Err(bad) }
}

fn authorized_by(claims: ClaimReader<'_>) -> Result<String, BadClaim> {
    let email = claims.text("authorized_by")?;
    if is_email(email) { Ok(email.to_owned()) } else { Err(wrong("authorized_by", "must be an e-mail address")) }
}
