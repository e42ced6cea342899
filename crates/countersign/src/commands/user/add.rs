//! `countersign user add NAME`

use super::{Role, words};
use crate::{context::Context, engine, failure::Failure, password};
use countersign_server::admin::{self, Engine};

/// Add a person
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What the person signs in with. It cannot be changed later.
    name: String,

    /// The name that others see. Without it: NAME.
    #[arg(long, value_name = "TEXT")]
    display: Option<String>,

    /// A role in the project; may be given several times.
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<Role>,

    /// The project of the roles. May be left out where there is only one.
    #[arg(long, value_name = "ID", requires = "roles")]
    project: Option<String>,

    /// Make the person an admin of every project.
    #[arg(long)]
    platform_admin: bool,

    #[command(flatten)]
    password: password::Source,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let said = engine::run(context, async |engine| add(arguments, engine, context).await)?;
    context.say(&said)
}

async fn add(arguments: &Arguments, engine: &Engine, context: &Context) -> Result<String, Failure> {
    let name = &arguments.name;
    // What can be refused without a password is refused before anybody types one.
    let project = match arguments.roles.is_empty() {
        true => None,
        false => Some(engine::project(engine, arguments.project.as_deref()).await?),
    };
    if engine.people().await?.iter().any(|(person, _)| person.subject == *name) {
        return Err(exists(name));
    }
    let password = password::read(&arguments.password, name, context)?;
    let display = arguments.display.as_deref().unwrap_or(name);
    engine.add_person(name, display, &password, arguments.platform_admin).await?;
    let Some(project) = project else { return Ok(without_a_role(arguments)) };
    let roles: Vec<admin::Role> = arguments.roles.iter().copied().map(Into::into).collect();
    let place = engine.set_roles(project.key, name, roles).await?;
    Ok(format!("added {name}: {} in project {}\n", words(&place.roles), project.id))
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
