//! Verifies the record of a session: the chain, its summary, and the signature over both (Clarification 7).

use super::{
    ChainReport, Flaw, Registry, Wrong,
    chain::{Walk, first_key},
    in_force::InForce,
    report,
    shape::{self, bounded, member, signed_body},
};
use countersign_protocol::clarification::{
    ChainEntry, Record, SignedType,
    limits::MAX_ENTRIES,
    signed::{self, DigestText},
};
use serde_json::{Value, json};

/// Verifies a record alone.
///
/// An open gap without any answer is in no entry, so a record's statement about it cannot be checked here; the message
/// has it.
pub fn check_record(document: &Value, registry: &Registry) -> Result<ChainReport, Wrong> {
    let proven = prove(document, registry)?;
    Ok(report::of_record(&proven))
}

/// A verified record with the state of its chain.
pub(super) struct ProvenRecord<'a> {
    /// Without its chain.
    pub(super) record: Record,
    pub(super) walk: Walk<'a>,
}

pub(super) fn prove<'a>(document: &'a Value, registry: &'a Registry) -> Result<ProvenRecord<'a>, Wrong> {
    let (record, entries) = read(document)?;
    let first = first_key(&entries, &record.agent_public_key);
    let mut walk = Walk::begin(&record, InForce::new(registry, &record.agent_id, first));
    let raw = document.get("chain").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for ((at, raw), entry) in raw.iter().enumerate().zip(entries) {
        walk.keys.entry = at;
        walk.step(raw, entry).map_err(|wrong| wrong.under(&format!("chain[{at}]")))?;
        walk.keys.check_overdue()?;
    }
    check_agreement(&record, &walk)?;
    check_seal(document, &record, &mut walk)?;
    Ok(ProvenRecord { record, walk })
}

/// Reads the entries one by one, so that an error names the wrong one.
fn read(document: &Value) -> Result<(Record, Vec<ChainEntry>), Wrong> {
    let chain = document.get("chain").and_then(Value::as_array);
    let chain = chain.ok_or_else(|| Wrong::malformed("chain", "must be a list"))?;
    bounded("entries", MAX_ENTRIES, chain.len()).map_err(|flaw| Wrong::at("chain", flaw))?;
    let mut header = signed::without(document, "chain");
    if let Value::Object(members) = &mut header {
        members.insert("chain".into(), Value::Array(Vec::new()));
    }
    let record = shape::read(&header)?;
    let entry = |(at, raw): (usize, &Value)| {
        let read = shape::texts_fit(raw).and_then(|()| Ok(ChainEntry::read(raw)?));
        read.map_err(|wrong| wrong.under(&format!("chain[{at}]")))
    };
    Ok((record, chain.iter().enumerate().map(entry).collect::<Result<_, _>>()?))
}

fn check_agreement(record: &Record, walk: &Walk<'_>) -> Result<(), Wrong> {
    let expected = walk.rounds.len() as u64;
    if record.total_rounds != expected {
        let found = record.total_rounds;
        return Err(Wrong::at("total_rounds", Flaw::Miscounted { expected, found }));
    }
    match walk.unsettled().next() {
        Some(id) if record.all_resolved => Err(Wrong::at("all_resolved", Flaw::NotResolved { gap_id: id.to_owned() })),
        _ => Ok(()),
    }
}

fn check_seal(document: &Value, record: &Record, walk: &mut Walk<'_>) -> Result<(), Wrong> {
    walk.not_before_last(&record.signed_at, "signed_at")?;
    walk.keys.check(&record.agent_public_key, &record.signed_at, "agent_public_key")?;
    let body = json!({
        "session_id": record.session_id,
        "total_rounds": record.total_rounds,
        "all_resolved": record.all_resolved,
        "head": DigestText(walk.head),
        "signed_at": member(document, "signed_at"),
        "agent_id": record.agent_id,
        "agent_public_key": member(document, "agent_public_key"),
    });
    signed_body(SignedType::Chain, &body, &record.agent_public_key, &record.chain_signature)
        .map(drop)
        .map_err(|wrong| wrong.under("chain_signature"))
}
