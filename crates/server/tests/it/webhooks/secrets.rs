//! Webhook secrets: shown once, sealed at rest, rotated without a gap.

use super::{
    LIFE_S, enrol, enrolled, half_an_hour, is_delivered,
    judge::{ALL, NONE, Verified, judge},
    last_error, message, messages, next_attempt,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use countersign_protocol::domain::Domain;
use countersign_server::admin::{AdminRefusal, AdminRequest as _, ListWebhookSecrets, RetireWebhookSecret};
use countersign_testkit::{AgentFixture, Plane, leaks::Haystack, on_both_stores, stored_evidence};

async fn retire(plane: &Plane, operator: &str, id: &str) -> Result<usize, AdminRefusal> {
    let operator = Domain::parse(operator).unwrap();
    let retired = RetireWebhookSecret { project: None, operator, id: id.to_owned() }.run(&plane.engine).await;
    retired.map(|remaining| remaining.len())
}

async fn listed(plane: &Plane) -> Vec<String> {
    let found = ListWebhookSecrets { project: None }.run(&plane.engine).await.unwrap();
    found.into_iter().map(|secret| secret.id).collect()
}

on_both_stores! {
    /// AAP-17.8-07
    async fn while_two_are_active_either_verifies_and_afterwards_only_the_new_one(kit) {
        let (fixture, old) = enrolled(kit).await;
        let plane = &fixture.plane;
        let [first] = listed(plane).await.try_into().unwrap();
        let second = enrol(plane, None, "acme.test").await.unwrap();
        assert_eq!(listed(plane).await, [second.listed.id.clone(), first.clone()]);
        let third = enrol(plane, None, "acme.test").await.err();
        assert!(matches!(third, Some(AdminRefusal::Refused(why)) if why.contains("retire the older one first")));

        plane.advance_and_deliver(LIFE_S).await;
        let [told] = plane.acme().webhooks().try_into().unwrap();
        assert_eq!(judge(&told, &second.secret, plane.now()), ALL);
        let either = Verified { standard: true, header: true, member: false };
        assert_eq!(judge(&told, &old, plane.now()), either, "the body has room for one signature: the newest secret's");

        assert_eq!(retire(plane, "other.test", &first).await, Err(AdminRefusal::UnknownWebhookSecret));
        assert_eq!(retire(plane, "acme.test", &first).await, Ok(1));
        assert_eq!(retire(plane, "acme.test", &first).await, Err(AdminRefusal::UnknownWebhookSecret));
        plane.connect(&fixture.alice, plane.acme(), &["calendar.read"]).await;
        plane.advance_and_deliver(LIFE_S).await;
        let [_, told] = plane.acme().webhooks().try_into().unwrap();
        assert_eq!((judge(&told, &second.secret, plane.now()), judge(&told, &old, plane.now())), (ALL, NONE));
        enrol(plane, None, "acme.test").await.unwrap();
    }

    /// AAP-8.5-01, C-19
    async fn after_the_last_secret_is_retired_nothing_is_sent_until_there_is_a_new_one(kit) {
        let (fixture, _) = enrolled(kit).await;
        let plane = &fixture.plane;
        plane.advance_secs(LIFE_S).await;
        let [only] = listed(plane).await.try_into().unwrap();
        assert_eq!(retire(plane, "acme.test", &only).await, Ok(0));
        plane.connect(&fixture.alice, plane.acme(), &["calendar.read"]).await;
        plane.advance_and_deliver(LIFE_S).await;
        assert_eq!((plane.acme().webhooks().len(), messages(plane, None).await.len()), (0, 1));
        assert!(last_error(&message(plane).await).contains("countersign webhooks secret create"));
        let new = enrol(plane, None, "acme.test").await.unwrap().secret;
        next_attempt(plane).await;
        assert!(is_delivered(&message(plane).await));
        assert_eq!(judge(&plane.acme().webhooks()[0], &new, plane.now()), ALL);
    }

    /// AAP-17.8-07, R-26
    async fn a_secret_is_returned_once_stored_sealed_and_audited_from_its_making_to_its_end(kit) {
        let (place, _folder) = kit.readable_location().await;
        let plane = Plane::start(half_an_hour(), place).await;
        plane.acme().publish_webhook();
        let created = enrol(&plane, None, "acme.test").await.unwrap();
        let key = STANDARD.decode(created.secret.strip_prefix("whsec_").unwrap()).unwrap();
        assert_eq!(key.len(), 32);
        let fixture = AgentFixture::on(plane, &["calendar.read"]).await;
        fixture.plane.advance_and_deliver(LIFE_S).await;
        assert_eq!(fixture.plane.acme().webhooks().len(), 1);
        let stored = Haystack::stored(&fixture.plane.place).await;
        stored.assert_present("the id", &created.listed.id);
        stored.assert_absent("the secret", &created.secret);
        stored.assert_absent("the key", STANDARD.encode(&key));
        stored.assert_absent("the key in hex", hex::encode(&key));
        retire(&fixture.plane, "acme.test", &created.listed.id).await.unwrap();
        let entries = stored_evidence(&fixture.plane.place).await;
        let of = |kind: &str| entries.iter().filter(|entry| entry.event_type == kind).count();
        assert_eq!((of("webhook_secret_added"), of("webhook_secret_retired")), (1, 1));
    }
}
