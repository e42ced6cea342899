//! The node's configuration of the gateway's listener and of the upstreams.

use super::upstream::Destination;
use crate::network::Network;
use countersign_protocol::origin::Origin;
use http::{HeaderName, HeaderValue};
use std::{collections::BTreeMap, time::Duration};

#[derive(Clone, Debug)]
pub struct GatewaySettings {
    /// The origin at which agents reach the gateway; proofs and digests are bound to it.
    pub public_origin: Origin,
    /// Whether projects have hosts of their own, `{project}.{host of the public origin}`.
    pub subdomains: bool,
    pub max_header_bytes: usize,
    /// From the first byte of a request's head to its last.
    pub header_timeout: Duration,
    /// Between two pieces of a body, in either direction.
    pub body_timeout: Duration,
    /// How long a connection without a request stays open.
    pub idle_timeout: Duration,
    /// How much of a write's body is read before its intent is made durable; a longer body is streamed.
    pub buffer_limit: usize,
    /// Credentials for upstreams, by the names that projects use for them.
    pub credentials: BTreeMap<String, UpstreamCredential>,
    /// The only permitted upstreams, regardless of a project's document; all of them if there is no list.
    pub allowed_upstreams: Option<Vec<Destination>>,
    /// Root certificates beside the machine's, as PEM.
    pub extra_roots: Vec<u8>,
    pub max_connections: usize,
    /// Of one address; for IPv6 of one /64.
    pub max_connections_per_address: usize,
    /// Proxies may hold any number of connections.
    pub trusted_proxies: Vec<Network>,
    /// From the connection to its first byte.
    pub first_byte_timeout: Duration,
    /// How long open requests may take to finish after the shutdown began.
    pub drain: Duration,
}

/// The credential by which an upstream recognises the gateway.
#[derive(Clone)]
pub struct UpstreamCredential {
    pub header: HeaderName,
    pub value: HeaderValue,
    /// The projects that may use it; none for all of them.
    projects: Option<Vec<String>>,
}

impl UpstreamCredential {
    /// Marks the value as sensitive, so that it is not printed with other headers.
    pub fn new(header: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        Self { header, value, projects: None }
    }

    /// A project's document names credentials, and its admin must not reach another project's upstream with that project's secret.
    pub fn only_for(self, projects: Vec<String>) -> Self {
        Self { projects: Some(projects), ..self }
    }

    pub(crate) fn is_for(&self, project: &str) -> bool {
        self.projects.as_ref().is_none_or(|listed| listed.iter().any(|id| id == project))
    }
}

impl std::fmt::Debug for UpstreamCredential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpstreamCredential").field("header", &self.header).finish_non_exhaustive()
    }
}

impl GatewaySettings {
    pub fn new(public_origin: Origin) -> Self {
        Self {
            public_origin,
            subdomains: false,
            max_header_bytes: 32 * 1024,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(60),
            buffer_limit: 64 * 1024,
            credentials: BTreeMap::new(),
            allowed_upstreams: None,
            extra_roots: Vec::new(),
            max_connections: 4096,
            max_connections_per_address: 256,
            trusted_proxies: Vec::new(),
            first_byte_timeout: Duration::from_secs(10),
            drain: Duration::from_secs(10),
        }
    }
}
