//! A standing approval, its remainder, and its revocation.

use super::Asked;
use crate::cli_folder::Ran;
use serde_json::{Value, json};

/// An agent asks to send an amount; returns the response.
fn pays(asked: &Asked, amount: &str) -> Value {
    let arguments = json!({ "to": "sam", "amount": amount, "currency": "EUR" });
    let body = json!({ "action": "Pay", "consequence": "Gone", "tool": "mail.send", "arguments": arguments });
    asked.agent("POST", "/v1/confirmations", &body)
}

/// Asks, and if an approval covers it already, claims, executes and reports it.
fn runs(asked: &Asked, amount: &str) -> bool {
    let told = pays(asked, amount);
    if told["state"] != "accepted" {
        return false;
    }
    let id = told["decision_id"].as_str().unwrap();
    let arguments = json!({ "to": "sam", "amount": amount, "currency": "EUR" });
    let claim = json!({ "tool": "mail.send", "arguments": arguments });
    let claimed = asked.agent("POST", &format!("/v1/decisions/{id}/claim"), &claim);
    let outcome = json!({ "status": "committed", "execution_id": claimed["execution"]["execution_id"] });
    asked.agent("POST", &format!("/v1/decisions/{id}/outcome"), &outcome);
    true
}

fn id_of(told: &Value) -> &str {
    told["decision_id"].as_str().unwrap()
}

fn allowances(asked: &Asked) -> Vec<Value> {
    let ran = asked.inbox(&["allowances", "--json"], &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn misused(ran: &Ran, part: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains(part), "{part}: {}", ran.err);
}

#[test]
fn bounds_that_mean_nothing_are_not_sent() {
    let asked = Asked::new("bounded-misused");
    let told = pays(&asked, "20.00");
    let id = id_of(&told);
    misused(&asked.inbox(&["answer", id, "reject", "--times", "3"], &[]), "limits and steps go with approve only");
    misused(&asked.inbox(&["answer", id, "approve", "--times", "0"], &[]), "--times");
    misused(&asked.inbox(&["answer", id, "yes", "--up-to", "amount"], &[]), "NAME=VALUE");
    let twice = ["answer", id, "yes", "--up-to", "amount=5", "--up-to", "amount=6"];
    misused(&asked.inbox(&twice, &[]), "is given twice");
    misused(&asked.inbox(&["answer", id, "yes", "--step", "1"], &[]), "--step is for plans");
    assert_eq!(asked.decision(id)["state"], "pending");
    let unknown = asked.inbox(&["answer", "dec_0", "yes", "--times", "2"], &[]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("there is no such pending question"), "{}", unknown.err);
}

/// R-7
#[test]
fn an_answer_outside_its_own_bounds_settles_nothing_and_names_the_reason() {
    let asked = Asked::new("bounded-outside");
    let told = pays(&asked, "20.00");
    let ran = asked.inbox(&["answer", id_of(&told), "yes", "--up-to", "amount=19"], &[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("outside its own bound"), "{}", ran.err);
    assert_eq!(asked.decision(id_of(&told))["state"], "pending");
}

/// R-7
#[test]
fn a_standing_approval_lets_its_uses_run_and_no_more() {
    let asked = Asked::new("bounded-sum");
    let told = pays(&asked, "20.00");
    let id = id_of(&told);
    let amounts = ["--up-to", "amount=50", "--altogether", "amount=100", "--unit-from", "amount=currency"];
    let ran = asked.inbox(&[&["answer", id, "yes", "--times", "3", "--for", "30m"][..], &amounts].concat(), &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with(&format!("question {id} was approved\n  alw_")), "{}", ran.out);
    assert!(ran.out.contains(": 3 calls, amount 100 of 100 EUR altogether, until "), "{}", ran.out);
    assert!(!runs(&asked, "50.01"), "above the most for one");
    assert!(runs(&asked, "50.00"));
    assert!(runs(&asked, "45.00"));
    assert!(!runs(&asked, "5.01"), "above the most for all together");
    let [open] = allowances(&asked).try_into().unwrap();
    assert_eq!((&open["left"]["uses"], &open["left"]["sums"][0]["left"]), (&json!(1), &json!("5")));
    assert!(runs(&asked, "5.00"));
    assert_eq!(allowances(&asked), Vec::<Value>::new());
    assert!(!runs(&asked, "1.00"), "all three are claimed");
    let late = asked.inbox(&["answer", id, "yes", "--times", "3"], &[]);
    assert!(late.code == 1 && late.err.contains("409"), "{}", late.err);
}

/// R-5, R-7
#[test]
fn the_rest_of_a_standing_approval_is_listed_and_revoked() {
    let asked = Asked::new("bounded-revoked");
    assert_eq!(asked.inbox(&["allowances"], &[]).out, "Standing approvals: none.\n");
    let told = pays(&asked, "20.00");
    let ran = asked.inbox(&["answer", id_of(&told), "yes", "--times", "5", "--json"], &[]);
    let answered: Value = serde_json::from_str(&ran.out).unwrap();
    let id = answered["allowances"][0]["left"]["allowance_id"].as_str().unwrap();
    assert!(runs(&asked, "20.00"));
    let listed = asked.inbox(&["allowances"], &[]).out;
    let line = listed.lines().nth(1).unwrap();
    let runs_this = r#"mail.send(amount: "20.00", currency: "EUR", to: "sam")"#;
    assert!(line.starts_with(id) && line.contains("4 of 5") && line.ends_with(runs_this), "{listed}");
    assert_eq!(asked.inbox(&["standing"], &[]).out, listed, "another name of the same command");
    let unseen = asked.inbox(&["allowances"], &[("ACCESSIBLE", "1")]).out;
    assert!(unseen.starts_with(&format!("id {id}, left 4 of 5, until ")) && unseen.ends_with(".\n"), "{unseen}");
    let back = asked.inbox(&["revoke", id, "--reason", "enough"], &[]);
    assert_eq!((back.code, back.out), (0, format!("{id} is revoked: nothing more runs under it\n")), "{}", back.err);
    assert!(!runs(&asked, "20.00"));
    for gone in [id, "alw_0"] {
        let ran = asked.inbox(&["revoke", gone], &[]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""));
        assert!(ran.err.contains("hint: `countersign inbox allowances` lists"), "{}", ran.err);
    }
}
