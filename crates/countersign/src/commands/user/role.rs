//! `countersign user role NAME`

use super::{RoleArgument, words};
use crate::{context::Context, failure::Failure, operations};
use countersign_server::admin::AssignRoles;

/// Set a person's roles in a project. Roles that are not named are removed
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["roles", "none"]))]
pub(crate) struct Arguments {
    /// The person.
    name: String,

    /// A role; may be repeated.
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<RoleArgument>,

    /// Remove all roles.
    #[arg(long)]
    none: bool,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let name = &arguments.name;
    let request = AssignRoles {
        name: name.clone(),
        roles: arguments.roles.iter().copied().map(Into::into).collect(),
        project: arguments.project.clone(),
    };
    let place = operations::ask(context, request)?;
    let now = if place.roles.is_empty() { "no role".into() } else { words(&place.roles) };
    context.say(&format!("{name}: {now} in project {}\n", place.project))
}
