//! Who an operator says it is.

use countersign_protocol::{
    aap::identity::{IdentityManifest, NotAnIdentity},
    domain::Domain,
};
use serde_json::{Map, Value, json};

/// Where an operator publishes its keys, below `https://{domain}` (AAP 4.1).
pub const JWKS_PATH: &str = "/.well-known/agent-jwks.json";

/// What an operator decides about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorIdentity {
    pub display_name: String,
    pub domain: Domain,
    /// An e-mail address.
    pub contact: String,
    /// Where a person may be sent back to after connecting: https, on the domain or below it.
    pub callbacks: Vec<String>,
    /// Its own words on who answers for harm, at most 150 words (AAP 14.4).
    pub liability_disclosure: Option<String>,
    /// Where services report what they revoked.
    pub webhook_url: Option<String>,
}

impl OperatorIdentity {
    pub fn new(display_name: impl Into<String>, domain: Domain, contact: impl Into<String>) -> Self {
        Self {
            display_name: display_name.into(),
            domain,
            contact: contact.into(),
            callbacks: Vec::new(),
            liability_disclosure: None,
            webhook_url: None,
        }
    }

    /// The identity manifest, read back as a service reads it: what is published is what is accepted.
    pub fn manifest(&self) -> Result<IdentityManifest, NotAnIdentity> {
        let mut extension = Map::from_iter([("callbacks".to_owned(), json!(self.callbacks))]);
        set(&mut extension, "liability_disclosure", self.liability_disclosure.as_deref());
        let mut document = Map::from_iter([
            ("operator".to_owned(), json!(self.display_name)),
            ("domain".to_owned(), json!(self.domain.as_str())),
            ("contact".to_owned(), json!(self.contact)),
            ("signing_keys".to_owned(), json!(format!("https://{}{JWKS_PATH}", self.domain))),
            ("countersign".to_owned(), Value::Object(extension)),
        ]);
        set(&mut document, "webhook_url", self.webhook_url.as_deref());
        let manifest = IdentityManifest::parse(Value::Object(document).to_string().as_bytes())?;
        // Services show a default in place of words that cannot be shown; an operator is told before it publishes them.
        match manifest.countersign.disclosure_refused {
            Some(why) => Err(NotAnIdentity { member: "liability_disclosure", why }),
            None => Ok(manifest),
        }
    }
}

fn set(members: &mut Map<String, Value>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        members.insert(name.to_owned(), json!(value));
    }
}
