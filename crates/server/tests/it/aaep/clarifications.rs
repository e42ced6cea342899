//! `clarification.reply` on the wire (AAEP 6.5).

use super::Waiting;
use countersign_testkit::{Kit, Setup, aaep::moment, decisions::DecisionFixture, on_sqlite, stored_evidence};
use serde_json::{Value, json};

/// A question that accepts these kinds of answers.
async fn waiting(kit: Kit, kinds: &[&str]) -> Waiting {
    let mut body = json!({ "question": "Which airport?", "accepted_response_kinds": kinds });
    if kinds.contains(&"multiple_choice") {
        body["choices"] = json!([{ "value": "67", "label": "Gate 67" }, { "value": "lhr", "label": "Heathrow" }]);
    }
    Waiting::for_clarification(kit, body).await
}

async fn takes(kit: Kit, kinds: &[&str], good: Value, bad: &[Value]) {
    let waiting = waiting(kit, kinds).await;
    for response in bad {
        waiting.does_not_count(&waiting.response(response.clone())).await;
    }
    waiting.counts(&waiting.response(good.clone()), "answered").await;
    assert_eq!(waiting.document().await["response"], good);
}

on_sqlite! {
    /// AAEP-6.5.1-01, AAEP-6.5.1-03, AAEP-6.5.1-05, AAEP-6.5.5-01
    async fn an_invalid_clarification_reply_is_no_message(kit) {
        let waiting = waiting(kit, &["freetext"]).await;
        let sound = waiting.response(json!("Lagos"));
        for (member, value) in [("type", json!("clarification")), ("response", json!(null)), ("response", json!(["Lagos"])),
            ("response", json!({ "text": "Lagos" })), ("response", json!("")), ("timestamp", json!("today")),
            ("extra", json!(1)), ("decision", json!("accept"))] {
            let mut reply = sound.clone();
            reply[member] = value;
            waiting.is_no_message(&reply).await;
        }
        for member in ["type", "reply_token", "response", "subscription_id", "timestamp"] {
            let mut reply = sound.clone();
            reply.as_object_mut().unwrap().remove(member);
            waiting.is_no_message(&reply).await;
        }
        waiting.counts(&sound, "answered").await;
    }

    /// AAEP-6.5.1-02, AAEP-6.5.1-04, AAEP-6.5.5-01
    async fn an_unknown_token_or_somebody_elses_subscription_leaves_it_waiting(kit) {
        let waiting = waiting(kit, &["freetext"]).await;
        let bob = waiting.plane.person("bob").await;
        let mut of_bob = bob.subscriber(&waiting.plane).await;
        of_bob.subscribes(&waiting.plane).await;
        for (member, value) in [("reply_token", "rpl_00000000000000000000000000000000"), ("subscription_id", of_bob.subscription_id.as_str())] {
            let mut reply = waiting.response(json!("Lagos"));
            reply[member] = json!(value);
            waiting.does_not_count(&reply).await;
        }
        waiting.counts(&waiting.response(json!("Lagos")), "answered").await;
    }

    /// AAEP-6.5.5-01
    async fn an_answer_must_be_proven_in_time_and_the_first(kit) {
        let waiting = waiting(kit, &["freetext"]).await;
        let plane = &waiting.plane;
        let sound = waiting.response(json!("Lagos"));
        let mut nobody = waiting.phone.clone();
        for token in ["", "cst_guessed", &waiting.agent.token] {
            nobody.token = token.to_owned();
            assert_eq!(nobody.replies(plane, &sound).await.status, 401);
            assert_eq!(waiting.state().await, "pending");
        }
        let seconds = waiting.question["timeout_seconds"].as_i64().unwrap();
        let at = |secs: i64| json!(moment(plane.now().plus_secs(secs)));
        for (member, value) in
            [("timestamp", at(seconds)), ("timestamp", at(-301)), ("decided_by", json!("auto:configured_policy"))]
        {
            let mut reply = sound.clone();
            reply[member] = value;
            waiting.does_not_count(&reply).await;
        }
        waiting.counts(&sound, "answered").await;
        waiting.counts(&waiting.response(json!("Abuja")), "answered").await;
        assert_eq!(waiting.document().await["response"], "Lagos", "the first one counts");

        let late = self::waiting(kit, &["freetext"]).await;
        let reply = late.response(json!("Lagos"));
        late.plane.advance_without_settling(seconds).await;
        late.does_not_count(&reply).await;
    }

    /// AAEP-6.5.2-01, AAEP-6.5.5-04
    async fn free_text_is_a_text(kit) {
        takes(kit, &["freetext"], json!("Lagos"), &[json!(7), json!(true)]).await;
    }

    /// AAEP-6.5.2-02
    async fn a_closed_question_takes_a_boolean(kit) {
        takes(kit, &["yes_no"], json!(true), &[json!("yes"), json!(1)]).await;
        takes(kit, &["yes_no"], json!(false), &[]).await;
    }

    /// AAEP-6.5.2-03, AAEP-6.5.5-03
    async fn a_choice_is_answered_with_its_value_and_not_with_its_label(kit) {
        takes(kit, &["multiple_choice"], json!("lhr"), &[json!("Heathrow"), json!("LHR"), json!("Lagos"), json!(67)]).await;
    }

    /// AAEP-6.5.2-04
    async fn a_number_is_a_number(kit) {
        takes(kit, &["numeric"], json!(67), &[json!("67"), json!(true)]).await;
    }

    /// AAEP-6.5.2-05
    async fn of_several_kinds_each_counts_and_no_other(kit) {
        for good in [json!("67"), json!(67)] {
            takes(kit, &["multiple_choice", "numeric"], good, &[json!(true), json!("68")]).await;
        }
    }

    /// AAEP-6.5.2-06
    async fn a_question_that_names_no_kind_takes_free_text(kit) {
        let waiting = Waiting::for_clarification(kit, json!({ "question": "Which airport?" })).await;
        for response in [json!(true), json!(7)] {
            waiting.does_not_count(&waiting.response(response)).await;
        }
        waiting.counts(&waiting.response(json!("Lagos")), "answered").await;
    }

    /// AAEP-6.5.3-01, AAEP-6.5.3-02, AAEP-6.5.3-03
    async fn the_senders_additional_members_are_kept_and_confidence_is_from_0_to_1(kit) {
        for (confidence, sound) in [(json!(0), true), (json!(0.5), true), (json!(1), true), (json!(1.5), false), (json!("high"), false)] {
            let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
            let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
            let (phone, mut heard) = alice.subscribed(&plane).await;
            let decision = agent.requests_clarification(&plane, &json!({ "question": "Which airport?" })).await.expect(201).json();
            let question = heard.next_of("awaiting.clarification").await;
            let waiting = Waiting { plane, alice, agent, phone, heard, decision, question };
            let mut reply = waiting.response(json!("Lagos"));
            reply["confidence"] = confidence.clone();
            reply["decided_by"] = json!("user:mallory");
            reply["correlation_id"] = json!("00-trace-02");
            if !sound {
                waiting.is_no_message(&reply).await;
                continue;
            }
            waiting.counts(&reply, "answered").await;
            let entries = stored_evidence(&waiting.plane.place).await;
            let settled = entries.iter().rfind(|entry| entry.event_type == "decision_settled").unwrap();
            let kept: Value = serde_json::from_str(settled.openings.as_deref().unwrap()).unwrap();
            for (member, value) in
                [("decided_by", "alice"), ("claimed_decided_by", "user:mallory"), ("correlation_id", "00-trace-02")]
            {
                assert_eq!(kept[member]["value"], value, "{kept}");
            }
            let leaf: Value = serde_json::from_slice(&settled.leaf).unwrap();
            assert_eq!(leaf["confidence"].as_f64(), confidence.as_f64(), "{leaf}");
        }
    }
}
