//! `countersign clock …`: the clock that deadlines depend on.

use crate::{cli::Reading, context::Context, failure::Failure, operations};
use clap::Subcommand;
use countersign_server::admin::{AcceptClock, ShowClock};
use serde_json::json;

/// Show the clocks, and accept a clock that leapt
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the clocks, and whether decisions are possible
    Show {
        #[command(flatten)]
        reading: Reading,
    },
    /// Continue with the current clock, after it leapt or was ahead. Open approvals lapse
    ///
    /// Only when the clock is right now: one that is wrong is set right instead, and service resumes by itself. Every project's
    /// evidence says that the clock was accepted, and why. Proofs need a new nonce. After a clock that was more than five
    /// minutes ahead, people sign in again and agents register again.
    Accept {
        /// Why the clock is right although it leapt, for the evidence.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Show { reading } => show(reading.json, context),
        Command::Accept { reason } => accept(reason, context),
    }
}

fn show(json: bool, context: &Context) -> Result<(), Failure> {
    let found = operations::ask_about_clock(context, ShowClock {})?;
    let (time, machine, store) = (found.time.to_rfc3339(), found.machine.to_rfc3339(), found.store.to_rfc3339());
    if json {
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

fn accept(reason: String, context: &Context) -> Result<(), Failure> {
    let done = operations::ask_about_clock(context, AcceptClock { reason })?;
    let mut text = format!("the time is {}; it was {}\n", done.now.to_rfc3339(), done.was.to_rfc3339());
    text.push_str(&format!(
        "lapsed approvals: {}; expired questions: {}; calls of unknown outcome: {}\n",
        done.approvals, done.questions, done.claims
    ));
    if done.signed_out {
        text.push_str("people sign in again, and agents register again\n");
    }
    context.say(&text)
}
