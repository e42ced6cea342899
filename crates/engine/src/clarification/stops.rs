//! An open gap stops the operations that it blocks, at every enforcement point (W-26).

use crate::{
    services::Clarifications,
    store::{self, ClarificationSessionById, ClarificationSessionOfHolder, ClarificationSessionsOpenOfHolder},
};
use countersign_core::{
    aap::access::CallFacts,
    clarification::{
        expire::Expire,
        required_answerer::is_irreversible,
        stops::{self, StoppedAction},
        texts::ClarificationResult,
    },
    records::{ClarificationSession, ClarificationState, Decision, Project, Raiser},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{clarification::Operation, ids::RowKey, mplp::MplpId, question::ClarificationFacts};

impl Clarifications<'_> {
    /// Refuses a question about an operation that a BLOCK gap of the same session, or API key, blocks.
    pub(crate) async fn may_be_asked(self, project: &Project, raiser: &Raiser, action: &str) -> Result<(), Refusal> {
        let operations = stops::operations_of(&project.document.clarification, action, true);
        self.are_clear(project, raiser, &operations, StoppedAction::Asking).await
    }

    /// Refuses the execution. `approval` is the decision that permits it, if one was needed.
    pub(crate) async fn may_run(
        self,
        project: &Project,
        raiser: &Raiser,
        (action, route): (&str, Option<&str>),
        approval: Option<&Decision>,
    ) -> Result<(), Refusal> {
        let operations = stops::operations_of(&project.document.clarification, action, approval.is_some());
        let irreversible = is_irreversible(&project.document, action, route);
        let approved_at = approval.and_then(Decision::approved_at);
        self.are_clear(project, raiser, &operations, StoppedAction::Running { irreversible, approved_at }).await
    }

    pub(crate) async fn are_clear(
        self,
        project: &Project,
        raiser: &Raiser,
        operations: &[Operation],
        about: StoppedAction,
    ) -> Result<(), Refusal> {
        if operations.is_empty() {
            return Ok(());
        }
        let (project_key, holder) = (project.key, raiser.holder());
        let lookup = ClarificationSessionsOpenOfHolder { project: project_key, holder };
        let sessions = store::find_all(&*self.store, lookup).await?;
        let now = self.now();
        stops::check(&sessions, operations, about, now)?;
        for over in sessions.into_iter().filter(|session| now >= session.expires_at) {
            let place = (project.key, project.id.clone());
            self.finish(Expire.decide(&(place, over), &self.env()?)?).await?;
        }
        Ok(())
    }

    /// For a call that needs no approval: sessions are loaded only if the project lists operations.
    pub(crate) async fn call_is_clear(self, facts: &CallFacts) -> Result<(), Refusal> {
        let project = facts.project();
        if project.document.clarification.operations.is_empty() {
            return Ok(());
        }
        let Some(raiser) = facts.raiser() else { return Ok(()) };
        self.may_run(project, &raiser, (facts.action(), Some(facts.route().id.as_str())), None).await
    }

    /// The clarified answers behind a question: from the session that the agent names, or, for an AAP session, which
    /// is one task, from its last clarification session.
    pub(crate) async fn clarified(
        self,
        project: &Project,
        raiser: &Raiser,
        named: Option<&MplpId>,
    ) -> Result<Option<ClarificationFacts>, Refusal> {
        let clarified = match (named, raiser.session) {
            (Some(id), _) => self.clarified_in(project, raiser, id).await?,
            (None, Some(holder)) => self.clarified_last(project, holder).await?,
            (None, None) => None,
        };
        Ok(clarified.as_ref().map(ClarificationResult::facts))
    }

    async fn clarified_last(self, project: &Project, holder: RowKey) -> Result<Option<ClarificationResult>, Refusal> {
        let lookup = ClarificationSessionOfHolder { project: project.key, holder };
        let session = store::find_one(&*self.store, lookup).await?;
        let now = self.now();
        let abandoned = |session: &ClarificationSession| matches!(session.state, ClarificationState::Abandoned { .. });
        Ok(session
            .filter(|session| now < session.expires_at && !abandoned(session))
            .as_ref()
            .and_then(ClarificationResult::of))
    }

    /// The clarified answers of the session that the agent names; it must be the agent's own, without open gaps.
    pub(crate) async fn clarified_in(
        self,
        project: &Project,
        raiser: &Raiser,
        id: &MplpId,
    ) -> Result<Option<ClarificationResult>, Refusal> {
        let lookup = ClarificationSessionById { project: project.key, id: id.clone() };
        let session = store::find_one(&*self.store, lookup).await?;
        let session = session.filter(|session| session.by.principal == raiser.principal);
        let session = session.ok_or_else(countersign_core::clarification::no_session)?;
        if session.unanswered().next().is_some() {
            return Err(stops::required(&session, session.unanswered()));
        }
        Ok(ClarificationResult::of(&session))
    }
}
