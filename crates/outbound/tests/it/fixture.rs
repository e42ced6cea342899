//! Test fixture: one operator, one directory that resolves it, and a numeric clock.

use crate::operator_host::{OperatorHost, TestCa};
use countersign_jose::SigningKey;
use countersign_outbound::{
    Fetcher, FetcherConfig, RecentFetches, Resolver,
    operators::{Directory, DirectoryConfig, FetchedOperator, OperatorUnavailable},
};
use countersign_protocol::{domain::Domain, time::UnixMillis};
use serde_json::{Value, json};
use std::{io, net::IpAddr, sync::Arc};

pub(crate) const DOMAIN: &str = "acme.test";
pub(crate) const SOURCE: &str = "198.51.100.7";

pub(crate) struct DirectoryFixture {
    pub(crate) host: OperatorHost,
    pub(crate) asked: Arc<RecentFetches>,
    pub(crate) directory: Directory,
}

impl DirectoryFixture {
    /// An operator that publishes the key `k1`.
    pub(crate) async fn start() -> Self {
        Self::start_with(DirectoryConfig::default()).await
    }

    pub(crate) async fn start_with(config: DirectoryConfig) -> Self {
        let ca = TestCa::new();
        let host = OperatorHost::start(&ca, DOMAIN).await;
        host.publish(&jwks(&["k1"]));
        let asked = Arc::new(RecentFetches::with_room_for(100));
        let fetcher = fetcher(&ca, &host).with_log(asked.clone());
        Self { host, asked, directory: Directory::new(fetcher, config) }
    }

    pub(crate) async fn lookup(&self, kid: &str, secs: i64) -> Result<Arc<FetchedOperator>, OperatorUnavailable> {
        self.directory.operator(&domain(DOMAIN), kid, at(secs), SOURCE).await
    }

    pub(crate) fn fetches(&self) -> usize {
        self.asked.urls().len()
    }
}

/// Resolves the operator's domain, a subdomain and a foreign domain to the operator's address.
pub(crate) fn fetcher(ca: &TestCa, host: &OperatorHost) -> Fetcher {
    let names = [DOMAIN, "keys.acme.test", "stranger.test"];
    Fetcher::new(FetcherConfig {
        static_hosts: names.iter().map(|name| ((*name).to_owned(), host.addr())).collect(),
        extra_roots_pem: ca.pem().into(),
        native_roots: false,
        ..FetcherConfig::default()
    })
    .unwrap()
    .with_resolver(Arc::new(NoDns))
}

/// Tests make no DNS queries.
struct NoDns;

#[async_trait::async_trait]
impl Resolver for NoDns {
    async fn resolve(&self, _host: &str) -> io::Result<Vec<IpAddr>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

pub(crate) fn jwks(kids: &[&str]) -> Value {
    let keys: Vec<_> = kids.iter().map(|kid| SigningKey::generate(Some(kid)).unwrap().public_jwk().clone()).collect();
    json!({ "keys": keys })
}

pub(crate) fn domain(text: &str) -> Domain {
    Domain::parse(text).unwrap()
}

pub(crate) fn at(secs: i64) -> UnixMillis {
    UnixMillis::from_secs(1_750_000_000 + secs)
}
