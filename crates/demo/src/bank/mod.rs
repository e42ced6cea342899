//! A bank with an HTTP API and the gateway in front of it: a call is held, approved and run exactly once.

mod calls;
mod desk;
mod interactive;
mod killed;
mod node;
mod plan;
mod process;
mod proven;
mod service;
mod statement;
mod story;
mod unclear;
mod wire;

use super::{
    plane::{DemoPlane, trouble},
    steps::Steps,
};
use crate::DemoFailure;
use desk::Desk;
use node::BankNode;
use service::Bank;

/// The bank, a node that is its gateway, and an agent connected by a person.
pub(super) struct Branch {
    bank: Bank,
    node: BankNode,
    desk: Desk,
}

/// Whether an agent must prove with each call that it holds its key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ProofDemand {
    Demanded,
    /// For readers with only curl.
    NotDemanded,
}

impl Branch {
    pub(super) async fn open(plane: &DemoPlane, proof: ProofDemand) -> Result<Self, DemoFailure> {
        let bank = Bank::open().await.map_err(trouble)?;
        let node = BankNode::prepare(plane, &bank, proof).await?;
        let desk = Desk::open(&node, plane.operator.clone(), proof).await?;
        Ok(Self { bank, node, desk })
    }

    /// Plays the agent and the person. Ends with an error at the first step with an unexpected result.
    pub(super) async fn scripted(&mut self, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
        steps.print(&format!(
            "\nA bank with an HTTP API at {}, and Countersign's gateway in front of it at {}.\n\n",
            self.bank.url(),
            self.node.gateway
        ))?;
        let transfer = story::play(self, steps).await?;
        plan::play(self, steps).await?;
        unclear::play(self, steps).await?;
        killed::play(self, steps).await?;
        proven::play(self, &transfer, steps).await
    }

    /// Leaves the calls to the reader.
    pub(super) async fn interactive(&mut self, steps: &Steps<'_>) -> Result<(), DemoFailure> {
        interactive::play(self, steps).await
    }

    pub(super) async fn close(mut self) {
        self.node.stop().await;
        self.bank.close();
    }
}
