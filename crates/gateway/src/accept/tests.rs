use super::{AddressPlace, Addresses, ConnectionLimits, accept_with_backoff};
use crate::network::Network;
use std::{io, net::IpAddr, sync::Arc, time::Duration};

fn addresses(per_address: usize) -> Arc<Addresses> {
    let trusted_proxies = vec![Network::parse("10.0.0.0/8").expect("a network")];
    let limits = ConnectionLimits { total: 100, per_address, trusted_proxies };
    Arc::new(Addresses { limits, held: Default::default() })
}

fn enter(addresses: &Arc<Addresses>, peer: &str) -> Option<AddressPlace> {
    addresses.enter(peer.parse::<IpAddr>().expect("an address"))
}

///
#[tokio::test(start_paused = true)]
async fn without_descriptors_accepting_is_tried_with_pauses_and_not_in_a_loop() {
    let mut tries = 0;
    let failing = accept_with_backoff(|| {
        tries += 1;
        // EMFILE
        async { Err::<(), _>(io::Error::from_raw_os_error(24)) }
    });
    let ended = tokio::time::timeout(Duration::from_secs(10), failing).await;
    assert!(ended.is_err() && (10..=20).contains(&tries), "{tries} tries in ten seconds");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_ended_before_it_was_accepted_costs_the_next_one_no_time() {
    let mut tries = 0;
    let accepting = accept_with_backoff(|| {
        tries += 1;
        let accepted = if tries < 100 { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) };
        async { accepted }
    });
    tokio::time::timeout(Duration::from_millis(1), accepting).await.expect("no pause");
}

///
#[test]
fn an_address_has_its_share_an_ipv6_network_is_one_address_and_trusted_proxies_have_no_bound() {
    let addresses = addresses(2);
    let _v4 = [enter(&addresses, "192.0.2.1").expect("one"), enter(&addresses, "::ffff:192.0.2.1").expect("two")];
    assert!(enter(&addresses, "192.0.2.1").is_none());
    let _v6 = [enter(&addresses, "2001:db8::1").expect("one"), enter(&addresses, "2001:db8::2:2").expect("two")];
    assert!(enter(&addresses, "2001:db8::3").is_none());
    assert!(enter(&addresses, "2001:db8:0:1::3").is_some());
    let proxied: Vec<_> = (0..10).filter_map(|_| enter(&addresses, "10.1.2.3")).collect();
    assert_eq!(proxied.len(), 10);
}

#[test]
fn a_place_is_given_back_with_its_connection_and_nothing_is_kept_of_addresses_that_left() {
    let addresses = addresses(1);
    let place = enter(&addresses, "192.0.2.1");
    assert!(place.is_some() && enter(&addresses, "192.0.2.1").is_none());
    drop(place);
    assert!(enter(&addresses, "192.0.2.1").is_some());
    assert!(addresses.held.lock().expect("sound").is_empty());
}
