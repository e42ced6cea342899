//! `countersign user role NAME`

use super::{Role, words};
use crate::{context::Context, engine, failure::Failure};
use countersign_server::admin;

/// Set what a person is in a project. Roles that are not named are taken away
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["roles", "none"]))]
pub(crate) struct Arguments {
    /// The person.
    name: String,

    /// A role; may be given several times.
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<Role>,

    /// Take all roles away.
    #[arg(long)]
    none: bool,

    /// The project. May be left out where there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let name = &arguments.name;
    let roles: Vec<admin::Role> = arguments.roles.iter().copied().map(Into::into).collect();
    let (place, project) = engine::run(context, async |engine| {
        let project = engine::project(engine, arguments.project.as_deref()).await?;
        Ok((engine.set_roles(project.key, name, roles).await?, project.id))
    })?;
    let now = if place.roles.is_empty() { "no role".into() } else { words(&place.roles) };
    context.say(&format!("{name}: {now} in project {project}\n"))
}
