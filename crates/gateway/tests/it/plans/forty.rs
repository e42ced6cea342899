//! One approval of a plan of forty payments: those run, and nothing else does.

use super::{difference, held, runs};
use countersign_testkit::{
    bank::{BankFixture, GatewayRequest, PlanDraft, paying, payouts},
    on_both_stores,
};
use serde_json::json;

fn transfer(body: &str) -> GatewayRequest {
    GatewayRequest::new("POST", "/transfers").json(body)
}

/// The planned body, with one member beyond the text that people read.
const PLANNED: &str = r#"{"from":"ours","to":"theirs","amount":"100.00","currency":"USD","invoice":"i-7"}"#;

/// A plan for bodies like [`PLANNED`], with a variable amount.
fn invoices() -> PlanDraft {
    let mut action = paying(40);
    action["arguments"]["body"]["invoice"] = json!("i-7");
    PlanDraft::of(action)
}

on_both_stores! {
    /// R-3, R-7
    async fn a_call_outside_of_the_plan_is_held_with_its_deviations(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = invoices();
        fixture.planned(&draft).await;
        let put = |was: &str, is: &str| transfer(&PLANNED.replace(was, is));
        let cases = [
            (put("100.00", "500.01"), "body.amount is 500.01 USD, at most 500.00 USD"),
            (put("theirs", "others"), r#"body.to is "others" instead of "theirs""#),
            (put("}", r#","note":"hello"}"#), "body.note is not in the plan"),
            (put(r#","invoice":"i-7""#, ""), "body.invoice is missing"),
            (put(r#""100.00""#, "100.00"), "body.amount is 100.00 USD"),
            (put("USD", "EUR"), r#"body.currency is "EUR" instead of "USD""#),
            (transfer(PLANNED).with("x-reference", "r-1"), "headers.x-reference is not in the plan"),
            (GatewayRequest { target: "/transfers?dry=1".into(), ..transfer(PLANNED) }, "query.dry is not in the plan"),
            (
                GatewayRequest { headers: Vec::new(), ..transfer(PLANNED) }.with("content-type", "application/vnd.bank+json"),
                r#"content_type is "application/vnd.bank+json" instead of "application/json""#,
            ),
        ];
        for (sent, told) in cases {
            let decision = held(&fixture, sent.clone()).await;
            let lines = difference(&decision, &draft);
            assert!(lines.contains(told), "{sent:?}: {lines}");
        }
        assert_eq!(fixture.bank.got().len(), 0);
        assert_eq!(fixture.uses_left(&draft, 1).await, 40);
    }

    /// R-3, R-7
    async fn an_ambiguous_request_is_no_call_of_the_plan(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = invoices();
        fixture.planned(&draft).await;
        for body in [
            PLANNED.replace(r#""100.00""#, "1e2"),
            PLANNED.replace("100.00", "1e2"),
            PLANNED.replace("100.00", "0100.00"),
            PLANNED.replace("100.00", "+100.00"),
            PLANNED.replace("100.00", " 100.00"),
            PLANNED.replace("100.00", "100,00"),
            PLANNED.replace(r#""to""#, r#""to":"others","to""#),
            PLANNED.replace(r#""amount""#, r#""amount":"400000.00","amount""#),
            PLANNED.replace(r#""to""#, r#""to":"others","\u0074o""#),
            format!("{PLANNED} {PLANNED}"),
        ] {
            let refused = fixture.sends(transfer(&body)).await;
            assert_eq!(refused.refusal(), (400, "invalid_request".into()), "{body}");
        }
        let encoded = transfer(PLANNED).with("content-encoding", "gzip");
        assert!(!fixture.sends(encoded).await.is_success());
        assert_eq!(fixture.bank.got().len(), 0);
        assert_eq!(fixture.uses_left(&draft, 1).await, 40);
    }

    /// MPLP-3.2-02, R-7
    async fn forty_payments_run_by_one_approval_and_the_forty_first_is_held(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(40)).agent_step("Write the report");
        fixture.planned(&draft).await;
        for n in 1..=40 {
            runs(&fixture, &format!("{}.{n:02}", 459 + n)).await;
        }
        assert_eq!(fixture.bank.effects().len(), 40);
        assert_eq!(fixture.alice.pending_questions(&fixture.plane).await, 0);
        let decision = held(&fixture, BankFixture::transfer_of("1.00")).await;
        let lines = difference(&decision, &draft);
        assert!(lines.contains("all 40 uses are claimed"), "{lines}");
        assert_eq!(fixture.bank.effects().len(), 40);
        assert_eq!(fixture.alice.pending_questions(&fixture.plane).await, 1);
    }

    /// R-3, R-7
    async fn a_call_of_the_plan_reaches_the_bank_byte_by_byte_as_it_was_sent(kit) {
        let fixture = kit.bank_with(payouts).await;
        fixture.planned(&PlanDraft::of(paying(2))).await;
        let body = "{ \"currency\" : \"USD\", \"amount\":\"250.5\",\n\"to\":\"theirs\",\"from\":\"ours\" }";
        fixture.sends(transfer(body)).await.expect(201);
        fixture.sends(BankFixture::transfer_of("7.00").confirmed("true")).await.expect(201);
        let got = fixture.bank.effects();
        assert_eq!(String::from_utf8_lossy(&got[0].body), body);
        assert_eq!(got[1].body, BankFixture::transfer_of("7.00").body);
    }
}
