//! A node with a wrong clock neither advances nor delays a deadline: the store's clock decides.

use super::Two;
use countersign_engine::ManualClock;
use countersign_testkit::{
    Answer,
    aaep::{ReceivedEvents, Subscriber},
};
use serde_json::{Value, json};

/// AAEP-6.4-01
#[tokio::test]
async fn at_a_node_whose_clock_is_ahead_an_answer_counts_until_the_stores_deadline_and_no_longer() {
    let mut apart = Apart::by(900).await;
    let (early, late) = (apart.asked(1).await, apart.asked(2).await);
    // By the clock of the second node it is 400 ms past the deadline, by the store's there is half a second left.
    apart.advance_millis(59_500).await;
    apart.two.second.engine.decisions().settle_due().await.unwrap();
    assert_eq!(apart.stands(&late).await["state"], "pending");
    apart.answers(&early).await.expect(204);
    assert_eq!(apart.stands(&early).await["state"], "accepted");

    apart.advance_millis(500).await;
    apart.answers(&late).await.expect(204);
    assert_eq!(apart.stands(&late).await["state"], "pending", "at the deadline it is too late");
    apart.two.second.engine.decisions().settle_due().await.unwrap();
    assert_eq!(apart.stands(&late).await["expired_as"], "reject");
}

/// AAEP-6.4-01
#[tokio::test]
async fn at_a_node_whose_clock_is_behind_the_deadline_comes_no_later() {
    let mut apart = Apart::by(-900).await;
    let late = apart.asked(1).await;
    apart.advance_millis(60_000).await;
    apart.answers(&late).await.expect(204);
    assert_eq!(apart.stands(&late).await["state"], "pending");
    apart.two.second.engine.decisions().settle_due().await.unwrap();
    assert_eq!(apart.stands(&late).await["expired_as"], "reject");
}

/// AAEP-6.4-01
#[tokio::test]
async fn a_node_whose_clock_leaps_settles_nothing_before_its_time_and_turns_no_answer_away_as_late() {
    let mut apart = Apart::by(0).await;
    let asked = apart.asked(1).await;
    apart.clock.advance_secs(600);
    let _whether_it_noticed = apart.two.second.engine.decisions().settle_due().await;
    assert_eq!(apart.stands(&asked).await["state"], "pending");
    // Before it reports a late reply it asks the store; so it detects the leap, and serves nobody until it is corrected.
    apart.answers(&asked).await.expect(503);
    assert_eq!(apart.stands(&asked).await["state"], "pending");
    apart.clock.advance_secs(-600);
    apart.two.second.engine.measure_clock_skew().await.unwrap();
    apart.answers(&asked).await.expect(204);
    assert_eq!(apart.stands(&asked).await["state"], "accepted");
}

/// AAEP-6.4-01
#[tokio::test]
async fn a_node_whose_clock_leaps_back_takes_no_answer_after_the_deadline() {
    let mut apart = Apart::by(0).await;
    let late = apart.asked(1).await;
    apart.advance_millis(60_000).await;
    apart.clock.advance_secs(-600);
    // By its own clock there is time; the store's clock differs, so it detects the leap.
    apart.answers(&late).await.expect(503);
    assert_eq!(apart.stands(&late).await["state"], "pending");
    apart.two.first.engine.decisions().settle_due().await.unwrap();
    assert_eq!(apart.stands(&late).await["expired_as"], "reject");
}

/// Two nodes, the second with a clock of its own and with alice's subscriber.
struct Apart {
    two: Two,
    clock: ManualClock,
    subscriber: Subscriber,
    heard: ReceivedEvents,
}

/// A question with a deadline of one minute, and an approval that was written at once.
struct Asked {
    decision: Value,
    yes: Value,
}

impl Apart {
    async fn by(millis: i64) -> Self {
        let (two, clock) = Two::apart(millis).await;
        let (subscriber, heard) = two.listening_at_the_second().await;
        Self { two, clock, subscriber, heard }
    }

    async fn asked(&mut self, n: i64) -> Asked {
        let decision = self.two.agent.requests_approval(&self.two.first, "notes.archive", json!({ "n": n })).await;
        let question = self.heard.next_of("awaiting.confirmation").await;
        Asked { decision, yes: self.subscriber.approval(&self.two.first, &question) }
    }

    async fn answers(&self, asked: &Asked) -> Answer {
        self.two.reply_to_the_second(&self.subscriber, &asked.yes).await
    }

    /// Its state, from the node with the right clock.
    async fn stands(&self, asked: &Asked) -> Value {
        self.two.agent.reads_decision(&self.two.first, &asked.decision).await.expect(200).json()
    }

    /// Time advances for both nodes and for the store.
    async fn advance_millis(&self, millis: i64) {
        self.clock.advance_millis(millis);
        self.two.first.clock.advance_millis(millis);
        self.two.first.advance_without_settling(0).await;
    }
}
