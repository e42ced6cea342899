#![allow(clippy::unwrap_used, reason = "tests say what went wrong by failing")]

use super::*;
use async_trait::async_trait;
use std::{
    io,
    net::IpAddr,
    sync::{Mutex, atomic::AtomicUsize, atomic::Ordering},
};

/// Resolves to one list of addresses first, and to another ever after.
struct TwoFaced {
    first: Vec<IpAddr>,
    after: Vec<IpAddr>,
    asked: AtomicUsize,
}

#[async_trait]
impl Resolver for TwoFaced {
    async fn resolve(&self, _host: &str) -> io::Result<Vec<IpAddr>> {
        let first = self.asked.fetch_add(1, Ordering::Relaxed) == 0;
        Ok(if first { self.first.clone() } else { self.after.clone() })
    }
}

/// Records the addresses to dial, and never connects.
#[derive(Default)]
struct Notes(Mutex<Vec<SocketAddr>>);

#[async_trait]
impl Dial for Notes {
    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        self.0.lock().unwrap().push(address);
        Err(io::ErrorKind::ConnectionRefused.into())
    }
}

/// Fetches from a host with these addresses; returns the error, the dialled addresses and the number of resolutions.
async fn fetch(first: &[&str], after: &[&str]) -> (FetchError, Vec<String>, usize) {
    let ips = |list: &[&str]| list.iter().map(|ip| ip.parse().unwrap()).collect();
    let resolver = Arc::new(TwoFaced { first: ips(first), after: ips(after), asked: AtomicUsize::new(0) });
    let notes = Arc::new(Notes::default());
    let config = FetcherConfig { native_roots: false, ..FetcherConfig::default() };
    let fetcher = Fetcher::new(config).unwrap().with_resolver(Arc::clone(&resolver) as Arc<dyn Resolver>);
    let fetcher = Fetcher { dialer: Arc::clone(&notes) as Arc<dyn Dial>, ..fetcher };
    let error = fetcher.get_json("https://acme.com/x").await.unwrap_err();
    let dialled = notes.0.lock().unwrap().iter().map(SocketAddr::to_string).collect();
    (error, dialled, resolver.asked.load(Ordering::Relaxed))
}

/// AAP-4.1-08
#[tokio::test]
async fn a_name_that_leads_inside_is_never_dialled() {
    let inside = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"];
    for address in inside {
        assert_eq!(fetch(&[address], &[]).await, (FetchError::ForbiddenAddress, vec![], 1), "{address}");
    }
}

/// AAP-4.1-08
#[tokio::test]
async fn a_name_that_changes_its_answer_after_the_check_gains_nothing() {
    let (error, dialled, resolved) = fetch(&["93.184.215.14"], &["127.0.0.1"]).await;
    assert_eq!(error, FetchError::Connect);
    assert_eq!(dialled, ["93.184.215.14:443"]);
    assert_eq!(resolved, 1);
}

/// AAP-4.1-08
#[tokio::test]
async fn of_a_mixed_answer_only_the_public_addresses_are_dialled() {
    let (_, dialled, _) = fetch(&["192.168.0.1", "2606:4700::1111", "127.0.0.1", "1.1.1.1"], &[]).await;
    assert_eq!(dialled, ["[2606:4700::1111]:443", "1.1.1.1:443"]);
}

#[tokio::test]
async fn a_host_with_very_many_addresses_costs_three_attempts() {
    let (_, dialled, _) = fetch(&["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4", "1.1.1.5"], &[]).await;
    assert_eq!(dialled.len(), 3);
}

#[tokio::test]
async fn a_name_without_an_address_is_no_host() {
    assert_eq!(fetch(&[], &["1.1.1.1"]).await, (FetchError::NoAddress, vec![], 1));
}
