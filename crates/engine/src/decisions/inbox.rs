//! Pending questions of a person: the same for the page, the terminal and a new subscriber.

use crate::{
    projects::ProjectAt,
    services::Decisions,
    store::{DecisionsAsking, ExecutionsUnknown},
};
use countersign_core::{
    decision::{audience, document::Whole},
    people::ProjectMember,
    records::{AaepSession, Decision, Execution, Role},
    refusal::Refusal,
};
use countersign_protocol::ids::RowKey;

/// A question that a person may see.
#[derive(Clone, Debug)]
pub struct InboxItem {
    pub decision: Decision,
    pub session: AaepSession,
}

/// An execution that may have run and has no report.
#[derive(Clone, Debug)]
pub struct UnknownOutcome {
    pub execution: Execution,
    pub decision: Decision,
}

impl Decisions<'_> {
    /// The pending questions that a person may see in a project, oldest first.
    pub async fn inbox(self, at: &ProjectAt, member: &ProjectMember) -> Result<Vec<InboxItem>, Refusal> {
        self.open_questions(at.project.key, member.person.key, &member.roles()).await
    }

    pub(crate) async fn open_questions(
        self,
        project: RowKey,
        person: RowKey,
        roles: &[Role],
    ) -> Result<Vec<InboxItem>, Refusal> {
        let mut found = Vec::new();
        for asks in [Decision::asks_person(person), Decision::ASKS_SEVERAL.to_owned()] {
            let open = self.find_all(DecisionsAsking { project, asks }).await?;
            found.extend(open.into_iter().filter(|decision| audience(decision).includes(person, roles)));
        }
        found.sort_by_key(|decision| (decision.asked_at, decision.key));
        let mut items = Vec::with_capacity(found.len());
        for decision in found {
            let session = self.session_of_decision(&decision).await?;
            items.push(InboxItem { decision, session });
        }
        Ok(items)
    }

    /// One decision that a person may see, settled or not.
    pub async fn visible_decision(self, at: &ProjectAt, member: &ProjectMember, id: &str) -> Result<Whole, Refusal> {
        let decision = self.decision_at(at.project.key, id).await?;
        let roles = member.roles();
        let visible = decision.filter(|decision| audience(decision).includes(member.person.key, &roles));
        let decision = visible.ok_or_else(|| Refusal::NotFound("there is no such question".into()))?;
        self.load_whole(decision).await
    }

    /// Executions with an unknown outcome, for people entitled to look into them.
    pub async fn unknown_outcomes(
        self,
        at: &ProjectAt,
        member: &ProjectMember,
    ) -> Result<Vec<UnknownOutcome>, Refusal> {
        let unknown = self.find_all(ExecutionsUnknown(at.project.key)).await?;
        let roles = member.roles();
        let mut found = Vec::new();
        for execution in unknown {
            let Some(decision) = self.get::<Decision>(execution.decision).await? else { continue };
            if roles.contains(&Role::Admin) || audience(&decision).includes(member.person.key, &roles) {
                found.push(UnknownOutcome { execution, decision });
            }
        }
        Ok(found)
    }
}
