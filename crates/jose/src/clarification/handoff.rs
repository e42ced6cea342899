//! Verifies handoffs to another agent (Clarification 9, W-28).

use super::{
    ChainReport, Flaw, Registry, Wrong,
    chain::in_order,
    record, report,
    shape::{read_unbounded, signed_whole},
};
use countersign_protocol::clarification::{Handoff, SignedType};
use serde_json::Value;

/// Verifies a handoff and the record inside it.
pub fn check_handoff(document: &Value, registry: &Registry) -> Result<ChainReport, Wrong> {
    let at = "context.clarification";
    let record = document.pointer("/context/clarification").unwrap_or(&Value::Null);
    let mut proven = record::prove(record, registry).map_err(|wrong| wrong.under(at))?;
    let handoff: Handoff = read_unbounded(document)?;
    if handoff.session_id != proven.record.session_id {
        return Err(Wrong::at("session_id", Flaw::AnotherSession));
    }
    if handoff.agent_id != proven.record.agent_id {
        return Err(Wrong::at("agent_id", Flaw::AnotherAgent));
    }
    in_order(&proven.record.signed_at, &handoff.created_at, "created_at")?;
    proven.walk.keys.check_later(&handoff.agent_public_key, &handoff.created_at, "agent_public_key")?;
    signed_whole(SignedType::Handoff, document, &handoff.agent_public_key, &handoff.signature)?;
    if handoff.plan.is_some() && !proven.record.all_resolved {
        return Err(Wrong::at("plan", Flaw::PlanBeforeAnswers));
    }
    if handoff.plan.is_some() && proven.walk.abandoned.is_some() {
        return Err(Wrong::at("plan", Flaw::AfterAbandoned));
    }
    Ok(report::of_handoff(&proven, &handoff))
}
