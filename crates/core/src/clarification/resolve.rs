//! An agent answers a gap itself, where it is allowed to (R-14, W-06, W-12 to W-14).

use super::{
    ClarificationView,
    rules::{AnswerableGap, Rules},
    transition::{GivenAnswer, SessionTransition, ask_of},
};
use crate::{
    env::Env,
    records::{AskedGap, ClarificationSession, GapState, Raiser},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{
    clarification::{
        GivenBy, PublicKey, Stamp,
        limits::{FRESH_S, MAX_STRING},
        signed::{AnswerBody, ask_hash},
        submission::OwnSignature,
    },
    ids::RowKey,
};

pub struct Resolve {
    pub by: Raiser,
    pub gap_id: String,
    pub answer: String,
    /// The answerer's signature, verified by the caller over [`signed_body`].
    pub signed: Option<OwnSignature>,
    /// The decision raised because the agent's answer does not settle the gap.
    pub asked: Option<RowKey>,
}

/// The verdict on an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerVerdict {
    Resolved {
        accepted: String,
    },
    /// The answer is unusable, or a person must give it: a decision is needed.
    Escalated {
        why: String,
    },
}

pub struct Resolved {
    pub session: ClarificationSession,
    pub verdict: AnswerVerdict,
    /// False if the same answer was recorded before.
    pub fresh: bool,
}

/// Judges an answer by the agent itself, without changing anything.
pub fn judge(
    view: &ClarificationView,
    gap_id: &str,
    answer: &str,
    env: &Env,
) -> Result<(AskedGap, AnswerVerdict), Refusal> {
    super::is_live(&view.session, env.now)?;
    if answer.chars().count() > MAX_STRING {
        return Err(Refusal::invalid(format!("answer is longer than {MAX_STRING} characters")));
    }
    let asked = view.session.gap(gap_id).ok_or_else(|| Refusal::NotFound("the session has no such gap".into()))?;
    let verdict = match &asked.state {
        GapState::Resolved { answer: known, accepted, given_by: GivenBy::Own, .. } if known == answer => {
            AnswerVerdict::Resolved { accepted: accepted.clone() }
        }
        GapState::Resolved { .. } => {
            return Err(Refusal::AlreadyResolved(gap_id.to_owned()));
        }
        GapState::Superseded => {
            return Err(Refusal::Conflict(format!("{gap_id} was asked about an earlier plan: list the current gaps")));
        }
        GapState::Abandoned { .. } => return Err(Refusal::Conflict(format!("{gap_id} was abandoned"))),
        GapState::Open { .. } => verdict(&view.rules, asked, answer),
    };
    Ok((asked.clone(), verdict))
}

fn verdict(rules: &Rules, asked: &AskedGap, answer: &str) -> AnswerVerdict {
    match rules.judge(&answerable(asked), answer) {
        Err(why) => AnswerVerdict::Escalated { why: why.to_string() },
        Ok(_) if asked.gap.person_must_answer => {
            AnswerVerdict::Escalated { why: "a person must answer this, and has been asked".into() }
        }
        Ok(accepted) => AnswerVerdict::Resolved { accepted: accepted.text },
    }
}

/// The parts of a gap that rules need to judge an answer.
pub(super) fn answerable(asked: &AskedGap) -> AnswerableGap<'_> {
    AnswerableGap {
        severity: asked.gap.severity,
        suggestions: &asked.gap.suggestions,
        exclusive: asked.gap.suggestions_exclusive,
        answer: asked.answer_kind,
    }
}

/// The body that the answerer signs (W-07).
pub fn signed_body(
    view: &ClarificationView,
    asked: &AskedGap,
    answer: &str,
    by: &OwnSignature,
) -> Result<AnswerBody, Refusal> {
    let ask = ask_of(&view.session, &asked.gap, &view.key)?;
    Ok(AnswerBody {
        session_id: view.session.id.clone(),
        round: ask.round,
        gap_id: asked.gap.id.clone(),
        answer: answer.to_owned(),
        answer_timestamp: by.timestamp.clone(),
        answered_by: by.answered_by.clone(),
        ask_hash: ask_hash(&ask)?,
    })
}

/// Accepts a signed answer only if it is fresh, not older than its question, and signed with the answerer's registered
/// key.
pub fn check_own_signature(view: &ClarificationView, by: &OwnSignature, env: &Env) -> Result<(), Refusal> {
    let off = by.timestamp.at().millis_since(env.now).abs();
    if off > FRESH_S * 1000 {
        return Err(Refusal::invalid(format!(
            "answer_timestamp is more than {FRESH_S} s from now: sign the answer again"
        )));
    }
    if by.timestamp.is_before(&Stamp::of(view.session.last_at)) {
        return Err(Refusal::invalid("answer_timestamp is before the question: sign the answer again"));
    }
    let known = view.project.document.clarification.agents.get(&by.answered_by.agent_id);
    let known = known.and_then(|text| text.parse::<PublicKey>().ok());
    match known {
        Some(key) if key != by.answered_by.public_key => Err(Refusal::NotAuthorized(format!(
            "the answer is signed with a key that is not the one of {:?}",
            by.answered_by.agent_id
        ))),
        _ => Ok(()),
    }
}

impl Operation for Resolve {
    type View = ClarificationView;
    type Answer = Resolved;
    type Refusal = Refusal;

    fn decide(self, view: &ClarificationView, env: &Env) -> Result<Step<Resolved>, Refusal> {
        super::is_own(&view.session, &self.by)?;
        let (asked, verdict) = judge(view, &self.gap_id, &self.answer, env)?;
        if is_repeat(&asked, &self.answer, self.asked) {
            return Ok(Step::answer(Resolved { session: view.session.clone(), verdict, fresh: false }));
        }
        let place = (view.project.key, view.project.id.clone());
        let mut mint = env.mint();
        let mut moving = SessionTransition::of(view.context(&place), &view.session, env.now)?;
        let judged = match &verdict {
            AnswerVerdict::Resolved { accepted } => Ok(accepted.clone()),
            AnswerVerdict::Escalated { why } => Err(why.clone()),
        };
        let given_by = GivenBy::Own;
        let given = GivenAnswer { answer: self.answer, judged, given_by, decision_id: None, signed: self.signed };
        moving.answered(&self.gap_id, given)?;
        match (&verdict, self.asked) {
            (AnswerVerdict::Escalated { .. }, Some(decision)) => moving.link_decision(&self.gap_id, decision),
            (AnswerVerdict::Escalated { .. }, None) => {}
            (AnswerVerdict::Resolved { .. }, _) => moving.evaluate()?,
        }
        let mut effects = Effects { guards: view.guards.clone(), ..Effects::default() };
        let session = moving.finish(&mut effects, &mut mint)?;
        Ok(Step { answer: Resolved { session, verdict, fresh: true }, effects })
    }
}

/// A repeated answer adds no new entry (W-12).
fn is_repeat(asked: &AskedGap, answer: &str, question: Option<RowKey>) -> bool {
    match &asked.state {
        GapState::Resolved { .. } => true,
        GapState::Open { refused: Some((said, _)), asked } => {
            said == answer && (question.is_none() || *asked == question)
        }
        GapState::Open { .. } | GapState::Superseded | GapState::Abandoned { .. } => false,
    }
}
