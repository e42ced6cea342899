//! Actions of agents and people on the test fixture, decided by the real operations and committed like the real store.
//!
//! Includes the engine's work around an operation: switching a session to the current signing key, and asking a person
//! before an unusable answer is recorded.

use super::world::World;
use crate::decision_world::{ALICE, Ask, answer};
use countersign_core::{
    clarification::{
        ClarificationView,
        confirm::ConfirmPlan,
        expire::Expire,
        person::GapSeen,
        question,
        resolve::{self, AnswerVerdict, Resolve, Resolved},
        submit::{Submit, SubmitView},
        view,
    },
    decision::{
        answer::{AnswerContent, AnswerView, CountedAnswer, NotCounted},
        due::DueView,
        raise::{NewQuestion, RaiseView},
        terms::People,
    },
    records::{AskedGap, Clarification, ClarificationSession, Decision, OfGap, Question, TextAuthor},
    refusal::Refusal,
    step::{Operation as _, Step},
};
use countersign_jose::clarification::{self as signatures, AgentKey};
use countersign_protocol::{
    clarification::{AnsweredBy, Signable as _, Signature, signed::plan_digest, submission::OwnSignature},
    hash::Digest,
    ids::RowKey,
    mplp::MplpId,
};
use serde_json::Value;

/// Submitting plans.
impl World {
    pub(crate) fn submit(&mut self, plan: Value) -> ClarificationSession {
        let step = self.submitting(0, None, plan).unwrap();
        self.commit(step)
    }

    pub(crate) fn resubmit(&mut self, id: &MplpId, plan: Value) -> Result<ClarificationSession, Refusal> {
        let step = self.submitting(0, Some(id), plan)?;
        Ok(self.commit(step))
    }

    /// Finds the session like the engine: by its id, or by agent and plan digest.
    pub(crate) fn submitting(
        &self,
        agent: usize,
        id: Option<&MplpId>,
        plan: Value,
    ) -> Result<Step<ClarificationSession>, Refusal> {
        let digest = plan_digest(&plan).unwrap();
        let same = self.same(agent, &digest);
        let known = match id {
            Some(id) => self.sessions().find(|row| row.id == *id).cloned(),
            None => self.sessions().filter(|row| row.same == same).max_by_key(|row| row.key).cloned(),
        };
        let (id, known) = match (id, known) {
            (Some(id), known) => (id.clone(), known),
            (None, Some(live)) if live.is_live(self.now()) => (live.id.clone(), Some(live)),
            (None, over) => (self.new_session_id(&same, over.map(|over| over.key)), None),
        };
        let view = SubmitView {
            project: self.plane.project.clone(),
            known,
            rules: self.rules.clone(),
            key: self.key(),
            guards: self.plane.guards(agent),
        };
        let by = self.plane.raiser(agent);
        Submit { by, id, plan, digest, same }.decide(&view, &self.plane.env(self.now()))
    }

    fn new_session_id(&self, same: &Digest, over: Option<RowKey>) -> MplpId {
        let id = view::session_id(same, over);
        let used = self.sessions().any(|row| row.id == id && row.same != *same);
        if used { view::session_id(same, Some(self.plane.env(self.now()).mint().key())) } else { id }
    }

    pub(crate) fn same(&self, agent: usize, plan: &Digest) -> Digest {
        Digest::of_parts(&[self.plane.raiser(agent).principal.as_bytes(), b"\0", &plan.0])
    }
}

/// Answering gaps.
impl World {
    pub(crate) fn view(&self, id: &MplpId, agent: usize) -> ClarificationView {
        ClarificationView {
            project: self.plane.project.clone(),
            session: self.session(id),
            rules: self.rules.clone(),
            key: self.key(),
            guards: self.plane.guards(agent),
        }
    }

    /// The agent's own, unsigned answer.
    pub(crate) fn resolve(&mut self, id: &MplpId, gap: &str, said: &str) -> Result<Resolved, Refusal> {
        self.resolve_by(0, id, gap, said, None)
    }

    /// Follows the engine: switch to the current key, judge the answer, ask a person if needed, then commit.
    pub(crate) fn resolve_by(
        &mut self,
        agent: usize,
        id: &MplpId,
        gap: &str,
        said: &str,
        signed: Option<OwnSignature>,
    ) -> Result<Resolved, Refusal> {
        self.bring_up(id);
        let view = self.view(id, agent);
        let env = self.plane.env(self.now());
        let (asked, verdict) = resolve::judge(&view, gap, said, &env)?;
        let signed = signed.filter(|_| asked.is_open());
        if let Some(signed) = &signed {
            self.is_genuine(&view, &asked, said, signed)?;
        }
        let question = match &verdict {
            AnswerVerdict::Escalated { .. } => Some(self.ask_a_person(agent, &view.session, &asked, said, &verdict)),
            AnswerVerdict::Resolved { .. } => None,
        };
        let operation = Resolve {
            by: self.plane.raiser(agent),
            gap_id: gap.into(),
            answer: said.into(),
            signed,
            asked: question.map(|decision| decision.key),
        };
        let step = operation.decide(&view, &env)?;
        Ok(self.commit(step))
    }

    fn is_genuine(
        &self,
        view: &ClarificationView,
        asked: &AskedGap,
        said: &str,
        signed: &OwnSignature,
    ) -> Result<(), Refusal> {
        resolve::check_own_signature(view, signed, &self.plane.env(self.now()))?;
        let body = resolve::signed_body(view, asked, said, signed)?;
        let genuine = signatures::verify(&signed.answered_by.public_key, &body.input()?, &signed.signature);
        genuine.map_err(|_| Refusal::invalid("answer_signature does not fit"))
    }

