//! A used token stays used, through restarts.

use countersign_testkit::{Setup, decisions::DecisionFixture, on_both_stores};
use serde_json::json;

on_both_stores! {
    /// AAEP-6.2.2-01, AAEP-6.2.2-03
    async fn a_token_is_still_used_up_a_day_and_a_restart_after_its_question_was_settled(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        let (subscriber, mut heard) = alice.subscribed(&plane).await;
        let settled = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let old = heard.next_of("awaiting.confirmation").await;
        subscriber.rejects(&plane, &old).await.expect(204);
        drop(heard);

        let plane = plane.restart().await;
        plane.advance_secs(25 * 3600).await;
        plane.engine.run_maintenance().await.unwrap();
        let again = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let mut heard = subscriber.opens_stream(&plane).await;
        let new = heard.next_of("awaiting.confirmation").await;
        assert_ne!(new["reply_token"], old["reply_token"]);
        subscriber.accepts(&plane, &old).await.expect(204);
        assert_eq!(agent.reads_decision(&plane, &settled).await.expect(200).json()["state"], "rejected");
        assert_eq!(agent.reads_decision(&plane, &again).await.expect(200).json()["state"], "pending");
    }
}
