//! Calls that an open gap stops, despite any approval (Clarification 8, W-26).

use crate::plans::{held, runs};
use countersign_protocol::project::ProjectDocument;
use countersign_testkit::{
    Answer,
    bank::{BankFixture, GatewayRequest, Holder, PlanDraft, paying_exactly},
    on_both_stores,
};
use serde_json::{Value, json};

/// A rule about the account of a payment, without the built-in ones.
fn rule_about_account(document: &mut ProjectDocument, more: Value) {
    let mut rule = json!({
        "id": "account", "kind": "required", "field": "payment.account",
        "question": "Which account is {field}?", "context": "The money must come from somewhere.",
    });
    rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    document.clarification = serde_json::from_value(json!({ "pack": false, "rules": [rule] })).unwrap();
}

fn account_rule(document: &mut ProjectDocument) {
    rule_about_account(document, json!({}));
}

/// Submits a plan of a payment without an account.
async fn is_unclear(fixture: &BankFixture, agent: &Holder) -> Value {
    let body = json!({ "plan_object": { "payment": { "to": "ACME" } } });
    let said = fixture.posts(agent, "/v1/clarification/submit-clarification", &body).await.expect(200).json();
    assert_eq!(
        (said["status"].as_str(), said["gaps"][0]["id"].as_str()),
        (Some("needs_clarification"), Some("gap-001"))
    );
    said
}

async fn answers(fixture: &BankFixture, unclear: &Value, answer: &str) -> Value {
    let body = json!({ "session_id": unclear["session_id"], "gap_id": "gap-001", "answer": answer });
    fixture.posts(&fixture.agent, "/v1/clarification/resolve-gap", &body).await.expect(200).json()
}

fn is_stopped(answer: &Answer, unclear: &Value) {
    assert_eq!(answer.refusal(), (409, "clarification_required".into()), "{}", answer.text());
    let told = answer.json();
    assert_eq!(told["clarification"]["session_id"], unclear["session_id"]);
    assert_eq!(told["clarification"]["gaps"][0]["field"], "payment.account");
    assert!(told["hint"].as_str().unwrap().contains("resolve-gap"), "{told}");
}

fn note() -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(json!({ "text": "hello" }).to_string())
}

