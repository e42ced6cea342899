//! Offline verification of audits, handoffs and the documents inside them.

use super::{
    folder_with, is_trouble,
    session::{clarify, is_answered, submits, told},
};
use crate::cli_inbox::Asked;
use serde_json::{Value, json};

/// A session answered by a person and confirmed, with its audit and keys in files.
fn audited(name: &str) -> (Asked, String, Value) {
    let asked = Asked::new(name);
    let session = submits(&asked);
    is_answered(&asked, &session);
    assert_eq!(clarify(&asked, &["confirm", &session]).code, 0);
    let audit = told(&asked, &["audit", &session]);
    asked.folder.write("audit.json", &audit.to_string());
    asked.folder.write("keys.json", &told(&asked, &["keys"]).to_string());
    (asked, session, audit)
}

#[test]
fn a_foreign_document_is_an_error() {
    let folder = folder_with("prove-odd", &[("odd.json", "{}"), ("twice.json", r#"{"chain": [], "chain": []}"#)]);
    is_trouble(&folder.run("clarify verify gone.json"), "gone.json: cannot be read", "");
    is_trouble(
        &folder.run("clarify verify odd.json"),
        "is no audit, record, message",
        "hint: `countersign clarify audit",
    );
    is_trouble(&folder.run("clarify verify twice.json"), "is not strict JSON", "occurs twice");
    is_trouble(&folder.run("clarify verify odd.json --keys odd.json"), "odd.json: agent_id: is required", "hint: ");
}

/// WWA-7-01, WWA-7-16
#[test]
fn every_change_is_found_and_named_with_1() {
    let (asked, _, audit) = audited("prove-changed");
    let changes = [
        ("/record/chain/1/answer", json!("eve"), "record.chain[1]"),
        ("/record/chain/0/gap/question", json!("To whom?"), "record.chain[0]"),
        ("/accepted_plan/plan/title", json!("Write two letters"), "accepted_plan/plan/title"),
        ("/submitted_plans/0/plan_object/plan/title", json!("Write none"), "submitted_plans[0]"),
        ("/attestation/plan_digest", json!(format!("sha256:{}", "0".repeat(64))), "attestation"),
    ];
    for (pointer, value, place) in changes {
        let mut forged = audit.clone();
        *forged.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}: {audit}")) = value;
        asked.folder.write("forged.json", &forged.to_string());
        let ran = asked.folder.run("clarify verify forged.json --keys keys.json");
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{pointer}: {}", ran.out);
        assert!(ran.out.starts_with("forged.json is NOT proven\n"), "{}", ran.out);
        assert!(ran.out.lines().nth(1).unwrap().starts_with(place), "{pointer}: {}", ran.out);
        let json = asked.folder.run("clarify verify forged.json --keys keys.json --json");
        let wrong: Value = serde_json::from_str(&json.out).unwrap();
        assert!(json.code == 1 && wrong["proven"].is_null() && !wrong["wrong"].as_str().unwrap().is_empty());
    }
}

/// WWA-4-21
#[test]
fn another_key_is_refused_and_without_keys_only_integrity_is_claimed() {
    let (asked, ..) = audited("prove-keys");
    let unknown = asked.folder.does("clarify verify audit.json");
    assert!(unknown.contains(", signed with an unregistered key\n"), "{unknown}");
    assert!(unknown.contains("\nwarning: integrity only: "), "{unknown}");
    let mut keys: Value = serde_json::from_str(&asked.folder.read("keys.json")).unwrap();
    keys["keys"][0]["public_key"] = json!(format!("ed25519:{}", "58".repeat(32)));
    asked.folder.write("other.json", &keys.to_string());
    let ran = asked.folder.run("clarify verify audit.json --keys other.json");
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("this key is not registered for countersign-payments"), "{}", ran.out);
}

/// WWA-7-13, WWA-7-14
#[test]
fn an_audit_shows_offline_every_question_its_addressees_and_its_answer() {
    let (asked, session, audit) = audited("prove-audit");
    let shown = asked.folder.does("clarify verify audit.json --keys keys.json");
    let begins =
        format!("proven: audit of session {session}\nasked by countersign-payments, signed with a registered key\n");
    assert!(shown.starts_with(&begins), "{shown}");
    assert!(
        shown.contains("\nround 1: gap-001 BLOCK at ") && shown.contains(", not accepted as an answer\n"),
        "{shown}"
    );
    assert!(shown.contains(", resolved\n") && shown.contains("\n  by a person; "), "{shown}");
    assert!(shown.contains("\nattested ") && !shown.contains("warning: "), "{shown}");
    assert_eq!(clarify(&asked, &["audit", &session]).out, shown, "the service's is proven on the way, too");

    let parts = ["/record", "/message", "/attestation"];
    for part in parts {
        let fed = audit.pointer(part).unwrap().to_string();
        let ran = asked.folder.run_fed("clarify verify - --keys keys.json", &fed);
        assert_eq!(ran.code, 0, "{part}: {}", ran.out);
    }
    let handoff = told(&asked, &["handoff", &session]);
    assert_eq!(handoff["context"]["clarification"]["total_rounds"], 2);
    let ran = asked.folder.run_fed("clarify verify - --keys keys.json --json", &handoff.to_string());
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &report["proven"], &report["signer"]), (0, &json!("handoff"), &json!("known")));
}

/// WWA-7-12
#[test]
fn a_chain_that_was_cut_off_is_shown_by_an_earlier_one() {
    let asked = Asked::new("prove-cut");
    let session = submits(&asked);
    asked.folder.write("begin.json", &told(&asked, &["audit", &session]).to_string());
    is_answered(&asked, &session);
    asked.folder.write("later.json", &told(&asked, &["audit", &session]).to_string());
    asked.folder.does("clarify verify later.json --earlier begin.json");
    let cut = asked.folder.run("clarify verify begin.json --earlier later.json");
    assert_eq!(cut.code, 1);
    assert!(cut.out.contains("the chain was cut off: 2 rounds were signed before, 0 are here"), "{}", cut.out);
}

/// WWA-7-17
#[test]
fn after_a_change_of_keys_old_and_new_chains_are_proven_with_the_published_keys() {
    let (mut asked, session, _) = audited("prove-rotated");
    let admin = asked.folder.json("key add --kind admin --principal ops --responsible alice");
    let agent = std::mem::replace(&mut asked.key, admin["secret"].as_str().unwrap().to_owned());
    let rotated = clarify(&asked, &["rotate-key"]);
    assert_eq!(rotated.code, 0, "{}", rotated.err);
    assert!(rotated.out.lines().nth(1).unwrap().contains("  replaced "), "{}", rotated.out);
    assert!(rotated.out.lines().nth(2).unwrap().ends_with("  signs"), "{}", rotated.out);
    assert_eq!(clarify(&asked, &["audit", &session]).code, 0, "admins may read it");
    asked.key = agent;
    let keys = told(&asked, &["keys"]);
    assert_eq!((keys["keys"].as_array().unwrap().len(), keys["rotations"].as_array().unwrap().len()), (2, 1));
    asked.folder.write("keys.json", &keys.to_string());
    asked.folder.does("clarify verify audit.json --keys keys.json");
    assert_eq!(clarify(&asked, &["audit", &session]).code, 0);
}
