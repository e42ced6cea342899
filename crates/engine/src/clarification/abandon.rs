//! Abandoning a clarification session, by its agent or by a person.

use crate::{decisions::AgentPrincipal, projects::ProjectAt, services::Clarifications};
use countersign_core::{
    clarification::{ClarificationView, abandon::Abandon, no_session, view},
    people::ProjectMember,
    records::{ClarificationSession, Decision, GapState},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{clarification::submission::StatusResponse, mplp::MplpId};
use std::sync::Arc;

/// The party that abandons a session.
#[derive(Clone, Copy, Debug)]
pub enum Abandoning<'a> {
    Agent(&'a AgentPrincipal),
    Person(&'a ProjectMember),
}

impl Clarifications<'_> {
    /// Closes the session to questions and answers, withdraws its pending questions, and returns its status.
    pub async fn clarify_abandon(
        self,
        at: &ProjectAt,
        by: Abandoning<'_>,
        id: &MplpId,
    ) -> Result<StatusResponse, Refusal> {
        let rules = self.rules_of(&at.project)?;
        let abandon = || async {
            let session = self.clarification_at(at, id).await?.ok_or_else(no_session)?;
            let (operation, guards) = match by {
                Abandoning::Agent(agent) => (Abandon::Agent(agent.raiser.clone()), agent.guards.clone()),
                Abandoning::Person(member) => (Abandon::Person(Box::new(member.clone())), Vec::new()),
            };
            let key = self.signing_key(&at.project).await?;
            let project = Arc::new(at.project.clone());
            let view = ClarificationView { project, session, rules: Arc::clone(&rules), key, guards };
            operation.decide(&view, &self.env()?)
        };
        let session = self.run(abandon).await?;
        self.cancel_questions_about(at, &session).await;
        view::status(&session, self.now())
    }

    /// The session that a question is about, if this person may abandon it and that would still have an effect.
    pub async fn session_to_abandon(
        self,
        decision: &Decision,
        member: &ProjectMember,
    ) -> Result<Option<MplpId>, Refusal> {
        let Some(of) = &decision.gap else { return Ok(None) };
        let session: Option<ClarificationSession> = self.get(of.session).await?;
        let now = self.now();
        let matters = |session: &ClarificationSession| {
            now < session.expires_at
                && (session.is_live(now) || session.still_blocks())
                && countersign_core::clarification::abandon::may_abandon(session, member)
        };
        Ok(session.filter(matters).map(|session| session.id))
    }

    /// Best effort: an answer to a question that stays open has no effect.
    async fn cancel_questions_about(self, at: &ProjectAt, session: &ClarificationSession) {
        for asked in &session.gaps {
            let GapState::Abandoned { asked: Some(decision) } = &asked.state else { continue };
            if let Err(why) = self.decisions().withdraw_open(at, *decision, "the clarification was abandoned").await {
                tracing::warn!(%why, "a question about an abandoned gap stays pending");
            }
        }
    }
}
