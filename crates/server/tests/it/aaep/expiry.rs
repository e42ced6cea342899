//! A reply must arrive in time and claim to be of that time (AAEP 6.3.4, E-03).

use super::Waiting;
use countersign_testkit::{aaep::moment, on_sqlite};
use serde_json::json;

on_sqlite! {
    /// AAEP-6.3.4-04
    async fn a_reply_that_claims_to_be_of_the_deadline_or_later_does_not_count(kit) {
        let waiting = Waiting::on(kit).await;
        let seconds = waiting.question["timeout_seconds"].as_i64().unwrap();
        for late in [seconds, seconds + 60] {
            let at = moment(waiting.plane.now().plus_secs(late));
            waiting.does_not_count(&waiting.yes_but(|reply| reply["timestamp"] = json!(at))).await;
        }
        let at = moment(waiting.plane.now().plus_secs(seconds).plus_millis(-1));
        waiting.counts(&waiting.yes_but(|reply| reply["timestamp"] = json!(at)), "accepted").await;
    }

    /// AAEP-6.3.4-04
    async fn a_clock_may_be_slow_by_five_minutes_and_no_more(kit) {
        let waiting = Waiting::on(kit).await;
        let before = |seconds: i64| moment(waiting.plane.now().plus_secs(-seconds));
        waiting.does_not_count(&waiting.yes_but(|reply| reply["timestamp"] = json!(before(301)))).await;
        waiting.counts(&waiting.yes_but(|reply| reply["timestamp"] = json!(before(200))), "accepted").await;
    }

    /// AAEP-6.3.4-04
    async fn a_late_reply_that_is_dated_back_does_not_count(kit) {
        let waiting = Waiting::on(kit).await;
        let reply = waiting.yes_but(|_| {});
        let seconds = waiting.question["timeout_seconds"].as_i64().unwrap();
        waiting.plane.advance_unseen(seconds).await;
        waiting.does_not_count(&reply).await;
        waiting.plane.advance_secs(1).await;
        let document = waiting.document().await;
        assert_eq!((&document["state"], &document["expired_as"]), (&json!("expired"), &json!("reject")));
        assert_eq!(waiting.replies(&reply).await.status, 204);
        assert_eq!(waiting.document().await, document);
    }
}
