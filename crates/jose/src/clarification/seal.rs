//! A receiver's summary of a chain: sufficient to detect a later truncation (W-09).

use super::{
    ChainReport, Flaw, Registry, Wrong,
    record::{self, ProvenRecord},
    report,
    shape::{self, signed_body},
};
use countersign_protocol::clarification::{DigestText, Signature, SignedType, signed::ChainBody};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The signature of a chain with its signed body. A few hundred bytes for a chain of any length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainSeal {
    #[serde(flatten)]
    pub body: ChainBody,
    pub chain_signature: Signature,
}

impl ChainSeal {
    /// From a record, verified here.
    pub fn of_record(document: &Value, registry: &Registry) -> Result<Self, Wrong> {
        let ProvenRecord { record, walk } = record::prove(document, registry)?;
        let body = ChainBody {
            session_id: record.session_id,
            total_rounds: record.total_rounds,
            all_resolved: record.all_resolved,
            head: DigestText(walk.head),
            signed_at: record.signed_at,
            agent_id: record.agent_id,
            agent_public_key: record.agent_public_key,
        };
        Ok(Self { body, chain_signature: record.chain_signature })
    }
}

/// Verifies a record, and that it continues or equals the kept state.
pub fn check_against(document: &Value, kept: &ChainSeal, registry: &Registry) -> Result<ChainReport, Wrong> {
    check_signature(kept, registry).map_err(|wrong| wrong.under("kept"))?;
    let proven = record::prove(document, registry)?;
    if proven.record.session_id != kept.body.session_id {
        return Err(Wrong::at("session_id", Flaw::AnotherSession));
    }
    let was_here =
        proven.walk.heads.iter().any(|(head, rounds)| *head == kept.body.head.0 && *rounds == kept.body.total_rounds);
    if was_here {
        return Ok(report::of_record(&proven));
    }
    let (kept, found) = (kept.body.total_rounds, proven.record.total_rounds);
    Err(Wrong::at("chain", if found < kept { Flaw::Truncated { kept, found } } else { Flaw::Forked }))
}

fn check_signature(kept: &ChainSeal, registry: &Registry) -> Result<(), Wrong> {
    let body = &kept.body;
    let known = registry.judge(&body.agent_id, &body.agent_public_key, &body.signed_at);
    known.map_err(|flaw| Wrong::at("agent_public_key", flaw))?;
    let value = serde_json::to_value(body).map_err(|why| Wrong::malformed("", why.to_string()))?;
    shape::texts_fit(&value)?;
    signed_body(SignedType::Chain, &value, &body.agent_public_key, &kept.chain_signature)
        .map(drop)
        .map_err(|wrong| wrong.under("chain_signature"))
}
