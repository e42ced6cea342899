//! Verifies a complete audit, in the order of its dependencies.

use super::{
    ChainReport, Flaw, Registry, Wrong, attestation, message, plans,
    record::{self, ProvenRecord},
    report,
    round::Exchanged,
};
use countersign_protocol::clarification::{Attestation, Audit, Message, SubmittedPlan, signed};
use serde_json::{Value, json};

/// Verifies a response of `audit`: the chain, both of its views, the last message, the plans and the attestation.
pub fn check_audit(document: &Value, registry: &Registry) -> Result<ChainReport, Wrong> {
    let part = |name: &str| document.get(name).unwrap_or(&Value::Null);
    known_members(document)?;
    let mut proven = record::prove(part("record"), registry).map_err(|wrong| wrong.under("record"))?;
    check_view(part("clarification_chain"), &proven).map_err(|wrong| wrong.under("clarification_chain"))?;
    let message = message::check_with_record(part("message"), &mut proven).map_err(|wrong| wrong.under("message"))?;
    all_resolved(&proven, &message)?;
    let submitted = plans::check_submitted(part("submitted_plans"), &proven.walk)
        .map_err(|wrong| wrong.under("submitted_plans"))?;
    let accepted = document.get("accepted_plan");
    if let Some(accepted) = accepted {
        check_accepted(accepted, &submitted, &proven, &message).map_err(|wrong| wrong.under("accepted_plan"))?;
    }
    let attested = check_attested(document, accepted, &mut proven)?;
    Ok(report::of_audit(&proven, &message, attested.as_ref()))
}

/// Each part is verified separately; this checks that there are no other members.
fn known_members(document: &Value) -> Result<(), Wrong> {
    let members = document.as_object().ok_or_else(|| Wrong::malformed("", "must be an object"))?;
    match members.keys().find(|name| !Audit::MEMBERS.contains(&name.as_str())) {
        Some(name) => Err(Wrong::malformed(name, "is no member of this document")),
        None => Ok(()),
    }
}

/// The view of 6.3 has the same content as the record (W-17).
fn check_view(view: &Value, proven: &ProvenRecord<'_>) -> Result<(), Wrong> {
    let view = view.as_array().ok_or_else(|| Wrong::malformed("", "must be a list"))?;
    let (expected, found) = (proven.walk.rounds.len() as u64, view.len() as u64);
    if expected != found {
        return Err(Wrong::at("", Flaw::Miscounted { expected, found }));
    }
    for (at, (seen, exchanged)) in view.iter().zip(&proven.walk.rounds).enumerate() {
        if let Some(place) = difference(&exchange(exchanged), seen) {
            return Err(Wrong::at(format!("[{at}]{place}"), Flaw::NotAsRecorded));
        }
    }
    Ok(())
}

fn exchange(exchanged: &Exchanged<'_>) -> Value {
    let (mut ask, mut answer, raw) = (exchanged.ask.clone(), exchanged.answer.clone(), exchanged.raw);
    let part = |name: &str| raw.get(name).cloned().unwrap_or_default();
    if let (Value::Object(ask), Value::Object(answer)) = (&mut ask, &mut answer) {
        ask.insert("ask_signature".into(), part("ask_signature"));
        answer.insert("answer_signature".into(), part("answer_signature"));
    }
    let mut view = json!({
        "ask": ask,
        "answer": answer,
        "timestamp": part("answer_timestamp"),
        "signature": part("answer_signature"),
        "resolved": part("resolved"),
    });
    if let (Value::Object(view), Some(given_by)) = (&mut view, raw.get("given_by")) {
        view.insert("given_by".into(), given_by.clone());
    }
    view
}

/// The relative path of the first difference between two values.
fn difference(expected: &Value, found: &Value) -> Option<String> {
    match (expected, found) {
        (Value::Object(left), Value::Object(right)) => {
            let here = left.iter().find_map(|(name, value)| {
                let other = right.get(name).unwrap_or(&Value::Null);
                difference(value, other).map(|below| format!(".{name}{below}"))
            });
            here.or_else(|| right.keys().find(|name| !left.contains_key(*name)).map(|name| format!(".{name}")))
        }
        (left, right) => (left != right).then(String::new),
    }
}

/// The record's `all_resolved` must agree with the message: an unanswered gap is in no entry of the chain.
fn all_resolved(proven: &ProvenRecord<'_>, message: &Message) -> Result<(), Wrong> {
    match (proven.record.all_resolved, message.gaps.first()) {
        (true, Some(open)) => {
            let flaw = Flaw::NotResolved { gap_id: open.id.clone() };
            Err(Wrong::at("record.all_resolved", flaw))
        }
        (false, None) => Err(Wrong::at("record.all_resolved", Flaw::NothingOpen)),
        _ => Ok(()),
    }
}

fn check_accepted(
    accepted: &Value,
    submitted: &[SubmittedPlan],
    proven: &ProvenRecord<'_>,
    message: &Message,
) -> Result<(), Wrong> {
    if !message.gaps.is_empty() {
        return Err(Wrong::at("", Flaw::PlanBeforeAnswers));
    }
    if proven.walk.abandoned.is_some() {
        return Err(Wrong::at("", Flaw::AfterAbandoned));
    }
    let last = submitted.last().map_or(&Value::Null, |plan| &plan.plan_object);
    plans::check_accepted(last, accepted, &proven.walk)
}

fn check_attested(
    document: &Value,
    accepted: Option<&Value>,
    proven: &mut ProvenRecord<'_>,
) -> Result<Option<Attestation>, Wrong> {
    let Some(attestation) = document.get("attestation") else {
        return accepted.map_or(Ok(None), |_| Err(Wrong::at("attestation", Flaw::HalfAccepted)));
    };
    let attestation =
        attestation::check_with_record(attestation, proven).map_err(|wrong| wrong.under("attestation"))?;
    let accepted = accepted.ok_or_else(|| Wrong::at("accepted_plan", Flaw::HalfAccepted))?;
    if attestation.plan_digest.0 != signed::plan_digest(accepted)? {
        return Err(Wrong::at("attestation.plan_digest", Flaw::AnotherPlan));
    }
    Ok(Some(attestation))
}
