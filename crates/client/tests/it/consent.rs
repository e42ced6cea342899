//! `ConsentDesk`: obtaining a person's consent.

use crate::fixture::{ClientFixture, OPERATOR, SERVICE, WORDS, at, delegation, delegation_token, parsed, task};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_client::{
    Delegation,
    operator::{ConsentDesk, IntentStore, KeptIntent, NotIssued, NotKept, NotProposable, Proposal, Task},
};
use countersign_jose::{Expected, KeyPolicy, KeySet, verify_receipt};
use countersign_protocol::aap::consent_receipt::{Intent, UsageLimits};
use serde_json::{Value, json};
use std::{collections::HashSet, sync::Arc};

#[test]
fn a_receipt_has_exactly_the_disclosure() {
    let fixture = ClientFixture::new();
    let proposal = propose(&fixture, task()).unwrap();
    let shown = proposal.to_string();
    for part in [OPERATOR, SERVICE, WORDS, "calendar.write", "Change events", &at(7200).to_rfc3339()] {
        assert!(shown.contains(part), "{shown}");
    }
    assert!(!shown.contains("calendar.read"));
    let receipt = proposal.approve(at(5)).unwrap();
    let keys = KeySet::parse(&fixture.operator.documents(at(5))[1].body, &KeyPolicy::default()).unwrap();
    let expected = Expected { operator: fixture.operator.domain(), service: SERVICE };
    let verified = verify_receipt(receipt.jwt(), &keys, expected, at(5)).unwrap();
    let claims = verified.claims();
    assert_eq!(claims, receipt.claims());
    assert_eq!((claims.sub.as_str(), claims.delegation_id.as_str()), ("john@example.com", "del_k9x2mq"));
    assert_eq!(claims.scopes, ["calendar.write"]);
    assert_eq!(claims.execution_window, Some(task().window));
    assert_eq!((claims.iat, claims.exp), (at(5).secs(), at(7200).secs()));
}

/// AAP-14.2-01
#[test]
fn a_receipt_has_limits_unless_the_task_says_otherwise_and_the_person_reads_them() {
    let limits_of = |limits: Option<UsageLimits>| {
        let proposal = propose(&ClientFixture::new(), Task { usage_limits: limits, ..task() }).unwrap();
        let shown = proposal.to_string();
        (payload(proposal.approve(at(5)).unwrap().jwt())["usage_limits"].clone(), shown)
    };
    let (usual, shown) = limits_of(None);
    let block = json!({ "requests_per_hour": 60, "writes_per_session": 10, "max_data_egress_kb": 10240 });
    assert_eq!(usual, block);
    for line in ["requests an hour: no more than 60", "changes: no more than 10", "KB of answers: no more than 10240"] {
        assert!(shown.contains(line), "{shown}");
    }
    let (own, shown) = limits_of(Some(UsageLimits { writes_per_session: Some(1), ..UsageLimits::default() }));
    assert_eq!(own, json!({ "writes_per_session": 1 }));
    assert!(shown.contains("changes: no more than 1") && !shown.contains("an hour"), "{shown}");
    let (none, shown) = limits_of(Some(UsageLimits::default()));
    assert_eq!(none, json!({}));
    assert!(!shown.contains("no more than"), "{shown}");
}

#[test]
fn the_words_are_kept_with_the_salt_that_shows_them_to_be_the_receipts() {
    let fixture = ClientFixture::new();
    let receipt = propose(&fixture, task()).unwrap().approve(at(5)).unwrap();
    let kept = fixture.kept.lock().unwrap();
    assert_eq!((kept[0].text.as_str(), kept[0].session_id.as_str()), (WORDS, receipt.session_id()));
    let intent = payload(receipt.jwt())["intent"].clone();
    assert_eq!(intent, Intent::salted(&kept[0].salt, WORDS).to_string());
}

#[test]
fn a_rejection_leaves_nothing() {
    let fixture = ClientFixture::new();
    propose(&fixture, task()).unwrap().deny();
    assert!(fixture.kept.lock().unwrap().is_empty());
}

