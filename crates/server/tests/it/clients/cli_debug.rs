//! `aaep-listen` of PyPI's `aaep-cli-debug`.

use super::{child::Client, stage::Stage};
use serde_json::json;

/// It connects while a question is open and receives it; the next one it receives as it is raised.
///
/// AAEP-6.7-02
#[tokio::test]
async fn its_approval_is_by_the_person_of_the_token_in_its_address() {
    let stage = Stage::ready().await;
    let (endpoint, _) = stage.endpoint().await;
    let earlier = stage.asks_to_pay("Bob").await;
    let mut client = Client::cli_debug(&endpoint, &["--auto-accept"]);
    let heard = client.hears("awaiting.confirmation").await;
    assert_eq!((&heard["action"], &heard["urgency"]), (&json!(Stage::action_of_paying("Bob")), &json!("critical")));
    // It prints the summary: AAEP 9.3.1 requires one in every question.
    assert!(heard["summary_normal"].as_str().is_some_and(|text| text.contains("payments.send")), "{heard}");
    let settled = stage.settled(&earlier).await;
    assert_eq!(settled["state"], "accepted");
    stage.alice_decided(&settled).await;

    let later = stage.asks_to_pay("Carol").await;
    assert_eq!(client.hears("awaiting.confirmation").await["action"], Stage::action_of_paying("Carol"));
    let settled = stage.settled(&later).await;
    stage.alice_decided(&settled).await;
    stage.does(&settled).await;
    client.hears("tool.invoked").await;
    assert_eq!(client.hears("tool.completed").await["status"], "success");
}

#[tokio::test]
async fn its_rejection_rejects() {
    let stage = Stage::ready().await;
    let (endpoint, _) = stage.endpoint().await;
    let asked = stage.asks_to_pay("Bob").await;
    let mut client = Client::cli_debug(&endpoint, &["--auto-reject"]);
    client.hears("awaiting.confirmation").await;
    let settled = stage.settled(&asked).await;
    assert_eq!(settled["state"], "rejected");
    stage.alice_decided(&settled).await;
    let told = client.says_json("back to thinking", |event| event["from_state"] == "awaiting_input").await;
    assert_eq!(told["to_state"], "thinking");
}

#[tokio::test]
async fn a_person_types_an_approval_a_text_and_the_number_of_a_choice() {
    let stage = Stage::ready().await;
    let (endpoint, _) = stage.endpoint().await;
    let mut client = Client::cli_debug(&endpoint, &[]);

    let pay = stage.asks_to_pay("Bob").await;
    client.hears("awaiting.confirmation").await;
    assert_eq!(stage.state_of(&pay).await, "pending");
    client.is_told("y");
    let settled = stage.settled(&pay).await;
    assert_eq!(settled["state"], "accepted");
    stage.alice_decided(&settled).await;

    let place = stage.clarifies(json!({ "question": "Where are you?" })).await;
    client.hears("awaiting.clarification").await;
    client.is_told("Lagos, by the water");
    let settled = stage.settled(&place).await;
    assert_eq!((&settled["state"], &settled["response"]), (&json!("answered"), &json!("Lagos, by the water")));
    stage.alice_decided(&settled).await;

    let choices = json!([{ "value": "s", "label": "The small one" }, { "value": "l", "label": "The large one" }]);
    let which = stage
        .clarifies(
            json!({ "question": "Which room?", "accepted_response_kinds": ["multiple_choice"], "choices": choices }),
        )
        .await;
    let heard = client.hears("awaiting.clarification").await;
    assert_eq!(heard["options"], json!(["The small one", "The large one"]));
    client.is_told("2");
    assert_eq!(stage.settled(&which).await["response"], "l");
}

/// In the person's absence it sends an empty text, which is no reply.
#[tokio::test]
async fn its_empty_answer_leaves_a_question_open() {
    let stage = Stage::ready().await;
    let (endpoint, _) = stage.endpoint().await;
    let mut client = Client::cli_debug(&endpoint, &["--auto-accept"]);
    let place = stage.clarifies(json!({ "question": "Where are you?" })).await;
    client.hears("awaiting.clarification").await;
    // It processes one event after the other: once this is settled, the empty answer was processed.
    let pay = stage.asks_to_pay("Bob").await;
    assert_eq!(stage.settled(&pay).await["state"], "accepted");
    assert_eq!(stage.state_of(&place).await, "pending");
}

#[tokio::test]
async fn with_a_token_that_only_reads_it_hears_everything_and_decides_nothing() {
    let stage = Stage::ready().await;
    let (reads, _) = stage.endpoint_like(json!({ "name": "a log", "legacy": true, "may_answer": false })).await;
    let mut client = Client::cli_debug(&reads, &["--auto-accept"]);
    let first = stage.asks_to_pay("Bob").await;
    client.hears("awaiting.confirmation").await;
    let second = stage.asks_to_pay("Carol").await;
    // It answers the first question before it reads the second one.
    client.says_json("the second question", |event| event["action"] == Stage::action_of_paying("Carol")).await;
    assert_eq!(stage.state_of(&first).await, "pending");
    assert_eq!(stage.state_of(&second).await, "pending");
}

#[tokio::test]
async fn once_its_token_is_taken_back_its_stream_ends_and_none_begins() {
    let stage = Stage::ready().await;
    let (endpoint, id) = stage.endpoint().await;
    stage.asks_to_pay("Bob").await;
    let mut client = Client::cli_debug(&endpoint, &["--filter-urgency", "normal"]);
    client.says_json("where things stand", |event| event["to_state"] == "awaiting_input").await;
    let path = format!("/aaep/v1/subscriber-tokens/{id}");
    stage.alice.send(&stage.plane, http::Method::DELETE, &path, &json!({})).await.expect(200);
    let (_, said) = client.ends().await;
    assert!(said.contains("Stop reason: completed"), "{said}");

    let (status, said) = Client::cli_debug(&endpoint, &[]).ends().await;
    assert!(!status.success() && said.contains("http_404"), "{said}");
}
