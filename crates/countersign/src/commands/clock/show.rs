//! `countersign clock show`

use crate::{cli::Reading, context::Context, failure::Failure, operations};
use countersign_server::admin::ShowClock;
use serde_json::json;

/// Show the clocks, and whether decisions are possible
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let found = operations::ask_about_clock(context, ShowClock {})?;
    let (time, machine, store) = (found.time.to_rfc3339(), found.machine.to_rfc3339(), found.store.to_rfc3339());
    if arguments.reading.json {
        return context.say_json(&json!({
            "time": time,
            "machine": machine,
            "database": store,
            "trouble": found.trouble,
            "accepted": found.accepted,
        }));
    }
    let standing = found.trouble.unwrap_or_else(|| "the clock is in order".into());
    context.say(&format!("decided by: {time}\nmachine:    {machine}\ndatabase:   {store}\n{standing}\n"))
}
