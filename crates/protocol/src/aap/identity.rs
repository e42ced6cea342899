//! The identity manifest of an operator (AAP 4, 19.2), read from a stranger and written for one's own domain.
//!
//! What the schema only annotates as a format is demanded here (C-85), members nobody knows are ignored
//! (C-07), and every address that a service would later call must lie inside the operator's own domain (C-67).

mod members;
#[cfg(test)]
mod tests;
mod uri;

pub use uri::{HttpsUri, NotAnHttpsUri};

use crate::{domain::Domain, json};
use members::Members;
use serde::Serialize;

/// Where every operator publishes its manifest, below `https://{domain}`.
pub const PATH: &str = "/.well-known/agent-identity.json";
/// The most characters an operator's name may have (AAP 19.2).
pub const MAX_OPERATOR: usize = 120;
/// The most words a liability disclosure may have: it is to be read, not scrolled past (AAP 14.4).
pub const MAX_DISCLOSURE_WORDS: usize = 150;

const DOCUMENT: &str = "the document";

/// Who an operator says it is, and where its keys are.
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

/// What this implementation reads beyond the protocol, under the member `countersign`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Extension {
    /// Where a person may be sent back to after connecting an agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub callbacks: Vec<HttpsUri>,
    /// The operator's own words on who answers for harm (AAP 14.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub liability_disclosure: Option<String>,
    /// Why the operator's own words are not shown, where it has some that cannot be (C-59).
    #[serde(skip)]
    pub disclosure_refused: Option<&'static str>,
}

/// Names the member an operator has to correct.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an identity manifest: {member} {why}")]
pub struct NotAnIdentity {
    pub member: &'static str,
    pub why: &'static str,
}

impl IdentityManifest {
    pub fn parse(bytes: &[u8]) -> Result<Self, NotAnIdentity> {
        let document = document(bytes)?;
        let members = Members::of(&document, DOCUMENT)?;
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

/// The domain a manifest speaks for, whatever else is wrong with it.
pub fn claimed_domain(bytes: &[u8]) -> Result<Domain, NotAnIdentity> {
    domain(&Members::of(&document(bytes)?, DOCUMENT)?)
}

fn document(bytes: &[u8]) -> Result<serde_json::Value, NotAnIdentity> {
    json::value(bytes).map_err(|_| wrong(DOCUMENT, "is not JSON without repeated members"))
}

impl Extension {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn parse(manifest: &Members<'_>, domain: &Domain) -> Result<Self, NotAnIdentity> {
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
        Ok(Self { callbacks, liability_disclosure, disclosure_refused })
    }
}

fn operator(members: &Members<'_>) -> Result<String, NotAnIdentity> {
    let name = members.required("operator")?;
    // The name stands on consent pages: nothing that hides, and nothing that breaks the line.
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err(wrong("operator", "must be a name that can be shown"));
    }
    if name.chars().count() > MAX_OPERATOR {
        return Err(wrong("operator", "has more than 120 characters"));
    }
    Ok(name.to_owned())
}

fn domain(members: &Members<'_>) -> Result<Domain, NotAnIdentity> {
    Domain::parse(members.required("domain")?).map_err(|_| wrong("domain", "must be a lower-case ASCII hostname"))
}

fn contact(members: &Members<'_>) -> Result<String, NotAnIdentity> {
    let address = members.required("contact")?;
    if is_email(address) { Ok(address.to_owned()) } else { Err(wrong("contact", "must be an e-mail address")) }
}

fn since(members: &Members<'_>) -> Result<Option<String>, NotAnIdentity> {
    let Some(date) = members.text("since")? else { return Ok(None) };
    if crate::time::is_date(date) { Ok(Some(date.to_owned())) } else { Err(wrong("since", "must be a date")) }
}

/// Words that cannot be shown make the service's own be shown; the operator stays who it is (C-59).
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
