//! From a name to addresses. What comes back is judged by [`crate::guard`] and never asked for twice.

use async_trait::async_trait;
use std::{io, net::IpAddr};

/// Answers which addresses a host has. Called once a fetch.
#[async_trait]
pub trait Resolver: Send + Sync {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The name service of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDns;

#[async_trait]
impl Resolver for SystemDns {
    #[expect(clippy::disallowed_methods, reason = "the one place that resolves; the guard judges what comes back")]
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        // The dot keeps search domains out: `acme.com` must never mean `acme.com.cluster.local`.
        let found = tokio::net::lookup_host((format!("{host}."), 443)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}
