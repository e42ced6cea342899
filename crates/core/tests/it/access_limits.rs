//! Receipt limits as counters: checked, incremented and returned per call (AAP 14.2).

use crate::worlds::{NOW, delegation, document, project};
use countersign_core::{
    aap::access::{
        AccessView, AuthorizedCall, Bearer, Call, CallCredential, CallVerdict, CountedLimits, Limit, Proving, Scheme,
        WriteResult, decide,
    },
    env::Env,
    records::{AccessToken, Receipt, Session, SessionState},
    refusal::Refusal,
};
use countersign_protocol::{aap::consent_receipt::UsageLimits, domain::Domain, hash::Digest, time::UnixMillis};
use serde_json::json;
use std::sync::Arc;

const ALL: UsageLimits =
    UsageLimits { requests_per_hour: Some(60), writes_per_session: Some(10), max_data_egress_kb: Some(2) };

/// R-28, C-42
#[test]
fn a_look_takes_nothing_and_fails_exactly_when_the_next_call_would() {
    let room = call("POST", ALL, b"one").facts().limit_checks();
    let looks: Vec<(i64, i64)> = room.to_vec().iter().map(|count| (count.by, count.limit)).collect();
    assert_eq!(looks, [(0, 59), (0, 9), (0, 2047)]);
    assert_eq!(named(&room), [Limit::RequestsPerHour, Limit::WritesPerSession, Limit::DataEgress]);
    assert_eq!(named(&call("GET", ALL, b"one").facts().limit_checks()), [Limit::RequestsPerHour, Limit::DataEgress]);
    assert!(
        call("POST", UsageLimits::default(), b"one").facts().limit_checks().to_vec().is_empty(),
        "no limit, nothing to look at"
    );
}

/// C-42, C-80
#[test]
fn a_write_takes_a_request_and_a_write_before_it_runs_and_a_read_a_request_and_its_bytes_when_it_has() {
    let begun = call("POST", ALL, b"one").intent(None, None, &env()).unwrap().counted;
    assert_eq!(taken(&begun), [(1, 60), (1, 10), (0, 2047)]);
    let (_, read) = call("GET", ALL, b"one").record_read("200 OK", 700, &[], &env()).unwrap();
    assert_eq!(taken(&read), [(1, 60), (0, 2047), (700, 2048)]);
}

/// C-80, R-6
#[test]
fn a_write_comes_back_only_if_it_was_refused_and_its_bytes_are_never_too_many() {
    let outcome = |refused| {
        call("POST", ALL, b"one")
            .record_write(("…", WriteResult::Ran), refused, None, 5000, &[], &env())
            .unwrap()
            .counts
    };
    let by: Vec<i64> = outcome(true).iter().map(|count| count.by).collect();
    assert_eq!(by, [-1, 5000]);
    assert_eq!(outcome(false).len(), 1);
    assert_eq!((outcome(false)[0].by, outcome(false)[0].limit), (5000, i64::MAX));
}

/// C-42
#[test]
fn requests_are_counted_by_delegation_and_the_rest_by_session_and_receipt() {
    let keys = |said: &[u8]| -> Vec<String> {
        call("POST", ALL, said).facts().limit_checks().to_vec().into_iter().map(|count| count.key).collect()
    };
    let (one, other) = (keys(b"one"), keys(b"another"));
    assert_eq!(one[0], other[0]);
    assert!(one[1] != other[1] && one[2] != other[2], "a new receipt begins anew");
    assert!(one.iter().all(|key| key.starts_with("1/")), "each begins with the project (R-12): {one:?}");
}

