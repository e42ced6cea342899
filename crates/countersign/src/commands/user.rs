//! `countersign user …`: people's accounts.

use crate::{cli::Reading, context::Context, failure::Failure, operations, password, table::Listing};
use clap::{Subcommand, ValueEnum};
use countersign_server::admin::{
    self, AddPerson, AdminRefusal, AssignRoles, DisablePerson, EnablePerson, EndedWithPerson, ListPeople, ListedPerson,
    SetEmail, SetPassword, ShowProject,
};
use serde_json::{Map, Value, json};

/// Manage people's accounts, and their roles in projects
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Add(AddArguments),
    /// List the people and their roles
    List {
        #[command(flatten)]
        reading: Reading,
    },
    Role(RoleArguments),
    /// Offboard a person: disable the account, and end its sign-in sessions, delegations, keys and tokens at once
    #[command(visible_alias = "offboard")]
    Disable {
        /// The person.
        name: String,
    },
    /// Let the person sign in again
    Enable {
        /// The person.
        name: String,
    },
    /// Set a person's e-mail address, which the tokens of service accounts name for the admin who confirms them
    Email {
        /// The person.
        name: String,

        /// The address.
        email: String,
    },
    /// Set a person's password, and end all their sign-in sessions and subscriber tokens
    Password {
        /// The person.
        name: String,

        #[command(flatten)]
        password: password::PasswordSource,
    },
}

/// Add a person
#[derive(Debug, clap::Args)]
pub(crate) struct AddArguments {
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

/// Set a person's roles in a project. Roles that are not named are removed
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["roles", "none"]))]
pub(crate) struct RoleArguments {
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

/// A person's role in a project.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RoleArgument {
    /// Connects agents and revokes their access.
    User,
    /// Answers agents' questions.
    Approver,
    /// Changes the project and revokes any person's connections.
    Admin,
    /// Reads all audit entries.
    Auditor,
}

impl From<RoleArgument> for admin::Role {
    fn from(role: RoleArgument) -> Self {
        match role {
            RoleArgument::User => Self::User,
            RoleArgument::Approver => Self::Approver,
            RoleArgument::Admin => Self::Admin,
            RoleArgument::Auditor => Self::Auditor,
        }
    }
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Add(arguments) => add(arguments, context),
        Command::List { reading } => {
            context.list_items(&operations::ask(context, ListPeople {})?, reading.json, &PEOPLE)
        }
        Command::Role(arguments) => assign_roles(arguments, context),
        Command::Disable { name } => {
            let ended = operations::ask(context, DisablePerson { name: name.clone() })?;
            let counts = ended_counts(&ended);
            context.say(&format!("{name} cannot sign in any more, and is signed out everywhere\n{counts}"))
        }
        Command::Enable { name } => {
            operations::ask(context, EnablePerson { name: name.clone() })?;
            context.say(&format!(
                "{name} can sign in; agents, keys and tokens that ended with the account have to be made again\n"
            ))
        }
        Command::Email { name, email } => {
            operations::ask(context, SetEmail { name: name.clone(), email: email.clone() })?;
            context.say(&format!("{name} has the e-mail address {email}\n"))
        }
        Command::Password { name, password } => set_password(name, &password, context),
    }
}

fn add(arguments: AddArguments, context: &Context) -> Result<(), Failure> {
    let AddArguments { name, display, roles, project, platform_admin, password } = arguments;
    // All checks that need no password come before the prompt.
    if !roles.is_empty() {
        operations::ask(context, ShowProject { id: project.clone(), version: None })?;
    }
    if has_account(&name, context)? {
        let failure = Failure::new(format!("an account named {name:?} exists already"));
        let hint = "`countersign user role` changes its roles, `countersign user password` its password";
        return Err(failure.hint(hint));
    }
    let request = AddPerson {
        name: name.clone(),
        display_name: display.unwrap_or_else(|| name.clone()),
        password: password::read(&password, &name, context)?,
        platform_admin,
        roles: roles.into_iter().map(Into::into).collect(),
        project,
    };
    context.say(&match operations::ask(context, request)? {
        Some(added) => format!("added {name}: {} in project {}\n", role_names(&added.roles), added.project),
        None if platform_admin => format!("added {name}: admin of every project\n"),
        None => format!("added {name}, without a role yet; give one with `countersign user role {name} --role user`\n"),
    })
}

