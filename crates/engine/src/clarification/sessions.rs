//! Submitting a plan, answering its gaps, and confirming it.

use crate::{
    decisions::{AgentPrincipal, RaisedDecision},
    projects::ProjectAt,
    services::Clarifications,
    store::{ClarificationSessionById, ClarificationSessionSame, Outcome},
};
use countersign_core::{
    clarification::{
        ClarificationView,
        confirm::{self, ConfirmPlan},
        key::AskingKey,
        no_session,
        resolve::{self, AnswerVerdict, Resolve},
        submit::{Submit, SubmitView, limit_reached},
        view,
    },
    records::ClarificationSession,
    refusal::Refusal,
    step::{Operation as _, Step},
};
use countersign_jose::clarification as signatures;
use countersign_protocol::{
    clarification::{
        Attestation, GivenBy, Signable as _,
        signed::plan_digest,
        submission::{CheckRequest, CheckResponse, ResolveRequest, ResolveResponse, ResolveStatus, StatusResponse},
    },
    hash::Digest,
    mplp::MplpId,
};
use serde_json::Value;
use std::sync::Arc;

/// A session, and its current response.
#[derive(Clone, Debug)]
pub struct Gathered {
    pub session: ClarificationSession,
    pub response: CheckResponse,
}

/// The result of a confirmation.
#[derive(Clone, Debug)]
pub enum Confirmed {
    /// With the question about it, if it is a plan that people approve.
    Accepted {
        plan: Value,
        attestation: Box<Attestation>,
        session_id: MplpId,
        asked: Option<Box<RaisedDecision>>,
    },
    Refused(Box<CheckResponse>),
}

/// The result of a request for the plan. Never a part of it.
#[derive(Clone, Debug)]
pub enum Scaffolded {
    Accepted {
        plan: Value,
        session_id: MplpId,
    },
    /// Every gap is answered; the plan is available once it is confirmed.
    Ready(MplpId),
    Refused(Box<CheckResponse>),
}

#[derive(Clone, Debug)]
pub enum Attested {
    Attested(Box<Attestation>),
    Ready(MplpId),
    Refused(Box<CheckResponse>),
}

