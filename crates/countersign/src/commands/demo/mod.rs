//! `countersign demo`: the whole story on this machine, with nothing installed.

mod api;
mod bank;
mod device;
mod folder;
mod operator_site;
mod person;
mod questions;
mod steps;
mod story;
mod told;
mod world;

use crate::{context::Context, failure::Failure, stop::Stop};
use bank::{Branch, Proof};
use folder::DemoFolder;
use std::time::Duration;
use steps::Steps;
use story::Story;
use world::World;

/// How long what still runs may take to end once the demo is over.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

/// Show the main job on this machine: a person connects an agent, answers what one asks, sees what it did, and cuts it
/// off; and a bank, where what cannot be undone waits for a person's yes and then runs once, and a plan is approved once
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Plays the person's part too, checks every step, and ends.
    #[arg(long)]
    scripted: bool,
    /// The port of the pages; a free one unless said.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|why| Failure::new(format!("the runtime could not be started: {why}")))?;
    // Dropped last: whatever ends the demo, its folder is gone when nothing writes into it any more.
    let folder = DemoFolder::make()?;
    let told = runtime.block_on(async {
        let mut stop = Stop::listen_with_hangup()?;
        tokio::select! {
            told = play(arguments, context, &folder) => told,
            () = stop.asked() => match arguments.scripted {
                true => Err(Failure::new("stopped by a signal before the story was told")),
                false => Ok(()),
            },
        }
    });
    runtime.shutdown_timeout(ENDS_WITHIN);
    drop(folder);
    told
}

async fn play(arguments: &Arguments, context: &Context, folder: &DemoFolder) -> Result<(), Failure> {
    let world = World::start(arguments.port, folder.path()).await?;
    let mut steps = Steps::new(context);
    let told = match arguments.scripted {
        true => scripted(&world, &mut steps).await,
        false => with_a_person(&world, &mut steps).await,
    };
    world.stop().await;
    told
}

async fn scripted(world: &World, steps: &mut Steps<'_>) -> Result<(), Failure> {
    Story::begin(world, steps)?.scripted().await?;
    let mut branch = Branch::open(world, Proof::Demanded).await?;
    let told = branch.scripted(steps).await;
    branch.close().await;
    told?;
    steps.say("\nEverything was as promised.\n")
}

/// The bank stays open for as long as the rest of the story takes.
async fn with_a_person(world: &World, steps: &mut Steps<'_>) -> Result<(), Failure> {
    let mut branch = Branch::open(world, Proof::NotDemanded).await?;
    let told = async {
        branch.at_hand(steps).await?;
        Story::begin(world, steps)?.with_a_person().await
    };
    let told = told.await;
    branch.close().await;
    told
}
