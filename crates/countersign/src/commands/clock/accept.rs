//! `countersign clock accept`

use crate::{context::Context, failure::Failure, operations};
use countersign_server::admin::AcceptClock;

/// Continue with the current clock, after it leapt or was ahead. Open approvals lapse
///
/// Only when the clock is right now: one that is wrong is set right instead, and service resumes by itself. Every project's
/// evidence says that the clock was accepted, and why. Proofs need a new nonce. After a clock that was more than five
/// minutes ahead, people sign in again and agents register again.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Why the clock is right although it leapt, for the evidence.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let done = operations::ask_about_clock(context, AcceptClock { reason: arguments.reason.clone() })?;
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
