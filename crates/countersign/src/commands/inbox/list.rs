//! `countersign inbox list`

use super::{
    connection::{Connected, not_answered},
    plan_steps,
    view::View,
};
use crate::{clock::system_now, context::Context, failure::Failure};
use serde_json::Value;

/// List what waits for you, and end
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) async fn run(connected: &Connected, json: bool, context: &Context) -> Result<(), Failure> {
    let open = connected.replier().questions().await.map_err(not_answered)?.questions;
    let (mplp, mut views) = (connected.mplp(), Vec::with_capacity(open.len()));
    for question in &open {
        let action = question.action.as_deref().unwrap_or_default();
        let steps = plan_steps::of(&mplp, action, Some(&question.decision_id)).await;
        views.push(View::from(question).of_plan(steps));
    }
    let now = system_now();
    if json {
        let lines: String = views.iter().map(|view| format!("{}\n", view.json(now))).collect();
        return context.say(&lines);
    }
    if views.is_empty() {
        return context.say("No question waits for you.\n");
    }
    let gap = if context.terminal.accessible { "" } else { "\n" };
    for (n, view) in views.iter().enumerate() {
        let lines = view.lines(&format!("Question {}", n + 1), now);
        let text: String = lines.iter().map(|line| format!("{line}.\n")).collect();
        context.say(&format!("{text}Id: {}\n{gap}", view.id))?;
    }
    Ok(())
}

/// One line of output for a program.
pub(super) fn say_line(context: &Context, value: &Value) -> Result<(), Failure> {
    context.say(&format!("{value}\n"))
}
