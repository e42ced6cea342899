//! The published vectors, byte for byte.

use super::support::{key, nothing};
use countersign_jose::{
    KeyPolicy,
    clarification::{AgentKey, Flaw, Registry, Signer, check_message, check_record, is_published_test_key, verify},
};
use countersign_protocol::clarification::{Message, PublicKey, Signature, SignedType, signed};
use serde_json::{Value, json};

/// RFC 8032 7.1, tests 1 and 2.
const AGENT_SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
const CALLER_SEED: &str = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../../../tests/data/clarification-vectors.json")).unwrap()
}

fn seeded(hex: &str) -> AgentKey {
    let byte = |at: usize| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).unwrap();
    AgentKey::from_seed(std::array::from_fn(byte))
}

fn for_vectors() -> Registry {
    Registry::new(KeyPolicy { allow_published_test_keys: true })
}

fn record_of(vectors: &Value) -> Value {
    json!({
        "session_id": vectors["chain_body"]["session_id"],
        "chain": [vectors["entry"]],
        "total_rounds": 1,
        "all_resolved": true,
        "agent_id": vectors["chain_body"]["agent_id"],
        "agent_public_key": vectors["chain_body"]["agent_public_key"],
        "plan_digest": vectors["plan_digest"],
        "signed_at": vectors["chain_body"]["signed_at"],
        "chain_signature": vectors["chain_signature"],
    })
}

/// WWA-2-03, WWA-4-18, WWA-4-19
#[test]
fn every_published_signature_is_made_again_byte_for_byte() {
    let vectors = vectors();
    let cases = [
        (
            AGENT_SEED,
            SignedType::Message,
            signed::without(&vectors["message"], "signature"),
            &vectors["message"]["signature"],
        ),
        (AGENT_SEED, SignedType::Ask, vectors["ask_body"].clone(), &vectors["ask_signature"]),
        (CALLER_SEED, SignedType::Answer, vectors["answer_body"].clone(), &vectors["answer_signature"]),
        (AGENT_SEED, SignedType::Chain, vectors["chain_body"].clone(), &vectors["chain_signature"]),
    ];
    for (seed, kind, body, published) in cases {
        let input = signed::input(kind, &body).unwrap();
        let ours = seeded(seed).sign(&input);
        assert_eq!(ours.as_str(), published.as_str().unwrap(), "{kind:?}");
        assert_eq!(verify(&seeded(seed).public_key(), &input, &ours), Ok(()));
    }
}

/// WWA-4-18, WWA-4-19
#[test]
fn the_published_message_is_read_signed_and_proven() {
    let vectors = vectors();
    let message: Message = serde_json::from_value(vectors["message"].clone()).unwrap();
    let unsigned = Message { signature: nothing(), ..message.clone() };
    let signature = seeded(AGENT_SEED).sign_body(&unsigned).unwrap();
    assert_eq!(signature.as_str(), message.signature.as_str());
    let report = check_message(&vectors["message"], &for_vectors()).unwrap();
    assert_eq!((report.signer, report.open.len()), (Signer::IntegrityOnly, 1));
}

/// WWA-2-03, WWA-7-01, WWA-7-08, WWA-7-12
#[test]
fn the_published_entry_and_chain_are_proven() {
    let report = check_record(&record_of(&vectors()), &for_vectors()).unwrap();
    assert_eq!(report.all_resolved, Some(true));
    let round = &report.rounds[0];
    assert_eq!((round.answer.as_str(), round.signed_by.as_str(), round.attested), ("jsp-440-only", "caller-1", true));
}

#[test]
fn published_test_keys_are_refused_outside_of_tests() {
    let vectors = vectors();
    assert!(is_published_test_key(&seeded(AGENT_SEED).public_key()));
    assert!(is_published_test_key(&seeded(CALLER_SEED).public_key()));
    assert!(!is_published_test_key(&key(1).public_key()));
    let wrong = check_message(&vectors["message"], &Registry::default()).unwrap_err();
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("agent_public_key", Flaw::PublishedTestKey));
}

/// WWA-4-19
#[test]
fn a_signature_for_one_purpose_is_none_for_any_other() {
    let key = key(1);
    let body = json!({ "anything": 1 });
    for made in SignedType::ALL {
        let signature = key.sign(&signed::input(made, &body).unwrap());
        for asked in SignedType::ALL {
            let input = signed::input(asked, &body).unwrap();
            assert_eq!(verify(&key.public_key(), &input, &signature).is_ok(), made == asked, "{made:?} for {asked:?}");
        }
        let bare = serde_json::to_vec(&body).unwrap();
        assert!(verify(&key.public_key(), &bare, &signature).is_err());
    }
}

/// WWA-4-05
#[test]
fn keys_and_signatures_verify_in_every_spelling() {
    use base64::{Engine as _, engine::general_purpose as b64};
    let key = key(1);
    let signature = key.sign(b"these bytes");
    for engine in [b64::STANDARD, b64::STANDARD_NO_PAD, b64::URL_SAFE, b64::URL_SAFE_NO_PAD] {
        let spelled: PublicKey = format!("ed25519:{}", engine.encode(key.public_key().bytes())).parse().unwrap();
        let signed: Signature = format!("ed25519:{}", engine.encode(signature.bytes())).parse().unwrap();
        assert_eq!(spelled, key.public_key());
        assert_eq!(verify(&spelled, b"these bytes", &signed), Ok(()));
    }
}
