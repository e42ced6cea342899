//! A message that is delivered, and the conditions under which there is none.

use super::{
    LIFE_S, enrol, enrolled, half_an_hour, is_delivered,
    judge::{ALL, NONE, Verified, judge, judge_body},
    message, messages, messages_of, revocations,
};
use countersign_engine::Role;
use countersign_protocol::ids::ProjectId;
use countersign_testkit::{
    AgentFixture, Backend, Kit, Setup, TestPerson, on_both_stores,
    operator_host::{Answer as HostAnswer, Received},
    webhooks::HOOK,
};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeSet;

on_both_stores! {
    /// AAP-8.5-01, AAP-8.5-02, AAP-15-18, AAP-17.8-01, AAP-17.8-04, AAP-17.8-05, AAP-G-61, C-13
    async fn an_auto_revoke_is_told_once_with_every_member_and_signed_in_three_ways(kit) {
        let (fixture, secret) = enrolled(kit).await;
        let revoked_at = fixture.plane.now().plus_secs(LIFE_S);
        assert_eq!(fixture.plane.advance_and_deliver(LIFE_S - 1).await, 0);
        assert_eq!(fixture.plane.advance_and_deliver(1).await, 1);
        assert_eq!(fixture.plane.advance_and_deliver(86_400).await, 0);

        let [received] = fixture.plane.acme().webhooks().try_into().expect("one message");
        assert_eq!(received.method, Method::POST);
        let body: Value = serde_json::from_slice(&received.body).unwrap();
        let mut expected = json!({
            "event": "delegation.auto_revoked",
            "delegation_id": fixture.connected.delegation_id,
            "account_id": "alice",
            "trigger": "expires_at",
            "triggered_by": "service",
            "reason": "policy_expired",
            "revoked_at": revoked_at.to_rfc3339(),
            "timestamp": revoked_at.to_rfc3339(),
            "service": "api.example.test",
        });
        expected["signature"] = body["signature"].clone();
        assert_eq!(body, expected);
        let header = |name: &str| received.headers.get(name).unwrap().to_str().unwrap().to_owned();
        assert_eq!(header("content-type"), "application/json");
        assert_eq!(header("x-aap-webhook-timestamp"), revoked_at.secs().to_string());
        let delivered = message(&fixture.plane).await;
        assert_eq!((header("webhook-id"), is_delivered(&delivered)), (delivered.id, true));

        assert_eq!(judge(&received, &secret, revoked_at), ALL);
        let other = enrol(&fixture.plane, None, "other.test").await.unwrap().secret;
        assert_eq!(judge(&received, &other, revoked_at), NONE, "two operators never share a secret");
        for member in expected.as_object().unwrap().keys().filter(|member| *member != "signature") {
            let mut altered = body.clone();
            altered[member] = json!("2026-11-15T12:00:00.000Z");
            let altered = judge_body(&received, altered.to_string().as_bytes(), &secret, revoked_at);
            assert_eq!(altered, NONE, "{member}");
        }
        let late = judge(&received, &secret, revoked_at.plus_secs(301));
        assert_eq!(late, Verified { standard: false, header: true, member: true }, "the library refuses a replay");
    }

    /// AAP-17.8-02, AAP-17.8-03, AAP-8.5-01
    async fn whatever_the_receiver_does_nothing_is_lost_or_unsigned_or_out_of_order(kit) {
        let (fixture, secret) = enrolled(kit).await;
        let (plane, acme) = (&fixture.plane, fixture.plane.acme());
        let (mut told, mut dice) = (0, 7_u64);
        // Each delegation ends half an hour after its grant, and the receiver has another mood at each attempt.
        for minute in 0..60 {
            if minute < 12 {
                plane.connect(&fixture.alice, acme, &["calendar.read"]).await;
            }
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            acme.host.recover();
            match dice >> 61 {
                0 | 1 => acme.host.go_offline(),
                2 => acme.webhook_answers(StatusCode::OK),
                3 => acme.webhook_answers(StatusCode::NO_CONTENT),
                4 => acme.host.set_answer(HOOK, HostAnswer::redirect("https://acme.test/elsewhere")),
                _ => acme.webhook_answers(StatusCode::BAD_GATEWAY),
            }
            plane.advance_and_deliver(60).await;
            acme.host.recover();
            let arrived = acme.webhooks();
            for received in &arrived[told..] {
                assert_eq!(judge(received, &secret, plane.now()), ALL, "nothing is unsigned");
            }
            told = arrived.len();
        }
        acme.webhook_answers(StatusCode::OK);
        for _ in 0..24 {
            plane.advance_and_deliver(3600).await;
        }
        let sent = messages(plane, None).await;
        assert_eq!((sent.len(), sent.iter().filter(|message| is_delivered(message)).count()), (13, 13));
        let id = |received: &Received| received.headers["webhook-id"].to_str().unwrap().to_owned();
        let arrived: BTreeSet<String> = acme.webhooks().iter().map(id).collect();
        assert_eq!(arrived, sent.iter().map(|message| message.id.clone()).collect());
        assert!(acme.webhooks().len() > 13, "some were sent again");
    }

    /// AAP-8.5-01
    async fn without_a_url_or_a_secret_nothing_is_sent_and_the_audit_entry_remains(kit) {
        for (url, secret) in [(false, false), (true, false), (false, true)] {
            let plane = kit.plane_with(half_an_hour()).await;
            if url {
                plane.acme().publish_webhook();
            }
            if secret {
                enrol(&plane, None, "acme.test").await.unwrap();
            }
            let fixture = AgentFixture::on(plane, &["calendar.read"]).await;
            fixture.plane.advance_and_deliver(LIFE_S).await;
            assert_eq!(fixture.plane.acme().webhooks().len(), 0, "{url} {secret}");
            assert_eq!(revocations(&fixture).await.len(), 1, "{url} {secret}");
            assert_eq!(messages(&fixture.plane, None).await.len(), usize::from(secret), "{url} {secret}");
        }
    }

    /// AAP-8.5-01, C-38
    async fn a_revocation_by_a_person_is_no_auto_revoke_and_is_not_told(kit) {
        let (fixture, _) = enrolled(kit).await;
        fixture.revoke().await.expect(200);
        assert_eq!(fixture.plane.advance_and_deliver(LIFE_S).await, 0);
        assert_eq!((messages(&fixture.plane, None).await.len(), fixture.plane.acme().webhooks().len()), (0, 0));
    }

    /// C-19
    async fn an_operator_without_a_secret_is_told_so_and_an_enrolled_one_is_not(kit) {
        let plane = kit.plane().await;
        plane.acme().publish_webhook();
        let ask = async || {
            let body = plane.connect_body(plane.acme(), &["calendar.read"]);
            plane.post("/agent/delegate/requests", &body).await.expect(201).json()
        };
        let ignored = ask().await["ignored"].clone();
        assert_eq!(ignored[0]["member"], "webhook_url");
        assert!(ignored[0]["reason"].as_str().unwrap().contains("ask its administrator to enrol you"), "{ignored}");
        enrol(&plane, None, "acme.test").await.unwrap();
        assert_eq!(ask().await.get("ignored"), None);
        let fixture = AgentFixture::on(plane, &["calendar.read"]).await;
        assert_eq!(fixture.agent.answer.get("ignored"), None);
    }

    /// R-12, AAP-17.8-07
    async fn projects_share_neither_secrets_nor_messages(kit) {
        let mut setup = Setup::multi();
        for document in &mut setup.projects {
            document.max_duration = "30m".into();
        }
        let plane = kit.plane_with(setup).await;
        plane.acme().publish_webhook();
        let north = enrol(&plane, Some("north"), "acme.test").await.unwrap().secret;
        plane.account("alice").await;
        for project in ["north", "south"] {
            plane.give_roles(project, "alice", &[Role::User]).await;
        }
        let alice = TestPerson::sign_in(&plane, "alice").await;
        for project in ["north", "south"] {
            plane.connect_at(&format!("/projects/{project}"), &alice, plane.acme(), &["calendar.read"]).await;
        }
        assert_eq!(plane.advance_and_deliver(LIFE_S).await, 1);
        assert_eq!(messages(&plane, Some("south")).await, []);
        let [told] = plane.acme().webhooks().try_into().expect("only north told of its end");
        let body: Value = serde_json::from_slice(&told.body).unwrap();
        assert_eq!(body["service"], "north.api.example.test");
        let south = enrol(&plane, Some("south"), "acme.test").await.unwrap().secret;
        assert_eq!((judge(&told, &north, plane.now()), judge(&told, &south, plane.now())), (ALL, NONE));
        let id = messages(&plane, Some("north")).await[0].id.clone();
        let project = async |id: &str| {
            let id = ProjectId::parse(id).unwrap();
            plane.engine.find_project(&id).await.unwrap().unwrap()
        };
        let (north, south) = (project("north").await, project("south").await);
        let agents = plane.engine.agents();
        assert!(agents.outbox_message(south.key, &id).await.is_err());
        assert!(agents.replay_message(&south, &id).await.is_err());
        assert!(agents.outbox_message(north.key, &id).await.is_ok());
    }
}