fn has_account(name: &str, context: &Context) -> Result<bool, Failure> {
    Ok(operations::ask(context, ListPeople {})?.iter().any(|person| person.name == name))
}

fn assign_roles(arguments: RoleArguments, context: &Context) -> Result<(), Failure> {
    let RoleArguments { name, roles, project, .. } = arguments;
    let roles = roles.into_iter().map(Into::into).collect();
    let assigned = operations::ask(context, AssignRoles { name: name.clone(), roles, project })?;
    let now = if assigned.roles.is_empty() { "no role".into() } else { role_names(&assigned.roles) };
    let ended = match assigned.revoked.len() {
        0 => String::new(),
        ended => format!("  delegations of agents ended by user.role_changed: {ended}\n"),
    };
    context.say(&format!("{name}: {now} in project {}\n{ended}", assigned.project))
}

fn set_password(name: String, source: &password::PasswordSource, context: &Context) -> Result<(), Failure> {
    // Before a password is typed in vain.
    if !has_account(&name, context)? {
        return Err(AdminRefusal::UnknownPerson(name).into());
    }
    let password = password::read(source, &name, context)?;
    operations::ask(context, SetPassword { name: name.clone(), password })?;
    context.say(&format!("{name} has a new password, and is signed out everywhere; their subscriber tokens ended\n"))
}

/// The number of items that ended with an account, by kind.
fn ended_counts(ended: &EndedWithPerson) -> String {
    let lines = [
        (ended.delegations, "delegations of agents revoked"),
        (ended.api_keys, "API keys revoked"),
        (ended.subscriber_tokens, "subscriber tokens ended"),
        (ended.questions, "open questions cancelled"),
        (ended.approvals, "unused approvals cancelled"),
    ];
    lines.iter().map(|(count, what)| format!("  {what}: {count}\n")).collect()
}

const PEOPLE: Listing<ListedPerson, 4> = Listing {
    head: ["name", "called", "roles", "may sign in"],
    row: as_row,
    json: as_json,
    none: "there are no accounts yet: `countersign user add NAME` adds a person",
};

fn as_row(person: &ListedPerson) -> [String; 4] {
    let everywhere = person.platform_admin.then(|| "admin everywhere".to_owned());
    let in_projects = person.roles.iter().map(|(project, roles)| format!("{} in {project}", role_names(roles)));
    let roles: Vec<String> = everywhere.into_iter().chain(in_projects).collect();
    let may = if person.disabled { "no, disabled" } else { "yes" };
    [person.name.clone(), person.display_name.clone(), roles.join("; "), may.to_owned()]
}

fn as_json(person: &ListedPerson) -> Value {
    let roles = person.roles.iter().map(|(project, roles)| {
        let roles: Vec<&str> = roles.iter().map(role_name).collect();
        (project.clone(), json!(roles))
    });
    json!({
        "name": person.name,
        "issuer": person.issuer,
        "display_name": person.display_name,
        "platform_admin": person.platform_admin,
        "disabled": person.disabled,
        "created_at": person.created_at.to_rfc3339(),
        "roles": roles.collect::<Map<_, _>>(),
    })
}

/// The name of a role, the same as on the command line.
fn role_name(role: &admin::Role) -> &'static str {
    match role {
        admin::Role::User => "user",
        admin::Role::Approver => "approver",
        admin::Role::Admin => "admin",
        admin::Role::Auditor => "auditor",
    }
}

fn role_names(roles: &[admin::Role]) -> String {
    roles.iter().map(role_name).collect::<Vec<_>>().join(", ")
}
