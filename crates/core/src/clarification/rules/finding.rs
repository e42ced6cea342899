//! A finding: one gap in a plan, before its session numbers it.

use super::{
    Rules,
    evaluate::Seen,
    gather::MergedFinding,
    path,
    places::Places,
    text::{Name, listed, quoted},
};
use countersign_protocol::{
    clarification::{
        AnswerKind, Operation, Severity,
        limits::{MAX_GAPS, MAX_STRING},
    },
    hash::Digest,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub rule: String,
    /// The dotted path of the place.
    pub field: String,
    /// The same place as a JSON Pointer.
    pub pointer: String,
    pub severity: Severity,
    pub question: String,
    pub context: String,
    pub suggestions: Vec<String>,
    /// Whether only a suggestion is accepted as an answer.
    pub exclusive: bool,
    pub blocked: Vec<Operation>,
    /// Whether a person must answer; none: decided by the default.
    pub person: Option<bool>,
    pub answer: AnswerKind,
}

/// More than a message can carry (W-32).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooManyGaps {
    #[error("the plan has more than {MAX_GAPS} gaps: fill in the obvious values first, or submit it in parts")]
    Gaps,
    #[error(
        "rule {rule:?} found a gap whose {member} is longer than {MAX_STRING} characters: shorten the names in the plan"
    )]
    Text { rule: String, member: &'static str },
}

impl Finding {
    /// Identifies the same finding in a changed plan. Covers everything that its reader sees.
    pub fn fingerprint(&self) -> Digest {
        let texts = [&self.rule, &self.pointer, &self.question, &self.context];
        let flags = format!("{:?} {} {:?} {:?}", self.severity, self.exclusive, self.person, self.answer);
        let blocked = self.blocked.iter().map(|operation| operation.as_str());
        let all = texts.into_iter().map(String::as_str).chain([flags.as_str()]).chain(blocked);
        let mut bytes = Vec::new();
        for text in all.chain(self.suggestions.iter().map(String::as_str)) {
            // A length prefix keeps one text from running into the next.
            bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        Digest::of(&bytes)
    }

    fn check(self) -> Result<Self, TooManyGaps> {
        let members = [("pointer", &self.pointer), ("field", &self.field), ("question", &self.question)];
        let members = members.into_iter().chain([("context", &self.context)]);
        let texts = members.chain(self.suggestions.iter().map(|text| ("suggestions", text)));
        let long = texts.filter(|(_, text)| text.chars().count() > MAX_STRING).map(|(member, _)| member).next();
        match long {
            Some(member) => Err(TooManyGaps::Text { rule: self.rule, member }),
            None => Ok(self),
        }
    }
}

/// Fills in the texts of a finding.
pub(super) fn finding(kept: MergedFinding<'_>, rules: &Rules, places: &Places<'_>) -> Result<Finding, TooManyGaps> {
    let field = path::field(&kept.tokens);
    let say = |name: Name| match name {
        Name::Field => quoted(&field),
        name => kept.hit.seen.placeholder_text(name, rules, places),
    };
    let rule = kept.rule;
    let (question, context) = (rule.question.render(say), rule.context.render(say));
    let finding = Finding {
        rule: rule.id.clone(),
        severity: rule.severity,
        question,
        context,
        suggestions: suggestions(&rule.suggestions, &kept.hit.seen),
        exclusive: rule.exclusive,
        blocked: kept.blocked,
        person: kept.person,
        answer: rule.answer,
        field,
        pointer: kept.pointer,
    };
    finding.check()
}

impl Seen<'_> {
    /// The text for a placeholder. Compiling has rejected every placeholder that this kind of rule lacks.
    fn placeholder_text(&self, name: Name, rules: &Rules, places: &Places<'_>) -> String {
        match (self, name) {
            (Self::Phrase { text, .. } | Self::Overlap { text, .. }, Name::Value) => quoted(text),
            (Self::Phrase { phrase, .. }, Name::Phrase) => quoted(rules.lookout.phrase(*phrase)),
            (Self::Overlap { overlap, .. }, Name::Selected) => overlap.selected.clone(),
            (Self::Overlap { overlap, .. }, Name::Overlaps) => overlap.overlaps.clone(),
            (Self::Jurisdictions(seen), Name::Values) => {
                let values = seen.iter().map(|(text, found)| format!("{} ({})", quoted(text), found.of));
                listed(&values.collect::<Vec<_>>())
            }
            (Self::Languages { tags, .. }, Name::Values) => {
                listed(&tags.iter().map(|tag| quoted(tag)).collect::<Vec<_>>())
            }
            (Self::Languages { layout, .. }, Name::Layout) => (*layout).to_owned(),
            (Self::Cause { value: Value::String(text), .. }, Name::Value) => quoted(text),
            (Self::Cause { value, .. }, Name::Value) => quoted(&value.to_string()),
            (Self::Cause { place, .. }, Name::Cause) => quoted(&path::field(&places.tokens(*place))),
            _ => String::new(),
        }
    }
}

/// Expands a suggestion with `{each}` once per jurisdiction found; `{all}` becomes "both" or "all".
fn suggestions(written: &[String], seen: &Seen<'_>) -> Vec<String> {
    let Seen::Jurisdictions(seen) = seen else { return written.to_vec() };
    let all = if seen.len() == 2 { "both" } else { "all" };
    let mut made = Vec::new();
    for text in written {
        let text = text.replace("{all}", all);
        if text.contains("{each}") {
            made.extend(seen.iter().map(|(_, found)| text.replace("{each}", &found.slug)));
        } else {
            made.push(text);
        }
    }
    made
}