on_both_stores! {
    /// WWA-4-14
    async fn a_call_blocked_by_an_open_gap_is_refused_and_nobody_is_asked_about_it(kit) {
        let fixture = kit.bank_with(account_rule).await;
        let unclear = is_unclear(&fixture, &fixture.agent).await;
        for sent in [BankFixture::transfer(), BankFixture::transfer().confirmed("true"), BankFixture::transfer().waits(30)] {
            is_stopped(&fixture.sends(sent).await, &unclear);
        }
        assert_eq!(fixture.bank.got().len(), 0);
        assert_eq!(fixture.alice.pending_questions(&fixture.plane).await, 0);
        let outcomes: Vec<Value> = fixture.calls().await.iter().map(|call| call["outcome"].clone()).collect();
        assert!(outcomes.iter().all(|outcome| outcome.as_str().unwrap().contains("clarification_required")), "{outcomes:?}");
        answers(&fixture, &unclear, "current account").await;
        let decision = held(&fixture, BankFixture::transfer()).await;
        fixture.alice.accepts(&fixture.plane, &decision).await;
        fixture.sends(BankFixture::transfer().confirmed("true")).await.expect(201);
    }

    /// WWA-4-14
    async fn an_earlier_approval_is_not_claimed_while_a_gap_is_open(kit) {
        let fixture = kit.bank_with(account_rule).await;
        let decision = fixture.approved(BankFixture::transfer()).await;
        let unclear = is_unclear(&fixture, &fixture.agent).await;
        is_stopped(&fixture.sends(BankFixture::transfer().confirmed("true")).await, &unclear);
        let token = fixture.reads_decision(&fixture.agent, &decision).await["confirm_token"].clone();
        if let Some(token) = token.as_str() {
            is_stopped(&fixture.sends(BankFixture::transfer().confirmed(token)).await, &unclear);
        }
        assert_eq!(fixture.bank.got().len(), 0);
        answers(&fixture, &unclear, "savings").await;
        fixture.sends(BankFixture::transfer().confirmed("true")).await.expect(201);
        assert_eq!(fixture.bank.effects().len(), 1);
    }

    /// WWA-4-14
    async fn the_steps_of_an_approved_plan_wait_as_well(kit) {
        let fixture = kit.bank_with(|document| {
            account_rule(document);
            document.plans.ask_again_from = countersign_protocol::project::AskAgain::Never;
        }).await;
        fixture.planned(&PlanDraft::of(paying_exactly("100.00"))).await;
        let unclear = is_unclear(&fixture, &fixture.agent).await;
        is_stopped(&fixture.sends(BankFixture::transfer_of("100.00")).await, &unclear);
        assert_eq!(fixture.bank.got().len(), 0);
        answers(&fixture, &unclear, "savings").await;
        runs(&fixture, "100.00").await;
    }

    /// R-10, WWA-4-14
    async fn a_gap_stops_its_own_session_and_no_other(kit) {
        let fixture = kit.bank_with(account_rule).await;
        let other = fixture.another(|_| {}).await;
        let unclear = is_unclear(&fixture, &other).await;
        held(&fixture, BankFixture::transfer()).await;
        is_stopped(&fixture.sends_as(&other, BankFixture::transfer()).await, &unclear);
    }

    /// WWA-3-07: a warning blocks the generation of plans, and no call.
    async fn a_warning_stops_no_call(kit) {
        let fixture = kit.bank_with(|document| rule_about_account(document, json!({ "severity": "WARN" }))).await;
        is_unclear(&fixture, &fixture.agent).await;
        held(&fixture, BankFixture::transfer()).await;
    }

    /// WWA-4-14
    async fn a_call_that_needs_no_approval_is_stopped_where_the_project_lists_its_action(kit) {
        let fixture = kit.bank_with(|document| {
            account_rule(document);
            let operations = json!({ "build": ["notes.write"] });
            document.clarification.operations = serde_json::from_value(operations).unwrap();
            // Otherwise a person would have to answer: the project does not say whether notes are reversible.
            document.clarification.rules[0].person = Some(false);
        }).await;
        fixture.sends(note()).await.expect(201);
        let unclear = is_unclear(&fixture, &fixture.agent).await;
        is_stopped(&fixture.sends(note()).await, &unclear);
        fixture.sends(GatewayRequest::new("GET", "/accounts")).await.expect(200);
        let refused = fixture.calls().await.iter().filter(|call| call["outcome"].as_str().unwrap().contains("clarification")).count();
        assert_eq!(refused, 1, "it stands in the audit");
        answers(&fixture, &unclear, "savings").await;
        fixture.sends(note()).await.expect(201);
    }

    async fn an_open_gap_blocks_nothing_once_its_session_is_over(kit) {
        let fixture = kit.bank_with(|document| {
            account_rule(document);
            document.clarification.session_seconds = 60;
        }).await;
        let unclear = is_unclear(&fixture, &fixture.agent).await;
        is_stopped(&fixture.sends(BankFixture::transfer()).await, &unclear);
        fixture.plane.advance_secs(61).await;
        held(&fixture, BankFixture::transfer()).await;
        let body = json!({ "session_id": unclear["session_id"], "gap_id": "gap-001", "answer": "savings" });
        let late = fixture.posts(&fixture.agent, "/v1/clarification/resolve-gap", &body).await;
        assert_eq!(late.refusal(), (409, "conflict".into()), "{}", late.text());
    }

    /// WWA-6.2-06, R-14
    async fn a_block_on_something_irreversible_is_answered_by_a_person_and_shown_again_before_the_approval(kit) {
        let fixture = kit.bank_with(|document| {
            account_rule(document);
            let operations = json!({ "build": ["transfers.send"] });
            document.clarification.operations = serde_json::from_value(operations).unwrap();
        }).await;
        let unclear = is_unclear(&fixture, &fixture.agent).await;
        assert_eq!(unclear["gaps"][0]["person_must_answer"], true);
        let said = answers(&fixture, &unclear, "the agent's guess").await;
        assert_eq!((&said["status"], &said["accepted_answer"]), (&json!("escalated"), &Value::Null), "{said}");
        is_stopped(&fixture.sends(BankFixture::transfer()).await, &unclear);
        fixture.alice.answers(&fixture.plane, &said, json!("savings")).await;
        let decision = held(&fixture, BankFixture::transfer()).await;
        let page = fixture.alice.get(&fixture.plane, &page_of(&decision)).await.expect(200);
        assert!(page.text().contains("payment.account") && page.text().contains("savings"), "{}", page.text());
        fixture.alice.accepts(&fixture.plane, &decision).await;
        fixture.sends(BankFixture::transfer().confirmed("true")).await.expect(201);
    }
}

/// The path of the page for a person's answer.
fn page_of(decision: &Value) -> String {
    let page = decision["page"].as_str().unwrap();
    page[page.find("/inbox/").unwrap()..].to_owned()
}
