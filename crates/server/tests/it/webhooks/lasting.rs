//! A message survives its node.

use super::{LIFE_S, attempts, enrolled_on, half_an_hour, is_delivered, message, next_attempt};
use countersign_testkit::{AgentFixture, on_both_stores};
use http::StatusCode;
use std::sync::Arc;

on_both_stores! {
    /// AAP-8.5-01, R-24
    async fn a_node_that_ends_between_the_revocation_and_the_message_leaves_it_to_the_next_start(kit) {
        let (plane, _folder) = kit.lasting_plane(half_an_hour()).await;
        let (fixture, _) = enrolled_on(plane).await;
        fixture.plane.advance_secs(LIFE_S).await;
        assert_eq!(fixture.plane.acme().webhooks().len(), 0);
        let fixture = restarted(fixture).await;
        assert_eq!(fixture.plane.advance_and_deliver(0).await, 1);
        assert_eq!(fixture.plane.acme().webhooks().len(), 1);
        assert!(is_delivered(&message(&fixture.plane).await));
    }

    /// AAP-8.5-01
    async fn a_node_that_ends_while_it_sends_is_followed_by_another_after_its_lease(kit) {
        let (plane, _folder) = kit.lasting_plane(half_an_hour()).await;
        let (fixture, _) = enrolled_on(plane).await;
        fixture.plane.advance_secs(LIFE_S).await;
        let acme = &fixture.plane.acme().host;
        acme.stall();
        let requests = acme.received().len();
        let engine = Arc::clone(&fixture.plane.engine);
        let sending = tokio::spawn(async move { engine.agents().deliver_webhooks().await });
        acme.wait_for_requests(requests + 1).await;
        sending.abort();
        let _cut = sending.await;
        acme.recover();
        let fixture = restarted(fixture).await;
        assert_eq!(fixture.plane.advance_and_deliver(29).await, 0, "the lease of the first node is not over");
        assert_eq!(fixture.plane.advance_and_deliver(1).await, 1);
        let told = message(&fixture.plane).await;
        assert_eq!((is_delivered(&told), attempts(&told)), (true, 2));
        let received = fixture.plane.acme().webhooks();
        assert_eq!(received[0].headers["webhook-id"], received[1].headers["webhook-id"], "the receiver can drop the repeat");
    }

    /// AAP-17.8-02
    async fn after_a_restart_the_pauses_go_on_growing(kit) {
        let (plane, _folder) = kit.lasting_plane(half_an_hour()).await;
        let (mut fixture, _) = enrolled_on(plane).await;
        fixture.plane.acme().webhook_answers(StatusCode::BAD_GATEWAY);
        fixture.plane.advance_secs(LIFE_S).await;
        let mut pauses = Vec::new();
        for _ in 0..4 {
            next_attempt(&fixture.plane).await;
            pauses.push(message(&fixture.plane).await.due().unwrap().millis_since(fixture.plane.now()));
            fixture = restarted(fixture).await;
        }
        assert!(pauses.windows(2).all(|pair| pair[0] < pair[1]), "{pauses:?}");
        assert_eq!(attempts(&message(&fixture.plane).await), 4);
    }
}

async fn restarted(fixture: AgentFixture) -> AgentFixture {
    let AgentFixture { plane, alice, connected, agent } = fixture;
    AgentFixture { plane: plane.restart().await, alice, connected, agent }
}
