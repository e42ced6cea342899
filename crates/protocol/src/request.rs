//! The call behind an approval, as a question shows it: complete, in every channel.

use crate::visible::{Lookalike, quoted};
use serde::{Deserialize, Serialize};

/// The call that an approval covers. It is in the event under `extensions.dev_countersign.runs` and in the list of open
/// questions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WhatRuns {
    /// The question's own sentence, by the owner or the agent. `action` combines it with everything below.
    pub sentence: String,
    /// The consequence, by the same author.
    pub consequence: String,
    /// The tool that an agent's question names; none for a request at the gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Everything of the request, or every argument of the tool.
    pub details: Vec<RequestDetail>,
}

/// One member of the call. Name and value contain only visible characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestDetail {
    pub place: DetailPlace,
    /// The dotted path: `to.iban`, `items.0.price`. A step with anything but letters, digits, `_` and `-` is between “
    /// and ”. Empty if the place is sufficient.
    pub name: String,
    pub value: String,
    pub kind: ValueKind,
    /// The texts of the question in which the owner's template has this value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named_in: Vec<Text>,
    /// The step of a plan, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// The words of the value that are easily misread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lookalikes: Vec<Lookalike>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DetailPlace {
    Path,
    Query,
    Header,
    ContentType,
    /// A member of a parsed body; without a name the whole body: its value, or size and digest.
    Body,
    /// An argument of a tool.
    Argument,
    /// The tool or route that a step of a plan calls.
    Tool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ValueKind {
    /// The sender's text, always displayed in quotes.
    Text,
    /// A number, `true`, `false`, `null`, `[]`, `{}`; or our own text, such as the size of a body or a bound.
    Literal,
}

/// The author of the text that a person reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TextAuthor {
    /// The agent's own text, unverified.
    Agent,
    /// Rendered from the request by the template of the API's owner.
    Owner,
}

/// The texts of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Text {
    Action,
    Consequence,
    Terse,
    Normal,
    Detailed,
}

impl RequestDetail {
    /// Whether the sentence that is always shown, or its consequence, contains it.
    pub fn is_named(&self) -> bool {
        self.is_named_in(Text::Action) || self.is_named_in(Text::Consequence)
    }

    pub fn is_named_in(&self, text: Text) -> bool {
        self.named_in.contains(&text)
    }

    /// The value as text: the sender's text in quotes, everything else unchanged.
    pub fn value_text(&self) -> String {
        match self.kind {
            ValueKind::Text => quoted(&self.value),
            ValueKind::Literal => self.value.clone(),
        }
    }
}

impl WhatRuns {
    /// The details that not all of the others have with the same value in the same place.
    pub fn differing(&self, others: &[&Self]) -> Vec<&RequestDetail> {
        let same = |one: &RequestDetail, other: &RequestDetail| {
            (one.step, one.place, &one.name, &one.value) == (other.step, other.place, &other.name, &other.value)
        };
        let has = |other: &Self, detail: &RequestDetail| other.details.iter().any(|that| same(detail, that));
        self.details.iter().filter(|detail| !others.iter().all(|other| has(other, detail))).collect()
    }
}
