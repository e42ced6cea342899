//! A message survives its node.

use super::{LIFE_S, attempts, enrolled_on, half_an_hour, is_delivered, message, next_attempt};
use countersign_testkit::{Scene, on_both_stores};
use http::StatusCode;
use std::sync::Arc;

on_both_stores! {
    /// AAP-8.5-01, R-24
    async fn a_node_that_ends_between_the_revocation_and_the_message_leaves_it_to_the_next_start(kit) {
        let (plane, _folder) = kit.lasting_plane(half_an_hour()).await;
        let (scene, _) = enrolled_on(plane).await;
        scene.plane.advance_secs(LIFE_S).await;
        assert_eq!(scene.plane.acme().webhooks().len(), 0);
        let scene = restarted(scene).await;
        assert_eq!(scene.plane.advance_and_deliver(0).await, 1);
        assert_eq!(scene.plane.acme().webhooks().len(), 1);
        assert!(is_delivered(&message(&scene.plane).await));
    }

    /// AAP-8.5-01
    async fn a_node_that_ends_while_it_sends_is_followed_by_another_after_its_lease(kit) {
        let (plane, _folder) = kit.lasting_plane(half_an_hour()).await;
        let (scene, _) = enrolled_on(plane).await;
        scene.plane.advance_secs(LIFE_S).await;
        let acme = &scene.plane.acme().host;
        acme.stall();
        let requests = acme.received().len();
        let engine = Arc::clone(&scene.plane.engine);
        let sending = tokio::spawn(async move { engine.agents().deliver_webhooks().await });
        acme.has_received(requests + 1).await;
        sending.abort();
        let _cut = sending.await;
        acme.come_back();
        let scene = restarted(scene).await;
        assert_eq!(scene.plane.advance_and_deliver(29).await, 0, "the lease of the first node is not over");
        assert_eq!(scene.plane.advance_and_deliver(1).await, 1);
        let told = message(&scene.plane).await;
        assert_eq!((is_delivered(&told), attempts(&told)), (true, 2));
        let received = scene.plane.acme().webhooks();
        assert_eq!(received[0].headers["webhook-id"], received[1].headers["webhook-id"], "the receiver can drop the repeat");
    }

    /// AAP-17.8-02
    async fn after_a_restart_the_pauses_go_on_growing(kit) {
        let (plane, _folder) = kit.lasting_plane(half_an_hour()).await;
        let (mut scene, _) = enrolled_on(plane).await;
        scene.plane.acme().webhook_answers(StatusCode::BAD_GATEWAY);
        scene.plane.advance_secs(LIFE_S).await;
        let mut pauses = Vec::new();
        for _ in 0..4 {
            next_attempt(&scene.plane).await;
            pauses.push(message(&scene.plane).await.due().unwrap().millis_since(scene.plane.now()));
            scene = restarted(scene).await;
        }
        assert!(pauses.windows(2).all(|pair| pair[0] < pair[1]), "{pauses:?}");
        assert_eq!(attempts(&message(&scene.plane).await), 4);
    }
}

async fn restarted(scene: Scene) -> Scene {
    let Scene { plane, alice, connected, agent } = scene;
    Scene { plane: plane.restart().await, alice, connected, agent }
}
