//! Builds the documents of a session from its row and its chain entries.

use super::{
    confirm,
    key::AskingKey,
    transition::{ask_of, number},
};
use crate::{
    records::{ClarificationEntry, ClarificationKey, ClarificationSession, ClarificationState},
    refusal::Refusal,
};
use countersign_protocol::{
    clarification::{
        Attestation, Audit, ChainEntry, DigestText, Handoff, HandoffContext, Message, PublishedKey, PublishedKeys,
        Record, Round, Signature, SignedRound, Stamp, SubmittedPlan,
        handoff::HANDOFF_VERSION,
        signed::{AnswerBody, AskBody, ask_hash},
        submission::{CheckResponse, OpenAsk, SessionState, StatusResponse},
    },
    mplp::MplpId,
    time::UnixMillis,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The open gaps, the signed message, and the bodies needed to sign an answer.
pub fn check(session: &ClarificationSession, key: &AskingKey) -> Result<CheckResponse, Refusal> {
    let clarification: Message = read_stored(&session.message)?;
    let asks = session.open_gaps().map(|asked| open_ask(session, &asked.gap, key)).collect::<Result<_, _>>()?;
    Ok(CheckResponse {
        status: clarification.status,
        gaps: clarification.gaps.clone(),
        blocking_count: clarification.blocking_gaps,
        warning_count: clarification.warning_gaps,
        session_id: session.id.clone(),
        asks,
        clarification,
    })
}

fn open_ask(
    session: &ClarificationSession,
    gap: &countersign_protocol::clarification::Gap,
    key: &AskingKey,
) -> Result<OpenAsk, Refusal> {
    let ask = ask_of(session, gap, key)?;
    Ok(OpenAsk {
        gap_id: gap.id.clone(),
        round: ask.round,
        prev: ask.prev,
        ask_signature: key.sign(&ask)?,
        ask_hash: ask_hash(&ask)?,
        ask_timestamp: ask.ask_timestamp,
    })
}

pub fn status(session: &ClarificationSession, now: UnixMillis) -> Result<StatusResponse, Refusal> {
    let message: Message = read_stored(&session.message)?;
    Ok(StatusResponse {
        session_id: session.id.clone(),
        status: message.status,
        state: match session.state {
            ClarificationState::Confirmed { .. } => SessionState::Confirmed,
            ClarificationState::Abandoned { .. } => SessionState::Abandoned,
            _ if session.is_live(now) => SessionState::Open,
            _ => SessionState::Expired,
        },
        accepted_gaps: message.accepted_gaps,
        blocking_gaps: message.blocking_gaps,
        warning_gaps: message.warning_gaps,
        total_rounds: number(session.rounds),
        expires_at: Stamp::of(session.expires_at),
    })
}

/// The current chain and its signature (Clarification 7).
pub fn record(session: &ClarificationSession, entries: &[ClarificationEntry]) -> Result<Record, Refusal> {
    let message: Message = read_stored(&session.message)?;
    let first = session.plans.first().ok_or(Refusal::Internal)?;
    let chain = entries.iter().map(|entry| read_stored(&entry.document)).collect::<Result<_, _>>()?;
    Ok(Record {
        session_id: session.id.clone(),
        chain,
        total_rounds: number(session.rounds),
        all_resolved: session.unanswered().next().is_none(),
        agent_id: session.agent_id.clone(),
        agent_public_key: message.agent_public_key,
        plan_digest: DigestText(first.digest),
        signed_at: Stamp::of(session.last_at),
        chain_signature: session.chain_signature.parse().map_err(|_| Refusal::Internal)?,
    })
}

/// The complete record for an auditor (Clarification 6, W-17).
pub fn audit(session: &ClarificationSession, entries: &[ClarificationEntry]) -> Result<Audit, Refusal> {
    let record = record(session, entries)?;
    let exchanges = record.chain.iter().filter_map(ChainEntry::as_round).map(|round| exchange(session, &record, round));
    let accepted = confirm::accepted(session);
    Ok(Audit {
        clarification_chain: exchanges.collect::<Result<_, _>>()?,
        message: read_stored(&session.message)?,
        submitted_plans: session.plans.iter().map(submitted).collect(),
        accepted_plan: accepted.map(|(plan, _)| plan.clone()),
        attestation: accepted.map(|(_, attestation)| read_stored::<Attestation>(attestation)).transpose()?,
        record,
    })
}

fn submitted(plan: &crate::records::Submitted) -> SubmittedPlan {
    SubmittedPlan { plan_digest: DigestText(plan.digest), plan_object: plan.plan.clone() }
}

fn exchange(session: &ClarificationSession, record: &Record, round: &Round) -> Result<SignedRound, Refusal> {
    let ask = AskBody {
        session_id: session.id.clone(),
        round: round.round,
        agent_id: session.agent_id.clone(),
        agent_public_key: round.agent_public_key.clone().unwrap_or_else(|| record.agent_public_key.clone()),
        ask_timestamp: round.ask_timestamp.clone(),
        gap: round.gap.clone(),
        plan_digest: round.plan_digest.unwrap_or(record.plan_digest),
        prev: round.prev,
    };
    let answer = AnswerBody {
        session_id: session.id.clone(),
        round: round.round,
        gap_id: round.gap.id.clone(),
        answer: round.answer.clone(),
        answer_timestamp: round.answer_timestamp.clone(),
        answered_by: round.answered_by.clone(),
        ask_hash: ask_hash(&ask)?,
    };
    Ok(SignedRound::of(round, ask, answer))
}

/// The handoff document for another agent (W-28).
pub fn handoff(
    session: &ClarificationSession,
    entries: &[ClarificationEntry],
    key: &AskingKey,
    now: UnixMillis,
) -> Result<Handoff, Refusal> {
    let mut handoff = Handoff {
        handoff_version: HANDOFF_VERSION.into(),
        session_id: session.id.clone(),
        agent_id: session.agent_id.clone(),
        agent_public_key: key.public_key.clone(),
        created_at: Stamp::of(now.max(session.last_at)),
        plan: confirm::accepted(session).map(|(plan, _)| plan.clone()),
        context: HandoffContext { clarification: record(session, entries)? },
        signature: Signature::from_bytes([0; 64]),
    };
    handoff.signature = key.sign(&handoff)?;
    Ok(handoff)
}

/// The keys that a verifier trusts (W-19), oldest first.
pub fn published(agent_id: &str, keys: &[ClarificationKey]) -> Result<PublishedKeys, Refusal> {
    let published = |key: &ClarificationKey| {
        Ok(PublishedKey {
            public_key: key.public_key.parse().map_err(|_| Refusal::Internal)?,
            created_at: Stamp::of(key.created_at),
            retired_at: key.retired_at.map(Stamp::of),
        })
    };
    Ok(PublishedKeys {
        agent_id: agent_id.to_owned(),
        keys: keys.iter().map(published).collect::<Result<_, Refusal>>()?,
        rotations: keys.iter().filter_map(|key| key.rotation.clone()).collect(),
    })
}

/// The agent id under which a project asks.
pub fn agent_id(document: &countersign_protocol::project::ProjectDocument) -> String {
    document.clarification.agent_id.clone().unwrap_or_else(|| format!("countersign-{}", document.id))
}

/// Reads back a document that this plane wrote.
fn read_stored<T: DeserializeOwned>(value: &Value) -> Result<T, Refusal> {
    serde_json::from_value(value.clone()).map_err(|why| {
        debug_assert!(false, "a stored document cannot be read: {why}");
        Refusal::Internal
    })
}

/// The default session id: the same for the same plan of the same agent, until that session has ended (W-11).
pub fn session_id(
    same: &countersign_protocol::hash::Digest,
    after: Option<countersign_protocol::ids::RowKey>,
) -> MplpId {
    let after = after.unwrap_or_default().to_be_bytes();
    MplpId::of_hash(&countersign_protocol::hash::Digest::of_parts(&[b"clarification-session", &same.0, &after]))
}