#[test]
fn without_a_place_for_the_words_there_is_no_receipt() {
    struct Full;
    impl IntentStore for Full {
        fn keep(&self, _intent: KeptIntent) -> Result<(), NotKept> {
            Err(NotKept("disk full".to_owned()))
        }
    }
    let desk = ConsentDesk::new(ClientFixture::new().operator, Arc::new(Full));
    let proposal = desk.propose(&parsed(), &delegation(), task()).unwrap();
    assert_eq!(proposal.approve(at(0)).unwrap_err(), NotIssued::NotKept(NotKept("disk full".to_owned())));
}

#[test]
fn an_approval_after_the_window_is_too_late() {
    let proposal = propose(&ClientFixture::new(), task()).unwrap();
    assert_eq!(proposal.approve(at(7200).plus_millis(1)).unwrap_err(), NotIssued::WindowOver);
}

#[test]
fn nobody_is_asked_about_a_call_that_could_not_be_granted() {
    let of = |change: &dyn Fn(&mut Task)| {
        let mut task = task();
        change(&mut task);
        propose(&ClientFixture::new(), task).unwrap_err()
    };
    let scope = |id: &str| vec![id.to_owned()];
    assert_eq!(of(&|t| t.text = " ".into()), NotProposable::NoText);
    assert_eq!(of(&|t| t.scopes.clear()), NotProposable::NoScopes);
    assert_eq!(of(&|t| t.scopes = scope("calendar.own")), NotProposable::UnknownScope("calendar.own".into()));
    assert_eq!(of(&|t| t.scopes = scope("calendar.erase")), NotProposable::BeyondDelegation("calendar.erase".into()));
    assert_eq!(of(&|t| t.window.latest = t.window.earliest), NotProposable::NoWindow);
    for none in [0, -1] {
        let limits = UsageLimits { max_data_egress_kb: Some(none), ..UsageLimits::default() };
        assert_eq!(of(&|t| t.usage_limits = Some(limits)), NotProposable::LimitOfNothing);
    }
    assert_eq!(of(&|t| t.intent_type = Some(WORDS.into())), NotProposable::NotAnIntentType);
    for (service, operator) in [("https://bank.example", OPERATOR), (SERVICE, "other.example")] {
        let elsewhere = Delegation::from_token(&delegation_token(service, operator)).unwrap();
        let error = ClientFixture::new().desk().propose(&parsed(), &elsewhere, task()).unwrap_err();
        assert_eq!(error, NotProposable::OtherDelegation);
    }
}

/// AAP-13.3-01
#[test]
fn session_ids_are_fresh_unguessable_and_say_nothing() {
    let (desk, manifest, delegation) = (ClientFixture::new().desk(), parsed(), delegation());
    let mut seen = HashSet::new();
    let mut byte_counts = [0_u32; 256];
    for _ in 0..10_000 {
        let receipt = desk.propose(&manifest, &delegation, task()).unwrap().approve(at(0)).unwrap();
        let hex = receipt.session_id().strip_prefix("sess_").unwrap();
        assert!(hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)), "{hex}");
        // No half of a session id repeats, even for one person at the same time.
        assert!(seen.insert(hex[..16].to_owned()) && seen.insert(hex[16..].to_owned()), "{hex}");
        for pair in hex.as_bytes().chunks(2) {
            byte_counts[usize::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()] += 1;
        }
    }
    // 160,000 bytes: 625 of each on average, with a standard deviation of 25.
    assert!(byte_counts.iter().all(|count| (425..825).contains(count)));
}

fn propose(fixture: &ClientFixture, task: Task) -> Result<Proposal, NotProposable> {
    fixture.desk().propose(&parsed(), &delegation(), task)
}

pub(crate) fn payload(jwt: &str) -> Value {
    let payload = URL_SAFE_NO_PAD.decode(jwt.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice(&payload).unwrap_or(json!(null))
}
