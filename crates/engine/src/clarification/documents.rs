//! The record of a session: for its agent, for auditors, and for the agent that takes over.

use crate::{
    decisions::AgentPrincipal,
    projects::ProjectAt,
    services::Clarifications,
    store::{self, ClarificationEntriesOf},
};
use countersign_core::{
    clarification::{no_session, view},
    people::ProjectMember,
    records::{ClarificationEntry, ClarificationSession, Role},
    refusal::Refusal,
};
use countersign_protocol::{
    clarification::{Audit, Handoff},
    mplp::MplpId,
};

/// The reader of a chain.
#[derive(Clone, Debug)]
pub enum ChainReader {
    /// The agent sees its own sessions.
    Agent(Box<AgentPrincipal>),
    /// The responsible person of that agent, admins and auditors.
    Person(Box<ProjectMember>),
    /// An admin key sees everything in the project.
    Admin,
}

impl Clarifications<'_> {
    pub async fn clarify_audit(self, at: &ProjectAt, reader: &ChainReader, id: &MplpId) -> Result<Audit, Refusal> {
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
        let mut entries = store::find_all(&*self.store, ClarificationEntriesOf(session.key)).await?;
        entries.retain(|entry| entry.position <= session.entries);
        entries.sort_by_key(|entry| entry.position);
        Ok(entries)
    }
}

fn sees(reader: &ChainReader, session: &ClarificationSession) -> bool {
    match reader {
        ChainReader::Agent(agent) => session.by.principal == agent.raiser.principal,
        ChainReader::Person(member) => {
            member.has_role(Role::Admin) || member.has_role(Role::Auditor) || session.by.person == member.person.key
        }
        ChainReader::Admin => true,
    }
}
