//! `countersign inbox list`

use super::{
    connection::{Connected, not_answered},
    plan_steps,
    view::{View, tell_apart},
};
use crate::{
    clock::system_now,
    context::Context,
    failure::Failure,
    table::{printable, sentence},
};

/// List your pending questions, and end
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) async fn run(connected: &Connected, json: bool, context: &Context) -> Result<(), Failure> {
    let open = connected.replier().questions().await.map_err(not_answered)?.questions;
    let (mplp, mut views) = (connected.mplp(), Vec::with_capacity(open.len()));
    for (n, question) in open.iter().enumerate() {
        let steps = plan_steps::of(&mplp, &question.facts).await;
        views.push((format!("Question {}", n + 1), View::from(question).of_plan(steps)));
    }
    tell_apart(&mut views);
    let now = system_now();
    if json {
        return views.iter().try_for_each(|(_, view)| context.say_line(&view.json(now)));
    }
    if views.is_empty() {
        return context.say("No pending questions.\n");
    }
    let gap = if context.terminal.accessible { "" } else { "\n" };
    for (name, view) in &views {
        let lines = view.lines(name, now);
        let text: String = lines.iter().map(|line| sentence(line) + "\n").collect();
        context.say(&format!("{text}Id: {}\n{gap}", printable(&view.id)))?;
    }
    Ok(())
}
