//! `countersign demo`: the whole story on this machine, with nothing installed.

mod api;
mod operator_site;
mod person;
mod questions;
mod story;
mod told;
mod world;

use crate::{context::Context, failure::Failure};
use story::Story;
use world::World;

/// Show the main job on this machine: a person connects an agent, answers what one asks, sees what it did, and cuts it off
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
    runtime.block_on(async {
        let world = World::start(arguments.port).await?;
        let mut story = Story::begin(&world, context)?;
        let told = if arguments.scripted { story.scripted().await } else { story.with_a_person().await };
        world.stop().await;
        told
    })
}
