//! A complete request and its action.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use countersign_protocol::{action::HttpAction, hash::Digest, ids::ProjectId, project::Route};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A complete request: the digest covers it, a person reads it, and the upstream receives it.
///
/// An absent content type or encoding is empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpRequest {
    pub method: String,
    /// The gateway's public origin, from its configuration and never from the request.
    pub origin: String,
    /// Raw path and query.
    pub target: String,
    pub content_type: String,
    pub content_encoding: String,
    /// The headers listed by the route, names in lower case: no other reaches the upstream.
    pub headers: BTreeMap<String, String>,
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    pub body: Vec<u8>,
}

impl HttpRequest {
    pub fn path(&self) -> &str {
        self.target.split_once('?').map_or(self.target.as_str(), |(path, _)| path)
    }

    /// The part after the first `?`, possibly empty.
    pub fn query(&self) -> Option<&str> {
        self.target.split_once('?').map(|(_, query)| query)
    }

    /// The content covered by the digest of this request.
    pub fn action(&self, project: &ProjectId, principal: &str, route: &Route) -> HttpAction {
        HttpAction {
            project: project.to_string(),
            principal: principal.to_owned(),
            route: route.id.clone(),
            method: self.method.clone(),
            origin: self.origin.clone(),
            target: self.target.clone(),
            content_type: self.content_type.clone(),
            content_encoding: self.content_encoding.clone(),
            body_sha256: self.body_sha256(),
            headers: self.headers.clone(),
        }
    }

    pub fn body_sha256(&self) -> String {
        Digest::of(&self.body).hex()
    }
}

fn to_base64<S: serde::Serializer>(body: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&STANDARD.encode(body))
}

fn from_base64<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
    STANDARD.decode(text.as_bytes()).map_err(serde::de::Error::custom)
}