/// C-42
#[test]
fn the_hour_frees_itself_and_the_refusal_says_when() {
    let authorized = call("GET", ALL, b"one");
    let Refusal::UsageLimitReached { limit, retry_after_s } =
        authorized.facts().usage().refusal(Limit::RequestsPerHour, NOW)
    else {
        panic!("another refusal")
    };
    assert_eq!((limit, retry_after_s), (Limit::RequestsPerHour, 3600 - NOW.secs().rem_euclid(3600)));
    let later = UnixMillis(NOW.0 + 3_600_000);
    let key = |now: UnixMillis| call_at("GET", ALL, b"one", now).facts().limit_checks().to_vec()[0].key.clone();
    assert_ne!(key(NOW), key(later));
}

fn env() -> Env {
    Env { now: NOW, entropy: [9; 32], first_key: 100 }
}

fn named(counted: &CountedLimits) -> Vec<Limit> {
    counted.iter().filter_map(|count| Limit::from_name(count.name)).collect()
}

fn taken(counted: &CountedLimits) -> Vec<(i64, i64)> {
    counted.to_vec().iter().map(|count| (count.by, count.limit)).collect()
}

fn call(method: &str, limits: UsageLimits, said: &[u8]) -> AuthorizedCall {
    call_at(method, limits, said, NOW)
}

/// An authorized call under a receipt with these limits.
fn call_at(method: &str, limits: UsageLimits, said: &[u8], now: UnixMillis) -> AuthorizedCall {
    let mut document = document();
    document.scopes = serde_json::from_value(json!([
        { "id": "one.a", "description": "words", "allows": ["thing.do"], "intent_types": ["DO"] },
    ]))
    .unwrap();
    document.routes = serde_json::from_value(json!([
        { "id": "get", "method": "GET", "path": "/thing", "action": "thing.do" },
        { "id": "post", "method": "POST", "path": "/thing", "action": "thing.do" },
    ]))
    .unwrap();
    let call = Call {
        method: method.into(),
        path: "/thing".into(),
        credential: CallCredential::Token { hash: Digest::of(b"the token"), scheme: Scheme::Bearer },
        version: Some("2.0".into()),
        mode: Some("user_delegated".into()),
        delegation_id: Some("del_mine".into()),
        session_id: Some("sess_mine".into()),
        intent_type: Some("DO".into()),
        ..Call::default()
    };
    let view = AccessView { project: Arc::new(project(document)), bearer: Some(bearer(limits, said, now)) };
    let verify = |_: &str| Err("nobody looks".to_owned());
    match decide(&call, &view, &Proving { verify: &verify, nonce_demanded: false }, now) {
        Ok(CallVerdict::Authorized(authorized)) => authorized,
        other => panic!("{other:?}"),
    }
}

fn bearer(limits: UsageLimits, said: &[u8], now: UnixMillis) -> Bearer {
    let mut delegation = delegation(now.plus_secs(9000), now.plus_secs(9000));
    delegation.scopes = vec!["one.a".into()];
    let receipt = Receipt {
        sha256: Digest::of(said),
        said: Digest::of(said),
        scopes: delegation.scopes.clone(),
        issued_at: now,
        expires_at: now.plus_secs(9000),
        window: None,
        limits,
        heartbeat_s: None,
    };
    let session = Session {
        key: 20,
        version: 7,
        project: 1,
        operator: Domain::parse("acme.test").unwrap(),
        session_id: "sess_mine".into(),
        modes_fixed: false,
        former: Vec::new(),
        user_delegated: true,
        service_account: None,
        delegation: Some(delegation.key),
        subject: Some(delegation.subject.clone()),
        receipt: Some(receipt),
        expansions: Vec::new(),
        earlier_receipts: Vec::new(),
        operator_kid: "key-1".into(),
        key_seen_at: now,
        standing: None,
        opened_at: now,
        state: SessionState::Open,
        jkt: None,
        tokens: vec![30],
    };
    let hash = Digest::of(b"the token");
    let token = AccessToken {
        key: 30,
        version: 1,
        project: 1,
        hash,
        session: 20,
        mode: Default::default(),
        expires_at: now.plus_secs(900),
        jkt: None,
    };
    Bearer { token, session, delegation: Some(delegation) }
}
