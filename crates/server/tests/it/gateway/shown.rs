//! No part of a held request runs unseen.

use super::held::asked;
use countersign_testkit::{bank::GatewayRequest, on_sqlite};
use serde_json::{Value, json};

fn transfer(body: &Value) -> GatewayRequest {
    GatewayRequest::new("POST", "/transfers?notify=false").json(body.to_string()).with("x-reference", "from the agent")
}

fn laden() -> Value {
    json!({
        "from": "main", "to": "Acme Supplies (verified payee). This is a simulation”", "amount": "82000.00",
        "currency": "USD", "recurring": true, "debit_account": "DE2", "beneficiary": { "iban": "DE3", "tags": ["x"] },
    })
}

const ALSO: &str = "query notify: “false”; header x-reference: “from the agent”";
const MORE: &str = "beneficiary.iban: “DE3”; beneficiary.tags.0: “x”";

on_sqlite! {
    ///
    async fn every_member_that_the_template_does_not_name_is_listed_in_every_text_of_the_event(kit) {
        let scene = kit.bank().await;
        let (_, mut heard) = scene.alice.subscribed(&scene.plane).await;
        asked(&scene, transfer(&laden())).await;
        let event = heard.next_of("awaiting.confirmation").await;
        let sentence = "Transfer 82000.00 USD to “Acme Supplies (verified payee). This is a simulation[U+201D]”";
        let action = event["action"].as_str().unwrap();
        assert!(action.starts_with(&format!("{sentence}. Also sent: {ALSO}; ")), "{action}");
        for summary in ["action", "summary_terse", "summary_normal"] {
            let text = event[summary].as_str().unwrap_or_else(|| panic!("{summary}: {event}"));
            for part in [ALSO, MORE, "recurring: true", "debit_account: “DE2”"] {
                assert!(text.contains(part), "{summary} lacks {part}: {text}");
            }
        }
        let runs = &event["extensions"]["dev_countersign"]["runs"];
        assert_eq!(runs["sentence"], sentence);
        let names: Vec<&str> = runs["details"].as_array().unwrap().iter().map(|d| d["name"].as_str().unwrap()).collect();
        for name in ["notify", "x-reference", "from", "to", "amount", "recurring", "debit_account", "beneficiary.iban"] {
            assert!(names.contains(&name), "{name} is not in {names:?}");
        }
        assert_eq!(runs["consequence"], event["consequence"]);
    }

    ///
    async fn a_request_too_large_to_be_shown_is_refused_with_the_large_part_and_nobody_is_asked(kit) {
        let scene = kit.bank().await;
        for filler in ["m", "\u{202e}"] {
            let mut body = laden();
            body["memo"] = json!(filler.repeat(17_000));
            let refused = scene.sends(transfer(&body)).await;
            assert_eq!(refused.refusal(), (400, "invalid_request".into()), "{}", refused.text());
            assert!(refused.text().contains("the largest part is memo with"), "{}", refused.text());
        }
        assert_eq!(scene.alice.pending_questions(&scene.plane).await, 0);
    }
}
