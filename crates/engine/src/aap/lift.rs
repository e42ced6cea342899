//! `POST /agent/lift`

use crate::{projects::ProjectAt, services::Agents};
use countersign_core::{aap::validity::check_delegation, people::Actor, refusal::Refusal};
use countersign_protocol::{
    aap::lift::{LiftRequest, LiftResponse},
    ids::prefixed,
    time::UnixMillis,
};

impl Agents<'_> {
    /// Ends a suspension. A delegation that has ended meanwhile is refused with the reason.
    pub async fn lift(self, at: &ProjectAt, actor: &Actor, body: &LiftRequest) -> Result<LiftResponse, Refusal> {
        let id = body.delegation_id.as_ref().ok_or_else(|| Refusal::invalid("delegation_id is required"))?;
        let shown = body.acknowledgement.as_deref();
        let lifted = self.engine.lift_acknowledged(&at.project, id, Some(actor), shown).await?;
        check_delegation(&lifted, self.decision_time()?)?;
        Ok(LiftResponse { delegation_id: lifted.id, state: "active".into() })
    }

    /// The acknowledgement of one suspension: a MAC of the delegation and the time, so that nothing is stored, and a later
    /// suspension has another one.
    pub(crate) fn acknowledgement(self, delegation_id: &str, suspended_at: UnixMillis) -> Result<String, Refusal> {
        let keys = self.keys().ok_or(Refusal::Unavailable)?;
        let tag = keys.mac.tag("suspension", format!("{delegation_id}\n{}", suspended_at.0).as_bytes());
        let half = tag.first_chunk::<16>().ok_or(Refusal::Internal)?;
        Ok(prefixed("ack", *half))
    }
}