/// AAP-8.5-01
#[tokio::test]
async fn of_two_nodes_one_sends_each_message_at_the_same_moment_and_while_the_other_is_sending() {
    let (fixture, _) = enrolled(Kit(Backend::Postgres)).await;
    let (plane, acme) = (&fixture.plane, fixture.plane.acme());
    let (second, _) = plane.second_node().await;
    for _ in 0..5 {
        plane.connect(&fixture.alice, acme, &["calendar.read"]).await;
    }
    plane.advance_secs(LIFE_S).await;
    let (here, there) = tokio::join!(plane.engine.agents().deliver_webhooks(), second.agents().deliver_webhooks());
    assert_eq!((here.unwrap(), there.unwrap()), (6, 6), "both found all of them");
    assert_eq!(acme.webhooks().len(), 6);

    for _ in 0..5 {
        plane.connect(&fixture.alice, acme, &["calendar.read"]).await;
    }
    plane.advance_secs(LIFE_S).await;
    let arrived = acme.host.received().len() + 5;
    acme.host.stall();
    let other = async {
        acme.host.wait_for_requests(arrived).await;
        let found = second.agents().deliver_webhooks().await;
        acme.host.recover();
        found
    };
    let (here, there) = tokio::join!(plane.engine.agents().deliver_webhooks(), other);
    assert_eq!((here.unwrap(), there.unwrap()), (5, 0), "the first node's are leased");
    let received = acme.webhooks();
    let ids: BTreeSet<_> = received.iter().map(|message| message.headers["webhook-id"].to_str().unwrap()).collect();
    assert_eq!((received.len(), ids.len()), (11, 11));
    assert!(messages_of(&second, None, false).await.iter().all(is_delivered));
}
