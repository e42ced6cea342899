//! `countersign plan show ID`: the steps, their progress, and the remaining uses.

use super::{
    connection::{Connected, failed},
    texts,
};
use crate::{
    clock::system_now,
    commands::documents::mplp_id,
    context::Context,
    failure::Failure,
    span,
    table::{Table, printable},
};
use countersign_protocol::mplp::{AllowanceStatus, Left, MplpId, Plan, PlanActions, Runs, StepShown};
use serde_json::json;

/// Show a plan: its steps, their progress, and the remaining uses
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
    let actions = mplp.actions(&arguments.id).await.map_err(failed)?;
    if json {
        return context.say_json(&json!({ "plan": plan, "actions": actions }));
    }
    context.say(&head(&plan, &actions))?;
    context.list(&table(&actions))
}

fn head(plan: &Plan, actions: &PlanActions) -> String {
    let done = actions.steps.iter().filter(|step| texts::is_done(step.status)).count();
    let mut lines = vec![
        format!("Plan: {}", printable(&plan.title)),
        format!("Objective: {}", printable(&plan.objective)),
        format!("Status: {}, {done} of {} steps done", texts::plan(actions.status), actions.steps.len()),
    ];
    lines.extend(in_part(actions));
    lines.extend(actions.feedback.as_ref().map(|reason| format!("Returned to draft: {}", printable(reason))));
    lines.push(match actions.until {
        Some(until) => format!("Until: {}{}", until.to_rfc3339(), left_of_time(until.millis_since(system_now()))),
        None => format!("Lasts: {} once it is approved", span::in_words(actions.lasts_seconds)),
    });
    lines.extend(actions.confirm_id.as_ref().map(|confirm| format!("Confirm: {confirm}")));
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    format!("{lines}\n")
}

/// An approval of some steps is never presented as an approval of all.
fn in_part(actions: &PlanActions) -> Option<String> {
    let refused = actions.steps.iter().filter(|step| step.approved == Some(false)).count();
    let approved = actions.steps.len() - refused;
    (refused > 0)
        .then(|| format!("Approved in part: {approved} of {} steps; the others do not run", actions.steps.len()))
}

fn left_of_time(millis: i64) -> String {
    match millis / 1000 {
        seconds if seconds > 0 => format!(" ({} left)", span::in_words(seconds)),
        _ => " (over)".into(),
    }
}

fn table(actions: &PlanActions) -> Table<6> {
    Table {
        head: ["step", "status", "done", "left", "sums left", "runs"],
        rows: actions.steps.iter().enumerate().map(|(at, step)| row(at + 1, step)).collect(),
        none: "the plan has no steps",
    }
}

fn row(number: usize, step: &StepShown) -> [String; 6] {
    let status = match step.approved {
        Some(false) => "not approved".to_owned(),
        _ => texts::step(step.status).to_owned(),
    };
    let Some(runs) = &step.runs else {
        let own = format!("nothing: {} (done by the agent itself)", step.description);
        return [number.to_string(), status, String::new(), String::new(), String::new(), own];
    };
    let open = runs.left.as_ref().filter(|left| left.state == AllowanceStatus::Open);
    [number.to_string(), status, done(runs), left(runs), open.map(sums).unwrap_or_default(), runs.shown.clone()]
}

fn done(runs: &Runs) -> String {
    let done = format!("{} of {}", runs.done, runs.uses);
    if runs.under_way == 0 { done } else { format!("{done}, {} in progress", runs.under_way) }
}

fn left(runs: &Runs) -> String {
    match &runs.left {
        None if runs.asks_again => "asks each time".into(),
        None => "not approved".into(),
        Some(left) => match left.state {
            AllowanceStatus::Open => left.uses.to_string(),
            AllowanceStatus::Spent => "used up".into(),
            AllowanceStatus::Lapsed => "lapsed".into(),
            AllowanceStatus::Cancelled => "revoked".into(),
        },
    }
}

fn sums(left: &Left) -> String {
    let sums: Vec<String> = left.sums.iter().map(texts::sum).collect();
    sums.join("; ")
}
