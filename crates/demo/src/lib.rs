//! `countersign demo`: a complete demonstration on this machine, with nothing installed. A calendar behind the tower
//! layer, a bank behind the gateway, an operator with a web site over real TLS, an agent and a person.

mod api;
mod bank;
mod device;
mod folder;
mod notices;
mod offboarding;
mod operator_site;
mod person;
mod plane;
mod questions;
mod steps;
mod story;
mod webhook;

pub use folder::DemoFolder;
pub use steps::DemoFailure;

use bank::{Branch, ProofDemand};
use plane::DemoPlane;
use steps::Steps;
use story::Story;

/// Prints to the reader's terminal.
pub type Print<'a> = &'a (dyn Fn(&str) -> Result<(), DemoFailure> + Sync);

/// Plays agent and person, checks every step, and ends with an error at the first unexpected result.
pub async fn scripted(port: u16, folder: &DemoFolder, print: Print<'_>) -> Result<(), DemoFailure> {
    let plane = DemoPlane::start(port, folder.path()).await?;
    let result = play(&plane, &mut Steps::new(print)).await;
    plane.stop().await;
    result
}

/// Leaves the person's part to the reader.
pub async fn with_a_person(port: u16, folder: &DemoFolder, print: Print<'_>) -> Result<(), DemoFailure> {
    let plane = DemoPlane::start(port, folder.path()).await?;
    let result = assist(&plane, &mut Steps::new(print)).await;
    plane.stop().await;
    result
}

async fn play(plane: &DemoPlane, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
    Story::begin(plane, steps)?.scripted().await?;
    let mut branch = Branch::open(plane, ProofDemand::Demanded).await?;
    let result = branch.scripted(steps).await;
    branch.close().await;
    result?;
    steps.print("\nEverything was as promised.\n")
}

/// The bank stays open until the rest of the demo ends.
async fn assist(plane: &DemoPlane, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
    let mut branch = Branch::open(plane, ProofDemand::NotDemanded).await?;
    let result = async {
        branch.interactive(steps).await?;
        Story::begin(plane, steps)?.with_a_person().await
    };
    let result = result.await;
    branch.close().await;
    result
}