impl Clarifications<'_> {
    /// Checks a plan for gaps (Clarification 6, `wwa_clarify_check`).
    pub async fn clarify_check(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        asked: &CheckRequest,
    ) -> Result<Gathered, Refusal> {
        let plan = Value::Object(asked.plan_object.clone());
        let digest = plan_digest(&plan).map_err(|why| Refusal::invalid(format!("plan_object: {why}")))?;
        let same = same(agent, &digest);
        let project = Arc::new(at.project.clone());
        let rules = self.rules_of(&at.project)?;
        let submit = || async {
            let known = self.find_session(at, asked.session_id.as_ref(), &same).await?;
            let (id, known) = match (&asked.session_id, known) {
                (Some(id), known) => (id.clone(), known),
                (None, Some(live)) if live.is_live(self.now()) => (live.id.clone(), Some(live)),
                (None, over) => (self.new_session_id(at, &same, over.as_ref()).await?, None),
            };
            let before = known.clone();
            let key = self.signing_key(&at.project).await?;
            let view = SubmitView {
                project: Arc::clone(&project),
                known,
                rules: Arc::clone(&rules),
                key,
                guards: agent.guards.clone(),
            };
            let by = agent.raiser.clone();
            let step = Submit { by, id, plan: plan.clone(), digest, same }.decide(&view, &self.env()?)?;
            Ok::<_, Refusal>(((), step.map(|session| (session, before, view.key))))
        };
        match self.run_to_outcome(submit).await? {
            (Outcome::Committed, (session, before, key)) => {
                self.withdraw_superseded(at, before.as_ref(), &session).await;
                let response = view::check(&session, &key)?;
                Ok(Gathered { session, response })
            }
            (Outcome::LimitReached { .. }, _) => Err(limit_reached(self.now())),
            _ => Err(Refusal::Unavailable),
        }
    }

    /// Two concurrent submissions of the same plan get the same id. If a confirmed session has used it up, which is
    /// found by its accepted plan instead, a new id is made.
    async fn new_session_id(
        self,
        at: &ProjectAt,
        same: &Digest,
        over: Option<&ClarificationSession>,
    ) -> Result<MplpId, Refusal> {
        let id = view::session_id(same, over.map(|over| over.key));
        match self.clarification_at(at, &id).await? {
            Some(used) if used.same != *same => Ok(view::session_id(same, Some(self.env()?.mint().key()))),
            _ => Ok(id),
        }
    }

    async fn find_session(
        self,
        at: &ProjectAt,
        id: Option<&MplpId>,
        same: &Digest,
    ) -> Result<Option<ClarificationSession>, Refusal> {
        let project = at.project.key;
        Ok(match id {
            Some(id) => self.find_one(ClarificationSessionById { project, id: id.clone() }).await?,
            None => self.find_one(ClarificationSessionSame { project, same: *same }).await?,
        })
    }

    /// The agent's own answer to a gap (`wwa_clarify_resolve`). A gap that the agent may not answer goes to a person.
    pub async fn clarify_resolve(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        asked: &ResolveRequest,
    ) -> Result<ResolveResponse, Refusal> {
        let project = Arc::new(at.project.clone());
        let rules = self.rules_of(&at.project)?;
        self.run(|| async {
            let (session, key) = self.own_clarification(at, agent, &asked.session_id).await?;
            let view = ClarificationView {
                project: Arc::clone(&project),
                session,
                rules: Arc::clone(&rules),
                key,
                guards: agent.guards.clone(),
            };
            let env = self.env()?;
            let (gap, verdict) = resolve::judge(&view, &asked.gap_id, &asked.answer, &env)?;
            let signed = asked.signed().filter(|_| gap.is_open());
            if let Some(signed) = &signed {
                resolve::check_own_signature(&view, signed, &env)?;
                let body = resolve::signed_body(&view, &gap, &asked.answer, signed)?;
                let genuine = signatures::verify(&signed.answered_by.public_key, &body.input()?, &signed.signature);
                genuine.map_err(|_| {
                    Refusal::invalid("answer_signature does not match: sign the answer to the current question")
                })?;
            }
            // The question is raised before the round is written: a crash in between leaves a question, never a dead
            // end.
            let question = match &verdict {
                AnswerVerdict::Escalated { .. } => {
                    Some(self.ask_about_gap(at, agent, &view.session, &gap, &asked.answer, &verdict).await?)
                }
                AnswerVerdict::Resolved { .. } => None,
            };
            let operation = Resolve {
                by: agent.raiser.clone(),
                gap_id: asked.gap_id.clone(),
                answer: asked.answer.clone(),
                signed,
                asked: question.as_ref().map(|raised| raised.decision.key),
            };
            let step = operation.decide(&view, &self.env()?)?;
            Ok(step.map(|done| resolve_response(&asked.gap_id, &done.session, done.verdict, question.as_ref())))
        })
        .await
    }

    /// The agent confirms a plan without open gaps (`wwa_clarify_confirm`).
    pub async fn clarify_confirm(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &MplpId,
    ) -> Result<Confirmed, Refusal> {
        let project = Arc::new(at.project.clone());
        let rules = self.rules_of(&at.project)?;
        let confirm = || async {
            let (session, key) = self.own_clarification(at, agent, id).await?;
            self.check_proposable(at, agent, &session)?;
            let principal = agent.clone();
            let operation =
                ConfirmPlan { by: agent.raiser.clone(), same: Box::new(move |digest| same(&principal, digest)) };
            let view = ClarificationView {
                project: Arc::clone(&project),
                session,
                rules: Arc::clone(&rules),
                key,
                guards: agent.guards.clone(),
            };
            let step = operation.decide(&view, &self.env()?)?;
            Ok::<_, Refusal>(step.map(|session| (session, view.key)))
        };
        let (session, key) = self.run(confirm).await?;
        self.confirm_response(at, agent, session, &key).await
    }

    async fn confirm_response(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        session: ClarificationSession,
        key: &AskingKey,
    ) -> Result<Confirmed, Refusal> {
        let Some((plan, attestation)) = confirm::accepted(&session) else {
            return Ok(Confirmed::Refused(Box::new(view::check(&session, key)?)));
        };
        let attestation = serde_json::from_value(attestation.clone()).map_err(|_| Refusal::Internal)?;
        let asked = self.propose_accepted(at, agent, &session, plan).await?;
        Ok(Confirmed::Accepted {
            plan: plan.clone(),
            attestation: Box::new(attestation),
            session_id: session.id.clone(),
            asked: asked.map(Box::new),
        })
    }

    /// The plan, once it is clear and confirmed; until then the gaps, and no part of the plan.
    pub async fn scaffold_plan(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        asked: &CheckRequest,
    ) -> Result<Scaffolded, Refusal> {
        let gathered = match &asked.session_id {
            None => self.confirmed_before(at, agent, asked).await?,
            Some(_) => None,
        };
        let Gathered { session, response } = match gathered {
            Some(session) => {
                let key = self.signing_key(&at.project).await?;
                let response = view::check(&session, &key)?;
                Gathered { session, response }
            }
            None => self.clarify_check(at, agent, asked).await?,
        };
        Ok(match (confirm::accepted(&session), response.gaps.is_empty()) {
            (Some((plan, _)), _) => Scaffolded::Accepted { plan: plan.clone(), session_id: session.id.clone() },
            (None, true) => Scaffolded::Ready(session.id),
            (None, false) => Scaffolded::Refused(Box::new(response)),
        })
    }

    /// The session in which exactly this plan was accepted.
    async fn confirmed_before(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        asked: &CheckRequest,
    ) -> Result<Option<ClarificationSession>, Refusal> {
        let plan = Value::Object(asked.plan_object.clone());
        let digest = plan_digest(&plan).map_err(|why| Refusal::invalid(format!("plan_object: {why}")))?;
        let found = self.find_session(at, None, &same(agent, &digest)).await?;
        Ok(found.filter(ClarificationSession::is_confirmed))
    }

    /// The attestation, once the plan is confirmed.
    pub async fn scaffold_attest(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &MplpId,
    ) -> Result<Attested, Refusal> {
        let (session, key) = self.own_clarification(at, agent, id).await?;
        if let Some((_, attestation)) = confirm::accepted(&session) {
            let attestation = serde_json::from_value(attestation.clone()).map_err(|_| Refusal::Internal)?;
            return Ok(Attested::Attested(Box::new(attestation)));
        }
        let response = view::check(&session, &key)?;
        Ok(match response.gaps.is_empty() {
            true => Attested::Ready(session.id),
            false => Attested::Refused(Box::new(response)),
        })
    }

    /// The open gaps.
    pub async fn clarify_gaps(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &MplpId,
    ) -> Result<CheckResponse, Refusal> {
        let (session, key) = self.own_clarification(at, agent, id).await?;
        view::check(&session, &key)
    }

    pub async fn clarify_status(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &MplpId,
    ) -> Result<StatusResponse, Refusal> {
        let (session, _) = self.own_clarification(at, agent, id).await?;
        view::status(&session, self.now())
    }

    /// A session of the caller, updated to the current signing key, and that key.
    pub(super) async fn own_clarification(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &MplpId,
    ) -> Result<(ClarificationSession, AskingKey), Refusal> {
        self.run(|| async {
            let session = self.clarification_at(at, id).await?;
            let session = session.filter(|session| session.by.principal == agent.raiser.principal);
            let session = session.ok_or_else(no_session)?;
            let key = self.signing_key(&at.project).await?;
            let plan =
                session.plan().filter(|_| session.is_live(self.now()) && session.public_key != key.public_key.as_str());
            let Some(plan) = plan.cloned() else { return Ok(Step::answer((session, key))) };
            let view = SubmitView {
                project: Arc::new(at.project.clone()),
                rules: self.rules_of(&at.project)?,
                key: key.clone(),
                guards: agent.guards.clone(),
                known: Some(session.clone()),
            };
            let (id, same) = (session.id.clone(), session.same);
            let submit = Submit { by: agent.raiser.clone(), id, plan: plan.plan, digest: plan.digest, same };
            let step = submit.decide(&view, &self.env()?)?;
            Ok(step.map(|session| (session, key)))
        })
        .await
    }

    pub(super) async fn clarification_at(
        self,
        at: &ProjectAt,
        id: &MplpId,
    ) -> Result<Option<ClarificationSession>, Refusal> {
        Ok(self.find_one(ClarificationSessionById { project: at.project.key, id: id.clone() }).await?)
    }
}

/// Identifies a plan by agent, holder (AAP session or API key) and digest.
pub(super) fn same(agent: &AgentPrincipal, plan: &Digest) -> Digest {
    let holder = agent.raiser.holder().to_be_bytes();
    Digest::of_parts(&[agent.raiser.principal.as_bytes(), b"\0", &holder, &plan.0])
}

fn resolve_response(
    gap_id: &str,
    session: &ClarificationSession,
    verdict: AnswerVerdict,
    question: Option<&RaisedDecision>,
) -> ResolveResponse {
    let (status, accepted_answer, reason) = match verdict {
        AnswerVerdict::Resolved { accepted } => (ResolveStatus::Resolved, Some(accepted), None),
        AnswerVerdict::Escalated { why } => (ResolveStatus::Escalated, None, Some(why)),
    };
    ResolveResponse {
        gap_id: gap_id.to_owned(),
        status,
        accepted_answer,
        given_by: GivenBy::Own,
        reason,
        decision_id: question.map(|raised| raised.decision.id.clone()),
        page: question.map(|raised| raised.document.page.clone()),
        open_gaps: session.open_gaps().count() as u64,
    }
}
