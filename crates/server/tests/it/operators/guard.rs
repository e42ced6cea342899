//! Fetching from a domain that an attacker may choose (AAP 4.1-08, C-68, R-27).

use crate::register::support::{Ready, SQLITE, told, with};
use countersign_outbound::fetch::TIME_LIMIT;
use countersign_server::{LogTo, logs_to};
use countersign_testkit::{Answer, Names, Setup};
use serde_json::json;
use std::{
    pin::pin,
    sync::{Arc, Mutex},
};

/// The response to a registration in the name of a domain.
async fn named(ready: &Ready, domain: &str) -> Answer {
    ready.register(&ready.body_by(&with(ready.operator_claims(), "iss", json!(domain)))).await
}

/// AAP-4.1-08
#[tokio::test]
async fn names_of_internal_addresses_are_not_connected_to_and_the_address_is_not_revealed() {
    let inside = [
        ("loopback", "127.0.0.1"),
        ("loopback-six", "::1"),
        ("mapped", "::ffff:127.0.0.1"),
        ("private-ten", "10.0.0.1"),
        ("private-172", "172.16.0.1"),
        ("private-192", "192.168.1.1"),
        ("shared", "100.64.0.1"),
        ("link-local", "169.254.1.1"),
        ("metadata", "169.254.169.254"),
        ("other-metadata", "168.63.129.16"),
        ("unique-local", "fd00::1"),
        ("link-local-six", "fe80::1"),
        ("nat64", "64:ff9b::7f00:1"),
        ("unspecified", "0.0.0.0"),
        ("multicast", "224.0.0.1"),
    ];
    let add = |names: Names, (name, address): &(&str, &str)| names.with(&format!("{name}.test"), &[address]);
    let names = inside.iter().fold(Names::default(), add);
    let ready = Ready::with(SQLITE, Setup { names, ..Setup::default() }).await;
    let lines = Arc::new(Mutex::new(Vec::new()));
    let _listening = tracing::subscriber::set_default(logs_to(LogTo::Buffer(Arc::clone(&lines)), true, "info"));
    for (name, address) in inside {
        let host = format!("{name}.test");
        let answer = named(&ready, &host).await;
        assert_eq!(answer.refusal(), told(401, "operator_not_found"), "{name}");
        assert!(!answer.text().contains(address), "{}", answer.text());
        // The caller cannot tell a guarded address from a silent one; the log says that it was not dialled.
        let log = String::from_utf8(std::mem::take(&mut *lines.lock().unwrap())).unwrap();
        assert!(log.contains("not public") && log.contains(&host), "{name}: {log}");
    }
    assert_eq!(named(&ready, "no-such-name.test").await.refusal(), told(401, "operator_not_found"));
}

/// AAP-4.1-08
#[tokio::test]
async fn a_host_that_takes_longer_than_five_seconds_is_given_up() {
    let ready = Ready::on(SQLITE).await;
    ready.plane.advance_secs(3601).await;
    let (host, body) = (&ready.plane.acme().host, ready.body());
    let so_far = host.received().len();
    host.stall();
    let mut refusal = pin!(ready.refusal(&body));
    tokio::select! {
        () = host.wait_for_requests(so_far + 1) => {}
        _ = &mut refusal => panic!("refused without waiting"),
    }
    // The clock leaps over the client's limit once; the refusal itself may take its time.
    tokio::time::pause();
    tokio::time::advance(TIME_LIMIT).await;
    tokio::time::resume();
    assert_eq!(refusal.await, told(401, "operator_not_found"));
}

///
#[tokio::test]
async fn one_address_can_name_only_so_many_operators_that_nobody_knows() {
    let ready = Ready::on(SQLITE).await;
    let mut refusals = Vec::new();
    for n in 0..40 {
        refusals.push(named(&ready, &format!("host-{n}.test")).await);
    }
    let last = refusals.pop().unwrap();
    assert_eq!(last.refusal(), told(429, "too_many_requests"));
    assert!(last.header("retry-after").unwrap().parse::<u32>().unwrap() > 0);
    assert_eq!(refusals[0].refusal(), told(401, "operator_not_found"));
    // Known operators do not count.
    ready.register(&ready.body()).await.expect(200);
    ready.plane.advance_secs(60).await;
    assert_eq!(named(&ready, "host-99.test").await.refusal(), told(401, "operator_not_found"));
}
