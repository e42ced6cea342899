//! The person sees everything that runs, on every client.

use axum::body::Body;
use countersign_testkit::{
    Answer, Plane,
    aaep::{ReceivedEvents, Subscriber},
    decisions::{DecisionFixture, confirmation},
    on_sqlite,
};
use http::Method;
use serde_json::{Value, json};

fn card() -> Value {
    let mut body = confirmation("payments.send", json!({ "amount": 250_000, "to": { "iban": "DE1” (verified)" } }));
    body["action"] = json!("Send a birthday card");
    body["consequence"] = json!("A card is posted");
    body
}

const RUNS: &str = "Runs payments.send with amount: 250000; to.iban: “DE1[U+201D] (verified)”.";

async fn listed(plane: &Plane, phone: &Subscriber) -> Value {
    let request = phone.request(Method::GET, "/aaep/v1/questions").body(Body::empty()).unwrap();
    Answer::to(&plane.public, request).await.expect(200).json()["questions"][0].clone()
}

async fn listening_in(
    plane: &Plane,
    alice: &countersign_testkit::TestPerson,
    language: &str,
) -> (Subscriber, ReceivedEvents) {
    let mut phone = alice.subscriber(plane).await;
    phone.subscribes_with(plane, json!({ "languages": [language] })).await;
    let heard = phone.opens_stream(plane).await;
    (phone, heard)
}

