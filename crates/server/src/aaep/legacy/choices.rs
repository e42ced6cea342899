//! Legacy clients expect choices as a list of texts called `options`, which the protocol does not have. They get the
//! labels there, and a label in their reply is replaced by its value.

use countersign_protocol::aaep::event::Choice;
use serde_json::Value;
use std::collections::VecDeque;

/// Number of questions with choices remembered for a token.
const REMEMBERED: usize = 64;

/// The choices of one question.
pub(super) struct Offer {
    reply_token: String,
    choices: Vec<Choice>,
}

#[derive(Default)]
pub(super) struct Offered(VecDeque<Offer>);

impl Offered {
    pub(super) fn remember(&mut self, offer: Offer) {
        self.0.retain(|known| known.reply_token != offer.reply_token);
        self.0.push_back(offer);
        if self.0.len() > REMEMBERED {
            self.0.pop_front();
        }
    }

    /// Replaces a label with its value. A response that equals a value stays, even if it is also the label of another
    /// choice.
    pub(super) fn say_value_for_label(&self, reply: &mut Value) {
        let Some(token) = reply.get("reply_token").and_then(Value::as_str) else { return };
        let Some(offer) = self.0.iter().find(|offer| offer.reply_token == token) else { return };
        let Some(said) = reply.get("response").and_then(Value::as_str) else { return };
        if offer.choices.iter().any(|choice| choice.value == said) {
            return;
        }
        let meant = offer.choices.iter().find(|choice| choice.label == said).map(|choice| choice.value.clone());
        if let (Some(value), Some(response)) = (meant, reply.get_mut("response")) {
            *response = Value::String(value);
        }
    }
}

/// The event with `options`, if it offers choices.
pub(super) fn with_options(json: &str) -> Option<(String, Offer)> {
    // Most events are of another kind; skip parsing them.
    if !json.contains("aaep:agent.awaiting.clarification") {
        return None;
    }
    let mut event: Value = serde_json::from_str(json).ok()?;
    let choices: Vec<Choice> = serde_json::from_value(event.get("choices")?.clone()).ok()?;
    let reply_token = event.get("reply_token")?.as_str()?.to_owned();
    let labels = choices.iter().map(|choice| Value::String(choice.label.clone())).collect();
    event.as_object_mut()?.insert("options".into(), Value::Array(labels));
    Some((serde_json::to_string(&event).ok()?, Offer { reply_token, choices }))
}

#[cfg(test)]
mod tests {
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
    fn what_offers_no_choices_is_left_as_it_is() {
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
    fn a_value_means_itself_and_what_is_neither_stays() {
        assert_eq!(answered("lhr"), "lhr");
        assert_eq!(answered("Gatwick"), "Gatwick");
    }
}
