//! The identity manifest of an operator (AAP 4, 19.2), both read from other operators and written for our own domain.
//!
//! Formats that the schema only annotates are enforced here (C-85), unknown members are ignored (C-07), and every
//! address that a service would later call must be inside the operator's own domain (C-67).

mod members;
#[cfg(test)]
mod tests;
mod uri;

pub use uri::{HttpsUri, NotAnHttpsUri};

use super::policy::PolicyLayer;
use crate::{domain::Domain, json};
use members::IdentityMembers;
use serde::Serialize;

/// The path of every operator's manifest, below `https://{domain}`.
pub const PATH: &str = "/.well-known/agent-identity.json";
/// The most characters of an operator's name (AAP 19.2).
pub const MAX_OPERATOR: usize = 120;
/// The most words of a liability disclosure: people should read it, not scroll past (AAP 14.4).
pub const MAX_DISCLOSURE_WORDS: usize = 150;

const DOCUMENT: &str = "the document";

/// An operator's identity and the location of its keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IdentityManifest {
    pub operator: String,
    pub domain: Domain,
    pub contact: String,
    pub signing_keys: HttpsUri,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook_url: Option<HttpsUri>,
    /// A full date, such as `2025-01-31`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub model_providers: Vec<Domain>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub provider_registry_urls: Vec<HttpsUri>,
    #[serde(skip_serializing_if = "Extension::is_empty")]
    pub countersign: Extension,
}

/// Our extensions to the protocol, in the member `countersign`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Extension {
    /// The allowed return addresses after connecting an agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub callbacks: Vec<HttpsUri>,
    /// The operator's own text about liability (AAP 14.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub liability_disclosure: Option<String>,
    /// When delegations to this operator end by themselves (AAP 8.4).
    #[serde(skip_serializing_if = "PolicyLayer::is_empty")]
    pub auto_revoke_policy: PolicyLayer,
    /// Why the operator's own text is not shown, if it has one that cannot be (C-59).
    #[serde(skip)]
    pub disclosure_refused: Option<&'static str>,
}

/// Names the member that an operator has to correct.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an identity manifest: {member} {why}")]
pub struct NotAnIdentity {
    pub member: &'static str,
    pub why: &'static str,
}

impl IdentityManifest {
    pub fn parse(bytes: &[u8]) -> Result<Self, NotAnIdentity> {
        let document = document(bytes)?;
        let members = IdentityMembers::of(&document, DOCUMENT)?;
        let domain = domain(&members)?;
        Ok(Self {
            operator: operator(&members)?,
            contact: contact(&members)?,
            signing_keys: members.uri_below(&domain, "signing_keys")?.ok_or(wrong("signing_keys", members::MISSING))?,
            webhook_url: members.uri_below(&domain, "webhook_url")?,
            since: since(&members)?,
            model_providers: members.list("model_providers", Domain::parse, "must be hostnames")?,
            provider_registry_urls: members.list("provider_registry_urls", HttpsUri::parse, "must be https URIs")?,
            countersign: Extension::parse(&members, &domain)?,
            domain,
        })
    }
}

/// The domain of a manifest, even if other members are invalid.
pub fn claimed_domain(bytes: &[u8]) -> Result<Domain, NotAnIdentity> {
    domain(&IdentityMembers::of(&document(bytes)?, DOCUMENT)?)
}

fn document(bytes: &[u8]) -> Result<serde_json::Value, NotAnIdentity> {
    json::value(bytes).map_err(|_| wrong(DOCUMENT, "is not JSON without repeated members"))
}

impl Extension {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn parse(manifest: &IdentityMembers<'_>, domain: &Domain) -> Result<Self, NotAnIdentity> {
        let Some(members) = manifest.object("countersign")? else { return Ok(Self::default()) };
        let callbacks: Vec<HttpsUri> = members.list("callbacks", HttpsUri::parse, "must be https URIs")?;
        if !callbacks.iter().all(|uri| domain.covers(uri.host())) {
            return Err(wrong("callbacks", members::ELSEWHERE));
        }
        let (liability_disclosure, disclosure_refused) = match members.text("liability_disclosure")?.map(readable) {
            None => (None, None),
            Some(Ok(text)) => (Some(text), None),
            Some(Err(why)) => (None, Some(why)),
        };
        let auto_revoke_policy = members.value("auto_revoke_policy").map(policy).transpose()?.unwrap_or_default();
        Ok(Self { callbacks, liability_disclosure, auto_revoke_policy, disclosure_refused })
    }
}

/// A policy that cannot be read is not ignored: the delegation would last longer than the operator wants.
fn policy(value: &serde_json::Value) -> Result<PolicyLayer, NotAnIdentity> {
    let member = "countersign.auto_revoke_policy";
    let layer: PolicyLayer = serde_json::from_value(value.clone())
        .map_err(|_| wrong(member, "must have only the members of a policy, with durations such as 14d or PT12H"))?;
    match layer.problem() {
        Some((_, why)) => Err(wrong(member, why)),
        None => Ok(layer),
    }
}

fn operator(members: &IdentityMembers<'_>) -> Result<String, NotAnIdentity> {
    let name = members.required("operator")?;
    // The name appears on consent pages: no invisible characters, no line breaks.
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err(wrong("operator", "must be a name that can be shown"));
    }
    if name.chars().count() > MAX_OPERATOR {
        return Err(wrong("operator", "has more than 120 characters"));
    }
    Ok(name.to_owned())
}

fn domain(members: &IdentityMembers<'_>) -> Result<Domain, NotAnIdentity> {
    Domain::parse(members.required("domain")?).map_err(|_| wrong("domain", "must be a lower-case ASCII hostname"))
}

fn contact(members: &IdentityMembers<'_>) -> Result<String, NotAnIdentity> {
    let address = members.required("contact")?;
    if is_email(address) { Ok(address.to_owned()) } else { Err(wrong("contact", "must be an e-mail address")) }
}

fn since(members: &IdentityMembers<'_>) -> Result<Option<String>, NotAnIdentity> {
    let Some(date) = members.text("since")? else { return Ok(None) };
    if crate::time::is_date(date) { Ok(Some(date.to_owned())) } else { Err(wrong("since", "must be a date")) }
}

/// A text that cannot be shown is replaced by the service's own; the operator's identity stays valid (C-59).
fn readable(text: &str) -> Result<String, &'static str> {
    match text.split_whitespace().count() {
        0 => Err("it is empty"),
        1..=MAX_DISCLOSURE_WORDS => Ok(text.to_owned()),
        _ => Err("it has more than 150 words"),
    }
}

/// A mailbox in its plain form: no quoting, no comment, no address literal.
fn is_email(text: &str) -> bool {
    let Some((local, host)) = text.rsplit_once('@') else { return false };
    let atom = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&b);
    local.len() <= 64
        && local.split('.').all(|part| !part.is_empty() && part.bytes().all(atom))
        && Domain::parse(&host.to_ascii_lowercase()).is_ok()
}

fn wrong(member: &'static str, why: &'static str) -> NotAnIdentity {
    NotAnIdentity { member, why }
}
