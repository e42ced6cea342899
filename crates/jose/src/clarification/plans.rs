//! The plans of a session: each matches its digest in the chain, and every value of the accepted plan was submitted,
//! or is an answer (Clarification 7).

use super::{
    Flaw, Wrong,
    chain::Walk,
    shape::{equal_ignoring_case, read_unbounded},
};
use countersign_protocol::clarification::{DigestText, Gap, Severity, SubmittedPlan, signed};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The submitted plans, oldest first. The chain signs their digests and their changes.
pub(super) fn check_submitted(document: &Value, walk: &Walk<'_>) -> Result<Vec<SubmittedPlan>, Wrong> {
    let plans: Vec<SubmittedPlan> = read_unbounded(document)?;
    let (expected, found) = (walk.plans.len(), plans.len());
    for (at, (plan, (digest, _))) in plans.iter().zip(&walk.plans).enumerate() {
        check_digest(plan, digest).map_err(|wrong| wrong.under(&format!("[{at}]")))?;
    }
    if expected != found {
        return Err(Wrong::at("", Flaw::WrongPlans { expected, found }));
    }
    Ok(plans)
}

fn check_digest(plan: &SubmittedPlan, asked_about: &DigestText) -> Result<(), Wrong> {
    if plan.plan_digest != *asked_about {
        return Err(Wrong::at("plan_digest", Flaw::AnotherPlan));
    }
    if signed::plan_digest(&plan.plan_object)? != plan.plan_digest.0 {
        return Err(Wrong::at("plan_object", Flaw::PlanChanged));
    }
    Ok(())
}

/// Compares the accepted plan with the last submitted one. An error names the first difference that no answer explains,
/// by its JSON Pointer.
pub(super) fn check_accepted(submitted: &Value, accepted: &Value, walk: &Walk<'_>) -> Result<(), Wrong> {
    let answers = Answers::of(walk);
    answers.check_difference(Some(submitted), Some(accepted), "")?;
    answers.check_answers(accepted)
}

/// The answers that settled a gap, by their places. Several at one place are rare: rules can ask about it twice.
struct Answers<'w> {
    at: BTreeMap<String, Vec<Answer<'w>>>,
}

struct Answer<'w> {
    gap: &'w Gap,
    answer: &'w str,
    /// An answer about the last plan that changes it. An answer about an earlier plan counts only if the last one
    /// raises the same question, which the chain does not show.
    applies: bool,
}

impl<'w> Answers<'w> {
    fn of(walk: &'w Walk<'_>) -> Self {
        let mut at: BTreeMap<String, Vec<Answer<'w>>> = BTreeMap::new();
        for seen in &walk.rounds {
            let (gap, answer) = (&seen.round.gap, seen.round.answer.as_str());
            if walk.settled(&gap.id).is_some_and(|last| last.round == seen.round.round) {
                let applies = seen.plan + 1 == walk.plans.len() && !keeps_value(gap, answer);
                at.entry(pointer(gap)).or_default().push(Answer { gap, answer, applies });
            }
        }
        Self { at }
    }

    fn is_answered(&self, place: &str, value: &Value) -> bool {
        self.at.get(place).is_some_and(|answers| answers.iter().any(|answer| answer.is(value)))
    }

    fn check_difference(&self, submitted: Option<&Value>, accepted: Option<&Value>, place: &str) -> Result<(), Wrong> {
        let answered = accepted.is_some_and(|value| self.is_answered(place, value));
        if answered || submitted == accepted {
            return Ok(());
        }
        match (submitted, accepted) {
            (_, Some(Value::Object(_) | Value::Array(_))) if same_kind(submitted, accepted) => {
                let (before, after) = (members(submitted), members(accepted));
                let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
                names.into_iter().try_for_each(|name| {
                    let below = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
                    self.check_difference(before.get(name).copied(), after.get(name).copied(), &below)
                })
            }
            (_, Some(_)) => Err(Wrong::at(place, Flaw::Assumed)),
            (_, None) => Err(Wrong::at(place, Flaw::Lost)),
        }
    }

    /// Every answer about the last plan is in the accepted one.
    fn check_answers(&self, accepted: &Value) -> Result<(), Wrong> {
        for (place, answers) in &self.at {
            let mut due = answers.iter().filter(|answer| answer.applies).peekable();
            let Some(first) = due.peek().map(|answer| answer.gap.id.clone()) else { continue };
            if !due.any(|answer| accepted.pointer(place).is_some_and(|value| answer.is(value))) {
                return Err(Wrong::at(place, Flaw::AnswerDropped { gap_id: first }));
            }
        }
        Ok(())
    }
}

/// An accepted WARN leaves the plan unchanged (W-05). Older documents have the word in its place.
fn keeps_value(gap: &Gap, answer: &str) -> bool {
    gap.severity == Severity::Warn && equal_ignoring_case(answer, "accept")
}

/// The place of a gap. Without a pointer, its dotted path is used (W-25).
fn pointer(gap: &Gap) -> String {
    let from_path = || gap.field.split(['.', '[', ']']).filter(|step| !step.is_empty()).map(|step| format!("/{step}"));
    gap.pointer.clone().unwrap_or_else(|| from_path().collect())
}

/// Two objects or two lists, or a container created for an answer inside it. An empty one has no such reason.
fn same_kind(submitted: Option<&Value>, accepted: Option<&Value>) -> bool {
    match (submitted, accepted) {
        (Some(Value::Object(_)), Some(Value::Object(_))) | (Some(Value::Array(_)), Some(Value::Array(_))) => true,
        (None | Some(Value::Null), Some(Value::Object(made))) => !made.is_empty(),
        (None | Some(Value::Null), Some(Value::Array(made))) => !made.is_empty(),
        _ => false,
    }
}

fn members(value: Option<&Value>) -> BTreeMap<String, &Value> {
    match value {
        Some(Value::Object(members)) => members.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Some(Value::Array(items)) => items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => BTreeMap::new(),
    }
}

impl Answer<'_> {
    /// Whether a value is this answer, in the kind that its rule asks for.
    fn is(&self, value: &Value) -> bool {
        let accepted = accepted_form(self.gap, self.answer);
        match value {
            Value::String(text) => text == accepted,
            Value::Number(number) => accepted.trim().parse::<f64>().is_ok_and(|wanted| number.as_f64() == Some(wanted)),
            Value::Bool(flag) => parse_bool(accepted) == Some(*flag),
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        }
    }
}

/// `accept`, a suggestion in its own spelling, else the answer verbatim (W-05, W-14).
fn accepted_form<'a>(gap: &'a Gap, answer: &'a str) -> &'a str {
    if equal_ignoring_case(answer, "accept") {
        return "accept";
    }
    let suggested = gap.suggestions.iter().find(|suggestion| equal_ignoring_case(suggestion, answer));
    suggested.map_or(answer, String::as_str)
}

fn parse_bool(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}
