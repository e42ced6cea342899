//! Verifies attestations: everything was answered, over exactly one chain (Clarification 9, W-27).

use super::{
    ChainReport, Flaw, Registry, Wrong,
    chain::in_order,
    record::ProvenRecord,
    report,
    shape::{self, signed_whole},
};
use countersign_protocol::clarification::{Attestation, DigestText, SignedType};
use serde_json::Value;

/// Verifies an attestation alone. Its references are verified only together with the chain.
pub fn check_attestation(document: &Value, registry: &Registry) -> Result<ChainReport, Wrong> {
    let attestation = read(document)?;
    let signer = registry.judge(&attestation.agent_id, &attestation.agent_public_key, &attestation.issued_at);
    let signer = signer.map_err(|flaw| Wrong::at("agent_public_key", flaw))?;
    signed_whole(SignedType::Attestation, document, &attestation.agent_public_key, &attestation.signature)?;
    Ok(report::of_attestation(&attestation, signer))
}

/// Verifies an attestation together with its record.
pub(super) fn check_with_record(document: &Value, proven: &mut ProvenRecord<'_>) -> Result<Attestation, Wrong> {
    let attestation = read(document)?;
    if attestation.session_id != proven.record.session_id {
        return Err(Wrong::at("session_id", Flaw::AnotherSession));
    }
    if attestation.agent_id != proven.record.agent_id {
        return Err(Wrong::at("agent_id", Flaw::AnotherAgent));
    }
    let keys = &mut proven.walk.keys;
    keys.check(&attestation.agent_public_key, &attestation.issued_at, "agent_public_key")?;
    signed_whole(SignedType::Attestation, document, &attestation.agent_public_key, &attestation.signature)?;
    refers_to(&attestation, proven)?;
    Ok(attestation)
}

/// Both references to the chain must agree.
fn read(document: &Value) -> Result<Attestation, Wrong> {
    let attestation: Attestation = shape::read(document)?;
    let (inputs, chain) = (&attestation.inputs, &attestation.clarification);
    if inputs.clarification_rounds != chain.rounds {
        let (expected, found) = (chain.rounds, inputs.clarification_rounds);
        return Err(Wrong::at("inputs.clarification_rounds", Flaw::Miscounted { expected, found }));
    }
    if inputs.clarification_chain_ref != chain.head {
        return Err(Wrong::at("inputs.clarification_chain_ref", Flaw::AnotherChain));
    }
    Ok(attestation)
}

fn refers_to(attestation: &Attestation, proven: &ProvenRecord<'_>) -> Result<(), Wrong> {
    let (chain, record) = (&attestation.clarification, &proven.record);
    if chain.rounds != record.total_rounds {
        let (expected, found) = (record.total_rounds, chain.rounds);
        return Err(Wrong::at("clarification.rounds", Flaw::Miscounted { expected, found }));
    }
    if chain.head != DigestText(proven.walk.head) {
        return Err(Wrong::at("clarification.head", Flaw::AnotherChain));
    }
    if chain.chain_signature.as_str() != record.chain_signature.as_str() {
        return Err(Wrong::at("clarification.chain_signature", Flaw::AnotherChain));
    }
    if !record.all_resolved {
        return Err(Wrong::at("", Flaw::PlanBeforeAnswers));
    }
    proven.walk.last.as_ref().map_or(Ok(()), |last| in_order(last, &attestation.issued_at, "issued_at"))
}
