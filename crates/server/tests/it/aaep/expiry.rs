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
}
