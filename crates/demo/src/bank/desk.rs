//! The agent of the bank's customer, and the customer's phone.

use super::{
    super::{
        device::{Device, PATIENCE},
        notices::Notices,
        person::{DemoPerson, text},
        plane::{OPERATOR, system_now, trouble},
        steps::check,
    },
    ProofDemand,
    node::BankNode,
    wire::Wire,
};
use crate::DemoFailure;
use countersign_client::{
    aaep::{Asks, ReceivedQuestion, system_dice},
    agent::{Agent, AgentCall, AgentConfig, CallError},
    clarification::Clarifications,
    decisions::Decisions,
    mplp::Mplp,
    operator::OperatorKeys,
    transport::Response,
};
use countersign_protocol::decisions::{DecisionDocument, State};
use std::sync::Arc;

const SCOPES: [&str; 3] = ["bank.read", "bank.note", "bank.pay"];

pub(super) struct Desk {
    agent: Agent,
    pub(super) wire: Arc<Wire>,
    person: DemoPerson,
    phone: Option<Device>,
}

impl Desk {
    /// The person signs in, reads the operator and the requested scopes, and connects the agent.
    pub(super) async fn open(node: &BankNode, operator: OperatorKeys, proof: ProofDemand) -> Result<Self, DemoFailure> {
        let (notices, wire) = (Arc::new(Notices::default()), Arc::new(Wire::new()?));
        let mut config = AgentConfig::new(node.origin.clone());
        (config.api, config.dpop) = (Some(node.gateway.clone()), proof == ProofDemand::Demanded);
        let mut agent =
            Agent::new(config, operator, Arc::clone(&wire) as _, Arc::clone(&notices) as _, notices.clone());
        agent.connect(&SCOPES, None, system_now()).await.map_err(trouble)?;
        let person = DemoPerson::sign_in(&node.origin).await?;
        let (shown, code) = person.approve(&notices.request_id()?).await?;
        check(text(&shown, "operator") == OPERATOR, "the person was shown another operator")?;
        agent.finish_connect(&code, system_now()).await.map_err(trouble)?;
        agent.register(None, system_now()).await.map_err(trouble)?;
        Ok(Self { agent, wire, person, phone: None })
    }

    pub(super) async fn call(&mut self, call: &AgentCall) -> Result<Response, CallError> {
        self.agent.call(call, system_now()).await
    }

    /// Sends a call that is held; returns the id of its decision.
    pub(super) async fn is_held(&mut self, call: &AgentCall) -> Result<String, DemoFailure> {
        match self.call(call).await {
            Err(CallError::NotPermitted(why)) if why.code == "irreversible_requires_confirm" => {
                why.decision_id.ok_or_else(|| DemoFailure::new("not as promised: a held call names no decision"))
            }
            other => Err(DemoFailure::new(format!("not as promised: the call was not held: {}", describe(&other)))),
        }
    }

    /// The question on the person's phone.
    pub(super) async fn reads(
        &mut self,
        node: &BankNode,
        decision_id: &str,
    ) -> Result<Arc<ReceivedQuestion>, DemoFailure> {
        if self.phone.is_none() {
            self.phone = Some(Device::connect(&node.origin, &self.person, "phone").await?);
        }
        let phone = self.phone.as_mut().ok_or_else(|| DemoFailure::new("there is no phone"))?;
        phone.wait_for_question(decision_id).await
    }

    /// The person approves, and the agent's long poll returns.
    pub(super) async fn approves(&self, question: &ReceivedQuestion) -> Result<DecisionDocument, DemoFailure> {
        let phone = self.phone.as_ref().ok_or_else(|| DemoFailure::new("there is no phone"))?;
        phone.approve(question).await?;
        let settled = self.decisions()?.wait(question.id(), PATIENCE).await.map_err(trouble)?;
        check(settled.state == State::Accepted, "the agent did not learn of the approval")?;
        Ok(settled)
    }

    /// The person answers the agent's clarification request.
    pub(super) async fn answers(&self, question: &ReceivedQuestion, answer: &str) -> Result<(), DemoFailure> {
        let phone = self.phone.as_ref().ok_or_else(|| DemoFailure::new("there is no phone"))?;
        phone.answers(question, answer).await?;
        let settled = self.decisions()?.wait(question.id(), PATIENCE).await.map_err(trouble)?;
        check(settled.state == State::Answered, "the agent was not told of the answer")
    }

    /// Has a call held and approved; returns the decision, with the token for the confirmed call.
    pub(super) async fn approved(
        &mut self,
        node: &BankNode,
        call: &AgentCall,
    ) -> Result<(DecisionDocument, String), DemoFailure> {
        let id = self.is_held(call).await?;
        let question = self.reads(node, &id).await?;
        let decision = self.approves(&question).await?;
        let token = confirm_token(&decision)?;
        Ok((decision, token))
    }

    /// The state of a decision and the outcome of its call.
    pub(super) async fn decision(&self, id: &str) -> Result<DecisionDocument, DemoFailure> {
        self.decisions()?.get(id).await.map_err(trouble)
    }

    /// Disconnects before the node is stopped.
    pub(super) async fn disconnect(&mut self) {
        if let Some(phone) = self.phone.take() {
            phone.close().await;
        }
    }

    /// The agent's plans.
    pub(super) fn plans(&self) -> Result<Mplp, DemoFailure> {
        self.agent.plans(Box::new(system_now)).ok_or_else(|| DemoFailure::new("the agent has no session"))
    }

    /// The agent's clarification client, used before it plans.
    pub(super) fn clarifications(&self) -> Result<Clarifications, DemoFailure> {
        self.agent.clarifications(Box::new(system_now)).ok_or_else(|| DemoFailure::new("the agent has no session"))
    }

    /// The person's client for approvals, with the phone's token.
    pub(super) fn person_client(&self) -> Result<Mplp, DemoFailure> {
        self.phone.as_ref().ok_or_else(|| DemoFailure::new("there is no phone"))?.mplp()
    }

    fn decisions(&self) -> Result<Decisions, DemoFailure> {
        let decisions = self.agent.decisions(system_dice(), Box::new(system_now));
        decisions.ok_or_else(|| DemoFailure::new("the agent has no session"))
    }
}

pub(super) fn confirm_token(decision: &DecisionDocument) -> Result<String, DemoFailure> {
    let token = decision.confirm_token.clone();
    token.ok_or_else(|| DemoFailure::new("not as promised: an accepted decision has no confirmation token"))
}

/// The text of a question, in the form that is read out first.
pub(super) fn action(question: &ReceivedQuestion) -> &str {
    match question.request() {
        Asks::Confirmation(asked) => &asked.action,
        Asks::Clarification(_) => "",
    }
}

/// The status and code of a refusal.
pub(super) fn refusal(answer: &Result<Response, CallError>) -> Option<(u16, &str)> {
    match answer {
        Err(CallError::NotPermitted(why) | CallError::Refused(why)) => Some((why.status, why.code.as_str())),
        _ => None,
    }
}

/// The result in words, for a message to the reader.
pub(super) fn describe(answer: &Result<Response, CallError>) -> String {
    match answer {
        Ok(answer) => format!("it was answered {}", answer.status),
        Err(why) => why.to_string(),
    }
}
