//! Gaps that a person must answer: raised as clarification requests, answered through any channel (W-13, W-31).

use crate::{
    decisions::{AgentPrincipal, RaisedDecision, digest_of},
    projects::ProjectAt,
    services::Clarifications,
};
use countersign_core::{
    clarification::{person::GapSeen, question, resolve::AnswerVerdict},
    decision::raise::NewQuestion,
    records::{AskedGap, ClarificationSession, Decision, GapState, OfGap, Question, TextAuthor},
    refusal::Refusal,
};
use countersign_protocol::hash::Digest;
use serde_json::json;
use std::sync::Arc;

impl Clarifications<'_> {
    /// Asks the people concerned; a repetition returns the pending question.
    pub(super) async fn ask_about_gap(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        session: &ClarificationSession,
        gap: &AskedGap,
        said: &str,
        verdict: &AnswerVerdict,
    ) -> Result<RaisedDecision, Refusal> {
        let content = json!({ "clarification_session": session.id, "gap": gap.gap });
        let digest = digest_of(at, agent, String::new(), content.as_object().cloned().unwrap_or_default())?;
        let same = Digest::of(format!("gap\n{}\n{}", session.key, gap.gap.id).as_bytes());
        let question = Question::Clarification(question::for_gap(gap, said, verdict));
        let asked = NewQuestion {
            // The rule's text, which is the owner's; the agent's own answer is marked as such.
            words: TextAuthor::Owner,
            gap: Some(OfGap { session: session.key, gap: gap.gap.id.clone() }),
            ..NewQuestion::by_agent(digest, same, String::new(), question)
        };
        self.decisions().ask(at, agent, asked.into()).await
    }

    /// The current state of the gap that a question is about, for anybody entitled to see the question.
    pub async fn asked_gap(self, decision: &Decision) -> Result<Option<AskedGap>, Refusal> {
        let Some(of) = &decision.gap else { return Ok(None) };
        let session: Option<ClarificationSession> = self.get(of.session).await?;
        Ok(session.and_then(|session| session.gap(&of.gap).cloned()))
    }

    /// The gap that a question is about, as the view for its answer.
    pub(crate) async fn gap_view(self, at: &ProjectAt, decision: &Decision) -> Result<Option<GapSeen>, Refusal> {
        let Some(of) = &decision.gap else { return Ok(None) };
        let Some(session) = self.get::<ClarificationSession>(of.session).await? else { return Ok(None) };
        Ok(Some(GapSeen {
            project: Arc::new(at.project.clone()),
            session,
            gap_id: of.gap.clone(),
            rules: self.rules_of(&at.project)?,
            key: self.signing_key(&at.project).await?,
        }))
    }

    /// Withdraws questions about superseded gaps. Best effort: an answer to one that stays open has no effect.
    pub(super) async fn withdraw_superseded(
        self,
        at: &ProjectAt,
        before: Option<&ClarificationSession>,
        after: &ClarificationSession,
    ) {
        let Some(before) = before else { return };
        for asked in before.open_gaps() {
            let GapState::Open { asked: Some(decision), .. } = &asked.state else { continue };
            if after.gap(&asked.gap.id).is_some_and(AskedGap::is_open) {
                continue;
            }
            let reason = "the plan that it was about was changed";
            if let Err(why) = self.decisions().withdraw_open(at, *decision, reason).await {
                tracing::warn!(%why, "a question about a closed gap stays pending");
            }
        }
    }
}
