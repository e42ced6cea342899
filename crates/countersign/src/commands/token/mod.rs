//! `countersign token …`: what a person gives to a subscriber of theirs, and takes back.

mod add;
mod list;
mod revoke;

use crate::{context::Context, engine, failure::Failure};
use clap::Subcommand;
use countersign_protocol::time::UnixMillis;
use countersign_server::admin::{Address, Engine, Member, ProjectAt};

/// Make, list and revoke the tokens that subscribers listen and answer with
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Add(add::Arguments),
    List(list::Arguments),
    Revoke(revoke::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Add(arguments) => add::run(&arguments, context),
        Command::List(arguments) => list::run(&arguments, context),
        Command::Revoke(arguments) => revoke::run(&arguments, context),
    }
}

async fn project(engine: &Engine, id: Option<&str>) -> Result<ProjectAt, Failure> {
    let project = engine::project(engine, id).await?;
    Ok(engine.project(&Address::Scoped(project.id.to_string())).await?)
}

/// Everybody as they stand in the project. Nobody has proven anything here but that they may write to the store.
async fn members(engine: &Engine, at: &ProjectAt) -> Result<Vec<Member>, Failure> {
    let people = engine.people().await?.into_iter();
    let member = people.map(|(person, places)| Member {
        person,
        membership: places.into_iter().find(|place| place.project == at.project.key),
        fresh_until: UnixMillis(i64::MIN),
    });
    Ok(member.collect())
}