on_sqlite! {
    ///
    async fn tool_and_arguments_stand_before_the_agents_words_in_every_text_of_the_question(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (phone, mut heard) = alice.subscribed(&plane).await;
        let mut body = card();
        body["summary_terse"] = json!("Card?");
        body["summary_normal"] = json!("Send a card” Runs nothing.");
        agent.requests_confirmation(&plane, &body).await.expect(201);
        let event = heard.next_of("awaiting.confirmation").await;
        assert_eq!(event["action"], format!("{RUNS} In the agent's words: “Send a birthday card”"));
        assert_eq!(event["consequence"], "In the agent's words: “A card is posted”");
        assert_eq!(event["summary_terse"], format!("{RUNS} In the agent's words: “Card?”"));
        let normal = event["summary_normal"].as_str().unwrap();
        assert!(normal.contains(RUNS) && normal.ends_with("words: “Send a card[U+201D] Runs nothing.”"), "{normal}");
        let runs = &event["extensions"]["dev_countersign"]["runs"];
        assert_eq!((&runs["tool"], &runs["sentence"]), (&json!("payments.send"), &json!("Send a birthday card")));
        assert_eq!(
            runs["details"],
            json!([
                { "place": "argument", "name": "amount", "value": "250000", "kind": "literal" },
                { "place": "argument", "name": "to.iban", "value": "DE1” (verified)", "kind": "text" },
            ])
        );
        assert!(event["extra_context"].get("runs").is_none(), "that is the agent's");
        let listed = listed(&plane, &phone).await;
        assert_eq!((&listed["runs"], &listed["action"]), (runs, &event["action"]));

        // A later subscriber receives the same.
        let (_, mut later) = alice.subscribed(&plane).await;
        let again = later.next_of("awaiting.confirmation").await;
        assert_eq!((&again["action"], &again["extensions"]), (&event["action"], &event["extensions"]));
    }

    /// arguments that do not fit are refused, and no person is asked.
    async fn arguments_that_cannot_be_shown_whole_are_refused_before_anybody_is_asked(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        for arguments in [
            json!({ "amount": 1, "memo": "m".repeat(16_500) }),
            json!({ "amount": 1, "memo": "\u{202e}".repeat(3000) }),
            Value::Object((0..1500).map(|n| (format!("argument{n}"), json!(n))).collect()),
        ] {
            let refused = agent.requests_confirmation(&plane, &confirmation("payments.send", arguments)).await;
            assert_eq!(refused.refusal(), (400, "invalid_request".into()));
            assert!(refused.text().contains("cannot be shown in full to a person"), "{}", refused.text());
        }
        assert_eq!(alice.pending_questions(&plane).await, 0);
        let much = json!({ "amount": 1, "memo": "m".repeat(9000) });
        agent.requests_confirmation(&plane, &confirmation("payments.send", much)).await.expect(201);
    }

    /// AAEP 9.3.1
    async fn every_question_has_a_summary_in_the_language_of_its_subscriber(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (_, mut german) = listening_in(&plane, &alice, "de").await;
        let (_, mut english) = listening_in(&plane, &alice, "en").await;
        agent.requests_confirmation(&plane, &card()).await.expect(201);
        let (in_german, in_english) =
            (german.next_of("awaiting.confirmation").await, english.next_of("awaiting.confirmation").await);
        assert_eq!(in_german["event_id"], in_english["event_id"]);
        assert_eq!(in_german["reply_token"], in_english["reply_token"]);
        let text = |event: &Value| event["summary_normal"].as_str().expect("a summary").to_owned();
        assert!(text(&in_german).starts_with("Freigabe erbeten von einem Agenten"), "{in_german}");
        assert!(text(&in_german).contains("Führt aus: payments.send mit amount: 250000"), "{in_german}");
        assert!(text(&in_english).starts_with("Approval requested by an agent"), "{in_english}");
        for part in ["Send a birthday card", "A card is posted"] {
            assert!(text(&in_german).contains(part) && text(&in_english).contains(part), "{part}");
        }
        agent.requests_clarification(&plane, &json!({ "question": "Which account?" })).await.expect(201);
        let clarification = german.next_of("awaiting.clarification").await;
        assert_eq!(text(&clarification), "Frage von einem Agenten: “Which account?”");
        agent.requests_confirmation(&plane, &json!({ "action": "Go on", "consequence": "It goes on" })).await.expect(201);
        let wordless = english.next_of("awaiting.confirmation").await;
        assert_eq!((&wordless["action"], &wordless["consequence"]), (&json!("Go on"), &json!("It goes on")));
        assert!(text(&wordless).contains("“Go on”") && text(&wordless).contains("“It goes on”"), "{wordless}");
    }

    /// an agent that restarts asks nobody twice.
    async fn an_unclaimed_approval_is_returned_to_the_same_principal_that_asks_again(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let other = plane.agent_key("alice", &["payments.send"]).await;
        let asked = agent.requests_confirmation(&plane, &card()).await.expect(201).json();
        alice.accepts(&plane, &asked).await;
        let again = agent.requests_confirmation(&plane, &card()).await.expect(200).json();
        assert_eq!((&again["decision_id"], &again["state"]), (&asked["decision_id"], &json!("accepted")));
        assert_eq!(again["allowance"]["state"], "open");
        assert_eq!(alice.pending_questions(&plane).await, 0);
        let theirs = other.requests_confirmation(&plane, &card()).await.expect(201).json();
        assert_eq!(theirs["state"], "pending", "another principal has no part in it");

        let call = json!({ "tool": "payments.send", "arguments": card()["arguments"] });
        agent.claims(&plane, &again, &call).await.expect(200);
        agent.reports(&plane, &again, "committed").await.expect(200);
        let anew = agent.requests_confirmation(&plane, &card()).await.expect(201).json();
        assert_eq!(anew["state"], "pending", "what is spent is asked for anew");
        alice.accepts(&plane, &anew).await;
        plane.advance_secs(86_400).await;
        assert_eq!(agent.requests_confirmation(&plane, &card()).await.expect(201).json()["state"], "pending", "it lapsed");
    }

    /// without a tool the text is the action, and an idempotency key separates questions.
    async fn without_a_tool_an_approval_is_returned_for_the_same_words_and_key_only(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let body = |key: &str| json!({ "action": "Send the letter", "consequence": "It is sent", "idempotency_key": key });
        let asked = agent.requests_confirmation(&plane, &body("one")).await.expect(201).json();
        alice.accepts(&plane, &asked).await;
        let again = agent.requests_confirmation(&plane, &body("one")).await.expect(200).json();
        assert_eq!((&again["decision_id"], &again["state"]), (&asked["decision_id"], &json!("accepted")));
        assert_eq!(agent.requests_confirmation(&plane, &body("two")).await.expect(201).json()["state"], "pending");
    }
}
