//! `countersign inbox more-time ID`

use super::{
    commands::MORE_S,
    connection::{Connected, not_answered},
};
use crate::{clock::system_now, context::Context, failure::Failure, span::in_words as duration};
use serde_json::json;

/// Ask for more time to answer a question
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The question, as `countersign inbox list` names it.
    id: String,

    /// By how many seconds.
    #[arg(long, default_value_t = MORE_S, value_parser = clap::value_parser!(i64).range(1..=86_400))]
    seconds: i64,
}

pub(super) async fn run(
    arguments: &Arguments,
    connected: &Connected,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let more = connected.replier().extend_deadline(&arguments.id, arguments.seconds).await.map_err(not_answered)?;
    let left = more.deadline.millis_since(system_now()).max(0) / 1000;
    if json {
        let told = json!({ "id": more.decision_id, "deadline": more.deadline.to_rfc3339(), "seconds_left": left });
        return context.say_line(&told);
    }
    context.say(&format!("Time left to answer: {}, until {}.\n", duration(left), more.deadline.to_rfc3339()))
}
