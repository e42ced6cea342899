//! An open gap stops the operations that it blocks, at every enforcement point (W-26).

use crate::{
    services::Clarifications,
    store::{ClarificationSessionById, ClarificationSessionOfHolder, ClarificationSessionsOpenOfHolder},
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
    pub(crate) async fn check_question(self, project: &Project, raiser: &Raiser, action: &str) -> Result<(), Refusal> {
        let operations = stops::operations_of(&project.document.clarification, action, true);
        self.check_operations(project, raiser, &operations, StoppedAction::Asking).await
    }

    /// Refuses the execution. `approval` is the decision that permits it, if one was needed.
    pub(crate) async fn check_run(
        self,
        project: &Project,
        raiser: &Raiser,
        (action, route): (&str, Option<&str>),
        approval: Option<&Decision>,
    ) -> Result<(), Refusal> {
        let operations = stops::operations_of(&project.document.clarification, action, approval.is_some());
        let irreversible = is_irreversible(&project.document, action, route);
        let approved_at = approval.and_then(Decision::approved_at);
        self.check_operations(project, raiser, &operations, StoppedAction::Running { irreversible, approved_at }).await
    }

    pub(crate) async fn check_operations(
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
        let sessions = self.find_all(ClarificationSessionsOpenOfHolder { project: project_key, holder }).await?;
        let now = self.now();
        stops::check(&sessions, operations, about, now)?;
        for over in sessions.into_iter().filter(|session| now >= session.expires_at) {
            let place = (project.key, project.id.clone());
            self.finish(Expire.decide(&(place, over), &self.env()?)?).await?;
        }
        Ok(())
    }

    /// For a call that needs no approval: sessions are loaded only if the project lists operations.
    pub(crate) async fn check_call(self, facts: &CallFacts) -> Result<(), Refusal> {
        let project = facts.project();
        if project.document.clarification.operations.is_empty() {
            return Ok(());
        }
        let Some(raiser) = facts.raiser() else { return Ok(()) };
        Box::pin(self.check_run(project, &raiser, (facts.action(), Some(facts.route().id.as_str())), None)).await
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
            (None, Some(holder)) => self.last_clarified(project, holder).await?,
            (None, None) => None,
        };
        Ok(clarified.as_ref().map(ClarificationResult::facts))
    }

    async fn last_clarified(self, project: &Project, holder: RowKey) -> Result<Option<ClarificationResult>, Refusal> {
        let session = self.find_one(ClarificationSessionOfHolder { project: project.key, holder }).await?;
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
        let session = self.find_one(ClarificationSessionById { project: project.key, id: id.clone() }).await?;
        let session = session.filter(|session| session.by.principal == raiser.principal);
        let session = session.ok_or_else(countersign_core::clarification::no_session)?;
        if session.unanswered().next().is_some() {
            return Err(stops::required(&session, session.unanswered()));
        }
        Ok(ClarificationResult::of(&session))
    }
}
