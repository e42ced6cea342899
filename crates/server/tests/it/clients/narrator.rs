//! PyPI's `aaep-narrator-bridge`, without a screen reader.

use super::{child::Client, stage::Stage};
use serde_json::json;

#[tokio::test]
async fn it_reads_out_the_question_and_its_approval_and_rejection_count() {
    let stage = Stage::ready().await;
    for (flag, state) in [("--auto-accept", "accepted"), ("--auto-reject", "rejected")] {
        let (endpoint, _) = stage.endpoint().await;
        let mut client = Client::narrator(&endpoint, &[flag]);
        client.says_words("Connected to AAEP producer").await;
        let asked = stage.asks_to_pay(state).await;
        client.says_words(&format!("Confirmation required: {}", Stage::action_of_paying(state))).await;
        let settled = stage.settled(&asked).await;
        assert_eq!(settled["state"], state);
        stage.alice_decided(&settled).await;
    }
}

/// The bridge can only announce it.
#[tokio::test]
async fn it_announces_a_question_for_a_text_which_stays_open() {
    let stage = Stage::ready().await;
    let (endpoint, _) = stage.endpoint().await;
    let mut client = Client::narrator(&endpoint, &["--auto-accept"]);
    client.says_words("Connected to AAEP producer").await;
    let asked = stage.clarifies(json!({ "question": "Where are you?" })).await;
    client.says_words("Where are you? (Clarification UI not yet implemented").await;
    assert_eq!(stage.state_of(&asked).await, "pending");
}
