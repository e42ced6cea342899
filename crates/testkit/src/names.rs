//! The resolver of tests. The machine's own is never used.

use async_trait::async_trait;
use countersign_outbound::Resolver;
use std::{collections::HashMap, io, net::IpAddr};

/// Names and their addresses.
#[derive(Clone, Debug, Default)]
pub struct Names(HashMap<String, Vec<IpAddr>>);

impl Names {
    /// Adds a name.
    pub fn with(mut self, host: &str, addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|address| address.parse().expect("an IP address")).collect();
        self.0.insert(host.to_owned(), addresses);
        self
    }
}

#[async_trait]
impl Resolver for Names {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.0.get(host).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
