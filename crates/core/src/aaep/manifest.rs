//! The producer's manifest, read before subscribing (AAEP 5.10).

use super::negotiate::Offer;
use countersign_protocol::aaep::{
    envelope::{Producer, Verbosity},
    extension,
    manifest::{Binding, Countersign, Manifest, TYPE},
};

/// Producer and addresses, beyond the offer.
#[derive(Clone, Debug)]
pub struct ManifestContext<'a> {
    pub producer: &'a Producer,
    /// Scheme and authority of the service, such as `https://plane.example`.
    pub origin: &'a str,
    pub path_prefix: &'a str,
    pub max_concurrent_subscriptions: Option<u64>,
    pub contact: Option<&'a str>,
}

/// Built from the same offer as `negotiate`, so that both promise the same.
pub fn manifest(about: &ManifestContext<'_>, offer: &Offer) -> Manifest {
    Manifest {
        context: extension::context(),
        kind: TYPE.to_owned(),
        agent_id: about.producer.agent_id.clone(),
        agent_version: about.producer.agent_version.clone(),
        agent_name: about.producer.agent_name.clone(),
        aaep_versions_supported: offer.versions.clone(),
        conformance_levels_supported: offer.levels.clone(),
        transports_supported: vec!["sse".into(), "websocket".into()],
        languages_supported: offer.languages.clone(),
        event_types_emitted: vec!["aaep:agent.*".into()],
        extensions_supported: offer.extensions.iter().map(|extension| extension.uri.clone()).collect(),
        default_verbosity: Some(Verbosity::default()),
        max_concurrent_subscriptions: about.max_concurrent_subscriptions,
        contact: about.contact.map(str::to_owned),
        countersign: Some(Countersign { path_prefix: about.path_prefix.to_owned(), bindings: bindings(about) }),
    }
}

/// The protocol requires these to be discoverable but has no member for them (C26).
fn bindings(about: &ManifestContext<'_>) -> Vec<Binding> {
    let at = |origin: &str, path: &str| Some(format!("{origin}{}{path}", about.path_prefix));
    // `https` becomes `wss`, and `http` becomes `ws`.
    let sockets = about.origin.strip_prefix("http").map(|rest| format!("ws{rest}")).unwrap_or_default();
    vec![
        Binding { transport: "sse".into(), uri: at(about.origin, "/events"), framing: None },
        Binding { transport: "websocket".into(), uri: at(&sockets, "/ws"), framing: None },
    ]
}

#[cfg(test)]
mod tests;
