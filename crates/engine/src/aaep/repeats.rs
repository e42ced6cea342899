//! Repeated events, recognised by the agent's own id on every node and after a restart.

use super::sessions::Spoke;
use crate::{decisions::RaisedDecision, projects::ProjectAt, services::Events, store::AgentEventSame};
use countersign_core::{
    aaep::repeat::SentEvent,
    records::{AaepSession, AgentEventAnswer, Decision},
    refusal::Refusal,
};

impl Events<'_> {
    /// The result of the event's first delivery; `None` if it is new.
    pub(super) async fn published_before(
        self,
        at: &ProjectAt,
        sent: Option<&SentEvent>,
    ) -> Result<Option<Spoke>, Refusal> {
        Ok(match self.answered_before(at, sent).await? {
            Some(AgentEventAnswer::Said { event_id, sequence_number }) => {
                Some(Spoke::Said { event_id, sequence_number })
            }
            Some(AgentEventAnswer::Asked { .. }) => {
                self.raised_before(at, sent).await?.map(|raised| Spoke::Asked(Box::new(raised)))
            }
            Some(AgentEventAnswer::Opened { .. }) | None => None,
        })
    }

    /// The question that the event raised, in its current state.
    pub(crate) async fn raised_before(
        self,
        at: &ProjectAt,
        sent: Option<&SentEvent>,
    ) -> Result<Option<RaisedDecision>, Refusal> {
        let Some(AgentEventAnswer::Asked { decision }) = self.answered_before(at, sent).await? else { return Ok(None) };
        let decision: Decision = self.load(decision).await?;
        let (page, whole) =
            (self.decisions().page_of(at, &decision.id), self.decisions().load_whole(decision.clone()).await?);
        Ok(Some(RaisedDecision { document: whole.document(page), decision, fresh: false }))
    }

    /// The session that the event opened.
    pub(super) async fn opened_before(
        self,
        at: &ProjectAt,
        sent: Option<&SentEvent>,
    ) -> Result<Option<AaepSession>, Refusal> {
        match self.answered_before(at, sent).await? {
            Some(AgentEventAnswer::Opened { session }) => Ok(self.get(session).await?),
            _ => Ok(None),
        }
    }

    async fn answered_before(
        self,
        at: &ProjectAt,
        sent: Option<&SentEvent>,
    ) -> Result<Option<AgentEventAnswer>, Refusal> {
        let Some(sent) = sent else { return Ok(None) };
        let known = self.find_one(AgentEventSame { project: at.project.key, same: sent.same }).await?;
        known.map(|known| sent.answered(&known)).transpose()
    }
}
