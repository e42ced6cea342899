//! Rules that find gaps, as a project writes them (TOML or JSON), with their test cases.

use super::{Operation, Severity};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A project's settings for clarifications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ClarificationPolicy {
    /// The name under which gaps are asked and signed. Default: `countersign-` and the project's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// How long a session can be answered and confirmed, in seconds.
    pub session_seconds: i64,
    /// Whether the built-in rules apply too.
    pub pack: bool,
    /// The actions (of routes and tools) of each operation that gaps can block. An unlisted action belongs to `build`
    /// if it needs approval, else to none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, Vec<String>>))]
    pub operations: BTreeMap<Operation, Vec<String>>,
    /// The keys of agents whose signed answers must be made with exactly these (W-19).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// The expected findings of the rules; a document with a failing case is not applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<RuleCase>,
}

impl Default for ClarificationPolicy {
    fn default() -> Self {
        Self {
            agent_id: None,
            session_seconds: 86_400,
            pack: true,
            operations: BTreeMap::new(),
            agents: BTreeMap::new(),
            rules: Vec::new(),
            cases: Vec::new(),
        }
    }
}

impl ClarificationPolicy {
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// One rule: the condition it looks for, and the question about it. A member that neither it nor its kind has is
/// refused by [`LooksFor`], which receives all remaining members.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Rule {
    /// Unique among the rules of a project; one with the id of a built-in rule replaces it.
    pub id: String,
    /// Default: WARN for an overlap and a layout, BLOCK for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// May contain `{field}` and the placeholders of the rule's kind. Values are quoted.
    pub question: String,
    /// Why it is asked; may contain the same placeholders.
    pub context: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// Whether only a suggestion is accepted as an answer.
    #[serde(default)]
    pub suggestions_exclusive: bool,
    /// Default: planner, developer and build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_operations: Option<Vec<Operation>>,
    /// Whether a person must answer. Default: for a BLOCK on something irreversible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<bool>,
    /// How the answer is written into the accepted plan.
    #[serde(default)]
    pub answer: AnswerKind,
    /// The rule applies only if all of these hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Condition>,
    #[serde(flatten)]
    pub looks_for: LooksFor,
}

/// The condition of a rule. Paths are dotted; `[*]` is every item of a list, `*` every member of an object, `**` (at
/// the end) every place below, `["a.b"]` a member whose name has dots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum LooksFor {
    /// A member that must be present and not blank, in every existing parent.
    Required { field: String },
    /// A vague text: one of these phrases as whole words, regardless of case and whitespace. `^` before a phrase
    /// anchors it to the beginning of the text, `$` after it to the end. Texts may name `{value}`, `{phrase}`.
    Ambiguous { fields: Vec<String>, phrases: Vec<String> },
    /// One of `selected` is in the list `field`, and its overlap with `overlaps` is not confirmed: `confirmed_in` is an
    /// object with a member `SELECTED-OVERLAPS`. Texts may name `{value}`, `{selected}`, `{overlaps}`.
    Overlap { field: String, pairs: Vec<Pair>, confirmed_in: String },
    /// Values of `fields` belong to different jurisdictions, and `decided_in` is absent. Texts may name `{values}`; a
    /// suggestion with `{each}` is made once for each of them, and `{all}` is `both` or `all`.
    Mismatch { fields: Vec<String>, jurisdictions: BTreeMap<String, String>, decided_in: String },
    /// A language of the list `field` needs a layout that `layout_in` does not name. By primary subtag or script. Texts
    /// may name `{values}`, `{layout}`.
    Layout { field: String, languages: Vec<String>, layout_in: String, layout: String },
    /// If `field` has one of the values `equals`, each of `needs` must be present and not blank. The part before the
    /// last `[*]` or `*` of `needs` must be as in `field`: it refers to the same item. Texts may name `{value}`,
    /// `{cause}`.
    Input { field: String, equals: Vec<Value>, needs: Vec<String> },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Pair {
    pub selected: String,
    pub overlaps: String,
}

/// A condition on the plan: exactly one of the members besides `field` is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Condition {
    pub field: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub present: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    #[default]
    Text,
    Number,
    Boolean,
}

/// A plan and its expected gaps, no more and no fewer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleCase {
    pub name: String,
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub plan: Value,
    #[serde(default)]
    pub gaps: Vec<ExpectedGap>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ExpectedGap {
    pub rule: String,
    pub field: String,
    pub severity: Severity,
}

#[cfg(test)]
mod tests;
