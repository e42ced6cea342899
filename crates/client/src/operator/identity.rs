//! An operator's identity.

use countersign_protocol::{
    aap::identity::{IdentityManifest, NotAnIdentity},
    domain::Domain,
};
use serde_json::{Map, Value, json};

/// The path of an operator's keys, below `https://{domain}` (AAP 4.1).
pub const JWKS_PATH: &str = "/.well-known/agent-jwks.json";

/// An operator's own settings for its identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorIdentity {
    pub display_name: String,
    pub domain: Domain,
    /// An e-mail address.
    pub contact: String,
    /// The return addresses after connecting: https, on the domain or below it.
    pub callbacks: Vec<String>,
    /// Its own text about liability, at most 150 words (AAP 14.4).
    pub liability_disclosure: Option<String>,
    /// The address for services' reports of revocations.
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

    /// The identity manifest, parsed as a service parses it, so that an accepted one is published.
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
        // Services replace a text that cannot be shown with a default; an operator gets an error before publishing it.
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
