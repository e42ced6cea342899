//! Verifies one round: its number, its times, both signatures, and that a settling answer is one.

use super::{
    Flaw, Signer, Wrong,
    chain::{Walk, in_order},
    shape::{equal_ignoring_case, gap_fits, member, signed_body},
};
use countersign_protocol::clarification::{DigestText, GivenBy, PublicKey, Round, Severity, SignedType, signed};
use serde_json::{Value, json};

/// A verified round.
pub(super) struct Exchanged<'a> {
    pub(super) raw: &'a Value,
    pub(super) round: Round,
    /// The signed bodies.
    pub(super) ask: Value,
    pub(super) answer: Value,
    /// The index of the plan in question.
    pub(super) plan: usize,
    /// The confidence in the signer of the answer.
    pub(super) answerer: Signer,
}

impl<'a> Walk<'a> {
    pub(super) fn round(&mut self, raw: &'a Value, round: Round) -> Result<(), Wrong> {
        let expected = self.rounds.len() as u64 + 1;
        if round.round != expected {
            return Err(Wrong::at("round", Flaw::WrongRound { expected, found: round.round }));
        }
        gap_fits(&round.gap).map_err(|wrong| wrong.under("gap"))?;
        self.check_gap_id(raw)?;
        self.not_before_last(&round.ask_timestamp, "ask_timestamp")?;
        in_order(&round.ask_timestamp, &round.answer_timestamp, "answer_timestamp")?;
        let (ask, input) = self.check_ask(raw, &round)?;
        let (answer, answerer) = self.check_answer(raw, &round, &input)?;
        check_settled(&round)?;
        self.last = Some(round.answer_timestamp.clone());
        if let Some(id) = raw.pointer("/gap/id").and_then(Value::as_str) {
            self.latest.insert(id, self.rounds.len());
        }
        let plan = self.plans.len() - 1;
        self.rounds.push(Exchanged { raw, round, ask, answer, plan, answerer });
        Ok(())
    }

    /// An id always means the same gap, and none outlives its plan (W-24).
    fn check_gap_id(&self, raw: &Value) -> Result<(), Wrong> {
        let id = raw.pointer("/gap/id").and_then(Value::as_str).unwrap_or_default();
        let Some(before) = self.latest.get(id).and_then(|at| self.rounds.get(*at)) else { return Ok(()) };
        if before.plan + 1 != self.plans.len() {
            return Err(Wrong::at("gap.id", Flaw::GapReused));
        }
        let same = before.raw.get("gap") == raw.get("gap");
        if same { Ok(()) } else { Err(Wrong::at("gap", Flaw::GapChanged)) }
    }

    fn check_ask(&mut self, raw: &Value, round: &Round) -> Result<(Value, Vec<u8>), Wrong> {
        let plan = self.plan();
        if round.plan_digest.is_some() && round.plan_digest != plan {
            return Err(Wrong::at("plan_digest", Flaw::AnotherPlan));
        }
        let key = round.agent_public_key.clone().unwrap_or_else(|| self.keys.current.clone());
        self.keys.check(&key, &round.ask_timestamp, "agent_public_key")?;
        let body = self.ask_body(raw, &key, plan);
        let input = signed_body(SignedType::Ask, &body, &key, &round.ask_signature);
        Ok((body, input.map_err(|wrong| wrong.under("ask_signature"))?))
    }

    fn ask_body(&self, raw: &Value, key: &PublicKey, plan: Option<DigestText>) -> Value {
        json!({
            "session_id": self.session_id,
            "round": member(raw, "round"),
            "agent_id": self.keys.agent_id,
            "agent_public_key": key.as_str(),
            "ask_timestamp": member(raw, "ask_timestamp"),
            "gap": member(raw, "gap"),
            "plan_digest": plan,
            "prev": member(raw, "prev"),
        })
    }

    fn check_answer(&mut self, raw: &Value, round: &Round, ask_input: &[u8]) -> Result<(Value, Signer), Wrong> {
        let answerer = self.answerer(round)?;
        let body = json!({
            "session_id": self.session_id,
            "round": member(raw, "round"),
            "gap_id": round.gap.id,
            "answer": member(raw, "answer"),
            "answer_timestamp": member(raw, "answer_timestamp"),
            "answered_by": member(raw, "answered_by"),
            "ask_hash": signed::hash_of_input(ask_input),
        });
        signed_body(SignedType::Answer, &body, &round.answered_by.public_key, &round.answer_signature)
            .map_err(|wrong| wrong.under("answer_signature"))?;
        Ok((body, answerer))
    }

    /// Without the giver's own signature, only the asking agent vouches for the answer (W-06).
    fn answerer(&mut self, round: &Round) -> Result<Signer, Wrong> {
        let by = &round.answered_by;
        if by.attested {
            let judged = self.keys.registry().judge(&by.agent_id, &by.public_key, &round.answer_timestamp);
            return judged.map_err(|flaw| Wrong::at("answered_by.public_key", flaw));
        }
        if by.agent_id != self.keys.agent_id {
            return Err(Wrong::at("answered_by.agent_id", Flaw::AnotherAgent));
        }
        self.keys.check(&by.public_key, &round.answer_timestamp, "answered_by.public_key")?;
        Ok(self.keys.signer)
    }
}

/// An answer that no rule could accept settles nothing (W-05, R-14).
fn check_settled(round: &Round) -> Result<(), Wrong> {
    let person = round.given_by == Some(GivenBy::Person);
    if round.decision_id.is_some() && !person {
        return Err(Wrong::at("decision_id", Flaw::NoPerson));
    }
    if !round.resolved {
        return Ok(());
    }
    let (gap, answer) = (&round.gap, &round.answer);
    let only_accepts = equal_ignoring_case(answer, "accept");
    let suggested = || gap.suggestions.iter().any(|suggestion| equal_ignoring_case(suggestion, answer));
    let outside = gap.suggestions_exclusive && !only_accepts && !suggested();
    if answer.trim().is_empty() || (only_accepts && gap.severity == Severity::Block) || outside {
        return Err(Wrong::at("resolved", Flaw::NoAnswer));
    }
    if gap.person_must_answer && !person {
        return Err(Wrong::at("given_by", Flaw::PersonOwes));
    }
    Ok(())
}
