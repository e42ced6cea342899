//! A person's approval: an agent asks, two subscribers receive the question, one answers, the other receives the
//! outcome; the agent then runs exactly the approved call, once.

use super::{
    device::{Device, PATIENCE},
    person::DemoPerson,
    plane::{DemoPlane, PERSON, transport, trouble},
    steps::check,
};
use crate::DemoFailure;
use countersign_client::{
    ServiceError,
    aaep::{Ending, system_dice},
    decisions::Decisions,
};
use countersign_protocol::decisions::{
    ClaimRequest, ClaimStatus, ConfirmationRequest, DecisionDocument, OutcomeRequest, OutcomeStatus, State,
};
use countersign_server::admin::{ApiKeyKind, NewKey};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(super) const BOT: &str = "invoice bot";
const TOOL: &str = "payments.send";

/// An agent with an API key, and two devices of its responsible person.
pub(super) struct Asking {
    agent: Decisions,
    phone: Device,
    speaker: Device,
}

impl Asking {
    pub(super) async fn begin(plane: &DemoPlane, person: &DemoPerson) -> Result<Self, DemoFailure> {
        let key = NewKey {
            kind: ApiKeyKind::Agent,
            principal: BOT.into(),
            responsible: PERSON.into(),
            actions: vec![TOOL.into()],
            asks: Vec::new(),
            jkt: None,
        };
        let key = plane.node.engine.people().add_key(&plane.project().await?, &key).await.map_err(trouble)?;
        let transport = Arc::new(transport()?);
        let agent = Decisions::new(&plane.origin, None, &key.secret, transport, system_dice());
        let phone = Device::connect(&plane.origin, person, "phone").await?;
        Ok(Self { agent, phone, speaker: Device::connect(&plane.origin, person, "kitchen speaker").await? })
    }

    /// Asks, and answers from one device; returns the agent's decision and the outcome that the other device received.
    pub(super) async fn ask(&mut self, amount: u32) -> Result<(DecisionDocument, Ending), DemoFailure> {
        let asked = self.agent.request_confirmation(&question(amount)).await.map_err(trouble)?;
        let id = &asked.decision_id;
        let (seen, also) = (self.phone.wait_for_question(id).await?, self.speaker.wait_for_question(id).await?);
        let right = seen.is_irreversible() && also.event_id() == seen.event_id();
        check(right, "the two devices were not told the same")?;
        self.phone.approve(&seen).await?;
        let heard = self.speaker.ending_of(&also).await?;
        let settled = self.agent.wait(&asked.decision_id, PATIENCE).await.map_err(trouble)?;
        check(settled.state == State::Accepted, "the agent did not learn of the approval")?;
        Ok((settled, heard))
    }

    /// Claims and reports, as for a successful payment.
    pub(super) async fn pay(&self, decision: &DecisionDocument, amount: u32) -> Result<(), DemoFailure> {
        self.agent.claim(&decision.decision_id, &claim(amount)).await.map_err(trouble)?;
        let again = self.agent.claim(&decision.decision_id, &claim(amount)).await;
        check(again.is_err(), "one approval was claimed twice")?;
        let outcome = OutcomeRequest { status: OutcomeStatus::Committed, execution_id: None, error_message: None };
        let done = self.agent.report(&decision.decision_id, &outcome).await.map_err(trouble)?;
        let state = done.execution.map(|execution| execution.state);
        check(state == Some(ClaimStatus::Committed), "the outcome was not recorded")
    }

    /// Tries to claim the approval for another amount.
    pub(super) async fn pay_another(&self, decision: &DecisionDocument, amount: u32) -> Result<(), DemoFailure> {
        let refused = self.agent.claim(&decision.decision_id, &claim(amount)).await;
        check(matches!(refused, Err(ServiceError::Refused(_))), "an approval of one amount was claimed for another")
    }

    pub(super) async fn end(self) {
        for device in [self.phone, self.speaker] {
            device.close().await;
        }
    }
}

fn question(amount: u32) -> ConfirmationRequest {
    ConfirmationRequest {
        action: format!("Pay ${amount} to Acme Supplies"),
        consequence: "The money leaves the account and does not come back".into(),
        tool: Some(TOOL.into()),
        arguments: Some(arguments(amount)),
        ..ConfirmationRequest::default()
    }
}

fn claim(amount: u32) -> ClaimRequest {
    ClaimRequest { tool: Some(TOOL.into()), arguments: Some(arguments(amount)), digest: None }
}

fn arguments(amount: u32) -> Map<String, Value> {
    Map::from_iter([("amount".to_owned(), json!(amount)), ("to".to_owned(), json!("Acme Supplies"))])
}
