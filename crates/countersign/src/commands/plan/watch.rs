//! `countersign plan watch ID`: past and new events, until the plan is in a final state.

use super::{
    connection::{Connected, failed},
    texts,
};
use crate::{commands::documents::mplp_id, context::Context, failure::Failure, table::printable};
use countersign_client::mplp::Mplp;
use countersign_protocol::mplp::{BusEvent, ExecutionStatus, Family, MplpId, Plan, PlanStatus, StepStatus};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Follow a plan until its final state, one line an event. Ends with 0 when it was completed, and with 1 when it was
/// not
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[arg(value_name = "ID", value_parser = mplp_id)]
    id: MplpId,
}

pub(super) async fn run(
    arguments: &Arguments,
    connected: &Connected,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let mplp = connected.mplp();
    let plan = mplp.plan(&arguments.id).await.map_err(failed)?;
    // If the plan has already ended, the log has the event, unless that was erased.
    let ended = Some(plan.status).filter(|status| texts::is_over(*status));
    let mut watch = Watch::of(plan, json, context);
    let after = watch.catch_up(&mplp).await?;
    let mut over = watch.over.or(ended);
    let mut following = connected.follow(after);
    while over.is_none() {
        watch.hear(&following.next().await.map_err(failed)?)?;
        over = watch.over;
    }
    match over {
        Some(PlanStatus::Completed) => Ok(()),
        _ => Err(Failure::told()),
    }
}

struct Watch<'a> {
    plan: Plan,
    /// The last reported status of each step.
    steps: BTreeMap<MplpId, StepStatus>,
    over: Option<PlanStatus>,
    json: bool,
    context: &'a Context,
}

impl<'a> Watch<'a> {
    fn of(plan: Plan, json: bool, context: &'a Context) -> Self {
        Self { plan, steps: BTreeMap::new(), over: None, json, context }
    }

    /// Prints the events so far, and returns the cursor after them.
    async fn catch_up(&mut self, mplp: &Mplp) -> Result<Option<String>, Failure> {
        let mut after: Option<String> = None;
        loop {
            let page = mplp.events(after.as_deref()).await.map_err(failed)?;
            for event in &page.events {
                self.hear(event)?;
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(after),
            }
        }
    }

    fn hear(&mut self, event: &BusEvent) -> Result<(), Failure> {
        if member::<MplpId>(event, "plan_id").as_ref() != Some(&self.plan.plan_id) {
            return Ok(());
        }
        match (member(event, "step_id"), member::<StepStatus>(event, "to")) {
            (Some(step), Some(to)) => drop(self.steps.insert(step, to)),
            _ if event.event_type == "plan_status_changed" => {
                self.over = member(event, "to").filter(|status| texts::is_over(*status));
            }
            _ => {}
        }
        self.print_event(event)
    }

    fn print_event(&self, event: &BusEvent) -> Result<(), Failure> {
        let is_done = |id: &MplpId| self.steps.get(id).is_some_and(|status| texts::is_done(*status));
        let done = self.plan.steps.iter().filter(|step| is_done(&step.step_id)).count();
        let steps = self.plan.steps.len();
        if self.json {
            return self.context.say_line(&json!({ "event": event, "done": done, "steps": steps }));
        }
        let Some(text) = self.text(event) else { return Ok(()) };
        let at = event.timestamp.to_rfc3339();
        self.context.say(&match self.context.terminal.accessible {
            true => format!("{text}. {done} of {steps} steps done, {at}.\n"),
            false => format!("{at}  {done}/{steps}  {text}\n"),
        })
    }

    /// `None` if another event of the same moment covers it.
    fn text(&self, event: &BusEvent) -> Option<String> {
        let by = || printable(&member::<String>(event, "decided_by").unwrap_or_default());
        Some(match event.event_type.as_str() {
            "plan_created" => "the plan was written".into(),
            "confirm_pending" => "the approval is pending".into(),
            "plan_approved" => format!("approved by {}", by()),
            "plan_rejected" => format!("rejected by {}", by()),
            "confirm_resolved" if member::<String>(event, "status")? == "cancelled" => {
                format!("the question was cancelled by {}", by())
            }
            "plan_status_changed" => format!("the plan is {}", texts::plan(member(event, "to")?)),
            kind if kind.starts_with("step_") => {
                format!("{} is {}", self.step(event)?, texts::step(member(event, "to")?))
            }
            kind if kind.starts_with("tool_execution_") => format!("a call of {} {}", self.step(event)?, ran(event)?),
            _ => return None,
        })
    }

    /// The number of the step, and the agent's description.
    fn step(&self, event: &BusEvent) -> Option<String> {
        let id: MplpId = member(event, "step_id")?;
        let at = self.plan.steps.iter().position(|step| step.step_id == id)?;
        let description = printable(&self.plan.steps.get(at)?.description);
        Some(format!("step {} ({description})", at + 1))
    }
}

fn ran(event: &BusEvent) -> Option<&'static str> {
    let Family::RuntimeExecution { status, .. } = event.family else { return None };
    Some(match status {
        _ if event.event_type == "tool_execution_unknown" => "has an unknown outcome: it may have run",
        ExecutionStatus::Pending | ExecutionStatus::Running => "began",
        ExecutionStatus::Completed => "succeeded",
        ExecutionStatus::Failed | ExecutionStatus::Cancelled => "failed",
    })
}

/// One member of an event's payload.
fn member<T: DeserializeOwned>(event: &BusEvent, name: &str) -> Option<T> {
    let value: &Value = event.payload.as_ref()?.get(name)?;
    T::deserialize(value).ok()
}
