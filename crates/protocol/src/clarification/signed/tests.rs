use super::{
    AnswerBody, AskBody, ChainBody, Signable as _, SignedType, ask_hash, entry_hash, genesis, input, plan_digest,
    without,
};
use crate::{
    clarification::{ChainEntry, DigestText, Message},
    mplp::{MplpId, read},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../../../tests/data/clarification-vectors.json")).unwrap()
}

/// Reads the document into its type and checks that writing it gives the same document.
fn through<T: DeserializeOwned + Serialize>(document: &Value) -> T {
    let read: T = read::value(document).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), *document);
    read
}

/// WWA-4-18, WWA-4-19
#[test]
fn the_published_message_gives_the_published_bytes() {
    let vectors = vectors();
    let message: Message = through(&vectors["message"]);
    assert_eq!(hex::encode(message.input().unwrap()), vectors["message_input_hex"].as_str().unwrap());
    let body = without(&vectors["message"], "signature");
    assert_eq!(message.input().unwrap(), input(SignedType::Message, &body).unwrap());
}

/// WWA-2-03, WWA-7-01
#[test]
fn the_published_chain_gives_the_published_hashes() {
    let vectors = vectors();
    let text = |name: &str| vectors[name].as_str().unwrap().to_owned();
    let plan = plan_digest(&vectors["plan_object"]).unwrap();
    assert_eq!(DigestText(plan).to_string(), text("plan_digest"));
    let session = MplpId::parse(vectors["message"]["session_id"].as_str().unwrap()).unwrap();
    assert_eq!(DigestText(genesis(&session, &plan)).to_string(), text("genesis"));
    let ask: AskBody = through(&vectors["ask_body"]);
    let answer: AnswerBody = through(&vectors["answer_body"]);
    assert_eq!(ask_hash(&ask).unwrap(), answer.ask_hash);
    let entry: ChainEntry = through(&vectors["entry"]);
    let chain: ChainBody = through(&vectors["chain_body"]);
    assert_eq!(DigestText(entry_hash(&vectors["entry"]).unwrap()), entry.entry_hash());
    assert_eq!(entry.clone().sealed().unwrap(), entry);
    assert_eq!(chain.head, entry.entry_hash());
}

/// WWA-4-19
#[test]
fn no_two_types_sign_the_same_bytes() {
    let body = json!({ "a": 1 });
    for kind in SignedType::ALL {
        let signed = input(kind, &body).unwrap();
        let prefix = format!("wwa-clarification/1.0.0 {}\0", kind.as_str());
        assert_eq!(signed, [prefix.as_bytes(), br#"{"a":1}"#].concat());
    }
}

/// WWA-4-22
#[test]
fn a_number_that_others_round_is_not_signed() {
    let largest = json!({ "n": 9_007_199_254_740_991_u64 });
    assert!(input(SignedType::Plan, &largest).is_ok() && plan_digest(&largest).is_ok());
    for beyond in [json!({ "n": 9_007_199_254_740_992_u64 }), json!([-9_007_199_254_740_992_i64])] {
        assert!(input(SignedType::Plan, &beyond).is_err());
        assert!(plan_digest(&beyond).is_err());
        assert!(entry_hash(&beyond).is_err());
    }
}

/// WWA-7-01
#[test]
fn the_beginning_of_a_chain_belongs_to_one_session_and_one_plan() {
    let (one, other) = (plan_digest(&json!({})).unwrap(), plan_digest(&json!({ "a": 1 })).unwrap());
    let session = MplpId::from_random([1; 16]);
    assert_ne!(genesis(&session, &one), genesis(&session, &other));
    assert_ne!(genesis(&session, &one), genesis(&MplpId::from_random([2; 16]), &one));
}

#[test]
fn an_entry_that_is_no_round_names_its_kind() {
    let refused = |entry: Value| ChainEntry::read(&entry).unwrap_err().member;
    assert_eq!(refused(json!({ "event": "something_else" })), "event");
    assert_eq!(refused(json!({ "event": "key_rotated" })), "timestamp");
    let mut round = vectors()["entry"].clone();
    round["note"] = json!("more");
    assert_eq!(refused(round.clone()), "note");
    round.as_object_mut().unwrap().remove("note");
    round["gap"]["severity"] = json!("FATAL");
    assert_eq!(refused(round), "gap.severity");
}
