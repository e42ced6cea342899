//! Several of them at once.

use super::{
    child::Client,
    stage::{PAGE, Stage},
};
use serde_json::json;

/// AAEP-6.7-01, AAEP-6.7.2-02
#[tokio::test]
async fn all_are_asked_the_first_answer_counts_and_the_others_hear_of_it() {
    let stage = Stage::ready().await;
    let (typed, _) = stage.endpoint().await;
    let (pressed, _) = stage.endpoint().await;
    let mut typed = Client::cli_debug(&typed, &[]);
    let mut page = Client::react(&pressed, PAGE);
    page.says_json("a connection", |said| said["status"] == "connected").await;

    let asked = stage.asks_to_pay("Bob").await;
    let one = typed.hears("awaiting.confirmation").await;
    let other = page.hears("awaiting.confirmation").await;
    let same = ["event_id", "reply_token", "timestamp", "action"];
    same.iter().for_each(|member| assert_eq!(one[member], other[member], "{member}"));
    page.says_json("the dialog", |said| said["dialog"] == format!("Confirm: {}", Stage::action_of_paying("Bob"))).await;
    page.is_told(".aaep-button-accept");
    assert_eq!(stage.settled(&asked).await["state"], "accepted");

    // It prompts and reads nothing meanwhile; its rejection comes too late and is acknowledged like any other reply.
    typed.is_told("n");
    for client in [&mut typed, &mut page] {
        let told = client.hears("state.changed").await;
        assert_eq!((&told["from_state"], &told["to_state"]), (&json!("awaiting_input"), &json!("calling_tool")));
        assert!(told["summary_normal"].is_string(), "{told}");
    }
    let settled = stage.settled(&asked).await;
    assert_eq!(settled["state"], "accepted");
    stage.alice_decided(&settled).await;
    stage.does(&settled).await;
    typed.hears("tool.completed").await;
    page.hears("tool.completed").await;
}

/// AAEP-6.3.5-02
#[tokio::test]
async fn of_two_that_answer_at_once_and_differently_one_is_heard() {
    let stage = Stage::ready().await;
    let (first, _) = stage.endpoint().await;
    let (second, _) = stage.endpoint().await;
    let mut accepts = Client::cli_debug(&first, &["--auto-accept"]);
    // It does not report its connection; its answer shows it.
    stage.settled(&stage.asks_to_pay("Alan").await).await;
    let mut rejects = Client::narrator(&second, &["--auto-reject"]);
    rejects.says_words("Connected to AAEP producer").await;
    for whom in ["Bob", "Carol", "Dave"] {
        let asked = stage.asks_to_pay(whom).await;
        let action = Stage::action_of_paying(whom);
        accepts.says_json("the question", |event| event["action"] == action).await;
        rejects.says_words(&format!("Confirmation required: {action}")).await;
        let settled = stage.settled(&asked).await;
        let told = accepts.says_json("how it ended", |event| event["from_state"] == "awaiting_input").await;
        let to = if settled["state"] == "accepted" { "calling_tool" } else { "thinking" };
        assert_eq!(told["to_state"], to, "{settled}");
        assert_eq!(stage.settled(&asked).await["state"], settled["state"]);
        stage.alice_decided(&settled).await;
    }
}

#[tokio::test]
async fn a_second_one_with_the_same_address_hears_the_same_and_may_answer() {
    let stage = Stage::ready().await;
    let (endpoint, _) = stage.endpoint().await;
    let mut one = Client::cli_debug(&endpoint, &[]);
    let asked = stage.asks_to_pay("Bob").await;
    let heard = one.hears("awaiting.confirmation").await;
    let mut other = Client::narrator(&endpoint, &["--auto-accept"]);
    other.says_words(&format!("Confirmation required: {}", Stage::action_of_paying("Bob"))).await;
    let settled = stage.settled(&asked).await;
    assert_eq!(settled["state"], "accepted");
    stage.alice_decided(&settled).await;
    assert_eq!(heard["reply_token"].as_str().map(|token| token.starts_with("rpl_")), Some(true));
}
