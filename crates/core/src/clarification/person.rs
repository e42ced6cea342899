//! Applies a person's answer to a gap, in the same step that settles the decision (W-31).

use super::{
    key::AskingKey,
    resolve::answerable,
    rules::{Rules, Unusable},
    transition::{GivenAnswer, SessionTransition, TransitionContext},
};
use crate::{
    decision::ProjectRef,
    env::{Env, Mint},
    records::{AskedGap, ClarificationSession, Decision, Project},
    refusal::Refusal,
    step::Effects,
};
use countersign_protocol::clarification::{AnswerKind, GivenBy};
use serde_json::Value;
use std::sync::Arc;

/// The gap behind a decision, with everything that its answer changes.
#[derive(Clone)]
pub struct GapSeen {
    pub project: Arc<Project>,
    pub session: ClarificationSession,
    pub gap_id: String,
    pub rules: Arc<Rules>,
    pub key: AskingKey,
}

impl GapSeen {
    /// The gap, while it is open. An answer to a closed gap changes nothing.
    fn open(&self, env: &Env) -> Option<&AskedGap> {
        self.session.gap(&self.gap_id).filter(|asked| asked.is_open() && self.session.is_live(env.now))
    }

    /// The accepted text of a response. A person may use a phrase that the rules find vague, but the answer must fit
    /// the kind: a number where the rule asks for one, and a substantive answer to a BLOCK (W-05).
    pub(crate) fn accepted(&self, response: &Value, env: &Env) -> Result<Option<String>, String> {
        let Some(asked) = self.open(env) else { return Ok(None) };
        let text = text_of(response);
        match (self.rules.judge(&answerable(asked), &text), asked.answer_kind) {
            (Ok(accepted), _) => Ok(Some(accepted.text)),
            (Err(Unusable::Ambiguous(_)), AnswerKind::Text) => Ok(Some(text)),
            (Err(why), _) => Err(why.to_string()),
        }
    }

    /// Appends the person's answer as a round.
    pub(crate) fn answered(
        &self,
        place: &ProjectRef,
        decision: &Decision,
        response: &Value,
        env: &Env,
        mint: &mut Mint,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        let accepted = self.accepted(response, env).map_err(Refusal::InvalidRequest)?;
        let Some(accepted) = accepted else { return Ok(()) };
        let around = TransitionContext { place, document: &self.project.document, rules: &self.rules, key: &self.key };
        let mut moving = SessionTransition::of(around, &self.session, env.now)?;
        let given = GivenAnswer {
            answer: text_of(response),
            judged: Ok(accepted),
            given_by: GivenBy::Person,
            decision_id: Some(decision.id.clone()),
            signed: None,
        };
        moving.answered(&self.gap_id, given)?;
        moving.evaluate()?;
        moving.finish(effects, mint).map(drop)
    }
}

fn text_of(response: &Value) -> String {
    match response {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
