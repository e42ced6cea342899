use super::*;
use serde_json::json;

fn question() -> String {
    let choices = json!([{ "value": "lhr", "label": "Heathrow" }, { "value": "Heathrow2", "label": "lhr" }]);
    json!({ "type": "aaep:agent.awaiting.clarification", "reply_token": "rpl_1", "choices": choices }).to_string()
}

fn answered(response: &str) -> Value {
    let (_, offer) = with_options(&question()).unwrap();
    let mut offered = Offered::default();
    offered.remember(offer);
    let mut reply = json!({ "type": "clarification.reply", "reply_token": "rpl_1", "response": response });
    offered.say_value_for_label(&mut reply);
    reply["response"].clone()
}

#[test]
fn a_question_without_choices_stays_unchanged() {
    assert!(with_options(r#"{"type":"aaep:agent.state.changed","choices":[]}"#).is_none());
    assert!(with_options(r#"{"type":"aaep:agent.awaiting.clarification","question":"?"}"#).is_none());
}

#[test]
fn labels_are_offered_and_a_label_that_comes_back_means_its_value() {
    let (event, _) = with_options(&question()).unwrap();
    let event: Value = serde_json::from_str(&event).unwrap();
    assert_eq!(event["options"], json!(["Heathrow", "lhr"]));
    assert_eq!(answered("Heathrow"), "lhr");
}

#[test]
fn a_value_means_itself_and_anything_else_stays() {
    assert_eq!(answered("lhr"), "lhr");
    assert_eq!(answered("Gatwick"), "Gatwick");
}
