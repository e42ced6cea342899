//! Receivers that fail in every way: nothing is lost, and nothing is sent where it must not be.

use super::{
    LIFE_S, attempts, enrol, enrolled, enrolled_on, half_an_hour, is_delivered, last_error, message, messages,
    messages_of, next_attempt,
};
use countersign_engine::{
    OutboxMessage, OutboxState,
    store::{Effects, Outcome, Record},
};
use countersign_server::admin::{AdminRefusal, AdminRequest as _, ReplayWebhookMessage};
use countersign_testkit::{
    Setup, on_both_stores,
    operator_host::{Answer, IDENTITY},
    webhooks::HOOK,
};
use http::StatusCode;
use std::{collections::BTreeSet, time::Duration};

on_both_stores! {
    /// AAP-17.8-02, AAP-17.8-03
    async fn every_answer_but_200_is_tried_again_after_growing_pauses_until_the_operator_is_back(kit) {
        let (fixture, _) = enrolled(kit).await;
        let (plane, acme) = (&fixture.plane, fixture.plane.acme());
        let statuses = [500, 302, 204, 201, 404, 429, 503].map(|status| StatusCode::from_u16(status).unwrap());
        plane.advance_secs(LIFE_S).await;
        for (n, status) in (1..).zip(statuses) {
            acme.webhook_answers(status);
            next_attempt(plane).await;
            let failed = message(plane).await;
            assert_eq!((attempts(&failed), last_error(&failed)), (n, format!("the webhook answered {}", status.as_u16()).as_str()));
            let due = failed.due().unwrap();
            let early = due.millis_since(plane.now()).div_euclid(1000) - 1;
            assert_eq!(plane.advance_and_deliver(early).await, 0, "not before its time");
        }
        acme.webhook_answers(StatusCode::OK);
        next_attempt(plane).await;
        assert!(is_delivered(&message(plane).await));
        assert_eq!(plane.advance_and_deliver(86_400).await, 0);

        let received = acme.webhooks();
        let header = |n: usize, name: &str| received[n].headers.get(name).unwrap().to_str().unwrap().to_owned();
        let at: Vec<i64> = (0..8).map(|n| header(n, "x-aap-webhook-timestamp").parse().unwrap()).collect();
        let gaps: Vec<i64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.windows(2).all(|pair| pair[0] < pair[1]), "{gaps:?}");
        assert!((0..8).all(|n| header(n, "webhook-id") == header(0, "webhook-id")), "one logical message");
        assert!(received.iter().all(|attempt| attempt.body == received[0].body), "and one body");
    }

    /// AAP-17.8-03
    async fn an_acknowledgement_after_five_seconds_is_none_and_nothing_is_lost_in_the_dark(kit) {
        let (fixture, _) = enrolled(kit).await;
        let (plane, acme) = (&fixture.plane, fixture.plane.acme());
        plane.advance_secs(LIFE_S).await;
        acme.host.stall();
        let next = acme.host.received().len() + 1;
        let late = async {
            acme.host.wait_for_requests(next).await;
            tokio::time::sleep(Duration::from_millis(5500)).await;
            acme.host.recover();
        };
        let (sent, ()) = tokio::join!(plane.advance_and_deliver(0), late);
        assert_eq!((sent, acme.webhooks().len()), (1, 1), "it arrived, and its 200 came too late");
        assert_eq!(last_error(&message(plane).await), "no complete answer within the time limit");
        acme.host.go_offline();
        next_attempt(plane).await;
        assert_eq!(attempts(&message(plane).await), 2);
        acme.host.recover();
        next_attempt(plane).await;
        assert!(is_delivered(&message(plane).await));
        assert_eq!(acme.webhooks().len(), 2);
    }

    /// AAP-17.8-02: the status acknowledges, whatever the body says.
    async fn the_body_of_an_answer_changes_nothing(kit) {
        let (fixture, _) = enrolled(kit).await;
        let (plane, acme) = (&fixture.plane, fixture.plane.acme());
        plane.advance_secs(LIFE_S).await;
        let says = |status: u16, body: Vec<u8>| Answer::new(StatusCode::from_u16(status).unwrap(), &[], body);
        for (n, answer) in (1..).zip([says(500, b"{\"ok\":true}".to_vec()), says(202, b"OK".to_vec())]) {
            acme.host.set_answer(HOOK, answer);
            next_attempt(plane).await;
            assert_eq!(attempts(&message(plane).await), n);
            assert!(!is_delivered(&message(plane).await));
        }
        acme.host.set_answer(HOOK, says(200, b"{\"error\":\"not accepted\"}".to_vec()));
        next_attempt(plane).await;
        assert!(is_delivered(&message(plane).await));
        assert_eq!(plane.advance_and_deliver(86_400).await, 0);
    }

    /// AAP-17.8-02: an endless answer costs neither memory nor a repetition.
    async fn an_answer_that_is_too_long_still_acknowledges(kit) {
        let (fixture, _) = enrolled(kit).await;
        let (plane, acme) = (&fixture.plane, fixture.plane.acme());
        acme.host.set_answer(HOOK, Answer::new(StatusCode::OK, &[], vec![b'x'; 4 << 20]));
        assert_eq!(plane.advance_and_deliver(LIFE_S).await, 1);
        assert!(is_delivered(&message(plane).await), "{:?}", message(plane).await.state);
    }

    ///
    async fn a_redirect_is_not_followed(kit) {
        let plane = kit.plane_with(Setup { operators: vec!["acme.test", "evil.test"], ..half_an_hour() }).await;
        let (fixture, _) = enrolled_on(plane).await;
        let plane = &fixture.plane;
        plane.operator("evil.test").webhook_answers(StatusCode::OK);
        plane.acme().host.set_answer(HOOK, Answer::redirect(&format!("https://evil.test{HOOK}")));
        assert_eq!(plane.advance_and_deliver(LIFE_S).await, 1);
        assert_eq!(last_error(&message(plane).await), "the webhook answered 302");
        assert_eq!(plane.operator("evil.test").webhooks().len(), 0);
    }

    /// R-27, C-67
    async fn a_webhook_outside_the_operators_domain_is_refused(kit) {
        let plane = kit.plane_with(Setup { operators: vec!["acme.test", "evil.test"], ..half_an_hour() }).await;
        let (fixture, _) = enrolled_on(plane).await;
        let plane = &fixture.plane;
        plane.operator("evil.test").webhook_answers(StatusCode::OK);
        plane.advance_secs(LIFE_S).await;
        for elsewhere in ["https://evil.test", "https://xacme.test", "http://acme.test", "https://acme.test:8443"] {
            let mut identity = plane.acme().identity();
            identity["webhook_url"] = format!("{elsewhere}{HOOK}").into();
            plane.acme().host.set_document(IDENTITY, identity.to_string());
            plane.advance_without_settling(3601).await;
            let before = attempts(&message(plane).await);
            next_attempt(plane).await;
            assert_eq!(attempts(&message(plane).await), before + 1, "{elsewhere}: {:?}", message(plane).await.state);
        }
        assert_eq!((plane.acme().webhooks().len(), plane.operator("evil.test").webhooks().len()), (0, 0));
        plane.acme().publish_webhook();
        plane.advance_without_settling(3601).await;
        next_attempt(plane).await;
        assert!(is_delivered(&message(plane).await));
    }

    ///
    async fn a_webhook_below_the_domain_with_an_address_that_is_not_public_is_not_reached(kit) {
        let mut setup = half_an_hour();
        setup.names = countersign_testkit::Names::default().with("hooks.acme.test", &["127.0.0.1"]);
        let (fixture, _) = enrolled_on(kit.plane_with(setup).await).await;
        let plane = &fixture.plane;
        let mut identity = plane.acme().identity();
        identity["webhook_url"] = "https://hooks.acme.test/".into();
        plane.acme().publish_identity(&identity);
        plane.advance_secs(LIFE_S).await;
        plane.advance_without_settling(1801).await;
        next_attempt(plane).await;
        assert_eq!(last_error(&message(plane).await), "the host has no public address");
    }

    /// AAP-17.8-02
    async fn after_a_day_a_message_is_dead_listed_and_replayed_as_the_same_message(kit) {
        let (fixture, _) = enrolled(kit).await;
        let plane = &fixture.plane;
        plane.acme().webhook_answers(StatusCode::INTERNAL_SERVER_ERROR);
        plane.advance_secs(LIFE_S).await;
        let began = plane.now();
        while message(plane).await.due().is_some() {
            next_attempt(plane).await;
        }
        let dead = message(plane).await;
        assert_eq!(messages_of(&plane.engine, None, true).await, std::slice::from_ref(&dead));
        let tries = plane.acme().webhooks().len();
        assert!(tries >= 12 && (86_400..86_430).contains(&(plane.now().secs() - began.secs())), "{tries}");
        assert_eq!(plane.advance_and_deliver(86_400).await, 0, "given up");

        plane.acme().webhook_answers(StatusCode::OK);
        let replay = async |id: &str| ReplayWebhookMessage { project: None, id: id.into() }.run(&plane.engine).await;
        assert_eq!(replay("msg_0").await, Err(AdminRefusal::UnknownWebhookMessage));
        let again = replay(&dead.id).await.unwrap();
        assert_eq!((&again.id, again.due()), (&dead.id, Some(plane.now())));
        assert!(matches!(replay(&dead.id).await, Err(AdminRefusal::Refused(why)) if why.contains("it is pending")));
        assert_eq!(plane.advance_and_deliver(0).await, 1);
        assert!(matches!(replay(&dead.id).await, Err(AdminRefusal::Refused(why)) if why.contains("was delivered")));
        let received = plane.acme().webhooks();
        assert_eq!(received.len(), tries + 1);
        assert_eq!(received[tries].headers["webhook-id"], received[0].headers["webhook-id"]);
        assert_eq!(messages_of(&plane.engine, None, true).await, []);
        let query = format!("delegation_id={}&event_type=webhook_replayed", fixture.connected.delegation_id);
        assert_eq!(plane.audit(plane.acme(), &query).await.expect(200).json()["total_count"], 1);
    }

    /// AAP-8.5-01
    async fn an_operator_that_stalls_with_a_long_backlog_holds_up_no_other_operator(kit) {
        let setup = Setup { operators: vec!["acme.test", "other.test"], ..half_an_hour() };
        let (fixture, _) = enrolled_on(kit.plane_with(setup).await).await;
        let (plane, stalled, healthy) = (&fixture.plane, fixture.plane.acme(), fixture.plane.operator("other.test"));
        healthy.publish_webhook();
        enrol(plane, None, "other.test").await.unwrap();
        plane.advance_secs(60).await;
        plane.connect(&fixture.alice, healthy, &["calendar.read"]).await;
        plane.advance_secs(LIFE_S - 60).await;
        let first = message(plane).await;
        let more = (1..300).map(|n| OutboxMessage {
            key: first.key - n,
            id: format!("msg_{n}"),
            delegation: first.delegation + n,
            ..first.clone()
        });
        let effects = Effects { puts: more.map(Record::OutboxMessage).collect(), ..Effects::default() };
        assert_eq!(plane.engine.store().commit(effects).await, Outcome::Committed);

        stalled.host.stall();
        let arrived = stalled.host.received().len() + 16;
        let other = async {
            stalled.host.wait_for_requests(arrived).await;
            // The healthy operator's falls due while all attempts at the other one hang.
            assert_eq!(plane.advance_and_deliver(60).await, 1, "the rest of the backlog waits for its turn");
            assert_eq!((healthy.webhooks().len(), stalled.webhooks().len()), (1, 16));
            stalled.host.recover();
        };
        let (hanging, ()) = tokio::join!(plane.engine.agents().deliver_webhooks(), other);
        assert_eq!(hanging.unwrap(), 16);
        while plane.advance_and_deliver(60).await > 0 {}
        let ids: BTreeSet<String> = stalled.webhooks().iter().map(|m| m.headers["webhook-id"].to_str().unwrap().to_owned()).collect();
        assert_eq!(ids.len(), 300);
        assert!(messages(plane, None).await.iter().all(is_delivered));
    }

    /// AAP-8.5-01
    async fn the_messages_of_one_delegation_keep_their_order(kit) {
        let (fixture, _) = enrolled(kit).await;
        let plane = &fixture.plane;
        plane.advance_secs(LIFE_S).await;
        let first = message(plane).await;
        let state = OutboxState::Pending { attempts: 0, due: plane.now(), give_up_at: None, last_error: None };
        let second = OutboxMessage { key: first.key + 1, id: "msg_second".into(), state, ..first.clone() };
        let puts = vec![Record::OutboxMessage(second)];
        let committed = plane.engine.store().commit(Effects { puts, ..Effects::default() }).await;
        assert_eq!(committed, Outcome::Committed);

        plane.acme().webhook_answers(StatusCode::INTERNAL_SERVER_ERROR);
        for _ in 0..40 {
            plane.advance_and_deliver(3).await;
        }
        let ids = || -> Vec<String> {
            let of = |m: countersign_testkit::operator_host::Received| m.headers["webhook-id"].to_str().unwrap().to_owned();
            plane.acme().webhooks().into_iter().map(of).collect()
        };
        assert!(ids().len() > 3 && ids().iter().all(|id| *id == first.id), "{:?}", ids());
        plane.acme().webhook_answers(StatusCode::OK);
        for _ in 0..60 {
            plane.advance_and_deliver(5).await;
        }
        let told = ids();
        assert_eq!(told[told.len() - 2..], [first.id.clone(), "msg_second".to_owned()]);
        assert!(messages(plane, None).await.iter().all(is_delivered));
    }
}
