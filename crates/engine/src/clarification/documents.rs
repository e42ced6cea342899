//! The record of a session: for its agent, for auditors, and for the agent that takes over.

use crate::{
    decisions::AgentPrincipal, mplp::ProjectReader, projects::ProjectAt, services::Clarifications,
    store::ClarificationEntriesOf,
};
use countersign_core::{
    clarification::{no_session, view},
    records::{ClarificationEntry, ClarificationSession},
    refusal::Refusal,
};
use countersign_protocol::{
    clarification::{Audit, Handoff},
    mplp::MplpId,
};

impl Clarifications<'_> {
    pub async fn clarify_audit(self, at: &ProjectAt, reader: &ProjectReader, id: &MplpId) -> Result<Audit, Refusal> {
        let session = self.clarification_at(at, id).await?.filter(|session| sees(reader, session));
        let session = session.ok_or_else(no_session)?;
        view::audit(&session, &self.chain_of(&session).await?)
    }

    /// The handoff to another agent, with all questions and answers (W-28).
    pub async fn clarify_handoff(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &MplpId,
    ) -> Result<Handoff, Refusal> {
        let (session, key) = self.own_clarification(at, agent, id).await?;
        view::handoff(&session, &self.chain_of(&session).await?, &key, self.now())
    }

    /// The chain up to the session's entry count: another round may have been added between the two reads.
    async fn chain_of(self, session: &ClarificationSession) -> Result<Vec<ClarificationEntry>, Refusal> {
        let mut entries = self.find_all(ClarificationEntriesOf(session.key)).await?;
        entries.retain(|entry| entry.position <= session.entries);
        entries.sort_by_key(|entry| entry.position);
        Ok(entries)
    }
}

/// The agent of the session, its responsible person, admins and auditors.
fn sees(reader: &ProjectReader, session: &ClarificationSession) -> bool {
    let responsible = reader.member().is_some_and(|member| session.by.person == member.person.key);
    reader.sees_all() || responsible || reader.is_agent(&session.by.principal)
}
