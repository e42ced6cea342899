//! A node is killed while the bank works. The outcome is unknown, so it is reported as unknown, and nothing is run again
//!

use super::{
    super::{
        device::PATIENCE,
        steps::{Steps, check},
    },
    Branch,
    calls::transfer,
    desk::describe,
};
use crate::DemoFailure;
use countersign_client::agent::AgentCall;
use countersign_protocol::decisions::ClaimStatus;
use std::time::Duration;

const LOOK_AGAIN: Duration = Duration::from_millis(100);

pub(super) async fn play(branch: &mut Branch, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
    let call = transfer("inv-9", "640.00");
    let before = branch.bank.effects("/transfers").len();
    let (decision, token) = branch.desk.approved(&branch.node, &call).await?;
    branch.desk.disconnect().await;
    branch.node.stop().await;
    branch.is_killed_at_work(&call.clone().confirmed(token)).await?;
    steps.done("killed: the node ran as a process of its own, and was killed while the bank was at work")?;
    branch.node.start().await?;
    branch.is_unknown(&decision.decision_id).await?;
    steps.done("restarted on the same database, it says of the transfer what is true: unknown")?;
    branch.refuses(&call, (409, "conflict")).await?;
    let done = branch.bank.effects("/transfers").len() - before;
    check(done == 1, "one approval was not carried out exactly once")?;
    steps.done("the same request was refused with 409 until a person reconciles it; the bank did it once")
}

impl Branch {
    async fn is_killed_at_work(&mut self, call: &AgentCall) -> Result<(), DemoFailure> {
        let process = self.node.start_process().await?;
        self.bank.slows_down();
        let killing = async {
            let at_work = tokio::time::timeout(PATIENCE, self.bank.is_at_work()).await;
            process.kill()?;
            check(at_work.is_ok(), "an approved transfer did not reach the bank")
        };
        let (answer, killed) = tokio::join!(self.desk.call(call), killing);
        self.bank.speeds_up();
        killed?;
        check(answer.is_err(), &format!("a killed node answered: {}", describe(&answer)))
    }

    /// The dead node's lease lapses, and the next node reports the outcome as unknown.
    async fn is_unknown(&self, decision_id: &str) -> Result<(), DemoFailure> {
        let unknown = async {
            loop {
                let execution = self.desk.decision(decision_id).await?.execution;
                match execution.map(|execution| execution.state) {
                    Some(ClaimStatus::Unknown) => return Ok(()),
                    Some(ClaimStatus::Claimed) => tokio::time::sleep(LOOK_AGAIN).await,
                    other => return Err(DemoFailure::new(format!("not as promised: the claim shows as {other:?}"))),
                }
            }
        };
        let late = || DemoFailure::new("not as promised: the claim of a dead node never ended");
        tokio::time::timeout(PATIENCE, unknown).await.map_err(|_| late())?
    }
}
