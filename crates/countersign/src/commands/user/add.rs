//! `countersign user add NAME`

use super::{RoleArgument, words};
use crate::{context::Context, failure::Failure, operations, password};
use countersign_server::admin::{AddPerson, ListPeople, ShowProject};

/// Add a person
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The sign-in name. It cannot be changed later.
    name: String,

    /// The display name. Default: NAME.
    #[arg(long, value_name = "TEXT")]
    display: Option<String>,

    /// A role in the project; may be repeated.
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<RoleArgument>,

    /// The project of the roles. May be omitted if there is only one.
    #[arg(long, value_name = "ID", requires = "roles")]
    project: Option<String>,

    /// Make the person an admin of every project.
    #[arg(long)]
    platform_admin: bool,

    #[command(flatten)]
    password: password::PasswordSource,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let name = &arguments.name;
    // All checks that need no password come before the prompt.
    if !arguments.roles.is_empty() {
        operations::ask(context, ShowProject { id: arguments.project.clone(), version: None })?;
    }
    if operations::ask(context, ListPeople {})?.iter().any(|person| person.name == *name) {
        return Err(exists(name));
    }
    let request = AddPerson {
        name: name.clone(),
        display_name: arguments.display.as_ref().unwrap_or(name).clone(),
        password: password::read(&arguments.password, name, context)?,
        platform_admin: arguments.platform_admin,
        roles: arguments.roles.iter().copied().map(Into::into).collect(),
        project: arguments.project.clone(),
    };
    match operations::ask(context, request)? {
        Some(place) => context.say(&format!("added {name}: {} in project {}\n", words(&place.roles), place.project)),
        None => context.say(&without_a_role(arguments)),
    }
}

fn exists(name: &str) -> Failure {
    let failure = Failure::new(format!("an account named {name:?} exists already"));
    failure.hint("`countersign user role` changes its roles, `countersign user password` its password")
}

fn without_a_role(arguments: &Arguments) -> String {
    let name = &arguments.name;
    if arguments.platform_admin {
        return format!("added {name}: admin of every project\n");
    }
    format!("added {name}, without a role yet; give one with `countersign user role {name} --role user`\n")
}