    /// Records a key rotation in the chain before any other entry.
    pub(crate) fn bring_up(&mut self, id: &MplpId) {
        let session = self.session(id);
        if !session.is_live(self.now()) || session.public_key == self.key().public_key.as_str() {
            return;
        }
        let plan = session.plan().unwrap().plan.clone();
        let step = self.submitting(self.agent_of(&session), Some(id), plan).unwrap();
        self.commit(step);
    }

    fn agent_of(&self, session: &ClarificationSession) -> usize {
        (0..2).find(|agent| self.plane.raiser(*agent).principal == session.by.principal).unwrap()
    }

    /// The signature of an agent over its own answer, for the gap in its current round.
    pub(crate) fn signs(&self, id: &MplpId, gap: &str, said: &str, at: &str, by: (&str, &AgentKey)) -> OwnSignature {
        let view = self.view(id, 0);
        let asked = view.session.gap(gap).unwrap().clone();
        let answered_by = AnsweredBy { agent_id: by.0.into(), public_key: by.1.public_key(), attested: true };
        let signature = Signature::from_bytes([0; 64]);
        let mut signed = OwnSignature { answered_by, signature, timestamp: at.parse().unwrap() };
        let body = resolve::signed_body(&view, &asked, said, &signed).unwrap();
        signed.signature = by.1.sign_body(&body).unwrap();
        signed
    }
}

/// Questions to people.
impl World {
    fn ask_a_person(
        &mut self,
        agent: usize,
        session: &ClarificationSession,
        asked: &AskedGap,
        said: &str,
        verdict: &AnswerVerdict,
    ) -> Decision {
        let same = Digest::of(format!("gap\n{}\n{}", session.key, asked.gap.id).as_bytes());
        let pending = self.plane.store.pending_same(same).cloned();
        let asked_in = pending.as_ref().map(|pending| self.plane.store.session(pending.asked_in).clone());
        let ask = Ask { agent, ..Ask::clarification(question::for_gap(asked, said, verdict)) };
        let view = RaiseView {
            project: self.plane.project.clone(),
            session: asked_in,
            pending,
            under_way: None,
            same_effect: None,
            last_ran_at: None,
            people: People { own: ALICE, named: Vec::new(), asks: Vec::new(), needs_s: None },
            plan: None,
            guards: self.plane.guards(agent),
            somebody_there: true,
        };
        let env = self.plane.env(self.now());
        let gap = Some(OfGap { session: session.key, gap: asked.gap.id.clone() });
        let mut raise = self.plane.asking(&ask, same, &env);
        raise.asked = NewQuestion { same, gap, words: TextAuthor::Owner, ..raise.asked };
        let step = raise.decide(&view, &env).unwrap();
        self.commit(step).decision
    }

    /// The pending question to a person about a gap.
    pub(crate) fn question(&self, id: &MplpId, gap: &str) -> Option<Decision> {
        let of = OfGap { session: self.session(id).key, gap: gap.into() };
        self.plane.store.decisions().find(|row| row.is_pending() && row.gap.as_ref() == Some(&of)).cloned()
    }

    /// A person answers the question.
    pub(crate) fn person(&mut self, decision: RowKey, response: &str) -> Result<CountedAnswer, NotCounted> {
        let step = self.answering(decision, response)?;
        Ok(self.commit(step))
    }

    pub(crate) fn answering(&self, decision: RowKey, response: &str) -> Result<Step<CountedAnswer>, NotCounted> {
        let DueView { place, decision, session, plan } = self.plane.due_view(decision);
        let of = decision.gap.clone().unwrap();
        let asked_in = self.sessions().find(|row| row.key == of.session).unwrap().clone();
        let gap = GapSeen {
            project: self.plane.project.clone(),
            session: asked_in,
            gap_id: of.gap,
            rules: self.rules.clone(),
            key: self.key(),
        };
        let policy = self.plane.project.document.plans.clone();
        let (pause_s, asked_for) = (600, None);
        let view = AnswerView {
            place,
            pause_s,
            decision,
            session,
            plan,
            asked_for,
            boundary: None,
            policy,
            gap: Some(gap),
            widening: None,
        };
        let given = AnswerContent::Response { response: response.into(), confidence: None };
        answer(ALICE, given, self.now()).decide(&view, &self.plane.env(self.now()))
    }

    pub(crate) fn asks(question: &Question) -> &Clarification {
        match question {
            Question::Clarification(asked) => asked,
            Question::Confirmation(_) => panic!("a gap is never a confirmation"),
        }
    }
}

/// Ending sessions.
impl World {
    pub(crate) fn confirm(&mut self, id: &MplpId) -> Result<ClarificationSession, Refusal> {
        let step = self.confirming(0, id)?;
        Ok(self.commit(step))
    }

    pub(crate) fn confirming(&self, agent: usize, id: &MplpId) -> Result<Step<ClarificationSession>, Refusal> {
        let principal = self.plane.raiser(agent).principal;
        let same = move |digest: &Digest| Digest::of_parts(&[principal.as_bytes(), b"\0", &digest.0]);
        let operation = ConfirmPlan { by: self.plane.raiser(agent), same: Box::new(same) };
        operation.decide(&self.view(id, agent), &self.plane.env(self.now()))
    }

    pub(crate) fn expire(&mut self, id: &MplpId) {
        let view = (self.plane.place(), self.session(id));
        let step = Expire.decide(&view, &self.plane.env(self.now())).unwrap();
        self.commit(step);
    }
}
