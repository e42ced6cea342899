//! Resolves names to addresses. [`crate::guard`] checks the result, which is never resolved twice.

use async_trait::async_trait;
use std::{io, net::IpAddr};

/// Resolves the addresses of a host. Called once per fetch.
#[async_trait]
pub trait Resolver: Send + Sync {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The machine's own resolver.
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
