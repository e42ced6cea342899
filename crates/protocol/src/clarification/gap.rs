//! One missing or unclear member at one place of a plan (Clarification 4).

use serde::{Deserialize, Serialize};

/// A question about exactly one field, asked instead of guessing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// `gap-001`: counts within the session, never reused (W-24).
    pub id: String,
    /// The dotted path of the member in question.
    pub field: String,
    /// The same place as a JSON Pointer (W-25). We always emit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    pub severity: Severity,
    pub question: String,
    /// Why it is asked.
    pub context: String,
    /// Possible answers; may be empty.
    pub suggestions: Vec<String>,
    /// Whether only a suggestion is accepted as an answer. Omitted if false.
    #[serde(default, skip_serializing_if = "is_false")]
    pub suggestions_exclusive: bool,
    pub blocked_operations: Vec<Operation>,
    /// Whether only a person's answer resolves it. Omitted if false.
    #[serde(default, skip_serializing_if = "is_false")]
    pub person_must_answer: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Both block all generation; only a WARN may be answered with the word `accept` (W-05).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Severity {
    Warn,
    Block,
}

/// The operations that an open gap can block (W-26).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    Planner,
    Developer,
    Build,
    Attest,
}

impl Operation {
    pub const ALL: [Self; 4] = [Self::Planner, Self::Developer, Self::Build, Self::Attest];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Developer => "developer",
            Self::Build => "build",
            Self::Attest => "attest",
        }
    }
}
