//! `countersign demo`: a complete demonstration on this machine, with nothing installed.

use crate::{context::Context, failure::Failure, stop::Stop};
use countersign_demo::{DemoFolder, scripted, with_a_person};
use std::time::Duration;

/// How long running tasks may take to end after the demo.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

/// Show the main job on this machine: a person connects an agent, answers its questions, reads its audit and revokes
/// it; and a bank that holds transfers until a person approves, runs them once, and where a plan is approved once
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Play the person's part too, check every step, and exit.
    #[arg(long)]
    scripted: bool,
    /// The port of the pages; a free one by default.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|why| Failure::new(format!("the runtime could not be started: {why}")))?;
    // Dropped last: the folder is removed only when nothing writes into it any more, however the demo ends.
    let folder = DemoFolder::make()?;
    let print = |text: &str| context.say(text).map_err(|_| countersign_demo::DemoFailure::new("the terminal is gone"));
    let result = runtime.block_on(async {
        let mut stop = Stop::listen_with_hangup()?;
        let played = async {
            match arguments.scripted {
                true => scripted(arguments.port, &folder, &print).await,
                false => with_a_person(arguments.port, &folder, &print).await,
            }
        };
        tokio::select! {
            played = played => played.map_err(Failure::from),
            () = stop.asked() => match arguments.scripted {
                true => Err(Failure::new("stopped by a signal before the end of the demo")),
                false => Ok(()),
            },
        }
    });
    runtime.shutdown_timeout(ENDS_WITHIN);
    drop(folder);
    result
}

impl From<countersign_demo::DemoFailure> for Failure {
    fn from(failure: countersign_demo::DemoFailure) -> Self {
        let of = Self::new(failure.error);
        match failure.hint {
            Some(hint) => of.hint(hint),
            None => of,
        }
    }
}
