//! A refusal because of open clarification gaps (Clarification 8).

use serde_json::{Map, Value, json};

/// The clarification session and its blocking gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclear {
    pub session_id: String,
    /// Id, field and question of each gap.
    pub gaps: Vec<(String, String, String)>,
}

impl std::fmt::Display for Unclear {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.gaps.as_slice() {
            [] => f.write_str("the plan was clarified, and is to be confirmed first"),
            [(id, field, question)] => write!(f, "{id} is open ({field}): {question}"),
            [(id, field, question), more @ ..] => {
                write!(f, "{id} is open ({field}): {question} (and {} more)", more.len())
            }
        }
    }
}

impl Unclear {
    pub fn hint(&self) -> String {
        match self.gaps.is_empty() {
            true => "confirm the plan of the session: /v1/clarification/confirm-plan".into(),
            false => {
                "answer with /v1/clarification/resolve-gap (an empty answer has a person asked), or submit a plan that \
                      says it in the same session"
                    .into()
            }
        }
    }

    /// Members of the error response: the questions to answer, and the address for the answers.
    pub fn members(&self) -> Map<String, Value> {
        let gaps: Vec<Value> = self
            .gaps
            .iter()
            .map(|(id, field, question)| json!({ "id": id, "field": field, "question": question }))
            .collect();
        let members = [("session_id", json!(self.session_id)), ("gaps", Value::Array(gaps))];
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
