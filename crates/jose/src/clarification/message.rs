//! Verifies the signed message, alone or together with its session's record (Clarification 4).

use super::{
    ChainReport, Flaw, Registry, Wrong,
    chain::{Walk, in_order},
    record::ProvenRecord,
    report,
    shape::{self, gaps_fit, member, signed_whole},
};
use countersign_protocol::clarification::{Message, Severity, SignedType, Status};
use serde_json::Value;

/// Verifies a message alone: complete, consistent, and signed with the key that it names.
pub fn check_message(document: &Value, registry: &Registry) -> Result<ChainReport, Wrong> {
    let message = read(document)?;
    let signer = registry.judge(&message.agent_id, &message.agent_public_key, &message.timestamp);
    let signer = signer.map_err(|flaw| Wrong::at("agent_public_key", flaw))?;
    signed_whole(SignedType::Message, document, &message.agent_public_key, &message.signature)?;
    Ok(report::of_message(&message, signer))
}

/// The same for the last message of a session, which must agree with its chain.
pub(super) fn check_with_record(document: &Value, proven: &mut ProvenRecord<'_>) -> Result<Message, Wrong> {
    let message = read(document)?;
    let walk = &mut proven.walk;
    if message.session_id != walk.session_id {
        return Err(Wrong::at("session_id", Flaw::AnotherSession));
    }
    if message.agent_id != walk.keys.agent_id {
        return Err(Wrong::at("agent_id", Flaw::AnotherAgent));
    }
    walk.keys.check(&message.agent_public_key, &message.timestamp, "agent_public_key")?;
    signed_whole(SignedType::Message, document, &message.agent_public_key, &message.signature)?;
    if let Some(last) = &walk.last {
        in_order(last, &message.timestamp, "timestamp")?;
    }
    check_agreement(document, &message, walk)?;
    Ok(message)
}

fn read(document: &Value) -> Result<Message, Wrong> {
    let message: Message = shape::read(document)?;
    gaps_fit(&message.gaps)?;
    let open = |severity| message.gaps.iter().filter(|gap| gap.severity == severity).count() as u64;
    check_count("blocking_gaps", open(Severity::Block), message.blocking_gaps)?;
    check_count("warning_gaps", open(Severity::Warn), message.warning_gaps)?;
    let expected = if message.gaps.is_empty() { Status::ReadyToProceed } else { Status::NeedsClarification };
    if message.status == expected { Ok(message) } else { Err(Wrong::at("status", Flaw::WrongStatus)) }
}

fn check_count(place: &str, expected: u64, found: u64) -> Result<(), Wrong> {
    if expected == found { Ok(()) } else { Err(Wrong::at(place, Flaw::Miscounted { expected, found })) }
}

fn check_agreement(document: &Value, message: &Message, walk: &Walk<'_>) -> Result<(), Wrong> {
    check_count("accepted_gaps", walk.settled_gaps(), message.accepted_gaps)?;
    if let Some(id) = walk.unsettled().find(|id| message.gaps.iter().all(|gap| gap.id != *id)) {
        return Err(Wrong::at("gaps", Flaw::NotResolved { gap_id: id.to_owned() }));
    }
    let raw = member(document, "gaps");
    for (at, (gap, raw)) in message.gaps.iter().zip(raw.as_array().into_iter().flatten()).enumerate() {
        check_open_gap(&gap.id, raw, walk).map_err(|wrong| wrong.under(&format!("gaps[{at}]")))?;
    }
    Ok(())
}

/// An open gap is unsettled, and equals the gap as asked.
fn check_open_gap(id: &str, raw: &Value, walk: &Walk<'_>) -> Result<(), Wrong> {
    if let Some(settled) = walk.settled(id) {
        return Err(Wrong::at("id", Flaw::ResolvedAlready { round: settled.round }));
    }
    let asked = walk.latest.get(id).and_then(|at| walk.rounds.get(*at));
    let same = asked.is_none_or(|asked| asked.raw.get("gap") == Some(raw));
    if same { Ok(()) } else { Err(Wrong::at("", Flaw::GapChanged)) }
}
