//! `POST /agent/task-complete`

use crate::{credentials::PresentedCredential, projects::ProjectAt, services::Agents, store::ReversibleWritesOf};
use countersign_core::{
    aap::{
        access::check_bearer,
        task_complete::{MAX_SUMMARY, TaskComplete, ends_with_task},
    },
    people::Actor,
    records::{Delegation, SessionEnd, SessionState},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::aap::revoke::{TaskCompleteRequest, TaskCompleteResponse};

impl Agents<'_> {
    /// The agent behind an access token, also after its own report of completion: a repeated report gets the same
    /// response (AAP 17.6).
    pub async fn completing_agent<'a>(
        self,
        at: &ProjectAt,
        token: impl Into<PresentedCredential<'a>>,
    ) -> Result<Actor, Refusal> {
        let bearer = self.authenticate_bearer(at, &token.into().hashed()).await?;
        if !matches!(bearer.session.state, SessionState::Closed { why: SessionEnd::Completed, .. }) {
            check_bearer(&bearer, &at.project.document, self.decision_time()?)?;
        }
        Ok(Actor::Agent(Box::new(bearer.session.in_mode(bearer.token.mode))))
    }

    pub async fn complete_task(
        self,
        at: &ProjectAt,
        actor: &Actor,
        body: &TaskCompleteRequest,
    ) -> Result<TaskCompleteResponse, Refusal> {
        let session_id = body.session_id.as_ref().ok_or_else(|| Refusal::invalid("session_id is required"))?;
        if body.summary.as_ref().is_some_and(|summary| summary.chars().count() > MAX_SUMMARY) {
            return Err(Refusal::invalid(format!("summary has more than {MAX_SUMMARY} characters")));
        }
        let complete = || async {
            let session = self.session_of(at, actor, session_id).await?;
            let mut view = self.cancel_view(&at.project, Some(actor), session).await?;
            if let Some(session) = &view.session {
                view.reversible = self.find_all(ReversibleWritesOf(session.key)).await?;
                for key in session.delegations() {
                    if let Some(delegation) = self.get::<Delegation>(key).await?.filter(ends_with_task) {
                        let live = self.decisions().live_for_auto_revoke(&delegation).await?;
                        view.ending.push((delegation, live));
                    }
                }
            }
            let step =
                TaskComplete { actor: actor.clone(), summary: body.summary.clone() }.decide(&view, &self.env()?)?;
            let ending = self.subscribe_acknowledgements();
            Ok::<_, Refusal>(step.map(|answer| (answer, view, ending)))
        };
        let (answer, view, ending) = self.run(complete).await?;
        let session = view.session.as_ref().map(|session| session.key);
        let ended = || view.ending.iter().map(|(delegation, _)| delegation.key);
        let holders: Vec<_> = ended().chain(session).collect();
        let late = async {
            for key in ended() {
                self.end_late_decisions_of_delegation(&at.project, key).await?;
            }
            match session {
                Some(key) => self.end_late_decisions_of_session(&at.project, key).await,
                None => Ok(()),
            }
        };
        let (ended, ()) = tokio::join!(late, self.wait_for_inflight_writes(&holders, ending, answer.completed_at));
        ended?;
        Ok(answer)
    }
}
