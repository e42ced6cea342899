//! `GET /v1/decisions/{id}?wait=`: looking, and waiting. Nothing is held in memory that a restart would lose.

use super::Agent;
use crate::{engine::Engine, projects::ProjectAt};
use countersign_core::{records::Decision, refusal::Refusal};
use countersign_protocol::decisions::DecisionDocument;
use std::time::Duration;

/// News may be lost on the way from another node; whoever waits looks by itself this often.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

impl Engine {
    pub async fn decision(&self, at: &ProjectAt, agent: &Agent, id: &str) -> Result<DecisionDocument, Refusal> {
        let decision = self.own_decision(at, agent, id).await?;
        let page = self.page_of(at, &decision.id);
        Ok(self.whole(decision).await?.document(page))
    }

    /// The same once it is settled, or as it is when `wait` is over. The caller is looked at again on each wake.
    pub async fn await_decision(
        &self,
        at: &ProjectAt,
        token: &str,
        id: &str,
        wait: Duration,
    ) -> Result<DecisionDocument, Refusal> {
        let over = tokio::time::sleep(wait);
        tokio::pin!(over);
        loop {
            let agent = self.agent(at, token).await?;
            let decision = self.own_decision(at, &agent, id).await?;
            let waiting = self.waits.begin(decision.key);
            let changed = waiting.changed();
            tokio::pin!(changed);
            // From here on no change is missed; so look once more.
            changed.as_mut().enable();
            let decision = self.own_decision(at, &agent, id).await?;
            let settled = !decision.is_pending();
            let page = self.page_of(at, &decision.id);
            if settled || over.is_elapsed() {
                return Ok(self.whole(decision).await?.document(page));
            }
            tokio::select! {
                () = &mut over => {}
                () = changed => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
        }
    }

    /// What another principal raised does not exist for this one.
    pub(crate) async fn own_decision(&self, at: &ProjectAt, agent: &Agent, id: &str) -> Result<Decision, Refusal> {
        let decision = self.decision_at(at.project.key, id).await?;
        let own = decision.filter(|decision| decision.raised_by.principal == agent.raiser.principal);
        own.ok_or_else(|| Refusal::NotFound("there is no such decision".into()))
    }
}
