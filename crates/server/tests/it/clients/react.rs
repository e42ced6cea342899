//! npm's `@aaep/web-subscriber-react`, in a page of another origin.

use super::{
    child::Client,
    stage::{PAGE, Stage},
};
use serde_json::{Value, json};

const ACCEPT: &str = ".aaep-button-accept";
const REJECT: &str = ".aaep-button-reject";

#[tokio::test]
async fn a_page_that_is_not_on_the_list_hears_nothing() {
    let stage = Stage::ready().await;
    let (endpoint, _) = stage.endpoint().await;
    let asked = stage.asks_to_pay("Bob").await;
    let mut page = Client::react(&endpoint, "https://elsewhere.example.test");
    let told =
        page.says_json("an event or the end", |said| said["event"].is_object() || is(said, "disconnected")).await;
    assert!(is(&told, "disconnected"), "{told}");
    assert_eq!(stage.state_of(&asked).await, "pending");
}

#[tokio::test]
async fn its_buttons_and_keys_answer_in_the_name_of_the_person() {
    let stage = Stage::ready().await;
    let (endpoint, _) = stage.endpoint().await;
    let mut page = Client::react(&endpoint, PAGE);
    page.says_json("a connection", |said| is(said, "connected")).await;
    for (control, state) in [(ACCEPT, "accepted"), (REJECT, "rejected"), ("key a", "accepted")] {
        let whom = format!("{control} {state}");
        let asked = stage.asks_to_pay(&whom).await;
        page.says_json("the dialog", |said| said["dialog"] == format!("Confirm: {}", Stage::action_of_paying(&whom)))
            .await;
        page.is_told(control);
        assert_eq!(page.says_json("the answer's status", |said| !said["replied"].is_null()).await["replied"], 204);
        let settled = stage.settled(&asked).await;
        assert_eq!(settled["state"], state);
        stage.alice_decided(&settled).await;
    }
}

#[tokio::test]
async fn it_offers_choices_by_their_labels_and_the_value_is_the_answer() {
    let stage = Stage::ready().await;
    let (endpoint, _) = stage.endpoint().await;
    let mut page = Client::react(&endpoint, PAGE);
    let choices = json!([{ "value": "s", "label": "The small one" }, { "value": "l", "label": "The large one" }]);
    let asked = stage
        .clarifies(
            json!({ "question": "Which room?", "accepted_response_kinds": ["multiple_choice"], "choices": choices }),
        )
        .await;
    page.says_json("the dialog", |said| said["dialog"] == "Which room?").await;
    page.is_told("li:nth-child(2) .aaep-button-option");
    let settled = stage.settled(&asked).await;
    assert_eq!(settled["response"], "l");
    stage.alice_decided(&settled).await;
}

/// AAEP-6.7-02
#[tokio::test]
async fn after_an_outage_it_connects_again_and_gets_the_questions_raised_meanwhile() {
    let mut stage = Stage::ready().await;
    let (endpoint, _) = stage.endpoint().await;
    let mut page = Client::react(&endpoint, PAGE);
    page.says_json("a connection", |said| is(said, "connected")).await;
    stage.goes_down().await;
    page.says_json("an outage", |said| is(said, "reconnecting")).await;
    let asked = stage.asks_to_pay("Bob").await;
    stage.comes_back().await;
    page.says_json("a connection", |said| is(said, "connected")).await;
    page.says_json("the dialog", |said| said["dialog"] == format!("Confirm: {}", Stage::action_of_paying("Bob"))).await;
    page.is_told(ACCEPT);
    let settled = stage.settled(&asked).await;
    assert_eq!(settled["state"], "accepted");
    stage.alice_decided(&settled).await;
}

fn is(said: &Value, status: &str) -> bool {
    said["status"] == status
}
