//! `/mplp/v1/confirms`: every confirmation as an approval record, and decisions about it (MPLP 2 to 4).

use super::{
    callers::ProjectReader,
    plans::{Proposal, require_capability, role_subject},
};
use crate::{
    aaep::Listener,
    decisions::{AgentPrincipal, Answered, RaisedDecision, digest_of},
    projects::ProjectAt,
    services::Plans,
    store::{DecisionsOfPrincipal, DecisionsOfProject, ImportedConfirmById, Outcome},
};
use countersign_core::{
    decision::{
        answer::{Answer, AnswerContent, Extra, NotCounted, ProvenPerson},
        audience,
        raise::NewQuestion,
    },
    mplp::{
        confirm,
        govern::{Govern, GovernView},
        import::{Import, ImportView},
        roles::{self, requested_by},
        target,
    },
    people::ProjectMember,
    records::{Decision, DecisionTarget, ImportedConfirm, Question, Role, Via},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{
    aaep::event::YesNo,
    decisions::WithdrawRequest,
    ids::RowKey,
    mplp::{Confirm, ConfirmSubmission, DecisionRequest, DecisionStatus, Governance, MplpId, TargetType},
};

/// A Confirm and, unless it was imported, the decision behind it.
#[derive(Clone, Debug)]
pub struct ConfirmShown {
    pub document: Confirm,
    /// `None` for an imported one: nothing is enforced from it.
    pub decision: Option<Decision>,
}

/// The party that decides about a Confirm.
#[derive(Clone, Debug)]
pub enum Decider {
    Person(Box<ProvenPerson>),
    /// An agent may only withdraw its own question.
    Agent(Box<AgentPrincipal>),
}

impl Plans<'_> {
    /// Requests an approval. Regardless of the status and decisions in the document, it is pending.
    pub async fn raise_confirm(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        submission: &ConfirmSubmission,
    ) -> Result<RaisedDecision, Refusal> {
        let said = &submission.confirm;
        let role = Some(said.requested_by_role.as_str());
        let requested_by_role =
            requested_by(&at.project.document, &role_subject(agent), role).map_err(Refusal::invalid)?;
        if said.target_type == TargetType::Plan {
            let ask = Proposal {
                requested_by_role: Some(requested_by_role),
                reason: said.reason.clone(),
                timeout_s: None,
                trace: said.trace.clone(),
                governance: said.governance.clone(),
            };
            return self.propose_plan(at, agent, &said.target_id, &ask).await;
        }
        require_capability(at, agent, roles::CONFIRM_REQUEST)?;
        let tool = format!("mplp.{}", target::word(said.target_type));
        agent.may_ask_for(&tool)?;
        let arguments = target::arguments(submission);
        let digest = digest_of(at, agent, tool.clone(), arguments)?;
        let asked = NewQuestion {
            target: Some(DecisionTarget {
                target_type: said.target_type,
                target_id: said.target_id.clone(),
                plan: None,
                requested_by_role,
                reason: said.reason.clone(),
                trace: said.trace.clone(),
            }),
            governance: said.governance.clone(),
            ..NewQuestion::by_agent(
                digest,
                digest,
                tool.clone(),
                Question::Confirmation(target::question(submission, tool)),
            )
        };
        self.decisions().ask(at, agent, asked.into()).await
    }

    /// Stores another system's approval record, for reading only (M-07).
    pub async fn import_confirm(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        document: &Confirm,
    ) -> Result<Confirm, Refusal> {
        self.run(|| async {
            let known = self.imported(at, &document.confirm_id).await?.is_some()
                || self
                    .decisions()
                    .decision_at(at.project.key, &confirm::decision_id(&document.confirm_id))
                    .await?
                    .is_some();
            let view = ImportView { place: at.project_ref(), known, guards: agent.guards.clone() };
            let operation = Import { principal: agent.raiser.principal.clone(), document: document.clone() };
            let step = operation.decide(&view, &self.env()?)?;
            Ok(step.map(|kept| kept.document))
        })
        .await
    }

    pub async fn confirm(self, at: &ProjectAt, reader: &ProjectReader, id: &MplpId) -> Result<ConfirmShown, Refusal> {
        let decision = self.decisions().decision_at(at.project.key, &confirm::decision_id(id)).await?;
        let decision = decision.filter(|decision| confirm::is_confirm(decision) && sees(reader, decision));
        if let Some(decision) = decision {
            let document = confirm::document(&decision, &at.project.document);
            return Ok(ConfirmShown { document, decision: Some(decision) });
        }
        let imported = self.imported(at, id).await?.filter(|kept| sees_imported(reader, kept));
        let kept = imported.ok_or_else(no_confirm)?;
        Ok(ConfirmShown { document: kept.document, decision: None })
    }

    /// The Confirms that a reader may see, newest first, with the key of the last for the next page.
    pub async fn confirms(
        self,
        at: &ProjectAt,
        reader: &ProjectReader,
        before: Option<RowKey>,
        limit: i64,
    ) -> Result<(Vec<Confirm>, Option<RowKey>), Refusal> {
        let project = at.project.key;
        let rows = match reader {
            ProjectReader::Agent(agent) => {
                let principal = agent.raiser.principal.clone();
                self.find_all(DecisionsOfPrincipal { project, principal, before, limit }).await?
            }
            ProjectReader::Person(_) | ProjectReader::Admin => {
                self.find_all(DecisionsOfProject { project, before, limit }).await?
            }
        };
        let full = i64::try_from(rows.len()).is_ok_and(|found| found == limit);
        let next = rows.last().map(|decision| decision.key).filter(|_| full);
        let shown = rows.iter().filter(|decision| confirm::is_confirm(decision) && sees(reader, decision));
        Ok((shown.map(|decision| confirm::document(decision, &at.project.document)).collect(), next))
    }

    /// A decision about a Confirm. Only an entitled caller learns its actual state.
    pub async fn decide_confirm(
        self,
        at: &ProjectAt,
        decider: &Decider,
        id: &MplpId,
        body: &DecisionRequest,
    ) -> Result<Confirm, NotCounted> {
        let decision_id = confirm::decision_id(id);
        if self.imported(at, id).await?.is_some() {
            return Err(NotCounted::Settled);
        }
        if let Decider::Person(by) = decider {
            let decision = self.decisions().decision_at(at.project.key, &decision_id).await?;
            // A stranger must not learn that it exists.
            if !decision.is_some_and(|decision| confirm::is_confirm(&decision) && may_know(by, &decision)) {
                return Err(NotCounted::Unknown);
            }
        }
        match decider {
            Decider::Agent(agent) => self.withdraw_by_agent(at, agent, &decision_id, body).await?,
            Decider::Person(by) if body.status == DecisionStatus::Cancelled => {
                self.decisions().call_off(at, &decision_id, by, body.reason.clone(), body.by_override).await?;
            }
            Decider::Person(by) => {
                self.answer_by_person(at, by, &decision_id, body).await?;
            }
        }
        let decision = self.decisions().decision_at(at.project.key, &decision_id).await?.ok_or(NotCounted::Unknown)?;
        Ok(confirm::document(&decision, &at.project.document))
    }

    async fn answer_by_person(self, at: &ProjectAt, by: &ProvenPerson, id: &str, body: &DecisionRequest) -> Answered {
        let decision = match body.status {
            DecisionStatus::Approved => YesNo::Accept,
            _ => YesNo::Reject,
        };
        let answer = Answer {
            by: by.clone(),
            given: AnswerContent::Reply { decision, rationale: body.reason.clone(), modified_action: None },
            claimed_at: self.now(),
            decided_by: None,
            correlation_id: None,
            extra: Extra {
                bounds: body.bounds.clone(),
                steps: body.steps.clone(),
                by_override: body.by_override,
                as_role: body.decided_by_role.clone(),
            },
        };
        self.decisions().answer_by_id(at, id, &answer).await
    }

    async fn withdraw_by_agent(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &str,
        body: &DecisionRequest,
    ) -> Result<(), NotCounted> {
        let decision = self.decisions().own_decision(at, agent, id).await.map_err(|_| NotCounted::Unknown)?;
        if body.status != DecisionStatus::Cancelled {
            return Err(NotCounted::NotEntitled);
        }
        if !decision.is_pending() {
            return Err(NotCounted::Settled);
        }
        if decision.is_locked() {
            return Err(NotCounted::Locked);
        }
        let withdrawn =
            self.decisions().withdraw(at, agent, id, &WithdrawRequest { reason: body.reason.clone() }).await;
        match withdrawn {
            Ok(_) => Ok(()),
            Err(Refusal::Conflict(_)) => Err(NotCounted::Settled),
            Err(refusal) => Err(NotCounted::Refused(refusal)),
        }
    }

    /// Locks or unlocks a Confirm (M-27).
    pub async fn govern_confirm(
        self,
        at: &ProjectAt,
        by: &ProvenPerson,
        id: &MplpId,
        governance: &Governance,
    ) -> Result<Confirm, NotCounted> {
        let govern = || async {
            let decision = self.decisions().decision_at(at.project.key, &confirm::decision_id(id)).await?;
            let decision = decision.filter(confirm::is_confirm).ok_or(NotCounted::Unknown)?;
            if !audience(&decision).includes(by.person, &by.roles) && !by.deciding.overrides() {
                return Err(NotCounted::Unknown);
            }
            let operation = Govern { by: by.clone(), governance: governance.clone() };
            let step = operation.decide(&GovernView { place: at.project_ref(), decision }, &self.env()?)?;
            Ok(((), step))
        };
        match self.run_to_outcome(govern).await? {
            (Outcome::Committed, decision) => Ok(confirm::document(&decision, &at.project.document)),
            _ => Err(NotCounted::Refused(Refusal::Unavailable)),
        }
    }

    /// The person behind a subscriber token or a sign-in session, as an answerer through the API.
    pub fn proven_person(self, at: &ProjectAt, listener: &Listener) -> ProvenPerson {
        listener.answerer(&at.project.document, Via::Api, self.now())
    }

    async fn imported(self, at: &ProjectAt, id: &MplpId) -> Result<Option<ImportedConfirm>, Refusal> {
        Ok(self.find_one(ImportedConfirmById { project: at.project.key, id: id.clone() }).await?)
    }
}

/// Anybody entitled to see a pending question may know that it exists.
fn may_know(by: &ProvenPerson, decision: &Decision) -> bool {
    let all = [Role::Admin, Role::Auditor].iter().any(|role| by.roles.contains(role));
    all || audience(decision).includes(by.person, &by.roles)
}

fn sees(reader: &ProjectReader, decision: &Decision) -> bool {
    let concerns = |member: &ProjectMember| audience(decision).includes(member.person.key, &member.roles());
    reader.sees_all() || reader.is_agent(&decision.raised_by.principal) || reader.member().is_some_and(concerns)
}

fn sees_imported(reader: &ProjectReader, kept: &ImportedConfirm) -> bool {
    reader.sees_all() || reader.is_agent(&kept.principal)
}

fn no_confirm() -> Refusal {
    Refusal::NotFound("there is no such Confirm, or it was settled so long ago that it is not kept any more".into())
}
