//! Pending questions of a subscriber's person, and deadline extensions: outside of the protocol, by the same rules.

use super::Listener;
use crate::{decisions::InboxItem, projects::ProjectAt, services::Events};
use countersign_core::{
    decision::{answer::NotCounted, audience, question},
    records::Via,
    refusal::Refusal,
};
use countersign_protocol::{aaep::questions::OpenQuestion, aap::undo::UndoResponse, time::UnixMillis};

impl Events<'_> {
    /// The pending questions that this person may see, oldest first.
    pub async fn questions_for(self, at: &ProjectAt, listener: &Listener) -> Result<Vec<OpenQuestion>, Refusal> {
        let open = self.decisions().inbox(at, &listener.member).await?;
        let by = listener.answerer(&at.project.document, Via::Api, self.now());
        let document = |item: &InboxItem| {
            let page = self.decisions().page_of(at, &item.decision.id);
            question::document(&item.decision, &item.session, page, &by)
        };
        Ok(open.iter().filter_map(document).collect())
    }

    /// Undoes an approved call for this person (AAP 14.1). A question that the person may not see is reported as not found.
    pub async fn undo(
        self,
        at: &ProjectAt,
        listener: &Listener,
        id: &str,
        call_id: Option<&str>,
    ) -> Result<UndoResponse, Refusal> {
        let by = listener.answerer(&at.project.document, Via::Api, self.now());
        let decision = self.decisions().decision_at(at.project.key, id).await?;
        let visible = decision.filter(|decision| audience(decision).includes(by.person, &by.roles));
        let decision = visible.ok_or_else(|| Refusal::NotFound("there is no such question".into()))?;
        self.calls().undo_by_person(&decision, call_id, &by).await
    }

    /// Extends the deadline for this person, within policy; returns the new deadline.
    pub async fn extend_deadline(
        self,
        at: &ProjectAt,
        listener: &Listener,
        id: &str,
        seconds: i64,
    ) -> Result<UnixMillis, NotCounted> {
        self.decisions().extend(at, id, &listener.answerer(&at.project.document, Via::Api, self.now()), seconds).await
    }
}
