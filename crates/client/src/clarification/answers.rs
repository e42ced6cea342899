//! Answers to gaps, optionally signed with the agent's own key.

use super::{ClarificationError, Clarifications, typed};
use countersign_jose::clarification::{AgentKey, verify};
use countersign_protocol::{
    clarification::{
        AnsweredBy, Gap, Message, Signable as _, Stamp,
        signed::{AnswerBody, AskBody, ask_hash, plan_digest},
        submission::{self, CheckResponse, OpenAsk, ResolveRequest, ResolveResponse},
    },
    mplp::MplpId,
    time::UnixMillis,
};
use serde_json::Value;

/// The signer of an answer.
#[derive(Clone, Debug)]
pub struct AnswerSigner {
    pub agent_id: String,
    pub key: AgentKey,
}

impl Clarifications {
    /// Answers a gap without a signature: the service signs that it was given, and marks it as not signed by its giver.
    pub async fn answer(
        &self,
        session: &MplpId,
        gap_id: &str,
        answer: &str,
    ) -> Result<ResolveResponse, ClarificationError> {
        self.resolve(&ResolveRequest {
            session_id: session.clone(),
            gap_id: gap_id.to_owned(),
            answer: answer.to_owned(),
            answered_by: None,
            answer_signature: None,
            answer_timestamp: None,
        })
        .await
    }

    /// Answers a gap with the giver's signature. It covers the current question and the plan at hand: both are verified
    /// first (W-07).
    pub async fn answer_signed(
        &self,
        session: &MplpId,
        plan: &Value,
        (gap_id, answer): (&str, &str),
        by: &AnswerSigner,
        now: UnixMillis,
    ) -> Result<ResolveResponse, ClarificationError> {
        let open = self.gaps(session).await?;
        let (gap, ask) = find_open(&open, gap_id)?;
        let body = proven_ask(&open.clarification, gap, ask, plan)?;
        self.resolve(&signed(&body, answer, by, now)?).await
    }

    async fn resolve(&self, answer: &ResolveRequest) -> Result<ResolveResponse, ClarificationError> {
        typed(&self.post("/resolve-gap", answer).await?)
    }
}

fn find_open<'r>(open: &'r CheckResponse, gap_id: &str) -> Result<(&'r Gap, &'r OpenAsk), ClarificationError> {
    let gap = open.gaps.iter().find(|gap| gap.id == gap_id);
    let ask = open.asks.iter().find(|ask| ask.gap_id == gap_id);
    gap.zip(ask).ok_or_else(|| ClarificationError::NotOpen(gap_id.to_owned()))
}

/// The signed question, reconstructed from local data.
fn proven_ask(message: &Message, gap: &Gap, ask: &OpenAsk, plan: &Value) -> Result<AskBody, ClarificationError> {
    let body = AskBody {
        session_id: message.session_id.clone(),
        round: ask.round,
        agent_id: message.agent_id.clone(),
        agent_public_key: message.agent_public_key.clone(),
        ask_timestamp: ask.ask_timestamp.clone(),
        gap: gap.clone(),
        plan_digest: plan_digest(plan)?.into(),
        prev: ask.prev,
    };
    let genuine = verify(&body.agent_public_key, &body.input()?, &ask.ask_signature).is_ok();
    if genuine { Ok(body) } else { Err(ClarificationError::AnotherPlan) }
}

fn signed(
    ask: &AskBody,
    answer: &str,
    by: &AnswerSigner,
    now: UnixMillis,
) -> Result<ResolveRequest, ClarificationError> {
    let body = AnswerBody {
        session_id: ask.session_id.clone(),
        round: ask.round,
        gap_id: ask.gap.id.clone(),
        answer: answer.to_owned(),
        answer_timestamp: Stamp::not_before(now, &ask.ask_timestamp),
        answered_by: AnsweredBy { agent_id: by.agent_id.clone(), public_key: by.key.public_key(), attested: true },
        ask_hash: ask_hash(ask)?,
    };
    let signature = by.key.sign_body(&body)?;
    let AnsweredBy { agent_id, public_key, attested } = body.answered_by;
    Ok(ResolveRequest {
        session_id: body.session_id,
        gap_id: body.gap_id,
        answer: body.answer,
        answered_by: Some(submission::AnsweringParty { agent_id, public_key, attested: Some(attested) }),
        answer_signature: Some(signature),
        answer_timestamp: Some(body.answer_timestamp),
    })
}
